/* svm.h - a linear support vector machine with a duality gap. Private to baselines. */
#ifndef BDML_SVM_H
#define BDML_SVM_H

#include "base/base.h"

/* The rows x_i, however they are kept: w has `size` numbers. */
typedef struct bdml_svm_rows {
    int64_t n;
    size_t size;
    double (*dot)(const void *user, int64_t i, const double *w);   /* <w, x_i> */
    void (*add)(const void *user, int64_t i, double s, double *w); /* w += s x_i */
    double (*square)(const void *user, int64_t i);                 /* <x_i, x_i> */
    const void *user;
} bdml_svm_rows;

typedef struct bdml_svm_result {
    double primal, dual; /* bracket on the optimum */
    int64_t sweeps;
} bdml_svm_result;

/*     min over w of  |w|^2 / 2 + sum_i c_i max(0, margin_i - sign_i <w, x_i>)
 *
 * until primal - dual <= tolerance * primal or `sweeps` are over. sign: 1 or -1. margin NULL: all 1. alpha:
 * n multipliers, 0 <= alpha_i <= c_i in (where to start) and out. w: out. */
bdml_status bdml_svm_solve(bdml_handle *h, uint64_t seed, const bdml_svm_rows *rows,
                           const signed char *sign, const double *c, const double *margin,
                           double tolerance, int64_t sweeps, double *alpha, double *w,
                           bdml_svm_result *result);

#endif
