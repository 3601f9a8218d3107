/* cmd_transform.c - bdml transform MODEL DATA -o OUT
 *
 * CSV and TSV are written block by block. NPY announces its rows and svmlight its classes at the
 * start, so their rows are gathered first. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    cli *c;
    const bdml_model *model;
    cli_stream stream;
    cli_writer writer;
    int q; /* dimension of mapped rows */
    bool gather;
    double *z; /* mapped block */
    /* gathered rows (NPY) */
    double *all;
    int32_t *label;
    size_t room, label_room;
} job;

/* ---- text ------------------------------------------------------------------------------------ */

static bdml_status write_heading(job *j)
{
    char name[32];
    for (int k = 1; k <= j->q; k++) {
        snprintf(name, sizeof name, "z%d", k);
        TRY(cli_writer_text(&j->writer, name));
    }
    if (bdml_source_labelled(j->stream.source)) TRY(cli_writer_text(&j->writer, "class"));
    return cli_writer_end_row(&j->writer);
}

static bdml_status write_row(job *j, const double *z, const char *label)
{
    for (int k = 0; k < j->q; k++) TRY(cli_writer_real(&j->writer, z[k]));
    if (label) TRY(cli_writer_text(&j->writer, label));
    return cli_writer_end_row(&j->writer);
}

static bdml_status write_block(job *j)
{
    const cli_stream *b = &j->stream;
    for (int64_t i = 0; i < b->n; i++) {
        const double *z = j->z + (size_t)i * (size_t)j->q;
        const char *label = bdml_source_class_name(b->source, b->label[i]);
        if (!label && bdml_source_labelled(b->source)) label = "";
        TRY(write_row(j, z, label));
    }
    return BDML_OK;
}

/* ---- gathered -------------------------------------------------------------------------------- */

static bdml_status gather_block(job *j)
{
    const cli_stream *b = &j->stream;
    size_t q = (size_t)j->q, before = (size_t)(j->stream.rows - b->n), n = (size_t)b->n;
    TRY(client_grow(j->c->h, &j->all, &j->room, (before + n) * q, sizeof *j->all));
    TRY(client_grow(j->c->h, &j->label, &j->label_room, before + n, sizeof *j->label));
    for (int64_t i = 0; i < b->n && bdml_source_labelled(b->source); i++)
        if (b->label[i] < 0)
            return client_fail(j->c->h, BDML_ERR_DATA,
                               "%s: line %" PRId64
                               ": the label is missing; --label none ignores them",
                               bdml_source_name(b->source), b->line[i]);
    memcpy(j->all + before * q, j->z, n * q * sizeof *j->z);
    memcpy(j->label + before, b->label, n * sizeof *j->label);
    return BDML_OK;
}

/* The source numbers classes as they appear, a data set in the order of their names. */
static bdml_status write_gathered(job *j, const char *output)
{
    bdml_status status = BDML_OK;
    cli *c = j->c;
    const bdml_source *source = j->stream.source;
    int classes = bdml_source_classes(source);
    bool labelled = bdml_source_labelled(source);
    int32_t *order = NULL;
    int64_t *rank = NULL, *y = NULL; /* rank: from 0 among the classes that occur; else -1 */
    const char **sorted = NULL;
    bdml_dataset *data = NULL;

    NEW(c->h, order, classes);
    NEW(c->h, rank, classes);
    NEW(c->h, sorted, classes);
    NEW(c->h, y, j->stream.rows);
    GO(bdml_source_order_classes(c->h, source, order));
    for (int k = 0; k < classes; k++) rank[k] = -1;
    for (int64_t i = 0; labelled && i < j->stream.rows; i++) rank[j->label[i]] = 0;
    for (int k = 0, next = 0; k < classes; k++) {
        if (rank[order[k]] < 0) continue;
        sorted[next] = bdml_source_class_name(source, order[k]);
        rank[order[k]] = next++;
    }
    for (int64_t i = 0; labelled && i < j->stream.rows; i++) y[i] = rank[j->label[i]];
    GO(bdml_dataset_from_arrays(c->h, j->stream.rows, j->q, j->all, j->q, labelled ? y : NULL,
                                &data));
    if (labelled) GO(bdml_dataset_set_names(c->h, data, sorted, NULL));
    GO(cli_wrote(c, bdml_write_dataset(c->h, data, output)));
done:
    bdml_free_dataset(data);
    free(order);
    free(rank);
    free(sorted);
    free(y);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bdml_status choose_format(job *j, const char *output)
{
    j->gather = client_ends_in(output, ".npy") || client_ends_in(output, ".svm") ||
                client_ends_in(output, ".svmlight") || client_ends_in(output, ".libsvm");
    if (j->gather || strcmp(output, "-") == 0 || client_ends_in(output, ".csv") ||
        client_ends_in(output, ".tsv"))
        return BDML_OK;
    return client_fail(j->c->h, BDML_ERR_ARGUMENT,
                       "%s: the ending says no format; use .csv, .tsv, .svmlight or .npy", output);
}

static bdml_status transform_all(job *j, const char *output)
{
    cli *c = j->c;
    if (!j->gather) TRY(cli_writer_open(c, output, &j->writer));
    if (!j->gather) TRY(write_heading(j));
    for (;;) {
        if (strcmp(output, "-") == 0)
            snprintf(c->kept, sizeof c->kept, "the first %" PRId64 " points were written",
                     j->stream.rows);
        TRY(cli_stream_next(c, &j->stream, "mapping"));
        const cli_stream *b = &j->stream;
        if (b->n == 0) break;
        TRY(bdml_transform(c->h, j->model, b->n, b->x, b->d, j->z));
        TRY(j->gather ? gather_block(j) : write_block(j));
    }
    return j->gather ? write_gathered(j, output) : cli_writer_close(&j->writer);
}

bdml_status cli_transform(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT);
    job j = {.c = c};

    if (!output[0]) output = "-";
    GO(choose_format(&j, output));
    GO(cli_check_output(c, output));
    GO(cli_load_model(c, &model));
    j.model = model;
    j.q = bdml_model_output_dimension(model);
    GO(cli_stream_open(c, model, c->argument[1], &j.stream));
    NEW(c->h, j.z, (size_t)j.stream.room * (size_t)j.q);
    GO(transform_all(&j, output));
    cli_put(c->result, "points", json_integer(j.stream.rows));
    cli_put(c->result, "dropped", json_integer(j.stream.dropped));
    cli_put(c->result, "dimension", json_integer(j.q));
    cli_put(c->result, "output", client_text(output));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        client_print(stdout, "mapped %" PRId64 " points from %d to %d dimensions into %s\n",
                     j.stream.rows, bdml_model_input_dimension(model), j.q, output);
    if (cli_chatty(c) && j.stream.dropped)
        fprintf(stderr, "bdml: dropped %" PRId64 " rows with missing values\n", j.stream.dropped);
done:
    cli_writer_discard(&j.writer);
    cli_stream_close(&j.stream);
    free(j.z);
    free(j.all);
    free(j.label);
    bdml_free_model(model);
    return status;
}
