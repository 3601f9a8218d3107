/* test_engine.c - the certified solver: brackets, proofs, limits, warm starts, every form of
 * problem. */
#include "plain.h"

#include <float.h>

/* ---- helpers -------------------------------------------------------------------------------- */

/* A small problem with everything in it. */
typedef struct toy {
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
} toy;

static void toy_free(toy *T)
{
    free(T->x);
    bdml_free_constraints(T->c);
}

/* Two classes, m constraints: pairs, triplets or both; random margins and weights when asked.
 * The points live in `span` dimensions of d, turned by a random matrix when span < d. */
static toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int span, int m,
                    const char *kind)
{
    toy T = {.n = n, .d = d, .x = calloc((size_t)(n * d), sizeof *T.x)};
    bdml_rng r = bdml_rng_make(seed, 1);
    double *turn = calloc((size_t)(span * d), sizeof *turn), *z = calloc((size_t)span, sizeof *z);
    for (int i = 0; i < span * d; i++) turn[i] = bdml_rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        for (int a = 0; a < span; a++)
            z[a] = bdml_rng_normal(&r) + (i % 2 ? 1.0 : -1.0) * (a == 0 ? 2.0 : 0.2);
        for (int j = 0; j < d; j++)
            if (span == d)
                T.x[i * d + j] = z[j];
            else
                for (int a = 0; a < span; a++) T.x[i * d + j] += turn[a * d + j] * z[a];
    }
    int32_t *targets = calloc((size_t)(2 * m), sizeof *targets),
            *rows = calloc((size_t)(3 * m), sizeof *rows);
    double *margin = calloc((size_t)m, sizeof *margin), *weight = calloc((size_t)m, sizeof *weight);
    for (int t = 0; t < m; t++) {
        int32_t i = (int32_t)bdml_rng_below(&r, (uint64_t)n), j, k;
        do j = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while (j == i || (i + j) % 2);
        do k = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while ((i + k) % 2 == 0);
        targets[2 * t] = i, targets[2 * t + 1] = j;
        bool pair = kind[0] == 'p' || (kind[0] == 'm' && t % 2);
        rows[3 * t] = i, rows[3 * t + 1] = pair ? -1 : j, rows[3 * t + 2] = k;
        margin[t] = 0.5 + bdml_rng_uniform(&r);
        weight[t] = t % 7 == 0 ? 0.0 : 0.5 + bdml_rng_uniform(&r);
    }
    bool own = kind[1] == 'w';
    check_ok(h, bdml_constraints_build(h, n, m, targets, m, rows, own ? margin : NULL,
                                       own ? weight : NULL, &T.c));
    free(turn);
    free(z);
    free(targets);
    free(rows);
    free(margin);
    free(weight);
    return T;
}

static bdml_solve_settings hard_settings(double K, double R, double gap)
{
    bdml_solve_settings s = bdml_solve_defaults();
    s.hard = true;
    s.K = K;
    s.trace = R;
    s.gap = gap;
    return s;
}

static void solve_toy(bdml_handle *h, const toy *T, const bdml_solve_settings *s, bool diagonal,
                      bdml_solve_result *r)
{
    bdml_problem *p;
    check_ok(h, bdml_problem_new(h, T->n, T->d, T->x, T->d, T->c, NULL, diagonal, &p));
    check_ok(h, bdml_problem_solve(h, p, s, r));
    bdml_problem_free(p);
}

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
        check_true(r.outcome == BDML_INFEASIBLE && r.proof == BDML_PROOF_CONE);
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
    s.time_limit = 1e-6;
    solve_toy(h, &T, &s, false, &r);
    check_true(r.outcome == BDML_STOPPED && r.stop == BDML_STOP_TIME);
    plain_check(h, &P, &s, &r);
    bdml_solve_result_free(&r);
    s.time_limit = 0;
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
    refuse(time_limit, -1.0, "time-limit must be at least 0");
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
    bdml_solve_settings s = bdml_solve_from_options(h);
    check_true(s.K == 30 && s.trace == 7 && s.hard && s.loss == BDML_LOSS_HINGE && s.gap == 1e-5);
    check_fails(h, bdml_set(h, "distortion", "0.5"), BDML_ERR_ARGUMENT, "distortion");
    check_ok(h, bdml_set(h, "trace", "0"));
    s = bdml_solve_from_options(h);
    check_true(isinf(s.trace));
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
        handle_test(reference_optima_are_reached),
        handle_test(planted_optimum_is_found),
        handle_test(one_dimension_by_hand),
        handle_test(two_dimensions_by_search),
        handle_test(every_form_is_certified),
        handle_test(every_set_is_certified),
        handle_test(stiff_problems_are_solved),
        handle_test(objective_may_be_indefinite),
        handle_test(contradictions_are_proven_and_named),
        handle_test(identical_points_are_a_proof),
        handle_test(collapse_is_at_the_threshold),
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
