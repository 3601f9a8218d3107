/* start.c - where Q starts: principal components, whitened ones, random directions, or the rows of a file. */
#include "lowrank/lowrank.h"

#include <stdlib.h>
#include <unistd.h>

/* Random numbers of the start: a stream that no split, fold or PCA uses. */
static const uint64_t START_STREAM = ((uint64_t)3 << 62) + 1;

/* Leading q components of the n rows; spread: their standard deviations, or NULL. */
static bdml_status components(bdml_handle *h, uint64_t seed, int64_t n, int d, const double *x,
                              int q, double *Q, double *spread)
{
    bdml_prepare p = {.d_in = d, .d_out = d, .scale = BDML_SCALE_NONE};
    const bdml_rows points = {.n = n, .d = d, .ld = d, .x = x};

    bdml_status status = bdml_pca_fit(h, q, seed, &points, NULL, &p);
    if (status == BDML_OK && p.d_out < q)
        status = bdml_fail(h, BDML_ERR_ARGUMENT,
                           "rank must be at most the dimensions that the points span, %d, got %d",
                           p.d_out, q);
    if (status == BDML_OK) memcpy(Q, p.basis, sizeof *Q * (size_t)d * (size_t)q);
    for (int k = 0; status == BDML_OK && spread && k < q; k++) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++) {
            double at = 0.0;
            for (int j = 0; j < d; j++) at += COL(Q, d, k)[j] * (x[i * d + j] - p.center[j]);
            sum += at * at;
        }
        spread[k] = sqrt(sum / (double)n);
    }
    bdml_prepare_free(&p);
    return status;
}

static bdml_status principal(bdml_handle *h, uint64_t seed, int64_t n, int d, const double *x,
                             int64_t more_n, const double *more, int q, bool whiten, double *Q)
{
    bdml_status status = BDML_OK;
    double *both = NULL, *spread = NULL;

    if (whiten) BDML_NEW(h, spread, q);
    if (more && more_n > 0) {
        BDML_NEW(h, both, (size_t)(n + more_n) * (size_t)d);
        memcpy(both, x, sizeof *x * (size_t)n * (size_t)d);
        memcpy(both + (size_t)n * (size_t)d, more, sizeof *x * (size_t)more_n * (size_t)d);
        n += more_n;
        x = both;
    }
    BDML_GO(components(h, seed, n, d, x, q, Q, spread));
    for (int k = 0; whiten && k < q; k++)
        for (int j = 0; j < d; j++) COL(Q, d, k)[j] /= spread[k];
done:
    free(both);
    free(spread);
    return status;
}

/* Random combinations of the centred points, which lie in their span. */
static bdml_status random_rows(bdml_handle *h, uint64_t seed, int64_t n, int d, const double *x,
                               int q, double *Q)
{
    bdml_status status = BDML_OK;
    double *mean = NULL;
    bdml_rng rng = bdml_rng_make(seed, START_STREAM);

    BDML_NEW(h, mean, d);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < d; j++) mean[j] += x[i * d + j] / (double)n;
    memset(Q, 0, sizeof *Q * (size_t)d * (size_t)q);
    for (int k = 0; k < q; k++)
        for (int64_t i = 0; i < n; i++) {
            double g = bdml_rng_normal(&rng);
            for (int j = 0; j < d; j++) COL(Q, d, k)[j] += g * (x[i * d + j] - mean[j]);
        }
    status = bdml_la_orth(h, d, q, Q);
done:
    free(mean);
    return status;
}

static bdml_status read_rows(bdml_handle *h, const char *path, int d, int q, double *Q)
{
    bdml_status status = BDML_OK;
    bdml_dataset *matrix = NULL;

    if (access(path, R_OK) != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "q-start must be pca, whitened, random or a file that can be read, got "
                         "'%.200s'",
                         path);
    status = bdml_matrix_read(h, path, &matrix);
    if (status != BDML_OK) return bdml_fail_context(h, status, "q-start");
    if (matrix->d != d || matrix->n != q) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "%s: a start of Q has %d rows of %d numbers; this is %lld x %d", path, q,
                           d, (long long)matrix->n, matrix->d);
        goto done;
    }
    memcpy(Q, matrix->x, sizeof *Q * (size_t)d * (size_t)q);
    status = bdml_la_orth(h, d, q, Q);
done:
    bdml_free_dataset(matrix);
    return status;
}

bdml_status bdml_lowrank_start(bdml_handle *h, const char *start, uint64_t seed, int64_t n, int d,
                               const double *x, int64_t more_n, const double *more, int q,
                               double *Q)
{
    if (q < 1 || q > d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "rank must be from 1 to the dimension %d, got %d", d,
                         q);
    bool whiten = strcmp(start, "whitened") == 0;
    if (whiten || strcmp(start, "pca") == 0)
        return principal(h, seed, n, d, x, more_n, more, q, whiten, Q);
    if (strcmp(start, "random") == 0) return random_rows(h, seed, n, d, x, q, Q);
    return read_rows(h, start, d, q, Q);
}
