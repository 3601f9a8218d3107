/* certificate.c - the two ends of the bracket.
 *
 * Upper: an M that is in the set and meets every margin (hard), or any M in the set (soft).
 * Lower: for any y >= 0 (y <= u for the hinge) and any t >= 0 (eq. 18)
 *
 *     LB(t y) = t b'y - t^2 sum q y^2/2 + min over the set, trace <= R' of <G - t A*y, M>
 *
 * with R' = min(R, upper/gamma): no better M has a larger trace (eq. 14). rho(t), the least <G -
 * t A*y, M> per unit of trace, is concave in t with rho(0) = gamma > 0; the bound is best near
 * its root, and a chord of a concave function finds a t before the root without another
 * eigenproblem. */
#include "solver/engine.h"

/* Rounding of the matrix G - A*y and of its eigenvalues, in units of eps times the sizes that enter its
 * sums: r for the eigenproblem, the constant for the blocked sums that build it. */
static const double ROUNDING = 64.0;
static const double EPS = 2.220446049250313e-16;

double bdml_bounds_gap(const bdml_bounds *b)
{
    if (!isfinite(b->upper) || !isfinite(b->lower)) return INFINITY;
    double size = BDML_MAX(fabs(b->upper), 1e-300);
    return BDML_MAX(b->upper - b->lower, 0.0) / size;
}

double bdml_rounding(int r)
{
    return EPS * (r + ROUNDING);
}

double bdml_dual_error(const bdml_scaled *scaled, int r, const double *y)
{
    const bdml_terms *terms = &scaled->terms;
    double sum =
        y ? bdml_cvec_dot(&terms->space, scaled->g_rough, terms->rough, y) : scaled->g_rough;
    return bdml_rounding(r) * sum;
}

/* ---- upper ---------------------------------------------------------------------------------- */

/* t M, or (1 - theta) M + theta I for theta > 0, if this upper end is the best so far. */
static void keep(bdml_bounds *bounds, size_t size, const double *M, double upper, double t,
                 double theta)
{
    if (!(upper < bounds->upper)) return;
    bounds->upper = upper;
    bounds->have_best = true;
    for (size_t i = 0; i < size; i++) bounds->best[i] = t * M[i];
    if (theta > 0.0)
        for (size_t i = 0; i < size; i++)
            bounds->best[i] = (1.0 - theta) * M[i] + theta * bounds->interior[i];
}

/* Remember the point with the most slack, at its largest allowed scale t. */
static void remember_interior(bdml_engine *e, double t, double f)
{
    const bdml_terms *terms = &e->scaled.terms;
    bdml_bounds *bounds = &e->bounds;
    double slack = bdml_terms_least_slack(terms, t, e->dual.v);
    if (!(slack > bounds->interior_slack)) return;
    bounds->interior_slack = slack;
    bounds->interior_f = t * f;
    for (size_t i = 0; i < e->X.size; i++) bounds->interior[i] = t * e->at.M[i];
    bdml_cvec_scale(&terms->space, t, e->dual.v, bounds->interior_v);
}

bdml_status bdml_certify_upper(bdml_engine *e)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_spectral *set = &e->scaled.set;
    const double *v = e->dual.v, *M = e->at.M;
    bdml_bounds *bounds = &e->bounds;
    size_t size = e->X.size;
    double f = bdml_vec_dot(size, e->scaled.g, M), top = 0.0;
    for (int i = 0; i < e->X.r; i++) top = BDML_MAX(top, fabs(e->X.l[i]));
    double rounding = bdml_rounding(e->X.r) * top; /* of <A_t,M>, per size of what is summed */
    f += e->X.ops->turns ? rounding * e->scaled.g_rough : 0.0; /* M may shun G */
    if (!e->s->hard) {
        keep(bounds, size, M, f + bdml_terms_loss(terms, v), 1.0, 0.0);
        return BDML_OK;
    }
    double t = bdml_terms_scale(terms, v, rounding), limit = bdml_spectral_max_scale(set, e->X.l);
    bounds->scalable = set->ops->is_cone && t <= limit;
    if (bounds->scalable) keep(bounds, size, M, t * f, t, 0.0);
    if (t <= 1.0) /* better where f < 0, and where scaling is not allowed */
        keep(bounds, size, M, f, 1.0, 0.0);
    if (bounds->scalable && e->dual.aim == 1.0) return BDML_OK;
    if (isfinite(limit))
        remember_interior(e, limit, f); /* limit is 1 where scaling is not allowed */
    if (bounds->interior_slack > 0.0) {
        double theta = bdml_terms_share(terms, v, bounds->interior_v, rounding);
        double blend = (1.0 - theta) * f + theta * bounds->interior_f;
        if (theta <= 1.0) keep(bounds, size, M, blend, 1.0, theta);
    }
    return BDML_OK;
}

/* ---- lower ---------------------------------------------------------------------------------- */

typedef struct dual {
    const double *y;
    double linear, quadratic; /* b'y, sum q y^2/2 */
    double most;              /* t at most: y t <= u */
    double error;             /* of rho(t) */
} dual;

static void improve(bdml_engine *e, const dual *D, double t, double least)
{
    const bdml_cspace *space = &e->scaled.terms.space;
    double sum = fabs(t * D->linear) + t * t * D->quadratic;
    double bound = t * D->linear - t * t * D->quadratic + least - EPS * 0.25 * space->total * sum;
    if (!(bound > e->bounds.lower)) return;
    e->bounds.lower = bound;
    bdml_cvec_scale(space, t, D->y, e->bounds.best_y);
}

/* rho(t), lowered by its error; S = G - A*y is kept. */
static bdml_status density_at(bdml_engine *e, const dual *D, double t, double *rho)
{
    const bdml_spectral *set = &e->scaled.set;
    bdml_iterate *at = &e->at;
    for (size_t i = 0; i < e->X.size; i++) at->T[i] = (1.0 - t) * e->scaled.g[i] + t * at->S[i];
    BDML_TRY(e->X.ops->eigenvalues(&e->X, at->T, e->X.lambda));
    *rho = set->ops->density(set, e->X.lambda) - BDML_MAX(t, 1.0) * D->error;
    return BDML_OK;
}

/* The bound at t, given rho there; without a finite trace it needs rho >= 0. The eigenvalues of a matrix are off by a
 * share of the largest, the entries of a diagonal one by a share of themselves. */
static void try_t(bdml_engine *e, const dual *D, double t, double rho)
{
    double R = e->scaled.set.trace;
    double gamma = e->scaled.gamma;
    if (e->X.ops->turns) gamma -= bdml_dual_error(&e->scaled, e->X.r, NULL);
    if (gamma > 0.0) R = BDML_MIN(R, e->bounds.upper / gamma);
    if (t > D->most || t < 0.0) return;
    if (rho >= 0.0)
        improve(e, D, t, 0.0);
    else if (isfinite(R))
        improve(e, D, t, R * rho);
}

/* Root of the chord through two points of rho; rho is not below the chord between them. */
static double chord_root(double t0, double rho0, double t1, double rho1)
{
    return rho0 == rho1 ? t0 : t0 + (t1 - t0) * rho0 / (rho0 - rho1);
}

static bdml_status search_t(bdml_engine *e, const dual *D)
{
    enum { REFINEMENTS = 3 };
    double inside = 0.0, rho_in = e->scaled.gamma - D->error, outside = 1.0, rho_out;
    BDML_TRY(density_at(e, D, 1.0, &rho_out));
    try_t(e, D, 1.0, rho_out);
    if (rho_in <= 0.0) return BDML_OK; /* G is not positive on the cone: no chord to go by */
    if (rho_out >= 0.0) {              /* the root lies beyond 1: the chord from 0 overshoots it */
        double t = chord_root(inside, rho_in, 1.0, rho_out);
        if (!(t > 1.0)) t = 2.0;
        t = BDML_MIN(t, BDML_MIN(2.0, D->most));
        if (D->quadratic > 0.0) t = BDML_MIN(t, 0.5 * D->linear / D->quadratic);
        if (!(t > 1.0)) return BDML_OK;
        inside = 1.0, rho_in = rho_out, outside = t;
        BDML_TRY(density_at(e, D, outside, &rho_out));
        try_t(e, D, outside, rho_out);
        if (rho_out >= 0.0) return BDML_OK;
    }
    for (int k = 0;; k++) {
        double t = chord_root(inside, rho_in, outside, rho_out);
        try_t(e, D, t, 0.0);
        /* a better t can gain no more than this */
        double gain = (outside - t) * D->linear;
        if (k == REFINEMENTS || gain <= 0.1 * e->s->gap * fabs(e->bounds.upper)) return BDML_OK;
        inside = t;
        BDML_TRY(density_at(e, D, inside, &rho_in));
        if (rho_in < 0.0) return BDML_OK; /* rounding */
    }
}

bdml_status bdml_certify_lower(bdml_engine *e, const double *y)
{
    const bdml_terms *terms = &e->scaled.terms;
    const bdml_spectral *set = &e->scaled.set;
    dual D = {.y = y,
              .linear = bdml_terms_linear(terms, y),
              .quadratic = bdml_terms_quadratic(terms, y),
              /* y itself is within its bound; u/y may round below 1 */
              .most = BDML_MAX(bdml_terms_reach(terms, y), 1.0),
              .error = bdml_dual_error(&e->scaled, e->X.r, y)};
    double rho;
    bdml_engine_adjoint(e, e->scaled.g, y, e->at.S);
    if (set->ops->is_cone) return search_t(e, &D);
    BDML_TRY(density_at(e, &D, 1.0, &rho)); /* fixed trace: every member has it */
    improve(e, &D, 1.0, set->trace * rho);
    return BDML_OK;
}
