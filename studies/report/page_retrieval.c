/* page_retrieval.c - the page's part about retrieval among classes not trained on: what was found, and the table. */
#include "report/page.h"

static const char *const scopes[] = {"unseen", "seen"};

static const json_t *recall(const json_t *row, int scope)
{
    return json_object_get(json_object_get(row, scopes[scope]), "recall_at_1");
}

/* Agreement of groups by k-means with the unseen classes, or NULL: it was not asked for. */
static const json_t *agreement(const json_t *row)
{
    return json_object_get(json_object_get(row, scopes[0]), "nmi");
}

bool study_is_retrieval(const json_t *run)
{
    return json_is_object(recall(json_array_get(json_object_get(run, "methods"), 0), 0));
}

/* What was split into seen and unseen: classes, rows or queries. */
static bool split_is(const json_t *run, const char *what)
{
    return strcmp(client_string(run, "protocol"), what) == 0;
}

const char *study_retrieval_title(const json_t *run)
{
    return split_is(run, "queries") ? "Queries that were not trained on"
           : split_is(run, "rows")  ? "Rows that were not trained on"
                                    : "Classes that were not trained on";
}

/* "bdml, K = 10", "bdml, chosen", "lda" */
static void say_name(study_html *p, const json_t *row)
{
    double K = client_real(row, "distortion");
    study_html_text(p, client_string(row, "method"));
    if (!isnan(K))
        study_html_printf(p, ", K = %g", K);
    else if (json_object_size(json_object_get(row, "chosen")) > 0)
        fputs(", chosen", p->f);
}

static void difference(study_html *p, const json_t *figure)
{
    const json_t *versus = json_object_get(figure, "versus");
    study_html_printf(p, "%+.2f ± %.2f", client_real(versus, "difference"),
                      client_real(versus, "standard_error_corrected"));
}

/* The entrant that finds most of the unseen classes; the space as it is stands first. */
static const json_t *best_of(const json_t *run)
{
    const json_t *methods = json_object_get(run, "methods"), *best = json_array_get(methods, 0);
    size_t i;
    json_t *row;
    json_array_foreach(methods, i, row)
    {
        if (client_real(recall(row, 0), "mean") > client_real(recall(best, 0), "mean")) best = row;
    }
    return best;
}

void study_say_retrieval(study_html *p, const json_t *run)
{
    const json_t *methods = json_object_get(run, "methods"), *best = best_of(run);
    if (split_is(run, "queries"))
        study_html_printf(p,
                          ": whether the nearest of %.0f documents belongs to the query, over %.0f "
                          "splits, of %.0f queries that were not trained on.",
                          client_real(run, "documents"), client_real(run, "splits"),
                          client_real(run, "unseen_queries"));
    else if (split_is(run, "rows"))
        study_html_printf(p,
                          ": whether the nearest of %.0f rows that were trained on is of the same "
                          "class, over %.0f splits, of %.0f rows that were not.",
                          client_real(run, "train_points"), client_real(run, "splits"),
                          client_real(run, "unseen_points"));
    else
        study_html_printf(p,
                          ": whether the nearest row is of the same class, over %.0f splits, among "
                          "%.0f classes that were not trained on.",
                          client_real(run, "splits"), client_real(run, "unseen_classes"));
    study_html_printf(p, " Found: as it is the space does so for %.2f %%; ",
                      client_real(recall(json_array_get(methods, 0), 0), "mean"));
    if (best == json_array_get(methods, 0)) {
        fputs("nothing that was learned does better.", p->f);
        return;
    }
    fputs("the best, ", p->f);
    say_name(p, best);
    fputs(", differs by ", p->f);
    difference(p, recall(best, 0));
    fputs(" points.", p->f);
}

/* Two cells: a figure, and by how much it differs from that of the space as it is. */
static void write_figure(study_html *p, const json_t *figure)
{
    fputs("<td>", p->f);
    study_html_number(p, "%.2f", client_real(figure, "mean"));
    fputs("</td><td>", p->f);
    if (json_is_object(json_object_get(figure, "versus")))
        difference(p, figure);
    else
        fputs("–", p->f);
    fputs("</td>", p->f);
}

void study_page_retrieval(study_html *p, const json_t *run)
{
    size_t i;
    json_t *row;
    const json_t *best = best_of(run);
    bool groups = agreement(json_array_get(json_object_get(run, "methods"), 0)) != NULL;
    const char *split = split_is(run, "queries") ? "queries"
                        : split_is(run, "rows")  ? "rows"
                                                 : "classes";
    study_html_printf(p,
                      "<div class=\"scroll\"><table class=\"sort\"><thead><tr><th>method</th>"
                      "<th>unseen %s %%</th><th>to the space as it is</th>"
                      "<th>seen %s %%</th><th>to the space as it is</th>",
                      split, split);
    if (groups) fputs("<th>NMI, unseen</th><th>to the space as it is</th>", p->f);
    fputs("</tr></thead><tbody>\n", p->f);
    json_array_foreach(json_object_get(run, "methods"), i, row)
    {
        const char *why = client_string(row, "error");
        fputs(row == best ? "<tr class=\"best\"><td>" : "<tr><td>", p->f);
        say_name(p, row);
        fputs("</td>", p->f);
        if (*why) {
            study_html_printf(p, "<td colspan=\"%d\" class=\"soft words\">", groups ? 6 : 4);
            study_html_text(p, why);
            fputs("</td>", p->f);
        }
        for (int scope = 0; scope < 2 && !*why; scope++) write_figure(p, recall(row, scope));
        if (groups && !*why) write_figure(p, agreement(row));
        fputs("</tr>\n", p->f);
    }
    study_html_printf(p,
                      "</tbody></table></div>\n<p class=\"soft\">Recall@1: %s. ±: standard error "
                      "of the paired difference, corrected for splits that share %s.%s</p>\n",
                      split_is(run, "queries") ? "queries whose nearest document belongs to them"
                                               : "rows whose nearest other one is of their class",
                      split,
                      groups ? " NMI: agreement of as many groups by k-means with the classes, 100 "
                               "= the same."
                             : "");
}
