/* soak.c - soak SECONDS DATA.csv...: one process that does everything over and over: read, train, save, load, certify, map,
 * evaluate, predict, look for neighbours, and fail at things on purpose. Each round gives the same bits as the first, and after
 * a warm-up the memory of the process stays where it is. Prints a line with a hash of the results: all processes that run so
 * on one machine print the same. By bdml.h and the shared library alone. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bdml/bdml.h"

enum { WARM = 6 }; /* rounds before memory is looked at */
/* The address sanitizer keeps what was freed, to find uses of it. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
static const double GROWTH =
    6 << 20; /* bytes that are no leak: what the allocator keeps varies with the order of threads */

static void stop(bdml_handle *h, const char *what)
{
    fprintf(stderr, "soak: %s: %s\n", what, h ? bdml_last_error(h) : "no handle");
    exit(1);
}
#define MUST(call)                             \
    do {                                       \
        if ((call) != BDML_OK) stop(h, #call); \
    } while (0)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident(void)
{
    long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static uint64_t hash(uint64_t was, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < n; k++) was = (was ^ b[k]) * UINT64_C(1099511628211);
    return was;
}

static uint64_t learn(bdml_handle *h, const bdml_dataset *data, const char *method, uint64_t sum)
{
    bdml_model *model, *again;
    void *bytes;
    size_t size;
    int64_t n = bdml_dataset_points(data);
    int d = bdml_dataset_dimension(data);
    MUST(bdml_set(h, "method", method));
    MUST(bdml_train(h, data, NULL, &model));
    MUST(bdml_save_model_bytes(h, model, &bytes, &size));
    MUST(bdml_load_model_bytes(h, bytes, size, &again));
    bdml_free_bytes(bytes);
    int q = bdml_model_output_dimension(again);
    double *z = malloc((size_t)n * (size_t)q * sizeof *z);
    int32_t *label = malloc((size_t)n * sizeof *label);
    if (!z || !label) stop(NULL, "memory");
    MUST(bdml_transform(h, again, n, bdml_dataset_rows(data), d, z));
    MUST(bdml_predict(h, again, NULL, n, bdml_dataset_rows(data), d, label));
    sum = hash(sum, z, (size_t)n * (size_t)q * sizeof *z);
    sum = hash(sum, label, (size_t)n * sizeof *label);
    if (strcmp(method, "bdml") == 0) {
        int confirmed = 0;
        char *json;
        MUST(bdml_certify_model(h, again, data, &confirmed, &json));
        bdml_free_bytes(json);
        if (!confirmed) stop(h, "a model was not confirmed");
    }
    free(z);
    free(label);
    bdml_free_model(model);
    bdml_free_model(again);
    return sum;
}

static uint64_t round_of(const char *path)
{
    bdml_handle *h = NULL;
    bdml_dataset *data;
    char *json;
    int32_t *index;
    uint64_t sum = UINT64_C(14695981039346656037);
    if (bdml_create(&h) != BDML_OK) stop(NULL, "bdml_create");
    MUST(bdml_set(h, "distortion", "10"));
    MUST(bdml_set(h, "softness", "10"));
    MUST(bdml_set(h, "reference", "none"));
    MUST(bdml_set(h, "scale", "zscore"));
    MUST(bdml_set(h, "splits", "2"));
    MUST(bdml_read_dataset(h, path, &data));
    sum = learn(h, data, "bdml", sum);
    sum = learn(h, data, "lda", sum);
    int64_t n = bdml_dataset_points(data);
    int d = bdml_dataset_dimension(data);
    if (!(index = malloc((size_t)n * 3 * sizeof *index))) stop(NULL, "memory");
    MUST(bdml_find_neighbors(h, n, d, bdml_dataset_rows(data), d, NULL, n, NULL, d, NULL,
                             BDML_ANY_CLASS, 3, index, NULL));
    sum = hash(sum, index, (size_t)n * 3 * sizeof *index);
    free(index);
    MUST(bdml_set(h, "methods", "euclidean,lda"));
    MUST(bdml_evaluate(h, data, &json));
    bdml_free_bytes(json);
    bdml_free_dataset(data);
    /* What fails gives everything back too. */
    bdml_model *none;
    if (bdml_read_dataset(h, "/nowhere/at.all", &data) != BDML_ERR_IO)
        stop(h, "a file that is not there");
    if (bdml_load_model(h, path, &none) != BDML_ERR_FORMAT) stop(h, "data as a model");
    if (bdml_set(h, "distortion", "less") != BDML_ERR_ARGUMENT) stop(h, "a bad setting");
    bdml_free(h);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: soak SECONDS DATA.csv...\n");
        return 2;
    }
    double until = now() + atof(argv[1]), settled = 0.0,
           most = 0.0; /* NOLINT: typed by a script of ours */
    uint64_t first = 0;
    long rounds = 0;
    do {
        uint64_t sum = 0;
        for (int k = 2; k < argc; k++) sum = sum * 31 + round_of(argv[k]);
        if (rounds == 0) first = sum;
        if (sum != first) stop(NULL, "a round differs from the first");
        rounds++;
        double taken = resident();
        if (rounds == WARM) settled = taken;
        if (rounds > WARM && taken > most) most = taken;
    } while (now() < until || rounds < WARM + 2);
    fprintf(stderr, "%ld rounds, %.1f MiB after %d of them, %.1f MiB at most since\n", rounds,
            settled / 1048576.0, WARM, most / 1048576.0);
    if (most > settled + GROWTH && !SANITIZED) {
        fprintf(stderr, "soak: memory grows\n");
        return 1;
    }
    printf("%016llx\n", (unsigned long long)first);
    return 0;
}
