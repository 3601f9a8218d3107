/* path.c - bdml_path: metrics for ascending K, each solve from the one before.
 *
 * Reference, constraints and C are the same for every K, so that only the cap changes:
 *
 *     f(K) = min { <G,M> + (C/m) sum_t phi(mu_t - <A_t,M>) : kappa(M) <= K }    falls with K.
 *
 * All rows give the bracket on f(K) and kappa; random splits give the errors on rows that the metric has
 * not seen. Inside the training rows of each split, and of all rows, K is chosen by cross-validation.
 * Everything that is fitted (preparation, reference, constraints, metric, K) sees training rows only. */
#include "train/path.h"

#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- settings ----------------------------------------------------------------------------------- */

static bdml_status make_plan(bdml_handle *h, const bdml_options *o, bdml_plan *plan)
{
    double fraction = o->evaluate.test_fraction.value;
    bdml_grid grid;

    *plan = (bdml_plan){0};
    if (strcmp(o->train.method.value, "bdml") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a path is one of method bdml, got %s",
                         o->train.method.value);
    if (!o->solve.distortion.automatic)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path goes through the distortions of grid; leave out distortion");
    if (bdml_constraint_files_given(&o->constraints))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "a path mines constraints in the training rows of each split; leave out the "
            "constraint files");
    if (o->train.checkpoint.value[0] || o->train.resume.value[0])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path keeps no checkpoints; leave out checkpoint and resume");
    if (o->evaluate.folds.value != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path is measured on random splits: folds must be "
                         "0, see splits");
    if (!(fraction > 0.0 && fraction < 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "test-fraction must lie between 0 and 1, got %g",
                         fraction);
    _Static_assert((int)BDML_GRID_MOST <= (int)BDML_PLAN_CAPS, "a plan has room for every grid");
    BDML_TRY(bdml_grid_read(h, &o->path, &grid));
    return bdml_plan_path(h, o, grid.count, grid.K, plan);
}

bdml_status bdml_path_check(bdml_handle *h, const bdml_options *o)
{
    bdml_plan plan;
    bdml_status status = make_plan(h, o, &plan);
    bdml_plan_free(&plan);
    return status;
}

/* ---- sets of rows ------------------------------------------------------------------------------- */

/* The rows of a data set, prepared in their place where they keep their number of columns. */
static bdml_status prepare_rows(bdml_handle *h, const bdml_prepare *p, bdml_dataset *rows,
                                double **own)
{
    bdml_status status = BDML_OK;
    double *wide = NULL;
    if (p->d_out == p->d_in) {
        *own = rows->x;
        rows->x = NULL;
    } else {
        BDML_NEW(h, *own, (size_t)rows->n * (size_t)p->d_out);
        wide = rows->x;
    }
    if (rows->n > 0) status = bdml_prepare_apply(h, p, rows->n, wide ? wide : *own, p->d_in, *own);
done:
    return status;
}

/* Prepare rows order[0..train) and, by what was fitted on them, the rest. */
static bdml_status fill_part(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                             int64_t train, const int64_t *order, bdml_part *part)
{
    bdml_status status = BDML_OK;
    bdml_dataset *a = NULL, *b = NULL;
    bdml_prepare prepare = {0};

    BDML_GO(bdml_dataset_subset(h, data, train, order, &a));
    BDML_GO(bdml_dataset_subset(h, data, data->n - train, order + train, &b));
    BDML_GO(bdml_dataset_check_size(h, &o->prepare, a));
    BDML_GO(bdml_prepare_fit(h, o, a, &prepare));
    BDML_GO(prepare_rows(h, &prepare, a, &part->own_x));
    BDML_GO(prepare_rows(h, &prepare, b, &part->own_vx));
    part->vy = part->own_vy = b->y;
    part->own_y = a->y;
    a->y = b->y = NULL;
    part->vx = part->own_vx;
    part->test = b->n;
    part->t = (bdml_training){a->n, prepare.d_out, part->own_x, part->own_y, data->classes,
                              NULL, NULL,          NULL,        NULL};
done:
    bdml_prepare_free(&prepare);
    bdml_free_dataset(a);
    bdml_free_dataset(b);
    return status;
}

static bdml_status make_set(bdml_handle *h, const bdml_dataset *data, int set, int64_t *order,
                            path_result *p, bdml_part *part)
{
    const bdml_options *o = p->plan.o;
    int64_t train = data->n;
    if (set == 0)
        for (int64_t i = 0; i < data->n; i++) order[i] = i;
    else
        BDML_TRY(bdml_split_random(h, data->n, o->evaluate.stratify.value ? data->y : NULL,
                                   o->evaluate.test_fraction.value, (uint64_t)o->general.seed.value,
                                   (uint64_t)(set - 1), order, &train));
    BDML_TRY(fill_part(h, o, data, train, order, part));
    if (set == 0) {
        p->features = part->t.d;
    } else {
        p->train = part->t.n;
        p->test = part->test;
    }
    return BDML_OK;
}

/* ---- one set ---------------------------------------------------------------------------------------- */

/* A set under way. */
typedef struct recorder {
    const bdml_part *part;
    const double *vp;    /* rows left out, under the reference */
    path_record *record; /* per cap */
} recorder;

/* Error in percent of the vote of the nearest mapped training rows. rows NULL: of the training rows, each
 * without itself. */
static bdml_status vote_error(const bdml_fit *f, const bdml_rows *voters, const bdml_rows *rows,
                              double *error)
{
    const bdml_neighbor_options *o = &f->plan->o->neighbors;
    const int votes = (int)o->neighbors.value;
    int64_t wrong = 0;
    BDML_TRY(bdml_vote_errors(f->h, o, voters, rows, 1, &votes, &wrong));
    *error = 100.0 * (double)wrong / (double)(rows ? rows : voters)->n;
    return BDML_OK;
}

/* Errors of the metric m, or NULL: of the reference itself. */
static bdml_status note_errors(const recorder *n, const bdml_fit *f, const double *m,
                               path_record *record)
{
    bdml_status status = BDML_OK;
    const bdml_training *t = f->t;
    int r = f->reference.rows, q;
    double *l = NULL, *z = NULL, *vz = NULL;

    BDML_GO(bdml_map_metric(f->h, r, m, &q, &l));
    BDML_GO(bdml_map_points(f->h, q, r, l, t->n, f->p, &z));
    const bdml_rows learn = {t->n, q, q, z, t->y, t->classes, NULL};
    BDML_GO(vote_error(f, &learn, NULL, &record->train_error));
    if (n->part->test == 0) goto done;
    BDML_GO(bdml_map_points(f->h, q, r, l, n->part->test, n->vp, &vz));
    const bdml_rows left_out = {n->part->test, q, q, vz, n->part->vy, t->classes, NULL};
    status = vote_error(f, &learn, &left_out, &record->test_error);
done:
    free(l);
    free(z);
    free(vz);
    return status;
}

static bdml_status note_solve(void *user, const bdml_fit *f, bool last, int effort, int cap,
                              const bdml_solve_result *r)
{
    const recorder *n = user;
    (void)effort;
    path_record *record = &n->record[cap];
    record->solved = true;
    record->outcome = r->outcome;
    record->collapsed = r->collapsed;
    record->lower = r->lower;
    record->upper = r->upper;
    record->gap = r->gap;
    record->kappa = bdml_is_usable(r) ? r->kappa : NAN;
    record->C = r->C;
    record->C0 = r->C0;
    record->seconds = r->seconds;
    record->iterations = r->iterations;
    return last && bdml_is_usable(r) ? note_errors(n, f, r->m, record) : BDML_OK;
}

/* What the jobs share. */
typedef struct batch {
    const path_result *p;
    int first; /* set */
    const bdml_part *part;
} batch;

/* All caps of a set. K = 1 is solved too: the objective there is wanted. */
static bdml_status run_set(bdml_handle *own, void *user, int64_t job)
{
    bdml_status status = BDML_OK;
    const batch *b = user;
    const bdml_plan *plan = &b->p->plan;
    const bdml_part *part = &b->part[job];
    recorder n = {.part = part, .record = path_at(b->p, b->first + (int)job, 0)};
    bool wanted[BDML_PLAN_CAPS];
    bdml_fit f = {0};
    bdml_sweep w = {.fit = &f, .wanted = wanted, .precise = true, .solved = note_solve, .user = &n};
    double *own_vp = NULL;

    for (int k = 0; k < plan->caps; k++) wanted[k] = true;
    BDML_GO(bdml_fit_open(own, plan, &part->t, plan->reference[0], NULL, true, &f));
    BDML_GO(bdml_reference_apply(own, &f.reference, part->test, part->vx, &n.vp, &own_vp));
    if (plan->cap[0] == 1.0) BDML_GO(note_errors(&n, &f, NULL, &n.record[0]));
    BDML_GO(bdml_sweep_run(&w));
    status = bdml_jobs_check(own);
done:
    bdml_sweep_free(&w);
    bdml_fit_close(&f);
    free(own_vp);
    return status;
}

/* K by cross-validation inside the training rows of one set. `steps` of the path are done: a set takes two, its solves and
 * this choice. */
static bdml_status choose(bdml_handle *h, int set, int steps, const bdml_part *part, path_result *p)
{
    bdml_selection s;
    bdml_progress_hold(h, "path", steps, 2 * ((int64_t)p->splits + 1));
    bdml_status status = bdml_select(h, &p->plan, &part->t, &s);
    bdml_progress_release(h);
    if (status != BDML_OK) return status;
    p->chosen[set] = s.chosen;
    for (int k = 0; k < p->plan.caps; k++) {
        if (isnan(s.mean[k])) continue;
        p->valid[set * p->plan.caps + k] = s.mean[k];
        p->valid_se[set * p->plan.caps + k] = s.se[k];
    }
    bdml_selection_free(&s);
    return BDML_OK;
}

/* ---- the path ------------------------------------------------------------------------------------------ */

static bdml_status init(bdml_handle *h, path_result *p)
{
    bdml_status status = BDML_OK;
    p->splits = (int)p->plan.o->evaluate.splits.value;
    int sets = p->splits + 1, cells = sets * p->plan.caps;
    BDML_NEW(h, p->record, cells);
    BDML_NEW(h, p->valid, cells);
    BDML_NEW(h, p->valid_se, cells);
    BDML_NEW(h, p->chosen, sets);
    for (int i = 0; i < cells; i++) {
        p->record[i] = (path_record){.train_error = NAN, .test_error = NAN};
        p->valid[i] = p->valid_se[i] = NAN;
    }
done:
    return status;
}

static void drop(path_result *p)
{
    free(p->record);
    free(p->valid);
    free(p->valid_se);
    free(p->chosen);
    bdml_plan_free(&p->plan);
}

/* Of the time left, for the solves; the choices in the last sets take the rest. */
static const double SETS_BY = 0.85;

/* The sets that were finished, one after the other: all rows and a split at least. */
static bdml_status keep_sets(bdml_handle *h, int sets, path_result *p)
{
    if (sets == p->splits + 1) return BDML_OK;
    if (sets < 2)
        return bdml_fail(h, BDML_ERR_CANCELLED,
                         "the time limit was over before the path of all rows and of one split");
    bdml_log(h, BDML_LOG_WARNING,
             "the time limit was over after %d of %d splits: the figures are over those", sets - 1,
             p->splits);
    p->splits = sets - 1;
    return BDML_OK;
}

/* As many sets beside each other as there are threads: no more copies of the data are needed. */
static bdml_status run_sets(bdml_handle *h, const bdml_dataset *data, path_result *p)
{
    bdml_status status = BDML_OK;
    int sets = p->splits + 1, beside = BDML_MIN(bdml_threads(h), sets), done = 0;
    double until = bdml_time_share(h, SETS_BY);
    bdml_part *parts = NULL;
    int64_t *order = NULL;
    bool *finished = NULL;

    BDML_NEW(h, parts, beside);
    BDML_NEW(h, finished, beside);
    BDML_NEW(h, order, data->n);
    for (int set = 0; set < sets && done == set; set += beside) {
        int count = BDML_MIN(beside, sets - set);
        for (int i = 0; i < count; i++) BDML_GO(make_set(h, data, set + i, order, p, &parts[i]));
        batch b = {p, set, parts};
        bdml_jobs jobs = {.what = "path",
                          .done = 2 * (int64_t)set,
                          .total = 2 * (int64_t)sets,
                          .count = count,
                          .workers = bdml_threads(h),
                          .run = run_set,
                          .user = &b,
                          .until = until,
                          .finished = finished};
        BDML_GO(bdml_jobs_run(h, &jobs));
        for (int i = 0; i < count; i++) {
            if (finished[i] && done == set + i) {
                BDML_GO(choose(h, set + i, 2 * set + count + i, &parts[i], p));
                done++;
            }
            finished[i] = false;
            bdml_part_free(&parts[i]);
        }
    }
    status = keep_sets(h, done, p);
done:
    for (int i = 0; parts && i < beside; i++) bdml_part_free(&parts[i]);
    free(parts);
    free(order);
    free(finished);
    return status;
}

static bdml_status path(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                        char **json)
{
    bdml_status status = BDML_OK;
    path_result p = {0};
    double start = bdml_now();

    BDML_GO(make_plan(h, o, &p.plan));
    BDML_GO(bdml_dataset_need_classes(h, data));
    BDML_GO(init(h, &p));
    BDML_GO(run_sets(h, data, &p));
    p.seconds = bdml_now() - start;
    status = path_write(h, data, &p, json);
done:
    drop(&p);
    return status;
}

bdml_status bdml_path(bdml_handle *h, const bdml_dataset *data, char **json)
{
    if (!h || !json) return BDML_ERR_ARGUMENT;
    *json = NULL;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_path: data must not be NULL");
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_call call;
    BDML_TRY(bdml_call_begin(h, BDML_PHASE_SOLVE, &call));
    bdml_status status = path(h, &h->options, data, json);
    bdml_call_end(h, call);
    return bdml_dataset_confirm(h, data, status, json);
}
