/* result.c - from scaled and reduced back to the user's space and units. */
#include "solver/engine.h"

#include <stdlib.h>

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

bdml_status bdml_rank_proof(bdml_handle *h, int64_t m, const double *mu, const double *y,
                            bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    weighted *list = NULL;
    BDML_NEW(h, list, m);
    for (int64_t t = 0; t < m; t++)
        if (y[t] > 0.0) list[r->contradicting++] = (weighted){mu[t] * y[t], t};
    qsort(list, (size_t)r->contradicting, sizeof *list, heavier);
    BDML_NEW(h, r->important, r->contradicting);
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
    const bdml_spectral *set = &e->scaled.set;
    bdml_matrices *X = &e->X;
    double unit_m = e->scaled.unit.m, *T = e->at.T, *ws = NULL;

    memcpy(T, e->bounds.best, sizeof *T * X->size);
    BDML_GO(X->ops->eigenvalues(X, T, X->lambda));
    double fill = bdml_spectral_fill(set, X->lambda);
    double low = X->lambda[0], high = X->lambda[X->r - 1], sum = set->extra * fill;
    for (int i = 0; i < X->r; i++) sum += X->lambda[i];
    if (set->extra > 0) low = BDML_MIN(low, fill), high = BDML_MAX(high, fill);
    r->trace = sum / unit_m;
    r->kappa = high <= 0.0 ? 1.0 : low > 0.0 ? high / low : INFINITY;
    r->collapsed = !e->s->hard && high <= 0.0;

    BDML_NEW(e->h, r->m, p->form->row_ops->size(p->d, 0));
    BDML_NEW(e->h, ws, (size_t)p->d * (size_t)p->r);
    for (size_t i = 0; i < X->size; i++) T[i] = e->bounds.best[i] / unit_m;
    bdml_expand_metric(p, T, fill / unit_m, r->m, ws);
done:
    free(ws);
    return status;
}

/* Numbers of all constraints of the problem from those of this rank; the caller's to free. */
static bdml_status gather(const bdml_engine *e, const double *own, double **all)
{
    bdml_status status = BDML_OK;
    const bdml_problem *p = e->p;
    BDML_NEW(e->h, *all, p->stated.c->m);
    memcpy(*all + p->share.first, own, sizeof *own * (size_t)p->c->m);
    if (p->c != p->stated.c) bdml_comm_sum(p->comm, p->stated.c->m, *all);
done:
    return status;
}

bdml_status bdml_export_result(bdml_engine *e, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    const bdml_scaled *scaled = &e->scaled;
    const bdml_terms *terms = &scaled->terms;
    const bdml_bounds *bounds = &e->bounds;
    const bdml_course *course = &e->course;
    bool proven = e->proof.kind != BDML_PROOF_NONE;
    double *b = NULL, *y = NULL, *scratch = e->dual.y_try;

    r->d = e->p->d;
    r->rank = e->X.r;
    r->diagonal = !e->X.ops->turns;
    r->stop = proven ? BDML_STOP_DONE : course->stop;
    r->cut = bdml_stop_cut(course->stop);
    r->proof = e->proof.kind;
    r->proof_trace = e->proof.trace / scaled->unit.m;
    r->C = scaled->C;
    r->C0 = scaled->C0;
    r->upper = proven ? INFINITY : bounds->upper * scaled->unit.f;
    r->lower = proven ? INFINITY : bounds->lower * scaled->unit.f;
    r->gap = proven ? INFINITY : bdml_bounds_gap(bounds);
    r->history = e->stage.history;
    r->kappa = r->trace = NAN;
    r->outcome = proven ? BDML_INFEASIBLE : r->gap <= e->s->gap ? BDML_OPTIMAL : BDML_STOPPED;
    bdml_cvec_product(&terms->space, scaled->unit.y, terms->w, proven ? e->proof.y : bounds->best_y,
                      scratch);
    BDML_GO(gather(e, scratch, &r->y));
    if (proven) {
        BDML_GO(gather(e, terms->b, &b));
        BDML_GO(gather(e, e->proof.y, &y));
        BDML_GO(bdml_rank_proof(e->h, e->p->stated.c->m, b, y, r));
    } else if (bounds->have_best) {
        BDML_GO(export_metric(e, r));
    }
done:
    free(b);
    free(y);
    r->iterations = course->iterations;
    r->seconds = course->earlier + bdml_now() - course->started;
    r->ahead = course->ahead;
    return status;
}

void bdml_solve_result_free(bdml_solve_result *r)
{
    free(r->m);
    free(r->y);
    free(r->important);
    memset(r, 0, sizeof *r);
}
