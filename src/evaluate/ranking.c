/* ranking.c - how good a ranking is. The rows nearest to a query, nearest first: rel(i) = 1 when the i-th is of the
 * query's class, 0 otherwise; R others are of that class.
 *
 *     recall@k      1 when rel(i) = 1 for an i <= k, else 0
 *     precision@k   (1/k) sum_{i <= k} rel(i)
 *     R-precision   precision@R
 *     mAP@R         (1/R) sum_{i <= R} rel(i) precision@i
 *     MRR@10        1/i for the first i <= 10 with rel(i) = 1, 0 when there is none
 *     nDCG@10       sum_{i <= 10} rel(i) / log2(i+1)  over the same sum when all R come first
 *
 * recall@k is what papers on metric learning call so. R-precision and mAP@R look as far as the class is large
 * (Musgrave, Belongie, Lim: A metric learning reality check, 2020); recall@1 = precision@1. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { CUT = 10 }; /* how far the measures look that do not go by R */

const char *const bdml_ranking_keys[BDML_RANKING_MEASURES] = {"recall_at_1",  "recall_at_5",
                                                              "recall_at_10", "precision_at_10",
                                                              "r_precision",  "map_at_r",
                                                              "mrr_at_10",    "ndcg_at_10"};

void bdml_rank_query(int64_t depth, const int32_t *nearest, const int32_t *y, int32_t wanted,
                     int64_t relevant, double *measure)
{
    int64_t hits = 0, near = 0, first = depth + 1; /* near: hits among the CUT nearest */
    int64_t reach = BDML_MIN(depth, BDML_MAX(relevant, (int64_t)CUT));
    double precise = 0.0, average = 0.0, gain = 0.0, ideal = 0.0;
    for (int64_t i = 1; i <= reach; i++) {
        bool hit = y[nearest[i - 1]] == wanted;
        double discount = i <= CUT ? 1.0 / log2((double)i + 1.0) : 0.0;
        if (i <= relevant) ideal += discount;
        if (!hit) continue;
        hits++;
        if (first > depth) first = i;
        near += i <= CUT;
        gain += discount;
        if (i > relevant) continue;
        precise += 1.0;
        average += (double)hits / (double)i;
    }
    measure[BDML_RECALL_1] = first <= 1;
    measure[BDML_RECALL_5] = first <= 5 && first <= depth;
    measure[BDML_RECALL_10] = near > 0;
    measure[BDML_PRECISION_10] = (double)near / CUT;
    measure[BDML_R_PRECISION] = precise / (double)relevant;
    measure[BDML_MAP_R] = average / (double)relevant;
    measure[BDML_MRR_10] = near > 0 ? 1.0 / (double)first : 0.0;
    measure[BDML_NDCG_10] = gain / ideal;
}

/* Take the query itself out of its list of depth + 1. Where so many equal rows stand before it that it is not in the
 * list, the last goes. */
static void leave_out(int64_t depth, int32_t query, int32_t *nearest)
{
    int64_t at = 0;
    while (at < depth && nearest[at] != query) at++;
    memmove(nearest + at, nearest + at + 1, sizeof *nearest * (size_t)(depth - at));
}

static bdml_status count_classes(bdml_handle *h, const bdml_rows *rows, int64_t **count)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, *count, rows->classes);
    for (int64_t i = 0; i < rows->n; i++) (*count)[rows->y[i]]++;
done:
    return status;
}

bdml_status bdml_rank_rows(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                           bdml_ranking *out)
{
    bdml_status status = BDML_OK;
    bdml_index *index = NULL;
    int64_t *count = NULL, depth = CUT;
    int32_t *nearest = NULL;
    double one[BDML_RANKING_MEASURES];

    *out = (bdml_ranking){0};
    BDML_GO(count_classes(h, rows, &count));
    for (int c = 0; c < rows->classes; c++) depth = BDML_MAX(depth, count[c] - 1);
    depth = BDML_MAX(BDML_MIN(depth, rows->n - 1), 0);
    int64_t list = depth + 1, block = bdml_model_block(h, sizeof *nearest * (size_t)list);
    block = BDML_MIN(block, rows->n);
    BDML_NEW(h, nearest, (size_t)block * (size_t)list);
    BDML_GO(bdml_index_build(h, o, rows, &index));
    for (int64_t from = 0; from < rows->n; from += block) {
        bdml_rows queries = *rows;
        queries.n = BDML_MIN(block, rows->n - from);
        queries.x = COL(rows->x, rows->ld, from);
        queries.y = rows->y + from;
        BDML_GO(bdml_index_query(h, index, &queries, BDML_ANY_CLASS, (int)list, nearest, NULL));
        for (int64_t i = 0; i < queries.n; i++) {
            int64_t relevant = count[queries.y[i]] - 1;
            if (relevant < 1) continue;
            leave_out(depth, (int32_t)(from + i), nearest + i * list);
            bdml_rank_query(depth, nearest + i * list, rows->y, queries.y[i], relevant, one);
            for (int m = 0; m < BDML_RANKING_MEASURES; m++) out->measure[m] += one[m];
            out->queries++;
        }
    }
    for (int m = 0; m < BDML_RANKING_MEASURES; m++)
        out->measure[m] = 100.0 * out->measure[m] / (double)out->queries; /* no query: NaN */
done:
    bdml_index_free(index);
    free(nearest);
    free(count);
    return status;
}
