/* certify.c - recompute a claim from the raw data and say whether it holds.
 *
 * Points   p_i = reference * prepare(x_i);  N = B'B the metric on p, L = B reference. Without a
 *          reference p_i is the prepared point and N = M = L'L.
 * Upper    the objective at N, which must lie in the set and (hard form) meet every margin.
 * Lower    for multipliers y >= 0 (hinge: y_t <= c_t)
 *              sum mu_t y_t [- sum y_t^2 / (4 c_t) for the squared hinge] + min <G - A*y, N>
 *          over kappa(N) <= K, trace(N) <= R', R' = min(R, upper / density of G): no better N has a
 *          larger trace.
 * Proof of infeasibility: sum mu_t y_t > max <A*y, N> over kappa(N) <= K, trace(N) <= R.
 *
 * Tolerances: everything is summed in extended precision (64 bits of mantissa), so what is left are
 * the roundings of the numbers in the file, relative 1e-9 at most for what the library writes. */
#include "certify/certify.h"

#include <float.h>
#include <stdlib.h>

/* The claim may be off by this much, relative: far above rounding, far below any gap. */
static const double TOLERANCE = 1e-7;

typedef struct work {
    const bdml_model *model;
    const bdml_evidence *e;
    const bdml_dataset *data;
    const bdml_constraints *c;
    int d; /* dimension of p */
    int64_t n;
    long double *p;      /* n rows of d: the points the claim is about */
    long double *z;      /* n rows of d: scratch */
    long double *metric; /* d x d: N */
    long double *g;      /* d x d: objective */
    long double *slack;  /* G - A*y, then scratch */
    long double *lambda, *row;
    double *y; /* multipliers, dense */
    bdml_verdict *v;
} work;

void bdml_verdict_note(bdml_verdict *v, const char *what, bool passed, locale_t c, const char *fmt,
                       ...)
{
    va_list ap;
    if (v->checks == BDML_CHECKS_MAX) return;
    bdml_check *k = &v->check[v->checks++];
    k->what = what;
    k->passed = passed;
    va_start(ap, fmt);
    bdml_vsnprintf(c, k->detail, sizeof k->detail, fmt, ap);
    va_end(ap);
}

/* ---- points ------------------------------------------------------------------------------------- */

/* x -> prepared point, one coordinate after the other, as the model file describes it. */
bool bdml_plain_prepare(const bdml_prepare *p, const double *x, long double *scaled,
                        long double *out)
{
    long double norm = 0.0L;
    for (int j = 0; j < p->d_in; j++) {
        long double v = x[j];
        if (isnan(x[j])) {
            if (!p->fill) return false;
            v = p->fill[j];
        }
        if (p->shift) v = (v - p->shift[j]) / p->width[j];
        scaled[j] = v;
        norm += v * v;
    }
    if (p->scale == BDML_SCALE_UNIT && norm > 0.0L)
        for (int j = 0; j < p->d_in; j++) scaled[j] /= sqrtl(norm);
    for (int k = 0; k < p->d_out; k++) {
        if (!p->basis) {
            out[k] = scaled[k];
            continue;
        }
        out[k] = 0.0L;
        for (int j = 0; j < p->d_in; j++)
            out[k] +=
                p->basis[(size_t)k * (size_t)p->d_in + (size_t)j] * (scaled[j] - p->center[j]);
    }
    return true;
}

static bdml_status make_points(bdml_handle *h, work *w)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *prep = &w->model->prepare;
    const double *reference = w->e->reference;
    long double *scaled = NULL, *x = NULL;

    BDML_NEW(h, scaled, prep->d_in);
    BDML_NEW(h, x, prep->d_out);
    for (int64_t i = 0; i < w->n; i++) {
        long double *p = w->p + (size_t)i * (size_t)w->d;
        if (!bdml_plain_prepare(prep, w->data->x + (size_t)i * (size_t)w->data->d, scaled, x)) {
            status = bdml_fail(h, BDML_ERR_DATA, "row %lld has a missing value", (long long)i + 1);
            goto done;
        }
        for (int k = 0; k < w->d; k++) {
            p[k] = reference ? 0.0L : x[k];
            for (int j = 0; reference && j < prep->d_out; j++)
                p[k] += reference[(size_t)k * (size_t)prep->d_out + (size_t)j] * x[j];
        }
    }
done:
    free(scaled);
    free(x);
    return status;
}

/* ---- sums over pairs ------------------------------------------------------------------------------- */

/* out += weight (p_i - p_j)(p_i - p_j)' */
static void add_outer(const work *w, int32_t i, int32_t j, long double weight, long double *out)
{
    const long double *a = w->p + (size_t)i * (size_t)w->d, *b = w->p + (size_t)j * (size_t)w->d;
    for (int r = 0; r < w->d; r++) {
        long double scaled = weight * (a[r] - b[r]);
        for (int s = 0; s < w->d; s++)
            out[(size_t)r * (size_t)w->d + (size_t)s] += scaled * (a[s] - b[s]);
    }
}

static void objective_targets(work *w)
{
    for (int64_t t = 0; t < w->c->targets; t++) {
        int32_t pair = w->c->target[t];
        add_outer(w, w->c->pi[pair], w->c->pj[pair], 1.0L / (long double)w->c->targets, w->g);
    }
}

static bdml_status objective_within(bdml_handle *h, work *w)
{
    size_t d = (size_t)w->d;
    long double *mean = bdml_calloc(h, (size_t)w->data->classes * d, sizeof *mean);
    int64_t *count = bdml_calloc(h, (size_t)w->data->classes, sizeof *count);
    if (!mean || !count) {
        free(mean);
        free(count);
        return BDML_ERR_MEMORY;
    }
    for (int64_t i = 0; i < w->n; i++) {
        size_t c = (size_t)w->data->y[i];
        count[c]++;
        for (size_t k = 0; k < d; k++) mean[c * d + k] += w->p[(size_t)i * d + k];
    }
    for (int64_t i = 0; i < w->n; i++) {
        size_t c = (size_t)w->data->y[i];
        for (size_t k = 0; k < d; k++)
            w->row[k] = w->p[(size_t)i * d + k] - mean[c * d + k] / (long double)count[c];
        for (size_t r = 0; r < d; r++)
            for (size_t s = 0; s < d; s++)
                w->g[r * d + s] += w->row[r] * w->row[s] / (long double)w->n;
    }
    free(mean);
    free(count);
    return BDML_OK;
}

static bdml_status make_objective(bdml_handle *h, work *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    memset(w->g, 0, dd * sizeof *w->g);
    if (w->e->pull == BDML_PULL_TARGETS)
        objective_targets(w);
    else
        BDML_TRY(objective_within(h, w));
    for (size_t k = 0; k < dd; k++) w->g[k] *= w->e->g_scale;
    return BDML_OK;
}

/* z_i += weight (p_i - p_j), z_j -= the same: Laplacian of the weighted graph of pairs, row by row. */
static void add_pair(const work *w, int32_t pair, long double weight)
{
    size_t d = (size_t)w->d, i = (size_t)w->c->pi[pair], j = (size_t)w->c->pj[pair];
    for (size_t r = 0; r < d; r++) {
        long double v = weight * (w->p[i * d + r] - w->p[j * d + r]);
        w->z[i * d + r] += v;
        w->z[j * d + r] -= v;
    }
}

/* slack = start - A*y, start = G or 0:  A*y = sum_i (p_i - p_0) z_i', n d^2 operations whatever their number. */
static void make_slack(work *w, bool with_objective)
{
    size_t d = (size_t)w->d;
    memset(w->z, 0, (size_t)w->n * d * sizeof *w->z);
    for (int64_t t = 0; t < w->c->m; t++) {
        if (w->y[t] == 0.0) continue;
        add_pair(w, w->c->far[t], w->y[t]);
        if (w->c->near[t] >= 0) add_pair(w, w->c->near[t], -(long double)w->y[t]);
    }
    for (size_t k = 0; k < d * d; k++) w->slack[k] = with_objective ? w->g[k] : 0.0L;
    for (size_t i = 0; i < (size_t)w->n; i++)
        for (size_t r = 0; r < d; r++) {
            long double v = w->p[i * d + r] - w->p[r];
            for (size_t s = 0; v != 0.0L && s < d; s++) w->slack[r * d + s] -= v * w->z[i * d + s];
        }
    for (size_t r = 0; r < d; r++)
        for (size_t s = 0; s < r; s++)
            w->slack[r * d + s] = w->slack[s * d + r] =
                0.5L * (w->slack[r * d + s] + w->slack[s * d + r]);
}

/* ---- the metric on p ----------------------------------------------------------------------------------- */

/* N = B'B; with a reference B stands in the evidence, and L must be B reference. */
static bool make_metric(bdml_handle *h, work *w)
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
        bdml_verdict_note(w->v, "map", ok, h->c_locale,
                          "L differs from B times the reference by %.2g of %.2g", (double)off,
                          (double)size);
    return ok;
}

/* (p_i - p_j)' N (p_i - p_j) for every pair through N p_i: n d^2 + pairs d operations. */
static void pair_distances(work *w, long double *mapped, long double *distance)
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

static double margin_of(const work *w, int64_t t)
{
    return w->e->margin * (w->c->margin ? w->c->margin[t] : 1.0);
}

/* c_t of the soft form. */
static long double cost_of(const work *w, int64_t t)
{
    return (long double)w->e->cost * (w->c->weight ? w->c->weight[t] : 1.0) / (long double)w->c->m;
}

/* ---- checks ------------------------------------------------------------------------------------------------ */

/* kappa(N) <= K (1 + 1e-9 + 4 d eps K), trace(N) <= R. */
static void check_set(bdml_handle *h, work *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    long double trace = 0.0L;
    memcpy(w->slack, w->metric, dd * sizeof *w->slack);
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) {
        bdml_verdict_note(w->v, "distortion", false, h->c_locale,
                          "the eigenvalues of M could not be found");
        return;
    }
    for (int i = 0; i < w->d; i++) trace += w->lambda[i];
    long double lo = w->lambda[0], hi = w->lambda[w->d - 1];
    bool approximate = w->e->claim == BDML_CLAIM_APPROXIMATE;
    double K = approximate ? w->e->kappa > 0.0 ? w->e->kappa : INFINITY : w->e->K;
    double allowed =
        approximate ? K * (1.0 + 1e-6) : K * (1.0 + 1e-9 + 4.0 * w->d * DBL_EPSILON * K);
    double kappa = lo > 0.0L ? (double)(hi / lo) : INFINITY;
    w->v->kappa = kappa;
    bdml_verdict_note(w->v, "distortion", kappa <= allowed, h->c_locale,
                      approximate       ? "kappa = %.12g, claimed %.12g; the cap asked was %.12g"
                      : w->e->reference ? "kappa = %.12g relative to the reference, cap K = %.12g"
                                        : "kappa = %.12g, cap K = %.12g",
                      kappa, K, w->e->K);
    if (isfinite(w->e->R) && !approximate) {
        bool fits = trace <= w->e->R * (1.0L + TOLERANCE);
        bdml_verdict_note(w->v, "trace", fits, h->c_locale, "trace(M) = %.12g, bound R = %.12g",
                          (double)trace, w->e->R);
    }
    if (w->e->diagonal) {
        long double off = 0.0L;
        for (size_t k = 0; k < dd; k++)
            if (k % ((size_t)w->d + 1) != 0) off = fmaxl(off, fabsl(w->metric[k]));
        bool diagonal = off <= hi * 1e-12L;
        bdml_verdict_note(w->v, "diagonal", diagonal, h->c_locale,
                          "largest off-diagonal entry %.3g", (double)off);
    }
}

/* Objective at N, and for the hard form the worst margin. */
static bdml_status check_upper(bdml_handle *h, work *w)
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
        long double miss = margin_of(w, t) - v;
        worst = fminl(worst, v / margin_of(w, t));
        missed = fmaxl(missed, miss);
        if (miss > 0.0L) loss += cost_of(w, t) * (w->e->squared ? miss * miss : miss);
    }
    w->v->worst_margin = (double)worst;
    if (w->e->hard) {
        bool approximate = w->e->claim == BDML_CLAIM_APPROXIMATE;
        bool met = approximate ? missed <= w->e->slack + TOLERANCE * w->e->margin
                               : worst >= 1.0L - TOLERANCE;
        bdml_verdict_note(w->v, "margins", met, h->c_locale,
                          approximate ? "smallest margin is %.10g times what was asked, over %lld "
                                        "constraints; missed by %.6g, claimed %.6g"
                                      : "smallest margin is %.10g times what was asked, over %lld "
                                        "constraints",
                          (double)worst, (long long)w->c->m, (double)missed, w->e->slack);
    } else {
        objective += loss;
    }
    w->v->upper = (double)objective;
    bool ok = fabsl(objective - w->e->upper) <= TOLERANCE * fabs(w->e->upper);
    bdml_verdict_note(w->v, "upper", ok, h->c_locale, "objective at M = %.12g, claimed %.12g",
                      (double)objective, w->e->upper);
done:
    free(mapped);
    free(distance);
    return status;
}

/* min <slack, N> over the set with trace at most R; only the diagonal counts for diagonal N. */
static bool minimum_over_set(work *w, long double R, long double *value)
{
    size_t d = (size_t)w->d;
    if (w->e->diagonal)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                if (i != j) w->slack[i * d + j] = 0.0L;
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) return false;
    *value = bdml_plain_minimum(w->d, w->lambda, w->e->K, R);
    return true;
}

static void check_lower(bdml_handle *h, work *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    long double linear = 0.0L, minimum = 0.0L;
    bool feasible = true;
    for (int64_t t = 0; t < w->c->m; t++) {
        long double y = w->y[t], c = cost_of(w, t);
        feasible = feasible && y >= 0.0L && isfinite(w->y[t]);
        if (y == 0.0L) continue;
        linear += margin_of(w, t) * y;
        if (!w->e->hard && w->e->squared) linear -= y * y / (4.0L * c);
        if (!w->e->hard && !w->e->squared) feasible = feasible && y <= c * (1.0L + 1e-12L);
    }
    bdml_verdict_note(w->v, "multipliers", feasible, h->c_locale, "%lld of %lld are not zero%s",
                      (long long)w->e->duals, (long long)w->c->m,
                      feasible ? "" : "; some are out of range");
    /* A metric better than N has <G,.> below the objective at N, hence this trace at most. An N that misses
     * margins is no upper end: there, one that would refute the claimed lower end. */
    memcpy(w->slack, w->g, dd * sizeof *w->slack);
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) feasible = false;
    long double density = bdml_plain_density(w->d, w->lambda, w->e->K), R = w->e->R;
    long double below =
        w->e->claim == BDML_CLAIM_APPROXIMATE ? fmaxl(w->e->lower, 0.0L) : (long double)w->v->upper;
    if (density > 0.0L) R = fminl(R, below / density);
    make_slack(w, true);
    feasible = feasible && minimum_over_set(w, R, &minimum);
    long double lower = fmaxl(linear + minimum, 0.0L); /* an objective is never negative */
    w->v->lower = (double)lower;
    bool ok = feasible && lower >= w->e->lower - TOLERANCE * fabs(w->e->lower);
    bdml_verdict_note(w->v, "lower", ok, h->c_locale,
                      "lower bound from the multipliers %.12g, claimed %.12g", (double)lower,
                      w->e->lower);
    double gap = (w->v->upper - w->v->lower) / fabs(w->v->upper);
    if (w->e->claim == BDML_CLAIM_OPTIMAL)
        bdml_verdict_note(w->v, "gap", gap <= w->e->gap_asked + TOLERANCE, h->c_locale,
                          "relative gap %.3g, asked %.3g", gap, w->e->gap_asked);
}

/* How far a proof holds where constraints all but cancel each other is beyond plain sums: only a reach out of all
 * proportion is noticed here, the rest is the prover's. */
static void check_infeasible(bdml_handle *h, work *w)
{
    long double needed = 0.0L, minimum = 0.0L;
    bool feasible = true;
    for (int64_t t = 0; t < w->c->m; t++) {
        feasible = feasible && w->y[t] >= 0.0 && isfinite(w->y[t]);
        needed += margin_of(w, t) * w->y[t];
    }
    bdml_verdict_note(w->v, "multipliers", feasible, h->c_locale, "%lld of %lld are not zero%s",
                      (long long)w->e->duals, (long long)w->c->m,
                      feasible ? "" : "; some are out of range");
    make_slack(w, false);                             /* -A*y */
    bool found = minimum_over_set(w, 1.0L, &minimum); /* per unit of trace */
    /* sum y_t <A_t,N> <= most * trace(N) for every N allowed, but the margins add up to `needed`. */
    long double most = -minimum, reach = most > 0.0L ? needed / most : INFINITY;
    bool every = !isfinite(w->e->reach);
    bool ok = found && feasible && needed > 0.0L && (every || reach > 0.5L * w->e->reach);
    bdml_verdict_note(w->v, "infeasibility", ok, h->c_locale,
                      every ? "the order of distances contradicts itself"
                            : "no metric with trace below %.6g meets the margins",
                      (double)reach);
}

static bdml_status run_checks(bdml_handle *h, work *w)
{
    BDML_TRY(make_points(h, w));
    if (w->e->claim == BDML_CLAIM_INFEASIBLE) {
        check_infeasible(h, w);
        return BDML_OK;
    }
    make_metric(h, w);
    BDML_TRY(make_objective(h, w));
    check_set(h, w);
    BDML_TRY(check_upper(h, w));
    check_lower(h, w);
    return BDML_OK;
}

/* ---- entry ----------------------------------------------------------------------------------------------------- */

static bool indices_fit(const bdml_evidence *e, int64_t n)
{
    const bdml_constraints *c = e->constraints;
    for (int64_t k = 0; k < c->pairs; k++)
        if (c->pi[k] < 0 || c->pj[k] < 0 || c->pi[k] >= n || c->pj[k] >= n) return false;
    for (int64_t t = 0; t < c->targets; t++)
        if (c->target[t] < 0 || c->target[t] >= c->pairs) return false;
    for (int64_t t = 0; t < c->m; t++)
        if (c->far[t] < 0 || c->far[t] >= c->pairs || c->near[t] >= c->pairs) return false;
    for (int64_t k = 0; k < e->duals; k++)
        if (e->dual_constraint[k] < 0 || e->dual_constraint[k] >= c->m) return false;
    return true;
}

/* Is there a claim, and do model, evidence and data fit together at all? */
bdml_status bdml_certify_fits(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                              const char *path)
{
    const bdml_evidence *e = model->evidence;
    if (!e) {
        const char *method = json_string_value(json_object_get(model->info, "method"));
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s claims nothing that could be checked: method %s proves nothing; "
                         "train with method bdml",
                         path, method ? method : "unknown");
    }
    if (data->d != model->prepare.d_in)
        return bdml_fail(h, BDML_ERR_DATA, "the model is for %d columns, the data have %d",
                         model->prepare.d_in, data->d);
    if (!indices_fit(e, data->n))
        return bdml_fail(h, BDML_ERR_DATA,
                         "the constraints speak of rows that the data (%lld rows) do not have",
                         (long long)data->n);
    if (e->claim != BDML_CLAIM_INFEASIBLE && !model->l)
        return bdml_fail(h, BDML_ERR_FORMAT, "the file claims a metric but holds none");
    if (e->reference && (e->reference_columns != model->d || (model->l && e->map_rows != model->q)))
        return bdml_fail(h, BDML_ERR_FORMAT, "the reference does not fit the model");
    if (e->pull == BDML_PULL_WITHIN && !data->y)
        return bdml_fail(h, BDML_ERR_DATA, "the objective needs the class labels of the data");
    for (size_t k = 0; !model->prepare.fill && k < (size_t)data->n * (size_t)data->d; k++)
        if (isnan(data->x[k]))
            return bdml_fail(h, BDML_ERR_DATA, "row %lld has a missing value",
                             (long long)k / data->d + 1);
    return BDML_OK;
}

bdml_status bdml_certify_evidence(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                  const bdml_dataset *data, bdml_verdict *verdict)
{
    bdml_status status = BDML_OK;
    work w = {
        .model = model, .e = e, .data = data, .c = e->constraints, .n = data->n, .v = verdict};

    memset(verdict, 0, sizeof *verdict);
    BDML_TRY(bdml_certify_fits(h, model, data, "the model"));
    w.d = e->reference ? e->reference_rows : model->d;
    size_t d = (size_t)w.d;
    BDML_NEW(h, w.p, (size_t)w.n * d);
    BDML_NEW(h, w.z, (size_t)w.n * d);
    BDML_NEW(h, w.metric, d * d);
    BDML_NEW(h, w.g, d * d);
    BDML_NEW(h, w.slack, d * d);
    BDML_NEW(h, w.lambda, d);
    BDML_NEW(h, w.row, d);
    BDML_NEW(h, w.y, w.c->m);
    for (int64_t k = 0; k < e->duals; k++) w.y[e->dual_constraint[k]] = e->dual[k];
    BDML_GO(run_checks(h, &w));
    BDML_GO(bdml_certify_proof(h, model, e, data, verdict));
    verdict->confirmed = verdict->checks > 0;
    for (int k = 0; k < verdict->checks; k++)
        verdict->confirmed = verdict->confirmed && verdict->check[k].passed;
done:
    free(w.p);
    free(w.z);
    free(w.metric);
    free(w.g);
    free(w.slack);
    free(w.lambda);
    free(w.row);
    free(w.y);
    return status;
}
