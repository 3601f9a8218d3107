/* read.c - the certificate's text into numbers. Words and numbers between blanks and line ends, '#' to
 * the end of its line is a remark; every field once, in one order, so that nothing can be said twice. */
#include "check.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 64, BUFFER = 1 << 16, MOST_COLUMNS = 1000000, MOST_DIMENSIONS = 20000 };

/* ---- refusing, memory --------------------------------------------------------------------------- */

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

_Noreturn void check_refuse(checker *k, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k->reason, sizeof k->reason, fmt, ap);
    va_end(ap);
    longjmp(k->door, 1);
}

bool check_stops(const checker *k)
{
    return k->stop && k->stop(k->user);
}

void check_pause(checker *k)
{
    if (check_stops(k)) check_refuse(k, "given up");
}

void *check_take(checker *k, size_t count, size_t size)
{
    block *b = NULL;
    if (count == 0) count = 1;
    if (count <= (SIZE_MAX - sizeof *b) / size) b = calloc(1, sizeof *b + count * size);
    if (!b) check_refuse(k, "out of memory");
    b->next = k->blocks;
    k->blocks = b;
    return b->data;
}

void check_free(checker *k)
{
    while (k->blocks) {
        block *next = k->blocks->next;
        free(k->blocks);
        k->blocks = next;
    }
}

/* ---- words and numbers -------------------------------------------------------------------------- */

typedef struct reader {
    checker *k;
    FILE *f;
    size_t line;
    size_t bytes;   /* of the whole file, or SIZE_MAX: it does not say */
    size_t at, end; /* of the buffer: the next character, behind the last */
    char token[TOKEN], buffer[BUFFER];
} reader;

/* The next character, which stays, or EOF. */
static int peek(reader *r)
{
    if (r->at == r->end) {
        r->at = 0;
        r->end = fread(r->buffer, 1, BUFFER, r->f);
        if (r->end == 0) return EOF;
    }
    return (unsigned char)r->buffer[r->at];
}

/* What isspace says in the "C" locale. */
static bool is_space(int ch)
{
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

static const char *next_token(reader *r)
{
    size_t length = 0;
    int ch = peek(r);
    for (; ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' || ch == '#'; ch = peek(r)) {
        if (ch == '#')
            while ((ch = peek(r)) != '\n' && ch != EOF) r->at++;
        if (ch == '\n') r->line++;
        if (ch != EOF) r->at++;
    }
    for (; ch != EOF && !is_space(ch) && ch != '#'; ch = peek(r), length++) {
        if (length + 1 == TOKEN) check_refuse(r->k, "line %zu: a word is too long", r->line);
        r->token[length] = (char)ch;
        r->at++;
    }
    r->token[length] = '\0';
    if (length == 0) check_refuse(r->k, "line %zu: the certificate ends too early", r->line);
    return r->token;
}

/* Room for a list of the file. Each of its items takes a character and a blank at least: a file that announces more than it can
 * hold is refused before memory is taken. */
static void *room(reader *r, size_t count, size_t size)
{
    if (count > r->bytes / 2)
        check_refuse(r->k, "line %zu: %zu numbers are announced, more than the file can hold",
                     r->line, count);
    return check_take(r->k, count, size);
}

/* How long the file is; pipes do not know. */
static size_t length_of(FILE *f)
{
    long end;
    if (fseek(f, 0, SEEK_END) != 0) return SIZE_MAX;
    end = ftell(f);
    return fseek(f, 0, SEEK_SET) == 0 && end >= 0 && end < LONG_MAX ? (size_t)end : SIZE_MAX;
}

static void expect(reader *r, const char *word)
{
    if (strcmp(next_token(r), word) != 0)
        check_refuse(r->k, "line %zu: '%s' where '%s' must stand", r->line, r->token, word);
}

/* The place of the next word in the list, which ends with NULL. */
static int choose(reader *r, const char *what, const char *const *words)
{
    next_token(r);
    for (int i = 0; words[i]; i++)
        if (strcmp(r->token, words[i]) == 0) return i;
    check_refuse(r->k, "line %zu: %s cannot be '%s'", r->line, what, r->token);
    return -1;
}

static size_t to_integer(reader *r, const char *what, size_t most)
{
    size_t value = 0;
    for (const char *s = r->token; *s; s++) {
        if (*s < '0' || *s > '9')
            check_refuse(r->k, "line %zu: %s: '%s' is not a whole number", r->line, what, r->token);
        value = 10 * value + (size_t)(*s - '0');
        if (value > most) check_refuse(r->k, "line %zu: %s is out of range", r->line, what);
    }
    return value;
}

static size_t integer(reader *r, const char *what, size_t most)
{
    next_token(r);
    return to_integer(r, what, most);
}

static int digit(char ch)
{
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static bool is_decimal(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* A hexadecimal double as printf("%a") writes it: [-]0xH[.H...]p[+-]N with H = 0 or 1 before the point and
 * at most 13 digits after it. The digits are a whole number below 2^53; scaled there and back it must be the
 * same, so that nothing was lost to underflow. */
static double to_number(reader *r, const char *what)
{
    enum { FAR = 5000 }; /* an exponent beyond any double's */
    const char *s = r->token + (r->token[0] == '-');
    bool good = s[0] == '0' && s[1] == 'x' && (s[2] == '0' || s[2] == '1');
    int64_t digits = good ? s[2] - '0' : 0;
    int places = 0, exponent = 0;
    s += good ? 3 : 0;
    if (good && *s == '.') {
        for (s++; digit(*s) >= 0 && places < 14; s++, places++) digits = 16 * digits + digit(*s);
        good = places >= 1 && places <= 13;
    }
    good = good && *s == 'p' && (s[1] == '+' || s[1] == '-') && is_decimal(s[2]);
    bool negative = good && s[1] == '-';
    for (s += good ? 2 : 0; good && is_decimal(*s); s++)
        if (exponent <= FAR) exponent = 10 * exponent + (*s - '0');
    if (!good || *s || exponent > FAR)
        check_refuse(r->k, "line %zu: %s: '%s' is not a finite hexadecimal number", r->line, what,
                     r->token);
    if (negative) exponent = -exponent;
    double value = ldexp((double)digits, exponent - 4 * places);
    if (!isfinite(value) || ldexp(value, 4 * places - exponent) != (double)digits)
        check_refuse(r->k, "line %zu: %s: %s overflows or underflows", r->line, what, r->token);
    return r->token[0] == '-' ? -value : value;
}

static double number(reader *r, const char *what)
{
    next_token(r);
    return to_number(r, what);
}

static double positive(reader *r, const char *what)
{
    double value = number(r, what);
    if (!(value > 0.0))
        check_refuse(r->k, "line %zu: %s must be above zero, not %g", r->line, what, value);
    return value;
}

/* A positive number or, where the word none stands, `absent`. */
static double positive_or(reader *r, const char *what, double absent)
{
    if (strcmp(next_token(r), "none") == 0) return absent;
    double value = to_number(r, what);
    if (!(value > 0.0))
        check_refuse(r->k, "line %zu: %s must be above zero, not %g", r->line, what, value);
    return value;
}

static double *numbers(reader *r, const char *what, size_t rows, size_t columns)
{
    if (columns > 0 && rows > SIZE_MAX / columns) check_refuse(r->k, "%s: too many numbers", what);
    double *x = room(r, rows * columns, sizeof *x);
    for (size_t i = 0; i < rows * columns; i++) {
        if (i % columns == 0) check_pause(r->k);
        x[i] = number(r, what);
    }
    return x;
}

/* "none", or how many rows and then the matrix. */
static double *matrix(reader *r, const char *what, size_t columns, size_t *rows)
{
    expect(r, what);
    if (strcmp(next_token(r), "none") == 0) return NULL;
    *rows = to_integer(r, what, MOST_DIMENSIONS);
    if (*rows == 0) check_refuse(r->k, "line %zu: %s has no rows", r->line, what);
    return numbers(r, what, *rows, columns);
}

/* ---- sections ----------------------------------------------------------------------------------- */

static void read_problem(reader *r, certificate *c)
{
    static const char *const claims[] = {"bracket", "lower", "infeasible", "contradiction", NULL};
    static const char *const forms[] = {"hard", "squared-hinge", "hinge", NULL};
    static const char *const metrics[] = {"full", "diagonal", NULL};
    static const char *const objectives[] = {"none", "targets", "within", NULL};
    expect(r, "bdml-certificate");
    expect(r, "1");
    expect(r, "claim");
    c->claim = (claim_kind)choose(r, "claim", claims);
    expect(r, "form");
    c->form = (loss_form)choose(r, "form", forms);
    expect(r, "metric");
    c->diagonal = choose(r, "metric", metrics) == 1;
    expect(r, "distortion");
    c->K = positive(r, "distortion");
    if (!(c->K >= 1.0)) check_refuse(r->k, "line %zu: distortion must be at least 1", r->line);
    expect(r, "trace");
    c->R = positive_or(r, "trace", INFINITY);
    expect(r, "margin");
    c->margin = positive(r, "margin");
    expect(r, "cost");
    c->cost = positive_or(r, "cost", 0.0);
    if ((c->cost > 0.0) != (c->form != FORM_HARD))
        check_refuse(r->k, "line %zu: a soft form has a cost, the hard form has none", r->line);
    expect(r, "objective");
    c->objective = (objective_kind)choose(r, "objective", objectives);
    if (c->objective != OBJECTIVE_NONE) c->scale = positive(r, "scale of the objective");
    bool infeasible = c->claim == CLAIM_INFEASIBLE || c->claim == CLAIM_CONTRADICTION;
    if (infeasible != (c->objective == OBJECTIVE_NONE))
        check_refuse(r->k, "line %zu: a bracket needs an objective, infeasibility has none",
                     r->line);
    if (infeasible && c->form != FORM_HARD)
        check_refuse(r->k, "line %zu: only the hard form can be infeasible", r->line);
    if (c->claim == CLAIM_INFEASIBLE && !isfinite(c->R))
        check_refuse(r->k, "line %zu: infeasible at which trace? (or claim contradiction)",
                     r->line);
}

static void read_widths(reader *r, certificate *c)
{
    expect(r, "width");
    if (strcmp(next_token(r), "none") == 0) return;
    if (c->unit) check_refuse(r->k, "line %zu: unit rows have no widths", r->line);
    c->width = room(r, c->columns, sizeof *c->width);
    for (size_t j = 0; j < c->columns; j++) {
        if (j > 0) next_token(r);
        if (strcmp(r->token, "constant") == 0) continue;
        c->width[j] = to_number(r, "width");
        if (!(c->width[j] > 0.0))
            check_refuse(r->k, "line %zu: a width must be above zero, not %g", r->line,
                         c->width[j]);
    }
}

static void read_preparation(reader *r, certificate *c)
{
    static const char *const no_yes[] = {"no", "yes", NULL};
    expect(r, "data");
    c->data_rows = integer(r, "rows of the data", INT32_MAX);
    c->columns = integer(r, "columns of the data", MOST_COLUMNS);
    if (c->columns == 0) check_refuse(r->k, "line %zu: data without columns", r->line);
    expect(r, "missing");
    if (strcmp(next_token(r), "none") != 0) {
        c->missing = room(r, c->columns, sizeof *c->missing);
        for (size_t j = 0; j < c->columns; j++)
            c->missing[j] = j == 0 ? to_number(r, "missing") : number(r, "missing");
    }
    expect(r, "unit");
    c->unit = choose(r, "unit", no_yes) == 1;
    read_widths(r, c);
    c->basis_rows = c->columns;
    c->basis = matrix(r, "basis", c->columns, &c->basis_rows);
    c->reference_rows = c->basis_rows;
    c->reference = matrix(r, "reference", c->basis_rows, &c->reference_rows);
    c->dim = c->reference_rows;
    if (c->dim > MOST_DIMENSIONS) check_refuse(r->k, "line %zu: too many dimensions", r->line);
}

static void read_rows(reader *r, certificate *c)
{
    expect(r, "rows");
    c->rows = integer(r, "rows", c->data_rows);
    if (c->rows > SIZE_MAX / 64 / c->columns) check_refuse(r->k, "rows: too many numbers");
    c->row = room(r, c->rows, sizeof *c->row);
    if (!r->k->given) c->x = room(r, c->rows * c->columns, sizeof *c->x);
    for (size_t i = 0; i < c->rows; i++) {
        c->row[i] = (int64_t)integer(r, "number of a row", INT32_MAX);
        if (c->row[i] >= (int64_t)c->data_rows)
            check_refuse(r->k, "line %zu: the data have no row %lld", r->line,
                         (long long)c->row[i]);
        if (i > 0 && c->row[i] <= c->row[i - 1])
            check_refuse(r->k, "line %zu: row %lld is not in ascending order", r->line,
                         (long long)c->row[i]);
        const double *x = r->k->given ? check_rows_at(r->k, c, i, 1) : NULL;
        for (size_t j = 0; j < c->columns; j++) {
            if (!x)
                c->x[i * c->columns + j] = number(r, "value of a row");
            else if (!isfinite(x[j]))
                check_refuse(r->k, "row %lld, column %zu is not a finite number",
                             (long long)c->row[i], j);
        }
        if (x) check_pause(r->k);
    }
    expect(r, "classes");
    if (strcmp(next_token(r), "none") == 0) {
        if (c->objective == OBJECTIVE_WITHIN && !r->k->scatter)
            check_refuse(r->k, "line %zu: the objective within needs classes", r->line);
        return;
    }
    if (c->objective != OBJECTIVE_WITHIN)
        check_refuse(r->k, "line %zu: classes without the objective within", r->line);
    if (to_integer(r, "classes", INT32_MAX) != c->data_rows || c->rows != c->data_rows)
        check_refuse(r->k, "line %zu: the objective within takes every row of the data", r->line);
    c->label = room(r, c->rows, sizeof *c->label);
    for (size_t i = 0; i < c->rows; i++) c->label[i] = (int64_t)integer(r, "class", c->rows - 1);
}

/* The place of a row's number among those that are given. */
static size_t find_row(reader *r, const certificate *c)
{
    int64_t asked = (int64_t)integer(r, "row of a pair", INT32_MAX);
    size_t from = 0, to = c->rows;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (c->row[middle] < asked)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == c->rows || c->row[from] != asked)
        check_refuse(r->k, "line %zu: row %lld is not given", r->line, (long long)asked);
    return from;
}

static void read_pairs(reader *r, certificate *c)
{
    expect(r, "pairs");
    c->pairs = integer(r, "pairs", INT32_MAX);
    c->pi = room(r, c->pairs, sizeof *c->pi);
    c->pj = room(r, c->pairs, sizeof *c->pj);
    for (size_t p = 0; p < c->pairs; p++) {
        c->pi[p] = find_row(r, c);
        c->pj[p] = find_row(r, c);
        if (c->pi[p] == c->pj[p])
            check_refuse(r->k, "line %zu: row %lld is paired with itself", r->line,
                         (long long)c->row[c->pi[p]]);
    }
    expect(r, "targets");
    c->targets = integer(r, "targets", INT32_MAX);
    if ((c->targets > 0) != (c->objective == OBJECTIVE_TARGETS))
        check_refuse(r->k, "line %zu: targets belong to the objective targets", r->line);
    c->target = room(r, c->targets, sizeof *c->target);
    for (size_t t = 0; t < c->targets; t++) {
        c->target[t] = integer(r, "target", INT32_MAX);
        if (c->target[t] >= c->pairs)
            check_refuse(r->k, "line %zu: there is no pair %zu", r->line, c->target[t]);
    }
}

static void read_constraints(reader *r, certificate *c)
{
    expect(r, "constraints");
    c->m = integer(r, "constraints", INT32_MAX);
    if (c->m == 0) check_refuse(r->k, "line %zu: there is no constraint", r->line);
    c->far = room(r, c->m, sizeof *c->far);
    c->near = room(r, c->m, sizeof *c->near);
    c->own_margin = room(r, c->m, sizeof *c->own_margin);
    c->weight = room(r, c->m, sizeof *c->weight);
    for (size_t t = 0; t < c->m; t++) {
        c->far[t] = integer(r, "far pair", INT32_MAX);
        c->near[t] = strcmp(next_token(r), "-") == 0 ? SIZE_MAX : to_integer(r, "near", INT32_MAX);
        if (c->far[t] >= c->pairs || (c->near[t] != SIZE_MAX && c->near[t] >= c->pairs))
            check_refuse(r->k, "line %zu: constraint %zu names a pair that is not there", r->line,
                         t);
        if (c->far[t] == c->near[t])
            check_refuse(r->k, "line %zu: constraint %zu compares a pair with itself", r->line, t);
        c->own_margin[t] = positive(r, "margin of a constraint");
        c->weight[t] = number(r, "weight of a constraint");
        if (!(c->weight[t] >= 0.0))
            check_refuse(r->k, "line %zu: the weight of constraint %zu is negative", r->line, t);
    }
}

static void read_evidence(reader *r, certificate *c)
{
    c->map = matrix(r, "map", c->dim, &c->map_rows);
    if ((c->map != NULL) != (c->claim == CLAIM_BRACKET))
        check_refuse(r->k, "line %zu: a bracket comes with a map, other claims without", r->line);
    expect(r, "multipliers");
    c->multipliers = integer(r, "multipliers", c->m);
    c->at = room(r, c->multipliers, sizeof *c->at);
    c->y = room(r, c->multipliers, sizeof *c->y);
    for (size_t i = 0; i < c->multipliers; i++) {
        c->at[i] = integer(r, "constraint of a multiplier", INT32_MAX);
        if (c->at[i] >= c->m || (i > 0 && c->at[i] <= c->at[i - 1]))
            check_refuse(r->k, "line %zu: multiplier of constraint %zu is out of order or range",
                         r->line, c->at[i]);
        c->y[i] = number(r, "multiplier");
        if (!(c->y[i] >= 0.0)) check_refuse(r->k, "line %zu: a multiplier is negative", r->line);
    }
}

/* A model is easily given in place of its certificate, whose text begins otherwise. */
static void refuse_model(reader *r)
{
    if (peek(r) != 'B') return;
    if (r->end >= 8 && memcmp(r->buffer, "BDMLFILE", 8) == 0)
        check_refuse(r->k, "this is a model: make its certificate with bdml export MODEL DATA "
                           "--certificate -o FILE");
    check_refuse(r->k, "not a certificate: it does not begin with bdml-certificate");
}

void check_read(checker *k, FILE *f, certificate *c)
{
    reader r = {.k = k, .f = f, .line = 1, .bytes = length_of(f)};
    *c = (certificate){.R = INFINITY, .lower = NAN, .upper = NAN};
    refuse_model(&r);
    read_problem(&r, c);
    read_preparation(&r, c);
    read_rows(&r, c);
    read_pairs(&r, c);
    read_constraints(&r, c);
    read_evidence(&r, c);
    if (c->claim == CLAIM_BRACKET || c->claim == CLAIM_LOWER) {
        expect(&r, "lower");
        c->lower = number(&r, "lower");
    }
    if (c->claim == CLAIM_BRACKET) {
        expect(&r, "upper");
        c->upper = number(&r, "upper");
    }
    expect(&r, "end");
    for (; peek(&r) != EOF; r.at++)
        if (!is_space(peek(&r))) check_refuse(k, "line %zu: more after the end", r.line);
    if (ferror(f)) check_refuse(k, "reading failed");
}
