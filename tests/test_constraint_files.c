/* test_constraint_files.c - constraints from files: every form of text, every bad line by its number. */
#include "constraint_notes.h"

#include <zlib.h>

#include "problem/problem.h"

static char folder[] = "/tmp/bdml-constraints-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Write a file, name it in a setting, read the constraints of 10 rows, remove the file. */
static bdml_status read_text(bdml_handle *h, const char *setting, const char *text,
                             bdml_constraints **c)
{
    char path[128];
    snprintf(path, sizeof path, "%s/f.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    *c = NULL;
    bdml_status status = bdml_set(h, setting, path);
    if (status == BDML_OK) status = bdml_constraint_files_read(h, &h->options.constraints, 10, c);
    unlink(path);
    return status;
}

static void bad_lines_are_named(void **state)
{
    bdml_handle *h = *state;
    static const struct {
        const char *setting, *text, *message;
    } bad[] = {
        {"triplets-file", "",
         "f.csv: there is no constraint in it; a triplets-file has lines i,j,k"},
        {"triplets-file", "i,j,k\n", "there is no constraint"},
        {"triplets-file", "0,1,2\n3,x,5\n",
         "line 2, column 2: 'x' is not a row number; the data have "
         "10 rows, 0 to 9"},
        {"triplets-file", "0,1,2\n\n3,4,10\n", "line 3, column 3: '10' is not a row number"},
        {"triplets-file", "i,j,k\n-1,2,3\n", "line 2, column 1: '-1'"},
        {"triplets-file", "0,1.5,2\n", "line 1, column 2: '1.5'"},
        {"triplets-file", "0,,2\n", "line 1, column 2: ''"},
        {"triplets-file", "99999999999999999999,1,2\n", "column 1: '99999999999999999999'"},
        {"triplets-file", "1,2,3,4,5\n", "line 1 has 5 columns; a triplets-file has 3: i,j,k"},
        {"triplets-file", "1,2,3,0\n", "line 1, column 4: '0' is not a weight"},
        {"triplets-file", "1,2,3,4\n1,2,4\n", "line 2: every triplet has a weight, or none has"},
        {"triplets-file", "1 2\n", "line 1 has 2 columns"},
        {"triplets-file", "1,2,1\n", "line 1, column 3: row 1 stands there twice"},
        {"triplets-file", "1,2,2\n", "column 3: row 2 stands there twice"},
        {"pairs-file", "1,2,2\n", "line 1, column 3: '2' must be 1 (same class) or 0 (different)"},
        {"pairs-file", "1,2,yes\n", "column 3: 'yes' must be 1"},
        {"pairs-file", "4 4 1\n", "column 2: row 4 stands there twice"},
        {"pairs-file", "1 2 1\n1 3 1\n", "no pair is of different classes (0)"},
        {"pairs-file", "1 2 0\n", "no pair is of the same class (1)"},
        {"pairs-file", "1 2 0\n3 4 1\n", "no row is first in both a target and an impostor pair"},
    };
    bdml_constraints *c;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        check_fails(h, read_text(h, bad[k].setting, bad[k].text, &c), BDML_ERR_DATA,
                    bad[k].message);
        assert_null(c);
        check_ok(h, bdml_set(h, bad[k].setting, ""));
    }
}

static void combinations_are_checked(void **state)
{
    bdml_handle *h = *state;
    bdml_constraints *c;
    check_fails(h, read_text(h, "targets-file", "0 1\n", &c), BDML_ERR_ARGUMENT,
                "give impostors-file too, or pairs-file or triplets-file");
    check_ok(h, bdml_set(h, "targets-file", ""));
    check_fails(h, read_text(h, "impostors-file", "0 1\n", &c), BDML_ERR_ARGUMENT,
                "give targets-file too");
    check_ok(h, bdml_set(h, "impostors-file", ""));
    check_ok(h, bdml_set(h, "kind", "pair"));
    check_fails(h, read_text(h, "triplets-file", "0 1 2\n", &c), BDML_ERR_ARGUMENT,
                "set kind triplet");
    check_ok(h, bdml_set(h, "triplets-file", "/nonexistent/file"));
    check_ok(h, bdml_set(h, "kind", "triplet"));
    check_fails(h, bdml_constraint_files_read(h, &h->options.constraints, 10, &c), BDML_ERR_IO,
                "/nonexistent/file");
}

/* The same triplets however they are written. */
static void forms_of_text(void **state)
{
    bdml_handle *h = *state;
    static const char *const good[] = {
        "0,1,2\n3,4,5\n",
        "i,j,k\n0,1,2\n3,4,5",
        "\357\273\2770;1;2\r\n3;4;5\r\n",
        "  0\t1  2 \n\n# note\n3 4 5\n",
        "anchor near far\n 0 , 1 , 2\n3,4 ,5\n0,1,2\n",
    };
    bdml_constraints *c;
    int32_t rows[3];
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        check_ok(h, read_text(h, "triplets-file", good[k], &c));
        assert_int_equal(c->m, 2);
        assert_int_equal(c->targets, 2); /* the near pairs */
        assert_int_equal(c->duplicates, k == 4);
        assert_int_equal(bdml_constraints_at(c, 1, rows), BDML_OK);
        check_true(rows[0] == 3 && rows[1] == 4 && rows[2] == 5);
        bdml_free_constraints(c);
    }
}

static void gzip_is_read(void **state)
{
    bdml_handle *h = *state;
    char path[128];
    bdml_constraints *c;
    snprintf(path, sizeof path, "%s/f.csv.gz", folder);
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    check_true(gzputs(f, "i,j,same\n0,1,1\n0,2,0\n0,3,1\n0,1,0\n") > 0);
    gzclose(f);
    check_ok(h, bdml_set(h, "pairs-file", path));
    bdml_status status = bdml_constraint_files_read(h, &h->options.constraints, 10, &c);
    unlink(path);
    check_ok(h, status);
    /* targets 01 03, impostors 02 01: triplets (0,1,2), (0,3,2), (0,3,1); 01 is on both sides */
    assert_int_equal(c->m, 3);
    assert_int_equal(c->targets, 2);
    assert_int_equal(c->contradictions, 1);
    bdml_free_constraints(c);
}

/* Files about real points: rows 0 and 1 are the same point and asked to be far apart. */
static void impossible_constraints_are_told(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {4, -0.0, 4, 0, 5, 1, 6, 2};
    char path[128];
    bdml_dataset *data;
    bdml_constraints *c;
    notes said = {""};
    bdml_set_log(h, take_note, &said);
    check_ok(h, bdml_dataset_from_arrays(h, 4, 2, x, 2, NULL, &data)); /* files need no labels */
    snprintf(path, sizeof path, "%s/f.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("3 2 1\n3 1 0\n0 1 0\n0 2 1\n", f);
    fclose(f);
    check_ok(h, bdml_set(h, "pairs-file", path));
    check_ok(h, bdml_set(h, "kind", "pair"));
    bdml_status status = bdml_mine_constraints(h, data, &c);
    unlink(path);
    check_ok(h, status);
    assert_int_equal(c->m, 2);
    assert_int_equal(bdml_constraints_contradictions(c), 1);
    check_said(said, "rows 0 and 1 (from 0) are the same point, so no metric can part them");
    bdml_free_constraints(c);
    bdml_free_dataset(data);
}

/* ---- memory ------------------------------------------------------------------------------------------- */

/* Fail the 1st, 2nd, ... allocation of a call until it succeeds. */
#define sweep(h, call, result)                                                        \
    do {                                                                              \
        bdml_status s_ = BDML_ERR_MEMORY;                                             \
        for (int64_t at_ = 1; s_ != BDML_OK; at_++) {                                 \
            (h)->fail_alloc = at_;                                                    \
            s_ = (call);                                                              \
            check_true(s_ == BDML_OK || (s_ == BDML_ERR_MEMORY && (result) == NULL)); \
        }                                                                             \
        (h)->fail_alloc = 0;                                                          \
        bdml_free_constraints(result);                                                \
    } while (0)

static void failures_leave_nothing_behind(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = grid_points(h, 40, 2);
    static const int32_t triplet[] = {0, 1, 2, 3, 2, 1};
    bdml_constraints *c, *a;
    bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                       .targets = 2,
                       .impostors = 2,
                       .anchors = 10,
                       .random_impostors = 3};
    sweep(h, bdml_constraints_from_arrays(h, 4, 1, triplet, 1, triplet, 2, triplet, &c), c);
    sweep(h, bdml_mine(h, 40, 2, data->x, 2, data->y, &how, &c), c);
    sweep(h, bdml_mine_constraints(h, data, &c), c);
    check_ok(h, bdml_mine_constraints(h, data, &a));
    sweep(h, bdml_constraints_merge(h, a, a, &c), c);
    bdml_free_constraints(a);
    check_ok(h, bdml_set(h, "rule", "ball"));
    sweep(h, bdml_mine_constraints(h, data, &c), c);
    sweep(h, read_text(h, "pairs-file", "0 1 1\n0 2 0\n", &c), c);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(bad_lines_are_named),
        handle_test(combinations_are_checked),
        handle_test(forms_of_text),
        handle_test(gzip_is_read),
        handle_test(impossible_constraints_are_told),
        handle_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
