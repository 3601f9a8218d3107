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

/* Rounding of the matrix G - A*y and of its eigenvalues, in units of eps times the norms that
 * enter: r for the eigenproblem, the constant for the blocked sums that build it. */
static const double ROUNDING = 64.0;
static const double EPS = 2.220446049250313e-16;

double bdml_engine_gap(const bdml_engine *e)
{
    if (!isfinite(e->upper) || !isfinite(e->lower)) return INFINITY;
    double size = BDML_MAX(fabs(e->upper), 1e-300);
    return BDML_MAX(e->upper - e->lower, 0.0) / size;
}

/* Rows and G have norm 1 in scaled units; y NULL: G alone. */
double bdml_dual_error(const bdml_engine *e, const double *y)
{
    double sum = 1.0;
    for (int64_t t = 0; y && t < e->m; t++) sum += fabs(y[t]);
    return EPS * (e->r + ROUNDING) * sum;
}

/* ---- upper ---------------------------------------------------------------------------------- */

static void keep(bdml_engine *e, double upper, double t, double theta)
{
    if (!(upper < e->upper)) return;
    e->upper = upper;
    e->have_best = true;
    for (size_t i = 0; i < e->size; i++) e->best[i] = t * e->M[i];
    if (theta > 0.0)
        for (size_t i = 0; i < e->size; i++)
            e->best[i] = (1.0 - theta) * e->M[i] + theta * e->interior[i];
}

static double loss(const bdml_engine *e)
{
    double sum = 0.0;
    for (int64_t t = 0; t < e->m; t++) {
        double miss = e->b[t] - e->v[t];
        if (miss <= 0.0) continue;
        sum += e->q[t] > 0.0 ? (e->u[t] > 0.0 ? 0.5 * miss * miss / e->q[t] : 0.0) : e->u[t] * miss;
    }
    return sum;
}

/* Smallest t with t v >= b, v lowered by its rounding; infinite when there is none. */
static double needed_scale(const bdml_engine *e, double rounding)
{
    double t = 0.0;
    for (int64_t k = 0; k < e->m; k++) {
        double v = e->v[k] - rounding;
        if (e->b[k] <= 0.0) {
            if (v < 0.0) return INFINITY;
            continue;
        }
        if (v <= 0.0) return INFINITY;
        t = BDML_MAX(t, e->b[k] / v);
    }
    return t;
}

/* Remember the point with the most slack, at its largest allowed scale t. */
static void remember_interior(bdml_engine *e, double t, double f)
{
    double slack = INFINITY;
    for (int64_t k = 0; k < e->m; k++) slack = BDML_MIN(slack, t * e->v[k] - e->b[k]);
    if (!(slack > e->interior_slack)) return;
    e->interior_slack = slack;
    e->interior_f = t * f;
    for (size_t i = 0; i < e->size; i++) e->interior[i] = t * e->M[i];
    for (int64_t k = 0; k < e->m; k++) e->interior_v[k] = t * e->v[k];
}

/* Smallest share theta of the interior point that makes (1-theta) M + theta I feasible. */
static double needed_share(const bdml_engine *e, double rounding)
{
    double theta = 0.0;
    for (int64_t k = 0; k < e->m; k++) {
        double miss = e->b[k] - (e->v[k] - rounding);
        if (miss > 0.0) theta = BDML_MAX(theta, miss / (e->interior_v[k] - e->v[k]));
    }
    return theta;
}

bdml_status bdml_certify_upper(bdml_engine *e)
{
    double f = bdml_vec_dot(e->size, e->g, e->M);
    if (!e->s->hard) {
        keep(e, f + loss(e), 1.0, 0.0);
        return BDML_OK;
    }
    double top = 0.0;
    for (int i = 0; i < e->r; i++) top = BDML_MAX(top, fabs(e->l[i]));
    double rounding = EPS * (e->r + ROUNDING) * top; /* of a value <A_t,M>, |A_t| = 1 */
    double t = needed_scale(e, rounding), limit = bdml_spectral_max_scale(&e->set, e->l);
    e->scalable = e->set.ops->is_cone && t <= limit;
    if (e->scalable) keep(e, t * f, t, 0.0);
    if (t <= 1.0) keep(e, f, 1.0, 0.0); /* better where f < 0, and where scaling is not allowed */
    if (e->scalable && e->aim == 1.0) return BDML_OK;
    if (isfinite(limit))
        remember_interior(e, limit, f); /* limit is 1 where scaling is not allowed */
    if (e->interior_slack > 0.0) {
        double theta = needed_share(e, rounding);
        if (theta <= 1.0) keep(e, (1.0 - theta) * f + theta * e->interior_f, 1.0, theta);
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
    double sum = fabs(t * D->linear) + t * t * D->quadratic;
    double bound = t * D->linear - t * t * D->quadratic + least - EPS * 0.25 * (double)e->m * sum;
    if (!(bound > e->lower)) return;
    e->lower = bound;
    for (int64_t k = 0; k < e->m; k++) e->best_y[k] = t * D->y[k];
}

/* rho(t), lowered by its error; S = G - A*y is kept. */
static bdml_status density_at(bdml_engine *e, const dual *D, double t, double *rho)
{
    for (size_t i = 0; i < e->size; i++) e->T[i] = (1.0 - t) * e->g[i] + t * e->S[i];
    BDML_TRY(bdml_engine_eigenvalues(e, e->T, e->lambda));
    *rho = e->set.ops->density(&e->set, e->lambda) - BDML_MAX(t, 1.0) * D->error;
    return BDML_OK;
}

/* The bound at t, given rho there; without a finite trace it needs rho >= 0. */
static void try_t(bdml_engine *e, const dual *D, double t, double rho)
{
    double R = e->set.trace;
    if (e->gamma > 0.0) R = BDML_MIN(R, e->upper / e->gamma);
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
    double inside = 0.0, rho_in = e->gamma - D->error, outside = 1.0, rho_out;
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
        if (k == REFINEMENTS || gain <= 0.1 * e->s->gap * fabs(e->upper)) return BDML_OK;
        inside = t;
        BDML_TRY(density_at(e, D, inside, &rho_in));
        if (rho_in < 0.0) return BDML_OK; /* rounding */
    }
}

bdml_status bdml_certify_lower(bdml_engine *e, const double *y)
{
    dual D = {.y = y, .most = INFINITY, .error = bdml_dual_error(e, y)};
    for (int64_t t = 0; t < e->m; t++) {
        D.linear += e->b[t] * y[t];
        D.quadratic += 0.5 * e->q[t] * y[t] * y[t];
        if (y[t] > 0.0) D.most = BDML_MIN(D.most, e->u[t] / y[t]);
    }
    D.most = BDML_MAX(D.most, 1.0); /* y itself is within its bound; u/y may round below 1 */
    bdml_engine_adjoint(e, e->g, y, e->S);
    if (e->set.ops->is_cone) return search_t(e, &D);
    double rho;
    BDML_TRY(density_at(e, &D, 1.0, &rho)); /* fixed trace: every member has it */
    improve(e, &D, 1.0, e->set.trace * rho);
    return BDML_OK;
}
