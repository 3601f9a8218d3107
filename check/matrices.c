/* matrices.c - sums over pairs and rows, with bounds:
 *
 *     sum of weight X_ij over pairs,   G,   A*y = sum y_t A_t                      X_ij = (p_i - p_j)(p_i - p_j)' */
#include "matrices.h"

#include <stdlib.h>
#include <string.h>

/* A row or a pair with what makes it equal to others. */
typedef struct entry {
    size_t place, i, j;
    const void *bytes; /* of the row's numbers */
    size_t size;
} entry;

static int by_values(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    return memcmp(p->bytes, q->bytes, p->size);
}

/* The first of equal rows stands for them all. */
static int by_values_and_place(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    int order = by_values(a, b);
    return order != 0 ? order : (p->place > q->place) - (p->place < q->place);
}

static int by_rows(const void *a, const void *b)
{
    const entry *p = a, *q = b;
    if (p->i != q->i) return p->i < q->i ? -1 : 1;
    return p->j != q->j ? (p->j < q->j ? -1 : 1) : 0;
}

/* Rows with the same numbers are one point, exactly: s->pair[p] becomes one pair for all that are between the same
 * two points, SIZE_MAX for those between a point and itself. What cancels in exact arithmetic then does here. */
void check_merge_pairs(state *s)
{
    const certificate *c = s->c;
    size_t *point = check_take(s->k, c->rows, sizeof *point);
    entry *e = check_take(s->k, c->rows > c->pairs ? c->rows : c->pairs, sizeof *e);
    const given *g = s->k->given;
    for (size_t i = 0; i < c->rows; i++)
        e[i] = (entry){.place = i,
                       .bytes = g ? g->bytes(g->user, i) : c->x + i * c->columns,
                       .size = g ? g->size : c->columns * sizeof *c->x};
    qsort(e, c->rows, sizeof *e, by_values_and_place);
    for (size_t i = 0; i < c->rows; i++)
        point[e[i].place] =
            i > 0 && by_values(e + i, e + i - 1) == 0 ? point[e[i - 1].place] : e[i].place;
    for (size_t p = 0; p < c->pairs; p++) {
        size_t i = point[c->pi[p]], j = point[c->pj[p]];
        e[p] = (entry){.place = p, .i = i < j ? i : j, .j = i < j ? j : i};
    }
    qsort(e, c->pairs, sizeof *e, by_rows);
    s->pair = check_take(s->k, c->pairs, sizeof *s->pair);
    for (size_t p = 0; p < c->pairs; p++) {
        bool again = p > 0 && by_rows(e + p, e + p - 1) == 0;
        s->pair[e[p].place] = e[p].i == e[p].j ? SIZE_MAX
                              : again          ? s->pair[e[p - 1].place]
                                               : e[p].place;
    }
}

void check_make_points(state *s)
{
    const certificate *c = s->c;
    s->used = check_take(s->k, c->rows, sizeof *s->used);
    for (size_t p = 0; p < c->pairs; p++) s->used[c->pi[p]] = s->used[c->pj[p]] = 1;
    s->points = check_refer(s->k, c, s->before, s->used);
}

/* out = sum over pairs of weight X_ij (weights are merged), by the Laplacian of the weighted graph:
 *     sum_i p_i z_i',   z_i = sum over pairs (i,j) of weight (p_i - p_j)
 * over the rows that have one. */
static void laplacian(state *s, ball *weight, ball *out)
{
    const certificate *c = s->c;
    size_t dim = c->dim, count = 0, *place = check_take(s->k, c->rows, sizeof *place);
    for (size_t p = 0; p < c->pairs; p++) {
        if (s->pair[p] == p) continue;
        if (s->pair[p] != SIZE_MAX) weight[s->pair[p]] = ball_add(weight[s->pair[p]], weight[p]);
        weight[p] = ball_of(0.0);
    }
    for (size_t p = 0; p < c->pairs; p++) {
        if (ball_is_zero(weight[p])) continue;
        if (place[c->pi[p]] == 0) place[c->pi[p]] = ++count;
        if (place[c->pj[p]] == 0) place[c->pj[p]] = ++count;
    }
    memset(out, 0, dim * dim * sizeof *out);
    if (count == 0) return;
    ball *a = check_take(s->k, dim * count, sizeof *a),
         *z = check_take(s->k, dim * count, sizeof *z);
    for (size_t i = 0; i < c->rows; i++)
        for (size_t r = 0; place[i] > 0 && r < dim; r++)
            a[r * count + place[i] - 1] = s->points[i * dim + r];
    for (size_t p = 0; p < c->pairs; p++) {
        size_t i = c->pi[p], j = c->pj[p];
        if (ball_is_zero(weight[p])) continue;
        ball *zi = z + (place[i] - 1) * dim, *zj = z + (place[j] - 1) * dim;
        for (size_t r = 0; r < dim; r++) {
            ball x = ball_mul(weight[p], ball_sub(s->points[i * dim + r], s->points[j * dim + r]));
            zi[r] = ball_add(zi[r], x);
            zj[r] = ball_sub(zj[r], x);
        }
    }
    check_outer(s->k, dim, count, a, z, out);
}

static const double *stated_rows(void *user, size_t from, size_t rows)
{
    const certificate *c = user;
    (void)rows;
    return c->x + from * c->columns;
}

/* out = sum over rows of (p_i - mean of its class)(p_i - mean of its class)'. */
static void make_scatter(state *s, ball *out)
{
    const certificate *c = s->c;
    lots all = {.rows = c->rows, .at = stated_rows, .user = (void *)c, .label = c->label};
    scatter sums;
    for (size_t i = 0; i < c->rows; i++)
        if ((size_t)c->label[i] >= all.classes) all.classes = (size_t)c->label[i] + 1;
    all.centre = check_centre(s->k, c);
    for (int again = 0; again < 2; again++) {
        check_scatter_sums(s->k, c, &all, again, &sums);
        if (check_scatter_end(s->k, c, &sums, out)) return;
    }
}

void check_objective(state *s)
{
    const certificate *c = s->c;
    s->g = check_take(s->k, c->dim * c->dim, sizeof *s->g);
    if (c->objective == OBJECTIVE_TARGETS) {
        ball *weight = check_take(s->k, c->pairs, sizeof *weight);
        ball each = ball_div(ball_of(c->scale), count_of(c->targets));
        for (size_t t = 0; t < c->targets; t++)
            weight[c->target[t]] = ball_add(weight[c->target[t]], each);
        laplacian(s, weight, s->g);
        return;
    }
    ball each = ball_div(ball_of(c->scale), count_of(c->data_rows));
    if (s->k->scatter)
        memcpy(s->g, s->k->scatter, c->dim * c->dim * sizeof *s->g);
    else
        make_scatter(s, s->g);
    for (size_t e = 0; e < c->dim * c->dim; e++) s->g[e] = ball_mul(each, s->g[e]);
}

void check_adjoint(state *s, const double *y, ball *out)
{
    const certificate *c = s->c;
    ball *weight = check_take(s->k, c->pairs, sizeof *weight);
    for (size_t i = 0; i < c->multipliers; i++) {
        size_t far = c->far[c->at[i]], near = c->near[c->at[i]];
        weight[far] = ball_add(weight[far], ball_of(y[i]));
        if (near != SIZE_MAX) weight[near] = ball_sub(weight[near], ball_of(y[i]));
    }
    laplacian(s, weight, out);
}
