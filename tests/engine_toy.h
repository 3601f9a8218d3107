/* engine_toy.h - small problems for the tests of the engine */
#ifndef BDML_TESTS_ENGINE_TOY_H
#define BDML_TESTS_ENGINE_TOY_H

#include "plain.h"
#include "toy.h"

#include <float.h>

/* Two classes, m constraints: pairs, triplets or both; random margins and weights when asked.
 * The points live in `span` dimensions of d, turned by a random matrix when span < d. */
static inline toy make_toy(bdml_handle *h, uint64_t seed, int64_t n, int d, int span, int m,
                           const char *kind)
{
    toy T = {.n = n, .d = d, .x = calloc((size_t)(n * d), sizeof *T.x)};
    bdml_rng r = bdml_rng_make(seed, 1);
    double *turn = calloc((size_t)(span * d), sizeof *turn), *z = calloc((size_t)span, sizeof *z);
    for (int i = 0; i < span * d; i++) turn[i] = bdml_rng_normal(&r);
    for (int64_t i = 0; i < n; i++) {
        for (int a = 0; a < span; a++)
            z[a] = bdml_rng_normal(&r) + (i % 2 ? 1.0 : -1.0) * (a == 0 ? 2.0 : 0.2);
        for (int j = 0; j < d; j++)
            if (span == d)
                T.x[i * d + j] = z[j];
            else
                for (int a = 0; a < span; a++) T.x[i * d + j] += turn[a * d + j] * z[a];
    }
    int32_t *targets = calloc((size_t)(2 * m), sizeof *targets),
            *rows = calloc((size_t)(3 * m), sizeof *rows);
    double *margin = calloc((size_t)m, sizeof *margin), *weight = calloc((size_t)m, sizeof *weight);
    for (int t = 0; t < m; t++) {
        int32_t i = (int32_t)bdml_rng_below(&r, (uint64_t)n), j, k;
        do j = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while (j == i || (i + j) % 2);
        do k = (int32_t)bdml_rng_below(&r, (uint64_t)n);
        while ((i + k) % 2 == 0);
        targets[2 * t] = i, targets[2 * t + 1] = j;
        bool pair = kind[0] == 'p' || (kind[0] == 'm' && t % 2);
        rows[3 * t] = i, rows[3 * t + 1] = pair ? -1 : j, rows[3 * t + 2] = k;
        margin[t] = 0.5 + bdml_rng_uniform(&r);
        weight[t] = t % 7 == 0 ? 0.0 : 0.5 + bdml_rng_uniform(&r);
    }
    bool own = kind[1] == 'w';
    check_ok(h, bdml_constraints_build(h, n, m, targets, m, rows, own ? margin : NULL,
                                       own ? weight : NULL, &T.c));
    free(turn);
    free(z);
    free(targets);
    free(rows);
    free(margin);
    free(weight);
    return T;
}

static inline bdml_solve_settings hard_settings(double K, double R, double gap)
{
    bdml_solve_settings s = bdml_solve_defaults();
    s.hard = true;
    s.K = K;
    s.trace = R;
    s.gap = gap;
    return s;
}

static inline void solve_toy(bdml_handle *h, const toy *T, const bdml_solve_settings *s,
                             bool diagonal, bdml_solve_result *r)
{
    bdml_problem *p;
    check_ok(h, bdml_problem_new(h, T->n, T->d, T->x, T->d, T->c, NULL, diagonal, &p));
    check_ok(h, bdml_problem_solve(h, p, s, r));
    bdml_problem_free(p);
}

#endif
