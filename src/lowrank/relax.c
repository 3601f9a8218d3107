/* relax.c - convex hulls, solved by the certified engine.
 *
 * Q-step: over the hull of { Q' Lambda Q } with Lambda fixed (spectral/hull.c); its lower end is a bound for
 * every Q with this Lambda, its metric is rounded to the q leading eigenvectors, largest to largest, and the
 * rounded Q polished by descent (manifold.c). It may still miss margins, or cost more; the Lambda-step that
 * follows repairs that, or the turn is not taken.
 *
 * Joint bound: over the hull of all metrics of rank q and distortion K (spectral/rank.c). */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* Gap of a Q-step: rounding loses far more. */
static const double STEP_GAP = 3e-3;
enum { STEP_ITERATIONS = 300 };

/* Columns of V: eigenvectors of M (r x r, destroyed), in the order that gives the largest lambda the largest. */
static bdml_status round_off(lowrank *w, double *M, double *V)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *values = NULL;
    int *order = NULL;

    BDML_NEW(w->h, values, w->r);
    BDML_NEW(w->h, order, w->q);
    BDML_GO(bdml_eigh_ws_init(w->h, w->r, &ws));
    BDML_GO(bdml_la_eigh(w->h, w->r, M, values, true, &ws));
    bdml_spectral_sort(w->q, w->lambda, order);
    for (int k = 0; k < w->q; k++)
        memcpy(COL(V, w->r, order[k]), COL(M, w->r, w->r - w->q + k), sizeof *V * (size_t)w->r);
done:
    free(values);
    free(order);
    bdml_eigh_ws_free(&ws);
    return status;
}

static bdml_solve_settings relaxed(const lowrank *w, bdml_set_kind set, const double *warm)
{
    bdml_solve_settings s = w->s->solve;
    s.set = set;
    s.rank = w->q;
    s.C = w->C;
    s.trace = INFINITY;
    s.warm_metric = warm;
    s.warm_multiplier = w->result.y;
    s.gap = BDML_MAX(STEP_GAP, s.gap);
    s.save = NULL;
    s.resume = NULL;
    return s;
}

bdml_status lowrank_hull_step(lowrank *w, double *V_try, bdml_lowrank_report *report)
{
    bdml_status status = BDML_OK;
    double *M = NULL, *spectrum = NULL;
    int *order = NULL;
    bdml_solve_result r = {0};

    BDML_GO(lowrank_problem(w));
    BDML_NEW(w->h, M, (size_t)w->r * (size_t)w->r);
    BDML_NEW(w->h, spectrum, w->q);
    BDML_NEW(w->h, order, w->q);
    bdml_spectral_sort(w->q, w->lambda, order);
    for (int k = 0; k < w->q; k++) spectrum[k] = w->lambda[order[k]];
    lowrank_metric(w, w->V, w->lambda, w->gv, M);
    bdml_solve_settings s = relaxed(w, BDML_SET_HULL, M);
    s.spectrum = spectrum;
    s.max_iter = STEP_ITERATIONS;
    BDML_GO(bdml_problem_solve(w->h, w->p, &s, &r));
    report->lower_q = r.lower;
    report->upper_q = w->result.upper;
    if (!r.m) goto done;
    BDML_GO(round_off(w, r.m, V_try));
    status = lowrank_manifold_step(w, V_try);
done:
    bdml_solve_result_free(&r);
    free(M);
    free(spectrum);
    free(order);
    return status;
}

bdml_status lowrank_joint_bound(lowrank *w, bdml_lowrank_report *report)
{
    bdml_status status = BDML_OK;
    double *M = NULL;
    bdml_solve_result r = {0};

    BDML_GO(lowrank_problem(w));
    BDML_NEW(w->h, M, (size_t)w->r * (size_t)w->r);
    bool known = w->result.m != NULL && !w->result.collapsed;
    if (known) lowrank_metric(w, w->V, w->lambda, w->gv, M);
    bdml_solve_settings s = relaxed(w, BDML_SET_RANK, known ? M : NULL);
    if (!known) s.warm_multiplier = NULL;
    s.max_iter = w->s->bound;
    BDML_GO(bdml_problem_solve(w->h, w->p, &s, &r));
    report->infeasible = r.outcome == BDML_INFEASIBLE;
    if (!report->infeasible)
        report->lower = BDML_MAX(r.lower, 0.0); /* G >= 0 and no loss is negative */
done:
    bdml_solve_result_free(&r);
    free(M);
    return status;
}
