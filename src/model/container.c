/* container.c - writing the file format of model.h: JSON header, arrays, checksum.
 *
 * The header names the offsets of the arrays and stands before them, so its length must be known
 * before it is written: it is filled up with blanks to where the first array begins. The same
 * content gives the same bytes: keys are sorted and numbers carry 17 digits. jansson turns the
 * locale's decimal point into '.' and back by itself, but another thread may change the locale while
 * it does; here it runs in the "C" locale of this thread. */
#include "model/internal.h"

#include <stdlib.h>
#include <zlib.h>

const char bdml_container_magic[8] = {'B', 'D', 'M', 'L', 'F', 'I', 'L', 'E'};
const char *const bdml_cell_name[BDML_CELL_COUNT] = {"f8", "i4", "u1"};
const size_t bdml_cell_size[BDML_CELL_COUNT] = {8, 4, 1};

/* ---- life ------------------------------------------------------------------------------------- */

void bdml_container_free(bdml_container *c)
{
    if (!c) return;
    for (size_t k = 0; k < c->items; k++) free(c->item[k].name);
    free(c->item);
    free(c->name);
    free(c->file);
    json_decref(c->header);
    free(c);
}

bdml_status bdml_container_new(bdml_handle *h, bdml_container **out)
{
    bdml_status status = BDML_OK;
    bdml_container *c;

    *out = NULL;
    BDML_NEW(h, c, 1);
    c->header = json_object();
    if (!c->header) status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory for a file header");
done:
    if (status == BDML_OK)
        *out = c;
    else
        bdml_container_free(c);
    return status;
}

json_t *bdml_container_header(bdml_container *c)
{
    return c->header;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

const char *bdml_container_array(const bdml_container *c, size_t k)
{
    return k < c->items ? c->item[k].name : NULL;
}

bool bdml_item_cells(int64_t rows, int64_t columns, size_t cell_size, size_t *cells)
{
    if (rows < 0 || columns < 0 || (uint64_t)rows > SIZE_MAX) return false;
    size_t wide = columns > 0 ? (size_t)columns : 1;
    if (rows > 0 && wide > SIZE_MAX / cell_size / (size_t)rows) return false;
    *cells = (size_t)rows * wide;
    return true;
}

const bdml_item *bdml_container_find(const bdml_container *c, const char *name)
{
    for (size_t k = 0; k < c->items; k++)
        if (strcmp(c->item[k].name, name) == 0) return &c->item[k];
    return NULL;
}

bdml_status bdml_container_add(bdml_handle *h, bdml_container *c, const char *name, bdml_cell cell,
                               int64_t rows, int64_t columns, const void *data)
{
    size_t cells;
    if (bdml_container_find(c, name))
        return bdml_fail(h, BDML_ERR_FORMAT, "array '%.100s' is there twice", name);
    if (!bdml_item_cells(rows, columns, bdml_cell_size[cell], &cells))
        return bdml_fail(h, BDML_ERR_FORMAT, "array '%.100s' has the impossible shape %lld x %lld",
                         name, (long long)rows, (long long)columns);
    BDML_TRY(bdml_grow(h, &c->item, &c->capacity, c->items + 1, sizeof *c->item));
    char *copy = bdml_strdup(h, name);
    if (!copy) return BDML_ERR_MEMORY;
    c->item[c->items++] = (bdml_item){.name = copy,
                                      .cell = cell,
                                      .rows = rows,
                                      .columns = columns,
                                      .bytes = cells * bdml_cell_size[cell],
                                      .data = data};
    return BDML_OK;
}

bdml_status bdml_container_put_f8(bdml_handle *h, bdml_container *c, const char *name, int64_t rows,
                                  int64_t columns, const double *data)
{
    return bdml_container_add(h, c, name, BDML_CELL_F8, rows, columns, data);
}

bdml_status bdml_container_put_i4(bdml_handle *h, bdml_container *c, const char *name, int64_t rows,
                                  int64_t columns, const int32_t *data)
{
    return bdml_container_add(h, c, name, BDML_CELL_I4, rows, columns, data);
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static size_t align(size_t offset)
{
    return (offset + BDML_CONTAINER_ALIGN - 1) / BDML_CONTAINER_ALIGN * BDML_CONTAINER_ALIGN;
}

/* Arrays one after the other from `base` on; returns where the last one ends. */
static size_t place(bdml_container *c, size_t base)
{
    size_t end = base;
    for (size_t k = 0; k < c->items; k++) {
        c->item[k].offset = align(end);
        end = c->item[k].offset + c->item[k].bytes;
    }
    return end;
}

static json_t *shape_json(const bdml_item *item)
{
    return item->columns > 0 ? json_pack("[I,I]", (json_int_t)item->rows, (json_int_t)item->columns)
                             : json_pack("[I]", (json_int_t)item->rows);
}

/* The header as text with the arrays where they are placed now; freed by free(). */
static bdml_status header_text(bdml_handle *h, bdml_container *c, char **text)
{
    json_t *list = json_array();
    for (size_t k = 0; k < c->items; k++) {
        const bdml_item *item = &c->item[k];
        bdml_json_push(&list,
                       json_pack("{s:s, s:s, s:o, s:I, s:I}", "name", item->name, "type",
                                 bdml_cell_name[item->cell], "shape", shape_json(item), "offset",
                                 (json_int_t)item->offset, "bytes", (json_int_t)item->bytes));
    }
    bool ok = json_object_set_new(c->header, "arrays", list) == 0;
    locale_t was = uselocale(h->c_locale);
    *text = ok ? bdml_json_dump(c->header, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17))
               : NULL;
    uselocale(was);
    if (*text) return BDML_OK;
    bdml_fail(h, BDML_ERR_MEMORY, "the file header cannot be written as JSON: out of memory");
    return BDML_ERR_MEMORY;
}

static void put_cells(const bdml_item *item, unsigned char *out)
{
    size_t size = bdml_cell_size[item->cell], cells = item->bytes / size;
    const double *f8 = item->data;
    const int32_t *i4 = item->data;
    if (item->cell == BDML_CELL_U1 && cells > 0) memcpy(out, item->data, cells);
    for (size_t k = 0; item->cell == BDML_CELL_F8 && k < cells; k++) {
        uint64_t bits;
        memcpy(&bits, &f8[k], sizeof bits);
        bdml_put_le(out + 8 * k, bits, 8);
    }
    for (size_t k = 0; item->cell == BDML_CELL_I4 && k < cells; k++)
        bdml_put_le(out + 4 * k, (uint32_t)i4[k], 4);
}

bdml_status bdml_container_to_bytes(bdml_handle *h, bdml_container *c, void **bytes, size_t *size)
{
    bdml_status status = BDML_OK;
    char *text = NULL;
    unsigned char *out = NULL;
    size_t base = BDML_CONTAINER_FIXED, end, length;

    *bytes = NULL;
    *size = 0;
    do { /* larger offsets may have more digits: two rounds as a rule, three at most */
        free(text);
        text = NULL;
        end = place(c, base);
        BDML_GO(header_text(h, c, &text));
        length = strlen(text);
        if (BDML_CONTAINER_FIXED + length <= base) break;
        base = align(BDML_CONTAINER_FIXED + length);
    } while (true);
    BDML_NEW(h, out, end + BDML_CONTAINER_TAIL);
    memcpy(out, bdml_container_magic, sizeof bdml_container_magic);
    bdml_put_le(out + 8, BDML_CONTAINER_MAJOR, 2);
    bdml_put_le(out + 10, BDML_CONTAINER_MINOR, 2);
    bdml_put_le(out + 16, base - BDML_CONTAINER_FIXED, 8);
    bdml_put_le(out + 24, end + BDML_CONTAINER_TAIL, 8);
    memset(out + BDML_CONTAINER_FIXED, ' ', base - BDML_CONTAINER_FIXED);
    memcpy(out + BDML_CONTAINER_FIXED, text, length);
    for (size_t k = 0; k < c->items; k++) put_cells(&c->item[k], out + c->item[k].offset);
    bdml_put_le(out + end, crc32_z(0, out, end), BDML_CONTAINER_TAIL);
    *bytes = out;
    *size = end + BDML_CONTAINER_TAIL;
done:
    free(text);
    return status;
}

bdml_status bdml_container_save(bdml_handle *h, bdml_container *c, const char *path)
{
    bdml_status status = BDML_OK;
    void *bytes = NULL;
    size_t size;
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_WRITE);

    BDML_GO(bdml_container_to_bytes(h, c, &bytes, &size));
    status = bdml_file_save(h, path, bytes, size);
done:
    free(bytes);
    bdml_phase_leave(h, previous);
    return status;
}
