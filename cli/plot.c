/* plot.c - a picture by gnuplot, which is told everything through a pipe. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <signal.h>

static const char *terminal(const char *path)
{
    if (cli_ends_with(path, ".png")) return "png size 900,600";
    if (cli_ends_with(path, ".pdf")) return "pdf";
    return "svg size 900,600 background 'white'";
}

static void send(FILE *f, const cli_plot *p, const char *path)
{
    fprintf(f,
            "set terminal %s\nset output '%s'\nset title '%s'\nset xlabel '%s'\nset ylabel '%s'\n",
            terminal(path), path, p->title, p->x_label, p->y_label);
    fprintf(f, "set key outside\nset grid\n%s%s", p->log_x ? "set logscale x\n" : "",
            p->log_y ? "set logscale y\n" : "");
    for (int s = 0; s < p->series; s++)
        fprintf(f, "%s'-' with linespoints title '%s'", s ? ", " : "plot ", p->name[s]);
    fprintf(f, "\n");
    for (int s = 0; s < p->series; s++) {
        for (int k = 0; k < p->points; k++)
            if (isfinite(p->y[s * p->points + k]))
                fprintf(f, "%.10g %.10g\n", p->x[k], p->y[s * p->points + k]);
        fprintf(f, "e\n");
    }
}

bdml_status cli_plot_write(cli *c, const cli_plot *p, const char *path)
{
    if (strchr(path, '\'') || strchr(path, '\n'))
        return bdml_fail(c->h, BDML_ERR_ARGUMENT, "the name of a picture may not hold a quote");
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may not be there */
    FILE *f = popen("gnuplot", "w");
    if (f) send(f, p, path);
    int failed = f ? pclose(f) : -1;
    signal(SIGPIPE, before);
    if (failed != 0)
        return bdml_fail(c->h, BDML_ERR_IO, "cannot draw %s: gnuplot failed or is not installed",
                         path);
    return BDML_OK;
}
