/* lengths.c - many rows of many columns, which PCA takes together: as they are, or each of length 1?
 *
 * Columns that PCA adds up are of one kind, such as pixels, and the length of a row may then be how loud it is (the
 * thickness of a stroke) and not what it is. Asked of a sample of rows, prepared either way: each is classed by its nearest
 * others, and length 1 is taken where it is right more often than the rows as they are, by more than its standard error,
 *
 *     c - b > SURE sqrt(b + c)      b, c: rows that only the one, only the other way has right (McNemar 1947). */
#include "train/train.h"

#include <stdlib.h>

#include "neighbors/neighbors.h"
#include "train/plan.h"

/* Both ways are the user's rows: the better one is wanted, and the rows as they are where nothing tells. With 2 standard errors one of
 * 16 samples of MNIST left rows as they are, for 0.16 points more errors. */
enum { MOST_ROWS = 15000, VOTES = 3 };
static const double SURE = 1.0;

/* Rows of the sample, class by class, as a data set of its own. */
static bdml_status sample(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                          bdml_dataset *out)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL, rows = data->n;

    BDML_NEW(h, row, data->n);
    for (int64_t i = 0; i < data->n; i++) row[i] = i;
    if (data->n > MOST_ROWS)
        BDML_GO(bdml_split_random(h, data->n, data->y, 1.0 - (double)MOST_ROWS / (double)data->n,
                                  (uint64_t)o->general.seed.value, UINT64_MAX, row, &rows));
    *out = (bdml_dataset){.n = rows, .d = data->d, .classes = data->classes};
    BDML_NEW(h, out->x, (size_t)rows * (size_t)data->d);
    BDML_NEW(h, out->y, rows);
    for (int64_t i = 0; i < rows; i++) out->y[i] = data->y[row[i]];
    const bdml_rows from = bdml_dataset_view(data);
    if (data->over)
        status = bdml_spread_fetch(h, data->over, data->d, data->x, data->d, rows, row, out->x);
    else
        bdml_rows_copy(&from, rows, row, 0, out->x);
done:
    free(row);
    return status;
}

/* right[i]: the nearest others of row i, prepared with this scale, vote for its class. */
static bdml_status class_rows(bdml_handle *h, const bdml_options *o, bdml_scaling scale,
                              const bdml_dataset *data, bool *right)
{
    bdml_status status = BDML_OK;
    bdml_options own = *o;
    bdml_prepare prepare = {0};
    double *x = NULL;
    int32_t *index = NULL, *count = NULL;

    own.prepare.scale.value = scale;
    BDML_GO(bdml_prepare_fit(h, &own, data, &prepare));
    int d = prepare.d_out;
    BDML_NEW(h, x, (size_t)data->n * (size_t)d);
    BDML_NEW(h, index, (size_t)data->n * VOTES);
    BDML_NEW(h, count, data->classes);
    BDML_GO(bdml_prepare_apply(h, &prepare, data->n, data->x, data->d, x));
    const bdml_rows rows = {data->n, d, d, x, data->y, data->classes, NULL};
    BDML_GO(bdml_knn_search(h, &o->neighbors, &rows, NULL, BDML_ANY_CLASS, VOTES, index, NULL));
    for (int64_t i = 0; i < data->n; i++)
        right[i] =
            data->y[i] == bdml_knn_vote(VOTES, index + i * VOTES, data->y, data->classes, count);
done:
    free(x);
    free(index);
    free(count);
    bdml_prepare_free(&prepare);
    return status;
}

static bdml_status compare(bdml_handle *h, bdml_options *o, const bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    bool *as_is = NULL, *unit = NULL;
    int64_t b = 0, c = 0;

    BDML_NEW(h, as_is, data->n);
    BDML_NEW(h, unit, data->n);
    BDML_GO(class_rows(h, o, BDML_SCALE_NONE, data, as_is));
    BDML_GO(class_rows(h, o, BDML_SCALE_UNIT, data, unit));
    for (int64_t i = 0; i < data->n; i++) {
        b += as_is[i] && !unit[i];
        c += unit[i] && !as_is[i];
    }
    bool sure = (double)(c - b) > SURE * sqrt((double)(b + c));
    if (sure) o->prepare.scale.value = BDML_SCALE_UNIT;
    bdml_log(h, BDML_LOG_INFO,
             "rows of length 1: %lld of %lld more are of the class of their neighbours, %lld fewer "
             "are; %s",
             (long long)c, (long long)data->n, (long long)b, sure ? "taken" : "left as they are");
done:
    free(as_is);
    free(unit);
    return status;
}

bdml_status bdml_lengths_choose(bdml_handle *h, const bdml_options *asked,
                                const bdml_method *method, const bdml_dataset *data,
                                const bdml_constraints *constraints, bdml_options *chosen)
{
    bdml_dataset some = {0};
    if (method->fit != bdml_fit_bdml || !data->y || data->classes < 2 ||
        !bdml_plan_weighs_lengths(asked, constraints != NULL, data->n))
        return BDML_OK;
    bdml_status status = sample(h, asked, data, &some);
    if (status == BDML_OK) status = compare(h, chosen, &some);
    free(some.x);
    free(some.y);
    /* rows that cannot be prepared at all: training itself says so, with the number that they have in the data */
    return status == BDML_ERR_DATA || status == BDML_ERR_ARGUMENT ? BDML_OK : status;
}
