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
static bool looks_like_header(const bdml_handle *h, const char *label, int columns,
                              const bdml_field *f, char *const *names)
{
    int texts = 0, counting = 0;
    double v, first = NAN;
    for (int j = 0; j < columns; j++) {
        v = NAN; /* of a missing value */
        bool number = !f[j].quoted && (bdml_parse_double(h->c_locale, f[j].s, f[j].n, &v) ||
                                       bdml_is_missing(f[j].s, f[j].n));
        if (!number) {
            texts++;
            if (strcmp(names[j], label) == 0) return true;
        } else {
            if (j - texts == 0) first = v;
            counting += v == first + (j - texts);
        }
    }
    if (texts == 0) return false;
    if (texts > 1 || columns == 1 || bdml_label_by_word(columns, names) >= 0) return true;
    return columns > 3 && counting == columns - 1 && first == 0.0;
}

/* The words of a header do not come again in the columns below them; those of a row of data do. */
static bool words_recur(const bdml_handle *h, const bdml_columns *c, char *const *names)
{
    double v;
    for (int j = 0; j < c->count; j++) {
        const bdml_look *look = &c->column[j].look;
        size_t n = strlen(names[j]);
        if (bdml_field_read(h, BDML_DECIMAL_POINT, names[j], n, &v) == BDML_FIELD_WORD &&
            bdml_names_find(&look->values, names[j], n) >= 0)
            return true;
    }
    return false;
}

/* Cut `copy` of the first record into fields and their texts. */
static bdml_status cut_first(bdml_handle *h, bdml_source *s, bdml_csv *c, char *copy, size_t n,
                             bdml_field **f, char ***names)
{
    bdml_status status = BDML_OK;
    bdml_cursor cur = {.p = copy, .end = copy + n, .more = true};
    size_t most = 1; /* fields, if every delimiter counts */
    int found;
    bdml_field one;

    for (size_t i = 0; i < n; i++) most += bdml_csv_ends_field(c->delimiter, copy[i]);
    if (most > INT32_MAX / 2)
        return bdml_fail(h, BDML_ERR_DATA, "%s: there are too many columns", s->path);
    BDML_NEW(h, *f, most);
    BDML_NEW(h, *names, most + 1);
    while ((found = bdml_csv_field(c->delimiter, &cur, &one)) == BDML_FIELD_OK) {
        if (!one.quoted) bdml_csv_trim(&one);
        (*f)[c->columns++] = one;
    }
    if (found == BDML_FIELD_BAD) return bdml_csv_bad_quote(h, s, c, c->columns);
    for (int j = 0; j < c->columns; j++) {
        one = (*f)[j];
        if (!((*names)[j] = bdml_strndup(h, one.s, one.n))) BDML_GO(BDML_ERR_MEMORY);
    }
done:
    return status;
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
static void add_row_names(bdml_csv *c, char **names, char *empty)
{
    memmove(names + 1, names, (size_t)c->columns * sizeof *names);
    names[0] = empty;
    c->columns++;
}

static int count_fields(const bdml_csv *c, char *text, size_t n)
{
    bdml_cursor cur = {.p = text, .end = text + n, .more = true};
    int fields = 0;
    bdml_field f;
    while (bdml_csv_field(c->delimiter, &cur, &f) == BDML_FIELD_OK) fields++;
    return fields;
}

/* One more record into the looks, if it has the fields that it should. */
static bdml_status look_at_row(bdml_handle *h, const bdml_input_options *o, const bdml_csv *c,
                               char *text, size_t n, bdml_columns *columns)
{
    bdml_cursor cur = {.p = text, .end = text + n, .more = true};
    bdml_field f;
    for (int j = 0; j < c->columns && bdml_csv_field(c->delimiter, &cur, &f) == BDML_FIELD_OK;
         j++) {
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
            char *copy = bdml_strndup(h, text, n), *empty = NULL;
            if (!copy) return BDML_ERR_MEMORY;
            bool longer = named && count_fields(c, copy, n) == c->columns + 1;
            free(copy);
            if (longer && !(empty = bdml_strdup(h, ""))) return BDML_ERR_MEMORY;
            if (longer) add_row_names(c, names, empty);
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

    BDML_GO(choose_delimiter(h, o, s, c));
    bdml_input_mark(s->in);
    BDML_GO(bdml_csv_record(h, s->in, c, &text, &n));
    if (!text) {
        status = bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", s->path);
        goto done;
    }
    c->first_line = c->line;
    if (!(copy = bdml_strndup(h, text, n))) BDML_GO(BDML_ERR_MEMORY);
    BDML_GO(cut_first(h, s, c, copy, n, &f, &names));
    int columns = c->columns;
    bool found = o->header.value == BDML_AUTO_AUTO &&
                 looks_like_header(h, o->label.value, columns, f, names);
    bool named = o->header.value == BDML_AUTO_YES || found;
    BDML_GO(look_at_rows(h, o, s, c, names, named));
    if (found && c->columns == columns && words_recur(h, s->columns, names)) {
        named = false;
        bdml_columns_free(s->columns);
        s->columns = NULL;
        BDML_GO(look_at_rows(h, o, s, c, names, named));
    }
    BDML_GO(bdml_columns_assign(h, o, wanted, false, s));
    BDML_GO(begin_rows(h, s, c, named, false));
done:
    for (int j = 0; names && j < c->columns; j++) free(names[j]);
    free(names);
    free(copy);
    free(f);
    return status;
}
