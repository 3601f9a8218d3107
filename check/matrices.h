/* matrices.h - what the proof is made of: points, weights of pairs, and the matrices over them. */
#ifndef BDML_CHECK_MATRICES_H
#define BDML_CHECK_MATRICES_H

#include "check.h"

typedef struct state {
    checker *k;
    const certificate *c;
    proof *p;
    const ball *before; /* the points before the reference, rows x basis_rows */
    const ball *points; /* rows x dim, of the rows in pairs; of all, if need be */
    size_t *used;       /* of each row: 1 in pairs, or when all are made */
    size_t *pair;       /* of each pair: the one that stands for all between the same two points */
    ball *g;            /* G, dim x dim; NULL: there is no objective */
} state;

static inline ball count_of(size_t n)
{
    return ball_of((double)n); /* at most 2^31: exact */
}

/* s->pair from the rows' numbers. */
void check_merge_pairs(state *s);
/* s->points of the rows in pairs. */
void check_make_points(state *s);
/* s->g = G = scale * (mean of X_ij over the targets, or mean of (p_i - class mean)(p_i - class mean)'). */
void check_objective(state *s);
/* out = A*y */
void check_adjoint(state *s, const double *y, ball *out);

#endif
