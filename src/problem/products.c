/* products.c - products of S = sum_p w_p d_p d_p' with a vector, d_p = x_i - x_j, S never formed.
 *
 *     by pairs    t = D'u,  z = D (w o t), both from one reading of the differences D, which are kept
 *     by points   s = X'u,  t_p = s_i - s_j,  z = X (Lap s), two readings of the points
 *
 * A product is one reading of memory, so what is read less decides: pairs when they are at most twice the points.
 * Sums go in fixed parts, added in order: the same bits for any number of threads. */
#include "problem/margin.h"

#include <stdlib.h>

enum {
    PARTS = 8,
    TILE = 32 /* columns per BLAS call: they stay in cache between the two products */
};

struct bdml_products {
    bdml_margin *op;
    bool by_points;
    double *w;      /* per pair */
    double *target; /* share of a pair in the objective */
    double *d;      /* by pairs: d x pairs differences */
    double *s, *l;  /* by points: X'u and Lap X'u */
    double *part;   /* d x PARTS */
    double *t;      /* PARTS x TILE */
};

bdml_status bdml_products_new(bdml_handle *h, bdml_margin *op, bdml_products **out)
{
    bdml_status status = BDML_OK;
    bdml_products *pr = NULL;
    const bdml_constraints *c = op->c;
    size_t d = (size_t)op->d;

    *out = NULL;
    BDML_NEW(h, pr, 1);
    pr->op = op;
    pr->by_points = op->pairs > 2 * op->points;
    BDML_NEW(h, pr->w, op->pairs);
    BDML_NEW(h, pr->target, op->pairs);
    BDML_NEW(h, pr->part, d * PARTS);
    BDML_NEW(h, pr->t, PARTS * TILE);
    if (pr->by_points) {
        BDML_NEW(h, pr->s, op->points);
        BDML_NEW(h, pr->l, op->points);
    } else {
        BDML_NEW(h, pr->d, d * (size_t)op->pairs);
        for (int64_t p = 0; p < op->pairs; p++) bdml_margin_difference(op, p, COL(pr->d, op->d, p));
    }
    double targets = bdml_comm_total(op->comm, (double)c->targets);
    for (int64_t k = 0; k < c->targets; k++) pr->target[c->target[k]] += 1.0 / targets;
    *out = pr;
    pr = NULL;
done:
    bdml_products_free(pr);
    return status;
}

void bdml_products_free(bdml_products *pr)
{
    if (!pr) return;
    free(pr->w);
    free(pr->target);
    free(pr->d);
    free(pr->s);
    free(pr->l);
    free(pr->part);
    free(pr->t);
    free(pr);
}

void bdml_products_weigh(bdml_products *pr, double objective, const double *y)
{
    const bdml_constraints *c = pr->op->c;
    for (int64_t p = 0; p < pr->op->pairs; p++) pr->w[p] = objective * pr->target[p];
    for (int64_t t = 0; t < c->m; t++) {
        pr->w[c->far[t]] += y[t];
        if (c->near[t] >= 0) pr->w[c->near[t]] -= y[t];
    }
}

/* Items per part: fixed by the problem. */
static int64_t share(int64_t items)
{
    return (items + PARTS - 1) / PARTS;
}

/* Pairs from..to: dot, and their part of z. */
static void pairs_part(const bdml_products *pr, int part, const double *u, double *dot)
{
    int d = pr->op->d;
    int64_t per_part = share(pr->op->pairs), to = BDML_MIN((part + 1) * per_part, pr->op->pairs);
    double *z = COL(pr->part, d, part), *t = COL(pr->t, TILE, part);
    memset(z, 0, sizeof *z * (size_t)d);
    for (int64_t p = part * per_part; p < to; p += TILE) {
        int count = (int)BDML_MIN((int64_t)TILE, to - p);
        const double *tile = COL(pr->d, d, p);
        bdml_la_gemv('T', d, count, 1.0, tile, d, u, 0.0, dot + p);
        for (int k = 0; k < count; k++) t[k] = pr->w[p + k] * dot[p + k];
        bdml_la_gemv('N', d, count, 1.0, tile, d, t, 1.0, z);
    }
}

/* s = X'u of the points of a part. */
static void project_part(const bdml_products *pr, int part, const double *u)
{
    const bdml_margin *op = pr->op;
    int64_t per_part = share(op->points), from = part * per_part;
    int64_t count = BDML_MIN(per_part, op->points - from);
    if (count > 0)
        bdml_la_gemv('T', op->d, (int)count, 1.0, COL(op->x, op->d, from), op->d, u, 0.0,
                     pr->s + from);
}

/* Lap s of the points of a part, and X times that. */
static void points_part(const bdml_products *pr, int part)
{
    const bdml_margin *op = pr->op;
    int64_t per_part = share(op->points), from = part * per_part;
    int64_t to = BDML_MIN(from + per_part, op->points);
    double *z = COL(pr->part, op->d, part);
    memset(z, 0, sizeof *z * (size_t)op->d);
    for (int64_t i = from; i < to; i++) {
        double sum = 0.0;
        for (int64_t e = op->first[i]; e < op->first[i + 1]; e++)
            sum += pr->w[op->incident[e]] * (pr->s[i] - pr->s[op->other[e]]);
        pr->l[i] = sum;
    }
    if (to > from)
        bdml_la_gemv('N', op->d, (int)(to - from), 1.0, COL(op->x, op->d, from), op->d,
                     pr->l + from, 0.0, z);
}

void bdml_products_apply(bdml_products *pr, const double *u, double *dot, double *z)
{
    const bdml_margin *op = pr->op;
    int d = op->d;
    bdml_phase previous = bdml_phase_enter(op->h, BDML_PHASE_GRADIENT);
    if (pr->by_points) {
#pragma omp parallel num_threads(op->threads) if (op->threads > 1)
        {
#pragma omp for schedule(static)
            for (int k = 0; k < PARTS; k++) project_part(pr, k, u);
#pragma omp for schedule(static) nowait
            for (int k = 0; k < PARTS; k++) points_part(pr, k);
#pragma omp for schedule(static)
            for (int64_t p = 0; p < op->pairs; p++) dot[p] = pr->s[op->pi[p]] - pr->s[op->pj[p]];
        }
    } else {
#pragma omp parallel for schedule(static) num_threads(op->threads) if (op->threads > 1)
        for (int k = 0; k < PARTS; k++) pairs_part(pr, k, u, dot);
    }
    memcpy(z, pr->part, sizeof *z * (size_t)d);
    for (int k = 1; k < PARTS; k++)
        for (int r = 0; r < d; r++) z[r] += COL(pr->part, d, k)[r];
    bdml_comm_sum(op->comm, d, z);
    bdml_phase_leave(op->h, previous);
}

double bdml_products_values(const bdml_products *pr, const double *dot, double scale, double *v)
{
    const bdml_constraints *c = pr->op->c;
    double mean = 0.0;
    for (int64_t t = 0; t < c->m; t++) {
        double far = dot[c->far[t]], near = c->near[t] >= 0 ? dot[c->near[t]] : 0.0;
        v[t] = scale * (far * far - near * near);
    }
    for (int64_t k = 0; k < c->targets; k++) mean += dot[c->target[k]] * dot[c->target[k]];
    mean *= scale;
    bdml_margin_mean(pr->op, 1, &mean);
    return mean;
}
