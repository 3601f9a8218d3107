/* recipe.h - what the parts of the default recipe share. Private to train. */
#ifndef BDML_RECIPE_H
#define BDML_RECIPE_H

#include "train/fit.h"

enum { RECIPE_K_MAX = 8, RECIPE_C_MAX = 4, RECIPE_PASSES = 2, RECIPE_ANCHORS = 400 };

/* Gap of solves that only rank choices or mine neighbours: a tighter one does not change them. */
#define RECIPE_GAP 1e-2

/* What may be chosen. */
typedef struct recipe_grid {
    int references, ks, cs, passes;
    bdml_reference_kind reference[BDML_REFERENCE_KINDS];
    double k[RECIPE_K_MAX];  /* ascending: each solve starts from the one before */
    double c[RECIPE_C_MAX];  /* weight of missed margins over the collapse threshold of M = tI */
    int pass[RECIPE_PASSES]; /* 0: random impostors; 1: nearest ones under the learned metric too */
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
} recipe_points;

bdml_status recipe_points_init(bdml_handle *h, int64_t n, int r, const double *p, const int32_t *y,
                               int classes, recipe_points *out);
void recipe_points_free(recipe_points *points);

/* Constraints of pass 0 (before NULL), or those of the next pass: `before` and the neighbours under the
 * metric m. */
bdml_status recipe_mine(bdml_handle *h, const recipe_points *points, const bdml_constraints *before,
                        const double *m, bdml_constraints **out);
/* The settings of a solve, C = weight times the collapse threshold of M = tI for these constraints. */
bdml_solve_settings recipe_settings(const bdml_handle *h, const recipe_points *points,
                                    const bdml_constraints *c, double K, double weight, double gap);
bdml_status recipe_problem(bdml_handle *h, const recipe_points *points, const bdml_constraints *c,
                           bdml_problem **out);
/* Neighbours are mined again under the metric of this distortion at most: with more of it, neighbours
 * on the training points say little about those of new points. */
double recipe_mining_distortion(double K);
/* From the constraints of pass 0 and the metric m learned with them at the mining distortion K to the
 * constraints of the last pass >= 1. */
bdml_status recipe_remine(bdml_handle *h, const recipe_points *points,
                          const bdml_constraints *first, const double *m, double K, double weight,
                          int last, bdml_constraints **out);

/* ---- one fold (fold.c) ------------------------------------------------------------------------------- */

/* Rows to learn from and rows left out, in prepared coordinates. */
typedef struct recipe_fold {
    int d, classes;
    int64_t train, test;
    double *x, *vx;
    int32_t *y, *vy;
} recipe_fold;

/* All K and passes of one (fold, reference, weight): one job, on one thread with a handle of its own. */
typedef struct recipe_job {
    const recipe_grid *grid;
    const bool *wanted; /* per choice of the grid: score this one */
    const recipe_fold *fold;
    int number; /* of the fold */
    int reference, c;
    double *score; /* error per choice; left alone where a fit was not possible or not wanted */
} recipe_job;

int recipe_grid_size(const recipe_grid *g);
int recipe_choice_number(const recipe_grid *g, recipe_choice c);
recipe_choice recipe_choice_at(const recipe_grid *g, int number);
bdml_status recipe_job_run(bdml_handle *h, const recipe_job *j);

/* ---- selection (select.c) ------------------------------------------------------------------------------ */

/* The grid that the settings leave open (select.c), and the choice by cross-validation. */
void recipe_make_grid(const bdml_handle *h, recipe_grid *grid);
bdml_status recipe_select(bdml_handle *h, const bdml_training *t, const recipe_grid *grid,
                          recipe_choice *choice, json_t **report);

#endif
