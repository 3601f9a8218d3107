/* certifying.h - train, certify, and what the verdict says */
#ifndef BDML_TESTS_CERTIFYING_H
#define BDML_TESTS_CERTIFYING_H

#include "check.h"

#include <jansson.h>

#include "certify/stated.h"

static inline const char *file_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/test_certify.%d.bdml", BDML_TEST_BINARY_DIR, (int)getpid());
    return path;
}

static inline bdml_dataset *read_data(bdml_handle *h, const char *name)
{
    bdml_dataset *data = NULL;
    check_ok(h, bdml_set(h, "threads", "1")); /* problems too small for two */
    check_ok(h, bdml_read_dataset(h, source_path(name), &data));
    return data;
}

/* "name value name value ..." */
static inline void set_all(bdml_handle *h, const char *settings)
{
    char text[512], *save = NULL;
    snprintf(text, sizeof text, "%s", settings);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save))
        check_ok(h, bdml_set(h, name, strtok_r(NULL, " ", &save)));
}

/* Save, certify, and give the verdict. */
static inline json_t *certify(bdml_handle *h, const bdml_model *model, const bdml_dataset *data)
{
    char *text = NULL;
    int confirmed = -1;
    check_ok(h, bdml_save_model(h, model, file_path()));
    check_ok(h, bdml_certify(h, file_path(), data, &confirmed, &text));
    json_t *o = json_loads(text, 0, NULL);
    assert_non_null(o);
    assert_int_equal(json_is_true(json_object_get(o, "confirmed")), confirmed);
    bdml_free_bytes(text);
    unlink(file_path());
    return o;
}

static inline const json_t *find_check(const json_t *verdict, const char *name)
{
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(verdict, "checks"), i,
                       check) if (strcmp(json_string_value(json_object_get(check, "check")),
                                         name) == 0) return check;
    return NULL;
}

static inline void confirm(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                           const char *claim)
{
    json_t *o = certify(h, model, data);
    if (!json_is_true(json_object_get(o, "confirmed")))
        fail_msg("not confirmed: %s", json_dumps(o, JSON_INDENT(1)));
    assert_string_equal(json_string_value(json_object_get(o, "claim")), claim);
    json_decref(o);
}

/* The named check must be among those that fail. */
static inline void refute(bdml_handle *h, const bdml_model *model, const bdml_dataset *data,
                          const char *name)
{
    json_t *o = certify(h, model, data);
    const json_t *check = find_check(o, name);
    if (json_is_true(json_object_get(o, "confirmed")) || !check ||
        json_is_true(json_object_get(check, "passed")))
        fail_msg("'%s' did not refute: %s", name, json_dumps(o, JSON_INDENT(1)));
    json_decref(o);
}

static inline bdml_model *train(bdml_handle *h, const bdml_dataset *data, const char *settings,
                                bdml_status wanted)
{
    bdml_model *model = NULL;
    set_all(h, settings);
    bdml_status status = bdml_train(h, data, NULL, &model);
    if (status != wanted)
        fail_msg("%s: %s: %s", settings, bdml_status_text(status), bdml_last_error(h));
    assert_non_null(model);
    return model;
}

static inline double trace_of(const bdml_model *model)
{
    return json_number_value(json_object_get(json_object_get(model->info, "certificate"), "trace"));
}

static inline int64_t heaviest(const bdml_evidence *e)
{
    int64_t k = 0;
    for (int64_t i = 0; i < e->duals; i++)
        if (e->dual[i] > e->dual[k]) k = i;
    return k;
}

/* Change one number, have the change refuted by that check, and put the number back. */
static inline void alter(bdml_handle *h, bdml_model *model, bdml_dataset *data, double *number,
                         double value, const char *name)
{
    double was = *number;
    *number = value;
    refute(h, model, data, name);
    *number = was;
}

#endif
