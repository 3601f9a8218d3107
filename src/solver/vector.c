/* vector.c - symmetric matrices, full or diagonal, as vectors; the margin operator and the
 * projection on them. */
#include "solver/engine.h"

/* Plain loops in fixed order: the same bits however many threads there are. Four sums at once,
 * so that the compiler can use vector instructions. */
double bdml_vec_dot(size_t n, const double *a, const double *b)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

double bdml_vec_distance2(size_t n, const double *a, const double *b)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) s[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
    for (; i < n; i++) s[0] += (a[i] - b[i]) * (a[i] - b[i]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

void bdml_engine_identity(const bdml_engine *e, double value, double *M)
{
    memset(M, 0, sizeof *M * e->size);
    for (int i = 0; i < e->r; i++)
        M[e->p->diagonal ? (size_t)i : (size_t)i * (size_t)(e->r + 1)] = value;
}

/* ---- margin operator ------------------------------------------------------------------------ */

void bdml_engine_forward(bdml_engine *e, const double *M, double *v)
{
    if (e->p->diagonal)
        bdml_margin_forward_diag(e->p->op, M, -1, NULL, v);
    else
        bdml_margin_forward(e->p->op, M, -1, NULL, v);
    for (int64_t t = 0; t < e->m; t++) v[t] *= e->w[t];
}

void bdml_engine_adjoint(bdml_engine *e, const double *g, const double *y, double *S)
{
    double *wy = e->active.scratch;
    for (int64_t t = 0; t < e->m; t++) wy[t] = e->w[t] * y[t];
    if (e->p->diagonal)
        bdml_margin_adjoint_diag(e->p->op, wy, -1, NULL, S);
    else
        bdml_margin_adjoint(e->p->op, wy, -1, NULL, S);
    if (g)
        for (size_t i = 0; i < e->size; i++) S[i] = g[i] - S[i];
    else
        for (size_t i = 0; i < e->size; i++) S[i] = -S[i];
}

/* ---- spectra -------------------------------------------------------------------------------- */

bdml_status bdml_engine_eigenvalues(bdml_engine *e, double *A, double *lambda)
{
    if (!e->p->diagonal) return bdml_la_eigh(e->h, e->r, A, lambda, false, &e->eigen);
    bdml_spectral_sort(e->r, A, e->order);
    for (int i = 0; i < e->r; i++) lambda[i] = A[e->order[i]];
    return BDML_OK;
}

/* Above this size the product below goes over threads, though it then computes both triangles. */
enum { THREADED_FROM = 257 };

/* M = base I + sum over the eigenvalues that differ from base of (l_i - base) q_i q_i'.
 * Projections onto bounded distortion leave many eigenvalues at the floor or at the ceiling; the
 * larger of these groups is the base and costs nothing. */
static void compose(bdml_engine *e, const double *Q, const double *l, double *M)
{
    int r = e->r, lo = 0, hi = 0;
    while (lo < r && l[lo] == l[0]) lo++;
    while (hi < r && l[r - 1 - hi] == l[r - 1]) hi++;
    double base = lo >= hi ? l[0] : l[r - 1];
    int from = lo >= hi ? lo : 0, to = lo >= hi ? r : r - hi;
    double sign = lo >= hi ? 1.0 : -1.0;
    for (int j = from; j < to; j++) {
        double f = sqrt(fabs(l[j] - base));
        double *out = COL(e->scaled, r, j - from);
        const double *in = COL(Q, r, j);
        for (int i = 0; i < r; i++) out[i] = f * in[i];
    }
    if (r < THREADED_FROM)
        bdml_la_syrk('N', r, to - from, sign, e->scaled, r, 0.0, M, r);
    else
        bdml_la_gemm_tiled(e->h, 'N', 'T', r, r, to - from, sign, e->scaled, r, e->scaled, r, 0.0,
                           M, r);
    for (int i = 0; i < r; i++) COL(M, r, i)[i] += base;
    bdml_la_mirror(r, M, r);
}

bdml_status bdml_engine_project(bdml_engine *e, double *A, double *M)
{
    e->iterations++;
    if (e->p->diagonal) {
        bdml_spectral_project_any(&e->set, A, M, e->order, e->l);
        for (int i = 0; i < e->r; i++) e->lambda[i] = A[e->order[i]];
        return BDML_OK;
    }
    BDML_TRY(bdml_la_eigh(e->h, e->r, A, e->lambda, true, &e->eigen));
    e->set.ops->project(&e->set, e->lambda, e->l);
    compose(e, A, e->l, M);
    return BDML_OK;
}
