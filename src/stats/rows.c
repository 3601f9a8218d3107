/* rows.c - rows brought together, and the means of their classes. */
#include "stats/stats.h"

#include <stdlib.h>

bdml_rows bdml_rows_gather(const bdml_rows *from, int64_t count, const int64_t *row, double *x,
                           int32_t *y)
{
    size_t d = (size_t)from->d, ld = (size_t)from->ld;
    for (int64_t i = 0; i < count; i++) {
        memcpy(x + (size_t)i * d, from->x + (size_t)row[i] * ld, sizeof *x * d);
        if (from->y) y[i] = from->y[row[i]];
    }
    return (bdml_rows){count, from->d, from->d, x, from->y ? y : NULL, from->classes};
}

/* Sums are of twice the precision (base/spread.h). */
bdml_status bdml_class_means(bdml_handle *h, const bdml_rows *rows, const bdml_spread *over,
                             int64_t *count, double *mean, double *all)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)rows->d, classes = rows->y ? (size_t)rows->classes : 1;
    double n = (double)bdml_spread_total(over, rows->n), *rest = NULL;

    BDML_NEW(h, rest, classes * d);
    memset(count, 0, sizeof *count * classes);
    memset(mean, 0, sizeof *mean * classes * d);
    if (all) memset(all, 0, sizeof *all * d);
    for (int64_t i = 0; i < rows->n; i++) {
        size_t c = rows->y ? (size_t)rows->y[i] : 0;
        const double *x = rows->x + (size_t)i * (size_t)rows->ld;
        count[c]++;
        for (size_t j = 0; j < d; j++) bdml_twofold_add(mean + c * d + j, rest + c * d + j, x[j]);
    }
    for (size_t c = 0; over && c < classes; c++)
        count[c] = (int64_t)bdml_comm_total(over->comm, (double)count[c]);
    BDML_GO(bdml_spread_twofold(h, over, (int64_t)(classes * d), mean, rest));
    for (size_t c = 0; c < classes; c++)
        for (size_t j = 0; j < d && count[c] > 0; j++) {
            double sum = mean[c * d + j] + rest[c * d + j];
            if (all) all[j] += sum / n;
            mean[c * d + j] = sum / (double)count[c];
        }
done:
    free(rest);
    return status;
}
