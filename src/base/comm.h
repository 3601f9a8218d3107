/* comm.h - calls of a communicator (bdml/comm.h) that cost nothing where there is one rank. */
#ifndef BDML_BASE_COMM_H
#define BDML_BASE_COMM_H

#include <stdbool.h>

#include "bdml/comm.h"

extern const bdml_comm bdml_comm_serial; /* one rank, which is all there is */

static inline void bdml_comm_sum(const bdml_comm *comm, int64_t count, double *a)
{
    if (comm->size > 1) comm->sum(comm->user, count, a);
}

/* The same of a symmetric matrix, d x d, of which d (d + 1)/2 numbers cross. */
void bdml_comm_sum_symmetric(const bdml_comm *comm, int d, double *a);

static inline double bdml_comm_total(const bdml_comm *comm, double a)
{
    bdml_comm_sum(comm, 1, &a);
    return a;
}

static inline double bdml_comm_largest(const bdml_comm *comm, double a)
{
    if (comm->size > 1) comm->max(comm->user, 1, &a);
    return a;
}

static inline double bdml_comm_least(const bdml_comm *comm, double a)
{
    return comm->size > 1 ? -bdml_comm_largest(comm, -a) : a;
}

/* A sum over things in a row, of which each rank has a stretch, one after the other: between the two calls a rank adds its own to total[0 .. count),
 * which then is that of all on every rank, with the bits of one rank that has all of them. */
void bdml_comm_chain_begin(const bdml_comm *comm, int64_t count, double *total);
void bdml_comm_chain_end(const bdml_comm *comm, int64_t count, double *total);
/* The same of blocks of `count` numbers, `stride` apart. */
void bdml_comm_chain(const bdml_comm *comm, int64_t count, int64_t blocks, int64_t stride,
                     const double *part, double *total);

/* Of `total` things in a row rank k has those from first to end - 1: as many as any other, or one less. */
typedef struct bdml_stretch {
    int64_t first, end;
} bdml_stretch;
bdml_stretch bdml_comm_stretch(const bdml_comm *comm, int rank, int64_t total);

/* count[0 .. size): what each rank calls `own`. */
void bdml_comm_counts(const bdml_comm *comm, int64_t own, double *count);

/* text[0 .. size) of the one rank that says it is its own, on all of them. */
void bdml_comm_text(const bdml_comm *comm, bool own, size_t size, char *text);

/* All blocks on every rank, one after the other by rank, of count[k] items of `size` bytes each; that of this rank is in its
 * place. Each goes once around the ring. */
void bdml_comm_gather(const bdml_comm *comm, const double *count, size_t size, void *all);

#endif
