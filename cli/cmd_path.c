/* cmd_path.c - bdml path DATA [--grid K,K,...] [-o FILE.csv] [--plot FILE.svg] */
#include "cli.h"

#include <inttypes.h>

#include "report/report.h"

static bool is_chosen(const cli *c, const json_t *row)
{
    return client_real(row, "distortion") ==
           client_real(json_object_get(c->result, "chosen"), "distortion");
}

/* ---- for people ----------------------------------------------------------------------------------- */

static void print_setup(const cli *c, const bdml_dataset *data)
{
    const json_t *r = c->result;
    client_print(stdout, "%s: %" PRId64 " points, %d features, %d classes\n", c->argument[0],
                 bdml_dataset_points(data), bdml_dataset_dimension(data),
                 bdml_dataset_classes(data));
    client_print(stdout, "reference %s, ", client_string(r, "reference"));
    if (json_is_true(json_object_get(r, "hard")))
        printf("hard");
    else
        printf("softness %g,", client_real(r, "softness"));
    client_print(stdout, " %ss by rule %s: %g targets, %g impostors\n", client_string(r, "kind"),
                 client_string(r, "rule"), client_real(r, "targets"), client_real(r, "impostors"));
    printf("%g-NN error in %% over %g random splits, %g rows to learn from and %g to test on\n\n",
           client_real(r, "neighbors"), client_real(r, "splits"), client_real(r, "train_rows"),
           client_real(r, "test_rows"));
}

static bdml_status print_table(cli *c)
{
    static const char *const heading[] = {"K",     "ln kappa", "lower", "upper", "train",
                                          "valid", "test",     "+-",    "s",     ""};
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, "rrrrrrrrrl");
    for (i = 0; i < sizeof heading / sizeof *heading; i++) cli_cell(&t, "%s", heading[i]);
    json_array_foreach(json_object_get(c->result, "path"), i, row)
    {
        const char *status = client_string(row, "status");
        cli_cell(&t, "%g", client_real(row, "distortion"));
        cli_cell_real(&t, "%.2f", client_real(row, "ln_kappa"));
        cli_cell_real(&t, "%.5g", client_real(row, "lower"));
        cli_cell_real(&t, "%.5g", client_real(row, "upper"));
        cli_cell_real(&t, "%.2f", client_real(row, "train_error"));
        cli_cell_real(&t, "%.2f", client_real(row, "validation_error"));
        cli_cell_real(&t, "%.2f", client_real(row, "test_error"));
        cli_cell_real(&t, "%.2f", client_real(row, "test_se"));
        cli_cell_real(&t, "%.2f", client_real(row, "seconds"));
        cli_cell(&t, "%s%s", is_chosen(c, row) ? "*" : "",
                 strcmp(status, "optimal") == 0 ? "" : status);
    }
    return cli_table_print(&t, stdout);
}

static void print_findings(const cli *c)
{
    const json_t *chosen = json_object_get(c->result, "chosen");
    char line[1024];
    int n = snprintf(line, sizeof line,
                     "* K = %g is chosen by cross-validation on all rows (--se-rule %g). Chosen "
                     "inside the training rows of each split, it gives a test error of %.2f %%",
                     client_real(chosen, "distortion"), client_real(chosen, "se_rule"),
                     client_real(chosen, "test_error"));
    if (!isnan(client_real(chosen, "test_se")))
        snprintf(line + n, sizeof line - (size_t)n, " +- %.2f", client_real(chosen, "test_se"));
    putchar('\n');
    cli_wrap(stdout, line, 0, 2);
    snprintf(line, sizeof line, "\nThe shape: %s.",
             client_string(json_object_get(c->result, "shape"), "text"));
    putchar('\n');
    cli_wrap(stdout, line + 1, 0, 2);
    putchar('\n');
}

/* ---- for programs ------------------------------------------------------------------------------------ */

static bdml_status write_table(cli *c, const char *path)
{
    static const char *const column[] = {"distortion",    "kappa",
                                         "ln_kappa",      "lower",
                                         "upper",         "gap",
                                         "train_error",   "validation_error",
                                         "validation_se", "test_error",
                                         "test_se",       "seconds"};
    enum { COLUMNS = sizeof column / sizeof *column };
    bdml_status status = BDML_OK;
    cli_writer w;
    size_t i;
    json_t *row;

    TRY(cli_writer_open(c, path, &w));
    for (int k = 0; k < COLUMNS; k++) GO(cli_writer_text(&w, column[k]));
    GO(cli_writer_text(&w, "status"));
    GO(cli_writer_text(&w, "chosen"));
    GO(cli_writer_end_row(&w));
    json_array_foreach(json_object_get(c->result, "path"), i, row)
    {
        for (int k = 0; k < COLUMNS; k++) {
            double v = client_real(row, column[k]);
            GO(isnan(v) ? cli_writer_text(&w, "NA") : cli_writer_real(&w, v));
        }
        GO(cli_writer_text(&w, client_string(row, "status")));
        GO(cli_writer_int(&w, is_chosen(c, row)));
        GO(cli_writer_end_row(&w));
    }
    return cli_writer_close(&w);
done:
    cli_writer_discard(&w);
    return status;
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Everything that can be told before the work begins. */
static bdml_status check(cli *c, const char *table, const char *plot)
{
    TRY(bdml_check_path(c->h));
    if (table[0]) TRY(cli_check_output(c, table));
    if (!plot[0]) return BDML_OK;
    TRY(study_plot_check_name(c->h, plot));
    TRY(cli_check_apart(c, table, plot));
    return cli_check_output(c, plot);
}

bdml_status cli_path(cli *c)
{
    bdml_status status = BDML_OK;
    const char *table = cli_text_of(c, CLI_OPT_OUTPUT), *plot = cli_text_of(c, CLI_OPT_PLOT);
    bdml_dataset *data = NULL;
    char *json = NULL;
    bool drawn = false;

    TRY(check(c, table, plot));
    GO(bdml_read_dataset(c->h, c->argument[0], &data));
    GO(bdml_path(c->h, data, &json));
    GO(cli_take_result(c, json));
    if (cli_json(c)) GO(cli_walk_json(c, data));
    cli_progress_clear(c);
    if (!cli_json(c) && strcmp(table, "-") != 0) {
        if (!cli_quiet(c)) print_setup(c, data);
        GO(print_table(c));
        if (!cli_quiet(c)) print_findings(c);
    }
    if (table[0]) GO(write_table(c, table));
    if (plot[0]) {
        GO(cli_wrote(c, study_figure_write(c->h, "path", c->result, plot, 0, &drawn)));
        cli_put(c->result, "plot", drawn ? client_text(plot) : json_null());
    }
done:
    bdml_free_bytes(json);
    bdml_free_dataset(data);
    return status;
}
