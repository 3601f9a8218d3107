/* diagonal.c - diagonal matrices: the entries are the eigenvalues, and a sort is all it takes. */
#include "spectral/matrix.h"

static int height(int r)
{
    (void)r;
    return 1;
}

static void take(const bdml_matrices *X, const double *full, double *to)
{
    for (int j = 0; j < X->r; j++) to[j] = COL(full, X->r, j)[j];
}

static bdml_status eigenvalues(bdml_matrices *X, double *A, double *lambda)
{
    bdml_spectral_sort(X->r, A, X->order);
    for (int i = 0; i < X->r; i++) lambda[i] = A[X->order[i]];
    return BDML_OK;
}

static bdml_status project(bdml_matrices *X, const bdml_spectral *set, double *A, double *M)
{
    bdml_spectral_project_any(set, A, M, X->order, X->l);
    for (int i = 0; i < X->r; i++) X->lambda[i] = A[X->order[i]];
    return BDML_OK;
}

static bdml_status minimise(bdml_matrices *X, const bdml_spectral *set, double trace, double *A,
                            bool vectors, double *least)
{
    (void)vectors;
    *least = bdml_spectral_minimise_any(set, A, trace, X->l, X->order, X->sorted);
    return BDML_OK;
}

static void compose(bdml_matrices *X, const double *Q, const double *l, double *M)
{
    (void)Q;
    memcpy(M, l, sizeof *M * X->size);
}

static void largest(bdml_matrices *X, const double *A, double tolerance, double floor, double *u,
                    double *theta)
{
    int best = 0;
    (void)tolerance, (void)floor;
    for (int i = 1; i < X->r; i++)
        if (A[i] > A[best]) best = i;
    memset(u, 0, sizeof *u * (size_t)X->r);
    u[best] = 1.0;
    *theta = A[best];
}

static bdml_status largest_exact(bdml_matrices *X, const double *A, double *T, double *u,
                                 double *theta)
{
    (void)T;
    largest(X, A, 0.0, 0.0, u, theta);
    return BDML_OK;
}

/* ---- Newton's method -------------------------------------------------------------------------- */

static size_t width(const bdml_matrices *X)
{
    int floor, ceiling;
    bdml_matrix_ends(X, &floor, &ceiling);
    return floor == X->r ? 0 : (size_t)(X->r - floor - ceiling);
}

static void derivative(bdml_matrices *X, const bdml_spectral *set, bdml_derivative *D)
{
    double *vectors[] = {D->mid, D->c, D->tau};
    set->ops->face(set, X->lambda, D->mid, D->c, D->tau);
    for (int v = 0; v < 3; v++) {
        for (int i = 0; i < X->r; i++) X->sorted[X->order[i]] = vectors[v][i];
        memcpy(vectors[v], X->sorted, sizeof *X->sorted * (size_t)X->r);
    }
    for (int i = 0; i < X->r; i++) {
        D->first[i] = i;
        D->last[i] = i + (D->mid[i] > 0.0);
    }
}

static void rotate(int r, const double *Q, int count, const double *f, double *to)
{
    (void)Q;
    memcpy(to, f, sizeof *f * (size_t)r * (size_t)count);
}

static void entries(int r, const bdml_derivative *D, int from, int to, const double *f,
                    const double *g, double *v)
{
    (void)r;
    for (int i = from; i < to; i++)
        if (D->last[i] > D->first[i]) *v++ = D->mid[i] * (f[i] * f[i] - g[i] * g[i]);
}

static double work(int r)
{
    return r;
}

const bdml_matrix_ops bdml_diagonal_matrices = {
    .name = "diagonal",
    .height = height,
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
    .row_work = work,
};
