/* svg.h - panels of a plot as SVG. Private to report.
 *
 * Colours, strokes and letters are those of figure.css, which a file carries with it and a page has once; lines and
 * marks take currentColor, so that a page may change them in the dark. For the script of a page a panel says where
 * its numbers lie: data-x and data-y hold "lo hi from to", values at the ends and their pixels, and "log" where the
 * axis is logarithmic; a series has its title in data-s, a point its number in data-i. */
#ifndef BDML_SVG_H
#define BDML_SVG_H

#include "report/report.h"

void study_escape(FILE *f, const char *s); /* text between tags and in attributes */

/* Pixels of a panel of this plot, and how many stand beside each other. */
void study_svg_size(const study_plot *plot, int *columns, int *width, int *height);
/* One panel as an <svg> element of that size at (x, y) of the one around it. alt: in words, or NULL. */
bdml_status study_svg_panel(bdml_handle *h, FILE *f, const study_plot_panel *p, const char *alt,
                            int x, int y, int width, int height);
/* What a series looks like, as a <svg> element of KEY_WIDTH x KEY_HEIGHT. */
enum { KEY_WIDTH = 26, KEY_HEIGHT = 16 };
void study_svg_sample(FILE *f, const study_plot_series *s, int x, int y);
/* Series k of the panel stands in the key: it has a title, and something to show. */
bool study_svg_in_key(const study_plot_series *s);
/* The whole plot as a file of its own, its keys below the panels. */
bdml_status study_svg_write(bdml_handle *h, FILE *f, const study_plot *plot);

extern const char study_figure_style[]; /* figure.css */

#endif
