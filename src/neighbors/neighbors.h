/* neighbors.h - exact k nearest neighbours, blocked, and the k-NN classifier.
 *
 * Called by problem, model, train, evaluate; calls linalg and base. */
#ifndef BDML_NEIGHBORS_H
#define BDML_NEIGHBORS_H

#include "base/base.h"

typedef struct bdml_knn_query {
    int64_t n; /* reference rows */
    int d;
    const double *x;
    int64_t ld;
    const int32_t *label; /* NULL when not restricted by class */
    int64_t queries;
    const double *q; /* NULL: the reference rows, each without itself */
    int64_t ldq;
    const int32_t *query_label;
    bdml_restrict which;
    int k;
} bdml_knn_query;

/* index: queries*k, ties to the lower index, -1 padded; distance (squared, may be NULL) infinity
 * padded. Distances are those of the plain double loop sum (a_j-b_j)^2, j ascending, to the bit.
 * Settings: search, candidates, memory, threads. */
bdml_status bdml_knn_search(bdml_handle *h, const bdml_knn_query *query, int32_t *index,
                            double *distance);

/* Majority vote of `votes` <= k neighbours (rows of index/distance have stride k, nearest first);
 * a tie goes to the class of the nearest neighbour among the tied. -1 when there is none. */
int32_t bdml_knn_vote(int votes, const int32_t *index, const int32_t *label, int classes,
                      int32_t *count /* classes of them, scratch */);

/* Confusion matrix (classes x classes, row = truth), error in percent, recall per class. */
typedef struct bdml_confusion {
    int classes;
    int64_t *count; /* classes*classes */
    int64_t total, wrong;
} bdml_confusion;
bdml_status bdml_confusion_init(bdml_handle *h, int classes, bdml_confusion *c);
void bdml_confusion_add(bdml_confusion *c, int32_t truth, int32_t predicted);
double bdml_confusion_error(const bdml_confusion *c);
double bdml_confusion_recall(const bdml_confusion *c, int cls); /* NaN when the class is absent */
void bdml_confusion_free(bdml_confusion *c);

#endif
