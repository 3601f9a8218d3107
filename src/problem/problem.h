/* problem.h - constraints mined or given, and the margin operator over them.
 *
 * Called by solver, train and above; calls neighbors, data, linalg, base. */
#ifndef BDML_PROBLEM_H
#define BDML_PROBLEM_H

#include "data/data.h"
#include "neighbors/neighbors.h"
#include "problem/cvector.h"

/* Distinct pairs of rows, and constraints and objective as numbers into them:
 *
 *     objective      G = mean of X_ij over the target pairs
 *     constraint t   d(far[t]) - d(near[t]) >= mu_t        near[t] = -1: d(far[t]) >= mu_t
 *
 * so that pair and triplet constraints mix, and a triplet costs two 32-bit numbers. */
struct bdml_constraints {
    int64_t n;     /* rows of the data */
    int64_t pairs; /* distinct pairs */
    int32_t *pi, *pj;
    int64_t targets; /* pairs in the objective, as pair numbers */
    int32_t *target;
    int64_t m;
    int32_t *far, *near;
    double *margin; /* per constraint, or NULL: all 1 */
    double *weight; /* per constraint (soft form), or NULL: all 1 */
    /* of each pair: pairs of one group may be about the same things (the same people), pairs of two
     * groups are not, so that cross-validation leaves out whole groups; NULL: not known */
    int32_t *group;
    /* what was found while building, for reports */
    int64_t duplicates; /* repeated constraints, dropped */
    int64_t
        contradictions; /* same vector under two labels or asked to be far; pairs both target and
                             * impostor; triplets and their opposites */
};

/* ---- constraints (constraints.c) ------------------------------------------------------------------ */

/* From rows: target pairs (i,j) and m constraints (i,j,k), j = -1 for a pair constraint. The caller
 * has checked that rows are within 0..n-1 and differ within a pair and within a constraint. Kept in
 * order; repeated constraints (d(i,k) = d(k,i)) and repeated rows of target pairs are dropped; (i,j)
 * and (j,i) both count in the objective. margin, weight: per constraint, or NULL. */
bdml_status bdml_constraints_build(bdml_handle *h, int64_t n, int64_t targets,
                                   const int32_t *target, int64_t m, const int32_t *rows,
                                   const double *margin, const double *weight,
                                   bdml_constraints **out);
/* From m rows of four, (i,j,k,l): D(k,l) > D(i,j). The caller has checked that the two rows of a pair differ, and the two
 * pairs. Near pairs are the targets. */
bdml_status bdml_quadruplets_build(bdml_handle *h, int64_t n, int64_t m, const int32_t *rows,
                                   bdml_constraints **out);
/* True when the two pairs of some constraint have no row in common: it is no triplet. */
bool bdml_constraints_are_quadruplets(const bdml_constraints *c);
/* All constraints of a, then those of b that a lacks; target pairs likewise. Margins and weights
 * are kept. Both must be about the same rows. */
bdml_status bdml_constraints_merge(bdml_handle *h, const bdml_constraints *a,
                                   const bdml_constraints *b, bdml_constraints **out);

bdml_status bdml_constraints_copy(bdml_handle *h, const bdml_constraints *c,
                                  bdml_constraints **out);

/* ---- shares (share.c) ---------------------------------------------------------------------------------- */

/* What a rank holds of constraints that all know: those from number `first` on, as many as any other rank, the target
 * pairs likewise, and what they name, numbered anew. */
typedef struct bdml_share {
    int64_t first;
    bdml_constraints *c;
    int64_t *row;       /* row[i]: row i of the share, as a row of the data */
    unsigned char *own; /* of each: 1 when the share of no rank before names it */
} bdml_share;
bdml_status bdml_share_make(bdml_handle *h, const bdml_comm *comm, const bdml_constraints *c,
                            bdml_share *out);
void bdml_share_free(bdml_share *s);

/* ---- lists of pairs (combine.c) ----------------------------------------------------------------------- */

/* Ordered pairs of rows (i, j) that grow. */
typedef struct bdml_pairs {
    int32_t *row; /* 2 each */
    int64_t count;
    size_t capacity; /* in rows */
} bdml_pairs;
bdml_status bdml_pairs_add(bdml_handle *h, bdml_pairs *list, int32_t i, int32_t j);
void bdml_pairs_free(bdml_pairs *list);

/* Target and impostor pairs of some points, as mined or read. */
typedef struct bdml_lists {
    bdml_pairs target, impostor;
} bdml_lists;
void bdml_lists_free(bdml_lists *lists);

/* BDML_KIND_PAIR: a constraint per impostor pair. BDML_KIND_TRIPLET: one per combination of a target
 * and an impostor pair with the same first row, and after them the `triplets` given (i,j,k), with weights or NULL.
 * Objective: the target pairs. A row that is both target and impostor of another is no triplet, but
 * counts as a contradiction. */
bdml_status bdml_constraints_combine(bdml_handle *h, int64_t n, int kind, const bdml_lists *lists,
                                     int64_t triplets, const int32_t *triplet, const double *weight,
                                     bdml_constraints **out);

/* The pairs of constraints: targets are to be near, the far pairs that are no target are to be apart. */
bdml_status bdml_constraints_as_pairs(bdml_handle *h, const bdml_constraints *c,
                                      bdml_constraints **out);

/* ---- mining (mine.c, ball.c) ---------------------------------------------------------------------------- */

typedef struct bdml_mining {
    int kind, rule;         /* BDML_KIND_..., BDML_RULE_... */
    int targets, impostors; /* nearest neighbours per point on either side; impostors may be 0 */
    int random_impostors;   /* beside them, drawn among all points of other classes */
    int64_t anchors;        /* random points that get constraints; 0 = all */
    /* above 0, kind triplet and rule class: only triplets with d(i,impostor) - d(i,target) below
     * it, which may be none; */
    double within;
    int most;      /* of these a random share, so many for each anchor on average; 0: all */
    uint64_t seed; /* of anchors, random impostors and shares */
    bdml_neighbor_options search; /* how neighbours are found; all 0: by its defaults */
} bdml_mining;

/* The settings kind, rule, targets, impostors, seed, and those of the search. */
bdml_mining bdml_mining_from_options(const bdml_options *o);
/* BDML_ERR_ARGUMENT when constraints have weights and the margins are hard. */
bdml_status bdml_refuse_hard_weights(bdml_handle *h, const bdml_solve_options *o,
                                     const bdml_constraints *c);
/* As bdml_mine_constraints, with other settings than the handle's. */
bdml_status bdml_mine_constraints_with(bdml_handle *h, const bdml_options *o,
                                       const bdml_dataset *data, bdml_constraints **out);
/* From n rows of x and their classes y, in the Euclidean distance of x: for another metric, give
 * mapped points. Points with fewer neighbours than asked for get those there are; BDML_ERR_DATA when
 * that leaves no constraint at all. */
bdml_status bdml_mine(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                      const int32_t *y, const bdml_mining *how, bdml_constraints **out);
/* The same of n rows where they are dealt out (rows: those of this rank; over NULL: all are here), or made when they are asked for;
 * y: the classes of all. Rule ball needs all rows here, and held. */
bdml_status bdml_mine_spread(bdml_handle *h, const bdml_spread *over, int64_t n,
                             const bdml_rows *rows, const int32_t *y, const bdml_mining *how,
                             bdml_constraints **out);
/* Add to `lists` the impostors of the anchors in the ball of their farthest target (rule ball). */
bdml_status bdml_mine_ball(bdml_handle *h, const bdml_neighbor_options *o, int64_t n, int d,
                           const double *x, int64_t ld, const int32_t *y, int64_t anchors,
                           const int32_t *anchor, const double *radius, bdml_lists *lists);

/* ---- constraint files (files.c) --------------------------------------------------------------------------- */

/* True when a setting names a file of constraints. */
bool bdml_constraint_files_given(const bdml_constraint_options *o);
/* Read the files of the settings, rows numbered 0..n-1, and combine them by the setting "kind". */
bdml_status bdml_constraint_files_read(bdml_handle *h, const bdml_constraint_options *o, int64_t n,
                                       bdml_constraints **out);

/* True when the setting pairs-file names a file and no other constraint file is set. */
bool bdml_pairs_file_alone(const bdml_constraint_options *o);

/* ---- what belongs to queries (answers.c, relevant.c) ------------------------------------------------------- */

typedef struct bdml_answer {
    int32_t query, row;
    double grade;   /* above 0 */
    int64_t number; /* in the file */
} bdml_answer;
typedef struct bdml_answers {
    bdml_answer *line; /* by query, then as in the file */
    int64_t count;
    size_t room;
} bdml_answers;
/* A file of lines query,row or query,row,grade; queries are numbered 0 .. queries-1, rows likewise. one_file: queries
 * are rows themselves, and none is its own answer. */
bdml_status bdml_answers_read(bdml_handle *h, const char *path, int64_t queries, int64_t rows,
                              bool one_file, bdml_answers *out);
/* Those of the queries listed, ascending, which become 0, 1, ...; row r becomes r + moved. */
bdml_status bdml_answers_of(bdml_handle *h, const bdml_answers *all, int64_t count,
                            const int64_t *query, int32_t moved, bdml_answers *out);
void bdml_answers_free(bdml_answers *list);

/* True when the setting relevant-file names a file and no other constraint file is set. */
bool bdml_relevant_file_alone(const bdml_constraint_options *o);
/* Triplets from answers about rows of the data, in the distance of the data: what is no answer is mined. */
bdml_status bdml_answers_mine(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                              const bdml_answers *answers, bdml_constraints **out);
/* Likewise from those of the setting relevant-file. */
bdml_status bdml_relevant_mine(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                               bdml_constraints **out);

/* ---- pairs with the answer (labelled.c) --------------------------------------------------------------- */

/* Pairs of rows that belong together or do not, in folds or not: what verification is measured on. */
struct bdml_labelled_pairs {
    int64_t count;
    int32_t *row;  /* 2 each */
    int32_t *same; /* 1 or 0; NULL: not known */
    int32_t *fold; /* 0 .. folds-1; NULL: none given */
    int folds;
};

/* A file of lines i,j,same or fold,i,j,same, where any whole numbers name the folds; with `answers`
 * false also lines i,j. Rows are numbered 0 .. n-1. */
bdml_status bdml_labelled_read(bdml_handle *h, const char *path, int64_t n, bool answers,
                               bdml_labelled_pairs *out);
/* Those whose fold is `fold` (inside) or any other, with row r called place[r] (NULL: r). */
bdml_status bdml_labelled_part(bdml_handle *h, const bdml_labelled_pairs *p, int fold, bool inside,
                               const int32_t *place, bdml_labelled_pairs *out);
/* Folds where there are none: `folds` of them, alike in number and in the share of same pairs. No row
 * is in two folds unless rows hang together too much for that: *apart then is false. */
bdml_status bdml_labelled_deal(bdml_handle *h, int64_t n, int folds, uint64_t seed,
                               bdml_labelled_pairs *p, bool *apart);
/* Fewer folds out of those given, each whole; or dealt, when there are not as many. */
bdml_status bdml_labelled_regroup(bdml_handle *h, int64_t n, int folds, uint64_t seed,
                                  bdml_labelled_pairs *p);
/* Add to lists: same pairs as targets, the others as impostors. */
bdml_status bdml_labelled_lists(bdml_handle *h, const bdml_labelled_pairs *p, bdml_lists *lists);
/* Pair constraints on n rows, groups by fold where there are folds; needs pairs of both kinds. */
bdml_status bdml_labelled_constraints(bdml_handle *h, int64_t n, const bdml_labelled_pairs *p,
                                      bdml_constraints **out);
/* The other way: same pairs first; false when a constraint is a triplet. */
bool bdml_constraints_are_pairs(const bdml_constraints *c);
bdml_status bdml_labelled_from(bdml_handle *h, const bdml_constraints *c, bdml_labelled_pairs *out);
void bdml_labelled_free(bdml_labelled_pairs *p);
/* From arrays as bdml_pairs_from_arrays takes them. */
bdml_status bdml_labelled_make(bdml_handle *h, int64_t n, int64_t count, const int32_t *rows,
                               const int32_t *same, const int32_t *fold, bdml_labelled_pairs *out);

/* ---- checks (check.c) ---------------------------------------------------------------------------------------- */

/* Identical vectors under different labels: *count rows that repeat an earlier row's vector with
 * another label, and a warning that names the first few. */
bdml_status bdml_check_twins(bdml_handle *h, const bdml_dataset *data, int64_t *count);
/* Identical vectors that a constraint wants apart: *count pairs, and a warning that names the first
 * few. */
bdml_status bdml_check_far(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                           int64_t *count);
/* BDML_ERR_DATA when no point has the neighbours that are asked for; points that have fewer are told
 * to the log. */
bdml_status bdml_check_sizes(bdml_handle *h, const bdml_dataset *data, const bdml_mining *how);
/* Tell the log of duplicates and contradictions that were found while building. */
void bdml_check_report(bdml_handle *h, const bdml_constraints *c);

/* ---- numbered keys (keys.c) ------------------------------------------------------------------------- */

/* A hash table from 64-bit keys to numbers 0, 1, ... in order of first appearance. */
typedef struct bdml_keys {
    uint64_t *slot; /* key + 1; 0 = free */
    int32_t *id;
    size_t slots;
    int64_t count;
} bdml_keys;
/* *id: number of the key, which is new when *id == keys->count before the call. Fails when there
 * are more than INT32_MAX keys. key < UINT64_MAX. */
bdml_status bdml_keys_add(bdml_handle *h, bdml_keys *keys, uint64_t key, int32_t *id);
/* Room for so many keys at once, instead of doubling on the way. */
bdml_status bdml_keys_reserve(bdml_handle *h, bdml_keys *keys, int64_t count);
int32_t bdml_keys_find(const bdml_keys *keys, uint64_t key); /* -1: not there */
void bdml_keys_free(bdml_keys *keys);

/* An unordered pair of rows as a key. */
static inline uint64_t bdml_pair_key(int32_t i, int32_t j)
{
    return (uint64_t)BDML_MIN(i, j) << 32 | (uint64_t)BDML_MAX(i, j);
}

/* ---- margin operator (margin.c, forward.c, adjoint.c, diagonal.c) ----------------------------------- */

/* Over prepared points X (d x n), for any symmetric M and any y:
 *
 *     forward   v_t = <A_t, M> = D(far_t) - D(near_t),   D(ij) = (x_i-x_j)' M (x_i-x_j)
 *     adjoint   A*y = sum_t y_t A_t = X Lap X' = D diag(w) D',  w a weight per pair
 *
 * No d x d matrix per constraint, nothing allocated after init, BLAS-3, fixed tiles: same bits for
 * any number of threads. A subset (the active set) costs only its own pairs and points. Sums over
 * pairs (objective, adjoint, products, means over the target pairs) are taken over all ranks of the
 * communicator; values of constraints, distances and differences are those of this rank (cvector.h says
 * what may cross). The calls that compute stand
 * between bdml_la_enter and bdml_la_leave of the caller. Threads: the handle's at bdml_margin_new. */
typedef struct bdml_margin bdml_margin;

bdml_status bdml_margin_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                            const bdml_constraints *c,
                            bdml_margin **out); /* c borrowed, x copied */
void bdml_margin_free(bdml_margin *op);
/* Memory of the operator over so many points and pairs, in bytes. */
double bdml_margin_bytes(const bdml_handle *h, double points, double pairs, int d);

/* The constraints are a part of those of a problem that is split over the ranks of comm, borrowed, all of which call this: the points
 * are placed as those of one rank would be. own: of each row, 1 on one of the ranks that have it, which it then counts for; NULL: on all. */
bdml_status bdml_margin_new_split(bdml_handle *h, const bdml_comm *comm, const unsigned char *own,
                                  int64_t n, int d, const double *x, int64_t ld,
                                  const bdml_constraints *c, bdml_margin **out);

/* Sums over points multiply differences by numbers up to this; 0: sums go over pairs alone. */
double bdml_margin_spread(const bdml_margin *op);

/* G = mean of X_ij over target pairs, both triangles. Zero when there are none. */
void bdml_margin_objective(bdml_margin *op, double *g);
/* Values of all constraints (count < 0: active NULL) or of the listed ones: v[k] belongs to
 * active[k]. m: d x d, symmetric, both triangles. */
void bdml_margin_forward(bdml_margin *op, const double *m, int64_t count, const int64_t *active,
                         double *v);
/* Values of all constraints at M = scale U U', U d x rank, in O((points d + pairs) rank). */
void bdml_margin_forward_low(bdml_margin *op, int rank, const double *u, double scale, double *v);
/* S = sum of y[k] A_active[k], both triangles, exactly symmetric; zero y cost nothing. */
void bdml_margin_adjoint(bdml_margin *op, const double *y, int64_t count, const int64_t *active,
                         double *s);
/* f = x_i - x_j of pair p, d numbers. */
void bdml_margin_difference(const bdml_margin *op, int64_t p, double *f);
/* D(pi[p], pj[p]) of all pairs of the constraints. */
void bdml_margin_pair_distances(bdml_margin *op, const double *m, double *distance);
/* Mean of D over the target pairs, <G,M>, after a call above that made the values of all constraints at M. */
double bdml_margin_target_mean(const bdml_margin *op);
/* Row i of x (n x d) = the point of row i, its origin moved; rows that occur in no pair are zero. */
void bdml_margin_points(const bdml_margin *op, double *x);

/* Products with S = objective G + A*y, which is never formed: O((points + pairs) d) (products.c). All memory is
 * taken by _new; op is borrowed. */
typedef struct bdml_products bdml_products;
bdml_status bdml_products_new(bdml_handle *h, bdml_margin *op, bdml_products **out);
void bdml_products_free(bdml_products *pr);
void bdml_products_weigh(bdml_products *pr, double objective, const double *y);
/* z = S u, and dot[p] = (x_i - x_j)'u of every pair. */
void bdml_products_apply(bdml_products *pr, const double *u, double *dot, double *z);
/* Values of all constraints at M = scale u u' from the dot of u; returns <G,M>. */
double bdml_products_values(const bdml_products *pr, const double *dot, double scale, double *v);

/* The same for diagonal M = diag(m), m of length d, and the diagonal of G and of A*y, in O(pairs d). */
void bdml_margin_objective_diag(bdml_margin *op, double *g);
void bdml_margin_forward_diag(bdml_margin *op, const double *m, int64_t count,
                              const int64_t *active, double *v);
void bdml_margin_adjoint_diag(bdml_margin *op, const double *y, int64_t count,
                              const int64_t *active, double *s);

/* The same in a basis, d orthonormal columns Q, for all constraints: values at M = Q diag(l) Q', and the
 * diagonal of Q' (A*y) Q, in O(pairs d) once the points are turned into it, O(points d^2). init takes the
 * memory, once; turn before the first of the others. */
bdml_status bdml_margin_turn_init(bdml_handle *h, bdml_margin *op);
void bdml_margin_turn(bdml_margin *op, const double *q);
void bdml_margin_forward_turned(bdml_margin *op, const double *l, double *v);
void bdml_margin_adjoint_turned(bdml_margin *op, const double *y, double *s);

#endif
