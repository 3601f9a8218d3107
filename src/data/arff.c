/* arff.c - Weka's ARFF: a header of attributes, then rows, dense or sparse. */
#include "data/columns.h"

#include <stdlib.h>
#include <strings.h>

typedef enum arff_type { NUMERIC, NOMINAL, STRING, DATE, RELATIONAL } arff_type;

typedef struct attribute {
    arff_type type;
    bdml_names values; /* of a nominal one */
} attribute;

typedef struct arff {
    attribute *attribute;
    char **name; /* of the attributes, in step */
    size_t capacity, name_capacity;
    int count;
} arff;

/* What is being read: a line, for messages where it is. */
typedef struct reader {
    bdml_handle *h;
    bdml_source *s;
    char *p; /* rest of the line, NUL-terminated */
} reader;

typedef struct span {
    char *s;
    size_t n;
    bool quoted;
} span;

static bdml_status bad(const reader *r, bdml_status status, const char *fmt, ...) BDML_PRINTF(3, 4);
static bdml_status bad(const reader *r, bdml_status status, const char *fmt, ...)
{
    char what[BDML_ERROR_SIZE / 2];
    va_list ap;
    va_start(ap, fmt);
    bdml_vsnprintf(r->h->c_locale, what, sizeof what, fmt, ap);
    va_end(ap);
    return bdml_fail(r->h, status, "%s: line %lld: %s", r->s->path,
                     (long long)bdml_input_line_number(r->s->in), what);
}

/* ---- pieces of a line ------------------------------------------------------------------------------ */

static void skip_spaces(reader *r)
{
    while (*r->p == ' ' || *r->p == '\t') r->p++;
}

/* A quoted text, r->p behind the opening quote; backslash escapes are undone in place. */
static bdml_status quoted(reader *r, char quote, span *out)
{
    char *w = r->p;
    *out = (span){.s = w, .quoted = true};
    while (*r->p != quote) {
        if (*r->p == '\\' && r->p[1]) r->p++;
        if (!*r->p)
            return bad(r, BDML_ERR_FORMAT, "a quote (%c) is opened and never closed", quote);
        *w++ = *r->p++;
    }
    r->p++;
    out->n = (size_t)(w - out->s);
    return BDML_OK;
}

/* The next text, up to one of `stops` or the end of the line, without blanks around it. */
static bdml_status token(reader *r, const char *stops, span *out)
{
    skip_spaces(r);
    if (*r->p == '\'' || *r->p == '"') {
        char quote = *r->p++;
        BDML_TRY(quoted(r, quote, out));
        skip_spaces(r);
        return BDML_OK;
    }
    char *s = r->p;
    size_t n = strcspn(s, stops);
    r->p = s + n;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
    *out = (span){.s = s, .n = n};
    return BDML_OK;
}

static bool is_word(span t, const char *word)
{
    return t.n == strlen(word) && strncasecmp(t.s, word, t.n) == 0;
}

/* The next line that is neither blank nor a comment; r->p = NULL at the end. */
static bdml_status next_line(reader *r)
{
    size_t n;
    do {
        BDML_TRY(bdml_input_line(r->h, r->s->in, &r->p, &n));
        if (!r->p) return BDML_OK;
        skip_spaces(r);
    } while (!*r->p || *r->p == '%');
    return BDML_OK;
}

/* ---- header ------------------------------------------------------------------------------------------ */

static bdml_status nominal_values(reader *r, bdml_names *values)
{
    int32_t id;
    span t;
    do {
        r->p++; /* '{' or ',' */
        BDML_TRY(token(r, ",}", &t));
        BDML_TRY(bdml_names_add(r->h, values, t.s, t.n, &id));
    } while (*r->p == ',');
    if (*r->p != '}') return bad(r, BDML_ERR_FORMAT, "the list of values has no closing brace");
    return BDML_OK;
}

static bdml_status take_attribute(reader *r, arff *a)
{
    static const struct {
        const char *word;
        arff_type type;
    } types[] = {{"numeric", NUMERIC}, {"real", NUMERIC}, {"integer", NUMERIC},
                 {"string", STRING},   {"date", DATE},    {"relational", RELATIONAL}};
    char text[BDML_EXCERPT_SIZE];
    span t;

    BDML_TRY(
        bdml_grow(r->h, &a->attribute, &a->capacity, (size_t)a->count + 1, sizeof *a->attribute));
    BDML_TRY(bdml_grow(r->h, &a->name, &a->name_capacity, (size_t)a->count + 1, sizeof *a->name));
    BDML_TRY(token(r, " \t{", &t));
    char *name = bdml_strndup(r->h, t.s, t.n);
    if (!name) return BDML_ERR_MEMORY;
    attribute *at = &a->attribute[a->count];
    *at = (attribute){.type = NOMINAL};
    a->name[a->count++] = name;
    skip_spaces(r);
    if (*r->p == '{') return nominal_values(r, &at->values);
    BDML_TRY(token(r, " \t", &t));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        at->type = types[i].type;
        if (is_word(t, types[i].word)) return BDML_OK;
    }
    return bad(r, BDML_ERR_FORMAT, "attribute '%s' has the unknown type '%s'",
               bdml_excerpt(name, strlen(name), (char[BDML_EXCERPT_SIZE]){0}),
               bdml_excerpt(t.s, t.n, text));
}

static bdml_status read_header(reader *r, arff *a)
{
    char text[BDML_EXCERPT_SIZE];
    span t;
    for (;;) {
        BDML_TRY(next_line(r));
        if (!r->p)
            return bdml_fail(r->h, BDML_ERR_FORMAT, "%s: the file ends before @data", r->s->path);
        BDML_TRY(token(r, " \t", &t));
        if (is_word(t, "@data")) break;
        if (is_word(t, "@attribute"))
            BDML_TRY(take_attribute(r, a));
        else if (!is_word(t, "@relation"))
            return bad(r, BDML_ERR_FORMAT, "'%s' is not @relation, @attribute or @data",
                       bdml_excerpt(t.s, t.n, text));
    }
    if (a->count == 0) return bad(r, BDML_ERR_FORMAT, "@data comes before any @attribute");
    return BDML_OK;
}

/* The declarations as what a column looks like. */
static bdml_status look_at(reader *r, arff *a, bdml_columns *c)
{
    for (int j = 0; j < a->count; j++) {
        const attribute *at = &a->attribute[j];
        bdml_look *look = &c->column[j].look;
        int32_t id;
        look->kind[at->type == NUMERIC ? BDML_FIELD_NUMBER
                   : at->type == DATE  ? BDML_FIELD_DATE
                                       : BDML_FIELD_WORD] = 1;
        for (int32_t k = 0; k < at->values.count; k++)
            BDML_TRY(bdml_names_add(r->h, &look->values, at->values.text[k],
                                    strlen(at->values.text[k]), &id));
    }
    return BDML_OK;
}

static bdml_status check_features(reader *r, const arff *a)
{
    static const char *const what[] = {"", "nominal", "of type string", "of type date",
                                       "of type relational"};
    for (int j = 0; j < a->count; j++) {
        arff_type type = a->attribute[j].type;
        const bdml_column *col = &r->s->columns->column[j];
        char name[BDML_EXCERPT_SIZE], advice[BDML_ERROR_SIZE / 2];
        bool used = col->role == BDML_ROLE_NUMBER || type == RELATIONAL;
        if (type == NUMERIC || col->role == BDML_ROLE_SKIP || !used) continue;
        bdml_excerpt(a->name[j], strlen(a->name[j]), name);
        bdml_advice(r->s, j, type == DATE ? BDML_FIELD_DATE : BDML_FIELD_WORD, advice,
                    sizeof advice);
        return bdml_fail(r->h, BDML_ERR_DATA,
                         "%s: attribute %d '%s' is %s, but features are numbers; %s", r->s->path,
                         j + 1, name, what[type], advice);
    }
    return BDML_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Attribute k of the row at b->n has the text t. */
static bdml_status take_value(reader *r, const arff *a, bdml_block *b, int k, span t)
{
    const bdml_column *col = &r->s->columns->column[k];
    const attribute *at = &a->attribute[k];
    char text[BDML_EXCERPT_SIZE];
    bool bad, missing = t.n == 0 || (!t.quoted && bdml_is_missing(t.s, t.n));
    if (col->role == BDML_ROLE_LABEL && at->type == NOMINAL && !missing &&
        bdml_names_find(&at->values, t.s, t.n) < 0)
        return bdml_source_fail(r->h, BDML_ERR_DATA, r->s, b, b->n, -1,
                                "'%s' is not among the declared values of the label",
                                bdml_excerpt(t.s, t.n, text));
    double *x = b->x + (size_t)b->n * (size_t)b->d;
    BDML_TRY(bdml_columns_take(r->h, r->s, k, t.s, t.n, t.quoted, x, &b->label[b->n], &bad));
    return bad ? bdml_advise_number(r->h, r->s, b, k, t.s, t.n) : BDML_OK;
}

static bdml_status dense_row(reader *r, const arff *a, bdml_block *b)
{
    int k = 0;
    for (;; r->p++) {
        span t;
        BDML_TRY(token(r, ",\t", &t));
        if (k < a->count) BDML_TRY(take_value(r, a, b, k, t));
        k++;
        if (!*r->p) break;
        if (*r->p != ',' && *r->p != '\t')
            return bad(r, BDML_ERR_FORMAT, "text stands behind a closing quote in column %d", k);
    }
    if (k != a->count)
        return bad(r, BDML_ERR_DATA, "there are %d values, but %d attributes", k, a->count);
    return BDML_OK;
}

/* "{index value, ...}", indices from 0. What is not named is 0, or the first value of a nominal attribute. */
static bdml_status sparse_row(reader *r, const arff *a, bdml_block *b)
{
    int64_t index, previous = -1;
    span t;
    memset(b->x + (size_t)b->n * (size_t)b->d, 0, (size_t)b->d * sizeof *b->x);
    for (int k = 0; k < a->count; k++) {
        const attribute *at = &a->attribute[k];
        if (at->type == NUMERIC && k != r->s->label_column) continue;
        char *first = at->type == NOMINAL ? at->values.text[0] : "0";
        BDML_TRY(take_value(r, a, b, k, (span){first, strlen(first), true}));
    }
    r->p++; /* '{' */
    skip_spaces(r);
    while (*r->p != '}') {
        BDML_TRY(token(r, " \t,}", &t));
        if (!bdml_parse_int(t.s, t.n, &index) || index <= previous || index >= a->count)
            return bad(r, BDML_ERR_DATA,
                       "a sparse row needs increasing indices from 0 to %d, each with a value",
                       a->count - 1);
        previous = index;
        BDML_TRY(token(r, ",}", &t));
        BDML_TRY(take_value(r, a, b, (int)index, t));
        if (*r->p == ',') {
            r->p++;
            skip_spaces(r);
        } else if (*r->p != '}') {
            return bad(r, BDML_ERR_FORMAT, "the sparse row has no closing brace");
        }
    }
    return BDML_OK;
}

static bdml_status arff_next(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    const arff *a = s->state;
    reader r = {.h = h, .s = s};
    while (b->n < b->capacity) {
        BDML_TRY(next_line(&r));
        if (!r.p) return BDML_OK;
        b->line[b->n] = bdml_input_line_number(s->in);
        b->label[b->n] = -1;
        BDML_TRY(*r.p == '{' ? sparse_row(&r, a, b) : dense_row(&r, a, b));
        b->n++;
    }
    return BDML_OK;
}

static void arff_close(bdml_source *s)
{
    arff *a = s->state;
    if (!a) return;
    for (int j = 0; j < a->count; j++) {
        bdml_names_free(&a->attribute[j].values);
        free(a->name[j]);
    }
    free(a->attribute);
    free(a->name);
    free(a);
}

static const bdml_source_ops arff_ops = {arff_next, arff_close, NULL, NULL, NULL};

bdml_status bdml_arff_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                           const bdml_wanted *wanted, bdml_source *s)
{
    bdml_status status = BDML_OK;
    reader r = {.h = h, .s = s};
    arff *a;
    (void)in; /* it is s->in */
    BDML_NEW(h, a, 1);
    s->state = a;
    s->ops = &arff_ops;
    s->lines = true;
    BDML_GO(read_header(&r, a));
    BDML_GO(bdml_columns_new(h, a->count, a->name, true, &s->columns));
    BDML_GO(look_at(&r, a, s->columns));
    BDML_GO(bdml_columns_assign(h, o, wanted, true, s));
    BDML_GO(check_features(&r, a));
done:
    return status;
}
