/* terms.c - the terms of the augmented function, constraint by constraint, whatever the threads: the same bits. The loops that
 * every step goes through have no branches and are compiled for wider registers too; what they add up is added lane by lane. */
#include "solver/terms.h"

#include "linalg/clones.h"

/* Unclipped maximiser s of psi; y = clip(s, 0, u). */
static inline double slope_at(double penalty, double y0, double b, double q, double v)
{
    return (y0 * penalty + b - v) / (penalty + q);
}

/* u >= 0 */
static inline double clip(double s, double u)
{
    double least = s < u ? s : u;
    return least <= 0.0 ? 0.0 : least;
}

static double total(const bdml_terms *p, double sum)
{
    return bdml_comm_total(p->space.comm, sum);
}

/* ---- making ----------------------------------------------------------------------------------- */

void bdml_terms_weigh(bdml_terms *p, const bdml_operator *A, double margin, double zero,
                      double shortest)
{
    const double *own = A->c->margin;
    for (int64_t t = 0; t < p->space.count; t++) {
        p->w[t] = 1.0 / (A->norm[t] > 0.0 ? BDML_MAX(A->norm[t], shortest) : zero);
        p->b[t] = margin * (own ? own[t] : 1.0) * p->w[t];
        p->rough[t] = A->rough[t] * p->w[t];
    }
}

void bdml_terms_harden(bdml_terms *p, double unit_m)
{
    bdml_cvec_scale(&p->space, unit_m, p->b, p->b);
    bdml_cvec_fill(&p->space, 0.0, p->q);
    bdml_cvec_fill(&p->space, INFINITY, p->u);
}

/* c_t in scaled units. Squared hinge c (b-v)^2: q = 1/(2c);  hinge c (b-v): y <= c. */
void bdml_terms_soften(bdml_terms *p, const bdml_constraints *c, double C, bool squared,
                       const bdml_units *unit)
{
    for (int64_t t = 0; t < p->space.count; t++) {
        double w = p->w[t], own = C * (c->weight ? c->weight[t] : 1.0) / p->space.total;
        own /= squared ? unit->y * unit->m * w * w : unit->y * w;
        p->q[t] = squared && own > 0.0 ? 0.5 / own : 0.0;
        p->u[t] = squared && own > 0.0 ? INFINITY : own;
        if (own == 0.0) p->q[t] = 1.0; /* weight 0: y = 0 always */
    }
}

/* ---- the augmented function ------------------------------------------------------------------- */

BDML_CLONES static void multipliers(const bdml_terms *p, double penalty, double aim,
                                    const double *y0, const double *v, double *y)
{
    const double *b = p->b, *q = p->q, *u = p->u;
#pragma omp simd
    for (int64_t t = 0; t < p->space.count; t++)
        y[t] = clip(slope_at(penalty, y0[t], aim * b[t], q[t], v[t]), u[t]);
}

/* A clone that is not static would be seen outside of the library, hidden or not. */
void bdml_terms_multipliers(const bdml_terms *p, double penalty, double aim, const double *y0,
                            const double *v, double *y)
{
    multipliers(p, penalty, aim, y0, v, y);
}

BDML_CLONES static double sum_of_moves(const bdml_terms *p, double penalty, const double *y0,
                                       const double *v)
{
    const double *b = p->b, *q = p->q, *u = p->u;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t t = 0; t < p->space.count; t++) {
        double move = clip(slope_at(penalty, y0[t], b[t], q[t], v[t]), u[t]) - y0[t];
        sum += move * move;
    }
    return sum;
}

double bdml_terms_move(const bdml_terms *p, double penalty, const double *y0, const double *v)
{
    return total(p, sum_of_moves(p, penalty, y0, v));
}

enum {
    LOT = 256
}; /* constraints whose s and y are kept at a time: in loops of one kind, gcc uses vectors */

/* With P(s) = integral of clip from 0 to s, P(s) - P(z) - y_z (s - z) = (y - y_z) ((s - y) + (y -
 * y_z)/2): nothing cancels when v is near v_z. */
BDML_CLONES static double sum_of_excess(const bdml_terms *p, double penalty, const double *y0,
                                        const double *y_z, const double *v)
{
    double sum = 0.0, s[LOT], y[LOT];
    for (int64_t from = 0; from < p->space.count; from += LOT) {
        int count = (int)BDML_MIN((int64_t)LOT, p->space.count - from);
        const double *b = p->b + from, *q = p->q + from, *u = p->u + from;
        for (int k = 0; k < count; k++)
            s[k] = slope_at(penalty, y0[from + k], b[k], q[k], v[from + k]);
        for (int k = 0; k < count; k++) y[k] = clip(s[k], u[k]);
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < count; k++) {
            double move = y[k] - y_z[from + k];
            sum += move * ((s[k] - y[k]) + 0.5 * move) * (penalty + q[k]);
        }
    }
    return sum;
}

double bdml_terms_excess(const bdml_terms *p, double penalty, const double *y0, const double *y_z,
                         const double *v)
{
    return total(p, sum_of_excess(p, penalty, y0, y_z, v));
}

/* Slope of sum_t psi_t(v + t way) at t, and how fast it grows there; v NULL: 0. */
BDML_CLONES static void slopes_along(const bdml_terms *p, double penalty, const double *v,
                                     const double *way, double t, double sum[2])
{
    double slope = 0.0, bend = 0.0, s[LOT], y[LOT], inside[LOT];
    for (int64_t from = 0; from < p->space.count; from += LOT) {
        int count = (int)BDML_MIN((int64_t)LOT, p->space.count - from);
        const double *b = p->b + from, *q = p->q + from, *u = p->u + from, *w = way + from;
        for (int k = 0; k < count; k++) s[k] = v ? v[from + k] + t * w[k] : t * w[k];
        for (int k = 0; k < count; k++) s[k] = slope_at(penalty, 0.0, b[k], q[k], s[k]);
        for (int k = 0; k < count; k++) y[k] = clip(s[k], u[k]);
        for (int k = 0; k < count; k++) inside[k] = y[k] < u[k] ? w[k] : 0.0;
        for (int k = 0; k < count; k++) inside[k] = y[k] > 0.0 ? inside[k] : 0.0;
#pragma omp simd reduction(+ : slope, bend)
        for (int k = 0; k < count; k++) {
            slope -= w[k] * y[k];
            bend += inside[k] * inside[k] / (penalty + q[k]);
        }
    }
    sum[0] = slope;
    sum[1] = bend;
}

/* The same of f t + that sum, over all ranks. */
static double slope_along(const bdml_terms *p, double penalty, double f, const double *v,
                          const double *way, double t, double *bend)
{
    double sum[2];
    slopes_along(p, penalty, v, way, t, sum);
    if (p->space.comm->rank == 0) sum[0] += f;
    bdml_comm_sum(p->space.comm, 2, sum);
    *bend = sum[1];
    return sum[0];
}

/* The slope is piecewise linear and grows: Newton's method ends exactly, when a step begins and ends on the same
 * piece; kept in a bracket it cannot go round in circles. */
double bdml_terms_least(const bdml_terms *p, double penalty, double f, const double *v,
                        const double *way, double most)
{
    enum { STEPS = 100 };
    double lo = 0.0, hi = most, t = BDML_MIN(most, 1.0), bend;
    if (slope_along(p, penalty, f, v, way, 0.0, &bend) >= 0.0) return 0.0;
    for (int step = 0; step < STEPS && t < 1e12; step++) {
        double slope = slope_along(p, penalty, f, v, way, t, &bend);
        if (slope == 0.0 || (slope < 0.0 && t >= most)) break;
        if (slope < 0.0)
            lo = t;
        else
            hi = t;
        double next = bend > 0.0 ? t - slope / bend : INFINITY;
        if (!(next > lo && next < hi)) next = isfinite(hi) ? 0.5 * (lo + hi) : 2.0 * t;
        double far = fabs(next - t);
        t = next;
        if (far <= 1e-12 * t) break;
    }
    return t;
}

double bdml_terms_loss(const bdml_terms *p, const double *v)
{
    double sum = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) {
        double miss = p->b[t] - v[t];
        if (miss <= 0.0) continue;
        sum += p->q[t] > 0.0 ? (p->u[t] > 0.0 ? 0.5 * miss * miss / p->q[t] : 0.0) : p->u[t] * miss;
    }
    return total(p, sum);
}

double bdml_terms_misses(const bdml_terms *p, const double *v, double *y)
{
    double sum = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) {
        y[t] = BDML_MAX(p->b[t] - v[t], 0.0);
        sum += y[t];
    }
    return total(p, sum);
}

/* ---- the dual --------------------------------------------------------------------------------- */

double bdml_terms_linear(const bdml_terms *p, const double *y)
{
    return bdml_cvec_dot(&p->space, 0.0, p->b, y);
}

double bdml_terms_quadratic(const bdml_terms *p, const double *y)
{
    double sum = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) sum += 0.5 * p->q[t] * y[t] * y[t];
    return total(p, sum);
}

double bdml_terms_dual(const bdml_terms *p, const double *y)
{
    double sum = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) sum += (p->b[t] - 0.5 * p->q[t] * y[t]) * y[t];
    return total(p, sum);
}

double bdml_terms_reach(const bdml_terms *p, const double *y)
{
    double most = INFINITY;
    for (int64_t t = 0; t < p->space.count; t++)
        if (y[t] > 0.0) most = BDML_MIN(most, p->u[t] / y[t]);
    return bdml_comm_least(p->space.comm, most);
}

void bdml_terms_import(const bdml_terms *p, double unit, const double *y_user, double *y,
                       double *y2, double *b2)
{
    *y2 = *b2 = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) {
        y[t] = BDML_MIN(BDML_MAX(y_user[t] / (unit * p->w[t]), 0.0), p->u[t]);
        *y2 += y[t] * y[t];
        if (y[t] > 0.0) *b2 += p->b[t] * p->b[t];
    }
    *y2 = total(p, *y2);
    *b2 = total(p, *b2);
}

/* ---- feasibility ------------------------------------------------------------------------------ */

double bdml_terms_scale(const bdml_terms *p, const double *v, double rounding)
{
    double t = 0.0;
    for (int64_t k = 0; k < p->space.count && isfinite(t); k++) {
        double value = v[k] - rounding * p->rough[k];
        if (p->b[k] > 0.0)
            t = value > 0.0 ? BDML_MAX(t, p->b[k] / value) : INFINITY;
        else if (value < 0.0)
            t = INFINITY;
    }
    return bdml_comm_largest(p->space.comm, t);
}

double bdml_terms_least_slack(const bdml_terms *p, double t, const double *v)
{
    double slack = INFINITY;
    for (int64_t k = 0; k < p->space.count; k++) slack = BDML_MIN(slack, t * v[k] - p->b[k]);
    return bdml_comm_least(p->space.comm, slack);
}

double bdml_terms_share(const bdml_terms *p, const double *v, const double *inside, double rounding)
{
    double theta = 0.0;
    for (int64_t k = 0; k < p->space.count; k++) {
        double miss = p->b[k] - (v[k] - rounding * p->rough[k]);
        if (miss > 0.0) theta = BDML_MAX(theta, miss / (inside[k] - v[k]));
    }
    return bdml_comm_largest(p->space.comm, theta);
}

double bdml_terms_ratio(const bdml_terms *p, const double *v, bool *all)
{
    double most = 0.0, short_of = 0.0;
    for (int64_t t = 0; t < p->space.count; t++) {
        if (v[t] > 0.0)
            most = BDML_MAX(most, p->b[t] / v[t]);
        else if (p->b[t] > 0.0)
            short_of = 1.0;
    }
    *all = bdml_comm_largest(p->space.comm, short_of) == 0.0;
    return bdml_comm_largest(p->space.comm, most);
}
