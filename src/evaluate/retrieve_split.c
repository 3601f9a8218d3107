/* retrieve_split.c - classes to learn from and classes kept apart.
 *
 * A share of the classes is unseen. Of each other class test-fraction of the rows are kept from training as well, so
 * that both scopes are searched alike: among rows that no training saw, each query without itself. */
#include "evaluate/retrieve.h"

#include <stdlib.h>

/* Splits of classes draw from streams of their own, apart from splits and folds of rows. */
static const uint64_t CLASS_STREAM = (uint64_t)1 << 61;

void retrieve_split_free(retrieve_split *s)
{
    free(s->order);
    *s = (retrieve_split){0};
}

/* unseen[c] for the classes that have rows. */
static bdml_status split_classes(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                                 int split, unsigned char *unseen, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    unsigned char *there = NULL;
    int64_t *order = NULL, *present = NULL, count = 0, seen = 0;
    double share = o->retrieve.unseen.value;

    BDML_NEW(h, there, data->classes);
    BDML_NEW(h, order, data->classes);
    BDML_NEW(h, present, data->classes);
    for (int64_t i = 0; i < data->n; i++) there[data->y[i]] = 1;
    for (int c = 0; c < data->classes; c++)
        if (there[c]) present[count++] = c;
    BDML_GO(bdml_split_random(h, count, NULL, share, (uint64_t)o->general.seed.value,
                              CLASS_STREAM + (uint64_t)split, order, &seen));
    if (seen < 2 || count - seen < 2)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA,
                          "unseen = %g of %lld classes leaves %lld to learn from and %lld to "
                          "search; at least 2 are needed on either side",
                          share, (long long)count, (long long)seen, (long long)(count - seen)));
    for (int64_t k = seen; k < count; k++) unseen[present[order[k]]] = 1;
    s->classes[RETRIEVE_SEEN] = (int)seen;
    s->classes[RETRIEVE_UNSEEN] = (int)(count - seen);
done:
    free(there);
    free(order);
    free(present);
    return status;
}

bdml_status retrieve_split_make(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                                int split, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    unsigned char *unseen = NULL;
    int64_t *row = NULL, *part = NULL, seen = 0, at;
    int32_t *y = NULL;

    *s = (retrieve_split){0};
    BDML_NEW(h, unseen, data->classes);
    BDML_NEW(h, s->order, data->n);
    BDML_NEW(h, row, data->n);
    BDML_NEW(h, part, data->n);
    BDML_NEW(h, y, data->n);
    BDML_GO(split_classes(h, o, data, split, unseen, s));
    for (int64_t i = 0; i < data->n; i++) {
        if (unseen[data->y[i]]) continue;
        y[seen] = data->y[i];
        row[seen++] = i;
    }
    BDML_GO(bdml_split_random(h, seen, y, o->evaluate.test_fraction.value,
                              (uint64_t)o->general.seed.value, (uint64_t)split, part, &s->train));
    s->rows[RETRIEVE_UNSEEN] = data->n - seen;
    s->rows[RETRIEVE_SEEN] = seen - s->train;
    for (int64_t k = 0; k < s->train; k++) s->order[k] = row[part[k]];
    at = s->train;
    for (int64_t i = 0; i < data->n; i++)
        if (unseen[data->y[i]]) s->order[at++] = i;
    for (int64_t k = s->train; k < seen; k++) s->order[at++] = row[part[k]];
done:
    free(unseen);
    free(row);
    free(part);
    free(y);
    if (status != BDML_OK) retrieve_split_free(s);
    return status;
}

/* Number the classes that have rows from 0, in their order; the others go. */
static bdml_status close_gaps(bdml_handle *h, bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    int32_t *number = NULL, kept = 0;
    BDML_NEW(h, number, data->classes);
    for (int64_t i = 0; i < data->n; i++) number[data->y[i]] = 1;
    for (int c = 0; c < data->classes; c++) {
        char *name = data->class_name[c];
        data->class_name[c] = NULL;
        if (number[c]) {
            data->class_name[kept] = name;
            number[c] = kept++;
        } else {
            free(name);
        }
    }
    for (int64_t i = 0; i < data->n; i++) data->y[i] = number[data->y[i]];
    data->classes = kept;
done:
    free(number);
    return status;
}

bdml_status retrieve_train_rows(bdml_handle *h, const bdml_dataset *data, const retrieve_split *s,
                                bdml_dataset **out)
{
    BDML_TRY(bdml_dataset_subset(h, data, s->train, s->order, out));
    return close_gaps(h, *out);
}

bdml_status retrieve_scope_rows(bdml_handle *h, const bdml_dataset *data, const retrieve_split *s,
                                retrieve_scope scope, bdml_dataset **out)
{
    const int64_t *row = s->order + s->train;
    if (scope == RETRIEVE_SEEN) row += s->rows[RETRIEVE_UNSEEN];
    return bdml_dataset_subset(h, data, s->rows[scope], row, out);
}
