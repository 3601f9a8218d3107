/* claim.c - from a solver's result to a model that can be checked: the map L = B reference, the
 * evidence, and the certificate in words and figures. */
#include "train/fit.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- evidence ------------------------------------------------------------------------------------ */

static bdml_status keep_multipliers(bdml_handle *h, const bdml_solved *s, bdml_evidence *e)
{
    bdml_status status = BDML_OK;
    const double *y = s->result->y;
    for (int64_t t = 0; y && t < s->constraints->m; t++) e->duals += y[t] != 0.0;
    BDML_NEW(h, e->dual_constraint, e->duals);
    BDML_NEW(h, e->dual, e->duals);
    int64_t k = 0;
    for (int64_t t = 0; y && t < s->constraints->m; t++) {
        if (y[t] == 0.0) continue;
        e->dual_constraint[k] = (int32_t)t;
        e->dual[k++] = y[t];
    }
done:
    return status;
}

static bdml_status make_evidence(bdml_handle *h, const bdml_solved *s, int d, bdml_evidence **out)
{
    static const bdml_claim claims[] = {[BDML_OPTIMAL] = BDML_CLAIM_OPTIMAL,
                                        [BDML_STOPPED] = BDML_CLAIM_STOPPED,
                                        [BDML_INFEASIBLE] = BDML_CLAIM_INFEASIBLE,
                                        [BDML_APPROXIMATE] = BDML_CLAIM_APPROXIMATE};
    bdml_status status = BDML_OK;
    bdml_evidence *e = NULL;

    BDML_NEW(h, e, 1);
    e->claim = claims[s->result->outcome];
    e->hard = s->settings->hard;
    e->diagonal = s->diagonal;
    e->squared = s->settings->loss == BDML_LOSS_SQUARED_HINGE;
    e->pull = s->pull;
    e->g_scale = s->g_scale;
    e->margin = s->settings->margin;
    e->K = s->settings->K;
    e->R = s->settings->trace;
    e->cost = s->settings->hard ? 0.0 : s->result->C;
    e->lower = isfinite(s->result->lower) ? s->result->lower : 0.0;
    e->upper = s->result->upper;
    e->gap_asked = s->settings->gap;
    e->slack = s->result->slack;
    e->kappa = isfinite(s->result->kappa) ? s->result->kappa : 0.0;
    BDML_GO(bdml_constraints_copy(h, s->constraints, &e->constraints));
    BDML_GO(keep_multipliers(h, s, e));
    if (s->reference->map) {
        e->reference_rows = s->reference->rows;
        e->reference_columns = d;
        BDML_NEW(h, e->reference, (size_t)s->reference->rows * (size_t)d);
        memcpy(e->reference, s->reference->map,
               sizeof(double) * (size_t)s->reference->rows * (size_t)d);
    }
done:
    if (status == BDML_OK)
        *out = e;
    else
        bdml_evidence_free(e);
    return status;
}

/* ---- metric --------------------------------------------------------------------------------------- */

/* M of the result as a full matrix. */
static double *full_metric(bdml_handle *h, const bdml_solved *s, int r)
{
    double *m = bdml_calloc(h, (size_t)r * (size_t)r, sizeof *m);
    if (!m) return NULL;
    if (s->diagonal)
        for (int j = 0; j < r; j++) COL(m, r, j)[j] = s->result->m[j];
    else
        memcpy(m, s->result->m, sizeof(double) * (size_t)r * (size_t)r);
    return m;
}

static bdml_status set_metric(bdml_handle *h, const bdml_solved *s, bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_evidence *e = model->evidence;
    int r = s->reference->rows, q = 0;
    double *b = NULL, *l = NULL, kappa, *m = full_metric(h, s, r);

    if (!m) return BDML_ERR_MEMORY;
    if (!s->reference->map) {
        status = bdml_model_set_metric(h, model, m);
        goto done;
    }
    BDML_GO(bdml_metric_factor(h, r, m, &q, &b, &kappa));
    BDML_NEW(h, l, (size_t)q * (size_t)model->d);
    /* L (q rows of d) = B (q rows of r) R (r rows of d); as columns: L' = R' B'. */
    bdml_la_gemm('N', 'N', model->d, q, r, 1.0, s->reference->map, model->d, b, r, 0.0, l,
                 model->d);
    BDML_GO(bdml_model_set_map(h, model, q, l));
    e->map = b;
    e->map_rows = q;
    b = NULL;
done:
    free(m);
    free(b);
    free(l);
    return status;
}

/* ---- words ------------------------------------------------------------------------------------------- */

static json_t *number_or_null(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* Rows of the constraints that contradict each other, weightiest first. */
static json_t *contradictions(const bdml_solved *s)
{
    enum { NAMED = 20 };
    const bdml_constraints *c = s->constraints;
    json_t *list = json_array();
    for (int64_t k = 0; k < BDML_MIN(s->result->contradicting, NAMED); k++) {
        int64_t t = s->result->important[k];
        int32_t rows[3] = {0};
        if (bdml_constraints_at(c, t, rows) != BDML_OK) continue;
        json_array_append_new(list, json_pack("{s:I, s:i, s:o, s:i, s:f}", "constraint",
                                              (json_int_t)t, "i", rows[0], "j",
                                              rows[1] < 0 ? json_null() : json_integer(rows[1]),
                                              "k", rows[2], "multiplier", s->result->y[t]));
    }
    return list;
}

/* How the bracket closed, its last state included: three lists of one length. */
static json_t *history_json(const bdml_solve_result *r)
{
    const bdml_history *h = &r->history;
    json_t *iteration = json_array(), *lower = json_array(), *upper = json_array();
    bool last = h->count > 0 && h->iteration[h->count - 1] < (double)r->iterations;
    for (int i = 0; i < h->count + last; i++) {
        bool kept = i < h->count;
        json_array_append_new(iteration, json_real(kept ? h->iteration[i] : (double)r->iterations));
        json_array_append_new(lower, number_or_null(kept ? h->lower[i] : r->lower));
        json_array_append_new(upper, number_or_null(kept ? h->upper[i] : r->upper));
    }
    return json_pack("{s:o, s:o, s:o}", "iteration", iteration, "lower", lower, "upper", upper);
}

static bdml_status describe(bdml_handle *h, const bdml_solved *s, bdml_model *model)
{
    static const char *const status_names[] = {[BDML_OPTIMAL] = "optimal",
                                               [BDML_STOPPED] = "stopped",
                                               [BDML_INFEASIBLE] = "infeasible",
                                               [BDML_APPROXIMATE] = "approximate"};
    const bdml_solve_result *r = s->result;
    const bdml_evidence *e = model->evidence;
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:I, s:I, s:s}", "status",
                  status_names[r->outcome], "upper", number_or_null(r->upper), "lower",
                  number_or_null(e->claim == BDML_CLAIM_INFEASIBLE ? r->lower : e->lower), "gap",
                  number_or_null(r->gap), "kappa", number_or_null(r->kappa), "trace",
                  number_or_null(r->trace), "iterations", (json_int_t)r->iterations, "distortion",
                  s->settings->K, "constraints", (json_int_t)s->constraints->m, "active",
                  (json_int_t)e->duals, "reference", bdml_reference_names[s->reference->kind]);
    int bad = !o;
    if (o && !s->settings->hard) {
        bad |= json_object_set_new(o, "softness", json_real(r->C / r->C0));
        bad |= json_object_set_new(o, "C", json_real(r->C));
    }
    if (o && r->outcome == BDML_INFEASIBLE) {
        bad |=
            json_object_set_new(o, "proof",
                                json_string(r->proof == BDML_PROOF_CONE ? "every trace and margin"
                                                                        : "this trace and margin"));
        bad |= json_object_set_new(o, "contradictions", contradictions(s));
    }
    if (o && r->outcome == BDML_APPROXIMATE)
        bad |= json_object_set_new(o, "margin_missed_by", json_real(r->slack));
    bad |= json_object_set_new(model->info, "certificate", o);
    if (r->history.count > 0) bad |= json_object_set_new(model->info, "history", history_json(r));
    bad |= json_object_set_new(model->info, "times", json_pack("{s:f}", "solve", r->seconds));
    return bad ? bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model")
               : BDML_OK;
}

static bdml_status say_infeasible(bdml_handle *h, const bdml_solved *s)
{
    const bdml_solve_result *r = s->result;
    if (r->proof == BDML_PROOF_CONE)
        return bdml_fail(
            h, BDML_ERR_INFEASIBLE,
            "proven infeasible: %lld constraints contradict each other for every trace "
            "bound and margin at distortion %g; leave out hard, or raise distortion",
            (long long)r->contradicting, s->settings->K);
    return bdml_fail(h, BDML_ERR_INFEASIBLE,
                     "proven infeasible: no metric with trace at most %g meets the margin %g at "
                     "distortion %g; raise trace or distortion, or lower margin",
                     s->settings->trace, s->settings->margin, s->settings->K);
}

bdml_status bdml_claim_result(bdml_handle *h, const bdml_solved *s, bdml_model *model)
{
    if (s->result->collapsed)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the best metric is M = 0: missed margins weigh %.4g, and up to %.4g it "
                         "costs less to miss them all; softness must be above 1, got %.4g",
                         s->result->C, s->result->C0, s->result->C / s->result->C0);
    if (s->result->outcome == BDML_APPROXIMATE && s->result->kappa > 1.01 * s->settings->K)
        bdml_log(
            h, BDML_LOG_WARNING,
            "the metric has distortion %.4g where %g was asked for: the lifted form holds its cap "
            "only as far as its rounds go; solver engine and mwu-cone hold it exactly",
            s->result->kappa, s->settings->K);
    if (s->result->stop == BDML_STOP_CANCELLED && !s->result->m)
        return bdml_fail(h, BDML_ERR_CANCELLED,
                         "stopped on request before a metric that meets the margins was found");
    if (s->result->outcome != BDML_INFEASIBLE && !s->result->m)
        return bdml_fail(h, BDML_ERR_DATA,
                         "stopped before a metric that meets the margins was found; raise max-iter "
                         "(solvers mwu: rounds) or time-limit");
    BDML_TRY(make_evidence(h, s, model->d, &model->evidence));
    BDML_TRY(describe(h, s, model));
    if (s->result->outcome == BDML_INFEASIBLE) {
        free(model->l); /* there is no metric: the model is a proof */
        model->l = NULL;
        model->q = 0;
        return say_infeasible(h, s);
    }
    return set_metric(h, s, model);
}
