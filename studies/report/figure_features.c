/* figure_features.c - which features matter: the weight that M gives to each. */
#include "report/figures.h"

enum { MOST_FEATURES = 20 };

static const json_t *about(const json_t *run, const char *key)
{
    return json_object_get(json_object_get(run, "features_that_matter"), key);
}

bool study_has_features(const json_t *run)
{
    return json_array_size(about(run, "name")) > 0;
}

bdml_status study_draw_features(const json_t *run, study_drawing *d)
{
    int n = (int)MIN(json_array_size(about(run, "name")), MOST_FEATURES);
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_COLUMNS, n, false);
    if (!s) return BDML_ERR_MEMORY;
    client_format(d->alt, sizeof d->alt, "Share of each feature in squared distances, in %%:");
    for (int i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(about(run, "name"), (size_t)i));
        d->name[i] = name ? name : "?";
        study_series_x(s)[i] =
            100.0 * json_number_value(json_array_get(about(run, "weight"), (size_t)i));
        study_series_y(s)[i] = i + 1;
        client_append(d->alt, sizeof d->alt, "%s %s %.1f", i ? "," : "", d->name[i], s->x[i]);
    }
    panel->x_label = "share of squared distances, %";
    panel->x_from_zero = true;
    panel->name_count = n;
    panel->name = d->name;
    d->plot.width = 440;
    d->plot.height = 60 + 20 * n;
    return BDML_OK;
}
