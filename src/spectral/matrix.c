/* matrix.c - matrices of one size: workspace, and what is the same for full and diagonal ones. */
#include "spectral/matrix.h"

#include <stdlib.h>

bdml_status bdml_matrices_init(bdml_handle *h, const bdml_matrix_ops *ops, int r, unsigned uses,
                               bdml_matrices *X)
{
    bdml_status status = BDML_OK;
    *X = (bdml_matrices){.ops = ops, .h = h, .r = r, .height = ops->height(r)};
    X->size = (size_t)r * (size_t)X->height;
    X->step = ops->turns ? (size_t)r + 1 : 1;
    BDML_NEW(h, X->lambda, r);
    BDML_NEW(h, X->l, r);
    BDML_NEW(h, X->sorted, r);
    BDML_NEW(h, X->order, r);
    if (uses & BDML_MATRIX_COMPOSE) BDML_NEW(h, X->scaled, X->size);
    if (!ops->turns) goto done;
    if (uses & BDML_MATRIX_EIGEN) BDML_GO(bdml_eigh_ws_init(h, r, &X->eigen));
    if (uses & BDML_MATRIX_LANCZOS) BDML_GO(bdml_lanczos_ws_init(h, r, &X->lanczos));
done:
    return status;
}

void bdml_matrices_free(bdml_matrices *X)
{
    free(X->lambda);
    free(X->l);
    free(X->sorted);
    free(X->order);
    free(X->scaled);
    bdml_eigh_ws_free(&X->eigen);
    bdml_lanczos_ws_free(&X->lanczos);
}

void bdml_matrix_ends(const bdml_matrices *X, int *floor, int *ceiling)
{
    const double *l = X->l;
    int r = X->r, lo = 0, hi = 0;
    while (lo < r && l[lo] == l[0]) lo++;
    while (hi < r && l[r - 1 - hi] == l[r - 1]) hi++;
    *floor = lo;
    *ceiling = hi;
}

void bdml_matrix_identity(const bdml_matrices *X, double value, double *M)
{
    memset(M, 0, sizeof *M * X->size);
    for (int i = 0; i < X->r; i++) M[(size_t)i * X->step] = value;
}

void bdml_matrix_add_outer(const bdml_matrices *X, double c, const double *u, double *M)
{
    for (int j = 0; j < X->r; j++) {
        double *column = COL(M, X->height, j);
        const double *rows = u + bdml_matrix_first(X, j);
        for (int i = 0; i < X->height; i++) column[i] += c * u[j] * rows[i];
    }
}

void bdml_matrix_subtract_from(const bdml_matrices *X, const double *a, double *S)
{
    if (a)
        for (size_t i = 0; i < X->size; i++) S[i] = a[i] - S[i];
    else
        for (size_t i = 0; i < X->size; i++) S[i] = -S[i];
}
