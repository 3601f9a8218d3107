/* path.h - the path over K: what its parts share. Private to train, but for the check of the settings. */
#ifndef BDML_PATH_H
#define BDML_PATH_H

#include "train/plan.h"

/* What the solves at one cap gave. */
typedef struct path_record {
    bool solved; /* else nothing below is set but the errors */
    bdml_outcome outcome;
    bool collapsed;
    double lower, upper, gap, kappa, C, C0, seconds;
    int64_t iterations;
    double train_error; /* percent, k-NN, each training row without itself; NaN: no metric */
    double test_error;  /* percent, k-NN, rows left out; NaN: no metric, or no rows */
} path_record;

/* Everything that was found. Sets of rows: 0 is all rows, 1 .. splits the training rows of each split. */
typedef struct path_result {
    bdml_plan plan;
    int splits;
    int64_t train, test; /* rows of a split */
    int features;        /* after preparation, all rows */
    path_record *record; /* (splits + 1) rows of plan.caps */
    double *valid; /* likewise: cross-validated error inside that set, and its standard error */
    double *valid_se;
    int *chosen; /* position of K per set */
    double seconds;
} path_result;

static inline path_record *path_at(const path_result *p, int set, int k)
{
    return &p->record[set * p->plan.caps + k];
}

/* Does the error fall and then rise (path_shape.c)? Differences in points of percent, paired by split. */
enum { PATH_TEXT = 512 };
typedef struct path_shape {
    const char *verdict;      /* "falls, then rises", ..., or "unknown": too few K or splits */
    int first, best, last;    /* positions of K: the ends, and the lowest mean error between them */
    double fall, fall_se;     /* first - best */
    double rise, rise_se;     /* last - best */
    double across, across_se; /* last - first */
    char text[PATH_TEXT];     /* a sentence for people */
} path_shape;
void path_find_shape(const path_result *p, path_shape *shape);

/* Mean and standard error over the splits; NaN when a split has no value. */
double path_mean(const path_result *p, int k, bool test, double *se);

/* The result as JSON (path_report.c). */
bdml_status path_write(bdml_handle *h, const bdml_dataset *data, const path_result *p, char **json);

/* Whether the settings fit a path: to be told before the data are read. */
bdml_status bdml_path_check(bdml_handle *h, const bdml_options *o);

#endif
