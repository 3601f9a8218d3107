/* read.c - a whole data set from a source: rows collected, missing values treated, classes sorted. */
#include "data/columns.h"

#include <stdlib.h>

/* values read at a time: half a MiB, inside the cache */
enum { BLOCK_VALUES = BDML_FUZZING ? 16 : 1 << 16 };

/* Rows collected so far. */
typedef struct rows {
    bdml_source *s;
    int policy; /* BDML_MISSING_... */
    int64_t n, dropped;
    size_t capacity_x, capacity_y; /* in values */
    double *x;
    int32_t *y;      /* -1 where there are no labels */
    int64_t *count;  /* missing = mean: values that are there, per column */
    int64_t missing; /* and those that are not */
} rows;

static void free_rows(rows *r)
{
    free(r->x);
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

/* Room for `more` rows behind those that are there. */
static bdml_status make_room(bdml_handle *h, rows *r, int64_t more)
{
    size_t d = (size_t)r->s->d, need = (size_t)(r->n + more);
    if (r->n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: there are more than %d rows, the most that can be indexed",
                         r->s->path, INT32_MAX);
    if (need > SIZE_MAX / sizeof(double) / d)
        return bdml_fail(h, BDML_ERR_MEMORY,
                         "%s: %zu rows of %zu values are more than memory can hold", r->s->path,
                         need, d);
    BDML_TRY(bdml_grow(h, &r->x, &r->capacity_x, need * d, sizeof *r->x));
    return bdml_grow(h, &r->y, &r->capacity_y, need, sizeof *r->y);
}

/* The rows of the block, which stand behind those collected, join them; one that is left out is closed up. */
static bdml_status take_block(bdml_handle *h, rows *r, const bdml_block *b)
{
    size_t d = (size_t)b->d;
    for (int64_t i = 0; i < b->n; i++) {
        const double *x = b->x + (size_t)i * d;
        double *place = r->x + (size_t)r->n * d;
        int j = first_missing(r->s, b, i);
        if (j < b->d && r->policy == BDML_MISSING_DROP) {
            r->dropped++;
            continue;
        }
        if (j < b->d && (r->policy == BDML_MISSING_ERROR || j < 0))
            return refuse_missing(h, r, b, i, j);
        if (r->policy == BDML_MISSING_MEAN) BDML_TRY(count_values(h, r, x));
        if (place != x) memcpy(place, x, d * sizeof *x);
        r->y[r->n++] = b->label[i];
    }
    return BDML_OK;
}

/* A file that holds more rows than memory would is refused before it is read: by the rows that it announces, or by the length
 * of its first ones. */
static bdml_status check_rows(bdml_handle *h, const bdml_source *s, double count)
{
    char what[BDML_ERROR_SIZE / 2], advice[BDML_ERROR_SIZE / 4];
    const double row = (double)s->d * sizeof(double) + sizeof(int32_t), need = count * row;
    if (count > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA, "%s: %.0f rows are too many: at most %d can be indexed",
                         s->path, count, INT32_MAX);
    if (need < BDML_MEMORY_ASKED && h->pretend_free <= 0.0) return BDML_OK;
    snprintf(what, sizeof what, "%.300s: reading %s%lld rows of %d values", s->path,
             s->rows >= 0 ? "" : "about ", (long long)count, s->d);
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

static bdml_status collect(bdml_handle *h, rows *r)
{
    bdml_status status;
    bdml_block b = {.d = r->s->d};
    int64_t total = BDML_MAX(r->s->rows, 0), most = BDML_MAX(BLOCK_VALUES / b.d, 1), all;
    int64_t length = bdml_input_remaining(r->s->in); /* of what is not yet read */
    bool first = true;

    BDML_NEW(h, b.line, most);
    BDML_GO(make_room(h, r, total + 1)); /* one more: the end is found by asking for it */
    do {
        int64_t left = total + 1 - r->n - r->dropped;
        b.capacity = left > 0 && total > 0 ? BDML_MIN(left, most) : most;
        BDML_GO(make_room(h, r, b.capacity));
        b.x = r->x + (size_t)r->n * (size_t)b.d;
        b.label = r->y + r->n;
        BDML_GO(bdml_source_next(h, r->s, &b));
        BDML_GO(take_block(h, r, &b));
        if (first && r->s->lines) BDML_GO(check_rows(h, r->s, rows_by_length(r, length)));
        first = false;
        BDML_GO(bdml_progress(h, "reading", r->n + r->dropped, total));
    } while (b.n > 0);
    if (r->n == 0 && r->dropped > 0)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: all %lld rows have a missing value, none is left",
                          r->s->path, (long long)r->dropped));
    if (r->n == 0)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: there are no rows of data", r->s->path));
    all = r->dropped + r->n;
    if (r->dropped > 0)
        bdml_log(h, BDML_LOG_WARNING, "%s: %lld of %lld rows left out, a value is missing there",
                 r->s->path, (long long)r->dropped, (long long)all);
done:
    free(b.line);
    return status;
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
    /* Give back what doubling took too much. */
    double *x = bdml_realloc(h, r->x, (size_t)r->n * (size_t)s->d, sizeof *x);
    if (!x) return BDML_ERR_MEMORY;
    data->x = x;
    r->x = NULL;
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

static bdml_status read_all(bdml_handle *h, const bdml_input_options *o, const bdml_wanted *wanted,
                            const char *path, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    bdml_dataset *data = NULL;
    rows r = {.policy = o->missing.value};

    BDML_GO(bdml_source_open(h, o, path, wanted, &r.s));
    BDML_GO(check_rows(h, r.s, (double)r.s->rows));
    BDML_GO(collect(h, &r));
    BDML_NEW(h, data, 1);
    BDML_GO(make_dataset(h, o, &r, data));
done:
    free_rows(&r);
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
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
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (data->dropped > 0 && *file[i])
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "%s: %lld rows have missing values, and without them the row numbers "
                             "of the constraint files would mean other rows; use --missing mean, "
                             "or take them out of all files",
                             data->source, (long long)data->dropped);
    return BDML_OK;
}

bdml_status bdml_read_dataset(bdml_handle *h, const char *path, bdml_dataset **out)
{
    bdml_dataset *data = NULL;
    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path || !out) return bdml_fail(h, BDML_ERR_ARGUMENT, "path and out must not be NULL");
    bool timed = bdml_deadline_begin(h, 0.0);
    bdml_status status = bdml_dataset_read(h, &h->options.input, NULL, path, &data);
    bdml_deadline_end(h, timed);
    if (status == BDML_OK) status = check_dropped(h, &h->options.constraints, data);
    if (status == BDML_OK)
        *out = data;
    else
        bdml_free_dataset(data);
    return status;
}
