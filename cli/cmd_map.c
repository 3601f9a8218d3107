/* cmd_map.c - bdml export MODEL -o FILE, and bdml import MAP -o MODEL */
#include "cli.h"

#include <inttypes.h>

static bdml_status need_output(cli *c, const char *output)
{
    if (output[0]) return BDML_OK;
    return bdml_fail(c->h, BDML_ERR_ARGUMENT, "%s needs -o FILE; usage: bdml %s %s %s",
                     c->command->name, c->command->name, c->command->arguments,
                     c->command->synopsis);
}

bdml_status cli_export(cli *c)
{
    bdml_status status = BDML_OK;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *what = cli_text_of(c, CLI_OPT_WHAT);
    bdml_model *model = NULL;

    BDML_GO(need_output(c, output));
    if (strcmp(output, "-") != 0 && !bdml_ends_in(output, ".npy") &&
        !bdml_ends_in(output, ".csv") && !bdml_ends_in(output, ".mat")) {
        status =
            bdml_fail(c->h, BDML_ERR_ARGUMENT,
                      "%s: the ending says no format for a matrix; use .npy, .csv or .mat", output);
        goto done;
    }
    BDML_GO(cli_check_output(c, output));
    BDML_GO(bdml_load_model(c->h, c->argument[0], &model));
    BDML_GO(cli_wrote(c, bdml_export_model(c->h, model, what, output)));
    int rows = what[0] == 'L' ? model->q : model->d;
    cli_put(c->result, "what", bdml_json_text(what));
    cli_put(c->result, "rows", json_integer(rows));
    cli_put(c->result, "columns", json_integer(model->d));
    cli_put(c->result, "output", bdml_json_text(output));
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        printf("wrote %s, %d x %d, to %s\n", what, rows, model->d, output);
done:
    bdml_free_model(model);
    return status;
}

bdml_status cli_import(cli *c)
{
    bdml_status status = BDML_OK;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *what = cli_text_of(c, CLI_OPT_WHAT);
    bdml_dataset *map = NULL;
    bdml_model *model = NULL;

    BDML_GO(need_output(c, output));
    BDML_GO(cli_check_output(c, output));
    BDML_GO(bdml_set(c->h, "label", "none"));
    BDML_GO(bdml_set(c->h, "label-variable", "none"));
    BDML_GO(bdml_read_dataset(c->h, c->argument[0], &map));
    if (map->n > INT32_MAX) {
        status = bdml_fail(c->h, BDML_ERR_DATA, "%s: %" PRId64 " rows are too many for a map",
                           c->argument[0], map->n);
        goto done;
    }
    status = bdml_model_from_map(c->h, (int)map->n, map->d, map->x, what[0] == 'M', &model);
    if (status != BDML_OK) {
        bdml_fail_context(c->h, status, "%s", c->argument[0]);
        goto done;
    }
    BDML_GO(cli_wrote(c, bdml_save_model(c->h, model, output)));
    cli_put(c->result, "what", bdml_json_text(what));
    cli_put(c->result, "dimension", json_integer(model->d));
    cli_put(c->result, "rank", json_integer(model->q));
    cli_put(c->result, "kappa", cli_real(bdml_model_kappa(model)));
    cli_put(c->result, "model", bdml_json_text(output));
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        printf("saved a model of %d dimensions, rank %d, kappa %.4g as %s\n", model->d, model->q,
               bdml_model_kappa(model), output);
done:
    bdml_free_model(model);
    bdml_free_dataset(map);
    return status;
}
