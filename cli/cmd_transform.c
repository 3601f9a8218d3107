/* cmd_transform.c - bdml transform MODEL DATA [--from MODEL] -o OUT
 *
 * CSV, TSV and NPY are written block by block; of NPY the labels are kept, four bytes a row. svmlight announces its classes
 * at the start, so its rows are gathered first. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef enum format { TEXT, NPY, SVMLIGHT } format;

typedef struct job {
    cli *c;
    const bdml_model *model;
    cli_stream stream;
    format format;
    cli_writer writer;
    bdml_npy *npy;
    int q;     /* dimension of mapped rows */
    double *z; /* mapped block */
    /* of all rows: labels (NPY, svmlight), mapped rows (svmlight) */
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

/* ---- labels ----------------------------------------------------------------------------------- */

static bdml_status keep_labels(job *j)
{
    const cli_stream *b = &j->stream;
    size_t before = (size_t)(j->stream.rows - b->n), n = (size_t)b->n;
    if (!bdml_source_labelled(b->source)) return BDML_OK;
    TRY(client_grow(j->c->h, &j->label, &j->label_room, before + n, sizeof *j->label));
    for (int64_t i = 0; i < b->n; i++)
        if (b->label[i] < 0)
            return client_fail(j->c->h, BDML_ERR_DATA,
                               "%s: line %" PRId64
                               ": the label is missing; --label none ignores them",
                               bdml_source_name(b->source), b->line[i]);
    memcpy(j->label + before, b->label, n * sizeof *j->label);
    return BDML_OK;
}

/* The source numbers classes as they appear; a file has those that occur, in the order of their names. names: room for
 * all, of which *classes are set. */
static bdml_status order_labels(job *j, const char **names, int *classes)
{
    bdml_status status = BDML_OK;
    const bdml_source *source = j->stream.source;
    int met = bdml_source_classes(source);
    int32_t *order = NULL, *rank = NULL; /* rank: from 0 among the classes that occur; else -1 */

    *classes = 0;
    NEW(j->c->h, order, met);
    NEW(j->c->h, rank, met);
    GO(bdml_source_order_classes(j->c->h, source, order));
    for (int k = 0; k < met; k++) rank[k] = -1;
    for (int64_t i = 0; i < j->stream.rows; i++) rank[j->label[i]] = 0;
    for (int k = 0; k < met; k++) {
        if (rank[order[k]] < 0) continue;
        names[*classes] = bdml_source_class_name(source, order[k]);
        rank[order[k]] = (*classes)++;
    }
    for (int64_t i = 0; i < j->stream.rows; i++) j->label[i] = rank[j->label[i]];
done:
    free(order);
    free(rank);
    return status;
}

/* ---- NPY -------------------------------------------------------------------------------------- */

static bdml_status open_npy(job *j, const char *output)
{
    const char *type = cli_text_of(j->c, CLI_OPT_TYPE);
    const cli_stream *b = &j->stream;
    bool single = strcmp(type, "float32") == 0 ||
                  (strcmp(type, "auto") == 0 && bdml_source_single(b->source));
    int64_t rows = b->drop ? -1 : bdml_source_points(b->source);
    cli_put(j->c->result, "type", json_string(single ? "float32" : "float64"));
    return cli_wrote(j->c, bdml_npy_create(j->c->h, output, rows, j->q, single, &j->npy));
}

static bdml_status close_npy(job *j)
{
    bdml_status status = BDML_OK;
    const char **names = NULL;
    int classes = 0;
    bdml_npy *f = NULL;

    NEW(j->c->h, names, bdml_source_classes(j->stream.source));
    if (j->label) GO(order_labels(j, names, &classes));
    f = j->npy;
    j->npy = NULL; /* freed by commit, also when it fails */
    GO(cli_wrote(j->c, bdml_npy_commit(j->c->h, f, j->label, classes, names)));
done:
    free(names);
    return status;
}

/* ---- svmlight --------------------------------------------------------------------------------- */

static bdml_status gather_block(job *j)
{
    size_t q = (size_t)j->q, n = (size_t)j->stream.n, before = (size_t)j->stream.rows - n;
    TRY(client_grow(j->c->h, &j->all, &j->room, (before + n) * q, sizeof *j->all));
    memcpy(j->all + before * q, j->z, n * q * sizeof *j->z);
    return BDML_OK;
}

static bdml_status write_gathered(job *j, const char *output)
{
    bdml_status status = BDML_OK;
    cli *c = j->c;
    int classes = 0;
    int64_t *y = NULL;
    const char **names = NULL;
    bdml_dataset *data = NULL;

    NEW(c->h, names, bdml_source_classes(j->stream.source));
    NEW(c->h, y, j->stream.rows);
    if (j->label) GO(order_labels(j, names, &classes));
    for (int64_t i = 0; j->label && i < j->stream.rows; i++) y[i] = j->label[i];
    GO(bdml_dataset_from_arrays(c->h, j->stream.rows, j->q, j->all, j->q, j->label ? y : NULL,
                                &data));
    if (j->label) GO(bdml_dataset_set_names(c->h, data, names, NULL));
    GO(cli_wrote(c, bdml_write_dataset(c->h, data, output)));
done:
    bdml_free_dataset(data);
    free(names);
    free(y);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bdml_status choose_format(job *j, const char *output)
{
    bool svmlight = client_ends_in(output, ".svm") || client_ends_in(output, ".svmlight") ||
                    client_ends_in(output, ".libsvm");
    bool text = strcmp(output, "-") == 0 || client_ends_in(output, ".csv") ||
                client_ends_in(output, ".tsv");
    if (!svmlight && !text && !client_ends_in(output, ".npy"))
        return client_fail(j->c->h, BDML_ERR_ARGUMENT,
                           "%s: the ending says no format; use .csv, .tsv, .svmlight or .npy",
                           output);
    j->format = svmlight ? SVMLIGHT : text ? TEXT : NPY;
    if (j->format != NPY && strcmp(cli_text_of(j->c, CLI_OPT_TYPE), "auto") != 0)
        return client_fail(j->c->h, BDML_ERR_ARGUMENT,
                           "--type is that of an .npy file; text has every digit (-o %s)", output);
    return BDML_OK;
}

static bdml_status put_block(job *j)
{
    if (j->format == TEXT) return write_block(j);
    TRY(keep_labels(j));
    if (j->format == SVMLIGHT) return gather_block(j);
    return cli_wrote(j->c, bdml_npy_write(j->c->h, j->npy, j->stream.n, j->z));
}

static bdml_status transform_all(job *j, const char *output)
{
    cli *c = j->c;
    if (j->format == TEXT) TRY(cli_writer_open(c, output, &j->writer));
    if (j->format == TEXT) TRY(write_heading(j));
    if (j->format == NPY) TRY(open_npy(j, output));
    for (;;) {
        if (strcmp(output, "-") == 0)
            snprintf(c->kept, sizeof c->kept, "the first %" PRId64 " points were written",
                     j->stream.rows);
        TRY(cli_stream_next(c, &j->stream, "mapping"));
        const cli_stream *b = &j->stream;
        if (b->n == 0) break;
        TRY(cli_stream_blame(c, b, bdml_transform(c->h, j->model, b->n, b->x, b->d, j->z)));
        TRY(put_block(j));
    }
    return j->format == TEXT  ? cli_writer_close(&j->writer)
           : j->format == NPY ? close_npy(j)
                              : write_gathered(j, output);
}

/* --from: *model becomes the one that takes rows which that model has mapped to those of this. */
static bdml_status start_from(cli *c, const char *path, bdml_model **model)
{
    bdml_model *from = NULL, *conversion = NULL;
    TRY(bdml_load_model(c->h, path, &from));
    bdml_status status = bdml_model_conversion(c->h, from, *model, &conversion);
    bdml_free_model(from);
    if (status != BDML_OK) return status;
    bdml_free_model(*model);
    *model = conversion;
    return BDML_OK;
}

bdml_status cli_transform(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *from = cli_text_of(c, CLI_OPT_FROM);
    job j = {.c = c};

    if (!output[0]) output = "-";
    GO(choose_format(&j, output));
    GO(cli_check_points(c, output));
    GO(cli_load_model(c, &model));
    if (from[0]) GO(start_from(c, from, &model));
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
    bdml_npy_discard(j.npy);
    cli_stream_close(&j.stream);
    free(j.z);
    free(j.all);
    free(j.label);
    bdml_free_model(model);
    return status;
}
