/* retrieve.h - retrieval of what was not trained on. Private to evaluate.
 *
 *     bdml_retrieve          entrants side by side on splits of classes         retrieve.c
 *     bdml_retrieve_queries  or of queries that look for documents
 *       retrieve_split       which rows are trained on, searched and asked for  retrieve_split.c
 *       retrieve_constraints what a split of queries is learned from            retrieve_queries.c
 *       bdml_rank            how good the rankings are                          ranking.c
 *       retrieve_write       the result as JSON                                 retrieve_report.c */
#ifndef BDML_RETRIEVE_H
#define BDML_RETRIEVE_H

#include "evaluate/evaluate.h"

/* ---- splits ----------------------------------------------------------------------------------------- */

/* What was not trained on, and what was: classes, or queries. */
typedef enum retrieve_scope { RETRIEVE_UNSEEN, RETRIEVE_SEEN, RETRIEVE_SCOPES } retrieve_scope;

/* Rows that are searched, and those that search them. */
typedef struct retrieve_search {
    int64_t rows, queries;
    int64_t *row, *query; /* ascending; query NULL: each of the rows, without itself */
} retrieve_search;

typedef struct retrieve_split {
    int64_t train;
    int64_t *learn; /* rows to learn from, ascending */
    retrieve_search scope[RETRIEVE_SCOPES];
    int classes[RETRIEVE_SCOPES]; /* 0: it is not classes that are split */
} retrieve_split;

/* What is retrieved, and what for. */
typedef struct retrieve_data {
    const bdml_dataset *rows;
    /* Lines by query, or NULL: each row looks for its class. Queries are the first rows, then come the documents. */
    const bdml_answers *answers;
    int64_t queries;
} retrieve_data;

/* Split number `split` by the settings unseen, test-fraction and seed, whatever is trained on it. BDML_ERR_DATA unless
 * two classes, or some queries, are on either side. */
bdml_status retrieve_split_make(bdml_handle *h, const bdml_options *o, const retrieve_data *data,
                                int split, retrieve_split *s);
void retrieve_split_free(retrieve_split *s);
/* The rows to learn from, their classes numbered without gaps. */
bdml_status retrieve_train_rows(bdml_handle *h, const retrieve_data *data, const retrieve_split *s,
                                bdml_dataset **out);

/* ---- queries and documents (retrieve_queries.c) ------------------------------------------------------- */

/* Queries, then documents, as one set of rows without classes. */
bdml_status retrieve_join(bdml_handle *h, const bdml_dataset *queries, const bdml_dataset *corpus,
                          bdml_dataset **out);
/* Of the train rows of a split: triplets mined from the answers of its queries, in the distance of the prepared rows; for
 * a method that learns from pairs alone, the pairs of these. BDML_ERR_ARGUMENT for one that learns from neither. */
bdml_status retrieve_constraints(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                 const retrieve_data *data, const retrieve_split *s,
                                 const bdml_dataset *train, bdml_constraints **out);

/* ---- measures ---------------------------------------------------------------------------------------- */

/* Those of a ranking, and where the settings cluster or task ask for them those of k-means in the learned space. */
enum { RETRIEVE_NMI = BDML_RANKING_MEASURES, RETRIEVE_ARI, RETRIEVE_MEASURES };
const char *retrieve_key(int measure); /* "recall_at_1", ..., "nmi", "ari" */
/* How many are measured: the first of them. */
int retrieve_measures(const bdml_options *o);

/* ---- result ----------------------------------------------------------------------------------------- */

/* The entrants: the space as it is first, against which the others are compared; methods; method bdml at each
 * distortion of a grid. */
typedef struct retrieval {
    const bdml_options *options;
    retrieve_data data;
    retrieve_split first; /* for the report: counts alone */
    int splits, entrants;
    bdml_score *score;  /* entrants; error: 100 - recall@1 among the unseen */
    double *distortion; /* of the grid; NAN: none, the settings say */
    double *value;      /* retrieve_values, all of them */
} retrieval;

/* Percent, split by split. */
static inline double *retrieve_values(const retrieval *r, int entrant, retrieve_scope scope,
                                      int measure)
{
    size_t at = ((size_t)entrant * RETRIEVE_SCOPES + (size_t)scope) * RETRIEVE_MEASURES;
    return r->value + (at + (size_t)measure) * (size_t)r->splits;
}

bdml_status retrieve_write(bdml_handle *h, const retrieval *r, char **json);

#endif
