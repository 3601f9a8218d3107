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
#include "paper/bisection.h"

#include <stdlib.h>

/* A team of threads pays from this many products a round on (n d^2). */
static const double THREADS_FROM = 2e7;

static bool narrow(const bdml_search *b)
{
    double middle = 0.5 * (b->L + b->U);
    if (b->s->form == BDML_PAPER_CONE && b->upper - b->lower <= b->s->gap * b->upper) return true;
    if (b->s->form == BDML_PAPER_LIFTED && b->U <= b->s->gap * b->U_start)
        return true; /* nothing is refused: too few rounds for this width */
    return b->U - b->L <= bdml_search_aim(b) * b->U || middle <= b->L || middle >= b->U;
}

static bool open_ended(const bdml_search *b)
{
    enum { CALLS = 200 }; /* bisection needs a few dozen; practical verdicts may send it back */
    return b->proof == BDML_PROOF_NONE && !b->stopped && b->report->calls < CALLS;
}

/* A constraint between identical points, or identical pairs, asks 0 >= mu: no search is needed. */
static bool trivial_proof(bdml_search *b)
{
    const bdml_operator *A = b->w->A;
    int64_t t;
    if (!bdml_cvec_find_absurd(&A->space, A->norm, A->rough, 0.0, b->w->mu, &t)) return false;
    b->proof = BDML_PROOF_CONE;
    b->reach = INFINITY;
    if (t >= 0) b->y[t] = 1.0 / b->w->mu[t];
    return true;
}

static bdml_status bisect(bdml_search *b)
{
    bdml_mwu_result r;
    if (trivial_proof(b)) return BDML_OK;
    BDML_TRY(bdml_search_start(b));
    b->U_start = b->U;
    if (open_ended(b) && b->s->starts > 0 && isfinite(b->U)) BDML_TRY(bdml_search_parallel(b));
    while (open_ended(b)) {
        if (!isfinite(b->U)) { /* refused what was believed: look further up */
            BDML_TRY(bdml_search_upwards(b));
            b->U_start = b->U;
            if (!isfinite(b->U)) return BDML_OK;
        }
        if (!narrow(b)) {
            BDML_TRY(bdml_search_try(b, 0.5 * (b->L + b->U), &r));
            continue;
        }
        /* the lifted form returns the average at U: make it if that bound was never run */
        if (b->s->form == BDML_PAPER_CONE || b->upper <= b->U) return BDML_OK;
        BDML_TRY(bdml_search_try(b, b->U, &r));
        if (r.verdict == BDML_MWU_INFEASIBLE) b->U = b->U_start = b->L * (1.0 + b->s->gap);
    }
    return BDML_OK;
}

static bdml_status export(bdml_search *b, bdml_solve_result *r)
{
    bool proven = b->proof != BDML_PROOF_NONE, cone = b->s->form == BDML_PAPER_CONE;
    r->d = r->rank = b->w->d;
    r->diagonal = b->diagonal;
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

/* What was asked for and not reached. */
static void warn(const bdml_search *b, const bdml_solve_result *r)
{
    if (b->report->exceeded > 1.0 + 1e-9)
        bdml_log(
            b->h, BDML_LOG_WARNING,
            "the width was exceeded: a row had %.3g times rho = %g; raise rho, or leave it out, "
            "for the method's guarantee to hold",
            b->report->exceeded, b->s->rho);
    if (r->outcome != BDML_STOPPED || r->stop != BDML_STOP_ITERATIONS) return;
    bdml_log(b->h, BDML_LOG_WARNING,
             "the bracket is proven, but its gap is %.4g, not the %.4g asked for: %s", r->gap,
             b->s->gap,
             b->s->delta > 0.0 ? "margins met up to delta leave that much; lower delta"
                               : "the rounds were too few; raise rounds");
}

bdml_status bdml_paper_solve(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, bool diagonal, const bdml_paper_settings *s,
                             bdml_solve_result *r, bdml_bisection *report)
{
    bdml_status status = BDML_OK;
    bdml_bisection unused = {0};
    double start = bdml_now();
    bdml_search b = {.h = h, .diagonal = diagonal, .s = s, .U = INFINITY, .upper = INFINITY};

    memset(r, 0, sizeof *r);
    b.report = report ? report : &unused;
    memset(b.report, 0, sizeof *b.report);
    BDML_TRY(bdml_la_enter(h));
    BDML_GO(bdml_paper_check(h, s));
    BDML_GO(bdml_handle_child(h, &b.worker));
    if ((double)n * d * d > THREADS_FROM) bdml_set_threads(b.worker, bdml_threads(h));
    BDML_GO(bdml_search_told(&b, bdml_paper_problem(b.worker, n, d, x, ld, c, diagonal, &b.p)));
    BDML_GO(bdml_search_told(&b, bdml_mwu_new(b.worker, b.p, s, &b.w)));
    b.w->watch = h;
    BDML_NEW(h, b.y, b.w->m);
    BDML_NEW(h, b.y_try, b.w->m);
    BDML_NEW(h, b.m, b.w->size);
    BDML_GO(bisect(&b));
    if (b.proof != BDML_PROOF_NONE) BDML_GO(bdml_rank_proof(h, b.w->m, b.w->mu, b.y, r));
    BDML_GO(export(&b, r));
    r->seconds = b.report->seconds = bdml_now() - start;
    warn(&b, r);
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
