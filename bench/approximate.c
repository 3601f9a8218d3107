/* approximate.c - what an approximate search of neighbours finds, and what it costs.
 *
 *   bench_approximate [N [D [K [QUERIES]]]]      default 100000 50 3 10000
 *
 * Points of 5 overlapping Gaussian classes, one thread, processor seconds. All points look for their K nearest, of the same class and of
 * others, by search approximate; so do QUERIES of them by an exact search, which says how many of the true neighbours were
 * found, how much farther the last one found is, and what the exact search of all would cost: half as much as so many queries apart, as a
 * product then serves both its rows. */
#include <time.h>

#include "data/data.h"
#include "gaussian.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void need(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_approximate: %s\n", bdml_last_error(h));
    exit(1);
}

static double number(int argc, char **argv, int at, double otherwise)
{
    return argc > at ? strtod(argv[at], NULL) : otherwise;
}

int main(int argc, char **argv)
{
    int64_t n = (int64_t)number(argc, argv, 1, 100000),
            queries = (int64_t)number(argc, argv, 4, 10000);
    int d = (int)number(argc, argv, 2, 50), k = (int)number(argc, argv, 3, 3);
    static const char *const names[] = {"any", "same", "other"};
    bdml_handle *h;
    if (bdml_create(&h) != BDML_OK) return 1;
    bdml_dataset *data = gaussian(h, n, d, 0.5);
    const double *x = bdml_dataset_rows(data);
    const int32_t *y = bdml_dataset_labels(data);
    size_t all = (size_t)n * (size_t)k;
    int32_t *found = malloc(sizeof *found * all);
    double *far = malloc(sizeof *far * all);
    if (!found || !far) return 1;
    need(h, bdml_set(h, "threads", "1"));
    printf(
        "| %lld x %d, %d nearest | approximate, s | exact of %lld, s | exact of all, s | recall | "
        "farther |\n|---|---|---|---|---|---|\n",
        (long long)n, d, k, (long long)queries);
    for (int which = BDML_SAME_CLASS; which <= BDML_OTHER_CLASS; which++) {
        need(h, bdml_set(h, "search", "approximate"));
        double start = seconds();
        need(h, bdml_find_neighbors(h, n, d, x, d, y, n, NULL, d, NULL, (bdml_restrict)which, k,
                                    found, far));
        double approximate = seconds() - start;
        /* the first rows, which are of all classes; each is among its own nearest */
        need(h, bdml_set(h, "search", "brute"));
        int self = which == BDML_SAME_CLASS;
        int32_t *index = malloc(sizeof *index * (size_t)queries * (size_t)(k + self));
        double *distance = malloc(sizeof *distance * (size_t)queries * (size_t)(k + self));
        if (!index || !distance) return 1;
        start = seconds();
        need(h, bdml_find_neighbors(h, n, d, x, d, y, queries, x, d, y, (bdml_restrict)which,
                                    k + self, index, distance));
        double exact = seconds() - start, hits = 0.0, farther = 0.0;
        for (int64_t i = 0; i < queries; i++)
            for (int c = 0; c < k; c++) {
                int32_t j = index[i * (k + self) + c + self];
                for (int b = 0; b < k; b++) hits += found[i * k + b] == j;
                if (c == k - 1)
                    farther += sqrt(far[i * k + c] / distance[i * (k + self) + c + self]) - 1.0;
            }
        printf("| %s class | %.1f | %.1f | %.1f | %.3f | %.2f %% |\n", names[which], approximate,
               exact, exact * (double)n / (double)queries / 2.0, hits / (double)queries / (double)k,
               100.0 * farther / (double)queries);
        fflush(stdout);
        free(index);
        free(distance);
    }
    free(found), free(far);
    bdml_free_dataset(data);
    bdml_free(h);
    return 0;
}
