/* test_bounds.c - the paper's bounds against values worked out by hand, against each other, and by drawing. */
#include "check.h"

#include "bounds.h"

static study_bound_numbers numbers(void)
{
    return (study_bound_numbers){
        .K = 3.0, .R = 5.0, .radius = 2.0, .d = 4.0, .n = 10.0, .delta = 0.5, .empirical = 7.0};
}

/* 4 (3+1) 5 2^2 / 4 = 80; with rank 2 in place of d, 160. */
static void stability_by_hand(void **state)
{
    bdml_handle *h = *state;
    study_bound_numbers b = numbers();
    double beta;
    check_ok(h, study_bound_stability(h, &b, &beta));
    check_close(beta, 80.0, 1e-13);
    b.d = 2.0;
    check_ok(h, study_bound_stability(h, &b, &beta));
    check_close(beta, 160.0, 1e-13);
}

/* (2 R Gamma^2/d) sqrt((2K/delta)(K/n + 6K + 6)) = 10 sqrt(12 (0.3 + 24)) = 10 sqrt(291.6) = 170.7629936..., and
 * the general form at beta = 1: 2 Gamma sqrt(KR/(d delta) (2KR Gamma^2/(nd) + 3)) = 4 sqrt(7.5 (3 + 3)) = 4 sqrt(45). */
static void generalization_by_hand(void **state)
{
    bdml_handle *h = *state;
    study_bound_numbers b = numbers();
    double risk, excess;
    check_ok(h, study_bound_generalization(h, &b, -1.0, &risk, &excess));
    check_close(excess, 170.76299364909247, 1e-11);
    check_close(risk, 7.0 + excess, 1e-12);
    check_ok(h, study_bound_generalization(h, &b, 1.0, &risk, &excess));
    check_close(excess, 4.0 * sqrt(45.0), 1e-12);
}

/* It falls with d, delta and n, rises with K, R and Gamma: what the paper says of it. */
static void generalization_moves_as_it_should(void **state)
{
    bdml_handle *h = *state;
    study_bound_numbers base = numbers();
    double risk, at, excess;
    check_ok(h, study_bound_generalization(h, &base, -1.0, &at, &excess));
    for (int k = 0; k < 6; k++) {
        study_bound_numbers b = base;
        double *field[] = {&b.K, &b.R, &b.radius, &b.d, &b.delta, &b.n};
        *field[k] *= 1.5;
        check_ok(h, study_bound_generalization(h, &b, -1.0, &risk, &excess));
        check_true(k < 3 ? risk > at : risk < at);
    }
}

/* excess = L sqrt((1/(2n) + 3 (K+1)/K) / delta) with L = 4 K R Gamma^2 / d the largest loss there is: never below
 * sqrt(3) L. */
static void generalization_against_the_largest_loss(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(1, 1);
    for (int k = 0; k < 200; k++) {
        study_bound_numbers b = {.K = 1.0 + exp(6.0 * bdml_rng_normal(&r)),
                                 .R = exp(3.0 * bdml_rng_normal(&r)),
                                 .radius = exp(bdml_rng_normal(&r)),
                                 .d = 1.0 + (double)bdml_rng_below(&r, 1000),
                                 .n = 1.0 + (double)bdml_rng_below(&r, 100000),
                                 .delta = bdml_rng_uniform(&r)};
        double risk, excess, L = 4.0 * b.K * b.R * b.radius * b.radius / b.d;
        check_ok(h, study_bound_generalization(h, &b, -1.0, &risk, &excess));
        check_close(excess / L, sqrt((0.5 / b.n + 3.0 * (b.K + 1.0) / b.K) / b.delta),
                    1e-12 * excess / L);
        check_true(excess > sqrt(3.0) * L);
    }
}

/* q 2, d 3, |I| 1, r 1, gamma 1/16, omega 5, epsilon = 8 sqrt(3/2): tau = sqrt(4 sqrt(3/2) sqrt(2/3) + 1) = sqrt(5);
 *   margins        max(1/4, 0) = 1/4
 *   objective      exp(-(5 - 3)/2) = exp(-1)
 *   orthogonality  3 (exp(-(sqrt 5 - 1)^2/4) + exp(-96/96)) = 3 (exp(-(3 - sqrt 5)/2) + exp(-1)) */
static void tail_by_hand(void **state)
{
    bdml_handle *h = *state;
    study_tail_numbers b = {.gamma = 1.0 / 16.0,
                            .epsilon = 8.0 * sqrt(1.5),
                            .omega = 5.0,
                            .q = 2,
                            .d = 3,
                            .pairs = 1,
                            .rank = 1,
                            .draws = 1};
    study_tail t;
    check_ok(h, study_bound_tail(h, &b, &t));
    check_close(t.tau, sqrt(5.0), 1e-14);
    check_close(t.margins, 0.25, 1e-15);
    check_close(t.objective, exp(-1.0), 1e-15);
    check_close(t.orthogonality, 3.0 * (exp(-0.5 * (3.0 - sqrt(5.0))) + exp(-1.0)), 1e-14);
    check_true(t.vacuous && t.single == 0.0 && t.all == 0.0);

    /* r 6, gamma 0.1: 2 * 5 * 0.1 / (pi - 2) outweighs sqrt(0.1); with r1 = 2 it does not */
    b.rank = 6;
    b.gamma = 0.1;
    check_ok(h, study_bound_tail(h, &b, &t));
    check_close(t.margins, 1.0 / (3.14159265358979323846 - 2.0), 1e-14);
    b.rank1 = 2;
    check_ok(h, study_bound_tail(h, &b, &t));
    check_close(t.margins, sqrt(0.1), 1e-15);
}

/* The sharper ranks never make it worse, a rank above r counts as r. */
static void sharper_ranks_help(void **state)
{
    bdml_handle *h = *state;
    study_tail_numbers b = study_tail_example(9);
    study_tail plain, sharp;
    check_ok(h, study_bound_tail(h, &b, &plain));
    b.rank1 = b.rank2 = b.rank3 = 50;
    check_ok(h, study_bound_tail(h, &b, &sharp));
    check_true(sharp.all == plain.all);
    b.rank3 = 4;
    check_ok(h, study_bound_tail(h, &b, &sharp));
    check_true(sharp.all > plain.all);
    check_close(sharp.objective, plain.objective * 4.0 / 9.0, 1e-15);
}

/* The paper's example. By hand: |I| sqrt(gamma) = sqrt(pi)/4 = 0.443113; exp(-(10 - sqrt 19)/2) = 0.059573 for each
 * unit of r; tau = sqrt(40 sqrt 2 + 1) = 7.587394, 55 exp(-(tau-1)^2/4) = 0.001069 for each unit of r, exp(-200) is
 * nothing. So a sample fails with 0.443113 + 0.060642 r at most, and 100 of them with that to the 100th. */
static void example_of_the_paper(void **state)
{
    bdml_handle *h = *state;
    const double each = exp(-0.5 * (10.0 - sqrt(19.0))) +
                        55.0 * exp(-0.25 * pow(sqrt(40.0 * sqrt(2.0) + 1.0) - 1.0, 2));
    for (int64_t r = 1; r <= 17; r++) {
        study_tail_numbers b = study_tail_example(r);
        study_tail t;
        double failure = sqrt(3.14159265358979323846) / 4.0 + each * (double)r;
        check_ok(h, study_bound_tail(h, &b, &t));
        check_true(t.vacuous == (r >= 10));
        check_close(t.all, r < 10 ? 1.0 - pow(failure, 100) : 0.0, 1e-12);
        check_true(fabs(t.all - STUDY_TAIL_STATED) > 1e-4);
    }
    study_tail_numbers seven = study_tail_example(7), eight = study_tail_example(8),
                       nine = study_tail_example(9);
    study_tail t;
    check_ok(h, study_bound_tail(h, &seven, &t));
    check_close(t.all, 0.9999993, 5e-8);
    check_ok(h, study_bound_tail(h, &eight, &t));
    check_close(t.all, 0.99942, 5e-6);
    check_ok(h, study_bound_tail(h, &nine, &t));
    check_close(t.all, 0.673, 5e-4);
}

static void refusals(void **state)
{
    bdml_handle *h = *state;
    study_tail_numbers b = study_tail_example(3);
    study_bound_numbers n = numbers();
    study_tail t;
    double beta, risk;
    b.triplets = true;
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "pair constraints only");
    b = study_tail_example(0);
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "rank r of the relaxed");
    b = study_tail_example(1001);
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "no rank 1001");
    b = study_tail_example(2), b.omega = 0.5;
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "omega");
    b = study_tail_example(2), b.gamma = 0.0;
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "gamma");
    b = study_tail_example(2), b.epsilon = NAN;
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "epsilon");
    b = study_tail_example(2), b.q = 101;
    check_fails(h, study_bound_tail(h, &b, &t), BDML_ERR_ARGUMENT, "orthonormal rows");
    n.K = 0.9;
    check_fails(h, study_bound_stability(h, &n, &beta), BDML_ERR_ARGUMENT, "distortion K");
    n = numbers(), n.R = INFINITY;
    check_fails(h, study_bound_stability(h, &n, &beta), BDML_ERR_ARGUMENT, "trace R");
    n = numbers(), n.radius = 0.0;
    check_fails(h, study_bound_stability(h, &n, &beta), BDML_ERR_ARGUMENT, "radius");
    n = numbers(), n.d = 0.0;
    check_fails(h, study_bound_stability(h, &n, &beta), BDML_ERR_ARGUMENT, "dimension");
    n = numbers(), n.delta = 0.0;
    check_fails(h, study_bound_generalization(h, &n, -1.0, &risk, &beta), BDML_ERR_ARGUMENT,
                "delta");
    n = numbers(), n.n = 0.0;
    check_fails(h, study_bound_generalization(h, &n, -1.0, &risk, &beta), BDML_ERR_ARGUMENT,
                "target pairs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(stability_by_hand),
        handle_test(generalization_by_hand),
        handle_test(generalization_moves_as_it_should),
        handle_test(generalization_against_the_largest_loss),
        handle_test(tail_by_hand),
        handle_test(sharper_ranks_help),
        handle_test(example_of_the_paper),
        handle_test(refusals),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
