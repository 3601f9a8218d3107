/* copy.c - a copy of constraints that the caller may keep. */
#include "problem/problem.h"

#include <stdlib.h>

static void *copy_of(bdml_handle *h, const void *from, int64_t count, size_t size)
{
    void *to = bdml_alloc(h, (size_t)count, size);
    if (to && count > 0) memcpy(to, from, (size_t)count * size);
    return to;
}

bdml_status bdml_constraints_copy(bdml_handle *h, const bdml_constraints *c, bdml_constraints **out)
{
    *out = NULL;
    bdml_constraints *to = bdml_calloc(h, 1, sizeof *to);
    if (!to) return BDML_ERR_MEMORY;
    *to = *c;
    to->pi = copy_of(h, c->pi, c->pairs, sizeof *c->pi);
    to->pj = copy_of(h, c->pj, c->pairs, sizeof *c->pj);
    to->target = copy_of(h, c->target, c->targets, sizeof *c->target);
    to->far = copy_of(h, c->far, c->m, sizeof *c->far);
    to->near = copy_of(h, c->near, c->m, sizeof *c->near);
    to->margin = c->margin ? copy_of(h, c->margin, c->m, sizeof *c->margin) : NULL;
    to->weight = c->weight ? copy_of(h, c->weight, c->m, sizeof *c->weight) : NULL;
    to->group = c->group ? copy_of(h, c->group, c->pairs, sizeof *c->group) : NULL;
    if (!to->pi || !to->pj || !to->target || !to->far || !to->near || (c->margin && !to->margin) ||
        (c->weight && !to->weight) || (c->group && !to->group)) {
        bdml_free_constraints(to);
        return BDML_ERR_MEMORY;
    }
    *out = to;
    return BDML_OK;
}
