/* pairs.c - a metric from given pairs, with the distortion cap chosen by how well it verifies.
 *
 *     min <G,M> + (C/m) sum_t max(mu - <X_t,M>, 0)^2     kappa(M) <= K,   G = mean X_ij, similar pairs
 *
 * on p = R x, t over the dissimilar pairs: similar ones are pulled together, dissimilar ones kept apart
 * (the soft form of the paper's p-BDML). Reference R, weight C and cap K come from cross-validation on
 * the pairs: each fold's pairs are called same or different by a metric and a threshold from the
 * others. Pairs that belong to one group (a fold of the file: the same people) are left out together;
 * where groups are not known, pairs that share a row are. K = 1 is the reference itself.
 *
 * The score of a pair is -|Lx - Ly|^2 or the cosine of Lx and Ly, M = L'L, also chosen there (setting
 * pair-score): where points differ in length for reasons of their own, the cosine does better under
 * the same metric. The two stand in the place of the recipe's passes, of which there are none here. */
#include "train/checkpoint.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { FOLDS = 3 };

/* ---- what can be chosen --------------------------------------------------------------------------------- */

static void make_grid(const bdml_handle *h, recipe_grid *g)
{
    recipe_make_grid(h, g);
    if (strcmp(bdml_opt_text(h, BDML_OPT_REFERENCE), "auto") == 0) {
        g->references = 2;
        g->reference[0] = BDML_REFERENCE_NONE;
        g->reference[1] = BDML_REFERENCE_WITHIN;
    }
    if (!bdml_opt_changed(h, BDML_OPT_SOFTNESS)) g->cs = 1;
    int asked = (int)bdml_opt_int(h, BDML_OPT_PAIR_SCORE);
    g->passes = asked == BDML_PAIR_SCORE_AUTO ? 2 : 1;
    g->pass[0] = asked == BDML_PAIR_SCORE_COSINE ? BDML_SCORE_COSINE : BDML_SCORE_DISTANCE;
    g->pass[1] = BDML_SCORE_COSINE;
    g->stated = true;
}

/* ---- one metric ------------------------------------------------------------------------------------------- */

/* Pairs on points p in the coordinates of a reference, and the problem that they make. */
typedef struct pair_points {
    recipe_points points;
    double *p;
    bdml_reference reference;
    bdml_problem *problem;
    bdml_solve_settings s; /* but for K and the start */
} pair_points;

static void free_points(pair_points *q)
{
    bdml_problem_free(q->problem);
    bdml_reference_free(&q->reference);
    free(q->p);
}

static bdml_status make_reference(bdml_handle *h, const bdml_training *t, const recipe_grid *g,
                                  int reference, pair_points *q)
{
    BDML_TRY(bdml_reference_make(h, g->reference[reference], t, &q->reference));
    BDML_TRY(bdml_reference_apply(h, &q->reference, t->n, t->d, t->x, &q->p));
    q->points =
        (recipe_points){.n = t->n, .r = q->reference.rows, .p = q->p, .stated = true, .grid = g};
    return BDML_OK;
}

static bdml_status make_problem(bdml_handle *h, const bdml_training *t, double weight, bool last,
                                pair_points *q)
{
    BDML_TRY(recipe_problem(h, &q->points, t->constraints, &q->problem));
    return recipe_settings(h, &q->points, t->constraints, q->problem, weight, last, &q->s);
}

/* ---- one fold ----------------------------------------------------------------------------------------------- */

typedef struct fold {
    bdml_labelled_pairs train, test;
    bdml_constraints *constraints; /* of train */
} fold;

/* All folds, and the errors of all choices in them. */
typedef struct validation {
    const bdml_training *t;
    const recipe_grid *grid;
    fold fold[FOLDS];
    double *score; /* FOLDS rows of the grid's size */
} validation;

static double pair_score(int kind, int q, const double *a, const double *b)
{
    double distance = 0.0;
    if (kind == BDML_SCORE_COSINE) {
        double lengths = bdml_la_norm(q, a) * bdml_la_norm(q, b);
        return lengths > 0.0 ? bdml_la_dot(q, a, b) / lengths : 0.0;
    }
    for (int j = 0; j < q; j++) distance += (a[j] - b[j]) * (a[j] - b[j]);
    return -distance;
}

static void pair_scores(const bdml_labelled_pairs *pairs, int kind, int q, const double *z,
                        double *score)
{
    for (int64_t k = 0; k < pairs->count; k++)
        score[k] =
            pair_score(kind, q, COL(z, q, pairs->row[2 * k]), COL(z, q, pairs->row[2 * k + 1]));
}

/* Percent of the pairs left out that are called wrongly, for points z of dimension q: for each way to
 * score, into the places of `at` and its like. */
static bdml_status note_errors(bdml_handle *h, const recipe_grid *g, const fold *f,
                               recipe_choice at, int q, const double *z, double *error)
{
    bdml_status status = BDML_OK;
    double *score = NULL;

    BDML_NEW(h, score, BDML_MAX(f->train.count, f->test.count));
    for (at.pass = 0; at.pass < g->passes; at.pass++) {
        bdml_calibration c = {0};
        int64_t wrong = 0;
        pair_scores(&f->train, g->pass[at.pass], q, z, score);
        BDML_GO(bdml_find_threshold(h, f->train.count, score, f->train.same, &c));
        pair_scores(&f->test, g->pass[at.pass], q, z, score);
        for (int64_t k = 0; k < f->test.count; k++)
            wrong += (score[k] >= c.threshold) != (f->test.same[k] == 1);
        error[recipe_choice_number(g, at)] = 100.0 * (double)wrong / (double)f->test.count;
    }
done:
    free(score);
    return status;
}

/* The same for points p of dimension r under the metric m. */
static bdml_status note_metric(bdml_handle *h, const recipe_grid *g, const fold *f,
                               recipe_choice at, const recipe_points *points, const double *m,
                               double *error)
{
    bdml_status status = BDML_OK;
    double *l = NULL, *z = NULL, *ws = NULL, kappa;
    int q;

    BDML_GO(bdml_metric_factor(h, points->r, m, &q, &l, &kappa));
    BDML_NEW(h, z, (size_t)points->n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, points->r));
    bdml_la_map_rows(h, q, points->r, l, points->n, points->p, points->r, z, ws);
    status = note_errors(h, g, f, at, q, z, error);
done:
    free(l);
    free(z);
    free(ws);
    return status;
}

/* All K of one (fold, reference, weight), ascending, each from the metric before. */
static bdml_status sweep(bdml_handle *h, const validation *v, const fold *f, recipe_choice at,
                         double *score)
{
    bdml_status status = BDML_OK;
    const recipe_grid *g = v->grid;
    bdml_training t = *v->t;
    pair_points q = {0};
    bdml_solve_result r = {0};
    double *warm = NULL;

    t.constraints = f->constraints;
    BDML_GO(make_reference(h, &t, g, at.reference, &q));
    for (at.k = 0; at.k < g->ks; at.k++) {
        if (g->k[at.k] == 1.0) {
            BDML_GO(note_errors(h, g, f, at, q.points.r, q.p, score));
            continue;
        }
        if (!q.problem) BDML_GO(make_problem(h, &t, g->c[at.c], false, &q));
        q.s.K = g->k[at.k];
        q.s.warm_metric = warm;
        BDML_GO(recipe_solve(h, &q.points, q.problem, &q.s, &r));
        if (!r.m || r.collapsed) break;
        BDML_GO(note_metric(h, g, f, at, &q.points, r.m, score));
        free(warm);
        warm = r.m;
        r.m = NULL;
        bdml_solve_result_free(&r);
    }
done:
    free(warm);
    bdml_solve_result_free(&r);
    free_points(&q);
    return status;
}

static bdml_status run_job(bdml_handle *h, void *user, int64_t job)
{
    const validation *v = user;
    int k = (int)job;
    const recipe_grid *g = v->grid;
    int number = k / (g->references * g->cs), rest = k % (g->references * g->cs);
    recipe_choice at = {.reference = rest / g->cs, .c = rest % g->cs};
    return sweep(h, v, &v->fold[number], at,
                 v->score + (size_t)number * (size_t)recipe_grid_size(g));
}

/* ---- cross-validation ---------------------------------------------------------------------------------------- */

static bdml_status make_folds(bdml_handle *h, validation *v)
{
    bdml_status status = BDML_OK;
    bdml_labelled_pairs pairs = {0};
    int64_t n = v->t->n;

    BDML_GO(bdml_labelled_from(h, v->t->constraints, &pairs));
    if (pairs.count < 2 * FOLDS) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%lld pairs are too few to choose the distortion by cross-validation; "
                           "set distortion",
                           (long long)pairs.count);
        goto done;
    }
    BDML_GO(bdml_labelled_regroup(h, n, FOLDS, (uint64_t)bdml_opt_int(h, BDML_OPT_SEED), &pairs));
    for (int f = 0; f < FOLDS; f++) {
        BDML_GO(bdml_labelled_part(h, &pairs, f, false, NULL, &v->fold[f].train));
        BDML_GO(bdml_labelled_part(h, &pairs, f, true, NULL, &v->fold[f].test));
        BDML_GO(bdml_labelled_constraints(h, n, &v->fold[f].train, &v->fold[f].constraints));
    }
done:
    bdml_labelled_free(&pairs);
    return status;
}

static json_t *choice_json(const recipe_scores *s, const double *mean, const double *se, int number)
{
    const recipe_grid *g = s->grid;
    recipe_choice c = recipe_choice_at(g, number);
    return json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:i}", "reference",
                     bdml_reference_names[g->reference[c.reference]], "score",
                     bdml_score_names[g->pass[c.pass]], "passes", 1, "weight", g->c[c.c],
                     "distortion", g->k[c.k], "error", mean[number], "standard_error", se[number],
                     "folds", s->folds);
}

static json_t *make_report(const recipe_scores *s, const double *mean, const double *se, int chosen)
{
    json_t *tried = json_array(), *o = choice_json(s, mean, se, chosen);
    for (int number = 0; number < recipe_grid_size(s->grid); number++)
        if (!isnan(mean[number])) json_array_append_new(tried, choice_json(s, mean, se, number));
    json_object_set_new(o, "tried", tried);
    return o;
}

static bdml_status choose(bdml_handle *h, const validation *v, const char *why,
                          recipe_choice *choice, json_t **report)
{
    bdml_status status = BDML_OK;
    int size = recipe_grid_size(v->grid);
    const recipe_scores s = {v->grid, FOLDS, v->score, 1.0 / (FOLDS - 1), INFINITY};
    bool *wanted = NULL;
    double *mean = NULL, *se = NULL;

    BDML_NEW(h, wanted, size);
    BDML_NEW(h, mean, size);
    BDML_NEW(h, se, size);
    for (int k = 0; k < size; k++) wanted[k] = true;
    recipe_summarise(&s, wanted, mean, se);
    int chosen = recipe_choose(&s, wanted, mean);
    if (chosen < 0) {
        status =
            bdml_fail(h, BDML_ERR_DATA, "no fold of the cross-validation could be fitted: %s", why);
        goto done;
    }
    *choice = recipe_choice_at(v->grid, chosen);
    *report = make_report(&s, mean, se, chosen);
    if (!*report) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
done:
    free(wanted);
    free(mean);
    free(se);
    return status;
}

static bdml_status select_choice(bdml_handle *h, const bdml_training *t, const recipe_grid *g,
                                 recipe_choice *choice, json_t **report)
{
    bdml_status status = BDML_OK;
    char why[BDML_ERROR_SIZE] = "";
    int count = FOLDS * g->references * g->cs;
    validation v = {.t = t, .grid = g};
    bdml_jobs jobs = {"cross-validation", 0, count, count, bdml_threads(h), run_job, &v, why};

    BDML_NEW(h, v.score, FOLDS * recipe_grid_size(g));
    for (int k = 0; k < FOLDS * recipe_grid_size(g); k++) v.score[k] = NAN;
    BDML_GO(make_folds(h, &v));
    BDML_GO(bdml_jobs_run(h, &jobs));
    status = choose(h, &v, why, choice, report);
done:
    for (int f = 0; f < FOLDS; f++) {
        bdml_labelled_free(&v.fold[f].train);
        bdml_labelled_free(&v.fold[f].test);
        bdml_free_constraints(v.fold[f].constraints);
    }
    free(v.score);
    return status;
}

/* ---- the fit ------------------------------------------------------------------------------------------------------ */

bdml_status bdml_fit_pairs(bdml_handle *h, const bdml_training *given, bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_training t = *given;
    recipe_grid grid;
    recipe_choice choice = {0};
    pair_points q = {0};
    bdml_solve_result r = {0};
    json_t *report = NULL;

    t.y = NULL; /* what is known are the pairs, also where there are classes */
    make_grid(h, &grid);
    if (t.constraints->n != t.n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld",
                         (long long)t.constraints->n, (long long)t.n);
    BDML_GO(select_choice(h, &t, &grid, &choice, &report));
    BDML_GO(make_reference(h, &t, &grid, choice.reference, &q));
    BDML_GO(make_problem(h, &t, grid.c[choice.c], true, &q));
    q.s.K = grid.k[choice.k];
    BDML_GO(bdml_checkpoint_solve(h, q.problem, &q.s, &r));
    bdml_solved solved = {&q.reference, t.constraints, &q.s, &r, false, BDML_PULL_TARGETS, 1.0};
    BDML_GO(bdml_claim_result(h, &solved, model));
    model->score = (bdml_score_kind)grid.pass[choice.pass];
    if (json_object_set(model->info, "selection", report) != 0)
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
done:
    json_decref(report);
    bdml_solve_result_free(&r);
    free_points(&q);
    return status;
}
