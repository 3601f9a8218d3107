/* test_dots.c - the prover's sums side by side against the sum of ball.h, term by term: every bit of midpoint and
 * radius, for numbers of sums and of terms that fill lanes and chunks, and that do not. */
#include "check.h"

#include "../check/check.h"

static checker begin(void)
{
    return (checker){.threads = 1};
}

/* Sizes apart by many powers of two, so that each addition rounds. */
static ball any_ball(bdml_rng *r)
{
    double hi = ldexp(bdml_rng_normal(r), (int)bdml_rng_below(r, 40) - 20);
    return (ball){hi, hi * 0x1p-54 * bdml_rng_normal(r), fabs(hi) * 0x1p-104 * bdml_rng_uniform(r)};
}

static void same(ball a, ball b)
{
    check_true(memcmp(&a.hi, &b.hi, sizeof a.hi) == 0);
    check_true(a.lo == b.lo && a.rad == b.rad);
}

static void apply_is_dot(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {7, 3}, {8, 8}, {9, 100}, {33, 17}};
    bdml_rng r = bdml_rng_make(3, 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t rows = sizes[s][0], columns = sizes[s][1];
        checker k = begin();
        double *matrix = check_take(&k, rows * columns, sizeof *matrix);
        ball *u = check_take(&k, columns, sizeof *u), *b = check_take(&k, columns, sizeof *b);
        ball *out = check_take(&k, rows, sizeof *out);
        for (size_t e = 0; e < rows * columns; e++) matrix[e] = any_ball(&r).hi;
        for (size_t j = 0; j < columns; j++) u[j] = any_ball(&r);
        panels m = check_pack(&k, rows, columns, matrix);
        check_apply(&m, u, out);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) b[j] = ball_of(matrix[i * columns + j]);
            same(out[i], dot(columns, u, b));
        }
        panels none = check_pack(&k, columns, columns, NULL);
        check_apply(&none, u, b);
        for (size_t j = 0; j < columns; j++) same(b[j], u[j]);
        check_free(&k);
    }
}

static void outer_is_dot(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {3, 255}, {8, 256}, {9, 257}, {21, 600}};
    bdml_rng r = bdml_rng_make(3, 2);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t dim = sizes[s][0], count = sizes[s][1];
        checker k = begin();
        ball *a = check_take(&k, dim * count, sizeof *a),
             *b = check_take(&k, dim * count, sizeof *b);
        ball *column = check_take(&k, count, sizeof *column);
        ball *out = check_take(&k, dim * dim, sizeof *out);
        for (size_t e = 0; e < dim * count; e++) a[e] = any_ball(&r), b[e] = any_ball(&r);
        check_outer(&k, dim, count, a, b, out);
        for (size_t j = 0; j < dim; j++) {
            for (size_t t = 0; t < count; t++) column[t] = b[t * dim + j];
            for (size_t i = j; i < dim; i++) {
                same(out[i * dim + j], dot(count, a + i * count, column));
                same(out[j * dim + i], out[i * dim + j]);
            }
        }
        check_free(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apply_is_dot),
        cmocka_unit_test(outer_is_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
