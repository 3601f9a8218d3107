/* weight.c - the scale of the objective, and the weight C of missed margins:
 *
 *     G = Sw / tr Sw (recipe), or the mean over the target pairs as it is
 *     C = softness * threshold
 *
 * The threshold is the weight under which M = 0 is best. Over all caps it is the c with
 *
 *     min over kappa(M) <= K, trace(M) = 1 of <G - c B, M> = 0,     B = (1/m) sum_t w_t phi'(mu_t) A_t,
 *
 * positive below and negative above; among M = tI it is tr G / (phi'(mu) mean <A_t,I>). */
#include "certify/stated.h"

#include <float.h>
#include <stdlib.h>

static const char SCALE[] = "evidence.g_scale",
                  WEIGHT[] = "evidence.cost settings.softness "
                             "selection.weight",
                  SOFTNESS[] = "certificate.softness";
/* Relative error of a threshold that is computed in doubles, where directions in which the points hardly differ are
 * left out: variances below 1e-11 of the largest, which the cap may weigh K times. */
static const double COMPUTED = 1e-5, LEFT_OUT = 1e-10;
static const double TOO_FEW_DIGITS = 0.1;

/* ---- errors ---------------------------------------------------------------------------------------------- */

/* What sums over constraints and points, taken in doubles, are off by, relative. */
typedef struct slopes {
    double *b, *y;       /* w_t phi'(mu_t) / m, and a multiple of it */
    long double trace;   /* of G */
    long double mean;    /* of <A_t,I> */
    long double lengths; /* mean of |far|^2 + |near|^2 */
    double slope;        /* phi'(mu) */
    double points;       /* error of the points, relative to their distances */
} slopes;

static bdml_status measure(bdml_handle *h, const bdml_plain *w, slopes *s)
{
    bdml_status status = BDML_OK;
    double *error = NULL, most = 0.0;

    BDML_NEW(h, error, w->n);
    BDML_GO(bdml_plain_errors(h, w, error));
    for (int64_t i = 0; i < w->n; i++) most = fmax(most, error[i]);
    for (int64_t t = 0; t < w->c->m; t++) {
        int32_t far = w->c->far[t], near = w->c->near[t];
        long double v = bdml_plain_distance(w, w->c->pi[far], w->c->pj[far]);
        long double u = near < 0 ? 0.0L : bdml_plain_distance(w, w->c->pi[near], w->c->pj[near]);
        s->mean += (v - u) / (long double)w->c->m;
        s->lengths += (v + u) / (long double)w->c->m;
    }
    for (size_t i = 0; i < (size_t)w->d; i++) s->trace += w->g[i * (size_t)w->d + i];
    s->slope = w->e->squared ? 2.0 * w->e->margin : 1.0;
    long double shortest = fminl(s->lengths, s->trace / w->e->g_scale);
    s->points = 4.0 * most / (double)sqrtl(shortest);
done:
    free(error);
    return status;
}

/* ---- scale of the objective ------------------------------------------------------------------------------ */

static void check_scale(bdml_plain *w, const slopes *s)
{
    bool within = w->e->pull == BDML_PULL_WITHIN;
    bool fits = within ? fabsl(s->trace - 1.0L) <= COMPUTED + s->points : w->e->g_scale == 1.0;
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "objective", SCALE, fits,
                      within ? "the covariance inside the classes, its trace %.12g scaled to 1"
                             : "the mean over the target pairs, times %.12g",
                      within ? (double)(s->trace / w->e->g_scale) : w->e->g_scale);
}

/* ---- thresholds -------------------------------------------------------------------------------------------- */

/* Sign of min <G - c B, M> (with_g), or of min <-B, M>; 2: it could not be told. */
static int sign_at(bdml_plain *w, slopes *s, bool with_g, double c, double K)
{
    long double value;
    for (int64_t t = 0; t < w->c->m; t++) s->y[t] = c * s->b[t];
    bdml_plain_slack(w, with_g, s->y);
    if (!bdml_plain_slack_density(w, K, &value)) return 2;
    return (value > 0.0L) - (value < 0.0L);
}

/* Error of a threshold c over the cap K, relative: G and c B all but cancel along the metric that is best there, and
 * what is left is at least the least value of G. */
static double threshold_error(bdml_plain *w, const slopes *s, double c, double K)
{
    long double least = 0.0L;
    memcpy(w->slack, w->g, sizeof *w->g * (size_t)w->d * (size_t)w->d);
    if (!bdml_plain_slack_density(w, K, &least) || !(least > 0.0L)) return INFINITY;
    double condition = (double)((s->trace + c * s->slope * s->lengths) / least);
    return COMPUTED + LEFT_OUT * w->d * K + (64.0 * w->d * DBL_EPSILON + s->points) * condition;
}

/* Is c the threshold over the cap K? *told: doubles can tell. */
static bool is_threshold(bdml_plain *w, slopes *s, double c, double K, bool *told)
{
    double error = c > 0.0 && isfinite(c) ? threshold_error(w, s, c, K) : 0.0;
    *told = error < TOO_FEW_DIGITS;
    return *told && c > 0.0 && isfinite(c) && sign_at(w, s, true, c * (1.0 - error), K) == 1 &&
           sign_at(w, s, true, c * (1.0 + error), K) == -1;
}

/* Is c the threshold that the settings mean? Among M = tI it is tr G / (phi'(mu) mean <A_t,I>), where the mean is
 * positive. */
static bool is_stated(bdml_plain *w, const bdml_stated *s, slopes *b, double c, bool *told)
{
    static const double caps[] = {1, 3, 10, 30, 100, 1000};
    double K = s->K, alone = (double)(b->trace / (b->slope * b->mean));
    if (s->threshold != BDML_THRESHOLD_CAP) {
        double error = COMPUTED + b->points * (double)(b->lengths / fabsl(b->mean));
        *told = error < TOO_FEW_DIGITS && fabsl(b->mean) > 1e-9L * b->lengths;
        if (!*told || alone > 0.0) return fabs(c - alone) <= error * alone;
    }
    bool alike = s->threshold == BDML_THRESHOLD_ALIKE && s->o->solve.distortion.automatic;
    for (int k = 0; alike && k < 6; k++) {
        K = caps[k];
        if (sign_at(w, b, false, 1.0, K) == -1) break;
    }
    return is_threshold(w, b, c, K, told);
}

static void check_cost(bdml_plain *w, const bdml_stated *s, slopes *b)
{
    double said = json_number_value(
        json_object_get(json_object_get(w->model->info, "certificate"), "softness"));
    bool told, clear, fits = is_stated(w, s, b, w->e->cost / s->softness, &told);
    bool same = is_threshold(w, b, w->e->cost / said, w->e->K, &clear);
    if (!told || !clear) {
        bdml_verdict_trust(w->v, "weight",
                           "evidence.cost certificate.softness settings.softness selection.weight",
                           "weight of missed margins taken on trust: doubles do not tell the "
                           "threshold that it is a multiple of");
        return;
    }
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "weight", WEIGHT, fits,
                      "missed margins weigh %.12g, %s %.6g times the threshold of collapse",
                      w->e->cost, fits ? "which is" : "which is not", s->softness);
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "softness", SOFTNESS, same,
                      "%s %.12g times the threshold under the cap",
                      same ? "that is" : "that is not", said);
}

bdml_status bdml_check_weight(bdml_handle *h, bdml_plain *w, const bdml_stated *s)
{
    bdml_status status = BDML_OK;
    slopes b = {0};
    bool squared = w->e->squared;

    BDML_TRY(bdml_plain_objective(h, w));
    BDML_TRY(measure(h, w, &b));
    check_scale(w, &b);
    if (w->e->hard) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "weight", "evidence.cost", w->e->cost == 0.0,
                          "no margin may be missed");
        return BDML_OK;
    }
    BDML_NEW(h, b.b, w->c->m);
    BDML_NEW(h, b.y, w->c->m);
    for (int64_t t = 0; t < w->c->m; t++)
        b.b[t] = (squared ? 2.0 * bdml_plain_margin(w, t) : 1.0) *
                 (w->c->weight ? w->c->weight[t] : 1.0) / (double)w->c->m;
    check_cost(w, s, &b);
done:
    free(b.b);
    free(b.y);
    return status;
}
