/* element.c - numbers and texts of any width and byte order; arrays of any rank brought into rows. */
#include "data/binary.h"

bool bdml_machine_is_little(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

bool bdml_element_is_number(bdml_element e)
{
    return e.kind != 'S' && e.kind != 'U';
}

static void copy_item(void *to, const unsigned char *from, size_t size, bool swap)
{
    unsigned char *out = to;
    if (!swap) {
        memcpy(to, from, size);
        return;
    }
    for (size_t b = 0; b < size; b++) out[b] = from[size - 1 - b];
}

#define DECODE_AS(type)                                               \
    do {                                                              \
        type v_;                                                      \
        for (size_t i_ = 0; i_ < count; i_++) {                       \
            copy_item(&v_, from + i_ * sizeof v_, sizeof v_, e.swap); \
            to[i_] = (double)v_;                                      \
        }                                                             \
    } while (0)

static void decode_signed(bdml_element e, const unsigned char *from, size_t count, double *to)
{
    if (e.size == 1)
        DECODE_AS(int8_t);
    else if (e.size == 2)
        DECODE_AS(int16_t);
    else if (e.size == 4)
        DECODE_AS(int32_t);
    else
        DECODE_AS(int64_t);
}

static void decode_unsigned(bdml_element e, const unsigned char *from, size_t count, double *to)
{
    if (e.size == 1)
        DECODE_AS(uint8_t);
    else if (e.size == 2)
        DECODE_AS(uint16_t);
    else if (e.size == 4)
        DECODE_AS(uint32_t);
    else
        DECODE_AS(uint64_t);
}

void bdml_element_decode(bdml_element e, const unsigned char *from, size_t count, double *to)
{
    if (e.kind == 'f' && e.size == 8 && !e.swap && from == (const unsigned char *)to)
        return; /* doubles, where they are to be */
    if (e.kind == 'f' && e.size == 8)
        DECODE_AS(double);
    else if (e.kind == 'f')
        DECODE_AS(float);
    else if (e.kind == 'i')
        decode_signed(e, from, count, to);
    else if (e.kind == 'u')
        decode_unsigned(e, from, count, to);
    else
        for (size_t i = 0; i < count; i++) to[i] = from[i] != 0;
}

bool bdml_utf8_put(uint32_t code, char *out, size_t *n)
{
    char *p = out + *n;
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    if (code < 0x80) {
        p[0] = (char)code;
        *n += 1;
    } else if (code < 0x800) {
        p[0] = (char)(0xC0 | (code >> 6));
        p[1] = (char)(0x80 | (code & 0x3F));
        *n += 2;
    } else if (code < 0x10000) {
        p[0] = (char)(0xE0 | (code >> 12));
        p[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        p[2] = (char)(0x80 | (code & 0x3F));
        *n += 3;
    } else {
        p[0] = (char)(0xF0 | (code >> 18));
        p[1] = (char)(0x80 | ((code >> 12) & 0x3F));
        p[2] = (char)(0x80 | ((code >> 6) & 0x3F));
        p[3] = (char)(0x80 | (code & 0x3F));
        *n += 4;
    }
    return true;
}

size_t bdml_element_text_size(bdml_element e)
{
    return BDML_MAX(bdml_element_is_number(e) ? 0 : e.size, (size_t)BDML_NUMBER_SIZE) + 1;
}

static bool text_of_bytes(bdml_element e, const unsigned char *from, char *room, size_t *n)
{
    size_t length = e.size;
    while (length > 0 && from[length - 1] == 0) length--; /* numpy pads with zeros */
    if (memchr(from, 0, length)) return false;
    memcpy(room, from, length);
    *n = length;
    return true;
}

static bool text_of_utf32(bdml_element e, const unsigned char *from, char *room, size_t *n)
{
    size_t length = e.size / 4;
    uint32_t code = 0;
    for (; length > 0; length--) {
        copy_item(&code, from + 4 * (length - 1), 4, e.swap);
        if (code != 0) break;
    }
    *n = 0;
    for (size_t i = 0; i < length; i++) {
        copy_item(&code, from + 4 * i, 4, e.swap);
        if (!bdml_utf8_put(code, room, n)) return false;
    }
    return true;
}

bool bdml_element_text(locale_t c, bdml_element e, const unsigned char *from, char *room, size_t *n)
{
    double v;
    if (e.kind == 'S') return text_of_bytes(e, from, room, n);
    if (e.kind == 'U') return text_of_utf32(e, from, room, n);
    if (e.kind != 'f' && e.size == 8) { /* keep all 64 bits */
        uint64_t bits;
        copy_item(&bits, from, 8, e.swap);
        *n = (size_t)(e.kind == 'u'
                          ? snprintf(room, BDML_NUMBER_SIZE, "%llu", (unsigned long long)bits)
                          : snprintf(room, BDML_NUMBER_SIZE, "%lld", (long long)bits));
        return true;
    }
    bdml_element_decode(e, from, 1, &v);
    *n = 0;
    if (isnan(v)) return true;
    if (isinf(v)) return false;
    *n = (size_t)bdml_format_double(c, v == 0 ? 0.0 : v, room); /* -0 is 0 */
    return true;
}

bool bdml_dims_product(int rank, const size_t *dims, size_t *product)
{
    size_t p = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0) {
            *product = 0; /* nothing, however large the others are */
            return true;
        }
        if (p > SIZE_MAX / dims[i]) return false;
        p *= dims[i];
    }
    *product = p;
    return true;
}

/* to[(i_0 - first) n_1 n_2 ... + (i_1 n_2 + i_2) ...] = from[i_0 + n_0 (i_1 + n_1 (i_2 + ...))], in tiles that
 * keep both sides in the cache. */
void bdml_element_rows(bdml_element e, int rank, const size_t *dims, const unsigned char *from,
                       size_t first, size_t rows, double *to)
{
    enum { TILE = 64 };
    size_t n = dims[0], rest = 1, at[BDML_MAX_RANK] = {0}, target[TILE];
    double part[TILE];

    for (int i = 1; i < rank; i++) rest *= dims[i];
    for (size_t column = 0; column < rest; column += TILE) {
        size_t width = BDML_MIN(rest - column, (size_t)TILE);
        for (size_t c = 0; c < width; c++) { /* `at` runs with the first index fastest */
            target[c] = 0;
            for (int i = 1; i < rank; i++) target[c] = target[c] * dims[i] + at[i];
            for (int i = 1; i < rank && ++at[i] == dims[i]; i++) at[i] = 0;
        }
        for (size_t top = 0; top < rows; top += TILE) {
            size_t height = BDML_MIN(rows - top, (size_t)TILE);
            for (size_t c = 0; c < width; c++) {
                bdml_element_decode(e, from + ((column + c) * n + first + top) * e.size, height,
                                    part);
                for (size_t r = 0; r < height; r++) to[(top + r) * rest + target[c]] = part[r];
            }
        }
    }
}
