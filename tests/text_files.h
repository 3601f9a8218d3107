/* text_files.h - files of text for the tests of readers and writers */
#ifndef BDML_TESTS_TEXT_FILES_H
#define BDML_TESTS_TEXT_FILES_H

#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include "data/data.h"

static inline const char *temp_path(const char *name)
{
    static char path[8][4096];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/text-%ld-%s", BDML_TEST_BINARY_DIR, (long)getpid(), name);
    return p;
}

static inline const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = temp_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static inline bdml_dataset *read_text(bdml_handle *h, const char *name, const char *text)
{
    bdml_dataset *data = NULL;
    const char *path = write_text(name, text);
    bdml_status status = bdml_read_dataset(h, path, &data);
    unlink(path);
    check_ok(h, status);
    return data;
}

/* Reading `text` must fail with this status; the message must name the file and contain `message`. */
static inline void must_refuse(bdml_handle *h, const char *name, const char *text,
                               bdml_status status, const char *message)
{
    bdml_dataset *data = (bdml_dataset *)h;
    const char *path = write_text(name, text);
    bdml_status got = bdml_read_dataset(h, path, &data);
    unlink(path);
    check_fails(h, got, status, message);
    if (!strstr(bdml_last_error(h), path)) fail_msg("no file in '%s'", bdml_last_error(h));
    assert_null(data);
    assert_null(strchr(bdml_last_error(h), '\n'));
}

static inline void set(bdml_handle *h, const char *name, const char *value)
{
    check_ok(h, bdml_set(h, name, value));
}

static inline void same_data(const bdml_dataset *a, const bdml_dataset *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->classes, b->classes);
    assert_memory_equal(a->x, b->x, (size_t)a->n * (size_t)a->d * sizeof(double));
    assert_int_equal(!a->y, !b->y);
    if (a->y) assert_memory_equal(a->y, b->y, (size_t)a->n * sizeof(int32_t));
    for (int c = 0; c < a->classes; c++) assert_string_equal(a->class_name[c], b->class_name[c]);
    check_true(bdml_dataset_fingerprint(a) == bdml_dataset_fingerprint(b));
}

/* Values and classes of a small file, row by row. */
static inline void check_rows(const bdml_dataset *data, int64_t n, int d, const double *x,
                              const char *const *class_name)
{
    assert_int_equal(data->n, n);
    assert_int_equal(data->d, d);
    for (int64_t k = 0; k < n * d; k++) check_true(data->x[k] == x[k]);
    if (!class_name) assert_null(data->y);
    for (int64_t i = 0; i < n && class_name; i++)
        assert_string_equal(data->class_name[data->y[i]], class_name[i]);
}

typedef struct logged {
    char text[4096];
} logged;

static inline void keep_log(void *user, bdml_log_level level, const char *line)
{
    logged *l = user;
    (void)level;
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%s\n", line);
}

#endif
