/* cmd_path_plot.c - the picture of a path: error against ln kappa, and the bracket on the objective. */
#include "cli.h"

#include <stdlib.h>

#include "report/report.h"

static const double LOG_FROM = 30.0; /* spread of the objective that a plain axis would hide */
enum { COLUMNS = 8 };
typedef enum column { LN_KAPPA, LOWER, UPPER, TRAIN, VALID, TEST, LOW, HIGH } column;

static double number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* One array per column, n apart. */
static void fill_columns(const json_t *rows, size_t n, double *v)
{
    static const char *const key[] = {"ln_kappa",         "lower",     "upper", "train_error",
                                      "validation_error", "test_error"};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        for (size_t k = 0; k < sizeof key / sizeof *key; k++) v[k * n + i] = number(row, key[k]);
        double se = number(row, "test_se");
        v[LOW * n + i] = v[TEST * n + i] - (isnan(se) ? 0.0 : se);
        v[HIGH * n + i] = v[TEST * n + i] + (isnan(se) ? 0.0 : se);
    }
}

/* Largest over smallest of the finite values, 1 when one is not positive. */
static double spread(size_t n, const double *v)
{
    double lo = INFINITY, hi = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) continue;
        lo = BDML_MIN(lo, v[i]);
        hi = BDML_MAX(hi, v[i]);
    }
    return lo > 0.0 && hi > 0.0 ? hi / lo : 1.0;
}

static double chosen_ln_kappa(const json_t *result)
{
    double chosen = number(json_object_get(result, "chosen"), "distortion"), at = (double)NAN;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(result, "path"), i, row)
    {
        if (number(row, "distortion") == chosen) at = number(row, "ln_kappa");
    }
    return at;
}

static bdml_status draw(cli *c, size_t n, const double *v, const char *file, bool *drawn)
{
    char error_label[64], mark_label[64], title[256];
    const char *name = strrchr(c->argument[0], '/');
    const double *x = v + LN_KAPPA * n;
    int64_t count = (int64_t)n;

    snprintf(title, sizeof title, "%s: test error %s with ln κ", name ? name + 1 : c->argument[0],
             json_string_value(json_object_get(json_object_get(c->result, "shape"), "verdict")));
    snprintf(error_label, sizeof error_label, "%g-NN error, %%", number(c->result, "neighbors"));
    bdml_snprintf(c->h->c_locale, mark_label, sizeof mark_label, "chosen K = %g",
                  number(json_object_get(c->result, "chosen"), "distortion"));
    const bdml_plot_series errors[] = {
        {"test ± s.e.", BDML_PLOT_ERROR_BARS, 0, count, x, v + TEST * n, v + LOW * n, v + HIGH * n},
        {"cross-validation", BDML_PLOT_LINE_POINTS, 1, count, x, v + VALID * n, NULL, NULL},
        {"training", BDML_PLOT_LINE_POINTS, 7, count, x, v + TRAIN * n, NULL, NULL}};
    const bdml_plot_series bracket[] = {{"upper", BDML_PLOT_LINE_POINTS, 2, count, x, v + UPPER * n,
                                         NULL, NULL},
                                        {"lower", BDML_PLOT_LINE, 6, count, x, v + LOWER * n, NULL,
                                         NULL}};
    const bdml_plot_mark mark = {chosen_ln_kappa(c->result), mark_label};
    const bdml_plot_panel panels[] = {{.x_label = "ln κ",
                                       .y_label = error_label,
                                       .series_count = 3,
                                       .mark_count = 1,
                                       .series = errors,
                                       .mark = &mark},
                                      {.x_label = "ln κ",
                                       .y_label = "bracket on the optimum",
                                       .log_y = spread(n, v + UPPER * n) > LOG_FROM,
                                       .series_count = 2,
                                       .series = bracket}};
    const bdml_plot plot = {.title = title, .panel_count = 2, .panel = panels};
    return bdml_plot_write(c->h, &plot, file, drawn);
}

bdml_status cli_path_plot(cli *c, const char *file, bool *drawn)
{
    const json_t *rows = json_object_get(c->result, "path");
    size_t n = json_array_size(rows);
    double *v = bdml_calloc(c->h, n * COLUMNS, sizeof *v);
    if (!v) return BDML_ERR_MEMORY;
    fill_columns(rows, n, v);
    bdml_status status = draw(c, n, v, file, drawn);
    free(v);
    return status;
}
