/* kissme.c - "keep it simple and straightforward" (Koestinger, Hirzer, Wohlhart, Roth, Bischof, CVPR 2012):
 *
 *     M = P(S^-1 - D^-1),   S, D = mean of (x_i-x_j)(x_i-x_j)' over similar and dissimilar pairs,
 *
 * the log-likelihood ratio of two zero-mean Gaussians of differences, its quadratic form projected to the
 * positive semidefinite cone. From labels all pairs are used without listing one: with the scatter
 * S_c = sum over class c of (x_i - mean_c)(x_i - mean_c)' and the total scatter S_T
 *
 *     sum over pairs in class c = n_c S_c,      sum over all pairs = n S_T.
 *
 * W'(S+D)W = I, W'SW = diag(s) gives S^-1 - D^-1 = W diag(1/s - 1/(1-s)) W'. s is kept within
 * BDML_SIMILAR_FLOOR of 0 and 1, and all this happens in the span of the data, so that nothing is
 * inverted that has no inverse. */
#include "baselines/pairs.h"

#include <stdlib.h>

/* B (d x r) orthonormal, S and D r x r in its coordinates: the metric into the model. */
static bdml_status ratio_metric(bdml_handle *h, int d, int r, const double *basis, const double *s,
                                const double *t, bdml_solution *told, bdml_model *model)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)r * (size_t)r;
    double *w = NULL, *scaled = NULL, *m = NULL, *lambda = NULL, *l = NULL;
    bdml_eigh_ws ws = {0};
    int q = 0;

    BDML_NEW(h, w, size);
    BDML_NEW(h, scaled, size);
    BDML_NEW(h, m, size);
    BDML_NEW(h, lambda, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &ws));
    BDML_GO(bdml_simultaneous(h, r, s, t, w, lambda));
    for (int k = 0; k < r; k++) {
        double share = BDML_MIN(BDML_MAX(lambda[k], BDML_SIMILAR_FLOOR), 1.0 - BDML_SIMILAR_FLOOR);
        told->raised += share != lambda[k];
        for (int i = 0; i < r; i++)
            COL(scaled, r, k)[i] = COL(w, r, k)[i] * (1.0 / share - 1.0 / (1.0 - share));
    }
    bdml_la_gemm('N', 'T', r, r, r, 1.0, scaled, r, w, r, 0.0, m, r);
    BDML_GO(bdml_la_eigh(h, r, m, lambda, true, &ws));
    double noise = r * 2.3e-16 * BDML_MAX(fabs(lambda[0]), fabs(lambda[r - 1]));
    while (q < r && lambda[r - 1 - q] > noise) q++;
    if (q == 0) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "kissme: there is no direction in which dissimilar pairs differ more than "
                      "similar ones, so the metric would be 0");
        goto done;
    }
    BDML_NEW(h, l, (size_t)q * (size_t)d);
    for (int k = 0; k < q; k++)
        for (int i = 0; i < r; i++) COL(m, r, r - 1 - k)[i] *= sqrt(lambda[r - 1 - k]);
    for (int k = 0; k < q; k++)
        bdml_la_gemv('N', d, r, 1.0, basis, d, COL(m, r, r - 1 - k), 0.0, COL(l, d, k));
    told->rank = q;
    told->closed = true;
    status = bdml_model_set_map(h, model, q, l);
done:
    free(w);
    free(scaled);
    free(m);
    free(lambda);
    free(l);
    bdml_eigh_ws_free(&ws);
    return status;
}

/* ---- all pairs of the classes ------------------------------------------------------------------------- */

/* Mean scatter of all similar and of all dissimilar pairs, d x d. */
static bdml_status all_pairs(bdml_handle *h, const bdml_training *t, double *s, double *dis,
                             bdml_solution *told)
{
    bdml_status status = BDML_OK;
    int d = t->d;
    size_t size = (size_t)d * (size_t)d;
    int64_t *count = NULL;
    double *mean = NULL, *centred = NULL, *weight = NULL, *ws = NULL;
    double n = (double)t->n, similar = 0.0;
    const bdml_rows rows = bdml_training_rows(t);

    BDML_NEW(h, count, t->classes);
    BDML_NEW(h, mean, (size_t)(t->classes + 1) * (size_t)d);
    BDML_NEW(h, centred, (size_t)t->n * (size_t)d);
    BDML_NEW(h, weight, t->n);
    BDML_NEW(h, ws, bdml_la_gram_size(d));
    BDML_GO(bdml_class_means(h, &rows, NULL, count, mean,
                             COL(mean, d, t->classes))); /* that of all points last */
    for (int c = 0; c < t->classes; c++)
        similar += (double)count[c] * ((double)count[c] - 1.0) / 2.0;
    double dissimilar = n * (n - 1.0) / 2.0 - similar;
    if (!(similar > 0.0) || !(dissimilar > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA, "kissme needs %s",
                           similar > 0.0 ? "dissimilar pairs, and all points are of one class"
                                         : "similar pairs, and no class has two points");
        goto done;
    }
    told->similar = (int64_t)similar;
    told->dissimilar = (int64_t)dissimilar;
    for (int64_t i = 0; i < t->n; i++) {
        weight[i] = (double)count[t->y[i]];
        for (int j = 0; j < d; j++)
            COL(centred, d, i)[j] = COL(t->x, d, i)[j] - COL(mean, d, t->y[i])[j];
    }
    bdml_la_gram(h, d, t->n, centred, d, weight, s, ws);
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < d; j++)
            COL(centred, d, i)[j] = COL(t->x, d, i)[j] - COL(mean, d, t->classes)[j];
    bdml_la_gram(h, d, t->n, centred, d, NULL, dis, ws);
    for (size_t e = 0; e < size; e++) {
        dis[e] = (n * dis[e] - s[e]) / dissimilar;
        s[e] /= similar;
    }
done:
    free(count);
    free(mean);
    free(centred);
    free(weight);
    free(ws);
    return status;
}

/* a (r x r) = B' full B */
static void restrict_to(int d, int r, const double *basis, const double *full, double *half,
                        double *a)
{
    bdml_la_gemm('N', 'N', d, r, d, 1.0, full, d, basis, d, 0.0, half, d);
    bdml_la_gemm('T', 'N', r, r, d, 1.0, basis, d, half, d, 0.0, a, r);
}

static bdml_status from_classes(bdml_handle *h, const bdml_training *t, bdml_solution *told,
                                bdml_model *model)
{
    bdml_status status = BDML_OK;
    int d = t->d, r = 0;
    size_t size = (size_t)d * (size_t)d;
    double *s = NULL, *dis = NULL, *sum = NULL, *half = NULL, *basis = NULL;

    BDML_NEW(h, s, size);
    BDML_NEW(h, dis, size);
    BDML_NEW(h, sum, size);
    BDML_NEW(h, half, size);
    BDML_GO(all_pairs(h, t, s, dis, told));
    for (size_t e = 0; e < size; e++) sum[e] = s[e] + dis[e];
    BDML_GO(bdml_span_basis(h, d, sum, &r, &basis));
    if (r == 0) {
        status = bdml_fail(h, BDML_ERR_DATA, "kissme: all points are identical");
        goto done;
    }
    restrict_to(d, r, basis, s, half, sum);
    memcpy(s, sum, sizeof *s * (size_t)r * (size_t)r);
    restrict_to(d, r, basis, dis, half, sum);
    status = ratio_metric(h, d, r, basis, s, sum, told, model);
done:
    free(s);
    free(dis);
    free(sum);
    free(half);
    free(basis);
    return status;
}

/* ---- listed pairs --------------------------------------------------------------------------------------- */

static bdml_status from_pairs(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                              bdml_solution *told, bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    double *s = NULL, *dis = NULL;

    BDML_GO(bdml_pairset_new(h, o, "kissme", t, true, &set));
    told->similar = set.similar;
    told->dissimilar = set.dissimilar;
    BDML_NEW(h, s, (size_t)set.r * (size_t)set.r);
    BDML_NEW(h, dis, (size_t)set.r * (size_t)set.r);
    bdml_pairset_scatter(&set, s, dis);
    status = ratio_metric(h, set.d, set.r, set.b, s, dis, told, model);
done:
    bdml_pairset_free(&set);
    free(s);
    free(dis);
    return status;
}

bdml_status bdml_fit_kissme(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            bdml_model *model)
{
    bdml_solution told = {0};
    bool listed = bdml_pairs_given(&o->constraints, t) || o->methods.random_pairs.value > 0;
    if (listed || !t->y)
        BDML_TRY(from_pairs(h, o, t, &told, model));
    else
        BDML_TRY(from_classes(h, t, &told, model));
    return bdml_solution_record(h, &told, json_object(), model);
}
