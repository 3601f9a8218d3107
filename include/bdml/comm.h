/* comm.h - one training over several processes: what they exchange.
 *
 * A program of its own kind (MPI, sockets, threads) fills in a bdml_comm and gives it to the handle of each of its
 * processes, the ranks; libbdml-mpi does so for MPI (bdml/mpi.h). Every rank then makes the same calls of bdml.h on the
 * same data with the same settings, and gets the same results:
 *
 *     bdml_train, method bdml    constraints are mined and, where there are many, held in shares, rows too if so read (bdml_read_part), sums over them go over all ranks; the
 *                                choice of reference, distortion and weight is made by jobs dealt out to the ranks
 *     bdml_evaluate              methods x splits are dealt out to the ranks
 *     files                      are written by rank 0 alone
 *     all else                   is done by every rank for itself
 *
 * The same number of ranks gives the same bits; where each solves all of a problem, any number does (docs/cluster.md). A rank that fails cannot tell the others, who wait for it: whoever
 * makes the communicator ends them. */
#ifndef BDML_COMM_H
#define BDML_COMM_H

#include "bdml/bdml.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bdml_comm {
    /* Replace a[0..count) by its sum, or maximum, over all ranks: by the same bits on every rank, and each time
     * again. Every rank makes the same calls in the same order. None is called when size is 1. */
    void (*sum)(void *user, int64_t count, double *a);
    void (*max)(void *user, int64_t count, double *a);
    int rank, size;
    void *user;
    /* `out` to the rank after this one, `in` from the one before; the last and the first are neighbours. */
    void (*shift)(void *user, int64_t out_bytes, const void *out, int64_t in_bytes, void *in);
} bdml_comm;

/* Where rows are many they are dealt out: every rank reads and holds its stretch of them and all labels, mining passes blocks of
 * rows around the ring, sums go over all ranks, and a rank gets copies of the rows that its constraints name. The model is the
 * same. True when training with the settings of the handle can do so: method bdml of full rank by solver engine, with classes or with
 * given pairs that state their problem. */
BDML_API int bdml_train_takes_parts(const bdml_handle *h);
/* Read a data set so, for bdml_train; other calls refuse it. On one rank: bdml_read_dataset. */
BDML_API bdml_status bdml_read_part(bdml_handle *h, const char *path, bdml_dataset **out);

/* This handle is that of one rank of comm, which is borrowed; NULL: of the only one, as before. */
BDML_API bdml_status bdml_set_comm(bdml_handle *h, const bdml_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
