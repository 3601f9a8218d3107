/* select.c - the distance that everything is measured by, and selection of the nearest by it.
 *
 * Pairs are ordered by (distance, index), a total order on distinct rows: results do not depend on
 * the order in which candidates were found. */
#include "neighbors/internal.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT \
    OFF /* a fused multiply-add would round differently; gcc's C11 mode has none */
#endif

double bdml_knn_distance(int d, const double *a, const double *b)
{
    double s = 0.0;
    for (int j = 0; j < d; j++) {
        double t = a[j] - b[j];
        s += t * t;
    }
    return s;
}

/* Four independent chains of additions hide the latency that one alone waits for. */
void bdml_knn_distance4(int d, const double *a, const double *const b[4], double out[4])
{
    const double *b0 = b[0], *b1 = b[1], *b2 = b[2], *b3 = b[3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (int j = 0; j < d; j++) {
        double t0 = a[j] - b0[j], t1 = a[j] - b1[j], t2 = a[j] - b2[j], t3 = a[j] - b3[j];
        s0 += t0 * t0;
        s1 += t1 * t1;
        s2 += t2 * t2;
        s3 += t3 * t3;
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
}

static void swap(bdml_knn_pair *a, bdml_knn_pair *b)
{
    bdml_knn_pair t = *a;
    *a = *b;
    *b = t;
}

/* Split p[lo..hi] around the median of three: [lo, *left] <= pivot <= [*right, hi]. */
static void split(bdml_knn_pair *p, int64_t lo, int64_t hi, int64_t *left, int64_t *right)
{
    int64_t mid = lo + (hi - lo) / 2, i = lo, j = hi;
    if (bdml_knn_before(p[mid], p[lo])) swap(&p[mid], &p[lo]);
    if (bdml_knn_before(p[hi], p[lo])) swap(&p[hi], &p[lo]);
    if (bdml_knn_before(p[hi], p[mid])) swap(&p[hi], &p[mid]);
    bdml_knn_pair pivot = p[mid];
    while (i <= j) {
        while (bdml_knn_before(p[i], pivot)) i++;
        while (bdml_knn_before(pivot, p[j])) j--;
        if (i <= j) swap(&p[i++], &p[j--]);
    }
    *left = j;
    *right = i;
}

/* Quickselect, until the k-th pair stands where sorting would put it. */
void bdml_knn_select(bdml_knn_pair *p, int64_t count, int64_t k)
{
    int64_t lo = 0, hi = count - 1, target = k - 1, left, right;
    if (k <= 0 || k >= count) return;
    while (lo < hi) {
        split(p, lo, hi, &left, &right);
        if (target > left && target < right) return;
        if (target <= left)
            hi = left;
        else
            lo = right;
    }
}

static void insertion_sort(bdml_knn_pair *pair, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        bdml_knn_pair p = pair[i];
        int64_t j = i;
        for (; j > 0 && bdml_knn_before(p, pair[j - 1]); j--) pair[j] = pair[j - 1];
        pair[j] = p;
    }
}

/* Quicksort; the shorter side by recursion, so that the stack stays small. */
void bdml_knn_sort(bdml_knn_pair *pair, int64_t count)
{
    enum { SHORT = 24 }; /* insertion sort wins below */
    while (count > SHORT) {
        int64_t left, right;
        split(pair, 0, count - 1, &left, &right);
        if (left + 1 < count - right) {
            bdml_knn_sort(pair, left + 1);
            pair += right;
            count -= right;
        } else {
            bdml_knn_sort(pair + right, count - right);
            count = left + 1;
        }
    }
    insertion_sort(pair, count);
}

void bdml_knn_heap_replace(bdml_knn_pair *heap, int64_t k, bdml_knn_pair p)
{
    int64_t i = 0;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= k) break;
        if (child + 1 < k && bdml_knn_before(heap[child], heap[child + 1])) child++;
        if (!bdml_knn_before(p, heap[child])) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = p;
}

void bdml_knn_emit(const bdml_knn_task *t, int64_t row, const bdml_knn_pair *pair, int64_t count)
{
    int32_t *index = t->index + (size_t)row * (size_t)t->k;
    double *distance = t->distance ? t->distance + (size_t)row * (size_t)t->k : NULL;
    for (int64_t j = 0; j < t->k; j++) {
        index[j] = j < count ? pair[j].index : -1;
        if (distance) distance[j] = j < count ? pair[j].distance : (double)INFINITY;
    }
}
