/* binary_files.h - binary files for the tests of readers */
#ifndef BDML_TESTS_BINARY_FILES_H
#define BDML_TESTS_BINARY_FILES_H

#include "hostile/make.h"

#include "data/data.h"

#include <float.h>
#include <matio.h>
#include <sys/stat.h>

static inline bdml_dataset *read_ok(bdml_handle *h, const char *path)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_read_dataset(h, path, &data));
    assert_string_equal(bdml_last_error(h), "");
    return data;
}

static inline void check_rows(const bdml_dataset *data, int64_t n, int d, const double *x)
{
    assert_int_equal(bdml_dataset_points(data), n);
    assert_int_equal(bdml_dataset_dimension(data), d);
    for (int64_t i = 0; i < n * d; i++)
        if (memcmp(&bdml_dataset_rows(data)[i], &x[i], sizeof *x) != 0 &&
            bdml_dataset_rows(data)[i] != x[i])
            fail_msg("value %lld is %.17g, wanted %.17g", (long long)i, bdml_dataset_rows(data)[i],
                     x[i]);
}

static inline void check_file(bdml_handle *h, const char *path, int64_t n, int d, const double *x)
{
    bdml_dataset *data = read_ok(h, path);
    check_rows(data, n, d, x);
    bdml_free_dataset(data);
}

/* Names of the labels, row by row. */
static inline void check_labels(const bdml_dataset *data, const char *const *name)
{
    assert_non_null(bdml_dataset_labels(data));
    for (int64_t i = 0; i < bdml_dataset_points(data); i++)
        assert_string_equal(bdml_dataset_class_name(data, bdml_dataset_labels(data)[i]), name[i]);
}

static inline void check_refused(bdml_handle *h, const char *path, const char *text)
{
    bdml_dataset *data;
    bdml_status s = bdml_read_dataset(h, path, &data);
    if (s != BDML_ERR_DATA && s != BDML_ERR_FORMAT)
        fail_msg("%s: got '%s' (%s)", path, bdml_status_text(s), bdml_last_error(h));
    if (!strstr(bdml_last_error(h), text))
        fail_msg("message '%s' lacks '%s'", bdml_last_error(h), text);
    assert_null(data);
}

/* Read with `path` on standard input, through a pipe that a child fills. */
static inline bdml_status read_piped(bdml_handle *h, const char *path, bdml_dataset **out)
{
    char command[600];
    snprintf(command, sizeof command, "cat '%s'", path);
    FILE *pipe_end = popen(command, "r");
    assert_non_null(pipe_end);
    int keep = dup(STDIN_FILENO);
    assert_true(dup2(fileno(pipe_end), STDIN_FILENO) >= 0);
    bdml_status status = bdml_read_dataset(h, "-", out);
    if (keep >= 0) {
        dup2(keep, STDIN_FILENO);
        close(keep);
    } else {
        close(STDIN_FILENO);
    }
    pclose(pipe_end);
    return status;
}

static const double SIX[6] = {1, 2, 3, 4, 5, 6};

static inline void put_item(bytes *out, char kind, int size, double v, bool big)
{
    if (kind == 'f' && size == 8)
        put_double(out, v, big);
    else if (kind == 'f')
        put_float(out, (float)v, big);
    else if (kind == 'u' || kind == 'b')
        put_int(out, (uint64_t)v, size, big);
    else
        put_int(out, (uint64_t)(int64_t)v, size, big);
}

static inline void keep_log(void *user, bdml_log_level level, const char *line)
{
    (void)level;
    snprintf(user, 1024, "%s", line);
}

#endif
