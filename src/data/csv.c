/* csv.c - CSV and TSV: RFC 4180 quotes, detected delimiter and header, any label column.
 *
 * A record is a line, or several when a quoted field holds a line break. It is cut into fields in
 * place and each field is parsed where it lies: nothing is allocated per field or per row. The first
 * records are read twice: to find out what the columns are (columns.h), and for their values. */
#include "data/csv.h"

#include <stdlib.h>

/* ---- fields -------------------------------------------------------------------------------------- */

static inline bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* A quoted field, c->p behind its opening quote: doubled quotes become one, in place. */
static int quoted_field(char delimiter, bdml_cursor *c, bdml_field *f)
{
    char *w = c->p;
    f->s = w;
    f->quoted = true;
    for (;;) {
        char *quote = memchr(c->p, '"', (size_t)(c->end - c->p));
        size_t run = quote ? (size_t)(quote - c->p) : 0;
        if (!quote) return BDML_FIELD_BAD;
        if (w != c->p) memmove(w, c->p, run);
        w += run;
        c->p = quote;
        if (quote + 1 == c->end || quote[1] != '"') break;
        *w++ = '"';
        c->p += 2;
    }
    f->n = (size_t)(w - f->s);
    for (c->p++; c->p < c->end && !bdml_csv_ends_field(delimiter, *c->p); c->p++)
        if (!is_space(*c->p)) return BDML_FIELD_BAD;
    c->more = c->p < c->end;
    if (c->more) c->p++;
    return BDML_FIELD_OK;
}

int bdml_csv_field(char delimiter, bdml_cursor *c, bdml_field *f)
{
    char *p = c->p, *end = c->end;
    if (delimiter == ' ') {
        while (p < end && is_space(*p)) p++;
        c->more = p < end;
    }
    if (!c->more) return BDML_FIELD_END;
    f->s = p;
    while (p < end && *p == ' ' && delimiter != ' ') p++;
    if (p < end && *p == '"') {
        c->p = p + 1;
        return quoted_field(delimiter, c, f);
    }
    while (p < end && !bdml_csv_ends_field(delimiter, *p)) p++;
    f->n = (size_t)(p - f->s);
    f->quoted = false;
    c->more = p < end;
    c->p = p + c->more;
    return BDML_FIELD_OK;
}

void bdml_csv_trim(bdml_field *f)
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
        bool ends = delimiter ? bdml_csv_ends_field(delimiter, s[i]) : strchr(",;\t", s[i]) != NULL;
        if (state == IN_QUOTES) {
            const char *quote = memchr(s + i, '"', n - i);
            if (!quote) return state;
            i = (size_t)(quote - s);
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

static bdml_status keep(bdml_handle *h, bdml_csv *c, size_t at, const char *s, size_t n)
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
static bdml_status join_lines(bdml_handle *h, bdml_input *in, bdml_csv *c, char **s, size_t *n)
{
    quote_state state = follow_quotes(c->delimiter, *s, *n, AT_START);
    BDML_TRY(bdml_text_ask(h, *n));
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
        if (have > BDML_LINE_MOST)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: line %lld: a quote (\") is opened here and not closed within %zu "
                             "MiB",
                             bdml_input_name(in), (long long)c->line, BDML_LINE_MOST >> 20);
        state = follow_quotes(c->delimiter, line, more, state);
    }
    *s = c->record;
    *n = have;
    return BDML_OK;
}

static bool is_blank(const bdml_csv *c, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] != ' ' && (s[i] != '\t' || c->delimiter == '\t')) return false;
    return true;
}

bdml_status bdml_csv_record(bdml_handle *h, bdml_input *in, bdml_csv *c, char **s, size_t *n)
{
    do {
        BDML_TRY(bdml_input_line(h, in, s, n));
        if (!*s) return BDML_OK;
    } while (is_blank(c, *s, *n) || (!c->started && **s == '#'));
    c->started = true;
    c->line = bdml_input_line_number(in);
    BDML_TRY(bdml_text_ask(h, *n));
    return memchr(*s, '"', *n) ? join_lines(h, in, c, s, n) : BDML_OK;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

bdml_status bdml_csv_bad_quote(bdml_handle *h, const bdml_source *s, const bdml_csv *c, int column)
{
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "%s: line %lld, column %d: text stands behind a closing quote (a quote inside "
                     "a quoted field is written twice)",
                     s->path, (long long)c->line, column + 1);
}

static bdml_status take_row(bdml_handle *h, bdml_source *s, bdml_csv *c, bdml_block *b, char *text,
                            size_t n)
{
    double *x = b->x + (size_t)b->n * (size_t)b->d;
    bdml_cursor cur = {.p = text, .end = text + n, .more = true};
    int column = 0, found, bad_column = -1;
    bdml_field f, bad = {0};

    b->line[b->n] = c->line;
    b->label[b->n] = -1;
    for (; (found = bdml_csv_field(c->delimiter, &cur, &f)) == BDML_FIELD_OK; column++) {
        bool no_number;
        BDML_TRY(bdml_columns_ask(h, column));
        if (column >= c->columns) continue; /* only counted, for the message */
        BDML_TRY(
            bdml_columns_take(h, s, column, f.s, f.n, f.quoted, x, &b->label[b->n], &no_number));
        if (no_number && bad_column < 0) bad = f, bad_column = column;
    }
    if (found == BDML_FIELD_BAD) return bdml_csv_bad_quote(h, s, c, column);
    if (column != c->columns)
        return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld has %d fields, but line %lld has %d",
                         s->path, (long long)c->line, column, (long long)c->first_line, c->columns);
    if (bad_column >= 0) return bdml_advise_number(h, s, b, bad_column, bad.s, bad.n);
    b->n++;
    return BDML_OK;
}

static bdml_status csv_next(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    bdml_csv *c = s->state;
    while (b->n < b->capacity) {
        char *text;
        size_t n;
        BDML_TRY(bdml_csv_record(h, s->in, c, &text, &n));
        if (!text) return BDML_OK;
        BDML_TRY(take_row(h, s, c, b, text, n));
    }
    return BDML_OK;
}

static void csv_close(bdml_source *s)
{
    bdml_csv *c = s->state;
    if (c) free(c->record);
    free(c);
}

static const bdml_source_ops csv_ops = {csv_next, csv_close, NULL, NULL, NULL};

bdml_status bdml_csv_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          const bdml_wanted *wanted, char delimiter, bdml_source *s)
{
    bdml_status status = BDML_OK;
    bdml_csv *c;
    (void)in; /* it is s->in */
    BDML_NEW(h, c, 1);
    c->delimiter = delimiter;
    s->state = c;
    s->ops = &csv_ops;
    s->lines = true;
    status = bdml_csv_head(h, o, wanted, s, c);
done:
    return status;
}
