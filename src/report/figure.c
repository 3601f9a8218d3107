/* figure.c - the table of figures, and drawing one of them from results. */
#include "report/figures.h"

#include <stdlib.h>

static bool always(const json_t *run)
{
    (void)run;
    return true;
}

typedef struct figure {
    bdml_figure about;
    bool (*has)(const json_t *run);
    bdml_status (*draw)(const json_t *run, bdml_drawing *d);
} figure;

static const figure figures[] = {
    {{"errors", "error of each method", "eval, adapt or verify"},
     bdml_has_errors,
     bdml_draw_errors},
    {{"path", "error and bracket against distortion", "path"}, bdml_has_path, bdml_draw_path},
    {{"roc", "true against false acceptances", "verify"}, bdml_has_roc, bdml_draw_roc},
    {{"view", "the points in two dimensions, before and after", "train"},
     bdml_has_view,
     bdml_draw_view},
    {{"spectrum", "eigenvalues of the metric", "train or info"},
     bdml_has_spectrum,
     bdml_draw_spectrum},
    {{"convergence", "how the bracket on the optimum closed", "train"},
     bdml_has_history,
     bdml_draw_history},
    {{"ellipsoids", "what logDet and the F-norm do not see", "nothing"},
     always,
     bdml_draw_ellipsoids},
};
enum { FIGURES = sizeof figures / sizeof *figures };

const bdml_figure *bdml_figure_at(int i)
{
    return i >= 0 && i < FIGURES ? &figures[i].about : NULL;
}

static const figure *find(bdml_handle *h, const char *name)
{
    char list[256] = "";
    for (int i = 0; i < FIGURES; i++) {
        if (strcmp(figures[i].about.name, name) == 0) return &figures[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", figures[i].about.name);
    }
    bdml_fail(h, BDML_ERR_ARGUMENT, "there is no figure '%.100s'; the figures are: %s", name, list);
    return NULL;
}

bool bdml_figure_there(const char *name, const json_t *run)
{
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].about.name, name) == 0) return figures[i].has(run);
    return false;
}

/* The drawing is large: it lives on the heap. */
static bdml_status make(bdml_handle *h, const figure *f, const json_t *run, bdml_drawing **out)
{
    bdml_drawing *d = *out = bdml_calloc(h, 1, sizeof *d);
    if (!d) return BDML_ERR_MEMORY;
    d->h = h;
    return f->draw(run, d);
}

static void discard(bdml_drawing *d)
{
    for (int i = 0; d && i < d->arrays; i++) free(d->array[i]);
    free(d);
}

bdml_status bdml_figure_write(bdml_handle *h, const char *name, const json_t *run, const char *path,
                              bool *drawn)
{
    bdml_drawing *d = NULL;
    *drawn = false;
    const figure *f = find(h, name);
    if (!f) return BDML_ERR_ARGUMENT;
    if (!f->has(run))
        return bdml_fail(h, BDML_ERR_DATA,
                         "the figure '%s' is made of what 'bdml %s --json' writes; this file has "
                         "nothing of the kind",
                         name, f->about.made_of);
    bdml_status status = make(h, f, run, &d);
    if (status == BDML_OK) status = bdml_plot_write(h, &d->plot, path, drawn);
    discard(d);
    return status;
}

bdml_status bdml_figure_svg(bdml_handle *h, const char *name, const json_t *run, char **svg,
                            char *alt, size_t size)
{
    bdml_drawing *d = NULL;
    const figure *f = find(h, name);
    *svg = NULL;
    if (!f) return BDML_ERR_ARGUMENT;
    bdml_status status = make(h, f, run, &d);
    if (status == BDML_OK) {
        snprintf(alt, size, "%s", d->alt);
        status = bdml_plot_svg(h, &d->plot, svg);
    }
    discard(d);
    return status;
}
