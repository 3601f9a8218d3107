/* adjoint.c - the weighted sum of pair matrices, S = sum_p w_p (x_i - x_j)(x_i - x_j)'.
 *
 *     by points   Z = X Lap,  z_i = sum over pairs (i,j) of w_ij (x_i - x_j);   S = Z X'
 *     by pairs    S = D (D diag(w))'  over blocks of differences
 *
 * Only the lower triangle is computed, in panels of columns, then mirrored. The sum over points or
 * pairs goes in fixed parts, added in order; a part's panel is made by one thread: same bits for any
 * number of threads. */
#include "problem/margin.h"

#include <omp.h>

enum {
    PANEL = 64, /* most columns of S per task: narrow, to skip most of the upper triangle */
    LANE = 4    /* widths are multiples of a vector register of the BLAS kernels */
};

/* One task: rows and columns j.. of a partial sum, columns j .. j+width. */
typedef struct panel {
    int j, width;
    int64_t from, to; /* slots of points, or places in the list of pairs */
    double *sum;      /* d x d */
} panel;

/* z += w_0 (a - b_0) + ... + w_3 (a - b_3) */
BDML_CLONES static void add_four(int d, const double *restrict a, const double *const b[4],
                                 const double w[4], double *restrict z)
{
    const double *restrict b0 = b[0], *restrict b1 = b[1], *restrict b2 = b[2], *restrict b3 = b[3];
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    for (int r = 0; r < d; r++)
        z[r] += (w0 * (a[r] - b0[r]) + w1 * (a[r] - b1[r])) +
                (w2 * (a[r] - b2[r]) + w3 * (a[r] - b3[r]));
}

/* Which of the pairs from .. to of incident are selected and have a weight, in their order: found without branches, as
 * these would go one way or the other at random. */
static int weighted_pairs(const bdml_margin *op, int64_t from, int64_t to, int64_t *found)
{
    int count = 0;
    for (int64_t e = from; e < to; e++) {
        int32_t p = op->incident[e];
        found[count] = e;
        count += (op->pair_mark[p] == op->epoch) & (op->w[p] != 0.0);
    }
    return count;
}

/* z_i = sum of w_ij (x_i - x_j) over the selected pairs at point i, in the order of their numbers,
 * four at a time; the last group is filled up with weight 0. */
static void laplacian_column(const bdml_margin *op, int32_t i, double *z)
{
    enum { LOT = 256 };
    int d = op->d, waiting = 0;
    const double *a = COL(op->x, d, i), *b[4];
    double w[4];
    int64_t found[LOT];
    memset(z, 0, sizeof *z * (size_t)d);
    for (int64_t from = op->first[i]; from < op->first[i + 1]; from += LOT) {
        int count = weighted_pairs(op, from, BDML_MIN(from + LOT, op->first[i + 1]), found);
        for (int k = 0; k < count; k++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): the first `count` of found are */
            w[waiting] = op->w[op->incident[found[k]]];
            b[waiting++] = COL(op->x, d, op->other[found[k]]);
            if (waiting < 4) continue;
            add_four(d, a, b, w, z);
            waiting = 0;
        }
    }
    if (waiting == 0) return;
    for (; waiting < 4; waiting++) w[waiting] = 0.0, b[waiting] = a;
    add_four(d, a, b, w, z);
}

/* sum(j.., j..j+width) += Z(j.., from..to) X(j..j+width, from..to)' */
static void points_panel(const bdml_margin *op, const panel *t, double *scratch)
{
    enum { TILE = BDML_MARGIN_TILE };
    int d = op->d, j = t->j;
    double *s = COL(t->sum, d, j) + j;
    for (int64_t k0 = t->from; k0 < t->to; k0 += TILE) {
        int count = (int)BDML_MIN((int64_t)TILE, t->to - k0);
        for (int k = 0; k < count; k++)
            memcpy(COL(scratch, t->width, k), COL(op->x, d, op->point_list[k0 + k]) + j,
                   sizeof *scratch * (size_t)t->width);
        bdml_la_gemm('N', 'T', d - j, t->width, count, 1.0, COL(op->y, d, k0) + j, d, scratch,
                     t->width, k0 == t->from ? 0.0 : 1.0, s, d);
    }
}

/* sum(j.., j..j+width) += D(j.., from..to) (D diag(w))(j..j+width, from..to)' */
static void pairs_panel(const bdml_margin *op, const panel *t, double *scratch)
{
    enum { TILE = BDML_MARGIN_TILE };
    int d = op->d, j = t->j, rows = d - j;
    double *s = COL(t->sum, d, j) + j, *weighted = COL(scratch, d, TILE);
    for (int64_t k0 = t->from; k0 < t->to; k0 += TILE) {
        int count = (int)BDML_MIN((int64_t)TILE, t->to - k0);
        for (int k = 0; k < count; k++) {
            int32_t p = op->pair_list[k0 + k];
            const double *a = COL(op->x, d, op->pi[p]) + j, *b = COL(op->x, d, op->pj[p]) + j;
            double *difference = COL(scratch, rows, k);
            for (int r = 0; r < rows; r++) difference[r] = a[r] - b[r];
            for (int r = 0; r < t->width; r++)
                COL(weighted, t->width, k)[r] = op->w[p] * difference[r];
        }
        bdml_la_gemm('N', 'T', rows, t->width, count, 1.0, scratch, rows, weighted, t->width,
                     k0 == t->from ? 0.0 : 1.0, s, d);
    }
}

/* Add the parts in order, lower triangle, and mirror it. */
static void add_parts(bdml_margin *op, int parts, double *s)
{
    int d = op->d;
    size_t size = (size_t)d * (size_t)d;
#pragma omp parallel for schedule(static) num_threads(op->threads) if (d > 2 * PANEL)
    for (int j = 0; j < d; j++) {
        memcpy(COL(s, d, j) + j, COL(op->part, d, j) + j, sizeof *s * (size_t)(d - j));
        for (int q = 1; q < parts; q++)
            for (int r = j; r < d; r++)
                COL(s, d, j)[r] += COL(op->part + (size_t)q * size, d, j)[r];
    }
    bdml_la_mirror(d, s, d);
}

static void sum_panels(bdml_margin *op, int64_t items, bool points, double *s)
{
    int d = op->d, panels = (d + PANEL - 1) / PANEL, parts = bdml_margin_part_count(op, items);
    int width = ((d + panels - 1) / panels + LANE - 1) / LANE * LANE; /* about equal */
    panels = (d + width - 1) / width;
    int64_t per_part = (items + parts - 1) / parts;
#pragma omp parallel for schedule(dynamic) num_threads(op->threads) if (parts * panels > 1)
    for (int k = 0; k < parts * panels; k++) {
        int q = k % parts, j = k / parts * width; /* the tall panels first */
        panel t = {.j = j,
                   .width = BDML_MIN(width, d - j),
                   .from = q * per_part,
                   .to = BDML_MIN((q + 1) * per_part, items),
                   .sum = op->part + (size_t)q * (size_t)d * (size_t)d};
        double *scratch = bdml_margin_scratch(op, omp_get_thread_num());
        if (points)
            points_panel(op, &t, scratch);
        else
            pairs_panel(op, &t, scratch);
    }
    add_parts(op, parts, s);
}

/* S of the selected pairs and their weights. */
static void sum_selected(bdml_margin *op, double *s)
{
    int d = op->d;
    if (op->pair_count == 0) {
        memset(s, 0, sizeof *s * (size_t)d * (size_t)d);
        return;
    }
    bdml_margin_select_points(op);
    if (op->pair_count <= op->point_count || op->apart) {
        sum_panels(op, op->pair_count, false, s);
        return;
    }
#pragma omp parallel for schedule(dynamic, 32) num_threads(op->threads) if (op->pair_count > 64)
    for (int64_t k = 0; k < op->point_count; k++)
        laplacian_column(op, op->point_list[k], COL(op->y, d, k));
    sum_panels(op, op->point_count, true, s);
}

void bdml_margin_adjoint(bdml_margin *op, const double *y, int64_t count, const int64_t *active,
                         double *s)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_margin_weigh(op, y, count, active);
    sum_selected(op, s);
    bdml_comm_sum_symmetric(op->comm, op->d, s);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_objective(bdml_margin *op, double *g)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_margin_weigh_targets(op);
    sum_selected(op, g);
    bdml_margin_mean(op, (int64_t)op->d * op->d, g);
    bdml_phase_leave(op->h, previous);
}
