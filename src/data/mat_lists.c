/* mat_lists.c - lists of numbers inside a structure of a MAT v5 file: S.field{1}, S.field{2}, ...,
 * as files of fixed splits have them (train.source{i}).
 *
 * A structure of one element is, behind flags, sizes and name: the length of a field name, all names one
 * after the other in that width, then a MATRIX element a field. Read here directly from the checked
 * elements of mat_scan.c; every length is tried against what is left. */
#include "data/mat_scan.h"

#include <matio.h>
#include <stdlib.h>

enum { TAG = 8, NOTE = 128, MOST_LISTS = 1000000 };

/* What is being read, for messages and byte order. */
typedef struct place {
    bdml_handle *h;
    const char *file, *variable, *field;
    bool swap;
} place;

static bdml_status fail_at(const place *p, const char *why)
{
    return bdml_fail(p->h, BDML_ERR_FORMAT, "%s: %s.%s: %s", p->file, p->variable, p->field, why);
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* The numbers of one cell, appended to the rows of `out`, which grows with them. */
static bdml_status read_cell(const place *at, bdml_mat_part cell, size_t *capacity, int64_t *used,
                             bdml_row_lists *out)
{
    char note[NOTE];
    bdml_mat_cursor c = {cell.data, cell.bytes, at->swap, note};
    bdml_mat_variable v = {0};
    bdml_element e;
    bdml_mat_part numbers;
    size_t count;

    const char *why = cell.bytes ? bdml_mat_start(&c, &v) : NULL;
    if (why) return fail_at(at, why);
    if (cell.bytes == 0) return BDML_OK; /* an empty list */
    if (v.class < MAT_C_DOUBLE || v.class > MAT_C_UINT64 || v.complex)
        return fail_at(at, "a cell holds something else than real numbers");
    if (!bdml_dims_product(v.rank, v.dims, &count) || !bdml_mat_next(&c, &numbers) ||
        !bdml_mat_element(numbers.type, at->swap, &e) || numbers.bytes / e.size != count)
        return fail_at(at, "the numbers of a cell do not fit its sizes: damaged");
    BDML_TRY(bdml_grow(at->h, &out->row, capacity, (size_t)*used + count, sizeof *out->row));
    for (size_t i = 0; i < count; i++) {
        double value;
        bdml_element_decode(e, numbers.data + i * e.size, 1, &value);
        if (!(fabs(value) < 0x1p53) || value != floor(value))
            return fail_at(at, "a cell holds a number that is no row number");
        out->row[(*used)++] = (int64_t)value;
    }
    return BDML_OK;
}

static bdml_status read_cells(const place *at, bdml_mat_part array, bdml_row_lists *out)
{
    char note[NOTE];
    bdml_mat_cursor c = {array.data, array.bytes, at->swap, note};
    bdml_mat_variable v = {0};
    size_t count, capacity = 0;
    int64_t used = 0;

    const char *why = bdml_mat_start(&c, &v);
    if (why) return fail_at(at, why);
    if (v.class != MAT_C_CELL || !bdml_dims_product(v.rank, v.dims, &count))
        return fail_at(at, "is not a cell array of lists");
    if (count > c.left / TAG || count > MOST_LISTS)
        return fail_at(at, "announces more cells than it holds");
    out->start = bdml_calloc(at->h, count + 1, sizeof *out->start);
    if (!out->start) return BDML_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        bdml_mat_part cell;
        if (!bdml_mat_next(&c, &cell) || cell.type != MAT_T_MATRIX)
            return fail_at(at, "announces more cells than it holds");
        BDML_TRY(read_cell(at, cell, &capacity, &used, out));
        out->start[i + 1] = used;
    }
    out->count = (int)count;
    return BDML_OK;
}

/* ---- the structure ------------------------------------------------------------------------------------ */

/* The element of the field: *found false when there is none of that name. */
static bdml_status find_field(const place *at, bdml_mat_cursor *c, bdml_mat_part *out, bool *found)
{
    bdml_mat_variable v = {0};
    bdml_mat_part width, names;
    size_t count, length = strlen(at->field);

    const char *why = bdml_mat_start(c, &v);
    if (why) return fail_at(at, why);
    if (v.class != MAT_C_STRUCT || !bdml_dims_product(v.rank, v.dims, &count) || count != 1)
        return fail_at(at, "the variable is not a structure of one element");
    if (!bdml_mat_next(c, &width) || width.bytes != 4 || !bdml_mat_next(c, &names))
        return fail_at(at, "the names of its fields are damaged");
    uint32_t size;
    memcpy(&size, width.data, sizeof size);
    if (at->swap) size = __builtin_bswap32(size);
    if (size == 0 || names.bytes % size) return fail_at(at, "the names of its fields are damaged");
    *found = false;
    for (size_t k = 0; k < names.bytes / size && !*found; k++) {
        const char *name = (const char *)names.data + k * size;
        if (!bdml_mat_next(c, out) || out->type != MAT_T_MATRIX)
            return fail_at(at, "announces more fields than it holds");
        *found = strnlen(name, size) == length && memcmp(name, at->field, length) == 0;
    }
    return BDML_OK;
}

static bdml_status read_whole(bdml_handle *h, const char *path, bdml_mat_file *f)
{
    bdml_input *in = NULL;
    BDML_TRY(bdml_input_open(h, path, &in));
    bdml_bytes bytes = bdml_bytes_of_input(in);
    bdml_status status = bdml_bytes_read_all(h, &bytes, SIZE_MAX, &f->bytes, &f->size);
    bdml_input_close(in);
    f->name = path;
    return status == BDML_OK ? bdml_mat_scan(h, f) : status;
}

bdml_status bdml_mat_lists_read(bdml_handle *h, const char *path, const char *variable,
                                const char *field, bdml_row_lists *out)
{
    bdml_status status = BDML_OK;
    bdml_mat_file f = {0};
    const bdml_mat_variable *v = NULL;
    unsigned char *element = NULL;
    char note[NOTE];
    size_t bytes;
    bdml_mat_part array = {0};
    bool found = false;

    *out = (bdml_row_lists){0};
    BDML_GO(read_whole(h, path, &f));
    place at = {h, path, variable, field, f.swap};
    for (int i = 0; i < f.count && !v; i++)
        if (strcmp(f.variable[i].name, variable) == 0) v = &f.variable[i];
    if (v) {
        BDML_GO(bdml_mat_unpack(h, &f, v, &element, &bytes));
        bdml_mat_cursor c = {element + TAG, bytes - TAG, f.swap, note};
        BDML_GO(find_field(&at, &c, &array, &found));
    }
    if (!found) BDML_GO(fail_at(&at, "is not there"));
    status = read_cells(&at, array, out);
done:
    if (status != BDML_OK) bdml_row_lists_free(out);
    free(element);
    bdml_mat_file_free(&f);
    return status;
}
