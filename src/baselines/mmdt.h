/* mmdt.h - max-margin domain transform, its parts for the tests. Private to baselines. */
#ifndef BDML_MMDT_H
#define BDML_MMDT_H

#include "baselines/baselines.h"

typedef struct bdml_mmdt_settings {
    double source, target; /* weights of missed margins */
    double gap;            /* relative, of every step */
    double change;         /* stop when a turn lowers the objective by less than this share */
    int turns;
    uint64_t seed;
} bdml_mmdt_settings;

typedef struct bdml_mmdt {
    int d, classes;
    double *theta;    /* classes rows of d+1: weights, and the offset last */
    double *w;        /* d rows of d+1: target rows (x, 1) -> source space */
    double objective; /* as in mmdt.c */
    double gap;       /* the larger of the relative gaps of the last two steps */
    int turns;
} bdml_mmdt;

bdml_mmdt_settings bdml_mmdt_from_options(const bdml_method_options *o, uint64_t seed);
/* From t's labelled points and the rows of its target whose class is known. */
bdml_status bdml_mmdt_fit(bdml_handle *h, const bdml_training *t, const bdml_mmdt_settings *s,
                          bdml_mmdt *out);
void bdml_mmdt_free(bdml_mmdt *m);

#endif
