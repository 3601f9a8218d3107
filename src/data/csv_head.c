/* csv_head.c - how a CSV file is written: what separates its fields, whether it has a header, and what its
 * columns look like. */
#include "data/csv.h"

#include <stdlib.h>

/* ---- the delimiter --------------------------------------------------------------------------------- */

/* Delimiters that a line may have; a text between quotes may hold them too. */
static const char candidates[] = {'\t', ';', ',', '|'};
enum { CANDIDATES = sizeof candidates, HEAD_BYTES = 1 << 16, HEAD_LINES = 20 };

/* How often each candidate stands outside quotes in s, and whether there are blanks. */
static void count_delimiters(const char *s, size_t n, size_t count[CANDIDATES], bool *blanks)
{
    bool quoted = false;
    memset(count, 0, CANDIDATES * sizeof *count);
    *blanks = false;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\r')) n--;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') quoted = !quoted;
        if (quoted) continue;
        for (size_t k = 0; k < CANDIDATES; k++) count[k] += s[i] == candidates[k];
        *blanks = *blanks || s[i] == ' ';
    }
}

/* A tab or semicolon that stands equally often in all of the first lines: commas beside it are decimal ones.
 * Else the most frequent candidate of the first line; else blanks, where there are any. */
static bdml_status find_delimiter(bdml_handle *h, bdml_input *in, bool comma, char *delimiter)
{
    const unsigned char *head;
    size_t n, first[CANDIDATES] = {0}, count[CANDIDATES], best = 2;
    bool blanks = false, ignored, same[CANDIDATES] = {false};
    int lines = 0;

    BDML_TRY(bdml_input_peek(h, in, HEAD_BYTES, &head, &n));
    for (size_t at = 0; at < n && lines < HEAD_LINES;) {
        const char *s = (const char *)head + at;
        size_t length = 0;
        while (at + length < n && s[length] != '\n' && s[length] != '\r') length++;
        at += length + 1;
        if (length == 0 || *s == '#') continue;
        if (at > n && lines > 0) break; /* cut off by the end of what was looked at */
        count_delimiters(s, length, lines == 0 ? first : count, lines == 0 ? &blanks : &ignored);
        for (size_t k = 0; k < CANDIDATES; k++)
            same[k] = lines == 0 ? first[k] > 0 : same[k] && count[k] == first[k];
        lines++;
    }
    *delimiter = ',';
    if (lines == 0) return BDML_OK;
    for (size_t k = 0; k < 2; k++)
        if (same[k] && lines > 1) {
            *delimiter = candidates[k];
            return BDML_OK;
        }
    if (comma) first[best] = 0;
    for (size_t k = 0; k < CANDIDATES; k++)
        if (first[k] > first[best]) best = k;
    *delimiter = first[best] > 0 ? candidates[best] : blanks ? ' ' : ',';
    return BDML_OK;
}

static bdml_status choose_delimiter(bdml_handle *h, const bdml_input_options *o, bdml_source *s,
                                    bdml_csv *c)
{
    const char *setting = o->separator.value;
    bool comma = o->decimal.value == BDML_DECIMAL_COMMA;
    if (strcmp(setting, "tab") == 0)
        c->delimiter = '\t';
    else if (strcmp(setting, "blank") == 0)
        c->delimiter = ' ';
    else if (strlen(setting) == 1)
        c->delimiter = *setting;
    else if (strcmp(setting, "auto") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "separator must be one character, 'tab', 'blank' or 'auto', got '%.20s'",
                         setting);
    if (!c->delimiter) BDML_TRY(find_delimiter(h, s->in, comma, &c->delimiter));
    if (comma && c->delimiter == ',')
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: the comma stands between the fields and cannot stand before decimals "
                         "too; --separator says what else does",
                         s->path);
    return BDML_OK;
}

/* ---- the first record: names, or values --------------------------------------------------------------- */

/* Is the first record a header? Not when its fields are numbers. A single text among numbers is the
 * label of a row of data, unless it is the word for a label column or the setting's, or the numbers
 * just count 0 1 2 ... as pandas numbers nameless columns. */
static bdml_status looks_like_header(bdml_handle *h, const char *label, int columns,
                                     const bdml_field *f, char *const *names, bool *header)
{
    int texts = 0, counting = 0, worded;
    double v, first = NAN;
    *header = true;
    for (int j = 0; j < columns; j++) {
        BDML_TRY(bdml_columns_ask(h, j));
        v = NAN; /* of a missing value */
        bool number = !f[j].quoted && (bdml_parse_double(h->c_locale, f[j].s, f[j].n, &v) ||
                                       bdml_is_missing(f[j].s, f[j].n));
        if (!number) {
            texts++;
            if (strcmp(names[j], label) == 0) return BDML_OK;
        } else {
            if (j - texts == 0) first = v;
            counting += v == first + (j - texts);
        }
    }
    *header = texts > 0;
    if (texts != 1 || columns == 1) return BDML_OK;
    BDML_TRY(bdml_label_by_word(h, columns, names, &worded));
    *header = worded >= 0 || (columns > 3 && counting == columns - 1 && first == 0.0);
    return BDML_OK;
}

static bool is_word(const bdml_handle *h, const char *s)
{
    double v;
    return bdml_field_read(h, BDML_DECIMAL_POINT, s, strlen(s), &v) == BDML_FIELD_WORD;
}

/* Do words stand above all columns of numbers, two at least and no two of them the same? In a row of data a slip of the pen stands
 * in one of them, and what is written for a missing value is the same everywhere. */
static bdml_status names_numbers(bdml_handle *h, const bdml_columns *c, char *const *names,
                                 bool *all)
{
    bdml_status status = BDML_OK;
    bdml_names seen = {0};
    int32_t id, found = 0;
    *all = false;
    for (int j = 0; j < c->count; j++) {
        const bdml_look *look = &c->column[j].look;
        BDML_GO(bdml_columns_ask(h, j));
        if (2 * look->kind[BDML_FIELD_NUMBER] <= look->rows) continue;
        if (!is_word(h, names[j])) goto done;
        BDML_GO(bdml_names_add(h, &seen, names[j], strlen(names[j]), &id));
        if (id < found++) goto done;
    }
    *all = found > 1;
done:
    bdml_names_free(&seen);
    return status;
}

/* The words of a header do not come again in the columns below them; those of a row of data do. One that does by chance is a
 * header nevertheless where only names can stand. *column: of the word that makes it data, or -1. */
static bdml_status words_recur(bdml_handle *h, const bdml_columns *c, char *const *names,
                               int *column)
{
    bool named = false;
    *column = -1;
    for (int j = 0; j < c->count && *column < 0; j++) {
        BDML_TRY(bdml_columns_ask(h, j));
        if (bdml_names_find(&c->column[j].look.values, names[j], strlen(names[j])) >= 0 &&
            is_word(h, names[j]))
            *column = j;
    }
    if (*column >= 0) BDML_TRY(names_numbers(h, c, names, &named));
    if (named) *column = -1;
    return BDML_OK;
}

/* The fields of a record, up to one that is none; text is written over. */
static bdml_status count_fields(bdml_handle *h, const bdml_csv *c, char *text, size_t n,
                                int64_t *fields)
{
    bdml_cursor cur = {.p = text, .end = text + n, .more = true};
    bdml_field f;
    *fields = 0;
    while (bdml_csv_field(c->delimiter, &cur, &f) == BDML_FIELD_OK)
        BDML_TRY(bdml_columns_ask(h, (*fields)++));
    return bdml_text_ask(h, n);
}

/* What is known of a column takes more than a number in it: refused where it would not fit. */
static bdml_status check_columns(bdml_handle *h, const bdml_source *s, int64_t columns, size_t n)
{
    /* names and the texts of two rows: blocks of 32 bytes, and the table that finds a text */
    enum { TEXTS = 480, COPIES = 3 };
    const double each = sizeof(bdml_field) + sizeof(bdml_column) + 3 * sizeof(char *) + TEXTS;
    const double need = (double)columns * each + COPIES * (double)n;
    char what[BDML_ERROR_SIZE / 2], advice[BDML_ERROR_SIZE / 4];
    if (columns > INT32_MAX / 2)
        return bdml_fail(h, BDML_ERR_DATA, "%s: there are too many columns", s->path);
    if (need < BDML_MEMORY_ASKED && h->pretend_free <= 0.0) return BDML_OK;
    snprintf(what, sizeof what, "%.300s: reading %lld columns of text", s->path,
             (long long)columns);
    snprintf(advice, sizeof advice,
             "about %lld such columns would fit; an NPY file of as many needs none of this",
             (long long)(bdml_memory_free(h) / need * (double)columns));
    return bdml_memory_check(h, need, false, what, advice);
}

/* Cut the first record into fields and their texts, which stand in *copy. */
static bdml_status cut_first(bdml_handle *h, bdml_source *s, bdml_csv *c, const char *text,
                             size_t n, char **copy, bdml_field **f, char ***names)
{
    int64_t fields;
    int found;
    bdml_field one;

    if (!(*copy = bdml_strndup(h, text, n))) return BDML_ERR_MEMORY;
    BDML_TRY(count_fields(h, c, *copy, n, &fields));
    BDML_TRY(check_columns(h, s, fields, n));
    memcpy(*copy, text, n);
    BDML_TRY(bdml_text_ask(h, n));
    /* not zeroed: of very many fields that takes long */
    *f = bdml_alloc(h, (size_t)fields + 1, sizeof **f);
    *names = bdml_alloc(h, (size_t)fields + 2, sizeof **names);
    if (!*f || !*names) return BDML_ERR_MEMORY;
    bdml_cursor cur = {.p = *copy, .end = *copy + n, .more = true};
    while ((found = bdml_csv_field(c->delimiter, &cur, &one)) == BDML_FIELD_OK) {
        BDML_TRY(bdml_columns_ask(h, c->columns));
        if (!one.quoted) bdml_csv_trim(&one);
        one.s[one.n] = '\0'; /* what stood there, a delimiter or a quote, has been read */
        (*names)[c->columns] = one.s;
        (*f)[c->columns++] = one;
    }
    return found == BDML_FIELD_BAD ? bdml_csv_bad_quote(h, s, c, c->columns) : bdml_text_ask(h, n);
}

/* ---- looking at the first rows ------------------------------------------------------------------------- */

/* Rows to look at: enough to know the columns, of very many columns fewer; all of them where their words are
 * wanted. */
static int64_t rows_to_look_at(const bdml_input_options *o, int columns)
{
    enum { MOST = 1000, VALUES = 1 << 18, LEAST = 2 };
    if (o->encode.value == BDML_ENCODE_ONEHOT) return INT64_MAX;
    return BDML_MAX(LEAST, BDML_MIN(MOST, VALUES / columns));
}

/* A table written with row names has one name less than columns: put an empty one first. */
static void add_row_names(bdml_csv *c, char **names)
{
    static char empty[] = "";
    memmove(names + 1, names, (size_t)c->columns * sizeof *names);
    names[0] = empty;
    c->columns++;
}

/* One more record into the looks, if it has the fields that it should. */
static bdml_status look_at_row(bdml_handle *h, const bdml_input_options *o, const bdml_csv *c,
                               char *text, size_t n, bdml_columns *columns)
{
    bdml_cursor cur = {.p = text, .end = text + n, .more = true};
    bdml_field f;
    for (int j = 0; j < c->columns && bdml_csv_field(c->delimiter, &cur, &f) == BDML_FIELD_OK;
         j++) {
        BDML_TRY(bdml_columns_ask(h, j));
        if (!f.quoted) bdml_csv_trim(&f);
        BDML_TRY(bdml_look_take(h, o->decimal.value, f.s, f.n, &columns->column[j].look));
    }
    return BDML_OK;
}

/* From the start again, and for the last time unless `again`; a header is stepped over. */
static bdml_status begin_rows(bdml_handle *h, bdml_source *s, bdml_csv *c, bool named, bool again)
{
    char *text;
    size_t n;
    BDML_TRY(bdml_input_rewind(h, s->in));
    if (again) bdml_input_mark(s->in);
    c->started = false;
    return named ? bdml_csv_record(h, s->in, c, &text, &n) : BDML_OK;
}

/* s->columns, with what the first rows say of each. */
static bdml_status look_at_rows(bdml_handle *h, const bdml_input_options *o, bdml_source *s,
                                bdml_csv *c, char **names, bool named)
{
    char *text;
    size_t n;
    BDML_TRY(begin_rows(h, s, c, named, true));
    for (int64_t i = 0, most = rows_to_look_at(o, c->columns); i < most; i++) {
        BDML_TRY(bdml_csv_record(h, s->in, c, &text, &n));
        if (!text) break;
        if (i == 0) {
            char *copy = bdml_strndup(h, text, n);
            int64_t fields = 0;
            if (!copy) return BDML_ERR_MEMORY;
            bdml_status counted = count_fields(h, c, copy, n, &fields);
            free(copy);
            BDML_TRY(counted);
            if (named && fields == (int64_t)c->columns + 1) add_row_names(c, names);
            BDML_TRY(bdml_columns_new(h, c->columns, names, named, &s->columns));
        }
        BDML_TRY(look_at_row(h, o, c, text, n, s->columns));
    }
    return s->columns ? BDML_OK : bdml_columns_new(h, c->columns, names, named, &s->columns);
}

bdml_status bdml_csv_head(bdml_handle *h, const bdml_input_options *o, const bdml_wanted *wanted,
                          bdml_source *s, bdml_csv *c)
{
    bdml_status status;
    char *text, *copy = NULL, **names = NULL;
    bdml_field *f = NULL;
    size_t n;
    bool found = false;
    int recurs = -1;

    BDML_GO(choose_delimiter(h, o, s, c));
    bdml_input_mark(s->in);
    BDML_GO(bdml_csv_record(h, s->in, c, &text, &n));
    if (!text) {
        status = bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", s->path);
        goto done;
    }
    c->first_line = c->line;
    BDML_GO(cut_first(h, s, c, text, n, &copy, &f, &names));
    int columns = c->columns;
    if (o->header.value == BDML_AUTO_AUTO)
        BDML_GO(looks_like_header(h, o->label.value, columns, f, names, &found));
    bool named = o->header.value == BDML_AUTO_YES || found;
    BDML_GO(look_at_rows(h, o, s, c, names, named));
    if (found && c->columns == columns) BDML_GO(words_recur(h, s->columns, names, &recurs));
    if (recurs >= 0) {
        named = false;
        bdml_columns_free(s->columns);
        s->columns = NULL;
        BDML_GO(look_at_rows(h, o, s, c, names, named));
        s->columns->recurs = recurs;
    }
    BDML_GO(bdml_columns_assign(h, o, wanted, false, s));
    BDML_GO(begin_rows(h, s, c, named, false));
done:
    free(names);
    free(copy);
    free(f);
    return status;
}
