/* curves.c - several curves over the same x in one panel. */
#include "cli.h"

#include "report/report.h"

enum { MOST_SERIES = 8 };

bdml_status cli_curves_write(cli *c, const cli_curves *p, const char *path)
{
    study_plot_series series[MOST_SERIES];
    int count = MIN(p->series, MOST_SERIES);
    bool drawn;
    for (int s = 0; s < count; s++)
        series[s] = (study_plot_series){.title = p->name[s],
                                        .style = STUDY_PLOT_LINE_POINTS,
                                        .colour = s,
                                        .n = p->points,
                                        .x = p->x,
                                        .y = p->y + (size_t)s * (size_t)p->points};
    study_plot_panel panel = {.x_label = p->x_label,
                              .y_label = p->y_label,
                              .log_x = p->log_x,
                              .log_y = p->log_y,
                              .series_count = count,
                              .series = series};
    study_plot plot = {.title = p->title, .panel_count = 1, .panel = &panel};
    return study_plot_write(c->h, &plot, path, &drawn);
}
