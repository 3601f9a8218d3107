/* figures.h - pictures made of the results of commands (their --json), and what they share. Private to
 * report, but for the table of figures in report.h. */
#ifndef BDML_FIGURES_H
#define BDML_FIGURES_H

#include <jansson.h>

#include "report/read.h"
#include "report/report.h"

/* ---- a plot with all that it points to --------------------------------------------------------------- */

enum { DRAWING_PANELS = 4, DRAWING_SERIES = 64, DRAWING_TEXTS = 96, DRAWING_TEXT = 128 };

typedef struct bdml_drawing {
    bdml_handle *h;
    bdml_plot plot;
    bdml_plot_panel panel[DRAWING_PANELS];
    bdml_plot_series series[DRAWING_SERIES];
    bdml_plot_mark mark[DRAWING_PANELS];
    double *array[4 * DRAWING_SERIES];
    char text[DRAWING_TEXTS][DRAWING_TEXT];
    const char *name[DRAWING_TEXTS];
    int series_count, arrays, texts;
    char alt[512]; /* what the picture shows, in words */
} bdml_drawing;

/* A new panel, to be filled in; its series follow by drawing_series. */
bdml_plot_panel *bdml_drawing_panel(bdml_drawing *d);
/* A series of n points in the newest panel, with room for x and y (and low and high where `range`);
 * NULL: no memory, or no room for more series. Set title and colour after. */
bdml_plot_series *bdml_drawing_series(bdml_drawing *d, bdml_plot_style style, int64_t n,
                                      bool range);
const char *bdml_drawing_text(bdml_drawing *d, const char *fmt, ...) BDML_PRINTF(2, 3);

/* Coordinates of a series that was made by bdml_drawing_series. */
static inline double *bdml_series_x(const bdml_plot_series *s)
{
    return (double *)s->x;
}
static inline double *bdml_series_y(const bdml_plot_series *s)
{
    return (double *)s->y;
}

/* ---- one function a figure --------------------------------------------------------------------------------- */

bool bdml_has_errors(const json_t *run);
bdml_status bdml_draw_errors(const json_t *run, bdml_drawing *d);
bool bdml_has_path(const json_t *run);
bdml_status bdml_draw_path(const json_t *run, bdml_drawing *d);
bool bdml_has_spectrum(const json_t *run);
bdml_status bdml_draw_spectrum(const json_t *run, bdml_drawing *d);
/* Eigenvalues, largest first, where distortion is capped: relative to the reference if there is one. */
const json_t *bdml_relative_spectrum(const json_t *run);
bool bdml_has_history(const json_t *run);
bdml_status bdml_draw_history(const json_t *run, bdml_drawing *d);
bool bdml_has_view(const json_t *run);
bdml_status bdml_draw_view(const json_t *run, bdml_drawing *d);
bdml_status bdml_draw_ellipsoids(const json_t *run, bdml_drawing *d);
bool bdml_has_roc(const json_t *run);
bdml_status bdml_draw_roc(const json_t *run, bdml_drawing *d);

#endif
