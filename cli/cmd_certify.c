/* cmd_certify.c - bdml certify MODEL DATA */
#include "cli.h"

static void print_checks(const json_t *verdict)
{
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(verdict, "checks"), i, check)
        printf("%-8s %-14s %s\n", json_is_true(json_object_get(check, "passed")) ? "ok" : "REFUTED",
               json_string_value(json_object_get(check, "check")),
               json_string_value(json_object_get(check, "detail")));
    printf("%s: the claim '%s' %s\n",
           json_is_true(json_object_get(verdict, "confirmed")) ? "confirmed" : "refuted",
           json_string_value(json_object_get(verdict, "claim")),
           json_is_true(json_object_get(verdict, "confirmed")) ? "holds" : "does not hold");
}

bdml_status cli_certify(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    char *text = NULL;
    json_t *verdict = NULL;
    int confirmed = 0;

    GO(bdml_read_dataset(c->h, c->argument[1], &data));
    GO(bdml_certify(c->h, c->argument[0], data, &confirmed, &text));
    verdict = json_loads(text, 0, NULL);
    if (!verdict) {
        status = client_fail(c->h, BDML_ERR_MEMORY, "out of memory");
        goto done;
    }
    json_object_update(c->result, verdict);
    cli_progress_clear(c);
    if (cli_chatty(c)) print_checks(verdict);
    if (!confirmed) {
        c->refuted = true;
        status = client_fail(c->h, BDML_ERR_DATA, "%s: the claim is refuted", c->argument[0]);
    }
done:
    json_decref(verdict);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    return status;
}
