/* test_plot.c - plots: what reaches the file, names, awkward text, and life without gnuplot. */
#include "check.h"

#include <sys/stat.h>

#include "report/report.h"

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

static bool have_gnuplot(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") == 0) return true;
    print_message("skipped: gnuplot is not installed\n");
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
    if (!have_gnuplot()) skip();
    const study_plot_series series[] = {{"with bars", STUDY_PLOT_ERROR_BARS, 0, 4, x, y, low, high},
                                        {"a band", STUDY_PLOT_BAND, 1, 4, x, y, low, high},
                                        {"a line", STUDY_PLOT_LINE, 2, 4, x, y, NULL, NULL},
                                        {"dots", STUDY_PLOT_POINTS, 3, 4, x, y, NULL, NULL},
                                        {"both", STUDY_PLOT_LINE_POINTS, 4, 4, x, y, NULL, NULL}};
    const study_plot_mark mark = {1.5, "here"};
    study_plot_panel panels[2] = {simple(series, 5), simple(series, 1)};
    panels[0].mark_count = 1;
    panels[0].mark = &mark;
    panels[1].log_y = panels[1].equal = true;
    const study_plot plot = {.title = "title", .panel_count = 2, .panel = panels};
    for (int i = 0; i < 3; i++) {
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

/* Quotes, gnuplot's own syntax, line ends and values that are not finite are text and gaps, nothing else. */
static void text_cannot_break_out(void **state)
{
    bdml_handle *h = *state;
    if (!have_gnuplot()) skip();
    const double holes[] = {1, NAN, INFINITY, 2};
    const study_plot_series series[] = {{"it's `touch plot-broken`\nEND_OF_DATA",
                                         STUDY_PLOT_LINE_POINTS, 0, 4, x, holes, NULL, NULL},
                                        {"nothing", STUDY_PLOT_LINE, -1, 0, x, y, NULL, NULL}};
    study_plot_panel panels[2] = {simple(series, 2), simple(series + 1, 1)};
    panels[0].title = "a'b\"c; system('touch plot-broken') \\ {x_y^z} @H";
    const study_plot plot = {.title = "'\n!touch plot-broken\n", .panel_count = 2, .panel = panels};
    bool drawn = false;
    check_ok(h, study_plot_write(h, &plot, "plot it's.svg", &drawn));
    check_true(drawn);
    check_true(!exists("plot-broken"));
    char *text = slurp("plot it's.svg");
    check_true(strstr(text, "{x_y^z}") != NULL); /* as written, no markup */
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
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    check_fails(h, study_plot_write(h, &plot, "no/such/folder/a.svg", &drawn), BDML_ERR_IO,
                "cannot be written");
}

/* Without gnuplot: a warning that names the package, no file, no error. A file that was there stays. */
static void gnuplot_may_be_missing(void **state)
{
    bdml_handle *h = *state;
    heard ears = {0};
    bool drawn = true;
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    char *path = strdup(getenv("PATH"));
    FILE *f = fopen("plot-old.svg", "w");
    fputs("old", f);
    fclose(f);
    bdml_set_log(h, listen, &ears);
    setenv("PATH", "/nonexistent", 1);
    bdml_status status = study_plot_write(h, &plot, "plot-old.svg", &drawn);
    setenv("PATH", path, 1);
    free(path);
    check_ok(h, status);
    check_true(!drawn);
    assert_int_equal(ears.warnings, 1);
    check_true(strstr(ears.line, "gnuplot-nox") != NULL);
    char *text = slurp("plot-old.svg");
    assert_string_equal(text, "old");
    free(text);
    unlink("plot-old.svg");
}

/* A gnuplot that fails is an error with its own words, and leaves no file. */
static void gnuplot_may_fail(void **state)
{
    bdml_handle *h = *state;
    bool drawn = true;
    const study_plot_series series = {NULL, STUDY_PLOT_LINE, 0, 4, x, y, NULL, NULL};
    const study_plot_panel panel = simple(&series, 1);
    const study_plot plot = {.panel_count = 1, .panel = &panel};
    char *path = strdup(getenv("PATH")), folder[] = "plot-bin-XXXXXX", file[64];
    check_true(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/gnuplot", folder);
    FILE *f = fopen(file, "w");
    fputs("#!/bin/sh\necho >&2\necho 'no such terminal' >&2\nexit 1\n", f);
    fclose(f);
    chmod(file, 0755);
    setenv("PATH", folder, 1);
    bdml_status status = study_plot_write(h, &plot, "plot-none.svg", &drawn);
    setenv("PATH", path, 1);
    free(path);
    unlink(file);
    rmdir(folder);
    check_fails(h, status, BDML_ERR_IO, "gnuplot failed: no such terminal");
    check_true(!drawn);
    check_true(!exists("plot-none.svg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        handle_test(plot_is_drawn),     handle_test(text_cannot_break_out),
        handle_test(names_are_checked), handle_test(gnuplot_may_be_missing),
        handle_test(gnuplot_may_fail),
    };
    return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
