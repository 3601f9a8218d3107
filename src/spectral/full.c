/* full.c - symmetric matrices in full: everything by their eigenvectors. */
#include "spectral/matrix.h"

static const double EPS = 2.220446049250313e-16;

/* Above this size the product of `compose_projection` goes over threads, though it then computes both triangles. */
enum { THREADED_FROM = 257 };

static int height(int r)
{
    return r;
}

static void take(const bdml_matrices *X, const double *full, double *to)
{
    memcpy(to, full, sizeof *to * X->size);
}

static bdml_status eigenvalues(bdml_matrices *X, double *A, double *lambda)
{
    return bdml_la_eigh(X->h, X->r, A, lambda, false, &X->eigen);
}

/* M = base I + sum over the eigenvalues that differ from base of (l_i - base) q_i q_i'.
 * Projections onto bounded distortion leave many eigenvalues at the floor or at the ceiling; the
 * larger of these groups is the base and costs nothing. */
static void compose_projection(bdml_matrices *X, const double *Q, double *M)
{
    int r = X->r, lo, hi;
    const double *l = X->l;
    bdml_matrix_ends(X, &lo, &hi);
    double base = lo >= hi ? l[0] : l[r - 1];
    int from = lo >= hi ? lo : 0, to = lo >= hi ? r : r - hi;
    double sign = lo >= hi ? 1.0 : -1.0;
    for (int j = from; j < to; j++) {
        double f = sqrt(fabs(l[j] - base));
        double *out = COL(X->scaled, r, j - from);
        const double *in = COL(Q, r, j);
        for (int i = 0; i < r; i++) out[i] = f * in[i];
    }
    if (r < THREADED_FROM)
        bdml_la_syrk('N', r, to - from, sign, X->scaled, r, 0.0, M, r);
    else
        bdml_la_gemm_tiled(X->h, 'N', 'T', r, r, to - from, sign, X->scaled, r, X->scaled, r, 0.0,
                           M, r);
    for (int i = 0; i < r; i++) COL(M, r, i)[i] += base;
    bdml_la_mirror(r, M, r);
}

static bdml_status project(bdml_matrices *X, const bdml_spectral *set, double *A, double *M)
{
    BDML_TRY(bdml_la_eigh(X->h, X->r, A, X->lambda, true, &X->eigen));
    set->ops->project(set, X->lambda, X->l);
    compose_projection(X, A, M);
    return BDML_OK;
}

static bdml_status minimise(bdml_matrices *X, const bdml_spectral *set, double trace, double *A,
                            bool vectors, double *least)
{
    BDML_TRY(bdml_la_eigh(X->h, X->r, A, X->lambda, vectors, &X->eigen));
    *least = set->ops->minimise(set, X->lambda, trace, X->l);
    return BDML_OK;
}

static void compose(bdml_matrices *X, const double *Q, const double *l, double *M)
{
    int r = X->r;
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) COL(X->scaled, r, j)[i] = l[j] * COL(Q, r, j)[i];
    bdml_la_gemm_tiled(X->h, 'N', 'T', r, r, r, 1.0, X->scaled, r, Q, r, 0.0, M, r);
    bdml_la_mirror(r, M, r);
}

static void largest(bdml_matrices *X, const double *A, double tolerance, double floor, double *u,
                    double *theta)
{
    double residual;
    bdml_la_largest(A, tolerance, floor, u, theta, &residual, &X->lanczos);
}

static bdml_status largest_exact(bdml_matrices *X, const double *A, double *T, double *u,
                                 double *theta)
{
    int r = X->r;
    memcpy(T, A, sizeof *T * X->size);
    BDML_TRY(bdml_la_eigh(X->h, r, T, X->lambda, true, &X->eigen));
    *theta = X->lambda[r - 1];
    memcpy(u, COL(T, r, r - 1), sizeof *u * (size_t)r);
    return BDML_OK;
}

/* ---- Newton's method -------------------------------------------------------------------------- */

static size_t triangle(int r)
{
    return (size_t)r * ((size_t)r + 1) / 2;
}

static size_t width(const bdml_matrices *X)
{
    int floor, ceiling;
    bdml_matrix_ends(X, &floor, &ceiling);
    return floor == X->r ? 0 : triangle(X->r) - triangle(floor) - triangle(ceiling);
}

static void derivative(bdml_matrices *X, const bdml_spectral *set, bdml_derivative *D)
{
    int r = X->r;
    const double *z = X->lambda, *l = X->l;
    set->ops->face(set, z, D->mid, D->c, D->tau);
    double tie = 16.0 * EPS * BDML_MAX(fabs(z[0]), fabs(z[r - 1]));
    for (int j = 0; j < r; j++) {
        D->first[j] = D->last[j] = 0;
        for (int i = 0; i <= j; i++) {
            double gap = z[j] - z[i];
            double ratio = i == j      ? D->mid[i]
                           : gap > tie ? (l[j] - l[i]) / gap
                                       : D->mid[i] * D->mid[j];
            COL(D->root, r, j)[i] = sqrt(BDML_MAX(ratio, 0.0) * (i == j ? 1.0 : 2.0));
            if (!(ratio > 0.0)) continue;
            if (D->last[j] == 0) D->first[j] = i;
            D->last[j] = i + 1;
        }
    }
}

static void rotate(int r, const double *Q, int count, const double *f, double *to)
{
    bdml_la_gemm('T', 'N', r, count, r, 1.0, Q, r, f, r, 0.0, to, r);
}

static void entries(int r, const bdml_derivative *D, int from, int to, const double *f,
                    const double *g, double *v)
{
    for (int j = from; j < to; j++) {
        const double *root = COL(D->root, r, j);
        for (int i = D->first[j]; i < D->last[j]; i++) *v++ = root[i] * (f[i] * f[j] - g[i] * g[j]);
    }
}

static double work(int r)
{
    return 10.0 * r * r * r;
}

static double row_work(int r)
{
    return (double)r * r;
}

const bdml_matrix_ops bdml_full_matrices = {
    .name = "full",
    .height = height,
    .turns = true,
    .take = take,
    .eigenvalues = eigenvalues,
    .project = project,
    .minimise = minimise,
    .compose = compose,
    .largest = largest,
    .largest_exact = largest_exact,
    .width = width,
    .derivative = derivative,
    .rotate = rotate,
    .entries = entries,
    .work = work,
    .row_work = row_work,
};
