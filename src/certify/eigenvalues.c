/* eigenvalues.c - eigenvalues of a symmetric matrix by plain loops: Householder reduction to
 * tridiagonal form, then the implicit QL method with Wilkinson's shift.
 *
 * Golub & Van Loan, Matrix Computations, 4th ed., algorithms 8.3.1 and 8.3.3. */
#include "certify/certify.h"

#include <float.h>

enum { SWEEPS = 60 }; /* per eigenvalue; two or three are usual */

/* a -> tridiagonal with diagonal `diag` and subdiagonal `sub` (sub[i] couples i and i+1). Column by
 * column a reflector H = I - 2 v v' / v'v empties what lies below the subdiagonal. */
static void tridiagonalise(int n, long double *a, long double *diag, long double *sub)
{
#define A(i, j) a[(size_t)(i) * (size_t)n + (size_t)(j)]
    for (int k = 0; k + 2 < n; k++) {
        long double norm2 = 0.0L, below = 0.0L;
        for (int i = k + 1; i < n; i++) norm2 += A(i, k) * A(i, k);
        for (int i = k + 2; i < n; i++) below += A(i, k) * A(i, k);
        if (below == 0.0L) continue;
        long double alpha = A(k + 1, k) > 0.0L ? -sqrtl(norm2) : sqrtl(norm2);
        /* v in column k below the diagonal; beta = 2 / v'v */
        A(k + 1, k) -= alpha;
        long double beta = 2.0L / (A(k + 1, k) * A(k + 1, k) + below);
        /* p = beta B v, w = p - (beta/2)(p'v) v, B <- B - v w' - w v'; B = a[k+1.., k+1..] */
        long double pv = 0.0L;
        for (int i = k + 1; i < n; i++) {
            long double p = 0.0L;
            for (int j = k + 1; j < n; j++) p += A(i, j) * A(j, k);
            diag[i] = beta * p;
            pv += diag[i] * A(i, k);
        }
        for (int i = k + 1; i < n; i++) diag[i] -= 0.5L * beta * pv * A(i, k);
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) A(i, j) -= A(i, k) * diag[j] + diag[i] * A(j, k);
        A(k + 1, k) = alpha; /* all that is left of the column */
    }
    for (int i = 0; i < n; i++) diag[i] = A(i, i);
    for (int i = 0; i + 1 < n; i++) sub[i] = A(i + 1, i);
#undef A
}

/* Eigenvalues of the tridiagonal matrix into diag, unsorted; sub has n places, the last is spare. The matrix splits where
 * a coupling is lost beside its neighbours, or beside the whole matrix: that moves no eigenvalue by more than the
 * reduction has, and where eigenvalues are 0 the neighbours are rounding error themselves. */
static bool implicit_ql(int n, long double *diag, long double *sub)
{
    long double size = 0.0L;
    for (int i = 0; i < n; i++) size = fmaxl(size, fabsl(diag[i]) + fabsl(sub[i]));
    for (int l = 0; l < n; l++) {
        for (int sweep = 0;; sweep++) {
            int m = l;
            while (m + 1 < n && fabsl(sub[m]) > LDBL_EPSILON * size &&
                   fabsl(sub[m]) > LDBL_EPSILON * (fabsl(diag[m]) + fabsl(diag[m + 1])))
                m++;
            if (m == l) break;
            if (sweep == SWEEPS) return false;
            long double g = (diag[l + 1] - diag[l]) / (2.0L * sub[l]);
            long double r = hypotl(g, 1.0L);
            g = diag[m] - diag[l] + sub[l] / (g + copysignl(r, g));
            long double s = 1.0L, c = 1.0L, p = 0.0L;
            int i;
            for (i = m - 1; i >= l; i--) {
                long double f = s * sub[i], b = c * sub[i];
                r = hypotl(f, g);
                sub[i + 1] = r;
                if (r == 0.0L) { /* the matrix has split: go round again */
                    diag[i + 1] -= p;
                    break;
                }
                s = f / r;
                c = g / r;
                g = diag[i + 1] - p;
                r = (diag[i] - g) * s + 2.0L * c * b;
                p = s * r;
                diag[i + 1] = g + p;
                g = c * r - b;
            }
            if (r == 0.0L && i >= l) {
                sub[m] = 0.0L;
                continue;
            }
            diag[l] -= p;
            sub[l] = g;
            sub[m] = 0.0L;
        }
    }
    return true;
}

bool bdml_plain_eigenvalues(int d, long double *a, long double *lambda)
{
    /* The last row of a is free once the matrix is tridiagonal: it holds the subdiagonal, with one
     * place to spare. */
    long double *sub = a + (size_t)(d - 1) * (size_t)d;
    if (d == 1) return lambda[0] = a[0], true;
    tridiagonalise(d, a, lambda, sub);
    sub[d - 1] = 0.0L;
    if (!implicit_ql(d, lambda, sub)) return false;
    for (int i = 1; i < d; i++) { /* insertion sort: QL leaves them nearly in order */
        long double v = lambda[i];
        int j = i;
        for (; j > 0 && lambda[j - 1] > v; j--) lambda[j] = lambda[j - 1];
        lambda[j] = v;
    }
    return true;
}
