/* baselines.h - metrics that need no solver of ours; one file a method.
 *
 * Each learns from prepared points and writes the map into the model. Called by train; calls model,
 * data, linalg, base. */
#ifndef BDML_BASELINES_H
#define BDML_BASELINES_H

#include "model/model.h"
#include "problem/problem.h"

/* What a method can learn from. */
typedef enum bdml_uses {
    BDML_USES_NOTHING = 1, /* points alone */
    BDML_USES_LABELS = 2,  /* the classes of the points */
    BDML_USES_PAIRS = 4,   /* given constraints: similar pairs (targets) and dissimilar ones */
    BDML_USES_DOMAINS = 8  /* points of a second domain, and cannot do without */
} bdml_uses;

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
    const double *x;  /* n rows of d */
    const int32_t *y; /* or NULL */
    int classes;
    const bdml_constraints *constraints; /* or NULL */
    const bdml_domain *target;           /* or NULL */
} bdml_training;

/* Within-class covariance (total covariance without labels), population form, d x d. */
bdml_status bdml_within_covariance(bdml_handle *h, const bdml_training *t, double *s);

#define BDML_METHOD(name, function, uses, help) \
    bdml_status bdml_fit_##function(bdml_handle *h, const bdml_training *t, bdml_model *model);
#define BDML_CLASSIFIER(name, function, uses, help)                                         \
    bdml_status bdml_classify_##function(bdml_handle *h, const bdml_training *t, int64_t n, \
                                         const double *x, int32_t *label);
#include "baselines/methods.def"
#undef BDML_METHOD
#undef BDML_CLASSIFIER

#endif
