/* paper.c - time of a round of the paper's algorithm.
 *
 *     bench_paper [D [PAIRS [ROUNDS]]]     default: d 10, 50, 100, 300 with 900 impostor pairs
 *
 * Gaussian points in two classes, 2 PAIRS/5 of them with 3 impostors each (some pairs repeat and are dropped), R = rho = 3d+1 as in the
 * paper's study of running time, K = 10, one thread. The lifted form in the paper's literal and in the mended
 * version, and the cone form; at a bound on the objective that says nothing (loose), and at one 2 % above the
 * optimum, where every round works near a contradiction (tight). Seconds are those of the processor, so that other
 * work on the machine does not count, the best of three runs; beside them a plain dsyevd of the same size, timed
 * between the runs, and the ratio, which other machines can be held against. `eigen`: eigendecompositions of the cone form
 * in a run. Allocations are counted over all rounds; memory is what problem and workspace hold, in units of
 * d^2 + n d + rows doubles. */
#include <stdlib.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "linalg/linalg.h"
#include "paper/paper.h"

static void check(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_paper: %s\n", bdml_last_error(h));
    exit(1);
}

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes held by this program; 0 where the C library does not tell. */
static double bytes_held(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
#else
    return 0.0;
#endif
}

static bdml_dataset *gaussian(bdml_handle *h, int64_t n, int d)
{
    bdml_rng r = bdml_rng_make(1, 2);
    double *x = malloc(sizeof *x * (size_t)n * (size_t)d);
    int64_t *y = malloc(sizeof *y * (size_t)n);
    bdml_dataset *data = NULL;
    if (!x || !y) exit(1);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % 2;
        for (int j = 0; j < d; j++)
            x[i * d + j] = bdml_rng_normal(&r) + (j == 0 && y[i] ? 1.0 : 0.0);
    }
    check(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

/* Processor seconds of a plain dsyevd with vectors at this size: best of some, as the yardstick of the run. */
static double time_eigen(bdml_handle *h, int d)
{
    enum { TIMES = 7 };
    bdml_eigh_ws ws;
    bdml_rng r = bdml_rng_make(3, 4);
    size_t size = (size_t)d * (size_t)d;
    double *a = malloc(sizeof *a * size), *lambda = malloc(sizeof *lambda * (size_t)d),
           best = INFINITY;
    if (!a || !lambda) exit(1);
    check(h, bdml_eigh_ws_init(h, d, &ws));
    check(h, bdml_la_enter(h));
    for (int k = 0; k < TIMES; k++) {
        for (int j = 0; j < d; j++)
            for (int i = j; i < d; i++) COL(a, d, j)[i] = bdml_rng_normal(&r);
        double start = processor();
        check(h, bdml_la_eigh(h, d, a, lambda, true, &ws));
        best = BDML_MIN(best, processor() - start);
    }
    bdml_la_leave(h);
    bdml_eigh_ws_free(&ws);
    free(a);
    free(lambda);
    return best;
}

typedef struct contest {
    bdml_handle *h;
    const bdml_dataset *data;
    const bdml_constraints *c;
    int64_t rounds;
    double optimum;
} contest;

static double find_optimum(const contest *t)
{
    bdml_solve_settings s = bdml_solve_defaults();
    bdml_solve_result r;
    bdml_problem *p = NULL;
    const bdml_dataset *data = t->data;
    s.hard = true;
    s.K = 10.0;
    s.gap = 1e-2;
    s.trace = 3.0 * data->d + 1.0;
    check(t->h, bdml_problem_new(t->h, data->n, data->d, data->x, data->d, t->c, NULL, false, &p));
    check(t->h, bdml_problem_solve(t->h, p, &s, &r));
    double upper = r.upper;
    bdml_solve_result_free(&r);
    bdml_problem_free(p);
    return upper;
}

/* bound: on the objective. The best of some runs counts. */
static void time_form(const contest *t, const char *name, bdml_paper_form form, bool literal,
                      const char *bound_name, double bound)
{
    enum { TIMES = 3 };
    bdml_paper_settings s = bdml_paper_defaults(form);
    bdml_handle *h = t->h;
    const bdml_dataset *data = t->data;
    bdml_problem *p = NULL;
    bdml_mwu *w = NULL;
    bdml_mwu_result r;
    double best = INFINITY, eigen = INFINITY;
    s.literal = literal;
    s.trace = 3.0 * data->d + 1.0;
    s.rho = form == BDML_PAPER_LIFTED ? s.trace : 0.0;
    s.rounds = t->rounds;
    double held = bytes_held(), d = data->d;
    check(h, bdml_paper_problem(h, data->n, data->d, data->x, data->d, t->c, false, &p));
    check(h, bdml_mwu_new(h, p, &s, &w));
    held = (bytes_held() - held) / (8.0 * (d * d + (double)data->n * d + (double)t->c->m));
    int64_t allocations = 0;
    for (int k = 0; k < TIMES; k++) {
        int64_t before = h->alloc_count;
        double start = processor();
        check(h, bdml_mwu_run(w, bound, &r));
        best = BDML_MIN(best, processor() - start);
        allocations += h->alloc_count - before;
        eigen = BDML_MIN(eigen, time_eigen(h, data->d));
    }
    best /= (double)r.rounds;
    printf("%5d %6lld  %-13s %-6s %7lld %7lld %10.4f %10.4f %7.2f %6lld %7.1f\n", data->d,
           (long long)t->c->m, name, bound_name, (long long)r.rounds, (long long)r.eigen,
           1e3 * best, 1e3 * eigen, best / eigen, (long long)allocations, held);
    bdml_mwu_free(w);
    bdml_problem_free(p);
}

static void time_dimension(int d, int64_t pairs, int64_t rounds)
{
    contest t = {.rounds = rounds};
    bdml_constraints *c = NULL;
    if (bdml_create(&t.h) != BDML_OK) exit(1);
    check(t.h, bdml_set(t.h, "threads", "1"));
    check(t.h, bdml_set(t.h, "kind", "pair"));
    bdml_dataset *data = gaussian(t.h, 2 * pairs / 5, d);
    check(t.h, bdml_mine_constraints(t.h, data, &c));
    t.data = data;
    t.c = c;
    t.optimum = find_optimum(&t);
    double loose = 1e3 * d, tight = 1.02 * t.optimum;
    time_form(&t, "mwu, literal", BDML_PAPER_LIFTED, true, "loose", loose);
    time_form(&t, "mwu", BDML_PAPER_LIFTED, false, "loose", loose);
    time_form(&t, "mwu", BDML_PAPER_LIFTED, false, "tight", tight);
    time_form(&t, "mwu-cone", BDML_PAPER_CONE, false, "loose", loose);
    time_form(&t, "mwu-cone", BDML_PAPER_CONE, false, "tight", tight);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
    bdml_free(t.h);
}

int main(int argc, char **argv)
{
    const int dimensions[] = {10, 50, 100, 300};
    int64_t pairs = argc > 2 ? atoll(argv[2]) : 900, rounds = argc > 3 ? atoll(argv[3]) : 1000;
    printf("%5s %6s  %-13s %-6s %7s %7s %10s %10s %7s %6s %7s\n", "d", "rows", "form", "bound",
           "rounds", "eigen", "ms a round", "ms dsyevd", "ratio", "allocs", "memory");
    if (argc > 1) {
        time_dimension(atoi(argv[1]), pairs, rounds);
        return 0;
    }
    for (int k = 0; k < 4; k++) time_dimension(dimensions[k], pairs, rounds);
    return 0;
}
