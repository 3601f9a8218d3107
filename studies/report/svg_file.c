/* svg_file.c - a plot as an SVG file of its own: panels in a grid, below each its key. */
#include "report/axis.h"
#include "report/svg.h"

enum { PANEL_WIDTH = 440, PANEL_HEIGHT = 320, TITLE_HEIGHT = 34 };
enum { LETTER = 12, KEY_LINE = 20, KEY_GAP = 14 };

void study_svg_size(const study_plot *plot, int *columns, int *width, int *height)
{
    *columns = plot->columns > 0 ? MIN(plot->columns, plot->panel_count) : plot->panel_count;
    int rows = (plot->panel_count + *columns - 1) / *columns;
    *width = plot->width > 0 ? plot->width / *columns : PANEL_WIDTH;
    *height = plot->height > 0 ? plot->height / rows : PANEL_HEIGHT;
}

/* The key in lines of that width; f NULL: only how many lines. */
static int write_key(FILE *f, const study_plot_panel *p, int left, int top, int width)
{
    int lines = 0;
    double at = width;
    for (int k = 0; k < p->series_count; k++) {
        const study_plot_series *s = &p->series[k];
        if (!study_svg_in_key(s)) continue;
        double need = KEY_WIDTH + 4 + study_text_width(s->title, LETTER) + KEY_GAP;
        if (lines == 0 || at + need > width) {
            lines++;
            at = KEY_GAP;
        }
        if (f) {
            int y = top + (lines - 1) * KEY_LINE;
            study_svg_sample(f, s, left + (int)at, y);
            fprintf(f, "<text x=\"%d\" y=\"%d\">", left + (int)at + KEY_WIDTH + 4, y + LETTER);
            study_escape(f, s->title);
            fputs("</text>\n", f);
        }
        at += need;
    }
    return lines;
}

bdml_status study_svg_write(bdml_handle *h, FILE *f, const study_plot *plot)
{
    int columns, width, height, lines = 0;
    study_svg_size(plot, &columns, &width, &height);
    for (int i = 0; i < plot->panel_count; i++)
        lines = MAX(lines, write_key(NULL, &plot->panel[i], 0, 0, width));
    int rows = (plot->panel_count + columns - 1) / columns,
        key = lines * KEY_LINE + (lines ? 8 : 0);
    int head = plot->title ? TITLE_HEIGHT : 0;
    int all_width = columns * width, all_height = rows * (height + key) + head;
    double zoom = plot->pixels > 0 ? (double)plot->pixels / all_width : 1.0;

    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %d %d\">\n<style>%s</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            zoom * all_width, zoom * all_height, all_width, all_height, study_figure_style,
            all_width, all_height);
    if (plot->title) {
        fprintf(f, "<text class=\"title\" text-anchor=\"middle\" x=\"%d\" y=\"22\">",
                all_width / 2);
        study_escape(f, plot->title);
        fputs("</text>\n", f);
    }
    for (int i = 0; i < plot->panel_count; i++) {
        int x = i % columns * width, y = head + i / columns * (height + key);
        TRY(study_svg_panel(h, f, &plot->panel[i], NULL, x, y, width, height));
        write_key(f, &plot->panel[i], x, y + height, width);
    }
    fputs("</svg>\n", f);
    return BDML_OK;
}
