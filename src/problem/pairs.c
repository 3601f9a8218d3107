/* pairs.c - pairs with the answer, for programs: from a file or from arrays. */
#include "problem/problem.h"

#include <stdlib.h>

bdml_status bdml_read_pairs(bdml_handle *h, const char *path, int64_t n, int answers,
                            bdml_labelled_pairs **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_read_pairs: path must not be NULL");
    bdml_labelled_pairs *p = bdml_calloc(h, 1, sizeof *p);
    if (!p) return BDML_ERR_MEMORY;
    bdml_status status = bdml_labelled_read(h, path, n, answers != 0, p);
    if (status == BDML_OK)
        *out = p;
    else
        free(p);
    return status;
}

bdml_status bdml_pairs_from_arrays(bdml_handle *h, int64_t n, int64_t count, const int32_t *rows,
                                   const int32_t *same, const int32_t *fold,
                                   bdml_labelled_pairs **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!rows || count < 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_pairs_from_arrays: there must be pairs");
    bdml_labelled_pairs *p = bdml_calloc(h, 1, sizeof *p);
    if (!p) return BDML_ERR_MEMORY;
    bdml_status status = bdml_labelled_make(h, n, count, rows, same, fold, p);
    if (status == BDML_OK)
        *out = p;
    else
        free(p);
    return status;
}

int64_t bdml_pairs_count(const bdml_labelled_pairs *pairs)
{
    return pairs ? pairs->count : 0;
}

const int32_t *bdml_pairs_rows(const bdml_labelled_pairs *pairs)
{
    return pairs ? pairs->row : NULL;
}

const int32_t *bdml_pairs_same(const bdml_labelled_pairs *pairs)
{
    return pairs ? pairs->same : NULL;
}

const int32_t *bdml_pairs_folds(const bdml_labelled_pairs *pairs)
{
    return pairs ? pairs->fold : NULL;
}

bdml_status bdml_constraints_from_pairs(bdml_handle *h, int64_t n, const bdml_labelled_pairs *pairs,
                                        bdml_constraints **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!pairs || !pairs->same)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_constraints_from_pairs: the pairs need their answers, same or not");
    for (int64_t k = 0; k < 2 * pairs->count; k++) /* they may have been made for more rows */
        if (pairs->row[k] >= n)
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "pair %lld names row %d, which is not among the %lld rows of the data",
                             (long long)(k / 2), (int)pairs->row[k], (long long)n);
    return bdml_labelled_constraints(h, n, pairs, out);
}

void bdml_free_pairs(bdml_labelled_pairs *pairs)
{
    if (pairs) bdml_labelled_free(pairs);
    free(pairs);
}
