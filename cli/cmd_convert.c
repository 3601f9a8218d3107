/* cmd_convert.c - bdml convert IN OUT (or -o OUT), and bdml generate NAME -o OUT */
#include "cli.h"

#include <inttypes.h>

static bdml_status check_ending(cli *c, const char *path)
{
    static const char *const endings[] = {".csv", ".tsv", ".svm", ".svmlight", ".libsvm", ".npy"};
    if (strcmp(path, "-") == 0) return BDML_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (client_ends_in(path, endings[i])) return BDML_OK;
    return client_fail(
        c->h, BDML_ERR_ARGUMENT,
        "%s: the ending says no format that can be written; use .csv, .tsv, .svmlight or "
        ".npy",
        path);
}

static bdml_status write_data(cli *c, const bdml_dataset *data, const char *path)
{
    fflush(stdout);
    TRY(cli_wrote(c, bdml_write_dataset(c->h, data, path)));
    cli_put(c->result, "points", json_integer(bdml_dataset_points(data)));
    cli_put(c->result, "features", json_integer(bdml_dataset_dimension(data)));
    cli_put(c->result, "classes", json_integer(bdml_dataset_classes(data)));
    cli_put(c->result, "output", client_text(path));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(path, "-") != 0)
        client_print(stdout, "wrote %" PRId64 " points, %d features, %d classes to %s\n",
                     bdml_dataset_points(data), bdml_dataset_dimension(data),
                     bdml_dataset_classes(data), path);
    return BDML_OK;
}

bdml_status cli_convert(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT);

    if (c->arguments < 2 && !output[0])
        GO(client_fail(c->h, BDML_ERR_ARGUMENT,
                       "convert needs OUT; usage: bdml convert IN OUT, or bdml convert IN -o OUT"));
    if (c->arguments > 1 && output[0])
        GO(client_fail(c->h, BDML_ERR_ARGUMENT, "OUT is named twice: '%.100s' and -o '%.100s'",
                       c->argument[1], output));
    if (!output[0]) output = c->argument[1];
    GO(check_ending(c, output));
    c->arguments = 1; /* the last argument is no input */
    GO(cli_check_points(c, output));
    GO(bdml_read_dataset(c->h, c->argument[0], &data));
    GO(bdml_dataset_fill(c->h, data));
    GO(write_data(c, data, output));
done:
    bdml_free_dataset(data);
    return status;
}

bdml_status cli_generate(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT);

    if (!output[0]) output = "-";
    c->arguments = 0;
    GO(check_ending(c, output));
    GO(cli_check_points(c, output));
    GO(bdml_generate(c->h, c->argument[0], c->own[CLI_OPT_POINTS].i, &data));
    GO(write_data(c, data, output));
done:
    bdml_free_dataset(data);
    return status;
}
