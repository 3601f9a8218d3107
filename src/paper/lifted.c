/* lifted.c - the paper's own form: Y = blockdiag(M, M1, M2, alpha) >= 0, trace(Y) <= R_Y, with the rows
 *
 *     -G.M >= -g,   A_t.M >= mu_t,   +-(M - M1 - alpha I) >= 0,   +-(M + M2 - alpha K I) >= 0,   alpha >= 0
 *
 * (paper, eq. 5). The (3d+1) x (3d+1) matrices are never built: a round makes three d x d blocks, and its Y is of
 * rank one in one of them.
 *
 * Mended (default): trace(Y) = trace(M) + alpha (d(K-1) + 1), and every M with kappa <= K and trace <= R has an
 * alpha <= R/(K+d-1), so R_Y = R (1 + (d(K-1)+1)/(K+d-1)) loses none of them; trace(M) <= R is a row of its own.
 * Literal: R_Y = R. */
#include "paper/mwu.h"

#include <stdlib.h>

#include "linalg/clones.h"

/* ---- workspace ------------------------------------------------------------------------------------------------ */

static bdml_status init(bdml_mwu *w)
{
    bdml_status status = BDML_OK;
    bdml_lifted *l = NULL;
    BDML_NEW(w->h, w->lifted, 1);
    l = w->lifted;
    for (int k = 0; k < 4; k++) BDML_NEW(w->h, l->W[k], w->size);
    for (int k = 0; k < 3; k++) BDML_NEW(w->h, l->Z[k], w->size);
    for (int k = 0; k < 3; k++) BDML_NEW(w->h, l->u[k], w->d);
    BDML_NEW(w->h, l->sum1, w->size);
    BDML_NEW(w->h, l->sum2, w->size);
    l->share = w->s.literal ? 1.0 : 0.5;
    l->trace_row = !w->s.literal;
done:
    return status;
}

static void release(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    if (!l) return;
    for (int k = 0; k < 4; k++) free(l->W[k]);
    for (int k = 0; k < 3; k++) free(l->Z[k]);
    for (int k = 0; k < 3; k++) free(l->u[k]);
    free(l->sum1);
    free(l->sum2);
    free(l);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static int64_t count_rows(const bdml_mwu *w)
{
    int64_t entries = (int64_t)w->size, distinct = (entries + w->d) / 2;
    return w->m + 2 + 4 * (w->s.literal ? entries : distinct) + w->lifted->trace_row;
}

static void begin(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    double d = w->d, K = w->s.K;
    l->RY = w->s.literal ? w->R : w->R * (1.0 + (d * (K - 1.0) + 1.0) / (K + d - 1.0));
    for (int k = 0; k < 3; k++) memset(l->u[k], 0, sizeof *l->u[k] * (size_t)w->d);
    l->block = 0;
}

static void range(const bdml_mwu *w, const double *lambda, double *low, double *high)
{
    *low = w->lifted->RY * BDML_MIN(lambda[0], 0.0);
    *high = w->lifted->RY * BDML_MAX(lambda[w->d - 1], 0.0);
}

static void scale_rows(bdml_mwu *w, double *width, double *least)
{
    bdml_lifted *l = w->lifted;
    bool own = w->scaling == BDML_ROW_SCALING_WIDTH;
    double widths[2] = {l->RY, l->RY * w->s.K}, trace_width = BDML_MAX(w->R, l->RY - w->R);
    for (int k = 0; k < 2; k++) {
        l->scale[k] = w->s.distortion_weight * (own ? 1.0 / widths[k] : 1.0);
        *width = BDML_MAX(*width, l->scale[k] * widths[k]);
        *least = BDML_MIN(*least, l->scale[k]);
    }
    l->scale_alpha = own ? 1.0 / l->RY : 1.0;
    l->scale_trace = own ? 1.0 / trace_width : 1.0;
    *width = BDML_MAX(*width, l->scale_alpha * l->RY);
    *least = BDML_MIN(*least, l->scale_alpha);
    if (!l->trace_row) return;
    *width = BDML_MAX(*width, l->scale_trace * trace_width);
    *least = BDML_MIN(*least, l->scale_trace);
}

/* Sum of the weights of a matrix over the rows it stands for. */
BDML_CLONES static double sum_rows(size_t size, size_t step, int d, double share, const double *W)
{
    double all = 0.0, diagonal = 0.0;
#pragma omp simd reduction(+ : all)
    for (size_t k = 0; k < size; k++) all += W[k];
    for (int i = 0; i < d; i++) diagonal += W[(size_t)i * step];
    return share * all + (1.0 - share) * diagonal;
}

static void sum_matrix(bdml_mwu *w, int k)
{
    w->lifted->sum[k] = sum_rows(w->size, w->X.step, w->d, w->lifted->share, w->lifted->W[k]);
}

static void reset(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < w->size; i++) l->W[k][i] = 1.0;
        sum_matrix(w, k);
    }
    l->w_alpha = l->w_trace = 1.0;
    memset(l->sum1, 0, sizeof *l->sum1 * w->size);
    memset(l->sum2, 0, sizeof *l->sum2 * w->size);
    memset(l->lived, 0, sizeof l->lived);
    l->sum_alpha = 0.0;
}

/* ---- oracle ------------------------------------------------------------------------------------------------------ */

/* Z_M = A*q - q0 G + Q1 + Q2,  Z_1 = -Q1,  Z_2 = Q2 for entries off the diagonal. */
BDML_CLONES static void blocks(size_t size, double q0, const double *restrict G,
                               const double *const W[4], double c1, double c2, double *restrict ZM,
                               double *restrict Z1, double *restrict Z2)
{
    const double *restrict a = W[0], *restrict b = W[1], *restrict c = W[2], *restrict e = W[3];
#pragma omp simd
    for (size_t k = 0; k < size; k++) {
        double Q1 = c1 * (a[k] - b[k]), Q2 = c2 * (c[k] - e[k]);
        ZM[k] += Q1 + Q2 - q0 * G[k];
        Z1[k] = -Q1;
        Z2[k] = Q2;
    }
}

/* On the diagonal an entry is a whole row: what is missing there, and z_alpha. */
static void diagonals(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    double inverse = 1.0 / w->total, missing = 1.0 / l->share - 1.0, trace1 = 0.0, trace2 = 0.0;
    double pull = l->trace_row ? l->w_trace * l->scale_trace * inverse : 0.0;
    for (size_t i = 0; i < (size_t)w->d; i++) {
        size_t k = i * w->X.step;
        double Q1 = -l->Z[1][k], Q2 = l->Z[2][k];
        l->Z[0][k] += missing * (Q1 + Q2) - pull;
        l->Z[1][k] = -Q1 * (1.0 + missing);
        l->Z[2][k] = Q2 * (1.0 + missing);
        trace1 += Q1 * (1.0 + missing);
        trace2 += Q2 * (1.0 + missing);
    }
    l->z_alpha = l->w_alpha * l->scale_alpha * inverse - trace1 - w->s.K * trace2;
}

static bdml_status oracle(bdml_mwu *w, bool *infeasible)
{
    bdml_lifted *l = w->lifted;
    double inverse = 1.0 / w->total, q0 = w->w0 * w->scale0 * inverse, ph = -q0 * w->bound;
    const double *W[4] = {l->W[0], l->W[1], l->W[2], l->W[3]};
    bdml_cvec_product(&w->A->space, 1.0, w->w, w->scale, w->q);
    bdml_cvec_scale(&w->A->space, inverse, w->q, w->q);
    ph = bdml_cvec_dot(&w->A->space, ph, w->q, w->mu);
    if (l->trace_row) ph -= l->w_trace * l->scale_trace * inverse * w->R;
    bdml_operator_adjoint(w->A, w->q, l->Z[0]);
    blocks(w->size, q0, w->A->g, W, l->share * l->scale[0] * inverse,
           l->share * l->scale[1] * inverse, l->Z[0], l->Z[1], l->Z[2]);
    diagonals(w);
    return bdml_oracle_lifted(w, ph, infeasible);
}

/* ---- values and weights ------------------------------------------------------------------------------------------- */

static void values(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    const double *u = l->block >= 0 && l->block < 3 ? l->u[l->block] : NULL;
    w->f = 0.0;
    if (l->block >= 0) l->lived[l->block]++;
    if (l->block == 1) bdml_matrix_add_outer(&w->X, l->RY, u, l->sum1);
    if (l->block == 2) bdml_matrix_add_outer(&w->X, l->RY, u, l->sum2);
    if (l->block == 3) l->sum_alpha += l->RY;
    if (l->block != 0) {
        bdml_cvec_fill(&w->A->space, 0.0, w->v);
        return;
    }
    bdml_matrix_add_outer(&w->X, l->RY, u, w->sum);
    w->f = w->A->ops->outer(w->A, l->RY, u, w->v, w->X.l);
}

/* One column of a pair of weight matrices whose rows have slack +-c u_i. */
BDML_CLONES static void update_column(int d, double c, const double *restrict u, double up,
                                      double down, double least, double *restrict plus,
                                      double *restrict minus)
{
#pragma omp simd
    for (int i = 0; i < d; i++) {
        double slack = c * u[i];
        double gain = slack > 0.0 ? up * slack : down * slack;
        double loss = slack > 0.0 ? -down * slack : -up * slack;
        double a = plus[i] * (1.0 - gain), b = minus[i] * (1.0 - loss);
        plus[i] = a > least ? a : least;
        minus[i] = b > least ? b : least;
    }
}

/* Equation k (0 or 1) at a Y that has the matrix c u u' in it; u NULL: c I. */
static void update_equation(bdml_mwu *w, int k, double c, const double *u)
{
    bdml_lifted *l = w->lifted;
    double *plus = l->W[2 * (size_t)k], *minus = l->W[2 * (size_t)k + 1], slack = c * l->scale[k],
           one = 1.0;
    double up = w->epsilon / w->rho, down = w->epsilon / w->rho_negative;
    double least = bdml_weights_least(w), most = 0.0;
    const bdml_matrices *X = &w->X;
    for (int j = 0; j < w->d; j++) {
        size_t at = (size_t)j * X->step;
        if (u)
            update_column(X->height, slack * u[j], u + bdml_matrix_first(X, j), up, down, least,
                          COL(plus, X->height, j), COL(minus, X->height, j));
        else
            update_column(1, slack, &one, up, down, least, plus + at, minus + at);
        most = BDML_MAX(most, u ? u[j] * u[j] : 1.0);
    }
    w->exceeded = BDML_MAX(w->exceeded, fabs(slack) * most / BDML_MIN(w->rho, w->rho_negative));
    sum_matrix(w, 2 * k);
    sum_matrix(w, 2 * k + 1);
}

static double update(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    double RY = l->RY, least = bdml_weights_least(w), trace = l->block == 0 ? RY : 0.0;
    const double *u = l->block >= 0 && l->block < 3 ? l->u[l->block] : NULL;
    if (l->block == 0) update_equation(w, 0, RY, u), update_equation(w, 1, RY, u);
    if (l->block == 1) update_equation(w, 0, -RY, u);
    if (l->block == 2) update_equation(w, 1, RY, u);
    if (l->block == 3) update_equation(w, 0, -RY, NULL), update_equation(w, 1, -RY * w->s.K, NULL);
    double alpha = l->scale_alpha * (l->block == 3 ? RY : 0.0);
    l->w_alpha = BDML_MAX(l->w_alpha * bdml_weights_factor(w, alpha), least);
    double sum = l->sum[0] + l->sum[1] + l->sum[2] + l->sum[3] + l->w_alpha;
    if (!l->trace_row) return sum;
    l->w_trace *= bdml_weights_factor(w, l->scale_trace * (w->R - trace));
    l->w_trace = BDML_MAX(l->w_trace, least);
    return sum + l->w_trace;
}

static void rescale(bdml_mwu *w, double factor)
{
    bdml_lifted *l = w->lifted;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < w->size; i++) l->W[k][i] *= factor;
        sum_matrix(w, k);
    }
    l->w_alpha *= factor;
    l->w_trace *= factor;
}

/* Largest entry of M - M1 - alpha I and M + M2 - alpha K I for the average, and the excess of its trace. */
static double violation(const bdml_mwu *w)
{
    const bdml_lifted *l = w->lifted;
    double worst = 0.0, trace = 0.0, share = 1.0 / (double)w->round;
    for (size_t k = 0; k < w->size; k++) {
        bool diagonal = k % w->X.step == 0;
        double alpha = diagonal ? l->sum_alpha : 0.0;
        worst = BDML_MAX(worst, fabs(w->sum[k] - l->sum1[k] - alpha));
        worst = BDML_MAX(worst, fabs(w->sum[k] + l->sum2[k] - w->s.K * alpha));
        if (diagonal) trace += w->sum[k];
    }
    worst *= share;
    return l->trace_row ? BDML_MAX(worst, trace * share - w->R) : worst;
}

const bdml_mwu_form bdml_lifted_form = {
    .uses = BDML_MATRIX_LANCZOS,
    .init = init,
    .free = release,
    .begin = begin,
    .count_rows = count_rows,
    .range = range,
    .scale_rows = scale_rows,
    .reset = reset,
    .oracle = oracle,
    .values = values,
    .update = update,
    .rescale = rescale,
    .violation = violation,
};
