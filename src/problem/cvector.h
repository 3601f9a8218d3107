/* cvector.h - vectors over constraints, one number each, whose sums pass a communicator (bdml/comm.h).
 *
 * The seam. A solve may be split over ranks (processes, machines, or threads in a test), each with a
 * part of the constraints, of the target pairs, and the rows that these name. What is indexed by a
 * constraint, a pair or a point never leaves its rank. What is the same on every rank: matrices of the
 * size of the metric, spectra, and numbers. So all that crosses is
 *
 *     sums      of size numbers (A*y, G, the scatter of the points) and of single numbers
 *     maxima    of single numbers (a minimum is one of the negatives)
 *
 * and only through `sum` and `max` of bdml_comm, by the functions of this file, of the margin operator
 * (adjoint, objective, products, means), of the terms and the active list of the solver and of the
 * weights of the paper; beside them by reduce.c (the scatter), newton.c (the free constraints), result.c and
 * state.c (what is handed out is of all ranks) and where a solve asks whether to stop. A
 * solve takes its decisions from numbers that have passed there, so that all ranks take the same ones:
 * `sum` and `max` must leave the same bits on every rank. For a device the same calls are the list of
 * what has to exist there. */
#ifndef BDML_CVECTOR_H
#define BDML_CVECTOR_H

#include "base/base.h"

/* Constraints, all or some of a problem's: as many numbers has a vector over them. */
typedef struct bdml_cspace {
    int64_t count; /* on this rank */
    double total;  /* on all ranks */
    const bdml_comm *comm;
} bdml_cspace;

/* ---- number by number ----------------------------------------------------------------------------- */

void bdml_cvec_fill(const bdml_cspace *s, double value, double *a);
/* to = a; to = factor a; to = a / divisor; to = factor a b. `to` may be a. */
void bdml_cvec_copy(const bdml_cspace *s, const double *a, double *to);
void bdml_cvec_scale(const bdml_cspace *s, double factor, const double *a, double *to);
void bdml_cvec_divide(const bdml_cspace *s, const double *a, double divisor, double *to);
void bdml_cvec_product(const bdml_cspace *s, double factor, const double *a, const double *b,
                       double *to);
/* to += a */
void bdml_cvec_add(const bdml_cspace *s, const double *a, double *to);
/* to = a + beta (a - before) */
void bdml_cvec_extrapolate(const bdml_cspace *s, double beta, const double *a, const double *before,
                           double *to);

/* ---- over all constraints of all ranks ------------------------------------------------------------ */

/* start + sum of a b, of a, of |a|; in the order of the constraints, beginning with start. */
double bdml_cvec_dot(const bdml_cspace *s, double start, const double *a, const double *b);
double bdml_cvec_sum(const bdml_cspace *s, double start, const double *a);
double bdml_cvec_sum_abs(const bdml_cspace *s, double start, const double *a);
/* Mean of |a|. */
double bdml_cvec_mean_abs(const bdml_cspace *s, const double *a);
/* Largest a, 0 at least. */
double bdml_cvec_largest(const bdml_cspace *s, const double *a);
/* a[n/2] as if all n numbers were sorted; they are >= 0. a is permuted. */
double bdml_cvec_median(const bdml_cspace *s, double *a);
/* Largest mu - v share: by how much a margin is missed at most; negative when none is. */
double bdml_cvec_worst_miss(const bdml_cspace *s, const double *mu, const double *v, double share);
/* Least share v / mu over the mu > 0. */
double bdml_cvec_least_ratio(const bdml_cspace *s, double share, const double *v, const double *mu);
/* Least t with t (v - slack norm) >= mu for every mu > 0; infinite when there is none. */
double bdml_cvec_scale_to_meet(const bdml_cspace *s, const double *mu, const double *v,
                               double slack, const double *norm);
/* Is there a constraint with mu > 0 whose matrix is zero, but for this share of `rough`? *t: the first such one, -1 when
 * another rank has it. */
bool bdml_cvec_find_absurd(const bdml_cspace *s, const double *norm, const double *rough,
                           double share, const double *mu, int64_t *t);

#endif
