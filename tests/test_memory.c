/* test_memory.c - what does not fit is told before it is taken: the estimate, what is free, what would fit. The machine's free
 * memory is pretended (handle->pretend_free); tests/test_memory_limit.sh has real limits. */
#include "check.h"
#include "text_files.h"

#include "data/data.h"

#include <omp.h>

static const double MIB = 1048576.0;

static bdml_handle *handle(double free)
{
    bdml_handle *h;
    assert_int_equal(bdml_create(&h), BDML_OK);
    h->pretend_free = free;
    return h;
}

static void says(bdml_handle *h, const char *text)
{
    if (!strstr(bdml_last_error(h), text)) fail_msg("'%s' lacks '%s'", bdml_last_error(h), text);
}

static void machine_tells(void **state)
{
    (void)state;
    bdml_handle *h = handle(0.0);
    double free = bdml_memory_free(h);
    assert_true(free > MIB && !isnan(free));
    assert_true(free < 1e15); /* Linux tells */
    bdml_free(h);
}

static void estimates(void **state)
{
    (void)state;
    char text[BDML_BYTES_SIZE];
    bdml_handle *h = handle(100 * MIB);
    assert_string_equal(bdml_bytes_text(1.5 * 1024 * MIB, text), "1.5 GiB");
    assert_string_equal(bdml_bytes_text(0.25 * MIB, text), "0.3 MiB");
    check_ok(h, bdml_memory_check(h, 100 * MIB, false, "a thing", ""));
    check_ok(h, bdml_memory_check(h, 50 * MIB, true, "a thing", "")); /* half of it by default */
    assert_int_equal(bdml_memory_check(h, 51 * MIB, true, "a thing", "halve it"), BDML_ERR_MEMORY);
    says(h, "a thing needs about 51.0 MiB of memory, and half of what is free are 50.0 MiB; "
            "--memory 51 "
            "allows it, or: halve it");
    assert_int_equal(bdml_memory_check(h, 101 * MIB, true, "a thing", "halve it"), BDML_ERR_MEMORY);
    says(h, "a thing needs about 101.0 MiB of memory, and 100.0 MiB are free; halve it");
    check_ok(h, bdml_set(h, "memory", "32")); /* given: what works beside the data keeps to it */
    check_ok(h, bdml_memory_check(h, 33 * MIB, false, "a thing", ""));
    check_ok(h, bdml_memory_check(h, 32 * MIB, true, "a thing", ""));
    assert_int_equal(bdml_memory_check(h, 32.5 * MIB, true, "a thing", ""), BDML_ERR_MEMORY);
    says(h, "--memory allows 32.0 MiB; raise it to 33");
    bdml_need need = {.rows = 20 * MIB,
                      .fixed = 4 * MIB,
                      .blocks = 50 * MIB,
                      .advice = "a smaller one"};
    double before, within;
    check_ok(h, bdml_memory_take(h, &need, "a thing", 100, &before));
    assert_int_equal(bdml_memory(h), 8 << 20); /* blocks have what is left */
    check_close(bdml_memory_room(h), 8 * MIB, 0.0);
    check_close(h->memory_estimate, 32 * MIB, 0.0);
    /* another beside it: of its 100 rows, 3 MiB of 20 are left for rows */
    assert_int_equal(bdml_memory_take(h, &need, "another", 100, &within), BDML_ERR_MEMORY);
    says(h, "another needs about 25.0 MiB of memory, and --memory allows 8.0 MiB; raise it to 49, "
            "or: about "
            "15 rows, a smaller one");
    bdml_memory_release(h, before);
    assert_int_equal(bdml_memory(h), 32 << 20);
    bdml_free(h);
}

static void blocks(void **state)
{
    (void)state;
    bdml_handle *h = handle(70 * MIB);
    char *p = NULL, *q;
    size_t capacity = 0;
    assert_null(bdml_alloc(h, 71, 1 << 20));
    says(h, "71.0 MiB are wanted in one piece, and 70.0 MiB are free");
    check_ok(h, bdml_grow(h, &p, &capacity, 69 << 20, 1));
    h->pretend_free = 65 * MIB;
    check_ok(h, bdml_grow(h, &p, &capacity, 80 << 20, 1)); /* twice as much would not be there */
    assert_true(capacity >= 80 << 20 && capacity < 100 << 20);
    assert_null(bdml_realloc(h, p, 300, 1 << 20));
    q = bdml_realloc(h, p, 1, 1); /* what becomes smaller is not asked */
    assert_non_null(q);
    free(q);
    bdml_free(h);
}

static void text_by_its_first_rows(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    bdml_handle *h = handle(100000.0);
    bdml_dataset *data;
    char path[64];
    strcpy(path, "/tmp/bdml-memory-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    fputs("a,b,class\n", f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d.5,%d.25,%c\n", 1000 + i % 1000, i % 10, "xy"[i % 2]);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(bdml_read_dataset(h, path, &data), BDML_ERR_MEMORY);
    const char *about = strstr(bdml_last_error(h), "reading about ");
    assert_non_null(about);
    long rows = strtol(about + strlen("reading about "), NULL, 10);
    assert_true(rows > ROWS - ROWS / 50 && rows < ROWS + ROWS / 50);
    says(h, "rows of 2 values needs about 0.8 MiB of memory");
    says(h, "about 5000 such rows would fit"); /* 100000 / (2 * 8 + 4) */
    h->pretend_free = ROWS * 20.0 * 1.1;
    check_ok(h, bdml_read_dataset(h, path, &data));
    assert_int_equal(bdml_dataset_points(data), ROWS);
    /* The same data in memory: a split and what is made of it would not fit. */
    char *json;
    h->pretend_free = 1000.0;
    check_ok(h, bdml_set(h, "methods", "euclidean"));
    assert_int_equal(bdml_evaluate(h, data, &json), BDML_ERR_MEMORY);
    says(h, "evaluate needs about 1.8 MiB of memory");
    bdml_free_dataset(data);
    unlink(path);
    bdml_free(h);
}

/* ---- jobs beside each other ----------------------------------------------------------------------------------- */

typedef struct crowd {
    int now, most, done;
} crowd;

static bdml_status attend(bdml_handle *own, void *user, int64_t job)
{
    (void)own, (void)job;
    crowd *c = user;
    int n;
#pragma omp atomic capture
    n = ++c->now;
#pragma omp critical(crowd)
    c->most = BDML_MAX(c->most, n);
    usleep(2000);
#pragma omp atomic
    c->now--;
#pragma omp atomic
    c->done++;
    return BDML_OK;
}

static void fewer_at_a_time(void **state)
{
    (void)state;
    bdml_handle *h = handle(25 * MIB);
    crowd c = {0};
    bdml_jobs jobs = {.what = "a crowd",
                      .total = 12,
                      .count = 12,
                      .workers = 4,
                      .run = attend,
                      .user = &c,
                      .bytes = 10 * MIB};
    check_ok(h, bdml_jobs_run(h, &jobs));
    assert_int_equal(c.done, 12);
    assert_true(c.most <= 2);
    jobs.bytes = 26 * MIB;
    assert_int_equal(bdml_jobs_run(h, &jobs), BDML_ERR_MEMORY);
    says(h, "a crowd needs about 26.0 MiB of memory, and 25.0 MiB are free");
    assert_int_equal(c.done, 12);
    bdml_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_tells),   cmocka_unit_test(estimates),
        cmocka_unit_test(blocks),          cmocka_unit_test(text_by_its_first_rows),
        cmocka_unit_test(fewer_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
