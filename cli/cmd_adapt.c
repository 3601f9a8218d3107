/* cmd_adapt.c - bdml adapt --source FILE --target FILE [--semi] [--methods A,B,C] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

/* What can be told before the data are read. */
static bdml_status check_arguments(cli *c)
{
    if (!cli_text_of(c, CLI_OPT_SOURCE)[0] || !cli_text_of(c, CLI_OPT_TARGET)[0])
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "two domains are needed: --source FILE --target FILE");
    return cli_check_methods(c);
}

static void print_setup(cli *c)
{
    const json_t *r = c->result;
    bool semi = json_is_true(json_object_get(r, "semi"));
    client_print(stdout, "%s (%.0f rows) -> %s (%.0f rows), %d features\n",
                 cli_text_of(c, CLI_OPT_SOURCE), client_real(r, "source_points"),
                 cli_text_of(c, CLI_OPT_TARGET), client_real(r, "target_points"),
                 (int)client_real(r, "dimension"));
    client_print(stdout, "%s: %.0f source rows%s", semi ? "semi-supervised" : "unsupervised",
                 client_real(r, "train_points"), semi ? "" : " to learn from");
    if (semi)
        printf(" and %.0f of the target to learn from", client_real(r, "labelled_target_points"));
    printf(", %.0f target rows to test, %.0f splits\n\n", client_real(r, "test_points"),
           client_real(r, "splits"));
}

static bdml_status print_table(cli *c, const json_t *methods)
{
    bool several = json_array_size(methods) > 1;
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, several ? "lrrrrrr" : "lrrrr");
    cli_cell(&t, "method");
    cli_cell(&t, "accuracy %%");
    cli_cell(&t, "s.e.");
    if (several) {
        cli_cell(&t, "to best other");
        cli_cell(&t, "s.e.");
    }
    cli_cell(&t, "cond M");
    cli_cell(&t, "fit s");
    json_array_foreach(methods, i, row)
    {
        const json_t *versus = json_object_get(row, "versus");
        cli_cell(&t, "%s", json_string_value(json_object_get(row, "method")));
        cli_cell_real(&t, "%.1f", client_real(row, "accuracy_mean"));
        cli_cell_real(&t, "%.1f", client_real(row, "accuracy_se"));
        if (several) {
            cli_cell_real(&t, "%+.1f", client_real(versus, "difference"));
            cli_cell_real(&t, "%.1f", client_real(versus, "standard_error"));
        }
        cli_cell_real(&t, "%.3g", client_real(row, "kappa"));
        cli_cell_real(&t, "%.3f", client_real(row, "fit_seconds"));
    }
    TRY(cli_table_print(&t, stdout));
    json_array_foreach(methods, i, row)
    {
        const char *why = json_string_value(json_object_get(row, "error"));
        if (why)
            client_print(stdout, "%s: %s\n", json_string_value(json_object_get(row, "method")),
                         why);
    }
    return BDML_OK;
}

bdml_status cli_adapt(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *source = NULL, *target = NULL;
    char *text = NULL;

    TRY(check_arguments(c));
    GO(bdml_read_dataset(c->h, cli_text_of(c, CLI_OPT_SOURCE), &source));
    GO(cli_read_other(c, cli_text_of(c, CLI_OPT_TARGET), &target));
    GO(bdml_adapt(c->h, source, target, &text));
    GO(cli_take_result(c, text));
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) print_setup(c);
    GO(print_table(c, json_object_get(c->result, "methods")));
done:
    bdml_free_bytes(text);
    bdml_free_dataset(source);
    bdml_free_dataset(target);
    return status;
}
