/* retrieve.h - retrieval among classes that were not trained on. Private to evaluate.
 *
 *     bdml_retrieve          entrants side by side on splits of the classes     retrieve.c
 *       retrieve_split       which rows are trained on and searched             retrieve_split.c
 *       bdml_rank_rows       how good the rankings are                          ranking.c
 *       retrieve_write       the result as JSON                                 retrieve_report.c */
#ifndef BDML_RETRIEVE_H
#define BDML_RETRIEVE_H

#include "evaluate/evaluate.h"

/* ---- splits ----------------------------------------------------------------------------------------- */

/* Rows that are searched: some of the classes trained on, which training left out; all of the other classes. */
typedef enum retrieve_scope { RETRIEVE_UNSEEN, RETRIEVE_SEEN, RETRIEVE_SCOPES } retrieve_scope;

typedef struct retrieve_split {
    int64_t *order;                /* all rows: those to learn from, then those of each scope, */
    int64_t train;                 /* so many, each part ascending */
    int64_t rows[RETRIEVE_SCOPES]; /* unseen, seen */
    int classes[RETRIEVE_SCOPES];
} retrieve_split;

/* Split number `split` by the settings unseen, test-fraction and seed, whatever is trained on it. BDML_ERR_DATA unless
 * two classes are on either side. */
bdml_status retrieve_split_make(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                                int split, retrieve_split *s);
void retrieve_split_free(retrieve_split *s);
/* The rows to learn from, their classes numbered without gaps; and those of a scope, numbered as in the data. */
bdml_status retrieve_train_rows(bdml_handle *h, const bdml_dataset *data, const retrieve_split *s,
                                bdml_dataset **out);
bdml_status retrieve_scope_rows(bdml_handle *h, const bdml_dataset *data, const retrieve_split *s,
                                retrieve_scope scope, bdml_dataset **out);

/* ---- result ----------------------------------------------------------------------------------------- */

/* The entrants: the space as it is first, against which the others are compared; methods; method bdml at each
 * distortion of a grid. */
typedef struct retrieval {
    const bdml_options *options;
    const bdml_dataset *data;
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
    size_t at = ((size_t)entrant * RETRIEVE_SCOPES + (size_t)scope) * BDML_RANKING_MEASURES;
    return r->value + (at + (size_t)measure) * (size_t)r->splits;
}

bdml_status retrieve_write(bdml_handle *h, const retrieval *r, char **json);

#endif
