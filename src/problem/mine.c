/* mine.c - target neighbours and impostors from labels.
 *
 *     class     the k nearest points of the same class, the l nearest of other classes
 *     nearest   the k nearest points of all, split by label (Liao et al. 2015)
 *     ball      the k nearest of the same class, all of other classes up to the farthest of those
 *
 * and, beside these, random points of other classes. Of rule class, where asked for, only the triplets whose margin is
 * missed or not far from it. All points are anchors, or a random few; each rank of the handle
 * looks for the neighbours of its stretch of them, or where rows are dealt out of those that it holds, and gets those that the
 * others found: the pairs of one rank, in the same order but for those of rule ball. */
#include "problem/problem.h"
#include "linalg/linalg.h"

#include <stdlib.h>

/* Streams of random numbers: one for the anchors, one for each anchor's impostors, and for its share of the triplets. */
enum { STREAM_ANCHORS = 0x616e63 };
static const uint64_t STREAM_IMPOSTORS = (uint64_t)1 << 40, STREAM_SHARE = (uint64_t)1 << 41;

typedef struct miner {
    const bdml_mining *how;
    const bdml_spread *over;
    int64_t n;
    int d;
    bdml_rows rows; /* that are here, */
    double *all;    /* their own where they were made, and all of them are wanted */
    const int32_t *y;
    int32_t *order;  /* all anchors first, ascending */
    int64_t anchors; /* of this rank, */
    const int32_t *anchor;
    double *q; /* their rows and classes, where they are not all rows that are here */
    int32_t *q_label;
    bdml_lists lists;
    bdml_pairs sides; /* of triplets: (i, target), (i, impostor), ... */
} miner;

/* ---- anchors ------------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Of `count` anchors, ascending, those of this rank: its stretch of them, or those whose rows it holds. */
static bdml_stretch own_anchors(const bdml_handle *h, const miner *s, const int32_t *order,
                                int64_t count)
{
    if (!s->over) return bdml_comm_stretch(h->comm, h->comm->rank, count);
    int64_t first = bdml_spread_first(s->over), end = first + bdml_spread_held(s->over, s->n);
    bdml_stretch own = {0, 0};
    while (own.first < count && order[own.first] < first) own.first++;
    for (own.end = own.first; own.end < count && order[own.end] < end;) own.end++;
    return own;
}

/* Rows that are made, once for all. */
static bdml_status hold_all(bdml_handle *h, miner *s)
{
    s->all = bdml_alloc(h, (size_t)s->n * (size_t)s->d, sizeof *s->all);
    if (!s->all) return BDML_ERR_MEMORY;
    bdml_rows_copy(&s->rows, s->n, NULL, 0, s->all);
    s->rows.x = s->all;
    s->rows.made = NULL;
    return BDML_OK;
}

static bdml_status choose_anchors(bdml_handle *h, miner *s)
{
    bdml_status status = BDML_OK;
    int32_t *order = NULL;
    bool all = s->how->anchors <= 0 || s->how->anchors >= s->n;
    int64_t count = all ? s->n : s->how->anchors;
    BDML_NEW(h, order, s->n);
    for (int64_t i = 0; i < s->n; i++) order[i] = (int32_t)i;
    s->order = order;
    bdml_rng r = bdml_rng_make(s->how->seed, STREAM_ANCHORS);
    for (int64_t a = 0; !all && a < count; a++) { /* the start of a shuffle */
        int64_t b = a + (int64_t)bdml_rng_below(&r, (uint64_t)(s->n - a));
        int32_t t = order[a];
        order[a] = order[b];
        order[b] = t;
    }
    if (!all) qsort(order, (size_t)count, sizeof *order, by_number);
    bdml_stretch own = own_anchors(h, s, order, count);
    s->anchor = order + own.first;
    s->anchors = own.end - own.first;
    if (s->rows.made && (s->anchors == s->n || s->how->rule == BDML_RULE_BALL ||
                         s->how->search.search.value == BDML_SEARCH_APPROXIMATE))
        BDML_GO(hold_all(h, s));
    if (s->anchors == bdml_spread_held(s->over, s->n)) return BDML_OK;
    BDML_NEW(h, s->q, (size_t)s->anchors * (size_t)s->d);
    BDML_NEW(h, s->q_label, s->anchors);
    for (int64_t a = 0; a < s->anchors; a++) {
        int64_t here = s->anchor[a] - bdml_spread_first(s->over);
        bdml_rows_copy(&s->rows, 1, NULL, here, s->q + (size_t)a * (size_t)s->d);
        s->q_label[a] = s->y[s->anchor[a]];
    }
done:
    return status;
}

/* ---- ranks ------------------------------------------------------------------------------------------ */

/* What was added to a list by this rank after its first `before` pairs becomes what all ranks added, in their order. */
static bdml_status gather_added(bdml_handle *h, bdml_pairs *list, int64_t before)
{
    bdml_status status = BDML_OK;
    const bdml_comm *comm = h->comm;
    double *count = NULL;
    int64_t own = list->count - before, total = 0, first = 0;

    if (comm->size == 1) return BDML_OK;
    BDML_NEW(h, count, comm->size);
    bdml_comm_counts(comm, own, count);
    for (int k = 0; k < comm->size; k++) {
        first += k < comm->rank ? (int64_t)count[k] : 0;
        total += (int64_t)count[k];
    }
    if (total == 0) goto done; /* of all ranks */
    BDML_GO(bdml_grow(h, &list->row, &list->capacity, (size_t)(2 * (before + total)),
                      sizeof *list->row));
    int32_t *added = list->row + 2 * before;
    memmove(added + 2 * first, added, sizeof *added * 2 * (size_t)own);
    bdml_comm_gather(comm, count, 2 * sizeof *added, added);
    list->count = before + total;
done:
    free(count);
    return status;
}

/* ---- nearest neighbours ---------------------------------------------------------------------------- */

/* What one search gives: `width` neighbours of each anchor, the anchor itself perhaps among them. */
typedef struct found {
    int width;
    int32_t *index;
    double *distance;
} found;

static void free_found(found *f)
{
    free(f->index);
    free(f->distance);
}

/* The k nearest rows of every anchor. Anchors that are given as queries, as they are where rows are dealt out, find
 * themselves too: one more is asked for, and add_found leaves out the anchor. */
static bdml_status find(bdml_handle *h, const miner *s, bdml_restrict which, int k, found *f)
{
    bdml_status status = BDML_OK;
    bool asked = s->q || s->over, extra = asked && which != BDML_OTHER_CLASS;
    f->width = (int)BDML_MIN((int64_t)k + extra, s->n);
    BDML_NEW(h, f->index, (size_t)s->anchors * (size_t)f->width);
    BDML_NEW(h, f->distance, (size_t)s->anchors * (size_t)f->width);
    bdml_rows rows = s->rows, anchors;
    rows.y = s->y + bdml_spread_first(s->over);
    anchors = rows;
    if (s->q)
        anchors = (bdml_rows){.n = s->anchors, .d = s->d, .ld = s->d, .x = s->q, .y = s->q_label};
    if (s->over)
        status = bdml_knn_ring(h, &s->how->search, s->over, &rows, s->y, &anchors, which, f->width,
                               f->index, f->distance);
    else if (rows.made)
        status = bdml_knn_slabs(h, &s->how->search, &rows, &anchors, which, f->width, f->index,
                                f->distance);
    else
        status = bdml_knn_search(h, &s->how->search, &rows, s->q ? &anchors : NULL, which, f->width,
                                 f->index, f->distance);
done:
    return status;
}

/* Add up to k neighbours of every anchor to the target or the impostor list, by label. */
static bdml_status add_found(bdml_handle *h, miner *s, const found *f, int k)
{
    for (int64_t a = 0; a < s->anchors; a++) {
        const int32_t *index = f->index + (size_t)a * (size_t)f->width;
        int32_t i = s->anchor[a];
        for (int c = 0, taken = 0; c < f->width && taken < k && index[c] >= 0; c++) {
            if (index[c] == i) continue;
            bool same = s->y[index[c]] == s->y[i];
            BDML_TRY(bdml_pairs_add(h, same ? &s->lists.target : &s->lists.impostor, i, index[c]));
            taken++;
        }
    }
    return BDML_OK;
}

static bdml_status add_nearest(bdml_handle *h, miner *s, bdml_restrict which, int k)
{
    found f = {0};
    bdml_status status = BDML_OK;
    if (k <= 0) return BDML_OK;
    BDML_GO(find(h, s, which, k, &f));
    BDML_GO(add_found(h, s, &f, k));
done:
    free_found(&f);
    return status;
}

/* The anchor itself is left out, and what is beyond the k nearest others; index -1 where there are fewer. */
static void leave_out_anchors(const miner *s, found *f, int k)
{
    for (int64_t a = 0; a < s->anchors; a++) {
        int32_t *index = f->index + (size_t)a * (size_t)f->width;
        double *distance = f->distance + (size_t)a * (size_t)f->width;
        int kept = 0;
        for (int c = 0; c < f->width && kept < k && index[c] >= 0; c++) {
            if (index[c] == s->anchor[a]) continue;
            index[kept] = index[c];
            distance[kept++] = distance[c];
        }
        if (kept < f->width) index[kept] = -1;
    }
}

/* Neighbours of anchor a nearer than `end`. */
static int count_below(const found *f, int64_t a, double end)
{
    size_t at = (size_t)a * (size_t)f->width;
    int k = 0;
    while (k < f->width && f->index[at + (size_t)k] >= 0 && f->distance[at + (size_t)k] < end) k++;
    return k;
}

/* The share of the combinations about the margin that gives how->most for each anchor of all ranks; 1: all. */
static double share_about(const bdml_handle *h, const miner *s, const found *target,
                          const found *impostor)
{
    double count = 0.0, anchors = (double)s->anchors;
    if (s->how->most <= 0) return 1.0;
    for (int64_t a = 0; a < s->anchors; a++)
        for (size_t c = (size_t)a * (size_t)target->width, end = c + (size_t)target->width;
             c < end && target->index[c] >= 0; c++)
            count += count_below(impostor, a, target->distance[c] + s->how->within);
    count = bdml_comm_total(h->comm, count); /* whole numbers: the same on any number of ranks */
    anchors = bdml_comm_total(h->comm, anchors);
    return BDML_MIN(1.0, s->how->most * anchors / BDML_MAX(count, 1.0));
}

/* Of the targets and impostors of each anchor, the combinations in which the impostor is not farther than the target by
 * how->within or more, or a random share of these; the targets of those taken. */
static bdml_status add_within(bdml_handle *h, miner *s)
{
    bdml_status status = BDML_OK;
    const bdml_mining *how = s->how;
    found target = {0}, impostor = {0};

    BDML_GO(find(h, s, BDML_SAME_CLASS, how->targets, &target));
    BDML_GO(find(h, s, BDML_OTHER_CLASS, how->impostors, &impostor));
    leave_out_anchors(s, &target, how->targets);
    double share = share_about(h, s, &target, &impostor);
    for (int64_t a = 0; a < s->anchors; a++) {
        int32_t i = s->anchor[a];
        bdml_rng r = bdml_rng_make(how->seed, STREAM_SHARE + (uint64_t)i);
        size_t t = (size_t)a * (size_t)target.width, l = (size_t)a * (size_t)impostor.width;
        for (size_t c = t; c < t + (size_t)target.width && target.index[c] >= 0; c++) {
            int near = count_below(&impostor, a, target.distance[c] + how->within);
            bool any = false;
            for (int b = 0; b < near; b++) {
                if (share < 1.0 && !(bdml_rng_uniform(&r) < share)) continue;
                BDML_GO(bdml_pairs_add(h, &s->sides, i, target.index[c]));
                BDML_GO(bdml_pairs_add(h, &s->sides, i, impostor.index[l + (size_t)b]));
                any = true;
            }
            if (any) BDML_GO(bdml_pairs_add(h, &s->lists.target, i, target.index[c]));
        }
    }
done:
    free_found(&target);
    free_found(&impostor);
    return status;
}

/* The triplets of s->sides, (i, target, impostor) each, in its place. */
static int64_t join_sides(miner *s)
{
    int32_t *row = s->sides.row;
    int64_t m = s->sides.count / 2;
    for (int64_t t = 0; t < m; t++) {
        row[3 * t] = row[4 * t];
        row[3 * t + 1] = row[4 * t + 1];
        row[3 * t + 2] = row[4 * t + 3];
    }
    return m;
}

/* Distance of the k-th target, or of the farthest there is; below 0: none. */
static double reach(const miner *s, const found *f, int64_t a, int k)
{
    size_t at = (size_t)a * (size_t)f->width;
    double radius = -1.0;
    for (int c = 0, taken = 0; c < f->width && taken < k && f->index[at + (size_t)c] >= 0; c++) {
        if (f->index[at + (size_t)c] == s->anchor[a]) continue;
        radius = f->distance[at + (size_t)c];
        taken++;
    }
    return radius;
}

static bdml_status add_ball(bdml_handle *h, miner *s)
{
    bdml_status status = BDML_OK;
    int k = s->how->targets;
    found f = {0};
    double *radius = NULL;
    BDML_NEW(h, radius, s->anchors);
    BDML_GO(find(h, s, BDML_SAME_CLASS, k, &f));
    BDML_GO(add_found(h, s, &f, k));
    for (int64_t a = 0; a < s->anchors; a++) radius[a] = reach(s, &f, a, k);
    BDML_GO(bdml_mine_ball(h, &s->how->search, s->n, s->d, s->rows.x, s->rows.ld, s->y, s->anchors,
                           s->anchor, radius, &s->lists));
done:
    free_found(&f);
    free(radius);
    return status;
}

/* ---- random impostors ----------------------------------------------------------------------------------- */

/* Rows sorted by class: those of class c are row[start[c] .. start[c+1]). */
typedef struct by_class {
    int classes;
    int64_t *start;
    int32_t *row;
} by_class;

static bdml_status sort_by_class(bdml_handle *h, const miner *s, by_class *b)
{
    bdml_status status = BDML_OK;
    for (int64_t i = 0; i < s->n; i++) b->classes = BDML_MAX(b->classes, s->y[i] + 1);
    BDML_NEW(h, b->start, b->classes + 1);
    BDML_NEW(h, b->row, s->n);
    for (int64_t i = 0; i < s->n; i++) b->start[s->y[i] + 1]++;
    for (int c = 0; c < b->classes; c++) b->start[c + 1] += b->start[c];
    for (int64_t i = 0; i < s->n; i++) b->row[b->start[s->y[i]]++] = (int32_t)i;
    for (int c = b->classes; c > 0; c--) b->start[c] = b->start[c - 1];
    b->start[0] = 0;
done:
    return status;
}

static bool holds(int64_t count, const int32_t *list, int32_t v)
{
    for (int64_t k = 0; k < count; k++)
        if (list[k] == v) return true;
    return false;
}

/* `wanted` different rows of classes other than c into pick: Floyd's sampling without replacement
 * (Bentley, Floyd 1987) from the sorted rows with the class's own cut out. Returns their number. */
static int64_t draw(const by_class *b, int32_t c, int64_t n, int64_t wanted, bdml_rng *r,
                    int32_t *pick)
{
    int64_t own = b->start[c + 1] - b->start[c], others = n - own, taken = 0;
    for (int64_t top = BDML_MAX(others - wanted, 0); top < others; top++) {
        int32_t place = (int32_t)bdml_rng_below(r, (uint64_t)top + 1);
        pick[taken] = holds(taken, pick, place) ? (int32_t)top : place;
        taken++;
    }
    for (int64_t k = 0; k < taken; k++)
        pick[k] = b->row[pick[k] < b->start[c] ? pick[k] : pick[k] + own];
    qsort(pick, (size_t)taken, sizeof *pick, by_number);
    return taken;
}

static bdml_status add_random(bdml_handle *h, miner *s)
{
    bdml_status status = BDML_OK;
    by_class sorted = {0};
    int32_t *pick = NULL;
    int64_t wanted = BDML_MIN((int64_t)s->how->random_impostors, s->n);
    if (wanted <= 0) return BDML_OK;
    BDML_GO(sort_by_class(h, s, &sorted));
    BDML_NEW(h, pick, wanted);
    for (int64_t a = 0; a < s->anchors; a++) {
        int32_t i = s->anchor[a];
        bdml_rng r = bdml_rng_make(s->how->seed, STREAM_IMPOSTORS + (uint64_t)i);
        int64_t count = draw(&sorted, s->y[i], s->n, wanted, &r, pick);
        for (int64_t k = 0; k < count; k++)
            BDML_GO(bdml_pairs_add(h, &s->lists.impostor, i, pick[k]));
    }
done:
    free(sorted.start);
    free(sorted.row);
    free(pick);
    return status;
}

/* ---- all together ------------------------------------------------------------------------------------------ */

static bdml_status add_by_rule(bdml_handle *h, miner *s)
{
    const bdml_mining *how = s->how;
    switch (how->rule) {
    case BDML_RULE_NEAREST:
        return add_nearest(h, s, BDML_ANY_CLASS, how->targets);
    case BDML_RULE_BALL:
        return add_ball(h, s);
    default:
        if (how->within > 0.0) return add_within(h, s);
        BDML_TRY(add_nearest(h, s, BDML_SAME_CLASS, how->targets));
        return add_nearest(h, s, BDML_OTHER_CLASS, how->impostors);
    }
}

static bdml_status mine(bdml_handle *h, miner *s)
{
    BDML_TRY(choose_anchors(h, s));
    BDML_TRY(add_by_rule(h, s));
    BDML_TRY(gather_added(h, &s->lists.target, 0));
    BDML_TRY(gather_added(h, &s->lists.impostor, 0));
    BDML_TRY(gather_added(h, &s->sides, 0));
    int64_t near = s->lists.impostor.count;
    BDML_TRY(add_random(h, s));
    return gather_added(h, &s->lists.impostor, near);
}

static bdml_status nothing_found(bdml_handle *h, const miner *s)
{
    const char *rule[] = {[BDML_RULE_AUTO] = "class",
                          [BDML_RULE_CLASS] = "class",
                          [BDML_RULE_NEAREST] = "nearest",
                          [BDML_RULE_BALL] = "ball"};
    if (s->lists.impostor.count == 0)
        return bdml_fail(h, BDML_ERR_DATA, "rule %s found no impostor: %s", rule[s->how->rule],
                         s->how->rule == BDML_RULE_CLASS
                             ? "all points are of one class, or impostors is 0"
                             : "the classes are far apart; use rule class, or more targets");
    return bdml_fail(h, BDML_ERR_DATA,
                     "rule %s found no point with both a target and an impostor: every class has 1 "
                     "point, or targets is too small",
                     rule[s->how->rule]);
}

bdml_status bdml_mine(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                      const int32_t *y, const bdml_mining *how, bdml_constraints **out)
{
    const bdml_rows rows = {.n = n, .d = d, .ld = ld, .x = x, .y = y};
    return bdml_mine_spread(h, NULL, n, &rows, y, how, out);
}

bdml_status bdml_mine_spread(bdml_handle *h, const bdml_spread *over, int64_t n,
                             const bdml_rows *rows, const int32_t *y, const bdml_mining *how,
                             bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    miner s = {.how = how, .over = over, .n = n, .d = rows->d, .rows = *rows, .y = y};

    *out = NULL;
    if (n < 2 || n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA, "constraints need from 2 to %d points, got %lld",
                         INT32_MAX, (long long)n);
    if (over && how->rule == BDML_RULE_BALL)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rule ball needs all rows on every rank");
    if (how->targets < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "targets must be at least 1, got %d", how->targets);
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CONSTRAINTS);
    BDML_GO(mine(h, &s));
    int64_t joined = join_sides(&s);
    BDML_GO(bdml_constraints_combine(h, n, how->kind, &s.lists, joined, s.sides.row, NULL, out));
    if ((*out)->m == 0 && !(how->within > 0.0)) {
        bdml_free_constraints(*out);
        *out = NULL;
        status = nothing_found(h, &s);
    }
done:
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    bdml_lists_free(&s.lists);
    bdml_pairs_free(&s.sides);
    free(s.order);
    free(s.all);
    free(s.q);
    free(s.q_label);
    return status;
}
