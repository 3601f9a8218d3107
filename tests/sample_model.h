/* sample_model.h - a small data set, a model of it, and models compared */
#ifndef BDML_TESTS_SAMPLE_MODEL_H
#define BDML_TESTS_SAMPLE_MODEL_H

#include "check.h"

#include "linalg/linalg.h"
#include "model/model.h"

enum { N = 150, D = 4, CLASSES = 3 };

static inline void fill_normal(bdml_rng *r, size_t count, double *x)
{
    for (size_t k = 0; k < count; k++) x[k] = bdml_rng_normal(r);
}

/* Three classes around different points; `order` renames class c to names[order[c]]. */
static inline bdml_dataset *sample(bdml_handle *h, const int *order)
{
    static const char *const names[CLASSES] = {"setosa", "versicolor", "virginica"};
    bdml_rng r = bdml_rng_make(7, 7);
    bdml_dataset *data;
    check_ok(h, bdml_dataset_new(h, N, D, CLASSES, &data));
    fill_normal(&r, N * D, data->x);
    data->feature_name = bdml_calloc(h, D, sizeof(char *));
    for (int j = 0; j < D; j++) data->feature_name[j] = bdml_strdup(h, "a,b \"c\"");
    for (int c = 0; c < CLASSES; c++) data->class_name[order[c]] = bdml_strdup(h, names[c]);
    for (int i = 0; i < N; i++) {
        data->y[i] = order[i % CLASSES];
        for (int j = 0; j < D; j++) data->x[i * D + j] += 3.0 * (i % CLASSES == j) + 10.0 * j;
    }
    return data;
}
static const int in_order[CLASSES] = {0, 1, 2};

/* Fit the preparation of the settings, a random map of q rows, keep the points. */
static inline bdml_model *trained(bdml_handle *h, const bdml_dataset *data, int q)
{
    bdml_rng r = bdml_rng_make(8, 8);
    bdml_prepare p;
    bdml_model *m;
    double l[D * D], x[N * D];
    check_ok(h, bdml_prepare_fit(h, &h->options, data, &p));
    check_ok(h, bdml_prepare_apply(h, &p, data->n, data->x, data->d, x));
    check_ok(h, bdml_model_new(h, data, &p, p.d_out, &m));
    fill_normal(&r, (size_t)(q * m->d), l);
    check_ok(h, bdml_model_set_map(h, m, q, l));
    const bdml_rows rows = {.n = data->n, .d = m->d, .ld = m->d, .x = x};
    check_ok(h, bdml_model_keep_points(h, (bdml_yes_no_auto)h->options.train.keep_points.value, m,
                                       NULL, data->n, &rows, data->y));
    json_object_set_new(m->info, "method", json_string("random"));
    json_object_set_new(m->info, "certificate", json_pack("{s:f}", "gap", 0.1 + 0.2));
    return m;
}

static inline void check_same(const double *a, const double *b, size_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) check_true(memcmp(a, b, sizeof(double) * count) == 0);
}

static inline void check_equal_models(const bdml_model *a, const bdml_model *b)
{
    const bdml_prepare *p = &a->prepare, *o = &b->prepare;
    size_t d = (size_t)p->d_in;
    assert_int_equal(p->d_in, o->d_in);
    assert_int_equal(p->d_out, o->d_out);
    assert_int_equal(p->scale, o->scale);
    check_true(p->variance == o->variance);
    check_same(p->fill, o->fill, d);
    check_same(p->shift, o->shift, d);
    check_same(p->width, o->width, d);
    check_same(p->center, o->center, d);
    check_same(p->basis, o->basis, d * (size_t)p->d_out);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->q, b->q);
    check_same(a->l, b->l, (size_t)(a->q * a->d));
    check_true(a->kappa == b->kappa);
    assert_int_equal(a->points, b->points);
    check_same(a->z, b->z, (size_t)(a->points * a->q));
    assert_int_equal(a->y == NULL, b->y == NULL);
    if (a->y) check_true(memcmp(a->y, b->y, sizeof(int32_t) * (size_t)a->points) == 0);
    assert_int_equal(a->classes, b->classes);
    for (int c = 0; c < a->classes; c++) assert_string_equal(a->class_name[c], b->class_name[c]);
    assert_int_equal(a->feature_name == NULL, b->feature_name == NULL);
    for (int j = 0; a->feature_name && j < p->d_in; j++)
        assert_string_equal(a->feature_name[j], b->feature_name[j]);
    check_true(json_equal(a->info, b->info));
}

static inline void temp_dir(char *dir)
{
    strcpy(dir, "/tmp/bdml-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static inline char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

/* As every public call does: BLAS on one thread. */
static inline int enter_blas(void **state)
{
    bdml_handle *h = NULL;
    if (bdml_create(&h) != BDML_OK) return -1;
    check_ok(h, bdml_la_enter(h));
    *state = h;
    return 0;
}

static inline int leave_blas(void **state)
{
    bdml_la_leave(*state);
    bdml_free(*state);
    return 0;
}

#endif
