/* search.c - k nearest neighbours: the index, the entry points, and the choice between products and a tree. */
#include "neighbors/internal.h"

#include <stdlib.h>

/* Only thread 0 may call back; the others see the flag it sets. */
bool bdml_knn_step(bdml_knn_progress *p, int thread)
{
    int64_t done;
    int stop;
#pragma omp atomic capture
    done = ++p->done;
    if (thread == 0 && p->status == BDML_OK) {
        p->status = bdml_progress(p->h, "neighbors", BDML_MIN(done, p->total - 1), p->total);
        if (p->status != BDML_OK) {
#pragma omp atomic write
            p->stop = 1;
        }
    }
#pragma omp atomic read
    stop = p->stop;
    return stop != 0;
}

/* ---- the index --------------------------------------------------------------------------------------- */

void bdml_index_free(bdml_index *in)
{
    if (!in) return;
    free(in->reference.order);
    bdml_knn_frame_free(&in->frame);
    bdml_knn_tree_free(in->tree);
    bdml_knn_tree_free(in->forest);
    bdml_knn_lists_free(in->lists);
    free(in);
}

bdml_status bdml_index_build(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                             bdml_index **out)
{
    bdml_status status = BDML_OK;
    bdml_index *in = NULL;

    *out = NULL;
    BDML_TRY(bdml_knn_check_rows(h, "reference", rows));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_NEIGHBORS);
    BDML_NEW(h, in, 1);
    in->o = *o;
    in->rows = *rows;
    in->reference = (bdml_knn_rows){.n = rows->n, .x = rows->x, .ld = rows->ld};
    if (rows->y) BDML_GO(bdml_knn_order(h, rows->y, &in->reference));
    if (rows->n > 0) BDML_GO(bdml_knn_frame_start(h, in));
    *out = in;
    in = NULL;
done:
    bdml_phase_leave(h, previous);
    bdml_index_free(in);
    return status;
}

/* ---- a search --------------------------------------------------------------------------------------- */

static bdml_status check_search(bdml_handle *h, const bdml_index *in, const bdml_rows *queries,
                                bdml_restrict which, int k, const int32_t *index)
{
    const bdml_rows *asked = queries ? queries : &in->rows;
    if (k < 1) return bdml_fail(h, BDML_ERR_ARGUMENT, "k must be at least 1, got %d", k);
    if (which < BDML_ANY_CLASS || which > BDML_OTHER_CLASS)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "which must be a bdml_restrict, got %d", (int)which);
    if (!index && asked->n > 0) return bdml_fail(h, BDML_ERR_ARGUMENT, "index must not be NULL");
    if (asked->d != in->rows.d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "queries have %d values, the reference rows %d",
                         asked->d, in->rows.d);
    if (which != BDML_ANY_CLASS && ((!in->rows.y && in->rows.n > 0) || (!asked->y && asked->n > 0)))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a search restricted by class needs the labels of all rows, got NULL");
    return queries ? bdml_knn_check_rows(h, "query", queries) : BDML_OK;
}

/* Where classes matter, queries are in the order of their classes too. */
static bdml_status order_queries(bdml_knn_task *t)
{
    if (t->self) t->query.order = t->reference.order;
    if (t->which == BDML_ANY_CLASS) return BDML_OK;
    if (!t->self) BDML_TRY(bdml_knn_order(t->h, t->query_label, &t->query));
    return bdml_knn_find_ranges(t->h, t->query_label, t->label, &t->reference, &t->query);
}

static bdml_status run(bdml_knn_task *t)
{
    bool usable = false;
    if (t->query.n == 0) return BDML_OK;
    if (t->reference.n == 0) {
        for (int64_t i = 0; i < t->query.n; i++) bdml_knn_emit(t, i, NULL, 0);
        return BDML_OK;
    }
    if (!bdml_knn_tree_pays(t->in)) BDML_TRY(bdml_knn_brute_search(t, &usable));
    return usable ? BDML_OK : bdml_knn_tree_search(t);
}

static bdml_status query(bdml_handle *h, bdml_index *in, const bdml_rows *queries,
                         bdml_restrict which, int k, const int32_t *guess, const double *within,
                         int32_t *index, double *distance)
{
    bdml_status status = BDML_OK;
    BDML_TRY(check_search(h, in, queries, which, k, index));
    const bdml_rows *asked = queries ? queries : &in->rows;
    bdml_knn_task t = {.h = h,
                       .in = in,
                       .d = in->rows.d,
                       .k = k,
                       .self = !queries,
                       .which = which,
                       .label = in->rows.y,
                       .query_label = asked->y,
                       .reference = in->reference,
                       .query = {.n = asked->n, .x = asked->x, .ld = asked->ld},
                       .guess = guess,
                       .within = within,
                       .index = index,
                       .distance = distance};
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_NEIGHBORS);
    BDML_GO(bdml_progress(h, "neighbors", 0, 1));
    if (bdml_knn_lists_pay(in, asked->n)) {
        BDML_GO(bdml_knn_lists_search(h, in, queries, which, k, index, distance));
    } else {
        BDML_GO(order_queries(&t));
        BDML_GO(run(&t));
    }
    BDML_GO(bdml_progress(h, "neighbors", 1, 1));
done:
    bdml_phase_leave(h, previous);
    if (!t.self) free(t.query.order);
    free(t.query.from);
    free(t.query.to);
    return status;
}

bdml_status bdml_index_query(bdml_handle *h, bdml_index *in, const bdml_rows *queries,
                             bdml_restrict which, int k, int32_t *index, double *distance)
{
    return query(h, in, queries, which, k, NULL, NULL, index, distance);
}

bdml_status bdml_knn_search_from(bdml_handle *h, const bdml_neighbor_options *o,
                                 const bdml_rows *rows, const bdml_rows *queries, int k,
                                 const int32_t *guess, int32_t *index)
{
    bdml_index *in = NULL;
    bdml_rows reference = *rows;
    reference.y = NULL; /* classes do not matter */
    BDML_TRY(bdml_index_build(h, o, &reference, &in));
    bdml_status status = query(h, in, queries, BDML_ANY_CLASS, k, guess, NULL, index, NULL);
    bdml_index_free(in);
    return status;
}

bdml_status bdml_knn_search(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                            const bdml_rows *queries, bdml_restrict which, int k, int32_t *index,
                            double *distance)
{
    bdml_index *in = NULL;
    bdml_rows reference = *rows;
    if (which == BDML_ANY_CLASS) reference.y = NULL; /* classes do not matter */
    BDML_TRY(bdml_index_build(h, o, &reference, &in));
    bdml_status status = bdml_index_query(h, in, queries, which, k, index, distance);
    bdml_index_free(in);
    return status;
}

bdml_status bdml_knn_search_within(bdml_handle *h, const bdml_neighbor_options *o,
                                   const bdml_rows *rows, const bdml_rows *queries,
                                   bdml_restrict which, int k, const double *within, int32_t *index,
                                   double *distance)
{
    bdml_index *in = NULL;
    BDML_TRY(bdml_index_build(h, o, rows, &in));
    bdml_status status = query(h, in, queries, which, k, NULL, within, index, distance);
    bdml_index_free(in);
    return status;
}

bdml_status bdml_find_neighbors(bdml_handle *h, int64_t n, int d, const double *reference,
                                int64_t ld, const int32_t *label, int64_t queries,
                                const double *query, int64_t ld_query, const int32_t *query_label,
                                bdml_restrict which, int k, int32_t *index, double *distance)
{
    if (!h) return BDML_ERR_ARGUMENT;
    const bdml_rows rows = {.n = n, .d = d, .ld = ld, .x = reference, .y = label};
    const bdml_rows asked = {.n = queries, .d = d, .ld = ld_query, .x = query, .y = query_label};
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = bdml_knn_search(h, &h->options.neighbors, &rows, query ? &asked : NULL,
                                         which, k, index, distance);
    bdml_la_leave(h);
    return status;
}
