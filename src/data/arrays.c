/* arrays.c - data sets from arrays: doubles or floats, with labels, missing values and names. */
#include "data/data.h"

#include <float.h>
#include <stdlib.h>

/* ---- labels -------------------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b)
{
    int64_t p, q;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    return (p > q) - (p < q);
}

/* The different labels, ascending, into the front of `sorted`, and how many there are. */
static int64_t distinct_labels(int64_t n, const int64_t *y, int64_t *sorted)
{
    int64_t count = 0;
    memcpy(sorted, y, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_labels);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[count - 1]) sorted[count++] = sorted[i];
    return count;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* n rows of doubles or of floats. */
typedef struct rows {
    int64_t n, ld;
    int d;
    const double *doubles; /* or NULL: */
    const float *floats;
} rows;

static bdml_status check_shape(bdml_handle *h, const rows *x)
{
    if (x->n < 1 || x->d < 1 || x->ld < x->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "n, d and ld must be positive and ld >= d, got n %lld, d %d, ld %lld",
                         (long long)x->n, x->d, (long long)x->ld);
    if (x->ld > INT64_MAX / (int64_t)sizeof(double) / x->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "%lld rows that are %lld numbers apart are no memory", (long long)x->n,
                         (long long)x->ld);
    return BDML_OK;
}

/* Row i into `to`. *missing: it has a NaN, which is refused unless the setting says what to do with it. */
static bdml_status take_row(bdml_handle *h, const rows *x, int64_t i, double *to, bool *missing)
{
    bool allowed = h->options.input.missing.value != BDML_MISSING_ERROR;
    bool single = h->options.input.storage.value == BDML_STORAGE_FLOAT32;
    *missing = false;
    for (int j = 0; j < x->d; j++) {
        int64_t at = i * x->ld + j;
        to[j] = x->doubles ? x->doubles[at] : (double)x->floats[at];
        if (single && isfinite(to[j]) && fabs(to[j]) > (double)FLT_MAX)
            return bdml_fail(h, BDML_ERR_DATA,
                             "x at row %lld, column %d is %g, beyond the range of float32; set "
                             "storage to float64",
                             (long long)i, j, to[j]);
        if (single) to[j] = (double)(float)to[j];
        *missing = *missing || isnan(to[j]);
        if (isinf(to[j]) || (isnan(to[j]) && !allowed))
            return bdml_fail(h, BDML_ERR_DATA, "x at row %lld, column %d is %s: must be finite%s",
                             (long long)i, j, isnan(to[j]) ? "NaN" : "infinite",
                             isnan(to[j]) ? ", or the setting missing say drop or mean" : "");
    }
    return BDML_OK;
}

/* data->x and, in kept, the numbers of the rows that stay; data->n of them. */
static bdml_status take_rows(bdml_handle *h, const rows *x, bdml_dataset *data, int64_t *kept)
{
    bool drop = h->options.input.missing.value == BDML_MISSING_DROP, missing;
    data->n = 0;
    for (int64_t i = 0; i < x->n; i++) {
        BDML_TRY(take_row(h, x, i, data->x + (size_t)data->n * (size_t)x->d, &missing));
        if (!missing || !drop) kept[data->n++] = i;
    }
    if (data->n > 0) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA, "every row has a missing value: none is left");
}

/* Labels of the rows kept, each different one a class, ascending. */
static bdml_status take_labels(bdml_handle *h, const int64_t *kept, const int64_t *y,
                               bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    int64_t *label = NULL, *sorted = NULL;
    BDML_NEW(h, label, data->n);
    BDML_NEW(h, sorted, data->n);
    for (int64_t i = 0; i < data->n; i++) label[i] = y[kept[i]];
    int64_t classes = distinct_labels(data->n, label, sorted);
    BDML_NEW(h, data->y, data->n);
    BDML_NEW(h, data->class_name, classes);
    data->classes = (int)classes;
    for (int64_t i = 0; i < data->n; i++) {
        int64_t *at = bsearch(&label[i], sorted, (size_t)classes, sizeof *sorted, compare_labels);
        data->y[i] = (int32_t)(at - sorted);
    }
    for (int64_t c = 0; c < classes; c++) {
        char text[BDML_NUMBER_SIZE];
        snprintf(text, sizeof text, "%lld", (long long)sorted[c]);
        if (!(data->class_name[c] = bdml_strdup(h, text))) BDML_GO(BDML_ERR_MEMORY);
    }
done:
    free(label);
    free(sorted);
    return status;
}

static bdml_status from_rows(bdml_handle *h, const rows *x, const int64_t *y, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    int64_t *kept = NULL;

    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if ((!x->doubles && !x->floats) || !out)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "x and out must not be NULL");
    BDML_TRY(check_shape(h, x));
    BDML_GO(bdml_dataset_new(h, x->n, x->d, 0, &data));
    BDML_NEW(h, kept, x->n);
    BDML_GO(take_rows(h, x, data, kept));
    if (y) BDML_GO(take_labels(h, kept, y, data));
done:
    free(kept);
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}

bdml_status bdml_dataset_from_arrays(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                                     const int64_t *y, bdml_dataset **out)
{
    return from_rows(h, &(rows){n, ld, d, x, NULL}, y, out);
}

bdml_status bdml_dataset_from_floats(bdml_handle *h, int64_t n, int d, const float *x, int64_t ld,
                                     const int64_t *y, bdml_dataset **out)
{
    return from_rows(h, &(rows){n, ld, d, NULL, x}, y, out);
}

/* ---- names --------------------------------------------------------------------------------------- */

static bdml_status check_names(bdml_handle *h, int count, const char *const *name, bool differ)
{
    bdml_status status = BDML_OK;
    bdml_names seen = {0};
    int32_t id;
    for (int k = 0; k < count; k++) {
        if (!name[k]) BDML_GO(bdml_fail(h, BDML_ERR_ARGUMENT, "name %d is NULL", k));
        BDML_GO(bdml_names_add(h, &seen, name[k], strlen(name[k]), &id));
        if (id < k && differ)
            BDML_GO(bdml_fail(h, BDML_ERR_ARGUMENT, "classes %d and %d are both called '%.100s'",
                              (int)id, k, name[k]));
    }
done:
    bdml_names_free(&seen);
    return status;
}

/* *to: copies of `count` names in place of those there. */
static bdml_status replace_names(bdml_handle *h, int count, const char *const *name, char ***to)
{
    char **copy = bdml_calloc(h, (size_t)count, sizeof *copy);
    if (!copy) return BDML_ERR_MEMORY;
    bdml_status status = BDML_OK;
    for (int k = 0; k < count && status == BDML_OK; k++)
        if (!(copy[k] = bdml_strdup(h, name[k]))) status = BDML_ERR_MEMORY;
    char **drop = status == BDML_OK ? *to : copy;
    if (status == BDML_OK) *to = copy;
    for (int k = 0; drop && k < count; k++) free(drop[k]);
    free(drop);
    return status;
}

bdml_status bdml_dataset_set_names(bdml_handle *h, bdml_dataset *data, const char *const *classes,
                                   const char *const *features)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_dataset_set_names: data must not be NULL");
    if (classes && data->classes == 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "the data have no classes to name");
    if (classes) BDML_TRY(check_names(h, data->classes, classes, true));
    if (features) BDML_TRY(check_names(h, data->d, features, false));
    if (classes) BDML_TRY(replace_names(h, data->classes, classes, &data->class_name));
    return features ? replace_names(h, data->d, features, &data->feature_name) : BDML_OK;
}
