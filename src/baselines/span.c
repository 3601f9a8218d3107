/* span.c - the data in the coordinates in which their total covariance is the identity, constant and
 * dependent columns left out:
 *
 *     z = W (x - mean),   W = diag(lambda)^(-1/2) Q' diag(1/std),   Q diag(lambda) Q' = correlation matrix
 *
 * Columns are scaled first, so that a direction counts as absent by its share of the variation and not
 * by the unit of a column. What is invariant under linear maps (discriminants, relevant components) is
 * computed here and loses nothing; what depends on a ridge becomes free of units. An orthonormal basis
 * of the same span is that of the columns of `lift`, x - mean = lift z. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* A direction with less than this share of the largest eigenvalue of the correlation matrix is one in
 * which columns depend on each other up to the digits of a file, and what varies there is rounding. */
static const double ABSENT = 1e-9;

void bdml_span_free(bdml_span *s)
{
    free(s->map);
    free(s->lift);
    free(s->z);
    memset(s, 0, sizeof *s);
}

/* z (n rows of d) = (x - shift)/width, 0 where the width is infinite. */
static void standardise(const bdml_training *t, const bdml_prepare *p, double *z)
{
    size_t d = (size_t)t->d;
    for (size_t i = 0; i < (size_t)t->n; i++)
        for (size_t j = 0; j < d; j++)
            z[i * d + j] =
                isfinite(p->width[j]) ? (t->x[i * d + j] - p->shift[j]) / p->width[j] : 0.0;
}

/* Rows of the map from the eigenvectors in c, those of the largest eigenvalues first. */
static bdml_status make_map(bdml_handle *h, const bdml_prepare *p, int d, const double *c,
                            const double *lambda, bdml_span *out)
{
    bdml_status status = BDML_OK;
    double top = lambda[d - 1];
    while (out->r < d && lambda[d - 1 - out->r] > ABSENT * top && top > 0.0) out->r++;
    if (out->r == 0)
        return bdml_fail(h, BDML_ERR_DATA, "every column is constant: there is nothing to learn");
    BDML_NEW(h, out->map, (size_t)out->r * (size_t)d);
    BDML_NEW(h, out->lift, (size_t)out->r * (size_t)d);
    for (int k = 0; k < out->r; k++) {
        double width = sqrt(lambda[d - 1 - k]);
        for (int j = 0; j < d; j++) {
            if (!isfinite(p->width[j])) continue;
            COL(out->map, d, k)[j] = COL(c, d, d - 1 - k)[j] / (width * p->width[j]);
            COL(out->lift, d, k)[j] = COL(c, d, d - 1 - k)[j] * (width * p->width[j]);
        }
    }
done:
    return status;
}

bdml_status bdml_span_make(bdml_handle *h, const bdml_training *t, bdml_span *out)
{
    bdml_status status = BDML_OK;
    const bdml_rows points = bdml_training_rows(t);
    bdml_prepare p = {.d_in = t->d, .d_out = t->d, .scale = BDML_SCALE_ZSCORE};
    bdml_eigh_ws eigen = {0};
    double *z = NULL, *c = NULL, *lambda = NULL, *ws = NULL, *moved = NULL;
    size_t n = (size_t)t->n, d = (size_t)t->d;

    memset(out, 0, sizeof *out);
    BDML_GO(bdml_prepare_widths(h, &points, NULL, NULL, &p));
    BDML_NEW(h, z, n * d);
    BDML_NEW(h, c, d * d);
    BDML_NEW(h, lambda, d);
    BDML_NEW(h, ws, BDML_MAX(bdml_la_gram_size(t->d), bdml_la_map_size(t->d, t->d)));
    BDML_GO(bdml_eigh_ws_init(h, t->d, &eigen));
    standardise(t, &p, z);
    bdml_la_gram(h, t->d, t->n, z, t->d, NULL, c, ws);
    for (size_t e = 0; e < d * d; e++) c[e] /= (double)n;
    BDML_GO(bdml_la_eigh(h, t->d, c, lambda, true, &eigen));
    BDML_GO(make_map(h, &p, t->d, c, lambda, out));
    /* W (x - mean) = (W diag(std)) z: the standardised points are centred, so nothing cancels */
    BDML_NEW(h, moved, (size_t)out->r * d);
    for (size_t e = 0; e < (size_t)out->r * d; e++)
        moved[e] = isfinite(p.width[e % d]) ? out->map[e] * p.width[e % d] : 0.0;
    BDML_NEW(h, out->z, n * (size_t)out->r);
    bdml_la_map_rows(h, out->r, t->d, moved, t->n, z, t->d, out->z, ws);
done:
    bdml_prepare_free(&p);
    bdml_eigh_ws_free(&eigen);
    free(z);
    free(c);
    free(lambda);
    free(ws);
    free(moved);
    if (status != BDML_OK) bdml_span_free(out);
    return status;
}

bdml_status bdml_span_set_map(bdml_handle *h, const bdml_span *s, int q, const double *l,
                              bdml_model *model)
{
    bdml_status status = BDML_OK;
    double *whole = NULL;
    BDML_NEW(h, whole, (size_t)q * (size_t)model->d);
    bdml_la_gemm('N', 'N', model->d, q, s->r, 1.0, s->map, model->d, l, s->r, 0.0, whole, model->d);
    status = bdml_model_set_map(h, model, q, whole);
done:
    free(whole);
    return status;
}
