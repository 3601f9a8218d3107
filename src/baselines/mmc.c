/* mmc.c - distance metric learning with side information (Xing, Ng, Jordan, Russell, NIPS 2003), also called
 * MMC, full and diagonal:
 *
 *     max  sum over dissimilar pairs of sqrt(z'Mz)    s.t.  sum over similar pairs of z'Mz <= 1,  M >= 0.
 *
 * (The source states the diagonal case as min sum_S z'Mz - log sum_D sqrt(z'Mz), which has the same
 * solution up to its scale.) In coordinates w in which the similar scatter is I the problem is to maximise
 *
 *     f(Y) = sum_t sqrt(w_t' Y w_t)     over   Y >= 0, trace(Y) = 1.
 *
 * Ascent. With Y = LL' each term |L'w_t| is convex in L, so its tangent is a minorant; the best L of unit
 * norm for the tangents is L <- G L / |G L|, G = sum_t w_t w_t' / sqrt(w_t' Y w_t):
 *
 *     Y <- G Y G / trace(G Y G),
 *
 * which needs no step size, never decreases f, and keeps Y positive definite.
 *
 * Bound. sqrt(p) <= (s p + 1/s)/2 for every s > 0; summed, with the best common scale of the s_t,
 *
 *     f(Y') <= sqrt( lambda_max(sum_t s_t w_t w_t')  sum_t 1/s_t )     for every feasible Y'.
 *
 * At s_t = 1/sqrt(p_t) the matrix is G: each step gives a bracket, and the ascent stops when it is narrow
 * (setting gap). In the diagonal case matrices are diagonals and lambda_max is the largest entry.
 *
 * Spread. The optimum leans on the few directions in which classes differ most, and may leave the others
 * next to nothing. With the setting mmc-spread = tau the share tau of the trace is spread evenly: Y = tau I/r +
 * (1-tau) Y', where tau = 1 is the inverse similar scatter itself. Ascent (on Y') and bound (lambda_max
 * becomes tau trace(G)/r + (1-tau) lambda_max) stay what they are. */
#include "baselines/pairs.h"

#include <stdlib.h>

/* Distances below this share of the mean are weighed as if they had it: s_t may be anything, and so the
 * bound stays true, while G stays finite. */
static const double NEAR = 1e-6;

typedef struct mmc {
    bdml_handle *h;
    bdml_pairset *set;
    bool diagonal;
    int r;
    double spread;      /* tau */
    double *y, *g;      /* Y' and G: r x r, or r when diagonal */
    double *even;       /* |w_t|^2 / r */
    double *half;       /* r x r: scratch */
    double *p, *s;      /* per dissimilar pair: distance, weight */
    double *eigenvalue; /* r */
    bdml_eigh_ws ws;
    double f, bound;
} mmc;

/* w_t' Y' w_t */
static void distances(const mmc *s, double *p)
{
    const bdml_pairset *set = s->set;
    const int64_t *pair = set->index + set->similar;
    if (s->diagonal)
        bdml_margin_forward_diag(set->op, s->y, set->dissimilar, pair, p);
    else
        bdml_margin_forward(set->op, s->y, set->dissimilar, pair, p);
}

static bdml_status start(bdml_handle *h, double spread, bdml_pairset *set, bool diagonal, mmc *s)
{
    bdml_status status = BDML_OK;
    *s = (mmc){
        .h = h, .set = set, .diagonal = diagonal, .r = set->r, .spread = spread, .bound = INFINITY};
    size_t r = (size_t)set->r, size = diagonal ? r : r * r;
    BDML_NEW(h, s->y, size);
    BDML_NEW(h, s->g, size);
    BDML_NEW(h, s->half, size);
    BDML_NEW(h, s->even, set->dissimilar);
    BDML_NEW(h, s->p, set->dissimilar);
    BDML_NEW(h, s->s, set->dissimilar);
    BDML_NEW(h, s->eigenvalue, r);
    if (!diagonal) BDML_GO(bdml_eigh_ws_init(h, set->r, &s->ws));
    for (size_t j = 0; j < r; j++) s->y[diagonal ? j : j * r + j] = 1.0 / (double)r;
    distances(s, s->even);
done:
    return status;
}

static void finish(mmc *s)
{
    free(s->y);
    free(s->g);
    free(s->half);
    free(s->even);
    free(s->p);
    free(s->s);
    free(s->eigenvalue);
    bdml_eigh_ws_free(&s->ws);
}

/* f and G at Y; the largest <G, Y> over all feasible Y into *largest, sum of 1/s_t into *sum. */
static bdml_status evaluate(mmc *s, double *largest, double *sum)
{
    const bdml_pairset *set = s->set;
    const int64_t *pair = set->index + set->similar;
    double trace = 0.0;
    distances(s, s->p);
    s->f = *sum = *largest = 0.0;
    for (int64_t t = 0; t < set->dissimilar; t++) {
        s->p[t] = s->spread * s->even[t] + (1.0 - s->spread) * BDML_MAX(s->p[t], 0.0);
        s->f += sqrt(s->p[t]);
    }
    double least = NEAR * s->f / (double)set->dissimilar;
    for (int64_t t = 0; t < set->dissimilar; t++) {
        double root = BDML_MAX(sqrt(s->p[t]), least);
        s->s[t] = 1.0 / root;
        *sum += root;
    }
    if (s->diagonal) {
        bdml_margin_adjoint_diag(set->op, s->s, set->dissimilar, pair, s->g);
        memcpy(s->eigenvalue, s->g, sizeof *s->g * (size_t)s->r);
    } else {
        bdml_margin_adjoint(set->op, s->s, set->dissimilar, pair, s->g);
        memcpy(s->half, s->g, sizeof *s->g * (size_t)s->r * (size_t)s->r);
        BDML_TRY(bdml_la_eigh(s->h, s->r, s->half, s->eigenvalue, false, &s->ws));
    }
    for (int j = 0; j < s->r; j++) {
        trace += s->eigenvalue[j];
        *largest = BDML_MAX(*largest, s->eigenvalue[j]);
    }
    *largest = s->spread * trace / s->r + (1.0 - s->spread) * *largest;
    return BDML_OK;
}

/* Y' <- G Y' G / trace. */
static void ascend(mmc *s)
{
    int r = s->r;
    double trace = 0.0;
    if (s->diagonal) {
        for (int j = 0; j < r; j++) trace += s->y[j] *= s->g[j] * s->g[j];
        for (int j = 0; j < r; j++) s->y[j] /= trace;
        return;
    }
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->g, r, s->y, r, 0.0, s->half, r);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->half, r, s->g, r, 0.0, s->y, r);
    for (int j = 0; j < r; j++) trace += COL(s->y, r, j)[j];
    for (size_t e = 0; e < (size_t)r * (size_t)r; e++) s->y[e] /= trace;
    bdml_la_mirror(r, s->y, r);
}

static bdml_status solve(mmc *s, const bdml_solve_options *o, const char *method,
                         bdml_solution *told)
{
    double gap = o->gap.value, largest, sum;
    for (int64_t k = 0;; k++) {
        BDML_TRY(evaluate(s, &largest, &sum));
        BDML_TRY(bdml_progress(s->h, method, k, 0));
        s->bound = BDML_MIN(s->bound, sqrt(largest * sum));
        told->iterations = k;
        told->gap = (s->bound - s->f) / s->f;
        told->done = told->gap <= gap;
        if (told->done || bdml_pairs_limit(s->h, o, k)) return BDML_OK;
        ascend(s);
    }
}

/* Y' becomes Y. */
static void add_spread(mmc *s)
{
    size_t r = (size_t)s->r, size = s->diagonal ? r : r * r;
    for (size_t e = 0; e < size; e++) s->y[e] *= 1.0 - s->spread;
    for (size_t j = 0; j < r; j++) s->y[s->diagonal ? j : j * r + j] += s->spread / (double)r;
}

/* In the user's units similar distances sum to 1, here they have the mean 1. */
static void tell(const mmc *s, bdml_solution *told)
{
    double unit = sqrt((double)s->set->similar);
    told->objective = s->f / unit;
    told->bound = s->bound / unit;
    told->similar = s->set->similar;
    told->dissimilar = s->set->dissimilar;
    told->rank = s->r;
    told->raised = s->set->raised;
}

/* ---- full -------------------------------------------------------------------------------------------- */

bdml_status bdml_fit_mmc(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                         bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    bdml_solution told = {0};
    mmc s = {0};

    BDML_GO(bdml_pairset_new(h, o, "mmc", t, true, &set));
    BDML_GO(bdml_pairset_whiten(h, &set));
    BDML_GO(start(h, o->methods.mmc_spread.value, &set, false, &s));
    BDML_GO(solve(&s, &o->solve, "mmc", &told));
    tell(&s, &told);
    add_spread(&s);
    for (size_t e = 0; e < (size_t)s.r * (size_t)s.r; e++) s.y[e] /= (double)set.similar;
    BDML_GO(bdml_pairset_finish(h, &set, s.y, model));
    status = bdml_solution_record(h, &told, json_object(), model);
done:
    finish(&s);
    bdml_pairset_free(&set);
    return status;
}

/* ---- diagonal ------------------------------------------------------------------------------------------ */

/* Each column to mean square 1 over the similar pairs; columns that never differ are left out. */
static bdml_status scale_columns(bdml_handle *h, bdml_pairset *set)
{
    bdml_status status = BDML_OK;
    int d = set->d, q = 0;
    double *near = NULL, *far = NULL, *w = NULL;

    BDML_NEW(h, near, d);
    BDML_NEW(h, far, d);
    BDML_NEW(h, w, (size_t)d * (size_t)d);
    bdml_margin_objective_diag(set->op, near);
    bdml_margin_adjoint_diag(set->op, set->share, set->dissimilar, set->index + set->similar, far);
    for (int j = 0; j < d; j++) {
        double both = near[j] + far[j];
        if (!(both > 0.0)) continue;
        set->raised += near[j] < BDML_SIMILAR_FLOOR * both;
        COL(w, d, q++)[j] = 1.0 / sqrt(BDML_MAX(near[j], BDML_SIMILAR_FLOOR * both));
    }
    status = bdml_pairset_transform(h, set, q, w);
done:
    free(near);
    free(far);
    free(w);
    return status;
}

/* L: the row of column k of B, times sqrt(y_k). */
static bdml_status set_diagonal(bdml_handle *h, const mmc *s, bdml_model *model)
{
    bdml_status status = BDML_OK;
    int d = s->set->d, rows = 0;
    double *l = NULL;

    BDML_NEW(h, l, (size_t)s->r * (size_t)d);
    for (int k = 0; k < s->r; k++) {
        if (!(s->y[k] > 0.0)) continue;
        double scale = sqrt(s->y[k] / (double)s->set->similar);
        for (int j = 0; j < d; j++) COL(l, d, rows)[j] = scale * COL(s->set->b, d, k)[j];
        rows++;
    }
    status = bdml_model_set_map(h, model, rows, l);
done:
    free(l);
    return status;
}

bdml_status bdml_fit_mmc_diagonal(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                                  bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    bdml_solution told = {0};
    mmc s = {0};

    BDML_GO(bdml_pairset_new(h, o, "mmc-diagonal", t, false, &set));
    BDML_GO(scale_columns(h, &set));
    BDML_GO(start(h, o->methods.mmc_spread.value, &set, true, &s));
    BDML_GO(solve(&s, &o->solve, "mmc-diagonal", &told));
    tell(&s, &told);
    add_spread(&s);
    BDML_GO(set_diagonal(h, &s, model));
    status = bdml_solution_record(h, &told, json_object(), model);
done:
    finish(&s);
    bdml_pairset_free(&set);
    return status;
}
