/* recipe.c - the default way to a metric: soft triplets over a reference metric.
 *
 *     min <G,M> + (C/m) sum_t max(mu - <A_t,M>, 0)^2     kappa(M) <= K,   G = Sw / tr Sw
 *
 * on p = R x. Pass 0: random anchors, their nearest targets and random impostors. Pass 1: to these come
 * the nearest impostors under the metric of pass 0. C is a multiple of the weight under which M = 0
 * beats every multiple of the identity (docs/algorithm.md), so it needs no scale. Reference, K, C and
 * pass are chosen by cross-validation (select.c); K = 1 is the reference itself. */
#include "train/checkpoint.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Per anchor; more cost time and, as measured (docs/recipe.md), give nothing. */
enum { TARGETS = 3, RANDOM_IMPOSTORS = 5, NEAR_IMPOSTORS = 10 };
/* Anchors of the last fit. The many fits of the selection take fewer (recipe.h). */
enum { ANCHORS = 2000 };

/* ---- points --------------------------------------------------------------------------------------- */

bdml_status recipe_points_init(bdml_handle *h, int64_t n, int r, const double *p, const int32_t *y,
                               int classes, recipe_points *out)
{
    bdml_status status = BDML_OK;
    bdml_training t = {n, r, p, y, classes, NULL, NULL};
    double trace = 0.0;

    *out = (recipe_points){
        .anchors = RECIPE_ANCHORS, .n = n, .r = r, .classes = classes, .p = p, .y = y};
    BDML_NEW(h, out->g, (size_t)r * (size_t)r);
    BDML_GO(bdml_within_covariance(h, &t, out->g));
    for (int j = 0; j < r; j++) trace += COL(out->g, r, j)[j];
    if (!(trace > 0.0)) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "the points of each class are all the same: there is nothing to learn from");
        goto done;
    }
    out->g_scale = 1.0 / trace;
    for (size_t e = 0; e < (size_t)r * (size_t)r; e++) out->g[e] *= out->g_scale;
done:
    if (status != BDML_OK) recipe_points_free(out);
    return status;
}

void recipe_points_free(recipe_points *points)
{
    free(points->g);
    points->g = NULL;
}

/* ---- constraints ------------------------------------------------------------------------------------ */

static bdml_status mine_mapped(bdml_handle *h, const recipe_points *points, const double *m,
                               const bdml_mining *how, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    double *l = NULL, *z = NULL, *ws = NULL, kappa;
    int q;

    BDML_GO(bdml_metric_factor(h, points->r, m, &q, &l, &kappa));
    BDML_NEW(h, z, (size_t)points->n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, points->r));
    bdml_la_map_rows(h, q, points->r, l, points->n, points->p, points->r, z, ws);
    status = bdml_mine(h, points->n, q, z, q, points->y, how, out);
done:
    free(l);
    free(z);
    free(ws);
    return status;
}

/* What to look for in pass 0, and again under a learned metric. */
static bdml_mining mining(const bdml_handle *h, const recipe_points *points, bool again)
{
    if (points->stated)
        return bdml_mining_from_options(&h->options.constraints,
                                        (uint64_t)h->options.general.seed.value);
    bdml_mining how = {.kind = (int)bdml_opt_int(h, BDML_OPT_KIND),
                       .rule = BDML_RULE_CLASS,
                       .targets = TARGETS,
                       .random_impostors = RANDOM_IMPOSTORS,
                       .anchors = points->anchors,
                       .seed = (uint64_t)bdml_opt_int(h, BDML_OPT_SEED)};
    if (bdml_opt_changed(h, BDML_OPT_TARGETS)) how.targets = (int)bdml_opt_int(h, BDML_OPT_TARGETS);
    if (how.anchors >= points->n) how.anchors = 0;
    if (!again) return how;
    how.random_impostors = 0;
    how.impostors = bdml_opt_changed(h, BDML_OPT_IMPOSTORS)
                        ? (int)bdml_opt_int(h, BDML_OPT_IMPOSTORS)
                        : NEAR_IMPOSTORS;
    return how;
}

bdml_status recipe_mine(bdml_handle *h, const recipe_points *points, const bdml_constraints *before,
                        const double *m, bdml_constraints **out)
{
    bdml_mining how = mining(h, points, before != NULL);
    bdml_constraints *near = NULL;
    if (!before)
        return bdml_mine(h, points->n, points->r, points->p, points->r, points->y, &how, out);
    BDML_TRY(mine_mapped(h, points, m, &how, &near));
    bdml_status status = bdml_constraints_merge(h, before, near, out);
    bdml_free_constraints(near);
    return status;
}

/* ---- one solve ---------------------------------------------------------------------------------------- */

/* tr G / (phi'(mu) mean <A_t,I>) */
double recipe_identity_threshold(const recipe_points *points, const bdml_constraints *c, double mu,
                                 bdml_loss loss)
{
    double mean = 0.0, slope = loss == BDML_LOSS_HINGE ? 1.0 : 2.0 * mu;
    size_t r = (size_t)points->r;
    for (int64_t t = 0; t < c->m; t++)
        for (int side = 0; side < 2; side++) {
            int32_t pair = side == 0 ? c->far[t] : c->near[t];
            if (pair < 0) continue;
            const double *a = points->p + (size_t)c->pi[pair] * r;
            const double *b = points->p + (size_t)c->pj[pair] * r;
            double sum = 0.0;
            for (size_t j = 0; j < r; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
            mean += (side == 0 ? sum : -sum) / (double)c->m;
        }
    return mean > 0.0 ? 1.0 / (slope * mean) : 0.0; /* tr G = 1 */
}

bdml_status recipe_problem(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                           bdml_problem **out)
{
    bool diagonal = points->stated && bdml_opt_int(h, BDML_OPT_DIAGONAL);
    return bdml_problem_new(h, points->n, points->r, points->p, points->r, c,
                            points->stated ? NULL : points->g, diagonal, out);
}

bdml_status recipe_settings(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                            bdml_problem *problem, double weight, bool last, bdml_solve_settings *s)
{
    *s = bdml_solve_from_options(&h->options.solve);
    s->softness = weight;
    if (!last) {
        s->gap = RECIPE_GAP;
        s->time_limit = 0.0;
    }
    if (points->stated) return stated_weight(h, points, c, problem, s);
    s->C = weight * recipe_identity_threshold(points, c, s->margin, s->loss);
    return BDML_OK;
}

bdml_status recipe_solve(bdml_handle *h, const recipe_points *points, bdml_problem *problem,
                         const bdml_solve_settings *s, bdml_solve_result *result)
{
    if (points->stated && bdml_opt_int(h, BDML_OPT_DIAGONAL))
        return stated_solve_diagonal(h, points->r, problem, s, result);
    return bdml_problem_solve(h, problem, s, result);
}

/* One solve of a problem made for it, from the metric `warm` (or NULL). */
static bdml_status solve_once(bdml_handle *h, const recipe_points *points,
                              const bdml_constraints *c, double K, double weight, bool last,
                              const double *warm, bdml_solve_settings *s, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    bdml_problem *problem;
    BDML_TRY(recipe_problem(h, points, c, &problem));
    BDML_GO(recipe_settings(h, points, c, problem, weight, last, s));
    s->K = K;
    s->warm_metric = warm;
    status = points->stated ? recipe_solve(h, points, problem, s, r)
                            : bdml_checkpoint_solve(h, problem, s, r);
    s->warm_metric = NULL;
done:
    bdml_problem_free(problem);
    return status;
}

/* ---- passes ---------------------------------------------------------------------------------------------- */

double recipe_mining_distortion(const recipe_points *points, double K)
{
    return points->stated ? K : BDML_MIN(K, 10.0);
}

bdml_status recipe_remine(bdml_handle *h, const recipe_points *points,
                          const bdml_constraints *first, const double *m, double K, double weight,
                          int last, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_constraints *c = NULL;
    bdml_solve_result r = {0};

    BDML_GO(recipe_mine(h, points, first, m, &c));
    for (int pass = 1; pass < last; pass++) {
        bdml_constraints *more = NULL;
        bdml_solve_settings s;
        bdml_solve_result_free(&r);
        BDML_GO(solve_once(h, points, c, K, weight, false, NULL, &s, &r));
        if (!r.m || r.collapsed) break;
        BDML_GO(recipe_mine(h, points, c, r.m, &more));
        bdml_free_constraints(c);
        c = more;
    }
done:
    bdml_solve_result_free(&r);
    if (status == BDML_OK)
        *out = c;
    else
        bdml_free_constraints(c);
    return status;
}

/* ---- the fit -------------------------------------------------------------------------------------------- */

bdml_status recipe_fit_chosen(bdml_handle *h, recipe_points *points, double K, double weight,
                              int last, bdml_constraints **c, bdml_solve_settings *s,
                              bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    double cap = recipe_mining_distortion(points, K), *warm = NULL;
    bdml_constraints *more = NULL;

    points->anchors = ANCHORS;
    BDML_GO(recipe_mine(h, points, NULL, NULL, c));
    if (last > 0) {
        BDML_GO(solve_once(h, points, *c, cap, weight, false, NULL, s, r));
        if (!r->m || r->collapsed || r->stop == BDML_STOP_CANCELLED) goto done;
        warm = r->m;
        r->m = NULL;
        bdml_solve_result_free(r);
        BDML_GO(recipe_remine(h, points, *c, warm, cap, weight, last, &more));
        bdml_free_constraints(*c);
        *c = more;
    }
    status = solve_once(h, points, *c, K, weight, true, warm, s, r);
done:
    free(warm);
    return status;
}

bdml_status bdml_fit_recipe(bdml_handle *h, const bdml_training *t, bdml_mapped by,
                            bdml_model *model)
{
    bdml_status status = BDML_OK;
    recipe_grid grid;
    recipe_choice choice = {0};
    recipe_points points = {0};
    bdml_reference reference = {0};
    bdml_constraints *c = NULL;
    bdml_solve_settings s;
    bdml_solve_result r = {0};
    json_t *report = NULL;
    double *p = NULL;

    recipe_make_grid(h, &grid);
    if (recipe_grid_size(&grid) > 1) /* else there is nothing to choose */
        BDML_GO(recipe_select(h, t, &grid, &choice, &report));
    BDML_GO(bdml_reference_make(h, grid.reference[choice.reference], t, &reference));
    BDML_GO(bdml_reference_apply(h, &reference, t->n, t->d, t->x, &p));
    BDML_GO(recipe_points_init(h, t->n, reference.rows, p, t->y, t->classes, &points));
    BDML_GO(recipe_fit_chosen(h, &points, grid.k[choice.k], grid.c[choice.c],
                              grid.pass[choice.pass], &c, &s, &r));
    if (by.map) BDML_GO(bdml_reference_after(h, &reference, by.rows, model->d, by.map));
    bdml_solved solved = {&reference, c, &s, &r, false, BDML_PULL_WITHIN, points.g_scale};
    BDML_GO(bdml_claim_result(h, &solved, model));
    if (report && json_object_set(model->info, "selection", report) != 0)
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
done:
    json_decref(report);
    bdml_solve_result_free(&r);
    bdml_free_constraints(c);
    recipe_points_free(&points);
    bdml_reference_free(&reference);
    free(p);
    return status;
}

/* Some class has two points (or there are no classes at all). */
static bool has_company(const bdml_training *t)
{
    return !t->y || t->n > t->classes;
}

bdml_status recipe_check_settings(bdml_handle *h)
{
    double margin = bdml_opt_real(h, BDML_OPT_MARGIN),
           softness = bdml_opt_real(h, BDML_OPT_SOFTNESS);
    if (!(margin > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "margin must be above 0, got %g", margin);
    if (!bdml_opt_int(h, BDML_OPT_HARD) && !(softness > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "softness must be above 0, got %g", softness);
    return BDML_OK;
}

/* Pairs are given and the distortion is not: the cap is ours to choose. */
static bool pairs_are_open(const bdml_handle *h)
{
    return !bdml_opt_changed(h, BDML_OPT_DISTORTION) && !bdml_opt_int(h, BDML_OPT_HARD) &&
           bdml_opt_int(h, BDML_OPT_RANK) == 0 && !bdml_opt_int(h, BDML_OPT_DIAGONAL) &&
           !(bdml_opt_real(h, BDML_OPT_TRACE) > 0.0) &&
           bdml_opt_int(h, BDML_OPT_SOLVER) == BDML_SOLVER_ENGINE;
}

/* Hard margins, constraints from elsewhere, and forms other than soft triplets over the nearest rows
 * of either side are one problem that the user has stated; anything else leaves the choice to us. */
bdml_status bdml_fit_bdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bool stated = t->constraints || bdml_constraint_files_given(&h->options.constraints) ||
                  recipe_is_stated(o);
    BDML_TRY(recipe_check_settings(h));
    bool low = bdml_opt_int(h, BDML_OPT_RANK) > 0;
    if (t->constraints && bdml_constraints_are_pairs(t->constraints)) {
        if (pairs_are_open(h)) return bdml_fit_pairs(h, t, model);
        if (bdml_opt_int(h, BDML_OPT_PAIR_SCORE) == BDML_PAIR_SCORE_COSINE)
            model->score = BDML_SCORE_COSINE;
    }
    if (stated && low) return bdml_fit_lowrank(h, t, true, model);
    if (stated) return bdml_fit_single(h, t, (bdml_mapped){0, NULL}, model);
    if (!has_company(t))
        return bdml_fail(h, BDML_ERR_DATA,
                         "every class has 1 point: a metric is learned from points that belong "
                         "together and points that do not");
    if (!t->y || t->classes < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "method bdml learns from labels of at least two classes, or from "
                         "constraint files; the data have %d classes",
                         t->y ? t->classes : 0);
    if (low) return bdml_fit_lowrank(h, t, false, model);
    return bdml_fit_recipe(h, t, (bdml_mapped){0, NULL}, model);
}
