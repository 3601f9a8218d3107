/* rows.c - rows brought together, and the means of their classes. */
#include "stats/stats.h"

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

void bdml_class_means(const bdml_rows *rows, int64_t *count, double *mean, double *all)
{
    size_t d = (size_t)rows->d, classes = rows->y ? (size_t)rows->classes : 1;
    memset(count, 0, sizeof *count * classes);
    memset(mean, 0, sizeof *mean * classes * d);
    if (all) memset(all, 0, sizeof *all * d);
    for (int64_t i = 0; i < rows->n; i++) {
        size_t c = rows->y ? (size_t)rows->y[i] : 0;
        const double *x = rows->x + (size_t)i * (size_t)rows->ld;
        count[c]++;
        for (size_t j = 0; j < d; j++) mean[c * d + j] += x[j];
    }
    for (size_t c = 0; c < classes; c++)
        for (size_t j = 0; j < d && count[c] > 0; j++) {
            if (all) all[j] += mean[c * d + j] / (double)rows->n;
            mean[c * d + j] /= (double)count[c];
        }
}
