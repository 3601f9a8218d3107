/* setup.c - a problem: checked, reduced to the data span, with its operator, objective and row
 * norms. */
#include "solver/engine.h"

#include <stdlib.h>

static bdml_status check(bdml_handle *h, const bdml_constraints *c, int64_t n)
{
    if (c->m < 1)
        return bdml_fail(h, BDML_ERR_DATA,
                         "there is no constraint to learn from: mine or give at least one");
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

/* |f f' - g g'|^2 = |f|^4 + |g|^4 - 2 (f.g)^2 = (|f|^2 - |g|^2)^2 + 2 (|f|^2 |g|^2 - (f.g)^2);
 * diagonal: sum (f_j^2 - g_j^2)^2. g = 0 for a pair constraint. */
static double row_norm(const bdml_problem *p, const double *x, int64_t ld, int64_t t)
{
    const bdml_constraints *c = p->c;
    int32_t f = c->far[t], g = c->near[t];
    const double *a = x + (size_t)c->pi[f] * (size_t)ld, *b = x + (size_t)c->pj[f] * (size_t)ld;
    const double *s = g >= 0 ? x + (size_t)c->pi[g] * (size_t)ld : a;
    const double *q = g >= 0 ? x + (size_t)c->pj[g] * (size_t)ld : a;
    double ff = 0.0, gg = 0.0, fg = 0.0, diagonal = 0.0;
    for (int j = 0; j < p->r; j++) {
        double u = a[j] - b[j], v = s[j] - q[j];
        ff += u * u;
        gg += v * v;
        fg += u * v;
        diagonal += (u * u - v * v) * (u * u - v * v);
    }
    if (p->diagonal) return sqrt(diagonal);
    return sqrt((ff - gg) * (ff - gg) + 2.0 * BDML_MAX(ff * gg - fg * fg, 0.0));
}

static bdml_status row_norms(bdml_handle *h, bdml_problem *p, const double *x, int64_t ld)
{
    p->norm = bdml_alloc(h, (size_t)p->m, sizeof *p->norm);
    if (!p->norm) return BDML_ERR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(bdml_threads(h)) if (p->m * p->r > 1000000)
    for (int64_t t = 0; t < p->m; t++) p->norm[t] = row_norm(p, x, ld, t);
    for (int64_t t = 0; t < p->m; t++) p->norm_mean += p->norm[t] / (double)p->m;
    return BDML_OK;
}

static bdml_status set_objective(bdml_handle *h, bdml_problem *p, const double *objective)
{
    bdml_status status = BDML_OK;
    double *ws = NULL, *diagonal = NULL;

    BDML_NEW(h, p->g, p->size);
    if (!objective && p->diagonal) {
        bdml_margin_objective_diag(p->op, p->g);
    } else if (!objective) {
        bdml_margin_objective(p->op, p->g);
    } else if (p->diagonal) {
        BDML_NEW(h, diagonal, p->d);
        for (int j = 0; j < p->d; j++) diagonal[j] = COL(objective, p->d, j)[j];
        bdml_reduce_metric(p, diagonal, p->g, NULL);
    } else {
        BDML_NEW(h, ws, (size_t)p->d * (size_t)p->r);
        bdml_reduce_metric(p, objective, p->g, ws);
    }
    double size = bdml_vec_dot(p->size, p->g, p->g);
    if (!(size > 0.0) || !isfinite(size))
        status = bdml_fail(h, BDML_ERR_DATA,
                           "the objective is zero or not finite: it needs a target pair of "
                           "two different points");
done:
    free(ws);
    free(diagonal);
    return status;
}

bdml_status bdml_problem_build(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                               const bdml_constraints *c, const double *objective, bool diagonal,
                               bool reduce, bdml_problem **out)
{
    bdml_status status = BDML_OK;
    bdml_problem *p = NULL;
    double *z = NULL;

    *out = NULL;
    BDML_TRY(check(h, c, n));
    bdml_la_enter(h);
    BDML_NEW(h, p, 1);
    *p = (bdml_problem){.n = n, .m = c->m, .d = d, .x = x, .ld = ld, .c = c};
    p->diagonal = diagonal;
    p->objective = objective;
    p->exact = true;
    p->r = d;
    if (reduce) BDML_GO(bdml_reduce(h, p, objective, &z));
    p->size = diagonal ? (size_t)p->r : (size_t)p->r * (size_t)p->r;
    const double *points = z ? z : x;
    int64_t stride = z ? p->r : ld;
    BDML_GO(bdml_margin_new(h, n, p->r, points, stride, c, &p->op));
    BDML_GO(set_objective(h, p, objective));
    BDML_GO(row_norms(h, p, points, stride));
    *out = p;
    p = NULL;
done:
    free(z);
    bdml_problem_free(p);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_problem_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                             const bdml_constraints *c, const double *objective, bool diagonal,
                             bdml_problem **out)
{
    return bdml_problem_build(h, n, d, x, ld, c, objective, diagonal, true, out);
}

int64_t bdml_problem_constraints(const bdml_problem *p)
{
    return p->m;
}

void bdml_problem_free(bdml_problem *p)
{
    if (!p) return;
    bdml_problem_free(p->whole);
    bdml_margin_free(p->op);
    free(p->basis);
    free(p->kept);
    free(p->g);
    free(p->norm);
    free(p);
}
