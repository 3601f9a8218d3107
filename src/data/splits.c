/* splits.c - random splits and folds, plain or stratified; lists of rows.
 *
 * Split s is a function of (seed, s) alone: counter-based random numbers, stream s. */
#include "data/data.h"

#include <stdlib.h>

/* Folds draw from streams of their own, so that fold 0 and split 0 have nothing in common. */
static const uint64_t FOLD_STREAM = (uint64_t)1 << 62;

/* Rows sorted by class, classes ascending: rows of class c are row[start[c]] .. row[start[c+1]-1].
 * Without labels there is one class. */
typedef struct groups {
    int count;
    int64_t *start;
    int64_t *row;
} groups;

static void groups_free(groups *g)
{
    free(g->start);
    free(g->row);
    *g = (groups){0}; /* a constructor that fails has freed them already */
}

static bdml_status groups_make(bdml_handle *h, int64_t n, const int32_t *y, groups *g)
{
    bdml_status status = BDML_OK;
    int64_t *next = NULL;

    *g = (groups){.count = 1};
    for (int64_t i = 0; y && i < n; i++) {
        if (y[i] < 0 || y[i] == INT32_MAX) {
            bdml_fail(h, BDML_ERR_ARGUMENT, "label of row %lld is %d; classes count from 0",
                      (long long)i, (int)y[i]);
            return BDML_ERR_ARGUMENT;
        }
        g->count = BDML_MAX(g->count, y[i] + 1);
    }
    BDML_NEW(h, g->row, n);
    BDML_NEW(h, g->start, (int64_t)g->count + 1);
    BDML_NEW(h, next, g->count);
    for (int64_t i = 0; i < n; i++) g->start[(y ? y[i] : 0) + 1]++;
    for (int c = 0; c < g->count; c++) {
        g->start[c + 1] += g->start[c];
        next[c] = g->start[c];
    }
    for (int64_t i = 0; i < n; i++) g->row[next[y ? y[i] : 0]++] = i;
done:
    free(next);
    if (status != BDML_OK) groups_free(g);
    return status;
}

/* round(count * fraction), with at least one row on each side; a class of one row is for training. */
static int64_t test_size(int64_t count, double fraction)
{
    if (count < 2) return 0;
    int64_t size = (int64_t)floor((double)count * fraction + 0.5);
    return BDML_MIN(BDML_MAX(size, 1), count - 1);
}

bdml_status bdml_split_random(bdml_handle *h, int64_t n, const int32_t *y, double test_fraction,
                              uint64_t seed, uint64_t split, int64_t *order, int64_t *train)
{
    bdml_status status = BDML_OK;
    bdml_rng r = bdml_rng_make(seed, split);
    groups g = {0};
    unsigned char *is_test = NULL;
    int64_t tests = 0, at_train = 0, at_test;

    if (n < 2)
        return bdml_fail(h, BDML_ERR_DATA, "a split needs at least 2 rows, got %lld", (long long)n);
    if (!(test_fraction >= 0.0 && test_fraction <= 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "test-fraction must be from 0 to 1, got %g",
                         test_fraction);
    BDML_NEW(h, is_test, n);
    BDML_GO(groups_make(h, n, y, &g));
    for (int c = 0; c < g.count; c++) {
        int64_t count = g.start[c + 1] - g.start[c], size = test_size(count, test_fraction);
        int64_t *row = g.row + g.start[c];
        BDML_GO(
            bdml_progress(h, "splits", c + 1, g.count + 1)); /* of millions of rows it takes long */
        bdml_rng_shuffle(&r, count, row);
        for (int64_t k = 0; k < size; k++) is_test[row[k]] = 1;
        tests += size;
    }
    if (tests == 0) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "every class has a single row: a stratified split has nothing to test");
        goto done;
    }
    at_test = n - tests;
    for (int64_t i = 0; i < n; i++) order[is_test[i] ? at_test++ : at_train++] = i;
    *train = at_train;
done:
    groups_free(&g);
    free(is_test);
    return status;
}

/* Rows are dealt out to the folds in turn, class after class without a break: sizes are equal up to
 * one for each class and over all. */
bdml_status bdml_split_folds(bdml_handle *h, int64_t n, const int32_t *y, int folds, uint64_t seed,
                             uint64_t repeat, int32_t *fold)
{
    bdml_rng r = bdml_rng_make(seed, FOLD_STREAM + repeat);
    groups g;

    if (folds < 2 || folds > n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "folds must be from 2 to the number of rows %lld, got %d", (long long)n,
                         folds);
    BDML_TRY(groups_make(h, n, y, &g));
    for (int c = 0; c < g.count; c++)
        bdml_rng_shuffle(&r, g.start[c + 1] - g.start[c], g.row + g.start[c]);
    for (int64_t k = 0; k < n; k++) fold[g.row[k]] = (int32_t)(k % folds);
    groups_free(&g);
    return BDML_OK;
}

/* ---- by the settings ---------------------------------------------------------------------------------- */

bdml_status bdml_split(bdml_handle *h, const bdml_dataset *data, int split, int64_t *order,
                       int64_t *train)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data || !order || !train || split < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_split: no argument may be NULL, nor split negative");
    const bdml_options *o = &h->options;
    return bdml_split_random(h, data->n, o->evaluate.stratify.value ? data->y : NULL,
                             o->evaluate.test_fraction.value, (uint64_t)o->general.seed.value,
                             (uint64_t)split, order, train);
}

bdml_status bdml_deal_folds(bdml_handle *h, const bdml_dataset *data, int folds, int32_t *fold)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data || !fold)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_deal_folds: data and fold must not be NULL");
    if (folds < 2 || folds > data->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "folds must be from 2 to the number of points, %lld; got %d",
                         (long long)data->n, folds);
    const bdml_options *o = &h->options;
    return bdml_split_folds(h, data->n, o->evaluate.stratify.value ? data->y : NULL, folds,
                            (uint64_t)o->general.seed.value, 0, fold);
}

/* ---- lists of rows ------------------------------------------------------------------------------------- */

void bdml_row_lists_free(bdml_row_lists *lists)
{
    free(lists->start);
    free(lists->row);
    *lists = (bdml_row_lists){0};
}
