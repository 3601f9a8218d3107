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

static bool wanted(const bdml_engine *e, int64_t t)
{
    double b = e->aim * e->b[t];
    return e->y[t] > 0.0 || e->v[t] < b + NEAR * fabs(e->b[t]);
}

bool bdml_active_misses(const bdml_engine *e)
{
    if (e->active.all) return false;
    for (int64_t t = 0; t < e->m; t++)
        if (!e->listed[t] && (e->v[t] < e->aim * e->b[t] || e->y[t] > 0.0)) return true;
    return false;
}

void bdml_active_gather(bdml_engine *e)
{
    bdml_active *a = &e->active;
    a->count = 0;
    for (int64_t t = 0; t < e->m; t++) {
        if (a->all) e->listed[t] = 1;
        if (!e->listed[t]) continue;
        int64_t k = a->count++;
        a->t[k] = t;
        a->w[k] = e->w[t];
        a->b[k] = e->aim * e->b[t];
        a->q[k] = e->q[t];
        a->u[k] = e->u[t];
    }
}

void bdml_active_rebuild(bdml_engine *e)
{
    bdml_active *a = &e->active;
    int64_t count = 0;
    for (int64_t t = 0; t < e->m; t++) count += e->listed[t] = wanted(e, t);
    a->all = (double)count > SHARE_ALL * (double)e->m;
    bdml_active_gather(e);
    for (int64_t k = 0; k < a->count; k++) {
        a->y0[k] = e->y[a->t[k]];
        a->v[k] = e->v[a->t[k]];
    }
}
