/* share.c - what a rank holds of constraints that all ranks know: a stretch of the constraints and one of the target
 * pairs, the pairs that these name, and the rows of those, numbered anew. */
#include "problem/problem.h"

#include <stdlib.h>

/* Those marked get numbers 0, 1, ... in their order; how many there are. */
static int64_t number_marked(int64_t count, int32_t *number)
{
    int64_t next = 0;
    for (int64_t i = 0; i < count; i++) number[i] = number[i] ? (int32_t)next++ : -1;
    return next;
}

static bdml_status fill(bdml_handle *h, const bdml_constraints *c, bdml_stretch t, bdml_stretch k,
                        const int32_t *pair, const int32_t *row, bdml_constraints *to)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, to->pi, to->pairs);
    BDML_NEW(h, to->pj, to->pairs);
    BDML_NEW(h, to->target, to->targets);
    BDML_NEW(h, to->far, to->m);
    BDML_NEW(h, to->near, to->m);
    for (int64_t p = 0; p < c->pairs; p++) {
        if (pair[p] < 0) continue;
        to->pi[pair[p]] = row[c->pi[p]];
        to->pj[pair[p]] = row[c->pj[p]];
    }
    for (int64_t i = k.first; i < k.end; i++) to->target[i - k.first] = pair[c->target[i]];
    for (int64_t i = t.first; i < t.end; i++) {
        to->far[i - t.first] = pair[c->far[i]];
        to->near[i - t.first] = c->near[i] < 0 ? -1 : pair[c->near[i]];
    }
    if (c->margin) {
        BDML_NEW(h, to->margin, to->m);
        memcpy(to->margin, c->margin + t.first, sizeof *to->margin * (size_t)to->m);
    }
    if (c->weight) {
        BDML_NEW(h, to->weight, to->m);
        memcpy(to->weight, c->weight + t.first, sizeof *to->weight * (size_t)to->m);
    }
done:
    return status;
}

/* Mark the rows that these target pairs and constraints name. */
static void mark_rows(const bdml_constraints *c, bdml_stretch t, bdml_stretch k, int32_t *row)
{
    for (int64_t i = k.first; i < k.end; i++)
        row[c->pi[c->target[i]]] = row[c->pj[c->target[i]]] = 1;
    for (int64_t i = t.first; i < t.end; i++) {
        row[c->pi[c->far[i]]] = row[c->pj[c->far[i]]] = 1;
        if (c->near[i] >= 0) row[c->pi[c->near[i]]] = row[c->pj[c->near[i]]] = 1;
    }
}

bdml_status bdml_share_make(bdml_handle *h, const bdml_comm *comm, const bdml_constraints *c,
                            bdml_share *out)
{
    bdml_status status = BDML_OK;
    bdml_stretch t = bdml_comm_stretch(comm, comm->rank, c->m);
    bdml_stretch k = bdml_comm_stretch(comm, comm->rank, c->targets);
    int32_t *pair = NULL, *row = NULL; /* marks, then numbers in the share; -1: not in it */

    *out = (bdml_share){.first = t.first};
    BDML_NEW(h, out->c, 1);
    BDML_NEW(h, pair, c->pairs);
    BDML_NEW(h, row, c->n);
    for (int64_t i = k.first; i < k.end; i++) pair[c->target[i]] = 1;
    for (int64_t i = t.first; i < t.end; i++) {
        pair[c->far[i]] = 1;
        if (c->near[i] >= 0) pair[c->near[i]] = 1;
    }
    for (int64_t p = 0; p < c->pairs; p++)
        if (pair[p]) row[c->pi[p]] = row[c->pj[p]] = 1;
    out->c->m = t.end - t.first;
    out->c->targets = k.end - k.first;
    out->c->pairs = number_marked(c->pairs, pair);
    out->c->n = number_marked(c->n, row);
    BDML_NEW(h, out->row, out->c->n);
    for (int64_t i = 0; i < c->n; i++)
        if (row[i] >= 0) out->row[row[i]] = i;
    BDML_GO(fill(h, c, t, k, pair, row, out->c));
    BDML_NEW(h, out->own, out->c->n);
    memset(row, 0, sizeof *row * (size_t)c->n);
    mark_rows(c, (bdml_stretch){0, t.first}, (bdml_stretch){0, k.first}, row);
    for (int64_t i = 0; i < out->c->n; i++) out->own[i] = !row[out->row[i]];
done:
    free(pair);
    free(row);
    if (status != BDML_OK) bdml_share_free(out);
    return status;
}

void bdml_share_free(bdml_share *s)
{
    bdml_free_constraints(s->c);
    free(s->row);
    free(s->own);
    *s = (bdml_share){0};
}
