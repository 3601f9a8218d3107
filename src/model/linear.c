/* linear.c - the linear part of a whole model, preparation included.
 *
 *     z = L B' (W^-1 (x - s) - c) = A x + b,     A = L B' W^-1,   b = -A s - L B' c
 *
 * W = diag(widths of the columns), s their shifts, B and c basis and centre of PCA; each is absent where the model has
 * none. The images of raw points x and y differ by A (x - y), and M on raw points is A'A. */
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"

/* sum_j a_j v_j; a column that is left out (width infinite, a_j 0) counts 0. */
static double product(int d, const double *a, const double *v)
{
    double sum = 0.0;
    for (int j = 0; j < d; j++)
        if (a[j] != 0.0) sum += a[j] * v[j];
    return sum;
}

void bdml_prepare_affine(const bdml_prepare *p, int q, const double *l, double *a, double *b)
{
    int d = p->d_in;
    if (p->basis)
        bdml_la_gemm('N', 'N', d, q, p->d_out, 1.0, p->basis, d, l, p->d_out, 0.0, a, d);
    else
        memcpy(a, l, sizeof *a * (size_t)q * (size_t)d);
    for (int i = 0; i < q; i++) {
        double *row = COL(a, d, i);
        b[i] = p->center ? -product(d, row, p->center) : 0.0;
        for (int j = 0; p->width && j < d; j++) row[j] /= p->width[j];
        if (p->shift) b[i] -= product(d, row, p->shift);
    }
}

void bdml_model_affine(const bdml_model *model, double *a, double *b)
{
    bdml_prepare_affine(&model->prepare, model->q, model->l, a, b);
}

static bdml_status check(bdml_handle *h, const bdml_model *model)
{
    BDML_TRY(bdml_model_need_map(h, model));
    if (model->prepare.scale != BDML_SCALE_UNIT) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "the model brings every row to length 1 (scale unit): that is not linear, "
                     "and there is no matrix for raw points");
}

bdml_status bdml_model_get_affine(bdml_handle *h, const bdml_model *model, double *a, double *b)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !a || !b)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_get_affine: model, a and b must not be NULL");
    BDML_TRY(check(h, model));
    bdml_model_affine(model, a, b);
    return BDML_OK;
}

bdml_status bdml_model_get_linear(bdml_handle *h, const bdml_model *model, double *a)
{
    bdml_status status = BDML_OK;
    double *b = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !a)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_get_linear: model and a must not be NULL");
    BDML_GO(check(h, model));
    BDML_NEW(h, b, model->q);
    bdml_model_affine(model, a, b);
done:
    free(b);
    return status;
}
