/* figure_errors.c - each method's mean with its spread: errors of classification, accuracies of
 * verification and adaptation. */
#include "report/figures.h"

/* Which figures a method of this run has. */
typedef struct measure {
    const char *mean, *spread, *label, *words;
} measure;
static const measure measures[] = {
    {"error_mean", "error_std", "error, %", "test error with its standard deviation over splits"},
    {"accuracy_mean", "accuracy_se", "accuracy, %", "accuracy with its standard error"},
};

static const measure *find_measure(const json_t *run)
{
    size_t k;
    json_t *method;
    json_array_foreach(json_object_get(run, "methods"), k, method) /* the first may have refused */
    {
        for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
            if (json_is_number(json_object_get(method, measures[i].mean))) return &measures[i];
    }
    return NULL;
}

bool study_has_errors(const json_t *run)
{
    return find_measure(run) != NULL;
}

bdml_status study_draw_errors(const json_t *run, study_drawing *d)
{
    const json_t *methods = json_object_get(run, "methods");
    const measure *m = find_measure(run);
    int n = (int)MIN(json_array_size(methods), (size_t)DRAWING_TEXTS - 8);
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_BARS, n, true);
    if (!s) return BDML_ERR_MEMORY;
    client_format(d->alt, sizeof d->alt, "%s:", m->words);
    for (int i = 0; i < n; i++) {
        const json_t *row = json_array_get(methods, (size_t)i);
        double mean = client_real(row, m->mean), spread = client_real(row, m->spread);
        if (isnan(spread)) spread = 0.0;
        study_series_x(s)[i] = mean;
        study_series_y(s)[i] = i + 1;
        ((double *)s->low)[i] = mean - spread;
        ((double *)s->high)[i] = mean + spread;
        d->name[i] = study_drawing_text(d, "%s", client_string(row, "method"));
        client_append(d->alt, sizeof d->alt, "%s %s %.2f", i ? "," : "", d->name[i], mean);
    }
    panel->x_label = m->label;
    if (m == &measures[0]) panel->x_from_zero = true;
    panel->name_count = n;
    panel->name = d->name;
    d->plot.width = 440;
    d->plot.height = 60 + 28 * MAX(n, 2);
    return BDML_OK;
}
