/* csml.h - the objective of CSML, for its own file and its tests. Private to baselines. */
#ifndef BDML_CSML_H
#define BDML_CSML_H

#include "baselines/pairwise.h"

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

#endif
