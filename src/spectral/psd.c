/* psd.c - positive semidefinite with a trace bound (l_i >= 0, sum l_i <= R) or with a fixed trace. Outside
 * the data span M is zero, which is best for the trace. */
#include "spectral/spectral.h"

/* l = max(z - nu, 0) with the smallest nu >= 0 that meets the bound: from the largest down, nu
 * is the mean excess of the values that stay positive (eq. 10). */
static void project(const bdml_spectral *s, const double *z, double *l)
{
    double sum = 0.0, nu = 0.0;
    for (int i = s->d - 1; i >= 0 && z[i] > 0.0; i--) sum += z[i];
    if (sum > s->trace) {
        sum = 0.0;
        for (int i = s->d - 1; i >= 0; i--) {
            double next = (sum + z[i] - s->trace) / (s->d - i);
            if (z[i] <= next) break;
            sum += z[i];
            nu = next;
        }
    }
    double kept = 0.0; /* z - nu may cancel: a trace above R is scaled down */
    for (int i = 0; i < s->d; i++) kept += l[i] = BDML_MAX(z[i] - nu, 0.0);
    if (kept > s->trace)
        for (int i = 0; i < s->d; i++) l[i] *= s->trace / kept;
}

/* Positive values are free, but for their sum where the bound holds. */
static void face(const bdml_spectral *s, const double *z, double *mid, double *c, double *tau)
{
    double *l = tau, sum = 0.0, positive = 0.0;
    project(s, z, l);
    for (int i = 0; i < s->d; i++) {
        sum += BDML_MAX(z[i], 0.0);
        mid[i] = l[i] > 0.0 ? 1.0 : 0.0;
        positive += mid[i];
        c[i] = 0.0;
    }
    bool bound = sum > s->trace;
    for (int i = 0; i < s->d; i++) tau[i] = bound ? mid[i] / sqrt(positive) : 0.0;
}

static double minimise(const bdml_spectral *s, const double *w, double trace, double *l)
{
    double R = BDML_MIN(trace, s->trace);
    bool zero = w[0] >= 0.0;
    if (l) {
        for (int i = 0; i < s->d; i++) l[i] = 0.0;
        l[0] = zero ? 0.0 : (isfinite(R) ? R : 1.0);
    }
    return zero ? 0.0 : R * w[0];
}

static double density(const bdml_spectral *s, const double *g)
{
    (void)s;
    return g[0];
}

static void outside(const bdml_spectral *s, const double *l, double *lo, double *hi)
{
    (void)s;
    (void)l;
    *lo = *hi = 0.0;
}

const bdml_spectral_ops bdml_psd_ball_ops = {
    .name = "PSD with a trace bound",
    .project = project,
    .minimise = minimise,
    .density = density,
    .outside = outside,
    .face = face,
    .is_cone = true,
};

/* ---- fixed trace ---------------------------------------------------------------------------- */

/* l_i >= 0, sum l_i = R. Not a cone: a member cannot be scaled, so an upper bound is made by blending
 * with another member. */

/* l = max(z - nu, 0), nu of either sign, so that the sum is R (eq. 11). */
static void simplex_project(const bdml_spectral *s, const double *z, double *l)
{
    double sum = 0.0, nu = 0.0;
    for (int i = s->d - 1; i >= 0; i--) {
        double next = (sum + z[i] - s->trace) / (s->d - i);
        if (i < s->d - 1 && z[i] <= next) break;
        sum += z[i];
        nu = next;
    }
    double kept = 0.0; /* z - nu may cancel: the trace is made exact by scaling */
    for (int i = 0; i < s->d; i++) kept += l[i] = BDML_MAX(z[i] - nu, 0.0);
    for (int i = 0; i < s->d; i++) l[i] = kept > 0.0 ? l[i] * (s->trace / kept) : s->trace / s->d;
}

/* Positive values are free, but for their sum. */
static void simplex_face(const bdml_spectral *s, const double *z, double *mid, double *c,
                         double *tau)
{
    double *l = tau, positive = 0.0;
    simplex_project(s, z, l);
    for (int i = 0; i < s->d; i++) {
        mid[i] = l[i] > 0.0 ? 1.0 : 0.0;
        positive += mid[i];
        c[i] = 0.0;
    }
    for (int i = 0; i < s->d; i++) tau[i] = mid[i] / sqrt(positive);
}

static double simplex_minimise(const bdml_spectral *s, const double *w, double trace, double *l)
{
    (void)trace;
    if (l) {
        for (int i = 0; i < s->d; i++) l[i] = 0.0;
        l[0] = s->trace;
    }
    return s->trace * w[0];
}

const bdml_spectral_ops bdml_psd_simplex_ops = {
    .name = "PSD with a fixed trace",
    .project = simplex_project,
    .minimise = simplex_minimise,
    .density = density,
    .outside = outside,
    .face = simplex_face,
    .is_cone = false,
};
