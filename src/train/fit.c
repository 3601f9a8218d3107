/* fit.c - points under a reference: constraints, the problem that they make, and one solve of it.
 *
 *     min <G,M> + (C/m) sum_t phi(mu_t - <A_t,M>)     kappa(M) <= K     on p = R x
 *
 * G = Sw / tr Sw (the recipe), or the mean over the target pairs. */
#include "train/checkpoint.h"
#include "train/plan.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "paper/paper.h"

/* Constraints of the recipe per anchor; more cost time and, as measured (docs/recipe.md), give nothing. */
enum { TARGETS = 3, RANDOM_IMPOSTORS = 5, NEAR_IMPOSTORS = 10 };
/* Anchors of one of the many fits of a selection; the last fit has more (final.c). */
enum { ANCHORS = 300 };
/* Of many rows: anchors of the second mining, which finds the metric whose margins the next ones go by, and pairs of an
 * anchor and a row that any mining compares. Up to 60,000 rows are all anchors; beyond, fewer, and a pass costs the same, down to
 * the anchors of the first pass. */
enum { ANCHORS_SECOND = 15000 };
static const double MOST_COMPARED = 3.6e9;
/* Of an anchor of many: more targets say more than more impostors do; about the margin a random share of many combinations says
 * more than as many of the nearest (docs/recipe.md). */
enum {
    TARGETS_OF_MANY = 8,
    NEAR_OF_MANY = 3,
    TARGETS_ABOUT = 25,
    IMPOSTORS_ABOUT = 20,
    MOST_ABOUT = 16
};

/* ---- points ----------------------------------------------------------------------------------------------- */

bdml_status bdml_within_pull(bdml_handle *h, const bdml_training *points, double **g, double *scale)
{
    bdml_status status = BDML_OK;
    size_t r = (size_t)points->d;
    double trace = 0.0;

    BDML_NEW(h, *g, r * r);
    BDML_GO(bdml_within_covariance(h, points, *g));
    for (size_t j = 0; j < r; j++) trace += COL(*g, r, j)[j];
    if (!(trace > 0.0)) {
        status =
            bdml_fail(h, BDML_ERR_DATA,
                      "the points of each class are all the same: there is nothing to learn from");
        goto done;
    }
    *scale = 1.0 / trace;
    for (size_t e = 0; e < r * r; e++) (*g)[e] *= *scale;
done:
    return status;
}

bdml_status bdml_fit_open(bdml_handle *h, const bdml_plan *plan, const bdml_training *t,
                          bdml_reference_kind kind, bdml_whitening *shared, bool whole, bdml_fit *f)
{
    const bdml_rows rows = bdml_training_rows(t);
    *f = (bdml_fit){.h = h, .plan = plan, .t = t, .g_scale = 1.0, .anchors = ANCHORS};
    BDML_TRY(
        bdml_reference_make(h, &plan->o->methods, kind, &plan->file, t, shared, &f->reference));
    const bdml_reference *r = &f->reference;
    f->points = rows;
    if (r->map) {
        BDML_TRY(bdml_image_open(h, &rows, r->rows, r->map, r->shift, whole, &f->image));
        f->points = f->image.rows;
    }
    f->p = f->points.x;
    return BDML_OK;
}

bdml_status bdml_fit_pull(bdml_fit *f)
{
    bdml_training points = *f->t;
    points.d = f->reference.rows;
    points.x = f->points.x;
    points.made = f->points.made;
    points.constraints = NULL;
    if (f->plan->pull != BDML_PULL_WITHIN) return BDML_OK;
    return bdml_within_pull(f->h, &points, &f->g, &f->g_scale);
}

void bdml_fit_close(bdml_fit *f)
{
    bdml_reference_free(&f->reference);
    bdml_image_close(&f->image);
    free(f->g);
}

/* Points of f, which are held, as those of a data set. */
static bdml_dataset data_of(const bdml_fit *f, const bdml_rows *points)
{
    const bdml_training *t = f->t;
    return (bdml_dataset){.n = t->n,
                          .d = points->d,
                          .x = (double *)points->x,
                          .y = (int32_t *)t->y,
                          .over = (bdml_spread *)t->over,
                          .classes = t->y ? t->classes : 0,
                          .class_name = (char **)f->plan->class_name};
}

/* ---- constraints ------------------------------------------------------------------------------------------ */

double bdml_recipe_anchors(double n)
{
    return MOST_COMPARED / n;
}

/* Many rows. Triplets that a metric of the same weight holds by the margin would not matter: only others are wanted. */
static void mine_many(const bdml_fit *f, bdml_mining *how)
{
    const bdml_constraint_options *o = &f->plan->o->constraints;
    double n = (double)f->t->n, first = (double)f->anchors;
    double anchors =
        o->anchors.automatic ? BDML_MAX(f->plan->anchors, first) : (double)o->anchors.value;
    anchors = BDML_MIN(n, anchors);
    if (f->again == 1 && !f->mined_last) anchors = BDML_MIN(anchors, (double)ANCHORS_SECOND);
    how->anchors = anchors < n ? (int64_t)anchors : 0;
    if (o->targets.automatic) how->targets = TARGETS_OF_MANY;
    if (o->impostors.automatic) how->impostors = NEAR_OF_MANY;
    if (f->again > 1 && how->kind == BDML_KIND_TRIPLET) {
        how->within = f->plan->o->solve.margin.value;
        if (o->targets.automatic && o->impostors.automatic) {
            how->targets = TARGETS_ABOUT;
            how->impostors = IMPOSTORS_ABOUT;
            how->most = MOST_ABOUT;
        }
    }
}

/* What the recipe looks for in the first pass, and again under a learned metric. */
static bdml_mining recipe_mining(const bdml_fit *f, bool again)
{
    const bdml_constraint_options *o = &f->plan->o->constraints;
    bdml_mining how = {.kind = o->kind.value,
                       .rule = BDML_RULE_CLASS,
                       .targets = o->targets.automatic ? TARGETS : (int)o->targets.value,
                       .random_impostors = RANDOM_IMPOSTORS,
                       .anchors = f->anchors < f->t->n ? f->anchors : 0,
                       .seed = (uint64_t)f->plan->o->general.seed.value,
                       .search = f->plan->o->neighbors};
    if (!again) return how;
    how.random_impostors = 0;
    how.impostors = o->impostors.automatic ? NEAR_IMPOSTORS : (int)o->impostors.value;
    if (f->plan->large) mine_many(f, &how);
    return how;
}

void bdml_recipe_most(double n, double asked, double *m, double *pairs, double *choice)
{
    /* of many: those of the second mining, and of the third one for each anchor (stand_alone), or its own MOST_ABOUT. A constraint takes
     * about 300 bytes with its pairs and vectors */
    enum {
        FOLD_ROWS = 9000,
        EACH = 300,
        SMALL = 36000,
        NEAREST = TARGETS_OF_MANY * NEAR_OF_MANY,
        /* of an anchor, 14 to 15 as seen: a pair is shared by triplets, and by its two rows */
        PAIRS = 20
    };
    bool large = n > BDML_MANY_ROWS;
    double anchors = asked > 0.0 ? asked : BDML_MAX(bdml_recipe_anchors(n), (double)ANCHORS);
    anchors = BDML_MIN(n, anchors);
    double small = asked > 0.0 ? 45.0 * anchors : SMALL;
    double second = NEAREST * BDML_MIN(anchors, (double)ANCHORS_SECOND);
    *m = large ? BDML_MAX(MOST_ABOUT * anchors, second + anchors) : BDML_MIN(small, 45.0 * n);
    *pairs = large ? PAIRS * anchors : *m / 2.0;
    *choice = large ? BDML_MIN(0.75 * n, FOLD_ROWS) * (NEAREST + 1.0) * EACH : 0.0;
}

static bdml_status mine(const bdml_fit *f, const bdml_rows *points, bool again,
                        bdml_constraints **out)
{
    const bdml_options *o = f->plan->o;
    if (f->plan->source == BDML_FROM_SETTINGS) {
        const bdml_dataset data = data_of(f, points);
        return bdml_mine_constraints_with(f->h, o, &data, out);
    }
    bdml_mining how =
        f->plan->source == BDML_FROM_RECIPE ? recipe_mining(f, again) : bdml_mining_from_options(o);
    return bdml_mine_spread(f->h, f->t->over, f->t->n, points, f->t->y, &how, out);
}

/* Triplets about the margin are a problem of their own where there are enough of them, one for each anchor: those of the passes
 * before, most of them far from the margin, would only lower the weight of these. A few would be outliers without the others. */
static bool stand_alone(const bdml_fit *f, const bdml_constraints *c)
{
    const bdml_mining how = recipe_mining(f, true);
    return f->plan->source == BDML_FROM_RECIPE && how.most > 0 &&
           c->m >= (how.anchors > 0 ? how.anchors : f->t->n);
}

bdml_status bdml_fit_constraints(const bdml_fit *f, const bdml_constraints *before, const double *m,
                                 const bdml_constraints **c, bdml_constraints **own)
{
    bdml_status status = BDML_OK;
    bdml_constraints *more = NULL;
    bdml_image image = {0};
    double *l = NULL;
    int q;

    *own = NULL;
    if (f->plan->source == BDML_FROM_CALLER) {
        *c = f->t->constraints;
        return BDML_OK;
    }
    if (!before) {
        BDML_GO(mine(f, &f->points, false, own));
    } else {
        BDML_GO(bdml_map_metric(f->h, f->points.d, m, &q, &l));
        BDML_GO(bdml_image_open(f->h, &f->points, q, l, NULL, !f->points.made, &image));
        BDML_GO(mine(f, &image.rows, true, &more));
        if (stand_alone(f, more)) {
            *own = more;
            more = NULL;
        } else {
            BDML_GO(bdml_constraints_merge(f->h, before, more, own));
        }
    }
    *c = *own;
done:
    bdml_free_constraints(more);
    bdml_image_close(&image);
    free(l);
    return status;
}

/* ---- weight ----------------------------------------------------------------------------------------------- */

/* What this rank holds of a problem. */
typedef struct lengths {
    int d;
    const bdml_constraints *c;
    const double *x;
    int64_t ld;
} lengths;

/* |p_i - p_j|^2 of a pair. */
static double length(const lengths *l, int32_t pair)
{
    double sum = 0.0;
    const double *a = l->x + (size_t)l->c->pi[pair] * (size_t)l->ld,
                 *b = l->x + (size_t)l->c->pj[pair] * (size_t)l->ld;
    for (int j = 0; j < l->d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* tr G: 1 for Sw / tr Sw. */
static double pull_trace(const bdml_fit *f, const bdml_constraints *c, const bdml_comm *comm,
                         const lengths *l)
{
    double sum = 0.0, rest = 0.0;
    if (f->g) return 1.0;
    for (int64_t t = 0; t < l->c->targets; t++)
        bdml_twofold_add(&sum, &rest, length(l, l->c->target[t]));
    sum = bdml_comm_twofold(comm, sum, rest);
    return c->targets > 0 ? sum / (double)c->targets : 0.0;
}

/* Sums are of twice the precision, so that the weight is the same on any number of ranks.
 *
 * Weight at which M = 0 stops being best among M = tI: tr G / (phi'(mu) mean <A_t,I>); 0 when no weight does. c: the
 * constraints of all ranks. */
static double identity_threshold(const bdml_fit *f, const bdml_constraints *c,
                                 const bdml_problem *problem, const bdml_solve_settings *s)
{
    double sum = 0.0, rest = 0.0, slope = s->loss == BDML_LOSS_HINGE ? 1.0 : 2.0 * s->margin;
    const bdml_comm *comm = bdml_problem_comm(problem);
    lengths l = {.d = f->reference.rows};
    l.x = bdml_problem_held(problem, &l.ld, &l.c);
    for (int64_t t = 0; t < l.c->m; t++) {
        bdml_twofold_add(&sum, &rest, length(&l, l.c->far[t]));
        if (l.c->near[t] >= 0) bdml_twofold_add(&sum, &rest, -length(&l, l.c->near[t]));
    }
    double mean = bdml_comm_twofold(comm, sum, rest) / (double)c->m;
    return mean > 0.0 ? pull_trace(f, c, comm, &l) * (1.0 / (slope * mean)) : 0.0;
}

/* s->C; 0 leaves it to the solver. */
bdml_status bdml_fit_weigh(const bdml_fit *f, const bdml_constraints *c, bdml_problem *problem,
                           double weight, bdml_solve_settings *s)
{
    const bdml_plan *plan = f->plan;
    bdml_solve_settings other = *s;
    s->softness = weight;
    if (s->hard || !problem || plan->weighing == BDML_WEIGH_BY_CAP) return BDML_OK;
    double C0 = identity_threshold(f, c, problem, s);
    if (plan->weighing == BDML_WEIGH_ALIKE) {
        for (int k = 0; k < plan->caps && !(C0 > 0.0 && isfinite(C0)); k++) {
            other.K = plan->cap[k];
            BDML_TRY(bdml_problem_collapse(f->h, problem, &other, &C0));
        }
        if (!isfinite(C0))
            return bdml_fail(
                f->h, BDML_ERR_DATA,
                "under no metric of distortion up to %g are impostors farther than targets "
                "on the whole; raise the distortion or mine other constraints",
                other.K);
    }
    s->C = s->softness * C0;
    return BDML_OK;
}

/* ---- problem and solve ------------------------------------------------------------------------------------ */

bdml_status bdml_fit_problem(const bdml_fit *f, const bdml_constraints *c, bool precise,
                             bdml_problem **problem, bdml_solve_settings *s)
{
    const bdml_options *o = f->plan->o;

    *s = bdml_solve_from_options(&o->solve);
    if (!precise) {
        s->gap = f->plan->rough_gap;
        s->max_iter = f->plan->rough_steps;
    }
    if (f->plan->paper) { /* it makes its own problem */
        s->hard = true;
        s->gap = bdml_paper_from_options(&o->solve, &o->mwu).gap;
        return BDML_OK;
    }
    bool split = bdml_sharing_pays(c, f->reference.rows, f->plan->diagonal);
    return bdml_problem_new_shared(f->h, f->t->over, split, f->t->n, &f->points, c, f->g,
                                   f->plan->diagonal, problem);
}

bdml_status bdml_widen(bdml_handle *h, int r, double **m)
{
    double *full = bdml_calloc(h, (size_t)r * (size_t)r, sizeof *full);
    if (!full) return BDML_ERR_MEMORY;
    for (int j = 0; j < r; j++) COL(full, r, j)[j] = (*m)[j];
    free(*m);
    *m = full;
    return BDML_OK;
}

bdml_status bdml_fit_solve(const bdml_fit *f, const bdml_constraints *c, bdml_problem *problem,
                           bool precise, bdml_solve_settings *s, bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    const bdml_options *o = f->plan->o;
    int d = f->reference.rows;
    bool diagonal = f->plan->diagonal;
    bdml_solve_settings own = *s;
    double *warm = NULL;

    if (diagonal && s->warm_metric) {
        BDML_NEW(f->h, warm, d);
        for (int j = 0; j < d; j++) warm[j] = COL(s->warm_metric, d, j)[j];
        own.warm_metric = warm;
    }
    if (problem) {
        BDML_GO((precise ? bdml_checkpoint_solve : bdml_problem_solve)(f->h, problem, &own, r));
    } else {
        bdml_paper_settings paper = bdml_paper_from_options(&o->solve, &o->mwu);
        BDML_GO(bdml_paper_solve(f->h, f->t->n, d, f->p, d, c, diagonal, &paper, r, NULL));
    }
    if (diagonal && r->m) status = bdml_widen(f->h, d, &r->m);
    if (status != BDML_OK) bdml_solve_result_free(r);
done:
    free(warm);
    return status;
}
