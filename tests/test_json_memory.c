/* test_json_memory.c - results as JSON when jansson runs out of memory: an error, never a shortened result. */
#include <jansson.h>

#include "text_files.h"

/* ---- an allocator that fails once ---------------------------------------------------------------------- */

static int64_t countdown; /* the allocation that fails, counted down; 0: none */

static void *failing_malloc(size_t size)
{
    if (countdown > 0 && --countdown == 0) return NULL;
    return malloc(size);
}

/* ---- results ------------------------------------------------------------------------------------------- */

typedef bdml_status (*make_fn)(bdml_handle *h, const bdml_dataset *data, char **json);

static bdml_status make_adapted(bdml_handle *h, const bdml_dataset *data, char **json)
{
    return bdml_adapt(h, data, data, json);
}

static bdml_dataset *some_points(bdml_handle *h, int classes)
{
    enum { N = 24, D = 3 };
    double x[N * D];
    int64_t y[N];
    bdml_rng r = bdml_rng_make(7, 1);
    bdml_dataset *data;
    for (int i = 0; i < N; i++) {
        y[i] = i % classes;
        for (int j = 0; j < D; j++) x[i * D + j] = 5.0 + (double)y[i] + 0.2 * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, x, D, y, &data));
    return data;
}

/* Times differ from run to run. */
static void drop_times(char *json)
{
    for (char *p = json; (p = strstr(p, "\"fit_seconds\":"));) {
        const char *rest = p + strcspn(p, ",\n");
        memmove(p, rest, strlen(rest) + 1);
    }
}

static void whole_or_error(bdml_handle *h, int classes, make_fn make)
{
    bdml_dataset *data = some_points(h, classes);
    char *whole, *text;
    int64_t failures = 0;
    countdown = 0;
    check_ok(h, make(h, data, &whole));
    drop_times(whole);
    for (int64_t at = 1;; at++) {
        countdown = at;
        bdml_status status = make(h, data, &text);
        bool reached = countdown == 0;
        countdown = 0;
        if (status != BDML_OK) {
            assert_int_equal(status, BDML_ERR_MEMORY);
            assert_null(text);
            failures++;
        } else {
            size_t same = 0;
            drop_times(text);
            while (text[same] && text[same] == whole[same]) same++;
            if (text[same] != whole[same])
                fail_msg("allocation %d: '%.60s' instead of '%.60s'", (int)at, text + same,
                         whole + same);
            bdml_free_bytes(text);
        }
        if (!reached) break;
    }
    check_true(failures > 20); /* the result alone has more values than that */
    bdml_free_bytes(whole);
    bdml_free_dataset(data);
}

static void evaluation(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "methods", "euclidean,whiten"));
    check_ok(h, bdml_set(h, "splits", "2"));
    whole_or_error(h, 2, bdml_evaluate);
}

static void retrieval(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "methods", "whiten"));
    check_ok(h, bdml_set(h, "grid", "3"));
    check_ok(h, bdml_set(h, "splits", "2"));
    whole_or_error(h, 4, bdml_retrieve);
}

static void adaptation(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "methods", "euclidean,whiten"));
    check_ok(h, bdml_set(h, "trials", "2"));
    check_ok(h, bdml_set(h, "dimensions", "2"));
    whole_or_error(h, 2, make_adapted);
}

static void verification(void **state)
{
    bdml_handle *h = *state;
    const char *path = temp_path("json_memory.csv");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i + 2 < 24; i++) fprintf(f, "%d,%d,1\n%d,%d,0\n", i, i + 2, i, i + 1);
    fclose(f);
    check_ok(h, bdml_set(h, "pairs-file", path));
    check_ok(h, bdml_set(h, "methods", "euclidean,whiten"));
    check_ok(h, bdml_set(h, "folds", "2"));
    whole_or_error(h, 2, bdml_verify);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(evaluation),
        handle_test(retrieval),
        handle_test(adaptation),
        handle_test(verification),
    };
    json_set_alloc_funcs(failing_malloc, free);
    return cmocka_run_group_tests_name("json_memory", tests, NULL, NULL);
}
