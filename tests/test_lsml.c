/* test_lsml.c - lsml against its condition of optimality by plain loops, a case worked by hand, and quadruplets from
 * arrays and files. */
#include "rivals.h"

enum { N = 40, D = 3 };

/* M (I + A) = I, A = sum_t w_t (u_t X_near + v_t X_far), is what makes M the optimum for M0 = I. */
static double far_from_optimal(const bdml_dataset *data, const bdml_constraints *c, const double *m)
{
    double a[D * D] = {0}, worst = 0.0, total = 0.0;
    for (int j = 0; j < D; j++) a[j * D + j] = 1.0;
    for (int64_t t = 0; t < c->m; t++) total += c->weight ? c->weight[t] : 1.0;
    for (int64_t t = 0; t < c->m; t++) {
        int32_t r[4];
        assert_int_equal(bdml_constraints_quadruplet_at(c, t, r), BDML_OK);
        double p = plain_squared(data, m, r[0], r[1]), q = plain_squared(data, m, r[2], r[3]);
        if (p <= q) continue;
        double w = (c->weight ? c->weight[t] : 1.0) / total, s = sqrt(p / q);
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                const double *x = data->x;
                double near =
                    (x[r[0] * D + i] - x[r[1] * D + i]) * (x[r[0] * D + j] - x[r[1] * D + j]);
                double far =
                    (x[r[2] * D + i] - x[r[3] * D + i]) * (x[r[2] * D + j] - x[r[3] * D + j]);
                a[i * D + j] += w * ((1.0 - 1.0 / s) * near + (1.0 - s) * far);
            }
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            double sum = i == j ? -1.0 : 0.0;
            for (int k = 0; k < D; k++) sum += m[i * D + k] * a[k * D + j];
            worst = BDML_MAX(worst, fabs(sum));
        }
    return worst;
}

/* Quadruplets between random rows; some rows are used by both pairs. */
static bdml_constraints *some(bdml_handle *h, int count)
{
    int32_t rows[4 * 80];
    bdml_rng rng = bdml_rng_make(3, 3);
    bdml_constraints *c = NULL;
    for (int t = 0; t < count; t++) do {
            for (int e = 0; e < 4; e++) rows[4 * t + e] = (int32_t)bdml_rng_below(&rng, N);
        } while (rows[4 * t] == rows[4 * t + 1] || rows[4 * t + 2] == rows[4 * t + 3] ||
                 bdml_pair_key(rows[4 * t], rows[4 * t + 1]) ==
                     bdml_pair_key(rows[4 * t + 2], rows[4 * t + 3]));
    check_ok(h, bdml_constraints_from_quadruplets(h, N, count, rows, &c));
    return c;
}

/* A gap of 1e-12 leaves M within about its root of the optimum. */
static void test_condition_of_optimality(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 2, 1.0);
    bdml_constraints *c = some(h, 80);
    bdml_model *model = NULL;
    double m[D * D], weight[80];
    set_all(h, "method lsml gap 1e-12 threads 1");
    for (int weighted = 0; weighted < 2; weighted++) {
        for (int64_t t = 0; t < c->m; t++) weight[t] = 0.1 + (double)(t % 7);
        if (weighted) check_ok(h, bdml_constraints_set_weights(h, c, weight));
        check_ok(h, bdml_train(h, data, c, &model));
        check_ok(h, bdml_model_get_metric(h, model, m));
        check_true(far_from_optimal(data, c, m) < 1e-5);
        check_true(stopping(model, "reached") <= 1e-12 && stopping(model, "objective") > 0.1);
        bdml_free_model(model);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* However early it stops, the optimum lies in the bracket that is told. */
static void test_bracket_holds(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 2, 1.0);
    bdml_constraints *c = some(h, 80);
    bdml_model *model = NULL;
    double last = 2.0;
    set_all(h, "method lsml gap 1e-12 threads 1");
    check_ok(h, bdml_train(h, data, c, &model));
    double best = stopping(model, "objective");
    bdml_free_model(model);
    for (int steps = 1; steps <= 16; steps *= 2) {
        char text[8];
        snprintf(text, sizeof text, "%d", steps);
        check_ok(h, bdml_set(h, "max-iter", text));
        check_ok(h, bdml_train(h, data, c, &model));
        double f = stopping(model, "objective"), gap = stopping(model, "reached");
        check_true(best >= f * (1.0 - gap) * (1.0 - 1e-12) && best <= f * (1.0 + 1e-12));
        check_true(gap > 0.0 && gap <= last);
        last = gap;
        bdml_free_model(model);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* One quadruplet on a line, near pair 3 apart and far pair 1: M = 1 / (1 + (3 - 1)^2). Met ones change nothing. */
static void test_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 3, 10, 11};
    const int32_t missed[] = {0, 1, 2, 3}, met[] = {2, 3, 0, 1};
    bdml_dataset *data = NULL;
    bdml_constraints *c = NULL;
    bdml_model *model = NULL;
    double m;
    check_ok(h, bdml_dataset_from_arrays(h, 4, 1, x, 1, NULL, &data));
    set_all(h, "method lsml gap 1e-12");
    check_ok(h, bdml_constraints_from_quadruplets(h, 4, 1, missed, &c));
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, &m));
    check_close(m, 0.2, 1e-6);
    bdml_free_model(model);
    bdml_free_constraints(c);
    check_ok(h, bdml_constraints_from_quadruplets(h, 4, 1, met, &c));
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, &m));
    check_close(m, 1.0, 1e-12);
    check_true(stopping(model, "objective") <= 1e-12);
    bdml_free_model(model);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* The prior covariance is free of units; a constant column takes no part. */
static void test_covariance_prior(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 2, 1.0);
    bdml_constraints *c = some(h, 80);
    bdml_model *model = NULL;
    double a[D * D], b[D * D], unit[D] = {1, 1e-4, 1e3};
    set_all(h, "method lsml prior covariance gap 1e-10 threads 1");
    for (int64_t i = 0; i < N; i++) data->x[i * D + 2] = data->x[i * D] - 3.0 * data->x[i * D + 1];
    check_ok(h, bdml_train(h, data, c, &model));
    assert_int_equal(bdml_model_output_dimension(model), D - 1);
    check_ok(h, bdml_model_get_metric(h, model, a));
    bdml_free_model(model);
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < D; j++) data->x[i * D + j] *= unit[j];
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, b));
    for (int e = 0; e < D * D; e++)
        check_close(b[e] * unit[e / D] * unit[e % D], a[e], 1e-4 * (a[0] + a[D + 1]));
    bdml_free_model(model);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

static void test_labels_threads_and_limits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 90, 4, 3, 2.0);
    double one[16], two[16];
    set_all(h, "gap 1e-6 threads 1");
    bdml_model *model = fit(h, data, "lsml");
    check_ok(h, bdml_model_get_metric(h, model, one));
    check_true(stopping(model, "reached") <= 1e-6);
    bdml_free_model(model);
    set_all(h, "threads 2");
    model = fit(h, data, "lsml");
    check_ok(h, bdml_model_get_metric(h, model, two));
    assert_memory_equal(one, two, sizeof one);
    bdml_free_model(model);
    set_all(h, "max-iter 1 random-pairs 20");
    model = fit(h, data, "lsml");
    check_true(stopping(model, "reached") > 1e-6 && stopping(model, "reached") <= 1.0);
    assert_int_equal((int)json_integer_value(json_object_get(model->info, "quadruplets")), 20);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A file says the same as an array; a triplet i,j,k is the quadruplet i,j,i,k. */
static void test_files(void **state)
{
    bdml_handle *h = *state;
    const char *path = BDML_TEST_BINARY_DIR "/tests/lsml.csv";
    const int32_t rows[] = {0, 1, 0, 5, 3, 2, 3, 7};
    bdml_dataset *data = clouds(h, N, D, 2, 1.0);
    bdml_constraints *c = NULL;
    double a[D * D], b[D * D];
    check_ok(h, bdml_constraints_from_quadruplets(h, N, 2, rows, &c));
    bdml_model *model = NULL;
    set_all(h, "method lsml");
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, a));
    bdml_free_model(model);
    for (int kind = 0; kind < 2; kind++) {
        const char *setting = kind ? "triplets-file" : "quadruplets-file";
        write_text(path, kind ? "0,1,5\n3,2,7\n" : "0,1,0,5\n3,2,3,7\n");
        check_ok(h, bdml_set(h, setting, path));
        check_ok(h, bdml_train(h, data, NULL, &model));
        check_ok(h, bdml_model_get_metric(h, model, b));
        assert_memory_equal(a, b, sizeof a);
        bdml_free_model(model);
        if (kind == 0) check_ok(h, bdml_set(h, setting, NULL));
    }
    check_ok(h, bdml_set(h, "quadruplets-file", path));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "stands alone");
    check_ok(h, bdml_set(h, "triplets-file", NULL));
    write_text(path, "0,1,1,0\n");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA,
                "line 1: the pair of rows 0 and 1");
    write_text(path, "0,1,2,2\n");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "column 4: row 2 stands");
    write_text(path, "0,1,2\n");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA,
                "quadruplets-file has 4: i,j,k,l");
    set_all(h, "method bdml");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "method lsml does");
    remove(path);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

static void test_refusals(void **state)
{
    bdml_handle *h = *state;
    const int32_t near[] = {0, 1}, far[] = {2, 3}, same[] = {0, 1, 1, 0}, out[] = {0, 1, 2, N};
    const int32_t apart[] = {0, 1, 2, 3};
    int32_t three[3], four[4];
    bdml_dataset *data = clouds(h, N, D, 2, 1.0);
    bdml_constraints *c = NULL;
    bdml_model *model = NULL;
    check_fails(h, bdml_constraints_from_quadruplets(h, N, 1, same, &c), BDML_ERR_DATA,
                "than itself");
    check_fails(h, bdml_constraints_from_quadruplets(h, N, 1, out, &c), BDML_ERR_DATA, "row 40");
    check_fails(h, bdml_constraints_from_quadruplets(h, N, 0, apart, &c), BDML_ERR_ARGUMENT,
                "must be");
    check_ok(h, bdml_constraints_from_quadruplets(h, N, 1, apart, &c));
    assert_int_equal(bdml_constraints_at(c, 0, three), BDML_ERR_ARGUMENT);
    assert_int_equal(bdml_constraints_quadruplet_at(c, 1, four), BDML_ERR_ARGUMENT);
    for (int m = 0; m < bdml_method_count(); m++) {
        if (bdml_method_uses(m) & (BDML_USES_QUADRUPLETS | BDML_USES_DOMAINS)) continue;
        check_ok(h, bdml_set(h, "method", bdml_method_name(m)));
        check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_ARGUMENT, "quadruplets");
    }
    bdml_free_constraints(c);
    set_all(h, "method lsml");
    check_ok(h, bdml_constraints_from_arrays(h, N, 1, near, 1, far, 0, NULL, &c));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_DATA, "constraint 0 is a pair");
    bdml_free_constraints(c);
    for (int64_t i = 0; i < data->n; i++) data->y[i] = 0;
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "2 classes");
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_condition_of_optimality),
        handle_test(test_bracket_holds),
        handle_test(test_by_hand),
        handle_test(test_covariance_prior),
        handle_test(test_labels_threads_and_limits),
        handle_test(test_files),
        handle_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
