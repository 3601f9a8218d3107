/* span.c - the problem in coordinates in which Q is sought: an orthonormal basis of the centred points and of the
 * rows of the start. Directions that neither has are of no use: no distance changes with them. With n points in
 * d > n dimensions at most n - 1 + q coordinates are left, and nothing is lost. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* A direction with less than this share of the largest variance counts as absent: above the share at which the
 * solver itself reduces, so that it does not do so again. */
static const double ABSENT = 1e-10;
/* A row of the start whose part outside the points' span is shorter than this lies inside. */
static const double INSIDE = 1e-7;

/* Principal components of the points, all of them: *basis d x *r. */
static bdml_status points_span(bdml_handle *h, int64_t n, int d, const double *x, double **basis,
                               int *r)
{
    bdml_handle *own;
    bdml_prepare p = {.d_in = d, .d_out = d, .scale = BDML_SCALE_NONE};
    const bdml_dataset points = {.n = n, .d = d, .x = (double *)x};
    char all[BDML_NUMBER_SIZE];

    BDML_TRY(bdml_handle_child(h, &own));
    own->opt[BDML_OPT_THREADS].i = bdml_threads(h);
    own->fail_alloc = h->fail_alloc;
    snprintf(all, sizeof all, "%lld", (long long)BDML_MIN(n, (int64_t)d));
    bdml_status status = bdml_set(own, "pca", all);
    if (status == BDML_OK) status = bdml_pca_fit(own, &points, &p);
    if (status == BDML_OK) {
        *basis = p.basis;
        *r = p.d_out;
        p.basis = NULL;
    } else
        bdml_fail(h, status, "%s", bdml_last_error(own));
    bdml_prepare_free(&p);
    bdml_free(own);
    return status;
}

/* Leave out the components of hardly any variance. z: n rows of r, centred or not. */
static int strong(int64_t n, int r, const double *z)
{
    double first = 0.0;
    int keep = 0;
    for (int k = 0; k < r; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) mean += z[i * r + k] / (double)n;
        for (int64_t i = 0; i < n; i++) square += (z[i * r + k] - mean) * (z[i * r + k] - mean);
        if (k == 0) first = square;
        if (square > ABSENT * first) keep = k + 1;
    }
    return keep;
}

/* Add to the basis (r columns) what the rows of Q have outside it. */
static bdml_status add_start(bdml_handle *h, int d, int q, const double *Q, double **basis, int *r)
{
    bdml_status status = BDML_OK;
    double *rest = NULL, *part = NULL, *both = NULL;
    int more = 0;

    BDML_NEW(h, rest, (size_t)d * (size_t)q);
    BDML_NEW(h, part, (size_t)*r * (size_t)q);
    memcpy(rest, Q, sizeof *rest * (size_t)d * (size_t)q);
    for (int twice = 0; twice < 2; twice++) {
        bdml_la_gemm_tiled(h, 'T', 'N', *r, q, d, 1.0, *basis, d, rest, d, 0.0, part, *r);
        bdml_la_gemm_tiled(h, 'N', 'N', d, q, *r, -1.0, *basis, d, part, *r, 1.0, rest, d);
    }
    for (int k = 0; k < q; k++)
        if (bdml_la_norm(d, COL(rest, d, k)) > INSIDE)
            memmove(COL(rest, d, more++), COL(rest, d, k), sizeof *rest * (size_t)d);
    more = BDML_MIN(more, d - *r);
    if (more == 0) goto done;
    BDML_GO(bdml_la_orth(h, d, more, rest));
    BDML_NEW(h, both, (size_t)d * (size_t)(*r + more));
    memcpy(both, *basis, sizeof *both * (size_t)d * (size_t)*r);
    memcpy(COL(both, d, *r), rest, sizeof *both * (size_t)d * (size_t)more);
    free(*basis);
    *basis = both;
    *r += more;
    both = NULL;
done:
    free(rest);
    free(part);
    free(both);
    return status;
}

/* z = basis' (x - x_0), n rows of r. */
static bdml_status coordinates(bdml_handle *h, int64_t n, int d, const double *x, int r,
                               const double *basis, double *z)
{
    bdml_status status = BDML_OK;
    double *moved = NULL, *ws = NULL;
    BDML_NEW(h, moved, (size_t)n * (size_t)d);
    BDML_NEW(h, ws, bdml_la_map_size(r, d));
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) moved[i * d + j] = x[i * d + j] - x[j];
    bdml_la_map_rows(h, r, d, basis, n, moved, d, z, ws);
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
    for (int64_t i = 0; i < n; i++) memcpy(rows + i * d, x + i * ld, sizeof *rows * (size_t)d);
    BDML_GO(points_span(h, n, d, rows, &w->basis, &w->r));
    BDML_NEW(h, w->z, (size_t)n * (size_t)w->r);
    BDML_GO(coordinates(h, n, d, rows, w->r, w->basis, w->z));
    w->r = strong(n, w->r, w->z);
    BDML_GO(add_start(h, d, w->q, Q, &w->basis, &w->r));
    free(w->z);
    w->z = NULL;
    BDML_NEW(h, w->z, (size_t)n * (size_t)w->r);
    BDML_GO(coordinates(h, n, d, rows, w->r, w->basis, w->z));
    BDML_GO(bdml_margin_new(h, n, w->r, w->z, w->r, c, &w->op));
    BDML_GO(set_objective(w, objective));
    BDML_GO(allocate(w));
    bdml_la_gemm_tiled(h, 'T', 'N', w->r, w->q, d, 1.0, w->basis, d, Q, d, 0.0, w->V, w->r);
    status = bdml_la_orth(h, w->r, w->q, w->V);
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
