/* local.c - the map of the references `local`, made again row by row from
 *
 *     H = mean over rows i of sum_j h_ij (p_i - p_j)(p_i - p_j)',  j of the class of i;   M likewise, j of other classes
 *     h_ij ~ (1 + (s_ij - min_j s_ij) / 8w)^-8,  sum_j h_ij = 1,  s_ij = |L (p_i - p_j)|^2,  w 0.2 times the mean of s over the pairs
 *     H, M <- what stands outside the diagonal times `across`;   H <- 0.9 H + 0.1 (tr H / r) I
 *     U diag(l) U' = H^(-1/2) M H^(-1/2),   b = max(1, l at the lower quartile)
 *     L = U diag(1 + 100 max(l - b, 0) / (l_max - b))^(1/2) U' H^(-1/2)
 *
 * three times, L = I at first; of more than 700 rows those at k n / 700. */
#include "certify/stated.h"

#include <float.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

typedef struct remake {
    size_t r, m;
    long double *p, *z; /* m x r: points, and under L */
    int32_t *y;
    long double *s;             /* m x m: squared distances */
    long double *weight, *mean; /* of one row: m; r */
    long double *total;         /* m: weights that each row has from and for others */
    long double *hits, *misses, *v, *root, *l, *lambda; /* r x r, lambda r */
    double error;
} remake;

static void measure(remake *k)
{
    size_t r = k->r, m = k->m;
    for (size_t i = 0; i < m; i++)
        for (size_t a = 0; a < r; a++) {
            k->z[i * r + a] = 0.0L;
            for (size_t b = 0; b < r; b++) k->z[i * r + a] += k->l[a * r + b] * k->p[i * r + b];
        }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++) {
            long double sum = 0.0L;
            for (size_t a = 0; a < r; a++) {
                long double off = k->z[i * r + a] - k->z[j * r + a];
                sum += off * off;
            }
            k->s[i * m + j] = k->s[j * m + i] = sum;
        }
}

static bool counts(const remake *k, bool same, size_t i, size_t j)
{
    return i != j && (k->y[i] == k->y[j]) == same;
}

/* k->weight of row i. False: nobody is on that side. */
static bool weigh(remake *k, bool same, size_t i, long double width)
{
    size_t m = k->m;
    long double low = INFINITY, sum = 0.0L;
    for (size_t j = 0; j < m; j++)
        if (counts(k, same, i, j)) low = fminl(low, k->s[i * m + j]);
    for (size_t j = 0; j < m; j++) {
        k->weight[j] = 0.0L;
        if (!counts(k, same, i, j)) continue;
        k->weight[j] =
            width > 0.0L ? powl(1.0L + (k->s[i * m + j] - low) / (8.0L * width), -8) : 1.0L;
        sum += k->weight[j];
    }
    for (size_t j = 0; j < m && sum > 0.0L; j++) k->weight[j] /= sum;
    return sum > 0.0L;
}

/* out: H (same) or M, by sum_ij w_ij (p_i - p_j)(p_i - p_j)' = sum_i total_i p_i p_i' - p_i u_i' - u_i p_i', u_i = sum_j w_ij p_j. */
static void scatter(remake *k, bool same, long double *out)
{
    size_t r = k->r, m = k->m;
    long double width = 0.0L, pairs = 0.0L, rows = 0.0L;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            if (counts(k, same, i, j)) width += k->s[i * m + j], pairs += 1.0L;
    width *= pairs > 0.0L ? 0.2L / pairs : 0.0L;
    memset(out, 0, r * r * sizeof *out);
    memset(k->total, 0, m * sizeof *k->total);
    for (size_t i = 0; i < m; i++) {
        if (!weigh(k, same, i, width)) continue;
        rows += 1.0L;
        k->total[i] += 1.0L;
        memset(k->mean, 0, r * sizeof *k->mean);
        for (size_t j = 0; j < m; j++) {
            k->total[j] += k->weight[j];
            for (size_t a = 0; k->weight[j] > 0.0L && a < r; a++)
                k->mean[a] += k->weight[j] * k->p[j * r + a];
        }
        for (size_t a = 0; a < r; a++)
            for (size_t b = 0; b < r; b++)
                out[a * r + b] -= k->p[i * r + a] * k->mean[b] + k->mean[a] * k->p[i * r + b];
    }
    for (size_t i = 0; i < m; i++)
        for (size_t a = 0; a < r; a++)
            for (size_t b = 0; b < r; b++)
                out[a * r + b] += k->total[i] * k->p[i * r + a] * k->p[i * r + b];
    for (size_t e = 0; e < r * r && rows > 0.0L; e++) out[e] /= rows;
}

/* out = sum_k f_k v_k v_k', rows of v. */
static void compose(size_t r, const long double *f, const long double *v, long double *out)
{
    memset(out, 0, r * r * sizeof *out);
    for (size_t k = 0; k < r; k++)
        for (size_t a = 0; a < r; a++)
            for (size_t b = 0; b < r; b++) out[a * r + b] += f[k] * v[k * r + a] * v[k * r + b];
}

static void multiply(size_t r, const long double *a, const long double *b, long double *out)
{
    memset(out, 0, r * r * sizeof *out);
    for (size_t i = 0; i < r; i++)
        for (size_t k = 0; k < r; k++)
            for (size_t j = 0; j < r; j++) out[i * r + j] += a[i * r + k] * b[k * r + j];
}

/* Rounding of the scatters counts by the condition of H, that of the map before by the steepest weights, and both by how far
 * apart the eigenvalues are that the stretch is measured by. */
static bool make_map(remake *k, long double across)
{
    size_t r = k->r;
    long double trace = 0.0L;
    for (size_t e = 0; e < r * r; e++) {
        k->hits[e] *= e % (r + 1) == 0 ? 1.0L : across;
        k->misses[e] *= e % (r + 1) == 0 ? 1.0L : across;
        if (e % (r + 1) == 0) trace += k->hits[e];
    }
    if (!(trace > 0.0L)) return false;
    for (size_t e = 0; e < r * r; e++)
        k->hits[e] = 0.9L * k->hits[e] + (e % (r + 1) == 0 ? 0.1L * trace / (long double)r : 0.0L);
    if (!bdml_plain_eigenvectors((int)r, k->hits, k->lambda, k->v)) return false;
    double condition = (double)(k->lambda[r - 1] / k->lambda[0]);
    for (size_t j = 0; j < r; j++) k->lambda[j] = 1.0L / sqrtl(k->lambda[j]);
    compose(r, k->lambda, k->v, k->root);
    multiply(r, k->root, k->misses, k->hits);
    multiply(r, k->hits, k->root, k->misses);
    if (!bdml_plain_eigenvectors((int)r, k->misses, k->lambda, k->v)) return false;
    long double low = fmaxl(1.0L, k->lambda[r / 4]), most = k->lambda[r - 1];
    double apart = r > 1 ? (double)(fmaxl(most, low) / fabsl(most - low)) : 1.0;
    for (size_t j = 0; j < r; j++) {
        long double share = most > low ? fmaxl(k->lambda[j] - low, 0.0L) / (most - low) : 0.0L;
        k->lambda[j] = sqrtl(1.0L + 100.0L * share);
    }
    compose(r, k->lambda, k->v, k->hits);
    multiply(r, k->hits, k->root, k->l);
    double fresh = 16.0 * ((double)r + (double)k->m / 4.0) * DBL_EPSILON;
    k->error = (8.0 * k->error + fresh * condition) * apart;
    return true;
}

bdml_status bdml_plain_local(bdml_handle *h, int64_t n, int d, const long double *p,
                             const int32_t *y, long double across, long double *l, double *error)
{
    bdml_status status = BDML_OK;
    remake k = {.r = (size_t)d, .m = (size_t)BDML_MIN(n, BDML_PLAIN_LOCAL_ROWS), .error = *error};
    size_t r = k.r, m = k.m;

    k.l = l;
    BDML_NEW(h, k.p, m * r);
    BDML_NEW(h, k.z, m * r);
    BDML_NEW(h, k.y, m);
    BDML_NEW(h, k.s, m * m);
    BDML_NEW(h, k.weight, m);
    BDML_NEW(h, k.mean, r);
    BDML_NEW(h, k.total, m);
    BDML_NEW(h, k.hits, r * r);
    BDML_NEW(h, k.misses, r * r);
    BDML_NEW(h, k.v, r * r);
    BDML_NEW(h, k.root, r * r);
    BDML_NEW(h, k.lambda, r);
    for (size_t i = 0; i < m; i++) {
        size_t row = i * (size_t)n / m;
        memcpy(k.p + i * r, p + row * r, r * sizeof *k.p);
        k.y[i] = y[row];
    }
    for (size_t e = 0; e < r * r; e++) l[e] = e % (r + 1) == 0 ? 1.0L : 0.0L;
    for (int round = 0; round < ROUNDS; round++) {
        measure(&k);
        scatter(&k, true, k.hits);
        scatter(&k, false, k.misses);
        if (!make_map(&k, across)) k.error = INFINITY;
        if (!isfinite(k.error)) break;
    }
    *error = k.error;
done:
    free(k.p);
    free(k.z);
    free(k.y);
    free(k.s);
    free(k.weight);
    free(k.mean);
    free(k.total);
    free(k.hits);
    free(k.misses);
    free(k.v);
    free(k.root);
    free(k.lambda);
    return status;
}
