/* capped.c - a linear function over eigenvalues of bounded distortion, q of d places (docs/algorithm.md, eq. 9).
 *
 * Where <w, l> is least, the j smallest w get K a, the other q - j of the q smallest a, and all further places 0:
 *
 *     min over j of (K sum_{i<=j} w_i + sum_{j<i<=q} w_i) / (j K + q - j + e)     per unit of trace, w ascending.
 *
 * q = d is bounded distortion itself, q < d the hull of the metrics of rank q. */
#include "spectral/spectral.h"

static double best_ratio(const bdml_spectral *s, int q, const double *w, int *best)
{
    double rest = 0.0, top = 0.0, value = INFINITY;
    for (int i = 0; i < q; i++) rest += w[i];
    for (int j = 0; j <= q; j++) {
        double weight = j * s->K + (q - j) + s->extra;
        double v = (rest + (s->K - 1.0) * top) / weight;
        if (v < value) {
            value = v;
            *best = j;
        }
        if (j < q) top += w[j];
    }
    return value;
}

double bdml_capped_minimise(const bdml_spectral *s, int q, const double *w, double trace, double *l)
{
    int j = 0;
    double ratio = best_ratio(s, q, w, &j), R = BDML_MIN(trace, s->trace);
    bool zero = ratio >= 0.0;
    if (l) {
        double a = zero ? 0.0 : (isfinite(R) ? R : 1.0) / (j * s->K + (q - j) + s->extra);
        for (int i = 0; i < s->d; i++) l[i] = i < j ? s->K * a : i < q ? a : 0.0;
    }
    return zero ? 0.0 : R * ratio;
}

double bdml_capped_density(const bdml_spectral *s, int q, const double *g)
{
    int j;
    return best_ratio(s, q, g, &j);
}
