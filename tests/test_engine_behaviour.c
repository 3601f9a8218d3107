/* test_engine_behaviour.c - the certified solver: proofs, collapse, warm starts, limits, bits and memory. */
#include "engine_toy.h"

#include "solver/engine.h"

/* ---- infeasible ----------------------------------------------------------------------------- */

/* d(0,2) > d(0,1) and d(0,1) > d(0,2) contradict each other for every M; the other triplets do
 * not matter. */
static void contradictions_are_proven_and_named(void **state)
{
    bdml_handle *h = *state;
    toy base = make_toy(h, 21, 12, 3, 3, 12, "t");
    int32_t targets[2] = {0, 2},
            rows[5][3] = {{4, 6, 5}, {0, 1, 2}, {3, 5, 4}, {0, 2, 1}, {6, 8, 7}};
    bdml_constraints *c;
    for (int j = 0; j < 3; j++)
        base.x[1 * 3 + j] = base.x[0 * 3 + j] + (j == 0); /* d(0,1) = M_00 */
    check_ok(h, bdml_constraints_from_arrays(h, 12, 1, targets, 0, NULL, 5, &rows[0][0], &c));
    toy T = {12, 3, base.x, c};
    for (int bounded = 0; bounded < 2; bounded++) {
        bdml_solve_settings s = hard_settings(100, bounded ? 1e4 : INFINITY, 1e-4);
        bdml_solve_result r;
        solve_toy(h, &T, &s, false, &r);
        check_true(r.outcome == BDML_INFEASIBLE && r.proof >= BDML_PROOF_TRACE);
        plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
        check_true(r.contradicting >= 2);
        check_true((r.important[0] == 1 && r.important[1] == 3) ||
                   (r.important[0] == 3 && r.important[1] == 1));
        assert_null(r.m);
        bdml_solve_result_free(&r);
    }
    bdml_free_constraints(c);
    toy_free(&base);
}

/* Two identical points that must be 1 apart. */
static void identical_points_are_a_proof(void **state)
{
    bdml_handle *h = *state;
    double x[6] = {0, 0, 1, 1, 1, 1};
    int32_t targets[2] = {0, 1}, impostors[4] = {0, 2, 1, 2};
    toy T = {.n = 3, .d = 2, .x = x};
    check_ok(h, bdml_constraints_from_arrays(h, 3, 1, targets, 2, impostors, 0, NULL, &T.c));
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-4);
    bdml_solve_result r;
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_INFEASIBLE && r.proof == BDML_PROOF_CONE);
    assert_int_equal(r.contradicting, 1);
    assert_int_equal(r.important[0], 1);
    bdml_solve_result_free(&r);
    bdml_free_constraints(T.c);
}

/* ---- collapse ------------------------------------------------------------------------------- */

static void collapse_is_at_the_threshold(void **state)
{
    bdml_handle *h = *state;
    for (int loss = 0; loss < 2; loss++)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            toy T = make_toy(h, 31, 40, 5, 5, 70, "tw");
            bdml_solve_settings s = bdml_solve_defaults();
            s.loss = (bdml_loss)loss;
            s.gap = 1e-6;
            bdml_solve_result r;
            s.softness = 0.999;
            solve_toy(h, &T, &s, diagonal, &r);
            check_true(r.outcome == BDML_OPTIMAL && r.collapsed && r.trace == 0.0);
            double C0 = r.C0;
            bdml_solve_result_free(&r);
            s.softness = 1.01;
            solve_toy(h, &T, &s, diagonal, &r);
            check_true(r.outcome == BDML_OPTIMAL && !r.collapsed && r.trace > 0.0);
            check_true(r.C0 == C0);
            plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
            bdml_solve_result_free(&r);
            toy_free(&T);
        }
}

/* A weight that is given does not need the threshold: without it the same metric, to the bit, from the identity, from the
 * direction of C0 where the identity collapses (impostors nearer than targets), and from a warm start. */
static void threshold_is_not_needed(void **state)
{
    bdml_handle *h = *state;
    double x[] = {0, 0, 3, 0, 0, 1}; /* d(0,1) = 9 M_00, d(0,2) = M_11 */
    int32_t row[2][3] = {{0, 2, 1}, {0, 1, 2}}, target[2][2] = {{0, 2}, {0, 1}};
    for (int collapses = 0; collapses < 2; collapses++) {
        toy T = {.n = 3, .d = 2, .x = x};
        check_ok(h, bdml_constraints_from_arrays(h, 3, 1, target[collapses], 0, NULL, 1,
                                                 row[collapses], &T.c));
        bdml_solve_settings s = bdml_solve_defaults();
        bdml_solve_result first, r[2];
        s.K = 100;
        s.softness = 1000; /* beyond the threshold along the identity, where there is one */
        solve_toy(h, &T, &s, false, &first);
        s.C = first.C;
        for (int warm = 0; warm < 2; warm++) {
            s.warm_metric = warm ? first.m : NULL;
            for (int skip = 0; skip < 2; skip++) {
                s.skip_threshold = skip;
                solve_toy(h, &T, &s, false, &r[skip]);
                check_true(r[skip].outcome == BDML_OPTIMAL && !r[skip].collapsed);
            }
            check_true(r[0].C0 == first.C0 && isnan(r[1].C0) == (warm || !collapses));
            assert_memory_equal(r[0].m, r[1].m, sizeof *r[0].m * (size_t)(T.d * T.d));
            check_true(r[0].iterations == r[1].iterations);
            bdml_solve_result_free(&r[0]);
            bdml_solve_result_free(&r[1]);
        }
        bdml_solve_result_free(&first);
        bdml_free_constraints(T.c);
    }
}

/* ---- scaling -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Eq. 12: the median of b is 1 (soft), or the geometric mean of median and largest is (hard). */
static void typical_margin_is_one(void **state)
{
    bdml_handle *h = *state;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hard = 0; hard < 2; hard++) {
            toy T = make_toy(h, 400 + seed, 40, 4, 4, 51 + (int)seed, seed % 2 ? "mw" : "p");
            bdml_solve_settings s = bdml_solve_defaults();
            bdml_problem *p;
            bdml_engine e;
            s.hard = hard;
            check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p));
            check_ok(h, bdml_engine_init(&e, h, p, &s));
            bdml_scale(&e.scaled, bdml_problem_operator(p), &s, e.dual.y_try);
            double *b = e.scaled.terms.b;
            int64_t m = e.scaled.terms.space.count;
            qsort(b, (size_t)m, sizeof *b, ascending);
            double median = b[m / 2], largest = b[m - 1];
            check_close(hard ? sqrt(median * largest) : median, 1.0, 1e-14);
            bdml_engine_free(&e);
            bdml_problem_free(p);
            toy_free(&T);
        }
}

/* ---- behaviour ------------------------------------------------------------------------------ */

static void warm_start_is_shorter(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 51, 80, 8, 8, 150, "p");
    bdml_problem *p;
    bdml_solve_result cold, warm;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p));
    for (int soft = 0; soft < 2; soft++) {
        bdml_solve_settings s = hard_settings(10, INFINITY, 1e-5);
        s.hard = !soft;
        check_ok(h, bdml_problem_solve(h, p, &s, &cold));
        s.warm_metric = cold.m;
        s.warm_multiplier = cold.y;
        check_ok(h, bdml_problem_solve(h, p, &s, &warm));
        check_true(warm.iterations <= cold.iterations / 4 + 1);
        check_true(warm.outcome == BDML_OPTIMAL);
        bdml_solve_result_free(&warm);
        s.K = 12; /* a neighbour on a path over K */
        s.warm_metric = s.warm_multiplier = NULL;
        bdml_solve_result other;
        check_ok(h, bdml_problem_solve(h, p, &s, &other));
        s.warm_metric = cold.m;
        s.warm_multiplier = cold.y;
        check_ok(h, bdml_problem_solve(h, p, &s, &warm));
        check_true(warm.outcome == BDML_OPTIMAL && warm.iterations <= other.iterations);
        check_true(warm.lower <= other.upper && other.lower <= warm.upper);
        bdml_solve_result_free(&other);
        bdml_solve_result_free(&cold);
        bdml_solve_result_free(&warm);
    }
    bdml_problem_free(p);
    toy_free(&T);
}

/* A bracket of a rough solve holds the optimum as a fine one gives it. */
static void brackets_are_nested(void **state)
{
    bdml_handle *h = *state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        toy T = make_toy(h, 300 + seed, 40, 5, 5, 60, seed % 2 ? "mw" : "p");
        bdml_solve_settings s = hard_settings(seed % 3 ? 8.0 : 1e3, INFINITY, 1e-10);
        s.hard = seed % 4 < 2;
        s.loss = seed % 8 < 4 ? BDML_LOSS_HINGE : BDML_LOSS_SQUARED_HINGE;
        bdml_solve_result fine, rough;
        solve_toy(h, &T, &s, false, &fine);
        for (s.gap = 0.3; s.gap > 1e-5 && fine.outcome != BDML_INFEASIBLE; s.gap /= 10) {
            solve_toy(h, &T, &s, false, &rough);
            double size = 1e-11 * fabs(fine.upper);
            check_true(rough.lower <= fine.upper + size && rough.upper >= fine.lower - size);
            bdml_solve_result_free(&rough);
        }
        bdml_solve_result_free(&fine);
        toy_free(&T);
    }
}

/* Points in other units and far from the origin give the same objective, in a span too. */
static void units_and_origin_do_not_matter(void **state)
{
    bdml_handle *h = *state;
    static const double unit[] = {1e-6, 1e5}, origin[] = {3e-4, -2e7};
    for (int span = 3; span <= 5; span += 2) {
        toy T = make_toy(h, 41, 40, 5, span, 60, "p");
        bdml_solve_settings s = hard_settings(10, INFINITY, 1e-8);
        bdml_solve_result r, other;
        solve_toy(h, &T, &s, false, &r);
        double *x = T.x;
        T.x = calloc((size_t)(T.n * T.d), sizeof *x);
        for (int k = 0; k < 2; k++) {
            for (int64_t i = 0; i < T.n * T.d; i++) T.x[i] = unit[k] * x[i] + origin[k];
            solve_toy(h, &T, &s, false, &other);
            assert_int_equal(other.rank, span);
            check_close(other.upper, r.upper, 1e-7 * r.upper);
            check_close(other.trace * unit[k] * unit[k], r.trace, 1e-3 * r.trace);
            bdml_solve_result_free(&other);
        }
        free(x);
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

static void bits_do_not_depend_on_threads(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 61, 600, 20, 20, 3000, "p");
    for (int hard = 0; hard < 2; hard++) {
        bdml_solve_settings s = bdml_solve_defaults();
        s.hard = hard;
        s.gap = 1e-7; /* so that Newton's rounds are seen too */
        s.max_iter = 400;
        bdml_solve_result r[3];
        static const char *const threads[] = {"1", "2", "5"};
        for (int k = 0; k < 3; k++) {
            check_ok(h, bdml_set(h, "threads", threads[k]));
            solve_toy(h, &T, &s, false, &r[k]);
            check_true((r[k].m == NULL) == (r[0].m == NULL));
            if (r[k].m) assert_memory_equal(r[k].m, r[0].m, sizeof(double) * 400);
            assert_memory_equal(r[k].y, r[0].y, sizeof(double) * (size_t)T.c->m);
        }
        for (int k = 0; k < 3; k++) bdml_solve_result_free(&r[k]);
    }
    toy_free(&T);
}

typedef struct watch {
    bdml_handle *h;
    int64_t first, last; /* allocations at the first and the last row */
    int rows, calls, stop_at;
} watch;

static void watch_log(void *user, bdml_log_level level, const char *line)
{
    watch *w = user;
    if (level != BDML_LOG_TABLE || !strstr(line, "s") || line[0] != ' ' ||
        !strchr("0123456789", line[5]))
        return;
    check_true(strlen(line) < 90);
    if (w->rows++ == 0) w->first = w->h->alloc_count;
    w->last = w->h->alloc_count;
}

static void the_loop_allocates_nothing(void **state)
{
    bdml_handle *h = *state;
    watch w = {.h = h};
    toy T = make_toy(h, 71, 80, 8, 8, 150, "p");
    bdml_set_log(h, watch_log, &w);
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-5);
    bdml_solve_result r;
    solve_toy(h, &T, &s, false, &r);
    check_true(w.rows >= 5);
    assert_int_equal(w.first, w.last);
    bdml_solve_result_free(&r);
    toy_free(&T);
}

static int watch_progress(void *user, const char *what, int64_t done, int64_t total)
{
    watch *w = user;
    (void)what, (void)done, (void)total;
    w->h->progress_last = 0.0; /* so that every call comes through */
    return ++w->calls >= w->stop_at;
}

/* Stopped by iterations, time or the user: the bracket so far is valid and M is kept. */
static void stopping_keeps_the_best(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 81, 80, 8, 8, 150, "p");
    plain P = {T.n, T.d, T.x, T.c, NULL};
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-9);
    bdml_solve_result r;
    s.max_iter = 30;
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_STOPPED && r.stop == BDML_STOP_ITERATIONS && r.iterations <= 31);
    assert_non_null(r.m);
    plain_check(h, &P, &s, &r);
    bdml_solve_result_free(&r);
    s.max_iter = 100000;
    h->stop_by = bdml_now();
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_STOPPED && r.stop == BDML_STOP_TIME);
    plain_check(h, &P, &s, &r);
    bdml_solve_result_free(&r);
    h->stop_by = 0.0;
    watch w = {.h = h, .stop_at = 12};
    bdml_set_progress(h, watch_progress, &w);
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_STOPPED && r.stop == BDML_STOP_CANCELLED);
    assert_non_null(r.m);
    plain_check(h, &P, &s, &r);
    assert_string_equal(bdml_last_error(h), "");
    bdml_solve_result_free(&r);
    toy_free(&T);
}

static void bad_settings_say_so(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 91, 20, 3, 3, 10, "p");
    bdml_problem *p;
    bdml_solve_result r;
    check_ok(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p));
#define refuse(field, value, text)                                                 \
    do {                                                                           \
        bdml_solve_settings s = bdml_solve_defaults();                             \
        s.field = value;                                                           \
        check_fails(h, bdml_problem_solve(h, p, &s, &r), BDML_ERR_ARGUMENT, text); \
        assert_null(r.m);                                                          \
    } while (0)
    refuse(K, 0.9, "distortion must be from 1");
    refuse(K, NAN, "distortion must be from 1");
    refuse(trace, 0.0, "trace must be positive");
    refuse(margin, -1.0, "margin must be positive");
    refuse(margin, NAN, "margin must be positive");
    refuse(softness, 0.0, "softness must be positive");
    refuse(gap, 0.0, "gap must be above 0");
    refuse(max_iter, 0, "max-iter must be at least 1");
    refuse(set, BDML_SET_PSD_SIMPLEX, "a fixed trace must be finite");
#undef refuse
    bdml_problem_free(p);
    T.c->m = 0;
    check_fails(h, bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p), BDML_ERR_DATA,
                "no constraint");
    assert_null(p);
    toy_free(&T);
}

static void options_reach_the_settings(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "distortion", "30"));
    check_ok(h, bdml_set(h, "trace", "7"));
    check_ok(h, bdml_set(h, "hard", "yes"));
    check_ok(h, bdml_set(h, "loss", "hinge"));
    check_ok(h, bdml_set(h, "gap", "1e-5"));
    bdml_solve_settings s = bdml_solve_from_options(&h->options.solve);
    check_true(s.K == 30 && s.trace == 7 && s.hard && s.loss == BDML_LOSS_HINGE && s.gap == 1e-5);
    check_fails(h, bdml_set(h, "distortion", "0.5"), BDML_ERR_ARGUMENT, "distortion");
    check_ok(h, bdml_set(h, "trace", "0"));
    s = bdml_solve_from_options(&h->options.solve);
    check_true(isinf(s.trace));
    /* the range of the setting holds for whoever solves */
    s.K = 1e9;
    check_ok(h, bdml_check_distortion(h, s.K));
    check_fails(h, bdml_check_distortion(h, 1.1e9), BDML_ERR_ARGUMENT, "from 1 to 1e+09");
}

/* Each allocation in turn fails: the right status, nothing leaks (under the sanitizer), then
 * success. */
static void failing_allocations_are_survived(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 95, 20, 4, 2, 20, "mw");
    bdml_solve_settings s = bdml_solve_defaults();
    bdml_status status = BDML_ERR_MEMORY;
    int failed = 0;
    for (int64_t at = 1; status != BDML_OK; at++) {
        bdml_problem *p = NULL;
        bdml_solve_result r = {0};
        h->fail_alloc = at;
        status = bdml_problem_new(h, T.n, T.d, T.x, T.d, T.c, NULL, false, &p);
        if (status == BDML_OK) status = bdml_problem_solve(h, p, &s, &r);
        check_true(status == BDML_OK || status == BDML_ERR_MEMORY);
        failed += status != BDML_OK;
        bdml_solve_result_free(&r);
        bdml_problem_free(p);
    }
    h->fail_alloc = 0;
    check_true(failed > 40);
    toy_free(&T);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(contradictions_are_proven_and_named),
        handle_test(identical_points_are_a_proof),
        handle_test(collapse_is_at_the_threshold),
        handle_test(threshold_is_not_needed),
        handle_test(typical_margin_is_one),
        handle_test(warm_start_is_shorter),
        handle_test(brackets_are_nested),
        handle_test(units_and_origin_do_not_matter),
        handle_test(bits_do_not_depend_on_threads),
        handle_test(the_loop_allocates_nothing),
        handle_test(stopping_keeps_the_best),
        handle_test(bad_settings_say_so),
        handle_test(options_reach_the_settings),
        handle_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
