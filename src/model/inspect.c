/* inspect.c - parts and figures of a model, for programs. */
#include "model/evidence.h"

#include <stdlib.h>

#include "linalg/linalg.h"

int bdml_model_is_proof(const bdml_model *model)
{
    return model && !model->l;
}

int64_t bdml_model_points(const bdml_model *model)
{
    return model ? model->points : 0;
}

const char *bdml_model_feature_name(const bdml_model *model, int j)
{
    bool there = model && model->feature_name && j >= 0 && j < model->prepare.d_in;
    return there ? model->feature_name[j] : NULL;
}

const bdml_prepare *bdml_model_preparation(const bdml_model *model)
{
    return model ? &model->prepare : NULL;
}

const bdml_constraints *bdml_model_constraints(const bdml_model *model)
{
    return model && model->evidence ? model->evidence->constraints : NULL;
}

/* ---- eigenvalues ------------------------------------------------------------------------------------- */

/* Of L'L, ascending: squares of the singular values of L (q rows of d), and zeros beyond its rank. */
static bdml_status eigenvalues(bdml_handle *h, int q, int d, const double *l, double *lambda)
{
    bdml_status status = BDML_OK;
    int count = BDML_MIN(q, d);
    double *copy = NULL, *sigma = NULL;

    BDML_NEW(h, copy, (size_t)q * (size_t)d);
    BDML_NEW(h, sigma, count);
    memcpy(copy, l, sizeof *copy * (size_t)q * (size_t)d);
    BDML_GO(bdml_la_enter(h));
    status = bdml_la_singular_values(h, d, q, copy, sigma);
    bdml_la_leave(h);
    if (status != BDML_OK) goto done;
    for (int i = 0; i < d - count; i++) lambda[i] = 0.0;
    for (int i = 0; i < count; i++) lambda[d - 1 - i] = sigma[i] * sigma[i];
done:
    free(copy);
    free(sigma);
    return status;
}

bdml_status bdml_model_eigenvalues(bdml_handle *h, const bdml_model *model, double *lambda)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !lambda)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_eigenvalues: model and lambda must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    return eigenvalues(h, model->q, model->d, model->l, lambda);
}

/* ---- reference ----------------------------------------------------------------------------------------- */

int bdml_model_reference_rows(const bdml_model *model)
{
    return model && model->evidence && model->evidence->map ? model->evidence->reference_rows : 0;
}

static bdml_status need_reference(bdml_handle *h, const bdml_model *model, const double *out)
{
    if (!model || !out)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "model and the array out must not be NULL");
    if (bdml_model_reference_rows(model) > 0) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT, "the model has no reference: it is the identity");
}

bdml_status bdml_model_get_reference(bdml_handle *h, const bdml_model *model, double *r)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(need_reference(h, model, r));
    const bdml_evidence *e = model->evidence;
    memcpy(r, e->reference, sizeof *r * (size_t)e->reference_rows * (size_t)e->reference_columns);
    return BDML_OK;
}

bdml_status bdml_model_relative_eigenvalues(bdml_handle *h, const bdml_model *model, double *lambda)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(need_reference(h, model, lambda));
    const bdml_evidence *e = model->evidence;
    return eigenvalues(h, e->map_rows, e->reference_rows, e->map, lambda);
}
