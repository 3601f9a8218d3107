/* scatter.c - the scatter within classes of rows that come in lots:
 *
 *     sum over rows of (p - m)(p - m)' = sum p p' - sum over classes of (1/count) s s',     s = sum of p, m = s/count of its class
 *
 * so that rows are gone over once and need not be held, and sums over some of them can be added to those over others. Points are
 * taken near their centre, and 106 bits carried along: what cancels is far above what is lost. */
#include "check.h"

#include <string.h>

enum { LOT = 2048 }; /* rows looked at together */

void check_scatter_sums(checker *k, const certificate *c, const lots *l, bool again, scatter *s)
{
    size_t e = c->basis_rows, lot = l->rows < LOT ? l->rows : LOT;
    *s = (scatter){.referred = c->reference && (again || e > 2 * c->dim), .classes = l->classes};
    size_t width = s->width = s->referred ? c->dim : e;
    const pointer make = check_pointer(k, c, l->centre);
    const panels reference = check_pack(k, c->dim, e, s->referred ? c->reference : NULL);
    ball *v = check_take(k, lot * e, sizeof *v), *a = check_take(k, lot * width, sizeof *a);
    ball *p = s->referred ? check_take(k, lot * width, sizeof *p) : v;
    outer *products = check_outer_begin(k, width);
    s->count = check_take(k, l->classes, sizeof *s->count);
    s->sum = check_take(k, l->classes * width, sizeof *s->sum);
    s->product = check_take(k, width * width, sizeof *s->product);
    for (size_t from = 0; from < l->rows; from += LOT) {
        size_t rows = l->rows - from < LOT ? l->rows - from : LOT;
        check_point(k, &make, rows, l->at(l->user, from, rows), v);
        for (size_t i = 0; s->referred && i < rows; i++)
            check_apply(&reference, v + i * e, p + i * width);
        for (size_t i = 0; i < rows; i++) {
            ball *sum = s->sum + (size_t)l->label[from + i] * width;
            s->count[l->label[from + i]] += 1.0;
            for (size_t r = 0; r < width; r++) {
                sum[r] = ball_add(sum[r], p[i * width + r]);
                a[r * rows + i] = p[i * width + r];
            }
        }
        check_outer_add(k, products, rows, a, p);
    }
    check_outer_end(products, s->product);
}

/* out = reference w reference', w symmetric. */
static void refer(checker *k, const certificate *c, const ball *w, ball *out)
{
    size_t d = c->dim, e = c->basis_rows;
    const panels reference = check_pack(k, d, e, c->reference);
    ball *wf = check_take(k, e * d, sizeof *wf), *fw = check_take(k, d * e, sizeof *fw);
    CHECK_SHARED
    for (size_t j = 0; j < e; j++)
        if (!check_stops(k)) check_apply(&reference, w + j * e, wf + j * d);
    check_pause(k);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < e; j++) fw[i * e + j] = wf[j * d + i];
    CHECK_SHARED
    for (size_t i = 0; i < d; i++)
        if (!check_stops(k)) check_apply(&reference, fw + i * e, out + i * d);
    check_pause(k);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) out[j * d + i] = out[i * d + j];
}

/* Are the entries of a known to 2^-50 of its least diagonal one? */
static bool is_sharp(size_t d, const ball *a)
{
    double least = INFINITY, most = 0.0;
    for (size_t i = 0; i < d; i++) least = fmin(least, a[i * d + i].hi);
    for (size_t e = 0; e < d * d; e++)
        if (!(a[e].rad <= most)) most = a[e].rad;
    return most <= 0x1p-50 * least;
}

/* w = product - sum over classes of (1/count) sum sum' */
static void take_means_off(checker *k, const scatter *s, ball *w)
{
    size_t width = s->width, there = 0;
    ball *a = check_take(k, s->classes * width, sizeof *a),
         *b = check_take(k, s->classes * width, sizeof *b);
    for (size_t label = 0; label < s->classes; label++) there += s->count[label] > 0.0;
    for (size_t label = 0, i = 0; label < s->classes; label++) {
        if (s->count[label] == 0.0) continue;
        for (size_t r = 0; r < width; r++) {
            a[r * there + i] = s->sum[label * width + r];
            b[i * width + r] = ball_div(s->sum[label * width + r], ball_of(s->count[label]));
        }
        i++;
    }
    check_outer(k, width, there, a, b, w);
    for (size_t e = 0; e < width * width; e++) w[e] = ball_sub(s->product[e], w[e]);
}

bool check_scatter_end(checker *k, const certificate *c, const scatter *s, ball *out)
{
    if (s->referred || !c->reference) {
        take_means_off(k, s, out);
        return true;
    }
    ball *w = check_take(k, s->width * s->width, sizeof *w);
    take_means_off(k, s, w);
    refer(k, c, w, out);
    return is_sharp(c->dim, out);
}
