/* test_linalg.c - products against plain loops, the same bits for any number of threads, eigen. */
#include "check.h"

#include "linalg/linalg.h"

static double *random_matrix(bdml_handle *h, size_t count, uint64_t stream)
{
    double *a = bdml_alloc(h, count, sizeof *a);
    bdml_rng r = bdml_rng_make(9, stream);
    assert_non_null(a);
    for (size_t i = 0; i < count; i++) a[i] = bdml_rng_normal(&r);
    return a;
}

/* C = A B by three loops; entries are O(sqrt k), so 1e-12 leaves room for any order of summation. */
static void tiled_gemm_equals_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { M = 7, N = 600, K = 33 };
    double *a = random_matrix(h, M * K, 1), *b = random_matrix(h, K * N, 2);
    double *c = bdml_calloc(h, M * N, sizeof *c), *c2 = bdml_calloc(h, M * N, sizeof *c2);
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_set(h, "threads", "1"));
    bdml_la_gemm_tiled(h, 'N', 'N', M, N, K, 1.0, a, M, b, K, 0.0, c, M);
    check_ok(h, bdml_set(h, "threads", "3"));
    bdml_la_gemm_tiled(h, 'N', 'N', M, N, K, 1.0, a, M, b, K, 0.0, c2, M);
    bdml_la_leave(h);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += a[i + k * M] * b[k + j * K];
            check_close(c[i + j * M], s, 1e-12);
        }
    assert_memory_equal(c, c2, M * N * sizeof *c);
    free(a), free(b), free(c), free(c2);
}

static void gram_equals_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { D = 5, N = 3000 };
    double *x = random_matrix(h, D * N, 3), *w = random_matrix(h, N, 4);
    double *ws = bdml_alloc(h, bdml_la_gram_size(D), sizeof *ws), c[D * D], c2[D * D];
    for (int weighted = 0; weighted < 2; weighted++) {
        check_ok(h, bdml_la_enter(h));
        check_ok(h, bdml_set(h, "threads", "1"));
        bdml_la_gram(h, D, N, x, D, weighted ? w : NULL, c, ws);
        check_ok(h, bdml_set(h, "threads", "4"));
        bdml_la_gram(h, D, N, x, D, weighted ? w : NULL, c2, ws);
        bdml_la_leave(h);
        assert_memory_equal(c, c2, sizeof c);
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++) {
                double s = 0;
                for (int i = 0; i < N; i++)
                    s += (weighted ? w[i] : 1) * x[i * D + a] * x[i * D + b];
                check_close(c[a + b * D], s, 1e-9); /* N terms of size 1, eps N sqrt(N) < 1e-10 */
            }
    }
    free(x), free(w), free(ws);
}

/* Q diag(lambda) Q' gives A back and Q is orthonormal, to d eps |A|. */
static void eigh_reassembles(void **state)
{
    bdml_handle *h = *state;
    enum { D = 40 };
    double *b = random_matrix(h, D * D, 5), a[D * D], q[D * D], lambda[D];
    bdml_eigh_ws ws;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) a[i + j * D] = q[i + j * D] = b[i + j * D] + b[j + i * D];
    check_ok(h, bdml_eigh_ws_init(h, D, &ws));
    check_ok(h, bdml_la_enter(h));
    check_ok(h, bdml_la_eigh(h, D, q, lambda, true, &ws));
    bdml_la_leave(h);
    for (int k = 1; k < D; k++) check_true(lambda[k - 1] <= lambda[k]);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            double s = 0, dot = 0;
            for (int k = 0; k < D; k++) s += q[i + k * D] * lambda[k] * q[j + k * D];
            for (int k = 0; k < D; k++) dot += q[k + i * D] * q[k + j * D];
            check_close(s, a[i + j * D], 1e-12);
            check_close(dot, i == j, 1e-13);
        }
    bdml_eigh_ws_free(&ws);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(tiled_gemm_equals_plain_loops),
        handle_test(gram_equals_plain_loops),
        handle_test(eigh_reassembles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
