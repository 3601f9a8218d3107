/* claim.c - from a solver's result to a model that can be checked: the map L = B reference, the
 * evidence, and the certificate in words and figures. */
#include "train/describe.h"

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
    e->reach = s->result->proof == BDML_PROOF_CONE    ? INFINITY
               : s->result->proof == BDML_PROOF_TRACE ? s->result->proof_trace
                                                      : s->settings->trace;
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

/* Rows of B (q of r) are orthogonal, their squared lengths the eigenvalues of M. A matrix M holds its smallest ones
 * only to a share of the largest: where K is large, those that rounding has put under largest/K are raised to it,
 * which shortens no distance. True when there was one. */
static bool hold_cap(int q, int r, double K, double *b)
{
    static const double ROUNDING = 1e-12; /* of eigenvalues at their cap, left alone */
    double most = 0.0;
    bool raised = false;
    for (int i = 0; i < q; i++) most = BDML_MAX(most, bdml_la_dot(r, COL(b, r, i), COL(b, r, i)));
    for (int i = 0; i < q; i++) {
        double square = bdml_la_dot(r, COL(b, r, i), COL(b, r, i));
        if (!(square < most / K * (1.0 - ROUNDING))) continue;
        for (int j = 0; j < r; j++) COL(b, r, i)[j] *= sqrt(most / K / square);
        raised = true;
    }
    return raised;
}

static bdml_status set_metric(bdml_handle *h, const bdml_solved *s, bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_evidence *e = model->evidence;
    int r = s->reference->rows, q = 0;
    double *b = NULL, *l = NULL, kappa;
    const double *m = s->result->m;

    BDML_GO(bdml_metric_factor(h, r, m, &q, &b, &kappa));
    bool raised = e->claim != BDML_CLAIM_APPROXIMATE && q == r && hold_cap(q, r, e->K, b);
    if (!s->reference->map) {
        status = raised ? bdml_model_set_map(h, model, q, b) : bdml_model_set_metric(h, model, m);
        goto done;
    }
    BDML_NEW(h, l, (size_t)q * (size_t)model->d);
    /* L (q rows of d) = B (q rows of r) R (r rows of d); as columns: L' = R' B'. */
    bdml_la_gemm('N', 'N', model->d, q, r, 1.0, s->reference->map, model->d, b, r, 0.0, l,
                 model->d);
    BDML_GO(bdml_model_set_map(h, model, q, l));
    e->map = b;
    e->map_rows = q;
    b = NULL;
done:
    free(b);
    free(l);
    return status;
}

/* ---- claim --------------------------------------------------------------------------------------------- */

bdml_status bdml_say_infeasible(bdml_handle *h, const bdml_evidence *e)
{
    char who[96];
    if (e->duals == 1)
        snprintf(who, sizeof who, "one constraint alone cannot be met");
    else
        snprintf(who, sizeof who, "%lld constraints %scontradict each other", (long long)e->duals,
                 isfinite(e->reach) ? "all but " : "");
    if (!isfinite(e->reach))
        return bdml_fail(
            h, BDML_ERR_INFEASIBLE,
            "proven infeasible: %s for every trace bound and margin at distortion %g; leave out "
            "hard, or raise distortion",
            who, e->K);
    if (e->reach == e->R)
        return bdml_fail(
            h, BDML_ERR_INFEASIBLE,
            "proven infeasible: no metric with trace at most %g meets the margin %g at "
            "distortion %g; raise trace or distortion, or lower margin",
            e->R, e->margin, e->K);
    return bdml_fail(
        h, BDML_ERR_INFEASIBLE,
        "out of reach: %s, no metric with trace below %.4g meets the margin %g at "
        "distortion %g (beyond, the digits of doubles do not tell); leave out hard, or "
        "raise distortion",
        who, e->reach, e->margin, e->K);
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
    bool late = s->result->stop == BDML_STOP_TIME;
    if ((late || s->result->stop == BDML_STOP_CANCELLED) && !s->result->m)
        return bdml_fail(h, BDML_ERR_CANCELLED,
                         "%s before a metric that meets the margins was found",
                         late ? "the time limit was over" : "stopped on request");
    if (s->result->outcome != BDML_INFEASIBLE && !s->result->m)
        return bdml_fail(h, BDML_ERR_DATA,
                         "stopped before a metric that meets the margins was found; raise max-iter "
                         "(solvers mwu: rounds)");
    BDML_TRY(make_evidence(h, s, model->d, &model->evidence));
    BDML_TRY(bdml_describe_claim(h, s, model));
    if (s->result->outcome == BDML_INFEASIBLE) {
        free(model->l); /* there is no metric: the model is a proof */
        model->l = NULL;
        model->q = 0;
        return bdml_say_infeasible(h, model->evidence);
    }
    return set_metric(h, s, model);
}
