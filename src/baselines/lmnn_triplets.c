/* lmnn_triplets.c - the triplets of lmnn.c: those to begin with, and those whose margin a metric misses.
 *
 * Of the n k n possible triplets only those are ever held whose impostor l is too near: D(i,l) < D(i,j) + 1,
 * and of these the nearest few impostors of each point. All distances are looked at, in blocks. */
#include "baselines/lmnn.h"

#include <omp.h>
#include <stdlib.h>

#include "linalg/linalg.h"

void bdml_lmnn_free(bdml_lmnn *a)
{
    free(a->target);
    memset(a, 0, sizeof *a);
}

/* z = map x, the caller's; map NULL: x itself. */
static bdml_status mapped(bdml_handle *h, const bdml_lmnn *a, int q, const double *map, double **z)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    *z = NULL;
    if (!map) return BDML_OK;
    BDML_NEW(h, *z, (size_t)a->n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, a->d));
    bdml_la_map_rows(h, q, a->d, map, a->n, a->x, a->d, *z, ws);
done:
    free(ws);
    return status;
}

bdml_status bdml_lmnn_targets(bdml_handle *h, const bdml_neighbor_options *o, int q,
                              const double *map, bdml_lmnn *a)
{
    bdml_status status = BDML_OK;
    double *z = NULL;

    free(a->target);
    a->target = NULL;
    BDML_GO(mapped(h, a, q, map, &z));
    BDML_NEW(h, a->target, (size_t)a->n * (size_t)a->k);
    const bdml_rows rows = {a->n, map ? q : a->d, map ? q : a->d, map ? z : a->x, a->y, 0, NULL};
    BDML_GO(bdml_knn_search(h, o, &rows, NULL, BDML_SAME_CLASS, a->k, a->target, NULL));
    a->targets = 0;
    for (int64_t e = 0; e < a->n * a->k; e++) a->targets += a->target[e] >= 0;
done:
    free(z);
    return status;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

typedef struct triplets {
    int32_t *row; /* 3 each */
    size_t count, capacity, most;
} triplets;

/* Doubling, but never to more than there can be. list->count < list->most. */
static bdml_status add_triplet(bdml_handle *h, triplets *list, int32_t i, int32_t j, int32_t k)
{
    if (list->count == list->capacity) {
        size_t want = BDML_MIN(BDML_MAX(2 * list->capacity, 1024), list->most);
        int32_t *more = bdml_realloc(h, list->row, want, 3 * sizeof *more);
        if (!more) return BDML_ERR_MEMORY;
        list->row = more;
        list->capacity = want;
    }
    int32_t *row = list->row + 3 * list->count++;
    row[0] = i, row[1] = j, row[2] = k;
    return BDML_OK;
}

bdml_status bdml_lmnn_build(bdml_handle *h, const bdml_lmnn *a, int64_t m, const int32_t *rows,
                            bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    int32_t *pairs = NULL;
    int64_t count = 0;
    BDML_NEW(h, pairs, 2 * a->targets);
    for (int64_t e = 0; e < a->n * a->k; e++) {
        if (a->target[e] < 0) continue;
        pairs[2 * count] = (int32_t)(e / a->k);
        pairs[2 * count++ + 1] = a->target[e];
    }
    status = bdml_constraints_build(h, a->n, count, pairs, m, rows, NULL, NULL, out);
done:
    free(pairs);
    return status;
}

bdml_status bdml_lmnn_first(bdml_handle *h, const bdml_neighbor_options *o, const bdml_lmnn *a,
                            int count, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    int32_t *impostor = NULL;
    triplets list = {0};

    BDML_NEW(h, impostor, (size_t)a->n * (size_t)count);
    const bdml_rows rows = {a->n, a->d, a->d, a->x, a->y, 0, NULL};
    BDML_GO(bdml_knn_search(h, o, &rows, NULL, BDML_OTHER_CLASS, count, impostor, NULL));
    list.most = (size_t)a->targets * (size_t)count;
    for (int64_t i = 0; i < a->n; i++)
        for (int j = 0; j < a->k; j++)
            for (int l = 0; l < count; l++) {
                int32_t near = a->target[i * a->k + j], far = impostor[i * count + l];
                if (near >= 0 && far >= 0) BDML_GO(add_triplet(h, &list, (int32_t)i, near, far));
            }
    free(impostor);
    impostor = NULL;
    status = bdml_lmnn_build(h, a, (int64_t)list.count, list.row, out);
done:
    free(impostor);
    free(list.row);
    return status;
}

/* ---- missed margins ------------------------------------------------------------------------------------ */

enum { ROWS = BDML_LMNN_ROWS };

typedef struct scan {
    const bdml_lmnn *a;
    int q, most;           /* impostors kept of a row */
    const double *z;       /* n rows of q */
    double *norm;          /* |z_i|^2 */
    double *near, *radius; /* n*k distances of the targets; per row the largest and the margin */
    double *tile;          /* per thread: n x ROWS */
    double *push;          /* per row: sum of its misses */
    bdml_keys held;        /* triplets that are not to be listed, */
    int64_t room;          /* and how many may be */
    int64_t from, part;    /* rows looked at together, and of each of these: */
    int32_t *kept, *count; /* `most` rows of other classes, nearest first, and how many */
    double *far;           /* their distances */
} scan;

static void free_scan(scan *s)
{
    free(s->norm);
    free(s->near);
    free(s->radius);
    free(s->tile);
    free(s->push);
    free(s->kept);
    free(s->count);
    free(s->far);
    bdml_keys_free(&s->held);
    memset(s, 0, sizeof *s);
}

static double distance(int q, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < q; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* Targets' distances; returns their sum. */
static double target_distances(scan *s)
{
    const bdml_lmnn *a = s->a;
    double sum = 0.0;
    for (int64_t i = 0; i < a->n; i++) {
        s->norm[i] = bdml_la_dot(s->q, COL(s->z, s->q, i), COL(s->z, s->q, i));
        s->radius[i] = -INFINITY;
        for (int j = 0; j < a->k; j++) {
            int32_t t = a->target[i * a->k + j];
            double v = t < 0 ? -INFINITY : distance(s->q, COL(s->z, s->q, i), COL(s->z, s->q, t));
            s->near[i * a->k + j] = v;
            s->radius[i] = BDML_MAX(s->radius[i], v + 1.0);
            if (t >= 0) sum += v;
        }
    }
    return sum;
}

/* Put row l at distance v among the nearest of row i. */
static void offer(scan *s, int64_t i, int32_t l, double v)
{
    int64_t r = i - s->from;
    int32_t *kept = s->kept + r * s->most;
    double *far = s->far + r * s->most;
    int at = s->count[r];
    if (at == s->most) {
        if (v >= far[at - 1]) return;
        at--;
    } else {
        s->count[r]++;
    }
    for (; at > 0 && far[at - 1] > v; at--) {
        far[at] = far[at - 1];
        kept[at] = kept[at - 1];
    }
    far[at] = v;
    kept[at] = l;
}

/* tile: -2 z_i'z_l for all l. */
static void scan_row(scan *s, int64_t i, const double *tile)
{
    const bdml_lmnn *a = s->a;
    const double *near = s->near + i * a->k;
    double limit = s->radius[i] - s->norm[i], push = 0.0;
    s->count[i - s->from] = 0;
    for (int64_t l = 0; l < a->n; l++) {
        if (tile[l] + s->norm[l] >= limit || a->y[l] == a->y[i]) continue;
        double v = tile[l] + s->norm[l] + s->norm[i];
        for (int j = 0; j < a->k; j++) push += BDML_MAX(near[j] + 1.0 - v, 0.0);
        offer(s, i, (int32_t)l, v);
    }
    s->push[i] = push;
}

/* Rows s->from .. to-1; false where the clock (bdml_now) reached `until` before: what there is then is no answer. */
static bool scan_part(bdml_handle *h, scan *s, int64_t to, double until)
{
    int n = (int)s->a->n;
    int64_t blocks = (to - s->from + ROWS - 1) / ROWS;
    bool late = false;
#pragma omp parallel for schedule(dynamic) num_threads(bdml_threads(h))
    for (int64_t b = 0; b < blocks; b++) {
        bool over;
#pragma omp atomic read
        over = late;
        if (over) continue;
        if (until > 0.0 && bdml_now() >= until) {
#pragma omp atomic write
            late = true;
            continue;
        }
        double *tile = s->tile + (size_t)omp_get_thread_num() * (size_t)n * ROWS;
        int64_t i0 = s->from + b * ROWS;
        int rows = (int)BDML_MIN((int64_t)ROWS, to - i0);
        bdml_la_gemm('T', 'N', n, rows, s->q, -2.0, s->z, s->q, COL(s->z, s->q, i0), s->q, 0.0,
                     tile, n);
        for (int k = 0; k < rows; k++) scan_row(s, i0 + k, COL(tile, n, k));
    }
    return !late;
}

/* Target number e (row and place) and impostor l as one number. */
static uint64_t triplet_key(int64_t e, int32_t l)
{
    return (uint64_t)e << 32 | (uint64_t)l;
}

/* The triplets that are held already. */
static bdml_status know_held(bdml_handle *h, const bdml_lmnn *a, const bdml_constraints *c,
                             bdml_keys *held)
{
    BDML_TRY(bdml_keys_reserve(h, held, c->m));
    for (int64_t t = 0; t < c->m; t++) {
        int32_t row[3], id;
        bdml_constraints_at(c, t, row);
        for (int64_t e = row[0] * (int64_t)a->k; e < (row[0] + (int64_t)1) * a->k; e++)
            if (a->target[e] == row[1])
                BDML_TRY(bdml_keys_add(h, held, triplet_key(e, row[2]), &id));
    }
    return BDML_OK;
}

/* Triplets of the impostors kept with every target that they are too near to, but for those that are held: of a row those of its
 * nearest impostors, as many as it has room for. */
static bdml_status list_missed(bdml_handle *h, const scan *s, int64_t to, triplets *list)
{
    const bdml_lmnn *a = s->a;
    size_t each = (size_t)BDML_MAX(s->room / a->n, a->k);
    for (int64_t i = s->from; i < to; i++) {
        const int32_t *kept = s->kept + (i - s->from) * s->most;
        const double *far = s->far + (i - s->from) * s->most;
        size_t end = BDML_MIN(list->count + each, (size_t)s->room);
        for (int b = 0; b < s->count[i - s->from] && list->count < end; b++)
            for (int64_t e = i * a->k; e < (i + 1) * a->k && list->count < end; e++)
                if (s->near[e] + 1.0 > far[b] &&
                    bdml_keys_find(&s->held, triplet_key(e, kept[b])) < 0)
                    BDML_TRY(add_triplet(h, list, (int32_t)i, a->target[e], kept[b]));
    }
    return BDML_OK;
}

/* How many rows there is room for, with the impostors that may be kept of each. */
static int64_t rows_together(const scan *s, size_t bytes)
{
    size_t row = (size_t)s->most * (sizeof *s->kept + sizeof *s->far) + sizeof *s->count;
    size_t rows = BDML_MAX(bytes / row, ROWS) / ROWS * ROWS;
    return (int64_t)BDML_MIN(rows, (size_t)s->a->n);
}

bdml_status bdml_lmnn_missed(bdml_handle *h, const bdml_lmnn *a, int q, const double *map, int most,
                             const bdml_constraints *c, int64_t room, size_t bytes, double until,
                             double *value, bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    scan s = {.a = a, .q = q, .most = BDML_MAX(most, 1), .room = room};
    double *z = NULL, push = 0.0;
    triplets list = {.most = (size_t)BDML_MAX(room, 0)};
    size_t n = (size_t)a->n;

    *out = NULL;
    *value = INFINITY;
    BDML_GO(mapped(h, a, q, map, &z));
    s.z = z;
    BDML_NEW(h, s.norm, n);
    BDML_NEW(h, s.near, n * (size_t)a->k);
    BDML_NEW(h, s.radius, n);
    BDML_NEW(h, s.push, n);
    s.part = rows_together(&s, bytes);
    BDML_NEW(h, s.count, s.part);
    BDML_NEW(h, s.kept, (size_t)s.part * (size_t)s.most);
    BDML_NEW(h, s.far, (size_t)s.part * (size_t)s.most);
    BDML_NEW(h, s.tile, (size_t)bdml_threads(h) * n * ROWS);
    if (room > 0) BDML_GO(know_held(h, a, c, &s.held));
    double pull = target_distances(&s);
    for (; s.from < a->n; s.from += s.part) {
        int64_t to = BDML_MIN(s.from + s.part, a->n);
        if (!scan_part(h, &s, to, until)) goto done;
        if (room > 0) BDML_GO(list_missed(h, &s, to, &list));
    }
    for (size_t i = 0; i < n; i++) push += s.push[i];
    *value = (pull + a->push * push) / (double)a->targets;
    free_scan(&s); /* what follows takes memory of its own */
    free(z);
    z = NULL;
    bdml_memory_back((double)bytes);
    if (list.count > 0 && !bdml_time_is_up(h))
        status = bdml_lmnn_build(h, a, (int64_t)list.count, list.row, out);
done:
    free_scan(&s);
    free(z);
    free(list.row);
    return status;
}
