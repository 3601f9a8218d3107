/* matrix.c - matrices of one size: workspace, and what is the same for full and diagonal ones. */
#include "spectral/matrix.h"

#include <stdlib.h>

static const double SQRT2 = 1.4142135623730951;

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

/* Column j holds rows first .. r-1; of a full matrix those up to j are packed. */
size_t bdml_matrix_packed(const bdml_matrices *X)
{
    size_t r = (size_t)X->r;
    return X->height == X->r ? r * (r + 1) / 2 : r;
}

void bdml_matrix_pack(const bdml_matrices *X, const double *M, double *v)
{
    for (int j = 0; j < X->r; j++) {
        const double *column = COL(M, X->height, j);
        int first = bdml_matrix_first(X, j);
        for (int i = first; i < j; i++) *v++ = SQRT2 * column[i - first];
        *v++ = column[j - first];
    }
}

void bdml_matrix_unpack(const bdml_matrices *X, const double *v, double *M)
{
    for (int j = 0; j < X->r; j++) {
        int first = bdml_matrix_first(X, j);
        for (int i = first; i < j; i++)
            COL(M, X->height, j)[i] = COL(M, X->height, i)[j] = *v++ / SQRT2;
        COL(M, X->height, j)[j - first] = *v++;
    }
}

void bdml_matrix_pack_row(const bdml_matrices *X, double factor, const double *f, const double *g,
                          double *v)
{
    for (int j = 0; j < X->r; j++) {
        double fj = SQRT2 * factor * f[j], gj = SQRT2 * factor * g[j];
        int first = bdml_matrix_first(X, j);
        for (int i = first; i < j; i++) *v++ = fj * f[i] - gj * g[i];
        *v++ = factor * (f[j] * f[j] - g[j] * g[j]);
    }
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
