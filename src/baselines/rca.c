/* rca.c - relevant component analysis (Shental, Hertz, Weinshall, Pavel 2002; Bar-Hillel et al. 2005),
 * the chunklets being the classes:
 *
 *     M = Sw^-1,   Sw the covariance of the points around the mean of their class,
 *
 * on the span of the data (span.c), where the ridge s puts (1-s) Sw + s St for Sw, St the total
 * covariance: M is finite also where the points of a class do not differ, and in no direction more than
 * 1/s times the whitening of all points. The method whiten differs in what it shrinks towards: a multiple
 * of the identity in the units of the data.
 *
 * With `components` = q the map keeps the q directions in which the classes differ most beside their
 * variation, Fisher's: in the span, where St = I, those of the smallest eigenvalues of Sw. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

bdml_status bdml_fit_rca(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    double ridge = o->methods.ridge.value;
    int most = (int)o->methods.components.value;
    double *s = NULL, *lambda = NULL;
    bdml_span span = {0};
    bdml_eigh_ws eigen = {0};

    BDML_GO(bdml_need_classes(h, t, "rca"));
    BDML_GO(bdml_span_make(h, t, &span));
    int r = span.r;
    BDML_NEW(h, s, (size_t)r * (size_t)r);
    BDML_NEW(h, lambda, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    const bdml_training z = {t->n, r, span.z, t->y, t->classes, NULL, NULL, NULL, NULL};
    BDML_GO(bdml_within_covariance(h, &z, s));
    BDML_GO(bdml_la_eigh(h, r, s, lambda, true, &eigen));
    int q = most > 0 ? BDML_MIN(most, r) : r;
    for (int k = 0; k < q; k++) { /* lambda ascends */
        double w = (1.0 - ridge) * BDML_MAX(lambda[k], 0.0) + ridge;
        for (int j = 0; j < r; j++) COL(s, r, k)[j] /= sqrt(w);
    }
    status = bdml_span_set_map(h, &span, q, s, model);
done:
    bdml_eigh_ws_free(&eigen);
    bdml_span_free(&span);
    free(s);
    free(lambda);
    return status;
}
