/* relaxed.c - the relaxation of Proposition 2 as a form of Algorithm 2: Z >= 0, trace(Z) = q is the easy set.
 *
 *     rows   g - (G x L).Z >= 0,   (A_t x L).Z - mu_t >= 0,   +-(A_uv.Z - b_uv) >= 0,  u <= v
 *
 * A_uv = I_d x B_uv with ones at (u,v) and (v,u) of B_uv, so A_uv.Z = Z_uu-sum for u = v and twice the (u,v)-sum else;
 * b_uu = 1 (the paper prints 2; trace(Z) = q asks for 1), b_uv = 0. At Y = q vec(w u') vec(w u')':
 *
 *     (X x L).Y = q (w'Lw) u'Xu,     A_uu.Y = q w_u^2,     A_uv.Y = 2 q w_u w_v */
#include "paper/relaxed.h"

#include <stdlib.h>

#include "linalg/clones.h"

/* ---- life ------------------------------------------------------------------------------------------------ */

static bdml_status allocate(bdml_handle *h, int64_t m, bdml_relaxed *x)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)x->d, q = (size_t)x->q, room = (size_t)x->atoms.room;
    double **small[] = {&x->plus, &x->minus, &x->sum_C, &x->B};
    double **large[] = {&x->G, &x->S, &x->T};
    double **vectors[] = {&x->u, &x->z, &x->eigen, &x->past_u};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) BDML_NEW(h, *small[i], q * q);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) BDML_NEW(h, *large[i], d * d);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(h, *vectors[i], d);
    BDML_NEW(h, x->w, q);
    BDML_NEW(h, x->past_w, q);
    BDML_NEW(h, x->norm, m);
    BDML_NEW(h, x->dot, x->pairs);
    BDML_NEW(h, x->kept, x->pairs * BDML_RELAXED_KEPT);
    BDML_NEW(h, x->atoms.u, d * room);
    BDML_NEW(h, x->atoms.w, q * room);
    BDML_GO(bdml_lanczos_ws_init(h, x->d, &x->lanczos_d));
    BDML_GO(bdml_lanczos_ws_init(h, x->q, &x->lanczos_q));
    BDML_GO(bdml_eigh_ws_init(h, x->d, &x->ws));
    BDML_GO(bdml_products_new(h, x->op, &x->products));
done:
    return status;
}

/* Extreme eigenvalues and norm of each A_t, from the differences. */
static void describe_rows(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    const bdml_constraints *c = w->A->c;
    int d = x->d;
    double *f = x->z, *g = x->u;
    for (int64_t t = 0; t < w->m; t++) {
        double gg = 0.0, fg = 0.0;
        bdml_margin_difference(x->op, c->far[t], f);
        if (c->near[t] >= 0) {
            bdml_margin_difference(x->op, c->near[t], g);
            gg = bdml_la_dot(d, g, g);
            fg = bdml_la_dot(d, f, g);
        }
        bdml_row_extremes(bdml_la_dot(d, f, f), gg, fg, &w->low[t], &w->high[t]);
        x->norm[t] = hypot(w->low[t], w->high[t]);
    }
    for (int64_t k = 0; k < c->targets; k++) {
        bdml_margin_difference(x->op, c->target[k], f);
        x->g_trace += bdml_la_dot(d, f, f) / (double)c->targets;
    }
    memset(x->u, 0, sizeof *x->u * (size_t)d);
}

typedef struct product {
    bdml_products *products;
    double *dot;
} product;

static void apply(void *user, int k, const double *u, double *z)
{
    product *p = user;
    (void)k;
    bdml_products_apply(p->products, u, p->dot, z);
}

/* Largest eigenvalue of G, a hair more than Lanczos finds: the width of the objective. The guarantee mode finds out
 * if even that was too little. */
static bdml_status objective_width(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    product p = {x->products, x->dot};
    double residual, theta, *zero = w->v;
    bdml_cvec_fill(&w->A->space, 0.0, zero);
    bdml_products_weigh(x->products, 1.0, zero);
    bdml_la_largest_of(apply, &p, 1e-6, -INFINITY, x->u, &theta, &residual, &x->lanczos_d);
    for (int i = 0; i < w->d; i++) w->g_lambda[i] = 0.0;
    w->g_lambda[w->d - 1] = BDML_MIN(1.01 * theta, x->g_trace);
    memset(x->u, 0, sizeof *x->u * (size_t)x->d);
    return BDML_OK;
}

static bdml_status init(bdml_mwu *w)
{
    enum {
        FIRST = 3,
        BETWEEN = 2,
        RESTARTS = 1
    }; /* warm starts are near, and any Y that is good enough serves */
    bdml_relaxed *x = w->own;
    bdml_status status = BDML_OK;
    if (x->tolerance == 0.0) x->tolerance = 1e-3; /* any Y with a sum of slacks >= 0 serves */
    x->least = INFINITY;
    for (int i = 0; i < x->q; i++) {
        x->trace += x->lambda[i];
        x->least = BDML_MIN(x->least, x->lambda[i]);
        x->most = BDML_MAX(x->most, x->lambda[i]);
    }
    x->pairs = w->A->c->pairs;
    BDML_TRY(allocate(w->h, w->m, x));
    x->lanczos_d.first = FIRST;
    x->lanczos_d.between = BETWEEN;
    x->lanczos_d.restarts = x->lanczos_q.restarts = RESTARTS;
    BDML_TRY(bdml_la_enter(w->h));
    describe_rows(w);
    status = objective_width(w);
    bdml_la_leave(w->h);
    return status;
}

static void release(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    double *arrays[] = {x->plus, x->minus,  x->sum_C,  x->B,       x->G,       x->S,
                        x->T,    x->past_u, x->past_w, x->u,       x->z,       x->eigen,
                        x->w,    x->dot,    x->kept,   x->atoms.u, x->atoms.w, x->norm};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    bdml_lanczos_ws_free(&x->lanczos_d);
    bdml_lanczos_ws_free(&x->lanczos_q);
    bdml_eigh_ws_free(&x->ws);
    bdml_products_free(x->products);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static int64_t count_rows(const bdml_mwu *w)
{
    const bdml_relaxed *x = w->own;
    return w->m + 1 + (int64_t)x->q * (x->q + 1);
}

/* q (w'Lw) u'Au over unit w and u. */
static void range(const bdml_mwu *w, const double *lambda, double *low, double *high)
{
    const bdml_relaxed *x = w->own;
    double first = lambda[0], last = lambda[w->d - 1];
    *low = x->q * first * (first < 0.0 ? x->most : x->least);
    *high = x->q * last * (last > 0.0 ? x->most : x->least);
}

/* |q w_u^2 - 1| <= max(q - 1, 1) and |2 q w_u w_v| <= q. */
static void scale_rows(bdml_mwu *w, double *width, double *least)
{
    bdml_relaxed *x = w->own;
    bool own = w->scaling == BDML_ROW_SCALING_WIDTH;
    double diagonal = BDML_MAX(x->q - 1, 1), off = x->q;
    x->scale_diagonal = own ? 1.0 / diagonal : 1.0;
    x->scale_off = own ? 1.0 / off : 1.0;
    *width = BDML_MAX(*width, BDML_MAX(x->scale_diagonal * diagonal, x->scale_off * off));
    *least = BDML_MIN(*least, BDML_MIN(x->scale_diagonal, x->scale_off));
}

static void reset(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    size_t size = (size_t)x->q * (size_t)x->q;
    memset(x->sum_C, 0, sizeof *x->sum_C * size);
    if (!w->warm) {
        for (size_t i = 0; i < size; i++) x->plus[i] = x->minus[i] = 1.0;
        memset(x->past_u, 0, sizeof *x->past_u * (size_t)x->d);
        memset(x->past_w, 0, sizeof *x->past_w * (size_t)x->q);
    }
    x->atoms.count = 0;
    x->look_at = 0;
    x->pause = 1;
}

/* Y itself: its values, and its place among the rounds. */
static void values(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    int q = x->q;
    w->f = bdml_products_values(x->products, x->dot, q * x->stretch, w->v);
    for (int j = 0; j < q; j++)
        for (int i = j; i < q; i++) COL(x->sum_C, q, j)[i] += q * x->w[i] * x->w[j];
    if (x->atoms.count >= x->atoms.room) return; /* the caller sees that there were more rounds */
    memcpy(COL(x->atoms.u, x->d, x->atoms.count), x->u, sizeof *x->u * (size_t)x->d);
    memcpy(COL(x->atoms.w, q, x->atoms.count), x->w, sizeof *x->w * (size_t)q);
    x->atoms.count++;
}

static double largest(const bdml_mwu *w)
{
    const bdml_relaxed *x = w->own;
    double most = 0.0, first = 0.0, second = 0.0;
    for (int i = 0; i < x->q; i++) {
        double a = fabs(x->w[i]);
        most = BDML_MAX(most, x->scale_diagonal * fabs(x->q * a * a - 1.0));
        if (a > first)
            second = first, first = a;
        else if (a > second)
            second = a;
    }
    return BDML_MAX(most, x->scale_off * 2.0 * x->q * first * second);
}

static void shrink(bdml_mwu *w, double factor)
{
    bdml_relaxed *x = w->own;
    x->scale_diagonal *= factor;
    x->scale_off *= factor;
}

/* Column j of the two triangles below the diagonal: slack_i = factor w_i for the row that says >=. Returns the sum
 * of the new weights. */
BDML_CLONES static double update_off_diagonal(int n, const double *restrict w, double factor,
                                              double up, double down, double least,
                                              double *restrict plus, double *restrict minus)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        double slack = factor * w[i];
        double over = slack > 0.0 ? up * slack : down * slack;
        double under = slack > 0.0 ? down * slack : up * slack;
        plus[i] = fmax(plus[i] * (1.0 - over), least);
        minus[i] = fmax(minus[i] * (1.0 + under), least);
        sum += plus[i] + minus[i];
    }
    return sum;
}

static double update(bdml_mwu *w)
{
    bdml_relaxed *x = w->own;
    int q = x->q;
    double least = bdml_weights_least(w), sum = 0.0;
    double up = w->epsilon / w->rho, down = w->epsilon / w->rho_negative;
    for (int j = 0; j < q; j++) {
        double *plus = COL(x->plus, q, j) + j, *minus = COL(x->minus, q, j) + j;
        double slack = x->scale_diagonal * (q * x->w[j] * x->w[j] - 1.0);
        *plus = BDML_MAX(*plus * bdml_weights_factor(w, slack), least);
        *minus = BDML_MAX(*minus * bdml_weights_factor(w, -slack), least);
        sum += *plus + *minus +
               update_off_diagonal(q - j - 1, x->w + j + 1, x->scale_off * 2.0 * q * x->w[j], up,
                                   down, least, plus + 1, minus + 1);
    }
    w->exceeded = BDML_MAX(w->exceeded, largest(w) / BDML_MIN(w->rho, w->rho_negative));
    return sum;
}

static void rescale(bdml_mwu *w, double factor)
{
    bdml_relaxed *x = w->own;
    for (size_t i = 0; i < (size_t)x->q * (size_t)x->q; i++) {
        x->plus[i] *= factor;
        x->minus[i] *= factor;
    }
}

static double violation(const bdml_mwu *w)
{
    const bdml_relaxed *x = w->own;
    double worst = 0.0, share = 1.0 / (double)BDML_MAX(w->round, 1);
    for (int j = 0; j < x->q; j++) {
        const double *column = COL(x->sum_C, x->q, j);
        worst = BDML_MAX(worst, fabs(share * column[j] - 1.0));
        for (int i = j + 1; i < x->q; i++) worst = BDML_MAX(worst, fabs(2.0 * share * column[i]));
    }
    return worst;
}

/* From the sums of the values: each is exact to rounding. */
static bdml_status measure(bdml_mwu *w, bdml_mwu_result *r)
{
    double share = 1.0 / (double)BDML_MAX(w->round, 1);
    r->objective = w->sum_f * share;
    r->margin_violation = BDML_MAX(bdml_cvec_worst_miss(&w->A->space, w->mu, w->sum_v, share), 0.0);
    r->violation = BDML_MAX(BDML_MAX(r->margin_violation, r->objective - w->bound), violation(w));
    r->kappa = NAN; /* not of this problem */
    r->trace = ((const bdml_relaxed *)w->own)->trace;
    return BDML_OK;
}

/* The oracle says infeasible only when it is proven. */
static bdml_status prove(bdml_mwu *w, bdml_mwu_result *r)
{
    (void)w;
    r->proves = true;
    return BDML_OK;
}

const bdml_mwu_form bdml_relaxed_form = {
    .init = init,
    .free = release,
    .count_rows = count_rows,
    .range = range,
    .scale_rows = scale_rows,
    .reset = reset,
    .oracle = bdml_relaxed_oracle,
    .values = values,
    .update = update,
    .rescale = rescale,
    .violation = violation,
    .factored = true,
    .largest = largest,
    .shrink = shrink,
    .measure = measure,
    .prove = prove,
};
