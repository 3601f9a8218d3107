/* survey.c - a data file read in blocks as it stands, missing values and all; a row is kept as its hash. */
#include "survey.h"

#include <stdlib.h>

enum { BLOCK_ROWS = 1024, MOST_COMPARED = 4096 }; /* columns that are compared with each other */
static const uint64_t FIRST_HASH = 14695981039346656037u;

/* 64 bits of the row (FNV-1a over its doubles, then mixed): among a million different rows two meet
 * with probability below 1e-7. Both zeros count as the same number. */
static uint64_t mix(uint64_t hash, double v)
{
    uint64_t bits;
    v = v == 0.0 ? 0.0 : v;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v)) bits = 0x7ff8000000000000u;
    hash = (hash ^ bits) * 1099511628211u;
    return hash ^ (hash >> 29);
}

static uint64_t hash_row(int d, const double *x)
{
    uint64_t hash = FIRST_HASH;
    for (int j = 0; j < d; j++) hash = mix(hash, x[j]);
    return hash ^ (hash >> 32);
}

static void survey_values(survey *s, const double *x)
{
    int missing = 0;
    for (int j = 0; j < s->d; j++) {
        survey_column *col = &s->column[j];
        col->hash = mix(col->hash, x[j]);
        if (isnan(x[j])) {
            col->missing++;
            missing++;
            continue;
        }
        col->min = MIN(col->min, x[j]);
        col->max = MAX(col->max, x[j]);
        double off = x[j] - col->mean;
        col->mean += off / (double)++col->there;
        col->squares += off * (x[j] - col->mean);
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
        s->row[s->rows++] = (survey_row){hash_row(s->d, x), s->label[i]};
    }
    return BDML_OK;
}

static int by_hash(const void *a, const void *b)
{
    const survey_row *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

/* Equal rows stand together once sorted: all but the first are duplicates; where labels differ
 * within such a run, all its rows contradict each other. */
static void count_duplicates(survey *s)
{
    if (s->rows > 0) qsort(s->row, (size_t)s->rows, sizeof *s->row, by_hash);
    for (int64_t i = 0, end; i < s->rows; i = end) {
        for (end = i + 1; end < s->rows && s->row[end].hash == s->row[i].hash;) end++;
        s->duplicates += end - i - 1;
        if (s->row[end - 1].label != s->row[i].label) s->contradictions += end - i;
    }
}

/* Columns with the same values, by their hashes. */
static void find_twins(survey *s)
{
    for (int j = 0; j < s->d; j++) {
        survey_column *col = &s->column[j];
        col->twin = -1;
        for (int k = 0; k < j && col->twin < 0 && s->d <= MOST_COMPARED; k++)
            if (s->column[k].hash == col->hash) col->twin = k;
        s->constant += !(col->min < col->max);
        s->twins += col->twin >= 0 && col->min < col->max;
    }
}

bdml_status survey_read(survey *s)
{
    bdml_handle *h = s->c->h;
    bdml_status status = BDML_OK;
    int64_t n;
    s->d = bdml_source_dimension(s->source);
    NEW(h, s->column, s->d);
    NEW(h, s->x, (size_t)BLOCK_ROWS * (size_t)s->d);
    NEW(h, s->label, BLOCK_ROWS);
    NEW(h, s->line, BLOCK_ROWS);
    for (int j = 0; j < s->d; j++)
        s->column[j] = (survey_column){.min = INFINITY, .max = -INFINITY, .hash = FIRST_HASH};
    do {
        status = bdml_read_rows(h, s->source, BLOCK_ROWS, s->x, s->label, s->line, &n);
        if (status == BDML_ERR_DATA) {
            snprintf(s->problem, sizeof s->problem, "%s", bdml_last_error(h));
            status = BDML_OK;
            break;
        }
        if (status != BDML_OK) goto done;
        GO(survey_block(s, n));
        GO(cli_progress_step(s->c, "reading", s->rows, MAX(bdml_source_points(s->source), 0)));
    } while (n > 0);
    if (s->rows == 0 && !s->problem[0])
        GO(client_fail(h, BDML_ERR_DATA, "%s: holds no rows", bdml_source_name(s->source)));
    find_twins(s);
    count_duplicates(s);
    /* Classes that a header announces may occur in no row. */
    for (int k = s->counted; k < bdml_source_classes(s->source); k++) {
        GO(client_grow(h, &s->count, &s->count_room, (size_t)k + 1, sizeof *s->count));
        s->count[k] = 0;
    }
done:
    return status;
}

void survey_free(survey *s)
{
    free(s->column);
    free(s->count);
    free(s->row);
    free(s->x);
    free(s->label);
    free(s->line);
    bdml_close_source(s->source);
}

void survey_name(const survey *s, int j, char *out, size_t size)
{
    const char *name = bdml_source_feature_name(s->source, j);
    if (name)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "column %d", j + 1);
}

double survey_deviation(const survey_column *c)
{
    return c->there > 1 ? sqrt(c->squares / (double)(c->there - 1)) : 0.0;
}
