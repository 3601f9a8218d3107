/* source.c - a data file as a stream of blocks of rows: which format it is, labels from a file of
 * their own, and what every format needs for its messages. */
#include "data/columns.h"

#include <float.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 4096,                          /* looked at to tell the format */
    BLOCK_VALUES = BDML_FUZZING ? 16 : 1 << 16, /* read at a time when columns are picked */
};

/* ---- which format ------------------------------------------------------------------------------ */

static bool is_idx(const unsigned char *b, size_t n)
{
    static const unsigned char types[] = {0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E};
    return n >= 4 && b[0] == 0 && b[1] == 0 && memchr(types, b[2], sizeof types) && b[3] >= 1 &&
           b[3] <= 8;
}

/* First line of text that is neither blank nor a comment starting with one of `marks`. */
static const char *first_line(const char *s, const char *end, const char *marks, size_t *n)
{
    while (s < end) {
        while (s < end && (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')) s++;
        const char *stop = s;
        while (stop < end && *stop != '\n' && *stop != '\r') stop++;
        if (s < stop && !strchr(marks, *s)) {
            *n = (size_t)(stop - s);
            return s;
        }
        s = stop;
    }
    *n = 0;
    return s;
}

static bool is_arff(const unsigned char *b, size_t size)
{
    static const char word[] = "@relation";
    size_t n;
    const char *s = first_line((const char *)b, (const char *)b + size, "%", &n);
    return n > sizeof word - 1 && strncasecmp(s, word, sizeof word - 1) == 0;
}

/* "label index:value ...": what stands before the first ':' is a label, blanks, and digits. */
static bool is_svmlight(const unsigned char *b, size_t size)
{
    size_t n, i = 0;
    const char *s = first_line((const char *)b, (const char *)b + size, "#", &n);
    while (i < n && s[i] != ' ' && s[i] != '\t' && s[i] != ':' && s[i] != ',') i++;
    if (i == 0 || i == n || (s[i] != ' ' && s[i] != '\t')) return false;
    while (i < n && (s[i] == ' ' || s[i] == '\t')) i++;
    if (n - i > 4 && memcmp(s + i, "qid:", 4) == 0) return true;
    size_t digits = i;
    while (i < n && s[i] >= '0' && s[i] <= '9') i++;
    return i > digits && i < n && s[i] == ':';
}

/* Does the name end in `ending`, a ".gz" after it aside? */
static bool name_ends(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    if (bdml_ends_in(path, ".gz")) n -= 3;
    return n > e && strncasecmp(path + n - e, ending, e) == 0;
}

static int format_by_name(const char *path)
{
    static const struct {
        const char *ending;
        int format;
    } endings[] = {
        {".csv", BDML_FORMAT_CSV},           {".tsv", BDML_FORMAT_TSV},
        {".tab", BDML_FORMAT_TSV},           {".svm", BDML_FORMAT_SVMLIGHT},
        {".svmlight", BDML_FORMAT_SVMLIGHT}, {".libsvm", BDML_FORMAT_SVMLIGHT},
        {".npy", BDML_FORMAT_NPY},           {".npz", BDML_FORMAT_NPZ},
        {".mat", BDML_FORMAT_MAT},           {".arff", BDML_FORMAT_ARFF},
        {".idx", BDML_FORMAT_IDX},           {"-ubyte", BDML_FORMAT_IDX},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(path, endings[i].ending)) return endings[i].format;
    return BDML_FORMAT_AUTO;
}

int bdml_format_guess(const char *path, const unsigned char *head, size_t head_size)
{
    const size_t n = head_size;
    if (n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return BDML_FORMAT_NPY;
    if (n >= 4 && memcmp(head, "PK\x03\x04", 4) == 0) return BDML_FORMAT_NPZ;
    if (n >= 4 && memcmp(head, "PK\x05\x06", 4) == 0) return BDML_FORMAT_NPZ; /* an empty one */
    if (n >= 7 && memcmp(head, "MATLAB ", 7) == 0) return BDML_FORMAT_MAT;
    if (n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) return BDML_FORMAT_MAT;
    if (is_idx(head, n)) return BDML_FORMAT_IDX;
    if (is_arff(head, n)) return BDML_FORMAT_ARFF;
    int format = format_by_name(path);
    if (format != BDML_FORMAT_AUTO) return format;
    return is_svmlight(head, n) ? BDML_FORMAT_SVMLIGHT : BDML_FORMAT_CSV;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

bdml_status bdml_block_init(bdml_handle *h, int64_t capacity, int d, bdml_block *b)
{
    bdml_status status = BDML_OK;
    *b = (bdml_block){.capacity = capacity, .d = d};
    if (capacity < 1 || d < 1 || (size_t)capacity > SIZE_MAX / sizeof(double) / (size_t)d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "a block of %lld rows of %d values cannot be made",
                         (long long)capacity, d);
    BDML_NEW(h, b->x, (size_t)capacity * (size_t)d);
    BDML_NEW(h, b->label, capacity);
    BDML_NEW(h, b->line, capacity);
done:
    if (status != BDML_OK) bdml_block_free(b);
    return status;
}

void bdml_block_free(bdml_block *b)
{
    free(b->x);
    free(b->label);
    free(b->line);
    *b = (bdml_block){0};
}

/* ---- opening and closing -------------------------------------------------------------------------- */

const char *bdml_label_setting(const bdml_input_options *o)
{
    return *o->labels_file.value ? "none" : o->label.value;
}

void bdml_source_close(bdml_source *s)
{
    if (!s) return;
    if (s->ops && s->ops->close) s->ops->close(s);
    bdml_input_close(s->in);
    for (int j = 0; s->feature_name && j < s->d; j++) free(s->feature_name[j]);
    free(s->feature_name);
    bdml_names_free(&s->classes);
    bdml_columns_free(s->columns);
    bdml_block_free(&s->raw);
    free(s->pick);
    free(s->doubt);
    free(s->file_label);
    free(s->labels_path);
    free(s->labels_from);
    free(s->path);
    free(s);
}

/* Do the settings choose among the columns? */
static bool picking(const bdml_input_options *o)
{
    const char *index = o->index_column.value;
    return *o->columns.value || *o->drop.value ||
           (strcmp(index, "auto") != 0 && strcmp(index, "none") != 0);
}

static bdml_status open_format(bdml_handle *h, const bdml_input_options *o, int format,
                               const bdml_wanted *wanted, bdml_source *s)
{
    s->label_found = BDML_LABEL_NAMED;
    switch (format) {
    case BDML_FORMAT_TSV:
        return bdml_csv_open(h, o, s->in, wanted, '\t', s);
    case BDML_FORMAT_SVMLIGHT:
        return bdml_svmlight_open(h, o, s->in, wanted && !picking(o) ? wanted->d : 0, s);
    case BDML_FORMAT_ARFF:
        return bdml_arff_open(h, o, s->in, wanted, s);
    case BDML_FORMAT_NPY:
        return bdml_npy_open(h, o, s->in, s);
    case BDML_FORMAT_NPZ:
        return bdml_npz_open(h, o, s->in, s);
    case BDML_FORMAT_MAT:
        return bdml_mat_open(h, o, s->in, s);
    case BDML_FORMAT_IDX:
        return bdml_idx_open(h, o, s->in, s);
    default:
        return bdml_csv_open(h, o, s->in, wanted, '\0', s);
    }
}

/* ---- picked columns of formats whose columns are all numbers ------------------------------------------ */

/* Column of the file that feature j is. */
static int column_of(const bdml_source *s, int j)
{
    return j + (s->label_column >= 0 && j >= s->label_column);
}

static bdml_status pick_columns(bdml_handle *h, const bdml_input_options *o, bdml_source *s)
{
    bdml_status status = BDML_OK;
    int count = s->d + (s->label_column >= 0), d = 0;
    bool *keep = NULL, *drop = NULL;
    const char *index = o->index_column.value;

    BDML_NEW(h, keep, count);
    BDML_NEW(h, drop, count);
    const char *columns = *o->columns.value ? o->columns.value : "1-";
    BDML_GO(bdml_columns_list(h, s->path, "columns", columns, count, NULL, false, keep));
    BDML_GO(bdml_columns_list(h, s->path, "drop", o->drop.value, count, NULL, false, drop));
    if (strcmp(index, "auto") != 0 && strcmp(index, "none") != 0)
        BDML_GO(bdml_columns_list(h, s->path, "index-column", index, count, NULL, false, drop));
    BDML_NEW(h, s->pick, s->d);
    for (int j = 0; j < s->d; j++)
        if (keep[column_of(s, j)] && !drop[column_of(s, j)]) s->pick[d++] = j;
    if (d > 0) BDML_GO(bdml_block_init(h, BDML_MAX(BLOCK_VALUES / s->d, 1), s->d, &s->raw));
    s->d = d;
done:
    free(keep);
    free(drop);
    return status;
}

/* The next rows, picked. */
static bdml_status next_picked(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    bdml_block *raw = &s->raw;
    int64_t room = raw->capacity;
    bdml_status status = BDML_OK;
    do {
        raw->capacity = BDML_MIN(room, b->capacity - b->n);
        raw->n = 0;
        BDML_GO(s->ops->next(h, s, raw));
        for (int64_t i = 0; i < raw->n; i++, b->n++) {
            const double *from = raw->x + (size_t)i * (size_t)raw->d;
            double *to = b->x + (size_t)b->n * (size_t)b->d;
            for (int j = 0; j < b->d; j++) to[j] = from[s->pick[j]];
            b->label[b->n] = raw->label[i];
            b->line[b->n] = raw->line[i];
        }
    } while (b->n < b->capacity && raw->n == raw->capacity);
done:
    raw->capacity = room;
    return status;
}

/* NAME.npy is written with its labels in NAME.labels.npy: they are found there again. */
static bdml_status labels_beside(bdml_handle *h, const char *path, char **beside)
{
    static const char ending[] = ".npy", added[] = ".labels.npy";
    size_t n = strlen(path), e = sizeof ending - 1;
    *beside = NULL;
    if (n <= e || strcasecmp(path + n - e, ending) != 0) return BDML_OK;
    char *name = bdml_alloc(h, n - e + sizeof added, 1);
    if (!name) return BDML_ERR_MEMORY;
    memcpy(name, path, n - e);
    memcpy(name + n - e, added, sizeof added);
    if (access(name, R_OK) == 0)
        *beside = name;
    else
        free(name);
    return BDML_OK;
}

static bdml_status attach_labels(bdml_handle *h, const char *path, bdml_source *s)
{
    bdml_names_free(&s->classes);
    static const char from[] = "from ";
    size_t size = sizeof from + strlen(path);
    if (!(s->labels_path = bdml_strdup(h, path))) return BDML_ERR_MEMORY;
    if (!(s->labels_from = bdml_alloc(h, size, 1))) return BDML_ERR_MEMORY;
    snprintf(s->labels_from, size, "%s%s", from, path);
    BDML_TRY(bdml_labels_read(h, path, &s->classes, &s->file_label, &s->file_labels));
    s->labelled = true;
    s->label_column = -1;
    s->label_found = BDML_LABEL_NAMED;
    if (s->rows >= 0 && s->rows != s->file_labels)
        return bdml_fail(h, BDML_ERR_DATA, "%s holds %lld labels, but %s holds %lld rows", path,
                         (long long)s->file_labels, s->path, (long long)s->rows);
    return BDML_OK;
}

static bdml_status find_labels(bdml_handle *h, const bdml_input_options *o, int format,
                               int expected_d, bdml_source *s)
{
    if (*o->labels_file.value) return attach_labels(h, o->labels_file.value, s);
    if (format != BDML_FORMAT_NPY || s->labelled || expected_d > 0 ||
        strcmp(o->label.value, "auto") != 0)
        return BDML_OK;
    char *beside;
    BDML_TRY(labels_beside(h, bdml_input_path(s->in), &beside));
    if (!beside) return BDML_OK;
    bdml_status status = attach_labels(h, beside, s);
    if (status == BDML_OK) bdml_log(h, BDML_LOG_INFO, "%s: labels taken from %s", s->path, beside);
    free(beside);
    return status;
}

/* The first column that a model wants by name and the file has not; NULL: there is none, or no names. */
static const char *first_lacking(const bdml_wanted *wanted, const bdml_source *s)
{
    for (int k = 0; wanted->feature && s->feature_name && k < wanted->d; k++) {
        int j = 0;
        while (j < s->d && strcmp(s->feature_name[j], wanted->feature[k]) != 0) j++;
        if (j == s->d) return wanted->feature[k];
    }
    return NULL;
}

static bdml_status check_open(bdml_handle *h, const bdml_wanted *wanted, const bdml_source *s)
{
    char name[BDML_EXCERPT_SIZE];
    if (s->d < 1)
        return bdml_fail(h, BDML_ERR_DATA, "%s: there is no column of numbers beside the label",
                         s->path);
    if (!wanted || s->d == wanted->d) return BDML_OK;
    const char *lacking = first_lacking(wanted, s);
    if (lacking)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: there is no column '%s'; the file has %d columns, the model wants %d "
                         "features by their names",
                         s->path, bdml_excerpt(lacking, strlen(lacking), name),
                         s->columns ? s->columns->count : s->d, wanted->d);
    return bdml_fail(h, BDML_ERR_DATA, "%s: there are %d columns beside the label, wanted are %d",
                     s->path, s->d, wanted->d);
}

bdml_status bdml_source_open(bdml_handle *h, const bdml_input_options *o, const char *path,
                             const bdml_wanted *wanted, bdml_source **out)
{
    bdml_status status = BDML_OK;
    const unsigned char *head;
    bdml_source *s = NULL;
    int expected_d = wanted ? wanted->d : 0;
    size_t n;

    *out = NULL;
    const char *label = o->label.value;
    if (*o->labels_file.value && strcmp(label, "auto") != 0 && strcmp(label, "none") != 0)
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "label '%s' and labels-file exclude each other: labels come from one place", label);
    BDML_NEW(h, s, 1);
    s->rows = s->label_column = -1;
    s->round = o->storage.value == BDML_STORAGE_FLOAT32;
    BDML_GO(bdml_input_open(h, path, &s->in));
    s->path = bdml_strdup(h, bdml_input_name(s->in));
    if (!s->path) BDML_GO(BDML_ERR_MEMORY);
    BDML_GO(bdml_input_peek(h, s->in, HEAD_BYTES, &head, &n));
    if (n == 0) BDML_GO(bdml_fail(h, BDML_ERR_DATA, "%s: the file is empty", s->path));
    int format = o->format.value;
    if (format == BDML_FORMAT_AUTO) {
        BDML_GO(bdml_refuse_foreign(h, s->path, head, n));
        format = bdml_format_guess(path, head, n);
    }
    BDML_GO(open_format(h, o, format, wanted, s));
    if (!s->columns && picking(o) && s->d > 0 && s->d != expected_d) BDML_GO(pick_columns(h, o, s));
    BDML_GO(check_open(h, wanted, s));
    BDML_GO(find_labels(h, o, format, expected_d, s));
done:
    if (status == BDML_OK) {
        *out = s;
    } else {
        if (s) status = bdml_input_blame(h, s->in, status);
        bdml_source_close(s);
    }
    return status;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static bdml_status put_labels(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    if (s->handed_out + b->n > s->file_labels || (b->n == 0 && s->handed_out < s->file_labels)) {
        int64_t seen = s->handed_out + b->n;
        return bdml_fail(h, BDML_ERR_DATA, "%s holds %lld labels, but %s holds %s%lld rows",
                         s->labels_path, (long long)s->file_labels, s->path,
                         b->n > 0 ? "at least " : "", (long long)seen);
    }
    for (int64_t i = 0; i < b->n; i++) b->label[i] = s->file_label[s->handed_out + i];
    return BDML_OK;
}

/* Looks at all of them, many at a time. */
static bool any_infinite(size_t n, const double *x)
{
    int any = 0;
    for (size_t k = 0; k < n; k++) any |= isinf(x[k]) != 0;
    return any;
}

/* To the nearest float32, for setting storage. */
static bdml_status round_block(bdml_handle *h, const bdml_source *s, bdml_block *b)
{
    size_t d = (size_t)b->d, total = (size_t)b->n * d;
    for (size_t k = 0; k < total; k++) {
        double v = b->x[k];
        if (fabs(v) > (double)FLT_MAX)
            return bdml_source_fail(h, BDML_ERR_DATA, s, b, (int64_t)(k / d), (int)(k % d),
                                    "%g is beyond the range of float32; use --storage float64", v);
        b->x[k] = (double)(float)v;
    }
    return BDML_OK;
}

bdml_status bdml_source_next(bdml_handle *h, bdml_source *s, bdml_block *b)
{
    b->n = 0;
    bdml_status status = s->pick ? next_picked(h, s, b) : s->ops->next(h, s, b);
    if (status == BDML_OK && b->n < b->capacity) status = bdml_input_unchanged(h, s->in);
    if (status != BDML_OK) return bdml_input_blame(h, s->in, status);
    size_t total = (size_t)b->n * (size_t)b->d;
    bool any = any_infinite(total, b->x);
    for (size_t k = 0; any && k < total; k++)
        if (isinf(b->x[k]))
            return bdml_source_fail(h, BDML_ERR_DATA, s, b, (int64_t)(k / (size_t)b->d),
                                    (int)(k % (size_t)b->d), "an infinite value cannot be used");
    if (s->round) BDML_TRY(round_block(h, s, b));
    if (s->file_label) BDML_TRY(put_labels(h, s, b));
    s->handed_out += b->n;
    return BDML_OK;
}

bool bdml_source_skips(const bdml_source *s)
{
    return s->ops->skip && s->rows >= 0;
}

bool bdml_source_stands(const bdml_source *s, size_t size)
{
    return !s->pick && bdml_source_skips(s) && s->ops->stand && s->ops->stand(s, size);
}

bdml_status bdml_source_skip(bdml_handle *h, bdml_source *s, int64_t rows)
{
    BDML_TRY(s->ops->skip(h, s, rows));
    s->handed_out += rows;
    return BDML_OK;
}

const int32_t *bdml_source_labels(const bdml_source *s)
{
    return s->file_label ? s->file_label : s->ops->labels(s);
}

/* ---- messages ------------------------------------------------------------------------------------ */

int bdml_source_column_of(const bdml_source *s, int j)
{
    if (!s->columns) return column_of(s, s->pick ? s->pick[j] : j);
    for (int k = 0; k < s->columns->count; k++) {
        const bdml_column *col = &s->columns->column[k];
        if (j >= col->feature && j < col->feature + col->features) return k;
    }
    return -1;
}

bdml_status bdml_source_fail(bdml_handle *h, bdml_status status, const bdml_source *s,
                             const bdml_block *b, int64_t i, int j, const char *fmt, ...)
{
    char what[BDML_ERROR_SIZE / 2], place[96] = "", name[BDML_EXCERPT_SIZE];
    int column = j < 0 ? s->label_column : bdml_source_column_of(s, j);
    const char *feature = j >= 0 && s->feature_name ? s->feature_name[j] : NULL;
    va_list ap;

    va_start(ap, fmt);
    bdml_vsnprintf(h->c_locale, what, sizeof what, fmt, ap);
    va_end(ap);
    if (column >= 0 && feature)
        snprintf(place, sizeof place, ", column %d (%s)", column + 1,
                 bdml_excerpt(feature, strlen(feature), name));
    else if (column >= 0)
        snprintf(place, sizeof place, ", column %d", column + 1);
    return bdml_fail(h, status, "%s: %s %lld%s: %s", s->path, s->lines ? "line" : "row",
                     (long long)b->line[i], place, what);
}

const char *bdml_excerpt(const char *s, size_t n, char out[BDML_EXCERPT_SIZE])
{
    enum { SHOWN = BDML_EXCERPT_SIZE - 4 };
    size_t k = BDML_MIN(n, (size_t)SHOWN);
    while (k < n && k > 0 && ((unsigned char)s[k] & 0xC0) == 0x80) k--; /* no half characters */
    for (size_t i = 0; i < k; i++) /* ends of lines, tabs and NUL; bdml_fail shows all else */
        out[i] = (char)(strchr("\t\n\r", s[i]) ? ' ' : s[i]);
    memcpy(out + k, n > k ? "..." : "", n > k ? 4 : 1);
    return out;
}

bool bdml_is_missing(const char *s, size_t n)
{
    while (n > 0 && (*s == ' ' || *s == '\t')) s++, n--;
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
    static const char *const words[] = {"", "?", "na", "n/a", "nan", "null"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (n == strlen(words[k]) && strncasecmp(s, words[k], n) == 0) return true;
    return false;
}
