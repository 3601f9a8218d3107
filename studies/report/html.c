/* html.c - text, numbers and pictures as HTML. */
#include "report/page.h"

#include <stdarg.h>
#include <stdlib.h>

#include "report/svg.h"

void study_html_text(study_html *p, const char *s)
{
    study_escape(p->f, s);
}

void study_html_printf(study_html *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    client_print_markup(p->f, study_escape, fmt, args);
    va_end(args);
}

void study_html_number(study_html *p, const char *fmt, double v)
{
    char text[64];
    if (isnan(v))
        fputs("–", p->f);
    else if (isinf(v))
        fputs(v > 0.0 ? "∞" : "−∞", p->f);
    else {
        snprintf(text, sizeof text, fmt, v);
        fputs(text, p->f);
    }
}

/* The series of all panels that have a title, each title once. */
static void write_key(FILE *f, const study_plot *plot)
{
    const char *told[HTML_KEY];
    int count = 0;
    for (int i = 0; i < plot->panel_count; i++)
        for (int k = 0; k < plot->panel[i].series_count && count < HTML_KEY; k++) {
            const study_plot_series *s = &plot->panel[i].series[k];
            bool again = !study_svg_in_key(s);
            for (int t = 0; t < count && !again; t++) again = strcmp(told[t], s->title) == 0;
            if (again) continue;
            fputs(count == 0 ? "<ul class=\"key\">" : "", f);
            told[count++] = s->title;
            fputs("<li data-s=\"", f);
            study_escape(f, s->title);
            fputs("\">", f);
            study_svg_sample(f, s, 0, 0);
            study_escape(f, s->title);
            fputs("</li>", f);
        }
    if (count) fputs("</ul>\n", f);
}

bdml_status study_html_data(bdml_handle *h, FILE *f, json_t *data)
{
    char *text =
        data ? json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(5)) : NULL;
    json_decref(data);
    if (!text || !client_json_whole()) {
        free(text);
        return client_no_memory(h);
    }
    fputs("<script type=\"application/json\">", f);
    for (const char *s = text; *s; s++) /* no end of the element inside it */
        if (*s == '<')
            fputs("\\u003c", f);
        else
            fputc(*s, f);
    fputs("</script>\n", f);
    free(text);
    return BDML_OK;
}

bdml_status study_html_plot(bdml_handle *h, FILE *f, const study_plot *plot, const char *name,
                            const char *alt, const char *caption)
{
    int columns, width, height;
    study_svg_size(plot, &columns, &width, &height);
    fprintf(f, "<figure data-figure=\"%s\">", name);
    if (plot->title) {
        fputs("<p class=\"heading\">", f);
        study_escape(f, plot->title);
        fputs("</p>", f);
    }
    fputs("<div class=\"panels\">\n", f);
    for (int i = 0; i < plot->panel_count; i++)
        TRY(study_svg_panel(h, f, &plot->panel[i], i == 0 ? alt : NULL, 0, 0, width, height));
    fputs("</div>\n", f);
    write_key(f, plot);
    fputs("<figcaption>", f);
    study_escape(f, caption);
    fputs("</figcaption>", f);
    return BDML_OK;
}
