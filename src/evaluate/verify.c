/* verify.c - bdml_verify: are two points the same? Labelled pairs in folds; each fold is tested with a
 * metric and a threshold learned on the pairs of the other folds.
 *
 * Nothing of a fold that is tested enters its metric or its threshold. Scaling and PCA see no labels
 * at all; by the setting pca-on they see the rows of the training pairs only (train), or the rows of
 * all pairs (pairs) or of all data (all), and are then fitted once. The classes of the rows, where the
 * data have any, are never looked at. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    FOLDS = 10,   /* when neither the file nor a setting says */
    GATHER = 1024 /* scattered rows brought together at a time, to be prepared */
};

/* ---- setup ------------------------------------------------------------------------------------------- */

static void free_setup(bdml_verify_setup *s)
{
    for (int m = 0; s->score && m < s->methods; m++) {
        for (int f = 0; s->score[m].fold && f < s->pairs.folds; f++)
            json_decref(s->score[m].fold[f].chosen);
        free(s->score[m].fold);
    }
    free(s->score);
    bdml_labelled_free(&s->pairs);
    free(s->row);
    free(s->z);
}

static bdml_status list_methods(bdml_handle *h, const bdml_options *o, bdml_verify_setup *s)
{
    bdml_status status = BDML_OK;
    const bdml_method **method = NULL;
    int count;
    BDML_GO(bdml_methods_listed(h, o, BDML_USES_PAIRS, &count, &method));
    BDML_NEW(h, s->score, count);
    for (int m = 0; m < count; m++) {
        if (!(method[m]->uses & (BDML_USES_PAIRS | BDML_USES_NOTHING))) {
            status = bdml_fail(h, BDML_ERR_ARGUMENT,
                               "method %s learns from classes, not from pairs, and cannot verify",
                               method[m]->name);
            goto done;
        }
        s->score[m].method = method[m];
        BDML_NEW(h, s->score[m].fold, s->pairs.folds);
        s->methods++;
    }
done:
    free(method);
    return status;
}

/* Folds of the file, or our own. Every fold and its complement need pairs of both kinds. */
static bdml_status make_folds(bdml_handle *h, const bdml_options *o, int64_t n,
                              bdml_verify_setup *s)
{
    bdml_labelled_pairs *p = &s->pairs;
    int asked = (int)o->evaluate.folds.value;
    uint64_t seed = (uint64_t)o->general.seed.value;
    s->apart = true;
    s->dealt = !p->fold || asked > 0;
    if (s->dealt) {
        BDML_TRY(bdml_labelled_deal(h, n, asked > 0 ? asked : FOLDS, seed, p, &s->apart));
        if (!s->apart)
            bdml_log(h, BDML_LOG_WARNING,
                     "the pairs share so many rows that some rows are in several folds: the "
                     "accuracy on new rows may be lower");
    }
    if (p->folds < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "all pairs are in one fold: there is nothing else to learn from");
    return BDML_OK;
}

static bdml_status check_folds(bdml_handle *h, const bdml_labelled_pairs *p)
{
    for (int f = 0; f < p->folds; f++) {
        int64_t count[2] = {0};
        for (int64_t k = 0; k < p->count; k++)
            if (p->fold[k] == f) count[p->same[k]]++;
        if (count[0] == 0 || count[1] == 0)
            return bdml_fail(h, BDML_ERR_DATA,
                             "fold %d of %d has %lld pairs that are the same and %lld that are "
                             "not; it needs both",
                             f + 1, p->folds, (long long)count[1], (long long)count[0]);
    }
    return BDML_OK;
}

/* Rows that pairs name, ascending; pairs then number them 0, 1, ... */
static bdml_status number_rows(bdml_handle *h, int64_t n, bdml_verify_setup *s)
{
    bdml_status status = BDML_OK;
    int32_t *place = NULL;
    BDML_NEW(h, place, n);
    BDML_NEW(h, s->row, BDML_MIN(n, 2 * s->pairs.count));
    for (int64_t k = 0; k < 2 * s->pairs.count; k++) place[s->pairs.row[k]] = 1;
    for (int64_t i = 0; i < n; i++)
        if (place[i]) {
            place[i] = (int32_t)s->rows;
            s->row[s->rows++] = i;
        }
    for (int64_t k = 0; k < 2 * s->pairs.count; k++) s->pairs.row[k] = place[s->pairs.row[k]];
done:
    free(place);
    return status;
}

/* ---- preparation ---------------------------------------------------------------------------------------- */

/* Scaling and PCA of the rows listed (NULL: all), applied to every row of the setup: *z, the caller's. */
static bdml_status prepare_rows(bdml_handle *h, const bdml_verify_setup *s, int64_t count,
                                const int64_t *row, int *d, double *variance, double **z)
{
    bdml_status status = BDML_OK;
    const bdml_dataset *data = s->data;
    bdml_dataset *part = NULL;
    bdml_prepare p = {0};
    double *x = NULL;
    int64_t block = BDML_MIN((int64_t)GATHER, s->rows);

    *z = NULL;
    if (row) BDML_GO(bdml_dataset_subset(h, data, count, row, &part));
    BDML_GO(bdml_dataset_check_size(h, &s->options->prepare, part ? part : data));
    BDML_GO(bdml_prepare_fit(h, s->options, part ? part : data, &p));
    bdml_free_dataset(part);
    part = NULL;
    BDML_NEW(h, x, (size_t)block * (size_t)data->d);
    BDML_NEW(h, *z, (size_t)s->rows * (size_t)p.d_out);
    for (int64_t i = 0; i < s->rows; i += block) {
        int64_t rows = BDML_MIN(block, s->rows - i);
        for (int64_t r = 0; r < rows; r++) /* s->row: filled by number_rows */
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
            memcpy(COL(x, data->d, r), COL(data->x, data->d, s->row[i + r]),
                   sizeof(double) * (size_t)data->d);
        BDML_GO(bdml_prepare_apply(h, &p, rows, x, data->d, COL(*z, p.d_out, i)));
    }
    *d = p.d_out;
    *variance = p.variance;
done:
    if (status != BDML_OK) {
        free(*z);
        *z = NULL;
    }
    bdml_free_dataset(part);
    bdml_prepare_free(&p);
    free(x);
    return status;
}

/* ---- one fold -------------------------------------------------------------------------------------------- */

/* What the methods of one fold share. */
typedef struct fold_work {
    int number, d;
    double *z;                       /* all rows prepared */
    bool own;                        /* z is this fold's */
    int64_t rows;                    /* of the training pairs, */
    int64_t *row;                    /* as numbers into z; */
    int32_t *place;                  /* back from there, or -1 */
    bdml_labelled_pairs train, test; /* rows numbered among `row`; among all */
    bdml_constraints *constraints;   /* of train */
    bdml_dataset *points;            /* z of `row` */
    int64_t *pair;                   /* of test */
    double *value;
} fold_work;

static void free_work(fold_work *w)
{
    if (w->own) free(w->z);
    free(w->row);
    free(w->place);
    bdml_labelled_free(&w->train);
    bdml_labelled_free(&w->test);
    bdml_free_constraints(w->constraints);
    bdml_free_dataset(w->points);
    free(w->pair);
    free(w->value);
}

static bdml_status training_rows(bdml_handle *h, const bdml_verify_setup *s, fold_work *w)
{
    bdml_status status = BDML_OK;
    const bdml_labelled_pairs *p = &s->pairs;
    BDML_NEW(h, w->place, s->rows);
    BDML_NEW(h, w->row, s->rows);
    for (int64_t k = 0; k < p->count; k++)
        if (p->fold[k] != w->number) w->place[p->row[2 * k]] = w->place[p->row[2 * k + 1]] = 1;
    for (int64_t i = 0; i < s->rows; i++)
        if (w->place[i]) {
            w->place[i] = (int32_t)w->rows;
            w->row[w->rows++] = i;
        } else
            w->place[i] = -1;
done:
    return status;
}

static bdml_status prepare_fold(bdml_handle *h, const bdml_verify_setup *s, fold_work *w)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL;
    double variance;
    w->d = s->d;
    w->z = s->z;
    w->own = !s->z;
    if (!w->own) return BDML_OK;
    BDML_NEW(h, row, w->rows);
    for (int64_t r = 0; r < w->rows; r++) row[r] = s->row[w->row[r]];
    status = prepare_rows(h, s, w->rows, row, &w->d, &variance, &w->z);
done:
    free(row);
    return status;
}

static bdml_status start_fold(bdml_handle *h, const bdml_verify_setup *s, fold_work *w)
{
    bdml_status status = BDML_OK;
    BDML_GO(training_rows(h, s, w));
    BDML_GO(prepare_fold(h, s, w));
    BDML_GO(bdml_labelled_part(h, &s->pairs, w->number, false, w->place, &w->train));
    BDML_GO(bdml_labelled_part(h, &s->pairs, w->number, true, NULL, &w->test));
    BDML_GO(bdml_labelled_constraints(h, w->rows, &w->train, &w->constraints));
    bdml_dataset all = {.n = s->rows, .d = w->d, .x = w->z};
    BDML_GO(bdml_dataset_subset(h, &all, w->rows, w->row, &w->points));
    BDML_NEW(h, w->pair, 2 * w->test.count);
    BDML_NEW(h, w->value, w->test.count);
    for (int64_t k = 0; k < 2 * w->test.count; k++) w->pair[k] = w->test.row[k];
done:
    return status;
}

static bdml_status test_method(bdml_handle *h, const bdml_verify_setup *s, const fold_work *w,
                               const bdml_method *method, bdml_verified *out)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    int64_t right = 0;

    double start = bdml_now();
    BDML_GO(bdml_train_method(h, &s->training, method, w->points, w->constraints, &model));
    out->fit_seconds = bdml_now() - start;
    out->kappa = model->kappa;
    const json_t *ranged =
        json_object_get(json_object_get(model->info, "low_rank"), "kappa_on_range");
    out->kappa_on_range = ranged ? json_number_value(ranged) : NAN;
    out->threshold = model->calibration.threshold;
    out->train_accuracy = model->calibration.accuracy;
    out->chosen = json_incref(json_object_get(model->info, "selection"));
    BDML_GO(
        bdml_model_pair_scores(h, model, s->rows, w->z, w->d, w->test.count, w->pair, w->value));
    for (int64_t k = 0; k < w->test.count; k++)
        right += (w->value[k] >= out->threshold) == (w->test.same[k] == 1);
    out->accuracy = 100.0 * (double)right / (double)w->test.count;
    status = bdml_roc_measure(h, w->test.count, w->value, w->test.same, &out->roc);
done:
    bdml_free_model(model);
    return status;
}

static bdml_status run_fold(bdml_handle *h, void *user, int64_t job)
{
    bdml_status status = BDML_OK;
    const bdml_verify_setup *s = user;
    int fold = (int)job;
    fold_work w = {.number = fold};

    BDML_GO(start_fold(h, s, &w));
    for (int m = 0; m < s->methods; m++) {
        const bdml_method *method = s->score[m].method;
        status = test_method(h, s, &w, method, &s->score[m].fold[fold]);
        if (status != BDML_OK) {
            bdml_fail_context(h, status, "fold %d, method %s", fold + 1, method->name);
            goto done;
        }
    }
done:
    free_work(&w);
    return status;
}

/* ---- all folds --------------------------------------------------------------------------------------------- */

/* Points come prepared to training, and nobody asks the models of folds for neighbours. */
static bdml_options for_prepared(const bdml_options *o)
{
    bdml_options t = *o;
    t.prepare.scale = (bdml_choice){BDML_SCALE_NONE, true};
    t.prepare.pca = (bdml_real){0.0, true, false};
    t.train.keep_points = (bdml_choice){BDML_AUTO_NO, true};
    return t;
}

static bdml_status prepare_once(bdml_handle *h, const bdml_options *o, bdml_verify_setup *s)
{
    bool all = o->verify.pca_on.value == BDML_PCA_ON_ALL;
    return prepare_rows(h, s, s->rows, all ? NULL : s->row, &s->d, &s->variance, &s->z);
}

/* Takes over the pairs. */
static bdml_status verify(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                          bdml_labelled_pairs pairs, char **json)
{
    bdml_status status = BDML_OK;
    bdml_verify_setup s = {.options = o, .training = for_prepared(o), .data = data, .pairs = pairs};
    bool fitted = o->prepare.scale.value != BDML_SCALE_NONE || o->prepare.pca.value > 0.0 ||
                  o->input.missing.value == BDML_MISSING_MEAN;

    BDML_GO(make_folds(h, o, data->n, &s));
    BDML_GO(check_folds(h, &s.pairs));
    BDML_GO(number_rows(h, data->n, &s));
    BDML_GO(list_methods(h, o, &s));
    if (!fitted || o->verify.pca_on.value != BDML_PCA_ON_TRAIN) BDML_GO(prepare_once(h, o, &s));
    int64_t at_once = o->evaluate.jobs.value;
    bdml_jobs jobs = {.what = "verify",
                      .total = s.pairs.folds,
                      .count = s.pairs.folds,
                      .workers = at_once > 0 ? (int)at_once : bdml_threads(h),
                      .run = run_fold,
                      .user = &s,
                      .bytes = bdml_dataset_job_bytes(data)};
    BDML_GO(bdml_jobs_run(h, &jobs));
    status = bdml_verify_write(h, o, &s, json);
done:
    free_setup(&s);
    return status;
}

static bdml_status run(bdml_handle *h, const bdml_dataset *data, bdml_labelled_pairs pairs,
                       char **json)
{
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_EVALUATE, &call));
    bdml_status status = verify(h, &h->options, data, pairs, json);
    bdml_call_end(h, call);
    return status;
}

bdml_status bdml_verify(bdml_handle *h, const bdml_dataset *data, char **json)
{
    bdml_labelled_pairs pairs;
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_verify: data must not be NULL");
    if (!bdml_pairs_file_alone(&h->options.constraints))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "verification needs the setting pairs-file, and no other constraint file");
    BDML_TRY(bdml_refuse_checkpoint(h, &h->options.train));
    BDML_TRY(bdml_dataset_widen(h, data));
    BDML_TRY(bdml_labelled_read(h, h->options.constraints.pairs_file.value, data->n, true, &pairs));
    return bdml_dataset_confirm(h, data, run(h, data, pairs, json), json);
}

bdml_status bdml_verify_pairs(bdml_handle *h, const bdml_dataset *data,
                              const bdml_labelled_pairs *pairs, char **json)
{
    bdml_labelled_pairs copy;
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data || !pairs || !pairs->same)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_verify_pairs: data and pairs with their answers must be given");
    BDML_TRY(bdml_refuse_constraint_files(h, &h->options.constraints, "bdml_verify_pairs"));
    BDML_TRY(bdml_refuse_checkpoint(h, &h->options.train));
    BDML_TRY(bdml_dataset_widen(h, data));
    BDML_TRY(
        bdml_labelled_make(h, data->n, pairs->count, pairs->row, pairs->same, pairs->fold, &copy));
    return bdml_dataset_confirm(h, data, run(h, data, copy, json), json);
}
