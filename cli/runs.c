/* runs.c - results of commands: read from files, or made on the spot. */
#include "cli.h"

#include <stdlib.h>

bool cli_looks_like_json(const char *path)
{
    FILE *f = cli_reads_once(path) ? NULL : fopen(path, "rb");
    int first = ' ';
    while (f && (first == ' ' || first == '\n' || first == '\t' || first == '\r')) first = fgetc(f);
    if (f) fclose(f);
    return first == '{';
}

bdml_status cli_read_run(cli *c, const char *path, json_t **out)
{
    json_error_t error;
    *out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!*out && error.line < 0) return client_fail(c->h, BDML_ERR_IO, "%s: %s", path, error.text);
    if (!*out)
        return client_fail(
            c->h, BDML_ERR_FORMAT,
            "%s, line %d: not JSON (%s); a result is what a command prints with --json", path,
            error.line, error.text);
    if (json_is_object(*out)) return BDML_OK;
    json_decref(*out);
    *out = NULL;
    return client_fail(c->h, BDML_ERR_FORMAT,
                       "%s: JSON, but not one object as a command prints it with --json", path);
}

/* Flags, command and result of c are as before when it returns. */
bdml_status cli_make_run(cli *c, const char *name, const char *output, json_t **out)
{
    const cli_command *command = c->command;
    json_t *result = c->result;
    cli_value json = c->own[CLI_OPT_JSON], where = c->own[CLI_OPT_OUTPUT];
    char *path = output ? client_strdup(c->h, output) : NULL;

    if (output && !path) return BDML_ERR_MEMORY;
    c->command = cli_command_find(name);
    c->result = json_object();
    c->own[CLI_OPT_JSON].i = 1;
    c->own[CLI_OPT_OUTPUT].text = path ? path : (char *)"";
    c->own[CLI_OPT_OUTPUT].changed = path != NULL;
    bdml_status status = cli_note_command(c);
    if (status == BDML_OK) status = c->command->run(c);
    *out = c->result;
    if (status == BDML_ERR_INFEASIBLE) { /* a proof is a result */
        cli_put(*out, "error", client_text(bdml_last_error(c->h)));
        status = BDML_OK;
    }
    c->command = command;
    c->result = result;
    c->own[CLI_OPT_JSON] = json;
    c->own[CLI_OPT_OUTPUT] = where;
    free(path);
    return status;
}
