/* shared_library.c - the public interface as a program sees it: bdml.h and libbdml.so, nothing else. What other
 * languages need: arrays in and out, everything in memory, names and numbers that can be listed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bdml/bdml.h"

#define ok(h, call)                                                                  \
    do {                                                                             \
        bdml_status s_ = (call);                                                     \
        if (s_ != BDML_OK)                                                           \
            fail_msg("%s: %s: %s", #call, bdml_status_text(s_), bdml_last_error(h)); \
    } while (0)
#define fails(h, call, status, text)                                            \
    do {                                                                        \
        assert_int_equal((call), (status));                                     \
        if (!strstr(bdml_last_error(h), (text)))                                \
            fail_msg("%s: '%s' lacks '%s'", #call, bdml_last_error(h), (text)); \
    } while (0)

static int make_handle(void **state)
{
    return bdml_create((bdml_handle **)state) == BDML_OK ? 0 : -1;
}
static int drop_handle(void **state)
{
    bdml_free(*state);
    return 0;
}

/* ---- points: two classes, apart along the first of D features ---------------------------------------------- */

enum { N = 40, D = 3 };

static void fill(double *x, int64_t *y)
{
    uint64_t state = 1;
    for (int i = 0; i < N; i++) {
        y[i] = i % 2 ? 70 : 5;
        for (int j = 0; j < D; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            /* 20 bits, so that floats hold the same points */
            x[i * D + j] = (double)(state >> 44) * 0x1p-20 + (j == 0 && i % 2 ? 1.5 : 0.0);
        }
    }
}

static bdml_dataset *points(bdml_handle *h)
{
    double x[N * D];
    int64_t y[N];
    bdml_dataset *data;
    fill(x, y);
    ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

static bdml_model *hard_model(bdml_handle *h, const bdml_dataset *data)
{
    bdml_model *model;
    ok(h, bdml_set(h, "hard", "yes"));
    ok(h, bdml_set(h, "kind", "pair"));
    ok(h, bdml_set(h, "reference", "zscore"));
    ok(h, bdml_set(h, "distortion", "50"));
    ok(h, bdml_train(h, data, NULL, &model));
    return model;
}

/* ---- the library itself -------------------------------------------------------------------------------------- */

static void version_is_one(void **state)
{
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", BDML_VERSION_MAJOR, BDML_VERSION_MINOR,
             BDML_VERSION_PATCH);
    assert_string_equal(text, bdml_version());
}

static void count_line(void *user, bdml_log_level level, const char *line)
{
    (void)level;
    *(int *)user += strcmp(line, "mind the step") == 0;
}

static void own_errors_and_lines(void **state)
{
    bdml_handle *h = *state;
    int heard = 0;
    assert_int_equal(bdml_set_error(h, BDML_ERR_DATA, "not 100 %s"), BDML_ERR_DATA);
    assert_string_equal(bdml_last_error(h), "not 100 %s");
    bdml_set_log(h, count_line, &heard);
    bdml_log_line(h, BDML_LOG_WARNING, "mind the step");
    bdml_log_line(h, BDML_LOG_WARNING, "mind the step");
    assert_int_equal(heard, 1);
    bdml_log_line(h, BDML_LOG_INFO, "mind the step");
    assert_int_equal(heard, 2);
}

static void methods_and_references_are_listed(void **state)
{
    bdml_handle *h = *state;
    int bdml = bdml_find_method(h, "bdml"), gfk = bdml_find_method(h, "gfk");
    assert_string_equal(bdml_method_name(bdml), "bdml");
    assert_int_equal(bdml_method_uses(bdml),
                     BDML_USES_LABELS | BDML_USES_PAIRS | BDML_USES_TRIPLETS);
    assert_true(bdml_method_uses(gfk) & BDML_USES_DOMAINS);
    assert_int_equal(bdml_method_uses(-1), 0);
    assert_int_equal(bdml_method_uses(bdml_method_count()), 0);
    assert_int_equal(bdml_find_method(h, "magic"), -1);
    assert_non_null(strstr(bdml_last_error(h), "lmnn"));
    assert_true(bdml_reference_count() > 4);
    for (int i = 0; i < bdml_reference_count(); i++) assert_non_null(bdml_reference_name(i));
    assert_null(bdml_reference_name(bdml_reference_count()));
    assert_string_equal(bdml_reference_name(0), "none");
}

/* A reference that the list names can be trained with. */
static void references_are_taken(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    ok(h, bdml_set(h, "distortion", "10"));
    ok(h, bdml_set(h, "softness", "5"));
    for (int i = 0; i < bdml_reference_count(); i++) {
        bdml_model *model;
        ok(h, bdml_set(h, "reference", bdml_reference_name(i)));
        ok(h, bdml_train(h, data, NULL, &model));
        bdml_free_model(model);
    }
    bdml_free_dataset(data);
}

/* A map from memory is what the model then has as its reference, and what its distortion is relative to. */
static void reference_from_memory(void **state)
{
    static const double map[2 * D] = {2, 0, 0, 0, 0.5, 0.25};
    static const double bad[D] = {1, NAN, 0};
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    bdml_model *model;
    double kept[2 * D], lambda[2];

    ok(h, bdml_set(h, "distortion", "10"));
    ok(h, bdml_set(h, "softness", "5"));
    ok(h, bdml_set(h, "reference", "given"));
    assert_int_equal(bdml_train(h, data, NULL, &model), BDML_ERR_ARGUMENT);
    assert_non_null(strstr(bdml_last_error(h), "bdml_set_reference"));

    assert_int_equal(bdml_set_reference(h, 1, D, bad), BDML_ERR_ARGUMENT);
    assert_non_null(strstr(bdml_last_error(h), "column 2"));
    assert_int_equal(bdml_set_reference(h, D, 2, map), BDML_ERR_ARGUMENT);
    assert_int_equal(bdml_set_reference(h, 0, D, map), BDML_ERR_ARGUMENT);

    ok(h, bdml_set_reference(h, 2, D, map));
    assert_string_equal(bdml_get(h, "reference"), "given");
    ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(bdml_model_reference_rows(model), 2);
    ok(h, bdml_model_get_reference(h, model, kept));
    assert_memory_equal(kept, map, sizeof map);
    ok(h, bdml_model_relative_eigenvalues(h, model, lambda));
    assert_true(lambda[0] > 0 && lambda[1] <= 10 * (1 + 1e-9) * lambda[0]);
    bdml_free_model(model);

    ok(h, bdml_set_reference(h, 1, 2, map)); /* for points of 2 dimensions */
    assert_int_equal(bdml_train(h, data, NULL, &model), BDML_ERR_DATA);
    ok(h, bdml_set_reference(h, 0, 0, NULL));
    assert_string_equal(bdml_get(h, "reference"), "auto");
    bdml_free_dataset(data);
}

/* ---- data ------------------------------------------------------------------------------------------------------ */

static void names(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    const char *classes[] = {"cat", "dog"}, *same[] = {"cat", "cat"}, *none[] = {"cat", NULL};
    const char *features[D] = {"a", "b", "a"};
    assert_string_equal(bdml_dataset_class_name(data, 0), "5"); /* labels, ascending */
    assert_null(bdml_dataset_feature_name(data, 0));
    ok(h, bdml_dataset_set_names(h, data, classes, features));
    assert_string_equal(bdml_dataset_class_name(data, 1), "dog");
    assert_string_equal(bdml_dataset_feature_name(data, 2), "a");
    fails(h, bdml_dataset_set_names(h, data, same, NULL), BDML_ERR_ARGUMENT, "both called 'cat'");
    fails(h, bdml_dataset_set_names(h, data, none, NULL), BDML_ERR_ARGUMENT, "NULL");
    assert_string_equal(bdml_dataset_class_name(data, 1), "dog");

    bdml_model *model; /* names go with the model */
    ok(h, bdml_set(h, "method", "euclidean"));
    ok(h, bdml_train(h, data, NULL, &model));
    assert_string_equal(bdml_model_class_name(model, 0), "cat");
    assert_string_equal(bdml_model_feature_name(model, 1), "b");
    assert_null(bdml_model_feature_name(model, D));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void missing_values(void **state)
{
    bdml_handle *h = *state;
    double x[N * D];
    int64_t y[N];
    bdml_dataset *data;
    fill(x, y);
    x[4 * D + 1] = NAN;
    fails(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data), BDML_ERR_DATA, "row 4, column 1");
    assert_null(data);
    ok(h, bdml_set(h, "missing", "drop"));
    ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    assert_int_equal(bdml_dataset_points(data), N - 1);
    assert_true(bdml_dataset_rows(data)[4 * D] == x[5 * D]);
    assert_int_equal(bdml_dataset_labels(data)[4], 1);
    bdml_free_dataset(data);
    ok(h, bdml_set(h, "missing", "mean"));
    ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    assert_int_equal(bdml_dataset_points(data), N);
    assert_true(isnan(bdml_dataset_rows(data)[4 * D + 1]));

    bdml_prepare *p; /* training puts the mean there */
    double z[N * D], mean = 0.0;
    for (int i = 0; i < N; i++) mean += i == 4 ? 0.0 : x[i * D + 1] / (N - 1);
    ok(h, bdml_fit_preparation(h, data, &p));
    assert_true(bdml_preparation_fills(p));
    ok(h, bdml_prepare_rows(h, p, N, bdml_dataset_rows(data), D, z));
    assert_true(fabs(z[4 * D + 1] - mean) < 1e-14);
    bdml_free_preparation(p);
    ok(h, bdml_dataset_fill(h, data)); /* and so does filling in */
    assert_true(fabs(bdml_dataset_rows(data)[4 * D + 1] - mean) < 1e-14);
    bdml_free_dataset(data);

    x[0] = INFINITY;
    fails(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data), BDML_ERR_DATA, "infinite");
    for (int i = 0; i < N * D; i++) x[i] = NAN;
    ok(h, bdml_set(h, "missing", "drop"));
    fails(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data), BDML_ERR_DATA, "none is left");
}

static void floats(void **state)
{
    bdml_handle *h = *state;
    double x[N * D], z[N * D];
    float single[N * (D + 1)], out[N * D];
    int64_t y[N];
    bdml_dataset *a = points(h), *b;
    bdml_model *model;
    fill(x, y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) single[i * (D + 1) + j] = (float)x[i * D + j];
    ok(h, bdml_dataset_from_floats(h, N, D, single, D + 1, y, &b));
    assert_memory_equal(bdml_dataset_rows(a), bdml_dataset_rows(b), sizeof x);
    ok(h, bdml_set(h, "method", "whiten"));
    ok(h, bdml_train(h, b, NULL, &model));
    ok(h, bdml_transform(h, model, N, x, D, z));
    ok(h, bdml_transform_floats(h, model, N, single, D + 1, out));
    for (int i = 0; i < N * D; i++) assert_true(out[i] == (float)z[i]);
    fails(h, bdml_transform_floats(h, model, N, single, D - 1, out), BDML_ERR_ARGUMENT, "apart");
    bdml_free_model(model);
    bdml_free_dataset(a);
    bdml_free_dataset(b);
}

/* A file row by row is the file read at once, but for the order of the classes. */
static void rows_of_a_file(void **state)
{
    bdml_handle *h = *state;
    const char *path = BDML_TEST_SOURCE_DIR "/data/wine.csv";
    bdml_dataset *data;
    bdml_source *source;
    double x[7 * 13];
    int32_t label[7], order[3];
    int64_t line[7], n, seen = 0;
    ok(h, bdml_read_dataset(h, path, &data));
    ok(h, bdml_open_source(h, path, 0, &source));
    assert_int_equal(bdml_source_dimension(source), 13);
    assert_true(bdml_source_labelled(source));
    for (;;) {
        ok(h, bdml_read_rows(h, source, 7, x, label, line, &n));
        if (n == 0) break;
        assert_memory_equal(x, bdml_dataset_rows(data) + seen * 13, (size_t)n * 13 * sizeof *x);
        for (int64_t i = 0; i < n; i++)
            assert_string_equal(bdml_source_class_name(source, label[i]),
                                bdml_dataset_class_name(data, bdml_dataset_labels(data)[seen + i]));
        seen += n;
    }
    assert_int_equal(seen, bdml_dataset_points(data));
    assert_int_equal(bdml_source_classes(source), 3);
    ok(h, bdml_source_order_classes(h, source, order));
    for (int c = 0; c < 3; c++)
        assert_string_equal(bdml_source_class_name(source, order[c]),
                            bdml_dataset_class_name(data, c));
    for (int j = 0; j < 13; j++) {
        const char *a = bdml_source_feature_name(source, j),
                   *b = bdml_dataset_feature_name(data, j);
        assert_true(!a == !b && (!a || strcmp(a, b) == 0));
    }
    bdml_close_source(source);
    fails(h, bdml_open_source(h, "nowhere.csv", 0, &source), BDML_ERR_IO, "nowhere");
    assert_null(source);
    bdml_free_dataset(data);
}

static int set_within(void *user, const char *phase, int64_t done, int64_t total)
{
    bdml_handle *h = user;
    (void)phase, (void)done, (void)total;
    fails(h, bdml_set(h, "method", "lda"), BDML_ERR_ARGUMENT, "cannot be set by a callback");
    return 0;
}

static void log_within(void *user, bdml_log_level level, const char *line)
{
    (void)level, (void)line;
    set_within(user, "", 0, 0);
}

/* A call goes by the settings that it has read, and so do the texts that it borrows. */
static void callbacks_leave_settings(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    bdml_model *model;
    ok(h, bdml_generate(h, "waveform", 100, &data));
    ok(h, bdml_set(h, "method", "kissme"));
    bdml_set_progress(h, set_within, h);
    bdml_set_log(h, log_within, h);
    ok(h, bdml_train(h, data, NULL, &model));
    assert_non_null(strstr(bdml_model_describe(model), "\"kissme\""));
    bdml_set_progress(h, NULL, NULL);
    bdml_set_log(h, NULL, NULL);
    ok(h, bdml_set(h, "method", "lda"));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void npy_needs_its_arguments(void **state)
{
    bdml_handle *h = *state;
    const double x[] = {1.0, 2.0};
    bdml_npy *f;
    ok(h, bdml_npy_create(h, "shared-library.npy", 1, 2, 0, &f));
    fails(h, bdml_npy_write(h, f, -1, x), BDML_ERR_ARGUMENT, "fewer than 0");
    fails(h, bdml_npy_write(h, f, 1, NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    fails(h, bdml_npy_write(h, NULL, 1, x), BDML_ERR_ARGUMENT, "must not be NULL");
    fails(h, bdml_npy_commit(h, NULL, NULL, 0, NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    assert_int_equal(bdml_npy_write(NULL, f, 1, x), BDML_ERR_ARGUMENT);
    bdml_npy_discard(f);
}

static void files_are_whole(void **state)
{
    bdml_handle *h = *state;
    const char *path = "shared-library.txt";
    bdml_file *f;
    char text[8] = "";
    ok(h, bdml_file_create(h, path, &f));
    ok(h, bdml_file_write(h, f, "half", 4));
    fails(h, bdml_file_write(h, f, NULL, 4), BDML_ERR_ARGUMENT, "must not be NULL");
    fails(h, bdml_file_write(h, NULL, "half", 4), BDML_ERR_ARGUMENT, "must not be NULL");
    fails(h, bdml_file_commit(h, NULL), BDML_ERR_ARGUMENT, "must not be NULL");
    assert_int_equal(bdml_file_write(NULL, f, "half", 4), BDML_ERR_ARGUMENT);
    bdml_file_discard(f);
    assert_true(access(path, F_OK) != 0);
    ok(h, bdml_file_create(h, path, &f));
    ok(h, bdml_file_write(h, f, "whole", 5));
    assert_true(access(path, F_OK) != 0);
    ok(h, bdml_file_commit(h, f));
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fread(text, 1, sizeof text, in), 5);
    fclose(in);
    assert_string_equal(text, "whole");
    remove(path);
}

/* ---- splits ---------------------------------------------------------------------------------------------------- */

static void splits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h), *part;
    int64_t a[N], b[N], train, other;
    ok(h, bdml_set(h, "test-fraction", "0.25"));
    ok(h, bdml_set(h, "stratify", "yes"));
    ok(h, bdml_split(h, data, 0, a, &train));
    assert_int_equal(train, 30);
    int seen[N] = {0}, of_first = 0;
    for (int i = 0; i < N; i++) {
        seen[a[i]]++;
        of_first += i < train && bdml_dataset_labels(data)[a[i]] == 0;
        if (i > 0 && i != train) assert_true(a[i] > a[i - 1]);
    }
    for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    assert_int_equal(of_first, 15);
    ok(h, bdml_split(h, data, 0, b, &other));
    assert_memory_equal(a, b, sizeof a);
    ok(h, bdml_split(h, data, 1, b, &other));
    assert_memory_not_equal(a, b, sizeof a);
    fails(h, bdml_split(h, data, -1, b, &other), BDML_ERR_ARGUMENT, "negative");

    ok(h, bdml_dataset_subset(h, data, N - train, a + train, &part));
    assert_int_equal(bdml_dataset_points(part), 10);
    assert_true(bdml_dataset_rows(part)[0] == bdml_dataset_rows(data)[a[train] * D]);
    bdml_free_dataset(part);

    int32_t fold[N];
    int count[5] = {0};
    ok(h, bdml_deal_folds(h, data, 5, fold));
    for (int i = 0; i < N; i++) count[fold[i]]++;
    for (int f = 0; f < 5; f++) assert_int_equal(count[f], 8);
    fails(h, bdml_deal_folds(h, data, 1, fold), BDML_ERR_ARGUMENT, "from 2 to");
    bdml_free_dataset(data);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

enum { PAIRS = 2 * (N - 2) };

static void fill_pairs(int32_t *rows, int32_t *same, int32_t *fold)
{
    for (int k = 0; k < PAIRS; k++) {
        rows[2 * k] = k / 2;
        rows[2 * k + 1] = k / 2 + 2 - k % 2; /* two apart: the same class */
        same[k] = 1 - k % 2;
        fold[k] = k < PAIRS / 2 ? 12 : 7;
    }
}

/* "fit_seconds": and what stands there, out. */
static void drop_times(char *json)
{
    for (char *p = json; (p = strstr(p, "\"fit_seconds\":"));) {
        const char *rest = p + strcspn(p, ",\n");
        memmove(p, rest, strlen(rest) + 1);
    }
}

/* Verification of arrays is that of the file with the same lines, but for the file's name. */
static void verification_from_arrays(void **state)
{
    bdml_handle *h = *state;
    int32_t rows[2 * PAIRS], same[PAIRS], fold[PAIRS];
    bdml_dataset *data = points(h);
    bdml_labelled_pairs *pairs, *read;
    char *from_arrays, *from_file;
    const char *path = "shared-library-pairs.csv";
    fill_pairs(rows, same, fold);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int k = 0; k < PAIRS; k++)
        fprintf(f, "%d,%d,%d,%d\n", fold[k], rows[2 * k], rows[2 * k + 1], same[k]);
    fclose(f);
    ok(h, bdml_pairs_from_arrays(h, N, PAIRS, rows, same, fold, &pairs));
    ok(h, bdml_read_pairs(h, path, N, 1, &read));
    assert_int_equal(bdml_pairs_count(pairs), PAIRS);
    assert_int_equal(bdml_pairs_count(read), PAIRS);
    assert_memory_equal(bdml_pairs_rows(pairs), bdml_pairs_rows(read), sizeof rows);
    assert_memory_equal(bdml_pairs_same(pairs), bdml_pairs_same(read), sizeof same);
    assert_memory_equal(bdml_pairs_folds(pairs), bdml_pairs_folds(read), sizeof fold);
    assert_int_equal(bdml_pairs_folds(pairs)[0], 1); /* 7 comes before 12 */

    ok(h, bdml_set(h, "methods", "euclidean,whiten"));
    ok(h, bdml_verify_pairs(h, data, pairs, &from_arrays));
    ok(h, bdml_set(h, "pairs-file", path));
    ok(h, bdml_verify(h, data, &from_file));
    drop_times(from_arrays);
    drop_times(from_file);
    assert_string_equal(strstr(from_arrays, "\"pairs\":"), strstr(from_file, "\"pairs\":"));
    bdml_free_bytes(from_arrays);
    bdml_free_bytes(from_file);
    fails(h, bdml_verify_pairs(h, data, pairs, &from_arrays), BDML_ERR_ARGUMENT, "leave them out");
    ok(h, bdml_set(h, "pairs-file", NULL));

    bdml_constraints *c; /* and they can be trained on */
    bdml_model *model;
    fails(h, bdml_constraints_from_pairs(h, 1, pairs, &c), BDML_ERR_ARGUMENT,
          "which is not among the 1 rows of the data");
    assert_null(c);
    ok(h, bdml_constraints_from_pairs(h, N, pairs, &c));
    assert_int_equal(bdml_constraints_count(c), PAIRS / 2);
    assert_int_equal(bdml_constraints_targets(c), PAIRS / 2);
    assert_int_equal(bdml_constraints_points(c), N);
    ok(h, bdml_set(h, "method", "kissme"));
    ok(h, bdml_train(h, data, c, &model));
    assert_true(!isnan(bdml_model_threshold(model)));
    bdml_free_model(model);
    bdml_free_constraints(c);
    bdml_free_pairs(read);
    bdml_free_pairs(pairs);
    remove(path);

    rows[5] = N;
    fails(h, bdml_pairs_from_arrays(h, N, PAIRS, rows, same, fold, &pairs), BDML_ERR_ARGUMENT,
          "pair 2 names row 40");
    rows[5] = rows[4];
    fails(h, bdml_pairs_from_arrays(h, N, PAIRS, rows, same, fold, &pairs), BDML_ERR_ARGUMENT,
          "with itself");
    fill_pairs(rows, same, fold);
    same[1] = 2;
    fails(h, bdml_pairs_from_arrays(h, N, PAIRS, rows, same, fold, &pairs), BDML_ERR_ARGUMENT,
          "1 or 0");
    assert_null(pairs);
    ok(h, bdml_pairs_from_arrays(h, N, PAIRS, rows, NULL, NULL, &pairs));
    assert_null(bdml_pairs_same(pairs));
    fails(h, bdml_verify_pairs(h, data, pairs, &from_arrays), BDML_ERR_ARGUMENT, "answers");
    bdml_free_pairs(pairs);
    bdml_free_dataset(data);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Model and proof, each kept in memory, loaded and checked there. */
static void certificates_from_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h), *other;
    bdml_model *model = hard_model(h, data), *proof = NULL, *back;
    void *bytes;
    char *json;
    size_t size;
    int confirmed;

    ok(h, bdml_certify_model(h, model, data, &confirmed, &json));
    assert_int_equal(confirmed, 1);
    assert_non_null(strstr(json, "\"claim\": \"optimal\""));
    bdml_free_bytes(json);
    ok(h, bdml_save_model_bytes(h, model, &bytes, &size));
    ok(h, bdml_load_model_bytes(h, bytes, size, &back));
    assert_false(bdml_model_is_proof(back));
    ok(h, bdml_certify_model(h, back, data, &confirmed, &json));
    assert_int_equal(confirmed, 1);
    bdml_free_bytes(json);
    bdml_free_bytes(bytes);
    bdml_free_model(back);
    /* of other data the claim is not true */
    int64_t backwards[N];
    for (int i = 0; i < N; i++) backwards[i] = N - 1 - i;
    ok(h, bdml_dataset_subset(h, data, N, backwards, &other));
    ok(h, bdml_certify_model(h, model, other, &confirmed, &json));
    assert_int_equal(confirmed, 0);
    bdml_free_bytes(json);
    bdml_free_dataset(other);
    bdml_free_model(model);

    ok(h, bdml_set(h, "distortion", "1")); /* the plain distance, and no margins of this size */
    ok(h, bdml_set(h, "kind", "triplet"));
    assert_int_equal(bdml_train(h, data, NULL, &proof), BDML_ERR_INFEASIBLE);
    assert_true(bdml_model_is_proof(proof));
    ok(h, bdml_save_model_bytes(h, proof, &bytes, &size));
    ok(h, bdml_load_model_bytes(h, bytes, size, &back));
    assert_true(bdml_model_is_proof(back));
    ok(h, bdml_certify_model(h, back, data, &confirmed, &json));
    assert_int_equal(confirmed, 1);
    assert_non_null(strstr(json, "\"claim\": \"infeasible\""));
    double l[D * D];
    fails(h, bdml_model_get_map(h, back, l), BDML_ERR_ARGUMENT, "proof");
    fails(h, bdml_model_eigenvalues(h, back, l), BDML_ERR_ARGUMENT, "proof");
    fails(h, bdml_transform(h, back, N, bdml_dataset_rows(data), D, l), BDML_ERR_ARGUMENT, "proof");
    bdml_free_bytes(json);
    bdml_free_bytes(bytes);
    bdml_free_model(back);
    bdml_free_model(proof);

    ok(h, bdml_set(h, "method", "whiten"));
    ok(h, bdml_train(h, data, NULL, &model));
    fails(h, bdml_certify_model(h, model, data, &confirmed, &json), BDML_ERR_DATA, "whiten");
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* trace M = sum of eigenvalues, kappa their ratio; M = R'NR, and N keeps the cap. */
static void inside_a_model(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    bdml_model *model = hard_model(h, data);
    double m[D * D], lambda[D], relative[D], r[D * D], l[D * D], trace = 0.0, sum = 0.0;
    ok(h, bdml_model_get_metric(h, model, m));
    ok(h, bdml_model_eigenvalues(h, model, lambda));
    for (int j = 0; j < D; j++) {
        trace += m[j * D + j];
        sum += lambda[j];
    }
    assert_true(fabs(trace - sum) <= 1e-12 * trace);
    assert_true(fabs(lambda[D - 1] / lambda[0] / bdml_model_kappa(model) - 1.0) < 1e-9);

    assert_int_equal(bdml_model_reference_rows(model), D);
    ok(h, bdml_model_get_reference(h, model, r));
    ok(h, bdml_model_relative_eigenvalues(h, model, relative));
    assert_true(relative[D - 1] / relative[0] <= 50.0 * (1.0 + 1e-9));
    /* z-scores: R is diagonal, so that trace N = sum_j M_jj / R_jj^2 */
    double direct = 0.0;
    for (int j = 0; j < D; j++) direct += m[j * D + j] / (r[j * D + j] * r[j * D + j]);
    sum = 0.0;
    for (int j = 0; j < D; j++) sum += relative[j];
    assert_true(fabs(direct - sum) <= 1e-9 * sum);

    const bdml_constraints *c = bdml_model_constraints(model);
    int32_t rows[2];
    assert_non_null(c);
    assert_int_equal(bdml_constraints_points(c), N);
    assert_true(bdml_constraints_margin(c, 0) == 1.0);
    ok(h, bdml_constraints_target_at(c, 0, rows));
    assert_true(bdml_dataset_labels(data)[rows[0]] == bdml_dataset_labels(data)[rows[1]]);
    assert_int_equal(bdml_constraints_target_at(c, -1, rows), BDML_ERR_ARGUMENT);

    /* L after the preparation is the model */
    double p[N * D], z[N * D], direct_z = 0.0;
    int q = bdml_model_output_dimension(model);
    ok(h, bdml_prepare_rows(h, bdml_model_preparation(model), N, bdml_dataset_rows(data), D, p));
    ok(h, bdml_transform(h, model, N, bdml_dataset_rows(data), D, z));
    ok(h, bdml_model_get_map(h, model, l));
    for (int j = 0; j < D; j++) direct_z += l[j] * p[5 * D + j];
    assert_true(fabs(direct_z - z[5 * q]) < 1e-12);
    assert_true(isnan(bdml_preparation_variance(bdml_model_preparation(model))));
    bdml_free_model(model);

    ok(h, bdml_set(h, "reference", "none"));
    ok(h, bdml_set(h, "pca", "2"));
    ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(bdml_model_reference_rows(model), 0);
    fails(h, bdml_model_get_reference(h, model, r), BDML_ERR_ARGUMENT, "identity");
    assert_int_equal(bdml_preparation_dimension(bdml_model_preparation(model)), 2);
    assert_true(bdml_preparation_variance(bdml_model_preparation(model)) <= 1.0);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* A map made elsewhere votes with the points that it is given. */
static void other_voters(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    const char *classes[] = {"low", "high"};
    const double identity[D * D] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    bdml_model *model;
    int32_t kept[N], given[N];
    ok(h, bdml_model_from_map(h, D, D, identity, 0, &model));
    ok(h, bdml_dataset_set_names(h, data, classes, NULL));
    assert_int_equal(bdml_model_points(model), 0);
    ok(h, bdml_predict(h, model, data, N, bdml_dataset_rows(data), D, given));
    ok(h, bdml_model_set_points(h, model, data));
    assert_int_equal(bdml_model_points(model), N);
    assert_int_equal(bdml_model_classes(model), 2);
    assert_string_equal(bdml_model_class_name(model, 1), "high");
    assert_non_null(strstr(bdml_model_describe(model), "high"));
    ok(h, bdml_predict(h, model, NULL, N, bdml_dataset_rows(data), D, kept));
    assert_memory_equal(kept, given, sizeof kept);
    const char *foreign[] = {"low", "wide"};
    ok(h, bdml_dataset_set_names(h, data, foreign, NULL));
    fails(h, bdml_model_set_points(h, model, data), BDML_ERR_DATA, "wide");
    assert_int_equal(bdml_model_points(model), N);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- studies ------------------------------------------------------------------------------------------------------- */

static void solvers_side_by_side(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = points(h);
    char *json;
    ok(h, bdml_set(h, "kind", "pair"));
    ok(h, bdml_set(h, "distortion", "20"));
    ok(h, bdml_set(h, "rounds", "200"));
    ok(h, bdml_compare_solvers(h, data, &json));
    assert_non_null(strstr(json, "\"engine\""));
    assert_non_null(strstr(json, "\"mwu-cone\""));
    bdml_free_bytes(json);
    bdml_free_dataset(data);
}

/* By hand: differences 1, 3, so mean 2, variance 2, plain error 1, corrected sqrt(2 (1/2 + 1/2)). */
static void paired_by_hand(void **state)
{
    const double a[] = {3.0, 5.0}, b[] = {2.0, 2.0};
    (void)state;
    bdml_paired p = bdml_compare_paired(2, a, b, 0.5);
    assert_true(fabs(p.difference - 2.0) < 1e-15 && fabs(p.error - 1.0) < 1e-15);
    assert_true(fabs(p.error_corrected - sqrt(2.0)) < 1e-15);
    assert_int_equal(p.losses, 2);
    p = bdml_compare_paired(2, a, NULL, 0.5);
    assert_true(isnan(p.difference) && isnan(p.p) && p.losses == 0);
}

static void paths_are_checked(void **state)
{
    bdml_handle *h = *state;
    ok(h, bdml_check_path(h));
    ok(h, bdml_set(h, "distortion", "10"));
    fails(h, bdml_check_path(h), BDML_ERR_ARGUMENT, "leave out distortion");
}

#define with_handle(f) cmocka_unit_test_setup_teardown(f, make_handle, drop_handle)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_one),
        with_handle(own_errors_and_lines),
        with_handle(methods_and_references_are_listed),
        with_handle(references_are_taken),
        with_handle(reference_from_memory),
        with_handle(names),
        with_handle(missing_values),
        with_handle(floats),
        with_handle(rows_of_a_file),
        with_handle(callbacks_leave_settings),
        with_handle(npy_needs_its_arguments),
        with_handle(files_are_whole),
        with_handle(splits),
        with_handle(verification_from_arrays),
        with_handle(certificates_from_memory),
        with_handle(inside_a_model),
        with_handle(other_voters),
        with_handle(solvers_side_by_side),
        cmocka_unit_test(paired_by_hand),
        with_handle(paths_are_checked),
    };
    return cmocka_run_group_tests_name("shared library", tests, NULL, NULL);
}
