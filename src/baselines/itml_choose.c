/* itml_choose.c - the weight gamma of ITML by cross-validation, as the source does: 3 stratified folds, pairs
 * drawn from the rows to learn from, k-NN errors (setting neighbors) on the rows left out. The smallest gamma
 * with the fewest errors: the nearest to the prior. */
#include "baselines/itml.h"

#include <stdlib.h>

static const double gammas[] = {0.01, 0.1, 1.0, 10.0};
enum { GAMMAS = sizeof gammas / sizeof *gammas, FOLDS = 3 };

/* Rows of one fold: to learn from, and left out. */
typedef struct rows {
    int64_t n;
    double *x;
    int32_t *y;
} rows;

static bdml_status take_rows(bdml_handle *h, const bdml_training *t, const int32_t *fold, int f,
                             bool left_out, rows *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    out->n = 0;
    for (int64_t i = 0; i < t->n; i++) out->n += (fold[i] == f) == left_out;
    BDML_NEW(h, out->x, (size_t)out->n * d);
    BDML_NEW(h, out->y, out->n);
    int64_t k = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if ((fold[i] == f) != left_out) continue;
        memcpy(COL(out->x, d, k), COL(t->x, d, i), sizeof *out->x * d);
        out->y[k++] = t->y[i];
    }
done:
    return status;
}

static bdml_status count_errors(bdml_handle *h, const bdml_neighbor_options *o, int classes, int d,
                                const rows *learn, const rows *test, int q, const double *l,
                                int64_t *wrong)
{
    bdml_status status = BDML_OK;
    int k = (int)BDML_MIN(o->neighbors.value, learn->n);
    double *z = NULL, *zt = NULL, *ws = NULL;
    int32_t *index = NULL, *count = NULL;

    BDML_NEW(h, z, (size_t)learn->n * (size_t)q);
    BDML_NEW(h, zt, (size_t)test->n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, d));
    BDML_NEW(h, index, (size_t)test->n * (size_t)k);
    BDML_NEW(h, count, classes);
    bdml_la_map_rows(h, q, d, l, learn->n, learn->x, d, z, ws);
    bdml_la_map_rows(h, q, d, l, test->n, test->x, d, zt, ws);
    bdml_knn_query query = {.n = learn->n,
                            .d = q,
                            .x = z,
                            .ld = q,
                            .queries = test->n,
                            .q = zt,
                            .ldq = q,
                            .which = BDML_ANY_CLASS,
                            .k = k};
    BDML_GO(bdml_knn_search(h, &query, index, NULL));
    for (int64_t i = 0; i < test->n; i++)
        *wrong += test->y[i] != bdml_knn_vote(k, index + i * k, learn->y, classes, count);
done:
    free(z);
    free(zt);
    free(ws);
    free(index);
    free(count);
    return status;
}

/* Errors of each gamma on one fold, added up. */
static bdml_status try_fold(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            const int32_t *fold, int f, int64_t wrong[GAMMAS])
{
    bdml_status status = BDML_OK;
    rows learn = {0}, test = {0};
    double *l = NULL;
    int q = 0;

    BDML_GO(take_rows(h, t, fold, f, false, &learn));
    BDML_GO(take_rows(h, t, fold, f, true, &test));
    bdml_training part = {learn.n, t->d, learn.x, learn.y, t->classes, NULL, NULL};
    for (int g = 0; g < GAMMAS && test.n > 0; g++) {
        bdml_solution told;
        BDML_GO(bdml_itml_map(h, o, &part, gammas[g], &q, &l, &told));
        BDML_GO(count_errors(h, &o->neighbors, t->classes, t->d, &learn, &test, q, l, &wrong[g]));
        free(l);
        l = NULL;
    }
done:
    free(l);
    free(learn.x);
    free(learn.y);
    free(test.x);
    free(test.y);
    return status;
}

bdml_status bdml_itml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                             double *gamma)
{
    bdml_status status = BDML_OK;
    int64_t wrong[GAMMAS] = {0};
    int32_t *fold = NULL;
    int best = 0;

    if (!t->y || bdml_pairs_given(h, t))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "itml-gamma 0 chooses by cross-validation, which needs labels and pairs drawn "
            "from them; give a value above 0");
    BDML_NEW(h, fold, t->n);
    BDML_GO(bdml_split_folds(h, t->n, t->y, FOLDS, (uint64_t)o->general.seed.value, 0, fold));
    for (int f = 0; f < FOLDS; f++) BDML_GO(try_fold(h, o, t, fold, f, wrong));
    for (int g = 1; g < GAMMAS; g++)
        if (wrong[g] < wrong[best]) best = g;
    *gamma = gammas[best];
done:
    free(fold);
    return status;
}
