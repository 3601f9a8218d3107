/* cmd_compare.c - bdml compare-solvers DATA: the certified engine and the paper's algorithm on one problem. */
#include "cli.h"

static bdml_status print_table(cli *c, const json_t *solvers)
{
    static const char *const heads[] = {"solver",  "outcome",   "kappa",  "margin miss",
                                        "any row", "objective", "off by", "proven >=",
                                        "rounds",  "seconds"};
    cli_table table;
    size_t k;
    json_t *row;
    cli_table_init(&table, c->h, "llrrrrrrrr");
    for (k = 0; k < sizeof heads / sizeof *heads; k++) cli_cell(&table, "%s", heads[k]);
    json_array_foreach(solvers, k, row)
    {
        cli_cell(&table, "%s", client_string(row, "solver"));
        cli_cell(&table, "%s", client_string(row, "outcome"));
        cli_cell_real(&table, "%.4g", client_real(row, "kappa"));
        cli_cell_real(&table, "%.2g", client_real(row, "worst_miss"));
        cli_cell_real(&table, "%.2g", client_real(row, "row_miss"));
        cli_cell_real(&table, "%.6g", client_real(row, "objective"));
        cli_cell_real(&table, "%+.1f %%", 100.0 * client_real(row, "off_bracket"));
        cli_cell_real(&table, "%.6g", client_real(row, "lower"));
        cli_cell(&table, "%.0f", client_real(row, "rounds"));
        cli_cell_real(&table, "%.3f", client_real(row, "seconds"));
    }
    return cli_table_print(&table, stdout);
}

static bdml_status print_result(cli *c)
{
    const json_t *solvers = json_object_get(c->result, "solvers");
    double trace = bdml_get_number(c->h, "trace");
    size_t k;
    json_t *row;
    if (cli_chatty(c))
        client_print(
            stdout,
            "%s: %.0f points, d %.0f, %.0f %s constraints, distortion at most K = %g, trace "
            "%g\n\n",
            c->argument[0], client_real(c->result, "points"), client_real(c->result, "dimension"),
            client_real(c->result, "constraints"), bdml_get(c->h, "kind"),
            bdml_get_number(c->h, "distortion"), trace > 0.0 ? trace : INFINITY);
    TRY(print_table(c, solvers));
    if (cli_chatty(c))
        printf("\nmargin miss: worst of the margins; any row: of all rows of the form, the cap's "
               "too; off "
               "by: objective\nagainst the engine's bracket, below it only when something is "
               "missed\n");
    json_array_foreach(solvers, k, row) if (client_string(row, "error")[0])
        client_print(stdout, "%s: %s\n", client_string(row, "solver"), client_string(row, "error"));
    return BDML_OK;
}

bdml_status cli_compare_solvers(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    char *text = NULL;

    GO(bdml_read_dataset(c->h, c->argument[0], &data));
    GO(bdml_compare_solvers(c->h, data, &text));
    GO(cli_take_result(c, text));
    cli_progress_clear(c);
    if (!cli_json(c)) status = print_result(c);
done:
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return status;
}
