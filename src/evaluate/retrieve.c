/* retrieve.c - bdml_retrieve: does a metric help to find rows of classes that it was not trained on? And what does it
 * do to those it was trained on? bdml_retrieve_queries: the same of queries that look for documents.
 *
 * Each entrant is trained on some rows of some classes, the space as it is ("euclidean" on the same preparation) among
 * them. Then each row of the other classes looks for its like among them, and so does each row of the classes trained
 * on that training left out. Queries: trained on some of them and all documents, then the others look for theirs, and so
 * do those trained on. Preparation, choices and everything else that is fitted sees training rows only. A job is
 * one entrant on one split. */
#include "evaluate/retrieve.h"

#include <stdlib.h>

#include "linalg/linalg.h"

static const char UNTOUCHED[] = "euclidean";

/* ---- one entrant on one split --------------------------------------------------------------------------- */

/* What method bdml chooses by itself where classes are unseen, it chooses for classes that are not there, unless the settings say otherwise. At each K of a grid only the cap changes: it is one on the distortion of the space as it is, and there is one weight
 * and one pass, unless the settings say otherwise. */
static bdml_options for_entrant(const bdml_options *o, double distortion)
{
    bdml_options t = *o;
    t.train.keep_points = (bdml_choice){BDML_AUTO_NO, true};
    if (!t.train.task.given && o->retrieve.unseen.value == BDML_UNSEEN_CLASSES)
        t.train.task.value = BDML_TASK_RETRIEVE;
    if (isnan(distortion)) return t;
    t.solve.distortion = (bdml_real){distortion, true, false};
    if (!t.train.reference.given) t.train.reference = (bdml_text){"none", true};
    if (!t.solve.softness.given) t.solve.softness = (bdml_real){5.0, true, false};
    if (!t.train.passes.given) t.train.passes = (bdml_int){1, true, false};
    return t;
}

/* Some rows of the data, mapped; *z: the caller's. */
static bdml_status map_rows(bdml_handle *h, const retrieval *r, const bdml_model *model,
                            int64_t count, const int64_t *row, bdml_dataset **rows, double **z,
                            bdml_rows *mapped)
{
    bdml_status status = BDML_OK;
    BDML_GO(bdml_dataset_subset(h, r->data.rows, count, row, rows));
    BDML_NEW(h, *z, (size_t)count * (size_t)model->q);
    BDML_GO(bdml_transform(h, model, count, (*rows)->x, (*rows)->d, *z));
    *mapped = (bdml_rows){count, model->q, model->q, *z, (*rows)->y, (*rows)->classes, NULL};
done:
    return status;
}

/* NMI and ARI, in percent, of as many groups as there are classes. */
static bdml_status cluster_rows(bdml_handle *h, const retrieval *r, const bdml_rows *rows,
                                double *measure)
{
    bdml_status status = BDML_OK;
    int32_t *group = NULL;
    unsigned char *there = NULL;
    bdml_agreement agreement;
    double energy;
    int k = 0;

    BDML_NEW(h, group, rows->n);
    BDML_NEW(h, there, rows->classes);
    for (int64_t i = 0; i < rows->n; i++) there[rows->y[i]] = 1;
    for (int c = 0; c < rows->classes; c++) k += there[c];
    BDML_GO(bdml_kmeans(h, rows, k, (uint64_t)r->options->general.seed.value, group, &energy));
    BDML_GO(bdml_compare_groups(h, rows->n, rows->classes, rows->y, k, group, &agreement));
    measure[RETRIEVE_NMI] = 100.0 * agreement.nmi;
    measure[RETRIEVE_ARI] = 100.0 * agreement.ari;
done:
    free(group);
    free(there);
    return status;
}

/* measure: retrieve_measures numbers. */
static bdml_status measure_scope(bdml_handle *h, const retrieval *r, const retrieve_search *s,
                                 const bdml_model *model, double *measure)
{
    bdml_status status = BDML_OK;
    bdml_dataset *rows = NULL, *asking = NULL;
    double *z = NULL, *zq = NULL;
    bdml_rows corpus, queries;
    bdml_answers answers = {0};
    bdml_ranking ranking;

    BDML_GO(map_rows(h, r, model, s->rows, s->row, &rows, &z, &corpus));
    if (s->query) BDML_GO(map_rows(h, r, model, s->queries, s->query, &asking, &zq, &queries));
    if (r->data.answers)
        BDML_GO(bdml_answers_of(h, r->data.answers, s->queries, s->query, 0, &answers));
    BDML_GO(bdml_rank(h, &r->options->neighbors, &corpus, s->query ? &queries : NULL,
                      r->data.answers ? &answers : NULL, &ranking));
    memcpy(measure, ranking.measure, sizeof ranking.measure);
    if (retrieve_measures(r->options) > BDML_RANKING_MEASURES)
        BDML_GO(cluster_rows(h, r, s->query ? &queries : &corpus, measure));
done:
    free(z);
    free(zq);
    bdml_free_dataset(rows);
    bdml_free_dataset(asking);
    bdml_answers_free(&answers);
    return status;
}

static bdml_status train_split(bdml_handle *h, const retrieval *r, const retrieve_split *s,
                               int entrant, bdml_model **model)
{
    bdml_status status = BDML_OK;
    const bdml_method *method = r->score[entrant].method;
    bdml_options own = for_entrant(r->options, r->distortion[entrant]);
    bdml_dataset *train = NULL;
    bdml_constraints *c = NULL;

    BDML_GO(retrieve_train_rows(h, &r->data, s, &train));
    if (r->data.answers) BDML_GO(retrieve_constraints(h, &own, method, &r->data, s, train, &c));
    status = bdml_train_method(h, &own, method, train, c, model);
done:
    bdml_free_constraints(c);
    bdml_free_dataset(train);
    return status;
}

static bdml_status score_split(bdml_handle *h, const retrieval *r, const retrieve_split *s,
                               int entrant, int split)
{
    bdml_status status = BDML_OK;
    bdml_score *score = &r->score[entrant];
    bdml_model *model = NULL;
    double measure[RETRIEVE_MEASURES];

    double start = bdml_now();
    BDML_GO(train_split(h, r, s, entrant, &model));
    BDML_GO(bdml_jobs_check(h));
    score->fit_seconds[split] = bdml_now() - start;
    score->kappa[split] = model->kappa;
    BDML_GO(bdml_score_keep_choice(h, model, split, score));
    for (int scope = 0; scope < RETRIEVE_SCOPES; scope++) {
        BDML_GO(measure_scope(h, r, &s->scope[scope], model, measure));
        if (scope == RETRIEVE_UNSEEN && isnan(measure[BDML_RECALL_1])) /* nobody asked */
            BDML_GO(bdml_fail(h, BDML_ERR_DATA, "no unseen row has another of its class to find"));
        for (int m = 0; m < retrieve_measures(r->options); m++)
            retrieve_values(r, entrant, (retrieve_scope)scope, m)[split] = measure[m];
    }
    score->error[split] =
        100.0 - retrieve_values(r, entrant, RETRIEVE_UNSEEN, BDML_RECALL_1)[split];
done:
    bdml_free_model(model);
    return status;
}

static bdml_status run_job(bdml_handle *own, void *user, int64_t job)
{
    const retrieval *r = user;
    int split = (int)(job / r->entrants), entrant = (int)(job % r->entrants), failed;
    bdml_score *score = &r->score[entrant];
    retrieve_split s;

#pragma omp critical(bdml_score)
    failed = score->failed;
    if (failed < split) return BDML_OK;
    BDML_TRY(retrieve_split_make(own, r->options, &r->data, split, &s));
    bdml_status status =
        bdml_score_settle(own, score_split(own, r, &s, entrant, split), split, score);
    retrieve_split_free(&s);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static bdml_status check_settings(bdml_handle *h, const bdml_options *o)
{
    double fraction = o->evaluate.test_fraction.value;
    BDML_TRY(bdml_refuse_checkpoint(h, &o->train));
    BDML_TRY(bdml_refuse_constraint_files(h, &o->constraints, "retrieve"));
    if (o->evaluate.folds.value != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "retrieval is measured on random splits: folds must be 0, see splits");
    if (fraction <= 0.0 || fraction >= 1.0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "test-fraction must lie between 0 and 1, got %g",
                         fraction);
    if (o->path.grid.given && !o->solve.distortion.automatic)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the grid has the distortions to go through; leave out distortion");
    return BDML_OK;
}

static int place_of(int count, const bdml_method *const *list, const bdml_method *method)
{
    int k = 0;
    while (k < count && list[k] != method) k++;
    return k;
}

/* The space as it is, the methods listed besides, and the grid. Beside a grid stands what method bdml chooses; of queries
 * it chooses nothing, and the grid alone stands for it. */
static bdml_status list_entrants(bdml_handle *h, const bdml_options *o, retrieval *r)
{
    bdml_status status = BDML_OK;
    const bdml_method **listed = NULL, **method = NULL, *untouched, *capped;
    bdml_grid grid = {0};
    int count = 0, n = 0;

    bdml_uses uses = r->data.answers ? BDML_USES_PAIRS | BDML_USES_TRIPLETS : BDML_USES_LABELS;
    BDML_GO(bdml_methods_listed(h, o, uses, &count, &listed));
    if (o->path.grid.given) BDML_GO(bdml_grid_read(h, &o->path, &grid));
    bool asked = o->evaluate.methods.given || o->train.method.given;
    if (grid.count > 0 && !asked && r->data.answers) count = 0;
    untouched = bdml_method_find(h, UNTOUCHED, strlen(UNTOUCHED));
    capped = bdml_method_find(h, "bdml", strlen("bdml"));
    BDML_NEW(h, method, 2 + count + grid.count);
    BDML_NEW(h, r->distortion, 2 + count + grid.count);
    method[n++] = untouched;
    for (int m = 0; m < count; m++)
        if (listed[m] != untouched) method[n++] = listed[m];
    if (grid.count > 0 && !r->data.answers && place_of(n, method, capped) == n)
        method[n++] = capped;
    for (int k = 0; k < n; k++) r->distortion[k] = NAN;
    for (int k = 0; k < grid.count; k++) {
        r->distortion[n] = grid.K[k];
        method[n++] = capped;
    }
    BDML_GO(bdml_scores_new(h, n, method, r->splits, 0, &r->score));
    r->entrants = n;
    BDML_NEW(h, r->value, (size_t)n * RETRIEVE_SCOPES * RETRIEVE_MEASURES * (size_t)r->splits);
done:
    free(listed);
    free(method);
    return status;
}

/* Measures of the splits that are kept, in the places of fewer splits. */
static void keep_values(retrieval *r, int splits, const int *kept)
{
    size_t rows = (size_t)r->entrants * RETRIEVE_SCOPES * RETRIEVE_MEASURES;
    for (size_t i = 0; i < rows; i++)
        for (int s = 0; s < splits; s++)
            r->value[i * (size_t)splits + (size_t)s] =
                r->value[i * (size_t)r->splits + (size_t)kept[s]];
    r->splits = splits;
}

static bdml_status retrieve(bdml_handle *h, const bdml_options *o, const retrieve_data *data,
                            char **json)
{
    bdml_status status = BDML_OK;
    retrieval r = {.options = o, .data = *data, .splits = (int)o->evaluate.splits.value};
    int64_t jobs = o->evaluate.jobs.value;
    int splits = r.splits, *kept = NULL;
    bool *finished = NULL;

    BDML_GO(list_entrants(h, o, &r));
    BDML_GO(retrieve_split_make(h, o, data, 0, &r.first));
    int64_t count = (int64_t)r.splits * r.entrants;
    BDML_NEW(h, finished, count);
    BDML_NEW(h, kept, splits);
    bdml_jobs run = {.what = "retrieve",
                     .total = count,
                     .count = count,
                     .workers = jobs > 0 ? (int)jobs : bdml_threads(h),
                     .run = run_job,
                     .user = &r,
                     .bytes = bdml_dataset_job_bytes(data->rows),
                     .until = bdml_time_share(h, BDML_EVALUATE_BY),
                     .finished = finished};
    BDML_GO(bdml_jobs_run(h, &run));
    BDML_GO(bdml_scores_keep(h, r.entrants, r.score, finished, &splits, kept));
    keep_values(&r, splits, kept);
    BDML_GO(bdml_scores_any(h, r.entrants, r.score));
    status = retrieve_write(h, &r, json);
done:
    free(finished);
    free(kept);
    bdml_scores_free(r.entrants, r.score);
    retrieve_split_free(&r.first);
    free(r.distortion);
    free(r.value);
    return status;
}

static bdml_status run(bdml_handle *h, const retrieve_data *data, char **json)
{
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_EVALUATE, &call));
    bdml_status status = retrieve(h, &h->options, data, json);
    bdml_call_end(h, call);
    return status;
}

bdml_status bdml_retrieve(bdml_handle *h, const bdml_dataset *data, char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_retrieve: data must not be NULL");
    BDML_TRY(check_settings(h, &h->options));
    BDML_TRY(bdml_dataset_need_classes(h, data));
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_status status = run(h, &(retrieve_data){.rows = data}, json);
    return bdml_dataset_confirm(h, data, status, json);
}

bdml_status bdml_retrieve_queries(bdml_handle *h, const bdml_dataset *queries,
                                  const bdml_dataset *corpus, const char *relevant, char **json)
{
    bdml_status status = BDML_OK;
    bdml_dataset *rows = NULL;
    bdml_answers answers = {0};

    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!queries || !corpus || !relevant)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_retrieve_queries: queries, corpus and relevant must not be NULL");
    BDML_GO(bdml_dataset_widen(h, queries));
    BDML_GO(bdml_dataset_widen(h, corpus));
    BDML_GO(check_settings(h, &h->options));
    if (retrieve_measures(&h->options) > BDML_RANKING_MEASURES)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "groups are compared with classes, which queries and documents do not "
                         "have: leave out cluster, and task at retrieve");
    if (h->options.prepare.scale.value == BDML_SCALE_AUTO)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "scale auto is chosen by rows of classes, which queries and documents do "
                         "not have: scale must be none, zscore, minmax or unit");
    BDML_GO(retrieve_join(h, queries, corpus, &rows));
    BDML_GO(bdml_answers_read(h, relevant, queries->n, corpus->n, false, &answers));
    status = run(h, &(retrieve_data){rows, &answers, queries->n}, json);
done:
    bdml_free_dataset(rows);
    bdml_answers_free(&answers);
    status = bdml_dataset_confirm(h, queries, status, json);
    return bdml_dataset_confirm(h, corpus, status, json);
}
