/* public.c - bdml_certify and bdml_certify_model: run the checks on a claim, report; and the claim as a
 * certificate. */
#include "certify/certify.h"

#include <stdlib.h>

#include "proof/proof.h"

static json_t *finite_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *verdict_json(const bdml_model *model, const bdml_verdict *v)
{
    json_t *checks = json_array();
    for (int k = 0; k < v->checks; k++)
        bdml_json_push(&checks, json_pack("{s:s, s:b, s:s}", "check", v->check[k].what, "passed",
                                          v->check[k].passed, "detail", v->check[k].detail));
    json_t *o = json_pack("{s:b, s:s, s:o}", "confirmed", v->confirmed, "claim",
                          bdml_claim_name(model->evidence), "checks", checks);
    if (model->evidence->claim != BDML_CLAIM_INFEASIBLE) {
        bdml_json_put(&o, "kappa", finite_or_null(v->kappa));
        bdml_json_put(&o, "lower", finite_or_null(v->lower));
        bdml_json_put(&o, "upper", finite_or_null(v->upper));
    }
    return o;
}

/* name: of the model, for messages. */
static bdml_status certify(bdml_handle *h, const char *name, const bdml_model *model,
                           const bdml_dataset *data, int *confirmed, char **json)
{
    bdml_verdict verdict;

    BDML_TRY(bdml_certify_fits(h, model, data, name)); /* a failure that names it */
    BDML_TRY(bdml_certify_evidence(h, model, model->evidence, data, &verdict));
    BDML_TRY(bdml_certify_description(h, model, data, &verdict));
    json_t *o = verdict_json(model, &verdict);
    *json = bdml_json_dump(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(o);
    *confirmed = *json && verdict.confirmed;
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the verdict");
}

bdml_status bdml_certify_model(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                               int *confirmed, char **json)
{
    if (confirmed) *confirmed = 0;
    if (json) *json = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !data || !confirmed || !json)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_certify_model: no argument may be NULL");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CERTIFY);
    bdml_status status = certify(h, "the model", model, data, confirmed, json);
    bdml_phase_leave(h, previous);
    return status;
}

bdml_status bdml_certify(bdml_handle *h, const char *path, const bdml_dataset *data, int *confirmed,
                         char **json)
{
    bdml_model *model;
    if (confirmed) *confirmed = 0;
    if (json) *json = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path || !data || !confirmed || !json)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_certify: no argument may be NULL");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CERTIFY);
    bdml_status status = bdml_load_model(h, path, &model);
    if (status == BDML_OK) status = certify(h, path, model, data, confirmed, json);
    bdml_phase_leave(h, previous);
    bdml_free_model(model);
    return status;
}

bdml_status bdml_export_certificate(bdml_handle *h, const bdml_model *model,
                                    const bdml_dataset *data, const char *path)
{
    bdml_status status = BDML_OK;
    char *text = NULL;
    size_t size = 0;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !data || !path)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_export_certificate: no argument may be NULL");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);
    BDML_GO(bdml_certify_fits(h, model, data, "the model"));
    BDML_GO(bdml_certificate_text(h, model, model->evidence, data, &text, &size));
    status = bdml_file_save(h, path, text, size);
done:
    bdml_phase_leave(h, previous);
    free(text);
    return status;
}
