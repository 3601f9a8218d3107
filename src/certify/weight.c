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
static const double COMPUTED = 1e-7; /* relative error of sums over constraints, taken in doubles */
static const double TOO_FEW_DIGITS = 0.1;

/* ---- scale of the objective ------------------------------------------------------------------------------ */

static void check_scale(bdml_plain *w)
{
    long double trace = 0.0L;
    for (size_t i = 0; i < (size_t)w->d; i++) trace += w->g[i * (size_t)w->d + i];
    bool within = w->e->pull == BDML_PULL_WITHIN;
    bool fits = within ? fabsl(trace - 1.0L) <= COMPUTED : w->e->g_scale == 1.0;
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "objective", SCALE, fits,
                      within ? "the covariance inside the classes, its trace %.12g scaled to 1"
                             : "the mean over the target pairs, times %.12g",
                      within ? (double)(trace / w->e->g_scale) : w->e->g_scale);
}

/* ---- thresholds -------------------------------------------------------------------------------------------- */

typedef struct slopes {
    double *b, *y; /* w_t phi'(mu_t) / m, and a multiple of it */
    double error;  /* relative */
} slopes;

/* Sign of min <G - c B, M> (with_g), or of min <-B, M>; 2: it could not be told. */
static int sign_at(bdml_plain *w, slopes *s, bool with_g, double c, double K)
{
    long double value;
    for (int64_t t = 0; t < w->c->m; t++) s->y[t] = c * s->b[t];
    bdml_plain_slack(w, with_g, s->y);
    if (!bdml_plain_slack_density(w, K, &value)) return 2;
    return (value > 0.0L) - (value < 0.0L);
}

static bool is_threshold(bdml_plain *w, slopes *s, double c, double K)
{
    return c > 0.0 && isfinite(c) && sign_at(w, s, true, c * (1.0 - s->error), K) == 1 &&
           sign_at(w, s, true, c * (1.0 + s->error), K) == -1;
}

/* tr G / (phi'(mu) mean <A_t,I>); 0: the mean is not positive. *told: doubles can tell which. */
static double identity_threshold(const bdml_plain *w, bool *told)
{
    long double mean = 0.0L, size = 0.0L, trace = 0.0L;
    double slope = w->e->squared ? 2.0 * w->e->margin : 1.0;
    for (int64_t t = 0; t < w->c->m; t++) {
        int32_t far = w->c->far[t], near = w->c->near[t];
        long double v = bdml_plain_distance(w, w->c->pi[far], w->c->pj[far]);
        long double u = near < 0 ? 0.0L : bdml_plain_distance(w, w->c->pi[near], w->c->pj[near]);
        mean += (v - u) / (long double)w->c->m;
        size += (v + u) / (long double)w->c->m;
    }
    for (size_t i = 0; i < (size_t)w->d; i++) trace += w->g[i * (size_t)w->d + i];
    *told = fabsl(mean) > 1e-6L * size;
    return mean > 0.0L ? (double)(trace / (slope * mean)) : 0.0;
}

/* Is c the threshold that the settings mean? */
static bool is_stated(bdml_plain *w, const bdml_stated *s, slopes *b, double c, bool *told)
{
    static const double caps[] = {1, 3, 10, 30, 100, 1000};
    double K = s->K;
    *told = true;
    if (s->threshold != BDML_THRESHOLD_CAP) {
        double alone = identity_threshold(w, told);
        if (alone > 0.0) return fabs(c - alone) <= COMPUTED * alone;
    }
    for (int k = 0; s->threshold == BDML_THRESHOLD_ALIKE && k < 6; k++) {
        K = caps[k];
        if (sign_at(w, b, false, 1.0, K) == -1) break;
    }
    return is_threshold(w, b, c, K);
}

static void check_cost(bdml_plain *w, const bdml_stated *s, slopes *b)
{
    double said = json_number_value(
        json_object_get(json_object_get(w->model->info, "certificate"), "softness"));
    bool told, fits = is_stated(w, s, b, w->e->cost / s->softness, &told);
    bool same = is_threshold(w, b, w->e->cost / said, w->e->K);
    if (!told || b->error > TOO_FEW_DIGITS) {
        bdml_verdict_trust(w->v, "weight", "evidence.cost certificate.softness settings.softness",
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
    slopes b = {.error = COMPUTED + 64.0 * w->d * DBL_EPSILON * w->e->K};
    bool squared = w->e->squared;

    BDML_TRY(bdml_plain_objective(h, w));
    check_scale(w);
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
