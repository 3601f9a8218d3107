/* reduce.c - exact reduction to the span of the data (eq. 13).
 *
 * All A_t and G live on the span of the centred points that occur in constraints. In an
 * orthonormal basis B (d x r) of it the problem has r x r matrices; outside it M is a multiple
 * of the identity. */
#include "solver/engine.h"

#include <stdlib.h>

/* A direction with less than this share of the largest variance counts as absent. Columns that
 * depend on each other in the text of a file do so only to its digits (Segment: 1e-12). */
static const double ABSENT = 1e-11;

/* Points that occur in pairs, each once and centred, in the order of their rows: `all` of them, of which `count` are here. Where
 * all ranks know the constraints each has the stretch of points that it adds up; else those of its own. */
typedef struct points {
    int64_t all, count;
    double *x; /* d x count */
} points;

/* True when all ranks know all constraints and who has which row. */
static bool is_stated(const bdml_problem *p)
{
    return p->stated.c != p->c;
}

static const bdml_comm *whose(const bdml_problem *p)
{
    return is_stated(p) ? p->comm : &bdml_comm_serial;
}

/* row[0 .. count): the rows that occur in pairs, of the data or of this rank's. */
static bdml_status named_rows(bdml_handle *h, const bdml_statement *s, int64_t **row,
                              int64_t *count)
{
    bdml_status status = BDML_OK;
    unsigned char *used = NULL;
    *count = 0;
    BDML_NEW(h, used, s->n);
    for (int64_t q = 0; q < s->c->pairs; q++) used[s->c->pi[q]] = used[s->c->pj[q]] = 1;
    for (int64_t i = 0; i < s->n; i++) *count += used[i];
    BDML_NEW(h, *row, *count);
    for (int64_t i = 0, k = 0; i < s->n; i++)
        if (used[i]) (*row)[k++] = i;
done:
    free(used);
    return status;
}

/* Rows of a statement into out, d apart. */
static bdml_status fetch(bdml_handle *h, const bdml_statement *s, int d, int64_t count,
                         const int64_t *row, double *out)
{
    if (!s->made) return bdml_spread_fetch(h, s->over, d, s->x, s->ld, count, row, out);
    s->made->some(s->made, count, row, 0, out);
    return BDML_OK;
}

/* Point by point, in their order. */
static void centre(const bdml_comm *comm, int d, points *a, double *mean)
{
    bdml_comm_chain_begin(comm, d, mean);
    for (int64_t i = 0; i < a->count; i++)
        for (int j = 0; j < d; j++) mean[j] += COL(a->x, d, i)[j] / (double)a->all;
    bdml_comm_chain_end(comm, d, mean);
    for (int64_t i = 0; i < a->count; i++)
        for (int j = 0; j < d; j++) COL(a->x, d, i)[j] -= mean[j];
}

static bdml_status gather(bdml_handle *h, const bdml_problem *p, points *a)
{
    bdml_status status = BDML_OK;
    const bdml_statement *s = &p->stated;
    int64_t *row = NULL;
    double *mean = NULL;
    int d = p->d;

    BDML_NEW(h, mean, d);
    BDML_GO(named_rows(h, s, &row, &a->all));
    bdml_stretch here = bdml_la_gram_stretch(whose(p), a->all);
    a->count = here.end - here.first;
    BDML_NEW(h, a->x, a->count * d);
    BDML_GO(fetch(h, s, d, a->count, row + here.first, a->x));
    centre(whose(p), d, a, mean);
done:
    free(row);
    free(mean);
    return status;
}

/* Scatter of the points: it spans the differences of their pairs. With the given objective added in, so that its range is in the span too.
 * Directions that the points hardly have turn with its last digits, so that these must not depend on the number of ranks. */
static bdml_status scatter(bdml_handle *h, const bdml_problem *p, double *s)
{
    const double *objective = p->objective;
    bdml_status status = BDML_OK;
    points a = {0};
    double *ws = NULL, top = 0.0, objective_top = 0.0;
    int d = p->d;

    BDML_GO(gather(h, p, &a));
    BDML_NEW(h, ws, bdml_la_gram_size(d));
    bdml_la_gram_ranks(h, whose(p), d, a.all, a.x, d, NULL, s, ws);
    if (!is_stated(p)) bdml_comm_sum_symmetric(p->comm, d, s);
    for (int j = 0; j < d; j++) top += COL(s, d, j)[j];
    for (int j = 0; objective && j < d; j++) objective_top += COL(objective, d, j)[j];
    if (objective && objective_top > 0.0)
        for (size_t i = 0; i < (size_t)d * (size_t)d; i++)
            s[i] += objective[i] * (top / objective_top);
done:
    free(a.x);
    free(ws);
    return status;
}

/* Diagonal form: keep the coordinates that vary at all. */
static bdml_status keep_coordinates(bdml_handle *h, bdml_problem *p, double *s)
{
    p->kept = bdml_alloc(h, (size_t)p->d, sizeof *p->kept);
    if (!p->kept) return BDML_ERR_MEMORY;
    for (int j = 0; j < p->d; j++)
        if (COL(s, p->d, j)[j] > 0.0) p->kept[p->r++] = j;
    return BDML_OK;
}

/* Largest |column - B B' column| over `count` columns of a (d rows), and the largest |column|. */
static void residual(const bdml_problem *p, int64_t count, const double *a, double *part,
                     double *rest, double *left, double *size)
{
    enum { TILE = 256 };
    int d = p->d, r = p->r;
    for (int64_t k = 0; k < count; k += TILE) {
        int tile = (int)BDML_MIN((int64_t)TILE, count - k);
        memcpy(rest, COL(a, d, k), sizeof *rest * (size_t)d * (size_t)tile);
        bdml_la_gemm('T', 'N', r, tile, d, 1.0, p->basis, d, rest, d, 0.0, part, r);
        bdml_la_gemm('N', 'N', d, tile, r, -1.0, p->basis, d, part, r, 1.0, rest, d);
        for (int i = 0; i < tile; i++) {
            *left = BDML_MAX(*left, bdml_la_norm(d, COL(rest, d, i)));
            *size = BDML_MAX(*size, bdml_la_norm(d, COL(a, d, k + i)));
        }
    }
}

/* Was nothing but rounding dropped? Judged by the points and the columns of the objective themselves: in their squares
 * a direction 1e-8 times as long as the longest drowns. */
static bdml_status judge(bdml_handle *h, bdml_problem *p)
{
    enum { TILE = 256 };
    static const double ROUNDING = 64.0 * 2.3e-16;
    bdml_status status = BDML_OK;
    points a = {0};
    double *part = NULL, *rest = NULL, left = 0.0, size = 0.0, g_left = 0.0, g_size = 0.0;

    BDML_GO(gather(h, p, &a));
    BDML_NEW(h, part, (size_t)p->r * TILE);
    BDML_NEW(h, rest, (size_t)p->d * TILE);
    residual(p, a.count, a.x, part, rest, &left, &size);
    if (p->objective) residual(p, p->d, p->objective, part, rest, &g_left, &g_size);
    left = bdml_comm_largest(p->comm, left);
    size = bdml_comm_largest(p->comm, size);
    p->exact = left <= p->d * ROUNDING * size && g_left <= p->d * ROUNDING * g_size;
done:
    free(a.x);
    free(part);
    free(rest);
    return status;
}

/* Full form: eigenvectors of the scatter. s becomes them. */
static bdml_status find_basis(bdml_handle *h, bdml_problem *p, double *s)
{
    bdml_status status = BDML_OK;
    bdml_eigh_ws ws = {0};
    double *lambda = NULL;
    int d = p->d;

    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, d, &ws));
    BDML_GO(bdml_la_eigh(h, d, s, lambda, true, &ws));
    double top = BDML_MAX(lambda[d - 1], 0.0);
    while (p->r < d && lambda[d - 1 - p->r] > ABSENT * top) p->r++;
    if (p->r > 0 && p->r < d) {
        BDML_NEW(h, p->basis, (size_t)d * (size_t)p->r);
        memcpy(p->basis, COL(s, d, d - p->r), sizeof *s * (size_t)d * (size_t)p->r);
        status = judge(h, p);
    }
done:
    free(lambda);
    bdml_eigh_ws_free(&ws);
    return status;
}

/* Rows `from` .. of x, moved by the first row of the data: far from the origin the product would cancel. What becomes of a row
 * depends on that row alone: which rows stand beside it is another matter where they are made, or of several ranks. */
static void reduce_tile(bdml_handle *h, const bdml_problem *p, const double *first, int64_t from,
                        int count, double *moved, double *z, double *ws)
{
    int d = p->d;
    for (int i = 0; i < count; i++) {
        const double *row = p->x + (size_t)(from + i) * (size_t)p->ld;
        for (int j = 0; j < d; j++) COL(moved, d, i)[j] = row[j] - first[j];
    }
    bdml_la_map_rows(h, p->r, d, p->basis, count, moved, d, COL(z, p->r, from), ws);
}

/* Points in the basis, n x r; differences are all that counts, so their origin does not. */
static bdml_status reduced_points(bdml_handle *h, const bdml_problem *p, double **out)
{
    enum { TILE = 256 };
    bdml_status status = BDML_OK;
    const bdml_statement *s = &p->stated;
    const int64_t row = 0;
    double *z = NULL, *moved = NULL, *first = NULL, *ws = NULL;

    BDML_NEW(h, z, (size_t)p->n * (size_t)p->r);
    if (p->kept) {
        for (int64_t i = 0; i < p->n; i++)
            for (int k = 0; k < p->r; k++)
                COL(z, p->r, i)[k] = p->x[(size_t)i * (size_t)p->ld + (size_t)p->kept[k]];
    } else {
        BDML_NEW(h, moved, (size_t)p->d * TILE);
        BDML_NEW(h, first, p->d);
        BDML_NEW(h, ws, bdml_la_map_size(p->r, p->d));
        BDML_GO(fetch(h, s, p->d, 1, &row, first));
        for (int64_t i = 0; i < p->n; i += TILE)
            reduce_tile(h, p, first, i, (int)BDML_MIN((int64_t)TILE, p->n - i), moved, z, ws);
    }
    *out = z;
    z = NULL;
done:
    free(z);
    free(ws);
    free(moved);
    free(first);
    return status;
}

const bdml_form bdml_full_form = {&bdml_full_operator, &bdml_full_matrices, find_basis};
const bdml_form bdml_diagonal_form = {&bdml_diagonal_operator, &bdml_diagonal_matrices,
                                      keep_coordinates};

bdml_status bdml_reduce(bdml_handle *h, bdml_problem *p, double **z)
{
    bdml_status status = BDML_OK;
    double *s = NULL;

    *z = NULL;
    p->r = 0;
    p->exact = true;
    BDML_NEW(h, s, (size_t)p->d * (size_t)p->d);
    BDML_GO(scatter(h, p, s));
    BDML_GO(p->form->find_span(h, p, s));
    if (p->r == 0) {
        status = bdml_fail(h, BDML_ERR_DATA, "all points of the constraints are identical");
        goto done;
    }
    if (p->r < p->d) BDML_GO(reduced_points(h, p, z));
done:
    free(s);
    return status;
}

/* m = B' user B, or the kept part of the diagonal. */
void bdml_reduce_metric(const bdml_problem *p, const double *user, double *m, double *ws)
{
    if (p->kept) {
        for (int k = 0; k < p->r; k++) m[k] = user[p->kept[k]];
    } else if (p->basis) {
        bdml_la_gemm('N', 'N', p->d, p->r, p->d, 1.0, user, p->d, p->basis, p->d, 0.0, ws, p->d);
        bdml_la_gemm('T', 'N', p->r, p->r, p->d, 1.0, p->basis, p->d, ws, p->d, 0.0, m, p->r);
        bdml_la_mirror(p->r, m, p->r);
    } else {
        memcpy(m, user, sizeof *m * p->A.size);
    }
}

/* user = B (m - fill I) B' + fill I. */
void bdml_expand_metric(const bdml_problem *p, const double *m, double fill, double *user,
                        double *ws)
{
    int d = p->d, r = p->r;
    if (p->kept) {
        for (int j = 0; j < d; j++) user[j] = fill;
        for (int k = 0; k < r; k++) user[p->kept[k]] = m[k];
    } else if (p->basis) {
        for (int j = 0; j < r; j++)
            for (int i = 0; i < d; i++) COL(ws, d, j)[i] = -fill * COL(p->basis, d, j)[i];
        bdml_la_gemm('N', 'N', d, r, r, 1.0, p->basis, d, m, r, 1.0, ws, d);
        bdml_la_gemm('N', 'T', d, d, r, 1.0, ws, d, p->basis, d, 0.0, user, d);
        for (int i = 0; i < d; i++) COL(user, d, i)[i] += fill;
        bdml_la_mirror(d, user, d);
    } else {
        memcpy(user, m, sizeof *m * p->A.size);
    }
}
