/* summary.c - what was asked and what was found, in two sentences. */
#include "report/page.h"

static void say_data(study_html *p, const json_t *run)
{
    const char *name = client_base_name(client_string(run, "data"));
    const json_t *classes = json_object_get(run, "classes");
    double features = client_real(run, "features");
    if (isnan(features)) features = client_real(run, "dimension");
    double count =
        json_is_array(classes) ? (double)json_array_size(classes) : client_real(run, "classes");
    if (*name) {
        fputs("<b>", p->f);
        study_html_text(p, name);
        fputs("</b>", p->f);
    } else {
        fputs("the data", p->f);
    }
    if (isnan(features)) return;
    study_html_printf(p, " (%.0f points, %.0f features", client_real(run, "points"), features);
    if (count > 0.0) study_html_printf(p, ", %.0f classes", count);
    fputs(")", p->f);
}

static void say_error(study_html *p, const json_t *method)
{
    study_html_text(p, client_string(method, "method"));
    study_html_printf(p, ", which errs on %.2f %%", client_real(method, "error_mean"));
}

/* Errors of one method less those of the other, and whether chance gives as much. */
static void say_difference(study_html *p, const json_t *run, const json_t *mine, const json_t *best)
{
    bdml_paired d = study_paired_errors(run, mine, best);
    if (isnan(d.difference)) return;
    study_html_printf(p, ". The difference of errors is %+.2f ± %.2f points, paired by split: %s",
                      d.difference, d.error_corrected,
                      study_is_clear(&d) ? "more than chance gives"
                                         : "within what chance gives, so it may be noise");
}

static void say_evaluation(study_html *p, const json_t *run)
{
    size_t i;
    json_t *method;
    double neighbors = client_real(run, "neighbors"); /* "auto": a number of its own each */
    if (isnan(neighbors))
        fputs("Asked: whether the nearest neighbours tell the classes of ", p->f);
    else
        study_html_printf(p, "Asked: whether the %.0f nearest neighbours tell the classes of ",
                          neighbors);
    say_data(p, run);
    fputs(" apart", p->f);
    double splits = client_real(run, "splits"), share = client_real(run, "test_fraction");
    if (!isnan(splits) && !isnan(share))
        study_html_printf(p, ", over %.0f splits with %.3g %% of the rows held back", splits,
                          100.0 * share);
    fputs(". Found: ", p->f);
    const json_t *best = NULL, *mine = study_find_method(run, "bdml");
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (method == mine || isnan(client_real(method, "error_mean"))) continue;
        if (!best || client_real(method, "error_mean") < client_real(best, "error_mean"))
            best = method;
    }
    if (mine && isnan(client_real(mine, "error_mean"))) {
        fputs("bdml gave no metric (", p->f);
        study_html_text(p, client_string(mine, "error"));
        fputs(best ? "); of the others the best is " : ")", p->f);
        mine = NULL;
    }
    if (mine) say_error(p, mine);
    if (mine && best)
        fputs(mine && json_array_size(json_object_get(run, "methods")) > 2
                  ? "; of the others the best is "
                  : "; ",
              p->f);
    if (best) say_error(p, best);
    say_difference(p, run, mine, best);
    fputs(".", p->f);
}

static void say_pairs(study_html *p, const json_t *run)
{
    size_t i;
    const json_t *best = NULL; /* of the others */
    json_t *method;
    fputs("Asked: whether two rows of ", p->f);
    say_data(p, run);
    study_html_printf(p, " belong together, on %.0f labelled pairs. Found: ",
                      client_real(run, "pairs"));
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (i) fputs(", ", p->f);
        study_html_text(p, client_string(method, "method"));
        study_html_printf(p, " is right on %.1f %%", client_real(method, "accuracy_mean"));
        bool other = strcmp(client_string(method, "method"), "bdml") != 0;
        if (other && !(client_real(method, "accuracy_mean") <= client_real(best, "accuracy_mean")))
            best = method;
    }
    say_difference(p, run, study_find_method(run, "bdml"), best);
    fputs(".", p->f);
}

static void say_training(study_html *p, const json_t *run)
{
    double lower = client_real(run, "lower"), upper = client_real(run, "upper");
    fputs("Asked: a metric for ", p->f);
    say_data(p, run);
    if (isnan(upper)) {
        fputs(" by method ", p->f);
        study_html_text(p, client_string(run, "method"));
        if (isnan(client_real(run, "kappa")))
            study_html_printf(p, ". Found: a singular one, of rank %.0f.",
                              client_real(run, "rank"));
        else
            study_html_printf(
                p, ". Found: one whose M has condition number %.4g on the prepared points.",
                client_real(run, "kappa"));
        return;
    }
    study_html_printf(
        p,
        " with a distortion of at most %g relative to its reference, under %.0f "
        "constraints. Found: one whose objective is %.6g, while no such metric can have "
        "less than %.6g: proven, to a gap of %.1e.",
        client_real(run, "distortion"), client_real(run, "constraints"), upper, lower,
        client_real(run, "gap"));
}

static void say_infeasible(study_html *p, const json_t *run)
{
    fputs("Asked: a metric for ", p->f);
    say_data(p, run);
    study_html_printf(
        p,
        " with a distortion of at most %g that meets all of %.0f margins. Found: there "
        "is none; %.0f of the constraints contradict each other, and that is proven, for ",
        client_real(run, "distortion"), client_real(run, "constraints"),
        client_real(run, "active"));
    study_html_text(p, client_string(run, "proof"));
    if (strcmp(client_string(run, "proof"), "traces below") == 0)
        study_html_printf(p, " %.4g", client_real(run, "proof_trace"));
    fputs(".", p->f);
}

static void say_retrieval(study_html *p, const json_t *run)
{
    fputs("Asked of ", p->f);
    say_data(p, run);
    study_say_retrieval(p, run);
}

void study_page_summary(study_html *p, const json_t *runs)
{
    const json_t *run;
    fputs("<p class=\"lead\">", p->f);
    if ((run = study_find_run(runs, study_is_infeasible)))
        say_infeasible(p, run);
    else if ((run = study_find_run(runs, study_is_evaluation)))
        say_evaluation(p, run);
    else if ((run = study_find_run(runs, study_is_verification)))
        say_pairs(p, run);
    else if ((run = study_find_run(runs, study_is_training)))
        say_training(p, run);
    else if ((run = study_find_run(runs, study_is_retrieval)))
        say_retrieval(p, run);
    else
        study_html_printf(p, "%zu results of bdml.", json_array_size(runs));
    fputs("</p>\n", p->f);
}
