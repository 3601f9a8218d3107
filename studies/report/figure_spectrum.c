/* figure_spectrum.c - eigenvalues of M, largest first; and how the bracket on the optimum closed. */
#include "report/figures.h"

/* What rounding leaves of zero has no place on a logarithmic axis. */
static const double NOTHING = 1e-14;

const json_t *study_relative_spectrum(const json_t *run)
{
    const json_t *spectrum = json_object_get(run, "spectrum");
    const json_t *relative = json_object_get(spectrum, "relative_to_reference");
    return relative ? relative : json_object_get(spectrum, "eigenvalues");
}

bool study_has_spectrum(const json_t *run)
{
    return json_array_size(json_object_get(json_object_get(run, "spectrum"), "eigenvalues")) > 0;
}

/* *ratio: largest over smallest eigenvalue that is not nothing. */
static bdml_status curve_of(study_drawing *d, const json_t *list, const char *title, int colour,
                            double *ratio)
{
    size_t i;
    json_t *v;
    double first = json_number_value(json_array_get(list, 0)), last = first;
    study_plot_series *s =
        study_drawing_series(d, STUDY_PLOT_LINE_POINTS, (int64_t)json_array_size(list), false);
    if (!s) return BDML_ERR_MEMORY;
    json_array_foreach(list, i, v)
    {
        double lambda = json_number_value(v) / first;
        study_series_x(s)[i] = (double)i + 1.0;
        study_series_y(s)[i] = lambda > NOTHING ? lambda : (double)NAN;
        if (lambda > NOTHING) last = lambda;
    }
    *ratio = 1.0 / last;
    s->title = title;
    s->colour = colour;
    return BDML_OK;
}

bdml_status study_draw_spectrum(const json_t *run, study_drawing *d)
{
    const json_t *spectrum = json_object_get(run, "spectrum");
    const json_t *relative = json_object_get(spectrum, "relative_to_reference");
    double ratio = 1.0, second = 1.0;
    study_plot_panel *panel = study_drawing_panel(d);
    bool none = strcmp(client_string(run, "reference"), "none") == 0;
    TRY(curve_of(d, json_object_get(spectrum, "eigenvalues"),
                 none ? "on the prepared points, which are the reference"
                      : "on the prepared points",
                 relative ? 7 : 0, &ratio));
    if (relative) TRY(curve_of(d, relative, "relative to the reference", 0, &second));
    panel->x_label = "eigenvalue number";
    panel->y_label = "eigenvalue of M over the largest";
    panel->log_y = MAX(ratio, second) > 10.0;
    client_format(d->alt, sizeof d->alt,
                  "Eigenvalues of M over the largest: the smallest is %.3g on the prepared points",
                  1.0 / ratio);
    if (relative)
        client_append(d->alt, sizeof d->alt,
                      ", %.3g relative to the reference, where distortion is capped", 1.0 / second);
    return BDML_OK;
}

/* ---- convergence -------------------------------------------------------------------------------------- */

static const double EARLY =
    0.1; /* share of the bounds that sets no limits: the first may be far off */

bool study_has_history(const json_t *run)
{
    return json_array_size(json_object_get(json_object_get(run, "history"), "iteration")) > 1;
}

static study_plot_series *curve(study_drawing *d, const json_t *history, const char *key,
                                int colour)
{
    const json_t *x = json_object_get(history, "iteration"), *y = json_object_get(history, key);
    size_t n = json_array_size(x);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_LINE_POINTS, (int64_t)n, false);
    if (!s) return NULL;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(y, i);
        study_series_x(s)[i] = json_number_value(json_array_get(x, i));
        study_series_y(s)[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
    s->title = study_drawing_text(d, "%s bound", key);
    s->colour = colour;
    return s;
}

bdml_status study_draw_history(const json_t *run, study_drawing *d)
{
    const json_t *history = json_object_get(run, "history");
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *upper = curve(d, history, "upper", 0),
                      *lower = curve(d, history, "lower", 1);
    if (!upper || !lower) return BDML_ERR_MEMORY;
    panel->robust = EARLY;
    panel->x_label = "iterations";
    panel->y_label = "objective";
    client_format(
        d->alt, sizeof d->alt,
        "The bracket on the optimum against iterations of the solver; it ends at [%.6g, %.6g].",
        lower->y[lower->n - 1], upper->y[upper->n - 1]);
    return BDML_OK;
}
