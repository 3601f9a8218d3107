/* svg.c - one panel of a plot: frame, ticks, series, marks. */
#include "report/svg.h"

#include "report/axis.h"

enum { LETTER = 12, TITLE_LETTER = 14 };
enum { TITLE_ROOM = 26, LABEL_ROOM = 20, TICK_ROOM = 20, EDGE = 14, NOTE_ROOM = 16 };
static const double NAMES_MOST = 0.4; /* of the width, that names beside the axis may take */
static const double POINT = 3.2, NODE = 3.6, BAR = 0.36; /* radii; half a bar's height, in steps */

void study_escape(FILE *f, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc((unsigned char)*s < ' ' && *s != '\n' ? ' ' : *s, f);
        }
    }
}

/* ---- where things are ---------------------------------------------------------------------------------- */

typedef struct layout {
    FILE *f;
    const study_plot_panel *p;
    study_axis x, y;
    int width, height;
    int64_t beyond; /* points outside the limits */
} layout;

static double widest_label(const layout *l)
{
    double most = 0.0;
    for (int i = 0; i < l->p->name_count; i++)
        most = MAX(most, study_text_width(l->p->name[i], LETTER));
    if (l->p->name_count) return MIN(most, NAMES_MOST * l->width);
    for (int i = 0; i < l->y.ticks; i++) most = MAX(most, study_text_width(l->y.label[i], LETTER));
    return most;
}

/* One unit is as long on both axes: the one with pixels to spare shows more. */
static void make_equal(layout *l)
{
    double ux = fabs(l->x.to - l->x.from) / (l->x.hi - l->x.lo);
    double uy = fabs(l->y.to - l->y.from) / (l->y.hi - l->y.lo);
    study_axis *a = ux > uy ? &l->x : &l->y;
    double half = 0.5 * (a->hi - a->lo) * MAX(ux, uy) / MIN(ux, uy), middle = 0.5 * (a->lo + a->hi);
    a->lo = middle - half;
    a->hi = middle + half;
}

static bdml_status lay_out(bdml_handle *h, layout *l)
{
    const study_plot_panel *p = l->p;
    TRY(study_axis_limits(h, p, true, &l->x));
    TRY(study_axis_limits(h, p, false, &l->y));
    if (p->name_count) { /* the first name on top */
        l->y.lo = p->name_count + 0.5;
        l->y.hi = 0.5;
    }
    l->y.to = p->title ? TITLE_ROOM : EDGE;
    l->y.from = l->height - (p->bare ? EDGE : TICK_ROOM + (p->x_label ? LABEL_ROOM : 0)) -
                (p->robust > 0.0 ? NOTE_ROOM : 0);
    if (!p->name_count) study_axis_ticks(&l->y, false);
    l->x.from = p->bare ? EDGE : 10.0 + widest_label(l) + (p->y_label ? LABEL_ROOM : 0);
    l->x.to = l->width - EDGE;
    if (p->equal) {
        make_equal(l);
        l->y.ticks = 0;
        study_axis_ticks(&l->y, false);
    }
    study_axis_ticks(&l->x, true);
    return BDML_OK;
}

/* ---- frame ---------------------------------------------------------------------------------------------- */

static void text(const layout *l, double x, double y, const char *more, const char *s)
{
    fprintf(l->f, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    study_escape(l->f, s);
    fputs("</text>", l->f);
}

static void line(const layout *l, double x1, double y1, double x2, double y2)
{
    fprintf(l->f, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>", x1, y1, x2, y2);
}

/* A name beside the axis, cut where it would be too long. */
static void write_name(const layout *l, double y, const char *name)
{
    char cut[128];
    snprintf(cut, sizeof cut - 4, "%s", name);
    bool whole = strlen(name) == strlen(cut);
    while (*cut && study_text_width(cut, LETTER) > NAMES_MOST * l->width) {
        size_t end = strlen(cut) - 1; /* of a character of several bytes, all */
        while (end > 0 && ((unsigned char)cut[end] & 0xc0) == 0x80) end--;
        cut[end] = '\0';
        whole = false;
    }
    if (!whole) strcat(cut, "…");
    text(l, l->x.from - 6, y + 4, " text-anchor=\"end\"", cut);
}

static void write_frame(const layout *l)
{
    const study_plot_panel *p = l->p;
    fputs("<g class=\"grid\">", l->f);
    for (int i = 0; i < l->x.ticks; i++) {
        double at = study_axis_at(&l->x, l->x.tick[i]);
        line(l, at, l->y.from, at, l->y.to);
    }
    for (int i = 0; i < l->y.ticks; i++) {
        double at = study_axis_at(&l->y, l->y.tick[i]);
        line(l, l->x.from, at, l->x.to, at);
    }
    fprintf(l->f, "</g><path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/><g class=\"ticks\">",
            l->x.from, l->y.to, l->y.from, l->x.to);
    for (int i = 0; i < l->x.ticks; i++)
        text(l, study_axis_at(&l->x, l->x.tick[i]), l->y.from + LETTER + 4,
             " text-anchor=\"middle\"", l->x.label[i]);
    for (int i = 0; i < l->y.ticks; i++)
        text(l, l->x.from - 6, study_axis_at(&l->y, l->y.tick[i]) + 4, " text-anchor=\"end\"",
             l->y.label[i]);
    for (int i = 0; i < p->name_count; i++)
        write_name(l, study_axis_at(&l->y, i + 1.0), p->name[i]);
    fputs("</g>", l->f);
    if (p->x_label)
        text(l, 0.5 * (l->x.from + l->x.to), l->y.from + TICK_ROOM + LETTER,
             " text-anchor=\"middle\"", p->x_label);
    if (p->y_label) {
        double middle = 0.5 * (l->y.from + l->y.to);
        char turn[96];
        snprintf(turn, sizeof turn, " text-anchor=\"middle\" transform=\"rotate(-90 %d %.1f)\"",
                 LETTER, middle);
        text(l, LETTER, middle, turn, p->y_label);
    }
}

/* ---- series ----------------------------------------------------------------------------------------------- */

static bool shown(const study_plot_series *s, int64_t i)
{
    bool range = study_plot_ranges_along(s) != 0;
    return isfinite(s->x[i]) && isfinite(s->y[i]) &&
           (!range || (isfinite(s->low[i]) && isfinite(s->high[i])));
}

static bool placed(const layout *l, const study_plot_series *s, int64_t i)
{
    return shown(s, i) && (!l->x.log || s->x[i] > 0.0) && (!l->y.log || s->y[i] > 0.0);
}

/* What a point says when it is pointed at. */
static void write_words(const layout *l, const study_plot_series *s, int64_t i)
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

static void write_points(layout *l, const study_plot_series *s, double radius)
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

static void write_curve(const layout *l, const study_plot_series *s, const char *class)
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
    fputs("\"/>", l->f);
}

static void write_band(const layout *l, const study_plot_series *s)
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
static void write_spread(const layout *l, const study_plot_series *s, bool along_x)
{
    fputs("<g class=\"spread\">", l->f);
    for (int64_t i = 0; i < s->n; i++) {
        if (!placed(l, s, i)) continue;
        const study_axis *along = along_x ? &l->x : &l->y;
        double low = along->log ? MAX(s->low[i], along->lo) : s->low[i];
        double a = study_axis_at(along, low), b = study_axis_at(along, s->high[i]);
        double at = along_x ? study_axis_at(&l->y, s->y[i]) : study_axis_at(&l->x, s->x[i]);
        line(l, along_x ? a : at, along_x ? at : a, along_x ? b : at, along_x ? at : b);
    }
    fputs("</g>", l->f);
}

static void write_columns(const layout *l, const study_plot_series *s)
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

static void write_one(layout *l, const study_plot_series *s)
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

static void write_series(layout *l)
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

static void write_mark(const layout *l, const study_plot_mark *mark)
{
    if (!isfinite(mark->x) || (l->x.log && mark->x <= 0.0) || !study_axis_holds(&l->x, mark->x))
        return;
    double at = study_axis_at(&l->x, mark->x);
    fputs("<g class=\"mark\">", l->f);
    line(l, at, l->y.from, at, l->y.to);
    if (mark->label) { /* on the side where there is room */
        bool left = at + 8 + study_text_width(mark->label, LETTER) > l->x.to;
        text(l, left ? at - 6 : at + 6, l->y.to + LETTER,
             left ? " text-anchor=\"end\"" : " text-anchor=\"start\"", mark->label);
    }
    fputs("</g>", l->f);
}

/* ---- a panel ---------------------------------------------------------------------------------------------- */

static void write_axis(FILE *f, const char *name, const study_axis *a)
{
    fprintf(f, " data-%s=\"%.9g %.9g %.1f %.1f%s\"", name, a->lo, a->hi, a->from, a->to,
            a->log ? " log" : "");
}

bdml_status study_svg_panel(bdml_handle *h, FILE *f, const study_plot_panel *p, const char *alt,
                            int x, int y, int width, int height)
{
    layout l = {.f = f, .p = p, .width = width, .height = height};
    TRY(lay_out(h, &l));
    fprintf(
        f,
        "<svg class=\"panel\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"",
        x, y, width, height, width, height);
    write_axis(f, "x", &l.x);
    write_axis(f, "y", &l.y);
    if (p->id) fprintf(f, " data-panel=\"%s\"", p->id);
    if (alt) {
        fputs(" role=\"img\" aria-label=\"", f);
        study_escape(f, alt);
        fputs("\"", f);
    }
    fputs(">", f);
    if (p->title) {
        char more[64];
        snprintf(more, sizeof more, " class=\"title\" text-anchor=\"middle\"");
        text(&l, 0.5 * (l.x.from + l.x.to), TITLE_LETTER, more, p->title);
    }
    if (!p->bare) write_frame(&l);
    write_series(&l);
    for (int k = 0; k < p->mark_count; k++) write_mark(&l, &p->mark[k]);
    if (l.beyond > 0) {
        char note[96];
        snprintf(note, sizeof note, "%lld %s beyond the axes", (long long)l.beyond,
                 l.beyond == 1 ? "point lies" : "points lie");
        text(&l, l.x.to, height - 4, " class=\"note\" text-anchor=\"end\"", note);
    }
    fputs("</svg>\n", f);
    return BDML_OK;
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
