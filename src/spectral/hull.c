/* hull.c - the convex hull of { Q' diag(spectrum) Q }: Q (q x d) has orthonormal rows.
 *
 * By Fan (1949) a symmetric M is in it iff, with eigenvalues l and the spectrum padded by zeros to d numbers,
 *
 *     sum of the k largest l <= sum of the k largest of the spectrum, k = 1 .. d-1;   sum l = sum spectrum
 *
 * (l is majorised by the spectrum). Not a cone: the trace is fixed.
 *
 * Projection. With z and the spectrum s both ascending, l = z - v, v the isotonic regression (the nearest
 * ascending vector) of z - s: where v jumps the sums of largest values are met with equality, between the jumps
 * z is moved as a whole. Pool-adjacent-violators finds v in one sweep. (Negrinho and Martins 2014 for the
 * permutahedron, which is this set of vectors.) */
#include "spectral/spectral.h"

#include <assert.h>

bdml_spectral bdml_spectral_hull(int d, int q, const double *spectrum, double *scratch)
{
    double trace = 0.0;
    assert(q >= 1 && q <= d);
    for (int i = 0; i < q; i++) trace += spectrum[i];
    assert(spectrum[0] >= 0.0 && trace > 0.0);
    return (bdml_spectral){.ops = &bdml_hull_ops,
                           .d = d,
                           .K = INFINITY,
                           .trace = trace,
                           .q = q,
                           .spectrum = spectrum,
                           .scratch = scratch};
}

/* Factor from the spectrum as given to that of the set: the trace may have been put in other units. */
static double unit(const bdml_spectral *s)
{
    double trace = 0.0;
    for (int i = 0; i < s->q; i++) trace += s->spectrum[i];
    return s->trace / trace;
}

/* Number i, ascending, of the spectrum padded by zeros. */
static inline double padded(const bdml_spectral *s, double scale, int i)
{
    int k = i - (s->d - s->q);
    return k < 0 ? 0.0 : scale * s->spectrum[k];
}

/* Blocks of equal v: mean and size of block k in scratch[2k], scratch[2k+1]. */
static void project(const bdml_spectral *s, const double *z, double *l)
{
    double *block = s->scratch, scale = unit(s);
    size_t count = 0;
    for (int i = 0; i < s->d; i++) {
        double mean = z[i] - padded(s, scale, i), size = 1.0;
        while (count > 0 && block[2 * (count - 1)] >= mean) {
            const double *before = block + 2 * --count;
            mean = (mean * size + before[0] * before[1]) / (size + before[1]);
            size += before[1];
        }
        block[2 * count] = mean;
        block[2 * count++ + 1] = size;
    }
    int i = 0;
    for (size_t k = 0; k < count; k++) {
        int end = i + (int)block[2 * k + 1];
        if (end == i + 1) { /* z - (z - s), but exactly */
            l[i] = padded(s, scale, i);
            i++;
        }
        for (; i < end; i++) l[i] = BDML_MAX(z[i] - block[2 * k], 0.0);
    }
    for (i = 1; i < s->d; i++) l[i] = BDML_MAX(l[i], l[i - 1]); /* rounding between blocks */
}

static double minimise(const bdml_spectral *s, const double *w, double trace, double *l)
{
    double value = 0.0, scale = unit(s);
    (void)trace;
    for (int i = 0; i < s->d; i++) {
        double most = padded(s, scale, s->d - 1 - i);
        value += most * w[i];
        if (l) l[i] = most;
    }
    return value;
}

static double density(const bdml_spectral *s, const double *g)
{
    return minimise(s, g, s->trace, NULL) / s->trace;
}

static void outside(const bdml_spectral *s, const double *l, double *lo, double *hi)
{
    (void)s;
    (void)l;
    *lo = *hi = 0.0;
}

const bdml_spectral_ops bdml_hull_ops = {
    .name = "hull of one spectrum",
    .project = project,
    .minimise = minimise,
    .density = density,
    .outside = outside,
    .face = NULL,
    .is_cone = false,
};
