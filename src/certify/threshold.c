/* threshold.c - the score from which on a pair is called the same, for models that were learned from pairs.
 *
 *     distance   -|Lx - Ly|^2            cosine   Lx'Ly / |Lx||Ly|
 *
 * of prepared points. Under the threshold as many of the training pairs come out right as is said, and under no other
 * more; a pair whose score rounding could put on the other side counts for either. */
#include "certify/stated.h"

#include <stdlib.h>

static const long double ROUNDING = 1e-9L; /* relative, of a score */

typedef struct scored {
    long double score, error;
    bool same;
} scored;

static const char FIELDS[] = "verification.threshold verification.accuracy verification.pairs "
                             "verification.score settings.pair-score selection.score";

static int descending(const void *a, const void *b)
{
    const scored *p = a, *q = b;
    return (p->score < q->score) - (p->score > q->score);
}

/* z_i = L x_i for every row. */
static bdml_status map_rows(bdml_handle *h, const bdml_plain *w, long double *z)
{
    bdml_status status = BDML_OK;
    const bdml_model *m = w->model;
    size_t d = (size_t)m->d, q = (size_t)m->q;
    long double *scaled = NULL, *x = NULL;

    BDML_NEW(h, scaled, m->prepare.d_in);
    BDML_NEW(h, x, d);
    for (size_t i = 0; i < (size_t)w->n; i++) {
        bdml_plain_prepare(&m->prepare, w->data->x + i * (size_t)w->data->d, scaled, x);
        for (size_t r = 0; r < q; r++)
            for (size_t j = 0; j < d; j++) z[i * q + r] += m->l[r * d + j] * x[j];
    }
done:
    free(scaled);
    free(x);
    return status;
}

static scored score_pair(const bdml_plain *w, const long double *z, int32_t pair, bool same)
{
    size_t q = (size_t)w->model->q;
    const long double *a = z + (size_t)w->c->pi[pair] * q, *b = z + (size_t)w->c->pj[pair] * q;
    long double dot = 0.0L, aa = 0.0L, bb = 0.0L, apart = 0.0L;
    for (size_t r = 0; r < q; r++) {
        dot += a[r] * b[r];
        aa += a[r] * a[r];
        bb += b[r] * b[r];
        apart += (a[r] - b[r]) * (a[r] - b[r]);
    }
    if (w->model->score == BDML_SCORE_COSINE) {
        long double size = sqrtl(aa) * sqrtl(bb);
        return (scored){size > 0.0L ? dot / size : 0.0L, ROUNDING, same};
    }
    return (scored){-apart, ROUNDING * (apart + 1e-6L * sqrtl(aa * bb)), same};
}

/* Pairs that come out right at best, and at the model's threshold, where *unsure could be either. */
static void count_right(const bdml_plain *w, int64_t count, scored *list, int64_t *best,
                        int64_t *right, int64_t *unsure)
{
    long double threshold = w->model->calibration.threshold;
    int64_t here = 0;
    *right = *unsure = 0;
    for (int64_t k = 0; k < count; k++) {
        here += !list[k].same;
        *unsure += fabsl(list[k].score - threshold) <= list[k].error;
        *right += (list[k].score >= threshold) == list[k].same;
    }
    qsort(list, (size_t)count, sizeof *list, descending);
    *best = here;
    for (int64_t k = 0; k < count; k++) {
        here += list[k].same ? 1 : -1;
        if (k + 1 < count && list[k + 1].score == list[k].score) continue;
        *best = BDML_MAX(*best, here);
    }
}

/* Halfway between the scores on either side of it, or so far beyond the only one. */
static bool is_halfway(int64_t count, const scored *list, long double threshold)
{
    long double above = INFINITY, below = -INFINITY, middle;
    for (int64_t k = 0; k < count; k++) {
        if (list[k].score >= threshold) above = fminl(above, list[k].score);
        if (list[k].score < threshold) below = fmaxl(below, list[k].score);
    }
    if (isinf(above))
        middle = below + fmaxl(fabsl(below), 1.0L);
    else if (isinf(below))
        middle = above - fmaxl(fabsl(above), 1.0L);
    else
        middle = 0.5L * (above + below);
    long double apart = isinf(above) || isinf(below) ? fabsl(middle) : above - below;
    return fabsl(threshold - middle) <= 1e-6L * apart + 2.0L * ROUNDING * fabsl(middle);
}

static bdml_status check_calibration(bdml_handle *h, bdml_plain *w)
{
    bdml_status status = BDML_OK;
    const bdml_calibration *c = &w->model->calibration;
    int64_t count = w->c->targets + w->c->m, best, right, unsure;
    long double *z = NULL;
    scored *list = NULL;

    BDML_NEW(h, z, (size_t)w->n * (size_t)w->model->q);
    BDML_NEW(h, list, count);
    BDML_GO(map_rows(h, w, z));
    for (int64_t k = 0; k < count; k++) {
        bool same = k < w->c->targets;
        list[k] = score_pair(w, z, same ? w->c->target[k] : w->c->far[k - w->c->targets], same);
    }
    count_right(w, count, list, &best, &right, &unsure);
    double said = c->accuracy * (double)count / 100.0;
    bool fits = c->pairs == count && (unsure > 0 || is_halfway(count, list, c->threshold)) &&
                fabs(said - (double)right) <= (double)unsure + 1e-6 &&
                fabs(said - (double)best) <= (double)unsure + 1e-6;
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "threshold", FIELDS, fits,
                      "%lld of %lld training pairs are right at the threshold, %lld at best; said "
                      "to be %.6g %% of %lld",
                      (long long)right, (long long)count, (long long)best, c->accuracy,
                      (long long)c->pairs);
done:
    free(z);
    free(list);
    return status;
}

/* The score that settings and choice ask for. */
static bdml_score_kind stated_score(const bdml_plain *w, const bdml_stated *s)
{
    int asked = s->o->methods.pair_score.value;
    const char *chosen =
        json_string_value(json_object_get(json_object_get(w->model->info, "selection"), "score"));
    bool cosine = asked == BDML_PAIR_SCORE_COSINE;
    if (s->pairs && asked == BDML_PAIR_SCORE_AUTO)
        cosine = chosen && strcmp(chosen, bdml_score_names[BDML_SCORE_COSINE]) == 0;
    bdml_score_kind kind = cosine ? BDML_SCORE_COSINE : BDML_SCORE_DISTANCE;
    bool same = !s->pairs || (chosen && strcmp(chosen, bdml_score_names[kind]) == 0);
    return same ? kind : BDML_SCORE_SIMILARITY; /* no setting asks for that one */
}

bdml_status bdml_check_threshold(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    const bdml_model *m = w->model;
    bool pairs = s->given && w->c->targets > 0;
    for (int64_t t = 0; pairs && t < w->c->m; t++) pairs = w->c->near[t] < 0;
    if (!m->l) return BDML_OK;
    bdml_score_kind score = pairs ? stated_score(w, s) : BDML_SCORE_DISTANCE;
    if (m->score != score || (m->calibration.known && !pairs)) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "threshold", FIELDS, false,
                          m->score != score ? "pairs are scored otherwise than the settings ask"
                                            : "there is one, though no pairs were learned from");
        return BDML_OK;
    }
    return m->calibration.known ? check_calibration(h, w) : BDML_OK;
}
