/* data.c - the rows that a certificate states against a data file: numbers between commas, semicolons,
 * tabs or blanks, one row a line, lines that begin with '#' skipped. The first line is one of names when a
 * value in it is not a number; in any other line such a value is refused. Missing values (empty, ?, NA, nan) must be
 * stated as `missing` says. Each number is taken as the nearest double, as strtod gives it. */
#include "check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Whatever else bdml reads (decimal commas, words, left-out columns, other formats) it writes so. */
#define PLAINLY                                                                                  \
    "; a file that is not plain numbers and a label is first written so, read as for training: " \
    "bdml convert FILE plain.csv"

typedef struct table {
    char *text; /* the line under way */
    size_t capacity, line, fields, most_fields;
    char **field;
    char mark; /* between fields; ' ': any blanks */
} table;

static bool read_line(checker *k, FILE *f, table *t)
{
    size_t length = 0;
    int ch;
    while ((ch = getc(f)) != EOF && ch != '\n') {
        if (length + 2 > t->capacity) {
            char *more = check_take(k, 2 * t->capacity + 4096, 1);
            if (length > 0) memcpy(more, t->text, length);
            t->capacity = 2 * t->capacity + 4096;
            t->text = more;
        }
        t->text[length++] = (char)ch;
    }
    if (length == 0 && ch == EOF) return false;
    t->line++;
    if (t->text) t->text[length] = '\0';
    return true;
}

static char *trim(char *s)
{
    while (isspace((unsigned char)*s) || *s == '"') s++;
    size_t n = strlen(s);
    while (n > 0 && (isspace((unsigned char)s[n - 1]) || s[n - 1] == '"')) s[--n] = '\0';
    return s;
}

static void split(checker *k, table *t)
{
    char *s = trim(t->text);
    if (!t->mark)
        t->mark = strchr(s, ',') ? ',' : strchr(s, ';') ? ';' : strchr(s, '\t') ? '\t' : ' ';
    t->fields = 0;
    for (bool more = true; more;) {
        char *end = s + strcspn(s, t->mark == ' ' ? " \t" : (char[]){t->mark, 0});
        more = *end != '\0';
        *end = '\0';
        if (t->fields == t->most_fields) {
            char **wider = check_take(k, 2 * t->most_fields + 64, sizeof *wider);
            if (t->fields > 0) memcpy(wider, t->field, t->fields * sizeof *wider);
            t->field = wider;
            t->most_fields = 2 * t->most_fields + 64;
        }
        t->field[t->fields++] = trim(s);
        s = more ? end + 1 : end;
        while (t->mark == ' ' && isspace((unsigned char)*s)) s++;
    }
}

static bool is_missing(const char *s)
{
    return !*s || !strcmp(s, "?") || !strcmp(s, "NA") || !strcmp(s, "N/A") || !strcmp(s, "null") ||
           !strcmp(s, "nan") || !strcmp(s, "NaN");
}

/* 1 a number, 0 missing, -1 something else */
static int value_of(const char *s, double *out)
{
    char *end;
    if (is_missing(s)) return 0;
    *out = strtod(s, &end);
    return *end || !isfinite(*out) ? -1 : 1;
}

/* Classes stand for names: the same name at every row of a class, another at every other class. */
typedef struct names {
    char **name; /* of each class, NULL: not seen */
} names;

static bool same_class(checker *k, const certificate *c, names *n, size_t at, const char *label)
{
    char **mine = &n->name[c->label[at]];
    if (*mine) return strcmp(*mine, label) == 0;
    for (size_t other = 0; other < c->rows; other++)
        if (n->name[other] && strcmp(n->name[other], label) == 0) return false;
    *mine = check_take(k, strlen(label) + 1, 1);
    memcpy(*mine, label, strlen(label));
    return true;
}

static size_t label_column(checker *k, const certificate *c, const table *t, long asked)
{
    size_t column = asked >= 0 ? (size_t)asked : t->fields == c->columns + 1 ? t->fields : 0;
    if (t->fields != c->columns + (column > 0) || column > t->fields)
        check_refuse(k, "the data have %zu columns where %zu values%s are stated" PLAINLY,
                     t->fields, c->columns, column > 0 ? " and a label" : "");
    if (column == 0 && c->label)
        check_refuse(k, "the data have no labels, but the objective needs them");
    return column;
}

/* The field of value j, from 0; the label stands in `column` from 1, 0: nowhere. */
static size_t field_of(size_t column, size_t j)
{
    return column > 0 && j + 1 >= column ? j + 1 : j;
}

static void need_numbers(checker *k, const certificate *c, const table *t, size_t column)
{
    double v;
    for (size_t j = 0; j < c->columns; j++) {
        size_t f = field_of(column, j);
        if (value_of(t->field[f], &v) < 0)
            check_refuse(k, "line %zu, column %zu: '%.40s' is not a plain number" PLAINLY, t->line,
                         f + 1, t->field[f]);
    }
}

/* The fields of a row are what the certificate says; at: its place there, *where: the field that is not, from 1. */
static bool same_row(const certificate *c, const table *t, size_t column, size_t at, size_t *where)
{
    for (size_t j = 0; j < c->columns; j++) {
        double v = 0.0;
        size_t f = field_of(column, j);
        int kind = value_of(t->field[f], &v);
        if (kind == 0 && c->missing) v = c->missing[j];
        *where = f + 1;
        if ((kind == 0 && !c->missing) || v != c->x[at * c->columns + j]) return false;
    }
    return true;
}

static bool is_header(const certificate *c, const table *t, size_t column)
{
    double v;
    for (size_t f = 0; f < c->columns + (column > 0); f++)
        if (f + 1 != column && value_of(t->field[f], &v) < 0) return true;
    return false;
}

bool check_data(checker *k, const certificate *c, FILE *f, long label, char *text, size_t size)
{
    table t = {0};
    names n = {.name = check_take(k, c->rows, sizeof *n.name)};
    size_t row = 0, at = 0, column = 0, where = 0;
    bool first = true;
    while (read_line(k, f, &t)) {
        if (!t.text || t.text[0] == '#' || !*trim(t.text)) continue;
        split(k, &t);
        if (first) {
            column = label_column(k, c, &t, label);
            first = false;
            if (is_header(c, &t, column)) continue;
        }
        if (t.fields != c->columns + (column > 0))
            check_refuse(k, "line %zu has %zu columns where %zu are stated" PLAINLY, t.line,
                         t.fields, c->columns + (column > 0));
        need_numbers(k, c, &t, column);
        if (at < c->rows && c->row[at] == (int64_t)row) {
            if (!same_row(c, &t, column, at, &where)) {
                snprintf(text, size, "line %zu, column %zu of the data is not what is stated",
                         t.line, where);
                return false;
            }
            if (c->label && !same_class(k, c, &n, at, t.field[column - 1])) {
                snprintf(text, size, "the class in line %zu is not what is stated", t.line);
                return false;
            }
            at++;
        }
        row++;
    }
    if (row != c->data_rows) {
        snprintf(text, size, "the data have %zu rows, %zu are stated", row, c->data_rows);
        return false;
    }
    snprintf(text, size, "all %zu stated rows%s are those of the data file (%zu rows, label: %s)",
             c->rows, c->label ? " and classes" : "", row,
             column == 0          ? "none"
             : column == t.fields ? "the last column"
                                  : "the column given");
    return true;
}
