/* figure_roc.c - share of same pairs accepted against share of different pairs accepted. */
#include "report/figures.h"

static const json_t *curve_of(const json_t *method)
{
    return json_object_get(method, "roc");
}

bool bdml_has_roc(const json_t *run)
{
    return json_array_size(curve_of(json_array_get(json_object_get(run, "methods"), 0))) > 1;
}

bdml_status bdml_draw_roc(const json_t *run, bdml_drawing *d)
{
    size_t i, k;
    json_t *method, *point;
    bdml_plot_panel *panel = bdml_drawing_panel(d);
    json_array_foreach(json_object_get(run, "methods"), i, method)
    {
        const json_t *roc = curve_of(method);
        bdml_plot_series *s =
            bdml_drawing_series(d, BDML_PLOT_LINE, (int64_t)json_array_size(roc), false);
        if (!s) return BDML_ERR_MEMORY;
        json_array_foreach(roc, k, point)
        {
            bdml_series_x(s)[k] = json_number_value(json_array_get(point, 0));
            bdml_series_y(s)[k] = json_number_value(json_array_get(point, 1));
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
