/* vote.c - majority vote of the nearest neighbours. */
#include "neighbors/neighbors.h"

#include <stdlib.h>

int32_t bdml_knn_vote(int votes, const int32_t *index, const int32_t *label, int classes,
                      int32_t *count)
{
    int32_t most = 0;
    memset(count, 0, sizeof *count * (size_t)classes);
    for (int v = 0; v < votes && index[v] >= 0; v++) {
        int32_t c = ++count[label[index[v]]];
        most = BDML_MAX(most, c);
    }
    /* Neighbours come nearest first: the first of a class with the most votes wins a tie. */
    for (int v = 0; v < votes && index[v] >= 0; v++)
        if (count[label[index[v]]] == most) return label[index[v]];
    return -1;
}

bdml_status bdml_vote_count(bdml_handle *h, const bdml_rows *voters, const bdml_rows *rows, int k,
                            const int32_t *index, int count, const int *votes, int64_t *wrong)
{
    bdml_status status = BDML_OK;
    int32_t *room = NULL;

    BDML_NEW(h, room, voters->classes);
    for (int v = 0; v < count; v++) {
        wrong[v] = 0;
        for (int64_t i = 0; i < rows->n; i++)
            wrong[v] += rows->y[i] != bdml_knn_vote(BDML_MIN(votes[v], k), index + i * k, voters->y,
                                                    voters->classes, room);
    }
done:
    free(room);
    return status;
}

bdml_status bdml_vote_errors(bdml_handle *h, const bdml_neighbor_options *o,
                             const bdml_rows *voters, const bdml_rows *rows, int count,
                             const int *votes, int64_t *wrong)
{
    bdml_status status = BDML_OK;
    const bdml_rows *asked = rows ? rows : voters;
    int32_t *index = NULL;
    int64_t most = 0;

    for (int v = 0; v < count; v++) most = BDML_MAX(most, votes[v]);
    int k = (int)BDML_MIN(most, voters->n - (rows ? 0 : 1));
    BDML_NEW(h, index, (size_t)asked->n * (size_t)BDML_MAX(k, 0));
    BDML_GO(bdml_knn_search(h, o, voters, rows, BDML_ANY_CLASS, k, index, NULL));
    status = bdml_vote_count(h, voters, asked, k, index, count, votes, wrong);
done:
    free(index);
    return status;
}
