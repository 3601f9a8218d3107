/* reference.c - reference metrics: p = R x, distortion is bounded relative to R'R.
 *
 *     zscore       R = diag(1/std_j), rows of constant columns left out
 *     within       R = S^(-1/2) diag(1/std_j),  S = (1-s) Sw + s (tr Sw / r) I
 *     within-raw   R = S^(-1/2), of the points as they are
 *     shrunk-p     within-raw with s = p / 100: the larger, the nearer to the points as they are
 *     fisher-f     R = (I + (sqrt(f) - 1) P) S^(-1/2) diag(1/std_j),  P the projection onto the span of
 *                  the class means after whitening: Fisher's discriminants, with the other directions
 *                  kept at a smaller size instead of dropped; fisher: f = 20, lda: f = 1e6, so small
 *                  that even the nearest neighbours of many thousand points are told by the discriminants
 *     local        R = L diag(1/std_j), L stretched where near rows of other classes are farther away than near rows of
 *                  the same class (local.c); local-60: with what is outside the diagonal of their scatters times 0.4
 *
 * with Sw the within-class covariance of the points that are whitened and s, but for shrunk-p, the setting "shrinkage" where
 * that is given, else the intensity of Ledoit and Wolf (2004), which falls as the points grow in number. */
#include "train/plan.h"

#include <float.h>
#include <stdlib.h>
#include <unistd.h>

#include "linalg/linalg.h"

const char *const bdml_reference_names[BDML_REFERENCE_KINDS] = {
    "none",      "zscore",    "within",   "within-raw", "shrunk-10",  "shrunk-30",
    "shrunk-60", "shrunk-90", "fisher-5", "fisher",     "fisher-100", "fisher-1000",
    "lda",       "local",     "local-60", "file"};

/* How the kinds are made. */
static const struct {
    bdml_reference_family family;
    bool scale;     /* z-score first */
    double stretch; /* squared lengths along the discriminants count this many times those across */
    double shrinkage; /* of its own; 0: as the settings say */
    double across;    /* local: share of what is outside the diagonal of the scatters that counts */
} kinds[BDML_REFERENCE_KINDS] = {
    [BDML_REFERENCE_NONE] = {BDML_FAMILY_NONE, false, 1.0, 0.0, 1.0},
    [BDML_REFERENCE_ZSCORE] = {BDML_FAMILY_ZSCORE, true, 1.0, 0.0, 1.0},
    [BDML_REFERENCE_WITHIN] = {BDML_FAMILY_WITHIN, true, 1.0, 0.0, 1.0},
    [BDML_REFERENCE_WITHIN_RAW] = {BDML_FAMILY_WITHIN, false, 1.0, 0.0, 1.0},
    [BDML_REFERENCE_SHRUNK_10] = {BDML_FAMILY_WITHIN, false, 1.0, 0.1, 1.0},
    [BDML_REFERENCE_SHRUNK_30] = {BDML_FAMILY_WITHIN, false, 1.0, 0.3, 1.0},
    [BDML_REFERENCE_SHRUNK_60] = {BDML_FAMILY_WITHIN, false, 1.0, 0.6, 1.0},
    [BDML_REFERENCE_SHRUNK_90] = {BDML_FAMILY_WITHIN, false, 1.0, 0.9, 1.0},
    [BDML_REFERENCE_FISHER_5] = {BDML_FAMILY_FISHER, true, 5.0, 0.0, 1.0},
    [BDML_REFERENCE_FISHER] = {BDML_FAMILY_FISHER, true, 20.0, 0.0, 1.0},
    [BDML_REFERENCE_FISHER_100] = {BDML_FAMILY_FISHER, true, 100.0, 0.0, 1.0},
    [BDML_REFERENCE_FISHER_1000] = {BDML_FAMILY_FISHER, true, 1000.0, 0.0, 1.0},
    [BDML_REFERENCE_LDA] = {BDML_FAMILY_FISHER, true, 1e6, 0.0, 1.0},
    [BDML_REFERENCE_LOCAL] = {BDML_FAMILY_LOCAL, true, 1.0, 0.0, 1.0},
    [BDML_REFERENCE_LOCAL_60] = {BDML_FAMILY_LOCAL, true, 1.0, 0.0, 0.4},
    [BDML_REFERENCE_FILE] = {BDML_FAMILY_NONE, false, 1.0, 0.0, 1.0},
};

bdml_reference_family bdml_reference_family_of(bdml_reference_kind kind)
{
    return kinds[kind].family;
}

bdml_reference_kind bdml_reference_named(const char *name)
{
    for (int k = 0; k < BDML_REFERENCE_FILE; k++)
        if (strcmp(name, bdml_reference_names[k]) == 0) return (bdml_reference_kind)k;
    return BDML_REFERENCE_FILE;
}

void bdml_reference_free(bdml_reference *r)
{
    free(r->map);
    free(r->shift);
    memset(r, 0, sizeof *r);
}

/* ---- maps ------------------------------------------------------------------------------------------------- */

bdml_status bdml_map_metric(bdml_handle *h, int r, const double *m, int *q, double **l)
{
    bdml_status status = BDML_OK;
    double *eye = NULL, kappa;
    if (!m) {
        BDML_NEW(h, eye, (size_t)r * (size_t)r);
        for (int j = 0; j < r; j++) COL(eye, r, j)[j] = 1.0;
    }
    status = bdml_metric_factor(h, r, m ? m : eye, q, l, &kappa);
done:
    free(eye);
    return status;
}

bdml_status bdml_map_points(bdml_handle *h, int q, int d, const double *l, int64_t n,
                            const double *x, double **z)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    BDML_NEW(h, *z, (size_t)n * (size_t)q);
    BDML_NEW(h, ws, bdml_la_map_size(q, d));
    bdml_la_map_rows(h, q, d, l, n, x, d, *z, ws);
done:
    free(ws);
    return status;
}

/* ---- kinds ------------------------------------------------------------------------------------------------ */

/* S^(-1/2) of the points with the columns as they are or z-scored, stretched along the discriminants. */
static bdml_status make_whitened(bdml_handle *h, const bdml_method_options *o,
                                 const bdml_training *t, bdml_whitening *w, bdml_reference *r)
{
    bool scale = kinds[r->kind].scale;
    if (kinds[r->kind].family == BDML_FAMILY_FISHER)
        return bdml_whitening_stretched(h, o, t, w, kinds[r->kind].stretch, &r->rows, &r->map);
    return bdml_whitening_map(h, o, t, w, scale, kinds[r->kind].shrinkage, &r->rows, &r->map);
}

/* ---- from a file, or the caller ---------------------------------------------------------------------------- */

/* "auto, none, zscore, ...": what a reference may be called. */
static void list_names(char *list, size_t size)
{
    size_t used = (size_t)snprintf(list, size, "auto");
    for (int k = 0; k < BDML_REFERENCE_FILE && used < size; k++)
        used += (size_t)snprintf(list + used, size - used, ", %s", bdml_reference_names[k]);
}

static bdml_status no_such_name(bdml_handle *h, const char *path)
{
    char list[256];
    list_names(list, sizeof list);
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "reference must be one of %s, or a file that can be read, got '%.200s'", list,
                     path);
}

bdml_status bdml_reference_read(bdml_handle *h, const char *path, bdml_reference *out)
{
    bdml_model *model = NULL;
    bdml_dataset *matrix = NULL;
    bdml_status status;

    *out = (bdml_reference){.kind = BDML_REFERENCE_FILE};
    if (access(path, R_OK) != 0) return no_such_name(h, path);
    if (bdml_load_model(h, path, &model) == BDML_OK) {
        status = bdml_model_need_map(h, model);
        out->rows = model->q;
        out->columns = model->d;
        out->map = model->l;
        model->l = NULL;
        bdml_free_model(model);
        return status;
    }
    status = bdml_matrix_read(h, path, &matrix);
    if (status != BDML_OK) return bdml_fail_context(h, status, "reference");
    if (matrix->n > matrix->d) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%s: a reference map has at most as many rows as columns; this one is "
                           "%lld x %d",
                           path, (long long)matrix->n, matrix->d);
    } else {
        out->rows = (int)matrix->n;
        out->columns = matrix->d;
        out->map = matrix->x;
        matrix->x = NULL;
    }
    bdml_free_dataset(matrix);
    return status;
}

bdml_status bdml_reference_given(bdml_handle *h, const bdml_given_map *given, bdml_reference *out)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)given->rows * (size_t)given->columns;
    char list[256];

    list_names(list, sizeof list);
    *out = (bdml_reference){BDML_REFERENCE_FILE, given->rows, given->columns, NULL, NULL};
    if (!given->map)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "reference is 'given', but no map was: call bdml_set_reference, or name "
                         "one of %s",
                         list);
    BDML_NEW(h, out->map, size);
    memcpy(out->map, given->map, sizeof *out->map * size);
done:
    return status;
}

static bdml_status copy_file(bdml_handle *h, const bdml_reference *file, int d, bdml_reference *out)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)file->rows * (size_t)file->columns;
    if (file->columns != d)
        return bdml_fail(h, BDML_ERR_DATA,
                         "reference: the map is for %d dimensions, the prepared points have %d",
                         file->columns, d);
    out->rows = file->rows;
    BDML_NEW(h, out->map, size);
    memcpy(out->map, file->map, sizeof *out->map * size);
done:
    return status;
}

/* ---- all kinds -------------------------------------------------------------------------------------------- */

static bdml_status make(bdml_handle *h, const bdml_method_options *o, const bdml_reference *file,
                        const bdml_training *t, bdml_whitening *w, bdml_reference *out)
{
    bdml_reference_family family = kinds[out->kind].family;
    if (out->kind == BDML_REFERENCE_NONE) return BDML_OK;
    if (out->kind == BDML_REFERENCE_FILE)
        BDML_TRY(copy_file(h, file, t->d, out));
    else if (family == BDML_FAMILY_ZSCORE)
        BDML_TRY(bdml_whitening_columns(h, t, w, &out->rows, &out->map));
    else if (family == BDML_FAMILY_LOCAL)
        BDML_TRY(bdml_whitening_local(h, t, w, kinds[out->kind].across, &out->rows, &out->map));
    else
        BDML_TRY(make_whitened(h, o, t, w, out));
    return bdml_whitening_shift(h, t, w, &out->shift);
}

bdml_status bdml_reference_make(bdml_handle *h, const bdml_method_options *o,
                                bdml_reference_kind kind, const bdml_reference *file,
                                const bdml_training *t, bdml_whitening *shared, bdml_reference *out)
{
    bdml_whitening own;

    *out = (bdml_reference){.kind = kind, .rows = t->d, .columns = t->d};
    bool labels =
        kinds[kind].family == BDML_FAMILY_FISHER || kinds[kind].family == BDML_FAMILY_LOCAL;
    if (labels && !t->y)
        return bdml_fail(h, BDML_ERR_DATA, "reference %s needs labels", bdml_reference_names[kind]);
    if (!shared) bdml_whitening_init(&own);
    bdml_status status = make(h, o, file, t, shared ? shared : &own, out);
    if (!shared) bdml_whitening_free(&own);
    if (status != BDML_OK) bdml_reference_free(out);
    return status;
}

/* map (x - shift) */
static bdml_status map_shifted(bdml_handle *h, const bdml_reference *r, int64_t n, const double *x,
                               double **out)
{
    size_t d = (size_t)r->columns;
    double *moved = bdml_alloc(h, (size_t)n * d, sizeof *moved);
    if (!moved) return BDML_ERR_MEMORY;
    for (size_t i = 0; i < (size_t)n; i++)
        for (size_t j = 0; j < d; j++) moved[i * d + j] = x[i * d + j] - r->shift[j];
    bdml_status status = bdml_map_points(h, r->rows, r->columns, r->map, n, moved, out);
    free(moved);
    return status;
}

bdml_status bdml_reference_apply(bdml_handle *h, const bdml_reference *r, int64_t n,
                                 const double *x, const double **p, double **own)
{
    *own = NULL;
    *p = x;
    if (!r->map) return BDML_OK;
    bdml_status status = r->shift ? map_shifted(h, r, n, x, own)
                                  : bdml_map_points(h, r->rows, r->columns, r->map, n, x, own);
    *p = *own;
    return status;
}

bdml_status bdml_reference_after(bdml_handle *h, bdml_reference *r, int q, int d, const double *Q)
{
    bdml_status status = BDML_OK;
    double *map = NULL;
    BDML_NEW(h, map, (size_t)r->rows * (size_t)d);
    if (r->map) /* as columns: map' = Q' R' */
        bdml_la_gemm('N', 'N', d, r->rows, q, 1.0, Q, d, r->map, q, 0.0, map, d);
    else
        memcpy(map, Q, sizeof *map * (size_t)q * (size_t)d);
    free(r->map);
    r->map = map;
    r->columns = d;
done:
    return status;
}
