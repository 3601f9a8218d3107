/* scatters.c - the directions in which there is any scatter, and two scatters made diagonal at once. */
#include "baselines/pairs.h"

#include <stdlib.h>

/* Directions with less than this share of the largest variance, columns in units of their own deviation,
 * count as absent: columns that depend on each other in a file do so to its digits only. */
static const double ABSENT = 1e-11;

bdml_status bdml_span_basis(bdml_handle *h, int d, const double *scatter, int *r, double **basis)
{
    bdml_status status = BDML_OK;
    double *unit = NULL, *a = NULL, *lambda = NULL, *b = NULL;
    bdml_eigh_ws ws = {0};

    *r = 0;
    *basis = NULL;
    BDML_NEW(h, unit, d);
    BDML_NEW(h, a, (size_t)d * (size_t)d);
    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, d, &ws));
    for (int j = 0; j < d; j++) unit[j] = sqrt(BDML_MAX(COL(scatter, d, j)[j], 0.0));
    for (int j = 0; j < d; j++)
        for (int i = 0; i < d; i++)
            if (unit[i] > 0.0 && unit[j] > 0.0)
                COL(a, d, j)[i] = COL(scatter, d, j)[i] / unit[i] / unit[j];
    BDML_GO(bdml_la_eigh(h, d, a, lambda, true, &ws));
    double top = BDML_MAX(lambda[d - 1], 0.0);
    while (*r < d && lambda[d - 1 - *r] > ABSENT * top) ++*r;
    BDML_NEW(h, b, (size_t)d * (size_t)BDML_MAX(*r, 1));
    for (int k = 0; k < *r; k++) /* range(D R D) = D range(R) */
        for (int i = 0; i < d; i++) COL(b, d, k)[i] = unit[i] * COL(a, d, d - 1 - k)[i];
    if (*r > 0) BDML_GO(bdml_la_orth(h, d, *r, b));
    *basis = b;
    b = NULL;
done:
    free(unit);
    free(a);
    free(lambda);
    free(b);
    bdml_eigh_ws_free(&ws);
    return status;
}

/* W = Q diag(1/sqrt(lambda)) for A = Q diag(lambda) Q' positive definite; a becomes W. */
static bdml_status inverse_root(bdml_handle *h, int r, double *a, double *lambda, bdml_eigh_ws *ws)
{
    BDML_TRY(bdml_la_eigh(h, r, a, lambda, true, ws));
    double least = 1e-15 * lambda[r - 1];
    for (int k = 0; k < r; k++) {
        double scale = 1.0 / sqrt(BDML_MAX(lambda[k], least));
        for (int i = 0; i < r; i++) COL(a, r, k)[i] *= scale;
    }
    return BDML_OK;
}

bdml_status bdml_simultaneous(bdml_handle *h, int r, const double *s, const double *t, double *w,
                              double *sigma)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)r * (size_t)r;
    double *root = NULL, *half = NULL, *q = NULL;
    bdml_eigh_ws ws = {0};

    BDML_NEW(h, root, size);
    BDML_NEW(h, half, size);
    BDML_NEW(h, q, size);
    BDML_GO(bdml_eigh_ws_init(h, r, &ws));
    for (size_t e = 0; e < size; e++) root[e] = s[e] + t[e];
    BDML_GO(inverse_root(h, r, root, sigma, &ws));
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s, r, root, r, 0.0, half, r);
    bdml_la_gemm('T', 'N', r, r, r, 1.0, root, r, half, r, 0.0, q, r);
    BDML_GO(bdml_la_eigh(h, r, q, sigma, true, &ws));
    for (int k = 0; k < r; k++) sigma[k] = BDML_MIN(BDML_MAX(sigma[k], 0.0), 1.0);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, root, r, q, r, 0.0, w, r);
done:
    free(root);
    free(half);
    free(q);
    bdml_eigh_ws_free(&ws);
    return status;
}
