/* nca_objective.c - objective and gradient of nca.c in O(n^2 d) operations and O(nd) memory.
 *
 * Rows go in blocks; no n x n matrix exists. With w_ij = p_ij ([y_i = y_j] - p_i), whose rows sum to 0,
 *
 *     f = -(1/n) sum_i p_i,
 *     grad f = (2/n) L sum_ij w_ij (x_i-x_j)(x_i-x_j)' = (2/n) L (X diag(c) X' - A - A'),
 *     c_j = sum_i w_ij,   A = sum_i x_i u_i',   u_i = sum_j w_ij x_j,
 *
 * so that a block costs two products: the distances, by loops of our own (few coordinates, many points), and X W_block, by
 * the groups
 * that matter where those are few. */
#include "baselines/nca.h"

#include <omp.h>
#include <stdlib.h>

#include "linalg/linalg.h"

void bdml_nca_free(bdml_nca *a)
{
    free(a->x);
    free(a->begin);
    free(a->end);
    free(a->z);
    free(a->panel);
    free(a->norm);
    free(a->centre);
    free(a->radius);
    free(a->centre_panel);
    free(a->centre_norm);
    free(a->near);
    free(a->tile);
    free(a->u);
    free(a->group);
    free(a->moment);
    free(a->column);
    free(a->total);
    free(a->lap);
    free(a->ws);
    memset(a, 0, sizeof *a);
}

/* Rows by class, near ones together, centred on their mean: the products then cancel as little as they can. */
static bdml_status sort_points(bdml_nca *a, const bdml_training *t)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    int64_t *start = NULL, *row = NULL;
    double *mean = NULL;

    BDML_NEW(a->h, row, t->n);
    BDML_NEW(a->h, start, t->classes + 1);
    BDML_NEW(a->h, mean, d);
    for (int64_t i = 0; i < t->n; i++) {
        start[t->y[i] + 1]++;
        for (size_t j = 0; j < d; j++) mean[j] += t->x[(size_t)i * d + j] / (double)t->n;
    }
    for (int c = 0; c < t->classes; c++) start[c + 1] += start[c];
    for (int c = 0; c < t->classes; c++)
        for (int64_t i = start[c]; i < start[c + 1]; i++) {
            a->begin[i] = start[c];
            a->end[i] = start[c + 1];
        }
    for (int64_t i = 0; i < t->n; i++) row[start[t->y[i]]++] = i;
    for (int64_t i = 0; i < t->n; i = a->end[i])
        BDML_GO(bdml_nca_order(a->h, t->d, t->x, i, a->end[i] - i, row + i));
    for (int64_t i = 0; i < t->n; i++)
        for (size_t j = 0; j < d; j++)
            a->x[(size_t)i * d + j] = t->x[(size_t)row[i] * d + j] - mean[j];
done:
    free(row);
    free(start);
    free(mean);
    return status;
}

bdml_status bdml_nca_init(bdml_handle *h, const bdml_training *t, int q, bdml_nca *a)
{
    bdml_status status = BDML_OK;
    size_t n = (size_t)t->n, d = (size_t)t->d;

    *a = (bdml_nca){.h = h, .n = t->n, .d = t->d, .q = q};
    a->threads = bdml_threads(h);
    a->kernel = bdml_nca_kernel_of(bdml_nca_width());
    a->padded = (t->n + BDML_NCA_GROUP - 1) / BDML_NCA_GROUP * BDML_NCA_GROUP;
    size_t threads = (size_t)a->threads, padded = (size_t)a->padded;
    BDML_NEW(h, a->x, n * d);
    BDML_NEW(h, a->begin, n);
    BDML_NEW(h, a->end, n);
    BDML_NEW(h, a->z, n * (size_t)q);
    BDML_NEW(h, a->panel, padded * (size_t)q);
    BDML_NEW(h, a->norm, padded);
    a->balls = a->padded / BDML_NCA_GROUP;
    a->balls_padded = (a->balls + BDML_NCA_GROUP - 1) / BDML_NCA_GROUP * BDML_NCA_GROUP;
    BDML_NEW(h, a->centre, (size_t)a->balls * (size_t)q);
    BDML_NEW(h, a->radius, a->balls);
    BDML_NEW(h, a->centre_panel, (size_t)a->balls_padded * (size_t)q);
    BDML_NEW(h, a->centre_norm, a->balls_padded);
    BDML_NEW(h, a->near, threads * (size_t)a->balls);
    BDML_NEW(h, a->tile, threads * BDML_MAX(padded, (size_t)a->balls_padded) * BDML_NCA_ROWS);
    BDML_NEW(h, a->u, threads * d * BDML_NCA_ROWS);
    a->most = t->n / BDML_NCA_GROUP + 3;
    BDML_NEW(h, a->group, threads * (size_t)a->most * BDML_NCA_ROWS);
    BDML_NEW(h, a->moment, BDML_NCA_PARTS * d * d);
    BDML_NEW(h, a->column, BDML_NCA_PARTS * n);
    BDML_NEW(h, a->total, BDML_NCA_PARTS);
    BDML_NEW(h, a->lap, d * d);
    BDML_NEW(h, a->ws, BDML_MAX(bdml_la_gram_size(t->d), bdml_la_map_size(q, t->d)));
    BDML_GO(sort_points(a, t));
done:
    if (status != BDML_OK) bdml_nca_free(a);
    return status;
}

/* With more than this share of the groups listed, all are: a product is faster than groups one by one. */
static const double SHARE_ALL = 0.25;

/* End of the segment (before the class, the class, behind it) that holds position j. */
static int64_t segment_end(const bdml_nca *a, int64_t i, int64_t j)
{
    return j < a->begin[i] ? a->begin[i] : j < a->end[i] ? a->end[i] : a->n;
}

static int group_size(const bdml_nca *a, int64_t i, int32_t at)
{
    return (int)BDML_MIN((int64_t)BDML_NCA_GROUP, segment_end(a, i, at) - at);
}

/* Put 0 where no group was listed. */
static void fill_gaps(const bdml_nca *a, int64_t i, int groups, const int32_t *group, double *w)
{
    int64_t at = 0;
    for (int g = 0; g <= groups; g++) {
        int64_t next = g < groups ? group[g] : a->n;
        memset(w + at, 0, sizeof *w * (size_t)(next - at));
        if (g < groups) at = next + group_size(a, i, group[g]);
    }
}

/* u = sum over the listed groups of w_j x_j. */
static void gather_groups(const bdml_nca *a, int64_t i, int groups, const int32_t *group,
                          const double *w, double *u)
{
    memset(u, 0, sizeof *u * (size_t)a->d);
    for (int g = 0; g < groups; g++)
        bdml_la_gemv('N', a->d, group_size(a, i, group[g]), 1.0, COL(a->x, a->d, group[g]), a->d,
                     w + group[g], 1.0, u);
}

/* Rows i0 .. i0 + rows - 1 into the sums of a part. */
static void add_block(const bdml_nca *a, int64_t i0, int rows, bool gradient, int thread,
                      double *moment, double *column, double *total)
{
    int n = (int)a->n, ld = (int)a->padded, d = a->d, groups[BDML_NCA_ROWS];
    size_t room = (size_t)a->most, listed = 0;
    double *tile = a->tile + (size_t)thread * (size_t)ld * BDML_NCA_ROWS;
    double *u = a->u + (size_t)thread * (size_t)d * BDML_NCA_ROWS;
    uint32_t *near = a->near + (size_t)thread * (size_t)a->balls;
    int32_t *group = a->group + (size_t)thread * room * BDML_NCA_ROWS;

    /* the tile of the groups is no longer needed when that of the points is written */
    bdml_nca_near(a, i0, rows, tile, near);
    a->kernel->distances(a->padded, a->q, a->panel, a->norm, near, rows, COL(a->z, a->q, i0), tile);
    for (int k = 0; k < rows; k++) {
        int64_t i = i0 + k;
        *total +=
            a->kernel->weights(a->n, i, a->begin[i], a->end[i], COL(tile, ld, k),
                               gradient ? column : NULL, group + (size_t)k * room, &groups[k]);
        listed += (size_t)groups[k];
    }
    if (!gradient) return;
    bool all = (double)listed * BDML_NCA_GROUP > SHARE_ALL * (double)n * rows;
    for (int k = 0; k < rows; k++) {
        const int32_t *list = group + (size_t)k * room;
        if (all)
            fill_gaps(a, i0 + k, groups[k], list, COL(tile, ld, k));
        else
            gather_groups(a, i0 + k, groups[k], list, COL(tile, ld, k), COL(u, d, k));
    }
    if (all) bdml_la_gemm('N', 'N', d, rows, n, 1.0, a->x, d, tile, ld, 0.0, u, d);
    bdml_la_gemm('N', 'T', d, d, rows, 1.0, COL(a->x, d, i0), d, u, d, 1.0, moment, d);
}

static void add_part(const bdml_nca *a, int part, bool gradient, int thread)
{
    size_t n = (size_t)a->n, dd = (size_t)a->d * (size_t)a->d;
    int64_t blocks = (a->n + BDML_NCA_ROWS - 1) / BDML_NCA_ROWS;
    double *moment = a->moment + (size_t)part * dd, *column = a->column + (size_t)part * n;
    memset(moment, 0, dd * sizeof *moment);
    memset(column, 0, n * sizeof *column);
    a->total[part] = 0.0;
    for (int64_t b = part; b < blocks && !bdml_is_cut(a->h, "nca", thread); b += BDML_NCA_PARTS) {
        int64_t i0 = b * BDML_NCA_ROWS;
        int rows = (int)BDML_MIN((int64_t)BDML_NCA_ROWS, a->n - i0);
        add_block(a, i0, rows, gradient, thread, moment, column, &a->total[part]);
    }
}

bdml_status bdml_nca_objective(void *nca, const double *l, double *f, double *gradient)
{
    bdml_nca *a = nca;
    bool wanted = gradient != NULL;
    double total = 0.0;

    bdml_la_map_rows(a->h, a->q, a->d, l, a->n, a->x, a->d, a->z, a->ws);
    bdml_nca_panels(a->n, a->q, a->z, a->panel, a->norm);
    bdml_nca_balls(a);
#pragma omp parallel for schedule(dynamic) num_threads(a->threads)
    for (int part = 0; part < BDML_NCA_PARTS; part++)
        add_part(a, part, wanted, omp_get_thread_num());
    *f = NAN;
    if (a->h->leaving) return bdml_leave_check(a->h, "nca");
    if (bdml_time_is_up(a->h)) return BDML_OK;
    for (int part = 0; part < BDML_NCA_PARTS; part++) total += a->total[part];
    *f = -total / (double)a->n;
    if (!wanted) return BDML_OK;
    bdml_add_laplacian(a->h, BDML_NCA_PARTS, a->n, a->d, a->x, a->moment, a->column, a->lap, a->ws);
    bdml_la_gemm('N', 'N', a->d, a->q, a->d, 2.0 / (double)a->n, a->lap, a->d, l, a->d, 0.0,
                 gradient, a->d);
    return BDML_OK;
}
