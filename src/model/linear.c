/* linear.c - the linear part of a whole model, preparation included.
 *
 *     A = L B' W^-1,   W = diag(widths of the columns), B the basis of PCA; each the identity where absent
 *
 * so that the images of raw points x and y differ by A (x - y), and M on raw points is A'A. */
#include "model/model.h"

#include <string.h>

#include "linalg/linalg.h"

bdml_status bdml_model_get_linear(bdml_handle *h, const bdml_model *model, double *a)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !a)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_get_linear: model and a must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    const bdml_prepare *p = &model->prepare;
    if (p->scale == BDML_SCALE_UNIT)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the model brings every row to length 1 (scale unit): that is not linear, "
                         "and there is no matrix for raw points");
    if (p->basis)
        bdml_la_gemm('N', 'N', p->d_in, model->q, model->d, 1.0, p->basis, p->d_in, model->l,
                     model->d, 0.0, a, p->d_in);
    else
        memcpy(a, model->l, sizeof *a * (size_t)model->q * (size_t)p->d_in);
    for (int i = 0; p->width && i < model->q; i++)
        for (int j = 0; j < p->d_in; j++) COL(a, p->d_in, i)[j] /= p->width[j];
    return BDML_OK;
}
