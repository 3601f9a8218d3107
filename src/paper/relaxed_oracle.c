/* relaxed_oracle.c - ORACLE of the relaxation. The matrix of a round is
 *
 *     S x L + I_d x B,     S = -q0 G + A*y (d x d),   B = sum of the orthogonality rows (q x q)
 *
 * In the eigenvectors of S it has blocks s_a L + B, and for L > 0 the largest eigenvalue of s L + B grows with s. So
 * the largest eigenvector is w (x) u with u that of S, by products alone, and w that of s_max L + B: never a matrix
 * of qd rows.
 *
 * Refusal. The largest sum of slacks is V = q lambda_max - p.h, and p refutes iff V < 0. But on all Z that meet the
 * orthogonality rows those rows add nothing, and (S x L).Z = <S,M> with M >= 0, trace(M) = trace(L); so
 *
 *     V_0 = trace(L) s_max + q0 g - sum y_t mu_t < 0
 *
 * refutes as well, and follows from V < 0 (lambda_max is at least the mean of the eigenvalues): it is tested instead.
 * Lanczos finds s_max from below, so a refusal is confirmed with all eigenvalues of S, formed for once. */
#include "paper/relaxed.h"

static const double EPS = 2.220446049250313e-16;
enum { LONGEST_PAUSE = 64 };

/* ---- one eigenpair of S, one of s L + B -------------------------------------------------------------------- */

static void apply(void *user, int k, const double *u, double *z)
{
    bdml_relaxed *x = user;
    int64_t pairs = x->pairs;
    double *dot = k < BDML_RELAXED_KEPT ? COL(x->kept, pairs, k) : x->dot;
    bdml_products_apply(x->products, u, dot, z);
}

/* Differences times u, by linearity where the products of the Lanczos vectors are kept. */
static void combine(bdml_relaxed *x)
{
    int steps = x->lanczos_d.steps;
    int64_t pairs = x->pairs;
    if (steps > BDML_RELAXED_KEPT) {
        bdml_products_apply(x->products, x->u, x->dot, x->z);
        return;
    }
    const double *c = x->lanczos_d.combination;
    for (int64_t p = 0; p < pairs; p++) x->dot[p] = c[0] * x->kept[p];
    for (int k = 1; k < steps; k++)
        for (int64_t p = 0; p < pairs; p++) x->dot[p] += c[k] * COL(x->kept, pairs, k)[p];
}

/* Where to look for the next vector: the fading sum of those so far, for the best directions come back in turn, and a
 * little of everything, for the last vector may be an eigenvector still and not the largest. */
static void start(int n, double *past, double *v)
{
    static const double FADE = 0.8, EVERYTHING = 0.1;
    double sign = bdml_la_dot(n, past, v) < 0.0 ? -1.0 : 1.0, norm = sqrt((double)n);
    for (int i = 0; i < n; i++) past[i] = FADE * past[i] + sign * v[i];
    for (int i = 0; i < n; i++) v[i] = past[i] + EVERYTHING / norm * (1.0 + 0.5 * sin(1.0 + i));
}

static void largest_of_S(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    bdml_phase previous = bdml_phase_enter(w->h, BDML_PHASE_EIGEN);
    bdml_products_weigh(x->products, -x->q0, w->q);
    start(x->d, x->past_u, x->u);
    bdml_la_largest_of(apply, x, x->tolerance, -INFINITY, x->u, &x->s, &x->residual, &x->lanczos_d);
    combine(x);
    bdml_phase_leave(w->h, previous);
}

/* B = (plus - minus) scaled, over the sum of all weights; returns its trace. */
static double orthogonality_matrix(const bdml_mwu *w, bdml_relaxed *x)
{
    int q = x->q;
    double diagonal = x->scale_diagonal / w->total, off = x->scale_off / w->total, trace = 0.0;
    for (int j = 0; j < q; j++) {
        const double *plus = COL(x->plus, q, j), *minus = COL(x->minus, q, j);
        double *B = COL(x->B, q, j);
        B[j] = diagonal * (plus[j] - minus[j]);
        trace += B[j];
        for (int i = j + 1; i < q; i++) B[i] = off * (plus[i] - minus[i]);
    }
    bdml_la_mirror(q, x->B, q);
    return trace;
}

static void largest_of_block(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    int q = x->q;
    double residual;
    start(q, x->past_w, x->w);
    for (int i = 0; i < q; i++) COL(x->B, q, i)[i] += x->s * x->lambda[i];
    bdml_la_largest(x->B, x->tolerance, -INFINITY, x->w, &x->theta, &residual, &x->lanczos_q);
    x->stretch = 0.0;
    for (int i = 0; i < q; i++) x->stretch += x->lambda[i] * x->w[i] * x->w[i];
}

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

/* S = A*y - q0 G, formed, in x->S. */
static void form(bdml_mwu *w, double q0, const double *y)
{
    bdml_relaxed *x = w->own;
    size_t size = (size_t)x->d * (size_t)x->d;
    if (!x->have_G) bdml_margin_objective(x->op, x->G);
    x->have_G = true;
    bdml_margin_adjoint(x->op, y, -1, NULL, x->S);
    for (size_t i = 0; i < size; i++) x->S[i] -= q0 * x->G[i];
}

/* Rounding of trace(L) lambda_max(S) for these weights: eigenvalues to d eps |S|, the sums that build S likewise. */
static double rounding(const bdml_mwu *w, double q0, const double *y)
{
    const bdml_relaxed *x = w->own;
    double size = bdml_cvec_dot(&w->A->space, q0 * x->g_trace, y, x->norm);
    return EPS * (x->d + 64.0) * size * x->trace;
}

static bdml_status confirm(bdml_mwu *w, bool *infeasible)
{
    bdml_relaxed *x = w->own;
    form(w, x->q0, w->q);
    BDML_TRY(bdml_la_eigh(w->h, x->d, x->S, x->eigen, false, &x->ws));
    double value = x->trace * x->eigen[x->d - 1] + x->q0 * w->bound - x->margins;
    *infeasible = value < -rounding(w, x->q0, w->q);
    if (*infeasible) w->value = value;
    return BDML_OK;
}

bdml_status bdml_relaxed_oracle(bdml_mwu *w, bool *infeasible)
{
    bdml_relaxed *x = w->own;
    *infeasible = false;
    x->q0 = w->w0 * w->scale0 / w->total;
    x->margins = bdml_weights_shares(w);
    largest_of_S(w);
    double trace = orthogonality_matrix(w, x);
    largest_of_block(w);
    w->value = x->q * x->theta - (x->margins - x->q0 * w->bound + trace);
    bool doubtful = x->trace * (x->s + x->residual) + x->q0 * w->bound - x->margins < 0.0;
    if (!doubtful || w->round < x->look_at) return BDML_OK;
    BDML_TRY(confirm(w, infeasible));
    x->look_at = w->round + x->pause;
    x->pause = BDML_MIN(2 * x->pause, LONGEST_PAUSE);
    return BDML_OK;
}

/* LB(t) = t sum mu_t y_t + trace(L) lambda_min(G - t A*y) is concave: up or down from t = 1 while it grows. */
bdml_status bdml_relaxed_lower(bdml_mwu *w, double q0, const double *q, double *lower)
{
    enum { STEPS = 6 };
    bdml_relaxed *x = w->own;
    size_t size = (size_t)x->d * (size_t)x->d;
    double margins = bdml_cvec_dot(&w->A->space, 0.0, q, w->mu), factor = 1.15, t = 1.0;
    form(w, 0.0, q);
    *lower = -INFINITY;
    for (int k = 0; k < STEPS; k++) {
        double share = t / q0;
        for (size_t i = 0; i < size; i++) x->T[i] = x->G[i] - share * x->S[i];
        BDML_TRY(bdml_la_eigh(w->h, x->d, x->T, x->eigen, false, &x->ws));
        double value = share * margins + x->trace * x->eigen[0] - share * rounding(w, q0 / t, q);
        if (value <= *lower) {
            if (k > 1) break; /* past the top */
            factor = 1.0 / factor;
            t = 1.0;
        }
        *lower = BDML_MAX(*lower, value);
        t *= factor;
    }
    return BDML_OK;
}
