/* linalg.h - the only folder that calls BLAS and LAPACK.
 *
 * Matrices here are column-major, as BLAS has them. A data set (n rows of d doubles) is therefore
 * the d x n matrix X whose columns are the points, with no copy.
 *
 * Threads and bits: OpenBLAS gives different bits with different thread counts, so BLAS runs on one
 * thread while a bdml call is under way (bdml_la_enter), and the _tiled functions spread fixed tiles
 * over OpenMP: the same bits whatever the number of threads. Plain functions are for one tile, and
 * may be called inside a parallel region.
 *
 * Called by every folder above base. */
#ifndef BDML_LINALG_H
#define BDML_LINALG_H

#include "base/base.h"

/* Start of column j of a matrix with leading dimension ld. */
#define COL(a, ld, j) ((a) + (size_t)(ld) * (size_t)(j))

/* ---- guard (guard.c) ------------------------------------------------------------------------ */

/* Every public call that computes is bracketed by these; they nest, and calls on several handles may
 * run at once. Where limits of the process leave no room for OpenBLAS, enter fails, and nothing is to be left; where they leave
 * room for few threads, the handle has as many (bdml_threads). */
bdml_status bdml_la_enter(bdml_handle *h);
void bdml_la_leave(bdml_handle *h);
/* The same for a public call that works long: its time is charged to `phase`, and ends by `time_limit` or with
 * the call that it is inside of. */
typedef struct bdml_call {
    bdml_phase previous;
    bool timed;
} bdml_call;
bdml_status bdml_call_begin(bdml_handle *h, bdml_phase phase, bdml_call *call);
void bdml_call_end(bdml_handle *h, bdml_call call);
/* Let BLAS use `threads` threads for one LAPACK call, if no other bdml call runs at the moment;
 * false when one does. Until bdml_la_narrow no other call may begin. */
bool bdml_la_widen(int threads);
void bdml_la_narrow(void);

/* ---- one tile (blas.c) ------------------------------------------------------------------------ */

/* C (m x n) = alpha op(A) op(B) + beta C; ta, tb: 'N' or 'T'. */
void bdml_la_gemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
                  const double *b, int ldb, double beta, double *c, int ldc);
void bdml_la_sgemm(char ta, char tb, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);
/* Lower triangle of C (n x n) = alpha A A' + beta C ('N', A n x k) or alpha A' A + beta C ('T'). */
void bdml_la_syrk(char t, int n, int k, double alpha, const double *a, int lda, double beta,
                  double *c, int ldc);
/* y = alpha op(A) x + beta y, A m x n. */
void bdml_la_gemv(char t, int m, int n, double alpha, const double *a, int lda, const double *x,
                  double beta, double *y);
double bdml_la_dot(int n, const double *x, const double *y);
double bdml_la_norm(int n, const double *x);
void bdml_la_mirror(int n, double *a, int lda); /* lower triangle -> upper */

/* ---- tiled over threads, same bits for any number of them (tiled.c) ---------------------------- */

void bdml_la_gemm_tiled(const bdml_handle *h, char ta, char tb, int m, int64_t n, int64_t k,
                        double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double beta, double *c, int64_t ldc);
/* Both triangles of C (d x d) = sum over columns i of X (d x n) of w_i x_i x_i'; w may be NULL
 * (all 1) and may be negative. ws: bdml_la_gram_size(d) doubles. */
size_t bdml_la_gram_size(int d);
void bdml_la_gram(const bdml_handle *h, int d, int64_t n, const double *x, int64_t ldx,
                  const double *w, double *c, double *ws);
/* The same of n points over ranks, to the same bits: each has the stretch of them, and of their weights, that is its own, which
 * may be empty. */
bdml_stretch bdml_la_gram_stretch(const bdml_comm *comm, int64_t n);
void bdml_la_gram_ranks(const bdml_handle *h, const bdml_comm *comm, int d, int64_t n,
                        const double *x, int64_t ldx, const double *w, double *c, double *ws);

/* ---- one map, many rows (map.c) ------------------------------------------------------------------ */

/* z (n rows of q) = A' x for n rows x of d (row i at x + i*ldx), A d x q with leading dimension d: a
 * map kept as q rows of d is passed as it is. The image of a row depends on that row alone, to the
 * bit, not on its place. ws: bdml_la_map_size(q, d) doubles. */
size_t bdml_la_map_size(int q, int d);
void bdml_la_map_rows(const bdml_handle *h, int q, int d, const double *a, int64_t n,
                      const double *x, int64_t ldx, double *z, double *ws);

/* ---- symmetric eigenproblem, Cholesky (lapack.c) ----------------------------------------------- */

/* Workspace for matrices up to d x d. Nothing is allocated after init. */
typedef struct bdml_eigh_ws {
    int d;
    double *work;
    int lwork;
    int *iwork;
    int liwork;
} bdml_eigh_ws;
bdml_status bdml_eigh_ws_init(bdml_handle *h, int d, bdml_eigh_ws *ws);
void bdml_eigh_ws_free(bdml_eigh_ws *ws);

/* A = Q diag(lambda) Q', lambda ascending. a (d x d, lower triangle read) becomes Q, columns the
 * eigenvectors; vectors false: eigenvalues only and a is destroyed. BDML_ERR_LAPACK on failure. */
bdml_status bdml_la_eigh(bdml_handle *h, int d, double *a, double *lambda, bool vectors,
                         bdml_eigh_ws *ws);

/* ---- largest eigenpair by Lanczos (lanczos.c) ----------------------------------------------------- */

/* For matrices of one size d; any number of them in any number of threads, a workspace each. */
typedef struct bdml_lanczos_ws {
    int d, basis;
    int first, between,
        restarts; /* steps to the first look at convergence, between looks; restarts */
    double *q, *alpha, *beta, *y, *work;
    int steps;                 /* out: v = sum over k < steps of combination[k] q_k, */
    const double *combination; /* q_k the k-th vector of the last restart */
} bdml_lanczos_ws;
bdml_status bdml_lanczos_ws_init(bdml_handle *h, int d, bdml_lanczos_ws *ws);
void bdml_lanczos_ws_free(bdml_lanczos_ws *ws);
/* *theta = v'Av at a unit v with |Av - theta v| <= *residual, which is at most tolerance times the size of A
 * unless the steps run out; theta never exceeds the largest eigenvalue (but by rounding). a: d x d, both
 * triangles. v in: where to start, all zero for a fixed start; out: the vector. Values at or below `floor` are not
 * wanted: the search ends, with what it has, once theta + residual is no more than that (-INFINITY: never). */
void bdml_la_largest(const double *a, double tolerance, double floor, double *v, double *theta,
                     double *residual, bdml_lanczos_ws *ws);
/* The same for a matrix that is known by its products: y = A x, x the k-th vector since the last restart. */
typedef void (*bdml_la_apply)(void *user, int k, const double *x, double *y);
void bdml_la_largest_of(bdml_la_apply apply, void *user, double tolerance, double floor, double *v,
                        double *theta, double *residual, bdml_lanczos_ws *ws);

/* ---- QR and singular values (lapack.c) ------------------------------------------------------------ */

/* Replace the columns of A (m x n, m >= n) by an orthonormal basis of the same leading spans: the Q of
 * A = QR by Householder reflections. */
bdml_status bdml_la_orth(bdml_handle *h, int m, int n, double *a);
/* Singular values of A (m x n), descending, min(m,n) of them; a is destroyed. */
bdml_status bdml_la_singular_values(bdml_handle *h, int m, int n, double *a, double *sigma);

/* A (m x n) = U diag(sigma) V', r = min(m,n): u m x r, vt = V' r x n, sigma descending; a is destroyed. */
bdml_status bdml_la_svd(bdml_handle *h, int m, int n, double *a, double *sigma, double *u,
                        double *vt);

/* Solve A x = b, A n x n symmetric positive definite (lower triangle read, then holds its Cholesky
 * factor), b overwritten by x. False when A is not positive definite. */
bool bdml_la_solve_spd(int n, double *a, double *b);
/* A^-1 in place of A (both triangles; lower read) and log det A. False when A is not positive definite. */
bool bdml_la_invert_spd(int n, double *a, double *log_det);

#endif
