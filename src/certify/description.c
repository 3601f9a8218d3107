/* description.c - what goes with a claim: the data it is about, the words and figures in the model's
 * description, and the kept training points. A claim that holds is of little use when the description
 * tells of another one, or when k-NN votes over other points. */
#include "certify/certify.h"

#include <inttypes.h>
#include <stdlib.h>

static void note(bdml_handle *h, bdml_verdict *v, const char *what, bool passed, const char *detail)
{
    bdml_verdict_note(v, what, passed, h->c_locale, "%s", detail);
    v->confirmed = v->confirmed && passed;
}

/* The data's fingerprint is in the description: other data than those learned from prove nothing. */
static void check_data(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                       bdml_verdict *v)
{
    char found[24], text[160];
    const char *asked = json_string_value(json_object_get(model->info, "data_fingerprint"));
    snprintf(found, sizeof found, "%016" PRIx64, bdml_dataset_fingerprint(data));
    bool same = asked && strcmp(asked, found) == 0;
    snprintf(text, sizeof text, "%s that the model was learned from (fingerprint %s)",
             same ? "the data are those" : "not the data", found);
    note(h, v, "data", same, text);
}

/* The number under a key is this one; an infinite one is written as null. */
static bool says_number(const json_t *o, const char *key, double value)
{
    const json_t *found = json_object_get(o, key);
    if (!isfinite(value)) return json_is_null(found);
    return json_is_number(found) && json_number_value(found) == value;
}

/* The gap that the settings in the description ask for: "optimal" means no more than that. */
static double gap_asked(bdml_handle *h, const bdml_model *model)
{
    const json_t *settings = json_object_get(model->info, "settings");
    const char *gap = json_string_value(json_object_get(settings, "gap"));
    const char *solver = json_string_value(json_object_get(settings, "solver"));
    double asked = solver && strncmp(solver, "mwu", 3) == 0 ? 1e-2 : 1e-3;
    if (gap && !bdml_parse_double(h->c_locale, gap, strlen(gap), &asked)) return 0.0;
    return asked;
}

static void check_words(bdml_handle *h, const bdml_model *model, bdml_verdict *v)
{
    const bdml_evidence *e = model->evidence;
    const json_t *o = json_object_get(model->info, "certificate");
    const char *status = json_string_value(json_object_get(o, "status"));
    const char *proof = json_string_value(json_object_get(o, "proof"));
    bool same = status && strcmp(status, bdml_claim_name(e)) == 0 &&
                says_number(o, "distortion", e->K) &&
                says_number(o, "constraints", (double)e->constraints->m);
    if (e->claim == BDML_CLAIM_INFEASIBLE) {
        same = same && proof && strcmp(proof, bdml_claim_scope(e)) == 0 &&
               says_number(o, "proof_trace", e->reach);
    } else {
        double kappa = json_number_value(json_object_get(o, "kappa"));
        double gap = json_number_value(json_object_get(o, "gap"));
        const char *end = e->claim == BDML_CLAIM_APPROXIMATE ? "objective" : "upper";
        same = same && says_number(o, end, e->upper) && says_number(o, "lower", e->lower) &&
               fabs(kappa - v->kappa) <= 1e-7 * v->kappa;
        if (e->claim == BDML_CLAIM_OPTIMAL)
            same = same && e->gap_asked <= gap_asked(h, model) * (1.0 + 1e-9) &&
                   fabs(gap - (e->upper - e->lower) / fabs(e->upper)) <= 1e-9;
    }
    note(h, v, "description", same,
         same ? "the description says what the evidence says"
              : "the description of the model says something else than the evidence");
}

/* Row i of the kept points = L p_i, and its label that of the data. */
static bdml_status check_points(bdml_handle *h, const bdml_model *m, const bdml_dataset *data,
                                bdml_verdict *v)
{
    bdml_status status = BDML_OK;
    long double *scaled = NULL, *p = NULL, off = 0.0L, size = 0.0L;
    bool same = m->points == data->n && !m->y == !data->y;

    BDML_NEW(h, scaled, m->prepare.d_in);
    BDML_NEW(h, p, m->d);
    for (int64_t i = 0; same && i < data->n; i++) {
        same = bdml_plain_prepare(&m->prepare, data->x + i * data->d, scaled, p) &&
               (!m->y || m->y[i] == data->y[i]);
        for (int r = 0; same && r < m->q; r++) {
            long double sum = 0.0L, terms = 0.0L;
            for (int j = 0; j < m->d; j++) {
                sum += m->l[(size_t)r * (size_t)m->d + (size_t)j] * p[j];
                terms += fabsl(m->l[(size_t)r * (size_t)m->d + (size_t)j] * p[j]);
            }
            long double miss = fabsl(sum - m->z[(size_t)i * (size_t)m->q + (size_t)r]);
            off = isnan(miss) ? INFINITY : fmaxl(off, miss);
            size = fmaxl(size, terms);
        }
    }
    same = same && off <= 1e-11L * size;
    note(h, v, "points", same,
         same ? "the kept training points are those of the data under L"
              : "the kept training points are not those of the data under L");
done:
    free(scaled);
    free(p);
    return status;
}

bdml_status bdml_certify_description(bdml_handle *h, const bdml_model *model,
                                     const bdml_dataset *data, bdml_verdict *verdict)
{
    check_words(h, model, verdict);
    if (model->points > 0) BDML_TRY(check_points(h, model, data, verdict));
    check_data(h, model, data, verdict);
    return BDML_OK;
}
