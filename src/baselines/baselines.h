/* baselines.h - methods beside bdml itself, one file each.
 *
 * Each learns from prepared points and writes the map into the model. Called by train; calls
 * solver, model and below. */
#ifndef BDML_BASELINES_H
#define BDML_BASELINES_H

#include "baselines/lbfgs.h"
#include "model/model.h"
#include "neighbors/neighbors.h"
#include "problem/problem.h"

/* Points of the domain to adapt to, prepared as the training points are. */
typedef struct bdml_domain {
    int64_t n;
    const double *x;  /* n rows of d */
    const int32_t *y; /* class or -1: not known; NULL: none is known */
} bdml_domain;

/* What a method learns from: prepared points, their classes, constraints where it asks for them, and
 * the other domain where there is one. */
typedef struct bdml_training {
    int64_t n;
    int d;
    const double *x;  /* n rows of d; those of this rank where they are dealt out */
    const int32_t *y; /* of all n, or NULL */
    int classes;
    const bdml_constraints *constraints; /* or NULL */
    const bdml_domain *target;           /* or NULL */
    const bdml_spread *over; /* whom rows are dealt out to (method bdml), or NULL: all are here */
    const bdml_made *made;   /* x NULL: what makes the rows (method bdml), all of them */
} bdml_training;

/* Rows that are here. */
static inline int64_t bdml_training_held(const bdml_training *t)
{
    return bdml_spread_held(t->over, t->n);
}

/* They themselves. */
static inline bdml_rows bdml_training_rows(const bdml_training *t)
{
    const int32_t *y = t->y ? t->y + bdml_spread_first(t->over) : NULL;
    return (bdml_rows){bdml_training_held(t), t->d, t->d, t->x, y, t->classes, t->made};
}
/* Without constraints or a second domain; ld = d. */
static inline bdml_training bdml_training_of(const bdml_rows *r)
{
    return (bdml_training){r->n, r->d, r->x, r->y, r->classes, NULL, NULL, NULL, r->made};
}

/* Within-class covariance, or without labels that of similar pairs, or without pairs the total one;
 * population form, d x d. */
bdml_status bdml_within_covariance(bdml_handle *h, const bdml_training *t, double *s);

/* l: the q leading eigenvectors of the total covariance, q rows of d. */
bdml_status bdml_principal_rows(bdml_handle *h, const bdml_training *t, int q, double *l);

/* lap = sum_ij w_ij (x_i - x_j)(x_i - x_j)' = X diag(c) X' - A - A' for weights whose rows sum to 0 (laplacian.c):
 * A = sum_ij w_ij x_i x_j' (moment, d x d) and the column sums c_j (column, n) come in parts, which are added up in order
 * into the first. ws: bdml_la_gram_size(d). */
void bdml_add_laplacian(bdml_handle *h, int parts, int64_t n, int d, const double *x,
                        double *moment, double *column, double *lap, double *ws);

/* ---- span of the data (span.c) -------------------------------------------------------------------- */

/* The points in coordinates in which their total covariance is the identity; constant and dependent
 * columns take no part. */
typedef struct bdml_span {
    int r;        /* dimensions that the data span */
    double *map;  /* r rows of d: z = map (x - mean) */
    double *lift; /* d x r: x - mean = lift z */
    double *z;    /* n rows of r */
} bdml_span;
bdml_status bdml_span_make(bdml_handle *h, const bdml_training *t, bdml_span *out);
void bdml_span_free(bdml_span *s);
/* The model's map is l (q rows of r) after the span's. */
bdml_status bdml_span_set_map(bdml_handle *h, const bdml_span *s, int q, const double *l,
                              bdml_model *model);

/* ---- choice of a parameter by votes in folds (folds.c) ------------------------------------------------ */

typedef struct bdml_fold {
    const bdml_rows *rows;
    int64_t count;      /* of them that take part: */
    const int64_t *all; /* these, or NULL: the first ones */
    int32_t *fold;      /* of each */
    bdml_rows learn, test;
    int64_t *part; /* count: scratch */
    double *x;     /* count rows: those to learn from, then those of the test */
    int32_t *y;
    int32_t *near; /* neighbours of `test` under the map judged last, or NULL */
} bdml_fold;

/* Stratified folds. rows and row are borrowed. */
bdml_status bdml_fold_init(bdml_handle *h, const bdml_rows *rows, int64_t count, const int64_t *row,
                           int folds, uint64_t seed, bdml_fold *f);
void bdml_fold_free(bdml_fold *f);
/* learn: the rows outside fold `number`; test: those inside. */
void bdml_fold_take(bdml_fold *f, int number);
/* How many of `test` the vote of their neighbours in `learn` gets wrong under the map l (q rows of d). */
bdml_status bdml_fold_errors(bdml_handle *h, const bdml_neighbor_options *o, bdml_fold *f, int q,
                             const double *l, int64_t *wrong);

/* ---- what methods share (support.c) ----------------------------------------------------------------- */

/* BDML_ERR_DATA, in the name of the method, unless there are points of two classes. */
bdml_status bdml_need_classes(bdml_handle *h, const bdml_training *t, const char *method);

/* M = 0 would be best: the model becomes that of method euclidean, with a warning and "nothing_learned" in its description. */
bdml_status bdml_keep_euclidean(bdml_handle *h, const char *method, bdml_model *model);

/* Why a method stopped: "stopping" of the model's description. */
typedef struct bdml_stopping {
    const char *rule;       /* what is measured: "certified gap", "gradient", ... */
    double reached, wanted; /* converged when reached <= wanted */
    int64_t iterations;
    double objective; /* as the head of the method's file has it */
} bdml_stopping;
bdml_status bdml_record_stopping(bdml_handle *h, bdml_model *model, const bdml_stopping *s);

/* At the end of a method that goes on from the points as they are, with its status: where the time limit came before anything better
 * was there, the model becomes that start, with "stopping" after 0 iterations, and the status BDML_OK. */
bdml_status bdml_start_if_late(bdml_handle *h, bdml_status status, bdml_model *model);

/* The model's map, L of q rows of d, by L-BFGS from the start in l, with why it stopped. */
bdml_status bdml_learn_map(bdml_handle *h, int q, int d, double *l, bdml_smooth_fn fn, void *user,
                           const bdml_lbfgs_settings *s, bdml_model *model);

/* ---- the methods -------------------------------------------------------------------------------------- */

/* bdml_need_...: the memory that bdml_fit_... will take beside the points (need.c). */
#define BDML_METHOD(name, function, uses, help)                                                    \
    bdml_status bdml_fit_##function(bdml_handle *h, const bdml_options *o, const bdml_training *t, \
                                    bdml_model *model);                                            \
    bdml_need bdml_need_##function(const bdml_handle *h, const bdml_options *o,                    \
                                   const bdml_training *t);
#define BDML_CLASSIFIER(name, function, uses, help)                                          \
    bdml_status bdml_classify_##function(bdml_handle *h, const bdml_options *o,              \
                                         const bdml_training *t, int64_t n, const double *x, \
                                         int32_t *label);
#include "baselines/methods.def"
#undef BDML_METHOD
#undef BDML_CLASSIFIER

#endif
