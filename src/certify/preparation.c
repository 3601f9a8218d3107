/* preparation.c - what is filled in, scaling and PCA, fitted again on the data:
 *
 *     fill     mean of the values that are there, column by column; 0 where there is none
 *     zscore   shift = mean, width = sqrt(mean (x - mean)^2)
 *     minmax   shift = min,  width = max - min;   constant columns: shift = min, width infinite
 *     PCA      center = mean of the scaled rows; basis: orthonormal rows b_k, C b_k = lambda_k b_k, lambda_k the
 *              k-th largest eigenvalue of C = mean (u - center)(u - center)'
 *
 * Means in doubles of n numbers up to s are off by n eps s at most; that is what a difference is held against. */
#include "certify/stated.h"

#include <float.h>
#include <stdlib.h>

/* A column that varies by less than this, relative, is constant up to how its numbers were printed. */
static const double CONSTANT = 16 * DBL_EPSILON;
/* Relative error of what a solver in doubles makes of a covariance. */
static const double FITTED = 1e-9;
/* From this error on nothing is told. */
static const double TOO_FEW_DIGITS = 1e-3;
/* Multiplications that refitting a PCA may take. */
static const double MOST_WORK = 2e10;

/* ---- columns ------------------------------------------------------------------------------------------ */

typedef struct column {
    long double mean, deviation; /* of the values, filled in */
    double lo, hi, size;         /* size: largest |x| */
} column;

static double value_at(const bdml_plain *w, int64_t i, int j)
{
    double x = w->data->x[i * w->data->d + j];
    const double *fill = w->model->prepare.fill;
    return isnan(x) && fill ? fill[j] : x;
}

static column measure(const bdml_plain *w, int j)
{
    column c = {.lo = INFINITY, .hi = -INFINITY};
    for (int64_t i = 0; i < w->n; i++) {
        double x = value_at(w, i, j);
        c.mean += x / (long double)w->n;
        c.lo = fmin(c.lo, x);
        c.hi = fmax(c.hi, x);
    }
    for (int64_t i = 0; i < w->n; i++)
        c.deviation += powl(value_at(w, i, j) - c.mean, 2) / (long double)w->n;
    c.deviation = sqrtl(c.deviation);
    c.size = fmax(fabs(c.lo), fabs(c.hi));
    return c;
}

/* Error that a mean of n numbers of this size may have. */
static double mean_error(const bdml_plain *w, double size)
{
    return 4.0 * (double)w->n * DBL_EPSILON * size;
}

static bool fills(const bdml_plain *w, int j)
{
    long double sum = 0.0L, size = 0.0L;
    int64_t there = 0;
    for (int64_t i = 0; i < w->n; i++) {
        double x = w->data->x[i * w->data->d + j];
        if (isnan(x)) continue;
        sum += x;
        size = fmaxl(size, fabs(x));
        there++;
    }
    long double mean = there > 0 ? sum / (long double)there : 0.0L;
    return fabsl(w->model->prepare.fill[j] - mean) <= mean_error(w, (double)size);
}

/* shift and width of a column */
static bool scales(const bdml_plain *w, int j)
{
    const bdml_prepare *p = &w->model->prepare;
    column c = measure(w, j);
    double range = c.hi - c.lo, shift = p->shift[j], width = p->width[j];
    if (range <= CONSTANT * c.size || range < DBL_MIN) return shift == c.lo && width == INFINITY;
    if (p->scale == BDML_SCALE_MINMAX)
        return shift == c.lo && fabs(width - range) <= 4.0 * DBL_EPSILON * range;
    double off = mean_error(w, c.size), rounding = off / (double)c.deviation;
    return fabsl(shift - c.mean) <= off &&
           fabsl(width - c.deviation) <= (FITTED + rounding * rounding) * c.deviation;
}

static void check_columns(bdml_plain *w, const bdml_stated *s)
{
    const bdml_prepare *p = &w->model->prepare;
    const char *chosen =
        json_string_value(json_object_get(json_object_get(w->model->info, "selection"), "scale"));
    size_t n;
    const char *word = bdml_choice_word(BDML_WORDS(SCALE), p->scale, &n);
    bool filled = s->o->input.missing.value == BDML_MISSING_MEAN;
    bool fits = p->scale == s->o->prepare.scale.value && filled == (p->fill != NULL) &&
                (!chosen || (strlen(chosen) == n && strncmp(chosen, word, n) == 0));
    for (int j = 0; fits && p->fill && j < p->d_in; j++) fits = fills(w, j);
    for (int j = 0; fits && p->width && j < p->d_in; j++) fits = scales(w, j);
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "scaling",
                      filled
                          ? "settings.missing settings.scale selection.scale scale fill shift width"
                          : "settings.scale selection.scale scale fill shift width",
                      fits, "%s%.*s, fitted again on the data%s",
                      filled ? "means filled in, scale " : "scale ", (int)n, word,
                      fits ? "" : ": the model has something else");
}

/* ---- PCA ------------------------------------------------------------------------------------------------ */

typedef struct pca {
    int d;
    long double *c;      /* d x d: covariance of the scaled rows */
    long double *lambda; /* its eigenvalues, ascending */
    long double *row, *mean;
    double size;  /* largest |u| */
    double error; /* relative, of what doubles make of the covariance and its eigenvectors */
} pca;

/* u = the scaled row i. */
static void scaled_row(const bdml_plain *w, int64_t i, long double *u)
{
    const bdml_prepare *p = &w->model->prepare;
    long double norm = 0.0L;
    for (int j = 0; j < p->d_in; j++) {
        u[j] = value_at(w, i, j);
        if (p->width) u[j] = (u[j] - p->shift[j]) / p->width[j];
        norm += u[j] * u[j];
    }
    for (int j = 0; p->scale == BDML_SCALE_UNIT && norm > 0.0L && j < p->d_in; j++)
        u[j] /= sqrtl(norm);
}

static void covariance(const bdml_plain *w, pca *a)
{
    size_t d = (size_t)a->d;
    for (int64_t i = 0; i < w->n; i++) {
        scaled_row(w, i, a->row);
        for (size_t j = 0; j < d; j++) {
            a->mean[j] += a->row[j] / (long double)w->n;
            a->size = fmax(a->size, fabs((double)a->row[j]));
        }
    }
    for (int64_t i = 0; i < w->n; i++) {
        scaled_row(w, i, a->row);
        for (size_t j = 0; j < d; j++) a->row[j] -= a->mean[j];
        for (size_t r = 0; r < d; r++)
            for (size_t s = 0; s <= r; s++)
                a->c[r * d + s] += a->row[r] * a->row[s] / (long double)w->n;
    }
    for (size_t r = 0; r < d; r++)
        for (size_t s = 0; s < r; s++) a->c[s * d + r] = a->c[r * d + s];
}

/* Rows of the basis are orthonormal, and row k is an eigenvector of the k-th largest eigenvalue. */
static bool is_eigenbasis(const bdml_plain *w, const pca *a)
{
    const bdml_prepare *p = &w->model->prepare;
    size_t d = (size_t)a->d;
    long double most = a->lambda[d - 1];
    for (int k = 0; k < p->d_out; k++) {
        const double *b = p->basis + (size_t)k * d;
        for (int l = 0; l <= k; l++) {
            long double dot = 0.0L;
            for (size_t j = 0; j < d; j++) dot += (long double)b[j] * p->basis[(size_t)l * d + j];
            if (!(fabsl(dot - (l == k)) <= FITTED)) return false;
        }
        for (size_t r = 0; r < d; r++) {
            long double v = 0.0L;
            for (size_t j = 0; j < d; j++) v += a->c[r * d + j] * b[j];
            if (!(fabsl(v - a->lambda[d - 1 - (size_t)k] * b[r]) <= a->error * most)) return false;
        }
    }
    return true;
}

/* As many components as are asked for, or as have variance, or as keep the share asked for. */
static bool is_count(const bdml_plain *w, const pca *a, double asked)
{
    const bdml_prepare *p = &w->model->prepare;
    long double total = 0.0L, kept = 0.0L, before = 0.0L;
    for (int j = 0; j < a->d; j++) total += fmaxl(a->lambda[j], 0.0L);
    for (int k = 0; k < p->d_out; k++) {
        before = kept;
        kept += a->lambda[a->d - 1 - k];
    }
    long double next = p->d_out < a->d ? a->lambda[a->d - 1 - p->d_out] : 0.0L;
    bool rank = next <= a->error * a->lambda[a->d - 1]; /* no variance is left */
    if (!(fabsl(p->variance - kept / total) <= a->error)) return false;
    if (asked >= 1.0) return p->d_out == asked || (p->d_out < asked && rank);
    return before <= (asked + a->error) * total && (rank || kept >= (asked - a->error) * total);
}

static bool is_center(const bdml_plain *w, const pca *a)
{
    for (int j = 0; j < a->d; j++)
        if (!(fabsl(w->model->prepare.center[j] - a->mean[j]) <= mean_error(w, a->size)))
            return false;
    return true;
}

static const char PCA_FIELDS[] = "settings.pca basis center pca_variance";

static bdml_status refit(bdml_handle *h, bdml_plain *w, double asked)
{
    bdml_status status = BDML_OK;
    pca a = {.d = w->model->prepare.d_in};
    size_t d = (size_t)a.d;
    long double *copy = NULL;

    BDML_NEW(h, a.c, d * d);
    BDML_NEW(h, copy, d * d);
    BDML_NEW(h, a.lambda, d);
    BDML_NEW(h, a.row, d);
    BDML_NEW(h, a.mean, d);
    covariance(w, &a);
    memcpy(copy, a.c, d * d * sizeof *copy);
    bool found = bdml_plain_eigenvalues(a.d, copy, a.lambda) && a.lambda[d - 1] > 0.0L;
    a.error = FITTED + 64.0 * DBL_EPSILON * a.size / (double)sqrtl(a.lambda[d - 1]);
    if (found && !(a.error < TOO_FEW_DIGITS)) {
        bdml_verdict_trust(w->v, "PCA", PCA_FIELDS,
                           "PCA taken on trust: the data lie so far from the origin that too few "
                           "digits are left");
        goto done;
    }
    bool fits = found && is_center(w, &a) && is_eigenbasis(w, &a) && is_count(w, &a, asked);
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "PCA", PCA_FIELDS, fits,
                      fits ? "%d of %d components, eigenvectors of the covariance of the data"
                           : "the %d of %d components are not those of the data",
                      w->model->prepare.d_out, a.d);
done:
    free(a.c);
    free(copy);
    free(a.lambda);
    free(a.row);
    free(a.mean);
    return status;
}

static bdml_status check_pca(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    const bdml_prepare *p = &w->model->prepare;
    double asked = s->o->prepare.pca.value, d = p->d_in, work = d * d * ((double)w->n + 4.0 * d);
    if ((asked > 0.0) != (p->basis != NULL)) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "PCA", PCA_FIELDS, false,
                          asked > 0.0 ? "the settings ask for one, the model has none"
                                      : "the model has one that the settings do not ask for");
        return BDML_OK;
    }
    if (!p->basis) return BDML_OK;
    if (work > MOST_WORK) {
        bdml_verdict_trust(
            w->v, "PCA", PCA_FIELDS,
            "PCA taken on trust: %d columns are too many to fit again by plain loops", p->d_in);
        return BDML_OK;
    }
    return refit(h, w, asked);
}

bdml_status bdml_check_preparation(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    check_columns(w, s);
    return check_pca(h, w, s);
}
