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

enum { SMALL_POWER = 22, LARGE_POWER = 27 }; /* 5^k is an exact double; has less than 64 bits */
static const uint64_t EXACT = (uint64_t)1 << 53;

/* Clinger's fast path: a mantissa below 2^53 and a power of ten up to 22 are exact doubles, so one
 * multiplication or division rounds correctly. */
static bool scale_exact(uint64_t mantissa, int scale, double *out)
{
    static const double pow10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (mantissa >= EXACT || scale < -SMALL_POWER || scale > SMALL_POWER) return false;
    double v = (double)mantissa;
    *out = scale < 0 ? v / pow10[-scale] : v * pow10[scale];
    return true;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

static int leading_zeros(uint64_t v)
{
    return __builtin_clzll(v);
}

/* v 2^e, or where `more` is set a little more, to the nearest double, halves to even. v >= 2^62 when there is more; the
 * result is a normal number. */
static double round_wide(wide v, bool more, int e)
{
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v, bits;
    int drop = high ? 75 - leading_zeros(high) : 11 - leading_zeros(low);
    double power;
    if (drop > 0) {
        wide half = (wide)1 << (drop - 1), rest = v & (2 * half - 1);
        v >>= drop;
        v += rest > half || (rest == half && (more || (v & 1)));
        e += drop;
    }
    bits = (uint64_t)(1023 + e) << 52; /* 2^e */
    memcpy(&power, &bits, sizeof power);
    return (double)(uint64_t)v * power; /* v <= 2^53: exact */
}

/* A mantissa of 64 bits and a power of ten up to 27, as in most numbers that are written with 16 or 17 digits: times 5^k in
 * 128 bits, or over 5^k, both brought to the left, with what is left over. 10^k = 5^k 2^k. */
static bool scale_wide(uint64_t mantissa, int scale, double *out)
{
    static const uint64_t pow5[] = {1u,
                                    5u,
                                    25u,
                                    125u,
                                    625u,
                                    3125u,
                                    15625u,
                                    78125u,
                                    390625u,
                                    1953125u,
                                    9765625u,
                                    48828125u,
                                    244140625u,
                                    1220703125u,
                                    6103515625u,
                                    30517578125u,
                                    152587890625u,
                                    762939453125u,
                                    3814697265625u,
                                    19073486328125u,
                                    95367431640625u,
                                    476837158203125u,
                                    2384185791015625u,
                                    11920928955078125u,
                                    59604644775390625u,
                                    298023223876953125u,
                                    1490116119384765625u,
                                    7450580596923828125u};
    if (mantissa == 0 || scale < -LARGE_POWER || scale > LARGE_POWER) return false;
    if (scale >= 0) {
        *out = round_wide((wide)mantissa * pow5[scale], false, scale);
        return true;
    }
    uint64_t divisor = pow5[-scale];
    int up = leading_zeros(mantissa), down = leading_zeros(divisor);
    wide dividend = (wide)(mantissa << up) << 63;
    divisor <<= down;
    uint64_t quotient = (uint64_t)(dividend / divisor); /* 2^62 to 2^64 */
    *out = round_wide(quotient, (uint64_t)(dividend % divisor) != 0, scale - 63 - up + down);
    return true;
}
#else
static bool scale_wide(uint64_t mantissa, int scale, double *out)
{
    (void)mantissa, (void)scale, (void)out;
    return false;
}
#endif

/* Digits that go into 64 bits, with a power of ten that is not large: nearly all of data files. */
static bool parse_simple(const char *s, size_t n, double *out)
{
    static const uint64_t FULL = (UINT64_MAX - 9) / 10;
    const char *p = s, *end = s + n;
    bool negative = false, any = false;
    uint64_t mantissa = 0;
    int scale = 0;

    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    for (; p < end && *p >= '0' && *p <= '9'; p++, any = true) {
        if (mantissa > FULL) return false;
        mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    }
    if (p < end && *p == '.') {
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, any = true, scale--) {
            if (mantissa > FULL) return false;
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
    if (p != end) return false;
    if (!scale_exact(mantissa, scale, out) && !scale_wide(mantissa, scale, out)) return false;
    if (negative) *out = -*out;
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
