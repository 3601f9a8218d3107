/* folds.c - a parameter of a method is chosen by cross-validation: learn from the rows outside a fold, count the
 * errors of the k-NN vote (setting neighbors) on those inside. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fold_init(bdml_handle *h, const bdml_rows *rows, int64_t count, const int64_t *row,
                           int folds, uint64_t seed, bdml_fold *f)
{
    bdml_status status = BDML_OK;
    size_t cells = (size_t)count * (size_t)rows->d;
    int32_t *label = NULL;

    *f = (bdml_fold){.rows = rows, .count = count, .all = row};
    BDML_NEW(h, label, count);
    BDML_NEW(h, f->fold, count);
    BDML_NEW(h, f->part, count);
    BDML_NEW(h, f->x, cells);
    BDML_NEW(h, f->y, count);
    for (int64_t i = 0; i < count; i++) label[i] = rows->y[row ? row[i] : i];
    status = bdml_split_folds(h, count, label, folds, seed, 0, f->fold);
done:
    free(label);
    if (status != BDML_OK) bdml_fold_free(f);
    return status;
}

void bdml_fold_free(bdml_fold *f)
{
    free(f->fold);
    free(f->part);
    free(f->x);
    free(f->y);
    free(f->near);
    *f = (bdml_fold){0};
}

/* The rows inside the fold, or outside, behind the first `at` of x and y. */
static bdml_rows take(bdml_fold *f, int number, bool inside, int64_t at)
{
    int64_t count = 0;
    for (int64_t i = 0; i < f->count; i++)
        if ((f->fold[i] == number) == inside) f->part[count++] = f->all ? f->all[i] : i;
    return bdml_rows_gather(f->rows, count, f->part, COL(f->x, f->rows->d, at), f->y + at);
}

void bdml_fold_take(bdml_fold *f, int number)
{
    f->learn = take(f, number, false, 0);
    f->test = take(f, number, true, f->learn.n);
    free(f->near);
    f->near = NULL;
}

bdml_status bdml_fold_errors(bdml_handle *h, const bdml_neighbor_options *o, bdml_fold *f, int q,
                             const double *l, int64_t *wrong)
{
    bdml_status status = BDML_OK;
    const int votes = (int)o->neighbors.value;
    int d = f->rows->d;
    bdml_rows learn = f->learn, test = f->test;
    int k = (int)BDML_MIN((int64_t)votes, learn.n);
    double *z = NULL, *ws = NULL;
    int32_t *index = NULL;

    BDML_NEW(h, index, (size_t)test.n * (size_t)k);
    BDML_NEW(h, z, (size_t)f->count * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, d));
    bdml_la_map_rows(h, q, d, l, learn.n, learn.x, d, z, ws);
    bdml_la_map_rows(h, q, d, l, test.n, test.x, d, COL(z, q, learn.n), ws);
    learn.d = test.d = q;
    learn.ld = test.ld = q;
    learn.x = z;
    test.x = COL(z, q, learn.n);
    BDML_GO(bdml_knn_search_from(h, o, &learn, &test, k, f->near, index));
    BDML_GO(bdml_vote_count(h, &learn, &test, k, index, 1, &votes, wrong));
    free(f->near);
    f->near = index;
    index = NULL;
done:
    free(index);
    free(z);
    free(ws);
    return status;
}
