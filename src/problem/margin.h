/* margin.h - inside the margin operator: its arrays and the selection of pairs that a call needs.
 *
 * Used by margin.c, forward.c, adjoint.c, diagonal.c and products.c only. */
#ifndef BDML_MARGIN_H
#define BDML_MARGIN_H

#include "linalg/clones.h"
#include "linalg/linalg.h"
#include "problem/problem.h"

enum {
    BDML_MARGIN_TILE = 128,      /* points or pairs per BLAS call: tile and product stay in L2 */
    BDML_MARGIN_PARTS = 8,       /* partial sums at most, added in order */
    BDML_MARGIN_PART_ITEMS = 512 /* points or pairs a part shall have at least, to be worth it */
};

struct bdml_margin {
    bdml_handle *h;
    const bdml_constraints *c;
    int d, threads;

    /* The points that occur in pairs, numbered anew and moved to their mean: distances do not
     * change, and the products that build them cancel less. Where some lie so far from each other that the digits
     * of near pairs would be lost to that, they stay where they are, and sums go over pairs alone. */
    int64_t points, pairs;
    bool apart;
    double
        spread; /* the largest |x_i| that a sum over points multiplies a difference by; apart: 0 */
    double *x;  /* d x points */
    double *turned;   /* Q'x, after bdml_margin_turn; else NULL */
    int32_t *pi, *pj; /* ends of each pair, as points */

    /* Pairs by point: those of point i are incident[first[i] .. first[i+1]), with their other end. */
    int64_t *first;
    int32_t *incident, *other;

    /* What one call works on: pairs and points marked with its epoch, listed in order of first
     * use. slot: place of a marked point in point_list. */
    uint32_t epoch;
    uint32_t *pair_mark, *point_mark;
    int64_t pair_count, point_count;
    int32_t *pair_list, *point_list, *slot;

    double *w;        /* weight per marked pair */
    double *distance; /* D per pair */
    double *y;        /* d x points: M X in forward, X Lap in adjoint, by slot */
    int parts;        /* partial sums of d x d, at most */
    double *part;
    double *scratch; /* per thread: two tiles of d columns */

    const bdml_comm *comm; /* borrowed */
};

/* Start an empty selection. */
void bdml_margin_select_none(bdml_margin *op);
/* Add the pairs of the constraints to the selection; count < 0: all of them. */
void bdml_margin_select_constraints(bdml_margin *op, int64_t count, const int64_t *active);
/* Select the pairs of the constraints with y != 0 and set their weights:
 * w(far_t) += y_t, w(near_t) -= y_t. */
void bdml_margin_weigh(bdml_margin *op, const double *y, int64_t count, const int64_t *active);
/* Select the target pairs; w = how often each stands in the objective. */
void bdml_margin_weigh_targets(bdml_margin *op);
/* List the ends of the selected pairs. */
void bdml_margin_select_points(bdml_margin *op);
/* v from op->distance. */
void bdml_margin_gather(const bdml_margin *op, int64_t count, const int64_t *active, double *v);
/* Parts that `items` are summed in: a function of the problem alone, never of the threads. */
int bdml_margin_part_count(const bdml_margin *op, int64_t items);
/* sum / number of target pairs, both over all ranks; zero where there are none. */
void bdml_margin_mean(const bdml_margin *op, int64_t size, double *sum);

static inline double *bdml_margin_scratch(const bdml_margin *op, int thread)
{
    return op->scratch + (size_t)thread * 2 * BDML_MARGIN_TILE * (size_t)op->d;
}

#endif
