/* calibrate.c - the threshold of a model that was learned from pairs: the score that tells most of its
 * own training pairs apart, unless the method has found a better one itself. */
#include "train/train.h"

#include <stdlib.h>

bdml_status bdml_calibrate(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                           bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_labelled_pairs pairs = {0};
    int64_t *pair = NULL;
    double *score = NULL, *x = NULL; /* x: the rows of the pairs, where rows are dealt out */

    if (model->calibration.known || !bdml_constraints_are_pairs(c)) return BDML_OK;
    BDML_GO(bdml_labelled_from(h, c, &pairs));
    BDML_NEW(h, pair, 2 * pairs.count);
    BDML_NEW(h, score, pairs.count);
    for (int64_t k = 0; k < 2 * pairs.count; k++) pair[k] = pairs.row[k];
    if (data->over) {
        BDML_NEW(h, x, (size_t)(2 * pairs.count) * (size_t)data->d);
        BDML_GO(
            bdml_spread_fetch(h, data->over, data->d, data->x, data->d, 2 * pairs.count, pair, x));
        for (int64_t k = 0; k < 2 * pairs.count; k++) pair[k] = k;
    }
    BDML_GO(bdml_model_pair_scores(h, model, x ? 2 * pairs.count : data->n, x ? x : data->x,
                                   data->d, pairs.count, pair, score));
    status = bdml_find_threshold(h, pairs.count, score, pairs.same, &model->calibration);
done:
    bdml_labelled_free(&pairs);
    free(pair);
    free(score);
    free(x);
    return status;
}
