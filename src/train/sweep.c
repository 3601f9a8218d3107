/* sweep.c - all efforts and caps of one fit, solved on from each other.
 *
 * The first pass is one problem, solved for K ascending, each from the metric before. Where neighbours are mined
 * again it is solved at the mining cap, unless a candidate was that, and all K share the problem of the last pass.
 * A model to start from (warm.h) is where the last problem starts; how that comes about does not change. */
#include "train/warm.h"

#include <stdlib.h>

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
    free(w->under);
    w->under = NULL;
}

bool bdml_is_usable(const bdml_solve_result *r)
{
    return r->m && !r->collapsed;
}

static bool goes_on(const bdml_chain *q)
{
    return q->solved && bdml_is_usable(&q->r) && q->r.stop != BDML_STOP_CANCELLED;
}

/* The weight and cap of a solve: those of a candidate (last), or of one on the way to it. */
typedef struct aim {
    double weight, K;
    bool last;
    int effort, cap;
} aim;

/* The metric that neighbours will be mined again under, where a candidate is that. */
static bdml_status keep_under(bdml_sweep *w, const bdml_chain *q, aim a)
{
    const bdml_plan *p = w->fit->plan;
    size_t r = (size_t)w->fit->reference.rows;
    bool it = q == &w->first && a.K == p->mining_cap && a.weight == p->mining_weight;
    if (!it || w->under || !goes_on(q)) return BDML_OK;
    w->under = bdml_alloc(w->fit->h, r * r, sizeof *w->under);
    if (!w->under) return BDML_ERR_MEMORY;
    memcpy(w->under, q->r.m, r * r * sizeof *w->under);
    return BDML_OK;
}

static bdml_status solve(bdml_sweep *w, bdml_chain *q, aim a)
{
    bdml_status status;
    const bdml_fit *f = w->fit;
    bdml_solve_result r = {0};
    double *y = NULL;

    if (!q->solved) BDML_TRY(bdml_fit_problem(f, q->c, q->precise, &q->problem, &q->s));
    if (!q->solved || q->s.softness != a.weight)
        BDML_TRY(bdml_fit_weigh(f, q->c, q->problem, a.weight, &q->s));
    q->s.skip_threshold = !w->precise; /* else any solve may be cut short and be the one reported */
    q->s.K = a.K;
    q->s.warm_metric = !q->solved ? q->start : bdml_is_usable(&q->r) ? q->r.m : NULL;
    if (!q->solved && q->warm) BDML_TRY(bdml_warm_multipliers(f->h, q->c, &q->s, &y));
    q->s.warm_multiplier = y;
    status = bdml_fit_solve(f, q->c, q->problem, q->precise, &q->s, &r);
    q->s.warm_metric = q->s.warm_multiplier = NULL;
    free(y);
    if (status != BDML_OK) return status;
    bdml_solve_result_free(&q->r);
    q->r = r;
    q->solved = true;
    w->last = q;
    BDML_TRY(keep_under(w, q, a));
    return w->solved ? w->solved(w->user, f, a.last, a.effort, a.cap, &q->r) : BDML_OK;
}

/* Is this candidate wanted, and are its neighbours mined again, or not? */
static bool wants(const bdml_sweep *w, bool again, int effort, int cap)
{
    const bdml_plan *p = w->fit->plan;
    bdml_candidate c = {.effort = effort, .cap = cap};
    return w->wanted[effort * p->caps + cap] && (bdml_candidate_again(p, c) > 0) == again;
}

/* What is wanted of an effort and the caps from .. to-1, by one problem. */
static bdml_status solve_wanted(bdml_sweep *w, bdml_chain *q, int effort, int from, int to)
{
    const bdml_plan *p = w->fit->plan;
    bool again = q != &w->first;
    for (int k = from; k < to; k++) {
        if (!wants(w, again, effort, k)) continue;
        BDML_TRY(solve(w, q, (aim){p->effort[effort].weight, p->cap[k], true, effort, k}));
        if (again && !goes_on(q)) break;
    }
    return BDML_OK;
}

/* ---- neighbours mined again ------------------------------------------------------------------------------- */

/* Ended on the way, at a cap and a gap that nobody asked for: the metric there is goes on as the start of a solve at the first cap that is wanted,
 * which ends where it begins where it is to stop. No checkpoint is made of it: a training that is resumed goes another way. */
static bdml_status end_on_the_way(bdml_sweep *w, bdml_chain *q, int effort, int from, int to)
{
    const bdml_plan *p = w->fit->plan;
    const bdml_solve_settings asked = bdml_solve_from_options(&p->o->solve);
    while (from < to && !wants(w, true, effort, from)) from++;
    if (from == to) return BDML_OK;
    if (w->precise) q->s.gap = asked.gap, q->s.max_iter = asked.max_iter;
    q->precise = false;
    return solve(w, q, (aim){p->effort[effort].weight, p->cap[from], true, effort, from});
}

/* Stopped on request; or a metric that is of no use, which is told as it is. */
static bdml_status give_up(bdml_sweep *w, bdml_chain *q, int effort, int from, int to)
{
    bool stopped = q->r.stop == BDML_STOP_CANCELLED;
    return stopped ? end_on_the_way(w, q, effort, from, to) : BDML_OK;
}

/* The constraints of the next pass, where there is time left for them beside the proof of what is claimed. *cut: there was not, or the user
 * wants to see what there is. */
static bdml_status mine_again(bdml_sweep *w, const bdml_chain *before, const double *under,
                              bdml_chain *q, bool *cut)
{
    bdml_handle *h = w->fit->h;
    double deadline = h->deadline;
    bool may = w->precise && h->comm->size == 1; /* all ranks must go on alike, and clocks differ */
    if (may && deadline > 0.0) h->deadline = h->stop_by;
    bdml_status status = bdml_fit_constraints(w->fit, before->c, under, &q->c, &q->own);
    h->deadline = deadline;
    *cut = may && status == BDML_ERR_CANCELLED && !h->leaving;
    return *cut ? BDML_OK : status;
}

/* The same for neighbours that are mined again, under metrics of this weight and cap. */
static bdml_status solve_again(bdml_sweep *w, double weight, double K, int effort, int from, int to)
{
    const bdml_plan *p = w->fit->plan;
    const aim way = {weight, K, false, effort, from};
    const aim next = {p->effort[effort].weight, p->next_cap, false, effort, from};
    bdml_chain *before = &w->first, *q;

    if (!w->under) {
        BDML_TRY(solve(w, &w->first, way));
        if (!goes_on(&w->first)) return give_up(w, &w->first, effort, from, to);
    }
    const double *under = w->under ? w->under : w->first.r.m;
    for (int again = 1;; again++) {
        bool cut, last = again == p->effort[effort].again + w->more;
        q = before == &w->later[0] ? &w->later[1] : &w->later[0];
        free_chain(q);
        q->precise = w->precise && (last || !p->rough_way);
        q->start = last && w->start ? w->start : under;
        q->warm = last && w->start;
        w->fit->again = again;
        w->fit->mined_last = last;
        BDML_TRY(mine_again(w, before, under, q, &cut));
        if (cut) {
            w->passes_done = again;
            return end_on_the_way(w, before, effort, from, to);
        }
        if (last) return solve_wanted(w, q, effort, from, to);
        BDML_TRY(solve(w, q, p->large ? next : way));
        if (!goes_on(q)) return give_up(w, q, effort, from, to);
        before = q;
        under = q->r.m;
    }
}

static bdml_status all_again(bdml_sweep *w, int effort)
{
    const bdml_plan *p = w->fit->plan;
    bool any = false;
    for (int k = 0; k < p->caps; k++) {
        any = any || wants(w, true, effort, k);
        if (p->mining_cap == 0.0 && wants(w, true, effort, k))
            BDML_TRY(solve_again(w, p->effort[effort].weight, p->cap[k], effort, k, k + 1));
    }
    if (!any || p->mining_cap == 0.0) return BDML_OK;
    return solve_again(w, p->mining_weight, p->mining_cap, effort, 0, p->caps);
}

/* ---- sweep ------------------------------------------------------------------------------------------------ */

static bdml_status begin(bdml_sweep *w)
{
    const bdml_plan *p = w->fit->plan;
    bool wanted = false;
    for (int e = 0; e < p->efforts; e++)
        for (int k = 0; k < p->caps; k++) wanted = wanted || wants(w, false, e, k);
    w->first.precise = w->precise && (wanted || !p->rough_way);
    w->first.start = wanted ? w->start : NULL;
    w->first.warm = w->first.start != NULL;
    BDML_TRY(bdml_fit_pull(w->fit));
    return bdml_fit_constraints(w->fit, NULL, NULL, &w->first.c, &w->first.own);
}

bdml_status bdml_sweep_run(bdml_sweep *w)
{
    const bdml_plan *p = w->fit->plan;
    BDML_TRY(begin(w));
    for (int e = 0; e < p->efforts; e++) {
        if (w->worth && !w->worth(w->user, w->fit, e)) continue;
        BDML_TRY(solve_wanted(w, &w->first, e, 0, p->caps));
        BDML_TRY(all_again(w, e));
    }
    return BDML_OK;
}
