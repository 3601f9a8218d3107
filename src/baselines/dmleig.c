/* dmleig.c - DML-eig (Ying and Li, JMLR 2012): the metric under which the nearest dissimilar pair is farthest,
 *
 *     max  min over dissimilar pairs of z'Mz    s.t.  mean over similar pairs of z'Mz <= 1,  M >= 0.
 *
 * The source rewrites it as an eigenvalue problem over the spectrahedron and follows a smoothed objective by
 * approximate Frank-Wolfe steps. Both sides are homogeneous, so it is also
 *
 *     min  <S, M>    s.t.  z_t' M z_t >= 1 for every dissimilar pair,  M >= 0,     optimum 1/(the above),
 *
 * which is problem (p) with the distortion cap taken away. In coordinates that make the similar scatter S the
 * identity the certified engine solves that over the cone, to a bracket as narrow as the setting gap. */
#include <stdlib.h>

#include "baselines/pairs.h"
#include "solver/solver.h"

static bdml_status solve(bdml_handle *h, const bdml_solve_options *o, bdml_pairset *set,
                         bdml_solve_result *result)
{
    bdml_status status = BDML_OK;
    int r = set->r;
    double *identity = NULL;
    bdml_problem *problem = NULL;
    bdml_constraints far = set->c; /* a view: dissimilar pairs are the constraints */
    bdml_solve_settings settings = bdml_solve_defaults();

    far.m = set->dissimilar;
    far.far = set->c.far + set->similar;
    far.near = set->c.near + set->similar;
    settings.set = BDML_SET_PSD_BALL;
    settings.trace = INFINITY;
    settings.margin = 1.0;
    settings.hard = true;
    settings.gap = o->gap.value;
    settings.max_iter = o->max_iter.value;
    BDML_NEW(h, identity, (size_t)r * (size_t)r);
    for (int j = 0; j < r; j++) COL(identity, r, j)[j] = 1.0;
    BDML_GO(bdml_problem_new(h, set->points, r, set->x, r, &far, identity, false, &problem));
    status = bdml_problem_solve(h, problem, &settings, result);
done:
    bdml_problem_free(problem);
    free(identity);
    return status;
}

bdml_status bdml_fit_dmleig(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                            bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    bdml_solve_result r = {0};

    BDML_GO(bdml_pairset_new(h, o, "dml-eig", t, true, &set));
    BDML_GO(bdml_pairset_whiten(h, &set));
    BDML_GO(bdml_progress(h, "dml-eig", 0, 0));
    BDML_GO(solve(h, &o->solve, &set, &r));
    if (r.stop == BDML_STOP_CANCELLED) {
        status = bdml_fail(h, BDML_ERR_CANCELLED, "stopped on request");
        goto done;
    }
    if (!r.m) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "dml-eig: no metric was found that separates every dissimilar pair; raise "
                      "max-iter or time-limit");
        goto done;
    }
    bdml_solution told = {.objective = 1.0 / r.upper,
                          .bound = r.lower > 0.0 ? 1.0 / r.lower : 1e300,
                          .gap = r.gap,
                          .iterations = r.iterations,
                          .done = r.outcome == BDML_OPTIMAL,
                          .similar = set.similar,
                          .dissimilar = set.dissimilar,
                          .rank = set.r,
                          .raised = set.raised};
    for (size_t e = 0; e < (size_t)set.r * (size_t)set.r; e++) r.m[e] /= r.upper;
    BDML_GO(bdml_pairset_finish(h, &set, r.m, model));
    status = bdml_solution_record(h, &told, json_object(), model);
done:
    bdml_solve_result_free(&r);
    bdml_pairset_free(&set);
    return status;
}
