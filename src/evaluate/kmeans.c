/* kmeans.c - k groups of points, each about its mean:
 *
 *     minimise  E = sum_i |x_i - m_c(i)|^2        over the means m_1 .. m_k and the group c(i) of each point
 *
 * by Lloyd's iteration: each point to the nearest mean (of equals the first), then the means of the groups, until no
 * point moves. First means by k-means++ (Arthur and Vassilvitskii 2007): points drawn one after the other with
 * probability in proportion to the squared distance to the nearest before. A group that is left empty takes the point that
 * is farthest from its mean. The best of STARTS starts, each with random numbers of its own; of equals the first.
 *
 * Nearest means by one matrix product a block of points: |x - m|^2 = |x|^2 + |m|^2 - 2 x'm, of which |x|^2 does not count.
 * All sums are taken in the order of the points: the same bits for any number of threads. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { STARTS = 10, ROUNDS = 100, BLOCK = 1024 };
static const uint64_t STREAM = (uint64_t)0x6b6d << 44;

typedef struct lloyd {
    const bdml_handle *h;
    const bdml_rows *x;
    int k;
    double *mean;     /* k rows of d */
    double *length;   /* |m|^2 */
    double *product;  /* x'm of a block of points, k numbers each */
    double *distance; /* of each point to its mean, squared */
    int64_t *count;   /* of each group */
    int32_t *group;   /* of each point */
} lloyd;

static double distance2(int d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static const double *point(const lloyd *s, int64_t i)
{
    return COL(s->x->x, s->x->ld, i);
}

static void set_mean(lloyd *s, int c, int64_t i)
{
    memcpy(s->mean + (size_t)c * (size_t)s->x->d, point(s, i), sizeof(double) * (size_t)s->x->d);
}

/* k-means++. Where all points lie on means already, the next is the first of them again. */
static void draw_means(lloyd *s, bdml_rng *rng)
{
    int d = s->x->d;
    set_mean(s, 0, (int64_t)bdml_rng_below(rng, (uint64_t)s->x->n));
    for (int64_t i = 0; i < s->x->n; i++) s->distance[i] = INFINITY;
    for (int c = 1; c < s->k; c++) {
        const double *last = s->mean + (size_t)(c - 1) * (size_t)d;
        double sum = 0.0;
        for (int64_t i = 0; i < s->x->n; i++) {
            s->distance[i] = BDML_MIN(s->distance[i], distance2(d, point(s, i), last));
            sum += s->distance[i];
        }
        double left = sum * bdml_rng_uniform(rng);
        int64_t at = 0;
        for (int64_t i = 0; i < s->x->n && left > 0.0; i++) {
            if (s->distance[i] > 0.0) at = i;
            left -= s->distance[i];
        }
        set_mean(s, c, at);
    }
}

/* Each point to the nearest mean. Returns how many moved. */
static int64_t assign(lloyd *s)
{
    int d = s->x->d, k = s->k;
    int64_t moved = 0;
    for (int c = 0; c < k; c++) {
        const double *m = s->mean + (size_t)c * (size_t)d;
        s->length[c] = bdml_la_dot(d, m, m);
    }
    for (int64_t from = 0; from < s->x->n; from += BLOCK) {
        int64_t rows = BDML_MIN((int64_t)BLOCK, s->x->n - from);
        bdml_la_gemm_tiled(s->h, 'T', 'N', k, rows, d, 1.0, s->mean, d, point(s, from), s->x->ld,
                           0.0, s->product, k);
        for (int64_t i = 0; i < rows; i++) {
            const double *to = s->product + (size_t)i * (size_t)k;
            int32_t best = 0;
            for (int32_t c = 1; c < k; c++)
                if (s->length[c] - 2.0 * to[c] < s->length[best] - 2.0 * to[best]) best = c;
            moved += s->group[from + i] != best;
            s->group[from + i] = best;
        }
    }
    return moved;
}

/* Of those that are not alone in their group; there is one as long as a group is empty. */
static int64_t farthest(const lloyd *s)
{
    int64_t far = -1;
    for (int64_t i = 0; i < s->x->n; i++)
        if (s->count[s->group[i]] > 1 && (far < 0 || s->distance[i] > s->distance[far])) far = i;
    return far;
}

/* Means of the groups, and E. */
static double update(lloyd *s)
{
    int d = s->x->d;
    double energy = 0.0;
    for (int64_t i = 0; i < s->x->n; i++)
        s->distance[i] = distance2(d, point(s, i), s->mean + (size_t)s->group[i] * (size_t)d);
    memset(s->count, 0, sizeof *s->count * (size_t)s->k);
    for (int64_t i = 0; i < s->x->n; i++) s->count[s->group[i]]++;
    for (int32_t c = 0; c < s->k; c++) {
        if (s->count[c] > 0) continue;
        int64_t far = farthest(s);
        s->count[s->group[far]]--;
        s->group[far] = c;
        s->count[c] = 1;
        s->distance[far] = 0.0;
    }
    memset(s->mean, 0, sizeof *s->mean * (size_t)s->k * (size_t)d);
    for (int64_t i = 0; i < s->x->n; i++) {
        double *m = s->mean + (size_t)s->group[i] * (size_t)d;
        const double *x = point(s, i);
        for (int j = 0; j < d; j++) m[j] += x[j];
    }
    for (int c = 0; c < s->k; c++) {
        double *m = s->mean + (size_t)c * (size_t)d;
        for (int j = 0; j < d; j++) m[j] /= (double)s->count[c];
    }
    for (int64_t i = 0; i < s->x->n; i++)
        energy += distance2(d, point(s, i), s->mean + (size_t)s->group[i] * (size_t)d);
    return energy;
}

static void free_lloyd(lloyd *s)
{
    free(s->mean);
    free(s->length);
    free(s->product);
    free(s->distance);
    free(s->count);
    free(s->group);
}

bdml_status bdml_kmeans(bdml_handle *h, const bdml_rows *x, int k, uint64_t seed, int32_t *group,
                        double *energy)
{
    bdml_status status = BDML_OK;
    lloyd s = {.h = h, .x = x, .k = k};

    BDML_NEW(h, s.mean, (size_t)k * (size_t)x->d);
    BDML_NEW(h, s.length, k);
    BDML_NEW(h, s.product, (size_t)k * BLOCK);
    BDML_NEW(h, s.distance, x->n);
    BDML_NEW(h, s.count, k);
    BDML_NEW(h, s.group, x->n);
    *energy = INFINITY;
    for (int start = 0; start < STARTS; start++) {
        bdml_rng rng = bdml_rng_make(seed, STREAM + (uint64_t)start);
        double now = INFINITY;
        draw_means(&s, &rng);
        for (int64_t i = 0; i < x->n; i++) s.group[i] = -1;
        for (int round = 0; round < ROUNDS && assign(&s) > 0; round++) now = update(&s);
        if (!(now < *energy)) continue;
        *energy = now;
        memcpy(group, s.group, sizeof *group * (size_t)x->n);
    }
done:
    free_lloyd(&s);
    return status;
}
