/* frame.c - where and how large the data are: the center c and scale s of y = s (x - c).
 * The center is that of the reference rows; the scale has room for the queries too.
 *
 * Products lose digits to |y|^2, so c is put in the middle of the data; as the median of a sample,
 * one far point does not move it. s = 2^-e makes every |y_j| at most 1, so that nothing overflows. */
#include "neighbors/internal.h"

#include <float.h>
#include <stdlib.h>

enum { SAMPLE = 63 }; /* rows that the center is taken from */

static void find_center(int d, const bdml_knn_rows *r, double *center)
{
    int count = (int)BDML_MIN(r->n, (int64_t)SAMPLE);
    double column[SAMPLE];
    for (int j = 0; j < d; j++) {
        for (int s = 0; s < count; s++)
            column[s] = r->x[(size_t)(r->n * s / count) * (size_t)r->ld + (size_t)j];
        center[j] = bdml_knn_nth(column, count, count / 2 + 1);
    }
}

/* largest[i] = max_j |x_ij - c_j|, by row, where it is asked for; returns the largest of all. */
static double find_spread(const double *center, int d, int threads, const bdml_knn_rows *r,
                          double *largest)
{
    double all = 0.0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(max : all)
    for (int64_t i = 0; i < r->n; i++) {
        const double *x = r->x + (size_t)i * (size_t)r->ld;
        double most = 0.0;
        for (int j = 0; j < d; j++) {
            double v = fabs(x[j] - center[j]);
            most = v > most ? v : most;
        }
        if (largest) largest[i] = most;
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

void bdml_knn_frame_measure(const bdml_knn_frame *f, int d, int threads, const bdml_knn_rows *r,
                            void *low, void *wide)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < r->n; i++) {
        const double *x = bdml_knn_point(r, i);
        double norm2 = 0.0;
        for (int j = 0; j < d; j++) {
            double y = (x[j] - f->center[j]) * f->scale;
            norm2 += y * y;
        }
        f->kernel->measure(f, low, wide, i, norm2);
    }
}

bdml_status bdml_knn_frame_start(bdml_handle *h, bdml_index *in)
{
    bdml_knn_frame *f = &in->frame;
    int d = in->rows.d;
    f->center = bdml_alloc(h, (size_t)d, sizeof *f->center);
    if (!f->center) return BDML_ERR_MEMORY;
    find_center(d, &in->reference, f->center);
    int threads = /* NOLINT(clang-analyzer-deadcode.DeadStores): the pragma reads it */
        bdml_threads_for(h, (double)in->rows.n * (double)d);
    f->spread = find_spread(f->center, d, threads, &in->reference, NULL);
    return BDML_OK;
}

static void forget(bdml_knn_frame *f)
{
    free(f->low);
    free(f->wide);
    free(f->pack);
    f->low = f->wide = f->pack = NULL;
    f->kernel = NULL;
}

void bdml_knn_frame_free(bdml_knn_frame *f)
{
    free(f->center);
    f->center = NULL;
    forget(f);
}

/* A guess says how far neighbours are. Float does where the bracket of a distance, 8 e |y|^2 wide, is narrow beside that
 * for most of the queries: its products take half the time. */
static bool guess_suits_float(const bdml_knn_task *t)
{
    const bdml_knn_frame *f = &t->in->frame;
    double e = 1.01 * (t->d + 16) * (double)FLT_EPSILON / 2;
    int64_t count = BDML_MIN(t->query.n, (int64_t)SAMPLE), narrow = 0;
    if (!t->guess || t->in->o.candidates.given) return false;
    for (int64_t s = 0; s < count; s++) {
        int64_t row = t->query.n * s / count;
        const int32_t *guess = t->guess + row * t->k;
        const double *a = t->query.x + (size_t)row * (size_t)t->query.ld;
        double farthest = 0.0;
        for (int c = 0; c < t->k && guess[c] >= 0; c++) {
            const double *b = t->reference.x + (size_t)guess[c] * (size_t)t->reference.ld;
            farthest = BDML_MAX(farthest, bdml_knn_distance(t->d, a, b));
        }
        narrow += 8.0 * e * bdml_knn_distance(t->d, a, f->center) <= farthest / 4.0;
    }
    return 4 * narrow >= 3 * count;
}

static bdml_status choose_kernel(bdml_knn_task *t, int threads, const bdml_knn_kernel **kernel)
{
    bdml_status status = BDML_OK;
    const bdml_knn_frame *f = &t->in->frame;
    double *largest = NULL;

    *kernel = &bdml_knn_kernel_double;
    if (t->in->o.candidates.value != BDML_CANDIDATES_FLOAT && !guess_suits_float(t)) return BDML_OK;
    BDML_NEW(t->h, largest, t->reference.n);
    find_spread(f->center, t->d, threads, &t->reference, largest);
    if (suits_float(t->d, t->reference.n, largest, f->scale)) *kernel = &bdml_knn_kernel_float;
done:
    free(largest);
    return status;
}

/* Queries farther out than any before: everything is measured anew in a smaller scale. */
bdml_status bdml_knn_frame_fit(bdml_knn_task *t, int threads, bool *usable)
{
    bdml_knn_frame *f = &t->in->frame;
    double spread = f->spread;
    if (!t->self) spread = BDML_MAX(spread, find_spread(f->center, t->d, threads, &t->query, NULL));
    *usable = suits_double(t->d, spread);
    double scale = spread > 0.0 ? ldexp(1.0, -(ilogb(spread) + 1)) : 1.0;
    if (!*usable || (f->kernel && scale >= f->scale)) return BDML_OK;

    const bdml_knn_kernel *kernel;
    forget(f);
    f->scale = scale;
    BDML_TRY(choose_kernel(t, threads, &kernel));
    f->e = 1.01 * (t->d + 16) * (kernel->roundoff + DBL_EPSILON / 2);
    /* At most 16 roundings to the grid of the kernel per coordinate, |y_j| <= 1, and one to the grid
     * of double in the plain sum, which stands for s^2 as much here. */
    f->tiny = (t->d + 8.0) * (16.0 * kernel->underflow + 16.0 * DBL_TRUE_MIN * scale * scale);
    f->low = bdml_alloc(t->h, (size_t)t->reference.n, kernel->size);
    f->wide = bdml_alloc(t->h, (size_t)t->reference.n, kernel->size);
    if (!f->low || !f->wide) return BDML_ERR_MEMORY;
    f->kernel = kernel;
    bdml_knn_frame_measure(f, t->d, threads, &t->reference, f->low, f->wide);
    return BDML_OK;
}
