/* pca.h - what the exact (pca.c) and the randomised (pca_krylov.c) PCA share. Private to them. */
#ifndef BDML_PCA_H
#define BDML_PCA_H

#include "data/data.h"

/* The centred, scaled data, block by block. */
typedef struct bdml_pca_stream {
    const bdml_rows *data;
    const bdml_spread *over; /* other ranks have the other rows; NULL: there are none */
    const bdml_prepare *p;
    int64_t rows; /* of a block */
    double *x;    /* the block, rows of d */
} bdml_pca_stream;

/* Leading eigenpairs as they come out of one of the three ways. */
typedef struct bdml_spectrum {
    int count;
    double *lambda; /* descending */
    double *v;      /* d x count, orthonormal columns */
    double total;   /* trace of C */
} bdml_spectrum;

/* Fill s->x with the rows from i on; *rows of them. */
bdml_status bdml_pca_block(bdml_handle *h, const bdml_pca_stream *s, int64_t i, int64_t *rows);
bdml_status bdml_spectrum_new(bdml_handle *h, int d, int count, bdml_spectrum *e);
/* Ascending eigenvalues and vectors of LAPACK, the `count` largest of `total`, to descending. */
void bdml_pca_descending(int d, int count, int total, const double *lambda, const double *q,
                         double *out, double *v);

/* Of so many rows and columns. */
bool bdml_pca_krylov_pays(int64_t n, int d, double asked);
bdml_status bdml_pca_krylov(bdml_handle *h, uint64_t seed, const bdml_pca_stream *x, int components,
                            bdml_spectrum *e);

#endif
