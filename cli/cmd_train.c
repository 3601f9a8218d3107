/* cmd_train.c - bdml train DATA -o MODEL */
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "train/train.h"

/* The solver's certificate: a bracket on the optimum, in the result and for a person. */
static void report_certificate(cli *c, const bdml_model *model)
{
    json_t *o = json_object_get(model->info, "certificate"), *value;
    const char *key;
    /* "kappa" is that of M on the prepared points; the cap holds relative to the reference */
    json_object_foreach(o, key, value)
        cli_put(c->result, strcmp(key, "kappa") == 0 ? "distortion_reached" : key,
                json_incref(value));
    value = json_object_get(json_object_get(model->info, "times"), "solve");
    if (o && value) cli_put(c->result, "seconds", json_incref(value));
}

/* A model learned from pairs knows from which score on they are the same. */
static void report_threshold(cli *c, const bdml_model *model)
{
    const bdml_calibration *k = &model->calibration;
    if (!k->known) return;
    cli_put(c->result, "score", json_string(bdml_score_names[model->score]));
    cli_put(c->result, "threshold", cli_real(k->threshold));
    cli_put(c->result, "threshold_accuracy", cli_real(k->accuracy));
}

static void say_threshold(const bdml_model *model)
{
    const bdml_calibration *k = &model->calibration;
    if (!k->known) return;
    printf("threshold  pairs are the same from score %.6g (%s) on: right for %.1f %% of %" PRId64
           " training pairs\n",
           k->threshold, bdml_score_names[model->score], k->accuracy, k->pairs);
}

static void say_certificate(const bdml_model *model)
{
    const json_t *o = json_object_get(model->info, "certificate");
    const json_t *chosen = json_object_get(model->info, "selection");
    if (chosen)
        printf(
            "chosen     reference %s, distortion %g, weight %g, passes %d: error %.1f %% (+- %.1f) "
            "in %d folds\n",
            json_string_value(json_object_get(chosen, "reference")),
            json_number_value(json_object_get(chosen, "distortion")),
            json_number_value(json_object_get(chosen, "weight")),
            (int)json_integer_value(json_object_get(chosen, "passes")),
            json_number_value(json_object_get(chosen, "error")),
            json_number_value(json_object_get(chosen, "standard_error")),
            (int)json_integer_value(json_object_get(chosen, "folds")));
    if (!o) return;
    const json_t *missed = json_object_get(o, "margin_missed_by");
    if (missed)
        printf(
            "status     approximate: objective %.8g, margins missed by up to %.4g; the optimum is "
            "at least %.8g\n",
            json_number_value(json_object_get(o, "upper")), json_number_value(missed),
            json_number_value(json_object_get(o, "lower")));
    else
        printf("status     %s%s: the optimum lies in [%.8g, %.8g], gap %.1e\n",
               json_string_value(json_object_get(o, "status")),
               json_object_get(model->info, "low_rank") ? " for this Q" : "",
               json_number_value(json_object_get(o, "lower")),
               json_number_value(json_object_get(o, "upper")),
               json_number_value(json_object_get(o, "gap")));
    printf("distortion %.6g of at most %g, relative to reference %s; %d of %d constraints active\n",
           json_number_value(json_object_get(o, "kappa")),
           json_number_value(json_object_get(o, "distortion")),
           json_string_value(json_object_get(o, "reference")),
           (int)json_integer_value(json_object_get(o, "active")),
           (int)json_integer_value(json_object_get(o, "constraints")));
    if (json_number_value(json_object_get(o, "distortion")) == 1.0)
        printf("           K = 1 is the reference itself: no direction was stretched beyond it\n");
}

static double number_in(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* The paper's Q-step: its bracket, and the sample that was taken. */
static void say_relaxation(const json_t *o)
{
    if (!o) return;
    if (json_is_true(json_object_get(o, "infeasible"))) {
        printf("relaxation proven infeasible: no Q meets the margins with this Lambda\n");
        return;
    }
    printf("relaxation %.6g <= rho_sdp", number_in(o, "sdp_lower"));
    if (json_is_true(json_object_get(o, "sdp_upper_proven")))
        printf(" <= %.6g", number_in(o, "sdp_upper"));
    printf(", rho_sdp <= rho_qp");
    if (json_is_number(json_object_get(o, "qp_achieved")))
        printf(" <= %.6g", number_in(o, "qp_achieved"));
    if (json_is_true(json_object_get(o, "improved")))
        printf("; sample of %d: nu (gamma) %.4g, zeta (epsilon) %.4g, omega %.4g\n",
               (int)number_in(o, "samples"), number_in(o, "nu"), number_in(o, "zeta"),
               number_in(o, "omega"));
    else
        printf("; none of %d samples is better than the start\n", (int)number_in(o, "samples"));
}

/* Low rank: how Q was found, and how far from the best over every Q and Lambda it can be. */
static void say_rank(const bdml_model *model)
{
    const json_t *o = json_object_get(model->info, "low_rank");
    const json_t *lower = json_object_get(o, "joint_lower");
    if (!o) return;
    printf("rank       %d, start %s, Q-step %s",
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
    say_relaxation(json_object_get(o, "relaxation"));
}

/* No metric meets the constraints: the proof goes beside where the model would have been. */
static bdml_status keep_proof(cli *c, const bdml_model *proof, const char *path)
{
    char why[BDML_ERROR_SIZE], *file = NULL;
    memcpy(why, bdml_last_error(c->h), sizeof why);
    report_certificate(c, proof);
    cli_put(c->result, "data", bdml_json_text(c->argument[0]));
    cli_put(c->result, "method", bdml_json_text(bdml_get(c->h, "method")));
    if (strcmp(path, "-") == 0) return BDML_ERR_INFEASIBLE;
    size_t size = strlen(path) + sizeof ".proof";
    file = bdml_alloc(c->h, size, 1);
    if (!file) return BDML_ERR_MEMORY;
    snprintf(file, size, "%s.proof", path);
    bdml_status status = cli_wrote(c, bdml_save_model(c->h, proof, file));
    if (status == BDML_OK) {
        cli_put(c->result, "proof_file", bdml_json_text(file));
        bdml_fail(c->h, BDML_ERR_INFEASIBLE, "%s (proof: %s)", why, file);
    }
    free(file);
    return status == BDML_OK ? BDML_ERR_INFEASIBLE : status;
}

/* What can be taken up again, after a training that did not come to its end. */
static void say_checkpoint(cli *c)
{
    if (c->h->checkpoints == 0) return;
    cli_put(c->result, "checkpoint", bdml_json_text(bdml_get(c->h, "checkpoint")));
    snprintf(c->kept, sizeof c->kept, "no model was written; go on with --resume %.200s",
             bdml_get(c->h, "checkpoint"));
}

/* The checkpoint must fall neither on the data nor on the model. */
static bdml_status check_checkpoint(cli *c, const char *model)
{
    const char *path = bdml_get(c->h, "checkpoint");
    if (path[0] && strcmp(path, model) == 0)
        return bdml_fail(c->h, BDML_ERR_ARGUMENT,
                         "%s: checkpoint and model need names of their own", path);
    return path[0] ? cli_check_apart(c, path) : BDML_OK;
}

static bool stopped(const bdml_model *model)
{
    const char *status =
        json_string_value(json_object_get(json_object_get(model->info, "certificate"), "status"));
    return status && strcmp(status, "stopped") == 0;
}

static void summarise(const cli *c, const bdml_dataset *data, const bdml_model *model,
                      const char *path, double seconds)
{
    char time[32];
    cli_duration(seconds, time, sizeof time);
    printf("data       %s: %" PRId64 " points, %d features, %d classes\n", c->argument[0], data->n,
           data->d, data->classes);
    printf("method     %s, scale %s", bdml_get(c->h, "method"), bdml_get(c->h, "scale"));
    if (model->prepare.basis)
        printf(", PCA to %d dimensions (%.1f %% of variance)", model->prepare.d_out,
               100.0 * model->prepare.variance);
    printf("\nmetric     %d x %d of rank %d, kappa %.4g\n", model->d, model->d, model->q,
           bdml_model_kappa(model));
    say_certificate(model);
    say_threshold(model);
    say_rank(model);
    printf("trained in %s\n", time);
    if (c->h->checkpoints > 0 && stopped(model))
        printf("checkpoint %s: --resume goes on from there\n", bdml_get(c->h, "checkpoint"));
    if (strcmp(path, "-") == 0) return;
    printf("saved      %s (%.1f KiB)\n", path, (double)cli_file_size(path) / 1024.0);
    printf("next       bdml predict %s NEW-DATA      or      bdml info %s\n", path, path);
}

/* What only a report wants: the spectrum, the points in two dimensions, how the bracket closed. */
static bdml_status fill_pictures(cli *c, const bdml_dataset *data, const bdml_model *model)
{
    cli_spectrum spectrum;
    const json_t *chosen = json_object_get(model->info, "selection");
    json_t *history = json_object_get(model->info, "history");
    if (chosen) cli_put(c->result, "selection", json_incref((json_t *)chosen));
    if (history) cli_put(c->result, "history", json_incref(history));
    BDML_TRY(cli_spectrum_init(c, model, &spectrum));
    cli_spectrum_json(&spectrum, c->result);
    cli_spectrum_free(&spectrum);
    return cli_view_json(c, data, model);
}

static void fill_result(cli *c, const bdml_dataset *data, const bdml_model *model, const char *path,
                        double seconds)
{
    cli_put(c->result, "data", bdml_json_text(c->argument[0]));
    cli_put(c->result, "points", json_integer(data->n));
    cli_put(c->result, "features", json_integer(data->d));
    cli_put(c->result, "classes", json_integer(data->classes));
    cli_put(c->result, "method", bdml_json_text(bdml_get(c->h, "method")));
    cli_put(c->result, "dimension", json_integer(model->d));
    cli_put(c->result, "rank", json_integer(model->q));
    cli_put(c->result, "kappa", cli_real(bdml_model_kappa(model)));
    cli_put(c->result, "fit_seconds", cli_real(seconds));
    cli_put(c->result, "model", bdml_json_text(path));
    report_certificate(c, model);
    report_threshold(c, model);
    json_t *low = json_object_get(model->info, "low_rank");
    if (low) cli_put(c->result, "low_rank", json_incref(low));
}

bdml_status cli_train(cli *c)
{
    bdml_status status = BDML_OK;
    const char *method = bdml_get(c->h, "method"), *path = cli_text_of(c, CLI_OPT_OUTPUT);
    char *made = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL;

    if (!bdml_method_find(c->h, method, strlen(method))) return BDML_ERR_ARGUMENT;
    if (!path[0]) BDML_GO(cli_default_name(c, c->argument[0], ".bdml", &made));
    if (made) path = made;
    BDML_GO(cli_check_output(c, path));
    BDML_GO(check_checkpoint(c, path));
    snprintf(c->kept, sizeof c->kept, "no model was written");
    BDML_GO(bdml_read_dataset(c->h, c->argument[0], &data));
    double start = bdml_now();
    status = bdml_train(c->h, data, NULL, &model);
    say_checkpoint(c);
    if (status == BDML_ERR_INFEASIBLE) status = keep_proof(c, model, path);
    if (status != BDML_OK) goto done;
    double seconds = bdml_now() - start;
    BDML_GO(cli_wrote(c, bdml_save_model(c->h, model, path)));
    fill_result(c, data, model, path, seconds);
    if (cli_json(c)) BDML_GO(fill_pictures(c, data, model));
    cli_progress_clear(c);
    if (cli_chatty(c) && strcmp(path, "-") != 0) summarise(c, data, model, path, seconds);
done:
    bdml_free_model(model);
    bdml_free_dataset(data);
    free(made);
    return status;
}
