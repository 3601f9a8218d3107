/* diagonal.c - the margin operator for diagonal M, without any d x d matrix.
 *
 *     D(ij) = sum_r m_r (x_ir - x_jr)^2        diag(A*y)_r = sum_p w_p (x_ir - x_jr)^2
 *
 * With Q'x in place of x the same sums are the values at M = Q diag(m) Q', and diag(Q' A*y Q). */
#include "problem/margin.h"

enum { FEW_PAIRS = 64 }; /* below this a thread team costs more than the work */

/* sum_r m_r (a_r - b_r)^2 */
BDML_CLONES static double weighted_square(int d, const double *restrict m, const double *restrict a,
                                          const double *restrict b)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int r = 0; r < d; r++) sum += m[r] * (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

/* x: op->x or op->turned */
static void distances(bdml_margin *op, const double *x, const double *m, bool all)
{
    int d = op->d;
    int64_t pairs = all ? op->pairs : op->pair_count;
#pragma omp parallel for schedule(static) num_threads(op->threads) if (pairs > FEW_PAIRS)
    for (int64_t k = 0; k < pairs; k++) {
        int64_t p = all ? k : op->pair_list[k];
        op->distance[p] = weighted_square(d, m, COL(x, d, op->pi[p]), COL(x, d, op->pj[p]));
    }
}

/* sum = sum over places from..to of the list of pairs. */
BDML_CLONES static void sum_part(const bdml_margin *op, const double *x, int64_t from, int64_t to,
                                 double *restrict sum)
{
    int d = op->d;
    for (int r = 0; r < d; r++) sum[r] = 0.0;
    for (int64_t k = from; k < to; k++) {
        int32_t p = op->pair_list[k];
        const double *a = COL(x, d, op->pi[p]), *b = COL(x, d, op->pj[p]), w = op->w[p];
        for (int r = 0; r < d; r++) sum[r] += w * (a[r] - b[r]) * (a[r] - b[r]);
    }
}

/* s of the selected pairs and their weights: fixed parts, added in order. */
static void sum_selected(bdml_margin *op, const double *x, double *s)
{
    int d = op->d, parts = bdml_margin_part_count(op, op->pair_count);
    int64_t per_part = (op->pair_count + parts - 1) / parts;
#pragma omp parallel for schedule(dynamic) num_threads(op->threads) if (parts > 1)
    for (int q = 0; q < parts; q++)
        sum_part(op, x, q * per_part, BDML_MIN((q + 1) * per_part, op->pair_count),
                 COL(op->part, d, q));
    memcpy(s, op->part, sizeof *s * (size_t)d);
    for (int q = 1; q < parts; q++)
        for (int r = 0; r < d; r++) s[r] += COL(op->part, d, q)[r];
}

void bdml_margin_forward_diag(bdml_margin *op, const double *m, int64_t count,
                              const int64_t *active, double *v)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    if (count >= 0) bdml_margin_select_constraints(op, count, active);
    distances(op, op->x, m, count < 0);
    bdml_margin_gather(op, count, active, v);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_adjoint_diag(bdml_margin *op, const double *y, int64_t count,
                              const int64_t *active, double *s)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_margin_weigh(op, y, count, active);
    sum_selected(op, op->x, s);
    bdml_comm_sum(op->comm, op->d, s);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_objective_diag(bdml_margin *op, double *g)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_margin_weigh_targets(op);
    sum_selected(op, op->x, g);
    bdml_margin_mean(op, op->d, g);
    bdml_phase_leave(op->h, previous);
}

/* ---- in a basis ------------------------------------------------------------------------------------ */

bdml_status bdml_margin_turn_init(bdml_handle *h, bdml_margin *op)
{
    bdml_status status = BDML_OK;
    if (!op->turned) BDML_NEW(h, op->turned, (size_t)op->d * (size_t)op->points);
done:
    return status;
}

void bdml_margin_turn(bdml_margin *op, const double *q)
{
    int d = op->d;
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_la_gemm_tiled(op->h, 'T', 'N', d, op->points, d, 1.0, q, d, op->x, d, 0.0, op->turned, d);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_forward_turned(bdml_margin *op, const double *l, double *v)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    distances(op, op->turned, l, true);
    bdml_margin_gather(op, -1, NULL, v);
    bdml_phase_leave(op->h, previous);
}

void bdml_margin_adjoint_turned(bdml_margin *op, const double *y, double *s)
{
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    bdml_margin_weigh(op, y, -1, NULL);
    sum_selected(op, op->turned, s);
    bdml_comm_sum(op->comm, op->d, s);
    bdml_phase_leave(op->h, previous);
}
