/* test_hull.c - the hulls of metrics of low rank: projections against a generic method (Dykstra's cyclic
 * projections, Frank-Wolfe) and by their variational inequality, linear minimisation against all vertices, the
 * certified solver over them against brute force over angles. */
#include "check.h"

#include "solver/solver.h"

enum { MAX_D = 12 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double dot(int d, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

/* Vectors of several kinds, ascending: spread, repeated, negative, one large. */
static void draw(bdml_rng *r, int d, double *z)
{
    int kind = (int)bdml_rng_below(r, 5);
    double scale = pow(10.0, 2.0 * bdml_rng_uniform(r) - 1.0);
    for (int i = 0; i < d; i++) {
        double g = bdml_rng_normal(r);
        if (kind == 1) g = rint(2.0 * g);
        if (kind == 2) g = -fabs(g);
        if (kind == 3) g = i == 0 ? 30.0 * fabs(g) : 0.1 * g;
        if (kind == 4) g = 1.0 + 0.3 * g;
        z[i] = scale * g;
    }
    qsort(z, (size_t)d, sizeof *z, ascending);
}

static void draw_spectrum(bdml_rng *r, int q, double *s)
{
    for (int i = 0; i < q; i++) s[i] = bdml_rng_below(r, 5) ? 3.0 * bdml_rng_uniform(r) : 1.0;
    qsort(s, (size_t)q, sizeof *s, ascending);
}

/* ---- hull of one spectrum ---------------------------------------------------------------------------- */

/* By the definition: sums of the k largest, and the trace. l ascending. */
static double majorisation_violation(int d, int q, const double *s, const double *l)
{
    double sum_l = 0, sum_s = 0, worst = -INFINITY;
    for (int k = 0; k < d; k++) {
        sum_l += l[d - 1 - k];
        sum_s += k < q ? s[q - 1 - k] : 0.0;
        worst = fmax(worst, sum_l - sum_s);
    }
    return fmax(worst, fabs(sum_l - sum_s));
}

/* Nearest point of the hull of all vertices by Frank-Wolfe with away steps replaced by many plain steps: the
 * linear minimisation is a sort alone. Returns its squared distance, an upper bound on the least; *gap: how
 * far it can be from it (the Frank-Wolfe gap). */
static double frank_wolfe(int d, int q, const double *s, const double *z, int steps, double *gap)
{
    double l[MAX_D], v[MAX_D], g[MAX_D];
    int order[MAX_D];
    for (int i = 0; i < d; i++) {
        l[i] = 0;
        for (int k = 0; k < q; k++) l[i] += s[k] / d;
    }
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < d; i++) g[i] = l[i] - z[i];
        bdml_spectral_sort(d, g, order);
        for (int i = 0; i < d; i++) v[order[i]] = i < q ? s[q - 1 - i] : 0.0;
        double along = 0, length = 0;
        for (int i = 0; i < d; i++) {
            along += g[i] * (l[i] - v[i]);
            length += (l[i] - v[i]) * (l[i] - v[i]);
        }
        *gap = along;
        double step = length > 0 ? fmin(along / length, 1.0) : 0.0;
        for (int i = 0; i < d; i++) l[i] += step * (v[i] - l[i]);
    }
    double sum = 0;
    for (int i = 0; i < d; i++) sum += (l[i] - z[i]) * (l[i] - z[i]);
    return sum;
}

/* A projection is told by: it is a member, and <z - l, v - l> <= 0 for every member v; the best v is the
 * vertex sorted like z - l. Rounding: a few d eps of the sizes. */
static void test_hull_projection(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(1, 0);
    double z[MAX_D], l[MAX_D], s[MAX_D], scratch[2 * MAX_D], w[MAX_D];
    for (int trial = 0; trial < 3000; trial++) {
        int d = 1 + (int)bdml_rng_below(&r, MAX_D), q = 1 + (int)bdml_rng_below(&r, (uint64_t)d);
        draw(&r, d, z);
        draw_spectrum(&r, q, s);
        bdml_spectral set = bdml_spectral_hull(d, q, s, scratch);
        set.ops->project(&set, z, l);
        double size = 1.0 + fabs(z[0]) + fabs(z[d - 1]) + set.trace;
        check_true(l[0] >= 0.0);
        check_close(fmax(majorisation_violation(d, q, s, l), 0.0), 0.0, 1e-14 * d * size);
        for (int i = 0; i < d; i++) w[i] = l[i] - z[i];
        qsort(w, (size_t)d, sizeof *w, ascending);
        double least = set.ops->minimise(&set, w, INFINITY, NULL), own = 0;
        for (int i = 0; i < d; i++) own += (l[i] - z[i]) * l[i];
        check_close(own, least, 1e-13 * d * size * size);
        set.ops->project(&set, z, z); /* in place */
        check_true(memcmp(z, l, sizeof *z * (size_t)d) == 0);
    }
}

/* The same against a method that knows nothing of blocks. */
static void test_hull_frank_wolfe(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(2, 0);
    double z[MAX_D], l[MAX_D], s[MAX_D], scratch[2 * MAX_D], gap;
    for (int trial = 0; trial < 20; trial++) {
        int d = 2 + (int)bdml_rng_below(&r, 5), q = 1 + (int)bdml_rng_below(&r, (uint64_t)d);
        draw(&r, d, z);
        draw_spectrum(&r, q, s);
        bdml_spectral set = bdml_spectral_hull(d, q, s, scratch);
        set.ops->project(&set, z, l);
        double own = 0, other = frank_wolfe(d, q, s, z, 20000, &gap);
        for (int i = 0; i < d; i++) own += (l[i] - z[i]) * (l[i] - z[i]);
        check_true(own <= other + 1e-10 * (1.0 + other));
        check_true(own >= other - 2.0 * gap - 1e-10 * (1.0 + other));
    }
}

/* All permutations of the padded spectrum. */
static double least_permutation(int d, double *s, int k, const double *w, double sum)
{
    if (k == d) return sum;
    double least = INFINITY;
    for (int i = k; i < d; i++) {
        double t = s[k];
        s[k] = s[i], s[i] = t;
        least = fmin(least, least_permutation(d, s, k + 1, w, sum + s[k] * w[k]));
        t = s[k];
        s[k] = s[i], s[i] = t;
    }
    return least;
}

static void test_hull_minimum(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(3, 0);
    double w[MAX_D], l[MAX_D], s[MAX_D] = {0}, all[MAX_D], scratch[2 * MAX_D];
    for (int trial = 0; trial < 200; trial++) {
        int d = 1 + (int)bdml_rng_below(&r, 6), q = 1 + (int)bdml_rng_below(&r, (uint64_t)d);
        draw(&r, d, w);
        draw_spectrum(&r, q, s);
        bdml_spectral set = bdml_spectral_hull(d, q, s, scratch);
        for (int i = 0; i < d; i++) all[i] = i < q ? s[i] : 0.0;
        double least = least_permutation(d, all, 0, w, 0.0);
        double size = set.trace * (fabs(w[0]) + fabs(w[d - 1]));
        check_close(set.ops->minimise(&set, w, INFINITY, l), least, 1e-14 * d * (1.0 + size));
        check_close(dot(d, w, l), least, 1e-14 * d * (1.0 + size));
        check_close(set.ops->density(&set, w) * set.trace, least, 1e-13 * d * (1.0 + size));
    }
}

/* ---- hull of bounded distortion and rank ------------------------------------------------------------- */

/* Is there an a with l <= K a, sum l <= K q a, sum min(l, a) >= q a? The first two ask for a large a, the last
 * for a small one (a -> sum min(l,a) - q a is concave, 0 at 0): look at the smallest allowed. */
static double rank_violation(int d, int q, double K, const double *l)
{
    double a = 0, sum = 0, minima = 0, worst = 0;
    for (int i = 0; i < d; i++) {
        worst = fmax(worst, -l[i]);
        a = fmax(a, l[i] / K);
        sum += l[i];
    }
    a = fmax(a, sum / (K * q));
    for (int i = 0; i < d; i++) minima += fmin(l[i], a);
    return fmax(worst, q * a - minima);
}

static void test_rank_projection(void **state)
{
    (void)state;
    static const double caps[] = {1.0, 1.5, 10.0, 1e3};
    bdml_rng r = bdml_rng_make(4, 0);
    double z[MAX_D], l[MAX_D], w[MAX_D];
    for (int trial = 0; trial < 4000; trial++) {
        int d = 1 + (int)bdml_rng_below(&r, MAX_D), q = 1 + (int)bdml_rng_below(&r, (uint64_t)d);
        double K = caps[bdml_rng_below(&r, 4)];
        draw(&r, d, z);
        bdml_spectral set = bdml_spectral_rank(d, q, K);
        set.ops->project(&set, z, l);
        double size = fabs(z[0]) + fabs(z[d - 1]);
        check_close(fmax(rank_violation(d, q, K, l), 0.0), 0.0, 1e-12 * d * size);
        /* a cone: <z - l, l> = 0 and <z - l, v> <= 0 for every member v */
        double own = 0;
        for (int i = 0; i < d; i++) {
            own += (z[i] - l[i]) * l[i];
            w[i] = l[i] - z[i];
        }
        qsort(w, (size_t)d, sizeof *w, ascending);
        check_close(own, 0.0, 1e-10 * d * K * size * size);
        check_true(set.ops->density(&set, w) >= -1e-10 * d * K * size);
    }
}

/* With q = d it is bounded distortion, which has a projection of its own. */
static void test_rank_full(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(5, 0);
    double z[MAX_D], a[MAX_D], b[MAX_D];
    for (int trial = 0; trial < 500; trial++) {
        int d = 1 + (int)bdml_rng_below(&r, MAX_D);
        draw(&r, d, z);
        bdml_spectral rank = bdml_spectral_rank(d, d, 5.0);
        bdml_spectral full = bdml_spectral_distortion(d, 5.0, INFINITY);
        rank.ops->project(&rank, z, a);
        full.ops->project(&full, z, b);
        for (int i = 0; i < d; i++)
            check_close(a[i], b[i], 1e-11 * d * (fabs(z[0]) + fabs(z[d - 1])));
        check_close(rank.ops->minimise(&rank, z, 2.0, a), full.ops->minimise(&full, z, 2.0, b),
                    1e-12 * (fabs(z[0]) + fabs(z[d - 1])));
    }
}

/* All choices of q places and of those among them that get K a. */
static void test_rank_minimum(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(6, 0);
    double w[MAX_D], l[MAX_D];
    for (int trial = 0; trial < 200; trial++) {
        int d = 1 + (int)bdml_rng_below(&r, 6), q = 1 + (int)bdml_rng_below(&r, (uint64_t)d);
        double K = 1.0 + 9.0 * bdml_rng_uniform(&r), R = 0.5 + bdml_rng_uniform(&r), least = 0.0;
        draw(&r, d, w);
        int codes = 1;
        for (int i = 0; i < d; i++) codes *= 3; /* per place: 0, a or K a */
        for (int code = 0; code < codes; code++) {
            double value = 0, trace = 0;
            int places = 0;
            for (int i = 0, rest = code; i < d; i++, rest /= 3) {
                double e = rest % 3 == 0 ? 0.0 : rest % 3 == 1 ? 1.0 : K;
                places += e > 0.0;
                value += e * w[i];
                trace += e;
            }
            if (places == q) least = fmin(least, R * value / trace);
        }
        bdml_spectral set = bdml_spectral_rank(d, q, K);
        double size = R * (1.0 + fabs(w[0]) + fabs(w[d - 1]));
        check_close(set.ops->minimise(&set, w, R, l), least, 1e-13 * d * size);
        check_close(dot(d, w, l), least, 1e-13 * d * size);
    }
}

/* ---- the solver over them ------------------------------------------------------------------------------ */

/* Twelve points in the plane in two classes, soft triplets: a metric of rank 1 is an angle, so the least over
 * { Q' lambda Q } is found by trying angles; the bracket over the hull must lie below it, and at a rank of 2
 * with equal values (a multiple of the identity) meet it. */
static double soft_objective(const double *x, const bdml_constraints *c, double C,
                             const double m[4])
{
    double sum = 0, loss = 0;
    for (int64_t t = 0; t < c->targets + c->m; t++) {
        double value = 0;
        for (int side = 0; side < 2; side++) {
            int32_t pair = t < c->targets ? (side ? -1 : c->target[t])
                           : side         ? c->near[t - c->targets]
                                          : c->far[t - c->targets];
            if (pair < 0) continue;
            double u = x[2 * c->pi[pair]] - x[2 * c->pj[pair]];
            double v = x[2 * c->pi[pair] + 1] - x[2 * c->pj[pair] + 1];
            double dist = m[0] * u * u + (m[1] + m[2]) * u * v + m[3] * v * v;
            value += side ? -dist : dist;
        }
        if (t < c->targets)
            sum += value / (double)c->targets;
        else if (value < 1.0)
            loss += (1.0 - value) * (1.0 - value);
    }
    return sum + C / (double)c->m * loss;
}

static void test_solver_over_hulls(void **state)
{
    bdml_handle *h = *state;
    enum { N = 12, ANGLES = 4000 };
    bdml_rng r = bdml_rng_make(7, 0);
    double x[2 * N];
    int32_t y[N];
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        x[2 * i] = bdml_rng_normal(&r) + 2.0 * y[i];
        x[2 * i + 1] = bdml_rng_normal(&r) + y[i];
    }
    bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                       .rule = BDML_RULE_CLASS,
                       .targets = 2,
                       .impostors = 3};
    bdml_constraints *c;
    bdml_problem *p;
    bdml_solve_result result;
    check_ok(h, bdml_mine(h, N, 2, x, 2, y, &how, &c));
    check_ok(h, bdml_problem_new(h, N, 2, x, 2, c, NULL, false, &p));
    double one = 0.7, two[2] = {0.4, 0.4}, C = 8.0, best_one = INFINITY, best_any = INFINITY;
    for (int k = 0; k < ANGLES; k++) {
        double at = 3.14159265358979 * k / ANGLES, a = cos(at), b = sin(at);
        for (int scale = 1; scale <= 60; scale++) {
            double s = 0.05 * scale, m[4] = {s * a * a, s * a * b, s * a * b, s * b * b};
            best_any = fmin(best_any, soft_objective(x, c, C, m));
        }
        double m[4] = {one * a * a, one * a * b, one * a * b, one * b * b};
        best_one = fmin(best_one, soft_objective(x, c, C, m));
    }
    bdml_solve_settings s = bdml_solve_defaults();
    s.C = C;
    s.gap = 1e-6;
    s.set = BDML_SET_HULL;
    s.rank = 1;
    s.spectrum = &one;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    check_true(result.outcome == BDML_OPTIMAL);
    check_close(result.trace, one, 1e-9);
    check_close(result.upper, soft_objective(x, c, C, result.m), 1e-9 * result.upper);
    check_true(result.lower <= best_one * (1 + 1e-9));
    bdml_solve_result_free(&result);

    s.rank = 2;
    s.spectrum = two;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    double eye[4] = {0.4, 0, 0, 0.4};
    check_close(result.upper, soft_objective(x, c, C, eye), 1e-9 * result.upper);
    check_true(result.lower <= result.upper && result.gap <= 1e-6);
    bdml_solve_result_free(&result);

    s.set = BDML_SET_RANK;
    s.rank = 1;
    s.K = 1.0;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    check_true(result.outcome == BDML_OPTIMAL);
    check_true(result.lower <= best_any * (1 + 1e-9));
    bdml_solve_result_free(&result);
    /* rank 1 without the cap is the cone of all metrics: the same optimum */
    double over_rank;
    s.K = 1e6;
    s.rank = 2;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    over_rank = result.upper;
    bdml_solve_result_free(&result);
    s.set = BDML_SET_DISTORTION;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    check_close(over_rank, result.upper, 3e-6 * result.upper);
    bdml_solve_result_free(&result);
    bdml_problem_free(p);
    bdml_free_constraints(c);
}

/* Hard margins over a hull: the trace is fixed, so the upper end is a blend; one margin, by hand. A single pair
 * with difference (3, 0) and d >= 4, target (0, 1), spectrum {1}: M11 >= 4/9, and the pull M22 = 1 - M11 is least
 * at M11 = 1. */
static void test_hard_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {0, 0, 3, 0, 0, 1};
    const int32_t target[] = {0, 2}, impostor[] = {0, 1};
    double one = 1.0;
    bdml_constraints *c;
    bdml_problem *p;
    bdml_solve_result result;
    check_ok(h, bdml_constraints_from_arrays(h, 3, 1, target, 1, impostor, 0, NULL, &c));
    check_ok(h, bdml_problem_new(h, 3, 2, x, 2, c, NULL, false, &p));
    bdml_solve_settings s = bdml_solve_defaults();
    s.hard = true;
    s.margin = 4.0;
    s.set = BDML_SET_HULL;
    s.rank = 1;
    s.spectrum = &one;
    s.max_iter = 5000;
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    check_true(result.m != NULL);
    check_close(result.upper, 0.0, 1e-6);
    check_close(result.m[0], 1.0, 1e-6);
    bdml_solve_result_free(&result);
    s.margin = 10.0; /* 9 is the most that trace 1 can give */
    check_ok(h, bdml_problem_solve(h, p, &s, &result));
    check_true(result.outcome == BDML_INFEASIBLE);
    bdml_solve_result_free(&result);
    double three[3] = {1.0, 1.0, 1.0};
    s.rank = 3;
    s.spectrum = three;
    check_fails(h, bdml_problem_solve(h, p, &s, &result), BDML_ERR_ARGUMENT, "rank");
    bdml_problem_free(p);
    bdml_free_constraints(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hull_projection), cmocka_unit_test(test_hull_frank_wolfe),
        cmocka_unit_test(test_hull_minimum),    cmocka_unit_test(test_rank_projection),
        cmocka_unit_test(test_rank_full),       cmocka_unit_test(test_rank_minimum),
        handle_test(test_solver_over_hulls),    handle_test(test_hard_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
