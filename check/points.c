/* points.c - the points that the metric acts on.
 *
 *     u = x / width   (or x / |x|),     v = basis u,     p = reference v
 *
 * The statement is about differences p_i - p_j alone. All maps after x / |x| are linear, so any common vector
 * may be taken off first: near the mean of the rows, nothing cancels that the data do not cancel. */
#include "check.h"

size_t check_lot(const certificate *c)
{
    enum { NUMBERS = 1 << 20, LEAST = 64 };
    size_t rows = NUMBERS / c->columns;
    return rows > LEAST ? rows : LEAST;
}

const double *check_rows_at(const checker *k, const certificate *c, size_t from, size_t rows)
{
    return k->given ? k->given->at(k->given->user, from, rows) : c->x + from * c->columns;
}

double *check_centre(checker *k, const certificate *c)
{
    double *centre = check_take(k, c->columns, sizeof *centre);
    for (size_t i = 0; i < c->rows; i++) {
        const double *x = check_rows_at(k, c, i, 1);
        for (size_t j = 0; j < c->columns; j++) centre[j] += x[j] / (double)c->rows;
    }
    for (size_t j = 0; j < c->columns; j++)
        if (!isfinite(centre[j])) centre[j] = 0.0;
    return centre;
}

/* u = x / |x|; a row of zeros stays. */
static void unit_row(const certificate *c, const double *x, ball *u)
{
    ball square = ball_of(0.0);
    for (size_t j = 0; j < c->columns; j++)
        square = ball_add(square, ball_mul(ball_of(x[j]), ball_of(x[j])));
    size_t entries = 0;
    for (size_t j = 0; j < c->columns; j++) entries += x[j] != 0.0;
    ball length = ball_sqrt(square);
    for (size_t j = 0; j < c->columns; j++) {
        if (x[j] == 0.0)
            u[j] = ball_of(0.0);
        else /* one entry alone becomes 1 or -1, exactly */
            u[j] =
                entries == 1 ? ball_of(x[j] > 0.0 ? 1.0 : -1.0) : ball_div(ball_of(x[j]), length);
    }
}

static void scaled_row(const certificate *c, const double *x, const double *centre, ball *u)
{
    for (size_t j = 0; j < c->columns; j++) {
        u[j] = ball_sub(ball_of(x[j]), ball_of(centre[j]));
        if (!c->width) continue;
        u[j] = c->width[j] > 0.0 ? ball_div(u[j], ball_of(c->width[j])) : ball_of(0.0);
    }
}

pointer check_pointer(checker *k, const certificate *c, const double *centre)
{
    pointer p = {.c = c, .centre = centre, .parts = k->threads > 1 ? 4 * (size_t)k->threads : 1};
    p.basis = check_pack(k, c->basis_rows, c->columns, c->basis);
    p.room = check_take(k, p.parts * c->columns, sizeof *p.room);
    return p;
}

void check_point(checker *k, const pointer *p, size_t rows, const double *x, ball *v)
{
    const certificate *c = p->c;
    CHECK_SHARED
    for (size_t part = 0; part < p->parts; part++) {
        ball *u = p->room + part * c->columns;
        for (size_t i = part; i < rows && !check_stops(k); i += p->parts) {
            if (c->unit)
                unit_row(c, x + i * c->columns, u);
            else
                scaled_row(c, x + i * c->columns, p->centre, u);
            check_apply(&p->basis, u, v + i * c->basis_rows);
        }
    }
    check_pause(k);
}

ball *check_points(checker *k, const certificate *c)
{
    const pointer p = check_pointer(k, c, check_centre(k, c));
    ball *v = check_take(k, c->rows * c->basis_rows, sizeof *v);
    size_t lot = check_lot(c);
    for (size_t from = 0; from < c->rows; from += lot) {
        size_t rows = c->rows - from < lot ? c->rows - from : lot;
        check_point(k, &p, rows, check_rows_at(k, c, from, rows), v + from * c->basis_rows);
    }
    return v;
}

const ball *check_refer(checker *k, const certificate *c, const ball *v, const size_t *wanted)
{
    if (!c->reference) return v;
    const panels reference = check_pack(k, c->dim, c->basis_rows, c->reference);
    ball *p = check_take(k, c->rows * c->dim, sizeof *p);
    CHECK_SHARED
    for (size_t i = 0; i < c->rows; i++)
        if (wanted[i] && !check_stops(k))
            check_apply(&reference, v + i * c->basis_rows, p + i * c->dim);
    check_pause(k);
    return p;
}
