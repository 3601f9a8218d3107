/* mwu.c - Algorithm 2: multiplicative weights on one feasibility problem.
 *
 *     w_i = 1
 *     T times:  p = w / sum w
 *               Y = ORACLE(p); none with sum p_i (J_i.Y - h_i) >= 0: infeasible, p proves it (Lemma 1)
 *               w_i *= 1 - epsilon (J_i.Y - h_i) / rho
 *     return the average of the Y
 *
 * Guarantee mode. The verdicts do not depend on epsilon: infeasibility is proven by p, feasibility is measured on
 * the average. Only the number of rounds does. So stages with epsilon = 1/4, 1/8, ... come first, each from
 * uniform weights for the rounds after which nothing can be missed by more than 4 epsilon rho, and the last one
 * has the epsilon and T of the proof: at most 4/3 of T in all, and mostly far less. The literal form, and a run
 * that is to make all T rounds (`whole`), have the last stage only. */
#include "paper/mwu.h"

#include <omp.h>
#include <stdlib.h>

enum {
    LOOK = 16, /* rounds between looks at the average, the clock and the user */
};
static const double FIRST_STEP = 0.25;

/* ---- workspace ---------------------------------------------------------------------------------------------- */

bdml_status bdml_paper_problem(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                               const bdml_constraints *c, bool diagonal, bdml_problem **out)
{
    return bdml_problem_build(h, n, d, x, ld, c, NULL, diagonal, false, out);
}

/* (tr -+ sqrt(tr^2 + 4 (|f|^2 |g|^2 - (f.g)^2))) / 2, tr = |f|^2 - |g|^2 */
void bdml_mwu_extremes(double ff, double gg, double fg, double *low, double *high)
{
    double trace = ff - gg, root = sqrt(trace * trace + 4.0 * BDML_MAX(ff * gg - fg * fg, 0.0));
    *low = BDML_MIN(0.5 * (trace - root), 0.0);
    *high = BDML_MAX(0.5 * (trace + root), 0.0);
}

/* Extreme eigenvalues of A_t = f f' - g g'; diagonal: extreme entries f_j^2 - g_j^2. */
static void row_extremes(const bdml_problem *p, int64_t t, double *low, double *high)
{
    const bdml_constraints *c = p->c;
    int32_t f = c->far[t], g = c->near[t];
    const double *a = p->x + (size_t)c->pi[f] * (size_t)p->ld;
    const double *b = p->x + (size_t)c->pj[f] * (size_t)p->ld;
    const double *q = g >= 0 ? p->x + (size_t)c->pi[g] * (size_t)p->ld : a;
    const double *r = g >= 0 ? p->x + (size_t)c->pj[g] * (size_t)p->ld : a;
    double ff = 0.0, gg = 0.0, fg = 0.0, least = INFINITY, most = -INFINITY;
    for (int j = 0; j < p->d; j++) {
        double u = a[j] - b[j], v = q[j] - r[j], entry = u * u - v * v;
        ff += u * u;
        gg += v * v;
        fg += u * v;
        least = BDML_MIN(least, entry);
        most = BDML_MAX(most, entry);
    }
    bdml_mwu_extremes(ff, gg, fg, low, high);
    if (p->diagonal) *low = least, *high = most;
}

static bdml_status allocate(bdml_mwu *w)
{
    bdml_status status = BDML_OK;
    double **vectors[] = {&w->low, &w->high, &w->unit,  &w->mu, &w->scale,
                          &w->w,   &w->v,    &w->sum_v, &w->y,  &w->q};
    double **matrices[] = {&w->sum, &w->S, &w->T, &w->M, &w->mean};
    double **small[] = {&w->g_lambda, &w->lambda, &w->l, &w->sorted};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(w->h, *vectors[i], w->m);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices && !w->form->factored; i++)
        BDML_NEW(w->h, *matrices[i], w->size);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) BDML_NEW(w->h, *small[i], w->d);
    BDML_NEW(w->h, w->order, w->d);
    if (!w->p->diagonal && !w->form->factored) status = bdml_eigh_ws_init(w->h, w->d, &w->eigen);
done:
    return status;
}

/* Ascending eigenvalues of a symmetric vector, in w->T. */
static bdml_status eigenvalues(bdml_mwu *w, const double *a, double *lambda)
{
    if (!w->p->diagonal) {
        memcpy(w->T, a, sizeof *a * w->size);
        return bdml_la_eigh(w->h, w->d, w->T, lambda, false, &w->eigen);
    }
    bdml_spectral_sort(w->d, a, w->order);
    for (int i = 0; i < w->d; i++) lambda[i] = a[w->order[i]];
    return BDML_OK;
}

/* What the rows of a problem with d x d matrices look like. */
static bdml_status describe_rows(bdml_mwu *w)
{
    for (int64_t t = 0; t < w->m; t++) {
        row_extremes(w->p, t, &w->low[t], &w->high[t]);
        w->unit[t] = w->low[t] + w->high[t]; /* the trace; not used for diagonal M */
    }
    bdml_la_enter(w->h);
    bdml_status status = eigenvalues(w, w->p->g, w->g_lambda);
    bdml_la_leave(w->h);
    w->set = bdml_spectral_distortion(w->d, w->s.K, w->s.trace);
    w->gamma = w->set.ops->density(&w->set, w->g_lambda);
    w->g_norm = sqrt(bdml_vec_dot(w->size, w->p->g, w->p->g));
    return status;
}

bdml_status bdml_mwu_new(bdml_handle *h, bdml_problem *p, const bdml_paper_settings *s,
                         bdml_mwu **out)
{
    const bdml_mwu_form *form = s->form == BDML_PAPER_CONE ? &bdml_cone_form : &bdml_lifted_form;
    return bdml_mwu_build(h, p, s, form, NULL, out);
}

bdml_status bdml_mwu_build(bdml_handle *h, bdml_problem *p, const bdml_paper_settings *s,
                           const bdml_mwu_form *form, void *own, bdml_mwu **out)
{
    bdml_status status = BDML_OK;
    bdml_mwu *w = NULL;

    *out = NULL;
    BDML_TRY(bdml_paper_check(h, s));
    BDML_NEW(h, w, 1);
    w->h = w->watch = h;
    w->p = p;
    w->s = *s;
    w->form = form;
    w->own = own;
    w->d = p->d;
    w->size = p->size;
    w->m = p->m;
    BDML_GO(allocate(w));
    for (int64_t t = 0; t < w->m; t++)
        w->mu[t] = s->margin * (p->c->margin ? p->c->margin[t] : 1.0);
    if (!form->factored) BDML_GO(describe_rows(w));
    if (w->form->init) BDML_GO(w->form->init(w));
    *out = w;
    w = NULL;
done:
    bdml_mwu_free(w);
    return status;
}

void bdml_mwu_free(bdml_mwu *w)
{
    if (!w) return;
    if (w->form->free) w->form->free(w);
    double *arrays[] = {w->unit,   w->g_lambda, w->low,  w->high, w->mu,    w->scale, w->w,
                        w->v,      w->sum_v,    w->sum,  w->y,    w->S,     w->T,     w->M,
                        w->lambda, w->l,        w->mean, w->q,    w->sorted};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    free(w->order);
    bdml_eigh_ws_free(&w->eigen);
    free(w);
}

/* ---- a round -------------------------------------------------------------------------------------------------- */

static void reset(bdml_mwu *w)
{
    w->round = 0;
    if (!w->warm) {
        w->w0 =
            w->observed ? (double)w->m : 1.0; /* one row against m: as heavy as they are together */
        for (int64_t t = 0; t < w->m; t++) w->w[t] = 1.0;
        w->total = (double)w->rows - 1.0 + w->w0;
    }
    w->sum_f = 0.0;
    memset(w->sum_v, 0, sizeof *w->sum_v * (size_t)w->m);
    if (w->sum) memset(w->sum, 0, sizeof *w->sum * w->size);
    if (w->form->reset) w->form->reset(w);
}

static void observe_width(bdml_mwu *w)
{
    double most = bdml_weights_largest(w->m, w->scale, w->v, w->mu);
    most = BDML_MAX(most, fabs(w->scale0 * (w->bound - w->f)));
    if (w->form->largest) most = BDML_MAX(most, w->form->largest(w));
    w->rho = w->rho_negative = BDML_MAX(w->rho, most);
}

static void update(bdml_mwu *w)
{
    double largest, least = bdml_weights_least(w);
    if (w->observed) observe_width(w);
    double next = w->w0 * bdml_weights_factor(w, w->scale0 * (w->bound - w->f));
    w->w0 = BDML_MAX(next, least);
    w->total = w->w0 + bdml_weights_update(w->m, w->scale, w->v, w->mu, w->epsilon / w->rho,
                                           w->epsilon / w->rho_negative, least, w->w, &largest);
    w->exceeded = BDML_MAX(w->exceeded, largest / BDML_MIN(w->rho, w->rho_negative));
    if (w->form->update) w->total += w->form->update(w);
    w->round++;
    w->sum_f += w->f;
    for (int64_t t = 0; t < w->m; t++) w->sum_v[t] += w->v[t];
    if (w->total < 1e-60 || w->total > 1e60) { /* only ratios of weights matter */
        double factor = (double)w->rows / w->total;
        w->w0 *= factor;
        for (int64_t t = 0; t < w->m; t++) w->w[t] *= factor;
        if (w->form->rescale) w->form->rescale(w, factor);
        w->total = (double)w->rows;
    }
}

/* Worst miss of a row by the average so far, from the sums of its values. */
static double violation_so_far(const bdml_mwu *w)
{
    double share = 1.0 / (double)w->round, worst = w->sum_f * share - w->bound;
    for (int64_t t = 0; t < w->m; t++) worst = BDML_MAX(worst, w->mu[t] - w->sum_v[t] * share);
    if (w->form->violation) worst = BDML_MAX(worst, w->form->violation(w));
    return BDML_MAX(worst, 0.0);
}

/* Among the threads of a parallel start only the first talks to the user. */
static bdml_status look_up(bdml_mwu *w, const bdml_mwu_result *r)
{
    if (omp_get_thread_num() == 0)
        return bdml_progress(w->watch, "multiplicative weights", r->rounds, 0);
    return w->watch->cancelled ? bdml_fail(w->h, BDML_ERR_CANCELLED, "cancelled") : BDML_OK;
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

/* The metric of the average, measured afresh. */
static bdml_status measure(bdml_mwu *w, bdml_mwu_result *r)
{
    if (w->form->measure) return w->form->measure(w, r);
    double share = 1.0 / (double)BDML_MAX(w->round, 1);
    if (w->form->settle) w->form->settle(w);
    for (size_t i = 0; i < w->size; i++) w->mean[i] = w->sum[i] * share;
    if (w->p->diagonal)
        bdml_margin_forward_diag(w->p->op, w->mean, -1, NULL, w->v);
    else
        bdml_margin_forward(w->p->op, w->mean, -1, NULL, w->v);
    r->objective = bdml_vec_dot(w->size, w->p->g, w->mean);
    r->margin_violation = 0.0;
    for (int64_t t = 0; t < w->m; t++)
        r->margin_violation = BDML_MAX(r->margin_violation, w->mu[t] - w->v[t]);
    r->violation = BDML_MAX(r->margin_violation, r->objective - w->bound);
    if (w->form->violation) r->violation = BDML_MAX(r->violation, w->form->violation(w));
    BDML_TRY(eigenvalues(w, w->mean, w->lambda));
    double low = w->lambda[0], high = w->lambda[w->d - 1];
    r->kappa = high <= 0.0 ? 1.0 : low > 0.0 ? high / low : INFINITY;
    r->trace = 0.0;
    for (int i = 0; i < w->d; i++) r->trace += w->lambda[i];
    r->m = w->mean;
    if (!w->lifted) return BDML_OK;
    r->alpha = w->lifted->sum_alpha * share;
    memcpy(r->lived, w->lifted->lived, sizeof r->lived);
    r->data_weight = w->w0;
    for (int64_t t = 0; t < w->m; t++) r->data_weight += w->w[t];
    r->data_weight /= w->total;
    return BDML_OK;
}

/* Weights of objective and margins as they stand, in the user's units, tested over the cone at trace R. */
static bdml_status keep_proof(bdml_mwu *w, bdml_mwu_result *r)
{
    double least, margins = 0.0;
    r->q0 = w->w0 * w->scale0 / w->total;
    for (int64_t t = 0; t < w->m; t++) {
        w->q[t] = w->w[t] * w->scale[t] / w->total;
        margins += w->q[t] * w->mu[t];
    }
    r->q = w->q;
    r->value = w->value;
    if (w->form->prove) return w->form->prove(w, r);
    bdml_cone_matrix(w, r->q0, w->q, w->S);
    BDML_TRY(bdml_cone_minimise(w, w->S, false, &least));
    r->proves = r->q0 * w->bound - margins - least < -bdml_cone_rounding(w, r->q0, w->q);
    return BDML_OK;
}

/* T rounds, or fewer when the average is good enough (delta > 0), or the proof is found. */
static bdml_status stage(bdml_mwu *w, double T, double deadline, bool *done, bdml_mwu_result *r)
{
    double delta = w->s.delta;
    reset(w);
    while ((double)w->round < T) {
        bool infeasible = false;
        BDML_TRY(w->form->oracle(w, &infeasible));
        r->rounds++;
        if (infeasible) {
            r->verdict = BDML_MWU_INFEASIBLE;
            *done = true;
            return keep_proof(w, r);
        }
        w->form->values(w);
        update(w);
        if (delta > 0.0 && w->exceeded > 1.0 + 1e-9)
            return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                             "rho = %g was exceeded %g times over in round %lld", w->rho,
                             w->exceeded, (long long)r->rounds);
        bool last = (double)w->round >= T;
        if (w->round % LOOK && !last) continue;
        if (delta > 0.0 && (last || !w->s.whole) && violation_so_far(w) <= delta) {
            BDML_TRY(measure(w, r));
            *done = r->violation <= delta;
            if (*done) {
                r->verdict = BDML_MWU_FEASIBLE;
                return BDML_OK;
            }
        }
        BDML_TRY(look_up(w, r));
        if (deadline > 0.0 && bdml_now() > deadline && !last) {
            r->verdict = BDML_MWU_STOPPED;
            *done = true;
            return measure(w, r);
        }
    }
    return BDML_OK;
}

/* A few rounds to learn how large the slacks really get, which is far below what the worst Y could make of them. */
static bdml_status calibrate(bdml_mwu *w)
{
    enum { ROUNDS = 16 };
    double *met = w->met;
    reset(w);
    for (int k = 0; k < ROUNDS && !w->warm; k++) {
        bool infeasible;
        BDML_TRY(w->form->oracle(w, &infeasible));
        w->form->values(w);
        met[0] = BDML_MAX(met[0], fabs(w->scale0 * (w->bound - w->f)));
        met[1] = BDML_MAX(met[1], bdml_weights_largest(w->m, w->scale, w->v, w->mu));
        met[2] = BDML_MAX(met[2], w->form->largest(w));
        update(w);
    }
    if (met[0] > 0.0) w->scale0 /= met[0];
    for (int64_t t = 0; t < w->m && met[1] > 0.0; t++) w->scale[t] /= met[1];
    if (met[2] > 0.0) w->form->shrink(w, 1.0 / met[2]);
    w->rho = w->rho_negative = 0.0;
    return BDML_OK;
}

static bdml_status run_stages(bdml_mwu *w, double deadline, bdml_mwu_result *r)
{
    double last = w->epsilon;
    bool done = false;
    if (w->s.delta > 0.0 && !w->s.literal && !w->s.whole)
        for (double step = FIRST_STEP; step > 1.5 * last && !done; step *= 0.5) {
            w->epsilon = step;
            BDML_TRY(stage(w, bdml_guarantee_rounds(w->rows, step), deadline, &done, r));
        }
    r->epsilon = w->epsilon;
    if (done) return BDML_OK;
    r->epsilon = w->epsilon = last;
    BDML_TRY(stage(w, r->T, deadline, &done, r));
    if (done) return BDML_OK;
    r->verdict = BDML_MWU_ROUNDS;
    BDML_TRY(measure(w, r));
    if (w->s.delta > 0.0)
        return bdml_fail(w->h, BDML_ERR_LAPACK,
                         "%lld rounds, as many as the proof asks for, still miss by %g; rounding "
                         "must have spoilt the weights",
                         (long long)r->rounds, r->violation);
    return BDML_OK;
}

bdml_status bdml_mwu_run(bdml_mwu *w, double bound, bdml_mwu_result *r)
{
    double start = bdml_now(), deadline = w->s.time_limit > 0.0 ? start + w->s.time_limit : 0.0;
    memset(r, 0, sizeof *r);
    if (w->deadline > 0.0) deadline = w->deadline;
    if (!(bound > 0.0 && isfinite(bound)))
        return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                         "the bound on the objective must be positive and finite, got %g", bound);
    bdml_la_enter(w->h);
    bdml_phase previous = bdml_phase_enter(w->h, BDML_PHASE_SOLVE);
    w->bound = r->bound = bound;
    /* <G,M> <= bound implies trace(M) <= bound / gamma */
    bool fixed = w->s.literal || w->form->factored;
    w->R = fixed ? w->s.trace : BDML_MIN(w->s.trace, bound / w->gamma);
    w->set.trace = r->trace_bound = w->R;
    w->exceeded = 0.0;
    if (w->basis) w->basis->taken = 0;
    bdml_status status = bdml_guarantee_set(w, r);
    if (status == BDML_OK && w->observed) status = calibrate(w);
    if (status == BDML_OK) status = run_stages(w, deadline, r);
    r->exceeded = w->exceeded;
    r->rho = w->rho;
    r->eigen = w->basis ? w->basis->taken : 0;
    r->seconds = bdml_now() - start;
    bdml_phase_leave(w->h, previous);
    bdml_la_leave(w->h);
    return status;
}
