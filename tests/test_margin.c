/* test_margin.c - the margin operator against explicit d x d constraint matrices. */
#include "check.h"

#include "linalg/linalg.h"
#include "problem/problem.h"

/* A random problem: n points around a far-off centre (so that a lost centring shows), and
 * constraints of the kinds asked for. */
typedef struct problem {
    bdml_handle *h;
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
    bdml_margin *op;
} problem;

static double *random_numbers(uint64_t stream, size_t count)
{
    bdml_rng r = bdml_rng_make(11, stream);
    double *v = malloc(sizeof *v * (count + 1));
    for (size_t k = 0; k < count; k++) v[k] = bdml_rng_normal(&r);
    return v;
}

static double *random_symmetric(uint64_t stream, int d)
{
    double *m = random_numbers(stream, (size_t)d * (size_t)d);
    bdml_la_mirror(d, m, d);
    return m;
}

static void draw_rows(bdml_rng *r, int64_t n, int64_t count, int width, int32_t *rows)
{
    for (int64_t t = 0; t < count; t++)
        for (int a = 0; a < width; a++) {
            int32_t *row = rows + t * width, v;
            bool again;
            do {
                v = (int32_t)bdml_rng_below(r, (uint64_t)n);
                again = false;
                for (int b = 0; b < a; b++) again |= row[b] == v;
            } while (again);
            row[a] = v;
        }
}

static problem make_problem(bdml_handle *h, int64_t n, int d, int64_t targets, int64_t impostors,
                            int64_t triplets)
{
    problem p = {.h = h, .n = n, .d = d};
    bdml_rng r = bdml_rng_make(5, (uint64_t)(n + 1000 * d));
    int32_t *a = malloc(sizeof *a * (size_t)(2 * targets + 1));
    int32_t *b = malloc(sizeof *b * (size_t)(2 * impostors + 1));
    int32_t *t = malloc(sizeof *t * (size_t)(3 * triplets + 1));
    draw_rows(&r, n, targets, 2, a);
    draw_rows(&r, n, impostors, 2, b);
    draw_rows(&r, n, triplets, 3, t);
    p.x = random_numbers((uint64_t)n, (size_t)(n * d));
    for (int64_t e = 0; e < n * d; e++) p.x[e] += 3.0;
    check_ok(h, bdml_constraints_from_arrays(h, n, targets, a, impostors, b, triplets, t, &p.c));
    check_ok(h, bdml_margin_new(h, n, d, p.x, d, p.c, &p.op));
    free(a);
    free(b);
    free(t);
    check_ok(h, bdml_la_enter(h));
    return p;
}

static void drop_problem(problem *p)
{
    bdml_la_leave(p->h);
    bdml_margin_free(p->op);
    bdml_free_constraints(p->c);
    free(p->x);
}

/* s += w (x_i - x_j)(x_i - x_j)', the plain way. */
static void add_pair(const problem *p, int32_t i, int32_t j, double w, double *s)
{
    const double *a = p->x + (size_t)i * (size_t)p->d, *b = p->x + (size_t)j * (size_t)p->d;
    for (int q = 0; q < p->d; q++)
        for (int r = 0; r < p->d; r++) s[q * p->d + r] += w * (a[q] - b[q]) * (a[r] - b[r]);
}

static void add_constraint(const problem *p, int64_t t, double w, double *s)
{
    int32_t rows[3];
    assert_int_equal(bdml_constraints_at(p->c, t, rows), BDML_OK);
    add_pair(p, rows[0], rows[2], w, s);
    if (rows[1] >= 0) add_pair(p, rows[0], rows[1], -w, s);
}

/* Rounding: entries are sums of about `terms` products of numbers of size up to ~10. */
static double slack(double terms)
{
    return 1e-13 * (10.0 + terms);
}

/* Every A_t made explicitly: <A_t, M>, sum y_t A_t, G, their diagonals, all pair distances. */
static void compare_with_matrices(bdml_handle *h, int64_t n, int d, int64_t targets,
                                  int64_t impostors, int64_t triplets)
{
    problem p = make_problem(h, n, d, targets, impostors, triplets);
    size_t dd = (size_t)d * (size_t)d;
    int64_t m = bdml_constraints_count(p.c);
    double *metric = random_symmetric(2, d), *y = random_numbers(3, (size_t)m);
    double *v = malloc(sizeof *v * (size_t)(m + 1)), *vd = malloc(sizeof *vd * (size_t)(m + 1));
    double *a = calloc(dd, sizeof *a), *s = calloc(dd, sizeof *s), *sum = calloc(dd, sizeof *sum);
    double *diagonal = malloc(sizeof *diagonal * (size_t)d);
    double *sd = malloc(sizeof *sd * (size_t)d);
    double scale = 0.0;
    for (int r = 0; r < d; r++) diagonal[r] = metric[r * d + r];

    bdml_margin_forward(p.op, metric, -1, NULL, v);
    bdml_margin_forward_diag(p.op, diagonal, -1, NULL, vd);
    for (int64_t t = 0; t < m; t++) {
        double value = 0.0, value_diag = 0.0;
        memset(a, 0, dd * sizeof *a);
        add_constraint(&p, t, 1.0, a);
        for (size_t e = 0; e < dd; e++) value += a[e] * metric[e];
        for (int r = 0; r < d; r++) value_diag += a[r * d + r] * diagonal[r];
        check_close(v[t], value, slack(100.0 * (double)dd));
        check_close(vd[t], value_diag, slack(100.0 * d));
        add_constraint(&p, t, y[t], sum);
        scale += 20.0 * fabs(y[t]);
    }
    bdml_margin_adjoint(p.op, y, -1, NULL, s);
    bdml_margin_adjoint_diag(p.op, y, -1, NULL, sd);
    for (size_t e = 0; e < dd; e++) check_close(s[e], sum[e], slack(scale));
    for (int r = 0; r < d; r++) {
        check_close(sd[r], sum[r * d + r], slack(scale));
        for (int q = 0; q < d; q++) check_true(s[r * d + q] == s[q * d + r]);
    }

    memset(sum, 0, dd * sizeof *sum);
    for (int64_t k = 0; k < p.c->targets; k++)
        add_pair(&p, p.c->pi[p.c->target[k]], p.c->pj[p.c->target[k]], 1.0 / (double)p.c->targets,
                 sum);
    bdml_margin_objective(p.op, s);
    bdml_margin_objective_diag(p.op, sd);
    for (size_t e = 0; e < dd; e++) check_close(s[e], sum[e], slack(100.0));
    for (int r = 0; r < d; r++) check_close(sd[r], sum[r * d + r], slack(100.0));

    double *distance = malloc(sizeof *distance * (size_t)p.c->pairs);
    bdml_margin_pair_distances(p.op, metric, distance);
    for (int64_t k = 0; k < p.c->pairs; k++) {
        double value = 0.0;
        memset(a, 0, dd * sizeof *a);
        add_pair(&p, p.c->pi[k], p.c->pj[k], 1.0, a);
        for (size_t e = 0; e < dd; e++) value += a[e] * metric[e];
        check_close(distance[k], value, slack(100.0 * (double)dd));
    }
    free(metric), free(y), free(v), free(vd), free(a), free(s), free(sum);
    free(diagonal), free(sd), free(distance);
    drop_problem(&p);
}

static void values_match_explicit_matrices(void **state)
{
    bdml_handle *h = *state;
    compare_with_matrices(h, 30, 5, 40, 60, 0);      /* pairs, more than points */
    compare_with_matrices(h, 30, 5, 40, 0, 200);     /* triplets */
    compare_with_matrices(h, 30, 7, 20, 50, 100);    /* mixed */
    compare_with_matrices(h, 400, 6, 20, 30, 10);    /* fewer pairs than points */
    compare_with_matrices(h, 20, 70, 30, 40, 60);    /* two panels of the result */
    compare_with_matrices(h, 1500, 3, 900, 0, 2500); /* several parts and tiles */
    compare_with_matrices(h, 12, 600, 3, 2, 4);      /* fewer partial sums, many panels */
    compare_with_matrices(h, 12, 1089, 3, 2, 4);     /* one partial sum; 17 panels of 64 + 1 */
    compare_with_matrices(h, 9, 1, 5, 6, 7);         /* d = 1 */
    compare_with_matrices(h, 2, 3, 0, 1, 0);         /* one constraint, no target */
    compare_with_matrices(h, 3, 3, 1, 0, 1);
}

/* <A*y, M> = y' A(M): the operator and its adjoint belong together. */
static void adjoint_is_the_adjoint(void **state)
{
    bdml_handle *h = *state;
    problem p = make_problem(h, 300, 33, 100, 200, 900);
    int64_t m = bdml_constraints_count(p.c);
    double *y = random_numbers(8, (size_t)m), *v = malloc(sizeof *v * (size_t)m);
    double s[33 * 33];
    for (uint64_t trial = 0; trial < 5; trial++) {
        double *metric = random_symmetric(20 + trial, 33), left = 0.0, right = 0.0, size = 0.0;
        bdml_margin_forward(p.op, metric, -1, NULL, v);
        bdml_margin_adjoint(p.op, y, -1, NULL, s);
        for (int e = 0; e < 33 * 33; e++) left += s[e] * metric[e];
        for (int64_t t = 0; t < m; t++) right += y[t] * v[t], size += fabs(y[t] * v[t]);
        check_close(left, right, 1e-13 * size);
        free(metric);
    }
    free(y), free(v);
    drop_problem(&p);
}

/* f(M) = (1/m) sum (1 - <A_t,M>)_+^2, gradient -(2/m) A*(1 - A(M))_+ by central differences. f is
 * piecewise quadratic: within a piece the difference quotient is exact up to rounding, f eps / step
 * ~ 1e3 * 1e-16 / 1e-5; entries where a hinge switches inside the step are off by (step |A|)^2. */
static double soft(bdml_margin *op, const double *metric, int64_t m, double *v)
{
    double f = 0.0;
    bdml_margin_forward(op, metric, -1, NULL, v);
    for (int64_t t = 0; t < m; t++) {
        double short_of = fmax(1.0 - v[t], 0.0);
        f += short_of * short_of / (double)m;
        v[t] = -2.0 * short_of / (double)m;
    }
    return f;
}

static void gradient_matches_differences(void **state)
{
    enum { D = 4 };
    bdml_handle *h = *state;
    problem p = make_problem(h, 25, D, 10, 15, 50);
    int64_t m = bdml_constraints_count(p.c);
    double *metric = random_symmetric(31, D), *v = malloc(sizeof *v * (size_t)m), g[D * D];
    soft(p.op, metric, m, v);
    bdml_margin_adjoint(p.op, v, -1, NULL, g);
    for (int q = 0; q < D; q++)
        for (int r = 0; r <= q; r++)
            for (double step = 1e-4; step > 5e-6; step /= 10) {
                double keep = metric[q * D + r], up, down;
                metric[q * D + r] = metric[r * D + q] = keep + step;
                up = soft(p.op, metric, m, v);
                metric[q * D + r] = metric[r * D + q] = keep - step;
                down = soft(p.op, metric, m, v);
                metric[q * D + r] = metric[r * D + q] = keep;
                double slope = (up - down) / (2 * step), factor = q == r ? 1.0 : 2.0;
                check_close(slope, factor * g[q * D + r], 1e-6 * (1.0 + fabs(slope)));
            }
    free(metric), free(v);
    drop_problem(&p);
}

static void run_all(bdml_handle *h, const char *threads, double *v, double *s, double *g)
{
    check_ok(h, bdml_set(h, "threads", threads));
    problem p = make_problem(h, 3000, 70, 1000, 500, 6000);
    double *metric = random_symmetric(41, 70);
    double *y = random_numbers(42, (size_t)bdml_constraints_count(p.c));
    bdml_margin_forward(p.op, metric, -1, NULL, v);
    bdml_margin_adjoint(p.op, y, -1, NULL, s);
    bdml_margin_objective(p.op, g);
    bdml_margin_adjoint_diag(p.op, y, -1, NULL, g + 70 * 70);
    free(metric), free(y);
    drop_problem(&p);
}

static void bits_do_not_depend_on_threads(void **state)
{
    enum { M = 6500, DD = 70 * 70 };
    double *v = calloc(2 * M, sizeof *v), *s = calloc(2 * DD, sizeof *s);
    double *g = calloc(2 * (DD + 70), sizeof *g);
    run_all(*state, "1", v, s, g);
    run_all(*state, "3", v + M, s + DD, g + DD + 70);
    assert_memory_equal(v, v + M, M * sizeof *v);
    assert_memory_equal(s, s + DD, DD * sizeof *s);
    assert_memory_equal(g, g + DD + 70, (DD + 70) * sizeof *g);
    check_true(v[0] != 0.0 && s[0] != 0.0 && g[0] != 0.0);
    free(v), free(s), free(g);
}

/* Subsets of any size, listed in any order, are the full thing restricted; y = 0 elsewhere too. */
static void active_subsets_restrict(void **state)
{
    enum { D = 20 };
    bdml_handle *h = *state;
    problem p = make_problem(h, 300, D, 50, 300, 2000);
    int64_t m = bdml_constraints_count(p.c);
    static const int64_t sizes[] = {0, 1, 20, 600, 2000};
    double *metric = random_symmetric(51, D), s[D * D], t[D * D], sd[D], td[D];
    double *y = random_numbers(52, (size_t)m), *full = malloc(sizeof *full * (size_t)m);
    double *v = malloc(sizeof *v * (size_t)m), *sparse = malloc(sizeof *v * (size_t)m);
    int64_t *order = malloc(sizeof *order * (size_t)m);
    bdml_rng r = bdml_rng_make(1, 53);
    for (int64_t k = 0; k < m; k++) order[k] = k;
    bdml_rng_shuffle(&r, m, order);
    bdml_margin_forward(p.op, metric, -1, NULL, full);
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        int64_t count = sizes[z];
        bdml_margin_forward(p.op, metric, count, count ? order : NULL, v);
        for (int64_t k = 0; k < count; k++) check_close(v[k], full[order[k]], slack(100.0 * D * D));
        bdml_margin_adjoint(p.op, y, count, order, s);
        bdml_margin_adjoint_diag(p.op, y, count, order, sd);
        memset(sparse, 0, sizeof *sparse * (size_t)m);
        for (int64_t k = 0; k < count; k++) sparse[order[k]] = y[k];
        bdml_margin_adjoint(p.op, sparse, -1, NULL, t);
        bdml_margin_adjoint_diag(p.op, sparse, -1, NULL, td);
        for (int e = 0; e < D * D; e++) check_close(s[e], t[e], slack(20.0 * (double)count));
        for (int e = 0; e < D; e++) check_close(sd[e], td[e], slack(20.0 * (double)count));
        for (int e = 0; e < D; e++) check_close(sd[e], s[e * D + e], slack(20.0 * (double)count));
    }
    free(metric), free(y), free(full), free(v), free(sparse), free(order);
    drop_problem(&p);
}

static void twice(void *user, int64_t count, double *sum)
{
    ++*(int *)user;
    for (int64_t k = 0; k < count; k++) sum[k] *= 2.0;
}

static void as_it_is(void *user, int64_t count, double *most)
{
    (void)user, (void)count, (void)most;
}

/* Two ranks with the same data: sums double, means stay, values are those of a rank. */
static void sums_are_over_all_ranks(void **state)
{
    enum { D = 3, M = 14 };
    problem p = make_problem(*state, 12, D, 8, 5, 9);
    double y[M], v[M], v2[M], s[D * D], s2[D * D], g[D * D], g2[D * D], dot[32], z[D], z2[D];
    const double u[D] = {1.0, -2.0, 0.5};
    int calls = 0;
    bdml_comm comm = {.sum = twice, .max = as_it_is, .size = 2, .user = &calls};
    bdml_products *one, *two;
    assert_true(p.c->m == M && p.c->pairs <= 32);
    for (int t = 0; t < M; t++) y[t] = t + 1.0;
    check_ok(p.h, bdml_products_new(p.h, p.op, &one));
    bdml_products_weigh(one, 1.0, y);
    bdml_products_apply(one, u, dot, z);
    double mean = bdml_products_values(one, dot, 1.5, v);
    bdml_margin_adjoint(p.op, y, -1, NULL, s);
    bdml_margin_objective(p.op, g);
    bdml_margin_forward(p.op, g, -1, NULL, v);
    double target = bdml_margin_target_mean(p.op);
    bdml_margin_free(p.op);
    check_ok(p.h, bdml_margin_new_split(p.h, &comm, NULL, 12, D, p.x, D, p.c, &p.op));
    assert_int_equal(calls, 2); /* how many points, and their mean */
    calls = 0;
    check_ok(p.h, bdml_products_new(p.h, p.op, &two)); /* the number of targets */
    bdml_products_weigh(two, 1.0, y);
    bdml_products_apply(two, u, dot, z2);
    check_close(bdml_products_values(two, dot, 1.5, v2), mean, 0.0);
    bdml_margin_adjoint(p.op, y, -1, NULL, s2);
    bdml_margin_objective(p.op, g2);
    bdml_margin_forward(p.op, g, -1, NULL, v2);
    check_close(bdml_margin_target_mean(p.op), target, 0.0);
    for (int e = 0; e < D * D; e++) check_close(s2[e], 2.0 * s[e], 0.0);
    for (int e = 0; e < D * D; e++) check_close(g2[e], g[e], 0.0);
    for (int t = 0; t < M; t++) check_close(v2[t], v[t], 0.0);
    for (int r = 0; r < D; r++) { /* G is in both: of z the part of A*y doubles */
        double of_y = 0.0;
        for (int q = 0; q < D; q++) of_y += s[q * D + r] * u[q];
        check_close(z2[r], z[r] + of_y, 1e-12 * (1.0 + fabs(z[r])));
    }
    /* products: targets, z; mean: sum and targets, twice; adjoint: 1; objective: sum and targets */
    assert_int_equal(calls, 9);
    bdml_products_free(one);
    bdml_products_free(two);
    drop_problem(&p);
}

static void nothing_is_allocated_after_new(void **state)
{
    bdml_handle *h = *state;
    problem p = make_problem(h, 200, 10, 50, 100, 600);
    double *y = random_numbers(61, 700), *v = malloc(sizeof *v * 700), m[100] = {0};
    int64_t active[3] = {5, 2, 600}, before = h->alloc_count;
    bdml_margin_forward(p.op, m, -1, NULL, v);
    bdml_margin_forward(p.op, m, 3, active, v);
    bdml_margin_adjoint(p.op, y, -1, NULL, m);
    bdml_margin_adjoint(p.op, y, 3, active, m);
    bdml_margin_objective(p.op, m);
    check_true(h->alloc_count == before);
    free(y), free(v);
    drop_problem(&p);
}

static void failures_leave_nothing_behind(void **state)
{
    bdml_handle *h = *state;
    static const int32_t triplet[] = {0, 1, 2, 3, 2, 1};
    double x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    bdml_constraints *c;
    bdml_margin *op;
    check_ok(h, bdml_constraints_from_arrays(h, 4, 0, NULL, 0, NULL, 2, triplet, &c));
    check_fails(h, bdml_margin_new(h, 5, 2, x, 2, c, &op), BDML_ERR_ARGUMENT, "about 4 rows");
    int64_t at = 0;
    bdml_status status = BDML_ERR_MEMORY;
    while (status != BDML_OK) {
        h->fail_alloc = ++at;
        status = bdml_margin_new(h, 4, 2, x, 2, c, &op);
        check_true(status == BDML_OK || (status == BDML_ERR_MEMORY && op == NULL));
    }
    check_true(at > 10);
    h->fail_alloc = 0;
    bdml_margin_free(op);
    bdml_margin_free(NULL);
    bdml_free_constraints(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(values_match_explicit_matrices), handle_test(adjoint_is_the_adjoint),
        handle_test(gradient_matches_differences),   handle_test(bits_do_not_depend_on_threads),
        handle_test(active_subsets_restrict),        handle_test(sums_are_over_all_ranks),
        handle_test(nothing_is_allocated_after_new), handle_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
