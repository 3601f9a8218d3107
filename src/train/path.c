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

static const double K_MOST = 1e12; /* as the setting distortion */

static bdml_status add_distortion(bdml_handle *h, const char *s, size_t n, recipe_grid *g)
{
    char word[BDML_EXCERPT_SIZE];
    double k, last = g->ks > 0 ? g->k[g->ks - 1] : 0.0;
    bdml_excerpt(s, n, word);
    if (!bdml_parse_double(h->c_locale, s, n, &k))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: '%s' is not a number", word);
    if (!isfinite(k))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: a distortion must be finite, got %s", word);
    if (k < 1.0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "grid: a distortion is at least 1 (the largest over the smallest "
                         "eigenvalue), got %s",
                         word);
    if (k > K_MOST)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: a distortion is at most %g, got %s", K_MOST,
                         word);
    if (k <= last)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid must ascend: %s comes after %g", word, last);
    if (g->ks == RECIPE_K_MAX)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "grid: more than %d distortions", RECIPE_K_MAX);
    g->k[g->ks++] = k;
    return BDML_OK;
}

static bdml_status read_grid(bdml_handle *h, recipe_grid *g)
{
    const char *p = bdml_opt_text(h, BDML_OPT_GRID);
    g->ks = 0;
    if (!p[strspn(p, " \t")])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "grid is empty: give distortions, ascending, such as 1,3,10,30,100");
    for (;; p++) {
        size_t n = strcspn(p, ",");
        BDML_TRY(add_distortion(h, p, n, g));
        p += n;
        if (!*p) return BDML_OK;
    }
}

bdml_status bdml_path_settings(bdml_handle *h, recipe_grid *g)
{
    const char *method = bdml_opt_text(h, BDML_OPT_METHOD);
    double fraction = bdml_opt_real(h, BDML_OPT_TEST_FRACTION);

    if (strcmp(method, "bdml") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a path is one of method bdml, got %s", method);
    if (bdml_opt_changed(h, BDML_OPT_DISTORTION))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path goes through the distortions of grid; leave out distortion");
    if (bdml_constraint_files_given(&h->options.constraints))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "a path mines constraints in the training rows of each split; leave out the "
            "constraint files");
    if (bdml_opt_text(h, BDML_OPT_CHECKPOINT)[0] || bdml_opt_text(h, BDML_OPT_RESUME)[0])
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path keeps no checkpoints; leave out checkpoint and resume");
    if (bdml_opt_int(h, BDML_OPT_FOLDS) != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "a path is measured on random splits: folds must be "
                         "0, see splits");
    if (!(fraction > 0.0 && fraction < 1.0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "test-fraction must lie between 0 and 1, got %g",
                         fraction);
    BDML_TRY(recipe_check_settings(h));
    recipe_make_grid(h, g);
    if (strcmp(bdml_opt_text(h, BDML_OPT_REFERENCE), "auto") == 0)
        g->reference[0] = BDML_REFERENCE_ZSCORE;
    g->references = g->cs = g->passes = 1;
    g->c[0] = bdml_opt_real(h, BDML_OPT_SOFTNESS);
    g->pass[0] = (int)bdml_opt_int(h, BDML_OPT_PASSES) - 1;
    g->stated = g->whole = true;
    return read_grid(h, g);
}

/* ---- sets of rows ------------------------------------------------------------------------------- */

/* Prepare rows order[0..train) and, by what was fitted on them, the rest. */
static bdml_status fill_fold(bdml_handle *h, const bdml_dataset *data, int64_t train,
                             const int64_t *order, recipe_fold *f)
{
    bdml_status status = BDML_OK;
    bdml_dataset *a = NULL, *b = NULL;
    bdml_prepare prepare = {0};

    BDML_GO(bdml_dataset_subset(h, data, train, order, &a));
    BDML_GO(bdml_dataset_subset(h, data, data->n - train, order + train, &b));
    BDML_GO(bdml_prepare_fit(h, &h->options, a, &prepare));
    f->d = prepare.d_out;
    f->classes = data->classes;
    f->train = a->n;
    f->test = b->n;
    BDML_NEW(h, f->x, (size_t)a->n * (size_t)f->d);
    BDML_NEW(h, f->vx, (size_t)b->n * (size_t)f->d);
    BDML_GO(bdml_prepare_apply(h, &prepare, a->n, a->x, a->d, f->x));
    if (b->n > 0) BDML_GO(bdml_prepare_apply(h, &prepare, b->n, b->x, b->d, f->vx));
    f->y = a->y;
    f->vy = b->y;
    a->y = b->y = NULL;
done:
    bdml_prepare_free(&prepare);
    bdml_free_dataset(a);
    bdml_free_dataset(b);
    return status;
}

static bdml_status make_set(bdml_handle *h, const bdml_dataset *data, int set, int64_t *order,
                            path_result *p, recipe_fold *f)
{
    int64_t train = data->n;
    if (set == 0)
        for (int64_t i = 0; i < data->n; i++) order[i] = i;
    else
        BDML_TRY(bdml_split_random(h, data->n, bdml_opt_int(h, BDML_OPT_STRATIFY) ? data->y : NULL,
                                   bdml_opt_real(h, BDML_OPT_TEST_FRACTION),
                                   (uint64_t)bdml_opt_int(h, BDML_OPT_SEED), (uint64_t)(set - 1),
                                   order, &train));
    BDML_TRY(fill_fold(h, data, train, order, f));
    if (set == 0) {
        p->features = f->d;
    } else {
        p->train = f->train;
        p->test = f->test;
    }
    return BDML_OK;
}

/* ---- choice of K ------------------------------------------------------------------------------------ */

/* By cross-validation inside the training rows of one set; the errors per K come out of its report. */
static bdml_status choose(bdml_handle *h, int set, const recipe_fold *f, path_result *p)
{
    bdml_training t = {f->train, f->d, f->x, f->y, f->classes, NULL, NULL};
    recipe_choice choice = {0};
    json_t *report = NULL, *row;
    size_t i;

    BDML_TRY(recipe_select(h, &t, &p->grid, &choice, &report));
    p->chosen[set] = choice.k;
    json_array_foreach(json_object_get(report, "tried"), i, row)
    {
        double K = json_number_value(json_object_get(row, "distortion"));
        for (int k = 0; k < p->grid.ks; k++) {
            if (p->grid.k[k] != K) continue;
            p->valid[set * p->grid.ks + k] = json_number_value(json_object_get(row, "error"));
            p->valid_se[set * p->grid.ks + k] =
                json_number_value(json_object_get(row, "standard_error"));
        }
    }
    json_decref(report);
    return BDML_OK;
}

/* ---- the path ------------------------------------------------------------------------------------------ */

static bdml_status init(bdml_handle *h, path_result *p)
{
    bdml_status status = BDML_OK;
    p->splits = (int)bdml_opt_int(h, BDML_OPT_SPLITS);
    int sets = p->splits + 1, cells = sets * p->grid.ks;
    BDML_NEW(h, p->record, cells);
    BDML_NEW(h, p->valid, cells);
    BDML_NEW(h, p->valid_se, cells);
    BDML_NEW(h, p->chosen, sets);
    for (int i = 0; i < cells; i++) {
        p->record[i] = (recipe_record){.train_error = NAN, .test_error = NAN};
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
}

/* As many sets beside each other as there are threads: no more copies of the data are needed. */
static bdml_status run_sets(bdml_handle *h, const bdml_dataset *data, path_result *p)
{
    bdml_status status = BDML_OK;
    int sets = p->splits + 1, beside = BDML_MIN(bdml_threads(h), sets);
    recipe_fold *folds = NULL;
    recipe_job *jobs = NULL;
    int64_t *order = NULL;

    BDML_NEW(h, folds, beside);
    BDML_NEW(h, jobs, beside);
    BDML_NEW(h, order, data->n);
    for (int set = 0; set < sets; set += beside) {
        int count = BDML_MIN(beside, sets - set);
        for (int i = 0; i < count; i++) {
            BDML_GO(make_set(h, data, set + i, order, p, &folds[i]));
            jobs[i] =
                (recipe_job){.grid = &p->grid, .fold = &folds[i], .record = path_at(p, set + i, 0)};
        }
        BDML_GO(recipe_run_jobs(h, "path", set, sets, count, jobs, NULL));
        for (int i = 0; i < count; i++) {
            BDML_GO(choose(h, set + i, &folds[i], p));
            recipe_free_fold(&folds[i]);
        }
    }
done:
    for (int i = 0; folds && i < beside; i++) recipe_free_fold(&folds[i]);
    free(folds);
    free(jobs);
    free(order);
    return status;
}

static bdml_status path(bdml_handle *h, const bdml_dataset *data, char **json)
{
    bdml_status status = BDML_OK;
    path_result p = {0};
    double start = bdml_now();

    BDML_GO(bdml_path_settings(h, &p.grid));
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
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    bdml_status status = path(h, data, json);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}
