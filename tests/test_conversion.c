/* test_conversion.c - mapped rows brought from one model to another are the rows that the other maps. */
#include "check.h"

#include "linalg/linalg.h"
#include "model/model.h"

enum { N = 60, D = 4 };

static bdml_dataset *points(bdml_handle *h, uint64_t seed)
{
    double x[N * D];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(seed, 1);
    bdml_dataset *data;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        for (int j = 0; j < D; j++)
            x[i * D + j] = pow(7, j) * (3 + bdml_rng_normal(&r) + (j == 1) * (double)y[i]);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

/* "name value name value ..." */
static bdml_model *learn(const bdml_dataset *data, const char *settings)
{
    bdml_handle *h = NULL;
    bdml_model *model;
    char text[256], *save = NULL;
    assert_int_equal(bdml_create(&h), BDML_OK);
    snprintf(text, sizeof text, "distortion 20 softness 5 passes 1 reference none %s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free(h);
    return model;
}

/* Condition number of the map that is undone. */
static double condition(bdml_handle *h, const bdml_model *m)
{
    double a[D * D], b[D], sigma[D];
    bdml_model_affine(m, a, b);
    check_ok(h, bdml_la_singular_values(h, D, m->q, a, sigma));
    return sigma[0] / sigma[m->q - 1];
}

/* Differently scaled, alike with PCA, at length 1, to fewer dimensions: what `to` gives, within 1e-10 of the largest value
 * for each unit of the condition number. */
static void converted_rows_are_those_of_the_other(void **state)
{
    static const char *const cases[][2] = {
        {"scale none", "scale none"},
        {"scale zscore", "scale minmax"},
        {"scale none", "scale zscore"},
        {"scale minmax", "scale none distortion 3"},
        {"scale zscore pca 3", "scale zscore pca 3 distortion 2"}, /* of the same data: one PCA */
        {"scale unit", "scale unit distortion 2"},
        {"scale zscore", "scale minmax pca 2"},
        {"scale minmax", "scale none method lda"},
    };
    bdml_handle *h = *state;
    bdml_dataset *here = points(h, 1), *there = points(h, 2);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        bool alike = t == 4;
        bdml_model *from = learn(here, cases[t][0]), *to = learn(alike ? here : there, cases[t][1]);
        bdml_model *conversion;
        double z[N * D], got[N * D], want[N * D], largest = 0;
        check_ok(h, bdml_model_conversion(h, from, to, &conversion));
        check_ok(h, bdml_transform(h, from, N, there->x, D, z));
        check_ok(h, bdml_transform(h, to, N, there->x, D, want));
        check_ok(h, bdml_transform(h, conversion, N, z, from->q, got));
        for (int i = 0; i < N * to->q; i++) largest = fmax(largest, fabs(want[i]));
        double slack = 1e-10 * largest * (alike ? sqrt(from->kappa) : condition(h, from));
        for (int i = 0; i < N * to->q; i++) check_close(got[i], want[i], slack);
        bdml_free_model(from);
        bdml_free_model(to);
        bdml_free_model(conversion);
    }
    bdml_free_dataset(here);
    bdml_free_dataset(there);
}

static void what_is_lost_is_refused(void **state)
{
    static const struct {
        const char *from, *to, *reason;
    } cases[] = {
        {"scale zscore pca 3", "scale zscore", "unless both models have the same PCA"},
        {"scale none method lda", "scale none", "from 4 dimensions to 1"},
        {"scale unit", "scale none", "length 1"},
        {"scale none", "scale unit", "length 1"},
    };
    static const double flat[] = {1, 0, 0, 0}, narrow[] = {1, 0, 0, 1};
    bdml_handle *h = *state;
    bdml_dataset *data = points(h, 1);
    bdml_model *from, *to, *out;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        from = learn(data, cases[t].from);
        to = learn(data, cases[t].to);
        check_fails(h, bdml_model_conversion(h, from, to, &out), BDML_ERR_DATA, cases[t].reason);
        assert_null(out);
        bdml_free_model(from);
        bdml_free_model(to);
    }
    check_ok(h, bdml_model_from_map(h, 2, 2, narrow, 0, &to));
    check_ok(h, bdml_model_from_map(h, 2, 2, flat, 0, &from));
    check_fails(h, bdml_model_conversion(h, from, to, &out), BDML_ERR_DATA, "singular");
    bdml_free_model(from);
    from = learn(data, "scale none");
    check_fails(h, bdml_model_conversion(h, from, to, &out), BDML_ERR_DATA, "wants 2");
    check_fails(h, bdml_model_conversion(h, NULL, to, &out), BDML_ERR_ARGUMENT, "NULL");
    bdml_free_model(from);
    bdml_free_model(to);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(converted_rows_are_those_of_the_other),
        handle_test(what_is_lost_is_refused),
    };
    return cmocka_run_group_tests_name("conversion", tests, NULL, NULL);
}
