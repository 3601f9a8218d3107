/* combine.c - from lists of target and impostor pairs to pair or triplet constraints. */
#include "problem/problem.h"

#include <stdlib.h>

/* ---- lists ----------------------------------------------------------------------------------- */

bdml_status bdml_pairs_add(bdml_handle *h, bdml_pairs *list, int32_t i, int32_t j)
{
    size_t used = 2 * (size_t)list->count;
    BDML_TRY(bdml_grow(h, &list->row, &list->capacity, used + 2, sizeof *list->row));
    list->row[used] = i;
    list->row[used + 1] = j;
    list->count++;
    return BDML_OK;
}

void bdml_pairs_free(bdml_pairs *list)
{
    free(list->row);
    *list = (bdml_pairs){0};
}

void bdml_lists_free(bdml_lists *lists)
{
    bdml_pairs_free(&lists->target);
    bdml_pairs_free(&lists->impostor);
}

/* ---- grouping by the first row ------------------------------------------------------------------ */

/* first[i] .. first[i+1]: places in `second` of the pairs (i, .), in the order of the list. */
typedef struct groups {
    int64_t *first;
    int32_t *second;
} groups;

static bdml_status group(bdml_handle *h, int64_t n, const bdml_pairs *list, groups *g)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, g->first, n + 1);
    BDML_NEW(h, g->second, list->count);
    for (int64_t k = 0; k < list->count; k++) g->first[list->row[2 * k] + 1]++;
    for (int64_t i = 0; i < n; i++) g->first[i + 1] += g->first[i];
    for (int64_t k = 0; k < list->count; k++)
        g->second[g->first[list->row[2 * k]]++] = list->row[2 * k + 1];
    for (int64_t i = n; i > 0; i--) g->first[i] = g->first[i - 1];
    g->first[0] = 0;
done:
    return status;
}

static void free_groups(groups *g)
{
    free(g->first);
    free(g->second);
}

/* ---- constraints ---------------------------------------------------------------------------------- */

/* Triplets (i, target, impostor) into rows, or only their number where rows is NULL. *both: pairs
 * that stand on both sides. */
static int64_t combine(int64_t n, const groups *target, const groups *impostor, int32_t *rows,
                       int64_t *both)
{
    int64_t m = 0;
    *both = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = target->first[i]; a < target->first[i + 1]; a++)
            for (int64_t b = impostor->first[i]; b < impostor->first[i + 1]; b++) {
                if (target->second[a] == impostor->second[b]) {
                    ++*both;
                    continue;
                }
                if (rows) {
                    rows[3 * m] = (int32_t)i;
                    rows[3 * m + 1] = target->second[a];
                    rows[3 * m + 2] = impostor->second[b];
                }
                m++;
            }
    return m;
}

static bdml_status build_triplets(bdml_handle *h, int64_t n, const bdml_lists *lists,
                                  int64_t triplets, const int32_t *triplet, const double *weight,
                                  bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    double *weights = NULL; /* 1 for those that are combined */
    groups target = {0}, impostor = {0};
    int32_t *rows = NULL;
    int64_t both;
    BDML_GO(group(h, n, &lists->target, &target));
    BDML_GO(group(h, n, &lists->impostor, &impostor));
    int64_t m = combine(n, &target, &impostor, NULL, &both);
    BDML_NEW(h, rows, 3 * ((size_t)m + (size_t)triplets));
    combine(n, &target, &impostor, rows, &both);
    if (triplets > 0) memcpy(rows + 3 * m, triplet, sizeof *rows * 3 * (size_t)triplets);
    if (weight) {
        BDML_NEW(h, weights, m + triplets);
        for (int64_t t = 0; t < m + triplets; t++) weights[t] = t < m ? 1.0 : weight[t - m];
    }
    BDML_GO(bdml_constraints_build(h, n, lists->target.count, lists->target.row, m + triplets, rows,
                                   NULL, weights, out));
    (*out)->contradictions += both;
done:
    free_groups(&target);
    free_groups(&impostor);
    free(rows);
    free(weights);
    return status;
}

static bdml_status build_pairs(bdml_handle *h, int64_t n, const bdml_lists *lists,
                               bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    const bdml_pairs *impostor = &lists->impostor;
    int32_t *rows = NULL;
    BDML_NEW(h, rows, 3 * (size_t)impostor->count);
    for (int64_t k = 0; k < impostor->count; k++) {
        rows[3 * k] = impostor->row[2 * k];
        rows[3 * k + 1] = -1;
        rows[3 * k + 2] = impostor->row[2 * k + 1];
    }
    BDML_GO(bdml_constraints_build(h, n, lists->target.count, lists->target.row, impostor->count,
                                   rows, NULL, NULL, out));
done:
    free(rows);
    return status;
}

bdml_status bdml_constraints_combine(bdml_handle *h, int64_t n, int kind, const bdml_lists *lists,
                                     int64_t triplets, const int32_t *triplet, const double *weight,
                                     bdml_constraints **out)
{
    *out = NULL;
    return kind == BDML_KIND_PAIR ? build_pairs(h, n, lists, out)
                                  : build_triplets(h, n, lists, triplets, triplet, weight, out);
}

bdml_status bdml_constraints_as_pairs(bdml_handle *h, const bdml_constraints *c,
                                      bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_lists lists = {0};
    unsigned char *listed = NULL; /* per pair */

    *out = NULL;
    BDML_NEW(h, listed, c->pairs);
    for (int64_t k = 0; k < c->targets; k++) {
        int32_t p = c->target[k];
        if (!listed[p]) BDML_GO(bdml_pairs_add(h, &lists.target, c->pi[p], c->pj[p]));
        listed[p] = 1;
    }
    for (int64_t t = 0; t < c->m; t++) {
        int32_t p = c->far[t];
        if (!listed[p]) BDML_GO(bdml_pairs_add(h, &lists.impostor, c->pi[p], c->pj[p]));
        listed[p] = 1;
    }
    status = build_pairs(h, c->n, &lists, out);
done:
    bdml_lists_free(&lists);
    free(listed);
    return status;
}
