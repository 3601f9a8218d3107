/* check.h - cmocka and what we add to it: doubles compared with a stated tolerance, calls that must
 * succeed, data outside the repository. */
#ifndef BDML_TESTS_CHECK_H
#define BDML_TESTS_CHECK_H

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

#include "base/base.h"

/* |a - b| <= tol; prints the expression, both values and the tolerance. */
#define check_close(a, b, tol)                                                                 \
    do {                                                                                       \
        double a_ = (a), b_ = (b), tol_ = (tol);                                               \
        if (!(fabs(a_ - b_) <= tol_))                                                          \
            fail_msg("%s = %.17g, %s = %.17g, differ by %.3g, tolerance %.3g", #a, a_, #b, b_, \
                     fabs(a_ - b_), tol_);                                                     \
    } while (0)

#define check_true(expression)                                    \
    do {                                                          \
        if (!(expression)) fail_msg("not true: %s", #expression); \
    } while (0)

/* The call must give BDML_OK; its error text is shown when it does not. */
#define check_ok(h, call)                                                            \
    do {                                                                             \
        bdml_status s_ = (call);                                                     \
        if (s_ != BDML_OK)                                                           \
            fail_msg("%s: %s: %s", #call, bdml_status_text(s_), bdml_last_error(h)); \
    } while (0)

/* The call must fail with this status and a message that contains `text`. */
#define check_fails(h, call, status, text)                                              \
    do {                                                                                \
        bdml_status s_ = (call);                                                        \
        if (s_ != (status))                                                             \
            fail_msg("%s: got '%s' (%s), wanted '%s'", #call, bdml_status_text(s_),     \
                     bdml_last_error(h), bdml_status_text(status));                     \
        if (!strstr(bdml_last_error(h), (text)))                                        \
            fail_msg("%s: message '%s' lacks '%s'", #call, bdml_last_error(h), (text)); \
    } while (0)

/* cmocka's setup and teardown: *state is a fresh handle. */
static inline int make_handle(void **state)
{
    return bdml_create((bdml_handle **)state) == BDML_OK ? 0 : -1;
}
static inline int drop_handle(void **state)
{
    bdml_free(*state);
    return 0;
}
#define handle_test(f) cmocka_unit_test_setup_teardown(f, make_handle, drop_handle)

/* A file of the repository: source_path("data/wine.csv"). Static buffer, overwritten. */
static inline const char *source_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", BDML_TEST_SOURCE_DIR, name);
    return path;
}

/* A file of the data folder that is not in the repository ($BDML_DATA, else ../shared/data beside
 * the source), or NULL, in which case the test says so and skips. */
static inline const char *extra_data(const char *name)
{
    static char path[4096];
    const char *root = getenv("BDML_DATA");
    if (root)
        snprintf(path, sizeof path, "%s/%s", root, name);
    else
        snprintf(path, sizeof path, "%s/../shared/data/%s", BDML_TEST_SOURCE_DIR, name);
    if (access(path, R_OK) == 0) return path;
    print_message("skipped: %s is not there; set BDML_DATA to the data folder\n", name);
    return NULL;
}

/* Optimum of the problem in a file in SDPA's sparse format (of the minimum: their sign turned), by CSDP; NAN
 * where that is not installed. The file is removed. */
static inline double csdp_optimum(const char *path)
{
    char command[256], line[256];
    double value = NAN;
    snprintf(command, sizeof command, "csdp %s 2>/dev/null", path);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe))
        if (sscanf(line, "Primal objective value: %lf", &value) == 1) value = -value;
    if (pipe) pclose(pipe);
    unlink(path);
    if (isnan(value)) print_message("skipped: csdp is not installed\n");
    return value;
}

#endif
