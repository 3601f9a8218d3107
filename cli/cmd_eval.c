/* cmd_eval.c - bdml eval DATA [--method NAME | --methods A,B,C] */
#include "cli.h"

#include <inttypes.h>

#include "train/train.h"

/* Names are checked before the data are read. */
static bdml_status check_methods(cli *c)
{
    const char *list = bdml_get(c->h, "methods"), *one = bdml_get(c->h, "method");
    if (list[0] && bdml_opt_changed(c->h, BDML_OPT_METHOD))
        return bdml_fail(c->h, BDML_ERR_ARGUMENT, "give --method or --methods, not both");
    const char *p = list[0] ? list : one;
    for (;;) {
        size_t n = strcspn(p, ",");
        if (!bdml_method_find(c->h, p, n)) return BDML_ERR_ARGUMENT;
        if (!p[n]) return BDML_OK;
        p += n + 1;
    }
}

static double number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void print_setup(cli *c, const bdml_dataset *data)
{
    int64_t folds = bdml_opt_int(c->h, BDML_OPT_FOLDS);
    printf("%s: %" PRId64 " points, %d features, %d classes\n", c->argument[0], data->n, data->d,
           data->classes);
    printf("%s-NN error over ", bdml_get(c->h, "neighbors"));
    if (folds > 0)
        printf("%" PRId64 " folds", folds);
    else
        printf("%s random splits, %.4g %% of the rows for testing", bdml_get(c->h, "splits"),
               100.0 * bdml_opt_real(c->h, BDML_OPT_TEST_FRACTION));
    printf(", scale %s\n\n", bdml_get(c->h, "scale"));
}

static bdml_status print_table(cli *c, const json_t *methods)
{
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, "lrrrr");
    cli_cell(&t, "method");
    cli_cell(&t, "error %%");
    cli_cell(&t, "std");
    cli_cell(&t, "kappa");
    cli_cell(&t, "fit s");
    json_array_foreach(methods, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "method"));
        cli_cell(&t, "%s", name ? name : "?");
        cli_cell_real(&t, "%.2f", number(row, "error_mean"));
        cli_cell_real(&t, "%.2f", number(row, "error_std"));
        cli_cell_real(&t, "%.3g", number(row, "kappa"));
        cli_cell_real(&t, "%.3f", number(row, "fit_seconds"));
    }
    return cli_table_print(&t, stdout);
}

bdml_status cli_eval(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    char *text = NULL;

    BDML_TRY(check_methods(c));
    BDML_GO(bdml_read_dataset(c->h, c->argument[0], &data));
    BDML_GO(bdml_evaluate(c->h, data, &text));
    json_t *result = json_loads(text, 0, NULL);
    if (!result) {
        status = bdml_fail(c->h, BDML_ERR_MEMORY, "out of memory while reading the result");
        goto done;
    }
    json_object_update(c->result, result);
    json_decref(result);
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) print_setup(c, data);
    BDML_GO(print_table(c, json_object_get(c->result, "methods")));
done:
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return status;
}
