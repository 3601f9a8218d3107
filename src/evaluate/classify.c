/* classify.c - bdml_evaluate: repeated splits, each method trained on the training rows and scored by
 * k-NN on the test rows. Scaling, PCA and everything else that is fitted sees training rows only. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- methods asked for ----------------------------------------------------------------------- */

static void free_scores(int count, bdml_score *score)
{
    for (int m = 0; score && m < count; m++) {
        free(score[m].error);
        free(score[m].kappa);
        free(score[m].fit_seconds);
        bdml_confusion_free(&score[m].confusion);
    }
    free(score);
}

static bdml_status init_score(bdml_handle *h, const bdml_method *method, int splits, int classes,
                              bdml_score *s)
{
    bdml_status status = BDML_OK;
    s->method = method;
    s->splits = splits;
    BDML_NEW(h, s->error, splits);
    BDML_NEW(h, s->kappa, splits);
    BDML_NEW(h, s->fit_seconds, splits);
    status = bdml_confusion_init(h, classes, &s->confusion);
done:
    return status;
}

/* "a,b,c" of the setting methods; unset: the setting method alone. */
static bdml_status list_methods(bdml_handle *h, int splits, int classes, int *count,
                                bdml_score **out)
{
    const char *list = bdml_opt_text(h, BDML_OPT_METHODS);
    if (!*list) list = bdml_opt_text(h, BDML_OPT_METHOD);
    int names = 1;
    for (const char *p = list; *p; p++) names += *p == ',';
    *count = 0;
    *out = bdml_calloc(h, (size_t)names, sizeof **out);
    if (!*out) return BDML_ERR_MEMORY;
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        const bdml_method *method = bdml_method_find(h, p, length);
        if (!method) return BDML_ERR_ARGUMENT;
        BDML_TRY(init_score(h, method, splits, classes, &(*out)[(*count)++]));
        p += length;
        if (!*p) return BDML_OK;
    }
}

/* ---- one split --------------------------------------------------------------------------------- */

static bdml_status score_method(bdml_handle *h, const bdml_dataset *train, const bdml_dataset *test,
                                int split, bdml_score *score)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    int32_t *predicted = NULL;
    int64_t wrong = 0;

    BDML_NEW(h, predicted, test->n);
    double start = bdml_now();
    BDML_GO(bdml_train_method(h, score->method, train, NULL, &model));
    score->fit_seconds[split] = bdml_now() - start;
    score->kappa[split] = model->kappa;
    BDML_GO(bdml_predict(h, model, train, test->n, test->x, test->d, predicted));
    for (int64_t i = 0; i < test->n; i++) {
        wrong += predicted[i] != test->y[i];
        bdml_confusion_add(&score->confusion, test->y[i], predicted[i]);
    }
    score->error[split] = 100.0 * (double)wrong / (double)test->n;
done:
    free(predicted);
    bdml_free_model(model);
    return status;
}

/* The rows of a split: order[0..train) to learn from, the rest to test on. */
static bdml_status split_rows(bdml_handle *h, const bdml_dataset *data, int split, int32_t *fold,
                              int64_t *order, int64_t *train)
{
    uint64_t seed = (uint64_t)bdml_opt_int(h, BDML_OPT_SEED);
    int folds = (int)bdml_opt_int(h, BDML_OPT_FOLDS);
    const int32_t *y = bdml_opt_int(h, BDML_OPT_STRATIFY) ? data->y : NULL;
    if (folds == 0)
        return bdml_split_random(h, data->n, y, bdml_opt_real(h, BDML_OPT_TEST_FRACTION), seed,
                                 (uint64_t)split, order, train);
    /* k-fold: split = repeat * folds + the fold that is tested. */
    BDML_TRY(bdml_split_folds(h, data->n, y, folds, seed, (uint64_t)(split / folds), fold));
    int64_t test = data->n;
    *train = 0;
    for (int64_t i = 0; i < data->n; i++)
        if (fold[i] != split % folds) order[(*train)++] = i;
    for (int64_t i = data->n - 1; i >= 0; i--)
        if (fold[i] == split % folds) order[--test] = i;
    return BDML_OK;
}

static bdml_status run_split(bdml_handle *h, const bdml_dataset *data, int split, int methods,
                             bdml_score *score, int32_t *fold, int64_t *order)
{
    bdml_status status = BDML_OK;
    bdml_dataset *train = NULL, *test = NULL;
    int64_t count;

    BDML_GO(split_rows(h, data, split, fold, order, &count));
    BDML_GO(bdml_dataset_subset(h, data, count, order, &train));
    BDML_GO(bdml_dataset_subset(h, data, data->n - count, order + count, &test));
    for (int m = 0; m < methods; m++) {
        int64_t fit = (int64_t)split * methods + m, fits = (int64_t)score[m].splits * methods;
        BDML_GO(bdml_progress(h, "evaluate", fit, fits));
        bdml_progress_hold(h, "evaluate", fit, fits);
        status = score_method(h, train, test, split, &score[m]);
        bdml_progress_release(h);
        if (status != BDML_OK) {
            bdml_fail_context(h, status, "split %d, method %s", split + 1, score[m].method->name);
            goto done;
        }
    }
done:
    bdml_free_dataset(train);
    bdml_free_dataset(test);
    return status;
}

/* ---- result ---------------------------------------------------------------------------------------- */

static json_t *list_of(int n, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real(v[i]));
    return list;
}

/* Per class, in percent; null for a class that was never tested. */
static json_t *recall_json(const bdml_confusion *c)
{
    json_t *list = json_array();
    for (int k = 0; k < c->classes; k++) {
        double recall = bdml_confusion_recall(c, k);
        json_array_append_new(list, isnan(recall) ? json_null() : json_real(recall));
    }
    return list;
}

static json_t *confusion_json(const bdml_confusion *c)
{
    json_t *rows = json_array();
    for (int t = 0; t < c->classes; t++) {
        json_t *row = json_array();
        for (int p = 0; p < c->classes; p++)
            json_array_append_new(row, json_integer(
                                           c->count[(size_t)t * (size_t)c->classes + (size_t)p]));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* An infinite kappa (singular M) is null: JSON has no infinity. */
static json_t *score_json(const bdml_score *s)
{
    double kappa = bdml_mean(s->splits, s->kappa);
    return json_pack("{s:s, s:f, s:f, s:o, s:f, s:o, s:o, s:o}", "method", s->method->name,
                     "error_mean", bdml_mean(s->splits, s->error), "error_std",
                     bdml_sample_std(s->splits, s->error), "kappa",
                     isfinite(kappa) ? json_real(kappa) : json_null(), "fit_seconds",
                     bdml_mean(s->splits, s->fit_seconds), "errors", list_of(s->splits, s->error),
                     "recall", recall_json(&s->confusion), "confusion",
                     confusion_json(&s->confusion));
}

static bdml_status write_result(bdml_handle *h, const bdml_dataset *data, int splits, int methods,
                                const bdml_score *score, char **json)
{
    int64_t folds = bdml_opt_int(h, BDML_OPT_FOLDS);
    json_t *list = json_array(), *classes = json_array();
    for (int m = 0; m < methods; m++) json_array_append_new(list, score_json(&score[m]));
    for (int c = 0; c < data->classes; c++)
        json_array_append_new(classes, bdml_json_text(data->class_name[c]));
    json_t *root = json_pack("{s:I, s:i, s:o, s:I, s:s, s:i, s:f, s:b, s:I, s:o}", "points",
                             (json_int_t)data->n, "dimension", data->d, "classes", classes,
                             "neighbors", (json_int_t)bdml_opt_int(h, BDML_OPT_NEIGHBORS), "scale",
                             bdml_opt_text(h, BDML_OPT_SCALE), "splits", splits, "test_fraction",
                             folds ? 1.0 / (double)folds : bdml_opt_real(h, BDML_OPT_TEST_FRACTION),
                             "stratified", (int)bdml_opt_int(h, BDML_OPT_STRATIFY), "seed",
                             (json_int_t)bdml_opt_int(h, BDML_OPT_SEED), "methods", list);
    if (root && data->source) json_object_set_new(root, "data", bdml_json_text(data->source));
    *json = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(root);
    return *json ? BDML_OK
                 : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while writing the result");
}

static bdml_status check_settings(bdml_handle *h, const bdml_dataset *data)
{
    int64_t folds = bdml_opt_int(h, BDML_OPT_FOLDS);
    double fraction = bdml_opt_real(h, BDML_OPT_TEST_FRACTION);
    BDML_TRY(bdml_dataset_need_classes(h, data));
    if (folds == 1 || folds > data->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "folds must be 0 (random splits) or from 2 to the number of points, %lld; "
                         "got %lld",
                         (long long)data->n, (long long)folds);
    if (folds == 0 && (fraction <= 0.0 || fraction >= 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "test-fraction must lie between 0 and 1, got %g",
                         fraction);
    return BDML_OK;
}

static bdml_status evaluate(bdml_handle *h, const bdml_dataset *data, char **json)
{
    bdml_status status = BDML_OK;
    int64_t folds = bdml_opt_int(h, BDML_OPT_FOLDS);
    int splits = (int)(folds ? folds : bdml_opt_int(h, BDML_OPT_SPLITS)), methods = 0;
    bdml_score *score = NULL;
    int64_t *order = NULL;
    int32_t *fold = NULL;

    BDML_GO(check_settings(h, data));
    BDML_GO(list_methods(h, splits, data->classes, &methods, &score));
    BDML_NEW(h, order, data->n);
    BDML_NEW(h, fold, data->n);
    for (int s = 0; s < splits; s++) BDML_GO(run_split(h, data, s, methods, score, fold, order));
    BDML_GO(bdml_progress(h, "evaluate", (int64_t)splits * methods, (int64_t)splits * methods));
    status = write_result(h, data, splits, methods, score, json);
done:
    free_scores(methods, score);
    free(order);
    free(fold);
    return status;
}

bdml_status bdml_evaluate(bdml_handle *h, const bdml_dataset *data, char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_evaluate: data must not be NULL");
    if (bdml_opt_text(h, BDML_OPT_CHECKPOINT)[0] || bdml_opt_text(h, BDML_OPT_RESUME)[0])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "checkpoint and resume are for one training: an evaluation trains many "
                         "times");
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_EVALUATE);
    bdml_status status = evaluate(h, data, json);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}
