/* lda.c - linear discriminant analysis as a metric (Fisher 1936; Rao 1948): whiten inside the classes,
 * then keep the span of the class means,
 *
 *     M = Sw^(-1/2) P Sw^(-1/2),   P the projection onto the span of Sw^(-1/2) (class means - mean),
 *
 * of rank at most classes - 1. In the coordinates of span.c the total covariance is I = Sw + Sb, so one
 * eigenproblem of Sb = Q diag(beta) Q' gives both, and row j of L is q_j / sqrt(1 - beta_j). The ridge s
 * puts (1-s) Sw + s I for Sw: classes that are apart without any spread leave M finite. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* The class means span a direction when this much of its variance lies between the classes. Rounding
 * leaves about d eps; a share that small separates nothing. */
static const double NO_DIRECTION = 1e-10;

bdml_status bdml_fit_lda(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    double ridge = o->methods.ridge.value;
    int most = (int)o->methods.components.value, q = 0;
    double *s = NULL, *within = NULL, *l = NULL;
    bdml_span span = {0};
    bdml_eigh_ws eigen = {0};

    BDML_GO(bdml_need_classes(h, t, "lda"));
    BDML_GO(bdml_span_make(h, t, &span));
    int r = span.r;
    BDML_NEW(h, s, (size_t)r * (size_t)r);
    BDML_NEW(h, l, (size_t)r * (size_t)r);
    BDML_NEW(h, within, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    const bdml_training z = {t->n, r, span.z, t->y, t->classes, NULL, NULL, NULL, NULL};
    BDML_GO(bdml_within_covariance(h, &z, s));
    BDML_GO(bdml_la_eigh(h, r, s, within, true, &eigen)); /* 1 - beta, ascending */
    if (most == 0) most = r;
    while (q < BDML_MIN(BDML_MIN(most, r), t->classes - 1) && within[q] < 1.0 - NO_DIRECTION) {
        double w = (1.0 - ridge) * BDML_MAX(within[q], 0.0) + ridge;
        for (int j = 0; j < r; j++) COL(l, r, q)[j] = COL(s, r, q)[j] / sqrt(w);
        q++;
    }
    if (q == 0) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "lda: the means of all classes are the same, so no direction separates "
                           "them; a method that compares neighbours (lmnn, nca) may find more");
        goto done;
    }
    status = bdml_span_set_map(h, &span, q, l, model);
done:
    bdml_eigh_ws_free(&eigen);
    bdml_span_free(&span);
    free(s);
    free(l);
    free(within);
    return status;
}
