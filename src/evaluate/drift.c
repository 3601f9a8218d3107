/* drift.c - what a model does to the neighbours of a corpus, at most and in fact.
 *
 * Let x -> A x + b be the model and s_1 >= ... >= s_d the singular values of A. For all points
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
 * are left out of A. Where rows are scaled to length 1, x is the row of length 1. Rounding is counted against the
 * promise. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

#include "linalg/linalg.h"
#include "neighbors/neighbors.h"

enum { DEPTHS = 4, MOST = 50, QUERIES = 1000 };
static const int depth[DEPTHS] = {1, 5, 10, MOST};
static const double EPS = 2.220446049250313e-16;

typedef struct drift {
    bdml_handle *h;
    const bdml_neighbor_options *o;
    const bdml_model *model;
    int64_t n, queries;
    bool own; /* queries are rows of the corpus, each without itself */
    int d, q;
    int64_t *row;            /* of the corpus, for queries that are its own */
    double *x, *y;           /* corpus and queries before */
    double *zx, *zy;         /* and after */
    int k;                   /* the deepest */
    int32_t *before, *after; /* neighbours, queries x k */
    double *length;          /* squared distances before, queries x k */
    double ratio;            /* c, rounded up; infinite: nothing is promised */
    int *promised, *kept;    /* of the depth[i] nearest, queries x DEPTHS */
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
    BDML_NEW(s->h, *out, (size_t)count * (size_t)s->d);
    for (int64_t i = 0; i < count; i++) {
        double *x = *out + (size_t)i * (size_t)s->d;
        memcpy(x, data->x + (size_t)(row ? row[i] : i) * (size_t)s->d, sizeof *x * (size_t)s->d);
        for (int j = 0; j < s->d; j++)
            if (!isfinite(x[j])) {
                status =
                    bdml_fail(s->h, BDML_ERR_DATA,
                              "row %lld has a missing value: distances before the model are not "
                              "known; leave such rows out (missing = drop)",
                              (long long)(row ? row[i] : i) + 1);
                goto done;
            }
        if (unit) to_length_1(s->d, x);
    }
done:
    return status;
}

static bdml_status map_rows(drift *s, int64_t count, const double *x, double **out)
{
    bdml_status status = BDML_OK;
    BDML_NEW(s->h, *out, (size_t)count * (size_t)s->q);
    status = bdml_transform(s->h, s->model, count, x, s->d, *out);
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
static bool varies(const drift *s, int j)
{
    for (int64_t i = 0; i < s->n; i++)
        if (s->x[i * s->d + j] != s->x[j]) return true;
    for (int64_t i = 0; i < s->queries; i++)
        if (s->y[i * s->d + j] != s->x[j]) return true;
    return false;
}

/* c, with the rounding of the singular values against it. */
static bdml_status find_ratio(drift *s)
{
    bdml_status status = BDML_OK;
    double *a = NULL, *b = NULL, *sigma = NULL;
    int d = 0;
    s->ratio = INFINITY;
    BDML_NEW(s->h, a, (size_t)s->q * (size_t)s->d);
    BDML_NEW(s->h, b, s->q);
    BDML_NEW(s->h, sigma, s->d);
    bdml_model_affine(s->model, a, b);
    for (int j = 0; j < s->d; j++) { /* the columns of A that count, row by row as they stand */
        if (!varies(s, j)) continue;
        for (int i = 0; i < s->q; i++)
            a[(size_t)i * (size_t)s->d + (size_t)d] = a[(size_t)i * (size_t)s->d + (size_t)j];
        d++;
    }
    if (d == 0 || s->q < d) goto done; /* nothing differs; some difference is mapped to 0 */
    for (int i = 1; i < s->q; i++)
        memmove(a + (size_t)i * (size_t)d, a + (size_t)i * (size_t)s->d, sizeof *a * (size_t)d);
    BDML_GO(bdml_la_singular_values(s->h, d, s->q, a, sigma));
    double rounding = 8.0 * (s->d + s->q) * EPS * sigma[0], least = sigma[d - 1] - rounding;
    if (least > 0.0) s->ratio = (sigma[0] + rounding) / least * (1.0 + 8.0 * (s->d + 8) * EPS);
done:
    free(a);
    free(b);
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
static void count_within(const drift *s, int64_t i, int64_t *count)
{
    const double *y = s->y + (size_t)i * (size_t)s->d, *length = s->length + i * s->k;
    double c2 = s->ratio * s->ratio;
    int64_t step[MOST] = {0};
    if (!isfinite(c2)) step[0] = s->n - s->own;
    for (int64_t j = 0; isfinite(c2) && j < s->n; j++) {
        const double *x = s->x + (size_t)j * (size_t)s->d;
        double r2 = 0.0;
        if (s->own && j == s->row[i]) continue;
        for (int e = 0; e < s->d; e++) r2 += (x[e] - y[e]) * (x[e] - y[e]);
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

static void promise(const drift *s, int64_t i)
{
    int64_t count[MOST];
    count_within(s, i, count);
    for (int t = 0; t < DEPTHS && depth[t] <= s->k; t++) {
        int k = depth[t], sure = 0, both = 0;
        int64_t replaced = BDML_MAX(count[k - 1] - k, 0);
        for (int e = 0; e < k; e++) sure += count[e] <= k;
        for (int e = 0; e < k; e++)
            for (int f = 0; f < k; f++) both += s->before[i * s->k + e] == s->after[i * s->k + f];
        s->promised[i * DEPTHS + t] =
            (int)BDML_MAX((int64_t)sure, k - BDML_MIN(replaced, (int64_t)k));
        s->kept[i * DEPTHS + t] = both;
    }
}

static bdml_status run(drift *s, const bdml_dataset *corpus, const bdml_dataset *queries)
{
    bdml_status status = BDML_OK;
    const bdml_dataset *from = queries ? queries : corpus;

    s->own = !queries;
    BDML_GO(choose_queries(s, from->n));
    BDML_GO(take_rows(s, corpus, s->n, NULL, &s->x));
    BDML_GO(take_rows(s, from, s->queries, s->row, &s->y));
    BDML_GO(map_rows(s, s->n, s->x, &s->zx));
    BDML_GO(map_rows(s, s->queries, s->y, &s->zy));
    BDML_GO(find_ratio(s));
    s->k = (int)BDML_MIN((int64_t)MOST, s->n - s->own);
    BDML_NEW(s->h, s->before, s->queries * s->k);
    BDML_NEW(s->h, s->after, s->queries * s->k);
    BDML_NEW(s->h, s->length, s->queries * s->k);
    BDML_NEW(s->h, s->promised, s->queries * DEPTHS);
    BDML_NEW(s->h, s->kept, s->queries * DEPTHS);
    BDML_GO(search(s, s->d, s->x, s->y, s->before, s->length));
    BDML_GO(search(s, s->q, s->zx, s->zy, s->after, NULL));
#pragma omp parallel for schedule(dynamic, 8) num_threads(bdml_threads(s->h))
    for (int64_t i = 0; i < s->queries; i++) promise(s, i);
done:
    return status;
}

/* ---- account ---------------------------------------------------------------------------------------------- */

static json_t *depth_json(const drift *s, int t)
{
    int64_t promised = 0, kept = 0, all_promised = 0, all_kept = 0;
    for (int64_t i = 0; i < s->queries; i++) {
        int p = s->promised[i * DEPTHS + t], k = s->kept[i * DEPTHS + t];
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

static json_t *drift_json(const drift *s)
{
    json_t *o = json_object(), *list = json_array();
    bdml_json_put(&o, "points", json_integer(s->n));
    bdml_json_put(&o, "queries", json_integer(s->queries));
    bdml_json_put(&o, "ratio", bdml_real_json(s->ratio));
    bdml_json_put(&o, "condition", bdml_real_json(s->ratio * s->ratio));
    for (int t = 0; t < DEPTHS && depth[t] <= s->k; t++) bdml_json_push(&list, depth_json(s, t));
    bdml_json_put(&o, "depths", list);
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
    BDML_TRY(check(h, model, corpus, queries));
    drift s = {.h = h,
               .o = &h->options.neighbors,
               .model = model,
               .n = corpus->n,
               .d = corpus->d,
               .q = model->q};
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_EVALUATE);
    bdml_status status = run(&s, corpus, queries);
    if (status == BDML_OK) status = bdml_result_text(h, drift_json(&s), json);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    free(s.row);
    free(s.x);
    free(s.y);
    free(s.zx);
    free(s.zy);
    free(s.before);
    free(s.after);
    free(s.length);
    free(s.promised);
    free(s.kept);
    return status;
}
