/* threshold.c - the score from which on a pair is called the same.
 *
 * Scores sorted descending, equal ones together: of s same and r different pairs, calling the first k of the
 * list "same" is right for a same pairs among them and wrong for b different ones. The goals:
 *
 *     accuracy                a + r - b, the pairs that are right
 *     F of weight beta        (1 + beta^2) a / (beta^2 s + a + b)
 *     most same pairs         a / s, where (r - b) / r >= rate
 *     most different pairs    (r - b) / r, where a / s >= rate */
#include "model/model.h"

#include <stdlib.h>

static const double largest_beta =
    1e6; /* beyond, F tells nothing but the share of same pairs found */

static int descending(const void *a, const void *b)
{
    const bdml_scored *p = a, *q = b;
    return (p->score < q->score) - (p->score > q->score);
}

bdml_status bdml_sort_scores(bdml_handle *h, int64_t count, const double *score,
                             const int32_t *same, bdml_scored **list, int64_t *sames)
{
    *sames = 0;
    *list = bdml_calloc(h, (size_t)count, sizeof **list);
    if (!*list) return BDML_ERR_MEMORY;
    for (int64_t k = 0; k < count; k++) {
        if (isnan(score[k]))
            return bdml_fail(h, BDML_ERR_DATA, "the score of pair %lld is not a number",
                             (long long)k);
        (*list)[k] = (bdml_scored){score[k], same[k] != 0};
        *sames += same[k] != 0;
    }
    qsort(*list, (size_t)count, sizeof **list, descending);
    return BDML_OK;
}

/* A number strictly between two scores, or beyond the only one. */
static double between(double above, double below)
{
    double middle = below + 0.5 * (above - below);
    return middle > below ? middle : above;
}

/* What a and b of the head of this file are worth; negative where the goal's condition does not hold. */
static double worth(bdml_threshold_goal goal, double with, double a, double b, double s, double r)
{
    switch (goal) {
    case BDML_THRESHOLD_F:
        return a > 0.0 ? (1.0 + with * with) * a / (with * with * s + a + b) : 0.0;
    case BDML_THRESHOLD_SAME:
        return r - b >= with * r ? a : -1.0;
    case BDML_THRESHOLD_DIFFERENT:
        return a >= with * s ? r - b : -1.0;
    case BDML_THRESHOLD_ACCURACY:
        break;
    }
    return a + (r - b);
}

/* The first of the best thresholds from above, and what it is worth. */
static double first_best(bdml_threshold_goal goal, double with, int64_t count,
                         const bdml_scored *list, int64_t sames, double *threshold)
{
    double s = (double)sames, r = (double)(count - sames);
    int64_t a = 0, b = 0;
    double best = worth(goal, with, 0.0, 0.0, s, r); /* nothing is called the same */
    *threshold = list[0].score + BDML_MAX(fabs(list[0].score), 1.0);
    for (int64_t k = 0; k < count; k++) {
        a += list[k].same;
        b += !list[k].same;
        if (k + 1 < count && list[k + 1].score == list[k].score) continue;
        double value = worth(goal, with, (double)a, (double)b, s, r);
        if (value <= best) continue;
        best = value;
        *threshold = k + 1 < count ? between(list[k].score, list[k + 1].score)
                                   : list[k].score - BDML_MAX(fabs(list[k].score), 1.0);
    }
    return best;
}

bdml_status bdml_find_threshold(bdml_handle *h, int64_t count, const double *score,
                                const int32_t *same, bdml_calibration *out)
{
    bdml_status status = BDML_OK;
    bdml_scored *list = NULL;
    int64_t sames;

    BDML_GO(bdml_sort_scores(h, count, score, same, &list, &sames));
    double right = first_best(BDML_THRESHOLD_ACCURACY, 0.0, count, list, sames, &out->threshold);
    out->known = true;
    out->accuracy = 100.0 * right / (double)count;
    out->pairs = count;
done:
    free(list);
    return status;
}

static bdml_status check_goal(bdml_handle *h, bdml_threshold_goal goal, double with)
{
    switch (goal) {
    case BDML_THRESHOLD_ACCURACY:
        return BDML_OK;
    case BDML_THRESHOLD_F:
        if (with >= 0.0 && with <= largest_beta) return BDML_OK;
        return bdml_fail(h, BDML_ERR_ARGUMENT, "beta must be a number from 0 to %g, got %g",
                         largest_beta, with);
    case BDML_THRESHOLD_SAME:
    case BDML_THRESHOLD_DIFFERENT:
        if (with >= 0.0 && with <= 1.0) return BDML_OK;
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the least rate must be a number from 0 to 1, got %g", with);
    }
    return bdml_fail(h, BDML_ERR_ARGUMENT, "no goal of a threshold has the number %d", (int)goal);
}

bdml_status bdml_calibrate_threshold(bdml_handle *h, int64_t count, const double *score,
                                     const int32_t *same, bdml_threshold_goal goal, double with,
                                     double *threshold)
{
    bdml_status status = BDML_OK;
    bdml_scored *list = NULL;
    int64_t sames;

    if (!h) return BDML_ERR_ARGUMENT;
    if (count < 1 || !score || !same || !threshold)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a threshold needs scores of one pair at least");
    BDML_TRY(check_goal(h, goal, with));
    BDML_GO(bdml_sort_scores(h, count, score, same, &list, &sames));
    if (sames == 0 || sames == count) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "calibration needs pairs that are the same and pairs that are not; of "
                           "%lld pairs %lld are the same",
                           (long long)count, (long long)sames);
        goto done;
    }
    (void)first_best(goal, with, count, list, sames, threshold);
done:
    free(list);
    return status;
}

double bdml_model_threshold(const bdml_model *model)
{
    return model && model->calibration.known ? model->calibration.threshold : (double)NAN;
}
