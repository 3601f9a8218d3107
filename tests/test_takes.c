/* test_takes.c - what tools over the library ask it: which settings a method reads, checked by training with
 * and without them, and the one matrix of a whole model, checked by transforming. */
#include "check.h"

#include "model/model.h"
#include "train/train.h"

enum { N = 36, D = 2 };

static bdml_dataset *clouds(bdml_handle *h)
{
    static double x[N * D];
    static int64_t y[N];
    bdml_rng rng = bdml_rng_make(5, 5);
    bdml_dataset *data = NULL;
    for (int i = 0; i < N; i++) {
        y[i] = i % 3;
        for (int j = 0; j < D; j++)
            x[i * D + j] = (bdml_rng_normal(&rng) + (j == 0 ? 2.0 * (double)y[i] : 0)) * (j + 1);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

/* ---- settings ------------------------------------------------------------------------------------ */

/* Another value than the default; NULL where there is none that would do by itself. */
static const char *other_value(const bdml_option *o, char text[32])
{
    if (o->type == BDML_OPTION_FLAG) return strcmp(o->default_value, "yes") == 0 ? "no" : "yes";
    if (o->type == BDML_OPTION_TEXT) return NULL;
    if (o->type == BDML_OPTION_CHOICE) {
        const char *last = strrchr(o->choices, '|');
        return last && strcmp(last + 1, o->default_value) != 0 ? last + 1 : NULL;
    }
    double v = o->automatic ? BDML_MAX(o->min, 1.0) : atof(o->default_value);
    double next = v + 1.0 <= o->max ? v + 1.0 : (o->min + o->max) / 2.0;
    snprintf(text, 32, "%.17g", next);
    return text;
}

/* The map that method m learns, q*D <= D*D values; the number of them. */
static size_t learn(const bdml_dataset *data, const char *method, const char *setting,
                    const char *value, double *l)
{
    bdml_handle *h = NULL;
    bdml_model *model = NULL;
    check_ok(h, bdml_create(&h));
    check_ok(h, bdml_set(h, "method", method));
    if (setting) check_ok(h, bdml_set(h, setting, value));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_model_get_map(h, model, l));
    size_t count = (size_t)bdml_model_output_dimension(model) * D;
    bdml_free_model(model);
    bdml_free(h);
    return count;
}

/* The recipe of method bdml chooses by cross-validation and is the slow one: it takes nearly everything,
 * and what it leaves is that of other methods. */
static void test_settings_not_taken_change_nothing(void **state)
{
    bdml_dataset *data = clouds(*state);
    for (int m = 0; m < bdml_method_count(); m++) {
        double plain[D * D], changed[D * D];
        char text[32];
        const char *method = bdml_method_name(m);
        if (!(bdml_method_uses(m) & BDML_USES_LABELS) || bdml_method_uses(m) & BDML_USES_DOMAINS ||
            strcmp(method, "bdml") == 0)
            continue;
        size_t count = learn(data, method, NULL, NULL, plain);
        for (int i = 0; i < bdml_option_count(); i++) {
            const bdml_option *o = bdml_option_at(i);
            const char *value = other_value(o, text);
            if (bdml_method_takes(m, i) || !value) continue;
            if (learn(data, method, o->name, value, changed) != count ||
                memcmp(plain, changed, count * sizeof *plain) != 0)
                fail_msg("method %s does read %s", method, o->name);
        }
    }
    bdml_free_dataset(data);
}

static int taken(const char *method, const char *setting)
{
    int m = 0, i = 0;
    while (strcmp(bdml_method_name(m), method) != 0) m++;
    while (strcmp(bdml_option_at(i)->name, setting) != 0) i++;
    return bdml_method_takes(m, i);
}

static void test_settings_taken(void **state)
{
    (void)state;
    assert_int_equal(taken("lmnn", "lmnn-push"), 1);
    assert_int_equal(taken("nca", "lmnn-push"), 0);
    assert_int_equal(taken("mmc", "mmc-spread"), 1);
    assert_int_equal(taken("mmc-diagonal", "mmc-spread"), 1);
    assert_int_equal(taken("bdml", "distortion"), 1);
    assert_int_equal(taken("bdml", "method"), 0);
    assert_int_equal(taken("euclidean", "distortion"), 0);
    assert_int_equal(taken("euclidean", "scale"), 1);
    assert_int_equal(bdml_method_takes(-1, 0), 0);
    assert_int_equal(bdml_method_takes(0, bdml_option_count()), 0);
    assert_int_equal(bdml_method_uses(-1), 0);
    for (int i = 0; i < bdml_option_count(); i++) { /* settings of methods are of some method */
        int takers = 0;
        for (int m = 0; m < bdml_method_count(); m++) takers += bdml_method_takes(m, i);
        if (strcmp(bdml_option_at(i)->group, "methods") == 0 && takers == 0)
            fail_msg("no method takes %s", bdml_option_at(i)->name);
    }
}

/* ---- the matrix of a model ----------------------------------------------------------------------- */

static void check_linear(bdml_handle *h, const bdml_dataset *data, const char *scale,
                         const char *pca)
{
    bdml_model *model = NULL;
    double a[D * D], z[N * D];
    check_ok(h, bdml_set(h, "method", "lda"));
    check_ok(h, bdml_set(h, "scale", scale));
    check_ok(h, bdml_set(h, "pca", pca));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_model_get_linear(h, model, a));
    const double *x = bdml_dataset_rows(data);
    check_ok(h, bdml_transform(h, model, N, x, D, z));
    int q = bdml_model_output_dimension(model);
    for (int i = 1; i < N; i++)
        for (int r = 0; r < q; r++) {
            double sum = 0.0;
            for (int j = 0; j < D; j++) sum += a[r * D + j] * (x[i * D + j] - x[j]);
            check_close(z[i * q + r] - z[r], sum, 1e-11); /* sums of 3 numbers of size 10 */
        }
    bdml_free_model(model);
}

static void test_linear(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h);
    bdml_model *model = NULL;
    double a[D * D];
    check_linear(h, data, "none", "0");
    check_linear(h, data, "zscore", "0");
    check_linear(h, data, "minmax", "2");
    check_linear(h, data, "none", "2");
    check_ok(h, bdml_set(h, "scale", "unit"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_fails(h, bdml_model_get_linear(h, model, a), BDML_ERR_ARGUMENT, "not linear");
    check_fails(h, bdml_model_get_linear(h, model, NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_settings_not_taken_change_nothing, make_handle,
                                        drop_handle),
        cmocka_unit_test(test_settings_taken),
        cmocka_unit_test_setup_teardown(test_linear, make_handle, drop_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
