/* comm.c - sum, max and ring shift over MPI.
 *
 * A sum of many numbers goes in two steps, each rank adding up one slice:
 *
 *     all to all     slice k of every rank to rank k, which adds them in the order of the ranks
 *     all gather     the finished slices to every rank
 *
 * so that each number crosses the network twice, as in the best all-reduce, and the order of the additions is ours. Few
 * numbers are gathered as they are, and added by every rank in the same order: one step instead of two. */
#include "bdml/mpi.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Up to so many numbers, those of all ranks together, are gathered: about the size at which a network is limited by
 * its bandwidth and no longer by its latency. */
enum { FEW = 4096 };
/* Bytes of one message at most; a count of MPI is an int. */
enum { MOST_BYTES = 1 << 30 };

struct bdml_mpi {
    bdml_comm comm;
    MPI_Comm world, end; /* end: for the last meeting alone */
    double *room;
    size_t capacity;
};

/* ---- memory -------------------------------------------------------------------------------------- */

/* A rank that cannot go on must not leave the others waiting. */
static void give_up(const bdml_mpi *m, const char *why)
{
    fprintf(stderr, "bdml-mpi: rank %d of %d: %s\n", m->comm.rank, m->comm.size, why);
    MPI_Abort(m->world, 1);
}

static double *room_for(bdml_mpi *m, size_t numbers)
{
    if (numbers > m->capacity) {
        double *room = realloc(m->room, numbers * sizeof *room);
        if (!room) give_up(m, "out of memory");
        m->room = room;
        m->capacity = numbers;
    }
    return m->room;
}

/* ---- sums and maxima ------------------------------------------------------------------------------- */

/* to[k] = part 0 + part 1 + ..., or the largest; parts are `stride` numbers apart. A NaN is the largest of all. */
static void combine(int parts, size_t count, const double *part, size_t stride, int largest,
                    double *to)
{
    for (size_t k = 0; k < count; k++) {
        double v = part[k];
        for (int p = 1; p < parts; p++) {
            double w = part[(size_t)p * stride + k];
            if (!largest)
                v += w;
            else if (w > v || isnan(w))
                v = w; /* no number is larger than a NaN that is there already */
        }
        to[k] = v;
    }
}

static void few(bdml_mpi *m, int64_t count, double *a, int largest)
{
    double *all = room_for(m, (size_t)count * (size_t)m->comm.size);
    MPI_Allgather(a, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, m->world);
    combine(m->comm.size, (size_t)count, all, (size_t)count, largest, a);
}

/* The last slices may be short, or empty: they are filled up with zeros. */
static void many(bdml_mpi *m, int64_t count, double *a, int largest)
{
    size_t size = (size_t)m->comm.size, n = (size_t)count, slice = (n + size - 1) / size;
    double *out = room_for(m, 2 * size * slice + slice), *in = out + size * slice;
    double *own = in + size * slice;
    memcpy(out, a, n * sizeof *a);
    memset(out + n, 0, (size * slice - n) * sizeof *a);
    MPI_Alltoall(out, (int)slice, MPI_DOUBLE, in, (int)slice, MPI_DOUBLE, m->world);
    combine(m->comm.size, slice, in, slice, largest, own);
    MPI_Allgather(own, (int)slice, MPI_DOUBLE, out, (int)slice, MPI_DOUBLE, m->world);
    memcpy(a, out, n * sizeof *a);
}

static void reduce(bdml_mpi *m, int64_t count, double *a, int largest)
{
    const int64_t most = MOST_BYTES / (int64_t)sizeof *a;
    for (int64_t from = 0; from < count; from += most) {
        int64_t now = count - from < most ? count - from : most;
        (now * m->comm.size <= FEW ? few : many)(m, now, a + from, largest);
    }
}

static void sum(void *user, int64_t count, double *a)
{
    reduce(user, count, a, 0);
}

static void max(void *user, int64_t count, double *a)
{
    reduce(user, count, a, 1);
}

/* ---- ring ------------------------------------------------------------------------------------------ */

static int piece(int64_t bytes, int64_t from)
{
    int64_t left = bytes - from;
    return left <= 0 ? 0 : left < MOST_BYTES ? (int)left : MOST_BYTES;
}

/* Both sides know how long what they send and receive is, and cut it alike. */
static void shift(void *user, int64_t out_bytes, const void *out, int64_t in_bytes, void *in)
{
    const bdml_mpi *m = user;
    int size = m->comm.size, next = (m->comm.rank + 1) % size,
        before = (m->comm.rank - 1 + size) % size;
    for (int64_t from = 0; from < out_bytes || from < in_bytes; from += MOST_BYTES) {
        int sends = piece(out_bytes, from), takes = piece(in_bytes, from);
        MPI_Sendrecv((const char *)out + (sends ? from : 0), sends, MPI_BYTE,
                     sends ? next : MPI_PROC_NULL, 0, (char *)in + (takes ? from : 0), takes,
                     MPI_BYTE, takes ? before : MPI_PROC_NULL, 0, m->world, MPI_STATUS_IGNORE);
    }
}

/* ---- life -------------------------------------------------------------------------------------------- */

bdml_status bdml_mpi_new(MPI_Comm world, bdml_mpi **out)
{
    bdml_mpi *m = calloc(1, sizeof *m);
    *out = m;
    if (!m) return BDML_ERR_MEMORY;
    MPI_Comm_dup(world, &m->world);
    MPI_Comm_dup(world, &m->end);
    m->comm = (bdml_comm){.sum = sum, .max = max, .shift = shift, .user = m};
    MPI_Comm_rank(m->world, &m->comm.rank);
    MPI_Comm_size(m->world, &m->comm.size);
    return BDML_OK;
}

const bdml_comm *bdml_mpi_comm(const bdml_mpi *m)
{
    return &m->comm;
}

void bdml_mpi_free(bdml_mpi *m)
{
    if (!m) return;
    MPI_Comm_free(&m->world);
    MPI_Comm_free(&m->end);
    free(m->room);
    free(m);
}

int bdml_mpi_meet(bdml_mpi *m, double seconds)
{
    const struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};
    double start = MPI_Wtime();
    MPI_Request all;
    int met = 0;
    MPI_Ibarrier(m->end, &all);
    for (;;) {
        MPI_Test(&all, &met, MPI_STATUS_IGNORE);
        if (met || MPI_Wtime() - start > seconds) return met;
        nanosleep(&nap, NULL);
    }
}
