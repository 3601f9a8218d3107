/* whiten.c - the inverse of a shrunk within-class covariance (Mahalanobis' own metric):
 *
 *     M = ((1-s) S + s (tr S / d) I)^-1,   0 < s <= 1 the setting "shrinkage"
 *
 * Differences that occur inside a class count less, so what remains separates the classes. The
 * shrinkage keeps M finite where S is singular (constant or dependent columns, n < d), and bounds
 * kappa(M) by 1 + (1-s) d / s. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fit_whiten(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            bdml_model *model)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    double shrinkage = o->methods.shrinkage.value, trace = 0.0;
    double *s = NULL, *lambda = NULL;
    bdml_eigh_ws ws = {0};

    BDML_NEW(h, s, d * d);
    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, t->d, &ws));
    BDML_GO(bdml_within_covariance(h, t, s));
    for (size_t j = 0; j < d; j++) trace += s[j * d + j];
    if (!(trace > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "whiten: the points of each class are all the same, so there is no "
                           "within-class variation to whiten; use method euclidean");
        goto done;
    }
    BDML_GO(bdml_la_eigh(h, t->d, s, lambda, true, &ws));
    /* L = diag(1/sqrt(lambda)) Q': row r is eigenvector r, which is column r of s. */
    for (size_t r = 0; r < d; r++) {
        double shrunk =
            (1.0 - shrinkage) * BDML_MAX(lambda[r], 0.0) + shrinkage * trace / (double)d;
        for (size_t j = 0; j < d; j++) s[r * d + j] /= sqrt(shrunk);
    }
    status = bdml_model_set_map(h, model, t->d, s);
done:
    bdml_eigh_ws_free(&ws);
    free(s);
    free(lambda);
    return status;
}
