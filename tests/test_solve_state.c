/* test_solve_state.c - a solve that is stopped and taken up again ends in the same bits as one that was not. */
#include "check.h"

#include "solver/solver.h"

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
        T = make_task(h, "soft, second order", 400, 7, 7, 0, 4000, "t");
        T.s.K = 1e9, T.s.softness = 1e4,
        T.s.gap = 1e-9; /* some rounds of it, and a state of each */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(from_every_round),
        handle_test(from_a_limit),
        handle_test(refuses_others),
        handle_test(survives_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
