/* evaluate.h - how good is a metric? Methods side by side on the same splits.
 *
 * Called by the command; calls train, model, neighbors, data and below. */
#ifndef BDML_EVALUATE_H
#define BDML_EVALUATE_H

#include "train/train.h"

/* ---- statistics (statistics.c) ------------------------------------------------------------------ */

double bdml_mean(int n, const double *v);
double bdml_sample_std(int n, const double *v); /* n-1 in the denominator; 0 when n < 2 */
/* I_x(a, b), the regularised incomplete beta function; a, b > 0, x in 0..1. */
double bdml_incomplete_beta(double a, double b, double x);
/* Of Student's t with so many degrees of freedom: P(T <= t), and P(|T| >= |t|) without loss for large t. */
double bdml_student_cdf(double t, double degrees);
double bdml_student_two_sided(double t, double degrees);

/* Two methods on the same splits. */
typedef struct bdml_paired {
    double difference;      /* mean of a - b: below 0 when a is better */
    double error;           /* its standard error as if the splits were independent */
    double error_corrected; /* of Nadeau and Bengio: random splits share their rows */
    double t, degrees, p;   /* two-sided; NaN with one split */
    int wins, ties, losses; /* of a */
} bdml_paired;

/* ratio: test rows over training rows for random splits, 0 for folds: the plain paired t-test. */
bdml_paired bdml_compare_paired(int n, const double *a, const double *b, double ratio);

/* ---- scores (scores.c) -------------------------------------------------------------------------- */

/* One method over all splits. */
typedef struct bdml_score {
    const bdml_method *method;
    int splits;
    double *error;            /* percent, per split */
    double *kappa;            /* per split */
    double *fit_seconds;      /* per split */
    json_t **chosen;          /* per split: what was chosen inside the training rows, or NULL */
    bdml_confusion confusion; /* summed over the splits */

    int failed; /* the first split that the method refused; splits: none */
    bdml_status status;
    char reason[BDML_ERROR_SIZE];
} bdml_score;

/* The methods of a list "a,b,c", or of "all": those that learn from labels and need no second domain.
 * BDML_ERR_ARGUMENT for a name that is none. */
bdml_status bdml_methods_listed(bdml_handle *h, const char *list, int *count,
                                const bdml_method ***out);
bdml_status bdml_scores_new(bdml_handle *h, int count, const bdml_method *const *method, int splits,
                            int classes, bdml_score **out);
void bdml_scores_free(int count, bdml_score *score);

/* ---- result (result.c) --------------------------------------------------------------------------- */

/* How the rows were split, for the report. */
typedef struct bdml_protocol {
    const bdml_dataset *data;
    int splits, folds;   /* folds 0: random splits */
    int64_t train, test; /* rows of the first split */
} bdml_protocol;

bdml_status bdml_evaluate_write(bdml_handle *h, const bdml_protocol *protocol, int methods,
                                const bdml_score *score, char **json);

#endif
