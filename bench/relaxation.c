/* relaxation.c - the paper's step for Q: time of a round of the decoupled oracle, and what the whole step costs and
 * reaches.
 *
 *     bench_relaxation [Q D PAIRS [p|t [ROUNDS [SAMPLES [EXACT]]]]]   default: 30 800 and 300 800 with 5400 pairs
 *     bench_relaxation FILE Q [p|t [ROUNDS [SAMPLES [EXACT]]]]        points of a file, z-scored, mined constraints
 *
 * Without a file: Gaussian points in two classes that differ in the first D/20 coordinates, coordinate j with
 * (1 + j)^-1/2 of the spread of the first; PAIRS/2 target and PAIRS/2 impostor pairs of different points. The start is Q =
 * the principal axes, Lambda = s I with the least s that meets the margins (s = 1 where none does). One thread, processor
 * time; allocations are counted over the rounds. */
#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "data/data.h"
#include "linalg/linalg.h"
#include "paper/relaxed.h"

typedef struct task {
    bdml_handle *h;
    int64_t n;
    int d, q;
    double *x;
    bdml_constraints *c;
    bdml_margin *op;
    double *Q, *lambda;
    bdml_relaxation_settings s;
} task;

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

/* ---- problems ------------------------------------------------------------------------------------------- */

static void gaussian(task *t, int32_t pairs, char kind)
{
    int32_t half = pairs / 2;
    int32_t *target = room(2 * (size_t)half, sizeof *target);
    int32_t *rows = room(3 * (size_t)half, sizeof *rows);
    bdml_rng r = bdml_rng_make(1, 2);
    t->n = 2 * (int64_t)pairs;
    t->x = room((size_t)t->n * (size_t)t->d, sizeof *t->x);
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < t->d; j++)
            t->x[i * t->d + j] =
                (bdml_rng_normal(&r) + (i % 2 && j < t->d / 20 ? 2.0 : 0.0)) / sqrt(1.0 + j);
    for (int32_t k = 0; k < half; k++) {
        int32_t i = 4 * k, near = i + 2, far = i + 1;
        target[2 * k] = i, target[2 * k + 1] = near;
        rows[3 * k] = i, rows[3 * k + 1] = kind == 't' ? near : -1, rows[3 * k + 2] = far;
    }
    check(t->h, bdml_constraints_build(t->h, t->n, half, target, half, rows, NULL, NULL, &t->c));
    free(target);
    free(rows);
}

static void from_file(task *t, const char *path, char kind)
{
    bdml_dataset *data = NULL;
    bdml_prepare prepare = {0};
    check(t->h, bdml_set(t->h, "scale", "zscore"));
    check(t->h, bdml_set(t->h, "kind", kind == 't' ? "triplet" : "pair"));
    check(t->h, bdml_read_dataset(t->h, path, &data));
    check(t->h, bdml_prepare_fit(t->h, &t->h->options, data, &prepare));
    check(t->h, bdml_prepare_apply(t->h, &prepare, data->n, data->x, data->d, data->x));
    check(t->h, bdml_mine_constraints(t->h, data, &t->c));
    t->n = data->n;
    t->d = data->d;
    t->x = room((size_t)t->n * (size_t)t->d, sizeof *t->x);
    memcpy(t->x, data->x, sizeof *t->x * (size_t)t->n * (size_t)t->d);
    bdml_prepare_free(&prepare);
    bdml_free_dataset(data);
}

/* Principal axes, and Lambda = s I. */
static void start(task *t)
{
    int d = t->d, q = t->q;
    double *cov = room((size_t)d * (size_t)d, sizeof *cov),
           *lambda = room((size_t)d, sizeof *lambda);
    double *ws = room(bdml_la_gram_size(d), sizeof *ws), *mean = room((size_t)d, sizeof *mean);
    double objective, nu;
    bdml_eigh_ws eigen;
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < d; j++) mean[j] += t->x[i * d + j] / (double)t->n;
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < d; j++) t->x[i * d + j] -= mean[j];
    t->Q = room((size_t)q * (size_t)d, sizeof *t->Q);
    t->lambda = room((size_t)q, sizeof *t->lambda);
    check(t->h, bdml_eigh_ws_init(t->h, d, &eigen));
    bdml_la_gram(t->h, d, t->n, t->x, d, NULL, cov, ws);
    check(t->h, bdml_la_eigh(t->h, d, cov, lambda, true, &eigen));
    for (int i = 0; i < q; i++) {
        memcpy(COL(t->Q, d, i), COL(cov, d, d - 1 - i), sizeof *t->Q * (size_t)d);
        t->lambda[i] = 1.0;
    }
    check(t->h, bdml_judge(t->h, t->op, t->c, d, q, t->lambda, t->s.margin, t->Q, &objective, &nu));
    for (int i = 0; i < q && nu > 0.0; i++) t->lambda[i] = (1.0 + 1e-12) / nu;
    bdml_eigh_ws_free(&eigen);
    free(cov);
    free(lambda);
    free(ws);
    free(mean);
}

/* ---- measurements ----------------------------------------------------------------------------------------- */

static void time_rounds(task *t, int64_t rounds)
{
    bdml_paper_settings s = bdml_paper_defaults(BDML_PAPER_CONE);
    bdml_operator A = bdml_operator_low_rank(t->op, t->c, t->d, t->q);
    bdml_relaxed x = {.d = t->d, .q = t->q, .lambda = t->lambda, .op = t->op, .atoms.room = rounds};
    bdml_mwu_result r;
    bdml_mwu *w = NULL;
    double objective, nu;
    s.rounds = rounds;
    s.margin = t->s.margin;
    check(t->h,
          bdml_judge(t->h, t->op, t->c, t->d, t->q, t->lambda, s.margin, t->Q, &objective, &nu));
    check(t->h,
          bdml_mwu_build(t->h, &A, &bdml_full_matrices, NULL, 0, &s, &bdml_relaxed_form, &x, &w));
    int64_t before = t->h->alloc_count;
    double from = processor();
    check(t->h, bdml_mwu_run(w, objective, &r));
    double seconds = processor() - from;
    printf("  rounds   %lld in %.2f s of processor time, %.3f ms each, %lld allocations\n",
           (long long)r.rounds, seconds, 1e3 * seconds / (double)r.rounds,
           (long long)(t->h->alloc_count - before));
    bdml_mwu_free(w);
}

static void time_step(task *t)
{
    bdml_relaxation_report r;
    double from = processor();
    check(t->h, bdml_relaxation_q_step(t->h, t->op, t->c, t->d, t->q, t->lambda, &t->s, t->Q, &r));
    printf("  step     %.2f s of processor time: %d calls, %lld rounds, %lld samples\n",
           processor() - from, r.calls, (long long)r.rounds, (long long)r.samples);
    if (r.infeasible) {
        printf("  proven: no Q meets the margins with this Lambda\n");
        return;
    }
    printf("  bracket  %.5g <= rho_sdp <= %.5g%s; achieved %.5g\n", r.sdp_lower, r.sdp_upper,
           r.exact ? "" : " (believed)", r.achieved);
    printf("  average  objective %.5g, nu %.4g, ratio %.5g; orthogonality missed by %.3g\n",
           r.objective_mean, r.average_nu, r.objective_mean / r.average_nu, r.orthogonality);
    printf("  start    objective %.5g, nu %.4g, ratio %.5g\n", r.start_objective, r.start_nu,
           r.start_objective / r.start_nu);
    printf("  Q        objective %.5g, nu %.4g, ratio %.5g%s\n", r.objective, r.nu,
           r.objective / r.nu, r.improved ? "" : " (the start)");
    if (r.improved)
        printf("  sample   nu %.4g, zeta %.4g, omega %.4g\n", r.sample_nu, r.zeta, r.omega);
}

static void run(task *t, char kind, int32_t pairs, const char *path)
{
    if (bdml_create(&t->h) != BDML_OK) exit(1);
    check(t->h, bdml_set(t->h, "threads", "1"));
    if (path)
        from_file(t, path, kind);
    else
        gaussian(t, pairs, kind);
    check(t->h, bdml_margin_new(t->h, t->n, t->d, t->x, t->d, t->c, &t->op));
    bdml_la_enter(t->h);
    start(t);
    printf("%d x %d, %c, %lld points, %lld pairs, %lld constraints\n", t->q, t->d, kind,
           (long long)t->n, (long long)t->c->pairs, (long long)t->c->m);
    time_rounds(t, t->s.rounds);
    time_step(t);
    bdml_la_leave(t->h);
    bdml_margin_free(t->op);
    bdml_free_constraints(t->c);
    bdml_free(t->h);
    free(t->x);
    free(t->Q);
    free(t->lambda);
}

int main(int argc, char **argv)
{
    bool file = argc > 1 && !isdigit((unsigned char)argv[1][0]);
    int rest = file ? 3 : 4; /* where kind, rounds, ... begin */
    task t = {.q = 30, .d = 800, .s = bdml_relaxation_defaults()};
    char kind = argc > rest ? argv[rest][0] : 'p';
    int32_t pairs = 5400;
    if (file && argc > 2) t.q = atoi(argv[2]);
    if (!file && argc > 3) t.q = atoi(argv[1]), t.d = atoi(argv[2]), pairs = (int32_t)atoi(argv[3]);
    if (argc > rest + 1) t.s.rounds = atoll(argv[rest + 1]);
    if (argc > rest + 2) t.s.samples = atoll(argv[rest + 2]);
    t.s.exact = argc > rest + 3;
    if (getenv("BDML_SOURCE_ENGINE")) t.s.source = BDML_RELAXATION_ENGINE;
    if (getenv("BDML_RULE_PAPER")) t.s.rule = BDML_SAMPLE_PAPER;
    task again = t;
    run(&t, kind, pairs, file ? argv[1] : NULL);
    if (argc > 1) return 0;
    again.q = 300;
    run(&again, kind, pairs, NULL);
    return 0;
}
