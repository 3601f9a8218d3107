/* domains.h - what the methods for two domains share: the way between their subspaces, linear machines.
 * Private to baselines. */
#ifndef BDML_DOMAINS_H
#define BDML_DOMAINS_H

#include "baselines/baselines.h"

/* ---- the way from the subspace of one domain to that of another (geodesic.c) --------------------------- */

/* Subspaces of dimension q with orthonormal bases Phi(t), t from 0 (source) to 1 (target), column i being
 *
 *     phi_i(t) = a_i cos(t theta_i) + b_i sin(t theta_i)
 *
 * with principal vectors a_i of the source's subspace, unit b_i at right angles to it, and the principal
 * angles theta_i, ascending. Where theta_i = 0, b_i = 0. */
typedef struct bdml_geodesic {
    int d, q;
    double *a, *b; /* d x q each */
    double *theta;
} bdml_geodesic;

/* PCA subspaces of t's points and of its target domain; their dimension; 0: by the
 * disagreement of the two. */
bdml_status bdml_geodesic_fit(bdml_handle *h, int subspace, uint64_t seed, const bdml_training *t,
                              bdml_geodesic *out);
/* Between the spans of two orthonormal bases, d x q each. */
bdml_status bdml_geodesic_between(bdml_handle *h, int d, int q, const double *ps, const double *pt,
                                  bdml_geodesic *out);
void bdml_geodesic_free(bdml_geodesic *g);

/* Sine of the largest principal angle between the spans of the first k columns of p and r (d rows each). */
bdml_status bdml_largest_sine(bdml_handle *h, int d, int k, const double *p, const double *r,
                              double *sine);

/* ---- a linear support vector machine with a duality gap (svm.c) ---------------------------------------- */

/* The rows x_i, however they are kept: w has `size` numbers. */
typedef struct bdml_svm_rows {
    int64_t n;
    size_t size;
    double (*dot)(const void *user, int64_t i, const double *w);   /* <w, x_i> */
    void (*add)(const void *user, int64_t i, double s, double *w); /* w += s x_i */
    double (*square)(const void *user, int64_t i);                 /* <x_i, x_i> */
    const void *user;
} bdml_svm_rows;

typedef struct bdml_svm_result {
    double primal, dual; /* bracket on the optimum */
    int64_t sweeps;
} bdml_svm_result;

/*     min over w of  |w|^2 / 2 + sum_i c_i max(0, margin_i - sign_i <w, x_i>)
 *
 * until primal - dual <= tolerance * primal or `sweeps` are over. sign: 1 or -1. margin NULL: all 1. alpha:
 * n multipliers, 0 <= alpha_i <= c_i in (where to start) and out. w: out. */
bdml_status bdml_svm_solve(bdml_handle *h, uint64_t seed, const bdml_svm_rows *rows,
                           const signed char *sign, const double *c, const double *margin,
                           double tolerance, int64_t sweeps, double *alpha, double *w,
                           bdml_svm_result *result);

/* ---- max-margin domain transform, its parts for the tests (mmdt.c) ------------------------------------- */

typedef struct bdml_mmdt_settings {
    double source, target; /* weights of missed margins */
    double gap;            /* relative, of every step */
    double change;         /* stop when a turn lowers the objective by less than this share */
    int turns;
    uint64_t seed;
} bdml_mmdt_settings;

typedef struct bdml_mmdt {
    int d, classes;
    double *theta;    /* classes rows of d+1: weights, and the offset last */
    double *w;        /* d rows of d+1: target rows (x, 1) -> source space */
    double objective; /* as in mmdt.c */
    double gap;       /* the larger of the relative gaps of the last two steps */
    int turns;
} bdml_mmdt;

bdml_mmdt_settings bdml_mmdt_from_options(const bdml_method_options *o, uint64_t seed);
/* From t's labelled points and the rows of its target whose class is known. */
bdml_status bdml_mmdt_fit(bdml_handle *h, const bdml_training *t, const bdml_mmdt_settings *s,
                          bdml_mmdt *out);
void bdml_mmdt_free(bdml_mmdt *m);

#endif
