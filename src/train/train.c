/* train.c - from a data set to a model: prepare, fit, keep the mapped points for k-NN, and write down
 * what was done. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

static bdml_status check_data(bdml_handle *h, const bdml_dataset *data)
{
    if (data->n < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "training needs at least 2 points, the data have %" PRId64, data->n);
    return BDML_OK;
}

/* Settings that say how to compute, not what: models that differ in these alone are the same. */
static bool is_means(int option)
{
    return option == BDML_OPT_THREADS || option == BDML_OPT_MEMORY || option == BDML_OPT_SEARCH ||
           option == BDML_OPT_CANDIDATES || option == BDML_OPT_CHECKPOINT ||
           option == BDML_OPT_EVERY || option == BDML_OPT_RESUME || option == BDML_OPT_JOBS;
}

json_t *bdml_settings_json(const bdml_handle *h, const bdml_options *o)
{
    json_t *settings = json_object();
    char room[BDML_SAID_SIZE];
    int bad = 0;
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *row = bdml_option_at(i);
        const char *text = bdml_option_said(h, o, i, room);
        if (strcmp(text, row->default_value) != 0 && !is_means(i))
            bad |= json_object_set_new(settings, row->name, bdml_json_text(text));
    }
    if (!bad) return settings;
    json_decref(settings);
    return NULL;
}

/* Method, fingerprint and the settings that were changed: enough to train the same model again. What
 * differs from run to run stands under "times" alone. */
static bdml_status describe(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                            const bdml_dataset *data, double seconds, bdml_model *model)
{
    char fingerprint[24];
    int bad = 0;
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, bdml_dataset_fingerprint(data));
    bad |= json_object_set_new(model->info, "method", json_string(method->name));
    bad |= json_object_set_new(model->info, "settings", bdml_settings_json(h, o));
    bad |= json_object_set_new(model->info, "data_fingerprint", json_string(fingerprint));
    bad |= json_object_set_new(model->info, "training_points", json_integer(data->n));
    json_t *times = json_object_get(model->info, "times");
    if (!times) {
        times = json_object();
        bad |= json_object_set_new(model->info, "times", times);
    }
    bad |= json_object_set_new(times, "fit", json_real(seconds));
    if (data->source) bad |= json_object_set_new(model->info, "data", bdml_json_text(data->source));
    return bad ? bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model")
               : BDML_OK;
}

/* A pairs-file alone is read as pairs, whatever the kind; its folds are kept together as groups. */
static bdml_status read_pairs(bdml_handle *h, const char *path, int64_t n, bdml_constraints **out)
{
    bdml_labelled_pairs pairs;
    *out = NULL;
    BDML_TRY(bdml_labelled_read(h, path, n, true, &pairs));
    bdml_status status = bdml_labelled_constraints(h, n, &pairs, out);
    bdml_labelled_free(&pairs);
    if (status != BDML_OK) return bdml_fail_context(h, status, "%s", path);
    bdml_check_report(h, *out);
    return BDML_OK;
}

static bdml_status train(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                         const bdml_dataset *data, const bdml_constraints *given, bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {0};
    bdml_model *model = NULL;
    bdml_dataset prepared = *data; /* the same rows and classes with other coordinates */
    bdml_constraints *pairs = NULL;
    double start = bdml_now();

    prepared.x = NULL;
    BDML_GO(check_data(h, data));
    if (!given && bdml_pairs_file_alone(&o->constraints)) {
        BDML_GO(read_pairs(h, o->constraints.pairs_file.value, data->n, &pairs));
        given = pairs;
    }
    BDML_GO(bdml_prepare_fit(h, o, data, &prepare));
    prepared.d = prepare.d_out;
    prepared.x = bdml_alloc(h, (size_t)data->n * (size_t)prepare.d_out, sizeof *prepared.x);
    if (!prepared.x) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    BDML_GO(bdml_prepare_apply(h, &prepare, data->n, data->x, data->d, prepared.x));
    BDML_GO(bdml_model_new(h, data, &prepare, prepared.d, &model));
    bdml_training t = {data->n, prepared.d, prepared.x, data->y, data->classes, given, NULL};
    BDML_GO(method->fit(h, o, &t, model));
    bdml_yes_no_auto keep = (bdml_yes_no_auto)o->train.keep_points.value;
    BDML_GO(bdml_model_keep_points(h, keep, model, data->n, prepared.x, data->y));
    if (given) BDML_GO(bdml_calibrate(h, data, given, model));
    BDML_GO(describe(h, o, method, data, bdml_now() - start, model));
done:
    bdml_free_constraints(pairs);
    free(prepared.x);
    bdml_prepare_free(&prepare);
    if (status == BDML_ERR_INFEASIBLE && model &&
        describe(h, o, method, data, bdml_now() - start, model) != BDML_OK)
        status = BDML_ERR_MEMORY;
    if (status == BDML_OK || status == BDML_ERR_INFEASIBLE)
        *out = model; /* infeasible: a model without a map, the proof */
    else
        bdml_free_model(model);
    return status;
}

/* What auto settled, into the "selection" of the description, where the number of neighbours is found
 * again by bdml_predict. */
static bdml_status tell_choice(bdml_handle *h, const bdml_options *chosen, bool scale,
                               bool neighbors, bdml_model *model)
{
    json_t *selection = json_object_get(model->info, "selection");
    int bad = 0;
    if (!selection) {
        selection = json_object();
        bad |= json_object_set_new(model->info, "selection", selection);
    }
    if (scale) {
        size_t n;
        const char *word = bdml_choice_word(BDML_WORDS(SCALE), chosen->prepare.scale.value, &n);
        bad |= json_object_set_new(selection, "scale", json_stringn(word, n));
    }
    if (neighbors)
        bad |= json_object_set_new(selection, "neighbors",
                                   json_integer(chosen->neighbors.neighbors.value));
    return bad ? bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model")
               : BDML_OK;
}

/* Settle scale and neighbors and train with them. The number of neighbours is said by the choice alone: the
 * setting stays auto. */
static bdml_status train_auto(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                              const bdml_dataset *data, const bdml_constraints *given,
                              bdml_model **out)
{
    bdml_options chosen = *o, own = *o;
    BDML_TRY(bdml_auto_choose(h, &chosen, method, data, given));
    own.prepare.scale.value = chosen.prepare.scale.value;
    bdml_status status = train(h, &own, method, data, given, out);
    if (status == BDML_OK)
        status = tell_choice(h, &chosen, o->prepare.scale.value == BDML_SCALE_AUTO,
                             o->neighbors.neighbors.automatic, *out);
    if (status == BDML_OK || status == BDML_ERR_INFEASIBLE) return status;
    bdml_free_model(*out);
    *out = NULL;
    return status;
}

/* Methods for two domains, and those that are no metric, have nothing to train here. */
static bdml_status check_method(bdml_handle *h, const bdml_method *method)
{
    if (!(method->uses & BDML_USES_DOMAINS) && method->fit) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "method %s learns from two domains%s: use it in 'bdml adapt'", method->name,
                     method->fit ? "" : " and is a classifier, not a metric");
}

bdml_status bdml_train_method(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                              const bdml_dataset *data, const bdml_constraints *constraints,
                              bdml_model **out)
{
    *out = NULL;
    BDML_TRY(check_method(h, method));
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    bdml_status status =
        (bdml_auto_wanted(o) ? train_auto : train)(h, o, method, data, constraints, out);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}

static bdml_status train_adapted(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                 const bdml_dataset *data, const bdml_domain *target,
                                 bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {0};
    bdml_model *model = NULL;
    double start = bdml_now();

    BDML_GO(check_data(h, data));
    BDML_GO(
        bdml_prepare_fit(h, o, data, &prepare)); /* nothing to prepare but what must be finite */
    BDML_GO(bdml_model_new(h, data, &prepare, data->d, &model));
    bdml_training t = {data->n, data->d, data->x, data->y, data->classes, NULL, target};
    BDML_GO(method->fit(h, o, &t, model));
    status = describe(h, o, method, data, bdml_now() - start, model);
done:
    bdml_prepare_free(&prepare);
    if (status == BDML_OK)
        *out = model;
    else
        bdml_free_model(model);
    return status;
}

bdml_status bdml_train_adapted(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                               const bdml_dataset *data, const bdml_domain *target,
                               bdml_model **out)
{
    *out = NULL;
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    bdml_status status = train_adapted(h, o, method, data, target, out);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_train_with(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                            const bdml_constraints *constraints, bdml_model **out)
{
    const char *name = o->train.method.value;
    const bdml_method *method = bdml_method_find(h, name, strlen(name));
    *out = NULL;
    if (!method) return BDML_ERR_ARGUMENT;
    BDML_TRY(bdml_checkpoint_open(h, o, data));
    bdml_status status = bdml_train_method(h, o, method, data, constraints, out);
    bdml_checkpoint_close(h, status);
    return status;
}

bdml_status bdml_train(bdml_handle *h, const bdml_dataset *data,
                       const bdml_constraints *constraints, bdml_model **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_train: data must not be NULL");
    return bdml_train_with(h, &h->options, data, constraints, out);
}
