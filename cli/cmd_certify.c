/* cmd_certify.c - bdml certify MODEL DATA */
#include "cli.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void print_checks(const json_t *verdict)
{
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(verdict, "checks"), i, check)
    {
        const char *finding = text_of(check, "finding");
        client_print(stdout, "%-8s %-8s %-14s %s\n",
                     strcmp(finding, "holds") == 0   ? "ok"
                     : strcmp(finding, "fails") == 0 ? "REFUTED"
                                                     : "trusted",
                     text_of(check, "level"), text_of(check, "check"), text_of(check, "detail"));
    }
}

/* One line a reason, with the fields that it is the reason for. */
static void print_not_checked(const json_t *list)
{
    size_t i, j;
    const json_t *a, *b;
    if (json_array_size(list) > 0) printf("not checked:\n");
    json_array_foreach(list, i, a)
    {
        const char *why = text_of(a, "why");
        bool said = false;
        for (j = 0; j < i && !said; j++)
            said = strcmp(text_of(json_array_get(list, j), "why"), why) == 0;
        if (said) continue;
        printf("  ");
        json_array_foreach(list, j, b)
        {
            if (strcmp(text_of(b, "why"), why) == 0)
                client_print(stdout, "%s%s", j == i ? "" : ", ", text_of(b, "field"));
        }
        client_print(stdout, ": %s\n", why);
    }
}

/* The check of this name, or with NULL the first, that found the contrary. */
static const json_t *failed(const json_t *verdict, const char *name)
{
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(verdict, "checks"), i, check)
    {
        bool named = !name || strcmp(text_of(check, "check"), name) == 0;
        if (named && strcmp(text_of(check, "finding"), "fails") == 0) return check;
    }
    return NULL;
}

/* Why it is not confirmed: other data, a claim that does not hold, or less evidence than was asked for. */
static void print_refusal(const json_t *verdict)
{
    if (failed(verdict, "data"))
        client_print(stdout, "refuted: %s; give the file that it was trained on\n",
                     text_of(failed(verdict, "data"), "detail"));
    else if (failed(verdict, NULL))
        client_print(stdout, "refuted: the claim '%s' does not hold\n", text_of(verdict, "claim"));
    else
        client_print(
            stdout,
            "not confirmed at the level asked for: nothing speaks against the claim '%s', which "
            "holds at\nlevel %s; beyond that something is taken on trust (--level repeat trains "
            "again)\n",
            text_of(verdict, "claim"), text_of(verdict, "level"));
}

static void print_verdict(const json_t *verdict)
{
    bool confirmed = json_is_true(json_object_get(verdict, "confirmed"));
    print_checks(verdict);
    print_not_checked(json_object_get(verdict, "not_checked"));
    if (confirmed)
        client_print(stdout, "confirmed at level %s: the claim '%s' holds\n%s\n",
                     text_of(verdict, "level"), text_of(verdict, "claim"),
                     text_of(verdict, "statement"));
    else
        print_refusal(verdict);
}

bdml_status cli_certify(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    char *text = NULL;
    json_t *verdict = NULL;
    int confirmed = 0;

    if (c->own[CLI_OPT_RETRAIN].i) GO(bdml_set(c->h, "level", "repeat"));
    if (cli_reads_once(c->argument[0]))
        GO(client_fail(c->h, BDML_ERR_ARGUMENT,
                       "certify reads the model twice: give a file instead of '%s'",
                       c->argument[0]));
    GO(bdml_load_model(c->h, c->argument[0], &model));
    GO(bdml_read_model_dataset(c->h, model, c->argument[1], &data));
    GO(bdml_certify(c->h, c->argument[0], data, &confirmed, &text));
    verdict = json_loads(text, 0, NULL);
    if (!verdict) {
        status = client_fail(c->h, BDML_ERR_MEMORY, "out of memory");
        goto done;
    }
    json_object_update(c->result, verdict);
    cli_progress_clear(c);
    if (cli_chatty(c)) print_verdict(verdict);
    if (!confirmed) {
        c->refuted = true;
        const char *level = bdml_get(c->h, "level");
        bool stated = strcmp(level, "auto") != 0;
        status = client_fail(c->h, BDML_ERR_DATA, "%s: the claim is not confirmed%s%s",
                             c->argument[0], stated ? " at level " : "", stated ? level : "");
    }
done:
    json_decref(verdict);
    bdml_free_bytes(text);
    bdml_free_dataset(data);
    bdml_free_model(model);
    return status;
}
