/* test_evaluate.c - the protocol of bdml_evaluate: statistics against closed forms and plain loops, the
 * same result for any number of jobs, methods that refuse, choices that never see test rows. */
#include <omp.h>

#include "check.h"
#include "evaluate/evaluate.h"

static void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

static bdml_dataset *read_data(bdml_handle *h, const char *name)
{
    bdml_dataset *data;
    check_ok(h, bdml_read_dataset(h, source_path(name), &data));
    return data;
}

/* The result of an evaluation with these settings on a handle of its own. */
static json_t *result_of(const bdml_dataset *data, const char *settings)
{
    bdml_handle *h;
    char *text;
    assert_int_equal(bdml_create(&h), BDML_OK);
    set_all(h, settings);
    check_ok(h, bdml_evaluate(h, data, &text));
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    bdml_free(h);
    return result;
}

static json_t *method_at(const json_t *result, size_t i)
{
    return json_array_get(json_object_get(result, "methods"), i);
}

static double real_at(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v)) fail_msg("%s is not a number", key);
    return json_number_value(v);
}

static double error_at(const json_t *method, size_t split)
{
    return json_number_value(json_array_get(json_object_get(method, "errors"), split));
}

/* ---- statistics ---------------------------------------------------------------------------------- */

static void incomplete_beta(void **state)
{
    (void)state;
    for (double x = 0.0; x <= 1.0; x += 0.125) {
        check_close(bdml_incomplete_beta(1, 1, x), x, 1e-14);
        check_close(bdml_incomplete_beta(3.5, 1, x), pow(x, 3.5), 1e-14);
        check_close(bdml_incomplete_beta(1, 4, x), 1 - pow(1 - x, 4), 1e-14);
        /* I_x(2,3) = P(at least 2 of 4 succeed) */
        double y = 1 - x, binomial = 6 * x * x * y * y + 4 * x * x * x * y + x * x * x * x;
        check_close(bdml_incomplete_beta(2, 3, x), binomial, 1e-14);
        check_close(bdml_incomplete_beta(0.5, 0.5, x), 2 / M_PI * asin(sqrt(x)), 1e-14);
    }
    check_close(bdml_incomplete_beta(5000, 5000, 0.5), 0.5, 1e-11); /* lgamma has 1e-16 of 4e4 */
}

/* Simpson's rule on the density of Student's t, from 0 to t. */
static double student_by_integration(double t, double nu)
{
    enum { PARTS = 20000 };
    double step = t / PARTS, sum = 0.0;
    double front = exp(lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu)) / sqrt(nu * M_PI);
    for (int k = 0; k <= PARTS; k++) {
        double x = k * step, density = front * pow(1 + x * x / nu, -0.5 * (nu + 1));
        sum += density * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2);
    }
    return 0.5 + sum * step / 3;
}

static void student(void **state)
{
    (void)state;
    static const double nus[] = {1, 3, 4.5, 9, 99};
    for (double t = -6; t <= 6; t += 0.75) {
        check_close(bdml_student_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-14);
        check_close(bdml_student_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-14);
        check_close(bdml_student_cdf(t, 1e6), 0.5 * erfc(-t / sqrt(2)), 1e-6); /* 1/nu */
        for (int k = 0; k < 5; k++)
            check_close(bdml_student_cdf(t, nus[k]), student_by_integration(t, nus[k]), 1e-11);
    }
    /* tables: 97.5 % points */
    check_close(bdml_student_two_sided(12.706204736174705, 1), 0.05, 1e-13);
    check_close(bdml_student_two_sided(2.2621571627982053, 9), 0.05, 1e-13);
    check_close(bdml_student_two_sided(1.9842169515864152, 99), 0.05, 1e-13);
    /* far tails keep their digits: nu = 2 has P(|T|>=t) = 2 / (s (s + t)), s = sqrt(2 + t^2) */
    double t = 1e6, s = sqrt(2 + t * t), tail = 2 / (s * (s + t));
    check_close(bdml_student_two_sided(t, 2) / tail, 1.0, 1e-13);
    check_close(bdml_student_two_sided(INFINITY, 5), 0.0, 0);
    check_close(bdml_student_two_sided(0, 5), 1.0, 0);
    check_true(isnan(bdml_student_two_sided(1, 0)));
}

/* Differences -1, -3, 1, -1, 0: mean -0.8, variance (0.04 + 4.84 + 3.24 + 0.04 + 0.64)/4 = 2.2. */
static void paired_by_hand(void **state)
{
    (void)state;
    const double a[] = {4, 2, 6, 3, 5}, b[] = {5, 5, 5, 4, 5};
    bdml_paired c = bdml_compare_paired(5, a, b, 3.0 / 7.0);
    check_close(c.difference, -0.8, 1e-15);
    check_close(c.error, sqrt(2.2 / 5), 1e-15);
    check_close(c.error_corrected, sqrt(2.2 * (0.2 + 3.0 / 7.0)), 1e-15);
    check_close(c.p, bdml_student_two_sided(-0.8 / sqrt(2.2 * (0.2 + 3.0 / 7.0)), 4), 1e-15);
    assert_int_equal(c.wins, 3);
    assert_int_equal(c.ties, 1);
    assert_int_equal(c.losses, 1);
    c = bdml_compare_paired(5, a, a, 0.3);
    check_close(c.p, 1.0, 0);
    const double less[] = {3, 1, 5, 2, 4};
    c = bdml_compare_paired(5, less, a, 0.3); /* better by 1 each time */
    check_close(c.p, 0.0, 0);
    check_true(isnan(bdml_compare_paired(1, a, b, 0.3).p));
}

/* ---- jobs ------------------------------------------------------------------------------------------ */

typedef struct tally {
    int done[40];
    int fail_at, other;
} tally;

static bdml_status job(bdml_handle *own, void *user, int64_t number)
{
    tally *c = user;
    if (number == c->fail_at || number == c->other)
        return bdml_fail(own, BDML_ERR_DATA, "job %d is bad", (int)number);
    c->done[number]++;
    return BDML_OK;
}

static void jobs_run_once_each(void **state)
{
    bdml_handle *h = *state;
    for (int workers = 1; workers <= 3; workers++) {
        tally c = {.fail_at = -1, .other = -1};
        bdml_jobs jobs = {
            .what = "work", .total = 40, .count = 40, .workers = workers, .run = job, .user = &c};
        check_ok(h, bdml_jobs_run(h, &jobs));
        for (int k = 0; k < 40; k++) assert_int_equal(c.done[k], 1);
        c = (tally){.fail_at = 7, .other = -1};
        check_fails(h, bdml_jobs_run(h, &jobs), BDML_ERR_DATA, "work: job 7 is bad");
        jobs.count = 0;
        check_ok(h, bdml_jobs_run(h, &jobs));
    }
}

/* Jobs within jobs: the user is asked by the thread that made the call, and by no other. */
static int asked_by_caller(void *user, const char *what, int64_t done, int64_t total)
{
    (void)what, (void)done, (void)total;
    int *strangers = user;
    if (omp_get_ancestor_thread_num(1) > 0) (*strangers)++;
    return 0;
}

static bdml_status outer_job(bdml_handle *own, void *user, int64_t number)
{
    (void)user, (void)number;
    tally c = {.fail_at = -1, .other = -1};
    bdml_jobs jobs = {
        .what = "inner", .total = 40, .count = 40, .workers = 2, .run = job, .user = &c};
    return bdml_jobs_run(own, &jobs);
}

static void jobs_within_jobs(void **state)
{
    bdml_handle *h = *state;
    int strangers = 0;
    bdml_jobs jobs = {
        .what = "outer", .total = 8, .count = 8, .workers = 2, .run = outer_job, .user = NULL};
    check_ok(h, bdml_set(h, "threads", "2"));
    bdml_set_progress(h, asked_by_caller, &strangers);
    check_ok(h, bdml_jobs_run(h, &jobs));
    assert_int_equal(strangers, 0);
}

/* ---- the result ------------------------------------------------------------------------------------ */

static void drop_times(json_t *result)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(result, "methods"), i, row)
        json_object_del(row, "fit_seconds");
}

static void same_for_any_number_of_jobs(void **state)
{
    static const char *const how[] = {"jobs 1 threads 1", "jobs 2", "jobs 3 threads 2", "jobs 1"};
    static const char *const what[] = {
        "methods euclidean,whiten,bdml splits 3 distortion 10 softness 1.5 passes 1",
        "methods whiten,euclidean splits 3 scale auto neighbors auto",
        "methods whiten,euclidean folds 4 stratify yes scale zscore",
        "methods whiten,lda splits 2 scale auto tune yes"};
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    for (int w = 0; w < 4; w++) {
        json_t *first = NULL;
        for (int k = 0; k < 4; k++) {
            char settings[256];
            snprintf(settings, sizeof settings, "%s %s", what[w], how[k]);
            json_t *result = result_of(data, settings);
            drop_times(result);
            if (!first)
                first = result;
            else {
                /* the settings say "threads" nowhere */
                check_true(json_equal(first, result));
                json_decref(result);
            }
        }
        json_decref(first);
    }
    bdml_free_dataset(data);
}

/* Every figure of the table out of the errors split by split. */
static void figures_agree(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    json_t *r = result_of(data, "methods euclidean,whiten splits 6 scale zscore");
    json_t *a = method_at(r, 0), *b = method_at(r, 1), *versus = json_object_get(a, "versus");
    double mean[2] = {0, 0}, square = 0, error[2][6];
    for (size_t s = 0; s < 6; s++) {
        error[0][s] = error_at(a, s);
        error[1][s] = error_at(b, s);
        mean[0] += error[0][s] / 6;
        mean[1] += error[1][s] / 6;
    }
    for (int s = 0; s < 6; s++) square += pow(error[0][s] - error[1][s] - mean[0] + mean[1], 2) / 5;
    check_close(real_at(a, "error_mean"), mean[0], 1e-12);
    check_close(real_at(versus, "difference"), mean[0] - mean[1], 1e-12);
    check_close(real_at(versus, "standard_error"), sqrt(square / 6), 1e-12);
    assert_int_equal(json_integer_value(json_object_get(r, "train_points")), 125);
    assert_int_equal(json_integer_value(json_object_get(r, "test_points")), 53);
    check_close(real_at(versus, "standard_error_corrected"), sqrt(square * (1 / 6.0 + 53 / 125.0)),
                1e-12);
    assert_string_equal(json_string_value(json_object_get(versus, "method")), "whiten");
    check_close(real_at(json_object_get(b, "versus"), "difference"), mean[1] - mean[0], 1e-12);
    check_true(json_is_null(json_object_get(a, "chosen")));
    int64_t tested = 0, right = 0;
    for (size_t t = 0; t < 3; t++)
        for (size_t p = 0; p < 3; p++) {
            int64_t n = json_integer_value(
                json_array_get(json_array_get(json_object_get(a, "confusion"), t), p));
            tested += n;
            right += t == p ? n : 0;
        }
    assert_int_equal(tested, 6 * 53);
    check_close(100.0 * (double)(tested - right) / (double)tested, mean[0], 1e-12);
    json_decref(r);
    r = result_of(data, "methods euclidean,whiten folds 5");
    versus = json_object_get(method_at(r, 0), "versus");
    assert_string_equal(json_string_value(json_object_get(versus, "test")), "paired t");
    check_close(real_at(versus, "t"),
                real_at(versus, "difference") / real_at(versus, "standard_error"), 1e-12);
    json_decref(r);
    r = result_of(data, "method euclidean splits 2");
    check_true(json_is_null(json_object_get(method_at(r, 0), "versus")));
    json_decref(r);
    bdml_free_dataset(data);
}

/* Hard margins on Iris are proven infeasible: bdml is out with its reason, Euclid stays. */
static void a_method_may_refuse(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    char *text;
    json_t *r = result_of(data, "methods euclidean,bdml hard yes distortion 10 splits 2 jobs 2");
    json_t *e = method_at(r, 0), *b = method_at(r, 1);
    check_true(json_is_real(json_object_get(e, "error_mean")));
    check_true(json_is_null(json_object_get(e, "versus"))); /* there is no other */
    check_true(json_is_null(json_object_get(b, "error_mean")));
    check_true(
        strncmp(json_string_value(json_object_get(b, "error")), "split 1, method bdml: ", 22) == 0);
    json_decref(r);
    set_all(h, "method bdml hard yes distortion 10 splits 2");
    check_fails(h, bdml_evaluate(h, data, &text), BDML_ERR_INFEASIBLE, "split 1, method bdml");
    bdml_free_dataset(data);
}

static void all_methods(void **state)
{
    bdml_handle *h = *state;
    const bdml_method **method;
    static const bdml_uses kinds[] = {BDML_USES_LABELS, BDML_USES_PAIRS};
    int count;
    for (int k = 0; k < 2; k++) {
        int known = 0;
        check_ok(h, bdml_set(h, "methods", "all"));
        check_ok(h, bdml_methods_listed(h, &h->options, kinds[k], &count, &method));
        for (int i = 0; i < bdml_method_count(); i++) {
            int uses = bdml_method_at(i)->uses;
            known += (uses & (int)kinds[k]) && !(uses & BDML_USES_DOMAINS);
        }
        assert_int_equal(count, known);
        assert_string_equal(method[0]->name, "bdml");
        free(method);
    }
    check_ok(h, bdml_set(h, "methods", "whiten,all"));
    check_fails(h, bdml_methods_listed(h, &h->options, BDML_USES_LABELS, &count, &method),
                BDML_ERR_ARGUMENT, "no method 'all'");
    assert_null(method);
    check_ok(h, bdml_set(h, "methods", "whiten, bdml"));
    check_ok(h, bdml_methods_listed(h, &h->options, BDML_USES_LABELS, &count, &method));
    assert_int_equal(count, 2);
    assert_string_equal(method[1]->name, "bdml");
    free(method);
    check_ok(h, bdml_set(h, "methods", "")); /* unset: the one method */
    check_ok(h, bdml_set(h, "method", "lda"));
    check_ok(h, bdml_methods_listed(h, &h->options, BDML_USES_LABELS, &count, &method));
    assert_int_equal(count, 1);
    assert_string_equal(method[0]->name, "lda");
    free(method);
}

/* ---- nothing leaks ------------------------------------------------------------------------------------ */

enum { BAIT_ROWS = 200 };

/* A bait that helps on the test rows of split 0 alone. Feature 0 puts training rows at places 100 apart,
 * classes in turn, so that the nearest training row of a training row is of the other class; each
 * test row sits beside a training row of its own class. By feature 0 alone the test rows have no error, and
 * left-out training rows nearly nothing but errors. Feature 1 tells the classes apart as far as noise lets
 * it. Unscaled, feature 0 rules; scaled, feature 1 matters. */
static bdml_dataset *bait(bdml_handle *h, int flip_test)
{
    double x[2 * BAIT_ROWS];
    int64_t y[BAIT_ROWS], order[BAIT_ROWS], train;
    bdml_rng r = bdml_rng_make(11, 0);
    bdml_dataset *data;
    check_ok(h, bdml_split_random(h, BAIT_ROWS, NULL, 0.3, 0, 0, order, &train));
    for (int64_t k = 0; k < BAIT_ROWS; k++) {
        int64_t i = order[k], beside = k < train ? k : (k - train) * 2;
        y[i] = beside % 2;
        x[2 * i] = 100.0 * (double)beside + (k < train ? 0.0 : 0.1);
        x[2 * i + 1] = (double)y[i] + 0.5 * bdml_rng_normal(&r);
        if (k >= train && flip_test) y[i] = 1 - y[i];
    }
    check_ok(h, bdml_dataset_from_arrays(h, BAIT_ROWS, 2, x, 2, y, &data));
    return data;
}

static void bait_is_not_taken(void **state)
{
    static const char *const choices[] = {"method euclidean scale auto",
                                          "method euclidean scale auto neighbors auto",
                                          "method bdml", "method whiten scale auto neighbors auto",
                                          "method whiten scale auto tune yes"};
    bdml_handle *h = *state;
    bdml_dataset *data = bait(h, 0);
    json_t *r = result_of(data, "method euclidean splits 1 neighbors 1");
    check_close(error_at(method_at(r, 0), 0), 0.0, 0); /* there is something to be had */
    json_decref(r);
    for (int k = 0; k < 5; k++) {
        char settings[128];
        snprintf(settings, sizeof settings, "splits 1 neighbors 1 %s", choices[k]);
        r = result_of(data, settings);
        /* two normals at distance 2 sigma: 16 % at best, some 23 % with one neighbour */
        check_true(error_at(method_at(r, 0), 0) > 8.0);
        json_decref(r);
    }
    bdml_free_dataset(data);
}

/* With all test labels turned round everything that was learned and chosen stays, and every hit is a miss. */
static void test_labels_change_nothing(void **state)
{
    static const char *const settings[] = {
        "methods euclidean,whiten splits 1 scale auto neighbors auto", "method bdml splits 1",
        "method bdml splits 1 distortion 3 softness 5 passes 1 neighbors auto scale auto"};
    bdml_handle *h = *state;
    bdml_dataset *data = bait(h, 0), *turned = bait(h, 1);
    for (int k = 0; k < 3; k++) {
        json_t *a = result_of(data, settings[k]), *b = result_of(turned, settings[k]);
        for (size_t m = 0; m < json_array_size(json_object_get(a, "methods")); m++) {
            json_t *x = method_at(a, m), *z = method_at(b, m);
            check_true(json_equal(json_object_get(x, "chosen"), json_object_get(z, "chosen")));
            check_true(json_is_object(json_object_get(x, "chosen")));
            check_true(json_equal(json_object_get(x, "kappas"), json_object_get(z, "kappas")));
            check_close(error_at(x, 0) + error_at(z, 0), 100.0, 1e-12);
        }
        json_decref(a);
        json_decref(b);
    }
    bdml_free_dataset(data);
    bdml_free_dataset(turned);
}

/* ---- scale and neighbours -------------------------------------------------------------------------------- */

/* Two overlapping normals beside a wide column of noise: z-scores and many neighbours are better. */
static bdml_dataset *noisy(bdml_handle *h)
{
    enum { N = 160 };
    double x[2 * N];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(5, 0);
    bdml_dataset *data;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        x[2 * i] = 1.5 * (double)y[i] + bdml_rng_normal(&r);
        x[2 * i + 1] = 1000.0 * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, 2, x, 2, y, &data));
    return data;
}

static void scale_and_neighbors_are_chosen(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = noisy(h);
    bdml_model *model, *fixed;
    int32_t a[160], b[160];
    set_all(h, "method euclidean scale auto neighbors auto keep-points yes");
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_string_equal(bdml_get(h, "scale"), "auto"); /* the setting is as it was */
    json_t *info = json_loads(bdml_model_describe(model), 0, NULL);
    json_t *chosen = json_object_get(info, "selection");
    check_true(strcmp(json_string_value(json_object_get(chosen, "scale")), "none") != 0);
    int k = (int)json_integer_value(json_object_get(chosen, "neighbors"));
    check_true(k > 1);
    /* the model predicts with what it chose, and is the model of that scale */
    char text[32];
    snprintf(text, sizeof text, "%d", k);
    check_ok(h, bdml_predict(h, model, NULL, data->n, data->x, 2, a));
    check_ok(h, bdml_set(h, "scale", json_string_value(json_object_get(chosen, "scale"))));
    check_ok(h, bdml_set(h, "neighbors", text));
    check_ok(h, bdml_train(h, data, NULL, &fixed));
    check_ok(h, bdml_predict(h, fixed, NULL, data->n, data->x, 2, b));
    assert_memory_equal(a, b, sizeof a);
    json_decref(info);
    bdml_free_model(model);
    bdml_free_model(fixed);
    bdml_free_dataset(data);
}

/* Unasked, method bdml chooses how many neighbours vote with the metric, and prediction takes its number; the metric is
 * the one of a number that was given. */
static void the_recipe_chooses_its_votes(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = noisy(h);
    bdml_model *model, *three;
    int32_t a[160], b[160];
    char text[32];
    set_all(h, "method bdml keep-points yes");
    check_ok(h, bdml_train(h, data, NULL, &model));
    json_t *chosen = json_object_get(model->info, "selection");
    int k = (int)json_integer_value(json_object_get(chosen, "neighbors"));
    check_true(k > 3); /* the classes overlap */
    check_ok(h, bdml_predict(h, model, NULL, data->n, data->x, 2, a));
    snprintf(text, sizeof text, "%d", k);
    check_ok(h, bdml_set(h, "neighbors", text));
    check_ok(h, bdml_train(h, data, NULL, &three));
    check_true(!json_object_get(json_object_get(three->info, "selection"), "neighbors"));
    assert_int_equal(model->q, three->q);
    assert_memory_equal(model->l, three->l, sizeof *model->l * (size_t)(model->q * model->d));
    check_ok(h, bdml_predict(h, three, NULL, data->n, data->x, 2, b));
    assert_memory_equal(a, b, sizeof a);
    bdml_free_model(three);
    check_ok(h, bdml_set(h, "neighbors", "3"));
    check_ok(h, bdml_predict(h, model, NULL, data->n, data->x, 2, b));
    check_true(memcmp(a, b, sizeof a) != 0);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void unasked_others_have_three_votes(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = noisy(h);
    bdml_model *model;
    char *json;
    set_all(h, "method euclidean methods bdml,euclidean splits 2");
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_true(!json_object_get(model->info, "selection"));
    bdml_free_model(model);
    check_ok(h, bdml_evaluate(h, data, &json));
    json_t *result = json_loads(json, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(result, "neighbors")), 3);
    json_decref(result);
    bdml_free_bytes(json);
    bdml_free_dataset(data);
}

/* Rows of fold f that 3 neighbours among the others get wrong under this shrinkage. */
static int64_t wrong_in_fold(bdml_handle *h, const bdml_dataset *data, const int32_t *fold, int f)
{
    int64_t train[160], test[160], a = 0, b = 0, wrong = 0;
    bdml_dataset *learn, *judge;
    bdml_model *model;
    int32_t answer[160];
    for (int64_t i = 0; i < data->n; i++)
        if (fold[i] == f)
            test[b++] = i;
        else
            train[a++] = i;
    check_ok(h, bdml_dataset_subset(h, data, a, train, &learn));
    check_ok(h, bdml_dataset_subset(h, data, b, test, &judge));
    check_ok(h, bdml_train(h, learn, NULL, &model));
    check_ok(h, bdml_predict(h, model, NULL, judge->n, judge->x, judge->d, answer));
    for (int64_t i = 0; i < b; i++) wrong += answer[i] != judge->y[i];
    bdml_free_model(model);
    bdml_free_dataset(learn);
    bdml_free_dataset(judge);
    return wrong;
}

/* What tune chooses for method whiten is what five folds by hand say; of equals, the default and then in order. */
static void main_parameter_is_chosen(void **state)
{
    static const char *const value[] = {"0.1", "0.01", "0.3", "0.7"};
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    int32_t fold[160];
    int best = 0;
    int64_t least = INT64_MAX;
    bdml_model *model;
    check_ok(h, bdml_split_folds(h, data->n, data->y, 5, 0, 0, fold));
    set_all(h, "method whiten keep-points yes");
    for (int k = 0; k < 4; k++) {
        int64_t wrong = 0;
        check_ok(h, bdml_set(h, "shrinkage", value[k]));
        for (int f = 0; f < 5; f++) wrong += wrong_in_fold(h, data, fold, f);
        if (wrong < least) best = k, least = wrong;
    }
    check_ok(h, bdml_set(h, "tune", "yes"));
    check_ok(h, bdml_train(h, data, NULL, &model)); /* shrinkage is given: it stands */
    check_true(!strstr(bdml_model_describe(model), "selection"));
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "shrinkage", NULL));
    check_ok(h, bdml_train(h, data, NULL, &model));
    json_t *info = json_loads(bdml_model_describe(model), 0, NULL);
    double chosen =
        json_real_value(json_object_get(json_object_get(info, "selection"), "shrinkage"));
    check_close(chosen, strtod(value[best], NULL), 0);
    check_true(best != 0); /* or the test would say little */
    json_decref(info);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void auto_has_its_limits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = noisy(h);
    bdml_constraints *c;
    bdml_model *model;
    bdml_prepare p;
    set_all(h, "method bdml scale auto");
    check_ok(h, bdml_mine_constraints(h, data, &c));
    set_all(h, "neighbors auto");
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_ARGUMENT, "given constraints");
    check_fails(h, bdml_prepare_fit(h, &h->options, data, &p), BDML_ERR_ARGUMENT,
                "scale auto is for training");
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* ---- failure ------------------------------------------------------------------------------------------- */

static void allocations_may_fail(void **state)
{
    (void)state;
    bdml_handle *h;
    bdml_status status = BDML_ERR_MEMORY;
    char *text = NULL;
    assert_int_equal(bdml_create(&h), BDML_OK);
    bdml_dataset *data = noisy(h);
    data->n = 40;
    set_all(h, "methods euclidean,whiten splits 2 scale auto neighbors auto threads 1");
    for (int64_t k = 1; status != BDML_OK; k++) {
        h->fail_alloc = k;
        status = bdml_evaluate(h, data, &text);
        h->fail_alloc = 0;
        if (status != BDML_OK) {
            assert_int_equal(status, BDML_ERR_MEMORY);
            assert_null(text);
        }
        check_true(k < 10000);
    }
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    bdml_free(h);
}

static int stop_at_once(void *user, const char *what, int64_t done, int64_t total)
{
    (void)what, (void)total;
    (void)user;
    return done > 0;
}

static void can_be_stopped(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    char *text;
    for (int jobs = 1; jobs <= 2; jobs++) {
        set_all(h, jobs == 1 ? "method bdml splits 100 jobs 1" : "jobs 2");
        bdml_set_progress(h, stop_at_once, NULL);
        check_fails(h, bdml_evaluate(h, data, &text), BDML_ERR_CANCELLED, "stopped on request");
        assert_null(text);
    }
    bdml_free_dataset(data);
}

typedef struct told {
    char text[1024];
} told;

static void note_line(void *user, bdml_log_level level, const char *line)
{
    told *t = user;
    size_t used = strlen(t->text);
    if (level == BDML_LOG_WARNING) snprintf(t->text + used, sizeof t->text - used, "%s;", line);
}

static bdml_status warning_job(bdml_handle *own, void *user, int64_t job)
{
    (void)user;
    if (job % 5 == 3) bdml_log(own, BDML_LOG_WARNING, "job %d", (int)job);
    bdml_log(own, BDML_LOG_WARNING, "kind %d", (int)(job % 3));
    return BDML_OK;
}

/* Whoever ran which: each warning once, in the order of the jobs. */
static void warnings_do_not_depend_on_workers(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 4; workers++) {
        bdml_handle *h; /* a handle tells a warning once */
        told t = {""};
        assert_int_equal(bdml_create(&h), BDML_OK);
        bdml_jobs jobs = {.what = "work",
                          .total = 12,
                          .count = 12,
                          .workers = workers,
                          .run = warning_job,
                          .user = NULL};
        bdml_set_log(h, note_line, &t);
        check_ok(h, bdml_jobs_run(h, &jobs));
        assert_string_equal(t.text, "kind 0;kind 1;kind 2;job 3;job 8;");
        bdml_free(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incomplete_beta),
        cmocka_unit_test(student),
        cmocka_unit_test(paired_by_hand),
        cmocka_unit_test(warnings_do_not_depend_on_workers),
        handle_test(jobs_run_once_each),
        handle_test(jobs_within_jobs),
        handle_test(same_for_any_number_of_jobs),
        handle_test(figures_agree),
        handle_test(a_method_may_refuse),
        handle_test(all_methods),
        handle_test(bait_is_not_taken),
        handle_test(test_labels_change_nothing),
        handle_test(scale_and_neighbors_are_chosen),
        handle_test(the_recipe_chooses_its_votes),
        handle_test(unasked_others_have_three_votes),
        handle_test(main_parameter_is_chosen),
        handle_test(auto_has_its_limits),
        cmocka_unit_test(allocations_may_fail),
        handle_test(can_be_stopped),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
