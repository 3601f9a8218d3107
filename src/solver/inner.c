/* inner.c - one step of accelerated projected gradient (FISTA with adaptive restart) on
 *
 *     F(M) = <G,M> + sum_t psi_t(<A_t,M>)     over the spectral set,
 * psi_t the terms of eq. 16 (terms.h),
 * which is the augmented Lagrangian of the hard form (u infinite, q 0), that of the hinge (u =
 * c_t, q 0), and the squared hinge itself (q = 1/(2 c_t), 1/rho = 0). Its gradient is G -
 * A*y(v). */
#include "solver/engine.h"

/* A wasted projection costs a whole step, a timid step little: grow L by much, lower it slowly. */
static const double RAISE = 1.7, LOWER = 0.97;
/* The squared hinge begins with an L that is a guess: where the curvature met along a step is below the share FLAT of
 * it, L is lowered by more. Elsewhere L follows rho. */
static const double FLAT = 0.3, LOWER_FLAT = 0.6;

/* 1.7^40 = 1e9: what still fails then is rounding, not curvature. */
enum { MAX_TRIES = 40 };

void bdml_inner_restart(bdml_engine *e)
{
    bdml_iterate *at = &e->at;
    bdml_active *a = &e->active;
    memcpy(at->Z, at->M, sizeof *at->M * e->X.size);
    memcpy(at->M_old, at->M, sizeof *at->M * e->X.size);
    bdml_cvec_copy(&a->terms.space, a->v, a->v_z);
    bdml_cvec_copy(&a->terms.space, a->v, a->v_old);
    at->momentum = 1.0;
}

/* Z = M + beta (M - M_old), or Z = M when the step turns against the momentum (O'Donoghue and
 * Candes 2015, gradient scheme). The values at Z follow by linearity. */
static void extrapolate(size_t size, bdml_iterate *at, bdml_active *a)
{
    double turn = 0.0;
    for (size_t i = 0; i < size; i++) turn += (at->Z[i] - at->M[i]) * (at->M[i] - at->M_old[i]);
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * at->momentum * at->momentum));
    double beta = (at->momentum - 1.0) / next;
    at->momentum = next;
    if (turn > 0.0) {
        at->momentum = 1.0;
        beta = 0.0;
    }
    for (size_t i = 0; i < size; i++) at->Z[i] = at->M[i] + beta * (at->M[i] - at->M_old[i]);
    bdml_cvec_extrapolate(&a->terms.space, beta, a->v, a->v_old, a->v_z);
}

bdml_status bdml_inner_step(bdml_engine *e, const double *g)
{
    bdml_iterate *at = &e->at;
    bdml_active *a = &e->active;
    size_t size = e->X.size;
    double penalty = e->dual.penalty_inv, d2 = 0.0, excess = 0.0, *swap;

    bdml_terms_multipliers(&a->terms, penalty, 1.0, a->y0, a->v_z, a->y_z);
    bdml_active_adjoint(e, g, a->y_z, at->S);
    swap = at->M_old, at->M_old = at->M, at->M = swap;
    swap = a->v_old, a->v_old = a->v, a->v = swap;
    for (int tries = 0;; tries++) {
        for (size_t i = 0; i < size; i++) at->T[i] = at->Z[i] - at->S[i] / at->step_inv;
        BDML_TRY(bdml_engine_project(e, at->T, at->M));
        bdml_active_forward(e, at->M, a->v);
        d2 = bdml_vec_distance2(size, at->M, at->Z);
        excess = bdml_terms_excess(&a->terms, penalty, a->y0, a->y_z, a->v);
        if (excess <= 0.5 * at->step_inv * d2 || tries == MAX_TRIES) break;
        at->step_inv *= RAISE;
    }
    at->residual = at->step_inv * sqrt(d2);
    bool flat = penalty == 0.0 && excess > 0.0 && excess < FLAT * 0.5 * at->step_inv * d2;
    at->step_inv *= flat ? LOWER_FLAT : LOWER;
    extrapolate(size, at, a);
    return BDML_OK;
}
