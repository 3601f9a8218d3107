/* problem.h - constraints mined or given, and the margin operator over them.
 *
 * Called by solver, train and above; calls neighbors, data, linalg, base. */
#ifndef BDML_PROBLEM_H
#define BDML_PROBLEM_H

#include "data/data.h"
#include "neighbors/neighbors.h"

/* Distinct pairs of rows, and constraints and objective as numbers into them:
 *
 *     objective      G = mean of X_ij over the target pairs
 *     constraint t   d(far[t]) - d(near[t]) >= mu_t        near[t] = -1: d(far[t]) >= mu_t
 *
 * so that pair and triplet constraints mix, and a triplet costs two 32-bit numbers. */
struct bdml_constraints {
    int64_t n;     /* rows of the data */
    int64_t pairs; /* distinct pairs */
    int32_t *pi, *pj;
    int64_t targets; /* pairs in the objective, as pair numbers */
    int32_t *target;
    int64_t m;
    int32_t *far, *near;
    double *margin; /* per constraint, or NULL: all 1 */
    double *weight; /* per constraint (soft form), or NULL: all 1 */
    /* what was found while building, for reports */
    int64_t duplicates;     /* repeated constraints, dropped */
    int64_t contradictions; /* same vector under two labels; pairs both target and impostor */
};

/* ---- margin operator (margin.c) ------------------------------------------------------------------ */

/* Over prepared points X (d x n), for any symmetric M and any y:
 *
 *     forward   v_t = <A_t, M> = D(far_t) - D(near_t),   D(ij) = (x_i-x_j)' M (x_i-x_j)
 *     adjoint   A*y = sum_t y_t A_t = X' Lap X = D' diag(w) D,  w a weight per pair
 *
 * No d x d matrix per constraint, nothing allocated after init, BLAS-3, fixed tiles: same bits for
 * any number of threads. A subset (the active set) costs only its own pairs and points. Every sum
 * over data passes through `reduce` when it is set (several machines). */
typedef struct bdml_margin bdml_margin;

bdml_status bdml_margin_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                            const bdml_constraints *c, bdml_margin **out); /* x, c borrowed */
void bdml_margin_free(bdml_margin *op);
/* G = mean of X_ij over target pairs, both triangles. */
void bdml_margin_objective(bdml_margin *op, double *g);
/* Values of all constraints (count < 0: active NULL) or of the listed ones: v[k] belongs to
 * active[k]. */
void bdml_margin_forward(bdml_margin *op, const double *m, int64_t count, const int64_t *active,
                         double *v);
/* S = sum of y[k] A_active[k], both triangles; zero y cost nothing. */
void bdml_margin_adjoint(bdml_margin *op, const double *y, int64_t count, const int64_t *active,
                         double *s);

#endif
