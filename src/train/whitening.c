/* whitening.c - what references that scale, whiten or stretch are made of, each step once for all kinds.
 *
 *     columns     D, rows of diag(1/std_j) or of the identity, without those of constant columns
 *     spread      V diag(l) V' = Sw of the points D x, tr Sw, and the shrinkage of Ledoit and Wolf
 *     along       U, eigenvectors of the between-class covariance of the whitened points, and which of them are discriminants
 *     shift       the mean, where the points lie far from the origin
 *
 * so that a kind costs two products of its own: R = S^(-1/2) D = (V w)(V w)' D with w the fourth root of 1 / ((1-s) l + s tr Sw / r),
 * and (U f)(U f)' S^(-1/2) D. */
#include "train/plan.h"

#include <float.h>
#include <stdlib.h>

#include "linalg/linalg.h"

/* Less is not taken: directions without any variance inside the classes must stay finite. */
static const double LEAST_SHRINKAGE = 1e-3;
/* A direction with less than this share of the largest between-class variance is none. */
static const double NO_DIRECTION = 1e-9;
/* Farther from the origin than this many times the spread is far. */
static const double FAR = 1e4;

void bdml_whitening_init(bdml_whitening *w)
{
    *w = (bdml_whitening){0};
    pthread_mutex_init(&w->lock, NULL);
}

void bdml_whitening_free(bdml_whitening *w)
{
    for (int scale = 0; scale < 2; scale++) {
        free(w->of[scale].columns);
        free(w->of[scale].vector);
        free(w->of[scale].lambda);
    }
    free(w->along);
    free(w->along_lambda);
    free(w->hits);
    free(w->misses);
    free(w->mean);
    pthread_mutex_destroy(&w->lock);
}

/* ---- columns ---------------------------------------------------------------------------------------------- */

/* The columns that are not constant, each over its standard deviation when `scale`. */
static bdml_status need_columns(bdml_handle *h, const bdml_training *t, bool scale,
                                bdml_variation *s)
{
    bdml_status status = BDML_OK;
    const bdml_rows points = bdml_training_rows(t);
    bdml_prepare p = {.d_in = t->d, .d_out = t->d, .scale = BDML_SCALE_ZSCORE};
    int rows = 0;

    if (s->columns) return BDML_OK;
    BDML_GO(bdml_prepare_widths(h, &points, t->over, NULL, &p));
    for (int j = 0; j < t->d; j++) rows += isfinite(p.width[j]);
    if (rows == 0)
        BDML_GO(bdml_fail(h, BDML_ERR_DATA, "every column is constant: there is nothing to learn"));
    BDML_NEW(h, s->columns, (size_t)rows * (size_t)t->d);
    s->rows = 0;
    for (int j = 0; j < t->d; j++)
        if (isfinite(p.width[j]))
            COL(s->columns, t->d, s->rows++)[j] = scale ? 1.0 / p.width[j] : 1.0;
done:
    bdml_prepare_free(&p);
    return status;
}

/* ---- spread ------------------------------------------------------------------------------------------------ */

/* Ledoit and Wolf (2004): the s that makes (1-s) S + s (tr S / r) I the nearest to the covariance that the
 * points were drawn from, estimated by
 *
 *     s = (1/n) (mean |z_i|^4 - |S|^2) / |S - (tr S / r) I|^2,   z_i = p_i less the mean of its class. */
static bdml_status ledoit_wolf(bdml_handle *h, const bdml_training *t, const double *s, double *out)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d, n = (size_t)t->n, classes = t->y ? (size_t)t->classes : 1;
    const bdml_rows rows = bdml_training_rows(t);
    double *mean = NULL, fourth = 0.0, rest = 0.0, trace = 0.0, square = 0.0;
    int64_t *count = NULL;
    bdml_scan scan = {0};

    BDML_NEW(h, mean, classes * d);
    BDML_NEW(h, count, classes);
    BDML_GO(bdml_class_means(h, &rows, t->over, count, mean, NULL));
    BDML_GO(bdml_scan_begin(h, &rows, &scan));
    while (bdml_scan_next(&scan))
        for (int64_t i = 0; i < scan.count; i++) {
            const double *m = mean + (rows.y ? (size_t)rows.y[scan.from + i] : 0) * d;
            const double *x = scan.x + (size_t)i * (size_t)scan.ld;
            double length = 0.0;
            for (size_t j = 0; j < d; j++) length += (x[j] - m[j]) * (x[j] - m[j]);
            bdml_twofold_add(&fourth, &rest, length * length);
        }
    BDML_GO(bdml_spread_twofold(h, t->over, 1, &fourth, &rest));
    fourth = (fourth + rest) / (double)n;
    for (size_t j = 0; j < d; j++) trace += s[j * d + j];
    for (size_t e = 0; e < d * d; e++) square += s[e] * s[e];
    double apart = square - trace * trace / (double)d, noise = (fourth - square) / (double)n;
    *out = apart > 0.0 ? BDML_MIN(BDML_MAX(noise / apart, LEAST_SHRINKAGE), 1.0) : 1.0;
done:
    bdml_scan_end(&scan);
    free(mean);
    free(count);
    return status;
}

/* Sw of the points with these columns, and its shrinkage: as set, or by Ledoit and Wolf where S comes from the points. */
static bdml_status need_spread(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bool scale, bdml_variation *s)
{
    bdml_status status = BDML_OK;
    double *vector = NULL, *lambda = NULL;
    const bdml_rows rows = bdml_training_rows(t);
    bdml_image image = {0};
    bdml_eigh_ws ws = {0};

    BDML_TRY(need_columns(h, t, scale, s));
    if (s->vector) return BDML_OK;
    int n = s->rows;
    BDML_GO(bdml_image_open(h, &rows, n, s->columns, NULL, false, &image));
    BDML_NEW(h, vector, (size_t)n * (size_t)n);
    BDML_NEW(h, lambda, n);
    BDML_GO(bdml_eigh_ws_init(h, n, &ws));
    bdml_training z = *t;
    z.d = n;
    z.x = image.rows.x;
    z.made = image.rows.made;
    BDML_GO(bdml_within_covariance(h, &z, vector));
    s->shrinkage = o->shrinkage.value;
    if (!o->shrinkage.given && !t->constraints) BDML_GO(ledoit_wolf(h, &z, vector, &s->shrinkage));
    s->trace = 0.0;
    for (int j = 0; j < n; j++) s->trace += COL(vector, n, j)[j];
    BDML_GO(bdml_la_eigh(h, n, vector, lambda, true, &ws));
    s->vector = vector;
    s->lambda = lambda;
    vector = lambda = NULL;
done:
    bdml_eigh_ws_free(&ws);
    bdml_image_close(&image);
    free(vector);
    free(lambda);
    return status;
}

/* ---- maps -------------------------------------------------------------------------------------------------- */

/* *out = C C' map, C n x n for the n rows of the map. */
static bdml_status multiply(bdml_handle *h, int n, int d, const double *c, const double *map,
                            double **out)
{
    bdml_status status = BDML_OK;
    double *square = NULL;

    BDML_NEW(h, square, (size_t)n * (size_t)n);
    BDML_NEW(h, *out, (size_t)n * (size_t)d);
    bdml_la_gemm('N', 'T', n, n, n, 1.0, c, n, c, n, 0.0, square, n);
    bdml_la_gemm('N', 'N', d, n, n, 1.0, map, d, square, n, 0.0, *out, d);
done:
    free(square);
    return status;
}

/* S^(-1/2) of the points under the columns, times the columns. */
static bdml_status whiten(bdml_handle *h, int d, const bdml_variation *s, double shrinkage,
                          double **map)
{
    bdml_status status = BDML_OK;
    int n = s->rows;
    double *c = NULL, floor = BDML_MAX(shrinkage * s->trace / n, DBL_MIN);

    BDML_NEW(h, c, (size_t)n * (size_t)n);
    for (int j = 0; j < n; j++) { /* columns times the fourth root: C C' is S^(-1/2) */
        double w = pow((1.0 - shrinkage) * BDML_MAX(s->lambda[j], 0.0) + floor, -0.25);
        for (int i = 0; i < n; i++) COL(c, n, j)[i] = COL(s->vector, n, j)[i] * w;
    }
    status = multiply(h, n, d, c, s->columns, map);
done:
    free(c);
    return status;
}

/* ---- discriminants ----------------------------------------------------------------------------------------- */

/* b = between-class covariance of p, the rows of t mapped. */
static bdml_status between_covariance(bdml_handle *h, const bdml_training *t, const bdml_rows *p,
                                      double *b)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)p->d, classes = (size_t)t->classes;
    double *mean = NULL, *all = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, classes * d);
    BDML_NEW(h, all, d);
    BDML_NEW(h, count, classes);
    BDML_GO(bdml_class_means(h, p, t->over, count, mean, all));
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

/* w->along, of the points under the whitening map. */
static bdml_status need_along(bdml_handle *h, const bdml_training *t, int n, const double *map,
                              bdml_whitening *w)
{
    bdml_status status = BDML_OK;
    double *b = NULL, *lambda = NULL;
    const bdml_rows rows = bdml_training_rows(t);
    bdml_image image = {0};
    bdml_eigh_ws ws = {0};

    if (w->along) return BDML_OK;
    BDML_GO(bdml_image_open(h, &rows, n, map, NULL, false, &image));
    BDML_NEW(h, b, (size_t)n * (size_t)n);
    BDML_NEW(h, lambda, n);
    BDML_GO(bdml_eigh_ws_init(h, n, &ws));
    BDML_GO(between_covariance(h, t, &image.rows, b));
    BDML_GO(bdml_la_eigh(h, n, b, lambda, true, &ws));
    w->along = b;
    w->along_lambda = lambda;
    b = lambda = NULL;
done:
    bdml_eigh_ws_free(&ws);
    bdml_image_close(&image);
    free(b);
    free(lambda);
    return status;
}

static bdml_status stretch_map(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_whitening *w, double stretch, int *rows, double **map)
{
    bdml_status status = BDML_OK;
    double *within = NULL, *c = NULL, root = pow(stretch, 0.25);
    bdml_variation *s = &w->of[1];

    BDML_GO(need_spread(h, o, t, true, s));
    BDML_GO(whiten(h, t->d, s, s->shrinkage, &within));
    int n = *rows = s->rows;
    BDML_GO(need_along(h, t, n, within, w));
    BDML_NEW(h, c, (size_t)n * (size_t)n);
    for (int j = 0; j < n; j++) { /* as above: C C' has the square root */
        double by = w->along_lambda[j] > NO_DIRECTION * w->along_lambda[n - 1] ? root : 1.0;
        for (int i = 0; i < n; i++) COL(c, n, j)[i] = COL(w->along, n, j)[i] * by;
    }
    status = multiply(h, n, t->d, c, within, map);
done:
    free(within);
    free(c);
    return status;
}

/* ---- shift -------------------------------------------------------------------------------------------------- */

/* Points that lie far from the origin lose the digits of their differences in the sums of a map: there the mean is
 * taken off first. */
static bdml_status need_shift(bdml_handle *h, const bdml_training *t, bdml_whitening *w)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    const bdml_rows rows = bdml_training_rows(t);
    double *mean = NULL, *off = NULL;
    bdml_scan s = {0};

    if (w->mean) return BDML_OK;
    BDML_NEW(h, mean, d);
    BDML_NEW(h, off, d);
    const bdml_comm *comm = t->over ? t->over->comm : &bdml_comm_serial;
    BDML_GO(bdml_scan_begin(h, &rows, &s));
    bdml_comm_chain_begin(comm, t->d, mean);
    while (bdml_scan_next(&s))
        for (int64_t i = 0; i < s.count; i++)
            for (size_t j = 0; j < d; j++) mean[j] += s.x[i * s.ld + (int64_t)j] / (double)t->n;
    bdml_comm_chain_end(comm, t->d, mean);
    bdml_scan_again(&s);
    while (bdml_scan_next(&s))
        for (int64_t i = 0; i < s.count; i++)
            for (size_t j = 0; j < d; j++)
                off[j] = BDML_MAX(off[j], fabs(s.x[i * s.ld + (int64_t)j] - mean[j]));
    bdml_spread_max(t->over, t->d, off);
    for (size_t j = 0; j < d; j++) w->far = w->far || fabs(mean[j]) > FAR * off[j];
    w->mean = mean;
    mean = NULL;
done:
    bdml_scan_end(&s);
    free(mean);
    free(off);
    return status;
}

/* ---- for all kinds ------------------------------------------------------------------------------------------ */

bdml_status bdml_whitening_columns(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                   int *rows, double **map)
{
    bdml_status status = BDML_OK;
    bdml_variation *s = &w->of[1];
    pthread_mutex_lock(&w->lock);
    BDML_GO(need_columns(h, t, true, s));
    size_t size = (size_t)s->rows * (size_t)t->d;
    BDML_NEW(h, *map, size);
    memcpy(*map, s->columns, sizeof **map * size);
    *rows = s->rows;
done:
    pthread_mutex_unlock(&w->lock);
    return status;
}

bdml_status bdml_whitening_map(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                               bdml_whitening *w, bool scale, double shrinkage, int *rows,
                               double **map)
{
    bdml_variation *s = &w->of[scale];
    pthread_mutex_lock(&w->lock);
    bdml_status status = need_spread(h, o, t, scale, s);
    pthread_mutex_unlock(&w->lock);
    if (status != BDML_OK) return status;
    *rows = s->rows;
    return whiten(h, t->d, s, shrinkage > 0.0 ? shrinkage : s->shrinkage, map);
}

bdml_status bdml_whitening_stretched(bdml_handle *h, const bdml_method_options *o,
                                     const bdml_training *t, bdml_whitening *w, double stretch,
                                     int *rows, double **map)
{
    pthread_mutex_lock(&w->lock);
    bdml_status status = stretch_map(h, o, t, w, stretch, rows, map);
    pthread_mutex_unlock(&w->lock);
    return status;
}

bdml_status bdml_whitening_local(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                 double across, int *rows, double **map)
{
    bdml_status status = BDML_OK;
    bdml_variation *s = &w->of[1];
    pthread_mutex_lock(&w->lock);
    BDML_GO(need_columns(h, t, true, s));
    *rows = s->rows;
    status = bdml_local_map(h, t, s->rows, s->columns, across, w, map);
done:
    pthread_mutex_unlock(&w->lock);
    return status;
}

bdml_status bdml_whitening_shift(bdml_handle *h, const bdml_training *t, bdml_whitening *w,
                                 double **shift)
{
    bdml_status status = BDML_OK;
    pthread_mutex_lock(&w->lock);
    BDML_GO(need_shift(h, t, w));
    if (w->far) {
        BDML_NEW(h, *shift, t->d);
        memcpy(*shift, w->mean, sizeof **shift * (size_t)t->d);
    }
done:
    pthread_mutex_unlock(&w->lock);
    return status;
}
