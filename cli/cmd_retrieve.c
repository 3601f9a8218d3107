/* cmd_retrieve.c - bdml retrieve DATA | --queries FILE --corpus FILE --relevant FILE
 *                  [--methods A,B,C] [--grid K,K,... [--plot FILE.svg]] */
#include "cli.h"

#include "report/report.h"

/* Queries that look for documents, instead of rows that look for their class. */
static bool asks_documents(const cli *c)
{
    return cli_text_of(c, CLI_OPT_QUERIES)[0] || cli_text_of(c, CLI_OPT_CORPUS)[0] ||
           cli_text_of(c, CLI_OPT_RELEVANT)[0];
}

static bdml_status check_files(cli *c)
{
    if (!asks_documents(c)) {
        if (c->argument[0]) return BDML_OK;
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "what to retrieve is missing: DATA with classes, or --queries FILE "
                           "--corpus FILE --relevant FILE");
    }
    if (c->argument[0])
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "'%s' is one argument too many: the rows are those of --queries and "
                           "--corpus",
                           c->argument[0]);
    if (!cli_text_of(c, CLI_OPT_QUERIES)[0] || !cli_text_of(c, CLI_OPT_CORPUS)[0] ||
        !cli_text_of(c, CLI_OPT_RELEVANT)[0])
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "--queries, --corpus and --relevant go together: vectors that ask, "
                           "vectors that are searched, and lines query,document[,grade]");
    return BDML_OK;
}

/* Everything that can be told before the data are read. */
static bdml_status check(cli *c, const char *plot)
{
    TRY(check_files(c));
    TRY(cli_check_methods(c));
    if (!plot[0]) return BDML_OK;
    if (!bdml_is_given(c->h, "grid"))
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "--plot draws recall against K: give the K with --grid, such as "
                           "--grid 1,3,10,30,100,1000");
    TRY(study_plot_check_name(c->h, plot));
    return cli_check_output(c, plot);
}

static void print_queries(const cli *c)
{
    const json_t *r = c->result;
    printf("%s: %.0f queries, %s: %.0f documents, %.0f features, %.0f lines of what belongs "
           "together\n",
           cli_text_of(c, CLI_OPT_QUERIES), client_real(r, "queries"),
           cli_text_of(c, CLI_OPT_CORPUS), client_real(r, "documents"), client_real(r, "dimension"),
           client_real(r, "relevant"));
    printf("%.0f splits: %.0f queries to learn from (seen), %.0f others to test by (unseen), both "
           "among all documents;\nscale %s\n\n",
           client_real(r, "splits"), client_real(r, "seen_queries"),
           client_real(r, "unseen_queries"), client_string(r, "scale"));
}

static void print_data(const cli *c)
{
    const json_t *r = c->result;
    bool rows = strcmp(client_string(r, "protocol"), "rows") == 0;
    printf("%s: %.0f points, %.0f features, %zu classes\n", c->argument[0],
           client_real(r, "points"), client_real(r, "dimension"),
           json_array_size(json_object_get(r, "classes")));
    if (rows)
        printf("%.0f splits: %.0f rows to learn from, which look for their class among each other "
               "(seen);\n%.0f others look among them (unseen); scale %s\n\n",
               client_real(r, "splits"), client_real(r, "train_points"),
               client_real(r, "unseen_points"), client_string(r, "scale"));
    else
        printf("%.0f splits: %.0f rows of %.0f classes to learn from; retrieval among %.0f rows of "
               "%.0f unseen classes,\nand among %.0f more of the seen ones; scale %s\n\n",
               client_real(r, "splits"), client_real(r, "train_points"),
               client_real(r, "seen_classes"), client_real(r, "unseen_points"),
               client_real(r, "unseen_classes"), client_real(r, "seen_points"),
               client_string(r, "scale"));
}

/* recall@1, the difference to the space as it is with its standard error, and a second measure. */
static void add_scope(cli_table *t, const json_t *scope, const char *second)
{
    const json_t *first = json_object_get(scope, "recall_at_1");
    const json_t *versus = json_object_get(first, "versus");
    cli_cell_real(t, "%.2f", client_real(first, "mean"));
    cli_cell_real(t, "%+.2f", client_real(versus, "difference"));
    cli_cell_real(t, "%.2f", client_real(versus, "standard_error_corrected"));
    cli_cell_real(t, "%.2f", client_real(json_object_get(scope, second), "mean"));
}

static bdml_status print_table(cli *c)
{
    bool graded = asks_documents(c); /* grades are what nDCG is for */
    const char *title = graded ? "nDCG@10" : "mAP@R", *second = graded ? "ndcg_at_10" : "map_at_r";
    const char *const heading[] = {"method",   "K",    "unseen R@1", "diff", "se",    title,
                                   "seen R@1", "diff", "se",         title,  "kappa", "fit s"};
    cli_table t;
    size_t i;
    json_t *row;
    cli_table_init(&t, c->h, "lrrrrrrrrrrr");
    for (i = 0; i < sizeof heading / sizeof *heading; i++) cli_cell(&t, "%s", heading[i]);
    json_array_foreach(json_object_get(c->result, "methods"), i, row)
    {
        bool chosen = json_object_size(json_object_get(row, "chosen")) > 0;
        cli_cell(&t, "%s%s", client_string(row, "method"), chosen ? " chosen" : "");
        cli_cell_real(&t, "%g", client_real(row, "distortion"));
        add_scope(&t, json_object_get(row, "unseen"), second);
        add_scope(&t, json_object_get(row, "seen"), second);
        cli_cell_real(&t, "%.3g", client_real(row, "kappa"));
        cli_cell_real(&t, "%.3f", client_real(row, "fit_seconds"));
    }
    return cli_table_print(&t, stdout);
}

static void print_notes(const cli *c)
{
    size_t i;
    json_t *row;
    printf("\nR@1: the nearest %s, %%; diff: to euclidean, the space as it is, on the same splits\n"
           "se: its standard error, corrected for overlapping splits\n",
           asks_documents(c) ? "document belongs to the query" : "row is of the class");
    json_array_foreach(json_object_get(c->result, "methods"), i, row)
    {
        const char *reason = json_string_value(json_object_get(row, "error"));
        if (reason) printf("%s\n", reason);
    }
}

static bdml_status retrieve_data(cli *c, char **json)
{
    bdml_dataset *data;
    TRY(bdml_read_dataset(c->h, c->argument[0], &data));
    bdml_status status = bdml_retrieve(c->h, data, json);
    bdml_free_dataset(data);
    return status;
}

static bdml_status retrieve_documents(cli *c, char **json)
{
    bdml_status status = BDML_OK;
    bdml_dataset *queries = NULL, *corpus = NULL;
    GO(bdml_read_dataset(c->h, cli_text_of(c, CLI_OPT_QUERIES), &queries));
    GO(bdml_read_dataset(c->h, cli_text_of(c, CLI_OPT_CORPUS), &corpus));
    GO(bdml_retrieve_queries(c->h, queries, corpus, cli_text_of(c, CLI_OPT_RELEVANT), json));
done:
    bdml_free_dataset(queries);
    bdml_free_dataset(corpus);
    return status;
}

bdml_status cli_retrieve(cli *c)
{
    bdml_status status = BDML_OK;
    const char *plot = cli_text_of(c, CLI_OPT_PLOT);
    char *json = NULL;
    bool drawn = false;

    TRY(check(c, plot));
    GO(asks_documents(c) ? retrieve_documents(c, &json) : retrieve_data(c, &json));
    GO(cli_take_result(c, json));
    if (plot[0]) GO(cli_wrote(c, study_figure_write(c->h, "unseen", c->result, plot, 0, &drawn)));
    if (drawn) cli_put(c->result, "plot", client_text(plot));
    cli_progress_clear(c);
    if (cli_json(c)) goto done;
    if (!cli_quiet(c)) (asks_documents(c) ? print_queries : print_data)(c);
    GO(print_table(c));
    if (!cli_quiet(c)) print_notes(c);
    if (drawn && !cli_quiet(c)) printf("\nrecall against K  %s\n", plot);
done:
    bdml_free_bytes(json);
    return status;
}
