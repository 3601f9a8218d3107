/* cmd_train.c - bdml train DATA -o MODEL */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The paper's Q-step: its bracket, and the sample that was taken. */
static void say_relaxation(const json_t *o)
{
    if (!o) return;
    if (json_is_true(json_object_get(o, "infeasible"))) {
        printf("relaxation proven infeasible: no Q meets the margins with this Lambda\n");
        return;
    }
    printf("relaxation %.6g <= rho_sdp", client_real(o, "sdp_lower"));
    if (json_is_true(json_object_get(o, "sdp_upper_proven")))
        printf(" <= %.6g", client_real(o, "sdp_upper"));
    printf(", rho_sdp <= rho_qp");
    if (json_is_number(json_object_get(o, "qp_achieved")))
        printf(" <= %.6g", client_real(o, "qp_achieved"));
    if (json_is_true(json_object_get(o, "improved")))
        printf("; sample of %d: nu (gamma) %.4g, zeta (epsilon) %.4g, omega %.4g\n",
               (int)client_real(o, "samples"), client_real(o, "nu"), client_real(o, "zeta"),
               client_real(o, "omega"));
    else
        printf("; none of %d samples is better than the start\n", (int)client_real(o, "samples"));
}

/* Low rank: how Q was found, and how far from the best over every Q and Lambda it can be. */
static void say_rank(const json_t *model)
{
    const json_t *o = json_object_get(model, "low_rank");
    const json_t *lower = json_object_get(o, "joint_lower");
    if (!o) return;
    client_print(stdout, "rank       %d, start %s, Q-step %s",
                 (int)json_integer_value(json_object_get(o, "rank")),
                 json_string_value(json_object_get(o, "q_start")),
                 json_string_value(json_object_get(o, "q_step")));
    if (json_object_get(o, "turns"))
        printf(": objective %.6g to %.6g in %d turns",
               json_number_value(json_object_get(o, "start")),
               json_number_value(json_object_get(o, "achieved")),
               (int)json_integer_value(json_object_get(o, "turns")));
    if (json_is_number(lower))
        printf("; over all Q and Lambda in %d dimensions at least %.6g",
               (int)json_integer_value(json_object_get(o, "dimensions_searched")),
               json_number_value(lower));
    printf("\n");
    if (json_object_get(o, "kappa_on_range"))
        client_print(stdout, "           M has distortion %.6g on its range%s\n",
                     client_real(o, "kappa_on_range"),
                     client_real(o, "kappa_on_range") >
                             (1.0 + 1e-6) *
                                 client_real(json_object_get(model, "certificate"), "distortion")
                         ? ": the rows of Q are not orthonormal, the cap does not bound it"
                         : "");
    say_relaxation(json_object_get(o, "relaxation"));
}

/* Everything that is written: the model or the proof that there is none, and the checkpoint. */
static bdml_status check_outputs(cli *c, const char *path)
{
    TRY(cli_check_checkpoint(c, path));
    TRY(cli_check_output(c, path));
    return strcmp(path, "-") == 0 ? BDML_OK : cli_check_beside(c, path, strlen(path), ".proof");
}

/* No metric meets the constraints: the proof goes beside where the model would have been. */
static bdml_status keep_proof(cli *c, const bdml_model *proof, const char *path)
{
    char why[CLIENT_ERROR], *file = NULL;
    snprintf(why, sizeof why, "%s", bdml_last_error(c->h));
    json_t *description = cli_describe(c, proof);
    if (!description) return BDML_ERR_MEMORY;
    cli_certificate_json(description, c->result);
    json_decref(description);
    cli_put(c->result, "data", client_text(c->argument[0]));
    cli_put(c->result, "method", client_text(bdml_get(c->h, "method")));
    if (strcmp(path, "-") == 0) return BDML_ERR_INFEASIBLE;
    size_t size = strlen(path) + sizeof ".proof";
    file = client_alloc(c->h, size, 1);
    if (!file) return BDML_ERR_MEMORY;
    snprintf(file, size, "%s.proof", path);
    bdml_status status = cli_wrote(c, bdml_save_model(c->h, proof, file));
    if (status == BDML_OK) {
        cli_put(c->result, "proof_file", client_text(file));
        client_fail(c->h, BDML_ERR_INFEASIBLE, "%s (proof: %s)", why, file);
    }
    free(file);
    return status == BDML_OK ? BDML_ERR_INFEASIBLE : status;
}

/* What can be taken up again, after a training that did not come to its end. */
static void say_checkpoint(cli *c)
{
    if (bdml_checkpoints_written(c->h) == 0) return;
    cli_put(c->result, "checkpoint", client_text(bdml_get(c->h, "checkpoint")));
    snprintf(c->kept, sizeof c->kept, "no model was written; go on with --resume %.200s",
             bdml_get(c->h, "checkpoint"));
}

static void summarise(const cli *c, const bdml_dataset *data, const bdml_model *model,
                      const json_t *description, const char *path, double seconds)
{
    char time[32];
    const char *source = client_string(description, "data");
    const char *ended = client_string(json_object_get(description, "certificate"), "status");
    double variance = bdml_preparation_variance(bdml_model_preparation(model));
    int d = bdml_model_metric_dimension(model);
    cli_duration(seconds, time, sizeof time);
    client_print(stdout, "data       %s: %" PRId64 " points, %d features, %d classes\n",
                 c->argument[0], bdml_dataset_points(data), bdml_dataset_dimension(data),
                 bdml_dataset_classes(data));
    client_print(stdout, "method     %s, scale %s", client_string(description, "method"),
                 client_string(description, "scale"));
    if (!isnan(variance))
        printf(", PCA to %d dimensions (%.1f %% of variance)", d, 100.0 * variance);
    printf("\nmetric     %d x %d of rank %d\n", d, d, bdml_model_output_dimension(model));
    cli_say_choice(description);
    cli_say_certificate(description);
    cli_say_condition(model);
    cli_say_threshold(description);
    say_rank(description);
    client_print(stdout, "trained in %s\n", time);
    if (bdml_checkpoints_written(c->h) > 0 && strcmp(ended, "stopped") == 0)
        client_print(stdout, "checkpoint %s: --resume goes on from there\n",
                     bdml_get(c->h, "checkpoint"));
    if (strcmp(path, "-") == 0) return;
    client_print(stdout, "saved      %s (%.1f KiB)\n", path, (double)cli_file_size(path) / 1024.0);
    cli_say_next(description, path);
    bool alone = bdml_dataset_classes(data) > 0 && !bdml_get(c->h, "labels-file")[0];
    client_print(stdout,
                 "           bdml info %s: what was learned\n           bdml report %s: a page of "
                 "pictures\n",
                 path,
                 !alone      ? path
                 : source[0] ? source
                             : "DATA");
}

static void fill_result(cli *c, const bdml_dataset *data, const bdml_model *model,
                        const json_t *description, const char *path, double seconds)
{
    cli_put(c->result, "data", client_text(c->argument[0]));
    cli_put(c->result, "points", json_integer(bdml_dataset_points(data)));
    cli_put(c->result, "features", json_integer(bdml_dataset_dimension(data)));
    cli_put(c->result, "classes", json_integer(bdml_dataset_classes(data)));
    cli_model_result(model, description, seconds, c->result);
    cli_put(c->result, "model", client_text(path));
}

/* Over ranks each reads its part of the rows, where the training and what is said of it afterwards can do with that. */
static bdml_status read_data(cli *c, bdml_dataset **data)
{
    bool parts = c->ranks && bdml_train_takes_parts(c->h) && !cli_json(c);
    return (parts ? bdml_read_part : bdml_read_dataset)(c->h, c->argument[0], data);
}

bdml_status cli_train(cli *c)
{
    bdml_status status = BDML_OK;
    const char *method = bdml_get(c->h, "method"), *path = cli_text_of(c, CLI_OPT_OUTPUT);
    char *made = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;
    json_t *description = NULL;

    if (bdml_find_method(c->h, method) < 0) return BDML_ERR_ARGUMENT;
    if (!path[0]) GO(cli_default_name(c, c->argument[0], ".bdml", &made));
    if (made) path = made;
    GO(check_outputs(c, path));
    snprintf(c->kept, sizeof c->kept, "no model was written");
    GO(read_data(c, &data));
    double start = client_now();
    status = bdml_train(c->h, data, NULL, &model);
    say_checkpoint(c);
    if (status == BDML_ERR_INFEASIBLE) status = keep_proof(c, model, path);
    if (status != BDML_OK) goto done;
    double seconds = client_now() - start;
    GO(cli_wrote(c, bdml_save_model(c->h, model, path)));
    description = cli_describe(c, model);
    if (!description) GO(BDML_ERR_MEMORY);
    fill_result(c, data, model, description, path, seconds);
    if (cli_json(c)) GO(cli_model_pictures(c, model, description, c->result));
    if (cli_json(c)) GO(cli_view_json(c, data, model));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(path, "-") != 0)
        summarise(c, data, model, description, path, seconds);
done:
    json_decref(description);
    bdml_free_model(model);
    bdml_free_dataset(data);
    free(made);
    return status;
}
