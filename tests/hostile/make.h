/* make.h - binary files built byte by byte, good ones and bad ones, for the tests of the readers. No
 * other program is needed to make them. */
#ifndef BDML_TESTS_MAKE_H
#define BDML_TESTS_MAKE_H

#include "../check.h"

#include <fcntl.h>
#include <ftw.h>
#include <zip.h>
#include <zlib.h>

/* ---- bytes --------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *b;
    size_t n, capacity;
} bytes;

static inline void put(bytes *out, const void *data, size_t n)
{
    if (out->n + n > out->capacity) {
        out->capacity = 2 * (out->n + n) + 64;
        out->b = realloc(out->b, out->capacity);
        assert_non_null(out->b);
    }
    if (n > 0) memcpy(out->b + out->n, data, n);
    out->n += n;
}
static inline void put_text(bytes *out, const char *s)
{
    put(out, s, strlen(s));
}
static inline void put_byte(bytes *out, unsigned v)
{
    unsigned char c = (unsigned char)v;
    put(out, &c, 1);
}
/* The low `size` bytes of v, little- or big-endian. */
static inline void put_int(bytes *out, uint64_t v, int size, bool big)
{
    for (int i = 0; i < size; i++)
        put_byte(out, (unsigned)(v >> (8 * (big ? size - 1 - i : i))) & 0xFF);
}
static inline void put_double(bytes *out, double v, bool big)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    put_int(out, u, 8, big);
}
static inline void put_float(bytes *out, float v, bool big)
{
    uint32_t u;
    memcpy(&u, &v, 4);
    put_int(out, u, 4, big);
}
static inline void drop(bytes *b)
{
    free(b->b);
    *b = (bytes){0};
}

/* ---- files in a folder of their own ------------------------------------------------------------ */

static char folder[] = "/tmp/bdml-test-XXXXXX";

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}
static inline int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}
static inline int drop_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A path in the folder; eight may be in use at a time. */
static inline const char *in_folder(const char *name)
{
    static char path[8][512];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}
/* Write, free, and give the path. */
static inline const char *save(const char *name, bytes *b)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    if (b->n > 0) assert_int_equal(fwrite(b->b, 1, b->n, f), b->n);
    assert_int_equal(fclose(f), 0);
    drop(b);
    return path;
}
static inline const char *save_text(const char *name, const char *text)
{
    bytes b = {0};
    put_text(&b, text);
    return save(name, &b);
}
static inline const char *save_gzip(const char *name, bytes *b)
{
    const char *path = in_folder(name);
    gzFile f = gzopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, b->b, (unsigned)b->n), b->n);
    assert_int_equal(gzclose(f), Z_OK);
    drop(b);
    return path;
}
static inline bytes load(const char *path)
{
    bytes b = {0};
    unsigned char buffer[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) put(&b, buffer, n);
    fclose(f);
    return b;
}

/* ---- NPY --------------------------------------------------------------------------------------- */

/* Header of any version around any dictionary text. */
static inline void npy_dict(bytes *out, int version, const char *dict)
{
    size_t prefix = version == 1 ? 10 : 12, n = prefix + strlen(dict) + 1,
           total = (n + 63) / 64 * 64;
    put(out, "\x93NUMPY", 6);
    put_byte(out, (unsigned)version);
    put_byte(out, 0);
    put_int(out, total - prefix, version == 1 ? 2 : 4, false);
    put_text(out, dict);
    for (; n < total; n++) put_byte(out, ' ');
    put_byte(out, '\n');
}
static inline void npy_header(bytes *out, const char *descr, const char *fortran, const char *shape)
{
    char dict[256];
    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
             fortran, shape);
    npy_dict(out, 1, dict);
}
static inline bytes npy_doubles(const char *shape, size_t count, const double *x)
{
    bytes b = {0};
    npy_header(&b, "<f8", "False", shape);
    for (size_t i = 0; i < count; i++) put_double(&b, x[i], false);
    return b;
}

/* ---- zip ----------------------------------------------------------------------------------------- */

typedef struct member {
    const char *name;
    bytes content; /* freed */
} member;

static inline const char *save_zip(const char *name, int method, int count, member *m)
{
    const char *path = in_folder(name);
    unlink(path);
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(z);
    for (int i = 0; i < count; i++) {
        zip_source_t *s = zip_source_buffer(z, m[i].content.b, m[i].content.n, 0);
        zip_int64_t k = zip_file_add(z, m[i].name, s, 0);
        assert_true(k >= 0);
        assert_int_equal(zip_set_file_compression(z, (zip_uint64_t)k, method, 0), 0);
    }
    assert_int_equal(zip_close(z), 0);
    for (int i = 0; i < count; i++) drop(&m[i].content);
    return path;
}
/* Where the k-th record with this signature ("PK\1\2" directory, "PK\3\4" member) begins. */
static inline size_t find_record(const bytes *b, const char *signature, int k)
{
    for (size_t i = 0; i + 4 <= b->n; i++)
        if (memcmp(b->b + i, signature, 4) == 0 && k-- == 0) return i;
    fail_msg("no such record in the archive");
    return 0;
}

/* ---- IDX ----------------------------------------------------------------------------------------- */

static inline void idx_header(bytes *out, unsigned type, int rank, const uint32_t *dims)
{
    put_int(out, type, 3, true);
    put_byte(out, (unsigned)rank);
    for (int i = 0; i < rank; i++) put_int(out, dims[i], 4, true);
}

/* ---- MAT v5 ---------------------------------------------------------------------------------------- */

enum { MX_CELL = 1, MX_STRUCT = 2, MX_CHAR = 4, MX_SPARSE = 5, MX_DOUBLE = 6, MX_UINT8 = 9 };
enum {
    MI_INT8 = 1,
    MI_UINT8 = 2,
    MI_UINT16 = 4,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_DOUBLE = 9,
    MI_MATRIX = 14,
    MI_COMPRESSED = 15,
    MI_UTF8 = 16,
    MI_UTF16 = 17
};

static inline void mat_header(bytes *out, unsigned version, bool big)
{
    for (int i = 0; i < 116; i++)
        put_byte(out, (unsigned char)"MATLAB 5.0 MAT-file"[i < 19 ? i : 6]);
    put_int(out, 0, 8, big);
    put_int(out, version, 2, big);
    put_text(out, big ? "MI" : "IM");
}
static inline void mat_part(bytes *out, unsigned type, const void *data, size_t n, bool big)
{
    put_int(out, type, 4, big);
    put_int(out, n, 4, big);
    put(out, data, n);
    while (out->n % 8) put_byte(out, 0);
}
/* Flags, sizes, name; numbers follow with mat_part. */
static inline void mat_start(bytes *out, unsigned flags, int rank, const uint32_t *dims,
                             const char *name, bool big)
{
    put_int(out, MI_UINT32, 4, big);
    put_int(out, 8, 4, big);
    put_int(out, flags, 4, big);
    put_int(out, 0, 4, big);
    put_int(out, MI_INT32, 4, big);
    put_int(out, (uint64_t)rank * 4, 4, big);
    for (int i = 0; i < rank; i++) put_int(out, dims[i], 4, big);
    while (out->n % 8) put_byte(out, 0);
    mat_part(out, MI_INT8, name, strlen(name), big);
}
/* The matrix `content` (freed) as an element of the file. */
static inline void mat_add(bytes *out, bytes *content, bool big)
{
    put_int(out, MI_MATRIX, 4, big);
    put_int(out, content->n, 4, big);
    put(out, content->b, content->n);
    drop(content);
}
static inline void mat_add_compressed(bytes *out, bytes *content)
{
    bytes inner = {0};
    mat_add(&inner, content, false);
    uLongf n = compressBound((uLong)inner.n);
    unsigned char *packed = malloc(n);
    assert_non_null(packed);
    assert_int_equal(compress(packed, &n, inner.b, (uLong)inner.n), Z_OK);
    put_int(out, MI_COMPRESSED, 4, false);
    put_int(out, n, 4, false);
    put(out, packed, n);
    free(packed);
    drop(&inner);
}
/* rows x columns doubles, column-major. */
static inline bytes mat_doubles(const char *name, uint32_t rows, uint32_t columns, const double *x,
                                bool big)
{
    bytes b = {0}, data = {0};
    uint32_t dims[2] = {rows, columns};
    for (size_t i = 0; i < (size_t)rows * columns; i++) put_double(&data, x[i], big);
    mat_start(&b, MX_DOUBLE, 2, dims, name, big);
    mat_part(&b, MI_DOUBLE, data.b, data.n, big);
    drop(&data);
    return b;
}

#endif
