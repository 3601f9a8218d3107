/* figures.h - pictures made of the results of commands (their --json), and what they share. Private to
 * report, but for the table of figures in report.h. */
#ifndef BDML_FIGURES_H
#define BDML_FIGURES_H

#include "report/report.h"

/* ---- a plot with all that it points to --------------------------------------------------------------- */

enum { DRAWING_PANELS = 4, DRAWING_SERIES = 96, DRAWING_TEXTS = 96, DRAWING_TEXT = 128 };
enum { DRAWING_NOTE = 224 };

typedef struct study_drawing {
    bdml_handle *h;
    study_plot plot;
    study_plot_panel panel[DRAWING_PANELS];
    study_plot_series series[DRAWING_SERIES];
    study_plot_mark mark[DRAWING_PANELS];
    double *array[4 * DRAWING_SERIES];
    char text[DRAWING_TEXTS][DRAWING_TEXT];
    const char *name[DRAWING_TEXTS];
    int series_count, arrays, texts;
    char *note_text;   /* what points say: one note for each number that a point may have, */
    const char **note; /* for all series that show the same points */
    char alt[512];     /* what the picture shows, in words */
    json_t *(*page_data)(
        const json_t *run); /* what the script of a page needs beside it; or NULL */
} study_drawing;

/* A new panel, to be filled in; its series follow by drawing_series. */
study_plot_panel *study_drawing_panel(study_drawing *d);
/* A series of n points in the newest panel, with room for x and y (and low and high where `range`);
 * NULL: no memory, or no room for more series. Set title and colour after. */
study_plot_series *study_drawing_series(study_drawing *d, study_plot_style style, int64_t n,
                                        bool range);
const char *study_drawing_text(study_drawing *d, const char *fmt, ...) CLIENT_PRINTF(2, 3);

/* Room for n notes, once a drawing; note i, DRAWING_NOTE bytes. */
bdml_status study_drawing_notes(study_drawing *d, int64_t n);
char *study_drawing_note(study_drawing *d, int64_t i);

/* Coordinates of a series that was made by study_drawing_series. */
static inline double *study_series_x(const study_plot_series *s)
{
    return (double *)s->x;
}
static inline double *study_series_y(const study_plot_series *s)
{
    return (double *)s->y;
}

/* ---- one function a figure --------------------------------------------------------------------------------- */

bool study_has_errors(const json_t *run);
bdml_status study_draw_errors(const json_t *run, study_drawing *d);
bool study_has_path(const json_t *run);
bdml_status study_draw_path(const json_t *run, study_drawing *d);
bdml_status study_path_errors(study_drawing *d, const json_t *run); /* its first panel alone */
bdml_status study_draw_bracket(const json_t *run, study_drawing *d);
bool study_has_spectrum(const json_t *run);
bdml_status study_draw_spectrum(const json_t *run, study_drawing *d);
/* Eigenvalues, largest first, where distortion is capped: relative to the reference if there is one. */
const json_t *study_relative_spectrum(const json_t *run);
bool study_has_history(const json_t *run);
bdml_status study_draw_history(const json_t *run, study_drawing *d);
bool study_has_view(const json_t *run);
bdml_status study_draw_view(const json_t *run, study_drawing *d);
/* Parts of it: what the points say, and one cloud in the newest panel; NULL: no memory. */
bdml_status study_view_notes(study_drawing *d, const json_t *view);
study_plot_panel *study_view_panel(study_drawing *d, const json_t *view, const json_t *cloud,
                                   const char *id, const char *title);
bool study_has_walk(const json_t *run);
bdml_status study_draw_walk(const json_t *run, study_drawing *d);
bool study_has_features(const json_t *run);
bdml_status study_draw_features(const json_t *run, study_drawing *d);
bdml_status study_draw_ellipsoids(const json_t *run, study_drawing *d);
bool study_has_suspects(const json_t *run);
bdml_status study_draw_suspects(const json_t *run, study_drawing *d);
bool study_has_unseen(const json_t *run);
bdml_status study_draw_unseen(const json_t *run, study_drawing *d);
bool study_has_roc(const json_t *run);
bdml_status study_draw_roc(const json_t *run, study_drawing *d);

/* ---- what a page's script needs beside the picture ------------------------------------------------------------ */

json_t *
study_cloud_data(const json_t *view); /* neighbours before and after, and who the points are */

#endif
