/* search.c - k nearest neighbours: the entry points, and the choice between products and a tree. */
#include "neighbors/internal.h"

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

static bdml_status run(bdml_knn_task *t)
{
    bool usable = false;
    if (t->query.n == 0) return BDML_OK;
    if (t->reference.n == 0) {
        for (int64_t i = 0; i < t->query.n; i++) bdml_knn_emit(t, i, NULL, 0);
        return BDML_OK;
    }
    if (!bdml_knn_tree_pays(t)) BDML_TRY(bdml_knn_brute_search(t, &usable));
    return usable ? BDML_OK : bdml_knn_tree_search(t);
}

bdml_status bdml_knn_search(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                            const bdml_rows *queries, bdml_restrict which, int k, int32_t *index,
                            double *distance)
{
    bdml_knn_task t;
    BDML_TRY(bdml_knn_task_init(h, o, rows, queries, which, k, index, distance, &t));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_NEIGHBORS);
    bdml_status status = bdml_progress(h, "neighbors", 0, 1);
    if (status == BDML_OK) status = run(&t);
    if (status == BDML_OK) status = bdml_progress(h, "neighbors", 1, 1);
    bdml_phase_leave(h, previous);
    bdml_knn_task_free(&t);
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
    bdml_la_enter(h);
    bdml_status status = bdml_knn_search(h, &h->options.neighbors, &rows, query ? &asked : NULL,
                                         which, k, index, distance);
    bdml_la_leave(h);
    return status;
}
