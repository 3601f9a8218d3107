/* cmd_verify.c - bdml verify DATA --pairs-file PAIRS [--methods A,B,C] [--plot FILE.svg] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"

/* What can be told before the data are read. */
static bdml_status check_settings(cli *c)
{
    const char *plot = cli_text_of(c, CLI_OPT_PLOT);
    if (!bdml_get(c->h, "pairs-file")[0])
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "verify needs --pairs-file FILE with lines fold,i,j,same or i,j,same");
    if (plot[0]) {
        TRY(study_plot_check_name(c->h, plot));
        TRY(cli_check_output(c, plot));
    }
    return cli_check_methods(c);
}

/* ---- for people -------------------------------------------------------------------------------------- */

static void print_setup(const cli *c)
{
    const json_t *r = c->result;
    static const char *const on[] = {"the rows of the training pairs of each fold",
                                     "the rows of all pairs", "all rows"};
    client_print(stdout, "%s: %.0f points, %.0f features; %s: %.0f pairs, %.0f of them the same\n",
                 c->argument[0], client_real(r, "points"), client_real(r, "dimension"),
                 client_string(r, "pairs_file"), client_real(r, "pairs"), client_real(r, "same"));
    client_print(stdout, "%.0f folds, %s; metric and threshold from the other folds\n",
                 client_real(r, "folds"), client_string(r, "folds_are"));
    client_print(stdout, "scale %s", client_string(r, "scale"));
    if (client_real(r, "pca") > 0.0)
        client_print(stdout, ", PCA %g without labels on %s", client_real(r, "pca"),
                     on[(int)bdml_get_number(c->h, "pca-on")]);
    printf("\n\n");
}

static bdml_status print_table(cli *c, const json_t *methods)
{
    static const char *const heading[] = {"method", "accuracy %", "s.e.", "AUC",
                                          "EER %",  "cond M",     "fit s"};
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, "lrrrrrr");
    for (i = 0; i < sizeof heading / sizeof *heading; i++) cli_cell(&t, "%s", heading[i]);
    json_array_foreach(methods, i, row)
    {
        cli_cell(&t, "%s", client_string(row, "method"));
        cli_cell_real(&t, "%.2f", client_real(row, "accuracy_mean"));
        cli_cell_real(&t, "%.2f", client_real(row, "accuracy_se"));
        cli_cell_real(&t, "%.4f", client_real(row, "auc"));
        cli_cell_real(&t, "%.2f", client_real(row, "eer"));
        cli_cell_real(&t, "%.4g", client_real(row, "kappa"));
        cli_cell_real(&t, "%.2f", client_real(row, "fit_seconds"));
    }
    return cli_table_print(&t, stdout);
}

static void print_differences(const json_t *list)
{
    size_t i;
    json_t *row;
    if (json_array_size(list) > 0) printf("\n");
    json_array_foreach(list, i, row)
    {
        client_print(stdout, "%s - %s: %+.2f (s.e. %.2f) fold by fold\n",
                     client_string(row, "method"), client_string(row, "against"),
                     client_real(row, "difference"), client_real(row, "standard_error"));
    }
}

bdml_status cli_verify(cli *c)
{
    bdml_status status = BDML_OK;
    const char *plot = cli_text_of(c, CLI_OPT_PLOT);
    bdml_dataset *data = NULL;
    char *json = NULL;
    bool drawn = false;

    TRY(check_settings(c));
    GO(bdml_read_dataset(c->h, c->argument[0], &data));
    GO(bdml_verify(c->h, data, &json));
    GO(cli_take_result(c, json));
    if (plot[0]) GO(cli_wrote(c, study_figure_write(c->h, "roc", c->result, plot, 0, &drawn)));
    if (drawn) cli_put(c->result, "plot", client_text(plot));
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) print_setup(c);
    GO(print_table(c, json_object_get(c->result, "methods")));
    if (!cli_quiet(c)) print_differences(json_object_get(c->result, "differences"));
    if (drawn && !cli_quiet(c)) client_print(stdout, "\nROC curves  %s\n", plot);
done:
    bdml_free_bytes(json);
    bdml_free_dataset(data);
    return status;
}
