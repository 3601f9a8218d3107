/* report.h - pictures and pages of results.
 *
 * A plot is data: panels beside each other, each with its series, marks and axes. svg.c draws a panel, plot.c makes
 * files of plots (PNG and PDF by convert.c). A figure (figure.c) is a plot made of the result of a command, a page
 * (page.c) is one HTML file with all that such results hold. Called by the command; a client of bdml.h. */
#ifndef BDML_REPORT_H
#define BDML_REPORT_H

#include "client.h"

typedef enum study_plot_style {
    STUDY_PLOT_LINE,
    STUDY_PLOT_POINTS,
    STUDY_PLOT_LINE_POINTS,
    STUDY_PLOT_ERROR_BARS, /* line, points and a bar from low to high */
    STUDY_PLOT_BAND,       /* the area from low to high */
    STUDY_PLOT_BARS,       /* points and a bar along x, from low to high */
    STUDY_PLOT_COLUMNS,    /* bars along x, from 0 */
    STUDY_PLOT_THIN,       /* a thin line: wire frames */
    STUDY_PLOT_GUIDE       /* a thin dashed line to compare with, which sets no limits */
} study_plot_style;

/* Colours beside 0 .. 7: one that stands back; and 0 .. 7 a second time, points hollow. */
enum { STUDY_PLOT_COLOURS = 8, STUDY_PLOT_FAINT = 8, STUDY_PLOT_HOLLOW = 16 };

/* n points; those with a coordinate that is not finite are left out, and a line is broken there. */
typedef struct study_plot_series {
    const char *title; /* in the key; NULL = not there */
    study_plot_style style;
    int colour; /* 0 .. 7, of a palette that colour-blind readers can tell apart; or one of those above */
    int64_t n;
    const double *x, *y;
    const double *low, *high; /* error bars and bands; else NULL */
    const char *const *note; /* what each point says when it is pointed at; NULL: its coordinates */
} study_plot_series;

/* 'x' or 'y' where the style has a range and low and high are there; else 0. */
int study_plot_ranges_along(const study_plot_series *s);

/* A dashed upright line with a few words. */
typedef struct study_plot_mark {
    double x;
    const char *label; /* or NULL */
} study_plot_mark;

typedef struct study_plot_panel {
    const char *title, *x_label, *y_label; /* NULL = none */
    bool log_x, log_y;
    bool equal;                        /* one unit is as long on both axes: maps, ellipses */
    double x_min, x_max, y_min, y_max; /* range; both the same: by the data */
    double robust;                     /* this share at both ends sets no limits; 0: all do */
    bool x_from_zero, y_from_zero;
    bool bare;               /* no axes, ticks or grid: a picture */
    int name_count;          /* y = 1 .. name_count, from the top, have names instead of numbers, */
    const char *const *name; /* when there are any */
    const char *id;          /* by which the script of a page finds the panel; or NULL */
    int series_count, mark_count;
    const study_plot_series *series;
    const study_plot_mark *mark;
} study_plot_panel;

typedef struct study_plot {
    const char *title; /* or NULL */
    int width,
        height;  /* of the drawing, to which letters have their size; 0 = by the number of panels */
    int pixels;  /* across a file; 0: as the drawing, a PNG twice that */
    int columns; /* panels beside each other; 0 = all in a row */
    int panel_count;
    const study_plot_panel *panel;
} study_plot;

/* BDML_ERR_ARGUMENT unless the name ends in .svg, .png or .pdf: to be told before the work begins. */
bdml_status study_plot_check_name(bdml_handle *h, const char *path);
/* Draw. The file appears whole or not at all. Where a PNG or PDF is asked for and rsvg-convert is not installed
 * nothing is drawn, the log is told which package to install, and *drawn is false: a picture missing spoils no
 * result. */
bdml_status study_plot_write(bdml_handle *h, const study_plot *plot, const char *path, bool *drawn);

/* Make of the file `svg` a picture "png" or "pdf" and write it to the descriptor `out` (convert.c). */
bdml_status study_convert(bdml_handle *h, FILE *svg, const char *format, int out, bool *found);

/* ---- figures (figure.c) -------------------------------------------------------------------------------- */

typedef struct study_figure {
    const char *name, *help;
    const char *made_of; /* the commands whose --json it is made of */
} study_figure;

const study_figure *study_figure_at(int i); /* NULL past the end */
bool study_figure_there(const char *name, const json_t *run);
/* BDML_ERR_DATA when the result has nothing to draw it from. pixels: as of a plot. */
bdml_status study_figure_write(bdml_handle *h, const char *name, const json_t *run,
                               const char *path, int pixels, bool *drawn);
/* Into a page: panels and key (html.c). */
bdml_status study_figure_html(bdml_handle *h, const char *name, const json_t *run,
                              const char *caption, FILE *f);

/* Eigenvalues of the three ellipsoids of the figure of that name (figure_ellipsoids.c). */
extern const double study_ellipsoids[3][3];

/* ---- page (page.c) ---------------------------------------------------------------------------------------- */

/* One self-contained HTML page about the results in `runs`, an array of objects as --json prints them. */
bdml_status study_page_write(bdml_handle *h, const json_t *runs, const char *path);

#endif
