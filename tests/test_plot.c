/* test_plot.c - plots: what reaches the file, names, limits and ticks, awkward text, and life without a
 * converter. */
#include "check.h"

#include <sys/stat.h>

#include "report/axis.h"

static const double x[] = {0, 1, 2, 3}, y[] = {4, 2, 1, 3}, low[] = {3.5, 1.5, 0.5, 2.5},
                    high[] = {4.5, 2.5, 1.5, 3.5};

typedef struct heard {
    int warnings;
    char line[512];
} heard;

static void listen(void *user, bdml_log_level level, const char *line)
{
    heard *e = user;
    if (level != BDML_LOG_WARNING) return;
    e->warnings++;
    snprintf(e->line, sizeof e->line, "%s", line);
}

static bool have_converter(void)
{
    if (system("rsvg-convert --version >/dev/null 2>&1") == 0) return true;
    print_message("PNG and PDF left out: rsvg-convert is not installed\n");
    return false;
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!f) fail_msg("%s is not there", path);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

/* Files named like `path`, which is to say temporary ones left beside it. */
static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static study_plot_panel simple(const study_plot_series *series, int count)
{
    return (study_plot_panel){.title = "panel",
                              .x_label = "ln κ",
                              .y_label = "error",
                              .series_count = count,
                              .series = series};
}

static void plot_is_drawn(void **state)
{
    static const char *const names[] = {"plot-test.svg", "plot-test.png", "plot-test.pdf"};
    static const char *const magic[] = {"<?xml", "\x89PNG", "%PDF"};
    bdml_handle *h = *state;
    const study_plot_series series[] = {{"with bars", STUDY_PLOT_ERROR_BARS, 0, 4, x, y, low, high,
                                         NULL},
                                        {"a band", STUDY_PLOT_BAND, 1, 4, x, y, low, high, NULL},
                                        {"a line", STUDY_PLOT_LINE, 2, 4, x, y, NULL, NULL, NULL},
                                        {"dots", STUDY_PLOT_POINTS, 3, 4, x, y, NULL, NULL, NULL},
                                        {"both", STUDY_PLOT_LINE_POINTS, 4, 4, x, y, NULL, NULL,
                                         NULL}};
    const study_plot_mark mark = {1.5, "here"};
    study_plot_panel panels[2] = {simple(series, 5), simple(series, 1)};
    panels[0].mark_count = 1;
    panels[0].mark = &mark;
    panels[1].log_y = panels[1].equal = true;
    const study_plot plot = {.title = "title", .panel_count = 2, .panel = panels};
    int formats = have_converter() ? 3 : 1;
    for (int i = 0; i < formats; i++) {
        bool drawn = false;
        check_ok(h, study_plot_write(h, &plot, names[i], &drawn));
        check_true(drawn);
        char *text = slurp(names[i]);
        check_true(memcmp(text, magic[i], strlen(magic[i])) == 0);
        if (i == 0) {
            check_true(strstr(text, "with bars") != NULL);
            check_true(strstr(text, "here") != NULL);
            check_true(strstr(text, "ln κ") != NULL);
        }
        free(text);
        unlink(names[i]);
    }
}

/* Quotes, tags, line ends and values that are not finite are text and gaps, nothing else. */
static void text_cannot_break_out(void **state)
{
    bdml_handle *h = *state;
    const double holes[] = {1, NAN, INFINITY, 2};
    const study_plot_series series[] = {{"a \"quote\" & <script>\x01", STUDY_PLOT_LINE_POINTS, 0, 4,
                                         x, holes, NULL, NULL, NULL},
                                        {"nothing", STUDY_PLOT_LINE, -1, 0, x, y, NULL, NULL,
                                         NULL}};
    study_plot_panel panels[2] = {simple(series, 2), simple(series + 1, 1)};
    panels[0].title = "</text><b>";
    const study_plot plot = {.title = "'</svg>", .panel_count = 2, .panel = panels};
    bool drawn = false;
    check_ok(h, study_plot_write(h, &plot, "plot it's.svg", &drawn));
    check_true(drawn);
    char *text = slurp("plot it's.svg");
    check_true(strstr(text, "a &quot;quote&quot; &amp; &lt;script&gt; ") != NULL);
    check_true(!strstr(text, "<script") && !strstr(text, "<b>") && !strstr(text, "'</svg>"));
    check_true(!strstr(text, "nan") && !strstr(text, "inf"));
    /* two points are left, each with what it says; the line is broken between them */
    int circles = 0;
    for (const char *at = text; (at = strstr(at, "data-i=")); at++) circles++;
    assert_int_equal(circles, 2);
    const char *curve = strstr(text, "class=\"line\" d=\"M");
    check_true(curve &&
               strcspn(strchr(curve, 'M') + 1, "L") > strcspn(strchr(curve, 'M') + 1, "M"));
    free(text);
    unlink("plot it's.svg");
}

static void names_are_checked(void **state)
{
    bdml_handle *h = *state;
    bool drawn = true;
    const study_plot empty = {0};
    check_ok(h, study_plot_check_name(h, "a.svg"));
    check_fails(h, study_plot_check_name(h, "a.gif"), BDML_ERR_ARGUMENT, ".svg, .png or .pdf");
    check_fails(h, study_plot_check_name(h, ".svg"), BDML_ERR_ARGUMENT, "ends in");
    check_fails(h, study_plot_write(h, &empty, "a.svg", &drawn), BDML_ERR_ARGUMENT, "a panel");
    check_true(!drawn);
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    check_fails(h, study_plot_write(h, &plot, "no/such/folder/a.svg", &drawn), BDML_ERR_IO,
                "cannot be written");
}

/* Without a converter: a warning that names the package, no file, no error. A file that was there stays. */
static void converter_may_be_missing(void **state)
{
    bdml_handle *h = *state;
    heard ears = {0};
    bool drawn = true;
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    char *path = strdup(getenv("PATH"));
    FILE *f = fopen("plot-old.png", "w");
    fputs("old", f);
    fclose(f);
    bdml_set_log(h, listen, &ears);
    setenv("PATH", "/nonexistent", 1);
    bdml_status status = study_plot_write(h, &plot, "plot-old.png", &drawn);
    setenv("PATH", path, 1);
    free(path);
    check_ok(h, status);
    check_true(!drawn);
    assert_int_equal(ears.warnings, 1);
    check_true(strstr(ears.line, "librsvg2-bin") != NULL);
    char *text = slurp("plot-old.png");
    assert_string_equal(text, "old");
    free(text);
    unlink("plot-old.png");
}

/* A converter that fails is an error with its own words, and leaves no file. */
static void converter_may_fail(void **state)
{
    bdml_handle *h = *state;
    bool drawn = true;
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    char *path = strdup(getenv("PATH")), folder[] = "plot-bin-XXXXXX", file[64];
    check_true(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/rsvg-convert", folder);
    FILE *f = fopen(file, "w");
    fputs("#!/bin/sh\necho >&2\necho 'no such terminal' >&2\nexit 1\n", f);
    fclose(f);
    chmod(file, 0755);
    setenv("PATH", folder, 1);
    bdml_status status = study_plot_write(h, &plot, "plot-none.png", &drawn);
    setenv("PATH", path, 1);
    free(path);
    unlink(file);
    rmdir(folder);
    check_fails(h, status, BDML_ERR_IO, "rsvg-convert failed: no such terminal");
    check_true(!drawn);
    check_true(!exists("plot-none.png"));
}

/* 98 values in [0, 1] and two far out: the axis keeps near the many, in a panel that asks for it. */
static void limits_are_robust(void **state)
{
    enum { N = 100 };
    bdml_handle *h = *state;
    double v[N], w[N];
    for (int i = 0; i < N; i++) {
        v[i] = (i + 0.5) / N;
        w[i] = i;
    }
    v[0] = -1000.0;
    v[N - 1] = 1000.0;
    const study_plot_series series = {"v", STUDY_PLOT_POINTS, 0, N, v, w, NULL, NULL, NULL};
    study_plot_panel panel = simple(&series, 1);
    study_axis a;
    check_ok(h, study_axis_limits(h, &panel, true, &a));
    check_true(a.lo < -1000.0 && a.hi > 1000.0); /* all, and a little more */
    panel.robust = 0.02;
    check_ok(h, study_axis_limits(h, &panel, true, &a));
    check_true(a.lo > -1.0 && a.lo < 0.0 && a.hi > 1.0 && a.hi < 2.0);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    bool drawn;
    check_ok(h, study_plot_write(h, &plot, "plot-far.svg", &drawn));
    char *text = slurp("plot-far.svg");
    check_true(strstr(text, "2 points lie beyond the axes") != NULL);
    free(text);
    unlink("plot-far.svg");
}

/* Ticks are round, inside the limits, and further apart than their labels are wide. */
static void ticks_do_not_touch(void **state)
{
    static const struct {
        double lo, hi;
        bool log;
    } cases[] = {{0, 1, false},        {-3.7e5, 2.1e6, false}, {1e-9, 3e-9, false},
                 {99.9, 100.1, false}, {1, 10000, true},       {1e-14, 1, true},
                 {2.0, 2.4, true},     {0.3, 70, true},        {1e-300, 1e300, true}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int pixels = 120; pixels < 900; pixels += 130) {
            study_axis a = {.lo = cases[c].lo,
                            .hi = cases[c].hi,
                            .log = cases[c].log,
                            .to = (double)pixels};
            study_axis_ticks(&a, true);
            if (pixels > 300) check_true(a.ticks >= 2);
            for (int i = 0; i < a.ticks; i++) {
                double at = study_axis_at(&a, a.tick[i]);
                check_true(at >= -1e-9 && at <= pixels + 1e-9);
                check_close(atof(a.label[i]), a.tick[i], 1e-5 * fabs(a.tick[i]) + 1e-300);
                if (i == 0) continue;
                double width =
                    (study_text_width(a.label[i], 12) + study_text_width(a.label[i - 1], 12)) / 2;
                check_true(at - study_axis_at(&a, a.tick[i - 1]) > width);
            }
        }
}

/* Where a value lies: by hand, plain and logarithmic, upwards and downwards. */
static void values_have_a_place(void **state)
{
    (void)state;
    const study_axis plain = {.lo = 2, .hi = 4, .from = 100, .to = 20};
    const study_axis log = {.lo = 1, .hi = 10000, .from = 0, .to = 400, .log = true};
    check_close(study_axis_at(&plain, 3.5), 40.0, 1e-12);
    check_close(study_axis_at(&log, 100.0), 200.0, 1e-12);
}

/* A converter that hangs is ended, the reason is said, and what was there stays. */
static void a_converter_that_hangs_is_ended(void **state)
{
    bdml_handle *h = *state;
    const study_plot_series series[] = {{"line", STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL, NULL}};
    study_plot_panel panel = simple(series, 1);
    const study_plot plot = {.title = "title", .panel_count = 1, .panel = &panel};
    char dir[] = "/tmp/bdml-plot-XXXXXX", fake[64], picture[64], path[4096];
    const char *was = getenv("PATH");
    bool drawn;
    assert_non_null(mkdtemp(dir));
    snprintf(fake, sizeof fake, "%s/rsvg-convert", dir);
    snprintf(picture, sizeof picture, "%s/a.png", dir);
    snprintf(path, sizeof path, "%s:%s", dir, was ? was : "/bin:/usr/bin");
    char *kept = was ? strdup(was) : NULL;
    FILE *f = fopen(fake, "w");
    assert_non_null(f);
    fputs("#!/bin/sh\nexec sleep 1000\n", f);
    fclose(f);
    assert_int_equal(chmod(fake, 0755), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    bdml_limit_time(h, 0.5);
    double began = client_now();
    check_fails(h, study_plot_write(h, &plot, picture, &drawn), BDML_ERR_IO,
                "rsvg-convert was not done after 1 seconds");
    check_true(client_now() - began < 20.0 && !drawn);
    if (kept) setenv("PATH", kept, 1);
    free(kept);
    unlink(fake);
    assert_int_equal(rmdir(dir), 0); /* no picture, and no part of one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(limits_are_robust),
        cmocka_unit_test(ticks_do_not_touch),
        cmocka_unit_test(values_have_a_place),
        handle_test(plot_is_drawn),
        handle_test(text_cannot_break_out),
        handle_test(names_are_checked),
        handle_test(converter_may_be_missing),
        handle_test(converter_may_fail),
        handle_test(a_converter_that_hangs_is_ended),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
