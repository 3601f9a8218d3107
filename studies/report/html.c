/* html.c - text, numbers and pictures as HTML. */
#include "report/page.h"

#include <stdarg.h>
#include <stdlib.h>

enum { WIDE = 600 }; /* pixels */

void study_html_text(study_html *p, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '<':
            fputs("&lt;", p->f);
            break;
        case '>':
            fputs("&gt;", p->f);
            break;
        case '&':
            fputs("&amp;", p->f);
            break;
        case '"':
            fputs("&quot;", p->f);
            break;
        default:
            fputc(*s, p->f);
        }
    }
}

void study_html_printf(study_html *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(p->f, fmt, args);
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

static void base64(FILE *f, const unsigned char *data, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)data[i] << 16;
        if (i + 1 < n) v |= (unsigned)data[i + 1] << 8;
        if (i + 2 < n) v |= data[i + 2];
        fputc(digit[v >> 18 & 63], f);
        fputc(digit[v >> 12 & 63], f);
        fputc(i + 1 < n ? digit[v >> 6 & 63] : '=', f);
        fputc(i + 2 < n ? digit[v & 63] : '=', f);
    }
}

void study_html_svg(study_html *p, const char *svg, const char *alt, const char *caption)
{
    /* a wide picture scrolls on a narrow screen instead of shrinking beyond reading */
    const char *width = strstr(svg, "width=\"");
    bool wide = width && strtol(width + strlen("width=\""), NULL, 10) > WIDE;
    fprintf(p->f, "<figure><img%s alt=\"", wide ? " class=\"wide\"" : "");
    study_html_text(p, alt);
    fputs("\" src=\"data:image/svg+xml;base64,", p->f);
    base64(p->f, (const unsigned char *)svg, strlen(svg));
    fputs("\"><figcaption>", p->f);
    study_html_text(p, caption);
    fputs("</figcaption></figure>\n", p->f);
}
