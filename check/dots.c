/* dots.c - sums of products, several side by side.
 *
 * Each is the dot of ball.h: the same operations in the same order but for sums with an exact 0, so the same bits. One
 * after the other they wait for their own last addition; LANES of them beside each other do not, and fit the vector units
 * of the processor. */
#include "check.h"

#include <string.h>

enum { LANES = 8, CHUNK = 256 };

/* What dot_end needs. */
typedef struct sums {
    double s[LANES], c[LANES], T[LANES], D[LANES];
} sums;

/* Terms of as many sums. */
typedef struct lanes {
    double hi[LANES], lo[LANES], rad[LANES];
} lanes;

static size_t blocks_of(size_t rows)
{
    return (rows + LANES - 1) / LANES;
}

/* ---- a matrix of doubles -------------------------------------------------------------------------- */

/* Terms i of the sums stand together: b has n rows of LANES. A double has no low part and no radius. */
CHECK_CLONES static void add_doubles(size_t n, const ball *a, const double *restrict b,
                                     sums *restrict to)
{
    sums z = *to;
    for (size_t i = 0; i < n; i++, b += LANES)
        for (int l = 0; l < LANES; l++) {
            double e, q, p = two_product(a[i].hi, b[l], &e), m = a[i].lo * b[l];
            z.s[l] = two_sum(z.s[l], p, &q);
            z.c[l] += (e + q) + m;
            z.T[l] += fabs(e) + fabs(q) + fabs(m);
            z.D[l] += a[i].rad * fabs(b[l]);
        }
    *to = z;
}

panels check_pack(checker *k, size_t rows, size_t columns, const double *matrix)
{
    panels m = {rows, columns, NULL};
    if (!matrix) return m;
    m.b = check_take(k, blocks_of(rows) * LANES * columns, sizeof *m.b);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < columns; j++)
            m.b[(r / LANES * columns + j) * LANES + r % LANES] = matrix[r * columns + j];
    return m;
}

void check_apply(const panels *m, const ball *u, ball *out)
{
    if (!m->b) {
        memcpy(out, u, m->rows * sizeof *out);
        return;
    }
    for (size_t block = 0; block < blocks_of(m->rows); block++) {
        size_t from = block * LANES;
        sums z = {0};
        add_doubles(m->columns, u, m->b + from * m->columns, &z);
        for (size_t l = 0; l < LANES && from + l < m->rows; l++)
            out[from + l] = dot_end(m->columns, z.s[l], z.c[l], z.T[l], z.D[l]);
    }
}

/* ---- sums of outer products ----------------------------------------------------------------------- */

CHECK_CLONES static void add_balls(size_t n, const ball *a, const lanes *restrict b,
                                   sums *restrict to)
{
    sums z = *to;
    for (size_t i = 0; i < n; i++) {
        double r = a[i].rad + fabs(a[i].lo);
        for (int l = 0; l < LANES; l++) {
            double e, q, p = two_product(a[i].hi, b[i].hi[l], &e);
            double x = a[i].hi * b[i].lo[l], y = a[i].lo * b[i].hi[l];
            z.s[l] = two_sum(z.s[l], p, &q);
            z.c[l] += (e + q) + (x + y);
            z.T[l] += (fabs(e) + fabs(q)) + (fabs(x) + fabs(y));
            z.D[l] += fabs(b[i].hi[l]) * a[i].rad + fabs(a[i].hi) * b[i].rad[l] +
                      r * (b[i].rad[l] + fabs(b[i].lo[l]));
        }
    }
    *to = z;
}

/* Columns from .. of n rows of `dim`; those beyond the last are 0. */
static void pack_columns(size_t dim, size_t from, size_t n, const ball *b, lanes *out)
{
    size_t width = dim - from < LANES ? dim - from : LANES;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < width; l++) {
            ball x = b[i * dim + from + l];
            out[i].hi[l] = x.hi;
            out[i].lo[l] = x.lo;
            out[i].rad[l] = x.rad;
        }
}

struct outer {
    size_t dim, count;
    sums *all;   /* of each block of columns: dim */
    lanes *room; /* of each: CHUNK */
};

outer *check_outer_begin(checker *k, size_t dim)
{
    outer *o = check_take(k, 1, sizeof *o);
    o->dim = dim;
    o->all = check_take(k, blocks_of(dim) * dim, sizeof *o->all);
    o->room = check_take(k, blocks_of(dim) * CHUNK, sizeof *o->room);
    return o;
}

void check_outer_add(checker *k, outer *o, size_t count, const ball *a, const ball *b)
{
    size_t dim = o->dim, blocks = blocks_of(dim);
    CHECK_SHARED
    for (size_t block = 0; block < blocks; block++) {
        size_t from = block * LANES;
        sums *z = o->all + block * dim;
        lanes *packed = o->room + block * CHUNK;
        for (size_t at = 0; at < count && !check_stops(k); at += CHUNK) {
            size_t n = count - at < CHUNK ? count - at : CHUNK;
            pack_columns(dim, from, n, b + at * dim, packed);
            for (size_t i = from; i < dim; i++) add_balls(n, a + i * count + at, packed, z + i);
        }
    }
    o->count += count;
    check_pause(k);
}

void check_outer_end(const outer *o, ball *out)
{
    size_t dim = o->dim;
    for (size_t from = 0; from < dim; from += LANES) {
        const sums *z = o->all + from / LANES * dim;
        for (size_t i = from; i < dim; i++)
            for (size_t l = 0; l < LANES && from + l <= i; l++)
                out[i * dim + from + l] = out[(from + l) * dim + i] =
                    dot_end(o->count, z[i].s[l], z[i].c[l], z[i].T[l], z[i].D[l]);
    }
}

void check_outer(checker *k, size_t dim, size_t count, const ball *a, const ball *b, ball *out)
{
    outer *o = check_outer_begin(k, dim);
    check_outer_add(k, o, count, a, b);
    check_outer_end(o, out);
}
