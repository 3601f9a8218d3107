/* rivals_pairs.h - for the tests of methods on pairs: data, fits, and plain sums over pairs. */
#ifndef BDML_TESTS_RIVALS_PAIRS_H
#define BDML_TESTS_RIVALS_PAIRS_H

#include "check.h"

#include <jansson.h>

#include "baselines/pairs.h"
#include "train/train.h"

/* "name value name value ..." */
static inline void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

/* Classes as Gaussian clouds around (class, 0, ...) times `apart`, columns of different size. */
static inline bdml_dataset *clouds(bdml_handle *h, int64_t n, int d, int classes, double apart)
{
    bdml_dataset *data = NULL;
    bdml_rng rng = bdml_rng_make(3, (uint64_t)n);
    double *x = calloc((size_t)n * (size_t)d, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    for (int64_t i = 0; i < n; i++) {
        y[i] = i % classes;
        for (int j = 0; j < d; j++)
            x[i * d + j] =
                (1.0 + 0.5 * j) * bdml_rng_normal(&rng) + (j == 0 ? apart * (double)y[i] : 0);
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x);
    free(y);
    return data;
}

static inline bdml_model *fit(bdml_handle *h, const bdml_dataset *data, const char *settings)
{
    bdml_model *model = NULL;
    set_all(h, settings);
    check_ok(h, bdml_train(h, data, NULL, &model));
    return model;
}

static inline double told(const bdml_model *model, const char *key)
{
    const json_t *value = json_object_get(json_object_get(model->info, "solution"), key);
    if (!value) fail_msg("the description has no solution.%s", key);
    return json_number_value(value);
}

/* The differences that a training on `data` uses, a row of d each, similar ones first. */
typedef struct differences {
    int d;
    int64_t similar, all;
    double *z;
} differences;

static inline differences differences_of(bdml_handle *h, const bdml_dataset *data)
{
    bdml_training t = {data->n, data->d, data->x, data->y, data->classes, NULL, NULL, NULL, NULL};
    bdml_lists lists;
    check_ok(h, bdml_pairs_choose(h, &h->options, "test", &t, &lists));
    differences out = {.d = data->d, .similar = lists.target.count};
    out.all = lists.target.count + lists.impostor.count;
    out.z = calloc((size_t)out.all * (size_t)out.d, sizeof *out.z);
    for (int64_t k = 0; k < out.all; k++) {
        const int32_t *pair =
            k < out.similar ? lists.target.row + 2 * k : lists.impostor.row + 2 * (k - out.similar);
        for (int j = 0; j < out.d; j++)
            out.z[k * out.d + j] = data->x[pair[0] * out.d + j] - data->x[pair[1] * out.d + j];
    }
    bdml_lists_free(&lists);
    return out;
}

/* z' M z of pair k */
static inline double form(const differences *p, const double *m, int64_t k)
{
    double sum = 0;
    for (int a = 0; a < p->d; a++)
        for (int b = 0; b < p->d; b++)
            sum += m[a * p->d + b] * p->z[k * p->d + a] * p->z[k * p->d + b];
    return sum;
}

/* s += w z z' of pair k */
static inline void add_outer(const differences *p, int64_t k, double w, double *s)
{
    for (int a = 0; a < p->d; a++)
        for (int b = 0; b < p->d; b++)
            s[a * p->d + b] += w * p->z[k * p->d + a] * p->z[k * p->d + b];
}

/* Gauss-Jordan with pivots; a is destroyed. */
static inline void invert(int d, double *a, double *inverse)
{
    for (int i = 0; i < d * d; i++) inverse[i] = i % (d + 1) == 0;
    for (int k = 0; k < d; k++) {
        int pivot = k;
        for (int i = k; i < d; i++)
            if (fabs(a[i * d + k]) > fabs(a[pivot * d + k])) pivot = i;
        for (int j = 0; j < d; j++) {
            double t = a[k * d + j], u = inverse[k * d + j];
            a[k * d + j] = a[pivot * d + j];
            a[pivot * d + j] = t;
            inverse[k * d + j] = inverse[pivot * d + j];
            inverse[pivot * d + j] = u;
        }
        double top = a[k * d + k];
        check_true(top != 0.0);
        for (int j = 0; j < d; j++) {
            a[k * d + j] /= top;
            inverse[k * d + j] /= top;
        }
        for (int i = 0; i < d; i++) {
            double factor = a[i * d + k];
            for (int j = 0; j < d && i != k; j++) {
                a[i * d + j] -= factor * a[k * d + j];
                inverse[i * d + j] -= factor * inverse[k * d + j];
            }
        }
    }
}

static inline void eigen(bdml_handle *h, int d, double *a, double *lambda)
{
    bdml_eigh_ws ws;
    check_ok(h, bdml_eigh_ws_init(h, d, &ws));
    check_ok(h, bdml_la_eigh(h, d, a, lambda, true, &ws));
    bdml_eigh_ws_free(&ws);
}

#endif
