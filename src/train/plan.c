/* plan.c - what the settings and the data leave open.
 *
 * Hard margins, constraints from elsewhere, and forms other than soft triplets over the nearest rows of
 * either side are one problem that the user has stated. Anything else leaves reference, cap, weight and passes to
 * the recipe (docs/recipe.md), and given pairs without a cap leave reference, cap and score. Settings that are
 * given are not chosen. */
#include "train/plan.h"

#include <stdlib.h>

/* ---- lists ---------------------------------------------------------------------------------------------- */

static void only_effort(bdml_plan *p, int again, double weight)
{
    p->efforts = 1;
    p->effort[0] = (bdml_effort){again, weight};
}

static void list_caps(bdml_plan *p, int count, const double *K)
{
    p->caps = count;
    memcpy(p->cap, K, sizeof *K * (size_t)count);
}

static void only_cap(bdml_plan *p, double K)
{
    list_caps(p, 1, &K);
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

/* These two, with passes and weight as far as they are asked for. */
static void set_efforts(bdml_plan *p, bdml_effort gentle, bdml_effort hard)
{
    const bdml_options *o = p->o;
    p->effort[0] = gentle;
    p->effort[1] = hard;
    p->efforts = 2;
    for (int e = 0; e < p->efforts; e++) {
        if (!o->train.passes.automatic) p->effort[e].again = (int)o->train.passes.value - 1;
        if (!o->solve.softness.automatic) p->effort[e].weight = o->solve.softness.value;
    }
    bool same = p->effort[0].again == p->effort[1].again;
    if (same && p->effort[0].weight == p->effort[1].weight) p->efforts = 1;
}

/* The cap asked for, or where that is left open those of the list. */
static void set_caps(bdml_plan *p, int count, const double *K)
{
    if (p->o->solve.distortion.automatic)
        list_caps(p, count, K);
    else
        only_cap(p, p->o->solve.distortion.value);
}

/* ---- kinds of plans ------------------------------------------------------------------------------------- */

/* The standard error of a difference over fewer classes than MANY_CLASSES is too uncertain itself to change a space by. */
enum { MANY_CLASSES = 10 };
/* More rows than these have something to say about the metric that some hundreds of anchors do not (docs/recipe.md). */
enum { MANY_ROWS = BDML_MANY_ROWS };
/* References that are made round by round are too dear, and too dear to be made again by plain loops, beyond these. */
enum { MANY_COLUMNS = 500 };
/* More columns than these make the choice of many rows long: its problems have as many dimensions (docs/performance.md). */
enum { WIDE = 300, VERY_WIDE = 1000 };
/* The best cap grows with the rows. Of more than these the choice sees less than half (part.c), and K = 3, which does as well as larger
 * ones there, is not offered. */
enum { MOST_FOR_SMALL_CAP = 24000 };

static bdml_status count_groups(bdml_handle *h, const bdml_training *t, int *groups)
{
    bdml_status status = BDML_OK;
    int64_t *count = NULL;
    int many = 0;
    BDML_NEW(h, count, t->classes);
    for (int64_t i = 0; i < t->n; i++) count[t->y[i]]++;
    for (int c = 0; c < t->classes; c++) many += count[c] > 1;
    *groups = many < MANY_CLASSES ? 0 : BDML_MIN(many, (int)BDML_PLAN_GROUPS);
done:
    free(count);
    return status;
}

/* For classes that nobody has seen: the space as it is, and what may be better. Larger K and weights were never chosen,
 * nor better where tried (docs/recipe.md). Whoever has set the shrinkage does not want others tried. */
static bdml_status list_for_unseen(bdml_handle *h, bdml_plan *p, bdml_effort gentle)
{
    static const bdml_reference_kind kinds[] = {BDML_REFERENCE_NONE,       BDML_REFERENCE_ZSCORE,
                                                BDML_REFERENCE_WITHIN_RAW, BDML_REFERENCE_SHRUNK_10,
                                                BDML_REFERENCE_SHRUNK_30,  BDML_REFERENCE_SHRUNK_60,
                                                BDML_REFERENCE_SHRUNK_90};
    static const double caps[] = {1, 3, 10};
    bool set = p->o->methods.shrinkage.given;

    set_efforts(p, gentle, gentle);
    set_caps(p, sizeof caps / sizeof *caps, caps);
    return set_references(h, p, set ? 3 : sizeof kinds / sizeof *kinds, kinds);
}

static bdml_status plan_recipe(bdml_handle *h, const bdml_training *t, bdml_plan *p)
{
    static const bdml_reference_kind kinds[] = {
        BDML_REFERENCE_ZSCORE,      BDML_REFERENCE_WITHIN,   BDML_REFERENCE_WITHIN_RAW,
        BDML_REFERENCE_FISHER,      BDML_REFERENCE_FISHER_5, BDML_REFERENCE_FISHER_100,
        BDML_REFERENCE_FISHER_1000, BDML_REFERENCE_LDA,      BDML_REFERENCE_NONE,
        BDML_REFERENCE_LOCAL,       BDML_REFERENCE_LOCAL_60};
    static const double caps[] = {1, 3, 10, 30, 100}, caps_of_many[] = {1, 10, 30, 100};
    static const bdml_effort gentle = {0, 1.5}, hard = {1, 20}, hard_of_many = {2, 200};
    const bdml_options *o = p->o;

    p->source = BDML_FROM_RECIPE;
    p->weighing = BDML_WEIGH_BY_IDENTITY;
    p->pull = BDML_PULL_WITHIN;
    p->mining_cap = 10.0;
    p->mining_weight = gentle.weight;
    p->rough_way = true;
    p->rough_gap = 5e-2;
    p->rough_steps = BDML_MIN(12, o->solve.max_iter.value);
    if (p->unseen) return list_for_unseen(h, p, gentle);
    p->race = true;
    if (bdml_plan_chooses_votes(o, false)) p->votes = BDML_PLAN_VOTES;
    p->large = t->n > MANY_ROWS;
    p->anchors = bdml_recipe_anchors((double)t->n);
    if (o->train.se_rule.automatic) p->slack = 0.25;
    if (o->train.passes.automatic && !p->large) p->more = 1;
    set_efforts(p, gentle, p->large ? hard_of_many : hard);
    if (t->n > MOST_FOR_SMALL_CAP)
        set_caps(p, sizeof caps_of_many / sizeof *caps_of_many, caps_of_many);
    else
        set_caps(p, sizeof caps / sizeof *caps, caps);
    p->next_cap = BDML_MIN(30.0, p->cap[p->caps - 1]);
    int local = t->d <= MANY_COLUMNS ? 0 : 2; /* the last two */
    return set_references(h, p, (int)(sizeof kinds / sizeof *kinds) - local, kinds);
}

/* The paper's form: its objective, its neighbours, the space as it is for reference. The cap and the weight are
 * chosen, as it chooses its parameters: by the least error, no cap preferred to another; the rest of the recipe is not used. */
static bdml_status plan_paper(bdml_handle *h, bdml_plan *p)
{
    static const bdml_reference_kind none = BDML_REFERENCE_NONE;
    static const double caps[] = {1, 3, 10, 30, 100, 1000};
    const bdml_options *o = p->o;
    int again = (int)o->train.passes.value - 1;

    if (o->rank.rank.value > 0)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "recipe paper chooses the cap of a metric of full rank; with rank, state the "
            "problem (distortion, rule) or leave recipe out");
    p->source = BDML_FROM_RULE;
    p->weighing = BDML_WEIGH_ALIKE;
    if (o->train.se_rule.automatic) p->slack = 0.0;
    set_caps(p, sizeof caps / sizeof *caps, caps);
    set_efforts(p, (bdml_effort){again, 1.5}, (bdml_effort){again, 5.0});
    return set_references(h, p, 1, &none);
}

/* Pairs whose cap is ours to choose: the two ways to score a pair are candidates too, there is one pass. */
static bdml_status plan_pairs(bdml_handle *h, bdml_plan *p)
{
    static const bdml_reference_kind kinds[] = {BDML_REFERENCE_NONE, BDML_REFERENCE_WITHIN};
    static const double caps[] = {1, 3, 10, 30, 100, 1000};
    const bdml_options *o = p->o;

    p->source = BDML_FROM_CALLER;
    p->weighing = BDML_WEIGH_ALIKE;
    p->pairs = p->whole = true;
    only_effort(p, 0, o->solve.softness.automatic ? 1.5 : o->solve.softness.value);
    set_caps(p, sizeof caps / sizeof *caps, caps);
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
    only_effort(p, mined && !p->diagonal ? (int)o->train.passes.value - 1 : 0,
                o->solve.softness.value);
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

/* The recipe on classes, with something to choose. */
static bool is_open(const bdml_options *o, bool given)
{
    bool open = o->solve.distortion.automatic || o->solve.softness.automatic ||
                o->train.passes.automatic || strcmp(o->train.reference.value, "auto") == 0;
    return open && !given && !bdml_plan_is_stated(o) &&
           !bdml_constraint_files_given(&o->constraints) && o->rank.rank.value == 0 &&
           o->train.recipe.value == BDML_RECIPE_DEFAULT &&
           o->train.task.value == BDML_TASK_CLASSIFY;
}

bool bdml_plan_chooses_votes(const bdml_options *o, bool given)
{
    return o->neighbors.neighbors.automatic && is_open(o, given);
}

bool bdml_plan_weighs_lengths(const bdml_options *o, bool given, int64_t n)
{
    bool scale = !o->prepare.scale.given || o->prepare.scale.value == BDML_SCALE_AUTO;
    return n > MANY_ROWS && o->prepare.pca.value > 0.0 && scale && is_open(o, given);
}

bool bdml_plan_is_wide(const bdml_options *o, bool given, int64_t n, int d)
{
    return ((n > MANY_ROWS && d > WIDE) || d > VERY_WIDE) && !o->prepare.pca.given &&
           is_open(o, given);
}

static bool pairs_are_open(const bdml_options *o)
{
    return o->solve.distortion.automatic && !o->solve.hard.value && o->rank.rank.value == 0 &&
           !o->solve.diagonal.value && !(o->solve.trace.value > 0.0) &&
           o->solve.solver.value == BDML_SOLVER_ENGINE;
}

bool bdml_plan_streams(const bdml_handle *h, const bdml_options *o)
{
    return h->comm->size == 1 && !bdml_constraint_files_given(&o->constraints) &&
           !bdml_plan_is_stated(o) && o->train.recipe.value != BDML_RECIPE_PAPER &&
           o->rank.rank.value == 0;
}

bool bdml_plan_spreads(const bdml_options *o)
{
    const bdml_constraint_options *c = &o->constraints;
    bool classes = !bdml_constraint_files_given(c), pairs = bdml_pairs_file_alone(c);
    return o->solve.solver.value == BDML_SOLVER_ENGINE && o->rank.rank.value == 0 &&
           c->rule.value != BDML_RULE_BALL && (classes || (pairs && !pairs_are_open(o)));
}

/* What all plans share. */
static bdml_status begin(bdml_handle *h, const bdml_options *o, bdml_plan *p)
{
    const bdml_solve_options *s = &o->solve;
    *p = (bdml_plan){.o = o,
                     .pull = BDML_PULL_TARGETS,
                     .diagonal = s->diagonal.value,
                     .slack = o->train.se_rule.value,
                     .rough_gap = 1e-2,
                     .rough_steps = s->max_iter.value,
                     .scores = 1,
                     .score = {BDML_SCORE_DISTANCE, BDML_SCORE_COSINE}};
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
                         "constraint files; the data have %s",
                         t->y ? "one class" : "no labels");
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
    plan->unseen = o->train.task.value != BDML_TASK_CLASSIFY;
    if (plan->unseen) BDML_TRY(count_groups(h, t, &plan->groups));
    return o->train.recipe.value == BDML_RECIPE_PAPER ? plan_paper(h, plan)
                                                      : plan_recipe(h, t, plan);
}

bdml_status bdml_plan_path(bdml_handle *h, const bdml_options *o, int caps, const double *cap,
                           bdml_plan *plan)
{
    static const bdml_reference_kind zscore = BDML_REFERENCE_ZSCORE;

    BDML_TRY(begin(h, o, plan));
    if (o->train.task.value != BDML_TASK_CLASSIFY)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "a path is judged by rows left out, of classes that were trained on: task "
            "must be classify; 'bdml retrieve --grid' goes along K for unseen classes");
    plan->source = BDML_FROM_RULE;
    plan->weighing = BDML_WEIGH_ALIKE;
    plan->whole = true;
    only_effort(plan, (int)o->train.passes.value - 1, o->solve.softness.value);
    list_caps(plan, caps, cap);
    return set_references(h, plan, 1, &zscore);
}

void bdml_plan_free(bdml_plan *plan)
{
    bdml_reference_free(&plan->file);
}
