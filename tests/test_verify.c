/* test_verify.c - verification of pairs: thresholds and ROC curves against brute force, folds, no way
 * from the tested pairs into metric, threshold or PCA, and the methods made for pairs. */
#include "check.h"

#include <jansson.h>

#include "baselines/pairwise.h"
#include "evaluate/evaluate.h"
#include "linalg/linalg.h"
#include "tables.h"

static char folder[] = "/tmp/bdml-verify-XXXXXX";

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

/* ---- threshold and ROC ------------------------------------------------------------------------------------ */

static double accuracy_at(int n, const double *score, const int32_t *same, double threshold)
{
    int right = 0;
    for (int k = 0; k < n; k++) right += (score[k] >= threshold) == (same[k] == 1);
    return 100.0 * right / n;
}

/* Scores from few values, so that many are equal; every threshold is tried. */
static void threshold_is_the_best(void **state)
{
    bdml_handle *h = *state;
    bdml_rng r = bdml_rng_make(1, 2);
    for (int trial = 0; trial < 200; trial++) {
        enum { MOST = 30 };
        int n = 1 + (int)bdml_rng_below(&r, MOST), values = 1 + (int)bdml_rng_below(&r, 12);
        double score[MOST], best = 0.0;
        int32_t same[MOST];
        for (int k = 0; k < n; k++) {
            score[k] = (double)bdml_rng_below(&r, (uint64_t)values) - 5.0;
            same[k] = bdml_rng_uniform(&r) < 0.3 + 0.05 * score[k] + 0.2;
        }
        for (int v = -7; v <= 8; v++) best = fmax(best, accuracy_at(n, score, same, v - 0.5));
        bdml_calibration c = {0};
        check_ok(h, bdml_find_threshold(h, n, score, same, &c));
        check_close(c.accuracy, best, 0.0);
        check_close(accuracy_at(n, score, same, c.threshold), best, 0.0);
        assert_int_equal(c.pairs, n);
    }
}

static void threshold_at_the_ends(void **state)
{
    bdml_handle *h = *state;
    const double score[] = {1e300, -1e300, 3.0};
    const int32_t all[] = {1, 1, 1}, none[] = {0, 0, 0};
    bdml_calibration c = {0};
    check_ok(h, bdml_find_threshold(h, 3, score, all, &c));
    check_close(c.accuracy, 100.0, 0.0);
    check_true(c.threshold <= -1e300 && isfinite(c.threshold));
    check_ok(h, bdml_find_threshold(h, 3, score, none, &c));
    check_true(c.threshold > 1e300 && isfinite(c.threshold));
    /* neighbouring doubles: the threshold must still part them */
    const double close[] = {1.0, nextafter(1.0, 2.0)};
    const int32_t answer[] = {0, 1};
    check_ok(h, bdml_find_threshold(h, 2, close, answer, &c));
    check_close(accuracy_at(2, close, answer, c.threshold), 100.0, 0.0);
    /* 2.5 and what lies below 1 are right for two of three each: the first of them, from the top */
    const double tied[] = {3.0, 2.0, 1.0};
    const int32_t mixed[] = {1, 0, 1};
    check_ok(h, bdml_find_threshold(h, 3, tied, mixed, &c));
    check_close(c.threshold, 2.5, 0.0);
    const double bad[] = {0.0, (double)NAN};
    check_fails(h, bdml_find_threshold(h, 2, bad, answer, &c), BDML_ERR_DATA, "pair 1");
}

/* Descending: same 5, different 4, same 3 and different 3, same 2, different 1. Corners (0,0) (0,1/3)
 * (1/3,1/3) (2/3,2/3) (2/3,1) (1,1). Couples in order: 5 beats 3 different ones, 3 beats 1 and ties with 1,
 * 2 beats 1: 5.5 of 9. fp = 1 - tp on the line from (1/3,1/3) to (2/3,2/3): at 1/2. */
static void roc_by_hand(void **state)
{
    bdml_handle *h = *state;
    const double score[] = {3, 5, 1, 4, 3, 2};
    const int32_t same[] = {1, 1, 0, 0, 0, 1};
    bdml_roc roc;
    check_ok(h, bdml_roc_measure(h, 6, score, same, &roc));
    check_close(roc.auc, 5.5 / 9.0, 1e-15);
    check_close(roc.eer, 0.5, 1e-15);
    check_close(roc.tp[0], 1.0 / 3.0, 1e-15);
    check_close(roc.tp[100], 1.0 / 3.0, 1e-15); /* fp 0.5 */
    check_close(roc.tp[150], 1.0, 1e-15);       /* fp 0.75: the corner (2/3, 1) is allowed */
    check_close(roc.tp[BDML_ROC_POINTS - 1], 1.0, 0.0);
    const int32_t one[] = {1, 1, 1, 1, 1, 1};
    check_fails(h, bdml_roc_measure(h, 6, score, one, &roc), BDML_ERR_DATA, "6 are the same");
    /* in perfect order, and upside down */
    const double up[] = {1, 2, 3, 4, 5, 6}, down[] = {6, 5, 4, 3, 2, 1};
    const int32_t order[] = {0, 0, 0, 1, 1, 1};
    check_ok(h, bdml_roc_measure(h, 6, up, order, &roc));
    check_true(roc.auc == 1.0 && roc.eer == 0.0 && roc.tp[0] == 1.0);
    check_ok(h, bdml_roc_measure(h, 6, down, order, &roc));
    check_true(roc.auc == 0.0 && roc.eer == 1.0 && roc.tp[0] == 0.0);
}

static void roc_by_counting(void **state)
{
    bdml_handle *h = *state;
    enum { N = 60 };
    bdml_rng r = bdml_rng_make(3, 4);
    for (int trial = 0; trial < 30; trial++) {
        double score[N], couples = 0.0, right = 0.0;
        int32_t same[N];
        int sames = 0;
        for (int k = 0; k < N; k++) {
            same[k] = k < 2 ? k : (int32_t)bdml_rng_below(&r, 2);
            sames += same[k];
            score[k] = (double)bdml_rng_below(&r, 20) + 4.0 * same[k];
        }
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                if (!same[a] || same[b]) continue;
                couples += 1.0;
                right += score[a] > score[b] ? 1.0 : score[a] == score[b] ? 0.5 : 0.0;
            }
        bdml_roc roc;
        check_ok(h, bdml_roc_measure(h, N, score, same, &roc));
        check_close(roc.auc, right / couples, 1e-13);
        for (int k = 0; k < BDML_ROC_POINTS; k++) {
            double best = 0.0;
            for (int t = -1; t <= 24; t++) {
                int tp = 0, fp = 0;
                for (int i = 0; i < N; i++)
                    if (score[i] >= t + 0.5) same[i] ? tp++ : fp++;
                if ((double)fp / (N - sames) <= bdml_roc_rate(k))
                    best = fmax(best, (double)tp / sames);
            }
            check_close(roc.tp[k], best, 1e-13);
        }
    }
}

/* ---- pairs and folds ----------------------------------------------------------------------------------------- */

static const char *write_text(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void pairs_are_read(void **state)
{
    bdml_handle *h = *state;
    bdml_labelled_pairs p;
    const char *path = write_text("p.csv", "fold,a,b,same\n7,0,1,1\n-2,3,2,0\n7,4,1,0\n");
    check_ok(h, bdml_labelled_read(h, path, 5, true, &p));
    assert_int_equal(p.count, 3);
    assert_int_equal(p.folds, 2);
    check_true(p.fold[0] == 1 && p.fold[1] == 0 && p.fold[2] == 1);
    check_true(p.row[2] == 3 && p.row[3] == 2 && p.same[0] == 1 && p.same[1] == 0);
    bdml_constraints *c;
    check_ok(h, bdml_labelled_constraints(h, 5, &p, &c));
    check_true(c->targets == 1 && c->m == 2 && bdml_constraints_are_pairs(c));
    for (int64_t k = 0; k < c->pairs; k++) assert_int_equal(c->group[k], c->pi[k] != 2);
    bdml_free_constraints(c);
    bdml_labelled_free(&p);
    path = write_text("p.csv", "0 1\n2 3\n");
    check_ok(h, bdml_labelled_read(h, path, 5, false, &p));
    check_true(p.count == 2 && !p.same && !p.fold);
    bdml_labelled_free(&p);
    check_fails(h, bdml_labelled_read(h, path, 5, true, &p), BDML_ERR_DATA, "line 1 has 2 columns");
    path = write_text("p.csv", "0,1,1\n1,0,2,1\n");
    check_fails(h, bdml_labelled_read(h, path, 5, true, &p), BDML_ERR_DATA,
                "line 2 has 4 columns; a pairs-file has 3: i,j,same, or 4: fold,i,j,same");
    path = write_text("p.csv", "x1,0,1,1\nx,0,1,1\n");
    check_fails(h, bdml_labelled_read(h, path, 5, true, &p), BDML_ERR_DATA,
                "'x1' must be the number of a fold");
    path = write_text("p.csv", "1,0,5,1\n");
    check_fails(h, bdml_labelled_read(h, path, 5, true, &p), BDML_ERR_DATA, "column 3: '5'");
    path = write_text("p.csv", "1,2,2,1\n");
    check_fails(h, bdml_labelled_read(h, path, 5, true, &p), BDML_ERR_DATA,
                "column 3: row 2 stands");
    unlink(path);
}

/* Chains of 1 to 4 pairs: they must stay whole. One tangle of pairs cannot. */
static void folds_share_no_row(void **state)
{
    bdml_handle *h = *state;
    enum { MOST = 400 };
    int32_t row[2 * MOST], same[MOST];
    bdml_labelled_pairs p = {.row = row, .same = same};
    int64_t n = 0;
    bool apart = false;
    for (int chain = 0; chain < 90; chain++) {
        for (int k = 0; k <= chain % 4; k++, p.count++, n++) {
            row[2 * p.count] = (int32_t)n;
            row[2 * p.count + 1] = (int32_t)n + 1;
            same[p.count] = (int32_t)(p.count % 2);
        }
        n++;
    }
    check_ok(h, bdml_labelled_deal(h, n, 5, 9, &p, &apart));
    check_true(apart);
    int64_t size[5] = {0};
    for (int64_t a = 0; a < p.count; a++) {
        check_true(p.fold[a] >= 0 && p.fold[a] < 5);
        size[p.fold[a]]++;
        if (a + 1 < p.count && row[2 * a + 1] == row[2 * a + 2])
            assert_int_equal(p.fold[a], p.fold[a + 1]);
    }
    for (int f = 0; f < 5; f++) check_true(llabs(size[f] - p.count / 5) <= 4);
    free(p.fold);
    p = (bdml_labelled_pairs){.row = row, .same = same};
    for (; p.count < 100; p.count++) {
        row[2 * p.count] = 0;
        row[2 * p.count + 1] = (int32_t)p.count + 1;
    }
    check_ok(h, bdml_labelled_deal(h, 101, 4, 9, &p, &apart));
    check_true(!apart);
    check_fails(h, bdml_labelled_deal(h, 101, 1, 9, &p, &apart), BDML_ERR_ARGUMENT, "from 2");
    free(p.fold);
}

/* ---- a small world --------------------------------------------------------------------------------------------- */

/* People are points in SIGNAL dimensions, their pictures these with little noise; the other dimensions
 * are loud and mean nothing. Four folds of people, pictures 2 each; pairs inside a fold only. */
enum { PEOPLE = 80, FOLDS = 4, SIGNAL = 3, D = 8, N = 2 * PEOPLE, PAIRS = 2 * PEOPLE };

typedef struct world {
    double x[N * D];
    int fold[PAIRS], row[2 * PAIRS], same[PAIRS];
} world;

static void make_world(world *w)
{
    bdml_rng r = bdml_rng_make(11, 0);
    for (int who = 0; who < PEOPLE; who++) {
        double centre[SIGNAL];
        for (int j = 0; j < SIGNAL; j++) centre[j] = bdml_rng_normal(&r);
        for (int picture = 0; picture < 2; picture++)
            for (int j = 0; j < D; j++)
                w->x[(2 * who + picture) * D + j] =
                    j < SIGNAL ? centre[j] + 0.3 * bdml_rng_normal(&r) : 2.0 * bdml_rng_normal(&r);
    }
    for (int k = 0; k < PAIRS; k++) {
        int who = k / 2, per_fold = PEOPLE / FOLDS, f = who / per_fold;
        int other = f * per_fold + (who + 1 - f * per_fold) % per_fold;
        w->fold[k] = f;
        w->same[k] = k % 2 == 0;
        w->row[2 * k] = 2 * who;
        w->row[2 * k + 1] = w->same[k] ? 2 * who + 1 : 2 * other + 1;
    }
}

static json_t *verify_world(bdml_handle *h, const world *w)
{
    char *text = NULL, path[256];
    bdml_dataset *data;
    snprintf(path, sizeof path, "%s/pairs.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("fold,i,j,same\n", f);
    for (int k = 0; k < PAIRS; k++)
        fprintf(f, "%d,%d,%d,%d\n", w->fold[k], w->row[2 * k], w->row[2 * k + 1], w->same[k]);
    fclose(f);
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w->x, D, NULL, &data));
    check_ok(h, bdml_set(h, "pairs-file", path));
    bdml_status status = bdml_verify(h, data, &text);
    unlink(path);
    check_ok(h, status);
    json_t *result = json_loads(text, 0, NULL);
    assert_non_null(result);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return result;
}

static json_t *method_of(json_t *result, size_t m)
{
    return json_array_get(json_object_get(result, "methods"), m);
}

static double listed(json_t *result, size_t m, const char *key, size_t fold)
{
    return json_number_value(json_array_get(json_object_get(method_of(result, m), key), fold));
}

static double single(json_t *result, size_t m, const char *key)
{
    return json_number_value(json_object_get(method_of(result, m), key));
}

/* Euclidean verification in plain loops. */
static void euclidean_by_hand(void **state)
{
    bdml_handle *h = *state;
    static world w;
    double mean = 0.0, square = 0.0, accuracy[FOLDS];
    make_world(&w);
    check_ok(h, bdml_set(h, "method", "euclidean"));
    json_t *result = verify_world(h, &w);
    for (int f = 0; f < FOLDS; f++) {
        double score[PAIRS], best = -1.0, threshold = listed(result, 0, "thresholds", (size_t)f);
        int train = 0, test = 0, right = 0, reached = 0;
        for (int k = 0; k < PAIRS; k++) {
            score[k] = 0.0;
            for (int j = 0; j < D; j++)
                score[k] -= pow(w.x[w.row[2 * k] * D + j] - w.x[w.row[2 * k + 1] * D + j], 2);
            train += w.fold[k] != f;
        }
        for (int t = 0; t < PAIRS; t++) { /* thresholds at the training scores themselves */
            int hits = 0;
            for (int k = 0; k < PAIRS; k++)
                hits += w.fold[k] != f && (score[k] >= score[t]) == w.same[k];
            if (w.fold[t] != f) best = fmax(best, hits);
        }
        for (int k = 0; k < PAIRS; k++) {
            bool hit = (score[k] >= threshold) == w.same[k];
            reached += w.fold[k] != f && hit;
            right += w.fold[k] == f && hit;
            test += w.fold[k] == f;
        }
        check_true(train == PAIRS - test);
        assert_int_equal(reached, (int)best);
        accuracy[f] = 100.0 * right / test;
        check_close(listed(result, 0, "accuracies", (size_t)f), accuracy[f], 1e-12);
        mean += accuracy[f] / FOLDS;
    }
    for (int f = 0; f < FOLDS; f++) square += pow(accuracy[f] - mean, 2);
    check_close(single(result, 0, "accuracy_mean"), mean, 1e-12);
    check_close(single(result, 0, "accuracy_se"), sqrt(square / (FOLDS - 1) / FOLDS), 1e-12);
    json_decref(result);
}

static const char every_method[] = "euclidean,whiten,bdml,sub-ml,sub-sml,csml";
enum { METHODS = 6 };

/* Every learned method beats the plain distance here, where most dimensions are noise, and the capped
 * one stays under its cap. */
static void methods_learn(void **state)
{
    bdml_handle *h = *state;
    static world w;
    make_world(&w);
    check_ok(h, bdml_set(h, "methods", every_method));
    json_t *result = verify_world(h, &w);
    assert_int_equal(json_array_size(json_object_get(result, "methods")), METHODS);
    double plain = single(result, 0, "accuracy_mean");
    for (size_t m = 1; m < METHODS; m++) {
        if (single(result, m, "accuracy_mean") < plain + 5.0)
            fail_msg("%s: %g, euclidean %g",
                     json_string_value(json_object_get(method_of(result, m), "method")),
                     single(result, m, "accuracy_mean"), plain);
        check_true(single(result, m, "auc") > single(result, 0, "auc"));
        check_true(single(result, m, "eer") < single(result, 0, "eer"));
    }
    assert_int_equal(json_array_size(json_object_get(result, "differences")), METHODS - 1);
    json_decref(result);
}

/* The answers of the tested fold are turned round: nothing of that fold's model may change, and what
 * was right is wrong. */
static void tested_answers_are_not_seen(void **state)
{
    bdml_handle *h = *state;
    static world w;
    make_world(&w);
    check_ok(h, bdml_set(h, "methods", "bdml,sub-sml,csml"));
    json_t *before = verify_world(h, &w);
    for (int k = 0; k < PAIRS; k++)
        if (w.fold[k] == 2) w.same[k] = !w.same[k];
    json_t *after = verify_world(h, &w);
    for (size_t m = 0; m < 3; m++) {
        check_close(listed(before, m, "thresholds", 2), listed(after, m, "thresholds", 2), 0.0);
        check_close(listed(before, m, "accuracies", 2), 100.0 - listed(after, m, "accuracies", 2),
                    1e-12);
        check_true(listed(before, m, "thresholds", 0) != listed(after, m, "thresholds", 0));
    }
    json_decref(before);
    json_decref(after);
}

/* Rows of the tested fold are moved: with pca-on train the preparation of that fold cannot tell; with
 * pca-on pairs it can. */
static void tested_rows_are_not_seen(void **state)
{
    bdml_handle *h = *state;
    static world w, moved;
    make_world(&w);
    moved = w;
    for (int i = 0; i < 2 * (PEOPLE / FOLDS); i++) /* people of fold 0 */
        for (int j = 0; j < D; j++) moved.x[i * D + j] = 3.0 * w.x[i * D + (j + 1) % D];
    check_ok(h, bdml_set(h, "method", "euclidean"));
    check_ok(h, bdml_set(h, "pca", "4"));
    check_ok(h, bdml_set(h, "scale", "zscore"));
    for (int on = 0; on < 2; on++) {
        check_ok(h, bdml_set(h, "pca-on", on ? "pairs" : "train"));
        json_t *a = verify_world(h, &w), *b = verify_world(h, &moved);
        double first = listed(a, 0, "thresholds", 0), second = listed(b, 0, "thresholds", 0);
        check_true(on ? first != second : first == second);
        check_true(listed(a, 0, "thresholds", 1) != listed(b, 0, "thresholds", 1));
        json_decref(a);
        json_decref(b);
    }
}

static char *without_times(json_t *result)
{
    for (size_t m = 0; m < json_array_size(json_object_get(result, "methods")); m++)
        json_object_del(method_of(result, m), "fit_seconds");
    char *text = json_dumps(result, JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(result);
    return text;
}

static void jobs_change_nothing(void **state)
{
    bdml_handle *h = *state;
    static world w;
    static const char *const ways[][2] = {{"1", "1"}, {"1", "2"}, {"3", "2"}};
    char *text[3];
    make_world(&w);
    check_ok(h, bdml_set(h, "methods", every_method));
    check_ok(h, bdml_set(h, "pca", "6"));
    for (int k = 0; k < 3; k++) {
        check_ok(h, bdml_set(h, "jobs", ways[k][0]));
        check_ok(h, bdml_set(h, "threads", ways[k][1]));
        text[k] = without_times(verify_world(h, &w));
    }
    assert_string_equal(text[0], text[1]);
    assert_string_equal(text[0], text[2]);
    for (int k = 0; k < 3; k++) free(text[k]);
}

static void wrong_questions(void **state)
{
    bdml_handle *h = *state;
    char *text = NULL;
    bdml_dataset *data;
    static world w;
    make_world(&w);
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w.x, D, NULL, &data));
    check_fails(h, bdml_verify(h, data, &text), BDML_ERR_ARGUMENT, "needs the setting pairs-file");
    const char *path = write_text("p.csv", "0,0,1,1\n0,2,3,0\n1,4,5,1\n");
    check_ok(h, bdml_set(h, "pairs-file", path));
    check_fails(h, bdml_verify(h, data, &text), BDML_ERR_DATA, "fold 2 of 2 has 1 pairs");
    write_text("p.csv", "3,0,1,1\n3,2,3,0\n");
    check_fails(h, bdml_verify(h, data, &text), BDML_ERR_DATA, "all pairs are in one fold");
    write_text("p.csv", "0,0,1,1\n0,2,3,0\n1,4,5,1\n1,6,7,0\n");
    check_ok(h, bdml_set(h, "method", "nothing-like-it"));
    check_fails(h, bdml_verify(h, data, &text), BDML_ERR_ARGUMENT, "there is no method");
    check_ok(h, bdml_set(h, "method", "bdml"));
    check_fails(h, bdml_verify(h, data, &text), BDML_ERR_DATA, "too few to choose");
    unlink(path);
    assert_null(text);
    bdml_free_dataset(data);
}

/* The paper's table: ascending accuracy, four rows quoted only, ours beside the others. */
static void faces_beside_the_paper(void **state)
{
    bdml_handle *h = *state;
    static world w;
    char *text = NULL, path[256];
    bdml_dataset *data;
    int quoted = 0;
    make_world(&w);
    for (int k = 0; k < study_face_row_count; k++) {
        quoted += study_face_rows[k].method == NULL;
        if (k > 0) check_true(study_face_rows[k].accuracy > study_face_rows[k - 1].accuracy);
    }
    assert_int_equal(quoted, 4);
    snprintf(path, sizeof path, "%s/pairs.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int k = 0; k < PAIRS; k++)
        fprintf(f, "%d,%d,%d,%d\n", w.fold[k], w.row[2 * k], w.row[2 * k + 1], w.same[k]);
    fclose(f);
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w.x, D, NULL, &data));
    check_ok(h, bdml_set(h, "pairs-file", path));
    check_ok(h, bdml_set(h, "methods", "csml,bdml"));
    bdml_status status = study_verify_faces(h, data, &text);
    unlink(path);
    check_ok(h, status);
    assert_string_equal(bdml_get(h, "methods"), "csml,bdml");
    json_t *result = json_loads(text, 0, NULL), *row;
    size_t k;
    json_array_foreach(json_object_get(result, "table"), k, row)
    {
        const char *method = study_face_rows[k].method;
        bool run = method && (strcmp(method, "csml") == 0 || strcmp(method, "bdml") == 0);
        const json_t *ours = json_object_get(row, "accuracy");
        check_true(run == (bool)json_is_real(ours));
        if (run && strcmp(method, "bdml") == 0)
            check_close(json_real_value(ours), single(result, 1, "accuracy_mean"), 0.0);
    }
    json_decref(result);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
}

/* ---- the model's scores ------------------------------------------------------------------------------------------ */

static bdml_model *train_world(bdml_handle *h, const world *w, const char *method,
                               bdml_dataset **data)
{
    int32_t target[2 * PAIRS], impostor[2 * PAIRS];
    int64_t targets = 0, impostors = 0;
    bdml_constraints *c;
    bdml_model *model;
    for (int k = 0; k < PAIRS; k++) {
        int32_t *to = w->same[k] ? target + 2 * targets++ : impostor + 2 * impostors++;
        to[0] = (int32_t)w->row[2 * k];
        to[1] = (int32_t)w->row[2 * k + 1];
    }
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w->x, D, NULL, data));
    check_ok(h,
             bdml_constraints_from_arrays(h, N, targets, target, impostors, impostor, 0, NULL, &c));
    check_ok(h, bdml_set(h, "method", method));
    check_ok(h, bdml_train(h, *data, c, &model));
    bdml_free_constraints(c);
    return model;
}

/* Scores in plain loops from L (and G) on raw points: nothing is prepared here. */
static double plain_score(const bdml_model *m, const double *x, const double *y)
{
    double lx[D] = {0}, ly[D] = {0}, distance = 0.0, xy = 0.0, xx = 0.0, yy = 0.0, gxy = 0.0;
    for (int r = 0; r < m->q; r++) {
        for (int j = 0; j < D; j++) {
            lx[r] += m->l[r * D + j] * x[j];
            ly[r] += m->l[r * D + j] * y[j];
        }
        distance += (lx[r] - ly[r]) * (lx[r] - ly[r]);
        xy += lx[r] * ly[r];
        xx += lx[r] * lx[r];
        yy += ly[r] * ly[r];
    }
    for (int i = 0; m->similarity && i < D; i++)
        for (int j = 0; j < D; j++) gxy += x[i] * m->similarity[i * D + j] * y[j];
    if (m->score == BDML_SCORE_COSINE) return xy / sqrt(xx * yy);
    return m->score == BDML_SCORE_SIMILARITY ? gxy - distance : -distance;
}

static void scores_and_files(void **state)
{
    bdml_handle *h = *state;
    static world w;
    static const char *const methods[] = {"bdml", "sub-ml", "sub-sml", "csml"};
    static const bdml_score_kind kinds[] = {BDML_SCORE_DISTANCE, BDML_SCORE_DISTANCE,
                                            BDML_SCORE_SIMILARITY, BDML_SCORE_COSINE};
    int64_t pair[2 * PAIRS];
    make_world(&w);
    check_ok(h, bdml_set(h, "pair-score", "distance"));
    for (int k = 0; k < 2 * PAIRS; k++) pair[k] = w.row[k];
    for (int m = 0; m < 4; m++) {
        bdml_dataset *data;
        bdml_model *model = train_world(h, &w, methods[m], &data), *back;
        double score[PAIRS], again[PAIRS];
        int right = 0;
        void *bytes;
        size_t size;
        assert_int_equal(model->score, kinds[m]);
        check_ok(h, bdml_model_pair_scores(h, model, N, w.x, D, PAIRS, pair, score));
        for (int k = 0; k < PAIRS; k++) {
            const double *x = w.x + pair[2 * k] * D, *y = w.x + pair[2 * k + 1] * D;
            double plain = plain_score(model, x, y);
            check_close(score[k], plain, 1e-10 * fmax(1.0, fabs(plain)));
            right += (score[k] >= bdml_model_threshold(model)) == w.same[k];
        }
        check_close(100.0 * right / PAIRS, model->calibration.accuracy, 1e-12);
        check_true(right > 0.75 * PAIRS);
        check_ok(h, bdml_save_model_bytes(h, model, &bytes, &size));
        check_ok(h, bdml_load_model_bytes(h, bytes, size, &back));
        check_close(bdml_model_threshold(back), bdml_model_threshold(model), 0.0);
        check_close(back->calibration.accuracy, model->calibration.accuracy, 0.0);
        check_ok(h, bdml_model_pair_scores(h, back, N, w.x, D, PAIRS, pair, again));
        assert_memory_equal(score, again, sizeof score);
        bdml_free_bytes(bytes);
        bdml_free_model(back);
        bdml_free_model(model);
        bdml_free_dataset(data);
    }
}

/* A model that was not learned from pairs has distances and no threshold, as files always had. */
static void models_without_threshold(void **state)
{
    bdml_handle *h = *state;
    const double l[] = {2, 0, 0, 1}, x[] = {0, 0, 1, 2};
    const int64_t pair[] = {0, 1};
    double score;
    bdml_model *model;
    check_ok(h, bdml_model_from_map(h, 2, 2, l, 0, &model));
    check_true(isnan(bdml_model_threshold(model)));
    assert_null(strstr(bdml_model_describe(model), "verification"));
    check_ok(h, bdml_model_pair_scores(h, model, 2, x, 2, 1, pair, &score));
    check_close(score, -8.0, 0.0);
    bdml_free_model(model);
}

/* The chosen cap holds for the metric relative to its reference, and is one of the grid. */
static void cap_from_pairs(void **state)
{
    bdml_handle *h = *state;
    static world w;
    bdml_dataset *data;
    make_world(&w);
    check_ok(h, bdml_set(h, "reference", "none"));
    bdml_model *model = train_world(h, &w, "bdml", &data);
    const json_t *chosen = json_object_get(model->info, "selection");
    double cap = json_number_value(json_object_get(chosen, "distortion"));
    check_true(cap > 1.0 && cap <= 1000.0);
    check_true(model->kappa <= cap * (1.0 + 1e-9));
    assert_int_equal(json_array_size(json_object_get(chosen, "tried")), 12);
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* ---- the hinge problem ----------------------------------------------------------------------------------------------- */

enum { K = 2, M = 12 };

typedef struct tiny {
    double x[2 * M * K];
    int32_t row[2 * M], same[M];
    bdml_pair_hinge p;
} tiny;

static void make_tiny(tiny *t, bool similarity, double gamma)
{
    bdml_rng r = bdml_rng_make(5, 6);
    for (int k = 0; k < M; k++) {
        t->same[k] = k % 2;
        for (int e = 0; e < 2; e++) t->row[2 * k + e] = 2 * k + e;
        for (int j = 0; j < K; j++) {
            double a = bdml_rng_normal(&r);
            t->x[2 * k * K + j] = a;
            t->x[(2 * k + 1) * K + j] =
                t->same[k] ? a + (j ? 1.0 : 0.2) * bdml_rng_normal(&r) : bdml_rng_normal(&r);
        }
    }
    t->p = (bdml_pair_hinge){.k = K,
                             .m = M,
                             .x = t->x,
                             .row = t->row,
                             .same = t->same,
                             .similarity = similarity,
                             .gamma = gamma,
                             .gap = 1e-9,
                             .max_iter = 100000};
}

/* The objective from its definition. g NULL: no similarity. */
static double plain_objective(const tiny *t, const double *m, const double *g, double b)
{
    double loss = 0.0, away = 0.0;
    for (int k = 0; k < M; k++) {
        const double *x = t->x + t->row[2 * k] * K, *y = t->x + t->row[2 * k + 1] * K;
        double f = b;
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) {
                f -= (x[i] - y[i]) * m[i * K + j] * (x[j] - y[j]);
                if (g) f += x[i] * g[i * K + j] * y[j];
            }
        loss += fmax(0.0, 1.0 - (t->same[k] ? f : -f)) / M;
    }
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            away += pow(m[i * K + j] - (i == j), 2);
            if (g) away += pow(g[i * K + j] - (i == j), 2);
        }
    return loss + 0.5 * t->p.gamma * away;
}

/* Random search over M = R'R, G and b, with a step that adapts, from v on: slow and plain. The problem is
 * convex, so that where no direction goes down it has its optimum. */
static double searched_optimum(const tiny *t, const double from[7])
{
    bdml_rng r = bdml_rng_make(7, 8);
    double v[7], best = INFINITY, step = 0.5;
    memcpy(v, from, sizeof v);
    for (int it = 0; it < 50000; it++) {
        double w[7];
        if (it % 5000 == 0) step = 0.3; /* corners hold it up: large steps again */
        for (int e = 0; e < 7; e++)
            w[e] = v[e] + (it && bdml_rng_uniform(&r) < 0.5 ? step * bdml_rng_normal(&r) : 0.0);
        double m[4] = {w[0] * w[0], w[0] * w[1], w[0] * w[1], w[1] * w[1] + w[2] * w[2]};
        double g[4] = {w[3], w[4], w[4], w[5]};
        double now = plain_objective(t, m, t->p.similarity ? g : NULL, w[6]);
        if (now < best) {
            best = now;
            memcpy(v, w, sizeof v);
            step = fmin(step * 1.5, 1.0);
        } else
            step = fmax(step * 0.99, 1e-7);
    }
    return best;
}

static void hinge_is_optimal(void **state)
{
    bdml_handle *h = *state;
    static const double gammas[] = {1.0, 0.1, 0.01};
    for (int similarity = 0; similarity < 2; similarity++)
        for (int k = 0; k < 3; k++) {
            tiny t;
            bdml_pair_solution s;
            make_tiny(&t, similarity, gammas[k]);
            bdml_la_enter(h);
            check_ok(h, bdml_pair_hinge_solve(h, &t.p, &s));
            bdml_la_leave(h);
            double value = plain_objective(&t, s.metric, s.similarity, s.b);
            check_close(value, s.primal, 1e-12);
            check_true(s.dual <= s.primal && s.primal - s.dual <= 1e-9 * s.primal);
            check_true(s.metric[0] >= -1e-12 &&
                       s.metric[0] * s.metric[3] - s.metric[1] * s.metric[2] >= -1e-12);
            const double *m = s.metric, *g = s.similarity, eye[7] = {1, 0, 1, 1, 0, 1, 1};
            double r0 = sqrt(m[0]), r1 = m[1] / r0;
            double there[7] = {r0, r1, sqrt(fmax(m[3] - r1 * r1, 0.0)), 0, 0, 0, s.b};
            for (int e = 0; g && e < 3; e++) there[3 + e] = g[e + e / 2];
            double near = searched_optimum(&t, there), far = searched_optimum(&t, eye);
            check_close(near, s.primal, 2e-9 * s.primal); /* no direction goes down from there */
            check_true(far >= s.dual - 1e-12);            /* the bound is below what is found, */
            check_true(far <= 1.2 * s.primal);            /* which comes near by itself */
            bdml_pair_solution_free(&s);
        }
}

/* So close to the identity that it is the identity. */
static void hinge_stays_at_the_identity(void **state)
{
    bdml_handle *h = *state;
    tiny t;
    bdml_pair_solution s;
    make_tiny(&t, true, 1e9);
    bdml_la_enter(h);
    check_ok(h, bdml_pair_hinge_solve(h, &t.p, &s));
    bdml_la_leave(h);
    for (int e = 0; e < K * K; e++) {
        check_close(s.metric[e], e % (K + 1) == 0, 1e-7);
        check_close(s.similarity[e], e % (K + 1) == 0, 1e-7);
    }
    bdml_pair_solution_free(&s);
}

/* ---- cosine similarity ------------------------------------------------------------------------------------------------ */

static void cosine_gradient(void **state)
{
    bdml_handle *h = *state;
    enum { Q = 3, ROWS = 12 };
    bdml_rng r = bdml_rng_make(9, 10);
    double x[ROWS * D], start[Q * D], a[Q * D], gradient[Q * D];
    int32_t row[20], same[10];
    bdml_labelled_pairs pairs = {.count = 10, .row = row, .same = same};
    for (int e = 0; e < ROWS * D; e++) x[e] = bdml_rng_normal(&r);
    for (int e = 0; e < Q * D; e++) {
        start[e] = bdml_rng_normal(&r);
        a[e] = start[e] + 0.3 * bdml_rng_normal(&r);
    }
    for (int k = 0; k < 10; k++) {
        same[k] = k < 4;
        row[2 * k] = k;
        row[2 * k + 1] = (k + 1 + k % 2) % ROWS;
    }
    bdml_csml c = {.n = ROWS, .d = D, .q = Q, .x = x, .start = start, .pairs = &pairs, .beta = 0.7};
    bdml_la_enter(h);
    check_ok(h, bdml_csml_init(h, &c));
    double value = bdml_csml_value(h, &c, a, gradient), climbed;
    for (int e = 0; e < Q * D; e++) {
        /* central differences: error about step^2 f''' / 6 + eps f / step, 1e-10 here */
        double step = 1e-5, keep = a[e];
        a[e] = keep + step;
        double up = bdml_csml_value(h, &c, a, NULL);
        a[e] = keep - step;
        double down = bdml_csml_value(h, &c, a, NULL);
        a[e] = keep;
        check_close(gradient[e], (up - down) / (2.0 * step), 1e-8);
    }
    check_ok(h, bdml_csml_climb(h, &c, 500, a, &climbed));
    check_true(climbed > value);
    check_close(climbed, bdml_csml_value(h, &c, a, gradient), 1e-12);
    bdml_la_leave(h);
    bdml_csml_free(&c);
}

/* ---- edges and memory --------------------------------------------------------------------------------------------------- */

/* A constant and a repeated column; pairs of equal points. Nothing may fail or turn into NaN. */
static void degenerate_points(void **state)
{
    bdml_handle *h = *state;
    static world w;
    make_world(&w);
    for (int i = 0; i < N; i++) {
        w.x[i * D + D - 1] = 4.0;
        w.x[i * D + D - 2] = w.x[i * D];
    }
    memcpy(w.x + D, w.x, sizeof(double) * D); /* rows 0 and 1: a similar pair */
    check_ok(h, bdml_set(h, "methods", every_method));
    json_t *result = verify_world(h, &w);
    for (size_t m = 0; m < METHODS; m++) check_true(single(result, m, "accuracy_mean") > 50.0);
    json_decref(result);
}

static void methods_refuse_what_they_cannot(void **state)
{
    bdml_handle *h = *state;
    static const char *const methods[] = {"sub-ml", "sub-sml", "csml"};
    static const double x[] = {0, 0, 1, 1, 2, 3, 4, 4};
    static const int64_t y[] = {0, 0, 1, 1};
    bdml_dataset *data;
    bdml_model *model;
    check_ok(h, bdml_dataset_from_arrays(h, 4, 2, x, 2, y, &data));
    for (int m = 0; m < 3; m++) {
        check_ok(h, bdml_set(h, "method", methods[m]));
        check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "give pairs-file");
        assert_null(model);
    }
    bdml_free_dataset(data);
}

static void failures_leave_nothing_behind(void **state)
{
    bdml_handle *h = *state;
    static world w;
    char *text = NULL, path[256];
    bdml_dataset *data;
    bdml_status status = BDML_ERR_MEMORY;
    make_world(&w);
    snprintf(path, sizeof path, "%s/pairs.csv", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int k = 0; k < 24; k++)
        fprintf(f, "%d,%d,%d,%d\n", k % 2, w.row[2 * k], w.row[2 * k + 1], w.same[k]);
    fclose(f);
    check_ok(h, bdml_dataset_from_arrays(h, N, D, w.x, D, NULL, &data));
    check_ok(h, bdml_set(h, "pairs-file", path));
    check_ok(h, bdml_set(h, "threads", "1"));
    check_ok(h, bdml_set(h, "folds", "2"));
    check_ok(h, bdml_set(h, "pca", "3"));
    static const char *const lists[] = {"euclidean,sub-sml,csml", "bdml"};
    for (int k = 0; k < 2; k++) {
        check_ok(h, bdml_set(h, "methods", lists[k]));
        status = BDML_ERR_MEMORY;
        for (int64_t at = 1; status != BDML_OK; at += 1 + at / 20) {
            h->fail_alloc = at;
            status = bdml_verify(h, data, &text);
            check_true(status == BDML_OK || (status == BDML_ERR_MEMORY && !text));
        }
        h->fail_alloc = 0;
        bdml_free_bytes(text);
        text = NULL;
    }
    unlink(path);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(threshold_is_the_best),
        handle_test(threshold_at_the_ends),
        handle_test(roc_by_hand),
        handle_test(roc_by_counting),
        handle_test(pairs_are_read),
        handle_test(folds_share_no_row),
        handle_test(euclidean_by_hand),
        handle_test(methods_learn),
        handle_test(tested_answers_are_not_seen),
        handle_test(tested_rows_are_not_seen),
        handle_test(jobs_change_nothing),
        handle_test(wrong_questions),
        handle_test(faces_beside_the_paper),
        handle_test(scores_and_files),
        handle_test(models_without_threshold),
        handle_test(cap_from_pairs),
        handle_test(hinge_is_optimal),
        handle_test(hinge_stays_at_the_identity),
        handle_test(cosine_gradient),
        handle_test(degenerate_points),
        handle_test(methods_refuse_what_they_cannot),
        handle_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
