/* container_read.c - reading the file format of model.h, trusting nothing.
 *
 * A file that passes here is whole: magic, version, length, checksum, then the header and every array
 * against the length of the file. The checksum finds accidents; the checks after it stand on their
 * own, for files that were made to deceive. */
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum { FIRST_READ = 1 << 16 }; /* bytes; then by doubling: the header's claims allocate nothing */

/* ---- frame ------------------------------------------------------------------------------------- */

/* Magic, version, length, checksum; *header: bytes of the JSON header. Messages lack the name. */
static bdml_status check_frame(bdml_handle *h, const unsigned char *p, size_t size, size_t *header)
{
    enum { LEAST = BDML_CONTAINER_FIXED + BDML_CONTAINER_TAIL };
    size_t magic = sizeof bdml_container_magic;
    if (size == 0) return bdml_fail(h, BDML_ERR_FORMAT, "the file is empty");
    if (memcmp(p, bdml_container_magic, BDML_MIN(size, magic)) != 0)
        return bdml_fail(h, BDML_ERR_FORMAT, "not a bdml file (it does not begin with BDMLFILE)");
    if (size < LEAST)
        return bdml_fail(h, BDML_ERR_FORMAT, "truncated: %zu bytes, a bdml file has at least %d",
                         size, (int)LEAST);
    uint64_t major = bdml_get_le(p + 8, 2), minor = bdml_get_le(p + 10, 2);
    if (major > BDML_CONTAINER_MAJOR)
        return bdml_fail(
            h, BDML_ERR_FORMAT,
            "written by a newer bdml: file format %d.%d, this library (%s) reads up to "
            "%d; update bdml",
            (int)major, (int)minor, bdml_version(), (int)BDML_CONTAINER_MAJOR);
    uint64_t total = bdml_get_le(p + 24, 8);
    if (total > size)
        return bdml_fail(h, BDML_ERR_FORMAT, "truncated: %zu bytes of %llu", size,
                         (unsigned long long)total);
    if (total < size)
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged: %zu bytes where it says %llu", size,
                         (unsigned long long)total);
    size_t body = size - BDML_CONTAINER_TAIL;
    if (crc32_z(0, p, body) != bdml_get_le(p + body, BDML_CONTAINER_TAIL))
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged or altered: the checksum does not match");
    uint64_t length = bdml_get_le(p + 16, 8);
    if (major < 1 || bdml_get_le(p + 12, 4) != 0 || length > size - LEAST)
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged: the first %d bytes contradict themselves",
                         (int)BDML_CONTAINER_FIXED);
    *header = (size_t)length;
    return BDML_OK;
}

/* ---- header ------------------------------------------------------------------------------------ */

static bool read_natural(const json_t *value, int64_t *out)
{
    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return *out >= 0;
}

static bool read_shape(const json_t *shape, int64_t *rows, int64_t *columns)
{
    size_t n = json_array_size(shape);
    *columns = 0;
    if (n < 1 || n > 2 || !read_natural(json_array_get(shape, 0), rows)) return false;
    return n == 1 || (read_natural(json_array_get(shape, 1), columns) && *columns > 0);
}

static int find_cell(const char *type)
{
    for (int cell = 0; type && cell < BDML_CELL_COUNT; cell++)
        if (strcmp(type, bdml_cell_name[cell]) == 0) return cell;
    return -1;
}

/* One entry of "arrays"; it must begin at or after *end, which it moves to its own end. */
static bdml_status read_item(bdml_handle *h, bdml_container *c, const json_t *entry, size_t *end)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    int cell = find_cell(json_string_value(json_object_get(entry, "type")));
    int64_t rows, columns, offset, bytes;
    size_t limit = c->size - BDML_CONTAINER_TAIL;

    if (!name || cell < 0 || !read_shape(json_object_get(entry, "shape"), &rows, &columns) ||
        !read_natural(json_object_get(entry, "offset"), &offset) ||
        !read_natural(json_object_get(entry, "bytes"), &bytes))
        return bdml_fail(
            h, BDML_ERR_FORMAT,
            "damaged: an array is described by no name, type, shape, offset and bytes that "
            "this library knows");
    BDML_TRY(bdml_container_add(h, c, name, (bdml_cell)cell, rows, columns, NULL));
    bdml_item *item = &c->item[c->items - 1];
    if ((uint64_t)bytes != item->bytes)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "damaged: array '%.100s' claims %lld bytes, its shape %zu", name,
                         (long long)bytes, item->bytes);
    if ((uint64_t)offset < *end || offset % BDML_CONTAINER_ALIGN != 0 || (uint64_t)offset > limit ||
        item->bytes > limit - (size_t)offset)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "damaged: array '%.100s' lies outside the file or over another", name);
    item->offset = (size_t)offset;
    *end = (size_t)offset + item->bytes;
    return BDML_OK;
}

static bdml_status read_header(bdml_handle *h, bdml_container *c, size_t length)
{
    json_error_t error;
    size_t end = BDML_CONTAINER_FIXED + length;
    locale_t was = uselocale(h->c_locale);
    c->header = json_loadb((const char *)c->file + BDML_CONTAINER_FIXED, length,
                           JSON_REJECT_DUPLICATES, &error);
    uselocale(was);
    if (!json_is_object(c->header))
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged: the header is no JSON object (%s)",
                         c->header ? "other JSON" : error.text);
    const json_t *list = json_object_get(c->header, "arrays");
    if (!json_is_array(list))
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged: the header has no list of arrays");
    for (size_t k = 0; k < json_array_size(list); k++)
        BDML_TRY(read_item(h, c, json_array_get(list, k), &end));
    if (end != c->size - BDML_CONTAINER_TAIL)
        return bdml_fail(h, BDML_ERR_FORMAT, "damaged: %zu bytes belong to no array",
                         c->size - BDML_CONTAINER_TAIL - end);
    json_object_del(c->header, "arrays"); /* they are in c->item now */
    return BDML_OK;
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* Takes over `file`, also when it fails. */
static bdml_status open_owned(bdml_handle *h, unsigned char *file, size_t size, const char *name,
                              bdml_container **out)
{
    bdml_status status = BDML_OK;
    bdml_container *c;
    size_t length = 0;

    c = bdml_calloc(h, 1, sizeof *c);
    if (!c) {
        free(file);
        return BDML_ERR_MEMORY;
    }
    c->file = file;
    c->size = size;
    c->name = bdml_strdup(h, name);
    if (!c->name) status = BDML_ERR_MEMORY;
    if (status == BDML_OK) status = check_frame(h, file, size, &length);
    if (status == BDML_OK) status = read_header(h, c, length);
    if (status == BDML_OK)
        *out = c;
    else
        bdml_container_free(c);
    return status == BDML_ERR_FORMAT ? bdml_fail_context(h, status, "%.500s", name) : status;
}

bdml_status bdml_container_from_bytes(bdml_handle *h, const void *bytes, size_t size,
                                      const char *name, bdml_container **out)
{
    *out = NULL;
    unsigned char *copy = bdml_alloc(h, size, 1);
    if (!copy) return BDML_ERR_MEMORY;
    if (size > 0) memcpy(copy, bytes, size);
    return open_owned(h, copy, size, name, out);
}

/* False once it is clear that more bytes change nothing: no file of ours, or longer than it says. */
static bool goes_on(const unsigned char *p, size_t size)
{
    size_t magic = sizeof bdml_container_magic;
    if (memcmp(p, bdml_container_magic, BDML_MIN(size, magic)) != 0) return false;
    return size < BDML_CONTAINER_FIXED || size <= bdml_get_le(p + 24, 8);
}

bdml_status bdml_container_load(bdml_handle *h, const char *path, bdml_container **out)
{
    bdml_status status = BDML_OK;
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    unsigned char *file = NULL;
    size_t size = 0, capacity = 0, got;
    FILE *f = fopen(path, "rb");

    *out = NULL;
    if (!f) {
        status = bdml_fail(h, BDML_ERR_IO, "%.500s: cannot be read: %s", path, strerror(errno));
        goto done;
    }
    do {
        BDML_GO(bdml_grow(h, &file, &capacity, BDML_MAX(size + 1, FIRST_READ), 1));
        got = fread(file + size, 1, capacity - size, f);
        size += got;
    } while (got > 0 && goes_on(file, size)); /* /dev/zero has no end */
    if (ferror(f)) {
        status = bdml_fail(h, BDML_ERR_IO, "%.500s: cannot be read: %s", path, strerror(errno));
        goto done;
    }
    status = open_owned(h, file, size, path, out);
    file = NULL;
done:
    if (f) fclose(f);
    free(file);
    bdml_phase_leave(h, previous);
    return status;
}

/* ---- arrays out ------------------------------------------------------------------------------------ */

/* The item of that name and type, with the shape wanted; *found is NULL when it is absent. */
static bdml_status find_item(bdml_handle *h, const bdml_container *c, const char *name,
                             bdml_cell cell, int64_t *rows, int64_t *columns,
                             const bdml_item **found)
{
    const bdml_item *item = bdml_container_find(c, name);
    *found = item;
    if (!item) return BDML_OK;
    if (item->cell != cell || (*rows >= 0 && *rows != item->rows) ||
        (*columns >= 0 && *columns != item->columns))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%.300s: array '%s' is %s %lld x %lld, wanted %s %lld x %lld",
                         c->name ? c->name : "file", name, bdml_cell_name[item->cell],
                         (long long)item->rows, (long long)item->columns, bdml_cell_name[cell],
                         (long long)*rows, (long long)*columns);
    *rows = item->rows;
    *columns = item->columns;
    return BDML_OK;
}

bdml_status bdml_container_get_f8(bdml_handle *h, const bdml_container *c, const char *name,
                                  int64_t *rows, int64_t *columns, double **data)
{
    const bdml_item *item;
    *data = NULL;
    BDML_TRY(find_item(h, c, name, BDML_CELL_F8, rows, columns, &item));
    if (!item) return BDML_OK;
    *data = bdml_alloc(h, item->bytes, 1);
    if (!*data) return BDML_ERR_MEMORY;
    for (size_t k = 0; k < item->bytes / 8; k++) {
        uint64_t bits = bdml_get_le(c->file + item->offset + 8 * k, 8);
        memcpy(*data + k, &bits, sizeof bits);
    }
    return BDML_OK;
}

bdml_status bdml_container_get_i4(bdml_handle *h, const bdml_container *c, const char *name,
                                  int64_t *rows, int64_t *columns, int32_t **data)
{
    const bdml_item *item;
    *data = NULL;
    BDML_TRY(find_item(h, c, name, BDML_CELL_I4, rows, columns, &item));
    if (!item) return BDML_OK;
    *data = bdml_alloc(h, item->bytes, 1);
    if (!*data) return BDML_ERR_MEMORY;
    for (size_t k = 0; k < item->bytes / 4; k++) {
        uint32_t bits = (uint32_t)bdml_get_le(c->file + item->offset + 4 * k, 4);
        memcpy(*data + k, &bits, sizeof bits);
    }
    return BDML_OK;
}
