/* operator.h - the constraints and the objective of a problem as a linear operator on metrics:
 *
 *     forward   v_t = <A_t, M>         adjoint   A*y = sum_t y_t A_t         objective   G
 *
 * A table of operations tells how a metric is written down, so that solvers need not ask:
 *
 *     full       M, d x d, both triangles; G and A*y likewise
 *     diagonal   M = diag(m), d numbers; the diagonals of G and A*y, which are all that <.,M> sees
 *     low rank   M = U U', d x rank; G and A*y are full: the gradient in U of <S, U U'> is 2 S U
 *
 * The engine works on vectors whose dual has the same shape, full or diagonal. Where many values are needed at M = scale u u', or products with
 * G and A*y that are not formed, bdml_margin_forward_low, _turned and bdml_products of problem.h serve.
 *
 * Called by solver, paper and lowrank; calls the margin operator, linalg, base. */
#ifndef BDML_OPERATOR_H
#define BDML_OPERATOR_H

#include "problem/cvector.h"
#include "problem/problem.h"

typedef struct bdml_operator bdml_operator;

/* The points of a constraint: A_t = f f' - g g' with f = a - b, g = p - q; a pair has p = q. */
typedef struct bdml_row {
    const double *a, *b, *p, *q;
} bdml_row;

typedef struct bdml_operator_ops {
    const char *name;
    bool by_points; /* sums may go over points, which multiply differences (problem.h: spread) */
    size_t (*size)(int d, int rank);      /* numbers of a metric */
    size_t (*dual_size)(int d, int rank); /* of G and A*y */
    void (*objective)(const bdml_operator *A, double *g);
    /* All constraints (count < 0) or those listed, as bdml_margin_forward has it. */
    void (*forward)(const bdml_operator *A, const double *m, int64_t count, const int64_t *list,
                    double *v);
    void (*adjoint)(const bdml_operator *A, const double *y, int64_t count, const int64_t *list,
                    double *s);
    /* Values at M = scale u u', of which the diagonal form knows scale u_i^2; returns <G,M>. ws: d. */
    double (*outer)(const bdml_operator *A, double scale, const double *u, double *v, double *ws);
    double (*norm)(int d, const bdml_row *row); /* |A_t|_F */
    /* Extreme eigenvalues of A_t, 0 among them; extreme entries of its diagonal. */
    void (*extremes)(int d, const bdml_row *row, double *low, double *high);
    /* From these: ascending spectra between which that of A_t lies, entry by entry. */
    void (*enclose)(int d, double low, double high, double *under, double *over);
} bdml_operator_ops;

extern const bdml_operator_ops bdml_full_operator, bdml_diagonal_operator, bdml_low_rank_operator;

struct bdml_operator {
    const bdml_operator_ops *ops;
    bdml_margin *margin;
    const bdml_constraints *c;
    int d, rank;       /* rank: of low rank */
    size_t size;       /* numbers of a metric */
    bdml_cspace space; /* all constraints */
    double *g;         /* G */
    double *norm;      /* |A_t|_F */
    double *
        rough; /* what the rounding of sums with A_t is a share of: |f|^2 + |g|^2, and by points more */
    double g_rough; /* and of those with G */
    double spread;  /* sums multiply differences by numbers up to this */
    double norm_mean;
};

/* BDML_ERR_DATA for margins or weights that are negative or not finite, and when no rank has a
 * constraint; BDML_ERR_ARGUMENT for constraints about another number of rows. Fails on all ranks or on none. */
bdml_status bdml_operator_check(bdml_handle *h, const bdml_comm *comm, int64_t n,
                                const bdml_constraints *c);
/* Over n points of x (stride ld), which are copied; c and comm are borrowed; own: see bdml_margin_new_split. g is allocated, for the
 * caller to fill by ops->objective or with an objective of his own. */
bdml_status bdml_operator_init(bdml_handle *h, const bdml_operator_ops *ops, const bdml_comm *comm,
                               const unsigned char *own, int64_t n, int d, const double *x,
                               int64_t ld, const bdml_constraints *c, bdml_operator *A);
void bdml_operator_free(bdml_operator *A);
/* The operator over metrics of low rank that has the same constraints; owns nothing. */
bdml_operator bdml_operator_low_rank(bdml_margin *margin, const bdml_constraints *c, int d,
                                     int rank);

/* low[t], high[t] of each A_t from the points as they were given. */
void bdml_operator_extremes(const bdml_operator *A, const double *x, int64_t ld, double *low,
                            double *high);
/* Extreme eigenvalues of f f' - g g', and 0, from |f|^2, |g|^2 and f.g. */
void bdml_row_extremes(double ff, double gg, double fg, double *low, double *high);
/* mu_t = margin times that of the constraint. */
void bdml_operator_margins(const bdml_operator *A, double margin, double *mu);

/* The largest mu_t/|A_t|, over all ranks. */
double bdml_operator_needed(const bdml_operator *A, double margin);

static inline void bdml_operator_forward(const bdml_operator *A, const double *m, double *v)
{
    A->ops->forward(A, m, -1, NULL, v);
}

static inline void bdml_operator_adjoint(const bdml_operator *A, const double *y, double *s)
{
    A->ops->adjoint(A, y, -1, NULL, s);
}

#endif
