/* paper_toy.h - small problems for the paper's algorithm, and plain checks of what it returns */
#ifndef BDML_TESTS_PAPER_TOY_H
#define BDML_TESTS_PAPER_TOY_H

#include "plain.h"
#include "toy.h"
#include "two_classes.h"

#include "paper/paper.h"

static inline plain plain_of(const toy *T)
{
    return (plain){T->n, T->d, T->x, T->c, NULL};
}

/* Feasible. */
static inline toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int m, char kind)
{
    two_classes t = two_classes_make(seed, n, d, m, kind, kind == 'p' ? 1.0 : 2.0);
    toy T = {.n = n, .d = d, .x = t.x};
    check_ok(h, bdml_constraints_build(h, n, m, t.target, m, t.row, NULL, NULL, &T.c));
    two_classes_free(&t);
    return T;
}

/* A problem of a bundled data set: z-scored by plain loops, 3 targets and 3 impostors a point by class, as the
 * reference problems are built (test_mining.c compares the lists). */
static inline toy mined(bdml_handle *h, const char *name, char kind)
{
    char path[64];
    bdml_dataset *data = NULL;
    toy T = {0};
    snprintf(path, sizeof path, "data/%s.csv", name);
    check_ok(h, bdml_set(h, "kind", kind == 'p' ? "pair" : "triplet"));
    check_ok(h, bdml_read_dataset(h, source_path(path), &data));
    T.n = data->n;
    T.d = data->d;
    for (int j = 0; j < T.d; j++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < T.n; i++) mean += data->x[i * T.d + j];
        mean /= (double)T.n;
        for (int64_t i = 0; i < T.n; i++) {
            double centred = data->x[i * T.d + j] - mean;
            square += centred * centred;
        }
        for (int64_t i = 0; i < T.n; i++)
            data->x[i * T.d + j] = (data->x[i * T.d + j] - mean) / sqrt(square / (double)T.n);
    }
    check_ok(h, bdml_mine_constraints(h, data, &T.c));
    T.x = calloc((size_t)(T.n * T.d), sizeof *T.x);
    memcpy(T.x, data->x, sizeof *T.x * (size_t)(T.n * T.d));
    bdml_free_dataset(data);
    return T;
}

static inline void optimum(bdml_handle *h, const toy *T, double K, double R, bdml_solve_result *r)
{
    bdml_solve_settings s = bdml_solve_defaults();
    bdml_problem *p;
    s.hard = true;
    s.K = K;
    s.trace = R;
    s.gap = 1e-6;
    check_ok(h, bdml_problem_new(h, T->n, T->d, T->x, T->d, T->c, NULL, false, &p));
    check_ok(h, bdml_problem_solve(h, p, &s, r));
    check_true(r->outcome == BDML_OPTIMAL);
    bdml_problem_free(p);
}

/* One feasibility problem; the result's arrays are copied into m (d*d) and q (count of constraints). */
static inline bdml_mwu_result run(bdml_handle *h, const toy *T, const bdml_paper_settings *s,
                                  double bound, double *m, double *q)
{
    bdml_problem *p;
    bdml_mwu *w;
    bdml_mwu_result r;
    check_ok(h, bdml_paper_problem(h, T->n, T->d, T->x, T->d, T->c, false, &p));
    check_ok(h, bdml_mwu_new(h, p, s, &w));
    check_ok(h, bdml_mwu_run(w, bound, &r));
    if (r.m) memcpy(m, r.m, sizeof *m * (size_t)(T->d * T->d));
    if (r.q) memcpy(q, r.q, sizeof *q * (size_t)T->c->m);
    r.m = m;
    r.q = q;
    bdml_mwu_free(w);
    bdml_problem_free(p);
    return r;
}

/* ---- plain checks ------------------------------------------------------------------------------------------- */

static inline double worst_miss(const toy *T, const double *m, double bound, double mu)
{
    plain P = plain_of(T);
    double *g = calloc((size_t)(T->d * T->d), sizeof *g), f = 0, worst;
    plain_objective(&P, g);
    for (int i = 0; i < T->d * T->d; i++) f += g[i] * m[i];
    worst = f - bound;
    for (int64_t t = 0; t < T->c->m; t++) worst = fmax(worst, mu - plain_value(&P, m, t));
    free(g);
    return worst;
}

static inline double plain_kappa(bdml_handle *h, int d, const double *m, double *trace)
{
    double *l = calloc((size_t)d, sizeof *l), kappa;
    plain_eigenvalues(h, d, m, false, l);
    kappa = l[0] > 0 ? l[d - 1] / l[0] : INFINITY;
    *trace = 0;
    for (int i = 0; i < d; i++) *trace += l[i];
    free(l);
    return kappa;
}

/* q0 (g - <G,M>) + sum q_t (<A_t,M> - mu) < 0 for all M with kappa <= K, trace <= R, by enumeration over the
 * number of large eigenvalues. */
static inline void check_refusal(bdml_handle *h, const toy *T, const bdml_paper_settings *s,
                                 const bdml_mwu_result *r)
{
    plain P = plain_of(T);
    bdml_solve_settings set = bdml_solve_defaults();
    size_t size = (size_t)(T->d * T->d);
    double *g = calloc(size, sizeof *g), *a = calloc(size, sizeof *a),
           *l = calloc((size_t)T->d, sizeof *l), sum = 0;
    set.K = s->K;
    plain_objective(&P, g);
    plain_adjoint(&P, r->q, a);
    for (size_t i = 0; i < size; i++) a[i] = r->q0 * g[i] - a[i];
    plain_eigenvalues(h, T->d, a, false, l);
    double least = fmin(plain_density(&set, T->d, l), 0.0) * r->trace_bound;
    check_true(r->q0 >= 0);
    for (int64_t t = 0; t < T->c->m; t++) {
        check_true(r->q[t] >= 0);
        sum += r->q[t] * s->margin;
    }
    check_true(r->proves);
    check_true(r->q0 * r->bound - sum - least < 0);
    /* and R loses nothing: <G,M> <= bound implies trace(M) <= bound / density of G */
    plain_eigenvalues(h, T->d, g, false, l);
    double implied = r->bound / plain_density(&set, T->d, l);
    check_close(r->trace_bound, fmin(s->trace, implied), 1e-9 * implied);
    free(g);
    free(a);
    free(l);
}

#endif
