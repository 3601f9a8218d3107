/* cmd_predict_pairs.c - bdml predict MODEL DATA --pairs FILE: is it the same, and with what score? */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

#include "problem/problem.h"

typedef struct answers {
    bdml_labelled_pairs pairs;
    int64_t *pair;
    double *score;
    double threshold; /* NaN: the model has none */
    int64_t right;    /* of the pairs whose answer is known */
} answers;

static bool same(const answers *a, int64_t k)
{
    return a->score[k] >= a->threshold;
}

static bdml_status compute(cli *c, const bdml_model *model, const bdml_dataset *data, answers *a)
{
    bdml_status status = BDML_OK;
    BDML_NEW(c->h, a->pair, 2 * a->pairs.count);
    BDML_NEW(c->h, a->score, a->pairs.count);
    for (int64_t k = 0; k < 2 * a->pairs.count; k++) a->pair[k] = a->pairs.row[k];
    BDML_GO(bdml_model_pair_scores(c->h, model, data->n, data->x, data->d, a->pairs.count, a->pair,
                                   a->score));
    a->threshold = bdml_model_threshold(model);
    for (int64_t k = 0; a->pairs.same && k < a->pairs.count; k++)
        a->right += same(a, k) == (a->pairs.same[k] == 1);
done:
    return status;
}

static bdml_status write_table(cli *c, const answers *a, const char *output)
{
    bdml_status status = BDML_OK;
    static const char *const heading[] = {"i", "j", "score", "same"};
    cli_writer w = {0};
    bool decided = !isnan(a->threshold);

    BDML_GO(cli_writer_open(c, output, &w));
    for (int k = 0; k < (decided ? 4 : 3); k++) BDML_GO(cli_writer_text(&w, heading[k]));
    BDML_GO(cli_writer_end_row(&w));
    for (int64_t k = 0; k < a->pairs.count; k++) {
        BDML_GO(cli_writer_int(&w, a->pairs.row[2 * k]));
        BDML_GO(cli_writer_int(&w, a->pairs.row[2 * k + 1]));
        BDML_GO(cli_writer_real(&w, a->score[k]));
        if (decided) BDML_GO(cli_writer_int(&w, same(a, k)));
        BDML_GO(cli_writer_end_row(&w));
    }
    status = cli_writer_close(&w);
done:
    cli_writer_discard(&w);
    return status;
}

static json_t *list_json(const answers *a)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < a->pairs.count; k++) {
        json_t *o = json_pack("{s:i, s:i, s:f}", "i", a->pairs.row[2 * k], "j",
                              a->pairs.row[2 * k + 1], "score", a->score[k]);
        if (!isnan(a->threshold)) cli_put(o, "same", json_boolean(same(a, k)));
        json_array_append_new(list, o);
    }
    return list;
}

static void report(cli *c, const bdml_model *model, const answers *a, const char *output)
{
    bool decided = !isnan(a->threshold), known = decided && a->pairs.same;
    double accuracy = 100.0 * (double)a->right / (double)a->pairs.count;
    cli_put(c->result, "pairs", json_integer(a->pairs.count));
    cli_put(c->result, "score", json_string(bdml_score_names[model->score]));
    cli_put(c->result, "threshold", cli_real(a->threshold));
    if (known) cli_put(c->result, "accuracy", json_real(accuracy));
    cli_progress_clear(c);
    if (!cli_chatty(c)) return;
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout;
    fflush(stdout);
    fprintf(f, "scored     %" PRId64 " pairs by %s", a->pairs.count,
            bdml_score_names[model->score]);
    if (decided) fprintf(f, ", the same from %.6g on", a->threshold);
    fprintf(f, "\n");
    if (!decided)
        fprintf(f, "threshold  none: the model was not learned from pairs, so there are scores but "
                   "no answers\n");
    if (known) fprintf(f, "accuracy   %.2f %%\n", accuracy);
}

bdml_status cli_predict_pairs(cli *c)
{
    bdml_status status = BDML_OK;
    const char *output = cli_text_of(c, CLI_OPT_OUTPUT), *file = cli_text_of(c, CLI_OPT_PAIRS);
    bool writing = output[0] || !cli_json(c);
    bdml_model *model = NULL;
    bdml_dataset *data = NULL;
    answers a = {0};

    if (!output[0]) output = "-";
    if (cli_text_of(c, CLI_OPT_TRAIN)[0])
        return bdml_fail(c->h, BDML_ERR_ARGUMENT,
                         "--pairs compares rows with each other; --train is for classes");
    if (writing) BDML_GO(cli_check_output(c, output));
    BDML_GO(cli_load_model(c, &model));
    BDML_GO(bdml_read_dataset(c->h, c->argument[1], &data));
    if (data->d != model->prepare.d_in) {
        status = bdml_fail(c->h, BDML_ERR_DATA, "%s: has %d features where the model wants %d",
                           c->argument[1], data->d, model->prepare.d_in);
        goto done;
    }
    BDML_GO(bdml_labelled_read(c->h, file, data->n, false, &a.pairs));
    BDML_GO(compute(c, model, data, &a));
    if (writing)
        BDML_GO(write_table(c, &a, output));
    else
        cli_put(c->result, "answers", list_json(&a));
    report(c, model, &a, output);
done:
    bdml_labelled_free(&a.pairs);
    free(a.pair);
    free(a.score);
    bdml_free_dataset(data);
    bdml_free_model(model);
    return status;
}
