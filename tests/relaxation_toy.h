/* relaxation_toy.h - small problems for the paper's step for Q */
#ifndef BDML_TESTS_RELAXATION_TOY_H
#define BDML_TESTS_RELAXATION_TOY_H

#include "plain.h"
#include "two_classes.h"

#include "paper/relaxed.h"

typedef struct toy {
    int64_t n;
    int d;
    double *x;
    bdml_constraints *c;
    bdml_margin *op;
} toy;

static inline void toy_free(toy *T)
{
    free(T->x);
    bdml_margin_free(T->op);
    bdml_free_constraints(T->c);
}

static inline void toy_build(bdml_handle *h, toy *T, int targets, const int32_t *target, int m,
                             const int32_t *rows)
{
    check_ok(h, bdml_constraints_build(h, T->n, targets, target, m, rows, NULL, NULL, &T->c));
    check_ok(h, bdml_margin_new(h, T->n, T->d, T->x, T->d, T->c, &T->op));
}

static inline toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int m, char kind)
{
    two_classes t = two_classes_make(seed, n, d, m, kind, kind == 'p' ? 1.0 : 2.5);
    toy T = {.n = n, .d = d, .x = t.x};
    toy_build(h, &T, m, t.target, m, t.row);
    two_classes_free(&t);
    return T;
}

static inline plain plain_of(const toy *T)
{
    return (plain){T->n, T->d, T->x, T->c, NULL};
}

/* Random orthonormal rows. */
static inline void random_rows(bdml_handle *h, uint64_t seed, int q, int d, double *Q)
{
    bdml_rng r = bdml_rng_make(seed, 3);
    for (int i = 0; i < q * d; i++) Q[i] = bdml_rng_normal(&r);
    check_ok(h, bdml_la_orth(h, d, q, Q));
}

static inline void random_lambda(uint64_t seed, int q, double *lambda)
{
    bdml_rng r = bdml_rng_make(seed, 4);
    for (int i = 0; i < q; i++) lambda[i] = 0.2 + 3.0 * bdml_rng_uniform(&r);
}

/* objective and nu of Q'LQ by plain loops. */
static inline void plain_judge(const toy *T, int q, const double *lambda, double margin,
                               const double *Q, double *objective, double *nu)
{
    int d = T->d;
    plain P = plain_of(T);
    double *m = calloc((size_t)(d * d), sizeof *m), *g = calloc((size_t)(d * d), sizeof *g);
    for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++)
            for (int i = 0; i < q; i++) m[a * d + b] += lambda[i] * Q[i * d + a] * Q[i * d + b];
    plain_objective(&P, g);
    *objective = 0;
    for (int a = 0; a < d * d; a++) *objective += g[a] * m[a];
    *nu = INFINITY;
    for (int64_t t = 0; t < T->c->m; t++) *nu = fmin(*nu, plain_value(&P, m, t) / margin);
    free(m);
    free(g);
}

/* One run of the weights, workspace kept. */
typedef struct run {
    bdml_relaxed x;
    bdml_operator A;
    bdml_mwu *w;
    bdml_mwu_result r;
} run;

static inline void run_open(bdml_handle *h, const toy *T, int q, const double *lambda,
                            int64_t rounds, double delta, run *R)
{
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    memset(R, 0, sizeof *R);
    s.rounds = rounds;
    s.delta = delta;
    s.trace = 1.0;
    R->A = bdml_operator_low_rank(T->op, T->c, T->d, q);
    R->x = (bdml_relaxed){.d = T->d,
                          .q = q,
                          .lambda = lambda,
                          .op = T->op,
                          .tolerance = 1e-14,
                          .atoms.room = delta > 0 ? 200000 : rounds};
    check_ok(h, bdml_mwu_build(h, &R->A, &bdml_full_matrices, NULL, 0, &s, &bdml_relaxed_form,
                               &R->x, &R->w));
}

static inline void run_close(run *R)
{
    bdml_mwu_free(R->w);
}

#endif
