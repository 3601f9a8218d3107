/* size.c - columns whose numbers a metric cannot be made of. Preparing such columns works; learning from them does not:
 * squares of them, or the fourth powers that norms are made of, leave the range of double precision; or what varies is so
 * little beside what does not that rounding decides the means, and with them the problem. */
#include "data/data.h"

#include <float.h>
#include <stdlib.h>

static const double LARGEST = 1e70, LEAST = 1e-70;
/* Numbers beside which a range of this share is left with fewer than ten bits: a metric of it says nothing. */
static const double ROUNDING = 1e-13;
/* A column that varies less than this, relative to its size, is constant but for rounding. */
static const double CONSTANT = 16 * DBL_EPSILON;

static bdml_status refuse_size(bdml_handle *h, int j, const char *name, double size)
{
    bool large = size > LARGEST;
    return bdml_fail(
        h, BDML_ERR_DATA,
        "column %d (from 0)%s%.100s has no value beyond %.3g: %s %g the squares that a "
        "metric is made of leave the range of double precision; %s the column by %.0e",
        j, name[0] ? ", " : "", name, size, large ? "above" : "below", large ? LARGEST : LEAST,
        large ? "divide" : "multiply", large ? size : 1.0 / BDML_MAX(size, 1e-300));
}

bdml_status bdml_dataset_check_size(bdml_handle *h, const bdml_prepare_options *o,
                                    const bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    const bdml_rows rows = bdml_dataset_view(data);
    double *lo = NULL, *hi = NULL, *row = NULL;
    bool shifted = o->scale.value == BDML_SCALE_ZSCORE || o->scale.value == BDML_SCALE_MINMAX;

    BDML_NEW(h, lo, data->d);
    BDML_NEW(h, hi, data->d);
    BDML_NEW(h, row, data->d);
    for (int j = 0; j < data->d; j++) lo[j] = INFINITY, hi[j] = -INFINITY;
    int64_t held = bdml_spread_held(data->over, data->n);
    for (int64_t i = 0; i < held; i++) {
        const double *x = bdml_row_at(&rows, i, row);
        for (int j = 0; j < data->d; j++) {
            if (!isfinite(x[j])) continue; /* told by the preparation */
            lo[j] = BDML_MIN(lo[j], x[j]);
            hi[j] = BDML_MAX(hi[j], x[j]);
        }
    }
    for (int j = 0; j < data->d; j++) lo[j] = -lo[j];
    bdml_spread_max(data->over, data->d, lo);
    bdml_spread_max(data->over, data->d, hi);
    for (int j = 0; j < data->d; j++) lo[j] = -lo[j];
    for (int j = 0; j < data->d; j++) {
        double size = BDML_MAX(fabs(lo[j]), fabs(hi[j])), range = hi[j] - lo[j];
        const char *name = data->feature_name ? data->feature_name[j] : "";
        if (lo[j] > hi[j] || size == 0.0) continue;
        if (size > LARGEST || size < LEAST) BDML_GO(refuse_size(h, j, name, size));
        if (!shifted && range > CONSTANT * size && range < ROUNDING * size)
            BDML_GO(bdml_fail(
                h, BDML_ERR_DATA,
                "column %d (from 0)%s%.100s varies by %.3g about %.3g, which rounding takes "
                "away from a metric; subtract %.3g from it, or use --scale zscore",
                j, name[0] ? ", " : "", name, range, lo[j], lo[j]));
    }
done:
    free(lo);
    free(hi);
    free(row);
    return status;
}
