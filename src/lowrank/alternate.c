/* alternate.c - Lambda and Q by turns, until the objective settles.
 *
 *     1. Lambda for the start Q
 *     2. propose Q for this Lambda, solve Lambda for the proposal
 *     3. keep both if the objective fell, and go to 2 unless it fell by less than the tolerance; else stop
 *
 * so that what is returned is never worse than the start. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* The objective is measured against that of M = 0, `idle`: where points span more dimensions than there are
 * margins to meet, it can be brought as near to 0 as one likes, and relative to itself it would never settle. An
 * objective below this share of idle counts as that share. */
static const double SMALL = 0.01;

static bdml_relaxation_settings relaxation_from_options(const bdml_rank_options *o, uint64_t seed)
{
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    s.rounds = o->q_rounds.value;
    s.samples = o->q_samples.value;
    s.rule = (bdml_sample_rule)o->q_rule.value;
    s.source = (bdml_relaxation_source)o->q_source.value;
    s.orthonormalise = o->q_orthonormal.value;
    s.exact = o->q_exact.value == BDML_AUTO_YES;
    s.seed = seed;
    return s;
}

bdml_lowrank_settings bdml_lowrank_from_options(const bdml_options *o)
{
    const bdml_rank_options *r = &o->rank;
    return (bdml_lowrank_settings){.q = (int)r->rank.value,
                                   .step = (bdml_q_step)r->q_step.value,
                                   .full = r->lambda.value == BDML_LAMBDA_FULL,
                                   .span = r->q_span.value,
                                   .alternations = (int)r->alternations.value,
                                   .seed = (uint64_t)o->general.seed.value,
                                   .tolerance = r->tolerance.value,
                                   .bound = r->joint_bound.value,
                                   .relaxation =
                                       relaxation_from_options(r, (uint64_t)o->general.seed.value),
                                   .exact_auto = r->q_exact.value == BDML_AUTO_AUTO,
                                   .solve = bdml_solve_from_options(&o->solve)};
}

/* What the objective's changes are compared with. */
static double scale_of(const lowrank *w, double value)
{
    return BDML_MAX(fabs(value), SMALL * w->idle);
}

static bool usable(const bdml_solve_result *r)
{
    return r->m && !r->collapsed && isfinite(r->upper);
}

/* Objective of M = 0; hard: of the start. */
static double idle(const lowrank *w)
{
    const bdml_solve_settings *s = &w->s->solve;
    double sum = 0.0;
    if (s->hard) return w->result.upper;
    for (int64_t t = 0; t < w->c->m; t++) {
        double b = s->margin * (w->c->margin ? w->c->margin[t] : 1.0);
        sum += (w->c->weight ? w->c->weight[t] : 1.0) *
               (s->loss == BDML_LOSS_SQUARED_HINGE ? b * b : b);
    }
    return w->C * sum / (double)w->c->m;
}

static bdml_status propose(lowrank *w, bdml_lowrank_report *report)
{
    memcpy(w->V_try, w->V, sizeof *w->V * (size_t)w->r * (size_t)w->q);
    memcpy(w->lambda_try, w->lambda, sizeof *w->lambda * (size_t)w->q);
    switch (w->s->step) {
    case BDML_Q_STEP_HULL:
        return lowrank_hull_step(w, w->V_try, report);
    case BDML_Q_STEP_PAPER:
        return lowrank_paper_step(w, w->V_try, report);
    default:
        return lowrank_manifold_step(w, w->V_try);
    }
}

static void accept(lowrank *w, bdml_solve_result *r)
{
    double *swap = w->V;
    w->V = w->V_try;
    w->V_try = swap;
    swap = w->lambda;
    w->lambda = w->lambda_try;
    w->lambda_try = swap;
    bdml_solve_result_free(&w->result);
    w->result = *r;
    memset(r, 0, sizeof *r);
}

static bdml_status take_turns(lowrank *w, bdml_lowrank_report *report)
{
    bdml_status status = BDML_OK;
    bdml_solve_result r = {0};
    while (report->turns < w->s->alternations && !bdml_time_is_up(w->h)) {
        BDML_GO(bdml_progress(w->h, "alternate", report->turns, w->s->alternations));
        bdml_relaxation_report relaxation = report->relaxation;
        BDML_GO(propose(w, report));
        BDML_GO(lowrank_lambda_step(w, w->V_try, w->lambda_try, true, false, &r));
        double before = w->result.upper;
        bool better = usable(&r) && r.upper < before;
        bdml_log(w->h, BDML_LOG_TABLE, "  turn %3d   objective %+.6e   %s%s", report->turns + 1,
                 r.upper, better ? "kept" : "not kept", r.kappa > 1.0 ? "" : ", kappa 1");
        bool told = report->turns > 0 && !(better && report->relaxation.improved);
        if (told) report->relaxation = relaxation;
        if (!better) break;
        report->turns++;
        accept(w, &r);
        if (before - w->result.upper <= w->s->tolerance * scale_of(w, before)) break;
        if (w->result.upper <= w->s->tolerance * w->idle) break;
    }
done:
    bdml_solve_result_free(&r);
    return bdml_is_late(w->h, status) ? BDML_OK : status; /* the turns before it stand */
}

/* The last Lambda to the gap that was asked for. */
static bdml_status finish(lowrank *w)
{
    bdml_solve_result r = {0};
    if (bdml_time_is_up(w->h)) return BDML_OK;
    memcpy(w->V_try, w->V, sizeof *w->V * (size_t)w->r * (size_t)w->q);
    memcpy(w->lambda_try, w->lambda, sizeof *w->lambda * (size_t)w->q);
    BDML_TRY(lowrank_lambda_step(w, w->V_try, w->lambda_try, true, true, &r));
    if (usable(&r) && r.upper <= w->result.upper)
        accept(w, &r);
    else if (usable(&r) && r.lower > w->result.lower) { /* the same metric with a better bound */
        w->result.lower = r.lower;
        w->result.gap = (w->result.upper - r.lower) / BDML_MAX(fabs(w->result.upper), 1e-300);
        memcpy(w->result.y, r.y, sizeof *r.y * (size_t)w->c->m);
    }
    bdml_solve_result_free(&r);
    return BDML_OK;
}

/* The bound over every Q is a solve in all r dimensions, where a step of it takes as much longer as they are more than the q of Lambda;
 * at least what is done before its first step, and once more to look at where that led. */
static bool time_for_bound(const lowrank *w)
{
    return bdml_deadline_allows(w->h, 2.0 * w->result.ahead * w->r / w->q);
}

/* Q = V' basis', q rows of d; the result goes to the caller. */
static void hand_over(lowrank *w, double *Q, bdml_solve_result *r, bdml_lowrank_report *report)
{
    bdml_la_gemm_tiled(w->h, 'N', 'N', w->d, w->q, w->r, 1.0, w->basis, w->d, w->V, w->r, 0.0, Q,
                       w->d);
    *r = w->result;
    memset(&w->result, 0, sizeof w->result);
    report->achieved = r->upper;
    report->C = r->C;
    report->seconds = bdml_now() - w->started;
}

bdml_status bdml_lowrank_fit(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, const double *objective,
                             const bdml_lowrank_settings *s, double *Q, bdml_solve_result *r,
                             bdml_lowrank_report *report)
{
    bdml_status status = BDML_OK;
    lowrank w;

    memset(r, 0, sizeof *r);
    *report = (bdml_lowrank_report){.lower = -INFINITY, .lower_q = -INFINITY};
    if (s->q < 1 || s->q > d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rank must be from 1 to the dimension %d, got %d", d,
                         s->q);
    BDML_TRY(bdml_la_enter(h));
    status = lowrank_init(&w, h, n, d, x, ld, c, objective, s, Q);
    if (status != BDML_OK) {
        bdml_la_leave(h);
        return status;
    }
    report->span = w.r;
    report->whole = w.whole;
    w.C = s->solve.hard ? 0.0 : s->solve.C;
    bool fixed = s->step == BDML_Q_STEP_NONE || (s->full && w.r == w.q); /* nowhere to go */
    BDML_GO(lowrank_lambda_step(&w, w.V, w.lambda, false, fixed, &w.result));
    report->start = w.result.upper;
    report->C0 = w.result.C0;
    if (!s->solve.hard) w.C = w.result.C; /* the same objective for every Q */
    w.idle = idle(&w);
    if (usable(&w.result) && !fixed) {
        BDML_GO(take_turns(&w, report));
        BDML_GO(finish(&w));
    }
    /* rows that are not orthonormal are under no bound */
    bool bounded = s->bound > 0 && (s->step != BDML_Q_STEP_PAPER || s->relaxation.orthonormalise);
    bounded = bounded && time_for_bound(&w);
    if (bounded && (usable(&w.result) || s->solve.hard)) BDML_GO(lowrank_joint_bound(&w, report));
    hand_over(&w, Q, r, report);
done:
    lowrank_free(&w);
    bdml_la_leave(h);
    return status;
}
