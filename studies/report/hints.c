/* hints.c - what looks wrong in results, and what to do about it. */
#include "report/page.h"

#include <limits.h>
#include <stdlib.h>

static void begin(study_html *p, bool *some)
{
    fputs("<p class=\"hint\">", p->f);
    *some = true;
}

static void end(study_html *p)
{
    fputs("</p>\n", p->f);
}

/* Errors per split; accuracies are errors with the other sign. */
static const json_t *per_split(const json_t *method, double *sign)
{
    const json_t *errors = json_object_get(method, "errors");
    *sign = errors ? 1.0 : -1.0;
    return errors ? errors : json_object_get(method, "accuracies");
}

bdml_paired study_paired_errors(const json_t *run, const json_t *a, const json_t *b)
{
    double sign, other;
    const json_t *x = per_split(a, &sign), *y = per_split(b, &other);
    size_t n = json_array_size(x);
    bdml_paired p = {.difference = NAN, .error_corrected = NAN, .p = NAN};
    if (n < 2 || n > INT_MAX || json_array_size(y) != n || sign != other) return p;
    double *v = malloc(2 * n * sizeof *v);
    if (!v) return p;
    for (size_t i = 0; i < n; i++) {
        v[i] = sign * json_number_value(json_array_get(x, i));
        v[n + i] = sign * json_number_value(json_array_get(y, i));
    }
    /* Random splits share rows, as in bdml eval. Folds share no test rows, and fixed splits come as they
     * are. */
    bool random = client_real(run, "folds") == 0.0 && json_object_get(run, "train_points");
    double shared =
        random ? client_real(run, "test_points") / client_real(run, "train_points") : 0.0;
    p = bdml_compare_paired((int)n, v, v + n, shared);
    free(v);
    return p;
}

bool study_is_clear(const bdml_paired *p)
{
    const double chance = 0.05;
    return p->p < chance || (p->error_corrected == 0.0 && p->difference != 0.0);
}

static void compare(study_html *p, const json_t *run, bool *some)
{
    const json_t *mine = study_find_method(run, "bdml");
    const json_t *plain = study_find_method(run, "euclidean");
    size_t i;
    json_t *other;
    bdml_paired d = study_paired_errors(run, mine, plain);
    bool scaled = strcmp(client_string(run, "scale"), "zscore") == 0;
    if (!isnan(d.difference) && !(study_is_clear(&d) && d.difference < 0.0)) {
        begin(p, some);
        study_html_printf(
            p,
            "That learning pays here is not shown: bdml minus euclidean is %+.2f ± %.2f points, "
            "paired. "
            "The classes may lie well already, the features may want another scale (try "
            "<code>--scale %s</code>), or more <code>--splits</code> may tell.",
            d.difference, d.error_corrected, scaled ? "none" : "zscore");
        end(p);
    }
    json_array_foreach(json_object_get(run, "methods"), i, other)
    {
        d = study_paired_errors(run, mine, other);
        if (!mine || other == mine || other == plain || !(d.difference > 0.0) ||
            !study_is_clear(&d))
            continue;
        begin(p, some);
        study_html_text(p, client_string(other, "method"));
        study_html_printf(p, " errs less than bdml on these splits: by %.2f ± %.2f points, paired.",
                          d.difference, d.error_corrected);
        end(p);
    }
}

static void tell_refusals(study_html *p, const json_t *run, bool *some)
{
    size_t i;
    json_t *method;
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        if (!*client_string(method, "error")) continue;
        begin(p, some);
        study_html_text(p, client_string(method, "method"));
        fputs(" gave no result: ", p->f);
        study_html_text(p, client_string(method, "error"));
        end(p);
    }
}

static void look_at_path(study_html *p, const json_t *run, bool *some)
{
    const json_t *rows = json_object_get(run, "path");
    double chosen = client_real(json_object_get(run, "chosen"), "distortion");
    double last = client_real(json_array_get(rows, json_array_size(rows) - 1), "distortion");
    if (json_array_size(rows) < 2 || !(chosen >= last)) return;
    begin(p, some);
    study_html_printf(
        p,
        "The largest distortion tried, %g, was chosen: the best may lie beyond. Give a "
        "longer <code>--grid</code>.",
        last);
    end(p);
}

static void look_at_training(study_html *p, const json_t *run, bool *some)
{
    if (study_is_infeasible(run)) {
        begin(p, some);
        fputs(
            "The margins cannot all be met. Leave out <code>--hard</code>: then missed margins are "
            "charged instead of forbidden; or raise <code>--distortion</code>. Rows named below "
            "often carry a wrong label.",
            p->f);
        end(p);
    }
    if (client_real(run, "distortion") == 1.0 && !study_is_infeasible(run)) {
        begin(p, some);
        fputs("K = 1: the metric is its reference itself (<code>", p->f);
        study_html_text(p, client_string(run, "reference"));
        fputs("</code>), and no direction is stretched beyond that. Cross-validation found no "
              "larger cap to err "
              "less, or K was given.",
              p->f);
        end(p);
    }
    if (strcmp(client_string(run, "status"), "stopped") == 0) {
        bool rounding = strcmp(client_string(run, "stopped_by"), "rounding") == 0;
        begin(p, some);
        study_html_printf(
            p,
            rounding
                ? "Rounding kept the gap at %.1e. The bracket still holds; other scaling, or "
                  "leaving out points that lie far away, lets it close."
                : "The solver was stopped at a gap of %.1e. The bracket still holds; give more "
                  "time or iterations to close it.",
            client_real(run, "gap"));
        end(p);
    }
}

/* A run before run i gave the same warning: it is about the data. */
static bool told_before(const json_t *runs, size_t i, const json_t *line)
{
    size_t k;
    json_t *other;
    for (size_t r = 0; r < i; r++)
        json_array_foreach(json_object_get(json_array_get(runs, r), "warnings"), k, other)
        {
            if (json_equal(other, line)) return true;
        }
    return false;
}

bool study_page_hints(study_html *p, const json_t *runs)
{
    bool some = false;
    size_t i, k;
    json_t *run, *line;
    json_array_foreach(runs, i, run)
    {
        if (study_has_errors(run)) compare(p, run, &some);
        tell_refusals(p, run, &some);
        if (study_has_path(run)) look_at_path(p, run, &some);
        if (study_is_training(run)) look_at_training(p, run, &some);
        if (*client_string(run, "error") && !study_is_infeasible(run)) {
            begin(p, &some);
            study_html_text(p, client_string(run, "error"));
            end(p);
        }
        json_array_foreach(json_object_get(run, "warnings"), k, line)
        {
            if (told_before(runs, i, line)) continue;
            begin(p, &some);
            study_html_text(p, json_string_value(line) ? json_string_value(line) : "");
            end(p);
        }
    }
    return some;
}
