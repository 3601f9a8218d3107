/* collapse.c - the threshold under which the soft form is best at M = 0 (eq. 21):
 *
 *     C0 = min over the cone, <B,M> > 0, of <G,M>/<B,M>,   B = (1/m) sum_t w_t phi'(mu_t) A_t,
 *
 * since the slope of the objective at 0 in direction M is <G,M> - C <B,M>. Dinkelbach's iteration:
 * minimise <G - C B, M>, put C at the quotient there; it falls to C0 faster than linearly. */
#include "solver/engine.h"

static const double SAME = 1e-13; /* relative change at which C has settled */

/* Minimise <A,M> over unit trace; A is destroyed. M out; returns the value. */
static bdml_status extreme(bdml_matrices *X, const bdml_spectral *cone, double *A, double *M,
                           double *value)
{
    BDML_TRY(X->ops->minimise(X, cone, 1.0, A, true, value));
    X->ops->compose(X, A, X->l, M);
    return BDML_OK;
}

/* w_t phi'(mu_t) / m */
static void slopes(const bdml_operator *A, const bdml_solve_settings *s, double *y)
{
    const bdml_constraints *c = A->c;
    bool squared = s->loss == BDML_LOSS_SQUARED_HINGE;
    bdml_operator_margins(A, 2.0 * s->margin, y);
    if (!squared) bdml_cvec_fill(&A->space, 1.0, y);
    if (c->weight) bdml_cvec_product(&A->space, 1.0, c->weight, y, y);
    bdml_cvec_divide(&A->space, y, A->space.total, y);
}

bdml_status bdml_collapse_threshold(bdml_engine *e, double *C0)
{
    enum { STEPS = 60 };
    const bdml_operator *A = &e->p->A;
    bdml_iterate *at = &e->at;
    bdml_spectral cone = e->scaled.set;
    size_t size = e->X.size;
    double value, C = INFINITY, *B = at->S;

    if (!cone.ops->is_cone) cone.ops = &bdml_psd_ball_ops;
    cone.trace = 1.0;
    slopes(A, e->s, e->dual.y_try);
    bdml_operator_adjoint(A, e->dual.y_try, B);

    for (size_t i = 0; i < size; i++) at->T[i] = -B[i];
    BDML_TRY(extreme(&e->X, &cone, at->T, at->M, &value));
    for (int step = 0; step < STEPS && value < 0.0; step++) {
        double b = bdml_vec_dot(size, B, at->M), next = bdml_vec_dot(size, A->g, at->M) / b;
        if (!(b > 0.0) || !(next < C * (1.0 - SAME))) break;
        C = next;
        memcpy(at->Z, at->M, sizeof *at->M * size); /* the metric that gave C */
        for (size_t i = 0; i < size; i++) at->T[i] = A->g[i] - C * B[i];
        BDML_TRY(extreme(&e->X, &cone, at->T, at->M, &value));
    }
    memcpy(at->M, at->Z, sizeof *at->M * size);
    *C0 = C;
    return BDML_OK;
}
