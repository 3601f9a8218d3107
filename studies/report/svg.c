/* svg.c - one panel of a plot: where things are, frame, ticks and marks. The series are in svg_series.c. */
#include "report/svg.h"

#include "report/svg_layout.h"

enum { LETTER = 12, TITLE_LETTER = 14 };
enum { TITLE_ROOM = 26, LABEL_ROOM = 20, TICK_ROOM = 20, EDGE = 14, NOTE_ROOM = 16 };
static const double NAMES_MOST = 0.4; /* of the width, that names beside the axis may take */

/* Bytes of the character at s that UTF-8 and XML both allow; 0: there is none. */
static int length_of(const char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)s;
    if (u[0] < 0x80) return 1;
    int n = u[0] >> 5 == 6 ? 2 : u[0] >> 4 == 14 ? 3 : u[0] >> 3 == 30 ? 4 : 0;
    uint32_t c = n ? u[0] & (0x7fu >> n) : 0;
    for (int k = 1; k < n; k++) {
        if ((u[k] & 0xc0) != 0x80) return 0; /* also at the end of the text */
        c = c << 6 | (u[k] & 0x3f);
    }
    bool surrogate = c >= 0xd800 && c <= 0xdfff, none = c == 0xfffe || c == 0xffff;
    return n && c >= least[n] && c <= 0x10ffff && !surrogate && !none ? n : 0;
}

/* Foreign text in element or attribute, so that SVG stays well-formed XML: controls become blanks, what is no
 * character becomes U+FFFD. */
void study_escape(FILE *f, const char *s)
{
    for (; *s; s++) {
        int n = length_of(s);
        if (n != 1) {
            fwrite(n ? s : "\xef\xbf\xbd", 1, n ? (size_t)n : 3, f);
            s += MAX(n, 1) - 1;
            continue;
        }
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
            fputc((*s < ' ' && *s != '\n') || *s == 0x7f ? ' ' : *s, f);
        }
    }
}

/* ---- where things are ---------------------------------------------------------------------------------- */

static double widest_label(const svg_layout *l)
{
    double most = 0.0;
    for (int i = 0; i < l->p->name_count; i++)
        most = MAX(most, study_text_width(l->p->name[i], LETTER));
    if (l->p->name_count) return MIN(most, NAMES_MOST * l->width);
    for (int i = 0; i < l->y.ticks; i++) most = MAX(most, study_text_width(l->y.label[i], LETTER));
    return most;
}

/* One unit is as long on both axes: the one with pixels to spare shows more. */
static void make_equal(svg_layout *l)
{
    double ux = fabs(l->x.to - l->x.from) / (l->x.hi - l->x.lo);
    double uy = fabs(l->y.to - l->y.from) / (l->y.hi - l->y.lo);
    study_axis *a = ux > uy ? &l->x : &l->y;
    double half = 0.5 * (a->hi - a->lo) * (MAX(ux, uy) / MIN(ux, uy)),
           middle = 0.5 * (a->lo + a->hi);
    a->lo = middle - half;
    a->hi = middle + half;
}

static bdml_status lay_out(bdml_handle *h, svg_layout *l)
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

static void text(const svg_layout *l, double x, double y, const char *more, const char *s)
{
    fprintf(l->f, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    study_escape(l->f, s);
    fputs("</text>", l->f);
}

/* A name beside the axis, cut where it would be too long. */
static void write_name(const svg_layout *l, double y, const char *name)
{
    char cut[128], shown[sizeof cut + 4];
    client_format(cut, sizeof cut, "%s", name);
    while (*cut && study_text_width(cut, LETTER) > NAMES_MOST * l->width) {
        size_t end = strlen(cut) - 1; /* of a character of several bytes, all */
        while (end > 0 && ((unsigned char)cut[end] & 0xc0) == 0x80) end--;
        cut[end] = '\0';
    }
    snprintf(shown, sizeof shown, "%s%s", cut, strlen(cut) < strlen(name) ? "…" : "");
    text(l, l->x.from - 6, y + 4, " text-anchor=\"end\"", shown);
}

static void write_frame(const svg_layout *l)
{
    const study_plot_panel *p = l->p;
    fputs("<g class=\"grid\">", l->f);
    for (int i = 0; i < l->x.ticks; i++) {
        double at = study_axis_at(&l->x, l->x.tick[i]);
        study_svg_line(l, at, l->y.from, at, l->y.to);
    }
    for (int i = 0; i < l->y.ticks; i++) {
        double at = study_axis_at(&l->y, l->y.tick[i]);
        study_svg_line(l, l->x.from, at, l->x.to, at);
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

/* ---- marks ----------------------------------------------------------------------------------------------- */

static void write_mark(const svg_layout *l, const study_plot_mark *mark)
{
    if (!study_axis_takes(l->x.log, mark->x) || !study_axis_holds(&l->x, mark->x)) return;
    double at = study_axis_at(&l->x, mark->x);
    fputs("<g class=\"mark\">", l->f);
    study_svg_line(l, at, l->y.from, at, l->y.to);
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
    svg_layout l = {.f = f, .p = p, .width = width, .height = height};
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
    study_svg_series(&l);
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
