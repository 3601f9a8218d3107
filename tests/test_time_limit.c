/* test_time_limit.c - the setting time-limit: whatever is asked, it ends in time with the best so far and says so. */
#include "check.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "baselines/lmnn.h"
#include "neighbors/internal.h"
#include "train/plan.h"

/* ---- measuring ------------------------------------------------------------------------------------------ */

/* A machine that is so many times as slow as this one: to a program whose clocks run faster, all that it does takes longer. This one
 * stands before that of the C library. */
static double slower = 1.0;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (syscall(SYS_clock_gettime, clock, t) != 0) return -1;
    if (slower == 1.0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_PROCESS_CPUTIME_ID)) return 0;
    double seconds = slower * ((double)t->tv_sec + 1e-9 * (double)t->tv_nsec);
    t->tv_sec = (time_t)seconds;
    t->tv_nsec = (long)(1e9 * (seconds - (double)t->tv_sec));
    return 0;
}

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
     9000,
     {{"rule", "class"}, {"distortion", "1e4"}, {"loss", "hinge"}, {"gap", "1e-9"}},
     train,
     "\"stopped_by\": \"time\""},
    {"hard margins by the paper's algorithm",
     "data/wine.csv",
     0,
     {{"solver", "mwu-cone"}, {"scale", "zscore"}, {"delta", "1e-4"}},
     train,
     "\"stopped_by\": \"time\""},
    {"low rank",
     NULL,
     8000,
     {{"rank", "20"}, {"distortion", "10"}, {"rule", "class"}, {"loss", "hinge"}, {"gap", "1e-9"}},
     train,
     "\"stopped_by\": \"time\""},
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
    print_message("%-38s %.1fx slower, limit %g: %.2f s, %+.2f s beyond: %s\n", p->name, slower,
                  limit, wall, fmax(over, 0.0), bdml_status_text(status));
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
static void keep_limits(void)
{
    enum { TRIES = 3 };
    static const double limits[] = {0.7, 2.0};
    for (size_t k = 0; k < 2 * sizeof problems / sizeof *problems; k++) {
        double limit = limits[k % 2], allowed = fmax(0.1 * limit, 0.2), over = INFINITY;
        for (int i = 0; i < TRIES && over > allowed; i++) over = overrun(&problems[k / 2], limit);
        if (over > allowed)
            fail_msg("%s: %.2f s beyond in each of %d runs", problems[k / 2].name, over, TRIES);
    }
}

static void is_kept(void **state)
{
    (void)state;
    keep_limits();
}

/* Seconds that some work takes here, the least of a few; SLOW: on a machine that is slow, a third as fast as a Zen 5 of 2025. */
static const double SLOW = 0.1;

static double own_speed(bdml_handle *h)
{
    double least = INFINITY;
    for (int i = 0; i < 5; i++) {
        bdml_dataset *data;
        double began = processor();
        check_ok(h, bdml_generate(h, "waveform-noise", 20000, &data));
        least = fmin(least, processor() - began);
        bdml_free_dataset(data);
    }
    return least;
}

/* What cannot be cut short is longer there. A machine that is no faster has shown it already. */
static void is_kept_where_all_is_slower(void **state)
{
    double took = own_speed(*state);
    print_message("the measure takes %.3f s here\n", took);
    if (took >= SLOW) return;
    slower = SLOW / took;
    keep_limits();
    slower = 1.0;
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
    /* where they are all or nothing, it is the clock that is blamed, and not the user */
    jobs = (bdml_jobs){.what = "work", .total = 3, .count = 3, .workers = 2, .run = wait_for_stop};
    h->deadline = h->stop_by = bdml_now() + 0.3;
    check_fails(h, bdml_jobs_run(h, &jobs), BDML_ERR_CANCELLED,
                "the time limit is over, during: work");
    h->deadline = h->stop_by = 0.0;
}

/* ---- what cannot be cut short -------------------------------------------------------------------------------- */

/* Looks ahead from a job within a job. */
static bdml_status look_ahead(bdml_handle *own, void *user, int64_t job)
{
    const double *seconds = user;
    if (!bdml_jobs_limited(own)) return bdml_fail(own, BDML_ERR_DATA, "no limit is seen");
    return job == 0 ? BDML_OK : bdml_jobs_ahead(own, "work ahead", *seconds);
}

static bdml_status look_within(bdml_handle *own, void *user, int64_t job)
{
    (void)job;
    bdml_jobs inner = {.what = "inner", .count = 2, .workers = 1, .run = look_ahead, .user = user};
    return bdml_jobs_run(own, &inner);
}

/* Jobs do not begin what would end after their time: the clock ends them, not the user. */
static void jobs_look_ahead(void **state)
{
    bdml_handle *h = *state;
    double seconds = 1000.0;
    bdml_status (*const run[])(bdml_handle *, void *, int64_t) = {look_ahead, look_within};
    for (int k = 0; k < 2; k++) {
        bool finished[2] = {false}, late = false;
        bdml_jobs jobs = {.what = "outer",
                          .count = 2,
                          .workers = 1,
                          .run = run[k],
                          .user = &seconds,
                          .until = bdml_now() + 500.0,
                          .finished = finished,
                          .late = &late};
        check_ok(h, bdml_jobs_run(h, &jobs));
        check_true(late && finished[0] == (k == 0) && !finished[1]);
        jobs.until = bdml_now() + 5000.0;
        late = false;
        check_ok(h, bdml_jobs_run(h, &jobs));
        check_true(!late && finished[0] && finished[1]);
        jobs.until = 0.0;
        h->deadline = h->stop_by = bdml_now() + 500.0;
        check_fails(h, bdml_jobs_run(h, &jobs), BDML_ERR_CANCELLED,
                    "the time limit is over, during: outer");
        h->deadline = h->stop_by = 0.0;
    }
    check_true(!bdml_jobs_limited(h));
    check_ok(h, bdml_jobs_ahead(h, "work ahead", 1e9));
}

/* An eigenproblem that takes a second is not begun a tenth before the end, and done where there is time or no limit. */
static void no_eigenproblem_without_time(void **state)
{
    enum { D = 1000 };
    bdml_handle *h = *state;
    bdml_eigh_ws ws;
    double *a = malloc(sizeof *a * D * D), lambda[D];
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_eigh_ws_init(h, D, &ws));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < D * D; i++) a[i] = i % (D + 1) == 0 ? i : 0.0;
        h->eigen_pace = round < 2 ? 1e-9 : h->eigen_pace; /* a second; and as measured */
        h->deadline = h->stop_by = round == 0 ? bdml_now() + 0.1 : bdml_now() + 1000.0;
        if (round == 0)
            check_fails(h, bdml_la_eigh(h, D, a, lambda, true, &ws), BDML_ERR_CANCELLED,
                        "the time limit is over, during: eigenvalues");
        else
            check_ok(h, bdml_la_eigh(h, D, a, lambda, true, &ws));
        check_true(round == 0 || lambda[D - 1] == D * D - 1);
        check_true(round == 0 || h->eigen_pace != 1e-9);
    }
    h->eigen_pace = 0.0;
    check_ok(h, bdml_la_eigh(h, D, a, lambda, false, &ws));
    check_true(h->eigen_pace > 0.0 && h->eigen_pace < 1e-6);
    h->deadline = h->stop_by = 0.0;
    bdml_eigh_ws_free(&ws);
    bdml_la_leave(h);
    free(a);
}

/* The clock ends a search: as it begins, or when its last tile does. */
typedef struct ending {
    bdml_handle *h;
    bool at_last;
} ending;

static int end_search(void *user, const char *what, int64_t done, int64_t total)
{
    const ending *e = user;
    e->h->progress_last = 0.0; /* to be asked each time */
    if (strcmp(what, "neighbors") == 0 && (!e->at_last || (total > 1 && done == total - 1)))
        e->h->deadline = bdml_now();
    return 0;
}

/* Neither the building of a tree nor the choice of the nearest among candidates goes on to its end. */
static void searches_end_by_the_clock(void **state)
{
    enum { N = 20000, K = 3 };
    bdml_handle *h = *state;
    bdml_dataset *data;
    ending e = {.h = h};
    int32_t *index = malloc(sizeof *index * N * K);
    check_ok(h, bdml_generate(h, "waveform", N, &data));
    check_ok(h, bdml_set(h, "threads", "1"));
    for (int brute = 0; brute < 2; brute++) {
        const bdml_rows rows = {.n = brute ? 300 : N, .d = data->d, .ld = data->d, .x = data->x};
        bdml_index *in;
        for (int64_t i = 0; i < rows.n * K; i++) index[i] = -7;
        e.at_last = brute;
        check_ok(h, bdml_set(h, "search", brute ? "brute" : "tree"));
        check_ok(h, bdml_index_build(h, &h->options.neighbors, &rows, &in));
        bdml_set_progress(h, end_search, &e);
        check_fails(h, bdml_index_query(h, in, NULL, BDML_ANY_CLASS, K, index, NULL),
                    BDML_ERR_CANCELLED, "the time limit is over, during: neighbors");
        bdml_set_progress(h, NULL, NULL);
        h->deadline = 0.0;
        check_true(!in->tree);
        for (int64_t i = 0; i < rows.n * K; i++) assert_int_equal(index[i], -7);
        check_ok(h, bdml_index_query(h, in, NULL, BDML_ANY_CLASS, K, index, NULL));
        for (int64_t i = 0; i < rows.n * K; i++) check_true(index[i] >= 0);
        bdml_index_free(in);
    }
    bdml_free_dataset(data);
    free(index);
}

/* The clock ends as soon as the engine begins. */
static void end_with_engine(void *user, bdml_log_level level, const char *line)
{
    bdml_handle *h = user;
    if (level == BDML_LOG_TABLE && strstr(line, "certified solver"))
        h->deadline = h->stop_by = bdml_now();
}

/* Solvers that come after one that took all the time do not begin: each of their rounds may take long. */
static void solvers_without_time_do_not_begin(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    char *text;
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "time-limit", "1000"));
    bdml_set_log(h, end_with_engine, h);
    check_ok(h, bdml_compare_solvers(h, data, &text));
    bdml_set_log(h, NULL, NULL);
    json_t *result = json_loads(text, 0, NULL), *o;
    json_t *solvers = json_object_get(result, "solvers");
    size_t i;
    check_true(json_array_size(solvers) == 4);
    json_array_foreach(solvers, i, o) if (i > 0)
    {
        assert_int_equal(json_integer_value(json_object_get(o, "rounds")), 0);
        assert_string_equal(json_string_value(json_object_get(o, "outcome")), "no metric");
        check_true(json_is_null(json_object_get(o, "lower")));
        check_true(json_is_null(json_object_get(o, "L")));
        check_true(json_is_null(json_object_get(o, "U")));
    }
    json_decref(result);
    free(text);
    bdml_free_dataset(data);
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
                check_close(model->l[i * data->d + j], i == j ? 1.0 : 0.0, 0.0);
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* ---- lmnn: what a round takes, and what time left of a pass -------------------------------------------------- */

/* What a callback does to a training: a solve that takes longer to begin, and a deadline. */
typedef struct course {
    bdml_handle *h;
    int solves, rounds; /* begun */
    double pause;       /* before the first step of the first solve */
    int pass;           /* in whose first round the deadline is set, */
    double left;        /* so many seconds on */
} course;

static void slow_start(void *user, bdml_log_level level, const char *line)
{
    course *c = user;
    if (level != BDML_LOG_TABLE || !strstr(line, "certified solver")) return;
    struct timespec pause = {(time_t)0, (long)(1e9 * c->pause)};
    if (c->solves++ == 0) nanosleep(&pause, NULL);
}

static int set_deadline(void *user, const char *what, int64_t done, int64_t total)
{
    course *c = user;
    (void)total;
    if (strcmp(what, "lmnn") != 0 || done != 0) return 0;
    if (++c->rounds == c->pass) c->h->stop_by = c->h->deadline = bdml_now() + c->left;
    return 0;
}

static bdml_model *lmnn_under(bdml_handle *h, const bdml_dataset *data, course *c)
{
    bdml_model *model;
    bdml_prepare plain = {.d_in = data->d,
                          .d_out = data->d,
                          .scale = BDML_SCALE_NONE,
                          .variance = 1.0};
    const bdml_training t = {
        .n = data->n, .d = data->d, .x = data->x, .y = data->y, .classes = data->classes};
    c->h = h;
    check_ok(h, bdml_model_new(h, data, &plain, data->d, &model));
    bdml_set_log(h, slow_start, c);
    bdml_set_progress(h, set_deadline, c);
    check_ok(h, bdml_fit_lmnn(h, &h->options, &t, model));
    bdml_set_log(h, NULL, NULL);
    bdml_set_progress(h, NULL, NULL);
    return model;
}

static bool converged(const bdml_model *model)
{
    return json_is_true(json_object_get(json_object_get(model->info, "stopping"), "converged"));
}

/* No round begins that could not be stopped in time: the first took half a second before its first step, so one that is stopped there
 * would take a whole one, and 0.9 are left. */
static void no_round_without_time(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    course c = {.pause = 0.5, .left = 0.9, .pass = 1};
    check_ok(h, bdml_generate(h, "waveform-noise", 400, &data));
    check_ok(h, bdml_set(h, "gap", "1e-9"));
    bdml_model *model = lmnn_under(h, data, &c);
    assert_int_equal(c.solves, 1);
    check_true(bdml_time_is_up(h) && !converged(model));
    h->stop_by = h->deadline = 0.0;
    bdml_free_model(model);
    c = (course){.pass = -1};
    model = lmnn_under(h, data, &c);
    check_true(c.solves > 1 && converged(model));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Where the second pass has no time for its first look, the first one's metric stands. */
static void a_pass_cut_short_leaves_the_one_before(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    course c = {.pass = -1};
    check_ok(h, bdml_generate(h, "waveform-noise", 400, &data));
    check_ok(h, bdml_set(h, "passes", "1"));
    bdml_model *one = lmnn_under(h, data, &c);
    check_ok(h, bdml_set(h, "passes", "2"));
    c = (course){.pass = -1};
    bdml_model *two = lmnn_under(h, data, &c);
    c = (course){.pass = 2, .left = -1.0};
    bdml_model *cut = lmnn_under(h, data, &c);
    check_true(bdml_time_is_up(h));
    h->stop_by = h->deadline = 0.0;
    size_t size = sizeof *one->l * (size_t)one->q * (size_t)one->d;
    assert_int_equal(one->q, cut->q);
    assert_memory_equal(one->l, cut->l, size);
    check_true(one->q != two->q || memcmp(one->l, two->l, size) != 0);
    check_true(
        json_equal(json_object_get(one->info, "stopping"), json_object_get(cut->info, "stopping")));
    bdml_free_model(one);
    bdml_free_model(two);
    bdml_free_model(cut);
    bdml_free_dataset(data);
}

static int end_epochs(void *user, const char *what, int64_t done, int64_t total)
{
    bdml_handle *h = user;
    (void)total;
    h->progress_last = 0.0; /* every call comes through */
    if (strcmp(what, "scml") == 0 && done == 2) h->stop_by = bdml_now();
    return 0;
}

/* scml stops between two epochs with the weights that it has. */
static void epochs_end_by_the_clock(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model;
    check_ok(h, bdml_generate(h, "waveform-noise", 400, &data));
    check_ok(h, bdml_set(h, "method", "scml"));
    check_ok(h, bdml_set(h, "gap", "1e-9"));
    check_ok(h, bdml_set(h, "scml-epochs", "50"));
    check_ok(h, bdml_set(h, "time-limit", "1000"));
    bdml_set_progress(h, end_epochs, h);
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_set_progress(h, NULL, NULL);
    const json_t *o = json_object_get(model->info, "stopping");
    int64_t epochs = json_integer_value(json_object_get(o, "iterations"));
    check_true(epochs >= 2 && epochs <= 3 && !converged(model));
    check_true(json_number_value(json_object_get(o, "objective")) < 1.0); /* that of no weights */
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static int end_turns(void *user, const char *what, int64_t done, int64_t total)
{
    bdml_handle *h = user;
    (void)done, (void)total;
    if (strcmp(what, "alternate") == 0) h->deadline = h->stop_by = bdml_now();
    return 0;
}

/* Without time for the bound over every Q a map of low rank is what it was found to be, and says no bound. */
static void no_bound_without_time(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    check_ok(h, bdml_set(h, "rank", "2"));
    check_ok(h, bdml_set(h, "rule", "class"));
    check_ok(h, bdml_set(h, "threads", "1"));
    for (int cut = 0; cut < 2; cut++) {
        bdml_model *model;
        bdml_set_progress(h, cut ? end_turns : NULL, h);
        check_ok(h, bdml_train(h, data, NULL, &model));
        const json_t *o = json_object_get(model->info, "low_rank");
        check_true(json_is_number(json_object_get(o, "achieved")));
        assert_int_equal(json_is_number(json_object_get(o, "joint_lower")), !cut);
        bdml_free_model(model);
    }
    bdml_set_progress(h, NULL, NULL);
    bdml_free_dataset(data);
}

/* What would take longer than is left counts as time that is up, and nothing else does. */
static void short_of_time(void **state)
{
    bdml_handle *h = *state;
    check_true(!bdml_time_is_short(h, 1e9));
    check_true(bdml_deadline_allows(h, 1e9));
    check_ok(h, bdml_deadline_ahead(h, "work", 1e9));
    h->deadline = h->stop_by = bdml_now() + 1000.0;
    check_true(!bdml_time_is_short(h, 1.0) && !bdml_time_is_up(h));
    check_ok(h, bdml_deadline_ahead(h, "work", 1.0));
    check_true(!bdml_time_is_up(h) && bdml_time_is_short(h, 1001.0) && bdml_time_is_up(h));
    h->stop_by = h->deadline;
    check_true(bdml_deadline_allows(h, 1.0) && !bdml_deadline_allows(h, 1001.0));
    check_fails(h, bdml_deadline_ahead(h, "work", 1001.0), BDML_ERR_CANCELLED,
                "the time limit is over, during: work");
    check_true(bdml_time_is_up(h) && bdml_now() < h->deadline);
    h->stop_by = h->deadline = 0.0;
}

/* A look that ends when time is up lists nothing: nothing would be done with it. */
static void no_list_without_time(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_constraints *c, *missed, *none;
    double value[2];
    check_ok(h, bdml_generate(h, "waveform-noise", 200, &data));
    bdml_lmnn a = {.n = data->n, .d = data->d, .k = 3, .x = data->x, .y = data->y, .push = 1.0};
    double *map = calloc((size_t)a.d * (size_t)a.d, sizeof *map);
    for (int i = 0; i < a.d; i++) map[i * a.d + i] = 1e-3;
    check_ok(h, bdml_lmnn_targets(h, &h->options.neighbors, 0, NULL, &a));
    check_ok(h, bdml_lmnn_first(h, &h->options.neighbors, &a, 1, &c));
    check_ok(h, bdml_lmnn_missed(h, &a, a.d, map, 5, c, 1000, 1 << 20, 0.0, value, &missed));
    h->stop_by = bdml_now();
    check_ok(h, bdml_lmnn_missed(h, &a, a.d, map, 5, c, 1000, 1 << 20, 0.0, value + 1, &none));
    h->stop_by = 0.0;
    assert_non_null(missed);
    assert_null(none);
    check_close(value[0], value[1], 0.0);
    bdml_free_constraints(c);
    bdml_free_constraints(missed);
    bdml_lmnn_free(&a);
    free(map);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(jobs_end_by_the_clock),
        handle_test(jobs_look_ahead),
        handle_test(no_eigenproblem_without_time),
        handle_test(searches_end_by_the_clock),
        handle_test(solvers_without_time_do_not_begin),
        handle_test(a_deadline_ends_what_has_no_result),
        handle_test(calls_share_a_limit),
        handle_test(no_time_no_claim),
        handle_test(late_is_the_start),
        cmocka_unit_test(is_kept),
        handle_test(is_kept_where_all_is_slower),
        handle_test(no_round_without_time),
        handle_test(a_pass_cut_short_leaves_the_one_before),
        handle_test(epochs_end_by_the_clock),
        handle_test(no_bound_without_time),
        handle_test(short_of_time),
        handle_test(no_list_without_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
