/* test_rivals_closed.c - lda, rca and gmml against what defines them, computed by plain loops; and what all
 * methods from labels owe: dependent columns, refusals, memory that runs out, bits for any threads. */
#include "rivals.h"

/* methods of this family and of test_rivals_neighbors.c */
static const char *const methods[] = {"lda", "lfda",  "rca",  "gmml", "lmnn",
                                      "nca", "boost", "lsml", "scml"};
enum { METHODS = sizeof methods / sizeof *methods };

/* s (d x d): mean of (x_i - c)(x_i - c)' around the class means. */
static void plain_within(const bdml_dataset *data, double *s)
{
    int d = data->d;
    double *mean = calloc((size_t)(data->classes * d), sizeof *mean);
    int64_t *count = calloc((size_t)data->classes, sizeof *count);
    for (int64_t i = 0; i < data->n; i++) {
        count[data->y[i]]++;
        for (int j = 0; j < d; j++) mean[data->y[i] * d + j] += data->x[i * d + j];
    }
    for (int c = 0; c < data->classes; c++)
        for (int j = 0; j < d; j++) mean[c * d + j] /= (double)count[c];
    memset(s, 0, sizeof *s * (size_t)(d * d));
    for (int64_t i = 0; i < data->n; i++)
        for (int a = 0; a < d; a++)
            for (int b = 0; b < d; b++)
                s[a * d + b] += (data->x[i * d + a] - mean[data->y[i] * d + a]) *
                                (data->x[i * d + b] - mean[data->y[i] * d + b]) / (double)data->n;
    free(mean);
    free(count);
}

/* S and D: mean of (x_i-x_j)(x_i-x_j)' over ordered pairs of equal (i = j too) and of different class. */
static void plain_pairs(const bdml_dataset *data, double *S, double *D)
{
    int d = data->d;
    double same = 0.0, other = 0.0;
    memset(S, 0, sizeof *S * (size_t)(d * d));
    memset(D, 0, sizeof *D * (size_t)(d * d));
    for (int64_t i = 0; i < data->n; i++)
        for (int64_t j = 0; j < data->n; j++) {
            bool equal = data->y[i] == data->y[j];
            *(equal ? &same : &other) += 1.0;
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++)
                    (equal ? S : D)[a * d + b] += (data->x[i * d + a] - data->x[j * d + a]) *
                                                  (data->x[i * d + b] - data->x[j * d + b]);
        }
    for (int e = 0; e < d * d; e++) S[e] /= 2.0 * same, D[e] /= 2.0 * other;
}

/* out = a b, n x n. */
static void times(int n, const double *a, const double *b, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i * n + j] = 0.0;
            for (int k = 0; k < n; k++) out[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}

/* l s l' (q x q) must be the identity up to tol. */
static void check_whitened(int q, int d, const double *l, const double *s, double tol)
{
    for (int a = 0; a < q; a++)
        for (int b = 0; b < q; b++) {
            double sum = 0.0;
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) sum += l[a * d + i] * s[i * d + j] * l[b * d + j];
            check_close(sum, a == b ? 1.0 : 0.0, tol);
        }
}

/* The ridge of 1e-12 moves eigenvalues of order one by that much; the rest is rounding. */
static const double TOL = 1e-9;

static void test_lda_whitens_and_keeps_the_means(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    double s[13 * 13], m[13 * 13], full[13 * 13], mean[3 * 13] = {0}, count[3] = {0};
    set_all(h, "ridge 1e-12 threads 1");
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    bdml_model *lda = fit(h, data, "lda"), *rca = fit(h, data, "rca");
    assert_int_equal(lda->q, 2);
    assert_int_equal(rca->q, 13);
    plain_within(data, s);
    check_whitened(lda->q, 13, lda->l, s, TOL);
    check_whitened(rca->q, 13, rca->l, s, TOL);
    /* on differences of class means the projection loses nothing: D is that of Sw^-1 */
    check_ok(h, bdml_model_get_metric(h, lda, m));
    check_ok(h, bdml_model_get_metric(h, rca, full));
    for (int64_t i = 0; i < data->n; i++) {
        count[data->y[i]] += 1.0;
        for (int j = 0; j < 13; j++) mean[data->y[i] * 13 + j] += data->x[i * 13 + j];
    }
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < 13; j++) mean[c * 13 + j] /= count[c];
    bdml_dataset means = {.n = 3, .d = 13, .x = mean};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < a; b++) {
            double want = plain_squared(&means, full, a, b);
            check_true(want > 1.0);
            check_close(plain_squared(&means, m, a, b), want, 1e-7 * want);
        }
    /* of fewer components rca keeps Fisher's directions: as many as classes less one are those of lda */
    check_ok(h, bdml_set(h, "components", "2"));
    bdml_model *two = fit(h, data, "rca");
    assert_int_equal(two->q, 2);
    check_ok(h, bdml_model_get_metric(h, two, full));
    for (int e = 0; e < 13 * 13; e++) check_close(full[e], m[e], TOL * m[0]);
    bdml_free_model(two);
    bdml_free_model(lda);
    bdml_free_model(rca);
    bdml_free_dataset(data);
}

/* t = 1/2 is the one positive definite solution of M S M = D; t = 0 is S^-1; t = 1 is D. */
static void test_gmml_solves_its_equation(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    double S[16], D[16], m[16], ms[16], msm[16];
    set_all(h, "ridge 1e-12 threads 1");
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    plain_pairs(data, S, D);
    for (int k = 0; k < 3; k++) {
        check_ok(h, bdml_set(h, "gmml-t", k == 0 ? "0" : k == 1 ? "0.5" : "1"));
        bdml_model *model = fit(h, data, "gmml");
        check_ok(h, bdml_model_get_metric(h, model, m));
        times(4, m, S, ms);
        times(4, ms, m, msm);
        for (int e = 0; e < 16; e++) {
            if (k == 0) check_close(ms[e], e % 5 == 0 ? 1.0 : 0.0, TOL);
            if (k == 1) check_close(msm[e], D[e], TOL);
            if (k == 2) check_close(m[e], D[e], TOL);
        }
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

static void test_gmml_chooses_a_place(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 200, 4, 2, 2.0);
    set_all(h, "threads 1");
    bdml_model *model = fit(h, data, "gmml");
    double t = json_number_value(json_object_get(model->info, "gmml_t"));
    check_true(t >= 0.0 && t <= 1.0);
    check_close(10.0 * t, round(10.0 * t), 1e-12);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- all methods from labels -------------------------------------------------------------------------- */

/* Segment has a constant column and four that depend on others. */
static void test_dependent_columns(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = part_of(h, "data/segment.csv", 6);
    set_all(h, "threads 1");
    for (int k = 0; k < METHODS; k++) {
        bdml_model *model = fit(h, data, methods[k]);
        int32_t *label = calloc((size_t)data->n, sizeof *label);
        int64_t wrong = 0;
        for (int e = 0; e < model->q * model->d; e++) check_true(isfinite(model->l[e]));
        check_ok(h, bdml_predict(h, model, data, data->n, data->x, data->d, label));
        for (int64_t i = 0; i < data->n; i++) wrong += label[i] != data->y[i];
        /* training points vote for themselves: a sound metric gets nearly all right */
        if (wrong * 10 >= data->n) fail_msg("%s: %d of %d", methods[k], (int)wrong, (int)data->n);
        free(label);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* A copied column changes no distance that a method in the span of the data learns. */
static void test_copied_column(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 90, 3, 3, 3.0), *twice = clouds(h, 90, 4, 3, 3.0);
    static const char *const invariant[] = {"lda", "rca"};
    set_all(h, "threads 1");
    for (int64_t i = 0; i < data->n; i++) {
        for (int j = 0; j < 3; j++) twice->x[i * 4 + j] = data->x[i * 3 + j];
        twice->x[i * 4 + 3] = 1e4 + 100.0 * data->x[i * 3];
    }
    for (int k = 0; k < 2; k++) {
        double m[9], m2[16];
        bdml_model *a = fit(h, data, invariant[k]), *b = fit(h, twice, invariant[k]);
        check_ok(h, bdml_model_get_metric(h, a, m));
        check_ok(h, bdml_model_get_metric(h, b, m2));
        for (int64_t i = 1; i < data->n; i++) {
            double want = plain_squared(data, m, 0, i);
            check_close(plain_squared(twice, m2, 0, i), want, 1e-6 * (1.0 + want));
        }
        bdml_free_model(a);
        bdml_free_model(b);
    }
    bdml_free_dataset(data);
    bdml_free_dataset(twice);
}

static void test_refusals(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 12, 2, 2, 3.0);
    bdml_model *model = NULL;
    for (int k = 0; k < METHODS; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        int32_t *y = data->y;
        data->y = NULL;
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "no labels");
        data->y = y;
        for (int i = 0; i < 12; i++) y[i] = 0;
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "at least 2 classes");
        for (int i = 0; i < 12; i++) y[i] = i % 2;
    }
    for (int e = 0; e < 24; e++) data->x[e] = 1.0; /* all points the same */
    for (int k = 0; k < METHODS; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        bdml_status s = bdml_train(h, data, NULL, &model);
        if (s != BDML_ERR_DATA)
            fail_msg("%s: %s (%s)", methods[k], bdml_status_text(s), bdml_last_error(h));
        check_true(strlen(bdml_last_error(h)) > 10);
    }
    bdml_free_dataset(data);
}

static void test_same_bits_for_any_threads(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 300, 5, 3, 1.0);
    for (int k = 0; k < METHODS; k++) {
        check_ok(h, bdml_set(h, "threads", "1"));
        bdml_model *one = fit(h, data, methods[k]);
        check_ok(h, bdml_set(h, "threads", "2"));
        bdml_model *two = fit(h, data, methods[k]);
        assert_int_equal(one->q, two->q);
        if (memcmp(one->l, two->l, sizeof *one->l * (size_t)(one->q * one->d)) != 0)
            fail_msg("%s: other bits with 2 threads", methods[k]);
        bdml_free_model(one);
        bdml_free_model(two);
    }
    bdml_free_dataset(data);
}

static void test_memory_runs_out(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 18, 2, 2, 1.0);
    set_all(h, "threads 1");
    for (int k = 0; k < METHODS; k++) {
        check_ok(h, bdml_set(h, "method", methods[k]));
        int64_t failures = 0;
        for (int64_t at = 1; at < 5000; at++) {
            bdml_model *model = NULL;
            h->fail_alloc = at;
            bdml_status s = bdml_train(h, data, NULL, &model);
            bool reached = h->fail_alloc == 0;
            h->fail_alloc = 0;
            bdml_free_model(model);
            if (s == BDML_OK && !reached) break;
            assert_int_equal(s, BDML_ERR_MEMORY);
            failures++;
        }
        check_true(failures > 5 && failures < 4999);
    }
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_lda_whitens_and_keeps_the_means),
        handle_test(test_gmml_solves_its_equation),
        handle_test(test_gmml_chooses_a_place),
        handle_test(test_dependent_columns),
        handle_test(test_copied_column),
        handle_test(test_refusals),
        handle_test(test_same_bits_for_any_threads),
        handle_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
