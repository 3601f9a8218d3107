/* validate.c - a parameter of a method for pairs is chosen on pairs left out: the threshold comes from
 * the pairs learned from, the error from the others. */
#include "baselines/pairwise.h"

#include <stdlib.h>

enum { PARTS = 3 }; /* one of them is left out */

void bdml_holdout_free(bdml_holdout *v)
{
    bdml_labelled_free(&v->train);
    bdml_labelled_free(&v->test);
}

bdml_status bdml_holdout_make(bdml_handle *h, uint64_t seed, const bdml_training *t,
                              bdml_holdout *out)
{
    bdml_status status = BDML_OK;
    bdml_labelled_pairs pairs = {0};
    *out = (bdml_holdout){0};
    BDML_GO(bdml_labelled_from(h, t->constraints, &pairs));
    BDML_GO(bdml_labelled_regroup(h, t->n, PARTS, seed, &pairs));
    BDML_GO(bdml_labelled_part(h, &pairs, 0, false, NULL, &out->train));
    BDML_GO(bdml_labelled_part(h, &pairs, 0, true, NULL, &out->test));
done:
    bdml_labelled_free(&pairs);
    if (status != BDML_OK) bdml_holdout_free(out);
    return status;
}

bdml_status bdml_holdout_error(bdml_handle *h, const bdml_holdout *v, bdml_score_fn score,
                               const void *user, double *error)
{
    bdml_status status = BDML_OK;
    const bdml_labelled_pairs *a = &v->train, *b = &v->test;
    bdml_calibration c = {0};
    double *value = NULL;
    int64_t wrong = 0;

    BDML_NEW(h, value, a->count);
    for (int64_t k = 0; k < a->count; k++) value[k] = score(user, a->row[2 * k], a->row[2 * k + 1]);
    BDML_GO(bdml_find_threshold(h, a->count, value, a->same, &c));
    for (int64_t k = 0; k < b->count; k++)
        wrong +=
            (score(user, b->row[2 * k], b->row[2 * k + 1]) >= c.threshold) != (b->same[k] == 1);
    *error = 100.0 * (double)wrong / (double)BDML_MAX(b->count, 1);
done:
    free(value);
    return status;
}
