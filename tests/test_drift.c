/* test_drift.c - what is promised of neighbours is never broken; counts by plain loops; known cases. */
#include "check.h"

#include <jansson.h>

#include "evaluate/evaluate.h"

/* A space of the result, by its name; "raw" is always there. */
static const json_t *from(const json_t *r, const char *name)
{
    size_t i;
    json_t *f;
    json_array_foreach(json_object_get(r, "spaces"), i, f)
    {
        if (strcmp(json_string_value(json_object_get(f, "space")), name) == 0) return f;
    }
    return NULL;
}

static double figure_from(const json_t *f, size_t depth, const char *key)
{
    return json_number_value(
        json_object_get(json_array_get(json_object_get(f, "depths"), depth), key));
}

static double figure(const json_t *r, size_t depth, const char *key)
{
    return figure_from(from(r, "raw"), depth, key);
}

static json_t *drift(bdml_handle *h, const bdml_model *model, const bdml_dataset *corpus,
                     const bdml_dataset *queries)
{
    char *text;
    check_ok(h, bdml_drift(h, model, corpus, queries, &text));
    json_t *r = json_loads(text, 0, NULL);
    assert_non_null(r);
    bdml_free_bytes(text);
    return r;
}

static bdml_dataset *points(bdml_handle *h, bdml_rng *r, int n, int d, double copies)
{
    double *x = calloc((size_t)(n * d), sizeof *x);
    bdml_dataset *data;
    for (int i = 0; i < n * d; i++) x[i] = bdml_rng_normal(r);
    for (int i = 1; i < n; i++) /* some rows twice: ties */
        if (bdml_rng_uniform(r) < copies) memcpy(x + i * d, x + (i - 1) * d, sizeof *x * (size_t)d);
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, NULL, &data));
    free(x);
    return data;
}

/* ---- known ------------------------------------------------------------------------------------------------ */

/* On a line at 1, 2, 4, 8, ... from the query: under a map of condition number 1 everything stays; where x counts 1.5
 * times as much as y, ratios change by 1.5 at most, and all on the x axis keep their places all the same. */
static void known_cases(void **state)
{
    static const double same[] = {0, 2, -2, 0}, wide[] = {1.5, 0, 0, 1}, flat[] = {1, 0};
    bdml_handle *h = *state;
    double x[2 * 8], origin[2] = {0, 0};
    bdml_dataset *corpus, *query;
    bdml_model *model;
    for (int i = 0; i < 8; i++) {
        x[2 * i] = pow(2, i) * (i % 2 == 0);
        x[2 * i + 1] = pow(2, i) * (i % 2 == 1);
    }
    check_ok(h, bdml_dataset_from_arrays(h, 8, 2, x, 2, NULL, &corpus));
    check_ok(h, bdml_dataset_from_arrays(h, 1, 2, origin, 2, NULL, &query));
    check_ok(h, bdml_model_from_map(h, 2, 2, same, 0, &model));
    json_t *r = drift(h, model, corpus, query);
    check_close(json_number_value(json_object_get(from(r, "raw"), "ratio")), 1.0, 1e-12);
    check_close(figure(r, 0, "kept_at_least"), 100, 0);
    check_close(figure(r, 1, "unchanged_at_least"), 100, 0);
    json_decref(r);
    bdml_free_model(model);
    check_ok(h, bdml_model_from_map(h, 2, 2, wide, 0, &model));
    r = drift(h, model, corpus, query); /* 1.5 < 2: no two can change places */
    check_close(json_number_value(json_object_get(from(r, "raw"), "ratio")), 1.5, 1e-12);
    check_close(json_number_value(json_object_get(from(r, "raw"), "condition")), 2.25, 1e-12);
    check_close(figure(r, 1, "kept_at_least"), 100, 0);
    check_close(figure(r, 1, "kept"), 100, 0);
    json_decref(r);
    bdml_free_model(model);
    check_ok(h, bdml_model_from_map(h, 1, 2, flat, 0, &model));
    r = drift(h, model, corpus, query);
    check_true(json_is_null(json_object_get(from(r, "raw"), "ratio")));
    check_close(figure(r, 0, "kept_at_least"), 0, 0);
    check_close(figure(r, 1, "kept_at_least"), 40, 0); /* 3 others are all there are */
    json_decref(r);
    bdml_free_model(model);
    bdml_free_dataset(corpus);
    bdml_free_dataset(query);
}

/* A feature that never differs is in no difference, whatever the map does to it. */
static void constant_features(void **state)
{
    static const double map[] = {1, 0, 0, 0, 0, 2};
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(4, 4);
    bdml_dataset *corpus = points(h, &r, 20, 3, 0);
    bdml_model *model;
    for (int i = 0; i < 20; i++) corpus->x[3 * i + 1] = 5.0;
    check_ok(h, bdml_model_from_map(h, 2, 3, map, 0, &model));
    json_t *a = drift(h, model, corpus, NULL);
    check_close(json_number_value(json_object_get(from(a, "raw"), "ratio")), 2.0, 1e-12);
    json_decref(a);
    bdml_free_model(model);
    bdml_free_dataset(corpus);
}

/* ---- random ----------------------------------------------------------------------------------------------- */

/* Nearest k of query i by the squared lengths of L (x_j - y), itself left out where it is a row of the corpus. */
static void nearest(int n, int d, int q, const double *l, const double *x, const double *y,
                    int self, int k, int *out)
{
    double best[64];
    int have = 0;
    for (int j = 0; j < n; j++) {
        double length = 0;
        if (j == self) continue;
        for (int a = 0; a < q; a++) {
            double sum = 0;
            for (int e = 0; e < d; e++) sum += (l ? l[a * d + e] : a == e) * (x[j * d + e] - y[e]);
            length += sum * sum;
        }
        int at = have < k ? have : k;
        while (at > 0 && length < best[at - 1]) at--;
        if (at == k) continue;
        for (int m = (have < k ? have : k - 1); m > at; m--)
            best[m] = best[m - 1], out[m] = out[m - 1];
        best[at] = length;
        out[at] = j;
        if (have < k) have++;
    }
}

/* 1000 problems, maps of condition numbers from 1 to 100, with ties: no promise is broken in any query, and the counts
 * are those of plain loops. */
static void promises_hold(void **state)
{
    enum { PROBLEMS = 1000, Q = 3 };
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(2, 7);
    int promised = 0;
    check_ok(h, bdml_set(h, "threads", "1"));
    for (int t = 0; t < PROBLEMS; t++) {
        int d = 1 + (int)bdml_rng_below(&r, 4), n = 12 + (int)bdml_rng_below(&r, 30);
        double l[16] = {0}, spread = pow(10, bdml_rng_uniform(&r));
        bdml_dataset *corpus = points(h, &r, n, d, 0.1), *query = points(h, &r, Q, d, 0);
        bdml_model *model;
        for (int i = 0; i < d; i++) {
            l[i * d + i] = pow(spread, d > 1 ? (double)i / (d - 1) : 0);
            for (int j = 0; j < i; j++) l[i * d + j] = 0.1 * bdml_rng_normal(&r);
        }
        check_ok(h, bdml_model_from_map(h, d, d, l, 0, &model));
        json_t *whole = drift(h, model, corpus, query);
        double kept = 0;
        for (int i = 0; i < Q; i++) {
            int before[5], after[5], both = 0;
            bdml_dataset *one;
            check_ok(h, bdml_dataset_from_arrays(h, 1, d, query->x + i * d, d, NULL, &one));
            json_t *a = drift(h, model, corpus, one);
            nearest(n, d, d, NULL, corpus->x, one->x, -1, 5, before);
            nearest(n, d, d, l, corpus->x, one->x, -1, 5, after);
            for (int e = 0; e < 5; e++)
                for (int f = 0; f < 5; f++) both += before[e] == after[f];
            check_close(figure(a, 1, "kept"), 20.0 * both, 1e-9);
            kept += 20.0 * both / Q;
            for (size_t k = 0; k < 3; k++) {
                check_true(figure(a, k, "kept_at_least") <= figure(a, k, "kept") + 1e-9);
                check_true(figure(a, k, "unchanged_at_least") <= figure(a, k, "unchanged") + 1e-9);
                promised += figure(a, k, "kept_at_least") > 0;
            }
            json_decref(a);
            bdml_free_dataset(one);
        }
        check_close(figure(whole, 1, "kept"), kept, 1e-9);
        json_decref(whole);
        json_t *own = drift(h, model, corpus, NULL);
        assert_int_equal(json_integer_value(json_object_get(own, "queries")), n);
        for (size_t k = 0; k < 3; k++)
            check_true(figure(own, k, "kept_at_least") <= figure(own, k, "kept") + 1e-9);
        json_decref(own);
        bdml_free_model(model);
        bdml_free_dataset(corpus);
        bdml_free_dataset(query);
    }
    check_true(promised > PROBLEMS); /* or little was said */
}

/* Two classes on columns of quite different scales. */
static bdml_dataset *scaled_classes(bdml_handle *h, bdml_rng *r, int n, int d)
{
    double *x = calloc((size_t)(n * d), sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    bdml_dataset *data;
    for (int i = 0; i < n; i++) {
        y[i] = i % 2;
        for (int j = 0; j < d; j++)
            x[i * d + j] = pow(100, j) * (bdml_rng_normal(r) + (j == 0) * (double)y[i]);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

/* 200 trained metrics over every preparation and kind of reference: no promise is broken from any of the spaces, and under
 * the reference ratios change by sqrt(K) at most. */
static void promises_hold_from_every_space(void **state)
{
    enum { PROBLEMS = 200, N = 40, Q = 4 };
    static const char *const scale[] = {"none", "zscore", "minmax", "unit"},
                             *const reference[] = {"none", "fisher-100", "within-raw"};
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(5, 5);
    int seen[3] = {0}, promised = 0;
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_ok(h, bdml_set(h, "softness", "5"));
    check_ok(h, bdml_set(h, "passes", "1"));
    for (int t = 0; t < PROBLEMS; t++) {
        static const char *const names[] = {"raw", "prepared", "reference"};
        int d = 2 + (int)bdml_rng_below(&r, 3);
        bdml_dataset *data = scaled_classes(h, &r, N, d);
        bdml_model *model;
        check_ok(h, bdml_set(h, "scale", scale[t % 4]));
        check_ok(h, bdml_set(h, "reference", reference[t % 3]));
        check_ok(h, bdml_set(h, "pca", t % 5 == 0 ? "2" : "0"));
        check_ok(h, bdml_train(h, data, NULL, &model));
        for (int i = 0; i < Q; i++) {
            bdml_dataset *one;
            check_ok(h, bdml_dataset_from_arrays(h, 1, d, data->x + i * d, d, NULL, &one));
            json_t *a = drift(h, model, data, one);
            for (int k = 0; k < 3; k++) {
                const json_t *f = from(a, names[k]);
                seen[k] += f != NULL;
                for (size_t e = 0; f && e < 3; e++) {
                    check_true(figure_from(f, e, "kept_at_least") <=
                               figure_from(f, e, "kept") + 1e-9);
                    promised += k > 0 && figure_from(f, e, "kept_at_least") > 0;
                }
            }
            const json_t *last = from(a, t % 3 ? "reference" : t % 4 % 3 ? "prepared" : "raw");
            if (t % 3 == 0 && t % 5 == 0) last = from(a, "prepared"); /* PCA */
            check_true(json_number_value(json_object_get(last, "condition")) <= 3 * (1 + 1e-9));
            json_decref(a);
            bdml_free_dataset(one);
        }
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
    check_true(seen[0] == PROBLEMS * Q && seen[1] > 0 && seen[2] > 0 && promised > PROBLEMS);
    check_ok(h, bdml_set(h, "pca", "0"));
}

static void refusals(void **state)
{
    static const double map[] = {1, 0, 0, 1};
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(1, 1);
    bdml_dataset *wide = points(h, &r, 5, 3, 0), *hole = points(h, &r, 5, 2, 0);
    bdml_model *model;
    char *text;
    check_ok(h, bdml_model_from_map(h, 2, 2, map, 0, &model));
    check_fails(h, bdml_drift(h, model, wide, NULL, &text), BDML_ERR_DATA, "3 features");
    check_fails(h, bdml_drift(h, model, hole, wide, &text), BDML_ERR_DATA, "3 features");
    hole->x[3] = NAN;
    check_fails(h, bdml_drift(h, model, hole, NULL, &text), BDML_ERR_DATA, "row 2");
    check_fails(h, bdml_drift(h, NULL, hole, NULL, &text), BDML_ERR_ARGUMENT, "NULL");
    bdml_free_model(model);
    bdml_free_dataset(wide);
    bdml_free_dataset(hole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(known_cases),   handle_test(constant_features),
        handle_test(promises_hold), handle_test(promises_hold_from_every_space),
        handle_test(refusals),
    };
    return cmocka_run_group_tests_name("drift", tests, NULL, NULL);
}
