/* cmd_info_model.c - bdml info FILE, for a model: one screen of it; with --all its whole self-description and the
 * spectrum of M. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_WIDTH = 19, LINE_WIDTH = 79 };

/* Long values are broken where they may be, after commas. */
static void print_line(const char *key, const char *text)
{
    int column = client_print(stdout, "%-*s", LABEL_WIDTH, key);
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, ",");
        n += p[n] == ',';
        if (column > LABEL_WIDTH && column + n > LINE_WIDTH) {
            client_print(stdout, "\n%*s", LABEL_WIDTH, "");
            column = LABEL_WIDTH;
            while (n > 1 && *p == ' ') p++, n--;
        }
        column += client_print(stdout, "%.*s", n, p);
        p += n;
    }
    printf("\n");
}

static bool all_strings(const json_t *array)
{
    size_t i;
    json_t *item;
    json_array_foreach(array, i, item)
    {
        if (!json_is_string(item)) return false;
    }
    return json_array_size(array) > 0;
}

/* ["a", "b"] as: a, b */
static void print_names(const char *key, const json_t *array)
{
    size_t i, size = 1;
    json_t *item;
    json_array_foreach(array, i, item) size += json_string_length(item) + 2;
    char *text = calloc(size, 1), *to = text;
    if (!text) return;
    json_array_foreach(array, i, item)
    {
        if (i) to = stpcpy(to, ", ");
        to = stpcpy(to, json_string_value(item));
    }
    print_line(key, text);
    free(text);
}

static void print_value(const char *key, const json_t *value)
{
    char number[64];
    if (all_strings(value)) {
        print_names(key, value);
    } else if (json_is_string(value)) {
        print_line(key, json_string_value(value));
    } else if (json_is_real(value)) {
        snprintf(number, sizeof number, "%.6g", json_real_value(value));
        print_line(key, number);
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        print_line(key, text ? text : "?");
        free(text);
    }
}

/* What a reader looks for first comes first, then all the rest. */
static void print_description(json_t *description)
{
    static const char *const first[] = {"method", "data",    "training_points", "settings",
                                        "kappa",  "classes", "dimension"};
    enum { FIRST = sizeof first / sizeof *first };
    const char *key;
    json_t *value;
    for (int i = 0; i < FIRST; i++)
        if (json_object_get(description, first[i]))
            print_value(first[i], json_object_get(description, first[i]));
    json_object_foreach(description, key, value)
    {
        int i = 0;
        while (i < FIRST && strcmp(first[i], key) != 0) i++;
        if (i == FIRST) print_value(key, value);
    }
}

/* The settings that were changed: "pca 8, reference none". */
static void print_settings(const json_t *settings)
{
    char text[CLIENT_ERROR] = "";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)settings, key, value)
        client_append(text, sizeof text, "%s%s %s", text[0] ? ", " : "", key,
                      json_string_value(value) ? json_string_value(value) : "?");
    printf("settings   ");
    cli_wrap(stdout, text, 11, 11);
}

/* What was learned from what. */
static void print_origin(const bdml_model *model, const json_t *o)
{
    const char *data = client_string(o, "data"), *label = client_string(o, "label_column");
    const json_t *settings = json_object_get(o, "settings");
    char text[CLIENT_ERROR];
    client_print(stdout, "method     %s, scale %s\n", client_string(o, "method"),
                 client_string(o, "scale"));
    if (data[0]) {
        snprintf(text, sizeof text, "from %.0f points of %.400s: %d features, %d classes%s%.60s",
                 client_real(o, "training_points"), data, bdml_model_input_dimension(model),
                 bdml_model_classes(model), label[0] ? ", label " : "", label);
        printf("learned    ");
        cli_wrap(stdout, text, 11, 11);
    }
    if (json_object_size(settings) > 0) print_settings(settings);
    printf("metric     %d x %d of rank %d, %" PRId64 " points kept to vote\n",
           bdml_model_metric_dimension(model), bdml_model_metric_dimension(model),
           bdml_model_output_dimension(model), bdml_model_points(model));
}

/* One screen. */
static bdml_status print_summary(cli *c, const char *path, const bdml_model *model,
                                 const json_t *description)
{
    const char *data = client_string(description, "data");
    client_print(stdout, "file       %s\n", path);
    print_origin(model, description);
    cli_say_choice(description);
    cli_say_certificate(description);
    cli_say_condition(model);
    cli_say_threshold(description);
    cli_features_print(c->result);
    putchar('\n');
    cli_say_next(description, path);
    if (json_object_get(description,
                        "certificate")) { /* lines to be pasted; the name is the file's word */
        printf("           bdml certify ");
        TRY(cli_say_shell_word(c, path));
        putchar(' ');
        TRY(cli_say_shell_word(c, data[0] ? data : "DATA"));
        putchar('\n');
    }
    printf("           bdml info ");
    TRY(cli_say_shell_word(c, path));
    printf(" --all: everything it says of itself\n");
    return BDML_OK;
}

bdml_status cli_info_model(cli *c, const char *path)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    cli_spectrum spectrum = {0};

    GO(bdml_load_model(c->h, path, &model));
    bool metric = !bdml_model_is_proof(model);
    if (metric) GO(cli_spectrum_init(c, model, &spectrum));
    json_t *description = cli_describe(c, model);
    if (!description) GO(BDML_ERR_MEMORY);
    cli_put(c->result, "file", client_text(path));
    cli_put(c->result, "type", json_string(metric ? "model" : "proof"));
    if (metric) cli_put(c->result, "kappa", cli_real(bdml_model_kappa(model)));
    if (metric) cli_put(c->result, "condition_number", cli_real(bdml_model_kappa(model)));
    cli_put(c->result, "model", description);
    if (metric) cli_spectrum_json(&spectrum, c->result);
    if (metric) GO(cli_features_json(c, model, c->result));
    if (cli_json(c)) goto done;
    if (metric && !c->own[CLI_OPT_ALL].i) {
        status = print_summary(c, path, model, description);
        goto done;
    }
    print_line("file", path);
    print_description(description);
    if (metric) cli_spectrum_print(&spectrum);
done:
    cli_spectrum_free(&spectrum);
    bdml_free_model(model);
    return status;
}
