/* pairwise.h - what the methods for verification share. Private to baselines. */
#ifndef BDML_PAIRWISE_H
#define BDML_PAIRWISE_H

#include "baselines/baselines.h"

/* BDML_ERR_DATA unless t has pairs of both kinds. */
bdml_status bdml_need_pairs(bdml_handle *h, const bdml_training *t, const char *method);

/* ---- intra-personal subspace (intra.c) ------------------------------------------------------------------- */

typedef struct bdml_subspace {
    int k;
    double *map; /* P, k rows of d */
    double *x;   /* P x of the training points, n rows of k */
} bdml_subspace;

bdml_status bdml_subspace_make(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_subspace *p);
void bdml_subspace_free(bdml_subspace *p);
/* L = l P, l q rows of k; or L'L = P' m P. */
bdml_status bdml_subspace_set_map(bdml_handle *h, const bdml_subspace *p, int q, const double *l,
                                  bdml_model *model);
bdml_status bdml_subspace_set_metric(bdml_handle *h, const bdml_subspace *p, const double *m,
                                     bdml_model *model);
/* Another method of metrics, on P x instead of x. */
bdml_status bdml_fit_in_subspace(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 const char *name,
                                 bdml_status (*fit)(bdml_handle *h, const bdml_options *o,
                                                    const bdml_training *t, bdml_model *model),
                                 bdml_model *model);

/* ---- similarity and metric from pairs (pair_hinge.c) -------------------------------------------------------- */

typedef struct bdml_pair_hinge {
    int k;
    int64_t m;          /* pairs */
    const double *x;    /* points, rows of k */
    const int32_t *row; /* 2 per pair */
    const int32_t *same;
    bool similarity; /* learn G too; else the score is -d_M alone */
    double gamma;    /* weight of the regulariser, > 0 */
    double gap;      /* stop at primal - dual <= gap * primal */
    int64_t max_iter;
} bdml_pair_hinge;

typedef struct bdml_pair_solution {
    double *metric, *similarity; /* k x k; similarity NULL when it is not learned */
    double b;                    /* same when the score is at least -b */
    double primal, dual;         /* the optimum lies between */
    int64_t iterations;
} bdml_pair_solution;

bdml_status bdml_pair_hinge_solve(bdml_handle *h, const bdml_pair_hinge *p,
                                  bdml_pair_solution *out);
void bdml_pair_solution_free(bdml_pair_solution *s);
/* The method: weight by validation, fit, and the map (and G) into the model (sub_ml.c). */
bdml_status bdml_fit_pair_hinge(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                bool similarity, const char *name, bdml_model *model);

/* ---- the objective of CSML, for its own file and its tests (csml.c) ------------------------------------ */

/* Given before bdml_csml_init: all but the workspace. */
typedef struct bdml_csml {
    int64_t n;
    int d, q;
    const double *x;     /* n rows of d */
    const double *start; /* A0, q rows of d */
    const bdml_labelled_pairs *pairs;
    double beta;
    double start_norm; /* |A0|^2 */
    double *z, *r;     /* A x, and the gradient in each of them */
    double *ws;
} bdml_csml;

bdml_status bdml_csml_init(bdml_handle *h, bdml_csml *c);
void bdml_csml_free(bdml_csml *c); /* the workspace */
/* The objective at A (q rows of d), and its gradient unless NULL. */
double bdml_csml_value(bdml_handle *h, bdml_csml *c, const double *a, double *gradient);
/* Climb from a. *value: the objective there. */
bdml_status bdml_csml_climb(bdml_handle *h, bdml_csml *c, int iterations, double *a, double *value);

/* ---- validation (validate.c) ------------------------------------------------------------------------------- */

/* Pairs to learn from and pairs left out, a third of them, whole groups where groups are known. */
typedef struct bdml_holdout {
    bdml_labelled_pairs train, test;
} bdml_holdout;
bdml_status bdml_holdout_make(bdml_handle *h, uint64_t seed, const bdml_training *t,
                              bdml_holdout *out);
void bdml_holdout_free(bdml_holdout *v);
/* Score of a pair of rows: larger = more alike. */
typedef double (*bdml_score_fn)(const void *user, int32_t i, int32_t j);
/* Percent of the pairs left out that a threshold from the others gets wrong. */
bdml_status bdml_holdout_error(bdml_handle *h, const bdml_holdout *v, bdml_score_fn score,
                               const void *user, double *error);

#endif
