/* spread.h - rows dealt out to ranks: each holds a stretch of them, and gets copies of others when it needs them.
 *
 * Where there is no spread (NULL) all rows are here: every call below then costs nothing, or is a plain copy. */
#ifndef BDML_BASE_SPREAD_H
#define BDML_BASE_SPREAD_H

#include "base/comm.h"

typedef struct bdml_spread {
    const bdml_comm *comm;
    int64_t *start; /* size + 1 of them: rank k holds the rows from start[k] to start[k + 1] - 1 */
} bdml_spread;

/* Sums of products over n rows are taken block by block and added in the order of the blocks. A rank holds whole blocks, so that
 * the bits do not depend on the number of ranks. */
static inline int64_t bdml_block_rows(int64_t n)
{
    enum { BLOCKS = 128, LEAST = 256 };
    int64_t rows = (n + BLOCKS - 1) / BLOCKS;
    return rows > LEAST ? rows : LEAST;
}

/* The rows of a rank. */
bdml_stretch bdml_spread_stretch(const bdml_comm *comm, int rank, int64_t n);

/* This rank holds `own` rows, behind those of the ranks before it. All ranks call it. */
bdml_status bdml_spread_new(bdml_handle *h, const bdml_comm *comm, int64_t own, bdml_spread **out);
void bdml_spread_free(bdml_spread *s);

/* Of n rows in all: the first that is here, and how many are. */
static inline int64_t bdml_spread_first(const bdml_spread *s)
{
    return s ? s->start[s->comm->rank] : 0;
}

static inline int64_t bdml_spread_held(const bdml_spread *s, int64_t n)
{
    return s ? s->start[s->comm->rank + 1] - s->start[s->comm->rank] : n;
}

/* All rows, of which n are here. */
static inline int64_t bdml_spread_total(const bdml_spread *s, int64_t n)
{
    return s ? s->start[s->comm->size] : n;
}

/* Sums and maxima of what each rank has made of its rows. */
static inline void bdml_spread_sum(const bdml_spread *s, int64_t count, double *a)
{
    if (s) bdml_comm_sum(s->comm, count, a);
}

static inline void bdml_spread_max(const bdml_spread *s, int64_t count, double *a)
{
    if (s) s->comm->max(s->comm->user, count, a);
}

static inline void bdml_spread_sum_symmetric(const bdml_spread *s, int d, double *a)
{
    if (s) bdml_comm_sum_symmetric(s->comm, d, a);
}

/* Sums of twice the precision: hi + lo, lo the rounding errors of hi. Rounded to a double they are the same whatever the order of their
 * terms, but for one in some 2^40, so that what is made of them does not depend on how rows are dealt out. */
static inline void bdml_twofold_add(double *hi, double *lo, double x)
{
    double s = *hi + x, t = s - *hi;
    *lo += (*hi - (s - t)) + (x - t);
    *hi = s;
}

/* hi + lo of all ranks, rounded. */
double bdml_comm_twofold(const bdml_comm *comm, double hi, double lo);
/* hi[k] + lo[k], of all ranks. */
bdml_status bdml_spread_twofold(bdml_handle *h, const bdml_spread *s, int64_t count, double *hi,
                                double *lo);

/* out, `count` rows of d: the rows row[0 .. count) of all, of which those of this rank are at x, ld apart. Every rank asks for
 * its own, and all call it: questions go once around the ring, and come back answered. */
bdml_status bdml_spread_fetch(bdml_handle *h, const bdml_spread *s, int d, const double *x,
                              int64_t ld, int64_t count, const int64_t *row, double *out);

/* What one rank found wrong with its rows is what all return, in its words and with its name; where all found something
 * wrong each keeps its own. */
bdml_status bdml_spread_agree(bdml_handle *h, const bdml_spread *s, bdml_status status);
bdml_status bdml_comm_agree(bdml_handle *h, const bdml_comm *comm, bdml_status status);

#endif
