/* nca_groups.c - groups of neighbours that are far as a whole, found without looking at their points.
 *
 * The points of a class are put in an order in which near ones stand together, by halving it again and again
 * across its widest column. A group of BDML_NCA_GROUP points in a row then fits into a small ball (c, r) of the
 * mapped points, and all of it is farther from z_i than the nearest neighbour by more than the cut if
 *
 *     |z_i - c| > r + sqrt(u + BDML_NCA_CUT),     u the least distance of z_i to the points beside it. */
#include "baselines/nca.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { BESIDE = 2 /* points on either side */ };

typedef struct key {
    double value;
    int64_t row;
} key;

static int by_value(const void *a, const void *b)
{
    const key *p = a, *q = b;
    if (p->value != q->value) return p->value < q->value ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static int widest(int d, const double *x, int64_t count, const int64_t *row)
{
    double most = -1.0;
    int best = 0;
    for (int j = 0; j < d; j++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count; i++) {
            double v = COL(x, d, row[i])[j];
            low = BDML_MIN(low, v);
            high = BDML_MAX(high, v);
        }
        if (high - low > most) {
            most = high - low;
            best = j;
        }
    }
    return best;
}

/* Halves end at whole groups; `from` is the place of row[0] among all points. */
static void halve(int d, const double *x, int64_t from, int64_t count, int64_t *row, key *keys)
{
    int64_t half = (from + count / 2 + BDML_NCA_GROUP - 1) / BDML_NCA_GROUP * BDML_NCA_GROUP - from;
    if (count <= BDML_NCA_GROUP || half >= count) return;
    int j = widest(d, x, count, row);
    for (int64_t i = 0; i < count; i++) keys[i] = (key){COL(x, d, row[i])[j], row[i]};
    qsort(keys, (size_t)count, sizeof *keys, by_value);
    for (int64_t i = 0; i < count; i++) row[i] = keys[i].row;
    halve(d, x, from, half, row, keys);
    halve(d, x, from + half, count - half, row + half, keys);
}

bdml_status bdml_nca_order(bdml_handle *h, int d, const double *x, int64_t from, int64_t count,
                           int64_t *row)
{
    bdml_status status = BDML_OK;
    key *keys = NULL;
    BDML_NEW(h, keys, BDML_MAX(count, (int64_t)1));
    halve(d, x, from, count, row, keys);
done:
    free(keys);
    return status;
}

void bdml_nca_panels(int64_t n, int q, const double *z, double *panel, double *norm)
{
    for (int64_t i = 0; i < n; i++) {
        const double *p = COL(z, q, i);
        double *to = panel + i / BDML_NCA_GROUP * BDML_NCA_GROUP * q + i % BDML_NCA_GROUP;
        for (int k = 0; k < q; k++) to[(int64_t)k * BDML_NCA_GROUP] = -2.0 * p[k];
        norm[i] = bdml_la_dot(q, p, p);
    }
}

static double squared(int q, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < q; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

void bdml_nca_balls(bdml_nca *a)
{
    int q = a->q;
    for (int64_t g = 0; g < a->balls; g++) {
        int64_t from = g * BDML_NCA_GROUP, to = BDML_MIN(from + BDML_NCA_GROUP, a->n);
        double *c = COL(a->centre, q, g), most = 0.0;
        memset(c, 0, sizeof *c * (size_t)q);
        for (int64_t i = from; i < to; i++)
            for (int k = 0; k < q; k++) c[k] += COL(a->z, q, i)[k] / (double)(to - from);
        for (int64_t i = from; i < to; i++) most = BDML_MAX(most, squared(q, c, COL(a->z, q, i)));
        a->radius[g] = sqrt(most);
    }
    bdml_nca_panels(a->balls, q, a->centre, a->centre_panel, a->centre_norm);
}

/* The least squared distance of point i to those beside it. */
static double nearest_beside(const bdml_nca *a, int64_t i)
{
    double least = INFINITY;
    for (int64_t j = BDML_MAX(i - BESIDE, (int64_t)0); j <= BDML_MIN(i + BESIDE, a->n - 1); j++)
        if (j != i) least = BDML_MIN(least, squared(a->q, COL(a->z, a->q, i), COL(a->z, a->q, j)));
    return least;
}

void bdml_nca_near(const bdml_nca *a, int64_t i0, int rows, double *tile, uint32_t *near)
{
    int64_t padded = a->balls_padded;
    a->kernel->distances(padded, a->q, a->centre_panel, a->centre_norm, NULL, rows,
                         COL(a->z, a->q, i0), tile);
    memset(near, 0, sizeof *near * (size_t)a->balls);
    for (int r = 0; r < rows; r++) {
        double reach = sqrt(nearest_beside(a, i0 + r) + BDML_NCA_CUT);
        const double *to = COL(tile, padded, r);
        /* the nearest of all that were looked at stays, whatever the rounding */
        for (int64_t j = BDML_MAX(i0 + r - BESIDE, (int64_t)0);
             j <= BDML_MIN(i0 + r + BESIDE, a->n - 1); j++)
            near[j / BDML_NCA_GROUP] |= (uint32_t)1 << r;
        for (int64_t g = 0; g < a->balls; g++) {
            double most = a->radius[g] + reach;
            near[g] |= (uint32_t)(to[g] + a->norm[i0 + r] <= most * most) << r;
        }
    }
}
