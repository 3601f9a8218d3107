/* adapt_splits.c - which rows are learned from and which are tested: fixed or at random, checked.
 *
 * Random: so many source rows and labelled target rows of each class (all but one where a class of the
 * target has fewer), the other target rows for testing. Split s is a function of (seed, s) alone. */
#include "evaluate/adapt.h"

#include <stdlib.h>

/* Streams of their own, beside those of splits and folds (data/splits.c). */
static const uint64_t SOURCE_STREAM = (uint64_t)3 << 60, TARGET_STREAM = (uint64_t)5 << 60;

void adapt_splits_free(adapt_splits *s)
{
    for (int k = 0; s->split && k < s->count; k++) {
        free(s->split[k].source);
        free(s->split[k].target);
        free(s->split[k].test);
    }
    free(s->split);
    *s = (adapt_splits){0};
}

/* ---- random --------------------------------------------------------------------------------------------- */

static int by_row(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Put `each` rows of every class first, the rest behind them, either part ascending. spare: rows of a
 * class that are never taken. *taken: how many stand first. */
static bdml_status draw(bdml_handle *h, const bdml_dataset *data, int64_t each, int64_t spare,
                        bdml_rng r, int64_t *order, int64_t *taken)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL, first = 0, last = data->n;
    BDML_NEW(h, row, data->n);
    for (int c = 0; c < data->classes; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < data->n; i++)
            if (data->y[i] == c) row[count++] = i;
        int64_t take = BDML_MIN(each, BDML_MAX(count - spare, 0));
        bdml_rng_shuffle(&r, count, row);
        for (int64_t k = 0; k < count; k++) order[k < take ? first++ : --last] = row[k];
    }
    qsort(order, (size_t)first, sizeof *order, by_row);
    qsort(order + first, (size_t)(data->n - first), sizeof *order, by_row);
    *taken = first;
done:
    free(row);
    return status;
}

static bdml_status random_split(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                                const bdml_dataset *target, int k, adapt_split *s)
{
    bdml_status status = BDML_OK;
    uint64_t seed = (uint64_t)o->general.seed.value;
    int64_t *order = NULL;

    BDML_NEW(h, s->source, source->n);
    BDML_GO(draw(h, source, o->adapt.source_per_class.value, 0,
                 bdml_rng_make(seed, SOURCE_STREAM + (uint64_t)k), s->source, &s->sources));
    BDML_NEW(h, order, target->n);
    BDML_GO(draw(h, target, o->adapt.target_per_class.value, 1,
                 bdml_rng_make(seed, TARGET_STREAM + (uint64_t)k), order, &s->targets));
    s->tests = target->n - s->targets;
    BDML_NEW(h, s->target, s->targets);
    BDML_NEW(h, s->test, s->tests);
    memcpy(s->target, order, sizeof *order * (size_t)s->targets);
    memcpy(s->test, order + s->targets, sizeof *order * (size_t)s->tests);
done:
    free(order);
    return status;
}

bdml_status adapt_splits_random(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                                const bdml_dataset *target, int count, adapt_splits *out)
{
    bdml_status status = BDML_OK;
    *out = (adapt_splits){0};
    BDML_NEW(h, out->split, count);
    out->count = count;
    for (int k = 0; k < count; k++) BDML_GO(random_split(h, o, source, target, k, &out->split[k]));
done:
    if (status != BDML_OK) adapt_splits_free(out);
    return status;
}

/* ---- checks --------------------------------------------------------------------------------------------- */

/* Rows inside 0..n-1, none twice over the two lists. */
static bdml_status check_rows(bdml_handle *h, int split, const char *what, const bdml_dataset *data,
                              int64_t n1, const int64_t *first, int64_t n2, const int64_t *second)
{
    bdml_status status = BDML_OK;
    unsigned char *seen = NULL;
    BDML_NEW(h, seen, data->n);
    for (int64_t i = 0; i < n1 + n2 && status == BDML_OK; i++) {
        int64_t row = i < n1 ? first[i] : second[i - n1];
        if (row < 0 || row >= data->n)
            status = bdml_fail(h, BDML_ERR_DATA,
                               "split %d: %s row %lld (from 0) does not exist: the data have %lld",
                               split + 1, what, (long long)row, (long long)data->n);
        else if (seen[row]++)
            status =
                bdml_fail(h, BDML_ERR_DATA,
                          "split %d: %s row %lld (from 0) stands there twice, or both to learn "
                          "from and to test",
                          split + 1, what, (long long)row);
    }
done:
    free(seen);
    return status;
}

static bdml_status check_split(bdml_handle *h, bool semi, const bdml_dataset *source,
                               const bdml_dataset *target, int k, const adapt_split *s)
{
    if (s->sources < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "split %d has %lld source rows to learn from; at least 2 are needed",
                         k + 1, (long long)s->sources);
    if (semi && (s->targets == 0 || s->tests == 0))
        return bdml_fail(h, BDML_ERR_DATA,
                         "split %d has %lld labelled target rows and %lld test rows; "
                         "semi-supervised needs both",
                         k + 1, (long long)s->targets, (long long)s->tests);
    BDML_TRY(check_rows(h, k, "source", source, s->sources, s->source, 0, NULL));
    return check_rows(h, k, "target", target, s->targets, s->target, s->tests, s->test);
}

bdml_status adapt_splits_make(bdml_handle *h, const bdml_options *o, const bdml_dataset *source,
                              const bdml_dataset *target, adapt_splits *out)
{
    bdml_status status = BDML_OK;
    const char *path = o->adapt.splits_file.value;
    int trials = (int)o->adapt.trials.value;

    if (path[0])
        BDML_TRY(adapt_splits_read(h, path, trials, out));
    else
        BDML_TRY(adapt_splits_random(h, o, source, target, trials, out));
    for (int k = 0; k < out->count; k++)
        BDML_GO(check_split(h, o->adapt.semi.value, source, target, k, &out->split[k]));
done:
    if (status != BDML_OK) {
        if (path[0]) bdml_fail_context(h, status, "%s", path);
        adapt_splits_free(out);
    }
    return status;
}
