/* lists.c - approximate search: rows in lists around centers, of which each query looks into the nearest.
 *
 *     L = sqrt(n) centers     k-means on a sample of the rows, a few rounds; where there are classes, of each class by itself
 *     list l                  the rows (of that class) whose nearest center is l, ascending
 *     a query                 the k nearest rows of the lists of its P nearest centers, of the classes that it asks for
 *
 * (an inverted file, Jegou, Douze, Schmid 2011, without a code: rows are compared as they are). Nearest centers, and nearest rows of
 * a list, are found by the exact search of this folder, for all queries that look into the list at once. So distances are exact,
 * and so is the order of what is found, ties to the lower number; what may be missed is a neighbour in a list that was not looked
 * into. A query that finds fewer rows than it asks for is searched for exactly. Every step is the same whatever the threads: sums are
 * taken in the order of the rows. */
#include "neighbors/internal.h"

#include <stdlib.h>

enum {
    LEAST_ROWS = 10000, /* fewer are searched exactly, */
    LEAST_QUERIES =
        4,            /* and so are fewer queries than this times L: the lists would cost as much */
    SAMPLE = 32,      /* rows a center that k-means sees */
    ROUNDS = 6,       /* of k-means */
    SHARE = 16,       /* one list in so many is looked into, */
    LEAST_LISTS = 16, /* but so many at least */
    FEWEST = 4,       /* lists a class: with more classes than that leaves, the search is exact */
    STREAM = 0x6c697374 /* of random numbers */
};

struct bdml_knn_lists {
    int64_t count;  /* L */
    double *center; /* L rows of d */
    int32_t *class; /* of each, or NULL */
    int64_t *start; /* L + 1: list l is row[start[l]] .. row[start[l+1]-1] */
    int32_t *row;   /* n */
};

void bdml_knn_lists_free(bdml_knn_lists *lists)
{
    if (!lists) return;
    free(lists->center);
    free(lists->start);
    free(lists->row);
    free(lists->class);
    free(lists);
}

static int64_t lists_for(int64_t n)
{
    return (int64_t)ceil(sqrt((double)n));
}

/* One more than the largest of the classes; 0: there are none. */
static int64_t classes_of(const bdml_rows *rows)
{
    int64_t classes = 0;
    for (int64_t i = 0; rows->y && i < rows->n; i++) classes = BDML_MAX(classes, rows->y[i] + 1);
    return classes;
}

bool bdml_knn_lists_pay(const bdml_index *in, int64_t queries)
{
    if (in->o.search.value != BDML_SEARCH_APPROXIMATE || in->rows.n < LEAST_ROWS) return false;
    int64_t lists = lists_for(in->rows.n);
    return in->lists ||
           (queries >= LEAST_QUERIES * lists && FEWEST * classes_of(&in->rows) <= lists);
}

/* ---- building ------------------------------------------------------------------------------------------ */

/* One of the rows of each of `count` stretches, in the order of the classes where there are any. */
static void draw_rows(const bdml_rows *rows, const int32_t *order, int64_t count, double *x,
                      int32_t *y)
{
    bdml_rng r = bdml_rng_make(0, STREAM);
    size_t d = (size_t)rows->d;
    for (int64_t s = 0; s < count; s++) {
        int64_t from = rows->n * s / count, end = rows->n * (s + 1) / count;
        int64_t i = from + (int64_t)bdml_rng_below(&r, (uint64_t)BDML_MAX(end - from, 1));
        if (order) i = order[i];
        memcpy(x + (size_t)s * d, rows->x + (size_t)i * (size_t)rows->ld, d * sizeof *x);
        if (y && rows->y) y[s] = rows->y[i];
    }
}

/* A class too small to be drawn gets its first row for a center. */
static bdml_status add_lacking(bdml_handle *h, const bdml_rows *rows, int64_t classes,
                               bdml_knn_lists *lists)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)rows->d;
    bool *has = NULL;
    BDML_NEW(h, has, classes);
    for (int64_t l = 0; l < lists->count; l++) has[lists->class[l]] = true;
    for (int64_t i = 0; i < rows->n; i++) {
        if (has[rows->y[i]]) continue;
        has[rows->y[i]] = true;
        memcpy(lists->center + (size_t)lists->count * d, rows->x + (size_t)i * (size_t)rows->ld,
               d * sizeof *lists->center);
        lists->class[lists->count++] = rows->y[i];
    }
done:
    free(has);
    return status;
}

static bdml_rows centers_of(const bdml_knn_lists *lists, int d)
{
    return (bdml_rows){.n = lists->count, .d = d, .ld = d, .x = lists->center, .y = lists->class};
}

/* The nearest center of each row, of its class. */
static bdml_status nearest_center(bdml_handle *h, const bdml_neighbor_options *o,
                                  const bdml_knn_lists *lists, const bdml_rows *rows,
                                  int32_t *nearest)
{
    const bdml_rows centers = centers_of(lists, rows->d);
    return bdml_knn_search(h, o, &centers, rows, rows->y ? BDML_SAME_CLASS : BDML_ANY_CLASS, 1,
                           nearest, NULL);
}

/* Centers become the means of their rows; one without rows stays where it is. */
static void move_centers(const bdml_rows *sample, const int32_t *nearest, bdml_knn_lists *lists,
                         int64_t *held, double *sum)
{
    size_t d = (size_t)sample->d;
    memset(held, 0, sizeof *held * (size_t)lists->count);
    memset(sum, 0, sizeof *sum * (size_t)lists->count * d);
    for (int64_t i = 0; i < sample->n; i++) {
        const double *x = sample->x + (size_t)i * d;
        double *to = sum + (size_t)nearest[i] * d;
        held[nearest[i]]++;
        for (size_t j = 0; j < d; j++) to[j] += x[j];
    }
    for (size_t l = 0; l < (size_t)lists->count; l++)
        for (size_t j = 0; held[l] > 0 && j < d; j++)
            lists->center[l * d + j] = sum[l * d + j] / (double)held[l];
}

static bdml_status find_centers(bdml_handle *h, const bdml_neighbor_options *o,
                                const bdml_rows *rows, const int32_t *order, int64_t classes,
                                bdml_knn_lists *lists)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)rows->d;
    int64_t count = BDML_MIN(SAMPLE * lists->count, rows->n), *held = NULL;
    double *x = NULL, *sum = NULL;
    int32_t *nearest = NULL, *y = NULL;

    BDML_NEW(h, x, (size_t)count * d);
    if (classes > 0) BDML_NEW(h, y, count);
    BDML_NEW(h, nearest, count);
    draw_rows(rows, order, count, x, y);
    const bdml_rows sample = {.n = count, .d = rows->d, .ld = rows->d, .x = x, .y = y};
    draw_rows(&sample, NULL, lists->count, lists->center, lists->class);
    if (classes > 0) BDML_GO(add_lacking(h, rows, classes, lists));
    BDML_NEW(h, sum, (size_t)lists->count * d);
    BDML_NEW(h, held, lists->count);
    for (int round = 0; round < ROUNDS; round++) {
        BDML_GO(nearest_center(h, o, lists, &sample, nearest));
        move_centers(&sample, nearest, lists, held, sum);
    }
done:
    free(x);
    free(sum);
    free(held);
    free(nearest);
    free(y);
    return status;
}

/* Rows by their lists, ascending in each. */
static bdml_status fill_lists(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                              bdml_knn_lists *lists)
{
    bdml_status status = BDML_OK;
    int32_t *nearest = NULL;
    int64_t *at = NULL;

    BDML_NEW(h, nearest, rows->n);
    BDML_NEW(h, at, lists->count);
    BDML_GO(nearest_center(h, o, lists, rows, nearest));
    for (int64_t i = 0; i < rows->n; i++) lists->start[nearest[i] + 1]++;
    for (int64_t l = 0; l < lists->count; l++) {
        lists->start[l + 1] += lists->start[l];
        at[l] = lists->start[l];
    }
    for (int64_t i = 0; i < rows->n; i++) lists->row[at[nearest[i]]++] = (int32_t)i;
done:
    free(nearest);
    free(at);
    return status;
}

static bdml_status build(bdml_handle *h, bdml_index *in)
{
    bdml_status status = BDML_OK;
    bdml_knn_lists *lists = NULL;
    bdml_neighbor_options exact = in->o;

    if (in->lists) return BDML_OK;
    exact.search.value = BDML_SEARCH_AUTO;
    BDML_NEW(h, lists, 1);
    lists->count = lists_for(in->rows.n);
    int64_t classes = classes_of(&in->rows), most = lists->count + classes;
    BDML_NEW(h, lists->center, (size_t)most * (size_t)in->rows.d);
    if (classes > 0) BDML_NEW(h, lists->class, most);
    BDML_NEW(h, lists->start, most + 1);
    BDML_NEW(h, lists->row, in->rows.n);
    BDML_GO(find_centers(h, &exact, &in->rows, in->reference.order, classes, lists));
    BDML_GO(fill_lists(h, &exact, &in->rows, lists));
    in->lists = lists;
    lists = NULL;
done:
    bdml_knn_lists_free(lists);
    return status;
}

/* ---- searching ----------------------------------------------------------------------------------------- */

typedef struct search {
    bdml_handle *h;
    const bdml_index *in;
    const bdml_knn_lists *lists;
    bdml_neighbor_options exact;
    const bdml_rows *queries;
    bool
        self; /* the queries are the rows: each finds itself too, one more is kept, and it is left out at the end */
    bdml_restrict which;
    int k, kept; /* asked for; kept until the end */
    int32_t *index;
    double *distance; /* queries rows of `kept`: the nearest so far */
    /* Which queries look into which lists: queries visit[from[l]] .. visit[from[l+1]-1] into list l. First each into one list, then,
     * with the farthest row found as a bound, into the others. */
    struct {
        int64_t *from;
        int32_t *visit;
    } turn[2];
    /* Of one list: its rows, those queries, what is found, and what is left of two lists of neighbours */
    double *x, *q, *within;
    int32_t *found, *merged;
    double *found_distance, *merged_distance;
} search;

/* The lists that each query looks into. */
static bdml_status plan_visits(search *s, int64_t *most)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    int64_t lists = s->lists->count, n = s->queries->n, *at = NULL;
    int looked = (int)BDML_MIN(BDML_MAX(lists / SHARE, (int64_t)LEAST_LISTS), lists);
    int32_t *near = NULL;
    const bdml_rows centers = centers_of(s->lists, s->queries->d);

    BDML_NEW(h, near, (size_t)n * (size_t)looked);
    BDML_NEW(h, at, lists);
    BDML_GO(bdml_knn_search(h, &s->exact, &centers, s->queries, s->which, looked, near, NULL));
    for (int64_t i = 0; i < n; i++) {
        const int32_t *list = near + (size_t)i * (size_t)looked;
        for (int c = 0; c < looked && list[c] >= 0; c++) s->turn[c > 0].from[list[c] + 1]++;
    }
    *most = 0;
    for (int turn = 0; turn < 2; turn++) {
        int64_t *from = s->turn[turn].from;
        for (int64_t l = 0; l < lists; l++) {
            *most = BDML_MAX(*most, from[l + 1]);
            from[l + 1] += from[l];
            at[l] = from[l];
        }
        BDML_NEW(h, s->turn[turn].visit, from[lists]);
        for (int64_t i = 0; i < n; i++) {
            const int32_t *list = near + (size_t)i * (size_t)looked;
            for (int c = turn; c < (turn ? looked : 1) && list[c] >= 0; c++)
                s->turn[turn].visit[at[list[c]]++] = (int32_t)i;
        }
    }
done:
    free(near);
    free(at);
    return status;
}

/* The `kept` nearest of those so far and those of this list, which has none of them, for query i. */
static void merge(const search *s, int64_t i, const int32_t *b, const double *db)
{
    size_t kept = (size_t)s->kept;
    int32_t *a = s->index + (size_t)i * kept, *to = s->merged;
    double *da = s->distance + (size_t)i * kept, *dto = s->merged_distance;
    for (size_t p = 0, q = 0, c = 0; c < kept; c++) {
        bool more_a = a[p] >= 0, more_b = b[q] >= 0;
        bool first = more_a && (!more_b || da[p] < db[q] || (da[p] == db[q] && a[p] < b[q]));
        to[c] = first ? a[p] : b[q];
        dto[c] = first ? da[p++] : db[q++];
        if (!first && !more_b) q--; /* both are at their ends: -1 and infinity again */
    }
    memcpy(a, to, sizeof *a * kept);
    memcpy(da, dto, sizeof *da * kept);
}

static bdml_status search_list(search *s, int turn, int64_t l)
{
    const bdml_rows *rows = &s->in->rows;
    size_t d = (size_t)rows->d;
    int64_t n = s->lists->start[l + 1] - s->lists->start[l], first = s->turn[turn].from[l],
            asked = s->turn[turn].from[l + 1] - first;
    const int32_t *row = s->lists->row + s->lists->start[l], *visit = s->turn[turn].visit + first;

    if (n == 0 || asked == 0) return BDML_OK;
    for (int64_t i = 0; i < n; i++) {
        memcpy(s->x + (size_t)i * d, rows->x + (size_t)row[i] * (size_t)rows->ld, d * sizeof *s->x);
    }
    for (int64_t i = 0; i < asked; i++) {
        memcpy(s->q + (size_t)i * d, s->queries->x + (size_t)visit[i] * (size_t)s->queries->ld,
               d * sizeof *s->q);
        s->within[i] = s->distance[(size_t)(visit[i] + 1) * (size_t)s->kept - 1];
    }
    const bdml_rows here = {.n = n, .d = rows->d, .ld = rows->d, .x = s->x};
    const bdml_rows from = {.n = asked, .d = rows->d, .ld = rows->d, .x = s->q};
    /* all rows of a list are of one class, and only queries that ask for it look into it */
    BDML_TRY(bdml_knn_search_within(s->h, &s->exact, &here, &from, BDML_ANY_CLASS, s->kept,
                                    s->within, s->found, s->found_distance));
    for (int64_t i = 0; i < asked; i++) {
        int32_t *found = s->found + (size_t)i * (size_t)s->kept;
        for (int c = 0; c < s->kept && found[c] >= 0; c++) found[c] = row[found[c]];
        merge(s, visit[i], found, s->found_distance + (size_t)i * (size_t)s->kept);
    }
    return BDML_OK;
}

/* Queries that found fewer than k rows are searched for exactly: theirs are few, or far from all lists that count. */
static bdml_status search_rest(search *s)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t d = (size_t)s->queries->d, kept = (size_t)s->kept;
    int64_t short_of = 0, at = 0;
    double *x = NULL, *distance = NULL;
    int32_t *y = NULL, *index = NULL;

    for (int64_t i = 0; i < s->queries->n; i++)
        short_of += s->index[(size_t)(i + 1) * kept - 1] < 0;
    if (short_of == 0) return BDML_OK;
    BDML_NEW(h, x, (size_t)short_of * d);
    BDML_NEW(h, y, short_of);
    BDML_NEW(h, index, (size_t)short_of * kept);
    BDML_NEW(h, distance, (size_t)short_of * kept);
    for (int64_t i = 0; i < s->queries->n; i++) {
        if (s->index[(size_t)(i + 1) * kept - 1] >= 0) continue;
        memcpy(x + (size_t)at * d, s->queries->x + (size_t)i * (size_t)s->queries->ld,
               d * sizeof *x);
        if (s->queries->y) y[at] = s->queries->y[i];
        at++;
    }
    const bdml_rows asked = {
        short_of, s->queries->d, s->queries->d, x, s->queries->y ? y : NULL, s->queries->classes,
        NULL};
    BDML_GO(
        bdml_knn_search(h, &s->exact, &s->in->rows, &asked, s->which, s->kept, index, distance));
    for (int64_t i = 0, from = 0; i < s->queries->n; i++) {
        if (s->index[(size_t)(i + 1) * kept - 1] >= 0) continue;
        memcpy(s->index + (size_t)i * kept, index + (size_t)from * kept, sizeof *index * kept);
        memcpy(s->distance + (size_t)i * kept, distance + (size_t)from++ * kept,
               sizeof *distance * kept);
    }
done:
    free(x);
    free(y);
    free(index);
    free(distance);
    return status;
}

/* Without the query itself, k of those kept. */
static void give_out(const search *s, int32_t *index, double *distance)
{
    for (int64_t i = 0; i < s->queries->n; i++) {
        const int32_t *from = s->index + (size_t)i * (size_t)s->kept;
        const double *far = s->distance + (size_t)i * (size_t)s->kept;
        int taken = 0;
        for (int c = 0; c < s->kept && taken < s->k; c++) {
            if (s->self && from[c] == (int32_t)i) continue;
            index[(size_t)i * (size_t)s->k + (size_t)taken] = from[c];
            if (distance) distance[(size_t)i * (size_t)s->k + (size_t)taken] = far[c];
            taken++;
        }
    }
}

static bdml_status reserve(search *s, int64_t visits)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t d = (size_t)s->queries->d, kept = (size_t)s->kept;
    int64_t longest = 0;
    for (int64_t l = 0; l < s->lists->count; l++)
        longest = BDML_MAX(longest, s->lists->start[l + 1] - s->lists->start[l]);
    BDML_NEW(h, s->x, (size_t)longest * d);
    BDML_NEW(h, s->q, (size_t)visits * d);
    BDML_NEW(h, s->within, visits);
    BDML_NEW(h, s->found, (size_t)visits * kept);
    BDML_NEW(h, s->found_distance, (size_t)visits * kept);
    BDML_NEW(h, s->merged, kept);
    BDML_NEW(h, s->merged_distance, kept);
done:
    return status;
}

bdml_status bdml_knn_lists_search(bdml_handle *h, bdml_index *in, const bdml_rows *queries,
                                  bdml_restrict which, int k, int32_t *index, double *distance)
{
    bdml_status status = BDML_OK;
    search s = {.h = h,
                .in = in,
                .exact = in->o,
                .queries = queries ? queries : &in->rows,
                .self = !queries,
                .which = which,
                .k = k,
                .kept = k + (!queries && which != BDML_OTHER_CLASS)};
    size_t found = (size_t)s.queries->n * (size_t)s.kept;
    int64_t visits;

    s.exact.search.value = BDML_SEARCH_AUTO;
    BDML_GO(build(h, in));
    s.lists = in->lists;
    BDML_NEW(h, s.index, found);
    BDML_NEW(h, s.distance, found);
    for (size_t e = 0; e < found; e++) {
        s.index[e] = -1;
        s.distance[e] = INFINITY;
    }
    for (int turn = 0; turn < 2; turn++) BDML_NEW(h, s.turn[turn].from, s.lists->count + 1);
    BDML_GO(plan_visits(&s, &visits));
    BDML_GO(reserve(&s, visits));
    for (int64_t l = 0; l < 2 * s.lists->count; l++) {
        BDML_GO(search_list(&s, l >= s.lists->count, l % s.lists->count));
        BDML_GO(bdml_progress(h, "neighbors", l, 2 * s.lists->count));
    }
    BDML_GO(search_rest(&s));
    give_out(&s, index, distance);
done:
    free(s.index);
    free(s.distance);
    for (int turn = 0; turn < 2; turn++) {
        free(s.turn[turn].from);
        free(s.turn[turn].visit);
    }
    free(s.within);
    free(s.x);
    free(s.q);
    free(s.found);
    free(s.found_distance);
    free(s.merged);
    free(s.merged_distance);
    return status;
}
