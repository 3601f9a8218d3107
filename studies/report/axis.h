/* axis.h - an axis of a panel: what part of the numbers it shows, where they lie in the picture, and its ticks.
 * Private to report. */
#ifndef BDML_AXIS_H
#define BDML_AXIS_H

#include "report/report.h"

enum { AXIS_TICKS = 24, AXIS_LABEL = 16 };

typedef struct study_axis {
    double lo, hi;   /* values at the ends */
    double from, to; /* and where these lie, in pixels */
    bool log;
    int ticks;
    double tick[AXIS_TICKS];
    char label[AXIS_TICKS][AXIS_LABEL];
} study_axis;

/* Limits of the axis along x (else y) of a panel: those given, else by the data, without the few that lie far
 * out where the panel asks for that. */
bdml_status study_axis_limits(bdml_handle *h, const study_plot_panel *p, bool along_x,
                              study_axis *a);
/* Round numbers between the ends, whose labels do not touch; from and to are known. */
void study_axis_ticks(study_axis *a, bool along_x);

/* A number that a picture shows: finite, and its square too; on a logarithmic axis no smaller than such a one. Others
 * are left out, as what is not finite is. */
bool study_axis_takes(bool log, double v);
double study_axis_at(const study_axis *a, double v); /* in pixels, some thousands at most */
bool study_axis_holds(const study_axis *a, double v);
double study_text_width(const char *text, double size); /* about, in pixels */

#endif
