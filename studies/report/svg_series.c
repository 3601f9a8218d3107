/* svg_series.c - the series of a panel: lines, points, bars; and what each looks like in a key. */
#include "report/svg.h"

#include "report/svg_layout.h"

static const double POINT = 3.2, NODE = 3.6, BAR = 0.36; /* radii; half a bar's height, in steps */

static bool shown(const study_plot_series *s, int64_t i)
{
    bool range = study_plot_ranges_along(s) != 0;
    return study_axis_takes(false, s->x[i]) && study_axis_takes(false, s->y[i]) &&
           (!range || (study_axis_takes(false, s->low[i]) && study_axis_takes(false, s->high[i])));
}

static bool placed(const svg_layout *l, const study_plot_series *s, int64_t i)
{
    return shown(s, i) && study_axis_takes(l->x.log, s->x[i]) &&
           study_axis_takes(l->y.log, s->y[i]);
}

/* What a point says when it is pointed at. */
static void write_words(const svg_layout *l, const study_plot_series *s, int64_t i)
{
    const study_plot_panel *p = l->p;
    fputs("<title>", l->f);
    if (s->note && s->note[i]) {
        study_escape(l->f, s->note[i]);
    } else {
        if (s->title) {
            study_escape(l->f, s->title);
            fputs(": ", l->f);
        }
        if (p->name_count) {
            int k = (int)s->y[i] - 1;
            study_escape(l->f, k >= 0 && k < p->name_count ? p->name[k] : "");
            fprintf(l->f, " %.4g", s->x[i]);
        } else {
            study_escape(l->f, p->y_label ? p->y_label : "y");
            fprintf(l->f, " %.4g, ", s->y[i]);
            study_escape(l->f, p->x_label ? p->x_label : "x");
            fprintf(l->f, " %.4g", s->x[i]);
        }
        if (study_plot_ranges_along(s)) fprintf(l->f, " (%.4g to %.4g)", s->low[i], s->high[i]);
    }
    fputs("</title>", l->f);
}

static double clamp(const study_axis *a, double at)
{
    double lo = MIN(a->from, a->to) + POINT, hi = MAX(a->from, a->to) - POINT;
    return at < lo ? lo : at > hi ? hi : at;
}

static void write_points(svg_layout *l, const study_plot_series *s, double radius)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (!placed(l, s, i)) continue;
        double x = study_axis_at(&l->x, s->x[i]), y = study_axis_at(&l->y, s->y[i]);
        bool out = l->p->robust > 0.0 &&
                   (!study_axis_holds(&l->x, s->x[i]) || !study_axis_holds(&l->y, s->y[i]));
        l->beyond += out;
        out = out && s->style == STUDY_PLOT_POINTS; /* a curve goes on beyond the frame */
        if (out) {
            x = clamp(&l->x, x);
            y = clamp(&l->y, y);
        }
        fprintf(l->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" data-i=\"%lld\"%s>", x, y, radius,
                (long long)i, out ? " class=\"out\"" : "");
        write_words(l, s, i);
        fputs("</circle>", l->f);
    }
}

static void write_curve(const svg_layout *l, const study_plot_series *s, const char *class)
{
    bool pen = false;
    fprintf(l->f, "<path class=\"%s\" d=\"", class);
    for (int64_t i = 0; i < s->n; i++) {
        bool here = placed(l, s, i);
        if (here)
            fprintf(l->f, "%c%.1f %.1f", pen ? 'L' : 'M', study_axis_at(&l->x, s->x[i]),
                    study_axis_at(&l->y, s->y[i]));
        pen = here;
    }
    fputs("\">", l->f);
    if (s->title && s->style == STUDY_PLOT_LINE) { /* it has no points to say it */
        fputs("<title>", l->f);
        study_escape(l->f, s->title);
        fputs("</title>", l->f);
    }
    fputs("</path>", l->f);
}

static void write_band(const svg_layout *l, const study_plot_series *s)
{
    bool pen = false;
    fputs("<path class=\"band\" d=\"", l->f);
    for (int64_t k = 0; k < 2 * s->n; k++) { /* there along the low end, and back along the high */
        int64_t i = k < s->n ? k : 2 * s->n - 1 - k;
        if (!placed(l, s, i)) continue;
        fprintf(l->f, "%c%.1f %.1f", pen ? 'L' : 'M', study_axis_at(&l->x, s->x[i]),
                study_axis_at(&l->y, k < s->n ? s->low[i] : s->high[i]));
        pen = true;
    }
    fputs("Z\"/>", l->f);
}

/* Bars of spread, from low to high. */
static void write_spread(const svg_layout *l, const study_plot_series *s, bool along_x)
{
    fputs("<g class=\"spread\">", l->f);
    for (int64_t i = 0; i < s->n; i++) {
        if (!placed(l, s, i)) continue;
        const study_axis *along = along_x ? &l->x : &l->y;
        double low = along->log ? MAX(s->low[i], along->lo) : s->low[i];
        double a = study_axis_at(along, low), b = study_axis_at(along, s->high[i]);
        double at = along_x ? study_axis_at(&l->y, s->y[i]) : study_axis_at(&l->x, s->x[i]);
        study_svg_line(l, along_x ? a : at, along_x ? at : a, along_x ? b : at, along_x ? at : b);
    }
    fputs("</g>", l->f);
}

static void write_columns(const svg_layout *l, const study_plot_series *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (!placed(l, s, i)) continue;
        double from = study_axis_at(&l->x, MAX(l->x.lo, MIN(0.0, l->x.hi)));
        double to = study_axis_at(&l->x, s->x[i]);
        double top = study_axis_at(&l->y, s->y[i] - BAR),
               bottom = study_axis_at(&l->y, s->y[i] + BAR);
        fprintf(l->f,
                "<rect class=\"column\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "data-i=\"%lld\">",
                MIN(from, to), MIN(top, bottom), fabs(to - from), fabs(bottom - top), (long long)i);
        write_words(l, s, i);
        fputs("</rect>", l->f);
    }
}

static void write_one(svg_layout *l, const study_plot_series *s)
{
    switch (s->style) {
    case STUDY_PLOT_LINE:
        write_curve(l, s, "line");
        break;
    case STUDY_PLOT_POINTS:
        write_points(l, s, POINT);
        break;
    case STUDY_PLOT_LINE_POINTS:
        write_curve(l, s, "line");
        write_points(l, s, NODE);
        break;
    case STUDY_PLOT_ERROR_BARS:
        write_spread(l, s, false);
        write_curve(l, s, "line");
        write_points(l, s, NODE);
        break;
    case STUDY_PLOT_BAND:
        write_band(l, s);
        break;
    case STUDY_PLOT_BARS:
        write_spread(l, s, true);
        write_points(l, s, NODE);
        break;
    case STUDY_PLOT_COLUMNS:
        write_columns(l, s);
        break;
    case STUDY_PLOT_THIN:
        write_curve(l, s, "thin");
        break;
    case STUDY_PLOT_GUIDE:
        write_curve(l, s, "guide");
        break;
    }
}

static void open_series(FILE *f, const study_plot_series *s)
{
    bool hollow = s->colour >= STUDY_PLOT_HOLLOW;
    int colour = s->colour == STUDY_PLOT_FAINT
                     ? s->colour
                     : (int)((unsigned)s->colour % (unsigned)STUDY_PLOT_COLOURS);
    fprintf(f, "<g class=\"series c%d%s\"", colour, hollow ? " hollow" : "");
    if (s->title) {
        fputs(" data-s=\"", f);
        study_escape(f, s->title);
        fputs("\"", f);
    }
    fputs(">", f);
}

void study_svg_series(svg_layout *l)
{
    double left = l->x.from, top = MIN(l->y.from, l->y.to);
    /* an element of its own, in the same coordinates: lines end at the frame */
    fprintf(l->f,
            "<svg class=\"inside\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
            "viewBox=\"%.1f %.1f %.1f %.1f\">",
            left, top, l->x.to - left, fabs(l->y.from - l->y.to), left, top, l->x.to - left,
            fabs(l->y.from - l->y.to));
    for (int k = 0; k < l->p->series_count; k++) {
        open_series(l->f, &l->p->series[k]);
        write_one(l, &l->p->series[k]);
        fputs("</g>\n", l->f);
    }
    fputs("</svg>", l->f);
}

/* ---- key ---------------------------------------------------------------------------------------------------- */

bool study_svg_in_key(const study_plot_series *s)
{
    for (int64_t i = 0; s->title && i < s->n; i++)
        if (shown(s, i)) return true;
    return false;
}

void study_svg_sample(FILE *f, const study_plot_series *s, int x, int y)
{
    bool line_too = s->style == STUDY_PLOT_LINE || s->style == STUDY_PLOT_LINE_POINTS ||
                    s->style == STUDY_PLOT_ERROR_BARS || s->style == STUDY_PLOT_THIN;
    bool block = s->style == STUDY_PLOT_BAND || s->style == STUDY_PLOT_COLUMNS;
    bool dot = !block && s->style != STUDY_PLOT_LINE && s->style != STUDY_PLOT_THIN &&
               s->style != STUDY_PLOT_GUIDE;
    fprintf(f, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">", x, y, KEY_WIDTH, KEY_HEIGHT);
    open_series(f, s);
    if (s->style == STUDY_PLOT_GUIDE) fputs("<path class=\"guide\" d=\"M1 8H25\"/>", f);
    if (line_too) fputs("<path class=\"line\" d=\"M1 8H25\"/>", f);
    if (dot) fputs("<circle cx=\"13\" cy=\"8\" r=\"5\"/>", f);
    if (block) fputs("<rect class=\"column\" x=\"3\" y=\"3\" width=\"20\" height=\"10\"/>", f);
    fputs("</g></svg>", f);
}
