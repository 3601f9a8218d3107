/* relaxation.c - the paper's step for Q: bisection on the objective of the relaxation (Algorithm 1 with the rows of
 * Proposition 2), then Gaussian randomisation (Algorithm 3).
 *
 *     U   the start's objective where it meets the margins; else from there up until a bound is not refused
 *     L   0, then what refusals prove
 *
 * A bound that T rounds do not refuse counts as met, as in the paper; L is proven. */
#include "paper/relaxation.h"

#include <stdlib.h>

#include "paper/relaxed.h"

bdml_relaxation_settings bdml_relaxation_defaults(void)
{
    return (bdml_relaxation_settings){.margin = 1.0,
                                      .rounds = 300,
                                      .gap = 0.05,
                                      .calls = 8,
                                      .samples = 100,
                                      .orthonormalise = true};
}

typedef struct search {
    bdml_handle *h;
    bdml_relaxed relaxed;
    bdml_operator A; /* over metrics of rank q */
    bdml_mwu *w;
    const bdml_relaxation_settings *s;
    double L, U, U_start, U_most; /* U_most: no M of this trace costs more */
    bdml_atoms best;              /* of the best average so far, */
    double merit;                 /* its nu / objective */
    double *y;                    /* multipliers of L */
    bool stopped;                 /* by the time limit */
    bdml_relaxation_report *r;
} search;

/* ---- settings -------------------------------------------------------------------------------------------------- */

static bdml_status check(bdml_handle *h, const bdml_constraints *c, int d, int q,
                         const double *lambda, const bdml_relaxation_settings *s, const double *Q)
{
    if (q < 1 || q > d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "Q needs from 1 to d = %d orthonormal rows, got %d",
                         d, q);
    for (int i = 0; i < q; i++)
        if (!(lambda[i] > 0.0 && isfinite(lambda[i])))
            return bdml_fail(h, BDML_ERR_ARGUMENT, "lambda[%d] must be positive and finite, got %g",
                             i, lambda[i]);
    for (size_t i = 0; i < (size_t)d * (size_t)q; i++)
        if (!isfinite(Q[i]))
            return bdml_fail(h, BDML_ERR_ARGUMENT, "Q has a value that is not finite in row %zu",
                             i / (size_t)d);
    if (c->m == 0 || c->targets == 0)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the step for Q needs a constraint and a target pair at least, got %lld "
                         "and %lld",
                         (long long)c->m, (long long)c->targets);
    if (s->samples < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "samples must be at least 1, got %lld",
                         (long long)s->samples);
    if (s->calls < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "calls must be at least 1, got %d", s->calls);
    return BDML_OK;
}

static bdml_paper_settings weights_settings(const bdml_relaxation_settings *s, double trace)
{
    bdml_paper_settings p = bdml_paper_defaults(BDML_PAPER_CONE);
    p.trace = trace;
    p.margin = s->margin;
    p.delta = s->delta;
    p.rho = s->rho;
    p.rounds = s->rounds;
    p.epsilon = s->epsilon;
    p.scaling = s->scaling;
    p.gap = s->gap;
    return p;
}

/* ---- bisection ------------------------------------------------------------------------------------------------- */

static bdml_status take_refusal(search *b, const bdml_mwu_result *m)
{
    double lower;
    BDML_TRY(bdml_relaxed_lower(b->w, m->q0, m->q, &lower));
    lower = BDML_MAX(lower, m->bound);
    if (lower > b->L) {
        b->L = lower;
        bdml_cvec_divide(&b->A.space, m->q, m->q0, b->y);
    }
    if (b->L >= b->U_most) b->r->infeasible = true; /* no M of this trace costs as much */
    if (b->L >= b->U) b->U = b->U_start > b->L ? b->U_start : INFINITY;
    return BDML_OK;
}

/* Least <A_t,M>/mu_t of the average. */
static double average_nu(const bdml_mwu *w)
{
    double share = 1.0 / (double)BDML_MAX(w->round, 1);
    return bdml_cvec_least_ratio(&w->A->space, share, w->sum_v, w->mu);
}

/* Of the averages of all runs, that which is best once scaled to meet the margins is sampled from. */
static void take_average(search *b, const bdml_mwu_result *m, double nu)
{
    bdml_atoms old = b->best;
    double merit = nu / m->objective;
    if (b->best.count > 0 && !(merit > b->merit)) return;
    b->merit = merit;
    b->best = b->relaxed.atoms;
    b->relaxed.atoms = old;
    b->r->violation = m->violation;
    b->r->margin_violation = m->margin_violation;
    b->r->average_nu = nu;
    b->r->orthogonality = bdml_relaxed_form.violation(b->w);
    b->r->objective_mean = m->objective;
}

static bdml_status run_once(search *b, double bound, bool *decided)
{
    static const double NEAR =
        0.2; /* an average that misses no more than this share of margin and bound is near */
    bdml_mwu_result m;
    BDML_TRY(bdml_mwu_run(b->w, bound, &m));
    b->w->warm = b->w->observed;
    b->r->calls++;
    b->r->rounds += m.rounds;
    bdml_log(b->h, BDML_LOG_INFO,
             "relaxation, bound %.6g: %s after %lld rounds (%.2f s), worst miss %.3g", bound,
             m.verdict == BDML_MWU_INFEASIBLE ? "refused" : "not refused", (long long)m.rounds,
             m.seconds, m.violation);
    *decided = true;
    if (m.verdict == BDML_MWU_INFEASIBLE) return take_refusal(b, &m);
    if (b->relaxed.atoms.count < b->w->round)
        return bdml_fail(b->h, BDML_ERR_ARGUMENT,
                         "delta = %g took %lld rounds, of which %lld at most are kept to sample "
                         "from: raise delta, or leave it out",
                         b->s->delta, (long long)b->w->round, (long long)b->relaxed.atoms.room);
    b->stopped = m.verdict == BDML_MWU_STOPPED;
    double nu = average_nu(b->w);
    take_average(b, &m, nu);
    *decided =
        m.verdict == BDML_MWU_FEASIBLE || (nu >= 1.0 - NEAR && m.objective <= (1.0 + NEAR) * bound);
    return BDML_OK;
}

/* T rounds, and while they leave it open, as many again from the weights that they ended with. Then the bound counts
 * as met, as in the paper, whatever the average looks like. */
static bdml_status try_bound(search *b, double bound)
{
    enum { TIMES = 3 };
    bool decided = false;
    for (int k = 0; k < TIMES && !decided && !b->stopped; k++) {
        if (k > 0 && b->r->calls >= b->s->calls) break;
        BDML_TRY(run_once(b, bound, &decided));
    }
    if (b->stopped) return BDML_OK;
    if (bound > b->L && bound < b->U) b->U = bound;
    return BDML_OK;
}

static bool open_ended(const search *b)
{
    return !b->r->infeasible && !b->stopped && b->r->calls < b->s->calls;
}

/* Bounds from that of the start up, until one is not refused. */
static bdml_status upwards(search *b, double from)
{
    double bound = BDML_MIN(BDML_MAX(from, 2.0 * b->L), b->U_most);
    while (!isfinite(b->U) && open_ended(b)) {
        BDML_TRY(try_bound(b, bound));
        bound = BDML_MIN(BDML_MAX(4.0 * bound, 2.0 * b->L), b->U_most);
    }
    return BDML_OK;
}

static bool narrow(const search *b)
{
    return b->U - b->L <= b->s->gap * b->U || b->U <= b->s->gap * b->U_start;
}

/* objective, nu: of the start. */
static bdml_status bisect(search *b, double objective, double nu)
{
    b->U = nu >= 1.0 ? objective : INFINITY;
    if (!isfinite(b->U)) BDML_TRY(upwards(b, nu > 0.0 ? objective / nu : objective));
    b->U_start = b->U;
    while (open_ended(b)) {
        if (!isfinite(b->U)) {
            BDML_TRY(upwards(b, 2.0 * b->L));
            b->U_start = b->U;
        } else if (!narrow(b)) {
            BDML_TRY(try_bound(b, 0.5 * (b->L + b->U)));
        } else {
            break;
        }
    }
    /* an average to sample from, whatever it is worth */
    if (b->best.count == 0 && !b->r->infeasible)
        BDML_TRY(try_bound(b, isfinite(b->U) ? b->U : b->U_most));
    return BDML_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static bdml_status prepare(search *b, bdml_margin *op, const bdml_constraints *c, int d, int q,
                           const double *lambda)
{
    enum { ROOM = 20000 }; /* rounds kept at most, in the guarantee mode */
    bdml_status status = BDML_OK;
    double trace = 0.0;
    for (int i = 0; i < q; i++) trace += lambda[i];
    int64_t room = b->s->delta > 0.0 ? ROOM : BDML_MAX(b->s->rounds, 1);
    bdml_paper_settings settings = weights_settings(b->s, trace);
    b->A = bdml_operator_low_rank(op, c, d, q);
    b->relaxed = (bdml_relaxed){.d = d, .q = q, .lambda = lambda, .op = op, .atoms.room = room};
    b->best.room = room;
    BDML_NEW(b->h, b->best.u, (size_t)d * (size_t)room);
    BDML_NEW(b->h, b->best.w, (size_t)q * (size_t)room);
    BDML_NEW(b->h, b->y, c->m);
    BDML_GO(bdml_mwu_build(b->h, &b->A, &bdml_full_matrices, NULL, 0, &settings, &bdml_relaxed_form,
                           &b->relaxed, &b->w));
    b->U_most = trace * b->relaxed.g_trace;
done:
    return status;
}

/* Z = (M / trace(M)) x I_q of the exact solution: root root' = M / trace(M), columns of positive eigenvalues. */
static bdml_status exact_root(bdml_handle *h, int d, double *M, double *lambda, bdml_eigh_ws *ws,
                              bdml_sampler *from)
{
    double trace = 0.0;
    BDML_TRY(bdml_la_eigh(h, d, M, lambda, true, ws));
    for (int i = 0; i < d; i++) trace += BDML_MAX(lambda[i], 0.0);
    int first = 0;
    while (first < d - 1 && lambda[first] <= 1e-12 * lambda[d - 1]) first++;
    for (int j = first; j < d; j++)
        for (int i = 0; i < d; i++) COL(M, d, j)[i] *= sqrt(lambda[j] / trace);
    from->rank = d - first;
    from->root = COL(M, d, first);
    return BDML_OK;
}

/* Bracket of the certified solver; the metric is kept in *solution. */
static bdml_status solve_exact(search *b, bdml_solve_result *solution)
{
    const bdml_relaxed *x = &b->relaxed;
    bdml_relaxation_report *r = b->r;
    double start = bdml_now();
    BDML_TRY(bdml_relaxation_exact(b->h, x->op, b->A.c, x->d, x->trace, b->s->margin, b->s->gap,
                                   b->L > 0.0 ? b->y : NULL, solution));
    r->exact_seconds = bdml_now() - start;
    if (solution->outcome == BDML_INFEASIBLE) {
        r->infeasible = true;
        return BDML_OK;
    }
    r->sdp_lower = BDML_MAX(r->sdp_lower, solution->lower);
    if (isfinite(solution->upper)) {
        r->sdp_upper = solution->upper;
        r->exact = true;
    }
    return BDML_OK;
}

static bdml_status sample_mwu(search *b, double *Q)
{
    const bdml_relaxed *x = &b->relaxed;
    bdml_sampler from = {.d = x->d, .q = x->q, .atoms = &b->best};
    b->r->rank = BDML_MIN(b->best.count, (int64_t)x->d * x->q);
    return bdml_randomise(b->h, x->op, b->A.c, &from, x->lambda, b->s, b->r->objective_mean, Q,
                          b->r);
}

static bdml_status sample_exact(search *b, bdml_solve_result *solution, double *Q)
{
    bdml_relaxed *x = &b->relaxed;
    bdml_sampler from = {.d = x->d, .q = x->q};
    if (!solution->m) return BDML_OK; /* none found in the time allowed: Q stays */
    BDML_TRY(exact_root(b->h, x->d, solution->m, x->eigen, &x->ws, &from));
    b->r->rank = from.rank * x->q;
    b->r->objective_mean = solution->upper;
    b->r->average_nu = 1.0; /* at least */
    return bdml_randomise(b->h, x->op, b->A.c, &from, x->lambda, b->s, solution->upper, Q, b->r);
}

static bdml_status q_step(search *b, double *Q)
{
    const bdml_relaxed *x = &b->relaxed;
    bdml_status status = BDML_OK;
    bdml_relaxation_report *r = b->r;
    bdml_solve_result solution = {0};
    bool engine = b->s->source == BDML_RELAXATION_ENGINE;
    double start = bdml_now();

    BDML_GO(bdml_judge(b->h, x->op, b->A.c, x->d, x->q, x->lambda, b->s->margin, Q,
                       &r->start_objective, &r->start_nu));
    r->objective = r->start_objective;
    r->nu = r->start_nu;
    if (!engine) BDML_GO(bisect(b, r->start_objective, r->start_nu));
    r->sdp_lower = b->L;
    r->sdp_upper = b->U;
    r->mwu_seconds = bdml_now() - start;
    if ((b->s->exact || engine) && !r->infeasible) BDML_GO(solve_exact(b, &solution));
    if (r->infeasible) goto done;
    if (engine)
        BDML_GO(sample_exact(b, &solution, Q));
    else
        BDML_GO(sample_mwu(b, Q));
done:
    bdml_solve_result_free(&solution);
    return status;
}

bdml_status bdml_relaxation_q_step(bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                                   int d, int q, const double *lambda,
                                   const bdml_relaxation_settings *s, double *Q,
                                   bdml_relaxation_report *r)
{
    bdml_status status = BDML_OK;
    double start = bdml_now();
    search b = {.h = h, .s = s, .r = r, .U = INFINITY};

    memset(r, 0, sizeof *r);
    r->achieved = r->sdp_upper = INFINITY;
    BDML_TRY(check(h, c, d, q, lambda, s, Q));
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    BDML_GO(prepare(&b, op, c, d, q, lambda));
    BDML_GO(q_step(&b, Q));
done:
    bdml_mwu_free(b.w);
    free(b.best.u);
    free(b.best.w);
    free(b.y);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    r->seconds = bdml_now() - start;
    return status;
}
