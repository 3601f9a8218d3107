/* test_train.c - training with method bdml: outcomes, messages, same bits for any number of threads,
 * stopping on request, memory that runs out, and the promise never to lose to the reference. */
#include "check.h"

#include <jansson.h>

#include "model/evidence.h"
#include "train/train.h"

static bdml_dataset *read_data(bdml_handle *h, const char *name)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, source_path(name), &data));
    return data;
}

/* "name value name value ..." */
static void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

static bdml_handle *handle_with(const char *settings)
{
    bdml_handle *h = NULL;
    assert_int_equal(bdml_create(&h), BDML_OK);
    set_all(h, settings);
    return h;
}

/* Classes as Gaussian clouds around (class, 0, ...) times `apart`. */
static bdml_dataset *clouds(bdml_handle *h, int64_t n, int d, int classes, double apart)
{
    bdml_dataset *data = NULL;
    bdml_rng rng = bdml_rng_make(3, (uint64_t)n);
    double *x = calloc((size_t)n * (size_t)d, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % classes;
        for (int j = 0; j < d; j++)
            x[i * d + j] = bdml_rng_normal(&rng) + (j == 0 ? apart * (double)y[i] : 0);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

static const char *certificate_text(const bdml_model *model, const char *key)
{
    return json_string_value(json_object_get(json_object_get(model->info, "certificate"), key));
}

/* ---- outcomes ------------------------------------------------------------------------------------ */

static void test_infeasible_is_a_proof(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *proof = NULL, *loaded = NULL;
    double l[16], z[4];
    int32_t label;
    void *bytes = NULL;
    size_t size;
    set_all(h, "hard yes scale zscore threads 1");
    check_fails(h, bdml_train(h, data, NULL, &proof), BDML_ERR_INFEASIBLE, "contradict each other");
    assert_non_null(proof);
    assert_string_equal(certificate_text(proof, "status"), "infeasible");
    assert_string_equal(certificate_text(proof, "proof"), "every trace and margin");
    json_t *o = json_object_get(proof->info, "certificate");
    const json_t *first = json_array_get(json_object_get(o, "contradictions"), 0);
    double last = INFINITY;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(o, "contradictions"), i, item)
    {
        double y = json_number_value(json_object_get(item, "multiplier"));
        check_true(y > 0);
        last = y;
    }
    check_true(isfinite(last) && json_is_integer(json_object_get(first, "i")));
    /* It can be described, saved and loaded; as a metric it is refused. */
    assert_non_null(strstr(bdml_model_describe(proof), "infeasible"));
    check_ok(h, bdml_save_model_bytes(h, proof, &bytes, &size));
    check_ok(h, bdml_load_model_bytes(h, bytes, size, &loaded));
    check_true(bdml_model_is_proof(loaded));
    check_fails(h, bdml_model_get_map(h, loaded, l), BDML_ERR_ARGUMENT, "proof");
    bdml_free_model(loaded);
    bdml_free_bytes(bytes);
    check_fails(h, bdml_model_get_map(h, proof, l), BDML_ERR_ARGUMENT, "proof");
    check_fails(h, bdml_model_get_metric(h, proof, l), BDML_ERR_ARGUMENT, "proof");
    check_fails(h, bdml_transform(h, proof, 1, data->x, 4, z), BDML_ERR_ARGUMENT, "proof");
    check_fails(h, bdml_predict(h, proof, data, 1, data->x, 4, &label), BDML_ERR_ARGUMENT, "proof");
    check_fails(h, bdml_export_model(h, proof, "M", "/tmp/none.npy"), BDML_ERR_ARGUMENT, "proof");
    bdml_free_model(proof);
    bdml_free_dataset(data);
}

static void test_collapse_is_explained(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *model = NULL;
    set_all(h, "rule class softness 0.5 threads 1");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "M = 0");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "softness must be above 1");
    assert_null(model);
    bdml_free_dataset(data);
}

static void test_limits_keep_the_best(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    bdml_model *model = NULL;
    set_all(h, "rule class scale zscore gap 1e-10 max-iter 7 threads 1");
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_string_equal(certificate_text(model, "status"), "stopped");
    check_true(model->evidence->lower <= model->evidence->upper);
    bdml_free_model(model);
    set_all(h, "hard yes kind triplet max-iter 1"); /* nothing feasible known yet */
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "raise max-iter");
    bdml_free_dataset(data);
}

/* ---- bad settings and data ---------------------------------------------------------------------------- */

static void test_bad_settings(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 30, 3, 2, 2);
    bdml_model *model = NULL;
    check_fails(h, bdml_set(h, "distortion", "0.5"), BDML_ERR_ARGUMENT, "distortion");
    check_fails(h, bdml_set(h, "distortion", "nan"), BDML_ERR_ARGUMENT, "distortion");
    check_fails(h, bdml_set(h, "margin", "-1"), BDML_ERR_ARGUMENT, "margin");
    check_fails(h, bdml_set(h, "margin", "nan"), BDML_ERR_ARGUMENT, "margin");
    check_fails(h, bdml_set(h, "softness", "nan"), BDML_ERR_ARGUMENT, "softness");
    check_fails(h, bdml_set(h, "targets", "0"), BDML_ERR_ARGUMENT, "targets");
    static const char *const bad[][2] = {{"margin 0", "margin must be"},
                                         {"margin 0 hard yes", "margin must be"},
                                         {"softness 0", "softness must be"},
                                         {"method nonesuch", "no method 'nonesuch'"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        bdml_handle *own = handle_with(bad[k][0]);
        check_fails(own, bdml_train(own, data, NULL, &model), BDML_ERR_ARGUMENT, bad[k][1]);
        assert_null(model);
        bdml_free(own);
    }
    check_fails(h, bdml_train(h, NULL, NULL, &model), BDML_ERR_ARGUMENT, "NULL");
    bdml_free_dataset(data);
}

static void test_bad_data(void **state)
{
    bdml_handle *h = *state;
    bdml_model *model = NULL;
    bdml_dataset *data = NULL;
    bdml_constraints *c = NULL;
    double x[] = {0, 1, 2, 3, 4, 5}, same[] = {1, 1, 1, 1, 1, 1};
    int64_t y[] = {0, 1, 0, 1, 0, 1}, one[] = {4, 4, 4, 4, 4, 4}, each[] = {0, 1, 2, 3, 4, 5};
    set_all(h, "threads 1");

    check_ok(h, bdml_dataset_from_arrays(h, 6, 1, x, 1, NULL, &data));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "labels");
    set_all(h, "rule class");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "labels");
    /* Given constraints need no labels; an empty set of them is no problem at all. */
    check_ok(h, bdml_constraints_from_arrays(h, 6, 0, NULL, 0, NULL, 0, NULL, &c));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_DATA, "no constraint");
    bdml_free_constraints(c);
    int32_t target[] = {0, 1}, impostor[] = {0, 5};
    check_ok(h, bdml_constraints_from_arrays(h, 7, 1, target, 1, impostor, 0, NULL, &c));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_ARGUMENT, "7 rows");
    bdml_free_constraints(c);
    bdml_free_dataset(data);

    bdml_handle *fresh = handle_with("threads 1");
    check_ok(h, bdml_dataset_from_arrays(h, 6, 1, x, 1, one, &data));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "class");
    check_fails(fresh, bdml_train(fresh, data, NULL, &model), BDML_ERR_DATA, "two classes");
    bdml_free_dataset(data);
    check_ok(h, bdml_dataset_from_arrays(h, 6, 1, x, 1, each, &data)); /* no neighbours at all */
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "at least 4 points");
    check_fails(fresh, bdml_train(fresh, data, NULL, &model), BDML_ERR_DATA,
                "every class has 1 point");
    bdml_free_dataset(data);
    check_ok(h, bdml_dataset_from_arrays(h, 6, 1, same, 1, y, &data));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "");
    check_fails(fresh, bdml_train(fresh, data, NULL, &model), BDML_ERR_DATA, "nothing to learn");
    bdml_free_dataset(data);
    check_ok(h, bdml_dataset_from_arrays(h, 1, 1, x, 1, y, &data));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "at least 2 points");
    bdml_free_dataset(data);
    bdml_free(fresh);
}

/* More neighbours asked for than any class has. */
static void test_few_points(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 6, 2, 2, 5);
    bdml_model *model = NULL;
    set_all(h, "rule class targets 50 threads 1");
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "targets = 50");
    set_all(h, "targets 2 impostors 3");
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- bits --------------------------------------------------------------------------------------------------- */

/* The saved model without its times. */
static void bytes_of(bdml_handle *h, bdml_model *model, void **bytes, size_t *size)
{
    json_object_del(model->info, "times");
    check_ok(h, bdml_save_model_bytes(h, model, bytes, size));
}

static void test_same_bits(void **state)
{
    static const char *const forms[] = {"rule class scale zscore passes 2", "loss hinge rule class",
                                        "hard yes kind pair reference within", "softness 2"};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        void *bytes[3] = {NULL};
        size_t size[3];
        static const char *const how[] = {"threads 1", "threads 3 memory 7", "threads 2"};
        for (int k = 0; k < 3; k++) {
            bdml_handle *h = handle_with(forms[f]);
            bdml_model *model = NULL;
            set_all(h, how[k]);
            bdml_dataset *data = read_data(h, "data/iris.csv");
            check_ok(h, bdml_train(h, data, NULL, &model));
            bytes_of(h, model, &bytes[k], &size[k]);
            bdml_free_model(model);
            bdml_free_dataset(data);
            bdml_free(h);
        }
        for (int k = 1; k < 3; k++) {
            assert_int_equal(size[0], size[k]);
            assert_memory_equal(bytes[0], bytes[k], size[0]);
        }
        for (int k = 0; k < 3; k++) bdml_free_bytes(bytes[k]);
    }
}

/* Other seeds draw other constraints in the recipe, which is what makes the test above mean something. */
static void test_seed_matters(void **state)
{
    void *bytes[2];
    size_t size[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        bdml_handle *h = handle_with("distortion 10 softness 2 reference zscore threads 1");
        bdml_dataset *data = read_data(h, "data/iris.csv");
        bdml_model *model = NULL;
        h->options.general.seed.value = k; /* not recorded as a changed setting */
        check_ok(h, bdml_train(h, data, NULL, &model));
        bytes_of(h, model, &bytes[k], &size[k]);
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    check_true(size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0);
    bdml_free_bytes(bytes[0]);
    bdml_free_bytes(bytes[1]);
}

/* ---- stopping ------------------------------------------------------------------------------------------------ */

typedef struct stopper {
    const char *phase; /* to stop in */
    int after;         /* calls of that phase */
    int seen;
    bdml_handle *h;
    int answer; /* 0: 1 */
} stopper;

static int stop_in(void *user, const char *phase, int64_t done, int64_t total)
{
    stopper *s = user;
    (void)done;
    (void)total;
    s->h->progress_last = -1e9; /* so that no call is left out for coming too soon */
    if (strcmp(phase, s->phase) != 0 || ++s->seen <= s->after) return 0;
    return s->answer ? s->answer : 1;
}

static void test_stop_solve(void **state)
{
    static const char *const forms[] = {"rule class scale zscore gap 1e-11",
                                        "hard yes kind pair scale zscore gap 1e-11",
                                        "rule class reference within gap 1e-11 passes 5"};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h = handle_with(forms[f]);
        bdml_dataset *data = read_data(h, "data/wine.csv");
        bdml_model *model = NULL;
        set_all(h, "threads 1");
        stopper s = {"solve", 8, 0, h, 0};
        bdml_set_progress(h, stop_in, &s);
        check_ok(h, bdml_train(h, data, NULL, &model));
        assert_string_equal(certificate_text(model, "status"), "stopped");
        check_true(s.seen >= 9 && s.seen <= 11); /* it did stop then, and began nothing new */
        assert_non_null(model->l);
        check_true(isfinite(model->evidence->upper) && model->evidence->lower >= 0);
        check_true(model->kappa >= 1 && bdml_last_error(h)[0] == '\0');
        bdml_free_model(model);
        bdml_free_dataset(data);
        bdml_free(h);
    }
}

/* A user who leaves gets nothing, and waits for nothing: no proof of what a solve has found, and none that is under way;
 * who merely stops during the proof gets it. The text of the proof asks once a row, 178 times; then the prover does.
 * The handle is as good as before. */
static void test_leave(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/wine.csv");
    set_all(h, "rule class scale zscore gap 1e-11 threads 1");
    stopper all[] = {{"solve", 8, 0, h, BDML_LEAVE},
                     {"proof", 0, 0, h, BDML_LEAVE},
                     {"proof", 250, 0, h, BDML_LEAVE}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bdml_model *model = NULL;
        bdml_set_progress(h, stop_in, &all[k]);
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_CANCELLED, "stopped on request");
        assert_null(model);
        assert_int_equal(all[k].seen, all[k].after + 1); /* it does not ask again */
    }
    bdml_model *model = NULL;
    stopper stop = {"proof", 0, 0, h, 1};
    bdml_set_progress(h, stop_in, &stop);
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_true(stop.seen > 1);
    assert_string_equal(certificate_text(model, "status"), "optimal");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Whenever it is stopped, what comes back keeps the cap that was asked for: also while the recipe solves at the cap of
 * its own under which neighbours are mined again. */
static void test_stop_keeps_the_cap(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/segment.csv");
    int models = 0;
    set_all(h, "threads 1 reference zscore distortion 2 passes 2");
    for (int after = 0; after < 24; after++) {
        bdml_model *model = NULL;
        stopper s = {"solve", after, 0, h, 0};
        bdml_set_progress(h, stop_in, &s);
        bdml_status status = bdml_train(h, data, NULL, &model);
        if (status == BDML_ERR_CANCELLED) continue;
        check_ok(h, status);
        models++;
        assert_true(model->evidence->K <= 2.0);
        bdml_free_model(model);
    }
    assert_true(models > 0);
    bdml_free_dataset(data);
}

/* As stop_in, by the clock: the time of a solve is over. */
static int end_in(void *user, const char *phase, int64_t done, int64_t total)
{
    stopper *s = user;
    if (stop_in(user, phase, done, total) != 0) s->h->stop_by = s->h->deadline = bdml_now();
    return 0;
}

/* While neighbours are mined again there is a metric already: it comes back, and what is proven of it is true. */
static void test_stop_mining(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/segment.csv");
    int ended[2][3] = {{0}}; /* by the user, by the clock: without a pass, with one, with two */
    set_all(h, "threads 1 reference zscore distortion 20 passes 3");
    for (int clock = 0; clock < 2; clock++) {
        for (int after = 0, whole = 0; !whole; after++) {
            bdml_model *model = NULL;
            stopper s = {"neighbors", after, 0, h, 0};
            bdml_set_progress(h, clock ? end_in : stop_in, &s);
            bdml_status status = bdml_train(h, data, NULL, &model);
            bdml_set_progress(h, NULL, NULL);
            h->stop_by = h->deadline = 0.0;
            if (status == BDML_ERR_CANCELLED) {
                ended[clock][0]++;
                continue;
            }
            check_ok(h, status);
            const json_t *done = json_object_get(model->info, "passes_done");
            whole = s.seen <= s.after;
            assert_true(!(whole && done) && model->l && model->evidence->K <= 20.0);
            if (done) {
                int64_t passes = json_integer_value(done);
                char *json = NULL;
                int confirmed = 0;
                assert_in_range(passes, 1, 2);
                if (ended[clock][passes]++ == 0) {
                    check_ok(h, bdml_certify_model(h, model, data, &confirmed, &json));
                    if (!confirmed) fail_msg("%s", json);
                }
                bdml_free_bytes(json);
            }
            bdml_free_model(model);
        }
        for (int k = 0; k < 3; k++) assert_true(ended[clock][k] > 0);
    }
    bdml_free_dataset(data);
}

static void test_stop_selection(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *model = NULL;
    set_all(h, "threads 2 reference zscore");
    for (int after = 0; after < 2; after++) {
        stopper s = {"cross-validation", after, 0, h, 0};
        bdml_set_progress(h, stop_in, &s);
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_CANCELLED, "cross-validation");
        assert_null(model);
    }
    /* The choice is made: from here on the best metric is kept. */
    stopper s = {"solve", 3, 0, h, 0};
    set_all(h, "gap 1e-11 softness 2");
    bdml_set_progress(h, stop_in, &s);
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_string_equal(certificate_text(model, "status"), "stopped");
    assert_non_null(json_object_get(model->info, "selection"));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

/* Allocation n fails, n = 1, 1 + step, ... until nothing fails. */
static void sweep(const char *settings, const bdml_dataset *data, int64_t step, bdml_status outcome)
{
    bdml_status status = BDML_ERR_MEMORY;
    int64_t n = 1;
    for (; status == BDML_ERR_MEMORY; n += step) {
        bdml_handle *h = handle_with(settings);
        bdml_model *model = NULL;
        h->fail_alloc = n;
        status = bdml_train(h, data, NULL, &model);
        if (status == BDML_ERR_MEMORY)
            check_true(!model && bdml_last_error(h)[0]);
        else if (status != outcome)
            fail_msg("%s: allocation %lld: %s: %s", settings, (long long)n,
                     bdml_status_text(status), bdml_last_error(h));
        bdml_free_model(model);
        bdml_free(h);
    }
    check_true(n > 20);
}

static void test_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h, 24, 3, 2, 1);
    sweep("threads 1 rule class reference within passes 2", data, 1, BDML_OK);
    sweep("threads 1 hard yes distortion 1.5", data, 1, BDML_ERR_INFEASIBLE);
    sweep("threads 1 rule class reference fisher", data, 1, BDML_OK);
    sweep("threads 1 distortion 3 softness 2 reference within passes 2", data, 1, BDML_OK);
    sweep("threads 1 distortion 3 reference within passes 2", data, 3, BDML_OK);
    bdml_free_dataset(data);
}

/* ---- quality ------------------------------------------------------------------------------------------------- */

/* Error of 3-NN on the second half under the metric learned on the first. */
static double error_of(const bdml_dataset *data, const char *settings)
{
    bdml_handle *h = handle_with(settings);
    bdml_dataset *train = NULL, *test = NULL;
    bdml_model *model = NULL;
    int64_t *rows = calloc((size_t)data->n, sizeof *rows), half = data->n / 2, wrong = 0;
    int32_t *label = calloc((size_t)data->n, sizeof *label);
    bdml_rng rng = bdml_rng_make(1, 0);
    for (int64_t i = 0; i < data->n; i++) rows[i] = i;
    bdml_rng_shuffle(&rng, data->n, rows);
    check_ok(h, bdml_dataset_subset(h, data, half, rows, &train));
    check_ok(h, bdml_dataset_subset(h, data, data->n - half, rows + half, &test));
    check_ok(h, bdml_train(h, train, NULL, &model));
    check_ok(h, bdml_predict(h, model, train, test->n, test->x, test->d, label));
    for (int64_t i = 0; i < test->n; i++) wrong += label[i] != test->y[i];
    double error = 100.0 * (double)wrong / (double)test->n;
    bdml_free_model(model);
    bdml_free_dataset(train);
    bdml_free_dataset(test);
    bdml_free(h);
    free(rows);
    free(label);
    return error;
}

/* Distortion 1 is the reference itself, so cross-validation cannot choose something much worse. Three
 * points of error are above the noise of the choice on these sets (100 test points and more). */
static void test_not_worse_than_reference(void **state)
{
    bdml_handle *h = *state;
    static const char *const sets[] = {"data/iris.csv", "data/wine.csv", "data/diabetes.csv"};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        bdml_dataset *data = read_data(h, sets[k]);
        double learned = error_of(data, "threads 1");
        double zscore = error_of(data, "threads 1 method euclidean scale zscore");
        double raw = error_of(data, "threads 1 method euclidean");
        check_true(learned <= fmin(zscore, raw) + 3.0);
        bdml_free_dataset(data);
    }
    /* Pure noise: there is nothing to learn, and nothing must be lost. */
    bdml_dataset *noise = clouds(h, 400, 5, 2, 0);
    check_true(error_of(noise, "threads 1") <=
               error_of(noise, "threads 1 method euclidean") + 6.0); /* 2 standard errors */
    bdml_free_dataset(noise);
}

/* fisher is within times a stretch: M_fisher relative to M_within has the eigenvalues 1 and 20, the latter
 * once less than there are classes. */
static void test_reference_fisher(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    double m[2][16], inverse[16], trace = 0, trace2 = 0;
    for (int k = 0; k < 2; k++) {
        bdml_model *model = NULL;
        set_all(h, k ? "reference fisher" : "distortion 1 reference within threads 1 rule class");
        check_ok(h, bdml_train(h, data, NULL, &model));
        double scale = 0, *b = model->evidence->map; /* N = B'B is a multiple of I */
        for (int i = 0; i < model->q; i++) scale += b[4 * i] * b[4 * i];
        check_ok(h, bdml_model_get_metric(h, model, m[k]));
        for (int i = 0; i < 16; i++) m[k][i] /= scale;
        bdml_free_model(model);
    }
    /* inverse of m[0] by Gauss-Jordan, then traces of X and X X, X = inverse m[1] */
    for (int i = 0; i < 16; i++) inverse[i] = i % 5 == 0;
    for (int i = 0; i < 4; i++) {
        double pivot = m[0][5 * i];
        for (int j = 0; j < 4; j++) m[0][4 * i + j] /= pivot, inverse[4 * i + j] /= pivot;
        for (int r = 0; r < 4; r++) {
            double f = m[0][4 * r + i];
            for (int j = 0; r != i && j < 4; j++) {
                m[0][4 * r + j] -= f * m[0][4 * i + j];
                inverse[4 * r + j] -= f * inverse[4 * i + j];
            }
        }
    }
    double x[16] = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) x[4 * i + j] += inverse[4 * i + k] * m[1][4 * k + j];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            trace += i == j ? x[4 * i + j] : 0, trace2 += x[4 * i + j] * x[4 * j + i];
    check_close(trace, 2 * 20 + 2, 1e-6);
    check_close(trace2, 2 * 400 + 2, 1e-4);
    bdml_free_dataset(data);
}

/* K = 1 asked for: the reference, exactly. */
static void test_distortion_one(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *model = NULL;
    double m[16];
    set_all(h, "distortion 1 reference none threads 1");
    check_ok(h, bdml_train(h, data, NULL, &model));
    check_ok(h, bdml_model_get_metric(h, model, m));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) check_close(m[4 * i + j], i == j ? m[0] : 0.0, 1e-12 * m[0]);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* What was chosen and what was tried is in the description, and can be asked for again by hand. */
static void test_selection_is_told(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = read_data(h, "data/iris.csv");
    bdml_model *model = NULL, *again = NULL;
    double m[16], m2[16];
    char text[256];
    set_all(h, "threads 1");
    check_ok(h, bdml_train(h, data, NULL, &model));
    const json_t *o = json_object_get(model->info, "selection");
    const char *reference = json_string_value(json_object_get(o, "reference"));
    check_true(json_array_size(json_object_get(o, "tried")) > 10);
    snprintf(text, sizeof text, "reference %s passes %d distortion %.17g softness %.17g", reference,
             (int)json_integer_value(json_object_get(o, "passes")),
             json_number_value(json_object_get(o, "distortion")),
             json_number_value(json_object_get(o, "weight")));
    set_all(h, text);
    check_ok(h, bdml_train(h, data, NULL, &again));
    assert_null(json_object_get(again->info, "selection")); /* nothing was left to choose */
    check_ok(h, bdml_model_get_metric(h, model, m));
    check_ok(h, bdml_model_get_metric(h, again, m2));
    assert_memory_equal(m, m2, sizeof m);
    bdml_free_model(model);
    bdml_free_model(again);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_infeasible_is_a_proof),
        handle_test(test_collapse_is_explained),
        handle_test(test_limits_keep_the_best),
        handle_test(test_bad_settings),
        handle_test(test_bad_data),
        handle_test(test_few_points),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_seed_matters),
        cmocka_unit_test(test_stop_solve),
        handle_test(test_leave),
        handle_test(test_stop_keeps_the_cap),
        handle_test(test_stop_mining),
        handle_test(test_stop_selection),
        handle_test(test_memory),
        handle_test(test_not_worse_than_reference),
        handle_test(test_reference_fisher),
        handle_test(test_distortion_one),
        handle_test(test_selection_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
