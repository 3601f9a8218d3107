/* recipe.h - what the parts of the default recipe share. Private to train. */
#ifndef BDML_RECIPE_H
#define BDML_RECIPE_H

#include "train/fit.h"

enum { RECIPE_K_MAX = 100, RECIPE_C_MAX = 4, RECIPE_PASSES = 2 };

/* What may be chosen. */
typedef struct recipe_grid {
    int references, ks, cs, passes;
    bdml_reference_kind reference[BDML_REFERENCE_KINDS];
    double k[RECIPE_K_MAX];  /* ascending: each solve starts from the one before */
    double c[RECIPE_C_MAX];  /* weight of missed margins over the collapse threshold of M = tI */
    int pass[RECIPE_PASSES]; /* 0: random impostors; 1: nearest ones under the learned metric too */
    bool stated;             /* constraints and pull as the settings say, not the recipe's own */
    double slack;            /* take the smallest K within so many standard errors of the best */
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
    double g_scale; /* 1 / tr Sw */
    bool stated;    /* constraints by the settings, and G the mean over their target pairs */
    const recipe_grid *grid; /* stated: the K that share one C */
} recipe_points;

bdml_status recipe_points_init(bdml_handle *h, int64_t n, int r, const double *p, const int32_t *y,
                               int classes, recipe_points *out);
void recipe_points_free(recipe_points *points);

/* Constraints of pass 0, or those of pass 1 from `before` and the metric m learned with them. */
bdml_status recipe_mine(bdml_handle *h, const recipe_points *points, const bdml_constraints *before,
                        const double *m, bdml_constraints **out);
/* Solve for one (K, c) from the metric `warm` (or NULL). */
bdml_status recipe_solve(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                         double K, double weight, double gap, const double *warm,
                         bdml_solve_settings *settings, bdml_solve_result *result);

/* Weight at which M = 0 stops being best among M = tI, for tr G = 1; 0 when no weight does. */
double recipe_identity_threshold(const recipe_points *points, const bdml_constraints *c, double mu,
                                 bdml_loss loss);

/* The same two steps for the problem that the settings state (stated.c). C is the same for every K of
 * points->grid. A diagonal metric comes back, and starts, as a full matrix. */
bool recipe_is_stated(const bdml_handle *h);
bdml_status stated_mine(bdml_handle *h, const recipe_points *points, const bdml_constraints *before,
                        const double *m, bdml_constraints **out);
bdml_status stated_solve(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                         double K, double weight, double gap, const double *warm,
                         bdml_solve_settings *settings, bdml_solve_result *result);

/* ---- sweeps over K (select.c) -------------------------------------------------------------------------- */

/* What one solve along a path gave. */
typedef struct recipe_record {
    bool solved; /* else nothing below is set but the errors, which are then NaN */
    bdml_outcome outcome;
    bool collapsed;
    double lower, upper, gap, kappa, trace, C, C0, seconds;
    int64_t iterations;
    double train_error; /* percent, k-NN, each training row without itself; NaN: no metric */
    double test_error;  /* percent, k-NN, rows left out; NaN: no metric, or no rows */
} recipe_record;

/* Rows to learn from and rows left out, in prepared coordinates, with one reference: all K, C and passes
 * of the grid in one warm-started sweep. */
typedef struct recipe_job {
    const recipe_grid *grid;
    int d, classes;
    int64_t train, test;
    double *x, *vx;
    int32_t *y, *vy;
    int reference;
    double gap;            /* of each solve */
    double *score;         /* error per choice; NaN where a fit was not possible */
    recipe_record *record; /* a path: one per K instead of scores, the caller's; else NULL */
} recipe_job;

/* The jobs beside each other, each on one thread with a handle of its own, so that the result does not
 * depend on the number of threads. done, total: for the progress. tolerant: a job whose data do not allow
 * a fit keeps its NaN scores; anything else that goes wrong is an error, that of the first such job. */
bdml_status recipe_run_jobs(bdml_handle *h, const char *what, int64_t done, int64_t total,
                            bool tolerant, int count, recipe_job *jobs);
void recipe_free_job(recipe_job *job); /* what it owns */
/* Errors of the metric m on p, the points of the job in r dimensions, and vp (record.c). */
bdml_status recipe_note_errors(bdml_handle *h, const recipe_job *j, int r, const double *p,
                               const double *vp, const double *m, recipe_record *record);
void recipe_note_solve(const bdml_solve_result *r, double seconds, int64_t iterations,
                       recipe_record *record);

/* The grid that the settings leave open, and the choice by cross-validation. */
void recipe_make_grid(const bdml_handle *h, recipe_grid *grid);
bdml_status recipe_select(bdml_handle *h, const bdml_training *t, const recipe_grid *grid,
                          recipe_choice *choice, json_t **report);

#endif
