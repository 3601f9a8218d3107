/* sub_ml.c - Sub-ML and Sub-SML (Cao, Ying and Li, Similarity metric learning for face recognition, ICCV
 * 2013): in the whitened intra-personal subspace (intra.c), a metric M and for Sub-SML a similarity G
 * close to the identity that tell the pairs apart (pair_hinge.c):
 *
 *     Sub-ML    score  -(x-y)'M(x-y)
 *     Sub-SML   score  x'Gy - (x-y)'M(x-y)
 *
 * The weight gamma of closeness is the setting "closeness", or the one of a grid under which most of the
 * pairs left out are right; then all pairs are learned from. */
#include "baselines/pairwise.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* From "any metric" to "the identity" for points whose pairs are 1 apart on average. */
static const double grid[] = {1e-4, 1e-3, 1e-2, 1e-1, 1.0};
enum { GRID = sizeof grid / sizeof *grid };
/* While choosing gamma; a tighter bracket does not change the choice. */
static const double CHOOSING_GAP = 0.02;

/* A solution applied to the points in the subspace, for validation: z = M^(1/2) x and u = G x. */
typedef struct applied {
    int k;
    double *z, *u; /* n rows of k; u NULL without similarity */
    const double *x;
} applied;

static double pair_score(const void *user, int32_t i, int32_t j)
{
    const applied *a = user;
    const double *p = COL(a->z, a->k, i), *q = COL(a->z, a->k, j);
    double sum = 0.0;
    for (int e = 0; e < a->k; e++) sum -= (p[e] - q[e]) * (p[e] - q[e]);
    return a->u ? sum + bdml_la_dot(a->k, COL(a->x, a->k, i), COL(a->u, a->k, j)) : sum;
}

static bdml_status validation_error(bdml_handle *h, const bdml_subspace *p, int64_t n,
                                    const bdml_pair_solution *s, const bdml_holdout *v,
                                    double *error)
{
    bdml_status status = BDML_OK;
    size_t k = (size_t)p->k;
    double *l = NULL, *root = NULL, *ws = NULL, kappa;
    applied a = {.k = p->k, .x = p->x};
    int q;

    BDML_GO(bdml_metric_factor(h, p->k, s->metric, &q, &l, &kappa));
    BDML_NEW(h, root, k * k); /* rows beyond the rank stay 0 */
    memcpy(root, l, sizeof(double) * (size_t)q * k);
    BDML_NEW(h, ws, bdml_la_map_size(p->k, p->k));
    BDML_NEW(h, a.z, (size_t)n * k);
    bdml_la_map_rows(h, p->k, p->k, root, n, p->x, p->k, a.z, ws);
    if (s->similarity) {
        BDML_NEW(h, a.u, (size_t)n * k);
        bdml_la_map_rows(h, p->k, p->k, s->similarity, n, p->x, p->k, a.u, ws);
    }
    status = bdml_holdout_error(h, v, pair_score, &a, error);
done:
    free(l);
    free(root);
    free(ws);
    free(a.z);
    free(a.u);
    return status;
}

static bdml_pair_hinge problem(const bdml_solve_options *o, const bdml_subspace *p,
                               const bdml_labelled_pairs *pairs, bool similarity, double gamma)
{
    return (bdml_pair_hinge){.k = p->k,
                             .m = pairs->count,
                             .x = p->x,
                             .row = pairs->row,
                             .same = pairs->same,
                             .similarity = similarity,
                             .gamma = gamma,
                             .gap = o->gap.value,
                             .max_iter = o->max_iter.value};
}

static bdml_status choose_gamma(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                const bdml_subspace *p, bool similarity, double *gamma,
                                json_t **report)
{
    bdml_status status = BDML_OK;
    bdml_holdout v = {0};
    bdml_pair_solution s = {0};
    json_t *tried = json_array();
    double best = INFINITY;

    BDML_GO(bdml_holdout_make(h, (uint64_t)o->general.seed.value, t, &v));
    for (int g = GRID - 1; g >= 0; g--) { /* equals: the closer to the identity */
        double error;
        bdml_pair_hinge one = problem(&o->solve, p, &v.train, similarity, grid[g]);
        one.gap = BDML_MAX(one.gap, CHOOSING_GAP);
        BDML_GO(bdml_pair_hinge_solve(h, &one, &s));
        BDML_GO(validation_error(h, p, t->n, &s, &v, &error));
        bdml_pair_solution_free(&s);
        bdml_json_push(&tried, json_pack("{s:f, s:f}", "closeness", grid[g], "error", error));
        if (error < best) best = error, *gamma = grid[g];
    }
    bdml_json_put(report, "error", json_real(best));
    bdml_json_put(report, "tried", tried);
    tried = NULL;
done:
    json_decref(tried);
    bdml_pair_solution_free(&s);
    bdml_holdout_free(&v);
    return status;
}

/* G on prepared points: P' G P. */
static bdml_status set_similarity(bdml_handle *h, const bdml_subspace *p, const double *g,
                                  bdml_model *model)
{
    bdml_status status = BDML_OK;
    int d = model->d;
    double *half = NULL;
    BDML_NEW(h, half, (size_t)d * (size_t)p->k);
    BDML_NEW(h, model->similarity, (size_t)d * (size_t)d);
    bdml_la_gemm('N', 'N', d, p->k, p->k, 1.0, p->map, d, g, p->k, 0.0, half, d);
    bdml_la_gemm('N', 'T', d, d, p->k, 1.0, half, d, p->map, d, 0.0, model->similarity, d);
    bdml_la_mirror(d, model->similarity, d);
    model->score = BDML_SCORE_SIMILARITY;
done:
    free(half);
    return status;
}

static bdml_status fit(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                       const bdml_subspace *p, bool similarity, bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_labelled_pairs pairs = {0};
    bdml_pair_solution s = {0};
    double gamma = o->methods.closeness.value;
    json_t *report = json_object();

    if (o->methods.closeness.automatic)
        BDML_GO(choose_gamma(h, o, t, p, similarity, &gamma, &report));
    BDML_GO(bdml_labelled_from(h, t->constraints, &pairs));
    bdml_pair_hinge all = problem(&o->solve, p, &pairs, similarity, gamma);
    BDML_GO(bdml_pair_hinge_solve(h, &all, &s));
    BDML_GO(bdml_subspace_set_metric(h, p, s.metric, model));
    if (similarity) BDML_GO(set_similarity(h, p, s.similarity, model));
    bdml_json_put(&report, "closeness", json_real(gamma));
    bdml_json_put(&report, "upper", json_real(s.primal));
    bdml_json_put(&report, "lower", json_real(s.dual));
    bdml_json_put(&report, "iterations", json_integer(s.iterations));
    status = bdml_model_tell(h, model, "selection", report);
    report = NULL;
done:
    json_decref(report);
    bdml_labelled_free(&pairs);
    bdml_pair_solution_free(&s);
    return status;
}

bdml_status bdml_fit_pair_hinge(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                bool similarity, const char *name, bdml_model *model)
{
    bdml_subspace p = {0};
    BDML_TRY(bdml_need_pairs(h, t, name));
    if (!o->methods.closeness.automatic && !(o->methods.closeness.value > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "closeness must be above 0 for method %s", name);
    BDML_TRY(bdml_subspace_make(h, &o->methods, t, &p));
    bdml_status status = fit(h, o, t, &p, similarity, model);
    bdml_subspace_free(&p);
    return status;
}

bdml_status bdml_fit_sub_ml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            bdml_model *model)
{
    return bdml_fit_pair_hinge(h, o, t, false, "sub-ml", model);
}

bdml_status bdml_fit_sub_sml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                             bdml_model *model)
{
    return bdml_fit_pair_hinge(h, o, t, true, "sub-sml", model);
}
