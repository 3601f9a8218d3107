/* print.c - fprintf for people: text of others is shown on terminals and in pages, never obeyed; and text cut to a
 * given room without cutting a character. */
#include "client.h"

#include <stdlib.h>

enum { MOST_BYTES = 4 }; /* of a character */

/* One conversion of a format: %[flags][width][.precision][length]letter. */
typedef struct conversion {
    char flags[8], length[4], letter;
    int width, precision; /* 0, -1: none */
} conversion;

static int read_number(const char **p, va_list *args)
{
    int n = 0;
    if (**p == '*') {
        ++*p;
        return va_arg(*args, int);
    }
    while (**p >= '0' && **p <= '9') n = 10 * n + (*(*p)++ - '0');
    return n;
}

/* *p is behind the '%', and behind the letter afterwards. */
static conversion read_conversion(const char **p, va_list *args)
{
    conversion c = {.precision = -1};
    size_t n = strspn(*p, "-+ #0"), l;
    snprintf(c.flags, sizeof c.flags, "%.*s", (int)MIN(n, sizeof c.flags - 1), *p);
    *p += n;
    if (**p == '*' || (**p >= '1' && **p <= '9')) c.width = read_number(p, args);
    if (**p == '.') {
        ++*p;
        c.precision = read_number(p, args);
    }
    l = strspn(*p, "hlzjt");
    snprintf(c.length, sizeof c.length, "%.*s", (int)MIN(l, sizeof c.length - 1), *p);
    *p += l;
    c.letter = **p;
    if (**p) ++*p;
    return c;
}

static int characters(const char *s)
{
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* How much of s a precision lets through: bytes, as in printf, but no part of a character. */
static size_t length_of(const char *s, int precision)
{
    if (precision < 0) return strlen(s);
    size_t n = strnlen(s, (size_t)precision), end = n;
    if (n < (size_t)precision) return n;
    while (end > 0 && ((unsigned char)s[end] & 0xC0) == 0x80) end--;
    return n - end < MOST_BYTES ? end : n; /* more: no character was cut, it is none */
}

enum { PLAIN = 256 }; /* bytes up to which no memory is asked for */

/* s[0..n) as it is shown: in `room`, or where it is too long for that in memory of its own. NULL: there is none. */
static char *shown(const char *s, size_t n, char room[4 * PLAIN + 1])
{
    char short_one[PLAIN + 1];
    char *part = n <= PLAIN ? short_one : malloc(n + 1);
    if (!part) return NULL;
    memcpy(part, s, n);
    part[n] = '\0';
    size_t size = bdml_visible_text(part, NULL, 0) + 1;
    char *text = n <= PLAIN ? room : malloc(size);
    if (text) bdml_visible_text(part, text, size);
    if (part != short_one) free(part);
    return text;
}

/* Without memory: every byte that is not plain ASCII as \xNN, so that nothing is left out. */
static int print_bytes(FILE *f, const char *s, size_t n)
{
    int printed = 0;
    for (size_t i = 0; i < n; i++)
        printed += fprintf(f, s[i] >= ' ' && s[i] <= '~' ? "%c" : "\\x%02x", (unsigned char)s[i]);
    return printed;
}

static int print_text(FILE *f, const conversion *c, const char *s)
{
    if (!s) s = "(null)";
    char room[4 * PLAIN + 1];
    size_t n = length_of(s, c->precision);
    char *text = shown(s, n, room);
    if (!text) return print_bytes(f, s, n);
    int count = characters(text), pad = MAX(c->width - count, 0);
    bool left = strchr(c->flags, '-') != NULL;
    if (!left) fprintf(f, "%*s", pad, "");
    fputs(text, f);
    if (left) fprintf(f, "%*s", pad, "");
    if (text != room) free(text);
    return count + pad;
}

/* Anything but text, by printf itself; in markup a number that is none has a sign of its own. */
static int print_number(FILE *f, bool markup, const conversion *c, va_list *args)
{
    char fmt[64], width[16] = "", precision[16] = "";
    if (c->width > 0) snprintf(width, sizeof width, "%d", c->width);
    if (c->precision >= 0) snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(fmt, sizeof fmt, "%%%s%s%s%s%c", c->flags, width, precision, c->length, c->letter);
    if (strchr("aAeEfFgG", c->letter)) {
        double v = va_arg(*args, double);
        if (!markup || isfinite(v)) return fprintf(f, fmt, v);
        return fputs(isnan(v) ? "–" : v > 0.0 ? "∞" : "−∞", f);
    }
    if (strcmp(c->length, "ll") == 0) return fprintf(f, fmt, va_arg(*args, long long));
    if (strcmp(c->length, "l") == 0) return fprintf(f, fmt, va_arg(*args, long));
    if (strcmp(c->length, "z") == 0) return fprintf(f, fmt, va_arg(*args, size_t));
    if (strcmp(c->length, "j") == 0) return fprintf(f, fmt, va_arg(*args, intmax_t));
    return fprintf(f, fmt, va_arg(*args, int));
}

/* escape: what writes the text of others into markup; NULL: it goes to people. */
static int print_all(FILE *f, void (*escape)(FILE *f, const char *s), const char *fmt,
                     va_list *args)
{
    int printed = 0;
    for (const char *p = fmt; *p;) {
        size_t n = strcspn(p, "%");
        fwrite(p, 1, n, f);
        printed += (int)n;
        p += n;
        if (!*p) break;
        p++;
        conversion c = read_conversion(&p, args);
        if (c.letter == '%') {
            fputc('%', f);
            printed++;
        } else if (c.letter == 's') {
            const char *s = va_arg(*args, const char *);
            if (escape)
                escape(f, s ? s : "(null)");
            else
                printed += print_text(f, &c, s);
        } else {
            printed += print_number(f, escape != NULL, &c, args);
        }
    }
    return printed;
}

int client_print(FILE *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int printed = print_all(f, NULL, fmt, &args);
    va_end(args);
    return printed;
}

void client_print_markup(FILE *f, void (*escape)(FILE *f, const char *s), const char *fmt,
                         va_list args)
{
    va_list copy;
    va_copy(copy, args);
    print_all(f, escape, fmt, &copy);
    va_end(copy);
}

/* ---- into a given room ---------------------------------------------------------------------------------- */

/* Without the last character, if the end of the room has cut it. */
static void drop_part(char *s)
{
    size_t n = strlen(s), lead = n;
    while (lead > 0 && n - lead < MOST_BYTES - 1 && ((unsigned char)s[lead - 1] & 0xC0) == 0x80)
        lead--;
    if (lead == 0) return;
    unsigned char c = (unsigned char)s[lead - 1];
    size_t whole = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    if (n - (lead - 1) < whole) s[lead - 1] = '\0';
}

static void format_at(char *out, size_t size, size_t at, const char *fmt, va_list args)
{
    int need = vsnprintf(out + at, size - at, fmt, args);
    if (need >= 0 && (size_t)need >= size - at) drop_part(out);
}

void client_format(char *out, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_at(out, size, 0, fmt, args);
    va_end(args);
}

void client_vformat(char *out, size_t size, const char *fmt, va_list args)
{
    format_at(out, size, 0, fmt, args);
}

void client_append(char *out, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    format_at(out, size, strlen(out), fmt, args);
    va_end(args);
}
