/* visible.c - text of others, such as names in files, so that it can be shown: what a terminal would obey instead of
 * showing it, and bytes that are no UTF-8, become \xNN; and what a spreadsheet would run. */
#include "base/base.h"

/* Bytes of the UTF-8 character that begins at s[0..n), its code in *code; 0: none does; -1: its end is not there yet.
 * Longer forms than needed, halves of UTF-16 pairs and codes beyond 10FFFF are none. */
static int character(const unsigned char *s, size_t n, uint32_t *code)
{
    int size = s[0] < 0x80                  ? 1
               : s[0] < 0xC2 || s[0] > 0xF4 ? 0
               : s[0] < 0xE0                ? 2
               : s[0] < 0xF0                ? 3
                                            : 4;
    *code = size == 1 ? s[0] : s[0] & (0xFFu >> (size + 1));
    for (int i = 1; i < size; i++) {
        if ((size_t)i >= n) return -1;
        unsigned lo = s[0] == 0xE0 && i == 1 ? 0xA0 : s[0] == 0xF0 && i == 1 ? 0x90 : 0x80;
        unsigned hi = s[0] == 0xED && i == 1 ? 0x9F : s[0] == 0xF4 && i == 1 ? 0x8F : 0xBF;
        if (s[i] < lo || s[i] > hi) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    return size;
}

/* Control characters (C0, DEL, C1), ends of line, and marks that turn the direction of writing round. */
static bool is_obeyed(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

size_t bdml_visible_take(const char *s, size_t n, bool end, char out[BDML_VISIBLE_SIZE])
{
    uint32_t code;
    int size = character((const unsigned char *)s, n, &code);
    if (size < 0 && !end) return 0;
    if (size > 0 && !is_obeyed(code)) {
        memcpy(out, s, (size_t)size);
        out[size] = '\0';
        return (size_t)size;
    }
    if (size < 1) size = 1; /* no character: one byte of it, and then on */
    for (size_t i = 0; i < (size_t)size; i++)
        snprintf(out + 4 * i, BDML_VISIBLE_SIZE - 4 * i, "\\x%02x", (unsigned char)s[i]);
    return (size_t)size;
}

size_t bdml_visible_text(const char *s, char *out, size_t size)
{
    char form[BDML_VISIBLE_SIZE];
    size_t n = s ? strlen(s) : 0, at = 0, room = size ? size - 1 : 0, used = 0;
    bool whole = true; /* what follows a form that did not fit is not written either */
    for (size_t i = 0; i < n;) {
        i += bdml_visible_take(s + i, n - i, true, form);
        size_t length = strlen(form);
        whole = whole && at + length <= room;
        if (whole) {
            memcpy(out + at, form, length);
            at += length;
        }
        used += length;
    }
    if (size) out[at] = '\0';
    return used;
}

/* Decimal digits with a sign, a point and an exponent: what no spreadsheet takes for more than a number. */
static bool is_number(const char *s)
{
    static const char digits[] = "0123456789";
    s += *s == '+' || *s == '-';
    size_t whole = strspn(s, digits), part = 0;
    s += whole;
    if (*s == '.') part = strspn(s + 1, digits), s += 1 + part;
    if (whole + part == 0) return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '+' || *s == '-';
        size_t power = strspn(s, digits);
        if (power == 0) return false;
        s += power;
    }
    return *s == '\0';
}

int bdml_is_formula(const char *s)
{
    if (!s) return 0;
    s += strspn(s, " \t\r\n"); /* which some take away */
    return *s && strchr("=+-@", *s) != NULL && s[1] != '\0' && !is_number(s);
}
