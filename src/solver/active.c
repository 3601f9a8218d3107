/* active.c - the constraints that the inner iteration looks at.
 *
 * A constraint with y = 0 and a value well above its margin adds nothing to the gradient, so
 * that it may be left out until a check of all constraints finds it wanted. The list holds what
 * is active and what might become so before the next check. */
#include "solver/engine.h"

/* A constraint is listed while its value is below its margin and this multiple of it more. */
static const double NEAR = 1.0;
/* With more than this share listed, all are: the operator is faster without a list. */
static const double SHARE_ALL = 0.6;

bool bdml_active_misses(const bdml_engine *e)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_dual *dual = &e->dual;
    double missed = 0.0;
    if (e->active.all) return false;
    for (int64_t t = 0; t < terms->space.count && missed == 0.0; t++)
        if (!e->active.listed[t] && (dual->v[t] < dual->aim * terms->b[t] || dual->y[t] > 0.0))
            missed = 1.0;
    return bdml_comm_largest(terms->space.comm, missed) > 0.0;
}

double bdml_active_count(const bdml_engine *e)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_dual *dual = &e->dual;
    double count = 0.0;
    for (int64_t t = 0; t < terms->space.count; t++)
        count += dual->y[t] > 0.0 || dual->v[t] < dual->aim * terms->b[t];
    return bdml_comm_total(terms->space.comm, count);
}

void bdml_active_scatter(const bdml_engine *e, const double *from, double *y)
{
    const bdml_active *a = &e->active;
    bdml_cvec_fill(&e->scaled.terms.space, 0.0, y);
    for (int64_t k = 0; k < a->terms.space.count; k++) y[a->t[k]] = from[k];
}

void bdml_active_gather(bdml_engine *e)
{
    const bdml_terms *from = &e->scaled.terms;
    bdml_active *a = &e->active;
    int64_t count = 0;
    for (int64_t t = 0; t < from->space.count; t++) {
        if (a->all) a->listed[t] = 1;
        if (!a->listed[t]) continue;
        int64_t k = count++;
        a->t[k] = t;
        a->terms.w[k] = from->w[t];
        a->terms.b[k] = e->dual.aim * from->b[t];
        a->terms.q[k] = from->q[t];
        a->terms.u[k] = from->u[t];
    }
    a->terms.space.count = count;
    a->terms.space.total = bdml_comm_total(a->terms.space.comm, (double)count);
}

void bdml_active_rebuild(bdml_engine *e)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_dual *dual = &e->dual;
    bdml_active *a = &e->active;
    double count = 0.0;
    for (int64_t t = 0; t < terms->space.count; t++) {
        double b = dual->aim * terms->b[t];
        a->listed[t] = dual->y[t] > 0.0 || dual->v[t] < b + NEAR * fabs(terms->b[t]);
        count += a->listed[t];
    }
    count = bdml_comm_total(terms->space.comm, count);
    a->all = count > SHARE_ALL * terms->space.total;
    bdml_active_gather(e);
    for (int64_t k = 0; k < a->terms.space.count; k++) {
        a->y0[k] = dual->y[a->t[k]];
        a->v[k] = dual->v[a->t[k]];
    }
}

void bdml_active_forward(bdml_engine *e, const double *M, double *v)
{
    const bdml_operator *A = &e->p->A;
    const bdml_active *a = &e->active;
    const bdml_cspace *space = &a->terms.space;
    A->ops->forward(A, M, a->all ? -1 : space->count, a->all ? NULL : a->t, v);
    bdml_cvec_product(space, 1.0, a->terms.w, v, v);
}

void bdml_active_adjoint(bdml_engine *e, const double *g, const double *y, double *S)
{
    const bdml_operator *A = &e->p->A;
    bdml_active *a = &e->active;
    const bdml_cspace *space = &a->terms.space;
    bdml_cvec_product(space, 1.0, a->terms.w, y, a->weighted);
    A->ops->adjoint(A, a->weighted, a->all ? -1 : space->count, a->all ? NULL : a->t, S);
    bdml_matrix_subtract_from(&e->X, g, S);
}
