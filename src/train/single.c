/* single.c - one problem as the settings say it: reference, constraints given or mined, one solve, and
 * with more passes neighbours mined again under the learned metric. */
#include "train/checkpoint.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "paper/paper.h"

/* Neighbours under the metric m, added to the constraints that are there. */
static bdml_status mine_again(bdml_handle *h, const bdml_dataset *points, const double *m,
                              bdml_constraints **c)
{
    bdml_status status = BDML_OK;
    bdml_dataset mapped = *points;
    bdml_constraints *more = NULL, *both = NULL;
    double *l = NULL, *ws = NULL, kappa;
    int q;

    mapped.x = NULL;
    BDML_GO(bdml_metric_factor(h, points->d, m, &q, &l, &kappa));
    mapped.d = q;
    mapped.x = bdml_alloc(h, (size_t)points->n * (size_t)q, sizeof *mapped.x);
    ws = bdml_alloc(h, bdml_la_map_size(q, points->d), sizeof *ws);
    if (!mapped.x || !ws) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    bdml_la_map_rows(h, q, points->d, l, points->n, points->x, points->d, mapped.x, ws);
    BDML_GO(bdml_mine_constraints(h, &mapped, &more));
    BDML_GO(bdml_constraints_merge(h, *c, more, &both));
    bdml_free_constraints(*c);
    *c = both;
done:
    bdml_free_constraints(more);
    free(mapped.x);
    free(ws);
    free(l);
    return status;
}

/* By the certified engine, or by the paper's algorithm when the setting "solver" says so. */
static bdml_status solve(bdml_handle *h, const bdml_dataset *points, const bdml_constraints *c,
                         bool diagonal, bdml_solve_settings *s, bdml_solve_result *r)
{
    bdml_problem *p = NULL;
    if (bdml_opt_int(h, BDML_OPT_SOLVER) != BDML_SOLVER_ENGINE) {
        bdml_paper_settings paper = bdml_paper_from_options(&h->options.solve, &h->options.mwu);
        s->gap = paper.gap;
        return bdml_paper_solve(h, points->n, points->d, points->x, points->d, c, diagonal, &paper,
                                r, NULL);
    }
    BDML_TRY(
        bdml_problem_new(h, points->n, points->d, points->x, points->d, c, NULL, diagonal, &p));
    bdml_status status = bdml_checkpoint_solve(h, p, s, r);
    bdml_problem_free(p);
    return status;
}

static bdml_status solve_passes(bdml_handle *h, const bdml_dataset *points, bool diagonal,
                                bool mined, bdml_constraints **c, bdml_solve_settings *s,
                                bdml_solve_result *r)
{
    int passes = (int)bdml_opt_int(h, BDML_OPT_PASSES);
    double *warm = NULL;
    for (int pass = 1;; pass++) {
        s->warm_metric = warm;
        bdml_status status = solve(h, points, *c, diagonal, s, r);
        free(warm);
        s->warm_metric = warm = NULL;
        if (status != BDML_OK) return status;
        if (pass >= passes || !mined || diagonal || r->outcome == BDML_INFEASIBLE || !r->m ||
            r->collapsed || r->stop == BDML_STOP_CANCELLED)
            return BDML_OK;
        status = mine_again(h, points, r->m, c);
        warm = r->m;
        r->m = NULL;
        bdml_solve_result_free(r);
        if (status != BDML_OK) {
            free(warm);
            return status;
        }
    }
}

bdml_status bdml_fit_single(bdml_handle *h, const bdml_training *t, bdml_mapped by,
                            bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_reference reference = {0};
    bdml_constraints *c = NULL;
    bdml_solve_settings s = bdml_solve_from_options(&h->options.solve);
    bdml_solve_result r = {0};
    bool diagonal = bdml_opt_int(h, BDML_OPT_DIAGONAL) != 0;
    bool mined = !t->constraints && !bdml_constraint_files_given(&h->options.constraints);
    double *p = NULL;

    if (bdml_opt_int(h, BDML_OPT_SOLVER) != BDML_SOLVER_ENGINE) s.hard = true;
    BDML_GO(bdml_reference_make(h, bdml_reference_asked(h), t, &reference));
    BDML_GO(bdml_reference_apply(h, &reference, t->n, t->d, t->x, &p));
    bdml_dataset points = {.n = t->n,
                           .d = reference.rows,
                           .x = p,
                           .y = (int32_t *)t->y,
                           .classes = t->y ? t->classes : 0,
                           .class_name = model->class_name};
    if (t->constraints)
        BDML_GO(bdml_constraints_copy(h, t->constraints, &c));
    else
        BDML_GO(bdml_mine_constraints(h, &points, &c));
    if (t->constraints && c->n != t->n) {
        status = bdml_fail(h, BDML_ERR_ARGUMENT,
                           "the constraints are about %lld rows, the data have %lld",
                           (long long)c->n, (long long)t->n);
        goto done;
    }
    BDML_GO(solve_passes(h, &points, diagonal, mined, &c, &s, &r));
    if (by.map) BDML_GO(bdml_reference_after(h, &reference, by.rows, model->d, by.map));
    bdml_solved solved = {&reference, c, &s, &r, diagonal, BDML_PULL_TARGETS, 1.0};
    status = bdml_claim_result(h, &solved, model);
done:
    bdml_solve_result_free(&r);
    bdml_free_constraints(c);
    bdml_reference_free(&reference);
    free(p);
    return status;
}
