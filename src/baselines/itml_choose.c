/* itml_choose.c - the weight gamma of ITML by cross-validation, as the source does: 3 stratified folds, pairs
 * drawn from the rows to learn from, k-NN errors (setting neighbors) on the rows left out. The smallest gamma
 * with the fewest errors: the nearest to the prior. */
#include "baselines/pairs.h"

#include <stdlib.h>

static const double gammas[] = {0.01, 0.1, 1.0, 10.0};
enum { GAMMAS = sizeof gammas / sizeof *gammas, FOLDS = 3 };

/* Errors of each gamma on the fold that is taken, added up. */
static bdml_status try_fold(bdml_handle *h, const bdml_options *o, bdml_fold *f,
                            int64_t sum[GAMMAS])
{
    bdml_status status = BDML_OK;
    bdml_training part = bdml_training_of(&f->learn);
    double *l = NULL;
    int q = 0;

    for (int g = 0; g < GAMMAS && f->test.n > 0; g++) {
        bdml_solution told;
        int64_t wrong = 0;
        BDML_GO(bdml_itml_map(h, o, &part, gammas[g], &q, &l, &told));
        BDML_GO(bdml_fold_errors(h, &o->neighbors, f, q, l, &wrong));
        sum[g] += wrong;
        free(l);
        l = NULL;
    }
done:
    free(l);
    return status;
}

bdml_status bdml_itml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                             double *gamma)
{
    bdml_status status = BDML_OK;
    const bdml_rows rows = bdml_training_rows(t);
    int64_t wrong[GAMMAS] = {0};
    bdml_fold fold = {0};
    int best = 0;

    if (!t->y || bdml_pairs_given(&o->constraints, t))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "itml-gamma 0 chooses by cross-validation, which needs labels and pairs drawn "
            "from them; give a value above 0");
    BDML_GO(bdml_fold_init(h, &rows, t->n, NULL, FOLDS, (uint64_t)o->general.seed.value, &fold));
    for (int f = 0; f < FOLDS; f++) {
        bdml_fold_take(&fold, f);
        BDML_GO(try_fold(h, o, &fold, wrong));
    }
    for (int g = 1; g < GAMMAS; g++)
        if (wrong[g] < wrong[best]) best = g;
    *gamma = gammas[best];
done:
    bdml_fold_free(&fold);
    return status;
}
