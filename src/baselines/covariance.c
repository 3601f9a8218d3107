/* covariance.c - within-class covariance, and the directions of the total one
 *
 *     S = (1/n) sum_i (x_i - c(y_i)) (x_i - c(y_i))',   c(y) the mean of class y
 *
 * With no labels but similar pairs, S = (1/2T) sum over the T of them of (x_i - x_j) (x_i - x_j)', which
 * estimates the same. With neither all points are one class, and S is the total covariance. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Of pairs whose rows are dealt out each rank takes a stretch, such that the sum has the bits of one process. */
static bdml_status pair_covariance(bdml_handle *h, const bdml_training *t, double *s)
{
    bdml_status status = BDML_OK;
    const bdml_constraints *c = t->constraints;
    size_t d = (size_t)t->d;
    const bdml_comm *comm = t->over ? t->over->comm : &bdml_comm_serial;
    bdml_stretch own = bdml_la_gram_stretch(comm, c->targets);
    int64_t count = own.end - own.first, *row = NULL;
    double *end = NULL, *difference = NULL, *ws = NULL;

    BDML_NEW(h, row, 2 * count);
    BDML_NEW(h, end, (size_t)(2 * count) * d);
    BDML_NEW(h, difference, (size_t)count * d);
    BDML_NEW(h, ws, bdml_la_gram_size(t->d));
    for (int64_t k = 0; k < count; k++) {
        row[2 * k] = c->pi[c->target[own.first + k]];
        row[2 * k + 1] = c->pj[c->target[own.first + k]];
    }
    BDML_GO(bdml_spread_fetch(h, t->over, t->d, t->x, t->d, 2 * count, row, end));
    for (int64_t k = 0; k < count; k++) {
        const double *a = end + (size_t)(2 * k) * d, *b = a + d;
        for (size_t j = 0; j < d; j++) difference[(size_t)k * d + j] = a[j] - b[j];
    }
    bdml_la_gram_ranks(h, comm, t->d, c->targets, difference, t->d, NULL, s, ws);
    for (size_t e = 0; e < d * d; e++) s[e] /= 2.0 * (double)c->targets;
done:
    free(row);
    free(end);
    free(difference);
    free(ws);
    return status;
}

bdml_status bdml_within_covariance(bdml_handle *h, const bdml_training *t, double *s)
{
    if (!t->y && t->constraints && t->constraints->targets > 0) return pair_covariance(h, t, s);
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d, dd = d * d;
    const bdml_rows rows = bdml_training_rows(t);
    int classes = t->y ? t->classes : 1;
    int64_t each = bdml_block_rows(t->n), blocks = (rows.n + each - 1) / each;
    double *mean = NULL, *centred = NULL, *part = NULL, *ws = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, (size_t)classes * d);
    BDML_NEW(h, count, classes);
    BDML_NEW(h, centred, (size_t)BDML_MIN(each, BDML_MAX(rows.n, 1)) * d);
    BDML_NEW(h, ws, bdml_la_gram_size(t->d));
    part = bdml_alloc(h, (t->over ? (size_t)blocks : 1) * dd, sizeof *part);
    if (!part) BDML_GO(BDML_ERR_MEMORY);
    BDML_GO(bdml_class_means(h, &rows, t->over, count, mean, NULL));
    memset(s, 0, dd * sizeof *s);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = b * each, now = BDML_MIN(each, rows.n - first);
        double *to = part + (t->over ? (size_t)b * dd : 0);
        bdml_rows_copy(&rows, now, NULL, first, centred);
        for (int64_t i = 0; i < now; i++) {
            const double *c = mean + (rows.y ? (size_t)rows.y[first + i] : 0) * d;
            for (size_t j = 0; j < d; j++) centred[(size_t)i * d + j] -= c[j];
        }
        bdml_la_gram(h, t->d, now, centred, t->d, NULL, to, ws);
        for (size_t e = 0; !t->over && e < dd; e++) s[e] += to[e];
    }
    if (t->over) bdml_comm_chain(t->over->comm, (int64_t)dd, blocks, (int64_t)dd, part, s);
    for (size_t e = 0; e < dd; e++) s[e] /= (double)t->n;
done:
    free(mean);
    free(count);
    free(centred);
    free(part);
    free(ws);
    return status;
}

bdml_status bdml_principal_rows(bdml_handle *h, const bdml_training *t, int q, double *l)
{
    bdml_status status = BDML_OK;
    const bdml_training one = {t->n, t->d, t->x, NULL, 1, NULL, NULL, NULL, NULL};
    double *c = NULL, *lambda = NULL;
    bdml_eigh_ws eigen = {0};
    int d = t->d;

    BDML_NEW(h, c, (size_t)d * (size_t)d);
    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, d, &eigen));
    BDML_GO(bdml_within_covariance(h, &one, c));
    BDML_GO(bdml_la_eigh(h, d, c, lambda, true, &eigen));
    for (int k = 0; k < q; k++) memcpy(COL(l, d, k), COL(c, d, d - 1 - k), sizeof *l * (size_t)d);
done:
    bdml_eigh_ws_free(&eigen);
    free(c);
    free(lambda);
    return status;
}
