/* lanczos.c - the largest eigenvalue of a symmetric matrix and its vector, by Lanczos with full
 * reorthogonalisation, restarted from the best vector so far.
 *
 *     A Q_k = Q_k T_k + beta_k q_{k+1} e_k',   T_k y = theta y,   v = Q_k y,   |A v - theta v| = beta_k |y_k|
 *
 * theta = v'Av never exceeds the largest eigenvalue. The state lives in the caller's workspace, the start is
 * the caller's vector (a warm start), and nothing is random: the same input gives the same bits. */
#include "linalg/linalg.h"

#include <lapacke.h>
#include <stdlib.h>

enum {
    BASIS = 48,   /* vectors kept at most between restarts */
    FIRST = 5,    /* steps before the first look at convergence */
    BETWEEN = 4,  /* steps between looks */
    RESTARTS = 20 /* then the caller gets what there is, with its residual */
};

bdml_status bdml_lanczos_ws_init(bdml_handle *h, int d, bdml_lanczos_ws *ws)
{
    bdml_status status = BDML_OK;
    memset(ws, 0, sizeof *ws);
    ws->d = d;
    ws->basis = BDML_MIN(d, BASIS);
    ws->first = FIRST;
    ws->between = BETWEEN;
    ws->restarts = RESTARTS;
    BDML_NEW(h, ws->q, (size_t)d * (size_t)(ws->basis + 1));
    BDML_NEW(h, ws->alpha, ws->basis);
    BDML_NEW(h, ws->beta, ws->basis);
    BDML_NEW(h, ws->t, (size_t)ws->basis * (size_t)ws->basis);
    BDML_NEW(h, ws->work, 5 * ws->basis + 1);
done:
    if (status != BDML_OK) bdml_lanczos_ws_free(ws);
    return status;
}

void bdml_lanczos_ws_free(bdml_lanczos_ws *ws)
{
    free(ws->q);
    free(ws->alpha);
    free(ws->beta);
    free(ws->t);
    free(ws->work);
    memset(ws, 0, sizeof *ws);
}

/* q_0 = v / |v|; without a start, a vector with all coordinates and no symmetry. */
static void start(int d, const double *v, double *q)
{
    double norm = bdml_la_norm(d, v);
    bool usable = norm > 0.0 && isfinite(norm);
    for (int i = 0; i < d; i++) q[i] = usable ? v[i] : 1.0 + 0.5 * sin(1.0 + i);
    norm = bdml_la_norm(d, q);
    for (int i = 0; i < d; i++) q[i] /= norm;
}

/* q_{k+1} = (A q_k - its part in the basis) / beta_k, orthogonalised twice. */
static void extend(bdml_la_apply apply, void *user, int k, bdml_lanczos_ws *ws)
{
    int d = ws->d;
    double *next = COL(ws->q, d, k + 1), *c = ws->work;
    apply(user, k, COL(ws->q, d, k), next);
    ws->alpha[k] = bdml_la_dot(d, next, COL(ws->q, d, k));
    for (int pass = 0; pass < 2; pass++) {
        bdml_la_gemv('T', d, k + 1, 1.0, ws->q, d, next, 0.0, c);
        bdml_la_gemv('N', d, k + 1, -1.0, ws->q, d, c, 1.0, next);
    }
    ws->beta[k] = bdml_la_norm(d, next);
    if (ws->beta[k] > 0.0)
        for (int i = 0; i < d; i++) next[i] /= ws->beta[k];
}

/* Largest eigenpair of T_k: theta, and y in the last column of ws->t. */
static bdml_status ritz(bdml_handle *h, int k, bdml_lanczos_ws *ws, double *theta)
{
    double *diagonal = ws->work + 2 * ws->basis, *off = diagonal + ws->basis;
    memcpy(diagonal, ws->alpha, sizeof *diagonal * (size_t)k);
    memcpy(off, ws->beta, sizeof *off * (size_t)(k - 1));
    lapack_int info =
        LAPACKE_dstev_work(LAPACK_COL_MAJOR, 'V', k, diagonal, off, ws->t, k, ws->work);
    if (info != 0)
        return bdml_fail(h, BDML_ERR_LAPACK, "dstev failed with info %d at size %d", (int)info, k);
    *theta = diagonal[k - 1];
    return BDML_OK;
}

bdml_status bdml_la_largest_of(bdml_handle *h, bdml_la_apply apply, void *user, double tolerance,
                               double floor, double *v, double *theta, double *residual,
                               bdml_lanczos_ws *ws)
{
    int d = ws->d;
    double scale = 0.0; /* of A, from below */
    for (int round = 0;; round++) {
        start(d, v, ws->q);
        int k = 0, look = BDML_MIN(ws->first, ws->basis);
        for (;; k++) {
            extend(apply, user, k, ws);
            scale = BDML_MAX(scale, fabs(ws->alpha[k]) + ws->beta[k]);
            bool closed = ws->beta[k] <= 1e-15 * scale; /* the basis is invariant */
            if (k + 1 < look && !closed) continue;
            BDML_TRY(ritz(h, k + 1, ws, theta));
            *residual = ws->beta[k] * fabs(COL(ws->t, k + 1, k)[k]);
            bool done = *residual <= tolerance * scale || *theta + *residual <= floor;
            if (closed || done || k + 1 == ws->basis) break;
            look = BDML_MIN(k + 1 + ws->between, ws->basis);
        }
        ws->steps = k + 1;
        ws->combination = COL(ws->t, k + 1, k);
        bdml_la_gemv('N', d, k + 1, 1.0, ws->q, d, ws->combination, 0.0, v);
        bool stuck = ws->beta[k] <= 1e-15 * scale || k + 1 == d;
        bool done = *residual <= tolerance * scale || *theta + *residual <= floor;
        if (stuck || done || round == ws->restarts) return BDML_OK;
    }
}

/* y = A x for a matrix that is there. */
typedef struct dense {
    int d;
    const double *a;
} dense;

static void apply_dense(void *user, int k, const double *x, double *y)
{
    const dense *m = user;
    (void)k;
    bdml_la_gemv('N', m->d, m->d, 1.0, m->a, m->d, x, 0.0, y);
}

bdml_status bdml_la_largest(bdml_handle *h, const double *a, double tolerance, double floor,
                            double *v, double *theta, double *residual, bdml_lanczos_ws *ws)
{
    dense m = {ws->d, a};
    return bdml_la_largest_of(h, apply_dense, &m, tolerance, floor, v, theta, residual, ws);
}
