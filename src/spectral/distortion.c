/* distortion.c - bounded distortion: a <= l_i <= K a for some a >= 0, sum l_i + e a <= R.
 *
 * Projection (docs/algorithm.md, eq. 5-8). With a multiplier nu >= 0 for the trace,
 *
 *     l_i = clip(z_i - nu, a, K a),
 *     h(a) = sum_{lo} (a - z_i + nu) - K sum_{hi} (z_i - nu - K a) + e nu = 0,
 *     lo = { z_i - nu < a },  hi = { z_i - nu > K a },
 *
 * h grows with a and is linear between the breakpoints z_i - nu and (z_i - nu)/K, so one sweep
 * over both lists, merged, finds its root. The trace T(nu) falls with nu and is linear on each
 * piece too: Newton's method on it, kept inside a bracket, ends exactly. */
#include "spectral/spectral.h"

/* A linear piece of the projection: the first `lo` values are raised to a, those from `hi` on are
 * lowered to K a. */
typedef struct piece {
    int lo, hi;
    double a;
} piece;

/* Root of h on a given piece, its sums taken afresh. */
static double piece_root(const bdml_spectral *s, const double *z, double nu, int lo, int hi)
{
    double low = 0.0, high = 0.0;
    for (int i = 0; i < lo; i++) low += z[i] - nu;
    for (int i = hi; i < s->d; i++) high += z[i] - nu;
    return (low + s->K * high - s->extra * nu) / (lo + s->K * s->K * (s->d - hi));
}

/* The a >= 0 that is best for this nu. */
static piece find_floor(const bdml_spectral *s, const double *z, double nu)
{
    const double K = s->K;
    double low = 0.0, high = 0.0;
    piece p = {0, s->d, 0.0};

    while (p.lo < s->d && z[p.lo] < nu) low += z[p.lo++] - nu;
    while (p.hi > p.lo && z[p.hi - 1] > nu) high += z[--p.hi] - nu;
    if (low + K * high - s->extra * nu <= 0.0) return p; /* h(0) >= 0: everything becomes 0 */

    /* p.a: the breakpoint reached. Rounding (K is squared here) may put the root of a piece
     * before its beginning or beyond its end by a little, so it is kept between them. */
    while (p.lo > 0 || p.hi < s->d) {
        double next_lo = p.lo < s->d ? z[p.lo] - nu : INFINITY;
        double next_hi = p.hi < s->d ? (z[p.hi] - nu) / K : INFINITY;
        double next = BDML_MIN(next_lo, next_hi);
        double a = (low + K * high - s->extra * nu) / (p.lo + K * K * (s->d - p.hi));
        if (a <= next) {
            a = piece_root(s, z, nu, p.lo, p.hi);
            p.a = BDML_MIN(BDML_MAX(a, p.a), next);
            return p;
        }
        p.a = BDML_MAX(p.a, next);
        if (next_hi <= next_lo)
            high -= z[p.hi++] - nu;
        else
            low += z[p.lo++] - nu;
    }
    p.a = (z[s->d - 1] - nu) / K; /* nothing is clipped */
    return p;
}

static double piece_trace(const bdml_spectral *s, const double *z, double nu, const piece *p)
{
    double sum = (p->lo + s->K * (s->d - p->hi) + s->extra) * p->a;
    for (int i = p->lo; i < p->hi; i++) sum += z[i] - nu;
    return sum;
}

/* -dT/dnu on a piece. */
static double piece_slope(const bdml_spectral *s, const piece *p)
{
    double ends = p->lo + s->K * (s->d - p->hi) + s->extra;
    double curvature = p->lo + s->K * s->K * (s->d - p->hi);
    return (curvature > 0.0 ? ends * ends / curvature : 0.0) + (p->hi - p->lo);
}

/* nu >= 0 with T(nu) = R, or 0 when T(0) <= R. Newton's method in a bracket; a step that leaves it,
 * or that does not halve it in time, is replaced by bisection. */
static double find_multiplier(const bdml_spectral *s, const double *z, piece *p)
{
    enum { STEPS = 200 }; /* bisection alone would need at most 64 + the exponent range */
    double nu = 0.0, left = 0.0, right = BDML_MAX(z[s->d - 1], 0.0);

    *p = find_floor(s, z, nu);
    if (piece_trace(s, z, nu, p) <= s->trace) return 0.0;
    for (int step = 0; step < STEPS; step++) {
        double excess = piece_trace(s, z, nu, p) - s->trace;
        if (excess > 0.0)
            left = nu;
        else
            right = nu;
        double next = nu + excess / piece_slope(s, p);
        bool newton = next > left && next < right && step % 4 != 3;
        if (!newton) next = 0.5 * (left + right);
        if (next == nu || next <= left || next >= right) break;
        piece q = find_floor(s, z, next);
        bool exact = newton && q.lo == p->lo && q.hi == p->hi && p->a > 0.0 && q.a > 0.0;
        nu = next;
        *p = q;
        if (exact) break; /* both ends of the step lie on one linear piece */
    }
    return nu;
}

static void project(const bdml_spectral *s, const double *z, double *l)
{
    piece p;
    double nu = 0.0;
    if (isfinite(s->trace))
        nu = find_multiplier(s, z, &p);
    else
        p = find_floor(s, z, nu);
    const double lo = p.a, hi = s->K * p.a;
    for (int i = 0; i < s->d; i++) l[i] = BDML_MIN(BDML_MAX(z[i] - nu, lo), hi);

    /* rounding may leave the trace a few ulp above R: the set is a cone, so shrink */
    double sum = s->extra * lo;
    for (int i = 0; i < s->d; i++) sum += l[i];
    if (sum > s->trace)
        for (int i = 0; i < s->d; i++) l[i] *= s->trace / sum;
}

/* Without the trace the face is spanned by the free coordinates and by c = (1 on lo, K on hi);
 * the trace of alpha c is alpha (n_lo + K n_hi + e). An active bound removes the direction tau
 * in which it grows. */
static void face(const bdml_spectral *s, const double *z, double *mid, double *c, double *tau)
{
    piece p;
    double nu = 0.0;
    if (isfinite(s->trace))
        nu = find_multiplier(s, z, &p);
    else
        p = find_floor(s, z, nu);
    double high = s->d - p.hi, size = p.lo + s->K * s->K * high;
    double grow = size > 0.0 ? (p.lo + s->K * high + s->extra) / sqrt(size) : 0.0;
    double norm = sqrt((p.hi - p.lo) + grow * grow);
    bool zero = p.a <= 0.0; /* the tip of the cone */
    for (int i = 0; i < s->d; i++) {
        bool inside = i >= p.lo && i < p.hi;
        mid[i] = inside && !zero ? 1.0 : 0.0;
        c[i] = inside || zero ? 0.0 : (i < p.lo ? 1.0 : s->K) / sqrt(size);
        tau[i] = nu > 0.0 && !zero ? (mid[i] + grow * c[i]) / norm : 0.0;
    }
}

static double minimise(const bdml_spectral *s, const double *w, double trace, double *l)
{
    return bdml_capped_minimise(s, s->d, w, trace, l);
}

static double density(const bdml_spectral *s, const double *g)
{
    return bdml_capped_density(s, s->d, g);
}

static void outside(const bdml_spectral *s, const double *l, double *lo, double *hi)
{
    double smallest = l[0], largest = l[0];
    for (int i = 1; i < s->d; i++) {
        smallest = BDML_MIN(smallest, l[i]);
        largest = BDML_MAX(largest, l[i]);
    }
    *lo = largest / s->K;
    *hi = BDML_MAX(smallest, *lo);
}

const bdml_spectral_ops bdml_distortion_ops = {
    .name = "bounded distortion",
    .project = project,
    .minimise = minimise,
    .density = density,
    .outside = outside,
    .face = face,
    .is_cone = true,
};
