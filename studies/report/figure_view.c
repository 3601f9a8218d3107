/* figure_view.c - the points in the two directions in which they vary most, before and after the metric. */
#include "report/figures.h"

bool study_has_view(const json_t *run)
{
    return json_is_object(json_object_get(run, "view"));
}

enum { COLOURS = 8 };
static const double EQUAL_UP_TO = 4.0; /* wider than so times its height, a map is a line */
static const double FAR_OUT = 0.02;    /* share of the points at either end that sets no limits */

static bool is_compact(const json_t *points)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    size_t i;
    json_t *p;
    json_array_foreach(points, i, p)
    {
        for (size_t k = 0; k < 2; k++) {
            double v = json_number_value(json_array_get(p, k));
            lo[k] = MIN(lo[k], v);
            hi[k] = MAX(hi[k], v);
        }
    }
    return hi[0] - lo[0] <= EQUAL_UP_TO * (hi[1] - lo[1]);
}

/* The points of one class (or -1: all) in one of the two pictures. */
static bdml_status scatter(study_drawing *d, const json_t *view, const char *side, int class,
                           const char *title)
{
    const json_t *points = json_object_get(view, side), *label = json_object_get(view, "class");
    size_t n = json_array_size(points);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_POINTS, (int64_t)n, false);
    if (!s) return BDML_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_array_get(points, i);
        bool in = class < 0 || json_integer_value(json_array_get(label, i)) == class;
        study_series_x(s)[i] = in ? json_number_value(json_array_get(p, 0)) : (double)NAN;
        study_series_y(s)[i] = in ? json_number_value(json_array_get(p, 1)) : (double)NAN;
    }
    s->colour = class < 0 ? 0 : class % COLOURS;
    s->title = title;
    return BDML_OK;
}

static bdml_status one_side(study_drawing *d, const json_t *view, const char *side,
                            const char *title)
{
    const json_t *names = json_object_get(view, "classes");
    size_t classes = json_array_size(names);
    study_plot_panel *panel = study_drawing_panel(d);
    panel->title = title;
    panel->equal = is_compact(json_object_get(view, side));
    panel->robust = FAR_OUT;
    panel->x_label = "direction of largest variance";
    panel->y_label = "of second largest variance";
    if (classes == 0) return scatter(d, view, side, -1, NULL);
    /* more classes than a key can hold: the colours repeat, the key is left out */
    size_t shown = MIN(classes, (size_t)(DRAWING_SERIES / 2));
    for (size_t c = 0; c < shown; c++)
        TRY(scatter(d, view, side, (int)c,
                    classes <= COLOURS ? json_string_value(json_array_get(names, c)) : NULL));
    return BDML_OK;
}

bdml_status study_draw_view(const json_t *run, study_drawing *d)
{
    const json_t *view = json_object_get(run, "view");
    TRY(one_side(d, view, "before", "prepared points"));
    TRY(one_side(d, view, "after", "under the learned metric"));
    snprintf(
        d->alt, sizeof d->alt,
        "%zu points of %zu classes in their two leading principal directions: left as prepared, "
        "right mapped by L.",
        json_array_size(json_object_get(view, "before")),
        json_array_size(json_object_get(view, "classes")));
    return BDML_OK;
}
