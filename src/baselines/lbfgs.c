/* lbfgs.c - limited-memory BFGS with a line search for the strong Wolfe conditions
 *
 *     f(x + a p) <= f(x) + c1 a g'p,     |g(x + a p)'p| <= c2 |g'p|
 *
 * Direction by the two-loop recursion (Nocedal and Wright 2006, algorithm 7.4), scaled by s'y/y'y of the
 * last step; search by bracketing and safeguarded cubic interpolation (algorithms 3.5 and 3.6). Pairs with
 * s'y too small are not kept, so the direction is one of descent also where f is not convex. */
#include "baselines/lbfgs.h"

#include <stdlib.h>

#include "linalg/linalg.h"

static const double C1 = 1e-4, C2 = 0.9;
/* A pair is kept when s'y exceeds this share of |s||y|. */
static const double CURVATURE = 1e-10;
/* Interpolated steps stay away from the ends of the bracket by this share of it. */
static const double MARGIN = 0.1;

enum { MOST_TRIES = 30 /* evaluations of a line search */ };

typedef struct state {
    bdml_handle *h;
    int n;
    double *x, *g, *p, *trial, *g_trial;
    double *s, *y, *rho, *alpha; /* pairs in a ring: column k of s and y */
    int kept, next, memory;
    double f;
    bdml_smooth_fn fn;
    void *user;
    int64_t evaluations;
} state;

bdml_lbfgs_settings bdml_lbfgs_defaults(void)
{
    return (bdml_lbfgs_settings){
        .what = "minimise", .memory = 10, .max_iter = 1000, .gradient = 1e-5, .f_floor = 1.0};
}

static double *column(double *a, int n, int k)
{
    return a + (size_t)n * (size_t)k;
}

static void add(int n, double a, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

/* p = -H g */
static void direction(state *w)
{
    int n = w->n;
    for (int i = 0; i < n; i++) w->p[i] = -w->g[i];
    for (int j = 1; j <= w->kept; j++) {
        int k = (w->next - j + w->memory) % w->memory;
        w->alpha[k] = w->rho[k] * bdml_la_dot(n, column(w->s, n, k), w->p);
        add(n, -w->alpha[k], column(w->y, n, k), w->p);
    }
    if (w->kept > 0) {
        int last = (w->next - 1 + w->memory) % w->memory;
        const double *y = column(w->y, n, last);
        double scale = 1.0 / (w->rho[last] * bdml_la_dot(n, y, y));
        for (int i = 0; i < n; i++) w->p[i] *= scale;
    }
    for (int j = w->kept; j >= 1; j--) {
        int k = (w->next - j + w->memory) % w->memory;
        double beta = w->rho[k] * bdml_la_dot(n, column(w->y, n, k), w->p);
        add(n, w->alpha[k] - beta, column(w->s, n, k), w->p);
    }
}

/* ---- line search ----------------------------------------------------------------------------------- */

typedef struct point {
    double a, f, slope;
} point;

/* f and slope at x + a p; trial and g_trial hold the point. A value that is not finite counts as
 * infinite: the step was too long. */
static bdml_status look(state *w, double a, point *out)
{
    for (int i = 0; i < w->n; i++) w->trial[i] = w->x[i] + a * w->p[i];
    out->a = a;
    BDML_TRY(w->fn(w->user, w->trial, &out->f, w->g_trial));
    w->evaluations++;
    out->slope = bdml_la_dot(w->n, w->g_trial, w->p);
    if (!isfinite(out->f) || !isfinite(out->slope)) out->f = INFINITY;
    return BDML_OK;
}

/* Minimiser of the cubic through two points with their slopes, kept inside the bracket. */
static double interpolate(const point *lo, const point *hi)
{
    double width = hi->a - lo->a, a = lo->a + 0.5 * width;
    if (isfinite(hi->f)) {
        double d1 = lo->slope + hi->slope - 3.0 * (lo->f - hi->f) / (lo->a - hi->a);
        double inside = d1 * d1 - lo->slope * hi->slope;
        if (inside >= 0.0) {
            double d2 = copysign(sqrt(inside), width);
            a = hi->a - width * (hi->slope + d2 - d1) / (hi->slope - lo->slope + 2.0 * d2);
        }
    } else {
        a = lo->a + 0.1 * width;
    }
    double nearest = lo->a + MARGIN * width, farthest = hi->a - MARGIN * width;
    if (!isfinite(a)) return lo->a + 0.5 * width;
    return width > 0.0 ? BDML_MIN(BDML_MAX(a, nearest), farthest)
                       : BDML_MAX(BDML_MIN(a, nearest), farthest);
}

/* *found: trial holds an acceptable point, or at least a lower one; *end is it. */
static bdml_status line_search(state *w, double first, point *end, bool *found)
{
    point start = {0.0, w->f, bdml_la_dot(w->n, w->g, w->p)}, lo = start, hi = start, now;
    bool bracketed = false;
    double a = first;

    *found = false;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        BDML_TRY(look(w, a, &now));
        if (isinf(now.f) && bdml_time_is_up(w->h)) return BDML_OK;
        bool low = now.f <= start.f + C1 * now.a * start.slope && now.f < INFINITY;
        if (low && fabs(now.slope) <= C2 * fabs(start.slope)) {
            *end = now;
            *found = true;
            return BDML_OK;
        }
        if (!low || (now.f >= lo.f && lo.a > 0.0)) {
            hi = now;
            bracketed = true;
        } else {
            if (bracketed ? now.slope * (hi.a - lo.a) >= 0.0 : now.slope >= 0.0) {
                hi = lo;
                bracketed = true;
            }
            lo = now;
        }
        a = bracketed ? interpolate(&lo, &hi) : 4.0 * a;
        if (a == lo.a || a == hi.a) break;
    }
    if (lo.a > 0.0 && lo.f < start.f) { /* lower, if not flat enough */
        BDML_TRY(look(w, lo.a, end));
        *found = end->f < INFINITY;
    }
    return BDML_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/* The trial point becomes the point; the pair is kept where its curvature is positive. */
static void accept(state *w, double f)
{
    int n = w->n;
    double *s = column(w->s, n, w->next), *y = column(w->y, n, w->next), *swap;
    for (int i = 0; i < n; i++) {
        s[i] = w->trial[i] - w->x[i];
        y[i] = w->g_trial[i] - w->g[i];
        w->x[i] = w->trial[i];
    }
    swap = w->g, w->g = w->g_trial, w->g_trial = swap;
    w->f = f;
    double sy = bdml_la_dot(n, s, y);
    if (sy <= CURVATURE * bdml_la_norm(n, s) * bdml_la_norm(n, y)) return;
    w->rho[w->next] = 1.0 / sy;
    w->next = (w->next + 1) % w->memory;
    w->kept = BDML_MIN(w->kept + 1, w->memory);
}

static double size_of(const bdml_lbfgs_settings *s, double f)
{
    return BDML_MAX(fabs(f), s->f_floor);
}

static bdml_status minimise(state *w, const bdml_lbfgs_settings *s, bdml_lbfgs_result *r)
{
    BDML_TRY(w->fn(w->user, w->x, &w->f, w->g));
    w->evaluations = 1;
    if (!isfinite(w->f) && bdml_time_is_up(w->h)) { /* no time for one sum: the start it is */
        w->f = NAN;
        r->gradient = INFINITY;
        r->stop = BDML_LBFGS_TIME;
        return BDML_OK;
    }
    if (!isfinite(w->f))
        return bdml_fail(w->h, BDML_ERR_DATA, "%s: the objective is %g at the start", s->what,
                         w->f);
    for (r->iterations = 0;; r->iterations++) {
        double norm = bdml_la_norm(w->n, w->g), before = w->f;
        r->gradient = norm * BDML_MAX(bdml_la_norm(w->n, w->x), 1.0) / size_of(s, w->f);
        r->stop = BDML_LBFGS_GRADIENT;
        if (r->gradient <= s->gradient) return BDML_OK;
        r->stop = BDML_LBFGS_ITERATIONS;
        if (r->iterations >= s->max_iter) return BDML_OK;
        r->stop = BDML_LBFGS_TIME;
        if (bdml_time_is_up(w->h)) return BDML_OK;
        BDML_TRY(bdml_progress(w->h, s->what, r->iterations, s->max_iter));
        direction(w);
        if (!(bdml_la_dot(w->n, w->p, w->g) < 0.0)) {
            w->kept = 0;
            direction(w);
        }
        point end;
        bool found;
        /* the first direction has no size yet: a small share of the point's own */
        double first = w->kept > 0 ? 1.0 : 0.03 * BDML_MAX(bdml_la_norm(w->n, w->x), 1.0) / norm;
        BDML_TRY(line_search(w, first, &end, &found));
        r->stop = BDML_LBFGS_TIME;
        if (!found && bdml_time_is_up(w->h)) return BDML_OK;
        r->stop = BDML_LBFGS_LINE;
        if (!found && w->kept == 0) return BDML_OK;
        if (!found) { /* once more along the gradient */
            w->kept = 0;
            continue;
        }
        accept(w, end.f);
        r->stop = BDML_LBFGS_CHANGE;
        if (s->change > 0.0 && before - w->f <= s->change * size_of(s, w->f)) {
            r->gradient = bdml_la_norm(w->n, w->g) * BDML_MAX(bdml_la_norm(w->n, w->x), 1.0) /
                          size_of(s, w->f);
            r->iterations++;
            return BDML_OK;
        }
    }
}

bdml_status bdml_lbfgs(bdml_handle *h, int n, double *x, bdml_smooth_fn fn, void *user,
                       const bdml_lbfgs_settings *s, bdml_lbfgs_result *r)
{
    bdml_status status = BDML_OK;
    state w = {.h = h, .n = n, .x = x, .memory = s->memory, .fn = fn, .user = user};
    size_t pairs = (size_t)n * (size_t)s->memory;

    memset(r, 0, sizeof *r);
    BDML_NEW(h, w.g, n);
    BDML_NEW(h, w.p, n);
    BDML_NEW(h, w.trial, n);
    BDML_NEW(h, w.g_trial, n);
    BDML_NEW(h, w.s, pairs);
    BDML_NEW(h, w.y, pairs);
    BDML_NEW(h, w.rho, s->memory);
    BDML_NEW(h, w.alpha, s->memory);
    status = minimise(&w, s, r);
    r->f = w.f;
    r->evaluations = w.evaluations;
done:
    free(w.g);
    free(w.p);
    free(w.trial);
    free(w.g_trial);
    free(w.s);
    free(w.y);
    free(w.rho);
    free(w.alpha);
    return status;
}
