/* mining.c - the rules by which constraints are mined from classes, evaluated by plain loops over all rows:
 *
 *     class     targets: the k nearest of the same class; impostors: the l nearest of other classes
 *     nearest   the k nearest of all, split by class
 *     ball      targets as above; impostors: all of other classes up to the farthest target
 *     recipe    targets as above; impostors: so many random rows of other classes, drawn by the seed (drawing.c);
 *               all rows are anchors, or a random few
 *
 *     objective: every (anchor, target);   pair: every (anchor, impostor), once whichever of the two is the anchor;
 *     triplet: every (anchor, target, impostor)
 *
 * Distances in doubles are known up to an error t. A row surely is among the k nearest when at most k-1 others may be
 * nearer, and possibly when at most k-1 others surely are; between rows that only rounding could tell apart any choice
 * passes. */
#include "certify/mining.h"

#include <float.h>
#include <stdlib.h>

static const double MOST_WORK = 1e10; /* multiplications; beyond, only some anchors are looked at */
/* A point that may be off by this share of its distance from the others could have other neighbours: where that is so
 * for more than a few anchors, a rule that nothing contradicts says little. */
static const double VAGUE = 1e-3, FEW = 0.01;

/* ---- distances ------------------------------------------------------------------------------------------- */

/* Squared distances of all rows from row i, from below and from above. */
static void measure(bdml_mined *m, int64_t i)
{
    size_t d = (size_t)m->w->d;
    const double *a = m->p + (size_t)i * d;
    double square = 0.0;
    for (int64_t j = 0; j < m->w->n; j++) {
        const double *b = m->p + (size_t)j * d;
        double sum = 0.0;
        for (size_t r = 0; r < d; r++) sum += (a[r] - b[r]) * (a[r] - b[r]);
        double e = m->error[i] + m->error[j];
        double t = 2.0 * sqrt(sum) * e + e * e + 4.0 * (8.0 + (double)d) * DBL_EPSILON * sum;
        m->low[j] = fmax(sum - t, 0.0);
        m->high[j] = sum + t;
        square += sum / (double)m->w->n;
    }
    m->vague += m->error[i] > VAGUE * sqrt(square);
}

/* ---- sets -------------------------------------------------------------------------------------------------- */

typedef enum side { SAME, OTHER, ANY } side;

static bool is_on(const bdml_mined *m, int64_t i, int64_t j, side which)
{
    const int32_t *y = m->w->data->y;
    return i != j && (which == ANY || (y[i] == y[j]) == (which == SAME));
}

/* The k-th smallest of v (low or high) over the rows on that side, k > 0; infinite when there are fewer. */
static double kth(bdml_mined *m, int64_t i, side which, int64_t k, const double *v)
{
    int64_t kept = 0;
    for (int64_t j = 0; j < m->w->n; j++) {
        if (!is_on(m, i, j, which) || (kept == k && v[j] >= m->best[k - 1])) continue;
        int64_t at = kept < k ? kept++ : k - 1;
        for (; at > 0 && m->best[at - 1] > v[j]; at--) m->best[at] = m->best[at - 1];
        m->best[at] = v[j];
    }
    return kept < k ? INFINITY : m->best[k - 1];
}

static int64_t count_side(const bdml_mined *m, int64_t i, side which)
{
    int64_t found = 0;
    for (int64_t j = 0; j < m->w->n; j++) found += is_on(m, i, j, which);
    return found;
}

/* state[j] for the k nearest on a side, and how many there must be. */
static int64_t nearest(bdml_mined *m, int64_t i, side which, int64_t k, unsigned char *state)
{
    int64_t there = count_side(m, i, which), take = BDML_MIN(k, there);
    if (take == 0) return 0;
    double inside = kth(m, i, which, take, m->high), next = kth(m, i, which, take + 1, m->low);
    for (int64_t j = 0; j < m->w->n; j++) {
        if (!is_on(m, i, j, which) || m->low[j] > inside) continue;
        state[j] = m->high[j] < next ? BDML_SURE : BDML_POSSIBLE;
    }
    return take;
}

static void ball(bdml_mined *m, int64_t i, unsigned char *state)
{
    int64_t take = BDML_MIN((int64_t)m->targets, count_side(m, i, SAME));
    if (take == 0) return;
    double least = kth(m, i, SAME, take, m->low), most = kth(m, i, SAME, take, m->high);
    for (int64_t j = 0; j < m->w->n; j++)
        if (is_on(m, i, j, OTHER) && m->low[j] <= most)
            state[j] = m->high[j] < least ? BDML_SURE : BDML_POSSIBLE;
}

/* Targets and impostors of anchor i by the rule; numbers -1: not told by it. */
static void evaluate(bdml_mined *m, int64_t i)
{
    size_t n = (size_t)m->w->n;
    memset(m->target, 0, n);
    memset(m->impostor, 0, n);
    m->take_targets = m->take_impostors = -1;
    measure(m, i);
    if (m->rule == BDML_RULE_NEAREST) {
        nearest(m, i, ANY, m->targets, m->target);
        for (size_t j = 0; j < n; j++) {
            if (is_on(m, i, (int64_t)j, SAME)) continue;
            m->impostor[j] = m->target[j];
            m->target[j] = BDML_NOT;
        }
        return;
    }
    m->take_targets = nearest(m, i, SAME, m->targets, m->target);
    if (m->rule == BDML_RULE_BALL)
        ball(m, i, m->impostor);
    else if (m->random > 0)
        m->take_impostors = bdml_mined_draw(m, i, m->impostor);
    else
        m->take_impostors = nearest(m, i, OTHER, m->impostors, m->impostor);
}

/* ---- comparison ---------------------------------------------------------------------------------------------- */

/* Pair number of rows i and j, or -1. Pairs stand in order. */
static int64_t pair_of(const bdml_constraints *c, int64_t i, int64_t j)
{
    int64_t a = BDML_MIN(i, j), b = BDML_MAX(i, j), from = 0, to = c->pairs;
    while (from < to) {
        int64_t k = from + (to - from) / 2;
        if (c->pi[k] < a || (c->pi[k] == a && c->pj[k] < b))
            from = k + 1;
        else
            to = k;
    }
    return from < c->pairs && c->pi[from] == a && c->pj[from] == b ? from : -1;
}

/* What is certain of row i must be there; what is there must be possible: kept for pairs, seen by either end. */
static bool tally(bdml_mined *m, int64_t i, const unsigned char *state, int32_t *least,
                  int32_t *most)
{
    for (int64_t j = 0; j < m->w->n; j++) {
        if (state[j] == BDML_NOT) continue;
        int64_t pair = pair_of(m->w->c, i, j);
        if (pair < 0 && state[j] == BDML_SURE) return false;
        if (pair < 0) continue;
        most[pair]++;
        least[pair] += state[j] == BDML_SURE;
    }
    return true;
}

/* Rows named by the triplets of anchor i, on one side: each possible, every sure one, as many as the rule takes. */
static bool is_side(const bdml_mined *m, const unsigned char *state, const int32_t *named,
                    int64_t take)
{
    int64_t found = 0;
    for (int64_t j = 0; j < m->w->n; j++) {
        if (named[j] > 0 && state[j] == BDML_NOT) return false;
        if (named[j] == 0 && state[j] == BDML_SURE) return false;
        found += named[j] > 0;
    }
    return take < 0 || found == take;
}

static bool has_any(const bdml_mined *m, const unsigned char *state)
{
    for (int64_t j = 0; j < m->w->n; j++)
        if (state[j] == BDML_SURE) return true;
    return false;
}

/* The triplets of anchor i are all combinations of its targets and its impostors. They are distinct (check_shape), so
 * that their number says whether all are there. */
static bool is_product(bdml_mined *m, int64_t i)
{
    int64_t count = m->first[i + 1] - m->first[i], a = 0, b = 0;
    if (count == 0) return !has_any(m, m->target) || !has_any(m, m->impostor);
    memset(m->near, 0, sizeof *m->near * (size_t)m->w->n);
    memset(m->far, 0, sizeof *m->far * (size_t)m->w->n);
    for (int64_t t = m->first[i]; t < m->first[i + 1]; t++) {
        m->near[m->order[t].near]++;
        m->far[m->order[t].far]++;
    }
    for (int64_t j = 0; j < m->w->n; j++) a += m->near[j] > 0, b += m->far[j] > 0;
    return count == a * b && is_side(m, m->target, m->near, m->take_targets) &&
           is_side(m, m->impostor, m->far, m->take_impostors);
}

/* As many impostor pairs about row i as the rule takes, or more, where others chose it. */
static bool has_enough(const bdml_mined *m, int64_t i)
{
    int64_t found = 0;
    for (int64_t j = 0; j < m->w->n; j++) {
        if (m->impostor[j] == BDML_NOT) continue;
        int64_t pair = pair_of(m->w->c, i, j);
        found += pair >= 0 && m->is_far[pair];
    }
    return found >= m->take_impostors;
}

static bool check_anchor(bdml_mined *m, int64_t i)
{
    evaluate(m, i);
    if (!tally(m, i, m->target, m->least_target, m->most_target)) return false;
    if (m->triplets) return is_product(m, i);
    return tally(m, i, m->impostor, m->least_far, m->most_far) && has_enough(m, i);
}

/* After all anchors: no pair is there too often or not often enough. */
static bool check_totals(const bdml_mined *m)
{
    const bdml_constraints *c = m->w->c;
    for (int64_t k = 0; k < c->pairs; k++) {
        if (m->times[k] < m->least_target[k] || m->times[k] > m->most_target[k]) return false;
        if (!m->triplets && m->is_far[k] ? m->most_far[k] == 0 : m->least_far[k] > 0) return false;
    }
    return m->wanted < 0 || m->wanted == c->targets;
}

static void say(bdml_plain *w, const bdml_mined *m, bool fits, int64_t step, const char *fields)
{
    static const char *const rules[] = {[BDML_RULE_AUTO] = "class",
                                        [BDML_RULE_CLASS] = "class",
                                        [BDML_RULE_NEAREST] = "nearest",
                                        [BDML_RULE_BALL] = "ball"};
    const char *rule = m->random > 0 ? "the recipe" : rules[m->rule];
    if (fits && (double)m->vague > FEW * (double)m->anchors)
        bdml_verdict_trust(w->v, "constraints", fields,
                           "constraints taken on trust: doubles do not tell the distances by which "
                           "rule %s chooses",
                           rule);
    else if (fits && step > 1)
        bdml_verdict_trust(w->v, "constraints", fields,
                           "constraints taken on trust: for %lld rows rule %s was evaluated for "
                           "one in %lld only (and holds there)",
                           (long long)w->n, rule, (long long)step);
    else
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "constraints", fields, fits,
                          fits ? "rule %s, evaluated for %lld rows, gives these constraints"
                               : "rule %s, evaluated for %lld rows, gives other constraints",
                          rule, (long long)m->anchors);
}

static bool check_all(bdml_mined *m, int64_t step)
{
    int64_t wanted = 0;
    for (int64_t i = 0, seen = 0; i < m->w->n; i++) {
        if (!m->is_anchor[i]) {
            if (m->triplets && m->first[i + 1] > m->first[i]) return false;
            continue;
        }
        if (seen++ % step != 0) continue;
        if (!check_anchor(m, i)) return false;
        wanted = m->take_targets < 0 ? -1 : wanted + m->take_targets;
    }
    m->wanted = wanted;
    return step > 1 || check_totals(m);
}

bdml_status bdml_check_mining(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    static const char
        fixed[] = BDML_CONSTRAINT_FIELDS " settings.kind settings.rule settings.targets "
                                         "settings.impostors settings.anchors settings.passes",
        nearest_only[] = BDML_CONSTRAINT_FIELDS
        " settings.kind settings.rule settings.targets settings.anchors settings.passes",
        drawn[] = BDML_CONSTRAINT_FIELDS " settings.kind settings.targets settings.anchors "
                                         "settings.passes selection.passes settings.seed";
    bdml_status status = BDML_OK;
    bdml_mined m = {.w = w};
    bool shape = false;

    if (s->passes > 1) {
        bdml_verdict_trust(
            w->v, "constraints", drawn,
            "constraints taken on trust: they were mined again under a metric that is "
            "not in the file");
        return BDML_OK;
    }
    if (!w->data->y) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "constraints", fixed, false,
                          "they are mined from classes, which the data do not have");
        return BDML_OK;
    }
    BDML_GO(bdml_mined_open(h, w, s, &m));
    BDML_GO(bdml_plain_errors(h, w, m.error));
    BDML_GO(bdml_mined_shape(h, &m, &shape));
    double work = (double)m.anchors * (double)w->n * (double)w->d;
    int64_t step = work > MOST_WORK ? (int64_t)ceil(work / MOST_WORK) : 1;
    bool by_number = m.rule == BDML_RULE_CLASS && m.random == 0;
    say(w, &m, shape && check_all(&m, step), step,
        m.random > 0 ? drawn
        : by_number  ? fixed
                     : nearest_only);
done:
    bdml_mined_close(&m);
    return status;
}
