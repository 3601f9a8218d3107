/* choose.c - which candidate of a plan, from its scores part by part: not clearly worse than the best, then
 * the smallest K, then the smallest error. */
#include "train/plan.h"

int bdml_candidate_again(const bdml_plan *p, bdml_candidate c)
{
    return p->cap[c.cap] == 1.0 && p->o->train.passes.automatic ? 0 : p->effort[c.effort].again;
}

int bdml_last_again(const bdml_plan *p, bdml_candidate c)
{
    int again = bdml_candidate_again(p, c);
    return again > 0 ? again + p->more : 0;
}

int bdml_candidate_width(const bdml_plan *p)
{
    return 1 + BDML_MAX(p->votes, p->groups);
}

int bdml_candidate_count(const bdml_plan *p)
{
    return p->references * p->scores * p->efforts * p->caps;
}

int bdml_candidate_number(const bdml_plan *p, bdml_candidate c)
{
    return ((c.reference * p->scores + c.score) * p->efforts + c.effort) * p->caps + c.cap;
}

bdml_candidate bdml_candidate_at(const bdml_plan *p, int number)
{
    bdml_candidate c;
    c.cap = number % p->caps;
    number /= p->caps;
    c.effort = number % p->efforts;
    number /= p->efforts;
    c.score = number % p->scores;
    c.reference = number / p->scores;
    return c;
}

/* What is kept of a candidate on a part: its error first. */
static const double *kept_at(const bdml_scores *s, int part, int number)
{
    size_t place = (size_t)part * (size_t)bdml_candidate_count(s->plan) + (size_t)number;
    return s->error + place * (size_t)bdml_candidate_width(s->plan);
}

static double error_at(const bdml_scores *s, int part, int number)
{
    return *kept_at(s, part, number);
}

/* Mean and standard error over the parts scored; candidates out of the race keep what they had. One
 * that could not be fitted in every part is out. */
void bdml_summarise(const bdml_scores *s, bool *wanted, double *means, double *se)
{
    for (int number = 0; number < bdml_candidate_count(s->plan); number++) {
        double sum = 0.0, square = 0.0;
        if (!wanted[number]) continue;
        for (int k = 0; k < s->parts; k++) sum += error_at(s, k, number);
        double mean = means[number] = sum / s->parts;
        for (int k = 0; k < s->parts; k++) square += pow(error_at(s, k, number) - mean, 2);
        se[number] = s->parts > 1 ? sqrt(square / (s->parts - 1) / s->parts) : 0.0;
        wanted[number] = !isnan(mean);
    }
}

double bdml_rate_error(double error, int64_t rows)
{
    double n = (double)BDML_MAX(rows, 1), p = BDML_MAX(error / 100.0, 1.0 / n);
    return 100.0 * sqrt(p * (1.0 - p) / n);
}

int bdml_best(const bdml_scores *s, const bool *wanted, const double *mean)
{
    int best = -1;
    for (int number = 0; number < bdml_candidate_count(s->plan); number++)
        if (wanted[number] && (best < 0 || mean[number] < mean[best])) best = number;
    return best;
}

/* Groups of classes are the sample: d_g more rows of n_g are missed by a than by b, in all parts together, of which each
 * tests every class once a repeat. With r = sum d / sum n, of G groups that were tested,
 *
 *     se(r)^2 = G/(G-1) sum_g (d_g - r n_g)^2 / (sum n)^2. */
static double error_over_groups(const bdml_scores *s, int a, int b)
{
    double more[BDML_PLAN_GROUPS] = {0.0}, sum = 0.0, rows = 0.0, square = 0.0;
    int tested = 0;
    for (int g = 0; g < s->plan->groups; g++) {
        for (int k = 0; k < s->parts; k++)
            more[g] += kept_at(s, k, a)[1 + g] - kept_at(s, k, b)[1 + g];
        sum += more[g];
        rows += s->rows[g];
        tested += s->rows[g] > 0.0;
    }
    for (int g = 0; g < s->plan->groups; g++) square += pow(more[g] - sum / rows * s->rows[g], 2);
    return tested > 1 ? 100.0 * sqrt((double)tested / (tested - 1) * square) / rows : 0.0;
}

/* Parts share most of what they learn from. */
double bdml_difference_error(const bdml_scores *s, const double *means, int a, int b)
{
    double mean = means[a] - means[b], square = 0.0;
    if (s->plan->groups > 0) return error_over_groups(s, a, b);
    if (s->parts < 2) return 0.0;
    for (int k = 0; k < s->parts; k++)
        square += pow(error_at(s, k, a) - error_at(s, k, b) - mean, 2);
    return bdml_split_error(s->parts, square, s->tested_over_trained);
}

int bdml_untouched(const bdml_plan *p)
{
    bdml_candidate c = {0};
    while (c.reference < p->references && p->reference[c.reference] != BDML_REFERENCE_NONE)
        c.reference++;
    bool there = c.reference < p->references && p->cap[0] == 1.0;
    return there ? bdml_candidate_number(p, c) : -1;
}

bool bdml_is_sure(const bdml_scores *s, const bool *wanted, const double *mean, int number)
{
    int kept = bdml_untouched(s->plan);
    if (kept < 0 || number == kept || !wanted[kept] || !wanted[number]) return false;
    double error = bdml_difference_error(s, mean, kept, number);
    return mean[kept] - mean[number] > s->plan->slack * error;
}

/* Classes that nobody has seen: the best of what is surely better than the space as it is, or that space. */
static int choose_unseen(const bdml_scores *s, const bool *wanted, const double *mean)
{
    int best = -1, kept = bdml_untouched(s->plan);
    for (int number = 0; number < bdml_candidate_count(s->plan); number++)
        if (bdml_is_sure(s, wanted, mean, number) && (best < 0 || mean[number] < mean[best]))
            best = number;
    if (best >= 0) return best;
    return kept >= 0 && wanted[kept] ? kept : bdml_best(s, wanted, mean);
}

int bdml_choose(const bdml_scores *s, const bool *wanted, const double *mean)
{
    int best = bdml_best(s, wanted, mean), chosen = best;
    if (s->plan->unseen) return choose_unseen(s, wanted, mean);
    for (int number = 0; number < bdml_candidate_count(s->plan) && best >= 0; number++) {
        double error = BDML_MIN(bdml_difference_error(s, mean, number, best), s->most_error);
        if (!wanted[number] || mean[number] - mean[best] > s->plan->slack * error) continue;
        int k = bdml_candidate_at(s->plan, number).cap,
            now = bdml_candidate_at(s->plan, chosen).cap;
        if (k < now || (k == now && mean[number] < mean[chosen])) chosen = number;
    }
    return chosen;
}

int bdml_choose_votes(const bdml_scores *s, int number)
{
    int votes = s->plan->votes, best = 0;
    double error[BDML_PLAN_VOTES] = {0.0}, least = INFINITY;
    for (int v = 0; v < votes; v++)
        for (int k = 0; k < s->parts; k++) error[v] += kept_at(s, k, number)[1 + v];
    for (int v = 0; v < votes; v++) {
        double before = error[BDML_MAX(v - 1, 0)], after = error[BDML_MIN(v + 1, votes - 1)];
        double smooth = 0.25 * before + 0.5 * error[v] + 0.25 * after;
        if (!(smooth < least)) continue;
        least = smooth;
        best = bdml_votes[v];
    }
    return best;
}
