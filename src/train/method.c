/* method.c - the method bdml: what it needs, a plan, and its fit. */
#include "proof/proof.h"
#include "train/plan.h"

/* Constraints and pairs of the last problem at most, and the bytes of a fold of the choice. */
static void count(const bdml_options *o, double n, const bdml_constraints *given, double *m,
                  double *pairs, double *choice)
{
    const bdml_mining how = bdml_mining_from_options(o);
    double asked = (double)how.anchors, rows = asked > 0.0 ? BDML_MIN(n, asked) : n;
    *choice = 0.0;
    if (given) {
        *m = (double)given->m;
        *pairs = (double)given->pairs;
    } else if (bdml_constraint_files_given(&o->constraints) || bdml_plan_is_stated(o)) {
        *m = rows * how.impostors * (how.kind == BDML_KIND_PAIR ? 1 : how.targets);
        *pairs = rows * (how.targets + how.impostors);
    } else {
        bdml_recipe_most(n, asked, m, pairs, choice);
    }
}

bdml_status bdml_proof_fits(bdml_handle *h, const bdml_options *o, const bdml_training *t)
{
    char what[128];
    double n = (double)t->n, d = t->d, m, pairs, choice;
    count(o, n, t->constraints, &m, &pairs, &choice);
    double rows = BDML_MIN(n, 2.0 * pairs); /* of them a rank that holds some has a copy of all */
    snprintf(what, sizeof what, "the proof of what bdml learns from %lld rows of %d columns",
             (long long)t->n, t->d);
    return bdml_memory_check(h,
                             bdml_proof_bytes(rows, d, m, pairs) + (t->over ? 8.0 * rows * d : 0.0),
                             true, what, "fewer rows, or fewer --targets or --impostors");
}

/* How much the choice and the problem after it come to depends on what is chosen: this is the most that either was seen to take.
 * tests/test_method_limit.c holds it against what is taken. */
bdml_need bdml_need_bdml(const bdml_handle *h, const bdml_options *o, const bdml_training *t)
{
    double n = (double)t->n, square = 8.0 * t->d * t->d, held = (double)bdml_training_held(t);
    double m, pairs, choice;
    count(o, n, t->constraints, &m, &pairs, &choice);
    /* the constraints, those of the pass before, and the lists that they are built of */
    double listed = m * (2.0 * 8.0 + 46.0) + pairs * (2.0 * 8.0 + 60.0);
    double solver = bdml_solve_bytes(h, 0.0, 0.0, 0.0, t->d, true);
    double rows = 2.0 * 8.0 * held * t->d + listed - solver +
                  bdml_solve_bytes(h, BDML_MIN(n, 2.0 * pairs), pairs, m, t->d, true);
    return (bdml_need){.rows = rows,
                       .fixed =
                           solver + 40.0 * square + BDML_MAX(choice * bdml_threads(h) - rows, 0.0),
                       .blocks = 8.0 * held * t->d + 600.0 * held};
}

bdml_status bdml_fit_bdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_plan plan;
    bdml_training own = *t;
    bdml_status status = bdml_plan_make(h, o, t, &plan);

    plan.class_name = model->class_name;
    if (plan.pairs) own.y = NULL; /* what is known are the pairs, also where there are classes */
    if (status == BDML_OK)
        status = o->rank.rank.value > 0
                     ? bdml_fit_lowrank(h, &plan, &own, model)
                     : bdml_fit_plan(h, &plan, &own, (bdml_mapped){0, NULL}, model);
    bdml_plan_free(&plan);
    return status;
}
