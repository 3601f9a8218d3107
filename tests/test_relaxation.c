/* test_relaxation.c - the paper's step for Q. The oracle is held against the dense form of Proposition 2, with all of
 * its qd x qd matrices, in plain loops. */
#include "plain.h"
#include "two_classes.h"

#include "paper/relaxed.h"

/* ---- problems ------------------------------------------------------------------------------------------------- */

typedef struct toy {
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
    bdml_margin *op;
} toy;

static void toy_free(toy *T)
{
    free(T->x);
    bdml_margin_free(T->op);
    bdml_free_constraints(T->c);
}

static void toy_build(bdml_handle *h, toy *T, int targets, const int32_t *target, int m,
                      const int32_t *rows)
{
    check_ok(h, bdml_constraints_build(h, T->n, targets, target, m, rows, NULL, NULL, &T->c));
    check_ok(h, bdml_margin_new(h, T->n, T->d, T->x, T->d, T->c, &T->op));
}

static toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int m, char kind)
{
    two_classes t = two_classes_make(seed, n, d, m, kind, kind == 'p' ? 1.0 : 2.5);
    toy T = {.n = n, .d = d, .x = t.x};
    toy_build(h, &T, m, t.target, m, t.row);
    two_classes_free(&t);
    return T;
}

static plain plain_of(const toy *T)
{
    return (plain){T->n, T->d, T->x, T->c, NULL};
}

/* Random orthonormal rows. */
static void random_rows(bdml_handle *h, uint64_t seed, int q, int d, double *Q)
{
    bdml_rng r = bdml_rng_make(seed, 3);
    for (int i = 0; i < q * d; i++) Q[i] = bdml_rng_normal(&r);
    check_ok(h, bdml_la_orth(h, d, q, Q));
}

static void random_lambda(uint64_t seed, int q, double *lambda)
{
    bdml_rng r = bdml_rng_make(seed, 4);
    for (int i = 0; i < q; i++) lambda[i] = 0.2 + 3.0 * bdml_rng_uniform(&r);
}

/* objective and nu of Q'LQ by plain loops. */
static void plain_judge(const toy *T, int q, const double *lambda, double margin, const double *Q,
                        double *objective, double *nu)
{
    int d = T->d;
    plain P = plain_of(T);
    double *m = calloc((size_t)(d * d), sizeof *m), *g = calloc((size_t)(d * d), sizeof *g);
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++)
            for (int i = 0; i < q; i++) m[a * d + b] += lambda[i] * Q[i * d + a] * Q[i * d + b];
    plain_objective(&P, g);
    *objective = 0;
    for (int a = 0; a < d * d; a++) *objective += g[a] * m[a];
    *nu = INFINITY;
    for (int64_t t = 0; t < T->c->m; t++) *nu = fmin(*nu, plain_value(&P, m, t) / margin);
    free(m);
    free(g);
}

/* One run of the weights, workspace kept. */
typedef struct run {
    bdml_relaxed x;
    bdml_operator A;
    bdml_mwu *w;
    bdml_mwu_result r;
} run;

static void run_open(bdml_handle *h, const toy *T, int q, const double *lambda, int64_t rounds,
                     double delta, run *R)
{
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    memset(R, 0, sizeof *R);
    s.rounds = rounds;
    s.delta = delta;
    s.trace = 1.0;
    R->A = bdml_operator_low_rank(T->op, T->c, T->d, q);
    R->x = (bdml_relaxed){.d = T->d,
                          .q = q,
                          .lambda = lambda,
                          .op = T->op,
                          .tolerance = 1e-14,
                          .atoms.room = delta > 0 ? 200000 : rounds};
    check_ok(h, bdml_mwu_build(h, &R->A, &bdml_full_matrices, NULL, 0, &s, &bdml_relaxed_form,
                               &R->x, &R->w));
}

static void run_close(run *R)
{
    bdml_mwu_free(R->w);
}

/* z = (a G + A*y) u and the differences times u, by points (few of them, many pairs) and by pairs; values of u u'. */
static void products_are_those_of_the_matrix(void **state)
{
    bdml_handle *h = *state;
    for (int k = 0; k < 8; k++) {
        enum { D = 5 };
        int64_t n = k % 2 ? 7 : 200;
        toy T = make_toy(h, (uint64_t)k, n, D, 60, k % 4 < 2 ? 'p' : 't');
        check_true((T.c->pairs > 2 * n) == (n == 7)); /* which of the two forms it is */
        bdml_rng r = bdml_rng_make(5, (uint64_t)k);
        plain P = plain_of(&T);
        double *y = calloc((size_t)T.c->m, sizeof *y), *v = calloc((size_t)T.c->m, sizeof *v);
        double *dot = calloc((size_t)T.c->pairs, sizeof *dot), g[D * D], s[D * D], u[D], z[D],
               m[D * D];
        bdml_products *pr = NULL;
        for (int64_t t = 0; t < T.c->m; t++) y[t] = bdml_rng_normal(&r);
        for (int i = 0; i < D; i++) u[i] = bdml_rng_normal(&r);
        plain_objective(&P, g);
        plain_adjoint(&P, y, s);
        check_ok(h, bdml_products_new(h, T.op, &pr));
        bdml_products_weigh(pr, -1.7, y);
        bdml_products_apply(pr, u, dot, z);
        double f = bdml_products_values(pr, dot, 0.6, v), want = 0;
        for (int i = 0; i < D; i++) {
            double sum = 0;
            for (int j = 0; j < D; j++) {
                sum += (s[i * D + j] - 1.7 * g[i * D + j]) * u[j];
                m[i * D + j] = 0.6 * u[i] * u[j];
                want += g[i * D + j] * m[i * D + j];
            }
            check_close(z[i], sum, 1e-10);
        }
        check_close(f, want, 1e-11 * (1 + want));
        for (int64_t t = 0; t < T.c->m; t++) check_close(v[t], plain_value(&P, m, t), 1e-10);
        for (int64_t p = 0; p < T.c->pairs; p++) {
            double sum = 0;
            for (int j = 0; j < D; j++)
                sum += (T.x[T.c->pi[p] * D + j] - T.x[T.c->pj[p] * D + j]) * u[j];
            check_close(dot[p], sum, 1e-11);
        }
        bdml_products_free(pr);
        toy_free(&T);
        free(y);
        free(v);
        free(dot);
    }
}

/* ---- the dense form ------------------------------------------------------------------------------------------------ */

/* C += p X x L, index of Q's entry (i, a): a q + i. */
static void add_kronecker(int d, int q, double p, const double *X, const double *lambda, double *C)
{
    int n = q * d;
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++)
            for (int i = 0; i < q; i++)
                C[(a * q + i) * n + b * q + i] += p * X[a * d + b] * lambda[i];
}

/* C += p A_uv */
static void add_orthogonality(int d, int q, double p, int u, int v, double *C)
{
    int n = q * d;
    for (int a = 0; a < d; a++) {
        C[(a * q + u) * n + a * q + v] += p;
        if (u != v) C[(a * q + v) * n + a * q + u] += p;
    }
}

static void constraint_matrix(const toy *T, int64_t t, double *A)
{
    plain P = plain_of(T);
    double *y = calloc((size_t)T->c->m, sizeof *y);
    y[t] = 1.0;
    plain_adjoint(&P, y, A);
    free(y);
}

/* sum p_i s_i J_i and p.h of the weights as they stand. */
static double dense_matrix(const toy *T, const run *R, const double *lambda, double *C)
{
    const bdml_mwu *w = R->w;
    const bdml_relaxed *x = &R->x;
    int d = T->d, q = x->q;
    plain P = plain_of(T);
    double *A = calloc((size_t)(d * d), sizeof *A), ph;
    memset(C, 0, sizeof *C * (size_t)(q * d * q * d));
    plain_objective(&P, A);
    add_kronecker(d, q, -w->w0 * w->scale0 / w->total, A, lambda, C);
    ph = -w->w0 * w->scale0 / w->total * w->bound;
    for (int64_t t = 0; t < w->m; t++) {
        double p = w->w[t] * w->scale[t] / w->total;
        constraint_matrix(T, t, A);
        add_kronecker(d, q, p, A, lambda, C);
        ph += p * w->mu[t];
    }
    for (int v = 0; v < q; v++)
        for (int u = v; u < q; u++) {
            double scale = (u == v ? x->scale_diagonal : x->scale_off) / w->total;
            double p = scale * (x->plus[v * q + u] - x->minus[v * q + u]);
            add_orthogonality(d, q, p, u, v, C);
            if (u == v) ph += p;
        }
    free(A);
    return ph;
}

/* Weights of the orthogonality rows anywhere: for exact eigenvectors B stays diagonal from the start on, and the rows
 * off the diagonal would not be seen. */
static void random_weights(uint64_t seed, run *R)
{
    bdml_rng r = bdml_rng_make(seed, 8);
    int q = R->x.q;
    R->w->total = R->w->w0;
    for (int64_t t = 0; t < R->w->m; t++) R->w->total += R->w->w[t];
    for (int v = 0; v < q; v++)
        for (int u = v; u < q; u++) {
            R->x.plus[v * q + u] = 2.0 * bdml_rng_uniform(&r);
            R->x.minus[v * q + u] = 2.0 * bdml_rng_uniform(&r);
            R->w->total += R->x.plus[v * q + u] + R->x.minus[v * q + u];
        }
}

/* After any number of rounds the decoupled oracle has the largest eigenvalue of the dense matrix, at its vector; and
 * the values and the weights of a round are those of Y = q v v'. */
static void oracle_is_that_of_the_dense_form(void **state)
{
    bdml_handle *h = *state;
    const int shapes[][2] = {{1, 1}, {1, 5}, {2, 3}, {4, 4}, {3, 8}, {8, 8}, {5, 6}, {7, 8}};
    for (int s = 0; s < 8; s++)
        for (int k = 0; k < 6; k++) {
            int q = shapes[s][0], d = shapes[s][1], n = q * d;
            uint64_t seed = (uint64_t)(10 * s + k);
            toy T = make_toy(h, seed, 14, d, 9, k % 2 ? 't' : 'p');
            double lambda[8], *C = calloc((size_t)(n * n), sizeof *C),
                              *v = calloc((size_t)n, sizeof *v), *e = calloc((size_t)n, sizeof *e);
            run R;
            bool infeasible;
            random_lambda(seed, q, lambda);
            run_open(h, &T, q, lambda, 1 + 7 * k, 0.0, &R);
            check_ok(h, bdml_mwu_run(R.w, 3.0, &R.r));
            if (k >= 2) random_weights(seed, &R);
            check_ok(h, bdml_relaxed_oracle(R.w, &infeasible));
            double ph = dense_matrix(&T, &R, lambda, C), at = 0, size = 0;
            for (int a = 0; a < d; a++)
                for (int i = 0; i < q; i++) v[a * q + i] = R.x.w[i] * R.x.u[a];
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) at += v[i] * C[i * n + j] * v[j];
            plain_eigenvalues(h, n, C, false, e);
            size = fmax(fabs(e[0]), fabs(e[n - 1]));
            check_close(R.x.theta, e[n - 1], 1e-8 * size);
            check_close(at, e[n - 1], 1e-8 * size);
            check_close(R.w->value, q * e[n - 1] - ph, 1e-8 * (q * size + fabs(ph)));

            /* values of Y = q v v' */
            plain P = plain_of(&T);
            double *m = calloc((size_t)(d * d), sizeof *m), *g = calloc((size_t)(d * d), sizeof *g),
                   f = 0;
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++)
                    for (int i = 0; i < q; i++)
                        m[a * d + b] += q * lambda[i] * v[a * q + i] * v[b * q + i];
            plain_objective(&P, g);
            for (int a = 0; a < d * d; a++) f += g[a] * m[a];
            R.x.atoms.count = 0;
            bdml_relaxed_form.values(R.w);
            check_close(R.w->f, f, 1e-8 * (1 + fabs(f)));
            for (int64_t t = 0; t < T.c->m; t++)
                check_close(R.w->v[t], plain_value(&P, m, t), 1e-8 * (1 + fabs(R.w->v[t])));
            free(m);
            free(g);
            free(C);
            free(v);
            free(e);
            run_close(&R);
            toy_free(&T);
        }
}

/* The update of the orthogonality rows, entry by entry. */
static void weights_of_orthogonality(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 4 };
    toy T = make_toy(h, 5, 12, 5, 6, 'p');
    double lambda[Q] = {1, 2, 3, 0.5}, plus[Q * Q], minus[Q * Q], sum = 0;
    run R;
    run_open(h, &T, Q, lambda, 9, 0.0, &R);
    check_ok(h, bdml_mwu_run(R.w, 3.0, &R.r));
    random_weights(5, &R);
    for (int i = 0; i < Q; i++) R.x.w[i] = (i % 2 ? -0.3 : 0.5) + 0.1 * i;
    memcpy(plus, R.x.plus, sizeof plus);
    memcpy(minus, R.x.minus, sizeof minus);
    double step = R.w->epsilon / R.w->rho;
    double got = bdml_relaxed_form.update(R.w);
    for (int v = 0; v < Q; v++)
        for (int u = v; u < Q; u++) {
            double value = (u == v ? 1.0 : 2.0) * Q * R.x.w[u] * R.x.w[v], b = u == v ? 1.0 : 0.0;
            double slack = (u == v ? R.x.scale_diagonal : R.x.scale_off) * (value - b);
            double p = plus[v * Q + u] * (1 - step * slack),
                   n = minus[v * Q + u] * (1 + step * slack);
            check_close(R.x.plus[v * Q + u], p, 1e-14);
            check_close(R.x.minus[v * Q + u], n, 1e-14);
            sum += p + n;
        }
    check_close(got, sum, 1e-12);
    run_close(&R);
    toy_free(&T);
}

/* trace(Z) = q, and with rounds enough every row is met within delta: measured on the dense average. */
static void guarantee_holds(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 2, D = 3, N = Q * D };
    toy T = make_toy(h, 8, 10, D, 5, 'p');
    double lambda[Q] = {1.0, 2.0}, Z[N * N] = {0}, A[D * D], trace = 0, delta = 0.4;
    bdml_solve_result exact;
    run R;
    check_ok(h, bdml_relaxation_exact(h, T.op, T.c, D, 3.0, 1.0, 1e-6, 0.0, NULL, &exact));
    check_true(exact.outcome == BDML_OPTIMAL);
    double bound = 1.02 * exact.upper;
    run_open(h, &T, Q, lambda, 1, delta, &R);
    check_ok(h, bdml_mwu_run(R.w, bound, &R.r));
    check_true(R.r.verdict == BDML_MWU_FEASIBLE);
    check_true(R.x.atoms.count == R.w->round);
    for (int64_t t = 0; t < R.x.atoms.count; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                Z[i * N + j] += Q / (double)R.x.atoms.count * R.x.atoms.u[t * D + i / Q] *
                                R.x.atoms.w[t * Q + i % Q] * R.x.atoms.u[t * D + j / Q] *
                                R.x.atoms.w[t * Q + j % Q];
    for (int i = 0; i < N; i++) trace += Z[i * N + i];
    check_close(trace, Q, 1e-10);
    plain P = plain_of(&T);
    for (int64_t t = -1; t < T.c->m; t++) {
        double C[N * N] = {0}, value = 0;
        if (t < 0)
            plain_objective(&P, A);
        else
            constraint_matrix(&T, t, A);
        add_kronecker(D, Q, 1.0, A, lambda, C);
        for (int i = 0; i < N * N; i++) value += C[i] * Z[i];
        check_true(t < 0 ? value <= bound + delta + 1e-9 : value >= 1.0 - delta - 1e-9);
    }
    for (int v = 0; v < Q; v++)
        for (int u = v; u < Q; u++) {
            double C[N * N] = {0}, value = 0;
            add_orthogonality(D, Q, 1.0, u, v, C);
            for (int i = 0; i < N * N; i++) value += C[i] * Z[i];
            check_close(value, u == v ? 1.0 : 0.0, delta + 1e-9);
        }
    run_close(&R);
    bdml_solve_result_free(&exact);
    toy_free(&T);
}

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
        check_ok(h, bdml_relaxation_exact(h, T.op, T.c, d, trace, 0.5, 1e-5, 0.0, NULL, &exact));
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

/* ---- samples ---------------------------------------------------------------------------------------------------------- */

/* Covariance of N samples against Z. Under the null hypothesis an entry of the empirical covariance is normal to good
 * approximation with variance (Z_ii Z_jj + Z_ij^2)/N; over the 21 entries and two samplers a deviation of 5.2 of them has a
 * probability of 42 * 2.0e-7 < 1e-5, the false-alarm rate of this test for a fresh seed. */
static void check_covariance(bdml_handle *h, const bdml_sampler *from, const double *Z)
{
    enum { N = 20000, SIZE = 6 };
    double sum[SIZE * SIZE] = {0}, xi[SIZE],
                      *scratch = calloc(bdml_sampler_size(from), sizeof *scratch);
    for (int k = 0; k < N; k++) {
        bdml_sample(h, from, 7, k, scratch, xi);
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) sum[i * SIZE + j] += xi[i] * xi[j] / N;
    }
    for (int i = 0; i < SIZE; i++)
        for (int j = i; j < SIZE; j++) {
            double z = Z[i * SIZE + j], spread = Z[i * SIZE + i] * Z[j * SIZE + j] + z * z;
            check_close(sum[i * SIZE + j], z, 5.2 * sqrt(spread / N));
        }
    free(scratch);
}

static void samples_have_the_covariance(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 2, D = 3, T = 5 };
    double u[D * T], w[Q * T], Z[36] = {0}, root[D * 2] = {0.5, -0.2, 0.1, 0.3, 0.4, 0.0};
    bdml_rng r = bdml_rng_make(3, 3);
    for (int i = 0; i < D * T; i++) u[i] = bdml_rng_normal(&r);
    for (int i = 0; i < Q * T; i++) w[i] = bdml_rng_normal(&r);
    for (int t = 0; t < T; t++) /* entries of xi: row i of Q, coordinate a, at i D + a */
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                Z[i * 6 + j] += (double)Q / T * w[t * Q + i / D] * u[t * D + i % D] *
                                w[t * Q + j / D] * u[t * D + j % D];
    bdml_atoms atoms = {.count = T, .room = T, .u = u, .w = w};
    check_covariance(h, &(bdml_sampler){.d = D, .q = Q, .atoms = &atoms}, Z);
    memset(Z, 0, sizeof Z);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 2 && i / D == j / D; k++)
                Z[i * 6 + j] += root[k * D + i % D] * root[k * D + j % D];
    check_covariance(h, &(bdml_sampler){.d = D, .q = Q, .rank = 2, .root = root}, Z);
}

/* Among the samples as drawn, each rule takes the one that plain loops find; the screen changes nothing. */
static void rules_choose_what_they_say(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 2, D = 5, T = 6, SAMPLES = 300 };
    toy P = make_toy(h, 2, 60, D, 150, 'p');
    double u[D * T], w[Q * T], lambda[Q] = {1.0, 0.4}, xi[Q * D], best[Q * D], out[Q * D];
    double scratch[Q * T];
    bdml_rng r = bdml_rng_make(9, 9);
    for (int i = 0; i < D * T; i++) u[i] = bdml_rng_normal(&r);
    for (int i = 0; i < Q * T; i++) w[i] = bdml_rng_normal(&r);
    bdml_atoms atoms = {.count = T, .room = T, .u = u, .w = w};
    bdml_sampler from = {.d = D, .q = Q, .atoms = &atoms};
    for (int rule = 0; rule < 2; rule++) {
        bdml_relaxation_settings s = bdml_relaxation_defaults();
        bdml_relaxation_report report = {.achieved = INFINITY};
        double merit = -INFINITY, objective, nu, at_objective = 0, at_nu = 0;
        s.rule = (bdml_sample_rule)rule;
        s.orthonormalise = false;
        s.samples = SAMPLES;
        s.margin = 0.3;
        for (int k = 0; k < SAMPLES; k++) {
            bdml_sample(h, &from, s.seed, k, scratch, xi);
            plain_judge(&P, Q, lambda, s.margin, xi, &objective, &nu);
            double now = rule == BDML_SAMPLE_PAPER ? -objective : nu / objective;
            if (now <= merit) continue;
            merit = now, at_objective = objective, at_nu = nu;
            memcpy(best, xi, sizeof best);
        }
        memset(out, 0, sizeof out);
        out[0] = out[D] = 1e-3; /* two equal rows: a start that is easily beaten */
        check_ok(h, bdml_randomise(h, P.op, P.c, &from, lambda, &s, 2.0, out, &report));
        check_true(report.improved && memcmp(out, best, sizeof out) == 0);
        check_close(report.objective, at_objective, 1e-10 * at_objective);
        check_close(report.nu, at_nu, 1e-10 * (1 + fabs(at_nu)));
        check_close(report.sample_nu, at_nu, 1e-10 * (1 + fabs(at_nu)));
        check_close(report.omega, at_objective / 2.0, 1e-10 * at_objective);
        double zeta = 0;
        for (int i = 0; i < Q; i++)
            for (int j = 0; j <= i; j++) {
                double dot = 0;
                for (int a = 0; a < D; a++) dot += best[i * D + a] * best[j * D + a];
                zeta = fmax(zeta, i == j ? fabs(dot - 1) : 2 * fabs(dot));
            }
        check_close(report.zeta, zeta, 1e-12 * (1 + zeta));
    }
    toy_free(&P);
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
    s.time_limit = 0.02;
    check_ok(h, bdml_relaxation_q_step(h, T.op, T.c, 4, 2, lambda, &s, Q, &r));
    check_true(r.rounds > 0 && r.rounds < s.rounds && r.samples == 20);
    check_orthonormal(2, 4, Q);
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
        handle_test(products_are_those_of_the_matrix),
        handle_test(oracle_is_that_of_the_dense_form),
        handle_test(weights_of_orthogonality),
        handle_test(guarantee_holds),
        handle_test(refusals_agree_with_the_exact_optimum),
        handle_test(closed_case),
        handle_test(samples_have_the_covariance),
        handle_test(rules_choose_what_they_say),
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
