/* stated.c - the problem that the settings state (hard margins, a mining rule, a trace bound, a
 * diagonal metric) in the hands of the recipe's sweeps and folds.
 *
 * Along a path over K only K may change, so the weight of missed margins is the same C for every K: a
 * multiple of the threshold of M = tI; where impostors are nearer than targets under the reference, so
 * that M = tI has none, of the threshold of the smallest K that has one. Thresholds fall with K, so no
 * larger K collapses to M = 0. */
#include "train/recipe.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Any setting that asks for one certain problem and not for our choice of one. */
bool recipe_is_stated(const bdml_options *o)
{
    return o->solve.solver.value != BDML_SOLVER_ENGINE || o->solve.hard.value ||
           o->solve.diagonal.value || o->constraints.rule.value != BDML_RULE_AUTO ||
           o->solve.trace.value > 0.0;
}

/* ---- weight ----------------------------------------------------------------------------------------- */

/* tr G for G the mean of X_ij over the target pairs. */
static double pull_trace(const recipe_points *points, const bdml_constraints *c)
{
    double sum = 0.0;
    size_t r = (size_t)points->r;
    for (int64_t t = 0; t < c->targets; t++) {
        const double *a = points->p + (size_t)c->pi[c->target[t]] * r;
        const double *b = points->p + (size_t)c->pj[c->target[t]] * r;
        for (size_t j = 0; j < r; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return c->targets > 0 ? sum / (double)c->targets : 0.0;
}

bdml_status stated_weight(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                          bdml_problem *problem, bdml_solve_settings *s)
{
    const recipe_grid *g = points->grid;
    bdml_solve_settings other = *s;
    if (s->hard) return BDML_OK;
    double C0 = pull_trace(points, c) * recipe_identity_threshold(points, c, s->margin, s->loss);
    for (int k = 0; k < g->ks && !(C0 > 0.0 && isfinite(C0)); k++) {
        other.K = g->k[k];
        BDML_TRY(bdml_problem_collapse(h, problem, &other, &C0));
    }
    if (!isfinite(C0))
        return bdml_fail(
            h, BDML_ERR_DATA,
            "under no metric of distortion up to %g are impostors farther than targets "
            "on the whole; raise the distortion or mine other constraints",
            other.K);
    s->C = s->softness * C0;
    return BDML_OK;
}

/* ---- diagonal metrics ---------------------------------------------------------------------------------- */

/* *m = the diagonal *m as a matrix. */
static bdml_status widen(bdml_handle *h, int r, double **m)
{
    double *full = bdml_calloc(h, (size_t)r * (size_t)r, sizeof *full);
    if (!full) return BDML_ERR_MEMORY;
    for (int j = 0; j < r; j++) COL(full, r, j)[j] = (*m)[j];
    free(*m);
    *m = full;
    return BDML_OK;
}

bdml_status stated_solve_diagonal(bdml_handle *h, int r, bdml_problem *problem,
                                  const bdml_solve_settings *s, bdml_solve_result *result)
{
    bdml_status status = BDML_OK;
    bdml_solve_settings own = *s;
    double *warm = NULL;

    if (s->warm_metric) {
        BDML_NEW(h, warm, r);
        for (int j = 0; j < r; j++) warm[j] = COL(s->warm_metric, r, j)[j];
        own.warm_metric = warm;
    }
    BDML_GO(bdml_problem_solve(h, problem, &own, result));
    if (result->m) status = widen(h, r, &result->m);
    if (status != BDML_OK) bdml_solve_result_free(result);
done:
    free(warm);
    return status;
}
