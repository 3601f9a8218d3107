/* select.c - reference, distortion cap, softness and passes by cross-validation inside the training
 * data.
 *
 * Stratified folds; each fold's reference, constraints and metrics come from its training rows alone.
 * Score of a choice: mean of the 1-, 3-, 5- and 9-NN errors on the rows left out. Among the choices
 * within SLACK standard errors of the best the smallest K is taken, then the smaller error.
 *
 * A job is one (repeat, fold, reference) with all its K, C and passes in one warm-started sweep; jobs
 * run beside each other, each on one thread with its own handle, and write to their own places: the
 * result does not depend on the number of threads. */
#include "train/recipe.h"

#include <omp.h>
#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    FOLDS_SMALL = 5, /* up to FEW points */
    FOLDS_LARGE = 3,
    FEW = 500,
    MOST_POINTS = 1500, /* more are sampled down, class by class */
    REPEAT_UNDER = 600, /* repeat the folds until this many rows have been left out */
    REPEATS_MAX = 4,
    VOTES = 4,
    MOST_VOTES = 9
};
static const int votes[VOTES] = {1, 3, 5, MOST_VOTES};
static const double SLACK = 0.5;   /* standard errors */
static const double CV_GAP = 1e-2; /* a tighter solve does not change the neighbours */

/* ---- grid --------------------------------------------------------------------------------------------- */

void recipe_make_grid(const bdml_handle *h, recipe_grid *grid)
{
    *grid = (recipe_grid){.references = 3,
                          .ks = 6,
                          .cs = 2,
                          .passes = 2,
                          .reference = {BDML_REFERENCE_ZSCORE, BDML_REFERENCE_WITHIN,
                                        BDML_REFERENCE_NONE},
                          .k = {1, 3, 10, 30, 100, 1000},
                          .c = {1.5, 5},
                          .pass = {0, 1}};
    const char *reference = bdml_opt_text(h, BDML_OPT_REFERENCE);
    if (strcmp(reference, "auto") != 0) {
        grid->references = 1;
        grid->reference[0] = BDML_REFERENCE_FILE;
        for (int k = 0; k < BDML_REFERENCE_FILE; k++)
            if (strcmp(reference, bdml_reference_names[k]) == 0)
                grid->reference[0] = (bdml_reference_kind)k;
    }
    if (bdml_opt_changed(h, BDML_OPT_DISTORTION)) {
        grid->ks = 1;
        grid->k[0] = bdml_opt_real(h, BDML_OPT_DISTORTION);
    }
    if (bdml_opt_changed(h, BDML_OPT_SOFTNESS)) {
        grid->cs = 1;
        grid->c[0] = bdml_opt_real(h, BDML_OPT_SOFTNESS);
    }
    if (bdml_opt_changed(h, BDML_OPT_PASSES)) {
        grid->passes = 1;
        grid->pass[0] = (int)bdml_opt_int(h, BDML_OPT_PASSES) - 1;
    }
}

static int grid_size(const recipe_grid *g)
{
    return g->references * g->passes * g->cs * g->ks;
}

static int choice_number(const recipe_grid *g, recipe_choice c)
{
    return ((c.reference * g->passes + c.pass) * g->cs + c.c) * g->ks + c.k;
}

static recipe_choice choice_at(const recipe_grid *g, int number)
{
    recipe_choice c;
    c.k = number % g->ks;
    number /= g->ks;
    c.c = number % g->cs;
    number /= g->cs;
    c.pass = number % g->passes;
    c.reference = number / g->passes;
    return c;
}

/* ---- one job -------------------------------------------------------------------------------------------- */

typedef struct job {
    const recipe_grid *grid;
    int d, classes;
    int64_t train, test;
    double *x, *vx; /* rows to learn from and rows left out, in prepared coordinates */
    int32_t *y, *vy;
    int reference;
    double *score; /* error per choice, for this fold; NaN where a fit was not possible */
} job;

/* Mean error in percent of the votes under the metric m on r-dimensional points. */
static bdml_status score_metric(bdml_handle *h, const job *j, int r, const double *p,
                                const double *vp, const double *m, double *score)
{
    bdml_status status = BDML_OK;
    double *l = NULL, *z = NULL, *vz = NULL, *ws = NULL, kappa;
    int32_t *index = NULL, *count = NULL;
    int q, k = (int)BDML_MIN((int64_t)MOST_VOTES, j->train);
    int64_t wrong = 0;

    BDML_GO(bdml_metric_factor(h, r, m, &q, &l, &kappa));
    BDML_NEW(h, z, (size_t)j->train * (size_t)q);
    BDML_NEW(h, vz, (size_t)j->test * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, r));
    BDML_NEW(h, index, (size_t)j->test * (size_t)k);
    BDML_NEW(h, count, j->classes);
    bdml_la_map_rows(h, q, r, l, j->train, p, r, z, ws);
    bdml_la_map_rows(h, q, r, l, j->test, vp, r, vz, ws);
    bdml_knn_query query = {.n = j->train,
                            .d = q,
                            .x = z,
                            .ld = q,
                            .queries = j->test,
                            .q = vz,
                            .ldq = q,
                            .which = BDML_ANY_CLASS,
                            .k = k};
    BDML_GO(bdml_knn_search(h, &query, index, NULL));
    for (int64_t i = 0; i < j->test; i++)
        for (int v = 0; v < VOTES; v++)
            wrong += j->vy[i] !=
                     bdml_knn_vote(BDML_MIN(votes[v], k), index + i * k, j->y, j->classes, count);
    *score = 100.0 * (double)wrong / (double)(VOTES * j->test);
done:
    free(l);
    free(z);
    free(vz);
    free(ws);
    free(index);
    free(count);
    return status;
}

/* Every pass for one (c, k): pass 0 from `warm`, the others on from there. *warm becomes the metric of
 * pass 0, to start the next k from. */
static bdml_status sweep_passes(bdml_handle *h, const job *j, const recipe_points *points,
                                const double *vp, const bdml_constraints *c0, recipe_choice at,
                                double **warm)
{
    bdml_status status = BDML_OK;
    const recipe_grid *g = j->grid;
    double K = g->k[at.k], weight = g->c[at.c];
    bdml_constraints *c = NULL;
    bdml_solve_settings s;
    bdml_solve_result r = {0}, next = {0};

    BDML_GO(recipe_solve(h, points, c0, K, weight, CV_GAP, *warm, &s, &r));
    for (int pass = 0, slot = 0; slot < g->passes && r.m && !r.collapsed; pass++) {
        if (pass > 0) {
            bdml_constraints *more = NULL;
            BDML_GO(recipe_mine(h, points, c ? c : c0, next.m ? next.m : r.m, &more));
            bdml_free_constraints(c);
            c = more;
            double *from = next.m;
            next.m = NULL;
            bdml_solve_result_free(&next);
            status = recipe_solve(h, points, c, K, weight, CV_GAP, from ? from : r.m, &s, &next);
            free(from);
            if (status != BDML_OK || !next.m || next.collapsed) goto done;
        }
        if (pass != g->pass[slot]) continue;
        at.pass = slot++;
        BDML_GO(score_metric(h, j, points->r, points->p, vp, pass > 0 ? next.m : r.m,
                             &j->score[choice_number(g, at)]));
    }
    if (r.m && !r.collapsed) {
        free(*warm);
        *warm = r.m;
        r.m = NULL;
    }
done:
    bdml_free_constraints(c);
    bdml_solve_result_free(&r);
    bdml_solve_result_free(&next);
    return status;
}

/* K = 1 is the reference itself, whatever the weight and the pass. */
static bdml_status score_reference(bdml_handle *h, const job *j, int r, const double *p,
                                   const double *vp, int k)
{
    double score, *eye = bdml_calloc(h, (size_t)r * (size_t)r, sizeof *eye);
    if (!eye) return BDML_ERR_MEMORY;
    for (int i = 0; i < r; i++) COL(eye, r, i)[i] = 1.0;
    bdml_status status = score_metric(h, j, r, p, vp, eye, &score);
    free(eye);
    BDML_TRY(status);
    for (int pass = 0; pass < j->grid->passes; pass++)
        for (int c = 0; c < j->grid->cs; c++)
            j->score[choice_number(j->grid, (recipe_choice){j->reference, pass, c, k})] = score;
    return BDML_OK;
}

static bdml_status run_job(bdml_handle *h, const job *j)
{
    bdml_status status = BDML_OK;
    const recipe_grid *g = j->grid;
    bdml_training t = {j->train, j->d, j->x, j->y, j->classes, NULL};
    bdml_reference reference = {0};
    recipe_points points = {0};
    bdml_constraints *c0 = NULL;
    double *p = NULL, *vp = NULL, *warm = NULL;

    BDML_GO(bdml_reference_make(h, g->reference[j->reference], &t, &reference));
    BDML_GO(bdml_reference_apply(h, &reference, j->train, j->d, j->x, &p));
    BDML_GO(bdml_reference_apply(h, &reference, j->test, j->d, j->vx, &vp));
    int first = g->k[0] == 1.0 ? 1 : 0;
    if (first) BDML_GO(score_reference(h, j, reference.rows, p, vp, 0));
    if (first == g->ks) goto done;
    BDML_GO(recipe_points_init(h, j->train, reference.rows, p, j->y, j->classes, &points));
    BDML_GO(recipe_mine(h, &points, NULL, NULL, &c0));
    for (int c = 0; c < g->cs; c++) {
        free(warm);
        warm = NULL;
        for (int k = first; k < g->ks; k++)
            BDML_GO(
                sweep_passes(h, j, &points, vp, c0, (recipe_choice){j->reference, 0, c, k}, &warm));
    }
done:
    bdml_free_constraints(c0);
    recipe_points_free(&points);
    bdml_reference_free(&reference);
    free(p);
    free(vp);
    free(warm);
    return status;
}

/* ---- jobs --------------------------------------------------------------------------------------------------- */

static void free_jobs(int count, job *jobs)
{
    for (int k = 0; jobs && k < count; k++) {
        free(jobs[k].x);
        free(jobs[k].vx);
        free(jobs[k].y);
        free(jobs[k].vy);
        free(jobs[k].score);
    }
    free(jobs);
}

static bdml_status fill_job(bdml_handle *h, const bdml_training *t, int64_t rows,
                            const int64_t *row, const int32_t *fold, int left_out, job *j)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    int64_t a = 0, b = 0;
    for (int64_t i = 0; i < rows; i++) j->test += fold[i] == left_out;
    j->train = rows - j->test;
    BDML_NEW(h, j->x, (size_t)j->train * d);
    BDML_NEW(h, j->y, j->train);
    BDML_NEW(h, j->vx, (size_t)j->test * d);
    BDML_NEW(h, j->vy, j->test);
    BDML_NEW(h, j->score, grid_size(j->grid));
    for (int k = 0; k < grid_size(j->grid); k++) j->score[k] = NAN;
    for (int64_t i = 0; i < rows; i++) {
        const double *x = t->x + (size_t)row[i] * d;
        if (fold[i] == left_out) {
            memcpy(j->vx + (size_t)b * d, x, d * sizeof *x);
            j->vy[b++] = t->y[row[i]];
        } else {
            memcpy(j->x + (size_t)a * d, x, d * sizeof *x);
            j->y[a++] = t->y[row[i]];
        }
    }
done:
    return status;
}

/* Rows to cross-validate on: all, or MOST_POINTS of them, class by class. */
static bdml_status sample_rows(bdml_handle *h, const bdml_training *t, int64_t *rows, int64_t **row)
{
    bdml_status status = BDML_OK;
    int64_t train = t->n;
    BDML_NEW(h, *row, t->n);
    for (int64_t i = 0; i < t->n; i++) (*row)[i] = i;
    *rows = t->n;
    if (t->n > MOST_POINTS) {
        double left_out = 1.0 - (double)MOST_POINTS / (double)t->n;
        BDML_GO(bdml_split_random(h, t->n, t->y, left_out, (uint64_t)bdml_opt_int(h, BDML_OPT_SEED),
                                  UINT64_MAX, *row, &train));
        *rows = train;
    }
done:
    return status;
}

static bdml_status make_jobs(bdml_handle *h, const bdml_training *t, const recipe_grid *grid,
                             int *count, int *folds, job **jobs)
{
    bdml_status status = BDML_OK;
    int64_t rows = 0, *row = NULL;
    int32_t *y = NULL, *fold = NULL;

    *count = 0;
    BDML_GO(sample_rows(h, t, &rows, &row));
    int splits = (int)BDML_MIN(rows, rows <= FEW ? FOLDS_SMALL : FOLDS_LARGE);
    int repeats = (int)BDML_MAX(1, BDML_MIN(REPEATS_MAX, REPEAT_UNDER / rows));
    *folds = splits * repeats;
    BDML_NEW(h, *jobs, *folds * grid->references);
    BDML_NEW(h, y, rows);
    BDML_NEW(h, fold, rows);
    for (int64_t i = 0; i < rows; i++) y[i] = t->y[row[i]];
    for (int f = 0; f < *folds; f++) {
        BDML_GO(bdml_split_folds(h, rows, y, splits, (uint64_t)bdml_opt_int(h, BDML_OPT_SEED),
                                 (uint64_t)(f / splits), fold));
        for (int r = 0; r < grid->references; r++) {
            job *j = &(*jobs)[(*count)++];
            *j = (job){.grid = grid, .d = t->d, .classes = t->classes, .reference = r};
            BDML_GO(fill_job(h, t, rows, row, fold, f % splits, j));
        }
    }
done:
    free(row);
    free(y);
    free(fold);
    return status;
}

/* A fold that cannot be fitted (too few neighbours, say) keeps its NaN scores; anything else that goes
 * wrong is an error, the first in the order of the jobs. */
static bdml_status run_jobs(bdml_handle *h, int count, job *jobs)
{
    bdml_status status = BDML_OK, *outcome = NULL;
    bdml_handle **child = NULL;
    int64_t finished = 0;
    bool stop = false;

    BDML_NEW(h, child, count);
    BDML_NEW(h, outcome, count);
    for (int k = 0; k < count; k++) BDML_GO(bdml_handle_child(h, &child[k]));
    BDML_GO(bdml_progress(h, "cross-validation", 0, count));
#pragma omp parallel for schedule(dynamic) num_threads(bdml_threads(h))
    for (int k = 0; k < count; k++) {
        bool skip;
        int64_t now;
#pragma omp atomic read
        skip = stop;
        if (skip) continue;
        outcome[k] = run_job(child[k], &jobs[k]);
        if (outcome[k] == BDML_ERR_DATA) outcome[k] = BDML_OK;
#pragma omp atomic capture
        now = ++finished;
        bool cancel = omp_get_thread_num() == 0 && now < count &&
                      bdml_progress(h, "cross-validation", now, count) != BDML_OK;
        if (cancel || outcome[k] != BDML_OK) {
#pragma omp atomic write
            stop = true;
        }
    }
    for (int k = 0; k < count && status == BDML_OK; k++) {
        status = outcome[k];
        if (status != BDML_OK)
            bdml_fail(h, status, "cross-validation: %s", bdml_last_error(child[k]));
    }
    if (status == BDML_OK && stop) status = BDML_ERR_CANCELLED;
    if (status == BDML_OK) status = bdml_progress(h, "cross-validation", count, count);
done:
    for (int k = 0; child && k < count; k++) bdml_free(child[k]);
    free(child);
    free(outcome);
    return status;
}

/* ---- choice --------------------------------------------------------------------------------------------------- */

/* Mean and standard error over the folds; the mean is NaN when a fold has no score. */
static void summarise(const recipe_grid *g, int count, const job *jobs, double *mean, double *se)
{
    for (int number = 0; number < grid_size(g); number++) {
        recipe_choice c = choice_at(g, number);
        double sum = 0.0, square = 0.0;
        int n = 0;
        for (int k = 0; k < count; k++)
            if (jobs[k].reference == c.reference) sum += jobs[k].score[number], n++;
        mean[number] = sum / n;
        for (int k = 0; k < count; k++)
            if (jobs[k].reference == c.reference)
                square += pow(jobs[k].score[number] - mean[number], 2);
        se[number] = n > 1 ? sqrt(square / (n - 1) / n) : 0.0;
    }
}

static bool choose(const recipe_grid *g, const double *mean, const double *se, int *chosen)
{
    int best = -1;
    for (int number = 0; number < grid_size(g); number++)
        if (!isnan(mean[number]) && (best < 0 || mean[number] < mean[best])) best = number;
    if (best < 0) return false;
    *chosen = best;
    for (int number = 0; number < grid_size(g); number++) {
        if (!(mean[number] <= mean[best] + SLACK * se[best])) continue;
        int k = choice_at(g, number).k, now = choice_at(g, *chosen).k;
        if (k < now || (k == now && mean[number] < mean[*chosen])) *chosen = number;
    }
    return true;
}

/* What was tried and what came out, for the model's description. */
static json_t *make_report(const recipe_grid *g, int folds, const double *mean, const double *se,
                           int chosen)
{
    json_t *tried = json_array();
    for (int number = 0; number < grid_size(g); number++) {
        recipe_choice c = choice_at(g, number);
        if (isnan(mean[number])) continue;
        json_array_append_new(tried, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "reference",
                                               bdml_reference_names[g->reference[c.reference]],
                                               "passes", g->pass[c.pass] + 1, "weight", g->c[c.c],
                                               "distortion", g->k[c.k], "error", mean[number],
                                               "standard_error", se[number]));
    }
    recipe_choice c = choice_at(g, chosen);
    return json_pack("{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:o}", "folds", folds, "reference",
                     bdml_reference_names[g->reference[c.reference]], "passes", g->pass[c.pass] + 1,
                     "weight", g->c[c.c], "distortion", g->k[c.k], "error", mean[chosen],
                     "standard_error", se[chosen], "tried", tried);
}

bdml_status recipe_select(bdml_handle *h, const bdml_training *t, const recipe_grid *grid,
                          recipe_choice *choice, json_t **report)
{
    bdml_status status = BDML_OK;
    int count = 0, folds = 0, chosen = 0;
    job *jobs = NULL;
    double *mean = NULL, *se = NULL;

    BDML_NEW(h, mean, grid_size(grid));
    BDML_NEW(h, se, grid_size(grid));
    BDML_GO(make_jobs(h, t, grid, &count, &folds, &jobs));
    BDML_GO(run_jobs(h, count, jobs));
    summarise(grid, count, jobs, mean, se);
    if (!choose(grid, mean, se, &chosen)) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "no fold of the cross-validation could be fitted: the classes are too "
                           "small; give distortion, softness and a constraint rule");
        goto done;
    }
    *choice = choice_at(grid, chosen);
    *report = make_report(grid, folds, mean, se, chosen);
    if (!*report) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
done:
    free_jobs(count, jobs);
    free(mean);
    free(se);
    return status;
}
