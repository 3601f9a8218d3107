/* data.h - data sets: reading, writing, preparing, splitting.
 *
 * A file is opened as a `bdml_source`, which hands out blocks of rows: whole data sets are read
 * through it, and models are applied to files of any length through it. Each format is one file
 * that fills in `bdml_source_ops`.
 *
 * Called by problem, model and everything above; calls stats, linalg and base. */
#ifndef BDML_DATA_H
#define BDML_DATA_H

#include "stats/stats.h"

/* ---- names (names.c) ----------------------------------------------------------------------- */

/* Distinct texts numbered in order of first appearance, with a hash table beside. */
typedef struct bdml_names {
    char **text;
    int32_t count;
    size_t capacity;
    int32_t *slot; /* hash table, open addressing; -1 = free */
    size_t slots;
} bdml_names;
/* Number of s[0..n), added when new. */
bdml_status bdml_names_add(bdml_handle *h, bdml_names *names, const char *s, size_t n, int32_t *id);
int32_t bdml_names_find(const bdml_names *names, const char *s, size_t n); /* -1: not there */
void bdml_names_free(bdml_names *names);
/* order[new] = old number, sorted: as numbers when all are numbers, as text otherwise. */
bdml_status bdml_names_sort(bdml_handle *h, const bdml_names *names, int32_t *order);

/* ---- data set (dataset.c) -------------------------------------------------------------------- */

/* Rows as float32 (storage.c). */
typedef struct bdml_floats {
    bdml_made made;
    float *x; /* n rows of d, or NULL */
    int d;
} bdml_floats;

struct bdml_dataset {
    int64_t n;
    int d;
    double *x; /* n rows of d; those of this rank where they are dealt out. NULL: they are floats */
    bdml_floats single; /* the same as floats, where that is how they are held */
    bdml_mapped
        *file; /* the file that x, or the floats, are a part of, to be read only; NULL: they are the
                         * data set's own */
    int32_t *y;        /* class of each of the n rows, or NULL */
    bdml_spread *over; /* whom the rows are dealt out to, or NULL: all are here */
    int classes;
    char **class_name;   /* classes of them */
    char **feature_name; /* d of them, or NULL */
    char *source;        /* file name for messages, or NULL */
    int64_t dropped;     /* rows of the file that were left out: a value was missing */
    char *label_name;    /* name or number of the file's label column, or NULL */
    char *doubt;         /* why what was taken for the label cannot be one, or NULL */
};

/* The rows that are here. */
static inline bdml_rows bdml_dataset_view(const bdml_dataset *data)
{
    const int32_t *y = data->y ? data->y + bdml_spread_first(data->over) : NULL;
    return (bdml_rows){bdml_spread_held(data->over, data->n),
                       data->d,
                       data->d,
                       data->x,
                       y,
                       data->classes,
                       data->x || !data->single.x ? NULL : &data->single.made};
}
/* The rows of data are these floats, the data set's own or its file's. */
void bdml_dataset_hold_floats(bdml_dataset *data, float *x);
/* data->x, for those who need doubles of all rows: where they are held as floats they are made, once. Whoever is called by a user
 * with a data set and looks at data->x calls it first. */
bdml_status bdml_dataset_widen(bdml_handle *h, const bdml_dataset *data);
/* What a model wants of a file: so many features, called so, and what its label was called (name or number of
 * the column; or NULL). */
typedef struct bdml_wanted {
    int d;
    char *const *feature; /* d of them, or NULL */
    const char *label;
} bdml_wanted;

/* Is none of these NaN or infinite? */
bool bdml_all_finite(size_t n, const double *x);
bdml_status bdml_dataset_new(bdml_handle *h, int64_t n, int d, int classes, bdml_dataset **out);
/* Read a whole file as o says; wanted as of bdml_source_open. */
bdml_status bdml_dataset_read(bdml_handle *h, const bdml_input_options *o,
                              const bdml_wanted *wanted, const char *path, bdml_dataset **out);
/* The same with the rows dealt out to the ranks of the handle: each holds its stretch of them and all labels. NPY (in C order)
 * and IDX files are read from where the stretch begins; of others every rank reads all and keeps its own. */
bdml_status bdml_dataset_read_part(bdml_handle *h, const bdml_input_options *o, const char *path,
                                   bdml_dataset **out);
/* BDML_ERR_ARGUMENT when the rows are dealt out: `what` needs all of them. */
bdml_status bdml_dataset_need_all(bdml_handle *h, const bdml_dataset *data, const char *what);
/* Read a matrix: every column a number, none of them a label, whatever the settings say of the data. */
bdml_status bdml_matrix_read(bdml_handle *h, const char *path, bdml_dataset **out);
/* Before x is written. */
bdml_status bdml_dataset_own(bdml_handle *h, bdml_dataset *data);
/* `status`, of what was computed from the data and told in *json (NULL: elsewhere); BDML_ERR_IO, and *json freed, where their file
 * was changed meanwhile. */
bdml_status bdml_dataset_confirm(bdml_handle *h, const bdml_dataset *data, bdml_status status,
                                 char **json);
/* BDML_ERR_DATA unless there are labels, of at least two classes, that look like such. */
bdml_status bdml_dataset_need_classes(bdml_handle *h, const bdml_dataset *data);
/* What a fold or split of the data takes while a method learns from it: the rows, prepared, and mapped. */
static inline double bdml_dataset_job_bytes(const bdml_dataset *data)
{
    return 3.0 * (double)data->n * (double)data->d * (double)sizeof(double);
}
/* 64-bit hash of n, d, x and y: the "data fingerprint" of a model. All ranks call it where rows are dealt out. */
uint64_t bdml_dataset_fingerprint(const bdml_dataset *data);
/* The same of its first rows alone. */
uint64_t bdml_dataset_fingerprint_of(const bdml_dataset *data, int64_t rows);

/* ---- reading (source.c and one file a format) --------------------------------------------------- */

typedef struct bdml_input bdml_input; /* input.c: plain or gzip file or standard input, buffered */

/* Up to `capacity` rows as they stand in the file. A missing value is NaN. */
typedef struct bdml_block {
    int64_t capacity, n;
    int d;
    double *x;      /* capacity rows of d */
    int32_t *label; /* number into source->classes, -1 = none */
    int64_t *line;  /* line (text formats) or row from 1 (binary ones) of each row, for messages */
} bdml_block;

typedef struct bdml_source_ops {
    /* Append rows to the block until it is full or the file ends (then b->n < b->capacity). */
    bdml_status (*next)(bdml_handle *h, bdml_source *s, bdml_block *b);
    void (*close)(bdml_source *s); /* free s->state */
    /* Of formats that know where a row begins, or NULL. Leave out the next rows, at most those that are left. */
    bdml_status (*skip)(bdml_handle *h, bdml_source *s, int64_t rows);
    /* The labels of all rows where they are known beforehand, or NULL. */
    const int32_t *(*labels)(const bdml_source *s);
    /* Are the rows that are not yet handed out reals of this machine of so many bytes, one behind the other, that end the file? NULL: no. */
    bool (*stand)(const bdml_source *s, size_t size);
} bdml_source_ops;

/* How the label was found. */
typedef enum bdml_label_found {
    BDML_LABEL_GIVEN,  /* by a setting */
    BDML_LABEL_NAMED,  /* by its name, or by the format */
    BDML_LABEL_PLACED, /* by its place alone */
} bdml_label_found;

struct bdml_source {
    const bdml_source_ops *ops;
    void *state;    /* the format's own */
    bdml_input *in; /* closed by bdml_source_close, after ops->close */
    char *path;     /* for messages; "standard input" for "-" */
    int d;          /* known once open */
    int64_t rows;   /* announced by the file, or -1 */
    bool sparse;    /* of the places of its rows only `entries` have a number, others are 0 */
    int64_t entries;
    bool single; /* the values are stored as float32 */
    bool round;  /* setting storage: they are rounded to float32 as they are handed out */
    bool lines;  /* block->line counts lines of text; otherwise rows from 1 */
    bool labelled;
    int label_column; /* place of the label among the file's columns, or -1: for messages */
    bdml_label_found label_found;
    struct bdml_columns *columns; /* of a text file (columns.h), or NULL */
    bdml_names classes;           /* grows while reading */
    char **feature_name;          /* d of them, or NULL */

    /* labels-file: the class of each row of the file, and how many rows were handed out so far */
    int32_t *file_label;
    int64_t file_labels, handed_out;
    char *labels_path; /* for messages */
    char *labels_from; /* "from FILE": how the label was found; NULL: in the data themselves */

    char *doubt; /* of bdml_source_doubt, or NULL */

    /* settings columns, drop, index-column of other formats: the features picked from those of the file */
    int *pick;      /* d of them, or NULL */
    bdml_block raw; /* rows as the format gives them */
};

/* Open as o says. wanted: what a model wants, or NULL. When it is given, label = auto and the file has exactly
 * that many columns, no column is taken for the label. */
bdml_status bdml_source_open(bdml_handle *h, const bdml_input_options *o, const char *path,
                             const bdml_wanted *wanted, bdml_source **out);
/* Fill the block from its start; b->n == 0 at the end of the file. Infinite values are refused. */
bdml_status bdml_source_next(bdml_handle *h, bdml_source *s, bdml_block *b);
void bdml_source_close(bdml_source *s);
/* Can rows be left out without being read? Their number and all labels are known then. */
bool bdml_source_skips(const bdml_source *s);
/* Leave out rows at the start. */
bdml_status bdml_source_skip(bdml_handle *h, bdml_source *s, int64_t rows);
/* Could the rows be used where they stand in the file, without being read? */
bool bdml_source_stands(const bdml_source *s, size_t size);
/* The labels of all rows of a source that skips; NULL: there are none. */
const int32_t *bdml_source_labels(const bdml_source *s);
/* Do the labels of n rows, of classes called so, look like classes (doubt.c)? *text: what is in doubt, with the option
 * that settles it, or NULL; the caller's to free. *grave: taken for classes they would be nonsense. */
bdml_status bdml_doubt_labels(bdml_handle *h, const bdml_input_options *o, const bdml_source *s,
                              int64_t n, int classes, char *const *names, char **text, bool *grave);
bdml_status bdml_block_init(bdml_handle *h, int64_t capacity, int d, bdml_block *b);
void bdml_block_free(bdml_block *b);
/* The column of the file, from 0, that feature j comes from. */
int bdml_source_column_of(const bdml_source *s, int j);
/* Fail about value (i, j) of a block, j = -1 for its label: "FILE: line 3, column 2 (width): ..." */
bdml_status bdml_source_fail(bdml_handle *h, bdml_status status, const bdml_source *s,
                             const bdml_block *b, int64_t i, int j, const char *fmt, ...)
    BDML_PRINTF(7, 8);
/* The setting "label"; "none" when the labels come from a file of their own. */
const char *bdml_label_setting(const bdml_input_options *o);
/* Is s[0..n), blanks aside, how files write a missing value: nothing, '?', NA? */
bool bdml_is_missing(const char *s, size_t n);
/* s[0..n) cut and cleaned so that it can stand in a message. Returns out. */
enum { BDML_EXCERPT_SIZE = 64 };
const char *bdml_excerpt(const char *s, size_t n, char out[BDML_EXCERPT_SIZE]);
/* A sparse file may announce far more than it holds: beyond BDML_MEMORY_ASKED at least one place in 10,000 must have a number.
 * n rows of d columns; what: "FILE: sparse variable X has", for the message. */
bdml_status bdml_sparse_check(bdml_handle *h, const char *what, double n, double d, double entries);
/* labels.c: a file of labels, numbered by `names`. */
bdml_status bdml_labels_read(bdml_handle *h, const char *path, bdml_names *names, int32_t **label,
                             int64_t *count);
/* binary.c: labels of an NPY (numbers or texts; n, n x 1, 1 x n) or IDX file, added to `names`. NaN
 * and empty texts are missing, -1. */
bdml_status bdml_labels_from_binary(bdml_handle *h, bdml_input *in, int format, bdml_names *names,
                                    int64_t *n, int32_t **label);
/* The label that stands for a number: "3" for 3.0. Returns its length. */
int bdml_label_text(const bdml_handle *h, double v, char out[BDML_NUMBER_SIZE]);
/* The column called class, label, target or y (in this order of preference, case ignored; the last
 * one of equals), or -1. */
bdml_status bdml_label_by_word(bdml_handle *h, int columns, char *const *names, int *label);
/* "; did you mean NAME?" of these columns, or ""; names may be NULL. */
const char *bdml_column_meant(const char *word, int columns, char *const *names,
                              char out[BDML_MEANT_SIZE]);
/* The column that the setting "label" means, -1 = none. names: of the columns, or NULL. automatic:
 * what "auto" means for this file. */
bdml_status bdml_label_column(bdml_handle *h, const bdml_input_options *o, const char *path,
                              int columns, char *const *names, int automatic, int *label);

/* "csv" by content first (magic bytes of NPY, zip, MAT, gzip, IDX; '@relation'), then by name. */
int bdml_format_guess(const char *path, const unsigned char *head, size_t head_size);

/* BDML_ERR_FORMAT with advice when this is a file of another program: Excel, Parquet, pickle, HDF5, ... */
bdml_status bdml_refuse_foreign(bdml_handle *h, const char *path, const unsigned char *head,
                                size_t n);

/* Openers: `in` positioned at the start, owned by the source, already in s->in. They fill in s->ops,
 * state, d, rows, lines, labelled, label_column and names (before: rows and label_column -1, the rest
 * 0). When they fail, bdml_source_close frees what they left in s, through s->ops if that is set. A
 * one-dimensional array is n rows of d = 1. Labels count from 0 in s->classes; missing ones are -1. */
bdml_status bdml_csv_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          const bdml_wanted *wanted, char delimiter, bdml_source *s);
bdml_status bdml_svmlight_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                               int expected_d, bdml_source *s);
bdml_status bdml_arff_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                           const bdml_wanted *wanted, bdml_source *s);
bdml_status bdml_npy_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s);
bdml_status bdml_npz_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s);
bdml_status bdml_mat_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s);
bdml_status bdml_idx_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s);

/* ---- input bytes (input.c) ---------------------------------------------------------------------- */

/* gzip is undone on the fly. Errors name the file. */
bdml_status bdml_input_open(bdml_handle *h, const char *path, bdml_input **out);
void bdml_input_close(bdml_input *in);
const char *bdml_input_name(const bdml_input *in);
const char *bdml_input_path(const bdml_input *in); /* as given; "-" for standard input */
/* BDML_ERR_IO when a regular file is not what it was when it was opened. */
bdml_status bdml_input_unchanged(bdml_handle *h, const bdml_input *in);
/* BDML_ERR_IO when what was opened again is not the file that it was (rewritten, or another put in its place). */
bdml_status bdml_input_same(bdml_handle *h, const bdml_input *before, const bdml_input *now);
/* Of an error about what was read (in NULL: none): that the file was changed meanwhile, where it was; else `status`. */
bdml_status bdml_input_blame(bdml_handle *h, const bdml_input *in, bdml_status status);
/* The same file opened for another reader, wherever its name leads by now; NULL: errno. */
FILE *bdml_input_again(const bdml_input *in);
/* Look at the next bytes without taking them; *n is less than wanted only at the end. */
bdml_status bdml_input_peek(bdml_handle *h, bdml_input *in, size_t want,
                            const unsigned char **bytes, size_t *n);
/* Take up to `want` bytes; *got is less only at the end. */
bdml_status bdml_input_read(bdml_handle *h, bdml_input *in, void *out, size_t want, size_t *got);
/* Leave out so many bytes, by seeking where that can be. */
bdml_status bdml_input_skip(bdml_handle *h, bdml_input *in, int64_t bytes);
/* The next line without its end of line ("\n", "\r\n" or "\r"), NUL-terminated, valid until the next
 * call; *line = NULL at the end. A NUL byte inside a line is BDML_ERR_FORMAT. */
bdml_status bdml_input_line(bdml_handle *h, bdml_input *in, char **line, size_t *n);
/* Longer ones are refused: ten million columns fit, and what has no ends of lines is no text. */
#define BDML_LINE_MOST ((size_t)256 << 20)
int64_t bdml_input_line_number(const bdml_input *in); /* of the line last returned, from 1 */
/* Bytes left to read where the file says so (a plain file), or -1 (gzip, pipes). */
int64_t bdml_input_remaining(const bdml_input *in);
/* `bytes` that are not yet taken, but for the first `skip` of them, as memory; *out NULL: they cannot be (gzip, pipes). */
bdml_status bdml_input_map(bdml_handle *h, const bdml_input *in, int64_t skip, size_t bytes,
                           bdml_mapped **out);
/* Read twice: mark at the start, rewind to it. What cannot seek is kept in memory in between. */
void bdml_input_mark(bdml_input *in);
bdml_status bdml_input_rewind(bdml_handle *h, bdml_input *in);

/* ---- writing (write.c and one file a format) --------------------------------------------------- */

bdml_status bdml_write_csv(bdml_handle *h, const bdml_write_options *o, const bdml_dataset *data,
                           char delimiter, const char *path);
bdml_status bdml_write_svmlight(bdml_handle *h, const bdml_dataset *data, const char *path);
/* Labels go to NAME.labels.npy beside NAME.npy. */
bdml_status bdml_write_npy(bdml_handle *h, const bdml_dataset *data, const char *path);
/* rows x columns doubles, row-major, as <f8 in C order. */
bdml_status bdml_write_npy_matrix(bdml_handle *h, const char *path, int64_t rows, int64_t columns,
                                  const double *x);
/* The same as variable `name` of a MAT v5 file. */
bdml_status bdml_write_mat_matrix(bdml_handle *h, const char *path, const char *name, int64_t rows,
                                  int64_t columns, const double *x);

/* BDML_ERR_DATA when a column is of numbers so large, so small or so far from 0 that no metric can be made of them
 * (size.c). */
bdml_status bdml_dataset_check_size(bdml_handle *h, const bdml_prepare_options *o,
                                    const bdml_dataset *data);

/* ---- preparing (prepare.c, pca.c) ------------------------------------------------------------------ */

/* Fill in missing values, scale, project: fitted on training data, stored in the model.
 *
 *     x <- fill where NaN;   x <- (x - shift) / width  (zscore, minmax) or x/|x| (unit);
 *     x <- basis' (x - center)  (PCA)
 *
 * Constant columns get infinite width and become 0: they carry no information and cannot blow up. */
struct bdml_prepare {
    int d_in, d_out;
    double *fill;    /* d_in, or NULL: missing values are refused */
    int scale;       /* BDML_SCALE_... */
    double *shift;   /* d_in, zscore and minmax; else NULL */
    double *width;   /* d_in, zscore and minmax; else NULL */
    double *center;  /* d_in, PCA; else NULL */
    double *basis;   /* d_in x d_out column-major, orthonormal columns, PCA; else NULL */
    double variance; /* share of variance that PCA kept; 1 without */
};

/* p->fill = means of the columns' values that are there. Here and below: of `data` and the rows of the other ranks that
 * `over` deals them out to. */
bdml_status bdml_prepare_means(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                               bdml_prepare *p);
/* p->shift and width for p->scale; constant columns get infinite width and are told to the log, by their
 * names where there are any. */
bdml_status bdml_prepare_widths(bdml_handle *h, const bdml_rows *data, const bdml_spread *over,
                                char *const *names, bdml_prepare *p);
/* By the settings scale, pca (and the seed of its start), missing. Constant columns are told to the log. */
bdml_status bdml_prepare_fit(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                             bdml_prepare *p);
/* Prepared rows are the rows themselves, of data that it was fitted on. */
bool bdml_prepare_is_identity(const bdml_prepare *p);
/* z: n rows of d_out out; may be x itself when ld == d_in: rows that become shorter close up. */
bdml_status bdml_prepare_apply(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                               int64_t ld, double *z);
/* The same of all rows, wherever they are. */
bdml_status bdml_prepare_all(bdml_handle *h, const bdml_prepare *p, const bdml_rows *rows,
                             double *z);
/* The first step alone: z (n rows of d_in) is filled in and scaled, less the center when there is PCA.
 * z may be x itself when ld == d_in. BDML_ERR_DATA at a value that is not finite (NaN with fill is
 * fine); the message counts rows from `first`. */
bdml_status bdml_prepare_scale(bdml_handle *h, const bdml_prepare *p, int64_t n, const double *x,
                               int64_t ld, int64_t first, double *z);
/* BDML_ERR_DATA, naming row and column, when a value of this row cannot be prepared. */
bdml_status bdml_prepare_check(bdml_handle *h, const bdml_prepare *p, const double *x, int64_t row);
/* PCA of the data after p's scaling, to so many components (below 1: share of variance): sets center,
 * basis, d_out, variance. The seed is that of the randomised way to a few of many components. */
bdml_status bdml_pca_fit(bdml_handle *h, double asked, uint64_t seed, const bdml_rows *data,
                         const bdml_spread *over, bdml_prepare *p);
void bdml_prepare_free(bdml_prepare *p);

/* ---- splits (splits.c) -------------------------------------------------------------------------------- */

/* A permutation of 0..n-1 whose first `*train` rows are for training, each part ascending. A function
 * of (seed, split) alone. Stratified when y is given: each class is split by itself. */
bdml_status bdml_split_random(bdml_handle *h, int64_t n, const int32_t *y, double test_fraction,
                              uint64_t seed, uint64_t split, int64_t *order, int64_t *train);
/* fold[i] in 0..folds-1, sizes equal up to one (per class when y is given). */
bdml_status bdml_split_folds(bdml_handle *h, int64_t n, const int32_t *y, int folds, uint64_t seed,
                             uint64_t repeat, int32_t *fold);

/* ---- lists of rows (splits.c, mat_lists.c) ---------------------------------------------------------------------- */

/* `count` lists of whole numbers, list k being row[start[k]] .. row[start[k+1]-1]. */
typedef struct bdml_row_lists {
    int count;
    int64_t *start, *row;
} bdml_row_lists;

/* The cells variable.field{1}, {2}, ... of a MAT file, each a vector of whole numbers. */
bdml_status bdml_mat_lists_read(bdml_handle *h, const char *path, const char *variable,
                                const char *field, bdml_row_lists *out);
void bdml_row_lists_free(bdml_row_lists *lists);

#endif
