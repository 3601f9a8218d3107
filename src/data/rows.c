/* rows.c - the rows of a file block by block, for programs: bdml_open_source and what goes with it. */
#include "data/columns.h"

#include <stdlib.h>

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

int bdml_source_single(const bdml_source *source)
{
    return source && source->single;
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

/* ---- what the file looks like ------------------------------------------------------------------------ */

int bdml_source_columns(const bdml_source *source)
{
    return source && source->columns ? source->columns->count : 0;
}

static const char *looks_like(const bdml_look *l)
{
    static const char *const kinds[] = {"nothing",        "numbers", "true/false",
                                        "decimal commas", "dates",   "words"};
    if (bdml_look_is_count(l)) return "row numbers";
    if (l->kind[BDML_FIELD_NUMBER] > 0 && l->whole + l->kind[BDML_FIELD_MISSING] == l->rows)
        return "whole numbers";
    for (int k = BDML_FIELD_WORD; k > BDML_FIELD_MISSING; k--)
        if (l->kind[k] > 0) return kinds[k];
    return kinds[BDML_FIELD_MISSING];
}

bdml_status bdml_source_column(bdml_handle *h, const bdml_source *source, int column,
                               bdml_column_info *out)
{
    static const char *const uses[] = {"feature", "words", "label", "left out"};
    if (!h) return BDML_ERR_ARGUMENT;
    if (!out || column < 0 || column >= bdml_source_columns(source))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "column %d is not among the %d of the file", column,
                         bdml_source_columns(source));
    const bdml_column *c = &source->columns->column[column];
    *out = (bdml_column_info){c->name, uses[c->role], looks_like(&c->look), c->look.values.count};
    return BDML_OK;
}

const char *bdml_source_label_reason(const bdml_source *source)
{
    static const char *const reasons[] = {"asked for", "by its name", "the last column"};
    if (!source || !source->labelled) return NULL;
    if (source->labels_from) return source->labels_from;
    if (source->label_column < 0 && source->label_found != BDML_LABEL_GIVEN)
        return "inside the file";
    return reasons[source->label_found];
}

const char *bdml_source_doubt(bdml_handle *h, bdml_source *source)
{
    bool grave;
    if (!h || !source) return "";
    free(source->doubt);
    source->doubt = NULL;
    bdml_status status =
        bdml_doubt_labels(h, &h->options.input, source, source->handed_out, source->classes.count,
                          source->classes.text, &source->doubt, &grave);
    return status == BDML_OK && source->doubt ? source->doubt : "";
}
