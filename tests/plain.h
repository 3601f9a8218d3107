/* plain.h - an independent check of a solve: everything from raw points with plain loops, none
 * of the solver's operators. Used by the engine's tests. */
#ifndef BDML_TESTS_PLAIN_H
#define BDML_TESTS_PLAIN_H

#include "check.h"

#include "linalg/linalg.h"
#include "solver/solver.h"

typedef struct plain {
    int64_t n;
    int d;
    const double *x; /* n rows of d */
    const bdml_constraints *c;
    const double *objective; /* d*d, or NULL: mean over the target pairs */
} plain;

/* s += w (x_i - x_j)(x_i - x_j)' */
static inline void plain_add(const plain *P, int32_t i, int32_t j, double w, double *s)
{
    for (int a = 0; a < P->d; a++)
        for (int b = 0; b < P->d; b++)
            s[a * P->d + b] += w *
                               (P->x[(size_t)i * (size_t)P->d + (size_t)a] -
                                P->x[(size_t)j * (size_t)P->d + (size_t)a]) *
                               (P->x[(size_t)i * (size_t)P->d + (size_t)b] -
                                P->x[(size_t)j * (size_t)P->d + (size_t)b]);
}

static inline double plain_distance(const plain *P, const double *m, int32_t i, int32_t j)
{
    double s = 0;
    for (int a = 0; a < P->d; a++)
        for (int b = 0; b < P->d; b++)
            s += m[a * P->d + b] *
                 (P->x[(size_t)i * (size_t)P->d + (size_t)a] -
                  P->x[(size_t)j * (size_t)P->d + (size_t)a]) *
                 (P->x[(size_t)i * (size_t)P->d + (size_t)b] -
                  P->x[(size_t)j * (size_t)P->d + (size_t)b]);
    return s;
}

static inline double plain_value(const plain *P, const double *m, int64_t t)
{
    const bdml_constraints *c = P->c;
    double v = plain_distance(P, m, c->pi[c->far[t]], c->pj[c->far[t]]);
    if (c->near[t] >= 0) v -= plain_distance(P, m, c->pi[c->near[t]], c->pj[c->near[t]]);
    return v;
}

static inline double plain_margin(const plain *P, const bdml_solve_settings *s, int64_t t)
{
    return s->margin * (P->c->margin ? P->c->margin[t] : 1.0);
}

static inline void plain_objective(const plain *P, double *g)
{
    memset(g, 0, sizeof *g * (size_t)(P->d * P->d));
    if (P->objective) {
        memcpy(g, P->objective, sizeof *g * (size_t)(P->d * P->d));
        return;
    }
    for (int64_t k = 0; k < P->c->targets; k++)
        plain_add(P, P->c->pi[P->c->target[k]], P->c->pj[P->c->target[k]],
                  1.0 / (double)P->c->targets, g);
}

/* A*y */
static inline void plain_adjoint(const plain *P, const double *y, double *s)
{
    const bdml_constraints *c = P->c;
    memset(s, 0, sizeof *s * (size_t)(P->d * P->d));
    for (int64_t t = 0; t < c->m; t++) {
        plain_add(P, c->pi[c->far[t]], c->pj[c->far[t]], y[t], s);
        if (c->near[t] >= 0) plain_add(P, c->pi[c->near[t]], c->pj[c->near[t]], -y[t], s);
    }
}

/* Eigenvalues ascending, of the diagonal alone when asked. */
static inline void plain_eigenvalues(bdml_handle *h, int d, const double *a, bool diagonal,
                                     double *lambda)
{
    double *copy = calloc((size_t)(d * d), sizeof *copy);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            if (!diagonal || i == j) copy[i * d + j] = a[i * d + j];
    bdml_eigh_ws ws;
    check_ok(h, bdml_eigh_ws_init(h, d, &ws));
    check_ok(h, bdml_la_eigh(h, d, copy, lambda, false, &ws));
    bdml_eigh_ws_free(&ws);
    free(copy);
}

/* min over j of the value per unit of trace when the j smallest get K and the rest 1; PSD: the
 * smallest eigenvalue. */
static inline double plain_density(const bdml_solve_settings *s, int d, const double *w)
{
    if (s->set != BDML_SET_DISTORTION) return w[0];
    double best = INFINITY;
    for (int j = 0; j <= d; j++) {
        double sum = 0, weight = 0;
        for (int i = 0; i < d; i++) {
            sum += (i < j ? s->K : 1.0) * w[i];
            weight += i < j ? s->K : 1.0;
        }
        best = fmin(best, sum / weight);
    }
    return best;
}

/* M of the result as d*d. */
static inline double *plain_metric(const bdml_solve_result *r)
{
    double *m = calloc((size_t)(r->d * r->d), sizeof *m);
    for (int i = 0; i < r->d; i++)
        for (int j = 0; j < r->d; j++)
            if (!r->diagonal || i == j)
                m[i * r->d + j] = r->diagonal ? r->m[i] : r->m[i * r->d + j];
    return m;
}

/* Charge of constraint t with miss mu - v, and its dual term. */
static inline double plain_charge(const plain *P, const bdml_solve_settings *s, double C, int64_t t,
                                  double miss)
{
    double c = C * (P->c->weight ? P->c->weight[t] : 1.0) / (double)P->c->m;
    if (miss <= 0) return 0;
    return s->loss == BDML_LOSS_HINGE ? c * miss : c * miss * miss;
}

/* The upper end: M is in the set, meets the margins (hard), and its objective is r->upper. */
static inline void plain_check_upper(bdml_handle *h, const plain *P, const bdml_solve_settings *s,
                                     const bdml_solve_result *r)
{
    int d = P->d;
    double *m = plain_metric(r), *g = calloc((size_t)(d * d), sizeof *g),
           *l = calloc((size_t)d, sizeof *l);
    double f = 0, trace = 0;
    plain_objective(P, g);
    for (int i = 0; i < d * d; i++) f += g[i] * m[i];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) check_true(m[i * d + j] == m[j * d + i]);
    plain_eigenvalues(h, d, m, false, l);
    for (int i = 0; i < d; i++) trace += l[i];
    double eps = 2.3e-16, rounding = 16 * d * eps * l[d - 1];
    check_true(l[0] >= -rounding);
    if (s->set == BDML_SET_DISTORTION)
        check_true(l[d - 1] <= s->K * (1 + 1e-9 + 4 * d * eps * s->K) * l[0] || l[d - 1] == 0.0);
    check_true(trace <= s->trace * (1 + 1e-12));
    if (s->set == BDML_SET_PSD_SIMPLEX) check_close(trace, s->trace, 1e-12 * s->trace);
    check_close(trace, r->trace, 1e-12 * trace);
    for (int64_t t = 0; t < P->c->m; t++) {
        double mu = plain_margin(P, s, t), v = plain_value(P, m, t);
        if (s->hard)
            check_true(v >= mu - 1e-10 * (mu + fabs(v)));
        else
            f += plain_charge(P, s, r->C, t, mu - v);
    }
    check_close(f, r->upper, 1e-9 * fabs(f));
    free(m);
    free(g);
    free(l);
}

/* The lower end from r->y alone: b'y - quadratic + min over the set, trace <= R', of <G - A*y,
 * M>. */
static inline double plain_lower(bdml_handle *h, const plain *P, const bdml_solve_settings *s,
                                 const bdml_solve_result *r)
{
    int d = P->d;
    double *g = calloc((size_t)(d * d), sizeof *g), *a = calloc((size_t)(d * d), sizeof *a);
    double *l = calloc((size_t)d, sizeof *l), bound = 0;
    plain_objective(P, g);
    plain_eigenvalues(h, d, g, r->diagonal, l);
    double gamma = plain_density(s, d, l), R = s->trace;
    if (s->set != BDML_SET_PSD_SIMPLEX && gamma > 0) R = fmin(R, r->upper / gamma);
    plain_adjoint(P, r->y, a);
    for (int i = 0; i < d * d; i++) a[i] = g[i] - a[i];
    plain_eigenvalues(h, d, a, r->diagonal, l);
    double least = plain_density(s, d, l);
    for (int64_t t = 0; t < P->c->m; t++) {
        double c = r->C * (P->c->weight ? P->c->weight[t] : 1.0) / (double)P->c->m;
        check_true(r->y[t] >= 0);
        bound += plain_margin(P, s, t) * r->y[t];
        if (s->hard) continue;
        if (s->loss == BDML_LOSS_HINGE)
            check_true(r->y[t] <= c * (1 + 1e-12));
        else if (r->y[t] > 0)
            bound -= r->y[t] * r->y[t] / (4 * c);
    }
    if (least < 0 || s->set == BDML_SET_PSD_SIMPLEX) bound += R * least;
    free(g);
    free(a);
    free(l);
    return bound;
}

/* The proof: sum mu y > max over the set of <A*y, M>, for every trace up to r->proof_trace; over the cone
 * that maximum is 0, but for the rounding here. */
static inline void plain_check_proof(bdml_handle *h, const plain *P, const bdml_solve_settings *s,
                                     const bdml_solve_result *r)
{
    int d = P->d;
    double *a = calloc((size_t)(d * d), sizeof *a), *l = calloc((size_t)d, sizeof *l), sum = 0;
    plain_adjoint(P, r->y, a);
    for (int i = 0; i < d * d; i++) a[i] = -a[i];
    plain_eigenvalues(h, d, a, r->diagonal, l);
    double most = -plain_density(s, d, l);
    for (int64_t t = 0; t < P->c->m; t++) {
        check_true(r->y[t] >= 0);
        sum += plain_margin(P, s, t) * r->y[t];
    }
    check_true(sum > 0);
    check_true(most <= 0 || r->proof == BDML_PROOF_CONE ||
               most * fmin(r->proof_trace, s->trace) < sum);
    if (r->proof == BDML_PROOF_TRACE) check_true(most <= 0 || most * 0.9 * r->proof_trace < sum);
    if (r->proof == BDML_PROOF_CONE) check_true(most * 1e12 < sum && isinf(r->proof_trace));
    if (r->proof == BDML_PROOF_RATIO) check_true(r->proof_trace > s->trace);
    free(a);
    free(l);
}

/* Whatever the outcome says must hold. */
static inline void plain_check(bdml_handle *h, const plain *P, const bdml_solve_settings *s,
                               const bdml_solve_result *r)
{
    if (r->outcome == BDML_INFEASIBLE) {
        plain_check_proof(h, P, s, r);
        return;
    }
    if (r->m) plain_check_upper(h, P, s, r);
    if (isfinite(r->upper)) {
        /* least may round to a hair below 0, times R' */
        double lower = plain_lower(h, P, s, r);
        check_close(lower, r->lower, 1e-8 * fabs(r->upper));
        check_true(r->lower <= r->upper + 1e-12 * fabs(r->upper));
    }
    if (r->outcome == BDML_OPTIMAL) check_true(r->gap <= s->gap);
}

#endif
