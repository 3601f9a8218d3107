/* pairs_draw.c - which pairs a method learns from: those given, or drawn from the classes.
 *
 * A kind of pairs drawn from classes is uniform over all pairs of that kind, without repetition. Rows
 * are put in order of their class; the first row's class c is drawn with weight n_c (n_c - 1) (similar) or
 * n_c (n - n_c) (dissimilar), both rows then uniformly. Where more than half of all pairs are wanted, all
 * are listed and a random part is kept. */
#include "baselines/pairs.h"

#include <stdlib.h>

enum { STREAM_SIMILAR = 0x70616972, STREAM_DISSIMILAR }; /* purposes of random numbers */
/* Pairs of either kind by default: 20 c^2 for c classes, as Davis et al. 2007 draw them, and ten for each of
 * the d (d + 1) / 2 unknowns, within limits that keep small problems well determined and large ones small. */
enum { PER_CLASSES = 20, PER_UNKNOWN = 10, LEAST = 1000, MOST_UNKNOWN = 5000, MOST = 20000 };

/* ---- drawn ------------------------------------------------------------------------------------------ */

typedef struct groups {
    int64_t n;
    int classes;
    int64_t *first; /* rows of class c: row[first[c] .. first[c+1]) */
    int32_t *row;
    double *upto; /* weight of classes 0..c as the first row's class */
} groups;

static void free_groups(groups *g)
{
    free(g->first);
    free(g->row);
    free(g->upto);
}

static int64_t group_size(const groups *g, int c)
{
    return g->first[c + 1] - g->first[c];
}

static bdml_status make_groups(bdml_handle *h, const bdml_training *t, groups *g)
{
    bdml_status status = BDML_OK;
    int64_t *next = NULL;
    *g = (groups){.n = t->n, .classes = t->classes};
    BDML_NEW(h, g->first, t->classes + 1);
    BDML_NEW(h, next, t->classes);
    BDML_NEW(h, g->row, t->n);
    BDML_NEW(h, g->upto, t->classes);
    for (int64_t i = 0; i < t->n; i++) g->first[t->y[i] + 1]++;
    for (int c = 0; c < t->classes; c++) g->first[c + 1] += g->first[c];
    memcpy(next, g->first, sizeof *next * (size_t)t->classes);
    for (int64_t i = 0; i < t->n; i++) g->row[next[t->y[i]]++] = (int32_t)i;
done:
    free(next);
    return status;
}

/* Possible partners of a row of class c. */
static int64_t partners(const groups *g, int c, bool similar)
{
    int64_t size = group_size(g, c);
    return similar ? BDML_MAX(size - 1, 0) : g->n - size;
}

/* Number of unordered pairs; sets g->upto. */
static double weigh(groups *g, bool similar)
{
    double sum = 0.0;
    for (int c = 0; c < g->classes; c++) {
        sum += (double)group_size(g, c) * (double)partners(g, c, similar);
        g->upto[c] = sum;
    }
    return sum / 2.0;
}

static void draw_pair(const groups *g, bool similar, bdml_rng *rng, int32_t pair[2])
{
    double u = bdml_rng_uniform(rng) * g->upto[g->classes - 1];
    int c = 0;
    while (c + 1 < g->classes &&
           (u > g->upto[c] || partners(g, c, similar) == 0 || group_size(g, c) == 0))
        c++;
    int64_t size = group_size(g, c);
    int64_t a = g->first[c] + (int64_t)bdml_rng_below(rng, (uint64_t)size);
    int64_t b = (int64_t)bdml_rng_below(rng, (uint64_t)partners(g, c, similar));
    if (similar)
        b += g->first[c] + (b + g->first[c] >= a); /* skip the row itself */
    else
        b += b >= g->first[c] ? size : 0; /* skip its class */
    pair[0] = g->row[a];
    pair[1] = g->row[b];
}

static bdml_status list_all(bdml_handle *h, const groups *g, bool similar, bdml_pairs *list)
{
    for (int c = 0; c < g->classes; c++)
        for (int64_t a = g->first[c]; a < g->first[c + 1]; a++) {
            int64_t from = similar ? a + 1 : g->first[c + 1];
            int64_t to = similar ? g->first[c + 1] : g->n;
            for (int64_t b = from; b < to; b++)
                BDML_TRY(bdml_pairs_add(h, list, g->row[a], g->row[b]));
        }
    return BDML_OK;
}

/* The first `want` of a random order. */
static void keep_some(bdml_rng *rng, int64_t want, bdml_pairs *list)
{
    for (int64_t k = 0; k < want; k++) {
        int64_t other = k + (int64_t)bdml_rng_below(rng, (uint64_t)(list->count - k));
        for (int e = 0; e < 2; e++) {
            int32_t row = list->row[2 * k + e];
            list->row[2 * k + e] = list->row[2 * other + e];
            list->row[2 * other + e] = row;
        }
    }
    list->count = want;
}

static bdml_status draw_kind(bdml_handle *h, uint64_t seed, groups *g, bool similar, int64_t want,
                             bdml_pairs *list)
{
    bdml_status status = BDML_OK;
    double there = weigh(g, similar);
    bdml_rng rng = bdml_rng_make(seed, similar ? STREAM_SIMILAR : STREAM_DISSIMILAR);
    bdml_keys keys = {0};
    int32_t pair[2], id;

    if (there <= 2.0 * (double)want) {
        BDML_TRY(list_all(h, g, similar, list));
        if (list->count > want) keep_some(&rng, want, list);
        return BDML_OK;
    }
    while (list->count < want) {
        draw_pair(g, similar, &rng, pair);
        int64_t before = keys.count;
        BDML_GO(bdml_keys_add(h, &keys, bdml_pair_key(pair[0], pair[1]), &id));
        if (keys.count > before) BDML_GO(bdml_pairs_add(h, list, pair[0], pair[1]));
    }
done:
    bdml_keys_free(&keys);
    return status;
}

static int64_t default_number(const bdml_training *t)
{
    double c = t->classes, d = t->d;
    double by_classes = BDML_MIN(PER_CLASSES * c * c, MOST);
    double by_unknowns = BDML_MIN(PER_UNKNOWN * d * (d + 1.0) / 2.0, MOST_UNKNOWN);
    return (int64_t)BDML_MAX(LEAST, BDML_MAX(by_classes, by_unknowns));
}

double bdml_pairs_expected(const bdml_options *o, const bdml_training *t)
{
    int64_t want = o->methods.random_pairs.value;
    if (t->constraints) return (double)t->constraints->targets + (double)t->constraints->m;
    return 2.0 * (double)(want > 0 ? want : default_number(t));
}

static bdml_status draw(bdml_handle *h, const bdml_options *o, const char *method,
                        const bdml_training *t, bdml_lists *out)
{
    bdml_status status = BDML_OK;
    groups g = {0};
    int64_t want = o->methods.random_pairs.value;

    if (!t->y)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s learns from pairs or labels, and there are neither; give labels, or "
                         "similar and dissimilar pairs",
                         method);
    if (t->n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA, "pairs are about at most %d rows, the data have %lld",
                         INT32_MAX, (long long)t->n);
    if (want == 0) want = default_number(t);
    BDML_GO(make_groups(h, t, &g));
    BDML_GO(draw_kind(h, (uint64_t)o->general.seed.value, &g, true, want, &out->target));
    BDML_GO(draw_kind(h, (uint64_t)o->general.seed.value, &g, false, want, &out->impostor));
done:
    free_groups(&g);
    return status;
}

/* ---- given ------------------------------------------------------------------------------------------ */

static bdml_status add_once(bdml_handle *h, const bdml_constraints *c, int32_t p,
                            unsigned char *seen, unsigned char kind, bdml_pairs *list)
{
    if (seen[p] & kind) return BDML_OK;
    seen[p] |= kind;
    return bdml_pairs_add(h, list, c->pi[p], c->pj[p]);
}

static bdml_status take(bdml_handle *h, const char *method, const bdml_training *t,
                        const bdml_constraints *c, bdml_lists *out)
{
    bdml_status status = BDML_OK;
    unsigned char *seen = NULL;

    if (c->n != t->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld", (long long)c->n,
                         (long long)t->n);
    BDML_NEW(h, seen, c->pairs);
    for (int64_t k = 0; k < c->targets; k++)
        BDML_GO(add_once(h, c, c->target[k], seen, 1, &out->target));
    for (int64_t k = 0; k < c->m; k++)
        if (c->near[k] < 0) BDML_GO(add_once(h, c, c->far[k], seen, 2, &out->impostor));
    if (out->impostor.count == 0 && c->m > 0)
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%s learns from similar and dissimilar pairs, and all %lld constraints "
                           "are triplets; give dissimilar pairs",
                           method, (long long)c->m);
done:
    free(seen);
    return status;
}

bool bdml_pairs_given(const bdml_constraint_options *o, const bdml_training *t)
{
    return t->constraints || bdml_constraint_files_given(o);
}

static bdml_status need_both(bdml_handle *h, const char *method, bool drawn,
                             const bdml_lists *lists)
{
    if (lists->target.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s needs similar pairs, and %s", method,
                         drawn ? "no class has two points" : "none are given");
    if (lists->impostor.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s needs dissimilar pairs, and %s", method,
                         drawn ? "all points are of one class" : "none are given");
    return BDML_OK;
}

bdml_status bdml_pairs_choose(bdml_handle *h, const bdml_options *o, const char *method,
                              const bdml_training *t, bdml_lists *out)
{
    bdml_status status = BDML_OK;
    bdml_constraints *files = NULL;

    memset(out, 0, sizeof *out);
    if (t->constraints) {
        BDML_GO(take(h, method, t, t->constraints, out));
    } else if (bdml_constraint_files_given(&o->constraints)) {
        bdml_constraint_options pairs = o->constraints;
        pairs.kind.value = BDML_KIND_PAIR;
        BDML_GO(bdml_constraint_files_read(h, &pairs, t->n, &files));
        BDML_GO(take(h, method, t, files, out));
    } else {
        BDML_GO(draw(h, o, method, t, out));
    }
    status = need_both(h, method, !bdml_pairs_given(&o->constraints, t), out);
done:
    bdml_free_constraints(files);
    if (status != BDML_OK) bdml_lists_free(out);
    return status;
}
