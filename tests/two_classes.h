/* two_classes.h - two classes around +-centre e_1, and random constraints between them. */
#ifndef BDML_TESTS_TWO_CLASSES_H
#define BDML_TESTS_TWO_CLASSES_H

#include "check.h"

typedef struct two_classes {
    double *x;       /* n rows of d; handed on */
    int32_t *target; /* m pairs of one class */
    int32_t *row;    /* m constraints (i, j, k), j = -1 for pairs */
} two_classes;

/* kind: 'p' pairs, 't' triplets. */
static inline two_classes two_classes_make(uint64_t seed, int64_t n, int d, int m, char kind,
                                           double centre)
{
    two_classes T = {calloc((size_t)(n * d), sizeof *T.x),
                     calloc((size_t)(2 * m), sizeof *T.target),
                     calloc((size_t)(3 * m), sizeof *T.row)};
    bdml_rng r = bdml_rng_make(seed, 1);
    for (int64_t i = 0; i < n * d; i++)
        T.x[i] = 0.5 * bdml_rng_normal(&r) + (i % d == 0 ? (i / d % 2 ? centre : -centre) : 0.0);
    for (int t = 0; t < m; t++) {
        int32_t i = (int32_t)bdml_rng_below(&r, (uint64_t)n), j, k;
        do j = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while (j == i || (i + j) % 2);
        do k = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while ((i + k) % 2 == 0);
        T.target[2 * t] = i, T.target[2 * t + 1] = j;
        T.row[3 * t] = i, T.row[3 * t + 1] = kind == 'p' ? -1 : j, T.row[3 * t + 2] = k;
    }
    return T;
}

/* The lists; x is another's by now. */
static inline void two_classes_free(two_classes *T)
{
    free(T->target);
    free(T->row);
}

#endif
