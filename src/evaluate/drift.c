/* drift.c - what a model does to the neighbours of a corpus, at most and in fact, from each of the spaces that it leads through:
 *
 *     raw rows x,   prepared rows p(x) (scaled, by PCA),   rows under the reference r = F p(x)   ->   z = L p(x) = B r
 *
 * The cap of a model bounds kappa in the last of them, so that the promise is strong there; raw rows that are scaled
 * column by column may lie quite otherwise.
 *
 * Let x -> A x + b lead from one of the spaces to z, and s_1 >= ... >= s_d the singular values of A. For all points
 *
 *     s_d |x - y| <= |A x - A y| <= s_1 |x - y|,      c = s_1 / s_d,
 *
 * so that no ratio of two distances changes by more than c, the root of the condition number of A'A. Let r_1 <= r_2 <= ...
 * be the distances of the points of a corpus from a query before, and N(t) the number of those with r <= t. Then
 *
 *   - a point at r_i comes before one at r_j whenever c r_i < r_j: no such two change places;
 *   - a point outside c r_k is not among the k nearest afterwards, since k others come before it: at most
 *     N(c r_k) - k of the k nearest are replaced;
 *   - a point at r_i with N(c r_i) <= k stays among the k nearest, since fewer than k others can come before it.
 *
 * The better of the last two is what is promised of the k nearest of this query. Features that are the same in all rows
 * are left out of A. Where rows are scaled to length 1, the raw row is the row of length 1. Rounding is counted against the
 * promise. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "model/evidence.h"
#include "neighbors/neighbors.h"

enum { DEPTHS = 4, MOST = 50, QUERIES = 1000 };
static const int depth[DEPTHS] = {1, 5, 10, MOST};
static const double EPS = 2.220446049250313e-16;

enum { SPACES = 3 };

/* A space to come from. */
typedef struct space {
    const char *name;
    int d;
    double *x, *y;        /* corpus and queries */
    double *a;            /* q x d: differences go to a times them */
    double ratio;         /* c, rounded up; infinite: nothing is promised */
    int32_t *before;      /* neighbours, queries x k */
    double *length;       /* and their squared distances */
    int *promised, *kept; /* of the depth[i] nearest, queries x DEPTHS */
} space;

typedef struct drift {
    bdml_handle *h;
    const bdml_neighbor_options *o;
    const bdml_model *model;
    int64_t n, queries;
    bool own; /* queries are rows of the corpus, each without itself */
    int q;
    int64_t *row;   /* of the corpus, for queries that are its own */
    int k;          /* the deepest */
    int32_t *after; /* neighbours under the model, queries x k */
    space from[SPACES];
    int spaces;
} drift;

/* ---- points ----------------------------------------------------------------------------------------------- */

static void to_length_1(int d, double *x)
{
    double length = bdml_la_norm(d, x);
    for (int j = 0; length > 0.0 && j < d; j++) x[j] /= length;
}

/* The rows numbered in `row` (NULL: all of them), before. */
static bdml_status take_rows(drift *s, const bdml_dataset *data, int64_t count, const int64_t *row,
                             double **out)
{
    bdml_status status = BDML_OK;
    bool unit = s->model->prepare.scale == BDML_SCALE_UNIT;
    int d = data->d;
    BDML_NEW(s->h, *out, (size_t)count * (size_t)d);
    for (int64_t i = 0; i < count; i++) {
        double *x = *out + (size_t)i * (size_t)d;
        memcpy(x, data->x + (size_t)(row ? row[i] : i) * (size_t)d, sizeof *x * (size_t)d);
        for (int j = 0; j < d; j++)
            if (!isfinite(x[j])) {
                status =
                    bdml_fail(s->h, BDML_ERR_DATA,
                              "row %lld has a missing value: distances before the model are not "
                              "known; leave such rows out (missing = drop)",
                              (long long)(row ? row[i] : i) + 1);
                goto done;
            }
        if (unit) to_length_1(d, x);
    }
done:
    return status;
}

/* *out = a x, row by row; a: rows x d. */
static bdml_status map_rows(drift *s, int rows, int d, const double *a, int64_t count,
                            const double *x, double **out)
{
    bdml_status status = BDML_OK;
    double *ws = NULL;
    BDML_NEW(s->h, *out, (size_t)count * (size_t)rows);
    BDML_NEW(s->h, ws, bdml_la_map_size(rows, d));
    bdml_la_map_rows(s->h, rows, d, a, count, x, d, *out, ws);
done:
    free(ws);
    return status;
}

static bdml_status copy_map(drift *s, size_t count, const double *a, double **out)
{
    bdml_status status = BDML_OK;
    BDML_NEW(s->h, *out, count);
    memcpy(*out, a, count * sizeof *a);
done:
    return status;
}

/* Of more rows than QUERIES so many at even distances. */
static bdml_status choose_queries(drift *s, int64_t rows)
{
    bdml_status status = BDML_OK;
    s->queries = BDML_MIN(rows, (int64_t)QUERIES);
    BDML_NEW(s->h, s->row, s->queries);
    for (int64_t i = 0; i < s->queries; i++)
        s->row[i] = (int64_t)((double)i * (double)rows / (double)s->queries);
done:
    return status;
}

/* Does feature j differ anywhere? What never does is in no difference. */
static bool varies(const drift *s, const space *f, int j)
{
    for (int64_t i = 0; i < s->n; i++)
        if (f->x[i * f->d + j] != f->x[j]) return true;
    for (int64_t i = 0; i < s->queries; i++)
        if (f->y[i * f->d + j] != f->x[j]) return true;
    return false;
}

/* c, with the rounding of the singular values against it. f->a is used up. */
static bdml_status find_ratio(drift *s, space *f)
{
    bdml_status status = BDML_OK;
    double *a = f->a, *sigma = NULL;
    int d = 0;
    f->ratio = INFINITY;
    BDML_NEW(s->h, sigma, f->d);
    for (int j = 0; j < f->d; j++) { /* the columns of A that count, row by row as they stand */
        if (!varies(s, f, j)) continue;
        for (int i = 0; i < s->q; i++)
            a[(size_t)i * (size_t)f->d + (size_t)d] = a[(size_t)i * (size_t)f->d + (size_t)j];
        d++;
    }
    if (d == 0 || s->q < d) goto done; /* nothing differs; some difference is mapped to 0 */
    for (int i = 1; i < s->q; i++)
        memmove(a + (size_t)i * (size_t)d, a + (size_t)i * (size_t)f->d, sizeof *a * (size_t)d);
    BDML_GO(bdml_la_singular_values(s->h, d, s->q, a, sigma));
    double rounding = 8.0 * (f->d + s->q) * EPS * sigma[0], least = sigma[d - 1] - rounding;
    if (least > 0.0) f->ratio = (sigma[0] + rounding) / least * (1.0 + 8.0 * (f->d + 8) * EPS);
done:
    free(sigma);
    return status;
}

/* ---- neighbours ------------------------------------------------------------------------------------------- */

static bdml_status search(drift *s, int d, const double *x, const double *y, int32_t *index,
                          double *distance)
{
    bdml_status status = BDML_OK;
    double *room = NULL;
    int32_t *wide = NULL;
    int k = s->k +
            (s->own ? 1 : 0); /* of a row of the corpus one is itself, or one at the same place */
    BDML_NEW(s->h, wide, s->queries * k);
    BDML_NEW(s->h, room, s->queries * k);
    const bdml_rows rows = {.n = s->n, .d = d, .ld = d, .x = x};
    const bdml_rows asked = {.n = s->queries, .d = d, .ld = d, .x = y};
    BDML_GO(bdml_knn_search(s->h, s->o, &rows, &asked, BDML_ANY_CLASS, k, wide, room));
    for (int64_t i = 0; i < s->queries; i++) {
        int taken = 0;
        for (int e = 0; e < k && taken < s->k; e++) {
            if (s->own && wide[i * k + e] == s->row[i]) continue;
            index[i * s->k + taken] = wide[i * k + e];
            if (distance) distance[i * s->k + taken] = room[i * k + e];
            taken++;
        }
    }
done:
    free(wide);
    free(room);
    return status;
}

/* count[e]: points that lie within c r_e of query i, N(c r_e). */
static void count_within(const drift *s, const space *f, int64_t i, int64_t *count)
{
    const double *y = f->y + (size_t)i * (size_t)f->d, *length = f->length + i * s->k;
    double c2 = f->ratio * f->ratio;
    int64_t step[MOST] = {0};
    if (!isfinite(c2)) step[0] = s->n - s->own;
    for (int64_t j = 0; isfinite(c2) && j < s->n; j++) {
        const double *x = f->x + (size_t)j * (size_t)f->d;
        double r2 = 0.0;
        if (s->own && j == s->row[i]) continue;
        for (int e = 0; e < f->d; e++) r2 += (x[e] - y[e]) * (x[e] - y[e]);
        if (!(r2 <= c2 * length[s->k - 1])) continue;
        int low = 0, high = s->k - 1; /* the first e with r2 <= c2 length[e] */
        while (low < high) {
            int middle = (low + high) / 2;
            if (r2 <= c2 * length[middle])
                high = middle;
            else
                low = middle + 1;
        }
        step[low]++;
    }
    for (int e = 0; e < s->k; e++) count[e] = step[e] + (e > 0 ? count[e - 1] : 0);
}

static void promise(const drift *s, const space *f, int64_t i)
{
    int64_t count[MOST];
    count_within(s, f, i, count);
    for (int t = 0; t < DEPTHS && depth[t] <= s->k; t++) {
        int k = depth[t], sure = 0, both = 0;
        int64_t replaced = BDML_MAX(count[k - 1] - k, 0);
        for (int e = 0; e < k; e++) sure += count[e] <= k;
        for (int e = 0; e < k; e++)
            for (int g = 0; g < k; g++) both += f->before[i * s->k + e] == s->after[i * s->k + g];
        f->promised[i * DEPTHS + t] =
            (int)BDML_MAX((int64_t)sure, k - BDML_MIN(replaced, (int64_t)k));
        f->kept[i * DEPTHS + t] = both;
    }
}

/* What is promised from this space, and what is kept. */
static bdml_status look_from(drift *s, space *f)
{
    bdml_status status = BDML_OK;
    BDML_GO(find_ratio(s, f));
    BDML_NEW(s->h, f->before, s->queries * s->k);
    BDML_NEW(s->h, f->length, s->queries * s->k);
    BDML_NEW(s->h, f->promised, s->queries * DEPTHS);
    BDML_NEW(s->h, f->kept, s->queries * DEPTHS);
    BDML_GO(search(s, f->d, f->x, f->y, f->before, f->length));
#pragma omp parallel for schedule(dynamic, 8) num_threads(bdml_threads(s->h))
    for (int64_t i = 0; i < s->queries; i++) promise(s, f, i);
done:
    return status;
}

/* ---- spaces ----------------------------------------------------------------------------------------------- */

static bdml_status add_raw(drift *s, const bdml_dataset *corpus, const bdml_dataset *queries)
{
    bdml_status status = BDML_OK;
    space *f = &s->from[s->spaces++];
    double *b = NULL;
    *f = (space){.name = "raw", .d = corpus->d};
    BDML_GO(take_rows(s, corpus, s->n, NULL, &f->x));
    BDML_GO(take_rows(s, queries ? queries : corpus, s->queries, s->row, &f->y));
    BDML_NEW(s->h, f->a, (size_t)s->q * (size_t)f->d);
    BDML_NEW(s->h, b, s->q);
    bdml_model_affine(s->model, f->a, b);
done:
    free(b);
    return status;
}

static bdml_status add_prepared(drift *s)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = s->model;
    const space *raw = s->from;
    space *f = &s->from[s->spaces++];
    *f = (space){.name = "prepared", .d = m->d};
    BDML_NEW(s->h, f->x, (size_t)s->n * (size_t)f->d);
    BDML_NEW(s->h, f->y, (size_t)s->queries * (size_t)f->d);
    BDML_GO(bdml_prepare_apply(s->h, &m->prepare, s->n, raw->x, raw->d, f->x));
    BDML_GO(bdml_prepare_apply(s->h, &m->prepare, s->queries, raw->y, raw->d, f->y));
    status = copy_map(s, (size_t)s->q * (size_t)f->d, m->l, &f->a);
done:
    return status;
}

/* From the space before, raw where nothing is prepared. */
static bdml_status add_reference(drift *s)
{
    bdml_status status = BDML_OK;
    const bdml_evidence *e = s->model->evidence;
    const space *p = &s->from[s->spaces - 1];
    space *f = &s->from[s->spaces++];
    *f = (space){.name = "reference", .d = e->reference_rows};
    BDML_GO(map_rows(s, f->d, p->d, e->reference, s->n, p->x, &f->x));
    BDML_GO(map_rows(s, f->d, p->d, e->reference, s->queries, p->y, &f->y));
    status = copy_map(s, (size_t)s->q * (size_t)f->d, e->map, &f->a);
done:
    return status;
}

static void free_space(space *f)
{
    free(f->x);
    free(f->y);
    free(f->a);
    free(f->before);
    free(f->length);
    free(f->promised);
    free(f->kept);
}

static bdml_status run(drift *s, const bdml_dataset *corpus, const bdml_dataset *queries)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = s->model;
    double *zx = NULL, *zy = NULL;

    s->own = !queries;
    s->k = (int)BDML_MIN((int64_t)MOST, s->n - s->own);
    BDML_GO(choose_queries(s, queries ? queries->n : corpus->n));
    BDML_GO(add_raw(s, corpus, queries));
    if (m->prepare.width || m->prepare.basis) BDML_GO(add_prepared(s));
    if (m->evidence && m->evidence->reference) BDML_GO(add_reference(s));
    const space *raw = s->from;
    BDML_NEW(s->h, zx, (size_t)s->n * (size_t)s->q);
    BDML_NEW(s->h, zy, (size_t)s->queries * (size_t)s->q);
    BDML_GO(bdml_transform(s->h, m, s->n, raw->x, raw->d, zx));
    BDML_GO(bdml_transform(s->h, m, s->queries, raw->y, raw->d, zy));
    BDML_NEW(s->h, s->after, s->queries * s->k);
    BDML_GO(search(s, s->q, zx, zy, s->after, NULL));
    for (int i = 0; i < s->spaces; i++) BDML_GO(look_from(s, &s->from[i]));
done:
    free(zx);
    free(zy);
    return status;
}

/* ---- account ---------------------------------------------------------------------------------------------- */

static json_t *depth_json(const drift *s, const space *f, int t)
{
    int64_t promised = 0, kept = 0, all_promised = 0, all_kept = 0;
    for (int64_t i = 0; i < s->queries; i++) {
        int p = f->promised[i * DEPTHS + t], k = f->kept[i * DEPTHS + t];
        promised += p;
        kept += k;
        all_promised += p == depth[t];
        all_kept += k == depth[t];
    }
    double each = 100.0 / (double)s->queries;
    return json_pack("{s:i, s:f, s:f, s:f, s:f}", "k", depth[t], "kept_at_least",
                     each * (double)promised / depth[t], "kept", each * (double)kept / depth[t],
                     "unchanged_at_least", each * (double)all_promised, "unchanged",
                     each * (double)all_kept);
}

static json_t *space_json(const drift *s, const space *f)
{
    json_t *o = json_object(), *list = json_array();
    bdml_json_put(&o, "space", json_string(f->name));
    bdml_json_put(&o, "ratio", bdml_real_json(f->ratio));
    bdml_json_put(&o, "condition", bdml_real_json(f->ratio * f->ratio));
    for (int t = 0; t < DEPTHS && depth[t] <= s->k; t++) bdml_json_push(&list, depth_json(s, f, t));
    bdml_json_put(&o, "depths", list);
    return o;
}

static json_t *drift_json(const drift *s)
{
    json_t *o = json_object(), *list = json_array();
    bdml_json_put(&o, "points", json_integer(s->n));
    bdml_json_put(&o, "queries", json_integer(s->queries));
    for (int i = 0; i < s->spaces; i++) bdml_json_push(&list, space_json(s, &s->from[i]));
    bdml_json_put(&o, "spaces", list);
    return o;
}

static bdml_status check(bdml_handle *h, const bdml_model *model, const bdml_dataset *corpus,
                         const bdml_dataset *queries)
{
    BDML_TRY(bdml_model_need_map(h, model));
    if (corpus->d != model->prepare.d_in || (queries && queries->d != corpus->d))
        return bdml_fail(h, BDML_ERR_DATA, "the rows have %d features where the model wants %d",
                         queries && queries->d != model->prepare.d_in ? queries->d : corpus->d,
                         model->prepare.d_in);
    if (corpus->n < 2 || (queries && queries->n < 1))
        return bdml_fail(h, BDML_ERR_DATA, "drift needs two rows of a corpus, and one to ask for");
    return BDML_OK;
}

bdml_status bdml_drift(bdml_handle *h, const bdml_model *model, const bdml_dataset *corpus,
                       const bdml_dataset *queries, char **json)
{
    if (json) *json = NULL;
    if (!h || !json) return BDML_ERR_ARGUMENT;
    if (!model || !corpus)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_drift: model and corpus must not be NULL");
    BDML_TRY(bdml_dataset_widen(h, corpus));
    BDML_TRY(bdml_dataset_widen(h, queries));
    BDML_TRY(check(h, model, corpus, queries));
    drift s = {.h = h, .o = &h->options.neighbors, .model = model, .n = corpus->n, .q = model->q};
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_EVALUATE);
    bdml_status status = run(&s, corpus, queries);
    if (status == BDML_OK) status = bdml_result_text(h, drift_json(&s), json);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    for (int i = 0; i < s.spaces; i++) free_space(&s.from[i]);
    free(s.row);
    free(s.after);
    status = bdml_dataset_confirm(h, corpus, status, json);
    return bdml_dataset_confirm(h, queries, status, json);
}
