/* advice.c - what to say when a column is not what it was taken for: the option that would be right. */
#include "data/columns.h"

#include <stdlib.h>

/* ---- which column is the label -------------------------------------------------------------------- */

/* May column j be the label? Not when it is dropped, or taken already. */
static bool may_be_label(const bdml_columns *c, int j)
{
    const bdml_column *col = &c->column[j];
    return j != c->label && !col->dropped && bdml_look_is_classes(&col->look);
}

/* Words that come again and again are classes, at the end before elsewhere; whole numbers that do are so in the
 * first column, where many old files have their label. */
int bdml_columns_guess(const bdml_columns *c)
{
    int words = -1;
    for (int j = 0; j < c->count; j++)
        if (may_be_label(c, j) && bdml_look_is_text(&c->column[j].look)) words = j;
    if (words >= 0) return words;
    return c->count > 1 && may_be_label(c, 0) ? 0 : -1;
}

const char *bdml_column_argument(const bdml_columns *c, int column, char out[BDML_EXCERPT_SIZE])
{
    const bdml_column *col = &c->column[column];
    if (col->nameless || strpbrk(col->name, " ,'\""))
        snprintf(out, BDML_EXCERPT_SIZE, "%d", column + 1);
    else
        bdml_excerpt(col->name, strlen(col->name), out);
    return out;
}

/* ---- what is no number --------------------------------------------------------------------------- */

/* A column in use that is no numbers. */
static bool is_text(const bdml_columns *c, int j)
{
    return c->column[j].role == BDML_ROLE_NUMBER && bdml_look_is_text(&c->column[j].look);
}

/* All of these, as a list for --drop. */
static void list_texts(const bdml_columns *c, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (int j = 0; j < c->count; j++) {
        char name[BDML_EXCERPT_SIZE];
        if (!is_text(c, j)) continue;
        bdml_column_argument(c, j, name);
        if (used + strlen(name) + 2 > size) return;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "", name);
    }
}

/* "city (4 different), risk (3)": how many words each of them has. Returns how many columns there are. */
static int count_words(const bdml_columns *c, char *out, size_t size)
{
    enum { ENTRY = BDML_EXCERPT_SIZE + 48 };
    size_t used = 0;
    int found = 0;
    *out = '\0';
    for (int j = 0; j < c->count; j++) {
        char name[BDML_EXCERPT_SIZE];
        if (!is_text(c, j)) continue;
        found++;
        if (used + ENTRY > size) continue;
        int32_t words = c->column[j].look.values.count;
        used += (size_t)snprintf(out + used, size - used, "%s%s (%d%s%s)", found > 1 ? ", " : "",
                                 bdml_column_argument(c, j, name), words,
                                 words == BDML_MOST_VALUES ? " or more" : "",
                                 found == 1 ? " different" : "");
    }
    return found;
}

/* Are cells empty that would be refused once the words are settled? */
static bool has_gaps(const bdml_columns *c, int label)
{
    for (int j = 0; j < c->count && c->missing == BDML_MISSING_ERROR; j++)
        if (c->column[j].role != BDML_ROLE_SKIP && j != label &&
            c->column[j].look.kind[BDML_FIELD_MISSING] > 0)
            return true;
    return false;
}

/* Several columns of words and none of them the label, which the last column was taken for: the whole line at once, the
 * likely label first; of the others those that look like categories are encoded, the rest is left out. */
static void settle_words(const bdml_columns *c, const char *words, int label, char *out,
                         size_t size)
{
    char name[BDML_EXCERPT_SIZE], drop[BDML_ERROR_SIZE / 8] = "";
    size_t used = 0;
    int encoded = 0;
    for (int j = 0; j < c->count; j++) {
        if (j == label || !is_text(c, j)) continue;
        encoded += bdml_look_is_classes(&c->column[j].look);
        if (bdml_look_is_classes(&c->column[j].look)) continue;
        bdml_column_argument(c, j, name);
        if (used + strlen(name) + 2 > sizeof drop) continue;
        used += (size_t)snprintf(drop + used, sizeof drop - used, "%s%s", used ? "," : "", name);
    }
    bool gaps = has_gaps(c, label);
    bdml_column_argument(c, label, name);
    snprintf(out, size, "columns of words: %s; name the label%s%s%s: --label %s%s%s%s%s", words,
             encoded == 1  ? ", encode the other"
             : encoded > 1 ? ", encode the others"
                           : "",
             used ? ", leave out what is no category" : "", gaps ? ", fill in empty cells" : "",
             name, encoded ? " --encode onehot" : "", used ? " --drop " : "", drop,
             gaps ? " --missing mean" : "");
}

/* Is the column that was taken for the label, by its place alone, an unlikely one? */
static bool label_is_doubtful(const bdml_source *s)
{
    const bdml_columns *c = s->columns;
    return s->label_found == BDML_LABEL_PLACED && c->label >= 0 &&
           !bdml_look_is_classes(&c->column[c->label].look);
}

/* Is it a column of numbers? Then one of words may be meant. */
static bool label_is_number(const bdml_source *s)
{
    const bdml_columns *c = s->columns;
    return s->label_found == BDML_LABEL_PLACED && c->label >= 0 &&
           !bdml_look_is_text(&c->column[c->label].look);
}

void bdml_advice(const bdml_source *s, int column, bdml_field_kind kind, char *out, size_t size)
{
    const bdml_columns *c = s->columns;
    const bdml_look *look = &c->column[column].look;
    char name[BDML_EXCERPT_SIZE], list[BDML_ERROR_SIZE / 4], words[BDML_ERROR_SIZE / 4];
    int64_t numbers = look->kind[BDML_FIELD_NUMBER];
    int likely = label_is_number(s) ? bdml_columns_guess(c) : -1;
    const char *gaps = has_gaps(c, likely) ? "; for empty cells: --missing mean" : "";
    bdml_column_argument(c, column, name);
    list_texts(c, list, sizeof list);
    if (!*list) snprintf(list, sizeof list, "%s", name);
    if (kind == BDML_FIELD_COMMA)
        snprintf(out, size, "it has a decimal comma: read such a file with --decimal ,");
    else if (kind == BDML_FIELD_DATE)
        snprintf(
            out, size,
            "it looks like a date or a time: leave it out with --drop %s, or write it as a number",
            list);
    else if (likely >= 0 && 2 * numbers <= look->rows && count_words(c, words, sizeof words) > 1)
        settle_words(c, words, likely, out, size);
    else if (column == bdml_columns_guess(c) && label_is_doubtful(s))
        snprintf(out, size, "this column looks like the label: --label %s%s", name, gaps);
    else if (2 * numbers > look->rows)
        snprintf(out, size,
                 "the others of this column are numbers: correct it, or leave it empty and choose "
                 "--missing "
                 "drop or mean");
    else if (label_is_number(s) && bdml_look_is_classes(look))
        snprintf(
            out, size,
            "if this column is the label: --label %s; if it holds categories: --encode onehot, or "
            "leave it out with --drop %s%s",
            name, list, gaps);
    else
        snprintf(
            out, size,
            "--encode onehot turns columns of words into 0/1 columns, --drop %s leaves them out%s",
            list, gaps);
}

/* A first record above numbers may be a header nevertheless: why it was taken for data. false: none of this. */
static bool advise_header(const bdml_source *s, const bdml_block *b, int column, char *out,
                          size_t size)
{
    const bdml_columns *c = s->columns;
    const bdml_look *look = &c->column[column].look;
    if (c->recurs < 0 || s->handed_out > 0 || b->n > 0) return false;
    if (2 * look->kind[BDML_FIELD_NUMBER] < look->rows) return false;
    snprintf(out, size,
             "correct it, or, where line %lld is the header, say --header yes: its word of column "
             "%d comes again further down, as words of data do",
             (long long)b->line[b->n], c->recurs + 1);
    return true;
}

bdml_status bdml_advise_number(bdml_handle *h, const bdml_source *s, const bdml_block *b,
                               int column, const char *text, size_t n)
{
    char excerpt[BDML_EXCERPT_SIZE], advice[BDML_ERROR_SIZE / 2];
    double v;
    while (n > 0 && (*text == ' ' || *text == '\t')) text++, n--;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) n--;
    bdml_field_kind kind = bdml_field_read(h, s->columns->decimal, text, n, &v);
    if (kind != BDML_FIELD_WORD || !advise_header(s, b, column, advice, sizeof advice))
        bdml_advice(s, column, kind, advice, sizeof advice);
    return bdml_source_fail(h, BDML_ERR_DATA, s, b, b->n, s->columns->column[column].feature,
                            "'%s' is not a number; %s", bdml_excerpt(text, n, excerpt), advice);
}
