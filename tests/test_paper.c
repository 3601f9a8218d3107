/* test_paper.c - the paper's algorithm: guarantees met, refusals proven, brackets around known optima, every
 * setting out of range with its own message. Checked by plain loops (plain.h) on raw points. */
#include "plain.h"
#include "two_classes.h"

#include <float.h>

#include "model/evidence.h"
#include "paper/paper.h"

/* ---- problems -------------------------------------------------------------------------------------------- */

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

static plain plain_of(const toy *T)
{
    return (plain){T->n, T->d, T->x, T->c, NULL};
}

/* Feasible. */
static toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int m, char kind)
{
    two_classes t = two_classes_make(seed, n, d, m, kind, kind == 'p' ? 1.0 : 2.0);
    toy T = {.n = n, .d = d, .x = t.x};
    check_ok(h, bdml_constraints_build(h, n, m, t.target, m, t.row, NULL, NULL, &T.c));
    two_classes_free(&t);
    return T;
}

/* A problem of a bundled data set: z-scored by plain loops, 3 targets and 3 impostors a point by class, as the
 * reference problems are built (test_constraints.c compares the lists). */
static toy mined(bdml_handle *h, const char *name, char kind)
{
    char path[64];
    bdml_dataset *data = NULL;
    toy T = {0};
    snprintf(path, sizeof path, "data/%s.csv", name);
    check_ok(h, bdml_set(h, "kind", kind == 'p' ? "pair" : "triplet"));
    check_ok(h, bdml_read_dataset(h, source_path(path), &data));
    T.n = data->n;
    T.d = data->d;
    for (int j = 0; j < T.d; j++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < T.n; i++) mean += data->x[i * T.d + j];
        mean /= (double)T.n;
        for (int64_t i = 0; i < T.n; i++) {
            double centred = data->x[i * T.d + j] - mean;
            square += centred * centred;
        }
        for (int64_t i = 0; i < T.n; i++)
            data->x[i * T.d + j] = (data->x[i * T.d + j] - mean) / sqrt(square / (double)T.n);
    }
    check_ok(h, bdml_mine_constraints(h, data, &T.c));
    T.x = calloc((size_t)(T.n * T.d), sizeof *T.x);
    memcpy(T.x, data->x, sizeof *T.x * (size_t)(T.n * T.d));
    bdml_free_dataset(data);
    return T;
}

static void optimum(bdml_handle *h, const toy *T, double K, double R, bdml_solve_result *r)
{
    bdml_solve_settings s = bdml_solve_defaults();
    bdml_problem *p;
    s.hard = true;
    s.K = K;
    s.trace = R;
    s.gap = 1e-6;
    check_ok(h, bdml_problem_new(h, T->n, T->d, T->x, T->d, T->c, NULL, false, &p));
    check_ok(h, bdml_problem_solve(h, p, &s, r));
    check_true(r->outcome == BDML_OPTIMAL);
    bdml_problem_free(p);
}

/* One feasibility problem; the result's arrays are copied into m (d*d) and q (count of constraints). */
static bdml_mwu_result run(bdml_handle *h, const toy *T, const bdml_paper_settings *s, double bound,
                           double *m, double *q)
{
    bdml_problem *p;
    bdml_mwu *w;
    bdml_mwu_result r;
    check_ok(h, bdml_paper_problem(h, T->n, T->d, T->x, T->d, T->c, false, &p));
    check_ok(h, bdml_mwu_new(h, p, s, &w));
    check_ok(h, bdml_mwu_run(w, bound, &r));
    if (r.m) memcpy(m, r.m, sizeof *m * (size_t)(T->d * T->d));
    if (r.q) memcpy(q, r.q, sizeof *q * (size_t)T->c->m);
    r.m = m;
    r.q = q;
    bdml_mwu_free(w);
    bdml_problem_free(p);
    return r;
}

/* ---- plain checks ------------------------------------------------------------------------------------------- */

static double worst_miss(const toy *T, const double *m, double bound, double mu)
{
    plain P = plain_of(T);
    double *g = calloc((size_t)(T->d * T->d), sizeof *g), f = 0, worst;
    plain_objective(&P, g);
    for (int i = 0; i < T->d * T->d; i++) f += g[i] * m[i];
    worst = f - bound;
    for (int64_t t = 0; t < T->c->m; t++) worst = fmax(worst, mu - plain_value(&P, m, t));
    free(g);
    return worst;
}

static double plain_kappa(bdml_handle *h, int d, const double *m, double *trace)
{
    double *l = calloc((size_t)d, sizeof *l), kappa;
    plain_eigenvalues(h, d, m, false, l);
    kappa = l[0] > 0 ? l[d - 1] / l[0] : INFINITY;
    *trace = 0;
    for (int i = 0; i < d; i++) *trace += l[i];
    free(l);
    return kappa;
}

/* q0 (g - <G,M>) + sum q_t (<A_t,M> - mu) < 0 for all M with kappa <= K, trace <= R, by enumeration over the
 * number of large eigenvalues. */
static void check_refusal(bdml_handle *h, const toy *T, const bdml_paper_settings *s,
                          const bdml_mwu_result *r)
{
    plain P = plain_of(T);
    bdml_solve_settings set = bdml_solve_defaults();
    size_t size = (size_t)(T->d * T->d);
    double *g = calloc(size, sizeof *g), *a = calloc(size, sizeof *a),
           *l = calloc((size_t)T->d, sizeof *l), sum = 0;
    set.K = s->K;
    plain_objective(&P, g);
    plain_adjoint(&P, r->q, a);
    for (size_t i = 0; i < size; i++) a[i] = r->q0 * g[i] - a[i];
    plain_eigenvalues(h, T->d, a, false, l);
    double least = fmin(plain_density(&set, T->d, l), 0.0) * r->trace_bound;
    check_true(r->q0 >= 0);
    for (int64_t t = 0; t < T->c->m; t++) {
        check_true(r->q[t] >= 0);
        sum += r->q[t] * s->margin;
    }
    check_true(r->proves);
    check_true(r->q0 * r->bound - sum - least < 0);
    /* and R loses nothing: <G,M> <= bound implies trace(M) <= bound / density of G */
    plain_eigenvalues(h, T->d, g, false, l);
    double implied = r->bound / plain_density(&set, T->d, l);
    check_close(r->trace_bound, fmin(s->trace, implied), 1e-9 * implied);
    free(g);
    free(a);
    free(l);
}

/* ---- tools ------------------------------------------------------------------------------------------------ */

/* Largest eigenvalue by Lanczos against all of them by LAPACK: dense, low rank, multiple, negative, d = 1. */
static void lanczos_finds_the_largest(void **state)
{
    bdml_handle *h = *state;
    bdml_rng rng = bdml_rng_make(4, 4);
    const int sizes[] = {1, 2, 3, 17, 60, 120};
    for (int k = 0; k < 6; k++)
        for (int kind = 0; kind < 4; kind++) {
            int d = sizes[k];
            bdml_lanczos_ws ws;
            double *a = calloc((size_t)(d * d), sizeof *a), *l = calloc((size_t)d, sizeof *l),
                   *v = calloc((size_t)d, sizeof *v), theta, residual, size = 0, av = 0;
            for (int i = 0; i < d; i++)
                for (int j = 0; j <= i; j++)
                    a[i * d + j] = a[j * d + i] = kind == 0   ? bdml_rng_normal(&rng)
                                                  : kind == 1 ? (i == j) * 2.0
                                                  : kind == 2 ? -(double)(i == j) * (i + 1)
                                                              : 1.0 / (1 + i) / (1 + j);
            plain_eigenvalues(h, d, a, false, l);
            for (int i = 0; i < d; i++) size = fmax(size, fabs(l[i]));
            check_ok(h, bdml_lanczos_ws_init(h, d, &ws));
            for (int warm = 0; warm < 2; warm++) {
                bdml_la_largest(a, 1e-10, -INFINITY, v, &theta, &residual, &ws);
                /* theta is off by residual^2 over the spectral gap, which may be tiny: by the residual */
                check_close(theta, l[d - 1], 1e-9 * size);
                check_close(bdml_la_norm(d, v), 1.0, 1e-12);
                check_true(residual <= 1e-10 * size * 2);
            }
            for (int i = 0; i < d; i++) {
                double sum = -theta * v[i];
                for (int j = 0; j < d; j++) sum += a[i * d + j] * v[j];
                av += sum * sum;
            }
            check_true(sqrt(av) <= 1e-9 * size);
            bdml_lanczos_ws_free(&ws);
            free(a);
            free(l);
            free(v);
        }
}

static void low_rank_values_agree(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 9, 300, 5, 400, 't');
    plain P = plain_of(&T);
    bdml_margin *op;
    double u[10] = {0.3, -1, 2, 0.5, 0, 1, 1, 0, 0, -2}, m[25],
           *v = calloc((size_t)T.c->m, sizeof *v);
    check_ok(h, bdml_margin_new(h, T.n, T.d, T.x, T.d, T.c, &op));
    for (int rank = 1; rank <= 2; rank++) {
        for (int i = 0; i < 25; i++)
            m[i] = 1.7 * (u[i % 5] * u[i / 5] + (rank == 2) * u[5 + i % 5] * u[5 + i / 5]);
        bdml_margin_forward_low(op, rank, u, 1.7, v);
        /* values of size 100 at most, sums of 25 products */
        for (int64_t t = 0; t < T.c->m; t++) check_close(v[t], plain_value(&P, m, t), 1e-11);
    }
    bdml_margin_free(op);
    free(v);
    toy_free(&T);
}

/* In a basis: values at Q diag(l) Q', and the diagonal of Q' A*y Q, against plain loops. */
static void turned_values_agree(void **state)
{
    bdml_handle *h = *state;
    toy T = make_toy(h, 9, 300, 3, 400, 't');
    plain P = plain_of(&T);
    bdml_margin *op;
    /* columns (1,2,2)/3, (2,1,-2)/3, (2,-2,1)/3 */
    double Q[9] = {1 / 3., 2 / 3., 2 / 3., 2 / 3., 1 / 3., -2 / 3., 2 / 3., -2 / 3., 1 / 3.},
           l[3] = {3, 0, 0.5}, m[9] = {0}, a[9] = {0}, s[3], *v = calloc((size_t)T.c->m, sizeof *v),
           *y = calloc((size_t)T.c->m, sizeof *y);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) m[i] += l[k] * Q[3 * k + i % 3] * Q[3 * k + i / 3];
    for (int64_t t = 0; t < T.c->m; t++) y[t] = (double)(t % 7) / 7 - 0.2;
    check_ok(h, bdml_margin_new(h, T.n, T.d, T.x, T.d, T.c, &op));
    check_ok(h, bdml_margin_turn_init(h, op));
    bdml_margin_turn(op, Q);
    bdml_margin_forward_turned(op, l, v);
    /* values of size 100 at most, sums of 9 products */
    for (int64_t t = 0; t < T.c->m; t++) check_close(v[t], plain_value(&P, m, t), 1e-11);
    bdml_margin_adjoint_turned(op, y, s);
    plain_adjoint(&P, y, a);
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < 9; i++) sum += a[i] * Q[3 * k + i % 3] * Q[3 * k + i / 3];
        check_close(s[k], sum, 1e-9); /* sums of 400 values of size 100 */
    }
    bdml_margin_free(op);
    free(v);
    free(y);
    toy_free(&T);
}

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

/* ---- bisection ---------------------------------------------------------------------------------------------------- */

/* L <= optimum <= (U + delta) mu / (mu - delta), and the certified ends around it, by plain loops. */
static void brackets(bdml_handle *h, const char *name, char kind, double K, double known,
                     double delta, double gap)
{
    toy T = mined(h, name, kind);
    plain P = plain_of(&T);
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    bdml_solve_settings as = bdml_solve_defaults();
    bdml_solve_result r;
    bdml_bisection b;
    s.K = as.K = K;
    s.delta = delta;
    s.gap = gap;
    as.hard = true;
    as.gap = 1.0;
    /* the problem is the reference's, or its optimum would differ; Iris has tied neighbours, and where rounding
     * breaks the ties in another way it differs by up to 8e-4 */
    optimum(h, &T, K, INFINITY, &r);
    check_close(r.upper, known, 1e-3 * known);
    known = r.upper;
    bdml_solve_result_free(&r);
    check_ok(h, bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r, &b));
    check_true(r.lower <= known * (1 + 1e-5) && r.upper >= known * (1 - 1e-5));
    check_true(b.L <= known * (1 + 1e-5));
    check_true(known <= (b.U + delta) / (1 - delta) * (1 + 1e-5));
    check_true(b.U - b.L <= gap * b.U * (1 + 1e-9) || r.upper <= b.U);
    check_true(r.kappa <= K * (1 + 1e-9));
    check_true(r.upper - r.lower <= 0.25 * known); /* delta and gap leave no more */
    r.outcome = BDML_STOPPED;
    plain_check_upper(h, &P, &as, &r);
    check_close(plain_lower(h, &P, &as, &r), r.lower, 1e-8 * r.lower);
    bdml_solve_result_free(&r);
    toy_free(&T);
}

static void bisection_brackets_the_reference(void **state)
{
    bdml_handle *h = *state;
    /* optima by an interior-point solver, relative accuracy 1e-5 */
    brackets(h, "iris", 'p', 2, 1.02695, 0.05, 0.02);
    brackets(h, "iris", 'p', 10, 0.934205, 0.05, 0.02);
    brackets(h, "wine", 'p', 2, 0.75255, 0.05, 0.02);
    brackets(h, "wine", 'p', 10, 0.438989, 0.05, 0.02);
    brackets(h, "diabetes", 'p', 10, 6.318262, 0.1, 0.1);
}

/* The lifted form on the same problem: what it proves holds, what it returns is measured, not promised. */
static void lifted_bisection_is_honest(void **state)
{
    bdml_handle *h = *state;
    toy T = mined(h, "iris", 'p');
    plain P = plain_of(&T);
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_LIFTED);
    s.rounds = 3000;
    s.scaling = BDML_ROW_SCALING_WIDTH;
    for (int literal = 0; literal < 2; literal++) {
        bdml_solve_result r;
        bdml_bisection b;
        double trace, missed = 0;
        s.literal = literal != 0;
        s.trace = literal ? 100 : INFINITY;
        check_ok(h, bdml_paper_solve(h, T.n, T.d, T.x, T.d, T.c, false, &s, &r, &b));
        check_true(r.outcome == BDML_APPROXIMATE);
        check_true(r.lower <= 0.934205 * (1 + 1e-5));
        for (int64_t t = 0; t < T.c->m; t++) missed = fmax(missed, 1.0 - plain_value(&P, r.m, t));
        check_close(missed, r.slack, 1e-9);
        check_close(plain_kappa(h, T.d, r.m, &trace), r.kappa, 1e-6 * r.kappa);
        bdml_solve_result_free(&r);
    }
    toy_free(&T);
}

static bool is_confirmed(bdml_handle *h, const bdml_model *model, const bdml_dataset *data)
{
    char *json = NULL;
    int confirmed = 0;
    check_ok(h, bdml_certify_model(h, model, data, &confirmed, &json));
    bdml_free_bytes(json);
    return confirmed;
}

/* Margins that contradict each other whatever the trace (Iris, triplets), or at this trace (Iris, pairs, R = 2):
 * the model carries the proof and the independent checker confirms it. */
static void contradictions_are_proven(void **state)
{
    const char *const solvers[] = {"mwu-cone", "mwu"};
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "row-scaling", "width"));
    check_ok(h, bdml_set(h, "rounds", "20000"));
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    for (int k = 0; k < 3; k++) {
        bdml_model *model = NULL;
        check_ok(h, bdml_set(h, "solver", solvers[k / 2]));
        check_ok(h, bdml_set(h, "kind", k == 0 ? "triplet" : "pair"));
        check_ok(h, bdml_set(h, "trace", k == 0 ? "0" : "2"));
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_INFEASIBLE, "proven infeasible");
        check_true(is_confirmed(h, model, data));
        /* a proof with a multiplier changed is refuted: fail to be able to fail */
        for (int64_t t = 0; t < model->evidence->duals; t++) model->evidence->dual[t] *= -1.0;
        check_true(!is_confirmed(h, model, data));
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* One dimension, K = 1, and a constraint between identical points. */
static void edges(void **state)
{
    bdml_handle *h = *state;
    for (int form = 0; form < 2; form++) {
        bdml_paper_settings s = bdml_paper_defaults(form ? BDML_PAPER_CONE : BDML_PAPER_LIFTED);
        toy A = make_toy(h, 1, 12, 1, 10, 't'), B = make_toy(h, 1, 12, 3, 10, 't');
        bdml_solve_result r;
        s.scaling = BDML_ROW_SCALING_WIDTH;
        for (int k = 0; k < 2; k++) {
            const toy *T = k ? &B : &A;
            bdml_solve_result best;
            optimum(h, T, k ? 1 : 7, INFINITY, &best);
            s.K = k ? 1 : 7;
            check_ok(h, bdml_paper_solve(h, T->n, T->d, T->x, T->d, T->c, false, &s, &r, NULL));
            check_true(r.lower <= best.upper * (1 + 1e-9));
            if (form) check_true(r.upper >= best.lower * (1 - 1e-9) && r.kappa <= s.K * (1 + 1e-9));
            bdml_solve_result_free(&r);
            bdml_solve_result_free(&best);
        }
        int32_t i = B.c->pi[B.c->far[0]], j = B.c->pj[B.c->far[0]], n = B.c->near[0];
        check_true(n >= 0);
        for (int k = 0; k < 3; k++) /* far and near pair become a point each */
            B.x[j * 3 + k] = B.x[i * 3 + k],
                        B.x[B.c->pi[n] * 3 + k] = B.x[B.c->pj[n] * 3 + k] = B.x[i * 3 + k];
        check_ok(h, bdml_paper_solve(h, B.n, B.d, B.x, B.d, B.c, false, &s, &r, NULL));
        check_true(r.outcome == BDML_INFEASIBLE && r.proof == BDML_PROOF_CONE);
        check_true(r.contradicting == 1 && r.y[r.important[0]] > 0);
        bdml_solve_result_free(&r);
        toy_free(&A);
        toy_free(&B);
    }
}

/* Claims of both forms pass the checker, from memory and through a file; a claim made better than it is does not. */
static void claims_are_confirmed(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "kind", "pair"));
    check_ok(h, bdml_read_dataset(h, source_path("data/iris.csv"), &data));
    for (int k = 0; k < 4; k++) {
        bdml_model *model = NULL, *copy = NULL;
        void *bytes;
        size_t size;
        check_ok(h, bdml_set(h, "solver", k % 2 ? "mwu" : "mwu-cone"));
        check_ok(h, bdml_set(h, "diagonal", k < 2 ? "no" : "yes"));
        check_ok(h, bdml_set(h, "gap", "0.05"));
        check_ok(h, bdml_train(h, data, NULL, &model));
        check_ok(h, bdml_save_model_bytes(h, model, &bytes, &size));
        check_ok(h, bdml_load_model_bytes(h, bytes, size, &copy));
        check_true(is_confirmed(h, copy, data));
        copy->evidence->lower = copy->evidence->lower * 1.01 + 0.01;
        check_true(!is_confirmed(h, copy, data));
        copy->evidence->lower = model->evidence->lower;
        if (k % 2) {
            check_true(copy->evidence->claim == BDML_CLAIM_APPROXIMATE);
            copy->evidence->slack *= 0.9;
            check_true(!is_confirmed(h, copy, data));
        }
        bdml_free_bytes(bytes);
        bdml_free_model(model);
        bdml_free_model(copy);
    }
    bdml_free_dataset(data);
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
    s.time_limit = 0.3;
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
        handle_test(a_gap_that_is_given_counts),
        handle_test(lanczos_finds_the_largest),
        handle_test(low_rank_values_agree),
        handle_test(turned_values_agree),
        handle_test(guarantee_holds_cone),
        handle_test(guarantee_holds_lifted),
        handle_test(theorem_holds),
        handle_test(theorem_holds_for_averages),
        handle_test(one_basis_serves_many_rounds),
        handle_test(rounds_are_those_of_the_proof),
        handle_test(bisection_brackets_the_reference),
        handle_test(lifted_bisection_is_honest),
        handle_test(contradictions_are_proven),
        handle_test(edges),
        handle_test(claims_are_confirmed),
        handle_test(settings_out_of_range_say_so),
        handle_test(exceeded_width_is_told),
        handle_test(same_bits_for_any_threads),
        handle_test(rounds_take_no_memory),
        handle_test(allocation_failures_are_clean),
        handle_test(workspaces_fail_clean),
        handle_test(time_limit_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
