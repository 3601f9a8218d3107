/* convert.c - rows that one model has mapped, as another maps them, without the rows themselves.
 *
 *     z = A x + b,   z' = A' x + b'     =>     z' = W (z - s),   W = A' A^-1,   s = A x0 + b,   A' x0 + b' = 0
 *
 * where A is square and regular (linear.c has A and b). Where both models prepare rows alike, x stands for the prepared row:
 * A = L, A' = L', s = 0, and the preparation need not be invertible. Rows at length 1 are x themselves where both
 * models bring them there. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/internal.h"

static bool same_array(size_t count, const double *a, const double *b)
{
    return !a || !b ? a == b : memcmp(a, b, count * sizeof *a) == 0;
}

bool bdml_prepare_same(const bdml_prepare *a, const bdml_prepare *b)
{
    size_t d = (size_t)a->d_in;
    return a->d_in == b->d_in && a->d_out == b->d_out && a->scale == b->scale &&
           same_array(d, a->shift, b->shift) && same_array(d, a->width, b->width) &&
           same_array(d, a->center, b->center) &&
           same_array(d * (size_t)a->d_out, a->basis, b->basis);
}

static bdml_status check(bdml_handle *h, const bdml_model *from, const bdml_model *to)
{
    BDML_TRY(bdml_model_need_map(h, from));
    BDML_TRY(bdml_model_need_map(h, to));
    const bdml_prepare *a = &from->prepare, *b = &to->prepare;
    bool alike = bdml_prepare_same(a, b);
    int d = alike ? a->d_out : a->d_in;
    if (a->d_in != b->d_in)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the rows were mapped by a model of %d features, the other one wants %d",
                         a->d_in, b->d_in);
    if ((a->scale == BDML_SCALE_UNIT) != (b->scale == BDML_SCALE_UNIT))
        return bdml_fail(h, BDML_ERR_DATA,
                         "one of the models brings rows to length 1 and the other does not: mapped "
                         "rows do not tell one from the other; map the originals");
    if (from->q != d)
        return bdml_fail(
            h, BDML_ERR_DATA,
            "the rows were mapped from %d dimensions to %d: what was lost there cannot "
            "be brought back%s; map the originals",
            d, from->q, alike || from->q != from->d ? "" : " unless both models have the same PCA");
    return BDML_OK;
}

/* Where the model maps to 0, before its map: (x - shift) / width = center. */
static void find_origin(const bdml_prepare *p, double *x)
{
    for (int j = 0; j < p->d_in; j++) {
        double width = p->width ? p->width[j] : 1.0, c = p->center ? p->center[j] : 0.0;
        x[j] = (p->shift ? p->shift[j] : 0.0) + (isfinite(width) ? width * c : 0.0);
    }
}

/* prepare: rows less s. w: q' x q. */
static bdml_status wrap(bdml_handle *h, int rows, int d, const double *w, const double *s,
                        bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {.d_in = d, .d_out = d, .scale = BDML_SCALE_ZSCORE, .variance = 1.0};
    bdml_model *model = NULL;

    BDML_NEW(h, prepare.shift, d);
    BDML_NEW(h, prepare.width, d);
    memcpy(prepare.shift, s, sizeof *s * (size_t)d);
    for (int j = 0; j < d; j++) prepare.width[j] = 1.0;
    BDML_GO(bdml_model_new(h, NULL, &prepare, rows, &model));
    BDML_GO(bdml_model_set_map(h, model, rows, w));
    BDML_GO(bdml_model_tell(h, model, "method", json_string("conversion")));
    *out = model;
    model = NULL;
done:
    bdml_prepare_free(&prepare);
    bdml_free_model(model);
    return status;
}

static bdml_status convert(bdml_handle *h, const bdml_model *from, const bdml_model *to,
                           bdml_model **out)
{
    bdml_status status = BDML_OK;
    bool alike = bdml_prepare_same(&from->prepare, &to->prepare);
    int d = from->q, q = to->q;
    double *a = NULL, *b = NULL, *a2 = NULL, *b2 = NULL, *x0 = NULL, *s = NULL, *inverse = NULL,
           *w = NULL;

    BDML_NEW(h, a, (size_t)d * (size_t)d);
    BDML_NEW(h, a2, (size_t)q * (size_t)d);
    BDML_NEW(h, inverse, (size_t)d * (size_t)d);
    BDML_NEW(h, w, (size_t)q * (size_t)d);
    BDML_NEW(h, b, d);
    BDML_NEW(h, b2, q);
    BDML_NEW(h, x0, d);
    BDML_NEW(h, s, d);
    if (alike) {
        memcpy(a, from->l, sizeof *a * (size_t)d * (size_t)d);
        memcpy(a2, to->l, sizeof *a2 * (size_t)q * (size_t)d);
    } else {
        bdml_model_affine(from, a, b);
        bdml_model_affine(to, a2, b2);
        find_origin(&to->prepare, x0);
        for (int i = 0; i < d; i++) s[i] = b[i] + bdml_la_dot(d, COL(a, d, i), x0);
    }
    BDML_GO(bdml_map_inverse(h, d, a, inverse));
    bdml_la_gemm('N', 'N', d, q, d, 1.0, inverse, d, a2, d, 0.0, w, d);
    status = wrap(h, q, d, w, s, out);
done:
    free(a);
    free(b);
    free(a2);
    free(b2);
    free(x0);
    free(s);
    free(inverse);
    free(w);
    return status;
}

bdml_status bdml_model_conversion(bdml_handle *h, const bdml_model *from, const bdml_model *to,
                                  bdml_model **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!from || !to)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_model_conversion: from and to must not be NULL");
    BDML_TRY(check(h, from, to));
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = convert(h, from, to, out);
    bdml_la_leave(h);
    return status;
}
