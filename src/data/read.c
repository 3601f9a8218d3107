/* read.c - a data set from a source: rows collected, missing values treated, classes sorted. Of a data set that is dealt out to
 * ranks each reads its stretch of the rows, where the file lets it, or goes over all of them and keeps its stretch. */
#include "data/columns.h"

#include <stdlib.h>

/* values read at a time: half a MiB, inside the cache */
enum { BLOCK_VALUES = BDML_FUZZING ? 16 : 1 << 16 };
enum { SPARSEST = 10000 }; /* places of a sparse file for one number in them */

/* Rows collected so far. */
typedef struct rows {
    bdml_source *s;
    int policy;         /* BDML_MISSING_... */
    bdml_stretch keep;  /* of the rows that are not dropped: those that are kept */
    int64_t n, dropped; /* rows gone over, by number: n counts those that are not dropped */
    int64_t held;       /* and kept */
    double share;       /* of all rows, that are */
    size_t capacity_x, capacity_y; /* in values */
    double *x;
    bool narrow;   /* they are held as floats: */
    float *single; /* these, x being a block of what comes */
    size_t capacity_single;
    bdml_mapped *file; /* that x, or single, is a part of; NULL: it is memory */
    int32_t *y;        /* -1 where there are no labels */
    int64_t *count;    /* missing = mean: values that are there, per column */
    int64_t missing;   /* and those that are not */
} rows;

static void free_rows(rows *r)
{
    if (!r->file) {
        free(r->x);
        free(r->single);
    }
    bdml_mapped_free(r->file);
    free(r->y);
    free(r->count);
    bdml_source_close(r->s);
}

/* ---- missing values ---------------------------------------------------------------------------- */

/* First missing value of row i: its column, -1 for the label, d when nothing is missing. */
static int first_missing(const bdml_source *s, const bdml_block *b, int64_t i)
{
    const double *x = b->x + (size_t)i * (size_t)b->d;
    int any = 0, j = 0;
    if (s->labelled && b->label[i] < 0) return -1;
    for (int k = 0; k < b->d; k++) any |= isnan(x[k]) != 0; /* all, many at a time */
    if (!any) return b->d;
    while (!isnan(x[j])) j++;
    return j;
}

static bdml_status refuse_missing(bdml_handle *h, const rows *r, const bdml_block *b, int64_t i,
                                  int j)
{
    if (j < 0)
        return bdml_source_fail(h, BDML_ERR_DATA, r->s, b, i, j,
                                "the label is missing; --missing drop leaves such rows out");
    return bdml_source_fail(
        h, BDML_ERR_DATA, r->s, b, i, j,
        "a value is missing; --missing drop leaves such rows out, --missing mean "
        "fills in the column's mean");
}

/* missing = mean: the value stays NaN in the data set. The mean that is filled in is that of the rows
 * that a model is trained on, which only the preparation knows. */
static bdml_status count_values(bdml_handle *h, rows *r, const double *x)
{
    bdml_status status = BDML_OK;
    int d = r->s->d;
    if (!r->count) BDML_NEW(h, r->count, d);
    for (int j = 0; j < d; j++) {
        r->count[j] += !isnan(x[j]);
        r->missing += isnan(x[j]);
    }
done:
    return status;
}

static bdml_status check_means(bdml_handle *h, const rows *r, const bdml_dataset *data)
{
    for (int j = 0; j < data->d; j++)
        if (r->count[j] == 0)
            return bdml_fail(h, BDML_ERR_DATA,
                             "%s: column %d (%s) has no value at all: there is no mean to fill in",
                             r->s->path, j + 1, data->feature_name ? data->feature_name[j] : "-");
    if (r->missing > 0)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: %lld values are missing; the mean of the training rows is filled in",
                 r->s->path, (long long)r->missing);
    return BDML_OK;
}

/* ---- collecting ---------------------------------------------------------------------------------- */

/* Rows read at a time. */
static int64_t block_rows(const rows *r)
{
    return BDML_MAX(BLOCK_VALUES / r->s->d, 1);
}

/* Rows that are kept of `more` that come, at most. */
static int64_t kept_of(const rows *r, int64_t more)
{
    return BDML_MIN(more, r->keep.end - r->keep.first - r->held);
}

/* Room for `more` rows behind those that are there; of those that are not kept, for a block at a time. */
static bdml_status make_room(bdml_handle *h, rows *r, int64_t more)
{
    size_t d = (size_t)r->s->d, labels = (size_t)(r->n + more);
    int64_t kept = kept_of(r, more), passing = kept < more ? BDML_MIN(more, block_rows(r)) : 0;
    size_t need = (size_t)(r->held + kept + passing);
    if (r->n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: there are more than %d rows, the most that can be indexed",
                         r->s->path, INT32_MAX);
    if (need > SIZE_MAX / sizeof(double) / d)
        return bdml_fail(h, BDML_ERR_MEMORY,
                         "%s: %zu rows of %zu values are more than memory can hold", r->s->path,
                         need, d);
    if (r->narrow) {
        BDML_TRY(bdml_grow(h, &r->single, &r->capacity_single, need * d, sizeof *r->single));
        need = (size_t)BDML_MIN(more, block_rows(r));
    }
    BDML_TRY(bdml_grow(h, &r->x, &r->capacity_x, need * d, sizeof *r->x));
    return bdml_grow(h, &r->y, &r->capacity_y, labels, sizeof *r->y);
}

/* The rows of the block, which stand behind those kept, join them; one that is left out is closed up. */
static bdml_status take_block(bdml_handle *h, rows *r, const bdml_block *b)
{
    size_t d = (size_t)b->d;
    for (int64_t i = 0; i < b->n; i++) {
        const double *x = b->x + (size_t)i * d;
        int j = first_missing(r->s, b, i);
        if (j < b->d && r->policy == BDML_MISSING_DROP) {
            r->dropped++;
            continue;
        }
        if (j < b->d && (r->policy == BDML_MISSING_ERROR || j < 0))
            return refuse_missing(h, r, b, i, j);
        if (r->policy == BDML_MISSING_MEAN) BDML_TRY(count_values(h, r, x));
        int64_t number = r->n++;
        r->y[number] = b->label[i];
        if (number < r->keep.first || number >= r->keep.end) continue;
        if (r->narrow)
            for (size_t k = 0; k < d; k++) r->single[(size_t)r->held * d + k] = (float)x[k];
        else if (r->x + (size_t)r->held * d != x)
            memcpy(r->x + (size_t)r->held * d, x, d * sizeof *x);
        r->held++;
    }
    return BDML_OK;
}

bdml_status bdml_sparse_check(bdml_handle *h, const char *what, double n, double d, double entries)
{
    const double places = n * d, bytes = places * sizeof(double);
    /* less while fuzzing: millions of zeros take a second, and find nothing */
    const double few = BDML_FUZZING ? 1 << 20 : BDML_MEMORY_ASKED;
    if (bytes <= few || places / SPARSEST <= entries) return BDML_OK;
    return bdml_fail(h, BDML_ERR_DATA,
                     "%s %.0f x %.0f places and %.0f numbers: it would fill %.1f GiB with zeros",
                     what, n, d, entries, bytes / 1073741824.0);
}

/* A file that holds more rows than memory would is refused before it is read: by the rows that it announces, or by the length
 * of its first ones. */
static bdml_status check_rows(bdml_handle *h, const rows *r, double count)
{
    char what[BDML_ERROR_SIZE / 2], advice[BDML_ERROR_SIZE / 4];
    const bdml_source *s = r->s;
    const double row =
        r->share * (double)s->d * (r->narrow ? sizeof(float) : sizeof(double)) + sizeof(int32_t);
    const double need = count * row;
    if (count > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA, "%s: %.0f rows are too many: at most %d can be indexed",
                         s->path, count, INT32_MAX);
    if (s->sparse) {
        snprintf(what, sizeof what, "%.300s: sparse rows:", s->path);
        BDML_TRY(bdml_sparse_check(h, what, count, s->d, (double)s->entries));
    }
    if (need < BDML_MEMORY_ASKED && h->pretend_free <= 0.0) return BDML_OK;
    snprintf(what, sizeof what, "%.300s: reading %s%s%lld rows of %d values", s->path,
             r->share < 1.0 ? "a part of " : "", s->rows >= 0 ? "" : "about ", (long long)count,
             s->d);
    snprintf(advice, sizeof advice,
             "about %lld such rows would fit, or fewer columns (--columns); transform and predict "
             "read a file of any length",
             (long long)(bdml_memory_free(h) / row));
    return bdml_memory_check(h, need, false, what, advice);
}

/* Rows in all of a text, by the bytes that the first ones took; 0: it does not say how long it is. */
static double rows_by_length(const rows *r, int64_t before)
{
    int64_t left = bdml_input_remaining(r->s->in);
    double seen = (double)(r->n + r->dropped);
    if (left < 0 || before <= left || seen < 1.0) return 0.0;
    return seen * (double)before / (double)(before - left);
}

/* From where the source is to its end; `last`: or to the end of what is kept. */
static bdml_status collect(bdml_handle *h, rows *r, bool last)
{
    bdml_status status;
    bdml_block b = {.d = r->s->d};
    int64_t total = BDML_MAX(r->s->rows, 0), most = block_rows(r), ahead;
    int64_t length = bdml_input_remaining(r->s->in); /* of what is not yet read */
    bool first = true;

    BDML_NEW(h, b.line, most);
    ahead = last ? r->keep.end - r->n : total + 1; /* one more: the end is found by asking for it */
    BDML_GO(make_room(h, r, ahead));
    do {
        int64_t left = (last ? r->keep.end : total + 1) - r->n - r->dropped;
        if (last && left == 0) break;
        b.capacity = left > 0 && total > 0 ? BDML_MIN(left, most) : most;
        BDML_GO(make_room(h, r, b.capacity));
        b.x = r->narrow ? r->x : r->x + (size_t)r->held * (size_t)b.d;
        b.label = r->y + r->n;
        BDML_GO(bdml_source_next(h, r->s, &b));
        BDML_GO(take_block(h, r, &b));
        if (first && r->s->lines) BDML_GO(check_rows(h, r, rows_by_length(r, length)));
        first = false;
        BDML_GO(bdml_progress(h, "reading", r->n + r->dropped, total));
    } while (b.n > 0);
done:
    free(b.line);
    return status;
}

/* ---- used where they stand -------------------------------------------------------------------------- */

/* Values looked at by a thread at a time, and between two reports. */
enum { TILE_VALUES = 1 << 15, LOOKED_VALUES = 1 << 23 };
static const double MAPPED_FROM = 64.0 * 1048576.0; /* bytes */

static bool all_finite_floats(size_t n, const float *x)
{
    int bad = 0;
    for (size_t k = 0; k < n; k++) bad |= !isfinite(x[k]);
    return bad == 0;
}

/* Is there nothing among the values that is refused, left out or filled in? */
static bdml_status look_over(bdml_handle *h, const rows *r, size_t count, const void *values,
                             bool *fine)
{
    size_t d = (size_t)r->s->d, size = r->narrow ? sizeof(float) : sizeof(double);
    const double *x = values;
    const float *single = values;
    *fine = true;
    for (size_t from = 0; from < count && *fine; from += LOOKED_VALUES) {
        size_t part = BDML_MIN(count - from, (size_t)LOOKED_VALUES);
        int64_t tiles = (int64_t)((part + TILE_VALUES - 1) / TILE_VALUES);
        int bad = 0;
        bdml_mapped_expect(r->file, from * size, part * size);
#pragma omp parallel for schedule(static) num_threads(bdml_threads_for(h, (double)part)) \
    reduction(|                                                                          \
              : bad)
        for (int64_t t = 0; t < tiles; t++) {
            size_t at = (size_t)t * TILE_VALUES;
            size_t values_here = BDML_MIN(part - at, (size_t)TILE_VALUES);
            bad |= r->narrow ? !all_finite_floats(values_here, single + from + at)
                             : !bdml_all_finite(values_here, x + from + at);
        }
        *fine = bad == 0;
        int64_t seen = (int64_t)((from + part) / d);
        BDML_TRY(bdml_progress(h, "reading", BDML_MIN(seen, r->s->rows - 1), r->s->rows));
    }
    return BDML_OK;
}

/* The labels of all rows; *fine: none is missing. */
static bdml_status take_labels(bdml_handle *h, rows *r, bool *fine)
{
    const int32_t *label = bdml_source_labels(r->s);
    int64_t n = r->s->rows;
    *fine = true;
    BDML_TRY(bdml_grow(h, &r->y, &r->capacity_y, (size_t)n, sizeof *r->y));
    for (int64_t i = 0; i < n && label; i++) {
        r->y[i] = label[i];
        *fine = *fine && label[i] >= 0;
    }
    return BDML_OK;
}

/* The rows that are kept stay where they are in the file. *done false: they are to be read, as there is a reason to look at each,
 * or no way to map them. */
static bdml_status map_rows(bdml_handle *h, const bdml_input_options *o, rows *r, bool *done)
{
    size_t size = r->narrow ? sizeof(float) : sizeof(double);
    int64_t n = r->s->rows, row = r->s->d * (int64_t)size;
    *done = false;
    if (o->mapping.value == BDML_AUTO_NO || !bdml_source_stands(r->s, size) || n > INT32_MAX)
        return BDML_OK;
    if (r->s->round && !r->narrow) return BDML_OK; /* a rank's: each value is to be rounded */
    int64_t first = r->keep.first, held = BDML_MIN(r->keep.end, n) - first;
    if (o->mapping.value == BDML_AUTO_AUTO && (double)held * (double)row < MAPPED_FROM)
        return BDML_OK;
    BDML_TRY(bdml_input_map(h, r->s->in, first * row, (size_t)(held * row), &r->file));
    if (!r->file) return BDML_OK;
    void *x = (void *)bdml_mapped_bytes(r->file); /* read only: data.h */
    bool fine = (uintptr_t)x % size == 0;
    if (fine) BDML_TRY(look_over(h, r, (size_t)held * (size_t)r->s->d, x, &fine));
    if (fine) BDML_TRY(take_labels(h, r, &fine));
    if (!fine) {
        bdml_mapped_free(r->file);
        r->file = NULL;
        return BDML_OK;
    }
    if (r->narrow)
        r->single = x;
    else
        r->x = x;
    r->n = n;
    r->held = held;
    *done = true;
    return bdml_progress(h, "reading", n, n);
}

/* What was left out, and whether anything is left. */
static bdml_status check_left(bdml_handle *h, const rows *r)
{
    const char *path = r->s->path; /* NOLINT: bdml_source_open set s, where it gave BDML_OK */
    if (r->n == 0 && r->dropped > 0)
        return bdml_fail(h, BDML_ERR_DATA, "%s: all %lld rows have a missing value, none is left",
                         path, (long long)r->dropped);
    if (r->n == 0) return bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", path);
    if (r->dropped > 0)
        bdml_log(h, BDML_LOG_WARNING, "%s: %lld of %lld rows left out, a value is missing there",
                 path, (long long)r->dropped, (long long)r->dropped + (long long)r->n);
    return BDML_OK;
}

/* ---- the data set ---------------------------------------------------------------------------------- */

/* Number the classes that occur in the order of their names. */
static bdml_status sort_classes(bdml_handle *h, rows *r, bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    bdml_names *names = &r->s->classes;
    int32_t *order = NULL, *number = NULL, used = 0;

    BDML_NEW(h, order, names->count);
    BDML_NEW(h, number, names->count); /* 1 where the name occurs, then its new number */
    BDML_GO(bdml_names_sort(h, names, order));
    for (int64_t i = 0; i < data->n; i++) number[data->y[i]] = 1;
    BDML_NEW(h, data->class_name, names->count);
    for (int32_t k = 0; k < names->count; k++) {
        int32_t old = order[k];
        if (!number[old]) continue;
        data->class_name[used] = names->text[old];
        names->text[old] = NULL; /* moved: the table of names is not used again */
        number[old] = used++;
        data->classes = used;
    }
    for (int64_t i = 0; i < data->n; i++) data->y[i] = number[data->y[i]];
done:
    free(order);
    free(number);
    return status;
}

/* The label column as a file of the same kind would name it. */
static bdml_status name_label(bdml_handle *h, const bdml_source *s, bdml_dataset *data)
{
    char number[BDML_NUMBER_SIZE];
    const char *name = number;
    if (s->label_column < 0) return BDML_OK;
    snprintf(number, sizeof number, "%d", s->label_column + 1);
    if (s->columns && s->columns->named) name = s->columns->column[s->label_column].name;
    data->label_name = bdml_strdup(h, name);
    return data->label_name ? BDML_OK : BDML_ERR_MEMORY;
}

/* What is worth a word is told; what would be nonsense is kept for those who need classes. */
static bdml_status doubt_labels(bdml_handle *h, const bdml_input_options *o, const bdml_source *s,
                                bdml_dataset *data)
{
    bool grave;
    BDML_TRY(
        bdml_doubt_labels(h, o, s, data->n, data->classes, data->class_name, &data->doubt, &grave));
    if (!data->doubt || grave) return BDML_OK;
    bdml_log(h, BDML_LOG_WARNING, "%s", data->doubt);
    free(data->doubt);
    data->doubt = NULL;
    return BDML_OK;
}

static bdml_status make_dataset(bdml_handle *h, const bdml_input_options *o, rows *r,
                                bdml_dataset *data)
{
    bdml_source *s = r->s;
    data->n = r->n;
    data->d = s->d;
    data->dropped = r->dropped;
    if (!r->file) { /* give back what doubling took too much */
        size_t values = (size_t)r->held * (size_t)s->d;
        void *x = r->narrow ? (void *)bdml_realloc(h, r->single, values, sizeof *r->single)
                            : (void *)bdml_realloc(h, r->x, values, sizeof *r->x);
        if (!x) return BDML_ERR_MEMORY;
        if (r->narrow)
            r->single = x;
        else
            r->x = x;
    }
    if (r->narrow) {
        bdml_dataset_hold_floats(data, r->single);
        if (!r->file) free(r->x); /* the last block */
    } else {
        data->x = r->x;
    }
    data->file = r->file;
    r->x = NULL;
    r->single = NULL;
    r->file = NULL;
    if (s->labelled) {
        data->y = r->y;
        r->y = NULL;
    }
    data->source = s->path;
    s->path = NULL;
    data->feature_name = s->feature_name;
    s->feature_name = NULL;
    if (!(s->path = bdml_strdup(h, data->source))) return BDML_ERR_MEMORY;
    if (r->count) BDML_TRY(check_means(h, r, data));
    if (data->y) BDML_TRY(sort_classes(h, r, data));
    BDML_TRY(name_label(h, s, data));
    return doubt_labels(h, o, s, data);
}

static bdml_status finish(bdml_handle *h, const bdml_input_options *o, rows *r, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    BDML_GO(bdml_input_unchanged(h, r->s->in)); /* NOLINT: ranks agree on OK where each has it */
    BDML_GO(check_left(h, r));
    BDML_NEW(h, data, 1);
    BDML_GO(make_dataset(h, o, r, data));
done:
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}

static bdml_status read_all(bdml_handle *h, const bdml_input_options *o, const bdml_wanted *wanted,
                            const char *path, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    rows r = {.policy = o->missing.value, .keep = {0, INT64_MAX}, .share = 1.0};
    r.narrow = o->storage.value == BDML_STORAGE_FLOAT32;

    bool done;
    BDML_GO(bdml_source_open(h, o, path, wanted, &r.s));
    BDML_GO(map_rows(h, o, &r, &done));
    if (!done) {
        BDML_GO(check_rows(h, &r, (double)r.s->rows));
        BDML_GO(collect(h, &r, false));
    }
    status = finish(h, o, &r, out);
done:
    free_rows(&r);
    return status;
}

bdml_status bdml_dataset_read(bdml_handle *h, const bdml_input_options *o,
                              const bdml_wanted *wanted, const char *path, bdml_dataset **out)
{
    *out = NULL;
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    bdml_status status = read_all(h, o, wanted, path, out);
    bdml_phase_leave(h, previous);
    return status;
}

/* ---- the rows of one rank ---------------------------------------------------------------------------- */

/* Its stretch of the file, from where it begins. The labels of all rows are known. */
static bdml_status read_stretch(bdml_handle *h, const bdml_input_options *o, rows *r)
{
    int64_t n = r->s->rows;
    bool done = false;
    r->keep = bdml_spread_stretch(h->comm, h->comm->rank, n);
    /* missing = mean: ranks count together what is there, and all of them read */
    if (r->policy == BDML_MISSING_ERROR) BDML_TRY(map_rows(h, o, r, &done));
    if (done) return BDML_OK;
    BDML_TRY(check_rows(h, r, (double)n));
    BDML_TRY(bdml_grow(h, &r->y, &r->capacity_y, (size_t)n, sizeof *r->y));
    BDML_TRY(bdml_source_skip(h, r->s, r->keep.first));
    r->n = r->keep.first;
    BDML_TRY(collect(h, r, true));
    const int32_t *label = bdml_source_labels(r->s);
    if (label) memcpy(r->y, label, sizeof *label * (size_t)n);
    r->n = n;
    return BDML_OK;
}

/* Of a file that does not tell how many rows it has, or from which some are dropped: once over all of it to count them, and
 * once more. */
static bdml_status read_skimming(bdml_handle *h, const bdml_input_options *o, const char *path,
                                 rows *r)
{
    bdml_status status = BDML_OK;
    rows all = {.policy = r->policy, .s = r->s, .share = r->share};
    bool counted = r->s->rows >= 0 && r->policy != BDML_MISSING_DROP;
    int64_t n = r->s->rows;

    if (!counted) {
        r->s = NULL;
        BDML_GO(collect(h, &all, false));
        n = all.n;
        BDML_GO(bdml_source_open(h, o, path, NULL, &r->s));
        BDML_GO(bdml_input_same(h, all.s->in, r->s->in));
    } else {
        all.s = NULL;
    }
    r->keep = bdml_spread_stretch(h->comm, h->comm->rank, n);
    status = collect(h, r, false);
done:
    free_rows(&all);
    return status;
}

/* Values that are there, of all ranks' rows. */
static void sum_counts(const bdml_comm *comm, rows *r)
{
    for (int j = 0; r->count && j < r->s->d; j++)
        r->count[j] = (int64_t)bdml_comm_total(comm, (double)r->count[j]);
    r->missing = (int64_t)bdml_comm_total(comm, (double)r->missing);
}

static bdml_status read_part(bdml_handle *h, const bdml_input_options *o, const char *path, rows *r,
                             bool *stretch)
{
    BDML_TRY(bdml_source_open(h, o, path, NULL, &r->s));
    r->share = 1.0 / h->comm->size;
    *stretch = bdml_source_skips(r->s) && r->policy != BDML_MISSING_DROP;
    if (*stretch) return read_stretch(h, o, r);
    BDML_TRY(check_rows(h, r, (double)r->s->rows));
    return read_skimming(h, o, path, r);
}

bdml_status bdml_dataset_read_part(bdml_handle *h, const bdml_input_options *o, const char *path,
                                   bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bool stretch = false;
    rows r = {.policy = o->missing.value};

    *out = NULL;
    if (h->comm->size == 1) return bdml_dataset_read(h, o, NULL, path, out);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_READ);
    BDML_GO(bdml_comm_agree(h, h->comm, read_part(h, o, path, &r, &stretch)));
    if (stretch && r.policy == BDML_MISSING_MEAN) sum_counts(h->comm, &r);
    BDML_GO(bdml_comm_agree(h, h->comm, finish(h, o, &r, out)));
    status = bdml_spread_new(h, h->comm, r.held, &(*out)->over);
done:
    free_rows(&r);
    bdml_phase_leave(h, previous);
    if (status != BDML_OK) {
        bdml_free_dataset(*out);
        *out = NULL;
    }
    return status;
}

bdml_status bdml_matrix_read(bdml_handle *h, const char *path, bdml_dataset **out)
{
    bdml_options o;
    bdml_options_default(h, &o);
    o.input.label.value = o.input.index_column.value = "none";
    return bdml_dataset_read(h, &o.input, NULL, path, out);
}

/* Files of constraints speak of rows by number. */
static bdml_status check_dropped(bdml_handle *h, const bdml_constraint_options *o,
                                 const bdml_dataset *data)
{
    const char *file[] = {o->targets_file.value, o->impostors_file.value, o->pairs_file.value,
                          o->triplets_file.value, o->relevant_file.value};
    const int64_t dropped = data->dropped; /* NOLINT: data were read, where BDML_OK was given */
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (dropped > 0 && *file[i])
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "%s: %lld rows have missing values, and without them the row numbers "
                             "of the constraint files would mean other rows; use --missing mean, "
                             "or take them out of all files",
                             data->source, (long long)dropped);
    return BDML_OK;
}

static bdml_status read_for_user(bdml_handle *h, const char *path, bool part, bdml_dataset **out)
{
    bdml_dataset *data = NULL;
    const bdml_input_options *o = &h->options.input;
    bool timed = bdml_deadline_begin(h, 0.0);
    bdml_status status = part ? bdml_dataset_read_part(h, o, path, &data)
                              : bdml_dataset_read(h, o, NULL, path, &data);
    bdml_deadline_end(h, timed);
    if (status == BDML_OK) status = check_dropped(h, &h->options.constraints, data);
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}

bdml_status bdml_read_dataset(bdml_handle *h, const char *path, bdml_dataset **out)
{
    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path || !out) return bdml_fail(h, BDML_ERR_ARGUMENT, "path and out must not be NULL");
    return read_for_user(h, path, false, out);
}

bdml_status bdml_read_part(bdml_handle *h, const char *path, bdml_dataset **out)
{
    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path || !out) return bdml_fail(h, BDML_ERR_ARGUMENT, "path and out must not be NULL");
    return read_for_user(h, path, true, out);
}
