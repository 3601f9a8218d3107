/* test_constraints.c - constraints from arrays, labels and files; duplicates and contradictions. */
#include "check.h"

#include <zlib.h>

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

/* ---- mining --------------------------------------------------------------------------------------- */

/* Points on a small grid, so that there are ties, in three classes. */
static bdml_dataset *grid_points(bdml_handle *h, int64_t n, int d)
{
    bdml_rng r = bdml_rng_make(17, (uint64_t)n);
    double *x = malloc(sizeof *x * (size_t)(n * d));
    int64_t *y = malloc(sizeof *y * (size_t)n);
    bdml_dataset *data;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (int64_t)bdml_rng_below(&r, 3);
        for (int a = 0; a < d; a++) x[i * d + a] = (double)bdml_rng_below(&r, 7) + (double)y[i];
    }
    check_ok(h, bdml_dataset_from_arrays(h, n, d, x, d, y, &data));
    free(x), free(y);
    return data;
}

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

/* ---- what is said ----------------------------------------------------------------------------------- */

typedef struct notes {
    char text[4096];
} notes;

static void take_note(void *user, bdml_log_level level, const char *line)
{
    notes *n = user;
    size_t used = strlen(n->text);
    (void)level;
    snprintf(n->text + used, sizeof n->text - used, "%s\n", line);
}

#define check_said(n, part)                                                           \
    do {                                                                              \
        if (!strstr((n).text, (part))) fail_msg("'%s' lacks '%s'", (n).text, (part)); \
    } while (0)

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

/* ---- files ------------------------------------------------------------------------------------------- */

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
        {"triplets-file", "1,2,3,4\n", "line 1 has 4 columns; a triplets-file has 3: i,j,k"},
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
        handle_test(arrays_by_hand),
        handle_test(arrays_are_checked),
        handle_test(margins_and_weights),
        handle_test(merging_keeps_each_once),
        handle_test(duplicates_by_brute_force),
        handle_test(mining_follows_the_rules),
        handle_test(random_mining),
        handle_test(anchors_are_fair),
        handle_test(oddities_are_told),
        handle_test(empty_sets_are_refused),
        handle_test(mining_gives_the_reference_lists),
        handle_test(bad_lines_are_named),
        handle_test(combinations_are_checked),
        handle_test(forms_of_text),
        handle_test(gzip_is_read),
        handle_test(impossible_constraints_are_told),
        handle_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
