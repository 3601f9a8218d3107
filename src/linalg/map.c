/* map.c - one linear map applied to many rows, so that the image of a row depends on that row alone.
 *
 * BLAS kernels treat the last columns of a product unlike the others, and then two equal points may
 * get images that differ in the last bit (OpenBLAS 0.3.21: in one product of six with 1 to 64 columns):
 * ties between neighbours would fall by position. Every product here has the same shape, MAP_ROWS
 * rows, all of them treated alike; the last tile is filled up with zeros. */
#include "linalg/linalg.h"

/* Enough rows to keep BLAS busy, few enough that mapping a single point stays cheap. */
enum { MAP_ROWS = 64 };

size_t bdml_la_map_size(int q, int d)
{
    return (size_t)MAP_ROWS * ((size_t)q + (size_t)d);
}

static void last_tile(int q, int d, const double *a, int rows, const double *x, int64_t ldx,
                      double *z, double *ws)
{
    double *in = ws, *out = ws + (size_t)MAP_ROWS * (size_t)d;
    memset(in, 0, sizeof(double) * MAP_ROWS * (size_t)d);
    for (int i = 0; i < rows; i++)
        memcpy(COL(in, d, i), COL(x, ldx, i), sizeof(double) * (size_t)d);
    bdml_la_gemm('T', 'N', q, MAP_ROWS, d, 1.0, a, d, in, d, 0.0, out, q);
    memcpy(z, out, sizeof(double) * (size_t)q * (size_t)rows);
}

void bdml_la_map_rows(const bdml_handle *h, int q, int d, const double *a, int64_t n,
                      const double *x, int64_t ldx, double *z, double *ws)
{
    int64_t full = n / MAP_ROWS;
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, (double)n *q *d))
    for (int64_t t = 0; t < full; t++)
        bdml_la_gemm('T', 'N', q, MAP_ROWS, d, 1.0, a, d, COL(x, ldx, t * MAP_ROWS), (int)ldx, 0.0,
                     COL(z, q, t * MAP_ROWS), q);
    int rest = (int)(n - full * MAP_ROWS);
    if (rest > 0)
        last_tile(q, d, a, rest, COL(x, ldx, full * MAP_ROWS), ldx, COL(z, q, full * MAP_ROWS), ws);
}
