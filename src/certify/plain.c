/* plain.c - points, objective and sums over constraints, one after the other in extended precision. */
#include "certify/plain.h"

#include <float.h>
#include <stdlib.h>

/* ---- points ------------------------------------------------------------------------------------- */

/* x -> prepared point, one coordinate after the other, as the model file describes it. */
bool bdml_plain_prepare(const bdml_prepare *p, const double *x, long double *scaled,
                        long double *out)
{
    long double norm = 0.0L;
    for (int j = 0; j < p->d_in; j++) {
        long double v = x[j];
        if (isnan(x[j])) {
            if (!p->fill) return false;
            v = p->fill[j];
        }
        if (p->shift) v = (v - p->shift[j]) / p->width[j];
        scaled[j] = v;
        norm += v * v;
    }
    if (p->scale == BDML_SCALE_UNIT && norm > 0.0L)
        for (int j = 0; j < p->d_in; j++) scaled[j] /= sqrtl(norm);
    for (int k = 0; k < p->d_out; k++) {
        if (!p->basis) {
            out[k] = scaled[k];
            continue;
        }
        out[k] = 0.0L;
        for (int j = 0; j < p->d_in; j++)
            out[k] +=
                p->basis[(size_t)k * (size_t)p->d_in + (size_t)j] * (scaled[j] - p->center[j]);
    }
    return true;
}

/* u = (row - first) / width, or the unit row, from which the first one's is to be taken. */
static void scale_row(const bdml_prepare *p, const double *row, const double *first, long double *u)
{
    bool unit = p->scale == BDML_SCALE_UNIT;
    long double norm = 0.0L;
    for (int j = 0; j < p->d_in; j++) {
        double a = isnan(row[j]) ? p->fill[j] : row[j], b = isnan(first[j]) ? p->fill[j] : first[j];
        u[j] = unit ? (long double)a : (long double)a - b;
        if (p->width) u[j] /= p->width[j];
        norm += u[j] * u[j];
    }
    for (int j = 0; unit && norm > 0.0L && j < p->d_in; j++) u[j] /= sqrtl(norm);
}

/* sum_j a_j u_j, as four sums side by side: in one, each addition would wait for the one before. */
static long double product(int n, const double *a, const long double *u)
{
    long double s0 = 0.0L, s1 = 0.0L, s2 = 0.0L, s3 = 0.0L;
    int j = 0;
    for (; j + 3 < n; j += 4) {
        s0 += a[j] * u[j];
        s1 += a[j + 1] * u[j + 1];
        s2 += a[j + 2] * u[j + 2];
        s3 += a[j + 3] * u[j + 3];
    }
    for (; j < n; j++) s0 += a[j] * u[j];
    return (s0 + s1) + (s2 + s3);
}

/* out = m u, m rows x columns; without m a copy. */
static void map_row(int rows, int columns, const double *m, const long double *u, long double *out)
{
    for (int k = 0; k < rows; k++)
        out[k] = m ? product(columns, m + (size_t)k * (size_t)columns, u) : u[k];
}

bdml_status bdml_plain_points(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                              const bdml_dataset *data, long double *x, long double *p)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *prep = &model->prepare;
    size_t columns = (size_t)prep->d_in, d = (size_t)prep->d_out;
    long double *u = NULL, *first = NULL;

    BDML_NEW(h, u, columns);
    BDML_NEW(h, first, columns);
    if (prep->scale == BDML_SCALE_UNIT) scale_row(prep, data->x, data->x, first);
    for (size_t i = 0; i < (size_t)data->n; i++) {
        scale_row(prep, data->x + i * columns, data->x, u);
        for (size_t j = 0; j < columns; j++) u[j] -= first[j];
        map_row(prep->d_out, prep->d_in, prep->basis, u, x + i * d);
        if (p)
            map_row(e->reference_rows, prep->d_out, e->reference, x + i * d,
                    p + i * (size_t)e->reference_rows);
    }
done:
    free(u);
    free(first);
    return status;
}

/* How far a point that is computed in doubles may be off: eps times the sizes that went into it. */
bdml_status bdml_plain_errors(bdml_handle *h, const bdml_plain *w, double *error)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *p = &w->model->prepare;
    const double *reference = w->e->reference;
    size_t d = (size_t)w->model->d;
    long double *scaled = NULL, *x = NULL;

    BDML_NEW(h, scaled, p->d_in);
    BDML_NEW(h, x, d);
    for (int64_t i = 0; i < w->n; i++) {
        long double square = 0.0L;
        bdml_plain_prepare(p, w->data->x + i * w->data->d, scaled, x);
        for (size_t k = 0; p->basis && k < d; k++) { /* sizes instead of sums */
            x[k] = 0.0L;
            for (int j = 0; j < p->d_in; j++)
                x[k] += fabsl(p->basis[k * (size_t)p->d_in + (size_t)j]) *
                        (fabsl(scaled[j]) + fabs(p->center[j]));
        }
        for (size_t k = 0; k < (size_t)w->d; k++) {
            long double size = reference ? 0.0L : x[k];
            for (size_t j = 0; reference && j < d; j++)
                size += fabsl(reference[k * d + j]) * fabsl(x[j]);
            square += size * size;
        }
        bool exact = bdml_prepare_is_identity(p) && !reference;
        double terms = 8.0 + 2.0 * p->d_in + 2.0 * (double)d;
        error[i] = exact ? 0.0 : terms * DBL_EPSILON * (double)sqrtl(square);
    }
done:
    free(scaled);
    free(x);
    return status;
}

bdml_status bdml_plain_open(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                            const bdml_dataset *data, bdml_verdict *v, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    size_t n = (size_t)data->n, d = (size_t)(e->reference ? e->reference_rows : model->d);

    *w = (bdml_plain){.model = model,
                      .e = e,
                      .data = data,
                      .c = e->constraints,
                      .v = v,
                      .n = data->n,
                      .d = (int)d};
    BDML_NEW(h, w->x, n * (size_t)model->d);
    w->p = w->x;
    if (e->reference) BDML_NEW(h, w->p, n * d);
    BDML_NEW(h, w->z, n * d);
    BDML_NEW(h, w->metric, d * d);
    BDML_NEW(h, w->g, d * d);
    BDML_NEW(h, w->slack, d * d);
    BDML_NEW(h, w->lambda, d);
    BDML_NEW(h, w->row, d);
    BDML_NEW(h, w->y, w->c->m);
    for (int64_t k = 0; k < e->duals; k++) w->y[e->dual_constraint[k]] = e->dual[k];
    status = bdml_plain_points(h, model, e, data, w->x, e->reference ? w->p : NULL);
done:
    return status;
}

void bdml_plain_close(bdml_plain *w)
{
    if (w->p != w->x) free(w->p);
    free(w->x);
    free(w->z);
    free(w->metric);
    free(w->g);
    free(w->slack);
    free(w->lambda);
    free(w->row);
    free(w->y);
}

/* ---- objective ------------------------------------------------------------------------------------ */

/* out += weight (p_i - p_j)(p_i - p_j)' */
static void add_outer(const bdml_plain *w, int32_t i, int32_t j, long double weight,
                      long double *out)
{
    const long double *a = w->p + (size_t)i * (size_t)w->d, *b = w->p + (size_t)j * (size_t)w->d;
    for (int r = 0; r < w->d; r++) {
        long double scaled = weight * (a[r] - b[r]);
        for (int s = 0; s < w->d; s++)
            out[(size_t)r * (size_t)w->d + (size_t)s] += scaled * (a[s] - b[s]);
    }
}

bdml_status bdml_plain_within(bdml_handle *h, int64_t n, int dim, const long double *p,
                              const int32_t *y, int classes, long double *s)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)dim, k = y ? (size_t)classes : 1;
    long double *mean = NULL, *row = NULL;
    int64_t *count = NULL;

    BDML_NEW(h, mean, k * d);
    BDML_NEW(h, row, d);
    BDML_NEW(h, count, k);
    memset(s, 0, d * d * sizeof *s);
    for (size_t i = 0; i < (size_t)n; i++) {
        size_t c = y ? (size_t)y[i] : 0;
        count[c]++;
        for (size_t j = 0; j < d; j++) mean[c * d + j] += p[i * d + j];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; count[c] > 0 && j < d; j++) mean[c * d + j] /= (long double)count[c];
    for (size_t i = 0; i < (size_t)n; i++) {
        size_t c = y ? (size_t)y[i] : 0;
        for (size_t j = 0; j < d; j++) row[j] = p[i * d + j] - mean[c * d + j];
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b <= a; b++) s[a * d + b] += row[a] * row[b];
    }
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++) s[b * d + a] = s[a * d + b] /= (long double)n;
done:
    free(mean);
    free(row);
    free(count);
    return status;
}

bdml_status bdml_plain_objective(bdml_handle *h, bdml_plain *w)
{
    size_t dd = (size_t)w->d * (size_t)w->d;
    memset(w->g, 0, dd * sizeof *w->g);
    if (w->e->pull == BDML_PULL_WITHIN)
        BDML_TRY(bdml_plain_within(h, w->n, w->d, w->p, w->data->y, w->data->classes, w->g));
    for (int64_t t = 0; w->e->pull == BDML_PULL_TARGETS && t < w->c->targets; t++) {
        int32_t pair = w->c->target[t];
        add_outer(w, w->c->pi[pair], w->c->pj[pair], 1.0L / (long double)w->c->targets, w->g);
    }
    for (size_t k = 0; k < dd; k++) w->g[k] *= w->e->g_scale;
    return BDML_OK;
}

/* ---- sums over constraints --------------------------------------------------------------------------- */

/* z_i += weight (p_i - p_j), z_j -= the same: Laplacian of the weighted graph of pairs, row by row. */
static void add_pair(const bdml_plain *w, int32_t pair, long double weight)
{
    size_t d = (size_t)w->d, i = (size_t)w->c->pi[pair], j = (size_t)w->c->pj[pair];
    for (size_t r = 0; r < d; r++) {
        long double v = weight * (w->p[i * d + r] - w->p[j * d + r]);
        w->z[i * d + r] += v;
        w->z[j * d + r] -= v;
    }
}

/* A*y = sum_i p_i z_i', n d^2 operations whatever the number of constraints. */
void bdml_plain_slack(bdml_plain *w, bool with_objective, const double *y)
{
    size_t d = (size_t)w->d;
    memset(w->z, 0, (size_t)w->n * d * sizeof *w->z);
    for (int64_t t = 0; t < w->c->m; t++) {
        if (y[t] == 0.0) continue;
        add_pair(w, w->c->far[t], y[t]);
        if (w->c->near[t] >= 0) add_pair(w, w->c->near[t], -(long double)y[t]);
    }
    for (size_t k = 0; k < d * d; k++) w->slack[k] = with_objective ? w->g[k] : 0.0L;
    for (size_t i = 0; i < (size_t)w->n; i++) {
        bool named = false; /* in a pair that weighs something */
        for (size_t s = 0; !named && s < d; s++) named = w->z[i * d + s] != 0.0L;
        for (size_t r = 0; named && r < d; r++) {
            long double v = w->p[i * d + r];
            for (size_t s = 0; v != 0.0L && s < d; s++) w->slack[r * d + s] -= v * w->z[i * d + s];
        }
    }
    for (size_t r = 0; r < d; r++)
        for (size_t s = 0; s < r; s++)
            w->slack[r * d + s] = w->slack[s * d + r] =
                0.5L * (w->slack[r * d + s] + w->slack[s * d + r]);
}

/* Only the diagonal counts for diagonal N. */
bool bdml_plain_slack_density(bdml_plain *w, double K, long double *value)
{
    size_t d = (size_t)w->d;
    if (w->e->diagonal)
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                if (i != j) w->slack[i * d + j] = 0.0L;
    if (!bdml_plain_eigenvalues(w->d, w->slack, w->lambda)) return false;
    *value = bdml_plain_density(w->d, w->lambda, K);
    return true;
}

long double bdml_plain_distance(const bdml_plain *w, int32_t i, int32_t j)
{
    size_t d = (size_t)w->d;
    long double sum = 0.0L;
    for (size_t r = 0; r < d; r++) {
        long double v = w->p[(size_t)i * d + r] - w->p[(size_t)j * d + r];
        sum += v * v;
    }
    return sum;
}

double bdml_plain_margin(const bdml_plain *w, int64_t t)
{
    return w->e->margin * (w->c->margin ? w->c->margin[t] : 1.0);
}

long double bdml_plain_cost(const bdml_plain *w, int64_t t)
{
    return (long double)w->e->cost * (w->c->weight ? w->c->weight[t] : 1.0) / (long double)w->c->m;
}
