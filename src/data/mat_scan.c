/* mat_scan.c - walk the elements of a MAT v5 file:
 *
 *     128 bytes of header (text, version 0x0100 at 124, "IM" or "MI" at 126), then elements
 *     [type u32][bytes u32][content, padded to 8]   or, when small,   [bytes u16, type u16][4 bytes].
 *
 * A variable is an element of type MATRIX (14), or of type COMPRESSED (15) that unpacks to one. Inside:
 * flags, sizes, name, then by class the numbers; row indices, column starts and numbers of a sparse
 * matrix; nested MATRIX elements of a cell. Every length is checked here, before anything believes it. */
#include "data/mat_scan.h"

#include <matio.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    TAG = 8,
    PEEK = 4096, /* unpacked bytes that surely hold flags, sizes and name */
    NOTE = 128,
    MAX_CELL_DEPTH = 1,
    MAX_VARIABLES = 65536
};

/* ---- elements in memory -------------------------------------------------------------------------- */

typedef bdml_mat_cursor cursor;
typedef bdml_mat_part part;

static uint32_t get_u32(const unsigned char *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return swap ? __builtin_bswap32(v) : v;
}

bool bdml_mat_next(cursor *c, part *p)
{
    if (c->left < TAG) return false;
    uint32_t first = get_u32(c->at, c->swap);
    size_t used;
    if (first >> 16) { /* small: type in the low half, bytes in the high half */
        p->type = first & 0xFFFF;
        p->bytes = first >> 16;
        p->data = c->at + 4;
        if (p->bytes > 4) return false;
        used = TAG;
    } else {
        p->type = first;
        p->bytes = get_u32(c->at + 4, c->swap);
        p->data = c->at + TAG;
        if (p->bytes > c->left - TAG) return false;
        used =
            BDML_MIN(TAG + (p->bytes + 7) / 8 * 8, c->left); /* the last padding may be missing */
    }
    c->at += used;
    c->left -= used;
    return true;
}

bool bdml_mat_element(uint32_t type, bool swap, bdml_element *e)
{
    static const struct {
        uint32_t type;
        char kind;
        size_t size;
    } known[] = {{MAT_T_INT8, 'i', 1},   {MAT_T_UINT8, 'u', 1},  {MAT_T_INT16, 'i', 2},
                 {MAT_T_UINT16, 'u', 2}, {MAT_T_INT32, 'i', 4},  {MAT_T_UINT32, 'u', 4},
                 {MAT_T_INT64, 'i', 8},  {MAT_T_UINT64, 'u', 8}, {MAT_T_SINGLE, 'f', 4},
                 {MAT_T_DOUBLE, 'f', 8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].type == type) {
            *e = (bdml_element){known[i].kind, known[i].size, swap};
            return true;
        }
    return false;
}

/* Bytes of one item, 0 for types that hold none. */
static size_t type_size(uint32_t type)
{
    bdml_element e;
    if (type == MAT_T_UTF8) return 1;
    if (type == MAT_T_UTF16) return 2;
    return bdml_mat_element(type, false, &e) ? e.size : 0;
}

/* MATLAB writes indices as INT32, matio as UINT32. */
static bool is_index_type(uint32_t type)
{
    return type == MAT_T_INT32 || type == MAT_T_UINT32;
}

static bool is_text_type(uint32_t type)
{
    return type == MAT_T_UTF8 || type == MAT_T_UTF16 || type == MAT_T_UINT16 ||
           type == MAT_T_UINT8 || type == MAT_T_INT8;
}

const char *bdml_mat_class_text(int class)
{
    switch (class) {
    case MAT_C_CELL:
        return "a cell array";
    case MAT_C_STRUCT:
        return "a structure";
    case MAT_C_CHAR:
        return "text";
    case MAT_C_SPARSE:
        return "a sparse matrix";
    case MAT_C_OBJECT:
    case MAT_C_OPAQUE:
        return "an object";
    case MAT_C_FUNCTION:
        return "a function";
    default:
        return class >= MAT_C_DOUBLE && class <= MAT_C_UINT64 ? "a matrix of numbers"
                                                              : "of an unknown class";
    }
}

const char *bdml_mat_start(cursor *c, bdml_mat_variable *v)
{
    part p;
    if (!bdml_mat_next(c, &p) || p.type != MAT_T_UINT32 || p.bytes != 8)
        return "its flags are damaged";
    uint32_t flags = get_u32(p.data, c->swap);
    v->class = (int)(flags & 0xFF);
    v->complex = flags & MAT_F_COMPLEX;
    v->logical = flags & MAT_F_LOGICAL;
    if (v->class == MAT_C_OPAQUE) { /* has no sizes, and its name comes first */
        if (!bdml_mat_next(c, &p)) return "its name is damaged";
        v->rank = 0;
    } else {
        if (!bdml_mat_next(c, &p) || p.type != MAT_T_INT32 || p.bytes % 4 || p.bytes < 8)
            return "its sizes are damaged";
        if (p.bytes / 4 > BDML_MAX_RANK) return "it has more than 32 dimensions";
        v->rank = (int)(p.bytes / 4);
        for (int i = 0; i < v->rank; i++) {
            uint32_t size = get_u32(p.data + 4 * (size_t)i, c->swap);
            if (size > INT32_MAX) return "it announces a negative size";
            v->dims[i] = size;
        }
        if (!bdml_mat_next(c, &p)) return "its name is damaged";
    }
    if (p.type != MAT_T_INT8 && p.type != MAT_T_UINT8 && p.type != MAT_T_UTF8)
        return "its name is damaged";
    if (p.bytes >= BDML_MAT_MAX_NAME) return "its name is too long";
    for (size_t i = 0; i < p.bytes; i++) /* a name must be fit to be shown */
        v->name[i] = (char)(p.data[i] < 0x20 || p.data[i] == 0x7F ? '?' : p.data[i]);
    v->name[p.bytes] = '\0';
    return NULL;
}

static const char *differ(const cursor *c, size_t announced, size_t holds, const char *what)
{
    snprintf(c->note, NOTE, "its sizes announce %zu %s, it holds %zu", announced, what, holds);
    return c->note;
}

static const char *check_numbers(cursor *c, size_t count)
{
    part p;
    if (!bdml_mat_next(c, &p)) return "it announces more numbers than it holds";
    size_t size = type_size(p.type);
    if (size == 0 || p.type >= MAT_T_UTF8) return "the type of its numbers is unknown";
    if (p.bytes % size || p.bytes / size != count)
        return differ(c, count, p.bytes / size, "numbers");
    return NULL;
}

/* Row indices in [0, rows), column starts ascending from 0, as many numbers as the last one says. */
static const char *check_sparse(cursor *c, const bdml_mat_variable *v)
{
    part ir, jc, data;
    size_t rows = v->dims[0], columns = v->dims[1], last = 0, entries;
    if (v->rank != 2) return "a sparse matrix must have 2 dimensions";
    if (!bdml_mat_next(c, &ir) || !bdml_mat_next(c, &jc) || !bdml_mat_next(c, &data))
        return "it announces more numbers than it holds";
    if (!is_index_type(ir.type) || ir.bytes % 4 || !is_index_type(jc.type) ||
        jc.bytes != 4 * (columns + 1))
        return "the indices of the sparse matrix are damaged";
    for (size_t j = 0; j <= columns; j++) {
        size_t start = get_u32(jc.data + 4 * j, c->swap);
        if (start < last || (j == 0 && start != 0)) return "the column starts do not ascend from 0";
        last = start;
    }
    entries = ir.bytes / 4;
    if (last > entries) return "the column starts lead beyond the numbers";
    for (size_t k = 0; k < last; k++)
        if (get_u32(ir.data + 4 * k, c->swap) >= rows) return "a row index is out of range";
    size_t size = type_size(data.type);
    if (size == 0 || data.type >= MAT_T_UTF8) return "the type of its numbers is unknown";
    if (data.bytes % size || data.bytes / size < last)
        return "it announces more numbers than it holds";
    return NULL;
}

static const char *check_array(cursor *c, bdml_mat_variable *v, int depth);

static const char *check_cells(cursor *c, size_t count, int depth)
{
    if (depth >= MAX_CELL_DEPTH) return "cells inside cells are not labels";
    if (count > c->left / TAG) return "it announces more cells than it holds";
    for (size_t i = 0; i < count; i++) {
        part p;
        bdml_mat_variable cell = {0};
        if (!bdml_mat_next(c, &p) || p.type != MAT_T_MATRIX)
            return "it announces more cells than it holds";
        cursor inner = {p.data, p.bytes, c->swap, c->note};
        const char *why = check_array(&inner, &cell, depth + 1);
        if (why) return why;
        if (cell.class != MAT_C_CHAR) return "it holds cells that are not text";
    }
    return NULL;
}

/* The sizes count characters; one of them takes one to four bytes of UTF-8. No text has a part too, of no bytes: matio
 * reserves what the part announces. */
static const char *check_text(cursor *c, size_t count)
{
    part p;
    if (!bdml_mat_next(c, &p)) return "it announces more text than it holds";
    size_t size = type_size(p.type);
    if (size == 0 || !is_text_type(p.type)) return "the type of its text is unknown";
    if (p.type == MAT_T_UTF8 && p.bytes >= count && p.bytes / 4 <= count) return NULL;
    if (p.bytes % size || p.bytes / size != count)
        return differ(c, count, p.bytes / size, "characters");
    return NULL;
}

static const char *check_array(cursor *c, bdml_mat_variable *v, int depth)
{
    size_t count;
    const char *why = bdml_mat_start(c, v);
    if (why) return why;
    if (!bdml_dims_product(v->rank, v->dims, &count) || count > INT64_MAX / sizeof(double))
        return "its sizes multiply to more than memory can address";
    if (v->class >= MAT_C_DOUBLE && v->class <= MAT_C_UINT64) {
        if (v->complex) return "it holds complex numbers; save real ones";
        return check_numbers(c, count);
    }
    if (v->class == MAT_C_SPARSE)
        return v->complex ? "it holds complex numbers; save real ones" : check_sparse(c, v);
    if (v->class == MAT_C_CHAR) return check_text(c, count);
    if (v->class == MAT_C_CELL) return check_cells(c, count, depth);
    return "only matrices of numbers, text and cells of text can be read";
}

/* ---- compressed elements --------------------------------------------------------------------------- */

/* Unpack up to `most` bytes into a block that grows with them. *ended: the stream is complete. NULL
 * in *out: out of memory, already told. */
static bdml_status unpack(bdml_handle *h, const unsigned char *from, size_t bytes, size_t most,
                          unsigned char **out, size_t *n, bool *ended)
{
    bdml_status status = BDML_OK;
    z_stream z = {0};
    unsigned char *block = NULL;
    size_t capacity = 0, used = 0;
    int code = Z_OK;

    *out = NULL;
    *ended = false;
    if (inflateInit(&z) != Z_OK)
        return bdml_fail(h, BDML_ERR_MEMORY, "out of memory for unpacking");
    z.next_in = (unsigned char *)from; /* zlib does not write there */
    z.avail_in = (unsigned)bytes;      /* the tag holds 32 bits */
    while (code == Z_OK && used < most) {
        size_t step =
            BDML_MIN(most - used, BDML_MAX((size_t)PEEK, BDML_MIN(used, (size_t)1 << 30)));
        BDML_GO(bdml_grow(h, &block, &capacity, used + step, 1));
        z.next_out = block + used;
        z.avail_out = (unsigned)step;
        code = inflate(&z, Z_NO_FLUSH);
        used += step - z.avail_out;
        if (code == Z_OK && z.avail_out > 0 && z.avail_in == 0) break; /* the input ended early */
    }
    if (code == Z_MEM_ERROR) BDML_GO(bdml_fail(h, BDML_ERR_MEMORY, "out of memory for unpacking"));
    if (!block) BDML_GO(bdml_grow(h, &block, &capacity, 1, 1));
    *ended = code == Z_STREAM_END;
    *out = block;
    *n = used;
    block = NULL;
done:
    inflateEnd(&z);
    free(block);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static bdml_status check_header(bdml_handle *h, bdml_mat_file *f)
{
    uint16_t version, order;
    if (f->size >= 8 && memcmp(f->bytes, "\x89HDF\r\n\x1a\n", 8) == 0)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: an HDF5 file (MAT v7.3); save it with -v7",
                         f->name);
    if (f->size < BDML_MAT_HEADER)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: not a MAT v5 file: %zu bytes, its header alone has "
                         "%d",
                         f->name, f->size, BDML_MAT_HEADER);
    memcpy(&version, f->bytes + 124, 2);
    memcpy(&order, f->bytes + 126, 2);
    if (order != 0x4D49 && order != 0x494D)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: not a MAT v5 file: bytes 127 and 128 are neither IM "
                         "nor MI; files of MATLAB 4 must be saved again with -v7",
                         f->name);
    f->swap = order == 0x494D; /* 'M' 'I' written as one number */
    if (f->swap) version = (uint16_t)(version << 8 | version >> 8);
    if (version == 0x0200)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: a MAT v7.3 (HDF5) file; save it with -v7",
                         f->name);
    if (version != 0x0100)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: MAT version 0x%04x; 0x0100 (v5 to v7) can be read", f->name, version);
    return BDML_OK;
}

static bdml_status fail_variable(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                                 const char *why)
{
    char name[BDML_EXCERPT_SIZE];
    bdml_excerpt(v->name, strlen(v->name), name);
    return bdml_fail(h, BDML_ERR_FORMAT, "%s: variable %s (at byte %zu): %s", f->name,
                     name[0] ? name : "without a name", v->offset - TAG, why);
}

/* Name, class and sizes of the variable in an element. */
static bdml_status look_into(bdml_handle *h, const bdml_mat_file *f, bdml_mat_variable *v)
{
    bdml_status status = BDML_OK;
    unsigned char *unpacked = NULL;
    char note[NOTE];
    cursor c = {f->bytes + v->offset, v->bytes, f->swap, note};
    const char *why = NULL;
    size_t n = PEEK;
    bool ended = true;

    if (v->compressed) {
        BDML_GO(unpack(h, c.at, c.left, PEEK, &unpacked, &n, &ended));
        if (!ended && n < TAG) BDML_GO(fail_variable(h, f, v, "its compressed bytes are damaged"));
        if (n < TAG || get_u32(unpacked, f->swap) != MAT_T_MATRIX)
            BDML_GO(fail_variable(h, f, v, "it does not unpack to a variable: damaged"));
        c = (cursor){unpacked + TAG, n - TAG, f->swap, note};
    }
    if (c.left > 0) why = bdml_mat_start(&c, v); /* an element of 0 bytes is an empty array */
    if (why && !ended && n < PEEK) why = "its compressed bytes are damaged";
    if (why) status = fail_variable(h, f, v, why);
done:
    free(unpacked);
    return status;
}

bdml_status bdml_mat_scan(bdml_handle *h, bdml_mat_file *f)
{
    size_t at = BDML_MAT_HEADER;
    BDML_TRY(check_header(h, f));
    while (at < f->size) {
        if (f->size - at < TAG)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: ends inside the tag of a variable at byte %zu: "
                             "truncated?",
                             f->name, at);
        uint32_t type = get_u32(f->bytes + at, f->swap),
                 bytes = get_u32(f->bytes + at + 4, f->swap);
        if (type != MAT_T_MATRIX && type != MAT_T_COMPRESSED)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: element of type %u at byte %zu is not a "
                             "variable: damaged",
                             f->name, type, at);
        if (bytes > f->size - at - TAG)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: the variable at byte %zu announces %u bytes, "
                             "file holds %zu: truncated?",
                             f->name, at, bytes, f->size - at - TAG);
        if (f->count == MAX_VARIABLES)
            return bdml_fail(h, BDML_ERR_FORMAT, "%s: holds more than %d variables", f->name,
                             MAX_VARIABLES);
        BDML_TRY(
            bdml_grow(h, &f->variable, &f->capacity, (size_t)f->count + 1, sizeof *f->variable));
        bdml_mat_variable *v = &f->variable[f->count];
        *v = (bdml_mat_variable){.offset = at + TAG,
                                 .bytes = bytes,
                                 .compressed = type == MAT_T_COMPRESSED};
        BDML_TRY(look_into(h, f, v));
        f->count++;
        at += TAG + bytes;
    }
    return BDML_OK;
}

void bdml_mat_file_free(bdml_mat_file *f)
{
    free(f->bytes);
    free(f->variable);
    *f = (bdml_mat_file){0};
}

bdml_status bdml_mat_unpack(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                            unsigned char **element, size_t *bytes)
{
    bdml_status status = BDML_OK;
    unsigned char *block = NULL;
    size_t n = TAG + v->bytes;

    *element = NULL;
    if (v->compressed) {
        bool ended;
        const unsigned char *from = f->bytes + v->offset;
        BDML_GO(unpack(h, from, v->bytes, TAG, &block, &n, &ended));
        size_t announced = n < TAG ? 0 : get_u32(block + 4, f->swap);
        free(block);
        block = NULL;
        BDML_GO(unpack(h, from, v->bytes, TAG + announced + 1, &block, &n, &ended));
        if (!ended || n != TAG + announced) {
            char why[128];
            snprintf(why, sizeof why, "it announces %zu bytes and unpacks to %s%zu: damaged",
                     announced, n > TAG + announced ? "at least " : "", n < TAG ? 0 : n - TAG);
            BDML_GO(fail_variable(h, f, v,
                                  ended || n != TAG + announced
                                      ? why
                                      : "its compressed bytes are damaged (checksum)"));
        }
    } else {
        BDML_NEW(h, block, n);
        memcpy(block, f->bytes + v->offset - TAG, n);
    }
    *element = block;
    *bytes = n;
    block = NULL;
done:
    free(block);
    return status;
}

bdml_status bdml_mat_extract(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                             unsigned char **element, size_t *bytes)
{
    char note[NOTE];
    bdml_mat_variable seen = {0};
    BDML_TRY(bdml_mat_unpack(h, f, v, element, bytes));
    cursor c = {*element + TAG, *bytes - TAG, f->swap, note};
    const char *why = check_array(&c, &seen, 0);
    if (!why) return BDML_OK;
    free(*element);
    *element = NULL;
    return fail_variable(h, f, v, why);
}
