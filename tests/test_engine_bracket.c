/* test_engine_bracket.c - the last digits of the bracket: rounding never puts an end on the wrong side of the
 * optimum, a gap of 1e-12 is reached, and how many steps fixed problems may take. */
#include "engine_toy.h"

#include "solver/engine.h"

/* ---- rounding ----------------------------------------------------------------------------------- */

/* d = 1 and whole numbers: the target pair has length j, the only pair to keep apart length k, so that
 * the optimum is j^2/k^2. fma(lower, k^2, -j^2) has the sign of lower - j^2/k^2 exactly. */
static void ends_are_on_their_side(void **state)
{
    bdml_handle *h = *state;
    int32_t targets[2] = {0, 1}, impostors[2] = {2, 3};
    for (int j = 1; j <= 12; j++)
        for (int k = 1; k <= 12; k++)
            for (int diagonal = 0; diagonal < 2; diagonal++) {
                double x[4] = {0, j, 0, k}, jj = j * j, kk = k * k;
                toy T = {4, 1, x, NULL};
                bdml_solve_settings s = hard_settings(1, INFINITY, 1e-12);
                bdml_solve_result r;
                check_ok(h, bdml_constraints_from_arrays(h, 4, 1, targets, 1, impostors, 0, NULL,
                                                         &T.c));
                solve_toy(h, &T, &s, diagonal, &r);
                check_true(r.outcome == BDML_OPTIMAL && r.gap <= 1e-12);
                check_true(fma(r.lower, kk, -jj) <= 0.0 && fma(r.upper, kk, -jj) >= 0.0);
                bdml_solve_result_free(&r);
                bdml_free_constraints(T.c);
            }
}

/* The sum b'y, rounded up at each of its terms: 1/4, then 2e3 numbers of 0.8 ulp that each count as one.
 * All A_t and margins are 1, so that b_t = 1 and the bound of the doubled y is b'y twice. */
static void the_sum_of_the_dual_is_rounded_down(void **state)
{
    enum { ZEROS = 50, ONES = 40, N = ZEROS + ONES + 1, M = ZEROS * ONES };
    bdml_handle *h = *state;
    double x[N] = {0}, y[M];
    int32_t targets[2] = {0, N - 1}, impostors[2 * M];
    x[N - 1] = 1.0; /* G = 1 */
    for (int i = 0; i < ONES; i++) x[ZEROS + i] = 1.0;
    for (int t = 0; t < M; t++) {
        impostors[2 * t] = t % ZEROS, impostors[2 * t + 1] = ZEROS + t / ZEROS;
        y[t] = t == 0 ? 0.25 : 0.25 * 0.8 * DBL_EPSILON;
    }
    toy T = {N, 1, x, NULL};
    bdml_solve_settings s = hard_settings(1, INFINITY, 1e-3);
    bdml_problem *p;
    bdml_engine e;
    check_ok(h, bdml_constraints_from_arrays(h, N, 1, targets, M, impostors, 0, NULL, &T.c));
    assert_int_equal(T.c->m, M);
    check_ok(h, bdml_problem_new(h, N, 1, x, 1, T.c, NULL, false, &p));
    check_ok(h, bdml_engine_init(&e, h, p, &s));
    check_ok(h, bdml_la_enter(h));
    bdml_scale(&e.scaled, bdml_problem_operator(p), &s, e.dual.y_try);
    check_true(e.scaled.terms.b[0] == 1.0 && e.scaled.terms.b[M - 1] == 1.0);
    e.scaled.gamma = 1.0;
    check_ok(h, bdml_certify_lower(&e, y));
    bdml_la_leave(h);
    check_true(e.bounds.best_y[0] == 0.5);            /* t = 2 */
    double exact = 0.5 * 0.8 * (M - 1) * DBL_EPSILON; /* above 1/2 */
    check_true(e.bounds.lower > 0.5 && e.bounds.lower - 0.5 <= exact);
    bdml_engine_free(&e);
    bdml_problem_free(p);
    bdml_free_constraints(T.c);
}

/* G = diag(1, 1e-14) is zero to rounding in one direction: no multiple of y is certain to leave G - A*y
 * positive, and the lower end rests on R' = U/gamma (eq. 14) alone. It is poor, but there. */
static void a_lower_end_needs_the_trace_of_the_upper(void **state)
{
    bdml_handle *h = *state;
    double x[8] = {0, 0, 1, 1e-7, 5, 0, 5, 1};
    int32_t targets[2] = {0, 1}, impostors[2] = {2, 3};
    toy T = {4, 2, x, NULL};
    bdml_solve_settings s = hard_settings(1, INFINITY, 1e-3);
    bdml_solve_result r;
    s.set = BDML_SET_PSD_BALL;
    s.max_iter = 200;
    check_ok(h, bdml_constraints_from_arrays(h, 4, 1, targets, 1, impostors, 0, NULL, &T.c));
    solve_toy(h, &T, &s, true, &r);
    /* the optimum is M = diag(0, 1) */
    check_true(r.lower <= 1e-14 * (1 + 1e-12) && r.upper >= 1e-14 * (1 - 1e-12));
    check_true(r.lower >= -3.0 * r.upper);
    bdml_solve_result_free(&r);
    bdml_free_constraints(T.c);
}

/* ---- twelve digits ------------------------------------------------------------------------------- */

static void a_gap_of_1e_12_is_reached(void **state)
{
    bdml_handle *h = *state;
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int form = 0; form < 3; form++) {
            toy T = make_toy(h, 500 + seed, 40, 5, 5, 60, seed % 2 ? "pw" : "p");
            bdml_solve_settings s = hard_settings(seed % 3 ? 8.0 : 100.0, INFINITY, 1e-12);
            bdml_solve_result fine, rough;
            s.hard = form == 0;
            s.loss = form == 1 ? BDML_LOSS_HINGE : BDML_LOSS_SQUARED_HINGE;
            solve_toy(h, &T, &s, seed % 2, &fine);
            check_true(fine.outcome == BDML_OPTIMAL && fine.gap <= 1e-12);
            check_true(fine.lower <= fine.upper);
            plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &fine);
            s.gap = 1e-6; /* another way to the optimum, the same bracket */
            s.warm_metric = NULL;
            solve_toy(h, &T, &s, seed % 2, &rough);
            check_true(rough.lower <= fine.upper && fine.lower <= rough.upper);
            bdml_solve_result_free(&fine);
            bdml_solve_result_free(&rough);
            toy_free(&T);
        }
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* Fixed problems and the projections they take, with a third to spare. */
static void fixed_problems_take_few_steps(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        int form; /* 0: hard, 1: hinge, 2: squared hinge */
        bool diagonal;
        double K, trace, gap;
        int64_t most;
    } job[] = {
        {0, false, 10, INFINITY, 1e-4, 135}, {0, false, 100, 40, 1e-4, 130},
        {0, true, 10, INFINITY, 1e-4, 285},  {1, false, 10, INFINITY, 1e-4, 108},
        {2, false, 10, INFINITY, 1e-8, 97},  {2, false, 1000, INFINITY, 1e-8, 84},
        {2, true, 100, INFINITY, 1e-8, 72},
    };
    for (size_t k = 0; k < sizeof job / sizeof *job; k++) {
        toy T = make_toy(h, 700, 200, 12, 12, 400, "p");
        bdml_solve_settings s = hard_settings(job[k].K, job[k].trace, job[k].gap);
        bdml_solve_result r;
        s.hard = job[k].form == 0;
        s.loss = job[k].form == 1 ? BDML_LOSS_HINGE : BDML_LOSS_SQUARED_HINGE;
        s.softness = 100.0;
        s.max_iter = 5000;
        solve_toy(h, &T, &s, job[k].diagonal, &r);
        check_true(r.outcome == BDML_OPTIMAL);
        check_true(r.iterations <= job[k].most);
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

/* Newton's method takes hard problems of many dimensions too: steps hardly grow with d. Those of 120 have more numbers
 * in the eigenbasis than are held at a time. */
static void dimensions_cost_few_steps(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        int d, m;
        double K;
        int64_t most;
    } job[] = {{40, 150, 10, 150}, {120, 300, 10, 200}, {120, 300, 1e4, 200}};
    check_ok(h, bdml_set(h, "threads", "1")); /* small products: two would wait for each other */
    for (size_t k = 0; k < sizeof job / sizeof *job; k++) {
        toy T = make_toy(h, 710, 2 * job[k].d, job[k].d, job[k].d, job[k].m, "p");
        bdml_solve_settings s = hard_settings(job[k].K, INFINITY, 1e-5);
        bdml_solve_result r;
        s.max_iter = job[k].most + 50;
        solve_toy(h, &T, &s, false, &r);
        check_true(r.outcome == BDML_OPTIMAL);
        check_true(r.iterations <= job[k].most);
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

/* The squared hinge in few dimensions: a handful of steps of second order after some of first order, whatever the
 * constraints, K and the trace; the bracket is confirmed by plain loops. Allowed is a third more than they take; by steps of first
 * order alone they take many hundreds. Other last digits of the data stand for other compilers: the last rounds lower the
 * objective by less than its rounding, and must be taken all the same. */
static void the_squared_hinge_is_of_second_order(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *kind;
        double K, softness;
        bool diagonal, bounded;
        int64_t most;
    } job[] = {
        {"t", 100, 50, false, false, 32},  {"pw", 1e9, 1000, false, false, 47},
        {"mw", 1e4, 200, false, true, 36}, {"mw", 1e9, 1000, true, false, 52},
        {"t", 1e9, 1e4, false, false, 44},
    };
    enum { JOBS = sizeof job / sizeof *job, DIGITS = 8 };
    for (size_t run = 0; run < JOBS * DIGITS; run++) {
        size_t k = run / DIGITS, other = run % DIGITS;
        toy T = make_toy(h, 720, 400, 7, 7, 4000, job[k].kind);
        bdml_rng rng = bdml_rng_make(other, 1);
        for (int64_t i = 0; i < T.n * T.d; i++) {
            double off = other ? (double)bdml_rng_below(&rng, 3) - 1.0 : 0.0;
            T.x[i] *= (1.0 + (double)(i % T.d)) * (1.0 + 2.0 * DBL_EPSILON * off);
        }
        bdml_solve_settings s = hard_settings(job[k].K, INFINITY, 1e-9);
        bdml_solve_result r;
        s.hard = false;
        s.softness = job[k].softness;
        s.max_iter = 3000;
        solve_toy(h, &T, &s, job[k].diagonal, &r);
        if (job[k].bounded) {
            s.trace = 0.7 * r.trace;
            bdml_solve_result_free(&r);
            solve_toy(h, &T, &s, job[k].diagonal, &r);
            check_close(r.trace, s.trace, 1e-9 * s.trace);
        }
        check_true(r.outcome == BDML_OPTIMAL && r.gap <= 1e-9);
        print_message("%s, K %g: %lld steps\n", job[k].kind, job[k].K, (long long)r.iterations);
        check_true(r.iterations <= job[k].most);
        plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(ends_are_on_their_side),
        handle_test(the_sum_of_the_dual_is_rounded_down),
        handle_test(a_lower_end_needs_the_trace_of_the_upper),
        handle_test(a_gap_of_1e_12_is_reached),
        handle_test(fixed_problems_take_few_steps),
        handle_test(dimensions_cost_few_steps),
        handle_test(the_squared_hinge_is_of_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
