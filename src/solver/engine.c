/* engine.c - a solve from start to end: weight, scale, start point, outer loop, result; and again
 * in the whole space where the reduction was not exact. */
#include "solver/engine.h"

#include <stdlib.h>

static bdml_status objective_density(bdml_engine *e)
{
    memcpy(e->T, e->g, sizeof *e->g * e->size);
    BDML_TRY(bdml_engine_eigenvalues(e, e->T, e->lambda));
    e->gamma = e->set.ops->density(&e->set, e->lambda);
    return BDML_OK;
}

/* A constraint between identical points, or identical pairs, asks 0 >= mu. */
static void trivial_proof(bdml_engine *e)
{
    if (!e->s->hard) return;
    for (int64_t t = 0; t < e->m; t++)
        if (e->p->norm[t] == 0.0 && e->b[t] > 0.0) {
            e->proof = BDML_PROOF_CONE;
            e->proof_trace = INFINITY;
            e->proof_y[t] = 1.0 / e->b[t];
            return;
        }
}

static bdml_status set_weight(bdml_engine *e)
{
    if (e->s->hard) return BDML_OK;
    BDML_TRY(bdml_collapse_threshold(e, &e->C0));
    e->C = e->s->C > 0.0 ? e->s->C : e->s->softness * e->C0;
    if (!isfinite(e->C))
        return bdml_fail(
            e->h, BDML_ERR_DATA,
            "M = 0 is best for every softness: under no metric of this distortion are impostors "
            "farther than targets on the whole; raise the distortion or mine other constraints");
    return BDML_OK;
}

static bdml_status run(bdml_engine *e, double *ws, bool proven)
{
    bdml_phase previous = bdml_phase_enter(e->h, BDML_PHASE_SOLVE);
    bdml_status status = BDML_OK;
    BDML_GO(set_weight(e));
    memcpy(e->Z, e->M, sizeof *e->M * e->size); /* direction of C0 */
    bdml_scale(e);
    trivial_proof(e);
    BDML_GO(objective_density(e));
    bdml_start_dual(e);
    if (proven) BDML_GO(bdml_infeasible_test(e, e->y));
    BDML_GO(bdml_start_point(e, ws));
    bdml_table_header(e);
    if (e->proof == BDML_PROOF_NONE) BDML_GO(bdml_augmented_run(e));
done:
    bdml_phase_leave(e->h, previous);
    return status;
}

/* proven: the multipliers of the warm start are a proof, to be tested first. */
static bdml_status solve_on(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                            bool proven, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    bdml_engine e;
    double *ws = NULL;

    BDML_TRY(bdml_engine_init(&e, h, p, s));
    BDML_NEW(h, ws, (size_t)p->d * (size_t)p->r);
    BDML_GO(run(&e, ws, proven));
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
                               bdml_solve_result *r)
{
    bdml_solve_result first = *r;
    bdml_solve_settings warm = *s;

    memset(r, 0, sizeof *r);
    bdml_status status = BDML_OK;
    if (!p->whole)
        BDML_GO(bdml_problem_build(h, p->n, p->d, p->x, p->ld, p->c, p->objective, p->diagonal,
                                   false, &p->whole));
    warm.warm_metric = first.m;
    warm.warm_multiplier = first.y;
    warm.max_iter = BDML_MAX(s->max_iter - first.iterations, 1);
    if (!s->hard) warm.C = first.C;
    if (s->time_limit > 0.0) warm.time_limit = BDML_MAX(s->time_limit - first.seconds, 1e-3);
    BDML_GO(solve_on(h, p->whole, &warm, first.proof != BDML_PROOF_NONE, r));
    r->iterations += first.iterations;
    r->seconds += first.seconds;
    r->rank = first.rank;
    if (!s->hard) r->C0 = first.C0;
    if (first.stop != BDML_STOP_DONE && r->outcome == BDML_STOPPED) r->stop = first.stop;
done:
    bdml_solve_result_free(&first);
    return status;
}

bdml_status bdml_problem_solve(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                               bdml_solve_result *r)
{
    memset(r, 0, sizeof *r);
    BDML_TRY(bdml_check_settings(h, s));
    bdml_la_enter(h);
    bdml_status status = solve_on(h, p, s, false, r);
    if (status == BDML_OK && !p->exact) status = solve_whole(h, p, s, r);
    bdml_la_leave(h);
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}

bdml_status bdml_problem_collapse(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  double *C0)
{
    bdml_engine e;
    BDML_TRY(bdml_check_settings(h, s));
    BDML_TRY(bdml_engine_init(&e, h, p, s));
    bdml_la_enter(h);
    bdml_status status = bdml_collapse_threshold(&e, C0);
    bdml_la_leave(h);
    bdml_engine_free(&e);
    return status;
}
