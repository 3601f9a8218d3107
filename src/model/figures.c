/* figures.c - the certificate and the choices of a model as numbers, for programs that do not read JSON. */
#include "model/model.h"

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int64_t count(const json_t *o, const char *key)
{
    double v = number(o, key);
    return isnan(v) ? 0 : (int64_t)v;
}

int bdml_model_certificate(const bdml_model *model, bdml_certificate *out)
{
    const json_t *o = model ? json_object_get(model->info, "certificate") : NULL;
    if (!o || !out) return 0;
    *out = (bdml_certificate){
        .status = json_string_value(json_object_get(o, "status")),
        .reference = json_string_value(json_object_get(o, "reference")),
        .upper = number(o, "upper"),
        .lower = number(o, "lower"),
        .gap = number(o, "gap"),
        .cap = number(o, "distortion"),
        .distortion = number(o, "kappa"),
        .softness = number(o, "softness"),
        .constraints = count(o, "constraints"),
        .active = count(o, "active"),
        .iterations = count(o, "iterations"),
    };
    return 1;
}

int bdml_model_chosen(const bdml_model *model, bdml_chosen *out)
{
    const json_t *o = model ? json_object_get(model->info, "selection") : NULL;
    if (!o || !out) return 0;
    *out = (bdml_chosen){
        .reference = json_string_value(json_object_get(o, "reference")),
        .distortion = number(o, "distortion"),
        .softness = number(o, "weight"),
        .passes = (int)count(o, "passes"),
        .error = number(o, "error"),
        .standard_error = number(o, "standard_error"),
        .folds = (int)count(o, "folds"),
    };
    return 1;
}
