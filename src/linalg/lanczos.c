/* lanczos.c - the largest eigenvalue of a symmetric matrix and its vector, by Lanczos with full
 * reorthogonalisation, restarted from the best vector so far.
 *
 *     A Q_k = Q_k T_k + beta_k q_{k+1} e_k',   T_k y = theta y,   v = Q_k y,   |A v - theta v| <= |T_k y - theta y| + beta_k |y_k|
 *
 * theta = v'Av never exceeds the largest eigenvalue. The state lives in the caller's workspace, the start is
 * the caller's vector (a warm start), and nothing is random: the same input gives the same bits. */
#include "linalg/linalg.h"

#include <stdlib.h>

enum {
    BASIS = 48,   /* vectors kept at most between restarts */
    FIRST = 5,    /* steps before the first look at convergence */
    BETWEEN = 4,  /* steps between looks */
    RESTARTS = 20 /* then the caller gets what there is, with its residual */
};

bdml_status bdml_lanczos_ws_init(bdml_handle *h, int d, bdml_lanczos_ws *ws)
{
    bdml_status status = BDML_OK;
    memset(ws, 0, sizeof *ws);
    ws->d = d;
    ws->basis = BDML_MIN(d, BASIS);
    ws->first = FIRST;
    ws->between = BETWEEN;
    ws->restarts = RESTARTS;
    BDML_NEW(h, ws->q, (size_t)d * (size_t)(ws->basis + 1));
    BDML_NEW(h, ws->alpha, ws->basis);
    BDML_NEW(h, ws->beta, ws->basis);
    BDML_NEW(h, ws->y, ws->basis);
    BDML_NEW(h, ws->work, 2 * ws->basis);
done:
    if (status != BDML_OK) bdml_lanczos_ws_free(ws);
    return status;
}

void bdml_lanczos_ws_free(bdml_lanczos_ws *ws)
{
    free(ws->q);
    free(ws->alpha);
    free(ws->beta);
    free(ws->y);
    free(ws->work);
    memset(ws, 0, sizeof *ws);
}

/* q_0 = v / |v|; without a start, a vector with all coordinates and no symmetry. */
static void start(int d, const double *v, double *q)
{
    double norm = bdml_la_norm(d, v);
    bool usable = norm > 0.0 && isfinite(norm);
    for (int i = 0; i < d; i++) q[i] = usable ? v[i] : 1.0 + 0.5 * sin(1.0 + i);
    norm = bdml_la_norm(d, q);
    for (int i = 0; i < d; i++) q[i] /= norm;
}

/* q_{k+1} = (A q_k - its part in the basis) / beta_k, orthogonalised twice. */
static void extend(bdml_la_apply apply, void *user, int k, bdml_lanczos_ws *ws)
{
    int d = ws->d;
    double *next = COL(ws->q, d, k + 1), *c = ws->work;
    apply(user, k, COL(ws->q, d, k), next);
    ws->alpha[k] = bdml_la_dot(d, next, COL(ws->q, d, k));
    for (int pass = 0; pass < 2; pass++) {
        bdml_la_gemv('T', d, k + 1, 1.0, ws->q, d, next, 0.0, c);
        bdml_la_gemv('N', d, k + 1, -1.0, ws->q, d, c, 1.0, next);
    }
    ws->beta[k] = bdml_la_norm(d, next);
    if (ws->beta[k] > 0.0)
        for (int i = 0; i < d; i++) next[i] /= ws->beta[k];
}

/* ---- largest eigenpair of T_k ----------------------------------------------------------------------------- */

/* Is x above all eigenvalues, T_k - x I negative definite? By the pivots of its elimination. */
static bool above_all(int k, const bdml_lanczos_ws *ws, double x)
{
    double pivot = ws->alpha[0] - x;
    for (int i = 1; pivot < 0.0 && i < k; i++)
        pivot = ws->alpha[i] - x - ws->beta[i - 1] * ws->beta[i - 1] / pivot;
    return pivot < 0.0;
}

/* Bisection between the largest diagonal entry and the right end of the Gershgorin discs, to the last bit: a pass
 * is k divisions, where the QL method, with its vectors, takes a third of the time of a round. */
static double largest_value(int k, const bdml_lanczos_ws *ws)
{
    double low = -INFINITY, high = -INFINITY;
    for (int i = 0; i < k; i++) {
        double radius = (i > 0 ? ws->beta[i - 1] : 0.0) + (i + 1 < k ? ws->beta[i] : 0.0);
        low = BDML_MAX(low, ws->alpha[i]);
        high = BDML_MAX(high, ws->alpha[i] + radius);
    }
    for (;;) {
        double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) return low;
        if (above_all(k, ws, middle))
            high = middle;
        else
            low = middle;
    }
}

static double not_zero(double pivot, double tiny)
{
    return fabs(pivot) < tiny ? -tiny : pivot;
}

/* Unit y with |T_k y - theta y| returned. Eliminate from the top to row r and from the bottom to row r, where what
 * is left is smallest: that is the residual of the y with y_r = 1 that solves all other rows. */
static double vector_of(int k, double theta, double scale, bdml_lanczos_ws *ws)
{
    double *top = ws->work, *bottom = top + ws->basis, *y = ws->y, sum = 0.0, least = INFINITY;
    double tiny = 1e-300 + 1e-20 * scale; /* far below the rounding of a pivot */
    int r = 0;
    for (int i = 0; i < k; i++) {
        double above = i > 0 ? ws->beta[i - 1] * ws->beta[i - 1] / top[i - 1] : 0.0;
        top[i] = not_zero(ws->alpha[i] - theta - above, tiny);
    }
    for (int i = k - 1; i >= 0; i--) {
        double below = i + 1 < k ? ws->beta[i] * ws->beta[i] / bottom[i + 1] : 0.0;
        bottom[i] = not_zero(ws->alpha[i] - theta - below, tiny);
        double left = fabs(top[i] + bottom[i] - (ws->alpha[i] - theta));
        if (left < least) least = left, r = i;
    }
    y[r] = 1.0;
    for (int i = r - 1; i >= 0; i--) y[i] = -ws->beta[i] / top[i] * y[i + 1];
    for (int i = r + 1; i < k; i++) y[i] = -ws->beta[i - 1] / bottom[i] * y[i - 1];
    for (int i = 0; i < k; i++) sum += y[i] * y[i];
    double norm = sqrt(sum);
    for (int i = 0; i < k; i++) y[i] /= norm;
    return least / norm;
}

void bdml_la_largest_of(bdml_la_apply apply, void *user, double tolerance, double floor, double *v,
                        double *theta, double *residual, bdml_lanczos_ws *ws)
{
    int d = ws->d;
    double scale = 0.0; /* of A, from below */
    for (int round = 0;; round++) {
        start(d, v, ws->q);
        int k = 0, look = BDML_MIN(ws->first, ws->basis);
        for (;; k++) {
            extend(apply, user, k, ws);
            scale = BDML_MAX(scale, fabs(ws->alpha[k]) + ws->beta[k]);
            bool closed = ws->beta[k] <= 1e-15 * scale; /* the basis is invariant */
            if (k + 1 < look && !closed) continue;
            *theta = largest_value(k + 1, ws);
            *residual = vector_of(k + 1, *theta, scale, ws);
            *residual += ws->beta[k] * fabs(ws->y[k]);
            bool done = *residual <= tolerance * scale || *theta + *residual <= floor;
            if (closed || done || k + 1 == ws->basis) break;
            look = BDML_MIN(k + 1 + ws->between, ws->basis);
        }
        ws->steps = k + 1;
        ws->combination = ws->y;
        bdml_la_gemv('N', d, k + 1, 1.0, ws->q, d, ws->combination, 0.0, v);
        bool stuck = ws->beta[k] <= 1e-15 * scale || k + 1 == d;
        bool done = *residual <= tolerance * scale || *theta + *residual <= floor;
        if (stuck || done || round == ws->restarts) return;
    }
}

/* y = A x for a matrix that is there. */
typedef struct dense {
    int d;
    const double *a;
} dense;

static void apply_dense(void *user, int k, const double *x, double *y)
{
    const dense *m = user;
    (void)k;
    bdml_la_gemv('N', m->d, m->d, 1.0, m->a, m->d, x, 0.0, y);
}

void bdml_la_largest(const double *a, double tolerance, double floor, double *v, double *theta,
                     double *residual, bdml_lanczos_ws *ws)
{
    dense m = {ws->d, a};
    bdml_la_largest_of(apply_dense, &m, tolerance, floor, v, theta, residual, ws);
}
