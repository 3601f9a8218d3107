/* neighbors.h - k nearest neighbours, exact unless the settings ask for less, blocked, and the k-NN classifier.
 *
 * Called by problem, model, train, evaluate; calls stats, linalg and base. */
#ifndef BDML_NEIGHBORS_H
#define BDML_NEIGHBORS_H

#include "stats/stats.h"

/* ---- search (search.c) -------------------------------------------------------------------------------- */

/* Rows made ready to be searched, once for many queries. The rows are borrowed until it is freed; their classes
 * are needed where a search is restricted by them, and may be NULL otherwise. */
typedef struct bdml_index bdml_index;
bdml_status bdml_index_build(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                             bdml_index **out);
void bdml_index_free(bdml_index *index);

/* The k nearest rows of the index for every one of `queries`; NULL: the rows themselves, each without itself.
 * Not by two threads at a time: what a search needs is made when first asked for. index: queries*k, nearest first, ties to the lower index, -1
 * padded; distance (squared, may be NULL) infinity padded. Distances are those of the plain double loop
 * sum (a_j-b_j)^2, j ascending, to the bit. */
bdml_status bdml_index_query(bdml_handle *h, bdml_index *in, const bdml_rows *queries,
                             bdml_restrict which, int k, int32_t *index, double *distance);
/* An index for one search. */
bdml_status bdml_knn_search(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                            const bdml_rows *queries, bdml_restrict which, int k, int32_t *index,
                            double *distance);
/* The same for any class and given queries, from a guess: for every one of them k different rows, as the nearest of
 * another metric. What is found does not depend on it, and takes less time the better it is. NULL: none. */
bdml_status bdml_knn_search_from(bdml_handle *h, const bdml_neighbor_options *o,
                                 const bdml_rows *rows, const bdml_rows *queries, int k,
                                 const int32_t *guess, int32_t *index);

/* The same where rows are dealt out: rows, those of this rank; y, the classes of all rows, or NULL; queries, any of this
 * rank's own. Blocks of rows go around the ring of the ranks, which all call it. index: numbers of all rows. (ring.c) */
bdml_status bdml_knn_ring(bdml_handle *h, const bdml_neighbor_options *o, const bdml_spread *over,
                          const bdml_rows *rows, const int32_t *y, const bdml_rows *queries,
                          bdml_restrict which, int k, int32_t *index, double *distance);

/* The same of rows that are made when they are asked for, a slab at a time; all are here. index, distance: as of bdml_index_query.
 * Exact, whatever the settings say of that. (ring.c) */
bdml_status bdml_knn_slabs(bdml_handle *h, const bdml_neighbor_options *o, const bdml_rows *rows,
                           const bdml_rows *queries, bdml_restrict which, int k, int32_t *index,
                           double *distance);

/* ---- votes (vote.c) ------------------------------------------------------------------------------------ */

/* Majority vote of `votes` neighbours, nearest first, -1: no more; a tie goes to the class of the nearest
 * neighbour among the tied. -1 when there is none. */
int32_t bdml_knn_vote(int votes, const int32_t *index, const int32_t *label, int classes,
                      int32_t *count /* classes of them, scratch */);
/* Errors of these numbers of neighbours: wrong[v] = how many of `rows` are not of the class that the votes[v] first
 * of `index` vote for, k a row, nearest first. */
bdml_status bdml_vote_count(bdml_handle *h, const bdml_rows *voters, const bdml_rows *rows, int k,
                            const int32_t *index, int count, const int *votes, int64_t *wrong);
/* The same of their nearest of `voters`. rows NULL: the voters themselves, each without itself. */
bdml_status bdml_vote_errors(bdml_handle *h, const bdml_neighbor_options *o,
                             const bdml_rows *voters, const bdml_rows *rows, int count,
                             const int *votes, int64_t *wrong);

/* Confusion matrix (classes x classes, row = truth), error in percent, recall per class. Of more classes the matrix is nearly all
 * zeros, of 20,000 of them 3 GiB of these: it is left out. */
enum { BDML_CONFUSION_MOST = 1000 };
typedef struct bdml_confusion {
    int classes;
    int64_t *count;         /* classes*classes, or NULL */
    int64_t *right, *given; /* per true class: predicted right, and predicted at all */
    int64_t total, wrong;
} bdml_confusion;
bdml_status bdml_confusion_init(bdml_handle *h, int classes, bdml_confusion *c);
void bdml_confusion_add(bdml_confusion *c, int32_t truth, int32_t predicted);
double bdml_confusion_error(const bdml_confusion *c);
double bdml_confusion_recall(const bdml_confusion *c, int cls); /* NaN when the class is absent */
void bdml_confusion_free(bdml_confusion *c);

#endif
