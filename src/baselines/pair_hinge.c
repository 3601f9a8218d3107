/* pair_hinge.c - similarity and metric from pairs: a hinge loss that stays close to the identity
 * (Cao, Ying and Li 2013, eq. 6, with a free threshold b, a metric that is positive semidefinite, and
 * the loss as a mean).
 *
 *     min  1/m sum_t max(1 - y_t (b - <X_t,M> + <S_t,G>), 0) + gamma/2 (|M - I|^2 + |G - I|^2)
 *      M >= 0, G symmetric, b                     X_t = (x-y)(x-y)',  S_t = (xy' + yx')/2,  y_t = +-1
 *
 * Without similarity G is left out. The dual is a concave function of a vector a,
 *
 *     max  sum_t a_t + min_M [ <A,M> + gamma/2 |M - I|^2 ] + min_G [ -<B,G> + gamma/2 |G - I|^2 ]
 *      0 <= a_t <= 1/m,  sum_t a_t y_t = 0        A = sum a_t y_t X_t,  B = sum a_t y_t S_t
 *      M(a) = (I - A/gamma)_+,  G(a) = I + B/gamma
 *
 * with the gradient 1 + y_t (<X_t,M(a)> - <S_t,G(a)>). Accelerated projected gradient ascent with
 * backtracking and restart; M(a), G(a) with the best b give the upper end of a bracket, the dual its lower end:
 * the method stops when they are close. S_t = ((x+y)(x+y)' - (x-y)(x-y)') / 4, so that everything is a
 * weighted Gram matrix of sums and differences. */
#include "baselines/pairwise.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { BLOCK = 512 };                         /* columns at a time in the forward direction */
static const double GROW = 2.0, SHRINK = 0.8; /* of the step's curvature */

void bdml_pair_solution_free(bdml_pair_solution *s)
{
    free(s->metric);
    free(s->similarity);
    s->metric = s->similarity = NULL;
}

/* ---- state ----------------------------------------------------------------------------------------------- */

typedef struct state {
    const bdml_pair_hinge *p;
    double *minus, *plus; /* differences and sums, k x m; plus NULL without similarity */
    double *y;            /* +1 or -1 */
    double *weight;       /* m */
    double *gram, *part;  /* k x k */
    double *lambda, *ws, *product;
    bdml_eigh_ws eigh;
    double *metric, *similarity; /* M(a), G(a) of the last evaluation */
    double *value;               /* <X,M> - <S,G> there */
    double *keys;                /* m, to select b */
} state;

static void free_state(state *s)
{
    double *const all[] = {s->minus,      s->plus,   s->y,   s->weight,  s->gram,
                           s->part,       s->lambda, s->ws,  s->product, s->metric,
                           s->similarity, s->value,  s->keys};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    bdml_eigh_ws_free(&s->eigh);
}

static bdml_status init(bdml_handle *h, const bdml_pair_hinge *p, state *s)
{
    bdml_status status = BDML_OK;
    size_t k = (size_t)p->k, m = (size_t)p->m;
    s->p = p;
    BDML_NEW(h, s->minus, k * m);
    if (p->similarity) BDML_NEW(h, s->plus, k * m);
    BDML_NEW(h, s->y, m);
    BDML_NEW(h, s->weight, m);
    BDML_NEW(h, s->gram, k * k);
    BDML_NEW(h, s->part, k * k);
    BDML_NEW(h, s->lambda, k);
    BDML_NEW(h, s->ws, bdml_la_gram_size(p->k));
    BDML_NEW(h, s->product, k * BLOCK);
    BDML_NEW(h, s->metric, k * k);
    if (p->similarity) BDML_NEW(h, s->similarity, k * k);
    BDML_NEW(h, s->value, m);
    BDML_NEW(h, s->keys, m);
    BDML_GO(bdml_eigh_ws_init(h, p->k, &s->eigh));
    for (size_t t = 0; t < m; t++) {
        const double *a = COL(p->x, k, p->row[2 * t]), *b = COL(p->x, k, p->row[2 * t + 1]);
        s->y[t] = p->same[t] ? 1.0 : -1.0;
        for (size_t j = 0; j < k; j++) COL(s->minus, k, t)[j] = a[j] - b[j];
        for (size_t j = 0; s->plus && j < k; j++) COL(s->plus, k, t)[j] = a[j] + b[j];
    }
done:
    return status;
}

/* ---- evaluation ---------------------------------------------------------------------------------------------- */

/* value_t += factor c_t' Q c_t over the columns of c. */
static void add_forms(bdml_handle *h, state *s, const double *q, const double *c, double factor)
{
    int k = s->p->k;
    for (int64_t t0 = 0; t0 < s->p->m; t0 += BLOCK) {
        int64_t n = BDML_MIN((int64_t)BLOCK, s->p->m - t0);
        bdml_la_gemm_tiled(h, 'N', 'N', k, n, k, 1.0, q, k, COL(c, k, t0), k, 0.0, s->product, k);
        for (int64_t t = 0; t < n; t++)
            s->value[t0 + t] += factor * bdml_la_dot(k, COL(s->product, k, t), COL(c, k, t0 + t));
    }
}

static double squared_norm(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t e = 0; e < count; e++) sum += v[e] * v[e];
    return sum;
}

static double inner_product(size_t count, const double *v, const double *w)
{
    double sum = 0.0;
    for (size_t e = 0; e < count; e++) sum += v[e] * w[e];
    return sum;
}

/* s->metric = (I - A/gamma)_+ for A in s->gram; returns <A,M> + gamma/2 |M - I|^2. */
static bdml_status make_metric(bdml_handle *h, state *s, double *value)
{
    int k = s->p->k;
    size_t kk = (size_t)k * (size_t)k;
    double gamma = s->p->gamma, *q = s->part;
    for (size_t e = 0; e < kk; e++) q[e] = -s->gram[e] / gamma;
    for (int j = 0; j < k; j++) COL(q, k, j)[j] += 1.0;
    BDML_TRY(bdml_la_eigh(h, k, q, s->lambda, true, &s->eigh));
    double away = 0.0, linear = 0.0;
    for (int j = 0; j < k; j++) {
        /* A has the eigenvalue gamma (1 - lambda) there */
        double l = s->lambda[j], kept = BDML_MAX(l, 0.0);
        away += (kept - 1.0) * (kept - 1.0);
        linear += gamma * (1.0 - l) * kept;
        for (int i = 0; i < k; i++) COL(q, k, j)[i] *= sqrt(kept);
    }
    bdml_la_syrk('N', k, k, 1.0, q, k, 0.0, s->metric, k);
    bdml_la_mirror(k, s->metric, k);
    *value = linear + 0.5 * gamma * away;
    return BDML_OK;
}

/* s->similarity = I + B/gamma for B in s->part; returns -<B,G> + gamma/2 |G - I|^2. */
static double make_similarity(state *s)
{
    int k = s->p->k;
    size_t kk = (size_t)k * (size_t)k;
    double gamma = s->p->gamma, *g = s->similarity;
    for (size_t e = 0; e < kk; e++) g[e] = s->part[e] / gamma;
    for (int j = 0; j < k; j++) COL(g, k, j)[j] += 1.0;
    return -inner_product(kk, s->part, g) + 0.5 / gamma * squared_norm(kk, s->part);
}

/* Dual value at a; M(a), G(a) and s->value with it. */
static bdml_status evaluate(bdml_handle *h, state *s, const double *a, double *dual)
{
    int k = s->p->k;
    int64_t m = s->p->m;
    size_t kk = (size_t)k * (size_t)k;
    double sum = 0.0, part;
    for (int64_t t = 0; t < m; t++) {
        s->weight[t] = a[t] * s->y[t];
        sum += a[t];
        s->value[t] = 0.0;
    }
    bdml_la_gram(h, k, m, s->minus, k, s->weight, s->gram, s->ws);
    if (s->plus) {
        bdml_la_gram(h, k, m, s->plus, k, s->weight, s->part, s->ws);
        for (size_t e = 0; e < kk; e++) s->part[e] = 0.25 * (s->part[e] - s->gram[e]);
        sum += make_similarity(s);
        add_forms(h, s, s->similarity, s->plus, -0.25);
        add_forms(h, s, s->similarity, s->minus, 0.25);
    }
    BDML_TRY(make_metric(h, s, &part));
    add_forms(h, s, s->metric, s->minus, 1.0);
    *dual = sum + part;
    return BDML_OK;
}

/* ---- primal ------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The loss over b is convex and piecewise linear: it starts with slope -(number of same pairs) and every
 * corner, v + 1 of a same pair and v - 1 of another, adds 1. */
static double best_threshold(state *s)
{
    int64_t m = s->p->m, sames = 0;
    for (int64_t t = 0; t < m; t++) {
        s->keys[t] = s->value[t] + s->y[t];
        sames += s->y[t] > 0.0;
    }
    qsort(s->keys, (size_t)m, sizeof *s->keys, ascending);
    return s->keys[BDML_MAX(sames, 1) - 1];
}

static double primal_value(state *s, double *b)
{
    int k = s->p->k;
    size_t kk = (size_t)k * (size_t)k;
    double loss = 0.0, away = 0.0;
    *b = best_threshold(s);
    for (int64_t t = 0; t < s->p->m; t++) loss += BDML_MAX(1.0 - s->y[t] * (*b - s->value[t]), 0.0);
    for (size_t e = 0; e < kk; e++) {
        double eye = e % (size_t)(k + 1) == 0 ? 1.0 : 0.0;
        away += (s->metric[e] - eye) * (s->metric[e] - eye);
        if (s->similarity) away += (s->similarity[e] - eye) * (s->similarity[e] - eye);
    }
    return loss / (double)s->p->m + 0.5 * s->p->gamma * away;
}

/* ---- dual steps ------------------------------------------------------------------------------------------------ */

static double balance(int64_t m, const double *z, const double *y, double nu, double top)
{
    double sum = 0.0;
    for (int64_t t = 0; t < m; t++) sum += y[t] * BDML_MIN(BDML_MAX(z[t] - nu * y[t], 0.0), top);
    return sum;
}

/* Nearest point with 0 <= a <= top and sum a y = 0: a = clip(z - nu y), and the sum falls with nu. */
static void project(int64_t m, const double *y, double top, double *z)
{
    double low = 0.0, high = 0.0;
    for (int64_t t = 0; t < m; t++) {
        low = BDML_MIN(low, -fabs(z[t]) - top);
        high = BDML_MAX(high, fabs(z[t]) + top);
    }
    for (int round = 0; round < 200 && high - low > 0.0; round++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (balance(m, z, y, middle, top) > 0.0)
            low = middle;
        else
            high = middle;
    }
    double nu = 0.5 * (low + high);
    for (int64_t t = 0; t < m; t++) z[t] = BDML_MIN(BDML_MAX(z[t] - nu * y[t], 0.0), top);
}

/* Iterates of the ascent, m each. */
typedef struct ascent {
    double *a, *next, *at, *gradient; /* a, the step from `at`, and the gradient there */
    double curvature, momentum, dual;
} ascent;

/* One step from r->at with backtracking; s is evaluated at r->next. */
static bdml_status step(bdml_handle *h, state *s, ascent *r, double at_value, double *value)
{
    int64_t m = s->p->m;
    double top = 1.0 / (double)m;
    for (;; r->curvature *= GROW) {
        double gain = 0.0, length = 0.0;
        for (int64_t t = 0; t < m; t++) r->next[t] = r->at[t] + r->gradient[t] / r->curvature;
        project(m, s->y, top, r->next);
        BDML_TRY(evaluate(h, s, r->next, value));
        for (int64_t t = 0; t < m; t++) {
            double d = r->next[t] - r->at[t];
            gain += r->gradient[t] * d;
            length += d * d;
        }
        double promised = at_value + gain - 0.5 * r->curvature * length;
        if (*value >= promised - 1e-14 * fabs(promised)) return BDML_OK;
    }
}

static void take_gradient(const state *s, double *gradient)
{
    for (int64_t t = 0; t < s->p->m; t++) gradient[t] = 1.0 + s->y[t] * s->value[t];
}

/* Keep the best of primal and dual seen; true when they are close enough. */
static bool note(state *s, double dual, bdml_pair_solution *out)
{
    size_t bytes = sizeof(double) * (size_t)s->p->k * (size_t)s->p->k;
    double b, primal = primal_value(s, &b);
    out->dual = BDML_MAX(out->dual, dual);
    if (primal < out->primal) {
        out->primal = primal;
        out->b = b;
        memcpy(out->metric, s->metric, bytes);
        if (s->similarity) memcpy(out->similarity, s->similarity, bytes);
    }
    return out->primal - out->dual <= s->p->gap * fabs(out->primal);
}

static bdml_status ascend(bdml_handle *h, state *s, ascent *r, bdml_pair_solution *out)
{
    int64_t m = s->p->m;
    double value, at_value;
    BDML_TRY(evaluate(h, s, r->a, &r->dual));
    if (note(s, r->dual, out)) return BDML_OK;
    memcpy(r->at, r->a, sizeof(double) * (size_t)m);
    at_value = r->dual;
    for (out->iterations = 1; out->iterations <= s->p->max_iter; out->iterations++) {
        BDML_TRY(bdml_progress(h, "pairs", out->iterations, s->p->max_iter));
        take_gradient(s, r->gradient); /* s is evaluated at r->at */
        BDML_TRY(step(h, s, r, at_value, &value));
        if (note(s, value, out)) return BDML_OK;
        double before = r->momentum, next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * before * before));
        double beta = value < r->dual ? 0.0 : (before - 1.0) / next; /* restart when it falls */
        r->momentum = beta == 0.0 && before > 1.0 ? 1.0 : next;
        for (int64_t t = 0; t < m; t++) {
            double old = value < r->dual ? r->next[t] : r->a[t];
            r->at[t] = r->next[t] + beta * (r->next[t] - old);
        }
        memcpy(r->a, r->next, sizeof(double) * (size_t)m);
        r->dual = value;
        r->curvature *= SHRINK;
        if (beta > 0.0)
            BDML_TRY(evaluate(h, s, r->at, &at_value));
        else
            at_value = value;
    }
    out->iterations--;
    return BDML_OK;
}

bdml_status bdml_pair_hinge_solve(bdml_handle *h, const bdml_pair_hinge *p, bdml_pair_solution *out)
{
    bdml_status status = BDML_OK;
    state s = {0};
    ascent r = {.momentum = 1.0};
    size_t kk = (size_t)p->k * (size_t)p->k;

    *out = (bdml_pair_solution){.primal = INFINITY, .dual = -INFINITY};
    BDML_NEW(h, out->metric, kk);
    if (p->similarity) BDML_NEW(h, out->similarity, kk);
    BDML_NEW(h, r.a, p->m);
    BDML_NEW(h, r.next, p->m);
    BDML_NEW(h, r.at, p->m);
    BDML_NEW(h, r.gradient, p->m);
    BDML_GO(init(h, p, &s));
    r.curvature = 1.0 / p->gamma; /* of one pair of length 1 */
    status = ascend(h, &s, &r, out);
done:
    free(r.a);
    free(r.next);
    free(r.at);
    free(r.gradient);
    free_state(&s);
    if (status != BDML_OK) bdml_pair_solution_free(out);
    return status;
}
