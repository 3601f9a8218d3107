/* scml.h - the directions that scml combines. Private to baselines. */
#ifndef BDML_SCML_H
#define BDML_SCML_H

#include "baselines/baselines.h"

/* `count` directions of length 1, d each. */
typedef struct bdml_directions {
    int count;
    double *u; /* d x count */
} bdml_directions;

/* About `want` of them, by the seed. With classes: the discriminants of the points around points drawn at random, the nearest of
 * each class at two scales. Without: differences of pairs of the triplets drawn at random. */
bdml_status bdml_scml_directions(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                 const bdml_constraints *c, int want, bdml_directions *out);

#endif
