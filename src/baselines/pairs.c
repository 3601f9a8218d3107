/* pairs.c - similar and dissimilar pairs with their points, moved into the span of their differences.
 *
 * Memory is O(points r + pairs): differences are made where they are needed. */
#include "baselines/pairs.h"

#include <stdlib.h>

/* Mean similar scatter, as a share of that of all pairs, below which a direction counts as one without
 * similar spread: a metric could grow there without limit. Far above rounding, far below what samples
 * of any size tell. */
const double BDML_SIMILAR_FLOOR = 1e-8;

/* ---- life ------------------------------------------------------------------------------------------ */

void bdml_pairset_free(bdml_pairset *set)
{
    free(set->x);
    free(set->b);
    free(set->index);
    free(set->share);
    free(set->c.pi);
    free(set->c.pj);
    free(set->c.target);
    free(set->c.far);
    free(set->c.near);
    bdml_margin_free(set->op);
    memset(set, 0, sizeof *set);
}

static bool same_point(const bdml_training *t, const int32_t *pair)
{
    const double *a = COL(t->x, t->d, pair[0]), *b = COL(t->x, t->d, pair[1]);
    for (int j = 0; j < t->d; j++)
        if (a[j] != b[j]) return false;
    return true;
}

/* Dissimilar pairs of two equal points go: no metric tells them apart. */
static bdml_status drop_same(bdml_handle *h, const char *method, const bdml_training *t,
                             bdml_pairs *list)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < list->count; k++) {
        if (same_point(t, list->row + 2 * k)) continue;
        memmove(list->row + 2 * kept, list->row + 2 * k, 2 * sizeof *list->row);
        kept++;
    }
    if (kept < list->count)
        bdml_log(h, BDML_LOG_WARNING,
                 "%s: %lld of %lld dissimilar pairs are of identical points and are left out",
                 method, (long long)(list->count - kept), (long long)list->count);
    list->count = kept;
    return kept > 0 ? BDML_OK
                    : bdml_fail(h, BDML_ERR_DATA,
                                "%s: all dissimilar pairs are of identical points, which no metric "
                                "can tell apart",
                                method);
}

/* Rows that occur, numbered anew, and their coordinates from the mean. */
static bdml_status gather_points(bdml_handle *h, const bdml_training *t, bdml_pairset *set)
{
    bdml_status status = BDML_OK;
    int32_t *number = NULL;
    double *mean = NULL;
    int d = t->d;

    BDML_NEW(h, number, t->n);
    BDML_NEW(h, mean, d);
    for (int64_t p = 0; p < set->c.pairs; p++) number[set->c.pi[p]] = number[set->c.pj[p]] = 1;
    for (int64_t i = 0; i < t->n; i++) set->points += number[i];
    BDML_NEW(h, set->x, (size_t)set->points * (size_t)d);
    int32_t next = 0;
    for (int64_t i = 0; i < t->n; i++) {
        if (!number[i]) continue;
        for (int j = 0; j < d; j++) {
            COL(set->x, d, next)[j] = COL(t->x, d, i)[j];
            mean[j] += COL(t->x, d, i)[j] / (double)set->points;
        }
        number[i] = next++;
    }
    for (int64_t i = 0; i < set->points; i++)
        for (int j = 0; j < d; j++) COL(set->x, d, i)[j] -= mean[j];
    for (int64_t p = 0; p < set->c.pairs; p++) {
        set->c.pi[p] = number[set->c.pi[p]];
        set->c.pj[p] = number[set->c.pj[p]];
    }
    set->c.n = set->points;
done:
    free(number);
    free(mean);
    return status;
}

static bdml_status list_pairs(bdml_handle *h, const bdml_lists *lists, bdml_pairset *set)
{
    bdml_status status = BDML_OK;
    bdml_constraints *c = &set->c;
    set->similar = lists->target.count;
    set->dissimilar = lists->impostor.count;
    int64_t m = set->similar + set->dissimilar;
    c->pairs = c->m = m;
    c->targets = set->similar;
    BDML_NEW(h, c->pi, m);
    BDML_NEW(h, c->pj, m);
    BDML_NEW(h, c->target, set->similar);
    BDML_NEW(h, c->far, m);
    BDML_NEW(h, c->near, m);
    BDML_NEW(h, set->index, m);
    BDML_NEW(h, set->share, set->dissimilar);
    for (int64_t k = 0; k < set->dissimilar; k++) set->share[k] = 1.0 / (double)set->dissimilar;
    for (int64_t k = 0; k < m; k++) {
        const int32_t *pair = k < set->similar ? lists->target.row + 2 * k
                                               : lists->impostor.row + 2 * (k - set->similar);
        c->pi[k] = pair[0];
        c->pj[k] = pair[1];
        c->far[k] = (int32_t)k;
        c->near[k] = -1;
        set->index[k] = k;
        if (k < set->similar) c->target[k] = (int32_t)k;
    }
done:
    return status;
}

static bdml_status operate(bdml_handle *h, bdml_pairset *set)
{
    bdml_margin_free(set->op);
    set->op = NULL;
    return bdml_margin_new(h, set->points, set->r, set->x, set->r, &set->c, &set->op);
}

/* To an orthonormal basis of the span of the differences. */
static bdml_status into_span(bdml_handle *h, const char *method, bdml_pairset *set)
{
    bdml_status status = BDML_OK;
    size_t size = (size_t)set->d * (size_t)set->d;
    double *s = NULL, *t = NULL, *basis = NULL;
    int r = 0;

    BDML_NEW(h, s, size);
    BDML_NEW(h, t, size);
    bdml_pairset_scatter(set, s, t);
    for (size_t e = 0; e < size; e++) s[e] += t[e];
    BDML_GO(bdml_span_basis(h, set->d, s, &r, &basis));
    if (r == 0) {
        status = bdml_fail(h, BDML_ERR_DATA, "%s: the points of all pairs are identical", method);
        goto done;
    }
    status = bdml_pairset_transform(h, set, r, basis);
done:
    free(s);
    free(t);
    free(basis);
    return status;
}

bdml_status bdml_pairset_new(bdml_handle *h, const bdml_options *o, const char *method,
                             const bdml_training *t, bool span, bdml_pairset *out)
{
    bdml_status status = BDML_OK;
    bdml_lists lists = {0};

    memset(out, 0, sizeof *out);
    out->d = out->r = t->d;
    BDML_GO(bdml_pairs_choose(h, o, method, t, &lists));
    BDML_GO(drop_same(h, method, t, &lists.impostor));
    BDML_GO(list_pairs(h, &lists, out));
    BDML_GO(gather_points(h, t, out));
    BDML_NEW(h, out->b, (size_t)t->d * (size_t)t->d);
    for (int j = 0; j < t->d; j++) COL(out->b, t->d, j)[j] = 1.0;
    BDML_GO(operate(h, out));
    if (span) BDML_GO(into_span(h, method, out));
done:
    bdml_lists_free(&lists);
    if (status != BDML_OK) bdml_pairset_free(out);
    return status;
}

/* ---- coordinates ------------------------------------------------------------------------------------ */

bdml_status bdml_pairset_transform(bdml_handle *h, bdml_pairset *set, int q, const double *w)
{
    bdml_status status = BDML_OK;
    int r = set->r, d = set->d;
    double *x = NULL, *b = NULL;

    BDML_NEW(h, x, (size_t)q * (size_t)set->points);
    BDML_NEW(h, b, (size_t)d * (size_t)q);
    bdml_la_gemm_tiled(h, 'T', 'N', q, set->points, r, 1.0, w, r, set->x, r, 0.0, x, q);
    bdml_la_gemm('N', 'N', d, q, r, 1.0, set->b, d, w, r, 0.0, b, d);
    free(set->x);
    free(set->b);
    set->x = x;
    set->b = b;
    set->r = q;
    x = b = NULL;
    status = operate(h, set);
done:
    free(x);
    free(b);
    return status;
}

void bdml_pairset_scatter(bdml_pairset *set, double *similar, double *dissimilar)
{
    if (similar) bdml_margin_objective(set->op, similar);
    if (dissimilar)
        bdml_margin_adjoint(set->op, set->share, set->dissimilar, set->index + set->similar,
                            dissimilar);
}

/* all: both kinds together have the scatter I; else the similar pairs alone. */
static bdml_status whiten(bdml_handle *h, bool all, bdml_pairset *set)
{
    bdml_status status = BDML_OK;
    int r = set->r;
    size_t size = (size_t)r * (size_t)r;
    double *s = NULL, *t = NULL, *w = NULL, *sigma = NULL;

    BDML_NEW(h, s, size);
    BDML_NEW(h, t, size);
    BDML_NEW(h, w, size);
    BDML_NEW(h, sigma, r);
    bdml_pairset_scatter(set, s, t);
    BDML_GO(bdml_simultaneous(h, r, s, t, w, sigma));
    for (int k = 0; k < r && !all; k++) {
        set->raised += sigma[k] < BDML_SIMILAR_FLOOR;
        double scale = 1.0 / sqrt(BDML_MAX(sigma[k], BDML_SIMILAR_FLOOR));
        for (int i = 0; i < r; i++) COL(w, r, k)[i] *= scale;
    }
    status = bdml_pairset_transform(h, set, r, w);
done:
    free(s);
    free(t);
    free(w);
    free(sigma);
    return status;
}

bdml_status bdml_pairset_whiten(bdml_handle *h, bdml_pairset *set)
{
    return whiten(h, false, set);
}

bdml_status bdml_pairset_whiten_all(bdml_handle *h, bdml_pairset *set)
{
    return whiten(h, true, set);
}

/* ---- results ---------------------------------------------------------------------------------------- */

bdml_status bdml_pairset_map(bdml_handle *h, const bdml_pairset *set, const double *m, int *q,
                             double **out)
{
    bdml_status status = BDML_OK;
    double *root = NULL, *l = NULL, kappa;

    *out = NULL;
    BDML_GO(bdml_metric_factor(h, set->r, m, q, &root, &kappa));
    BDML_NEW(h, l, (size_t)*q * (size_t)set->d);
    /* rows of L are columns here: L' = B root' */
    bdml_la_gemm('N', 'N', set->d, *q, set->r, 1.0, set->b, set->d, root, set->r, 0.0, l, set->d);
    *out = l;
done:
    free(root);
    return status;
}

bdml_status bdml_pairset_finish(bdml_handle *h, const bdml_pairset *set, const double *m,
                                bdml_model *model)
{
    double *l = NULL;
    int q = 0;
    BDML_TRY(bdml_pairset_map(h, set, m, &q, &l));
    bdml_status status = bdml_model_set_map(h, model, q, l);
    free(l);
    return status;
}

bool bdml_pairs_limit(const bdml_handle *h, const bdml_solve_options *o, int64_t iterations)
{
    return iterations >= o->max_iter.value || bdml_time_is_up(h);
}

bdml_status bdml_solution_record(bdml_handle *h, const bdml_solution *s, json_t *more,
                                 bdml_model *model)
{
    json_t *o = more;
    bdml_json_put(&o, "similar", json_integer(s->similar));
    bdml_json_put(&o, "dissimilar", json_integer(s->dissimilar));
    bdml_json_put(&o, "rank", json_integer(s->rank));
    bdml_json_put(&o, "raised", json_integer(s->raised));
    if (s->closed) {
        bdml_json_put(&o, "closed_form", json_true());
    } else {
        bdml_json_put(&o, "objective", json_real(s->objective));
        bdml_json_put(&o, "bound", json_real(s->bound));
        bdml_json_put(&o, "gap", json_real(s->gap));
        bdml_json_put(&o, "iterations", json_integer(s->iterations));
        bdml_json_put(&o, "done", json_boolean(s->done));
    }
    BDML_TRY(bdml_model_tell(h, model, "solution", o));
    if (!s->closed && !s->done)
        bdml_log(
            h, BDML_LOG_WARNING,
            "stopped by a limit after %lld iterations at a gap of %.2g; max-iter and time-limit "
            "set it",
            (long long)s->iterations, s->gap);
    return BDML_OK;
}
