/* spread.c - rows dealt out to ranks, copies of them for others, and what is wrong with one rank's. */
#include "base/base.h"

#include <stdlib.h>

bdml_status bdml_spread_new(bdml_handle *h, const bdml_comm *comm, int64_t own, bdml_spread **out)
{
    bdml_status status = BDML_OK;
    bdml_spread *s = NULL;
    double *count = NULL;

    *out = NULL;
    BDML_NEW(h, count, comm->size);
    BDML_NEW(h, s, 1);
    BDML_NEW(h, s->start, comm->size + 1);
    s->comm = comm;
    bdml_comm_counts(comm, own, count);
    for (int k = 0; k < comm->size; k++) s->start[k + 1] = s->start[k] + (int64_t)count[k];
done:
    free(count);
    if (status == BDML_OK)
        *out = s;
    else
        bdml_spread_free(s);
    return status;
}

void bdml_spread_free(bdml_spread *s)
{
    if (!s) return;
    free(s->start);
    free(s);
}

bdml_stretch bdml_spread_stretch(const bdml_comm *comm, int rank, int64_t n)
{
    int64_t each = bdml_block_rows(n), blocks = (n + each - 1) / each;
    bdml_stretch own = bdml_comm_stretch(comm, rank, blocks);
    return (bdml_stretch){BDML_MIN(own.first * each, n), BDML_MIN(own.end * each, n)};
}

/* ---- sums ------------------------------------------------------------------------------------------- */

/* One rank's at a time: rank k's is what the others add nothing to. */
double bdml_comm_twofold(const bdml_comm *comm, double hi, double lo)
{
    double sum = 0.0, rest = 0.0;
    for (int k = 0; k < comm->size; k++) {
        double part[2] = {k == comm->rank ? hi : 0.0, k == comm->rank ? lo : 0.0};
        bdml_comm_sum(comm, 2, part);
        bdml_twofold_add(&sum, &rest, part[0]);
        rest += part[1];
    }
    return sum + rest;
}

bdml_status bdml_spread_twofold(bdml_handle *h, const bdml_spread *s, int64_t count, double *hi,
                                double *lo)
{
    bdml_status status = BDML_OK;
    size_t size = s ? (size_t)s->comm->size : 1, n = (size_t)count;
    double *all = NULL, *each = NULL;

    if (!s) return BDML_OK;
    BDML_NEW(h, all, size * 2 * n);
    BDML_NEW(h, each, size);
    for (size_t k = 0; k < size; k++) each[k] = 2.0 * (double)count;
    double *own = all + (size_t)s->comm->rank * 2 * n;
    memcpy(own, hi, sizeof *hi * n);
    memcpy(own + n, lo, sizeof *lo * n);
    bdml_comm_gather(s->comm, each, sizeof *all, all);
    for (size_t j = 0; j < n; j++) {
        hi[j] = lo[j] = 0.0;
        for (size_t k = 0; k < size; k++) {
            bdml_twofold_add(hi + j, lo + j, all[k * 2 * n + j]);
            lo[j] += all[k * 2 * n + n + j];
        }
    }
done:
    free(all);
    free(each);
    return status;
}

/* ---- copies of rows of others ----------------------------------------------------------------------- */

enum { SLAB = 1 << 20 }; /* numbers of one question on its way: 8 MiB */

/* What one rank asks for in one round, on its way around the ring: numbers of rows, and the rows themselves. */
typedef struct question {
    int64_t *row;
    double *x;
} question;

static void free_question(question *q)
{
    free(q->row);
    free(q->x);
}

static bdml_status new_question(bdml_handle *h, int64_t rows, int d, question *q)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, q->row, rows);
    q->x = bdml_alloc(h, (size_t)rows * (size_t)d, sizeof *q->x);
    if (!q->x) status = BDML_ERR_MEMORY;
done:
    return status;
}

/* The rows that are here. */
static void answer(const bdml_spread *s, int d, const double *x, int64_t ld, int64_t count,
                   question *q)
{
    int64_t first = bdml_spread_first(s), end = s->start[s->comm->rank + 1];
    for (int64_t i = 0; i < count; i++) {
        int64_t row = q->row[i];
        if (row < first || row >= end) continue;
        memcpy(q->x + (size_t)i * (size_t)d, x + (size_t)(row - first) * (size_t)ld,
               sizeof *x * (size_t)d);
    }
}

/* Rows that a rank, which wants `all`, asks for in the round that begins with number `from`. */
static int64_t in_round(double all, int64_t from, int64_t slab)
{
    return BDML_MAX(BDML_MIN((int64_t)all - from, slab), 0);
}

bdml_status bdml_spread_fetch(bdml_handle *h, const bdml_spread *s, int d, const double *x,
                              int64_t ld, int64_t count, const int64_t *row, double *out)
{
    bdml_status status = BDML_OK;
    question here = {0}, next = {0};
    double *wanted = NULL;
    size_t width = (size_t)d;
    int64_t slab = BDML_MAX(SLAB / d, 1), most = 0;

    if (!s) {
        for (int64_t i = 0; i < count; i++)
            memcpy(out + (size_t)i * width, x + (size_t)row[i] * (size_t)ld, sizeof *x * width);
        return BDML_OK;
    }
    const bdml_comm *comm = s->comm;
    BDML_NEW(h, wanted, comm->size);
    bdml_comm_counts(comm, count, wanted);
    for (int k = 0; k < comm->size; k++) most = BDML_MAX(most, (int64_t)wanted[k]);
    slab = BDML_MIN(slab, most);
    BDML_GO(new_question(h, slab, d, &here));
    BDML_GO(new_question(h, slab, d, &next));
    for (int64_t from = 0; from < most; from += slab) {
        int64_t own = in_round(wanted[comm->rank], from, slab);
        if (own > 0) memcpy(here.row, row + from, sizeof *row * (size_t)own);
        for (int step = 0; step < comm->size; step++) { /* that of rank - step is here */
            int asks = (comm->rank - step + comm->size) % comm->size;
            int before = (asks - 1 + comm->size) % comm->size;
            int64_t rows = in_round(wanted[asks], from, slab),
                    coming = in_round(wanted[before], from, slab);
            answer(s, d, x, ld, rows, &here);
            comm->shift(comm->user, rows * (int64_t)sizeof *here.row, here.row,
                        coming * (int64_t)sizeof *next.row, next.row);
            comm->shift(comm->user, rows * (int64_t)(width * sizeof *here.x), here.x,
                        coming * (int64_t)(width * sizeof *next.x), next.x);
            question t = here;
            here = next;
            next = t;
        }
        if (own > 0) memcpy(out + (size_t)from * width, here.x, sizeof *x * width * (size_t)own);
    }
done:
    free_question(&here);
    free_question(&next);
    free(wanted);
    return status;
}

/* ---- what is wrong with one rank's ------------------------------------------------------------------- */

bdml_status bdml_comm_agree(bdml_handle *h, const bdml_comm *comm, bdml_status status)
{
    char error[BDML_ERROR_SIZE];
    if (comm->size == 1) return status;
    double failed = bdml_comm_total(comm, status != BDML_OK);
    if (failed == 0.0 || failed == comm->size) return status;
    double first = bdml_comm_least(comm, status != BDML_OK ? comm->rank : comm->size);
    bool mine = comm->rank == (int)first;
    status = (bdml_status)bdml_comm_total(comm, mine ? (double)status : 0.0);
    snprintf(error, sizeof error, "%s", mine ? bdml_last_error(h) : "");
    bdml_comm_text(comm, mine, sizeof error, error);
    return bdml_fail(h, status, "rank %d of %d: %s", (int)first, comm->size, error);
}

bdml_status bdml_spread_agree(bdml_handle *h, const bdml_spread *s, bdml_status status)
{
    return s ? bdml_comm_agree(h, s->comm, status) : status;
}
