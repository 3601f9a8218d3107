/* paper.c - time of a round of the paper's algorithm.
 *
 *     bench_paper [D [PAIRS [ROUNDS]]]     default: d 10, 50, 100, 300 with 900 impostor pairs
 *
 * Gaussian points in two classes, 2 PAIRS/5 of them with 3 impostors each (some pairs repeat and are dropped), R = rho = 3d+1 as in the
 * paper's study of running time, K = 10, one thread. The lifted form in the paper's literal and in the mended
 * version, and the cone form. Seconds are those of the processor (user), so that other work on the machine does not
 * count; allocations are counted over all rounds. */
#include <stdlib.h>
#include <time.h>

#include "linalg/linalg.h"
#include "solver/paper/paper.h"

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

static void time_form(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *c,
                      const char *name, bdml_paper_form form, bool literal, int64_t rounds)
{
    bdml_paper_settings s = bdml_paper_defaults(form);
    bdml_problem *p = NULL;
    bdml_mwu *w = NULL;
    bdml_mwu_result r;
    s.literal = literal;
    s.trace = 3.0 * data->d + 1.0;
    s.rho = form == BDML_PAPER_LIFTED ? s.trace : 0.0;
    s.rounds = rounds;
    check(h, bdml_paper_problem(h, data->n, data->d, data->x, data->d, c, false, &p));
    check(h, bdml_mwu_new(h, p, &s, &w));
    int64_t before = h->alloc_count;
    double start = processor();
    check(h, bdml_mwu_run(w, 1e3 * data->d,
                          &r)); /* a bound that is not refused: all rounds are made */
    double seconds = processor() - start;
    printf("%5d %8lld  %-14s %8lld %10.3f %12.4f %12lld\n", data->d, (long long)c->m, name,
           (long long)r.rounds, seconds, 1e3 * seconds / (double)r.rounds,
           (long long)(h->alloc_count - before));
    bdml_mwu_free(w);
    bdml_problem_free(p);
}

static void time_dimension(int d, int64_t pairs, int64_t rounds)
{
    bdml_handle *h;
    bdml_constraints *c = NULL;
    if (bdml_create(&h) != BDML_OK) exit(1);
    check(h, bdml_set(h, "threads", "1"));
    check(h, bdml_set(h, "kind", "pair"));
    bdml_dataset *data = gaussian(h, 2 * pairs / 5, d);
    check(h, bdml_mine_constraints(h, data, &c));
    time_form(h, data, c, "mwu, literal", BDML_PAPER_LIFTED, true, rounds);
    time_form(h, data, c, "mwu", BDML_PAPER_LIFTED, false, rounds);
    time_form(h, data, c, "mwu-cone", BDML_PAPER_CONE, false, BDML_MAX(rounds / 5, 1));
    bdml_free_constraints(c);
    bdml_free_dataset(data);
    bdml_free(h);
}

int main(int argc, char **argv)
{
    const int dimensions[] = {10, 50, 100, 300};
    int64_t pairs = argc > 2 ? atoll(argv[2]) : 900, rounds = argc > 3 ? atoll(argv[3]) : 1000;
    printf("%5s %8s  %-14s %8s %10s %12s %12s\n", "d", "rows", "form", "rounds", "seconds",
           "ms a round", "allocations");
    if (argc > 1) {
        time_dimension(atoi(argv[1]), pairs, rounds);
        return 0;
    }
    for (int k = 0; k < 4; k++) time_dimension(dimensions[k], pairs, rounds);
    return 0;
}
