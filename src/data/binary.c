/* binary.c - numbers of any width and byte order, bytes that grow as they are read, and a matrix
 * handed out in blocks of rows: the common part of NPY, NPZ, MAT and IDX. */
#include "data/binary.h"

#include <stdlib.h>

enum {
    CHUNK = 65536,            /* bytes decoded at a time: fits the second-level cache */
    WIDE = 1 << 17,           /* columns; a row of more is not believed before it is there */
    MAX_LABEL_BYTES = 1 << 18 /* of one text label; a claim beyond it is not a label */
};

/* ---- numbers ------------------------------------------------------------------------------- */

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

/* to[((i_0 n_1 + i_1) n_2 + ...)] = from[i_0 + n_0 (i_1 + n_1 (i_2 + ...))] */
void bdml_from_fortran(int rank, const size_t *dims, const double *from, double *to)
{
    size_t n = dims[0], rest = 1, at[BDML_NPY_MAX_RANK] = {0};
    for (int i = 1; i < rank; i++) rest *= dims[i];
    for (size_t column = 0; column < rest; column++) { /* `at` runs with the first index fastest */
        size_t target = 0;
        for (int i = 1; i < rank; i++) target = target * dims[i] + at[i];
        for (size_t row = 0; row < n; row++) to[row * rest + target] = from[column * n + row];
        for (int i = 1; i < rank && ++at[i] == dims[i]; i++) at[i] = 0;
    }
}

/* ---- bytes --------------------------------------------------------------------------------- */

static bdml_status read_input(bdml_handle *h, void *from, void *out, size_t want, size_t *got)
{
    unsigned char *to = out;
    *got = 0;
    while (*got < want) {
        const unsigned char *bytes;
        size_t n;
        BDML_TRY(bdml_input_peek(h, from, BDML_MIN(want - *got, (size_t)CHUNK), &bytes, &n));
        if (n == 0) break;
        n = BDML_MIN(n, want - *got);
        BDML_TRY(bdml_input_read(h, from, to + *got, n, "the data"));
        *got += n;
    }
    return BDML_OK;
}

bdml_bytes bdml_bytes_of_input(bdml_input *in)
{
    return (bdml_bytes){read_input, in, bdml_input_name(in)};
}

bdml_status bdml_bytes_read_all(bdml_handle *h, const bdml_bytes *b, size_t want,
                                unsigned char **out, size_t *got)
{
    bdml_status status = BDML_OK;
    unsigned char *block = NULL;
    size_t capacity = 0, n = 0, step, part;

    *out = NULL;
    *got = 0;
    for (;;) {
        step = BDML_MIN(want - n, BDML_MAX((size_t)CHUNK, n)); /* at most twice what was there */
        if (!block || capacity - n < step)
            BDML_GO(bdml_grow(h, &block, &capacity, BDML_MAX(n + step, 1), 1));
        if (step == 0) break;
        BDML_GO(b->read(h, b->from, block + n, step, &part));
        n += part;
        if (part < step) break;
    }
    *out = block;
    *got = n;
    block = NULL;
done:
    free(block);
    return status;
}

bdml_status bdml_fail_short(bdml_handle *h, const char *name, size_t announced, size_t holds)
{
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "%s: announces %zu bytes of data, file holds %zu: truncated?", name, announced,
                     holds);
}

bdml_status bdml_bytes_need_end(bdml_handle *h, const bdml_bytes *b, size_t announced)
{
    unsigned char byte;
    size_t got;
    BDML_TRY(b->read(h, b->from, &byte, 1, &got));
    if (got > 0)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: holds more than the %zu bytes of data its header announces", b->name,
                         announced);
    return BDML_OK;
}

/* ---- a matrix as a source -------------------------------------------------------------------- */

bdml_status bdml_matrix_shape(bdml_handle *h, const char *name, int rank, const size_t *dims,
                              bdml_matrix *m)
{
    size_t rest = 1, all;
    if (rank < 1)
        return bdml_fail(h, BDML_ERR_DATA, "%s: holds a single number, not a matrix", name);
    if (!bdml_dims_product(rank, dims, &all) || !bdml_dims_product(rank - 1, dims + 1, &rest) ||
        all > INT64_MAX / sizeof(double))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: the announced sizes multiply to more than memory "
                         "can address: damaged or hostile header",
                         name);
    if (all == 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: holds no data: %zu rows of %zu columns", name,
                         dims[0], rest);
    if (rest > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: %zu columns are more than the %d that can be handled", name, rest,
                         INT32_MAX);
    m->n = (int64_t)dims[0];
    m->d = (int)rest;
    return BDML_OK;
}

static size_t matrix_bytes(const bdml_matrix *m)
{
    return (size_t)m->n * (size_t)m->d * m->element.size;
}

/* All of `bytes` into doubles, in the order of the file. */
static bdml_status read_whole(bdml_handle *h, const bdml_matrix *m, double **out)
{
    bdml_status status = BDML_OK;
    unsigned char *raw = NULL;
    size_t got, want = matrix_bytes(m), count = (size_t)m->n * (size_t)m->d;

    BDML_GO(bdml_bytes_read_all(h, &m->bytes, want, &raw, &got));
    if (got < want) BDML_GO(bdml_fail_short(h, m->bytes.name, want, got));
    BDML_GO(bdml_bytes_need_end(h, &m->bytes, want));
    BDML_NEW(h, *out, count);
    bdml_element_decode(m->element, raw, count, *out);
done:
    free(raw);
    return status;
}

bdml_status bdml_matrix_read_fortran(bdml_handle *h, int rank, const size_t *dims, bdml_matrix *m)
{
    bdml_status status = BDML_OK;
    double *column_major = NULL;

    BDML_GO(read_whole(h, m, &column_major));
    BDML_NEW(h, m->x, (size_t)m->n * (size_t)m->d);
    bdml_from_fortran(rank, dims, column_major, m->x);
    m->sure = true;
done:
    free(column_major);
    return status;
}

/* Decode `rows` rows of the stream, chunk by chunk: a row may be longer than a chunk. */
static bdml_status decode_rows(bdml_handle *h, bdml_matrix *m, size_t rows, double *x)
{
    size_t size = m->element.size, left = rows * (size_t)m->d, got;
    size_t done = (size_t)m->row * (size_t)m->d * size; /* bytes of earlier blocks */
    while (left > 0) {
        size_t count = BDML_MIN(left, CHUNK / size);
        BDML_TRY(m->bytes.read(h, m->bytes.from, m->chunk, count * size, &got));
        if (got < count * size)
            return bdml_fail_short(h, m->bytes.name, matrix_bytes(m), done + got);
        bdml_element_decode(m->element, m->chunk, count, x);
        x += count;
        left -= count;
        done += got;
    }
    return BDML_OK;
}

static bdml_status next_rows(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    bdml_matrix *m = s->state;
    int64_t rows = BDML_MIN(b->capacity - b->n, m->n - m->row);
    size_t d = (size_t)m->d;
    double *x = b->x + (size_t)b->n * d;

    if (rows == 0) return BDML_OK;
    if (m->x)
        memcpy(x, m->x + (size_t)m->row * d, (size_t)rows * d * sizeof *x);
    else
        BDML_TRY(decode_rows(h, m, (size_t)rows, x));
    for (int64_t i = 0; i < rows; i++) {
        b->label[b->n + i] = m->label ? m->label[m->row + i] : -1;
        b->line[b->n + i] = m->row + i + 1;
    }
    b->n += rows;
    m->row += rows;
    if (m->row == m->n && !m->x) BDML_TRY(bdml_bytes_need_end(h, &m->bytes, matrix_bytes(m)));
    return BDML_OK;
}

void bdml_matrix_free(bdml_matrix *m)
{
    if (m->release) m->release(m->owner);
    free(m->x);
    free(m->chunk);
    free(m->label);
    *m = (bdml_matrix){0};
}

static void close_matrix(bdml_source *s)
{
    bdml_matrix *m = s->state;
    if (!m) return;
    bdml_matrix_free(m);
    free(m);
    s->state = NULL;
}

bdml_status bdml_matrix_source(bdml_handle *h, const bdml_matrix *m, bdml_source *s)
{
    static const bdml_source_ops ops = {next_rows, close_matrix};
    bdml_status status = BDML_OK;
    bdml_matrix copy = *m, *state = NULL;

    /* The reader of blocks takes room for a row: let the row be there first. */
    if (!copy.x && !copy.sure && copy.d > WIDE) {
        BDML_GO(read_whole(h, &copy, &copy.x));
        copy.sure = true;
    }
    if (!copy.x) BDML_NEW(h, copy.chunk, CHUNK);
    BDML_NEW(h, state, 1);
    *state = copy;
    s->ops = &ops;
    s->state = state;
    s->d = copy.d;
    s->rows = copy.sure ? copy.n : -1;
    s->labelled = copy.label != NULL;
done:
    if (status != BDML_OK) bdml_matrix_free(&copy);
    return status;
}

bdml_status bdml_matrix_check_labels(bdml_handle *h, const bdml_matrix *m, const char *path,
                                     const char *data_name, const char *label_name, int64_t labels)
{
    if (labels == m->n) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA, "%s: %s has %lld rows but %s has %lld labels", path,
                     data_name, (long long)m->n, label_name, (long long)labels);
}

/* ---- labels ---------------------------------------------------------------------------------- */

bool bdml_labels_inside_wanted(const bdml_handle *h)
{
    if (bdml_opt_text(h, BDML_OPT_LABELS_FILE)[0]) return false;
    if (bdml_opt_text(h, BDML_OPT_LABEL_VARIABLE)[0]) return true;
    return strcmp(bdml_opt_text(h, BDML_OPT_LABEL), "none") != 0;
}

bdml_status bdml_labels_from_binary(bdml_handle *h, bdml_input *in, int format, bdml_names *names,
                                    int64_t *n, int32_t **label)
{
    bdml_bytes bytes = bdml_bytes_of_input(in);
    *n = 0;
    return format == BDML_FORMAT_IDX ? bdml_idx_labels(h, &bytes, names, n, label)
                                     : bdml_npy_labels(h, &bytes, names, n, label);
}

bdml_status bdml_labels_decode(bdml_handle *h, const bdml_bytes *bytes, bdml_element e,
                               size_t count, bdml_names *names, int32_t **label)
{
    bdml_status status = BDML_OK;
    unsigned char *item = NULL;
    char *text = NULL;
    int32_t *y = NULL;
    size_t capacity = 0, got, n;

    *label = NULL;
    if (e.size > MAX_LABEL_BYTES)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: announces labels of %zu bytes each; %d are allowed", bytes->name,
                         e.size, MAX_LABEL_BYTES);
    BDML_NEW(h, item, e.size);
    BDML_NEW(h, text, bdml_element_text_size(e));
    for (size_t i = 0; i < count; i++) {
        BDML_GO(bytes->read(h, bytes->from, item, e.size, &got));
        if (got < e.size) {
            status = bdml_fail_short(h, bytes->name, count * e.size, i * e.size + got);
            goto done;
        }
        if (!bdml_element_text(h->c_locale, e, item, text, &n)) {
            status = bdml_fail(h, BDML_ERR_DATA, "%s: label %zu is %s", bytes->name, i + 1,
                               e.kind == 'f' ? "infinite" : "not valid text");
            goto done;
        }
        BDML_GO(bdml_grow(h, &y, &capacity, i + 1, sizeof *y));
        y[i] = -1; /* NaN and empty text: missing */
        if (n > 0) BDML_GO(bdml_names_add(h, names, text, n, &y[i]));
    }
    BDML_GO(bdml_bytes_need_end(h, bytes, count * e.size));
    *label = y;
    y = NULL;
done:
    free(item);
    free(text);
    free(y);
    return status;
}
