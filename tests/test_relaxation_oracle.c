/* test_relaxation_oracle.c - the oracle of the step for Q, held against the dense form of Proposition 2 with all of
 * its qd x qd matrices, in plain loops. */
#include "relaxation_toy.h"

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
    check_ok(h, bdml_relaxation_exact(h, T.op, T.c, D, 3.0, 1.0, 1e-6, NULL, &exact));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(products_are_those_of_the_matrix),
        handle_test(oracle_is_that_of_the_dense_form),
        handle_test(weights_of_orthogonality),
        handle_test(guarantee_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
