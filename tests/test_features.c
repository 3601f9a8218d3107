/* Which features matter: weights and directions against hand-worked cases; figures of a model as structs. */
#include "check.h"
#include "model/model.h"

enum { N = 6 };
/* Columns with means of 0, and standard deviations of 1 and 3; uncorrelated. */
static const double X[2 * N] = {1, 3, 1, -3, -1, 3, -1, -3, 1, 3, -1, -3};

static bdml_dataset *points(bdml_handle *h)
{
    static const int64_t y[N] = {0, 1, 0, 1, 0, 1};
    bdml_dataset *data;
    check_ok(h, bdml_dataset_from_arrays(h, N, 2, X, 2, y, &data));
    return data;
}

/* Plain distances: the wide column has 9 times the share; z-scores: both have half. */
static void weights_are_in_spreads(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    static const struct {
        const char *scale;
        double weight[2];
    } cases[] = {{"none", {0.1, 0.9}}, {"zscore", {0.5, 0.5}}};
    check_ok(h, bdml_set(h, "method", "euclidean"));
    for (int k = 0; k < 2; k++) {
        bdml_model *model;
        double weight[2], share[3], loading[6];
        check_ok(h, bdml_set(h, "scale", cases[k].scale));
        check_ok(h, bdml_train(h, data, NULL, &model));
        check_ok(h, bdml_model_feature_weights(h, model, weight));
        for (int j = 0; j < 2; j++) check_close(weight[j], cases[k].weight[j], 1e-14);
        check_ok(h, bdml_model_directions(h, model, 3, share, loading));
        check_close(share[0], cases[k].weight[1], 1e-14);
        check_close(share[1], cases[k].weight[0], 1e-14);
        check_close(share[2], 0.0, 0.0); /* there are two */
        check_close(fabs(loading[0] * loading[2] + loading[1] * loading[3]), 0.0, 1e-14);
        if (k == 0) check_close(loading[1], 1.0, 1e-14);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* M = [4 2; 2 1] = (2 1)'(2 1) on columns of spread 1 and 3: B = (2 3), so 4/13 and 9/13, one direction. */
static void a_single_direction(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    const double l[2] = {2, 1}, scale = sqrt(6.0 / 5.0); /* deviations over n - 1 */
    double weight[2], share[2], loading[4];
    bdml_model *model;
    check_ok(h, bdml_model_from_map(h, 1, 2, l, 0, &model));
    check_fails(h, bdml_model_feature_weights(h, model, weight), BDML_ERR_ARGUMENT,
                "does not say how far its features spread");
    check_ok(h, bdml_model_tell_spread(h, model, data));
    check_close(json_number_value(
                    json_array_get(json_object_get(model->info, "feature_spread"), 1)),
                3.0 * scale, 1e-15);
    check_ok(h, bdml_model_feature_weights(h, model, weight));
    check_close(weight[0], 4.0 / 13.0, 1e-15);
    check_close(weight[1], 9.0 / 13.0, 1e-15);
    check_ok(h, bdml_model_directions(h, model, 2, share, loading));
    check_close(share[0], 1.0, 1e-15);
    check_close(loading[0], 2.0 / sqrt(13.0), 1e-15);
    check_close(loading[1], 3.0 / sqrt(13.0), 1e-15);
    check_close(share[1], 0.0, 0.0);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Certificate and choice as structs say what the description says. */
static void figures_of_a_model(void **state)
{
    bdml_handle *h = *state;
    bdml_certificate proof;
    bdml_chosen chosen;
    bdml_dataset *data;
    bdml_model *model;
    check_ok(h, bdml_generate(h, "waveform", 60, &data));
    check_ok(h, bdml_set(h, "method", "lda"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(bdml_model_certificate(model, &proof), 0); /* lda has neither */
    assert_int_equal(bdml_model_chosen(model, &chosen), 0);
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "method", "bdml"));
    check_ok(h, bdml_set(h, "reference", "zscore"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(bdml_model_certificate(model, &proof), 1);
    assert_int_equal(bdml_model_chosen(model, &chosen), 1);
    assert_string_equal(proof.status, "optimal");
    assert_string_equal(proof.reference, "zscore");
    assert_string_equal(chosen.reference, "zscore");
    check_true(proof.lower <= proof.upper && proof.distortion <= proof.cap * (1.0 + 1e-8));
    check_close(proof.gap, (proof.upper - proof.lower) / fabs(proof.upper), 1e-12);
    check_close(proof.cap, chosen.distortion, 0.0);
    check_close(proof.softness, chosen.softness,
                1e-13 * chosen.softness); /* a product and its quotient */
    check_true(proof.constraints > 0 && chosen.folds > 1 && chosen.passes >= 1);
    check_true(chosen.error >= 0.0 && chosen.error <= 100.0);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(weights_are_in_spreads),
        handle_test(a_single_direction),
        handle_test(figures_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
