/* ring.c - nearest neighbours among rows that are dealt out to ranks, or made a slab at a time.
 *
 * Rows go around the ring in slabs: every rank searches the slab in its hands for its own queries, keeps the k nearest so far,
 * and hands the slab on, until each slab has been in the hands of all. Distances are those of the plain double loop, and ties
 * go to the lower number, so that the result does not depend on how the rows are dealt out. Memory: two slabs beside the
 * rows. */
#include "neighbors/internal.h"

#include <stdlib.h>

/* Numbers of a slab: 32 MiB. Rows of one at least, so that a search of it is worth its preparation. */
enum { SLAB = 1 << 22, LEAST_ROWS = 1024 };

typedef struct ring {
    bdml_handle *h;
    const bdml_neighbor_options *o;
    const bdml_spread *over;
    const bdml_rows *rows, *queries;
    const int32_t *y;
    bdml_restrict which;
    int k;
    int64_t slab;          /* rows */
    double *hand, *coming; /* slab rows of d each */
    /* of one slab, and what is left of it and those before: queries rows of k */
    int32_t *index, *merged_index;
    double *distance, *merged_distance;
    double
        *within; /* of each query: the farthest that is left, beyond which nothing need be found */
} ring;

/* Rows of rank `owner` in the round that begins with row number `from` of each. */
static int64_t in_round(const ring *r, int owner, int64_t from)
{
    int64_t held = r->over->start[owner + 1] - r->over->start[owner];
    return BDML_MAX(BDML_MIN(held - from, r->slab), 0);
}

/* The k nearest of two lists, each in its order; -1 ends a list. */
static void merge(int k, const int32_t *a, const double *da, const int32_t *b, const double *db,
                  int32_t *to, double *dto)
{
    for (int i = 0, j = 0, c = 0; c < k; c++) {
        bool more_a = i < k && a[i] >= 0, more_b = j < k && b[j] >= 0;
        bool first = more_a && (!more_b || da[i] < db[j] || (da[i] == db[j] && a[i] < b[j]));
        if (!more_a && !more_b) {
            to[c] = -1;
            dto[c] = INFINITY;
        } else if (first) {
            to[c] = a[i];
            dto[c] = da[i++];
        } else {
            to[c] = b[j];
            dto[c] = db[j++];
        }
    }
}

/* The rows x, numbered from `first` on, for all queries. */
static bdml_status search_slab(ring *r, int64_t first, int64_t rows, const double *x, int64_t ld,
                               int32_t *index, double *distance)
{
    size_t k = (size_t)r->k, queries = (size_t)r->queries->n;
    if (rows == 0 || queries == 0) return BDML_OK;
    const bdml_rows here = {.n = rows,
                            .d = r->rows->d,
                            .ld = ld,
                            .x = x,
                            .y = r->y ? r->y + first : NULL,
                            .classes = r->rows->classes};
    for (size_t q = 0; q < queries; q++) r->within[q] = distance[q * k + k - 1];
    BDML_TRY(bdml_knn_search_within(r->h, r->o, &here, r->queries, r->which, r->k, r->within,
                                    r->index, r->distance));
    for (size_t e = 0; e < queries * k; e++)
        if (r->index[e] >= 0) r->index[e] += (int32_t)first;
    for (size_t q = 0; q < queries; q++)
        merge(r->k, index + q * k, distance + q * k, r->index + q * k, r->distance + q * k,
              r->merged_index + q * k, r->merged_distance + q * k);
    memcpy(index, r->merged_index, sizeof *index * queries * k);
    memcpy(distance, r->merged_distance, sizeof *distance * queries * k);
    return BDML_OK;
}

/* The slabs of one round, once around. A rank that fails goes on handing slabs on: others wait for them. */
static bdml_status go_around(ring *r, int64_t from, int32_t *index, double *distance)
{
    const bdml_comm *comm = r->over->comm;
    size_t d = (size_t)r->rows->d, ld = (size_t)r->rows->ld;
    int64_t own = in_round(r, comm->rank, from);
    bdml_status status = BDML_OK;
    for (int64_t i = 0; i < own; i++)
        memcpy(r->hand + (size_t)i * d, r->rows->x + (size_t)(from + i) * ld, sizeof *r->hand * d);
    for (int step = 0; step < comm->size; step++) {
        int owner = (comm->rank - step + comm->size) % comm->size;
        int before = (owner - 1 + comm->size) % comm->size;
        int64_t rows = in_round(r, owner, from), next = in_round(r, before, from);
        if (status == BDML_OK)
            status = search_slab(r, r->over->start[owner] + from, rows, r->hand, (int64_t)d, index,
                                 distance);
        if (step + 1 == comm->size) break;
        comm->shift(comm->user, rows * (int64_t)(d * sizeof *r->hand), r->hand,
                    next * (int64_t)(d * sizeof *r->hand), r->coming);
        double *t = r->hand;
        r->hand = r->coming;
        r->coming = t;
    }
    return status;
}

static void begin(ring *r, int32_t *index, double *distance)
{
    size_t found = (size_t)r->queries->n * (size_t)r->k;
    for (size_t e = 0; e < found; e++) {
        index[e] = -1;
        distance[e] = INFINITY;
    }
}

/* Room for what is found in one slab, and for what is merged of it. */
static bdml_status reserve(ring *r)
{
    bdml_status status = BDML_OK;
    size_t found = (size_t)r->queries->n * (size_t)r->k;
    BDML_NEW(r->h, r->index, found);
    BDML_NEW(r->h, r->merged_index, found);
    BDML_NEW(r->h, r->distance, found);
    BDML_NEW(r->h, r->merged_distance, found);
    BDML_NEW(r->h, r->within, r->queries->n);
done:
    return status;
}

static void release(ring *r)
{
    free(r->hand);
    free(r->coming);
    free(r->index);
    free(r->merged_index);
    free(r->distance);
    free(r->merged_distance);
    free(r->within);
}

/* Lists of a slab would depend on how the rows are dealt out. */
static bdml_neighbor_options exactly(const bdml_neighbor_options *o)
{
    bdml_neighbor_options exact = *o;
    if (exact.search.value == BDML_SEARCH_APPROXIMATE) exact.search.value = BDML_SEARCH_AUTO;
    return exact;
}

bdml_status bdml_knn_slabs(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                           const bdml_rows *queries, bdml_restrict which, int k, int32_t *index,
                           double *distance)
{
    bdml_status status = BDML_OK;
    const bdml_neighbor_options exact = exactly(o);
    ring r = {.h = h,
              .o = &exact,
              .rows = rows,
              .queries = queries,
              .y = rows->y,
              .which = which,
              .k = k,
              .slab = BDML_MAX(SLAB / rows->d, (int64_t)LEAST_ROWS)};

    r.slab = BDML_MIN(r.slab, BDML_MAX(rows->n, 1));
    BDML_NEW(h, r.hand, (size_t)r.slab * (size_t)rows->d);
    BDML_GO(reserve(&r));
    begin(&r, index, distance);
    for (int64_t from = 0; from < rows->n; from += r.slab) {
        int64_t now = BDML_MIN(r.slab, rows->n - from);
        bdml_rows_copy(rows, now, NULL, from, r.hand);
        BDML_GO(search_slab(&r, from, now, r.hand, rows->d, index, distance));
    }
done:
    release(&r);
    return status;
}

bdml_status bdml_knn_ring(bdml_handle *h, const bdml_neighbor_options *o, const bdml_spread *over,
                          const bdml_rows *rows, const int32_t *y, const bdml_rows *queries,
                          bdml_restrict which, int k, int32_t *index, double *distance)
{
    bdml_status status = BDML_OK;
    const bdml_neighbor_options exact = exactly(o);
    ring r = {.h = h,
              .o = &exact,
              .over = over,
              .rows = rows,
              .queries = queries,
              .y = y,
              .which = which,
              .k = k,
              .slab = BDML_MAX(SLAB / rows->d, (int64_t)LEAST_ROWS)};
    int64_t most = 0;

    for (int p = 0; p < over->comm->size; p++)
        most = BDML_MAX(most, over->start[p + 1] - over->start[p]);
    r.slab = BDML_MIN(r.slab, most);
    BDML_NEW(h, r.hand, (size_t)r.slab * (size_t)rows->d);
    BDML_NEW(h, r.coming, (size_t)r.slab * (size_t)rows->d);
    BDML_GO(reserve(&r));
    begin(&r, index, distance);
    for (int64_t from = 0; from < most; from += r.slab)
        BDML_GO(bdml_comm_agree(h, over->comm, go_around(&r, from, index, distance)));
done:
    release(&r);
    return status;
}
