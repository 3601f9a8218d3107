/* lowrank.h - pseudo-metrics: M = Q' Lambda Q of rank q, Q (q x d) with orthonormal rows, kappa(Lambda) <= K.
 *
 *     hard   min <G,M>                                   s.t. <A_t,M> >= mu_t
 *     soft   min <G,M> + (C/m) sum_t w_t phi(mu_t - <A_t,M>)
 *
 * by turns: Lambda with Q fixed, a convex problem on the points Qx that the certified solver solves; then Q with
 * Lambda fixed, by one of several steps, kept only when the Lambda that follows lowers the objective. Beside it
 * a lower bound that holds for every Q and Lambda. docs/pseudo-metrics.md has the mathematics and the figures.
 *
 * Called by train; calls solver, problem, spectral, data, linalg, base. */
#ifndef BDML_LOWRANK_H
#define BDML_LOWRANK_H

#include "linalg/linalg.h"
#include "paper/relaxation.h"
#include "solver/solver.h"

typedef struct bdml_lowrank_settings {
    int q;
    /* descent on the manifold of orthonormal rows; solve over the convex hull and round to the leading
     * eigenvectors; the paper's relaxation and randomisation; none: Q stays where it starts */
    bdml_q_step step;
    bool full; /* Lambda a full q x q matrix in each Lambda-step; else diagonal */
    int64_t
        span; /* dimensions in which Q is sought, at least q; 0: a fifth of the number of points */
    int alternations; /* at most */
    uint64_t seed;    /* of principal components where only a few of many are sought */
    double tolerance; /* stop when a turn lowers the objective by less than this share */
    int64_t bound;    /* steps spent on the joint lower bound; 0: none is computed */
    bdml_relaxation_settings relaxation; /* step paper; margin and seed are set here */
    bool exact_auto; /* step paper: bracket rho_sdp exactly where few dimensions are searched */
    bdml_solve_settings solve; /* of the Lambda-step */
} bdml_lowrank_settings;

typedef struct bdml_lowrank_report {
    int span;        /* dimensions in which Q was sought */
    bool whole;      /* these are all: what holds there holds for every Q */
    int turns;       /* taken */
    double start;    /* objective of the first Lambda-step: the start Q */
    double achieved; /* objective of what is returned */
    double lower;    /* of every Q in those dimensions and Lambda; -infinity: not computed */
    double lower_q;  /* step hull: of every Q with the Lambda of the last step; else -infinity */
    double upper_q;  /* step hull: objective of the start of that step */
    bool relaxed;    /* step paper: the following holds */
    bdml_relaxation_report
        relaxation;  /* of the last turn that a sample was kept in, else the first */
    bool infeasible; /* hard: proven that no Q in those dimensions and no Lambda meet the margins */
    double C, C0;    /* soft: weight, and threshold of the first Lambda-step */
    double seconds;
} bdml_lowrank_report;

/* From the settings; q, solve.K and solve.softness or C may be set otherwise by the caller. */
bdml_lowrank_settings bdml_lowrank_from_options(const bdml_options *o);

/* Q (q rows of d, in: the start, orthonormal rows; out: the best) and the Lambda-step for it: r->m is Lambda, q
 * numbers or q*q (full). objective: G, d*d, or NULL: the mean over the target pairs of c. x: n rows of d, stride
 * ld. A start that proves infeasible and a solve that collapses are told by r, as the solver does. */
bdml_status bdml_lowrank_fit(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, const double *objective,
                             const bdml_lowrank_settings *s, double *Q, bdml_solve_result *r,
                             bdml_lowrank_report *report);

/* ---- where Q starts (start.c) ------------------------------------------------------------------------ */

/* By the setting "q-start", `start`: leading principal components of the n rows of x and the `more_n` rows of more (NULL:
 * none); the same divided by their standard deviations; random; or the rows of a file. Q: q rows of d out,
 * orthonormal but for whitened. BDML_ERR_ARGUMENT when the points span fewer than q dimensions. */
bdml_status bdml_lowrank_start(bdml_handle *h, const char *start, uint64_t seed, int64_t n, int d,
                               const double *x, int64_t more_n, const double *more, int q,
                               double *Q);

/* ---- inside -------------------------------------------------------------------------------------------- */

/* The problem in coordinates of a span that holds all points and the start of Q. */
typedef struct lowrank {
    bdml_handle *h;
    const bdml_lowrank_settings *s;
    const bdml_constraints *c;
    int64_t n;
    int d, r, q;
    bool whole;      /* the basis spans all the points */
    double *basis;   /* d x r, orthonormal columns */
    double *z;       /* n rows of r */
    double *g;       /* G, r x r */
    bdml_margin *op; /* over z */
    bdml_operator A; /* the same, on metrics of rank q */
    bdml_problem *p; /* over z, made when a step asks for it */
    double C;        /* soft: fixed by the first Lambda-step */
    double idle;     /* objective of M = 0 */
    double started;
    /* where we are: V = Q' (r x q), Lambda = diag(lambda), and the solve that gave it */
    double *V, *lambda;
    bdml_solve_result result;
    double *V_try, *lambda_try; /* of a turn under way */
    double *points, *map_ws;    /* n rows of q; bdml_la_map_size */
    double *gv, *gq;            /* r x q, q x q */
} lowrank;

/* span.c */
bdml_status lowrank_init(lowrank *w, bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                         const bdml_constraints *c, const double *objective,
                         const bdml_lowrank_settings *s, const double *Q);
void lowrank_free(lowrank *w);
bdml_status lowrank_problem(lowrank *w); /* w->p */
/* M = V Lambda V', r x r. */
void lowrank_metric(const lowrank *w, const double *V, const double *lambda, double *scaled,
                    double *M);

/* lambda.c: Lambda for V, from lambda if `warm`; last: to the gap asked for, else only roughly; V is turned so that Lambda is diagonal, lambda descending
 * or in the order of V's columns. */
bdml_status lowrank_lambda_step(lowrank *w, double *V, double *lambda, bool warm, bool last,
                                bdml_solve_result *r);

/* Q-steps: V_try in: V; out: the proposal for the Lambda of w. */
bdml_status lowrank_manifold_step(lowrank *w, double *V_try); /* manifold.c */
bdml_status lowrank_hull_step(lowrank *w, double *V_try, bdml_lowrank_report *report); /* relax.c */
bdml_status lowrank_paper_step(lowrank *w, double *V_try,
                               bdml_lowrank_report *report); /* paper.c */
/* relax.c: report->lower and infeasible, over every Q and Lambda. */
bdml_status lowrank_joint_bound(lowrank *w, bdml_lowrank_report *report);

#endif
