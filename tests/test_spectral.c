/* test_spectral.c - projections and linear minimisation of the spectral sets, by their defining
 * properties and against a search that knows nothing of pieces. */
#include "check.h"

#include "spectral/spectral.h"

enum { MAX_D = 40 };

/* ---- members and random vectors ------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double norm2(int d, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < d; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return s;
}

static double dot(int d, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

/* Sorted vectors of many kinds: spread, all negative, repeated values, one large, tiny. */
static void draw(bdml_rng *r, int d, double *z)
{
    int kind = (int)bdml_rng_below(r, 6);
    double scale = pow(10.0, 4.0 * bdml_rng_uniform(r) - 2.0);
    for (int i = 0; i < d; i++) {
        double g = bdml_rng_normal(r);
        if (kind == 1) g = -fabs(g) - 0.1;
        if (kind == 2) g = rint(g);
        if (kind == 3) g = i == 0 ? 100.0 * fabs(g) : 0.01 * g;
        if (kind == 4) g = 1.0;
        if (kind == 5) g = fabs(g) + 1.0;
        z[i] = scale * g;
    }
    qsort(z, (size_t)d, sizeof *z, compare);
}

static bdml_spectral draw_set(bdml_rng *r, int d)
{
    static const double caps[] = {1.0, 1.5, 10.0, 1e4, 1e12};
    double K = caps[bdml_rng_below(r, 5)];
    double R = bdml_rng_below(r, 2) ? INFINITY : pow(10.0, 4.0 * bdml_rng_uniform(r) - 2.0);
    int spare = (int)bdml_rng_below(r, 4);
    bdml_spectral whole;
    switch (bdml_rng_below(r, 4)) {
    case 0:
        whole = bdml_spectral_psd_ball(d + spare, R);
        break;
    case 1:
        whole = bdml_spectral_psd_simplex(d + spare, isfinite(R) ? R : 1.0);
        break;
    default:
        whole = bdml_spectral_distortion(d + spare, K, R);
    }
    return bdml_spectral_reduce(&whole, d);
}

/* How far l is outside the set, relative to its size; by the definition. */
static double violation(const bdml_spectral *s, const double *l)
{
    double lo = l[0], hi = l[0], sum = 0;
    for (int i = 0; i < s->d; i++) {
        lo = fmin(lo, l[i]);
        hi = fmax(hi, l[i]);
        sum += l[i];
    }
    double bad = fmax(-lo, 0), size = fmax(hi, 1e-300);
    if (isfinite(s->K)) {
        bad = fmax(bad, hi / s->K - lo);
        sum += s->extra * hi / s->K;
    }
    if (s->ops == &bdml_psd_simplex_ops) bad = fmax(bad, fabs(sum - s->trace));
    return fmax(bad, sum - s->trace) / size;
}

/* Any member: random values pressed into [a, K a] and under the trace bound. */
static void draw_member(bdml_rng *r, const bdml_spectral *s, double *l)
{
    double a = pow(10.0, 4.0 * bdml_rng_uniform(r) - 2.0), K = fmin(s->K, 1e6), sum = 0;
    bool corner = bdml_rng_below(r, 2) == 0;
    double base = isfinite(s->K) ? a : 0.0;
    for (int i = 0; i < s->d; i++) {
        double u = bdml_rng_uniform(r);
        if (corner) u = u < 0.5 ? 0.0 : 1.0;
        l[i] = base + u * (K - 1.0) * a;
        sum += l[i];
    }
    sum += isfinite(s->K) ? s->extra * a : 0.0;
    double t = bdml_rng_uniform(r);
    if (s->ops == &bdml_psd_simplex_ops) {
        if (sum == 0.0) sum = l[0] = 1.0;
        t = s->trace / sum;
    } else if (isfinite(s->trace) && sum > s->trace) {
        t *= s->trace / sum;
    }
    for (int i = 0; i < s->d; i++) l[i] *= t;
}

/* Rounding in a projection is relative to the largest of z and K a; sums of d terms. */
static double slack(int d, const double *z, const double *l)
{
    double size = 0;
    for (int i = 0; i < d; i++) size = fmax(size, fmax(fabs(z[i]), fabs(l[i])));
    return 64 * d * 2.3e-16 * size;
}

/* ---- projections ---------------------------------------------------------------------------- */

static void projections_have_their_properties(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 4000; trial++) {
        bdml_rng r = bdml_rng_make(11, trial);
        int d = 1 + (int)bdml_rng_below(&r, trial % 2 ? 5 : MAX_D);
        bdml_spectral s = draw_set(&r, d);
        double z[MAX_D], y[MAX_D], pz[MAX_D], py[MAX_D], again[MAX_D], x[MAX_D];
        draw(&r, d, z);
        draw(&r, d, y);
        s.ops->project(&s, z, pz);
        s.ops->project(&s, y, py);

        check_true(violation(&s, pz) <= 1e-14 * d); /* a member */
        for (int i = 1; i < d; i++) check_true(pz[i] >= pz[i - 1]);
        double tol = slack(d, z, pz);
        s.ops->project(&s, pz, again); /* idempotent */
        check_true(sqrt(norm2(d, pz, again)) <= tol + slack(d, pz, again));
        check_true(sqrt(norm2(d, pz, py)) <= sqrt(norm2(d, z, y)) + tol + slack(d, y, py));

        double residual[MAX_D]; /* variational inequality: <z - Pz, x - Pz> <= 0 for members x */
        for (int i = 0; i < d; i++) residual[i] = z[i] - pz[i];
        for (int other = 0; other < 8; other++) {
            draw_member(&r, &s, x);
            assert_true(violation(&s, x) <= 1e-13 * d);
            double size = sqrt(norm2(d, x, pz)) + sqrt(dot(d, pz, pz));
            check_true(dot(d, residual, x) - dot(d, residual, pz) <=
                       tol * size + 1e-13 * d * sqrt(dot(d, residual, residual)) * size);
        }
    }
}

/* min |l - z|^2 for a fixed a: clip(z - nu, a, K a), nu by bisection on the trace. */
static double distance_at(const bdml_spectral *s, const double *z, double a, double *l)
{
    double lo = 0, hi = fabs(z[0]) + fabs(z[s->d - 1]) + s->K * a + 1;
    double nu = 0;
    for (int step = 0; step < 200; step++) {
        double sum = s->extra * a;
        for (int i = 0; i < s->d; i++) sum += l[i] = fmin(fmax(z[i] - nu, a), s->K * a);
        if (step == 0 && sum <= s->trace) break;
        if (sum > s->trace)
            lo = nu;
        else
            hi = nu;
        nu = 0.5 * (lo + hi);
    }
    return norm2(s->d, l, z);
}

/* The distance is convex in a: golden section over a finds the projection without any sorting. */
static void distortion_projection_is_the_nearest(void **state)
{
    (void)state;
    static const double caps[] = {1.0, 1.5, 10.0, 1000.0};
    for (uint64_t trial = 0; trial < 400; trial++) {
        bdml_rng r = bdml_rng_make(12, trial);
        int d = 1 + (int)bdml_rng_below(&r, 8);
        double z[MAX_D], l[MAX_D], best[MAX_D];
        draw(&r, d, z);
        double R = trial % 2 ? INFINITY
                             : (0.1 + bdml_rng_uniform(&r)) * (fabs(z[d - 1]) + fabs(z[0]) + 0.01);
        bdml_spectral whole = bdml_spectral_distortion(d + (int)(trial % 3), caps[trial % 4], R);
        bdml_spectral s = bdml_spectral_reduce(&whole, d);
        s.ops->project(&s, z, l);

        double lo = 0, hi = fmax(fabs(z[0]), fabs(z[d - 1])) + 1;
        if (isfinite(R)) hi = fmin(hi, R / (d + s.extra));
        for (int step = 0; step < 200; step++) {
            double a = lo + 0.381966 * (hi - lo), b = lo + 0.618034 * (hi - lo);
            if (distance_at(&s, z, a, best) <= distance_at(&s, z, b, best))
                hi = b;
            else
                lo = a;
        }
        double found = distance_at(&s, z, 0.5 * (lo + hi), best);
        /* golden section sees a only to sqrt(eps); the value is then right to eps */
        double size = dot(d, z, z) + 1e-60;
        check_close(norm2(d, l, z), found, 1e-9 * size);
        check_true(norm2(d, l, z) <= found + 1e-12 * size);
    }
}

/* The derivative against central differences of the projection, away from its kinks. */
static void face_is_the_derivative(void **state)
{
    (void)state;
    int compared = 0;
    for (uint64_t trial = 0; trial < 2000; trial++) {
        bdml_rng r = bdml_rng_make(15, trial);
        int d = 1 + (int)bdml_rng_below(&r, 8);
        bdml_spectral s = draw_set(&r, d);
        if (isfinite(s.K)) s.K = fmin(s.K, 10.0);
        double z[MAX_D], mid[MAX_D], c[MAX_D], tau[MAX_D], up[MAX_D], down[MAX_D], dz[MAX_D],
            at[MAX_D];
        draw(&r, d, z);
        for (int i = 0; i < d; i++)
            dz[i] = 1e-7 * (fabs(z[0]) + fabs(z[d - 1])) * bdml_rng_normal(&r);
        for (int i = 0; i < d; i++) at[i] = z[i] + dz[i];
        bool sorted = true;
        for (int i = 1; i < d; i++)
            sorted = sorted && z[i] - z[i - 1] > 4 * fabs(dz[i]) + 4 * fabs(dz[i - 1]);
        if (!sorted) continue;
        s.ops->face(&s, z, mid, c, tau);
        double m2[MAX_D], c2[MAX_D], t2[MAX_D];
        s.ops->face(&s, at, m2, c2,
                    t2); /* the same piece on both sides, else there is a kink between */
        if (norm2(d, mid, m2) + norm2(d, c, c2) + norm2(d, tau, t2) > 1e-20) continue;
        s.ops->project(&s, at, up);
        for (int i = 0; i < d; i++) at[i] = z[i] - dz[i];
        s.ops->face(&s, at, m2, c2, t2);
        if (norm2(d, mid, m2) + norm2(d, c, c2) + norm2(d, tau, t2) > 1e-20) continue;
        s.ops->project(&s, at, down);
        double along = dot(d, c, dz), across = dot(d, tau, dz), size = sqrt(dot(d, dz, dz));
        for (int i = 0; i < d; i++)
            check_close(mid[i] * dz[i] + c[i] * along - tau[i] * across, 0.5 * (up[i] - down[i]),
                        1e-6 * size);
        compared++;
    }
    check_true(compared > 500);
}

/* By hand: d = 2, K = 2, z = (0, 3). f(a) = a^2 + (3 - 2a)^2, a = 6/5, l = (1.2, 2.4). With
 * trace <= 3 everything shrinks: a = 1, l = (1, 2). One dimension outside the span, trace <= 3:
 * a <= l_1, l_2 <= 2a, l_1 + l_2 + a <= 3; the nearest is l = (0.75, 1.5), where all three are
 * tight. */
static void distortion_by_hand(void **state)
{
    (void)state;
    double z[2] = {0, 3}, l[2];
    bdml_spectral s = bdml_spectral_distortion(2, 2.0, INFINITY);
    s.ops->project(&s, z, l);
    check_close(l[0], 1.2, 1e-15);
    check_close(l[1], 2.4, 1e-15);
    s.trace = 3.0;
    s.ops->project(&s, z, l);
    check_close(l[0], 1.0, 1e-14);
    check_close(l[1], 2.0, 1e-14);
    s.extra = 1;
    s.ops->project(&s, z, l);
    check_close(l[0], 0.75, 1e-14);
    check_close(l[1], 1.5, 1e-14);
    check_close(bdml_spectral_trace(&s, l), 3.0, 1e-14);
    check_close(bdml_spectral_fill(&s, l), 0.75, 1e-14);
    check_close(bdml_spectral_max_scale(&s, l), 1.0, 1e-14);

    double one[1] = {-2};
    s = bdml_spectral_distortion(1, 1.0, 5.0);
    s.ops->project(&s, one, l);
    check_close(l[0], 0.0, 0.0);
    one[0] = 7;
    s.ops->project(&s, one, l);
    check_close(l[0], 5.0, 1e-15);
}

static void psd_by_hand(void **state)
{
    (void)state;
    double z[3] = {-1, 1, 2}, l[3];
    bdml_spectral s = bdml_spectral_psd_ball(3, 2.0); /* nu = 1/2 */
    s.ops->project(&s, z, l);
    check_close(l[0], 0.0, 0.0);
    check_close(l[1], 0.5, 1e-15);
    check_close(l[2], 1.5, 1e-15);
    s = bdml_spectral_psd_simplex(
        3, 5.0); /* nu = -2/3 over the two largest: (0, 5/3, 8/3), then -1 + 1 */
    s.ops->project(&s, z, l);
    check_close(l[0], 0.0, 1e-15);
    check_close(l[1], 2.0, 1e-15);
    check_close(l[2], 3.0, 1e-15);
    bdml_spectral reduced = bdml_spectral_reduce(&s, 2);
    check_true(reduced.ops == &bdml_psd_ball_ops && reduced.extra == 1);
}

/* ---- linear minimisation -------------------------------------------------------------------- */

/* The value is reached by l, l is a member, and no member does better; for bounded distortion every
 * corner (each subset at K a, the rest at a) is tried. */
static void linear_minimisation_is_exact(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 1500; trial++) {
        bdml_rng r = bdml_rng_make(13, trial);
        int d = 1 + (int)bdml_rng_below(&r, 8);
        bdml_spectral s = draw_set(&r, d);
        if (!isfinite(s.trace)) s.trace = 3.0;
        double w[MAX_D], l[MAX_D], x[MAX_D], tight = s.trace * (0.5 + bdml_rng_uniform(&r));
        draw(&r, d, w);
        double value = s.ops->minimise(&s, w, tight, l);
        bdml_spectral bounded = s;
        if (s.ops != &bdml_psd_simplex_ops) bounded.trace = fmin(tight, s.trace);
        double size = (fabs(w[0]) + fabs(w[d - 1])) * bounded.trace;
        check_close(dot(d, w, l), value, 1e-13 * d * size);
        check_true(violation(&bounded, l) <= 1e-13 * d);
        for (int other = 0; other < 20; other++) {
            draw_member(&r, &bounded, x);
            check_true(dot(d, w, x) >= value - 1e-13 * d * size);
        }
        if (isfinite(s.K))
            for (unsigned subset = 0; subset < 1u << d; subset++) {
                double sum = s.extra;
                for (int i = 0; i < d; i++) sum += x[i] = subset >> i & 1 ? s.K : 1.0;
                check_true(dot(d, w, x) * bounded.trace / sum >= value - 1e-13 * d * size);
                check_true(dot(d, w, x) / sum >= s.ops->density(&s, w) - 1e-13 * d * size);
            }
    }
}

/* Without a trace bound the minimum is 0 or -infinity. */
static void cones_have_no_other_minimum(void **state)
{
    (void)state;
    double up[3] = {-0.1, 1, 2}, down[3] = {-3, 1, 1};
    bdml_spectral s = bdml_spectral_distortion(3, 2.0, INFINITY);
    check_close(s.ops->minimise(&s, up, INFINITY, NULL), 0.0, 0.0);
    check_true(s.ops->minimise(&s, down, INFINITY, NULL) == -INFINITY);
    check_close(s.ops->minimise(&s, down, 4.0, NULL), -4.0,
                1e-15); /* (2*-3 + 1 + 1)/(2+1+1) = -1 */
}

/* Values (1, 2, 3) under K = 4, two dimensions outside: there values may lie from 3/4 to 1, so that the trace is
 * 6 + 2 * 3/4 = 7.5, and under a bound of 7.8 each of the two may take (7.8 - 6)/2 = 0.9. */
static void outside_of_the_span_by_hand(void **state)
{
    (void)state;
    bdml_spectral whole = bdml_spectral_distortion(5, 4.0, 7.8);
    bdml_spectral s = bdml_spectral_reduce(&whole, 3);
    double l[3] = {1, 2, 3}, lo, hi;
    s.ops->outside(&s, l, &lo, &hi);
    check_close(lo, 0.75, 1e-15);
    check_close(hi, 1.0, 1e-15);
    check_close(bdml_spectral_trace(&s, l), 7.5, 1e-14);
    check_close(bdml_spectral_max_scale(&s, l), 7.8 / 7.5, 1e-14);
    check_close(bdml_spectral_fill(&s, l), 0.9, 1e-14);
}

/* ---- diagonal form -------------------------------------------------------------------------- */

static void any_order_gives_the_same(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 300; trial++) {
        bdml_rng r = bdml_rng_make(14, trial);
        int d = 1 + (int)bdml_rng_below(&r, MAX_D), order[MAX_D];
        int64_t place[MAX_D];
        double z[MAX_D], l[MAX_D], mixed[MAX_D], out[MAX_D], sorted[MAX_D];
        bdml_spectral s = draw_set(&r, d);
        if (!isfinite(s.trace)) s.trace = 2.0;
        draw(&r, d, z);
        for (int i = 0; i < d; i++) place[i] = i;
        bdml_rng_shuffle(&r, d, place);
        for (int i = 0; i < d; i++) mixed[place[i]] = z[i];
        s.ops->project(&s, z, l);
        bdml_spectral_project_any(&s, mixed, out, order, sorted);
        for (int i = 0; i < d; i++) check_true(out[place[i]] == l[i]);
        double value = s.ops->minimise(&s, z, INFINITY, l);
        check_true(bdml_spectral_minimise_any(&s, mixed, INFINITY, out, order, sorted) == value);
        check_close(dot(d, mixed, out), value, 1e-12 * d * (fabs(z[0]) + fabs(z[d - 1])) * s.trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_have_their_properties),
        cmocka_unit_test(distortion_projection_is_the_nearest),
        cmocka_unit_test(face_is_the_derivative),
        cmocka_unit_test(distortion_by_hand),
        cmocka_unit_test(psd_by_hand),
        cmocka_unit_test(linear_minimisation_is_exact),
        cmocka_unit_test(cones_have_no_other_minimum),
        cmocka_unit_test(outside_of_the_span_by_hand),
        cmocka_unit_test(any_order_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
