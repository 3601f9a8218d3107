/* comm.c - what is made of the three calls of a communicator. */
#include "base/base.h"

const bdml_comm bdml_comm_serial = {.size = 1};

bdml_status bdml_set_comm(bdml_handle *h, const bdml_comm *comm)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (comm && (comm->size < 1 || comm->rank < 0 || comm->rank >= comm->size))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rank %d of %d: ranks are 0 .. size-1", comm->rank,
                         comm->size);
    if (comm && comm->size > 1 && (!comm->sum || !comm->max || !comm->shift))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a communicator of %d ranks needs its calls sum, max and shift",
                         comm->size);
    h->comm = comm ? comm : &bdml_comm_serial;
    return BDML_OK;
}

/* Columns from the diagonal down, one after the other at the beginning of a, and back: no column moves over one that
 * has not been moved yet. */
void bdml_comm_sum_symmetric(const bdml_comm *comm, int d, double *a)
{
    size_t n = (size_t)d, packed = 0;
    if (comm->size == 1) return;
    for (size_t j = 0; j < n; j++) {
        memmove(a + packed, a + j * n + j, sizeof *a * (n - j));
        packed += n - j;
    }
    bdml_comm_sum(comm, (int64_t)packed, a);
    for (size_t j = n; j-- > 0;) {
        packed -= n - j;
        memmove(a + j * n + j, a + packed, sizeof *a * (n - j));
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) a[i * n + j] = a[j * n + i];
}

/* The sum so far goes from each rank to the next, ... */
void bdml_comm_chain_begin(const bdml_comm *comm, int64_t count, double *total)
{
    int64_t bytes = count * (int64_t)sizeof *total;
    memset(total, 0, (size_t)bytes);
    for (int k = 1; k <= comm->rank; k++)
        comm->shift(comm->user, 0, total, comm->rank == k ? bytes : 0, total);
}

/* ... and from the last to all. */
void bdml_comm_chain_end(const bdml_comm *comm, int64_t count, double *total)
{
    int64_t bytes = count * (int64_t)sizeof *total;
    for (int k = comm->rank + 1; k < comm->size; k++)
        comm->shift(comm->user, comm->rank == k - 1 ? bytes : 0, total, 0, total);
    if (comm->rank + 1 < comm->size) memset(total, 0, (size_t)bytes);
    bdml_comm_sum(comm, count, total);
}

void bdml_comm_chain(const bdml_comm *comm, int64_t count, int64_t blocks, int64_t stride,
                     const double *part, double *total)
{
    bdml_comm_chain_begin(comm, count, total);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t e = 0; e < count; e++) total[e] += part[b * stride + e];
    bdml_comm_chain_end(comm, count, total);
}

bdml_stretch bdml_comm_stretch(const bdml_comm *comm, int rank, int64_t total)
{
    int64_t each = total / comm->size, more = total % comm->size;
    int64_t first = rank * each + BDML_MIN(rank, more);
    return (bdml_stretch){first, first + each + (rank < more)};
}

void bdml_comm_counts(const bdml_comm *comm, int64_t own, double *count)
{
    for (int k = 0; k < comm->size; k++) count[k] = k == comm->rank ? (double)own : 0.0;
    bdml_comm_sum(comm, comm->size, count);
}

void bdml_comm_text(const bdml_comm *comm, bool own, size_t size, char *text)
{
    double letter[BDML_ERROR_SIZE];
    for (size_t from = 0; from < size; from += BDML_ERROR_SIZE) {
        size_t count = BDML_MIN(size - from, (size_t)BDML_ERROR_SIZE);
        for (size_t i = 0; i < count; i++) letter[i] = own ? (unsigned char)text[from + i] : 0.0;
        bdml_comm_sum(comm, (int64_t)count, letter);
        for (size_t i = 0; i < count; i++) text[from + i] = (char)(unsigned char)letter[i];
    }
}

static size_t bytes_before(const double *count, int rank, size_t size)
{
    size_t items = 0;
    for (int k = 0; k < rank; k++) items += (size_t)count[k];
    return items * size;
}

void bdml_comm_gather(const bdml_comm *comm, const double *count, size_t size, void *all)
{
    char *base = all;
    for (int step = 0; step + 1 < comm->size; step++) {
        int out = (comm->rank - step + comm->size) % comm->size;
        int in = (out - 1 + comm->size) % comm->size;
        comm->shift(comm->user, (int64_t)((size_t)count[out] * size),
                    base + bytes_before(count, out, size), (int64_t)((size_t)count[in] * size),
                    base + bytes_before(count, in, size));
    }
}
