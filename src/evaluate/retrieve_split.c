/* retrieve_split.c - what to learn from and what is kept apart.
 *
 * Classes: a share of them is unseen. Of each other class test-fraction of the rows are kept from training as well, so
 * that both scopes are searched alike: among rows that no training saw, each query without itself.
 *
 * Rows: test-fraction of each class are unseen, and look for their class among those trained on.
 *
 * Queries: test-fraction of them are unseen, the others are learned from and searched for as well. Either looks among
 * all documents. */
#include "evaluate/retrieve.h"

#include <stdlib.h>

/* Splits of classes draw from streams of their own, apart from splits and folds of rows. */
static const uint64_t CLASS_STREAM = (uint64_t)1 << 61;

void retrieve_split_free(retrieve_split *s)
{
    free(s->learn);
    for (int k = 0; k < RETRIEVE_SCOPES; k++) {
        free(s->scope[k].row);
        free(s->scope[k].query);
    }
    *s = (retrieve_split){0};
}

/* ---- classes ---------------------------------------------------------------------------------------------- */

/* unseen[c] for the classes that have rows. */
static bdml_status split_classes(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                                 int split, unsigned char *unseen, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    unsigned char *there = NULL;
    int64_t *order = NULL, *present = NULL, count = 0, seen = 0;
    double share = o->retrieve.unseen_share.value;

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
                          "unseen-share = %g of %lld classes leaves %lld to learn from and %lld to "
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

static bdml_status make_classes(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                                int split, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    retrieve_search *unseen = &s->scope[RETRIEVE_UNSEEN], *seen = &s->scope[RETRIEVE_SEEN];
    unsigned char *kept = NULL;
    int64_t *row = NULL, *part = NULL, count = 0;
    int32_t *y = NULL;

    BDML_NEW(h, kept, data->classes);
    BDML_NEW(h, s->learn, data->n);
    BDML_NEW(h, unseen->row, data->n);
    BDML_NEW(h, seen->row, data->n);
    BDML_NEW(h, row, data->n);
    BDML_NEW(h, part, data->n);
    BDML_NEW(h, y, data->n);
    BDML_GO(split_classes(h, o, data, split, kept, s));
    for (int64_t i = 0; i < data->n; i++) {
        if (kept[data->y[i]]) {
            unseen->row[unseen->rows++] = i;
            continue;
        }
        y[count] = data->y[i];
        row[count++] = i;
    }
    BDML_GO(bdml_split_random(h, count, y, o->evaluate.test_fraction.value,
                              (uint64_t)o->general.seed.value, (uint64_t)split, part, &s->train));
    for (int64_t k = 0; k < s->train; k++) s->learn[k] = row[part[k]];
    for (int64_t k = s->train; k < count; k++) seen->row[seen->rows++] = row[part[k]];
done:
    free(kept);
    free(row);
    free(part);
    free(y);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* Rows of every class are kept from training and look among those trained on; these look among each other. */
static bdml_status make_rows(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                             int split, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    retrieve_search *unseen = &s->scope[RETRIEVE_UNSEEN], *seen = &s->scope[RETRIEVE_SEEN];
    int64_t *order = NULL;

    BDML_NEW(h, order, data->n);
    BDML_NEW(h, s->learn, data->n);
    BDML_NEW(h, unseen->row, data->n);
    BDML_NEW(h, unseen->query, data->n);
    BDML_NEW(h, seen->row, data->n);
    BDML_GO(bdml_split_random(h, data->n, data->y, o->evaluate.test_fraction.value,
                              (uint64_t)o->general.seed.value, (uint64_t)split, order, &s->train));
    unseen->rows = seen->rows = s->train;
    unseen->queries = data->n - s->train;
    for (int64_t k = 0; k < s->train; k++) s->learn[k] = unseen->row[k] = seen->row[k] = order[k];
    for (int64_t k = s->train; k < data->n; k++) unseen->query[k - s->train] = order[k];
done:
    free(order);
    return status;
}

/* ---- queries ---------------------------------------------------------------------------------------------- */

/* All documents are searched. What nothing belongs to asks nothing, and is not learned from. */
static bdml_status make_queries(bdml_handle *h, const bdml_options *o, const retrieve_data *data,
                                int split, retrieve_split *s)
{
    bdml_status status = BDML_OK;
    int64_t documents = data->rows->n - data->queries, count = 0, learned = 0;
    int64_t *asks = NULL, *order = NULL;

    BDML_NEW(h, asks, data->queries);
    BDML_NEW(h, order, data->queries);
    for (int64_t k = 0; k < data->answers->count; k++) {
        int64_t query = data->answers->line[k].query;
        if (count == 0 || asks[count - 1] != query) asks[count++] = query;
    }
    if (count < 2)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA,
                          "%lld of %lld queries has relevant documents: one is needed to learn "
                          "from and another to test by",
                          (long long)count, (long long)data->queries));
    BDML_GO(bdml_split_random(h, count, NULL, o->evaluate.test_fraction.value,
                              (uint64_t)o->general.seed.value, (uint64_t)split, order, &learned));
    s->train = learned + documents;
    BDML_NEW(h, s->learn, s->train);
    for (int64_t k = 0; k < learned; k++) s->learn[k] = asks[order[k]];
    for (int64_t k = 0; k < documents; k++) s->learn[learned + k] = data->queries + k;
    for (int scope = 0; scope < RETRIEVE_SCOPES; scope++) {
        retrieve_search *search = &s->scope[scope];
        int64_t from = scope == RETRIEVE_SEEN ? 0 : learned;
        search->queries = scope == RETRIEVE_SEEN ? learned : count - learned;
        search->rows = documents;
        BDML_NEW(h, search->query, search->queries);
        BDML_NEW(h, search->row, documents);
        for (int64_t k = 0; k < search->queries; k++) search->query[k] = asks[order[from + k]];
        for (int64_t k = 0; k < documents; k++) search->row[k] = data->queries + k;
    }
done:
    free(asks);
    free(order);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- */

bdml_status retrieve_split_make(bdml_handle *h, const bdml_options *o, const retrieve_data *data,
                                int split, retrieve_split *s)
{
    *s = (retrieve_split){0};
    bdml_status status = data->answers ? make_queries(h, o, data, split, s)
                         : o->retrieve.unseen.value == BDML_UNSEEN_ROWS
                             ? make_rows(h, o, data->rows, split, s)
                             : make_classes(h, o, data->rows, split, s);
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

bdml_status retrieve_train_rows(bdml_handle *h, const retrieve_data *data, const retrieve_split *s,
                                bdml_dataset **out)
{
    BDML_TRY(bdml_dataset_subset(h, data->rows, s->train, s->learn, out));
    return (*out)->y ? close_gaps(h, *out) : BDML_OK;
}
