/* gmml.c - geometric mean metric learning (Zadeh, Hosseini, Sra 2016):
 *
 *     min over M > 0 of  <M, S> + <M^-1, D>   at t = 1/2, and in general the point
 *     M = S^-1 #_t D = S^(-1/2) (S^(1/2) D S^(1/2))^t S^(-1/2),   0 <= t <= 1,
 *
 * on the geodesic from S^-1 (t = 0) to D (t = 1), with S and D the mean of (x_i-x_j)(x_i-x_j)' over the
 * pairs of equal and of different classes. All pairs enter, none is drawn: with n_c points and covariance
 * C_c of class c and St that of all points,
 *
 *     sum over pairs in c = 2 n_c^2 C_c,   sum over all pairs = 2 n^2 St.
 *
 * S^-1 and D change with the units of the columns in opposite ways, so the prepared points are taken as
 * they are, in an orthonormal basis of their span. The regularisation of the paper with the identity as
 * prior is the ridge: S + s (tr S/r) I, D + s (tr D/r) I. */
#include "baselines/gmml.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- scatter --------------------------------------------------------------------------------------- */

static void add_ridge(int r, double ridge, double *a)
{
    double trace = 0.0;
    for (int j = 0; j < r; j++) trace += COL(a, r, j)[j];
    for (int j = 0; j < r; j++) COL(a, r, j)[j] += ridge * trace / r;
}

bdml_status bdml_gmml_scatter(bdml_handle *h, const bdml_training *z, double ridge, double *S,
                              double *D)
{
    bdml_status status = BDML_OK;
    size_t n = (size_t)z->n, r = (size_t)z->d;
    double *mean = NULL, *moved = NULL, *weight = NULL, *ws = NULL;
    double all = (double)n * (double)n, same = 0.0;
    const bdml_rows rows = bdml_training_rows(z);
    int64_t *count = NULL;

    BDML_GO(bdml_need_classes(h, z, "gmml"));
    BDML_NEW(h, mean, (size_t)z->classes * r);
    BDML_NEW(h, count, z->classes);
    BDML_NEW(h, weight, n);
    BDML_NEW(h, moved, n * r);
    BDML_NEW(h, ws, bdml_la_gram_size(z->d));
    bdml_class_means(&rows, count, mean, NULL);
    for (size_t i = 0; i < n; i++) {
        size_t c = (size_t)z->y[i];
        weight[i] = (double)count[c];
        for (size_t j = 0; j < r; j++) moved[i * r + j] = z->x[i * r + j] - mean[c * r + j];
    }
    bdml_la_gram(h, z->d, z->n, moved, z->d, weight, S, ws); /* sum over classes of n_c^2 C_c */
    const bdml_training one = {z->n, z->d, z->x, NULL, 1, NULL, NULL};
    BDML_GO(bdml_within_covariance(h, &one, D));
    for (int c = 0; c < z->classes; c++) same += (double)count[c] * (double)count[c];
    for (size_t e = 0; e < r * r; e++) {
        D[e] = (all * D[e] - S[e]) / (all - same);
        S[e] /= same;
    }
    add_ridge(z->d, ridge, S);
    add_ridge(z->d, ridge, D);
done:
    free(mean);
    free(count);
    free(weight);
    free(moved);
    free(ws);
    return status;
}

/* ---- the mean ---------------------------------------------------------------------------------------- */

/* root = S^(1/2), inverse = S^(-1/2); q: r x r scratch. */
static bdml_status roots(bdml_handle *h, int r, const double *S, double *root, double *inverse,
                         double *q, double *lambda, bdml_eigh_ws *eigen)
{
    memcpy(q, S, sizeof *q * (size_t)r * (size_t)r);
    BDML_TRY(bdml_la_eigh(h, r, q, lambda, true, eigen));
    if (!(lambda[0] > 0.0))
        return bdml_fail(
            h, BDML_ERR_DATA,
            "gmml: the points of each class do not vary in every direction of the data; "
            "raise the ridge");
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) COL(q, r, k)[j] *= sqrt(sqrt(lambda[k]));
    bdml_la_gemm('N', 'T', r, r, r, 1.0, q, r, q, r, 0.0, root, r);
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) COL(q, r, k)[j] /= sqrt(lambda[k]);
    bdml_la_gemm('N', 'T', r, r, r, 1.0, q, r, q, r, 0.0, inverse, r);
    return BDML_OK;
}

bdml_status bdml_gmml_means(bdml_handle *h, int r, const double *S, const double *D, int count,
                            const double *t, double *l)
{
    bdml_status status = BDML_OK;
    size_t rr = (size_t)r * (size_t)r;
    double *root = NULL, *inverse = NULL, *lambda = NULL, *q = NULL, *scaled = NULL;
    bdml_eigh_ws eigen = {0};

    BDML_NEW(h, root, rr);
    BDML_NEW(h, inverse, rr);
    BDML_NEW(h, q, rr);
    BDML_NEW(h, scaled, rr);
    BDML_NEW(h, lambda, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    BDML_GO(roots(h, r, S, root, inverse, q, lambda, &eigen));
    bdml_la_gemm('N', 'N', r, r, r, 1.0, root, r, D, r, 0.0, scaled, r);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, scaled, r, root, r, 0.0, q, r);
    BDML_GO(bdml_la_eigh(h, r, q, lambda, true, &eigen));
    double floor = lambda[r - 1] * 1e-300; /* D may be singular: 0^0 is 1, the limit */
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < r; k++)
            for (int j = 0; j < r; j++) COL(scaled, r, k)
        [j] = COL(q, r, k)[j] * pow(BDML_MAX(lambda[k], floor), 0.5 * t[i]);
        bdml_la_gemm('N', 'N', r, r, r, 1.0, inverse, r, scaled, r, 0.0, l + (size_t)i * rr, r);
    }
done:
    bdml_eigh_ws_free(&eigen);
    free(root);
    free(inverse);
    free(q);
    free(scaled);
    free(lambda);
    return status;
}

/* ---- fit ----------------------------------------------------------------------------------------------- */

/* basis (d x r, orthonormal) of the span, and the points in it, n rows of r. */
static bdml_status orthonormal(bdml_handle *h, const bdml_training *t, bdml_span *span,
                               double **basis, double **p)
{
    bdml_status status = BDML_OK;
    int d = t->d, r = span->r;
    double *turn = NULL, *ws = NULL;

    BDML_NEW(h, *basis, (size_t)d * (size_t)r);
    BDML_NEW(h, *p, (size_t)t->n * (size_t)r);
    BDML_NEW(h, turn, (size_t)r * (size_t)r);
    BDML_NEW(h, ws, bdml_la_map_size(r, r));
    memcpy(*basis, span->lift, sizeof(double) * (size_t)d * (size_t)r);
    BDML_GO(bdml_la_orth(h, d, r, *basis));
    bdml_la_gemm('T', 'N', r, r, d, 1.0, span->lift, d, *basis, d, 0.0, turn, r);
    bdml_la_map_rows(h, r, r, turn, t->n, span->z, r, *p, ws); /* p = basis' lift z */
done:
    free(turn);
    free(ws);
    return status;
}

bdml_status bdml_fit_gmml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    double ridge = o->methods.ridge.value, place = o->methods.gmml_t.value;
    double *S = NULL, *D = NULL, *l = NULL, *basis = NULL, *p = NULL, *whole = NULL;
    bdml_span span = {0};

    BDML_GO(bdml_need_classes(h, t, "gmml"));
    BDML_GO(bdml_span_make(h, t, &span));
    int r = span.r;
    BDML_GO(orthonormal(h, t, &span, &basis, &p));
    BDML_NEW(h, S, (size_t)r * (size_t)r);
    BDML_NEW(h, D, (size_t)r * (size_t)r);
    BDML_NEW(h, l, (size_t)r * (size_t)r);
    BDML_NEW(h, whole, (size_t)r * (size_t)t->d);
    const bdml_training z = {t->n, r, p, t->y, t->classes, NULL, NULL};
    BDML_GO(bdml_gmml_scatter(h, &z, ridge, S, D));
    if (o->methods.gmml_t.automatic) BDML_GO(bdml_gmml_choose(h, o, &z, ridge, &place));
    BDML_GO(bdml_gmml_means(h, r, S, D, 1, &place, l));
    bdml_la_gemm('N', 'N', t->d, r, r, 1.0, basis, t->d, l, r, 0.0, whole, t->d);
    BDML_GO(bdml_model_set_map(h, model, r, whole));
    if (json_object_set_new(model->info, "gmml_t", json_real(place)) != 0)
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
done:
    bdml_span_free(&span);
    free(S);
    free(D);
    free(l);
    free(basis);
    free(p);
    free(whole);
    return status;
}
