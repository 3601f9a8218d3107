/* figure_view.c - the points in the two directions in which they vary most, before and after the metric. */
#include "report/figures.h"

bool study_has_view(const json_t *run)
{
    return json_is_object(json_object_get(run, "view"));
}

enum { MOST_CLASSES = 32 };            /* those beyond share the last entry of the key */
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

/* "row 18, class grass", and on lines of their own the values of the features that matter most. */
bdml_status study_view_notes(study_drawing *d, const json_t *view)
{
    const json_t *row = json_object_get(view, "row"), *names = json_object_get(view, "feature");
    TRY(study_drawing_notes(d, (int64_t)json_array_size(row)));
    for (size_t i = 0; i < json_array_size(row); i++) {
        json_int_t class = json_integer_value(json_array_get(json_object_get(view, "class"), i));
        const char *label = json_string_value(
            json_array_get(json_object_get(view, "classes"), (size_t)MAX(class, 0)));
        char *note = study_drawing_note(d, (int64_t)i);
        client_format(note, DRAWING_NOTE, "row %lld%s%s",
                      (long long)json_integer_value(json_array_get(row, i)),
                      label ? ", class " : "", label ? label : "");
        const json_t *values = json_array_get(json_object_get(view, "value"), i);
        for (size_t k = 0; k < MIN(json_array_size(names), DRAWING_NOTE); k++) {
            const char *name = json_string_value(json_array_get(names, k));
            client_append(note, DRAWING_NOTE, "\n%s %.4g", name ? name : "?",
                          json_number_value(json_array_get(values, k)));
        }
    }
    return BDML_OK;
}

/* The points of one class: `class`, or where it is the last shown all from there on. */
static bdml_status scatter(study_drawing *d, const json_t *view, const json_t *points, int class,
                           bool rest, const char *title)
{
    const json_t *label = json_object_get(view, "class");
    /* A changed file may have more points than rows, and so than notes. */
    size_t n = MIN(json_array_size(points), json_array_size(json_object_get(view, "row")));
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_POINTS, (int64_t)n, false);
    if (!s) return BDML_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_array_get(points, i);
        json_int_t y = json_integer_value(json_array_get(label, i));
        bool in = y == class || (rest && y > class);
        study_series_x(s)[i] = in ? json_number_value(json_array_get(p, 0)) : (double)NAN;
        study_series_y(s)[i] = in ? json_number_value(json_array_get(p, 1)) : (double)NAN;
    }
    bool again = class / STUDY_PLOT_COLOURS % 2 == 1;
    s->colour = class % STUDY_PLOT_COLOURS + (again ? STUDY_PLOT_HOLLOW : 0);
    s->title = title;
    s->note = d->note;
    return BDML_OK;
}

study_plot_panel *study_view_panel(study_drawing *d, const json_t *view, const json_t *cloud,
                                   const char *id, const char *title)
{
    const json_t *names = json_object_get(view, "classes"),
                 *share = json_object_get(cloud, "share"),
                 *points = json_object_get(cloud, "points");
    int classes = (int)json_array_size(names), shown = MAX(1, MIN(classes, MOST_CLASSES));
    study_plot_panel *panel = study_drawing_panel(d);
    panel->id = id;
    panel->title = title;
    panel->equal = is_compact(points);
    panel->robust = FAR_OUT;
    panel->x_label = study_drawing_text(d, "direction of largest variance, %.0f %% of all",
                                        100.0 * json_number_value(json_array_get(share, 0)));
    panel->y_label = study_drawing_text(d, "of second largest, %.0f %%",
                                        100.0 * json_number_value(json_array_get(share, 1)));
    for (int k = 0; k < shown; k++) {
        bool rest = k == shown - 1 && classes > shown;
        const char *name = json_string_value(json_array_get(names, (size_t)k));
        if (scatter(d, view, points, k, rest, rest ? "other classes" : name) != BDML_OK)
            return NULL;
    }
    return panel;
}

json_t *study_cloud_data(const json_t *view)
{
    static const char *const same[] = {"row", "rows", "class", "classes"};
    static const char *const clouds[] = {"before", "after"};
    json_t *o = json_object();
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        json_object_set(o, same[k], json_object_get(view, same[k]));
    for (size_t k = 0; k < sizeof clouds / sizeof *clouds; k++)
        json_object_set(o, clouds[k],
                        json_object_get(json_object_get(view, clouds[k]), "neighbors"));
    return o;
}

static json_t *view_data(const json_t *run)
{
    return study_cloud_data(json_object_get(run, "view"));
}

bdml_status study_draw_view(const json_t *run, study_drawing *d)
{
    const json_t *view = json_object_get(run, "view");
    TRY(study_view_notes(d, view));
    if (!study_view_panel(d, view, json_object_get(view, "before"), "before", "as prepared") ||
        !study_view_panel(d, view, json_object_get(view, "after"), "after",
                          "under the learned metric"))
        return BDML_ERR_MEMORY;
    d->page_data = view_data;
    client_format(
        d->alt, sizeof d->alt,
        "%zu points of %zu classes in their two leading principal directions: left as prepared, "
        "right mapped by L.",
        json_array_size(json_object_get(view, "row")),
        json_array_size(json_object_get(view, "classes")));
    return BDML_OK;
}
