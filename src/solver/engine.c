/* engine.c - a solve from start to end: workspace, start point, outer loop, result in user's units. */
#include "solver/engine.h"

#include <stdlib.h>

/* ---- settings ----------------------------------------------------------------------------------------- */

bdml_solve_settings bdml_solve_defaults(void)
{
    return (bdml_solve_settings){.set = BDML_SET_DISTORTION,
                                 .K = 10.0,
                                 .trace = INFINITY,
                                 .margin = 1.0,
                                 .loss = BDML_LOSS_SQUARED_HINGE,
                                 .softness = 5.0,
                                 .gap = 1e-3,
                                 .max_iter = 100000};
}

bdml_solve_settings bdml_solve_from_options(const bdml_handle *h)
{
    bdml_solve_settings s = bdml_solve_defaults();
    s.K = bdml_opt_real(h, BDML_OPT_DISTORTION);
    s.trace = bdml_opt_real(h, BDML_OPT_TRACE) > 0.0 ? bdml_opt_real(h, BDML_OPT_TRACE) : INFINITY;
    s.margin = bdml_opt_real(h, BDML_OPT_MARGIN);
    s.hard = bdml_opt_int(h, BDML_OPT_HARD) != 0;
    s.loss = (bdml_loss)bdml_opt_int(h, BDML_OPT_LOSS);
    s.softness = bdml_opt_real(h, BDML_OPT_SOFTNESS);
    s.gap = bdml_opt_real(h, BDML_OPT_GAP);
    s.max_iter = bdml_opt_int(h, BDML_OPT_MAX_ITER);
    s.time_limit = bdml_opt_real(h, BDML_OPT_TIME_LIMIT);
    return s;
}

static bdml_status check_settings(bdml_handle *h, const bdml_solve_settings *s)
{
    if (s->set == BDML_SET_DISTORTION && !(s->K >= 1.0 && s->K <= 1e15))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "distortion must be from 1 to 1e15, got %g", s->K);
    if (!(s->trace > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "trace must be positive, got %g", s->trace);
    if (s->set == BDML_SET_PSD_SIMPLEX && !isfinite(s->trace))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a fixed trace must be finite, got %g", s->trace);
    if (!(s->margin > 0.0 && isfinite(s->margin)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "margin must be positive and finite, got %g",
                         s->margin);
    if (!s->hard && !(s->C > 0.0) && !(s->softness > 0.0 && isfinite(s->softness)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "softness must be positive and finite, got %g",
                         s->softness);
    if (!(s->gap > 0.0 && s->gap < 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "gap must be above 0 and below 1, got %g", s->gap);
    if (s->max_iter < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "max-iter must be at least 1, got %lld",
                         (long long)s->max_iter);
    if (!(s->time_limit >= 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "time-limit must be at least 0, got %g",
                         s->time_limit);
    return BDML_OK;
}

/* ---- workspace ------------------------------------------------------------------------------------------ */

static bdml_spectral make_set(const bdml_problem *p, const bdml_solve_settings *s)
{
    bdml_spectral whole;
    switch (s->set) {
    case BDML_SET_PSD_BALL:
        whole = bdml_spectral_psd_ball(p->d, s->trace);
        break;
    case BDML_SET_PSD_SIMPLEX:
        whole = bdml_spectral_psd_simplex(p->d, s->trace);
        break;
    default:
        whole = bdml_spectral_distortion(p->d, s->K, s->trace);
    }
    return bdml_spectral_reduce(&whole, p->r);
}

static bdml_status allocate_active(bdml_engine *e)
{
    bdml_status status = BDML_OK;
    bdml_active *a = &e->active;
    BDML_NEW(e->h, a->t, e->m);
    double **arrays[] = {&a->w, &a->b,     &a->q,   &a->u,   &a->y0,
                         &a->v, &a->v_old, &a->v_z, &a->y_z, &a->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) BDML_NEW(e->h, *arrays[i], e->m);
done:
    return status;
}

bdml_status bdml_engine_init(bdml_engine *e, bdml_handle *h, bdml_problem *p,
                             const bdml_solve_settings *s)
{
    bdml_status status = BDML_OK;
    memset(e, 0, sizeof *e);
    e->h = h;
    e->p = p;
    e->s = s;
    e->r = p->r;
    e->size = p->size;
    e->m = p->m;
    e->started = bdml_now();
    e->set = make_set(p, s);
    e->upper = e->stall_gap = INFINITY;
    e->lower = -INFINITY;
    e->interior_slack = 0.0;
    e->aim = 1.0;
    e->step_inv = 1.0;
    double **matrices[] = {&e->g, &e->M, &e->M_old, &e->Z, &e->S, &e->T, &e->best, &e->interior};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        BDML_NEW(h, *matrices[i], e->size);
    double **vectors[] = {&e->w, &e->b,     &e->q,      &e->u,          &e->v,
                          &e->y, &e->y_try, &e->best_y, &e->interior_v, &e->proof_y};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(h, *vectors[i], e->m);
    BDML_NEW(h, e->lambda, e->r);
    BDML_NEW(h, e->l, e->r);
    BDML_NEW(h, e->sorted, e->r);
    BDML_NEW(h, e->order, e->r);
    BDML_NEW(h, e->listed, e->m);
    BDML_NEW(h, e->scaled, e->size);
    BDML_GO(allocate_active(e));
    BDML_GO(bdml_newton_init(e));
    if (!p->diagonal) BDML_GO(bdml_eigh_ws_init(h, e->r, &e->eigen));
done:
    if (status != BDML_OK) bdml_engine_free(e);
    return status;
}

void bdml_engine_free(bdml_engine *e)
{
    bdml_active *a = &e->active;
    double *arrays[] = {e->g,      e->M,        e->M_old,  e->Z,      e->S,          e->T,
                        e->best,   e->interior, e->w,      e->b,      e->q,          e->u,
                        e->v,      e->y,        e->y_try,  e->best_y, e->interior_v, e->proof_y,
                        e->lambda, e->l,        e->sorted, e->scaled, a->w,          a->b,
                        a->q,      a->u,        a->y0,     a->v,      a->v_old,      a->v_z,
                        a->y_z,    a->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(e->order);
    free(e->listed);
    free(a->t);
    bdml_newton_free(&e->newton);
    bdml_eigh_ws_free(&e->eigen);
    memset(e, 0, sizeof *e);
}

/* ---- start ------------------------------------------------------------------------------------------------ */

/* Slope of the soft objective along t -> t M. */
static double slope_along(const bdml_engine *e, double t, double f)
{
    double slope = f;
    for (int64_t k = 0; k < e->m; k++)
        slope -= e->v[k] * bdml_inner_multiplier(e, 0.0, e->b[k], e->q[k], e->u[k], t * e->v[k]);
    return slope;
}

/* Best multiple of M for the soft form, by doubling and bisection on the slope; 0 when M = 0 is best. The
 * hinge has no smooth slope: it is taken with a small penalty. */
static double best_multiple(const bdml_engine *e)
{
    double f = bdml_vec_dot(e->size, e->g, e->M), lo = 0.0, hi = 1.0;
    if (slope_along(e, 0.0, f) >= 0.0) return 0.0;
    while (slope_along(e, hi, f) < 0.0 && hi < 1e12) lo = hi, hi *= 2.0;
    for (int step = 0; step < 30; step++) {
        double t = 0.5 * (lo + hi);
        if (slope_along(e, t, f) < 0.0)
            lo = t;
        else
            hi = t;
    }
    return hi;
}

static void multiply(bdml_engine *e, double t)
{
    for (size_t i = 0; i < e->size; i++) e->M[i] *= t;
}

/* The identity at a sensible size: margins met where it can meet them all, else on average. */
static void start_hard(bdml_engine *e)
{
    double most = 0.0, sum = 0.0;
    bool all = true;
    for (int64_t t = 0; t < e->m; t++) {
        if (e->v[t] > 0.0)
            most = BDML_MAX(most, e->b[t] / e->v[t]);
        else if (e->b[t] > 0.0)
            all = false;
        sum += fabs(e->v[t]) / (double)e->m;
    }
    multiply(e, all && most > 0.0 ? most : sum > 0.0 ? 1.0 / sum : 1.0);
}

/* M: the warm start, the identity, or for a soft form that collapses along the identity, the direction
 * of C0 (`direction`, in Z). It is projected, so that it is a member with known eigenvalues. */
static bdml_status start_point(bdml_engine *e, double *ws)
{
    const bdml_solve_settings *s = e->s;
    if (s->warm_metric) {
        bdml_reduce_metric(e->p, s->warm_metric, e->M, ws);
        multiply(e, e->unit_m);
    } else {
        bdml_engine_identity(e, 1.0, e->M);
        bdml_engine_forward(e, e->M, e->v);
        if (s->hard) {
            start_hard(e);
        } else {
            double t = best_multiple(e);
            if (t <= 0.0) {
                memcpy(e->M, e->Z, sizeof *e->M * e->size);
                bdml_engine_forward(e, e->M, e->v);
                t = best_multiple(e);
            }
            multiply(e, t);
        }
    }
    memcpy(e->T, e->M, sizeof *e->M * e->size);
    return bdml_engine_project(e, e->T, e->M);
}

/* rho, and y of a warm start. With rows and G of norm one, 1/r is a cautious rho. */
static void start_dual(bdml_engine *e)
{
    const bdml_solve_settings *s = e->s;
    double rho = 1.0 / e->r, y2 = 0.0, b2 = 0.0;
    bool smooth = !s->hard && s->loss == BDML_LOSS_SQUARED_HINGE;
    for (int64_t t = 0; t < e->m && s->warm_multiplier && !smooth; t++) {
        double y = s->warm_multiplier[t] / (e->unit_y * e->w[t]);
        e->y[t] = BDML_MIN(BDML_MAX(y, 0.0), e->u[t]);
        y2 += e->y[t] * e->y[t];
        if (e->y[t] > 0.0) b2 += e->b[t] * e->b[t];
    }
    if (b2 > 0.0) rho = BDML_MAX(rho, sqrt(y2 / b2));
    e->penalty_inv = smooth ? 0.0 : 1.0 / rho;
    e->step_inv = smooth ? 1.0 : 10.0 * rho;
}

static bdml_status objective_density(bdml_engine *e)
{
    memcpy(e->T, e->g, sizeof *e->g * e->size);
    BDML_TRY(bdml_engine_eigenvalues(e, e->T, e->lambda));
    e->gamma = e->set.ops->density(&e->set, e->lambda);
    return BDML_OK;
}

/* ---- result ------------------------------------------------------------------------------------------------ */

typedef struct weighted {
    double weight;
    int64_t t;
} weighted;

static int heavier(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->t > y->t) - (x->t < y->t);
}

/* Constraints of the proof by their share of b'y. */
static bdml_status rank_constraints(bdml_engine *e, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    weighted *list = NULL;
    BDML_NEW(e->h, list, e->m);
    for (int64_t t = 0; t < e->m; t++)
        if (e->proof_y[t] > 0.0) list[r->contradicting++] = (weighted){e->b[t] * e->proof_y[t], t};
    qsort(list, (size_t)r->contradicting, sizeof *list, heavier);
    BDML_NEW(e->h, r->important, r->contradicting);
    for (int64_t k = 0; k < r->contradicting; k++) r->important[k] = list[k].t;
done:
    free(list);
    return status;
}

/* kappa and trace of `best`, and M in the user's space and units. */
static bdml_status export_metric(bdml_engine *e, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    const bdml_problem *p = e->p;
    double *ws = NULL;
    size_t whole = p->diagonal ? (size_t)p->d : (size_t)p->d * (size_t)p->d;

    memcpy(e->T, e->best, sizeof *e->best * e->size);
    BDML_GO(bdml_engine_eigenvalues(e, e->T, e->lambda));
    double fill = bdml_spectral_fill(&e->set, e->lambda);
    double low = e->lambda[0], high = e->lambda[e->r - 1], sum = e->set.extra * fill;
    for (int i = 0; i < e->r; i++) sum += e->lambda[i];
    if (e->set.extra > 0) low = BDML_MIN(low, fill), high = BDML_MAX(high, fill);
    r->trace = sum / e->unit_m;
    r->kappa = high <= 0.0 ? 1.0 : low > 0.0 ? high / low : INFINITY;
    r->collapsed = !e->s->hard && high <= 0.0;

    BDML_NEW(e->h, r->m, whole);
    BDML_NEW(e->h, ws, (size_t)p->d * (size_t)p->r);
    for (size_t i = 0; i < e->size; i++) e->T[i] = e->best[i] / e->unit_m;
    bdml_expand_metric(p, e->T, fill / e->unit_m, r->m, ws);
done:
    free(ws);
    return status;
}

static bdml_status export_result(bdml_engine *e, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    const double *y = e->proof != BDML_PROOF_NONE ? e->proof_y : e->best_y;

    r->d = e->p->d;
    r->rank = e->r;
    r->diagonal = e->p->diagonal;
    r->stop = e->stop;
    r->proof = e->proof;
    r->proof_trace = e->proof_trace / e->unit_m;
    r->C = e->C;
    r->C0 = e->C0;
    r->upper = e->upper * e->unit_f;
    r->lower = e->lower * e->unit_f;
    r->gap = bdml_engine_gap(e);
    r->kappa = r->trace = NAN;
    r->outcome = e->proof != BDML_PROOF_NONE ? BDML_INFEASIBLE
                 : r->gap <= e->s->gap       ? BDML_OPTIMAL
                                             : BDML_STOPPED;
    if (e->proof != BDML_PROOF_NONE) {
        r->lower = r->upper = r->gap = INFINITY;
        r->stop = BDML_STOP_DONE;
    }
    BDML_NEW(e->h, r->y, e->m);
    for (int64_t t = 0; t < e->m; t++) r->y[t] = e->unit_y * e->w[t] * y[t];
    if (e->proof != BDML_PROOF_NONE)
        BDML_GO(rank_constraints(e, r));
    else if (e->have_best)
        BDML_GO(export_metric(e, r));
done:
    r->iterations = e->iterations;
    r->seconds = bdml_now() - e->started;
    return status;
}

void bdml_solve_result_free(bdml_solve_result *r)
{
    free(r->m);
    free(r->y);
    free(r->important);
    memset(r, 0, sizeof *r);
}

/* ---- solve -------------------------------------------------------------------------------------------------- */

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
    start_dual(e);
    if (proven) BDML_GO(bdml_infeasible_test(e, e->y));
    BDML_GO(start_point(e, ws));
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
    BDML_GO(export_result(&e, r));
    bdml_table_footer(&e, r);
done:
    free(ws);
    bdml_engine_free(&e);
    return status;
}

/* The reduction left out a little (columns that depend on each other only to the digits of a file): go on
 * in the whole space from what was found. One look there is mostly all it takes, and what is reported then
 * holds for the data as they are. */
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
    BDML_TRY(check_settings(h, s));
    bdml_la_enter();
    bdml_status status = solve_on(h, p, s, false, r);
    if (status == BDML_OK && !p->exact) status = solve_whole(h, p, s, r);
    bdml_la_leave();
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}

bdml_status bdml_problem_collapse(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  double *C0)
{
    bdml_engine e;
    BDML_TRY(check_settings(h, s));
    BDML_TRY(bdml_engine_init(&e, h, p, s));
    bdml_la_enter();
    bdml_status status = bdml_collapse_threshold(&e, C0);
    bdml_la_leave();
    bdml_engine_free(&e);
    return status;
}
