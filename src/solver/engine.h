/* engine.h - inside the solver: the reduced problem, and a solve as the parts of the algorithm.
 *
 * Symmetric matrices are vectors of `size` numbers (spectral/matrix.h); vectors over constraints are
 * those of problem/cvector.h. Everything is in scaled units but where a name says "user" (scale.c, eq. 12). */
#ifndef BDML_ENGINE_H
#define BDML_ENGINE_H

#include "solver/solver.h"
#include "solver/terms.h"
#include "spectral/matrix.h"

/* ---- the problem in a basis of the data span (reduce.c, setup.c) ---------------------------- */

/* How metrics are written down: the one choice between full and diagonal. */
typedef struct bdml_form {
    const bdml_operator_ops *row_ops;
    const bdml_matrix_ops *matrix_ops;
    /* From the scatter S of the points (destroyed): basis or kept, r, exact. */
    bdml_status (*find_span)(bdml_handle *h, bdml_problem *p, double *S);
} bdml_form;

extern const bdml_form bdml_full_form, bdml_diagonal_form;

/* Points and constraints. */
typedef struct bdml_statement {
    int64_t n;
    const double *x;
    int64_t ld;
    const bdml_constraints *c;
    const bdml_spread *over;  /* x: those rows of the n that are here; NULL: all are */
    const unsigned char *own; /* of each row: no rank before has it; NULL: not known */
    const bdml_made *made;    /* the rows, where there is no x */
} bdml_statement;

struct bdml_problem {
    const bdml_form *form;
    int64_t n;
    int d, r;
    const double *x; /* borrowed, as c, objective and comm */
    int64_t ld;
    const bdml_constraints *c;
    /* The problem as all ranks know it, borrowed: what is above, but where that is a share of it. Multipliers of
     * settings, results and states are of these constraints; those of this rank begin with number share.first. */
    bdml_statement stated;
    bdml_share share;
    double *share_x;
    const double *objective; /* or NULL */
    const bdml_comm *comm;   /* over whose constraints sums go */
    const bdml_comm
        *clock; /* whose clocks and users may end a solve, also where each solves all of it */
    bool exact; /* nothing but rounding was dropped by the reduction */
    struct bdml_problem *whole; /* unreduced, made when the reduction was not exact */
    double *basis;              /* full: d x r orthonormal columns; NULL when r == d */
    int *kept;                  /* diagonal: the r coordinates that vary; NULL otherwise */
    bdml_operator A;            /* over the reduced points */
};

/* own: the points and constraints of this rank; stated: those of all, NULL: they are not known, or there are no others. */
bdml_status bdml_problem_build(bdml_handle *h, const bdml_comm *comm, int d,
                               const bdml_statement *own, const bdml_statement *stated,
                               const double *objective, const bdml_form *form, bool reduce,
                               bdml_problem **out);
/* The same problem in the whole space, kept with p. */
bdml_status bdml_problem_unreduced(bdml_handle *h, bdml_problem *p);
/* Fill basis or kept, r, exact; z: n x r reduced points out (NULL: x itself serves). */
bdml_status bdml_reduce(bdml_handle *h, bdml_problem *p, double **z);
/* User's M (d*d or d) <-> reduced; `fill` is the eigenvalue outside the span. ws: d*r doubles. */
void bdml_reduce_metric(const bdml_problem *p, const double *user, double *m, double *ws);
void bdml_expand_metric(const bdml_problem *p, const double *m, double fill, double *user,
                        double *ws);

/* ---- the parts of a solve ------------------------------------------------------------------- */

/* The problem in scaled units (scale.c, collapse.c). */
typedef struct bdml_scaled {
    bdml_units unit;
    bdml_spectral set; /* reduced, trace in scaled units */
    double user_trace; /* R as given, or that of the spectrum */
    double *hull;      /* scratch of the set, where it needs some */
    double *g;         /* G */
    double g_rough;    /* what its rounding is a share of */
    bdml_terms terms;  /* of all constraints */
    double gamma;      /* least <G,M> per unit of trace (eq. 14) */
    double
        needed;   /* the largest mu_t/|A_t|: a metric that meets all margins has no smaller trace */
    double C, C0; /* user's */
} bdml_scaled;

/* Accelerated projected gradient (inner.c); Newton's rounds use the same matrices. */
typedef struct bdml_iterate {
    double *M, *M_old, *Z;
    double *S, *T;   /* gradient or dual matrix; scratch, and eigenvectors after a projection */
    double step_inv; /* L: inverse step */
    double momentum;
    double residual; /* L |M - Z| of the last step */
} bdml_iterate;

/* The outer loop: multipliers and penalty (augmented.c). */
typedef struct bdml_dual {
    double *v;          /* values of all constraints at M */
    double *y;          /* multipliers; */
    double *y_try;      /* those of the next round, and scratch */
    double penalty_inv; /* 1/rho; 0: the loss itself is smooth */
    double aim;         /* the inner problem's margins are aim * b, >= 1 */
    int aim_rounds;     /* since aim was set */
    double primal;      /* last primal residual, */
    double before;      /* and that of the round before */
    bool warm;          /* the multipliers are those of a warm start: near the end already */
} bdml_dual;

/* Constraints that the inner iteration works on, their data gathered (active.c). */
typedef struct bdml_active {
    bdml_terms terms;      /* margins are aim * b */
    bool all;              /* every constraint is listed */
    unsigned char *listed; /* of all constraints */
    int64_t *t;
    double *y0;                    /* centre of the augmented Lagrangian */
    double *v, *v_old, *v_z, *y_z; /* values at M, at the M before, at Z; y at Z */
    double *weighted;              /* w y: scratch of both adjoints */
} bdml_active;

/* Semismooth Newton method (newton.c). */
typedef struct bdml_newton {
    int room;        /* free constraints at most; 0: the method is not used */
    size_t stripe;   /* numbers of V that are held at a time */
    int count;       /* free constraints of all ranks, room + 1: too many; by rank: */
    int first, mine; /* those of this one, and their places in its active list */
    int64_t *free;
    double *counts;         /* of each rank */
    double *q, *u, *y;      /* room: of every free constraint, at the beginning of a step */
    double *V, *H, *factor; /* stripe; room x room */
    double *far, *near;     /* r x room: differences, rotated */
    double *raw;            /* r x room */
    bdml_derivative D;      /* of the projection */
    double *along_c, *along_tau, *gradient, *step; /* room */
    double sigma, ridge;
    double started_at; /* gap when the method took over */
    int rounds, stuck;
    bool on;         /* the next round is one of this method */
    bool off;        /* it gave up: the augmented Lagrangian goes on alone, */
    double tried_at; /* gap when that stalled and the method was tried anew */
} bdml_newton;

/* Second order for the squared hinge (quadratic.c). Matrices are packed (spectral/matrix.h). */
typedef struct bdml_quadratic {
    int width;                /* numbers of a matrix; 0: the method is not used */
    double *H;                /* width x width: curvature of the missed margins, */
    unsigned char *curved;    /* which these constraints make up */
    double *change, *block;   /* scratch: of H; of its columns */
    double *pair;             /* 2 r: differences of a constraint */
    double *m, *s;            /* M_k and the gradient there */
    double *x, *x_old, *z;    /* accelerated steps on the model; */
    double *hx, *hx_old, *hz; /* H (x - m) */
    double L;                 /* inverse step there */
    double started_at;        /* gap when its decrease was last looked at */
    int rounds;
    bool on, off; /* as in bdml_newton */
} bdml_quadratic;

/* Both ends of the bracket (certificate.c). */
typedef struct bdml_bounds {
    double upper, lower;
    bool have_best;
    double *best, *best_y; /* M of upper, y of lower */
    bool scalable;         /* the last M could be scaled to meet the margins within the set */
    double interior_slack, interior_f; /* strictly feasible point for blending */
    double *interior, *interior_v;
} bdml_bounds;

/* Proof that no M meets all margins (infeasible.c). */
typedef struct bdml_refutation {
    bdml_proof kind;
    double *y;
    bool final;   /* nothing better is to be had */
    int rounds;   /* since there is one */
    double trace; /* it holds for every trace below */
} bdml_refutation;

/* What a solve stands for: its problem and settings as the user gave them, and where it runs in the
 * whole space after one in the span, what that one left. */
enum { BDML_IDENTITY_SIZE = 24 };
typedef struct bdml_stage {
    double identity[BDML_IDENTITY_SIZE];
    bool whole, proven; /* proven: the multipliers of the warm start are a proof, to be tested */
    int64_t iterations; /* and what follows: of the solve in the span */
    double seconds, C, C0;
    int rank;
    bdml_stop stop;
    bdml_history history; /* so far, of this solve too */
} bdml_stage;

/* How far it is, and when it ends (augmented.c, state.c, progress.c). */
typedef struct bdml_course {
    int64_t iterations, rounds;
    bdml_stop stop;
    double started, earlier; /* seconds: when this run began, those of the runs before it */
    double ahead;            /* and from then to its first step */
    double stall_gap;        /* gap when it last fell by much, and when that was */
    int64_t stall_since;
    bool table_star;
    bdml_solve_state state; /* of the last whole round, when there is someone to save it; */
    bool state_summed;      /* that of all ranks, no longer the part of this one */
    double saved_at;        /* when it was given away */
} bdml_course;

typedef struct bdml_engine {
    bdml_handle *h;
    bdml_problem *p;
    const bdml_solve_settings *s;
    bdml_matrices X; /* matrices of the reduced size */
    bdml_scaled scaled;
    bdml_iterate at;
    bdml_dual dual;
    bdml_active active;
    bdml_newton newton;
    bdml_quadratic quadratic;
    bdml_bounds bounds;
    bdml_refutation proof;
    bdml_course course;
    bdml_stage stage;
} bdml_engine;

/* ---- a solve, in the order of its steps ----------------------------------------------------- */

/* settings.c */
bdml_status bdml_check_settings(bdml_handle *h, const bdml_solve_settings *s);

/* workspace.c */
bdml_status bdml_engine_init(bdml_engine *e, bdml_handle *h, bdml_problem *p,
                             const bdml_solve_settings *s);
void bdml_engine_free(bdml_engine *e);

/* collapse.c: user's C0; direction: a metric (scaled set) with the best ratio, in e->at.M. */
bdml_status bdml_collapse_threshold(bdml_engine *e, double *C0);

/* scale.c: fill the scaled problem; soft: C known. scratch: one number a constraint. */
void bdml_scale(bdml_scaled *to, const bdml_operator *A, const bdml_solve_settings *s,
                double *scratch);

/* start.c: rho and y; M, a member with its eigenvalues in X.l (Z: the direction of C0; ws: d*r). */
void bdml_start_dual(bdml_engine *e);
bdml_status bdml_start_point(bdml_engine *e, double *ws);

/* augmented.c: the outer loop; true when the solve must end now, e->course.stop then says why */
bdml_status bdml_augmented_run(bdml_engine *e, bool resumed);
bool bdml_limit_reached(bdml_engine *e);
static inline bool bdml_stop_cut(bdml_stop stop) /* a limit or the user */
{
    return stop != BDML_STOP_DONE && stop != BDML_STOP_STALLED;
}

/* active.c */
void bdml_active_gather(bdml_engine *e);  /* t and terms of the listed */
void bdml_active_rebuild(bdml_engine *e); /* from v and y of all constraints at M */
bool bdml_active_misses(const bdml_engine *e);
double bdml_active_count(const bdml_engine *e); /* with y > 0 or missed, on all ranks */
void bdml_active_scatter(const bdml_engine *e, const double *from, double *y); /* 0 elsewhere */
/* v = values of the listed at M, row-weighted; S = g - A*y over the listed */
void bdml_active_forward(bdml_engine *e, const double *M, double *v);
void bdml_active_adjoint(bdml_engine *e, const double *g, const double *y, double *S);

/* inner.c: accelerated projected gradient on the augmented function */
void bdml_inner_restart(bdml_engine *e); /* Z = M, momentum gone; active->v is that of M */
bdml_status bdml_inner_step(bdml_engine *e, const double *g);

/* newton.c: proximal points by semismooth Newton */
bdml_status bdml_newton_init(bdml_engine *e);
double bdml_newton_bytes(double m, int d); /* what it takes; see bdml_solve_bytes */
void bdml_newton_free(bdml_newton *n);
bool bdml_newton_pays(const bdml_engine *e); /* time to change over? */
bdml_status bdml_newton_round(bdml_engine *e);
/* After it gave up and nothing else helps: tried anew, as long as that has halved the gap. */
bool bdml_newton_again(bdml_newton *n, double gap);

/* quadratic.c: second order where the objective is piecewise quadratic and matrices are small */
bdml_status bdml_quadratic_init(bdml_engine *e);
double bdml_quadratic_bytes(int d);
void bdml_quadratic_free(bdml_quadratic *p);
bool bdml_quadratic_pays(const bdml_engine *e); /* time to change over? */
bdml_status bdml_quadratic_round(bdml_engine *e);

/* vector.c: all constraints, row-weighted; and the projection, which is counted */
void bdml_engine_forward(bdml_engine *e, const double *M, double *v);
/* S = G - A*y; g NULL: S = -A*y. */
void bdml_engine_adjoint(bdml_engine *e, const double *g, const double *y, double *S);
/* M = projection of A (destroyed): X.l its eigenvalues, ascending. */
bdml_status bdml_engine_project(bdml_engine *e, double *A, double *M);

/* certificate.c */
bdml_status bdml_certify_upper(bdml_engine *e); /* from M and v */
bdml_status bdml_certify_lower(bdml_engine *e, const double *y);
double bdml_bounds_gap(const bdml_bounds *b);
/* Rounding of <A_t,M> and of eigenvalues of A_t in r dimensions, in units of what A_t is summed from and the largest eigenvalue of M. */
double bdml_rounding(int r);
/* Rounding of the density of G - A*y; y NULL: of G. */
double bdml_dual_error(const bdml_scaled *scaled, int r, const double *y);

/* infeasible.c: look for a proof at the M and v of a finished round (y_try is scratch); test
 * given y, which is kept when it proves something. */
bdml_status bdml_infeasible_check(bdml_engine *e);
/* From one constraint alone, before the first round. */
bdml_status bdml_infeasible_row(bdml_engine *e);
bdml_status bdml_infeasible_test(bdml_engine *e, const double *y);

/* state.c: keep the state at the beginning of a round, and save it when it is time; save it at the end
 * of a solve that did not finish; take up a state. */
bdml_status bdml_state_keep(bdml_engine *e);
bdml_status bdml_state_last(bdml_engine *e);
bdml_status bdml_state_restore(bdml_engine *e);
/* stage holds the identity of what is solved now; a state of something else is refused. */
bdml_status bdml_state_stage(bdml_handle *h, const bdml_solve_state *state, bdml_stage *stage);

/* identity.c: what a state is tied to; and, when it is not that of the state, how it differs. */
void bdml_identity_make(const bdml_problem *p, const bdml_solve_settings *s, double *identity);
bdml_status bdml_identity_check(bdml_handle *h, const double *now, const double *then);

/* history.c */
void bdml_history_add(bdml_history *h, double iteration, double lower, double upper);
void bdml_history_note(bdml_engine *e); /* the bracket as it stands now */

/* progress.c */
void bdml_table_header(bdml_engine *e);
void bdml_table_row(bdml_engine *e);
void bdml_table_footer(bdml_engine *e, const bdml_solve_result *r);

/* result.c */
bdml_status bdml_export_result(bdml_engine *e, bdml_solve_result *r);

#endif
