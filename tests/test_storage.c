/* test_storage.c - rows held once: under a reference they are made when they are asked for, and the bits are those of rows held whole;
 * held as float32, those of doubles of the same values. */
#include "binary_files.h"
#include "neighbors/neighbors.h"
#include "model/evidence.h"

#include <stdlib.h>

static const char *const references[] = {"zscore", "within-raw", "fisher", "local-60"};
enum { REFERENCES = sizeof references / sizeof *references };

/* ---- rows under a reference ------------------------------------------------------------------------------- */

static bdml_model *train_in(bdml_handle *h, const bdml_dataset *data, const char *reference,
                            int64_t whole)
{
    bdml_model *model = NULL;
    h->whole_image = whole;
    check_ok(h, bdml_set(h, "reference", reference));
    check_ok(h, bdml_set(h, "distortion", "100"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    return model;
}

static void check_same_model(const bdml_model *a, const bdml_model *b)
{
    assert_int_equal(a->q, b->q);
    assert_int_equal(a->d, b->d);
    assert_memory_equal(a->l, b->l, sizeof *a->l * (size_t)a->q * (size_t)a->d);
    assert_true(a->evidence->lower == b->evidence->lower);
    assert_true(a->evidence->upper == b->evidence->upper);
    assert_int_equal(a->evidence->constraints->m, b->evidence->constraints->m);
}

/* Segment, 2310 x 19, is 0.33 MiB: by itself whole, and made when it is asked for where only less may be. */
static void rows_that_are_made_give_the_same_model(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data));
    for (int k = 0; k < REFERENCES; k++) {
        bdml_model *whole = train_in(h, data, references[k], 0);
        bdml_model *made = train_in(h, data, references[k], 1);
        check_same_model(whole, made);
        bdml_free_model(whole);
        bdml_free_model(made);
    }
    bdml_free_dataset(data);
}

/* Rows far from the origin have their mean taken off before they are mapped; these are mapped in two goes. */
static void rows_far_away_too(void **state)
{
    enum { ROWS = 2000, D = 40 };
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    double *x = calloc((size_t)ROWS * D, sizeof *x);
    int64_t label[ROWS];
    for (int i = 0; i < ROWS; i++) {
        label[i] = i % 3;
        for (int j = 0; j < D; j++)
            x[i * D + j] = 1e6 + sin(1.0 + 37.0 * i + 11.0 * j) + (label[i] == j ? 1.0 : 0.0);
    }
    check_ok(h, bdml_dataset_from_arrays(h, ROWS, D, x, D, label, &data));
    bdml_model *whole = train_in(h, data, "within", 0), *made = train_in(h, data, "within", 1);
    check_same_model(whole, made);
    bdml_free_model(whole);
    bdml_free_model(made);
    bdml_free_dataset(data);
    free(x);
}

static void memory_may_fail(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    bdml_model *model;
    h->whole_image = 1;
    check_ok(h, bdml_set(h, "reference", "within"));
    check_ok(h, bdml_set(h, "distortion", "10"));
    check_ok(h, bdml_read_dataset(h, source_path("data/segment.csv"), &data));
    int64_t n = 1;
    do { /* some of the many */
        h->fail_alloc = n;
        bdml_status status = bdml_train(h, data, NULL, &model);
        if (status == BDML_OK) break;
        assert_int_equal(status, BDML_ERR_MEMORY);
        assert_true(bdml_last_error(h)[0]);
        assert_null(model);
        n += 101;
    } while (true);
    h->fail_alloc = 0;
    bdml_free_model(model);
    bdml_free_dataset(data);
    assert_true(n > 300);
}

/* The prover goes over 128 rows of 8192 columns at a time. */
static void wide_rows_are_proven_in_lots(void **state)
{
    enum { ROWS = 300, D = 8192 };
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    double *x = calloc((size_t)ROWS * D, sizeof *x);
    int64_t label[ROWS];
    for (int i = 0; i < ROWS; i++) {
        label[i] = i % 3;
        for (int j = 0; j < D; j++)
            x[i * D + j] = sin(1.0 + 37.0 * i + 11.0 * (j % 97)) + (label[i] == j % 97 ? 1.0 : 0.0);
    }
    check_ok(h, bdml_dataset_from_arrays(h, ROWS, D, x, D, label, &data));
    free(x);
    check_ok(h, bdml_set(h, "pca", "6"));
    check_ok(h, bdml_set(h, "reference", "within"));
    check_ok(h, bdml_set(h, "distortion", "20"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    assert_int_equal(model->evidence->claim, BDML_CLAIM_OPTIMAL);
    assert_true(bdml_evidence_gap(model->evidence) <= 1e-3);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- float32 -------------------------------------------------------------------------------------------------- */

enum { M = 600, E = 8 };

/* M x E values of this type, rounded to float32 before or not, and labels beside. */
static const char *make_values(const char *descr, bool rounded)
{
    bytes x = {0}, y = {0};
    npy_header(&x, descr, "False", "(600, 8)");
    npy_header(&y, "|u1", "False", "(600,)");
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < E; j++) {
            double v = sin(1.0 + 37.0 * i + 11.0 * j) + (i % 3 == j ? 2.0 : 0.0);
            put_item(&x, 'f', descr[2] == '4' ? 4 : 8, rounded ? (double)(float)v : v, false);
        }
        put_int(&y, (uint64_t)(i % 3), 1, false);
    }
    save("s.labels.npy", &y);
    return save("s.npy", &x);
}

static bdml_dataset *read_as(bdml_handle *h, const char *storage, const char *mapping,
                             const char *path)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_set(h, "storage", storage));
    check_ok(h, bdml_set(h, "mapping", mapping));
    check_ok(h, bdml_read_dataset(h, path, &data));
    return data;
}

/* Doubles and floats of the same values, read or mapped, with nothing to prepare, PCA, unit rows and a problem that is stated:
 * the same model, and it is confirmed; doubles that were not rounded are refused. */
static void floats_give_the_model_of_doubles(void **state)
{
    static const struct {
        const char *name, *value;
    } more[] = {{"scale", "none"}, {"pca", "4"}, {"scale", "unit"}, {"rule", "class"}};
    bdml_handle *h = *state;
    char *json = NULL;
    int confirmed;
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        check_ok(h, bdml_set(h, more[k].name, more[k].value));
        bdml_dataset *wide = read_as(h, "float64", "no", make_values("<f8", true));
        bdml_dataset *rounded = read_as(h, "float32", "no", make_values("<f8", false));
        bdml_dataset *finer = read_as(h, "float64", "no", in_folder("s.npy"));
        bdml_dataset *mapped = read_as(h, "float32", "yes", make_values("<f4", true));
        assert_true(wide->x && !wide->single.x);
        assert_true(!rounded->x && rounded->single.x && !rounded->file);
        assert_true(!mapped->x && mapped->single.x && mapped->file);
        assert_true(bdml_dataset_fingerprint(wide) == bdml_dataset_fingerprint(rounded));
        assert_true(bdml_dataset_fingerprint(wide) == bdml_dataset_fingerprint(mapped));
        bdml_model *a = train_in(h, wide, "within", 0), *b = train_in(h, rounded, "within", 0),
                   *c = train_in(h, mapped, "within", 0);
        check_same_model(a, b);
        check_same_model(a, c);
        assert_true(!rounded->x); /* nobody needed doubles of all rows */
        check_ok(h, bdml_certify_model(h, c, mapped, &confirmed, &json));
        assert_true(confirmed);
        bdml_free_bytes(json);
        check_ok(h, bdml_certify_model(h, c, finer, &confirmed, &json));
        assert_false(confirmed);
        bdml_free_bytes(json);
        assert_memory_equal(bdml_dataset_rows(mapped), wide->x, sizeof(double) * M * E);
        bdml_free_model(a);
        bdml_free_model(b);
        bdml_free_model(c);
        bdml_free_dataset(wide);
        bdml_free_dataset(rounded);
        bdml_free_dataset(finer);
        bdml_free_dataset(mapped);
        check_ok(h, bdml_set(h, "pca", "0"));
    }
}

static void values_beyond_float32_are_refused(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data;
    const double x[] = {1.0, 2.0, 1e39, 4.0}, fine[] = {0.1, 0.2, 0.3, 0.4};
    check_ok(h, bdml_set(h, "storage", "float32"));
    check_fails(h, bdml_dataset_from_arrays(h, 2, 2, x, 2, NULL, &data), BDML_ERR_DATA, "float64");
    check_ok(h, bdml_dataset_from_arrays(h, 2, 2, fine, 2, NULL, &data));
    assert_true(bdml_dataset_rows(data)[0] == (double)0.1f);
    bdml_free_dataset(data);
    bytes text = {0};
    for (const char *c = "a,b,class\n1,2,x\n1e39,4,y\n"; *c; c++)
        put_int(&text, (uint64_t)*c, 1, false);
    check_fails(
        h, bdml_read_dataset(h, save("far.csv", &text), &data), BDML_ERR_DATA,
        "line 3, column 1 (a): 1e+39 is beyond the range of float32; use --storage float64");
}

/* Rows that are read some at a time, to be mapped, are rounded as those that are held. */
static void rows_that_pass_are_rounded(void **state)
{
    bdml_handle *h = *state;
    bdml_source *s;
    bdml_block block;
    bytes text = {0};
    for (const char *c = "a,b,class\n0.1,0.2,x\n0.3,0.4,y\n"; *c; c++)
        put_int(&text, (uint64_t)*c, 1, false);
    check_ok(h, bdml_set(h, "storage", "float32"));
    check_ok(h, bdml_source_open(h, &h->options.input, save("pass.csv", &text), NULL, &s));
    check_ok(h, bdml_block_init(h, 7, 2, &block));
    check_ok(h, bdml_source_next(h, s, &block));
    assert_int_equal(block.n, 2);
    for (int k = 0; k < 4; k++)
        assert_true(block.x[k] == (double)(float)(0.1 * (k + 1)) && block.x[k] != 0.1 * (k + 1));
    bdml_block_free(&block);
    bdml_source_close(s);
}

static void floats_and_memory_that_fails(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = NULL;
    const char *path = make_values("<f8", false);
    int64_t n = 1;
    check_ok(h, bdml_set(h, "storage", "float32"));
    for (bdml_status status = BDML_ERR_MEMORY; status != BDML_OK; n++) {
        h->fail_alloc = n;
        status = bdml_read_dataset(h, path, &data);
        if (status != BDML_OK) assert_int_equal(status, BDML_ERR_MEMORY);
    }
    assert_true(n > 5);
    h->fail_alloc = 1;
    assert_int_equal(bdml_dataset_widen(h, data), BDML_ERR_MEMORY);
    assert_null(data->x);
    h->fail_alloc = 0;
    check_ok(h, bdml_dataset_widen(h, data));
    assert_true(data->x[3] == (double)(float)sin(34.0));
    bdml_free_dataset(data);
}

/* ---- slabs -------------------------------------------------------------------------------------------------- */

typedef struct held {
    bdml_made made;
    const double *x;
    int d, most; /* rows that were asked for at a time */
} held;

static void some(const bdml_made *m, int64_t count, const int64_t *row, int64_t from, double *out)
{
    held *s = (held *)m;
    s->most = BDML_MAX(s->most, (int)count);
    for (int64_t i = 0; i < count; i++)
        memcpy(out + i * s->d, s->x + (row ? row[i] : from + i) * s->d, sizeof *out * (size_t)s->d);
}

/* 5000 rows of 1024 numbers are two slabs; rows are alike in threes, so that ties reach across them. */
static void slabs_find_what_a_search_finds(void **state)
{
    enum { ROWS = 5000, D = 1024, Q = 12, K = 5 };
    bdml_handle *h = *state;
    double *x = calloc((size_t)ROWS * D, sizeof *x);
    int32_t y[ROWS], at[Q * K], slab_at[Q * K];
    double far[Q * K], slab_far[Q * K];
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 4;
        for (int j = 0; j < D; j++) x[i * D + j] = sin(1.0 + 37.0 * (i % 1700) + 11.0 * j);
    }
    held kept = {{some, false}, x, D, 0};
    const bdml_rows whole = {.n = ROWS, .d = D, .ld = D, .x = x, .y = y},
                    queries = {.n = Q, .d = D, .ld = D, .x = x + 1690 * D, .y = y + 1690};
    bdml_rows made = whole;
    made.x = NULL;
    made.made = &kept.made;
    const bdml_neighbor_options *o = &h->options.neighbors;
    for (int which = BDML_ANY_CLASS; which <= BDML_OTHER_CLASS; which++) {
        check_ok(h, bdml_knn_search(h, o, &whole, &queries, (bdml_restrict)which, K, at, far));
        check_ok(h,
                 bdml_knn_slabs(h, o, &made, &queries, (bdml_restrict)which, K, slab_at, slab_far));
        assert_memory_equal(at, slab_at, sizeof at);
        assert_memory_equal(far, slab_far, sizeof far);
    }
    assert_true(kept.most < ROWS);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(rows_that_are_made_give_the_same_model),
        handle_test(rows_far_away_too),
        handle_test(memory_may_fail),
        handle_test(wide_rows_are_proven_in_lots),
        handle_test(floats_give_the_model_of_doubles),
        handle_test(values_beyond_float32_are_refused),
        handle_test(rows_that_pass_are_rounded),
        handle_test(floats_and_memory_that_fails),
        handle_test(slabs_find_what_a_search_finds),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
