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
#include "check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
    checker *k;
    const certificate *c;
    proof *p;
    ball *points; /* rows x dim */
    size_t *pair; /* of each pair: the one that stands for all between the same two points */
} state;

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

static ball count_of(size_t n)
{
    return ball_of((double)n); /* at most 2^31: exact */
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

/* ---- matrices over pairs and rows --------------------------------------------------------------- */

/* A row or a pair with what makes it equal to others. */
typedef struct entry {
    size_t place, i, j;
    const double *x;
    size_t columns;
} entry;

static int by_values(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    return memcmp(p->x, q->x, p->columns * sizeof *p->x);
}

static int by_rows(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    if (p->i != q->i) return p->i < q->i ? -1 : 1;
    return p->j != q->j ? (p->j < q->j ? -1 : 1) : 0;
}

/* Rows with the same numbers are one point, exactly: s->pair[p] becomes one pair for all that are between the same
 * two points, SIZE_MAX for those between a point and itself. What cancels in exact arithmetic then does here. */
static void merge_pairs(state *s)
{
    const certificate *c = s->c;
    size_t *point = check_take(s->k, c->rows, sizeof *point);
    entry *e = check_take(s->k, c->rows > c->pairs ? c->rows : c->pairs, sizeof *e);
    for (size_t i = 0; i < c->rows; i++)
        e[i] = (entry){.place = i, .x = c->x + i * c->columns, .columns = c->columns};
    qsort(e, c->rows, sizeof *e, by_values);
    for (size_t i = 0; i < c->rows; i++)
        point[e[i].place] =
            i > 0 && by_values(e + i, e + i - 1) == 0 ? point[e[i - 1].place] : e[i].place;
    for (size_t p = 0; p < c->pairs; p++) {
        size_t i = point[c->pi[p]], j = point[c->pj[p]];
        e[p] = (entry){.place = p, .i = i < j ? i : j, .j = i < j ? j : i};
    }
    qsort(e, c->pairs, sizeof *e, by_rows);
    s->pair = check_take(s->k, c->pairs, sizeof *s->pair);
    for (size_t p = 0; p < c->pairs; p++) {
        bool again = p > 0 && by_rows(e + p, e + p - 1) == 0;
        s->pair[e[p].place] = e[p].i == e[p].j ? SIZE_MAX
                              : again          ? s->pair[e[p - 1].place]
                                               : e[p].place;
    }
}

/* out = sum over pairs of weight X_ij (weights are merged), by the Laplacian of the weighted graph:
 *     sum_i p_i z_i',   z_i = sum over pairs (i,j) of weight (p_i - p_j)
 * over the rows that have one. */
static void laplacian(state *s, ball *weight, ball *out)
{
    const certificate *c = s->c;
    size_t dim = c->dim, count = 0, *place = check_take(s->k, c->rows, sizeof *place);
    for (size_t p = 0; p < c->pairs; p++) {
        if (s->pair[p] == p) continue;
        if (s->pair[p] != SIZE_MAX) weight[s->pair[p]] = ball_add(weight[s->pair[p]], weight[p]);
        weight[p] = ball_of(0.0);
    }
    for (size_t p = 0; p < c->pairs; p++) {
        if (ball_is_zero(weight[p])) continue;
        if (place[c->pi[p]] == 0) place[c->pi[p]] = ++count;
        if (place[c->pj[p]] == 0) place[c->pj[p]] = ++count;
    }
    memset(out, 0, dim * dim * sizeof *out);
    if (count == 0) return;
    ball *a = check_take(s->k, dim * count, sizeof *a),
         *z = check_take(s->k, dim * count, sizeof *z);
    for (size_t i = 0; i < c->rows; i++)
        for (size_t r = 0; place[i] > 0 && r < dim; r++)
            a[r * count + place[i] - 1] = s->points[i * dim + r];
    for (size_t p = 0; p < c->pairs; p++) {
        size_t i = c->pi[p], j = c->pj[p];
        if (ball_is_zero(weight[p])) continue;
        ball *zi = z + (place[i] - 1) * dim, *zj = z + (place[j] - 1) * dim;
        for (size_t r = 0; r < dim; r++) {
            ball x = ball_mul(weight[p], ball_sub(s->points[i * dim + r], s->points[j * dim + r]));
            zi[r] = ball_add(zi[r], x);
            zj[r] = ball_sub(zj[r], x);
        }
    }
    check_outer(s->k, dim, count, a, z, out);
}

/* v (rows x width) less the mean of each class. */
static ball *less_class_means(state *s, size_t width, const ball *v)
{
    const certificate *c = s->c;
    ball *mean = check_take(s->k, c->rows * width, sizeof *mean);
    ball *out = check_take(s->k, c->rows * width, sizeof *out);
    size_t *size = check_take(s->k, c->rows, sizeof *size);
    for (size_t i = 0; i < c->rows; i++) {
        ball *m = mean + (size_t)c->label[i] * width;
        size[c->label[i]]++;
        for (size_t r = 0; r < width; r++) m[r] = ball_add(m[r], v[i * width + r]);
    }
    for (size_t label = 0; label < c->rows; label++)
        for (size_t r = 0; size[label] > 0 && r < width; r++)
            mean[label * width + r] = ball_div(mean[label * width + r], count_of(size[label]));
    for (size_t i = 0; i < c->rows; i++) {
        const ball *m = mean + (size_t)c->label[i] * width;
        for (size_t r = 0; r < width; r++) out[i * width + r] = ball_sub(v[i * width + r], m[r]);
    }
    return out;
}

/* G = scale * (mean of X_ij over the targets, or mean of (p_i - class mean)(p_i - class mean)'). */
static void make_objective(state *s, ball *g)
{
    const certificate *c = s->c;
    if (c->objective == OBJECTIVE_TARGETS) {
        ball *weight = check_take(s->k, c->pairs, sizeof *weight);
        ball each = ball_div(ball_of(c->scale), count_of(c->targets));
        for (size_t t = 0; t < c->targets; t++)
            weight[c->target[t]] = ball_add(weight[c->target[t]], each);
        laplacian(s, weight, g);
        return;
    }
    ball each = ball_div(ball_of(c->scale), count_of(c->rows));
    ball *v = less_class_means(s, c->dim, s->points);
    ball *a = check_take(s->k, c->rows * c->dim, sizeof *a);
    for (size_t i = 0; i < c->rows; i++)
        for (size_t r = 0; r < c->dim; r++) a[r * c->rows + i] = v[i * c->dim + r];
    check_outer(s->k, c->dim, c->rows, a, v, g);
    for (size_t e = 0; e < c->dim * c->dim; e++) g[e] = ball_mul(each, g[e]);
}

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

/* out = A*y */
static void adjoint(state *s, const double *y, ball *out)
{
    const certificate *c = s->c;
    ball *weight = check_take(s->k, c->pairs, sizeof *weight);
    for (size_t i = 0; i < c->multipliers; i++) {
        size_t far = c->far[c->at[i]], near = c->near[c->at[i]];
        weight[far] = ball_add(weight[far], ball_of(y[i]));
        if (near != SIZE_MAX) weight[near] = ball_sub(weight[near], ball_of(y[i]));
    }
    laplacian(s, weight, out);
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

/* <G,M> */
static ball pull(state *s, const ball *z, const ball *distance)
{
    const certificate *c = s->c;
    ball sum = ball_of(0.0);
    size_t q = c->map_rows, count = c->targets;
    for (size_t t = 0; t < c->targets; t++) sum = ball_add(sum, distance[c->target[t]]);
    if (c->objective == OBJECTIVE_WITHIN) {
        const ball *v = less_class_means(s, q, z);
        for (size_t i = 0; i < c->rows; i++) sum = ball_add(sum, dot(q, v + i * q, v + i * q));
        count = c->rows;
    }
    return ball_mul(ball_div(ball_of(c->scale), count_of(count)), sum);
}

static void check_upper(state *s)
{
    const checker *k = s->k;
    const certificate *c = s->c;
    size_t q = c->map_rows;
    ball *z = check_take(s->k, c->rows * q, sizeof *z);
    const panels map = check_pack(s->k, q, c->dim, c->map);
    CHECK_SHARED
    for (size_t i = 0; i < c->rows; i++)
        if (!check_stops(k)) check_apply(&map, s->points + i * c->dim, z + i * q);
    check_pause(s->k);
    const ball *distance = pair_distances(s, z);
    ball value = pull(s, z, distance);
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
    ball *g = check_take(s->k, dd, sizeof *g), *a = check_take(s->k, dd, sizeof *a),
         sum = ball_of(0.0);
    double *y = usable_multipliers(s), R = c->R;
    for (size_t i = 0; i < c->multipliers; i++) {
        ball v = ball_of(y[i]);
        sum = ball_add(sum, ball_mul(margin_of(c, c->at[i]), v));
        if (c->form == FORM_SQUARED_HINGE && y[i] > 0.0) {
            ball four = ball_mul(ball_of(4.0), cost_of(c, c->at[i]));
            sum = ball_sub(sum, ball_div(ball_mul(v, v), four));
        }
    }
    make_objective(s, g);
    double least = least_density(s, g, TINY);
    if (least > 0.0) R = fmin(R, ball_up(ball_div(ball_of(U), ball_of(least))));
    adjoint(s, y, a);
    for (size_t e = 0; e < dd; e++) a[e] = ball_sub(g[e], a[e]);
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
    adjoint(s, c->y, a);
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
    s.points = check_points(k, c);
    merge_pairs(&s);
    if (c->claim == CLAIM_INFEASIBLE || c->claim == CLAIM_CONTRADICTION) {
        check_infeasible(&s);
    } else {
        double U = c->lower;
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
