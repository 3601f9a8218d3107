/* csml.c - cosine similarity metric learning (Nguyen and Bai, ACCV 2010).
 *
 *     max over A   mean over same pairs of c(Ax, Ay) - mean over the others - beta |A - A0|^2 / |A0|^2
 *     c(u, v) = u'v / (|u| |v|)
 *
 * With u = Ax, v = Ay the gradient of c with respect to A is
 *
 *     (v/(|u||v|) - c u/|u|^2) x' + (u/(|u||v|) - c v/|v|^2) y'
 *
 * Not concave: conjugate gradients (Polak and Ribiere) with backtracking climb from A0. As in the source
 * A0 is a whitening and beta comes from validation: here on a third of the pairs, with the whitened total
 * covariance (the source's) and the whitened intra-personal one as starts, and A0 itself among the
 * choices. Scores are cosines of mapped points. */
#include "baselines/pairwise.h"

#include <stdlib.h>

#include "linalg/linalg.h"

static const double grid[] = {100.0, 10.0, 1.0, 0.1};
enum {
    GRID = sizeof grid / sizeof *grid,
    ITERATIONS = 100,
    CHOOSING_ITERATIONS = 30,
    HALVINGS = 40
};
static const double ENOUGH = 1e-4; /* relative gain of one iteration under which it stops */

/* ---- objective --------------------------------------------------------------------------------------------- */

void bdml_csml_free(bdml_csml *c)
{
    free(c->z);
    free(c->r);
    free(c->ws);
    c->z = c->r = c->ws = NULL;
}

bdml_status bdml_csml_init(bdml_handle *h, bdml_csml *c)
{
    bdml_status status = BDML_OK;
    BDML_NEW(h, c->z, (size_t)c->n * (size_t)c->q);
    BDML_NEW(h, c->r, (size_t)c->n * (size_t)c->q);
    BDML_NEW(h, c->ws, bdml_la_map_size(c->q, c->d));
    c->start_norm = 0.0;
    for (size_t e = 0; e < (size_t)c->q * (size_t)c->d; e++)
        c->start_norm += c->start[e] * c->start[e];
done:
    if (status != BDML_OK) bdml_csml_free(c);
    return status;
}

/* Add weight times the gradient of one cosine to the rows of both points; returns weight * cosine. */
static double add_pair(int q, double weight, const double *u, const double *v, double *ru,
                       double *rv)
{
    double uu = bdml_la_dot(q, u, u), vv = bdml_la_dot(q, v, v);
    if (!(uu > 0.0 && vv > 0.0)) return 0.0;
    double lengths = sqrt(uu) * sqrt(vv), c = bdml_la_dot(q, u, v) / lengths;
    for (int j = 0; ru && j < q; j++) {
        ru[j] += weight * (v[j] / lengths - c * u[j] / uu);
        rv[j] += weight * (u[j] / lengths - c * v[j] / vv);
    }
    return weight * c;
}

double bdml_csml_value(bdml_handle *h, bdml_csml *c, const double *a, double *gradient)
{
    const bdml_labelled_pairs *p = c->pairs;
    int64_t sames = 0;
    double value = 0.0, away = 0.0;
    size_t cells = (size_t)c->q * (size_t)c->d;
    for (int64_t k = 0; k < p->count; k++) sames += p->same[k];
    bdml_la_map_rows(h, c->q, c->d, a, c->n, c->x, c->d, c->z, c->ws);
    if (gradient) memset(c->r, 0, sizeof(double) * (size_t)c->n * (size_t)c->q);
    for (int64_t k = 0; k < p->count; k++) {
        int32_t i = p->row[2 * k], j = p->row[2 * k + 1];
        double weight = p->same[k] ? 1.0 / (double)sames : -1.0 / (double)(p->count - sames);
        value +=
            add_pair(c->q, weight, COL(c->z, c->q, i), COL(c->z, c->q, j),
                     gradient ? COL(c->r, c->q, i) : NULL, gradient ? COL(c->r, c->q, j) : NULL);
    }
    if (gradient) /* rows of A are columns here: gradient' = X R' */
        bdml_la_gemm_tiled(h, 'N', 'T', c->d, c->q, c->n, 1.0, c->x, c->d, c->r, c->q, 0.0,
                           gradient, c->d);
    double pull = c->beta / c->start_norm;
    for (size_t e = 0; e < cells; e++) {
        double off = a[e] - c->start[e];
        away += off * off;
        if (gradient) gradient[e] -= 2.0 * pull * off;
    }
    return value - pull * away;
}

/* ---- climbing ----------------------------------------------------------------------------------------------- */

typedef struct climb {
    size_t cells;
    double *gradient, *before, *direction, *trial;
    double step;
} climb;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t e = 0; e < n; e++) sum += a[e] * b[e];
    return sum;
}

/* direction = gradient + max(0, g'(g - g_before) / g_before'g_before) direction */
static void turn(climb *w, bool first)
{
    double old = first ? 0.0 : dot(w->cells, w->before, w->before), beta = 0.0;
    if (old > 0.0)
        beta = BDML_MAX(0.0, (dot(w->cells, w->gradient, w->gradient) -
                              dot(w->cells, w->gradient, w->before)) /
                                 old);
    for (size_t e = 0; e < w->cells; e++) w->direction[e] = w->gradient[e] + beta * w->direction[e];
    if (dot(w->cells, w->direction, w->gradient) <= 0.0)
        memcpy(w->direction, w->gradient, sizeof(double) * w->cells);
}

/* a <- a + step direction with Armijo's condition; false when no step gains. */
static bool move(bdml_handle *h, bdml_csml *c, climb *w, double *a, double *value)
{
    double slope = dot(w->cells, w->direction, w->gradient);
    for (int halving = 0; halving < HALVINGS; halving++, w->step *= 0.5) {
        for (size_t e = 0; e < w->cells; e++) w->trial[e] = a[e] + w->step * w->direction[e];
        double now = bdml_csml_value(h, c, w->trial, NULL);
        if (now < *value + 1e-4 * w->step * slope) continue;
        memcpy(a, w->trial, sizeof(double) * w->cells);
        *value = now;
        w->step *= 2.0;
        return true;
    }
    return false;
}

bdml_status bdml_csml_climb(bdml_handle *h, bdml_csml *c, int iterations, double *a, double *value)
{
    bdml_status status = BDML_OK;
    climb w = {.cells = (size_t)c->q * (size_t)c->d};

    BDML_NEW(h, w.gradient, w.cells);
    BDML_NEW(h, w.before, w.cells);
    BDML_NEW(h, w.direction, w.cells);
    BDML_NEW(h, w.trial, w.cells);
    for (int it = 0; it < iterations; it++) {
        BDML_GO(bdml_progress(h, "csml", it, iterations));
        memcpy(w.before, w.gradient, sizeof(double) * w.cells);
        *value = bdml_csml_value(h, c, a, w.gradient);
        double norm = dot(w.cells, w.gradient, w.gradient), last = *value;
        if (!(norm > 0.0)) break;
        if (it == 0) w.step = 0.1 * sqrt(c->start_norm / norm);
        turn(&w, it == 0);
        if (!move(h, c, &w, a, value) || *value - last <= ENOUGH * fabs(*value)) break;
    }
done:
    free(w.gradient);
    free(w.before);
    free(w.direction);
    free(w.trial);
    return status;
}

/* ---- starts ---------------------------------------------------------------------------------------------------- */

enum { START_TOTAL, START_INTRA, STARTS };
static const char *const start_names[STARTS] = {"total", "intra-personal"};

/* q rows of d that whiten the covariance of the points, or of similar pairs, shrunk. */
static bdml_status make_start(bdml_handle *h, const bdml_method_options *o, const bdml_training *t,
                              int kind, int q, double *a)
{
    bdml_status status = BDML_OK;
    size_t d = (size_t)t->d;
    double s = o->shrinkage.value, trace = 0.0, *c = NULL, *lambda = NULL;
    bdml_training view = *t;
    bdml_eigh_ws ws = {0};

    view.y = NULL;
    if (kind == START_TOTAL) view.constraints = NULL;
    BDML_NEW(h, c, d * d);
    BDML_NEW(h, lambda, d);
    BDML_GO(bdml_eigh_ws_init(h, t->d, &ws));
    BDML_GO(bdml_within_covariance(h, &view, c));
    for (size_t j = 0; j < d; j++) trace += c[j * d + j];
    if (!(trace > 0.0)) {
        status = bdml_fail(h, BDML_ERR_DATA,
                           "csml: all points, or those of every similar pair, "
                           "are the same");
        goto done;
    }
    BDML_GO(bdml_la_eigh(h, t->d, c, lambda, true, &ws));
    for (int r = 0; r < q; r++) {
        size_t e = d - 1 - (size_t)r;
        double shrunk = (1.0 - s) * BDML_MAX(lambda[e], 0.0) + s * trace / (double)d;
        for (size_t j = 0; j < d; j++) COL(a, d, r)[j] = c[e * d + j] / sqrt(shrunk);
    }
done:
    bdml_eigh_ws_free(&ws);
    free(c);
    free(lambda);
    return status;
}

/* ---- validation ------------------------------------------------------------------------------------------------ */

static double mapped_cosine(const void *user, int32_t i, int32_t j)
{
    const bdml_csml *c = user;
    return add_pair(c->q, 1.0, COL(c->z, c->q, i), COL(c->z, c->q, j), NULL, NULL);
}

static bdml_status validation_error(bdml_handle *h, bdml_csml *c, const bdml_holdout *v,
                                    const double *a, double *error)
{
    bdml_la_map_rows(h, c->q, c->d, a, c->n, c->x, c->d, c->z, c->ws);
    return bdml_holdout_error(h, v, mapped_cosine, c, error);
}

static void note(json_t **tried, int kind, double beta, double error)
{
    bdml_json_push(tried,
                   json_pack("{s:s, s:o, s:f}", "start", start_names[kind], "closeness",
                             isfinite(beta) ? json_real(beta) : json_null(), "error", error));
}

/* What validation found best: the start, and beta (infinite: the start itself). */
typedef struct found {
    int start;
    double beta, error;
} found;

static bdml_status choose_start(bdml_handle *h, bdml_csml *c, double *const *start,
                                const bdml_holdout *v, json_t **tried, found *best)
{
    for (int kind = 0; kind < STARTS; kind++) {
        double error;
        BDML_TRY(validation_error(h, c, v, start[kind], &error));
        note(tried, kind, INFINITY, error);
        if (error < best->error) *best = (found){kind, INFINITY, error};
    }
    return BDML_OK;
}

static bdml_status choose_beta(bdml_handle *h, bdml_csml *c, const bdml_holdout *v, double *a,
                               json_t **tried, found *best)
{
    size_t bytes = sizeof(double) * (size_t)c->q * (size_t)c->d;
    memcpy(a, c->start, bytes);
    for (int g = 0; g < GRID; g++) { /* each from the one before */
        double error, value;
        c->beta = grid[g];
        BDML_TRY(bdml_csml_climb(h, c, CHOOSING_ITERATIONS, a, &value));
        BDML_TRY(validation_error(h, c, v, a, &error));
        note(tried, best->start, grid[g], error);
        if (error < best->error) *best = (found){best->start, grid[g], error};
    }
    return BDML_OK;
}

/* ---- the fit -------------------------------------------------------------------------------------------------------- */

static bdml_status report(bdml_handle *h, const found *best, json_t *tried, double value,
                          bdml_model *model)
{
    json_t *o =
        json_pack("{s:s, s:o, s:f, s:f, s:O}", "start", start_names[best->start], "closeness",
                  isfinite(best->beta) ? json_real(best->beta) : json_null(), "error",
                  isfinite(best->error) ? best->error : 0.0, "objective", value, "tried", tried);
    return bdml_model_tell(h, model, "selection", o);
}

bdml_status bdml_fit_csml(bdml_handle *h, const bdml_options *o, const bdml_training *t,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    int asked = (int)o->methods.subspace.value, q = asked > 0 ? BDML_MIN(asked, t->d) : t->d;
    size_t cells = (size_t)q * (size_t)t->d;
    bdml_csml c = {.n = t->n, .d = t->d, .q = q, .x = t->x};
    bdml_holdout v = {0};
    bdml_labelled_pairs all = {0};
    double *start[STARTS] = {NULL}, *a = NULL, value = 0.0;
    found best = {START_INTRA, o->methods.closeness.value, INFINITY};
    json_t *tried = json_array();

    BDML_GO(bdml_need_pairs(h, t, "csml"));
    BDML_NEW(h, a, cells);
    for (int kind = 0; kind < STARTS; kind++) {
        BDML_NEW(h, start[kind], cells);
        BDML_GO(make_start(h, &o->methods, t, kind, q, start[kind]));
    }
    BDML_GO(bdml_labelled_from(h, t->constraints, &all));
    BDML_GO(bdml_holdout_make(h, (uint64_t)o->general.seed.value, t, &v));
    c.start = start[best.start];
    BDML_GO(bdml_csml_init(h, &c));
    if (o->methods.closeness.automatic) {
        c.pairs = &v.train;
        BDML_GO(choose_start(h, &c, start, &v, &tried, &best));
        c.start = start[best.start];
        bdml_csml_free(&c);
        BDML_GO(bdml_csml_init(h, &c));
        BDML_GO(choose_beta(h, &c, &v, a, &tried, &best));
    }
    c.pairs = &all;
    c.beta = isfinite(best.beta) ? best.beta : 0.0;
    memcpy(a, c.start, sizeof(double) * cells);
    if (isfinite(best.beta)) BDML_GO(bdml_csml_climb(h, &c, ITERATIONS, a, &value));
    BDML_GO(bdml_model_set_map(h, model, q, a));
    model->score = BDML_SCORE_COSINE;
    status = report(h, &best, tried, value, model);
done:
    json_decref(tried);
    bdml_csml_free(&c);
    bdml_holdout_free(&v);
    bdml_labelled_free(&all);
    for (int kind = 0; kind < STARTS; kind++) free(start[kind]);
    free(a);
    return status;
}
