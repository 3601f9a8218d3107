/* number.c - numbers to and from text, correctly rounded and whatever the host's locale is. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#if defined(__APPLE__) || defined(__FreeBSD__)
#include <xlocale.h>
#endif

enum { LONGEST_NUMBER = 1024 }; /* characters; anything longer is not a number a person wrote */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **s, size_t *n)
{
    while (*n > 0 && is_blank(**s)) (*s)++, (*n)--;
    while (*n > 0 && is_blank((*s)[*n - 1])) (*n)--;
}

/* Clinger's fast path: a mantissa below 2^53 and a power of ten up to 22 are exact doubles, so one
 * multiplication or division rounds correctly. Covers nearly all data files. */
static bool parse_simple(const char *s, size_t n, double *out)
{
    static const double pow10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const uint64_t EXACT = (uint64_t)1 << 53;
    const char *p = s, *end = s + n;
    bool negative = false, any = false;
    uint64_t mantissa = 0;
    int scale = 0;

    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    for (; p < end && *p >= '0' && *p <= '9'; p++, any = true) {
        if (mantissa >= EXACT / 10) return false;
        mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    }
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, any = true, scale--) {
            if (mantissa >= EXACT / 10) return false;
            mantissa = 10 * mantissa + (uint64_t)(*p - '0');
        }
    }
    if (!any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        int e = 0, sign = 1, digits = 0;
        if (++p < end && (*p == '-' || *p == '+')) sign = *p++ == '-' ? -1 : 1;
        for (; p < end && *p >= '0' && *p <= '9' && digits < 4; p++, digits++)
            e = 10 * e + (*p - '0');
        if (digits == 0) return false;
        scale += sign * e;
    }
    if (p != end || scale < -22 || scale > 22) return false;
    double v = (double)mantissa;
    v = scale < 0 ? v / pow10[-scale] : v * pow10[scale];
    *out = negative ? -v : v;
    return true;
}

bool bdml_parse_double(locale_t c, const char *s, size_t n, double *out)
{
    char text[LONGEST_NUMBER], *end;
    trim(&s, &n);
    if (n == 0 || n >= sizeof text) return false;
    if (parse_simple(s, n, out)) return true;
    /* strtod also takes hexadecimal floats and blanks before the number: not data. */
    if (memchr(s, 'x', n) || memchr(s, 'X', n) || memchr(s, '(', n) || memchr(s, '\n', n))
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    *out = strtod_l(text, &end, c);
    return end == text + n;
}

bool bdml_parse_int(const char *s, size_t n, int64_t *out)
{
    bool negative = false;
    uint64_t v = 0;
    trim(&s, &n);
    if (n > 0 && (*s == '-' || *s == '+')) negative = *s == '-', s++, n--;
    if (n == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10) return false;
        v = 10 * v + digit;
    }
    *out = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

int bdml_vsnprintf(locale_t c, char *out, size_t size, const char *fmt, va_list ap)
{
    locale_t was = uselocale(c); /* of this thread only */
    int n = vsnprintf(out, size, fmt, ap);
    uselocale(was);
    return n;
}

int bdml_snprintf(locale_t c, char *out, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = bdml_vsnprintf(c, out, size, fmt, ap);
    va_end(ap);
    return n;
}

int bdml_format_double(locale_t c, double v, char out[BDML_NUMBER_SIZE])
{
    locale_t was = uselocale(c);
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, BDML_NUMBER_SIZE, "%.*g", digits, v);
        if (strtod_l(out, NULL, c) == v) break;
    }
    uselocale(was);
    return n;
}

/* [-]0xH.HHHHHHHHHHHHHp[+-]N from the bits: sign 1, exponent 11, fraction 52 = 13 digits, zeros at its end left out. */
int bdml_format_hex(double v, char out[BDML_NUMBER_SIZE])
{
    uint64_t bits, fraction;
    char *p = out, digits[4];
    memcpy(&bits, &v, sizeof bits);
    fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff), exponent = biased - 1023, n = 0;
    if (bits >> 63) *p++ = '-';
    if (biased == 0x7ff) {
        for (const char *name = fraction ? "nan" : "inf"; *name; name++) *p++ = *name;
        return (int)(p - out);
    }
    if (biased == 0) exponent = fraction ? -1022 : 0; /* subnormal, zero */
    *p++ = '0';
    *p++ = 'x';
    *p++ = biased ? '1' : '0';
    if (fraction) *p++ = '.';
    for (; fraction; fraction = fraction << 4 & (((uint64_t)1 << 52) - 1))
        *p++ = "0123456789abcdef"[fraction >> 48];
    *p++ = 'p';
    *p++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    do {
        digits[n++] = (char)('0' + exponent % 10);
        exponent /= 10;
    } while (exponent > 0);
    while (n > 0) *p++ = digits[--n];
    return (int)(p - out);
}
