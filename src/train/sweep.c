/* sweep.c - all passes and caps of one fit, solved on from each other.
 *
 * The first pass is one problem, solved for K ascending, each from the metric before. Later passes mine neighbours
 * under the metric of the first at the mining cap, so that all K from there on share one problem again. */
#include "train/plan.h"

static void free_chain(bdml_chain *q)
{
    bdml_problem_free(q->problem);
    bdml_free_constraints(q->own);
    bdml_solve_result_free(&q->r);
    *q = (bdml_chain){0};
}

void bdml_sweep_free(bdml_sweep *w)
{
    free_chain(&w->first);
    free_chain(&w->later[0]);
    free_chain(&w->later[1]);
}

bool bdml_is_usable(const bdml_solve_result *r)
{
    return r->m && !r->collapsed;
}

static bool goes_on(const bdml_chain *q)
{
    return q->solved && bdml_is_usable(&q->r) && q->r.stop != BDML_STOP_CANCELLED;
}

static bool wants(const bdml_sweep *w, int pass, int cap)
{
    return w->wanted[pass * w->fit->plan->caps + cap];
}

/* Is a candidate of this pass wanted, with a cap of from .. to-1? */
static bool wants_any(const bdml_sweep *w, int pass, int from, int to)
{
    bool any = false;
    for (int k = from; k < to; k++) any = any || wants(w, pass, k);
    return any;
}

static bdml_status solve(bdml_sweep *w, bdml_chain *q, double K, int pass, int cap)
{
    const bdml_fit *f = w->fit;
    bdml_solve_result r = {0};

    if (!q->solved) BDML_TRY(bdml_fit_problem(f, q->c, w->weight, q->precise, &q->problem, &q->s));
    q->s.K = K;
    q->s.warm_metric = !q->solved ? q->start : bdml_is_usable(&q->r) ? q->r.m : NULL;
    BDML_TRY(bdml_fit_solve(f, q->c, q->problem, &q->s, &r));
    q->s.warm_metric = NULL;
    bdml_solve_result_free(&q->r);
    q->r = r;
    q->solved = true;
    w->last = q;
    return w->solved ? w->solved(w->user, f, pass, cap, &q->r) : BDML_OK;
}

/* ---- first pass ------------------------------------------------------------------------------------------- */

static bdml_status first_pass(bdml_sweep *w, int cap)
{
    const bdml_plan *p = w->fit->plan;
    for (int pass = 0; pass < p->passes; pass++)
        if (p->pass[pass] == 0 && wants(w, pass, cap))
            BDML_TRY(solve(w, &w->first, p->cap[cap], pass, cap));
    return BDML_OK;
}

/* ---- later passes ----------------------------------------------------------------------------------------- */

/* The caps from .. to-1 of a pass whose neighbours come from w->first. */
static bdml_status later_pass(bdml_sweep *w, int pass, int from, int to)
{
    const bdml_plan *p = w->fit->plan;
    const bdml_chain *before = &w->first;
    bdml_chain *q;

    for (int again = 1;; again++) {
        bool last = again == p->pass[pass];
        q = before == &w->later[0] ? &w->later[1] : &w->later[0];
        free_chain(q);
        q->precise = w->precise && (last || !p->rough_way);
        q->start = before->r.m;
        BDML_TRY(bdml_fit_constraints(w->fit, before->c, before->r.m, &q->c, &q->own));
        if (last) break;
        BDML_TRY(solve(w, q, w->first.s.K, -1, from));
        if (!goes_on(q)) return BDML_OK;
        before = q;
    }
    for (int k = from; k < to; k++) {
        if (!wants(w, pass, k)) continue;
        BDML_TRY(solve(w, q, p->cap[k], pass, k));
        if (!goes_on(q)) return BDML_OK;
    }
    return BDML_OK;
}

/* All later passes of the caps from .. to-1, which share the mining cap K. */
static bdml_status later_passes(bdml_sweep *w, double K, int from, int to)
{
    const bdml_plan *p = w->fit->plan;
    for (int pass = 0; pass < p->passes; pass++) {
        if (p->pass[pass] == 0 || !wants_any(w, pass, from, to)) continue;
        if (!w->first.solved || w->first.s.K != K) BDML_TRY(solve(w, &w->first, K, -1, from));
        if (goes_on(&w->first)) BDML_TRY(later_pass(w, pass, from, to));
    }
    return BDML_OK;
}

/* ---- sweep ------------------------------------------------------------------------------------------------ */

static bdml_status begin(bdml_sweep *w)
{
    const bdml_plan *p = w->fit->plan;
    bool wanted = false;
    for (int pass = 0; pass < p->passes; pass++)
        wanted = wanted || (p->pass[pass] == 0 && wants_any(w, pass, 0, p->caps));
    w->first.precise = w->precise && (wanted || !p->rough_way);
    BDML_TRY(bdml_fit_pull(w->fit));
    return bdml_fit_constraints(w->fit, NULL, NULL, &w->first.c, &w->first.own);
}

bdml_status bdml_sweep_run(bdml_sweep *w)
{
    const bdml_plan *p = w->fit->plan;
    BDML_TRY(begin(w));
    for (int k = 0, to; k < p->caps; k = to) {
        double K = BDML_MIN(p->cap[k], p->mining_cap);
        bool own = p->cap[k] == K; /* the metric of this cap is the one to mine under */
        for (to = k; to < p->caps && BDML_MIN(p->cap[to], p->mining_cap) == K;) to++;
        if (own) BDML_TRY(first_pass(w, k));
        BDML_TRY(later_passes(w, K, k, to));
        for (int other = own ? k + 1 : k; other < to; other++) BDML_TRY(first_pass(w, other));
    }
    return BDML_OK;
}
