/* bounds.h - the bounds that the paper proves, as functions of their numbers.
 *
 *     stability        |loss of A_D - loss of A_D'| <= beta = 4 (K+1) R Gamma^2 / d                     (Lemma 2)
 *     generalisation   risk <= empirical risk + 2 Gamma sqrt(K R/(d delta) (2 K R Gamma^2/(n d) + 3 beta)) (Theorem 3)
 *     tail             probability that a Gaussian sample of the relaxation is good                      (Theorem 2)
 *
 * They are loose; docs/bounds.md says how loose. Called by the command. */
#ifndef BDML_BOUNDS_H
#define BDML_BOUNDS_H

#include "client.h"

/* ---- stability and generalisation ------------------------------------------------------------------------- */

typedef struct study_bound_numbers {
    double K;         /* kappa(M) <= K, >= 1 */
    double R;         /* trace(M) <= R, > 0 */
    double radius;    /* Gamma: every point lies in a ball of this radius, > 0 */
    double d;         /* dimension; of a metric that is not of full rank its rank */
    double n;         /* pairs that the empirical risk is the mean of, >= 1 */
    double delta;     /* probability with which the bound may fail, in (0, 1] */
    double empirical; /* empirical risk, >= 0 */
} study_bound_numbers;

/* Each number out of range has its own message; those that `stability` does not need are not looked at there. */
bdml_status study_bound_stability(bdml_handle *h, const study_bound_numbers *b, double *beta);
/* *risk: bound on the true risk for a method of stability beta; beta < 0: that of bounded distortion. *excess: what
 * it adds to the empirical risk. */
bdml_status study_bound_generalization(bdml_handle *h, const study_bound_numbers *b, double beta,
                                       double *risk, double *excess);

/* ---- tail of the randomisation ----------------------------------------------------------------------------- */

typedef struct study_tail_numbers {
    double gamma;   /* margins kept: nu >= gamma mu; > 0 */
    double epsilon; /* orthogonality: zeta <= epsilon; >= 0 */
    double omega;   /* objective: at most omega times that of the relaxation; >= 1 */
    int64_t q, d;   /* rows and columns of Q */
    int64_t pairs;  /* |I|, impostor pairs */
    int64_t rank;   /* r of the relaxed solution; >= 1 */
    int64_t
        rank1; /* r1, r2, r3 of the proof: largest rank of X_ij x Lambda, of A_uv, and of G x Lambda, */
    int64_t rank2; /* each cut at r; 0: r itself */
    int64_t rank3;
    int64_t draws; /* independent samples, of which one good one is enough; >= 1 */
    bool triplets; /* refused: X_ik - X_ij is not PSD, and the theorem does not hold */
} study_tail_numbers;

typedef struct study_tail {
    double margins, objective,
        orthogonality; /* bounds on the probability of each failure, one sample */
    double tau;
    double single; /* 1 - their sum, 0 when that is negative */
    double all;    /* 1 - (1 - single)^draws */
    bool vacuous;  /* the failures add up to 1 or more */
} study_tail;

bdml_status study_bound_tail(bdml_handle *h, const study_tail_numbers *b, study_tail *out);
/* The example of the paper's remark at rank r: q 10, d 100, |I| 100, gamma pi/(16 |I|^2), epsilon 40 q sqrt(rd),
 * omega 10, 100 samples; the paper prints STUDY_TAIL_STATED for it, without r. */
study_tail_numbers study_tail_example(int64_t r);
#define STUDY_TAIL_STATED 0.999828

#endif
