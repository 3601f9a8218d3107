/* ldml.c - logistic discriminant metric learning (Guillaumin, Verbeek, Schmid, ICCV 2009): a pair is similar
 * with probability 1/(1 + exp(z'Mz - b)), and metric M and threshold b have the largest likelihood:
 *
 *     min  F(M) = min_b (1/m) sum_t log(1 + exp(y_t (z_t'Mz_t - b))) + rho <S, M>,      M >= 0,
 *
 * y_t = 1 for similar, -1 for dissimilar pairs. The source has no penalty, and then separable pairs have no
 * solution; ours is the mean distance (S: mean scatter of similar plus that of dissimilar pairs), rho the share ldml-penalty of the
 * smallest rho at which M = 0 is best. Everything happens in coordinates in which S = I: there <S,M> is the
 * trace, the cone is the cone, and gradients are well scaled.
 *
 * Solver: accelerated projected gradient with backtracking and restart (Beck, Teboulle 2009; O'Donoghue,
 * Candes 2015), b eliminated by Newton's method in each evaluation. Distances are linear in M, so those of an
 * extrapolated point need no product: one forward, one adjoint and one eigenproblem a step.
 *
 * Bound. With a_t = the derivative of the logistic term at u_t = y_t(p_t - b), for which sum y_t a_t = 0 at the
 * best b, A = (1/m) sum y_t a_t z_t z_t' and h(a) = a log a + (1-a) log(1-a), every tau in [0, 1] with
 * tau A + rho I >= 0 gives F >= -(1/m) sum_t h(tau a_t). */
#include "baselines/pairs.h"

#include <stdlib.h>

enum { LOOK = 4 };                /* steps between two looks at the bound */
enum { NEWTON = 100 };            /* steps for b at most; a bracket keeps it safe */
static const double SHRINK = 0.7; /* of the step bound after each success: curvature varies */

/* Of the mean of the losses, relative: a decrease below it cannot be seen. */
static const double ROUNDING = 1e-13;

typedef struct ldml {
    bdml_handle *h;
    bdml_pairset *set;
    int r;
    int64_t m;
    double rho, b;
    double step;                /* 1 / the bound on the curvature */
    double *x, *old, *y;        /* M, the one before, the extrapolated one: r x r */
    double *g, *q;              /* gradient without rho I; scratch */
    double *px, *pold, *py, *a; /* distances at x, old and y; derivatives with sign over m */
    double *lambda;
    bdml_eigh_ws ws;
    double f, bound;
} ldml;

static double sign_of(const ldml *s, int64_t t)
{
    return t < s->set->similar ? 1.0 : -1.0;
}

static double log1p_exp(double u)
{
    return u > 0.0 ? u + log1p(exp(-u)) : log1p(exp(u));
}

static double sigmoid(double u)
{
    return u > 0.0 ? 1.0 / (1.0 + exp(-u)) : exp(u) / (1.0 + exp(u));
}

/* ---- the threshold ------------------------------------------------------------------------------------- */

/* b with sum_t y_t sigma(y_t (p_t - b)) = 0, from the last one; the sum falls with b. */
static void best_threshold(ldml *s, const double *p)
{
    double lo = -INFINITY, hi = INFINITY, width = 1.0;
    for (int k = 0; k < NEWTON; k++) {
        double sum = 0.0, slope = 0.0;
        for (int64_t t = 0; t < s->m; t++) {
            double v = sigmoid(sign_of(s, t) * (p[t] - s->b));
            sum += sign_of(s, t) * v;
            slope += v * (1.0 - v);
        }
        if (fabs(sum) <= 1e-13 * (double)s->m) return;
        if (sum > 0.0)
            lo = s->b;
        else
            hi = s->b;
        double next = slope > 0.0 ? s->b + sum / slope : INFINITY;
        if (!(next > lo && next < hi)) { /* outside what is known, or flat */
            if (isinf(lo) || isinf(hi))
                next = sum > 0.0 ? s->b + width : s->b - width;
            else
                next = 0.5 * (lo + hi);
            width *= 2.0;
        }
        if (next == s->b) return;
        s->b = next;
    }
}

/* F without the penalty, at the best b. */
static double likelihood(ldml *s, const double *p)
{
    double sum = 0.0;
    best_threshold(s, p);
    for (int64_t t = 0; t < s->m; t++) sum += log1p_exp(sign_of(s, t) * (p[t] - s->b));
    return sum / (double)s->m;
}

/* a and A at distances p, b the best for them. */
static void gradient(ldml *s, const double *p)
{
    for (int64_t t = 0; t < s->m; t++)
        s->a[t] = sign_of(s, t) * sigmoid(sign_of(s, t) * (p[t] - s->b)) / (double)s->m;
    bdml_margin_adjoint(s->set->op, s->a, -1, NULL, s->g);
}

static double trace_of(int r, const double *a)
{
    double sum = 0.0;
    for (int j = 0; j < r; j++) sum += COL(a, r, j)[j];
    return sum;
}

/* ---- the bound ------------------------------------------------------------------------------------------- */

static double entropy(double a)
{
    return a > 0.0 && a < 1.0 ? a * log(a) + (1.0 - a) * log1p(-a) : 0.0;
}

/* From a and A as gradient() left them. */
static bdml_status look(ldml *s)
{
    memcpy(s->q, s->g, sizeof *s->g * (size_t)s->r * (size_t)s->r);
    BDML_TRY(bdml_la_eigh(s->h, s->r, s->q, s->lambda, false, &s->ws));
    double tau = s->lambda[0] < -s->rho ? s->rho / -s->lambda[0] : 1.0, sum = 0.0;
    for (int64_t t = 0; t < s->m; t++)
        sum -= entropy(tau * fabs(s->a[t]) * (double)s->m) / (double)s->m;
    s->bound = BDML_MAX(s->bound, sum);
    return BDML_OK;
}

/* ---- a step ------------------------------------------------------------------------------------------------ */

/* x = P(y - step (A + rho I)), px its distances. */
static bdml_status project(ldml *s)
{
    int r = s->r, kept = 0;
    size_t size = (size_t)r * (size_t)r;
    for (size_t e = 0; e < size; e++) s->q[e] = s->y[e] - s->step * s->g[e];
    for (int j = 0; j < r; j++) COL(s->q, r, j)[j] -= s->step * s->rho;
    BDML_TRY(bdml_la_eigh(s->h, r, s->q, s->lambda, true, &s->ws));
    memset(s->x, 0, sizeof *s->x * size);
    for (int k = r - 1; k >= 0 && s->lambda[k] > 0.0; k--, kept++)
        for (int i = 0; i < r; i++) COL(s->q, r, k)[i] *= sqrt(s->lambda[k]);
    if (kept > 0) bdml_la_syrk('N', r, kept, 1.0, COL(s->q, r, r - kept), r, 0.0, s->x, r);
    bdml_la_mirror(r, s->x, r);
    if (2 * kept < r) /* the factor is cheaper than the metric */
        bdml_margin_forward_low(s->set->op, kept, COL(s->q, r, r - kept), 1.0, s->px);
    else
        bdml_margin_forward(s->set->op, s->x, -1, NULL, s->px);
    return BDML_OK;
}

/* Backtrack until the quadratic model at y lies above F at x; fy: likelihood at y. */
static bdml_status descend(ldml *s, double fy, double *fx)
{
    size_t size = (size_t)s->r * (size_t)s->r;
    for (;;) {
        BDML_TRY(project(s));
        double linear = 0.0, square = 0.0;
        for (size_t e = 0; e < size; e++) {
            double change = s->x[e] - s->y[e];
            linear += s->g[e] * change;
            square += change * change;
        }
        *fx = likelihood(s, s->px);
        if (*fx <= fy + linear + square / (2.0 * s->step) + ROUNDING * fy) return BDML_OK;
        s->step /= 2.0;
    }
}

/* y = x + beta (x - old), py likewise; then old = x. */
static void extrapolate(ldml *s, double beta)
{
    size_t size = (size_t)s->r * (size_t)s->r;
    for (size_t e = 0; e < size; e++) s->y[e] = s->x[e] + beta * (s->x[e] - s->old[e]);
    for (int64_t t = 0; t < s->m; t++) s->py[t] = s->px[t] + beta * (s->px[t] - s->pold[t]);
    memcpy(s->old, s->x, sizeof *s->x * size);
    memcpy(s->pold, s->px, sizeof *s->px * (size_t)s->m);
}

/* The direction of the step against that of the momentum. */
static bool turned(const ldml *s)
{
    double sum = 0.0;
    for (size_t e = 0; e < (size_t)s->r * (size_t)s->r; e++)
        sum += (s->y[e] - s->x[e]) * (s->x[e] - s->old[e]);
    return sum > 0.0;
}

static bdml_status solve(ldml *s, const bdml_solve_options *o, bdml_solution *told)
{
    double gap = o->gap.value, theta = 1.0;
    BDML_TRY(bdml_progress(s->h, "ldml", 0, 0));
    for (int64_t k = 1;; k++) {
        double fy = likelihood(s, s->py), fx = 0.0;
        gradient(s, s->py);
        BDML_TRY(descend(s, fy, &fx));
        BDML_TRY(bdml_progress(s->h, "ldml", k, 0));
        s->f = fx + s->rho * trace_of(s->r, s->x);
        bool last = bdml_pairs_limit(s->h, o, k);
        if (k % LOOK == 0 || last) BDML_TRY(look(s));
        told->iterations = k;
        told->gap = (s->f - s->bound) / s->f;
        told->done = told->gap <= gap;
        if (told->done || last) return BDML_OK;
        if (turned(s)) theta = 1.0;
        double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
        extrapolate(s, (theta - 1.0) / next);
        theta = next;
        s->step /= SHRINK;
    }
}

/* ---- the method -------------------------------------------------------------------------------------------- */

static bdml_status allocate(bdml_handle *h, bdml_pairset *set, ldml *s)
{
    bdml_status status = BDML_OK;
    *s = (ldml){.h = h, .set = set, .r = set->r, .m = set->similar + set->dissimilar};
    size_t size = (size_t)s->r * (size_t)s->r;
    BDML_NEW(h, s->x, size);
    BDML_NEW(h, s->old, size);
    BDML_NEW(h, s->y, size);
    BDML_NEW(h, s->g, size);
    BDML_NEW(h, s->q, size);
    BDML_NEW(h, s->px, s->m);
    BDML_NEW(h, s->pold, s->m);
    BDML_NEW(h, s->py, s->m);
    BDML_NEW(h, s->a, s->m);
    BDML_NEW(h, s->lambda, s->r);
    status = bdml_eigh_ws_init(h, s->r, &s->ws);
done:
    return status;
}

static void finish(ldml *s)
{
    free(s->x);
    free(s->old);
    free(s->y);
    free(s->g);
    free(s->q);
    free(s->px);
    free(s->pold);
    free(s->py);
    free(s->a);
    free(s->lambda);
    bdml_eigh_ws_free(&s->ws);
}

/* The second derivative along I / sqrt(r), where it is largest for evenly spread differences, is at most
 * (1/4m) sum |z_t|^4 / r; backtracking and growth find the rest. */
static void first_step(ldml *s)
{
    double sum = 0.0;
    for (int j = 0; j < s->r; j++) COL(s->x, s->r, j)[j] = 1.0;
    bdml_margin_forward(s->set->op, s->x, -1, NULL, s->px);
    for (int j = 0; j < s->r; j++) COL(s->x, s->r, j)[j] = 0.0;
    for (int64_t t = 0; t < s->m; t++) sum += s->px[t] * s->px[t];
    memset(s->px, 0, sizeof *s->px * (size_t)s->m);
    s->step = 4.0 * s->r * (double)s->m / sum;
}

/* rho, a share of the least eigenvalue, from the gradient at M = 0, where it must point into the cone somewhere. */
static bdml_status set_penalty(ldml *s, double share)
{
    s->bound = 0.0; /* F is positive */
    likelihood(s, s->py);
    gradient(s, s->py);
    memcpy(s->q, s->g, sizeof *s->g * (size_t)s->r * (size_t)s->r);
    BDML_TRY(bdml_la_eigh(s->h, s->r, s->q, s->lambda, false, &s->ws));
    if (!(s->lambda[0] < -1e-12))
        return bdml_fail(s->h, BDML_ERR_DATA,
                         "ldml: there is no direction in which dissimilar pairs differ more than "
                         "similar ones, so the metric would be 0");
    s->rho = -share * s->lambda[0];
    first_step(s);
    return BDML_OK;
}

bdml_status bdml_fit_ldml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_pairset set = {0};
    bdml_solution told = {0};
    ldml s = {0};

    BDML_GO(bdml_pairset_new(h, o, "ldml", t, true, &set));
    BDML_GO(bdml_pairset_whiten_all(h, &set));
    BDML_GO(allocate(h, &set, &s));
    BDML_GO(set_penalty(&s, o->methods.ldml_penalty.value));
    BDML_GO(solve(&s, &o->solve, &told));
    told.objective = s.f;
    told.bound = s.bound;
    told.similar = set.similar;
    told.dissimilar = set.dissimilar;
    told.rank = set.r;
    BDML_GO(bdml_pairset_finish(h, &set, s.x, model));
    json_t *more = json_pack("{s:f, s:f}", "threshold", s.b, "penalty", s.rho);
    status = bdml_solution_record(h, &told, more, model);
done:
    finish(&s);
    bdml_pairset_free(&set);
    return status;
}
