/* solver.h - the certified solver: the best metric in a spectral set, with a proof attached.
 *
 *     hard   min <G,M>                                   s.t. <A_t,M> >= mu_t,  M in the set
 *     soft   min <G,M> + (C/m) sum_t w_t phi(mu_t - <A_t,M>),                   M in the set
 *
 * phi = squared hinge or hinge; equations are numbered in docs/algorithm.md. The outcome is a
 * bracket [lower, upper] on the optimum, or a proof that the hard constraints contradict each
 * other.
 *
 * Called by train and above; calls problem, spectral, linalg, base. */
#ifndef BDML_SOLVER_H
#define BDML_SOLVER_H

#include "problem/operator.h"
#include "spectral/matrix.h"

typedef enum bdml_set_kind {
    BDML_SET_DISTORTION,  /* kappa(M) <= K, trace(M) <= R */
    BDML_SET_PSD_BALL,    /* M >= 0, trace(M) <= R */
    BDML_SET_PSD_SIMPLEX, /* M >= 0, trace(M) = R */
    BDML_SET_HULL,        /* hull of { Q' Lambda Q }, Lambda = diag(spectrum) of size rank */
    BDML_SET_RANK,        /* hull of { Q' Lambda Q }, kappa(Lambda) <= K, Lambda of size rank */
} bdml_set_kind;

/* All that a solve knows between two rounds, as numbers: it goes on from there to the same bits. Tied
 * to the problem and the settings (but max_iter) by fingerprints in it. */
typedef struct bdml_solve_state {
    int64_t count;
    double *number;
} bdml_solve_state;

typedef struct bdml_solve_settings {
    bdml_set_kind set;
    double K;                      /* distortion cap, >= 1 */
    double trace;                  /* R > 0; infinite: no bound; BDML_SET_HULL, _RANK: not read */
    int rank;                      /* BDML_SET_HULL, _RANK: 1 .. d */
    const double *spectrum;        /* BDML_SET_HULL: `rank` numbers >= 0, ascending, not all 0 */
    double margin;                 /* mu > 0, times the margin of each constraint */
    bool hard;                     /* margins as constraints, not as a loss */
    bdml_loss loss;                /* of the soft form */
    double softness;               /* C as a multiple of the collapse threshold C0; > 0 */
    double C;                      /* when > 0: C itself, and softness is not read */
    bool skip_threshold;           /* with C: C0, eigenproblems for reports alone, is left NaN */
    double gap;                    /* stop at (upper - lower) <= gap * |upper|; > 0 */
    int64_t max_iter;              /* projections at most; >= 1 */
    const double *warm_metric;     /* d*d (or d when diagonal), or NULL */
    const double *warm_multiplier; /* m, or NULL */
    /* Checkpoints: `save` gets the state every save_every seconds (0: every round), and that of the
     * last whole round when a limit or the user ends the solve. NULL: none. */
    bdml_status (*save)(void *user, const bdml_solve_state *state);
    void *save_user;
    double save_every;
    const bdml_solve_state
        *resume; /* go on from here, or NULL; BDML_ERR_ARGUMENT if it is not ours */
} bdml_solve_settings;

typedef enum bdml_outcome {
    BDML_OPTIMAL,
    BDML_INFEASIBLE,
    BDML_STOPPED,
    BDML_APPROXIMATE /* the paper's lifted solver: m misses margins by up to slack, and maybe the cap */
} bdml_outcome;

typedef enum bdml_proof {
    BDML_PROOF_NONE,
    BDML_PROOF_RATIO, /* infeasible for this mu and R: needs a larger trace or a smaller margin */
    BDML_PROOF_TRACE, /* for traces below proof_trace, out of all proportion; beyond, rounding hides it */
    BDML_PROOF_CONE, /* for every trace bound and every positive multiple of the margins */
} bdml_proof;

typedef enum bdml_stop {
    BDML_STOP_DONE, /* optimal or infeasible */
    BDML_STOP_ITERATIONS,
    BDML_STOP_TIME,
    BDML_STOP_CANCELLED,
    BDML_STOP_STALLED, /* rounding keeps the bracket from closing further */
} bdml_stop;

/* How the bracket closed: iterations, lower and upper end after each round, in the user's units. When
 * all rows are taken every second one is given up, and from then on fewer are kept. */
enum { BDML_HISTORY_ROWS = 128 };
typedef struct bdml_history {
    int count;
    int64_t seen, every; /* rounds so far; one in `every` is kept */
    double iteration[BDML_HISTORY_ROWS], lower[BDML_HISTORY_ROWS], upper[BDML_HISTORY_ROWS];
} bdml_history;

/* All values in the user's units. */
typedef struct bdml_solve_result {
    bdml_outcome outcome;
    bdml_stop stop;
    double lower, upper, gap; /* upper is infinite while no feasible M is known */
    double kappa, trace;      /* of m; kappa of M = 0 is 1 */
    int64_t iterations;       /* projections onto the set after which constraints are looked at */
    double seconds;
    double ahead; /* of them before the first step, where it can first be stopped */
    int d, rank;  /* rank: dimensions that the data span, in which the work was done */
    bool diagonal;
    double *m; /* d*d, or d when diagonal; NULL when no M is known (infeasible) */
    double *y; /* one multiplier per constraint: those of `lower`, or the proof */
    bdml_proof proof;
    double proof_trace;    /* the proof excludes every M with a trace below this */
    int64_t contradicting; /* constraints in the proof, */
    int64_t *important;    /* by number, the weightiest first */
    double C, C0;          /* soft form: weight used, and the threshold under which M = 0 is best */
    bool collapsed;        /* soft form: M = 0 is optimal */
    bool cut;              /* a limit or the user ended it, or the part of it in the span */
    double slack;          /* BDML_APPROXIMATE: the margin missed most, by this much */
    bdml_history history;  /* of the engine; the paper's solvers keep none */
} bdml_solve_result;

void bdml_solve_result_free(bdml_solve_result *r); /* the arrays; r itself is the caller's */

/* r->important: constraints with y > 0 by their share mu_t y_t of the proof, the weightiest first. */
bdml_status bdml_rank_proof(bdml_handle *h, int64_t m, const double *mu, const double *y,
                            bdml_solve_result *r);

/* Bounded distortion, K 10, no trace bound, mu 1, soft squared hinge, softness 5, gap 1e-3. */
bdml_solve_settings bdml_solve_defaults(void);
bdml_solve_settings bdml_solve_from_options(const bdml_solve_options *o);
/* BDML_ERR_ARGUMENT unless K is within the range of the setting "distortion". */
bdml_status bdml_check_distortion(bdml_handle *h, double K);

/* ---- a problem, to be solved once or along a path ------------------------------------------- */

typedef struct bdml_problem bdml_problem;

/* objective: G, d*d (its diagonal is read when `diagonal`), or NULL: the mean over the target
 * pairs of c. x (n rows of d, stride ld), c and objective are borrowed while the problem lives. */
bdml_status bdml_problem_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, const double *objective, bool diagonal,
                             bdml_problem **out);
/* A part of a problem that is split over the ranks of comm (problem/cvector.h): x holds the rows that
 * its constraints name, c its constraints and target pairs; comm is borrowed too. d, objective and the
 * settings of a solve, warm metric included, are the same on every rank; multipliers, and the proof of a
 * result, are of its own constraints. */
bdml_status bdml_problem_new_split(bdml_handle *h, const bdml_comm *comm, int64_t n, int d,
                                   const double *x, int64_t ld, const bdml_constraints *c,
                                   const double *objective, bool diagonal, bdml_problem **out);
/* The problem of bdml_problem_new, all of which every rank of the handle knows. split: each holds its share of the constraints
 * (problem/problem.h), sums go over all ranks, and against one process they differ in the grouping of additions; else each solves all of it, to the
 * bits of one process. Either way with copies of the rows that its constraints name where rows are dealt out (rows: those of this rank; over
 * NULL: all are here) or made when they are asked for. Multipliers, proofs and states are those of all. */
bdml_status bdml_problem_new_shared(bdml_handle *h, const bdml_spread *over, bool split, int64_t n,
                                    const bdml_rows *rows, const bdml_constraints *c,
                                    const double *objective, bool diagonal, bdml_problem **out);
/* Is a step long enough to be split, metrics being of d x d numbers, or of d? */
bool bdml_sharing_pays(const bdml_constraints *c, int d, bool diagonal);
/* Never reduced to the span of the data. */
bdml_status bdml_problem_new_whole(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                                   const bdml_constraints *c, bool diagonal, bdml_problem **out);
void bdml_problem_free(bdml_problem *p);

/* What other algorithms on the same problem need: its operator (over the span), how its matrices are
 * written down, and its points. */
const bdml_operator *bdml_problem_operator(const bdml_problem *p);
const bdml_matrix_ops *bdml_problem_matrices(const bdml_problem *p);
const double *bdml_problem_points(const bdml_problem *p, int64_t *n, int64_t *ld);
/* The constraints that this rank holds, and the points that they name; the ranks that hold the others. */
const bdml_comm *bdml_problem_comm(const bdml_problem *p);
const double *bdml_problem_held(const bdml_problem *p, int64_t *ld, const bdml_constraints **c);

/* Solve. The outcome "infeasible" and a solve stopped by a limit or the user are BDML_OK: r tells.
 * r is filled anew; free it after BDML_OK. */
bdml_status bdml_problem_solve(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                               bdml_solve_result *r);
/* Memory of a problem in d dimensions and of its solve, in bytes: m constraints over so many pairs of points.
 * smooth: the loss is the squared hinge. */
enum {
    BDML_SOLVE_CONSTRAINT = 201
}; /* of these, bytes of each constraint beside those of its pairs */
double bdml_solve_bytes(const bdml_handle *h, double points, double pairs, double m, int d,
                        bool smooth);
int64_t bdml_problem_constraints(const bdml_problem *p);
/* One number for points, constraints, objective and settings (but limits): what a state is tied to. */
uint64_t bdml_problem_fingerprint(const bdml_problem *p, const bdml_solve_settings *s);
/* C0 of the soft form: M = 0 is optimal iff C <= C0. Infinite when no C gives another M. */
bdml_status bdml_problem_collapse(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  double *C0);

#endif
