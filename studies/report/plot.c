/* plot.c - a plot as a gnuplot script: dark ink on a white ground, readable on any page. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Okabe and Ito's palette: told apart with any colour vision. */
static const char *const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#000000", "#999999", "#dddddd"};
enum { COLOURS = sizeof palette / sizeof *palette };

enum { PANEL_WIDTH = 480, PANEL_HEIGHT = 360, TITLE_HEIGHT = 30 };

typedef struct terminal {
    const char *ending, *name;
    bool inches; /* sizes in inches at 100 pixels each */
} terminal;
static const terminal terminals[] = {
    {".svg", "svg background rgb 'white' font 'Helvetica,13'", false},
    {".png", "pngcairo background rgb 'white' font 'Sans,11'", false},
    {".pdf", "pdfcairo background rgb 'white' font 'Sans,11'", true}};

static const terminal *find_terminal(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        size_t m = strlen(terminals[i].ending);
        if (n > m && strcmp(path + n - m, terminals[i].ending) == 0) return &terminals[i];
    }
    return NULL;
}

bdml_status study_plot_check_name(bdml_handle *h, const char *path)
{
    if (find_terminal(path)) return BDML_OK;
    return client_fail(h, BDML_ERR_ARGUMENT, "%s: a plot ends in .svg, .png or .pdf", path);
}

/* ---- the script --------------------------------------------------------------------------------- */

/* Where the script goes. */
typedef struct script {
    FILE *f;
} script;

static void number(const script *s, double v)
{
    char text[CLIENT_NUMBER];
    client_number(v, text);
    fputs(text, s->f);
}

/* Inside gnuplot's single quotes only the quote itself is special: it becomes a typographic one, and
 * control characters become blanks. */
static void quote(const script *s, const char *text)
{
    fputc('\'', s->f);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("\xe2\x80\x99", s->f);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, s->f);
    }
    fputc('\'', s->f);
}

static void set_text(const script *s, const char *what, const char *text)
{
    if (!text) return;
    fprintf(s->f, "set %s ", what);
    quote(s, text);
    fputc('\n', s->f);
}

static bool has_range(const study_plot_series *r)
{
    return (r->style == STUDY_PLOT_ERROR_BARS || r->style == STUDY_PLOT_BAND ||
            r->style == STUDY_PLOT_BARS) &&
           r->low && r->high;
}

static void write_block(const script *s, int panel, int number_of, const study_plot_series *r)
{
    fprintf(s->f, "$p%ds%d << END_OF_DATA\n", panel, number_of);
    for (int64_t i = 0; i < r->n; i++) {
        bool range = has_range(r), show = isfinite(r->x[i]) && isfinite(r->y[i]);
        if (range) show = show && isfinite(r->low[i]) && isfinite(r->high[i]);
        if (!show) { /* an empty line breaks the curve */
            fputc('\n', s->f);
            continue;
        }
        const double column[] = {r->x[i], r->y[i], range ? r->low[i] : 0.0,
                                 range ? r->high[i] : 0.0};
        for (int c = 0; c < (range ? 4 : 2); c++) {
            if (c) fputc(' ', s->f);
            number(s, column[c]);
        }
        fputc('\n', s->f);
    }
    fputs("END_OF_DATA\n", s->f);
}

static bool is_empty(const study_plot_series *r)
{
    for (int64_t i = 0; i < r->n; i++)
        if (isfinite(r->x[i]) && isfinite(r->y[i]) &&
            (!has_range(r) || (isfinite(r->low[i]) && isfinite(r->high[i]))))
            return false;
    return true;
}

static void write_range(const script *s, char axis, double lo, double hi)
{
    fprintf(s->f, "set %crange [", axis);
    if (lo < hi) number(s, lo);
    fputs(":", s->f);
    if (lo < hi) number(s, hi);
    fputs("]\n", s->f);
}

static void write_mark(const script *s, const study_plot_mark *mark)
{
    if (!isfinite(mark->x)) return;
    fputs("set arrow from first ", s->f);
    number(s, mark->x);
    fputs(", graph 0 to first ", s->f);
    number(s, mark->x);
    fputs(", graph 1 nohead back lc rgb '#777777' lw 1.5 dt 2\n", s->f);
    if (!mark->label) return;
    fputs("set label ", s->f);
    quote(s, mark->label);
    fputs(" at first ", s->f);
    number(s, mark->x);
    fputs(", graph 0.95 offset character 0.6,0 tc rgb '#555555'\n", s->f);
}

static void write_series(const script *s, int panel, int k, const study_plot_series *r)
{
    const char *colour = palette[(unsigned)r->colour % COLOURS];
    char block[48];
    snprintf(block, sizeof block, "$p%ds%d", panel, k);
    bool bars = has_range(r) && r->style == STUDY_PLOT_ERROR_BARS;
    if (has_range(r) && r->style == STUDY_PLOT_BAND)
        fprintf(s->f,
                "%s using 1:3:4 with filledcurves fs transparent solid 0.3 noborder lc rgb '%s'",
                block, colour);
    else if (r->style == STUDY_PLOT_POINTS)
        fprintf(s->f, "%s using 1:2 with points pt 7 ps 0.4 lc rgb '%s'", block, colour);
    else if (r->style == STUDY_PLOT_BARS)
        fprintf(s->f, "%s using 1:2:3:4 with yerrorbars pt 7 ps 0.8 lw 2 lc rgb '%s'", block,
                colour);
    else if (r->style == STUDY_PLOT_THIN)
        fprintf(s->f, "%s using 1:2 with lines lw 0.8 lc rgb '%s'", block, colour);
    else if (r->style == STUDY_PLOT_LINE)
        fprintf(s->f, "%s using 1:2 with lines lw 2 lc rgb '%s'", block, colour);
    else
        fprintf(s->f, "%s using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '%s'", block, colour);
    fputs(r->title ? " title " : " notitle", s->f);
    if (r->title) quote(s, r->title);
    if (bars)
        fprintf(s->f, ", %s using 1:2:3:4 with yerrorbars pt 7 ps 0.6 lw 1.5 lc rgb '%s' notitle",
                block, colour);
}

/* Axes, ticks and grid. */
static const char FRAME[] =
    "set border 3 lc rgb '#444444'\nset tics nomirror out tc rgb '#222222'\n"
    "set xtics autofreq norotate nomirror out\nset ytics nomirror out\nset grid lc rgb '#dddddd' "
    "lt 1\n";

static void write_names(const script *s, const study_plot_panel *p)
{
    if (p->name_count == 0) return;
    fputs("set xtics nomirror out rotate by -30 (", s->f);
    for (int i = 0; i < p->name_count; i++) {
        if (i) fputs(", ", s->f);
        quote(s, p->name[i]);
        fprintf(s->f, " %d", i + 1);
    }
    fputs(")\n", s->f);
}

static void write_panel(const script *s, int number_of, const study_plot_panel *p)
{
    int drawn = 0;
    fputs("unset arrow\nunset label\nunset logscale\nunset title\nunset xlabel\nunset ylabel\n",
          s->f);
    fputs(p->equal ? "set size ratio -1\n" : "set size noratio\n", s->f);
    fputs(p->bare ? "unset border\nunset tics\nunset grid\n" : FRAME, s->f);
    if (!p->bare) write_names(s, p);
    set_text(s, "title", p->title);
    set_text(s, "xlabel", p->x_label);
    set_text(s, "ylabel", p->y_label);
    if (p->log_x) fputs("set logscale x\n", s->f);
    if (p->log_y) fputs("set logscale y\n", s->f);
    write_range(s, 'x', p->x_min, p->x_max);
    write_range(s, 'y', p->y_min, p->y_max);
    if (p->y_from_zero) fputs("set yrange [0:]\n", s->f);
    fputs(p->log_y ? "set format y '%g'\n" : "unset format y\n", s->f);
    for (int k = 0; k < p->mark_count; k++) write_mark(s, &p->mark[k]);
    for (int k = 0; k < p->series_count; k++) {
        if (is_empty(&p->series[k])) continue;
        fputs(drawn++ ? ", " : "plot ", s->f);
        write_series(s, number_of, k, &p->series[k]);
    }
    /* An empty panel keeps its place. */
    fputs(drawn ? "\n" : "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n", s->f);
}

static void write_script(const script *s, const terminal *t, const study_plot *plot)
{
    int columns = plot->columns > 0 ? MIN(plot->columns, plot->panel_count) : plot->panel_count;
    int rows = (plot->panel_count + columns - 1) / columns;
    int width = plot->width > 0 ? plot->width : columns * PANEL_WIDTH;
    int height =
        plot->height > 0 ? plot->height : rows * PANEL_HEIGHT + (plot->title ? TITLE_HEIGHT : 0);

    fprintf(s->f, "set encoding utf8\nset terminal %s noenhanced size ", t->name);
    number(s, t->inches ? width / 100.0 : width);
    fputc(',', s->f);
    number(s, t->inches ? height / 100.0 : height);
    fputs("\nset key below center horizontal noautotitle tc rgb '#222222'\nset bars 0.5\n", s->f);
    for (int i = 0; i < plot->panel_count; i++)
        for (int k = 0; k < plot->panel[i].series_count; k++)
            write_block(s, i, k, &plot->panel[i].series[k]);
    fprintf(s->f, "set multiplot layout %d,%d", rows, columns);
    if (plot->title) {
        fputs(" title ", s->f);
        quote(s, plot->title);
    }
    fputc('\n', s->f);
    for (int i = 0; i < plot->panel_count; i++) write_panel(s, i, &plot->panel[i]);
    fputs("unset multiplot\n", s->f);
}

/* ---- drawing -------------------------------------------------------------------------------------- */

/* What gnuplot makes of the plot goes to the descriptor `out`. */
static bdml_status draw(bdml_handle *h, const study_plot *plot, const terminal *t, const char *name,
                        int out, bool *drawn)
{
    if (plot->panel_count < 1)
        return client_fail(h, BDML_ERR_ARGUMENT, "%s: a plot needs a panel", name);
    FILE *f = tmpfile();
    if (!f) return client_fail(h, BDML_ERR_IO, "%s: no plot: %s", name, strerror(errno));
    script s = {f};
    write_script(&s, t, plot);
    bdml_status status =
        ferror(f)
            ? client_fail(h, BDML_ERR_IO, "%s: no plot: a temporary file cannot be written", name)
            : study_gnuplot_run(h, f, out, drawn);
    fclose(f);
    return status;
}

/* The picture, its bytes the caller's to free; NULL when gnuplot is not there. */
static bdml_status picture(bdml_handle *h, const study_plot *plot, const terminal *t,
                           const char *name, char **bytes, size_t *size)
{
    bdml_status status = BDML_OK;
    bool drawn = false;
    *bytes = NULL;
    *size = 0;
    FILE *f = tmpfile();
    if (!f) return client_fail(h, BDML_ERR_IO, "%s: no plot: %s", name, strerror(errno));
    GO(draw(h, plot, t, name, fileno(f), &drawn));
    if (!drawn) goto done;
    long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end < 0) GO(client_fail(h, BDML_ERR_IO, "%s: no plot: %s", name, strerror(errno)));
    NEW(h, *bytes, (size_t)end + 1);
    *size = (size_t)end;
    rewind(f);
    if (fread(*bytes, 1, *size, f) != *size)
        status = client_fail(h, BDML_ERR_IO, "%s: no plot: a temporary file cannot be read", name);
done:
    fclose(f);
    if (status != BDML_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

bdml_status study_plot_write(bdml_handle *h, const study_plot *plot, const char *path, bool *drawn)
{
    bdml_status status = BDML_OK;
    bdml_file *file = NULL;
    char *bytes = NULL;
    size_t size;
    *drawn = false;
    TRY(study_plot_check_name(h, path));
    TRY(bdml_file_create(h, path, &file)); /* told before gnuplot is asked */
    GO(picture(h, plot, find_terminal(path), path, &bytes, &size));
    if (!bytes) goto done;
    GO(bdml_file_write(h, file, bytes, size));
    status = bdml_file_commit(h, file);
    file = NULL;
    *drawn = status == BDML_OK;
done:
    bdml_file_discard(file);
    free(bytes);
    return status;
}

bdml_status study_plot_svg(bdml_handle *h, const study_plot *plot, char **svg)
{
    size_t size;
    return picture(h, plot, &terminals[0], "plot", svg, &size);
}
