/* frame.c - where and how large the data are: the center c and scale s of y = s (x - c).
 *
 * Products lose digits to |y|^2, so c is put in the middle of the data; as the median of a sample,
 * one far point does not move it. s = 2^-e makes every |y_j| at most 1, so that nothing overflows. */
#include "neighbors/internal.h"

#include <float.h>
#include <stdlib.h>

enum { SAMPLE = 63 }; /* rows that the center is taken from */

static int compare_doubles(const void *a, const void *b)
{
    double p, q;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    return p < q ? -1 : p > q;
}

static void find_center(int d, const bdml_knn_rows *r, double *center)
{
    int count = (int)BDML_MIN(r->n, (int64_t)SAMPLE);
    double column[SAMPLE];
    for (int j = 0; j < d; j++) {
        for (int s = 0; s < count; s++)
            column[s] = r->x[(size_t)(r->n * s / count) * (size_t)r->ld + (size_t)j];
        qsort(column, (size_t)count, sizeof *column, compare_doubles);
        center[j] = column[count / 2];
    }
}

/* largest[i] = max_j |x_ij - c_j|, by row; returns the largest of all. */
static double find_spread(const bdml_knn_brute *b, const bdml_knn_rows *r, double *largest)
{
    int d = b->t->d;
    double all = 0.0;
#pragma omp parallel for schedule(static) num_threads(b->threads) reduction(max : all)
    for (int64_t i = 0; i < r->n; i++) {
        const double *x = r->x + (size_t)i * (size_t)r->ld;
        double most = 0.0;
        for (int j = 0; j < d; j++) {
            double v = fabs(x[j] - b->center[j]);
            most = v > most ? v : most;
        }
        largest[i] = most;
        all = most > all ? most : all;
    }
    return all;
}

/* Float reaches down to 2^-126 only: with many rows whose y is below 2^-30, squares below 2^-60, its
 * bounds stop telling points apart and all of them would be ranked one by one. */
static bool suits_float(int d, int64_t n, const double *largest, double scale)
{
    int64_t small = 0;
    if ((d + 16) * (double)FLT_EPSILON / 2 > 0.005) return false; /* what `e` assumes */
    for (int64_t i = 0; i < n; i++) small += largest[i] > 0.0 && largest[i] * scale < 0x1p-30;
    return small <= n / 16;
}

/* In double, the plain sum must not overflow, d (2 spread)^2 < 2^1024, nor underflow so much that
 * its lost digits, 2^-1074 each, matter beside spread^2. */
static bool suits_double(int d, double spread)
{
    if (!isfinite(spread)) return false;
    if (spread == 0.0) return true;
    int p = ilogb(spread) + 1;
    return 2 * (p + 1) + ilogb((double)d) + 1 <= 1023 && p > -400;
}

static void measure_rows(const bdml_knn_brute *b, const bdml_knn_kernel *kernel,
                         const bdml_knn_rows *r, void *low, void *wide)
{
    int d = b->t->d;
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t i = 0; i < r->n; i++) {
        const double *x = bdml_knn_point(r, i);
        double norm2 = 0.0;
        for (int j = 0; j < d; j++) {
            double y = (x[j] - b->center[j]) * b->scale;
            norm2 += y * y;
        }
        kernel->measure(b, low, wide, i, norm2);
    }
}

/* Fill in center, scale, e, tiny, and choose the kernel: NULL when products cannot serve. */
bdml_status bdml_knn_frame_find(bdml_knn_brute *b, const bdml_knn_kernel **kernel)
{
    bdml_status status = BDML_OK;
    bdml_knn_task *t = b->t;
    double *largest = NULL;

    *kernel = NULL;
    BDML_NEW(t->h, b->center, t->d);
    BDML_NEW(t->h, largest, t->reference.n + (t->self ? 0 : t->query.n));
    find_center(t->d, &t->reference, b->center);
    double spread = find_spread(b, &t->reference, largest);
    if (!t->self) spread = BDML_MAX(spread, find_spread(b, &t->query, largest + t->reference.n));
    if (!suits_double(t->d, spread)) goto done;

    b->scale = spread > 0.0 ? ldexp(1.0, -(ilogb(spread) + 1)) : 1.0;
    *kernel = t->o->candidates.value == BDML_CANDIDATES_FLOAT &&
                      suits_float(t->d, t->reference.n, largest, b->scale)
                  ? &bdml_knn_kernel_float
                  : &bdml_knn_kernel_double;
    b->e = 1.01 * (t->d + 16) * ((*kernel)->roundoff + DBL_EPSILON / 2);
    /* At most 16 roundings to the grid of the kernel per coordinate, |y_j| <= 1, and one to the grid
     * of double in the plain sum, which stands for s^2 as much here. */
    b->tiny =
        (t->d + 8.0) * (16.0 * (*kernel)->underflow + 16.0 * DBL_TRUE_MIN * b->scale * b->scale);
done:
    free(largest);
    return status;
}

/* low and wide of all rows; memory is there. */
void bdml_knn_frame_measure(bdml_knn_brute *b, const bdml_knn_kernel *kernel)
{
    measure_rows(b, kernel, &b->t->reference, b->low_r, b->wide_r);
    if (!b->t->self) measure_rows(b, kernel, &b->t->query, b->low_q, b->wide_q);
}
