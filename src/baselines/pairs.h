/* pairs.h - similar and dissimilar pairs, in coordinates in which a method can work.
 *
 * Shared by the methods that learn from pairs. Their points are moved into the span of the data, so
 * that dependent and constant columns cannot make a scatter singular, and may be mapped on from there
 * (whitened); the learned r x r metric is carried back through the same map.
 *
 * Private to baselines. */
#ifndef BDML_BASELINES_PAIRS_H
#define BDML_BASELINES_PAIRS_H

#include "baselines/baselines.h"
#include "linalg/linalg.h"

/* ---- which pairs (pairs_draw.c) --------------------------------------------------------------------- */

/* Distinct unordered pairs of rows: those of t->constraints (targets are similar, far pairs without a
 * near one dissimilar), else of the constraint files of the settings, else drawn from the classes, each
 * kind uniformly without repetition, as many as the setting random-pairs says. BDML_ERR_DATA when one
 * of the kinds is empty, with the reason; method: its name, for messages. */
bdml_status bdml_pairs_choose(bdml_handle *h, const bdml_options *o, const char *method,
                              const bdml_training *t, bdml_lists *out);
/* How many of both kinds together that will be, before they are there; of files not yet read, as many as of classes. */
double bdml_pairs_expected(const bdml_options *o, const bdml_training *t);
/* True when the pairs are given, by the caller or by files. */
bool bdml_pairs_given(const bdml_constraint_options *o, const bdml_training *t);

/* ---- scatters (scatters.c) ------------------------------------------------------------------------------------ */

/* Orthonormal basis (d x r, the caller's) of the range of a scatter, d x d and positive semidefinite.
 * What counts as absent is measured in units of each column's own deviation. r = 0: no scatter at all. */
bdml_status bdml_span_basis(bdml_handle *h, int d, const double *scatter, int *r, double **basis);
/* W (r x r) with W'(S + T)W = I and W'SW = diag(sigma), sigma ascending in [0,1], for S, T positive
 * semidefinite with S + T positive definite. */
bdml_status bdml_simultaneous(bdml_handle *h, int r, const double *s, const double *t, double *w,
                              double *sigma);

/* ---- pairs in coordinates (pairs.c) --------------------------------------------------------------------- */

typedef struct bdml_pairset {
    int d, r;
    int64_t points; /* that occur in pairs */
    double *x;      /* r x points: B'x */
    double *b;      /* B, d x r */
    int64_t similar, dissimilar;
    /* Every pair as a constraint of its own, similar ones first (they are the targets too), so that
     * the margin operator gives the distances of pairs and weighted sums of their X_ij. */
    bdml_constraints c;
    int64_t *index; /* 0, 1, ...: similar pairs from 0, dissimilar ones from `similar` */
    double *share;  /* 1 / dissimilar for each dissimilar pair */
    bdml_margin *op;
    int raised; /* directions without similar spread, in which a little was put */
} bdml_pairset;

/* Dissimilar pairs of identical points are left out with a warning. span: work in a basis of the span;
 * otherwise B is the identity and columns keep their meaning. */
bdml_status bdml_pairset_new(bdml_handle *h, const bdml_options *o, const char *method,
                             const bdml_training *t, bool span, bdml_pairset *out);
void bdml_pairset_free(bdml_pairset *set);
/* B becomes B W, the points W'x. w: r x q, and r becomes q. */
bdml_status bdml_pairset_transform(bdml_handle *h, bdml_pairset *set, int q, const double *w);
/* Mean of X_ij over similar or dissimilar pairs, r x r; NULL: not wanted. */
void bdml_pairset_scatter(bdml_pairset *set, double *similar, double *dissimilar);
/* To coordinates in which the similar pairs have the mean scatter I. Directions in which they spread
 * less than BDML_SIMILAR_FLOOR of all pairs are taken to spread that much. */
bdml_status bdml_pairset_whiten(bdml_handle *h, bdml_pairset *set);
extern const double BDML_SIMILAR_FLOOR;
/* To coordinates in which the mean scatters of similar and of dissimilar pairs add up to I. */
bdml_status bdml_pairset_whiten_all(bdml_handle *h, bdml_pairset *set);
/* L (q rows of d, the caller's) with L'L = B M B'. */
bdml_status bdml_pairset_map(bdml_handle *h, const bdml_pairset *set, const double *m, int *q,
                             double **out);
/* The metric B M B' into the model. */
bdml_status bdml_pairset_finish(bdml_handle *h, const bdml_pairset *set, const double *m,
                                bdml_model *model);

/* ---- what is told of a fit --------------------------------------------------------------------------------- */

/* Into the model's description as "solution". objective and bound: the two ends of the certified
 * bracket on the optimum, in either order. more: what else the method says, an object that is taken over. */
typedef struct bdml_solution {
    double objective, bound, gap;
    int64_t iterations;
    bool done;   /* the gap asked was reached */
    bool closed; /* a closed form: no bracket, no iterations */
    int64_t similar, dissimilar;
    int rank, raised;
} bdml_solution;
bdml_status bdml_solution_record(bdml_handle *h, const bdml_solution *s, json_t *more,
                                 bdml_model *model);
/* Time or iterations are used up. */
bool bdml_pairs_limit(const bdml_handle *h, const bdml_solve_options *o, int64_t iterations);

/* ---- ITML at a given weight of its slacks, and the choice of that weight (itml.c, itml_choose.c) ------- */

/* L (q rows of d, the caller's) of the ITML metric at gamma whatever the settings say of it. */
bdml_status bdml_itml_map(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          double gamma, int *q, double **l, bdml_solution *told);
/* gamma by cross-validation inside the training data (itml_choose.c); needs labels. */
bdml_status bdml_itml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                             double *gamma);

#endif
