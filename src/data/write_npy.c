/* write_npy.c - NPY version 1.0: the magic, a header padded so that the data begin at a multiple of 64
 * bytes, little-endian data in C order. */
#include "data/binary.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
    PREFIX = 10,       /* magic, version and length of the header */
    ALIGN = 64,        /* as numpy does; header and padding of any matrix are 128 bytes */
    HEADER_ROOM = 192, /* two 20-digit sizes and the fixed words take less than 128 */
    BLOCK = 8192       /* numbers made single at a time */
};

struct bdml_npy {
    bdml_file *file;
    char *path;
    int64_t announced, rows; /* in the header, written so far */
    int columns;
    bool single;
    unsigned char *bytes; /* single: BLOCK numbers as they go to the file */
};

/* Returns the bytes of the header. columns < 0: a vector. */
static size_t make_header(const char *descr, int64_t rows, int64_t columns, char text[HEADER_ROOM])
{
    char shape[64];
    if (columns < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    int used = snprintf(text + PREFIX, HEADER_ROOM - PREFIX,
                        "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    size_t n = PREFIX + (size_t)used, total = (n + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(text + n, ' ', total - n);
    text[total - 1] = '\n';
    memcpy(text, "\x93NUMPY\x01", 8); /* with the closing NUL: version 1.0 */
    text[8] = (char)((total - PREFIX) & 0xFF);
    text[9] = (char)((total - PREFIX) >> 8);
    return total;
}

/* ---- labels ------------------------------------------------------------------------------------ */

/* Code points of UTF-8 text; bytes that are not UTF-8 stand for themselves (Latin-1). */
static size_t decode_utf8(const char *s, uint32_t *code)
{
    const unsigned char *b = (const unsigned char *)s;
    size_t n = 0;
    while (*b) {
        int more = *b >= 0xF0 && *b < 0xF8 ? 3 : *b >= 0xE0 ? 2 : *b >= 0xC2 ? 1 : 0;
        uint32_t c = more == 3 ? *b & 7u : more == 2 ? *b & 15u : more == 1 ? *b & 31u : *b;
        int k = 1;
        while (k <= more && (b[k] & 0xC0) == 0x80) c = c << 6 | (b[k++] & 0x3Fu);
        if (*b >= 0xF8 || k <= more) {
            c = *b;
            k = 1;
        }
        if (code) code[n] = c;
        n++;
        b += k;
    }
    return n;
}

/* Class names as fixed-width items: int64 when all are whole numbers, else UTF-32 of the longest. */
static bdml_status encode_names(bdml_handle *h, int count, const char *const *names, char descr[16],
                                size_t *size, unsigned char **items)
{
    bdml_status status = BDML_OK;
    uint32_t *code = NULL;
    bool whole = true;
    size_t longest = 1, classes = (size_t)count;
    int64_t v;

    for (size_t c = 0; c < classes; c++) {
        const char *name = names[c];
        whole = whole && bdml_parse_int(name, strlen(name), &v);
        longest = BDML_MAX(longest, decode_utf8(name, NULL));
    }
    *size = whole ? 8 : 4 * longest;
    snprintf(descr, 16, whole ? "<i8" : "<U%d", (int)longest);
    BDML_NEW(h, *items, classes * *size);
    BDML_NEW(h, code, longest);
    for (size_t c = 0; c < classes; c++) {
        const char *name = names[c];
        unsigned char *item = *items + c * *size;
        if (whole) {
            bdml_parse_int(name, strlen(name), &v);
            bdml_put_little((uint64_t)v, 8, item);
        } else {
            size_t n = decode_utf8(name, code);
            for (size_t i = 0; i < n; i++) bdml_put_little(code[i], 4, item + 4 * i);
        }
    }
done:
    free(code);
    return status;
}

static bdml_status write_labels(bdml_handle *h, const char *path, int64_t n, const int32_t *label,
                                int classes, const char *const *names, bdml_file **out)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    unsigned char *items = NULL;
    char descr[16], header[HEADER_ROOM];
    size_t size;

    BDML_GO(encode_names(h, classes, names, descr, &size, &items));
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(bdml_file_write(h, f, header, make_header(descr, n, -1, header)));
    for (int64_t i = 0; i < n; i++)
        BDML_GO(bdml_file_write(h, f, items + (size_t)label[i] * size, size));
    *out = f;
    f = NULL;
done:
    bdml_file_discard(f);
    free(items);
    return status;
}

/* "a.npy" -> "a.labels.npy" */
static char *labels_path(bdml_handle *h, const char *path)
{
    size_t n = strlen(path), size = n + sizeof ".labels.npy";
    char *name = bdml_alloc(h, size, 1);
    if (!name) return NULL;
    if (n > 4 && strcasecmp(path + n - 4, ".npy") == 0) n -= 4;
    snprintf(name, size, "%.*s.labels.npy", (int)n, path);
    return name;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static const char *descr_of(const bdml_npy *f)
{
    return f->single ? "<f4" : "<f8";
}

void bdml_npy_discard(bdml_npy *f)
{
    if (!f) return;
    bdml_file_discard(f->file);
    free(f->path);
    free(f->bytes);
    free(f);
}

bdml_status bdml_npy_create(bdml_handle *h, const char *path, int64_t rows, int columns, int single,
                            bdml_npy **out)
{
    bdml_status status = BDML_OK;
    bdml_npy *f = NULL;
    char header[HEADER_ROOM];

    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path || columns < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "an NPY file needs a path and a number of columns");
    BDML_NEW(h, f, 1);
    f->announced = BDML_MAX(rows, 0);
    f->columns = columns;
    f->single = single != 0;
    if (f->single) BDML_NEW(h, f->bytes, BLOCK * sizeof(float));
    f->path = bdml_strdup(h, path);
    if (!f->path) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    BDML_GO(bdml_file_create(h, path, &f->file));
    BDML_GO(bdml_file_write(h, f->file, header,
                            make_header(descr_of(f), f->announced, columns, header)));
    *out = f;
    f = NULL;
done:
    bdml_npy_discard(f);
    return status;
}

/* At most BLOCK numbers to the bytes of singles; false when one is too large for them. */
static bool make_single(size_t n, const double *x, unsigned char *bytes)
{
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        float v = (float)x[i];
        fits &= !isinf(v);
        memcpy(bytes + i * sizeof v, &v, sizeof v);
    }
    for (size_t i = 0; !bdml_machine_is_little() && i < n; i++) {
        uint32_t v;
        memcpy(&v, bytes + 4 * i, 4);
        bdml_put_little(v, 4, bytes + 4 * i);
    }
    return fits;
}

bdml_status bdml_npy_write(bdml_handle *h, bdml_npy *f, int64_t n, const double *x)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!f || n < 0 || (!x && n > 0))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_npy_write: file and rows must not be NULL, nor fewer than 0");
    size_t count = (size_t)n * (size_t)f->columns;
    f->rows += n;
    if (!f->single) return bdml_write_doubles(h, f->file, count, x);
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t part = BDML_MIN(count - at, (size_t)BLOCK);
        if (!make_single(part, x + at, f->bytes))
            return bdml_fail(h, BDML_ERR_DATA,
                             "%s: a value is too large for float32; write float64 instead",
                             f->path);
        BDML_TRY(bdml_file_write(h, f->file, f->bytes, part * sizeof(float)));
    }
    return BDML_OK;
}

/* Both files are complete before either gets its name, so that a full disk leaves neither. */
bdml_status bdml_npy_commit(bdml_handle *h, bdml_npy *f, const int32_t *label, int classes,
                            const char *const *names)
{
    bdml_status status = BDML_OK;
    bdml_file *labels = NULL;
    char header[HEADER_ROOM], *beside = NULL;

    if (!h) return BDML_ERR_ARGUMENT;
    if (!f) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_npy_commit: file must not be NULL");
    beside = labels_path(h, f->path);
    if (!beside) BDML_GO(BDML_ERR_MEMORY);
    if (f->rows != f->announced)
        BDML_GO(bdml_file_rewrite(h, f->file, header,
                                  make_header(descr_of(f), f->rows, f->columns, header)));
    if (label)
        BDML_GO(write_labels(h, beside, f->rows, label, classes, names, &labels));
    else if (access(beside, F_OK) == 0)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: these data have no labels, but %s is there and will be taken for theirs",
                 f->path, beside);
    if (labels) {
        status = bdml_file_commit(h, labels);
        labels = NULL; /* freed, also when it failed */
        if (status != BDML_OK) goto done;
    }
    status = bdml_file_commit(h, f->file);
    f->file = NULL;
done:
    bdml_file_discard(labels);
    bdml_npy_discard(f);
    free(beside);
    return status;
}

/* ---- whole data sets and matrices --------------------------------------------------------------- */

bdml_status bdml_write_npy_matrix(bdml_handle *h, const char *path, int64_t rows, int64_t columns,
                                  const double *x)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    char header[HEADER_ROOM];
    if (!path || !x || rows < 0 || columns < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "an NPY file needs a path, sizes of at least 0 and data");
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(bdml_file_write(h, f, header, make_header("<f8", rows, columns, header)));
    BDML_GO(bdml_write_doubles(h, f, (size_t)rows * (size_t)columns, x));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}

bdml_status bdml_write_npy(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    bdml_npy *f = NULL;
    BDML_TRY(bdml_npy_create(h, path, data->n, data->d, 0, &f));
    bdml_status status =
        bdml_dataset_confirm(h, data, bdml_npy_write(h, f, data->n, data->x), NULL);
    if (status == BDML_OK)
        return bdml_npy_commit(h, f, data->y, data->classes, (const char *const *)data->class_name);
    bdml_npy_discard(f);
    return status;
}
