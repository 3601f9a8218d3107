/* write_npy.c - NPY version 1.0: the magic, a header padded so that the data begin at a multiple of 64
 * bytes, little-endian data in C order. */
#include "data/binary.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
    PREFIX = 10,      /* magic, version and length of the header */
    ALIGN = 64,       /* as numpy does */
    HEADER_ROOM = 192 /* two 20-digit sizes and the fixed words take less than 128 */
};

static bdml_status write_header(bdml_handle *h, bdml_file *f, const char *descr, int64_t rows,
                                int64_t columns)
{
    char text[HEADER_ROOM], shape[64];
    if (columns < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)rows);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)columns);
    int used = snprintf(text + PREFIX, sizeof text - PREFIX,
                        "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    size_t n = PREFIX + (size_t)used, total = (n + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(text + n, ' ', total - n);
    text[total - 1] = '\n';
    memcpy(text, "\x93NUMPY\x01", 8); /* with the closing NUL: version 1.0 */
    text[8] = (char)((total - PREFIX) & 0xFF);
    text[9] = (char)((total - PREFIX) >> 8);
    return bdml_file_write(h, f, text, total);
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
static bdml_status encode_names(bdml_handle *h, const bdml_dataset *data, char descr[16],
                                size_t *size, unsigned char **items)
{
    bdml_status status = BDML_OK;
    uint32_t *code = NULL;
    bool whole = true;
    size_t longest = 1, classes = (size_t)data->classes;
    int64_t v;

    for (size_t c = 0; c < classes; c++) {
        const char *name = data->class_name[c];
        whole = whole && bdml_parse_int(name, strlen(name), &v);
        longest = BDML_MAX(longest, decode_utf8(name, NULL));
    }
    *size = whole ? 8 : 4 * longest;
    snprintf(descr, 16, whole ? "<i8" : "<U%d", (int)longest);
    BDML_NEW(h, *items, classes * *size);
    BDML_NEW(h, code, longest);
    for (size_t c = 0; c < classes; c++) {
        const char *name = data->class_name[c];
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

static bdml_status write_labels(bdml_handle *h, const bdml_dataset *data, const char *path,
                                bdml_file **out)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    unsigned char *items = NULL;
    char descr[16];
    size_t size;

    BDML_GO(encode_names(h, data, descr, &size, &items));
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(write_header(h, f, descr, data->n, -1));
    for (int64_t i = 0; i < data->n; i++)
        BDML_GO(bdml_file_write(h, f, items + (size_t)data->y[i] * size, size));
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

/* ---- entry points ------------------------------------------------------------------------------- */

static bdml_status write_matrix(bdml_handle *h, const char *path, int64_t rows, int64_t columns,
                                const double *x, bdml_file **out)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(write_header(h, f, "<f8", rows, columns));
    BDML_GO(bdml_write_doubles(h, f, (size_t)rows * (size_t)columns, x));
    *out = f;
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}

bdml_status bdml_write_npy_matrix(bdml_handle *h, const char *path, int64_t rows, int64_t columns,
                                  const double *x)
{
    bdml_file *f;
    if (!path || !x || rows < 0 || columns < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "an NPY file needs a path, sizes of at least 0 and data");
    BDML_TRY(write_matrix(h, path, rows, columns, x, &f));
    return bdml_file_commit(h, f);
}

/* Both files are complete before either gets its name, so that a full disk leaves neither. */
bdml_status bdml_write_npy(bdml_handle *h, const bdml_dataset *data, const char *path)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL, *labels = NULL;
    char *beside = NULL;

    beside = labels_path(h, path);
    if (!beside) return BDML_ERR_MEMORY;
    if (data->y)
        BDML_GO(write_labels(h, data, beside, &labels));
    else if (access(beside, F_OK) == 0)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: these data have no labels, but %s is there and will be taken for theirs",
                 path, beside);
    BDML_GO(write_matrix(h, path, data->n, data->d, data->x, &f));
    if (labels) {
        status = bdml_file_commit(h, labels);
        labels = NULL; /* freed, also when it failed */
        if (status != BDML_OK) goto done;
    }
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(labels);
    bdml_file_discard(f);
    free(beside);
    return status;
}
