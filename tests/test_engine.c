/* test_engine.c - the certified solver: the brackets that it gives, against reference problems, optima
 * known by construction and plain loops. */
#include "engine_toy.h"
#include "solver/terms.h"

/* ---- the reference problems ----------------------------------------------------------------- */

/* Numbers of a CSV file; rows whose first field is no number are skipped. skip_last: leave out
 * the last column. */
static int64_t read_numbers(const char *path, bool skip_last, double **out, int *columns)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[4096];
    int64_t n = 0;
    *out = NULL;
    while (fgets(line, sizeof line, f)) {
        int commas = 0, width;
        for (char *s = line; *s; s++) commas += *s == ',';
        width = commas + 1 - skip_last;
        char *at = line, *end;
        strtod(at, &end);
        if (end == at) continue;
        *out = realloc(*out, sizeof **out * (size_t)((n + 1) * width));
        for (int j = 0; j < width; j++, at = end + 1) (*out)[n * width + j] = strtod(at, &end);
        *columns = width;
        n++;
    }
    fclose(f);
    return n;
}

static void zscore(int64_t n, int d, double *x)
{
    for (int j = 0; j < d; j++) {
        double mean = 0, var = 0;
        for (int64_t i = 0; i < n; i++) mean += x[i * d + j] / (double)n;
        for (int64_t i = 0; i < n; i++)
            var += (x[i * d + j] - mean) * (x[i * d + j] - mean) / (double)n;
        for (int64_t i = 0; i < n; i++)
            x[i * d + j] = (x[i * d + j] - mean) / (var > 0 ? sqrt(var) : 1);
    }
}

static int32_t *read_pairs(const char *name, const char *what, int64_t *count)
{
    char path[256];
    double *a;
    int columns;
    snprintf(path, sizeof path, "../reference/%s_%s.csv", name, what);
    *count = read_numbers(extra_data(path), false, &a, &columns);
    int32_t *pairs = calloc((size_t)(2 * *count), sizeof *pairs);
    for (int64_t i = 0; i < 2 * *count; i++) pairs[i] = (int32_t)a[i];
    free(a);
    return pairs;
}

static toy reference_problem(bdml_handle *h, const char *name, char kind)
{
    char path[256];
    toy T;
    int64_t targets, impostors, triplets = 0;
    snprintf(path, sizeof path, "data/%s.csv", name);
    T.n = read_numbers(source_path(path), true, &T.x, &T.d);
    zscore(T.n, T.d, T.x);
    int32_t *t = read_pairs(name, "targets", &targets),
            *i = read_pairs(name, "impostors", &impostors);
    int32_t *rows = calloc((size_t)(9 * impostors), sizeof *rows);
    for (int64_t a = 0; kind == 't' && a < impostors; a++)
        for (int64_t b = 0; b < targets; b++)
            if (t[2 * b] == i[2 * a]) {
                rows[3 * triplets] = i[2 * a];
                rows[3 * triplets + 1] = t[2 * b + 1];
                rows[3 * triplets++ + 2] = i[2 * a + 1];
            }
    check_ok(h, bdml_constraints_from_arrays(h, T.n, targets, t, kind == 'p' ? impostors : 0, i,
                                             triplets, rows, &T.c));
    free(t);
    free(i);
    free(rows);
    return T;
}

/* All problems of ../shared/reference/optima.csv: brackets overlap to 1e-4 relative, or a proof. */
static void reference_optima_are_reached(void **state)
{
    bdml_handle *h = *state;
    const char *table = extra_data("../reference/optima.csv");
    if (!table) skip();
    FILE *f = fopen(table, "r");
    char line[512];
    int seen = 0;
    while (fgets(line, sizeof line, f)) {
        char name[32], kind, status[32];
        double K, R, mu, upper = NAN, lower = NAN;
        int m;
        if (sscanf(line, "%31[^,],%c,%lf,%lf,%lf,%d,%31[^,],%lf,%lf", name, &kind, &K, &R, &mu, &m,
                   status, &upper, &lower) < 7)
            continue;
        toy T = reference_problem(h, name, kind);
        bdml_solve_settings s = hard_settings(K, R, 1e-4);
        s.margin = mu;
        bdml_solve_result r;
        solve_toy(h, &T, &s, false, &r);
        plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
        if (strncmp(status, "infeasible", 10) == 0) {
            check_true(r.outcome == BDML_INFEASIBLE);
            check_true(r.contradicting > 0);
        } else {
            check_true(r.outcome == BDML_OPTIMAL);
            check_true(r.lower <= upper * (1 + 1e-4) && r.upper >= lower * (1 - 1e-4));
            check_true(r.kappa <= K * (1 + 1e-9 + 4 * T.d * DBL_EPSILON * K));
        }
        bdml_solve_result_free(&r);
        toy_free(&T);
        seen++;
    }
    fclose(f);
    assert_int_equal(seen, 10);
}

/* ---- optima known by construction ----------------------------------------------------------- */

/* Planted: M* = Q diag(Ka on J, a elsewhere) Q', G = A*y* + Q diag(w) Q' with w <= 0 on J, >= 0
 * elsewhere and K sum_J w + sum_rest w = 0, so that <G - A*y*, M> >= 0 on the cone with equality
 * at M*. Margins are tight where y* > 0 and slack elsewhere. Then the optimum is <G,M*> = sum mu
 * y*. */
static void planted_optimum_is_found(void **state)
{
    bdml_handle *h = *state;
    enum { D = 6, N = 30, M = 40, TOP = 2, TIGHT = 8 };
    const double K = 7.0, a = 0.3;
    for (uint64_t seed = 0; seed < 5; seed++) {
        toy T = make_toy(h, 100 + seed, N, D, D, M, "mw");
        bdml_rng r = bdml_rng_make(seed, 5);
        double Q[D * D], lambda[D], G[D * D] = {0}, star[D * D] = {0}, optimum = 0;
        for (int i = 0; i < D; i++)
            for (int j = 0; j <= i; j++) Q[i * D + j] = Q[j * D + i] = bdml_rng_normal(&r);
        bdml_eigh_ws ws;
        check_ok(h, bdml_eigh_ws_init(h, D, &ws));
        check_ok(h, bdml_la_eigh(h, D, Q, lambda, true, &ws));
        bdml_eigh_ws_free(&ws);
        for (int k = 0; k < D; k++) {
            double w = k < TOP ? -1.0 / TOP : K / (D - TOP), l = k < TOP ? K * a : a;
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) {
                    G[i * D + j] += 0.2 * w * Q[k * D + i] * Q[k * D + j];
                    star[i * D + j] += l * Q[k * D + i] * Q[k * D + j];
                }
        }
        plain P = {T.n, T.d, T.x, T.c, NULL};
        double y[M] = {0}, S[D * D];
        int tight = 0;
        for (int64_t t = 0; t < T.c->m; t++) {
            double v = plain_value(&P, star, t);
            T.c->margin[t] = v > 0.2 ? 0.7 * v : 0.0;
            if (v <= 0.2 || tight == TIGHT) continue;
            T.c->margin[t] = v;
            y[t] = 0.5 + bdml_rng_uniform(&r);
            optimum += v * y[t];
            tight++;
        }
        /* a margin of 0 may still be missed by M*: drop the demand by turning it round is not
         * possible, so such constraints must hold at M* as they are */
        int64_t kept = 0;
        for (int64_t t = 0; t < T.c->m; t++)
            if (plain_value(&P, star, t) >= T.c->margin[t] * (1 - 1e-12)) {
                T.c->far[kept] = T.c->far[t], T.c->near[kept] = T.c->near[t];
                T.c->margin[kept] = T.c->margin[t], y[kept] = y[t], kept++;
            }
        T.c->m = kept;
        plain_adjoint(&P, y, S);
        for (int i = 0; i < D * D; i++) G[i] += S[i];
        P.objective = G;

        bdml_solve_settings s = hard_settings(K, INFINITY, 1e-5);
        bdml_problem *p;
        bdml_solve_result res;
        check_ok(h, bdml_problem_new(h, T.n, D, T.x, D, T.c, G, false, &p));
        check_ok(h, bdml_problem_solve(h, p, &s, &res));
        check_true(res.outcome == BDML_OPTIMAL);
        plain_check(h, &P, &s, &res);
        check_true(res.lower <= optimum * (1 + 1e-9) && optimum <= res.upper * (1 + 1e-9));
        check_true(res.upper - res.lower <= s.gap * fabs(res.upper) * (1 + 1e-9));
        bdml_solve_result_free(&res);
        bdml_problem_free(p);
        toy_free(&T);
    }
}

/* d = 1: M is a number. Hard: m = max mu_t/x_t^2. */
static void one_dimension_by_hand(void **state)
{
    bdml_handle *h = *state;
    double x[4] = {0, 1, 3, 7};
    int32_t targets[2] = {0, 1}, impostors[4] = {1, 2, 2, 3};
    bdml_constraints *c;
    check_ok(h, bdml_constraints_from_arrays(h, 4, 1, targets, 2, impostors, 0, NULL, &c));
    toy T = {4, 1, x, c};
    bdml_solve_settings s = hard_settings(1, INFINITY, 1e-8);
    bdml_solve_result r;
    s.margin = 2.0; /* |1-3|^2 m >= 2: m = 0.5; objective 1 * m */
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        solve_toy(h, &T, &s, diagonal, &r);
        check_true(r.outcome == BDML_OPTIMAL);
        check_close(r.upper, 0.5, 1e-8);
        check_close(r.m[0], 0.5, 1e-8);
        bdml_solve_result_free(&r);
    }
    /* squared hinge, C = 3: min m + (3/2) ((2-4m)_+^2 + (2-16m)_+^2). For m in [1/8, 1/2] only
     * the first term counts: 1 = 12 (2 - 4m), m = 23/48, and the value is 23/48 + 1.5/144. */
    s.hard = false;
    s.C = 3.0;
    solve_toy(h, &T, &s, false, &r);
    check_close(r.upper, 23.0 / 48 + 1.5 / 144, 1e-8);
    check_close(r.m[0], 23.0 / 48, 1e-4);
    bdml_solve_result_free(&r);
    /* C0: <G,M>/((1/2) sum 2 mu x^2 M) = 1/((1/2)(4*4 + 4*16)) = 1/40 */
    bdml_problem *p;
    double C0;
    check_ok(h, bdml_problem_new(h, 4, 1, x, 1, c, NULL, false, &p));
    check_ok(h, bdml_problem_collapse(h, p, &s, &C0));
    check_close(C0, 1.0 / 40, 1e-14);
    /* hinge, C = 3: slope 1 - 6 below 1/2 and 1 - 24 - 6 below 1/8: m = 1/2, value 1/2 */
    s.loss = BDML_LOSS_HINGE;
    check_ok(h, bdml_problem_solve(h, p, &s, &r));
    check_close(r.upper, 0.5, 1e-7);
    bdml_solve_result_free(&r);
    bdml_problem_free(p);
    bdml_free_constraints(c);
}

/* d = 2: every M with kappa <= K is a rotation of a diag(1, k), 1 <= k <= K. The bracket must
 * hold the best of a fine grid, up to what the grid can miss. */
static void two_dimensions_by_search(void **state)
{
    bdml_handle *h = *state;
    for (int form = 0; form < 4; form++) {
        toy T = make_toy(h, 40 + (uint64_t)form, 20, 2, 2, 25, form % 2 ? "tw" : "mw");
        plain P = {T.n, T.d, T.x, T.c, NULL};
        bdml_solve_settings s = bdml_solve_defaults();
        s.K = 5.0;
        s.gap = 1e-6;
        s.softness = 4.0;
        s.loss = form < 2 ? BDML_LOSS_SQUARED_HINGE : BDML_LOSS_HINGE;
        bdml_solve_result r;
        solve_toy(h, &T, &s, false, &r);
        check_true(r.outcome == BDML_OPTIMAL);
        plain_check(h, &P, &s, &r);
        double g[4], best = INFINITY, v[25];
        plain_objective(&P, g);
        for (int angle = 0; angle < 180; angle++)
            for (int ratio = 0; ratio <= 20; ratio++) {
                double k = 1 + (s.K - 1) * ratio / 20, co = cos(angle * 3.14159265358979 / 180),
                       si = sin(angle * 3.14159265358979 / 180);
                double m[4] = {co * co + k * si * si, (1 - k) * co * si, (1 - k) * co * si,
                               si * si + k * co * co};
                for (int64_t t = 0; t < T.c->m; t++) v[t] = plain_value(&P, m, t);
                for (int size = 0; size < 200; size++) {
                    double a = r.trace * size / 100, f = 0;
                    for (int i = 0; i < 4; i++) f += a * g[i] * m[i];
                    for (int64_t t = 0; t < T.c->m; t++)
                        f += plain_charge(&P, &s, r.C, t, plain_margin(&P, &s, t) - a * v[t]);
                    best = fmin(best, f);
                }
            }
        check_true(best >= r.lower);
        check_true(best <= r.upper * 1.01); /* steps of 1 degree, 5 and 1 percent */
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

/* ---- every form, checked from raw data ------------------------------------------------------ */

static void every_form_is_certified(void **state)
{
    bdml_handle *h = *state;
    static const char *const kinds[] = {"p", "tw", "mw"};
    for (int form = 0; form < 3 * 2 * 2 * 3; form++) {
        const char *kind = kinds[form % 3];
        bool diagonal = form / 3 % 2, reduced = form / 6 % 2;
        int loss = form / 12 % 3; /* hard, squared hinge, hinge */
        toy T = make_toy(h, 7 + (uint64_t)form, 40, 6, reduced ? 3 : 6, 60, kind);
        bdml_solve_settings s = bdml_solve_defaults();
        s.hard = loss == 0;
        s.loss = loss == 2 ? BDML_LOSS_HINGE : BDML_LOSS_SQUARED_HINGE;
        s.gap = 1e-5;
        s.K = 20;
        bdml_solve_result r;
        solve_toy(h, &T, &s, diagonal, &r);
        check_true(r.outcome == BDML_OPTIMAL || (s.hard && r.outcome == BDML_INFEASIBLE));
        assert_int_equal(r.rank, reduced && !diagonal ? 3 : 6);
        plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
        bdml_solve_result_free(&r);
        toy_free(&T);
    }
}

/* Sets with a trace that matters: the bound active, the ball, the simplex; hard and soft. */
static void every_set_is_certified(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 3, 60, 5, 5, 80, "p");
    plain P = {T.n, T.d, T.x, T.c, NULL};
    bdml_solve_settings s = hard_settings(10, INFINITY, 1e-5);
    bdml_solve_result r, bound;
    solve_toy(h, &T, &s, false, &r);
    double free_trace = r.trace, free_upper = r.upper;
    for (int set = 0; set < 3; set++)
        for (int soft = 0; soft < 2; soft++)
            for (int tight = 0; tight < 3; tight++) {
                static const double share[] = {1.5, 0.98, 0.3};
                s.set = (bdml_set_kind)set;
                s.hard = !soft;
                s.trace = share[tight] * free_trace;
                solve_toy(h, &T, &s, false, &bound);
                plain_check(h, &P, &s, &bound);
                if (soft) check_true(bound.outcome == BDML_OPTIMAL);
                if (tight == 2 && !soft)
                    check_true(bound.outcome == BDML_INFEASIBLE && bound.proof == BDML_PROOF_RATIO);
                if (tight == 0) check_true(bound.outcome == BDML_OPTIMAL);
                if (tight < 2 && set == 0 && !soft) {
                    check_true(bound.outcome == BDML_OPTIMAL);
                    check_true(bound.upper >= r.lower);
                    if (tight == 0) check_close(bound.upper, free_upper, 2e-5 * free_upper);
                }
                bdml_solve_result_free(&bound);
            }
    bdml_solve_result_free(&r);
    toy_free(&T);
}

/* Wine's triplets under K = 3 can just be met (they contradict each other at 2.5): first-order
 * steps alone need some 15,000 projections to 1e-4. With Newton's the bracket closes to
 * rounding. */
static void stiff_problems_are_solved(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_constraints *c;
    check_ok(h, bdml_set(h, "kind", "triplet"));
    check_ok(h, bdml_read_dataset(h, source_path("data/wine.csv"), &data));
    zscore(data->n, data->d, data->x);
    check_ok(h, bdml_mine_constraints(h, data, &c));
    toy T = {data->n, data->d, data->x, c};
    bdml_solve_settings s = hard_settings(3, INFINITY, 1e-8);
    bdml_solve_result r;
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_OPTIMAL && r.iterations < 3000);
    plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
    bdml_solve_result_free(&r);
    s.K = 2.5;
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_INFEASIBLE && r.proof == BDML_PROOF_CONE && r.iterations < 3000);
    plain_check(h, &(plain){T.n, T.d, T.x, T.c, NULL}, &s, &r);
    bdml_solve_result_free(&r);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* An objective that is negative in some directions: the trace bound alone keeps it finite. */
static void objective_may_be_indefinite(void **state)
{
    bdml_handle *h = *state;
    enum { D = 5 };
    toy T = make_toy(h, 13, 50, D, D, 60, "p");
    double G[D * D];
    plain P = {T.n, T.d, T.x, T.c, NULL};
    plain_objective(&P, G);
    for (int i = 0; i < D; i++) G[i * D + i] -= i < 3 ? 4.0 : 0.0;
    P.objective = G;
    for (int soft = 0; soft < 2; soft++) {
        bdml_solve_settings s = hard_settings(10, 30.0, 1e-5);
        s.hard = !soft;
        s.C = 1.0;
        bdml_problem *p;
        bdml_solve_result r;
        check_ok(h, bdml_problem_new(h, T.n, D, T.x, D, T.c, G, false, &p));
        check_ok(h, bdml_problem_solve(h, p, &s, &r));
        check_true(r.outcome == BDML_OPTIMAL && r.upper < 0.0);
        plain_check(h, &P, &s, &r);
        bdml_solve_result_free(&r);
        bdml_problem_free(p);
    }
    toy_free(&T);
}

/* Margins 1 at values 0.5 and 0.9, an interior point at 2 and 2: the share of it that both need is the first's,
 * 0.5/1.5; the least slack at twice the values is 0, and the smallest scale that meets both is 2. */
static void feasibility_of_terms_by_hand(void **state)
{
    (void)state;
    double b[] = {1, 1}, rough[] = {1, 4}, v[] = {0.5, 0.9}, inside[] = {2, 2};
    bdml_terms terms = {.space = {.count = 2, .total = 2, .comm = &bdml_comm_serial},
                        .b = b,
                        .rough = rough};
    check_close(bdml_terms_share(&terms, v, inside, 0.0), 1.0 / 3, 1e-15);
    check_close(bdml_terms_scale(&terms, v, 0.0), 2.0, 1e-15);
    check_close(bdml_terms_scale(&terms, v, 0.125), 1 / 0.375, 1e-15);
    check_close(bdml_terms_scale(&terms, v, 0.2), 10.0, 1e-14); /* the second, 0.9 - 4 * 0.2 */
    check_close(bdml_terms_least_slack(&terms, 2.0, v), 0.0, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(reference_optima_are_reached),
        handle_test(planted_optimum_is_found),
        handle_test(one_dimension_by_hand),
        handle_test(two_dimensions_by_search),
        handle_test(every_form_is_certified),
        handle_test(every_set_is_certified),
        handle_test(stiff_problems_are_solved),
        handle_test(objective_may_be_indefinite),
        cmocka_unit_test(feasibility_of_terms_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
