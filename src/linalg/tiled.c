/* tiled.c - products over fixed tiles, spread over OpenMP threads.
 *
 * Tile shapes depend on the problem alone, and each tile of the result is computed by one thread in
 * one order: the bits do not depend on the number of threads. */
#include "linalg/linalg.h"

/* Columns of C per tile: enough work for one BLAS call, small enough to share out. */
enum { GEMM_COLUMNS = 256 };

void bdml_la_gemm_tiled(const bdml_handle *h, char ta, char tb, int m, int64_t n, int64_t k,
                        double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double beta, double *c, int64_t ldc)
{
    int64_t tiles = (n + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
#pragma omp parallel for schedule(dynamic) \
    num_threads(bdml_threads_for(h, (double)m *(double)n *(double)k))
    for (int64_t t = 0; t < tiles; t++) {
        int64_t j = t * GEMM_COLUMNS;
        int columns = (int)BDML_MIN((int64_t)GEMM_COLUMNS, n - j);
        const double *bj = tb == 'N' ? COL(b, ldb, j) : b + j;
        bdml_la_gemm(ta, tb, m, columns, (int)k, alpha, a, (int)lda, bj, (int)ldb, beta,
                     COL(c, ldc, j), (int)ldc);
    }
}

/* Weighted Gram matrix: points go in GRAM_PARTS fixed parts, each summed by one thread over chunks
 * of GRAM_CHUNK scaled copies; the parts are then added in order. */
enum { GRAM_PARTS = 8, GRAM_CHUNK = 256 };

size_t bdml_la_gram_size(int d)
{
    size_t dd = (size_t)d;
    return GRAM_PARTS * (dd * dd + dd * GRAM_CHUNK);
}

/* C (d x d) = sum of w_i x_i x_i' over this part. */
static void gram_part(int d, int64_t n, const double *x, int64_t ldx, const double *w, double *c,
                      double *scaled)
{
    memset(c, 0, sizeof(double) * (size_t)d * (size_t)d);
    for (int64_t i0 = 0; i0 < n; i0 += GRAM_CHUNK) {
        int count = (int)BDML_MIN((int64_t)GRAM_CHUNK, n - i0);
        if (!w) {
            bdml_la_syrk('N', d, count, 1.0, COL(x, ldx, i0), (int)ldx, 1.0, c, d);
            continue;
        }
        for (int i = 0; i < count; i++)
            for (int r = 0; r < d; r++) COL(scaled, d, i)[r] = w[i0 + i] * COL(x, ldx, i0 + i)[r];
        bdml_la_gemm('N', 'T', d, d, count, 1.0, scaled, d, COL(x, ldx, i0), (int)ldx, 1.0, c, d);
    }
}

/* Points of a part. */
static int64_t gram_each(int64_t n)
{
    return BDML_MAX((n + GRAM_PARTS - 1) / GRAM_PARTS, 1);
}

bdml_stretch bdml_la_gram_stretch(const bdml_comm *comm, int64_t n)
{
    int64_t each = gram_each(n);
    bdml_stretch parts = bdml_comm_stretch(comm, comm->rank, (n + each - 1) / each);
    return (bdml_stretch){BDML_MIN(parts.first * each, n), BDML_MIN(parts.end * each, n)};
}

void bdml_la_gram_ranks(const bdml_handle *h, const bdml_comm *comm, int d, int64_t n,
                        const double *x, int64_t ldx, const double *w, double *c, double *ws)
{
    size_t dd = (size_t)d * (size_t)d, stride = dd + (size_t)d * GRAM_CHUNK;
    bdml_stretch here = bdml_la_gram_stretch(comm, n);
    int64_t each = gram_each(n), held = here.end - here.first;
    int parts = (int)((held + each - 1) / each);
#pragma omp parallel for schedule(dynamic) num_threads(bdml_threads_for(h, (double)held *d *d))
    for (int p = 0; p < parts; p++) {
        int64_t from = p * each;
        double *part = ws + (size_t)p * stride;
        gram_part(d, BDML_MIN(each, held - from), COL(x, ldx, from), ldx, w ? w + from : NULL, part,
                  part + dd);
    }
    bdml_comm_chain(comm, (int64_t)dd, parts, (int64_t)stride, ws, c);
    bdml_la_mirror(d, c, d);
}

void bdml_la_gram(const bdml_handle *h, int d, int64_t n, const double *x, int64_t ldx,
                  const double *w, double *c, double *ws)
{
    bdml_la_gram_ranks(h, &bdml_comm_serial, d, n, x, ldx, w, c, ws);
}
