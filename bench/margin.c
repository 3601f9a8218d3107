/* margin.c - time of the margin operator against a bare matrix product.
 *
 *     bench_margin [n] [d] [targets] [impostors] [threads]
 *
 * Points in random classes; each point has `targets` and `impostors` random partners, and one
 * triplet per combination (defaults 5000 100 3 3 1: 45,000 triplets). The yardstick is one gemm
 * M X of 2 n d^2 flops in the same tiles and threads. Best of several runs. */
#include <stdlib.h>

#include "linalg/linalg.h"
#include "problem/problem.h"

enum { REPEATS = 30 };

typedef struct job {
    bdml_handle *h;
    bdml_margin *op;
    int64_t n, count;
    int d;
    const double *x;
    double *m, *v, *s, *y;
    int64_t *active;
} job;

static void gemm(job *j)
{
    bdml_la_gemm_tiled(j->h, 'N', 'N', j->d, j->n, j->d, 1.0, j->m, j->d, j->x, j->d, 0.0, j->y,
                       j->d);
}
static void forward(job *j)
{
    bdml_margin_forward(j->op, j->m, -1, NULL, j->v);
}
static void adjoint(job *j)
{
    bdml_margin_adjoint(j->op, j->v, -1, NULL, j->s);
}
static void forward_active(job *j)
{
    bdml_margin_forward(j->op, j->m, j->count, j->active, j->v);
}
static void adjoint_active(job *j)
{
    bdml_margin_adjoint(j->op, j->v, j->count, j->active, j->s);
}
static void forward_diag(job *j)
{
    bdml_margin_forward_diag(j->op, j->m, -1, NULL, j->v);
}
static void adjoint_diag(job *j)
{
    bdml_margin_adjoint_diag(j->op, j->v, -1, NULL, j->s);
}

static double best(void (*f)(job *), job *j)
{
    double least = INFINITY;
    for (int k = 0; k < REPEATS; k++) {
        double since = bdml_now();
        f(j);
        least = fmin(least, bdml_now() - since);
    }
    return 1e3 * least;
}

/* Partners are drawn near the point's own number: neighbours are near in the file or not; the span
 * of n is the hard case for the caches. */
static int64_t draw_triplets(int64_t n, int targets, int impostors, int32_t *row)
{
    bdml_rng r = bdml_rng_make(1, 7);
    int64_t t = 0;
    int partners = targets + impostors;
    int32_t *partner = malloc(sizeof *partner * (size_t)partners);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < partners; k++) {
            bool again;
            do {
                partner[k] = (int32_t)bdml_rng_below(&r, (uint64_t)n);
                again = partner[k] == i;
                for (int q = 0; q < k; q++) again |= partner[q] == partner[k];
            } while (again);
        }
        for (int a = 0; a < targets; a++)
            for (int b = targets; b < partners; b++, t++) {
                row[3 * t] = (int32_t)i;
                row[3 * t + 1] = partner[a];
                row[3 * t + 2] = partner[b];
            }
    }
    free(partner);
    return t;
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 5000;
    int d = argc > 2 ? atoi(argv[2]) : 100, targets = argc > 3 ? atoi(argv[3]) : 3;
    int impostors = argc > 4 ? atoi(argv[4]) : 3;
    bdml_handle *h;
    bdml_constraints *c;
    size_t nd = (size_t)n * (size_t)d, dd = (size_t)d * (size_t)d;
    size_t most = (size_t)n * (size_t)(targets * impostors);
    double *x = malloc(sizeof *x * nd);
    int32_t *row = malloc(sizeof *row * 3 * most);
    job j = {.n = n, .d = d, .x = x};
    bdml_rng r = bdml_rng_make(1, 1);

    if (bdml_create(&h) || bdml_set(h, "threads", argc > 5 ? argv[5] : "1")) return 1;
    j.h = h;
    j.y = malloc(sizeof *x * nd);
    j.m = malloc(sizeof *x * dd);
    j.s = malloc(sizeof *x * dd);
    j.v = malloc(sizeof *x * most);
    j.active = malloc(sizeof *j.active * most);
    for (size_t e = 0; e < nd; e++) x[e] = bdml_rng_normal(&r);
    for (size_t e = 0; e < dd; e++) j.m[e] = bdml_rng_normal(&r);
    bdml_la_mirror(d, j.m, d);
    int64_t m = draw_triplets(n, targets, impostors, row);
    double since = bdml_now();
    if (bdml_constraints_from_arrays(h, n, 0, NULL, 0, NULL, m, row, &c) ||
        bdml_margin_new(h, n, d, x, d, c, &j.op)) {
        fprintf(stderr, "%s\n", bdml_last_error(h));
        return 1;
    }
    double setup = 1e3 * (bdml_now() - since);
    if (bdml_la_enter(h) != BDML_OK) return 1;
    double g = best(gemm, &j), f = best(forward, &j), a = best(adjoint, &j);
    printf("n %lld, d %d, triplets %lld, pairs %lld, threads %d\n", (long long)n, d,
           (long long)c->m, (long long)c->pairs, bdml_threads(h));
    printf("setup          %8.3f ms\n", setup);
    printf("gemm M X       %8.3f ms   %.1f Gflop/s\n", g, 2e-6 * (double)n * (double)dd / g);
    printf("forward        %8.3f ms   %.2f gemm\n", f, f / g);
    printf("adjoint        %8.3f ms   %.2f gemm\n", a, a / g);
    printf("both           %8.3f ms   %.2f gemm\n", f + a, (f + a) / g);
    f = best(forward_diag, &j);
    a = best(adjoint_diag, &j);
    printf("diagonal       %8.3f ms + %.3f ms\n", f, a);
    for (int64_t part = 2; part <= 128; part *= 4) {
        j.count = 0;
        for (int64_t t = 0; t < c->m; t += part) j.active[j.count++] = t;
        f = best(forward_active, &j);
        a = best(adjoint_active, &j);
        printf("active 1/%-4lld  %8.3f ms + %.3f ms\n", (long long)part, f, a);
    }
    bdml_la_leave(h);
    bdml_margin_free(j.op);
    bdml_free_constraints(c);
    bdml_free(h);
    free(x), free(row), free(j.y), free(j.m), free(j.s), free(j.v), free(j.active);
    return 0;
}
