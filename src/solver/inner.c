/* inner.c - one step of accelerated projected gradient (FISTA with adaptive restart) on
 *
 *     F(M) = <G,M> + sum_t psi_t(<A_t,M>)     over the spectral set,
 *     psi_t(v) = max over 0 <= y <= u_t of  y (b_t - v) - q_t y^2/2 - (y - y0_t)^2/(2 rho)   (16)
 *
 * which is the augmented Lagrangian of the hard form (u infinite, q 0), that of the hinge (u =
 * c_t, q 0), and the squared hinge itself (q = 1/(2 c_t), 1/rho = 0). Its gradient is G -
 * A*y(v). */
#include "solver/engine.h"

/* A wasted projection costs a whole step, a timid step little: grow L by much, lower it slowly. */
static const double RAISE = 1.7, LOWER = 0.97;

/* 1.7^40 = 1e9: what still fails then is rounding, not curvature. */
enum { MAX_TRIES = 40 };

/* Unclipped maximiser s of psi; y = clip(s, 0, u). */
static inline double slope_at(const bdml_engine *e, double y0, double b, double q, double v)
{
    return (y0 * e->penalty_inv + b - v) / (e->penalty_inv + q);
}

static inline double clip(double s, double u)
{
    return s <= 0.0 ? 0.0 : s < u ? s : u;
}

double bdml_inner_multiplier(const bdml_engine *e, double y0, double b, double q, double u,
                             double v)
{
    return clip(slope_at(e, y0, b, q, v), u);
}

static void forward(bdml_engine *e, const double *M, double *v)
{
    bdml_active *a = &e->active;
    int64_t count = a->all ? -1 : a->count;
    if (e->p->diagonal)
        bdml_margin_forward_diag(e->p->op, M, count, a->all ? NULL : a->t, v);
    else
        bdml_margin_forward(e->p->op, M, count, a->all ? NULL : a->t, v);
    for (int64_t k = 0; k < a->count; k++) v[k] *= a->w[k];
}

/* S = g - A*y_z */
static void gradient(bdml_engine *e, const double *g)
{
    bdml_active *a = &e->active;
    int64_t count = a->all ? -1 : a->count;
    for (int64_t k = 0; k < a->count; k++) {
        a->y_z[k] = bdml_inner_multiplier(e, a->y0[k], a->b[k], a->q[k], a->u[k], a->v_z[k]);
        a->scratch[k] = a->w[k] * a->y_z[k];
    }
    if (e->p->diagonal)
        bdml_margin_adjoint_diag(e->p->op, a->scratch, count, a->all ? NULL : a->t, e->S);
    else
        bdml_margin_adjoint(e->p->op, a->scratch, count, a->all ? NULL : a->t, e->S);
    for (size_t i = 0; i < e->size; i++) e->S[i] = g[i] - e->S[i];
}

/* sum_t psi_t(v) - psi_t(v_z) + y_z (v - v_z): how far F lies above its tangent at Z. With P(s)
 * = integral of clip from 0 to s, P(s) - P(z) - y_z (s - z) = (y - y_z) ((s - y) + (y - y_z)/2):
 * nothing cancels when v is near v_z. */
static double excess_over_tangent(const bdml_engine *e, const double *v)
{
    const bdml_active *a = &e->active;
    double sum = 0.0;
    for (int64_t k = 0; k < a->count; k++) {
        double s = slope_at(e, a->y0[k], a->b[k], a->q[k], v[k]);
        double y = clip(s, a->u[k]), move = y - a->y_z[k];
        sum += move * ((s - y) + 0.5 * move) * (e->penalty_inv + a->q[k]);
    }
    return sum;
}

void bdml_inner_restart(bdml_engine *e)
{
    bdml_active *a = &e->active;
    memcpy(e->Z, e->M, sizeof *e->M * e->size);
    memcpy(e->M_old, e->M, sizeof *e->M * e->size);
    memcpy(a->v_z, a->v, sizeof *a->v * (size_t)a->count);
    memcpy(a->v_old, a->v, sizeof *a->v * (size_t)a->count);
    e->momentum = 1.0;
}

/* Z = M + beta (M - M_old), or Z = M when the step turns against the momentum (O'Donoghue and
 * Candes 2015, gradient scheme). The values at Z follow by linearity. */
static void extrapolate(bdml_engine *e)
{
    bdml_active *a = &e->active;
    double turn = 0.0;
    for (size_t i = 0; i < e->size; i++) turn += (e->Z[i] - e->M[i]) * (e->M[i] - e->M_old[i]);
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * e->momentum * e->momentum));
    double beta = (e->momentum - 1.0) / next;
    e->momentum = next;
    if (turn > 0.0) {
        e->momentum = 1.0;
        beta = 0.0;
    }
    for (size_t i = 0; i < e->size; i++) e->Z[i] = e->M[i] + beta * (e->M[i] - e->M_old[i]);
    for (int64_t k = 0; k < a->count; k++) a->v_z[k] = a->v[k] + beta * (a->v[k] - a->v_old[k]);
}

bdml_status bdml_inner_step(bdml_engine *e, const double *g)
{
    bdml_active *a = &e->active;
    double d2 = 0.0, *swap;

    gradient(e, g);
    swap = e->M_old, e->M_old = e->M, e->M = swap;
    swap = a->v_old, a->v_old = a->v, a->v = swap;
    for (int tries = 0;; tries++) {
        for (size_t i = 0; i < e->size; i++) e->T[i] = e->Z[i] - e->S[i] / e->step_inv;
        BDML_TRY(bdml_engine_project(e, e->T, e->M));
        forward(e, e->M, a->v);
        d2 = bdml_vec_distance2(e->size, e->M, e->Z);
        double excess = excess_over_tangent(e, a->v);
        if (excess <= 0.5 * e->step_inv * d2 || tries == MAX_TRIES) break;
        e->step_inv *= RAISE;
    }
    e->residual = e->step_inv * sqrt(d2);
    e->step_inv *= LOWER;
    extrapolate(e);
    return BDML_OK;
}
