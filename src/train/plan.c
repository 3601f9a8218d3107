/* plan.c - what the settings and the data leave open.
 *
 * Hard margins, constraints from elsewhere, and forms other than soft triplets over the nearest rows of
 * either side are one problem that the user has stated. Anything else leaves reference, cap, weight and passes to
 * the recipe (docs/recipe.md), and given pairs without a cap leave reference, cap and score. Settings that are
 * given are not chosen. */
#include "train/plan.h"

/* ---- lists ---------------------------------------------------------------------------------------------- */

static void only_cap(bdml_plan *p, double K)
{
    p->caps = 1;
    p->cap[0] = K;
}

static void only_weight(bdml_plan *p, double weight)
{
    p->weights = 1;
    p->weight[0] = weight;
}

static void only_pass(bdml_plan *p, int again)
{
    p->passes = 1;
    p->pass[0] = again;
}

/* The reference asked for, or where that is left open those of `kinds`. */
static bdml_status set_references(bdml_handle *h, bdml_plan *p, int count,
                                  const bdml_reference_kind *kinds)
{
    const char *asked = p->o->train.reference.value;
    if (strcmp(asked, "auto") == 0) {
        p->references = count;
        memcpy(p->reference, kinds, sizeof *kinds * (size_t)count);
        return BDML_OK;
    }
    p->references = 1;
    p->reference[0] = bdml_reference_named(asked);
    if (strcmp(asked, "given") == 0) return bdml_reference_given(h, &p->o->reference_map, &p->file);
    if (p->reference[0] != BDML_REFERENCE_FILE) return BDML_OK;
    return bdml_reference_read(h, asked, &p->file);
}

/* ---- kinds of plans ------------------------------------------------------------------------------------- */

static bdml_status plan_recipe(bdml_handle *h, bdml_plan *p)
{
    static const bdml_reference_kind kinds[] = {
        BDML_REFERENCE_ZSCORE,      BDML_REFERENCE_WITHIN,   BDML_REFERENCE_WITHIN_RAW,
        BDML_REFERENCE_FISHER,      BDML_REFERENCE_FISHER_5, BDML_REFERENCE_FISHER_100,
        BDML_REFERENCE_FISHER_1000, BDML_REFERENCE_LDA,      BDML_REFERENCE_NONE};
    const bdml_options *o = p->o;

    p->source = BDML_FROM_RECIPE;
    p->weighing = BDML_WEIGH_BY_IDENTITY;
    p->pull = BDML_PULL_WITHIN;
    p->mining_cap = 10.0;
    p->rough_way = true;
    if (!o->solve.distortion.automatic) only_cap(p, o->solve.distortion.value);
    if (!o->solve.softness.automatic) only_weight(p, o->solve.softness.value);
    if (!o->train.passes.automatic) only_pass(p, (int)o->train.passes.value - 1);
    return set_references(h, p, sizeof kinds / sizeof *kinds, kinds);
}

/* The paper's form: its objective, its neighbours, the space as it is for reference. The cap and the weight are
 * chosen, as it chooses its parameters; the rest of the recipe is not used. */
static bdml_status plan_paper(bdml_handle *h, bdml_plan *p)
{
    static const bdml_reference_kind none = BDML_REFERENCE_NONE;
    const bdml_options *o = p->o;

    if (o->rank.rank.value > 0)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "recipe paper chooses the cap of a metric of full rank; with rank, state the "
            "problem (distortion, rule) or leave recipe out");
    p->source = BDML_FROM_RULE;
    p->weighing = BDML_WEIGH_ALIKE;
    if (!o->solve.distortion.automatic) only_cap(p, o->solve.distortion.value);
    if (!o->solve.softness.automatic) only_weight(p, o->solve.softness.value);
    only_pass(p, (int)o->train.passes.value - 1);
    return set_references(h, p, 1, &none);
}

/* Pairs whose cap is ours to choose: the two ways to score a pair are candidates too, there is one pass. */
static bdml_status plan_pairs(bdml_handle *h, bdml_plan *p)
{
    static const bdml_reference_kind kinds[] = {BDML_REFERENCE_NONE, BDML_REFERENCE_WITHIN};
    const bdml_options *o = p->o;

    p->source = BDML_FROM_CALLER;
    p->weighing = BDML_WEIGH_ALIKE;
    p->pairs = p->whole = true;
    only_weight(p, o->solve.softness.automatic ? p->weight[0] : o->solve.softness.value);
    only_pass(p, 0);
    if (o->methods.pair_score.value == BDML_PAIR_SCORE_AUTO) p->scores = 2;
    return set_references(h, p, sizeof kinds / sizeof *kinds, kinds);
}

/* One candidate. Neighbours are mined again only where they were mined. */
static bdml_status plan_stated(bdml_handle *h, bool given, bdml_plan *p)
{
    static const bdml_reference_kind none = BDML_REFERENCE_NONE;
    const bdml_options *o = p->o;
    bool mined = !given && !bdml_constraint_files_given(&o->constraints);

    p->source = given ? BDML_FROM_CALLER : BDML_FROM_SETTINGS;
    p->weighing = BDML_WEIGH_BY_CAP;
    p->paper = o->solve.solver.value != BDML_SOLVER_ENGINE;
    only_cap(p, o->solve.distortion.value);
    only_weight(p, o->solve.softness.value);
    only_pass(p, mined && !p->diagonal ? (int)o->train.passes.value - 1 : 0);
    return set_references(h, p, 1, &none);
}

/* ---- plans ------------------------------------------------------------------------------------------------ */

bool bdml_plan_is_stated(const bdml_options *o)
{
    bool paper =
        o->train.recipe.value == BDML_RECIPE_PAPER; /* there the rule leaves cap and weight open */
    return o->solve.solver.value != BDML_SOLVER_ENGINE || o->solve.hard.value ||
           o->solve.diagonal.value || (o->constraints.rule.value != BDML_RULE_AUTO && !paper) ||
           o->solve.trace.value > 0.0;
}

static bool pairs_are_open(const bdml_options *o)
{
    return o->solve.distortion.automatic && !o->solve.hard.value && o->rank.rank.value == 0 &&
           !o->solve.diagonal.value && !(o->solve.trace.value > 0.0) &&
           o->solve.solver.value == BDML_SOLVER_ENGINE;
}

/* What all plans share. */
static bdml_status begin(bdml_handle *h, const bdml_options *o, bdml_plan *p)
{
    const bdml_solve_options *s = &o->solve;
    *p = (bdml_plan){.o = o,
                     .pull = BDML_PULL_TARGETS,
                     .diagonal = s->diagonal.value,
                     .mining_cap = INFINITY,
                     .slack = o->train.se_rule.value,
                     .passes = 2,
                     .pass = {0, 1},
                     .scores = 1,
                     .score = {BDML_SCORE_DISTANCE, BDML_SCORE_COSINE},
                     .weights = 2,
                     .weight = {1.5, 5},
                     .caps = 6,
                     .cap = {1, 3, 10, 30, 100, 1000}};
    if (!(s->margin.value > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "margin must be above 0, got %g", s->margin.value);
    if (!s->hard.value && !(s->softness.value > 0.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "softness must be above 0, got %g",
                         s->softness.value);
    return BDML_OK;
}

static bdml_status check_classes(bdml_handle *h, const bdml_training *t)
{
    if (t->y && t->n <= t->classes)
        return bdml_fail(h, BDML_ERR_DATA,
                         "every class has 1 point: a metric is learned from points that belong "
                         "together and points that do not");
    if (!t->y || t->classes < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "method bdml learns from labels of at least two classes, or from "
                         "constraint files; the data have %d classes",
                         t->y ? t->classes : 0);
    return BDML_OK;
}

bdml_status bdml_plan_make(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                           bdml_plan *plan)
{
    const bdml_constraints *c = t->constraints;
    bool pairs = c && bdml_constraints_are_pairs(c);

    BDML_TRY(begin(h, o, plan));
    if (c && c->n != t->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld", (long long)c->n,
                         (long long)t->n);
    if (pairs && o->methods.pair_score.value == BDML_PAIR_SCORE_COSINE)
        plan->score[0] = BDML_SCORE_COSINE;
    if (pairs && pairs_are_open(o)) return plan_pairs(h, plan);
    if (c || bdml_constraint_files_given(&o->constraints) || bdml_plan_is_stated(o))
        return plan_stated(h, c != NULL, plan);
    BDML_TRY(check_classes(h, t));
    return o->train.recipe.value == BDML_RECIPE_PAPER ? plan_paper(h, plan) : plan_recipe(h, plan);
}

bdml_status bdml_plan_path(bdml_handle *h, const bdml_options *o, int caps, const double *cap,
                           bdml_plan *plan)
{
    static const bdml_reference_kind zscore = BDML_REFERENCE_ZSCORE;

    BDML_TRY(begin(h, o, plan));
    plan->source = BDML_FROM_RULE;
    plan->weighing = BDML_WEIGH_ALIKE;
    plan->whole = true;
    only_weight(plan, o->solve.softness.value);
    only_pass(plan, (int)o->train.passes.value - 1);
    plan->caps = caps;
    memcpy(plan->cap, cap, sizeof *cap * (size_t)caps);
    return set_references(h, plan, 1, &zscore);
}

void bdml_plan_free(bdml_plan *plan)
{
    bdml_reference_free(&plan->file);
}
