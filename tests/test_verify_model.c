/* test_verify_model.c - a model's scores of pairs: the same from memory and from files. */
#include "verify_world.h"

#include <jansson.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(scores_and_files),
        handle_test(models_without_threshold),
        handle_test(cap_from_pairs),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
