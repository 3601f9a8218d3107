/* cmd_transform.c - bdml transform MODEL DATA -o OUT
 *
 * Text formats are written block by block. NPY announces its rows at the start, so its rows are
 * gathered first. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct job {
    cli *c;
    const bdml_model *model;
    cli_stream stream;
    cli_writer writer;
    bool svmlight, gather;
    double *z; /* mapped block */
    /* gathered rows (NPY) */
    double *all;
    int32_t *label;
    size_t room, label_room;
} job;

/* ---- text ---------------------------------------------------------------------------------------------- */

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

/* "label 1:z1 2:z2 ..." without zeros; unlabelled rows get 0. svmlight knows only numeric labels. */
static bdml_status write_svmlight_row(job *j, const double *z, const char *label)
{
    char text[BDML_NUMBER_SIZE], entry[BDML_NUMBER_SIZE + 16];
    locale_t locale = j->c->h->c_locale;
    double number;
    if (label && !bdml_parse_double(locale, label, strlen(label), &number))
        return bdml_fail(
            j->c->h, BDML_ERR_DATA,
            "svmlight labels are numbers, the class '%.100s' is none; write CSV instead", label);
    BDML_TRY(cli_writer_raw(&j->writer, label ? label : "0"));
    for (int k = 0; k < j->model->q; k++) {
        if (z[k] == 0.0) continue;
        bdml_format_double(locale, z[k], text);
        snprintf(entry, sizeof entry, " %d:%s", k + 1, text);
        BDML_TRY(cli_writer_raw(&j->writer, entry));
    }
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
        BDML_TRY(j->svmlight ? write_svmlight_row(j, z, label) : write_row(j, z, label));
    }
    return BDML_OK;
}

/* ---- gathered ------------------------------------------------------------------------------------------- */

static bdml_status gather_block(job *j)
{
    const bdml_block *b = &j->stream.block;
    size_t q = (size_t)j->model->q, before = (size_t)(j->stream.rows - b->n), n = (size_t)b->n;
    BDML_TRY(bdml_grow(j->c->h, &j->all, &j->room, (before + n) * q, sizeof *j->all));
    BDML_TRY(bdml_grow(j->c->h, &j->label, &j->label_room, before + n, sizeof *j->label));
    memcpy(j->all + before * q, j->z, n * q * sizeof *j->z);
    memcpy(j->label + before, b->label, n * sizeof *j->label);
    return BDML_OK;
}

static bdml_status write_gathered(job *j, const char *output)
{
    const bdml_source *source = j->stream.source;
    /* A data set that borrows everything: never freed. */
    bdml_dataset data = {.n = j->stream.rows,
                         .d = j->model->q,
                         .x = j->all,
                         .y = source->labelled ? j->label : NULL,
                         .classes = source->labelled ? source->classes.count : 0,
                         .class_name = source->classes.text};
    return cli_wrote(j->c, bdml_write_dataset(j->c->h, &data, output));
}

/* ---- the command ------------------------------------------------------------------------------------------ */

static bdml_status choose_format(job *j, const char *output)
{
    j->svmlight = cli_ends_with(output, ".svm") || cli_ends_with(output, ".svmlight") ||
                  cli_ends_with(output, ".libsvm");
    j->gather = cli_ends_with(output, ".npy");
    if (j->svmlight || j->gather || strcmp(output, "-") == 0 || cli_ends_with(output, ".csv") ||
        cli_ends_with(output, ".tsv"))
        return BDML_OK;
    return bdml_fail(j->c->h, BDML_ERR_ARGUMENT,
                     "%s: the ending says no format; use .csv, .tsv, .svmlight or .npy", output);
}

static bdml_status transform_all(job *j, const char *output)
{
    cli *c = j->c;
    if (!j->gather) BDML_TRY(cli_writer_open(c, output, &j->writer));
    if (!j->gather && !j->svmlight) BDML_TRY(write_heading(j));
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
    BDML_GO(bdml_load_model(c->h, c->argument[0], &model));
    j.model = model;
    BDML_GO(cli_stream_open(c, model, c->argument[1], &j.stream));
    BDML_NEW(c->h, j.z, (size_t)j.stream.block.capacity * (size_t)model->q);
    BDML_GO(transform_all(&j, output));
    cli_put(c->result, "points", json_integer(j.stream.rows));
    cli_put(c->result, "dropped", json_integer(j.stream.dropped));
    cli_put(c->result, "dimension", json_integer(model->q));
    cli_put(c->result, "output", cli_string(output));
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
