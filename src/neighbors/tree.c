/* tree.c - k nearest neighbours by a k-d tree: the better way in few dimensions, and the way that
 * works for any finite numbers.
 *
 * Exactness needs no error bounds. The distance to a box is summed like the distance to a point, in
 * the same order, and rounding is monotone: so, to the bit, no point of the box is nearer. A box that
 * ties with the worst neighbour kept is entered only if it holds a lower row number. */
#include "neighbors/internal.h"

#include <omp.h>
#include <stdlib.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF /* as in select.c */
#endif

enum { LEAF = 16 };        /* points of a leaf: a few vector registers */
enum { TASK_FROM = 4096 }; /* points of a subtree that is worth a task when building */
enum { QUERY_BLOCK = 64 }; /* queries between two looks at the clock */

/* Nodes are stored in preorder: the left child follows its parent. All leaves of a tree but the last
 * are full, so the size of a subtree follows from its number of points. */
typedef struct node {
    int32_t begin, end; /* tree positions */
    int32_t right;      /* right child; 0 = leaf */
    int32_t least;      /* lowest row number inside */
    int32_t label;      /* class of all points inside, when pure */
    bool pure;
} node;

struct bdml_knn_tree {
    const bdml_knn_rows *reference;
    const int32_t *label; /* of the rows, or NULL */
    int d;
    node *nodes;
    double *box;    /* node*2d: lower corner, upper corner */
    int32_t *point; /* tree position -> reference position */
    int32_t *leaf;  /* tree position / LEAF of a leaf's begin, by node: where its copy is */
    int32_t *root;  /* reference position where a class begins -> its root; NULL: one tree */
    double *copy;   /* leaves, coordinate by coordinate: LEAF values each; NULL: memory forbids */
};
typedef struct bdml_knn_tree tree;

static int64_t leaves_of(int64_t points)
{
    return (points + LEAF - 1) / LEAF;
}

/* ---- build -------------------------------------------------------------------------------------------- */

static double coordinate(const tree *s, int32_t point, int j)
{
    return bdml_knn_point(s->reference, point)[j];
}

static void measure_node(tree *s, int32_t at)
{
    int d = s->d;
    node *v = &s->nodes[at];
    double *lo = s->box + (size_t)at * 2 * (size_t)d, *hi = lo + d;
    const int32_t *label = s->label;

    memcpy(lo, bdml_knn_point(s->reference, s->point[v->begin]), sizeof *lo * (size_t)d);
    memcpy(hi, lo, sizeof *hi * (size_t)d);
    v->least = bdml_knn_row(s->reference, s->point[v->begin]);
    v->label = label ? label[v->least] : 0;
    v->pure = label != NULL;
    for (int32_t i = v->begin + 1; i < v->end; i++) {
        const double *x = bdml_knn_point(s->reference, s->point[i]);
        int32_t row = bdml_knn_row(s->reference, s->point[i]);
        v->least = BDML_MIN(v->least, row);
        if (label && label[row] != v->label) v->pure = false;
        for (int j = 0; j < d; j++) {
            lo[j] = x[j] < lo[j] ? x[j] : lo[j];
            hi[j] = x[j] > hi[j] ? x[j] : hi[j];
        }
    }
}

static int widest(const tree *s, int32_t at)
{
    int d = s->d, best = 0;
    const double *lo = s->box + (size_t)at * 2 * (size_t)d, *hi = lo + d;
    for (int j = 1; j < d; j++)
        if (hi[j] - lo[j] > hi[best] - lo[best]) best = j;
    return best;
}

/* Reorder points lo..hi so that those before `middle` are not above those from it on in column j. */
static void partition(tree *s, int32_t lo, int32_t hi, int32_t middle, int j)
{
    while (lo < hi) {
        double pivot = coordinate(s, s->point[lo + (hi - lo) / 2], j);
        int32_t i = lo, e = hi;
        while (i <= e) {
            while (coordinate(s, s->point[i], j) < pivot) i++;
            while (pivot < coordinate(s, s->point[e], j)) e--;
            if (i > e) break;
            int32_t p = s->point[i];
            s->point[i++] = s->point[e];
            s->point[e--] = p;
        }
        if (middle > e && middle < i) return;
        if (middle <= e)
            hi = e;
        else
            lo = i;
    }
}

/* Copy a leaf coordinate by coordinate; places beyond its last point repeat the first. */
static void gather_leaf(const tree *s, const node *v, double *out)
{
    int d = s->d;
    for (int p = 0; p < LEAF; p++) {
        int32_t i = v->begin + p < v->end ? v->begin + p : v->begin;
        const double *x = bdml_knn_point(s->reference, s->point[i]);
        for (int j = 0; j < d; j++) out[j * LEAF + p] = x[j];
    }
}

static double *leaf_copy(const tree *s, int32_t at)
{
    return s->copy + (size_t)s->leaf[at] * LEAF * (size_t)s->d;
}

/* Node `at` over begin..end; `leaf` is the number of its first leaf. What was stopped is left as it is. */
static void build(tree *s, int32_t at, int32_t begin, int32_t end, int32_t leaf,
                  bdml_knn_progress *p)
{
    int64_t count = end - begin, half = (leaves_of(count) + 1) / 2;
    node *v = &s->nodes[at];
    if (count > TASK_FROM && bdml_knn_step(p, omp_get_thread_num())) return;
    *v = (node){.begin = begin, .end = end};
    s->leaf[at] = leaf;
    measure_node(s, at);
    if (count <= LEAF) {
        if (s->copy) gather_leaf(s, v, leaf_copy(s, at));
        return;
    }
    int32_t middle = begin + (int32_t)half * LEAF, right = at + 2 * (int32_t)half;
    v->right = right;
    partition(s, begin, end - 1, middle, widest(s, at));
#pragma omp task if (count > TASK_FROM)
    build(s, at + 1, begin, middle, leaf, p);
    build(s, right, middle, end, leaf + (int32_t)half, p);
}

/* One tree, or one for each class when only the own class counts. */
static bdml_status build_all(bdml_handle *h, tree *s)
{
    bdml_knn_progress p = {.h = h, .total = INT64_MAX}; /* of the search, next to nothing */
    int threads = bdml_threads(h);                      /* NOLINT: the pragma reads it */
    const bdml_knn_rows *ref = s->reference;
    int32_t n = (int32_t)ref->n, at = 0, leaf = 0;
    for (int32_t i = 0; i < n; i++) s->point[i] = i;
#pragma omp parallel num_threads(threads) if (n > TASK_FROM)
#pragma omp single
    for (int32_t begin = 0, end; begin < n; begin = end) {
        for (end = s->root ? begin + 1 : n;
             end < n && s->label[ref->order[end]] == s->label[ref->order[begin]];)
            end++;
        int32_t leaves = (int32_t)leaves_of(end - begin), here = at, first = leaf;
        if (s->root) s->root[begin] = here;
#pragma omp task if (end - begin > TASK_FROM)
        build(s, here, begin, end, first, &p);
        at += 2 * leaves - 1;
        leaf += leaves;
    }
    return p.status;
}

void bdml_knn_tree_free(tree *s)
{
    if (!s) return;
    free(s->nodes);
    free(s->box);
    free(s->leaf);
    free(s->point);
    free(s->root);
    free(s->copy);
    free(s);
}

static int64_t count_roots(const tree *s, bool by_class)
{
    const int32_t *order = s->reference->order;
    int64_t roots = 1;
    for (int64_t i = 1; by_class && i < s->reference->n; i++)
        roots += s->label[order[i]] != s->label[order[i - 1]];
    return roots;
}

/* Bytes of the copy of the leaves and of the boxes. */
static double tree_bytes(int d, int64_t leaves)
{
    return (double)leaves * d * sizeof(double) * (LEAF + 4);
}

static bdml_status make_tree(bdml_handle *h, const bdml_index *in, bool by_class, tree **out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)in->rows.d;
    tree *s = NULL;

    BDML_NEW(h, s, 1);
    *s = (tree){.reference = &in->reference, .label = in->rows.y, .d = in->rows.d};
    int64_t leaves = in->rows.n / LEAF + count_roots(s, by_class);
    BDML_NEW(h, s->nodes, 2 * leaves);
    BDML_NEW(h, s->box, (size_t)leaves * 4 * d);
    BDML_NEW(h, s->leaf, 2 * leaves);
    BDML_NEW(h, s->point, in->rows.n);
    if (by_class) BDML_NEW(h, s->root, in->rows.n);
    if (tree_bytes(s->d, leaves) <= (double)bdml_memory(h))
        BDML_NEW(h, s->copy, (size_t)leaves * LEAF * d);
    BDML_GO(build_all(h, s));
    *out = s;
    s = NULL;
done:
    bdml_knn_tree_free(s);
    return status;
}

/* ---- search ------------------------------------------------------------------------------------------- */

/* What the queries of a task share. */
typedef struct seeker {
    const bdml_knn_task *t;
    const tree *s;
    bdml_knn_pair *heap; /* per thread, k of them */
    double *gather;      /* per thread, LEAF*d: a leaf when there is no copy */
    int k;
} seeker;

typedef struct query {
    const bdml_knn_task *t;
    const tree *s;
    int k;
    const double *a;
    int32_t row;   /* own row number when it is not to be found, else -1 */
    int32_t label; /* class to leave out */
    bdml_knn_pair *heap;
    double *gather;
} query;

static double box_distance(const query *q, int32_t at)
{
    int d = q->s->d;
    const double *lo = q->s->box + (size_t)at * 2 * (size_t)d, *hi = lo + d;
    double sum = 0.0;
    for (int j = 0; j < d; j++) {
        double below = lo[j] - q->a[j], above = q->a[j] - hi[j];
        double t = below > above ? below : above;
        t = t > 0.0 ? t : 0.0;
        sum += t * t;
    }
    return sum;
}

static void scan_leaf(const query *q, int32_t at)
{
    const tree *s = q->s;
    const bdml_knn_task *t = q->t;
    const node *v = &s->nodes[at];
    const double *x = q->gather;
    double sum[LEAF] = {0};

    if (s->copy)
        x = leaf_copy(s, at);
    else
        gather_leaf(s, v, q->gather);
    for (int j = 0; j < t->d; j++, x += LEAF)
        for (int p = 0; p < LEAF; p++) {
            double diff = q->a[j] - x[p];
            sum[p] += diff * diff;
        }
    for (int p = 0; p < v->end - v->begin; p++) {
        if (sum[p] > q->heap[0].distance) continue;
        int32_t row = bdml_knn_row(&t->reference, s->point[v->begin + p]);
        bdml_knn_pair found = {sum[p], row, 0};
        if (!bdml_knn_before(found, q->heap[0]) || row == q->row) continue;
        if (t->which == BDML_OTHER_CLASS && t->label[row] == q->label) continue;
        bdml_knn_heap_replace(q->heap, q->k, found);
    }
}

/* Nothing at `distance` or beyond, and no row number below `least`, is inside. */
static void visit(const query *q, int32_t at, double distance)
{
    const node *v = &q->s->nodes[at];
    if (!bdml_knn_before((bdml_knn_pair){distance, v->least, 0}, q->heap[0])) return;
    if (q->t->which == BDML_OTHER_CLASS && v->pure && v->label == q->label) return;
    if (v->right == 0) {
        scan_leaf(q, at);
        return;
    }
    int32_t near = at + 1, far = v->right;
    double near_distance = box_distance(q, near), far_distance = box_distance(q, far);
    if (far_distance < near_distance) {
        double swap = near_distance;
        near_distance = far_distance;
        far_distance = swap;
        near = v->right;
        far = at + 1;
    }
    visit(q, near, near_distance);
    visit(q, far, far_distance);
}

/* Query position i. The heap starts with k places that any row beats. */
static void answer(const seeker *w, int64_t i, int thread)
{
    const bdml_knn_task *t = w->t;
    const tree *s = w->s;
    int32_t row = bdml_knn_row(&t->query, i), root = 0;
    size_t k = (size_t)w->k;
    query q = {.t = t,
               .s = s,
               .k = w->k,
               .a = bdml_knn_point(&t->query, i),
               .row = t->self ? row : -1,
               .heap = w->heap + (size_t)thread * k,
               .gather = w->gather + (size_t)thread * LEAF * (size_t)t->d};
    bool empty = s->root && t->query.from[i] == t->query.to[i];

    for (size_t c = 0; c < k; c++) q.heap[c] = (bdml_knn_pair){(double)INFINITY, INT32_MAX, 0};
    if (s->root && !empty) root = s->root[t->query.from[i]];
    if (t->which == BDML_OTHER_CLASS) q.label = t->query_label[row];
    if (!empty) visit(&q, root, box_distance(&q, root));
    bdml_knn_sort(q.heap, w->k);
    int count = w->k;
    while (count > 0 && q.heap[count - 1].index == INT32_MAX) count--;
    bdml_knn_emit(t, row, q.heap, count);
}

/* Queries that are the reference rows go in the order of the tree: the next one needs what is in
 * cache. */
static bdml_status answer_all(const seeker *w)
{
    const bdml_knn_task *t = w->t;
    int64_t n = t->query.n, blocks = (n + QUERY_BLOCK - 1) / QUERY_BLOCK;
    bdml_knn_progress p = {.h = t->h, .total = blocks + 1};
    /* A query looks at some tens of points at least. */
    int threads = /* NOLINT(clang-analyzer-deadcode.DeadStores): the pragma reads it */
        bdml_threads_for(t->h, 100.0 * (double)n * (double)t->d);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t b = 0; b < blocks; b++) {
        int thread = omp_get_thread_num();
        if (bdml_knn_step(&p, thread)) continue;
        for (int64_t i = b * QUERY_BLOCK; i < BDML_MIN(n, (b + 1) * QUERY_BLOCK); i++)
            answer(w, t->self ? w->s->point[i] : i, thread);
    }
    return p.status;
}

bdml_status bdml_knn_tree_search(bdml_knn_task *t)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = t->h;
    bool by_class = t->which == BDML_SAME_CLASS;
    tree **made = by_class ? &t->in->forest : &t->in->tree;
    size_t threads = (size_t)bdml_threads(h);
    seeker w = {.t = t, .k = (int)BDML_MIN((int64_t)t->k, t->reference.n)};

    if (!*made) BDML_GO(make_tree(h, t->in, by_class, made));
    w.s = *made;
    BDML_NEW(h, w.heap, threads * (size_t)w.k);
    BDML_NEW(h, w.gather, threads * LEAF * (size_t)t->d);
    status = answer_all(&w);
done:
    free(w.heap);
    free(w.gather);
    return status;
}

/* Measured on points uniform in a cube, the tree's hard case (bench/README.md): the tree is faster up
 * to 6 dimensions and from 5000 to 10000 points at 7. Four times as many points for each further
 * dimension is extrapolated. */
bool bdml_knn_tree_pays(const bdml_index *in)
{
    enum { ALWAYS = 6, NEVER = 16, POINTS = 8192 };
    int asked = in->o.search.value, d = in->rows.d;
    if (asked == BDML_SEARCH_BRUTE || asked == BDML_SEARCH_TREE) return asked == BDML_SEARCH_TREE;
    if (d <= ALWAYS || d >= NEVER) return d <= ALWAYS;
    return in->rows.n >= (int64_t)POINTS << 2 * (d - ALWAYS - 1);
}
