/* cmd_drift.c - bdml drift MODEL CORPUS [QUERIES] */
#include "cli.h"

static const char *title_of(const char *space)
{
    return strcmp(space, "raw") == 0        ? "from the rows as they are"
           : strcmp(space, "prepared") == 0 ? "from the prepared rows (scaled, PCA)"
                                            : "from the rows under the reference, "
                                              "which the cap is relative to";
}

static bdml_status print_space(cli *c, const json_t *r)
{
    cli_table t;
    double ratio = client_real(r, "ratio");
    client_print(stdout, "\n%s:\n", title_of(client_string(r, "space")));
    if (isnan(ratio))
        puts("some differences are mapped to 0: nothing is promised of neighbours\n");
    else
        printf("no ratio of two distances changes by more than %.4g (condition number %.4g): a row "
               "that "
               "is\nfarther by more than that does not come before a nearer one\n\n",
               ratio, client_real(r, "condition"));
    cli_table_init(&t, c->h, "rrrrr");
    static const char *const headings[] = {"nearest", "stay, at least %", "stay %",
                                           "all stay, at least %", "all stay %"};
    static const char *const keys[] = {"kept_at_least", "kept", "unchanged_at_least", "unchanged"};
    for (int k = 0; k < 5; k++) cli_cell(&t, "%s", headings[k]);
    size_t i;
    json_t *depth;
    json_array_foreach(json_object_get(r, "depths"), i, depth)
    {
        cli_cell(&t, "%d", (int)json_integer_value(json_object_get(depth, "k")));
        for (int k = 0; k < 4; k++) cli_cell(&t, "%.1f", client_real(depth, keys[k]));
    }
    return cli_table_print(&t, stdout);
}

static bdml_status print(cli *c, const json_t *r)
{
    size_t i;
    json_t *space;
    client_print(stdout, "%s: %lld rows, %lld queries\n", c->argument[1],
                 (long long)json_integer_value(json_object_get(r, "points")),
                 (long long)json_integer_value(json_object_get(r, "queries")));
    json_array_foreach(json_object_get(r, "spaces"), i, space) TRY(print_space(c, space));
    return BDML_OK;
}

bdml_status cli_drift(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    bdml_dataset *corpus = NULL, *queries = NULL;
    char *text = NULL;
    json_t *result = NULL;

    GO(bdml_load_model(c->h, c->argument[0], &model));
    GO(bdml_read_dataset(c->h, c->argument[1], &corpus));
    if (c->arguments > 2) GO(bdml_read_dataset(c->h, c->argument[2], &queries));
    GO(bdml_drift(c->h, model, corpus, queries, &text));
    result = json_loads(text, 0, NULL);
    if (!result) GO(client_fail(c->h, BDML_ERR_MEMORY, "out of memory"));
    json_object_update(c->result, result);
    if (!cli_json(c)) status = print(c, result);
done:
    json_decref(result);
    bdml_free_bytes(text);
    bdml_free_dataset(corpus);
    bdml_free_dataset(queries);
    bdml_free_model(model);
    return status;
}
