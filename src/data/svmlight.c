/* svmlight.c - svmlight and libsvm text: "label [qid:n] index:value ... # comment".
 *
 * The number of columns is the largest index, known only at the end: the file is scanned once for its
 * indices and then read. Indices count from 1, or from 0 if an index 0 occurs anywhere. Our own
 * writer names classes that are not numbers in comments before the data: "# class 2 = setosa". */
#include "data/columns.h"

#include <stdlib.h>

/* Rows are stored dense, and a metric is d x d: larger indices can only be damage or malice. */
enum { LARGEST_INDEX = 1 << 20 };

typedef struct svmlight {
    int64_t base;     /* 0 or 1: what the first column is called */
    bdml_names codes; /* class numbers given names by comments, and those names, in step */
    char **name;
    size_t capacity;
    int32_t names;
} svmlight;

/* What stands between two points of a line. */
typedef struct span {
    char *s;
    size_t n;
} span;

/* ---- pieces of a line ------------------------------------------------------------------------------ */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Take the next token off the front of `rest`; its length is 0 at the end. */
static span next_token(span *rest)
{
    char *s = rest->s, *end = s + rest->n;
    while (s < end && is_space(*s)) s++;
    char *e = s;
    while (e < end && !is_space(*e)) e++;
    *rest = (span){e, (size_t)(end - e)};
    return (span){s, (size_t)(e - s)};
}

/* The next line that holds a row, without its comment; row->s = NULL at the end. The line itself is
 * left as it is, because input that cannot seek is scanned and read from the same memory. */
static bdml_status next_row(bdml_handle *h, bdml_input *in, span *row)
{
    for (;;) {
        BDML_TRY(bdml_input_line(h, in, &row->s, &row->n));
        if (!row->s) return BDML_OK;
        char *comment = memchr(row->s, '#', row->n);
        if (comment) row->n = (size_t)(comment - row->s);
        span rest = *row;
        if (next_token(&rest).n > 0) return BDML_OK;
    }
}

static bdml_status bad_token(bdml_handle *h, bdml_input *in, span t, const char *why)
{
    char text[BDML_EXCERPT_SIZE];
    return bdml_fail(h, BDML_ERR_DATA, "%s: line %lld: '%s' %s", bdml_input_name(in),
                     (long long)bdml_input_line_number(in), bdml_excerpt(t.s, t.n, text), why);
}

/* Cut "index:value"; *index = -1 for a qid, which says nothing about the point. */
static bdml_status cut_pair(bdml_handle *h, bdml_input *in, span t, int64_t *index, span *value)
{
    char *colon = memchr(t.s, ':', t.n);
    *index = -1;
    *value = (span){0};
    if (!colon) return bad_token(h, in, t, "should be index:value");
    size_t n = (size_t)(colon - t.s);
    *value = (span){colon + 1, t.n - n - 1};
    if (n == 3 && memcmp(t.s, "qid", 3) == 0) return BDML_OK;
    if (!bdml_parse_int(t.s, n, index) || *index < 0)
        return bad_token(h, in, t, "should begin with an index, a whole number from 0 or 1 on");
    return BDML_OK;
}

/* ---- names of classes, from comments before the data ------------------------------------------------ */

/* Undo the writer's \n, \r and \\, in place. */
static void unescape(char *s)
{
    char *w = s;
    for (; *s; s++) {
        if (*s == '\\' && s[1]) {
            s++;
            *w++ = (char)(*s == 'n' ? '\n' : *s == 'r' ? '\r' : *s);
        } else {
            *w++ = *s;
        }
    }
    *w = '\0';
}

static bdml_status take_comment(bdml_handle *h, svmlight *v, char *line, size_t n)
{
    static const char mark[] = "# class ";
    const size_t m = sizeof mark - 1;
    int32_t id;
    if (n <= m || memcmp(line, mark, m) != 0) return BDML_OK;
    char *code = line + m, *equals = strstr(code, " = ");
    if (!equals || equals == code || !equals[3]) return BDML_OK;
    BDML_TRY(bdml_names_add(h, &v->codes, code, (size_t)(equals - code), &id));
    if (id < v->names) return BDML_OK; /* said twice: the first counts */
    BDML_TRY(bdml_grow(h, &v->name, &v->capacity, (size_t)id + 1, sizeof *v->name));
    if (!(v->name[id] = bdml_strdup(h, equals + 3))) return BDML_ERR_MEMORY;
    unescape(v->name[id]);
    v->names = id + 1;
    return BDML_OK;
}

static bdml_status read_comments(bdml_handle *h, bdml_input *in, svmlight *v)
{
    char *line;
    size_t n;
    do {
        BDML_TRY(bdml_input_line(h, in, &line, &n));
        if (line && *line == '#') BDML_TRY(take_comment(h, v, line, n));
    } while (line && (n == 0 || *line == '#'));
    return bdml_input_rewind(h, in);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Class of a label: "+1", "1" and "1.0" are the same one. */
static bdml_status take_label(bdml_handle *h, bdml_source *s, span t, int32_t *label)
{
    svmlight *v = s->state;
    char text[BDML_NUMBER_SIZE];
    double value;
    *label = -1;
    if (!s->labelled || bdml_is_missing(t.s, t.n)) return BDML_OK;
    if (bdml_parse_double(h->c_locale, t.s, t.n, &value) && isfinite(value))
        t = (span){text, (size_t)bdml_label_text(h, value, text)};
    int32_t code = bdml_names_find(&v->codes, t.s, t.n);
    if (code >= 0) t = (span){v->name[code], strlen(v->name[code])};
    return bdml_names_add(h, &s->classes, t.s, t.n, label);
}

static bdml_status take_row(bdml_handle *h, bdml_source *s, bdml_block *b, span row)
{
    svmlight *v = s->state;
    double *x = b->x + (size_t)b->n * (size_t)b->d;
    int64_t index, pairs = 0;
    span t, value;

    b->line[b->n] = bdml_input_line_number(s->in);
    BDML_TRY(take_label(h, s, next_token(&row), &b->label[b->n]));
    memset(x, 0, (size_t)b->d * sizeof *x);
    for (;;) {
        t = next_token(&row);
        if (t.n == 0) break;
        BDML_TRY(bdml_columns_ask(h, ++pairs));
        BDML_TRY(cut_pair(h, s->in, t, &index, &value));
        if (index < 0) continue;
        int64_t j = index - v->base;
        if (j < 0 || j >= b->d) /* the scan knew all: the file has changed since */
            return bad_token(h, s->in, t, "appeared while the file was being read");
        if (bdml_parse_double(h->c_locale, value.s, value.n, &x[j])) continue;
        if (!bdml_is_missing(value.s, value.n))
            return bad_token(h, s->in, t, "has no number as value");
        x[j] = NAN;
    }
    b->n++;
    return BDML_OK;
}

static bdml_status svmlight_next(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    while (b->n < b->capacity) {
        span row;
        BDML_TRY(next_row(h, s->in, &row));
        if (!row.s) return BDML_OK;
        BDML_TRY(take_row(h, s, b, row));
    }
    return BDML_OK;
}

static void svmlight_close(bdml_source *s)
{
    svmlight *v = s->state;
    if (!v) return;
    for (int32_t i = 0; i < v->names; i++) free(v->name[i]);
    free(v->name);
    bdml_names_free(&v->codes);
    free(v);
}

static const bdml_source_ops svmlight_ops = {svmlight_next, svmlight_close, NULL, NULL, NULL};

/* ---- opening ------------------------------------------------------------------------------------------ */

static bdml_status scan_row(bdml_handle *h, bdml_input *in, span row, int64_t *least, int64_t *most,
                            int64_t *entries)
{
    int64_t index, previous = -1, pairs = 0;
    span t = next_token(&row), value;
    char why[96];

    if (memchr(t.s, ':', t.n)) return bad_token(h, in, t, "stands where the label should be");
    for (t = next_token(&row); t.n > 0; t = next_token(&row)) {
        BDML_TRY(bdml_columns_ask(h, ++pairs));
        BDML_TRY(cut_pair(h, in, t, &index, &value));
        if (index < 0) continue;
        if (index > LARGEST_INDEX) {
            snprintf(why, sizeof why, "has an index above the limit of %d columns", LARGEST_INDEX);
            return bad_token(h, in, t, why);
        }
        if (index <= previous) {
            snprintf(why, sizeof why, "follows index %lld: indices must increase along a line",
                     (long long)previous);
            return bad_token(h, in, t, why);
        }
        if (previous < 0) *least = BDML_MIN(*least, index);
        *most = BDML_MAX(*most, index);
        previous = index;
        ++*entries;
    }
    return BDML_OK;
}

/* Rows, columns and what the first column is called. */
static bdml_status scan(bdml_handle *h, const bdml_input_options *o, bdml_source *s, svmlight *v,
                        int expected_d)
{
    int64_t least = INT64_MAX, most = -1, rows = 0;
    span row;
    for (;; rows++) {
        BDML_TRY(next_row(h, s->in, &row));
        if (!row.s) break;
        BDML_TRY(scan_row(h, s->in, row, &least, &most, &s->entries));
    }
    if (rows == 0) return bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", s->path);
    int base =
        o->index_base.value == BDML_INDEX_BASE_AUTO ? -1 : o->index_base.value == BDML_INDEX_BASE_1;
    if (base == 1 && least == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: an index 0 occurs, but index-base is 1", s->path);
    v->base = base >= 0 ? base : least == 0 ? 0 : 1;
    s->rows = rows;
    s->sparse = true;
    s->d = (int)(most + 1 - v->base);
    if (base < 0 && least == 0)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: an index 0 occurs, so columns are numbered from 0; give --index-base 0 with "
                 "other files of this kind",
                 s->path);
    if (most < 0 && expected_d == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: no row has an index:value pair", s->path);
    int64_t last = expected_d - 1 + v->base;
    if (expected_d > 0 && most > last)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "%s: index %lld occurs, but only %d columns are wanted (from %lld to %lld)", s->path,
            (long long)most, expected_d, (long long)v->base, (long long)last);
    if (expected_d > 0)
        s->d = expected_d; /* columns that are zero throughout need not be written */
    return BDML_OK;
}

bdml_status bdml_svmlight_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                               int expected_d, bdml_source *s)
{
    bdml_status status = BDML_OK;
    const char *label = bdml_label_setting(o);
    svmlight *v;

    BDML_NEW(h, v, 1);
    s->state = v;
    s->ops = &svmlight_ops;
    s->lines = true;
    s->labelled = strcmp(label, "none") != 0;
    if (s->labelled && strcmp(label, "auto") != 0)
        BDML_GO(
            bdml_fail(h, BDML_ERR_DATA,
                      "%s: label '%s' cannot be chosen: in this format the label is what begins "
                      "the line; say auto or none",
                      s->path, label));
    bdml_input_mark(in);
    BDML_GO(read_comments(h, in, v));
    bdml_input_mark(in);
    BDML_GO(scan(h, o, s, v, expected_d));
    BDML_GO(bdml_input_rewind(h, in));
done:
    return status;
}
