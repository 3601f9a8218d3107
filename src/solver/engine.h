/* engine.h - inside the solver: the reduced problem, the scaled problem and the workspace.
 *
 * Symmetric matrices are vectors of `size` numbers: r*r column-major, or the diagonal (r).
 * Everything is in scaled units but where a name says "user" (scale.c, eq. 12). */
#ifndef BDML_ENGINE_H
#define BDML_ENGINE_H

#include "linalg/linalg.h"
#include "solver/solver.h"

/* ---- the problem in a basis of the data span (reduce.c, setup.c) ---------------------------- */

struct bdml_problem {
    int64_t n, m;
    int d, r;
    const double *x; /* borrowed */
    int64_t ld;
    const bdml_constraints *c;
    bool diagonal;
    const double *objective;    /* borrowed, or NULL */
    bool exact;                 /* nothing but rounding was dropped by the reduction */
    struct bdml_problem *whole; /* unreduced, made when the reduction was not exact */
    double *basis;              /* d x r orthonormal columns; NULL when r == d or diagonal */
    int *kept;                  /* diagonal: the r coordinates that vary; NULL otherwise */
    size_t size;                /* r*r, or r when diagonal */
    bdml_margin *op;            /* over the reduced points */
    double *g;                  /* G, reduced */
    double *norm;               /* |A_t|_F */
    double norm_mean;
};

bdml_status bdml_problem_build(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                               const bdml_constraints *c, const double *objective, bool diagonal,
                               bool reduce, bdml_problem **out);
/* Fill basis or kept, r, exact; z: n x r reduced points out (NULL: x itself serves). */
bdml_status bdml_reduce(bdml_handle *h, bdml_problem *p, const double *objective, double **z);
/* User's M (d*d or d) <-> reduced; `fill` is the eigenvalue outside the span. ws: d*r doubles. */
void bdml_reduce_metric(const bdml_problem *p, const double *user, double *m, double *ws);
void bdml_expand_metric(const bdml_problem *p, const double *m, double fill, double *user,
                        double *ws);

/* ---- the scaled problem and its workspace --------------------------------------------------- */

/* Constraints that the inner iteration works on, their data gathered. count == m, all != 0: all. */
typedef struct bdml_active {
    int64_t count;
    bool all;
    int64_t *t;
    double *w, *b, *q, *u; /* row weight, margin, curvature of the dual, bound on y */
    double *y0;            /* centre of the augmented Lagrangian */
    double *v, *v_old, *v_z, *y_z, *scratch; /* values at M, at the M before, at Z; y at Z */
} bdml_active;

/* Workspace of the semismooth Newton method (newton.c). */
typedef struct bdml_newton {
    int room;     /* free constraints at most; 0: the method is not used */
    size_t width; /* numbers of a constraint in the eigenbasis: r(r+1)/2, or r when diagonal */
    int count;    /* free constraints, and their places in the active list */
    int64_t *free;
    double *V, *H, *factor; /* width x room; room x room */
    double *far, *near;     /* r x room: differences, rotated */
    double *raw;            /* r x room */
    double *mid, *c, *tau;  /* derivative of the projection, by eigenvector (or coordinate) */
    double *root;           /* square roots of its divided differences, r*r */
    double *along_c, *along_tau, *gradient, *step; /* room */
    double sigma, ridge;
    double started_at; /* gap when the method took over */
    int rounds, stuck;
    bool on;  /* the next round is one of this method */
    bool off; /* it gave up: the augmented Lagrangian goes on alone */
} bdml_newton;

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

typedef struct bdml_engine {
    bdml_handle *h;
    bdml_problem *p;
    const bdml_solve_settings *s;
    bdml_spectral set; /* reduced, trace in scaled units */
    double user_trace; /* R as given, or that of the spectrum */
    double *hull;      /* scratch of the set, where it needs some */
    int r;
    size_t size;
    int64_t m;
    double started, earlier; /* seconds: when this run began, those of the runs before it */
    bdml_stage stage;
    bdml_solve_state state; /* of the last whole round, when there is someone to save it */
    double saved_at;        /* when it was given away */

    /* scaled problem: M' = unit_m M, <G,M> = unit_f <G',M'>, y = unit_y w_t y'_t (eq. 12) */
    double unit_m, unit_f, unit_y;
    double *g, *w, *b, *q, *u;
    double gamma;       /* least <G,M> per unit of trace (eq. 14) */
    double penalty_inv; /* 1/rho; 0: the loss itself is smooth */
    double aim;         /* the inner problem's margins are aim * b, >= 1 */
    bool scalable;      /* the last M could be scaled to meet the margins within the set */
    int aim_rounds;     /* since aim was set */
    double before;      /* primal residual of the round before */
    bool warm;          /* the multipliers are those of a warm start: near the end already */
    double C, C0;       /* user's */

    /* iterates */
    double *M, *M_old, *Z, *S, *T, *scaled; /* size each; scaled r*r */
    double *lambda, *l, *sorted;
    int *order;
    bdml_eigh_ws eigen;
    double step_inv; /* L: inverse step */
    double momentum;
    double residual;       /* L |M - Z| of the last step */
    double *v, *y, *y_try; /* all constraints */
    unsigned char *listed;
    bdml_active active;
    bdml_newton newton;

    /* what is known */
    double upper, lower;
    double *best, *best_y;
    bool have_best;
    double interior_slack, interior_f; /* strictly feasible point for blending */
    double *interior, *interior_v;
    bdml_proof proof;
    double *proof_y;
    bool proof_final;   /* nothing better is to be had */
    int proof_rounds;   /* since there is one */
    double proof_trace; /* the proof holds for every trace below */

    int64_t iterations;
    int64_t rounds;
    double stall_gap; /* gap when it last fell by much, and when that was */
    int64_t stall_since;
    bdml_stop stop;
    bool table_star;
    double primal; /* last primal residual */
} bdml_engine;

/* settings.c */
bdml_status bdml_check_settings(bdml_handle *h, const bdml_solve_settings *s);

/* workspace.c */
bdml_status bdml_engine_init(bdml_engine *e, bdml_handle *h, bdml_problem *p,
                             const bdml_solve_settings *s);
void bdml_engine_free(bdml_engine *e);

/* start.c: rho and y; M, a member with its eigenvalues in l (Z: the direction of C0; ws: d*r). */
void bdml_start_dual(bdml_engine *e);
bdml_status bdml_start_point(bdml_engine *e, double *ws);

/* result.c */
bdml_status bdml_export_result(bdml_engine *e, bdml_solve_result *r);

/* scale.c: fill the scaled problem; soft: C known. */
void bdml_scale(bdml_engine *e);

/* vector.c: matrices as vectors */
double bdml_vec_dot(size_t n, const double *a, const double *b);
double bdml_vec_distance2(size_t n, const double *a, const double *b);
void bdml_engine_forward(bdml_engine *e, const double *M, double *v); /* all, row-weighted */
/* S = G - A*y over all constraints; g NULL: S = -A*y. Uses y_try as scratch unless y is it. */
void bdml_engine_adjoint(bdml_engine *e, const double *g, const double *y, double *S);
/* Eigenvalues (ascending) of a symmetric vector, which is destroyed. */
bdml_status bdml_engine_eigenvalues(bdml_engine *e, double *A, double *lambda);
/* M = projection of A (destroyed). l: the eigenvalues of M ascending in e->l. */
bdml_status bdml_engine_project(bdml_engine *e, double *A, double *M);
void bdml_engine_identity(const bdml_engine *e, double value, double *M);

/* inner.c: accelerated projected gradient on the augmented function */
void bdml_inner_restart(bdml_engine *e); /* Z = M, momentum gone; active->v is that of M */
bdml_status bdml_inner_step(bdml_engine *e, const double *g);
double bdml_inner_multiplier(const bdml_engine *e, double y0, double b, double q, double u,
                             double v);

/* active.c */
void bdml_active_gather(bdml_engine *e);  /* t, w, b, q, u of the listed */
void bdml_active_rebuild(bdml_engine *e); /* from v and y of all constraints at M */
bool bdml_active_misses(const bdml_engine *e);

/* newton.c: proximal points by semismooth Newton */
bdml_status bdml_newton_init(bdml_engine *e);
void bdml_newton_free(bdml_newton *n);
bool bdml_newton_pays(const bdml_engine *e); /* time to change over? */
bdml_status bdml_newton_round(bdml_engine *e);

/* augmented.c: the outer loop; true when the solve must end now, e->stop then says why */
bool bdml_limit_reached(bdml_engine *e);
static inline bool bdml_stop_cut(bdml_stop stop) /* a limit or the user */
{
    return stop != BDML_STOP_DONE && stop != BDML_STOP_STALLED;
}
bdml_status bdml_augmented_run(bdml_engine *e, bool resumed);

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

/* certificate.c */
bdml_status bdml_certify_upper(bdml_engine *e); /* from M and v */
bdml_status bdml_certify_lower(bdml_engine *e, const double *y);
double bdml_engine_gap(const bdml_engine *e);
double bdml_dual_error(const bdml_engine *e, const double *y);

/* infeasible.c: look for a proof at the M and v of a finished round (y_try is scratch); test
 * given y, which is kept in proof_y when it proves something. */
bdml_status bdml_infeasible_check(bdml_engine *e);
bdml_status bdml_infeasible_test(bdml_engine *e, const double *y);

/* collapse.c: user's C0; direction: a metric (scaled set) with the best ratio, in e->M. */
bdml_status bdml_collapse_threshold(bdml_engine *e, double *C0);

/* history.c */
void bdml_history_add(bdml_history *h, double iteration, double lower, double upper);
void bdml_history_note(bdml_engine *e); /* the bracket as it stands now */

/* progress.c */
void bdml_table_header(bdml_engine *e);
void bdml_table_row(bdml_engine *e);
void bdml_table_footer(bdml_engine *e, const bdml_solve_result *r);

#endif
