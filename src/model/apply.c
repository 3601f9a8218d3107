/* apply.c - a model applied to points: transform, distances. Blocked within the setting "memory". */
#include "model/model.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    ROWS_AT_ONCE = 64, /* blocks are multiples of this, the tile of bdml_la_map_rows */
    GATHER = 4096      /* scattered rows brought together at a time, to be mapped */
};

int64_t bdml_model_block(const bdml_handle *h, size_t bytes_per_row)
{
    double rows = (double)bdml_opt_int(h, BDML_OPT_MEMORY) * 1048576.0 / (double)bytes_per_row;
    int64_t tiles = rows < 1e12 ? (int64_t)(rows / ROWS_AT_ONCE) : INT64_MAX / 4 / ROWS_AT_ONCE;
    return BDML_MAX(tiles, 1) * ROWS_AT_ONCE;
}

bdml_status bdml_model_map(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           double *z)
{
    double *ws = bdml_alloc(h, bdml_la_map_size(model->q, model->d), sizeof *ws);
    if (!ws) return BDML_ERR_MEMORY;
    bdml_la_map_rows(h, model->q, model->d, model->l, n, x, model->d, z, ws);
    free(ws);
    return BDML_OK;
}

/* ---- transform ------------------------------------------------------------------------------------ */

/* A row that cannot be prepared gets its number among all rows, not in its block. */
static void name_row(bdml_handle *h, const bdml_model *model, int64_t from, int64_t to,
                     const double *x, int64_t ld)
{
    while (from < to && bdml_prepare_check(h, &model->prepare, COL(x, ld, from), from) == BDML_OK)
        from++;
}

static bdml_status transform(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                             int64_t ld, double *z)
{
    bdml_status status = BDML_OK;
    int64_t block = BDML_MIN(bdml_model_block(h, sizeof(double) * (size_t)model->d), n);
    double *prepared = NULL;

    BDML_NEW(h, prepared, (size_t)block * (size_t)model->d);
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        BDML_GO(bdml_progress(h, "transform", i, n));
        status = bdml_prepare_apply(h, &model->prepare, rows, COL(x, ld, i), ld, prepared);
        if (status == BDML_ERR_DATA) name_row(h, model, i, i + rows, x, ld);
        if (status != BDML_OK) goto done;
        BDML_GO(bdml_model_map(h, model, rows, prepared, COL(z, model->q, i)));
    }
done:
    free(prepared);
    return status;
}

/* What every function that takes raw points checks. */
static bdml_status check_points(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                                int64_t ld, const void *out)
{
    if (!model || (n > 0 && (!x || !out)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "model, points and result must not be NULL");
    BDML_TRY(bdml_model_need_map(h, model));
    if (n < 0) return bdml_fail(h, BDML_ERR_ARGUMENT, "there cannot be %lld points", (long long)n);
    if (ld < model->prepare.d_in)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the model takes points of %d values, but rows are %lld "
                         "apart",
                         model->prepare.d_in, (long long)ld);
    return BDML_OK;
}

bdml_status bdml_transform(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           int64_t ld, double *z)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(check_points(h, model, n, x, ld, z));
    bdml_la_enter(h);
    bdml_status status = transform(h, model, n, x, ld, z);
    bdml_la_leave(h);
    return status;
}

/* ---- distances --------------------------------------------------------------------------------------- */

/* Pairs are taken in blocks; each row that a block names is mapped once, other rows never. */
typedef struct pair_block {
    int64_t pairs, most; /* pairs in a block; rows that they can name */
    int64_t rows;        /* that this block does name, */
    int64_t *row;        /* ascending, */
    double *z;           /* mapped */
    int64_t *place;      /* of each row of the data in `row`, or -1 */
    double *x;           /* GATHER raw rows on their way to be mapped */
} pair_block;

/* While all rows fit, mapped, in half of the memory, a block has very many pairs and each row is mapped
 * about once; otherwise a block has as many pairs as fit with two rows each. */
static void size_block(const bdml_handle *h, const bdml_model *model, int64_t n, int64_t count,
                       pair_block *b)
{
    size_t row = sizeof(double) * (size_t)model->q + sizeof(int64_t);
    bool all = bdml_model_block(h, 2 * row) >= n;
    b->pairs = BDML_MIN(all ? count : bdml_model_block(h, 2 * row), count);
    b->most = BDML_MIN(2 * b->pairs, n);
}

static void distinct_rows(pair_block *b, int64_t n, int64_t count, const int64_t *pair)
{
    for (int64_t r = 0; r < b->rows; r++) b->place[b->row[r]] = -1; /* of the block before */
    for (int64_t k = 0; k < 2 * count; k++) b->place[pair[k]] = 0;
    b->rows = 0;
    for (int64_t i = 0; i < n; i++)
        if (b->place[i] == 0) {
            b->row[b->rows] = i;
            b->place[i] = b->rows++;
        }
}

static bdml_status map_block(bdml_handle *h, const bdml_model *model, const double *x, int64_t ld,
                             const pair_block *b)
{
    int d = model->prepare.d_in;
    for (int64_t r0 = 0; r0 < b->rows; r0 += GATHER) {
        int64_t rows = BDML_MIN((int64_t)GATHER, b->rows - r0);
        for (int64_t r = 0; r < rows; r++) {
            const double *row = COL(x, ld, b->row[r0 + r]);
            BDML_TRY(bdml_prepare_check(h, &model->prepare, row, b->row[r0 + r]));
            memcpy(COL(b->x, d, r), row, sizeof(double) * (size_t)d);
        }
        BDML_TRY(transform(h, model, rows, b->x, d, COL(b->z, model->q, r0)));
    }
    return BDML_OK;
}

/* |a - b|^2, in the order of the coordinates. */
static double squared_distance(int q, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < q; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static bdml_status distances(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                             int64_t ld, int64_t count, const int64_t *pairs, double *distance)
{
    bdml_status status = BDML_OK;
    int q = model->q;
    pair_block b = {0};

    size_block(h, model, n, count, &b);
    BDML_NEW(h, b.place, n);
    BDML_NEW(h, b.row, b.most);
    BDML_NEW(h, b.z, (size_t)b.most * (size_t)q);
    BDML_NEW(h, b.x, (size_t)BDML_MIN((int64_t)GATHER, b.most) * (size_t)model->prepare.d_in);
    for (int64_t i = 0; i < n; i++) b.place[i] = -1;
    for (int64_t t0 = 0; t0 < count; t0 += b.pairs) {
        int64_t in_block = BDML_MIN(b.pairs, count - t0);
        const int64_t *pair = pairs + 2 * t0;
        distinct_rows(&b, n, in_block, pair);
        BDML_GO(map_block(h, model, x, ld, &b));
#pragma omp parallel for schedule(static) num_threads(bdml_threads(h)) if (in_block > ROWS_AT_ONCE)
        for (int64_t t = 0; t < in_block; t++)
            distance[t0 + t] = squared_distance(q, COL(b.z, q, b.place[pair[2 * t]]),
                                                COL(b.z, q, b.place[pair[2 * t + 1]]));
    }
done:
    free(b.place);
    free(b.row);
    free(b.z);
    free(b.x);
    return status;
}

bdml_status bdml_distances(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           int64_t ld, int64_t count, const int64_t *pairs, double *distance)
{
    if (!h) return BDML_ERR_ARGUMENT;
    BDML_TRY(check_points(h, model, n, x, ld, x));
    if (count < 0 || count > INT64_MAX / 2 || (count > 0 && (!pairs || !distance)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "pairs and distance must hold %lld pairs",
                         (long long)count);
    for (int64_t k = 0; k < 2 * count; k++)
        if (pairs[k] < 0 || pairs[k] >= n)
            return bdml_fail(h, BDML_ERR_ARGUMENT, "pair %lld names row %lld, rows are 0 to %lld",
                             (long long)(k / 2), (long long)pairs[k], (long long)n - 1);
    bdml_la_enter(h);
    bdml_status status = distances(h, model, n, x, ld, count, pairs, distance);
    bdml_la_leave(h);
    return status;
}
