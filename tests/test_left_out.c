/* test_left_out.c - formats that a build may leave out are refused by name, with the option that brings them. */
#include "check.h"

#include "data/data.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef BDML_HAVE_MATIO
enum { HAVE_MATIO = true };
#else
enum { HAVE_MATIO = false };
#endif
#ifdef BDML_HAVE_ZIP
enum { HAVE_ZIP = true };
#else
enum { HAVE_ZIP = false };
#endif

/* Refused while the format is told by its first bytes, before anything else is asked of the file. */
static void refuses(bdml_handle *h, const char *name, const char *head, size_t size,
                    const char *text)
{
    char path[] = "/tmp/bdml-left-out-XXXXXX";
    bdml_dataset *data;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head, size), (ssize_t)size);
    close(fd);
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_FORMAT, text);
    assert_null(data);
    check_ok(h, bdml_set(h, "format", name));
    check_fails(h, bdml_read_dataset(h, path, &data), BDML_ERR_FORMAT, text);
    unlink(path);
}

static void mat_files(void **state)
{
    bdml_handle *h = *state;
    if (HAVE_MATIO) skip();
    const char *text = "built without MAT files; build it with cmake -DBDML_WITH_MATIO=ON";
    bdml_row_lists lists;
    refuses(h, "mat", "MATLAB 5.0 MAT-file", 19, text);
    check_fails(h, bdml_mat_lists_read(h, "a.mat", "train", "source", &lists), BDML_ERR_FORMAT,
                text);
}

static void npz_files(void **state)
{
    if (HAVE_ZIP) skip();
    refuses(*state, "npz", "PK\3\4", 4,
            "built without NPZ files; build it with cmake -DBDML_WITH_ZIP=ON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {handle_test(mat_files), handle_test(npz_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
