/* cmd_predict.c - bdml predict MODEL DATA [-o FILE] [--train TRAIN] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- points that vote ------------------------------------------------------------------------ */

/* Map the points of --train once and let the model keep them in place of its own. */
static bdml_status take_training_points(cli *c, bdml_model *model)
{
    bdml_status status = BDML_OK;
    const char *path = cli_text_of(c, CLI_OPT_TRAIN);
    bdml_dataset *train = NULL;
    int wanted = bdml_model_input_dimension(model);

    GO(cli_read_other(c, path, &train));
    if (bdml_dataset_classes(train) == 0)
        GO(client_fail(c->h, BDML_ERR_DATA, "%s: has no labels, so it cannot vote", path));
    if (bdml_dataset_dimension(train) != wanted)
        GO(client_fail(c->h, BDML_ERR_DATA, "%s: has %d features where the model wants %d", path,
                       bdml_dataset_dimension(train), wanted));
    status = bdml_model_set_points(c->h, model, train);
    if (status != BDML_OK) client_fail_context(c->h, status, path);
done:
    bdml_free_dataset(train);
    return status;
}

/* Points that were trained on are their own nearest neighbours: their error says nothing. The rows tell, not the name
 * of the file, which is read again only when it can be and has as many as were trained on. */
static bdml_status warn_own_points(cli *c, const bdml_model *model, int64_t rows)
{
    char line[CLIENT_ERROR];
    bdml_dataset *data = NULL;
    struct stat file;
    if (cli_text_of(c, CLI_OPT_TRAIN)[0] || rows != bdml_model_points(model) ||
        stat(c->argument[1], &file) != 0 || !S_ISREG(file.st_mode))
        return BDML_OK;
    TRY(bdml_read_model_dataset(c->h, model, c->argument[1], &data));
    if (bdml_model_trained_on(model, data)) {
        snprintf(line, sizeof line,
                 "%.400s: these are the rows that the model was trained on, each point votes for "
                 "itself; 'bdml eval' measures the error on unseen points",
                 c->argument[1]);
        bdml_log_line(c->h, BDML_LOG_WARNING, line);
    }
    bdml_free_dataset(data);
    return BDML_OK;
}

/* ---- predictions ----------------------------------------------------------------------------- */

typedef struct job {
    cli *c;
    const bdml_model *model;
    bdml_voters *voters;
    cli_stream stream;
    cli_writer writer; /* open unless --json lists the classes instead */
    bool writing;
    json_t *list; /* classes for --json without -o */
    cli_score score;
    int32_t *label;
    int64_t answered; /* rows of the file that have their answer */
} job;

/* The class of the next row of the file; "" for one that was left out, so that answers and rows stay in step. */
static bdml_status put_class(job *j, const char *name)
{
    j->answered++;
    if (!j->writing) {
        json_array_append_new(j->list, name[0] ? client_text(name) : json_null());
        return BDML_OK;
    }
    TRY(cli_writer_text(&j->writer, name));
    return cli_writer_end_row(&j->writer);
}

static bdml_status predict_block(job *j)
{
    cli *c = j->c;
    const cli_stream *b = &j->stream;

    TRY(cli_stream_blame(c, b, bdml_vote(c->h, j->voters, b->n, b->x, b->d, j->label, NULL)));
    for (int64_t i = 0; i < b->n; i++) {
        const char *name = j->label[i] >= 0 ? bdml_model_class_name(j->model, j->label[i]) : "";
        while (j->answered < b->place[i]) TRY(put_class(j, ""));
        TRY(put_class(j, name));
        if (b->label[i] >= 0) TRY(cli_score_add(c, &j->score, b->source, b->label[i], j->label[i]));
    }
    return BDML_OK;
}

static bdml_status predict_all(job *j, const char *output)
{
    cli *c = j->c;
    if (j->writing) {
        TRY(cli_writer_open(c, output, &j->writer));
        /* A file of answers is what people open in a spreadsheet; a pipe goes to a program. */
        if (!bdml_is_given(c->h, "csv-safe")) j->writer.safe = strcmp(output, "-") != 0;
        TRY(cli_writer_text(&j->writer, "class"));
        TRY(cli_writer_end_row(&j->writer));
    }
    for (;;) {
        if (j->writing && strcmp(output, "-") == 0)
            snprintf(c->kept, sizeof c->kept, "the first %" PRId64 " classes were written",
                     j->stream.rows);
        TRY(cli_stream_next(c, &j->stream, "classifying"));
        if (j->stream.n == 0) break;
        TRY(predict_block(j));
    }
    while (j->answered < j->stream.read) TRY(put_class(j, ""));
    return j->writing ? cli_writer_close(&j->writer) : BDML_OK;
}

/* Neighbours that voted: those asked for, else what the model chose, else the default. */
static bdml_status put_neighbors(job *j)
{
    cli *c = j->c;
    double k = bdml_get_number(c->h, "neighbors");
    json_t *description = cli_describe(c, j->model);
    if (!description) return BDML_ERR_MEMORY;
    double chosen = client_real(json_object_get(description, "selection"), "neighbors");
    if (strcmp(bdml_get(c->h, "neighbors"), "auto") == 0 && !isnan(chosen)) k = chosen;
    cli_put(c->result, "neighbors", json_integer((json_int_t)k));
    json_decref(description);
    return BDML_OK;
}

static bdml_status report(job *j, const char *output)
{
    cli *c = j->c;
    cli_put(c->result, "points", json_integer(j->stream.rows));
    cli_put(c->result, "dropped", json_integer(j->stream.dropped));
    TRY(put_neighbors(j));
    if (j->writing) cli_put(c->result, "output", client_text(output));
    if (j->score.total > 0) cli_score_json(&j->score, j->model, c->result);
    if (j->list) json_object_set(c->result, "predictions", j->list);
    cli_progress_clear(c);
    if (!cli_chatty(c)) return BDML_OK;
    /* The classes have standard output for themselves when they go there. */
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout;
    fflush(stdout);
    if (f == stdout)
        client_print(stdout, "classified %" PRId64 " points into %s\n", j->stream.rows, output);
    if (j->stream.dropped)
        fprintf(f, "dropped    %" PRId64 " rows with missing values: their answers are empty\n",
                j->stream.dropped);
    return j->score.total > 0 ? cli_score_print(c, &j->score, j->model, f) : BDML_OK;
}

bdml_status cli_predict(cli *c)
{
    bdml_status status = BDML_OK;
    bdml_model *model = NULL;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT);
    job j = {.c = c, .writing = output[0] || !cli_json(c)};

    if (cli_text_of(c, CLI_OPT_PAIRS)[0]) return cli_predict_pairs(c);
    if (!output[0]) output = "-";
    if (j.writing) GO(cli_check_output(c, output));
    GO(cli_load_model(c, &model));
    if (cli_text_of(c, CLI_OPT_TRAIN)[0]) GO(take_training_points(c, model));
    if (bdml_model_points(model) == 0 || bdml_model_classes(model) == 0) {
        status = client_fail(c->h, BDML_ERR_DATA,
                             "%s: keeps no labelled training points; name the file with --train",
                             c->argument[0]);
        goto done;
    }
    j.model = model;
    GO(bdml_make_voters(c->h, model, NULL, &j.voters));
    if (!j.writing) j.list = json_array();
    GO(cli_score_init(c, model, &j.score));
    GO(cli_stream_open(c, model, c->argument[1], &j.stream));
    NEW(c->h, j.label, j.stream.room);
    GO(predict_all(&j, output));
    if (j.score.total > 0) GO(warn_own_points(c, model, j.stream.rows));
    GO(report(&j, output));
done:
    if (j.writing) cli_writer_discard(&j.writer);
    json_decref(j.list);
    cli_score_free(&j.score);
    cli_stream_close(&j.stream);
    free(j.label);
    bdml_free_voters(j.voters);
    bdml_free_model(model);
    return status;
}
