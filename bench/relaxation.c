/* relaxation.c - the paper's step for Q: time of a round of the decoupled oracle, and of the whole step.
 *
 *     bench_relaxation [Q D PAIRS [ROUNDS [SAMPLES [p|t [EXACT]]]]]     default: 30 800 and 300 800 with 5400 pairs
 *
 * Gaussian points in two classes that differ in the first D/20 coordinates, with decaying spread (coordinate j has
 * (1 + j)^-1/2 of the first), PAIRS/2 target and PAIRS/2 impostor pairs drawn at random; margins so that
 * the principal axes as Q with equal Lambda meet two thirds of the median. One thread, processor time. */
#include <stdlib.h>
#include <time.h>

#include "linalg/linalg.h"
#include "solver/paper/relaxation.h"

static void check(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_relaxation: %s\n", bdml_last_error(h));
    exit(1);
}

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) exit(1);
    return p;
}

/* Points 2 PAIRS of them, the pairs of one class or of two. */
static bdml_constraints *problem(bdml_handle *h, int d, int32_t pairs, char kind, double **points)
{
    int32_t n = 2 * pairs, half = pairs / 2;
    double *x = *points = room((size_t)n * (size_t)d, sizeof *x);
    int32_t *target = room((size_t)pairs, sizeof *target),
            *rows = room(3 * (size_t)half, sizeof *rows);
    bdml_rng r = bdml_rng_make(1, 2);
    bdml_constraints *c = NULL;
    for (int32_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            x[(size_t)i * (size_t)d + (size_t)j] =
                (bdml_rng_normal(&r) + (i % 2 && j < d / 20 ? 2.0 : 0.0)) / sqrt(1.0 + j);
    for (int32_t k = 0; k < half; k++) {
        int32_t i = 4 * k, near = i + 2, far = i + 1;
        target[2 * k] = i, target[2 * k + 1] = near;
        rows[3 * k] = i, rows[3 * k + 1] = kind == 't' ? near : -1, rows[3 * k + 2] = far;
    }
    check(h, bdml_constraints_build(h, n, half, target, half, rows, NULL, NULL, &c));
    free(target);
    free(rows);
    return c;
}

static void time_step(int q, int d, int32_t pairs, int64_t rounds, int64_t samples, char kind,
                      bool exact)
{
    bdml_handle *h;
    bdml_margin *op = NULL;
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    double *x, *Q = room((size_t)q * (size_t)d, sizeof *Q),
               *lambda = room((size_t)q, sizeof *lambda);
    if (bdml_create(&h) != BDML_OK) exit(1);
    check(h, bdml_set(h, "threads", "1"));
    bdml_constraints *c = problem(h, d, pairs, kind, &x);
    check(h, bdml_margin_new(h, c->n, d, x, d, c, &op));
    for (int i = 0; i < q; i++) Q[(size_t)i * (size_t)d + (size_t)i] = lambda[i] = 1.0;
    if (rounds > 0) s.rounds = rounds;
    if (samples > 0) s.samples = samples;
    s.exact = exact;
    if (getenv("ENGINE")) s.source = BDML_RELAXATION_ENGINE;
    if (getenv("PAPER")) s.rule = BDML_SAMPLE_PAPER;
    double start = processor();
    check(h, bdml_relaxation_q_step(h, op, c, d, q, lambda, &s, Q, &r));
    double seconds = processor() - start;
    printf("%4d x %-4d %c pairs %lld: %.2f s of processor time; %d calls, %lld rounds, %.2f ms a "
           "round; "
           "%lld samples, %.1f ms each; exact %.2f s\n",
           q, d, kind, (long long)c->pairs, seconds, r.calls, (long long)r.rounds,
           1e3 * r.mwu_seconds / (double)r.rounds, (long long)r.samples,
           1e3 * r.sample_seconds / (double)r.samples, r.exact_seconds);
    printf("    %s; rho_sdp in [%.5g, %.5g]%s, achieved %.5g\n",
           r.infeasible ? "infeasible"
           : r.improved ? "improved"
                        : "start kept",
           r.sdp_lower, r.sdp_upper, r.exact ? "" : " (upper end believed)", r.achieved);
    printf("    start: objective %.5g nu %.4g ratio %.5g; Q: objective %.5g nu %.4g ratio %.5g\n",
           r.start_objective, r.start_nu, r.start_objective / r.start_nu, r.objective, r.nu,
           r.objective / r.nu);
    printf("    sample: nu %.4g zeta %.4g omega %.4g; average: misses margins by %.3g, "
           "orthogonality by "
           "%.3g, objective %.5g\n",
           r.sample_nu, r.zeta, r.omega, r.margin_violation, r.orthogonality, r.objective_mean);
    bdml_margin_free(op);
    bdml_free_constraints(c);
    bdml_free(h);
    free(x);
    free(Q);
    free(lambda);
}

int main(int argc, char **argv)
{
    int64_t rounds = argc > 4 ? atoll(argv[4]) : 0, samples = argc > 5 ? atoll(argv[5]) : 0;
    char kind = argc > 6 ? argv[6][0] : 'p';
    bool exact = argc > 7;
    if (argc > 3) {
        time_step(atoi(argv[1]), atoi(argv[2]), (int32_t)atoi(argv[3]), rounds, samples, kind,
                  exact);
        return 0;
    }
    time_step(30, 800, 5400, 0, 0, 'p', false);
    time_step(300, 800, 5400, 0, 0, 'p', false);
    return 0;
}
