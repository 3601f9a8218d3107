/* test_checkpoint.c - a solve, or a training, that is stopped and taken up again ends in the same
 * bits as one that was not. */
#include "check.h"

#include <sys/stat.h>

#include "model/evidence.h"
#include "solver/solver.h"
#include "train/train.h"

/* ---- problems ------------------------------------------------------------------------------- */

typedef struct task {
    const char *name;
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
    bool diagonal;
    bdml_solve_settings s;
    double *warm; /* multipliers, or NULL */
} task;

static void task_free(task *T)
{
    free(T->x);
    free(T->warm);
    bdml_free_constraints(T->c);
}

/* Two noisy classes; span < d: the last columns are sums of the others, `blur` off. */
static task make_task(bdml_handle *h, const char *name, int64_t n, int d, int span, double blur,
                      int m, const char *kind)
{
    task T = {.name = name, .n = n, .d = d, .s = bdml_solve_defaults()};
    bdml_rng r = bdml_rng_make(7, 3);
    T.x = calloc((size_t)(n * d), sizeof *T.x);
    int32_t *target = calloc((size_t)(2 * m), sizeof *target),
            *rows = calloc((size_t)(3 * m), sizeof *rows);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) {
            double *x = T.x + i * d;
            x[j] = bdml_rng_normal(&r) * (j + 1) + (j == 0 ? (i % 2 ? 2.0 : -2.0) : 0.0);
            if (j >= span) x[j] = x[j - span] + x[(j + 1) % span] + blur * bdml_rng_normal(&r);
        }
    for (int t = 0; t < m; t++) {
        int32_t i = (int32_t)bdml_rng_below(&r, (uint64_t)n), j, k;
        do j = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while (j == i || (i + j) % 2);
        do k = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while ((i + k) % 2 == 0);
        target[2 * t] = i, target[2 * t + 1] = j;
        rows[3 * t] = i, rows[3 * t + 1] = kind[0] == 'p' ? -1 : j, rows[3 * t + 2] = k;
    }
    check_ok(h, bdml_constraints_build(h, n, m, target, m, rows, NULL, NULL, &T.c));
    free(target);
    free(rows);
    return T;
}

enum { TASKS = 15 };

static task make_kind(bdml_handle *h, int kind)
{
    task T;
    switch (kind) {
    case 0:
        T = make_task(h, "soft", 60, 8, 8, 0, 300, "t");
        T.s.K = 100, T.s.softness = 50, T.s.gap = 1e-6;
        break;
    case 1:
        T = make_task(h, "hinge", 40, 5, 5, 0, 120, "t");
        T.s.loss = BDML_LOSS_HINGE, T.s.gap = 1e-5;
        break;
    case 2:
        T = make_task(h, "hard", 40, 6, 6, 0, 60, "p");
        T.s.hard = true, T.s.K = 20, T.s.gap = 1e-6;
        break;
    case 3:
        T = make_task(h, "hard, trace at its bound", 40, 6, 6, 0, 60, "p");
        T.s.hard = true, T.s.K = 20, T.s.gap = 1e-5, T.s.trace = 0.15;
        break;
    case 4:
        T = make_task(h, "infeasible", 60, 5, 5, 0, 150, "t");
        T.s.hard = true, T.s.trace = 1e5;
        break;
    case 5:
        T = make_task(h, "diagonal", 60, 6, 6, 0, 200, "t");
        T.diagonal = true, T.s.softness = 50, T.s.K = 100, T.s.gap = 1e-7;
        break;
    case 6:
        T = make_task(h, "reduced", 40, 9, 5, 0, 100, "p");
        T.s.hard = true, T.s.K = 20, T.s.gap = 1e-6;
        break;
    case 7:
        T = make_task(h, "infeasible, no trace bound", 60, 5, 5, 0, 150, "t");
        T.s.hard = true;
        break;
    case 8:
        T = make_task(h, "soft, reduced, then whole", 60, 9, 5, 2e-5, 200, "t");
        T.s.K = 100, T.s.softness = 50, T.s.gap = 1e-8;
        break;
    case 9:
        T = make_task(h, "hard triplets", 200, 12, 12, 0, 40, "t");
        T.s.hard = true, T.s.K = 50, T.s.gap = 1e-7;
        break;
    case 10:
        T = make_task(h, "fixed trace", 40, 6, 6, 0, 60, "p");
        T.s.hard = true, T.s.set = BDML_SET_PSD_SIMPLEX, T.s.trace = 0.1, T.s.gap = 1e-6;
        break;
    case 11:
        T = make_task(h, "trace too small", 40, 6, 6, 0, 60, "p");
        T.s.hard = true, T.s.K = 20, T.s.gap = 1e-6, T.s.trace = 0.1;
        break;
    case 12:
        T = make_task(h, "warm multipliers", 60, 8, 8, 0, 120, "p");
        T.s.hard = true, T.s.K = 50, T.s.gap = 1e-8;
        T.warm = calloc((size_t)T.c->m, sizeof *T.warm);
        for (int64_t t = 0; t < T.c->m; t++) T.warm[t] = t % 3 ? 0.0 : 0.05;
        T.s.warm_multiplier = T.warm;
        break;
    case 13:
        T = make_task(h, "soft, second order", 300, 6, 6, 0, 3000, "t");
        T.s.K = 1e4, T.s.softness = 50, T.s.gap = 1e-9;
        break;
    default:
        T = make_task(h, "reduced, then whole", 40, 9, 5, 2e-5, 100, "p");
        T.s.hard = true, T.s.K = 20, T.s.gap = 1e-7;
    }
    return T;
}

/* ---- a saver --------------------------------------------------------------------------------- */

typedef struct saver {
    bdml_solve_state last;
    int saves;
    int only; /* keep that of this save; 0: the last */
} saver;

static bdml_status take(void *user, const bdml_solve_state *state)
{
    saver *S = user;
    S->saves++;
    if (S->only > 0 && S->only != S->saves) return BDML_OK;
    free(S->last.number);
    S->last.count = state->count;
    S->last.number = malloc(sizeof *state->number * (size_t)state->count);
    memcpy(S->last.number, state->number, sizeof *state->number * (size_t)state->count);
    return BDML_OK;
}

static int cancel(void *user, const char *what, int64_t done, int64_t total)
{
    (void)user, (void)what, (void)done, (void)total;
    return 1;
}

static void solve(bdml_handle *h, const task *T, const bdml_solve_settings *s, bdml_solve_result *r)
{
    bdml_problem *p;
    check_ok(h, bdml_problem_new(h, T->n, T->d, T->x, T->d, T->c, NULL, T->diagonal, &p));
    check_ok(h, bdml_problem_solve(h, p, s, r));
    bdml_problem_free(p);
}

static void same_number(const char *name, const char *what, double a, double b)
{
    if (memcmp(&a, &b, sizeof a) != 0) fail_msg("%s: %s is %.17g, was %.17g", name, what, b, a);
}

static void same_result(const task *T, const bdml_solve_result *a, const bdml_solve_result *b)
{
    size_t metric = T->diagonal ? (size_t)T->d : (size_t)T->d * (size_t)T->d;
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->stop, b->stop);
    if (a->iterations != b->iterations)
        fail_msg("%s: %lld iterations, were %lld", T->name, (long long)b->iterations,
                 (long long)a->iterations);
    same_number(T->name, "lower", a->lower, b->lower);
    same_number(T->name, "upper", a->upper, b->upper);
    same_number(T->name, "kappa", a->kappa, b->kappa);
    same_number(T->name, "C", a->C, b->C);
    same_number(T->name, "C0", a->C0, b->C0);
    same_number(T->name, "proof_trace", a->proof_trace, b->proof_trace);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->proof, b->proof);
    assert_int_equal(a->contradicting, b->contradicting);
    assert_int_equal(a->m != NULL, b->m != NULL);
    for (size_t i = 0; a->m && i < metric; i++) same_number(T->name, "M", a->m[i], b->m[i]);
    for (int64_t t = 0; t < T->c->m; t++) same_number(T->name, "y", a->y[t], b->y[t]);
    for (int64_t t = 0; t < a->contradicting; t++)
        assert_int_equal(a->important[t], b->important[t]);
}

/* ---- the solver ------------------------------------------------------------------------------ */

/* Keeping the state changes nothing; and from the state of any round the end is the same. */
static void from_every_round(void **state)
{
    bdml_handle *h = *state;
    for (int kind = 0; kind < TASKS; kind++) {
        task T = make_kind(h, kind);
        bdml_solve_result plain, r;
        saver all = {0};
        bdml_solve_settings s = T.s;
        solve(h, &T, &s, &plain);
        s.save = take, s.save_user = &all;
        solve(h, &T, &s, &r);
        same_result(&T, &plain, &r);
        bdml_solve_result_free(&r);
        print_message("%s: outcome %d, trace %.3g, %d rounds, %lld iterations\n", T.name,
                      (int)plain.outcome, plain.trace, all.saves, (long long)plain.iterations);
        check_true(all.saves >= 3); /* something to resume from */
        free(all.last.number);

        for (int k = 1; k <= all.saves; k += 1 + all.saves / 10) {
            saver S = {.only = k};
            s.save = take, s.save_user = &S, s.resume = NULL;
            solve(h, &T, &s, &r);
            bdml_solve_result_free(&r);
            s.save = NULL, s.resume = &S.last;
            solve(h, &T, &s, &r);
            same_result(&T, &plain, &r);
            bdml_solve_result_free(&r);
            free(S.last.number);
        }
        /* the user stops it at once */
        saver S = {0};
        s.save = take, s.save_user = &S, s.save_every = 1e9, s.resume = NULL;
        bdml_set_progress(h, cancel, NULL);
        h->progress_last = -INFINITY;
        solve(h, &T, &s, &r);
        bdml_set_progress(h, NULL, NULL);
        assert_int_equal(S.saves, 1);
        bdml_solve_result_free(&r);
        s.save = NULL, s.resume = &S.last;
        solve(h, &T, &s, &r);
        same_result(&T, &plain, &r);
        bdml_solve_result_free(&r);
        free(S.last.number);
        bdml_solve_result_free(&plain);
        task_free(&T);
    }
}

/* Stopped by max-iter in the middle of a round, also twice, and gone on with more. */
static void from_a_limit(void **state)
{
    bdml_handle *h = *state;
    for (int kind = 0; kind < TASKS; kind++) {
        task T = make_kind(h, kind);
        bdml_solve_result plain, r;
        solve(h, &T, &T.s, &plain);
        for (int part = 1; part < 4; part++) {
            saver S = {0}, U = {0};
            bdml_solve_settings s = T.s;
            s.save = take, s.save_user = &S, s.save_every = 1e9;
            s.max_iter = BDML_MAX(plain.iterations * part / 4, 2);
            solve(h, &T, &s, &r);
            bdml_solve_result_free(&r);
            if (S.saves == 0) continue; /* the limit came after the last round */
            assert_int_equal(S.saves, 1);
            s.resume = &S.last, s.save_user = &U;
            s.max_iter += (plain.iterations - s.max_iter) / 2;
            solve(h, &T, &s, &r);
            bdml_solve_result_free(&r);
            s.resume = U.saves ? &U.last : &S.last, s.save = NULL, s.max_iter = T.s.max_iter;
            solve(h, &T, &s, &r);
            same_result(&T, &plain, &r);
            bdml_solve_result_free(&r);
            free(S.last.number);
            free(U.last.number);
        }
        bdml_solve_result_free(&plain);
        task_free(&T);
    }
}

/* A state of something else, or a damaged one, is refused with what differs. */
static void refuses_others(void **state)
{
    bdml_handle *h = *state;
    task T = make_kind(h, 0);
    saver S = {0};
    bdml_problem *p, *other;
    bdml_solve_result r;
    bdml_solve_settings s = T.s, t;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p));
    s.save = take, s.save_user = &S, s.max_iter = 40;
    check_ok(h, bdml_problem_solve(h, p, &s, &r));
    bdml_solve_result_free(&r);
    s.save = NULL, s.resume = &S.last;
    t = s, t.K = 30;
    check_fails(h, bdml_problem_solve(h, p, &t, &r), BDML_ERR_ARGUMENT,
                "its distortion is 100, now it is 30");
    t = s, t.gap = 1e-2;
    check_fails(h, bdml_problem_solve(h, p, &t, &r), BDML_ERR_ARGUMENT, "its gap is 1e-06");
    t = s, t.softness = 2;
    check_fails(h, bdml_problem_solve(h, p, &t, &r), BDML_ERR_ARGUMENT, "its softness is 50");
    t = s, t.hard = true;
    check_fails(h, bdml_problem_solve(h, p, &t, &r), BDML_ERR_ARGUMENT, "hard form");
    t = s, t.warm_metric = T.x;
    check_fails(h, bdml_problem_solve(h, p, &t, &r), BDML_ERR_ARGUMENT, "its start differ");

    double was = T.x[3];
    T.x[3] += 1e-9;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &other));
    check_fails(h, bdml_problem_solve(h, other, &s, &r), BDML_ERR_ARGUMENT, "its points differ");
    bdml_problem_free(other);
    T.x[3] = was;
    int32_t far = T.c->far[0];
    T.c->far[0] = T.c->far[1];
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &other));
    check_fails(h, bdml_problem_solve(h, other, &s, &r), BDML_ERR_ARGUMENT,
                "its constraints differ");
    bdml_problem_free(other);
    T.c->far[0] = far;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, true, &other));
    check_fails(h, bdml_problem_solve(h, other, &s, &r), BDML_ERR_ARGUMENT, "diagonal form");
    bdml_problem_free(other);

    S.last.count--;
    check_fails(h, bdml_problem_solve(h, p, &s, &r), BDML_ERR_FORMAT, "damaged");
    S.last.count = 3;
    check_fails(h, bdml_problem_solve(h, p, &s, &r), BDML_ERR_FORMAT, "damaged");
    bdml_problem_free(p);
    free(S.last.number);
    task_free(&T);
}

/* Any number of a state replaced by nonsense: refused, or solved, but never a crash. */
static void survives_nonsense(void **state)
{
    static const double nonsense[] = {NAN, INFINITY, -1.0, 0.0, 0.5, 1e300};
    bdml_handle *h = *state;
    task T = make_task(h, "tiny", 12, 2, 2, 0, 10, "p");
    saver S = {0};
    bdml_problem *p;
    bdml_solve_result r;
    T.s.hard = true, T.s.gap = 1e-6, T.s.max_iter = 12;
    T.s.save = take, T.s.save_user = &S;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p));
    check_ok(h, bdml_problem_solve(h, p, &T.s, &r));
    bdml_solve_result_free(&r);
    check_true(S.saves > 0);
    T.s.save = NULL, T.s.resume = &S.last, T.s.max_iter = 60;
    int refused = 0;
    for (int64_t k = 0; k < S.last.count; k++)
        for (size_t v = 0; v < sizeof nonsense / sizeof *nonsense; v++) {
            double was = S.last.number[k];
            S.last.number[k] = nonsense[v];
            bdml_status status = bdml_problem_solve(h, p, &T.s, &r);
            if (status == BDML_OK) bdml_solve_result_free(&r);
            refused += status == BDML_ERR_FORMAT || status == BDML_ERR_ARGUMENT;
            S.last.number[k] = was;
        }
    check_true(refused > 100);
    check_ok(h, bdml_problem_solve(h, p, &T.s, &r));
    bdml_solve_result_free(&r);
    bdml_problem_free(p);
    free(S.last.number);
    task_free(&T);
}

/* ---- training -------------------------------------------------------------------------------- */

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
        handle_test(from_every_round),         handle_test(from_a_limit),
        handle_test(refuses_others),           handle_test(survives_nonsense),
        handle_test(recipe_goes_on),           handle_test(finished_jobs_are_not_repeated),
        handle_test(single_goes_on),           handle_test(training_refuses_others),
        handle_test(lost_folder_is_a_warning), handle_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
