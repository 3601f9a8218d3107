/* test_scml.c - scml: in one dimension against its objective at every metric there is; on more, what its description says
 * against plain loops, and its seeds, threads and refusals. */
#include "rivals.h"

enum { N = 60, D = 4 };

static int directions(const bdml_model *model, const char *key)
{
    return (int)json_integer_value(
        json_object_get(json_object_get(model->info, "directions"), key));
}

/* Triplets of random rows. */
static bdml_constraints *some(bdml_handle *h, const bdml_dataset *data, int count)
{
    int32_t rows[3 * 100];
    bdml_rng rng = bdml_rng_make(9, 2);
    bdml_constraints *c = NULL;
    for (int t = 0; t < count; t++) {
        int32_t *r = rows + 3 * t;
        do
            for (int e = 0; e < 3; e++) r[e] = (int32_t)bdml_rng_below(&rng, N);
        while (r[0] == r[1] || data->y[r[0]] != data->y[r[1]] || data->y[r[0]] == data->y[r[2]]);
    }
    check_ok(h, bdml_constraints_from_arrays(h, N, 0, NULL, 0, NULL, count, rows, &c));
    return c;
}

/* Mean hinge loss of the triplets at M, and in *margin the mean of v. */
static double plain_loss(const bdml_dataset *data, const bdml_constraints *c, const double *m,
                         double *margin)
{
    double sum = 0.0;
    *margin = 0.0;
    for (int64_t t = 0; t < c->m; t++) {
        int32_t r[3];
        assert_int_equal(bdml_constraints_at(c, t, r), BDML_OK);
        double v = plain_squared(data, m, r[0], r[2]) - plain_squared(data, m, r[0], r[1]);
        sum += BDML_MAX(1.0 - v, 0.0) / (double)c->m;
        *margin += v / (double)c->m;
    }
    return sum;
}

/* One dimension has one direction: F(M) = loss(M) + share M (mean of v at M = 1), whose optimum a scan finds. */
static void test_one_dimension(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, 1, 2, 2.0);
    bdml_constraints *c = some(h, data, 80);
    bdml_model *model = NULL;
    double m, unit = 1.0, mean, best = INFINITY, margin;
    set_all(h, "method scml gap 0.02 scml-epochs 5000 scml-sparsity 0.1");
    check_ok(h, bdml_train(h, data, c, &model));
    check_ok(h, bdml_model_get_metric(h, model, &m));
    plain_loss(data, c, &unit, &mean);
    check_true(mean > 0.0);
    for (double at = 1e-3; at < 100.0; at *= 1.0005)
        best = BDML_MIN(best, plain_loss(data, c, &at, &margin) + 0.1 * at * mean);
    double f = plain_loss(data, c, &m, &margin) + 0.1 * m * mean;
    check_close(stopping(model, "objective"), f, 1e-9);
    check_true(stopping(model, "reached") <= 0.02);
    check_true(best >= f * (1.0 - stopping(model, "reached")) && best <= f * (1.0 + 1e-3));
    bdml_free_model(model);
    for (int epochs = 1; epochs <= 64; epochs *= 2) { /* however early it stops */
        char text[32];
        snprintf(text, sizeof text, "gap 1e-9 scml-epochs %d", epochs);
        set_all(h, text);
        check_ok(h, bdml_train(h, data, c, &model));
        double bound = stopping(model, "objective") * (1.0 - stopping(model, "reached"));
        check_true(bound > 0.0 && bound <= best);
        bdml_free_model(model);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* The objective is the loss of M and a penalty; more epochs do not make it worse, and narrow the bracket. */
static void test_labels(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 3, 3.0);
    bdml_constraints *mined = NULL;
    bdml_model *model;
    double m[D * D], margin, last = 2.0, f = 1.0;
    set_all(h, "targets 3 impostors 3 rule class gap 1e-6 threads 1");
    check_ok(h, bdml_mine_constraints(h, data, &mined));
    for (int epochs = 2; epochs <= 200; epochs *= 10) {
        char text[16];
        snprintf(text, sizeof text, "%d", epochs);
        check_ok(h, bdml_set(h, "scml-epochs", text));
        model = fit(h, data, "scml");
        check_ok(h, bdml_model_get_metric(h, model, m));
        double loss = plain_loss(data, mined, m, &margin), told = stopping(model, "objective");
        check_true(loss < told && loss > 0.2 * told);
        check_true(told <= f && stopping(model, "reached") < last);
        check_true(directions(model, "given") == 20 * D && directions(model, "kept") < 20 * D);
        f = told;
        last = stopping(model, "reached");
        bdml_free_model(model);
    }
    check_true(f < 0.8 && last < 0.15);
    /* a heavier penalty makes M smaller, and of no more directions */
    int kept[2];
    double trace[2] = {0};
    for (int k = 0; k < 2; k++) {
        set_all(h,
                k ? "scml-sparsity 0.5" : "scml-epochs 50 scml-sparsity 0.001 scml-directions 33");
        model = fit(h, data, "scml");
        check_ok(h, bdml_model_get_metric(h, model, m));
        for (int j = 0; j < D; j++) trace[k] += m[j * D + j];
        kept[k] = directions(model, "kept");
        assert_int_equal(directions(model, "given"), 33);
        bdml_free_model(model);
    }
    check_true(kept[1] <= kept[0] && trace[1] < 0.8 * trace[0]);
    bdml_free_constraints(mined);
    bdml_free_dataset(data);
}

static void test_seeds_and_threads(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, N, D, 3, 3.0);
    double m[3][D * D];
    static const char *const settings[3] = {"seed 1 threads 1", "seed 1 threads 2",
                                            "seed 2 threads 1"};
    for (int k = 0; k < 3; k++) {
        set_all(h, settings[k]);
        bdml_model *model = fit(h, data, "scml");
        check_ok(h, bdml_model_get_metric(h, model, m[k]));
        bdml_free_model(model);
    }
    assert_memory_equal(m[0], m[1], sizeof m[0]);
    assert_memory_not_equal(m[0], m[2], sizeof m[0]);
    bdml_free_dataset(data);
}

static void test_refusals_and_nothing_to_learn(void **state)
{
    bdml_handle *h = *state;
    const int32_t near[] = {0, 2}, far[] = {0, 1}, wrong[] = {0, 3, 1};
    const double line[] = {0, 1, 2, 9};
    bdml_dataset *data = clouds(h, N, D, 2, 1.0), *four = NULL;
    bdml_constraints *c = NULL;
    bdml_model *model = NULL;
    set_all(h, "method scml");
    check_ok(h, bdml_constraints_from_arrays(h, N, 1, near, 1, far, 0, NULL, &c));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_DATA, "constraint 0 is a pair");
    bdml_free_constraints(c);
    /* the target is the farther one in every direction there is */
    check_ok(h, bdml_dataset_from_arrays(h, 4, 1, line, 1, NULL, &four));
    check_ok(h, bdml_constraints_from_arrays(h, 4, 0, NULL, 0, NULL, 1, wrong, &c));
    for (int k = 0; k < 2; k++) { /* nothing is learned, and said so */
        double m;
        check_ok(h, bdml_set(h, "method", k ? "boost" : "scml"));
        check_ok(h, bdml_train(h, four, c, &model));
        check_ok(h, bdml_model_get_metric(h, model, &m));
        check_close(m, 1.0, 0.0);
        assert_true(json_is_true(json_object_get(model->info, "nothing_learned")));
        bdml_free_model(model);
    }
    bdml_free_constraints(c);
    bdml_free_dataset(four);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_one_dimension),
        handle_test(test_labels),
        handle_test(test_seeds_and_threads),
        handle_test(test_refusals_and_nothing_to_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
