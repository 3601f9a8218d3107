/* margin.c - the margin operator: its life, and the selection of pairs and points for a call.
 *
 *     v_t = D(far_t) - D(near_t),   D(ij) = (x_i - x_j)' M (x_i - x_j)
 *
 * depends on pairs alone, so constraints are first turned into a list of pairs, each once, and
 * where BLAS works on points, into a list of their ends. */
#include "problem/margin.h"

#include <stdlib.h>

/* Below so many multiplications a call is over before threads have gathered; where other programs keep
 * the cores busy, waiting for them costs a hundred times the work. */
static const double SERIAL_BELOW = 2e6;

/* ---- selection ------------------------------------------------------------------------------- */

void bdml_margin_select_none(bdml_margin *op)
{
    if (++op->epoch == 0) { /* every 2^32 calls the marks run out */
        memset(op->pair_mark, 0, sizeof *op->pair_mark * (size_t)op->pairs);
        memset(op->point_mark, 0, sizeof *op->point_mark * (size_t)op->points);
        op->epoch = 1;
    }
    op->pair_count = op->point_count = 0;
}

static inline void select_pair(bdml_margin *op, int32_t p)
{
    if (op->pair_mark[p] == op->epoch) return;
    op->pair_mark[p] = op->epoch;
    op->w[p] = 0.0;
    op->pair_list[op->pair_count++] = p;
}

static inline void select_point(bdml_margin *op, int32_t i)
{
    if (op->point_mark[i] == op->epoch) return;
    op->point_mark[i] = op->epoch;
    op->slot[i] = (int32_t)op->point_count;
    op->point_list[op->point_count++] = i;
}

void bdml_margin_select_points(bdml_margin *op)
{
    for (int64_t k = 0; k < op->pair_count; k++) {
        select_point(op, op->pi[op->pair_list[k]]);
        select_point(op, op->pj[op->pair_list[k]]);
    }
}

void bdml_margin_select_constraints(bdml_margin *op, int64_t count, const int64_t *active)
{
    const bdml_constraints *c = op->c;
    bdml_margin_select_none(op);
    bool all = count < 0;
    if (all) count = c->m;
    for (int64_t k = 0; k < count; k++) {
        int64_t t = all ? k : active[k];
        select_pair(op, c->far[t]);
        if (c->near[t] >= 0) select_pair(op, c->near[t]);
    }
}

/* All constraints: plain sums, then a list of the pairs with a weight, in order. */
static void weigh_all(bdml_margin *op, const double *y)
{
    const int32_t *far = op->c->far, *near = op->c->near;
    double *w = op->w;
    memset(w, 0, sizeof *w * (size_t)op->pairs);
    for (int64_t t = 0; t < op->c->m; t++) {
        if (y[t] == 0.0) continue;
        w[far[t]] += y[t];
        if (near[t] >= 0) w[near[t]] -= y[t];
    }
    for (int64_t p = 0; p < op->pairs; p++) {
        op->pair_list[op->pair_count] = (int32_t)p;
        op->pair_mark[p] = op->epoch;
        op->pair_count += w[p] != 0.0;
    }
}

void bdml_margin_weigh(bdml_margin *op, const double *y, int64_t count, const int64_t *active)
{
    const bdml_constraints *c = op->c;
    bdml_margin_select_none(op);
    if (count < 0) {
        weigh_all(op, y);
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        if (y[k] == 0.0) continue;
        int64_t t = active[k];
        select_pair(op, c->far[t]);
        op->w[c->far[t]] += y[k];
        if (c->near[t] < 0) continue;
        select_pair(op, c->near[t]);
        op->w[c->near[t]] -= y[k];
    }
}

void bdml_margin_weigh_targets(bdml_margin *op)
{
    bdml_margin_select_none(op);
    for (int64_t k = 0; k < op->c->targets; k++) {
        select_pair(op, op->c->target[k]);
        op->w[op->c->target[k]] += 1.0;
    }
}

void bdml_margin_gather(const bdml_margin *op, int64_t count, const int64_t *active, double *v)
{
    const bdml_constraints *c = op->c;
    const double *distance = op->distance;
    bool all = count < 0;
    if (all) count = c->m;
    for (int64_t k = 0; k < count; k++) {
        int64_t t = all ? k : active[k];
        v[k] = distance[c->far[t]] - (c->near[t] >= 0 ? distance[c->near[t]] : 0.0);
    }
}

int bdml_margin_part_count(const bdml_margin *op, int64_t items)
{
    int64_t wanted = items / BDML_MARGIN_PART_ITEMS;
    return (int)BDML_MAX(BDML_MIN(wanted, (int64_t)op->parts), 1);
}

void bdml_margin_mean(const bdml_margin *op, int64_t size, double *sum)
{
    double targets = bdml_comm_total(op->comm, (double)op->c->targets);
    bdml_comm_sum(op->comm, size, sum);
    for (int64_t e = 0; targets > 0.0 && e < size; e++) sum[e] /= targets;
}

/* ---- life ------------------------------------------------------------------------------------- */

/* Number the rows that occur in pairs: number[row] = point or -1; returns how many. */
static int64_t number_points(const bdml_constraints *c, int64_t n, int32_t *number)
{
    int64_t points = 0;
    for (int64_t i = 0; i < n; i++) number[i] = -1;
    for (int64_t p = 0; p < c->pairs; p++) number[c->pi[p]] = number[c->pj[p]] = 0;
    for (int64_t i = 0; i < n; i++)
        if (number[i] == 0) number[i] = (int32_t)points++;
    return points;
}

/* Copy the points that occur; the mean of those of all ranks, each of which counts once. */
static void copy_points(bdml_margin *op, int64_t n, const double *x, int64_t ld,
                        const int32_t *number, const unsigned char *own, double *mean)
{
    int d = op->d;
    double count = 0.0;
    for (int64_t i = 0; i < n; i++) count += number[i] >= 0 && (!own || own[i]);
    double share = 1.0 / bdml_comm_total(op->comm, count);
    for (int r = 0; r < d; r++) mean[r] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (number[i] < 0) continue;
        const double *from = x + (size_t)i * (size_t)ld;
        memcpy(COL(op->x, d, number[i]), from, sizeof *from * (size_t)d);
        for (int r = 0; (!own || own[i]) && r < d; r++) mean[r] += share * from[r];
    }
    bdml_comm_sum(op->comm, d, mean);
}

static double square_distance(int d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int r = 0; r < d; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
    return sum;
}

/* Move the mean to the origin, unless the nearest pair lies APART times nearer than the farthest point: the
 * differences of points as they were given are exact or nearly so, those of moved points are not. */
static void place_points(bdml_margin *op, const double *mean)
{
    static const double APART = 1e6;
    int d = op->d;
    double farthest = 0.0, nearest = INFINITY;
    for (int64_t i = 0; i < op->points; i++)
        farthest = BDML_MAX(farthest, square_distance(d, COL(op->x, d, i), mean));
    for (int64_t p = 0; p < op->pairs; p++) {
        double near = square_distance(d, COL(op->x, d, op->pi[p]), COL(op->x, d, op->pj[p]));
        if (near > 0.0) nearest = BDML_MIN(nearest, near);
    }
    farthest = bdml_comm_largest(op->comm, farthest);
    nearest = bdml_comm_least(op->comm, nearest);
    op->apart = farthest > APART * APART * nearest;
    if (op->apart) return;
    op->spread = sqrt(farthest);
    for (int64_t i = 0; i < op->points; i++)
        for (int r = 0; r < d; r++) COL(op->x, d, i)[r] -= mean[r];
}

/* Counting sort of the pairs by either end; within a point they ascend. */
static void index_pairs(bdml_margin *op, const int32_t *number)
{
    const bdml_constraints *c = op->c;
    for (int64_t p = 0; p < op->pairs; p++) {
        op->pi[p] = number[c->pi[p]];
        op->pj[p] = number[c->pj[p]];
        op->first[op->pi[p] + 1]++;
        op->first[op->pj[p] + 1]++;
    }
    for (int64_t i = 0; i < op->points; i++) op->first[i + 1] += op->first[i];
    for (int64_t p = 0; p < op->pairs; p++) { /* first[i] runs to the start of i+1, ... */
        int32_t i = op->pi[p], j = op->pj[p];
        op->incident[op->first[i]] = op->incident[op->first[j]] = (int32_t)p;
        op->other[op->first[i]++] = j;
        op->other[op->first[j]++] = i;
    }
    for (int64_t i = op->points; i > 0; i--) op->first[i] = op->first[i - 1]; /* ... and back */
    op->first[0] = 0;
}

/* Partial d x d sums: many where they are small; where d is large its panels feed the threads. */
static int most_parts(int d)
{
    return d <= 512 ? BDML_MARGIN_PARTS : d <= 1024 ? BDML_MARGIN_PARTS / 2 : 1;
}

static bdml_status allocate(bdml_handle *h, bdml_margin *op)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)op->d, points = (size_t)op->points, pairs = (size_t)op->pairs;
    if (points > 0 && d > SIZE_MAX / points)
        return bdml_fail(h, BDML_ERR_MEMORY, "%zu points of %zu dimensions are too many", points,
                         d);
    BDML_NEW(h, op->x, d * points);
    BDML_NEW(h, op->y, d * points);
    BDML_NEW(h, op->pi, pairs);
    BDML_NEW(h, op->pj, pairs);
    BDML_NEW(h, op->first, points + 1);
    BDML_NEW(h, op->incident, 2 * pairs);
    BDML_NEW(h, op->other, 2 * pairs);
    BDML_NEW(h, op->pair_mark, pairs);
    BDML_NEW(h, op->point_mark, points);
    BDML_NEW(h, op->pair_list, pairs);
    BDML_NEW(h, op->point_list, points);
    BDML_NEW(h, op->slot, points);
    BDML_NEW(h, op->w, pairs);
    BDML_NEW(h, op->distance, pairs);
    BDML_NEW(h, op->part, (size_t)op->parts * d * d);
    BDML_NEW(h, op->scratch, (size_t)op->threads * 2 * BDML_MARGIN_TILE * d);
done:
    return status;
}

/* As `allocate` has it. */
double bdml_margin_bytes(const bdml_handle *h, double points, double pairs, int d)
{
    double per_point = 2.0 * 8.0 * d + 8.0 + 3 * 4.0, per_pair = 8 * 4.0 + 2 * 8.0;
    double tiles = 8.0 * bdml_threads(h) * 2.0 * BDML_MARGIN_TILE * d;
    return points * per_point + pairs * per_pair + 8.0 * most_parts(d) * d * d + tiles;
}

bdml_status bdml_margin_new(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                            const bdml_constraints *c, bdml_margin **out)
{
    return bdml_margin_new_split(h, &bdml_comm_serial, NULL, n, d, x, ld, c, out);
}

bdml_status bdml_margin_new_split(bdml_handle *h, const bdml_comm *comm, const unsigned char *own,
                                  int64_t n, int d, const double *x, int64_t ld,
                                  const bdml_constraints *c, bdml_margin **out)
{
    bdml_status status = BDML_OK;
    bdml_margin *op = NULL;
    int32_t *number = NULL;
    double *mean = NULL;

    *out = NULL;
    if (n != c->n)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the constraints are about %lld rows, the data have %lld", (long long)c->n,
                         (long long)n);
    if (d < 1 || ld < d)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "points need d >= 1 and ld >= d, got d %d, ld %lld",
                         d, (long long)ld);
    BDML_NEW(h, op, 1);
    BDML_NEW(h, number, n);
    BDML_NEW(h, mean, d);
    op->h = h;
    op->c = c;
    op->comm = comm;
    op->d = d;
    op->parts = most_parts(d);
    op->pairs = c->pairs;
    op->points = number_points(c, n, number);
    bool small = (double)op->points * d * d < SERIAL_BELOW;
    op->threads = small ? 1 : bdml_threads(h);
    BDML_GO(allocate(h, op));
    copy_points(op, n, x, ld, number, own, mean);
    index_pairs(op, number);
    place_points(op, mean);
    *out = op;
    op = NULL;
done:
    free(number);
    free(mean);
    bdml_margin_free(op);
    return status;
}

void bdml_margin_free(bdml_margin *op)
{
    if (!op) return;
    free(op->x);
    free(op->turned);
    free(op->y);
    free(op->pi);
    free(op->pj);
    free(op->first);
    free(op->incident);
    free(op->other);
    free(op->pair_mark);
    free(op->point_mark);
    free(op->pair_list);
    free(op->point_list);
    free(op->slot);
    free(op->w);
    free(op->distance);
    free(op->part);
    free(op->scratch);
    free(op);
}

double bdml_margin_spread(const bdml_margin *op)
{
    return op->spread;
}

void bdml_margin_difference(const bdml_margin *op, int64_t p, double *f)
{
    const double *a = COL(op->x, op->d, op->pi[p]), *b = COL(op->x, op->d, op->pj[p]);
    for (int r = 0; r < op->d; r++) f[r] = a[r] - b[r];
}

double bdml_margin_target_mean(const bdml_margin *op)
{
    double sum = 0.0;
    for (int64_t k = 0; k < op->c->targets; k++) sum += op->distance[op->c->target[k]];
    bdml_margin_mean(op, 1, &sum);
    return sum;
}

void bdml_margin_points(const bdml_margin *op, double *x)
{
    const bdml_constraints *c = op->c;
    size_t d = (size_t)op->d;
    memset(x, 0, sizeof *x * (size_t)c->n * d);
    for (int64_t p = 0; p < op->pairs; p++) {
        memcpy(x + (size_t)c->pi[p] * d, COL(op->x, d, op->pi[p]), sizeof *x * d);
        memcpy(x + (size_t)c->pj[p] * d, COL(op->x, d, op->pj[p]), sizeof *x * d);
    }
}
