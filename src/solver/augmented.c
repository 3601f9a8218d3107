/* augmented.c - the outer loop: rounds of inner steps, each followed by a look at all
 * constraints, the two bounds, and new multipliers (eq. 17).
 *
 *     hard and hinge    y <- clip(y + rho (b - v), 0, u),  rho as the residuals ask
 *     squared hinge     smooth as it is: a round is a few steps, the momentum goes on
 * */
#include "solver/engine.h"

/* A round of the augmented Lagrangian ends when the inner residual is below this share of the
 * primal one: nearer to the minimum would be wasted on a centre about to move. */
static const double INNER_SHARE = 0.2;
/* rho grows by GROWTH when a round leaves more than SLOW of the primal residual. */
static const double SLOW = 0.5, GROWTH = 2.0;
/* rho falls when a round ends with an inner residual of this multiple of the primal one. */
static const double STIFF = 2.0;

/* Begin to aim beyond the margins once they are this nearly met, by so much of them. */
static const double AIM_BELOW = 0.1, AIM_FIRST = 0.05;

/* Stalled: the gap has not fallen to this share of itself for half of all projections, nor for
 * STALL_LEAST. */
static const double STALL_SHARE = 0.9;

enum {
    STALL_LEAST = 5000,
    AIM_ROUNDS = 10,   /* without success, then aim less far */
    LEAST_STEPS = 5,   /* of a round: a certificate costs about one step */
    MOST_STEPS = 200,  /* of a round, then the centre moves anyway */
    SMOOTH_STEPS = 10, /* of a round of the squared hinge */
};

/* ---- limits --------------------------------------------------------------------------------- */

bool bdml_limit_reached(bdml_engine *e)
{
    if (e->iterations >= e->s->max_iter) e->stop = BDML_STOP_ITERATIONS;
    if (e->s->time_limit > 0.0 && bdml_now() - e->started >= e->s->time_limit)
        e->stop = BDML_STOP_TIME;
    if (bdml_progress(e->h, "solve", e->iterations, 0) != BDML_OK) {
        e->h->error[0] = '\0'; /* not a failure: the best so far is kept */
        e->stop = BDML_STOP_CANCELLED;
    }
    return e->stop != BDML_STOP_DONE;
}

/* ---- one round ------------------------------------------------------------------------------ */

/* |y_new - y| / rho over the listed constraints, per dimension: the misses, and what y > 0
 * leaves over. */
static double primal_residual(const bdml_engine *e)
{
    const bdml_active *a = &e->active;
    double sum = 0.0;
    for (int64_t k = 0; k < a->count; k++) {
        double move =
            bdml_inner_multiplier(e, a->y0[k], a->b[k], a->q[k], a->u[k], a->v[k]) - a->y0[k];
        sum += move * move;
    }
    return e->penalty_inv * sqrt(sum / e->r);
}

static bdml_status inner_round(bdml_engine *e)
{
    bool smooth = e->penalty_inv == 0.0;
    int most = smooth ? SMOOTH_STEPS : MOST_STEPS;
    for (int step = 1; step <= most; step++) {
        BDML_TRY(bdml_inner_step(e, e->g));
        if (bdml_limit_reached(e)) break;
        if (smooth || step < LEAST_STEPS) continue;
        e->primal = primal_residual(e);
        if (e->residual < INNER_SHARE * BDML_MIN(e->primal, 1.0)) break;
    }
    return BDML_OK;
}

/* Values of all constraints at M; the multipliers that follow, or those that Newton found; both
 * bounds. */
static bdml_status look(bdml_engine *e, bool newton)
{
    bdml_phase previous = bdml_phase_enter(e->h, BDML_PHASE_CERTIFY);
    bdml_status status = BDML_OK;
    bdml_engine_forward(e, e->M, e->v);
    for (int64_t t = 0; t < e->m && !newton; t++)
        e->y_try[t] =
            bdml_inner_multiplier(e, e->y[t], e->aim * e->b[t], e->q[t], e->u[t], e->v[t]);
    BDML_GO(bdml_certify_upper(e));
    BDML_GO(bdml_certify_lower(e, newton ? e->y : e->y_try));
done:
    bdml_phase_leave(e->h, previous);
    return status;
}

static void swap_multipliers(bdml_engine *e)
{
    double *swap = e->y;
    e->y = e->y_try;
    e->y_try = swap;
}

/* List the constraints that matter now; keep the momentum where nothing changed. */
static void relist(bdml_engine *e)
{
    bool smooth = e->penalty_inv == 0.0;
    if (smooth && !bdml_active_misses(e) && e->rounds % 8 != 0) return;
    if (smooth && e->active.all) return;
    bdml_active_rebuild(e);
    bdml_inner_restart(e);
}

/* Where scaling is not allowed (the trace is fixed or at its bound), an upper bound needs a
 * point inside all margins to blend with. Aim beyond the margins until one is found, then at the
 * margins again. */
static void aim_inside(bdml_engine *e)
{
    double was = e->aim;
    if (!e->s->hard || (e->scalable && e->aim == 1.0)) return;
    if (e->interior_slack > 0.0)
        e->aim = 1.0;
    else if (e->aim == 1.0 && e->primal < AIM_BELOW)
        e->aim = 1.0 + AIM_FIRST;
    else if (e->aim > 1.0 && ++e->aim_rounds % AIM_ROUNDS == 0)
        e->aim = 1.0 + 0.25 * (e->aim - 1.0);
    if (e->aim != was) e->before = INFINITY; /* the primal residual jumps: no reason to raise rho */
}

/* rho grows while the margins close too slowly, and falls when the inner problem has become too
 * stiff to be solved in a round. */
static void balance(bdml_engine *e)
{
    double growth = 1.0;
    if (e->residual > STIFF * e->primal)
        growth = 1.0 / GROWTH;
    else if (e->primal > SLOW * e->before)
        growth = GROWTH;
    e->penalty_inv /= growth;
    e->step_inv *= growth;
    e->table_star = growth != 1.0;
    e->before = growth < 1.0 ? INFINITY : e->primal;
}

/* True when the gap has hardly changed for long: rounding, or a problem beyond the method. */
static bool stalled(bdml_engine *e)
{
    double gap = bdml_engine_gap(e);
    if (gap < STALL_SHARE * e->stall_gap) {
        e->stall_gap = gap;
        e->stall_since = e->iterations;
    }
    bool still =
        isfinite(gap) && e->iterations - e->stall_since > BDML_MAX(STALL_LEAST, e->iterations / 2);
    if (still) e->stop = BDML_STOP_STALLED;
    return still;
}

/* A round of inner steps, or of Newton's once they pay; then all constraints and both bounds. */
static bdml_status one_round(bdml_engine *e)
{
    if (e->newton.on) {
        BDML_TRY(bdml_newton_round(e));
        bdml_limit_reached(e);
        return look(e, true);
    }
    BDML_TRY(inner_round(e));
    BDML_TRY(look(e, false));
    swap_multipliers(e);
    return BDML_OK;
}

bdml_status bdml_augmented_run(bdml_engine *e, bool resumed)
{
    bool smooth = e->penalty_inv == 0.0;

    if (!resumed) {
        BDML_TRY(look(e, false));
        bdml_active_rebuild(e);
        bdml_inner_restart(e);
        bdml_history_note(e);
    }
    bdml_table_row(e);
    while (bdml_engine_gap(e) > e->s->gap && e->stop == BDML_STOP_DONE) {
        BDML_TRY(bdml_state_keep(e));
        BDML_TRY(one_round(e));
        e->rounds++;
        bdml_table_row(e);
        bdml_history_note(e);
        if (bdml_engine_gap(e) <= e->s->gap) {
            e->stop = BDML_STOP_DONE; /* also when a limit came at the same time */
            break;
        }
        if (e->s->hard && !e->have_best) {
            BDML_TRY(bdml_infeasible_check(e));
            if (e->proof_final) {
                e->stop = BDML_STOP_DONE;
                break;
            }
        }
        if (stalled(e)) break;
        if (!smooth && !e->newton.on) balance(e);
        if (!smooth) aim_inside(e);
        e->newton.on = bdml_newton_pays(e);
        relist(e);
    }
    return bdml_state_last(e);
}
