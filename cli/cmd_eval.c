/* cmd_eval.c - bdml eval DATA [--method NAME | --methods A,B,C | --methods all] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_setup(cli *c, const bdml_dataset *data)
{
    int64_t folds = (int64_t)bdml_get_number(c->h, "folds");
    client_print(stdout, "%s: %" PRId64 " points, %d features, %d classes\n", c->argument[0],
                 bdml_dataset_points(data), bdml_dataset_dimension(data),
                 bdml_dataset_classes(data));
    bool chosen =
        bdml_is_given(c->h, "neighbors") && strcmp(bdml_get(c->h, "neighbors"), "auto") == 0;
    if (chosen)
        printf("k-NN error over ");
    else
        printf("%g-NN error over ", bdml_get_number(c->h, "neighbors"));
    if (folds > 0)
        printf("%" PRId64 " folds", folds);
    else
        client_print(stdout, "%s random splits, %.4g %% of the rows for testing",
                     bdml_get(c->h, "splits"), 100.0 * bdml_get_number(c->h, "test-fraction"));
    client_print(stdout, ",%sscale %s\n\n", chosen ? " k auto, " : " ", bdml_get(c->h, "scale"));
}

static void add_row(cli_table *t, const json_t *row, bool several)
{
    const json_t *versus = json_object_get(row, "versus");
    const char *name = json_string_value(json_object_get(row, "method"));
    cli_cell(t, "%s", name ? name : "?");
    cli_cell_real(t, "%.2f", client_real(row, "error_mean"));
    cli_cell_real(t, "%.2f", client_real(row, "error_std"));
    if (several) {
        double se = client_real(versus, "standard_error_corrected");
        cli_cell_real(t, "%+.2f", client_real(versus, "difference"));
        cli_cell_real(t, "%.2f", isnan(se) ? client_real(versus, "standard_error") : se);
        cli_cell_real(t, "%.2g", client_real(versus, "p_value"));
    }
    cli_cell_real(t, "%.3g", client_real(row, "kappa"));
    cli_cell_real(t, "%.3f", client_real(row, "fit_seconds"));
}

static bdml_status print_table(cli *c, const json_t *methods)
{
    bool several = json_array_size(methods) > 1;
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, several ? "lrrrrrrr" : "lrrrr");
    cli_cell(&t, "method");
    cli_cell(&t, "error %%");
    cli_cell(&t, "std");
    if (several) {
        cli_cell(&t, "vs best");
        cli_cell(&t, "se");
        cli_cell(&t, "p");
    }
    cli_cell(&t, "cond M");
    cli_cell(&t, "fit s");
    json_array_foreach(methods, i, row) add_row(&t, row, several);
    return cli_table_print(&t, stdout);
}

/* "bdml chose distortion 1 (4), 10 (6)": values with the number of splits, a line a setting. */
static void print_chosen(const json_t *row)
{
    json_t *counts, *count;
    const char *key, *value, *name = json_string_value(json_object_get(row, "method"));
    json_object_foreach(json_object_get(row, "chosen"), key, counts)
    {
        const char *before = "";
        client_print(stdout, "%s chose %s", name ? name : "?", key);
        json_object_foreach(counts, value, count)
        {
            client_print(stdout, "%s %s (%lld)", before, value,
                         (long long)json_integer_value(count));
            before = ",";
        }
        printf("\n");
    }
}

/* What the columns mean, who was left out and why, what was chosen. */
static void print_notes(const json_t *methods, bool folds)
{
    size_t i;
    json_t *row;
    bool compared = false, first = true;
    json_array_foreach(methods, i, row)
    {
        const char *reason = json_string_value(json_object_get(row, "error"));
        compared = compared || json_is_object(json_object_get(row, "versus"));
        if (reason) client_print(stdout, first ? "\n%s\n" : "%s\n", reason);
        if (reason) first = false;
    }
    if (compared)
        client_print(
            stdout,
            "\nvs best: mean difference to the best other method on the same splits\nse, p: its "
            "standard error and significance, %s\n",
            folds ? "by a paired t-test" : "corrected for overlapping splits");
    first = true;
    json_array_foreach(methods, i, row)
    {
        if (first && json_object_size(json_object_get(row, "chosen")) > 0) {
            printf("\n");
            first = false;
        }
        print_chosen(row);
    }
}

bdml_status cli_eval(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    char *text = NULL;

    if (strcmp(bdml_get(c->h, "task"), "cluster") == 0) return cli_retrieve(c);
    if (strcmp(bdml_get(c->h, "task"), "retrieve") == 0) {
        TRY(bdml_set(c->h, "task", NULL)); /* there it follows from what is unseen */
        GO(cli_retrieve(c));
        return bdml_set(c->h, "task", "retrieve");
    }
    TRY(cli_check_methods(c));
    GO(bdml_read_dataset(c->h, c->argument[0], &data));
    GO(bdml_evaluate(c->h, data, &text));
    GO(cli_take_result(c, text));
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) print_setup(c, data);
    GO(print_table(c, json_object_get(c->result, "methods")));
    if (!cli_quiet(c))
        print_notes(json_object_get(c->result, "methods"), bdml_get_number(c->h, "folds") > 0.0);
done:
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return status;
}
