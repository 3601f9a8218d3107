/* ball.c - all points of other classes within a given distance of their anchor (rule ball).
 *
 * How many there are is not known beforehand: the nearest few are asked for, and for the anchors
 * whose last one is still inside, more and more of them. Anchors go in blocks, so that the memory of
 * a search is bounded by the setting "memory" whatever the balls hold. */
#include "problem/problem.h"

#include <stdlib.h>

enum { FIRST_K = 16, GROWTH = 4 };

typedef struct search {
    const bdml_neighbor_options *o;
    int64_t n;
    int d;
    const double *x;
    int64_t ld;
    const int32_t *y;
    int64_t anchors; /* still open, compacted to the front as others are done */
    int32_t *anchor;
    double *radius;
    int k;
    int64_t block; /* anchors searched at once */
    double *q;     /* block rows of d, their classes and neighbours */
    int32_t *label, *index;
    double *distance;
} search;

static void free_block(search *s)
{
    free(s->q);
    free(s->label);
    free(s->index);
    free(s->distance);
    s->q = s->distance = NULL;
    s->label = s->index = NULL;
}

static bdml_status new_block(bdml_handle *h, search *s)
{
    bdml_status status = BDML_OK;
    size_t k = (size_t)s->k, d = (size_t)s->d;
    size_t bytes = k * (sizeof *s->index + sizeof *s->distance) + d * sizeof *s->q;
    size_t budget = bdml_memory(h);
    s->block = BDML_MIN(BDML_MAX((int64_t)(budget / bytes), 1), s->anchors);
    BDML_NEW(h, s->q, (size_t)s->block * d);
    BDML_NEW(h, s->label, s->block);
    BDML_NEW(h, s->index, (size_t)s->block * k);
    BDML_NEW(h, s->distance, (size_t)s->block * k);
done:
    return status;
}

/* Take the impostors of one anchor if its ball is exhausted; *closed says so. */
static bdml_status take(bdml_handle *h, const search *s, int32_t i, double radius,
                        const int32_t *index, const double *distance, bdml_lists *lists,
                        bool *closed)
{
    int inside = 0;
    while (inside < s->k && index[inside] >= 0 && distance[inside] <= radius) inside++;
    *closed = inside < s->k || s->k >= s->n - 1;
    for (int k = 0; *closed && k < inside; k++)
        BDML_TRY(bdml_pairs_add(h, &lists->impostor, i, index[k]));
    return BDML_OK;
}

/* Search the anchors from .. from+count; those still open are moved to place *open and on. */
static bdml_status search_block(bdml_handle *h, search *s, int64_t from, int64_t count,
                                bdml_lists *lists, int64_t *open)
{
    for (int64_t a = 0; a < count; a++) {
        int32_t i = s->anchor[from + a];
        memcpy(s->q + (size_t)a * (size_t)s->d, s->x + (size_t)i * (size_t)s->ld,
               sizeof *s->q * (size_t)s->d);
        s->label[a] = s->y[i];
    }
    const bdml_rows rows = {.n = s->n, .d = s->d, .ld = s->ld, .x = s->x, .y = s->y};
    const bdml_rows anchors = {.n = count, .d = s->d, .ld = s->d, .x = s->q, .y = s->label};
    BDML_TRY(
        bdml_knn_search(h, s->o, &rows, &anchors, BDML_OTHER_CLASS, s->k, s->index, s->distance));
    for (int64_t a = 0; a < count; a++) {
        size_t at = (size_t)a * (size_t)s->k;
        bool closed;
        BDML_TRY(take(h, s, s->anchor[from + a], s->radius[from + a], s->index + at,
                      s->distance + at, lists, &closed));
        if (closed) continue;
        s->anchor[*open] = s->anchor[from + a];
        s->radius[(*open)++] = s->radius[from + a];
    }
    return BDML_OK;
}

bdml_status bdml_mine_ball(bdml_handle *h, const bdml_neighbor_options *o, int64_t n, int d,
                           const double *x, int64_t ld, const int32_t *y, int64_t anchors,
                           const int32_t *anchor, const double *radius, bdml_lists *lists)
{
    bdml_status status = BDML_OK;
    search s = {.o = o, .n = n, .d = d, .x = x, .ld = ld, .y = y, .anchors = anchors};
    s.k = (int)BDML_MAX(BDML_MIN((int64_t)FIRST_K, n - 1), 1);
    BDML_NEW(h, s.anchor, anchors);
    BDML_NEW(h, s.radius, anchors);
    if (anchors > 0) {
        memcpy(s.anchor, anchor, sizeof *anchor * (size_t)anchors);
        memcpy(s.radius, radius, sizeof *radius * (size_t)anchors);
    }
    while (s.anchors > 0) {
        int64_t open = 0;
        BDML_GO(new_block(h, &s));
        for (int64_t from = 0; from < s.anchors; from += s.block)
            BDML_GO(search_block(h, &s, from, BDML_MIN(s.block, s.anchors - from), lists, &open));
        free_block(&s);
        s.anchors = open;
        s.k = (int)BDML_MIN((int64_t)s.k * GROWTH, n - 1);
    }
done:
    free_block(&s);
    free(s.anchor);
    free(s.radius);
    return status;
}
