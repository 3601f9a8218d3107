/* bdml.h - Mahalanobis metrics (a-b)' M (a-b) with a hard cap on distortion, and proofs of them.
 *
 * This file is the whole public interface and its reference manual.
 *
 * Life of a program
 *     bdml_create -> bdml_set ... -> bdml_read_dataset -> bdml_train -> bdml_transform ... -> frees
 *
 * Conventions
 *     Status    Every call that can fail returns bdml_status; BDML_OK is 0, errors are negative.
 *               bdml_last_error(h) then holds one line: what was wrong and what would be right.
 *     Handle    Carries settings, callbacks, the last error and the timers. Two handles may run in
 *               two threads at once; one handle may not be shared by two calls at once.
 *     Memory    Arrays passed in are borrowed for the call and copied if kept. Arrays out are the
 *               caller's. What a function hands out through a bdml_... ** is freed by the matching
 *               bdml_free_...; all of those accept NULL. On failure *out is NULL.
 *     Points    n rows of d doubles, row i at x + i*ld, ld >= d. Distances are squared distances.
 *     Indices   From 0. A neighbour that does not exist is -1, its distance infinity.
 *     Bits      The same seed gives the same bits whatever the number of threads, unless the
 *               setting "deterministic" is switched off.
 *     Silence   The library never prints, exits or aborts. It keeps no state outside its handles,
 *               but for the count of running calls by which OpenBLAS is held to one thread while
 *               bdml's own threads work (OpenBLAS keeps its thread count per process).
 */
#ifndef BDML_BDML_H
#define BDML_BDML_H

#include <stddef.h>
#include <stdint.h>

/* The version is written here and nowhere else: CMake reads these three lines. */
#define BDML_VERSION_MAJOR 0
#define BDML_VERSION_MINOR 1
#define BDML_VERSION_PATCH 0

/* Programs that link the static library on Windows define BDML_STATIC. */
#if defined(_WIN32) && !defined(BDML_STATIC)
#ifdef BDML_BUILDING
#define BDML_API __declspec(dllexport)
#else
#define BDML_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define BDML_API __attribute__((visibility("default")))
#else
#define BDML_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------- */

typedef enum bdml_status {
    BDML_OK = 0,
    BDML_ERR_ARGUMENT = -1,  /* NULL, a bad size, a setting unknown or out of range */
    BDML_ERR_DATA = -2,      /* the data or constraints cannot be used as they are */
    BDML_ERR_MEMORY = -3,    /* an allocation failed or a size overflows */
    BDML_ERR_LAPACK = -4,    /* a LAPACK routine reported failure */
    BDML_ERR_IO = -5,        /* a file could not be opened, read or written */
    BDML_ERR_FORMAT = -6,    /* a file is not what its format says: damaged, truncated, too new */
    BDML_ERR_CANCELLED = -7, /* the progress callback asked to stop */
    BDML_ERR_INFEASIBLE = -8 /* proven: no metric meets the constraints */
} bdml_status;

BDML_API const char *bdml_version(void); /* "0.1.0": of the library that is linked */
BDML_API const char *bdml_status_text(bdml_status status); /* a static string */

/* ---- handle ------------------------------------------------------------------------------- */

typedef struct bdml_handle bdml_handle;

/* Called about ten times a second, and when a phase begins and ends, from the thread that made the call.
 * phase: what is going on. done and total: steps, total 0 when unknown, done -1 when none are counted. Non-zero = please stop: a solve ends with what
 * it has, and the proof of that. BDML_LEAVE = come back at once with BDML_ERR_CANCELLED, whatever was found. */
enum { BDML_LEAVE = 2 };
typedef int (*bdml_progress_fn)(void *user, const char *phase, int64_t done, int64_t total);

typedef enum bdml_log_level {
    BDML_LOG_WARNING = 0, /* the user should know: a constant column, a contradiction */
    BDML_LOG_INFO = 1,    /* what was done, one line a step */
    BDML_LOG_TABLE = 2    /* rows of the solver's progress table */
} bdml_log_level;

typedef void (*bdml_log_fn)(void *user, bdml_log_level level, const char *line);

BDML_API bdml_status bdml_create(bdml_handle **out);
BDML_API void bdml_free(bdml_handle *h);
BDML_API const char *
bdml_last_error(const bdml_handle *h); /* of the last call that failed, or "" */
/* Put a line of one's own there (a tool over the library, a callback), and return status. */
BDML_API bdml_status bdml_set_error(bdml_handle *h, bdml_status status, const char *line);
/* Text of others, such as the names of classes, so that it can be printed: control characters, marks that turn writing
 * round and bytes that are no UTF-8 become \xNN. Into out, as much as fits in size bytes; returns the length of the
 * whole. Error lines and log lines have been through it. */
BDML_API size_t bdml_visible_text(const char *s, char *out, size_t size);
/* Would a spreadsheet that opens it in a CSV file run this text? It begins with =, +, - or @, and is neither a
 * number nor that character alone. */
BDML_API int bdml_is_formula(const char *s);
BDML_API void bdml_set_progress(bdml_handle *h, bdml_progress_fn fn, void *user);
BDML_API void bdml_set_log(bdml_handle *h, bdml_log_fn fn, void *user);
/* The setting time-limit is for each call that learns or evaluates. A program that is itself to end in time says so
 * here: reading, learning and evaluating on this handle end `seconds` from now, all together, each with the best that
 * it has, or with BDML_ERR_CANCELLED where it has nothing; 0: each call by itself again. */
BDML_API void bdml_limit_time(bdml_handle *h, double seconds);
BDML_API double bdml_time_left(const bdml_handle *h); /* infinite: bdml_limit_time set none */
/* Say a line to the log, as the library does: a warning that was told is not told again. */
BDML_API void bdml_log_line(bdml_handle *h, bdml_log_level level, const char *line);

/* Seconds spent in each phase of work since bdml_create; phases are enumerable. */
BDML_API int bdml_phase_count(void);
BDML_API const char *bdml_phase_name(int phase);
BDML_API double bdml_phase_seconds(const bdml_handle *h, int phase);

/* ---- settings ----------------------------------------------------------------------------- */

/* Settings are set by name, as on the command line: bdml_set(h, "scale", "zscore"). All have a
 * default. Values are checked when they are set. docs/settings.md lists them. */
typedef enum bdml_option_type {
    BDML_OPTION_FLAG,   /* "yes" or "no" */
    BDML_OPTION_INT,    /* a whole number in [min, max] */
    BDML_OPTION_REAL,   /* a number in [min, max] */
    BDML_OPTION_CHOICE, /* one of choices, which are separated by '|' */
    BDML_OPTION_TEXT    /* a name, a path, a list */
} bdml_option_type;

typedef struct bdml_option {
    const char *name;  /* "test-fraction" */
    const char *group; /* "input", "prepare", ... */
    bdml_option_type type;
    const char *default_value; /* as text; "" = unset */
    double min, max;           /* INT and REAL; infinite = open */
    const char *choices;       /* CHOICE: "none|zscore|..."; else NULL */
    const char *metavar;       /* what stands for the value in help: "K", "FILE" */
    const char *help;          /* one sentence */
    int automatic;             /* INT and REAL: 1 when "auto" may be said too */
} bdml_option;

BDML_API int bdml_option_count(void);
BDML_API const bdml_option *bdml_option_at(int i); /* NULL when i is out of range */
/* value NULL: back to the default, as if it had never been set. Not from a callback of the same handle. */
BDML_API bdml_status bdml_set(bdml_handle *h, const char *name, const char *value);
/* The value as text, valid until that setting is set again; NULL when the name is unknown. */
BDML_API const char *bdml_get(bdml_handle *h, const char *name);
/* The value as a number: INT and REAL as they are (auto: what stands where nothing chooses), FLAG 0 or 1,
 * CHOICE its position in the list. NaN for TEXT and for unknown names. */
BDML_API double bdml_get_number(const bdml_handle *h, const char *name);
BDML_API int bdml_is_given(const bdml_handle *h,
                           const char *name); /* 1: set, be it to its default */
/* Check a text against a row of a table like the library's own, without setting anything. *number: as of
 * bdml_get_number, NaN for TEXT and "auto"; may be NULL. */
BDML_API bdml_status bdml_check_option(bdml_handle *h, const bdml_option *o, const char *text,
                                       double *number);

/* The number of the word nearest to a misspelt one, within a third of its letters, or the only one that begins so; -1: none
 * is. at(user, i): the i-th word, NULL past the last. */
typedef const char *(*bdml_word_fn)(const void *user, int i);
BDML_API int bdml_nearest_word(const char *word, bdml_word_fn at, const void *user);

/* ---- data sets ---------------------------------------------------------------------------- */

typedef struct bdml_dataset bdml_dataset;

/* Read a file by the settings of group "input"; path "-" is standard input. Formats: CSV, TSV,
 * svmlight, NPY, NPZ, MAT v5, ARFF, IDX; text formats and IDX also gzipped. Classes are numbered in
 * the order of their names: as numbers when all of them are numbers, as text otherwise. */
BDML_API bdml_status bdml_read_dataset(bdml_handle *h, const char *path, bdml_dataset **out);
/* Copy arrays. y: n labels, any integers (each different one is a class, ascending), or NULL. */
BDML_API bdml_status bdml_dataset_from_arrays(bdml_handle *h, int64_t n, int d, const double *x,
                                              int64_t ld, const int64_t *y, bdml_dataset **out);
/* NaN in x is a missing value, and goes as the setting "missing" says: refused, its row dropped, or filled
 * in by the mean that training fits. The same from single precision: */
BDML_API bdml_status bdml_dataset_from_floats(bdml_handle *h, int64_t n, int d, const float *x,
                                              int64_t ld, const int64_t *y, bdml_dataset **out);
/* Names in the order of bdml_dataset_class_name (one for each class) and of the columns; copied. Class
 * names must differ. NULL: leave them. */
BDML_API bdml_status bdml_dataset_set_names(bdml_handle *h, bdml_dataset *data,
                                            const char *const *classes,
                                            const char *const *features);
/* The rows listed, as a data set of its own with the same classes and names. */
BDML_API bdml_status bdml_dataset_subset(bdml_handle *h, const bdml_dataset *data, int64_t count,
                                         const int64_t *rows, bdml_dataset **out);
/* BDML_ERR_IO where the data are a file that is used where it is (setting "mapping") and was changed since it was read: what was
 * computed from bdml_dataset_rows is then of no use. Calls that are given the data set itself ask this before they return. */
BDML_API bdml_status bdml_confirm_dataset(bdml_handle *h, const bdml_dataset *data);
/* Put the column means in the places of missing values: for data that are to be written out. */
BDML_API bdml_status bdml_dataset_fill(bdml_handle *h, bdml_dataset *data);
/* Write by the ending of the name: .csv, .tsv, .svm/.svmlight/.libsvm, .npy (labels beside it in
 * NAME.labels.npy), and ".csv" for "-". The file appears whole or not at all. */
BDML_API bdml_status bdml_write_dataset(bdml_handle *h, const bdml_dataset *data, const char *path);
BDML_API void bdml_free_dataset(bdml_dataset *data);

BDML_API int64_t bdml_dataset_points(const bdml_dataset *data); /* n */
BDML_API int bdml_dataset_dimension(const bdml_dataset *data);  /* d */
BDML_API int bdml_dataset_classes(const bdml_dataset *data);    /* 0: no labels */
/* n*d, ld = d. With the setting storage = float32 doubles are made beside the floats when first asked for; NULL: no memory. */
BDML_API const double *bdml_dataset_rows(const bdml_dataset *data);
BDML_API const int32_t *bdml_dataset_labels(const bdml_dataset *data);           /* n, or NULL */
BDML_API const char *bdml_dataset_class_name(const bdml_dataset *data, int c);   /* or NULL */
BDML_API const char *bdml_dataset_feature_name(const bdml_dataset *data, int j); /* or NULL */

/* Sets whose law is known, n points from the seed: "waveform" of Breiman et al. 1984 (21 features, 3 classes), "twonorm",
 * "ringnorm", ...; row i is a function of the seed and i alone. The names, by number; NULL: out of range. */
BDML_API bdml_status bdml_generate(bdml_handle *h, const char *name, int64_t n, bdml_dataset **out);
BDML_API int bdml_generator_count(void);
BDML_API const char *bdml_generator_name(int i);

/* ---- files of any length ----------------------------------------------------------------------- */

/* The rows of a file block by block, as they stand there. */
typedef struct bdml_source bdml_source;

/* As bdml_read_dataset, but nothing is read beyond what the head of the file says. d: features that a model
 * wants, or 0; where it is given, a file of exactly that many columns has no label column. */
BDML_API bdml_status bdml_open_source(bdml_handle *h, const char *path, int d, bdml_source **out);
BDML_API void bdml_close_source(bdml_source *source);
/* Up to `most` rows: *n of them, 0 at the end. x: most*d out, NaN where a value is missing. label: class
 * number, -1 = none. line: where each row stands, for messages: line of a text, else row from 1. */
BDML_API bdml_status bdml_read_rows(bdml_handle *h, bdml_source *source, int64_t most, double *x,
                                    int32_t *label, int64_t *line, int64_t *n);
BDML_API const char *bdml_source_name(const bdml_source *source); /* for messages */
BDML_API int bdml_source_dimension(const bdml_source *source);
BDML_API int64_t bdml_source_points(const bdml_source *source); /* as announced; -1: not known */
BDML_API int bdml_source_single(const bdml_source *source);     /* values are stored as float32 */
BDML_API int bdml_source_labelled(const bdml_source *source);
/* Classes met so far, numbered as they came. */
BDML_API int bdml_source_classes(const bdml_source *source);
BDML_API const char *bdml_source_class_name(const bdml_source *source, int c); /* or NULL */
/* order[k]: the class that comes k-th in the order of names, which is that of a data set. */
BDML_API bdml_status bdml_source_order_classes(bdml_handle *h, const bdml_source *source,
                                               int32_t *order);
BDML_API const char *bdml_source_feature_name(const bdml_source *source, int j); /* or NULL */

/* The columns of a text file (CSV, ARFF), as its first rows show them; 0 for other formats. */
typedef struct bdml_column_info {
    const char *name; /* "x3" where the file has none */
    const char *use;  /* "feature", "words", "label", "left out" */
    const char *
        looks; /* "numbers", "whole numbers", "row numbers", "true/false", "words", "dates", "decimal commas" */
    int64_t different; /* values met, 1000 at most */
} bdml_column_info;
BDML_API int bdml_source_columns(const bdml_source *source);
BDML_API bdml_status bdml_source_column(bdml_handle *h, const bdml_source *source, int column,
                                        bdml_column_info *out);
/* How the label was found: "asked for", "by its name", "the last column", "inside the file", "from FILE"; NULL: no
 * label. Valid while the source is. */
BDML_API const char *bdml_source_label_reason(const bdml_source *source);
/* Why the labels met in the rows read so far may be none, with the option that settles it; "" = no doubt. Valid until
 * the next call. */
BDML_API const char *bdml_source_doubt(bdml_handle *h, bdml_source *source);

/* A file that appears whole or not at all: written beside its place, and put there by commit, with the permissions of the
 * file that was there. Through a symbolic link the file it points to is written; one that is protected from writing is
 * refused. "-" is standard output. commit frees the file also when it fails; discard leaves nothing behind. check says
 * beforehand, and without a trace, what create would refuse. */
typedef struct bdml_file bdml_file;
BDML_API bdml_status bdml_file_check(bdml_handle *h, const char *path);
BDML_API bdml_status bdml_file_create(bdml_handle *h, const char *path, bdml_file **out);
BDML_API bdml_status bdml_file_write(bdml_handle *h, bdml_file *f, const void *data, size_t bytes);
BDML_API bdml_status bdml_file_commit(bdml_handle *h, bdml_file *f);
BDML_API void bdml_file_discard(bdml_file *f);

/* A matrix as NPY row by row, however many there are, whole or not at all as above. rows: how many will come, -1 =
 * told by those that come, which a device or pipe cannot take. single: as float32 instead of float64. */
typedef struct bdml_npy bdml_npy;
BDML_API bdml_status bdml_npy_create(bdml_handle *h, const char *path, int64_t rows, int columns,
                                     int single, bdml_npy **out);
BDML_API bdml_status bdml_npy_write(bdml_handle *h, bdml_npy *f, int64_t n, const double *x);
/* label: of each row written, the number of a name, or NULL; labels go beside it as NAME.labels.npy. Frees f also when
 * it fails. */
BDML_API bdml_status bdml_npy_commit(bdml_handle *h, bdml_npy *f, const int32_t *label, int classes,
                                     const char *const *names);
BDML_API void bdml_npy_discard(bdml_npy *f);

/* ---- preparing ------------------------------------------------------------------------------- */

/* Fill-in of missing values, scaling and PCA, fitted on data by the settings of group "prepare" and
 * "missing": what training does first, by itself. */
typedef struct bdml_prepare bdml_prepare;
BDML_API bdml_status bdml_fit_preparation(bdml_handle *h, const bdml_dataset *data,
                                          bdml_prepare **out);
BDML_API void bdml_free_preparation(bdml_prepare *p);
BDML_API int bdml_preparation_dimension(const bdml_prepare *p); /* of prepared rows */
/* Share of the variance that PCA keeps; NaN without PCA. */
BDML_API double bdml_preparation_variance(const bdml_prepare *p);
BDML_API int bdml_preparation_fills(const bdml_prepare *p); /* 1: missing values are filled in */
/* z: n rows of bdml_preparation_dimension out. */
BDML_API bdml_status bdml_prepare_rows(bdml_handle *h, const bdml_prepare *p, int64_t n,
                                       const double *x, int64_t ld, double *z);

/* ---- splits ---------------------------------------------------------------------------------- */

/* Random split number `split` by the settings test-fraction, stratify and seed, as bdml_evaluate makes them.
 * order: n row numbers out, the first *train to learn from, the rest to test on, each part ascending. */
BDML_API bdml_status bdml_split(bdml_handle *h, const bdml_dataset *data, int split, int64_t *order,
                                int64_t *train);
/* fold[i] in 0..folds-1 by the settings stratify and seed; sizes equal up to one. */
BDML_API bdml_status bdml_deal_folds(bdml_handle *h, const bdml_dataset *data, int folds,
                                     int32_t *fold);

/* ---- nearest neighbours -------------------------------------------------------------------- */

typedef enum bdml_restrict { BDML_ANY_CLASS, BDML_SAME_CLASS, BDML_OTHER_CLASS } bdml_restrict;

/* Exact k nearest reference rows of every query row in squared Euclidean distance, nearest first,
 * ties to the lower index. query NULL: the reference rows themselves, each without itself.
 * Labels are needed only when `which` restricts by class, and may be NULL otherwise.
 * index: queries*k out, -1 where there are fewer than k. distance: likewise, infinity; may be NULL. */
BDML_API bdml_status bdml_find_neighbors(bdml_handle *h, int64_t n, int d, const double *reference,
                                         int64_t ld, const int32_t *label, int64_t queries,
                                         const double *query, int64_t ld_query,
                                         const int32_t *query_label, bdml_restrict which, int k,
                                         int32_t *index, double *distance);

/* ---- constraints --------------------------------------------------------------------------- */

typedef struct bdml_constraints bdml_constraints;

/* From labels, by the settings of group "constraints" (which also name files that replace mining), in
 * the Euclidean distance of the rows as they are: scale them first where that matters. */
BDML_API bdml_status bdml_mine_constraints(bdml_handle *h, const bdml_dataset *data,
                                           bdml_constraints **out);
/* Target pairs and triplets as arrays of row numbers; triplets (i,j,k) say d(i,k) - d(i,j) >= margin,
 * impostor pairs (i,k) say d(i,k) >= margin. Any of the lists may be empty. n: rows of the data. */
BDML_API bdml_status bdml_constraints_from_arrays(bdml_handle *h, int64_t n, int64_t targets,
                                                  const int32_t *target_pairs, int64_t impostors,
                                                  const int32_t *impostor_pairs, int64_t triplets,
                                                  const int32_t *triplet_rows,
                                                  bdml_constraints **out);
/* Rows of four, (i,j,k,l): d(k,l) > d(i,j), for methods with BDML_USES_QUADRUPLETS. */
BDML_API bdml_status bdml_constraints_from_quadruplets(bdml_handle *h, int64_t n,
                                                       int64_t quadruplets, const int32_t *rows,
                                                       bdml_constraints **out);
BDML_API int64_t bdml_constraints_count(const bdml_constraints *c);   /* m */
BDML_API int64_t bdml_constraints_targets(const bdml_constraints *c); /* pairs in the objective */
/* Rows of constraint t: i, j, k with j = -1 for a pair constraint. BDML_ERR_ARGUMENT when its two pairs have no row in
 * common. */
BDML_API bdml_status bdml_constraints_at(const bdml_constraints *c, int64_t t, int32_t rows[3]);
/* Any constraint as i, j, k, l, d(k,l) > d(i,j); i = j = -1 for a pair constraint. The smaller row of a pair is first. */
BDML_API bdml_status bdml_constraints_quadruplet_at(const bdml_constraints *c, int64_t t,
                                                    int32_t rows[4]);
BDML_API double bdml_constraints_margin(const bdml_constraints *c, int64_t t); /* 1 unless given */
/* Rows i, j of target pair t. */
BDML_API bdml_status bdml_constraints_target_at(const bdml_constraints *c, int64_t t,
                                                int32_t rows[2]);
BDML_API int64_t bdml_constraints_points(const bdml_constraints *c); /* n, rows of the data */
/* A margin or a weight (soft form) per constraint, finite and above 0, in the order of
 * bdml_constraints_at; NULL: all 1. Copied. */
BDML_API bdml_status bdml_constraints_set_margins(bdml_handle *h, bdml_constraints *c,
                                                  const double *margin);
BDML_API bdml_status bdml_constraints_set_weights(bdml_handle *h, bdml_constraints *c,
                                                  const double *weight);
/* Repeated constraints that were dropped; pairs that contradict each other (reported, kept). */
BDML_API int64_t bdml_constraints_duplicates(const bdml_constraints *c);
BDML_API int64_t bdml_constraints_contradictions(const bdml_constraints *c);
BDML_API void bdml_free_constraints(bdml_constraints *c);

/* Pairs of rows with the answer, in folds or not: what verification learns from and is measured on. */
typedef struct bdml_labelled_pairs bdml_labelled_pairs;

/* A file of lines i,j,same or fold,i,j,same; with `answers` 0 also lines i,j. n: rows of the data. */
BDML_API bdml_status bdml_read_pairs(bdml_handle *h, const char *path, int64_t n, int answers,
                                     bdml_labelled_pairs **out);
/* rows: 2*count row numbers. same: 1 or 0, or NULL: not known. fold: any numbers, or NULL: none. */
BDML_API bdml_status bdml_pairs_from_arrays(bdml_handle *h, int64_t n, int64_t count,
                                            const int32_t *rows, const int32_t *same,
                                            const int32_t *fold, bdml_labelled_pairs **out);
BDML_API int64_t bdml_pairs_count(const bdml_labelled_pairs *pairs);
BDML_API const int32_t *bdml_pairs_rows(const bdml_labelled_pairs *pairs);
BDML_API const int32_t *bdml_pairs_same(const bdml_labelled_pairs *pairs);  /* or NULL */
BDML_API const int32_t *bdml_pairs_folds(const bdml_labelled_pairs *pairs); /* from 0, or NULL */
/* To train on: pairs that are the same as targets, the others to be kept apart; folds stay together. */
BDML_API bdml_status bdml_constraints_from_pairs(bdml_handle *h, int64_t n,
                                                 const bdml_labelled_pairs *pairs,
                                                 bdml_constraints **out);
BDML_API void bdml_free_pairs(bdml_labelled_pairs *pairs);

/* ---- training and the model ------------------------------------------------------------------ */

/* A model is: preparation fitted on the training data (fill-in of missing values, scaling, PCA),
 * then the linear map L, so that d(a,b) = |L p(a) - L p(b)|^2 and M = L'L. */
typedef struct bdml_model bdml_model;

BDML_API int bdml_method_count(void);
BDML_API const char *bdml_method_name(int i); /* "euclidean", "whiten", ... */
BDML_API const char *bdml_method_help(int i);
BDML_API int bdml_method_uses(int i); /* sum of bdml_uses: what it can learn from; 0 out of range */
/* The number of the method of that name; -1, with the list of names as the error, when there is none. */
BDML_API int bdml_find_method(bdml_handle *h, const char *name);
/* 1 when training by method i reads the setting bdml_option_at(option); 0 otherwise, and out of range. */
BDML_API int bdml_method_takes(int i, int option);

typedef enum bdml_uses {
    BDML_USES_NOTHING = 1,      /* points alone */
    BDML_USES_LABELS = 2,       /* the classes of the points */
    BDML_USES_PAIRS = 4,        /* given constraints: similar pairs (targets) and dissimilar ones */
    BDML_USES_DOMAINS = 8,      /* points of a second domain, and cannot do without */
    BDML_USES_TRIPLETS = 16,    /* given triplets */
    BDML_USES_QUADRUPLETS = 32, /* given quadruplets */
    BDML_USES_NUMBERS =
        64 /* labels that are numbers, to be predicted: the names of the classes are read */
} bdml_uses;

/* Reference metrics that the setting "reference" knows by name. */
BDML_API int bdml_reference_count(void);
BDML_API const char *bdml_reference_name(int i);
/* A reference map from memory instead, for prepared points of d dimensions: `rows` rows of d, at most d of
 * them, which is copied. Sets "reference" to "given"; map NULL: back to the default, and the copy is freed. */
BDML_API bdml_status bdml_set_reference(bdml_handle *h, int rows, int d, const double *map);

/* Start from a model in memory, as the setting "warm" does from a file: "warm" becomes "given". The model is borrowed
 * while it is set; NULL: back to the default. */
BDML_API bdml_status bdml_set_warm(bdml_handle *h, const bdml_model *model);

/* Learn by the setting "method". constraints may be NULL: mined where the method needs them.
 * BDML_ERR_INFEASIBLE: proven that no metric meets the hard constraints; *out is then not a metric but
 * the proof, which can be described, saved and certified, and nothing else. */
BDML_API bdml_status bdml_train(bdml_handle *h, const bdml_dataset *data,
                                const bdml_constraints *constraints, bdml_model **out);
/* Wrap a map made elsewhere: l is q rows of d (is_metric 0), or M, d x d symmetric positive
 * semidefinite with q = d (is_metric 1). Nothing is prepared: points come as that map wants them. */
BDML_API bdml_status bdml_model_from_map(bdml_handle *h, int q, int d, const double *l,
                                         int is_metric, bdml_model **out);
/* For vectors that `from` has mapped and whose originals are not at hand: a model that takes them to where `to` would map
 * the originals. BDML_ERR_DATA, with the reason, where they do not tell: `from` has lowered the dimension or is
 * singular, one of the two scales rows to length 1. Its error is that of doubles times the condition number of `from`. */
BDML_API bdml_status bdml_model_conversion(bdml_handle *h, const bdml_model *from,
                                           const bdml_model *to, bdml_model **out);
BDML_API void bdml_free_model(bdml_model *model);
BDML_API int bdml_model_is_proof(const bdml_model *model);       /* 1: no metric, see bdml_train */
BDML_API int64_t bdml_checkpoints_written(const bdml_handle *h); /* by the last training */

BDML_API int bdml_model_input_dimension(const bdml_model *model); /* of raw points */
BDML_API int
bdml_model_metric_dimension(const bdml_model *model); /* of prepared points: M is d x d */
BDML_API int bdml_model_output_dimension(const bdml_model *model); /* rows of L */
BDML_API double bdml_model_kappa(const bdml_model *model); /* of M, infinite when singular */
BDML_API bdml_status bdml_model_get_map(bdml_handle *h, const bdml_model *model, double *l);
/* L^-1, d rows of d: prepared points from mapped ones. BDML_ERR_DATA where L loses dimensions. */
BDML_API bdml_status bdml_model_get_inverse(bdml_handle *h, const bdml_model *model,
                                            double *inverse);
BDML_API bdml_status bdml_model_get_metric(bdml_handle *h, const bdml_model *model, double *m);
/* Eigenvalues of M, ascending, one for each metric dimension. */
BDML_API bdml_status bdml_model_eigenvalues(bdml_handle *h, const bdml_model *model,
                                            double *lambda);
/* The reference map R that the distortion is capped relative to, M = R'NR with kappa(N) <= K: its rows
 * (0: there is none, R is the identity), R itself (rows of metric dimension), and the eigenvalues of N,
 * ascending. */
BDML_API int bdml_model_reference_rows(const bdml_model *model);
BDML_API bdml_status bdml_model_get_reference(bdml_handle *h, const bdml_model *model, double *r);
BDML_API bdml_status bdml_model_relative_eigenvalues(bdml_handle *h, const bdml_model *model,
                                                     double *lambda);
/* Parts of the model, valid while it is: preparation; the constraints it was learned from, or NULL. */
BDML_API const bdml_prepare *bdml_model_preparation(const bdml_model *model);
BDML_API const bdml_constraints *bdml_model_constraints(const bdml_model *model);
/* The whole model as one matrix, preparation included: a holds q rows of the input dimension, and the images
 * of raw points x and y differ by a (x - y). Models that scale rows to length 1 have none. */
BDML_API bdml_status bdml_model_get_linear(bdml_handle *h, const bdml_model *model, double *a);
/* The same with b, q numbers: the image of a raw point x is a x + b. */
BDML_API bdml_status bdml_model_get_affine(bdml_handle *h, const bdml_model *model, double *a,
                                           double *b);
/* Which features matter. Each is measured in its own spread, the standard deviation in the training data: then the
 * diagonal of the metric, as shares that add up to 1 (weight: input dimension out), and the `count` leading eigenvectors
 * with the share of the trace that each has (loading: count rows of input dimension, of length 1). Models that scale rows to
 * length 1, or were not trained from points, have none. */
BDML_API bdml_status bdml_model_feature_weights(bdml_handle *h, const bdml_model *model,
                                                double *weight);
BDML_API bdml_status bdml_model_directions(bdml_handle *h, const bdml_model *model, int count,
                                           double *share, double *loading);
/* The solver's certificate in figures. NaN: not said. Texts are valid while the model is. 0: the model has none. */
typedef struct bdml_certificate {
    const char *status;       /* "optimal", "stopped", "infeasible", ... */
    const char *reference;    /* what distortion is relative to */
    double upper, lower, gap; /* bracket on the optimum, and its width over the upper end */
    double distortion, cap;   /* reached, and allowed (K) */
    double softness;
    int64_t constraints, active, iterations;
} bdml_certificate;
BDML_API int bdml_model_certificate(const bdml_model *model, bdml_certificate *out);
/* What cross-validation chose, and the error that made the choice. 0: nothing was chosen. */
typedef struct bdml_chosen {
    const char *reference;
    double distortion, softness;
    int passes;
    double error, standard_error; /* percent, over the folds */
    int folds;
} bdml_chosen;
BDML_API int bdml_model_chosen(const bdml_model *model, bdml_chosen *out);
/* The self-description as JSON text: method, settings, classes, certificate. Valid while the model is. */
BDML_API const char *bdml_model_describe(const bdml_model *model);

/* Read a file as the model's training data were read: settings of group "input" that are not given are taken from the
 * model; the columns of a file that names them are found by these names, in any order and among others; the label is
 * where it was, or missing. */
BDML_API bdml_status bdml_read_model_dataset(bdml_handle *h, const bdml_model *model,
                                             const char *path, bdml_dataset **out);
BDML_API bdml_status bdml_open_model_source(bdml_handle *h, const bdml_model *model,
                                            const char *path, bdml_source **out);

/* 1: the rows, columns and labels of the data set are those that the model was trained on, by their fingerprint. */
BDML_API int bdml_model_trained_on(const bdml_model *model, const bdml_dataset *data);

/* z: n rows of q doubles out. x: raw points; NaN stands for a missing value where the model fills in. */
BDML_API bdml_status bdml_transform(bdml_handle *h, const bdml_model *model, int64_t n,
                                    const double *x, int64_t ld, double *z);
BDML_API bdml_status bdml_transform_floats(bdml_handle *h, const bdml_model *model, int64_t n,
                                           const float *x, int64_t ld, float *z);
/* Squared distances of `count` pairs of raw rows of x: pairs holds 2*count row numbers. */
BDML_API bdml_status bdml_distances(bdml_handle *h, const bdml_model *model, int64_t n,
                                    const double *x, int64_t ld, int64_t count,
                                    const int64_t *pairs, double *distance);
/* How alike `count` pairs of raw rows are, larger = more alike: minus the squared distance, or what the
 * method learns instead (docs/verification.md). */
BDML_API bdml_status bdml_model_pair_scores(bdml_handle *h, const bdml_model *model, int64_t n,
                                            const double *x, int64_t ld, int64_t count,
                                            const int64_t *pairs, double *score);
/* Scores of at least this mean "the same", for a model learned from pairs; NaN for others. */
BDML_API double bdml_model_threshold(const bdml_model *model);
/* What a threshold is chosen for. */
typedef enum bdml_threshold_goal {
    BDML_THRESHOLD_ACCURACY, /* most pairs right; `with` is not read */
    BDML_THRESHOLD_F,    /* largest F of "the same", recall weighing `with` = beta times as much */
    BDML_THRESHOLD_SAME, /* most same pairs found, at least the share `with` of different ones right */
    BDML_THRESHOLD_DIFFERENT /* most different pairs right, at least the share `with` of same ones found */
} bdml_threshold_goal;
/* A threshold of your own from `count` scored pairs of both kinds (same: 1 or 0): a pair is called the same from
 * it on. The first of equally good ones from above, halfway between two scores. */
BDML_API bdml_status bdml_calibrate_threshold(bdml_handle *h, int64_t count, const double *score,
                                              const int32_t *same, bdml_threshold_goal goal,
                                              double with, double *threshold);
/* Classes (numbers into the model's class names) of n raw points by the vote of the "neighbors"
 * nearest training points; ties go to the class of the nearest. train NULL: the model's own points. */
BDML_API bdml_status bdml_predict(bdml_handle *h, const bdml_model *model,
                                  const bdml_dataset *train, int64_t n, const double *x, int64_t ld,
                                  int32_t *label);
/* The same, telling what share of the votes went to each class: n rows of as many as there are classes (of the
 * model, or of train where the model has none) out, each adding up to 1. */
BDML_API bdml_status bdml_predict_shares(bdml_handle *h, const bdml_model *model,
                                         const bdml_dataset *train, int64_t n, const double *x,
                                         int64_t ld, double *share);
/* The k nearest of the points that the model keeps, numbered as the rows it was trained on, for each of n raw
 * points. index and distance: n*k out, as of bdml_find_neighbors; distance may be NULL. */
BDML_API bdml_status bdml_model_neighbors(bdml_handle *h, const bdml_model *model, int64_t n,
                                          const double *x, int64_t ld, int k, int32_t *index,
                                          double *distance);

/* The points that vote, mapped and made ready for search once, for points that come in many calls. train as of
 * bdml_predict: it may be freed after, the model must stay. Not to be used by two threads at a time. */
typedef struct bdml_voters bdml_voters;
BDML_API bdml_status bdml_make_voters(bdml_handle *h, const bdml_model *model,
                                      const bdml_dataset *train, bdml_voters **out);
BDML_API int bdml_voters_classes(const bdml_voters *voters);
/* label: as of bdml_predict; share: as of bdml_predict_shares. One of them may be NULL. */
BDML_API bdml_status bdml_vote(bdml_handle *h, bdml_voters *voters, int64_t n, const double *x,
                               int64_t ld, int32_t *label, double *share);
BDML_API void bdml_free_voters(bdml_voters *voters);
/* Let the model keep these labelled points, in place of its own, to vote. A model without classes takes those
 * of the data. */
BDML_API bdml_status bdml_model_set_points(bdml_handle *h, bdml_model *model,
                                           const bdml_dataset *train);
BDML_API int64_t bdml_model_points(const bdml_model *model); /* kept to vote, 0 = none */
BDML_API const char *bdml_model_feature_name(const bdml_model *model, int j); /* or NULL */
BDML_API int bdml_model_classes(const bdml_model *model);
BDML_API const char *bdml_model_class_name(const bdml_model *model, int c);

/* Of models and of proofs alike. */
BDML_API bdml_status bdml_save_model(bdml_handle *h, const bdml_model *model, const char *path);
BDML_API bdml_status bdml_load_model(bdml_handle *h, const char *path, bdml_model **out);
/* To and from memory; *bytes is freed by bdml_free_bytes. */
BDML_API bdml_status bdml_save_model_bytes(bdml_handle *h, const bdml_model *model, void **bytes,
                                           size_t *size);
BDML_API bdml_status bdml_load_model_bytes(bdml_handle *h, const void *bytes, size_t size,
                                           bdml_model **out);
BDML_API void bdml_free_bytes(void *bytes);
/* The whole model, preparation included, for programs that serve vectors, in single precision. By the ending of the
 * name: .faiss (a LinearTransform that Faiss reads), .onnx (one Gemm, with rows brought to length 1 before it where
 * the model does that, and after it with unit 1), .safetensors (weight and bias of a linear layer). */
BDML_API bdml_status bdml_export_affine(bdml_handle *h, const bdml_model *model, int unit,
                                        const char *path);
/* what: "L", "M" or "inverse" (of L). Format by the ending of the name: .npy, .csv or .mat. */
BDML_API bdml_status bdml_export_model(bdml_handle *h, const bdml_model *model, const char *what,
                                       const char *path);

/* ---- certificates ---------------------------------------------------------------------------- */

/* Check the claim of a model or proof file (MODEL.proof) against the data it was learned from: an
 * independent checker in plain loops, which shares no code with the solver. Level by level (setting
 * "level"): the numbers hold for the problem in the file, that problem is what data and settings give,
 * training again gives the same model. *confirmed: 1 when nothing that was looked at fails and the level
 * asked for holds. *json: the level reached, the statement, the checks with their figures, and every field
 * of the model under "checked" or "not_checked"; freed by bdml_free_bytes. */
BDML_API bdml_status bdml_certify(bdml_handle *h, const char *path, const bdml_dataset *data,
                                  int *confirmed, char **json);
/* The same for a model or proof in memory. */
BDML_API bdml_status bdml_certify_model(bdml_handle *h, const bdml_model *model,
                                        const bdml_dataset *data, int *confirmed, char **json);
/* Write the claim of a model or proof, with the rows of the data that it is about, as text for the program
 * bdml-check and for checkers that others write (docs/certificate.md). */
BDML_API bdml_status bdml_export_certificate(bdml_handle *h, const bdml_model *model,
                                             const bdml_dataset *data, const char *path);

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Train and test the methods of the setting "methods" (or "method") side by side on the same splits,
 * by the settings of group "evaluate". *json: the result as JSON text, freed by bdml_free_bytes. */
BDML_API bdml_status bdml_evaluate(bdml_handle *h, const bdml_dataset *data, char **json);

/* What a model does to the neighbours of the rows of a corpus, asked for by the rows of `queries` (NULL: its own; of
 * more than 1000 so many at even distances): the most by which a ratio of two distances can change, and for the 1, 5,
 * 10 and 50 nearest the share that stays, at least (proven) and as counted. Distances before are those of the raw rows,
 * at length 1 where the model scales them so; of the prepared rows, where they are scaled or mapped by PCA; and of the rows
 * under the reference that the cap is relative to, where there is one. *json: as above. */
BDML_API bdml_status bdml_drift(bdml_handle *h, const bdml_model *model, const bdml_dataset *corpus,
                                const bdml_dataset *queries, char **json);

/* Does a metric help where it was not trained? Splits of the classes by the settings splits and unseen-share; the methods of
 * the setting "methods" (or "method"), and method bdml at each distortion of the setting "grid" where that is given, are
 * trained on rows of the seen classes. Measured is retrieval, each row looking for its class among the other rows:
 * those of the unseen classes, and those of the seen ones that training left out (test-fraction), against the space
 * as it is (method euclidean). With the setting unseen = rows it is rows of every class that training leaves out, which
 * look among those trained on. *json: recall, precision, mAP@R, ... as JSON text, freed by bdml_free_bytes. */
BDML_API bdml_status bdml_retrieve(bdml_handle *h, const bdml_dataset *data, char **json);
/* The same of queries that look for documents. The file `relevant` has lines query,document or query,document,grade:
 * row numbers from 0 of either, a grade above 0 (1). Each split learns from some queries that have lines and from all
 * documents, by pairs and triplets that are mined as for the setting relevant-file; the others, test-fraction of them,
 * are the unseen, those learned from the seen; both look among all documents. Labels are not looked at. */
BDML_API bdml_status bdml_retrieve_queries(bdml_handle *h, const bdml_dataset *queries,
                                           const bdml_dataset *corpus, const char *relevant,
                                           char **json);

/* Learn on one domain, classify another, by the settings of group "adapt": the methods of the setting
 * "methods" (or "method") side by side on the same splits. Both need labels: those of the target are
 * looked at to score, and where the setting "semi" says so, to learn from the few rows of a split. *json:
 * accuracies and the rest as JSON text, freed by bdml_free_bytes. */
BDML_API bdml_status bdml_adapt(bdml_handle *h, const bdml_dataset *source,
                                const bdml_dataset *target, char **json);

/* Go through the distortions K of the setting "grid", each solve from the one before: per K the bracket
 * on the optimum and kappa on all rows, training, cross-validated and test error over random splits, and
 * the K that cross-validation picks; then whether the test error falls and rises with ln kappa.
 * Settings as in training (reference auto: zscore) and splits, test-fraction, stratify, se-rule.
 * *json: the result as JSON text, freed by bdml_free_bytes. */
BDML_API bdml_status bdml_path(bdml_handle *h, const bdml_dataset *data, char **json);
/* Whether the settings fit a path: to be told before the data are read. */
BDML_API bdml_status bdml_check_path(bdml_handle *h);

/* Verification: which pairs of rows are the same? The labelled pairs of the setting pairs-file are
 * split into folds (its fold column, or the setting "folds" at random); each fold is tested with a
 * metric and a threshold learned on the pairs of the others, for each of the setting "methods".
 * *json: accuracy, ROC and the rest as JSON text, freed by bdml_free_bytes. */
BDML_API bdml_status bdml_verify(bdml_handle *h, const bdml_dataset *data, char **json);
/* The same with pairs in memory instead of the setting pairs-file; they need answers. */
BDML_API bdml_status bdml_verify_pairs(bdml_handle *h, const bdml_dataset *data,
                                       const bdml_labelled_pairs *pairs, char **json);

/* The certified engine and the paper's algorithm in its forms on one problem, that of the settings with hard
 * margins: outcome, kappa, misses, objective and proven bound of each. *json: as above. */
BDML_API bdml_status bdml_compare_solvers(bdml_handle *h, const bdml_dataset *data, char **json);

/* Two methods on the same splits: errors a and b of each. ratio: test rows over training rows for random
 * splits, which share rows (the correction of Nadeau and Bengio 2003); 0 for folds: the plain paired t-test. */
typedef struct bdml_paired {
    double difference;      /* mean of a - b: below 0 when a is better */
    double error;           /* its standard error as if the splits were independent */
    double error_corrected; /* of Nadeau and Bengio: random splits share their rows */
    double t, degrees, p;   /* two-sided; NaN with one split */
    int wins, ties, losses; /* of a */
} bdml_paired;
BDML_API bdml_paired bdml_compare_paired(int n, const double *a, const double *b, double ratio);

#ifdef __cplusplus
}
#endif
#endif
