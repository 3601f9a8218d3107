/* test_certify_spectrum.c - the checker's own numbers: eigenvalues against LAPACK, its bound against the
 * spectral set's. */
#include "check.h"

#include "certify/stated.h"
#include "linalg/linalg.h"
#include "spectral/spectral.h"

/* ---- eigenvalues ---------------------------------------------------------------------------------- */

/* Both eigensolvers on a symmetric d x d matrix; rounding of LAPACK's is a few d eps |A|. */
static void compare_eigenvalues(bdml_handle *h, int d, const double *a)
{
    size_t dd = (size_t)d * (size_t)d;
    double *copy = calloc(dd, sizeof *copy), *lambda = calloc((size_t)d, sizeof *lambda);
    long double *wide = calloc(dd, sizeof *wide), *plain = calloc((size_t)d, sizeof *plain);
    double norm = 0;
    bdml_eigh_ws ws;
    memcpy(copy, a, dd * sizeof *a);
    for (size_t k = 0; k < dd; k++) wide[k] = a[k], norm = fmax(norm, fabs(a[k]));
    check_ok(h, bdml_eigh_ws_init(h, d, &ws));
    check_ok(h, bdml_la_eigh(h, d, copy, lambda, false, &ws));
    check_true(bdml_plain_eigenvalues(d, wide, plain));
    for (int i = 0; i < d; i++) check_close((double)plain[i], lambda[i], 1e-14 * d * norm * d);
    bdml_eigh_ws_free(&ws);
    free(copy);
    free(lambda);
    free(wide);
    free(plain);
}

/* A = Q diag(l) Q' by reflections, so that eigenvalues may repeat. */
static void with_spectrum(bdml_rng *rng, int d, const double *l, double *a)
{
    memset(a, 0, sizeof *a * (size_t)(d * d));
    for (int i = 0; i < d; i++) a[i * d + i] = l[i];
    for (int round = 0; round < 3; round++) {
        double v[64], av[64], vv = 0, vav = 0;
        for (int i = 0; i < d; i++) v[i] = bdml_rng_normal(rng), vv += v[i] * v[i];
        for (int i = 0; i < d; i++) {
            av[i] = 0;
            for (int j = 0; j < d; j++) av[i] += a[i * d + j] * v[j];
            vav += v[i] * av[i];
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                a[i * d + j] +=
                    (-2 * (v[i] * av[j] + av[i] * v[j]) + 4 * vav * v[i] * v[j] / vv) / vv;
        for (int i = 0; i < d; i++)
            for (int j = 0; j < i; j++) a[i * d + j] = a[j * d + i];
    }
}

static void test_eigenvalues(void **state)
{
    static const int sizes[] = {1, 2, 3, 7, 40};
    static double a[40 * 40];
    double l[40];
    bdml_rng rng = bdml_rng_make(5, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int d = sizes[s];
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++) a[i * d + j] = a[j * d + i] = bdml_rng_normal(&rng);
        compare_eigenvalues(*state, d, a); /* any */
        for (int i = 0; i < d; i++) l[i] = i % 3 - 1;
        with_spectrum(&rng, d, l, a);
        compare_eigenvalues(*state, d, a); /* each many times */
        for (int i = 0; i < d; i++) l[i] = pow(10, -i);
        with_spectrum(&rng, d, l, a);
        compare_eigenvalues(*state, d, a); /* far apart */
        memset(a, 0, sizeof a);
        compare_eigenvalues(*state, d, a); /* zero */
        for (int i = 0; i < d; i++) a[i * d + i] = d - 2 * i;
        compare_eigenvalues(*state, d, a); /* diagonal, descending */
        for (int i = 0; i < d * d; i++) a[i] = 1;
        compare_eigenvalues(*state, d, a); /* rank one */
        memset(a, 0, sizeof a);
        for (int i = 0; i + 1 < d; i++) a[i * d + i + 1] = a[(i + 1) * d + i] = 1;
        compare_eigenvalues(*state, d, a); /* tridiagonal, zero diagonal */
    }
}

/* More exact than LAPACK: eigenvalues of the path graph are 2 cos(i pi / (d+1)). */
static void test_eigenvalues_exact(void **state)
{
    enum { D = 40 };
    static long double a[D * D], l[D];
    (void)state;
    for (int i = 0; i + 1 < D; i++) a[i * D + i + 1] = a[(i + 1) * D + i] = 1;
    check_true(bdml_plain_eigenvalues(D, a, l));
    for (int i = 0; i < D; i++) {
        long double exact = 2 * cosl(acosl(-1.0L) * (long double)(D - i) / (D + 1));
        check_close((double)(l[i] - exact), 0, 1e-17); /* of size 2 with 64 bits: 1e-19 a step */
    }
}

/* ---- bound ------------------------------------------------------------------------------------------ */

static void test_bound(void **state)
{
    static const double Ks[] = {1, 1.5, 10, 1e6};
    bdml_rng rng = bdml_rng_make(6, 0);
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        int d = 1 + trial % 9, kind = trial / 9 % 4;
        double w[9], K = Ks[trial % 4], R = exp(bdml_rng_normal(&rng));
        long double wide[9];
        for (int i = 0; i < d; i++) w[i] = bdml_rng_normal(&rng);
        if (kind == 1)
            for (int i = 0; i < d; i++) w[i] = fabs(w[i]); /* nothing to gain */
        if (kind == 2)
            for (int i = 0; i < d; i++) w[i] = w[0]; /* all the same */
        if (kind == 3)
            for (int i = 0; i < d; i++) w[i] = -fabs(w[i]);
        for (int i = 1; i < d; i++)
            for (int j = i; j > 0 && w[j - 1] > w[j]; j--) {
                double swap = w[j];
                w[j] = w[j - 1], w[j - 1] = swap;
            }
        for (int i = 0; i < d; i++) wide[i] = w[i];
        bdml_spectral set = bdml_spectral_distortion(d, K, R);
        double size = fabs(w[0]) + fabs(w[d - 1]);
        check_close((double)bdml_plain_minimum(d, wide, K, R), set.ops->minimise(&set, w, R, NULL),
                    1e-13 * R * size);
        check_close((double)bdml_plain_density(d, wide, K), set.ops->density(&set, w),
                    1e-13 * size);
    }
    long double up[2] = {1, 2}, down[2] = {-1, 2};
    check_true(bdml_plain_minimum(2, up, 3, INFINITY) == 0);
    check_true(bdml_plain_minimum(2, down, 3, INFINITY) == -INFINITY);
}

/* Jacobi's rotations: A v = lambda v, the rows orthonormal, the values those of the other method. */
static void test_eigenvectors(void **state)
{
    enum { D = 12 };
    static long double a[D * D], b[D * D], v[D * D], l[D], other[D];
    bdml_rng rng = bdml_rng_make(9, 1);
    (void)state;
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) a[i * D + j] = a[j * D + i] = bdml_rng_normal(&rng);
    memcpy(b, a, sizeof a);
    check_true(bdml_plain_eigenvalues(D, b, other));
    memcpy(b, a, sizeof a);
    check_true(bdml_plain_eigenvectors(D, b, l, v));
    for (int k = 0; k < D; k++) {
        check_close((double)(l[k] - other[k]), 0, 1e-16);
        for (int i = 0; i < D; i++) {
            long double sum = 0, dot = 0;
            for (int j = 0; j < D; j++)
                sum += a[i * D + j] * v[k * D + j], dot += v[k * D + j] * v[i * D + j];
            check_close((double)(sum - l[k] * v[k * D + i]), 0, 1e-16);
            check_close((double)dot, i == k, 1e-16);
        }
    }
}

/* A Gram matrix with many more columns than rank, some of them empty, as pictures have: what rounding leaves of the
 * eigenvalues 0 must not keep the method from ending. */
static void test_eigenvalues_of_low_rank(void **state)
{
    enum { D = 300, RANK = 10 };
    (void)state;
    bdml_rng rng = bdml_rng_make(6, 0);
    double *x = calloc((size_t)RANK * D, sizeof *x);
    long double *a = calloc((size_t)D * D, sizeof *a), l[D], trace = 0.0L, sum = 0.0L;
    for (int k = 0; k < RANK; k++)
        for (int j = 0; j < D; j++)
            if (j % 7 > 1) x[k * D + j] = floor(255.0 * pow(bdml_rng_uniform(&rng), 1.0 + j % 5));
    for (int i = 0; i < D; i++) {
        for (int j = 0; j < D; j++)
            for (int k = 0; k < RANK; k++)
                a[i * D + j] += (long double)x[k * D + i] * x[k * D + j] / 3.0L;
        trace += a[i * D + i];
    }
    check_true(bdml_plain_eigenvalues(D, a, l));
    for (int i = 0; i < D; i++) {
        check_true(fabsl(l[i]) <= 1e-15L * trace || i >= D - RANK);
        sum += l[i];
    }
    check_close((double)(sum / trace), 1.0, 1e-15);
    free(x);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_eigenvalues),
        handle_test(test_eigenvalues_of_low_rank),
        cmocka_unit_test(test_eigenvalues_exact),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_eigenvectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
