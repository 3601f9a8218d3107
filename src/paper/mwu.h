/* mwu.h - inside the paper's solver: the rows, their weights and the two easy sets.
 *
 * Scaled slack of row i at Y: s_i (J_i.Y - h_i). Rows common to both forms are the objective bound (index 0
 * below) and the margins; the lifted form has more, kept as matrices (lifted.c). */
#ifndef BDML_MWU_H
#define BDML_MWU_H

#include "paper/paper.h"

/* What an easy set has to offer. All of it works on the weights in w, of sum w->total. */
typedef struct bdml_mwu_form {
    bdml_status (*init)(bdml_mwu *w);
    void (*free)(bdml_mwu *w);
    void (*begin)(bdml_mwu *w);               /* bound and R of a run are known */
    int64_t (*count_rows)(const bdml_mwu *w); /* all of them: the m of T */
    /* Width of its own rows and scales; margins and objective: range of <A,M> over the easy set for a
     * matrix with these eigenvalues (ascending). */
    void (*range)(const bdml_mwu *w, const double *lambda, double *low, double *high);
    void (*scale_rows)(bdml_mwu *w, double *width, double *least_scale);
    void (*reset)(bdml_mwu *w);
    /* Y with the largest weighted sum of slacks, in w->value; *infeasible: that is negative, confirmed. */
    bdml_status (*oracle)(bdml_mwu *w, bool *infeasible);
    void (*values)(bdml_mwu *w);   /* <G,Y> into w->f, <A_t,Y> into w->v */
    double (*update)(bdml_mwu *w); /* weights of its own rows, their sum */
    void (*rescale)(bdml_mwu *w, double factor);
    void (*settle)(bdml_mwu *w); /* complete w->sum */
    double (*violation)(
        const bdml_mwu *w); /* of its own rows by the average so far, user's units */
    /* A form that keeps its Y as factors: no d x d matrix is made for it, and it fills in what such a matrix
     * would tell. Where neither rho nor delta is set, a few rounds first tell how large the slacks of objective,
     * margins and its own rows get, each kind is scaled by that, and rho is the largest that is met. */
    bool factored;
    unsigned uses;                        /* of the matrices beside eigenvalues: BDML_MATRIX_... */
    double (*largest)(const bdml_mwu *w); /* |scaled slack| of its own rows at Y */
    void (*shrink)(bdml_mwu *w, double factor); /* the scales of its own rows times this */
    bdml_status (*measure)(bdml_mwu *w, bdml_mwu_result *r);
    bdml_status (*prove)(bdml_mwu *w, bdml_mwu_result *r);
} bdml_mwu_form;

/* The lifted form. Rows of the two equations are kept as full symmetric matrices of weights, M - M1 - alpha I
 * >= 0 and <= 0, M + M2 - alpha K I >= 0 and <= 0, entry by entry: d^2 rows each in the paper, where (i,j) and
 * (j,i) are two equal rows; d(d+1)/2 in the mended form, where an entry off the diagonal stands for half a row. */
typedef struct bdml_lifted {
    double RY;            /* trace(Y) <= RY */
    double share;         /* rows that an entry off the diagonal stands for: 1 or 1/2 */
    bool trace_row;       /* mended: trace(M) <= R is a row */
    double *W[4], sum[4]; /* weights, and the sum over their rows */
    double w_alpha, w_trace;
    double scale[2], scale_alpha, scale_trace;
    double *Z[3], z_alpha;          /* blocks of sum p_i s_i J_i */
    double *u[3];                   /* largest eigenvectors of the blocks, kept as warm starts */
    double theta[3];                /* and their values */
    int block;                      /* that Y lives in: 0 M, 1 M1, 2 M2, 3 alpha; -1: Y = 0 */
    int64_t lived[4];               /* rounds that it lived in each */
    double *sum1, *sum2, sum_alpha; /* of M1, M2 and alpha over the rounds */
} bdml_lifted;

/* The cone form: the eigenvectors of a round serve for some rounds more (basis.c). */
typedef struct bdml_basis {
    double *Q;     /* d x d, orthonormal columns */
    double *g;     /* diagonal of Q'GQ */
    double *c;     /* diagonal of Q'CQ, C of the round */
    double *sum;   /* of the l of the rounds since Q was taken, M = Q diag(l) Q' */
    int age;       /* rounds that Q has served beyond its own; -1: there is none */
    int keep;      /* and may serve */
    int64_t taken; /* in this run */
} bdml_basis;

struct bdml_mwu {
    bdml_handle *h,
        *watch; /* watch: whose progress callback is told, and cancels; its clock counts */
    const bdml_operator *A;
    bdml_matrices X; /* lambda, l: of this round */
    bdml_paper_settings s;
    const bdml_mwu_form *form;
    void *own; /* the form's, given to bdml_mwu_build */
    int d;
    size_t size;
    int64_t m, rows;
    double gamma;       /* least <G,M> per unit of trace */
    double g_norm;      /* |G|_F */
    double *g_lambda;   /* eigenvalues of G */
    double *low, *high; /* least and largest eigenvalue of each A_t */
    double *mu;
    double *unit; /* low + high: of full matrices <A_t, I> */

    /* this run */
    double bound, R;
    double scale0, *scale;
    double width, rho, rho_negative, delta; /* delta: in scaled units */
    double epsilon;
    bdml_row_scaling scaling; /* never auto */
    bool observed;            /* rho grows with the slacks that are met */
    double met[3]; /* largest of objective, margins and own rows in the calibration; 0: none yet */
    bool
        warm; /* go on with the weights of the run before: refusals are proven and averages measured all the same */

    /* this round */
    double w0, *w, total;
    double f, *v;
    double value;
    double exceeded;

    /* this stage */
    int64_t round;
    double sum_f, *sum_v;
    double *sum; /* of the M of the rounds */

    /* scratch and results */
    double *S, *T, *M, *mean, *q;
    double *under, *over; /* d */
    bdml_spectral set;    /* kappa <= K, trace <= R of this run */
    bdml_lifted *lifted;
    bdml_basis *basis; /* cone, unless diagonal */
};

extern const bdml_mwu_form bdml_cone_form, bdml_lifted_form;

/* As bdml_mwu_new, for any form. x: the points of A as they were given; a factored form needs none. */
bdml_status bdml_mwu_build(bdml_handle *h, const bdml_operator *A, const bdml_matrix_ops *ops,
                           const double *x, int64_t ld, const bdml_paper_settings *s,
                           const bdml_mwu_form *form, void *own, bdml_mwu **out);

/* weights.c: w_i *= 1 - epsilon eta_i, eta_i = slack_i / rho; all weights at least `least`. Returns the sum. */
double bdml_weights_update(const bdml_cspace *space, const double *scale, const double *v,
                           const double *mu, double up, double down, double least, double *w,
                           double *largest);
double bdml_weights_least(const bdml_mwu *w);
double bdml_weights_largest(const bdml_cspace *space, const double *scale, const double *v,
                            const double *mu);
/* q = w scale / total: the shares of the margins in p, in the user's units; returns sum q mu. */
double bdml_weights_shares(bdml_mwu *w);
/* 1 - epsilon eta for one row, and what it says of the width. */
double bdml_weights_factor(bdml_mwu *w, double slack);

/* guarantee.c: scales, widths, epsilon and T of a run. */
bdml_status bdml_guarantee_set(bdml_mwu *w, bdml_mwu_result *r);
/* Rounds of a stage with step epsilon: ln m / (2 epsilon^2), after which nothing is missed by more than
 * 4 epsilon rho; with epsilon = delta/(4 rho) this is 8 rho^2 ln m / delta^2. */
double bdml_guarantee_rounds(int64_t rows, double epsilon);

/* oracle.c: the best Y for the blocks Z and p.h; w->value, lifted->block. */
bdml_status bdml_oracle_lifted(bdml_mwu *w, double ph, bool *infeasible);

/* cone.c: min over the set of this run of <S,M>. S becomes its eigenvectors and w->X.l the eigenvalues of the
 * minimiser in their order, when wanted; else it is destroyed. Diagonal: w->X.l alone. */
bdml_status bdml_cone_minimise(bdml_mwu *w, double *S, bool vectors, double *least);
/* Rounding of a sum of rows with the weights q0, q, as a value of <.,M> at trace R. */
double bdml_cone_rounding(const bdml_mwu *w, double q0, const double *q);
/* S = q0 G - A*q */
void bdml_cone_matrix(bdml_mwu *w, double q0, const double *q, double *S);

/* basis.c: the oracle between eigendecompositions. */
bdml_status bdml_basis_init(bdml_mwu *w);
void bdml_basis_free(bdml_mwu *w);
void bdml_basis_reset(bdml_mwu *w);
/* Least <q0 G - A*q, M> over the M of the set that Q diagonalises, infinite without a Q; w->X.l: eigenvalues of M. */
double bdml_basis_minimise(bdml_mwu *w, double q0, const double *q);
/* Q becomes the eigenvectors S of this round. loss: what the old Q would have cost against the exact oracle, of a
 * weighted sum that is now `value`. */
void bdml_basis_take(bdml_mwu *w, const double *S, double loss, double value);
/* w->v, w->f at M = Q diag(w->X.l) Q', which is added to the sum. */
void bdml_basis_values(bdml_mwu *w);
/* Complete w->sum. */
void bdml_basis_settle(bdml_mwu *w);

/* proof.c: what the weights of an infeasible verdict prove about the problem itself.
 * lower: y (m) and a bound on the optimum that the checker can confirm from y. */
bdml_status bdml_proof_lower(bdml_mwu *w, double q0, const double *q, double *y, double *lower);
/* Can the margins be met at all? *kind NONE: q does not say no. *reach: they need a trace above this. */
bdml_status bdml_proof_margins(bdml_mwu *w, const double *q, bdml_proof *kind, double *reach);

#endif
