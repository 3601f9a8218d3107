/* mlkr.c - metric learning for kernel regression (Weinberger, Tesauro 2007): the map L under which the numbers y of the
 * points are best predicted by those of the others,
 *
 *     min  f = (1/n) sum_i (yhat_i - y_i)^2,   yhat_i = sum_j p_ij y_j,
 *     p_ij = exp(-|L x_i - L x_j|^2) / sum over k != i of exp(-|L x_i - L x_k|^2),
 *
 * with y moved and scaled to mean 0 and variance 1, so that f is the share of the variance that is left. By L-BFGS,
 * as it is not convex from a start of the size that does best: the prepared points as they are, or for fewer components
 * their principal ones. With w_ij = (yhat_i - y_i) (yhat_i - y_j) p_ij, whose rows sum to 0,
 *
 *     grad f = (4/n) L sum_ij w_ij (x_i-x_j)(x_i-x_j)' = (4/n) L (X diag(c) X' - A - A'),
 *     c_j = sum_i w_ij,   A = sum_i x_i u_i',   u_i = sum_j w_ij x_j.
 *
 * Rows go in blocks; no n x n matrix exists. Terms below exp(-CUT) of the largest of a row are left out. */
#include "baselines/baselines.h"

#include <omp.h>
#include <stdlib.h>

#include "baselines/lbfgs.h"
#include "linalg/linalg.h"

enum {
    ROWS = 32,  /* of a block */
    PARTS = 16, /* sums over blocks are kept in so many parts, added in order */
    SIZES = 12  /* of the start: mean squared distances 1, 2, 4, ... */
};
static const double CUT = 40.0;
/* A step that gains no more than this share of f ends it. */
static const double CHANGE = 1e-8;
/* The gradient is wanted at this share of the setting gap, which is made for brackets on an optimum. */
static const double GRADIENT = 1e-2;

typedef struct mlkr {
    bdml_handle *h;
    int64_t n;
    int d, q, threads;
    double *x, *y;    /* n rows of d, centred; numbers of mean 0 and variance 1 */
    double *z, *norm; /* n rows of q, and their squared lengths */
    double *tile, *u; /* per thread: n x ROWS, d x ROWS */
    double *moment;   /* per part: A */
    double *column;   /* per part: c */
    double *total;    /* per part: of f */
    double *lap, *ws; /* d x d; for gram and map */
} mlkr;

static void free_mlkr(mlkr *a)
{
    free(a->x);
    free(a->y);
    free(a->z);
    free(a->norm);
    free(a->tile);
    free(a->u);
    free(a->moment);
    free(a->column);
    free(a->total);
    free(a->lap);
    free(a->ws);
}

/* ---- data -------------------------------------------------------------------------------------------------- */

/* The numbers that the names of the classes are, moved and scaled. */
static bdml_status read_numbers(mlkr *a, const bdml_training *t, const bdml_model *model)
{
    double mean = 0.0, square = 0.0;
    if (!t->y || !model->class_name)
        return bdml_fail(
            a->h, BDML_ERR_DATA,
            "method mlkr learns from a number for each row, and the data have no labels");
    for (int64_t i = 0; i < t->n; i++) {
        const char *name = model->class_name[t->y[i]];
        if (!bdml_parse_double(a->h->c_locale, name, strlen(name), &a->y[i]) || !isfinite(a->y[i]))
            return bdml_fail(a->h, BDML_ERR_DATA,
                             "method mlkr learns from labels that are numbers, and '%.40s' is none",
                             name);
    }
    const double first = a->y[0]; /* equal numbers become 0 */
    for (int64_t i = 0; i < t->n; i++) a->y[i] -= first;
    for (int64_t i = 0; i < t->n; i++) mean += a->y[i] / (double)t->n;
    for (int64_t i = 0; i < t->n; i++) square += (a->y[i] - mean) * (a->y[i] - mean) / (double)t->n;
    if (!(square > 0.0))
        return bdml_fail(
            a->h, BDML_ERR_DATA,
            "method mlkr learns to predict a number, and it is the same for all %lld rows",
            (long long)t->n);
    for (int64_t i = 0; i < t->n; i++) a->y[i] = (a->y[i] - mean) / sqrt(square);
    return BDML_OK;
}

/* Centred, so that products cancel as little as they can. */
static bdml_status init(mlkr *a, const bdml_training *t, const bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = a->h;
    size_t n = (size_t)t->n, d = (size_t)t->d, q = (size_t)a->q, threads;
    double *mean = NULL;

    a->threads = BDML_MIN(bdml_threads(h), PARTS);
    threads = (size_t)a->threads;
    BDML_NEW(h, mean, d);
    BDML_NEW(h, a->x, n * d);
    BDML_NEW(h, a->y, n);
    BDML_NEW(h, a->z, n * q);
    BDML_NEW(h, a->norm, n);
    BDML_NEW(h, a->tile, threads * n * ROWS);
    BDML_NEW(h, a->u, threads * d * ROWS);
    BDML_NEW(h, a->moment, PARTS * d * d);
    BDML_NEW(h, a->column, PARTS * n);
    BDML_NEW(h, a->total, PARTS);
    BDML_NEW(h, a->lap, d * d);
    BDML_NEW(h, a->ws, BDML_MAX(bdml_la_gram_size(t->d), bdml_la_map_size(a->q, t->d)));
    for (size_t e = 0; e < n * d; e++) a->x[e] = t->x[e] - t->x[e % d]; /* equal points become 0 */
    for (size_t e = 0; e < n * d; e++) mean[e % d] += a->x[e] / (double)n;
    for (size_t e = 0; e < n * d; e++) a->x[e] -= mean[e % d];
    status = read_numbers(a, t, model);
done:
    free(mean);
    return status;
}

/* ---- objective ------------------------------------------------------------------------------------------- */

/* s: |z_i - z_j|^2 but for |z_i|^2 in, the weights w_ij out; returns (yhat_i - y_i)^2. */
static double weigh_row(const mlkr *a, int64_t i, double *s, double *column)
{
    double least = INFINITY, sum = 0.0, yhat = 0.0;
    s[i] = INFINITY;
    for (int64_t j = 0; j < a->n; j++) least = BDML_MIN(least, s[j]);
    for (int64_t j = 0; j < a->n; j++) {
        s[j] = s[j] - least < CUT ? exp(least - s[j]) : 0.0;
        sum += s[j];
        yhat += s[j] * a->y[j];
    }
    yhat /= sum;
    double miss = yhat - a->y[i];
    for (int64_t j = 0; j < a->n; j++) {
        s[j] *= miss * (yhat - a->y[j]) / sum;
        column[j] += s[j];
    }
    return miss * miss;
}

static void add_part(const mlkr *a, int part, bool gradient, int thread)
{
    int d = a->d, n = (int)a->n;
    double *moment = a->moment + (size_t)part * (size_t)d * (size_t)d;
    double *column = a->column + (size_t)part * (size_t)n;
    double *tile = a->tile + (size_t)thread * (size_t)n * ROWS;
    double *u = a->u + (size_t)thread * (size_t)d * ROWS;
    memset(moment, 0, sizeof *moment * (size_t)d * (size_t)d);
    memset(column, 0, sizeof *column * (size_t)n);
    a->total[part] = 0.0;
    for (int64_t i0 = (int64_t)part * ROWS; i0 < a->n && !bdml_is_cut(a->h, "mlkr", thread);
         i0 += (int64_t)PARTS * ROWS) {
        int rows = (int)BDML_MIN((int64_t)ROWS, a->n - i0);
        bdml_la_gemm('T', 'N', n, rows, a->q, -2.0, a->z, a->q, COL(a->z, a->q, i0), a->q, 0.0,
                     tile, n);
        for (int k = 0; k < rows; k++) {
            double *s = COL(tile, n, k);
            for (int j = 0; j < n; j++) s[j] += a->norm[j];
            a->total[part] += weigh_row(a, i0 + k, s, column);
        }
        if (!gradient) continue;
        bdml_la_gemm('N', 'N', d, rows, n, 1.0, a->x, d, tile, n, 0.0, u, d);
        bdml_la_gemm('N', 'T', d, d, rows, 1.0, COL(a->x, d, i0), d, u, d, 1.0, moment, d);
    }
}

/* f at the map l (q rows of d), and its gradient where it is wanted. */
static bdml_status objective(void *user, const double *l, double *f, double *gradient)
{
    mlkr *a = user;
    bool wanted = gradient != NULL;

    bdml_la_map_rows(a->h, a->q, a->d, l, a->n, a->x, a->d, a->z, a->ws);
    for (int64_t i = 0; i < a->n; i++)
        a->norm[i] = bdml_la_dot(a->q, COL(a->z, a->q, i), COL(a->z, a->q, i));
#pragma omp parallel for schedule(dynamic) num_threads(a->threads)
    for (int part = 0; part < PARTS; part++) add_part(a, part, wanted, omp_get_thread_num());
    *f = NAN;
    if (a->h->leaving) return bdml_leave_check(a->h, "mlkr");
    if (bdml_time_is_up(a->h)) return BDML_OK;
    *f = 0.0;
    for (int part = 0; part < PARTS; part++) *f += a->total[part] / (double)a->n;
    if (!wanted) return BDML_OK;
    bdml_add_laplacian(a->h, PARTS, a->n, a->d, a->x, a->moment, a->column, a->lap, a->ws);
    bdml_la_gemm('N', 'N', a->d, a->q, a->d, 4.0 / (double)a->n, a->lap, a->d, l, a->d, 0.0,
                 gradient, a->d);
    return BDML_OK;
}

/* ---- the method ------------------------------------------------------------------------------------------ */

/* Multiply l by what does best. */
static bdml_status best_size(mlkr *a, double *l, double *scaled)
{
    size_t size = (size_t)a->q * (size_t)a->d;
    double f, least = INFINITY, best = 1.0, mean = 0.0;

    BDML_TRY(objective(a, l, &f, NULL));
    if (bdml_time_is_up(a->h)) return BDML_OK; /* as it is */
    for (int64_t i = 0; i < a->n; i++) mean += 2.0 * a->norm[i] / (double)a->n;
    if (!(mean > 0.0)) return bdml_fail(a->h, BDML_ERR_DATA, "mlkr: all points are the same");
    for (int k = 0; k < SIZES; k++) {
        double by = sqrt(ldexp(1.0, k) / mean);
        for (size_t e = 0; e < size; e++) scaled[e] = by * l[e];
        BDML_TRY(objective(a, scaled, &f, NULL));
        if (bdml_time_is_up(a->h)) break;
        if (f >= least) continue;
        least = f;
        best = by;
    }
    for (size_t e = 0; e < size; e++) l[e] *= best;
    return BDML_OK;
}

bdml_status bdml_fit_mlkr(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    int q = (int)o->methods.components.value;
    bdml_lbfgs_settings s = bdml_lbfgs_defaults();
    double *l = NULL, *scratch = NULL;

    if (q == 0 || q > t->d) q = t->d;
    mlkr a = {.h = h, .n = t->n, .d = t->d, .q = q};
    s.what = "mlkr";
    s.max_iter = o->solve.max_iter.value;
    s.gradient = GRADIENT * o->solve.gap.value;
    s.f_floor = 1e-3;
    s.change = CHANGE;
    BDML_GO(init(&a, t, model));
    BDML_NEW(h, l, (size_t)q * (size_t)t->d);
    BDML_NEW(h, scratch, (size_t)q * (size_t)t->d);
    if (q < t->d)
        BDML_GO(bdml_principal_rows(h, t, q, l));
    else
        for (int k = 0; k < q; k++) COL(l, t->d, k)[k] = 1.0;
    BDML_GO(best_size(&a, l, scratch));
    status = bdml_learn_map(h, q, t->d, l, objective, &a, &s, model);
done:
    free_mlkr(&a);
    free(l);
    free(scratch);
    return bdml_start_if_late(h, status, model);
}
