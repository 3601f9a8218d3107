/* test_verify.c - verification of pairs: folds, no way from the tested pairs into metric, threshold or PCA. */
#include "verify_world.h"

#include <jansson.h>

#include "baselines/pairwise.h"
#include "tables.h"

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
        handle_test(pairs_are_read),
        handle_test(folds_share_no_row),
        handle_test(euclidean_by_hand),
        handle_test(methods_learn),
        handle_test(tested_answers_are_not_seen),
        handle_test(tested_rows_are_not_seen),
        handle_test(jobs_change_nothing),
        handle_test(wrong_questions),
        handle_test(faces_beside_the_paper),
        handle_test(degenerate_points),
        handle_test(methods_refuse_what_they_cannot),
        handle_test(failures_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
