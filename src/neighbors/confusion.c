/* confusion.c - counts of (true class, predicted class), and the error and recall they give. */
#include "neighbors/neighbors.h"

#include <stdlib.h>

bdml_status bdml_confusion_init(bdml_handle *h, int classes, bdml_confusion *c)
{
    bdml_status status = BDML_OK;
    memset(c, 0, sizeof *c);
    c->classes = classes;
    BDML_NEW(h, c->right, classes);
    BDML_NEW(h, c->given, classes);
    if (classes <= BDML_CONFUSION_MOST) BDML_NEW(h, c->count, (size_t)classes * (size_t)classes);
done:
    return status;
}

/* A row without a prediction (-1) is wrong and has no column: it counts in total and wrong only. */
void bdml_confusion_add(bdml_confusion *c, int32_t truth, int32_t predicted)
{
    c->total++;
    if (truth != predicted) c->wrong++;
    if (truth < 0 || truth >= c->classes || predicted < 0 || predicted >= c->classes) return;
    c->given[truth]++;
    c->right[truth] += truth == predicted;
    if (c->count) c->count[(size_t)truth * (size_t)c->classes + (size_t)predicted]++;
}

/* Percent; NaN before anything was added. */
double bdml_confusion_error(const bdml_confusion *c)
{
    return c->total > 0 ? 100.0 * (double)c->wrong / (double)c->total : (double)NAN;
}

double bdml_confusion_recall(const bdml_confusion *c, int cls)
{
    if (cls < 0 || cls >= c->classes) return (double)NAN;
    return c->given[cls] > 0 ? (double)c->right[cls] / (double)c->given[cls] : (double)NAN;
}

void bdml_confusion_free(bdml_confusion *c)
{
    if (!c) return;
    free(c->count);
    free(c->right);
    free(c->given);
    memset(c, 0, sizeof *c);
}
