/* cmd_neighbors.c - bdml neighbors DATA [QUERY] [--model MODEL] -k K [-o OUT] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    cli *c;
    bdml_model *model;          /* or NULL */
    bdml_prepare *prepare;      /* fitted on DATA, without a model */
    bdml_dataset *data, *query; /* query NULL: the data themselves */
    int d;                      /* of the mapped rows */
    double *x, *q;              /* mapped rows */
    int32_t *query_label; /* classes of the query as the data number them; -1 = unknown there */
    int k;
    int32_t *index;
    double *distance;
} job;

static bdml_status check_width(cli *c, const char *path, const bdml_dataset *data, int wanted,
                               const char *who)
{
    int d = bdml_dataset_dimension(data);
    if (d == wanted) return BDML_OK;
    return client_fail(c->h, BDML_ERR_DATA, "%s: has %d features where %s %d", path, d, who,
                       wanted);
}

static bdml_status read_all(job *j)
{
    cli *c = j->c;
    const char *model = cli_text_of(c, CLI_OPT_MODEL);
    if (model[0]) TRY(bdml_load_model(c->h, model, &j->model));
    TRY(j->model ? bdml_read_model_dataset(c->h, j->model, c->argument[0], &j->data)
                 : bdml_read_dataset(c->h, c->argument[0], &j->data));
    if (j->model)
        TRY(check_width(c, c->argument[0], j->data, bdml_model_input_dimension(j->model),
                        "the model wants"));
    if (c->arguments < 2) return BDML_OK;
    TRY(cli_read_other(c, c->argument[1], &j->query));
    return check_width(c, c->argument[1], j->query, bdml_dataset_dimension(j->data),
                       "the data have");
}

static bdml_status map_rows(job *j, const bdml_dataset *data, double **out)
{
    bdml_handle *h = j->c->h;
    int64_t n = bdml_dataset_points(data);
    int d = bdml_dataset_dimension(data);
    *out = client_alloc(h, (size_t)n * (size_t)j->d, sizeof **out);
    if (!*out) return BDML_ERR_MEMORY;
    if (j->model) return bdml_transform(h, j->model, n, bdml_dataset_rows(data), d, *out);
    return bdml_prepare_rows(h, j->prepare, n, bdml_dataset_rows(data), d, *out);
}

static bdml_status map_all(job *j)
{
    if (!j->model) TRY(bdml_fit_preparation(j->c->h, j->data, &j->prepare));
    j->d =
        j->model ? bdml_model_output_dimension(j->model) : bdml_preparation_dimension(j->prepare);
    TRY(map_rows(j, j->data, &j->x));
    TRY(bdml_confirm_dataset(j->c->h, j->data));
    if (!j->query) return BDML_OK;
    TRY(map_rows(j, j->query, &j->q));
    return bdml_confirm_dataset(j->c->h, j->query);
}

/* Classes are the same when their names are. */
static bdml_status match_labels(job *j, bdml_restrict which)
{
    bdml_status status = BDML_OK;
    const bdml_dataset *data = j->data, *query = j->query;
    if (which == BDML_ANY_CLASS) return BDML_OK;
    if (bdml_dataset_classes(data) == 0 || (query && bdml_dataset_classes(query) == 0))
        return client_fail(j->c->h, BDML_ERR_DATA,
                           "%s: --which needs labels; --label names their column",
                           j->c->argument[bdml_dataset_classes(data) ? 1 : 0]);
    if (!query) return BDML_OK;
    int classes = bdml_dataset_classes(data);
    const int32_t *y = bdml_dataset_labels(query);
    NEW(j->c->h, j->query_label, bdml_dataset_points(query));
    for (int64_t i = 0; i < bdml_dataset_points(query); i++) {
        const char *name = bdml_dataset_class_name(query, y[i]);
        int k = 0;
        while (k < classes && strcmp(bdml_dataset_class_name(data, k), name) != 0) k++;
        j->query_label[i] = k < classes ? k : -1;
    }
done:
    return status;
}

static int64_t queries_of(const job *j)
{
    return bdml_dataset_points(j->query ? j->query : j->data);
}

static bdml_status search(job *j)
{
    bdml_status status = BDML_OK;
    cli *c = j->c;
    bdml_restrict which =
        (bdml_restrict)c->own[CLI_OPT_WHICH].i; /* the choices are in this order */
    int64_t n = bdml_dataset_points(j->data), queries = queries_of(j);

    j->k = (int)MIN(bdml_get_number(c->h, "neighbors"), (double)n);
    GO(match_labels(j, which));
    NEW(c->h, j->index, (size_t)queries * (size_t)j->k);
    NEW(c->h, j->distance, (size_t)queries * (size_t)j->k);
    GO(bdml_find_neighbors(c->h, n, j->d, j->x, j->d,
                           which == BDML_ANY_CLASS ? NULL : bdml_dataset_labels(j->data), queries,
                           j->query ? j->q : NULL, j->d, j->query_label, which, j->k, j->index,
                           j->distance));
done:
    return status;
}

static bdml_status write_table(job *j, const char *output)
{
    bdml_status status = BDML_OK;
    cli_writer w;
    int64_t queries = queries_of(j);
    static const char *const heading[] = {"row", "rank", "neighbor", "distance"};

    TRY(cli_writer_open(j->c, output, &w));
    for (int i = 0; i < 4; i++) GO(cli_writer_text(&w, heading[i]));
    GO(cli_writer_end_row(&w));
    for (int64_t i = 0; i < queries; i++) {
        for (int r = 0; r < j->k; r++) {
            size_t at = (size_t)i * (size_t)j->k + (size_t)r;
            if (j->index[at] < 0) break;
            GO(cli_writer_int(&w, i));
            GO(cli_writer_int(&w, r + 1));
            GO(cli_writer_int(&w, j->index[at]));
            GO(cli_writer_real(&w, j->distance[at]));
            GO(cli_writer_end_row(&w));
        }
        GO(cli_progress_step(j->c, "writing", i, queries));
    }
    status = cli_writer_close(&w);
done:
    cli_writer_discard(&w);
    return status;
}

static void list_in_json(job *j, int64_t queries)
{
    json_t *index = json_array(), *distance = json_array();
    for (int64_t i = 0; i < queries; i++) {
        json_t *a = json_array(), *b = json_array();
        for (int r = 0; r < j->k; r++) {
            size_t at = (size_t)i * (size_t)j->k + (size_t)r;
            if (j->index[at] < 0) break;
            json_array_append_new(a, json_integer(j->index[at]));
            json_array_append_new(b, cli_real(j->distance[at]));
        }
        json_array_append_new(index, a);
        json_array_append_new(distance, b);
    }
    cli_put(j->c->result, "index", index);
    cli_put(j->c->result, "distance", distance);
}

static void free_job(job *j)
{
    bdml_free_model(j->model);
    bdml_free_preparation(j->prepare);
    bdml_free_dataset(j->data);
    bdml_free_dataset(j->query);
    free(j->x);
    free(j->q);
    free(j->query_label);
    free(j->index);
    free(j->distance);
}

static bdml_status check_usage(cli *c, const char *output, bool writing)
{
    if (cli_text_of(c, CLI_OPT_MODEL)[0] &&
        (bdml_is_given(c->h, "scale") || bdml_is_given(c->h, "pca")))
        return client_fail(
            c->h, BDML_ERR_ARGUMENT,
            "--scale and --pca do not go with --model, which has its own preparation");
    if (!writing) return BDML_OK;
    if (strcmp(output, "-") != 0 && !client_ends_in(output, ".csv") &&
        !client_ends_in(output, ".tsv"))
        return client_fail(c->h, BDML_ERR_ARGUMENT, "%s: the table is written as .csv or .tsv",
                           output);
    return cli_check_output(c, output);
}

bdml_status cli_neighbors(cli *c)
{
    bdml_status status = BDML_OK;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT);
    bool writing = output[0] || !cli_json(c);
    job j = {.c = c};

    if (!output[0]) output = "-";
    TRY(check_usage(c, output, writing));
    GO(read_all(&j));
    GO(map_all(&j));
    GO(search(&j));
    int64_t points = bdml_dataset_points(j.data), queries = queries_of(&j);
    if (writing) GO(write_table(&j, output));
    cli_put(c->result, "points", json_integer(points));
    cli_put(c->result, "queries", json_integer(queries));
    cli_put(c->result, "k", json_integer(j.k));
    if (writing)
        cli_put(c->result, "output", client_text(output));
    else
        list_in_json(&j, queries);
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        client_print(stdout, "%d nearest of %" PRId64 " points for %" PRId64 " queries into %s\n",
                     j.k, points, queries, output);
done:
    free_job(&j);
    return status;
}
