/* figure.c - the table of figures, and drawing one of them from results. */
#include "report/page.h"

#include <stdlib.h>

static bool always(const json_t *run)
{
    (void)run;
    return true;
}

typedef struct figure {
    study_figure about;
    bool (*has)(const json_t *run);
    bdml_status (*draw)(const json_t *run, study_drawing *d);
} figure;

static const figure figures[] = {
    {{"errors", "error of each method", "eval, adapt or verify"},
     study_has_errors,
     study_draw_errors},
    {{"path", "error and bracket against distortion", "path"}, study_has_path, study_draw_path},
    {{"bracket", "bracket on the optimum against distortion", "path"},
     study_has_path,
     study_draw_bracket},
    {{"walk", "error, spectrum and points at the K chosen", "path"},
     study_has_walk,
     study_draw_walk},
    {{"suspects", "rows that weigh most in a contradiction", "train"},
     study_has_suspects,
     study_draw_suspects},
    {{"features", "which features matter", "train"}, study_has_features, study_draw_features},
    {{"roc", "true against false acceptances", "verify"}, study_has_roc, study_draw_roc},
    {{"unseen", "recall on seen and unseen classes against distortion", "retrieve --grid"},
     study_has_unseen,
     study_draw_unseen},
    {{"view", "the points in two dimensions, before and after", "train"},
     study_has_view,
     study_draw_view},
    {{"spectrum", "eigenvalues of the metric", "train or info"},
     study_has_spectrum,
     study_draw_spectrum},
    {{"convergence", "how the bracket on the optimum closed", "train"},
     study_has_history,
     study_draw_history},
    {{"ellipsoids", "what logDet and the F-norm do not see", "nothing"},
     always,
     study_draw_ellipsoids},
};
enum { FIGURES = sizeof figures / sizeof *figures };

const study_figure *study_figure_at(int i)
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
    client_fail(h, BDML_ERR_ARGUMENT, "there is no figure '%.100s'; the figures are: %s", name,
                list);
    return NULL;
}

bool study_figure_there(const char *name, const json_t *run)
{
    for (int i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].about.name, name) == 0) return figures[i].has(run);
    return false;
}

/* The drawing is large: it lives on the heap. */
static bdml_status make(bdml_handle *h, const figure *f, const json_t *run, study_drawing **out)
{
    study_drawing *d = *out = client_alloc(h, 1, sizeof *d);
    if (!d) return BDML_ERR_MEMORY;
    d->h = h;
    return f->draw(run, d);
}

static void discard(study_drawing *d)
{
    if (!d) return;
    for (int i = 0; i < d->arrays; i++) free(d->array[i]);
    free(d->note_text);
    free(d->note);
    free(d);
}

/* Find the figure and draw it; *d is to be discarded whatever the result. */
static bdml_status draw(bdml_handle *h, const char *name, const json_t *run, study_drawing **d)
{
    const figure *f = find(h, name);
    if (!f) return BDML_ERR_ARGUMENT;
    if (!f->has(run))
        return client_fail(h, BDML_ERR_DATA,
                           "the figure '%s' is made of what 'bdml %s --json' writes; this file has "
                           "nothing of the kind",
                           name, f->about.made_of);
    return make(h, f, run, d);
}

bdml_status study_figure_write(bdml_handle *h, const char *name, const json_t *run,
                               const char *path, int pixels, bool *drawn)
{
    study_drawing *d = NULL;
    *drawn = false;
    bdml_status status = draw(h, name, run, &d);
    if (status == BDML_OK && d) {
        d->plot.pixels = pixels;
        status = study_plot_write(h, &d->plot, path, drawn);
    }
    discard(d);
    return status;
}

bdml_status study_figure_html(bdml_handle *h, const char *name, const json_t *run,
                              const char *caption, FILE *f)
{
    study_drawing *d = NULL;
    bdml_status status = draw(h, name, run, &d);
    if (status == BDML_OK && d) status = study_html_plot(h, f, &d->plot, name, d->alt, caption);
    if (status == BDML_OK && d && d->page_data) status = study_html_data(h, f, d->page_data(run));
    fputs("</figure>\n", f);
    discard(d);
    return status;
}
