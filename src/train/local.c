/* local.c - the map of the references `local`: directions count by how much farther near rows of other classes are along them
 * than near rows of the same class.
 *
 * Of points p, z-scored, and a map L, at first the identity, ROUNDS times:
 *
 *     H = mean over rows i of sum_j h_ij (p_i - p_j)(p_i - p_j)',  j of the class of i;   M likewise, j of other classes
 *     h_ij ~ (1 + (s_ij - min_j s_ij) / 8w)^-8,  sum_j h_ij = 1,  s_ij = |L (p_i - p_j)|^2,  w WIDTH times the mean of s over the pairs
 *     H, M <- with what stands outside the diagonal times `across`;   H <- (1 - SHRINK) H + SHRINK (tr H / r) I
 *     U diag(l) U' = H^(-1/2) M H^(-1/2),   b = max(1, l at the lower quartile)
 *     L = U diag(1 + STRETCH max(l - b, 0) / (l_max - b))^(1/2) U' H^(-1/2).
 *
 * The weights are those of a soft choice of neighbours, exp(-s/w) but for its tail and without an exponential: L is a continuous
 * function of the points, so that rows at the same distance, or nearly, do not decide anything. Of many rows ROWS, evenly
 * spaced, are looked at. Rows are sorted by class, so that those of a class are a square block of the weights. */
#include "train/plan.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { ROWS = BDML_LOCAL_ROWS, ROUNDS = 3 };
static const double WIDTH = 0.2, SHRINK = 0.1, STRETCH = 100.0;

typedef struct sample {
    bdml_handle *h;
    int r, m, classes;
    int *begin;    /* classes + 1: class c are the rows from begin[c] to begin[c + 1] - 1 */
    double *p, *z; /* m rows of r: points; under L, then weighted means of others */
    double *near;  /* m rows of r: weighted means of those of the class */
    double *w;     /* m rows of m: s, then weights */
    double *square, *own,
        *other; /* m: |L p|^2; sums of the weights that a row has from and for others */
    double *b, *c, *f, *lambda; /* r x r; r */
    double *ws;
    bdml_eigh_ws eigh;
} sample;

static void free_sample(sample *s)
{
    free(s->begin);
    free(s->p);
    free(s->z);
    free(s->near);
    free(s->w);
    free(s->square);
    free(s->own);
    free(s->other);
    free(s->b);
    free(s->c);
    free(s->f);
    free(s->lambda);
    free(s->ws);
    bdml_eigh_ws_free(&s->eigh);
}

/* ---- points ----------------------------------------------------------------------------------------------- */

/* row: the k-th of m rows of n is k n / m, those of one class after the other. */
static void choose_rows(const bdml_training *t, sample *s, int64_t *row)
{
    int *begin = s->begin;
    for (int64_t k = 0; k < s->m; k++) begin[t->y[k * t->n / s->m] + 1]++;
    for (int c = 0; c < s->classes; c++) begin[c + 1] += begin[c];
    for (int64_t k = 0; k < s->m; k++) row[begin[t->y[k * t->n / s->m]]++] = k * t->n / s->m;
    for (int c = s->classes; c > 0; c--) begin[c] = begin[c - 1];
    begin[0] = 0;
}

/* The points of the sample under `columns`, r rows of d, around their mean. */
static bdml_status take_points(const bdml_training *t, const double *columns, sample *s)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t r = (size_t)s->r, m = (size_t)s->m;
    int64_t *row = NULL;
    double *x = NULL;

    BDML_NEW(h, row, m);
    BDML_NEW(h, x, m * (size_t)t->d);
    choose_rows(t, s, row);
    const bdml_rows rows = bdml_training_rows(t);
    if (t->over)
        BDML_GO(bdml_spread_fetch(h, t->over, t->d, t->x, t->d, s->m, row, x));
    else
        bdml_rows_copy(&rows, s->m, row, 0, x);
    BDML_GO(bdml_map_points(h, s->r, t->d, columns, s->m, x, &s->p));
    for (size_t j = 0; j < r; j++) {
        double mean = 0.0;
        for (size_t i = 0; i < m; i++) mean += s->p[i * r + j] / (double)m;
        for (size_t i = 0; i < m; i++) s->p[i * r + j] -= mean;
    }
done:
    free(row);
    free(x);
    return status;
}

static bdml_status open_sample(bdml_handle *h, const bdml_training *t, int rows,
                               const double *columns, sample *s)
{
    bdml_status status = BDML_OK;
    *s =
        (sample){.h = h, .r = rows, .m = (int)BDML_MIN(t->n, (int64_t)ROWS), .classes = t->classes};
    size_t r = (size_t)rows, m = (size_t)s->m;

    BDML_NEW(h, s->begin, s->classes + 1);
    s->z = bdml_alloc(h, m * r, sizeof *s->z);
    s->near = bdml_alloc(h, m * r, sizeof *s->near);
    s->w = bdml_alloc(h, m * m, sizeof *s->w);
    if (!s->z || !s->near || !s->w) BDML_GO(BDML_ERR_MEMORY);
    BDML_NEW(h, s->square, m);
    BDML_NEW(h, s->own, m);
    BDML_NEW(h, s->other, m);
    BDML_NEW(h, s->b, r * r);
    BDML_NEW(h, s->c, r * r);
    BDML_NEW(h, s->f, r * r);
    BDML_NEW(h, s->lambda, r);
    BDML_NEW(h, s->ws, bdml_la_gram_size(rows));
    BDML_GO(bdml_eigh_ws_init(h, rows, &s->eigh));
    status = take_points(t, columns, s);
done:
    return status;
}

/* ---- weights ---------------------------------------------------------------------------------------------- */

/* s->w: squared distances under l (NULL: the identity), those of a row from itself among them. Returns the points under l. */
static const double *measure(sample *s, const double *l)
{
    int r = s->r, m = s->m;
    const double *z = l ? s->z : s->p;
    if (l) bdml_la_gemm('T', 'N', r, m, r, 1.0, l, r, s->p, r, 0.0, s->z, r);
    for (int i = 0; i < m; i++) s->square[i] = bdml_la_dot(r, COL(z, r, i), COL(z, r, i));
    bdml_la_gemm('T', 'N', m, m, r, -2.0, z, r, z, r, 0.0, s->w, m);
    for (int i = 0; i < m; i++) {
        double *row = COL(s->w, m, i), square = s->square[i];
        for (int j = 0; j < m; j++) row[j] = BDML_MAX(row[j] + square + s->square[j], 0.0);
    }
    return z;
}

/* Sum over all pairs of the rows from .. to-1 of z, either way: 2 k sum |z|^2 - 2 |sum z|^2. */
static double sum_pairs(const sample *s, const double *z, int from, int to)
{
    double squares = 0.0, mean = 0.0;
    for (int i = from; i < to; i++) squares += s->square[i];
    for (int j = 0; j < s->r; j++) {
        double sum = 0.0;
        for (int i = from; i < to; i++) sum += COL(z, s->r, i)[j];
        mean += sum * sum;
    }
    return BDML_MAX(2.0 * (to - from) * squares - 2.0 * mean, 0.0);
}

enum { LANES = 4 }; /* sums and minima that do not wait for each other */

static double least(const double *a, int from, int to, double low)
{
    double lane[LANES] = {low, low, low, low};
    int j = from;
    for (; j + LANES <= to; j += LANES)
        for (int k = 0; k < LANES; k++) lane[k] = a[j + k] < lane[k] ? a[j + k] : lane[k];
    for (; j < to; j++) lane[0] = a[j] < lane[0] ? a[j] : lane[0];
    return BDML_MIN(BDML_MIN(lane[0], lane[1]), BDML_MIN(lane[2], lane[3]));
}

static inline double weight(double s, double low, double each)
{
    double v = 1.0 + (s - low) * each;
    v *= v;
    v *= v;
    return 1.0 / (v * v);
}

/* s -> weights, and their sum, which is not yet 1; each: 1 / 8w. */
static double weigh(double *a, int from, int to, double low, double each)
{
    double lane[LANES] = {0.0};
    int j = from;
    for (; j + LANES <= to; j += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += a[j + k] = weight(a[j + k], low, each);
    for (; j < to; j++) lane[0] += a[j] = weight(a[j], low, each);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

static void scale(double *restrict a, int from, int to, double by, double *restrict total)
{
    for (int j = from; j < to; j++) {
        a[j] *= by;
        total[j] += a[j];
    }
}

static double per_width(double total, double pairs)
{
    return total > 0.0 ? pairs / (8.0 * WIDTH * total) : 0.0;
}

/* 1 / 8w of both sides. */
static void set_widths(const sample *s, const double *z, double *own, double *other)
{
    double of_class = 0.0, pairs = 0.0, m = s->m;
    for (int c = 0; c < s->classes; c++) {
        double k = s->begin[c + 1] - s->begin[c];
        of_class += sum_pairs(s, z, s->begin[c], s->begin[c + 1]);
        pairs += k * (k - 1.0);
    }
    *own = per_width(of_class, pairs);
    *other = per_width(sum_pairs(s, z, 0, s->m) - of_class, m * (m - 1.0) - pairs);
}

/* Weights of row i of the class from .. to-1, in place of its distances. */
static void weigh_row(sample *s, int i, int from, int to, double own, double other)
{
    int m = s->m;
    double *row = COL(s->w, m, i);
    s->own[i] += to - from > 1 ? 1.0 : 0.0;
    s->other[i] += to - from < m ? 1.0 : 0.0;
    if (to - from > 1) {
        double low = least(row, i + 1, to, least(row, from, i, INFINITY));
        row[i] = low; /* itself: of weight 1, taken off again */
        double sum = weigh(row, from, to, low, own) - 1.0;
        row[i] = 0.0;
        scale(row, from, to, 1.0 / sum, s->own);
    } else {
        row[i] = 0.0;
    }
    if (to - from < m) {
        double low = least(row, to, m, least(row, 0, from, INFINITY));
        double sum = weigh(row, 0, from, low, other);
        sum += weigh(row, to, m, low, other);
        scale(row, 0, from, 1.0 / sum, s->other);
        scale(row, to, m, 1.0 / sum, s->other);
    }
}

/* s->w: distances of the points z -> weights of both sides; s->own, s->other: what each row has in all. Rows that have
 * others of their class, and rows of other classes. */
static void set_weights(sample *s, const double *z, double *with_own, double *with_other)
{
    double own, other;

    *with_own = *with_other = 0.0;
    memset(s->own, 0, sizeof *s->own * (size_t)s->m);
    memset(s->other, 0, sizeof *s->other * (size_t)s->m);
    set_widths(s, z, &own, &other);
    for (int c = 0; c < s->classes; c++) {
        int from = s->begin[c], to = s->begin[c + 1], k = to - from;
        for (int i = from; i < to; i++) weigh_row(s, i, from, to, own, other);
        *with_own += k > 1 ? k : 0;
        *with_other += k < s->m ? k : 0;
    }
}

/* ---- scatters --------------------------------------------------------------------------------------------- */

/* out = (1/rows) sum_i total_i p_i p_i' - P U' - U P', U the weighted means u: sum_ij w_ij (p_i - p_j)(p_i - p_j)' over the
 * rows, total_i the weights that i has from and for others. */
static void scatter(sample *s, const double *total, const double *u, double rows, double *out)
{
    int r = s->r;
    double by = rows > 0.0 ? 1.0 / rows : 0.0;
    bdml_la_gram(s->h, r, s->m, s->p, r, total, out, s->ws);
    bdml_la_gemm('N', 'T', r, r, s->m, 1.0, s->p, r, u, r, 0.0, s->f, r);
    for (int i = 0; i < r; i++)
        for (int j = 0; j <= i; j++) {
            double e = by * (COL(out, r, j)[i] - COL(s->f, r, j)[i] - COL(s->f, r, i)[j]);
            COL(out, r, j)[i] = COL(out, r, i)[j] = e;
        }
}

/* H and M under l. */
static bdml_status scatters(sample *s, const double *l, double *hits, double *misses)
{
    int r = s->r, m = s->m;
    double with_own, with_other;

    set_weights(s, measure(s, l), &with_own, &with_other);
    if (!(with_own > 0.0))
        return bdml_fail(s->h, BDML_ERR_DATA, "reference local needs a class of two rows or more");
    bdml_la_gemm('N', 'N', r, m, m, 1.0, s->p, r, s->w, m, 0.0, s->z, r);
    for (int c = 0; c < s->classes; c++) {
        int from = s->begin[c], k = s->begin[c + 1] - from;
        if (k == 0) continue;
        bdml_la_gemm('N', 'N', r, k, k, 1.0, COL(s->p, r, from), r, COL(s->w, m, from) + from, m,
                     0.0, COL(s->near, r, from), r);
    }
    for (size_t e = 0; e < (size_t)r * (size_t)m; e++) s->z[e] -= s->near[e];
    scatter(s, s->own, s->near, with_own, hits);
    scatter(s, s->other, s->z, with_other, misses);
    return BDML_OK;
}

/* ---- map -------------------------------------------------------------------------------------------------- */

/* c = Q diag(f) Q' for the columns of q, which are lost. f >= 0. */
static void compose(int r, double *q, const double *f, double *c)
{
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) COL(q, r, j)[i] *= sqrt(f[j]);
    bdml_la_gemm('N', 'T', r, r, r, 1.0, q, r, q, r, 0.0, c, r);
}

static void damp(int r, double across, const double *in, double *out)
{
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) COL(out, r, j)[i] = COL(in, r, j)[i] * (i == j ? 1.0 : across);
}

/* l, r rows of r, of these scatters. */
static bdml_status make_map(sample *s, double across, const double *hits, const double *misses,
                            double *l)
{
    int r = s->r;
    double trace = 0.0;

    damp(r, across, hits, s->b);
    for (int j = 0; j < r; j++) trace += COL(s->b, r, j)[j];
    if (!(trace > 0.0))
        return bdml_fail(
            s->h, BDML_ERR_DATA,
            "the points of each class are all the same: there is nothing to learn from");
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++) COL(s->b, r, j)
    [i] = (1.0 - SHRINK) * COL(s->b, r, j)[i] + (i == j ? SHRINK * trace / r : 0.0);
    BDML_TRY(bdml_la_eigh(s->h, r, s->b, s->lambda, true, &s->eigh));
    for (int j = 0; j < r; j++) s->lambda[j] = 1.0 / sqrt(s->lambda[j]);
    compose(r, s->b, s->lambda, s->c); /* H^(-1/2) */
    damp(r, across, misses, s->b);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->b, r, s->c, r, 0.0, s->f, r);
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->c, r, s->f, r, 0.0, s->b, r);
    BDML_TRY(bdml_la_eigh(s->h, r, s->b, s->lambda, true, &s->eigh));
    double low = BDML_MAX(1.0, s->lambda[r / 4]), most = s->lambda[r - 1];
    for (int j = 0; j < r; j++) {
        double share = most > low ? BDML_MAX(s->lambda[j] - low, 0.0) / (most - low) : 0.0;
        s->lambda[j] = sqrt(1.0 + STRETCH * share);
    }
    compose(r, s->b, s->lambda, s->f);
    /* the columns of H^(-1/2) F are the rows of F H^(-1/2) */
    bdml_la_gemm('N', 'N', r, r, r, 1.0, s->c, r, s->f, r, 0.0, l, r);
    return BDML_OK;
}

static bdml_status need_first(sample *s, bdml_whitening *w)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)s->r * (size_t)s->r;
    double *hits = NULL, *misses = NULL;

    if (w->hits) return BDML_OK;
    BDML_NEW(s->h, hits, size);
    BDML_NEW(s->h, misses, size);
    BDML_GO(scatters(s, NULL, hits, misses));
    w->hits = hits;
    w->misses = misses;
    hits = misses = NULL;
done:
    free(hits);
    free(misses);
    return status;
}

bdml_status bdml_local_map(bdml_handle *h, const bdml_training *t, int rows, const double *columns,
                           double across, bdml_whitening *w, double **map)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)rows * (size_t)rows;
    double *hits = NULL, *misses = NULL, *l = NULL;
    sample s;

    BDML_GO(open_sample(h, t, rows, columns, &s));
    BDML_NEW(h, hits, size);
    BDML_NEW(h, misses, size);
    BDML_NEW(h, l, size);
    BDML_GO(need_first(&s, w));
    BDML_GO(make_map(&s, across, w->hits, w->misses, l));
    for (int round = 1; round < ROUNDS; round++) {
        BDML_GO(scatters(&s, l, hits, misses));
        BDML_GO(make_map(&s, across, hits, misses, l));
    }
    BDML_NEW(h, *map, (size_t)rows * (size_t)t->d);
    bdml_la_gemm('N', 'N', t->d, rows, rows, 1.0, columns, t->d, l, rows, 0.0, *map, t->d);
done:
    free_sample(&s);
    free(hits);
    free(misses);
    free(l);
    return status;
}
