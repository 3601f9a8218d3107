/* test_certify.c - the independent checker: claims of every kind confirmed, contradictions proven, trouble told. */
#include "certifying.h"

#include <jansson.h>

/* Claims of every form hold. */
static void test_confirms(void **state)
{
    static const char *const forms[] = {
        "scale zscore rule class",
        "scale zscore rule class softness 20 distortion 100",
        "scale zscore rule class loss hinge",
        "scale zscore rule class kind pair",
        "scale zscore hard yes kind pair",
        "scale zscore hard yes kind triplet distortion 100",
        "scale zscore hard yes kind triplet gap 1e-4",
        "scale minmax hard yes kind pair margin 7",
        "scale unit rule class distortion 1",
        "scale zscore diagonal yes",
        "scale zscore diagonal yes hard yes kind pair",
        "reference zscore rule class",
        "reference within rule class passes 2",
        "reference within rule class hard yes kind pair",
        "reference within rule class diagonal yes",
        "reference fisher rule class",
        "reference local rule class",
        "scale zscore pca 5 rule class",
        "scale zscore pca 0.9 hard yes kind pair reference zscore",
        "scale zscore rule nearest targets 5 impostors 5 passes 3",
        "rule class", /* raw: columns of very different size */
        "scale zscore rule class max-iter 12 gap 1e-9",
    };
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h;
        assert_int_equal(bdml_create(&h), BDML_OK);
        bdml_dataset *data = read_data(h, "data/wine.csv");
        bdml_model *model = train(h, data, forms[f], BDML_OK);
        bool stopped = strstr(forms[f], "max-iter") != NULL;
        confirm(h, model, data, stopped ? "stopped" : "optimal");
        if (stopped) {
            model->evidence->claim = BDML_CLAIM_OPTIMAL;
            refute(h, model, data, "gap");
        }
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* A constant column, whose mean is off by rounding, must not be scaled up as if it varied. */
static void test_constant_column(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/segment.csv"); /* its third column is 9 throughout */
    bdml_model *model =
        train(h, data, "reference fisher rule class targets 1 impostors 1", BDML_OK);
    confirm(h, model, data, "optimal");
    assert_int_equal(model->evidence->reference_rows, 18);
    for (int r = 0; r < model->q; r++) check_true(model->l[r * 19 + 2] == 0.0);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* With the trace bound below what the metric would have, and far above it. */
static void test_trace_bound(void **state)
{
    static const char *const forms[] = {"scale zscore rule class",
                                        "scale zscore rule class loss hinge",
                                        "scale zscore hard yes kind pair",
                                        "scale zscore rule class diagonal yes"};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h;
        char text[64];
        assert_int_equal(bdml_create(&h), BDML_OK);
        bdml_dataset *data = read_data(h, "data/wine.csv");
        bdml_model *model = train(h, data, forms[f], BDML_OK);
        double trace = trace_of(model);
        bdml_free_model(model);
        snprintf(text, sizeof text, "trace %.17g", 1e3 * trace);
        model = train(h, data, text, BDML_OK);
        confirm(h, model, data, "optimal");
        bdml_free_model(model);
        bool hard = strstr(forms[f], "hard") != NULL;
        snprintf(text, sizeof text, "trace %.17g", trace * (hard ? 0.97 : 0.5));
        model = train(h, data, text, BDML_OK);
        confirm(h, model, data, "optimal");
        check_true(trace_of(model) > 0.99 * h->options.solve.trace.value); /* it is active */
        bdml_free_model(model);
        if (hard) { /* no metric so small meets the margins: a proof for this trace */
            snprintf(text, sizeof text, "trace %.17g", 0.1 * trace);
            model = train(h, data, text, BDML_ERR_INFEASIBLE);
            confirm(h, model, data, "infeasible");
            json_t *words = json_object_get(model->info, "certificate");
            json_t *was = json_incref(json_object_get(words, "proof"));
            json_object_set_new(words, "proof", json_string("every trace and margin"));
            refute(h, model, data, "description"); /* it says more than is proved */
            json_object_set_new(words, "proof", was);
            model->evidence->R = model->evidence->reach = 10 * trace; /* but not for a larger one */
            refute(h, model, data, "proof");
            bdml_free_model(model);
        }
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* Margins and weights of their own, pairs and triplets in one problem. */
static void test_margins_and_weights(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    enum { T = 60 };
    int32_t target[2 * T], pair[2 * T], triplet[3 * T];
    double margin[2 * T], weight[2 * T];
    bdml_rng rng = bdml_rng_make(1, 1);
    for (int t = 0; t < T; t++) {
        int32_t i = (int32_t)bdml_rng_below(&rng, 50), j = (int32_t)((i + 1 + t % 40) % 50);
        target[2 * t] = i, target[2 * t + 1] = j;
        pair[2 * t] = i, pair[2 * t + 1] = 50 + t;
        triplet[3 * t] = i, triplet[3 * t + 1] = j, triplet[3 * t + 2] = 80 + t;
        margin[t] = 0.5 + t % 4, margin[T + t] = 1 + t % 3;
        weight[t] = 1 + t % 5, weight[T + t] = 0.1 + t % 2;
    }
    static const char *const forms[] = {"reference zscore", "loss hinge", "hard yes",
                                        "diagonal yes"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_constraints *c = NULL;
        bdml_model *model = NULL;
        set_all(h, forms[f]);
        check_ok(h, bdml_constraints_from_arrays(h, data->n, T, target, T, pair, T, triplet, &c));
        if (f == 0) { /* duplicates are dropped, so lengths are those of the constraints */
            assert_int_equal(bdml_constraints_count(c), 2 * T);
        }
        check_ok(h, bdml_constraints_set_margins(h, c, margin));
        check_ok(h, bdml_constraints_set_weights(h, c, weight));
        check_ok(h, bdml_train(h, data, c, &model));
        confirm(h, model, data, "optimal");
        model->evidence->constraints->margin[7] *= 100;
        refute(h, model, data, model->evidence->hard ? "margins" : "upper");
        model->evidence->constraints->margin[7] /= 100;
        if (f < 2) {
            for (int t = 0; t < T; t++) model->evidence->constraints->weight[t] *= 2;
            refute(h, model, data, "upper");
        }
        bdml_free_model(model);
        bdml_free_constraints(c);
    }
    bdml_free_dataset(data);
}

/* What the recipe leaves is one solved problem like any other. */
static void test_recipe(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *model = train(h, data, "distortion 30 passes 2", BDML_OK);
    assert_non_null(json_object_get(model->info, "selection"));
    confirm(h, model, data, "optimal");
    model->evidence->g_scale *= 1.01;
    refute(h, model, data, "upper");
    model->evidence->g_scale /= 1.01;
    int32_t was = data->y[0];
    data->y[0] = (was + 1) % 3; /* G and the fingerprint depend on the labels */
    refute(h, model, data, "upper");
    refute(h, model, data, "data");
    refute(h, model, data, "points");
    data->y[0] = was;
    confirm(h, model, data, "optimal");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- infeasibility ------------------------------------------------------------------------------------------ */

/* A constraint that the identity meets, whatever the scales of the columns: alone it is no proof. */
static int32_t farther_already(const bdml_constraints *c, const bdml_dataset *data)
{
    for (int32_t t = 0; t < c->m; t++) {
        bool all = true;
        for (int j = 0; j < data->d; j++) {
            double far =
                data->x[c->pi[c->far[t]] * data->d + j] - data->x[c->pj[c->far[t]] * data->d + j];
            double near =
                data->x[c->pi[c->near[t]] * data->d + j] - data->x[c->pj[c->near[t]] * data->d + j];
            all = all && fabs(far) > fabs(near);
        }
        if (all) return t;
    }
    fail_msg("no such constraint");
    return -1;
}

static void test_infeasible(void **state)
{
    /* The last two: pairs of equal differences but for rounding, which is all that a diagonal metric could tell them by. */
    static const struct {
        const char *settings, *claim;
    } forms[] = {{"scale zscore hard yes", "infeasible"},
                 {"reference within hard yes", "infeasible"},
                 {"hard yes trace 1e5", "infeasible"},
                 {"hard yes diagonal yes", "out of reach"},
                 {"hard yes diagonal yes distortion 2", "out of reach"}};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h;
        assert_int_equal(bdml_create(&h), BDML_OK);
        bdml_dataset *data = read_data(h, "data/iris.csv");
        bdml_model *proof = train(h, data, forms[f].settings, BDML_ERR_INFEASIBLE);
        bdml_evidence *e = proof->evidence;
        confirm(h, proof, data, forms[f].claim);
        int64_t k = heaviest(e);
        alter(h, proof, data, &e->dual[k], -e->dual[k], "multipliers");
        int32_t met = farther_already(e->constraints, data), *at = &e->dual_constraint[k],
                was = *at;
        *at = met;
        alter(h, proof, data, &e->dual[k], 1e6 * e->dual[k], "proof");
        *at = was;
        alter(h, proof, data, &e->dual[k], INFINITY, "multipliers");
        alter(h, proof, data, &e->K, 1e6, "description");
        confirm(h, proof, data, forms[f].claim);
        data->x[0] += 1e-12;
        refute(h, proof, data, "data");
        bdml_free_model(proof);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* Whether a proof holds for every trace must not depend on the unit of the data. */
static void test_infeasible_units(void **state)
{
    bdml_handle *h = *state;
    set_all(h, "hard yes kind pair distortion 10 gap 1e-2 max-iter 2000");
    for (double unit = 1e-9; unit < 1e10; unit *= 1e9) {
        bdml_dataset *data = read_data(h, "data/iris.csv");
        bdml_model *model = NULL;
        for (int64_t k = 0; k < data->n * data->d; k++) data->x[k] *= unit;
        bdml_status status = bdml_train(h, data, NULL, &model);
        assert_int_equal(status, BDML_OK); /* distinct points: pairs can always be met */
        confirm(h, model, data, "optimal");
        /* Any multipliers at all pretended to be a proof. */
        model->evidence->claim = BDML_CLAIM_INFEASIBLE;
        refute(h, model, data, "proof");
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
}

/* ---- trouble --------------------------------------------------------------------------------------------------- */

static void test_trouble(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv"), *wine = read_data(h, "data/wine.csv");
    bdml_model *model = train(h, data, "scale zscore rule class", BDML_OK);
    char *json = NULL;
    int confirmed = 1;
    check_fails(h, bdml_certify(h, NULL, data, &confirmed, &json), BDML_ERR_ARGUMENT, "NULL");
    check_fails(h, bdml_certify(h, "/no/such/file", data, &confirmed, &json), BDML_ERR_IO, "");
    assert_int_equal(confirmed, 0);
    check_ok(h, bdml_save_model(h, model, file_path()));
    check_fails(h, bdml_certify(h, file_path(), wine, &confirmed, &json), BDML_ERR_DATA,
                "4 columns");
    check_fails(h, bdml_certify(h, source_path("data/iris.csv"), data, &confirmed, &json),
                BDML_ERR_FORMAT, "");
    data->n = 20; /* constraints about rows that are not there */
    check_fails(h, bdml_certify(h, file_path(), data, &confirmed, &json), BDML_ERR_DATA, "rows");
    data->n = 150;
    bdml_evidence *e = model->evidence; /* evidence that no solver writes */
    double *fields[] = {&e->margin, &e->g_scale, &e->cost, &e->gap_asked, &e->K, &e->R};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        double was = *fields[k];
        *fields[k] = -1;
        check_ok(h, bdml_save_model(h, model, file_path()));
        check_fails(h, bdml_certify(h, file_path(), data, &confirmed, &json), BDML_ERR_FORMAT,
                    "damaged");
        *fields[k] = was;
    }
    check_ok(h, bdml_constraints_set_weights(h, e->constraints, NULL));
    e->constraints->weight = calloc((size_t)e->constraints->m, sizeof(double));
    e->constraints->weight[0] = -1;
    check_ok(h, bdml_save_model(h, model, file_path()));
    check_fails(h, bdml_certify(h, file_path(), data, &confirmed, &json), BDML_ERR_FORMAT,
                "weight");
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "method", "euclidean"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_save_model(h, model, file_path()));
    check_fails(h, bdml_certify(h, file_path(), data, &confirmed, &json), BDML_ERR_DATA,
                "claims nothing");
    unlink(file_path());
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free_dataset(wine);
}

/* Memory that runs out anywhere is an error with nothing left behind. */
static void test_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    for (int infeasible = 0; infeasible < 2; infeasible++) {
        bdml_model *model = train(h, data, infeasible ? "hard yes" : "reference within rule class",
                                  infeasible ? BDML_ERR_INFEASIBLE : BDML_OK);
        check_ok(h, bdml_save_model(h, model, file_path()));
        bdml_free_model(model);
        bdml_status status = BDML_ERR_MEMORY;
        int64_t n = 0;
        while (status != BDML_OK) {
            char *json = NULL;
            int confirmed;
            h->fail_alloc = ++n;
            status = bdml_certify(h, file_path(), data, &confirmed, &json);
            h->fail_alloc = 0;
            check_true(status == BDML_OK || (status == BDML_ERR_MEMORY && !json));
            bdml_free_bytes(json);
        }
        check_true(n > 10);
    }
    unlink(file_path());
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confirms),    handle_test(test_constant_column),
        cmocka_unit_test(test_trace_bound), handle_test(test_margins_and_weights),
        handle_test(test_recipe),           cmocka_unit_test(test_infeasible),
        handle_test(test_infeasible_units), handle_test(test_trouble),
        handle_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
