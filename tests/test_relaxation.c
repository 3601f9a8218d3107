/* test_relaxation.c - the paper's step for Q as a whole, and rho_sdp. */
#include "relaxation_toy.h"

/* ---- rho_sdp ---------------------------------------------------------------------------------------------------------- */

/* What the weights refuse lies below the exact optimum, and what they prove never exceeds it. */
static void refusals_agree_with_the_exact_optimum(void **state)
{
    bdml_handle *h = *state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        int q = 1 + (int)seed % 3, d = 4;
        toy T = make_toy(h, seed, 12, d, 8, seed % 2 ? 'p' : 't');
        double lambda[3], trace = 0, lower;
        bdml_solve_result exact;
        run R;
        random_lambda(seed, q, lambda);
        for (int i = 0; i < q; i++) trace += lambda[i];
        check_ok(h, bdml_relaxation_exact(h, T.op, T.c, d, trace, 0.5, 1e-5, NULL, &exact));
        check_true(exact.outcome == BDML_OPTIMAL);
        run_open(h, &T, q, lambda, 20000, 0.0, &R);
        for (int64_t t = 0; t < T.c->m; t++) R.w->mu[t] = 0.5;
        check_ok(h, bdml_mwu_run(R.w, 0.7 * exact.lower, &R.r));
        check_true(R.r.verdict == BDML_MWU_INFEASIBLE && R.r.proves);
        check_ok(h, bdml_relaxed_lower(R.w, R.r.q0, R.r.q, &lower));
        check_true(lower >= 0.7 * exact.lower && lower <= exact.upper * (1 + 1e-9));
        check_ok(h, bdml_mwu_run(R.w, 1.01 * exact.upper, &R.r));
        check_true(R.r.verdict == BDML_MWU_ROUNDS);
        run_close(&R);
        bdml_solve_result_free(&exact);
        toy_free(&T);
    }
}

/* d = 2, G = e1 e1', one pair with difference (1,1), mu = 1.5, lambda = 1: Q = (cos t, sin t) needs
 * (cos t + sin t)^2 = 1 + sin 2t >= 1.5 and is best at t = 75 degrees: rho_qp = cos^2 75 = (2 - sqrt 3)/4, and the
 * relaxation, whose optimum has rank one here, is tight. */
static toy corner(bdml_handle *h)
{
    const double points[] = {0, 0, 1, 0, 1, 1};
    const int32_t target[] = {0, 1}, rows[] = {0, -1, 2};
    toy T = {.n = 3, .d = 2, .x = calloc(6, sizeof *T.x)};
    memcpy(T.x, points, sizeof points);
    toy_build(h, &T, 1, target, 1, rows);
    return T;
}

static void closed_case(void **state)
{
    bdml_handle *h = *state;
    toy T = corner(h);
    const double rho = (2.0 - sqrt(3.0)) / 4.0;
    double lambda = 1.0, Q[2] = {sqrt(0.5), sqrt(0.5)};
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    s.margin = 1.5;
    s.exact = true;
    s.gap = 1e-4;
    s.calls = 20;
    s.rounds = 2000;
    s.samples = 2000;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 1, &lambda, &s, Q, &r));
    check_true(!r.infeasible && r.exact && r.improved);
    check_true(r.sdp_lower <= rho * (1 + 1e-9) && r.sdp_upper >= rho * (1 - 1e-9));
    check_close(r.sdp_upper, r.sdp_lower, 2e-4);
    check_true(r.achieved >= rho * (1 - 1e-9) && r.achieved <= 0.5);
    /* the best ratio objective / nu over all angles is near cos^2 t (1.5)/(1 + sin 2t) at its least, 0 at 90 degrees */
    check_true(r.objective / r.nu < 0.75 / 2.0);
    check_close(Q[0] * Q[0] + Q[1] * Q[1], 1.0, 1e-13);
    toy_free(&T);
}

/* ---- the whole step ------------------------------------------------------------------------------------------------------ */

static void check_orthonormal(int q, int d, const double *Q)
{
    for (int i = 0; i < q; i++)
        for (int j = 0; j <= i; j++) {
            double dot = 0;
            for (int a = 0; a < d; a++) dot += Q[i * d + a] * Q[j * d + a];
            check_close(dot, i == j ? 1.0 : 0.0, 1e-12);
        }
}

/* Random problems: orthonormal, never worse than the start, reported as plain loops find it, brackets in order. */
static void step_is_sound(void **state)
{
    bdml_handle *h = *state;
    const int shapes[][2] = {{1, 1}, {1, 4}, {3, 6}, {6, 6}, {2, 12}};
    for (int k = 0; k < 10; k++) {
        int q = shapes[k % 5][0], d = shapes[k % 5][1];
        uint64_t seed = 50 + (uint64_t)k;
        toy T = make_toy(h, seed, 30, d, 25, k % 2 ? 't' : 'p');
        double lambda[6], Q[72], start[72], objective, nu, before, before_nu;
        bdml_relaxation_settings s = bdml_relaxation_defaults();
        bdml_relaxation_report r;
        random_lambda(seed, q, lambda);
        random_rows(h, seed, q, d, start);
        memcpy(Q, start, sizeof Q);
        s.rounds = 60;
        s.samples = 40;
        s.margin = 0.05;
        s.exact = true;
        s.source = k >= 5 ? BDML_RELAXATION_ENGINE : BDML_RELAXATION_MWU;
        check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, d, q, lambda, &s, Q, &r));
        check_orthonormal(q, d, Q);
        plain_judge(&T, q, lambda, s.margin, start, &before, &before_nu);
        plain_judge(&T, q, lambda, s.margin, Q, &objective, &nu);
        check_close(r.start_objective, before, 1e-10 * (1 + before));
        check_close(r.objective, objective, 1e-10 * (1 + objective));
        check_close(r.nu, nu, 1e-9 * (1 + fabs(nu)));
        check_true(nu / objective >= before_nu / before - 1e-12);
        if (r.infeasible) {
            check_true(memcmp(Q, start, sizeof(double) * (size_t)(q * d)) == 0);
        } else {
            check_true(r.sdp_lower <= r.sdp_upper * (1 + 1e-9));
            check_true(r.sdp_lower <= r.achieved * (1 + 1e-9));
        }
        toy_free(&T);
    }
}

/* Margins that no M of this trace can meet: proven, Q left alone. */
static void infeasible_margins(void **state)
{
    bdml_handle *h = *state;
    toy T = corner(h);
    double lambda = 1.0, Q[2] = {0.6, 0.8};
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    s.margin = 2.1; /* (cos t + sin t)^2 is 2 at most */
    s.rounds = 5000;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 1, &lambda, &s, Q, &r));
    check_true(r.infeasible && !r.improved && Q[0] == 0.6 && Q[1] == 0.8);
    s.source = BDML_RELAXATION_ENGINE;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 1, &lambda, &s, Q, &r));
    check_true(r.infeasible && !r.improved && Q[0] == 0.6 && Q[1] == 0.8);
    toy_free(&T);
}

static void refused_arguments(void **state)
{
    bdml_handle *h = *state;
    toy T = corner(h);
    double lambda[3] = {1.0, 1.0, 1.0}, Q[6] = {1, 0, 0, 1, 0, 0};
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 3, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "orthonormal rows");
    lambda[1] = 0.0;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "lambda[1]");
    lambda[1] = 1.0;
    Q[3] = NAN;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "row 1");
    Q[3] = 1.0;
    s.samples = 0;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "samples");
    s = bdml_relaxation_defaults();
    s.margin = -1.0;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "margin");
    s = bdml_relaxation_defaults();
    s.calls = 0;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 2, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "calls");
    toy_free(&T);
}

/* A time limit ends the search and leaves something to sample from. */
static void time_limit_is_kept(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 3, 20, 4, 12, 'p');
    double lambda[2] = {1, 2}, Q[8];
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    random_rows(h, 3, 2, 4, Q);
    s.rounds = 1000000;
    s.samples = 20;
    s.margin = 0.05;
    h->stop_by = bdml_now() + 0.02;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 4, 2, lambda, &s, Q, &r));
    check_true(r.rounds > 0 && r.rounds < s.rounds && r.samples == 20);
    check_orthonormal(2, 4, Q);
    h->stop_by = 0.0;
    /* calls are counted */
    s = bdml_relaxation_defaults();
    s.calls = 2;
    s.rounds = 10;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 4, 2, lambda, &s, Q, &r));
    check_true(r.infeasible || r.calls <= 3);
    toy_free(&T);
}

/* The guarantee mode through the whole step: the average that is sampled misses nothing by more than delta; and a
 * delta that takes more rounds than are kept is refused. */
static void step_with_a_guarantee(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 8, 10, 3, 5, 'p');
    double lambda[2] = {1, 2}, Q[6];
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    random_rows(h, 8, 2, 3, Q);
    s.delta = 0.5;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 3, 2, lambda, &s, Q, &r));
    check_true(!r.infeasible && r.violation <= s.delta && r.orthogonality <= s.delta);
    s.delta = 1e-4;
    check_fails(h, bdml_relaxation_q_step(h, T.op, T.c, 3, 2, lambda, &s, Q, &r), BDML_ERR_ARGUMENT,
                "raise delta");
    toy_free(&T);
}

/* Rounds take no memory. */
static void rounds_allocate_nothing(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 4, 40, 9, 30, 'p');
    double lambda[4] = {1, 1, 2, 2};
    run R;
    run_open(h, &T, 4, lambda, 50, 0.0, &R);
    int64_t before = h->alloc_count;
    check_ok(h, bdml_mwu_run(R.w, 1.0, &R.r));
    check_true(h->alloc_count == before);
    run_close(&R);
    toy_free(&T);
}

/* 300 points of 90 dimensions: enough work for the operator to use its threads. By points and by pairs. */
static void same_bits_for_any_threads(void **state)
{
    (void)state;
    enum { Q = 3, D = 90 };
    double out[2][2][Q * D];
    for (int threads = 1; threads <= 2; threads++)
        for (int many = 0; many < 2; many++) {
            bdml_handle *h;
            bdml_relaxation_settings s = bdml_relaxation_defaults();
            bdml_relaxation_report r;
            double lambda[Q] = {1, 2, 0.7}, *Qd = out[threads - 1][many];
            assert_int_equal(bdml_create(&h), BDML_OK);
            check_ok(h, bdml_set(h, "threads", threads == 1 ? "1" : "2"));
            toy T = make_toy(h, 6, 300, D, many ? 900 : 150, many ? 't' : 'p');
            random_rows(h, 6, Q, D, Qd);
            s.rounds = 40;
            s.samples = 10;
            s.calls = 2;
            s.margin = 0.01;
            s.rule = BDML_SAMPLE_PAPER; /* a sample whatever it is worth */
            check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, D, Q, lambda, &s, Qd, &r));
            check_true(r.improved || r.infeasible);
            toy_free(&T);
            bdml_free(h);
        }
    check_true(memcmp(out[0], out[1], sizeof out[0]) == 0);
}

/* Every allocation fails in turn: BDML_ERR_MEMORY, Q as it was, nothing leaks (the sanitizer looks). */
static void failing_memory(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 3, 20, 4, 12, 'p');
    double lambda[2] = {1, 2}, Q[8], start[8];
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    random_rows(h, 3, 2, 4, start);
    s.rounds = 20;
    s.samples = 3;
    s.calls = 3;
    s.margin = 0.05;
    s.exact = true;
    int64_t k = 1;
    for (;; k++) {
        memcpy(Q, start, sizeof Q);
        h->fail_alloc = k;
        bdml_status status = bdml_relaxation_q_step(h, T.op, T.c, 4, 2, lambda, &s, Q, &r);
        h->fail_alloc = 0;
        if (status == BDML_OK) break;
        check_true(status == BDML_ERR_MEMORY && memcmp(Q, start, sizeof Q) == 0);
    }
    check_true(k > 40);
    toy_free(&T);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(refusals_agree_with_the_exact_optimum),
        handle_test(closed_case),
        handle_test(step_is_sound),
        handle_test(infeasible_margins),
        handle_test(refused_arguments),
        handle_test(time_limit_is_kept),
        handle_test(step_with_a_guarantee),
        handle_test(rounds_allocate_nothing),
        cmocka_unit_test(same_bits_for_any_threads),
        handle_test(failing_memory),
    };
    return cmocka_run_group_tests_name("relaxation", tests, NULL, NULL);
}
