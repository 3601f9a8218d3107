/* gaussian.h - Gaussian classes for the benchmarks. */
#ifndef BDML_BENCH_GAUSSIAN_H
#define BDML_BENCH_GAUSSIAN_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { CLASSES = 5 };

/* n points of d dimensions around CLASSES normal centres, `spread` times as far apart as the points. */
static inline bdml_dataset *gaussian(bdml_handle *h, int64_t n, int d, double spread)
{
    bdml_rng r = bdml_rng_make(1, 2);
    double *x = malloc(sizeof *x * (size_t)n * (size_t)d),
           *centre = malloc(sizeof *x * CLASSES * (size_t)d);
    int64_t *y = malloc(sizeof *y * (size_t)n);
    bdml_dataset *data = NULL;
    if (!x || !centre || !y) exit(1);
    for (int i = 0; i < CLASSES * d; i++) centre[i] = spread * bdml_rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        y[i] = (int64_t)bdml_rng_below(&r, CLASSES);
        for (int j = 0; j < d; j++) x[i * d + j] = centre[y[i] * d + j] + bdml_rng_normal(&r);
    }
    if (bdml_dataset_from_arrays(h, n, d, x, d, y, &data) != BDML_OK) {
        fprintf(stderr, "bench: %s\n", bdml_last_error(h));
        exit(1);
    }
    free(x);
    free(centre);
    free(y);
    return data;
}

#endif
