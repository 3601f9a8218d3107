/* look.c - what the fields of a text file look like: numbers, truth values, dates, words. */
#include "data/columns.h"

#include <strings.h>

enum {
    COUNT_ROWS = 20, /* so many numbers in a row do not count upwards by chance */
    CLASS_ROWS = 3,  /* rows of a class, on average, at least */
    MOST_CLASSES = 100
};

/* ---- one field ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits from s[*i] on, `most` at most; false: none. */
static bool digits(const char *s, size_t n, size_t *i, size_t most)
{
    size_t from = *i;
    while (*i < n && is_digit(s[*i])) ++*i;
    return *i > from && *i - from <= most;
}

/* 2024-01-31, 31.1.2024, 1/31/24, with or without a time behind it; 12:30 */
static bool is_date(const char *s, size_t n)
{
    size_t i = 0;
    if (!digits(s, n, &i, 4) || i == n) return false;
    char mark = s[i++];
    if (mark == ':') return digits(s, n, &i, 2);
    if (!strchr("-/.", mark) || !digits(s, n, &i, 2) || i == n || s[i++] != mark) return false;
    return digits(s, n, &i, 4) && (i == n || s[i] == ' ' || s[i] == 'T');
}

/* The number s[0..n) with its comma as a point; false: it is none. */
static bool read_comma(const bdml_handle *h, const char *s, size_t n, double *v)
{
    char text[64];
    const char *comma = memchr(s, ',', n);
    if (n >= sizeof text || memchr(s, '.', n)) return false;
    memcpy(text, s, n);
    if (comma) text[comma - s] = '.';
    return bdml_parse_double(h->c_locale, text, n, v);
}

bdml_field_kind bdml_field_read(const bdml_handle *h, bdml_decimal decimal, const char *s, size_t n,
                                double *v)
{
    static const char *const words[] = {"false", "true"};
    bool comma = decimal == BDML_DECIMAL_COMMA;
    if (comma ? read_comma(h, s, n, v) : bdml_parse_double(h->c_locale, s, n, v))
        return isnan(*v) ? BDML_FIELD_MISSING : BDML_FIELD_NUMBER;
    *v = NAN;
    while (n > 0 && (*s == ' ' || *s == '\t')) s++, n--;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
    if (bdml_is_missing(s, n)) return BDML_FIELD_MISSING;
    for (int truth = 0; truth < 2; truth++)
        if (n == strlen(words[truth]) && strncasecmp(s, words[truth], n) == 0) {
            *v = truth;
            return BDML_FIELD_TRUTH;
        }
    double ignored;
    if (!comma && read_comma(h, s, n, &ignored)) return BDML_FIELD_COMMA;
    return is_date(s, n) ? BDML_FIELD_DATE : BDML_FIELD_WORD;
}

/* ---- a column ------------------------------------------------------------------------------------ */

bdml_status bdml_look_take(bdml_handle *h, bdml_decimal decimal, const char *s, size_t n,
                           bdml_look *look)
{
    double v;
    int32_t id;
    BDML_TRY(bdml_text_ask(h, n));
    bdml_field_kind kind = bdml_field_read(h, decimal, s, n, &v);
    if (look->rows == 0) {
        look->first = v;
        look->counting = true;
    }
    look->counting = look->counting && v == look->first + (double)look->rows;
    look->rows++;
    look->kind[kind]++;
    look->whole += kind == BDML_FIELD_NUMBER && v == floor(v);
    if (kind == BDML_FIELD_MISSING || look->values.count == BDML_MOST_VALUES) return BDML_OK;
    return bdml_names_add(h, &look->values, s, n, &id);
}

bool bdml_look_is_text(const bdml_look *l)
{
    return l->kind[BDML_FIELD_WORD] + l->kind[BDML_FIELD_DATE] + l->kind[BDML_FIELD_COMMA] > 0;
}

bool bdml_look_is_count(const bdml_look *l)
{
    return l->counting && l->rows >= COUNT_ROWS && (l->first == 0.0 || l->first == 1.0);
}

bool bdml_look_is_classes(const bdml_look *l)
{
    int64_t there = l->rows - l->kind[BDML_FIELD_MISSING];
    return l->values.count >= 2 && l->values.count <= MOST_CLASSES &&
           (int64_t)CLASS_ROWS * l->values.count <= there &&
           l->kind[BDML_FIELD_WORD] + l->kind[BDML_FIELD_TRUTH] + l->whole == there;
}
