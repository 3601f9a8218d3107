/* nca.h - the objective of neighbourhood components analysis and its gradient, in blocks of rows. */
#ifndef BDML_NCA_H
#define BDML_NCA_H

#include "baselines/baselines.h"

enum {
    BDML_NCA_ROWS = 32,  /* rows of a block: wide enough for BLAS, and n x rows stays in cache */
    BDML_NCA_PARTS = 16, /* sums over blocks are kept in so many parts, added in order */
    BDML_NCA_GROUP = 16  /* neighbours that are looked at, or left out, together; whole vectors */
};

/* Terms below exp(-CUT) of the largest are left out: 4e-18, under the rounding of a sum that holds 1. */
#define BDML_NCA_CUT 40.0

/* The inner loops, for a kind of processor (nca_softmax.h). */
typedef struct bdml_nca_kernel {
    /* Column r of tile (padded x rows): |z_j|^2 - 2 z_r'z_j for all j. panel: by groups of points, for each
     * coordinate those of the group, times -2; z: rows of q.
     * near: bit r of number g, whether row r needs group g, infinite where not; NULL: all are needed. */
    void (*distances)(int64_t padded, int q, const double *panel, const double *norm,
                      const uint32_t *near, int rows, const double *z, double *tile);
    /* Column s of row i (s[i] is not read) becomes the weights w_j = p_ij ([y_j = y_i] - p_i), which are
     * added to `column` (NULL: p_i alone is wanted); returns p_i. Only listed groups are set: those at
     * group[0 .. *groups), ascending, each BDML_NCA_GROUP long or up to the end of its segment (before the
     * class, the class, behind it). */
    double (*weights)(int64_t n, int64_t i, int64_t begin, int64_t end, double *s, double *column,
                      int32_t *group, int *groups);
} bdml_nca_kernel;
extern const bdml_nca_kernel bdml_nca_kernel_plain, bdml_nca_kernel_avx2, bdml_nca_kernel_avx512;
/* Vectors that the processor has: 0 the least, 1 AVX2, 2 AVX-512; and the loops for them. */
int bdml_nca_width(void);
const bdml_nca_kernel *bdml_nca_kernel_of(int width);

/* Points sorted by class, so that a class is a range, and centred; workspace for maps of up to q rows. */
typedef struct bdml_nca {
    bdml_handle *h;
    int64_t n, padded; /* the latter a multiple of the group */
    int d, q;
    double *x;                   /* n rows of d */
    int64_t *begin, *end;        /* per row: the range of its class */
    double *z;                   /* n rows of q */
    double *panel, *norm;        /* of the z, as the kernel takes them */
    int64_t balls, balls_padded; /* of the groups, nca_groups.c: */
    double *centre, *radius, *centre_panel, *centre_norm;
    uint32_t *near; /* per thread: balls */
    double *tile;   /* per thread: padded x rows */
    double *u;      /* per thread: d x rows */
    int32_t *group; /* per thread: rows lists of up to `most` groups */
    int64_t most;
    double *moment;   /* per part: d x d, sum of x_i u_i' */
    double *column;   /* per part: n, column sums of the weights */
    double *total;    /* per part: sum of p_i */
    double *lap, *ws; /* d x d; for gram and map */
    int threads;
    const bdml_nca_kernel *kernel;
} bdml_nca;

bdml_status bdml_nca_init(bdml_handle *h, const bdml_training *t, int q, bdml_nca *a);
void bdml_nca_free(bdml_nca *a);
/* *f = -(1/n) sum_i p_i at the map l (q rows of d), and its gradient (NULL: not wanted). */
bdml_status bdml_nca_objective(void *nca, const double *l, double *f, double *gradient);

/* nca_groups.c: put the rows (numbers into x) of a class, whose first will be point `from`, in an order in which
 * near ones stand together. */
bdml_status bdml_nca_order(bdml_handle *h, int d, const double *x, int64_t from, int64_t count,
                           int64_t *row);
/* Points as the kernel takes them. */
void bdml_nca_panels(int64_t n, int q, const double *z, double *panel, double *norm);
/* Balls of the groups at the mapped points; and which groups the rows i0 .. need. tile: balls_padded x rows. */
void bdml_nca_balls(bdml_nca *a);
void bdml_nca_near(const bdml_nca *a, int64_t i0, int rows, double *tile, uint32_t *near);

#endif
