/* plain.h - the problem that a model states, in extended precision and plain loops. Private to certify.
 *
 *     x_i  prepared points, less the first:  basis ((row_i - row_0) / width), of unit rows basis (u_i - u_0)
 *     p_i  = reference x_i, the points that the claim is about
 *     G    objective;  A_t = X_far - X_near,  X_ij = (p_i - p_j)(p_i - p_j)'
 *
 * Only differences of points occur anywhere, so that the origin may lie in the first of them, where nothing
 * cancels. */
#ifndef BDML_PLAIN_H
#define BDML_PLAIN_H

#include "certify/certify.h"

typedef struct bdml_plain {
    const bdml_model *model;
    const bdml_evidence *e;
    const bdml_dataset *data;
    const bdml_constraints *c;
    bdml_verdict *v;
    const bdml_constraint_options *files; /* where constraint files are now */
    int64_t n;
    int d;               /* dimension of p */
    long double *x, *p;  /* n rows of model->d, n rows of d; p is x where there is no reference */
    long double *z;      /* n rows of d: scratch */
    long double *metric; /* d x d: N */
    long double *g;      /* d x d: objective */
    long double *slack;  /* G - A*y, then scratch */
    long double *lambda, *row;
    double *y; /* multipliers, dense */
} bdml_plain;

/* Points and multipliers; the data fit the model (bdml_certify_fits). */
bdml_status bdml_plain_open(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_dataset *data, bdml_verdict *v, bdml_plain *w);
void bdml_plain_close(bdml_plain *w);

/* x and p alone, the caller's arrays; p NULL where there is no reference. */
bdml_status bdml_plain_points(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                              const bdml_dataset *data, long double *x, long double *p);

/* How far each point p_i may be off when it is computed in doubles, n numbers. */
bdml_status bdml_plain_errors(bdml_handle *h, const bdml_plain *w, double *error);

/* w->g */
bdml_status bdml_plain_objective(bdml_handle *h, bdml_plain *w);
/* S = (1/n) sum (p_i - c_i)(p_i - c_i)', c_i the mean of the class of i, of n rows of d; y NULL: one class. */
bdml_status bdml_plain_within(bdml_handle *h, int64_t n, int d, const long double *p,
                              const int32_t *y, int classes, long double *s);
/* w->slack = (with_objective ? G : 0) - sum_t y_t A_t */
void bdml_plain_slack(bdml_plain *w, bool with_objective, const double *y);
/* min <slack, N> over kappa(N) <= K, trace(N) = 1; w->slack is destroyed. False: no eigenvalues. */
bool bdml_plain_slack_density(bdml_plain *w, double K, long double *value);
long double bdml_plain_distance(const bdml_plain *w, int32_t i, int32_t j); /* |p_i - p_j|^2 */
double bdml_plain_margin(const bdml_plain *w, int64_t t);                   /* mu_t */
long double bdml_plain_cost(const bdml_plain *w, int64_t t); /* c_t of the soft form */

/* ---- checks, level by level ------------------------------------------------------------------------ */

bdml_status bdml_check_numbers(bdml_handle *h, bdml_plain *w);      /* numbers.c */
bdml_status bdml_check_proof(bdml_handle *h, bdml_plain *w);        /* proof.c */
bdml_status bdml_check_description(bdml_handle *h, bdml_plain *w);  /* description.c */
bdml_status bdml_check_problem(bdml_handle *h, bdml_plain *w);      /* problem.c */
bdml_status bdml_check_repeat(bdml_handle *h, const bdml_plain *w); /* repeat.c */

#endif
