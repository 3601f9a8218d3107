/* cmd_info.c - bdml info FILE, for data: what is in it, and what may be wrong with it.
 *
 * The file is read in blocks as it stands, missing values and all; a row is kept as its hash. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 1024, MOST_NAMED = 8, MOST_CLASSES = 20 };

typedef struct column {
    double min, max;
    int64_t missing;
} column;

typedef struct row_hash {
    uint64_t hash;
    int32_t label;
} row_hash;

typedef struct survey {
    cli *c;
    bdml_source *source;
    int d;
    double *x; /* a block of rows, their classes and places */
    int32_t *label;
    int64_t *line;
    int64_t rows, incomplete, missing, unlabelled;
    column *column;
    int64_t *count; /* per class */
    size_t count_room;
    int32_t counted;
    row_hash *row;
    size_t row_room;
    int64_t duplicates, contradictions;
    int constant;
} survey;

/* ---- reading --------------------------------------------------------------------------------- */

/* 64 bits of the row (FNV-1a over its doubles, then mixed): among a million different rows two meet
 * with probability below 1e-7. Both zeros count as the same number. */
static uint64_t hash_row(int d, const double *x)
{
    uint64_t hash = 14695981039346656037u;
    for (int j = 0; j < d; j++) {
        double v = x[j] == 0.0 ? 0.0 : x[j];
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        if (isnan(v)) bits = 0x7ff8000000000000u;
        hash = (hash ^ bits) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash ^ (hash >> 32);
}

static void survey_values(survey *s, const double *x)
{
    int missing = 0;
    for (int j = 0; j < s->d; j++) {
        column *col = &s->column[j];
        if (isnan(x[j])) {
            col->missing++;
            missing++;
            continue;
        }
        col->min = MIN(col->min, x[j]);
        col->max = MAX(col->max, x[j]);
    }
    s->missing += missing;
    s->incomplete += missing > 0;
}

static bdml_status survey_label(survey *s, int32_t label)
{
    if (label < 0) {
        s->unlabelled++;
        return BDML_OK;
    }
    if (label >= s->counted) {
        size_t need = (size_t)label + 1;
        TRY(client_grow(s->c->h, &s->count, &s->count_room, need, sizeof *s->count));
        for (; s->counted <= label; s->counted++) s->count[s->counted] = 0;
    }
    s->count[label]++;
    return BDML_OK;
}

static bdml_status survey_block(survey *s, int64_t n)
{
    bdml_handle *h = s->c->h;
    TRY(client_grow(h, &s->row, &s->row_room, (size_t)(s->rows + n), sizeof *s->row));
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + (size_t)i * (size_t)s->d;
        survey_values(s, x);
        TRY(survey_label(s, s->label[i]));
        s->row[s->rows++] = (row_hash){hash_row(s->d, x), s->label[i]};
    }
    return BDML_OK;
}

static int by_hash(const void *a, const void *b)
{
    const row_hash *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

/* Equal rows stand together once sorted: all but the first are duplicates; where labels differ
 * within such a run, all its rows contradict each other. */
static void count_duplicates(survey *s)
{
    qsort(s->row, (size_t)s->rows, sizeof *s->row, by_hash);
    for (int64_t i = 0, end; i < s->rows; i = end) {
        for (end = i + 1; end < s->rows && s->row[end].hash == s->row[i].hash;) end++;
        s->duplicates += end - i - 1;
        if (s->row[end - 1].label != s->row[i].label) s->contradictions += end - i;
    }
}

static bdml_status read_survey(survey *s)
{
    bdml_handle *h = s->c->h;
    bdml_status status = BDML_OK;
    int64_t n;
    NEW(h, s->column, s->d);
    NEW(h, s->x, (size_t)BLOCK_ROWS * (size_t)s->d);
    NEW(h, s->label, BLOCK_ROWS);
    NEW(h, s->line, BLOCK_ROWS);
    for (int j = 0; j < s->d; j++) s->column[j] = (column){INFINITY, -INFINITY, 0};
    do {
        GO(bdml_read_rows(h, s->source, BLOCK_ROWS, s->x, s->label, s->line, &n));
        GO(survey_block(s, n));
        GO(cli_progress_step(s->c, "reading", s->rows, MAX(bdml_source_points(s->source), 0)));
    } while (n > 0);
    if (s->rows == 0)
        GO(client_fail(h, BDML_ERR_DATA, "%s: holds no rows", bdml_source_name(s->source)));
    for (int j = 0; j < s->d; j++) s->constant += s->column[j].min >= s->column[j].max;
    count_duplicates(s);
done:
    return status;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void feature_name(const survey *s, int j, char *out, size_t size)
{
    const char *name = bdml_source_feature_name(s->source, j);
    if (name)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "column %d", j + 1);
}

static void fill_result(survey *s, const int32_t *order)
{
    json_t *out = s->c->result, *classes = json_object(), *constant = json_array();
    char name[128];
    cli_put(out, "file", client_text(s->c->argument[0]));
    cli_put(out, "type", json_string("data"));
    cli_put(out, "points", json_integer(s->rows));
    cli_put(out, "features", json_integer(s->d));
    for (int k = 0; k < bdml_source_classes(s->source); k++)
        cli_put(classes, bdml_source_class_name(s->source, order[k]),
                json_integer(s->count[order[k]]));
    for (int j = 0; j < s->d; j++) {
        if (s->column[j].min < s->column[j].max) continue;
        feature_name(s, j, name, sizeof name);
        json_array_append_new(constant, client_text(name));
    }
    cli_put(out, "classes", classes);
    cli_put(out, "unlabelled",
            json_integer(bdml_source_labelled(s->source) ? s->unlabelled : s->rows));
    cli_put(out, "constant_columns", constant);
    cli_put(out, "missing_values", json_integer(s->missing));
    cli_put(out, "incomplete_rows", json_integer(s->incomplete));
    cli_put(out, "duplicate_rows", json_integer(s->duplicates));
    cli_put(out, "contradicting_rows", json_integer(s->contradictions));
}

static void print_constant(const survey *s)
{
    char name[128], line[512];
    size_t n = (size_t)snprintf(line, sizeof line, "%d", s->constant);
    for (int j = 0, named = 0; j < s->d && named < MOST_NAMED && n < sizeof line; j++) {
        if (s->column[j].min < s->column[j].max) continue;
        feature_name(s, j, name, sizeof name);
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%.40s", named++ ? ", " : ": ", name);
    }
    if (s->constant > MOST_NAMED && n < sizeof line) snprintf(line + n, sizeof line - n, ", ...");
    printf("constant   ");
    cli_wrap(stdout, line, 11, 11);
}

static bdml_status print_classes(const survey *s, const int32_t *order)
{
    int classes = bdml_source_classes(s->source);
    cli_table t;
    printf("\n");
    cli_table_init(&t, s->c->h, "lrr");
    cli_cell(&t, "class");
    cli_cell(&t, "points");
    cli_cell(&t, "share %%");
    for (int k = 0; k < classes && k < MOST_CLASSES; k++) {
        cli_cell(&t, "%s", bdml_source_class_name(s->source, order[k]));
        cli_cell(&t, "%" PRId64, s->count[order[k]]);
        cli_cell_real(&t, "%.1f", 100.0 * (double)s->count[order[k]] / (double)s->rows);
    }
    TRY(cli_table_print(&t, stdout));
    if (classes > MOST_CLASSES) printf("... and %d more classes\n", classes - MOST_CLASSES);
    return BDML_OK;
}

static bdml_status print_survey(survey *s, const int32_t *order)
{
    printf("file       %s\n", s->c->argument[0]);
    printf("points     %" PRId64 "\n", s->rows);
    printf("features   %d\n", s->d);
    if (s->constant) print_constant(s);
    printf("missing    %" PRId64 " values in %" PRId64 " rows\n", s->missing, s->incomplete);
    printf("duplicates %" PRId64 " rows", s->duplicates);
    if (bdml_source_labelled(s->source))
        printf("; %" PRId64 " rows are equal but for their class", s->contradictions);
    printf("\n");
    if (!bdml_source_labelled(s->source)) {
        printf("classes    none: no label column\n");
        return BDML_OK;
    }
    if (s->unlabelled) printf("unlabelled %" PRId64 " rows\n", s->unlabelled);
    printf("classes    %d\n", bdml_source_classes(s->source));
    return print_classes(s, order);
}

static bdml_status info_data(cli *c, const char *path)
{
    bdml_status status = BDML_OK;
    survey s = {.c = c};
    int32_t *order = NULL;

    GO(bdml_open_source(c->h, path, 0, &s.source));
    s.d = bdml_source_dimension(s.source);
    GO(read_survey(&s));
    NEW(c->h, order, bdml_source_classes(s.source));
    GO(bdml_source_order_classes(c->h, s.source, order));
    /* Classes that a header announces may occur in no row. */
    for (int k = s.counted; k < bdml_source_classes(s.source); k++) {
        GO(client_grow(c->h, &s.count, &s.count_room, (size_t)k + 1, sizeof *s.count));
        s.count[k] = 0;
    }
    fill_result(&s, order);
    cli_progress_clear(c);
    if (!cli_json(c)) GO(print_survey(&s, order));
done:
    free(order);
    free(s.column);
    free(s.count);
    free(s.row);
    free(s.x);
    free(s.label);
    free(s.line);
    bdml_close_source(s.source);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

bdml_status cli_info(cli *c)
{
    const char *path = c->argument[0];
    return cli_is_model(path) ? cli_info_model(c, path) : info_data(c, path);
}
