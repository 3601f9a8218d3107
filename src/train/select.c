/* select.c - the candidate, by cross-validation inside the training data.
 *
 * Each part's reference, constraints and metrics come from what it learns from alone. References alone cost no solve:
 * the best of each family are compared, and the FAMILIES best of these become candidates with every cap. Rounds:
 * the first scores every candidate on some parts, the next go on with those that are not clearly worse than
 * the best; a race begins with one part, and there leaves out efforts that are far behind (score.c). Then the smallest K
 * is taken that is not worse than the best by more than so many standard errors of the difference, part by part (setting se-rule), and among those with that K the smallest error. How many neighbours
 * vote is chosen last, under what was chosen, by the same votes.
 *
 * A job is one (part, reference) with all its efforts and caps in one warm-started sweep (score.c); jobs run beside each other,
 * each on one thread with its own handle, and write to their own places: the result does not depend on the number of
 * threads. */
#include "train/checkpoint.h"
#include "train/plan.h"

#include <stdlib.h>

static const double TIME = 0.45; /* of what is left: the last fit and its proof take the rest */
/* Standard errors above the best that a further round takes; after the first part of few rows. */
static const double KEEP = 0.5, KEEP_EARLY = 1.0;
enum { FAMILIES = 2 }; /* of references that go on */

/* Everything the selection works with. */
typedef struct selection {
    bdml_handle *h; /* of the call: the checkpoint hangs on it */
    bdml_plan *plan;
    bdml_parts parts;
    bool alone;    /* references alone: what cannot be fitted is out of the race, in silence */
    int size;      /* candidates, */
    int width;     /* and numbers of each on a part (plan.h) */
    double *error; /* part by part, each by number of the candidate; NaN: not fitted */
    double *known; /* those of the references alone: part by part, each by kind as listed, */
    int kinds;     /* so many */
    bool *wanted;  /* per candidate: still in the race */
    double *mean, *se;
    double rows[BDML_PLAN_GROUPS]; /* tested on the parts scored so far, by group */
    int *scored;                   /* parts that each was scored on, or NULL */
    int done;                      /* parts scored so far */
    double until;                  /* when the choice is made from what is known; 0: never */
    bool late;                     /* it was so */
    char why[BDML_ERROR_SIZE];     /* the first part that could not be fitted */
} selection;

/* ---- jobs ------------------------------------------------------------------------------------------------- */

/* Is the candidate wanted, by one score or another? */
static bool is_wanted(const selection *s, bdml_candidate c)
{
    for (c.score = 0; c.score < s->plan->scores; c.score++)
        if (s->wanted[bdml_candidate_number(s->plan, c)]) return true;
    return false;
}

/* Best error of a reference alone on the first part; NaN: there is no race. */
static double best_known(const selection *s)
{
    double best = INFINITY;
    if (!s->plan->race || !s->known) return NAN;
    for (int r = 0; r < s->kinds; r++) best = fmin(best, s->known[(size_t)r * (size_t)s->width]);
    return best;
}

/* Job k of the round that begins with the parts that are not scored yet. What is scored already, by the references
 * alone, is not scored again. */
static bdml_status run_job(bdml_handle *own, void *user, int64_t k)
{
    const selection *s = user;
    const bdml_plan *p = s->plan;
    int job = s->done * p->references + (int)k, part = job / p->references;
    bdml_candidate c = {.reference = job % p->references};
    int size = p->scores * p->efforts * p->caps * s->width;
    double *kept = s->error + (size_t)job * (size_t)size, error[BDML_PLAN_MOST];
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS], any = false;

    memcpy(error, kept, sizeof *kept * (size_t)size);
    for (c.effort = 0; c.effort < p->efforts; c.effort++)
        for (c.cap = 0; c.cap < p->caps; c.cap++) {
            int place = c.effort * p->caps + c.cap;
            any |= wanted[place] =
                is_wanted(s, c) && isnan(error[(size_t)place * (size_t)s->width]);
        }
    if (!any || (!s->alone && bdml_checkpoint_take_job(s->h, job, kept))) return BDML_OK;
    bdml_status status = bdml_score_part(own, p, &s->parts.part[part], c.reference, wanted,
                                         part == 0 ? best_known(s) : NAN, error);
    /* A job cut short has solved nothing to its end: its scores are not kept. */
    if (bdml_jobs_stopped(own)) return status;
    memcpy(kept, error, sizeof *kept * (size_t)size);
    if (s->alone) return status == BDML_ERR_DATA ? BDML_OK : status;
    if (status == BDML_OK) bdml_checkpoint_put_job(s->h, job, error);
    return status;
}

/* Jobs of other ranks, from number `first` on, into the checkpoint: it goes on with any number of them. */
static void keep_jobs(const selection *s, const bdml_jobs *jobs, int first)
{
    for (int k = 0; !s->alone && k < jobs->count && s->h->comm->size > 1; k++)
        if (jobs->finished[k])
            bdml_checkpoint_put_job(s->h, first + k, jobs->result + k * jobs->size);
}

/* Score the candidates in the race on the parts s->done .. to-1. A part that cannot be fitted (too few neighbours,
 * say) keeps its NaN, and its reason stands in s->why. Where time cuts a round short those before it count alone; of
 * the first round, what was scored. */
static bdml_status run_round(selection *s, const char *what, int to)
{
    bdml_status status = BDML_OK;
    int first = s->done * s->plan->references, count = to * s->plan->references - first;
    int64_t size = (int64_t)s->size / s->plan->references * s->width;
    bool late = false, *finished = NULL;
    BDML_NEW(s->h, finished, count);
    bdml_jobs jobs = {.what = what,
                      .total = count,
                      .count = count,
                      .workers = bdml_threads(s->h),
                      .run = run_job,
                      .user = s,
                      .until = s->until,
                      .result = s->error + first * size,
                      .size = size,
                      .finished = finished,
                      .late = &late,
                      .why = s->alone ? NULL : s->why};
    BDML_GO(bdml_jobs_run(s->h, &jobs));
    keep_jobs(s, &jobs, first);
    if (!late || s->done == 0) s->done = to;
    s->late = s->late || late;
done:
    free(finished);
    return status;
}

/* Room for the candidates of s->plan on so many parts. */
static bdml_status make_table(selection *s, int parts)
{
    bdml_status status = BDML_OK;
    s->size = bdml_candidate_count(s->plan);
    s->width = bdml_candidate_width(s->plan);
    s->done = 0;
    BDML_NEW(s->h, s->error, parts * s->size * s->width);
    BDML_NEW(s->h, s->wanted, s->size);
    for (int k = 0; k < parts * s->size * s->width; k++) s->error[k] = NAN;
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

/* ---- rounds ----------------------------------------------------------------------------------------------- */

/* The parts scored so far. Rows: tested over trained; pairs: parts of one size. */
static bdml_scores scores_of(selection *s)
{
    for (int g = 0; g < s->plan->groups; g++) {
        s->rows[g] = 0.0;
        for (int k = 0; k < s->done; k++) s->rows[g] += s->parts.part[k].rows[g];
    }
    const bdml_part *part = &s->parts.part[0];
    double ratio = s->plan->pairs ? 1.0 / (s->parts.splits - 1)
                                  : (double)part->test / (double)BDML_MAX(part->t.n, 1);
    return (bdml_scores){s->plan, s->done, s->error, ratio, INFINITY, s->rows};
}

static void summarise(selection *s)
{
    bdml_scores scores = scores_of(s);
    bdml_summarise(&scores, s->wanted, s->mean, s->se);
    for (int k = 0; s->scored && k < s->size; k++)
        if (s->wanted[k]) s->scored[k] = s->done;
}

static bdml_status score_to(selection *s, const char *what, int to)
{
    BDML_TRY(run_round(s, what, to));
    summarise(s);
    return BDML_OK;
}

/* Standard error, in percent, of the error rate of the best over the rows of so many parts. */
static double rate_error(const selection *s, int best, int parts)
{
    int64_t tested = 0;
    for (int k = 0; k < parts; k++) tested += s->parts.part[k].test;
    return bdml_rate_error(s->mean[best], tested);
}

/* Leave out what is clearly worse than the best: by more than so many standard errors of an error rate over the rows left
 * out so far. What stays in any case: stays[number], or NULL: K = 1, which is scored already. */
static void narrow(selection *s, const bool *stays)
{
    bdml_scores scores = scores_of(s);
    int best = bdml_best(&scores, s->wanted, s->mean);
    if (best < 0) return;
    double keep = s->done < s->parts.first ? KEEP_EARLY : KEEP;
    double limit = s->mean[best] + keep * rate_error(s, best, s->done);
    for (int number = 0; number < s->size; number++) {
        bool stay =
            stays ? stays[number] : s->plan->cap[bdml_candidate_at(s->plan, number).cap] == 1.0;
        s->wanted[number] = s->wanted[number] && (stay || s->mean[number] <= limit);
    }
}

/* ---- references alone ------------------------------------------------------------------------------------- */

/* The kinds that differ in a constant, how far to stretch the discriminants or whether to z-score before whitening,
 * are compared alone; the one with the smallest mean error stands for its family, of equals the first. Of classes left
 * out those that are surely better than the space as it is come before the others. A family goes
 * on when fewer than FAMILIES others are better: stays[r]. What is not wanted could not be fitted, or is out. */
static void best_of_families(selection *s, bool *stays)
{
    const bdml_plan *plan = s->plan;
    const double *mean = s->mean;
    bdml_scores scores = scores_of(s);
    int best[BDML_FAMILIES];
    double least[BDML_FAMILIES];
    bool sure[BDML_FAMILIES] = {false};
    for (int f = 0; f < BDML_FAMILIES; f++) best[f] = -1, least[f] = INFINITY;
    for (int r = 0; r < plan->references; r++) {
        bdml_reference_family f = bdml_reference_family_of(plan->reference[r]);
        bool is_sure = plan->unseen && bdml_is_sure(&scores, s->wanted, mean, r);
        bool better =
            best[f] < 0 || is_sure > sure[f] || (is_sure == sure[f] && mean[r] < least[f]);
        if (!s->wanted[r] || !better) continue;
        best[f] = r;
        least[f] = mean[r];
        sure[f] = is_sure;
    }
    for (int r = 0; r < plan->references; r++) {
        bdml_reference_family own = bdml_reference_family_of(plan->reference[r]);
        int better = 0;
        for (int f = 0; f < BDML_FAMILIES; f++)
            better += best[f] >= 0 &&
                      (least[f] < least[own] || (least[f] == least[own] && best[f] < best[own]));
        bool kept = plan->unseen && own == BDML_FAMILY_NONE; /* what others must be better than */
        stays[r] = best[own] == r && (better < FAMILIES || kept);
    }
}

/* Two rounds as those of the candidates; what would be chosen after the first goes on in any case. */
static bdml_status score_references(selection *s)
{
    bool stays[BDML_REFERENCE_KINDS];
    BDML_TRY(score_to(s, "references", s->parts.first));
    best_of_families(s, stays);
    narrow(s, stays);
    return s->parts.count > s->done ? score_to(s, "references", s->parts.count) : BDML_OK;
}

static bdml_status pick_references(selection *s, bdml_selection *out)
{
    bdml_status status = BDML_OK;
    bdml_plan alone = *s->plan, *plan = s->plan;
    double se[BDML_REFERENCE_KINDS];
    bool stays[BDML_REFERENCE_KINDS];

    alone.efforts = alone.caps = 1;
    alone.cap[0] = 1.0;
    s->plan = &alone;
    s->alone = true;
    s->mean = out->alone_error;
    s->se = se;
    BDML_GO(make_table(s, s->parts.count));
    BDML_GO(score_references(s));
    best_of_families(s, stays);
    int kept = 0;
    for (int r = 0; r < alone.references; r++) {
        out->alone_kind[r] = alone.reference[r];
        out->alone_parts[r] = s->wanted[r] ? s->done : s->parts.first;
        if (stays[r]) plan->reference[kept++] = alone.reference[r];
    }
    if (kept > 0) plan->references = kept; /* else the candidates will tell why there is none */
    out->alone = alone.references;
    s->known = s->error;
    s->kinds = alone.references;
    s->error = NULL;
done:
    s->plan = plan;
    s->alone = false;
    s->mean = s->se = NULL; /* the candidates have their own */
    free_table(s);
    return status;
}

/* The references alone are the candidates of K = 1, of any effort. */
static void use_known(const selection *s, const bdml_selection *alone)
{
    size_t width = (size_t)s->width;
    for (int number = 0; number < s->size && alone->alone > 0; number++) {
        bdml_candidate c = bdml_candidate_at(s->plan, number);
        int r = 0;
        if (s->plan->cap[c.cap] != 1.0) continue;
        while (alone->alone_kind[r] != s->plan->reference[c.reference]) r++;
        for (int k = 0; k < s->parts.count; k++)
            memcpy(s->error + (size_t)(k * s->size + number) * width,
                   s->known + (size_t)(k * alone->alone + r) * width, sizeof *s->error * width);
    }
}

/* ---- choice -------------------------------------------------------------------------------------------- */

/* The standard error of a difference over three folds of rows may come out anyhow: it counts for no more than that
 * of the error rate of the best over the rows left out, each once. */
static int choose(selection *s)
{
    bdml_scores scores = scores_of(s);
    int best = bdml_best(&scores, s->wanted, s->mean);
    if (best < 0) return -1;
    if (!s->plan->pairs && !s->plan->unseen)
        scores.most_error = rate_error(s, best, BDML_MIN(s->done, s->parts.splits));
    return bdml_choose(&scores, s->wanted, s->mean);
}

/* How much what is chosen, or else the best of all, is better than the space as it is. */
static void weigh_evidence(selection *s, bdml_selection *out)
{
    bdml_scores scores = scores_of(s);
    int kept = out->untouched = bdml_untouched(s->plan);
    bool keeps = out->chosen < 0 || out->chosen == kept;
    int best = out->best = keeps ? bdml_best(&scores, s->wanted, s->mean) : out->chosen;
    if (kept < 0 || best < 0) return;
    out->gain = s->mean[kept] - s->mean[best];
    out->gain_error = bdml_difference_error(&scores, s->mean, kept, best);
}

/* ---- selection -------------------------------------------------------------------------------------------- */

void bdml_selection_free(bdml_selection *s)
{
    free(s->mean);
    free(s->se);
    free(s->parts);
    *s = (bdml_selection){0};
}

/* Is there a reference that errs nowhere alone? The rule takes it whatever else is tried: nothing errs less, and no K is smaller. */
static bool is_settled(const selection *s)
{
    bool may = s->plan->race && !s->plan->whole && s->plan->cap[0] == 1.0;
    for (int r = 0; may && r < s->kinds; r++) {
        bool errs = false;
        for (int k = 0; k < s->parts.count; k++)
            errs |= s->known[(size_t)(k * s->kinds + r) * (size_t)s->width] != 0.0;
        if (!errs) return true;
    }
    return false;
}

/* Two rounds; a race has one of the first part alone before them, or between them where the first round is that. */
static bdml_status score_candidates(selection *s)
{
    if (is_settled(s)) {
        s->done = s->parts.count;
        summarise(s);
        return BDML_OK;
    }
    const bdml_parts *p = &s->parts;
    int race[] = {1, BDML_MAX(p->first, 2), p->count}, usual[] = {p->first, p->count};
    const int *end = s->plan->race ? race : usual;
    for (int to = 0; to < p->count; end++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): both lists end in p->count */
        to = BDML_MIN(*end, p->count);
        BDML_TRY(score_to(s, "cross-validation", to));
        if (!s->plan->whole && to < p->count) narrow(s, NULL);
    }
    return BDML_OK;
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
    s->scored = out->parts;
    use_known(s, out);
    int jobs = s->plan->references;
    BDML_GO(bdml_checkpoint_jobs(h, s->parts.count * jobs, s->size / jobs * s->width));
    BDML_GO(score_candidates(s));
    out->candidates = s->size;
    out->chosen = choose(s);
    weigh_evidence(s, out);
    out->late = s->late;
    if (s->late)
        bdml_log(h, BDML_LOG_WARNING,
                 "the time limit cut the choice of reference, distortion and weight short: it was "
                 "made from what was known by then");
    /* nothing is known: the space as it is, or the first reference, at the smallest cap */
    if (out->chosen < 0 && s->late) out->chosen = BDML_MAX(out->untouched, 0);
    bdml_scores scores = scores_of(s);
    if (out->chosen >= 0) out->votes = bdml_choose_votes(&scores, out->chosen);
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
    if (!h->checkpoint)
        s.until = bdml_time_share(h, TIME); /* else what is scored is kept, to go on from */
    *out = (bdml_selection){0};
    bdml_status status = bdml_parts_make(h, plan, t, &s.parts);
    if (status == BDML_OK) status = run(&s, out);
    bdml_parts_free(&s.parts);
    free_table(&s);
    free(s.known);
    if (status != BDML_OK) bdml_selection_free(out);
    return status;
}
