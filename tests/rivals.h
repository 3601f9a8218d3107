/* rivals.h - what the tests of the methods in src/baselines share: data, settings, plain distances. */
#ifndef BDML_TESTS_RIVALS_H
#define BDML_TESTS_RIVALS_H

#include "check.h"

#include "train/train.h"

/* "name value name value ..." */
static inline void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

/* Classes as Gaussian clouds around (apart * class, 0, ...), columns of different widths. */
static inline bdml_dataset *clouds(bdml_handle *h, int64_t n, int d, int classes, double apart)
{
    bdml_dataset *data = NULL;
    bdml_rng rng = bdml_rng_make(11, (uint64_t)n);
    double *x = calloc((size_t)(n * d), sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % classes;
        for (int j = 0; j < d; j++)
            x[i * d + j] =
                (bdml_rng_normal(&rng) + (j == 0 ? apart * (double)y[i] : 0.0)) * (1.0 + 0.5 * j);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

/* Every step-th row of a bundled file. */
static inline bdml_dataset *part_of(bdml_handle *h, const char *name, int64_t step)
{
    bdml_dataset *all = NULL, *part = NULL;
    check_ok(h, bdml_read_dataset(h, source_path(name), &all));
    int64_t count = (all->n + step - 1) / step, *row = calloc((size_t)count, sizeof *row);
    for (int64_t i = 0; i < count; i++) row[i] = i * step;
    check_ok(h, bdml_dataset_subset(h, all, count, row, &part));
    bdml_free_dataset(all);
    free(row);
    return part;
}

static inline bdml_model *fit(bdml_handle *h, const bdml_dataset *data, const char *method)
{
    bdml_model *model = NULL;
    check_ok(h, bdml_set(h, "method", method));
    check_ok(h, bdml_train(h, data, NULL, &model));
    return model;
}

static inline double plain_squared(const bdml_dataset *data, const double *m, int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int a = 0; a < data->d; a++)
        for (int b = 0; b < data->d; b++)
            sum += m[a * data->d + b] * (data->x[i * data->d + a] - data->x[j * data->d + a]) *
                   (data->x[i * data->d + b] - data->x[j * data->d + b]);
    return sum;
}

/* "stopping" of the description. */
static inline double stopping(const bdml_model *model, const char *key)
{
    return json_number_value(json_object_get(json_object_get(model->info, "stopping"), key));
}

#endif
