/* summary.c - what was asked and what was found, in two sentences. */
#include "report/page.h"

static void say_data(bdml_html *p, const json_t *run)
{
    const char *name = bdml_base_name(bdml_json_string(run, "data"));
    const json_t *classes = json_object_get(run, "classes");
    double features = bdml_json_number(run, "features");
    if (isnan(features)) features = bdml_json_number(run, "dimension");
    double count = json_is_array(classes) ? (double)json_array_size(classes)
                                          : bdml_json_number(run, "classes");
    if (*name) {
        fputs("<b>", p->f);
        bdml_html_text(p, name);
        fputs("</b>", p->f);
    } else {
        fputs("the data", p->f);
    }
    if (isnan(features)) return;
    bdml_html_printf(p, " (%.0f points, %.0f features", bdml_json_number(run, "points"), features);
    if (count > 0.0) bdml_html_printf(p, ", %.0f classes", count);
    fputs(")", p->f);
}

static void say_error(bdml_html *p, const json_t *method)
{
    bdml_html_text(p, bdml_json_string(method, "method"));
    bdml_html_printf(p, ", which errs on %.2f %%", bdml_json_number(method, "error_mean"));
}

static void say_evaluation(bdml_html *p, const json_t *run)
{
    size_t i;
    json_t *method;
    double neighbors = bdml_json_number(run, "neighbors"); /* "auto": a number of its own each */
    if (isnan(neighbors))
        fputs("Asked: whether the nearest neighbours tell the classes of ", p->f);
    else
        bdml_html_printf(p, "Asked: whether the %.0f nearest neighbours tell the classes of ",
                         neighbors);
    say_data(p, run);
    fputs(" apart", p->f);
    double splits = bdml_json_number(run, "splits"), share = bdml_json_number(run, "test_fraction");
    if (!isnan(splits) && !isnan(share))
        bdml_html_printf(p, ", over %.0f splits with %.3g %% of the rows held back", splits,
                         100.0 * share);
    fputs(". Found: ", p->f);
    const json_t *best = NULL, *mine = bdml_find_method(run, "bdml");
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (method == mine || isnan(bdml_json_number(method, "error_mean"))) continue;
        if (!best || bdml_json_number(method, "error_mean") < bdml_json_number(best, "error_mean"))
            best = method;
    }
    if (mine && isnan(bdml_json_number(mine, "error_mean"))) {
        fputs("bdml gave no metric (", p->f);
        bdml_html_text(p, bdml_json_string(mine, "error"));
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
    double se, difference = bdml_paired_errors(run, mine, best, &se);
    if (!isnan(difference))
        bdml_html_printf(p, ". The difference is %+.2f ± %.2f points, paired by split", difference,
                         se);
    fputs(".", p->f);
}

static void say_pairs(bdml_html *p, const json_t *run)
{
    size_t i;
    json_t *method;
    fputs("Asked: whether two rows of ", p->f);
    say_data(p, run);
    bdml_html_printf(p, " belong together, on %.0f labelled pairs. Found: ",
                     bdml_json_number(run, "pairs"));
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (i) fputs(", ", p->f);
        bdml_html_text(p, bdml_json_string(method, "method"));
        bdml_html_printf(p, " is right on %.1f %%", bdml_json_number(method, "accuracy_mean"));
    }
    fputs(".", p->f);
}

static void say_training(bdml_html *p, const json_t *run)
{
    double lower = bdml_json_number(run, "lower"), upper = bdml_json_number(run, "upper");
    fputs("Asked: a metric for ", p->f);
    say_data(p, run);
    if (isnan(upper)) {
        fputs(" by method ", p->f);
        bdml_html_text(p, bdml_json_string(run, "method"));
        bdml_html_printf(p, ". Found: one with a condition number of %.4g.",
                         bdml_json_number(run, "kappa"));
        return;
    }
    bdml_html_printf(
        p,
        " with a distortion of at most %g relative to its reference, under %.0f "
        "constraints. Found: one whose objective is %.6g, while no such metric can have "
        "less than %.6g: proven, to a gap of %.1e.",
        bdml_json_number(run, "distortion"), bdml_json_number(run, "constraints"), upper, lower,
        bdml_json_number(run, "gap"));
}

static void say_infeasible(bdml_html *p, const json_t *run)
{
    fputs("Asked: a metric for ", p->f);
    say_data(p, run);
    bdml_html_printf(
        p,
        " with a distortion of at most %g that meets all of %.0f margins. Found: there "
        "is none; %.0f of the constraints contradict each other, and that is proven, for ",
        bdml_json_number(run, "distortion"), bdml_json_number(run, "constraints"),
        bdml_json_number(run, "active"));
    bdml_html_text(p, bdml_json_string(run, "proof"));
    fputs(".", p->f);
}

void bdml_page_summary(bdml_html *p, const json_t *runs)
{
    const json_t *run;
    fputs("<p class=\"lead\">", p->f);
    if ((run = bdml_find_run(runs, bdml_is_infeasible)))
        say_infeasible(p, run);
    else if ((run = bdml_find_run(runs, bdml_is_evaluation)))
        say_evaluation(p, run);
    else if ((run = bdml_find_run(runs, bdml_is_verification)))
        say_pairs(p, run);
    else if ((run = bdml_find_run(runs, bdml_is_training)))
        say_training(p, run);
    else
        bdml_html_printf(p, "%zu results of bdml.", json_array_size(runs));
    fputs("</p>\n", p->f);
}
