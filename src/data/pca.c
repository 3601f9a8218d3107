/* pca.c - principal components of the scaled training data.
 *
 *     C = (1/n) sum (x_i - m)(x_i - m)' = V diag(lambda) V',   lambda descending;   z = V_q' (x - m)
 *
 * Three ways to the leading eigenpairs, by shape:
 *     d <= n                    eigendecomposition of C, d x d
 *     n < d                     eigendecomposition of the Gram matrix X'X, n x n; V = X U diag(1/sigma)
 *     both large, q small       randomised block Krylov method (pca_krylov.c)
 *
 * X is d x n with centred points as columns. Data are read in blocks of fixed size, so that the bits
 * depend on neither the memory setting nor the number of threads. */
#include "data/pca.h"

#include <float.h>
#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    BLOCK = 1 << 22,      /* doubles in a block of rows: 32 MiB */
    BLOCK_LEAST = 256,    /* rows, */
    BLOCK_MOST = 1 << 16, /* at least and at most */
    GRAM_UP_TO = 512      /* dimension up to which partial Gram matrices are small beside a block */
};

bdml_status bdml_pca_block(bdml_handle *h, const bdml_pca_stream *s, int64_t i, int64_t *rows)
{
    *rows = BDML_MIN(s->rows, s->data->n - i);
    BDML_TRY(bdml_progress(h, "PCA", i, s->data->n));
    if (!s->data->made)
        return bdml_prepare_scale(h, s->p, *rows, COL(s->data->x, s->data->ld, i), s->data->ld, i,
                                  s->x);
    bdml_rows_copy(s->data, *rows, NULL, i, s->x);
    return bdml_prepare_scale(h, s->p, *rows, s->x, s->data->d, i, s->x);
}

/* m = mean of the scaled rows; p->center is still NULL while this runs. */
static bdml_status fit_center(bdml_handle *h, const bdml_pca_stream *s, double *center)
{
    bdml_status status = BDML_OK;
    int d = s->data->d;
    double *weight = NULL;
    int64_t rows;

    BDML_NEW(h, weight, s->rows);
    for (int64_t i = 0; i < s->rows; i++)
        weight[i] = 1.0 / (double)bdml_spread_total(s->over, s->data->n);
    for (int64_t i = 0; i < s->data->n; i += s->rows) {
        BDML_GO(bdml_pca_block(h, s, i, &rows));
        bdml_la_gemv('N', d, (int)rows, 1.0, s->x, d, weight, 1.0, center);
    }
    bdml_spread_sum(s->over, d, center);
done:
    free(weight);
    return status;
}

bdml_status bdml_spectrum_new(bdml_handle *h, int d, int count, bdml_spectrum *e)
{
    bdml_status status = BDML_OK;
    e->count = count;
    BDML_NEW(h, e->lambda, count);
    BDML_NEW(h, e->v, (size_t)d * (size_t)count);
done:
    return status;
}

void bdml_pca_descending(int d, int count, int total, const double *lambda, const double *q,
                         double *out, double *v)
{
    for (int k = 0; k < count; k++) {
        out[k] = lambda[total - 1 - k];
        memcpy(COL(v, d, k), COL(q, d, total - 1 - k), sizeof(double) * (size_t)d);
    }
}

/* ---- d <= n: the covariance ---------------------------------------------------------------------- */

static bdml_status covariance(bdml_handle *h, const bdml_pca_stream *s, double *c)
{
    bdml_status status = BDML_OK;
    int d = s->data->d;
    size_t dd = (size_t)d * (size_t)d;
    double *ws = NULL, *part = NULL;
    int64_t rows;

    if (d <= GRAM_UP_TO) {
        BDML_NEW(h, part, dd);
        BDML_NEW(h, ws, bdml_la_gram_size(d));
    }
    for (int64_t i = 0; i < s->data->n; i += s->rows) {
        BDML_GO(bdml_pca_block(h, s, i, &rows));
        if (d <= GRAM_UP_TO) {
            bdml_la_gram(h, d, rows, s->x, d, NULL, part, ws);
            for (size_t e = 0; e < dd; e++) c[e] += part[e];
        } else {
            bdml_la_gemm_tiled(h, 'N', 'T', d, d, rows, 1.0, s->x, d, s->x, d, 1.0, c, d);
        }
    }
    bdml_spread_sum_symmetric(s->over, d, c);
    for (size_t e = 0; e < dd; e++) c[e] /= (double)bdml_spread_total(s->over, s->data->n);
done:
    free(part);
    free(ws);
    return status;
}

static bdml_status by_covariance(bdml_handle *h, const bdml_pca_stream *s, bdml_spectrum *e)
{
    bdml_status status = BDML_OK;
    int d = s->data->d;
    double *c = NULL, *lambda = NULL;
    bdml_eigh_ws ws = {0};

    BDML_NEW(h, c, (size_t)d * (size_t)d);
    BDML_NEW(h, lambda, d);
    BDML_GO(covariance(h, s, c));
    for (int j = 0; j < d; j++) e->total += COL(c, d, j)[j];
    BDML_GO(bdml_eigh_ws_init(h, d, &ws));
    BDML_GO(bdml_la_eigh(h, d, c, lambda, true, &ws));
    BDML_GO(bdml_spectrum_new(h, d, d, e));
    bdml_pca_descending(d, d, d, lambda, c, e->lambda, e->v);
done:
    bdml_eigh_ws_free(&ws);
    free(lambda);
    free(c);
    return status;
}

/* ---- n < d: the Gram matrix ------------------------------------------------------------------------ */

/* X'X = U diag(n lambda) U'; V = X U normalised. Columns of small lambda come out with errors along the
 * large ones; QR takes those out. The block is the whole of X here. */
static bdml_status by_gram(bdml_handle *h, const bdml_pca_stream *s, bdml_spectrum *e)
{
    bdml_status status = BDML_OK;
    int d = s->data->d, n = (int)s->data->n;
    double *k = NULL, *lambda = NULL, *u = NULL;
    bdml_eigh_ws ws = {0};
    int64_t rows;

    BDML_NEW(h, k, (size_t)n * (size_t)n);
    BDML_NEW(h, u, (size_t)n * (size_t)n);
    BDML_NEW(h, lambda, n);
    BDML_GO(bdml_pca_block(h, s, 0, &rows));
    bdml_la_gemm_tiled(h, 'T', 'N', n, n, d, 1.0 / n, s->x, d, s->x, d, 0.0, k, n);
    for (int i = 0; i < n; i++) e->total += COL(k, n, i)[i];
    BDML_GO(bdml_eigh_ws_init(h, n, &ws));
    BDML_GO(bdml_la_eigh(h, n, k, lambda, true, &ws));
    BDML_GO(bdml_spectrum_new(h, d, n, e));
    bdml_pca_descending(n, n, n, lambda, k, e->lambda, u);
    for (int c = 0; c < n; c++) { /* unit columns; those without variance are cut off later */
        double norm = sqrt((double)n * BDML_MAX(e->lambda[c], 0.0));
        for (int i = 0; i < n; i++) COL(u, n, c)[i] = norm > 0.0 ? COL(u, n, c)[i] / norm : 0.0;
    }
    bdml_la_gemm_tiled(h, 'N', 'N', d, n, n, 1.0, s->x, d, u, n, 0.0, e->v, d);
    BDML_GO(bdml_la_orth(h, d, n, e->v));
done:
    bdml_eigh_ws_free(&ws);
    free(lambda);
    free(u);
    free(k);
    return status;
}

/* ---- choosing and storing --------------------------------------------------------------------------- */

/* Components with variance beyond rounding errors of the sums. */
static int numerical_rank(const bdml_spectrum *e, int64_t n, int d)
{
    double noise = (double)BDML_MAX(n, (int64_t)d) * DBL_EPSILON * e->lambda[0];
    int rank = 0;
    while (rank < e->count && e->lambda[rank] > noise) rank++;
    return rank;
}

static bdml_status choose(bdml_handle *h, int64_t n, int d, const bdml_spectrum *e, double asked,
                          int *components)
{
    int rank = e->lambda[0] > 0.0 ? numerical_rank(e, n, d) : 0;
    double kept = 0.0;

    if (rank == 0)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "PCA needs at least two different points; all %lld are equal after scaling",
            (long long)n);
    *components = 0;
    if (asked < 1.0) {
        while (*components < rank && kept < asked * e->total) kept += e->lambda[(*components)++];
        return BDML_OK;
    }
    *components = asked > rank ? rank : (int)asked;
    if (asked > rank)
        bdml_log(h, BDML_LOG_WARNING,
                 "PCA: %.15g components were wanted, but the data have rank %d: %d are kept", asked,
                 rank, rank);
    return BDML_OK;
}

/* An eigenvector's sign is anyone's choice: its largest entry shall be positive. */
static void fix_signs(int d, int count, double *v)
{
    for (int k = 0; k < count; k++) {
        double *col = COL(v, d, k), largest = 0.0;
        for (int j = 0; j < d; j++)
            if (fabs(col[j]) > fabs(largest)) largest = col[j];
        for (int j = 0; j < d && largest < 0.0; j++) col[j] = -col[j];
    }
}

static bdml_status store(bdml_handle *h, bdml_spectrum *e, int components, bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    double kept = 0.0;
    size_t size = (size_t)p->d_in * (size_t)components;

    BDML_NEW(h, p->basis, size);
    memcpy(p->basis, e->v, sizeof(double) * size);
    fix_signs(p->d_in, components, p->basis);
    for (int k = 0; k < components; k++) kept += e->lambda[k];
    p->d_out = components;
    p->variance = BDML_MIN(kept / e->total, 1.0);
    bdml_log(h, BDML_LOG_INFO, "PCA: %d of %d dimensions keep %.4g %% of the variance", components,
             p->d_in, 100.0 * p->variance);
done:
    return status;
}

/* Fewer rows than columns are brought together on every rank, and so is what fills no more than a block: it gets the bits of one process. */
static bdml_status fit_together(bdml_handle *h, double asked, uint64_t seed, const bdml_rows *data,
                                const bdml_spread *over, bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    bdml_rows all = {.n = bdml_spread_total(over, data->n), .d = data->d, .ld = data->d};
    double *x = NULL;
    int64_t *row = NULL;

    BDML_NEW(h, x, (size_t)all.n * (size_t)all.d);
    BDML_NEW(h, row, all.n);
    for (int64_t i = 0; i < all.n; i++) row[i] = i;
    BDML_GO(bdml_spread_fetch(h, over, all.d, data->x, data->ld, all.n, row, x));
    all.x = x;
    status = bdml_pca_fit(h, asked, seed, &all, NULL, p);
done:
    free(x);
    free(row);
    return status;
}

bdml_status bdml_pca_fit(bdml_handle *h, double asked, uint64_t seed, const bdml_rows *data,
                         const bdml_spread *over, bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    double *center = NULL;
    int64_t n = bdml_spread_total(over, data->n);
    bool few_rows = n < data->d, randomised = bdml_pca_krylov_pays(n, data->d, asked);
    bdml_pca_stream s = {.data = data, .over = over, .p = p};
    bdml_spectrum e = {0};
    int components = 0;

    if (asked >= 1.0 && asked != floor(asked))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "pca must be a whole number of components, or a share of variance below 1, "
            "got %g",
            asked);
    bool little = n <= BLOCK / data->d;
    if (over && (little || (few_rows && !randomised)))
        return fit_together(h, asked, seed, data, over, p);
    s.rows = BDML_MIN(BDML_MAX(BLOCK / data->d, BLOCK_LEAST), BLOCK_MOST);
    s.rows = few_rows && !randomised ? data->n : BDML_MIN(s.rows, data->n);
    BDML_NEW(h, s.x, (size_t)s.rows * (size_t)data->d);
    BDML_NEW(h, center, data->d);
    BDML_GO(fit_center(h, &s, center));
    p->center = center;
    center = NULL;
    if (randomised)
        BDML_GO(bdml_pca_krylov(h, seed, &s, (int)asked, &e));
    else if (few_rows)
        BDML_GO(by_gram(h, &s, &e));
    else
        BDML_GO(by_covariance(h, &s, &e));
    BDML_GO(choose(h, n, data->d, &e, asked, &components));
    BDML_GO(store(h, &e, components, p));
done:
    free(center);
    free(s.x);
    free(e.lambda);
    free(e.v);
    return status;
}
