/* drawing.c - what a rule says without looking at distances: anchors and random impostors, drawn by the seed; and
 * the shape that mined constraints have.
 *
 * Anchors: the first entries of a shuffle of all rows. Impostors of anchor i: Floyd's sampling without replacement
 * (Bentley, Floyd 1987) among the rows sorted by class, with those of the anchor's class cut out. */
#include "certify/mining.h"

#include <stdlib.h>

/* The recipe: constraints per anchor, anchors of the last fit, and the streams of the generator. */
enum { TARGETS = 3, RANDOM_IMPOSTORS = 5, ANCHORS = 800, STREAM_ANCHORS = 0x616e63 };
static const uint64_t STREAM_IMPOSTORS = (uint64_t)1 << 40;

/* ---- drawing ---------------------------------------------------------------------------------------------- */

static bdml_status draw_anchors(bdml_handle *h, bdml_mined *m)
{
    bdml_status status = BDML_OK;
    int64_t n = m->w->n;
    int32_t *order = NULL;

    BDML_NEW(h, order, n);
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    m->anchors = m->wanted_anchors > 0 ? BDML_MIN(n, m->wanted_anchors) : n;
    bdml_rng r = bdml_rng_make(m->seed, STREAM_ANCHORS);
    for (int64_t a = 0; a < m->anchors; a++) {
        int64_t b = m->anchors == n ? a : a + (int64_t)bdml_rng_below(&r, (uint64_t)(n - a));
        int32_t chosen = order[b];
        order[b] = order[a];
        order[a] = chosen;
        m->is_anchor[chosen] = 1;
    }
done:
    free(order);
    return status;
}

static void sort_by_class(bdml_mined *m)
{
    const int32_t *y = m->w->data->y;
    int64_t at = 0;
    for (int c = 0; c < m->w->data->classes; c++) {
        m->start[c] = at;
        for (int64_t i = 0; i < m->w->n; i++)
            if (y[i] == c) m->row[at++] = (int32_t)i;
    }
    m->start[m->w->data->classes] = at;
}

int64_t bdml_mined_draw(const bdml_mined *m, int64_t i, unsigned char *state)
{
    int32_t c = m->w->data->y[i];
    int64_t from = m->start[c], own = m->start[c + 1] - from, others = m->w->n - own;
    int64_t wanted = BDML_MIN((int64_t)m->random, others);
    bdml_rng r = bdml_rng_make(m->seed, STREAM_IMPOSTORS + (uint64_t)i);
    for (int64_t top = others - wanted; top < others; top++) {
        int64_t place = (int64_t)bdml_rng_below(&r, (uint64_t)top + 1);
        int32_t j = m->row[place < from ? place : place + own];
        if (state[j] == BDML_SURE) j = m->row[top < from ? top : top + own];
        state[j] = BDML_SURE;
    }
    return wanted;
}

/* ---- shape -------------------------------------------------------------------------------------------------- */

static int by_anchor(const void *a, const void *b)
{
    const bdml_mined_triplet *p = a, *q = b;
    if (p->anchor != q->anchor) return p->anchor < q->anchor ? -1 : 1;
    if (p->near != q->near) return p->near < q->near ? -1 : 1;
    return (p->far > q->far) - (p->far < q->far);
}

static bool all_one(int64_t count, const double *v)
{
    for (int64_t t = 0; v && t < count; t++)
        if (v[t] != 1.0) return false;
    return true;
}

static bool pairs_in_order(const bdml_constraints *c)
{
    for (int64_t k = 0; k < c->pairs; k++) {
        if (c->pi[k] >= c->pj[k]) return false;
        if (k == 0 || c->pi[k - 1] < c->pi[k]) continue;
        if (c->pi[k - 1] > c->pi[k] || c->pj[k - 1] >= c->pj[k]) return false;
    }
    return true;
}

/* Anchor, target and impostor of a triplet; false: its pairs have no row in common. */
static bool take_apart(const bdml_constraints *c, int64_t t, bdml_mined_triplet *out)
{
    int32_t a = c->pi[c->far[t]], b = c->pj[c->far[t]];
    int32_t x = c->pi[c->near[t]], y = c->pj[c->near[t]];
    if (c->far[t] == c->near[t]) return false;
    if (a == x || a == y)
        *out = (bdml_mined_triplet){a, a == x ? y : x, b};
    else
        *out = (bdml_mined_triplet){b, b == x ? y : x, a};
    return a == x || a == y || b == x || b == y;
}

static bool pairs_used(const bdml_mined *m)
{
    const bdml_constraints *c = m->w->c;
    for (int64_t k = 0; k < c->pairs; k++)
        if (m->times[k] == 0 && !m->is_far[k]) return false;
    return true;
}

bdml_status bdml_mined_shape(bdml_handle *h, bdml_mined *m, bool *fits)
{
    const bdml_constraints *c = m->w->c;
    (void)h;
    *fits = pairs_in_order(c) && all_one(c->m, c->margin) && all_one(c->m, c->weight);
    for (int64_t t = 0; t < c->targets; t++) m->times[c->target[t]]++;
    for (int64_t t = 0; *fits && t < c->m; t++) {
        *fits = (c->near[t] >= 0) == m->triplets && (m->triplets || !m->is_far[c->far[t]]);
        m->is_far[c->far[t]] = 1;
        if (*fits && m->triplets) *fits = take_apart(c, t, &m->order[t]);
    }
    if (!*fits || !pairs_used(m)) {
        *fits = false;
        return BDML_OK;
    }
    if (!m->triplets) return BDML_OK;
    qsort(m->order, (size_t)c->m, sizeof *m->order, by_anchor);
    for (int64_t t = 0; t < c->m; t++) {
        m->first[m->order[t].anchor + 1]++;
        if (t > 0 && by_anchor(&m->order[t - 1], &m->order[t]) == 0) *fits = false;
    }
    for (int64_t i = 0; i < m->w->n; i++) m->first[i + 1] += m->first[i];
    return BDML_OK;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static void set_rule(const bdml_stated *s, bdml_mined *m)
{
    const bdml_constraint_options *c = &s->o->constraints;
    bool recipe = s->origin == BDML_ORIGIN_RECIPE;
    m->rule = c->rule.value == BDML_RULE_AUTO ? BDML_RULE_CLASS : (bdml_rule)c->rule.value;
    m->triplets = c->kind.value == BDML_KIND_TRIPLET;
    m->targets = recipe && c->targets.automatic ? TARGETS : (int)c->targets.value;
    m->impostors = (int)c->impostors.value;
    m->random = recipe ? RANDOM_IMPOSTORS : 0;
    m->wanted_anchors = !c->anchors.automatic ? c->anchors.value : recipe ? ANCHORS : 0;
    m->seed = (uint64_t)s->o->general.seed.value;
}

bdml_status bdml_mined_open(bdml_handle *h, bdml_plain *w, const bdml_stated *s, bdml_mined *m)
{
    bdml_status status = BDML_OK;
    size_t n = (size_t)w->n, cells = n * (size_t)w->d;

    set_rule(s, m);
    BDML_NEW(h, m->is_anchor, n);
    BDML_NEW(h, m->start, w->data->classes + 1);
    BDML_NEW(h, m->row, n);
    BDML_NEW(h, m->p, cells);
    BDML_NEW(h, m->error, n);
    BDML_NEW(h, m->low, n);
    BDML_NEW(h, m->high, n);
    BDML_NEW(h, m->best, n + 1);
    BDML_NEW(h, m->target, n);
    BDML_NEW(h, m->impostor, n);
    BDML_NEW(h, m->near, n);
    BDML_NEW(h, m->far, n);
    BDML_NEW(h, m->first, n + 1);
    BDML_NEW(h, m->order, w->c->m);
    BDML_NEW(h, m->times, w->c->pairs);
    BDML_NEW(h, m->is_far, w->c->pairs);
    BDML_NEW(h, m->least_target, w->c->pairs);
    BDML_NEW(h, m->most_target, w->c->pairs);
    BDML_NEW(h, m->least_far, w->c->pairs);
    BDML_NEW(h, m->most_far, w->c->pairs);
    for (size_t k = 0; k < cells; k++) m->p[k] = (double)w->p[k];
    sort_by_class(m);
    status = draw_anchors(h, m);
done:
    return status;
}

void bdml_mined_close(bdml_mined *m)
{
    free(m->is_anchor);
    free(m->start);
    free(m->row);
    free(m->p);
    free(m->error);
    free(m->low);
    free(m->high);
    free(m->best);
    free(m->target);
    free(m->impostor);
    free(m->near);
    free(m->far);
    free(m->first);
    free(m->order);
    free(m->times);
    free(m->is_far);
    free(m->least_target);
    free(m->most_target);
    free(m->least_far);
    free(m->most_far);
}
