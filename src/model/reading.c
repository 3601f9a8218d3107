/* reading.c - files read as the training data of a model were: same columns, same label, same spelling.
 *
 * A model remembers the settings it was trained under. Those of group "input" that the caller has not given
 * are taken from there. What only new data can lack (the label, its variable) may be missing. */
#include "model/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *remembered(const json_t *settings, const char *name)
{
    return json_string_value(json_object_get(settings, name));
}

static void take_TEXT(const bdml_handle *h, const json_t *settings, int row, bdml_text *to)
{
    const char *text = remembered(settings, bdml_option_at(row)->name);
    (void)h;
    if (!to->given && text) to->value = text;
}

static void take_CHOICE(const bdml_handle *h, const json_t *settings, int row, bdml_choice *to)
{
    const bdml_option *o = bdml_option_at(row);
    const char *text = remembered(settings, o->name);
    bdml_parsed parsed;
    char why[BDML_ERROR_SIZE];
    if (!to->given && text && bdml_option_parse(o, text, h->c_locale, &parsed, why, sizeof why))
        to->value = (int)parsed.i;
}

/* The settings "input" of the handle, and those of the model where they are not given. Texts are borrowed from the
 * model. */
static bdml_input_options input_of(const bdml_handle *h, const bdml_model *model)
{
    bdml_input_options o = h->options.input, asked = o;
    const json_t *settings = json_object_get(model->info, "settings");
#define BDML_OPT(id, field, name, group, type, def, lo, hi, automatic, choices, meta, help) \
    take_##type(h, settings, BDML_OPT_##id, &o.field);
#include "base/options/input.def"
#undef BDML_OPT
    o.format =
        asked.format; /* new data may come in another one; the label is where wanted_of says */
    o.header = asked.header;
    o.label = asked.label;
    return o;
}

/* What stands behind these names is of the process that was training. */
static bool is_of_process(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0 ||
           strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* A pipe or device that a model names would be waited for; who means it says so. What is not there the reader tells. */
static bdml_status check_labels_file(bdml_handle *h, const char *path)
{
    struct stat st;
    if (h->options.input.labels_file.given || !*path) return BDML_OK;
    if (!is_of_process(path) && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) return BDML_OK;
    return bdml_fail(
        h, BDML_ERR_IO,
        "%s: the model says that its labels stand here, and this is no file; say where "
        "they are with --labels-file",
        path);
}

static bdml_wanted wanted_of(const bdml_model *model)
{
    const json_t *label = json_object_get(model->info, "label_column");
    return (bdml_wanted){model->prepare.d_in, model->feature_name, json_string_value(label)};
}

bdml_status bdml_open_model_source(bdml_handle *h, const bdml_model *model, const char *path,
                                   bdml_source **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path || !model)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_open_model_source: model and path must not be NULL");
    bdml_input_options o = input_of(h, model);
    const bdml_wanted wanted = wanted_of(model);
    o.labels_file =
        h->options.input.labels_file; /* that of the training rows is none of new ones */
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    bdml_status status = bdml_source_open(h, &o, path, &wanted, out);
    bdml_phase_leave(h, previous);
    return status;
}

bdml_status bdml_read_model_dataset(bdml_handle *h, const bdml_model *model, const char *path,
                                    bdml_dataset **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path || !model)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_read_model_dataset: model and path must not be NULL");
    const bdml_input_options o = input_of(h, model);
    const bdml_wanted wanted = wanted_of(model);
    BDML_TRY(check_labels_file(h, o.labels_file.value));
    return bdml_dataset_read(h, &o, &wanted, path, out);
}

int bdml_model_trained_on(const bdml_model *model, const bdml_dataset *data)
{
    char now[24];
    const char *then = model ? remembered(model->info, "data_fingerprint") : NULL;
    if (!then || !data) return 0;
    snprintf(now, sizeof now, "%016" PRIx64, bdml_dataset_fingerprint(data));
    return strcmp(now, then) == 0;
}
