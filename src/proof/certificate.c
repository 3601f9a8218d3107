/* certificate.c - a model or proof as text that other programs can check: docs/certificate.md.
 *
 * A metric that meets its constraints up to rounding proves nothing, so the map B is put inside them first,
 * by changes far below any gap:
 *
 *     rows of B are orthogonal, |b_i|^2 the eigenvalues: those under max / K are raised to it
 *     B is scaled until every margin holds, or (soft form) until the trace does
 *
 * and the claimed bracket is widened by WIDEN. Whether this was enough is for the checker to say. */
#include "proof/proof.h"

#include <stdlib.h>

static const double WIDEN = 1e-12;  /* of the upper end, to either side */
static const double INSIDE = 1e-12; /* relative; above what the roundings of d = 1000 add up to */
static const double NO_ROOM = 1e-9; /* K this close to 1 leaves only multiples of the identity */

/* ---- text ---------------------------------------------------------------------------------------- */

typedef struct writer {
    bdml_handle *h;
    char *text; /* so far */
    size_t size, capacity;
    const bdml_model *model;
    const bdml_evidence *e;
    const bdml_dataset *data;
    int dim;        /* of the points that the metric acts on */
    int rows;       /* of b */
    double *b;      /* rows x dim, or NULL */
    long double *p; /* n x dim points, less the first row's */
    int32_t *used;  /* of each data row: 1 when the certificate needs it */
} writer;

static bdml_status put(writer *w, const char *fmt, ...) BDML_PRINTF(2, 3);

static bdml_status put(writer *w, const char *fmt, ...)
{
    enum { MOST = 128 }; /* of one call */
    va_list ap;
    BDML_TRY(bdml_grow(w->h, &w->text, &w->capacity, w->size + MOST, 1));
    va_start(ap, fmt);
    w->size += (size_t)bdml_vsnprintf(w->h->c_locale, w->text + w->size, MOST, fmt, ap);
    va_end(ap);
    return BDML_OK;
}

static bdml_status put_numbers(writer *w, int64_t rows, int64_t columns, const double *x)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            BDML_TRY(put(w, j + 1 < columns ? "%a " : "%a\n", x[i * columns + j]));
    return BDML_OK;
}

static bdml_status put_matrix(writer *w, const char *name, int64_t rows, int64_t columns,
                              const double *x)
{
    if (!x) return put(w, "%s none\n", name);
    BDML_TRY(put(w, "%s %lld\n", name, (long long)rows));
    return put_numbers(w, rows, columns, x);
}

/* ---- points --------------------------------------------------------------------------------------- */

/* p_i = reference basis (x_i - x_0) / width: differences are all that counts. Unit rows are scaled as they
 * are. */
static bdml_status make_points(writer *w)
{
    bdml_status status = BDML_OK;
    const bdml_prepare *prep = &w->model->prepare;
    const double *reference = w->e->reference;
    size_t columns = (size_t)prep->d_in, middle = (size_t)prep->d_out, dim = (size_t)w->dim;
    long double *u = NULL, *v = NULL;

    BDML_NEW(w->h, u, columns);
    BDML_NEW(w->h, v, middle);
    BDML_NEW(w->h, w->p, (size_t)w->data->n * dim);
    for (int64_t i = 0; i < w->data->n; i++) {
        const double *x = w->data->x + i * prep->d_in;
        long double norm = 0.0L;
        for (size_t j = 0; j < columns; j++) {
            double a = isnan(x[j]) ? prep->fill[j] : x[j], b = w->data->x[j];
            if (isnan(b)) b = prep->fill[j];
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

static long double row_square(const writer *w, int i)
{
    long double sum = 0.0L;
    for (int j = 0; j < w->dim; j++) sum += powl(w->b[(size_t)i * (size_t)w->dim + (size_t)j], 2);
    return sum;
}

static void scale_row(writer *w, int i, long double by)
{
    for (int j = 0; j < w->dim; j++) {
        double *b = w->b + (size_t)i * (size_t)w->dim + (size_t)j;
        *b = (double)(*b * by);
    }
}

/* kappa(B'B) <= K, by the rows' lengths. */
static void cap_distortion(writer *w)
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
static long double near_distance(const writer *w, int32_t i, int32_t j, long double *u,
                                 long double *v)
{
    const bdml_prepare *prep = &w->model->prepare;
    const double *reference = w->e->reference;
    size_t columns = (size_t)prep->d_in, middle = (size_t)prep->d_out, dim = (size_t)w->dim;
    long double sum = 0.0L;
    for (size_t c = 0; c < columns; c++) {
        double a = w->data->x[(size_t)i * columns + c], b = w->data->x[(size_t)j * columns + c];
        u[c] = (long double)(isnan(a) ? prep->fill[c] : a) - (isnan(b) ? prep->fill[c] : b);
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
static bdml_status pair_distances(writer *w, long double *distance)
{
    static const long double CANCELLED = 1e-12L;
    bdml_status status = BDML_OK;
    const bdml_constraints *c = w->e->constraints;
    const bdml_prepare *prep = &w->model->prepare;
    size_t d = (size_t)w->dim, q = (size_t)w->rows;
    long double *z = NULL, *u = NULL, *v = NULL;

    BDML_NEW(w->h, z, (size_t)w->data->n * q);
    BDML_NEW(w->h, u, prep->d_in);
    BDML_NEW(w->h, v, prep->d_out);
    for (size_t i = 0; i < (size_t)w->data->n; i++)
        for (size_t r = 0; r < q; r++)
            for (size_t j = 0; j < d; j++) z[i * q + r] += w->b[r * d + j] * w->p[i * d + j];
    for (int64_t k = 0; k < c->pairs; k++) {
        long double size = 0.0L;
        for (size_t r = 0; r < q; r++) {
            long double a = z[(size_t)c->pi[k] * q + r], b = z[(size_t)c->pj[k] * q + r];
            distance[k] += (a - b) * (a - b);
            size += a * a + b * b;
        }
        if (distance[k] < CANCELLED * size && prep->scale != BDML_SCALE_UNIT)
            distance[k] = near_distance(w, c->pi[k], c->pj[k], u, v);
    }
done:
    free(z);
    free(u);
    free(v);
    return status;
}

/* Smallest <A_t,M> / mu_t. */
static bdml_status worst_margin(writer *w, long double *worst)
{
    bdml_status status = BDML_OK;
    const bdml_constraints *c = w->e->constraints;
    long double *distance = NULL;

    BDML_NEW(w->h, distance, c->pairs);
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

static bdml_status polish_map(writer *w)
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

static bdml_status make_map(writer *w)
{
    bdml_status status = BDML_OK;
    const double *map = w->e->reference ? w->e->map : w->model->l;
    size_t size = (size_t)w->model->q * (size_t)w->dim;

    w->rows = w->model->q;
    BDML_NEW(w->h, w->b, size);
    memcpy(w->b, map, size * sizeof *map);
    BDML_GO(make_points(w));
    status = polish_map(w);
done:
    return status;
}

/* ---- sections --------------------------------------------------------------------------------------- */

static bool is_bracket(const bdml_evidence *e)
{
    return e->claim == BDML_CLAIM_OPTIMAL || e->claim == BDML_CLAIM_STOPPED;
}

/* "bracket", "lower", "infeasible" (up to this trace), "contradiction" (at any). */
static const char *claim_word(const writer *w)
{
    if (is_bracket(w->e)) return "bracket";
    if (w->e->claim == BDML_CLAIM_APPROXIMATE) return "lower";
    return isfinite(w->e->reach) ? "infeasible" : "contradiction";
}

static bdml_status put_problem(writer *w)
{
    const bdml_evidence *e = w->e;
    BDML_TRY(put(w, "bdml-certificate 1\nclaim %s\n", claim_word(w)));
    BDML_TRY(put(w, "form %s\n", e->hard ? "hard" : e->squared ? "squared-hinge" : "hinge"));
    BDML_TRY(put(w, "metric %s\ndistortion %a\n", e->diagonal ? "diagonal" : "full", e->K));
    double trace = e->claim == BDML_CLAIM_INFEASIBLE && isfinite(e->reach) ? e->reach : e->R;
    BDML_TRY(isfinite(trace) ? put(w, "trace %a\n", trace) : put(w, "trace none\n"));
    BDML_TRY(put(w, "margin %a\n", e->margin));
    BDML_TRY(e->hard ? put(w, "cost none\n") : put(w, "cost %a\n", e->cost));
    if (e->claim == BDML_CLAIM_INFEASIBLE) return put(w, "objective none\n");
    return put(w, "objective %s %a\n", e->pull == BDML_PULL_TARGETS ? "targets" : "within",
               e->g_scale);
}

static bdml_status put_preparation(writer *w)
{
    const bdml_prepare *p = &w->model->prepare;
    BDML_TRY(put(w, "data %lld %d\n", (long long)w->data->n, p->d_in));
    BDML_TRY(put(w, p->fill ? "missing\n" : "missing none\n"));
    if (p->fill) BDML_TRY(put_numbers(w, 1, p->d_in, p->fill));
    BDML_TRY(put(w, p->scale == BDML_SCALE_UNIT ? "unit yes\n" : "unit no\n"));
    BDML_TRY(put(w, p->width ? "width\n" : "width none\n"));
    for (int j = 0; p->width && j < p->d_in; j++)
        BDML_TRY(isfinite(p->width[j]) ? put(w, "%a\n", p->width[j]) : put(w, "constant\n"));
    BDML_TRY(put_matrix(w, "basis", p->d_out, p->d_in, p->basis));
    return put_matrix(w, "reference", w->e->reference_rows, w->e->reference_columns,
                      w->e->reference);
}

static bdml_status put_rows(writer *w)
{
    const bdml_constraints *c = w->e->constraints;
    bool within = w->e->claim != BDML_CLAIM_INFEASIBLE && w->e->pull == BDML_PULL_WITHIN;
    long long count = 0;
    int d = w->data->d;
    for (int64_t k = 0; k < c->pairs; k++) w->used[c->pi[k]] = w->used[c->pj[k]] = 1;
    for (int64_t i = 0; i < w->data->n; i++) count += w->used[i] |= within;
    BDML_TRY(put(w, "rows %lld\n", count));
    for (int64_t i = 0; i < w->data->n; i++) {
        if (!w->used[i]) continue;
        BDML_TRY(bdml_deadline_check(w->h, "proof"));
        BDML_TRY(put(w, "%lld", (long long)i));
        for (int j = 0; j < d; j++) {
            double x = w->data->x[i * d + j];
            BDML_TRY(put(w, " %a", isnan(x) ? w->model->prepare.fill[j] : x));
        }
        BDML_TRY(put(w, "\n"));
    }
    if (!within) return put(w, "classes none\n");
    BDML_TRY(put(w, "classes %lld\n", (long long)w->data->n));
    for (int64_t i = 0; i < w->data->n; i++) BDML_TRY(put(w, "%d\n", w->data->y[i]));
    return BDML_OK;
}

static bdml_status put_constraints(writer *w)
{
    const bdml_constraints *c = w->e->constraints;
    bool targets = w->e->claim != BDML_CLAIM_INFEASIBLE && w->e->pull == BDML_PULL_TARGETS;
    BDML_TRY(put(w, "pairs %lld\n", (long long)c->pairs));
    for (int64_t k = 0; k < c->pairs; k++) BDML_TRY(put(w, "%d %d\n", c->pi[k], c->pj[k]));
    BDML_TRY(put(w, "targets %lld\n", targets ? (long long)c->targets : 0LL));
    for (int64_t t = 0; targets && t < c->targets; t++) BDML_TRY(put(w, "%d\n", c->target[t]));
    BDML_TRY(put(w, "constraints %lld\n", (long long)c->m));
    for (int64_t t = 0; t < c->m; t++) {
        BDML_TRY(c->near[t] >= 0 ? put(w, "%d %d", c->far[t], c->near[t])
                                 : put(w, "%d -", c->far[t]));
        BDML_TRY(
            put(w, " %a %a\n", c->margin ? c->margin[t] : 1.0, c->weight ? c->weight[t] : 1.0));
    }
    return BDML_OK;
}

static bdml_status put_evidence(writer *w)
{
    const bdml_evidence *e = w->e;
    BDML_TRY(put_matrix(w, "map", w->rows, w->dim, w->b));
    BDML_TRY(put(w, "multipliers %lld\n", (long long)e->duals));
    for (int64_t k = 0; k < e->duals; k++)
        BDML_TRY(put(w, "%d %a\n", e->dual_constraint[k], e->dual[k]));
    double room = WIDEN * fabs(is_bracket(e) ? e->upper : e->lower);
    if (e->claim != BDML_CLAIM_INFEASIBLE) BDML_TRY(put(w, "lower %a\n", e->lower - room));
    if (is_bracket(e)) BDML_TRY(put(w, "upper %a\n", e->upper + room));
    return put(w, "end\n");
}

/* ---- entry ------------------------------------------------------------------------------------------- */

bdml_status bdml_certificate_text(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                                  const bdml_dataset *data, char **text, size_t *size)
{
    bdml_status status = BDML_OK;
    writer w = {.h = h,
                .model = model,
                .e = e,
                .data = data,
                .dim = e->reference ? e->reference_rows : model->d};

    BDML_NEW(h, w.used, data->n);
    if (is_bracket(e)) BDML_GO(make_map(&w));
    BDML_GO(put_problem(&w));
    BDML_GO(put_preparation(&w));
    BDML_GO(put_rows(&w));
    BDML_GO(put_constraints(&w));
    BDML_GO(put_evidence(&w));
    *text = w.text;
    *size = w.size;
    w.text = NULL;
done:
    free(w.text);
    free(w.used);
    free(w.b);
    free(w.p);
    return status;
}
