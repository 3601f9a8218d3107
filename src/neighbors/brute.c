/* brute.c - all distances by tiles of matrix products, within a bound on memory.
 *
 * internal.h says how a tile proves most rows out. Tiles run on all threads in any order: a query's
 * result is the k first of a total order whatever was tried first, so the bits do not depend on it. */
#include "neighbors/internal.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

/* A tile of BLOCK^2 doubles is 512 KiB: it stays in the second-level cache between product and scan,
 * and the product runs at full speed. Memory may ask for less, down to BLOCK_LEAST. */
enum { BLOCK = 256, BLOCK_LEAST = 16 };

/* Candidates of a query: room to collect, so that pruning is rare. */
enum { ROOM = 32 };

static int64_t blocks_of(const bdml_knn_brute *b, int64_t rows)
{
    return (rows + b->block - 1) / b->block;
}

static int64_t whole_blocks(const bdml_knn_brute *b, double rows, int64_t n)
{
    int64_t all = blocks_of(b, n);
    int64_t fit = rows < (double)n ? (int64_t)BDML_MAX(rows, 0.0) / b->block : all;
    return BDML_MIN(BDML_MAX(fit, 1), all) * b->block;
}

/* ---- plan ------------------------------------------------------------------------------------------ */

static void plan(bdml_knn_brute *b, size_t real)
{
    const bdml_knn_task *t = b->t;
    double memory = (double)bdml_memory(t->h);
    double size = (double)real, row = size * t->d;

    b->capacity = (int)BDML_MIN(2 * (int64_t)t->k + ROOM, BDML_MAX(t->reference.n, 1));
    b->block = BLOCK;
    while (b->block > BLOCK_LEAST && (b->threads * size * b->block * b->block > memory / 4 ||
                                      2.0 * row * b->block > memory / 4))
        b->block /= 2;
    double per_thread = size * b->block * b->block + (size + sizeof(bdml_knn_pair)) * b->capacity;
    double per_query = (size + sizeof(int32_t)) * (b->capacity + 1.0);
    double whole = row * (double)t->reference.n, left = memory - b->threads * per_thread;
    double state = per_query * (double)t->query.n;

    b->whole = whole <= memory / 2;
    if (b->whole) left -= whole;
    b->both = t->self && state <= (b->whole ? left : left / 2);
    if (b->both) {
        b->chunk_q = b->chunk_r =
            whole_blocks(b, b->whole ? INFINITY : (left - state) / row / 2, t->query.n);
    } else {
        b->chunk_q = whole_blocks(b, left / (b->whole ? 1 : 2) / (row + per_query), t->query.n);
        b->chunk_r = whole_blocks(b, b->whole ? INFINITY : left / 2 / row, t->reference.n);
    }
    b->held = b->both ? t->query.n : BDML_MIN(b->chunk_q, t->query.n);
}

static bdml_status reserve(bdml_knn_brute *b, size_t real)
{
    bdml_handle *h = b->t->h;
    size_t d = (size_t)b->t->d, held = (size_t)b->held, threads = (size_t)b->threads;
    size_t queries = (size_t)b->t->query.n;
    size_t capacity = (size_t)b->capacity, block = (size_t)b->block;
    bool self = b->t->self, apart = !(b->whole && b->both);
    bool ok =
        (b->low_q = self ? b->low_r : bdml_alloc(h, queries, real)) &&
        (b->wide_q = self ? b->wide_r : bdml_alloc(h, queries, real)) &&
        (b->pack_q = apart ? bdml_alloc(h, (size_t)b->chunk_q * d, real) : b->frame->pack) &&
        (b->pack_r = b->whole ? b->frame->pack : bdml_alloc(h, (size_t)b->chunk_r * d, real)) &&
        (b->count = bdml_alloc(h, held, sizeof *b->count)) &&
        (b->limit = bdml_alloc(h, held, real)) &&
        (b->value = bdml_alloc(h, held, capacity * real)) &&
        (b->slot = bdml_alloc(h, held, capacity * sizeof *b->slot)) &&
        (b->tile = bdml_alloc(h, threads * block * block, real)) &&
        (b->high = bdml_alloc(h, threads * capacity, real)) &&
        (b->pair = bdml_alloc(h, threads * capacity, sizeof *b->pair));
    return ok ? BDML_OK : BDML_ERR_MEMORY;
}

static void release(bdml_knn_brute *b)
{
    if (b->low_q != b->low_r) free(b->low_q);
    if (b->wide_q != b->wide_r) free(b->wide_q);
    if (b->pack_q != b->frame->pack) free(b->pack_q);
    if (b->pack_r != b->frame->pack) free(b->pack_r);
    void *owned[] = {b->count, b->limit, b->value, b->slot, b->tile, b->high, b->pair};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- tiles ------------------------------------------------------------------------------------------- */

/* Whether any query of the block may be matched with any reference row of the other block. */
static bool matters(const bdml_knn_brute *b, int64_t q, int nq, int64_t r, int nr)
{
    const bdml_knn_rows *rows = &b->t->query;
    if (b->t->which == BDML_ANY_CLASS) return true;
    int64_t from = rows->from[q], to = rows->to[q + nq - 1];
    if (b->t->which == BDML_SAME_CLASS) return from < r + nr && r < to;
    /* Out only if all queries are of one class and the reference rows lie inside it. */
    return !(rows->from[q + nq - 1] == from && rows->to[q] == to && from <= r && r + nr <= to);
}

static void pack(const bdml_knn_brute *b, const bdml_knn_rows *rows, int64_t first, int64_t count,
                 void *to)
{
    const bdml_knn_frame *f = b->frame;
    int64_t blocks = blocks_of(b, count);
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t i = 0; i < blocks; i++) {
        int64_t at = i * b->block;
        f->kernel->pack(f, b->t->d, rows, first + at, BDML_MIN(b->block, count - at), to, at);
    }
}

static bdml_status finish(bdml_knn_brute *b, const bdml_knn_kernel *kernel, bdml_knn_progress *p)
{
    enum {
        SOME = 64
    }; /* queries between two looks at the clock: of many neighbours each takes long */
#pragma omp parallel for schedule(dynamic) num_threads(b->threads)
    for (int64_t i = 0; i < b->held; i += SOME) {
        int thread = omp_get_thread_num();
        if (bdml_knn_step(p, thread)) continue;
        for (int64_t q = i; q < BDML_MIN(b->held, i + SOME); q++)
            kernel->finish(b, b->first + q, thread);
    }
    return p->status;
}

/* ---- queries apart from reference rows ----------------------------------------------------------------- */

static void search_chunk(bdml_knn_brute *b, const bdml_knn_kernel *kernel, int64_t r0,
                         int64_t count_r, bdml_knn_progress *p)
{
    /* Few queries: smaller blocks, so that all threads have some. */
    int64_t parts = 2 * (int64_t)b->threads, share = (b->held + parts - 1) / parts;
    int64_t rows = BDML_MIN(BDML_MAX(share, BLOCK_LEAST), b->block);
    int64_t blocks = (b->held + rows - 1) / rows;
#pragma omp parallel for schedule(dynamic) num_threads(b->threads)
    for (int64_t i = 0; i < blocks; i++) {
        int thread = omp_get_thread_num();
        int64_t q = i * rows;
        int nq = (int)BDML_MIN(rows, b->held - q);
        for (int64_t r = 0; r < count_r; r += b->block) {
            int nr = (int)BDML_MIN(b->block, count_r - r);
            if (bdml_knn_step(p, thread)) break;
            if (!matters(b, b->first + q, nq, r0 + r, nr)) continue;
            kernel->product(b, b->pack_q, q, nq, b->pack_r, r, nr, thread);
            kernel->scan(b, b->first + q, nq, r0 + r, nr, thread);
        }
    }
}

static bdml_status search_apart(bdml_knn_brute *b, const bdml_knn_kernel *kernel)
{
    const bdml_knn_rows *ref = &b->t->reference, *query = &b->t->query;
    bdml_knn_progress p = {.h = b->t->h};
    p.total = blocks_of(b, query->n) * blocks_of(b, ref->n) + 1;

    for (b->first = 0; b->first < query->n; b->first += b->chunk_q) {
        b->held = BDML_MIN(b->chunk_q, query->n - b->first);
        kernel->reset(b);
        bool told = b->t->guess || b->t->within;
        for (int64_t i = 0; told && i < b->held; i++) kernel->start_from(b, b->first + i);
        pack(b, query, b->first, b->held, b->pack_q);
        for (int64_t r = 0; r < ref->n; r += b->chunk_r) {
            int64_t count = BDML_MIN(b->chunk_r, ref->n - r);
            if (!b->whole) pack(b, ref, r, count, b->pack_r);
            search_chunk(b, kernel, r, count, &p);
            BDML_TRY(p.status);
        }
        BDML_TRY(finish(b, kernel, &p));
    }
    return BDML_OK;
}

/* ---- queries = reference rows: each tile serves both sides ----------------------------------------------- */

/* The product needs no lock; the scan changes the candidates of both blocks and holds both, the lower
 * first. */
static void tile_both(bdml_knn_brute *b, const bdml_knn_kernel *kernel, pthread_mutex_t *lock,
                      int64_t q0, int64_t q, int64_t r0, int64_t r)
{
    int thread = omp_get_thread_num();
    int64_t n = b->t->query.n, first = BDML_MIN(q, r) / b->block, last = BDML_MAX(q, r) / b->block;
    int nq = (int)BDML_MIN(b->block, n - q), nr = (int)BDML_MIN(b->block, n - r);

    if (!matters(b, q, nq, r, nr)) return;
    kernel->product(b, b->pack_q, q - q0, nq, q0 == r0 ? b->pack_q : b->pack_r, r - r0, nr, thread);
    pthread_mutex_lock(&lock[first]);
    if (last != first) pthread_mutex_lock(&lock[last]);
    kernel->scan(b, q, nq, r, nr, thread);
    if (last != first) pthread_mutex_unlock(&lock[last]);
    pthread_mutex_unlock(&lock[first]);
}

/* Blocks of two chunks, q0 <= r0: along diagonals, so that tiles run at once seldom share a block. */
static void search_chunks(bdml_knn_brute *b, const bdml_knn_kernel *kernel, pthread_mutex_t *lock,
                          int64_t q0, int64_t r0, bdml_knn_progress *p)
{
    int64_t n = b->t->query.n;
    int64_t blocks_q = blocks_of(b, BDML_MIN(b->chunk_q, n - q0));
    int64_t blocks_r = blocks_of(b, BDML_MIN(b->chunk_q, n - r0));
#pragma omp parallel num_threads(b->threads)
    for (int64_t shift = 0; shift < blocks_r; shift++) {
        int64_t count = q0 == r0 ? blocks_q - shift : blocks_q;
#pragma omp for schedule(dynamic) nowait
        for (int64_t i = 0; i < count; i++) {
            if (bdml_knn_step(p, omp_get_thread_num())) continue;
            tile_both(b, kernel, lock, q0, q0 + i * b->block, r0,
                      r0 + (i + shift) % blocks_r * b->block);
        }
    }
}

static bdml_status search_both(bdml_knn_brute *b, const bdml_knn_kernel *kernel)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = b->t->h;
    const bdml_knn_rows *rows = &b->t->query;
    int64_t n = rows->n, blocks = blocks_of(b, n);
    bdml_knn_progress p = {.h = h, .total = blocks * (blocks + 1) / 2 + 1};
    pthread_mutex_t *lock = NULL;

    BDML_NEW(h, lock, blocks);
    for (int64_t i = 0; i < blocks; i++) pthread_mutex_init(&lock[i], NULL);
    kernel->reset(b);
    for (int64_t q = 0; q < n; q += b->chunk_q) {
        if (!b->whole) pack(b, rows, q, BDML_MIN(b->chunk_q, n - q), b->pack_q);
        for (int64_t r = q; r < n; r += b->chunk_q) {
            if (r != q) pack(b, rows, r, BDML_MIN(b->chunk_q, n - r), b->pack_r);
            search_chunks(b, kernel, lock, q, r, &p);
            BDML_GO(p.status);
        }
    }
    status = finish(b, kernel, &p);
done:
    for (int64_t i = 0; lock && i < blocks; i++) pthread_mutex_destroy(&lock[i]);
    free(lock);
    return status;
}

/* All reference rows, once for all searches that keep the frame. */
static bdml_status pack_whole(const bdml_knn_brute *b, bdml_knn_frame *f)
{
    size_t n = (size_t)b->t->reference.n;
    if (!b->whole || f->pack) return BDML_OK;
    f->pack = bdml_alloc(b->t->h, n * (size_t)b->t->d, f->kernel->size);
    if (!f->pack) return BDML_ERR_MEMORY;
    pack(b, &b->t->reference, 0, b->t->reference.n, f->pack);
    return BDML_OK;
}

bdml_status bdml_knn_brute_search(bdml_knn_task *t, bool *usable)
{
    bdml_status status = BDML_OK;
    bdml_knn_frame *f = &t->in->frame;
    double products = (double)t->reference.n * (double)t->query.n * (double)t->d;
    bdml_knn_brute b = {.t = t,
                        .frame = f,
                        .threads = bdml_threads_for(t->h, products),
                        .wide = BDML_KNN_HAS_WIDE()};

    BDML_TRY(bdml_knn_frame_fit(t, b.threads, usable));
    if (!*usable) return BDML_OK;
    const bdml_knn_kernel *kernel = f->kernel;
    b.low_r = f->low;
    b.wide_r = f->wide;
    plan(&b, kernel->size);
    BDML_GO(pack_whole(&b, f));
    BDML_GO(reserve(&b, kernel->size));
    if (!t->self) bdml_knn_frame_measure(f, t->d, b.threads, &t->query, b.low_q, b.wide_q);
    BDML_GO(b.both ? search_both(&b, kernel) : search_apart(&b, kernel));
done:
    release(&b);
    return status;
}
