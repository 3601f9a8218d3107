/* forward.c - distances of pairs under M, and from them the values of the constraints.
 *
 *     by points   Y = M X over the ends,  D(ij) = (x_i - x_j)'(y_i - y_j)      2 d^2 a point
 *     by pairs    E = M D over blocks of differences,  D(ij) = d_ij' e_ij      2 d^2 a pair
 *
 * Points are fewer than pairs for neighbour graphs, pairs fewer than points for small active sets;
 * measured at d = 20 and d = 100 the two forms, here and in adjoint.c, cost the same where pairs and
 * points are about equal in number, so that is the rule.
 * The form x_i'y_i + x_j'y_j - 2 x_i'y_j would read less, but cancels for close neighbours. */
#include "problem/margin.h"

#include <omp.h>

/* (a - b)'(p - q) */
BDML_CLONES static double product_of_differences(int d, const double *restrict a,
                                                 const double *restrict b, const double *restrict p,
                                                 const double *restrict q)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int r = 0; r < d; r++) sum += (a[r] - b[r]) * (p[r] - q[r]);
    return sum;
}

BDML_CLONES static double product(int d, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int r = 0; r < d; r++) sum += a[r] * b[r];
    return sum;
}

/* Y(:, slots from .. from+count) = M X(:, their points). When the points stand in their own order
 * they need not be gathered. */
static void map_tile(bdml_margin *op, const double *m, bool gather, int64_t from, int count,
                     double *scratch)
{
    int d = op->d;
    const double *x = COL(op->x, d, from);
    if (gather) {
        for (int k = 0; k < count; k++)
            memcpy(COL(scratch, d, k), COL(op->x, d, op->point_list[from + k]),
                   sizeof *scratch * (size_t)d);
        x = scratch;
    }
    bdml_la_gemm('N', 'N', d, count, d, 1.0, m, d, x, d, 0.0, COL(op->y, d, from), d);
}

static void by_points(bdml_margin *op, const double *m, bool all)
{
    enum { TILE = BDML_MARGIN_TILE };
    int d = op->d;
    int64_t points = all ? op->points : op->point_count;
    int64_t pairs = all ? op->pairs : op->pair_count;
    int64_t tiles = (points + TILE - 1) / TILE;
#pragma omp parallel num_threads(op->threads) if (tiles > 1)
    {
        double *scratch = bdml_margin_scratch(op, omp_get_thread_num());
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++)
            map_tile(op, m, !all, t * TILE, (int)BDML_MIN((int64_t)TILE, points - t * TILE),
                     scratch);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < pairs; k++) {
            int64_t p = all ? k : op->pair_list[k];
            int32_t i = op->pi[p], j = op->pj[p];
            op->distance[p] = product_of_differences(d, COL(op->x, d, i), COL(op->x, d, j),
                                                     COL(op->y, d, all ? i : op->slot[i]),
                                                     COL(op->y, d, all ? j : op->slot[j]));
        }
    }
}

static void pair_tile(bdml_margin *op, const double *m, const int32_t *list, int64_t from,
                      int count, double *scratch)
{
    int d = op->d;
    double *e = COL(scratch, d, BDML_MARGIN_TILE);
    for (int k = 0; k < count; k++) {
        int64_t p = list ? list[from + k] : from + k;
        const double *a = COL(op->x, d, op->pi[p]), *b = COL(op->x, d, op->pj[p]);
        double *difference = COL(scratch, d, k);
        for (int r = 0; r < d; r++) difference[r] = a[r] - b[r];
    }
    bdml_la_gemm('N', 'N', d, count, d, 1.0, m, d, scratch, d, 0.0, e, d);
    for (int k = 0; k < count; k++)
        op->distance[list ? list[from + k] : from + k] =
            product(d, COL(scratch, d, k), COL(e, d, k));
}

static void by_pairs(bdml_margin *op, const double *m, bool all)
{
    enum { TILE = BDML_MARGIN_TILE };
    int64_t pairs = all ? op->pairs : op->pair_count, tiles = (pairs + TILE - 1) / TILE;
    const int32_t *list = all ? NULL : op->pair_list;
#pragma omp parallel for schedule(dynamic) num_threads(op->threads) if (tiles > 1)
    for (int64_t t = 0; t < tiles; t++)
        pair_tile(op, m, list, t * TILE, (int)BDML_MIN((int64_t)TILE, pairs - t * TILE),
                  bdml_margin_scratch(op, omp_get_thread_num()));
}

void bdml_margin_pair_distances(bdml_margin *op, const double *m, double *distance)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    if (op->pairs <= op->points || op->apart)
        by_pairs(op, m, true);
    else
        by_points(op, m, true);
    if (distance != op->distance)
        memcpy(distance, op->distance, sizeof *distance * (size_t)op->pairs);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_forward(bdml_margin *op, const double *m, int64_t count, const int64_t *active,
                         double *v)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    if (count < 0) {
        bdml_margin_pair_distances(op, m, op->distance);
    } else {
        bdml_margin_select_constraints(op, count, active);
        bdml_margin_select_points(op);
        if (op->pair_count <= op->point_count || op->apart)
            by_pairs(op, m, false);
        else
            by_points(op, m, false);
    }
    bdml_margin_gather(op, count, active, v);
    bdml_phase_leave(op->h, previous);
}

/* Z = U'X for one tile of points. */
static void project_tile(bdml_margin *op, int rank, const double *u, int64_t from, int count)
{
    const double *x = COL(op->x, op->d, from);
    double *z = COL(op->y, rank, from);
    if (rank == 1)
        bdml_la_gemv('T', op->d, count, 1.0, x, op->d, u, 0.0, z);
    else
        bdml_la_gemm('T', 'N', rank, count, op->d, 1.0, u, op->d, x, op->d, 0.0, z, rank);
}

/* D(ij) = scale |U'x_i - U'x_j|^2; op->y holds U'X. */
void bdml_margin_forward_low(bdml_margin *op, int rank, const double *u, double scale, double *v)
{
    enum { TILE = BDML_MARGIN_TILE };
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    int64_t tiles = (op->points + TILE - 1) / TILE;
#pragma omp parallel num_threads(op->threads) if (tiles > 1)
    {
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++)
            project_tile(op, rank, u, t * TILE,
                         (int)BDML_MIN((int64_t)TILE, op->points - t * TILE));
#pragma omp for schedule(static)
        for (int64_t p = 0; p < op->pairs; p++) {
            const double *a = COL(op->y, rank, op->pi[p]), *b = COL(op->y, rank, op->pj[p]);
            op->distance[p] = scale * product_of_differences(rank, a, b, a, b);
        }
    }
    bdml_margin_gather(op, -1, NULL, v);
    bdml_phase_leave(op->h, previous);
}
