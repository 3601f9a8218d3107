/* recipe.h - what the parts of the default recipe share. Private to train. */
#ifndef BDML_RECIPE_H
#define BDML_RECIPE_H

#include "train/fit.h"

enum { RECIPE_K_MAX = 8, RECIPE_C_MAX = 4, RECIPE_PASSES = 2 };

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
    double g_scale; /* 1 / tr Sw */
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

/* The grid that the settings leave open (select.c), and the choice by cross-validation. */
void recipe_make_grid(const bdml_handle *h, recipe_grid *grid);
bdml_status recipe_select(bdml_handle *h, const bdml_training *t, const recipe_grid *grid,
                          recipe_choice *choice, json_t **report);

#endif
