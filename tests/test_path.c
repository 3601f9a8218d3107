/* test_path.c - the path over K: its brackets, its errors, the shape it states, its settings. */
#include "check.h"

#include <jansson.h>

#include "train/path.h"

/* ---- helpers ----------------------------------------------------------------------------------------- */

static void set(bdml_handle *h, const char *name, const char *value)
{
    check_ok(h, bdml_set(h, name, value));
}

static json_t *run_path(bdml_handle *h, const bdml_dataset *data)
{
    char *text = NULL;
    check_ok(h, bdml_path(h, data, &text));
    json_t *root = json_loads(text, 0, NULL);
    check_true(root != NULL);
    bdml_free_bytes(text);
    return root;
}

static bdml_dataset *read_iris(bdml_handle *h)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    return data;
}

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v)) fail_msg("no number '%s'", key);
    return json_number_value(v);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    if (!s) fail_msg("no text '%s'", key);
    return s;
}

/* For K1 <= K2 a metric of K1 is one of K2: the optimum cannot rise, so every lower end at K2 is at or
 * under every upper end at K1. Each bracket is in order and as narrow as asked; kappa keeps its cap. */
static void check_brackets(const json_t *rows, double gap)
{
    size_t n = json_array_size(rows);
    check_true(n > 1);
    for (size_t b = 0; b < n; b++) {
        const json_t *row = json_array_get(rows, b);
        double lower = number(row, "lower"), upper = number(row, "upper");
        check_true(lower <= upper);
        check_true(upper - lower <= gap * fabs(upper));
        check_close(number(row, "objective"), upper, 0.0);
        check_true(number(row, "kappa") <= number(row, "distortion") * (1.0 + 1e-8));
        check_close(number(row, "ln_kappa"), log(number(row, "kappa")), 1e-12);
        for (size_t a = 0; a < b; a++)
            check_true(lower <= number(json_array_get(rows, a), "upper"));
    }
}

/* ---- planted ------------------------------------------------------------------------------------------- */

/* Four groups 6 apart along feature 0, of width 1 there; feature 1 is +-0.06, up to 0.01, and says the
 * class, but with the opposite sign in every second group.
 *     K = 1      neighbours are near in feature 0, where a group does not tell the classes apart: chance
 *     K = 300    feature 1 decides inside a group, and the groups stay apart
 *     K = 1e8    the groups fall onto each other, and feature 1 says nothing: chance again
 * Between neighbours, which are all there is in the constraints, feature 0 is worth nothing: the best
 * metric takes all that K allows. */
static bdml_dataset *planted(bdml_handle *h, int64_t n)
{
    bdml_rng r = bdml_rng_make(11, 1);
    double *x = calloc((size_t)n * 2, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    bdml_dataset *data = NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t group = i % 4;
        y[i] = (i / 4) % 2;
        x[2 * i] = 6.0 * (double)group + bdml_rng_normal(&r);
        x[2 * i + 1] = ((y[i] + group) % 2 ? 0.06 : -0.06) + 0.01 * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, 2, x, 2, y, &data));
    free(x);
    free(y);
    return data;
}

static void path_falls_then_rises(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 120);
    set(h, "reference", "none");
    set(h, "diagonal", "yes"); /* a tilted axis could keep the groups apart by chance */
    set(h, "gap", "1e-7");     /* the last thousandth of the objective is what spoils the metric */
    set(h, "grid", "1,300,1e8");
    set(h, "splits", "5");
    json_t *root = run_path(h, data), *rows = json_object_get(root, "path");
    const json_t *shape = json_object_get(root, "shape"), *chosen = json_object_get(root, "chosen");

    check_brackets(rows, 1e-7);
    assert_string_equal(text_of(shape, "verdict"), "falls, then rises");
    check_true(number(shape, "fall") > 2.0 * number(shape, "fall_se"));
    check_true(number(shape, "rise") > 2.0 * number(shape, "rise_se"));
    check_close(number(shape, "best"), 300.0, 0.0);
    /* chance is 50 %; the groups overlap by a few points in ten thousand */
    check_true(number(json_array_get(rows, 0), "test_error") > 30.0);
    check_true(number(json_array_get(rows, 1), "test_error") < 5.0);
    check_true(number(json_array_get(rows, 2), "test_error") > 30.0);
    check_close(number(chosen, "distortion"), 300.0, 0.0);
    check_close(number(chosen, "test_error"), number(json_array_get(rows, 1), "test_error"), 1e-12);
    for (size_t s = 0; s < 5; s++)
        check_close(json_number_value(json_array_get(json_object_get(chosen, "distortions"), s)),
                    300.0, 0.0);
    json_decref(root);
    bdml_free_dataset(data);
}

/* Labels that have nothing to do with the points: whatever the curve does, no U may be claimed. */
static void noise_makes_no_shape(void **state)
{
    bdml_handle *h = *state;
    enum { N = 80, D = 4 };
    double x[N * D];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(5, 2);
    bdml_dataset *data = NULL;
    for (int i = 0; i < N * D; i++) x[i] = bdml_rng_normal(&r);
    for (int i = 0; i < N; i++) y[i] = i % 2;
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    set(h, "grid", "1,2,4,8,16,1000");
    set(h, "splits", "4");
    json_t *root = run_path(h, data);
    assert_string_not_equal(text_of(json_object_get(root, "shape"), "verdict"),
                            "falls, then rises");
    json_decref(root);
    bdml_free_dataset(data);
}

/* ---- against other ways to the same numbers ----------------------------------------------------------- */

/* The problem of each K, handed to bdml_train with the weight that the path reports, has the same
 * optimum: two brackets on one number overlap. */
static void brackets_agree_with_training(void **state)
{
    bdml_handle *h = *state, *t = NULL;
    bdml_dataset *data = read_iris(h);
    set(h, "grid", "1,10,200");
    set(h, "splits", "2");
    json_t *root = run_path(h, data), *rows = json_object_get(root, "path");

    check_brackets(rows, 1e-3);
    check_ok(h, bdml_create(&t));
    set(t, "rule", "class");
    set(t, "reference", "zscore");
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        char value[64];
        bdml_model *model = NULL;
        snprintf(value, sizeof value, "%.17g", number(row, "distortion"));
        set(t, "distortion", value);
        snprintf(value, sizeof value, "%.17g", number(row, "softness"));
        set(t, "softness", value);
        check_ok(t, bdml_train(t, data, NULL, &model));
        json_t *info = json_loads(bdml_model_describe(model), 0, NULL);
        const json_t *proof = json_object_get(info, "certificate");
        /* one part in 1e9 for C = softness C0, rounded twice */
        check_true(number(proof, "lower") <= number(row, "upper") * (1.0 + 1e-9));
        check_true(number(row, "lower") <= number(proof, "upper") * (1.0 + 1e-9));
        json_decref(info);
        bdml_free_model(model);
    }
    bdml_free(t);
    json_decref(root);
    bdml_free_dataset(data);
}

/* K = 1 over reference none is the Euclidean distance: its test errors are those of bdml_evaluate. */
static void first_error_is_euclidean(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_iris(h);
    char *text = NULL;
    set(h, "reference", "none");
    set(h, "grid", "1,4");
    set(h, "splits", "3");
    set(h, "stratify", "yes");
    set(h, "test-fraction", "0.25");
    set(h, "neighbors", "5");
    json_t *root = run_path(h, data);
    set(h, "methods", "euclidean");
    check_ok(h, bdml_evaluate(h, data, &text));
    json_t *plain = json_loads(text, 0, NULL);
    const json_t *want =
        json_object_get(json_array_get(json_object_get(plain, "methods"), 0), "errors");
    const json_t *got =
        json_object_get(json_array_get(json_object_get(root, "path"), 0), "test_errors");
    assert_int_equal(json_array_size(want), 3);
    for (size_t s = 0; s < 3; s++)
        check_close(json_number_value(json_array_get(got, s)),
                    json_number_value(json_array_get(want, s)), 1e-12);
    json_decref(plain);
    json_decref(root);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
}

/* ---- what is reported ------------------------------------------------------------------------------------ */

static void report_is_complete(void **state)
{
    static const char *const keys[] = {"distortion",    "status",      "objective",
                                       "lower",         "upper",       "gap",
                                       "kappa",         "ln_kappa",    "C",
                                       "softness",      "train_error", "validation_error",
                                       "validation_se", "test_error",  "test_se",
                                       "iterations",    "seconds",     "test_errors"};
    bdml_handle *h = *state;
    bdml_dataset *data = read_iris(h);
    set(h, "grid", "1, 5,50");
    set(h, "splits", "3");
    set(h, "pca", "3");
    json_t *root = run_path(h, data), *rows = json_object_get(root, "path");
    assert_int_equal(json_array_size(rows), 3);
    for (size_t k = 0; k < 3; k++) {
        const json_t *row = json_array_get(rows, k), *errors = json_object_get(row, "test_errors");
        double sum = 0.0;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (!json_object_get(row, keys[i])) fail_msg("row %d lacks '%s'", (int)k, keys[i]);
        for (size_t s = 0; s < 3; s++) sum += json_number_value(json_array_get(errors, s));
        check_close(number(row, "test_error"), sum / 3.0, 1e-12);
        check_close(number(row, "C"), number(json_array_get(rows, 0), "C"), 0.0); /* one weight */
    }
    check_close(number(json_array_get(rows, 0), "softness"), 5.0, 1e-9);
    check_close(number(root, "dimension"), 3.0, 0.0);
    assert_string_equal(text_of(root, "reference"), "zscore");
    json_decref(root);
    bdml_free_dataset(data);
}

/* Iris cannot meet hard triplets of nearest neighbours: no metric, but the reference has its error. */
static void hard_path_keeps_proofs(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_iris(h);
    set(h, "hard", "yes");
    set(h, "grid", "1,10");
    set(h, "splits", "2");
    json_t *root = run_path(h, data), *rows = json_object_get(root, "path");
    const json_t *first = json_array_get(rows, 0), *second = json_array_get(rows, 1);
    assert_string_equal(text_of(first, "status"), "infeasible");
    assert_string_equal(text_of(second, "status"), "infeasible");
    check_true(json_is_null(json_object_get(second, "objective")));
    check_true(json_is_null(json_object_get(second, "test_error")));
    check_true(json_is_number(json_object_get(first, "test_error")));
    assert_string_equal(text_of(json_object_get(root, "shape"), "verdict"), "unknown");
    json_decref(root);
    set(h, "kind", "pair"); /* impostors far: feasible at every K */
    root = run_path(h, data);
    check_brackets(json_object_get(root, "path"), 1e-3);
    json_decref(root);
    bdml_free_dataset(data);
}

/* 0: the lowest cross-validated error. 100: any K is within so many standard errors, so the smallest. */
static void rule_moves_the_choice(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_iris(h);
    set(h, "grid", "1,20,1000");
    set(h, "splits", "1");
    set(h, "se-rule", "0");
    json_t *root = run_path(h, data), *rows = json_object_get(root, "path");
    double least = INFINITY;
    for (size_t k = 0; k < 3; k++)
        least = BDML_MIN(least, number(json_array_get(rows, k), "validation_error"));
    check_close(number(json_object_get(root, "chosen"), "validation_error"), least, 0.0);
    check_true(number(json_object_get(root, "chosen"), "distortion") > 1.0);
    assert_string_equal(text_of(json_object_get(root, "shape"), "verdict"),
                        "unknown"); /* 1 split */
    json_decref(root);
    set(h, "se-rule", "100");
    root = run_path(h, data);
    check_close(number(json_object_get(root, "chosen"), "distortion"), 1.0, 0.0);
    json_decref(root);
    bdml_free_dataset(data);
}

/* ---- shape, by hand ----------------------------------------------------------------------------------------- */

/* Three distortions, four splits with as many rows to learn from as to test on: se = s sqrt(1/4 + 1). */
static void shape_by_hand(const double error[4][3], path_shape *shape)
{
    path_record record[5 * 3];
    path_result p = {.plan = {.caps = 3, .cap = {1, 10, 100}},
                     .splits = 4,
                     .train = 10,
                     .test = 10,
                     .record = record};
    memset(record, 0, sizeof record);
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 3; k++) path_at(&p, s + 1, k)->test_error = error[s][k];
    path_find_shape(&p, shape);
}

static void shape_is_worked_out(void **state)
{
    static const double u[4][3] = {{10, 5, 9}, {12, 5, 9}, {10, 5, 9}, {12, 5, 9}};
    static const double down[4][3] = {{10, 5, 2}, {10, 5, 2}, {10, 5, 2}, {10, 5, 2}};
    static const double noise[4][3] = {{10, 5, 9}, {5, 10, 4}, {10, 5, 9}, {5, 10, 6}};
    static const double late[4][3] = {{5, 5, 9}, {5, 5, 9}, {5, 5, 9}, {5, 5, 9}};
    static const double gone[4][3] = {{5, NAN, 9}, {5, 5, 9}, {5, 5, 9}, {5, 5, 9}};
    path_shape s;
    (void)state;
    shape_by_hand(u, &s); /* fall 5, 7, 5, 7: mean 6, s = sqrt(4/3) */
    assert_string_equal(s.verdict, "falls, then rises");
    check_close(s.fall, 6.0, 1e-12);
    check_close(s.fall_se, sqrt(4.0 / 3.0 * 1.25), 1e-12);
    check_close(s.rise, 4.0, 1e-12);
    check_close(s.rise_se, 0.0, 1e-12);
    check_close(s.across, -2.0, 1e-12);
    shape_by_hand(down, &s);
    assert_string_equal(s.verdict, "falls");
    shape_by_hand(noise, &s);
    assert_string_equal(s.verdict, "stays flat within noise");
    shape_by_hand(late, &s);
    assert_string_equal(s.verdict, "stays, then rises");
    shape_by_hand(gone,
                  &s); /* no metric in one split: K = 10 is out, and nothing is left between */
    assert_string_equal(s.verdict, "unknown");
}

/* With many K the lowest is not scored on the splits that made it lowest. */
static void best_is_chosen_by_other_splits(void **state)
{
    path_record record[3 * 4];
    path_result p = {.plan = {.caps = 4, .cap = {1, 2, 3, 4}},
                     .splits = 2,
                     .train = 10,
                     .test = 10,
                     .record = record};
    path_shape s;
    static const double error[2][4] = {{5, 0, 9, 5}, {5, 8, 1, 5}};
    (void)state;
    memset(record, 0, sizeof record);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) path_at(&p, i + 1, k)->test_error = error[i][k];
    path_find_shape(&p, &s);
    /* split 1 is scored at K = 3 (lowest in split 2): 5 - 9; split 2 at K = 2: 5 - 8 */
    check_close(s.fall, (-4.0 - 3.0) / 2.0, 1e-12);
    assert_int_equal(s.best, 1); /* 8 against 10 over both */
}

/* ---- settings, threads, memory ----------------------------------------------------------------------------- */

static void settings_are_checked(void **state)
{
    static const struct {
        const char *grid, *message;
    } bad[] = {{"", "grid is empty"},
               {"   ", "grid is empty"},
               {"0.5,1,2", "at least 1"},
               {"-3", "at least 1"},
               {"1,nan,3", "must be finite, got nan"},
               {"1,inf", "must be finite, got inf"},
               {"1,ten", "'ten' is not a number"},
               {"1,,3", "is not a number"},
               {"1,3,", "is not a number"},
               {"1,10,5", "must ascend: 5 comes after 10"},
               {"2,2", "must ascend: 2 comes after 2"},
               {"1,1e16", "at most 1e+09"}};
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 16);
    char *json = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        set(h, "grid", bad[i].grid);
        check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, bad[i].message);
        check_true(json == NULL);
    }
    set(h, "grid", "1,10");
    set(h, "folds", "3");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "folds must be 0");
    set(h, "folds", "0");
    set(h, "test-fraction", "1");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "test-fraction");
    set(h, "test-fraction", "0.3");
    set(h, "pairs-file", "pairs.csv");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "constraint files");
    set(h, "pairs-file", "");
    set(h, "checkpoint", "c.bdml");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "no checkpoints");
    set(h, "checkpoint", "");
    set(h, "method", "whiten");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "method bdml");
    set(h, "method", "bdml");
    set(h, "distortion", "7");
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_ARGUMENT, "leave out distortion");
    check_fails(h, bdml_path(h, NULL, &json), BDML_ERR_ARGUMENT, "data");
    assert_int_equal(bdml_path(h, data, NULL), BDML_ERR_ARGUMENT);
    assert_int_equal(bdml_path(NULL, data, &json), BDML_ERR_ARGUMENT);
    bdml_free_dataset(data);
}

static void one_class_is_refused(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {1, 2, 3, 4};
    const int64_t y[] = {1, 1, 1, 1};
    char *json = NULL;
    bdml_dataset *data = NULL;
    check_ok(h, bdml_dataset_from_arrays(h, 4, 1, x, 1, y, &data));
    check_fails(h, bdml_path(h, data, &json), BDML_ERR_DATA, "class");
    bdml_free_dataset(data);
}

static void drop_times(json_t *root)
{
    size_t i;
    json_t *row;
    json_object_del(root, "seconds");
    json_array_foreach(json_object_get(root, "path"), i, row) json_object_del(row, "seconds");
}

static void threads_change_nothing(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_iris(h);
    set(h, "grid", "1,30,1000");
    set(h, "splits", "3");
    set(h, "passes", "2");
    set(h, "threads", "1");
    json_t *one = run_path(h, data);
    set(h, "threads", "2");
    json_t *two = run_path(h, data);
    drop_times(one);
    drop_times(two);
    check_true(json_equal(one, two));
    json_decref(one);
    json_decref(two);
    bdml_free_dataset(data);
}

static int stop_at_once(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)user, (void)phase, (void)done, (void)total;
    return 1;
}

static void path_can_be_cancelled(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 40);
    char *json = NULL;
    bdml_set_progress(h, stop_at_once, NULL);
    assert_int_equal(bdml_path(h, data, &json), BDML_ERR_CANCELLED);
    check_true(json == NULL);
    bdml_free_dataset(data);
}

static void allocations_may_fail(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = planted(h, 48);
    char *json = NULL;
    set(h, "grid", "1,1000");
    set(h, "splits", "1");
    set(h, "threads", "1");
    bdml_status status = BDML_ERR_MEMORY;
    int64_t n = 0;
    while (status == BDML_ERR_MEMORY && n < 2000) {
        h->fail_alloc = ++n;
        status = bdml_path(h, data, &json);
        check_true((status == BDML_OK) == (json != NULL));
    }
    h->fail_alloc = 0;
    check_ok(h, status);
    check_true(n > 20); /* it did fail on the way */
    bdml_free_bytes(json);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(path_falls_then_rises),
        handle_test(noise_makes_no_shape),
        handle_test(brackets_agree_with_training),
        handle_test(first_error_is_euclidean),
        handle_test(report_is_complete),
        handle_test(hard_path_keeps_proofs),
        handle_test(rule_moves_the_choice),
        cmocka_unit_test(shape_is_worked_out),
        cmocka_unit_test(best_is_chosen_by_other_splits),
        handle_test(settings_are_checked),
        handle_test(one_class_is_refused),
        handle_test(threads_change_nothing),
        handle_test(path_can_be_cancelled),
        handle_test(allocations_may_fail),
    };
    return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
