/* rows.c - check a search and put its rows in order: by class where classes matter. */
#include "neighbors/internal.h"

#include <stdlib.h>

/* ---- checks ------------------------------------------------------------------------------------- */

static bdml_status check_finite(bdml_handle *h, const char *what, int64_t n, int d, const double *x,
                                int64_t ld)
{
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

static bdml_status check_query(bdml_handle *h, const bdml_knn_query *q, const int32_t *index)
{
    int64_t queries = q->q ? q->queries : q->n;
    bool labels = q->which != BDML_ANY_CLASS;

    if (q->n < 0 || q->n > INT32_MAX || queries < 0 || queries > INT32_MAX)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "rows must be from 0 to %d in number, got %lld reference and %lld query rows",
            INT32_MAX, (long long)q->n, (long long)queries);
    if (q->d < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "d must be at least 1, got %d", q->d);
    if (q->k < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "k must be at least 1, got %d", q->k);
    if (q->which < BDML_ANY_CLASS || q->which > BDML_OTHER_CLASS)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "which must be a bdml_restrict, got %d",
                         (int)q->which);
    if (q->ld < q->d || (q->q && q->ldq < q->d))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "leading dimensions must be at least d = %d", q->d);
    if ((!q->x && q->n > 0) || (!index && queries > 0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "reference and index must not be NULL");
    if (labels && ((!q->label && q->n > 0) || (q->q && !q->query_label && queries > 0)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a search restricted by class needs the labels of all rows, got NULL");
    BDML_TRY(check_finite(h, "reference", q->n, q->d, q->x, q->ld));
    return q->q ? check_finite(h, "query", queries, q->d, q->q, q->ldq) : BDML_OK;
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

static bdml_status order_rows(const bdml_knn_query *q, bdml_knn_task *t)
{
    if (t->which == BDML_ANY_CLASS) return BDML_OK;
    BDML_TRY(order_by_class(t->h, q->label, &t->reference));
    if (t->self) {
        t->query.order = t->reference.order;
        return find_ranges(t->h, q->label, q->label, &t->reference, &t->query);
    }
    BDML_TRY(order_by_class(t->h, q->query_label, &t->query));
    return find_ranges(t->h, q->query_label, q->label, &t->reference, &t->query);
}

bdml_status bdml_knn_task_init(bdml_handle *h, const bdml_knn_query *q, int32_t *index,
                               double *distance, bdml_knn_task *t)
{
    memset(t, 0, sizeof *t);
    BDML_TRY(check_query(h, q, index));
    t->h = h;
    t->d = q->d;
    t->k = q->k;
    t->self = q->q == NULL;
    t->which = q->which;
    t->label = q->label;
    t->query_label = t->self ? q->label : q->query_label;
    t->index = index;
    t->distance = distance;
    t->reference = (bdml_knn_rows){.n = q->n, .x = q->x, .ld = q->ld};
    t->query = t->self ? t->reference : (bdml_knn_rows){.n = q->queries, .x = q->q, .ld = q->ldq};
    bdml_status status = order_rows(q, t);
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
