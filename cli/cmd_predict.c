/* cmd_predict.c - bdml predict MODEL DATA [-o FILE] [--train TRAIN] */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- points that vote ------------------------------------------------------------------------ */

/* A model without classes (imported) takes over those of the training file. */
static bdml_status adopt_classes(cli *c, bdml_model *model, const bdml_dataset *train)
{
    bdml_status status = BDML_OK;
    if (model->classes > 0) return BDML_OK;
    free(model->class_name);
    BDML_NEW(c->h, model->class_name, train->classes);
    for (; model->classes < train->classes; model->classes++) {
        char *name = bdml_strdup(c->h, train->class_name[model->classes]);
        if (!name) return BDML_ERR_MEMORY;
        model->class_name[model->classes] = name;
    }
done:
    return status;
}

/* The training file's classes as the model numbers them. */
static bdml_status match_classes(cli *c, const bdml_model *model, const bdml_dataset *train,
                                 int32_t *y)
{
    for (int64_t i = 0; i < train->n; i++) {
        const char *name = train->class_name[train->y[i]];
        int k = 0;
        while (k < model->classes && strcmp(model->class_name[k], name) != 0) k++;
        if (k == model->classes)
            return bdml_fail(c->h, BDML_ERR_DATA, "%s: the model knows no class '%.100s'",
                             cli_text_of(c, CLI_OPT_TRAIN), name);
        y[i] = k;
    }
    return BDML_OK;
}

/* Map the points of --train once and let the model keep them in place of its own. */
static bdml_status take_training_points(cli *c, bdml_model *model)
{
    bdml_status status = BDML_OK;
    const char *path = cli_text_of(c, CLI_OPT_TRAIN);
    bdml_dataset *train = NULL;
    double *z = NULL;
    int32_t *y = NULL;

    BDML_GO(cli_read_other(c, path, &train));
    if (!train->y) {
        status = bdml_fail(c->h, BDML_ERR_DATA, "%s: has no labels, so it cannot vote", path);
        goto done;
    }
    if (train->d != model->prepare.d_in) {
        status = bdml_fail(c->h, BDML_ERR_DATA, "%s: has %d features where the model wants %d",
                           path, train->d, model->prepare.d_in);
        goto done;
    }
    BDML_NEW(c->h, z, (size_t)train->n * (size_t)model->q);
    BDML_NEW(c->h, y, train->n);
    BDML_GO(adopt_classes(c, model, train));
    BDML_GO(match_classes(c, model, train, y));
    BDML_GO(bdml_transform(c->h, model, train->n, train->x, train->d, z));
    free(model->z);
    free(model->y);
    model->points = train->n;
    model->z = z;
    model->y = y;
    z = NULL;
    y = NULL;
done:
    free(z);
    free(y);
    bdml_free_dataset(train);
    return status;
}

/* Points that were trained on are their own nearest neighbours: their error says nothing. */
static void warn_own_points(cli *c, const bdml_model *model)
{
    const char *data = json_string_value(json_object_get(model->info, "data"));
    if (!cli_text_of(c, CLI_OPT_TRAIN)[0] && data && strcmp(data, c->argument[1]) == 0)
        bdml_log(c->h, BDML_LOG_WARNING,
                 "%s is what the model was trained on: each point votes for itself; 'bdml eval' "
                 "measures the error on unseen points",
                 data);
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
} job;

static bdml_status predict_block(job *j)
{
    cli *c = j->c;
    const bdml_block *b = &j->stream.block;
    const bdml_source *source = j->stream.source;

    BDML_TRY(bdml_vote(c->h, j->voters, b->n, b->x, b->d, j->label, NULL));
    for (int64_t i = 0; i < b->n; i++) {
        const char *name = j->label[i] >= 0 ? j->model->class_name[j->label[i]] : "";
        if (j->writing) {
            BDML_TRY(cli_writer_text(&j->writer, name));
            BDML_TRY(cli_writer_end_row(&j->writer));
        } else {
            json_array_append_new(j->list, bdml_json_text(name));
        }
        if (b->label[i] >= 0)
            BDML_TRY(cli_score_add(c, &j->score, source->classes.text[b->label[i]], j->label[i]));
    }
    return BDML_OK;
}

static bdml_status predict_all(job *j, const char *output)
{
    cli *c = j->c;
    if (j->writing) {
        BDML_TRY(cli_writer_open(c, output, &j->writer));
        BDML_TRY(cli_writer_text(&j->writer, "class"));
        BDML_TRY(cli_writer_end_row(&j->writer));
    }
    for (;;) {
        if (j->writing && strcmp(output, "-") == 0)
            snprintf(c->kept, sizeof c->kept, "the first %" PRId64 " classes were written",
                     j->stream.rows);
        BDML_TRY(cli_stream_next(c, &j->stream, "classifying"));
        if (j->stream.block.n == 0) break;
        BDML_TRY(predict_block(j));
    }
    return j->writing ? cli_writer_close(&j->writer) : BDML_OK;
}

static bdml_status report(job *j, const char *output)
{
    cli *c = j->c;
    cli_put(c->result, "points", json_integer(j->stream.rows));
    cli_put(c->result, "dropped", json_integer(j->stream.dropped));
    cli_put(c->result, "neighbors", json_integer(bdml_opt_int(c->h, BDML_OPT_NEIGHBORS)));
    if (j->writing) cli_put(c->result, "output", bdml_json_text(output));
    if (j->score.total > 0) cli_score_json(&j->score, j->model, c->result);
    if (j->list) json_object_set(c->result, "predictions", j->list);
    cli_progress_clear(c);
    if (!cli_chatty(c)) return BDML_OK;
    /* The classes have standard output for themselves when they go there. */
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout;
    fflush(stdout);
    if (f == stdout) printf("classified %" PRId64 " points into %s\n", j->stream.rows, output);
    if (j->stream.dropped)
        fprintf(f, "dropped    %" PRId64 " rows with missing values\n", j->stream.dropped);
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
    if (j.writing) BDML_GO(cli_check_output(c, output));
    BDML_GO(cli_load_model(c, &model));
    if (cli_text_of(c, CLI_OPT_TRAIN)[0]) BDML_GO(take_training_points(c, model));
    if (model->points == 0 || model->classes == 0) {
        status = bdml_fail(c->h, BDML_ERR_DATA,
                           "%s: keeps no labelled training points; name the file with --train",
                           c->argument[0]);
        goto done;
    }
    j.model = model;
    BDML_GO(bdml_make_voters(c->h, model, NULL, &j.voters));
    if (!j.writing) j.list = json_array();
    BDML_GO(cli_score_init(c, model, &j.score));
    BDML_GO(cli_stream_open(c, model, c->argument[1], &j.stream));
    BDML_NEW(c->h, j.label, j.stream.block.capacity);
    if (j.stream.source->labelled) warn_own_points(c, model);
    BDML_GO(predict_all(&j, output));
    BDML_GO(report(&j, output));
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
