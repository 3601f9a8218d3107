/* rows.c - the rows of a file block by block, for programs: bdml_open_source and what goes with it. */
#include "data/data.h"

bdml_status bdml_open_source(bdml_handle *h, const char *path, int d, bdml_source **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path || d < 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_open_source: path must not be NULL, nor d negative");
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    const bdml_wanted wanted = {.d = d};
    bdml_status status = bdml_source_open(h, &h->options.input, path, d > 0 ? &wanted : NULL, out);
    bdml_phase_leave(h, previous);
    return status;
}

void bdml_close_source(bdml_source *source)
{
    bdml_source_close(source);
}

bdml_status bdml_read_rows(bdml_handle *h, bdml_source *source, int64_t most, double *x,
                           int32_t *label, int64_t *line, int64_t *n)
{
    if (n) *n = 0;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!source || most < 1 || !x || !label || !line || !n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_read_rows: no argument may be NULL, and most is at least 1");
    bdml_block block = {.capacity = most, .d = source->d, .x = x, .label = label, .line = line};
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    bdml_status status = bdml_source_next(h, source, &block);
    bdml_phase_leave(h, previous);
    if (status == BDML_OK) *n = block.n;
    return status;
}

const char *bdml_source_name(const bdml_source *source)
{
    return source ? source->path : NULL;
}

int bdml_source_dimension(const bdml_source *source)
{
    return source ? source->d : 0;
}

int64_t bdml_source_points(const bdml_source *source)
{
    return source ? source->rows : -1;
}

int bdml_source_labelled(const bdml_source *source)
{
    return source && source->labelled;
}

int bdml_source_classes(const bdml_source *source)
{
    return source ? source->classes.count : 0;
}

const char *bdml_source_class_name(const bdml_source *source, int c)
{
    return source && c >= 0 && c < source->classes.count ? source->classes.text[c] : NULL;
}

bdml_status bdml_source_order_classes(bdml_handle *h, const bdml_source *source, int32_t *order)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!source || !order)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_source_order_classes: source and order must not be NULL");
    return bdml_names_sort(h, &source->classes, order);
}

const char *bdml_source_feature_name(const bdml_source *source, int j)
{
    bool there = source && source->feature_name && j >= 0 && j < source->d;
    return there ? source->feature_name[j] : NULL;
}
