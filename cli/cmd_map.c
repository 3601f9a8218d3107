/* cmd_map.c - bdml export MODEL [DATA] -o FILE, and bdml import MAP -o MODEL */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

static bdml_status need_output(cli *c, const char *output)
{
    if (output[0]) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT, "%s needs -o FILE; usage: bdml %s %s %s",
                       c->command->name, c->command->name, c->command->arguments,
                       c->command->synopsis);
}

/* The claim as text. */
static bdml_status export_certificate(cli *c, const char *output)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;

    if (c->arguments < 2)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "a certificate holds the rows it is about: bdml export MODEL DATA "
                           "--certificate -o FILE");
    GO(cli_check_output(c, output));
    GO(bdml_load_model(c->h, c->argument[0], &model));
    GO(bdml_read_model_dataset(c->h, model, c->argument[1], &data));
    GO(cli_wrote(c, bdml_export_certificate(c->h, model, data, output)));
    cli_put(c->result, "output", client_text(output));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(output, "-") != 0) {
        client_print(stdout, "wrote the certificate of %s to %s\n", c->argument[0], output);
        GO(cli_say_how_to_check(c, model, output, c->argument[1]));
    }
done:
    bdml_free_model(model);
    bdml_free_dataset(data);
    return status;
}

/* Ending of a file for a program that serves vectors. */
static bool serves(const char *output)
{
    return client_ends_in(output, ".faiss") || client_ends_in(output, ".onnx") ||
           client_ends_in(output, ".safetensors");
}

/* The whole model as an affine map. */
static bdml_status export_affine(cli *c, const char *output)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    int unit = c->own[CLI_OPT_NORMALIZE].i != 0;

    GO(cli_check_output(c, output));
    GO(cli_load_model(c, &model));
    GO(cli_wrote(c, bdml_export_affine(c->h, model, unit, output)));
    int q = bdml_model_output_dimension(model), d = bdml_model_input_dimension(model);
    cli_put(c->result, "rows", json_integer(q));
    cli_put(c->result, "columns", json_integer(d));
    cli_put(c->result, "output", client_text(output));
    if (cli_chatty(c))
        client_print(
            stdout,
            "wrote the whole model, raw points of %d to %d dimensions in single precision, to %s\n",
            d, q, output);
done:
    bdml_free_model(model);
    return status;
}

/* The file to write, the caller's: as asked, or MODEL with the ending of the format that is named. */
static bdml_status name_output(cli *c, char **name)
{
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *model = c->argument[0];
    const char *format = cli_text_of(c, CLI_OPT_EXPORT_FORMAT);
    bool any = strcmp(format, "auto") == 0, open = strcmp(output, "-") == 0 && format[0] == 'c';
    int stem = (int)strlen(model) - (client_ends_in(model, ".bdml") ? 5 : 0);
    char ending[16];

    snprintf(ending, sizeof ending, ".%s", format);
    if (c->own[CLI_OPT_CERTIFICATE].i && !any)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "a certificate is text of its own: --certificate takes no --format");
    if (any) TRY(need_output(c, output));
    if (!any && output[0] && !open && !client_ends_in(output, ending))
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "%s: a file of --format %s ends in %s; leave -o out and it is %.*s%s",
                           output, format, ending, stem, model, ending);
    size_t size = strlen(output) + strlen(model) + sizeof ending;
    if (!(*name = client_alloc(c->h, size, 1))) return BDML_ERR_MEMORY;
    if (output[0])
        snprintf(*name, size, "%s", output);
    else
        snprintf(*name, size, "%.*s%s", stem, model, ending);
    return BDML_OK;
}

static bdml_status export_to(cli *c, const char *output)
{
    bdml_status status = BDML_OK;
    const char *what = cli_text_of(c, CLI_OPT_WHAT);
    bdml_model *model = NULL;

    if (c->own[CLI_OPT_CERTIFICATE].i) return export_certificate(c, output);
    if (serves(output)) return export_affine(c, output);
    if (strcmp(output, "-") != 0 && !client_ends_in(output, ".npy") &&
        !client_ends_in(output, ".csv") && !client_ends_in(output, ".mat")) {
        status = client_fail(c->h, BDML_ERR_ARGUMENT,
                             "%s: the ending says no format; use .npy, .csv or .mat for the "
                             "matrix, .faiss, .onnx or .safetensors for the whole model",
                             output);
        goto done;
    }
    GO(cli_check_output(c, output));
    GO(cli_load_model(c, &model));
    GO(cli_wrote(c, bdml_export_model(c->h, model, what, output)));
    int rows =
        what[0] == 'L' ? bdml_model_output_dimension(model) : bdml_model_metric_dimension(model);
    cli_put(c->result, "what", client_text(what));
    cli_put(c->result, "rows", json_integer(rows));
    cli_put(c->result, "columns", json_integer(bdml_model_metric_dimension(model)));
    cli_put(c->result, "output", client_text(output));
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        client_print(stdout, "wrote %s, %d x %d, to %s\n", what, rows,
                     bdml_model_metric_dimension(model), output);
done:
    bdml_free_model(model);
    return status;
}

bdml_status cli_export(cli *c)
{
    char *output = NULL;
    bdml_status status = name_output(c, &output);
    if (status == BDML_OK && output) status = export_to(c, output);
    free(output);
    return status;
}

bdml_status cli_import(cli *c)
{
    bdml_status status = BDML_OK;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *what = cli_text_of(c, CLI_OPT_WHAT);
    bdml_dataset *map = NULL;
    bdml_model *model = NULL;

    if (strcmp(what, "inverse") == 0)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "import takes the map itself, --what L, or the metric, --what M");
    GO(need_output(c, output));
    GO(cli_check_output(c, output));
    GO(bdml_set(c->h, "label", "none"));
    GO(bdml_set(c->h, "index-column", "none"));
    GO(bdml_set(c->h, "label-variable", "none"));
    GO(bdml_read_dataset(c->h, c->argument[0], &map));
    if (bdml_dataset_points(map) > INT32_MAX) {
        status = client_fail(c->h, BDML_ERR_DATA, "%s: %" PRId64 " rows are too many for a map",
                             c->argument[0], bdml_dataset_points(map));
        goto done;
    }
    status = bdml_model_from_map(c->h, (int)bdml_dataset_points(map), bdml_dataset_dimension(map),
                                 bdml_dataset_rows(map), what[0] == 'M', &model);
    if (status != BDML_OK) {
        client_fail_context(c->h, status, c->argument[0]);
        goto done;
    }
    GO(bdml_confirm_dataset(c->h, map));
    GO(cli_wrote(c, bdml_save_model(c->h, model, output)));
    cli_put(c->result, "what", client_text(what));
    cli_put(c->result, "dimension", json_integer(bdml_model_metric_dimension(model)));
    cli_put(c->result, "rank", json_integer(bdml_model_output_dimension(model)));
    cli_put(c->result, "kappa", cli_real(bdml_model_kappa(model)));
    cli_put(c->result, "model", client_text(output));
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        client_print(stdout,
                     "saved a model of %d dimensions, rank %d, condition number %.4g as %s\n",
                     bdml_model_metric_dimension(model), bdml_model_output_dimension(model),
                     bdml_model_kappa(model), output);
done:
    bdml_free_model(model);
    bdml_free_dataset(map);
    return status;
}
