/* csv.c - CSV and TSV: RFC 4180 quotes, detected delimiter and header, any label column.
 *
 * A record is a line, or several when a quoted field holds a line break. It is cut into fields in
 * place and each field is parsed where it lies: nothing is allocated per field or per row. */
#include "data/data.h"

#include <stdlib.h>

typedef struct csv {
    char delimiter;     /* ' ' stands for runs of blanks and tabs; '\0' = not known yet */
    int columns, label; /* fields of a record; the label's place, or -1 */
    char *record;       /* a record that spans lines, or the first one, held for the reader */
    size_t capacity, held;
    bool holding, started;    /* `record` is still to be handed out; the data have begun */
    int64_t line, first_line; /* where this record and the first one begin */
} csv;

typedef struct field {
    char *s;
    size_t n;
    bool quoted;
} field;

typedef struct cursor {
    char *p, *end;
    bool more; /* a delimiter was the last thing seen, or nothing was */
} cursor;

enum { FIELD_END, FIELD_OK, FIELD_BAD };

/* ---- fields -------------------------------------------------------------------------------------- */

static inline bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool ends_field(char delimiter, char c)
{
    return c == delimiter || (delimiter == ' ' && c == '\t');
}

/* A quoted field, c->p behind its opening quote: doubled quotes become one, in place. */
static int quoted_field(char delimiter, cursor *c, field *f)
{
    char *w = c->p;
    f->s = w;
    f->quoted = true;
    for (;; *w++ = *c->p++) {
        if (c->p == c->end) return FIELD_BAD;
        if (*c->p != '"') continue;
        if (c->p + 1 == c->end || c->p[1] != '"') break;
        c->p++;
    }
    f->n = (size_t)(w - f->s);
    for (c->p++; c->p < c->end && !ends_field(delimiter, *c->p); c->p++)
        if (!is_space(*c->p)) return FIELD_BAD;
    c->more = c->p < c->end;
    if (c->more) c->p++;
    return FIELD_OK;
}

static inline int next_field(char delimiter, cursor *c, field *f)
{
    char *p = c->p, *end = c->end;
    if (delimiter == ' ') {
        while (p < end && is_space(*p)) p++;
        c->more = p < end;
    }
    if (!c->more) return FIELD_END;
    f->s = p;
    while (p < end && *p == ' ' && delimiter != ' ') p++;
    if (p < end && *p == '"') {
        c->p = p + 1;
        return quoted_field(delimiter, c, f);
    }
    while (p < end && !ends_field(delimiter, *p)) p++;
    f->n = (size_t)(p - f->s);
    f->quoted = false;
    c->more = p < end;
    c->p = p + c->more;
    return FIELD_OK;
}

static void trim(field *f)
{
    while (f->n > 0 && is_space(*f->s)) f->s++, f->n--;
    while (f->n > 0 && is_space(f->s[f->n - 1])) f->n--;
}

/* ---- records ------------------------------------------------------------------------------------- */

typedef enum quote_state { AT_START, IN_FIELD, IN_QUOTES } quote_state;

/* Follow the quotes of s; IN_QUOTES at its end means that the record goes on in the next line. */
static quote_state follow_quotes(char delimiter, const char *s, size_t n, quote_state state)
{
    for (size_t i = 0; i < n; i++) {
        bool ends = delimiter ? ends_field(delimiter, s[i]) : strchr(",;\t", s[i]) != NULL;
        if (state == IN_QUOTES) {
            if (s[i] != '"') continue;
            if (i + 1 < n && s[i + 1] == '"')
                i++;
            else
                state = IN_FIELD;
        } else if (ends) {
            state = AT_START;
        } else if (state == AT_START && s[i] != ' ') {
            state = s[i] == '"' ? IN_QUOTES : IN_FIELD;
        }
    }
    return state;
}

static bdml_status keep(bdml_handle *h, csv *c, size_t at, const char *s, size_t n)
{
    if (!c->record || at + n + 1 > c->capacity) {
        size_t want = BDML_MAX(2 * c->capacity, at + n + 1);
        char *grown = bdml_realloc(h, c->record, want, 1);
        if (!grown) return BDML_ERR_MEMORY;
        c->record = grown;
        c->capacity = want;
    }
    if (c->record + at != s) memmove(c->record + at, s, n);
    c->record[at + n] = '\0';
    return BDML_OK;
}

/* Append lines to the record in `s` until its last quote is closed. */
static bdml_status join_lines(bdml_handle *h, bdml_input *in, csv *c, char **s, size_t *n)
{
    quote_state state = follow_quotes(c->delimiter, *s, *n, AT_START);
    if (state != IN_QUOTES) return BDML_OK;
    size_t have = *n, more;
    char *line;
    BDML_TRY(keep(h, c, 0, *s, have));
    while (state == IN_QUOTES) {
        BDML_TRY(bdml_input_line(h, in, &line, &more));
        if (!line)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: line %lld: a quote (\") is opened here and never closed",
                             bdml_input_name(in), (long long)c->line);
        BDML_TRY(keep(h, c, have, "\n", 1));
        BDML_TRY(keep(h, c, have + 1, line, more));
        have += 1 + more;
        state = follow_quotes(c->delimiter, line, more, state);
    }
    *s = c->record;
    *n = have;
    return BDML_OK;
}

static bool is_blank(const csv *c, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ' && (s[i] != '\t' || c->delimiter == '\t')) return false;
    return true;
}

/* The next record, or *s = NULL at the end. */
static bdml_status next_record(bdml_handle *h, bdml_input *in, csv *c, char **s, size_t *n)
{
    if (c->holding) {
        c->holding = false;
        *s = c->record;
        *n = c->held;
        return BDML_OK;
    }
    do {
        BDML_TRY(bdml_input_line(h, in, s, n));
        if (!*s) return BDML_OK;
    } while (is_blank(c, *s, *n) || (!c->started && **s == '#'));
    c->started = true;
    c->line = bdml_input_line_number(in);
    return memchr(*s, '"', *n) ? join_lines(h, in, c, s, n) : BDML_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bdml_status bad_quote(bdml_handle *h, const bdml_source *s, const csv *c, int column)
{
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "%s: line %lld, column %d: text stands behind a closing quote (a quote inside "
                     "a quoted field is written twice)",
                     s->path, (long long)c->line, column + 1);
}

static bdml_status take_label(bdml_handle *h, bdml_source *s, field *f, int32_t *label)
{
    if (!f->quoted) trim(f);
    *label = -1;
    if (f->n == 0 || (!f->quoted && bdml_is_missing(f->s, f->n))) return BDML_OK;
    return bdml_names_add(h, &s->classes, f->s, f->n, label);
}

static bdml_status not_a_number(bdml_handle *h, bdml_source *s, bdml_block *b, int j, field *f)
{
    char text[BDML_EXCERPT_SIZE];
    trim(f);
    return bdml_source_fail(h, BDML_ERR_DATA, s, b, b->n, j, "'%s' is not a number",
                            bdml_excerpt(f->s, f->n, text));
}

static bdml_status take_row(bdml_handle *h, bdml_source *s, csv *c, bdml_block *b, char *text,
                            size_t n)
{
    double *x = b->x + (size_t)b->n * (size_t)b->d;
    cursor cur = {.p = text, .end = text + n, .more = true};
    int column = 0, j = 0, found, bad_column = -1;
    field f, bad = {0};

    b->line[b->n] = c->line;
    b->label[b->n] = -1;
    for (; (found = next_field(c->delimiter, &cur, &f)) == FIELD_OK; column++) {
        if (column >= c->columns) continue; /* only counted, for the message */
        if (column == c->label) {
            BDML_TRY(take_label(h, s, &f, &b->label[b->n]));
            continue;
        }
        if (!bdml_parse_double(h->c_locale, f.s, f.n, &x[j])) {
            if (bad_column < 0 && !bdml_is_missing(f.s, f.n)) bad = f, bad_column = j;
            x[j] = NAN;
        }
        j++;
    }
    if (found == FIELD_BAD) return bad_quote(h, s, c, column);
    if (column != c->columns)
        return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld has %d fields, but line %lld has %d",
                         s->path, (long long)c->line, column, (long long)c->first_line, c->columns);
    if (bad_column >= 0) return not_a_number(h, s, b, bad_column, &bad);
    b->n++;
    return BDML_OK;
}

static bdml_status csv_next(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    csv *c = s->state;
    while (b->n < b->capacity) {
        char *text;
        size_t n;
        BDML_TRY(next_record(h, s->in, c, &text, &n));
        if (!text) return BDML_OK;
        BDML_TRY(take_row(h, s, c, b, text, n));
    }
    return BDML_OK;
}

static void csv_close(bdml_source *s)
{
    csv *c = s->state;
    if (c) free(c->record);
    free(c);
}

static const bdml_source_ops csv_ops = {csv_next, csv_close};

/* ---- the first record: delimiter, header, label -------------------------------------------------- */

/* The most frequent of comma, tab, semicolon outside quotes; else blanks, where there are any. */
static char find_delimiter(const char *s, size_t n)
{
    static const char candidates[] = {',', '\t', ';'};
    size_t count[3] = {0}, best = 0;
    bool quoted = false, blanks = false;
    while (n > 0 && is_space(s[n - 1]) && s[n - 1] != '\t') n--;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') quoted = !quoted;
        if (quoted) continue;
        for (size_t k = 0; k < sizeof candidates; k++) count[k] += s[i] == candidates[k];
        blanks = blanks || s[i] == ' ';
    }
    for (size_t k = 1; k < sizeof candidates; k++)
        if (count[k] > count[best]) best = k;
    if (count[best] > 0) return candidates[best];
    return blanks ? ' ' : ',';
}

/* Is the first record a header? Not when its fields are numbers. A single text among numbers is the
 * label of a row of data, unless it is the word for a label column or the setting's, or the numbers
 * just count 0 1 2 ... as pandas numbers nameless columns. */
static bool looks_like_header(const bdml_handle *h, const char *label, int columns, const field *f,
                              char *const *names)
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

/* Cut `copy` of the first record into fields and their texts. */
static bdml_status cut_first(bdml_handle *h, bdml_source *s, csv *c, char *copy, size_t n,
                             field **f, char ***names)
{
    bdml_status status = BDML_OK;
    cursor cur = {.p = copy, .end = copy + n, .more = true};
    size_t most = 1; /* fields, if every delimiter counts */
    int found;
    field one;

    for (size_t i = 0; i < n; i++) most += ends_field(c->delimiter, copy[i]);
    if (most > INT32_MAX / 2)
        return bdml_fail(h, BDML_ERR_DATA, "%s: there are too many columns", s->path);
    BDML_NEW(h, *f, most);
    BDML_NEW(h, *names, most);
    while ((found = next_field(c->delimiter, &cur, &one)) == FIELD_OK) {
        if (!one.quoted) trim(&one);
        (*f)[c->columns++] = one;
    }
    if (found == FIELD_BAD) return bad_quote(h, s, c, c->columns);
    for (int j = 0; j < c->columns; j++) {
        char number[BDML_NUMBER_SIZE];
        one = (*f)[j];
        snprintf(number, sizeof number, "x%d", j + 1);
        (*names)[j] = one.n ? bdml_strndup(h, one.s, one.n) : bdml_strdup(h, number);
        if (!(*names)[j]) BDML_GO(BDML_ERR_MEMORY);
    }
done:
    return status;
}

/* Move the names of the features, all but the label's, into the source. */
static bdml_status take_names(bdml_handle *h, bdml_source *s, const csv *c, char **names)
{
    bdml_status status = BDML_OK;
    int j = 0;
    BDML_NEW(h, s->feature_name, s->d);
    for (int column = 0; column < c->columns; column++) {
        if (column == c->label) continue;
        s->feature_name[j++] = names[column];
        names[column] = NULL;
    }
done:
    return status;
}

static bdml_status read_first(bdml_handle *h, const bdml_input_options *o, bdml_source *s, csv *c,
                              int expected_d)
{
    bdml_status status;
    char *text, *copy = NULL, **names = NULL;
    field *f = NULL;
    size_t n;

    BDML_GO(next_record(h, s->in, c, &text, &n));
    if (!text) {
        status = bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", s->path);
        goto done;
    }
    c->first_line = c->line;
    BDML_GO(keep(h, c, 0, text, n));
    c->held = n;
    if (!c->delimiter) c->delimiter = find_delimiter(c->record, n);
    if (!(copy = bdml_strndup(h, c->record, n))) BDML_GO(BDML_ERR_MEMORY);
    BDML_GO(cut_first(h, s, c, copy, n, &f, &names));
    bool named = o->header.value == BDML_AUTO_YES ||
                 (o->header.value == BDML_AUTO_AUTO &&
                  looks_like_header(h, o->label.value, c->columns, f, names));
    int automatic = named ? bdml_label_by_word(c->columns, names) : -1;
    if (automatic < 0) automatic = c->columns - 1;
    if (c->columns == 1 || c->columns == expected_d) automatic = -1;
    BDML_GO(
        bdml_label_column(h, o, s->path, c->columns, named ? names : NULL, automatic, &c->label));
    s->labelled = c->label >= 0;
    s->label_column = c->label;
    s->d = c->columns - s->labelled;
    c->holding = !named;
    if (named) BDML_GO(take_names(h, s, c, names));
done:
    for (int j = 0; names && j < c->columns; j++) free(names[j]);
    free(names);
    free(copy);
    free(f);
    return status;
}

bdml_status bdml_csv_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          int expected_d, char delimiter, bdml_source *s)
{
    bdml_status status = BDML_OK;
    csv *c;
    (void)in; /* it is s->in */
    BDML_NEW(h, c, 1);
    c->delimiter = delimiter;
    s->state = c;
    s->ops = &csv_ops;
    s->lines = true;
    status = read_first(h, o, s, c, expected_d);
done:
    return status;
}
