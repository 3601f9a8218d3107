/* drawing.c - a plot that owns its numbers and words. */
#include "report/figures.h"

#include <stdarg.h>
#include <stdlib.h>

study_plot_panel *study_drawing_panel(study_drawing *d)
{
    int k = d->plot.panel_count;
    if (k == DRAWING_PANELS) return NULL;
    d->plot.panel = d->panel;
    d->plot.panel_count++;
    d->panel[k].series = &d->series[d->series_count];
    d->panel[k].mark = &d->mark[k];
    return &d->panel[k];
}

static double *new_array(study_drawing *d, int64_t n)
{
    if (d->arrays == (int)(sizeof d->array / sizeof *d->array)) return NULL;
    double *a = client_alloc(d->h, (size_t)MAX(n, 1), sizeof *a);
    if (a) d->array[d->arrays++] = a;
    return a;
}

study_plot_series *study_drawing_series(study_drawing *d, study_plot_style style, int64_t n,
                                        bool range)
{
    if (d->series_count == DRAWING_SERIES || d->plot.panel_count == 0) {
        client_fail(d->h, BDML_ERR_ARGUMENT, "a figure holds at most %d series", DRAWING_SERIES);
        return NULL;
    }
    study_plot_series *s = &d->series[d->series_count];
    *s = (study_plot_series){.style = style, .n = n};
    s->x = new_array(d, n);
    s->y = new_array(d, n);
    s->low = range ? new_array(d, n) : NULL;
    s->high = range ? new_array(d, n) : NULL;
    if (!s->x || !s->y || (range && (!s->low || !s->high))) return NULL;
    d->series_count++;
    d->panel[d->plot.panel_count - 1].series_count++;
    return s;
}

bdml_status study_drawing_notes(study_drawing *d, int64_t n)
{
    d->note_text = client_alloc(d->h, (size_t)MAX(n, 1), DRAWING_NOTE);
    d->note = client_alloc(d->h, (size_t)MAX(n, 1), sizeof *d->note);
    if (!d->note_text || !d->note) return BDML_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++) d->note[i] = study_drawing_note(d, i);
    return BDML_OK;
}

char *study_drawing_note(study_drawing *d, int64_t i)
{
    return d->note_text + i * DRAWING_NOTE;
}

const char *study_drawing_text(study_drawing *d, const char *fmt, ...)
{
    if (d->texts == DRAWING_TEXTS) return "";
    char *text = d->text[d->texts++];
    va_list args;
    va_start(args, fmt);
    client_vformat(text, DRAWING_TEXT, fmt, args);
    va_end(args);
    return text;
}
