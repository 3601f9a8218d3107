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
    AIM_ROUNDS = 10,  /* without success, then aim less far */
    LEAST_STEPS = 5,  /* of a round: a certificate costs about one step */
    MOST_STEPS = 200, /* of a round, then the centre moves anyway */
    SMOOTH_STEPS = 5, /* of a round of the squared hinge */
};

/* ---- limits --------------------------------------------------------------------------------- */

/* The clock and the user are of one rank: what one of them says holds for all. */
bool bdml_limit_reached(bdml_engine *e)
{
    bdml_course *course = &e->course;
    bdml_stop stop = course->stop;
    if (course->iterations >= e->s->max_iter) stop = BDML_STOP_ITERATIONS;
    if (bdml_time_is_up(e->h)) stop = BDML_STOP_TIME;
    if (stop != BDML_STOP_TIME && bdml_progress(e->h, "solve", course->iterations, 0) != BDML_OK) {
        e->h->error[0] = '\0'; /* not a failure: the best so far is kept */
        stop = BDML_STOP_CANCELLED;
    }
    course->stop = (bdml_stop)bdml_comm_largest(e->p->clock, (double)stop);
    return course->stop != BDML_STOP_DONE;
}

/* ---- one round ------------------------------------------------------------------------------ */

/* |y_new - y| / rho over the listed constraints, per dimension: the misses, and what y > 0
 * leaves over. */
static double primal_residual(const bdml_engine *e)
{
    const bdml_active *a = &e->active;
    double penalty = e->dual.penalty_inv;
    return penalty * sqrt(bdml_terms_move(&a->terms, penalty, a->y0, a->v) / e->X.r);
}

static bdml_status inner_round(bdml_engine *e)
{
    bool smooth = e->dual.penalty_inv == 0.0;
    int most = smooth ? SMOOTH_STEPS : MOST_STEPS;
    for (int step = 1; step <= most; step++) {
        BDML_TRY(bdml_inner_step(e, e->scaled.g));
        if (bdml_limit_reached(e)) break;
        if (smooth || step < LEAST_STEPS) continue;
        e->dual.primal = primal_residual(e);
        if (e->at.residual < INNER_SHARE * BDML_MIN(e->dual.primal, 1.0)) break;
    }
    return BDML_OK;
}

/* Values of all constraints at M; the multipliers that follow, or those that Newton found; both
 * bounds. */
static bdml_status look(bdml_engine *e, bool newton)
{
    bdml_phase previous = bdml_phase_enter(e->h, BDML_PHASE_CERTIFY);
    bdml_status status = BDML_OK;
    bdml_dual *dual = &e->dual;
    bdml_engine_forward(e, e->at.M, dual->v);
    if (!newton)
        bdml_terms_multipliers(&e->scaled.terms, dual->penalty_inv, dual->aim, dual->y, dual->v,
                               dual->y_try);
    BDML_GO(bdml_certify_upper(e));
    BDML_GO(bdml_certify_lower(e, newton ? dual->y : dual->y_try));
done:
    bdml_phase_leave(e->h, previous);
    return status;
}

static void swap_multipliers(bdml_dual *dual)
{
    double *swap = dual->y;
    dual->y = dual->y_try;
    dual->y_try = swap;
}

/* List the constraints that matter now; keep the momentum where nothing changed. */
static void relist(bdml_engine *e)
{
    bool smooth = e->dual.penalty_inv == 0.0;
    if (smooth && !bdml_active_misses(e) && e->course.rounds % 8 != 0) return;
    if (smooth && e->active.all) return;
    bdml_active_rebuild(e);
    bdml_inner_restart(e);
}

/* Where scaling is not allowed (the trace is fixed or at its bound), an upper bound needs a
 * point inside all margins to blend with. Aim beyond the margins until one is found, then at the
 * margins again. */
static void aim_inside(const bdml_bounds *bounds, bdml_dual *dual)
{
    double was = dual->aim;
    if (bounds->scalable && dual->aim == 1.0) return;
    if (bounds->interior_slack > 0.0)
        dual->aim = 1.0;
    else if (dual->aim == 1.0 && dual->primal < AIM_BELOW)
        dual->aim = 1.0 + AIM_FIRST;
    else if (dual->aim > 1.0 && ++dual->aim_rounds % AIM_ROUNDS == 0)
        dual->aim = 1.0 + 0.25 * (dual->aim - 1.0);
    /* the primal residual jumps: no reason to raise rho */
    if (dual->aim != was) dual->before = INFINITY;
}

/* rho grows while the margins close too slowly, and falls when the inner problem has become too
 * stiff to be solved in a round. True when it changed. */
static bool balance(bdml_iterate *at, bdml_dual *dual)
{
    double growth = 1.0;
    if (at->residual > STIFF * dual->primal)
        growth = 1.0 / GROWTH;
    else if (dual->primal > SLOW * dual->before)
        growth = GROWTH;
    dual->penalty_inv /= growth;
    at->step_inv *= growth;
    dual->before = growth < 1.0 ? INFINITY : dual->primal;
    return growth != 1.0;
}

/* True when the gap has hardly changed for long: rounding, or a problem beyond the method. Newton's method, where it
 * gave up far from here, is tried anew first. */
static bool stalled(bdml_engine *e)
{
    bdml_course *course = &e->course;
    double gap = bdml_bounds_gap(&e->bounds);
    if (gap < STALL_SHARE * course->stall_gap) {
        course->stall_gap = gap;
        course->stall_since = course->iterations;
    }
    bool still = isfinite(gap) && course->iterations - course->stall_since >
                                      BDML_MAX(STALL_LEAST, course->iterations / 2);
    if (still && bdml_newton_again(&e->newton, gap)) {
        course->stall_since = course->iterations;
        return false;
    }
    if (still) course->stop = BDML_STOP_STALLED;
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
    if (e->quadratic.on) {
        BDML_TRY(bdml_quadratic_round(e));
        bdml_limit_reached(e);
    } else {
        BDML_TRY(inner_round(e));
    }
    BDML_TRY(look(e, false));
    swap_multipliers(&e->dual);
    return BDML_OK;
}

bdml_status bdml_augmented_run(bdml_engine *e, bool resumed)
{
    bool smooth = e->dual.penalty_inv == 0.0, hard = e->s->hard;
    bdml_course *course = &e->course;

    if (!resumed) {
        if (e->dual.warm && !smooth) BDML_TRY(bdml_certify_lower(e, e->dual.y));
        BDML_TRY(look(e, false));
        bdml_active_rebuild(e);
        bdml_inner_restart(e);
        bdml_history_note(e);
    }
    course->ahead = bdml_now() - course->started;
    bdml_table_row(e);
    while (bdml_bounds_gap(&e->bounds) > e->s->gap && course->stop == BDML_STOP_DONE) {
        BDML_TRY(bdml_state_keep(e));
        BDML_TRY(one_round(e));
        course->rounds++;
        bdml_table_row(e);
        bdml_history_note(e);
        if (bdml_bounds_gap(&e->bounds) <= e->s->gap) {
            course->stop = BDML_STOP_DONE; /* also when a limit came at the same time */
            break;
        }
        if (hard && !e->bounds.have_best) {
            BDML_TRY(bdml_infeasible_check(e));
            if (e->proof.final) {
                course->stop = BDML_STOP_DONE;
                break;
            }
        }
        if (stalled(e)) break;
        if (!smooth && !e->newton.on) course->table_star = balance(&e->at, &e->dual);
        if (!smooth && hard) aim_inside(&e->bounds, &e->dual);
        e->newton.on = bdml_newton_pays(e);
        e->quadratic.on = bdml_quadratic_pays(e);
        relist(e);
    }
    return bdml_state_last(e);
}
