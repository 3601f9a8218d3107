/* learn.c - read a CSV file, learn a metric, use it: the whole library in fifty lines.
 *
 *     cc learn.c $(pkg-config --cflags --libs bdml) -o learn && ./learn wine.csv
 */
#include <bdml/bdml.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(bdml_handle *h)
{
    fprintf(stderr, "learn: %s\n", bdml_last_error(h));
    bdml_free(h);
    return 1;
}

int main(int argc, char **argv)
{
    bdml_handle *h;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;

    if (argc != 2) return fprintf(stderr, "usage: learn DATA.csv\n"), 2;
    if (bdml_create(&h) != BDML_OK) return fprintf(stderr, "learn: out of memory\n"), 1;
    if (bdml_set(h, "scale", "zscore") || bdml_read_dataset(h, argv[1], &data) ||
        bdml_train(h, data, NULL, &model)) {
        bdml_free_dataset(data);
        return fail(h);
    }

    int64_t n = bdml_dataset_points(data), wrong = 0;
    int d = bdml_dataset_dimension(data), q = bdml_model_output_dimension(model);
    double *z = malloc((size_t)n * (size_t)q * sizeof *z);
    int32_t *nearest = malloc((size_t)n * sizeof *nearest);
    const int32_t *y = bdml_dataset_labels(data);

    /* Map the points with L; after that any Euclidean neighbour search is the learned one. */
    bdml_status status = z && nearest ? BDML_OK : BDML_ERR_MEMORY;
    if (!status) status = bdml_transform(h, model, n, bdml_dataset_rows(data), d, z);
    if (!status)
        status = bdml_find_neighbors(h, n, q, z, q, NULL, n, NULL, 0, NULL, BDML_ANY_CLASS, 1,
                                     nearest, NULL);
    for (int64_t i = 0; !status && y && i < n; i++) wrong += y[i] != y[nearest[i]];
    if (!status)
        printf("%lld points in %d dimensions, %d classes: kappa(M) = %.1f, leave-one-out 1-NN "
               "error %.1f%%\n",
               (long long)n, d, bdml_dataset_classes(data), bdml_model_kappa(model),
               100.0 * (double)wrong / (double)n);

    free(z);
    free(nearest);
    bdml_free_model(model);
    bdml_free_dataset(data);
    if (status) return fail(h);
    bdml_free(h);
    return 0;
}
