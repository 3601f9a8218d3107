/* lsml.c - least squared-residual metric learning (Liu, Guo, Zhou, Wang 2012), from quadruplets that say of two
 * pairs of points which one is nearer:
 *
 *     min over M > 0 of  F(M) = D(M, M0) + sum_t w_t [sqrt(p_t) - sqrt(q_t)]_+^2,     sum_t w_t = 1,
 *
 * p_t = z'Mz of the pair that shall be near and q_t of the one that shall be far; D(M, M0) = tr(M K) - log det(M K) - r with
 * K = M0^-1 is the LogDet divergence from a prior (setting prior: identity, or covariance by working in the span
 * of the data, where that is the identity).
 *
 * It is convex: a term is q phi(p/q), the perspective of phi(x) = [sqrt(x) - 1]_+^2. So it is the largest of u p + v q over
 * a convex set that holds 0, taken where, with s = sqrt(p/q) > 1,
 *
 *     u = 1 - 1/s,    v = 1 - s        (0 and 0 for s <= 1),
 *
 * and A = sum_t w_t (u_t X_near + v_t X_far) makes the gradient K + A - M^-1. Any such u and v, times any tau in [0,1], bound
 * the optimum from below by  min_M tr(M (K + tau A)) - log det(M K) - r = log det(I + tau K^-1 A).
 *
 * Solver: L-BFGS over the square B in M = B B', which has no stationary point of full rank but the optimum, in
 * coordinates in which K plus the pull of the missed near pairs under M0 is the identity. It is run to ever smaller
 * gradients until the bracket is narrow (setting gap). */
#include "baselines/lbfgs.h"
#include "baselines/pairs.h"

#include <stdlib.h>

enum { STREAM_ORDER = 0x6c736d6c }; /* purpose of random numbers: which pairs are compared */
/* Gradients that L-BFGS is run to, each this much below the one before, until the bracket is narrow. */
static const double FIRST_GRADIENT = 1e-3, LAST_GRADIENT = 1e-13, NEXT_GRADIENT = 0.1;
static const double ROUNDING = 1e-12; /* an objective below this for each dimension is 0 */

typedef struct lsml {
    bdml_handle *h;
    int r;
    const bdml_constraints *c; /* quadruplets: near and far are numbers of pairs */
    bdml_constraints each;     /* the same pairs, every one a constraint of its own */
    bdml_margin *op;
    double *weight;                  /* of each quadruplet; they add up to 1 */
    double *k;                       /* diagonal of K */
    double *distance, *pull;         /* of each pair: z'Mz, and its weight in A */
    double *m, *a, *inverse, *gauge; /* r x r: M, A, M^-1 or scratch; r */
    double *w;                       /* r x r: coordinates W'x */
    bdml_eigh_ws eigen;
} lsml;

static void free_lsml(lsml *s)
{
    bdml_margin_free(s->op);
    free(s->each.far);
    free(s->each.near);
    free(s->weight);
    free(s->k);
    free(s->distance);
    free(s->pull);
    free(s->m);
    free(s->a);
    free(s->inverse);
    free(s->gauge);
    free(s->w);
    bdml_eigh_ws_free(&s->eigen);
}

/* ---- quadruplets --------------------------------------------------------------------------------------- */

/* A similar and a dissimilar pair each, both drawn from the classes, matched at random. */
static bdml_status draw(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                        bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_lists lists = {0};
    int64_t *order = NULL;
    int32_t *rows = NULL;
    bdml_rng rng = bdml_rng_make((uint64_t)o->general.seed.value, STREAM_ORDER);

    BDML_GO(bdml_need_classes(h, t, "lsml"));
    BDML_GO(bdml_pairs_choose(h, o, "lsml", t, &lists));
    int64_t m = BDML_MIN(lists.target.count, lists.impostor.count);
    const bdml_pairs *more =
        lists.target.count > lists.impostor.count ? &lists.target : &lists.impostor;
    BDML_NEW(h, order, more->count);
    BDML_NEW(h, rows, 4 * m);
    for (int64_t k = 0; k < more->count; k++) order[k] = k;
    bdml_rng_shuffle(&rng, more->count, order);
    for (int64_t k = 0; k < m; k++) {
        int64_t near = more == &lists.target ? order[k] : k;
        int64_t far = more == &lists.impostor ? order[k] : k;
        memcpy(rows + 4 * k, lists.target.row + 2 * near, sizeof *rows * 2);
        memcpy(rows + 4 * k + 2, lists.impostor.row + 2 * far, sizeof *rows * 2);
    }
    status = bdml_quadruplets_build(h, t->n, m, rows, out);
done:
    bdml_lists_free(&lists);
    free(order);
    free(rows);
    return status;
}

/* *own: to be freed, where they were not given. */
static bdml_status choose(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          const bdml_constraints **c, bdml_constraints **own)
{
    *own = NULL;
    if (!t->constraints && bdml_constraint_files_given(&o->constraints)) {
        bdml_constraint_options files = o->constraints;
        files.kind.value = BDML_KIND_TRIPLET;
        BDML_TRY(bdml_constraint_files_read(h, &files, t->n, own));
    } else if (!t->constraints) {
        BDML_TRY(draw(h, o, t, own));
    }
    *c = t->constraints ? t->constraints : *own;
    if ((*c)->n != t->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld",
                         (long long)(*c)->n, (long long)t->n);
    for (int64_t k = 0; k < (*c)->m; k++)
        if ((*c)->near[k] < 0)
            return bdml_fail(h, BDML_ERR_DATA,
                             "lsml learns from quadruplets or triplets, and constraint %lld is a "
                             "pair; give quadruplets-file or triplets-file",
                             (long long)k);
    if ((*c)->m == 0) return bdml_fail(h, BDML_ERR_DATA, "lsml needs quadruplets, there are none");
    return BDML_OK;
}

/* ---- objective ------------------------------------------------------------------------------------------ */

/* The sum of the losses at s->distance, and the weight of each pair in A. Where the far pair is no
 * distance at all the term is p, whose slope is 1. */
static double losses(lsml *s)
{
    double sum = 0.0;
    memset(s->pull, 0, sizeof *s->pull * (size_t)s->c->pairs);
    for (int64_t t = 0; t < s->c->m; t++) {
        double p = s->distance[s->c->near[t]], q = s->distance[s->c->far[t]];
        if (!(p > q)) continue;
        double ratio = q > 0.0 ? sqrt(p / q) : INFINITY, miss = sqrt(p) - sqrt(BDML_MAX(q, 0.0));
        sum += s->weight[t] * miss * miss;
        s->pull[s->c->near[t]] += s->weight[t] * (1.0 - 1.0 / ratio);
        if (isfinite(ratio)) s->pull[s->c->far[t]] += s->weight[t] * (1.0 - ratio);
    }
    return sum;
}

/* F and its gradient 2 (K + A - M^-1) B at M = B B'. */
static bdml_status objective(void *user, const double *b, double *f, double *gradient)
{
    lsml *s = user;
    int r = s->r;
    size_t size = (size_t)r * (size_t)r;
    double log_det;

    bdml_la_syrk('N', r, r, 1.0, b, r, 0.0, s->m, r);
    bdml_la_mirror(r, s->m, r);
    memcpy(s->inverse, s->m, sizeof *s->m * size);
    if (!bdml_la_invert_spd(r, s->inverse, &log_det)) {
        *f = INFINITY; /* the line search takes a shorter step */
        return BDML_OK;
    }
    bdml_margin_forward(s->op, s->m, -1, NULL, s->distance);
    *f = losses(s) - log_det - r;
    for (int j = 0; j < r; j++) *f += s->k[j] * COL(s->m, r, j)[j] - log(s->k[j]);
    bdml_margin_adjoint(s->op, s->pull, -1, NULL, s->a);
    for (size_t e = 0; e < size; e++) s->inverse[e] = s->a[e] - s->inverse[e];
    for (int j = 0; j < r; j++) COL(s->inverse, r, j)[j] += s->k[j];
    bdml_la_gemm('N', 'N', r, r, r, 2.0, s->inverse, r, b, r, 0.0, gradient, r);
    return BDML_OK;
}

/* The largest log det(I + tau K^-1 A) over tau in [0,1], by bisection on its falling slope. */
static bdml_status lower_bound(lsml *s, double *bound)
{
    int r = s->r;
    double lo = 0.0, hi = 1.0;
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++)
            COL(s->inverse, r, j)[i] = COL(s->a, r, j)[i] / sqrt(s->k[i] * s->k[j]);
    BDML_TRY(bdml_la_eigh(s->h, r, s->inverse, s->gauge, false, &s->eigen));
    if (s->gauge[0] < 0.0) hi = BDML_MIN(1.0, -1.0 / s->gauge[0]);
    for (int step = 0; step < 60; step++) {
        double tau = step == 0 && hi == 1.0 ? 1.0 : 0.5 * (lo + hi), slope = 0.0;
        for (int j = 0; j < r; j++) slope += s->gauge[j] / (1.0 + tau * s->gauge[j]);
        if (slope >= 0.0)
            lo = tau;
        else
            hi = tau;
        if (lo == 1.0) break;
    }
    *bound = 0.0;
    for (int j = 0; j < r; j++) *bound += log1p(lo * s->gauge[j]);
    return BDML_OK;
}

/* ---- coordinates ------------------------------------------------------------------------------------------ */

static bdml_status init(lsml *s)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t size = (size_t)s->r * (size_t)s->r;
    double sum = 0.0;

    s->each = *s->c;
    s->each.m = s->c->pairs;
    s->each.targets = 0;
    s->each.far = s->each.near = NULL;
    BDML_NEW(h, s->each.far, s->each.m);
    BDML_NEW(h, s->each.near, s->each.m);
    BDML_NEW(h, s->weight, s->c->m);
    BDML_NEW(h, s->k, s->r);
    BDML_NEW(h, s->distance, s->each.m);
    BDML_NEW(h, s->pull, s->each.m);
    BDML_NEW(h, s->m, size);
    BDML_NEW(h, s->a, size);
    BDML_NEW(h, s->inverse, size);
    BDML_NEW(h, s->gauge, s->r);
    BDML_NEW(h, s->w, size);
    BDML_GO(bdml_eigh_ws_init(h, s->r, &s->eigen));
    for (int64_t p = 0; p < s->each.m; p++) {
        s->each.far[p] = (int32_t)p;
        s->each.near[p] = -1;
    }
    for (int64_t t = 0; t < s->c->m; t++) sum += s->c->weight ? s->c->weight[t] : 1.0;
    for (int64_t t = 0; t < s->c->m; t++)
        s->weight[t] = (s->c->weight ? s->c->weight[t] : 1.0) / sum;
done:
    return status;
}

/* W with W'(I + P)W = I, P the pull of the near pairs that are missed under M0 = I, and the operator on W'x. x: n rows of r. */
static bdml_status to_coordinates(lsml *s, int64_t n, const double *x)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    int r = s->r;
    double *z = NULL, *ws = NULL, largest = 0.0;

    for (int j = 0; j < r; j++) COL(s->m, r, j)[j] = 1.0;
    BDML_GO(bdml_margin_new(h, n, r, x, r, &s->each, &s->op));
    bdml_margin_forward(s->op, s->m, -1, NULL, s->distance);
    for (int64_t p = 0; p < s->each.m; p++) largest = BDML_MAX(largest, s->distance[p]);
    if (!(largest > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA, "lsml: the points of every pair are identical");
        goto done;
    }
    losses(s);
    for (int64_t p = 0; p < s->each.m; p++) s->pull[p] = BDML_MAX(s->pull[p], 0.0);
    bdml_margin_adjoint(s->op, s->pull, -1, NULL, s->a);
    BDML_GO(bdml_simultaneous(h, r, s->m, s->a, s->w, s->gauge));
    for (int j = 0; j < r; j++) s->k[j] = bdml_la_dot(r, COL(s->w, r, j), COL(s->w, r, j));
    BDML_NEW(h, z, (size_t)n * (size_t)r);
    BDML_NEW(h, ws, bdml_la_map_size(r, r));
    bdml_la_map_rows(h, r, r, s->w, n, x, r, z, ws);
    bdml_margin_free(s->op);
    s->op = NULL;
    status = bdml_margin_new(h, n, r, z, r, &s->each, &s->op);
done:
    free(z);
    free(ws);
    return status;
}

/* ---- the method ------------------------------------------------------------------------------------------- */

/* b = sqrt(best) I, best the multiple of I at which F is least: tr(K) + loss is its slope but for -r / best. */
static void start(lsml *s, double *b)
{
    int r = s->r;
    double slope = 0.0;
    memset(s->m, 0, sizeof *s->m * (size_t)r * (size_t)r);
    for (int j = 0; j < r; j++) COL(s->m, r, j)[j] = 1.0;
    bdml_margin_forward(s->op, s->m, -1, NULL, s->distance);
    slope = losses(s);
    for (int j = 0; j < r; j++) slope += s->k[j];
    for (int j = 0; j < r; j++) COL(b, r, j)[j] = sqrt(r / slope);
}

static bdml_status solve(lsml *s, const bdml_solve_options *o, double *b, double *scratch,
                         bdml_stopping *stop)
{
    double bound, best = 0.0;
    bdml_lbfgs_settings how = bdml_lbfgs_defaults();
    bdml_lbfgs_result result;

    how.what = "lsml";
    how.f_floor = ROUNDING * s->r;
    how.gradient = FIRST_GRADIENT;
    for (;;) {
        how.max_iter = o->max_iter.value - stop->iterations;
        BDML_TRY(bdml_lbfgs(s->h, s->r * s->r, b, objective, s, &how, &result));
        BDML_TRY(objective(s, b, &stop->objective, scratch));
        BDML_TRY(lower_bound(s, &bound));
        best = BDML_MAX(best, bound);
        stop->iterations += result.iterations;
        stop->reached =
            stop->objective <= ROUNDING * s->r ? 0.0 : BDML_MAX(1.0 - best / stop->objective, 0.0);
        if (stop->reached <= stop->wanted || how.gradient <= LAST_GRADIENT) return BDML_OK;
        if (bdml_pairs_limit(s->h, o, stop->iterations)) return BDML_OK;
        how.gradient *= NEXT_GRADIENT;
    }
}

/* L = B'W', r rows. */
static bdml_status set_map(lsml *s, const bdml_span *span, const double *b, bdml_model *model)
{
    int r = s->r;
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->w, r, b, r, 0.0, s->m, r);
    return span ? bdml_span_set_map(s->h, span, r, s->m, model)
                : bdml_model_set_map(s->h, model, r, s->m);
}

bdml_status bdml_fit_lsml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_constraints *own = NULL;
    bdml_span span = {0};
    bdml_stopping stop = {.rule = "certified gap", .wanted = o->solve.gap.value};
    bool whiten = o->methods.prior.value == BDML_PRIOR_COVARIANCE;
    lsml s = {.h = h, .r = t->d};
    double *b = NULL, *scratch = NULL;

    BDML_GO(choose(h, o, t, &s.c, &own));
    if (whiten) {
        BDML_GO(bdml_span_make(h, t, &span));
        s.r = span.r;
    }
    BDML_GO(init(&s));
    BDML_GO(to_coordinates(&s, t->n, whiten ? span.z : t->x));
    BDML_NEW(h, b, (size_t)s.r * (size_t)s.r);
    BDML_NEW(h, scratch, (size_t)s.r * (size_t)s.r);
    start(&s, b);
    BDML_GO(solve(&s, &o->solve, b, scratch, &stop));
    BDML_GO(set_map(&s, whiten ? &span : NULL, b, model));
    BDML_GO(bdml_model_tell(h, model, "quadruplets", json_integer(s.c->m)));
    status = bdml_record_stopping(h, model, &stop);
done:
    free_lsml(&s);
    bdml_span_free(&span);
    bdml_free_constraints(own);
    free(b);
    free(scratch);
    return status;
}
