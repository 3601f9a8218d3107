/* relaxation.h - the paper's step for Q of a pseudo-metric M = Q' Lambda Q (Section 5): the relaxation of Proposition 2
 * by multiplicative weights, then Gaussian randomisation (Algorithm 3).
 *
 *     rho_qp    min <G, Q'LQ>   s.t. <A_t, Q'LQ> >= mu_t,   QQ' = I                         L = diag(lambda)
 *     rho_sdp   min (G x L).Z   s.t. (A_t x L).Z >= mu_t,   A_uv.Z = b_uv,   Z >= 0 (qd x qd), trace(Z) = q
 *
 * rho_sdp <= rho_qp. Blocks of Z off the diagonal play no role, so rho_sdp is also the optimum of the d x d problem
 * min <G,M>, <A_t,M> >= mu_t, M >= 0, trace(M) = trace(L), which the certified solver brackets.
 *
 * docs/relaxation.md has the story and the measurements. Called by train; calls problem, linalg, the solver. */
#ifndef BDML_RELAXATION_H
#define BDML_RELAXATION_H

#include "paper/paper.h"

/* Which sample is taken. */
typedef enum bdml_sample_rule {
    BDML_SAMPLE_SCALE_FREE, /* largest nu / objective: what is best once scaled to meet the margins */
    BDML_SAMPLE_PAPER       /* least objective, whatever the margins */
} bdml_sample_rule;

/* Where the covariance of the samples comes from. */
typedef enum bdml_relaxation_source {
    BDML_RELAXATION_MWU,   /* the average of the rounds (the paper) */
    BDML_RELAXATION_ENGINE /* the optimal Z = (M / trace(M)) x I, M by the certified solver */
} bdml_relaxation_source;

typedef struct bdml_relaxation_settings {
    double margin; /* mu, times the margin of each constraint */
    bdml_relaxation_source source;
    /* multiplicative weights, as in bdml_paper_settings */
    int64_t rounds;
    double delta, rho, epsilon;
    bdml_row_scaling scaling;
    double gap; /* bisection ends at U - L <= gap U; also that of the exact solve */
    int calls;  /* feasibility problems at most */
    /* randomisation */
    int64_t samples; /* T' */
    bdml_sample_rule rule;
    bool
        orthonormalise; /* give the sample orthonormal rows (its polar factor) before it is judged */
    /* what the sample taken makes least, start included, in place of the rule; NULL: the rule */
    double (*value)(void *user, const double *Q);
    void *user;
    uint64_t seed;
    bool exact; /* bracket rho_sdp by the certified solver too */
} bdml_relaxation_settings;

typedef struct bdml_relaxation_report {
    bool infeasible; /* proven: no Q meets the margins with this Lambda; Q is left as it was */
    bool improved;   /* Q was replaced */
    /* the bracket: sdp_lower <= rho_sdp <= rho_qp <= achieved */
    double sdp_lower; /* proven */
    double sdp_upper; /* exact: of a feasible M; else the U of the bisection, a belief */
    bool exact;       /* sdp_upper is proven too */
    double
        achieved; /* best <G,M> of an orthonormal Q that meets every margin, start included; may be infinite */
    /* Q returned, and the start: nu = least <A_t,M>/mu_t; objective / nu is what scaling Lambda by 1/nu gives */
    double objective, nu, start_objective, start_nu;
    /* that sample before it was made orthonormal: Theorem 2 with gamma = sample_nu, epsilon = zeta, omega */
    double sample_nu, zeta, omega;
    int64_t rank; /* of the covariance, at most */
    /* multiplicative weights */
    int calls;
    int64_t rounds;          /* in all calls */
    double violation;        /* worst miss of a row by the average that was sampled */
    double margin_violation; /* of the margins alone */
    double average_nu;       /* least <A_t,M>/mu_t of that average */
    double orthogonality;    /* of the orthogonality rows alone */
    double objective_mean;   /* (G x L).Z of that average */
    int64_t samples;
    double seconds, mwu_seconds, sample_seconds, exact_seconds;
} bdml_relaxation_report;

/* 300 rounds a call, 100 samples, scale-free, orthonormal, gap 5 %, 8 calls. */
bdml_relaxation_settings bdml_relaxation_defaults(void);

/* Q: q rows of d, orthonormal; in: the start, out: the best of start and samples (rule paper: the sample chosen).
 * With orthonormalise off, Q out is the sample as drawn. op: the margin operator of c over points in d dimensions.
 * Infeasible margins are BDML_OK: r tells. */
bdml_status bdml_relaxation_q_step(bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                                   int d, int q, const double *lambda,
                                   const bdml_relaxation_settings *s, double *Q,
                                   bdml_relaxation_report *r);

/* rho_sdp by the certified solver: M >= 0, trace(M) = trace. result as bdml_problem_solve fills it; warm: multipliers
 * to start from, or NULL. */
bdml_status bdml_relaxation_exact(bdml_handle *h, const bdml_margin *op, const bdml_constraints *c,
                                  int d, double trace, double margin, double gap,
                                  const double *warm, bdml_solve_result *result);

#endif
