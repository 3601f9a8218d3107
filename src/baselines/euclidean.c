/* euclidean.c - M = I on the prepared points: the metric that every other one has to beat. */
#include "baselines/baselines.h"

#include <stdlib.h>

bdml_status bdml_fit_euclidean(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                               bdml_model *model)
{
    (void)o;
    bdml_status status = BDML_OK;
    double *l;
    BDML_NEW(h, l, (size_t)t->d * (size_t)t->d);
    for (size_t j = 0; j < (size_t)t->d; j++) l[j * (size_t)t->d + j] = 1.0;
    status = bdml_model_set_map(h, model, t->d, l);
done:
    free(l);
    return status;
}
