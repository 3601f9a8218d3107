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
    client_print(stdout,
                 "%s: %.0f queries, %s: %.0f documents, %.0f features, %.0f lines of what belongs "
                 "together\n",
                 cli_text_of(c, CLI_OPT_QUERIES), client_real(r, "queries"),
                 cli_text_of(c, CLI_OPT_CORPUS), client_real(r, "documents"),
                 client_real(r, "dimension"), client_real(r, "relevant"));
    client_print(
        stdout,
        "%.0f splits: %.0f queries to learn from (seen), %.0f others to test by (unseen), both "
        "among all documents;\nscale %s\n\n",
        client_real(r, "splits"), client_real(r, "seen_queries"), client_real(r, "unseen_queries"),
        client_string(r, "scale"));
}

static void print_data(const cli *c)
{
    const json_t *r = c->result;
    bool rows = strcmp(client_string(r, "protocol"), "rows") == 0;
    client_print(stdout, "%s: %.0f points, %.0f features, %zu classes\n", c->argument[0],
                 client_real(r, "points"), client_real(r, "dimension"),
                 json_array_size(json_object_get(r, "classes")));
    if (rows)
        client_print(
            stdout,
            "%.0f splits: %.0f rows to learn from, which look for their class among each other "
            "(seen);\n%.0f others look among them (unseen); scale %s\n\n",
            client_real(r, "splits"), client_real(r, "train_points"),
            client_real(r, "unseen_points"), client_string(r, "scale"));
    else
        client_print(
            stdout,
            "%.0f splits: %.0f rows of %.0f classes to learn from; retrieval among %.0f rows of "
            "%.0f unseen classes,\nand among %.0f more of the seen ones; scale %s\n\n",
            client_real(r, "splits"), client_real(r, "train_points"),
            client_real(r, "seen_classes"), client_real(r, "unseen_points"),
            client_real(r, "unseen_classes"), client_real(r, "seen_points"),
            client_string(r, "scale"));
}

/* ---- table ----------------------------------------------------------------------------------------------- */

enum { MOST_MEASURES = 4 };
typedef struct measure {
    const char *key, *title;
} measure;

/* What the table shows of a scope; the first against the space as it is. */
static int list_measures(const cli *c, measure *list)
{
    static const measure recall = {"recall_at_1", "R@1"}, map = {"map_at_r", "mAP@R"},
                         ndcg = {"ndcg_at_10", "nDCG@10"}, nmi = {"nmi", "NMI"},
                         ari = {"ari", "ARI"};
    bool groups = strcmp(bdml_get(c->h, "task"), "cluster") == 0;
    int n = 0;
    if (groups) list[n++] = nmi, list[n++] = ari;
    list[n++] = recall;
    if (!groups) list[n++] = asks_documents(c) ? ndcg : map; /* grades are what nDCG is for */
    if (!groups && bdml_get_number(c->h, "cluster") > 0.0) list[n++] = nmi, list[n++] = ari;
    return n;
}

static void add_headings(cli_table *t, const char *scope, int n, const measure *list)
{
    cli_cell(t, "%s %s", scope, list[0].title);
    cli_cell(t, "diff");
    cli_cell(t, "se");
    for (int m = 1; m < n; m++) cli_cell(t, "%s", list[m].title);
}

static void add_scope(cli_table *t, const json_t *scope, int n, const measure *list)
{
    for (int m = 0; m < n; m++) {
        const json_t *figure = json_object_get(scope, list[m].key);
        const json_t *versus = json_object_get(figure, "versus");
        cli_cell_real(t, "%.2f", client_real(figure, "mean"));
        if (m > 0) continue;
        cli_cell_real(t, "%+.2f", client_real(versus, "difference"));
        cli_cell_real(t, "%.2f", client_real(versus, "standard_error_corrected"));
    }
}

static bdml_status print_table(cli *c)
{
    measure list[MOST_MEASURES];
    int n = list_measures(c, list);
    char columns[] = "lrrrrrrrrrrrrrrrr"; /* two, two scopes of n + 2, two */
    cli_table t;
    size_t i;
    json_t *row;
    columns[8 + 2 * n] = '\0';
    cli_table_init(&t, c->h, columns);
    cli_cell(&t, "method");
    cli_cell(&t, "K");
    add_headings(&t, "unseen", n, list);
    add_headings(&t, "seen", n, list);
    cli_cell(&t, "kappa");
    cli_cell(&t, "fit s");
    json_array_foreach(json_object_get(c->result, "methods"), i, row)
    {
        bool chosen = json_object_size(json_object_get(row, "chosen")) > 0;
        cli_cell(&t, "%s%s", client_string(row, "method"), chosen ? " chosen" : "");
        cli_cell_real(&t, "%g", client_real(row, "distortion"));
        add_scope(&t, json_object_get(row, "unseen"), n, list);
        add_scope(&t, json_object_get(row, "seen"), n, list);
        cli_cell_real(&t, "%.3g", client_real(row, "kappa"));
        cli_cell_real(&t, "%.3f", client_real(row, "fit_seconds"));
    }
    return cli_table_print(&t, stdout);
}

static void say_groups(const json_t *result)
{
    const json_t *first = json_array_get(json_object_get(result, "methods"), 0);
    if (json_object_get(json_object_get(first, "unseen"), "nmi"))
        printf("NMI, ARI: agreement of k-means, as many groups as classes, with the classes; 100 = "
               "the same\n");
}

static void print_notes(const cli *c)
{
    size_t i;
    json_t *row;
    client_print(
        stdout,
        "\nR@1: the nearest %s, %%; diff: to euclidean, the space as it is, on the same splits\n"
        "se: its standard error, corrected for overlapping splits\n",
        asks_documents(c) ? "document belongs to the query" : "row is of the class");
    say_groups(c->result);
    json_array_foreach(json_object_get(c->result, "methods"), i, row)
    {
        const char *reason = json_string_value(json_object_get(row, "error"));
        if (reason) client_print(stdout, "%s\n", reason);
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
    if (!bdml_is_given(c->h, "label")) GO(bdml_set(c->h, "label", "none")); /* all are features */
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
    if (drawn && !cli_quiet(c)) client_print(stdout, "\nrecall against K  %s\n", plot);
done:
    bdml_free_bytes(json);
    return status;
}
