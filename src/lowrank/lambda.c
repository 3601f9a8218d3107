/* lambda.c - Lambda with Q fixed: bounded distortion on the q-dimensional points Qx, diagonal or full, certified.
 *
 * A full Lambda = U diag(lambda) U' is a diagonal one for the rows U'Q, so that form and this differ in the step
 * alone: a full Lambda-step turns Q inside its row space as well. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* Objectives below this share of that of M = 0 count as that share, when it comes to the gap. */
static const double SMALL = 0.01, MOST_GAP = 0.1;
/* Gap of the solves that others follow. */
static const double PASSING_GAP = 1e-2;

/* V <- V U, Lambda <- diag; r->m follows. */
static bdml_status turn(lowrank *w, double *V, double *lambda, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    int q = w->q;

    BDML_GO(bdml_eigh_ws_init(w->h, q, &ws));
    BDML_GO(bdml_la_eigh(w->h, q, r->m, lambda, true, &ws));
    bdml_la_gemm_tiled(w->h, 'N', 'N', w->r, q, q, 1.0, V, w->r, r->m, q, 0.0, w->gv, w->r);
    memcpy(V, w->gv, sizeof *V * (size_t)w->r * (size_t)q);
    memset(r->m, 0, sizeof *r->m * (size_t)q * (size_t)q);
    for (int k = 0; k < q; k++) COL(r->m, q, k)[k] = lambda[k];
done:
    bdml_eigh_ws_free(&ws);
    return status;
}

/* w->gq: diag(lambda), as a start. */
static const double *warm_start(lowrank *w, const double *lambda)
{
    if (!w->s->full) return lambda;
    memset(w->gv, 0, sizeof *w->gv * (size_t)w->r * (size_t)w->q); /* r >= q: holds q x q */
    for (int k = 0; k < w->q; k++) COL(w->gv, w->q, k)[k] = lambda[k];
    return w->gv;
}

bdml_status lowrank_lambda_step(lowrank *w, double *V, double *lambda, bool warm, bool last,
                                bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    bdml_problem *p = NULL;
    bdml_solve_settings s = w->s->solve;
    int q = w->q;

    bdml_la_map_rows(w->h, q, w->r, V, w->n, w->z, w->r, w->points, w->map_ws);
    bdml_la_gemm_tiled(w->h, 'N', 'N', w->r, q, w->r, 1.0, w->g, w->r, V, w->r, 0.0, w->gv, w->r);
    bdml_la_gemm_tiled(w->h, 'T', 'N', q, q, w->r, 1.0, V, w->r, w->gv, w->r, 0.0, w->gq, q);
    bdml_la_mirror(q, w->gq, q);
    BDML_TRY(bdml_problem_new(w->h, w->n, q, w->points, q, w->c, w->gq, !w->s->full, &p));
    if (w->C > 0.0) s.C = w->C;
    if (!last) s.gap = BDML_MAX(s.gap, PASSING_GAP);
    /* digits below those of the objective of M = 0 are not worth their price, but in the claim */
    if (w->idle > 0.0 && !last)
        s.gap = BDML_MIN(s.gap * BDML_MAX(1.0, SMALL * w->idle / w->result.upper), MOST_GAP);
    if (warm) s.warm_metric = warm_start(w, lambda);
    BDML_GO(bdml_problem_solve(w->h, p, &s, r));
    if (!r->m || r->collapsed) goto done;
    if (w->s->full)
        status = turn(w, V, lambda, r);
    else
        memcpy(lambda, r->m, sizeof *lambda * (size_t)q);
done:
    bdml_problem_free(p);
    return status;
}
