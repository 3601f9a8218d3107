/* binary.c - bytes that grow as they are read, and labels from them: common to NPY, NPZ, MAT and IDX. */
#include "data/binary.h"

#include <stdlib.h>

enum {
    CHUNK = 65536,             /* bytes asked for at a time */
    MAX_LABEL_BYTES = 1 << 18, /* of one text label; a claim beyond it is not a label */
    TURNED = 512               /* numbers at a time whose bytes are turned round */
};

/* ---- bytes --------------------------------------------------------------------------------- */

static bdml_status read_input(bdml_handle *h, void *from, void *out, size_t want, size_t *got)
{
    return bdml_input_read(h, from, out, want, got);
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

/* ---- labels ---------------------------------------------------------------------------------- */

bool bdml_labels_inside_wanted(const bdml_input_options *o)
{
    if (*o->labels_file.value) return false;
    if (*o->label_variable.value) return true;
    return strcmp(o->label.value, "auto") == 0; /* else none, or a column */
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

/* ---- writing ------------------------------------------------------------------------------------- */

void bdml_put_little(uint64_t v, size_t size, unsigned char *out)
{
    for (size_t b = 0; b < size; b++) out[b] = (unsigned char)(v >> (8 * b));
}

bdml_status bdml_write_doubles(bdml_handle *h, bdml_file *f, size_t count, const double *x)
{
    unsigned char bytes[TURNED * sizeof *x];

    if (bdml_machine_is_little()) return bdml_file_write(h, f, x, count * sizeof *x);
    for (size_t start = 0; start < count; start += TURNED) {
        size_t n = BDML_MIN(count - start, (size_t)TURNED);
        for (size_t i = 0; i < n; i++) {
            uint64_t v;
            memcpy(&v, &x[start + i], 8);
            bdml_put_little(v, 8, bytes + 8 * i);
        }
        BDML_TRY(bdml_file_write(h, f, bytes, n * 8));
    }
    return BDML_OK;
}
