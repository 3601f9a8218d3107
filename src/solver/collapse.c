/* collapse.c - the threshold under which the soft form is best at M = 0 (eq. 21):
 *
 *     C0 = min over the cone, <B,M> > 0, of <G,M>/<B,M>,   B = (1/m) sum_t w_t phi'(mu_t) A_t,
 *
 * since the slope of the objective at 0 in direction M is <G,M> - C <B,M>. Dinkelbach's iteration:
 * minimise <G - C B, M>, put C at the quotient there; it falls to C0 faster than linearly. */
#include "solver/engine.h"

static const double SAME = 1e-13; /* relative change at which C has settled */

/* Minimise <A,M> over unit trace; A is destroyed. M out; returns the value. */
static bdml_status extreme(bdml_engine *e, const bdml_spectral *cone, double *A, double *M,
                           double *value)
{
    if (e->p->diagonal) {
        *value = bdml_spectral_minimise_any(cone, A, 1.0, M, e->order, e->sorted);
        return BDML_OK;
    }
    BDML_TRY(bdml_la_eigh(e->h, e->r, A, e->lambda, true, &e->eigen));
    *value = cone->ops->minimise(cone, e->lambda, 1.0, e->l);
    int r = e->r;
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) COL(e->scaled, r, j)[i] = e->l[j] * COL(A, r, j)[i];
    bdml_la_gemm_tiled(e->h, 'N', 'T', r, r, r, 1.0, e->scaled, r, A, r, 0.0, M, r);
    bdml_la_mirror(r, M, r);
    return BDML_OK;
}

bdml_status bdml_collapse_threshold(bdml_engine *e, double *C0)
{
    enum { STEPS = 60 };
    const bdml_constraints *c = e->p->c;
    bool squared = e->s->loss == BDML_LOSS_SQUARED_HINGE;
    bdml_spectral cone = e->set;
    double value, C = INFINITY, *B = e->S;

    if (!cone.ops->is_cone) cone.ops = &bdml_psd_ball_ops;
    cone.trace = 1.0;
    for (int64_t t = 0; t < e->m; t++) {
        double slope = squared ? 2.0 * e->s->margin * (c->margin ? c->margin[t] : 1.0) : 1.0;
        e->y_try[t] = slope * (c->weight ? c->weight[t] : 1.0) / (double)e->m;
    }
    if (e->p->diagonal)
        bdml_margin_adjoint_diag(e->p->op, e->y_try, -1, NULL, B);
    else
        bdml_margin_adjoint(e->p->op, e->y_try, -1, NULL, B);

    for (size_t i = 0; i < e->size; i++) e->T[i] = -B[i];
    BDML_TRY(extreme(e, &cone, e->T, e->M, &value));
    for (int step = 0; step < STEPS && value < 0.0; step++) {
        double b = bdml_vec_dot(e->size, B, e->M), next = bdml_vec_dot(e->size, e->p->g, e->M) / b;
        if (!(b > 0.0) || !(next < C * (1.0 - SAME))) break;
        C = next;
        memcpy(e->Z, e->M, sizeof *e->M * e->size); /* the metric that gave C */
        for (size_t i = 0; i < e->size; i++) e->T[i] = e->p->g[i] - C * B[i];
        BDML_TRY(extreme(e, &cone, e->T, e->M, &value));
    }
    memcpy(e->M, e->Z, sizeof *e->M * e->size);
    *C0 = C;
    return BDML_OK;
}
