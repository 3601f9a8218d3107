/* start.c - where a solve begins: a metric of the right size, multipliers, penalty. */
#include "solver/engine.h"

/* Slope of the soft objective along t -> t M. */
static double slope_along(const bdml_engine *e, double t, double f)
{
    double slope = f;
    for (int64_t k = 0; k < e->m; k++)
        slope -= e->v[k] * bdml_inner_multiplier(e, 0.0, e->b[k], e->q[k], e->u[k], t * e->v[k]);
    return slope;
}

/* Best multiple of M for the soft form, by doubling and bisection on the slope; 0 when M = 0 is
 * best. The hinge has no smooth slope: it is taken with a small penalty. */
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

/* M: the warm start, the identity, or for a soft form that collapses along the identity, the
 * direction of C0 (`direction`, in Z). It is projected, so that it is a member with known
 * eigenvalues. */
bdml_status bdml_start_point(bdml_engine *e, double *ws)
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
void bdml_start_dual(bdml_engine *e)
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
    e->warm = s->warm_multiplier != NULL;
    e->penalty_inv = smooth ? 0.0 : 1.0 / rho;
    e->step_inv = smooth ? 1.0 : 10.0 * rho;
}
