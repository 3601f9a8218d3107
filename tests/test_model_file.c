/* test_model_file.c - the file format and every way to damage it. */
#include "sample_model.h"

#include <locale.h>
#include <zlib.h>

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
    check_fails(h, bdml_export_model(h, m, "K", "x.csv"), BDML_ERR_ARGUMENT, "L, M or inverse");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(models_round_trip_to_the_bit),     handle_test(the_description_is_json),
        handle_test(every_damage_is_noticed),          handle_test(versions),
        handle_test(forged_headers_are_refused),       handle_test(forged_models_are_refused),
        handle_test(failed_writes_leave_the_old_file), handle_test(files_ignore_the_locale),
    };
    return cmocka_run_group_tests(tests, enter_blas, leave_blas);
}
