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
    for (int k = 1; k <= j->model->q; k++) {
        snprintf(name, sizeof name, "z%d", k);
        BDML_TRY(cli_writer_text(&j->writer, name));
    }
    if (j->stream.source->labelled) BDML_TRY(cli_writer_text(&j->writer, "class"));
    return cli_writer_end_row(&j->writer);
}

static bdml_status write_row(job *j, const double *z, const char *label)
{
    for (int k = 0; k < j->model->q; k++) BDML_TRY(cli_writer_real(&j->writer, z[k]));
    if (label) BDML_TRY(cli_writer_text(&j->writer, label));
    return cli_writer_end_row(&j->writer);
}

static bdml_status write_block(job *j)
{
    const bdml_block *b = &j->stream.block;
    const bdml_source *source = j->stream.source;
    for (int64_t i = 0; i < b->n; i++) {
        const double *z = j->z + (size_t)i * (size_t)j->model->q;
        const char *label = b->label[i] >= 0 ? source->classes.text[b->label[i]] : NULL;
        if (!label && source->labelled) label = "";
        BDML_TRY(write_row(j, z, label));
    }
    return BDML_OK;
}

/* ---- gathered -------------------------------------------------------------------------------- */

static bdml_status gather_block(job *j)
{
    const bdml_block *b = &j->stream.block;
    const bdml_source *source = j->stream.source;
    size_t q = (size_t)j->model->q, before = (size_t)(j->stream.rows - b->n), n = (size_t)b->n;
    BDML_TRY(bdml_grow(j->c->h, &j->all, &j->room, (before + n) * q, sizeof *j->all));
    BDML_TRY(bdml_grow(j->c->h, &j->label, &j->label_room, before + n, sizeof *j->label));
    for (int64_t i = 0; i < b->n && source->labelled; i++)
        if (b->label[i] < 0)
            return bdml_fail(j->c->h, BDML_ERR_DATA,
                             "%s: line %" PRId64
                             ": the label is missing; --label none ignores them",
                             source->path, b->line[i]);
    memcpy(j->all + before * q, j->z, n * q * sizeof *j->z);
    memcpy(j->label + before, b->label, n * sizeof *j->label);
    return BDML_OK;
}

/* The source numbers classes as they appear, a data set in the order of their names. */
static bdml_status write_gathered(job *j, const char *output)
{
    bdml_status status = BDML_OK;
    cli *c = j->c;
    const bdml_names *names = &j->stream.source->classes;
    bool labelled = j->stream.source->labelled;
    int32_t *order = NULL, *rank = NULL;
    char **sorted = NULL;

    BDML_NEW(c->h, order, names->count);
    BDML_NEW(c->h, rank, names->count);
    BDML_NEW(c->h, sorted, names->count);
    BDML_GO(bdml_names_sort(c->h, names, order));
    for (int32_t k = 0; k < names->count; k++) {
        rank[order[k]] = k;
        sorted[k] = names->text[order[k]];
    }
    for (int64_t i = 0; labelled && i < j->stream.rows; i++) j->label[i] = rank[j->label[i]];
    /* This data set borrows everything and is never freed. */
    bdml_dataset data = {.n = j->stream.rows,
                         .d = j->model->q,
                         .x = j->all,
                         .y = labelled ? j->label : NULL,
                         .classes = labelled ? names->count : 0,
                         .class_name = sorted};
    BDML_GO(cli_wrote(c, bdml_write_dataset(c->h, &data, output)));
done:
    free(order);
    free(rank);
    free(sorted);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bdml_status choose_format(job *j, const char *output)
{
    j->gather = bdml_ends_in(output, ".npy") || bdml_ends_in(output, ".svm") ||
                bdml_ends_in(output, ".svmlight") || bdml_ends_in(output, ".libsvm");
    if (j->gather || strcmp(output, "-") == 0 || bdml_ends_in(output, ".csv") ||
        bdml_ends_in(output, ".tsv"))
        return BDML_OK;
    return bdml_fail(j->c->h, BDML_ERR_ARGUMENT,
                     "%s: the ending says no format; use .csv, .tsv, .svmlight or .npy", output);
}

static bdml_status transform_all(job *j, const char *output)
{
    cli *c = j->c;
    if (!j->gather) BDML_TRY(cli_writer_open(c, output, &j->writer));
    if (!j->gather) BDML_TRY(write_heading(j));
    for (;;) {
        if (strcmp(output, "-") == 0)
            snprintf(c->kept, sizeof c->kept, "the first %" PRId64 " points were written",
                     j->stream.rows);
        BDML_TRY(cli_stream_next(c, &j->stream, "mapping"));
        const bdml_block *b = &j->stream.block;
        if (b->n == 0) break;
        BDML_TRY(bdml_transform(c->h, j->model, b->n, b->x, b->d, j->z));
        BDML_TRY(j->gather ? gather_block(j) : write_block(j));
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
    BDML_GO(choose_format(&j, output));
    BDML_GO(cli_check_output(c, output));
    BDML_GO(cli_load_model(c, &model));
    j.model = model;
    BDML_GO(cli_stream_open(c, model, c->argument[1], &j.stream));
    BDML_NEW(c->h, j.z, (size_t)j.stream.block.capacity * (size_t)model->q);
    BDML_GO(transform_all(&j, output));
    cli_put(c->result, "points", json_integer(j.stream.rows));
    cli_put(c->result, "dropped", json_integer(j.stream.dropped));
    cli_put(c->result, "dimension", json_integer(model->q));
    cli_put(c->result, "output", bdml_json_text(output));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(output, "-") != 0)
        printf("mapped %" PRId64 " points from %d to %d dimensions into %s\n", j.stream.rows,
               model->prepare.d_in, model->q, output);
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
