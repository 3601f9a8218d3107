/* geodesic.h - the way from the subspace of one domain to that of another. Private to baselines. */
#ifndef BDML_GEODESIC_H
#define BDML_GEODESIC_H

#include "baselines/baselines.h"

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

#endif
