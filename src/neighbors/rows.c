/* rows.c - check a search and put its rows in order: by class where classes matter. */
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

static bdml_status check_search(bdml_handle *h, const bdml_rows *r, const bdml_rows *q,
                                bdml_restrict which, int k, const int32_t *index)
{
    int64_t queries = q ? q->n : r->n;

    if (r->n < 0 || r->n > INT32_MAX || queries < 0 || queries > INT32_MAX)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "rows must be from 0 to %d in number, got %lld reference and %lld query rows",
            INT32_MAX, (long long)r->n, (long long)queries);
    if (r->d < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "d must be at least 1, got %d", r->d);
    if (k < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "k must be at least 1, got %d", k);
    if (which < BDML_ANY_CLASS || which > BDML_OTHER_CLASS)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "which must be a bdml_restrict, got %d", (int)which);
    if (r->ld < r->d || (q && q->ld < r->d))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "leading dimensions must be at least d = %d", r->d);
    if ((!r->x && r->n > 0) || (!index && queries > 0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "reference and index must not be NULL");
    if (which != BDML_ANY_CLASS && ((!r->y && r->n > 0) || (q && !q->y && queries > 0)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a search restricted by class needs the labels of all rows, got NULL");
    BDML_TRY(check_finite(h, "reference", r));
    return q ? check_finite(h, "query", q) : BDML_OK;
}

/* ---- order by class ------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b)
{
    uint64_t p, q;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    return p < q ? -1 : p > q;
}

/* Rows by (label, row number). */
static bdml_status order_by_class(bdml_handle *h, const int32_t *label, bdml_knn_rows *r)
{
    bdml_status status = BDML_OK;
    uint64_t *key = NULL;

    BDML_NEW(h, key, r->n);
    BDML_NEW(h, r->order, r->n);
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
static bdml_status find_ranges(bdml_handle *h, const int32_t *query_label, const int32_t *label,
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

/* ---- the task ------------------------------------------------------------------------------------- */

static bdml_status order_rows(bdml_knn_task *t)
{
    if (t->which == BDML_ANY_CLASS) return BDML_OK;
    BDML_TRY(order_by_class(t->h, t->label, &t->reference));
    if (t->self)
        t->query.order = t->reference.order;
    else
        BDML_TRY(order_by_class(t->h, t->query_label, &t->query));
    return find_ranges(t->h, t->query_label, t->label, &t->reference, &t->query);
}

bdml_status bdml_knn_task_init(bdml_handle *h, const bdml_neighbor_options *o,
                               const bdml_rows *rows, const bdml_rows *queries, bdml_restrict which,
                               int k, int32_t *index, double *distance, bdml_knn_task *t)
{
    const bdml_rows *asked = queries ? queries : rows;
    memset(t, 0, sizeof *t);
    BDML_TRY(check_search(h, rows, queries, which, k, index));
    *t = (bdml_knn_task){.h = h,
                         .o = o,
                         .d = rows->d,
                         .k = k,
                         .self = !queries,
                         .which = which,
                         .label = rows->y,
                         .query_label = asked->y,
                         .reference = {.n = rows->n, .x = rows->x, .ld = rows->ld},
                         .query = {.n = asked->n, .x = asked->x, .ld = asked->ld},
                         .index = index,
                         .distance = distance};
    bdml_status status = order_rows(t);
    if (status != BDML_OK) bdml_knn_task_free(t);
    return status;
}

void bdml_knn_task_free(bdml_knn_task *t)
{
    if (!t->self) free(t->query.order);
    free(t->query.from);
    free(t->query.to);
    free(t->reference.order);
    memset(t, 0, sizeof *t);
}
