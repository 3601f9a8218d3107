/* model.c - what a model says of itself, and that as a result: as train tells it, and for pages. */
#include "cli.h"

#include <string.h>

json_t *cli_describe(cli *c, const bdml_model *model)
{
    const char *text = bdml_model_describe(model);
    json_t *description = text ? json_loads(text, 0, NULL) : NULL;
    if (!description)
        client_fail(c->h, BDML_ERR_MEMORY, "out of memory while describing the model");
    return description;
}

void cli_certificate_json(const json_t *description, json_t *result)
{
    json_t *o = json_object_get(description, "certificate"), *value;
    const char *key;
    /* "kappa" is that of M on the prepared points; the cap holds relative to the reference */
    json_object_foreach(o, key, value)
        cli_put(result, strcmp(key, "kappa") == 0 ? "distortion_reached" : key, json_incref(value));
    value = json_object_get(json_object_get(description, "times"), "solve");
    if (o && value) cli_put(result, "seconds", json_incref(value));
}

/* A model learned from pairs knows from which score on they are the same. */
static void put_threshold(const json_t *description, json_t *result)
{
    const json_t *o = json_object_get(description, "verification");
    if (!json_object_get(o, "threshold")) return;
    cli_put(result, "score", json_string(client_string(o, "score")));
    cli_put(result, "threshold", cli_real(client_real(o, "threshold")));
    cli_put(result, "threshold_accuracy", cli_real(client_real(o, "accuracy")));
}

void cli_model_result(const bdml_model *model, const json_t *description, double seconds,
                      json_t *result)
{
    cli_put(result, "method", client_text(client_string(description, "method")));
    cli_put(result, "dimension", json_integer(bdml_model_metric_dimension(model)));
    cli_put(result, "rank", json_integer(bdml_model_output_dimension(model)));
    cli_put(result, "kappa", cli_real(bdml_model_kappa(model)));
    cli_put(result, "condition_number", cli_real(bdml_model_kappa(model)));
    cli_put(result, "fit_seconds", cli_real(seconds));
    cli_certificate_json(description, result);
    put_threshold(description, result);
    json_t *low = json_object_get(description, "low_rank");
    if (low) cli_put(result, "low_rank", json_incref(low));
}

bdml_status cli_model_pictures(cli *c, const bdml_model *model, const json_t *description,
                               json_t *result)
{
    static const char *const parts[] = {"selection", "history"};
    cli_spectrum spectrum;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        json_t *part = json_object_get(description, parts[k]);
        if (part) cli_put(result, parts[k], json_incref(part));
    }
    TRY(cli_spectrum_init(c, model, &spectrum));
    cli_spectrum_json(&spectrum, result);
    cli_spectrum_free(&spectrum);
    return cli_features_json(c, model, result);
}

bdml_status cli_model_run(cli *c, const char *path, json_t **run)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    json_t *description = NULL;

    *run = json_object();
    GO(bdml_load_model(c->h, path, &model));
    if (bdml_model_is_proof(model))
        GO(client_fail(
            c->h, BDML_ERR_DATA,
            "%s is a proof, not a model; a page of it is made of what train --json prints", path));
    description = cli_describe(c, model);
    if (!description) GO(BDML_ERR_MEMORY);
    json_t *line = json_object_get(c->result, "command_line");
    if (line) cli_put(*run, "command_line", json_incref(line));
    cli_put(*run, "data", client_text(client_string(description, "data")));
    cli_put(*run, "points",
            json_integer(json_integer_value(json_object_get(description, "training_points"))));
    cli_put(*run, "features", json_integer(bdml_model_input_dimension(model)));
    cli_put(*run, "classes", json_integer(bdml_model_classes(model)));
    cli_model_result(model, description, client_real(json_object_get(description, "times"), "fit"),
                     *run);
    cli_put(*run, "model", client_text(path));
    status = cli_model_pictures(c, model, description, *run);
done:
    json_decref(description);
    bdml_free_model(model);
    return status;
}
