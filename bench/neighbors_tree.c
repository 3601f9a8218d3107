/* neighbors_tree.c - where the tree is faster than matrix products: the rule behind search = auto.
 *
 *   bench_neighbors_tree [N [K [D]]]      default 20000 10, a range of dimensions
 *
 * Processor time, best of three, one thread, all points as queries. `cube`: uniform, the tree's hard case; `low`:
 * points near a 3-dimensional plane, as data with dependent columns are. */
#include <stdlib.h>
#include <time.h>

#include "base/base.h"

static double find(bdml_handle *h, const char *search, const char *candidates, int64_t n, int d,
                   const double *x, const int32_t *label, bdml_restrict which, int k,
                   int32_t *index)
{
    double best = (double)INFINITY;
    bdml_set(h, "search", search);
    bdml_set(h, "candidates", candidates);
    for (int round = 0; round < 3; round++) {
        clock_t start = clock();
        if (bdml_find_neighbors(h, n, d, x, d, label, 0, NULL, 0, NULL, which, k, index, NULL) !=
            BDML_OK) {
            fprintf(stderr, "bench_neighbors_tree: %s\n", bdml_last_error(h));
            exit(1);
        }
        best = BDML_MIN(best, (double)(clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

static void fill(int64_t n, int d, bool low, double *x)
{
    bdml_rng r = bdml_rng_make(2, (uint64_t)d);
    for (int64_t i = 0; i < n; i++) {
        double u[3] = {bdml_rng_uniform(&r), bdml_rng_uniform(&r), bdml_rng_uniform(&r)};
        for (int j = 0; j < d; j++) {
            double v = bdml_rng_uniform(&r);
            x[i * d + j] = low ? u[j % 3] * (1.0 + 0.1 * j) + u[(j + 1) % 3] * 0.3 + 0.01 * v : v;
        }
    }
}

int main(int argc, char **argv)
{
    static const int dims[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30};
    static const char *const names[] = {"any", "same", "other"};
    int64_t n = argc > 1 ? atoll(argv[1]) : 20000;
    int k = argc > 2 ? atoi(argv[2]) : 10, only = argc > 3 ? atoi(argv[3]) : 0;
    bdml_handle *h;
    double *x = malloc(sizeof *x * (size_t)n * 30);
    int32_t *label = malloc(sizeof *label * (size_t)n);
    int32_t *index = malloc(sizeof *index * (size_t)n * (size_t)k);

    if (!x || !label || !index || bdml_create(&h) != BDML_OK) return 1;
    for (int64_t i = 0; i < n; i++) label[i] = (int32_t)(i % 5);
    bdml_set(h, "threads", "1");
    printf("n %lld, k %d, 5 classes, 1 thread; seconds\n", (long long)n, k);
    printf("%6s %4s %6s %10s %10s %10s\n", "data", "d", "class", "double", "float", "tree");
    for (int low = 0; low < 2; low++)
        for (size_t t = 0; t < sizeof dims / sizeof *dims; t++)
            for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++) {
                int d = dims[t];
                if (only && d != only) continue;
                fill(n, d, low, x);
                double a =
                    find(h, "brute", "double", n, d, x, label, (bdml_restrict)which, k, index);
                double b =
                    find(h, "brute", "float", n, d, x, label, (bdml_restrict)which, k, index);
                double c =
                    find(h, "tree", "double", n, d, x, label, (bdml_restrict)which, k, index);
                printf("%6s %4d %6s %10.4f %10.4f %10.4f%s\n", low ? "low" : "cube", d,
                       names[which], a, b, c, c < a ? "  tree" : "");
                fflush(stdout);
            }
    bdml_free(h);
    free(x), free(label), free(index);
    return 0;
}
