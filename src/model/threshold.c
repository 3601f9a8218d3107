/* threshold.c - the score from which on a pair is called the same.
 *
 * Of all thresholds the one under which most pairs are right. Scores sorted descending, equal ones
 * together: calling the first k of them "same" is right for the same pairs among them and for the
 * different pairs behind. */
#include "model/model.h"

#include <stdlib.h>

typedef struct scored {
    double score;
    int32_t same;
} scored;

static int descending(const void *a, const void *b)
{
    const scored *p = a, *q = b;
    return (p->score < q->score) - (p->score > q->score);
}

/* A number strictly between two scores, or beyond the only one. */
static double between(double above, double below)
{
    double middle = below + 0.5 * (above - below);
    return middle > below ? middle : above;
}

bdml_status bdml_find_threshold(bdml_handle *h, int64_t count, const double *score,
                                const int32_t *same, bdml_calibration *out)
{
    bdml_status status = BDML_OK;
    scored *list = NULL;
    int64_t right = 0, best;

    BDML_NEW(h, list, count);
    for (int64_t k = 0; k < count; k++) {
        list[k] = (scored){score[k], same[k]};
        right += same[k] == 0; /* nothing is called the same */
        if (isnan(score[k])) {
            status =
                bdml_fail(h, BDML_ERR_DATA, "the score of pair %lld is not a number", (long long)k);
            goto done;
        }
    }
    qsort(list, (size_t)count, sizeof *list, descending);
    best = right;
    out->threshold = list[0].score + BDML_MAX(fabs(list[0].score), 1.0);
    for (int64_t k = 0; k < count; k++) {
        right += list[k].same ? 1 : -1;
        if (k + 1 < count && list[k + 1].score == list[k].score) continue;
        if (right <= best) continue;
        best = right;
        out->threshold = k + 1 < count ? between(list[k].score, list[k + 1].score)
                                       : list[k].score - BDML_MAX(fabs(list[k].score), 1.0);
    }
    out->known = true;
    out->accuracy = 100.0 * (double)best / (double)count;
    out->pairs = count;
done:
    free(list);
    return status;
}

double bdml_model_threshold(const bdml_model *model)
{
    return model && model->calibration.known ? model->calibration.threshold : (double)NAN;
}
