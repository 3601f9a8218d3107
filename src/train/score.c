/* score.c - metrics judged on what was left out.
 *
 * Rows: mean of the 1-, 3-, 5- and 9-NN errors in percent. Classes: percent of the five nearest others of a row left
 * out that are of another class, mean over those that have one of their own. Pairs: percent of those left out that are called wrongly
 * by the threshold that tells the others apart best. The score of a pair is -|Lx - Ly|^2 or the cosine of Lx and Ly,
 * M = L'L: where points differ in length for reasons of their own, the cosine does better under the same metric. */
#include "train/plan.h"

#include <stdlib.h>

#include "linalg/linalg.h"

const int bdml_votes[BDML_PLAN_VOTES] = {1, 3, 5, 7, 9, 11, 15};
/* The error of a candidate is the mean over these. */
enum { JUDGED = 4 };
static const int judged[JUDGED] = {1, 3, 5, 9};
/* Numbers of a candidate: for each way to score, or its error and that of each of bdml_votes, or the misses by group. */
enum { NUMBERS = BDML_MAX((int)BDML_PLAN_SCORES, 1 + (int)BDML_PLAN_GROUPS) };

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* Standard errors, of an error rate over the rows of a part, behind the best that are far. */
static const double FAR = 1.0;

/* What the scores of one job share. */
typedef struct judge {
    const bdml_part *part;
    const double *vp; /* rows left out, under the reference */
    double known;     /* the best error of any reference alone, or NaN: there is no race */
    double *error;
} judge;

/* The nearest k of the rows learned from, found from those under the metric that was judged before, whichever it was. */
static bdml_status find_nearest(const judge *j, const bdml_fit *f, const bdml_rows *learn,
                                const bdml_rows *left_out, int k, int32_t *index)
{
    bdml_status status = BDML_OK;
    bdml_part_shared *shared = j->part->shared;
    size_t size = (size_t)left_out->n * (size_t)k;
    int32_t *guess = NULL;

    if (shared) {
        BDML_NEW(f->h, guess, size);
        pthread_mutex_lock(&shared->lock);
        bool known = shared->near != NULL;
        if (known) memcpy(guess, shared->near, sizeof *guess * size);
        pthread_mutex_unlock(&shared->lock);
        if (!known) memset(guess, -1, sizeof *guess * size);
    }
    BDML_GO(bdml_knn_search_from(f->h, &f->plan->o->neighbors, learn, left_out, k, guess, index));
    if (shared) {
        memcpy(guess, index, sizeof *guess * size);
        pthread_mutex_lock(&shared->lock);
        int32_t *before = shared->near;
        shared->near = guess;
        guess = before;
        pthread_mutex_unlock(&shared->lock);
    }
done:
    free(guess);
    return status;
}

/* Votes on the rows left out, and where they are ours to choose, those of each number of neighbours. */
static bdml_status score_votes(const judge *j, const bdml_fit *f, const bdml_rows *learn,
                               const bdml_rows *left_out, double *error)
{
    bdml_status status = BDML_OK;
    int most = f->plan->votes, count = most > 0 ? most : JUDGED;
    const int *votes = most > 0 ? bdml_votes : judged;
    int k = (int)BDML_MIN((int64_t)votes[count - 1], learn->n); /* the most: they ascend */
    int64_t wrong[BDML_PLAN_VOTES], all = 0;
    int32_t *index = NULL;

    BDML_NEW(f->h, index, (size_t)left_out->n * (size_t)k);
    BDML_GO(find_nearest(j, f, learn, left_out, k, index));
    BDML_GO(bdml_vote_count(f->h, learn, left_out, k, index, count, votes, wrong));
    for (int v = 0; v < count; v++)
        for (int i = 0; i < JUDGED; i++) all += votes[v] == judged[i] ? wrong[v] : 0;
    error[0] = 100.0 * (double)all / (double)(JUDGED * left_out->n);
    for (int v = 0; v < most; v++) error[1 + v] = 100.0 * (double)wrong[v] / (double)left_out->n;
done:
    free(index);
    return status;
}

/* How many of the nearest other rows are of the class, of NEAREST or of all R that are: one hit or miss a row says
 * less (docs/recipe.md). Rows alone in their class ask nothing. */
static bdml_status score_classes(const judge *j, const bdml_fit *f, const bdml_rows *left_out,
                                 double *error)
{
    enum { NEAREST = 5 };
    bdml_status status = BDML_OK;
    const bdml_plan *p = f->plan;
    int32_t *nearest = NULL;
    double missed = 0.0;

    for (int g = 0; g < p->groups; g++) error[1 + g] = 0.0;
    BDML_NEW(f->h, nearest, left_out->n * NEAREST);
    BDML_GO(bdml_knn_search(f->h, &p->o->neighbors, left_out, NULL, BDML_ANY_CLASS, NEAREST,
                            nearest, NULL));
    for (int64_t i = 0; i < left_out->n; i++) {
        int32_t own = left_out->y[i];
        int asked = (int)BDML_MIN(NEAREST, j->part->count[own] - 1), others = 0;
        if (asked == 0) continue;
        for (int k = 0; k < asked; k++) others += left_out->y[nearest[i * NEAREST + k]] != own;
        missed += (double)others / asked;
        if (p->groups > 0) error[1 + own % p->groups] += (double)others / asked;
    }
    *error = 100.0 * missed / (double)(left_out->n - j->part->single);
done:
    free(nearest);
    return status;
}

/* l: q rows of the metric's map, or NULL: the reference itself. */
static bdml_status score_rows(const judge *j, const bdml_fit *f, int q, const double *l,
                              double *error)
{
    bdml_status status = BDML_OK;
    const bdml_part *part = j->part;
    const bdml_training *t = &part->t;
    int r = f->reference.rows;
    double *z = NULL, *vz = NULL;

    if (l) BDML_GO(bdml_map_points(f->h, q, r, l, part->test, j->vp, &vz));
    const bdml_rows left_out = {part->test, q, q, l ? vz : j->vp, part->vy, t->classes, NULL};
    if (f->plan->unseen) {
        status = score_classes(j, f, &left_out, error);
        goto done;
    }
    if (l) BDML_GO(bdml_map_points(f->h, q, r, l, t->n, f->p, &z));
    const bdml_rows learn = {t->n, q, q, l ? z : f->p, t->y, t->classes, NULL};
    status = score_votes(j, f, &learn, &left_out, error);
done:
    free(z);
    free(vz);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------ */

static double pair_score(bdml_score_kind kind, int q, const double *a, const double *b)
{
    double distance = 0.0;
    if (kind == BDML_SCORE_COSINE) {
        double lengths = bdml_la_norm(q, a) * bdml_la_norm(q, b);
        return lengths > 0.0 ? bdml_la_dot(q, a, b) / lengths : 0.0;
    }
    for (int j = 0; j < q; j++) distance += (a[j] - b[j]) * (a[j] - b[j]);
    return -distance;
}

static void pair_scores(const bdml_labelled_pairs *pairs, bdml_score_kind kind, int q,
                        const double *z, double *score)
{
    for (int64_t k = 0; k < pairs->count; k++)
        score[k] =
            pair_score(kind, q, COL(z, q, pairs->row[2 * k]), COL(z, q, pairs->row[2 * k + 1]));
}

/* For points z of dimension q, by one way to score. */
static bdml_status score_pairs(bdml_handle *h, const bdml_part *part, bdml_score_kind kind, int q,
                               const double *z, double *error)
{
    bdml_status status = BDML_OK;
    const bdml_labelled_pairs *learned = &part->learned, *out = &part->left_out;
    bdml_calibration c = {0};
    double *score = NULL;
    int64_t wrong = 0;

    BDML_NEW(h, score, BDML_MAX(learned->count, out->count));
    pair_scores(learned, kind, q, z, score);
    BDML_GO(bdml_find_threshold(h, learned->count, score, learned->same, &c));
    pair_scores(out, kind, q, z, score);
    for (int64_t k = 0; k < out->count; k++)
        wrong += (score[k] >= c.threshold) != (out->same[k] == 1);
    *error = 100.0 * (double)wrong / (double)out->count;
done:
    free(score);
    return status;
}

/* ---- one job ---------------------------------------------------------------------------------------------- */

/* Numbers of the metric m on the points of f (NULL: the reference itself). */
static bdml_status score_metric(const judge *j, const bdml_fit *f, const double *m, double *error)
{
    bdml_status status = BDML_OK;
    const bdml_plan *p = f->plan;
    int r = f->reference.rows, q = r;
    double *l = NULL, *z = NULL;

    if (m) BDML_GO(bdml_map_metric(f->h, r, m, &q, &l));
    if (!p->pairs) {
        status = score_rows(j, f, q, l, error);
        goto done;
    }
    if (l) BDML_GO(bdml_map_points(f->h, q, r, l, f->t->n, f->p, &z));
    for (int s = 0; s < p->scores; s++)
        BDML_GO(score_pairs(f->h, j->part, p->score[s], q, z ? z : f->p, &error[s]));
done:
    free(l);
    free(z);
    return status;
}

static void put(const bdml_plan *p, const judge *j, int effort, int cap, const double *error)
{
    size_t width = (size_t)bdml_candidate_width(p);
    for (int s = 0; s < p->scores; s++) /* several ways to score are pairs': of width 1 */
        memcpy(j->error + (size_t)((s * p->efforts + effort) * p->caps + cap) * width, error + s,
               sizeof *error * width);
}

static bdml_status score_solve(void *user, const bdml_fit *f, bool last, int effort, int cap,
                               const bdml_solve_result *r)
{
    const judge *j = user;
    double error[NUMBERS];
    if (!last || !bdml_is_usable(r)) return BDML_OK;
    BDML_TRY(score_metric(j, f, r->m, error));
    put(f->plan, j, effort, cap, error);
    return BDML_OK;
}

/* Not where all that costs less, the reference alone and the efforts before, is far behind the best. */
static bool is_worth(void *user, const bdml_fit *f, int effort)
{
    const judge *j = user;
    const bdml_plan *p = f->plan;
    size_t width = (size_t)bdml_candidate_width(p);
    double cheaper = INFINITY;

    if (isnan(j->known) || effort == 0) return true;
    for (int k = 0; k < effort * p->caps; k++)
        cheaper = fmin(cheaper, j->error[(size_t)k * width]); /* NaN counts for nothing */
    double best = fmin(j->known, cheaper);
    return cheaper <= best + FAR * bdml_rate_error(best, j->part->test);
}

/* Candidates of cap 1 need no solve: *rest is without them. */
static bdml_status score_reference(const judge *j, const bdml_fit *f, bool *rest)
{
    const bdml_plan *p = f->plan;
    double error[NUMBERS];
    bool scored = false;
    for (int effort = 0; effort < p->efforts && p->cap[0] == 1.0; effort++) {
        bool *first = &rest[(size_t)effort * (size_t)p->caps];
        if (*first && !scored) BDML_TRY(score_metric(j, f, NULL, error));
        scored = scored || *first;
        if (*first) put(p, j, effort, 0, error);
        *first = false;
    }
    return BDML_OK;
}

bdml_status bdml_score_part(bdml_handle *h, const bdml_plan *plan, const bdml_part *part,
                            int reference, const bool *wanted, double known, double *error)
{
    bdml_status status = BDML_OK;
    bool rest[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS], any = false;
    int count = plan->efforts * plan->caps;
    judge j = {.part = part, .known = known, .error = error};
    bdml_fit f = {0};
    bdml_sweep w = {
        .fit = &f, .wanted = rest, .solved = score_solve, .worth = is_worth, .user = &j};
    double *own = NULL;

    memcpy(rest, wanted, sizeof *rest * (size_t)count);
    BDML_GO(bdml_fit_open(h, plan, &part->t, plan->reference[reference],
                          part->shared ? &part->shared->whitening : NULL, true, &f));
    if (part->vx) BDML_GO(bdml_reference_apply(h, &f.reference, part->test, part->vx, &j.vp, &own));
    BDML_GO(score_reference(&j, &f, rest));
    for (int k = 0; k < count; k++) any = any || rest[k];
    if (any) status = bdml_sweep_run(&w);
done:
    bdml_sweep_free(&w);
    bdml_fit_close(&f);
    free(own);
    return status;
}
