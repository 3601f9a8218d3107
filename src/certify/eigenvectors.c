/* eigenvectors.c - eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations, sweep after sweep
 * until nothing is left off the diagonal.
 *
 * Golub & Van Loan, Matrix Computations, 4th ed., section 8.5. */
#include "certify/stated.h"

#include <float.h>

enum { SWEEPS = 60 }; /* ten are usual */

/* Rotate rows and columns p and q of a so that a_pq = 0, and the rows of v along. */
static void rotate(size_t d, long double *a, long double *v, size_t p, size_t q)
{
    long double tau = (a[q * d + q] - a[p * d + p]) / (2.0L * a[p * d + q]);
    long double t = (tau >= 0.0L ? 1.0L : -1.0L) / (fabsl(tau) + sqrtl(1.0L + tau * tau));
    long double c = 1.0L / sqrtl(1.0L + t * t), s = t * c;
    for (size_t k = 0; k < d; k++) {
        long double x = a[k * d + p], y = a[k * d + q];
        a[k * d + p] = c * x - s * y;
        a[k * d + q] = s * x + c * y;
    }
    for (size_t k = 0; k < d; k++) {
        long double x = a[p * d + k], y = a[q * d + k];
        a[p * d + k] = c * x - s * y;
        a[q * d + k] = s * x + c * y;
        x = v[p * d + k], y = v[q * d + k];
        v[p * d + k] = c * x - s * y;
        v[q * d + k] = s * x + c * y;
    }
    a[p * d + q] = a[q * d + p] = 0.0L;
}

/* Ascending, by exchanging rows. */
static void sort(size_t d, long double *lambda, long double *v)
{
    for (size_t i = 0; i < d; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < d; j++)
            if (lambda[j] < lambda[least]) least = j;
        long double x = lambda[i];
        lambda[i] = lambda[least];
        lambda[least] = x;
        for (size_t k = 0; least != i && k < d; k++) {
            x = v[i * d + k];
            v[i * d + k] = v[least * d + k];
            v[least * d + k] = x;
        }
    }
}

bool bdml_plain_eigenvectors(int dim, long double *a, long double *lambda, long double *v)
{
    size_t d = (size_t)dim;
    bool done = false;
    for (size_t k = 0; k < d * d; k++) v[k] = k % (d + 1) == 0 ? 1.0L : 0.0L;
    for (int sweep = 0; sweep < SWEEPS && !done; sweep++) {
        long double most = 0.0L;
        for (size_t i = 0; i < d; i++) most = fmaxl(most, fabsl(a[i * d + i]));
        done = true;
        for (size_t p = 0; p + 1 < d; p++)
            for (size_t q = p + 1; q < d; q++) {
                if (fabsl(a[p * d + q]) <= LDBL_EPSILON * most) continue;
                rotate(d, a, v, p, q);
                done = false;
            }
    }
    for (size_t i = 0; i < d; i++) lambda[i] = a[i * d + i];
    sort(d, lambda, v);
    return done;
}
