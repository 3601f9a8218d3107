/* itml.h - ITML at a given weight of its slacks, and the choice of that weight. Private to baselines. */
#ifndef BDML_BASELINES_ITML_H
#define BDML_BASELINES_ITML_H

#include "baselines/pairs.h"

/* L (q rows of d, the caller's) of the ITML metric at gamma whatever the settings say of it. */
bdml_status bdml_itml_map(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          double gamma, int *q, double **l, bdml_solution *told);
/* gamma by cross-validation inside the training data (itml_choose.c); needs labels. */
bdml_status bdml_itml_choose(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                             double *gamma);

#endif
