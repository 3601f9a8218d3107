/* page.c - one self-contained HTML page about results: no network, opens from disk. */
#include "report/page.h"

#include <stdlib.h>

#include "report/svg.h"

/* ---- what there is ------------------------------------------------------------------------------ */

const json_t *study_find_run(const json_t *runs, bool (*has)(const json_t *run))
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (has(run)) return run;
    }
    return NULL;
}

/* Does a method have this figure? The first one may have refused the data. */
static bool some_method_has(const json_t *run, const char *key)
{
    size_t i;
    json_t *method;
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (json_is_number(json_object_get(method, key))) return true;
    }
    return false;
}

bool study_is_evaluation(const json_t *run)
{
    return some_method_has(run, "error_mean");
}

bool study_is_infeasible(const json_t *run)
{
    return json_object_get(run, "proof") != NULL;
}

bool study_is_training(const json_t *run)
{
    return json_object_get(run, "fit_seconds") != NULL || study_is_infeasible(run);
}

bool study_is_verification(const json_t *run)
{
    return some_method_has(run, "auc");
}

const json_t *study_find_method(const json_t *run, const char *name)
{
    size_t i;
    json_t *method;
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (strcmp(client_string(method, "method"), name) == 0) return method;
    }
    return NULL;
}

/* ---- sections ------------------------------------------------------------------------------------- */

/* The next section begins, and the one before ends. across: it takes the whole width of a wide screen. */
static void heading(study_html *p, const char *text, bool across)
{
    fprintf(p->f, "</section>\n<section%s><h2>", across ? " class=\"across\"" : "");
    study_html_text(p, text);
    fputs("</h2>\n", p->f);
}

/* A remark of a result as a sentence: capital letter, full stop, and +- as one sign. */
static void sentence(study_html *p, const char *text)
{
    fputs("<p>", p->f);
    for (const char *s = text; *s;) {
        char part[128]; /* as much as fits, up to the next sign */
        const char *sign = strstr(s, "+-");
        client_format(part, sizeof part, "%.*s", (int)MIN(sign ? sign - s : 512, 512), s);
        s += strlen(part);
        if (part[0] >= 'a' && part[0] <= 'z' && s - strlen(part) == text)
            part[0] = (char)(part[0] - 'a' + 'A');
        study_html_text(p, part);
        if (s == sign) {
            study_html_text(p, "±");
            s += 2;
        }
    }
    fputs(*text ? ".</p>\n" : "</p>\n", p->f);
}

/* The figure, if the run has what it is made of. */
static bdml_status picture(study_html *p, const char *name, const json_t *run, const char *caption)
{
    if (!run || !study_figure_there(name, run)) return BDML_OK;
    return study_figure_html(p->h, name, run, caption, p->f);
}

static bdml_status write_results(study_html *p, const json_t *runs)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (!study_has_errors(run)) continue;
        heading(p,
                study_is_evaluation(run)     ? "Error of each method"
                : study_is_verification(run) ? "Verification of pairs"
                                             : "Accuracy of each method",
                false);
        study_page_methods(p, run);
        TRY(picture(p, "errors", run, "Mean and spread over the splits."));
        if (study_figure_there("roc", run)) {
            heading(p, "Which pairs are accepted", false);
            TRY(picture(
                p, "roc", run,
                "The nearer to the upper left corner the better; pairs of all test folds."));
        }
        if (!study_page_confused(run)) continue;
        heading(p, "What is mistaken for what", false);
        study_page_confusion(p, run);
    }
    return BDML_OK;
}

/* What K means here, and why the model that was kept may have another one. */
static void tell_caps(study_html *p, const json_t *path, const json_t *training)
{
    double least = client_real(json_object_get(path, "chosen"), "distortion");
    double kept = client_real(training, "distortion");
    const char *here = client_string(path, "reference");
    const char *there = client_string(training, "reference");
    fputs("<p class=\"soft\">kappa is the distortion relative to the reference, which K caps. Here "
          "K alone moves",
          p->f);
    if (here[0]) study_html_printf(p, ", the reference is %s,", here);
    fputs(" and all else stays as it is", p->f);
    if (!isnan(kept) && (kept != least || strcmp(here, there) != 0)) {
        study_html_printf(p, "; the model that was kept is another one: K = %g", kept);
        if (there[0]) study_html_printf(p, " relative to %s", there);
        fputs(", all chosen together with softness, constraints and passes, or given", p->f);
    }
    fputs(".</p>\n", p->f);
}

/* With the metrics at hand the page lets K move; else it shows the errors alone. */
static bdml_status write_path(study_html *p, const json_t *run)
{
    if (!study_figure_there("walk", run))
        return picture(p, "path", run,
                       "Left: too little distortion underfits, too much overfits. Right: the "
                       "certified bracket at each K.");
    return picture(
        p, "walk", run,
        "Too little distortion underfits, too much overfits. Each cloud of points is shown in "
        "its own two directions of largest variance and scaled to the same total variance, "
        "which changes no neighbour; rows are counted from 0.");
}

static bdml_status write_features(study_html *p, const json_t *run)
{
    if (!study_figure_there("features", run)) return BDML_OK;
    heading(p, "Which features matter", false);
    fputs(
        "<p>What a step of one standard deviation along a feature adds to squared distances, as a "
        "share of what all of them do: the diagonal of M on the prepared points, times the "
        "variance "
        "there.</p>\n",
        p->f);
    TRY(picture(p, "features", run, "The heaviest features, up to 20."));
    study_page_directions(p, run);
    return BDML_OK;
}

static bdml_status write_training(study_html *p, const json_t *run)
{
    if (!run) return BDML_OK;
    heading(p,
            study_is_infeasible(run)           ? "The proof"
            : isnan(client_real(run, "upper")) ? "The metric"
                                               : "The certificate",
            false);
    TRY(study_page_certificate(p, run));
    if (study_is_infeasible(run)) {
        heading(p, "Rows to look at first", false);
        TRY(picture(p, "suspects", run,
                    "Each constraint of the contradiction that is listed below lays its multiplier "
                    "on the rows it names; "
                    "rows are counted from 0."));
        study_page_contradictions(p, run);
    }
    TRY(picture(p, "convergence", run,
                "Both ends of the bracket are proven at every iteration; where they meet lies the "
                "optimum."));
    TRY(write_features(p, run));
    if (study_figure_there("view", run)) {
        heading(p, "The points before and after", true);
        TRY(picture(p, "view", run,
                    "Each picture shows its own two directions of largest variance, scaled to the "
                    "same total "
                    "variance. Rows are counted from 0."));
    }
    return BDML_OK;
}

/* Two that stand well beside each other. */
static bdml_status write_spectra(study_html *p, const json_t *path, const json_t *training)
{
    if (path && study_figure_there("walk", path)) {
        heading(p, "The optimum at each K", false);
        TRY(picture(p, "bracket", path, "It lies between the two ends: proven, on all rows."));
    }
    if (!training || !study_figure_there("spectrum", training)) return BDML_OK;
    heading(p, "Spectrum of M", false);
    return picture(
        p, "spectrum", training,
        "Directions with a large eigenvalue count. Relative to the reference the first over "
        "the last is the distortion, which K caps; on the prepared points it is the "
        "condition number of M.");
}

static bdml_status write_retrieval(study_html *p, const json_t *run)
{
    if (!run) return BDML_OK;
    heading(p, study_retrieval_title(run), false);
    study_page_retrieval(p, run);
    return picture(
        p, "unseen", run,
        "A large K serves what was trained on, and presses what was not into each other.");
}

static bdml_status write_body(study_html *p, const json_t *runs)
{
    const json_t *path = study_find_run(runs, study_has_path);
    const json_t *training = study_find_run(runs, study_is_training);

    study_page_summary(p, runs);
    long before = ftell(p->f);
    if (!study_page_hints(p, runs) && ftell(p->f) == before)
        fputs("<p class=\"hint fine\">Nothing looks wrong.</p>\n", p->f);
    bool none = training && study_is_infeasible(training);
    if (none) TRY(write_training(p, training)); /* what the page is about, then */
    TRY(write_results(p, runs));
    TRY(write_retrieval(p, study_find_run(runs, study_is_retrieval)));
    if (path) {
        heading(p, "Error against distortion", true);
        sentence(p, client_string(json_object_get(path, "shape"), "text"));
        tell_caps(p, path, training);
        TRY(write_path(p, path));
    }
    if (!none) TRY(write_training(p, training));
    TRY(write_spectra(p, path, training));
    if (training && !none) {
        heading(p, "What distortion is", true);
        TRY(picture(
            p, "ellipsoids", training,
            "(a) to (c) are illustrations in three dimensions, not results: unit balls of metrics, "
            "of which (a) and (c) have the same volume, (b) and (c) the same F-norm; only the "
            "ratio of their axes tells them apart. The fourth is what was learned here, by its "
            "largest, middle and smallest eigenvalue relative to the reference."));
    }
    heading(p, "How this was made", true);
    study_page_settings(p, runs);
    return BDML_OK;
}

static bdml_status write_page(study_html *p, const json_t *runs)
{
    const char *data = "";
    for (size_t i = 0; i < json_array_size(runs) && !*data; i++)
        data = client_base_name(client_string(json_array_get(runs, i), "data"));
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          /* what is not in the file is not asked for, and no script but page.js runs, whatever a
           * name in the data may say */
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-",
          p->f);
    fprintf(p->f, "%s'\">\n<title>bdml: ", study_page_script_hash);
    study_html_text(p, *data ? data : "report");
    fprintf(
        p->f,
        "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n<section class=\"across\"><h1>",
        study_figure_style, study_page_style);
    study_html_text(p, *data ? data : "Report");
    fputs("</h1>\n", p->f);
    TRY(write_body(p, runs));
    fprintf(
        p->f,
        "</section>\n</main>\n<footer>bdml %s</footer>\n<script>%s</script>\n</body>\n</html>\n",
        bdml_version(), study_page_script);
    return BDML_OK;
}

bdml_status study_page_write(bdml_handle *h, const json_t *runs, const char *path)
{
    bdml_status status = BDML_OK;
    size_t i, known = 0;
    json_t *run;
    json_array_foreach(runs, i, run) known += study_has_errors(run) || study_has_path(run) ||
                                              study_is_training(run) || study_has_spectrum(run) ||
                                              json_object_get(run, "methods") != NULL;
    if (known == 0)
        return client_fail(
            h, BDML_ERR_DATA,
            "%s: nothing to show: a result is what eval, path, train, retrieve, verify or "
            "adapt print with --json",
            path);
    client_memory page;
    GO(client_memory_open(h, &page));
    study_html p = {h, page.f};
    GO(write_page(&p, runs));
    GO(client_memory_close(h, &page));
    if (!client_json_whole()) GO(client_no_memory(h));
    status = client_write_file(h, path, page.text, page.size);
done:
    client_memory_free(&page);
    return status;
}
