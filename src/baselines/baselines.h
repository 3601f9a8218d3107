/* baselines.h - metrics that need no solver of ours; one file a method.
 *
 * Each learns from prepared points and writes the map into the model. Called by train; calls model,
 * data, linalg, base. */
#ifndef BDML_BASELINES_H
#define BDML_BASELINES_H

#include "model/model.h"
#include "problem/problem.h"

/* What a method learns from: prepared points, their classes, and constraints where it asks for
 * them. */
typedef struct bdml_training {
    int64_t n;
    int d;
    const double *x;  /* n rows of d */
    const int32_t *y; /* or NULL */
    int classes;
    const bdml_constraints *constraints; /* or NULL */
} bdml_training;

/* Within-class covariance (total covariance without labels), population form, d x d. */
bdml_status bdml_within_covariance(bdml_handle *h, const bdml_training *t, double *s);

bdml_status bdml_fit_euclidean(bdml_handle *h, const bdml_training *t, bdml_model *model);
bdml_status bdml_fit_whiten(bdml_handle *h, const bdml_training *t, bdml_model *model);

#endif
