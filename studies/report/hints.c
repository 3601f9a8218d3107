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

double study_paired_errors(const json_t *run, const json_t *a, const json_t *b, double *se)
{
    double sign, other;
    const json_t *x = per_split(a, &sign), *y = per_split(b, &other);
    size_t n = json_array_size(x);
    *se = NAN;
    if (n < 2 || n > INT_MAX || json_array_size(y) != n || sign != other) return NAN;
    double *v = malloc(2 * n * sizeof *v);
    if (!v) return NAN;
    for (size_t i = 0; i < n; i++) {
        v[i] = sign * json_number_value(json_array_get(x, i));
        v[n + i] = sign * json_number_value(json_array_get(y, i));
    }
    /* Random splits share rows, as in bdml eval. Folds share no test rows, and fixed splits come as they
     * are. */
    bool random = client_real(run, "folds") == 0.0 && json_object_get(run, "train_points");
    double shared =
        random ? client_real(run, "test_points") / client_real(run, "train_points") : 0.0;
    bdml_paired p = bdml_compare_paired((int)n, v, v + n, shared);
    free(v);
    *se = p.error_corrected;
    return p.difference;
}

static void compare(study_html *p, const json_t *run, bool *some)
{
    const json_t *mine = study_find_method(run, "bdml");
    const json_t *plain = study_find_method(run, "euclidean");
    size_t i;
    json_t *other;
    double se, difference = study_paired_errors(run, mine, plain, &se);
    if (mine && plain && difference > -2.0 * se) {
        begin(p, some);
        study_html_printf(
            p,
            "The plain Euclidean distance is as good here: bdml minus euclidean is %+.2f "
            "± %.2f points, paired. The classes may lie well already, or the features "
            "want another scale (try <code>--scale zscore</code>).",
            difference, se);
        end(p);
    }
    json_array_foreach(json_object_get(run, "methods"), i, other)
    {
        difference = study_paired_errors(run, mine, other, &se);
        if (!mine || other == mine || other == plain || !(difference > 2.0 * se)) continue;
        begin(p, some);
        study_html_text(p, client_string(other, "method"));
        study_html_printf(p, " errs less than bdml on these splits: by %.2f ± %.2f points, paired.",
                          difference, se);
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
            begin(p, &some);
            study_html_text(p, json_string_value(line) ? json_string_value(line) : "");
            end(p);
        }
    }
    return some;
}
