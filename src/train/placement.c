/* placement.c - what is wrong with the placement of data, for a message.
 *
 * Column by column: the median, and the median distance from it. A row that lies FAR times that distance away is
 * named when few do, of those that are here where rows are dealt out; many make another cluster, which scaling by the spread of a column brings nearer. */
#include "train/placement.h"

#include <inttypes.h>
#include <stdlib.h>

static const double FAR = 1e5;
static const double FEW = 0.05; /* share of the rows */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of v, which is sorted. */
static double median(double *v, int64_t count)
{
    qsort(v, (size_t)count, sizeof *v, ascending);
    return v[count / 2];
}

/* Median distance from the median; when half of the values are the same, that of the others. */
static double usual_distance(double *v, int64_t count, double centre)
{
    int64_t apart = 0;
    for (int64_t i = 0; i < count; i++) {
        double off = fabs(v[i] - centre);
        if (off > 0.0) v[apart++] = off;
    }
    return apart > 0 ? median(v, apart) : 0.0;
}

static double value_at(const bdml_dataset *data, int64_t i, int j)
{
    size_t at = (size_t)i * (size_t)data->d + (size_t)j;
    return data->x ? data->x[at] : (double)data->single.x[at];
}

bdml_status bdml_placement_help(bdml_handle *h, const bdml_dataset *data,
                                char text[BDML_PLACEMENT_SIZE])
{
    bdml_status status = BDML_OK;
    double *v = NULL, worst = 0.0, least = INFINITY, most = 0.0;
    int64_t worst_row = 0, far = 0;
    int worst_column = 0;

    int64_t n = bdml_spread_held(data->over, data->n);
    text[0] = '\0';
    BDML_NEW(h, v, n);
    for (int j = 0; j < data->d; j++) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++) {
            double x = value_at(data, i, j);
            if (isfinite(x)) v[count++] = x;
        }
        if (count < 2) continue;
        double centre = median(v, count), usual = usual_distance(v, count, centre);
        if (!(usual > 0.0)) continue;
        least = BDML_MIN(least, usual);
        most = BDML_MAX(most, usual);
        for (int64_t i = 0; i < n; i++) {
            double times = fabs(value_at(data, i, j) - centre) / usual;
            far += times > FAR;
            if (!(times > worst)) continue;
            worst = times;
            worst_row = i;
            worst_column = j;
        }
    }
    if (worst > FAR && (double)far <= BDML_MAX(FEW * (double)n, 1.0))
        snprintf(text, BDML_PLACEMENT_SIZE,
                 "row %" PRId64
                 " lies %.0e times as far out in column %d as rows usually do: leave "
                 "it out, or mend it",
                 bdml_spread_first(data->over) + worst_row + 1, worst, worst_column + 1);
    else if (worst > FAR || most > FAR * least)
        snprintf(text, BDML_PLACEMENT_SIZE,
                 "the points lie up to %.0e times their usual distance apart: --scale zscore may "
                 "help",
                 BDML_MAX(worst, most / least));
done:
    free(v);
    return status;
}
