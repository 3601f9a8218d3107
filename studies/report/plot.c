/* plot.c - plots as files: SVG as svg_file.c writes it, PNG and PDF made of that. */
#include "report/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const double SHARP =
    2.0; /* pixels of a PNG to one of the drawing, where no size is asked for */

typedef struct format {
    const char *ending, *name; /* name NULL: SVG itself */
} format;
static const format formats[] = {{".svg", NULL}, {".png", "png"}, {".pdf", "pdf"}};

static const format *find_format(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (n > strlen(formats[i].ending) && client_ends_in(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

bdml_status study_plot_check_name(bdml_handle *h, const char *path)
{
    if (find_format(path)) return BDML_OK;
    return client_fail(h, BDML_ERR_ARGUMENT, "%s: a plot ends in .svg, .png or .pdf", path);
}

int study_plot_ranges_along(const study_plot_series *s)
{
    if (!s->low || !s->high) return 0;
    if (s->style == STUDY_PLOT_BARS) return 'x';
    return s->style == STUDY_PLOT_ERROR_BARS || s->style == STUDY_PLOT_BAND ? 'y' : 0;
}

/* All that was written to f, which is at its end. */
static bdml_status read_back(bdml_handle *h, FILE *f, const char *name, char **bytes, size_t *size)
{
    bdml_status status = BDML_OK;
    long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end < 0) return client_fail(h, BDML_ERR_IO, "%s: no plot: %s", name, strerror(errno));
    NEW(h, *bytes, (size_t)end + 1);
    *size = (size_t)end;
    rewind(f);
    if (fread(*bytes, 1, *size, f) != *size)
        status = client_fail(h, BDML_ERR_IO, "%s: no plot: a temporary file cannot be read", name);
done:
    return status;
}

/* The picture, its bytes the caller's to free; NULL when there is nothing to convert it with. */
static bdml_status picture(bdml_handle *h, const study_plot *plot, const char *path, char **bytes,
                           size_t *size)
{
    bdml_status status = BDML_OK;
    const format *to = find_format(path);
    study_plot sized = *plot;
    bool found = true;
    FILE *svg = tmpfile(), *made = tmpfile();

    *bytes = NULL;
    if (!svg || !made) GO(client_fail(h, BDML_ERR_IO, "%s: no plot: %s", path, strerror(errno)));
    if (to->name && strcmp(to->name, "png") == 0 && sized.pixels == 0) {
        int columns, width, height;
        study_svg_size(plot, &columns, &width, &height);
        sized.pixels = (int)(SHARP * columns * width);
    }
    GO(study_svg_write(h, svg, &sized));
    if (fflush(svg) != 0 || ferror(svg))
        GO(client_fail(h, BDML_ERR_IO, "%s: no plot: a temporary file cannot be written", path));
    if (to->name) GO(study_convert(h, svg, to->name, fileno(made), &found));
    if (found) status = read_back(h, to->name ? made : svg, path, bytes, size);
done:
    if (svg) fclose(svg);
    if (made) fclose(made);
    if (status != BDML_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return status;
}

bdml_status study_plot_write(bdml_handle *h, const study_plot *plot, const char *path, bool *drawn)
{
    bdml_status status = BDML_OK;
    bdml_file *file = NULL;
    char *bytes = NULL;
    size_t size = 0;
    *drawn = false;
    TRY(study_plot_check_name(h, path));
    if (plot->panel_count < 1)
        return client_fail(h, BDML_ERR_ARGUMENT, "%s: a plot needs a panel", path);
    TRY(bdml_file_create(h, path, &file)); /* told before anything is drawn */
    GO(picture(h, plot, path, &bytes, &size));
    if (!bytes) {
        bdml_log_line(
            h, BDML_LOG_WARNING,
            "no plot: PNG and PDF are made by rsvg-convert, which was not found; install it "
            "(Debian package librsvg2-bin), or ask for .svg, which needs nothing");
        goto done;
    }
    GO(bdml_file_write(h, file, bytes, size));
    status = bdml_file_commit(h, file);
    file = NULL;
    *drawn = status == BDML_OK;
done:
    bdml_file_discard(file);
    free(bytes);
    return status;
}
