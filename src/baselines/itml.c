/* itml.c - information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon, ICML 2007):
 *
 *     min  D(M, M0) + gamma sum_t D(xi_t, xi0_t)     D(A, B) = tr(A B^-1) - log det(A B^-1) - size
 *     s.t. z_t' M z_t <= xi_t  (similar, delta_t = 1),   z_t' M z_t >= xi_t  (dissimilar, delta_t = -1)
 *
 * with z_t the difference of pair t, M0 = I (prior identity: of the prepared points; covariance: after
 * whitening by the scatter of all pairs), xi0 = u for similar and l for dissimilar pairs, given or percentiles
 * of the distances of the pairs under M0.
 *
 * The dual. M and xi follow from multipliers lambda >= 0 by M^-1 = I + sum_t delta_t lambda_t z_t z_t' and
 * 1/xi_t = 1/xi0_t - delta_t lambda_t / gamma, and
 *
 *     g(lambda) = log det(M^-1) + gamma sum_t log(1 - delta_t lambda_t xi0_t / gamma)
 *
 * is a lower bound. The Bregman projection of the source is the exact maximisation of g over one lambda_t,
 *
 *     lambda_t += max(-lambda_t, delta_t gamma / (gamma + 1) (1/xi_t - 1/p_t)),     p_t = z_t' M z_t,
 *
 * so it is coordinate ascent. Any M is feasible with xi_t = max(p_t, u) or min(p_t, l); its objective
 * is the upper end, and the sweeps stop when the bracket is narrow (setting gap), which is also when the
 * fixed-point conditions hold to that accuracy.
 *
 * Blocks. Projections onto the pairs of a block need M only through W = M Z and K = Z'MZ: rank-one steps
 * work on K, and M gets one product of rank "block". The steps are those of the one-by-one method; the
 * work is BLAS-3. After each sweep M is made anew from lambda, so rounding does not gather. */
#include "baselines/pairs.h"

#include <stdlib.h>

enum { STREAM_ORDER = 0x69746d6c }; /* purpose of random numbers: the order of the pairs */
enum { WIDE = 32, NARROW = 16 }; /* pairs per block: what a block costs beside BLAS grows with it */
enum { WIDE_FROM = 64 };         /* dimensions */
enum { PASSES = 2 };             /* over the pairs of a block while they are at hand */
enum { MOST_SWEEPS = 1000 };     /* the source's limit; large gamma converges slowly */

typedef struct itml {
    bdml_handle *h;
    bdml_pairset *set;
    int r, block;
    int64_t m;
    double gamma;
    double *xi0;           /* per pair; 0: a pair of identical points, which is left out */
    double *lambda;        /* multipliers */
    double *p;             /* distances of the pairs */
    double *sum;           /* delta lambda */
    double *metric;        /* r x r */
    double *z, *w, *wc;    /* r x block: differences, W, W C */
    double *k, *c, *v, *u; /* block x block: K, C, V (below); block */
    int64_t *order;
    double primal, dual;
} itml;

static double delta(const itml *s, int64_t t)
{
    return t < s->set->similar ? 1.0 : -1.0;
}

/* ---- start -------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* u and l: as they are given, else the percentiles of the positive distances. */
static bdml_status set_bounds(itml *s, const bdml_options *o)
{
    const bdml_real *near = &o->methods.itml_near, *far = &o->methods.itml_far;
    double percent = o->methods.itml_percentile.value / 100.0;
    int64_t zero = 0;
    bdml_margin_forward(s->set->op, s->metric, -1, NULL, s->p);
    memcpy(s->sum, s->p, sizeof *s->p * (size_t)s->m);
    qsort(s->sum, (size_t)s->m, sizeof *s->sum, ascending);
    double tiny = 1e-24 * s->sum[s->m - 1];
    while (zero < s->m && s->sum[zero] <= tiny) zero++;
    if (zero == s->m)
        return bdml_fail(s->h, BDML_ERR_DATA, "itml: the points of every pair are identical");
    double last = (double)(s->m - zero - 1);
    double u = near->automatic ? s->sum[zero + (int64_t)(percent * last)] : near->value;
    double l = far->automatic ? s->sum[zero + (int64_t)((1.0 - percent) * last)] : far->value;
    for (int64_t t = 0; t < s->m; t++)
        s->xi0[t] = s->p[t] <= tiny ? 0.0 : t < s->set->similar ? u : l;
    return BDML_OK;
}

static bdml_status start(bdml_handle *h, const bdml_options *o, bdml_pairset *set, double gamma,
                         itml *s)
{
    bdml_status status = BDML_OK;
    *s = (itml){.h = h, .set = set, .r = set->r, .m = set->similar + set->dissimilar};
    s->gamma = gamma;
    s->block = s->r >= WIDE_FROM ? WIDE : NARROW;
    size_t r = (size_t)s->r, block = (size_t)s->block;
    BDML_NEW(h, s->xi0, s->m);
    BDML_NEW(h, s->lambda, s->m);
    BDML_NEW(h, s->p, s->m);
    BDML_NEW(h, s->sum, s->m);
    BDML_NEW(h, s->order, s->m);
    BDML_NEW(h, s->metric, r * r);
    BDML_NEW(h, s->z, r * block);
    BDML_NEW(h, s->w, r * block);
    BDML_NEW(h, s->wc, r * block);
    BDML_NEW(h, s->k, block * block);
    BDML_NEW(h, s->c, block * block);
    BDML_NEW(h, s->v, block * block);
    BDML_NEW(h, s->u, 2 * block);
    for (size_t j = 0; j < r; j++) s->metric[j * r + j] = 1.0;
    for (int64_t t = 0; t < s->m; t++) s->order[t] = t;
    status = set_bounds(s, o);
done:
    return status;
}

static void finish(itml *s)
{
    free(s->xi0);
    free(s->lambda);
    free(s->p);
    free(s->sum);
    free(s->order);
    free(s->metric);
    free(s->z);
    free(s->w);
    free(s->wc);
    free(s->k);
    free(s->c);
    free(s->v);
    free(s->u);
}

/* ---- a block -------------------------------------------------------------------------------------------- */

/* While a block is at hand M_now = M - W C W', M_now Z = W V and K = Z' M_now Z. */

/* A (count x count, leading dimension b) -= x y' */
static void subtract_outer(int b, int count, const double *x, const double *y, double *a)
{
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++) COL(a, b, j)[i] -= x[i] * y[j];
}

/* Project onto pair t at place a of the block. */
static void project_pair(itml *s, int64_t t, int a, int count)
{
    int b = s->block;
    double *x = s->u, *y = s->u + b, p = COL(s->k, b, a)[a], sign = delta(s, t);
    if (!(p > 0.0) || s->xi0[t] == 0.0) return;
    double inverse_xi = 1.0 / s->xi0[t] - sign * s->lambda[t] / s->gamma;
    double change = sign * s->gamma / (s->gamma + 1.0) * (inverse_xi - 1.0 / p);
    change = BDML_MAX(change, -s->lambda[t]);
    if (change == 0.0) return;
    s->lambda[t] += change;
    /* M_now -= factor (M_now z)(M_now z)' */
    double factor = sign * change / (1.0 + sign * change * p);
    for (int i = 0; i < count; i++) x[i] = COL(s->v, b, a)[i];
    for (int i = 0; i < count; i++) y[i] = -factor * x[i];
    subtract_outer(b, count, x, y, s->c);
    for (int i = 0; i < count; i++) y[i] = factor * COL(s->k, b, a)[i];
    subtract_outer(b, count, x, y, s->v);
    for (int i = 0; i < count; i++) x[i] = COL(s->k, b, a)[i];
    subtract_outer(b, count, x, y, s->k);
}

static void project_block(itml *s, int count, const int64_t *pair)
{
    int r = s->r, b = s->block;
    for (int a = 0; a < count; a++) bdml_margin_difference(s->set->op, pair[a], COL(s->z, r, a));
    bdml_la_gemm('N', 'N', r, count, r, 1.0, s->metric, r, s->z, r, 0.0, s->w, r);
    bdml_la_gemm('T', 'N', count, count, r, 1.0, s->z, r, s->w, r, 0.0, s->k, b);
    memset(s->c, 0, sizeof *s->c * (size_t)b * (size_t)b);
    memset(s->v, 0, sizeof *s->v * (size_t)b * (size_t)b);
    for (int a = 0; a < count; a++) COL(s->v, b, a)[a] = 1.0;
    for (int pass = 0; pass < PASSES; pass++)
        for (int a = 0; a < count; a++) project_pair(s, pair[a], a, count);
    bdml_la_gemm('N', 'N', r, count, count, 1.0, s->w, r, s->c, b, 0.0, s->wc, r);
    bdml_la_gemm('N', 'T', r, r, count, -1.0, s->wc, r, s->w, r, 1.0, s->metric, r);
    bdml_la_mirror(r, s->metric, r);
}

static void sweep(itml *s, bdml_rng *rng)
{
    bdml_rng_shuffle(rng, s->m, s->order);
    for (int64_t k = 0; k < s->m; k += s->block)
        project_block(s, (int)BDML_MIN((int64_t)s->block, s->m - k), s->order + k);
}

/* ---- the bracket ------------------------------------------------------------------------------------------ */

/* M from lambda, and both ends of the bracket at them. */
static bdml_status bracket(itml *s)
{
    int r = s->r;
    double log_det, trace = 0.0, slack = 0.0;
    for (int64_t t = 0; t < s->m; t++) s->sum[t] = delta(s, t) * s->lambda[t];
    bdml_margin_adjoint(s->set->op, s->sum, -1, NULL, s->metric);
    for (int j = 0; j < r; j++) COL(s->metric, r, j)[j] += 1.0;
    if (!bdml_la_invert_spd(r, s->metric, &log_det))
        return bdml_fail(s->h, BDML_ERR_LAPACK,
                         "itml: rounding has made the metric indefinite; use a smaller itml-gamma");
    bdml_margin_forward(s->set->op, s->metric, -1, NULL, s->p);
    s->dual = log_det;
    for (int64_t t = 0; t < s->m; t++) {
        if (s->xi0[t] == 0.0) continue;
        double ratio = s->p[t] / s->xi0[t], sign = delta(s, t);
        if (sign * (ratio - 1.0) > 0.0) slack += ratio - log(ratio) - 1.0;
        s->dual += s->gamma * log1p(-sign * s->lambda[t] * s->xi0[t] / s->gamma);
    }
    for (int j = 0; j < r; j++) trace += COL(s->metric, r, j)[j];
    s->primal = trace + log_det - r + s->gamma * slack;
    return BDML_OK;
}

static bdml_status solve(itml *s, const bdml_options *o, bdml_solution *told)
{
    double gap = o->solve.gap.value;
    bdml_rng rng = bdml_rng_make((uint64_t)o->general.seed.value, STREAM_ORDER);
    for (int64_t sweeps = 0;; sweeps++) {
        BDML_TRY(bracket(s));
        BDML_TRY(bdml_progress(s->h, "itml", sweeps, 0));
        *told = (bdml_solution){.objective = s->primal,
                                .bound = s->dual,
                                .gap = (s->primal - s->dual) / BDML_MAX(s->primal, 1e-300),
                                .iterations = sweeps,
                                .similar = s->set->similar,
                                .dissimilar = s->set->dissimilar,
                                .rank = s->r};
        /* all bounds met by M0 itself: both ends are 0 but for rounding */
        told->done = told->gap <= gap || s->primal <= 1e-12 * (double)s->m;
        if (told->done || sweeps == MOST_SWEEPS || bdml_pairs_limit(s->h, &o->solve, sweeps))
            return BDML_OK;
        sweep(s, &rng);
    }
}

/* ---- the method ------------------------------------------------------------------------------------------- */

/* Prior identity: outside the span of the pairs M stays I. */
static bdml_status make_map(bdml_handle *h, bdml_prior prior, const itml *s, int *q, double **out)
{
    bdml_status status = BDML_OK;
    int d = s->set->d, r = s->r;
    double *m = NULL, *half = NULL, kappa;

    if (prior != BDML_PRIOR_IDENTITY || r == d)
        return bdml_pairset_map(h, s->set, s->metric, q, out);
    BDML_NEW(h, m, (size_t)d * (size_t)d);
    BDML_NEW(h, half, (size_t)d * (size_t)r);
    for (int j = 0; j < r; j++) COL(s->metric, r, j)[j] -= 1.0;
    bdml_la_gemm('N', 'N', d, r, r, 1.0, s->set->b, d, s->metric, r, 0.0, half, d);
    bdml_la_gemm('N', 'T', d, d, r, 1.0, half, d, s->set->b, d, 0.0, m, d);
    for (int j = 0; j < d; j++) COL(m, d, j)[j] += 1.0;
    bdml_la_mirror(d, m, d);
    status = bdml_metric_factor(h, d, m, q, out, &kappa);
done:
    free(m);
    free(half);
    return status;
}

bdml_status bdml_itml_map(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          double gamma, int *q, double **l, bdml_solution *told)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    itml s = {0};

    BDML_GO(bdml_pairset_new(h, o, "itml", t, true, &set));
    if (o->methods.prior.value == BDML_PRIOR_COVARIANCE) BDML_GO(bdml_pairset_whiten_all(h, &set));
    BDML_GO(start(h, o, &set, gamma, &s));
    BDML_GO(solve(&s, o, told));
    status = make_map(h, (bdml_prior)o->methods.prior.value, &s, q, l);
done:
    finish(&s);
    bdml_pairset_free(&set);
    return status;
}

bdml_status bdml_fit_itml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_solution told = {0};
    double gamma = o->methods.itml_gamma.value, *l = NULL;
    int q = 0;

    if (gamma == 0.0) BDML_GO(bdml_itml_choose(h, o, t, &gamma));
    BDML_GO(bdml_itml_map(h, o, t, gamma, &q, &l, &told));
    BDML_GO(bdml_model_set_map(h, model, q, l));
    json_t *more = json_pack("{s:f}", "gamma", gamma);
    status = bdml_solution_record(h, &told, more, model);
done:
    free(l);
    return status;
}
