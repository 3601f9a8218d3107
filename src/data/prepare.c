/* prepare.c - fill in missing values and scale, fitted on training data.
 *
 *     x <- fill where NaN
 *     zscore   (x - mean) / std           std = sqrt(mean (x - mean)^2), the population's
 *     minmax   (x - min) / (max - min)
 *     unit     x / |x|, row by row; a zero row stays zero
 *
 * Sums over rows go in fixed parts, in twice the precision: the same bits for any number of threads, and however the rows are dealt
 * out to ranks. */
#include "data/data.h"

#include <float.h>
#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    PARTS = 16,        /* of the rows, in sums over columns */
    BLOCK = 1 << 20,   /* doubles in a block of scaled rows on their way to the PCA */
    ROWS_AT_ONCE = 64, /* smallest block, and rows a thread takes at a time */
    NAMED = 8          /* constant columns that the log lists by name */
};

/* Values that differ by a few units in the last place differ by how they were computed or printed
 * (0.1 + 0.2 against 0.3), not by content; scaled to unit variance they would be pure noise. */
static const double NOISE = 16 * DBL_EPSILON;

void bdml_prepare_free(bdml_prepare *p)
{
    if (!p) return;
    free(p->fill);
    free(p->shift);
    free(p->width);
    free(p->center);
    free(p->basis);
    memset(p, 0, sizeof *p);
}

/* ---- column statistics ----------------------------------------------------------------------- */

static double size_of(const bdml_rows *data)
{
    return (double)data->n * (double)data->d;
}

/* Rows of one part: from .. to. */
static void part_rows(int64_t n, int part, int64_t *from, int64_t *to)
{
    int64_t per_part = (n + PARTS - 1) / PARTS;
    *from = BDML_MIN(part * per_part, n);
    *to = BDML_MIN(*from + per_part, n);
}

/* Column sums of the values that are there, twofold, and how many there are; out: 3*d. */
static void part_present(const bdml_rows *data, int part, double *row, double *out)
{
    int d = data->d;
    int64_t from, to;
    part_rows(data->n, part, &from, &to);
    memset(out, 0, 3 * sizeof(double) * (size_t)d);
    for (int64_t i = from; i < to; i++) {
        const double *x = bdml_row_at(data, i, row);
        for (int j = 0; j < d; j++)
            if (!isnan(x[j])) bdml_twofold_add(out + j, out + d + j, x[j]), out[2 * d + j] += 1.0;
    }
}

/* Column minima, maxima and sums, twofold, filled in; out: 4*d. Returns the first row with a value that is
 * not finite, or INT64_MAX. */
static int64_t part_range(const bdml_rows *data, const double *fill, int part, double *row,
                          double *out)
{
    int d = data->d;
    double *lo = out, *hi = out + d, *sum = out + 2 * (size_t)d, *rest = sum + d;
    int64_t from, to;
    part_rows(data->n, part, &from, &to);
    for (int j = 0; j < d; j++) lo[j] = INFINITY, hi[j] = -INFINITY, sum[j] = rest[j] = 0.0;
    for (int64_t i = from; i < to; i++) {
        const double *x = bdml_row_at(data, i, row);
        for (int j = 0; j < d; j++) {
            double v = fill && isnan(x[j]) ? fill[j] : x[j];
            if (!isfinite(v)) return i;
            lo[j] = BDML_MIN(lo[j], v);
            hi[j] = BDML_MAX(hi[j], v);
            bdml_twofold_add(sum + j, rest + j, v);
        }
    }
    return INT64_MAX;
}

/* Sums of ((x - mean) / range)^2, twofold; range = max - min: no square can over- or underflow. out: 2*d. */
static void part_squares(const bdml_rows *data, const double *fill, const double *mean,
                         const double *range, int part, double *row, double *out)
{
    int d = data->d;
    int64_t from, to;
    part_rows(data->n, part, &from, &to);
    memset(out, 0, 2 * sizeof(double) * (size_t)d);
    for (int64_t i = from; i < to; i++) {
        const double *x = bdml_row_at(data, i, row);
        for (int j = 0; j < d; j++) {
            double v = ((fill && isnan(x[j]) ? fill[j] : x[j]) - mean[j]) / range[j];
            bdml_twofold_add(out + j, out + d + j, v * v);
        }
    }
}

/* Sums hi (d) and lo (d) of all parts, which are `stride` apart, into the first. */
static void add_parts(int d, int stride, double *parts)
{
    for (int part = 1; part < PARTS; part++)
        for (int j = 0; j < d; j++) {
            const double *p = COL(parts, stride, part);
            bdml_twofold_add(parts + j, parts + d + j, p[j]);
            parts[d + j] += p[d + j];
        }
}

/* ---- fitting ----------------------------------------------------------------------------------- */

bdml_status bdml_prepare_means(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                               bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    int d = data->d;
    double *sums = NULL, *room = NULL;

    BDML_NEW(h, p->fill, d);
    BDML_NEW(h, room, (size_t)PARTS * (size_t)d);
    BDML_NEW(h, sums, (size_t)PARTS * 3 * (size_t)d);
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, size_of(data)))
    for (int part = 0; part < PARTS; part++)
        part_present(data, part, COL(room, d, part), COL(sums, 3 * d, part));
    add_parts(d, 3 * d, sums);
    for (int part = 1; part < PARTS; part++)
        for (int j = 2 * d; j < 3 * d; j++) sums[j] += COL(sums, 3 * d, part)[j];
    BDML_GO(bdml_spread_twofold(h, over, d, sums, sums + d));
    bdml_spread_sum(over, d, sums + 2 * (size_t)d);
    for (int j = 0; j < d; j++) {
        double sum = sums[j] + sums[d + j], count = sums[2 * d + j];
        p->fill[j] = count > 0.0 ? sum / count : 0.0;
        if (count == 0.0)
            bdml_log(h, BDML_LOG_WARNING, "column %d has no value at all: 0 is filled in", j + 1);
    }
done:
    free(sums);
    free(room);
    return status;
}

static bdml_status not_finite(bdml_handle *h, const double *x, int d, const double *fill,
                              int64_t row)
{
    int j = 0;
    while (j < d - 1 && (isfinite(x[j]) || (fill && isnan(x[j])))) j++;
    if (isnan(x[j]))
        return bdml_fail(h, BDML_ERR_DATA,
                         "row %lld, column %d (from 0): the value is missing (NaN) and nothing is "
                         "known to fill in; train with missing = mean, or drop the row",
                         (long long)row, j);
    return bdml_fail(h, BDML_ERR_DATA, "row %lld, column %d (from 0): %g is not a finite number",
                     (long long)row, j, x[j]);
}

/* lo, hi, mean: d each, in `stats` one after the other. A value that is not finite is told by the rank that has it. */
static bdml_status fit_range(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                             const double *fill, double *stats)
{
    bdml_status status = BDML_OK;
    int d = data->d;
    size_t width = 4 * (size_t)d;
    double *parts = NULL, *lo = stats, *hi = stats + d, *mean = stats + 2 * (size_t)d;
    double *room = NULL;
    int64_t bad = INT64_MAX;

    BDML_NEW(h, parts, PARTS * width);
    BDML_NEW(h, room, (size_t)PARTS * (size_t)d);
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, size_of(data))) \
    reduction(min                                                                         \
              : bad)
    for (int part = 0; part < PARTS; part++) {
        int64_t row =
            part_range(data, fill, part, COL(room, d, part), parts + (size_t)part * width);
        bad = BDML_MIN(bad, row);
    }
    if (bad != INT64_MAX)
        status =
            not_finite(h, bdml_row_at(data, bad, room), d, fill, bdml_spread_first(over) + bad);
    BDML_GO(bdml_spread_agree(h, over, status));
    memcpy(stats, parts, 2 * sizeof(double) * (size_t)d);
    for (int part = 1; part < PARTS; part++) {
        const double *s = parts + (size_t)part * width;
        for (int j = 0; j < d; j++) {
            lo[j] = BDML_MIN(lo[j], s[j]);
            hi[j] = BDML_MAX(hi[j], s[d + j]);
        }
    }
    double *sum = parts + 2 * (size_t)d, *rest = sum + d;
    add_parts(d, (int)width, sum);
    BDML_GO(bdml_spread_twofold(h, over, d, sum, rest));
    for (int j = 0; j < d; j++) lo[j] = -lo[j];
    bdml_spread_max(over, 2 * (int64_t)d, lo); /* lo and hi stand behind each other */
    for (int j = 0; j < d; j++) {
        lo[j] = -lo[j];
        mean[j] = (sum[j] + rest[j]) / (double)bdml_spread_total(over, data->n);
    }
done:
    free(parts);
    free(room);
    return status;
}

/* Width = std by the range's own scale: std = range * sqrt(mean ((x - mean)/range)^2). `width` holds
 * the range on entry, infinity for constant columns. */
static bdml_status zscore_widths(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                                 const bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    int d = data->d;
    double *parts = NULL, *room = NULL;

    BDML_NEW(h, parts, (size_t)PARTS * 2 * (size_t)d);
    BDML_NEW(h, room, (size_t)PARTS * (size_t)d);
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, size_of(data)))
    for (int part = 0; part < PARTS; part++)
        part_squares(data, p->fill, p->shift, p->width, part, COL(room, d, part),
                     COL(parts, 2 * d, part));
    add_parts(d, 2 * d, parts);
    BDML_GO(bdml_spread_twofold(h, over, d, parts, parts + d));
    double n = (double)bdml_spread_total(over, data->n);
    for (int j = 0; j < d; j++) {
        double sum = parts[j] + parts[d + j];
        p->width[j] *= sum > 0.0 ? sqrt(sum / n) : 1.0;
        if (!(p->width[j] > 0.0)) p->width[j] = INFINITY; /* underflow: constant after all */
    }
done:
    free(parts);
    free(room);
    return status;
}

static void tell_constant(bdml_handle *h, int d, char *const *names, const double *width)
{
    char list[512] = "";
    int count = 0;
    size_t used = 0;
    for (int j = 0; j < d; j++) {
        if (isfinite(width[j])) continue;
        if (count++ >= NAMED) continue;
        const char *name = names ? names[j] : NULL;
        int n = name ? snprintf(list + used, sizeof list - used, "%s %d ('%.32s')", used ? "," : "",
                                j + 1, name)
                     : snprintf(list + used, sizeof list - used, "%s %d", used ? "," : "", j + 1);
        used = BDML_MIN(used + (size_t)BDML_MAX(n, 0), sizeof list - 1);
    }
    if (count == 0) return;
    bdml_log(h, BDML_LOG_WARNING, "%d column%s constant in the training data and set to 0:%s%s",
             count, count == 1 ? " is" : "s are", list, count > NAMED ? ", ..." : "");
}

bdml_status bdml_prepare_widths(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                                char *const *names, bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    int d = data->d;
    double *stats = NULL;

    BDML_NEW(h, stats, 3 * (size_t)d);
    BDML_GO(fit_range(h, data, over, p->fill, stats)); /* also finds values that are not finite */
    if (p->scale != BDML_SCALE_ZSCORE && p->scale != BDML_SCALE_MINMAX) goto done;
    BDML_NEW(h, p->shift, d);
    BDML_NEW(h, p->width, d);
    const double *lo = stats, *hi = stats + d, *mean = stats + 2 * (size_t)d;
    for (int j = 0; j < d; j++) {
        double range = hi[j] - lo[j], size = BDML_MAX(fabs(lo[j]), fabs(hi[j]));
        if (!isfinite(range) || !isfinite(mean[j])) {
            status = bdml_fail(h, BDML_ERR_DATA,
                               "column %d (from 0) has values up to %g: too large to be scaled", j,
                               size);
            goto done;
        }
        bool constant = range <= NOISE * size || range < DBL_MIN;
        p->shift[j] = p->scale == BDML_SCALE_MINMAX || constant ? lo[j] : mean[j];
        p->width[j] = constant ? INFINITY : range;
    }
    if (p->scale == BDML_SCALE_ZSCORE) BDML_GO(zscore_widths(h, data, over, p));
    tell_constant(h, d, names, p->width);
done:
    free(stats);
    return status;
}

bdml_status bdml_prepare_fit(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                             bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    const bdml_rows rows = bdml_dataset_view(data);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_PREPARE);

    memset(p, 0, sizeof *p);
    p->d_in = p->d_out = data->d;
    p->scale = o->prepare.scale.value;
    p->variance = 1.0;
    if (data->n < 1 || data->d < 1) {
        status = bdml_fail(h, BDML_ERR_DATA, "there is no data to prepare: %lld rows of %d columns",
                           (long long)data->n, data->d);
        goto done;
    }
    if (p->scale == BDML_SCALE_AUTO) {
        status = bdml_fail(h, BDML_ERR_ARGUMENT,
                           "scale auto is for training and evaluation: say none, zscore, minmax or "
                           "unit here");
        goto done;
    }
    if (o->input.missing.value == BDML_MISSING_MEAN)
        BDML_GO(bdml_prepare_means(h, &rows, data->over, p));
    BDML_GO(bdml_prepare_widths(h, &rows, data->over, data->feature_name, p));
    if (o->prepare.pca.value > 0.0)
        BDML_GO(bdml_pca_fit(h, o->prepare.pca.value, (uint64_t)o->general.seed.value, &rows,
                             data->over, p));
done:
    if (status != BDML_OK) bdml_prepare_free(p);
    bdml_phase_leave(h, previous);
    return status;
}

bool bdml_prepare_is_identity(const bdml_prepare *p)
{
    return p->scale == BDML_SCALE_NONE && !p->fill && !p->basis;
}

/* ---- applying -------------------------------------------------------------------------------------- */

static bool is_usable(const bdml_prepare *p, const double *x)
{
    for (int j = 0; j < p->d_in; j++)
        if (!isfinite(x[j]) && !(p->fill && isnan(x[j]))) return false;
    return true;
}

/* False, and nothing written, when a value is not finite. z may be x. */
static bool scale_row(const bdml_prepare *p, const double *x, double *z)
{
    int d = p->d_in;
    if (!is_usable(p, x)) return false;
    for (int j = 0; j < d; j++) {
        double v = p->fill && isnan(x[j]) ? p->fill[j] : x[j];
        z[j] = p->width ? (v - p->shift[j]) / p->width[j] : v;
    }
    if (p->scale == BDML_SCALE_UNIT) {
        double norm = bdml_la_norm(d, z);
        for (int j = 0; j < d && norm > 0.0; j++) z[j] /= norm;
    }
    for (int j = 0; p->center && j < d; j++) z[j] -= p->center[j];
    return true;
}

bdml_status bdml_prepare_check(bdml_handle *h, const bdml_prepare *p, const double *x, int64_t row)
{
    return is_usable(p, x) ? BDML_OK : not_finite(h, x, p->d_in, p->fill, row);
}

bdml_status bdml_prepare_scale(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                               int64_t ld, int64_t first, double *z)
{
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, (double)n * p->d_in)) \
    reduction(min                                                                               \
              : bad)
    for (int64_t i = 0; i < n; i++) {
        const double *row = COL(x, ld, i);
        if (!scale_row(p, row, COL(z, p->d_in, i))) bad = BDML_MIN(bad, i);
    }
    if (bad != INT64_MAX) return not_finite(h, COL(x, ld, bad), p->d_in, p->fill, first + bad);
    return BDML_OK;
}

/* z = basis' (scaled x - center), block by block. d_out <= d_in: where z is x, a block lands on rows that
 * were read before. */
static bdml_status project(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                           int64_t ld, double *z)
{
    bdml_status status = BDML_OK;
    int64_t tiles = BDML_MAX(BLOCK / p->d_in / ROWS_AT_ONCE, 1), block = tiles * ROWS_AT_ONCE;
    double *scaled = NULL, *ws = NULL;

    block = BDML_MIN(block, n);
    BDML_NEW(h, scaled, (size_t)block * (size_t)p->d_in);
    BDML_NEW(h, ws, bdml_la_map_size(p->d_out, p->d_in));
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        BDML_GO(bdml_prepare_scale(h, p, rows, COL(x, ld, i), ld, i, scaled));
        bdml_la_map_rows(h, p->d_out, p->d_in, p->basis, rows, scaled, p->d_in, COL(z, p->d_out, i),
                         ws);
    }
done:
    free(scaled);
    free(ws);
    return status;
}

bdml_status bdml_prepare_all(bdml_handle *h, const bdml_prepare *p, const bdml_rows *rows,
                             double *z)
{
    bdml_status status = BDML_OK;
    bdml_scan s = {0};
    BDML_GO(bdml_scan_begin(h, rows, &s));
    while (bdml_scan_next(&s))
        BDML_GO(bdml_prepare_apply(h, p, s.count, s.x, s.ld, COL(z, p->d_out, s.from)));
done:
    bdml_scan_end(&s);
    return status;
}

bdml_status bdml_prepare_apply(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                               int64_t ld, double *z)
{
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_PREPARE);
    bdml_status status =
        p->basis ? project(h, p, n, x, ld, z) : bdml_prepare_scale(h, p, n, x, ld, 0, z);
    bdml_phase_leave(h, previous);
    return status;
}
