/* roc.c - receiver operating characteristic of scored pairs.
 *
 * Going down through the scores, equal ones at once, the share of same pairs (true positives) and of
 * different pairs (false positives) called "same" goes from (0,0) to (1,1):
 *
 *     AUC    share of (same, different) couples whose scores are in the right order, equal ones half
 *     EER    error where false positives and false negatives are as frequent, on the straight line
 *            between the two corners around that place
 *     curve  largest true-positive rate with at most so many false positives */
#include "evaluate/evaluate.h"

#include <stdlib.h>

/* The corner after the scores from k on that equal the k-th; returns the next k. */
static int64_t next_corner(int64_t count, const bdml_scored *list, int64_t k, int64_t *same,
                           int64_t *different)
{
    int64_t from = k;
    for (; k < count && list[k].score == list[from].score; k++) {
        *same += list[k].same;
        *different += !list[k].same;
    }
    return k;
}

/* Where the line from (fp0, tp0) to (fp1, tp1) meets fp = 1 - tp. */
static double crossing(double fp0, double tp0, double fp1, double tp1)
{
    double before = 1.0 - tp0 - fp0, after = 1.0 - tp1 - fp1; /* >= 0, <= 0 */
    double t = before > after ? before / (before - after) : 0.0;
    return fp0 + t * (fp1 - fp0);
}

static void walk(int64_t count, const bdml_scored *list, double sames, double differents,
                 bdml_roc *roc)
{
    int64_t same = 0, different = 0;
    double fp = 0.0, tp = 0.0, area = 0.0;
    int at = 0;
    bool crossed = false;
    for (int64_t k = 0; k < count;) {
        k = next_corner(count, list, k, &same, &different);
        double fp1 = (double)different / differents, tp1 = (double)same / sames;
        area += (fp1 - fp) * 0.5 * (tp + tp1);
        if (!crossed && 1.0 - tp1 <= fp1) {
            roc->eer = crossing(fp, tp, fp1, tp1);
            crossed = true;
        }
        for (; at < BDML_ROC_POINTS && bdml_roc_rate(at) < fp1; at++) roc->tp[at] = tp;
        fp = fp1;
        tp = tp1;
    }
    for (; at < BDML_ROC_POINTS; at++) roc->tp[at] = tp;
    roc->auc = area;
}

bdml_status bdml_roc_measure(bdml_handle *h, int64_t count, const double *score,
                             const int32_t *same, bdml_roc *roc)
{
    bdml_status status = BDML_OK;
    bdml_scored *list = NULL;
    int64_t sames;

    BDML_GO(bdml_sort_scores(h, count, score, same, &list, &sames));
    if (sames == 0 || sames == count) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "a ROC curve needs pairs that are the same and pairs that are not; of "
                           "%lld pairs %lld are the same",
                           (long long)count, (long long)sames);
        goto done;
    }
    walk(count, list, (double)sames, (double)(count - sames), roc);
done:
    free(list);
    return status;
}

double bdml_roc_rate(int k)
{
    return (double)k / (BDML_ROC_POINTS - 1);
}
