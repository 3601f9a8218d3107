/* engine.c - a solve from start to end: weight, scale, start point, outer loop, result; and again
 * in the whole space where the reduction was not exact. */
#include "solver/engine.h"

#include <stdlib.h>

static bdml_status objective_density(bdml_engine *e)
{
    const bdml_spectral *set = &e->scaled.set;
    memcpy(e->at.T, e->scaled.g, sizeof *e->at.T * e->X.size);
    BDML_TRY(e->X.ops->eigenvalues(&e->X, e->at.T, e->X.lambda));
    e->scaled.gamma = set->ops->density(set, e->X.lambda);
    return BDML_OK;
}

static bdml_status set_weight(bdml_engine *e)
{
    if (e->s->hard) return BDML_OK;
    bdml_scaled *scaled = &e->scaled;
    if (e->s->set == BDML_SET_HULL && e->s->C > 0.0) { /* M = 0 is no member: no threshold */
        scaled->C = e->s->C;
        return BDML_OK;
    }
    if (!(e->p->A.norm_mean > 0.0))
        return bdml_fail(
            e->h, BDML_ERR_DATA,
            "every constraint is about a point and itself, or one distance and itself: no "
            "metric meets any of them");
    if (e->s->C > 0.0 && e->s->skip_threshold)
        scaled->C0 = NAN;
    else
        BDML_TRY(bdml_collapse_threshold(e, &scaled->C0));
    scaled->C = e->s->C > 0.0 ? e->s->C : e->s->softness * scaled->C0;
    if (!isfinite(scaled->C))
        return bdml_fail(
            e->h, BDML_ERR_DATA,
            "M = 0 is best for every softness: under no metric of this distortion are impostors "
            "farther than targets on the whole; raise the distortion or mine other constraints");
    return BDML_OK;
}

static bdml_status start(bdml_engine *e, double *ws)
{
    BDML_TRY(set_weight(e));
    if (!isnan(e->scaled.C0)) /* the direction of C0 */
        memcpy(e->at.Z, e->at.M, sizeof *e->at.M * e->X.size);
    bdml_scale(&e->scaled, &e->p->A, e->s, e->dual.y_try);
    BDML_TRY(objective_density(e));
    if (e->s->hard) BDML_TRY(bdml_infeasible_row(e));
    bdml_start_dual(e);
    if (e->stage.proven) BDML_TRY(bdml_infeasible_test(e, e->dual.y));
    return bdml_start_point(e, ws);
}

/* The scaled problem follows from C, which is part of the state. */
static bdml_status take_up(bdml_engine *e)
{
    BDML_TRY(bdml_state_restore(e));
    bdml_scale(&e->scaled, &e->p->A, e->s, e->dual.y_try);
    BDML_TRY(objective_density(e));
    bdml_active_gather(e);
    return BDML_OK;
}

static bdml_status run(bdml_engine *e, double *ws)
{
    bdml_phase previous = bdml_phase_enter(e->h, BDML_PHASE_SOLVE);
    bdml_status status = BDML_OK;
    bool resumed = e->s->resume != NULL;
    BDML_GO(resumed ? take_up(e) : start(e, ws));
    bdml_table_header(e);
    if (resumed || e->proof.kind == BDML_PROOF_NONE) BDML_GO(bdml_augmented_run(e, resumed));
done:
    bdml_phase_leave(e->h, previous);
    return status;
}

static bdml_status solve_on(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                            const bdml_stage *stage, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    bdml_engine e;
    double *ws = NULL;

    BDML_TRY(bdml_engine_init(&e, h, p, s));
    BDML_NEW(h, ws, (size_t)p->d * (size_t)p->r);
    e.stage = *stage;
    BDML_GO(run(&e, ws));
    BDML_GO(bdml_export_result(&e, r));
    bdml_table_footer(&e, r);
done:
    free(ws);
    bdml_engine_free(&e);
    return status;
}

/* The reduction left out a little (columns that depend on each other only to the digits of a
 * file): go on in the whole space from what was found. One look there is mostly all it takes,
 * and what is reported then holds for the data as they are. */
static bdml_status solve_whole(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                               const bdml_stage *stage, bdml_solve_result *r)
{
    BDML_TRY(bdml_problem_unreduced(h, p));
    bdml_solve_settings warm = *s;
    warm.max_iter = BDML_MAX(s->max_iter - stage->iterations, 1);
    if (!s->hard) warm.C = stage->C;
    BDML_TRY(solve_on(h, p->whole, &warm, stage, r));
    r->iterations += stage->iterations;
    r->seconds += stage->seconds;
    r->rank = stage->rank;
    if (!s->hard) r->C0 = stage->C0;
    if (stage->stop != BDML_STOP_DONE && r->outcome == BDML_STOPPED) r->stop = stage->stop;
    return BDML_OK;
}

/* What was found in the span becomes the start in the whole space. When it was cut short, the state
 * saved there is the one to go on from, and none is saved here. */
static bdml_status go_on_whole(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                               bdml_stage *stage, bdml_solve_result *r)
{
    bdml_solve_result first = *r;
    bdml_solve_settings warm = *s;
    bool cut = bdml_stop_cut(first.stop);

    memset(r, 0, sizeof *r);
    stage->whole = true;
    stage->proven = first.proof != BDML_PROOF_NONE;
    stage->iterations = first.iterations;
    stage->seconds = first.seconds;
    stage->rank = first.rank;
    stage->C = first.C;
    stage->C0 = first.C0;
    stage->stop = first.stop;
    stage->history = first.history;
    warm.warm_metric = first.m;
    warm.warm_multiplier = first.y;
    warm.resume = NULL;
    if (cut) warm.save = NULL;
    bdml_status status = solve_whole(h, p, &warm, stage, r);
    r->cut = r->cut || cut;
    bdml_solve_result_free(&first);
    return status;
}

/* The hulls have no form reduced to the data span: the problem in the whole space. */
static bdml_status unreduced(bdml_handle *h, bdml_problem **p, const bdml_solve_settings *s)
{
    bdml_problem *own = *p;
    if (s->set != BDML_SET_HULL && s->set != BDML_SET_RANK) return BDML_OK;
    if (s->rank > own->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rank must be at most the dimension %d, got %d",
                         own->d, s->rank);
    if (own->r == own->d) return BDML_OK;
    BDML_TRY(bdml_problem_unreduced(h, own));
    *p = own->whole;
    return BDML_OK;
}

static bdml_status solve_stages(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                bdml_solve_result *r)
{
    bdml_stage stage = {0};
    BDML_TRY(unreduced(h, &p, s));
    if (s->save || s->resume) bdml_identity_make(p, s, stage.identity);
    if (s->resume) BDML_TRY(bdml_state_stage(h, s->resume, &stage));
    if (stage.whole) return solve_whole(h, p, s, &stage, r);
    BDML_TRY(solve_on(h, p, s, &stage, r));
    return p->exact ? BDML_OK : go_on_whole(h, p, s, &stage, r);
}

bdml_status bdml_problem_solve(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                               bdml_solve_result *r)
{
    memset(r, 0, sizeof *r);
    BDML_TRY(bdml_check_settings(h, s));
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = solve_stages(h, p, s, r);
    bdml_la_leave(h);
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}

bdml_status bdml_problem_collapse(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  double *C0)
{
    bdml_engine e;
    BDML_TRY(bdml_check_settings(h, s));
    BDML_TRY(unreduced(h, &p, s));
    BDML_TRY(bdml_engine_init(&e, h, p, s));
    bdml_status status = bdml_la_enter(h);
    if (status == BDML_OK) {
        status = bdml_collapse_threshold(&e, C0);
        bdml_la_leave(h);
    }
    bdml_engine_free(&e);
    return status;
}
