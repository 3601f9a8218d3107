/* test_lengths.c - rows of length 1 or as they are, where the recipe may say: many rows, PCA, a scale that is left open. */
#include "check.h"

#include <stdlib.h>

#include "train/train.h"

enum { N = 5200, D = 24, CLASSES = 4 };

/* Classes are directions about a common one, loud or not: lengths from 1 to 4 say nothing, and rows of one length are few.
 * `by_length`: lengths say all, directions nothing. */
static void make_rows(bdml_handle *h, bool by_length, bdml_dataset **data)
{
    double *x = calloc((size_t)N * D, sizeof *x);
    int64_t *y = calloc(N, sizeof *y);
    bdml_rng r = bdml_rng_make(11, by_length);
    assert_true(x && y);
    for (int i = 0; i < N; i++) {
        int c = i % CLASSES;
        double norm = 0.0, *row = x + (size_t)i * D;
        y[i] = c;
        for (int j = 0; j < D; j++) {
            row[j] = 0.5 * bdml_rng_normal(&r) + (by_length ? 0.0 : 2.0 + (j == c));
            norm += row[j] * row[j];
        }
        double length =
            by_length ? 1.0 + c + 0.2 * bdml_rng_uniform(&r) : 1.0 + 3.0 * bdml_rng_uniform(&r);
        for (int j = 0; j < D; j++) row[j] *= length / sqrt(norm);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, data));
    free(x);
    free(y);
}

/* The scale that is settled on for the first n of the rows. */
static int settled(bdml_handle *h, bdml_dataset *data, int64_t n)
{
    bdml_options chosen = h->options;
    const bdml_method *method = bdml_method_find(h, "bdml", strlen("bdml"));
    bdml_dataset some = *data;
    some.n = n;
    if (chosen.prepare.scale.value == BDML_SCALE_AUTO)
        check_ok(h, bdml_auto_choose(h, &chosen, method, &some, NULL));
    check_ok(h, bdml_lengths_choose(h, &h->options, method, &some, NULL, &chosen));
    return chosen.prepare.scale.value;
}

static void lengths_that_say_nothing_are_taken_off(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    make_rows(h, false, &data);
    assert_int_equal(settled(h, data, N), BDML_SCALE_NONE); /* no PCA: columns may be of any kind */
    check_ok(h, bdml_set(h, "pca", "16"));
    assert_int_equal(settled(h, data, N), BDML_SCALE_UNIT);
    assert_int_equal(settled(h, data, 5000), BDML_SCALE_NONE);
    check_ok(h, bdml_set(h, "scale", "auto")); /* how 'bdml certify --level repeat' asks */
    assert_int_equal(settled(h, data, N), BDML_SCALE_UNIT);
    check_ok(h, bdml_set(h, "scale", "none"));
    assert_int_equal(settled(h, data, N), BDML_SCALE_NONE);
    bdml_free_dataset(data);
}

static void lengths_that_say_something_stay(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    make_rows(h, true, &data);
    check_ok(h, bdml_set(h, "pca", "16"));
    assert_int_equal(settled(h, data, N), BDML_SCALE_NONE);
    bdml_free_dataset(data);
}

/* A stated problem is the one that is stated; rows that cannot be prepared are for training to tell. */
static void nothing_is_settled_where_nothing_is_open(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    make_rows(h, false, &data);
    check_ok(h, bdml_set(h, "pca", "16"));
    check_ok(h, bdml_set(h, "rule", "class"));
    assert_int_equal(settled(h, data, N), BDML_SCALE_NONE);
    check_ok(h, bdml_set(h, "rule", "auto"));
    data->x[3 * D] = INFINITY;
    assert_int_equal(settled(h, data, N), BDML_SCALE_NONE);
    bdml_free_dataset(data);
}

/* The model maps as it was trained, says what was chosen, and certify makes it again. */
static void model_says_what_was_taken(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model = NULL;
    make_rows(h, false, &data);
    check_ok(h, bdml_set(h, "pca", "16"));
    check_ok(h, bdml_set(h, "reference", "none"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(model->prepare.scale, BDML_SCALE_UNIT);
    const json_t *selection = json_object_get(model->info, "selection");
    assert_string_equal(json_string_value(json_object_get(selection, "scale")), "unit");
    const json_t *settings = json_object_get(model->info, "settings");
    assert_string_equal(json_string_value(json_object_get(settings, "scale")), "unit");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(lengths_that_say_nothing_are_taken_off),
        handle_test(lengths_that_say_something_stay),
        handle_test(nothing_is_settled_where_nothing_is_open),
        handle_test(model_says_what_was_taken),
    };
    return cmocka_run_group_tests_name("lengths", tests, NULL, NULL);
}
