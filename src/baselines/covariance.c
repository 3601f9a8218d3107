/* covariance.c - within-class covariance, and the directions of the total one
 *
 *     S = (1/n) sum_i (x_i - c(y_i)) (x_i - c(y_i))',   c(y) the mean of class y
 *
 * With no labels but similar pairs, S = (1/2T) sum over the T of them of (x_i - x_j) (x_i - x_j)', which
 * estimates the same. With neither all points are one class, and S is the total covariance. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

static bdml_status pair_covariance(bdml_handle *h, const bdml_training *t, double *s)
{
    bdml_status status = BDML_OK;
    const bdml_constraints *c = t->constraints;
    size_t d = (size_t)t->d;
    double *difference = NULL, *ws = NULL;

    BDML_NEW(h, difference, (size_t)c->targets * d);
    BDML_NEW(h, ws, bdml_la_gram_size(t->d));
    for (int64_t k = 0; k < c->targets; k++) {
        const double *a = t->x + (size_t)c->pi[c->target[k]] * d;
        const double *b = t->x + (size_t)c->pj[c->target[k]] * d;
        for (size_t j = 0; j < d; j++) difference[(size_t)k * d + j] = a[j] - b[j];
    }
    bdml_la_gram(h, t->d, c->targets, difference, t->d, NULL, s, ws);
    for (size_t e = 0; e < d * d; e++) s[e] /= 2.0 * (double)c->targets;
done:
    free(difference);
    free(ws);
    return status;
}

bdml_status bdml_within_covariance(bdml_handle *h, const bdml_training *t, double *s)
{
    if (!t->y && t->constraints && t->constraints->targets > 0) return pair_covariance(h, t, s);
    bdml_status status = BDML_OK;
    size_t n = (size_t)t->n, d = (size_t)t->d;
    const bdml_rows rows = bdml_training_rows(t);
    int classes = t->y ? t->classes : 1;
    double *mean = NULL, *centred = NULL, *ws = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, (size_t)classes * d);
    BDML_NEW(h, count, classes);
    BDML_NEW(h, centred, n * d);
    BDML_NEW(h, ws, bdml_la_gram_size(t->d));
    bdml_class_means(&rows, count, mean, NULL);
    for (size_t i = 0; i < n; i++) {
        const double *c = mean + (t->y ? (size_t)t->y[i] : 0) * d;
        for (size_t j = 0; j < d; j++) centred[i * d + j] = t->x[i * d + j] - c[j];
    }
    bdml_la_gram(h, t->d, t->n, centred, t->d, NULL, s, ws);
    for (size_t e = 0; e < d * d; e++) s[e] /= (double)n;
done:
    free(mean);
    free(count);
    free(centred);
    free(ws);
    return status;
}

bdml_status bdml_principal_rows(bdml_handle *h, const bdml_training *t, int q, double *l)
{
    bdml_status status = BDML_OK;
    const bdml_training one = {t->n, t->d, t->x, NULL, 1, NULL, NULL};
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
