/* cmd_predict_pairs.c - bdml predict MODEL DATA --pairs FILE: is it the same, and with what score? */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct answers {
    bdml_labelled_pairs *pairs;
    int64_t count;
    const int32_t *row, *known; /* of the pairs; known answers, or NULL */
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
    NEW(c->h, a->pair, 2 * a->count);
    NEW(c->h, a->score, a->count);
    for (int64_t k = 0; k < 2 * a->count; k++) a->pair[k] = a->row[k];
    GO(bdml_model_pair_scores(c->h, model, bdml_dataset_points(data), bdml_dataset_rows(data),
                              bdml_dataset_dimension(data), a->count, a->pair, a->score));
    GO(bdml_confirm_dataset(c->h, data));
    a->threshold = bdml_model_threshold(model);
    for (int64_t k = 0; a->known && k < a->count; k++) a->right += same(a, k) == (a->known[k] == 1);
done:
    return status;
}

static bdml_status write_table(cli *c, const answers *a, const char *output)
{
    bdml_status status = BDML_OK;
    static const char *const heading[] = {"i", "j", "score", "same"};
    cli_writer w = {0};
    bool decided = !isnan(a->threshold);

    GO(cli_writer_open(c, output, &w));
    for (int k = 0; k < (decided ? 4 : 3); k++) GO(cli_writer_text(&w, heading[k]));
    GO(cli_writer_end_row(&w));
    for (int64_t k = 0; k < a->count; k++) {
        GO(cli_writer_int(&w, a->row[2 * k]));
        GO(cli_writer_int(&w, a->row[2 * k + 1]));
        GO(cli_writer_real(&w, a->score[k]));
        if (decided) GO(cli_writer_int(&w, same(a, k)));
        GO(cli_writer_end_row(&w));
    }
    status = cli_writer_close(&w);
done:
    cli_writer_discard(&w);
    return status;
}

static json_t *list_json(const answers *a)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < a->count; k++) {
        json_t *o = json_pack("{s:i, s:i, s:f}", "i", a->row[2 * k], "j", a->row[2 * k + 1],
                              "score", a->score[k]);
        if (!isnan(a->threshold)) cli_put(o, "same", json_boolean(same(a, k)));
        json_array_append_new(list, o);
    }
    return list;
}

static bdml_status report(cli *c, const bdml_model *model, const answers *a, const char *output)
{
    bool decided = !isnan(a->threshold), known = decided && a->known;
    double accuracy = 100.0 * (double)a->right / (double)a->count;
    char score[32];
    json_t *description = cli_describe(c, model);
    if (!description) return BDML_ERR_MEMORY;
    /* absent where pairs are compared by distance alone */
    const char *word = client_string(json_object_get(description, "verification"), "score");
    snprintf(score, sizeof score, "%s", *word ? word : "distance");
    json_decref(description);
    cli_put(c->result, "pairs", json_integer(a->count));
    cli_put(c->result, "score", json_string(score));
    cli_put(c->result, "threshold", cli_real(a->threshold));
    if (known) cli_put(c->result, "accuracy", json_real(accuracy));
    cli_progress_clear(c);
    if (!cli_chatty(c)) return BDML_OK;
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout;
    fflush(stdout);
    client_print(f, "scored     %" PRId64 " pairs by %s", a->count, score);
    if (decided) fprintf(f, ", the same from %.6g on", a->threshold);
    fprintf(f, "\n");
    if (!decided)
        fprintf(f, "threshold  none: the model was not learned from pairs, so there are scores but "
                   "no answers\n");
    if (known) fprintf(f, "accuracy   %.2f %%\n", accuracy);
    return BDML_OK;
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
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "--pairs compares rows with each other; --train is for classes");
    if (writing) GO(cli_check_output(c, output));
    GO(cli_load_model(c, &model));
    GO(bdml_read_model_dataset(c->h, model, c->argument[1], &data));
    GO(bdml_read_pairs(c->h, file, bdml_dataset_points(data), 0, &a.pairs));
    a.count = bdml_pairs_count(a.pairs);
    a.row = bdml_pairs_rows(a.pairs);
    a.known = bdml_pairs_same(a.pairs);
    GO(compute(c, model, data, &a));
    if (writing)
        GO(write_table(c, &a, output));
    else
        cli_put(c->result, "answers", list_json(&a));
    status = report(c, model, &a, output);
done:
    bdml_free_pairs(a.pairs);
    free(a.pair);
    free(a.score);
    bdml_free_dataset(data);
    bdml_free_model(model);
    return status;
}
