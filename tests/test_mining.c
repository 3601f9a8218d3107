/* test_mining.c - constraints from labels: the rules by brute force, and the lists of an independent miner. */
#include "constraint_notes.h"

#include "problem/problem.h"

static double square(const bdml_dataset *data, int64_t i, int64_t j)
{
    double sum = 0.0;
    for (int a = 0; a < data->d; a++) {
        double diff = data->x[i * data->d + a] - data->x[j * data->d + a];
        sum += diff * diff;
    }
    return sum;
}

/* Rows nearer to i than j is, ties to the lower number, among those of the kind: 1 same class,
 * 0 other, -1 any. */
static int64_t rank_of(const bdml_dataset *data, int64_t i, int64_t j, int kind)
{
    int64_t before = 0;
    for (int64_t l = 0; l < data->n; l++) {
        double dl = square(data, i, l), dj = square(data, i, j);
        if (l == i || l == j || (kind >= 0 && (data->y[l] == data->y[i]) != kind)) continue;
        before += dl < dj || (dl == dj && l < j);
    }
    return before;
}

/* Whether (i, j) is a target (same class) or impostor pair by the rule, straight from its words. */
static bool belongs(const bdml_dataset *data, int rule, int targets, int impostors, int64_t i,
                    int64_t j)
{
    bool same = data->y[i] == data->y[j];
    if (i == j) return false;
    if (rule == BDML_RULE_NEAREST) return rank_of(data, i, j, -1) < targets;
    if (same) return rank_of(data, i, j, 1) < targets;
    if (rule == BDML_RULE_CLASS) return rank_of(data, i, j, 0) < impostors;
    for (int64_t l = 0; l < data->n; l++) /* inside the ball of some target */
        if (l != i && data->y[l] == data->y[i] && rank_of(data, i, l, 1) < targets &&
            square(data, i, j) <= square(data, i, l))
            return true;
    return false;
}

static bool has(const bdml_constraints *c, int32_t i, int32_t j, int32_t k)
{
    int32_t rows[3];
    for (int64_t t = 0; t < c->m; t++) {
        assert_int_equal(bdml_constraints_at(c, t, rows), BDML_OK);
        if (rows[1] != j) continue;
        if (rows[0] == i && rows[2] == k) return true;
        if (j < 0 && rows[0] == k && rows[2] == i) return true;
    }
    return false;
}

/* All pairs or triplets of the rule are there, and nothing else. */
static void compare_mined(bdml_handle *h, const bdml_dataset *data, const char *rule_name, int rule,
                          int targets, int impostors, const char *kind)
{
    char text[16];
    bdml_constraints *c;
    int64_t n = data->n, triplets = 0, pairs = 0, listed = 0;
    bool *in = malloc((size_t)(n * n) * sizeof *in);
    snprintf(text, sizeof text, "%d", targets);
    check_ok(h, bdml_set(h, "targets", text));
    snprintf(text, sizeof text, "%d", impostors);
    check_ok(h, bdml_set(h, "impostors", text));
    check_ok(h, bdml_set(h, "rule", rule_name));
    check_ok(h, bdml_set(h, "kind", kind));
    check_ok(h, bdml_mine_constraints(h, data, &c));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            in[i * n + j] = belongs(data, rule, targets, impostors, i, j);
            listed += in[i * n + j] && data->y[i] == data->y[j];
        }
    assert_int_equal(c->targets, listed);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            if (data->y[i] == data->y[k]) continue;
            if (k > i) pairs += in[i * n + k] || in[k * n + i];
            if (!in[i * n + k]) continue;
            if (kind[0] == 'p') check_true(has(c, i, -1, k));
            for (int32_t j = 0; j < n && kind[0] == 't'; j++) {
                if (data->y[i] != data->y[j] || !in[i * n + j]) continue;
                check_true(has(c, i, j, k));
                triplets++;
            }
        }
    assert_int_equal(c->m, kind[0] == 't' ? triplets : pairs);
    bdml_free_constraints(c);
    free(in);
}

static void mining_follows_the_rules(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = grid_points(h, 45, 2);
    compare_mined(h, data, "class", BDML_RULE_CLASS, 3, 4, "pair");
    compare_mined(h, data, "class", BDML_RULE_CLASS, 2, 2, "triplet");
    compare_mined(h, data, "nearest", BDML_RULE_NEAREST, 6, 1, "pair");
    compare_mined(h, data, "nearest", BDML_RULE_NEAREST, 6, 1, "triplet");
    compare_mined(h, data, "ball", BDML_RULE_BALL, 3, 1, "pair");
    compare_mined(h, data, "ball", BDML_RULE_BALL, 6, 1,
                  "triplet"); /* balls beyond the first search */
    bdml_free_dataset(data);
}

/* One anchor of 200 rows, 60 seeds: each row 0.3 times, and more than five times one in 10^6 */
static void anchors_are_fair(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = grid_points(h, 200, 3);
    bdml_mining how = {.kind = BDML_KIND_TRIPLET, .targets = 1, .impostors = 1, .anchors = 1};
    int times[200] = {0};
    for (how.seed = 0; how.seed < 60; how.seed++) {
        bdml_constraints *c;
        int32_t rows[3];
        check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &c));
        assert_int_equal(bdml_constraints_at(c, 0, rows), BDML_OK);
        check_true(++times[rows[0]] <= 5);
        bdml_free_constraints(c);
    }
    bdml_free_dataset(data);
}

/* Random anchors and impostors: as many as asked for, of other classes, different ones, the same
 * from the same seed; and the nearest neighbours of the anchors are those of mining all points. */
static void random_mining(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = grid_points(h, 200, 3);
    bdml_mining how = {
        .kind = BDML_KIND_PAIR, .targets = 3, .random_impostors = 10, .anchors = 40, .seed = 5};
    bdml_constraints *a, *b, *all;
    int anchors = 0, of[200] = {0}, impostors = 0;
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &a));
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &b));
    assert_int_equal(a->targets, 120);
    check_true(a->m + a->duplicates == 400);
    check_true(a->m == b->m && memcmp(a->far, b->far, sizeof *a->far * (size_t)a->m) == 0);
    for (int64_t t = 0; t < a->m; t++) {
        int32_t rows[3];
        assert_int_equal(bdml_constraints_at(a, t, rows), BDML_OK);
        check_true(data->y[rows[0]] != data->y[rows[2]]);
    }
    bdml_free_constraints(b);
    how.seed = 6;
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &b));
    check_true(a->m != b->m || memcmp(a->pi, b->pi, sizeof *a->pi * (size_t)a->m) != 0);
    bdml_free_constraints(b);

    how = (bdml_mining){
        .kind = BDML_KIND_TRIPLET, .targets = 3, .impostors = 2, .anchors = 40, .seed = 5};
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &b));
    how.anchors = 0;
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &all));
    assert_int_equal(b->m, 40 * 6);
    assert_int_equal(all->m, 200 * 6);
    for (int64_t t = 0; t < b->m; t++) {
        int32_t rows[3];
        assert_int_equal(bdml_constraints_at(b, t, rows), BDML_OK);
        check_true(has(all, rows[0], rows[1], rows[2]));
        anchors += of[rows[0]]++ == 0;
    }
    assert_int_equal(anchors, 40);
    bdml_free_constraints(a);
    bdml_free_constraints(b);
    bdml_free_constraints(all);

    how = (bdml_mining){.kind = BDML_KIND_PAIR, .targets = 1, .random_impostors = 1000};
    check_ok(h, bdml_mine(h, 200, 3, data->x, 3, data->y, &how, &a)); /* all there are */
    for (int i = 0; i < 200; i++)
        for (int j = i + 1; j < 200; j++) impostors += data->y[i] != data->y[j];
    assert_int_equal(a->m, impostors);
    bdml_free_constraints(a);
    bdml_free_dataset(data);
}

/* ---- the reference lists --------------------------------------------------------------------------- */

static bool reference_path(const char *name, char *path, size_t size)
{
    const char *root = getenv("BDML_DATA");
    if (root)
        snprintf(path, size, "%s/../reference/%s", root, name);
    else
        snprintf(path, size, "%s/../shared/reference/%s", BDML_TEST_SOURCE_DIR, name);
    return access(path, R_OK) == 0;
}

/* Column by column to mean 0 and population standard deviation 1. Iris has exact ties, which the
 * rounding of this very formula decides in the reference: sums, then one division. */
static void zscore(bdml_dataset *data)
{
    double n = (double)data->n;
    for (int a = 0; a < data->d; a++) {
        double mean = 0.0, var = 0.0, *column = data->x + a;
        for (int64_t i = 0; i < data->n; i++) mean += column[i * data->d];
        mean /= n;
        for (int64_t i = 0; i < data->n; i++)
            var += (column[i * data->d] - mean) * (column[i * data->d] - mean);
        double deviation = sqrt(var / n);
        for (int64_t i = 0; i < data->n; i++)
            column[i * data->d] = (column[i * data->d] - mean) / deviation;
    }
}

static void same_constraints(const bdml_constraints *a, const bdml_constraints *b)
{
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->targets, b->targets);
    assert_int_equal(a->pairs, b->pairs);
    assert_memory_equal(a->pi, b->pi, sizeof *a->pi * (size_t)a->pairs);
    assert_memory_equal(a->pj, b->pj, sizeof *a->pj * (size_t)a->pairs);
    assert_memory_equal(a->target, b->target, sizeof *a->target * (size_t)a->targets);
    assert_memory_equal(a->far, b->far, sizeof *a->far * (size_t)a->m);
    assert_memory_equal(a->near, b->near, sizeof *a->near * (size_t)a->m);
}

static void mining_gives_the_reference_lists(void **state)
{
    bdml_handle *h = *state;
    static const char *const sets[] = {"iris", "wine", "diabetes"};
    static const char *const kinds[] = {"pair", "triplet"};
    char name[64], target[4096], impostor[4096];
    if (!reference_path("iris_targets.csv", target, sizeof target)) {
        print_message("skipped: shared/reference is not there\n");
        skip();
    }
    for (int s = 0; s < 3; s++) {
        bdml_dataset *data;
        bdml_constraints *mined, *read;
        snprintf(name, sizeof name, "data/%s.csv", sets[s]);
        check_ok(h, bdml_read_dataset(h, source_path(name), &data));
        zscore(data);
        snprintf(name, sizeof name, "%s_targets.csv", sets[s]);
        check_true(reference_path(name, target, sizeof target));
        snprintf(name, sizeof name, "%s_impostors.csv", sets[s]);
        check_true(reference_path(name, impostor, sizeof impostor));
        for (int k = 0; k < 2; k++) {
            check_ok(h, bdml_set(h, "kind", kinds[k]));
            check_ok(h, bdml_set(h, "targets-file", ""));
            check_ok(h, bdml_set(h, "impostors-file", ""));
            check_ok(h, bdml_mine_constraints(h, data, &mined));
            check_ok(h, bdml_set(h, "targets-file", target));
            check_ok(h, bdml_set(h, "impostors-file", impostor));
            check_ok(h, bdml_mine_constraints(h, data, &read));
            same_constraints(mined, read);
            assert_int_equal(read->targets, 3 * data->n);
            if (k == 1) assert_int_equal(read->m, 9 * data->n);
            bdml_free_constraints(mined);
            bdml_free_constraints(read);
        }
        bdml_free_dataset(data);
    }
}

/* Triplets about the margin: those of rule class whose impostor is not farther than the target by so much, by brute
 * force, for all anchors and for a few; far below any distance there are none, and that is no error. */
static void only_triplets_about_the_margin(void **state)
{
    enum { ROWS = 60, DIMENSION = 3 };
    bdml_handle *h = *state;
    static const double within[] = {1e-9, 0.3, 1.0, 1e9};
    double x[ROWS * DIMENSION];
    int32_t y[ROWS];
    bdml_rng r = bdml_rng_make(8, 0);
    for (int i = 0; i < ROWS * DIMENSION; i++) x[i] = bdml_rng_normal(&r);
    for (int i = 0; i < ROWS; i++) y[i] = i % 3;
    const bdml_dataset data = {.n = ROWS, .d = DIMENSION, .x = x, .y = y, .classes = 3};
    for (int k = 0; k < 4; k++)
        for (int few = 0; few < 2; few++) {
            const bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                                     .rule = BDML_RULE_CLASS,
                                     .targets = 2,
                                     .impostors = 4,
                                     .within = within[k],
                                     .anchors = few ? 20 : 0,
                                     .seed = 3};
            bdml_constraints *c;
            bool anchor[ROWS] = {false};
            int64_t wanted = 0, anchors = 0;
            check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &c));
            for (int64_t t = 0; t < c->m; t++) {
                int32_t rows[3];
                assert_int_equal(bdml_constraints_at(c, t, rows), BDML_OK);
                anchor[rows[0]] = true;
            }
            for (int i = 0; i < ROWS; i++) anchors += anchor[i];
            check_true(!few || anchors <= 20);
            for (int32_t i = 0; i < ROWS; i++)
                for (int32_t j = 0; j < ROWS && (anchor[i] || !few); j++)
                    for (int32_t l = 0; l < ROWS; l++) {
                        bool is = y[i] == y[j] && y[i] != y[l] &&
                                  belongs(&data, BDML_RULE_CLASS, 2, 4, i, j) &&
                                  belongs(&data, BDML_RULE_CLASS, 2, 4, i, l) &&
                                  square(&data, i, l) < square(&data, i, j) + within[k];
                        if (is) check_true(has(c, i, j, l));
                        wanted += is;
                    }
            assert_int_equal(c->m, wanted);
            bdml_free_constraints(c);
        }
    for (int i = 0; i < ROWS; i++) x[i * DIMENSION] += 1e3 * y[i]; /* classes far apart */
    const bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                             .rule = BDML_RULE_CLASS,
                             .targets = 2,
                             .impostors = 4,
                             .within = 1.0};
    bdml_constraints *none;
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &none));
    assert_int_equal(none->m, 0);
    bdml_free_constraints(none);
}

/* Whether all triplets of c whose anchor is one of `of` (NULL: any) are triplets of `in`; *found of them. */
static bool are_in(const bdml_constraints *c, const bool *of, const bdml_constraints *in,
                   int64_t *found)
{
    bool all = true;
    *found = 0;
    for (int64_t t = 0; t < c->m; t++) {
        int32_t rows[3];
        assert_int_equal(bdml_constraints_at(c, t, rows), BDML_OK);
        if (of && !of[rows[0]]) continue;
        all = all && has(in, rows[0], rows[1], rows[2]);
        ++*found;
    }
    return all;
}

/* A share of the triplets about the margin: some of them, each as likely as said, drawn by the seed and for each anchor alone. */
static void a_share_of_the_triplets(void **state)
{
    enum { ROWS = 400, DIMENSION = 3, FEW = 50, MOST = 4 };
    bdml_handle *h = *state;
    double x[ROWS * DIMENSION];
    int32_t y[ROWS];
    bool anchor[ROWS] = {false};
    int64_t found, others = 0;
    bdml_rng r = bdml_rng_make(9, 0);
    for (int i = 0; i < ROWS * DIMENSION; i++) x[i] = bdml_rng_normal(&r);
    for (int i = 0; i < ROWS; i++) y[i] = i % 2;
    bdml_mining how = {.kind = BDML_KIND_TRIPLET,
                       .rule = BDML_RULE_CLASS,
                       .targets = 5,
                       .impostors = 6,
                       .within = 1.0,
                       .seed = 3};
    bdml_constraints *all, *some, *other, *few;
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &all));
    how.most = MOST;
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &some));
    how.seed = 4;
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &other));
    how.seed = 3;
    how.anchors = FEW;
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &few));

    double share = (double)MOST * ROWS / (double)all->m,
           deviation = sqrt((1 - share) * MOST * ROWS);
    check_true(share < 0.5 && are_in(some, NULL, all, &found));
    check_true(fabs((double)some->m - MOST * ROWS) <= 4.0 * deviation); /* binomial */
    check_true(!are_in(some, NULL, other, &found));
    for (int64_t t = 0; t < few->m; t++) {
        int32_t rows[3];
        assert_int_equal(bdml_constraints_at(few, t, rows), BDML_OK);
        others += !anchor[rows[0]];
        anchor[rows[0]] = true;
    }
    check_true(others > FEW / 2 && others <= FEW);
    check_true(fabs((double)few->m - MOST * FEW) <= 4.0 * sqrt((double)MOST * FEW));
    /* the numbers drawn for an anchor are its own: of the two shares one holds the other */
    bool held = are_in(few, NULL, some, &found);
    check_true(held || are_in(some, anchor, few, &found));
    how.most = 1000; /* more than there are */
    how.anchors = 0;
    bdml_free_constraints(other);
    check_ok(h, bdml_mine(h, ROWS, DIMENSION, x, DIMENSION, y, &how, &other));
    assert_int_equal(other->m, all->m);
    bdml_free_constraints(all);
    bdml_free_constraints(some);
    bdml_free_constraints(other);
    bdml_free_constraints(few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(mining_follows_the_rules), handle_test(only_triplets_about_the_margin),
        handle_test(a_share_of_the_triplets),  handle_test(random_mining),
        handle_test(anchors_are_fair),         handle_test(mining_gives_the_reference_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
