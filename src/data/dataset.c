/* dataset.c - the data set: making, copying, describing. */
#include "data/data.h"

#include <stdlib.h>

/* ---- life ---------------------------------------------------------------------------------- */

static void free_texts(char **text, int count)
{
    for (int i = 0; text && i < count; i++) free(text[i]);
    free(text);
}

void bdml_free_dataset(bdml_dataset *data)
{
    if (!data) return;
    free_texts(data->class_name, data->classes);
    free_texts(data->feature_name, data->d);
    bool floats = data->single.x != NULL; /* doubles beside them are always the data set's own */
    if (!data->file || floats) free(data->x);
    if (!data->file) free(data->single.x);
    bdml_mapped_free(data->file);
    free(data->y);
    free(data->source);
    free(data->label_name);
    free(data->doubt);
    bdml_spread_free(data->over);
    free(data);
}

bdml_status bdml_dataset_new(bdml_handle *h, int64_t n, int d, int classes, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data;

    *out = NULL;
    BDML_NEW(h, data, 1);
    if (n > INT32_MAX)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%lld rows are too many: at most %d can be indexed",
                          (long long)n, INT32_MAX));
    data->n = n;
    data->d = d;
    if (d > 0 && (size_t)n > SIZE_MAX / sizeof(double) / (size_t)d)
        BDML_GO(bdml_fail(h, BDML_ERR_MEMORY,
                          "%lld rows of %d values are more than memory can hold", (long long)n, d));
    data->x = bdml_alloc(h, (size_t)n * (size_t)d, sizeof *data->x);
    if (!data->x) BDML_GO(BDML_ERR_MEMORY);
    if (classes > 0) {
        BDML_NEW(h, data->y, n);
        BDML_NEW(h, data->class_name, classes);
        data->classes = classes;
    }
done:
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}

bdml_status bdml_dataset_own(bdml_handle *h, bdml_dataset *data)
{
    return data->file && !data->single.x ? bdml_mapped_write(h, data->file, data->source) : BDML_OK;
}

bdml_status bdml_dataset_confirm(bdml_handle *h, const bdml_dataset *data, bdml_status status,
                                 char **json)
{
    if (!data || !data->file) return status;
    bdml_status changed = bdml_mapped_check(h, data->file, data->source);
    if (changed == BDML_OK) return status;
    if (json) {
        free(*json);
        *json = NULL;
    }
    return changed;
}

bdml_status bdml_confirm_dataset(bdml_handle *h, const bdml_dataset *data)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_confirm_dataset: data must not be NULL");
    return bdml_dataset_confirm(h, data, BDML_OK, NULL);
}

static bdml_status copy_texts(bdml_handle *h, char *const *from, int count, char **to)
{
    for (int i = 0; i < count; i++)
        if (from[i] && !(to[i] = bdml_strdup(h, from[i]))) return BDML_ERR_MEMORY;
    return BDML_OK;
}

bdml_status bdml_dataset_subset(bdml_handle *h, const bdml_dataset *data, int64_t count,
                                const int64_t *rows, bdml_dataset **out)
{
    bdml_status status;
    bdml_dataset *part = NULL;

    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data || !out || count < 0 || (count > 0 && !rows))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "bdml_dataset_subset: data, rows and out must not be NULL");
    BDML_TRY(bdml_dataset_need_all(h, data, "a subset"));
    for (int64_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= data->n)
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "row %lld is not among the %lld rows of the data", (long long)rows[i],
                             (long long)data->n);
    size_t d = (size_t)data->d;
    const bdml_rows from = bdml_dataset_view(data);
    BDML_GO(bdml_dataset_new(h, count, data->d, data->classes, &part));
    bdml_rows_copy(&from, count, rows, 0, part->x);
    for (int64_t i = 0; part->y && i < count; i++) part->y[i] = data->y[rows[i]];
    if (data->classes > 0)
        BDML_GO(copy_texts(h, data->class_name, data->classes, part->class_name));
    if (data->feature_name) {
        BDML_NEW(h, part->feature_name, d);
        BDML_GO(copy_texts(h, data->feature_name, data->d, part->feature_name));
    }
    if (data->source && !(part->source = bdml_strdup(h, data->source))) BDML_GO(BDML_ERR_MEMORY);
    status = bdml_dataset_confirm(h, data, status, NULL);
done:
    if (status == BDML_OK)
        *out = part;
    else
        bdml_free_dataset(part);
    return status;
}

/* 0 x is 0 or -0 but for NaN and infinity, and sums of these are 0: one a lane, many lanes at a time. */
bool bdml_all_finite(size_t n, const double *x)
{
    enum { LANES = 16 };
    double sum[LANES] = {0.0}, total = 0.0;
    size_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (size_t j = 0; j < LANES; j++) sum[j] += 0.0 * x[k + j];
    for (; k < n; k++) total += 0.0 * x[k];
    for (size_t j = 0; j < LANES; j++) total += sum[j];
    return total == 0.0;
}

/* From now on the rows are the doubles beside them, which may be written. */
static bdml_status let_go_of_floats(bdml_handle *h, bdml_dataset *data)
{
    BDML_TRY(bdml_dataset_confirm(h, data, BDML_OK, NULL));
    if (!data->file) free(data->single.x);
    bdml_mapped_free(data->file);
    data->single.x = NULL;
    data->file = NULL;
    return BDML_OK;
}

bdml_status bdml_dataset_fill(bdml_handle *h, bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_dataset_fill: data must not be NULL");
    BDML_TRY(bdml_dataset_need_all(h, data, "filling in means"));
    BDML_TRY(bdml_dataset_widen(h, data));
    if (bdml_all_finite((size_t)data->n * (size_t)data->d, data->x)) return BDML_OK;
    bdml_prepare means = {.d_in = data->d};
    size_t d = (size_t)data->d;
    const bdml_rows rows = bdml_dataset_view(data);
    BDML_GO(bdml_dataset_own(h, data));
    BDML_GO(bdml_prepare_means(h, &rows, NULL, &means));
    if (data->single.x) BDML_GO(let_go_of_floats(h, data));
    for (size_t k = 0; k < (size_t)data->n * d; k++)
        if (isnan(data->x[k])) data->x[k] = means.fill[k % d];
    status = bdml_dataset_confirm(h, data, status, NULL);
done:
    bdml_prepare_free(&means);
    return status;
}

/* ---- questions --------------------------------------------------------------------------------- */

bdml_status bdml_dataset_need_classes(bdml_handle *h, const bdml_dataset *data)
{
    const char *name = data->source ? data->source : "the data";
    if (data->classes == 0)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: there are no labels; name their column with --label, or their file "
                         "with --labels-file",
                         name);
    if (data->doubt) return bdml_fail(h, BDML_ERR_DATA, "%s", data->doubt);
    bool other = false;
    for (int64_t i = 1; i < data->n && !other; i++) other = data->y[i] != data->y[0];
    if (!other)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: all %lld rows are of one class, '%s'; at least two are needed", name,
                         (long long)data->n, data->n ? data->class_name[data->y[0]] : "");
    return BDML_OK;
}

bdml_status bdml_dataset_need_all(bdml_handle *h, const bdml_dataset *data, const char *what)
{
    if (!data->over) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "%s needs all rows on every rank: read the data by bdml_read_dataset", what);
}

/* hash, after those of the first `rows` rows that are here. */
static uint64_t mix_rows(const bdml_dataset *data, int64_t rows, uint64_t hash)
{
    int64_t here = BDML_MIN(bdml_spread_held(data->over, data->n),
                            BDML_MAX(rows - bdml_spread_first(data->over), 0));
    size_t held = (size_t)here * (size_t)data->d;
    uint64_t bits;
    for (size_t k = 0; k < held; k++) {
        double v = data->x ? data->x[k] : (double)data->single.x[k];
        memcpy(&bits, &v, sizeof bits);
        hash = bdml_mix(hash, bits);
    }
    return hash;
}

/* Rows that are dealt out are taken in their order, by one rank after the other. */
uint64_t bdml_dataset_fingerprint_of(const bdml_dataset *data, int64_t rows)
{
    const bdml_comm *comm = data->over ? data->over->comm : &bdml_comm_serial;
    uint64_t hash = bdml_mix(bdml_mix(0, (uint64_t)rows), (uint64_t)data->d);
    for (int k = 0; k < comm->size; k++) {
        if (k == comm->rank) hash = mix_rows(data, rows, hash);
        double half[2] = {k == comm->rank ? (double)(hash >> 32) : 0.0,
                          k == comm->rank ? (double)(hash & 0xffffffffu) : 0.0};
        bdml_comm_sum(comm, 2, half);
        hash = (uint64_t)half[0] << 32 | (uint64_t)half[1];
    }
    for (int64_t i = 0; data->y && i < rows; i++) hash = bdml_mix(hash, (uint64_t)data->y[i]);
    return hash;
}

uint64_t bdml_dataset_fingerprint(const bdml_dataset *data)
{
    return bdml_dataset_fingerprint_of(data, data->n);
}

int64_t bdml_dataset_points(const bdml_dataset *data)
{
    return data ? data->n : 0;
}

int bdml_dataset_dimension(const bdml_dataset *data)
{
    return data ? data->d : 0;
}

int bdml_dataset_classes(const bdml_dataset *data)
{
    return data ? data->classes : 0;
}

const double *bdml_dataset_rows(const bdml_dataset *data)
{
    return data && bdml_dataset_widen(NULL, data) == BDML_OK ? data->x : NULL;
}

const int32_t *bdml_dataset_labels(const bdml_dataset *data)
{
    return data ? data->y : NULL;
}

const char *bdml_dataset_class_name(const bdml_dataset *data, int c)
{
    return data && c >= 0 && c < data->classes ? data->class_name[c] : NULL;
}

const char *bdml_dataset_feature_name(const bdml_dataset *data, int j)
{
    return data && data->feature_name && j >= 0 && j < data->d ? data->feature_name[j] : NULL;
}
