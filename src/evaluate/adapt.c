/* adapt.c - bdml_adapt: methods side by side on the same splits of two domains.
 *
 * Unsupervised: learn from the split's source rows, test on every target row. Semi-supervised: the
 * split's labelled target rows join them, test on its test rows. Preparation sees target rows without
 * their labels. A metric is scored by k-NN among the labelled rows; a classifier answers for itself.
 *
 * A job is one split with all methods. What a method chooses it chooses by cross-validation inside the
 * rows it learns from: no label of a test row exists for it. */
#include "evaluate/adapt.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* What the jobs share. */
typedef struct adaptation {
    const bdml_options *options;         /* what the user set */
    bdml_options training;               /* the same for the training of prepared points */
    const bdml_dataset *source, *target; /* after the setting "rows"; classes numbered alike */
    adapt_splits splits;
    int methods;
    bdml_score *score;
    bool semi;
} adaptation;

/* The rows of one job: what is learned from, who votes, and what is tested. */
typedef struct task {
    adapt_points points;
    bdml_dataset source; /* labelled source rows, reduced */
    bdml_dataset voters; /* and with the labelled target rows, when semi-supervised */
    bdml_dataset scaled; /* as voters, before PCA: for methods with subspaces of their own */
    int32_t *known;      /* class of every target row that is known, else -1 */
    int64_t tests;
    const int64_t *test; /* rows of the target; NULL: all */
    int64_t *all;
} task;

/* ---- the two domains ------------------------------------------------------------------------------------- */

/* Copy of the target whose classes have the source's numbers. */
static bdml_status align(bdml_handle *h, const bdml_dataset *source, const bdml_dataset *target,
                         bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL;
    int32_t *number = NULL;

    BDML_NEW(h, row, target->n);
    BDML_NEW(h, number, target->classes);
    for (int64_t i = 0; i < target->n; i++) row[i] = i;
    for (int c = 0; c < target->classes; c++) {
        number[c] = -1;
        for (int k = 0; k < source->classes && number[c] < 0; k++)
            if (strcmp(target->class_name[c], source->class_name[k]) == 0) number[c] = k;
        if (number[c] < 0)
            BDML_GO(bdml_fail(h, BDML_ERR_DATA,
                              "the target has the class '%s', which the source has not: it could "
                              "never be answered",
                              target->class_name[c]));
    }
    BDML_GO(bdml_dataset_subset(h, target, target->n, row, out));
    for (int64_t i = 0; i < target->n; i++) (*out)->y[i] = number[target->y[i]];
    (*out)->classes = source->classes; /* names are the source's; those here are not asked for */
done:
    free(row);
    free(number);
    return status;
}

static bdml_status check_domains(bdml_handle *h, const bdml_dataset *source,
                                 const bdml_dataset *target)
{
    BDML_TRY(bdml_dataset_need_classes(h, source));
    if (!target->y || target->n < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "the target needs at least 2 rows with labels: without them there is "
                         "nothing to score; got %lld rows%s",
                         (long long)target->n, target->y ? "" : " without labels");
    if (source->d != target->d)
        return bdml_fail(h, BDML_ERR_DATA, "the source has %d features, the target %d", source->d,
                         target->d);
    return BDML_OK;
}

/* ---- one split ------------------------------------------------------------------------------------------- */

static void task_free(task *t)
{
    adapt_points_free(&t->points);
    free(t->voters.x);
    free(t->voters.y);
    free(t->scaled.x);
    free(t->known);
    free(t->all);
    *t = (task){0};
}

/* n source rows of d, and behind them the labelled target rows. */
static void gather(int64_t ns, int d, const double *xs, const double *xt, const adapt_split *s,
                   int64_t labelled, double *out)
{
    memcpy(out, xs, sizeof *out * (size_t)ns * (size_t)d);
    for (int64_t k = 0; k < labelled; k++)
        memcpy(COL(out, d, ns + k), COL(xt, d, s->target[k]), sizeof *out * (size_t)d);
}

static bdml_status task_make(bdml_handle *h, const adaptation *a, const adapt_split *s, task *t)
{
    bdml_status status = BDML_OK;
    adapt_points *p = &t->points;
    int64_t labelled = a->semi ? s->targets : 0, n = s->sources + labelled;

    BDML_GO(adapt_prepare(h, a->options, a->source, a->target, s, p));
    t->voters = *a->source;
    t->voters.x = NULL;
    t->voters.y = NULL;
    t->voters.n = n;
    t->voters.d = p->q;
    t->voters.feature_name = NULL;
    t->scaled = t->voters;
    t->scaled.d = p->d;
    BDML_NEW(h, t->voters.x, (size_t)n * (size_t)p->q);
    BDML_NEW(h, t->scaled.x, (size_t)n * (size_t)p->d);
    BDML_NEW(h, t->voters.y, n);
    BDML_NEW(h, t->known, p->nt);
    gather(p->ns, p->q, p->zs, p->zt, s, labelled, t->voters.x);
    gather(p->ns, p->d, p->xs, p->xt, s, labelled, t->scaled.x);
    for (int64_t i = 0; i < s->sources; i++) t->voters.y[i] = a->source->y[s->source[i]];
    for (int64_t i = 0; i < p->nt; i++) t->known[i] = -1;
    for (int64_t k = 0; k < labelled; k++)
        t->voters.y[s->sources + k] = t->known[s->target[k]] = a->target->y[s->target[k]];
    t->scaled.y = t->voters.y;
    t->source = t->voters;
    t->source.n = s->sources;
    t->tests = a->semi ? s->tests : p->nt;
    BDML_NEW(h, t->all, p->nt);
    for (int64_t i = 0; i < p->nt; i++) t->all[i] = i;
    t->test = a->semi ? s->test : t->all;
done:
    return status;
}

/* Classes of the target rows x, all of them, by the method: a metric with k-NN, or its own answer. */
static bdml_status answer(bdml_handle *h, const bdml_options *o, const task *t, int split,
                          bdml_score *score, int32_t *label)
{
    const bdml_method *m = score->method;
    const adapt_points *p = &t->points;
    bool subspaces = (m->uses & BDML_USES_DOMAINS) && m->fit;
    const bdml_dataset *voters = subspaces ? &t->scaled : &t->voters;
    const double *x = subspaces ? p->xt : p->zt;
    bdml_domain target = {p->nt, x, t->known};
    bdml_model *model = NULL;

    if (m->classify) {
        bdml_training own = {t->source.n, p->q,    p->zs, t->voters.y, t->voters.classes,
                             NULL,        &target, NULL,  NULL};
        score->kappa[split] = NAN;
        return m->classify(h, o, &own, p->nt, x, label);
    }
    bdml_dataset learn = *voters;
    if (subspaces) learn.n = t->source.n;
    bdml_status status = bdml_train_adapted(h, o, m, &learn, &target, &model);
    if (status == BDML_OK) {
        score->kappa[split] = model->kappa;
        status = bdml_score_keep_choice(h, model, split, score);
    }
    if (status == BDML_OK)
        status = bdml_predict_with(h, &o->neighbors, model, voters, p->nt, x, learn.d, label);
    bdml_free_model(model);
    return status;
}

static bdml_status score_method(bdml_handle *h, const adaptation *a, const task *t, int split,
                                bdml_score *score)
{
    bdml_status status = BDML_OK;
    int32_t *label = NULL;
    int64_t wrong = 0;

    BDML_NEW(h, label, t->points.nt);
    double start = bdml_now();
    BDML_GO(answer(h, &a->training, t, split, score, label));
    score->fit_seconds[split] = bdml_now() - start;
    for (int64_t k = 0; k < t->tests; k++) wrong += label[t->test[k]] != a->target->y[t->test[k]];
    score->error[split] = 100.0 * (double)wrong / (double)t->tests;
#pragma omp critical(bdml_score)
    for (int64_t k = 0; k < t->tests; k++)
        bdml_confusion_add(&score->confusion, a->target->y[t->test[k]], label[t->test[k]]);
done:
    free(label);
    return status;
}

/* Points come prepared, so the methods prepare nothing, and bdml learns relative to them: of its recipe the
 * distortion is left to choose, the smallest within half a standard error of the best. */
static bdml_options for_prepared(const bdml_options *o)
{
    bdml_options t = *o;
    if (!t.train.reference.given) t.train.reference = (bdml_text){"none", true};
    if (!t.solve.softness.given) t.solve.softness = (bdml_real){5.0, true, false};
    if (!t.train.passes.given) t.train.passes = (bdml_int){1, true, false};
    if (!t.train.se_rule.given) t.train.se_rule = (bdml_real){0.5, true, false};
    t.prepare.scale = (bdml_choice){BDML_SCALE_NONE, true};
    t.prepare.pca = (bdml_real){0.0, true, false};
    t.train.keep_points = (bdml_choice){BDML_AUTO_NO, true};
    t.neighbors.neighbors = (bdml_int){o->adapt.votes.value, true, false};
    return t;
}

static bdml_status run_job(bdml_handle *own, void *user, int64_t job)
{
    bdml_status status = BDML_OK;
    const adaptation *a = user;
    int split = (int)job;
    task t = {0};

    BDML_GO(task_make(own, a, &a->splits.split[split], &t));
    for (int m = 0; m < a->methods; m++) {
        bdml_score *score = &a->score[m];
        BDML_GO(bdml_score_settle(own, score_method(own, a, &t, split, score), split, score));
    }
done:
    task_free(&t);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static bdml_status run_splits(bdml_handle *h, adaptation *a)
{
    int64_t jobs = a->options->evaluate.jobs.value;
    bdml_jobs run = {.what = "adapt",
                     .total = a->splits.count,
                     .count = a->splits.count,
                     .workers = jobs > 0 ? (int)jobs : bdml_threads(h),
                     .run = run_job,
                     .user = a};
    BDML_TRY(bdml_jobs_run(h, &run));
    return bdml_scores_any(h, a->methods, a->score);
}

static bdml_status copy_rows(bdml_handle *h, const bdml_dataset *data, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL;
    BDML_NEW(h, row, data->n);
    for (int64_t i = 0; i < data->n; i++) row[i] = i;
    status = bdml_dataset_subset(h, data, data->n, row, out);
done:
    free(row);
    return status;
}

static bdml_status adapt(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                         const bdml_dataset *target, char **json)
{
    bdml_status status = BDML_OK;
    const bdml_method **method = NULL;
    bdml_dataset *xs = NULL, *xt = NULL;
    adaptation a = {.options = o, .training = for_prepared(o), .semi = o->adapt.semi.value};

    BDML_GO(check_domains(h, source, target));
    BDML_GO(bdml_methods_listed(h, o, BDML_USES_LABELS, &a.methods, &method));
    BDML_GO(copy_rows(h, source, &xs));
    BDML_GO(align(h, source, target, &xt));
    BDML_GO(adapt_rows(h, &o->adapt, xs));
    BDML_GO(adapt_rows(h, &o->adapt, xt));
    a.source = xs;
    a.target = xt;
    BDML_GO(adapt_splits_make(h, o, xs, xt, &a.splits));
    BDML_GO(bdml_scores_new(h, a.methods, method, a.splits.count, xs->classes, &a.score));
    BDML_GO(run_splits(h, &a));
    adapt_result r = {source,    target, &a.splits, a.semi ? a.splits.split[0].tests : target->n,
                      a.methods, a.score};
    status = adapt_write(h, o, &r, json);
done:
    if (xt) xt->classes = target->classes; /* as many as it has names */
    bdml_scores_free(a.methods, a.score);
    adapt_splits_free(&a.splits);
    bdml_free_dataset(xs);
    bdml_free_dataset(xt);
    free(method);
    return status;
}

bdml_status bdml_adapt(bdml_handle *h, const bdml_dataset *source, const bdml_dataset *target,
                       char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!source || !target)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_adapt: the data must not be NULL");
    BDML_TRY(bdml_refuse_checkpoint(h, &h->options.train));
    BDML_TRY(bdml_refuse_constraint_files(h, &h->options.constraints, "adapt"));
    BDML_TRY(bdml_dataset_widen(h, source));
    BDML_TRY(bdml_dataset_widen(h, target));
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_EVALUATE, &call));
    bdml_status status = adapt(h, &h->options, source, target, json);
    bdml_call_end(h, call);
    status = bdml_dataset_confirm(h, source, status, json);
    return bdml_dataset_confirm(h, target, status, json);
}
