/* test_model.c - the metric, the file format and every way to damage it, applying, exporting. */
#include "check.h"

#include <locale.h>
#include <matio.h>
#include <sys/stat.h>
#include <zlib.h>

#include "linalg/linalg.h"
#include "model/model.h"

enum { N = 150, D = 4, CLASSES = 3 };

/* ---- tools ------------------------------------------------------------------------------------- */

static void fill_normal(bdml_rng *r, size_t count, double *x)
{
    for (size_t k = 0; k < count; k++) x[k] = bdml_rng_normal(r);
}

/* Three classes around different points; `order` renames class c to names[order[c]]. */
static bdml_dataset *sample(bdml_handle *h, const int *order)
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
static bdml_model *trained(bdml_handle *h, const bdml_dataset *data, int q)
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
    check_ok(h, bdml_model_keep_points(h, (bdml_yes_no_auto)h->options.train.keep_points.value, m,
                                       data->n, x, data->y));
    json_object_set_new(m->info, "method", json_string("random"));
    json_object_set_new(m->info, "certificate", json_pack("{s:f}", "gap", 0.1 + 0.2));
    return m;
}

static void check_same(const double *a, const double *b, size_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) check_true(memcmp(a, b, sizeof(double) * count) == 0);
}

static void check_equal_models(const bdml_model *a, const bdml_model *b)
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

static void temp_dir(char *dir)
{
    strcpy(dir, "/tmp/bdml-test-XXXXXX");
    assert_non_null(mkdtemp(dir));
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

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

/* ---- files ------------------------------------------------------------------------------------------ */

static void models_round_trip_to_the_bit(void **state)
{
    bdml_handle *h = *state;
    static const char *const scales[] = {"none", "zscore", "minmax", "unit"};
    static const char *const pcas[] = {"0", "2"};
    char dir[32], path[64];
    temp_dir(dir);
    snprintf(path, sizeof path, "%s/m.bdml", dir);
    for (int v = 0; v < 16; v++) {
        bdml_dataset *data = sample(h, in_order);
        bdml_model *m, *again;
        void *one, *two;
        size_t size_one, size_two;
        check_ok(h, bdml_set(h, "scale", scales[v % 4]));
        check_ok(h, bdml_set(h, "pca", pcas[v / 4 % 2]));
        check_ok(h, bdml_set(h, "missing", v / 8 ? "mean" : "error"));
        check_ok(h, bdml_set(h, "keep-points", v == 3 ? "no" : "auto"));
        if (v == 5) strcpy(data->class_name[1], "caf\xe9 \x80"); /* Latin-1, not UTF-8 */
        if (v == 6) strcpy(data->class_name[1], "\xc3\xa9");     /* UTF-8 */
        m = trained(h, data, v % 2 ? 2 : 1);
        if (v == 7) {
            free(m->y);
            m->y = NULL; /* points without labels */
        }
        check_ok(h, bdml_save_model(h, m, path));
        check_ok(h, bdml_load_model(h, path, &again));
        check_equal_models(m, again);
        assert_string_equal(bdml_model_describe(m), bdml_model_describe(again));
        check_ok(h, bdml_save_model_bytes(h, m, &one, &size_one));
        check_ok(h, bdml_save_model_bytes(h, again, &two, &size_two));
        assert_int_equal(size_one, size_two);
        check_true(memcmp(one, two, size_one) == 0);
        bdml_free_model(again);
        check_ok(h, bdml_load_model_bytes(h, one, size_one, &again));
        check_equal_models(m, again);
        bdml_free_bytes(one);
        bdml_free_bytes(two);
        bdml_free_model(m);
        bdml_free_model(again);
        bdml_free_dataset(data);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void the_description_is_json(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = sample(h, in_order);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "pca", "3"));
    bdml_model *m = trained(h, data, 2);
    json_t *o = json_loads(bdml_model_describe(m), 0, NULL);
    assert_non_null(o);
    assert_string_equal(json_string_value(json_object_get(o, "method")), "random");
    assert_string_equal(json_string_value(json_object_get(o, "library")), bdml_version());
    assert_string_equal(json_string_value(json_object_get(o, "scale")), "zscore");
    assert_int_equal(json_integer_value(json_object_get(o, "input_dimension")), 4);
    assert_int_equal(json_integer_value(json_object_get(o, "dimension")), 3);
    assert_int_equal(json_integer_value(json_object_get(o, "output_dimension")), 2);
    assert_int_equal(json_integer_value(json_object_get(o, "points")), N);
    assert_int_equal(json_array_size(json_object_get(o, "classes")), CLASSES);
    assert_int_equal(json_array_size(json_object_get(o, "feature_names")), D);
    check_true(json_is_null(json_object_get(o, "kappa"))); /* 2 rows in 3 dimensions: infinite */
    check_true(bdml_model_describe(m) == bdml_model_describe(m));
    assert_string_equal(bdml_model_class_name(m, 2), "virginica");
    assert_null(bdml_model_class_name(m, 3));
    assert_int_equal(bdml_model_input_dimension(m), 4);
    json_decref(o);
    bdml_free_model(m);
    bdml_free_dataset(data);
}

static bdml_model *small(bdml_handle *h)
{
    static const double l[] = {1.5, -2, 0.25, 3};
    bdml_model *m;
    check_ok(h, bdml_model_from_map(h, 2, 2, l, 0, &m));
    return m;
}

/* Every byte changed in two ways, every length: never a model. */
static void every_damage_is_noticed(void **state)
{
    bdml_handle *h = *state;
    bdml_model *m = small(h), *bad;
    unsigned char *bytes;
    size_t size;
    check_ok(h, bdml_save_model_bytes(h, m, (void **)&bytes, &size));
    for (size_t k = 0; k < size; k++) {
        static const unsigned char change[] = {0x01, 0xFF};
        for (int c = 0; c < 2; c++) {
            bytes[k] ^= change[c];
            assert_int_equal(bdml_load_model_bytes(h, bytes, size, &bad), BDML_ERR_FORMAT);
            assert_null(bad);
            bytes[k] ^= change[c];
        }
    }
    for (size_t n = 0; n < size; n++) {
        unsigned char *part =
            malloc(n + 1); /* exact size, so that a sanitizer sees every overrun */
        memcpy(part, bytes, n);
        assert_int_equal(bdml_load_model_bytes(h, part, n, &bad), BDML_ERR_FORMAT);
        check_true(strstr(bdml_last_error(h), n == 0 ? "empty" : "truncated") != NULL);
        free(part);
    }
    unsigned char *longer = calloc(1, size + 1);
    memcpy(longer, bytes, size);
    check_fails(h, bdml_load_model_bytes(h, longer, size + 1, &bad), BDML_ERR_FORMAT, "damaged");
    free(longer);
    check_fails(h, bdml_load_model_bytes(h, "a,b,c\n1,2,3\n", 12, &bad), BDML_ERR_FORMAT,
                "not a bdml file");
    bytes[100] ^= 1;
    check_fails(h, bdml_load_model_bytes(h, bytes, size, &bad), BDML_ERR_FORMAT, "checksum");
    bdml_free_bytes(bytes);
    bdml_free_model(m);
}

static void put_le(unsigned char *p, uint64_t v, int n)
{
    for (int k = 0; k < n; k++) p[k] = (unsigned char)(v >> (8 * k));
}

static void sign(unsigned char *bytes, size_t size)
{
    put_le(bytes + size - 4, crc32(0, bytes, (uInt)size - 4), 4);
}

static void versions(void **state)
{
    bdml_handle *h = *state;
    bdml_model *m = small(h), *back;
    unsigned char *bytes;
    size_t size;
    check_ok(h, bdml_save_model_bytes(h, m, (void **)&bytes, &size));
    put_le(bytes + 10, 7, 2); /* a newer minor version is fine */
    sign(bytes, size);
    check_ok(h, bdml_load_model_bytes(h, bytes, size, &back));
    check_equal_models(m, back);
    bdml_free_model(back);
    put_le(bytes + 8, 2, 2);
    sign(bytes, size);
    check_fails(h, bdml_load_model_bytes(h, bytes, size, &back), BDML_ERR_FORMAT, "newer bdml");
    put_le(bytes + 8, 0, 2);
    sign(bytes, size);
    check_fails(h, bdml_load_model_bytes(h, bytes, size, &back), BDML_ERR_FORMAT, "contradict");
    bdml_free_bytes(bytes);
    bdml_free_model(m);
}

/* A file around this header with `room` bytes behind it, checksum right; read as a container. */
static bdml_status read_forged(bdml_handle *h, const char *header, uint64_t claimed, size_t room)
{
    size_t length = strlen(header), at = (32 + length + 63) / 64 * 64, size = at + room + 4;
    unsigned char *bytes = calloc(1, size);
    bdml_container *c = NULL;
    memcpy(bytes, "BDMLFILE", 8); // NOLINT(bugprone-not-null-terminated-result)
    bytes[8] = 1;
    put_le(bytes + 16, claimed ? claimed : at - 32, 8);
    put_le(bytes + 24, size, 8);
    memset(bytes + 32, ' ', at - 32);
    memcpy(bytes + 32, header, length); // NOLINT(bugprone-not-null-terminated-result)
    sign(bytes, size);
    bdml_status status = bdml_container_from_bytes(h, bytes, size, "forged", &c);
    bdml_container_free(c);
    free(bytes);
    return status;
}

#define ITEM(name, type, shape, offset, bytes)                                            \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"shape\":" shape ",\"offset\":" offset \
    ",\"bytes\":" bytes "}"
#define LIST(items) "{\"arrays\":[" items "]}"

/* Headers whose checksum is right but whose claims are not. The data begin at byte 128 or 192. */
static void forged_headers_are_refused(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *header;
        uint64_t claimed;
        size_t room;
        const char *message; /* NULL: must be accepted */
    } cases[] = {
        {LIST(""), 0, 0, NULL},
        {LIST(ITEM("a", "f8", "[8]", "128", "64")), 0, 64, NULL},
        {LIST(ITEM("a", "u1", "[0]", "128", "0")), 0, 0, NULL},
        {"{", 0, 0, "no JSON object"},
        {"[]", 0, 0, "no JSON object"},
        {"", 0, 0, "no JSON object"},
        {"{\"arrays\":[],\"arrays\":[]}", 0, 0, "no JSON object"},
        {"{\"arrays\":3}", 0, 0, "no list of arrays"},
        {"{}", 0, 0, "no list of arrays"},
        {LIST("7"), 0, 0, "described by no"},
        {LIST("{}"), 0, 0, "described by no"},
        {LIST(ITEM("a", "f4", "[8]", "128", "32")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[-8]", "128", "64")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[]", "128", "64")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[2,2,2]", "128", "64")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[8,0]", "128", "0")), 0, 0, "described by no"},
        {LIST(ITEM("a", "f8", "[8.0]", "128", "64")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[8]", "-128", "64")), 0, 64, "described by no"},
        {LIST(ITEM("a", "f8", "[8]", "128", "72")), 0, 72, "its shape 64"},
        {LIST(ITEM("a", "f8", "[16]", "128", "128")), 0, 64, "outside the file"},
        {LIST(ITEM("a", "f8", "[8]", "64", "64")), 0, 64, "outside the file"},
        {LIST(ITEM("a", "f8", "[8]", "136", "64")), 0, 72, "outside the file"},
        {LIST(ITEM("a", "f8", "[8]", "9223372036854775744", "64")), 0, 64, "outside the file"},
        {LIST(ITEM("a", "f8", "[4611686018427387904]", "128", "0")), 0, 64, "impossible shape"},
        {LIST(ITEM("a", "f8", "[4294967296,4294967296]", "128", "0")), 0, 64, "impossible shape"},
        {LIST(ITEM("a", "f8", "[1152921504606846976]", "128", "9223372036854775807")), 0, 64,
         "its shape"},
        {LIST(ITEM("a", "f8", "[8]", "128", "64")), 0, 128, "belong to no array"},
        {LIST(ITEM("a", "f8", "[8]", "192", "64") "," ITEM("a", "f8", "[8]", "256", "64")), 0, 128,
         "twice"},
        {LIST(ITEM("a", "f8", "[8]", "192", "64") "," ITEM("b", "f8", "[8]", "192", "64")), 0, 64,
         "over another"},
        {LIST(""), 1000000, 0, "contradict"},
        {LIST(""), UINT64_MAX, 0, "contradict"},
        {LIST(""), 3, 0, "no JSON object"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bdml_status status = read_forged(h, cases[k].header, cases[k].claimed, cases[k].room);
        bool fine = cases[k].message ? status == BDML_ERR_FORMAT &&
                                           strstr(bdml_last_error(h), cases[k].message) != NULL
                                     : status == BDML_OK;
        if (!fine)
            fail_msg("case %zu, %s: %s (%s)", k, cases[k].header, bdml_status_text(status),
                     bdml_last_error(h));
    }
    char *deep = malloc(100001); /* nesting that would exhaust the stack of a careless parser */
    memset(deep, '[', 100000);
    deep[100000] = '\0';
    assert_int_equal(read_forged(h, deep, 0, 0), BDML_ERR_FORMAT);
    free(deep);
}

/* ---- models whose container is sound but whose content is not ----------------------------------------- */

typedef struct forgery {
    const char *key;   /* header key to replace, "" = none */
    const char *value; /* as JSON; NULL: remove the key */
    const char *array; /* array to leave out, or "" */
    const char *message;
} forgery;

static bdml_status load_forgery(bdml_handle *h, const bdml_model *m, const forgery *f)
{
    bdml_container *c;
    bdml_model *back = NULL;
    void *bytes;
    size_t size;
    json_t *o, *value = f->value ? json_loads(f->value, JSON_DECODE_ANY, NULL) : NULL;
    static int32_t label[3] = {0, 1, 5};
    double infinite[4] = {1, 0, 0, INFINITY};
    bool short_map = strcmp(f->array, "short map") == 0, bad_map = strcmp(f->array, "bad map") == 0;

    check_ok(h, bdml_container_new(h, &c));
    check_ok(h, bdml_model_json(h, m, &o));
    if (f->value)
        json_object_set_new(o, f->key, value);
    else
        json_object_del(o, f->key);
    json_object_update(bdml_container_header(c), o);
    json_decref(o);
    if (strcmp(f->array, "map") != 0)
        check_ok(h, bdml_container_put_f8(h, c, "map", short_map ? 1 : 2, 2,
                                          bad_map ? infinite : m->l));
    if (strcmp(f->array, "extra") == 0)
        check_ok(h, bdml_container_put_f8(h, c, "fill", 2, 0, m->l));
    if (strcmp(f->array, "labels") == 0)
        check_ok(h, bdml_container_put_i4(h, c, "labels", 3, 0, label));
    check_ok(h, bdml_container_to_bytes(h, c, &bytes, &size));
    bdml_status status = bdml_load_model_bytes(h, bytes, size, &back);
    bdml_free_bytes(bytes);
    bdml_container_free(c);
    bdml_free_model(back);
    return status;
}

static void forged_models_are_refused(void **state)
{
    bdml_handle *h = *state;
    static const forgery cases[] = {
        {"kind", "\"proof\"", "", "proves nothing"},
        {"kind", "\"checkpoint\"", "", "holds no model but 'checkpoint'"},
        {"kind", NULL, "", "holds no model"},
        {"input_dimension", "1000000000", "", "contradict"},
        {"input_dimension", "0", "", "'input_dimension' must be"},
        {"input_dimension", "99999999999", "", "'input_dimension' must be"},
        {"dimension", "\"2\"", "", "'dimension' must be"},
        {"output_dimension", "3", "", "wanted f8 3 x 2"},
        {"output_dimension", NULL, "", "'output_dimension' must be"},
        {"kappa", "0.5", "", "'kappa'"},
        {"kappa", "\"big\"", "", "'kappa'"},
        {"kappa", NULL, "", "'kappa'"},
        {"scale", "\"zcore\"", "", "scaling is unknown"},
        {"scale", "3", "", "scaling is unknown"},
        {"scale", "\"zscore\"", "", "array 'shift' is missing"},
        {"fill", "true", "", "array 'fill' is missing"},
        {"fill", "1", "", "'fill' must be"},
        {"pca_variance", "0.5", "", "array 'center' is missing"},
        {"pca_variance", "\"all\"", "", "'pca_variance'"},
        {"points", "3", "", "array 'points' is missing"},
        {"points", "-3", "", "'points' must be"},
        {"points", "0", "labels", "array 'labels'"},
        {"classes", "3", "", "'classes'"},
        {"classes", "[1]", "", "a name is no text"},
        {"feature_names", "[\"a\"]", "", "'feature_names'"},
        {"", "0", "map", "array 'map' is missing"},
        {"", "0", "short map", "wanted f8 2 x 2"},
        {"", "0", "bad map", "holds inf"},
        {"", "0", "extra", "does not belong there"},
    };
    bdml_model *m = small(h);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bdml_status status = load_forgery(h, m, &cases[k]);
        if (status != BDML_ERR_FORMAT || !strstr(bdml_last_error(h), cases[k].message))
            fail_msg("case %zu, %s: %s (%s)", k, cases[k].key, bdml_status_text(status),
                     bdml_last_error(h));
    }
    bdml_free_model(m);
}

/* A write that fails leaves the old file and nothing else; so does a model that cannot be read. */
static void failed_writes_leave_the_old_file(void **state)
{
    bdml_handle *h = *state;
    static const char *const names[] = {"m.bdml", "m.csv", "m.mat"};
    bdml_model *m = small(h), *back;
    char dir[32], path[64];
    temp_dir(dir);
    for (int k = 0; k < 3; k++) {
        size_t before_size, after_size;
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        for (int fault = 0; fault < 2; fault++) {
            char *before = fault ? slurp(path, &before_size) : NULL;
            h->fail_write = fault;
            bdml_status status =
                k == 0 ? bdml_save_model(h, m, path) : bdml_export_model(h, m, "L", path);
            assert_int_equal(status, fault ? BDML_ERR_IO : BDML_OK);
            char *after = slurp(path, &after_size);
            if (fault) {
                assert_int_equal(before_size, after_size);
                check_true(memcmp(before, after, after_size) == 0);
            }
            free(before);
            free(after);
        }
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(dir), 0);
    check_fails(h, bdml_load_model(h, "/nonexistent/m", &back), BDML_ERR_IO, "/nonexistent/m");
    check_fails(h, bdml_load_model(h, "/", &back), BDML_ERR_IO, "cannot be read");
    check_fails(h, bdml_save_model(h, m, "/nonexistent/m"), BDML_ERR_IO, "cannot be written");
    check_fails(h, bdml_export_model(h, m, "L", "x.txt"), BDML_ERR_ARGUMENT, ".npy, .csv or .mat");
    check_fails(h, bdml_export_model(h, m, "K", "x.csv"), BDML_ERR_ARGUMENT, "L or M");
    bdml_free_model(m);
}

/* A host program with a decimal comma: jansson's numbers keep the point. */
static void files_ignore_the_locale(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = sample(h, in_order);
    bdml_model *m = trained(h, data, 4), *back;
    void *plain, *comma;
    size_t size, other;
    check_ok(h, bdml_save_model_bytes(h, m, &plain, &size));
    bool have = setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8");
    if (have) {
        check_ok(h, bdml_save_model_bytes(h, m, &comma, &other));
        assert_int_equal(size, other);
        check_true(memcmp(plain, comma, size) == 0);
        check_ok(h, bdml_load_model_bytes(h, plain, size, &back));
        check_equal_models(m, back);
        bdml_free_model(back);
        bdml_free_bytes(comma);
        setlocale(LC_NUMERIC, "C");
    }
    bdml_free_bytes(plain);
    bdml_free_model(m);
    bdml_free_dataset(data);
    if (!have) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
}

/* ---- applying ------------------------------------------------------------------------------------------ */

/* z = L basis' ((x - shift) / width - center) by plain loops. */
static void plain_transform(const bdml_model *m, const double *x, double *z)
{
    const bdml_prepare *p = &m->prepare;
    double s[D], b[D];
    for (int j = 0; j < p->d_in; j++) s[j] = (x[j] - p->shift[j]) / p->width[j] - p->center[j];
    for (int a = 0; a < m->d; a++) {
        b[a] = 0;
        for (int j = 0; j < p->d_in; j++) b[a] += p->basis[a * p->d_in + j] * s[j];
    }
    for (int r = 0; r < m->q; r++) {
        z[r] = 0;
        for (int a = 0; a < m->d; a++) z[r] += m->l[r * m->d + a] * b[a];
    }
}

static void transform_equals_plain_loops(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = sample(h, in_order);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    check_ok(h, bdml_set(h, "pca", "3"));
    bdml_model *m = trained(h, data, 2);
    double z[2 * N], want[2], wide[N * (D + 1)];
    for (int i = 0; i < N; i++) memcpy(wide + i * (D + 1), data->x + i * D, sizeof(double) * D);
    check_ok(h, bdml_transform(h, m, N, wide, D + 1, z));
    for (int i = 0; i < N; i++) {
        plain_transform(m, data->x + i * D, want);
        for (int r = 0; r < 2; r++) check_close(z[2 * i + r], want[r], 1e-13);
    }
    check_true(memcmp(z, m->z, sizeof z) == 0); /* the points kept are the points transformed */
    double one[2];
    for (int i = 0; i < N; i += 37) { /* alone or among others: the same bits */
        check_ok(h, bdml_transform(h, m, 1, data->x + i * D, D, one));
        check_true(memcmp(one, z + 2 * i, sizeof one) == 0);
    }
    wide[70 * (D + 1) + 2] = NAN;
    check_fails(h, bdml_transform(h, m, N, wide, D + 1, z), BDML_ERR_DATA, "row 70, column 2");
    check_fails(h, bdml_transform(h, m, N, wide, D - 1, z), BDML_ERR_ARGUMENT, "4 values");
    check_fails(h, bdml_transform(h, m, -1, wide, D, z), BDML_ERR_ARGUMENT, "-1 points");
    check_fails(h, bdml_transform(h, NULL, 1, wide, D, z), BDML_ERR_ARGUMENT, "NULL");
    check_ok(h, bdml_transform(h, m, 0, NULL, D, NULL));
    bdml_free_model(m);
    bdml_free_dataset(data);
}

/* d = 300 and 1 MiB: blocks of 384 rows, so 1000 rows take three; bits as in one block, for any
 * number of threads; a bad row is named by its number among all. */
static void blocks_and_threads_do_not_change_bits(void **state)
{
    bdml_handle *h = *state;
    enum { n = 1000, d = 300, q = 20 };
    bdml_rng r = bdml_rng_make(3, 3);
    double *x = malloc(sizeof(double) * n * d), *l = malloc(sizeof(double) * q * d);
    double *z = malloc(sizeof(double) * n * q), *other = malloc(sizeof(double) * n * q);
    bdml_model *m;
    fill_normal(&r, (size_t)n * d, x);
    fill_normal(&r, (size_t)q * d, l);
    check_ok(h, bdml_model_from_map(h, q, d, l, 0, &m));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_transform(h, m, n, x, d, z));
    check_ok(h, bdml_set(h, "threads", "2"));
    check_ok(h, bdml_set(h, "memory", "1"));
    check_true(bdml_model_block(h, d * sizeof(double)) == 384);
    check_ok(h, bdml_transform(h, m, n, x, d, other));
    check_true(memcmp(z, other, sizeof(double) * n * q) == 0);
    x[900 * d + 7] = INFINITY;
    check_fails(h, bdml_transform(h, m, n, x, d, z), BDML_ERR_DATA, "row 900, column 7");
    bdml_free_model(m);
    free(x), free(l), free(z), free(other);
}

/* Pairs in any order, with repeats; against transform and a plain loop. */
static void distances_equal_plain_loops(void **state)
{
    bdml_handle *h = *state;
    enum { PAIRS = 20000 };
    bdml_dataset *data = sample(h, in_order);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    bdml_model *m = trained(h, data, 3);
    int64_t *pairs = malloc(2 * PAIRS * sizeof *pairs);
    double *distance = malloc(PAIRS * sizeof *distance), z[3 * N];
    bdml_rng r = bdml_rng_make(4, 4);
    for (int k = 0; k < 2 * PAIRS; k++) pairs[k] = 1 + (int64_t)bdml_rng_below(&r, N - 1);
    pairs[0] = pairs[1] = 5;
    check_ok(h, bdml_transform(h, m, N, data->x, D, z));
    data->x[0] = NAN; /* row 0 is in no pair: it is not touched */
    check_ok(h, bdml_distances(h, m, N, data->x, D, PAIRS, pairs, distance));
    check_true(distance[0] == 0.0);
    for (int t = 0; t < PAIRS; t++) {
        const double *a = z + 3 * pairs[2 * t], *b = z + 3 * pairs[2 * t + 1];
        double want = 0;
        for (int j = 0; j < 3; j++) want += (a[j] - b[j]) * (a[j] - b[j]);
        check_close(distance[t], want, 1e-14 * want); /* products may be fused with sums */
    }
    pairs[7] = 0;
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, pairs, distance), BDML_ERR_DATA,
                "row 0, column 0");
    pairs[7] = N;
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, pairs, distance), BDML_ERR_ARGUMENT,
                "pair 3 names row 150, rows are 0 to 149");
    check_fails(h, bdml_distances(h, m, N, data->x, D, 4, NULL, distance), BDML_ERR_ARGUMENT,
                "4 pairs");
    check_ok(h, bdml_distances(h, m, N, data->x, D, 0, NULL, NULL));
    free(pairs);
    free(distance);
    bdml_free_model(m);
    bdml_free_dataset(data);
}

/* 20000 points in 4 dimensions do not fit twice into 1 MiB: three blocks of pairs, and the same bits
 * as from one. Pairs of a row with itself are exactly 0. */
static void distances_in_blocks_have_the_same_bits(void **state)
{
    bdml_handle *h = *state;
    enum { n = 20000, d = 4, PAIRS = 30000 };
    bdml_rng r = bdml_rng_make(5, 5);
    double *x = malloc(sizeof(double) * n * d), l[d * d];
    double *one = malloc(sizeof(double) * PAIRS), *many = malloc(sizeof(double) * PAIRS);
    int64_t *pairs = malloc(2 * PAIRS * sizeof *pairs);
    bdml_model *m;
    fill_normal(&r, (size_t)n * d, x);
    fill_normal(&r, d * d, l);
    for (int k = 0; k < 2 * PAIRS; k++) pairs[k] = (int64_t)bdml_rng_below(&r, n);
    for (int t = 0; t < PAIRS; t += 100) pairs[2 * t + 1] = pairs[2 * t];
    check_ok(h, bdml_model_from_map(h, d, d, l, 0, &m));
    check_ok(h, bdml_distances(h, m, n, x, d, PAIRS, pairs, one));
    check_ok(h, bdml_set(h, "memory", "1"));
    check_ok(h, bdml_set(h, "threads", "2"));
    check_true(bdml_model_block(h, 2 * (d + 1) * sizeof(double)) * 2 < PAIRS); /* three blocks */
    check_ok(h, bdml_distances(h, m, n, x, d, PAIRS, pairs, many));
    check_true(memcmp(one, many, sizeof(double) * PAIRS) == 0);
    for (int t = 0; t < PAIRS; t++)
        check_true((one[t] == 0.0) == (pairs[2 * t] == pairs[2 * t + 1]));
    bdml_free_model(m);
    free(x), free(one), free(many), free(pairs);
}

/* 3-NN by plain loops over mapped points; distances differ here, so that ties play no role. */
static int32_t plain_vote(const bdml_model *m, const double *z, const double *point)
{
    int best[3] = {-1, -1, -1}, count[CLASSES] = {0}, winner;
    for (int k = 0; k < 3; k++) {
        double least = INFINITY;
        for (int i = 0; i < N; i++) {
            double dist = 0;
            for (int j = 0; j < m->q; j++) dist += pow(z[i * m->q + j] - point[j], 2);
            if (dist < least && i != best[0] && i != best[1]) least = dist, best[k] = i;
        }
    }
    winner = m->y[best[0]];
    for (int k = 0; k < 3; k++)
        if (++count[m->y[best[k]]] == 2) winner = m->y[best[k]];
    return winner;
}

static void prediction_is_by_the_nearest(void **state)
{
    bdml_handle *h = *state;
    static const int turned[CLASSES] = {2, 0, 1};
    bdml_dataset *data = sample(h, in_order), *renamed = sample(h, turned);
    check_ok(h, bdml_set(h, "scale", "zscore"));
    bdml_model *m = trained(h, data, 3);
    double x[N * D], z[N * 3];
    int32_t own[N], given[N], other[N];
    bdml_rng r = bdml_rng_make(6, 6);
    for (int k = 0; k < N * D; k++) x[k] = data->x[k] + 0.5 * bdml_rng_normal(&r);
    check_ok(h, bdml_transform(h, m, N, x, D, z));
    check_ok(h, bdml_predict(h, m, NULL, N, x, D, own));
    for (int i = 0; i < N; i++) assert_int_equal(own[i], plain_vote(m, m->z, z + 3 * i));
    check_ok(h, bdml_predict(h, m, data, N, x, D, given));
    check_true(memcmp(own, given, sizeof own) == 0);
    check_ok(h, bdml_predict(h, m, renamed, N, x, D, other)); /* classes numbered otherwise */
    check_true(memcmp(own, other, sizeof own) == 0);
    check_ok(h, bdml_set(h, "neighbors", "100000")); /* more than there are */
    check_ok(h, bdml_predict(h, m, NULL, 3, x, D, own));

    strcpy(renamed->class_name[0], "x");
    check_fails(h, bdml_predict(h, m, renamed, N, x, D, other), BDML_ERR_DATA, "class 'x'");
    renamed->d = 3;
    check_fails(h, bdml_predict(h, m, renamed, N, x, D, other), BDML_ERR_DATA, "3 columns");
    renamed->d = D;
    free(m->y);
    m->y = NULL;
    check_fails(h, bdml_predict(h, m, NULL, N, x, D, own), BDML_ERR_DATA,
                "keeps no labelled points");
    bdml_free_model(m);
    bdml_free_dataset(data);
    bdml_free_dataset(renamed);
}

/* Shares of 3 votes and neighbours against the vote and the plain loop; voters that are asked row by row. */
static void shares_and_neighbors_belong_to_the_vote(void **state)
{
    bdml_handle *h = *state;
    enum { K = 4 };
    bdml_dataset *data = sample(h, in_order);
    bdml_model *m = trained(h, data, 3);
    bdml_voters *voters;
    double share[N * CLASSES], one[CLASSES], z[N * 3], distance[N * K];
    int32_t label[N], single, index[N * K];
    check_ok(h, bdml_transform(h, m, N, data->x, D, z));
    check_ok(h, bdml_predict(h, m, data, N, data->x, D, label));
    check_ok(h, bdml_predict_shares(h, m, NULL, N, data->x, D, share));
    check_ok(h, bdml_model_neighbors(h, m, N, data->x, D, K, index, distance));
    check_ok(h, bdml_make_voters(h, m, data, &voters));
    assert_int_equal(bdml_voters_classes(voters), CLASSES);
    for (int i = 0; i < N; i++) {
        double sum = 0.0, mine[CLASSES] = {0};
        for (int k = 0; k < 3; k++) mine[m->y[index[i * K + k]]] += 1.0;
        for (int c = 0; c < CLASSES; c++) {
            check_close(share[i * CLASSES + c], mine[c] / 3, 0);
            sum += share[i * CLASSES + c];
            check_true(share[i * CLASSES + c] <= share[i * CLASSES + label[i]]);
        }
        check_close(sum, 1.0, 1e-15);
        assert_int_equal(index[i * K], i); /* itself */
        for (int k = 0; k < K; k++) {
            double d2 = 0.0;
            for (int j = 0; j < 3; j++) d2 += pow(z[3 * i + j] - m->z[3 * index[i * K + k] + j], 2);
            check_close(distance[i * K + k], d2, 1e-12);
        }
        check_ok(h, bdml_vote(h, voters, 1, data->x + i * D, D, &single, one));
        assert_int_equal(single, label[i]);
        check_true(memcmp(one, share + i * CLASSES, sizeof one) == 0);
    }
    check_ok(h, bdml_vote(h, voters, 1, data->x, D, NULL, one));
    check_fails(h, bdml_vote(h, voters, 1, data->x, D, NULL, NULL), BDML_ERR_ARGUMENT, "NULL");
    check_fails(h, bdml_vote(h, voters, 1, data->x, 1, &single, NULL), BDML_ERR_ARGUMENT, "apart");
    check_fails(h, bdml_vote(h, NULL, 1, data->x, D, &single, NULL), BDML_ERR_ARGUMENT, "voters");
    check_fails(h, bdml_model_neighbors(h, m, 1, data->x, D, 0, index, NULL), BDML_ERR_ARGUMENT,
                "k must be");
    m->points = 0;
    check_fails(h, bdml_model_neighbors(h, m, 1, data->x, D, 1, index, NULL), BDML_ERR_DATA,
                "keeps no points");
    bdml_free_voters(voters);
    bdml_free_voters(NULL);
    bdml_free_model(m);
    bdml_free_dataset(data);
}

static void points_are_kept_within_the_limit(void **state)
{
    bdml_handle *h = *state;
    static const double one[] = {1};
    enum { MANY = 8400000 }; /* 64.1 MiB of doubles */
    double *x = calloc(MANY, sizeof *x);
    bdml_model *m;
    check_ok(h, bdml_model_from_map(h, 1, 1, one, 0, &m));
    check_ok(h, bdml_model_keep_points(h, BDML_AUTO_AUTO, m, MANY, x, NULL));
    assert_int_equal(m->points, 0);
    check_ok(h, bdml_model_keep_points(h, BDML_AUTO_AUTO, m, 1000, x, NULL));
    assert_int_equal(m->points, 1000);
    bdml_free_model(m);
    free(x);
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
    BDML_GO(bdml_model_keep_points(h, BDML_AUTO_AUTO, m, N, x, data->y));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(metric_by_hand),
        handle_test(singular_metric_drops_rows),
        handle_test(kappa_of_a_map),
        handle_test(bad_maps_are_refused),
        handle_test(models_round_trip_to_the_bit),
        handle_test(the_description_is_json),
        handle_test(every_damage_is_noticed),
        handle_test(versions),
        handle_test(forged_headers_are_refused),
        handle_test(forged_models_are_refused),
        handle_test(failed_writes_leave_the_old_file),
        handle_test(files_ignore_the_locale),
        handle_test(transform_equals_plain_loops),
        handle_test(blocks_and_threads_do_not_change_bits),
        handle_test(distances_equal_plain_loops),
        handle_test(distances_in_blocks_have_the_same_bits),
        handle_test(prediction_is_by_the_nearest),
        handle_test(shares_and_neighbors_belong_to_the_vote),
        handle_test(points_are_kept_within_the_limit),
        handle_test(exports_read_back),
        handle_test(allocation_failures_are_clean),
    };
    bdml_handle *h;
    if (bdml_create(&h) != BDML_OK) return 1;
    bdml_la_enter(h); /* as every public call does: BLAS on one thread */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    bdml_la_leave(h);
    bdml_free(h);
    return failed;
}
