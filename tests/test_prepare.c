/* test_prepare.c - fill-in, scaling, PCA, splits: by hand, against plain loops, edges, faults. */
#include "check.h"

#include "data/data.h"
#include "linalg/linalg.h"

/* ---- tools ----------------------------------------------------------------------------------- */

typedef struct heard {
    char text[2048];
    int warnings;
} heard;

static void listen(void *user, bdml_log_level level, const char *line)
{
    heard *log = user;
    if (level == BDML_LOG_WARNING) log->warnings++;
    snprintf(log->text, sizeof log->text, "%s", line);
}

/* Normal numbers with standard deviation 1, 1/2, 1/3, ... along the axes, mean 5. */
static bdml_dataset *cloud(bdml_handle *h, int64_t n, int d, uint64_t seed)
{
    bdml_dataset *data;
    bdml_rng r = bdml_rng_make(seed, 0);
    check_ok(h, bdml_dataset_new(h, n, d, 0, &data));
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) data->x[i * d + j] = 5.0 + bdml_rng_normal(&r) / (1 + j);
    return data;
}

static bdml_dataset *from_list(bdml_handle *h, int64_t n, int d, const double *x)
{
    bdml_dataset *data;
    check_ok(h, bdml_dataset_new(h, n, d, 0, &data));
    memcpy(data->x, x, sizeof(double) * (size_t)n * (size_t)d);
    return data;
}

static double *apply(bdml_handle *h, const bdml_prepare *p, const bdml_dataset *data)
{
    double *z = malloc(sizeof(double) * (size_t)data->n * (size_t)p->d_out);
    assert_non_null(z);
    check_ok(h, bdml_prepare_apply(h, p, data->n, data->x, data->d, z));
    return z;
}

/* Population covariance of n rows by plain loops. */
static void plain_covariance(int64_t n, int d, const double *z, double *mean, double *c)
{
    memset(mean, 0, sizeof(double) * (size_t)d);
    memset(c, 0, sizeof(double) * (size_t)d * (size_t)d);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) mean[j] += z[i * d + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            for (int k = 0; k < d; k++)
                c[j * d + k] += (z[i * d + j] - mean[j]) * (z[i * d + k] - mean[k]) / (double)n;
}

/* ---- scaling ----------------------------------------------------------------------------------- */

/* Column 0: 1 2 3 4, mean 2.5, population variance 1.25, range 3. Column 1 constant. */
static void scaling_by_hand(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 7, 2, 7, 3, 7, 4, 7};
    static char name0[] = "length", name1[] = "planet";
    char *names[] = {name0, name1};
    heard log = {0};
    bdml_prepare p;
    bdml_dataset *data = from_list(h, 4, 2, x);
    data->feature_name = names;
    bdml_set_log(h, listen, &log);

    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    assert_string_equal(log.text, "1 column is constant in the training data and set to 0: 2 "
                                  "('planet')");
    double *z = apply(h, &p, data);
    for (int i = 0; i < 4; i++) {
        check_close(z[2 * i], (i - 1.5) / sqrt(1.25), 4 * 2.3e-16);
        check_true(z[2 * i + 1] == 0.0);
    }
    free(z);
    bdml_prepare_free(&p);

    check_ok(h, bdml_set(h, "scale", "minmax"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    z = apply(h, &p, data);
    for (int i = 0; i < 4; i++) {
        check_close(z[2 * i], i / 3.0, 2.3e-16);
        check_true(z[2 * i + 1] == 0.0);
    }
    assert_int_equal(log.warnings, 1); /* the same warning is told once a handle */
    /* New data: another value in the constant column still gives 0, and nothing is clipped. */
    double far[] = {10, 1e9}, out[2];
    check_ok(h, bdml_prepare_apply(h, &p, 1, far, 2, out));
    check_close(out[0], 3.0, 1e-15);
    check_true(out[1] == 0.0);
    free(z);
    bdml_prepare_free(&p);
    data->feature_name = NULL;
    bdml_free_dataset(data);
}

/* OpenBLAS sums the squares of dnrm2 in long doubles, which valgrind computes as doubles: there squares of 1e200 overflow. */
static bool long_doubles_have_range(void)
{
    volatile long double large = 1e300L;
    /* isfinite compares with the largest of all, which is infinite as well where it has no more range than a double */
    return large * large / large < 2.0L * large;
}

static void unit_rows_have_length_one(void **state)
{
    bdml_handle *h = *state;
    int64_t n = long_doubles_have_range() ? 4 : 2;
    double x[] = {3, 4, 0, 0, 3e200, 4e200, 3e-200, -4e-200};
    bdml_dataset *data = from_list(h, n, 2, x);
    bdml_prepare p;
    check_ok(h, bdml_set(h, "scale", "unit"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_ok(h, bdml_prepare_apply(h, &p, n, x, 2, x)); /* in place */
    static const double want[] = {0.6, 0.8, 0, 0, 0.6, 0.8, 0.6, -0.8};
    for (int64_t k = 0; k < 2 * n; k++) check_close(x[k], want[k], 2.3e-16);
    bdml_prepare_free(&p);
    bdml_free_dataset(data);
}

/* Columns: rounding noise around 0.3 (constant); a step of 1 at 1e9 (not constant); tiny and huge
 * values, whose squares leave the range of doubles (not constant). */
static void scaling_survives_extreme_columns(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {0.3,       1e9,     1e-300, -1e300, /**/
                               0.1 + 0.2, 1e9 + 1, 2e-300, 1e300};
    bdml_dataset *data = from_list(h, 2, 4, x);
    bdml_prepare p;
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    double *z = apply(h, &p, data);
    check_true(z[0] == 0.0 && z[4] == 0.0);
    for (int j = 1; j < 4; j++) { /* two points: -1 and 1 */
        check_close(z[j], -1.0, 1e-15);
        check_close(z[4 + j], 1.0, 1e-15);
    }
    free(z);
    bdml_prepare_free(&p);
    data->x[3] = -1.7e308;
    data->x[7] = 1.7e308;
    check_fails(h, bdml_prepare_fit(h, &h->options, data, &p), BDML_ERR_DATA, "column 3");
    bdml_free_dataset(data);
}

/* What preparation survives, no metric is made of: refused by name and with what would help. */
static void columns_out_of_range_are_refused(void **state)
{
    bdml_handle *h = *state;
    const bdml_prepare_options *o = &h->options.prepare;
    static const double x[] = {1e70, 0, 1e-70, NAN, /**/ -1e70, 0, 3, INFINITY};
    bdml_dataset *data = from_list(h, 2, 4, x);
    check_ok(h, bdml_dataset_check_size(h, o, data));
    data->x[4] = -1.1e70;
    check_fails(h, bdml_dataset_check_size(h, o, data), BDML_ERR_DATA,
                "column 0 (from 0) has no value beyond 1.1e+70: above 1e+70");
    data->x[4] = 1.0;
    data->x[1] = 0.9e-70;
    check_fails(h, bdml_dataset_check_size(h, o, data), BDML_ERR_DATA,
                "multiply the column by 1e+70");
    data->x[1] = 1e13, data->x[5] = 1e13 + 1.1;
    check_ok(h, bdml_dataset_check_size(h, o, data));
    data->x[5] = 1e13 + 0.9;
    check_fails(
        h, bdml_dataset_check_size(h, o, data), BDML_ERR_DATA,
        "varies by 0.9 about 1e+13, which rounding takes away from a metric; subtract 1e+13");
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_dataset_check_size(h, o, data));
    bdml_free_dataset(data);
    bdml_model *model = NULL;
    check_fails(h, bdml_model_from_map(h, 1, 2, (double[]){1e200, 0}, 0, &model), BDML_ERR_DATA,
                "the metric L'L is not finite");
    assert_null(model);
}

static void missing_values_are_filled_or_refused(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {1, 10, NAN, 20, 3, NAN};
    double z[6], bad[] = {1, 2, 3, INFINITY};
    bdml_dataset *data = from_list(h, 3, 2, x);
    bdml_prepare p;
    check_fails(h, bdml_prepare_fit(h, &h->options, data, &p), BDML_ERR_DATA, "row 1, column 0");
    check_ok(h, bdml_set(h, "missing", "mean"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_ok(h, bdml_prepare_apply(h, &p, 3, x, 2, z));
    static const double want[] = {1, 10, 2, 20, 3, 15};
    for (int k = 0; k < 6; k++) check_true(z[k] == want[k]);
    check_fails(h, bdml_prepare_apply(h, &p, 2, bad, 2, z), BDML_ERR_DATA,
                "row 1, column 1 (from 0): inf is not a finite number");
    bdml_prepare_free(&p);
    bdml_free_dataset(data);

    data = cloud(h, 5, 2, 1);
    check_ok(h, bdml_set(h, "missing", "error"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_fails(h, bdml_prepare_apply(h, &p, 3, x, 2, z), BDML_ERR_DATA,
                "row 1, column 0 (from 0): the value is missing");
    bdml_prepare_free(&p);
    bdml_free_dataset(data);
}

/* Every scaling, with rows farther apart than they are long, against the formula. */
static void apply_equals_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { N = 300, D = 5, LD = 7 };
    static const char *const scales[] = {"none", "zscore", "minmax", "unit"};
    static double wide[N * LD], z[N * D];
    bdml_dataset *data = cloud(h, N, D, 2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) wide[i * LD + j] = data->x[i * D + j];
    for (int s = 0; s < 4; s++) {
        bdml_prepare p;
        check_ok(h, bdml_set(h, "scale", scales[s]));
        check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
        check_ok(h, bdml_prepare_apply(h, &p, N, wide, LD, z));
        for (int j = 0; j < D; j++) {
            double mean = 0, var = 0, lo = INFINITY, hi = -INFINITY;
            for (int i = 0; i < N; i++) mean += data->x[i * D + j] / N;
            for (int i = 0; i < N; i++) {
                double v = data->x[i * D + j];
                var += (v - mean) * (v - mean) / N;
                lo = fmin(lo, v);
                hi = fmax(hi, v);
            }
            for (int i = 0; i < N; i++) {
                double v = data->x[i * D + j], norm = 0;
                for (int k = 0; k < D; k++) norm += data->x[i * D + k] * data->x[i * D + k];
                double want[] = {v, (v - mean) / sqrt(var), (v - lo) / (hi - lo), v / sqrt(norm)};
                check_close(z[i * D + j], want[s], 1e-12); /* N roundings of numbers near 5/std */
            }
        }
        bdml_prepare_free(&p);
    }
    bdml_free_dataset(data);
}

/* ---- PCA ------------------------------------------------------------------------------------------ */

/* Check a PCA against the covariance of the data as scaled, worked out by plain loops: C v = lambda v,
 * V'V = I, lambda descending and the variance of the projection, the share kept. */
static void check_pca(bdml_handle *h, const bdml_dataset *data, const bdml_prepare *p, double tol)
{
    int d = p->d_in, q = p->d_out;
    double *mean = malloc(sizeof(double) * (size_t)d),
           *c = malloc(sizeof(double) * (size_t)(d * d));
    double *zm = malloc(sizeof(double) * (size_t)q), *zc = malloc(sizeof(double) * (size_t)(q * q));
    bdml_prepare scaling = *p;
    scaling.basis = scaling.center = NULL;
    scaling.d_out = d;
    double *scaled = apply(h, &scaling, data), *z = apply(h, p, data), total = 0, kept = 0;
    plain_covariance(data->n, d, scaled, mean, c);
    plain_covariance(data->n, q, z, zm, zc);
    for (int j = 0; j < d; j++) total += c[j * d + j];
    for (int j = 0; j < d; j++) check_close(p->center[j], mean[j], 1e-12);
    for (int a = 0; a < q; a++) {
        const double *v = p->basis + (size_t)a * (size_t)d;
        double lambda = zc[a * q + a], largest = 0;
        kept += lambda;
        if (a > 0) check_true(lambda <= zc[(a - 1) * q + a - 1] + tol * total);
        for (int j = 0; j < d; j++) {
            double cv = 0;
            for (int k = 0; k < d; k++) cv += c[j * d + k] * v[k];
            check_close(cv, lambda * v[j], tol * total);
            if (fabs(v[j]) > fabs(largest)) largest = v[j];
        }
        check_true(largest > 0);
        for (int b = 0; b <= a; b++) {
            check_close(bdml_la_dot(d, v, p->basis + (size_t)b * (size_t)d), a == b, 1e-12);
            if (b < a) check_close(zc[a * q + b], 0.0, tol * total);
        }
    }
    check_close(p->variance, kept / total, 1e-12);
    free(mean), free(c), free(zm), free(zc), free(scaled), free(z);
}

static void pca_matches_the_covariance_of_wine(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_prepare p, q;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    assert_int_equal(data->d, 13);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "pca", "5"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    assert_int_equal(p.d_out, 5);
    check_pca(h, data, &p, 1e-13);
    check_close(p.variance, 0.80162, 1e-5); /* scikit-learn: explained_variance_ratio_[:5].sum() */
    bdml_prepare_free(&p);

    /* By share: the smallest number that reaches it. */
    check_ok(h, bdml_set(h, "pca", "0.8"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    assert_int_equal(p.d_out, 5);
    check_ok(h, bdml_set(h, "pca", "4"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &q));
    check_true(p.variance >= 0.8 && q.variance < 0.8);
    bdml_prepare_free(&p);
    bdml_prepare_free(&q);

    /* Left to the data: nine tenths of the variance. */
    check_ok(h, bdml_set(h, "pca", "auto"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_ok(h, bdml_set(h, "pca", "0.9"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &q));
    assert_int_equal(p.d_out, 8); /* scikit-learn: 0.920 in 8 of them, 0.893 in 7 */
    assert_int_equal(q.d_out, 8);
    check_true(memcmp(p.basis, q.basis, sizeof *p.basis * 8 * 13) == 0);
    bdml_prepare_free(&p);
    bdml_prepare_free(&q);
    bdml_free_dataset(data);
}

/* Fewer points than dimensions: 9 components hold all there is of 10 points, so that distances stay. */
static void pca_of_few_points_keeps_distances(void **state)
{
    bdml_handle *h = *state;
    enum { N = 10, D = 30 };
    heard log = {0};
    bdml_prepare p;
    bdml_dataset *data = cloud(h, N, D, 3);
    bdml_set_log(h, listen, &log);
    check_ok(h, bdml_set(h, "pca", "50"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    assert_int_equal(p.d_out, N - 1);
    assert_int_equal(log.warnings, 1);
    check_pca(h, data, &p, 1e-13);
    double *z = apply(h, &p, data);
    for (int a = 0; a < N; a++)
        for (int b = 0; b < a; b++) {
            double before = 0, after = 0;
            for (int j = 0; j < D; j++) before += pow(data->x[a * D + j] - data->x[b * D + j], 2);
            for (int j = 0; j < N - 1; j++)
                after += pow(z[a * (N - 1) + j] - z[b * (N - 1) + j], 2);
            check_close(after, before, 1e-12 * before);
        }
    free(z);
    bdml_prepare_free(&p);
    bdml_free_dataset(data);
}

static void pca_refuses_what_it_cannot_do(void **state)
{
    bdml_handle *h = *state;
    static const double same[] = {1, 2, 1, 2, 1, 2};
    bdml_prepare p;
    bdml_dataset *data = from_list(h, 3, 2, same);
    check_ok(h, bdml_set(h, "pca", "2"));
    check_fails(h, bdml_prepare_fit(h, &h->options, data, &p), BDML_ERR_DATA, "all 3 are equal");
    check_ok(h, bdml_set(h, "pca", "1.5"));
    check_fails(h, bdml_prepare_fit(h, &h->options, data, &p), BDML_ERR_ARGUMENT, "got 1.5");
    bdml_free_dataset(data);
}

/* 8 strong directions (variance 400/2^k) in noise of variance 1/12, spread over all columns. */
static bdml_dataset *planted(bdml_handle *h, int64_t n, int d, double noise)
{
    enum { R = 8 };
    bdml_rng r = bdml_rng_make(9, 9);
    bdml_dataset *data;
    double *f = malloc(sizeof(double) * R * (size_t)d), u[R];
    check_ok(h, bdml_dataset_new(h, n, d, 0, &data));
    for (int k = 0; k < R * d; k++) f[k] = bdml_rng_normal(&r) / sqrt(d);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < R; k++) u[k] = 20 * bdml_rng_normal(&r) / sqrt((double)(1 << k));
        for (int j = 0; j < d; j++) {
            double v = 3 + noise * bdml_rng_uniform(&r);
            for (int k = 0; k < R; k++) v += u[k] * f[k * d + j];
            data->x[i * d + j] = v;
        }
    }
    free(f);
    return data;
}

/* The randomised way (8 of 1510 dimensions) against the exact one (all of them). Noise eigenvalues are
 * below (1 + 1)^2/12 = 1/3, the 8th planted one is about 3, and 7 Krylov blocks have the accuracy of a
 * Chebyshev polynomial of degree 6: the angle is below 1/T_6(2*3*3 - 1) = 1e-8, its square 1e-16. */
static void randomised_pca_finds_the_exact_subspace(void **state)
{
    bdml_handle *h = *state;
    enum { N = 1520, D = 1510, R = 8 };
    bdml_prepare fast, again, exact;
    bdml_dataset *data = planted(h, N, D, 1.0);
    check_ok(h, bdml_set(h, "pca", "8"));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &fast));
    check_ok(h, bdml_set(h, "threads", "2"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &again));
    check_true(memcmp(fast.basis, again.basis, sizeof(double) * R * D) == 0);
    check_ok(h, bdml_set(h, "pca", "0.9999999"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &exact));
    check_true(exact.d_out > 1000);
    for (int a = 0; a < R; a++) { /* |v|^2 = 1 = the part inside the exact span + the rest */
        const double *v = fast.basis + (size_t)a * D;
        double inside = 0;
        for (int b = 0; b < R; b++)
            inside += pow(bdml_la_dot(D, v, exact.basis + (size_t)b * D), 2);
        check_close(bdml_la_dot(D, v, v), 1.0, 1e-12);
        check_close(inside, 1.0, 1e-10);
        check_close(fabs(bdml_la_dot(D, v, exact.basis + (size_t)a * D)), 1.0, 1e-10);
    }
    bdml_prepare_free(&fast);
    bdml_prepare_free(&again);
    bdml_prepare_free(&exact);
    bdml_free_dataset(data);
}

/* Data of rank 8 without noise, 100 components asked for: the Krylov blocks run out of directions. */
static void randomised_pca_knows_the_rank(void **state)
{
    bdml_handle *h = *state;
    enum { N = 1520, D = 1510, R = 8 };
    heard log = {0};
    bdml_prepare p;
    bdml_dataset *data = planted(h, N, D, 0.0);
    bdml_set_log(h, listen, &log);
    check_ok(h, bdml_set(h, "pca", "100"));
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    assert_int_equal(p.d_out, R);
    assert_int_equal(log.warnings, 1);
    check_close(p.variance, 1.0, 1e-12);
    for (int a = 0; a < R; a++)
        for (int b = 0; b <= a; b++)
            check_close(bdml_la_dot(D, COL(p.basis, D, a), COL(p.basis, D, b)), a == b, 1e-12);
    double *z = apply(h, &p, data), before = 0, after = 0; /* no distance is lost */
    for (int j = 0; j < D; j++) before += pow(data->x[j] - data->x[D + j], 2);
    for (int a = 0; a < R; a++) after += pow(z[a] - z[R + a], 2);
    check_close(after, before, 1e-10 * before);
    free(z);
    bdml_prepare_free(&p);
    bdml_free_dataset(data);
}

/* Onto the data themselves: scaled where they lie, or projected and closed up, over several blocks. */
static void prepares_in_place(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60000, D = 40 };
    const char *const pca[] = {"0", "7"};
    check_ok(h, bdml_set(h, "scale", "minmax"));
    for (int k = 0; k < 2; k++) {
        bdml_dataset *data = cloud(h, N, D, 5);
        bdml_prepare p;
        check_ok(h, bdml_set(h, "pca", pca[k]));
        check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
        double *z = apply(h, &p, data);
        check_ok(h, bdml_prepare_apply(h, &p, N, data->x, D, data->x));
        check_true(memcmp(data->x, z, sizeof *z * N * (size_t)p.d_out) == 0);
        free(z);
        bdml_prepare_free(&p);
        bdml_free_dataset(data);
    }
}

/* The same bits for 1, 2 and 3 threads, all the way through; equal rows have equal images. */
static void threads_and_place_do_not_change_bits(void **state)
{
    bdml_handle *h = *state;
    enum { N = 777, D = 40 };
    double *first = NULL;
    bdml_dataset *data = cloud(h, N, D, 4);
    for (int i = 0; i < N; i += 70) memcpy(data->x + i * D, data->x, sizeof(double) * D);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "pca", "0.9"));
    for (int threads = 1; threads <= 3; threads++) {
        char text[8];
        bdml_prepare p;
        snprintf(text, sizeof text, "%d", threads);
        check_ok(h, bdml_set(h, "threads", text));
        check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
        double *z = apply(h, &p, data);
        size_t row = sizeof(double) * (size_t)p.d_out;
        for (int i = 0; i < N; i += 70) check_true(memcmp(z, z + i * p.d_out, row) == 0);
        if (first) check_true(memcmp(first, z, row * N) == 0);
        if (first)
            free(z);
        else
            first = z;
        bdml_prepare_free(&p);
    }
    free(first);
    bdml_free_dataset(data);
}

static void allocation_failures_are_clean(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "missing", "mean"));
    check_ok(h, bdml_set(h, "pca", "2"));
    for (int few = 0; few < 2; few++) {
        bdml_dataset *data = few ? cloud(h, 6, 9, 5) : cloud(h, 20, 4, 5);
        double z[40];
        bdml_status status = BDML_ERR_MEMORY;
        int k;
        for (k = 1; status != BDML_OK; k++) {
            bdml_prepare p;
            h->fail_alloc = k;
            status = bdml_prepare_fit(h, &h->options, data, &p);
            if (status == BDML_OK) status = bdml_prepare_apply(h, &p, data->n, data->x, data->d, z);
            if (status != BDML_OK) assert_int_equal(status, BDML_ERR_MEMORY);
            bdml_prepare_free(&p);
        }
        check_true(k > 10);
        h->fail_alloc = 0;
        bdml_free_dataset(data);
    }
}

/* ---- splits ------------------------------------------------------------------------------------------ */

static void check_split(int64_t n, const int64_t *order, int64_t train)
{
    int *seen = calloc((size_t)n, sizeof *seen);
    for (int64_t i = 0; i < n; i++) {
        check_true(order[i] >= 0 && order[i] < n);
        assert_int_equal(seen[order[i]]++, 0);
        if (i != 0 && i != train) check_true(order[i] > order[i - 1]);
    }
    free(seen);
}

static void random_splits(void **state)
{
    bdml_handle *h = *state;
    enum { N = 101 };
    int64_t order[N], again[N], other[N], train;
    check_ok(h, bdml_split_random(h, N, NULL, 0.3, 1, 5, order, &train));
    assert_int_equal(train, N - 30); /* round(30.3) */
    check_split(N, order, train);
    check_ok(h, bdml_set(h, "threads", "2"));
    check_ok(h, bdml_split_random(h, N, NULL, 0.3, 1, 5, again, &train));
    check_true(memcmp(order, again, sizeof order) == 0);
    check_ok(h, bdml_split_random(h, N, NULL, 0.3, 1, 6, other, &train));
    check_true(memcmp(order, other, sizeof order) != 0);
    check_ok(h, bdml_split_random(h, N, NULL, 0.3, 2, 5, other, &train));
    check_true(memcmp(order, other, sizeof order) != 0);

    /* Sizes at the edges; 2.5 rounds up. */
    check_ok(h, bdml_split_random(h, 5, NULL, 0.5, 1, 1, order, &train));
    assert_int_equal(train, 2);
    check_ok(h, bdml_split_random(h, 5, NULL, 0.0, 1, 1, order, &train));
    assert_int_equal(train, 4);
    check_ok(h, bdml_split_random(h, 5, NULL, 1.0, 1, 1, order, &train));
    assert_int_equal(train, 1);
    check_fails(h, bdml_split_random(h, 1, NULL, 0.3, 1, 1, order, &train), BDML_ERR_DATA,
                "2 rows");
    check_fails(h, bdml_split_random(h, 5, NULL, NAN, 1, 1, order, &train), BDML_ERR_ARGUMENT,
                "test-fraction");
}

/* Each row is tested in its share of the splits: 400 splits, 30 %: 120 +- 5 sigma, sigma = 9.2. */
static void random_splits_are_fair(void **state)
{
    bdml_handle *h = *state;
    enum { N = 40, SPLITS = 400 };
    int64_t order[N], train;
    int tested[N] = {0};
    for (int s = 0; s < SPLITS; s++) {
        check_ok(h, bdml_split_random(h, N, NULL, 0.3, 0, (uint64_t)s, order, &train));
        for (int64_t k = train; k < N; k++) tested[order[k]]++;
    }
    for (int i = 0; i < N; i++) check_close(tested[i], 0.3 * SPLITS, 46);
}

static void stratified_splits_keep_class_shares(void **state)
{
    bdml_handle *h = *state;
    enum { N = 71 }; /* classes of 40, 20, 10 and 1 */
    int32_t y[N];
    int64_t order[N], train;
    int count[4] = {0};
    for (int i = 0; i < N; i++) y[i] = i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2;
    y[70] = 3;
    check_ok(h, bdml_split_random(h, N, y, 0.25, 3, 0, order, &train));
    check_split(N, order, train);
    for (int64_t k = train; k < N; k++) count[y[order[k]]]++;
    assert_int_equal(count[0], 10);
    assert_int_equal(count[1], 5);
    assert_int_equal(count[2], 3); /* round(2.5) */
    assert_int_equal(count[3], 0); /* a single row is for training */
    y[3] = -1;
    check_fails(h, bdml_split_random(h, N, y, 0.25, 3, 0, order, &train), BDML_ERR_ARGUMENT,
                "row 3");
    static const int32_t lone[] = {0, 1, 2};
    check_fails(h, bdml_split_random(h, 3, lone, 0.3, 0, 0, order, &train), BDML_ERR_DATA,
                "nothing to test");
}

/* Split r and the folds of repeat r share nothing: were the rows shuffled alike, the rows tested would fall into
 * the folds evenly, every time. */
static void folds_and_splits_are_apart(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60, FOLDS = 3, REPEATS = 10 };
    int32_t fold[N];
    int64_t order[N], train;
    int even = 0;
    for (uint64_t r = 0; r < REPEATS; r++) {
        int size[FOLDS] = {0}, least = N, most = 0;
        check_ok(h, bdml_split_random(h, N, NULL, 0.3, 1, r, order, &train));
        check_ok(h, bdml_split_folds(h, N, NULL, FOLDS, 1, r, fold));
        for (int64_t i = train; i < N; i++) size[fold[order[i]]]++;
        for (int f = 0; f < FOLDS; f++) {
            least = BDML_MIN(least, size[f]);
            most = BDML_MAX(most, size[f]);
        }
        even += most - least <= 1;
    }
    check_true(even < REPEATS);
}

static void folds_are_even(void **state)
{
    bdml_handle *h = *state;
    enum { N = 23, FOLDS = 5 };
    int32_t y[N], fold[N], other[N];
    for (int i = 0; i < N; i++) y[i] = i % 3 == 0;
    for (int strata = 0; strata < 2; strata++) {
        int size[FOLDS] = {0}, ones[FOLDS] = {0};
        check_ok(h, bdml_split_folds(h, N, strata ? y : NULL, FOLDS, 1, 0, fold));
        for (int i = 0; i < N; i++) {
            check_true(fold[i] >= 0 && fold[i] < FOLDS);
            size[fold[i]]++;
            ones[fold[i]] += y[i];
        }
        for (int f = 0; f < FOLDS; f++) {
            check_true(size[f] == 4 || size[f] == 5);
            if (strata) check_true(ones[f] == 1 || ones[f] == 2);
        }
        check_ok(h, bdml_split_folds(h, N, strata ? y : NULL, FOLDS, 1, 1, other));
        check_true(memcmp(fold, other, sizeof fold) != 0);
    }
    check_fails(h, bdml_split_folds(h, 3, NULL, 4, 1, 0, fold), BDML_ERR_ARGUMENT, "from 2 to");
    check_fails(h, bdml_split_folds(h, 3, NULL, 1, 1, 0, fold), BDML_ERR_ARGUMENT, "got 1");
    for (int k = 1; k <= 3; k++) {
        h->fail_alloc = k;
        assert_int_equal(bdml_split_folds(h, N, y, FOLDS, 1, 0, fold), BDML_ERR_MEMORY);
    }
    h->fail_alloc = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(scaling_by_hand),
        handle_test(unit_rows_have_length_one),
        handle_test(scaling_survives_extreme_columns),
        handle_test(columns_out_of_range_are_refused),
        handle_test(missing_values_are_filled_or_refused),
        handle_test(apply_equals_plain_loops),
        handle_test(pca_matches_the_covariance_of_wine),
        handle_test(pca_of_few_points_keeps_distances),
        handle_test(pca_refuses_what_it_cannot_do),
        handle_test(randomised_pca_finds_the_exact_subspace),
        handle_test(randomised_pca_knows_the_rank),
        handle_test(prepares_in_place),
        handle_test(threads_and_place_do_not_change_bits),
        handle_test(allocation_failures_are_clean),
        handle_test(random_splits),
        handle_test(random_splits_are_fair),
        handle_test(stratified_splits_keep_class_shares),
        handle_test(folds_are_even),
        handle_test(folds_and_splits_are_apart),
    };
    bdml_handle *h;
    if (bdml_create(&h) != BDML_OK) return 1;
    check_ok(h, bdml_la_enter(h)); /* as every public call does: BLAS on one thread */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    bdml_la_leave(h);
    bdml_free(h);
    return failed;
}
