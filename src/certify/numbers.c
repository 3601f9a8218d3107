/* numbers.c - level "numbers": what the claim says of the problem that stands in the file, recomputed by plain
 * loops.
 *
 * Upper    the objective at N = B'B, which must lie in the set and (hard form) meet every margin.
 * Lower    for multipliers y >= 0 (hinge: y_t <= c_t)
 *              sum mu_t y_t [- sum y_t^2 / (4 c_t) for the squared hinge] + min <G - A*y, N>
 *          over kappa(N) <= K, trace(N) <= R', R' = min(R, upper / density of G): no better N has a
 *          larger trace.
 * Proof of infeasibility: sum mu_t y_t > max <A*y, N> over kappa(N) <= K, trace(N) <= R.
 *
 * Tolerances: everything is summed in extended precision (64 bits of mantissa), so what is left are
 * the roundings of the numbers in the file, relative 1e-9 at most for what the library writes. */
#include "certify/plain.h"

#include <float.h>
#include <stdlib.h>

/* The claim may be off by this much, relative: far above rounding, far below any gap. */
static const double TOLERANCE = 1e-7;
/* Where data lie far from the origin, training sees the points rounded. What it then claims is proven of a multiple of
 * its metric, by so much at most, which the statement names; figures of a metric that is none of the allowed ones
 * may be off by as much. So may sums over points, in which near pairs all but cancel: there the prover, which has twice
 * the digits, decides. */
static const double PLACED = 6e-5;

/* ---- the metric on p ----------------------------------------------------------------------------------- */

/* N = B'B; with a reference B stands in the evidence, and L must be B reference. */
static void make_metric(bdml_plain *w)
{
    const double *map = w->e->reference ? w->e->map : w->model->l;
    size_t d = (size_t)w->d, q = (size_t)w->model->q, columns = (size_t)w->model->d;
    long double off = 0.0L, size = 0.0L;

    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            long double sum = 0.0L;
            for (size_t r = 0; r < q; r++) sum += (long double)map[r * d + i] * map[r * d + j];
            w->metric[i * d + j] = sum;
        }
    for (size_t r = 0; w->e->reference && r < q; r++)
        for (size_t j = 0; j < columns; j++) {
            long double sum = 0.0L;
            for (size_t k = 0; k < d; k++)
                sum += (long double)map[r * d + k] * w->e->reference[k * columns + j];
            off = fmaxl(off, fabsl(sum - w->model->l[r * columns + j]));
            size = fmaxl(size, fabsl(sum));
        }
    bool ok = off <= 1e-12L * size * (long double)d;
    if (w->e->reference)
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "map", "map evidence.map", ok,
                          "L differs from B times the reference by %.2g of %.2g", (double)off,
                          (double)size);
}

/* (p_i - p_j)' N (p_i - p_j) for every pair through N p_i: n d^2 + pairs d operations. */
static void pair_distances(bdml_plain *w, long double *mapped, long double *distance)
{
    size_t d = (size_t)w->d;
    for (size_t i = 0; i < (size_t)w->n; i++)
        for (size_t r = 0; r < d; r++) {
            long double sum = 0.0L;
            for (size_t s = 0; s < d; s++) sum += w->metric[r * d + s] * w->p[i * d + s];
            mapped[i * d + r] = sum;
        }
    for (int64_t k = 0; k < w->c->pairs; k++) {
        size_t i = (size_t)w->c->pi[k], j = (size_t)w->c->pj[k];
        long double sum = 0.0L;
        for (size_t r = 0; r < d; r++)
            sum += (w->p[i * d + r] - w->p[j * d + r]) * (mapped[i * d + r] - mapped[j * d + r]);
        distance[k] = sum;
    }
}

/* ---- checks ------------------------------------------------------------------------------------------------ */

double bdml_kappa_slack(int d, double kappa)
{
    return 1e-9 + 4.0 * d * DBL_EPSILON * kappa;
}

bool bdml_same_kappa(int d, double a, double b)
{
    double less = BDML_MIN(a, b), slack = bdml_kappa_slack(d, less);
    return slack >= 0.5 || (isfinite(a) && isfinite(b) && fabs(a - b) <= 2.0 * slack * less);
}

/* kappa(N) <= K, trace(N) <= R. */
static void check_set(bdml_plain *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    long double trace = 0.0L;
    memcpy(w->slack, w->metric, dd * sizeof *w->slack);
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) {
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "distortion", "evidence.kappa", false,
                          "the eigenvalues of M could not be found");
        return;
    }
    for (int i = 0; i < w->d; i++) trace += w->lambda[i];
    long double lo = w->lambda[0], hi = w->lambda[w->d - 1];
    bool approximate = w->e->claim == BDML_CLAIM_APPROXIMATE;
    double kappa = lo > 0.0L ? (double)(hi / lo) : INFINITY;
    double K = !approximate ? w->e->K : w->e->kappa > 0.0 ? w->e->kappa : INFINITY;
    bool ok = approximate ? bdml_same_kappa(w->d, kappa, K)
                          : kappa <= K * (1.0 + bdml_kappa_slack(w->d, K));
    w->v->kappa = kappa;
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "distortion", "evidence.kappa", ok,
                      approximate       ? "kappa = %.12g, claimed %.12g; the cap asked was %.12g"
                      : w->e->reference ? "kappa = %.12g relative to the reference, cap K = %.12g"
                                        : "kappa = %.12g, cap K = %.12g",
                      kappa, K, w->e->K);
    if (isfinite(w->e->R) && !approximate) {
        bool fits = trace <= w->e->R * (1.0L + TOLERANCE);
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "trace", "", fits,
                          "trace(M) = %.12g, bound R = %.12g", (double)trace, w->e->R);
    }
    if (w->e->diagonal) {
        long double off = 0.0L;
        for (size_t k = 0; k < dd; k++)
            if (k % ((size_t)w->d + 1) != 0) off = fmaxl(off, fabsl(w->metric[k]));
        bool diagonal = off <= hi * 1e-12L;
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "diagonal", "", diagonal,
                          "largest off-diagonal entry %.3g", (double)off);
    }
}

/* Objective at N, and for the hard form the worst margin. */
static bdml_status check_upper(bdml_handle *h, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    long double *mapped = NULL, *distance = NULL, objective = 0.0L, loss = 0.0L;
    long double worst = INFINITY, missed = 0.0L;
    size_t dd = (size_t)w->d * (size_t)w->d;

    BDML_NEW(h, mapped, (size_t)w->n * (size_t)w->d);
    BDML_NEW(h, distance, w->c->pairs);
    pair_distances(w, mapped, distance);
    for (size_t k = 0; k < dd; k++) objective += w->g[k] * w->metric[k];
    for (int64_t t = 0; t < w->c->m; t++) {
        long double v =
            distance[w->c->far[t]] - (w->c->near[t] >= 0 ? distance[w->c->near[t]] : 0.0L);
        long double miss = bdml_plain_margin(w, t) - v;
        worst = fminl(worst, v / bdml_plain_margin(w, t));
        missed = fmaxl(missed, miss);
        if (miss > 0.0L) loss += bdml_plain_cost(w, t) * (w->e->squared ? miss * miss : miss);
    }
    bool approximate = w->e->claim == BDML_CLAIM_APPROXIMATE;
    w->v->factor = 1.0;
    if (approximate) {
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "margins", "evidence.slack",
                          fabsl(missed - w->e->slack) <= PLACED * w->e->margin,
                          "over %lld constraints margins are missed by up to %.8g, claimed %.8g",
                          (long long)w->c->m, (double)missed, w->e->slack);
    } else if (w->e->hard) {
        if (worst > 0.0L && worst < 1.0L) w->v->factor = (double)(1.0L / worst);
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "margins", "", worst >= 1.0L - PLACED,
                          "smallest margin is %.10g times what was asked, over %lld constraints",
                          (double)worst, (long long)w->c->m);
    } else {
        objective += loss;
    }
    w->v->upper = (double)(objective * w->v->factor);
    double off = approximate || w->e->hard ? PLACED : TOLERANCE;
    bool ok = fabsl(w->v->upper - w->e->upper) <= off * fabs(w->e->upper);
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "upper",
                      "map evidence.map evidence.upper evidence.claim", ok,
                      "objective at M = %.12g, claimed %.12g", w->v->upper, w->e->upper);
done:
    free(mapped);
    free(distance);
    return status;
}

static void note_multipliers(bdml_plain *w, bool feasible)
{
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "multipliers",
                      "evidence.dual evidence.dual_constraint", feasible,
                      "%lld of %lld are not zero%s", (long long)w->e->duals, (long long)w->c->m,
                      feasible ? "" : "; some are out of range");
}

static void check_lower(bdml_plain *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    long double linear = 0.0L;
    bool feasible = true;
    for (int64_t t = 0; t < w->c->m; t++) {
        long double y = w->y[t], c = bdml_plain_cost(w, t);
        feasible = feasible && y >= 0.0L && isfinite(w->y[t]);
        if (y == 0.0L) continue;
        linear += bdml_plain_margin(w, t) * y;
        if (!w->e->hard && w->e->squared) linear -= y * y / (4.0L * c);
        if (!w->e->hard && !w->e->squared) feasible = feasible && y <= c * (1.0L + 1e-12L);
    }
    note_multipliers(w, feasible);
    /* A metric better than N has <G,.> below the objective at N, hence this trace at most. An N that misses
     * margins is no upper end: there, one that would refute the claimed lower end. */
    memcpy(w->slack, w->g, dd * sizeof *w->slack);
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) feasible = false;
    long double density = bdml_plain_density(w->d, w->lambda, w->e->K), R = w->e->R;
    long double below =
        w->e->claim == BDML_CLAIM_APPROXIMATE ? fmaxl(w->e->lower, 0.0L) : (long double)w->v->upper;
    if (density > 0.0L) R = fminl(R, below / density);
    bdml_plain_slack(w, true, w->y);
    feasible = feasible && bdml_plain_slack_density(w, w->e->K, &density);
    long double lower = linear + bdml_plain_minimum(w->d, w->lambda, w->e->K, R);
    lower = fmaxl(lower, 0.0L); /* an objective is never negative */
    w->v->lower = (double)lower;
    bool ok = feasible && lower >= w->e->lower - PLACED * fabs(w->e->lower);
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "lower", "evidence.lower", ok,
                      "lower bound from the multipliers %.12g, claimed %.12g", (double)lower,
                      w->e->lower);
    double gap = (w->v->upper - w->v->lower) / fabs(w->v->upper);
    if (w->e->claim == BDML_CLAIM_OPTIMAL)
        bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "gap", "", gap <= w->e->gap_asked + PLACED,
                          "relative gap %.3g, asked %.3g", gap, w->e->gap_asked);
}

/* How far a proof holds where constraints all but cancel each other is beyond plain sums: only a reach out of all
 * proportion is noticed here, the rest is the prover's. */
static void check_infeasible(bdml_plain *w)
{
    long double needed = 0.0L, density = 0.0L;
    bool feasible = true;
    for (int64_t t = 0; t < w->c->m; t++) {
        feasible = feasible && w->y[t] >= 0.0 && isfinite(w->y[t]);
        needed += bdml_plain_margin(w, t) * w->y[t];
    }
    note_multipliers(w, feasible);
    bdml_plain_slack(w, false, w->y); /* -A*y */
    bool found = bdml_plain_slack_density(w, w->e->K, &density);
    /* sum y_t <A_t,N> <= most * trace(N) for every N allowed, but the margins add up to `needed`. */
    long double most = -density, reach = most > 0.0L ? needed / most : INFINITY;
    bool every = !isfinite(w->e->reach);
    bool ok = found && feasible && needed > 0.0L && (every || reach > 0.5L * w->e->reach);
    bdml_verdict_note(w->v, BDML_LEVEL_NUMBERS, "infeasibility",
                      "evidence.claim evidence.reach evidence.dual evidence.dual_constraint", ok,
                      every ? "the order of distances contradicts itself"
                            : "no metric with trace below %.6g meets the margins",
                      (double)reach);
}

bdml_status bdml_check_numbers(bdml_handle *h, bdml_plain *w)
{
    if (w->e->claim == BDML_CLAIM_INFEASIBLE) {
        check_infeasible(w);
        return BDML_OK;
    }
    make_metric(w);
    BDML_TRY(bdml_plain_objective(h, w));
    check_set(w);
    BDML_TRY(check_upper(h, w));
    check_lower(w);
    return BDML_OK;
}
