/* The time left that the command tells: it settles on the truth, counts down while the percentage stands, and is dropped
 * when nothing moves or all is done. */
#include "../cli/remaining.h"
#include "check.h"

#include <math.h>

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9); /* rounding of seconds */
}

/* Steady work of 100 s, asked every second: right to the second at every percent. */
static void steady_work(void **state)
{
    (void)state;
    remaining r = {.started = 50.0};
    for (int t = 1; t < 100; t++) {
        r.share = t / 100.0;
        assert_int_equal(remaining_percent(&r), t);
        double left = remaining_seconds(&r, 50.0 + t);
        if (t < 2)
            assert_true(left == 0.0); /* too early to tell */
        else
            assert_near(left, 100.0 - t);
    }
}

/* 67 % after 33 s, then a long piece: what is said never grows and ends after a few seconds. */
static void a_stall_is_no_guess(void **state)
{
    (void)state;
    remaining r = {.share = 0.67};
    double before = remaining_seconds(&r, 33.0);
    assert_near(before, 33.0 * 0.33 / 0.67);
    for (double t = 34.0; t < 90.0; t += 1.0) {
        r.share += 1e-5; /* less than a percent in all */
        double left = remaining_seconds(&r, t);
        assert_true(left < before || left == 0.0);
        if (t <= 38.0) assert_near(left, before - 1.0);
        if (t > 39.0) assert_true(left == 0.0);
        before = left;
    }
    r.share = 0.80; /* it goes on: a guess from the whole again */
    assert_near(remaining_seconds(&r, 90.0), 90.0 * 0.2 / 0.8);
}

/* A sudden change of pace moves the guess by half of itself, not to ten times. */
static void no_leaps(void **state)
{
    (void)state;
    remaining r = {.share = 0.10};
    assert_near(remaining_seconds(&r, 100.0), 900.0);
    r.share = 0.90;
    assert_near(remaining_seconds(&r, 101.0), 899.0 / 1.5);
    r.share = 0.91;
    assert_near(remaining_seconds(&r, 102.0), (899.0 / 1.5 - 1.0) / 1.5);
}

/* 100 % is said when all is done and never with time left; 99.6 % is 99. */
static void the_end(void **state)
{
    (void)state;
    remaining r = {.share = 0.996};
    assert_int_equal(remaining_percent(&r), 99);
    assert_true(remaining_seconds(&r, 500.0) > 0.0);
    r.share = 1.0;
    assert_int_equal(remaining_percent(&r), 100);
    assert_true(remaining_seconds(&r, 501.0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_work),
        cmocka_unit_test(a_stall_is_no_guess),
        cmocka_unit_test(no_leaps),
        cmocka_unit_test(the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
