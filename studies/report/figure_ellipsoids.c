/* figure_ellipsoids.c - the paper's Figure 1: ellipsoids { x : x'Mx <= 1 } in three dimensions.
 *
 * (a) and (c) have the same logDet, about 3.5, so the same volume; (b) and (c) the same F-norm, about 7.2;
 * yet their condition numbers differ: what is bounded is the square of the longest axis over the shortest,
 * which neither of the two sees. The paper prints the two values alone; the eigenvalues are ours. Where a
 * spectrum is given a fourth picture shows the learned metric by its largest, middle and smallest
 * eigenvalue relative to its reference, at the volume of the unit ball. */
#include "report/figures.h"

const double study_ellipsoids[3][3] = {
    {20.0, 8.28, 0.2}, /* a: kappa 100 */
    {7.0, 1.66, 0.30}, /* b: kappa 23 */
    {5.0, 5.0, 1.325}, /* c: kappa 3.8 */
};
static const double PI = 3.14159265358979323846;
static const double LYING =
    0.6; /* height over width that an ellipsoid seen from here needs at most */
enum { CIRCLES = 9, MERIDIANS = 12, STEPS = 60 };

/* One picture of an ellipsoid with semi-axes r, seen from the direction of `view`: what faces the viewer
 * (front), or the rest. NaN between the lines. */
static void wireframe(const double r[3], bool front, double *x, double *y)
{
    const double turn = 0.6, tilt = 0.35; /* of the viewer, in radians */
    const double view[3] = {-sin(turn) * cos(tilt), -cos(turn) * cos(tilt), sin(tilt)};
    int at = 0;
    for (int line = 0; line < CIRCLES + MERIDIANS; line++) {
        for (int k = 0; k <= STEPS; k++, at++) {
            bool circle = line < CIRCLES;
            double latitude = circle ? PI * ((line + 1.0) / (CIRCLES + 1.0) - 0.5)
                                     : PI * ((double)k / STEPS - 0.5);
            double longitude =
                circle ? 2.0 * PI * k / STEPS : 2.0 * PI * (line - CIRCLES) / MERIDIANS;
            double u[3] = {cos(latitude) * cos(longitude), cos(latitude) * sin(longitude),
                           sin(latitude)};
            double p[3], facing = 0.0;
            /* the long axis lies across the page; the normal at r*u is u/r */
            for (int j = 0; j < 3; j++) {
                p[j] = r[2 - j] * u[j];
                facing += view[j] * u[j] / r[2 - j];
            }
            bool shown = (facing >= 0.0) == front;
            x[at] = shown ? cos(turn) * p[0] - sin(turn) * p[1] : (double)NAN;
            y[at] = shown ? sin(tilt) * (sin(turn) * p[0] + cos(turn) * p[1]) + cos(tilt) * p[2]
                          : (double)NAN;
        }
        x[at] = y[at] = NAN;
        at++;
    }
}

static bdml_status add(study_drawing *d, const double lambda[3], const char *title, int colour,
                       double reach)
{
    enum { POINTS = (CIRCLES + MERIDIANS) * (STEPS + 2) };
    const double r[3] = {1.0 / sqrt(lambda[0]), 1.0 / sqrt(lambda[1]), 1.0 / sqrt(lambda[2])};
    study_plot_panel *panel = study_drawing_panel(d);
    panel->title = title;
    panel->equal = panel->bare = true;
    panel->x_max = reach;
    panel->y_max = LYING * reach;
    panel->x_min = -panel->x_max;
    panel->y_min = -panel->y_max;
    for (int front = 0; front < 2; front++) {
        study_plot_series *s = study_drawing_series(d, STUDY_PLOT_THIN, POINTS, false);
        if (!s) return BDML_ERR_MEMORY;
        wireframe(r, front == 1, study_series_x(s), study_series_y(s));
        s->colour = front ? colour : STUDY_PLOT_FAINT;
    }
    return BDML_OK;
}

static const char *describe(study_drawing *d, char letter, const double l[3])
{
    return study_drawing_text(d, "(%c) logDet %.1f, F-norm %.1f, ratio %.3g", letter,
                              log(l[0] * l[1] * l[2]),
                              sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]), l[0] / l[2]);
}

/* Largest, middle and smallest positive eigenvalue, scaled to a determinant of 1. */
static bool learned(const json_t *run, double lambda[3])
{
    const json_t *list = study_relative_spectrum(run);
    size_t n = json_array_size(list);
    double first = json_number_value(json_array_get(list, 0));
    while (n > 0 && !(json_number_value(json_array_get(list, n - 1)) > 1e-12 * first)) n--;
    if (n < 2 || !(first > 0.0)) return false;
    lambda[0] = 1.0;
    lambda[1] = json_number_value(json_array_get(list, (n - 1) / 2)) / first;
    lambda[2] = json_number_value(json_array_get(list, n - 1)) / first;
    if (!(lambda[1] <= 1.0 && lambda[1] >= lambda[2]))
        return false; /* not the order of a spectrum */
    double unit = cbrt(lambda[0] * lambda[1] * lambda[2]);
    for (int j = 0; j < 3; j++) lambda[j] /= unit;
    return true;
}

bdml_status study_draw_ellipsoids(const json_t *run, study_drawing *d)
{
    double mine[3];
    for (int k = 0; k < 3; k++)
        TRY(add(d, study_ellipsoids[k], describe(d, (char)('a' + k), study_ellipsoids[k]), k, 2.0));
    bool more = learned(run, mine);
    if (more)
        TRY(add(d, mine, study_drawing_text(d, "learned here: distortion %.3g", mine[0] / mine[2]),
                3, MAX(1.0 / sqrt(mine[2]), 2.0)));
    d->plot.columns = 2;
    d->plot.width = 640;
    d->plot.height = 440;
    client_format(
        d->alt, sizeof d->alt,
        "Ellipsoids x'Mx = 1. (a) and (c) have the same logDet, about 3.5, (b) and (c) the same "
        "F-norm, about 7.2, yet their condition numbers are 100, 23 and 3.8%s",
        more ? "; the fourth is the learned metric." : ".");
    return BDML_OK;
}
