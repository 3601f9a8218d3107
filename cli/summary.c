/* summary.c - a model in a few lines: what was chosen, what is proven, how far it stretches. For train and info.
 *
 * Distortion is always relative to the reference metric and is what the cap K holds. The condition number of M, on
 * the points as they are prepared, is another figure and comes second. */
#include "cli.h"

/* Whatever a method chose: "scale zscore, neighbors 5". */
static void say_settings(const json_t *chosen)
{
    const char *name, *before = "chosen     ";
    json_t *value;
    json_object_foreach((json_t *)chosen, name, value)
    {
        if (json_is_string(value))
            client_print(stdout, "%s%s %s", before, name, json_string_value(value));
        else if (json_is_number(value))
            client_print(stdout, "%s%s %g", before, name, json_number_value(value));
        else
            continue;
        before = ", ";
    }
    if (before[0] == ',') puts("");
}

/* Chosen by classes left out: why the space stays as it is, or does not. */
static void say_evidence(const json_t *o)
{
    char text[CLIENT_ERROR];
    double gain = client_real(o, "difference");
    const char *reference = client_string(o, "reference");
    if (!o) return;
    if (json_is_false(json_object_get(o, "kept")))
        snprintf(text, sizeof text,
                 "of 100 nearest rows %.2f more are right among classes left out than in the "
                 "space as it is (s.e. %.2f)",
                 gain, client_real(o, "standard_error"));
    else if (gain > 0.0)
        snprintf(text, sizeof text,
                 "kept as it is: under the best of what was tried (reference %.40s, distortion at "
                 "most %g) %.2f more of 100 nearest rows are right among classes left out (s.e. "
                 "%.2f), which may be chance",
                 reference, client_real(o, "distortion"), gain, client_real(o, "standard_error"));
    else
        snprintf(text, sizeof text,
                 "kept as it is: nothing that was tried brings more of the right rows near "
                 "among classes left out");
    printf("why        ");
    cli_wrap(stdout, text, 11, 11);
}

void cli_say_choice(const json_t *model)
{
    const json_t *chosen = json_object_get(model, "selection");
    if (!chosen) return;
    bool taken = client_string(chosen, "by")[0]; /* from the model that training started from */
    if (!json_object_get(chosen, "folds") && !taken) {
        say_settings(chosen);
        return;
    }
    bool late = client_string(chosen, "stopped_by")[0];
    client_print(stdout, "%s reference %s, distortion at most %g, softness %g, passes %.0f%s\n",
                 taken ? "taken over" : "chosen    ", client_string(chosen, "reference"),
                 client_real(chosen, "distortion"), client_real(chosen, "weight"),
                 client_real(chosen, "passes"), late ? "," : "");
    if (late) printf("           cut short by the time limit\n");
    if (json_object_get(model, "passes_done"))
        printf("           of which %.0f could be done\n", client_real(model, "passes_done"));
    if (json_object_get(chosen, "neighbors"))
        printf("           and %.0f neighbours that vote\n", client_real(chosen, "neighbors"));
    if (!json_is_number(json_object_get(chosen, "error"))) return;
    bool retrieval = json_object_get(chosen, "task") != NULL;
    client_print(
        stdout,
        "error      %.1f %% +- %.1f%s in %.0f folds of the training %s, which made the choice\n",
        client_real(chosen, "error"), client_real(chosen, "standard_error"),
        retrieval ? " of the five nearest" : "", client_real(chosen, "folds"),
        retrieval ? "classes" : "rows");
    if (!json_object_get(model, "low_rank")) /* there the points Qx are what would be kept */
        say_evidence(json_object_get(chosen, "best_versus_untouched"));
}

void cli_say_next(const json_t *model, const char *path)
{
    const json_t *selection = json_object_get(model, "selection");
    bool votes = json_array_size(json_object_get(model, "classes")) > 0 ||
                 json_object_get(model, "verification");
    if (json_object_get(selection, "task") || !votes)
        client_print(stdout,
                     "next       bdml drift %s CORPUS: what stays of an index\n"
                     "           bdml export %s --format onnx: or faiss, safetensors\n",
                     path, path);
    else
        client_print(stdout, "next       bdml predict %s NEW-DATA\n", path);
}

static void say_bracket(const json_t *model, const json_t *o)
{
    const json_t *missed = json_object_get(o, "margin_missed_by");
    const char *by = client_string(o, "stopped_by"), *help = client_string(o, "help");
    if (missed)
        printf("proof      approximate: objective %.6g, margins missed by up to %.3g; the\n"
               "           optimum is at least %.6g\n",
               client_real(o, "objective"), json_number_value(missed), client_real(o, "lower"));
    else if (strcmp(client_string(o, "status"), "unproven") == 0)
        printf("proof      none: the time limit came first; objective %.6g as the solver reckons\n",
               client_real(o, "objective"));
    else
        client_print(stdout, "proof      %s%s%s%s: the optimum lies in [%.6g, %.6g], gap %.1e\n",
                     client_string(o, "status"), by[0] ? " by " : "", by,
                     json_object_get(model, "low_rank") ? " for this Q" : "",
                     client_real(o, "lower"), client_real(o, "upper"), client_real(o, "gap"));
    if (!help[0]) return;
    printf("           ");
    cli_wrap(stdout, help, 11, 11);
}

void cli_say_certificate(const json_t *model)
{
    const json_t *o = json_object_get(model, "certificate");
    if (!o) return;
    double cap = client_real(o, "distortion");
    say_bracket(model, o);
    client_print(stdout,
                 "distortion %.6g of at most %g, relative to reference %s%s; %.0f of %.0f\n"
                 "           constraints active\n",
                 client_real(o, "kappa"), cap, client_string(o, "reference"),
                 json_object_get(model, "low_rank") ? " and Q" : "", client_real(o, "active"),
                 client_real(o, "constraints"));
    if (cap != 1.0) return;
    const json_t *chosen = json_object_get(model, "selection");
    printf("           K = 1 is the reference itself: nothing was stretched beyond it");
    if (client_string(chosen, "stopped_by")[0])
        printf(", and the\n           time limit left no time to find out whether more is better");
    else if (json_object_get(chosen, "tried"))
        printf(", for the\n           folds found no gain in doing so");
    printf("\n");
}

void cli_say_condition(const bdml_model *model)
{
    double kappa = bdml_model_kappa(model);
    int d = bdml_model_metric_dimension(model), q = bdml_model_output_dimension(model);
    if (isfinite(kappa))
        client_print(stdout, "condition  number of M on the %s points: %.4g\n",
                     bdml_preparation_variance(bdml_model_preparation(model)) >= 0.0 ? "projected"
                                                                                     : "prepared",
                     kappa);
    else
        printf("condition  number of M on the prepared points: infinite, it looks at %d of their\n"
               "           %d directions\n",
               q, d);
}

/* A model learned from pairs knows from which score on they are the same. */
void cli_say_threshold(const json_t *model)
{
    const json_t *o = json_object_get(model, "verification");
    if (!json_object_get(o, "threshold")) return;
    client_print(stdout,
                 "threshold  pairs are the same from score %.6g (%s) on: right for %.1f %% of %.0f "
                 "training pairs\n",
                 client_real(o, "threshold"), client_string(o, "score"), client_real(o, "accuracy"),
                 client_real(o, "pairs"));
}
