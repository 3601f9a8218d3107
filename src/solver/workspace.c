/* workspace.c - everything a solve allocates, at its beginning. */
#include "solver/engine.h"

#include <stdlib.h>

static bdml_spectral make_set(const bdml_problem *p, const bdml_solve_settings *s, double *scratch)
{
    bdml_spectral whole;
    switch (s->set) {
    case BDML_SET_PSD_BALL:
        whole = bdml_spectral_psd_ball(p->d, s->trace);
        break;
    case BDML_SET_PSD_SIMPLEX:
        whole = bdml_spectral_psd_simplex(p->d, s->trace);
        break;
    case BDML_SET_HULL:
        whole = bdml_spectral_hull(p->d, s->rank, s->spectrum, scratch);
        break;
    case BDML_SET_RANK:
        whole = bdml_spectral_rank(p->d, s->rank, s->K);
        break;
    default:
        whole = bdml_spectral_distortion(p->d, s->K, s->trace);
    }
    return bdml_spectral_reduce(&whole, p->r);
}

enum { MATRICES = 8, VECTORS = 21 };

/* The arrays of matrices, and those over constraints. */
static void list_arrays(bdml_engine *e, double **matrix[MATRICES], double **vector[VECTORS])
{
    bdml_terms *all = &e->scaled.terms, *listed = &e->active.terms;
    bdml_iterate *at = &e->at;
    bdml_dual *dual = &e->dual;
    bdml_active *a = &e->active;
    bdml_bounds *bounds = &e->bounds;
    double **matrices[MATRICES] = {&e->scaled.g, &at->M, &at->M_old,    &at->Z,
                                   &at->S,       &at->T, &bounds->best, &bounds->interior};
    double **vectors[VECTORS] = {
        &all->rough, &all->w,    &all->b,      &all->q,         &all->u,
        &dual->v,    &dual->y,   &dual->y_try, &bounds->best_y, &bounds->interior_v,
        &e->proof.y, &listed->w, &listed->b,   &listed->q,      &listed->u,
        &a->y0,      &a->v,      &a->v_old,    &a->v_z,         &a->y_z,
        &a->weighted};
    memcpy(matrix, matrices, sizeof matrices);
    memcpy(vector, vectors, sizeof vectors);
}

bdml_status bdml_engine_init(bdml_engine *e, bdml_handle *h, bdml_problem *p,
                             const bdml_solve_settings *s)
{
    bdml_status status = BDML_OK;
    int64_t m = p->c->m;
    double **matrix[MATRICES], **vector[VECTORS];
    memset(e, 0, sizeof *e);
    e->h = h;
    e->p = p;
    e->s = s;
    e->scaled.terms.space = p->A.space;
    e->active.terms.space.comm = p->comm;
    e->course.started = bdml_now();
    e->newton.tried_at = e->course.stall_gap = e->bounds.upper = e->dual.before = INFINITY;
    e->bounds.lower = -INFINITY;
    e->dual.aim = e->at.step_inv = 1.0;
    if (s->set == BDML_SET_HULL) BDML_NEW(h, e->scaled.hull, 2 * (size_t)p->d);
    e->scaled.set = make_set(p, s, e->scaled.hull);
    e->scaled.user_trace = e->scaled.set.trace;
    BDML_GO(bdml_matrices_init(h, p->form->matrix_ops, p->r,
                               BDML_MATRIX_EIGEN | BDML_MATRIX_COMPOSE, &e->X));
    list_arrays(e, matrix, vector);
    for (int i = 0; i < MATRICES; i++) BDML_NEW(h, *matrix[i], e->X.size);
    for (int i = 0; i < VECTORS; i++) BDML_NEW(h, *vector[i], m);
    BDML_NEW(h, e->active.listed, m);
    BDML_NEW(h, e->active.t, m);
    BDML_GO(bdml_newton_init(e));
    BDML_GO(bdml_quadratic_init(e));
done:
    if (status != BDML_OK) bdml_engine_free(e);
    return status;
}

void bdml_engine_free(bdml_engine *e)
{
    double **matrix[MATRICES], **vector[VECTORS];
    list_arrays(e, matrix, vector);
    for (int i = 0; i < MATRICES; i++) free(*matrix[i]);
    for (int i = 0; i < VECTORS; i++) free(*vector[i]);
    free(e->scaled.hull);
    free(e->active.listed);
    free(e->active.t);
    free(e->course.state.number);
    bdml_newton_free(&e->newton);
    bdml_quadratic_free(&e->quadratic);
    bdml_matrices_free(&e->X);
    memset(e, 0, sizeof *e);
}

/* The vectors, two of the operator (norm, rough), the list of those at work, the y of the result; and a mark. */
_Static_assert(BDML_SOLVE_CONSTRAINT == 8 * (VECTORS + 2 + 1 + 1) + 1, "bytes of a constraint");

double bdml_solve_bytes(const bdml_handle *h, double points, double pairs, double m, int d,
                        bool smooth)
{
    double per_constraint = BDML_SOLVE_CONSTRAINT + (smooth ? 8.0 : 0.0);
    double matrices = 8.0 * (MATRICES + 10) * d * d;
    double second = smooth ? bdml_quadratic_bytes(d) : bdml_newton_bytes(m, d);
    return bdml_margin_bytes(h, points, pairs, d) + m * per_constraint + matrices + second;
}
