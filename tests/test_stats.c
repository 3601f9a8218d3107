/* test_stats.c - rows brought together and class means, by hand and against another order of summing. */
#include "check.h"
#include "stats/stats.h"

/* Rows 3 apart hold (i, -i); classes 1, 0, 1, 2, and class 3 has none. */
static const double x[] = {0, 0, 7, 1, -1, 7, 2, -2, 7, 3, -3, 7};
static const int32_t y[] = {1, 0, 1, 2};
static const bdml_rows four = {4, 2, 3, x, y, 4, NULL};

static void rows_are_gathered_in_the_order_asked(void **state)
{
    (void)state;
    const int64_t row[] = {3, 0, 3};
    double to[6];
    int32_t label[3];
    bdml_rows some = bdml_rows_gather(&four, 3, row, to, label);
    const double want[] = {3, -3, 0, 0, 3, -3};
    for (int e = 0; e < 6; e++) check_close(some.x[e], want[e], 0);
    assert_int_equal(some.n, 3);
    assert_int_equal(some.ld, 2);
    assert_int_equal(some.y[0], 2);
    assert_int_equal(some.y[1], 1);
    assert_int_equal(some.classes, 4);
    bdml_rows plain = four;
    plain.y = NULL;
    assert_null(bdml_rows_gather(&plain, 1, row, to, NULL).y);
}

static void means_by_hand(void **state)
{
    bdml_handle *h = *state;
    double mean[8], all[2];
    int64_t count[4];
    check_ok(h, bdml_class_means(h, &four, NULL, count, mean, all));
    const int64_t counts[] = {1, 2, 1, 0};
    const double want[] = {1, -1, 1, -1, 3, -3, 0, 0};
    for (int c = 0; c < 4; c++) assert_int_equal(count[c], counts[c]);
    for (int e = 0; e < 8; e++) check_close(mean[e], want[e], 0);
    check_close(all[0], 1.5, 0);
    check_close(all[1], -1.5, 0);
    bdml_rows plain = four;
    plain.y = NULL;
    check_ok(h, bdml_class_means(h, &plain, NULL, count, mean, NULL));
    assert_int_equal(count[0], 4);
    check_close(mean[1], -1.5, 0);
}

/* s^2 = 6/3, and 2 (1/4 + 1/2) = 3/2. */
static void error_of_splits_that_share_rows(void **state)
{
    (void)state;
    check_close(bdml_split_error(4, 6.0, 0.5), sqrt(1.5), 1e-15);
    check_close(bdml_split_error(4, 6.0, 0.0), sqrt(0.5), 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_gathered_in_the_order_asked),
        handle_test(means_by_hand),
        cmocka_unit_test(error_of_splits_that_share_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
