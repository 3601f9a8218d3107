/* test_time_limit.c - the setting time-limit: whatever is asked, it ends in time with the best so far and says so. */
#include "check.h"

#include <time.h>

#include "train/plan.h"

/* ---- measuring ------------------------------------------------------------------------------------------ */

/* Seconds of processor time of this process. */
static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* On a machine that others use as well, one piece of work between two looks at the clock takes as much longer as the
 * processor is shared: what is beyond the limit counts by the share of one that this process was given. Works on one
 * thread. */
static double beyond(double limit, double wall, double cpu)
{
    return (wall - limit) * fmin(1.0, cpu / wall);
}

typedef bdml_status (*work)(bdml_handle *h, const bdml_dataset *data, char **text);

static bdml_status train(bdml_handle *h, const bdml_dataset *data, char **text)
{
    bdml_model *model = NULL;
    bdml_status status = bdml_train(h, data, NULL, &model);
    if (status == BDML_OK) *text = json_dumps(model->info, 0);
    bdml_free_model(model);
    return status;
}

/* What was said on the way. */
static void hear(void *user, bdml_log_level level, const char *line)
{
    char *said = user;
    size_t n = strlen(said);
    if (level == BDML_LOG_WARNING) snprintf(said + n, 4096 - n, "%s\n", line);
}

typedef struct problem {
    const char *name, *file; /* file NULL: made, */
    int64_t rows;            /* of so many rows */
    const char *setting[6][2];
    work run;
    const char *says; /* one of the warnings, or what stands in the result */
} problem;

static const problem problems[] = {
    {"the recipe", NULL, 6000, {{NULL}}, train, "\"stopped_by\": \"time\""},
    {"one solve",
     NULL,
     4000,
     {{"rule", "class"}, {"distortion", "1e4"}, {"gap", "1e-9"}},
     train,
     "time"},
    {"hard margins by the paper's algorithm",
     "data/wine.csv",
     0,
     {{"solver", "mwu-cone"}, {"scale", "zscore"}, {"delta", "1e-4"}},
     train,
     "time"},
    {"low rank",
     NULL,
     4000,
     {{"rank", "3"}, {"distortion", "100"}, {"rule", "class"}, {"gap", "1e-9"}},
     train,
     "time"},
    {"nca", NULL, 3000, {{"method", "nca"}, {"nca-steps", "10000"}}, train, "\"converged\": false"},
    {"nca, long sums", NULL, 20000, {{"method", "nca"}}, train, "\"converged\": false"},
    {"mlkr, long sums", NULL, 12000, {{"method", "mlkr"}}, train, "\"converged\": false"},
    {"lmnn", NULL, 4000, {{"method", "lmnn"}, {"gap", "1e-9"}}, train, "\"converged\": false"},
    {"lmnn, long looks at all triplets",
     NULL,
     12000,
     {{"method", "lmnn"}, {"gap", "1e-9"}},
     train,
     "\"converged\": false"},
    {"scml, long epochs",
     NULL,
     2500,
     {{"method", "scml"}, {"gap", "1e-9"}, {"scml-epochs", "10000"}},
     train,
     "the time limit ended method scml"},
    {"boost, long corrections",
     NULL,
     2500,
     {{"method", "boost"}, {"gap", "1e-9"}},
     train,
     "the time limit ended method boost"},
    {"choice of settings",
     "data/segment.csv",
     0,
     {{"method", "nca"}, {"scale", "auto"}, {"tune", "yes"}},
     train,
     "cut the choice of settings"},
    {"eval",
     "data/segment.csv",
     0,
     {{"methods", "euclidean,lda,bdml"}, {"splits", "500"}},
     bdml_evaluate,
     "of 500 splits"},
    {"retrieve",
     "data/segment.csv",
     0,
     {{"methods", "lda"}, {"splits", "2000"}},
     bdml_retrieve,
     "of 2000 splits"},
    {"path", "data/wine.csv", 0, {{"splits", "500"}}, bdml_path, "of 500 splits"},
};

/* One run: what it says is checked; how far beyond the limit it ended is given back. */
static double overrun(const problem *p, double limit)
{
    bdml_handle *h;
    bdml_dataset *data;
    char seconds[32], said[4096] = "", *text = NULL;

    check_true(bdml_create(&h) == BDML_OK);
    if (p->file)
        check_ok(h, bdml_read_dataset(h, source_path(p->file), &data));
    else
        check_ok(h, bdml_generate(h, "waveform-noise", p->rows, &data));
    snprintf(seconds, sizeof seconds, "%g", limit);
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_set(h, "time-limit", seconds));
    for (int i = 0; i < 6 && p->setting[i][0]; i++)
        check_ok(h, bdml_set(h, p->setting[i][0], p->setting[i][1]));
    bdml_set_log(h, hear, said);
    double began = bdml_now(), cpu = processor();
    bdml_status status = p->run(h, data, &text);
    double wall = bdml_now() - began, over = beyond(limit, wall, processor() - cpu);
    print_message("%-38s limit %g: %.2f s, %+.2f s beyond: %s\n", p->name, limit, wall,
                  fmax(over, 0.0), bdml_status_text(status));
    /* on a crowded machine there may have been no time for anything, which is said as well */
    if (status != BDML_OK) {
        if (status != BDML_ERR_CANCELLED) fail_msg("%s: %s", p->name, bdml_last_error(h));
        assert_non_null(strstr(bdml_last_error(h), "the time limit"));
    } else if (limit < 1.0 && !strstr(said, p->says) && !strstr(text, p->says)) {
        /* none of them is done so soon; a fast machine may finish in the longer time */
        fail_msg("%s does not say that it was cut short: %s", p->name, said);
    }
    free(text);
    bdml_free_dataset(data);
    bdml_free(h);
    return over;
}

/* The machine may stand still for a moment, but hardly in three runs: what cannot keep a limit never does. */
static void is_kept(void **state)
{
    enum { TRIES = 3 };
    (void)state;
    static const double limits[] = {0.7, 2.0};
    for (size_t k = 0; k < 2 * sizeof problems / sizeof *problems; k++) {
        double limit = limits[k % 2], allowed = fmax(0.1 * limit, 0.2), over = INFINITY;
        for (int i = 0; i < TRIES && over > allowed; i++) over = overrun(&problems[k / 2], limit);
        if (over > allowed)
            fail_msg("%s: %.2f s beyond in each of %d runs", problems[k / 2].name, over, TRIES);
    }
}

/* ---- one mechanism -------------------------------------------------------------------------------------- */

static bdml_status wait_for_stop(bdml_handle *own, void *user, int64_t job)
{
    (void)user;
    while (job > 0 && bdml_progress(own, "waiting", 1, 2) == BDML_OK) {
    }
    return bdml_jobs_check(own);
}

/* Jobs that the clock ends are no failure, and tell which of them were finished. */
static void jobs_end_by_the_clock(void **state)
{
    bdml_handle *h = *state;
    bool finished[3] = {false}, late = false;
    bdml_jobs jobs = {.what = "work",
                      .total = 3,
                      .count = 3,
                      .workers = 2,
                      .run = wait_for_stop,
                      .until = bdml_now() + 0.3,
                      .finished = finished,
                      .late = &late};
    check_ok(h, bdml_jobs_run(h, &jobs));
    check_true(late && finished[0] && !finished[1] && !finished[2]);
}

/* What has nothing to show ends with an error; a result that is there is finished, whatever the clock says. */
static void a_deadline_ends_what_has_no_result(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    check_true(isinf(bdml_time_left(h)));
    bdml_limit_time(h, 1e-9);
    check_true(bdml_time_left(h) <= 1e-9);
    check_fails(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data), BDML_ERR_CANCELLED,
                "the time limit is over, during: reading");
    assert_null(data);
    bdml_limit_time(h, 0.0);
    check_ok(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data));
    bdml_free_dataset(data);
    check_true(bdml_deadline_begin(h, 1e-9) && !bdml_deadline_begin(h, 5.0));
    check_fails(h, bdml_progress(h, "work", 1, 2), BDML_ERR_CANCELLED, "during: work");
    check_true(bdml_time_is_up(h));
    bdml_deadline_lift(h);
    check_ok(h, bdml_progress(h, "work", 1, 2));
    bdml_deadline_end(h, true);
    check_true(!bdml_time_is_up(h) && bdml_time_share(h, 0.5) == 0.0);
}

/* The limit is of all calls together where a program asks for that: the second call finds nothing left. */
static void calls_share_a_limit(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    char *text = NULL;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "splits", "3"));
    check_ok(h, bdml_set(h, "method", "lda"));
    bdml_limit_time(h, 1e-9);
    check_fails(h, bdml_evaluate(h, data, &text), BDML_ERR_CANCELLED, "the time limit");
    bdml_limit_time(h, 0.0);
    check_ok(h, bdml_set(h, "time-limit", "1000"));
    check_ok(h, bdml_evaluate(h, data, &text));
    check_ok(h, bdml_evaluate(h, data, &text));
    free(text);
    bdml_free_dataset(data);
}

/* A model that had no time for its proof claims nothing. */
static void no_time_no_claim(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model = NULL;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "rule", "class"));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_non_null(model->evidence);
    h->deadline = bdml_now();
    check_ok(h, bdml_prove_claim(h, data, model));
    h->deadline = 0.0;
    assert_null(model->evidence);
    const json_t *o = json_object_get(model->info, "certificate");
    assert_string_equal(json_string_value(json_object_get(o, "status")), "unproven");
    check_true(!json_object_get(o, "lower") && !json_object_get(o, "gap"));
    check_true(json_is_number(json_object_get(o, "objective")));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Time that is over before the first step leaves what the method starts from, which is said; a user who stops it gets no model. */
static void late_is_the_start(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[] = {"nca", "mlkr", "lmnn", "boost", "scml"};
    bdml_dataset *data;
    check_ok(h, bdml_generate(h, "waveform-noise", 400, &data));
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const bdml_method *m = bdml_method_find(h, methods[k], strlen(methods[k]));
        const bdml_training t = {
            .n = data->n, .d = data->d, .x = data->x, .y = data->y, .classes = data->classes};
        bdml_prepare plain = {.d_in = data->d,
                              .d_out = data->d,
                              .scale = BDML_SCALE_NONE,
                              .variance = 1.0};
        bdml_model *model;
        check_ok(h, bdml_model_new(h, data, &plain, data->d, &model));
        h->stop_by = h->deadline = bdml_now();
        check_ok(h, m->fit(h, &h->options, &t, model));
        h->stop_by = h->deadline = 0.0;
        const json_t *o = json_object_get(model->info, "stopping");
        assert_int_equal(json_integer_value(json_object_get(o, "iterations")), 0);
        check_true(json_is_false(json_object_get(o, "converged")));
        assert_int_equal(model->q, data->d);
        for (int i = 0; i < data->d; i++)
            for (int j = 0; j < data->d; j++)
                check_close(model->l[i * data->d + j], i == j ? model->l[0] : 0.0, 0.0);
        check_true(model->l[0] > 0.0);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(jobs_end_by_the_clock), handle_test(a_deadline_ends_what_has_no_result),
        handle_test(calls_share_a_limit),   handle_test(no_time_no_claim),
        handle_test(late_is_the_start),     cmocka_unit_test(is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
