/* test_paper.c - the paper's algorithm: guarantees met, refusals proven, every setting out of range with its own
 * message. Checked by plain loops (plain.h) on raw points. */
#include "paper_toy.h"

#include "model/evidence.h"

/* ---- guarantee mode -------------------------------------------------------------------------------------------- */

static void delta_is_met_on(bdml_handle *h, const toy *T, bdml_paper_form form, double K,
                            double delta)
{
    bdml_paper_settings s = bdml_paper_defaults(form);
    bdml_solve_result best;
    double *m = calloc((size_t)(T->d * T->d), sizeof *m), *q = calloc((size_t)T->c->m, sizeof *q),
           trace;
    s.K = K;
    s.delta = delta;
    optimum(h, T, K, INFINITY, &best);

    bdml_mwu_result r = run(h, T, &s, best.upper * 1.1, m, q);
    check_true(r.verdict == BDML_MWU_FEASIBLE);
    check_true(worst_miss(T, m, r.bound, 1.0) <= delta * (1 + 1e-9));
    double kappa = plain_kappa(h, T->d, m, &trace);
    if (form == BDML_PAPER_CONE) check_true(kappa <= K * (1 + 1e-9));
    /* lifted: M - alpha I = M1 + E1, alpha K I - M = M2 - E2 with entries of E at most delta and M1, M2 >= 0 */
    double slack = delta * T->d;
    if (form == BDML_PAPER_LIFTED) check_true(kappa * (r.alpha - slack) <= s.K * r.alpha + slack);
    check_true(trace <= r.trace_bound + (form == BDML_PAPER_LIFTED ? delta : 1e-9 * trace));
    check_true(r.exceeded <= 1 + 1e-9);

    /* a bound that is missed by more than delta: (g + delta) mu/(mu - delta) is half the optimum */
    double below = 0.5 * best.lower * (1 - delta) - delta;
    check_true(below > 0);
    r = run(h, T, &s, below, m, q);
    check_true(r.verdict == BDML_MWU_INFEASIBLE);
    check_refusal(h, T, &s, &r);
    bdml_solve_result_free(&best);
    free(m);
    free(q);
}

static void guarantee_holds_cone(void **state)
{
    bdml_handle *h = *state;
    toy A = make_toy(h, 1, 30, 3, 60, 'p'), B = make_toy(h, 2, 40, 10, 80, 'p'),
        C = make_toy(h, 3, 40, 5, 80, 't');
    delta_is_met_on(h, &A, BDML_PAPER_CONE, 5, 0.02);
    delta_is_met_on(h, &B, BDML_PAPER_CONE, 10, 0.05);
    delta_is_met_on(h, &C, BDML_PAPER_CONE, 100, 0.01);
    toy_free(&A);
    toy_free(&B);
    toy_free(&C);
}

static void guarantee_holds_lifted(void **state)
{
    bdml_handle *h = *state;
    toy A = make_toy(h, 1, 30, 2, 60, 'p'), B = make_toy(h, 2, 30, 4, 60, 'p'),
        C = make_toy(h, 3, 30, 3, 60, 't');
    delta_is_met_on(h, &A, BDML_PAPER_LIFTED, 5, 0.05);
    delta_is_met_on(h, &B, BDML_PAPER_LIFTED, 4, 0.05);
    delta_is_met_on(h, &C, BDML_PAPER_LIFTED, 10, 0.05);
    toy_free(&A);
    toy_free(&B);
    toy_free(&C);
}

/* Six points, (-1,y) and (1,y) with y = -1, 0, 1: targets within a column, impostors across, 9 pairs. G = diag(0,2),
 * M = diag(a,b) needs 4a >= 1, and kappa <= 3 needs b >= a/3: the optimum is 2 (1/4)/3 = 1/6. */
static toy make_ladder(bdml_handle *h)
{
    toy T = {.n = 6, .d = 2, .x = calloc(12, sizeof *T.x)};
    const int32_t targets[12] = {0, 1, 1, 2, 0, 2, 3, 4, 4, 5, 3, 5};
    int32_t rows[27];
    for (int i = 0; i < 6; i++) T.x[2 * i] = i < 3 ? -1 : 1, T.x[2 * i + 1] = i % 3 - 1;
    for (int t = 0; t < 9; t++)
        rows[3 * t] = t / 3, rows[3 * t + 1] = -1, rows[3 * t + 2] = 3 + t % 3;
    check_ok(h, bdml_constraints_build(h, 6, 6, targets, 9, rows, NULL, NULL, &T.c));
    return T;
}

/* The theorem itself: all T rounds with the epsilon of the proof, no early stop, and the average of all of them
 * misses nothing by more than delta; a bound that cannot be met is refused within T rounds. */
static void theorem_holds(void **state)
{
    bdml_handle *h = *state;
    toy T = make_ladder(h);
    const double delta[2] = {0.1, 0.02};
    for (int k = 0; k < 4; k++) {
        bdml_paper_form form = k < 2 ? BDML_PAPER_CONE : BDML_PAPER_LIFTED;
        bdml_paper_settings s = bdml_paper_defaults(form);
        double m[4], q[9], trace;
        s.K = 3;
        s.delta = delta[k % 2] * (k < 2 ? 1 : 5);
        s.whole = true;
        bdml_mwu_result r = run(h, &T, &s, 1.0 / 6, m, q);
        check_true(r.T > 500 && r.T < 1e6); /* the run is no formality, and ends */
        check_true(r.verdict == BDML_MWU_FEASIBLE && (double)r.rounds == r.T);
        check_true(worst_miss(&T, m, r.bound, 1.0) <= s.delta);
        check_true(r.exceeded <= 1 + 1e-9);
        if (form == BDML_PAPER_LIFTED) continue;
        check_true(plain_kappa(h, 2, m, &trace) <= 3 * (1 + 1e-9));
        /* (g + delta) / (1 - delta) is 0.9 of the optimum */
        r = run(h, &T, &s, 0.9 / 6 * (1 - s.delta) - s.delta, m, q);
        check_true(r.verdict == BDML_MWU_INFEASIBLE && (double)r.rounds <= r.T);
        check_refusal(h, &T, &s, &r);
    }
    toy_free(&T);
}

/* The same for the cone form where no single M of the oracle is good enough: the average has to be. */
static void theorem_holds_for_averages(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 1, 12, 2, 8, 'p');
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    bdml_solve_result best;
    double m[4], q[8], trace;
    s.K = 3;
    s.delta = 0.1;
    s.whole = true;
    optimum(h, &T, s.K, INFINITY, &best);
    bdml_mwu_result r = run(h, &T, &s, best.upper, m, q);
    check_true(r.T > 1e4 && r.T < 1e5);
    check_true(r.verdict == BDML_MWU_FEASIBLE && (double)r.rounds == r.T);
    double missed = worst_miss(&T, m, r.bound, 1.0);
    check_true(missed > 0 && missed <= s.delta);
    check_true(plain_kappa(h, 2, m, &trace) <= 3 * (1 + 1e-9));
    bdml_solve_result_free(&best);
    toy_free(&T);
}

/* Eigenvectors serve several rounds, and the rounds that use them lose nothing that matters: near the optimum
 * either verdict comes, and both hold by plain loops. */
static void one_basis_serves_many_rounds(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 4, 60, 12, 150, 'p');
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    bdml_solve_result best;
    double m[144], trace, *q = calloc((size_t)T.c->m, sizeof *q);
    s.delta = 0.02;
    optimum(h, &T, s.K, INFINITY, &best);
    bdml_mwu_result r = run(h, &T, &s, best.upper, m, q);
    check_true(r.verdict == BDML_MWU_FEASIBLE);
    check_true(r.eigen > 0 && 4 * r.eigen < r.rounds);
    check_true(worst_miss(&T, m, r.bound, 1.0) <= s.delta * (1 + 1e-9));
    check_true(plain_kappa(h, T.d, m, &trace) <= s.K * (1 + 1e-9));
    check_close(trace, r.trace, 1e-9 * trace);
    r = run(h, &T, &s, best.lower * (1 - s.delta) - 2 * s.delta, m, q);
    check_true(r.verdict == BDML_MWU_INFEASIBLE);
    check_refusal(h, &T, &s, &r);
    bdml_solve_result_free(&best);
    free(q);
    toy_free(&T);
}

/* With rows as they stand, T and epsilon are those of the proof: C1 = 1/4, C2 = 8. */
static void rounds_are_those_of_the_proof(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 1, 30, 2, 60, 'p');
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    double m[4], *q = calloc((size_t)T.c->m, sizeof *q);
    s.scaling = BDML_ROW_SCALING_NONE;
    s.delta = 0.3;
    bdml_mwu_result r = run(h, &T, &s, 0.5, m, q);
    assert_int_equal(r.rows, T.c->m + 1);
    check_true(r.T == ceil(8 * r.rho * r.rho * log((double)r.rows) / (0.3 * 0.3)));
    s.form = BDML_PAPER_LIFTED;
    r = run(h, &T, &s, 0.5, m, q);
    assert_int_equal(r.rows, T.c->m + 2 * 2 * 3 + 3); /* 2 d(d+1), objective, alpha, trace */
    s.literal = true;
    s.trace = 20;
    s.delta = 0;
    r = run(h, &T, &s, 0.5, m, q);
    assert_int_equal(r.rows, T.c->m + 4 * 2 * 2 + 2); /* the paper's count */
    free(q);
    toy_free(&T);
}

/* ---- settings, bits, memory ------------------------------------------------------------------------------------------ */

static void settings_out_of_range_say_so(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 1, 20, 3, 30, 'p');
    bdml_solve_result r;
    bdml_paper_settings ok = bdml_paper_defaults(BDML_PAPER_LIFTED), s;
    ok.scaling = BDML_ROW_SCALING_NONE;
#define TRY(change, text)                                                                 \
    do {                                                                                  \
        s = ok;                                                                           \
        change;                                                                           \
        check_fails(h, bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r, NULL), \
                    BDML_ERR_ARGUMENT, text);                                             \
    } while (0)
    TRY((s.delta = 0.1, s.rho = 0.5), "rho = 0.5 is exceeded: the width of the rows is");
    TRY(s.rho = -1, "rho must be positive");
    TRY(s.trace = 0, "trace (R) must be positive");
    TRY(s.trace = -3, "trace (R) must be positive");
    TRY(s.literal = true, "literal form needs a trace bound");
    TRY(s.rounds = 0, "rounds (T) must be at least 1");
    TRY(s.epsilon = 0.6, "epsilon must be at most 1/2");
    TRY(s.delta = 1e9, "above 1/2");
    TRY(s.delta = -1, "delta must be positive");
    TRY(s.K = 0.5, "distortion must be from 1");
    TRY(s.margin = 0, "margin must be positive");
    TRY(s.distortion_weight = 0, "distortion-weight must be positive");
    TRY(s.floor = 1, "weight-floor");
    TRY((s.delta = 0.1, s.rho_negative = 3), "leave out rho-negative");
    TRY(s.gap = 0, "gap must be above 0");
    TRY((s.form = BDML_PAPER_CONE, s.literal = true, s.trace = 5),
        "literal is a form of solver mwu");
#undef TRY
    check_fails(h, bdml_set(h, "epsilon", "0.6"), BDML_ERR_ARGUMENT, "epsilon");
    check_fails(h, bdml_set(h, "rounds", "0"), BDML_ERR_ARGUMENT, "rounds");
    toy_free(&T);
}

/* In practical mode a width that is too small is told, and reported. */
static void exceeded_width_is_told(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 1, 20, 3, 30, 'p');
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_LIFTED);
    double m[9], *q = calloc((size_t)T.c->m, sizeof *q);
    s.trace = 30;
    s.literal = true;
    s.rho = 1;
    s.rounds = 50;
    s.epsilon = 0.001;
    bdml_mwu_result r = run(h, &T, &s, 1.0, m, q);
    check_true(r.exceeded > 1 && r.width > r.rho);
    free(q);
    toy_free(&T);
}

/* Bisection with bounds tried side by side, in every form, plain and with the guarantee. Small problems run on one
 * thread but for the parallel start; large ones share out each round. */
static void same_bits_for_any_threads(void **state)
{
    enum { MWU, LITERAL, CONE, GUARANTEE, FORMS };
    bdml_handle *h = *state;
    for (int k = 0; k < 2 * FORMS; k++) {
        bdml_solve_result r[2];
        bdml_bisection b[2];
        int form = k % FORMS;
        bool large = k >= FORMS, cone = form == CONE || form == GUARANTEE;
        toy T = large ? make_toy(h, 7, 6000, 60, 300, 'p') : make_toy(h, 7, 60, 6, 120, 'p');
        bdml_paper_settings s = bdml_paper_defaults(cone ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
        s.rounds = large ? 20 : 200;
        s.scaling = form == LITERAL ? BDML_ROW_SCALING_NONE : BDML_ROW_SCALING_WIDTH;
        s.gap = large ? 0.5 : 0.01;
        s.literal = form == LITERAL;
        if (form == LITERAL) s.trace = 10 * T.d, s.rho = 5 * s.trace;
        if (form == GUARANTEE) s.delta = 0.1, s.gap = 0.1;
        for (int j = 0; j < 2; j++) {
            check_ok(h, bdml_set(h, "threads", j ? "2" : "1"));
            check_ok(h, bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r[j], &b[j]));
        }
        assert_memory_equal(r[0].m, r[1].m, sizeof(double) * (size_t)(T.d * T.d));
        assert_memory_equal(r[0].y, r[1].y, sizeof(double) * (size_t)T.c->m);
        check_true(r[0].iterations == r[1].iterations && b[0].calls == b[1].calls);
        check_true(b[0].calls >= s.starts && b[0].L == b[1].L && b[0].U == b[1].U);
        bdml_solve_result_free(&r[0]);
        bdml_solve_result_free(&r[1]);
        toy_free(&T);
    }
}

/* A run takes no memory; every allocation before it may fail. */
static void rounds_take_no_memory(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 5, 30, 4, 50, 'p');
    for (int form = 0; form < 2; form++) {
        bdml_paper_settings s = bdml_paper_defaults(form ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
        bdml_problem *p;
        bdml_mwu *w;
        bdml_mwu_result r;
        s.rounds = 100;
        check_ok(h, bdml_paper_problem(h, T.n, T.d, T.x, T.d, T.c, false, &p));
        check_ok(h, bdml_mwu_new(h, p, &s, &w));
        int64_t before = h->alloc_count;
        check_ok(h, bdml_mwu_run(w, 0.7, &r));
        check_true(h->alloc_count == before);
        bdml_mwu_free(w);
        bdml_problem_free(p);
    }
    toy_free(&T);
}

static void allocation_failures_are_clean(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 5, 20, 3, 20, 'p');
    for (int form = 0; form < 2; form++) {
        bdml_paper_settings s = bdml_paper_defaults(form ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
        s.rounds = 20;
        s.gap = 0.5;
        s.starts = 2;
        for (int64_t k = 1;; k++) {
            bdml_solve_result r;
            h->fail_alloc = k;
            bdml_status status = bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r, NULL);
            bool failed = h->fail_alloc == 0;
            h->fail_alloc = 0;
            if (status == BDML_OK) {
                bdml_solve_result_free(&r);
                if (!failed) break;
            } else {
                check_true(status == BDML_ERR_MEMORY);
            }
            check_true(k < 500);
        }
    }
    toy_free(&T);
}

static void workspaces_fail_clean(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 5, 20, 3, 20, 'p');
    for (int form = 0; form < 2; form++) {
        bdml_paper_settings s = bdml_paper_defaults(form ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
        for (int64_t k = 1;; k++) {
            bdml_problem *p = NULL;
            bdml_mwu *w = NULL;
            h->fail_alloc = k;
            bdml_status status = bdml_paper_problem(h, T.n, T.d, T.x, T.d, T.c, false, &p);
            if (status == BDML_OK) status = bdml_mwu_new(h, p, &s, &w);
            h->fail_alloc = 0;
            bdml_mwu_free(w);
            bdml_problem_free(p);
            if (status == BDML_OK) break;
            check_true(status == BDML_ERR_MEMORY && !w && k < 500);
        }
    }
    toy_free(&T);
}

static void time_limit_is_kept(void **state)
{
    bdml_handle *h = *state;
    toy T = mined(h, "wine", 't');
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    bdml_solve_result r;
    s.delta = 1e-3;
    h->stop_by = bdml_now() + 0.3;
    double start = bdml_now();
    check_ok(h, bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r, NULL));
    check_true(bdml_now() - start < 20.0); /* a loaded machine; the run itself would take hours */
    check_true(r.outcome == BDML_STOPPED && r.stop == BDML_STOP_TIME);
    check_true(r.lower <= 2.57579);
    bdml_solve_result_free(&r);
    toy_free(&T);
}

/* Be it the default of the engine; where none is given the paper's own stands. */
static void a_gap_that_is_given_counts(void **state)
{
    bdml_handle *h = *state;
    const bdml_options *o = &h->options;
    check_ok(h, bdml_set(h, "solver", "mwu"));
    check_true(bdml_paper_from_options(&o->solve, &o->mwu).gap == 1e-2);
    check_ok(h, bdml_set(h, "gap", "1e-3"));
    check_true(bdml_paper_from_options(&o->solve, &o->mwu).gap == 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(a_gap_that_is_given_counts),    handle_test(guarantee_holds_cone),
        handle_test(guarantee_holds_lifted),        handle_test(theorem_holds),
        handle_test(theorem_holds_for_averages),    handle_test(one_basis_serves_many_rounds),
        handle_test(rounds_are_those_of_the_proof), handle_test(settings_out_of_range_say_so),
        handle_test(exceeded_width_is_told),        handle_test(same_bits_for_any_threads),
        handle_test(rounds_take_no_memory),         handle_test(allocation_failures_are_clean),
        handle_test(workspaces_fail_clean),         handle_test(time_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
