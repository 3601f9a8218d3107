/* lmnn.h - large margin nearest neighbours: the triplets that matter, and the whole objective. */
#ifndef BDML_LMNN_H
#define BDML_LMNN_H

#include "baselines/baselines.h"
#include "solver/solver.h"

/* Impostors of each target that the first problem holds; and the bytes of a triplet at most, which is when each has a far pair of
 * its own: as a constraint with that pair and its multiplier; and in a solve, with the pair in the operator. Nothing else that is done
 * with triplets takes as much: a triplet that others join takes 135 while constraints are built of both (rows, keys of pairs and of
 * triplets, and the constraints before), and one that is dropped 143. */
enum {
    BDML_LMNN_IMPOSTORS = 10,
    BDML_LMNN_HELD = 8 + 8 + 8,
    BDML_LMNN_TRIPLET = BDML_LMNN_HELD + BDML_SOLVE_CONSTRAINT + 48,
    BDML_LMNN_ROWS = 32 /* rows of a block of distances, one block a thread */
};

/* Fixed target neighbours: row i has those at target[i*k .. i*k+k), -1 where there are fewer. */
typedef struct bdml_lmnn {
    int64_t n;
    int d, k;
    const double *x; /* n rows of d */
    const int32_t *y;
    int32_t *target;
    int64_t targets; /* how many there are */
    double push;     /* mu/(1-mu): weight of a missed margin beside that of a target distance */
} bdml_lmnn;

/* The k nearest points of the class under M = map'map (NULL: as they are). */
bdml_status bdml_lmnn_targets(bdml_handle *h, const bdml_neighbor_options *o, int q,
                              const double *map, bdml_lmnn *a);
void bdml_lmnn_free(bdml_lmnn *a);
/* Triplets of every target with the `count` nearest points of other classes. */
bdml_status bdml_lmnn_first(bdml_handle *h, const bdml_neighbor_options *o, const bdml_lmnn *a,
                            int count, bdml_constraints **out);
/* All targets, and these triplets, 3 rows each: point, target, impostor. */
bdml_status bdml_lmnn_build(bdml_handle *h, const bdml_lmnn *a, int64_t m, const int32_t *rows,
                            bdml_constraints **out);
/* At M = map'map (q rows of d): the objective over (1-mu) times the number of targets, *value, and the
 * triplets whose margin is missed and that are not in c, those of the `most` nearest impostors of each point and no more than
 * `room` in all, of each point the nearest; *out NULL when there are none, or no time is left to go on with them. bytes: for the impostors kept meanwhile, beside rows and lists.
 * until: when to leave off, on the clock of bdml_now, 0 = never; *value is infinite then. */
bdml_status bdml_lmnn_missed(bdml_handle *h, const bdml_lmnn *a, int q, const double *map, int most,
                             const bdml_constraints *c, int64_t room, size_t bytes, double until,
                             double *value, bdml_constraints **out);
/* Bytes of bdml_lmnn_missed for each triplet that is held, its keys, and for each that it may list. */
enum { BDML_LMNN_KEYS = 32, BDML_LMNN_LISTED = 12 };

/* ---- maps of few rows (lmnn_rank.c) ------------------------------------------------------------------ */

typedef struct bdml_lmnn_low {
    int d, q;
    int64_t m;
    bdml_margin *op;
    double weight; /* of a missed margin */
    double *g, *s; /* d x d: pull and push */
    double *value; /* m */
} bdml_lmnn_low;

bdml_status bdml_lmnn_low_init(bdml_handle *h, const bdml_lmnn *a, const bdml_constraints *c, int q,
                               bdml_lmnn_low *out);
void bdml_lmnn_low_free(bdml_lmnn_low *a);
/* *f, over (1-mu) times the number of targets, at the map l (q rows of d), and its gradient. */
bdml_status bdml_lmnn_low_objective(void *low, const double *l, double *f, double *gradient);
/* l: the start in, the minimiser over the triplets of c out; *value: f there. *steps counts on. */
bdml_status bdml_lmnn_low_minimise(bdml_handle *h, const bdml_solve_options *o, const bdml_lmnn *a,
                                   const bdml_constraints *c, double gap, int q, double *l,
                                   double *value, int64_t *steps);

#endif
