/* select.c - the candidate, by cross-validation inside the training data.
 *
 * Each part's reference, constraints and metrics come from what it learns from alone. The best reference of each
 * family, alone, becomes a candidate. Two rounds: the first scores every candidate on some parts, the second
 * goes on with those that are not clearly worse than the best. Then the smallest K is taken that is not worse than
 * the best by more than so many standard errors of the difference, part by part (setting se-rule), and among those
 * with that K the smallest error.
 *
 * A job is one (part, reference, weight) with all its passes and caps in one warm-started sweep (score.c); jobs run
 * beside each other, each on one thread with its own handle, and write to their own places: the result does not
 * depend on the number of threads. */
#include "train/checkpoint.h"
#include "train/plan.h"

#include <stdlib.h>

static const double KEEP = 1.0; /* standard errors above the best that the second round takes */

/* Everything the selection works with. */
typedef struct selection {
    bdml_handle *h; /* of the call: the checkpoint hangs on it */
    bdml_plan *plan;
    bdml_parts parts;
    bool alone;    /* references alone: what cannot be fitted is out of the race, in silence */
    int size;      /* candidates */
    double *error; /* by bdml_score_place; NaN: not fitted */
    bool *wanted;  /* per candidate: still in the race */
    double *mean, *se;
    int done;                  /* parts scored so far */
    char why[BDML_ERROR_SIZE]; /* the first part that could not be fitted */
} selection;

/* ---- jobs ------------------------------------------------------------------------------------------------- */

/* Is the candidate wanted, by one score or another? */
static bool is_wanted(const selection *s, bdml_candidate c)
{
    for (c.score = 0; c.score < s->plan->scores; c.score++)
        if (s->wanted[bdml_candidate_number(s->plan, c)]) return true;
    return false;
}

/* Job k of the round that begins with the parts that are not scored yet. */
static bdml_status run_job(bdml_handle *own, void *user, int64_t k)
{
    const selection *s = user;
    const bdml_plan *p = s->plan;
    int job = s->done * p->references * p->weights + (int)k;
    int part = job / p->weights / p->references;
    bdml_candidate c = {.reference = job / p->weights % p->references, .weight = job % p->weights};
    double *error = s->error + bdml_score_place(p, part, c);
    bool wanted[BDML_PLAN_PASSES * BDML_PLAN_CAPS], any = false;

    for (c.pass = 0; c.pass < p->passes; c.pass++)
        for (c.cap = 0; c.cap < p->caps; c.cap++)
            any |= wanted[c.pass * p->caps + c.cap] = is_wanted(s, c);
    if (!any || (!s->alone && bdml_checkpoint_take_job(s->h, job, error))) return BDML_OK;
    bdml_status status =
        bdml_score_part(own, p, &s->parts.part[part], c.reference, c.weight, wanted, error);
    if (s->alone) return status == BDML_ERR_DATA ? BDML_OK : status;
    /* A job cut short has solved nothing to its end: its scores are not kept. */
    if (status == BDML_OK && !bdml_jobs_stopped(own)) bdml_checkpoint_put_job(s->h, job, error);
    return status;
}

/* Score the candidates in the race on the parts s->done .. to-1. A part that cannot be fitted (too few neighbours,
 * say) keeps its NaN, and its reason stands in s->why. */
static bdml_status run_round(selection *s, const char *what, int to)
{
    int count = (to - s->done) * s->plan->references * s->plan->weights;
    bdml_jobs jobs = {
        what, 0, count, count, bdml_threads(s->h), run_job, s, s->alone ? NULL : s->why};
    BDML_TRY(bdml_jobs_run(s->h, &jobs));
    s->done = to;
    return BDML_OK;
}

/* Room for the candidates of s->plan on so many parts. */
static bdml_status make_table(selection *s, int parts)
{
    bdml_status status = BDML_OK;
    s->size = bdml_candidate_count(s->plan);
    s->done = 0;
    BDML_NEW(s->h, s->error, parts * s->size);
    BDML_NEW(s->h, s->wanted, s->size);
    for (int k = 0; k < parts * s->size; k++) s->error[k] = NAN;
    for (int k = 0; k < s->size; k++) s->wanted[k] = true;
done:
    return status;
}

static void free_table(selection *s)
{
    free(s->error);
    free(s->wanted);
    s->error = NULL;
    s->wanted = NULL;
}

/* ---- references alone ------------------------------------------------------------------------------------- */

/* A reference alone (K = 1) costs no solve. So the kinds that differ in a constant, how far to stretch the
 * discriminants or whether to z-score before whitening, are compared alone, on all parts; the one with the
 * smallest mean error stands for its family, of equals the first. */
static void keep_best(bdml_plan *plan, const bdml_selection *alone)
{
    int best[BDML_FAMILIES], kept = 0;
    double least[BDML_FAMILIES];
    for (int f = 0; f < BDML_FAMILIES; f++) best[f] = -1, least[f] = INFINITY;
    for (int r = 0; r < alone->alone; r++) {
        bdml_reference_family f = bdml_reference_family_of(alone->alone_kind[r]);
        double mean = alone->alone_error[r];
        if (best[f] >= 0 && !(mean < least[f])) continue;
        best[f] = r;
        if (!isnan(mean)) least[f] = mean;
    }
    for (int r = 0; r < alone->alone; r++)
        if (best[bdml_reference_family_of(alone->alone_kind[r])] == r)
            plan->reference[kept++] = alone->alone_kind[r];
    plan->references = kept;
}

static bdml_status pick_references(selection *s, bdml_selection *out)
{
    bdml_status status = BDML_OK;
    bdml_plan alone = *s->plan, *plan = s->plan;

    alone.weights = alone.passes = alone.caps = 1;
    alone.cap[0] = 1.0;
    s->plan = &alone;
    s->alone = true;
    BDML_GO(make_table(s, s->parts.made));
    BDML_GO(run_round(s, "references", s->parts.made));
    out->alone = alone.references;
    for (int r = 0; r < alone.references; r++) {
        double sum = 0.0;
        for (int k = 0; k < s->parts.made; k++)
            sum += s->error[bdml_score_place(&alone, k, (bdml_candidate){.reference = r})];
        out->alone_kind[r] = alone.reference[r];
        out->alone_error[r] = sum / s->parts.made;
    }
    keep_best(plan, out);
done:
    s->plan = plan;
    s->alone = false;
    free_table(s);
    return status;
}

/* ---- rounds ----------------------------------------------------------------------------------------------- */

/* The parts scored so far. Rows: tested over trained; pairs: parts of one size. */
static bdml_scores scores_of(const selection *s)
{
    const bdml_part *part = &s->parts.part[0];
    double ratio = s->plan->pairs ? 1.0 / (s->parts.splits - 1)
                                  : (double)part->test / (double)BDML_MAX(part->t.n, 1);
    return (bdml_scores){s->plan, s->done, s->error, ratio, INFINITY};
}

static bdml_status score_to(selection *s, int to)
{
    BDML_TRY(run_round(s, "cross-validation", to));
    bdml_scores scores = scores_of(s);
    bdml_summarise(&scores, s->wanted, s->mean, s->se);
    return BDML_OK;
}

/* Standard error, in percent, of the error rate of the best over the rows of so many parts. */
static double rate_error(const selection *s, int best, int parts)
{
    int64_t tested = 0;
    for (int k = 0; k < parts; k++) tested += s->parts.part[k].test;
    double rows = (double)BDML_MAX(tested, 1), p = BDML_MAX(s->mean[best] / 100.0, 1.0 / rows);
    return 100.0 * sqrt(p * (1.0 - p) / rows);
}

/* Leave out what is clearly worse than the best: by more than KEEP standard errors of an error rate
 * over the rows left out so far. References alone cost nothing and stay. */
static void narrow(selection *s)
{
    bdml_scores scores = scores_of(s);
    int best = bdml_best(&scores, s->wanted, s->mean);
    if (best < 0) return;
    double limit = s->mean[best] + KEEP * rate_error(s, best, s->done);
    for (int number = 0; number < s->size; number++) {
        bool alone = s->plan->cap[bdml_candidate_at(s->plan, number).cap] == 1.0;
        s->wanted[number] = s->wanted[number] && (alone || s->mean[number] <= limit);
    }
}

/* The standard error of a difference over three folds of rows may come out anyhow: it counts for no more than that
 * of the error rate of the best over the rows left out, each once. */
static int choose(const selection *s)
{
    bdml_scores scores = scores_of(s);
    int best = bdml_best(&scores, s->wanted, s->mean);
    if (best < 0) return -1;
    if (!s->plan->pairs)
        scores.most_error = rate_error(s, best, BDML_MIN(s->done, s->parts.splits));
    return bdml_choose(&scores, s->wanted, s->mean);
}

/* ---- selection -------------------------------------------------------------------------------------------- */

void bdml_selection_free(bdml_selection *s)
{
    free(s->mean);
    free(s->se);
    free(s->parts);
    *s = (bdml_selection){0};
}

static bdml_status run(selection *s, bdml_selection *out)
{
    bdml_status status = BDML_OK;
    bdml_handle *h = s->h;

    if (s->plan->references > 1 && !s->plan->pairs) BDML_GO(pick_references(s, out));
    BDML_GO(make_table(s, s->parts.count));
    BDML_NEW(h, out->mean, s->size);
    BDML_NEW(h, out->se, s->size);
    BDML_NEW(h, out->parts, s->size);
    s->mean = out->mean;
    s->se = out->se;
    int jobs = s->plan->references * s->plan->weights;
    BDML_GO(bdml_checkpoint_jobs(h, s->parts.count * jobs, s->size / jobs));
    BDML_GO(score_to(s, s->parts.first));
    if (!s->plan->whole) narrow(s);
    if (s->parts.count > s->done) BDML_GO(score_to(s, s->parts.count));
    out->candidates = s->size;
    out->chosen = choose(s);
    for (int k = 0; k < s->size; k++) out->parts[k] = s->wanted[k] ? s->done : s->parts.first;
    if (out->chosen < 0)
        status = bdml_fail(h, BDML_ERR_DATA, "no fold of the cross-validation could be fitted: %s",
                           s->why);
done:
    return status;
}

bdml_status bdml_select(bdml_handle *h, bdml_plan *plan, const bdml_training *t,
                        bdml_selection *out)
{
    selection s = {.h = h, .plan = plan};
    *out = (bdml_selection){0};
    bdml_status status = bdml_parts_make(h, plan, t, &s.parts);
    if (status == BDML_OK) status = run(&s, out);
    bdml_parts_free(&s.parts);
    free_table(&s);
    if (status != BDML_OK) bdml_selection_free(out);
    return status;
}
