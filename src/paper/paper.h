/* paper.h - the algorithm of the paper: bisection on the objective (Algorithm 1), each step a feasibility
 * problem solved by multiplicative weights (Algorithm 2), in two forms.
 *
 *     find  <G,M> <= g,   <A_t,M> >= mu_t,   kappa(M) <= K,   trace(M) <= R
 *
 *     lifted   Y = blockdiag(M, M1, M2, alpha) >= 0, trace(Y) <= R_Y is the easy set; the hard rows are the
 *              objective, the margins, M - M1 - alpha I = 0, M + M2 - alpha K I = 0 and alpha >= 0
 *     cone     kappa(M) <= K, trace(M) <= R is the easy set; the hard rows are the objective and the margins
 *
 * docs/paper-solver.md has the story and the measurements. Called by train and the command; calls solver (the
 * problem, seen by its operator), problem, spectral, linalg. */
#ifndef BDML_PAPER_H
#define BDML_PAPER_H

#include "solver/solver.h"

typedef enum bdml_paper_form { BDML_PAPER_LIFTED, BDML_PAPER_CONE } bdml_paper_form;

typedef struct bdml_paper_settings {
    bdml_paper_form form;
    bool literal; /* lifted: the paper to the letter, slips included (docs/paper-solver.md) */
    double K, trace, margin; /* trace infinite: no bound but the one that the objective implies */
    double delta;        /* > 0: guarantee mode, every constraint within delta; 0: fixed rounds */
    bool whole;          /* guarantee mode: all T rounds of the proof, though fewer might do */
    double rho;          /* width of the (scaled) rows; 0: the one they have */
    double rho_negative; /* for rows that are missed; 0: rho */
    int64_t rounds;      /* T of the practical mode */
    double epsilon;      /* step; 0: from the proof, or sqrt(ln m / 2T) */
    /* rows as they stand, objective and margins over |G|_F (the authors), every row over its own width.
     * auto: none for plain runs of the lifted form, else width */
    bdml_row_scaling scaling;
    double distortion_weight; /* lifted: factor on the rows that tie M, M1, M2 and alpha */
    double floor;             /* no weight falls under this share of the mean weight */
    double gap;               /* bisection ends at U - L <= gap U */
    int starts;               /* upper bounds tried at once before bisection; 0: none */
} bdml_paper_settings;

bdml_paper_settings bdml_paper_defaults(bdml_paper_form form);
/* From the settings of group "train"; the setting "solver" must not be engine. */
bdml_paper_settings bdml_paper_from_options(const bdml_solve_options *solve,
                                            const bdml_mwu_options *o);
/* Each setting out of range has its own message. */
bdml_status bdml_paper_check(bdml_handle *h, const bdml_paper_settings *s);

/* ---- one feasibility problem: Algorithm 2 (mwu.c) ------------------------------------------------------ */

typedef enum bdml_mwu_verdict {
    BDML_MWU_FEASIBLE,   /* guarantee mode: every constraint verified within delta */
    BDML_MWU_ROUNDS,     /* practical mode: T rounds without a contradiction */
    BDML_MWU_INFEASIBLE, /* proven by q0, q */
    BDML_MWU_STOPPED     /* the time limit came first */
} bdml_mwu_verdict;

typedef struct bdml_mwu_result {
    bdml_mwu_verdict verdict;
    double bound; /* g */
    double
        trace_bound; /* on M: R, or what g implies when that is less; trace(Y) in the literal form */
    double width, rho;       /* of the scaled rows: as they are, and as used */
    double epsilon;          /* step of the last stage */
    double T;                /* rounds that the proof asks for (guarantee mode), or those set */
    int64_t rows;            /* the m of T */
    int64_t rounds;          /* done, all stages */
    int64_t eigen;           /* cone: eigendecompositions among them */
    double violation;        /* worst miss of any row of the average, in the user's units */
    double margin_violation; /* of the margins alone */
    double exceeded; /* largest |scaled slack| / rho seen; above 1 the width was too small */
    double objective, kappa, trace; /* of m */
    /* lifted: alpha of the average; rounds of the last stage whose Y lived in M, M1, M2 and alpha; share of the
     * weights that objective and margins have in the end */
    double alpha;
    int64_t lived[4];
    double data_weight;
    const double *m; /* average, d*d or d when diagonal; borrowed from the workspace */
    /* Proof: for all M in the easy set q0 (g - <G,M>) + sum q_t (<A_t,M> - mu_t) <= value < 0. */
    double q0, value;
    const double *q; /* m; borrowed */
    bool proves;     /* that inequality holds over kappa(M) <= K, trace(M) <= trace_bound */
    double seconds;
} bdml_mwu_result;

typedef struct bdml_mwu bdml_mwu;

/* p: built without reduction (bdml_paper_problem); p and s are borrowed. All memory is taken here. */
bdml_status bdml_mwu_new(bdml_handle *h, bdml_problem *p, const bdml_paper_settings *s,
                         bdml_mwu **out);
void bdml_mwu_free(bdml_mwu *w);
bdml_status bdml_mwu_run(bdml_mwu *w, double bound, bdml_mwu_result *r);

/* The problem in the user's own space: as bdml_problem_new, but never reduced to the span of the data. */
bdml_status bdml_paper_problem(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                               const bdml_constraints *c, bool diagonal, bdml_problem **out);

/* ---- bisection: Algorithm 1 (bisection.c) ----------------------------------------------------------------- */

typedef struct bdml_bisection {
    double L, U;      /* of Algorithm 1; L is proven */
    int calls;        /* feasibility problems solved */
    int64_t rounds;   /* in all of them */
    double violation; /* of the metric returned, every row; margins alone in result.slack */
    double exceeded;  /* largest |slack| / rho of any round */
    double seconds;
} bdml_bisection;

/* min <G,M> under the constraints. r as the certified solver fills it: for the cone form a bracket with its
 * multipliers, for the lifted form outcome BDML_APPROXIMATE (but for proven infeasibility) with slack. */
bdml_status bdml_paper_solve(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, bool diagonal, const bdml_paper_settings *s,
                             bdml_solve_result *r, bdml_bisection *report);

#endif
