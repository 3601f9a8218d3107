/* npy_header.c - the header of an NPY file: magic, version, length, and a python dictionary such as
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (178, 13), }
 *
 * padded with blanks and ended by a newline. Only that subset of python is understood, strictly:
 * the three keys once each in any order, texts in single or double quotes, True or False, a tuple of
 * whole numbers. */
#include "data/binary.h"

#include <stdlib.h>

enum {
    MAX_HEADER = 1 << 20, /* bytes; numpy's own headers stay under a few hundred */
    MAX_KEY = 32
};

typedef struct parser {
    bdml_handle *h;
    const char *name; /* of the file */
    const char *text;
    size_t at, n;
} parser;

static bdml_status complain(const parser *p, const char *expected)
{
    if (p->at >= p->n)
        return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: NPY header ends where %s was expected",
                         p->name, expected);
    unsigned char c = (unsigned char)p->text[p->at];
    if (c < 0x20 || c >= 0x7F)
        return bdml_fail(p->h, BDML_ERR_FORMAT,
                         "%s: NPY header, character %zu: byte 0x%02x where %s was expected",
                         p->name, p->at + 1, c, expected);
    return bdml_fail(p->h, BDML_ERR_FORMAT,
                     "%s: NPY header, character %zu: '%c' where %s was expected", p->name,
                     p->at + 1, c, expected);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->n &&
           (p->text[p->at] == ' ' || p->text[p->at] == '\n' || p->text[p->at] == '\t'))
        p->at++;
}

static bool take(parser *p, char c)
{
    skip_blanks(p);
    if (p->at >= p->n || p->text[p->at] != c) return false;
    p->at++;
    return true;
}

static bdml_status take_string(parser *p, const char *expected, char *out, size_t size)
{
    skip_blanks(p);
    if (p->at >= p->n || (p->text[p->at] != '\'' && p->text[p->at] != '"'))
        return complain(p, expected);
    char quote = p->text[p->at++];
    size_t start = p->at;
    while (p->at < p->n && p->text[p->at] != quote && p->text[p->at] >= 0x20 &&
           p->text[p->at] < 0x7F)
        p->at++;
    if (p->at >= p->n || p->text[p->at] != quote) return complain(p, "the end of a text");
    size_t n = p->at - start;
    if (n >= size)
        return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: NPY header: %s of %zu characters, too long",
                         p->name, expected, n);
    memcpy(out, p->text + start, n);
    out[n] = '\0';
    p->at++;
    return BDML_OK;
}

static bdml_status take_bool(parser *p, bool *out)
{
    static const char *const word[] = {"False", "True"};
    skip_blanks(p);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(word[i]);
        if (p->n - p->at >= n && memcmp(p->text + p->at, word[i], n) == 0) {
            p->at += n;
            *out = i == 1;
            return BDML_OK;
        }
    }
    return complain(p, "True or False");
}

static bdml_status take_size(parser *p, size_t *out)
{
    size_t v = 0;
    skip_blanks(p);
    if (p->at < p->n && p->text[p->at] == '-')
        return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: NPY header announces a negative size",
                         p->name);
    if (p->at >= p->n || p->text[p->at] < '0' || p->text[p->at] > '9') return complain(p, "a size");
    for (; p->at < p->n && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++) {
        size_t digit = (size_t)(p->text[p->at] - '0');
        if (v > (INT64_MAX - digit) / 10)
            return bdml_fail(p->h, BDML_ERR_FORMAT,
                             "%s: NPY header announces a size that does not fit 64 bits", p->name);
        v = 10 * v + digit;
    }
    if (p->at < p->n && p->text[p->at] == 'L') p->at++; /* written by python 2 */
    *out = v;
    return BDML_OK;
}

/* (), (5,), (5, 3), (5, 3, ) */
static bdml_status take_shape(parser *p, bdml_npy_header *header)
{
    if (!take(p, '(')) return complain(p, "'(' of the shape");
    header->rank = 0;
    while (!take(p, ')')) {
        if (header->rank == BDML_MAX_RANK)
            return bdml_fail(p->h, BDML_ERR_FORMAT,
                             "%s: NPY header announces more than %d dimensions", p->name,
                             BDML_MAX_RANK);
        BDML_TRY(take_size(p, &header->dims[header->rank++]));
        if (take(p, ',')) continue;
        if (!take(p, ')')) return complain(p, "',' or ')'");
        break;
    }
    return BDML_OK;
}

static bdml_status take_descr(parser *p, bdml_npy_header *header)
{
    skip_blanks(p);
    if (p->at < p->n && p->text[p->at] == '[')
        return bdml_fail(
            p->h, BDML_ERR_FORMAT,
            "%s: holds records of named fields (a structured dtype); save a plain matrix "
            "of numbers instead",
            p->name);
    return take_string(p, "a dtype text", header->descr, sizeof header->descr);
}

static bdml_status parse_dictionary(parser *p, bdml_npy_header *header)
{
    static const char *const key[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    char word[MAX_KEY];

    if (!take(p, '{')) return complain(p, "'{'");
    while (!take(p, '}')) {
        int k = 0;
        BDML_TRY(take_string(p, "a key", word, sizeof word));
        while (k < 3 && strcmp(word, key[k]) != 0) k++;
        if (k == 3 || seen[k])
            return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: NPY header: key '%s' %s", p->name, word,
                             k == 3 ? "is not one of descr, fortran_order, shape" : "stands twice");
        seen[k] = true;
        if (!take(p, ':')) return complain(p, "':'");
        if (k == 0)
            BDML_TRY(take_descr(p, header));
        else if (k == 1)
            BDML_TRY(take_bool(p, &header->fortran));
        else
            BDML_TRY(take_shape(p, header));
        if (take(p, ',')) continue;
        if (!take(p, '}')) return complain(p, "',' or '}'");
        break;
    }
    for (int k = 0; k < 3; k++)
        if (!seen[k])
            return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: NPY header lacks the key '%s'", p->name,
                             key[k]);
    skip_blanks(p);
    return p->at == p->n ? BDML_OK : complain(p, "the end of the header");
}

static bdml_status refuse_dtype(bdml_handle *h, const char *name, const char *descr,
                                const char *why)
{
    return bdml_fail(h, BDML_ERR_FORMAT, "%s: dtype '%s' %s; save it with .astype('f8')", name,
                     descr, why);
}

/* "<f8": byte order, kind, bytes (characters for U). */
static bdml_status parse_dtype(bdml_handle *h, const char *name, const char *descr, bdml_element *e)
{
    char order = descr[0], kind = order ? descr[1] : '\0';
    const char *digits = kind ? descr + 2 : "";
    int64_t size = 0;

    if (kind == 'O')
        return refuse_dtype(h, name, descr,
                            "holds python objects (a pickle), which are never loaded");
    if (!order || !strchr("<>|=", order) || !kind ||
        !bdml_parse_int(digits, strlen(digits), &size) || size < 0 || digits[0] < '0' ||
        digits[0] > '9')
        return refuse_dtype(h, name, descr, "is not a type of numbers");
    if (kind == 'c') return refuse_dtype(h, name, descr, "holds complex numbers");
    if (kind == 'M' || kind == 'm') return refuse_dtype(h, name, descr, "holds dates or durations");
    bool text = kind == 'S' || kind == 'U', real = kind == 'f' && (size == 4 || size == 8);
    bool whole = (kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8);
    if (!text && !real && !whole && !(kind == 'b' && size == 1))
        return refuse_dtype(h, name, descr, "is not one of f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1");
    if (order == '|' && kind != 'S' && size > 1)
        return refuse_dtype(h, name, descr, "does not say its byte order");
    if (text && (size == 0 || size > INT32_MAX / 4))
        return refuse_dtype(h, name, descr,
                            size ? "announces absurdly long text" : "is empty text");
    e->kind = kind;
    e->size = (size_t)size * (kind == 'U' ? 4 : 1);
    e->swap = order != '=' && order != '|' && (order == '<') != bdml_machine_is_little();
    return BDML_OK;
}

/* Length of the dictionary: 2 bytes in version 1, 4 in versions 2 and 3. */
static bdml_status read_prefix(bdml_handle *h, const bdml_bytes *b, size_t *length, size_t *prefix)
{
    unsigned char head[12];
    size_t got;
    BDML_TRY(b->read(h, b->from, head, 8, &got));
    if (got < 6 || memcmp(head, "\x93NUMPY", 6) != 0)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: not an NPY file: it does not begin with \\x93NUMPY", b->name);
    if (got < 8)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: NPY file ends inside its first 8 bytes", b->name);
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: NPY version %d.%d; 1.0, 2.0 and 3.0 can be read",
                         b->name, head[6], head[7]);
    size_t width = head[6] == 1 ? 2 : 4;
    BDML_TRY(b->read(h, b->from, head + 8, width, &got));
    if (got < width)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: NPY file ends inside the length of its header",
                         b->name);
    *length = 0;
    for (size_t i = width; i-- > 0;) *length = *length << 8 | head[8 + i];
    *prefix = 8 + width;
    if (*length > MAX_HEADER)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: NPY file announces a header of %zu bytes; %d are "
                         "allowed",
                         b->name, *length, MAX_HEADER);
    return BDML_OK;
}

bdml_status bdml_npy_read_header(bdml_handle *h, const bdml_bytes *b, bdml_npy_header *header)
{
    bdml_status status = BDML_OK;
    unsigned char *text = NULL;
    size_t length = 0, prefix = 0, got, count;

    *header = (bdml_npy_header){0};
    BDML_TRY(read_prefix(h, b, &length, &prefix));
    BDML_GO(bdml_bytes_read_all(h, b, length, &text, &got));
    if (got < length) {
        status =
            bdml_fail(h, BDML_ERR_FORMAT,
                      "%s: NPY file announces a header of %zu bytes, file holds %zu: truncated?",
                      b->name, length, got);
        goto done;
    }
    parser p = {h, b->name, (const char *)text, 0, length};
    BDML_GO(parse_dictionary(&p, header));
    BDML_GO(parse_dtype(h, b->name, header->descr, &header->element));
    if (!bdml_dims_product(header->rank, header->dims, &count) ||
        count > INT64_MAX / BDML_MAX(header->element.size, sizeof(double))) {
        status = bdml_fail(h, BDML_ERR_FORMAT,
                           "%s: the announced sizes multiply to more than memory "
                           "can address: damaged or hostile header",
                           b->name);
        goto done;
    }
    header->header_bytes = prefix + length;
    header->data_bytes = count * header->element.size;
done:
    free(text);
    return status;
}
