/* axis.c - limits and ticks of an axis. */
#include "report/axis.h"

#include <stdlib.h>

/* Beyond the quantiles a panel names, an axis goes on for half their distance: all of a Gaussian cloud is inside,
 * while one row in a hundred that lies ten times as far out does not squeeze the rest into a corner. */
static const double BEYOND = 0.5;
static const double PADDING = 0.04;  /* of the range, at both ends */
enum { ROBUST_FROM = 40 };           /* fewer values have no quantiles to speak of */
enum { APART_X = 18, APART_Y = 26 }; /* pixels between ticks, beside the label's own */
static const double TEXT_SIZE = 12.0;
/* Between these, differences, ratios and steps of an axis are numbers; smaller ones are 0 in a picture. */
static const double MOST = 1e140, LEAST = 1e-140;
static const double AWAY = 1e5; /* pixels: what lies farther out is drawn there */

/* ---- limits --------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool study_axis_takes(bool log, double v)
{
    return fabs(v) <= MOST && (!log || v >= LEAST);
}

static int64_t gather(const study_plot_panel *p, bool along_x, bool log, double *out)
{
    int64_t n = 0;
    for (int k = 0; k < p->series_count; k++) {
        const study_plot_series *s = &p->series[k];
        const double *x = s->x, *y = s->y;
        bool range = study_plot_ranges_along(s) == (along_x ? 'x' : 'y');
        if (s->style == STUDY_PLOT_GUIDE || !x || !y) continue;
        for (int64_t i = 0; i < s->n; i++) {
            const double v[] = {along_x ? x[i] : y[i], range ? s->low[i] : (double)NAN,
                                range ? s->high[i] : (double)NAN};
            bool here = study_axis_takes(false, x[i]) && study_axis_takes(false, y[i]);
            for (int c = 0; c < 3 && here; c++)
                if (study_axis_takes(log, v[c])) out[n++] = fabs(v[c]) < LEAST ? 0.0 : v[c];
        }
    }
    return n;
}

static void trim(const double *v, int64_t n, double share, double *lo, double *hi)
{
    int64_t out = (int64_t)(share * (double)n);
    double low = v[out], high = v[n - 1 - out], reach = BEYOND * (high - low);
    if (n < ROBUST_FROM || !(high > low)) return;
    *lo = MAX(*lo, low - reach);
    *hi = MIN(*hi, high + reach);
}

static void widen(study_axis *a)
{
    if (a->log) {
        double room = PADDING * (log(a->hi) - log(a->lo));
        if (!(room > 0.0)) room = log(2.0);
        a->lo /= exp(room);
        a->hi *= exp(room);
        return;
    }
    double room = PADDING * (a->hi - a->lo);
    if (!(room > 0.0)) room = a->hi != 0.0 ? 0.1 * fabs(a->hi) : 1.0;
    a->lo -= room;
    a->hi += room;
}

bdml_status study_axis_limits(bdml_handle *h, const study_plot_panel *p, bool along_x,
                              study_axis *a)
{
    bdml_status status = BDML_OK;
    double *v = NULL, lo = along_x ? p->x_min : p->y_min, hi = along_x ? p->x_max : p->y_max;
    int64_t most = 0;
    *a = (study_axis){.lo = lo, .hi = hi, .log = along_x ? p->log_x : p->log_y};
    if (lo < hi && study_axis_takes(a->log, lo) && study_axis_takes(a->log, hi) && hi - lo > LEAST)
        return BDML_OK;
    for (int k = 0; k < p->series_count; k++) most += 3 * p->series[k].n;
    NEW(h, v, MAX(most, 1));
    int64_t n = gather(p, along_x, a->log, v);
    a->lo = a->log ? 1.0 : 0.0; /* of an empty panel */
    a->hi = a->log ? 10.0 : 1.0;
    if (n == 0) goto done;
    qsort(v, (size_t)n, sizeof *v, ascending);
    a->lo = v[0];
    a->hi = v[n - 1];
    if (p->robust > 0.0 && !a->log) trim(v, n, p->robust, &a->lo, &a->hi);
    bool from_zero = (along_x ? p->x_from_zero : p->y_from_zero) && v[0] >= 0.0;
    if (from_zero) a->lo = 0.0;
    widen(a);
    if (from_zero) a->lo = 0.0;
done:
    free(v);
    return status;
}

/* ---- ticks ------------------------------------------------------------------------------------------- */

double study_text_width(const char *text, double size)
{
    double em = 0.0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xc0) == 0x80) continue; /* inside a character of several bytes */
        em += strchr("ijl.,:;|'!()[] ", c) ? 0.3
              : strchr("mwMW%", c)         ? 0.87
              : c >= 'A' && c <= 'Z'       ? 0.68
                                           : 0.56;
    }
    return em * size;
}

double study_axis_at(const study_axis *a, double v)
{
    double share =
        a->log ? (log(v) - log(a->lo)) / (log(a->hi) - log(a->lo)) : (v - a->lo) / (a->hi - a->lo);
    double at = a->from + share * (a->to - a->from);
    return MAX(-AWAY, MIN(at, AWAY));
}

bool study_axis_holds(const study_axis *a, double v)
{
    return v >= a->lo && v <= a->hi;
}

/* "0.001", "1e-6", "20000", "1e+6": as short as it reads. */
static void label(double v, char out[AXIS_LABEL])
{
    char text[CLIENT_NUMBER];
    snprintf(text, sizeof text, "%.6g", v);
    char *e = strchr(text, 'e');
    if (!e) {
        snprintf(out, AXIS_LABEL, "%.15s", text);
        return;
    }
    snprintf(out, AXIS_LABEL, "%.*se%d", (int)(e - text), text, (int)strtol(e + 1, NULL, 10));
}

/* Put a tick there; false: its label would touch the one before. */
static bool add(study_axis *a, double v, bool along_x)
{
    if (a->ticks == AXIS_TICKS || !study_axis_holds(a, v)) return true;
    label(v, a->label[a->ticks]);
    a->tick[a->ticks] = v;
    if (a->ticks > 0) {
        double apart = fabs(study_axis_at(a, v) - study_axis_at(a, a->tick[a->ticks - 1]));
        double need = along_x ? APART_X + (study_text_width(a->label[a->ticks], TEXT_SIZE) +
                                           study_text_width(a->label[a->ticks - 1], TEXT_SIZE)) /
                                              2.0
                              : APART_Y;
        if (apart < need) return false;
    }
    a->ticks++;
    return true;
}

/* Multiples of 1, 2 or 5 times a power of ten, the finest that fit. */
static void linear_ticks(study_axis *a, bool along_x)
{
    static const double steps[] = {1.0, 2.0, 5.0};
    double power = pow(10.0, floor(log10((a->hi - a->lo) / AXIS_TICKS)));
    for (int k = 0; k < 12; k++) {
        int decade = k / 3;
        double step = steps[k % 3] * power * pow(10.0, decade);
        double first = ceil(a->lo / step), last = floor(a->hi / step);
        bool fits = last - first < AXIS_TICKS;
        a->ticks = 0;
        /* counted by t: a number of 2^53 steps does not change by one more */
        for (int t = 0; t < AXIS_TICKS && first + t <= last && fits; t++)
            fits = add(a, first + t == 0.0 ? 0.0 : (first + t) * step, along_x);
        if (fits) return;
    }
}

/* 1, 2, 5 of each decade, else 1 and 3, else every n-th power of ten: the finest that fit. */
static void log_ticks(study_axis *a, bool along_x)
{
    static const double parts[][3] = {{1.0, 2.0, 5.0}, {1.0, 3.0, 0.0}, {1.0, 0.0, 0.0}};
    static const int every[] = {1, 1, 1, 2, 3, 5, 10, 20, 50, 100, 200};
    int first = (int)floor(log10(a->lo)), last = (int)ceil(log10(a->hi));
    for (size_t way = 0; way < sizeof every / sizeof *every; way++) {
        const double *part = parts[MIN(way, 2)];
        bool fits = true;
        a->ticks = 0;
        for (int e = first; e <= last && fits; e++)
            for (int k = 0; k < 3 && part[k] > 0.0 && fits; k++)
                if (e % every[way] == 0) fits = add(a, part[k] * pow(10.0, e), along_x);
        if (fits) break;
    }
    if (a->ticks < 2) linear_ticks(a, along_x);
}

void study_axis_ticks(study_axis *a, bool along_x)
{
    if (a->log)
        log_ticks(a, along_x);
    else
        linear_ticks(a, along_x);
}
