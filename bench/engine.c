/* engine.c - times of the certified solver, and its problems in SDPA format for other solvers.
 *
 *     bench_engine gaussian N D p|t [settings]    Gaussian classes, 3 targets, 3 impostors a point
 *     bench_engine FILE.csv p|t [settings]        data of a file, z-scored
 *     bench_engine                                the usual: both forms, and growth with m and d
 *
 * settings: K=10 R=INFINITY gap=1e-4 hard | softness=5, hinge, diagonal, threads=1, max-iter=N,
 * verbose, spread=1 (of the classes' centres), data=FILE.npy (write the scaled points, their labels beside), sdpa=FILE.dat-s (write the
 * hard problem, lifted with alpha: M - alpha I >= 0, K alpha I - M >= 0, margins and trace as an LP
 * block). One line of results: bracket, kappa, iterations, seconds by phase, seconds of processor
 * time for the solve with its set-up and for mining. Growth is that of processor time. */
#include <stdlib.h>
#include <time.h>

#include "gaussian.h"

#include "linalg/linalg.h"
#include "solver/solver.h"

static void print_line(void *user, bdml_log_level level, const char *line)
{
    (void)user, (void)level;
    fprintf(stderr, "%s\n", line);
}

static void check(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_engine: %s\n", bdml_last_error(h));
    exit(1);
}

/* ---- data ----------------------------------------------------------------------------------- */

/* Seconds of processor time so far: with one thread, what other work on the machine does not change. */
static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Scale in place and mine 3 targets and 3 impostors a point. */
static bdml_constraints *prepare(bdml_handle *h, bdml_dataset *data, const char *kind)
{
    bdml_prepare p = {0};
    bdml_constraints *c = NULL;
    check(h, bdml_set(h, "scale", "zscore"));
    check(h, bdml_set(h, "kind", kind[0] == 'p' ? "pair" : "triplet"));
    check(h, bdml_prepare_fit(h, &h->options, data, &p));
    check(h, bdml_prepare_apply(h, &p, data->n, data->x, data->d, data->x));
    bdml_prepare_free(&p);
    check(h, bdml_mine_constraints(h, data, &c));
    return c;
}

/* ---- SDPA sparse format --------------------------------------------------------------------- */

/* Number of the variable M_ij, from 1; alpha is the one after the last. */
static int variable(int d, int i, int j)
{
    return i <= j ? i * d - i * (i - 1) / 2 + (j - i) + 1 : variable(d, j, i);
}

static void difference(const bdml_dataset *data, const bdml_constraints *c, int64_t pair, double *f)
{
    for (int j = 0; j < data->d; j++)
        f[j] = data->x[(int64_t)c->pi[pair] * data->d + j] -
               data->x[(int64_t)c->pj[pair] * data->d + j];
}

/* min sum_k c_k x_k  s.t.  sum_k F_k x_k - F_0 >= 0; blocks: d, d, and a diagonal one of m + 1. */
static void write_sdpa(const char *path, const bdml_dataset *data, const bdml_constraints *c,
                       const bdml_solve_settings *s)
{
    int d = data->d, alpha = d * (d + 1) / 2 + 1;
    double *g = calloc((size_t)d * (size_t)d, sizeof *g), *f = malloc(sizeof *f * (size_t)d);
    double *near = malloc(sizeof *near * (size_t)d);
    FILE *out = fopen(path, "w");
    if (!out || !g || !f || !near) {
        fprintf(stderr, "bench_engine: cannot write %s\n", path);
        exit(1);
    }
    bool bounded = isfinite(s->trace);
    fprintf(out, "%d\n3\n%d %d -%lld\n", alpha, d, d, (long long)(c->m + bounded));
    for (int64_t k = 0; k < c->targets; k++) {
        difference(data, c, c->target[k], f);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) g[i * d + j] += f[i] * f[j] / (double)c->targets;
    }
    for (int i = 0; i < d; i++)
        for (int j = i; j < d; j++) fprintf(out, "%.17g ", (i == j ? 1.0 : 2.0) * g[i * d + j]);
    fprintf(out, "0\n");
    for (int64_t t = 0; t < c->m; t++)
        fprintf(out, "0 3 %lld %lld %.17g\n", (long long)t + 1, (long long)t + 1, s->margin);
    if (bounded)
        fprintf(out, "0 3 %lld %lld %.17g\n", (long long)c->m + 1, (long long)c->m + 1, -s->trace);
    for (int i = 0; i < d; i++)
        for (int j = i; j < d; j++) {
            int v = variable(d, i, j);
            fprintf(out, "%d 1 %d %d 1\n%d 2 %d %d -1\n", v, i + 1, j + 1, v, i + 1, j + 1);
            if (bounded && i == j)
                fprintf(out, "%d 3 %lld %lld -1\n", v, (long long)c->m + 1, (long long)c->m + 1);
        }
    for (int64_t t = 0; t < c->m; t++) {
        difference(data, c, c->far[t], f);
        for (int j = 0; j < d; j++) near[j] = 0.0;
        if (c->near[t] >= 0) difference(data, c, c->near[t], near);
        for (int i = 0; i < d; i++)
            for (int j = i; j < d; j++)
                fprintf(out, "%d 3 %lld %lld %.17g\n", variable(d, i, j), (long long)t + 1,
                        (long long)t + 1, (i == j ? 1.0 : 2.0) * (f[i] * f[j] - near[i] * near[j]));
    }
    for (int i = 1; i <= d; i++)
        fprintf(out, "%d 1 %d %d -1\n%d 2 %d %d %.17g\n", alpha, i, i, alpha, i, i, s->K);
    fclose(out);
    free(g);
    free(f);
    free(near);
}

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct job {
    bdml_solve_settings s;
    bool diagonal;
    double spread; /* of the class centres */
    const char *sdpa, *data;
} job;

static double phase(const bdml_handle *h, bdml_phase p)
{
    return bdml_phase_seconds(h, (int)p);
}

/* Solve, print a line, return the processor seconds of set-up and solve. */
static double solve(bdml_handle *h, const char *name, const bdml_dataset *data,
                    const bdml_constraints *c, double mining, const job *j)
{
    static const char *const outcome[] = {"optimal", "infeasible", "stopped"};
    bdml_problem *p = NULL;
    bdml_solve_result r;
    double eigen = phase(h, BDML_PHASE_EIGEN), gradient = phase(h, BDML_PHASE_GRADIENT),
           since = bdml_now(), cpu = processor();
    check(h, bdml_problem_new(h, data->n, data->d, data->x, data->d, c, NULL, j->diagonal, &p));
    check(h, bdml_problem_solve(h, p, &j->s, &r));
    double seconds = bdml_now() - since;
    cpu = processor() - cpu;
    printf("%s n %lld d %d m %lld K %g: %s [%.8g, %.8g] gap %.1e kappa %.6g iterations %lld "
           "seconds %.4f"
           " (eigen %.4f, operator %.4f), cpu %.4f, mining cpu %.4f\n",
           name, (long long)data->n, data->d, (long long)c->m, j->s.K, outcome[r.outcome], r.lower,
           r.upper, r.gap, r.kappa, (long long)r.iterations, seconds,
           phase(h, BDML_PHASE_EIGEN) - eigen, phase(h, BDML_PHASE_GRADIENT) - gradient, cpu,
           mining);
    fflush(stdout);
    bdml_solve_result_free(&r);
    bdml_problem_free(p);
    return cpu;
}

static double run(bdml_handle *h, const char *name, bdml_dataset *data, const char *kind,
                  const job *j)
{
    double since = processor();
    bdml_constraints *c = prepare(h, data, kind);
    since = processor() - since;
    if (j->data) check(h, bdml_write_dataset(h, data, j->data));
    if (j->sdpa) write_sdpa(j->sdpa, data, c, &j->s);
    double seconds = solve(h, name, data, c, since, j);
    bdml_free_constraints(c);
    bdml_free_dataset(data);
    return seconds;
}

/* Exponents between the ends of two ladders: constraints at fixed d, and d at fixed n. */
static void scaling(bdml_handle *h, const job *j)
{
    static const int64_t ns[] = {1250, 2500, 5000, 10000, 20000};
    static const int ds[] = {25, 50, 100, 200, 400};
    enum { STEPS = 5 };
    double t[STEPS];
    for (int k = 0; k < STEPS; k++)
        t[k] = run(h, "soft triplets", gaussian(h, ns[k], 50, 1.0), "t", j);
    printf("time grows as constraints^%.2f (m %lld to %lld)\n",
           log(t[STEPS - 1] / t[0]) / log(16.0), (long long)ns[0] * 9,
           (long long)ns[STEPS - 1] * 9);
    for (int k = 0; k < STEPS; k++)
        t[k] = run(h, "soft triplets", gaussian(h, 2000, ds[k], 1.0), "t", j);
    printf("time grows as d^%.2f (d %d to %d)\n", log(t[STEPS - 1] / t[0]) / log(16.0), ds[0],
           ds[STEPS - 1]);
}

static bool setting(bdml_handle *h, job *j, const char *a)
{
    if (strncmp(a, "K=", 2) == 0)
        j->s.K = atof(a + 2);
    else if (strncmp(a, "R=", 2) == 0)
        j->s.trace = atof(a + 2);
    else if (strncmp(a, "gap=", 4) == 0)
        j->s.gap = atof(a + 4);
    else if (strncmp(a, "max-iter=", 9) == 0)
        j->s.max_iter = atoll(a + 9);
    else if (strncmp(a, "softness=", 9) == 0)
        j->s.softness = atof(a + 9), j->s.hard = false;
    else if (strncmp(a, "spread=", 7) == 0)
        j->spread = atof(a + 7);
    else if (strncmp(a, "threads=", 8) == 0)
        check(h, bdml_set(h, "threads", a + 8));
    else if (strncmp(a, "sdpa=", 5) == 0)
        j->sdpa = a + 5;
    else if (strncmp(a, "data=", 5) == 0)
        j->data = a + 5;
    else if (strcmp(a, "hard") == 0)
        j->s.hard = true;
    else if (strcmp(a, "hinge") == 0)
        j->s.loss = BDML_LOSS_HINGE;
    else if (strcmp(a, "diagonal") == 0)
        j->diagonal = true;
    else if (strcmp(a, "verbose") == 0)
        bdml_set_log(h, print_line, NULL);
    else
        return false;
    return true;
}

/* What the notes quote: the hard pairs of d = 50, soft triplets of d = 50 and 100, and the growth. */
static void usual(bdml_handle *h)
{
    job hard = {.s = bdml_solve_defaults()}, soft = hard;
    hard.s.hard = true;
    hard.s.gap = 1e-4;
    run(h, "hard pairs", gaussian(h, 500, 50, 1.0), "p", &hard);
    run(h, "soft triplets", gaussian(h, 5000, 50, 1.0), "t", &soft);
    run(h, "soft triplets", gaussian(h, 5000, 100, 1.0), "t", &soft);
    soft.s.softness = 50.0; /* so that the start point is not the solution */
    soft.s.K = 100.0;
    scaling(h, &soft);
}

int main(int argc, char **argv)
{
    bdml_handle *h = NULL;
    job j = {.s = bdml_solve_defaults(), .spread = 1.0};
    bool synthetic = argc >= 5 && strcmp(argv[1], "gaussian") == 0;
    if (argc == 2) {
        fprintf(stderr, "usage: bench_engine [gaussian N D p|t | FILE.csv p|t  [settings]]\n");
        return 2;
    }
    if (bdml_create(&h) != BDML_OK) return 1;
    check(h, bdml_set(h, "threads", "1"));
    j.s.hard = true;
    j.s.gap = 1e-4;
    for (int i = synthetic ? 5 : 3; i < argc; i++)
        if (!setting(h, &j, argv[i])) {
            fprintf(stderr, "bench_engine: unknown setting '%s'\n", argv[i]);
            return 2;
        }
    if (argc == 1) {
        usual(h);
    } else if (synthetic) {
        run(h, argv[4], gaussian(h, atoll(argv[2]), atoi(argv[3]), j.spread), argv[4], &j);
    } else {
        bdml_dataset *data = NULL;
        check(h, bdml_read_dataset(h, argv[1], &data));
        run(h, argv[2], data, argv[2], &j);
    }
    bdml_free(h);
    return 0;
}
