/* test_mlkr.c - mlkr: its objective by plain loops, its gradient by differences, a planted direction, numbers that are none. */
#include "rivals.h"

enum { N = 70, D = 3 };

/* y = sin(x_0) and a little noise; columns of different widths. Numbers reach the library as names of classes. */
static bdml_dataset *waves(bdml_handle *h, double *target)
{
    double x[N * D];
    int64_t code[N];
    char text[N][32];
    const char *names[N];
    bdml_rng rng = bdml_rng_make(5, 1);
    bdml_dataset *data = NULL;
    for (int i = 0; i < N; i++) {
        code[i] = i;
        names[i] = text[i];
        for (int j = 0; j < D; j++) x[i * D + j] = (1.0 + j) * bdml_rng_normal(&rng);
        target[i] = 100.0 + 7.0 * (sin(2.0 * x[i * D]) + 0.05 * bdml_rng_normal(&rng));
        snprintf(text[i], sizeof text[i], "%.17g", target[i]);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, code, &data));
    check_ok(h, bdml_dataset_set_names(h, data, names, NULL));
    return data;
}

/* Share of the variance that is left when each number is predicted by the others. */
static double plain(const bdml_dataset *data, const double *y, int q, const double *l)
{
    double mean = 0.0, all = 0.0, left = 0.0;
    for (int i = 0; i < N; i++) mean += y[i] / N;
    for (int i = 0; i < N; i++) {
        double sum = 0.0, yhat = 0.0;
        for (int j = 0; j < N; j++) {
            double apart = 0.0;
            for (int a = 0; a < q; a++) {
                double e = 0.0;
                for (int b = 0; b < D; b++)
                    e += l[a * D + b] * (data->x[i * D + b] - data->x[j * D + b]);
                apart += e * e;
            }
            double k = i == j ? 0.0 : exp(-apart);
            sum += k;
            yhat += k * y[j];
        }
        yhat /= sum;
        left += (yhat - y[i]) * (yhat - y[i]);
        all += (y[i] - mean) * (y[i] - mean);
    }
    return left / all;
}

/* A map of `components` rows is stationary: no entry can be moved to gain more than differences can see. */
static void check_stationary(bdml_handle *h, const char *components, int q)
{
    double y[N], l[D * D];
    bdml_dataset *data = waves(h, y);
    set_all(h, "gap 1e-4 threads 1");
    check_ok(h, bdml_set(h, "components", components));
    bdml_model *model = fit(h, data, "mlkr");
    assert_int_equal(model->q, q);
    check_ok(h, bdml_model_get_map(h, model, l));
    double f = plain(data, y, q, l);
    check_close(stopping(model, "objective"), f, 1e-10);
    check_true(f < 0.25); /* noise alone leaves 0.005 */
    for (int e = 0; e < q * D; e++) {
        const double step = 1e-5;
        double at = l[e];
        l[e] = at + step;
        double above = plain(data, y, q, l);
        l[e] = at - step;
        double below = plain(data, y, q, l);
        l[e] = at;
        check_close((above - below) / (2.0 * step), 0.0,
                    2e-4); /* steps that gain 1e-8 of f end it */
    }
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void test_full_and_few_rows(void **state)
{
    check_stationary(*state, "0", D);
    check_stationary(*state, "1", 1);
}

/* Only the first column says anything of the number. */
static void test_planted_direction(void **state)
{
    bdml_handle *h = *state;
    double y[N], m[D * D], one[D * D];
    bdml_dataset *data = waves(h, y);
    set_all(h, "threads 1");
    bdml_model *model = fit(h, data, "mlkr");
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_true(m[0] > 30.0 * m[4] && m[0] > 30.0 * m[8]);
    bdml_free_model(model);
    set_all(h, "threads 2");
    model = fit(h, data, "mlkr");
    check_ok(h, bdml_model_get_metric(h, model, one));
    assert_memory_equal(m, one, sizeof m);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void test_refusals(void **state)
{
    bdml_handle *h = *state;
    double y[N];
    bdml_dataset *data = waves(h, y), *words = clouds(h, 12, 2, 2, 1.0);
    const char *names[] = {"red", "2"};
    bdml_model *model = NULL;
    set_all(h, "method mlkr");
    check_ok(h, bdml_dataset_set_names(h, words, names, NULL));
    check_fails(h, bdml_train(h, words, NULL, &model), BDML_ERR_DATA, "'red' is none");
    for (int i = 0; i < 12; i++) words->y[i] = 1;
    check_fails(h, bdml_train(h, words, NULL, &model), BDML_ERR_DATA, "same for all 12 rows");
    int32_t *labels = words->y;
    words->y = NULL;
    check_fails(h, bdml_train(h, words, NULL, &model), BDML_ERR_DATA, "no labels");
    words->y = labels;
    for (int e = 0; e < N * D; e++) data->x[e] = 1.0;
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "all points are the same");
    bdml_free_dataset(words);
    bdml_free_dataset(data);
}

static void test_memory_runs_out(void **state)
{
    bdml_handle *h = *state;
    double y[N];
    bdml_dataset *data = waves(h, y);
    int64_t failures = 0;
    set_all(h, "method mlkr max-iter 2 threads 1 components 2");
    for (int64_t at = 1; at < 5000; at++, failures++) {
        bdml_model *model = NULL;
        h->fail_alloc = at;
        bdml_status s = bdml_train(h, data, NULL, &model);
        bool reached = h->fail_alloc == 0;
        h->fail_alloc = 0;
        bdml_free_model(model);
        if (s == BDML_OK && !reached) break;
        assert_int_equal(s, BDML_ERR_MEMORY);
    }
    check_true(failures > 20 && failures < 4999);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_full_and_few_rows),
        handle_test(test_planted_direction),
        handle_test(test_refusals),
        handle_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
