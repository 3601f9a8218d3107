/* page_tables.c - tables of the page: methods, confusions, certificate, contradictions, settings. */
#include "report/page.h"

/* ---- methods ---------------------------------------------------------------------------------------- */

typedef struct column {
    const char *key, *title, *format;
} column;

static const column error_columns[] = {{"error_mean", "error %", "%.2f"},
                                       {"error_std", "± std", "%.2f"},
                                       {"kappa", "condition of M", "%.3g"},
                                       {"fit_seconds", "fit s", "%.3g"}};
static const column accuracy_columns[] = {{"accuracy_mean", "accuracy %", "%.2f"},
                                          {"accuracy_se", "± s.e.", "%.2f"},
                                          {"auc", "AUC", "%.4f"},
                                          {"eer", "EER %", "%.2f"},
                                          {"kappa", "condition of M", "%.3g"},
                                          {"fit_seconds", "fit s", "%.3g"}};
enum { MOST_COLUMNS = 6 };

/* The columns that some method has. */
static int used_columns(const json_t *methods, int count, const column *all,
                        const column *used[MOST_COLUMNS])
{
    int n = 0;
    for (int k = 0; k < count; k++) {
        size_t i;
        json_t *row;
        bool some = false;
        json_array_foreach(methods, i, row) some = some || json_object_get(row, all[k].key);
        if (some) used[n++] = &all[k];
    }
    return n;
}

static size_t best_row(const json_t *methods, const char *key, bool small)
{
    size_t i, best = 0;
    json_t *row;
    double value = small ? INFINITY : -INFINITY;
    json_array_foreach(methods, i, row)
    {
        double v = client_real(row, key);
        if (isnan(v) || (small ? v >= value : v <= value)) continue;
        value = v;
        best = i;
    }
    return best;
}

/* What the splits chose: "bdml chose reference none (5), cap K 30 (3), 100 (2)". */
static void tell_choices(study_html *p, const json_t *method)
{
    const char *key, *text;
    json_t *counts, *count;
    const json_t *chosen = json_object_get(method, "chosen");
    bool first = true;
    if (json_object_size(chosen) == 0) return;
    fputs("<p class=\"soft\">", p->f);
    study_html_text(p, client_string(method, "method"));
    fputs(" chose, inside the training rows of each split: ", p->f);
    json_object_foreach((json_t *)chosen, key, counts)
    {
        bool cap = strcmp(key, "distortion") == 0, softness = strcmp(key, "weight") == 0;
        if (!json_is_object(counts)) continue;
        fputs(first ? "" : "; ", p->f);
        first = false;
        study_html_text(p, cap ? "cap K" : softness ? "softness" : key);
        bool next = false;
        json_object_foreach(counts, text, count)
        {
            fputs(next ? ", " : " ", p->f);
            next = true;
            study_html_text(p, text);
            study_html_printf(p, " (%.0f)", json_number_value(count));
        }
    }
    fputs(".</p>\n", p->f);
}

void study_page_methods(study_html *p, const json_t *run)
{
    bool singular = false;
    const json_t *methods = json_object_get(run, "methods");
    bool errors = study_is_evaluation(run);
    const column *used[MOST_COLUMNS];
    int n = errors ? used_columns(methods, 4, error_columns, used)
                   : used_columns(methods, 6, accuracy_columns, used);
    size_t i, best = best_row(methods, errors ? "error_mean" : "accuracy_mean", errors);
    json_t *row;
    fputs("<div class=\"scroll\"><table class=\"sort\"><thead><tr><th>method</th>", p->f);
    for (int k = 0; k < n; k++) study_html_printf(p, "<th>%s</th>", used[k]->title);
    fputs("</tr></thead><tbody>\n", p->f);
    json_array_foreach(methods, i, row)
    {
        const char *why = client_string(row, "error");
        fputs(i == best ? "<tr class=\"best\"><td>" : "<tr><td>", p->f);
        study_html_text(p, client_string(row, "method"));
        fputs("</td>", p->f);
        if (*why) {
            study_html_printf(p, "<td colspan=\"%d\" class=\"soft words\">", n);
            study_html_text(p, why);
            fputs("</td>", p->f);
        }
        for (int k = 0; k < n && !*why; k++) {
            double v = client_real(row, used[k]->key);
            fputs("<td>", p->f);
            bool seconds = strcmp(used[k]->key, "fit_seconds") == 0;
            if (seconds && v < 1e-3) {
                fputs("&lt; 0.001</td>", p->f);
                continue;
            }
            if (isnan(v) && strcmp(used[k]->key, "kappa") == 0) v = INFINITY; /* null: singular */
            singular = singular || isinf(v);
            study_html_number(p, used[k]->format, v);
            fputs("</td>", p->f);
        }
        fputs("</tr>\n", p->f);
    }
    fputs("</tbody></table></div>\n<p class=\"soft\">condition of M: largest over smallest "
          "eigenvalue on the "
          "prepared points",
          p->f);
    fputs(singular ? "; ∞ where a direction counts nothing there, such as a constant column.</p>\n"
                   : ".</p>\n",
          p->f);
    json_array_foreach(methods, i, row) tell_choices(p, row);
}

/* ---- confusions --------------------------------------------------------------------------------------- */

static void cell(study_html *p, double count, double total)
{
    double share = total > 0.0 ? count / total : 0.0;
    study_html_printf(p, "<td class=\"cell\" style=\"background:rgba(var(--heat),%.2f)\">",
                      0.85 * share);
    if (count > 0.0) study_html_printf(p, "%.1f %%", 100.0 * share);
    fputs("</td>", p->f);
}

const json_t *study_page_confused(const json_t *run)
{
    const json_t *methods = json_object_get(run, "methods"), *mine = study_find_method(run, "bdml");
    if (!json_is_array(json_object_get(mine, "confusion"))) /* it may have refused the data */
        mine = json_array_get(methods, best_row(methods, "error_mean", true));
    return json_is_array(json_object_get(mine, "confusion")) ? mine
                                                             : NULL; /* of many classes: none */
}

void study_page_confusion(study_html *p, const json_t *run)
{
    const json_t *classes = json_object_get(run, "classes");
    const json_t *method = study_page_confused(run);
    const json_t *table = json_object_get(method, "confusion");
    size_t i, k;
    json_t *row, *v, *name;
    fputs("<p class=\"soft\">Method ", p->f);
    study_html_text(p, client_string(method, "method"));
    fputs(", all splits together: of the rows of each class (line), the share put into each class "
          "(column).</p>\n<div class=\"scroll\"><table class=\"confusion\"><thead><tr><th></th>",
          p->f);
    json_array_foreach(classes, i, name)
    {
        fputs("<th>", p->f);
        study_html_text(p, json_string_value(name) ? json_string_value(name) : "?");
        fputs("</th>", p->f);
    }
    fputs("</tr></thead><tbody>\n", p->f);
    json_array_foreach(table, i, row)
    {
        const char *label = json_string_value(json_array_get(classes, i));
        double total = 0.0;
        json_array_foreach(row, k, v) total += json_number_value(v);
        fputs("<tr><td>", p->f);
        study_html_text(p, label ? label : "?");
        fputs("</td>", p->f);
        json_array_foreach(row, k, v) cell(p, json_number_value(v), total);
        fputs("</tr>\n", p->f);
    }
    fputs("</tbody></table></div>\n", p->f);
}

/* ---- certificate ----------------------------------------------------------------------------------------- */

static void entry(study_html *p, const char *term, const json_t *run, const char *key,
                  const char *format)
{
    const json_t *v = json_object_get(run, key);
    if (!v || json_is_null(v)) return;
    study_html_printf(p, "<dt>%s</dt><dd>", term);
    if (json_is_string(v))
        study_html_text(p, json_string_value(v));
    else
        study_html_number(p, format, json_number_value(v));
    fputs("</dd>\n", p->f);
}

/* A word of a line that is there to be pasted into a shell. */
static bdml_status word(study_html *p, const char *s)
{
    bdml_status status = BDML_OK;
    client_memory m;
    GO(client_memory_open(p->h, &m));
    client_shell_word(m.f, s);
    GO(client_memory_close(p->h, &m));
    study_html_text(p, m.text);
done:
    client_memory_free(&m);
    return status;
}

bdml_status study_page_certificate(study_html *p, const json_t *run)
{
    const json_t *spectrum = json_object_get(run, "spectrum");
    const char *file = client_string(run, study_is_infeasible(run) ? "proof_file" : "model");
    fputs("<dl>\n", p->f);
    entry(p, "status", run, "status", "%g");
    entry(p, "method", run, "method", "%g");
    entry(p, "lower end, proven", run, "lower", "%.9g");
    entry(p, "upper end, reached", run, "upper", "%.9g");
    entry(p, "objective, margins missed", run, "objective", "%.9g");
    entry(p, "gap", run, "gap", "%.2e");
    entry(p, "cap K on the distortion", run, "distortion", "%g");
    entry(p, "distortion reached, relative to the reference", run, "distortion_reached", "%.6g");
    entry(p, "condition number of M on the prepared points", run, "kappa", "%.4g");
    entry(p, "reference metric", run, "reference", "%g");
    entry(p, "constraints", run, "constraints", "%.0f");
    entry(p, study_is_infeasible(run) ? "in the contradiction" : "of them active", run, "active",
          "%.0f");
    entry(p, "holds for", run, "proof", "%g");
    entry(p, "the trace proven", run, "proof_trace", "%.4g");
    entry(p, "stopped by", run, "stopped_by", "%g");
    entry(p, "iterations", run, "iterations", "%.0f");
    entry(p, "logDet of M", spectrum, "log_det", "%.4g");
    entry(p, "F-norm of M", spectrum, "frobenius", "%.4g");
    fputs("</dl>\n", p->f);
    if (!*file || !*client_string(run, "data")) return BDML_OK;
    fputs(
        "<p class=\"soft\">Check it with code that shares nothing with the solver:</p>\n<pre>bdml "
        "certify ",
        p->f);
    TRY(word(p, file));
    fputs(" ", p->f);
    TRY(word(p, client_string(run, "data")));
    fputs("</pre>\n", p->f);
    return BDML_OK;
}

/* ---- directions ------------------------------------------------------------------------------------------ */

void study_page_directions(study_html *p, const json_t *run)
{
    const json_t *list = json_object_get(json_object_get(run, "features_that_matter"), "direction");
    size_t i, k;
    json_t *row, *name;
    if (json_array_size(list) == 0) return;
    fputs("<p>The mixtures of features that count most, each with its largest loadings. Those of "
          "the same "
          "share may be mixed with each other at will.</p>\n"
          "<div class=\"scroll\"><table><thead><tr><th>direction</th><th>share %</th>"
          "<th class=\"words\">made of</th></tr></thead><tbody>\n",
          p->f);
    json_array_foreach(list, i, row)
    {
        study_html_printf(p, "<tr><td>%zu</td><td>%.1f</td><td class=\"words\">", i + 1,
                          100.0 * client_real(row, "share"));
        json_array_foreach(json_object_get(row, "feature"), k, name)
        {
            study_html_printf(p, "%s%+.2f ", k ? ", " : "",
                              json_number_value(
                                  json_array_get(json_object_get(row, "loading"), k)));
            study_html_text(p, json_string_value(name) ? json_string_value(name) : "?");
        }
        fputs("</td></tr>\n", p->f);
    }
    fputs("</tbody></table></div>\n", p->f);
}

/* ---- contradictions ---------------------------------------------------------------------------------------- */

void study_page_contradictions(study_html *p, const json_t *run)
{
    size_t i;
    json_t *row;
    const json_t *list = json_object_get(run, "contradictions");
    if (json_array_size(list) == 0) return;
    fputs("<p>The constraints that weigh most in the contradiction (row numbers from 0):</p>\n"
          "<div class=\"scroll\"><table class=\"sort\"><thead><tr><th>point i</th><th>shall be "
          "nearer to j</th>"
          "<th>than to k</th><th>multiplier</th></tr></thead><tbody>\n",
          p->f);
    json_array_foreach(list, i, row)
    {
        study_html_printf(p, "<tr><td>%.0f</td><td>", client_real(row, "i"));
        study_html_number(p, "%.0f", client_real(row, "j"));
        study_html_printf(p, "</td><td>%.0f</td><td>%.3g</td></tr>\n", client_real(row, "k"),
                          client_real(row, "multiplier"));
    }
    fputs("</tbody></table></div>\n", p->f);
}

/* ---- settings ---------------------------------------------------------------------------------------------- */

void study_page_settings(study_html *p, const json_t *runs)
{
    size_t i;
    json_t *run;
    fputs("<pre>", p->f);
    json_array_foreach(runs, i, run)
    {
        const char *line = client_string(run, "command_line");
        if (!*line) continue;
        study_html_text(p, line);
        fputs("\n", p->f);
    }
    fputs("</pre>\n", p->f);
}
