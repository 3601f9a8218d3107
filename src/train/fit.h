/* fit.h - the method bdml: a certified bounded-distortion metric over a reference. Private to train. */
#ifndef BDML_FIT_H
#define BDML_FIT_H

#include "model/evidence.h"
#include "solver/solver.h"
#include "train/train.h"

/* ---- reference (reference.c) -------------------------------------------------------------------- */

/* Distortion is bounded relative to a reference metric: the metric is learned on p = R x. R has `rows`
 * rows of d and full row rank; map NULL: identity, rows = d. */
typedef enum bdml_reference_kind {
    BDML_REFERENCE_NONE,   /* the prepared points as they are */
    BDML_REFERENCE_ZSCORE, /* each column to standard deviation 1; constant columns are left out */
    BDML_REFERENCE_WITHIN, /* then whitened by the shrunk within-class covariance */
    BDML_REFERENCE_WITHIN_RAW, /* whitened likewise without the z-score */
    BDML_REFERENCE_FISHER_5, /* within, stretched along the directions in which the class means differ */
    BDML_REFERENCE_FISHER, /* by 20 */
    BDML_REFERENCE_FISHER_100,
    BDML_REFERENCE_FISHER_1000,
    BDML_REFERENCE_LDA, /* by 1e6 */
    BDML_REFERENCE_FILE,
    BDML_REFERENCE_KINDS
} bdml_reference_kind;

/* Kinds that differ in a constant: one of each goes into the grid of the recipe. */
typedef enum bdml_reference_family {
    BDML_FAMILY_NONE,
    BDML_FAMILY_ZSCORE,
    BDML_FAMILY_WITHIN,
    BDML_FAMILY_FISHER,
    BDML_FAMILIES
} bdml_reference_family;
bdml_reference_family bdml_reference_family_of(bdml_reference_kind kind);

typedef struct bdml_reference {
    bdml_reference_kind kind;
    int rows;
    double *map;
} bdml_reference;

extern const char *const bdml_reference_names[BDML_REFERENCE_KINDS];
bdml_status bdml_reference_make(bdml_handle *h, bdml_reference_kind kind, const bdml_training *t,
                                bdml_reference *out);
/* *p: n rows of r->rows out, the caller's. */
bdml_status bdml_reference_apply(bdml_handle *h, const bdml_reference *r, int64_t n, int d,
                                 const double *x, double **p);
void bdml_reference_free(bdml_reference *r);
/* r was made for the points Qx, Q q rows of d: from now on it maps x itself. */
bdml_status bdml_reference_after(bdml_handle *h, bdml_reference *r, int q, int d, const double *Q);
/* The kind that the setting "reference" names; none for auto. */
bdml_reference_kind bdml_reference_asked(const bdml_handle *h);

/* ---- claim (claim.c) ------------------------------------------------------------------------------- */

/* A solved problem, with all that is needed to write down what was proven. */
typedef struct bdml_solved {
    const bdml_reference *reference;
    const bdml_constraints *constraints;
    const bdml_solve_settings *settings;
    const bdml_solve_result *result;
    bool diagonal;
    bdml_pull pull;
    double g_scale;
} bdml_solved;

/* Put metric, evidence and the "certificate" of the description into the model. BDML_ERR_INFEASIBLE
 * when the result proves that, with what contradicts what on the handle; a collapse to M = 0 is
 * BDML_ERR_DATA with the reason. */
bdml_status bdml_claim_result(bdml_handle *h, const bdml_solved *s, bdml_model *model);

/* ---- fits ------------------------------------------------------------------------------------------- */

/* t holds the points Qx of these (Q: model->d columns), or map NULL: the prepared points themselves. */
typedef struct bdml_mapped {
    int rows;
    const double *map; /* rows of model->d */
} bdml_mapped;

/* One problem, as the settings say it (single.c). */
bdml_status bdml_fit_single(bdml_handle *h, const bdml_training *t, bdml_mapped by,
                            bdml_model *model);
/* Reference, distortion, softness and passes chosen by cross-validation (recipe.c). */
bdml_status bdml_fit_recipe(bdml_handle *h, const bdml_training *t, bdml_mapped by,
                            bdml_model *model);
/* A metric of the rank that the setting "rank" says (lowrank.c); stated: one problem, no selection. */
bdml_status bdml_fit_lowrank(bdml_handle *h, const bdml_training *t, bool stated,
                             bdml_model *model);
/* From given pairs, the same chosen by how well left-out pairs are told apart (pairs.c). */
bdml_status bdml_fit_pairs(bdml_handle *h, const bdml_training *t, bdml_model *model);
/* The method: the one or the other, by what the settings leave open. */
bdml_status bdml_fit_bdml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model);

#endif
