/* figure_roc.c - share of same pairs accepted against share of different pairs accepted. */
#include "report/figures.h"

/* Lists of one length: false and true positives. */
static const json_t *rates(const json_t *method, const char *key)
{
    return json_object_get(json_object_get(method, "roc"), key);
}

bool study_has_roc(const json_t *run)
{
    const json_t *first = json_array_get(json_object_get(run, "methods"), 0);
    return json_array_size(rates(first, "false_positive")) > 1;
}

bdml_status study_draw_roc(const json_t *run, study_drawing *d)
{
    size_t i;
    json_t *method;
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *chance = study_drawing_series(d, STUDY_PLOT_GUIDE, 2, false);
    if (!chance) return BDML_ERR_MEMORY;
    study_series_x(chance)[1] = study_series_y(chance)[1] = 1.0;
    chance->colour = 7;
    chance->title = "by chance";
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        const json_t *x = rates(method, "false_positive"), *y = rates(method, "true_positive");
        study_plot_series *s =
            study_drawing_series(d, STUDY_PLOT_LINE, (int64_t)json_array_size(x), false);
        if (!s) return BDML_ERR_MEMORY;
        for (size_t k = 0; k < json_array_size(x); k++) {
            study_series_x(s)[k] = json_number_value(json_array_get(x, k));
            study_series_y(s)[k] = json_number_value(json_array_get(y, k));
        }
        s->colour = (int)(i % STUDY_PLOT_COLOURS);
        s->title = study_drawing_text(d, "%s, AUC %.3f", client_string(method, "method"),
                                      client_real(method, "auc"));
    }
    panel->x_label = "different pairs accepted";
    panel->y_label = "same pairs accepted";
    panel->equal = true;
    panel->x_max = panel->y_max = 1.0;
    d->plot.width = 520;
    d->plot.height = 520;
    client_format(
        d->alt, sizeof d->alt,
        "ROC curves of %zu methods: share of same pairs accepted against share of different "
        "pairs accepted.",
        i);
    return BDML_OK;
}
