/* test_model.c - the metric: L, M and kappa; exporting; memory. */
#include "sample_model.h"

#include <matio.h>

#include "linalg/linalg.h"

/* ---- L, M, kappa ----------------------------------------------------------------------------------- */

/* M = [5 4; 4 5] has eigenvalues 9, 1 with vectors (1,1)/sqrt2, (1,-1)/sqrt2: L = [3 3; 1 -1]/sqrt2. */
static void metric_by_hand(void **state)
{
    bdml_handle *h = *state;
    static const double m[] = {5, 4, 4, 5};
    double l[4], back[4];
    bdml_model *model;
    check_ok(h, bdml_model_from_map(h, 2, 2, m, 1, &model));
    check_ok(h, bdml_model_get_map(h, model, l));
    check_close(l[0], 3 / sqrt(2), 1e-15);
    check_close(l[1], 3 / sqrt(2), 1e-15);
    check_close(fabs(l[2]), 1 / sqrt(2), 1e-15);
    check_close(l[2] + l[3], 0, 1e-15);
    check_close(bdml_model_kappa(model), 9, 1e-13);
    check_ok(h, bdml_model_get_metric(h, model, back));
    for (int k = 0; k < 4; k++) check_close(back[k], m[k], 1e-14);
    check_true(back[1] == back[2]);
    bdml_free_model(model);
}

/* Random M of rank 3 in 6 dimensions: L has 3 rows of falling length, largest entry positive. */
static void singular_metric_drops_rows(void **state)
{
    bdml_handle *h = *state;
    enum { d = 6, q = 3 };
    bdml_rng r = bdml_rng_make(1, 1);
    double a[q * d], m[d * d] = {0}, back[d * d], l[d * d], length = INFINITY;
    bdml_model *model;
    fill_normal(&r, q * d, a);
    for (int k = 0; k < q; k++)
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) m[i * d + j] += a[k * d + i] * a[k * d + j];
    check_ok(h, bdml_model_from_map(h, d, d, m, 1, &model));
    assert_int_equal(bdml_model_output_dimension(model), q);
    assert_int_equal(bdml_model_metric_dimension(model), d);
    check_true(isinf(bdml_model_kappa(model)));
    check_ok(h, bdml_model_get_metric(h, model, back));
    for (int k = 0; k < d * d; k++) check_close(back[k], m[k], 1e-13);
    check_ok(h, bdml_model_get_map(h, model, l));
    for (int k = 0; k < q; k++) {
        double norm = bdml_la_norm(d, l + k * d), largest = 0;
        check_true(norm <= length);
        length = norm;
        for (int j = 0; j < d; j++)
            if (fabs(l[k * d + j]) > fabs(largest)) largest = l[k * d + j];
        check_true(largest > 0);
    }
    bdml_free_model(model);
}

static void kappa_of_a_map(void **state)
{
    bdml_handle *h = *state;
    static const double wide[] = {1, 0, 0, 1e-6}, flat[] = {1, 2, 3}, tall[] = {3, 0, 0, 1, 4, 0};
    static const double dependent[] = {1, 2, 2, 4};
    bdml_model *m;
    check_ok(h, bdml_model_from_map(h, 2, 2, wide, 0, &m));
    check_close(bdml_model_kappa(m), 1e12, 1e3); /* eps sqrt(kappa) relative: not from L'L */
    bdml_free_model(m);
    check_ok(h, bdml_model_from_map(h, 1, 3, flat, 0, &m));
    check_true(isinf(bdml_model_kappa(m)));
    bdml_free_model(m);
    check_ok(h, bdml_model_from_map(h, 3, 2, tall, 0, &m)); /* L'L = diag(25, 1) */
    check_close(bdml_model_kappa(m), 25, 1e-13);
    bdml_free_model(m);
    check_ok(h, bdml_model_from_map(h, 2, 2, dependent, 0, &m));
    check_true(isinf(bdml_model_kappa(m)));
    bdml_free_model(m);
}

static void bad_maps_are_refused(void **state)
{
    bdml_handle *h = *state;
    static const double skew[] = {1, 2, 3, 1}, indefinite[] = {1, 2, 2, 1}, zero[4] = {0};
    static const double nan[] = {1, NAN, 0, 1}, negative[] = {-1, 0, 0, -1};
    static const double rounded[] = {1, 0.5, 0.5 + 1e-12, 1};
    bdml_model *m;
    check_fails(h, bdml_model_from_map(h, 2, 2, skew, 1, &m), BDML_ERR_DATA, "symmetric");
    assert_null(m);
    check_fails(h, bdml_model_from_map(h, 2, 2, indefinite, 1, &m), BDML_ERR_DATA, "semidefinite");
    check_fails(h, bdml_model_from_map(h, 2, 2, negative, 1, &m), BDML_ERR_DATA, "no positive");
    check_fails(h, bdml_model_from_map(h, 2, 2, zero, 1, &m), BDML_ERR_DATA, "no positive");
    check_fails(h, bdml_model_from_map(h, 2, 2, zero, 0, &m), BDML_ERR_DATA, "map is zero");
    check_fails(h, bdml_model_from_map(h, 2, 2, nan, 1, &m), BDML_ERR_DATA, "row 0, column 1");
    check_fails(h, bdml_model_from_map(h, 2, 2, nan, 0, &m), BDML_ERR_DATA, "row 0, column 1");
    check_fails(h, bdml_model_from_map(h, 1, 2, skew, 1, &m), BDML_ERR_ARGUMENT, "square");
    check_fails(h, bdml_model_from_map(h, 0, 2, skew, 0, &m), BDML_ERR_ARGUMENT, "at least 1");
    check_fails(h, bdml_model_from_map(h, 2, 2, NULL, 0, &m), BDML_ERR_ARGUMENT, "NULL");
    assert_int_equal(bdml_model_from_map(NULL, 2, 2, zero, 0, &m), BDML_ERR_ARGUMENT);
    check_ok(h, bdml_model_from_map(h, 2, 2, rounded, 1, &m));
    bdml_free_model(m);
    bdml_free_model(NULL);
}

/* What a model takes can be loaded again: to the largest numbers whose squares are distances. */
static void large_maps_load_again(void **state)
{
    bdml_handle *h = *state;
    static const double sizes[] = {1e-300, 1e150, 9.9e299, 1.1e300, 1e302, 1e307};
    char dir[32], path[64];
    int taken = 0;
    temp_dir(dir);
    snprintf(path, sizeof path, "%s/m.bdml", dir);
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        bool metric = k % 2;
        double v = metric ? sizes[k / 2] : sqrt(sizes[k / 2]);
        const double m[] = {v, 0, 0, v / 2};
        bdml_model *model, *again;
        bdml_status status = bdml_model_from_map(h, 2, 2, m, metric, &model);
        if (sizes[k / 2] < 1e300) {
            taken++;
            check_ok(h, status);
            check_ok(h, bdml_save_model(h, model, path));
            check_ok(h, bdml_load_model(h, path, &again));
            bdml_free_model(again);
            bdml_free_model(model);
        } else {
            check_fails(h, status, BDML_ERR_DATA, "beyond 1e+150");
            assert_null(model);
        }
    }
    assert_int_equal(taken, 6);
    unlink(path);
    rmdir(dir);
}

/* ---- exporting ------------------------------------------------------------------------------------------ */

static void exports_read_back(void **state)
{
    bdml_handle *h = *state;
    static const double l[] = {0.1, -2, 1.0 / 3, 4, 5e-300, 6};
    double metric[9];
    char dir[32], path[64];
    bdml_model *m;
    size_t size;
    temp_dir(dir);
    check_ok(h, bdml_model_from_map(h, 2, 3, l, 0, &m));
    check_ok(h, bdml_model_get_metric(h, m, metric));

    snprintf(path, sizeof path, "%s/l.csv", dir);
    check_ok(h, bdml_export_model(h, m, "L", path));
    char *text = slurp(path, &size);
    assert_string_equal(text, "0.1,-2,0.3333333333333333\n4,5e-300,6\n");
    free(text);
    assert_int_equal(unlink(path), 0);

    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/x.mat", dir);
        check_ok(h, bdml_export_model(h, m, k ? "M" : "L", path));
        mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
        assert_non_null(mat);
        matvar_t *var = Mat_VarRead(mat, k ? "M" : "L");
        assert_non_null(var);
        size_t rows = k ? 3 : 2;
        assert_int_equal(var->dims[0], rows);
        assert_int_equal(var->dims[1], 3);
        const double *v = var->data;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < 3; j++)
                check_true(v[j * rows + i] == (k ? metric : l)[i * 3 + j]);
        Mat_VarFree(var);
        Mat_Close(mat);
        assert_int_equal(unlink(path), 0);
    }

    snprintf(path, sizeof path, "%s/m.npy", dir);
    check_ok(h, bdml_export_model(h, m, "M", path));
    text = slurp(path, &size);
    check_true(memcmp(text, "\x93NUMPY", 6) == 0);
    assert_int_equal(size % 64, sizeof metric % 64); /* the header fills up to 64 */
    check_true(memcmp(text + size - sizeof metric, metric, sizeof metric) == 0);
    free(text);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    bdml_free_model(m);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static bdml_status everything(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    bdml_status status = BDML_OK;
    static const int64_t pairs[] = {0, 1, 2, 3};
    static const double metric[] = {2, 1, 1, 2};
    bdml_prepare p = {0};
    bdml_model *m = NULL, *back = NULL, *imported = NULL;
    bdml_voters *voters = NULL;
    void *bytes = NULL;
    size_t size;
    double x[N * D], z[N * D], distance[2], eye[D * D] = {0};
    int32_t label[N];

    for (int j = 0; j < D; j++) eye[j * D + j] = 1;
    BDML_GO(bdml_prepare_fit(h, &h->options, data, &p));
    BDML_GO(bdml_prepare_apply(h, &p, N, data->x, D, x));
    BDML_GO(bdml_model_new(h, data, &p, D, &m));
    BDML_GO(bdml_model_set_metric(h, m, eye));
    BDML_GO(bdml_model_set_map(h, m, 2, eye));
    const bdml_rows rows = {.n = N, .d = D, .ld = D, .x = x};
    BDML_GO(bdml_model_keep_points(h, BDML_AUTO_AUTO, m, NULL, N, &rows, data->y));
    BDML_GO(bdml_save_model_bytes(h, m, &bytes, &size));
    BDML_GO(bdml_load_model_bytes(h, bytes, size, &back));
    BDML_GO(bdml_transform(h, back, N, data->x, D, z));
    BDML_GO(bdml_distances(h, back, N, data->x, D, 2, pairs, distance));
    BDML_GO(bdml_predict(h, back, NULL, N, data->x, D, label));
    BDML_GO(bdml_predict(h, back, data, N, data->x, D, label));
    BDML_GO(bdml_model_neighbors(h, back, N, data->x, D, 1, label, NULL));
    BDML_GO(bdml_make_voters(h, back, data, &voters));
    BDML_GO(bdml_vote(h, voters, N, data->x, D, label, NULL));
    BDML_GO(bdml_model_from_map(h, 2, 2, metric, 1, &imported));
    BDML_GO(bdml_save_model(h, m, path));
    bdml_free_model(imported);
    BDML_GO(bdml_load_model(h, path, &imported));
    BDML_GO(bdml_export_model(h, m, "M", "/dev/null")); /* refused by its name */
done:
    bdml_prepare_free(&p);
    bdml_free_model(m);
    bdml_free_voters(voters);
    bdml_free_model(back);
    bdml_free_model(imported);
    bdml_free_bytes(bytes);
    return status;
}

static void allocation_failures_are_clean(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = sample(h, in_order);
    bdml_status status = BDML_ERR_MEMORY;
    char dir[32], path[64];
    int64_t k;
    temp_dir(dir);
    snprintf(path, sizeof path, "%s/m.bdml", dir);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    for (k = 1; status == BDML_ERR_MEMORY; k++) {
        h->fail_alloc = k;
        status = everything(h, data, path);
    }
    check_true(k > 50);
    h->fail_alloc = 0;
    check_fails(h, status, BDML_ERR_ARGUMENT, ".npy, .csv or .mat"); /* /dev/null, the last step */
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* nothing half-written is left */
    bdml_free_dataset(data);
}

/* L^-1 L = I, and a map that loses dimensions has none. */
static void inverse_of_the_map(void **state)
{
    bdml_handle *h = *state;
    bdml_model *m;
    const double l[] = {2, 1, 0, 0, 1, 3, 1, 0, 1};
    double inverse[9], worst = 0.0;
    check_ok(h, bdml_model_from_map(h, 3, 3, l, 0, &m));
    check_ok(h, bdml_model_get_inverse(h, m, inverse));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) sum += inverse[3 * i + k] * l[3 * k + j];
            worst = fmax(worst, fabs(sum - (i == j)));
        }
    check_close(worst, 0.0, 1e-14); /* a few roundings at condition 4 */
    bdml_free_model(m);
    check_ok(h, bdml_model_from_map(h, 2, 3, l, 0, &m));
    check_fails(h, bdml_model_get_inverse(h, m, inverse), BDML_ERR_DATA, "L has no inverse");
    bdml_free_model(m);
}

/* docs/unseen.md: tan(t/2) changes by a factor of sqrt(K) at most, and by that factor about the extreme directions. */
static void angles_keep_to_the_cap(void **state)
{
    (void)state;
    bdml_rng r = bdml_rng_make(5, 7);
    double most = 0.0, least = INFINITY, root = sqrt(3.0); /* K = 3: s from 1 to sqrt(3) */
    for (int k = 0; k < 20000; k++) {
        double s[4] = {1.0, 1.0 + (root - 1.0) * bdml_rng_uniform(&r), root, 1.2}, x[4], y[4];
        double xx = 0, yy = 0, xy = 0, zz = 0, ww = 0, zw = 0;
        for (int j = 0; j < 4; j++) {
            x[j] = k % 2 && j % 2 ? 0.0 : bdml_rng_normal(&r);
            y[j] = k % 2 && j % 2 ? 0.0 : bdml_rng_normal(&r);
            xx += x[j] * x[j], yy += y[j] * y[j], xy += x[j] * y[j];
            zz += s[j] * s[j] * x[j] * x[j], ww += s[j] * s[j] * y[j] * y[j];
            zw += s[j] * s[j] * x[j] * y[j];
        }
        double before = tan(0.5 * acos(xy / sqrt(xx * yy)));
        double after = tan(0.5 * acos(zw / sqrt(zz * ww)));
        most = fmax(most, after / before);
        least = fmin(least, after / before);
    }
    check_true(most <= root * (1.0 + 1e-9) && least >= (1.0 - 1e-9) / root);
    check_true(most > 0.999 * root && least < 1.001 / root); /* the plane of both ends is met */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(inverse_of_the_map),
        cmocka_unit_test(angles_keep_to_the_cap),
        handle_test(metric_by_hand),
        handle_test(singular_metric_drops_rows),
        handle_test(kappa_of_a_map),
        handle_test(bad_maps_are_refused),
        handle_test(large_maps_load_again),
        handle_test(exports_read_back),
        handle_test(allocation_failures_are_clean),
    };
    return cmocka_run_group_tests(tests, enter_blas, leave_blas);
}
