/* recipe.h - what the parts of the default recipe share. Private to train. */
#ifndef BDML_RECIPE_H
#define BDML_RECIPE_H

#include "train/fit.h"

enum { RECIPE_K_MAX = 100, RECIPE_C_MAX = 4, RECIPE_PASSES = 2, RECIPE_ANCHORS = 400 };

/* Gap of solves that only rank choices or mine neighbours: a tighter one does not change them. */
#define RECIPE_GAP 1e-2

/* What may be chosen. */
typedef struct recipe_grid {
    int references, ks, cs, passes;
    bdml_reference_kind reference[BDML_REFERENCE_KINDS];
    double k[RECIPE_K_MAX];  /* ascending: each solve starts from the one before */
    double c[RECIPE_C_MAX];  /* weight of missed margins over the collapse threshold of M = tI */
    int pass[RECIPE_PASSES]; /* 0: random impostors; 1: nearest ones under the learned metric too */
    double slack;            /* standard errors that the smallest K may be worse than the best */
    bool whole;              /* score every choice on every fold */
    bool stated;             /* constraints and pull as the settings say, not the recipe's own */
} recipe_grid;

/* One choice, as positions in the grid. */
typedef struct recipe_choice {
    int reference, pass, c, k;
} recipe_choice;

/* Points in the coordinates of a reference, and the pull G = Sw / tr Sw. */
typedef struct recipe_points {
    int64_t n;
    int r, classes;
    const double *p; /* n rows of r */
    const int32_t *y;
    double *g;
    double g_scale;  /* 1 / tr Sw */
    int64_t anchors; /* random points that get constraints */
    bool stated;     /* constraints by the settings, and G the mean over their target pairs */
    const recipe_grid *grid; /* stated: the K that share one C */
} recipe_points;

bdml_status recipe_points_init(bdml_handle *h, int64_t n, int r, const double *p, const int32_t *y,
                               int classes, recipe_points *out);
void recipe_points_free(recipe_points *points);

/* Constraints of pass 0 (before NULL), or those of the next pass: `before` and the neighbours under the
 * metric m. */
bdml_status recipe_mine(bdml_handle *h, const recipe_points *points, const bdml_constraints *before,
                        const double *m, bdml_constraints **out);
/* The problem of these constraints, and the settings of its solves but for K and the start: C = weight
 * times the collapse threshold of M = tI. last: gap and time limit as asked for; else RECIPE_GAP and no
 * limit, since a choice must not depend on the clock. */
bdml_status recipe_problem(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                           bdml_problem **out);
bdml_status recipe_settings(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                            bdml_problem *problem, double weight, bool last,
                            bdml_solve_settings *s);
/* Metrics are full matrices here, those of a diagonal problem too. */
bdml_status recipe_solve(bdml_handle *h, const recipe_points *points, bdml_problem *problem,
                         const bdml_solve_settings *s, bdml_solve_result *result);
/* Weight at which M = 0 stops being best among M = tI, for tr G = 1; 0 when no weight does. */
double recipe_identity_threshold(const recipe_points *points, const bdml_constraints *c, double mu,
                                 bdml_loss loss);
/* Neighbours are mined again under the metric of this distortion at most: with more of it, neighbours
 * on the training points say little about those of new points. A stated problem mines under K itself. */
double recipe_mining_distortion(const recipe_points *points, double K);
/* From the constraints of pass 0 and the metric m learned with them at the mining distortion K to the
 * constraints of the last pass >= 1. */
bdml_status recipe_remine(bdml_handle *h, const recipe_points *points,
                          const bdml_constraints *first, const double *m, double K, double weight,
                          int last, bdml_constraints **out);

/* All passes on all training points with one choice, the last to the gap that was asked for. *c, s and r
 * out. */
bdml_status recipe_fit_chosen(bdml_handle *h, recipe_points *points, double K, double weight,
                              int last, bdml_constraints **c, bdml_solve_settings *s,
                              bdml_solve_result *r);

bdml_status recipe_check_settings(bdml_handle *h); /* margin and softness */

/* ---- the problem that the settings state (stated.c) ---------------------------------------------------- */

bool recipe_is_stated(const bdml_options *o);
/* s->C, the same for every K of points->grid, from s->softness. */
bdml_status stated_weight(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                          bdml_problem *problem, bdml_solve_settings *s);
bdml_status stated_solve_diagonal(bdml_handle *h, int r, bdml_problem *problem,
                                  const bdml_solve_settings *s, bdml_solve_result *result);

/* ---- one fold (fold.c) ------------------------------------------------------------------------------- */

/* Rows to learn from and rows left out, in prepared coordinates. */
typedef struct recipe_fold {
    int d, classes;
    int64_t train, test;
    double *x, *vx;
    int32_t *y, *vy;
} recipe_fold;

/* What one solve along a path gave (record.c). */
typedef struct recipe_record {
    bool solved; /* else nothing below is set but the errors */
    bdml_outcome outcome;
    bool collapsed;
    double lower, upper, gap, kappa, trace, C, C0, seconds;
    int64_t iterations;
    double train_error; /* percent, k-NN, each training row without itself; NaN: no metric */
    double test_error;  /* percent, k-NN, rows left out; NaN: no metric, or no rows */
} recipe_record;

/* Errors of the metric m on p and vp, the rows of the fold in r dimensions. */
bdml_status recipe_note_errors(bdml_handle *h, const recipe_fold *f, int r, const double *p,
                               const double *vp, const double *m, recipe_record *record);
void recipe_note_solve(const bdml_solve_result *r, recipe_record *record);

/* All K and passes of one (fold, reference, weight): one job, on one thread with a handle of its own. */
typedef struct recipe_job {
    const recipe_grid *grid;
    const bool *wanted; /* per choice of the grid: score this one; NULL: all */
    const recipe_fold *fold;
    int number; /* of the fold */
    int reference, c;
    double *score;         /* error per choice; left alone where no fit was possible or wanted */
    recipe_record *record; /* a path, stated, of one pass: per K, instead of scores; else NULL */
} recipe_job;

int recipe_grid_size(const recipe_grid *g);
int recipe_choice_number(const recipe_grid *g, recipe_choice c);
recipe_choice recipe_choice_at(const recipe_grid *g, int number);
void recipe_free_fold(recipe_fold *f); /* what it owns */
bdml_status recipe_job_run(bdml_handle *h, const recipe_job *j);

/* ---- choice (choose.c) ----------------------------------------------------------------------------------- */

/* Errors of the choices of a grid, fold by fold. */
typedef struct recipe_scores {
    const recipe_grid *grid;
    int folds;
    const double *score; /* folds rows of recipe_grid_size(grid); NaN: not fitted */
    double tested_over_trained;
    double
        most_error; /* a standard error of a difference counts for no more than this; or infinite */
} recipe_scores;

/* wanted: choices in the race; those that a fold could not fit leave it. */
void recipe_summarise(const recipe_scores *s, bool *wanted, double *mean, double *se);
int recipe_best(const recipe_scores *s, const bool *wanted, const double *mean); /* -1: none */
/* Not worse than the best by more than grid->slack standard errors: the smallest K, then the error. */
int recipe_choose(const recipe_scores *s, const bool *wanted, const double *mean);

/* ---- references alone (families.c) ------------------------------------------------------------------- */

/* Leave in the grid one reference of each family, by their errors alone in all folds. *report: a list of
 * {reference, error}, also when it fails. */
bdml_status recipe_pick_references(bdml_handle *h, int folds, const recipe_fold *fold,
                                   recipe_grid *grid, json_t **report);

/* ---- selection (select.c) ------------------------------------------------------------------------------ */

/* The jobs beside each other. done, total: for the progress. A fold that cannot be fitted (too few
 * neighbours, say) keeps its NaN scores and its reason stands in `why` (BDML_ERROR_SIZE); anything else
 * that goes wrong is an error, the first in the order of the jobs. why NULL: so is such a fold. */
bdml_status recipe_run_jobs(bdml_handle *h, const char *what, int64_t done, int64_t total,
                            int count, const recipe_job *jobs, char *why);

/* The grid that the settings leave open, and the choice by cross-validation, which leaves one reference of
 * each family in it. */
void recipe_make_grid(const bdml_handle *h, recipe_grid *grid);
bdml_status recipe_select(bdml_handle *h, const bdml_training *t, recipe_grid *grid,
                          recipe_choice *choice, json_t **report);

#endif
