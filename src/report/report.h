/* report.h - pictures: series of numbers in panels, drawn by gnuplot.
 *
 * A plot is data: panels beside each other, each with its series, marks and axes. plot.c writes it down
 * as a gnuplot script, gnuplot.c runs gnuplot. Called by the command; calls base. */
#ifndef BDML_REPORT_H
#define BDML_REPORT_H

#include "base/base.h"

typedef enum bdml_plot_style {
    BDML_PLOT_LINE,
    BDML_PLOT_POINTS,
    BDML_PLOT_LINE_POINTS,
    BDML_PLOT_ERROR_BARS, /* line, points and a bar from low to high */
    BDML_PLOT_BAND        /* the area from low to high */
} bdml_plot_style;

/* n points; those with a coordinate that is not finite are left out. */
typedef struct bdml_plot_series {
    const char *title; /* in the key; NULL = not there */
    bdml_plot_style style;
    int colour; /* 0 .. 7, of a palette that colour-blind readers can tell apart */
    int64_t n;
    const double *x, *y;
    const double *low, *high; /* error bars and bands; else NULL */
} bdml_plot_series;

/* A dashed upright line with a few words. */
typedef struct bdml_plot_mark {
    double x;
    const char *label; /* or NULL */
} bdml_plot_mark;

typedef struct bdml_plot_panel {
    const char *title, *x_label, *y_label; /* NULL = none */
    bool log_x, log_y;
    bool equal;                        /* one unit is as long on both axes: maps, ellipses */
    double x_min, x_max, y_min, y_max; /* range; both the same: by the data */
    int series_count, mark_count;
    const bdml_plot_series *series;
    const bdml_plot_mark *mark;
} bdml_plot_panel;

typedef struct bdml_plot {
    const char *title; /* or NULL */
    int width, height; /* in pixels; 0 = by the number of panels */
    int columns;       /* panels beside each other; 0 = all in a row */
    int panel_count;
    const bdml_plot_panel *panel;
} bdml_plot;

/* BDML_ERR_ARGUMENT unless the name ends in .svg, .png or .pdf: to be told before the work begins. */
bdml_status bdml_plot_check_name(bdml_handle *h, const char *path);
/* Draw. The file appears whole or not at all. Where gnuplot is not installed nothing is drawn, the log
 * is told which package to install, and *drawn is false: a picture missing spoils no result. */
bdml_status bdml_plot_write(bdml_handle *h, const bdml_plot *plot, const char *path, bool *drawn);

/* Feed the file `script` to gnuplot and what it writes on its standard output to the descriptor `out`
 * (gnuplot.c). */
bdml_status bdml_gnuplot_run(bdml_handle *h, FILE *script, int out, bool *found);

#endif
