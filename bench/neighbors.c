/* neighbors.c - exact neighbours against scikit-learn, Faiss and a bare matrix product.
 *
 *   bench_neighbors [N [D [K [ROUNDS]]]]      default 20000 100 10 5
 *
 * All points are queries. For 1 thread and for all of them (2 at least) every contestant runs once a
 * round, in turn; the table shows each one's best time and the ratios of best times. Contestants in
 * other languages are programs that answer with their seconds, line for line; one that is missing
 * is named and left out. */
#include <cblas.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

#ifndef BDML_BENCH_PYTHON
#define BDML_BENCH_PYTHON "no-python-with-scikit-learn" /* starting it fails: it is left out */
#endif

typedef struct setup {
    int64_t n;
    int d, k, rounds, threads;
    double *x;
    float *f;
    void *tiles; /* one tile or slab per thread */
    const char *path;
    int32_t *index;
    double *distance;
    bdml_handle *h;
} setup;

/* ---- contestants in this process ------------------------------------------------------------------ */

static double find(const setup *s, const char *candidates, bool apart)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%d", s->threads);
    bdml_set(s->h, "threads", threads);
    bdml_set(s->h, "candidates", candidates);
    bdml_set(s->h, "search", "brute");
    double start = bdml_now();
    if (bdml_find_neighbors(s->h, s->n, s->d, s->x, s->d, NULL, s->n, apart ? s->x : NULL, s->d,
                            NULL, BDML_ANY_CLASS, s->k, s->index, s->distance) != BDML_OK) {
        fprintf(stderr, "bench_neighbors: %s\n", bdml_last_error(s->h));
        exit(1);
    }
    return bdml_now() - start;
}

static double find_double(const setup *s)
{
    return find(s, "double", false);
}
static double find_float(const setup *s)
{
    return find(s, "float", false);
}
static double find_double_apart(const setup *s)
{
    return find(s, "double", true);
}
static double find_float_apart(const setup *s)
{
    return find(s, "float", true);
}

/* The whole n x n product, never stored: tiles over threads, or slabs by OpenBLAS's own threads. */
enum { TILE = 256, SLAB = 1024 };

static double multiply_tiles(const setup *s, bool single)
{
    int64_t tiles = (s->n + TILE - 1) / TILE;
    openblas_set_num_threads(1);
    double start = bdml_now();
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t u = 0; u < tiles; u++) {
            size_t i = (size_t)t * TILE, j = (size_t)u * TILE, d = (size_t)s->d;
            int ni = (int)BDML_MIN(TILE, s->n - t * TILE),
                nj = (int)BDML_MIN(TILE, s->n - u * TILE);
            size_t at = (size_t)omp_get_thread_num() * TILE * TILE;
            if (single)
                cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, nj, ni, s->d, -2.0f,
                            s->f + j * d, s->d, s->f + i * d, s->d, 0.0f, (float *)s->tiles + at,
                            nj);
            else
                cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, nj, ni, s->d, -2.0,
                            s->x + j * d, s->d, s->x + i * d, s->d, 0.0, (double *)s->tiles + at,
                            nj);
        }
    return bdml_now() - start;
}

static double multiply_slabs(const setup *s, bool single)
{
    int n = (int)s->n;
    openblas_set_num_threads(s->threads);
    double start = bdml_now();
    for (int64_t i = 0; i < s->n; i += SLAB) {
        int ni = (int)BDML_MIN(SLAB, s->n - i);
        size_t at = (size_t)i * (size_t)s->d;
        if (single)
            cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, ni, s->d, -2.0f, s->f, s->d,
                        s->f + at, s->d, 0.0f, s->tiles, n);
        else
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, ni, s->d, -2.0, s->x, s->d,
                        s->x + at, s->d, 0.0, s->tiles, n);
    }
    double took = bdml_now() - start;
    openblas_set_num_threads(1);
    return took;
}

static double dgemm_tiles(const setup *s)
{
    return multiply_tiles(s, false);
}
static double sgemm_tiles(const setup *s)
{
    return multiply_tiles(s, true);
}
static double dgemm_slabs(const setup *s)
{
    return multiply_slabs(s, false);
}
static double sgemm_slabs(const setup *s)
{
    return multiply_slabs(s, true);
}

/* ---- contestants in other processes ------------------------------------------------------------------ */

typedef struct rival {
    FILE *ask, *answer;
    pid_t pid;
} rival;

static void become(const char *program, const char *script, const setup *s)
{
    char n[24], d[16], k[16], threads[16];
    snprintf(n, sizeof n, "%lld", (long long)s->n);
    snprintf(d, sizeof d, "%d", s->d);
    snprintf(k, sizeof k, "%d", s->k);
    snprintf(threads, sizeof threads, "%d", s->threads);
    setenv("OMP_NUM_THREADS", threads, 1);
    setenv("OPENBLAS_NUM_THREADS", threads, 1);
    if (script)
        execlp(program, program, script, s->path, n, d, k, threads, (char *)NULL);
    else
        execlp(program, program, s->path, n, d, k, threads, (char *)NULL);
    _exit(127);
}

static rival start_rival(const char *program, const char *script, const setup *s)
{
    rival r = {0};
    int in[2], out[2];
    /* Closed on exec: a rival that held the pipe of another would keep it from seeing the end. */
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return r;
    fflush(NULL);
    r.pid = fork();
    if (r.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        become(program, script, s);
    }
    close(in[0]), close(out[1]);
    r.ask = fdopen(in[1], "w");
    r.answer = fdopen(out[0], "r");
    return r;
}

/* Seconds, or infinity when the rival is not there. */
static double ask_rival(rival *r)
{
    char line[64];
    if (!r->ask || !r->answer || fputs("go\n", r->ask) < 0 || fflush(r->ask) != 0 ||
        !fgets(line, sizeof line, r->answer))
        return (double)INFINITY;
    return strtod(line, NULL);
}

static void stop_rival(rival *r)
{
    if (r->ask) fclose(r->ask);
    if (r->answer) fclose(r->answer);
    if (r->pid > 0) waitpid(r->pid, NULL, 0);
}

/* ---- the contest ------------------------------------------------------------------------------------------ */

enum { OWN = 8, SKLEARN = OWN, FAISS, CONTESTANTS };

static const struct {
    const char *name;
    double (*run)(const setup *s);
} contestants[CONTESTANTS] = {
    {"bdml, double", find_double},
    {"bdml, double, queries apart", find_double_apart},
    {"bdml, float candidates", find_float},
    {"bdml, float candidates, queries apart", find_float_apart},
    {"dgemm in tiles", dgemm_tiles},
    {"dgemm, OpenBLAS threads", dgemm_slabs},
    {"sgemm in tiles", sgemm_tiles},
    {"sgemm, OpenBLAS threads", sgemm_slabs},
    {"scikit-learn brute, double", NULL},
    {"Faiss IndexFlatL2, float", NULL},
};

static void print_ratio(const char *what, double theirs, double ours, double wanted)
{
    if (!isfinite(theirs)) {
        printf("  %-58s   left out\n", what);
        return;
    }
    printf("  %-58s %7.2f  (%s %.1f)\n", what, theirs / ours,
           theirs / ours >= wanted ? "met: at least" : "MISSED: wanted", wanted);
}

static void contest(setup *s)
{
    double best[CONTESTANTS];
    rival sklearn =
        start_rival(BDML_BENCH_PYTHON, BDML_BENCH_SOURCE_DIR "/neighbors_sklearn.py", s);
    rival faiss = start_rival(BDML_BENCH_BINARY_DIR "/bench_faiss", NULL, s);

    for (int c = 0; c < CONTESTANTS; c++) best[c] = (double)INFINITY;
    for (int round = 0; round < s->rounds; round++)
        for (int c = 0; c < CONTESTANTS; c++) {
            double took =
                c < OWN ? contestants[c].run(s) : ask_rival(c == FAISS ? &faiss : &sklearn);
            best[c] = BDML_MIN(best[c], took);
        }
    stop_rival(&sklearn);
    stop_rival(&faiss);

    double flop = 2.0 * (double)s->n * (double)s->n * s->d;
    double dgemm = BDML_MIN(best[4], best[5]), sgemm = BDML_MIN(best[6], best[7]);
    printf("\nn %lld, d %d, k %d, threads %d, best of %d rounds\n", (long long)s->n, s->d, s->k,
           s->threads, s->rounds);
    printf("  %-42s %9s %12s\n", "", "seconds", "2n^2d/s, G");
    for (int c = 0; c < CONTESTANTS; c++) {
        if (isfinite(best[c]))
            printf("  %-42s %9.3f %12.1f\n", contestants[c].name, best[c], flop / best[c] * 1e-9);
        else
            printf("  %-42s  not there\n", contestants[c].name);
    }
    printf("  times as fast as\n");
    print_ratio("scikit-learn (bdml, double)", best[SKLEARN], best[0], 1.0);
    print_ratio("scikit-learn (bdml, double, queries apart)", best[SKLEARN], best[1], 1.0);
    print_ratio("Faiss (bdml, float candidates)", best[FAISS], best[2], 1.0);
    print_ratio("Faiss (bdml, float candidates, queries apart)", best[FAISS], best[3], 1.0);
    print_ratio("the faster dgemm (bdml, double)", dgemm, best[0], 0.5);
    print_ratio("the faster dgemm (bdml, double, queries apart)", dgemm, best[1], 0.5);
    print_ratio("the faster sgemm (bdml, float candidates)", sgemm, best[2], 0.5);
    print_ratio("the faster sgemm (bdml, float candidates, queries apart)", sgemm, best[3], 0.5);
}

static void check_agreement(setup *s)
{
    size_t cells = (size_t)s->n * (size_t)s->k;
    int32_t *first = malloc(sizeof *first * cells);
    if (!first) exit(1);
    find(s, "double", false);
    memcpy(first, s->index, sizeof *first * cells);
    find(s, "float", false);
    printf("double and float candidates agree: %s\n",
           memcmp(first, s->index, sizeof *first * cells) == 0 ? "yes" : "NO");
    free(first);
}

int main(int argc, char **argv)
{
    setup s = {.n = argc > 1 ? atoll(argv[1]) : 20000,
               .d = argc > 2 ? atoi(argv[2]) : 100,
               .k = argc > 3 ? atoi(argv[3]) : 10,
               .rounds = argc > 4 ? atoi(argv[4]) : 5};
    char path[] = "/tmp/bdml-bench-XXXXXX";
    int most = BDML_MAX(omp_get_num_procs(), 2), file = mkstemp(path);
    size_t cells = (size_t)s.n * (size_t)s.d, tile = (size_t)most * TILE * TILE;
    bdml_rng r = bdml_rng_make(1, 1);

    if (s.n < 1 || s.d < 1 || s.k < 1 || s.rounds < 1 || file < 0 || bdml_create(&s.h) != BDML_OK) {
        fprintf(stderr, "usage: bench_neighbors [N [D [K [ROUNDS]]]]\n");
        return 2;
    }
    s.x = malloc(sizeof *s.x * cells);
    s.f = malloc(sizeof *s.f * cells);
    s.tiles = malloc(sizeof(double) * BDML_MAX(tile, (size_t)s.n * SLAB));
    s.index = malloc(sizeof *s.index * (size_t)s.n * (size_t)s.k);
    s.distance = malloc(sizeof *s.distance * (size_t)s.n * (size_t)s.k);
    s.path = path;
    if (!s.x || !s.f || !s.tiles || !s.index || !s.distance) return 1;
    for (size_t i = 0; i < cells; i++) s.f[i] = (float)(s.x[i] = bdml_rng_normal(&r));
    if (write(file, s.x, sizeof *s.x * cells) != (ssize_t)(sizeof *s.x * cells)) return 1;
    close(file);

    signal(SIGPIPE, SIG_IGN); /* a rival that is not there is found out by its silence */
    s.threads = 1;
    check_agreement(&s);
    contest(&s);
    s.threads = most;
    contest(&s);

    unlink(path);
    bdml_free(s.h);
    free(s.x), free(s.f), free(s.tiles), free(s.index), free(s.distance);
    return 0;
}
