/* test_roc.c - thresholds and ROC curves against brute force. */
#include "check.h"

#include "evaluate/evaluate.h"

static double accuracy_at(int n, const double *score, const int32_t *same, double threshold)
{
    int right = 0;
    for (int k = 0; k < n; k++) right += (score[k] >= threshold) == (same[k] == 1);
    return 100.0 * right / n;
}

/* Scores from few values, so that many are equal; every threshold is tried. */
static void threshold_is_the_best(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(1, 2);
    for (int trial = 0; trial < 200; trial++) {
        enum { MOST = 30 };
        int n = 1 + (int)bdml_rng_below(&r, MOST), values = 1 + (int)bdml_rng_below(&r, 12);
        double score[MOST], best = 0.0;
        int32_t same[MOST];
        for (int k = 0; k < n; k++) {
            score[k] = (double)bdml_rng_below(&r, (uint64_t)values) - 5.0;
            same[k] = bdml_rng_uniform(&r) < 0.3 + 0.05 * score[k] + 0.2;
        }
        for (int v = -7; v <= 8; v++) best = fmax(best, accuracy_at(n, score, same, v - 0.5));
        bdml_calibration c = {0};
        check_ok(h, bdml_find_threshold(h, n, score, same, &c));
        check_close(c.accuracy, best, 0.0);
        check_close(accuracy_at(n, score, same, c.threshold), best, 0.0);
        assert_int_equal(c.pairs, n);
    }
}

static void threshold_at_the_ends(void **state)
{
    bdml_handle *h = *state;
    const double score[] = {1e300, -1e300, 3.0};
    const int32_t all[] = {1, 1, 1}, none[] = {0, 0, 0};
    bdml_calibration c = {0};
    check_ok(h, bdml_find_threshold(h, 3, score, all, &c));
    check_close(c.accuracy, 100.0, 0.0);
    check_true(c.threshold <= -1e300 && isfinite(c.threshold));
    check_ok(h, bdml_find_threshold(h, 3, score, none, &c));
    check_true(c.threshold > 1e300 && isfinite(c.threshold));
    /* neighbouring doubles: the threshold must still part them */
    const double close[] = {1.0, nextafter(1.0, 2.0)};
    const int32_t answer[] = {0, 1};
    check_ok(h, bdml_find_threshold(h, 2, close, answer, &c));
    check_close(accuracy_at(2, close, answer, c.threshold), 100.0, 0.0);
    /* 2.5 and what lies below 1 are right for two of three each: the first of them, from the top */
    const double tied[] = {3.0, 2.0, 1.0};
    const int32_t mixed[] = {1, 0, 1};
    check_ok(h, bdml_find_threshold(h, 3, tied, mixed, &c));
    check_close(c.threshold, 2.5, 0.0);
    const double bad[] = {0.0, (double)NAN};
    check_fails(h, bdml_find_threshold(h, 2, bad, answer, &c), BDML_ERR_DATA, "pair 1");
}

/* What a threshold is worth to a goal, counted pair by pair. */
static double worth_at(int n, const double *score, const int32_t *same, bdml_threshold_goal goal,
                       double with, double threshold)
{
    double found = 0, taken = 0, sames = 0, differents = 0;
    for (int k = 0; k < n; k++) {
        bool said = score[k] >= threshold;
        found += same[k] && said;
        taken += !same[k] && said;
        sames += same[k];
        differents += !same[k];
    }
    double left = (differents - taken) / differents, recall = found / sames;
    if (goal == BDML_THRESHOLD_ACCURACY) return (found + differents - taken) / n;
    if (goal == BDML_THRESHOLD_SAME) return left >= with ? recall : -1.0;
    if (goal == BDML_THRESHOLD_DIFFERENT) return recall >= with ? left : -1.0;
    if (found == 0.0) return 0.0;
    double precision = found / (found + taken), beta2 = with * with;
    return (1.0 + beta2) * precision * recall / (beta2 * precision + recall);
}

static void threshold_for_each_goal(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(5, 6);
    const struct {
        bdml_threshold_goal goal;
        double with;
    } goals[] = {{BDML_THRESHOLD_ACCURACY, 0.0},  {BDML_THRESHOLD_F, 0.5},
                 {BDML_THRESHOLD_F, 2.0},         {BDML_THRESHOLD_SAME, 0.75},
                 {BDML_THRESHOLD_DIFFERENT, 0.5}, {BDML_THRESHOLD_DIFFERENT, 1.0}};
    for (int trial = 0; trial < 200; trial++) {
        enum { MOST = 30 };
        int n = 2 + (int)bdml_rng_below(&r, MOST - 2);
        double score[MOST];
        int32_t same[MOST];
        for (int k = 0; k < n; k++) {
            same[k] = k < 2 ? k : (int32_t)bdml_rng_below(&r, 2);
            score[k] = (double)bdml_rng_below(&r, 8) + 2.0 * same[k];
        }
        for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) {
            double best = -2.0, found;
            for (int v = 0; v <= 10; v++)
                best = fmax(best, worth_at(n, score, same, goals[g].goal, goals[g].with, v - 0.5));
            check_ok(h, bdml_calibrate_threshold(h, n, score, same, goals[g].goal, goals[g].with,
                                                 &found));
            check_close(worth_at(n, score, same, goals[g].goal, goals[g].with, found), best, 1e-14);
        }
    }
}

static void threshold_refusals(void **state)
{
    bdml_handle *h = *state;
    const double score[] = {1.0, 2.0};
    const int32_t same[] = {0, 1}, one[] = {1, 1};
    double t;
    check_fails(h, bdml_calibrate_threshold(h, 2, score, one, BDML_THRESHOLD_ACCURACY, 0.0, &t),
                BDML_ERR_DATA, "2 are the same");
    check_fails(h, bdml_calibrate_threshold(h, 2, score, same, BDML_THRESHOLD_SAME, 1.5, &t),
                BDML_ERR_ARGUMENT, "from 0 to 1");
    check_fails(h, bdml_calibrate_threshold(h, 2, score, same, BDML_THRESHOLD_F, -1.0, &t),
                BDML_ERR_ARGUMENT, "beta");
    check_fails(h, bdml_calibrate_threshold(h, 0, score, same, BDML_THRESHOLD_F, 1.0, &t),
                BDML_ERR_ARGUMENT, "one pair");
    check_fails(h, bdml_calibrate_threshold(h, 2, score, same, (bdml_threshold_goal)9, 1.0, &t),
                BDML_ERR_ARGUMENT, "goal");
}

/* Descending: same 5, different 4, same 3 and different 3, same 2, different 1. Corners (0,0) (0,1/3)
 * (1/3,1/3) (2/3,2/3) (2/3,1) (1,1). Couples in order: 5 beats 3 different ones, 3 beats 1 and ties with 1,
 * 2 beats 1: 5.5 of 9. fp = 1 - tp on the line from (1/3,1/3) to (2/3,2/3): at 1/2. */
static void roc_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double score[] = {3, 5, 1, 4, 3, 2};
    const int32_t same[] = {1, 1, 0, 0, 0, 1};
    bdml_roc roc;
    check_ok(h, bdml_roc_measure(h, 6, score, same, &roc));
    check_close(roc.auc, 5.5 / 9.0, 1e-15);
    check_close(roc.eer, 0.5, 1e-15);
    check_close(roc.tp[0], 1.0 / 3.0, 1e-15);
    check_close(roc.tp[100], 1.0 / 3.0, 1e-15); /* fp 0.5 */
    check_close(roc.tp[150], 1.0, 1e-15);       /* fp 0.75: the corner (2/3, 1) is allowed */
    check_close(roc.tp[BDML_ROC_POINTS - 1], 1.0, 0.0);
    const int32_t one[] = {1, 1, 1, 1, 1, 1};
    check_fails(h, bdml_roc_measure(h, 6, score, one, &roc), BDML_ERR_DATA, "6 are the same");
    /* in perfect order, and upside down */
    const double up[] = {1, 2, 3, 4, 5, 6}, down[] = {6, 5, 4, 3, 2, 1};
    const int32_t order[] = {0, 0, 0, 1, 1, 1};
    check_ok(h, bdml_roc_measure(h, 6, up, order, &roc));
    check_true(roc.auc == 1.0 && roc.eer == 0.0 && roc.tp[0] == 1.0);
    check_ok(h, bdml_roc_measure(h, 6, down, order, &roc));
    check_true(roc.auc == 0.0 && roc.eer == 1.0 && roc.tp[0] == 0.0);
}

static void roc_by_counting(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60 };
    bdml_rng r = bdml_rng_make(3, 4);
    for (int trial = 0; trial < 30; trial++) {
        double score[N], couples = 0.0, right = 0.0;
        int32_t same[N];
        int sames = 0;
        for (int k = 0; k < N; k++) {
            same[k] = k < 2 ? k : (int32_t)bdml_rng_below(&r, 2);
            sames += same[k];
            score[k] = (double)bdml_rng_below(&r, 20) + 4.0 * same[k];
        }
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                if (!same[a] || same[b]) continue;
                couples += 1.0;
                right += score[a] > score[b] ? 1.0 : score[a] == score[b] ? 0.5 : 0.0;
            }
        bdml_roc roc;
        check_ok(h, bdml_roc_measure(h, N, score, same, &roc));
        check_close(roc.auc, right / couples, 1e-13);
        for (int k = 0; k < BDML_ROC_POINTS; k++) {
            double best = 0.0;
            for (int t = -1; t <= 24; t++) {
                int tp = 0, fp = 0;
                for (int i = 0; i < N; i++)
                    if (score[i] >= t + 0.5) same[i] ? tp++ : fp++;
                if ((double)fp / (N - sames) <= bdml_roc_rate(k))
                    best = fmax(best, (double)tp / sames);
            }
            check_close(roc.tp[k], best, 1e-13);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(threshold_is_the_best),
        handle_test(threshold_at_the_ends),
        handle_test(threshold_for_each_goal),
        handle_test(threshold_refusals),
        handle_test(roc_by_hand),
        handle_test(roc_by_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
