/* mahalanobis.c - the distance of Mahalanobis (1936), which needs no labels:
 *
 *     M = S^+,   S = sum (x_i - mean)(x_i - mean)' / (n - 1),
 *
 * the pseudo-inverse being taken on the span of the data (span.c), where the population covariance is the
 * identity. The method whiten differs in what it inverts: a covariance that is shrunk, and that of the classes
 * where they are known. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fit_covariance(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_span span = {0};
    double *l = NULL;

    (void)o;
    BDML_GO(bdml_span_make(h, t, &span));
    BDML_NEW(h, l, (size_t)span.r * (size_t)span.r);
    for (int j = 0; j < span.r; j++) COL(l, span.r, j)[j] = sqrt((double)(t->n - 1) / (double)t->n);
    status = bdml_span_set_map(h, &span, span.r, l, model);
done:
    bdml_span_free(&span);
    free(l);
    return status;
}
