/* lbfgs.h - minimise a smooth function of many variables (Nocedal 1980; Liu and Nocedal 1989).
 *
 * For methods whose objective is smooth and has no constraints; what is convex over a spectral set is the
 * engine's (solver.h). Called by baselines; calls linalg, base. */
#ifndef BDML_LBFGS_H
#define BDML_LBFGS_H

#include "base/base.h"

/* *f and g (as many numbers as x) at x. Nothing is to be allocated in it. One that takes long may leave off when time is
 * up (bdml_is_cut), with *f = NaN. */
typedef bdml_status (*bdml_smooth_fn)(void *user, const double *x, double *f, double *g);

typedef struct bdml_lbfgs_settings {
    const char *what; /* for progress */
    int memory;       /* steps remembered; >= 1 */
    int64_t max_iter; /* steps at most */
    double gradient;  /* stop when |g| max(|x|, 1) <= gradient max(|f|, f_floor) */
    double f_floor;   /* > 0: size of f that counts as large */
    double
        change; /* stop when a step lowers f by no more than this, relative to the same; 0: never */
} bdml_lbfgs_settings;

typedef enum bdml_lbfgs_stop {
    BDML_LBFGS_GRADIENT,
    BDML_LBFGS_CHANGE,
    BDML_LBFGS_ITERATIONS,
    BDML_LBFGS_TIME,
    BDML_LBFGS_LINE /* no step lowers f: rounding */
} bdml_lbfgs_stop;

typedef struct bdml_lbfgs_result {
    double f;
    double gradient; /* |g| max(|x|, 1) / max(|f|, f_floor) */
    int64_t iterations, evaluations;
    bdml_lbfgs_stop stop;
} bdml_lbfgs_result;

/* Memory 10, 1000 steps, gradient 1e-5, f_floor 1. */
bdml_lbfgs_settings bdml_lbfgs_defaults(void);
/* x: n numbers, the start in and the minimiser out. f never rises from step to step, so x is the best
 * point seen also when a limit ends it; where there was no time for f at the start, it is the start, and f NaN. A user who cancels gets BDML_ERR_CANCELLED. */
bdml_status bdml_lbfgs(bdml_handle *h, int n, double *x, bdml_smooth_fn fn, void *user,
                       const bdml_lbfgs_settings *s, bdml_lbfgs_result *r);

#endif
