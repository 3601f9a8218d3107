/* spectral.c - what all spectral sets share: construction, reduction, trace, the diagonal form. */
#include "spectral/spectral.h"

#include <assert.h>

bdml_spectral bdml_spectral_distortion(int d, double K, double trace)
{
    assert(d >= 1 && K >= 1.0 && isfinite(K) && trace > 0.0);
    return (bdml_spectral){.ops = &bdml_distortion_ops, .d = d, .K = K, .trace = trace};
}

bdml_spectral bdml_spectral_psd_ball(int d, double trace)
{
    assert(d >= 1 && trace > 0.0);
    return (bdml_spectral){.ops = &bdml_psd_ball_ops, .d = d, .K = INFINITY, .trace = trace};
}

bdml_spectral bdml_spectral_psd_simplex(int d, double trace)
{
    assert(d >= 1 && trace > 0.0 && isfinite(trace));
    return (bdml_spectral){.ops = &bdml_psd_simplex_ops, .d = d, .K = INFINITY, .trace = trace};
}

bdml_spectral bdml_spectral_reduce(const bdml_spectral *set, int r)
{
    bdml_spectral out = *set;
    assert(r >= 1 && r <= set->d);
    assert(set->q == 0 || r == set->d);
    out.extra += set->d - r;
    out.d = r;
    if (out.extra > 0 && out.ops == &bdml_psd_simplex_ops) out.ops = &bdml_psd_ball_ops;
    return out;
}

double bdml_spectral_trace(const bdml_spectral *set, const double *l)
{
    double sum = 0.0, lo, hi;
    set->ops->outside(set, l, &lo, &hi);
    for (int i = 0; i < set->d; i++) sum += l[i];
    return set->extra > 0 ? sum + set->extra * lo : sum;
}

double bdml_spectral_max_scale(const bdml_spectral *set, const double *l)
{
    if (!set->ops->is_cone) return 1.0;
    double trace = bdml_spectral_trace(set, l);
    return trace > 0.0 ? set->trace / trace : INFINITY;
}

double bdml_spectral_fill(const bdml_spectral *set, const double *l)
{
    double sum = 0.0, lo, hi;
    set->ops->outside(set, l, &lo, &hi);
    if (set->extra == 0) return lo;
    for (int i = 0; i < set->d; i++) sum += l[i];
    double room = (set->trace - sum) / set->extra; /* infinite without a trace bound */
    return BDML_MAX(lo, BDML_MIN(hi, room));
}

/* ---- diagonal form -------------------------------------------------------------------------- */

static bool before(const double *z, int a, int b)
{
    return z[a] < z[b] || (z[a] == z[b] && a < b);
}

static void sift(const double *z, int *order, int root, int n)
{
    for (int child = 2 * root + 1; child < n; child = 2 * root + 1) {
        if (child + 1 < n && before(z, order[child], order[child + 1])) child++;
        if (!before(z, order[root], order[child])) return;
        int t = order[root];
        order[root] = order[child];
        order[child] = t;
        root = child;
    }
}

void bdml_spectral_sort(int d, const double *z, int *order)
{
    for (int i = 0; i < d; i++) order[i] = i;
    for (int i = d / 2 - 1; i >= 0; i--) sift(z, order, i, d);
    for (int n = d - 1; n > 0; n--) {
        int t = order[0];
        order[0] = order[n];
        order[n] = t;
        sift(z, order, 0, n);
    }
}

void bdml_spectral_project_any(const bdml_spectral *set, const double *z, double *l, int *order,
                               double *sorted)
{
    bdml_spectral_sort(set->d, z, order);
    for (int i = 0; i < set->d; i++) sorted[i] = z[order[i]];
    set->ops->project(set, sorted, sorted);
    for (int i = 0; i < set->d; i++) l[order[i]] = sorted[i];
}

double bdml_spectral_minimise_any(const bdml_spectral *set, const double *w, double trace,
                                  double *l, int *order, double *sorted)
{
    bdml_spectral_sort(set->d, w, order);
    for (int i = 0; i < set->d; i++) sorted[i] = w[order[i]];
    if (!l) return set->ops->minimise(set, sorted, trace, NULL);
    /* w is read before l is written: one scratch vector would not do, so l takes the sorted
     * result */
    double value = set->ops->minimise(set, sorted, trace, l);
    for (int i = 0; i < set->d; i++) sorted[i] = l[i];
    for (int i = 0; i < set->d; i++) l[order[i]] = sorted[i];
    return value;
}
