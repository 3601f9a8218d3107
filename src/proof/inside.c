/* inside.c - the map of a bracket, inside its constraints.
 *
 * A metric that meets its constraints up to rounding proves nothing, so the map B is put inside them first,
 * by changes far below any gap:
 *
 *     rows of B are orthogonal, |b_i|^2 the eigenvalues: those under max / K are raised to it
 *     B is scaled until every margin holds, or (soft form) until the trace does
 *
 * Whether this was enough is for the checker to say. */
#include "proof/internal.h"

#include <stdlib.h>

static const double INSIDE = 1e-12; /* relative; above what the roundings of d = 1000 add up to */
static const double NO_ROOM = 1e-9; /* K this close to 1 leaves only multiples of the identity */

typedef struct inside {
    bdml_handle *h;
    const bdml_model *model;
    const bdml_evidence *e;
    const bdml_proof_rows *data;
    int dim;        /* of the points that the metric acts on */
    int rows;       /* of b */
    double *b;      /* rows x dim */
    int64_t *i, *j; /* of each pair: places of its rows */
    double *room;   /* for the numbers of two rows */
    long double *p; /* hard margins: points of the rows, dim each, less the first row's */
} inside;

/* ---- points --------------------------------------------------------------------------------------- */

/* p_i = reference basis (x_i - x_0) / width: differences are all that counts. Unit rows are scaled as they
 * are. */
static bdml_status make_points(inside *w)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *prep = &w->model->prepare;
    const bdml_constraints *c = w->e->constraints;
    const double *reference = w->e->reference;
    size_t columns = (size_t)prep->d_in, middle = (size_t)prep->d_out, dim = (size_t)w->dim;
    long double *u = NULL, *v = NULL;

    BDML_NEW(w->h, u, columns);
    BDML_NEW(w->h, v, middle);
    BDML_NEW(w->h, w->p, (size_t)w->data->count * dim);
    BDML_NEW(w->h, w->i, c->pairs);
    BDML_NEW(w->h, w->j, c->pairs);
    for (int64_t k = 0; k < c->pairs; k++) {
        w->i[k] = bdml_proof_rows_place(w->data, c->pi[k]);
        w->j[k] = bdml_proof_rows_place(w->data, c->pj[k]);
    }
    const double *first = bdml_proof_row(w->data, 0, w->room);
    for (int64_t i = 0; i < w->data->count; i++) {
        BDML_GO(bdml_leave_check(w->h, "proof"));
        const double *x = bdml_proof_row(w->data, i, w->room + columns);
        long double norm = 0.0L;
        for (size_t j = 0; j < columns; j++) {
            double a = x[j], b = first[j];
            u[j] = prep->scale == BDML_SCALE_UNIT ? a : (long double)a - b;
            if (prep->width) u[j] /= prep->width[j];
            norm += u[j] * u[j];
        }
        for (size_t j = 0; prep->scale == BDML_SCALE_UNIT && norm > 0.0L && j < columns; j++)
            u[j] /= sqrtl(norm);
        for (size_t k = 0; k < middle; k++) {
            v[k] = prep->basis ? 0.0L : u[k];
            for (size_t j = 0; prep->basis && j < columns; j++)
                v[k] += prep->basis[k * columns + j] * u[j];
        }
        for (size_t k = 0; k < dim; k++) {
            long double *p = w->p + (size_t)i * dim + k;
            *p = reference ? 0.0L : v[k];
            for (size_t j = 0; reference && j < middle; j++) *p += reference[k * middle + j] * v[j];
        }
    }
done:
    free(u);
    free(v);
    return status;
}

/* ---- the map, inside its constraints --------------------------------------------------------------- */

static long double row_square(const inside *w, int i)
{
    long double sum = 0.0L;
    for (int j = 0; j < w->dim; j++) sum += powl(w->b[(size_t)i * (size_t)w->dim + (size_t)j], 2);
    return sum;
}

static void scale_row(inside *w, int i, long double by)
{
    for (int j = 0; j < w->dim; j++) {
        double *b = w->b + (size_t)i * (size_t)w->dim + (size_t)j;
        *b = (double)(*b * by);
    }
}

/* kappa(B'B) <= K, by the rows' lengths. */
static void cap_distortion(inside *w)
{
    long double most = 0.0L, mean = 0.0L;
    for (int i = 0; i < w->rows; i++) {
        most = fmaxl(most, row_square(w, i));
        mean += row_square(w, i) / w->rows;
    }
    if (w->e->K < 1.0 + NO_ROOM && w->rows == w->dim) {
        memset(w->b, 0, sizeof *w->b * (size_t)w->dim * (size_t)w->dim);
        for (int i = 0; i < w->dim; i++)
            w->b[(size_t)i * (size_t)w->dim + (size_t)i] = (double)sqrtl(mean);
        return;
    }
    long double least = most / w->e->K * (1.0L + INSIDE);
    for (int i = 0; i < w->rows; i++) {
        long double square = row_square(w, i);
        if (square < least && square > 0.0L) scale_row(w, i, sqrtl(least / square));
    }
}

/* |B (p_i - p_j)|^2 from the data themselves: the difference is formed first, and nothing cancels after. u, v: d_in
 * and d_out numbers of scratch. */
static long double near_distance(const inside *w, int64_t i, int64_t j, long double *u,
                                 long double *v)
{
    const bdml_prepare *prep = &w->model->prepare;
    const double *reference = w->e->reference;
    size_t columns = (size_t)prep->d_in, middle = (size_t)prep->d_out, dim = (size_t)w->dim;
    const double *a = bdml_proof_row(w->data, i, w->room),
                 *b = bdml_proof_row(w->data, j, w->room + columns);
    long double sum = 0.0L;
    for (size_t c = 0; c < columns; c++) {
        u[c] = (long double)a[c] - b[c];
        if (prep->width) u[c] /= prep->width[c];
    }
    for (size_t k = 0; k < middle; k++) {
        v[k] = prep->basis ? 0.0L : u[k];
        for (size_t c = 0; prep->basis && c < columns; c++)
            v[k] += prep->basis[k * columns + c] * u[c];
    }
    for (size_t r = 0; r < (size_t)w->rows; r++) {
        long double z = 0.0L;
        for (size_t k = 0; k < dim; k++) {
            long double p = reference ? 0.0L : v[k];
            for (size_t c = 0; reference && c < middle; c++) p += reference[k * middle + c] * v[c];
            z += w->b[r * dim + k] * p;
        }
        sum += z * z;
    }
    return sum;
}

/* |B (p_i - p_j)|^2 of every pair: from z = B p, but where z_i and z_j all but cancel. */
static bdml_status pair_distances(inside *w, long double *distance)
{
    static const long double CANCELLED = 1e-12L;
    bdml_status status = BDML_OK;
    const bdml_constraints *c = w->e->constraints;
    const bdml_prepare *prep = &w->model->prepare;
    size_t d = (size_t)w->dim, q = (size_t)w->rows;
    long double *z = NULL, *u = NULL, *v = NULL;

    BDML_NEW(w->h, z, (size_t)w->data->count * q);
    BDML_NEW(w->h, u, prep->d_in);
    BDML_NEW(w->h, v, prep->d_out);
    for (size_t i = 0; i < (size_t)w->data->count; i++)
        for (size_t r = 0; r < q; r++)
            for (size_t j = 0; j < d; j++) z[i * q + r] += w->b[r * d + j] * w->p[i * d + j];
    for (int64_t k = 0; k < c->pairs; k++) {
        long double size = 0.0L;
        for (size_t r = 0; r < q; r++) {
            long double a = z[(size_t)w->i[k] * q + r], b = z[(size_t)w->j[k] * q + r];
            distance[k] += (a - b) * (a - b);
            size += a * a + b * b;
        }
        if (distance[k] < CANCELLED * size && prep->scale != BDML_SCALE_UNIT)
            distance[k] = near_distance(w, w->i[k], w->j[k], u, v);
    }
done:
    free(z);
    free(u);
    free(v);
    return status;
}

/* Smallest <A_t,M> / mu_t. */
static bdml_status worst_margin(inside *w, long double *worst)
{
    bdml_status status = BDML_OK;
    const bdml_constraints *c = w->e->constraints;
    long double *distance = NULL;

    BDML_NEW(w->h, distance, c->pairs);
    BDML_GO(make_points(w));
    BDML_GO(pair_distances(w, distance));
    *worst = INFINITY;
    for (int64_t t = 0; t < c->m; t++) {
        long double mu = (long double)w->e->margin * (c->margin ? c->margin[t] : 1.0);
        long double v = distance[c->far[t]] - (c->near[t] >= 0 ? distance[c->near[t]] : 0.0L);
        *worst = fminl(*worst, v / mu);
    }
done:
    free(distance);
    return status;
}

static bdml_status polish_map(inside *w)
{
    long double worst = INFINITY, trace = 0.0L, by;
    for (int i = 0; w->e->diagonal && i < w->rows; i++) { /* rounding beside the one entry */
        double *b = w->b + (size_t)i * (size_t)w->dim;
        int largest = 0;
        for (int j = 0; j < w->dim; j++)
            if (fabs(b[j]) > fabs(b[largest])) largest = j;
        for (int j = 0; j < w->dim; j++)
            if (j != largest) b[j] = 0.0;
    }
    cap_distortion(w);
    if (w->e->hard) BDML_TRY(worst_margin(w, &worst));
    for (int i = 0; i < w->rows; i++) trace += row_square(w, i);
    /* B'B may be multiplied by anything from least to most; the middle, where that is not much. */
    long double least = worst > 0.0L ? 1.0L / worst : 0.0L, most = w->e->R / trace;
    if (least * (1.0L + 2.0L * INSIDE) > most)
        by = sqrtl(least * most);
    else
        by = fminl(fmaxl(1.0L, least * (1.0L + INSIDE)), most * (1.0L - INSIDE));
    for (int i = 0; by != 1.0L && i < w->rows; i++) scale_row(w, i, sqrtl(by));
    return BDML_OK;
}

bdml_status bdml_map_inside(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_proof_rows *rows, double **b)
{
    bdml_status status = BDML_OK;
    const double *map = e->reference ? e->map : model->l;
    inside w = {.h = h, .model = model, .e = e, .data = rows, .rows = model->q};

    w.dim = e->reference ? e->reference_rows : model->d;
    size_t size = (size_t)w.rows * (size_t)w.dim;
    BDML_NEW(h, w.b, size);
    BDML_NEW(h, w.room, 2 * (size_t)rows->d);
    memcpy(w.b, map, size * sizeof *map);
    BDML_GO(polish_map(&w));
    *b = w.b;
    w.b = NULL;
done:
    free(w.b);
    free(w.room);
    free(w.p);
    free(w.i);
    free(w.j);
    return status;
}
