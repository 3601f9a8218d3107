/* scale.c - the problem in units in which steps and penalties are of order one (eq. 12).
 *
 *     M' = unit_m M,   G' = G / |G|,   A'_t = w_t A_t with w_t = 1/|A_t|,   b_t = unit_m w_t mu_t
 *
 * so that every row has norm one and a typical margin is 1: the median, or for the hard form the
 * geometric mean of median and largest. Then <G,M> = unit_f <G',M'> with unit_f = |G|/unit_m,
 * and y_t = unit_y w_t y'_t with unit_y = |G|. */
#include "solver/engine.h"

/* Rows much shorter than the mean (near-identical points) are not blown up beyond this. */
static const double SHORTEST_ROW = 1e-8;

/* a[n/2] as if a were sorted (Hoare's FIND); a is permuted. */
static double median(int64_t n, double *a)
{
    int64_t lo = 0, hi = n - 1, k = n / 2;
    while (lo < hi) {
        double pivot = a[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i > j) break;
            double swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return a[k];
}

/* Dual curvature and bound of one constraint of the soft form, c = C w_t / m in scaled units:
 * squared hinge c (b-v)^2: q = 1/(2c);  hinge c (b-v): y <= c. */
static void soften(bdml_engine *e, int64_t t, double c)
{
    bool squared = e->s->loss == BDML_LOSS_SQUARED_HINGE;
    c /= squared ? e->unit_y * e->unit_m * e->w[t] * e->w[t] : e->unit_y * e->w[t];
    e->q[t] = squared && c > 0.0 ? 0.5 / c : 0.0;
    e->u[t] = squared && c > 0.0 ? INFINITY : c;
    if (c == 0.0) e->q[t] = 1.0; /* weight 0: y = 0 always */
}

void bdml_scale(bdml_engine *e)
{
    const bdml_problem *p = e->p;
    const bdml_constraints *c = p->c;
    double largest = 0.0;

    for (int64_t t = 0; t < e->m; t++) {
        e->w[t] = 1.0 / BDML_MAX(p->norm[t], SHORTEST_ROW * p->norm_mean);
        e->b[t] = e->s->margin * (c->margin ? c->margin[t] : 1.0) * e->w[t];
        e->y_try[t] = e->b[t];
        largest = BDML_MAX(largest, e->b[t]);
    }
    double middle = median(e->m, e->y_try);
    /* tight margins are among the largest: a hard M is about as large as they ask for */
    if (e->s->hard) middle = sqrt(middle * largest);
    e->unit_m = middle > 0.0 ? 1.0 / middle : 1.0;
    e->unit_y = sqrt(bdml_vec_dot(e->size, p->g, p->g));
    e->unit_f = e->unit_y / e->unit_m;
    for (size_t i = 0; i < e->size; i++) e->g[i] = p->g[i] / e->unit_y;
    e->set.trace = e->user_trace * e->unit_m;
    for (int64_t t = 0; t < e->m; t++) {
        e->b[t] *= e->unit_m;
        e->q[t] = 0.0;
        e->u[t] = INFINITY;
        if (!e->s->hard) soften(e, t, e->C * (c->weight ? c->weight[t] : 1.0) / (double)e->m);
    }
}
