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

bdml_status bdml_export_result(bdml_engine *e, bdml_solve_result *r)
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
    r->cut = bdml_stop_cut(e->stop);
    r->C0 = e->C0;
    r->upper = e->upper * e->unit_f;
    r->lower = e->lower * e->unit_f;
    r->gap = bdml_engine_gap(e);
    r->history = e->stage.history;
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
        BDML_GO(bdml_rank_proof(e->h, e->m, e->b, e->proof_y, r));
    else if (e->have_best)
        BDML_GO(export_metric(e, r));
done:
    r->iterations = e->iterations;
    r->seconds = e->earlier + bdml_now() - e->started;
    return status;
}

void bdml_solve_result_free(bdml_solve_result *r)
{
    free(r->m);
    free(r->y);
    free(r->important);
    memset(r, 0, sizeof *r);
}
