/* test_unseen.c - task retrieve: classes left out and not rows, the rule in favour of the space as it is, and what is
 * learned where that is known: loud directions inside the classes are whitened away, a space that is right is kept. */
#include "check.h"

#include "model/evidence.h"
#include "train/plan.h"

enum { D = 6, CLASSES = 12, OF_EACH = 15, N = CLASSES * OF_EACH };

/* Class means spread evenly in all directions; the first two columns are `loud` times as wide inside the classes. */
static bdml_dataset *make_data(bdml_handle *h, int classes, double loud)
{
    bdml_dataset *data = NULL;
    bdml_rng r = bdml_rng_make(11, 0);
    double x[N * D], mean[CLASSES * D];
    int64_t y[N];
    for (int k = 0; k < CLASSES * D; k++) mean[k] = 2.0 * bdml_rng_normal(&r);
    for (int i = 0; i < classes * OF_EACH; i++) {
        y[i] = i % classes;
        for (int j = 0; j < D; j++)
            x[i * D + j] = mean[y[i] * D + j] + (j < 2 ? loud : 1.0) * bdml_rng_normal(&r);
    }
    check_ok(h, bdml_dataset_from_arrays(h, (int64_t)classes * OF_EACH, D, x, D, y, &data));
    return data;
}

static bdml_training training_of(const bdml_dataset *data)
{
    return (bdml_training){data->n, data->d, data->x, data->y, data->classes,
                           NULL,    NULL,    NULL,    NULL};
}

/* ---- the standard error over classes ------------------------------------------------------------------------ */

/* Reference zscore, then none, K = 1; two parts, three groups of classes of 10, 20 and 30 rows in all. Misses of zscore
 * less those of none are -2, -8 and -2 over both parts: r = -12/60, and d - r n = 0, -4, 4. */
static void error_over_classes(void **state)
{
    (void)state;
    static const double kept[] = {/* part 1 */ 30, 2, 4, 5, /* none */ 50, 3, 6, 7,
                                  /* part 2 */ 30, 1, 2, 7, /* none */ 50, 2, 8, 7};
    static const double rows[] = {10, 20, 30};
    bdml_plan plan = {.references = 2,
                      .reference = {BDML_REFERENCE_ZSCORE, BDML_REFERENCE_NONE},
                      .scores = 1,
                      .efforts = 1,
                      .caps = 1,
                      .cap = {1},
                      .slack = 1.0,
                      .unseen = true,
                      .groups = 3};
    bdml_scores s = {&plan, 2, kept, 1.0, INFINITY, rows};
    bool wanted[2] = {true, true};
    double mean[2], se[2];
    bdml_summarise(&s, wanted, mean, se);
    assert_true(mean[0] == 30.0 && mean[1] == 50.0);
    double want = 100.0 * sqrt(1.5 * (16.0 + 16.0)) / 60.0; /* 11.5 */
    check_close(bdml_difference_error(&s, mean, 0, 1), want, 1e-13);
    check_close(bdml_difference_error(&s, mean, 1, 0), want, 1e-13);
    assert_int_equal(bdml_choose(&s, wanted, mean), 0); /* 20 > 11.5 */
    plan.slack = 2.0;
    assert_int_equal(bdml_choose(&s, wanted, mean), 1); /* 20 < 23.1 */
}

/* ---- the rule --------------------------------------------------------------------------------------------- */

/* Reference zscore, then none; caps 1 and 3; four parts. zscore with K = 3 is best: by 1 less than the space as it is,
 * with the differences 2, 2, 0, 0 and hence a plain standard error of 0.577. Elsewhere the smallest K would be taken
 * that is not clearly worse than the best: here it is the best of what is clearly better, or nothing. */
static void space_gives_way_to_evidence_alone(void **state)
{
    (void)state;
    static const double error[] = {9.2, 8, 10, 9, 9.2, 8, 10, 9, 9.2, 10, 10, 9, 9.2, 10, 10, 9};
    bdml_plan plan = {.references = 2,
                      .reference = {BDML_REFERENCE_ZSCORE, BDML_REFERENCE_NONE},
                      .scores = 1,
                      .efforts = 1,
                      .caps = 2,
                      .cap = {1, 3},
                      .slack = 1.0,
                      .unseen = true};
    bdml_scores s = {&plan, 4, error, 0.0, INFINITY, NULL};
    bool wanted[4] = {true, true, true, true};
    double mean[4], se[4];
    bdml_summarise(&s, wanted, mean, se);
    assert_int_equal(bdml_untouched(&plan), 2);
    check_close(bdml_difference_error(&s, mean, 2, 1), sqrt(4.0 / 3.0 / 4.0), 1e-14);
    assert_int_equal(bdml_choose(&s, wanted, mean), 1); /* 1 > 0.577 */
    plan.slack = 2.0; /* 1 < 1.155, but none with K = 3 is better by 1 in every part, */
    assert_int_equal(bdml_choose(&s, wanted, mean), 3);
    wanted[3] = false; /* zscore with K = 1 by 0.8 */
    assert_int_equal(bdml_choose(&s, wanted, mean), 0);
    wanted[0] = false;
    assert_int_equal(bdml_choose(&s, wanted, mean), 2);
    wanted[0] = wanted[3] = true;
    plan.unseen = false;
    assert_int_equal(bdml_choose(&s, wanted, mean), 0);
    plan.unseen = true;
    plan.cap[0] = 2.0; /* the space as it is, is no candidate */
    assert_int_equal(bdml_untouched(&plan), -1);
    assert_int_equal(bdml_choose(&s, wanted, mean), 1);
}

/* ---- classes left out --------------------------------------------------------------------------------------- */

/* No class is on both sides; each is left out in one of two halves, and halves differ from repeat to repeat. */
static void classes_are_left_out_whole(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, CLASSES, 1.0);
    bdml_training t = training_of(data);
    bdml_plan plan;
    bdml_parts parts;
    int times[CLASSES] = {0}, differ = 0;
    bool before[CLASSES] = {false};
    check_ok(h, bdml_set(h, "task", "retrieve"));
    check_ok(h, bdml_plan_make(h, &h->options, &t, &plan));
    check_true(plan.unseen && bdml_untouched(&plan) >= 0);
    check_ok(h, bdml_parts_make(h, &plan, &t, &parts));
    assert_int_equal(parts.splits, 2);
    for (int k = 0; k < parts.count; k++) {
        const bdml_part *part = &parts.part[k];
        bool out[CLASSES] = {false};
        assert_int_equal(part->test + part->t.n, N);
        assert_int_equal(part->test, N / 2);
        assert_int_equal(part->single, 0);
        for (int64_t i = 0; i < part->test; i++) out[part->vy[i]] = true;
        for (int64_t i = 0; i < part->t.n; i++) check_true(!out[part->t.y[i]]);
        for (int c = 0; c < CLASSES; c++) {
            times[c] += out[c];
            differ += k > 0 && k % 2 == 0 && out[c] != before[c];
            if (k % 2 == 0) before[c] = out[c];
        }
    }
    for (int c = 0; c < CLASSES; c++) assert_int_equal(times[c], parts.count / 2);
    check_true(differ > 0);
    bdml_parts_free(&parts);
    bdml_plan_free(&plan);
    bdml_free_dataset(data);
}

/* The numbers kept of the space as it is: its error, and what is missed of each class among the five nearest, or the R
 * that are of it, by a plain search. */
static void misses_are_counted_by_class(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, CLASSES, 3.0);
    bdml_training t = training_of(data);
    bdml_plan plan;
    bdml_parts parts;
    static double error[BDML_PLAN_MOST];
    bool wanted[BDML_PLAN_CAPS] = {true};
    int none = 0;
    for (int i = 3 * CLASSES; i < N; i += CLASSES) data->y[i] = 1; /* class 0 keeps three */
    check_ok(h, bdml_set(h, "task", "retrieve"));
    check_ok(h, bdml_plan_make(h, &h->options, &t, &plan));
    assert_int_equal(plan.groups, CLASSES);
    assert_int_equal(bdml_candidate_width(&plan), 1 + CLASSES);
    while (plan.reference[none] != BDML_REFERENCE_NONE) none++;
    check_ok(h, bdml_parts_make(h, &plan, &t, &parts));
    const bdml_part *part = &parts.part[parts.part[0].count[0] > 0 ? 0 : 1];
    assert_int_equal(part->count[0], 3);
    check_ok(h, bdml_score_part(h, &plan, part, none, wanted, NAN, error));
    double miss[CLASSES] = {0}, of[CLASSES] = {0}, all = 0, rows = 0;
    for (int64_t i = 0; i < part->test; i++) of[part->vy[i]]++;
    for (int64_t i = 0; i < part->test; i++) {
        bool taken[N] = {false};
        int32_t own = part->vy[i];
        int asked = of[own] < 6 ? (int)of[own] - 1 : 5, others = 0;
        taken[i] = true;
        for (int a = 0; a < asked; a++) {
            double least = INFINITY;
            int64_t at = -1;
            for (int64_t k = 0; k < part->test; k++) {
                double far = 0;
                for (int j = 0; j < D; j++)
                    far += pow(part->vx[i * D + j] - part->vx[k * D + j], 2);
                if (taken[k] || far >= least) continue;
                least = far;
                at = k;
            }
            taken[at] = true;
            others += part->vy[at] != own;
        }
        miss[own] += (double)others / asked;
        all += (double)others / asked;
    }
    check_true(all > 0);
    check_close(error[0], 100.0 * all / (double)part->test, 1e-12);
    for (int c = 0; c < CLASSES; c++) {
        check_close(error[1 + c], miss[c], 1e-13);
        assert_true(part->rows[c] == of[c] && (double)part->count[c] == of[c]);
        rows += part->rows[c];
    }
    assert_true(rows == (double)part->test);
    bdml_parts_free(&parts);
    bdml_plan_free(&plan);
    bdml_free_dataset(data);
}

/* Classes of one row can be learned around, but not looked for: four others are needed, two on either side. */
static void single_rows_are_no_queries(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, 4, 1.0);
    bdml_training t = training_of(data);
    bdml_plan plan;
    bdml_parts parts;
    check_ok(h, bdml_set(h, "task", "retrieve"));
    t.classes = 6;
    data->y[0] = 4; /* i % 4: class 0 loses a row, as does class 1 */
    data->y[1] = 5;
    check_ok(h, bdml_plan_make(h, &h->options, &t, &plan));
    assert_int_equal(plan.groups, 0); /* too few classes for an error over them */
    check_ok(h, bdml_parts_make(h, &plan, &t, &parts));
    for (int k = 0; k < parts.count; k++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < parts.part[k].test; i++) rows += parts.part[k].vy[i] < 4;
        assert_int_equal(parts.part[k].single, 1);
        assert_int_equal(rows, parts.part[k].test - 1);
        check_true(rows >= 2 * OF_EACH - 2);
    }
    bdml_parts_free(&parts);
    bdml_plan_free(&plan);
    bdml_free_dataset(data);
}

/* Too few classes to leave some out: refused, unless nothing is left to choose. */
static void few_classes_are_refused(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, 3, 1.0);
    bdml_model *model = NULL;
    check_ok(h, bdml_set(h, "task", "retrieve"));
    check_fails(h, bdml_train(h, data, NULL, &model), BDML_ERR_DATA, "at least 4 classes");
    check_ok(h, bdml_set(h, "reference", "none"));
    check_ok(h, bdml_set(h, "distortion", "3"));
    check_ok(h, bdml_set(h, "softness", "5"));
    check_ok(h, bdml_set(h, "passes", "1"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

static void paths_are_for_classes_seen(void **state)
{
    bdml_handle *h = *state;
    check_ok(h, bdml_set(h, "task", "retrieve"));
    check_fails(h, bdml_check_path(h), BDML_ERR_ARGUMENT, "retrieve --grid");
}

/* ---- what is learned ------------------------------------------------------------------------------------------ */

static json_t *verdict(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                       const char *level)
{
    char path[512], *text = NULL;
    int confirmed = 0;
    snprintf(path, sizeof path, "%s/test_unseen.%d.bdml", BDML_TEST_BINARY_DIR, (int)getpid());
    check_ok(h, bdml_save_model(h, model, path));
    check_ok(h, bdml_set(h, "level", level));
    check_ok(h, bdml_certify(h, path, data, &confirmed, &text));
    unlink(path);
    if (!confirmed) fail_msg("not confirmed at level %s: %s", level, text);
    json_t *o = json_loads(text, 0, NULL);
    bdml_free_bytes(text);
    return o;
}

/* Trained on some data, with its choice as the model tells it. */
static bdml_model *learn(bdml_handle *h, const bdml_dataset *data, json_t **choice)
{
    bdml_model *model = NULL;
    check_ok(h, bdml_set(h, "task", "retrieve"));
    check_ok(h, bdml_train(h, data, NULL, &model));
    *choice = json_object_get(model->info, "selection");
    assert_string_equal(json_string_value(json_object_get(*choice, "task")), "retrieve");
    return model;
}

/* Spherical classes: whatever is learned is noise, and the metric that comes out is a multiple of the identity. */
static void a_space_that_is_right_is_kept(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, CLASSES, 1.0);
    json_t *choice;
    bdml_model *model = learn(h, data, &choice);
    json_t *evidence = json_object_get(choice, "best_versus_untouched");
    check_true(json_is_true(json_object_get(evidence, "kept")));
    assert_string_equal(json_string_value(json_object_get(choice, "reference")), "none");
    check_close(json_number_value(json_object_get(choice, "distortion")), 1.0, 0.0);
    check_close(model->kappa, 1.0, 1e-12);
    json_decref(verdict(h, model, data, "problem"));
    json_decref(verdict(h, model, data, "repeat"));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Two loud columns: among rows of other draws of the same kind the metric must find what the space as it is misses. */
static void loud_directions_are_whitened(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, CLASSES, 12.0);
    json_t *choice;
    bdml_model *model = learn(h, data, &choice);
    json_t *evidence = json_object_get(choice, "best_versus_untouched");
    double gain = json_number_value(json_object_get(evidence, "difference"));
    double m[D * D];
    check_true(json_is_false(json_object_get(evidence, "kept")));
    check_true(gain > 10.0);
    check_ok(h, bdml_model_get_metric(h, model, m));
    for (int j = 2; j < D; j++) check_true(m[j * D + j] > 20.0 * m[0]); /* of 144 */
    json_decref(verdict(h, model, data, "problem"));
    json_decref(verdict(h, model, data, "repeat"));
    bdml_free_model(model);
    bdml_free_dataset(data);
}

/* Parts, solves and the proof are shared out to threads; what comes out is the same, to the bit. */
static void threads_change_nothing(void **state)
{
    bdml_handle *h = *state;
    bdml_dataset *data = make_data(h, CLASSES, 3.0);
    bdml_model *model[2];
    json_t *choice[2];
    for (int k = 0; k < 2; k++) {
        check_ok(h, bdml_set(h, "threads", k == 0 ? "1" : "3"));
        model[k] = learn(h, data, &choice[k]);
    }
    check_true(json_equal(choice[0], choice[1]));
    check_true(model[0]->evidence->lower == model[1]->evidence->lower);
    check_true(model[0]->evidence->upper == model[1]->evidence->upper);
    assert_memory_equal(model[0]->l, model[1]->l, sizeof(double) * D * D);
    for (int k = 0; k < 2; k++) bdml_free_model(model[k]);
    bdml_free_dataset(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_over_classes),
        cmocka_unit_test(space_gives_way_to_evidence_alone),
        handle_test(classes_are_left_out_whole),
        handle_test(misses_are_counted_by_class),
        handle_test(single_rows_are_no_queries),
        handle_test(few_classes_are_refused),
        handle_test(paths_are_for_classes_seen),
        handle_test(a_space_that_is_right_is_kept),
        handle_test(loud_directions_are_whitened),
        handle_test(threads_change_nothing),
    };
    return cmocka_run_group_tests_name("unseen", tests, NULL, NULL);
}
