/* model.h - the learned metric: apply, save, load, export.
 *
 * Called by train, evaluate, report, cli; calls data, neighbors, linalg, base. */
#ifndef BDML_MODEL_H
#define BDML_MODEL_H

#include <jansson.h>

#include "data/data.h"

/* A JSON string; bytes of text that is not UTF-8 become '?'. NULL: out of memory. */
json_t *bdml_json_text(const char *s);
/* Append to a list, or set a member of an object, taking the value over. When memory is out *list or *object
 * is freed and NULL from then on, so that no result is short of something: packed into another value or
 * written out, NULL is an error. */
void bdml_json_push(json_t **list, json_t *value);
void bdml_json_put(json_t **object, const char *key, json_t *value);
json_t *bdml_json_real(double v); /* null unless finite */
/* Word number `index` of a list "a|b|c" (choices.h). */
json_t *bdml_json_word(const char *choices, int index);
/* As json_dumps, which may leave characters out when memory is out: this is NULL then. Freed by free. */
char *bdml_json_dump(const json_t *value, size_t flags);

/* ---- container (container.c): the file format of models, proofs and checkpoints ------------------- */

/*
 *   offset  bytes  content, all little-endian
 *   0       8      magic "BDMLFILE"
 *   8       2      major version (a reader refuses a newer one)
 *   10      2      minor version
 *   12      4      zero
 *   16      8      H, bytes of the JSON header
 *   24      8      total bytes of the file
 *   32      H      JSON header, UTF-8; key "arrays": [{name, type, shape, offset, bytes}]
 *   ..             arrays, each at a multiple of 64 bytes
 *   end-4   4      CRC-32 of everything before
 *
 * Types: "f8" (double), "i4" (int32), "u1" (bytes). */
typedef struct bdml_container bdml_container;

bdml_status bdml_container_new(bdml_handle *h, bdml_container **out);
void bdml_container_free(bdml_container *c);
json_t *bdml_container_header(bdml_container *c); /* borrowed; the writer's own keys go in here */
const char *bdml_container_array(const bdml_container *c, size_t k); /* name of array k, or NULL */
/* Arrays are borrowed until the container is written. rows x columns; columns 0: a vector. */
bdml_status bdml_container_put_f8(bdml_handle *h, bdml_container *c, const char *name, int64_t rows,
                                  int64_t columns, const double *data);
bdml_status bdml_container_put_i4(bdml_handle *h, bdml_container *c, const char *name, int64_t rows,
                                  int64_t columns, const int32_t *data);
/* Copy out an array; *data is the caller's. Absent: *data = NULL, BDML_OK. Shape is checked where
 * rows or columns are given as >= 0. BDML_ERR_FORMAT otherwise. */
bdml_status bdml_container_get_f8(bdml_handle *h, const bdml_container *c, const char *name,
                                  int64_t *rows, int64_t *columns, double **data);
bdml_status bdml_container_get_i4(bdml_handle *h, const bdml_container *c, const char *name,
                                  int64_t *rows, int64_t *columns, int32_t **data);
bdml_status bdml_container_save(bdml_handle *h, bdml_container *c, const char *path);
bdml_status bdml_container_load(bdml_handle *h, const char *path, bdml_container **out);
bdml_status bdml_container_to_bytes(bdml_handle *h, bdml_container *c, void **bytes, size_t *size);
bdml_status bdml_container_from_bytes(bdml_handle *h, const void *bytes, size_t size,
                                      const char *name, bdml_container **out);

/* ---- model (model.c) -------------------------------------------------------------------------------- */

/* How alike two points are, larger = more alike (score.c). x, y: prepared. */
typedef enum bdml_score_kind {
    BDML_SCORE_DISTANCE,  /* -|Lx - Ly|^2 */
    BDML_SCORE_COSINE,    /* cosine of the angle between Lx and Ly */
    BDML_SCORE_SIMILARITY /* x'Gy - |Lx - Ly|^2 */
} bdml_score_kind;

/* The score from which on a pair is called the same, and how well that did on the pairs it was found on. */
typedef struct bdml_calibration {
    bool known;
    double threshold;
    double accuracy; /* percent */
    int64_t pairs;
} bdml_calibration;

/* The square of a larger number leaves the range of double precision. */
#define BDML_LONGEST 1e150

struct bdml_model {
    bdml_prepare prepare;
    int d, q;     /* prepared dimension; rows of L */
    double *l;    /* q rows of d */
    double kappa; /* of M = L'L; infinite when singular */
    int classes;
    char **class_name;
    char **feature_name; /* prepare.d_in of them, or NULL */
    int64_t points;      /* mapped training points kept for k-NN, 0 = none */
    double *z;           /* points rows of q */
    int32_t *y;
    bdml_score_kind score;
    double *similarity; /* G, d x d symmetric, of BDML_SCORE_SIMILARITY; else NULL */
    bdml_calibration calibration;
    json_t *info; /* method, settings, fingerprint, times, certificate: grows with the methods */
    struct bdml_evidence *evidence; /* what the solver can prove, or NULL (evidence.h) */
    _Atomic(char *) description;    /* info and shape as JSON text, made on demand */
};

/* A model with everything but L: the preparation is taken over (moved), names copied from data. */
bdml_status bdml_model_new(bdml_handle *h, const bdml_dataset *data, bdml_prepare *prepare, int q,
                           bdml_model **out);
/* M (d x d, symmetric PSD) = L'L: *out = L has `rank` rows, by descending eigenvalue; the caller's to
 * free. */
bdml_status bdml_metric_factor(bdml_handle *h, int d, const double *m, int *rank, double **out,
                               double *kappa);
/* The same into the model. */
bdml_status bdml_model_set_metric(bdml_handle *h, bdml_model *model, const double *m);
/* L (q x model->d rows) is copied; kappa computed from it. */
bdml_status bdml_model_set_map(bdml_handle *h, bdml_model *model, int q, const double *l);
/* BDML_ERR_ARGUMENT for a proof of infeasibility: it has no map to apply. */
bdml_status bdml_model_need_map(bdml_handle *h, const bdml_model *model);
/* a, q rows of the input dimension, and b, q numbers: the image of a raw point x is a x + b, or a x/|x| + b where the
 * model scales rows to length 1 (linear.c). The model has a map. */
void bdml_model_affine(const bdml_model *model, double *a, double *b);
/* The same of this preparation and a map l after it, q rows of p->d_out. */
void bdml_prepare_affine(const bdml_prepare *p, int q, const double *l, double *a, double *b);
/* Rows come out the same, to the bit (convert.c). */
bool bdml_prepare_same(const bdml_prepare *a, const bdml_prepare *b);
/* Map the prepared training points and keep them, unless `keep` is no, or auto and they are many. x: those of this rank where they
 * are dealt out, else all n. */
bdml_status bdml_model_keep_points(bdml_handle *h, bdml_yes_no_auto keep, bdml_model *model,
                                   const bdml_spread *over, int64_t n, const bdml_rows *rows,
                                   const int32_t *y);

/* Into the description under `key`, taking the value over; BDML_ERR_MEMORY also when value is NULL. */
bdml_status bdml_model_tell(bdml_handle *h, bdml_model *model, const char *key, json_t *value);

/* Into the description: how far each feature spreads in the training data, for bdml_model_feature_weights. */
bdml_status bdml_model_tell_spread(bdml_handle *h, bdml_model *model, const bdml_dataset *data);

/* Header and arrays as they stand in a file (store.c), and what bdml_model_describe tells. */
bdml_status bdml_model_json(bdml_handle *h, const bdml_model *model, json_t **out);

/* The same in a container, ready to be written; arrays are borrowed from the model. */
bdml_status bdml_model_pack(bdml_handle *h, const bdml_model *model, bdml_container **out);

/* ---- applying (apply.c) ------------------------------------------------------------------------------- */

/* z = L x for n prepared rows. */
bdml_status bdml_model_map(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           double *z);
/* bdml_transform of rows that are those from `first` on of something longer: so errors name them. */
bdml_status bdml_transform_at(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                              int64_t ld, int64_t first, double *z);
/* A scored pair, and the list of `count` > 0 of them, largest scores first, with how many are the same (same
 * not 0). The list is the caller's to free, also after an error. */
typedef struct bdml_scored {
    double score;
    bool same;
} bdml_scored;
bdml_status bdml_sort_scores(bdml_handle *h, int64_t count, const double *score,
                             const int32_t *same, bdml_scored **list, int64_t *sames);
/* The threshold of most pairs right, a score at or above it meaning "same": the first of equals from
 * above, halfway between two scores. count > 0 scores, same 1 or 0. */
bdml_status bdml_find_threshold(bdml_handle *h, int64_t count, const double *score,
                                const int32_t *same, bdml_calibration *out);
/* "distance", "cosine", "similarity" */
extern const char *const bdml_score_names[];

/* bdml_predict under these settings (predict.c). */
bdml_status bdml_predict_with(bdml_handle *h, const bdml_neighbor_options *o,
                              const bdml_model *model, const bdml_dataset *train, int64_t n,
                              const double *x, int64_t ld, int32_t *label);

/* Rows to work on at once within the setting "memory", when a row costs so many bytes. */
int64_t bdml_model_block(const bdml_handle *h, size_t bytes_per_row);

#endif
