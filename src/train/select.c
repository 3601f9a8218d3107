/* select.c - reference, distortion cap, softness and passes by cross-validation inside the training
 * data.
 *
 * Stratified folds; each fold's reference, constraints and metrics come from its training rows alone.
 * The best reference of each family goes into the grid (families.c). Two rounds: the first scores every choice on some folds, the second goes on with those that are not
 * clearly worse than the best (a path shows them all, and so goes on with all). Then the smallest K is
 * taken that is not worse than the best by more than so many standard errors of the difference, fold by
 * fold (setting se-rule, and never more than that of the error rate itself), and among those with that K the smallest error.
 *
 * A job is one (fold, reference, weight) with all its K and passes in one warm-started sweep (fold.c);
 * jobs run beside each other, each on one thread with its own handle, and write to their own places:
 * the result does not depend on the number of threads. */
#include "train/checkpoint.h"

#include <stdlib.h>

enum {
    FOLDS_SMALL = 5, /* up to FEW points; the first round is one repeat */
    FOLDS_LARGE = 3, /* the first round is one fold */
    FEW = 500,
    LEFT_OUT = 500,     /* rows of a fold, where there are enough: the rest is to learn from */
    MOST_POINTS = 3500, /* more are sampled down, class by class */
    REPEAT_UNDER = 600, /* repeat the folds until this many rows have been left out */
    REPEATS_MAX = 4
};
static const double KEEP = 1.0; /* standard errors above the best that the second round takes */

/* ---- grid --------------------------------------------------------------------------------------------- */

void recipe_make_grid(const bdml_handle *h, recipe_grid *grid)
{
    *grid = (recipe_grid){.references = 9,
                          .ks = 6,
                          .cs = 2,
                          .passes = 2,
                          .reference = {BDML_REFERENCE_ZSCORE, BDML_REFERENCE_WITHIN,
                                        BDML_REFERENCE_WITHIN_RAW, BDML_REFERENCE_FISHER,
                                        BDML_REFERENCE_FISHER_5, BDML_REFERENCE_FISHER_100,
                                        BDML_REFERENCE_FISHER_1000, BDML_REFERENCE_LDA,
                                        BDML_REFERENCE_NONE},
                          .k = {1, 3, 10, 30, 100, 1000},
                          .c = {1.5, 5},
                          .pass = {0, 1},
                          .slack = bdml_opt_real(h, BDML_OPT_SE_RULE)};
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

/* ---- folds ------------------------------------------------------------------------------------------ */

/* Rows of the training data split into folds, once or several times over. */
typedef struct folds {
    int64_t rows;
    int splits;      /* folds of one repeat */
    int count, made; /* folds that the grid is scored on; those that references alone are */
    int first;       /* folds of the first round */
    recipe_fold *fold;
} folds;

static void free_folds(folds *f)
{
    for (int k = 0; f->fold && k < f->made; k++) recipe_free_fold(&f->fold[k]);
    free(f->fold);
}

static bdml_status fill_fold(bdml_handle *h, const bdml_training *t, int64_t rows,
                             const int64_t *row, const int32_t *number, int left_out,
                             recipe_fold *f)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    int64_t a = 0, b = 0;
    for (int64_t i = 0; i < rows; i++) f->test += number[i] == left_out;
    f->train = rows - f->test;
    f->d = t->d;
    f->classes = t->classes;
    BDML_NEW(h, f->x, (size_t)f->train * d);
    BDML_NEW(h, f->y, f->train);
    BDML_NEW(h, f->vx, (size_t)f->test * d);
    BDML_NEW(h, f->vy, f->test);
    for (int64_t i = 0; i < rows; i++) {
        const double *x = t->x + (size_t)row[i] * d;
        if (number[i] == left_out) {
            memcpy(f->vx + (size_t)b * d, x, d * sizeof *x);
            f->vy[b++] = t->y[row[i]];
        } else {
            memcpy(f->x + (size_t)a * d, x, d * sizeof *x);
            f->y[a++] = t->y[row[i]];
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

static bdml_status make_folds(bdml_handle *h, const bdml_training *t, folds *f)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL;
    int32_t *y = NULL, *number = NULL;

    BDML_GO(sample_rows(h, t, &f->rows, &row));
    bool small = f->rows <= FEW;
    if (small) {
        f->splits = (int)BDML_MIN(f->rows, FOLDS_SMALL);
        f->count = f->splits * (int)BDML_MAX(1, BDML_MIN(REPEATS_MAX, REPEAT_UNDER / f->rows));
        f->made = f->count;
        f->first = f->splits;
    } else { /* few of the folds: what is learned should be learned from nearly all rows */
        f->splits = (int)BDML_MAX(FOLDS_LARGE, f->rows / LEFT_OUT);
        f->count = FOLDS_LARGE;
        f->made = f->splits;
        f->first = 1;
    }
    BDML_NEW(h, f->fold, f->made);
    BDML_NEW(h, y, f->rows);
    BDML_NEW(h, number, f->rows);
    for (int64_t i = 0; i < f->rows; i++) y[i] = t->y[row[i]];
    for (int k = 0; k < f->made; k++) {
        BDML_GO(bdml_split_folds(h, f->rows, y, f->splits, (uint64_t)bdml_opt_int(h, BDML_OPT_SEED),
                                 (uint64_t)(k / f->splits), number));
        BDML_GO(fill_fold(h, t, f->rows, row, number, k % f->splits, &f->fold[k]));
    }
done:
    free(row);
    free(y);
    free(number);
    return status;
}

/* ---- jobs ----------------------------------------------------------------------------------------------- */

/* Everything the selection works with. */
typedef struct selection {
    char why[BDML_ERROR_SIZE]; /* the first fold that could not be fitted */
    recipe_grid *grid;
    json_t *alone; /* errors of the references alone */
    folds folds;
    int size;      /* choices */
    double *score; /* per fold and choice; NaN: not fitted */
    bool *wanted;  /* per choice: still in the race */
    double *mean, *se;
    int done; /* folds scored so far */
} selection;

static bool any_wanted(const selection *s, int reference, int c)
{
    for (int number = 0; number < s->size; number++) {
        recipe_choice at = recipe_choice_at(s->grid, number);
        if (s->wanted[number] && at.reference == reference && at.c == c) return true;
    }
    return false;
}

static int list_jobs(const selection *s, int to, recipe_job *jobs)
{
    const recipe_grid *g = s->grid;
    int count = 0;
    for (int k = s->done; k < to; k++)
        for (int r = 0; r < g->references; r++)
            for (int c = 0; c < g->cs; c++)
                if (any_wanted(s, r, c))
                    jobs[count++] = (recipe_job){.grid = g,
                                                 .wanted = s->wanted,
                                                 .fold = &s->folds.fold[k],
                                                 .number = k,
                                                 .reference = r,
                                                 .c = c,
                                                 .score = s->score + (size_t)k * (size_t)s->size};
    return count;
}

/* What the jobs of one call share. */
typedef struct batch {
    bdml_handle *h; /* of the call: the checkpoint hangs on it */
    const recipe_job *job;
} batch;

static bdml_status run_job(bdml_handle *own, void *user, int64_t number)
{
    const batch *b = user;
    const recipe_job *job = &b->job[number];
    if (bdml_checkpoint_take_job(b->h, job)) return BDML_OK;
    BDML_TRY(recipe_job_run(own, job));
    /* A job cut short has solved nothing to its end: its scores are not kept. */
    if (!bdml_jobs_stopped(own)) bdml_checkpoint_put_job(b->h, job);
    return BDML_OK;
}

bdml_status recipe_run_jobs(bdml_handle *h, const char *what, int64_t done, int64_t total,
                            int count, const recipe_job *jobs, char *why)
{
    batch b = {h, jobs};
    bdml_jobs run = {what, done, total, count, bdml_threads(h), run_job, &b, why};
    return bdml_jobs_run(h, &run);
}

/* ---- choice --------------------------------------------------------------------------------------------------- */

/* The folds scored so far. */
static recipe_scores scores_of(const selection *s)
{
    const recipe_fold *f = &s->folds.fold[0];
    return (recipe_scores){s->grid, s->done, s->score,
                           (double)f->test / (double)BDML_MAX(f->train, 1), INFINITY};
}

static void summarise(selection *s)
{
    recipe_scores scores = scores_of(s);
    recipe_summarise(&scores, s->wanted, s->mean, s->se);
}

/* Standard error, in percent, of the error rate of the best over so many rows. */
static double rate_error(const selection *s, int best, int64_t tested)
{
    double rows = (double)BDML_MAX(tested, 1), p = BDML_MAX(s->mean[best] / 100.0, 1.0 / rows);
    return 100.0 * sqrt(p * (1.0 - p) / rows);
}

/* Leave out what is clearly worse than the best: by more than KEEP standard errors of an error rate
 * over the rows left out so far. References alone cost nothing and stay. */
static void narrow(selection *s)
{
    int64_t tested = 0;
    recipe_scores scores = scores_of(s);
    int best = recipe_best(&scores, s->wanted, s->mean);
    if (best < 0) return;
    for (int k = 0; k < s->done; k++) tested += s->folds.fold[k].test;
    double limit = s->mean[best] + KEEP * rate_error(s, best, tested);
    for (int number = 0; number < s->size; number++) {
        bool alone = s->grid->k[recipe_choice_at(s->grid, number).k] == 1.0;
        s->wanted[number] = s->wanted[number] && (alone || s->mean[number] <= limit);
    }
}

/* The standard error of a difference over three folds may come out anyhow: it counts for no more than that
 * of the error rate of the best over the rows left out, each once. */
static int choose(const selection *s)
{
    recipe_scores scores = scores_of(s);
    int best = recipe_best(&scores, s->wanted, s->mean);
    int64_t rows = 0;
    if (best < 0) return -1;
    for (int k = 0; k < BDML_MIN(s->done, s->folds.splits); k++) rows += s->folds.fold[k].test;
    scores.most_error = rate_error(s, best, rows);
    return recipe_choose(&scores, s->wanted, s->mean);
}

/* What was tried and what came out, for the model's description. */
static json_t *make_report(const selection *s, int chosen)
{
    const recipe_grid *g = s->grid;
    json_t *tried = json_array();
    for (int number = 0; number < s->size; number++) {
        recipe_choice c = recipe_choice_at(g, number);
        if (isnan(s->mean[number])) continue;
        json_array_append_new(tried, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:i}", "reference",
                                               bdml_reference_names[g->reference[c.reference]],
                                               "passes", g->pass[c.pass] + 1, "weight", g->c[c.c],
                                               "distortion", g->k[c.k], "error", s->mean[number],
                                               "standard_error", s->se[number], "folds",
                                               s->wanted[number] ? s->done : s->folds.first));
    }
    recipe_choice c = recipe_choice_at(g, chosen);
    return json_pack("{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:O*, s:o}", "folds", s->done,
                     "reference", bdml_reference_names[g->reference[c.reference]], "passes",
                     g->pass[c.pass] + 1, "weight", g->c[c.c], "distortion", g->k[c.k], "error",
                     s->mean[chosen], "standard_error", s->se[chosen], "references", s->alone,
                     "tried", tried);
}

/* ---- selection -------------------------------------------------------------------------------------------------- */

static bdml_status init(bdml_handle *h, const bdml_training *t, selection *s)
{
    bdml_status status = BDML_OK;
    BDML_GO(make_folds(h, t, &s->folds));
    if (s->grid->references > 1)
        BDML_GO(recipe_pick_references(h, s->folds.made, s->folds.fold, s->grid, &s->alone));
    s->size = recipe_grid_size(s->grid);
    BDML_NEW(h, s->mean, s->size);
    BDML_NEW(h, s->se, s->size);
    BDML_NEW(h, s->wanted, s->size);
    BDML_NEW(h, s->score, s->folds.count * s->size);
    for (int k = 0; k < s->folds.count * s->size; k++) s->score[k] = NAN;
    for (int k = 0; k < s->size; k++) s->wanted[k] = true;
    status = bdml_checkpoint_folds(h, s->grid, s->folds.count);
done:
    return status;
}

/* Score the choices in the race on the folds up to `to`. */
static bdml_status run_round(bdml_handle *h, selection *s, int to)
{
    bdml_status status = BDML_OK;
    recipe_job *jobs = NULL;
    BDML_NEW(h, jobs, (to - s->done) * s->grid->references * s->grid->cs);
    int count = list_jobs(s, to, jobs);
    BDML_GO(recipe_run_jobs(h, "cross-validation", 0, count, count, jobs, s->why));
    s->done = to;
    summarise(s);
done:
    free(jobs);
    return status;
}

bdml_status recipe_select(bdml_handle *h, const bdml_training *t, recipe_grid *grid,
                          recipe_choice *choice, json_t **report)
{
    bdml_status status = BDML_OK;
    selection s = {.grid = grid};

    BDML_GO(init(h, t, &s));
    BDML_GO(run_round(h, &s, s.folds.first));
    if (!grid->whole) narrow(&s);
    if (s.folds.count > s.done) BDML_GO(run_round(h, &s, s.folds.count));
    int chosen = choose(&s);
    if (chosen < 0) {
        status = bdml_fail(h, BDML_ERR_DATA, "no fold of the cross-validation could be fitted: %s",
                           s.why);
        goto done;
    }
    *choice = recipe_choice_at(grid, chosen);
    *report = make_report(&s, chosen);
    if (!*report) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
done:
    json_decref(s.alone);
    free_folds(&s.folds);
    free(s.mean);
    free(s.se);
    free(s.wanted);
    free(s.score);
    return status;
}
