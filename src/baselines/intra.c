/* intra.c - the intra-personal subspace (Wang and Tang 2004; Cao, Ying and Li 2013): directions in which
 * pairs of the same person differ, whitened.
 *
 *     C = mean over similar pairs of (x_i - x_j)(x_i - x_j)' = V diag(lambda) V'
 *     P = diag(lambda~)^(-1/2) V_k',   lambda~ = (1-s) lambda + s mean lambda,  the k largest
 *
 * scaled so that given pairs are 1 apart on average. s is the setting "shrinkage", k the setting
 * "subspace" (0 = all). Methods that learn on P x compose their map with P. */
#include "baselines/pairwise.h"

#include <stdlib.h>

#include "linalg/linalg.h"

void bdml_subspace_free(bdml_subspace *p)
{
    free(p->map);
    free(p->x);
    *p = (bdml_subspace){0};
}

bdml_status bdml_need_pairs(bdml_handle *h, const bdml_training *t, const char *method)
{
    if (!t->constraints || !bdml_constraints_are_pairs(t->constraints))
        return bdml_fail(h, BDML_ERR_DATA,
                         "method %s learns from pairs that are the same and pairs that are not; "
                         "give pairs-file",
                         method);
    if (t->constraints->n != t->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld",
                         (long long)t->constraints->n, (long long)t->n);
    return BDML_OK;
}

/* Mean squared distance of all given pairs between rows of x. */
static double mean_distance(const bdml_constraints *c, int k, const double *x)
{
    double sum = 0.0;
    for (int64_t p = 0; p < c->pairs; p++) {
        const double *a = COL(x, k, c->pi[p]), *b = COL(x, k, c->pj[p]);
        for (int j = 0; j < k; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return sum / (double)c->pairs;
}

static bdml_status apply(bdml_handle *h, const bdml_training *t, bdml_subspace *p)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    BDML_NEW(h, p->x, (size_t)t->n * (size_t)p->k);
    BDML_NEW(h, ws, bdml_la_map_size(p->k, t->d));
    bdml_la_map_rows(h, p->k, t->d, p->map, t->n, t->x, t->d, p->x, ws);
    double mean = mean_distance(t->constraints, p->k, p->x);
    if (!(mean > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA, "the points of every pair are the same");
        goto done;
    }
    double scale = 1.0 / sqrt(mean);
    for (size_t e = 0; e < (size_t)t->d * (size_t)p->k; e++) p->map[e] *= scale;
    for (size_t e = 0; e < (size_t)t->n * (size_t)p->k; e++) p->x[e] *= scale;
done:
    free(ws);
    return status;
}

bdml_status bdml_subspace_make(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_subspace *p)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    int asked = (int)o->subspace.value;
    double s = o->shrinkage.value, trace = 0.0, *c = NULL, *lambda = NULL;
    bdml_training pairs = *t;
    bdml_eigh_ws ws = {0};

    *p = (bdml_subspace){.k = asked > 0 ? BDML_MIN(asked, t->d) : t->d};
    pairs.y = NULL; /* the covariance of pairs, also where there are classes */
    BDML_NEW(h, c, d * d);
    BDML_NEW(h, lambda, d);
    BDML_NEW(h, p->map, (size_t)p->k * d);
    BDML_GO(bdml_eigh_ws_init(h, t->d, &ws));
    BDML_GO(bdml_within_covariance(h, &pairs, c));
    for (size_t j = 0; j < d; j++) trace += c[j * d + j];
    if (!(trace > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "the points of every similar pair are the same, so there is no "
                           "intra-personal subspace");
        goto done;
    }
    BDML_GO(bdml_la_eigh(h, t->d, c, lambda, true, &ws));
    for (int r = 0; r < p->k; r++) {
        size_t e = d - 1 - (size_t)r;
        double shrunk = (1.0 - s) * BDML_MAX(lambda[e], 0.0) + s * trace / (double)d;
        for (size_t j = 0; j < d; j++) COL(p->map, d, r)[j] = c[e * d + j] / sqrt(shrunk);
    }
    status = apply(h, t, p);
done:
    bdml_eigh_ws_free(&ws);
    free(c);
    free(lambda);
    if (status != BDML_OK) bdml_subspace_free(p);
    return status;
}

bdml_status bdml_subspace_set_map(bdml_handle *h, const bdml_subspace *p, int q, const double *l,
                                  bdml_model *model)
{
    bdml_status status = BDML_OK;
    int d = model->d;
    double *map = NULL;
    BDML_NEW(h, map, (size_t)q * (size_t)d);
    /* q rows of d = (q rows of k) (k rows of d); as columns: map' = P' l'. */
    bdml_la_gemm('N', 'N', d, q, p->k, 1.0, p->map, d, l, p->k, 0.0, map, d);
    status = bdml_model_set_map(h, model, q, map);
done:
    free(map);
    return status;
}

bdml_status bdml_subspace_set_metric(bdml_handle *h, const bdml_subspace *p, const double *m,
                                     bdml_model *model)
{
    int q = 0;
    double *l = NULL, kappa;
    BDML_TRY(bdml_metric_factor(h, p->k, m, &q, &l, &kappa));
    bdml_status status = bdml_subspace_set_map(h, p, q, l, model);
    free(l);
    return status;
}

bdml_status bdml_fit_in_subspace(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 const char *name,
                                 bdml_status (*fit)(bdml_handle *h, const bdml_options *o,
                                                    const bdml_training *t, bdml_model *model),
                                 bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_subspace p = {0};
    bdml_prepare plain = {.variance = 1.0};
    bdml_model *inner = NULL;
    const char *key;
    json_t *value;

    BDML_TRY(bdml_need_pairs(h, t, name));
    BDML_GO(bdml_subspace_make(h, &o->methods, t, &p));
    plain.d_in = plain.d_out = p.k;
    BDML_GO(bdml_model_new(h, NULL, &plain, p.k, &inner));
    bdml_training mapped = {t->n, p.k, p.x, NULL, 0, t->constraints, NULL, NULL, NULL};
    BDML_GO(fit(h, o, &mapped, inner));
    BDML_GO(bdml_subspace_set_map(h, &p, inner->q, inner->l, model));
    /* json_object_update_missing says nothing of what it could not copy */
    json_object_foreach(inner->info, key, value)
    {
        if (json_object_get(model->info, key)) continue;
        BDML_GO(bdml_model_tell(h, model, key, json_incref(value)));
    }
done:
    bdml_free_model(inner);
    bdml_subspace_free(&p);
    return status;
}
