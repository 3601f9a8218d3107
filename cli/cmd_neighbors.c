/* cmd_neighbors.c - bdml neighbors DATA [QUERY] [--model MODEL] -k K [-o OUT] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    cli *c;
    bdml_model *model;          /* or NULL */
    bdml_prepare prepare;       /* fitted on DATA, without a model */
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
    if (data->d == wanted) return BDML_OK;
    return bdml_fail(c->h, BDML_ERR_DATA, "%s: has %d features where %s %d", path, data->d, who,
                     wanted);
}

static bdml_status read_all(job *j)
{
    cli *c = j->c;
    const char *model = cli_text_of(c, CLI_OPT_MODEL);
    if (model[0]) BDML_TRY(bdml_load_model(c->h, model, &j->model));
    BDML_TRY(bdml_read_dataset(c->h, c->argument[0], &j->data));
    if (j->model)
        BDML_TRY(
            check_width(c, c->argument[0], j->data, j->model->prepare.d_in, "the model wants"));
    if (c->arguments < 2) return BDML_OK;
    BDML_TRY(cli_read_other(c, c->argument[1], &j->query));
    return check_width(c, c->argument[1], j->query, j->data->d, "the data have");
}

static bdml_status map_rows(job *j, const bdml_dataset *data, double **out)
{
    bdml_handle *h = j->c->h;
    *out = bdml_alloc(h, (size_t)data->n * (size_t)j->d, sizeof **out);
    if (!*out) return BDML_ERR_MEMORY;
    if (j->model) return bdml_transform(h, j->model, data->n, data->x, data->d, *out);
    return bdml_prepare_apply(h, &j->prepare, data->n, data->x, data->d, *out);
}

static bdml_status map_all(job *j)
{
    if (!j->model) BDML_TRY(bdml_prepare_fit(j->c->h, &j->c->h->options, j->data, &j->prepare));
    j->d = j->model ? j->model->q : j->prepare.d_out;
    BDML_TRY(map_rows(j, j->data, &j->x));
    return j->query ? map_rows(j, j->query, &j->q) : BDML_OK;
}

/* Classes are the same when their names are. */
static bdml_status match_labels(job *j, bdml_restrict which)
{
    bdml_status status = BDML_OK;
    const bdml_dataset *data = j->data, *query = j->query;
    if (which == BDML_ANY_CLASS) return BDML_OK;
    if (!data->y || (query && !query->y))
        return bdml_fail(j->c->h, BDML_ERR_DATA,
                         "%s: --which needs labels; --label names their column",
                         j->c->argument[data->y ? 1 : 0]);
    if (!query) return BDML_OK;
    BDML_NEW(j->c->h, j->query_label, query->n);
    for (int64_t i = 0; i < query->n; i++) {
        int k = 0;
        while (k < data->classes &&
               strcmp(data->class_name[k], query->class_name[query->y[i]]) != 0)
            k++;
        j->query_label[i] = k < data->classes ? k : -1;
    }
done:
    return status;
}

static bdml_status search(job *j)
{
    bdml_status status = BDML_OK;
    cli *c = j->c;
    bdml_restrict which =
        (bdml_restrict)c->own[CLI_OPT_WHICH].i; /* the choices are in this order */
    int64_t queries = j->query ? j->query->n : j->data->n;

    j->k = (int)BDML_MIN(bdml_opt_int(c->h, BDML_OPT_NEIGHBORS), j->data->n);
    BDML_GO(match_labels(j, which));
    BDML_NEW(c->h, j->index, (size_t)queries * (size_t)j->k);
    BDML_NEW(c->h, j->distance, (size_t)queries * (size_t)j->k);
    BDML_GO(bdml_find_neighbors(c->h, j->data->n, j->d, j->x, j->d,
                                which == BDML_ANY_CLASS ? NULL : j->data->y, queries,
                                j->query ? j->q : NULL, j->d, j->query_label, which, j->k, j->index,
                                j->distance));
done:
    return status;
}

static bdml_status write_table(job *j, const char *output)
{
    bdml_status status = BDML_OK;
    cli_writer w;
    int64_t queries = j->query ? j->query->n : j->data->n;
    static const char *const heading[] = {"row", "rank", "neighbor", "distance"};

    BDML_TRY(cli_writer_open(j->c, output, &w));
    for (int i = 0; i < 4; i++) BDML_GO(cli_writer_text(&w, heading[i]));
    BDML_GO(cli_writer_end_row(&w));
    for (int64_t i = 0; i < queries; i++) {
        for (int r = 0; r < j->k; r++) {
            size_t at = (size_t)i * (size_t)j->k + (size_t)r;
            if (j->index[at] < 0) break;
            BDML_GO(cli_writer_int(&w, i));
            BDML_GO(cli_writer_int(&w, r + 1));
            BDML_GO(cli_writer_int(&w, j->index[at]));
            BDML_GO(cli_writer_real(&w, j->distance[at]));
            BDML_GO(cli_writer_end_row(&w));
        }
        BDML_GO(bdml_progress(j->c->h, "writing", i, queries));
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
    bdml_prepare_free(&j->prepare);
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
        (bdml_opt_changed(c->h, BDML_OPT_SCALE) || bdml_opt_changed(c->h, BDML_OPT_PCA)))
        return bdml_fail(c->h, BDML_ERR_ARGUMENT,
                         "--scale and --pca do not go with --model, which has its own preparation");
    if (!writing) return BDML_OK;
    if (strcmp(output, "-") != 0 && !bdml_ends_in(output, ".csv") && !bdml_ends_in(output, ".tsv"))
        return bdml_fail(c->h, BDML_ERR_ARGUMENT, "%s: the table is written as .csv or .tsv",
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
    BDML_TRY(check_usage(c, output, writing));
    BDML_GO(read_all(&j));
    BDML_GO(map_all(&j));
    BDML_GO(search(&j));
    int64_t queries = j.query ? j.query->n : j.data->n;
    if (writing) BDML_GO(write_table(&j, output));
    cli_put(c->result, "points", json_integer(j.data->n));
    cli_put(c->result, "queries", json_integer(queries));
    cli_put(c->result, "k", json_integer(j.k));
    if (writing)
        cli_put(c->result, "output", bdml_json_text(output));
    else
        list_in_json(&j, queries);
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        printf("%d nearest of %" PRId64 " points for %" PRId64 " queries into %s\n", j.k, j.data->n,
               queries, output);
done:
    free_job(&j);
    return status;
}
