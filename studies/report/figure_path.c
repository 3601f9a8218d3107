/* figure_path.c - the path over K: error against distortion with the K chosen, and the bracket on the
 * objective. */
#include "report/figures.h"

static const double LOG_FROM = 30.0; /* spread of the objective that a plain axis would hide */
static const char X_LABEL[] = "distortion relative to the reference";

bool study_has_path(const json_t *run)
{
    return json_array_size(json_object_get(run, "path")) > 0;
}

/* A series of one column against the distortion that was reached. */
static study_plot_series *column(study_drawing *d, const json_t *rows, const char *key,
                                 study_plot_style style, const char *title, int colour)
{
    size_t i;
    json_t *row;
    study_plot_series *s = study_drawing_series(d, style, (int64_t)json_array_size(rows),
                                                style == STUDY_PLOT_ERROR_BARS);
    if (!s) return NULL;
    s->title = title;
    s->colour = colour;
    json_array_foreach(rows, i, row)
    {
        study_series_x(s)[i] = client_real(row, "kappa");
        study_series_y(s)[i] = client_real(row, key);
        if (style != STUDY_PLOT_ERROR_BARS) continue;
        double se = client_real(row, "test_se");
        ((double *)s->low)[i] = s->y[i] - (isnan(se) ? 0.0 : se);
        ((double *)s->high)[i] = s->y[i] + (isnan(se) ? 0.0 : se);
    }
    return s;
}

/* Largest over smallest of the finite values, 1 when one is not positive. */
static double spread(const study_plot_series *s)
{
    double lo = INFINITY, hi = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        if (!isfinite(s->y[i])) continue;
        lo = MIN(lo, s->y[i]);
        hi = MAX(hi, s->y[i]);
    }
    return lo > 0.0 && hi > 0.0 ? hi / lo : 1.0;
}

static double chosen_kappa(const json_t *run)
{
    double chosen = client_real(json_object_get(run, "chosen"), "distortion"), at = NAN;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "path"), i, row)
    {
        if (client_real(row, "distortion") == chosen) at = client_real(row, "kappa");
    }
    return at;
}

bdml_status study_path_errors(study_drawing *d, const json_t *run)
{
    const json_t *rows = json_object_get(run, "path");
    double chosen = client_real(json_object_get(run, "chosen"), "distortion");
    study_plot_panel *panel = study_drawing_panel(d);
    if (!column(d, rows, "test_error", STUDY_PLOT_ERROR_BARS, "test ± s.e.", 0) ||
        !column(d, rows, "validation_error", STUDY_PLOT_LINE_POINTS, "cross-validation", 1) ||
        !column(d, rows, "train_error", STUDY_PLOT_LINE_POINTS, "training", 7))
        return BDML_ERR_MEMORY;
    panel->title = "error against distortion";
    panel->x_label = X_LABEL;
    panel->y_label = study_drawing_text(d, "%g-NN error, %%", client_real(run, "neighbors"));
    panel->log_x = true;
    *(study_plot_mark *)panel->mark =
        (study_plot_mark){chosen_kappa(run), study_drawing_text(d, "least error, K = %g", chosen)};
    panel->mark_count = 1;
    return BDML_OK;
}

bdml_status study_draw_bracket(const json_t *run, study_drawing *d)
{
    const json_t *rows = json_object_get(run, "path");
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *upper = column(d, rows, "upper", STUDY_PLOT_LINE_POINTS, "upper end", 2);
    if (!upper || !column(d, rows, "lower", STUDY_PLOT_LINE, "lower end", 6))
        return BDML_ERR_MEMORY;
    panel->title = "bracket on the optimum";
    panel->x_label = X_LABEL;
    panel->y_label = "objective";
    panel->log_x = true;
    panel->log_y = spread(upper) > LOG_FROM;
    client_format(d->alt, sizeof d->alt, "The proven bracket on the optimum at each K.");
    return BDML_OK;
}

bdml_status study_draw_path(const json_t *run, study_drawing *d)
{
    const char *verdict = client_string(json_object_get(run, "shape"), "verdict");
    double chosen = client_real(json_object_get(run, "chosen"), "distortion");

    d->plot.title = study_drawing_text(d, "%s: test error %s with distortion",
                                       client_base_name(client_string(run, "data")), verdict);
    TRY(study_path_errors(d, run));
    TRY(study_draw_bracket(run, d));
    client_format(
        d->alt, sizeof d->alt,
        "Left: k-NN error against the distortion relative to the reference; the test error %s; "
        "cross-validation errs least at K = %g. Right: the proven bracket on the optimum at each "
        "K.",
        verdict, chosen);
    return BDML_OK;
}
