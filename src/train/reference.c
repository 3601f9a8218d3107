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
 *
 * with Sw the within-class covariance of the points that are whitened and s, but for shrunk-p, the setting "shrinkage" where
 * that is given, else the intensity of Ledoit and Wolf (2004), which falls as the points grow in number. */
#include "train/plan.h"

#include <float.h>
#include <stdlib.h>
#include <unistd.h>

#include "linalg/linalg.h"

const char *const bdml_reference_names[BDML_REFERENCE_KINDS] = {
    "none",      "zscore",   "within", "within-raw", "shrunk-10",   "shrunk-30", "shrunk-60",
    "shrunk-90", "fisher-5", "fisher", "fisher-100", "fisher-1000", "lda",       "file"};

/* How the kinds are made. */
static const struct {
    bdml_reference_family family;
    bool scale;     /* z-score first */
    double stretch; /* squared lengths along the discriminants count this many times those across */
    double shrinkage; /* of its own; 0: as the settings say */
} kinds[BDML_REFERENCE_KINDS] = {
    [BDML_REFERENCE_NONE] = {BDML_FAMILY_NONE, false, 1.0, 0.0},
    [BDML_REFERENCE_ZSCORE] = {BDML_FAMILY_ZSCORE, true, 1.0, 0.0},
    [BDML_REFERENCE_WITHIN] = {BDML_FAMILY_WITHIN, true, 1.0, 0.0},
    [BDML_REFERENCE_WITHIN_RAW] = {BDML_FAMILY_WITHIN, false, 1.0, 0.0},
    [BDML_REFERENCE_SHRUNK_10] = {BDML_FAMILY_WITHIN, false, 1.0, 0.1},
    [BDML_REFERENCE_SHRUNK_30] = {BDML_FAMILY_WITHIN, false, 1.0, 0.3},
    [BDML_REFERENCE_SHRUNK_60] = {BDML_FAMILY_WITHIN, false, 1.0, 0.6},
    [BDML_REFERENCE_SHRUNK_90] = {BDML_FAMILY_WITHIN, false, 1.0, 0.9},
    [BDML_REFERENCE_FISHER_5] = {BDML_FAMILY_FISHER, true, 5.0, 0.0},
    [BDML_REFERENCE_FISHER] = {BDML_FAMILY_FISHER, true, 20.0, 0.0},
    [BDML_REFERENCE_FISHER_100] = {BDML_FAMILY_FISHER, true, 100.0, 0.0},
    [BDML_REFERENCE_FISHER_1000] = {BDML_FAMILY_FISHER, true, 1000.0, 0.0},
    [BDML_REFERENCE_LDA] = {BDML_FAMILY_FISHER, true, 1e6, 0.0},
    [BDML_REFERENCE_FILE] = {BDML_FAMILY_NONE, false, 1.0, 0.0},
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

/* The columns that are not constant, each over its standard deviation when `scale`. */
static bdml_status make_columns(bdml_handle *h, const bdml_training *t, bool scale,
                                bdml_reference *r)
{
    bdml_status status = BDML_OK;
    const bdml_rows points = bdml_training_rows(t);
    bdml_prepare p = {.d_in = t->d, .d_out = t->d, .scale = BDML_SCALE_ZSCORE};
    int rows = 0;

    BDML_GO(bdml_prepare_widths(h, &points, NULL, &p));
    for (int j = 0; j < t->d; j++) rows += isfinite(p.width[j]);
    if (rows == 0) {
        status = bdml_fail(h, BDML_ERR_DATA, "every column is constant: there is nothing to learn");
        goto done;
    }
    BDML_NEW(h, r->map, (size_t)rows * (size_t)t->d);
    r->rows = 0;
    for (int j = 0; j < t->d; j++)
        if (isfinite(p.width[j])) COL(r->map, t->d, r->rows++)[j] = scale ? 1.0 / p.width[j] : 1.0;
done:
    bdml_prepare_free(&p);
    return status;
}

/* Less is not taken: directions without any variance inside the classes must stay finite. */
static const double LEAST_SHRINKAGE = 1e-3;

/* Ledoit and Wolf (2004): the s that makes (1-s) S + s (tr S / r) I the nearest to the covariance that the
 * points were drawn from, estimated by
 *
 *     s = (1/n) (mean |z_i|^4 - |S|^2) / |S - (tr S / r) I|^2,   z_i = p_i less the mean of its class. */
static bdml_status ledoit_wolf(bdml_handle *h, const bdml_training *t, const double *s, double *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d, n = (size_t)t->n, classes = t->y ? (size_t)t->classes : 1;
    const bdml_rows rows = bdml_training_rows(t);
    double *mean = NULL, fourth = 0.0, trace = 0.0, square = 0.0;
    int64_t *count = NULL;

    BDML_NEW(h, mean, classes * d);
    BDML_NEW(h, count, classes);
    bdml_class_means(&rows, count, mean, NULL);
    for (size_t i = 0; i < n; i++) {
        const double *m = mean + (t->y ? (size_t)t->y[i] : 0) * d, *x = t->x + i * d;
        double length = 0.0;
        for (size_t j = 0; j < d; j++) length += (x[j] - m[j]) * (x[j] - m[j]);
        fourth += length * length / (double)n;
    }
    for (size_t j = 0; j < d; j++) trace += s[j * d + j];
    for (size_t e = 0; e < d * d; e++) square += s[e] * s[e];
    double apart = square - trace * trace / (double)d, noise = (fourth - square) / (double)n;
    *out = apart > 0.0 ? BDML_MIN(BDML_MAX(noise / apart, LEAST_SHRINKAGE), 1.0) : 1.0;
done:
    free(mean);
    free(count);
    return status;
}

/* That of the kind, as set, or by Ledoit and Wolf where S comes from the points. */
static bdml_status shrinkage_of(bdml_handle *h, const bdml_method_options *o,
                                bdml_reference_kind kind, const bdml_training *t, const double *s,
                                double *shrinkage)
{
    double own = kinds[kind].shrinkage;
    *shrinkage = own > 0.0 ? own : o->shrinkage.value;
    if (own > 0.0 || o->shrinkage.given || t->constraints) return BDML_OK;
    return ledoit_wolf(h, t, s, shrinkage);
}

/* map <- C C' map, C n x n for the n rows of the map. */
static bdml_status multiply(bdml_handle *h, const double *c, bdml_reference *r)
{
    bdml_status status = BDML_OK;
    int n = r->rows, d = r->columns;
    double *square = NULL, *map = NULL;

    BDML_NEW(h, square, (size_t)n * (size_t)n);
    BDML_NEW(h, map, (size_t)n * (size_t)d);
    bdml_la_gemm('N', 'T', n, n, n, 1.0, c, n, c, n, 0.0, square, n);
    bdml_la_gemm('N', 'N', d, n, n, 1.0, r->map, d, square, n, 0.0, map, d);
    free(r->map);
    r->map = map;
done:
    free(square);
    return status;
}

/* Multiply the map of the columns by S^(-1/2) of the points under it. */
static bdml_status make_within(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_reference *r)
{
    bdml_status status = BDML_OK;
    double shrinkage, trace = 0.0;
    double *p = NULL, *s = NULL, *lambda = NULL;
    bdml_eigh_ws ws = {0};

    BDML_GO(make_columns(h, t, kinds[r->kind].scale, r));
    int n = r->rows;
    BDML_GO(bdml_map_points(h, n, t->d, r->map, t->n, t->x, &p));
    BDML_NEW(h, s, (size_t)n * (size_t)n);
    BDML_NEW(h, lambda, n);
    BDML_GO(bdml_eigh_ws_init(h, n, &ws));
    bdml_training z = {t->n, n, p, t->y, t->classes, t->constraints, NULL};
    BDML_GO(bdml_within_covariance(h, &z, s));
    BDML_GO(shrinkage_of(h, o, r->kind, &z, s, &shrinkage));
    for (int j = 0; j < n; j++) trace += COL(s, n, j)[j];
    BDML_GO(bdml_la_eigh(h, n, s, lambda, true, &ws));
    double floor = BDML_MAX(shrinkage * trace / n, DBL_MIN);
    for (int j = 0; j < n; j++) { /* columns times the fourth root: (...)(...)' is S^(-1/2) */
        double w = pow((1.0 - shrinkage) * BDML_MAX(lambda[j], 0.0) + floor, -0.25);
        for (int i = 0; i < n; i++) COL(s, n, j)[i] *= w;
    }
    status = multiply(h, s, r);
done:
    bdml_eigh_ws_free(&ws);
    free(p);
    free(s);
    free(lambda);
    return status;
}

/* A direction with less than this share of the largest between-class variance is none. */
static const double NO_DIRECTION = 1e-9;

/* b = between-class covariance of the n rows of p (dimension r). */
static bdml_status between_covariance(bdml_handle *h, const bdml_training *t, int r,
                                      const double *p, double *b)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)r, classes = (size_t)t->classes;
    const bdml_rows rows = {t->n, r, r, p, t->y, t->classes};
    double *mean = NULL, *all = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, classes * d);
    BDML_NEW(h, all, d);
    BDML_NEW(h, count, classes);
    bdml_class_means(&rows, count, mean, all);
    memset(b, 0, d * d * sizeof *b);
    for (size_t c = 0; c < classes; c++) {
        if (count[c] == 0) continue;
        for (size_t j = 0; j < d; j++) mean[c * d + j] -= all[j];
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                b[i * d + j] += (double)count[c] / (double)t->n * mean[c * d + i] * mean[c * d + j];
    }
done:
    free(mean);
    free(all);
    free(count);
    return status;
}

/* Stretch the within map along the discriminants. */
static bdml_status make_fisher(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_reference *r)
{
    bdml_status status = BDML_OK;
    double *p = NULL, *b = NULL, *lambda = NULL;
    bdml_eigh_ws ws = {0};

    BDML_GO(make_within(h, o, t, r));
    int n = r->rows;
    BDML_GO(bdml_map_points(h, n, t->d, r->map, t->n, t->x, &p));
    BDML_NEW(h, b, (size_t)n * (size_t)n);
    BDML_NEW(h, lambda, n);
    BDML_GO(bdml_eigh_ws_init(h, n, &ws));
    BDML_GO(between_covariance(h, t, n, p, b));
    BDML_GO(bdml_la_eigh(h, n, b, lambda, true, &ws));
    for (int j = 0; j < n; j++) { /* as above: (...)(...)' has the square root */
        bool along = lambda[j] > NO_DIRECTION * lambda[n - 1];
        for (int i = 0; along && i < n; i++) COL(b, n, j)[i] *= pow(kinds[r->kind].stretch, 0.25);
    }
    status = multiply(h, b, r);
done:
    bdml_eigh_ws_free(&ws);
    free(p);
    free(b);
    free(lambda);
    return status;
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

/* Points that lie far from the origin lose the digits of their differences in the sums of a map: there the mean is
 * taken off first. */
static bdml_status find_shift(bdml_handle *h, const bdml_training *t, bdml_reference *r)
{
    static const double FAR = 1e4; /* times the spread */
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d, n = (size_t)t->n;
    double *mean = NULL;
    bool far = false;

    BDML_NEW(h, mean, d);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) mean[j] += t->x[i * d + j] / (double)n;
    for (size_t j = 0; j < d; j++) {
        double off = 0.0;
        for (size_t i = 0; i < n; i++) off = BDML_MAX(off, fabs(t->x[i * d + j] - mean[j]));
        far = far || fabs(mean[j]) > FAR * off;
    }
    if (far) {
        r->shift = mean;
        mean = NULL;
    }
done:
    free(mean);
    return status;
}

bdml_status bdml_reference_make(bdml_handle *h, const bdml_method_options *o,
                                bdml_reference_kind kind, const bdml_reference *file,
                                const bdml_training *t, bdml_reference *out)
{
    bdml_status status = BDML_OK;
    bdml_reference_family family = kinds[kind].family;

    *out = (bdml_reference){.kind = kind, .rows = t->d, .columns = t->d};
    if (family == BDML_FAMILY_FISHER && !t->y)
        return bdml_fail(h, BDML_ERR_DATA, "reference %s needs labels", bdml_reference_names[kind]);
    if (family == BDML_FAMILY_ZSCORE) status = make_columns(h, t, true, out);
    if (family == BDML_FAMILY_WITHIN) status = make_within(h, o, t, out);
    if (family == BDML_FAMILY_FISHER) status = make_fisher(h, o, t, out);
    if (kind == BDML_REFERENCE_FILE) status = copy_file(h, file, t->d, out);
    if (status == BDML_OK && out->map) status = find_shift(h, t, out);
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
