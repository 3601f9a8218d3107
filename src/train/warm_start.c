/* warm_start.c - metric and multipliers of a model, for the points and constraints of another training.
 *
 *     model      z = a x + ..           a = L P0, P0 the linear part of its preparation
 *     here       p = R P x + ..         P that of this preparation, R the reference
 *
 *     A = argmin |(a - A P) D|_F        D = diag(spread of the columns)         A = a D (P D)^+
 *     M = B'B,  B = A R^+               M of the model itself where P = P0 and R is of full rank
 *
 * M need not meet the cap: solves project where they start. */
#include "train/warm.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

/* ---- metric ----------------------------------------------------------------------------------------------- */

/* out (q rows of r) = a (q rows of d) t^+, t r rows of d, r <= d, destroyed. Directions that t maps to rounding count for nothing. */
static bdml_status after_inverse(bdml_handle *h, int q, int d, const double *a, int r, double *t,
                                 double *out)
{
    bdml_status status = BDML_OK;
    double *sigma = NULL, *u = NULL, *vt = NULL, *at = NULL;

    BDML_NEW(h, sigma, r);
    BDML_NEW(h, u, (size_t)d * (size_t)r);
    BDML_NEW(h, vt, (size_t)r * (size_t)r);
    BDML_NEW(h, at, (size_t)r * (size_t)q);
    /* as columns t' (d x r) = U S V', so that a t^+ = (a U) S^-1 V' */
    BDML_GO(bdml_la_svd(h, d, r, t, sigma, u, vt));
    bdml_la_gemm('T', 'N', r, q, d, 1.0, u, d, a, d, 0.0, at, r);
    for (int k = 0; k < r; k++) {
        bool there = sigma[k] > (double)d * DBL_EPSILON * sigma[0];
        for (int i = 0; i < q; i++) COL(at, r, i)[k] *= there ? 1.0 / sigma[k] : 0.0;
    }
    bdml_la_gemm('T', 'N', r, q, r, 1.0, vt, r, at, r, 0.0, out, r);
done:
    free(sigma);
    free(u);
    free(vt);
    free(at);
    return status;
}

/* q rows of the d columns, times their spread in the data of the model. */
static void weigh_columns(const bdml_model *m, int q, int d, double *a)
{
    const json_t *spread = json_object_get(m->info, "feature_spread");
    for (int j = 0; json_array_size(spread) == (size_t)d && j < d; j++) {
        double s = json_number_value(json_array_get(spread, (size_t)j));
        for (int i = 0; i < q; i++) COL(a, d, i)[j] *= isfinite(s) ? s : 0.0;
    }
}

bdml_status bdml_warm_prepared(bdml_handle *h, const bdml_prepare *p)
{
    bdml_status status = BDML_OK;
    bdml_warm *w = h->warm;
    const bdml_model *m = w->model;
    int q = m->q, d = p->d_out;
    double *a = NULL, *t = NULL, *b = NULL, *unit = NULL;

    w->d = d;
    BDML_NEW(h, w->map, (size_t)q * (size_t)d);
    if (bdml_prepare_same(p, &m->prepare)) {
        memcpy(w->map, m->l, sizeof *w->map * (size_t)q * (size_t)d);
        return BDML_OK;
    }
    BDML_NEW(h, a, (size_t)q * (size_t)p->d_in);
    BDML_NEW(h, t, (size_t)d * (size_t)p->d_in);
    BDML_NEW(h, b, BDML_MAX(q, d));
    BDML_NEW(h, unit, (size_t)d * (size_t)d);
    for (int j = 0; j < d; j++) COL(unit, d, j)[j] = 1.0;
    bdml_model_affine(m, a, b);
    bdml_prepare_affine(p, d, unit, t, b);
    weigh_columns(m, q, p->d_in, a);
    weigh_columns(m, d, p->d_in, t);
    status = after_inverse(h, q, p->d_in, a, d, t, w->map);
done:
    free(a);
    free(t);
    free(b);
    free(unit);
    return status;
}

bdml_status bdml_warm_metric(bdml_handle *h, const bdml_reference *r, double margin, double **m)
{
    bdml_status status = BDML_OK;
    const bdml_warm *w = h->warm;
    const bdml_evidence *e = w->model->evidence;
    int q = w->model->q, rows = r->map ? r->rows : w->d;
    size_t size = (size_t)rows * (size_t)rows;
    double *b = NULL, *t = NULL, scale = e && e->margin > 0.0 ? margin / e->margin : 1.0;

    BDML_NEW(h, *m, size);
    BDML_NEW(h, b, (size_t)q * (size_t)rows);
    if (r->map) {
        BDML_NEW(h, t, (size_t)rows * (size_t)w->d);
        memcpy(t, r->map, sizeof *t * (size_t)rows * (size_t)w->d);
        BDML_GO(after_inverse(h, q, w->d, w->map, rows, t, b));
    } else {
        memcpy(b, w->map, sizeof *b * (size_t)q * (size_t)rows);
    }
    bdml_la_syrk('N', rows, q, scale, b, rows, 0.0, *m, rows);
    bdml_la_mirror(rows, *m, rows);
    for (size_t k = 0; k < size; k++) {
        if (isfinite((*m)[k])) continue;
        free(*m); /* numbers too large: a cold start, and nothing is lost */
        *m = NULL;
        break;
    }
done:
    free(b);
    free(t);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

typedef struct marked {
    uint64_t hash;
    int32_t row;
} marked;

static int by_hash(const void *a, const void *b)
{
    const marked *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows by what the model maps them to, sorted. */
static bdml_status mark(bdml_handle *h, int64_t n, int q, const double *z, marked **out)
{
    bdml_status status = BDML_OK;
    uint64_t bits;
    BDML_NEW(h, *out, n);
    for (int64_t i = 0; i < n; i++) {
        (*out)[i].row = (int32_t)i;
        for (int j = 0; j < q; j++) {
            memcpy(&bits, z + (size_t)i * (size_t)q + (size_t)j, sizeof bits);
            (*out)[i].hash = bdml_mix((*out)[i].hash, bits);
        }
    }
    qsort(*out, (size_t)n, sizeof **out, by_hash);
done:
    return status;
}

/* The image of a row depends on that row alone, to the bit: rows of the same image are taken for the same. */
static bdml_status match_images(bdml_handle *h, bdml_warm *w)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = w->model;
    int64_t n = w->data->n;
    double *z = NULL;
    marked *then = NULL, *now = NULL;

    BDML_NEW(h, z, (size_t)n * (size_t)m->q);
    BDML_GO(bdml_transform(h, m, n, w->data->x, w->data->d, z));
    BDML_GO(mark(h, m->points, m->q, m->z, &then));
    BDML_GO(mark(h, n, m->q, z, &now));
    for (int64_t a = 0, b = 0; a < m->points; a++) {
        while (b < n && now[b].hash < then[a].hash) b++;
        if (b < n && now[b].hash == then[a].hash) w->row[then[a].row] = now[b++].row;
    }
done:
    free(z);
    free(then);
    free(now);
    return status;
}

/* The data begin with the rows of the model, or hold them elsewhere and the model has kept their images. */
static bdml_status find_rows(bdml_handle *h, bdml_warm *w)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = w->model;
    int64_t then = m->evidence->constraints->n;
    const char *told = json_string_value(json_object_get(m->info, "data_fingerprint"));
    char now[24] = "";

    /* a file may speak of more rows than it has, and than there are */
    if (w->row || (then > w->data->n && then != m->points)) return BDML_OK;
    BDML_NEW(h, w->row, then);
    if (then <= w->data->n)
        snprintf(now, sizeof now, "%016" PRIx64, bdml_dataset_fingerprint_of(w->data, then));
    bool begins = told && strcmp(told, now) == 0;
    for (int64_t i = 0; i < then; i++) w->row[i] = begins ? (int32_t)i : -1;
    if (!begins && m->points == then && !w->data->over) status = match_images(h, w);
done:
    return status;
}

/* ---- multipliers ------------------------------------------------------------------------------------------ */

/* A constraint by its rows: the far pair, the near pair or -1, each with its smaller row first. */
typedef struct keyed {
    int32_t key[4];
    double y;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    for (int k = 0; k < 4; k++)
        if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
    return 0;
}

static void put_pair(const bdml_constraints *c, int32_t pair, const int32_t *row, int32_t *key)
{
    int32_t i = c->pi[pair], j = c->pj[pair];
    if (row) i = row[i], j = row[j];
    key[0] = BDML_MIN(i, j);
    key[1] = BDML_MAX(i, j);
}

/* row: what its rows are called here; NULL: as they are. False: one of them is not here. */
static bool key_of(const bdml_constraints *c, int64_t t, const int32_t *row, keyed *out)
{
    out->key[2] = out->key[3] = -1;
    put_pair(c, c->far[t], row, out->key);
    if (c->near[t] < 0) return out->key[0] >= 0;
    put_pair(c, c->near[t], row, out->key + 2);
    return out->key[0] >= 0 && out->key[2] >= 0;
}

/* Those of the model whose rows are here, sorted. */
static bdml_status known_multipliers(bdml_handle *h, const bdml_warm *w, keyed **list,
                                     int64_t *count)
{
    bdml_status status = BDML_OK;
    const bdml_evidence *e = w->model->evidence;
    BDML_NEW(h, *list, e->duals);
    for (int64_t k = 0; k < e->duals; k++) {
        keyed *at = *list + *count;
        if (!key_of(e->constraints, e->dual_constraint[k], w->row, at)) continue;
        at->y = e->dual[k];
        ++*count;
    }
    qsort(*list, (size_t)*count, sizeof **list, by_key);
done:
    return status;
}

/* A smooth loss has the multipliers that follow from the metric. The hinge's are shares of C/m, which falls as
 * constraints come in. */
bdml_status bdml_warm_multipliers(bdml_handle *h, const bdml_constraints *c,
                                  const bdml_solve_settings *s, double **y)
{
    bdml_status status = BDML_OK;
    bdml_warm *w = h->warm;
    const bdml_evidence *e = w->model->evidence;
    keyed *list = NULL, at;
    int64_t count = 0;

    *y = NULL;
    w->kept = 0;
    if (!e || e->hard != s->hard || (!s->hard && s->loss != BDML_LOSS_HINGE) || e->duals == 0)
        return BDML_OK;
    double scale = s->hard ? 1.0 : (double)e->constraints->m / (double)c->m;
    BDML_GO(find_rows(h, w));
    if (!w->row) return BDML_OK;
    BDML_GO(known_multipliers(h, w, &list, &count));
    BDML_NEW(h, *y, c->m);
    for (int64_t t = 0; t < c->m; t++) {
        key_of(c, t, NULL, &at);
        const keyed *found = bsearch(&at, list, (size_t)count, sizeof *list, by_key);
        if (!found || !(found->y > 0.0) || !isfinite(found->y)) continue;
        (*y)[t] = scale * found->y;
        w->kept++;
    }
done:
    free(list);
    if (w->kept == 0 || status != BDML_OK) {
        free(*y);
        *y = NULL;
    }
    return status;
}
