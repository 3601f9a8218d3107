/* bisection.c - Algorithm 1: shrink the interval [L, U] of the optimum by feasibility problems.
 *
 *     U   g(sI), s = max mu_t / <A_t,I>, where sI meets the margins within the trace bound; otherwise from small
 *         values up until one is not refused (the paper's g(I) is no upper bound), R lambda_max(G) at most
 *     L   0
 *     1.  several bounds between L and U at once, one a thread (the paper's practical start)
 *     2.  g = (L + U)/2: refused -> L, and what the proof says when that is more; else -> U
 *
 * A bound that is not refused within a fixed number of rounds counts as met, as in the paper: U is then a belief.
 * The cone form also scales each average to meet the margins: a true upper end. L is always proven. */
#include "solver/paper/mwu.h"

#include <stdlib.h>

typedef struct search {
    bdml_handle *h;      /* the caller's */
    bdml_handle *worker; /* that the feasibility problems run on */
    bdml_problem *p;
    const bdml_paper_settings *s;
    bdml_mwu *w;
    double deadline;
    double L, U, U_start;
    double lower, *y;        /* proven, by y */
    double upper, *m;        /* cone: certified; lifted: the average at bound `upper` */
    double slack, violation; /* of m */
    double objective, kappa, trace;
    double *y_try;
    bdml_proof proof; /* the margins contradict each other, by y */
    double reach;
    bool stopped; /* the time limit */
    bdml_bisection *report;
} search;

/* A team of threads pays from this many products a round on (n d^2). */
static const double THREADS_FROM = 2e7;

/* Errors of the worker are the caller's. */
static bdml_status told(search *b, bdml_status status)
{
    if (status != BDML_OK && status != BDML_ERR_CANCELLED)
        bdml_fail(b->h, status, "%s", bdml_last_error(b->worker));
    return status;
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

/* A proven L above a U that was only believed: back to the U of the start. */
static void restore_upper(search *b)
{
    if (b->L < b->U) return;
    b->U = b->U_start > b->L ? b->U_start : INFINITY;
    if (b->s->form == BDML_PAPER_LIFTED) b->upper = INFINITY;
}

static bdml_status take_refusal(search *b, bdml_mwu *w, const bdml_mwu_result *r)
{
    bdml_proof kind;
    double lower, reach;
    b->L = BDML_MAX(b->L, r->bound);
    if (!r->proves) return BDML_OK; /* literal: about the lifted problem only */
    BDML_TRY(told(b, bdml_proof_margins(w, r->q, &kind, &reach)));
    if (kind != BDML_PROOF_NONE) {
        b->proof = kind;
        b->reach = reach;
        memcpy(b->y, r->q, sizeof *b->y * (size_t)w->m);
        return BDML_OK;
    }
    BDML_TRY(told(b, bdml_proof_lower(w, r->q0, r->q, b->y_try, &lower)));
    if (lower > b->lower) {
        b->lower = lower;
        memcpy(b->y, b->y_try, sizeof *b->y * (size_t)w->m);
        b->L = BDML_MAX(b->L, lower);
    }
    restore_upper(b);
    return BDML_OK;
}

static void keep(search *b, const bdml_mwu *w, const bdml_mwu_result *r, double upper, double t)
{
    b->upper = upper;
    b->objective = t * r->objective;
    b->kappa = r->kappa;
    b->trace = t * r->trace;
    b->slack = t == 1.0 ? BDML_MAX(r->margin_violation, 0.0) : 0.0;
    b->violation = t == 1.0 ? r->violation : 0.0;
    for (size_t i = 0; i < w->size; i++) b->m[i] = t * r->m[i];
}

/* Cone: the average scaled until it meets every margin, if the trace allows. w->v are its values. */
static void take_scaled(search *b, const bdml_mwu *w, const bdml_mwu_result *r)
{
    double t = 0.0, size = 0.0;
    for (size_t i = 0; i < w->size; i++) size = BDML_MAX(size, fabs(r->m[i]));
    for (int64_t k = 0; k < w->m; k++) {
        double v = w->v[k] - 1e-14 * w->d * size * w->p->norm[k];
        if (v <= 0.0 && w->mu[k] > 0.0) return;
        if (w->mu[k] > 0.0) t = BDML_MAX(t, w->mu[k] / v);
    }
    if (t * r->trace <= w->s.trace && t * r->objective < b->upper)
        keep(b, w, r, t * r->objective, t);
}

/* The cone form can tell whether a bound that was not refused is met: some average, scaled to meet the margins,
 * comes near it. If not, the rounds were too few to say, and are multiplied. */
static bool undecided(const search *b, const bdml_mwu_result *r)
{
    return r->verdict == BDML_MWU_ROUNDS && b->s->form == BDML_PAPER_CONE &&
           b->upper > r->bound * (1.0 + b->s->gap);
}

/* believe: a bound that was not refused counts as met whatever the average looks like. */
static bdml_status take(search *b, bdml_mwu *w, const bdml_mwu_result *r, bool believe)
{
    b->report->calls++;
    b->report->rounds += r->rounds;
    b->report->exceeded = BDML_MAX(b->report->exceeded, r->exceeded);
    bdml_log(b->h, BDML_LOG_INFO,
             "bound %.6g: %s after %lld rounds (%.2f s), worst miss %.3g, kappa %.4g", r->bound,
             r->verdict == BDML_MWU_INFEASIBLE ? "refused"
             : r->verdict == BDML_MWU_FEASIBLE ? "met within delta"
             : r->verdict == BDML_MWU_ROUNDS   ? "not refused"
                                               : "undecided",
             (long long)r->rounds, r->seconds, r->violation, r->kappa);
    if (r->verdict == BDML_MWU_INFEASIBLE) return take_refusal(b, w, r);
    if (w->s.form == BDML_PAPER_CONE) take_scaled(b, w, r);
    if (r->verdict == BDML_MWU_STOPPED) {
        b->stopped = true;
        return BDML_OK;
    }
    if (!believe && undecided(b, r)) return BDML_OK;
    if (r->bound > b->L && r->bound < b->U) b->U = r->bound;
    if (w->s.form == BDML_PAPER_LIFTED && r->bound < b->upper && r->bound >= b->L)
        keep(b, w, r, r->bound, 1.0);
    return BDML_OK;
}

static bdml_status try_bound(search *b, double bound, bdml_mwu_result *r)
{
    enum { RETRIES = 3, MORE = 4 };
    b->w->s.rounds = b->s->rounds;
    for (int k = 0;; k++) {
        BDML_TRY(told(b, bdml_mwu_run(b->w, bound, r)));
        BDML_TRY(take(b, b->w, r, k == RETRIES));
        if (k == RETRIES || !undecided(b, r)) return BDML_OK;
        b->w->s.rounds *= MORE;
    }
}

/* ---- start -------------------------------------------------------------------------------------------------------- */

/* U = g(sI) when sI is feasible; it is also the first metric of the cone form. Literal: U = g(I). */
static bool start_identity(search *b)
{
    bdml_mwu *w = b->w;
    double s = 0.0, g = 0.0;
    size_t step = b->p->diagonal ? 1 : (size_t)w->d + 1;
    memset(w->M, 0, sizeof *w->M * w->size);
    for (int i = 0; i < w->d; i++) {
        w->M[(size_t)i * step] = 1.0;
        g += b->p->g[(size_t)i * step];
    }
    if (w->s.literal) {
        b->U = g;
        return true;
    }
    if (b->p->diagonal)
        bdml_margin_forward_diag(b->p->op, w->M, -1, NULL, w->v);
    else
        bdml_margin_forward(b->p->op, w->M, -1, NULL, w->v);
    for (int64_t t = 0; t < w->m; t++) {
        if (w->v[t] <= 0.0 && w->mu[t] > 0.0) return false;
        if (w->mu[t] > 0.0) s = BDML_MAX(s, w->mu[t] / w->v[t]);
    }
    s *= 1.0 + 1e-12;
    if (s * w->d > w->s.trace) return false;
    b->U = s * g;
    if (w->s.form == BDML_PAPER_CONE) {
        bdml_mwu_result r = {.objective = g, .kappa = 1.0, .trace = w->d, .m = w->M};
        keep(b, w, &r, s * g, s);
    }
    return true;
}

/* Values of g from small to large until one is not refused. At R lambda_max(G) the bound says nothing, so a
 * refusal there is about the margins. */
static bdml_status start_upwards(search *b)
{
    enum { STEPS = 40 };
    bdml_mwu *w = b->w;
    double trace = 0.0, value = 0.0, margin = 0.0, most = w->s.trace * w->g_lambda[w->d - 1];
    for (int i = 0; i < w->d; i++) trace += w->g_lambda[i];
    for (int64_t t = 0; t < w->m; t++) {
        value += fabs(w->low[t] + w->high[t]) / (double)w->m;
        margin += w->mu[t] / (double)w->m;
    }
    double bound = value > 0.0 ? trace * margin / value : trace;
    bound = BDML_MIN(BDML_MAX(bound, 2.0 * b->L), most);
    for (int k = 0; k < STEPS && b->proof == BDML_PROOF_NONE && !b->stopped; k++) {
        bdml_mwu_result r;
        BDML_TRY(try_bound(b, bound, &r));
        if (isfinite(b->U)) return BDML_OK;
        if (bound >= most) {
            if (b->proof != BDML_PROOF_NONE || b->stopped) return BDML_OK;
            return bdml_fail(b->h, BDML_ERR_INFEASIBLE,
                             "the lifted problem of the paper has no solution with trace(Y) <= %g; "
                             "the problem itself may: leave out literal, or raise trace",
                             w->s.trace);
        }
        bound = BDML_MIN(BDML_MAX(4.0 * bound, 2.0 * b->L), most);
    }
    return BDML_OK;
}

/* Several bounds at once: own handle, operator and workspace each, so that the outcome is the same for any
 * number of threads. */
typedef struct trial {
    bdml_handle *h;
    bdml_problem *p;
    bdml_mwu *w;
    bdml_mwu_result r;
    bdml_status status;
} trial;

static void free_trials(int count, trial *list)
{
    for (int k = 0; list && k < count; k++) {
        bdml_mwu_free(list[k].w);
        bdml_problem_free(list[k].p);
        bdml_free(list[k].h);
    }
    free(list);
}

static bdml_status new_trial(search *b, trial *t)
{
    const bdml_problem *p = b->p;
    BDML_TRY(bdml_handle_child(b->h, &t->h));
    bdml_status status =
        bdml_paper_problem(t->h, p->n, p->d, p->x, p->ld, p->c, p->diagonal, &t->p);
    if (status == BDML_OK) status = bdml_mwu_new(t->h, t->p, b->s, &t->w);
    if (status != BDML_OK) return bdml_fail(b->h, status, "%s", bdml_last_error(t->h));
    t->w->watch = b->h;
    t->w->deadline = b->deadline;
    return BDML_OK;
}

static bdml_status start_parallel(search *b)
{
    bdml_status status = BDML_OK;
    int count = b->s->starts;
    double step = (b->U - b->L) / (count + 1), from = b->L;
    trial *list = NULL;

    BDML_NEW(b->h, list, count);
    for (int k = 0; k < count; k++) BDML_GO(new_trial(b, &list[k]));
#pragma omp parallel for schedule(dynamic, 1) num_threads(bdml_threads(b->h))
    for (int k = 0; k < count; k++)
        list[k].status = bdml_mwu_run(list[k].w, from + (k + 1) * step, &list[k].r);
    for (int k = 0; k < count; k++)
        if (list[k].status != BDML_OK) {
            status = bdml_fail(b->h, list[k].status, "%s", bdml_last_error(list[k].h));
            goto done;
        }
    /* refusals first: what lies below a proven L is not believed */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++)
            if ((list[k].r.verdict == BDML_MWU_INFEASIBLE) == (pass == 0))
                BDML_GO(take(b, list[k].w, &list[k].r, false));
done:
    free_trials(count, list);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static bool narrow(const search *b)
{
    double middle = 0.5 * (b->L + b->U);
    if (b->s->form == BDML_PAPER_LIFTED && b->U <= b->s->gap * b->U_start)
        return true; /* nothing is refused: too few rounds for this width */
    return b->U - b->L <= b->s->gap * b->U || middle <= b->L || middle >= b->U;
}

static bool open_ended(const search *b)
{
    enum { CALLS = 200 }; /* bisection needs a few dozen; practical verdicts may send it back */
    return b->proof == BDML_PROOF_NONE && !b->stopped && b->report->calls < CALLS;
}

/* A constraint between identical points, or identical pairs, asks 0 >= mu: no search is needed. */
static bool trivial_proof(search *b)
{
    for (int64_t t = 0; t < b->w->m; t++)
        if (b->p->norm[t] == 0.0 && b->w->mu[t] > 0.0) {
            b->proof = BDML_PROOF_CONE;
            b->reach = INFINITY;
            b->y[t] = 1.0 / b->w->mu[t];
            return true;
        }
    return false;
}

static bdml_status bisect(search *b)
{
    bdml_mwu_result r;
    if (trivial_proof(b)) return BDML_OK;
    if (!start_identity(b)) BDML_TRY(start_upwards(b));
    b->U_start = b->U;
    if (open_ended(b) && b->s->starts > 0 && isfinite(b->U)) BDML_TRY(start_parallel(b));
    while (open_ended(b)) {
        if (!isfinite(b->U)) { /* refused what was believed: look further up */
            BDML_TRY(start_upwards(b));
            b->U_start = b->U;
            if (!isfinite(b->U)) return BDML_OK;
        }
        if (!narrow(b)) {
            BDML_TRY(try_bound(b, 0.5 * (b->L + b->U), &r));
            continue;
        }
        /* the lifted form returns the average at U: make it if that bound was never run */
        if (b->s->form == BDML_PAPER_CONE || b->upper <= b->U) return BDML_OK;
        BDML_TRY(try_bound(b, b->U, &r));
        if (r.verdict == BDML_MWU_INFEASIBLE) b->U = b->U_start = b->L * (1.0 + b->s->gap);
    }
    return BDML_OK;
}

static bdml_status export(search *b, bdml_solve_result *r)
{
    bool proven = b->proof != BDML_PROOF_NONE, cone = b->s->form == BDML_PAPER_CONE;
    r->d = r->rank = b->w->d;
    r->diagonal = b->p->diagonal;
    r->proof = b->proof;
    r->proof_trace = b->reach;
    r->lower = proven ? INFINITY : b->lower;
    r->upper = proven || !isfinite(b->upper) ? INFINITY : b->objective;
    r->gap = isfinite(r->upper) ? BDML_MAX(r->upper - r->lower, 0.0) / r->upper : INFINITY;
    r->kappa = proven ? (double)NAN : b->kappa;
    r->trace = proven ? (double)NAN : b->trace;
    r->slack = b->slack;
    r->outcome = proven                               ? BDML_INFEASIBLE
                 : !cone                              ? BDML_APPROXIMATE
                 : r->gap <= b->s->gap * (1.0 + 1e-9) ? BDML_OPTIMAL
                                                      : BDML_STOPPED;
    r->stop = b->stopped                                      ? BDML_STOP_TIME
              : proven || r->outcome == BDML_OPTIMAL || !cone ? BDML_STOP_DONE
                                                              : BDML_STOP_ITERATIONS;
    r->iterations = b->report->rounds;
    r->y = b->y;
    b->y = NULL;
    if (!proven && isfinite(b->upper)) {
        r->m = b->m;
        b->m = NULL;
    }
    b->report->L = b->L;
    b->report->U = b->U;
    b->report->violation = b->violation;
    return BDML_OK;
}

bdml_status bdml_paper_solve(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, bool diagonal, const bdml_paper_settings *s,
                             bdml_solve_result *r, bdml_bisection *report)
{
    bdml_status status = BDML_OK;
    bdml_bisection unused;
    double start = bdml_now();
    search b = {.h = h, .s = s, .U = INFINITY, .upper = INFINITY};

    memset(r, 0, sizeof *r);
    b.report = report ? report : &unused;
    memset(b.report, 0, sizeof *b.report);
    b.deadline = s->time_limit > 0.0 ? start + s->time_limit : 0.0;
    bdml_la_enter(h);
    BDML_GO(bdml_paper_check(h, s));
    BDML_GO(bdml_handle_child(h, &b.worker));
    if ((double)n * d * d > THREADS_FROM)
        BDML_GO(bdml_set(b.worker, "threads", bdml_opt_text(h, BDML_OPT_THREADS)));
    BDML_GO(told(&b, bdml_paper_problem(b.worker, n, d, x, ld, c, diagonal, &b.p)));
    BDML_GO(told(&b, bdml_mwu_new(b.worker, b.p, s, &b.w)));
    b.w->watch = h;
    b.w->deadline = b.deadline;
    BDML_NEW(h, b.y, b.w->m);
    BDML_NEW(h, b.y_try, b.w->m);
    BDML_NEW(h, b.m, b.w->size);
    BDML_GO(bisect(&b));
    if (b.proof != BDML_PROOF_NONE) BDML_GO(bdml_rank_proof(h, b.w->m, b.w->mu, b.y, r));
    BDML_GO(export(&b, r));
    r->seconds = b.report->seconds = bdml_now() - start;
    if (b.report->exceeded > 1.0 + 1e-9)
        bdml_log(
            h, BDML_LOG_WARNING,
            "the width was exceeded: a row had %.3g times rho = %g; raise rho, or leave it out, "
            "for the method's guarantee to hold",
            b.report->exceeded, s->rho);
done:
    bdml_mwu_free(b.w);
    bdml_problem_free(b.p);
    bdml_free(b.worker);
    free(b.y);
    free(b.y_try);
    free(b.m);
    bdml_la_leave(h);
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}
