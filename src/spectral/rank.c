/* rank.c - the convex hull of the metrics of rank q with bounded distortion on their range,
 *
 *     { Q' Lambda Q : Q (q x d) with orthonormal rows, a I <= Lambda <= K a I for some a >= 0 }.
 *
 * A linear function is least over it where the q smallest w_i get eigenvalues, the j smallest of them K a
 * and the rest a; for the best j (eq. 9 with d replaced by q). The hull itself: choosing q of d places is the
 * hypersimplex, so with sigma_i = a times the share of place i,
 *
 *     sigma_i <= l_i <= K sigma_i,   0 <= sigma_i <= a,   sum sigma_i = q a      for some a, sigma,
 *
 * and sigma can be eliminated:
 *
 *     0 <= l_i <= K a,   sum l_i <= K q a,   sum min(l_i, a) >= q a              for some a >= 0.
 *
 * A closed convex cone; for q = d bounded distortion itself. Minimised over it, a problem in Q and Lambda
 * jointly has a lower bound. No bound on the trace is taken in: leaving it out keeps a lower bound valid.
 *
 * Projection. For a given a, with multipliers nu (of the sum) and mu (of the sum of minima),
 *
 *     x = z - nu,   l = K a where x > K a,  x where x >= a,  a where x + mu >= a,  else max(x + mu, 0);
 *
 * min(l, a) >= l/K, so where the sum is at its bound the other holds by itself: at most one multiplier is not 0.
 * The distance is convex in a, and its derivative follows from the multipliers (the envelope theorem). */
#include "spectral/spectral.h"

#include <assert.h>

enum { STEPS = 200 }; /* at most: bisection alone needs 64 + the exponent range */

bdml_spectral bdml_spectral_rank(int d, int q, double K)
{
    assert(q >= 1 && q <= d && K >= 1.0 && isfinite(K));
    return (bdml_spectral){.ops = &bdml_rank_ops, .d = d, .K = K, .trace = INFINITY, .q = q};
}

/* ---- linear minimisation ------------------------------------------------------------------------- */

static double minimise(const bdml_spectral *s, const double *w, double trace, double *l)
{
    return bdml_capped_minimise(s, s->q, w, trace, l);
}

static double density(const bdml_spectral *s, const double *g)
{
    return bdml_capped_density(s, s->q, g);
}

/* ---- projection ------------------------------------------------------------------------------------ */

typedef struct face {
    double a, nu, mu;
} face;

static inline double value_at(const bdml_spectral *s, const face *f, double z)
{
    double x = z - f->nu, top = s->K * f->a;
    if (x >= top) return top;
    if (x >= f->a) return x;
    return BDML_MAX(BDML_MIN(x + f->mu, f->a), 0.0);
}

/* sum l - K q a, and its slope in nu (without sign). */
static double excess(const bdml_spectral *s, const double *z, const face *f, double *slope)
{
    double sum = -s->K * s->q * f->a;
    *slope = 0.0;
    for (int i = 0; i < s->d; i++) {
        double l = value_at(s, f, z[i]);
        sum += l;
        *slope += l > 0.0 && l < s->K * f->a;
    }
    return sum;
}

/* q a - sum min(l, a), and its slope in mu (without sign). */
static double shortage(const bdml_spectral *s, const double *z, const face *f, double *slope)
{
    double sum = s->q * f->a;
    *slope = 0.0;
    for (int i = 0; i < s->d; i++) {
        double l = value_at(s, f, z[i]);
        sum -= BDML_MIN(l, f->a);
        *slope += l > 0.0 && l < f->a;
    }
    return sum;
}

/* *x >= 0 with f = 0 there; f falls with x, is linear in pieces, positive at 0 and not so at `right`.
 * Newton's method in a bracket. */
static void find_root(const bdml_spectral *s, const double *z, face *at, double *x, double right,
                      double (*f)(const bdml_spectral *, const double *, const face *, double *))
{
    double left = 0.0, slope;
    for (int step = 0; step < STEPS; step++) {
        double value = f(s, z, at, &slope);
        if (value == 0.0) return;
        if (value > 0.0)
            left = *x;
        else
            right = *x;
        double next = slope > 0.0 ? *x + value / slope : 0.5 * (left + right);
        if (!(next > left && next < right) || step % 4 == 3) next = 0.5 * (left + right);
        if (next == *x || next <= left || next >= right) return;
        *x = next;
    }
}

/* Multipliers for this a; the derivative of half the squared distance. */
static double slope_at(const bdml_spectral *s, const double *z, double a, face *f)
{
    double K = s->K, unused, sum;
    *f = (face){.a = a};
    if (excess(s, z, f, &unused) > 0.0)
        find_root(s, z, f, &f->nu, BDML_MAX(z[s->d - 1], 0.0), excess);
    else if (shortage(s, z, f, &unused) > 0.0)
        find_root(s, z, f, &f->mu, a + fabs(z[0]), shortage);
    sum = s->q * f->mu - s->q * K * f->nu;
    for (int i = 0; i < s->d; i++) {
        double x = z[i] - f->nu;
        if (x >= a)
            sum -= f->mu + K * BDML_MAX(x - K * a, 0.0);
        else if (x + f->mu >= a)
            sum -= f->mu - (a - x);
    }
    return sum;
}

/* Slope at a = 0: z as a linear function, its largest value over the set (z ascending). */
static double slope_at_zero(const bdml_spectral *s, const double *z)
{
    double rest = 0.0, top = 0.0, most = -INFINITY;
    for (int i = 0; i < s->q; i++) rest += z[s->d - 1 - i];
    for (int j = 0; j <= s->q; j++) {
        most = BDML_MAX(most, rest + (s->K - 1.0) * top);
        if (j < s->q) top += z[s->d - 1 - j];
    }
    return -most;
}

/* Illinois' form of the secant method, in a bracket found by doubling. */
static void project(const bdml_spectral *s, const double *z, double *l)
{
    double left = 0.0, right = z[s->d - 1], low = slope_at_zero(s, z), high;
    face f = {0};
    if (low >= 0.0) {
        for (int i = 0; i < s->d; i++) l[i] = 0.0;
        return;
    }
    while ((high = slope_at(s, z, right, &f)) < 0.0) left = right, low = high, right *= 2.0;
    for (int step = 0, side = 0; step < STEPS && high > 0.0; step++) {
        double a = left + (right - left) * (-low / (high - low));
        if (!(a > left && a < right) || step % 8 == 7) a = 0.5 * (left + right);
        if (a <= left || a >= right) break;
        double slope = slope_at(s, z, a, &f);
        if (slope == 0.0) break;
        if (slope < 0.0) {
            left = a, low = slope;
            if (side == -1) high *= 0.5;
            side = -1;
        } else {
            right = a, high = slope;
            if (side == 1) low *= 0.5;
            side = 1;
        }
    }
    for (int i = 0; i < s->d; i++) l[i] = value_at(s, &f, z[i]);
}

static void outside(const bdml_spectral *s, const double *l, double *lo, double *hi)
{
    (void)s;
    (void)l;
    *lo = *hi = 0.0;
}

const bdml_spectral_ops bdml_rank_ops = {
    .name = "hull of bounded distortion and rank",
    .project = project,
    .minimise = minimise,
    .density = density,
    .outside = outside,
    .face = NULL,
    .is_cone = true,
};
