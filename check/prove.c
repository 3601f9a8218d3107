/* prove.c - the proof of a claim, with bounds at every step. The points p_i are those of points.c;
 *
 *     X_ij = (p_i - p_j)(p_i - p_j)',   A_t = X_far - X_near   (or X_far),   c_t = cost w_t / m
 *
 *     hard   min <G,M>                                       <A_t,M> >= mu_t
 *     soft   min <G,M> + sum_t c_t phi(mu_t - <A_t,M>)       phi(s) = max(s,0)^2 or max(s,0)
 *
 * over the symmetric M with a I <= M <= K a I for some a >= 0 and trace(M) <= R; only diagonal ones where
 * the certificate says so.
 *
 * Upper  the objective at M = B'B, B the map of the certificate, when M is allowed.
 * Lower  for y >= 0 (hinge: y_t <= c_t) and any U >= 0:  min(U, LB),
 *            LB = sum mu_t y_t [- sum y_t^2 / (4 c_t), squared hinge] + min <G - A*y, M>,
 *        the minimum over the set with trace at most min(R, U/g), g the least <G,M> at trace 1: an M with
 *        an objective up to U has no larger trace.
 * Infeasible at trace R:  sum mu_t y_t > max <A*y, M> over the set.
 * Contradiction:  y > 0 somewhere and max <A*y, M> <= 0 over the set, whatever the trace. */
#include "matrices.h"

#include <stdarg.h>

static void fail(proof *p, const char *fmt, ...) CHECK_PRINTF(2, 3);

/* The first reason is the one that is told. */
static void fail(proof *p, const char *fmt, ...)
{
    va_list ap;
    if (p->failure[0]) return;
    va_start(ap, fmt);
    vsnprintf(p->failure, sizeof p->failure, fmt, ap);
    va_end(ap);
}

static ball margin_of(const certificate *c, size_t t)
{
    return ball_mul(ball_of(c->margin), ball_of(c->own_margin[t]));
}

/* c_t */
static ball cost_of(const certificate *c, size_t t)
{
    return ball_div(ball_mul(ball_of(c->cost), ball_of(c->weight[t])), count_of(c->m));
}

/* ---- multipliers, spectrum ------------------------------------------------------------------------ */

/* The multipliers as they are used: hinge y_t <= c_t; none where c_t = 0 in a soft form. */
static double *usable_multipliers(state *s)
{
    const certificate *c = s->c;
    double *y = check_take(s->k, c->multipliers, sizeof *y);
    for (size_t i = 0; i < c->multipliers; i++) {
        y[i] = c->y[i];
        if (c->form == FORM_HARD) continue;
        double cost = fmax(ball_low(cost_of(c, c->at[i])), 0.0);
        if (cost == 0.0 || (c->form == FORM_HINGE && y[i] > cost)) y[i] = cost;
    }
    return y;
}

/* Lower bounds of the eigenvalues of a, or of its diagonal entries when only diagonal M count. */
static void spectrum(state *s, const ball *a, bool fine, double *low)
{
    size_t d = s->c->dim;
    if (!s->c->diagonal) {
        check_eigenvalues(s->k, d, a, fine, low);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        double v = ball_low(a[i * d + i]);
        size_t j = i;
        for (; j > 0 && low[j - 1] > v; j--) low[j] = low[j - 1];
        low[j] = v;
    }
}

/* ---- the metric --------------------------------------------------------------------------------- */

/* Largest row sum of |F|, F_ij = b_i'b_j / |b_i||b_j| off the diagonal; square: |b_i|^2. */
static double skewness(state *s, const ball *square)
{
    const certificate *c = s->c;
    size_t d = c->dim;
    ball *rows = check_take(s->k, d * d, sizeof *rows);
    double most = 0.0;
    for (size_t e = 0; e < d * d; e++) rows[e] = ball_of(c->map[e]);
    for (size_t i = 0; i < d; i++) {
        double sum = 0.0;
        check_pause(s->k);
        for (size_t j = 0; j < d; j++) {
            bool apart = true; /* no column used by both: exactly orthogonal */
            for (size_t l = 0; l < d && apart; l++)
                apart = c->map[i * d + l] == 0.0 || c->map[j * d + l] == 0.0;
            if (i == j || apart) continue;
            ball length = ball_sqrt(ball_mul(square[i], square[j]));
            sum += ball_size(ball_div(dot(d, rows + i * d, rows + j * d), length));
        }
        most = fmax(most, sum * (1.0 + 2.0 * ((double)d + 2.0) * UNIT));
    }
    return most;
}

/* B B' = D^(1/2) (I + F) D^(1/2), D the squared lengths of the rows. The eigenvalues of B'B are those of BB'
 * (B is square) and, by Ostrowski, lie in [min D (1 - f), max D (1 + f)], f = |F|. */
static void check_map(state *s)
{
    const certificate *c = s->c;
    size_t d = c->dim;
    ball *square = check_take(s->k, d, sizeof *square), trace = ball_of(0.0);
    double least = INFINITY, most = 0.0;
    if (c->map_rows != d) {
        fail(s->p, "the map has %zu rows where %zu are needed: M is singular", c->map_rows, d);
        return;
    }
    for (size_t i = 0; i < d; i++) {
        size_t used = 0;
        for (size_t j = 0; j < d; j++) {
            ball b = ball_of(c->map[i * d + j]);
            used += b.hi != 0.0;
            square[i] = ball_add(square[i], ball_mul(b, b));
        }
        if (c->diagonal && used != 1)
            fail(s->p, "row %zu of the map has %zu entries: M is not seen to be diagonal", i, used);
        if (!(ball_low(square[i]) > 0.0)) {
            fail(s->p, "row %zu of the map is too short", i);
            return;
        }
        trace = ball_add(trace, square[i]);
        least = fmin(least, ball_low(square[i]));
        most = fmax(most, ball_up(square[i]));
    }
    double f = skewness(s, square);
    if (!(f < 0.5)) {
        fail(s->p, "the rows of the map are not orthogonal enough (%.3g)", f);
        return;
    }
    ball above = ball_add(ball_of(1.0), ball_of(f)), below = ball_sub(ball_of(1.0), ball_of(f));
    s->p->kappa =
        ball_up(ball_div(ball_mul(ball_of(most), above), ball_mul(ball_of(least), below)));
    s->p->trace = ball_up(trace);
    /* K D_i (1 - f) >= D_j (1 + f) for all i, j; with K = 1 and f = 0 nothing is rounded. */
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            ball cap = f > 0.0 ? ball_mul(square[i], below) : square[i];
            ball top = f > 0.0 ? ball_mul(square[j], above) : square[j];
            if (c->K > 1.0) cap = ball_mul(ball_of(c->K), cap);
            if (!(ball_low(ball_sub(cap, top)) >= 0.0))
                fail(s->p, "kappa(M) is %.17g or less, the cap is %.17g", s->p->kappa, c->K);
        }
    if (isfinite(c->R) && !(s->p->trace <= c->R))
        fail(s->p, "trace(M) is %.17g or less, the bound is %.17g", s->p->trace, c->R);
}

/* ---- upper end ---------------------------------------------------------------------------------- */

/* |B (p_i - p_j)|^2 of every pair, z = B p. */
static ball *pair_distances(state *s, const ball *z)
{
    const certificate *c = s->c;
    size_t q = c->map_rows;
    ball *distance = check_take(s->k, c->pairs, sizeof *distance),
         *v = check_take(s->k, q, sizeof *v);
    for (size_t p = 0; p < c->pairs; p++) {
        if (s->pair[p] == SIZE_MAX) continue; /* one point: 0 */
        check_pause(s->k);
        for (size_t r = 0; r < q; r++) v[r] = ball_sub(z[c->pi[p] * q + r], z[c->pj[p] * q + r]);
        distance[p] = dot(q, v, v);
    }
    return distance;
}

/* z = B p of the rows that have points. */
static ball *map_points(state *s)
{
    const checker *k = s->k;
    const certificate *c = s->c;
    size_t q = c->map_rows;
    ball *z = check_take(s->k, c->rows * q, sizeof *z);
    const panels map = check_pack(s->k, q, c->dim, c->map);
    CHECK_SHARED
    for (size_t i = 0; i < c->rows; i++)
        if (s->used[i] && !check_stops(k)) check_apply(&map, s->points + i * c->dim, z + i * q);
    check_pause(s->k);
    return z;
}

/* <G,M> from |B p_i - B p_j|^2 over the targets; or as the sum over the columns of B and of BG of their
 * products, without going over the rows of the data again. */
static ball pull(state *s, const ball *distance)
{
    const certificate *c = s->c;
    size_t d = c->dim, q = c->map_rows;
    ball *bg = check_take(s->k, q, sizeof *bg), *b = check_take(s->k, q, sizeof *b);
    ball sum = ball_of(0.0);
    if (c->objective == OBJECTIVE_TARGETS) {
        for (size_t t = 0; t < c->targets; t++) sum = ball_add(sum, distance[c->target[t]]);
        return ball_mul(ball_div(ball_of(c->scale), count_of(c->targets)), sum);
    }
    const panels map = check_pack(s->k, q, d, c->map);
    for (size_t i = 0; i < d; i++, check_pause(s->k)) {
        for (size_t r = 0; r < q; r++) b[r] = ball_of(c->map[r * d + i]);
        check_apply(&map, s->g + i * d, bg);
        sum = ball_add(sum, dot(q, b, bg));
    }
    return sum;
}

static void check_upper(state *s)
{
    const certificate *c = s->c;
    const ball *distance = pair_distances(s, map_points(s));
    ball value = pull(s, distance);
    double worst = INFINITY;
    for (size_t t = 0; t < c->m; t++) {
        ball v = distance[c->far[t]], mu = margin_of(c, t);
        if (c->near[t] != SIZE_MAX) v = ball_sub(v, distance[c->near[t]]);
        ball miss = ball_sub(mu, v);
        double ratio = ball_low(ball_div(v, mu));
        if (!(ratio >= worst)) worst = ratio;
        if (c->form == FORM_HARD) {
            if (!(ball_up(miss) <= 0.0))
                fail(
                    s->p,
                    "constraint %zu is not seen to be met: <A,M> is %.17g at least, %.17g is asked",
                    t, ball_low(v), ball_up(mu));
            continue;
        }
        double most = ball_up(miss);
        if (!(most > 0.0)) continue;
        ball loss = ball_of(most); /* the loss grows with the miss */
        if (c->form == FORM_SQUARED_HINGE) loss = ball_mul(loss, loss);
        value = ball_add(value, ball_mul(cost_of(c, t), loss));
    }
    s->p->worst = worst;
    s->p->upper = ball_up(value);
    if (!isfinite(s->p->upper)) fail(s->p, "the objective overflows");
}

/* ---- lower end ---------------------------------------------------------------------------------- */

/* From below: min <a,M> over the set at trace 1. Coarse bounds of the eigenvalues first; fine ones where these do
 * not do. */
static double least_density(state *s, const ball *a, double enough)
{
    double *low = check_take(s->k, s->c->dim, sizeof *low);
    spectrum(s, a, false, low);
    double density = check_density(s->c->dim, low, s->c->K);
    if (density >= enough) return density;
    spectrum(s, a, true, low);
    return fmax(density, check_density(s->c->dim, low, s->c->K));
}

static void check_lower(state *s, double U)
{
    const certificate *c = s->c;
    size_t dd = c->dim * c->dim;
    ball *a = check_take(s->k, dd, sizeof *a), sum = ball_of(0.0);
    double *y = usable_multipliers(s), R = c->R;
    for (size_t i = 0; i < c->multipliers; i++) {
        ball v = ball_of(y[i]);
        sum = ball_add(sum, ball_mul(margin_of(c, c->at[i]), v));
        if (c->form == FORM_SQUARED_HINGE && y[i] > 0.0) {
            ball four = ball_mul(ball_of(4.0), cost_of(c, c->at[i]));
            sum = ball_sub(sum, ball_div(ball_mul(v, v), four));
        }
    }
    double least = least_density(s, s->g, TINY);
    if (least > 0.0) R = fmin(R, ball_up(ball_div(ball_of(U), ball_of(least))));
    check_adjoint(s, y, a);
    for (size_t e = 0; e < dd; e++) a[e] = ball_sub(s->g[e], a[e]);
    /* sum + R density must reach the claim: with less the finer bounds are worth their cost */
    double spare = ball_low(sum) - c->lower;
    double density = least_density(s, a, isfinite(R) && spare > 0.0 ? -0.999 * spare / R : 0.0);
    if (!(density >= 0.0)) sum = ball_add(sum, ball_mul(ball_of(R), ball_of(density)));
    s->p->lower = fmax(fmin(ball_low(sum), U), 0.0); /* an objective is never negative */
}

/* ---- infeasibility ------------------------------------------------------------------------------ */

static void check_infeasible(state *s)
{
    const certificate *c = s->c;
    size_t dd = c->dim * c->dim;
    ball *a = check_take(s->k, dd, sizeof *a), needed = ball_of(0.0);
    for (size_t i = 0; i < c->multipliers; i++)
        needed = ball_add(needed, ball_mul(margin_of(c, c->at[i]), ball_of(c->y[i])));
    check_adjoint(s, c->y, a);
    for (size_t e = 0; e < dd; e++) a[e] = ball_minus(a[e]);
    /* sum y_t <A_t,M> <= most * trace(M) for every M allowed, but the margins add up to `needed`. */
    double enough = c->claim == CLAIM_INFEASIBLE ? -0.999 * ball_low(needed) / c->R : 0.0;
    double most = -least_density(s, a, enough);
    if (!(ball_low(needed) > 0.0)) {
        fail(s->p, "the multipliers are zero");
        return;
    }
    s->p->reach = most <= 0.0 ? INFINITY : ball_low(ball_div(needed, ball_of(most)));
    if (s->p->reach == -INFINITY && ball_low(needed) / most > DBL_MAX) s->p->reach = DBL_MAX;
    if (c->claim == CLAIM_CONTRADICTION && s->p->reach != INFINITY)
        fail(s->p, "proven only for traces below %.17g", s->p->reach);
    if (c->claim == CLAIM_INFEASIBLE && !(s->p->reach > c->R))
        fail(s->p, "proven only for traces below %.17g, claimed for %.17g", s->p->reach, c->R);
}

/* ---- the claim ---------------------------------------------------------------------------------- */

void check_prove(checker *k, const certificate *c, proof *p)
{
    state s = {.k = k, .c = c, .p = p};
    *p =
        (proof){.kappa = NAN, .trace = NAN, .worst = NAN, .lower = NAN, .upper = NAN, .reach = NAN};
    for (size_t t = 0; t < c->m; t++)
        if (!(ball_low(margin_of(c, t)) > 0.0))
            check_refuse(k, "the margin of constraint %zu is zero", t);
    s.before = check_points(k, c);
    check_make_points(&s);
    check_merge_pairs(&s);
    if (c->claim == CLAIM_INFEASIBLE || c->claim == CLAIM_CONTRADICTION) {
        check_infeasible(&s);
    } else {
        double U = c->lower;
        check_objective(&s);
        if (c->claim == CLAIM_BRACKET) {
            check_map(&s);
            if (!p->failure[0]) check_upper(&s);
            if (p->failure[0]) {
                p->upper = NAN; /* M is not seen to be allowed: its objective is no upper end */
            } else {
                U = p->upper;
                if (!(p->upper <= c->upper))
                    fail(p, "the upper end is %.17g, claimed %.17g", p->upper, c->upper);
            }
        }
        check_lower(&s, fmax(U, 0.0));
        if (!(p->lower >= c->lower))
            fail(p, "the lower end is %.17g, claimed %.17g", p->lower, c->lower);
    }
    p->confirmed = !p->failure[0];
}
