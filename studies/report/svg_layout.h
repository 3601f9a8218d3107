/* svg_layout.h - a panel while it is drawn. Private to svg.c and svg_series.c. */
#ifndef BDML_SVG_LAYOUT_H
#define BDML_SVG_LAYOUT_H

#include "report/axis.h"

typedef struct svg_layout {
    FILE *f;
    const study_plot_panel *p;
    study_axis x, y;
    int width, height;
    int64_t beyond; /* points outside the limits */
} svg_layout;

static inline void study_svg_line(const svg_layout *l, double x1, double y1, double x2, double y2)
{
    fprintf(l->f, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>", x1, y1, x2, y2);
}

void study_svg_series(svg_layout *l); /* counts the points that lie beyond */

#endif
