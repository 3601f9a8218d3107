/* rows.c - check rows and put them in order: by class where classes matter. */
#include "neighbors/internal.h"

#include <stdlib.h>

/* ---- checks ------------------------------------------------------------------------------------- */

static bdml_status check_finite(bdml_handle *h, const char *what, const bdml_rows *r)
{
    const double *x = r->x;
    int64_t n = r->n, ld = r->ld;
    int d = r->d;
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(bdml_threads(h)) \
    reduction(min                                                      \
              : bad) if (n * d > 100000)
    for (int64_t i = 0; i < n; i++) {
        const double *row = x + (size_t)i * (size_t)ld;
        double zero = 0.0; /* 0 * v is NaN for a v that is not finite, and NaN stays */
        for (int j = 0; j < d; j++) zero += 0.0 * row[j];
        if (zero != 0.0) bad = BDML_MIN(bad, i);
    }
    if (bad == INT64_MAX) return BDML_OK;
    const double *row = x + (size_t)bad * (size_t)ld;
    int j = 0;
    while (isfinite(row[j])) j++;
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s row %lld, column %d holds %g; distances need finite numbers", what,
                     (long long)bad, j, row[j]);
}

bdml_status bdml_knn_check_rows(bdml_handle *h, const char *what, const bdml_rows *r)
{
    if (r->n < 0 || r->n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "%s rows must be from 0 to %d in number, got %lld",
                         what, INT32_MAX, (long long)r->n);
    if (r->d < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "d must be at least 1, got %d", r->d);
    if (r->ld < r->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "leading dimensions must be at least d = %d", r->d);
    if (!r->x && r->n > 0) return bdml_fail(h, BDML_ERR_ARGUMENT, "%s rows must not be NULL", what);
    return check_finite(h, what, r);
}

/* ---- order by class ------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b)
{
    uint64_t p, q;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    return p < q ? -1 : p > q;
}

/* Labels `least` and the `range` after it, by counting: a second faster than by sorting where there are millions. */
static bdml_status order_by_count(bdml_handle *h, const int32_t *label, int32_t least,
                                  int64_t range, bdml_knn_rows *r)
{
    int64_t *place = bdml_calloc(h, (size_t)range + 1, sizeof *place);
    if (!place) return BDML_ERR_MEMORY;
    for (int64_t i = 0; i < r->n; i++) place[(int64_t)label[i] - least + 1]++;
    for (int64_t c = 1; c <= range; c++) place[c] += place[c - 1];
    for (int64_t i = 0; i < r->n; i++) r->order[place[(int64_t)label[i] - least]++] = (int32_t)i;
    free(place);
    return BDML_OK;
}

/* Rows by (label, row number). */
bdml_status bdml_knn_order(bdml_handle *h, const int32_t *label, bdml_knn_rows *r)
{
    bdml_status status = BDML_OK;
    uint64_t *key = NULL;
    int32_t least = INT32_MAX, most = INT32_MIN;

    BDML_NEW(h, r->order, r->n);
    for (int64_t i = 0; i < r->n; i++) {
        least = BDML_MIN(least, label[i]);
        most = BDML_MAX(most, label[i]);
    }
    int64_t range = (int64_t)most - least + 1;
    if (r->n > 0 && range <= r->n) return order_by_count(h, label, least, range, r);
    BDML_NEW(h, key, r->n);
    for (int64_t i = 0; i < r->n; i++)
        key[i] = (uint64_t)((uint32_t)label[i] ^ 0x80000000u) << 32 | (uint64_t)i;
    qsort(key, (size_t)r->n, sizeof *key, compare_keys);
    for (int64_t i = 0; i < r->n; i++) r->order[i] = (int32_t)(key[i] & 0xffffffffu);
done:
    free(key);
    return status;
}

/* from, to: where the class of each query position lies among the reference positions. One walk
 * along both, as both are in order of class. */
bdml_status bdml_knn_find_ranges(bdml_handle *h, const int32_t *query_label, const int32_t *label,
                                 const bdml_knn_rows *ref, bdml_knn_rows *r)
{
    bdml_status status = BDML_OK;
    int64_t from = 0, to = 0;

    BDML_NEW(h, r->from, r->n);
    BDML_NEW(h, r->to, r->n);
    for (int64_t i = 0; i < r->n; i++) {
        int32_t c = query_label[r->order[i]];
        if (i == 0 || c != query_label[r->order[i - 1]]) {
            for (from = to; from < ref->n && label[ref->order[from]] < c;) from++;
            for (to = from; to < ref->n && label[ref->order[to]] == c;) to++;
        }
        r->from[i] = (int32_t)from;
        r->to[i] = (int32_t)to;
    }
done:
    return status;
}
