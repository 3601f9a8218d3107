/* gmml.h - geometric mean metric learning: the closed form, and the choice of its place t. */
#ifndef BDML_GMML_H
#define BDML_GMML_H

#include "baselines/baselines.h"

/* Mean outer product of differences inside classes, S, and between them, D, each r x r with the ridge:
 * BDML_ERR_DATA when all rows are of one class. */
bdml_status bdml_gmml_scatter(bdml_handle *h, const bdml_training *z, double ridge, double *S,
                              double *D);
/* l (r rows of r) with l'l = S^-1 #_t D for `count` values of t, one r x r block of l each. */
bdml_status bdml_gmml_means(bdml_handle *h, int r, const double *S, const double *D, int count,
                            const double *t, double *l);
/* *t: the place with the least cross-validated error of the `neighbors`-NN vote on the rows of z. */
bdml_status bdml_gmml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *z,
                             double ridge, double *t);

#endif
