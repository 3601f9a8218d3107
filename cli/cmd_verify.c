/* cmd_verify.c - bdml verify DATA --pairs-file PAIRS [--methods A,B,C] [--plot FILE.svg] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "train/train.h"

/* What can be told before the data are read. */
static bdml_status check_settings(cli *c)
{
    const char *plot = cli_text_of(c, CLI_OPT_PLOT);
    if (!bdml_get(c->h, "pairs-file")[0])
        return bdml_fail(c->h, BDML_ERR_ARGUMENT,
                         "verify needs --pairs-file FILE with lines fold,i,j,same or i,j,same");
    if (plot[0]) {
        BDML_TRY(bdml_plot_check_name(c->h, plot));
        BDML_TRY(cli_check_output(c, plot));
    }
    return cli_check_methods(c);
}

/* ---- for people -------------------------------------------------------------------------------------- */

static void print_setup(const cli *c)
{
    const json_t *r = c->result;
    static const char *const on[] = {"the rows of the training pairs of each fold",
                                     "the rows of all pairs", "all rows"};
    printf("%s: %.0f points, %.0f features; %s: %.0f pairs, %.0f of them the same\n",
           c->argument[0], bdml_json_number(r, "points"), bdml_json_number(r, "dimension"),
           bdml_json_string(r, "pairs_file"), bdml_json_number(r, "pairs"),
           bdml_json_number(r, "same"));
    printf("%.0f folds, %s; metric and threshold from the other folds\n",
           bdml_json_number(r, "folds"), bdml_json_string(r, "folds_are"));
    printf("scale %s", bdml_json_string(r, "scale"));
    if (bdml_json_number(r, "pca") > 0.0)
        printf(", PCA %g without labels on %s", bdml_json_number(r, "pca"),
               on[bdml_opt_int(c->h, BDML_OPT_PCA_ON)]);
    printf("\n\n");
}

static bdml_status print_table(cli *c, const json_t *methods)
{
    static const char *const heading[] = {"method", "accuracy %", "s.e.", "AUC",
                                          "EER %",  "kappa",      "fit s"};
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, "lrrrrrr");
    for (i = 0; i < sizeof heading / sizeof *heading; i++) cli_cell(&t, "%s", heading[i]);
    json_array_foreach(methods, i, row)
    {
        cli_cell(&t, "%s", bdml_json_string(row, "method"));
        cli_cell_real(&t, "%.2f", bdml_json_number(row, "accuracy_mean"));
        cli_cell_real(&t, "%.2f", bdml_json_number(row, "accuracy_se"));
        cli_cell_real(&t, "%.4f", bdml_json_number(row, "auc"));
        cli_cell_real(&t, "%.2f", bdml_json_number(row, "eer"));
        cli_cell_real(&t, "%.4g", bdml_json_number(row, "kappa"));
        cli_cell_real(&t, "%.2f", bdml_json_number(row, "fit_seconds"));
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
        printf("%s - %s: %+.2f (s.e. %.2f) fold by fold\n", bdml_json_string(row, "method"),
               bdml_json_string(row, "against"), bdml_json_number(row, "difference"),
               bdml_json_number(row, "standard_error"));
    }
}

/* ---- picture --------------------------------------------------------------------------------------------- */

static void fill(const json_t *list, double *v)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) v[i] = json_number_value(item);
}

/* Method and area, as a label. */
static bdml_status draw(cli *c, const char *file, bool *drawn)
{
    enum { LABEL = 96, PLOT_WIDTH = 520, KEY_HEIGHT = 20 }; /* a square above the key */
    bdml_status status = BDML_OK;
    const json_t *methods = json_object_get(c->result, "methods");
    size_t count = json_array_size(methods), i, points;
    json_t *row = json_object_get(json_array_get(methods, 0), "roc");
    double *v = NULL;
    char(*label)[LABEL] = NULL;
    bdml_plot_series *series = NULL;

    points = json_array_size(json_object_get(row, "false_positive"));
    BDML_NEW(c->h, v, 2 * count * points);
    BDML_NEW(c->h, label, count);
    BDML_NEW(c->h, series, count);
    json_array_foreach(methods, i, row)
    {
        const json_t *roc = json_object_get(row, "roc");
        double *x = v + 2 * i * points, *y = x + points;
        fill(json_object_get(roc, "false_positive"), x);
        fill(json_object_get(roc, "true_positive"), y);
        bdml_snprintf(c->h->c_locale, label[i], LABEL, "%s (AUC %.3f)",
                      bdml_json_string(row, "method"), bdml_json_number(row, "auc"));
        series[i] = (bdml_plot_series){.title = label[i],
                                       .style = BDML_PLOT_LINE,
                                       .colour = (int)(i % 8),
                                       .n = (int64_t)points,
                                       .x = x,
                                       .y = y};
    }
    const bdml_plot_panel panel = {.x_label = "false positive rate",
                                   .y_label = "true positive rate",
                                   .x_max = 1.0,
                                   .y_max = 1.0,
                                   .series_count = (int)count,
                                   .series = series};
    const char *name = strrchr(c->argument[0], '/');
    const bdml_plot plot = {.title = name ? name + 1 : c->argument[0],
                            .width = PLOT_WIDTH,
                            .height = PLOT_WIDTH + KEY_HEIGHT * (int)count,
                            .panel_count = 1,
                            .panel = &panel};
    status = bdml_plot_write(c->h, &plot, file, drawn);
done:
    free(v);
    free(label);
    free(series);
    return status;
}

bdml_status cli_verify(cli *c)
{
    bdml_status status = BDML_OK;
    const char *plot = cli_text_of(c, CLI_OPT_PLOT);
    bdml_dataset *data = NULL;
    char *json = NULL;
    bool drawn = false;

    BDML_TRY(check_settings(c));
    BDML_GO(bdml_read_dataset(c->h, c->argument[0], &data));
    BDML_GO(bdml_verify(c->h, data, &json));
    BDML_GO(cli_take_result(c, json));
    if (plot[0]) BDML_GO(cli_wrote(c, draw(c, plot, &drawn)));
    if (drawn) cli_put(c->result, "plot", bdml_json_text(plot));
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) print_setup(c);
    BDML_GO(print_table(c, json_object_get(c->result, "methods")));
    if (!cli_quiet(c)) print_differences(json_object_get(c->result, "differences"));
    if (drawn && !cli_quiet(c)) printf("\nROC curves  %s\n", plot);
done:
    bdml_free_bytes(json);
    bdml_free_dataset(data);
    return status;
}
