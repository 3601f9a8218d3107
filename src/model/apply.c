/* apply.c - a model applied to points: transform, distances and scores of pairs. Blocked within the
 * setting "memory".
 *
 *     distance     -|Lx - Ly|^2                   (score; bdml_distances gives |Lx - Ly|^2)
 *     cosine       Lx . Ly / (|Lx| |Ly|), 0 when one of them is 0
 *     similarity   x'Gy - |Lx - Ly|^2 */
#include "model/model.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum {
    ROWS_AT_ONCE = 64, /* blocks are multiples of this, the tile of bdml_la_map_rows */
    GATHER = 4096      /* scattered rows brought together at a time, to be mapped */
};

int64_t bdml_model_block(const bdml_handle *h, size_t bytes_per_row)
{
    double rows = (double)bdml_memory(h) / (double)bytes_per_row;
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

/* A row that cannot be prepared gets its number among all rows, not in its block, which begins with row `first`. */
static void name_row(bdml_handle *h, const bdml_model *model, int64_t rows, const double *x,
                     int64_t ld, int64_t first)
{
    for (int64_t r = 0; r < rows; r++)
        if (bdml_prepare_check(h, &model->prepare, COL(x, ld, r), first + r) != BDML_OK) return;
}

/* What is larger has no squared distance. row: the numbers of the rows; NULL: from `first` on. */
static bdml_status check_images(bdml_handle *h, int64_t n, int width, const double *z,
                                const int64_t *row, int64_t first)
{
    for (int64_t k = 0; k < n * width; k++)
        if (!(fabs(z[k]) <= BDML_LONGEST))
            return bdml_fail(
                h, BDML_ERR_DATA,
                "row %lld (from 0): the model maps it to %g, and beyond %g squared distances are "
                "no numbers; are these data of the kind that the model was made for?",
                (long long)(row ? row[k / width] : first + k / width), z[k], BDML_LONGEST);
    return BDML_OK;
}

/* row, first: as in check_images. */
static bdml_status transform(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                             int64_t ld, const int64_t *row, int64_t first, double *z)
{
    bdml_status status = BDML_OK;
    int64_t block = BDML_MIN(bdml_model_block(h, sizeof(double) * (size_t)model->d), n);
    double *prepared = NULL;

    BDML_NEW(h, prepared, (size_t)block * (size_t)model->d);
    for (int64_t i = 0; i < n; i += block) {
        int64_t rows = BDML_MIN(block, n - i);
        BDML_GO(bdml_progress(h, "transform", i, n));
        status = bdml_prepare_apply(h, &model->prepare, rows, COL(x, ld, i), ld, prepared);
        if (status == BDML_ERR_DATA) name_row(h, model, rows, COL(x, ld, i), ld, first + i);
        if (status != BDML_OK) goto done;
        BDML_GO(bdml_model_map(h, model, rows, prepared, COL(z, model->q, i)));
        BDML_GO(
            check_images(h, rows, model->q, COL(z, model->q, i), row ? row + i : NULL, first + i));
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

bdml_status bdml_transform_at(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                              int64_t ld, int64_t first, double *z)
{
    BDML_TRY(check_points(h, model, n, x, ld, z));
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = transform(h, model, n, x, ld, NULL, first, z);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_transform(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           int64_t ld, double *z)
{
    return h ? bdml_transform_at(h, model, n, x, ld, 0, z) : BDML_ERR_ARGUMENT;
}

/* ---- pairs -------------------------------------------------------------------------------------------- */

const char *const bdml_score_names[] = {"distance", "cosine", "similarity"};

/* Pairs are taken in blocks; each row that a block names is mapped once, other rows never. The image of
 * a row: Lx, and for similarities behind it x and Gx. */
typedef struct pair_block {
    const bdml_model *model;
    bool similar;        /* with x and Gx */
    int width;           /* of an image */
    int64_t pairs, most; /* pairs in a block; rows that they can name */
    int64_t rows;        /* that this block does name, */
    int64_t *row;        /* ascending, */
    double *image;       /* of them */
    int64_t *place;      /* of each row of the data in `row`, or -1 */
    double *x;           /* GATHER raw rows on their way to be mapped, */
    double *part;        /* and what becomes of them: Lx, x or Gx */
    double *ws;
} pair_block;

static void free_block(pair_block *b)
{
    free(b->row);
    free(b->image);
    free(b->place);
    free(b->x);
    free(b->part);
    free(b->ws);
}

/* While all rows fit, mapped, in half of the memory, a block has very many pairs and each row is mapped
 * about once; otherwise a block has as many pairs as fit with two rows each. */
static bdml_status init_block(bdml_handle *h, const bdml_model *model, bool similar, int64_t n,
                              int64_t count, pair_block *b)
{
    bdml_status status = BDML_OK;
    int widest = BDML_MAX(model->q, model->d);
    b->model = model;
    b->similar = similar;
    b->width = model->q + (similar ? 2 * model->d : 0);
    size_t row = sizeof(double) * (size_t)b->width + sizeof(int64_t);
    bool all = bdml_model_block(h, 2 * row) >= n;
    b->pairs = BDML_MIN(all ? count : bdml_model_block(h, 2 * row), count);
    b->most = BDML_MIN(2 * b->pairs, n);
    int64_t gathered = BDML_MIN((int64_t)GATHER, b->most);
    BDML_NEW(h, b->place, n);
    BDML_NEW(h, b->row, b->most);
    BDML_NEW(h, b->image, (size_t)b->most * (size_t)b->width);
    BDML_NEW(h, b->x, (size_t)gathered * (size_t)model->prepare.d_in);
    if (similar) {
        BDML_NEW(h, b->part, 2 * (size_t)gathered * (size_t)widest);
        BDML_NEW(h, b->ws, bdml_la_map_size(widest, model->d));
    }
    for (int64_t i = 0; i < n; i++) b->place[i] = -1;
done:
    return status;
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

static void put_part(const pair_block *b, int64_t rows, int width, const double *part, int offset,
                     double *image)
{
    for (int64_t r = 0; r < rows; r++)
        memcpy(COL(image, b->width, r) + offset, COL(part, width, r),
               sizeof(double) * (size_t)width);
}

/* Images of `rows` raw rows of b->x, those from b->row[r0] on. */
static bdml_status make_images(bdml_handle *h, const pair_block *b, int64_t r0, int64_t rows,
                               double *image)
{
    const bdml_model *m = b->model;
    if (!b->similar) return transform(h, m, rows, b->x, m->prepare.d_in, b->row + r0, 0, image);
    double *x = b->part, *y = b->part + (size_t)rows * (size_t)m->d;
    BDML_TRY(bdml_prepare_apply(h, &m->prepare, rows, b->x, m->prepare.d_in, x));
    put_part(b, rows, m->d, x, m->q, image);
    bdml_la_map_rows(h, m->d, m->d, m->similarity, rows, x, m->d, y, b->ws);
    put_part(b, rows, m->d, y, m->q + m->d, image);
    bdml_la_map_rows(h, m->q, m->d, m->l, rows, x, m->d, y, b->ws);
    put_part(b, rows, m->q, y, 0, image);
    return check_images(h, rows, b->width, image, b->row + r0, 0);
}

static bdml_status map_block(bdml_handle *h, const double *x, int64_t ld, const pair_block *b)
{
    const bdml_prepare *p = &b->model->prepare;
    for (int64_t r0 = 0; r0 < b->rows; r0 += GATHER) {
        int64_t rows = BDML_MIN((int64_t)GATHER, b->rows - r0);
        for (int64_t r = 0; r < rows; r++) {
            const double *row = COL(x, ld, b->row[r0 + r]);
            BDML_TRY(bdml_prepare_check(h, p, row, b->row[r0 + r]));
            memcpy(COL(b->x, p->d_in, r), row, sizeof(double) * (size_t)p->d_in);
        }
        BDML_TRY(make_images(h, b, r0, rows, COL(b->image, b->width, r0)));
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

static double product(int q, const double *a, const double *b)
{
    double sum = 0.0;
    for (int j = 0; j < q; j++) sum += a[j] * b[j];
    return sum;
}

static double cosine(int q, const double *a, const double *b)
{
    double aa = product(q, a, a), bb = product(q, b, b);
    return aa > 0.0 && bb > 0.0 ? product(q, a, b) / (sqrt(aa) * sqrt(bb)) : 0.0;
}

/* x'Gy is taken from both sides, so that the order of a pair does not matter. */
static double similarity(const bdml_model *m, const double *a, const double *b)
{
    const double *x = a + m->q, *gx = x + m->d, *y = b + m->q, *gy = y + m->d;
    return 0.5 * (product(m->d, x, gy) + product(m->d, y, gx)) - squared_distance(m->q, a, b);
}

/* What is asked of a pair: a distance, or the model's score. */
static double pair_value(const bdml_model *m, bool score, const double *a, const double *b)
{
    if (!score) return squared_distance(m->q, a, b);
    if (m->score == BDML_SCORE_COSINE) return cosine(m->q, a, b);
    if (m->score == BDML_SCORE_SIMILARITY) return similarity(m, a, b);
    return -squared_distance(m->q, a, b);
}

static bdml_status pair_values(bdml_handle *h, const bdml_model *model, bool score, int64_t n,
                               const double *x, int64_t ld, int64_t count, const int64_t *pairs,
                               double *value)
{
    bdml_status status = BDML_OK;
    pair_block b = {0};

    BDML_GO(init_block(h, model, score && model->score == BDML_SCORE_SIMILARITY, n, count, &b));
    for (int64_t t0 = 0; t0 < count; t0 += b.pairs) {
        int64_t in_block = BDML_MIN(b.pairs, count - t0);
        const int64_t *pair = pairs + 2 * t0;
        distinct_rows(&b, n, in_block, pair);
        BDML_GO(map_block(h, x, ld, &b));
#pragma omp parallel for schedule(static) num_threads(bdml_threads(h)) if (in_block > ROWS_AT_ONCE)
        for (int64_t t = 0; t < in_block; t++)
            value[t0 + t] = pair_value(model, score, COL(b.image, b.width, b.place[pair[2 * t]]),
                                       COL(b.image, b.width, b.place[pair[2 * t + 1]]));
    }
done:
    free_block(&b);
    return status;
}

static bdml_status check_pairs(bdml_handle *h, const bdml_model *model, bool score, int64_t n,
                               const double *x, int64_t ld, int64_t count, const int64_t *pairs,
                               double *value)
{
    BDML_TRY(check_points(h, model, n, x, ld, x));
    if (count < 0 || count > INT64_MAX / 2 || (count > 0 && (!pairs || !value)))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "pairs and %s must hold %lld pairs",
                         score ? "score" : "distance", (long long)count);
    for (int64_t k = 0; k < 2 * count; k++)
        if (pairs[k] < 0 || pairs[k] >= n)
            return bdml_fail(h, BDML_ERR_ARGUMENT, "pair %lld names row %lld, rows are 0 to %lld",
                             (long long)(k / 2), (long long)pairs[k], (long long)n - 1);
    BDML_TRY(bdml_la_enter(h));
    bdml_status status = pair_values(h, model, score, n, x, ld, count, pairs, value);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_distances(bdml_handle *h, const bdml_model *model, int64_t n, const double *x,
                           int64_t ld, int64_t count, const int64_t *pairs, double *distance)
{
    return h ? check_pairs(h, model, false, n, x, ld, count, pairs, distance) : BDML_ERR_ARGUMENT;
}

bdml_status bdml_model_pair_scores(bdml_handle *h, const bdml_model *model, int64_t n,
                                   const double *x, int64_t ld, int64_t count, const int64_t *pairs,
                                   double *score)
{
    return h ? check_pairs(h, model, true, n, x, ld, count, pairs, score) : BDML_ERR_ARGUMENT;
}
