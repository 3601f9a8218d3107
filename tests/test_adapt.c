/* test_adapt.c - two domains: splits from files, and the protocol: what may be seen, and that it is the same
 * whatever runs beside it. */
#include "check.h"

#include <jansson.h>
#include <matio.h>

#include "baselines/domains.h"
#include "evaluate/adapt.h"
#include "tables.h"

/* ---- splits ------------------------------------------------------------------------------------------------- */

static const char *scratch(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", BDML_TEST_BINARY_DIR, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    check_true(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void test_csv_splits(void **state)
{
    bdml_handle *h = *state;
    adapt_splits s;
    const char *path = scratch("adapt_splits.csv");
    write_text(path,
               "split,part,row\n1,source,4\n1,source,2\n1, target ,0\n1,test,1\n\n2,source,3\n");
    check_ok(h, adapt_splits_read(h, path, 20, &s));
    check_true(s.count == 2 && s.split[0].sources == 2 && s.split[0].source[1] == 2);
    check_true(s.split[0].targets == 1 && s.split[0].tests == 1 && s.split[0].test[0] == 1);
    check_true(s.split[1].sources == 1 && s.split[1].source[0] == 3 && s.split[1].tests == 0);
    adapt_splits_free(&s);
    check_ok(h, adapt_splits_read(h, path, 1, &s));
    check_true(s.count == 1);
    adapt_splits_free(&s);
    write_text(path, "1,source,4\n3,source,2\n");
    check_fails(h, adapt_splits_read(h, path, 20, &s), BDML_ERR_FORMAT, "without gaps");
    write_text(path, "1,source,4\n1,sauce,2\n");
    check_fails(h, adapt_splits_read(h, path, 20, &s), BDML_ERR_FORMAT, "line 2");
    write_text(path, "split,part,row\n");
    check_fails(h, adapt_splits_read(h, path, 20, &s), BDML_ERR_FORMAT, "no splits");
    remove(path);
}

/* A 1 x 1 structure with fields of 1 x 2 cells, as MATLAB writes them. */
static void put_struct(mat_t *mat, const char *name, int fields, const char **field,
                       uint16_t (*rows)[2][2])
{
    size_t one[2] = {1, 1}, cells[2] = {1, 2}, two[2] = {1, 2};
    matvar_t *s = Mat_VarCreateStruct(name, 2, one, field, (unsigned)fields);
    for (int k = 0; k < fields; k++) {
        matvar_t *cell = Mat_VarCreate(NULL, MAT_C_CELL, MAT_T_CELL, 2, cells, NULL, 0);
        for (int i = 0; i < 2; i++)
            Mat_VarSetCell(cell, i,
                           Mat_VarCreate(NULL, MAT_C_UINT16, MAT_T_UINT16, 2, two, rows[k][i], 0));
        Mat_VarSetStructFieldByName(s, field[k], 0, cell);
    }
    Mat_VarWrite(mat, s, MAT_COMPRESSION_ZLIB);
    Mat_VarFree(s);
}

static void test_mat_splits(void **state)
{
    bdml_handle *h = *state;
    const char *path = scratch("adapt_splits.mat"), *train[] = {"source", "target"},
               *test[] = {"target"};
    uint16_t rows[2][2][2] = {{{5, 3}, {4, 1}}, {{1, 2}, {2, 3}}},
             tests[1][2][2] = {{{3, 4}, {1, 4}}};
    adapt_splits s;
    mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    put_struct(mat, "train", 2, train, rows);
    put_struct(mat, "test", 1, test, tests);
    Mat_Close(mat);
    check_ok(h, adapt_splits_read(h, path, 20, &s));
    check_true(s.count == 2 && s.split[0].sources == 2 && s.split[0].source[0] == 4);
    check_true(s.split[1].source[1] == 0 && s.split[1].target[0] == 1 && s.split[0].test[1] == 3);
    adapt_splits_free(&s);
    for (int64_t n = 1; n < 100; n++) { /* every allocation in turn */
        h->fail_alloc = n;
        bdml_status status = adapt_splits_read(h, path, 20, &s);
        if (status == BDML_OK) {
            check_true(n > 5);
            adapt_splits_free(&s);
            break;
        }
        check_true(status == BDML_ERR_MEMORY);
    }
    h->fail_alloc = 0;
    FILE *f = fopen(path, "rb"); /* bytes turned over or cut off: an error, never more */
    unsigned char bytes[4096];
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t at = 128; at < size; at++) {
        f = fopen(path, "wb");
        bytes[at] ^= 0xff;
        fwrite(bytes, 1, at % 3 ? size : at, f);
        bytes[at] ^= 0xff;
        fclose(f);
        if (adapt_splits_read(h, path, 20, &s) == BDML_OK) adapt_splits_free(&s);
    }
    mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    put_struct(mat, "train", 2, train, rows);
    Mat_Close(mat);
    check_fails(h, adapt_splits_read(h, path, 20, &s), BDML_ERR_FORMAT, "test.target");
    remove(path);
}

/* The splits of Hoffman et al.: 20 with 20 source and 3 target rows a class of Amazon and Caltech. */
static void test_office_splits(void **state)
{
    bdml_handle *h = *state;
    const char *path = extra_data("office_caltech10_surf/splits/"
                                  "SameCategory_amazon-caltech_20RandomTrials_10Categories.mat");
    adapt_splits s;
    if (!path) skip();
    check_ok(h, adapt_splits_read(h, path, 100, &s));
    check_true(s.count == 20);
    for (int k = 0; k < 20; k++) {
        check_true(s.split[k].sources == 200 && s.split[k].targets == 30);
        check_true(s.split[k].tests == 1123 - 30);
        for (int64_t i = 0; i < 200; i++) check_true(s.split[k].source[i] < 958);
    }
    adapt_splits_free(&s);
}

/* ---- the protocol --------------------------------------------------------------------------------------------- */

/* Three classes in 5 columns of counts; the target's columns are stretched and shifted. */
static bdml_dataset *domain(bdml_handle *h, int64_t n, uint64_t stream, bool shifted)
{
    enum { COLUMNS = 5 };
    bdml_rng r = bdml_rng_make(11, stream);
    double *x = calloc((size_t)n * COLUMNS, sizeof *x);
    int64_t *y = calloc((size_t)n, sizeof *y);
    bdml_dataset *data = NULL;
    for (int64_t i = 0; i < n; i++) {
        y[i] = 10 * (i % 3);
        for (int j = 0; j < COLUMNS; j++) {
            double v = 10 + bdml_rng_normal(&r) + (j == i % 3 ? 6 : 0);
            x[i * COLUMNS + j] = fabs(shifted ? v * (j == 0 ? 4 : 1) + (j == 1 ? 30 : 0) : v);
        }
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, COLUMNS, x, COLUMNS, y, &data));
    free(x);
    free(y);
    return data;
}

static json_t *adapt_json(bdml_handle *h, const bdml_dataset *s, const bdml_dataset *t)
{
    char *text = NULL;
    check_ok(h, bdml_adapt(h, s, t, &text));
    json_t *r = json_loads(text, 0, NULL);
    check_true(r != NULL);
    bdml_free_bytes(text);
    return r;
}

static json_t *method_at(const json_t *r, size_t m)
{
    return json_array_get(json_object_get(r, "methods"), m);
}

static double accuracy(const json_t *r, size_t m)
{
    return json_number_value(json_object_get(method_at(r, m), "accuracy_mean"));
}

static void choose_small(bdml_handle *h, const char *methods)
{
    static const char *const settings[][2] = {{"trials", "3"},           {"source-per-class", "8"},
                                              {"target-per-class", "2"}, {"dimensions", "3"},
                                              {"rows", "none"},          {"subspace", "2"}};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        check_ok(h, bdml_set(h, settings[k][0], settings[k][1]));
    check_ok(h, bdml_set(h, "methods", methods));
}

/* Shift and stretch of whole columns are what z-scores by domain take out. */
static void test_shift(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 60, 1, false), *t = domain(h, 45, 2, true);
    choose_small(h, "euclidean,bdml,gfk,sgf");
    json_t *each = adapt_json(h, s, t);
    for (size_t m = 0; m < 4; m++) check_true(accuracy(each, m) > 90);
    check_true(json_integer_value(json_object_get(each, "test_points")) == 45);
    check_ok(h, bdml_set(h, "column-scale", "none"));
    check_ok(h, bdml_set(h, "unit", "no"));
    check_ok(h, bdml_set(h, "methods", "euclidean"));
    json_t *raw = adapt_json(h, s, t);
    check_true(accuracy(raw, 0) < 70);
    check_ok(h, bdml_set(h, "column-scale", "zscore"));
    check_ok(h, bdml_set(h, "unit", "yes"));
    check_ok(h, bdml_set(h, "semi", "yes"));
    check_ok(h, bdml_set(h, "methods", "euclidean,mmdt"));
    json_t *semi = adapt_json(h, s, t);
    check_true(json_integer_value(json_object_get(semi, "test_points")) == 45 - 6);
    for (size_t m = 0; m < 2; m++) check_true(accuracy(semi, m) > 90);
    json_decref(each);
    json_decref(raw);
    json_decref(semi);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

static double accuracy_with(bdml_handle *h, const bdml_dataset *s, const bdml_dataset *t,
                            const char *name, const char *value)
{
    check_ok(h, bdml_set(h, name, value));
    json_t *r = adapt_json(h, s, t);
    double found = accuracy(r, 0);
    json_decref(r);
    return found;
}

/* A metric of low rank starts from the PCA of both domains: with a distortion of 1 it is the Euclidean metric after
 * that PCA, and not after that of the source, which does not see the columns in which the target is spread. */
static void test_rank(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 60, 1, false), *t = domain(h, 45, 2, true);
    choose_small(h, "euclidean");
    check_ok(h, bdml_set(h, "column-scale", "none"));
    check_ok(h, bdml_set(h, "unit", "no"));
    check_ok(h, bdml_set(h, "dimensions", "2"));
    double both = accuracy_with(h, s, t, "pca-domain", "both");
    double alone = accuracy_with(h, s, t, "pca-domain", "source");
    check_true(fabs(both - alone) > 1.0);
    check_ok(h, bdml_set(h, "methods", "bdml"));
    check_ok(h, bdml_set(h, "dimensions", "0"));
    check_ok(h, bdml_set(h, "distortion", "1"));
    check_ok(h, bdml_set(h, "q-step", "none"));
    check_close(accuracy_with(h, s, t, "rank", "2"), both, 1e-9);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

/* Columns by all rows of the source, and not the split's alone: against means and deviations by hand. */
static void test_whole_domain(void **state)
{
    enum { N = 60, D = 5, SPLIT = 24 };
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, N, 1, false), *t = domain(h, 45, 2, true);
    int64_t row[SPLIT];
    for (int i = 0; i < SPLIT; i++) row[i] = 2 * i;
    adapt_split split = {.sources = SPLIT, .source = row};
    adapt_points p;
    check_ok(h, bdml_set(h, "dimensions", "0"));
    check_ok(h, bdml_set(h, "unit", "no"));
    for (int every = 0; every < 2; every++) {
        check_ok(h, bdml_set(h, "column-scale-of", every ? "all" : "domain"));
        check_ok(h, adapt_prepare(h, &h->options, s, t, &split, &p));
        for (int j = 0; j < D; j++) {
            double mean = 0, square = 0, first = s->x[row[3] * D + j];
            int n = every ? N : SPLIT;
            for (int i = 0; i < n; i++) mean += s->x[(every ? i : row[i]) * D + j] / n;
            for (int i = 0; i < n; i++) square += pow(s->x[(every ? i : row[i]) * D + j] - mean, 2);
            check_close(p.xs[3 * D + j], (first - mean) / sqrt(square / n), 1e-10);
        }
        adapt_points_free(&p);
    }
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

static void drop_times(json_t *r)
{
    size_t m;
    json_t *row;
    json_array_foreach(json_object_get(r, "methods"), m, row) json_object_del(row, "fit_seconds");
}

static void test_jobs(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 60, 1, false), *t = domain(h, 45, 2, true);
    choose_small(h, "euclidean,bdml,gfk,mmdt");
    check_ok(h, bdml_set(h, "semi", "yes"));
    check_ok(h, bdml_set(h, "jobs", "1"));
    check_ok(h, bdml_set(h, "threads", "1"));
    json_t *one = adapt_json(h, s, t);
    check_ok(h, bdml_set(h, "jobs", "2"));
    check_ok(h, bdml_set(h, "threads", "2"));
    json_t *two = adapt_json(h, s, t);
    drop_times(one);
    drop_times(two);
    json_object_del(one, "settings");
    json_object_del(two, "settings");
    check_true(json_equal(one, two));
    json_decref(one);
    json_decref(two);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

/* Other labels on the target, the same metrics and choices: nothing looked at them but the score. */
static void test_no_leak(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 60, 1, false), *t = domain(h, 45, 2, true);
    choose_small(h, "bdml,gfk");
    /* fixed rows, so that not even a draw depends on labels */
    const char *path = scratch("adapt_leak.csv");
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 30; i++) fprintf(f, "1,source,%d\n", i);
    fclose(f);
    check_ok(h, bdml_set(h, "splits-file", path));
    json_t *right = adapt_json(h, s, t);
    for (int64_t i = 0; i < t->n; i++) t->y[i] = (t->y[i] + 1) % 3;
    json_t *wrong = adapt_json(h, s, t);
    check_true(accuracy(right, 0) > 90 && accuracy(wrong, 0) < 10);
    for (size_t m = 0; m < 2; m++) {
        check_true(json_equal(json_object_get(method_at(right, m), "chosen_per_split"),
                              json_object_get(method_at(wrong, m), "chosen_per_split")));
        check_true(json_equal(json_object_get(method_at(right, m), "kappa"),
                              json_object_get(method_at(wrong, m), "kappa")));
    }
    remove(path);
    json_decref(right);
    json_decref(wrong);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

static void test_random_splits(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 30, 1, false), *t = domain(h, 8, 2, true);
    adapt_splits a, b;
    check_ok(h, bdml_set(h, "source-per-class", "4"));
    check_ok(h, bdml_set(h, "target-per-class", "3"));
    check_ok(h, adapt_splits_random(h, &h->options, s, t, 5, &a));
    check_ok(h, adapt_splits_random(h, &h->options, s, t, 5, &b));
    for (int k = 0; k < 5; k++) {
        int count[3] = {0}, seen[8] = {0};
        check_true(a.split[k].sources == 12);
        for (int64_t i = 0; i < 12; i++) count[s->y[a.split[k].source[i]]]++;
        check_true(count[0] == 4 && count[1] == 4 && count[2] == 4);
        /* classes of 3, 3 and 2 rows: one of each is left for testing */
        check_true(a.split[k].targets == 5 && a.split[k].tests == 3);
        for (int64_t i = 0; i < 5; i++) seen[a.split[k].target[i]]++;
        for (int64_t i = 0; i < 3; i++) seen[a.split[k].test[i]]++;
        for (int i = 0; i < 8; i++) check_true(seen[i] == 1);
        check_true(memcmp(a.split[k].source, b.split[k].source, 12 * sizeof(int64_t)) == 0);
    }
    check_true(memcmp(a.split[0].source, a.split[1].source, 12 * sizeof(int64_t)) != 0);
    adapt_splits_free(&a);
    adapt_splits_free(&b);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

static void test_refusals(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 30, 1, false), *t = domain(h, 30, 2, true), *bare = NULL,
                 *odd = NULL;
    bdml_model *model = NULL;
    double x[4] = {1, -2, 3, 4};
    int64_t y[2] = {0, 99};
    char *text = NULL;
    choose_small(h, "euclidean");
    check_ok(h, bdml_dataset_from_arrays(h, 2, 2, x, 2, NULL, &bare));
    check_ok(h, bdml_dataset_from_arrays(h, 2, 2, x, 2, y, &odd));
    check_fails(h, bdml_adapt(h, s, bare, &text), BDML_ERR_DATA, "with labels");
    check_fails(h, bdml_adapt(h, s, odd, &text), BDML_ERR_DATA, "5 features, the target 2");
    check_fails(h, bdml_adapt(h, odd, NULL, &text), BDML_ERR_ARGUMENT, "NULL");
    check_ok(h, bdml_set(h, "rows", "root"));
    check_fails(h, bdml_adapt(h, odd, odd, &text), BDML_ERR_DATA, "0 or more");
    check_ok(h, bdml_set(h, "method", "gfk"));
    check_fails(h, bdml_train(h, s, NULL, &model), BDML_ERR_ARGUMENT, "bdml adapt");
    check_ok(h, bdml_set(h, "method", "mmdt"));
    check_fails(h, bdml_train(h, s, NULL, &model), BDML_ERR_ARGUMENT, "classifier");
    check_ok(h, bdml_set(h, "methods", "mmdt"));
    check_fails(h, bdml_adapt(h, s, t, &text), BDML_ERR_DATA, "semi-supervised");
    t->class_name[2][0] = 'x';
    check_fails(h, bdml_adapt(h, s, t, &text), BDML_ERR_DATA, "which the source has not");
    check_true(!text && !model);
    bdml_free_dataset(bare);
    bdml_free_dataset(odd);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

/* Every seventh allocation fails in turn: the right status, nothing leaked (under a sanitizer). */
static void test_memory(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *s = domain(h, 15, 1, false), *t = domain(h, 12, 2, true);
    bdml_status status = BDML_ERR_MEMORY;
    int64_t n = 1;
    choose_small(h, "gfk,sgf,mmdt,euclidean");
    check_ok(h, bdml_set(h, "trials", "1"));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_set(h, "semi", "yes"));
    for (; status == BDML_ERR_MEMORY && n < 10000; n += 7) {
        char *text = NULL;
        h->fail_alloc = n;
        status = bdml_adapt(h, s, t, &text);
        check_true((status == BDML_OK) == (text != NULL));
        check_true(status == BDML_OK || status == BDML_ERR_MEMORY);
        bdml_free_bytes(text);
    }
    check_true(status == BDML_OK && n > 20);
    bdml_free_dataset(s);
    bdml_free_dataset(t);
}

/* ---- the paper's tables ------------------------------------------------------------------------------------- */

static void test_printed(void **state)
{
    (void)state;
    study_adapt_figure f;
    check_true(strcmp(study_adapt_task(0), "AC") == 0 && strcmp(study_adapt_task(11), "WD") == 0);
    check_true(!study_adapt_task(12) && !study_adapt_task(-1));
    check_true(study_adapt_printed("AC", false, 5, &f) && strcmp(f.method, "bdml") == 0);
    check_close(f.accuracy, 37.2, 0);
    check_true(study_adapt_printed("WD", true, 6, &f) && strcmp(f.printed, "MMDT") == 0);
    check_close(f.accuracy, 67.0, 0);
    check_close(f.error, 1.1, 0);
    check_true(study_adapt_printed("CW", true, 7, &f));
    check_close(f.accuracy, 56.0, 0);
    check_true(!study_adapt_printed("AC", false, 6, &f) && !study_adapt_printed("AA", true, 0, &f));
}

/* A task of Office-Caltech, two splits: above what the paper has for plain features by far. */
static void test_office_cell(void **state)
{
    bdml_handle *h = *state;
    const char *folder = extra_data("office_caltech10_surf");
    char *text = NULL;
    if (!folder) skip();
    check_ok(h, bdml_set(h, "trials", "2"));
    check_ok(h, bdml_set(h, "methods", "euclidean,bdml"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_ok(h, study_adapt_cell(h, folder, "DW", false, &text));
    json_t *r = json_loads(text, 0, NULL);
    check_true(r && accuracy(r, 0) > 70 && accuracy(r, 1) > 74);
    check_true(json_integer_value(json_object_get(r, "test_points")) == 295);
    json_decref(r);
    bdml_free_bytes(text);
    check_fails(h, study_adapt_cell(h, folder, "DD", false, &text), BDML_ERR_ARGUMENT, "no task");
    check_fails(h, study_adapt_cell(h, "nowhere", "DW", false, &text), BDML_ERR_IO, "nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(test_csv_splits),    handle_test(test_mat_splits),
        handle_test(test_office_splits), handle_test(test_random_splits),
        handle_test(test_shift),         handle_test(test_jobs),
        handle_test(test_no_leak),       handle_test(test_refusals),
        handle_test(test_memory),        handle_test(test_printed),
        handle_test(test_office_cell),   handle_test(test_rank),
        handle_test(test_whole_domain),
    };
    return cmocka_run_group_tests_name("adapt", tests, NULL, NULL);
}
