/* figure_unseen.c - what the cap is for: recall@1 and mAP@R on the classes trained on and on the others against K, and
 * where both stood before anything was learned. */
#include "report/figures.h"

static const char *const scope_name[] = {"seen", "unseen"};

/* What was split into seen and unseen: classes, rows or queries. */
static const char *split_of(const json_t *run)
{
    const char *protocol = client_string(run, "protocol");
    return *protocol ? protocol : "classes";
}

/* Has the entrant a K of its own, and figures? */
static bool of_grid(const json_t *row)
{
    return !isnan(client_real(row, "distortion")) && json_is_object(json_object_get(row, "unseen"));
}

static int64_t grid_size(const json_t *run)
{
    int64_t n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "methods"), i, row) n += of_grid(row);
    return n;
}

bool study_has_unseen(const json_t *run)
{
    return grid_size(run) > 0;
}

/* The measures drawn, a panel each. */
static const struct {
    const char *key, *label;
} measures[] = {{"recall_at_1", "recall@1, %"}, {"map_at_r", "mAP@R, %"}};
enum { MEASURES = sizeof measures / sizeof *measures };

static const json_t *figure_of(const json_t *row, int scope, int measure)
{
    return json_object_get(json_object_get(row, scope_name[scope]), measures[measure].key);
}

/* A measure against K. The bars are those of the paired difference to the space as it is: levels differ much more
 * from split to split than what learning adds to them. */
static study_plot_series *draw_curve(const json_t *run, int scope, int measure, study_drawing *d)
{
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_ERROR_BARS, grid_size(run), true);
    size_t i, at = 0;
    json_t *row;
    if (!s) return NULL;
    s->title = study_drawing_text(d, "%s %s", scope_name[scope], split_of(run));
    s->colour = scope;
    json_array_foreach(json_object_get(run, "methods"), i, row)
    {
        if (!of_grid(row)) continue;
        const json_t *f = figure_of(row, scope, measure);
        double mean = client_real(f, "mean");
        double se = client_real(json_object_get(f, "versus"), "standard_error_corrected");
        if (isnan(se)) se = 0.0; /* one split */
        study_series_x(s)[at] = client_real(row, "distortion");
        study_series_y(s)[at] = mean;
        ((double *)s->low)[at] = mean - se;
        ((double *)s->high)[at] = mean + se;
        at++;
    }
    return s;
}

/* A level line from the first K to the last, at the first entrant: the space as it is. */
static bdml_status draw_base(const json_t *run, int scope, int measure,
                             const study_plot_series *curve, study_drawing *d)
{
    const json_t *base = json_array_get(json_object_get(run, "methods"), 0);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_GUIDE, 2, false);
    if (!s) return BDML_ERR_MEMORY;
    s->colour = scope;
    for (int k = 0; k < 2; k++) {
        study_series_x(s)[k] = curve->x[k == 0 ? 0 : curve->n - 1];
        study_series_y(s)[k] = client_real(figure_of(base, scope, measure), "mean");
    }
    return BDML_OK;
}

static bdml_status draw_panel(const json_t *run, int measure, study_drawing *d,
                              const study_plot_series *curve[2])
{
    study_plot_panel *panel = study_drawing_panel(d);
    for (int scope = 0; scope < 2; scope++)
        if (!(curve[scope] = draw_curve(run, scope, measure, d))) return BDML_ERR_MEMORY;
    for (int scope = 0; scope < 2; scope++) TRY(draw_base(run, scope, measure, curve[scope], d));
    panel->x_label = "distortion cap K";
    panel->y_label = measures[measure].label;
    panel->log_x = true;
    return BDML_OK;
}

bdml_status study_draw_unseen(const json_t *run, study_drawing *d)
{
    const study_plot_series *curve[MEASURES][2];
    for (int m = 0; m < MEASURES; m++) TRY(draw_panel(run, m, d, curve[m]));
    d->plot.title = study_drawing_text(
        d,
        "%s: %s trained on, and others; bars: s.e. of the difference to the space as it is, dashed",
        client_base_name(client_string(run, "data")), split_of(run));
    const study_plot_series *seen = curve[0][0], *unseen = curve[0][1];
    int64_t last = seen->n - 1;
    client_format(
        d->alt, sizeof d->alt,
        "Recall@1 and mAP@R against the distortion cap K, from %g to %g: recall@1 on the "
        "%s trained on goes from %.1f %% to %.1f %%, on those not seen from %.1f %% to %.1f %%.",
        seen->x[0], seen->x[last], split_of(run), seen->y[0], seen->y[last], unseen->y[0],
        unseen->y[last]);
    return BDML_OK;
}
