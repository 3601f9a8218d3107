/* span.c - the problem in coordinates in which Q is sought: an orthonormal basis of the rows of the start, and of
 * the leading principal components of what the points have beside them, up to the number of dimensions asked for.
 *
 * Directions that neither the points nor the start have are of no use: no distance changes with them. Searching
 * every direction that the points have is right where they are many; where they are few beside their dimensions,
 * directions in which classes happen not to vary at all bring the objective down to 0 and the error on new points
 * up (docs/pseudo-metrics.md), so by default there are a fifth as many dimensions as points. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* A direction with less than this share of the largest variance counts as absent: above the share at which the
 * solver itself reduces, so that it does not do so again. */
static const double ABSENT = 1e-10;

/* Principal components of the n rows, at most `count`: *basis d x *found. */
static bdml_status components(bdml_handle *h, uint64_t seed, int64_t n, int d, const double *x,
                              int64_t count, double **basis, int *found)
{
    bdml_prepare p = {.d_in = d, .d_out = d, .scale = BDML_SCALE_NONE};
    const bdml_rows points = {.n = n, .d = d, .ld = d, .x = x};

    bdml_status status = bdml_pca_fit(h, (double)count, seed, &points, NULL, &p);
    if (status == BDML_OK) {
        *basis = p.basis;
        *found = p.d_out;
        p.basis = NULL;
    }
    bdml_prepare_free(&p);
    return status;
}

/* Variance of column k of n rows of r. */
static double variance(int64_t n, int64_t r, const double *z, int64_t k)
{
    double mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++) mean += z[i * r + k] / (double)n;
    for (int64_t i = 0; i < n; i++) square += (z[i * r + k] - mean) * (z[i * r + k] - mean);
    return square / (double)n;
}

/* rows <- rows less their part along the q columns of `start`; the sum of variances before and after. */
static bdml_status remove_start(bdml_handle *h, int64_t n, int d, int q, const double *start,
                                double *rows, double *before, double *after)
{
    bdml_status status = BDML_OK;
    double *part = NULL, *ws = NULL;
    BDML_NEW(h, part, (size_t)n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, d));
    *before = *after = 0.0;
    for (int j = 0; j < d; j++) *before += variance(n, d, rows, j);
    bdml_la_map_rows(h, q, d, start, n, rows, d, part, ws);
    bdml_la_gemm_tiled(h, 'N', 'N', d, n, q, -1.0, start, d, part, q, 1.0, rows, d);
    for (int j = 0; j < d; j++) *after += variance(n, d, rows, j);
done:
    free(part);
    free(ws);
    return status;
}

/* w->basis and w->r. rows is destroyed. */
static bdml_status make_basis(lowrank *w, double *rows, const double *Q)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = w->h;
    double *start = NULL, *rest = NULL, before, after;
    int d = w->d, q = w->q, more = 0;
    int64_t wanted = w->s->span > 0 ? w->s->span : w->n / 5;

    BDML_NEW(h, start, (size_t)d * (size_t)q);
    memcpy(start, Q, sizeof *start * (size_t)d * (size_t)q);
    BDML_GO(bdml_la_orth(h, d, q, start));
    wanted = BDML_MIN(wanted, (int64_t)d) - q;
    if (wanted > 0) BDML_GO(remove_start(h, w->n, d, q, start, rows, &before, &after));
    if (wanted > 0 && after > ABSENT * before)
        BDML_GO(components(h, w->s->seed, w->n, d, rows, BDML_MIN(wanted, w->n), &rest, &more));
    BDML_NEW(h, w->basis, (size_t)d * (size_t)(q + more));
    memcpy(w->basis, start, sizeof *start * (size_t)d * (size_t)q);
    if (more > 0) memcpy(COL(w->basis, d, q), rest, sizeof *rest * (size_t)d * (size_t)more);
    w->r = q + more;
    w->whole = w->r == d || (wanted > 0 && !(after > ABSENT * before));
    status = bdml_la_orth(h, d, w->r, w->basis);
done:
    free(start);
    free(rest);
    return status;
}

/* Leave out the last components of hardly any variance. */
static int strong(const lowrank *w)
{
    double most = 0.0;
    int keep = w->q;
    for (int k = 0; k < w->r; k++) {
        double own = variance(w->n, w->r, w->z, k);
        most = BDML_MAX(most, own);
        if (own > ABSENT * most) keep = BDML_MAX(keep, k + 1);
    }
    return keep;
}

/* w->z = basis' (x - x_0), n rows of r. */
static bdml_status coordinates(lowrank *w, const double *x, int64_t ld)
{
    bdml_status status = BDML_OK;
    double *moved = NULL, *ws = NULL;
    int d = w->d;
    free(w->z);
    w->z = NULL;
    BDML_NEW(w->h, w->z, (size_t)w->n * (size_t)w->r);
    BDML_NEW(w->h, moved, (size_t)w->n * (size_t)d);
    BDML_NEW(w->h, ws, bdml_la_map_size(w->r, d));
    for (int64_t i = 0; i < w->n; i++)
        for (int j = 0; j < d; j++) moved[i * d + j] = x[i * ld + j] - x[j];
    bdml_la_map_rows(w->h, w->r, d, w->basis, w->n, moved, d, w->z, ws);
done:
    free(moved);
    free(ws);
    return status;
}

/* w->g: the given objective in the basis, or the mean over the target pairs. */
static bdml_status set_objective(lowrank *w, const double *objective)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    BDML_NEW(w->h, w->g, (size_t)w->r * (size_t)w->r);
    if (!objective) {
        bdml_margin_objective(w->op, w->g);
        return BDML_OK;
    }
    BDML_NEW(w->h, ws, (size_t)w->d * (size_t)w->r);
    bdml_la_gemm_tiled(w->h, 'N', 'N', w->d, w->r, w->d, 1.0, objective, w->d, w->basis, w->d, 0.0,
                       ws, w->d);
    bdml_la_gemm_tiled(w->h, 'T', 'N', w->r, w->r, w->d, 1.0, w->basis, w->d, ws, w->d, 0.0, w->g,
                       w->r);
    bdml_la_mirror(w->r, w->g, w->r);
done:
    free(ws);
    return status;
}

static bdml_status allocate(lowrank *w)
{
    bdml_status status = BDML_OK;
    size_t rq = (size_t)w->r * (size_t)w->q, q = (size_t)w->q;
    BDML_NEW(w->h, w->V, rq);
    BDML_NEW(w->h, w->V_try, rq);
    BDML_NEW(w->h, w->gv, rq);
    BDML_NEW(w->h, w->gq, q * q);
    BDML_NEW(w->h, w->lambda, q);
    BDML_NEW(w->h, w->lambda_try, q);
    BDML_NEW(w->h, w->points, (size_t)w->n * q);
    BDML_NEW(w->h, w->map_ws, bdml_la_map_size(w->q, w->r));
done:
    return status;
}

bdml_status lowrank_init(lowrank *w, bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                         const bdml_constraints *c, const double *objective,
                         const bdml_lowrank_settings *s, const double *Q)
{
    bdml_status status = BDML_OK;
    double *rows = NULL;

    *w = (lowrank){.h = h, .s = s, .c = c, .n = n, .d = d, .q = s->q, .started = bdml_now()};
    BDML_NEW(h, rows, (size_t)n * (size_t)d);
    for (int64_t i = 0; i < n; i++) /* moved by the first row: only differences count */
        for (int j = 0; j < d; j++) rows[i * d + j] = x[i * ld + j] - x[j];
    BDML_GO(make_basis(w, rows, Q));
    BDML_GO(coordinates(w, x, ld));
    if (strong(w) < w->r) {
        w->r = strong(w);
        BDML_GO(coordinates(w, x, ld));
    }
    BDML_GO(bdml_margin_new(h, n, w->r, w->z, w->r, c, &w->op));
    w->A = bdml_operator_low_rank(w->op, w->c, w->r, w->q);
    BDML_GO(set_objective(w, objective));
    BDML_GO(allocate(w));
    for (int k = 0; k < w->q; k++) COL(w->V, w->r, k)[k] = 1.0;
done:
    free(rows);
    if (status != BDML_OK) lowrank_free(w);
    return status;
}

void lowrank_free(lowrank *w)
{
    double *arrays[] = {w->basis,      w->z,      w->g,      w->V,  w->lambda, w->V_try,
                        w->lambda_try, w->points, w->map_ws, w->gv, w->gq};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    bdml_margin_free(w->op);
    bdml_problem_free(w->p);
    bdml_solve_result_free(&w->result);
    memset(w, 0, sizeof *w);
}

bdml_status lowrank_problem(lowrank *w)
{
    if (w->p) return BDML_OK;
    return bdml_problem_new(w->h, w->n, w->r, w->z, w->r, w->c, w->g, false, &w->p);
}

void lowrank_metric(const lowrank *w, const double *V, const double *lambda, double *scaled,
                    double *M)
{
    int r = w->r, q = w->q;
    for (int k = 0; k < q; k++)
        for (int i = 0; i < r; i++) COL(scaled, r, k)[i] = lambda[k] * COL(V, r, k)[i];
    bdml_la_gemm_tiled(w->h, 'N', 'T', r, r, q, 1.0, scaled, r, V, r, 0.0, M, r);
    bdml_la_mirror(r, M, r);
}
