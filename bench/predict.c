/* predict.c - classes of points that come a few at a time: voters made ready once against once for each call.
 *
 *   bench_predict [N [D [ROUNDS]]]      default 20000 50 3
 *
 * One thread; seconds of the better round, and how many times as fast the voters that stay are. */
#include <stdlib.h>

#include "gaussian.h"

static void check(bdml_handle *h, bdml_status status)
{
    if (status == BDML_OK) return;
    fprintf(stderr, "bench_predict: %s\n", bdml_last_error(h));
    exit(1);
}

/* Seconds for the first `rows` of x, `block` at a time. */
static double predict(bdml_handle *h, const bdml_model *model, bool once, int64_t block,
                      int64_t rows, int d, const double *x, int32_t *label)
{
    bdml_voters *voters = NULL;
    double start = bdml_now();
    if (once) check(h, bdml_make_voters(h, model, NULL, &voters));
    for (int64_t i = 0; i < rows; i += block) {
        int64_t n = BDML_MIN(block, rows - i);
        check(h, once ? bdml_vote(h, voters, n, x + i * d, d, label, NULL)
                      : bdml_predict(h, model, NULL, n, x + i * d, d, label));
    }
    bdml_free_voters(voters);
    return bdml_now() - start;
}

int main(int argc, char **argv)
{
    static const int64_t blocks[] = {1, 16, 64, 1024};
    int64_t n = argc > 1 ? atol(argv[1]) : 20000;
    int d = argc > 2 ? atoi(argv[2]) : 50, rounds = argc > 3 ? atoi(argv[3]) : 3;
    bdml_handle *h;
    bdml_model *model;
    if (n < 4096 || d < 1 || bdml_create(&h) != BDML_OK) return 1;
    check(h, bdml_set(h, "threads", "1"));
    check(h, bdml_set(h, "method", "euclidean"));
    bdml_dataset *data = gaussian(h, n, d, 0.1);
    int32_t *label = malloc(sizeof *label * (size_t)n);
    if (!label) return 1;
    check(h, bdml_train(h, data, NULL, &model));
    printf("%lld points of %d dimensions vote\n", (long long)n, d);
    printf("%10s %10s %12s %12s %8s\n", "rows/call", "rows", "each call", "once", "ratio");
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        int64_t rows = BDML_MIN(100 * blocks[b], 4096);
        double each = INFINITY, once = INFINITY;
        for (int r = 0; r < rounds; r++) {
            const double *x = bdml_dataset_rows(data);
            each = BDML_MIN(each, predict(h, model, false, blocks[b], rows, d, x, label));
            once = BDML_MIN(once, predict(h, model, true, blocks[b], rows, d, x, label));
        }
        printf("%10lld %10lld %12.4f %12.4f %8.2f\n", (long long)blocks[b], (long long)rows, each,
               once, each / once);
    }
    free(label);
    bdml_free_model(model);
    bdml_free_dataset(data);
    bdml_free(h);
    return 0;
}
