/* outcome.c - what the verdict about a bound g changes in the interval [L, U] of Algorithm 1.
 *
 *     refused       L = g, and the bound on the optimum that the proof gives when that is more
 *     not refused   U = g
 *
 * Cone form: each average, scaled until it meets the margins, is a feasible metric; the best is kept with its
 * objective, a true upper end. Lifted form: the average at U is kept as it is, with what it misses. */
#include "paper/bisection.h"

bdml_status bdml_search_told(bdml_search *b, bdml_status status)
{
    if (status != BDML_OK && status != BDML_ERR_CANCELLED)
        bdml_fail(b->h, status, "%s", bdml_last_error(b->worker));
    return status;
}

/* Cone, fixed rounds: upper <= U (1 + aim) and U - L <= aim U make upper - lower <= gap upper, with half each. */
double bdml_search_aim(const bdml_search *b)
{
    bool certified = b->s->form == BDML_PAPER_CONE && b->s->delta == 0.0;
    return certified ? 0.5 * b->s->gap : b->s->gap;
}

/* A proven L above a U that was only believed: back to the U of the start. */
static void restore_upper(bdml_search *b)
{
    if (b->L < b->U) return;
    b->U = b->U_start > b->L ? b->U_start : INFINITY;
    if (b->s->form == BDML_PAPER_LIFTED) b->upper = INFINITY;
}

static bdml_status take_refusal(bdml_search *b, bdml_mwu *w, const bdml_mwu_result *r)
{
    bdml_proof kind;
    double lower, reach;
    b->L = BDML_MAX(b->L, r->bound);
    if (!r->proves) return BDML_OK; /* literal: about the lifted problem only */
    BDML_TRY(bdml_search_told(b, bdml_proof_margins(w, r->q, &kind, &reach)));
    if (kind != BDML_PROOF_NONE) {
        b->proof = kind;
        b->reach = reach;
        bdml_cvec_copy(&w->A->space, r->q, b->y);
        return BDML_OK;
    }
    BDML_TRY(bdml_search_told(b, bdml_proof_lower(w, r->q0, r->q, b->y_try, &lower)));
    if (lower > b->lower) {
        b->lower = lower;
        bdml_cvec_copy(&w->A->space, b->y_try, b->y);
        b->L = BDML_MAX(b->L, lower);
    }
    restore_upper(b);
    return BDML_OK;
}

void bdml_search_keep(bdml_search *b, const bdml_mwu *w, const bdml_mwu_result *r, double upper,
                      double t)
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
static void take_scaled(bdml_search *b, const bdml_mwu *w, const bdml_mwu_result *r)
{
    double size = 0.0;
    for (size_t i = 0; i < w->size; i++) size = BDML_MAX(size, fabs(r->m[i]));
    double slack = 1e-14 * w->d * size;
    double t = bdml_cvec_scale_to_meet(&w->A->space, w->mu, w->v, slack, w->A->norm);
    if (isfinite(t) && t * r->trace <= w->s.trace && t * r->objective < b->upper)
        bdml_search_keep(b, w, r, t * r->objective, t);
}

/* The cone form can tell whether a bound that was not refused is met: some average, scaled to meet the margins,
 * comes near it. If not, the rounds were too few to say, and are multiplied. */
static bool undecided(const bdml_search *b, const bdml_mwu_result *r)
{
    return r->verdict == BDML_MWU_ROUNDS && b->s->form == BDML_PAPER_CONE &&
           b->upper > r->bound * (1.0 + bdml_search_aim(b));
}

static void tell(const bdml_search *b, const bdml_mwu_result *r)
{
    bool measured = r->verdict != BDML_MWU_INFEASIBLE;
    bdml_log(b->h, BDML_LOG_INFO,
             "bound %.6g: %s after %lld rounds (%.2f s), worst miss %.3g, kappa %.4g", r->bound,
             r->verdict == BDML_MWU_INFEASIBLE ? "refused"
             : r->verdict == BDML_MWU_FEASIBLE ? "met within delta"
             : r->verdict == BDML_MWU_ROUNDS   ? "not refused"
                                               : "undecided",
             (long long)r->rounds, r->seconds, r->violation, r->kappa);
    if (b->s->delta > 0.0)
        bdml_log(b->h, BDML_LOG_INFO, "    the proof asks for T = %.3g rounds with m = %lld", r->T,
                 (long long)r->rows);
    if (b->s->form == BDML_PAPER_LIFTED && measured)
        bdml_log(
            b->h, BDML_LOG_INFO,
            "    rounds in M %lld, M1 %lld, M2 %lld, alpha %lld; alpha %.3g; weight of objective "
            "and margins %.2g; slack at most %.3g rho",
            (long long)r->lived[0], (long long)r->lived[1], (long long)r->lived[2],
            (long long)r->lived[3], r->alpha, r->data_weight, r->exceeded);
}

bdml_status bdml_search_take(bdml_search *b, bdml_mwu *w, const bdml_mwu_result *r, bool believe)
{
    b->report->calls++;
    b->report->rounds += r->rounds;
    b->report->exceeded = BDML_MAX(b->report->exceeded, r->exceeded);
    tell(b, r);
    if (r->verdict == BDML_MWU_INFEASIBLE) return take_refusal(b, w, r);
    if (w->s.form == BDML_PAPER_CONE) take_scaled(b, w, r);
    if (r->verdict == BDML_MWU_STOPPED) {
        b->stopped = true;
        return BDML_OK;
    }
    if (!believe && undecided(b, r)) return BDML_OK;
    if (r->bound > b->L && r->bound < b->U) b->U = r->bound;
    if (w->s.form == BDML_PAPER_LIFTED && r->bound < b->upper && r->bound >= b->L)
        bdml_search_keep(b, w, r, r->bound, 1.0);
    return BDML_OK;
}

bdml_status bdml_search_try(bdml_search *b, double bound, bdml_mwu_result *r)
{
    enum { RETRIES = 3, MORE = 4 };
    b->w->s.rounds = b->s->rounds;
    for (int k = 0;; k++) {
        BDML_TRY(bdml_search_told(b, bdml_mwu_run(b->w, bound, r)));
        BDML_TRY(bdml_search_take(b, b->w, r, k == RETRIES));
        if (k == RETRIES || !undecided(b, r)) return BDML_OK;
        b->w->s.rounds *= MORE;
    }
}
