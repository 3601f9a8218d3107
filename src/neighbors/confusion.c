/* confusion.c - counts of (true class, predicted class), and the error and recall they give. */
#include "neighbors/neighbors.h"

#include <stdlib.h>

bdml_status bdml_confusion_init(bdml_handle *h, int classes, bdml_confusion *c)
{
    memset(c, 0, sizeof *c);
    c->count = bdml_calloc(h, (size_t)classes * (size_t)classes, sizeof *c->count);
    if (!c->count) return BDML_ERR_MEMORY;
    c->classes = classes;
    return BDML_OK;
}

/* A row without a prediction (-1) is wrong and has no column: it counts in total and wrong only. */
void bdml_confusion_add(bdml_confusion *c, int32_t truth, int32_t predicted)
{
    c->total++;
    if (truth != predicted) c->wrong++;
    if (truth >= 0 && truth < c->classes && predicted >= 0 && predicted < c->classes)
        c->count[(size_t)truth * (size_t)c->classes + (size_t)predicted]++;
}

/* Percent; NaN before anything was added. */
double bdml_confusion_error(const bdml_confusion *c)
{
    return c->total > 0 ? 100.0 * (double)c->wrong / (double)c->total : (double)NAN;
}

double bdml_confusion_recall(const bdml_confusion *c, int cls)
{
    if (cls < 0 || cls >= c->classes) return (double)NAN;
    const int64_t *row = c->count + (size_t)cls * (size_t)c->classes;
    int64_t sum = 0;
    for (int p = 0; p < c->classes; p++) sum += row[p];
    return sum > 0 ? (double)row[cls] / (double)sum : (double)NAN;
}

void bdml_confusion_free(bdml_confusion *c)
{
    if (!c) return;
    free(c->count);
    memset(c, 0, sizeof *c);
}
