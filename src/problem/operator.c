/* operator.c - constraints and objective as an operator: its making, and the three ways to write down a
 * metric. */
#include "problem/operator.h"

#include <assert.h>
#include <stdlib.h>

#include "linalg/linalg.h"
#include "linalg/vector.h"

/* ---- full ---------------------------------------------------------------------------------------- */

static size_t full_size(int d, int rank)
{
    (void)rank;
    return (size_t)d * (size_t)d;
}

static void full_objective(const bdml_operator *A, double *g)
{
    bdml_margin_objective(A->margin, g);
}

static void full_forward(const bdml_operator *A, const double *m, int64_t count,
                         const int64_t *list, double *v)
{
    bdml_margin_forward(A->margin, m, count, list, v);
}

static void full_adjoint(const bdml_operator *A, const double *y, int64_t count,
                         const int64_t *list, double *s)
{
    bdml_margin_adjoint(A->margin, y, count, list, s);
}

static double full_outer(const bdml_operator *A, double scale, const double *u, double *v,
                         double *ws)
{
    bdml_margin_forward_low(A->margin, 1, u, scale, v);
    bdml_la_gemv('N', A->d, A->d, 1.0, A->g, A->d, u, 0.0, ws);
    return scale * bdml_la_dot(A->d, u, ws);
}

static void products(int d, const bdml_row *row, double *ff, double *gg, double *fg)
{
    *ff = *gg = *fg = 0.0;
    for (int j = 0; j < d; j++) {
        double u = row->a[j] - row->b[j], v = row->p[j] - row->q[j];
        *ff += u * u;
        *gg += v * v;
        *fg += u * v;
    }
}

/* f f' - g g' = (s t' + t s')/2 with s = f + g, t = f - g:  |f f' - g g'|^2 = (|s|^2 |t|^2 + (s.t)^2)/2, without the
 * cancellation of the form below. */
static double norm_of_neighbours(int d, const bdml_row *row)
{
    double ss = 0.0, tt = 0.0, st = 0.0;
    for (int j = 0; j < d; j++) {
        double f = row->a[j] - row->b[j], g = row->p[j] - row->q[j], s = f + g, t = f - g;
        ss += s * s;
        tt += t * t;
        st += s * t;
    }
    return sqrt(0.5 * (ss * tt + st * st));
}

/* |f f' - g g'|^2 = |f|^4 + |g|^4 - 2 (f.g)^2 = (|f|^2 - |g|^2)^2 + 2 (|f|^2 |g|^2 - (f.g)^2) */
static double full_norm(int d, const bdml_row *row)
{
    static const double CANCELLED = 1e-6;
    double ff, gg, fg;
    products(d, row, &ff, &gg, &fg);
    double square = (ff - gg) * (ff - gg) + 2.0 * BDML_MAX(ff * gg - fg * fg, 0.0);
    return square < CANCELLED * (ff * ff + gg * gg) ? norm_of_neighbours(d, row) : sqrt(square);
}

/* (tr -+ sqrt(tr^2 + 4 (|f|^2 |g|^2 - (f.g)^2))) / 2, tr = |f|^2 - |g|^2 */
void bdml_row_extremes(double ff, double gg, double fg, double *low, double *high)
{
    double trace = ff - gg, root = sqrt(trace * trace + 4.0 * BDML_MAX(ff * gg - fg * fg, 0.0));
    *low = BDML_MIN(0.5 * (trace - root), 0.0);
    *high = BDML_MAX(0.5 * (trace + root), 0.0);
}

static void full_extremes(int d, const bdml_row *row, double *low, double *high)
{
    double ff, gg, fg;
    products(d, row, &ff, &gg, &fg);
    bdml_row_extremes(ff, gg, fg, low, high);
}

/* Two eigenvalues that may differ from zero: the spectrum is known. */
static void full_enclose(int d, double low, double high, double *under, double *over)
{
    for (int i = 0; i < d; i++) under[i] = 0.0;
    if (d == 1)
        under[0] = low + high; /* one of them is 0 */
    else
        under[0] = low, under[d - 1] = high;
    memcpy(over, under, sizeof *over * (size_t)d);
}

const bdml_operator_ops bdml_full_operator = {
    .name = "full",
    .by_points = true,
    .size = full_size,
    .dual_size = full_size,
    .objective = full_objective,
    .forward = full_forward,
    .adjoint = full_adjoint,
    .outer = full_outer,
    .norm = full_norm,
    .extremes = full_extremes,
    .enclose = full_enclose,
};

/* ---- diagonal ------------------------------------------------------------------------------------ */

static size_t diagonal_size(int d, int rank)
{
    (void)rank;
    return (size_t)d;
}

static void diagonal_objective(const bdml_operator *A, double *g)
{
    bdml_margin_objective_diag(A->margin, g);
}

static void diagonal_forward(const bdml_operator *A, const double *m, int64_t count,
                             const int64_t *list, double *v)
{
    bdml_margin_forward_diag(A->margin, m, count, list, v);
}

static void diagonal_adjoint(const bdml_operator *A, const double *y, int64_t count,
                             const int64_t *list, double *s)
{
    bdml_margin_adjoint_diag(A->margin, y, count, list, s);
}

static double diagonal_outer(const bdml_operator *A, double scale, const double *u, double *v,
                             double *ws)
{
    for (int i = 0; i < A->d; i++) ws[i] = scale * u[i] * u[i];
    bdml_margin_forward_diag(A->margin, ws, -1, NULL, v);
    return bdml_vec_dot(A->size, A->g, ws);
}

/* Entries f_j^2 - g_j^2. */
static double diagonal_norm(int d, const bdml_row *row)
{
    double sum = 0.0;
    for (int j = 0; j < d; j++) {
        double u = row->a[j] - row->b[j], v = row->p[j] - row->q[j];
        sum += (u * u - v * v) * (u * u - v * v);
    }
    return sqrt(sum);
}

static void diagonal_extremes(int d, const bdml_row *row, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (int j = 0; j < d; j++) {
        double u = row->a[j] - row->b[j], v = row->p[j] - row->q[j], entry = u * u - v * v;
        *low = BDML_MIN(*low, entry);
        *high = BDML_MAX(*high, entry);
    }
}

static void diagonal_enclose(int d, double low, double high, double *under, double *over)
{
    for (int i = 0; i < d; i++) under[i] = low, over[i] = high;
}

const bdml_operator_ops bdml_diagonal_operator = {
    .name = "diagonal",
    .size = diagonal_size,
    .dual_size = diagonal_size,
    .objective = diagonal_objective,
    .forward = diagonal_forward,
    .adjoint = diagonal_adjoint,
    .outer = diagonal_outer,
    .norm = diagonal_norm,
    .extremes = diagonal_extremes,
    .enclose = diagonal_enclose,
};

/* ---- low rank ------------------------------------------------------------------------------------ */

static size_t low_rank_size(int d, int rank)
{
    return (size_t)d * (size_t)rank;
}

/* Lists of constraints have no use yet: all values at once. */
static void low_rank_forward(const bdml_operator *A, const double *u, int64_t count,
                             const int64_t *list, double *v)
{
    assert(count < 0);
    (void)count, (void)list;
    bdml_margin_forward_low(A->margin, A->rank, u, 1.0, v);
}

const bdml_operator_ops bdml_low_rank_operator = {
    .name = "low rank",
    .by_points = true,
    .size = low_rank_size,
    .dual_size = full_size,
    .objective = full_objective,
    .forward = low_rank_forward,
    .adjoint = full_adjoint,
    .norm = full_norm,
    .extremes = full_extremes,
    .enclose = full_enclose,
};

bdml_operator bdml_operator_low_rank(bdml_margin *margin, const bdml_constraints *c, int d,
                                     int rank)
{
    return (bdml_operator){
        .ops = &bdml_low_rank_operator,
        .margin = margin,
        .c = c,
        .d = d,
        .rank = rank,
        .size = low_rank_size(d, rank),
        .space = {.count = c->m, .total = (double)c->m, .comm = &bdml_comm_serial},
    };
}

/* ---- life ---------------------------------------------------------------------------------------- */

static bdml_row row_at(const bdml_constraints *c, const double *x, int64_t ld, int64_t t)
{
    int32_t f = c->far[t], g = c->near[t];
    const double *a = x + (size_t)c->pi[f] * (size_t)ld;
    return (bdml_row){.a = a,
                      .b = x + (size_t)c->pj[f] * (size_t)ld,
                      .p = g >= 0 ? x + (size_t)c->pi[g] * (size_t)ld : a,
                      .q = g >= 0 ? x + (size_t)c->pj[g] * (size_t)ld : a};
}

/* A_t = f f' - g g' is summed from the squares of f and g, or by points from products of f and g with points of a
 * size up to `spread`: the rounding is a share of these, however small A_t is. */
static double rough_of(int d, const bdml_row *row, double spread)
{
    double ff, gg, fg;
    products(d, row, &ff, &gg, &fg);
    return ff + gg + spread * (sqrt(ff) + sqrt(gg));
}

static bdml_status check(bdml_handle *h, int64_t n, const bdml_constraints *c)
{
    if (c->n != n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld", (long long)c->n,
                         (long long)n);
    for (int64_t t = 0; t < c->m; t++) {
        if (c->margin && !(c->margin[t] >= 0.0 && isfinite(c->margin[t])))
            return bdml_fail(h, BDML_ERR_DATA,
                             "margin of constraint %lld must be finite and >= 0, got %g",
                             (long long)t, c->margin[t]);
        if (c->weight && !(c->weight[t] >= 0.0 && isfinite(c->weight[t])))
            return bdml_fail(h, BDML_ERR_DATA,
                             "weight of constraint %lld must be finite and >= 0, got %g",
                             (long long)t, c->weight[t]);
    }
    return BDML_OK;
}

bdml_status bdml_operator_check(bdml_handle *h, const bdml_comm *comm, int64_t n,
                                const bdml_constraints *c)
{
    if (bdml_comm_total(comm, (double)c->m) < 1.0)
        return bdml_fail(h, BDML_ERR_DATA,
                         "there is no constraint to learn from: mine or give at least one");
    bdml_status status = check(h, n, c);
    bool refused = bdml_comm_largest(comm, status != BDML_OK) > 0.0;
    if (refused && status == BDML_OK)
        status = bdml_fail(h, BDML_ERR_DATA, "the constraints of another rank were refused");
    return status;
}

bdml_status bdml_operator_init(bdml_handle *h, const bdml_operator_ops *ops, const bdml_comm *comm,
                               const unsigned char *own, int64_t n, int d, const double *x,
                               int64_t ld, const bdml_constraints *c, bdml_operator *A)
{
    bdml_status status = BDML_OK;
    *A = (bdml_operator){.ops = ops, .c = c, .d = d, .size = ops->size(d, 0)};
    A->space = (bdml_cspace){.count = c->m, .comm = comm};
    A->space.total = bdml_comm_total(comm, (double)c->m);
    BDML_GO(bdml_margin_new_split(h, comm, own, n, d, x, ld, c, &A->margin));
    BDML_NEW(h, A->g, ops->dual_size(d, 0));
    BDML_NEW(h, A->norm, c->m);
    BDML_NEW(h, A->rough, c->m);
    A->spread = ops->by_points ? bdml_margin_spread(A->margin) : 0.0;
#pragma omp parallel for schedule(static) num_threads(bdml_threads(h)) if (c->m * d > 1000000)
    for (int64_t t = 0; t < c->m; t++) {
        bdml_row row = row_at(c, x, ld, t);
        A->norm[t] = ops->norm(d, &row);
        A->rough[t] = rough_of(d, &row, A->spread);
    }
    A->norm_mean = bdml_cvec_mean_abs(&A->space, A->norm);
done:
    return status;
}

void bdml_operator_free(bdml_operator *A)
{
    bdml_margin_free(A->margin);
    free(A->g);
    free(A->norm);
    free(A->rough);
    memset(A, 0, sizeof *A);
}

void bdml_operator_extremes(const bdml_operator *A, const double *x, int64_t ld, double *low,
                            double *high)
{
    for (int64_t t = 0; t < A->space.count; t++) {
        bdml_row row = row_at(A->c, x, ld, t);
        A->ops->extremes(A->d, &row, &low[t], &high[t]);
    }
}

void bdml_operator_margins(const bdml_operator *A, double margin, double *mu)
{
    const double *own = A->c->margin;
    for (int64_t t = 0; t < A->space.count; t++) mu[t] = margin * (own ? own[t] : 1.0);
}

double bdml_operator_needed(const bdml_operator *A, double margin)
{
    const double *own = A->c->margin;
    double most = 0.0;
    for (int64_t t = 0; t < A->space.count; t++)
        if (A->norm[t] > 0.0) most = BDML_MAX(most, margin * (own ? own[t] : 1.0) / A->norm[t]);
    return bdml_comm_largest(A->space.comm, most);
}
