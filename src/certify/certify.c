/* certify.c - run the checks on a claim, level by level, and report. */
#include "certify/plain.h"

#include <stdlib.h>

#include "proof/proof.h"

static bool indices_fit(const bdml_evidence *e, int64_t n)
{
    const bdml_constraints *c = e->constraints;
    for (int64_t k = 0; k < c->pairs; k++)
        if (c->pi[k] < 0 || c->pj[k] < 0 || c->pi[k] >= n || c->pj[k] >= n) return false;
    for (int64_t t = 0; t < c->targets; t++)
        if (c->target[t] < 0 || c->target[t] >= c->pairs) return false;
    for (int64_t t = 0; t < c->m; t++)
        if (c->far[t] < 0 || c->far[t] >= c->pairs || c->near[t] < -1 || c->near[t] >= c->pairs)
            return false;
    for (int64_t k = 0; k < e->duals; k++)
        if (e->dual_constraint[k] < 0 || e->dual_constraint[k] >= c->m) return false;
    return true;
}

/* Is there a claim, and do model, evidence and data fit together at all? */
bdml_status bdml_certify_fits(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                              const char *path)
{
    const bdml_evidence *e = model->evidence;
    if (!e) {
        const char *method = json_string_value(json_object_get(model->info, "method"));
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s claims nothing that could be checked: method %s proves nothing; "
                         "train with method bdml",
                         path, method ? method : "unknown");
    }
    BDML_TRY(bdml_dataset_widen(h, data));
    if (data->d != model->prepare.d_in)
        return bdml_fail(h, BDML_ERR_DATA, "the model is for %d columns, the data have %d",
                         model->prepare.d_in, data->d);
    if (!indices_fit(e, data->n))
        return bdml_fail(
            h, BDML_ERR_DATA,
            "not the training data (%lld rows wanted, %lld given): the constraints speak "
            "of rows that are not there",
            (long long)json_integer_value(json_object_get(model->info, "training_points")),
            (long long)data->n);
    if (e->claim != BDML_CLAIM_INFEASIBLE && !model->l)
        return bdml_fail(h, BDML_ERR_FORMAT, "the file claims a metric but holds none");
    if (!bdml_evidence_fits(e, model->d, model->l ? model->q : 0))
        return bdml_fail(h, BDML_ERR_FORMAT, "the reference does not fit the model");
    if (e->pull == BDML_PULL_WITHIN && !data->y)
        return bdml_fail(h, BDML_ERR_DATA, "the objective needs the class labels of the data");
    for (size_t k = 0; !model->prepare.fill && k < (size_t)data->n * (size_t)data->d; k++)
        if (isnan(data->x[k]))
            return bdml_fail(h, BDML_ERR_DATA, "row %lld has a missing value",
                             (long long)k / data->d + 1);
    return BDML_OK;
}

/* ---- verdict ----------------------------------------------------------------------------------------- */

/* Checks up to the level that is asked for; repeating the training only when it is. */
static bdml_status run_checks(bdml_handle *h, const bdml_constraint_options *files,
                              const bdml_model *model, const bdml_dataset *data, bdml_verdict *v)
{
    bdml_status status = BDML_OK;
    bdml_plain w = {0};

    BDML_GO(bdml_plain_open(h, model, model->evidence, data, v, &w));
    w.files = files;
    BDML_GO(bdml_check_numbers(h, &w));
    BDML_GO(bdml_check_proof(h, &w));
    BDML_GO(bdml_check_description(h, &w));
    if (v->asked != BDML_LEVEL_NUMBERS) BDML_GO(bdml_check_problem(h, &w));
    if (v->asked == BDML_LEVEL_REPEAT) BDML_GO(bdml_check_repeat(h, &w));
    bdml_verdict_conclude(v);
done:
    bdml_plain_close(&w);
    return status;
}

static json_t *checks_json(const bdml_verdict *v)
{
    static const char *const findings[] = {
        [BDML_HOLDS] = "holds", [BDML_FAILS] = "fails", [BDML_TRUSTED] = "trusted"};
    json_t *checks = json_array();
    for (int k = 0; k < v->checks; k++) {
        const bdml_check *c = &v->check[k];
        bdml_json_push(&checks, json_pack("{s:s, s:o, s:s, s:b, s:s}", "check", c->what, "level",
                                          bdml_json_word(BDML_WORDS(LEVEL), (int)c->level),
                                          "finding", findings[c->finding], "passed",
                                          c->finding != BDML_FAILS, "detail", c->detail));
    }
    return checks;
}

static bdml_status verdict_json(bdml_handle *h, const bdml_model *model, const bdml_verdict *v,
                                json_t **out)
{
    bdml_status status = BDML_OK;
    json_t *o = json_object(), *checked = NULL, *not_checked = NULL;
    char *statement = NULL;

    BDML_GO(bdml_verdict_fields(h, v, model, &checked, &not_checked));
    statement = bdml_statement(h, model, v);
    bdml_json_put(&o, "confirmed", json_boolean(v->confirmed));
    bdml_json_put(&o, "claim", json_string(bdml_claim_name(model->evidence)));
    bdml_json_put(&o, "level",
                  v->level == BDML_LEVEL_AUTO ? json_null()
                                              : bdml_json_word(BDML_WORDS(LEVEL), (int)v->level));
    bdml_json_put(&o, "statement", statement ? bdml_json_text(statement) : NULL);
    bdml_json_put(&o, "checks", checks_json(v));
    bdml_json_put(&o, "checked", json_incref(checked));
    bdml_json_put(&o, "not_checked", json_incref(not_checked));
    if (model->evidence->claim != BDML_CLAIM_INFEASIBLE) {
        bdml_json_put(&o, "kappa", bdml_json_real(v->kappa));
        bdml_json_put(&o, "lower", bdml_json_real(v->lower));
        bdml_json_put(&o, "upper", bdml_json_real(v->upper));
    }
    *out = o;
done:
    json_decref(checked);
    json_decref(not_checked);
    free(statement);
    if (status != BDML_OK) json_decref(o);
    return status;
}

/* A model that was read writes the same bytes again: what the reader passes over would differ, and nothing stands in
 * the file that no check has seen. */
static bdml_status check_file(bdml_handle *h, const char *path, const bdml_model *model,
                              bdml_verdict *v)
{
    bdml_status status = BDML_OK;
    void *bytes = NULL;
    char *found = NULL;
    size_t size = 0;
    FILE *f = NULL;

    BDML_GO(bdml_save_model_bytes(h, model, &bytes, &size));
    BDML_NEW(h, found, size + 1);
    f = fopen(path, "rb");
    bool same = f && fread(found, 1, size + 1, f) == size && memcmp(found, bytes, size) == 0;
    bdml_verdict_note(v, BDML_LEVEL_NUMBERS, "file", "", same,
                      same ? "%zu bytes, each of them read"
                           : "the file holds something that is no part of a model of %zu bytes",
                      size);
done:
    if (f) fclose(f);
    free(found);
    bdml_free_bytes(bytes);
    return status;
}

/* name: of the model, for messages; path: of its file, or NULL. */
static bdml_status certify(bdml_handle *h, const char *name, const char *path,
                           const bdml_model *model, const bdml_dataset *data, int *confirmed,
                           char **json)
{
    bdml_verdict v = {.c = h->c_locale, .asked = (bdml_level)h->options.certify.level.value};
    json_t *o;

    BDML_TRY(bdml_certify_fits(h, model, data, name));
    if (path) BDML_TRY(check_file(h, path, model, &v));
    BDML_TRY(run_checks(h, &h->options.constraints, model, data, &v));
    BDML_TRY(verdict_json(h, model, &v, &o));
    *json = bdml_json_dump(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(o);
    *confirmed = *json && v.confirmed;
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the verdict");
}

/* ---- entry ------------------------------------------------------------------------------------------- */

bdml_status bdml_certify_model(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                               int *confirmed, char **json)
{
    if (confirmed) *confirmed = 0;
    if (json) *json = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!model || !data || !confirmed || !json)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_certify_model: no argument may be NULL");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CERTIFY);
    bdml_status status = certify(h, "the model", NULL, model, data, confirmed, json);
    bdml_phase_leave(h, previous);
    return bdml_dataset_confirm(h, data, status, json);
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
    if (status == BDML_OK) status = certify(h, path, path, model, data, confirmed, json);
    bdml_phase_leave(h, previous);
    bdml_free_model(model);
    return bdml_dataset_confirm(h, data, status, json);
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
    BDML_GO(bdml_dataset_confirm(h, data, status, NULL));
    status = bdml_file_save(h, path, text, size);
done:
    bdml_phase_leave(h, previous);
    free(text);
    return status;
}
