/* test_serve.c - the whole model as an affine map, and the files for programs that serve vectors, read back byte by
 * byte. What their own readers make of them: test_serve_consumers.sh. */
#include "check.h"

#include "model/model.h"
#include "train/train.h"

enum { N = 60, D = 5, ROOM = 1 << 16 };

static bdml_dataset *clouds(bdml_handle *h)
{
    double x[N * D];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(8, 8);
    bdml_dataset *data;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2;
        for (int j = 0; j < D; j++)
            x[i * D + j] =
                10.0 * j + (j + 1) * (bdml_rng_normal(&r) + 2.0 * (double)y[i] * (j == 1));
        x[i * D + 3] = 7.0; /* constant: scaled away */
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

static bdml_model *learn(bdml_handle *h, const bdml_dataset *data, const char *scale,
                         const char *pca)
{
    bdml_model *model;
    check_ok(h, bdml_set(h, "method", "whiten"));
    check_ok(h, bdml_set(h, "scale", scale));
    check_ok(h, bdml_set(h, "pca", pca));
    check_ok(h, bdml_train(h, data, NULL, &model));
    return model;
}

static size_t slurp(const char *path, unsigned char *out)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(out, 1, ROOM, f);
    fclose(f);
    unlink(path);
    return size;
}

static double single(const unsigned char *at)
{
    uint32_t bits =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint64_t whole(const unsigned char *at, int size)
{
    uint64_t v = 0;
    for (int k = 0; k < size; k++) v |= (uint64_t)at[k] << (8 * k);
    return v;
}

/* ---- a x + b is what transform says ----------------------------------------------------------------------- */

static void affine_is_the_transform(void **state)
{
    static const char *const how[][2] = {{"none", "0"},
                                         {"zscore", "0"},
                                         {"minmax", "3"},
                                         {"none", "2"}};
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h);
    for (int k = 0; k < 4; k++) {
        double a[D * D], b[D], l[D * D], z[N * D];
        bdml_model *model = learn(h, data, how[k][0], how[k][1]);
        int q = bdml_model_output_dimension(model);
        check_ok(h, bdml_model_get_affine(h, model, a, b));
        check_ok(h, bdml_model_get_linear(h, model, l));
        assert_memory_equal(a, l, sizeof *a * (size_t)(q * D));
        check_ok(h, bdml_transform(h, model, N, data->x, D, z));
        for (int i = 0; i < N; i++)
            for (int r = 0; r < q; r++) {
                double sum = b[r];
                for (int j = 0; j < D; j++) sum += a[r * D + j] * data->x[i * D + j];
                check_close(sum, z[i * q + r], 1e-12 * (1.0 + fabs(b[r])));
            }
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static void check_floats(const unsigned char *at, size_t count, const double *v)
{
    for (size_t k = 0; k < count; k++) check_true(single(at + 4 * k) == (double)(float)v[k]);
}

static void faiss_file(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h);
    bdml_model *model = learn(h, data, "zscore", "0");
    int q = bdml_model_output_dimension(model);
    double a[D * D], b[D];
    unsigned char *f = calloc(1, ROOM);
    check_ok(h, bdml_model_get_affine(h, model, a, b));
    check_ok(h, bdml_export_affine(h, model, 0, "serve-test.faiss"));
    size_t size = slurp("serve-test.faiss", f), map = 4 * (size_t)q * D;
    assert_int_equal(size, 4 + 1 + 8 + map + 8 + 4 * (size_t)q + 4 + 4 + 1);
    assert_memory_equal(f, "LTra\1", 5);
    assert_int_equal(whole(f + 5, 8), q * D);
    check_floats(f + 13, (size_t)(q * D), a);
    assert_int_equal(whole(f + 13 + map, 8), q);
    check_floats(f + 21 + map, (size_t)q, b);
    assert_int_equal(whole(f + size - 9, 4), D);
    assert_int_equal(whole(f + size - 5, 4), q);
    free(f);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void safetensors_file(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h);
    bdml_model *model = learn(h, data, "minmax", "3");
    int q = bdml_model_output_dimension(model);
    double a[D * D], b[D];
    char shape[64];
    unsigned char *f = calloc(1, ROOM);
    check_ok(h, bdml_model_get_affine(h, model, a, b));
    check_ok(h, bdml_export_affine(h, model, 0, "serve-test.safetensors"));
    size_t size = slurp("serve-test.safetensors", f), head = (size_t)whole(f, 8);
    check_true(head % 8 == 0 && f[8] == '{');
    assert_int_equal(size, 8 + head + 4 * (size_t)(q * D + q));
    check_floats(f + 8 + head, (size_t)(q * D), a);
    check_floats(f + 8 + head + 4 * (size_t)(q * D), (size_t)q, b);
    f[8 + head] = '\0';
    snprintf(shape, sizeof shape, "\"shape\":[%d,%d],\"data_offsets\":[0,%d]", q, D, 4 * q * D);
    assert_non_null(strstr((char *)f + 8, shape));
    free(f);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void refusals(void **state)
{
    bdml_handle *h = *state;
    static const double huge[] = {1e100, 0, 0, 1}; /* fits a double, no float */
    bdml_dataset *data = clouds(h);
    bdml_model *model = learn(h, data, "unit", "0"), *large;
    check_fails(h, bdml_export_affine(h, model, 0, "serve-test.faiss"), BDML_ERR_ARGUMENT,
                "length 1 before it");
    check_fails(h, bdml_export_affine(h, model, 0, "serve-test.npy"), BDML_ERR_ARGUMENT, ".onnx");
    check_ok(h, bdml_export_affine(h, model, 1, "serve-test.onnx"));
    unlink("serve-test.onnx");
    bdml_free_model(model);
    model = learn(h, data, "zscore", "0");
    check_fails(h, bdml_export_affine(h, model, 1, "serve-test.safetensors"), BDML_ERR_ARGUMENT,
                "length 1 after it");
    check_ok(h, bdml_model_from_map(h, 2, 2, huge, 0, &large));
    check_fails(h, bdml_export_affine(h, large, 0, "serve-test.onnx"), BDML_ERR_DATA,
                "single precision");
    check_true(access("serve-test.onnx", F_OK) != 0);
    bdml_free_model(large);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void allocations_may_fail(void **state)
{
    static const char *const names[] = {"serve-test.faiss", "serve-test.onnx",
                                        "serve-test.safetensors"};
    bdml_handle *h = *state;
    bdml_dataset *data = clouds(h);
    bdml_model *model = learn(h, data, "zscore", "0");
    for (int k = 0; k < 3; k++) {
        int64_t n = 1;
        for (;; n++) {
            h->fail_alloc = n;
            bdml_status status = bdml_export_affine(h, model, 0, names[k]);
            h->fail_alloc = 0;
            if (status == BDML_OK) break;
            assert_int_equal(status, BDML_ERR_MEMORY);
            check_true(access(names[k], F_OK) != 0);
        }
        check_true(n > 3);
        unlink(names[k]);
    }
    bdml_free_model(model);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(affine_is_the_transform), handle_test(faiss_file),
        handle_test(safetensors_file),        handle_test(refusals),
        handle_test(allocations_may_fail),
    };
    return cmocka_run_group_tests_name("serve", tests, NULL, NULL);
}
