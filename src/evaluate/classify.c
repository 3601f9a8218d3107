/* classify.c - bdml_evaluate: repeated splits, each method trained on the training rows and scored by
 * k-NN on the test rows. Scaling, PCA, every choice and everything else that is fitted sees training
 * rows only.
 *
 * A job is one method on one split; jobs are dealt out to the ranks of the handle. A method that refuses the data (too few points of a class, margins
 * proven infeasible, ...) is out, with its reason; the others go on. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* Numbers that a job leaves. */
enum { ERROR, KAPPA, SECONDS, NUMBERS };

/* What the jobs share. */
typedef struct evaluation {
    const bdml_options *options;
    bdml_protocol protocol;
    int methods;
    bdml_score *score;
    double (*number)[NUMBERS]; /* of each job */
} evaluation;

/* ---- one split ------------------------------------------------------------------------------------ */

/* The rows of a split: order[0..train) to learn from, the rest to test on. */
static bdml_status split_rows(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                              int split, int64_t *order, int64_t *train)
{
    bdml_status status = BDML_OK;
    uint64_t seed = (uint64_t)o->general.seed.value;
    int folds = (int)o->evaluate.folds.value;
    const int32_t *y = o->evaluate.stratify.value ? data->y : NULL;
    int32_t *fold = NULL;
    if (folds == 0)
        return bdml_split_random(h, data->n, y, o->evaluate.test_fraction.value, seed,
                                 (uint64_t)split, order, train);
    BDML_NEW(h, fold, data->n);
    BDML_GO(bdml_split_folds(h, data->n, y, folds, seed, 0, fold));
    int64_t test = data->n;
    *train = 0;
    for (int64_t i = 0; i < data->n; i++)
        if (fold[i] != split) order[(*train)++] = i;
    for (int64_t i = data->n - 1; i >= 0; i--)
        if (fold[i] == split) order[--test] = i;
done:
    free(fold);
    return status;
}

static bdml_status make_split(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                              int split, bdml_dataset **train, bdml_dataset **test)
{
    bdml_status status = BDML_OK;
    int64_t *order = NULL, count;
    BDML_NEW(h, order, data->n);
    BDML_GO(split_rows(h, o, data, split, order, &count));
    BDML_GO(bdml_dataset_subset(h, data, count, order, train));
    BDML_GO(bdml_dataset_subset(h, data, data->n - count, order + count, test));
done:
    free(order);
    return status;
}

/* ---- one method on one split ------------------------------------------------------------------------ */

static bdml_status score_split(bdml_handle *h, const bdml_options *o, const bdml_dataset *train,
                               const bdml_dataset *test, int split, bdml_score *score,
                               double number[NUMBERS])
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    int32_t *predicted = NULL;
    int64_t wrong = 0;

    BDML_NEW(h, predicted, test->n);
    double start = bdml_now();
    BDML_GO(bdml_train_method(h, o, score->method, train, NULL, &model));
    BDML_GO(bdml_jobs_check(h));
    number[SECONDS] = bdml_now() - start;
    number[KAPPA] = model->kappa;
    BDML_GO(bdml_score_keep_choice(h, model, split, score));
    BDML_GO(
        bdml_predict_with(h, &o->neighbors, model, train, test->n, test->x, test->d, predicted));
    for (int64_t i = 0; i < test->n; i++) wrong += predicted[i] != test->y[i];
    number[ERROR] = 100.0 * (double)wrong / (double)test->n;
#pragma omp critical(bdml_score)
    for (int64_t i = 0; i < test->n; i++)
        bdml_confusion_add(&score->confusion, test->y[i], predicted[i]);
done:
    free(predicted);
    bdml_free_model(model);
    return status;
}

static bdml_status run_job(bdml_handle *own, void *user, int64_t job)
{
    bdml_status status = BDML_OK;
    evaluation *e = user;
    int split = (int)(job / e->methods), failed;
    bdml_score *score = &e->score[job % e->methods];
    bdml_dataset *train = NULL, *test = NULL;

#pragma omp critical(bdml_score)
    failed = score->failed;
    if (failed < split) return BDML_OK;
    BDML_GO(make_split(own, e->options, e->protocol.data, split, &train, &test));
    status = score_split(own, e->options, train, test, split, score, e->number[job]);
    status = bdml_score_settle(own, status, split, score);
done:
    bdml_free_dataset(train);
    bdml_free_dataset(test);
    return status;
}

static void take_numbers(const evaluation *e)
{
    for (int64_t job = 0; job < (int64_t)e->protocol.splits * e->methods; job++) {
        bdml_score *score = &e->score[job % e->methods];
        int64_t split = job / e->methods;
        score->error[split] = e->number[job][ERROR];
        score->kappa[split] = e->number[job][KAPPA];
        score->fit_seconds[split] = e->number[job][SECONDS];
    }
}

/* ---- the evaluation ---------------------------------------------------------------------------------- */

static bdml_status check_settings(bdml_handle *h, const bdml_options *o, const bdml_dataset *data)
{
    int64_t folds = o->evaluate.folds.value;
    double fraction = o->evaluate.test_fraction.value;
    BDML_TRY(bdml_refuse_constraint_files(h, &o->constraints, "eval"));
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

static bdml_status init(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                        evaluation *e)
{
    bdml_status status = BDML_OK;
    const bdml_method **method = NULL;
    int64_t *order = NULL;
    bdml_protocol *p = &e->protocol;

    e->options = o;
    p->data = data;
    p->folds = (int)o->evaluate.folds.value;
    p->splits = p->folds ? p->folds : (int)o->evaluate.splits.value;
    BDML_GO(bdml_methods_listed(h, o, BDML_USES_LABELS, &e->methods, &method));
    BDML_GO(bdml_scores_new(h, e->methods, method, p->splits, data->classes, &e->score));
    BDML_NEW(h, order, data->n);
    BDML_GO(split_rows(h, o, data, 0, order, &p->train));
    p->test = data->n - p->train;
done:
    free(method);
    free(order);
    return status;
}

static bdml_status evaluate(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                            char **json)
{
    bdml_status status = BDML_OK;
    evaluation e = {0};
    bool *finished = NULL;
    int *kept = NULL;
    int64_t jobs = o->evaluate.jobs.value;

    BDML_GO(check_settings(h, o, data));
    BDML_GO(init(h, o, data, &e));
    int64_t count = (int64_t)e.protocol.splits * e.methods;
    BDML_NEW(h, e.number, count);
    BDML_NEW(h, finished, count);
    BDML_NEW(h, kept, e.protocol.splits);
    bdml_jobs run = {.what = "evaluate",
                     .total = count,
                     .count = count,
                     .workers = jobs > 0 ? (int)jobs : bdml_threads(h),
                     .run = run_job,
                     .user = &e,
                     .bytes = bdml_dataset_job_bytes(data),
                     .result = e.number[0],
                     .size = NUMBERS,
                     .until = bdml_time_share(h, BDML_EVALUATE_BY),
                     .finished = finished};
    BDML_GO(bdml_jobs_run(h, &run));
    take_numbers(&e);
    BDML_GO(bdml_scores_gather(h, e.methods, e.score));
    BDML_GO(bdml_scores_keep(h, e.methods, e.score, finished, &e.protocol.splits, kept));
    BDML_GO(bdml_scores_any(h, e.methods, e.score));
    status = bdml_evaluate_write(h, o, &e.protocol, e.methods, e.score, json);
done:
    free(e.number);
    free(finished);
    free(kept);
    bdml_scores_free(e.methods, e.score);
    return status;
}

bdml_status bdml_evaluate(bdml_handle *h, const bdml_dataset *data, char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_evaluate: data must not be NULL");
    BDML_TRY(bdml_refuse_checkpoint(h, &h->options.train));
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_options o = h->options;
    if (!o.neighbors.neighbors.given) o.neighbors.neighbors.automatic = false; /* alike for all */
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_EVALUATE, &call));
    bdml_status status = evaluate(h, &o, data, json);
    bdml_call_end(h, call);
    return bdml_dataset_confirm(h, data, status, json);
}
