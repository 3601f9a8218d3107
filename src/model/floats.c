/* floats.c - points in single precision: mapped block by block in double. */
#include "model/model.h"

#include <stdlib.h>

bdml_status bdml_transform_floats(bdml_handle *h, const bdml_model *model, int64_t n,
                                  const float *x, int64_t ld, float *z)
{
    bdml_status status = BDML_OK;
    double *from = NULL, *to = NULL;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || n < 0 || (n > 0 && (!x || !z)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "model and points must not be NULL");
    int d = model->prepare.d_in, q = model->q;
    if (ld < d)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the model takes points of %d values, but rows are %lld apart", d,
                         (long long)ld);
    int64_t block = BDML_MIN(bdml_model_block(h, sizeof(double) * (size_t)(d + q)), n);
    BDML_NEW(h, from, (size_t)block * (size_t)d);
    BDML_NEW(h, to, (size_t)block * (size_t)q);
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        for (int64_t k = 0; k < rows * d; k++) from[k] = (double)x[(i + k / d) * ld + k % d];
        BDML_GO(bdml_transform_at(h, model, rows, from, d, i, to));
        for (int64_t k = 0; k < rows * q; k++) z[i * q + k] = (float)to[k];
    }
done:
    free(from);
    free(to);
    return status;
}
