/* test_constraints.c - constraints from arrays; duplicates and contradictions; what is said of them. */
#include "constraint_notes.h"

#include "problem/problem.h"

/* ---- from arrays --------------------------------------------------------------------------------- */

/* Five rows. Target pairs (0,1), (1,0) again the other way round, (0,1) repeated; impostor pairs
 * (0,2), (2,0) the same constraint, (1,0) a contradiction; triplets (0,1,3), (0,3,1) its opposite,
 * (0,1,3) repeated. Distinct pairs: 01 02 03. */
static void arrays_by_hand(void **state)
{
    bdml_handle *h = *state;
    static const int32_t target[] = {0, 1, 1, 0, 0, 1}, impostor[] = {0, 2, 2, 0, 1, 0};
    static const int32_t triplet[] = {0, 1, 3, 0, 3, 1, 0, 1, 3, 3, 0, 4};
    static const int32_t want[][3] = {{0, -1, 2}, {0, -1, 1}, {0, 1, 3}, {0, 3, 1}, {3, 0, 4}};
    bdml_constraints *c;
    int32_t rows[3];
    check_ok(h, bdml_constraints_from_arrays(h, 5, 3, target, 3, impostor, 4, triplet, &c));
    assert_int_equal(bdml_constraints_targets(c), 2);
    assert_int_equal(bdml_constraints_count(c), 5);
    assert_int_equal(bdml_constraints_duplicates(c), 3);
    assert_int_equal(bdml_constraints_contradictions(c), 2);
    assert_int_equal(c->pairs, 4); /* 01 02 03 34, sorted */
    assert_int_equal(c->pi[3], 3);
    assert_int_equal(c->pj[3], 4);
    for (int t = 0; t < 5; t++) {
        assert_int_equal(bdml_constraints_at(c, t, rows), BDML_OK);
        assert_memory_equal(rows, want[t], sizeof rows);
    }
    assert_int_equal(bdml_constraints_at(c, 5, rows), BDML_ERR_ARGUMENT);
    assert_int_equal(bdml_constraints_at(c, -1, rows), BDML_ERR_ARGUMENT);
    bdml_free_constraints(c);
}

static void arrays_are_checked(void **state)
{
    bdml_handle *h = *state;
    static const int32_t beyond[] = {0, 1, 2, 5}, below[] = {0, -1}, twice[] = {1, 2, 2};
    bdml_constraints *c;
    check_fails(h, bdml_constraints_from_arrays(h, 5, 2, beyond, 0, NULL, 0, NULL, &c),
                BDML_ERR_DATA, "target pair 1: row 5 is not one of 0 to 4");
    assert_null(c);
    check_fails(h, bdml_constraints_from_arrays(h, 5, 0, NULL, 1, below, 0, NULL, &c),
                BDML_ERR_DATA, "impostor pair 0: row -1");
    check_fails(h, bdml_constraints_from_arrays(h, 5, 0, NULL, 0, NULL, 1, twice, &c),
                BDML_ERR_DATA, "triplet 0: row 2 stands twice");
    check_fails(h, bdml_constraints_from_arrays(h, 5, 0, NULL, 3, NULL, 0, NULL, &c),
                BDML_ERR_ARGUMENT, "impostor pairs: 3 of them need an array");
    check_fails(h, bdml_constraints_from_arrays(h, 0, 0, NULL, 0, NULL, 0, NULL, &c),
                BDML_ERR_ARGUMENT, "n must be");
    check_fails(h, bdml_constraints_from_arrays(h, 5, 0, NULL, 0, NULL, 0, NULL, NULL),
                BDML_ERR_ARGUMENT, "out must not be NULL");
    assert_int_equal(bdml_constraints_from_arrays(NULL, 5, 0, NULL, 0, NULL, 0, NULL, &c),
                     BDML_ERR_ARGUMENT);
    check_ok(h,
             bdml_constraints_from_arrays(h, 5, 0, NULL, 0, NULL, 0, NULL, &c)); /* empty is fine */
    assert_int_equal(bdml_constraints_count(c), 0);
    bdml_free_constraints(c);
    assert_int_equal(bdml_constraints_count(NULL), 0);
    bdml_free_constraints(NULL);
}

static void margins_and_weights(void **state)
{
    bdml_handle *h = *state;
    static const int32_t impostor[] = {0, 1, 0, 2};
    double value[] = {0.5, 2.0};
    bdml_constraints *c;
    check_ok(h, bdml_constraints_from_arrays(h, 3, 0, NULL, 2, impostor, 0, NULL, &c));
    assert_null(c->margin);
    check_ok(h, bdml_constraints_set_margins(h, c, value));
    check_ok(h, bdml_constraints_set_weights(h, c, value));
    check_close(c->margin[1], 2.0, 0.0);
    value[1] = 0.0;
    check_fails(h, bdml_constraints_set_margins(h, c, value), BDML_ERR_ARGUMENT,
                "margin of constraint 1 must be finite and above 0, got 0");
    value[1] = (double)NAN;
    check_fails(h, bdml_constraints_set_weights(h, c, value), BDML_ERR_ARGUMENT, "weight of");
    check_close(c->weight[1], 2.0, 0.0); /* a refused value changes nothing */
    check_ok(h, bdml_constraints_set_margins(h, c, NULL));
    assert_null(c->margin);
    check_fails(h, bdml_constraints_set_margins(h, NULL, value), BDML_ERR_ARGUMENT, "NULL");
    bdml_free_constraints(c);
}

/* a: targets 01, 10; (0,1,2), (0,1,3). b: targets 01, 02; (0,1,3) again, pair (2,3), margin 4. */
static void merging_keeps_each_once(void **state)
{
    bdml_handle *h = *state;
    static const int32_t ta[] = {0, 1, 1, 0}, a3[] = {0, 1, 2, 0, 1, 3};
    static const int32_t tb[] = {0, 1, 0, 2}, b2[] = {2, 3}, b3[] = {0, 1, 3};
    static const double margin[] = {4.0, 5.0};
    static const int32_t want[][3] = {{0, 1, 2}, {0, 1, 3}, {2, -1, 3}};
    bdml_constraints *a, *b, *c, *other;
    int32_t rows[3];
    check_ok(h, bdml_constraints_from_arrays(h, 4, 2, ta, 0, NULL, 2, a3, &a));
    check_ok(h, bdml_constraints_from_arrays(h, 4, 2, tb, 1, b2, 1, b3, &b));
    check_ok(h, bdml_constraints_set_margins(h, b, margin));
    check_ok(h, bdml_constraints_merge(h, a, b, &c));
    assert_int_equal(c->targets, 3);
    assert_int_equal(c->m, 3);
    for (int t = 0; t < 3; t++) {
        assert_int_equal(bdml_constraints_at(c, t, rows), BDML_OK);
        assert_memory_equal(rows, want[t], sizeof rows);
        check_close(c->margin[t], t == 2 ? 4.0 : 1.0, 0.0);
    }
    assert_null(c->weight);
    check_ok(h, bdml_constraints_from_arrays(h, 5, 0, NULL, 0, NULL, 0, NULL, &other));
    bdml_free_constraints(c);
    check_fails(h, bdml_constraints_merge(h, a, other, &c), BDML_ERR_ARGUMENT, "cannot be merged");
    assert_null(c);
    bdml_free_constraints(a);
    bdml_free_constraints(b);
    bdml_free_constraints(other);
}

/* Many random triplets against a quadratic search for equal ones. */
static void duplicates_by_brute_force(void **state)
{
    enum { M = 1500, N = 9 };
    bdml_handle *h = *state;
    int32_t rows[3 * M];
    bdml_rng r = bdml_rng_make(3, 3);
    for (int t = 0; t < M; t++) {
        int64_t p[N];
        for (int k = 0; k < N; k++) p[k] = k;
        bdml_rng_shuffle(&r, N, p);
        for (int k = 0; k < 3; k++) rows[3 * t + k] = (int32_t)p[k];
    }
    int64_t kept = 0;
    bdml_constraints *c;
    check_ok(h, bdml_constraints_from_arrays(h, N, 0, NULL, 0, NULL, M, rows, &c));
    for (int t = 0; t < M; t++) {
        bool again = false;
        for (int s = 0; s < t && !again; s++)
            again = memcmp(rows + 3 * s, rows + 3 * t, 3 * sizeof *rows) == 0;
        if (again) continue;
        int32_t at[3];
        assert_int_equal(bdml_constraints_at(c, kept++, at), BDML_OK);
        assert_memory_equal(at, rows + 3 * t, sizeof at);
    }
    assert_int_equal(c->m, kept);
    assert_int_equal(c->duplicates, M - kept);
    assert_int_equal(c->pairs, N * (N - 1) / 2);
    bdml_free_constraints(c);
}

/* ---- what is said ----------------------------------------------------------------------------------- */

static void oddities_are_told(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {0, 0, 0, 1, 5, 5, 9, 2, 7, 6};
    static const int64_t y[] = {0, 0, 1, 0, 1, 0, 2, 1, 0, 1};
    static const int64_t none[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    static const int64_t lone[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    bdml_dataset *data;
    bdml_constraints *c;
    notes said = {""};
    bdml_set_log(h, take_note, &said);
    check_ok(h, bdml_dataset_from_arrays(h, 10, 1, x, 1, y, &data));
    check_ok(h, bdml_mine_constraints(h, data, &c));
    check_said(said, "class '2' has 1 point, so each has 0 of the 3 targets asked for");
    check_said(said, "rows 0 and 2 (from 0) are the same point, once '0' and once '1'");
    check_said(said, "rows 4 and 5 (from 0)");
    assert_int_equal(bdml_constraints_contradictions(c), 2);
    bdml_free_constraints(c);

    check_ok(h, bdml_set(h, "targets", "5"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA,
                "targets = 5 needs a class of at least 6 points, but the largest, class '0', has 5 "
                "points");
    assert_null(c);
    check_ok(h, bdml_set(h, "targets", "2"));
    check_ok(h, bdml_set(h, "impostors", "10"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA,
                "impostors = 10 is more than any point has");
    check_ok(h, bdml_set(h, "rule", "nearest"));
    check_ok(h, bdml_set(h, "targets", "10"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA,
                "10 points have at most 9; set targets lower");
    bdml_free_dataset(data);

    check_ok(h, bdml_set(h, "rule", "class"));
    check_ok(h, bdml_dataset_from_arrays(h, 10, 1, x, 1, NULL, &data));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "no labels");
    bdml_free_dataset(data);
    check_ok(h, bdml_dataset_from_arrays(h, 10, 1, x, 1, none, &data));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "of one class");
    bdml_free_dataset(data);
    check_ok(h, bdml_dataset_from_arrays(h, 10, 1, x, 1, lone, &data));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "has 1 point;");
    bdml_free_dataset(data);
    check_fails(h, bdml_mine_constraints(h, NULL, &c), BDML_ERR_ARGUMENT, "NULL");
}

/* Two far-off classes: no impostor in any ball, no point with both kinds of neighbour. */
static void empty_sets_are_refused(void **state)
{
    bdml_handle *h = *state;
    static const double x[] = {0, 1, 2, 100, 101, 102};
    static const int64_t y[] = {0, 0, 0, 1, 1, 1};
    bdml_dataset *data;
    bdml_constraints *c;
    check_ok(h, bdml_dataset_from_arrays(h, 6, 1, x, 1, y, &data));
    check_ok(h, bdml_set(h, "targets", "2"));
    check_ok(h, bdml_set(h, "rule", "ball"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA,
                "rule ball found no impostor");
    check_ok(h, bdml_set(h, "rule", "nearest"));
    check_fails(h, bdml_mine_constraints(h, data, &c), BDML_ERR_DATA, "rule nearest found no");
    assert_null(c);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(arrays_by_hand),
        handle_test(arrays_are_checked),
        handle_test(margins_and_weights),
        handle_test(merging_keeps_each_once),
        handle_test(duplicates_by_brute_force),
        handle_test(oddities_are_told),
        handle_test(empty_sets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
