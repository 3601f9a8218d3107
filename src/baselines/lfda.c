/* lfda.c - local Fisher discriminant analysis (Sugiyama 2007): discriminant analysis that keeps together only
 * those points of a class that are near each other,
 *
 *     Sw = 1/2 sum_ij w_ij (x_i - x_j)(x_i - x_j)',   w_ij = A_ij / n_c  in class c, else 0,
 *     Sb = 1/2 sum_ij b_ij (x_i - x_j)(x_i - x_j)',   b_ij = A_ij (1/n - 1/n_c) in class c, else 1/n,
 *     A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)),         s_i the distance of x_i to its k-th neighbour in its class.
 *
 * The rows of L are sqrt(lambda) phi' for Sb phi = lambda Sw phi, phi' Sw phi = 1, lambda > 0, largest first: a
 * direction counts by how well it separates. Both scatters are formed in the coordinates z of span.c, where
 * sum z z' = n I, from one matrix for each class,
 *
 *     G_c = Z' (D - A) Z,   Sw = sum_c G_c / n_c,
 *     Sw + Sb = n I - (1/n) sum_c (n_c Z'Z - (sum z)(sum z)' - G_c),
 *
 * and the ridge s puts (1-s) Sw + s n I for Sw. A is never whole: TILE columns of a class at a time. */
#include "baselines/baselines.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { TILE = 256 };

typedef struct lfda {
    bdml_handle *h;
    const bdml_training *t;
    const bdml_span *span;
    double *reach;         /* n: s_i, 0 where the class has no other point elsewhere */
    double *within, *both; /* r x r: Sw and the sum over the classes in Sw + Sb */
    /* of one class, m rows in all: */
    int64_t *row;
    double *x, *z;    /* d x m, around their mean; r x m */
    double *square;   /* m: |x|^2 */
    double *a, *y;    /* m x TILE, r x TILE */
    double *g, *gram; /* r x r */
} lfda;

static void free_lfda(lfda *s)
{
    free(s->reach);
    free(s->within);
    free(s->both);
    free(s->row);
    free(s->x);
    free(s->z);
    free(s->square);
    free(s->a);
    free(s->y);
    free(s->g);
    free(s->gram);
}

static int64_t largest_class(const bdml_training *t, int64_t *count)
{
    int64_t most = 0;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t so_far = ++count[t->y[i]];
        most = BDML_MAX(most, so_far);
    }
    return most;
}

static bdml_status init(lfda *s)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    size_t d = (size_t)s->t->d, r = (size_t)s->span->r;
    int64_t *count = NULL;

    BDML_NEW(h, count, s->t->classes);
    size_t m = (size_t)largest_class(s->t, count);
    BDML_NEW(h, s->reach, s->t->n);
    BDML_NEW(h, s->within, r * r);
    BDML_NEW(h, s->both, r * r);
    BDML_NEW(h, s->row, m);
    BDML_NEW(h, s->x, m * d);
    BDML_NEW(h, s->z, m * r);
    BDML_NEW(h, s->square, m);
    BDML_NEW(h, s->a, m * TILE);
    BDML_NEW(h, s->y, r * TILE);
    BDML_NEW(h, s->g, r * r);
    BDML_NEW(h, s->gram, r * r);
done:
    free(count);
    return status;
}

/* s_i: to the k-th neighbour in the class, or the last one that there is. */
static bdml_status find_reach(lfda *s, const bdml_options *o)
{
    bdml_status status = BDML_OK;
    const bdml_rows rows = bdml_training_rows(s->t);
    int k = (int)BDML_MIN(o->methods.lfda_neighbors.value, s->t->n - 1);
    int32_t *index = NULL;
    double *distance = NULL;

    BDML_NEW(s->h, index, (size_t)s->t->n * (size_t)k);
    BDML_NEW(s->h, distance, (size_t)s->t->n * (size_t)k);
    BDML_GO(bdml_knn_search(s->h, &o->neighbors, &rows, NULL, BDML_SAME_CLASS, k, index, distance));
    for (int64_t i = 0; i < s->t->n; i++)
        for (int j = 0; j < k && isfinite(COL(distance, k, i)[j]); j++)
            s->reach[i] = sqrt(COL(distance, k, i)[j]);
done:
    free(index);
    free(distance);
    return status;
}

/* The rows of a class, side by side; how many. */
static int64_t gather(lfda *s, int32_t c)
{
    const bdml_training *t = s->t;
    int d = t->d, r = s->span->r;
    int64_t m = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if (t->y[i] != c) continue;
        memcpy(COL(s->x, d, m), COL(t->x, d, i), sizeof(double) * (size_t)d);
        memcpy(COL(s->z, r, m), COL(s->span->z, r, i), sizeof(double) * (size_t)r);
        s->row[m++] = i;
    }
    /* Around the mean, the products of gemm tell distances within the class without cancelling. */
    for (int j = 0; j < d && m > 0; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < m; i++) mean += COL(s->x, d, i)[j];
        mean /= (double)m;
        for (int64_t i = 0; i < m; i++) COL(s->x, d, i)[j] -= mean;
    }
    for (int64_t i = 0; i < m; i++) s->square[i] = bdml_la_dot(d, COL(s->x, d, i), COL(s->x, d, i));
    return m;
}

/* Columns from .. from+count-1 of A, from the products of the points that are there. */
static void affinities(lfda *s, int64_t m, int64_t from, int count)
{
    for (int b = 0; b < count; b++) {
        int64_t j = from + b;
        double *a = COL(s->a, m, b), reach = s->reach[s->row[j]];
        for (int64_t i = 0; i < m; i++) {
            double scale = reach * s->reach[s->row[i]];
            double apart = BDML_MAX(s->square[i] + s->square[j] - 2.0 * a[i], 0.0);
            a[i] = scale > 0.0 ? exp(-apart / scale) : 0.0;
        }
    }
}

/* G of the class that was gathered. */
static bdml_status scatter(lfda *s, int64_t m, int64_t before)
{
    int d = s->t->d, r = s->span->r;
    memset(s->g, 0, sizeof(double) * (size_t)r * (size_t)r);
    for (int64_t from = 0; from < m; from += TILE) {
        int count = (int)BDML_MIN((int64_t)TILE, m - from);
        BDML_TRY(bdml_progress(s->h, "lfda", before + from, s->t->n));
        bdml_la_gemm('T', 'N', (int)m, count, d, 1.0, s->x, d, COL(s->x, d, from), d, 0.0, s->a,
                     (int)m);
        affinities(s, m, from, count);
        bdml_la_gemm('N', 'N', r, count, (int)m, -1.0, s->z, r, s->a, (int)m, 0.0, s->y, r);
        for (int b = 0; b < count; b++) { /* y = (D - A) z */
            double degree = 0.0;
            for (int64_t i = 0; i < m; i++) degree += COL(s->a, m, b)[i];
            for (int k = 0; k < r; k++) COL(s->y, r, b)[k] += degree * COL(s->z, r, from + b)[k];
        }
        bdml_la_gemm('N', 'T', r, r, count, 1.0, COL(s->z, r, from), r, s->y, r, 1.0, s->g, r);
    }
    return BDML_OK;
}

static bdml_status add_classes(lfda *s)
{
    int r = s->span->r;
    int64_t before = 0;
    for (int32_t c = 0; c < s->t->classes; c++) {
        int64_t m = gather(s, c);
        if (m == 0) continue;
        BDML_TRY(scatter(s, m, before));
        before += m;
        bdml_la_gemm('N', 'T', r, r, (int)m, (double)m, s->z, r, s->z, r, 0.0, s->gram, r);
        memset(s->y, 0, sizeof(double) * (size_t)r); /* sum z */
        for (int64_t i = 0; i < m; i++)
            for (int k = 0; k < r; k++) s->y[k] += COL(s->z, r, i)[k];
        for (int k = 0; k < r; k++)
            for (int j = 0; j < r; j++) {
                double g = 0.5 * (COL(s->g, r, k)[j] + COL(s->g, r, j)[k]);
                COL(s->within, r, k)[j] += g / (double)m;
                COL(s->both, r, k)[j] += COL(s->gram, r, k)[j] - s->y[j] * s->y[k] - g;
            }
    }
    return BDML_OK;
}

/* L in the coordinates of the span, into g: *q rows. */
static bdml_status solve(lfda *s, double ridge, int most, int *q)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;
    int r = s->span->r;
    double n = (double)s->t->n, *lambda = NULL, *b = s->both, *w = s->within;
    bdml_eigh_ws eigen = {0};

    BDML_NEW(h, lambda, r);
    BDML_GO(bdml_eigh_ws_init(h, r, &eigen));
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) {
            double *sw = &COL(w, r, k)[j], *sb = &COL(b, r, k)[j];
            *sb = (j == k ? n : 0.0) - *sb / n - *sw;
            *sw = (1.0 - ridge) * *sw + (j == k ? ridge * n : 0.0);
        }
    BDML_GO(bdml_la_eigh(h, r, w, lambda, true, &eigen));
    for (int k = 0; k < r; k++)
        for (int j = 0; j < r; j++) COL(w, r, k)[j] /= sqrt(lambda[k]); /* T = Q D^-1/2 */
    bdml_la_gemm('N', 'N', r, r, r, 1.0, b, r, w, r, 0.0, s->gram, r);
    bdml_la_gemm('T', 'N', r, r, r, 1.0, w, r, s->gram, r, 0.0, b, r); /* T' Sb T */
    BDML_GO(bdml_la_eigh(h, r, b, lambda, true, &eigen));
    bdml_la_gemm('N', 'N', r, r, r, 1.0, w, r, b, r, 0.0, s->gram, r); /* phi */
    for (*q = 0; *q < BDML_MIN(most, r) && lambda[r - 1 - *q] > 0.0; (*q)++)
        for (int j = 0; j < r; j++)
            COL(s->g, r, *q)[j] = sqrt(lambda[r - 1 - *q]) * COL(s->gram, r, r - 1 - *q)[j];
    if (*q == 0)
        status = bdml_fail(h, BDML_ERR_DATA,
                           "lfda: in no direction are points of different classes farther apart "
                           "than neighbours in a class");
done:
    free(lambda);
    bdml_eigh_ws_free(&eigen);
    return status;
}

bdml_status bdml_fit_lfda(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    int q = 0, most = (int)o->methods.components.value;
    bdml_span span = {0};
    lfda s = {.h = h, .t = t, .span = &span};

    BDML_GO(bdml_need_classes(h, t, "lfda"));
    BDML_GO(bdml_span_make(h, t, &span));
    BDML_GO(init(&s));
    BDML_GO(find_reach(&s, o));
    BDML_GO(add_classes(&s));
    BDML_GO(solve(&s, o->methods.ridge.value, most > 0 ? most : span.r, &q));
    status = bdml_span_set_map(h, &span, q, s.g, model);
done:
    free_lfda(&s);
    bdml_span_free(&span);
    return status;
}
