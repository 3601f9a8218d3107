/* figure_walk.c - error, spectrum and points at one K of a path; and the same at every K, for the script of a page
 * that lets K move. */
#include "report/figures.h"

#include <stdlib.h>

static const double WALL = 1.3; /* the frame, in 98 % quantiles of the coordinates */
enum { QUANTILE = 50 };         /* one in fifty lies beyond */

bool study_has_walk(const json_t *run)
{
    return json_array_size(json_object_get(json_object_get(run, "walk"), "step")) > 1;
}

/* The row of the path that belongs to a step. */
static const json_t *row_of(const json_t *run, const json_t *step)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run, "path"), i, row)
    {
        if (client_real(row, "distortion") == client_real(step, "distortion")) return row;
    }
    return NULL;
}

static size_t chosen_step(const json_t *run)
{
    double chosen = client_real(json_object_get(run, "chosen"), "distortion");
    size_t i, at = 0;
    json_t *step;
    json_array_foreach(json_object_get(json_object_get(run, "walk"), "step"), i, step)
    {
        if (client_real(step, "distortion") == chosen) at = i;
    }
    return at;
}

static bdml_status spectrum(study_drawing *d, const json_t *steps, const json_t *step)
{
    const json_t *list = json_object_get(step, "eigenvalue");
    size_t n = json_array_size(list), i;
    study_plot_panel *panel = study_drawing_panel(d);
    study_plot_series *s = study_drawing_series(d, STUDY_PLOT_LINE_POINTS, (int64_t)n, false);
    json_t *v;
    double least = 1.0;
    if (!s) return BDML_ERR_MEMORY;
    for (i = 0; i < n; i++) {
        study_series_x(s)[i] = (double)i + 1.0;
        study_series_y(s)[i] = json_number_value(json_array_get(list, i));
    }
    json_array_foreach(steps, i, v)
    {
        const json_t *all = json_object_get(v, "eigenvalue");
        double last = json_number_value(json_array_get(all, json_array_size(all) - 1));
        if (last > 1e-12) least = MIN(least, last);
    }
    panel->id = "spectrum";
    panel->title = "spectrum relative to the reference";
    panel->x_label = "eigenvalue number";
    panel->y_label = "over the largest";
    panel->log_y = true;
    panel->y_min = MIN(0.5, least) / 1.5; /* the same frame at every K */
    panel->y_max = 1.5;
    return BDML_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half the side of a square that holds nearly all points of every step. */
static bdml_status half_side(study_drawing *d, const json_t *steps, double *out)
{
    size_t count = json_array_size(steps), i, k;
    json_t *step, *p;
    size_t n = json_array_size(json_object_get(json_array_get(steps, 0), "points"));
    double *v = client_alloc(d->h, 2 * n * count + 1, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    size_t used = 0;
    json_array_foreach(steps, i, step)
    {
        json_array_foreach(json_object_get(step, "points"), k, p)
        {
            if (used + 2 > 2 * n * count) break;
            v[used++] = fabs(json_number_value(json_array_get(p, 0)));
            v[used++] = fabs(json_number_value(json_array_get(p, 1)));
        }
    }
    qsort(v, used, sizeof *v, ascending);
    *out = used ? MIN(WALL * v[used - 1 - used / QUANTILE], 1.05 * v[used - 1]) : 1.0;
    if (!(*out > 0.0)) *out = 1.0;
    free(v);
    return BDML_OK;
}

/* ---- for the script --------------------------------------------------------------------------------------- */

static void copy(json_t *to, const char *key, const json_t *from)
{
    json_object_set(to, key, json_object_get(from, key));
}

static json_t *step_data(const json_t *run, const json_t *step)
{
    const json_t *row = row_of(run, step);
    char words[192];
    json_t *o = json_object();
    client_format(words, sizeof words, "K = %g: test error %.2f %%",
                  client_real(step, "distortion"), client_real(row, "test_error"));
    if (!isnan(client_real(row, "test_se")))
        client_append(words, sizeof words, " ± %.2f", client_real(row, "test_se"));
    client_append(words, sizeof words, ", cross-validation %.2f %%, training %.2f %%",
                  client_real(row, "validation_error"), client_real(row, "train_error"));
    json_object_set_new(o, "words", client_text(words));
    copy(o, "kappa", row);
    copy(o, "distortion", step);
    copy(o, "eigenvalue", step);
    copy(o, "points", step);
    copy(o, "share", step);
    copy(o, "neighbors", step);
    return o;
}

static json_t *walk_data(const json_t *run)
{
    const json_t *walk = json_object_get(run, "walk");
    json_t *o = study_cloud_data(walk), *steps = json_array(), *step;
    size_t i;
    json_array_foreach(json_object_get(walk, "step"), i, step)
        json_array_append_new(steps, step_data(run, step));
    json_object_set_new(o, "step", steps);
    json_object_set_new(o, "chosen", json_integer((json_int_t)chosen_step(run)));
    return o;
}

/* ---- the picture ------------------------------------------------------------------------------------------- */

bdml_status study_draw_walk(const json_t *run, study_drawing *d)
{
    const json_t *walk = json_object_get(run, "walk"), *steps = json_object_get(walk, "step");
    const json_t *step = json_array_get(steps, chosen_step(run));
    double side = 1.0, K = client_real(step, "distortion");
    TRY(study_path_errors(d, run));
    d->panel[0].id = "error";
    TRY(spectrum(d, steps, step));
    TRY(study_view_notes(d, walk));
    if (!study_view_panel(d, walk, json_object_get(walk, "before"), "before", "points as prepared"))
        return BDML_ERR_MEMORY;
    study_plot_panel *after =
        study_view_panel(d, walk, step, "after",
                         study_drawing_text(d, "under the metric of K = %g", K));
    if (!after) return BDML_ERR_MEMORY;
    TRY(half_side(d, steps, &side));
    after->equal = true;
    after->x_min = after->y_min = -side;
    after->x_max = after->y_max = side;
    d->plot.columns = 2;
    d->plot.width = 720;
    d->plot.height = 600;
    d->page_data = walk_data;
    client_format(
        d->alt, sizeof d->alt,
        "At K = %g, which cross-validation chose: k-NN error against distortion, eigenvalues of "
        "the metric relative to the reference, and %zu points before and after.",
        K, json_array_size(json_object_get(walk, "row")));
    return BDML_OK;
}
