/* test_checkpoint.c - a training that is stopped and taken up again ends in the same bits as one that was not. */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "model/evidence.h"
#include "train/train.h"

static const char FILE_NAME[] = "test_checkpoint.ckpt";

static void set_all(bdml_handle *h, const char *const *settings)
{
    for (; *settings; settings += 2) check_ok(h, bdml_set(h, settings[0], settings[1]));
}

/* Both models hold the same numbers and the same words, times aside. */
static void same_model(const bdml_model *a, const bdml_model *b)
{
    assert_int_equal(a->q, b->q);
    assert_int_equal(a->l != NULL, b->l != NULL);
    if (a->l) assert_memory_equal(a->l, b->l, sizeof *a->l * (size_t)a->q * (size_t)a->d);
    json_t *x = json_deep_copy(a->info), *y = json_deep_copy(b->info);
    const char *mine[] = {"times"};
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++) {
        json_object_del(x, mine[k]);
        json_object_del(y, mine[k]);
        json_object_del(json_object_get(x, "settings"), "max-iter");
        json_object_del(json_object_get(y, "settings"), "max-iter");
    }
    check_true(json_equal(x, y));
    json_decref(x);
    json_decref(y);
    assert_int_equal(a->evidence != NULL, b->evidence != NULL);
    if (!a->evidence) return;
    assert_int_equal(a->evidence->duals, b->evidence->duals);
    assert_memory_equal(a->evidence->dual, b->evidence->dual,
                        sizeof *a->evidence->dual * (size_t)a->evidence->duals);
}

typedef struct stopper {
    int calls, at;
} stopper;

static int stop_later(void *user, const char *what, int64_t done, int64_t total)
{
    stopper *s = user;
    (void)what, (void)done, (void)total;
    return ++s->calls >= s->at;
}

/* Train, stopped by the user at the at-th report of progress. */
static bdml_status train_stopped(bdml_handle *h, const bdml_dataset *data, int at,
                                 bdml_model **model)
{
    stopper s = {.at = at};
    bdml_set_progress(h, stop_later, &s);
    bdml_status status = bdml_train(h, data, NULL, model);
    bdml_set_progress(h, NULL, NULL);
    return status;
}

/* The recipe, stopped in its cross-validation and later, ends in the same model. */
static void recipe_goes_on(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *plain, *again;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_set(h, "reference", "zscore"));
    check_ok(h, bdml_train(h, data, NULL, &plain));
    check_ok(h, bdml_set(h, "every", "0"));
    remove(FILE_NAME);
    for (int at = 2; at < 14; at += 4) {
        check_ok(h, bdml_set(h, "checkpoint", FILE_NAME));
        bdml_status status = train_stopped(h, data, at, &again);
        check_true(status == BDML_OK || status == BDML_ERR_CANCELLED);
        bdml_free_model(again);
        /* Stopped before the first job was done there is nothing to go on from; later on also from
         * the one before. */
        if (access(FILE_NAME, R_OK) == 0) check_ok(h, bdml_set(h, "resume", FILE_NAME));
    }
    check_true(access(FILE_NAME, R_OK) == 0);
    check_ok(h, bdml_set(h, "checkpoint", ""));
    check_ok(h, bdml_train(h, data, NULL, &again));
    same_model(plain, again);
    bdml_free_model(plain);
    bdml_free_model(again);
    bdml_free_dataset(data);
    remove(FILE_NAME);
}

/* Train iris to a checkpoint, put other scores in the place of those of the cross-validation, go on from there: the
 * distortion that is chosen. score: by part and distortion (1 3 10 30 100). */
static double chosen_by(bdml_handle *h, const bdml_dataset *data,
                        double (*score)(int64_t part, int64_t cap))
{
    bdml_model *model;
    bdml_container *c, *other;
    int64_t jobs = -1, rows = -1, size = -1, vector = 0;
    int32_t *finished;
    double *scores;
    check_ok(h, bdml_set(h, "resume", ""));
    check_ok(h, bdml_set(h, "checkpoint", FILE_NAME));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free_model(model);

    check_ok(h, bdml_container_load(h, FILE_NAME, &c));
    check_ok(h, bdml_container_get_i4(h, c, "finished", &jobs, &vector, &finished));
    check_ok(h, bdml_container_get_f8(h, c, "score", &rows, &size, &scores));
    assert_int_equal(rows, jobs);
    const int64_t width = 1 + 7;           /* the error, and those of 1 3 5 7 9 11 15 neighbours */
    assert_int_equal(size, 2 * 5 * width); /* efforts, caps */
    assert_int_equal(jobs, 10);            /* two times five folds */
    for (int64_t k = 0; k < jobs; k++) finished[k] = 1;
    for (int64_t k = 0; k < rows * size; k++) scores[k] = score(k / size, k / width % 5);
    check_ok(h, bdml_container_new(h, &other));
    json_object_update(bdml_container_header(other), bdml_container_header(c));
    json_object_set_new(bdml_container_header(other), "solves", json_array());
    check_ok(h, bdml_container_put_i4(h, other, "finished", jobs, 0, finished));
    check_ok(h, bdml_container_put_f8(h, other, "score", rows, size, scores));
    check_ok(h, bdml_container_save(h, other, FILE_NAME));
    bdml_container_free(c);
    bdml_container_free(other);
    free(finished);
    free(scores);

    check_ok(h, bdml_set(h, "checkpoint", ""));
    check_ok(h, bdml_set(h, "resume", FILE_NAME));
    check_ok(h, bdml_train(h, data, NULL, &model));
    const json_t *chosen = json_object_get(model->info, "selection");
    double K = json_number_value(json_object_get(chosen, "distortion"));
    bdml_free_model(model);
    remove(FILE_NAME);
    return K;
}

static double best_is_100(int64_t part, int64_t cap)
{
    (void)part;
    return cap == 4 ? 1.0 : 50.0;
}

/* K = 10 is worse by 1 in the mean, by 3.8 or -1.8 in turn: a plain standard error over 10 parts says 0.93, one for parts
 * of 30 rows that share 120 training rows says 2.95 sqrt(1/10 + 1/4) = 1.75. */
static double ten_is_hardly_worse(int64_t part, int64_t cap)
{
    return cap == 4 ? 20.0 : cap == 2 ? (part % 2 ? 23.8 : 18.2) : 90.0;
}

/* Finished jobs are taken as they stand: with other scores in the file, the choice is another; and it knows that parts
 * share rows. */
static void finished_jobs_are_not_repeated(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_set(h, "reference", "zscore"));
    check_ok(h, bdml_set(h, "passes", "1"));
    check_ok(h, bdml_set(h, "se-rule", "1"));
    check_close(chosen_by(h, data, best_is_100), 100.0, 0.0);
    check_close(chosen_by(h, data, ten_is_hardly_worse), 10.0, 0.0);
    bdml_free_dataset(data);
}

/* Stated problems, cut by max-iter and by the user, once and again. */
static void single_goes_on(void **state)
{
    (void)state;
    static const char *const forms[][16] = {
        {"hard", "yes", "kind", "pair", "scale", "zscore", "gap", "1e-5", NULL},
        {"hard", "yes", "scale", "zscore", "distortion", "10", "trace", "1e5", NULL},
        {"rule", "class", "scale", "zscore", "passes", "3", "softness", "50", "gap", "1e-5", NULL},
        {"diagonal", "yes", "scale", "zscore", "softness", "20", "gap", "1e-6", NULL},
    };
    static const char *const limits[] = {"5", "17", "60"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bdml_handle *h;
        bdml_dataset *data;
        bdml_model *plain = NULL, *again = NULL;
        check_ok(h, bdml_create(&h));
        const char *name = f == 1 ? "data/iris.csv" : "data/wine.csv";
        check_ok(h, bdml_read_dataset(h, source_path(name), &data));
        set_all(h, forms[f]);
        bdml_status end = bdml_train(h, data, NULL, &plain);
        check_true(end == (f == 1 ? BDML_ERR_INFEASIBLE : BDML_OK));
        remove(FILE_NAME);
        check_ok(h, bdml_set(h, "checkpoint", FILE_NAME));
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            check_ok(h, bdml_set(h, "max-iter", limits[k]));
            bdml_train(h, data, NULL, &again);
            bdml_free_model(again);
            again = NULL;
            check_true(access(FILE_NAME, R_OK) == 0);
            check_ok(h, bdml_set(h, "resume", FILE_NAME));
        }
        check_ok(h, bdml_set(h, "max-iter", "100000"));
        assert_int_equal(bdml_train(h, data, NULL, &again), end);
        same_model(plain, again);
        bdml_free_model(again);
        /* what is finished is there at once */
        assert_int_equal(bdml_train(h, data, NULL, &again), end);
        same_model(plain, again);
        bdml_free_model(again);
        bdml_free_model(plain);
        bdml_free_dataset(data);
        bdml_free(h);
        remove(FILE_NAME);
    }
}

static void training_refuses_others(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data, *wine;
    bdml_model *model;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &wine));
    check_ok(h, bdml_set(h, "diagonal", "yes"));
    check_ok(h, bdml_set(h, "checkpoint", FILE_NAME));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_constraints *c;
    check_ok(h, bdml_mine_constraints(h, data, &c));
    c->far[0] = c->far[1];
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "checkpoint", ""));
    check_ok(h, bdml_set(h, "resume", FILE_NAME));
    check_fails(h, bdml_train(h, data, c, &model), BDML_ERR_ARGUMENT, "constraints differ");
    check_fails(h, bdml_train(h, wine, NULL, &model), BDML_ERR_ARGUMENT,
                "its number of points is 150, now it is 178");
    data->x[5] += 1.0;
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "its data differ");
    data->x[5] -= 1.0;
    check_ok(h, bdml_set(h, "distortion", "30"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT,
                "its distortion is not set, now it is 30");
    char *json;
    check_fails(h, bdml_evaluate(h, data, &json), BDML_ERR_ARGUMENT, "for one training");
    bdml_container *file;
    check_ok(h, bdml_container_new(h, &file));
    json_object_set_new(bdml_container_header(file), "kind", json_string("checkpoint"));
    json_object_set_new(bdml_container_header(file), "format", json_integer(1));
    check_ok(h, bdml_container_save(h, file, FILE_NAME));
    bdml_container_free(file);
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_FORMAT, "another version of bdml");
    check_ok(h, bdml_set(h, "resume", "no/such/file"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_IO, "no/such/file");
    check_ok(h, bdml_set(h, "resume", source_path("data/iris.csv")));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_FORMAT, "not a bdml file");
    check_ok(h, bdml_set(h, "resume", ""));
    check_ok(h, bdml_set(h, "checkpoint", "no/such/folder/file"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_IO, "no/such/folder");
    check_ok(h, bdml_set(h, "checkpoint", "-"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT, "name of a file");
    bdml_free_constraints(c);
    bdml_free_dataset(data);
    bdml_free_dataset(wine);
    remove(FILE_NAME);
}

static void note(void *user, bdml_log_level level, const char *line)
{
    if (level == BDML_LOG_WARNING && strstr(line, "no checkpoint was written")) ++*(int *)user;
}

static int remove_folder(void *user, const char *what, int64_t done, int64_t total)
{
    (void)what, (void)done, (void)total;
    rmdir(user);
    return 0;
}

/* A disk that fails on the way costs the checkpoint, not the training. */
static void lost_folder_is_a_warning(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model;
    char folder[] = "test_checkpoint.dir";
    int warned = 0;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "diagonal", "yes"));
    mkdir(folder, 0700);
    check_ok(h, bdml_set(h, "checkpoint", "test_checkpoint.dir/file"));
    bdml_set_progress(h, remove_folder, folder);
    bdml_set_log(h, note, &warned);
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_set_log(h, NULL, NULL);
    check_true(warned > 0);
    assert_int_equal(h->checkpoints, 0);
    bdml_free_model(model);
    bdml_free_dataset(data);
    rmdir(folder);
}

static void note_none_kept(void *user, bdml_log_level level, const char *line)
{
    bool told = strstr(line, "keeps no checkpoints: test_checkpoint.ckpt is not written");
    if (level == BDML_LOG_WARNING && told) ++*(int *)user;
}

/* What cannot be taken up again says so, when it begins. */
static void no_checkpoint_is_told(void **state)
{
    static const char *const settings[][2] = {{"method", "lda"},
                                              {"solver", "mwu-cone"},
                                              {"pca", "0"}};
    bdml_dataset *data;
    bdml_handle *h = *state;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    for (int k = 0; k < 3; k++) {
        int told = 0;
        bdml_handle *own;
        bdml_model *model;
        check_true(bdml_create(&own) == BDML_OK);
        remove(FILE_NAME);
        check_ok(own, bdml_set(own, settings[k][0], settings[k][1]));
        check_ok(own, bdml_set(own, "delta", "0.5"));
        check_ok(own, bdml_set(own, "scale", "zscore"));
        check_ok(own, bdml_set(own, "distortion", "5"));
        check_ok(own, bdml_set(own, "checkpoint", FILE_NAME));
        bdml_set_log(own, note_none_kept, &told);
        check_ok(own, bdml_train(own, data, NULL, &model));
        assert_int_equal(told, k < 2);
        check_true((access(FILE_NAME, F_OK) == 0) == (k == 2));
        bdml_free_model(model);
        bdml_free(own);
    }
    remove(FILE_NAME);
    bdml_free_dataset(data);
}

/* Every allocation in turn fails: the right status, nothing lost, the file as good as before. */
static void every_allocation_may_fail(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *plain, *model;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_set(h, "kind", "pair"));
    check_ok(h, bdml_set(h, "rule", "class")); /* one problem, nothing to choose */
    check_ok(h, bdml_set(h, "gap", "1e-6"));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_train(h, data, NULL, &plain));
    check_ok(h, bdml_set(h, "checkpoint", FILE_NAME));
    check_ok(h, bdml_set(h, "every", "0"));
    check_ok(h, bdml_set(h, "max-iter", "20"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free_model(model);
    check_ok(h, bdml_set(h, "max-iter", "100000"));
    check_ok(h, bdml_set(h, "resume", FILE_NAME));
    check_ok(h, bdml_set(h, "checkpoint", "test_checkpoint.other"));
    bdml_status status = BDML_ERR_MEMORY;
    for (int64_t k = 1; status != BDML_OK; k++) {
        h->fail_alloc = k;
        status = bdml_train(h, data, NULL, &model);
        h->fail_alloc = 0;
        check_true(status == BDML_OK || status == BDML_ERR_MEMORY);
        check_true(h->checkpoint == NULL);
        check_true(k < 5000);
    }
    same_model(plain, model);
    bdml_free_model(model);
    bdml_free_model(plain);
    bdml_free_dataset(data);
    remove(FILE_NAME);
    remove("test_checkpoint.other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(recipe_goes_on),
        handle_test(finished_jobs_are_not_repeated),
        handle_test(single_goes_on),
        handle_test(training_refuses_others),
        handle_test(lost_folder_is_a_warning),
        handle_test(no_checkpoint_is_told),
        handle_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
