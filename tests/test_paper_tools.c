/* test_paper_tools.c - eigenvalues for the paper's algorithm: Lanczos, low rank, turned bases. */
#include "paper_toy.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(lanczos_finds_the_largest),
        handle_test(low_rank_values_agree),
        handle_test(turned_values_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
