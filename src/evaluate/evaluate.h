/* evaluate.h - how good is a metric? Methods side by side on the same splits.
 *
 * Called by the command; calls train, model, neighbors, data and below. */
#ifndef BDML_EVALUATE_H
#define BDML_EVALUATE_H

#include "train/train.h"

/* One method over all splits. */
typedef struct bdml_score {
    const bdml_method *method;
    int splits;
    double *error;            /* percent, per split */
    double *kappa;            /* per split */
    double *fit_seconds;      /* per split */
    bdml_confusion confusion; /* summed over the splits */
} bdml_score;

double bdml_mean(int n, const double *v);
double bdml_sample_std(int n, const double *v); /* n-1 in the denominator; 0 when n < 2 */

#endif
