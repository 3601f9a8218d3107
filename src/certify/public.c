/* public.c - bdml_certify: load the claim, run the checks, report. */
#include "certify/certify.h"

#include <stdlib.h>

static json_t *verdict_json(const bdml_model *model, const bdml_verdict *v)
{
    json_t *checks = json_array();
    for (int k = 0; k < v->checks; k++)
        json_array_append_new(checks,
                              json_pack("{s:s, s:b, s:s}", "check", v->check[k].what, "passed",
                                        v->check[k].passed, "detail", v->check[k].detail));
    json_t *o = json_pack("{s:b, s:s, s:o}", "confirmed", v->confirmed, "claim",
                          bdml_claim_name(model->evidence->claim), "checks", checks);
    if (o && model->evidence->claim != BDML_CLAIM_INFEASIBLE) {
        json_object_set_new(o, "kappa", isfinite(v->kappa) ? json_real(v->kappa) : json_null());
        json_object_set_new(o, "lower", json_real(v->lower));
        json_object_set_new(o, "upper", json_real(v->upper));
    }
    return o;
}

static bdml_status certify(bdml_handle *h, const char *path, const bdml_dataset *data,
                           int *confirmed, char **json)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    bdml_verdict verdict;
    json_t *o = NULL;

    BDML_GO(bdml_load_claim(h, path, &model));
    if (!model->evidence) {
        const char *method = json_string_value(json_object_get(model->info, "method"));
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%s claims nothing that could be checked: method %s proves nothing; "
                           "train with method bdml",
                           path, method ? method : "unknown");
        goto done;
    }
    BDML_GO(bdml_certify_model(h, model, model->evidence, data, &verdict));
    BDML_GO(bdml_certify_description(h, model, data, &verdict));
    o = verdict_json(model, &verdict);
    *json = bdml_json_dump(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    *confirmed = verdict.confirmed;
    if (!*json) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the verdict");
done:
    json_decref(o);
    bdml_free_model(model);
    return status;
}

bdml_status bdml_certify(bdml_handle *h, const char *path, const bdml_dataset *data, int *confirmed,
                         char **json)
{
    if (confirmed) *confirmed = 0;
    if (json) *json = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path || !data || !confirmed || !json)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_certify: no argument may be NULL");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CERTIFY);
    bdml_status status = certify(h, path, data, confirmed, json);
    bdml_phase_leave(h, previous);
    return status;
}
