/* vote.c - majority vote of the nearest neighbours. */
#include "neighbors/neighbors.h"

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
