/* figure_roc.c - share of same pairs accepted against share of different pairs accepted. */
#include "report/figures.h"

/* Lists of one length: false and true positives. */
static const json_t *rates(const json_t *method, const char *key)
{
    return json_object_get(json_object_get(method, "roc"), key);
}

bool bdml_has_roc(const json_t *run)
{
    const json_t *first = json_array_get(json_object_get(run, "methods"), 0);
    return json_array_size(rates(first, "false_positive")) > 1;
}

bdml_status bdml_draw_roc(const json_t *run, bdml_drawing *d)
{
    size_t i;
    json_t *method;
    bdml_plot_panel *panel = bdml_drawing_panel(d);
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        const json_t *x = rates(method, "false_positive"), *y = rates(method, "true_positive");
        bdml_plot_series *s =
            bdml_drawing_series(d, BDML_PLOT_LINE, (int64_t)json_array_size(x), false);
        if (!s) return BDML_ERR_MEMORY;
        for (size_t k = 0; k < json_array_size(x); k++) {
            bdml_series_x(s)[k] = json_number_value(json_array_get(x, k));
            bdml_series_y(s)[k] = json_number_value(json_array_get(y, k));
        }
        s->colour = (int)i;
        s->title = bdml_drawing_text(d, "%s, AUC %.3f", bdml_json_string(method, "method"),
                                     bdml_json_number(method, "auc"));
    }
    panel->x_label = "different pairs accepted";
    panel->y_label = "same pairs accepted";
    panel->equal = true;
    panel->x_max = panel->y_max = 1.0;
    d->plot.width = 560;
    d->plot.height = 560;
    snprintf(d->alt, sizeof d->alt,
             "ROC curves of %zu methods: share of same pairs accepted against share of different "
             "pairs accepted.",
             i);
    return BDML_OK;
}
