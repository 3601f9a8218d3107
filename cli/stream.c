/* stream.c - the rows of a file in blocks, fit for a model: right width, no missing values. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows a block: enough for BLAS-3 and threads, little beside the memory setting. */
enum { MOST_ROWS = 8192, LEAST_ROWS = 64 };

static int64_t rows_per_block(const cli *c, const bdml_model *model)
{
    /* Raw, prepared and mapped row, and as much again for the search. */
    double bytes =
        8.0 * 3.0 * (bdml_model_input_dimension(model) + bdml_model_output_dimension(model));
    double fit = bdml_get_number(c->h, "memory") * 1048576.0 / 4.0 / bytes;
    return (int64_t)MAX(LEAST_ROWS, MIN(MOST_ROWS, fit));
}

static bool has_feature(const cli_stream *s, const char *name)
{
    for (int j = 0; j < s->d; j++) {
        const char *found = bdml_source_feature_name(s->source, j);
        if (found && strcmp(found, name) == 0) return true;
    }
    return false;
}

/* Columns by another name, or in another order, are not what the model was trained on. */
static bdml_status check_names(cli *c, const cli_stream *s)
{
    for (int j = 0; j < s->d; j++) {
        const char *wanted = bdml_model_feature_name(s->model, j);
        const char *found = bdml_source_feature_name(s->source, j);
        if (!wanted || !found || strcmp(wanted, found) == 0) continue;
        if (!has_feature(s, wanted))
            return client_fail(c->h, BDML_ERR_DATA,
                               "%s: there is no column '%.60s', which the model was trained with",
                               bdml_source_name(s->source), wanted);
        return client_fail(
            c->h, BDML_ERR_DATA,
            "%s: feature %d is called '%.60s', the model was trained with '%.60s' there; "
            "give the columns in the order of training",
            bdml_source_name(s->source), j + 1, found, wanted);
    }
    return BDML_OK;
}

/* Missing values go as --missing says, or as they went in training. */
static bdml_status find_policy(cli *c, cli_stream *s)
{
    json_t *description = cli_describe(c, s->model);
    if (!description) return BDML_ERR_MEMORY;
    const char *then = client_string(json_object_get(description, "settings"), "missing");
    const char *now = bdml_get(c->h, "missing");
    if (!bdml_is_given(c->h, "missing") && then[0]) now = then;
    s->drop = strcmp(now, "drop") == 0;
    s->fill = strcmp(now, "mean") == 0;
    json_decref(description);
    return BDML_OK;
}

bdml_status cli_stream_open(cli *c, const bdml_model *model, const char *path, cli_stream *s)
{
    bdml_status status = BDML_OK;
    int wanted = bdml_model_input_dimension(model);
    *s = (cli_stream){.model = model, .d = wanted, .room = rows_per_block(c, model)};
    GO(bdml_open_model_source(c->h, model, path, &s->source));
    GO(find_policy(c, s));
    GO(check_names(c, s));
    NEW(c->h, s->x, (size_t)s->room * (size_t)wanted);
    NEW(c->h, s->label, s->room);
    NEW(c->h, s->line, s->room);
    NEW(c->h, s->place, s->room);
done:
    return status;
}

/* First missing value of a row, or d. */
static int first_missing(int d, const double *x)
{
    int j = 0;
    while (j < d && !isnan(x[j])) j++;
    return j;
}

static bdml_status refuse_missing(cli *c, const cli_stream *s, int64_t i, int j)
{
    return client_fail(c->h, BDML_ERR_DATA, "%s: line %" PRId64 ", column %d: missing value; %s",
                       bdml_source_name(s->source), s->line[i], j + 1,
                       s->fill ? "the model knows no means to fill in: train it with --missing mean"
                               : "train with --missing mean to fill in, or give --missing drop");
}

/* Rows with missing values: filled in by the model, dropped, or refused. */
static bdml_status settle_missing(cli *c, cli_stream *s)
{
    bool drop = s->drop;
    int64_t kept = 0, before = s->read;
    size_t d = (size_t)s->d;
    s->read += s->n;
    for (int64_t i = 0; i < s->n; i++) s->place[i] = before + i;
    if (bdml_preparation_fills(bdml_model_preparation(s->model)) && !drop) return BDML_OK;
    for (int64_t i = 0; i < s->n; i++) {
        const double *row = s->x + (size_t)i * d;
        int j = first_missing(s->d, row);
        if (j < s->d && !drop) return refuse_missing(c, s, i, j);
        if (j < s->d) continue;
        if (kept < i) {
            memcpy(s->x + (size_t)kept * d, row, d * sizeof *row);
            s->label[kept] = s->label[i];
            s->line[kept] = s->line[i];
            s->place[kept] = s->place[i];
        }
        kept++;
    }
    s->dropped += s->n - kept;
    s->n = kept;
    return BDML_OK;
}

bdml_status cli_stream_next(cli *c, cli_stream *s, const char *what)
{
    bool more = true;
    s->n = 0;
    while (more && s->n == 0) { /* a block may lose all its rows */
        TRY(bdml_read_rows(c->h, s->source, s->room, s->x, s->label, s->line, &s->n));
        more = s->n > 0;
        TRY(settle_missing(c, s));
    }
    int64_t total = MAX(bdml_source_points(s->source), 0);
    if (!more && total == 0) total = s->rows;
    TRY(cli_progress_step(c, what, s->rows, total));
    s->rows += s->n;
    return BDML_OK;
}

/* The library counts rows in the block that it was given: the one that it refuses is found by giving them one by one. */
bdml_status cli_stream_blame(cli *c, const cli_stream *s, bdml_status status)
{
    char was[CLIENT_ERROR];
    if (status != BDML_ERR_DATA) return status;
    snprintf(was, sizeof was, "%s", bdml_last_error(c->h));
    const char *name = bdml_source_name(s->source), *what = strstr(was, ": ");
    double *z = client_alloc(c->h, (size_t)bdml_model_output_dimension(s->model), sizeof *z);
    if (!z) return BDML_ERR_MEMORY;
    for (int64_t i = 0; i < s->n; i++) {
        const double *row = s->x + (size_t)i * (size_t)s->d;
        if (bdml_transform(c->h, s->model, 1, row, s->d, z) == BDML_OK) continue;
        free(z);
        return client_fail(c->h, status, "%s: line %" PRId64 "%s", name, s->line[i],
                           what ? what : ": the model refuses it");
    }
    free(z);
    return client_fail(c->h, status, "%s: %s", name, was);
}

void cli_stream_close(cli_stream *s)
{
    bdml_close_source(s->source);
    free(s->x);
    free(s->label);
    free(s->line);
    free(s->place);
    *s = (cli_stream){0};
}
