/* relaxed.h - inside the relaxation of Proposition 2: its rows, the round's Y = q vec(w u') vec(w u')', and the
 * rounds of a run, kept as factors. */
#ifndef BDML_RELAXED_H
#define BDML_RELAXED_H

#include "paper/mwu.h"
#include "paper/relaxation.h"

enum { BDML_RELAXED_KEPT = 8 }; /* products of the first Lanczos vectors that are kept */

/* The rounds of a run: Y_t = q vec(w_t u_t') vec(w_t u_t')'. */
typedef struct bdml_atoms {
    int64_t count, room;
    double *u; /* d x room */
    double *w; /* q x room */
} bdml_atoms;

typedef struct bdml_relaxed {
    int d, q;
    const double *lambda;
    double trace, least, most; /* of Lambda */
    bdml_margin *op;
    double tolerance; /* of the eigenvectors, relative; 0: what is good enough */
    bdml_products *products;
    int64_t pairs;

    /* rows A_uv.Y = b_uv, each as two inequalities; lower triangles, q x q */
    double *plus, *minus, sum; /* weights, and their sum */
    double scale_diagonal, scale_off;
    double *sum_C; /* of q w w' over the rounds */

    /* round */
    double q0, margins;        /* weight of the objective; sum of weights times margins */
    double *u, s, residual;    /* largest eigenpair of S = -q0 G + A*y */
    double *w, theta, stretch; /* of s Lambda + B; w' Lambda w */
    double *past_u, *past_w;   /* fading sums of those of the rounds before: where Lanczos starts */
    double *B;                 /* q x q */
    double *dot, *kept, *z;    /* differences times u; of the Lanczos vectors; d */
    bdml_lanczos_ws lanczos_d, lanczos_q;
    bdml_atoms atoms;

    /* verdicts */
    double g_trace;            /* of G */
    double *norm;              /* |A_t|_F */
    double *G, *S, *T, *eigen; /* d x d; d */
    bool have_G;
    bdml_eigh_ws ws;
    int64_t look_at, pause; /* an unconfirmed verdict makes the next confirmation wait */
} bdml_relaxed;

extern const bdml_mwu_form
    bdml_relaxed_form; /* own: bdml_relaxed with d, q, lambda, op and the room of atoms set */

/* relaxed_oracle.c */
bdml_status bdml_relaxed_oracle(bdml_mwu *w, bool *infeasible);
/* Largest bound on rho_sdp that multiples of y = q / q0 prove. */
bdml_status bdml_relaxed_lower(bdml_mwu *w, double q0, const double *q, double *lower);

/* ---- randomisation.c: Algorithm 3 -------------------------------------------------------------------------- */

/* Where samples (q x d) come from: sqrt(q/T) sum g_t w_t u_t', or rows N(0, root root'). */
typedef struct bdml_sampler {
    int d, q;
    const bdml_atoms *atoms; /* or NULL: */
    int64_t rank;
    const double *root; /* d x rank */
} bdml_sampler;

/* Sample number `index`, as q rows of d. scratch: bdml_sampler_size doubles. */
size_t bdml_sampler_size(const bdml_sampler *s);
void bdml_sample(const bdml_handle *h, const bdml_sampler *s, uint64_t seed, int64_t index,
                 double *scratch, double *xi);

/* Draw, judge, choose. expected: the objective of the covariance. Fills Q and the fields of r about Q, start and samples. */
bdml_status bdml_randomise(bdml_handle *h, bdml_margin *op, const bdml_constraints *c,
                           const bdml_sampler *from, const double *lambda,
                           const bdml_relaxation_settings *s, double expected, double *Q,
                           bdml_relaxation_report *r);
/* objective and nu of Q' Lambda Q. */
bdml_status bdml_judge(bdml_handle *h, bdml_margin *op, const bdml_constraints *c, int d, int q,
                       const double *lambda, double margin, const double *Q, double *objective,
                       double *nu);

#endif
