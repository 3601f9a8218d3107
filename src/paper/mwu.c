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
    LOOK = 16, /* rounds between looks at the average */
};
static const double FIRST_STEP = 0.25;

/* ---- workspace ---------------------------------------------------------------------------------------------- */

bdml_status bdml_paper_problem(bdml_handle *h, int64_t n, int d, const double *x, int64_t ld,
                               const bdml_constraints *c, bool diagonal, bdml_problem **out)
{
    return bdml_problem_new_whole(h, n, d, x, ld, c, diagonal, out);
}

static bdml_status allocate(bdml_mwu *w, const bdml_matrix_ops *ops)
{
    bdml_status status = BDML_OK;
    bool formed = !w->form->factored;
    double **vectors[] = {&w->low, &w->high, &w->unit,  &w->mu, &w->scale,
                          &w->w,   &w->v,    &w->sum_v, &w->q};
    double **matrices[] = {&w->sum, &w->S, &w->T, &w->M, &w->mean};
    double **small[] = {&w->g_lambda, &w->under, &w->over};
    BDML_GO(
        bdml_matrices_init(w->h, ops, w->d, formed ? BDML_MATRIX_EIGEN | w->form->uses : 0, &w->X));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) BDML_NEW(w->h, *vectors[i], w->m);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices && formed; i++)
        BDML_NEW(w->h, *matrices[i], w->size);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) BDML_NEW(w->h, *small[i], w->d);
done:
    return status;
}

/* Ascending eigenvalues of a, which is kept. */
static bdml_status eigenvalues(bdml_mwu *w, const double *a, double *lambda)
{
    memcpy(w->T, a, sizeof *a * w->size);
    return w->X.ops->eigenvalues(&w->X, w->T, lambda);
}

/* What the rows of a problem with d x d matrices look like. */
static bdml_status describe_rows(bdml_mwu *w, const double *x, int64_t ld)
{
    const bdml_operator *A = w->A;
    bdml_operator_extremes(A, x, ld, w->low, w->high);
    bdml_cvec_copy(&A->space, w->low, w->unit);
    bdml_cvec_add(&A->space, w->high, w->unit);
    BDML_TRY(bdml_la_enter(w->h));
    bdml_status status = eigenvalues(w, A->g, w->g_lambda);
    bdml_la_leave(w->h);
    w->set = bdml_spectral_distortion(w->d, w->s.K, w->s.trace);
    w->gamma = w->set.ops->density(&w->set, w->g_lambda);
    w->g_norm = sqrt(bdml_vec_dot(w->size, A->g, A->g));
    return status;
}

bdml_status bdml_mwu_new(bdml_handle *h, bdml_problem *p, const bdml_paper_settings *s,
                         bdml_mwu **out)
{
    const bdml_mwu_form *form = s->form == BDML_PAPER_CONE ? &bdml_cone_form : &bdml_lifted_form;
    int64_t n, ld;
    const double *x = bdml_problem_points(p, &n, &ld);
    return bdml_mwu_build(h, bdml_problem_operator(p), bdml_problem_matrices(p), x, ld, s, form,
                          NULL, out);
}

bdml_status bdml_mwu_build(bdml_handle *h, const bdml_operator *A, const bdml_matrix_ops *ops,
                           const double *x, int64_t ld, const bdml_paper_settings *s,
                           const bdml_mwu_form *form, void *own, bdml_mwu **out)
{
    bdml_status status = BDML_OK;
    bdml_mwu *w = NULL;

    *out = NULL;
    BDML_TRY(bdml_paper_check(h, s));
    BDML_NEW(h, w, 1);
    w->h = w->watch = h;
    w->A = A;
    w->s = *s;
    w->form = form;
    w->own = own;
    w->d = A->d;
    w->size = A->size;
    w->m = A->space.count;
    BDML_GO(allocate(w, ops));
    bdml_operator_margins(A, s->margin, w->mu);
    if (!form->factored) BDML_GO(describe_rows(w, x, ld));
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
    double *arrays[] = {w->unit, w->g_lambda, w->low,   w->high, w->mu, w->scale,
                        w->w,    w->v,        w->sum_v, w->sum,  w->S,  w->T,
                        w->M,    w->under,    w->over,  w->mean, w->q};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    bdml_matrices_free(&w->X);
    free(w);
}

/* ---- a round -------------------------------------------------------------------------------------------------- */

static void reset(bdml_mwu *w)
{
    w->round = 0;
    if (!w->warm) {
        w->w0 =
            w->observed ? (double)w->m : 1.0; /* one row against m: as heavy as they are together */
        bdml_cvec_fill(&w->A->space, 1.0, w->w);
        w->total = (double)w->rows - 1.0 + w->w0;
    }
    w->sum_f = 0.0;
    bdml_cvec_fill(&w->A->space, 0.0, w->sum_v);
    if (w->sum) memset(w->sum, 0, sizeof *w->sum * w->size);
    if (w->form->reset) w->form->reset(w);
}

static void observe_width(bdml_mwu *w)
{
    double most = bdml_weights_largest(&w->A->space, w->scale, w->v, w->mu);
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
    w->total = w->w0 + bdml_weights_update(&w->A->space, w->scale, w->v, w->mu, w->epsilon / w->rho,
                                           w->epsilon / w->rho_negative, least, w->w, &largest);
    w->exceeded = BDML_MAX(w->exceeded, largest / BDML_MIN(w->rho, w->rho_negative));
    if (w->form->update) w->total += w->form->update(w);
    w->round++;
    w->sum_f += w->f;
    bdml_cvec_add(&w->A->space, w->v, w->sum_v);
    if (w->total < 1e-60 || w->total > 1e60) { /* only ratios of weights matter */
        double factor = (double)w->rows / w->total;
        w->w0 *= factor;
        bdml_cvec_scale(&w->A->space, factor, w->w, w->w);
        if (w->form->rescale) w->form->rescale(w, factor);
        w->total = (double)w->rows;
    }
}

/* Worst miss of a row by the average so far, from the sums of its values. */
static double violation_so_far(const bdml_mwu *w)
{
    double share = 1.0 / (double)w->round, worst = w->sum_f * share - w->bound;
    worst = BDML_MAX(worst, bdml_cvec_worst_miss(&w->A->space, w->mu, w->sum_v, share));
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
    bdml_operator_forward(w->A, w->mean, w->v);
    r->objective = bdml_vec_dot(w->size, w->A->g, w->mean);
    r->margin_violation = BDML_MAX(bdml_cvec_worst_miss(&w->A->space, w->mu, w->v, 1.0), 0.0);
    r->violation = BDML_MAX(r->margin_violation, r->objective - w->bound);
    if (w->form->violation) r->violation = BDML_MAX(r->violation, w->form->violation(w));
    const double *lambda = w->X.lambda;
    BDML_TRY(eigenvalues(w, w->mean, w->X.lambda));
    double low = lambda[0], high = lambda[w->d - 1];
    r->kappa = high <= 0.0 ? 1.0 : low > 0.0 ? high / low : INFINITY;
    r->trace = 0.0;
    for (int i = 0; i < w->d; i++) r->trace += lambda[i];
    r->m = w->mean;
    if (!w->lifted) return BDML_OK;
    r->alpha = w->lifted->sum_alpha * share;
    memcpy(r->lived, w->lifted->lived, sizeof r->lived);
    r->data_weight = bdml_cvec_sum(&w->A->space, w->w0, w->w) / w->total;
    return BDML_OK;
}

/* Weights of objective and margins as they stand, in the user's units, tested over the cone at trace R. */
static bdml_status keep_proof(bdml_mwu *w, bdml_mwu_result *r)
{
    double least, margins = bdml_weights_shares(w);
    r->q0 = w->w0 * w->scale0 / w->total;
    r->q = w->q;
    r->value = w->value;
    if (w->form->prove) return w->form->prove(w, r);
    bdml_cone_matrix(w, r->q0, w->q, w->S);
    BDML_TRY(bdml_cone_minimise(w, w->S, false, &least));
    r->proves = r->q0 * w->bound - margins - least < -bdml_cone_rounding(w, r->q0, w->q);
    return BDML_OK;
}

/* T rounds, or fewer when the average is good enough (delta > 0), or the proof is found. */
static bdml_status stage(bdml_mwu *w, double T, bool *done, bdml_mwu_result *r)
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
        bool last = (double)w->round >= T, over = !last && bdml_time_is_up(w->watch);
        if (!last && !over) BDML_TRY(look_up(w, r));
        if (w->round % LOOK && !last && !over) continue;
        if (delta > 0.0 && (last || !w->s.whole) && violation_so_far(w) <= delta) {
            BDML_TRY(measure(w, r));
            *done = r->violation <= delta;
            if (*done) {
                r->verdict = BDML_MWU_FEASIBLE;
                return BDML_OK;
            }
        }
        if (over) {
            r->verdict = BDML_MWU_STOPPED;
            *done = true;
            return measure(w, r);
        }
    }
    return BDML_OK;
}

/* A few rounds to learn how large the slacks really get, which is far below what the worst Y could make of them. */
static bdml_status calibrate(bdml_mwu *w, const bdml_mwu_result *r)
{
    enum { ROUNDS = 16 };
    double *met = w->met;
    reset(w);
    for (int k = 0; k < ROUNDS && !w->warm && !bdml_time_is_up(w->watch); k++) {
        bool infeasible;
        BDML_TRY(look_up(w, r));
        BDML_TRY(w->form->oracle(w, &infeasible));
        w->form->values(w);
        met[0] = BDML_MAX(met[0], fabs(w->scale0 * (w->bound - w->f)));
        met[1] = BDML_MAX(met[1], bdml_weights_largest(&w->A->space, w->scale, w->v, w->mu));
        met[2] = BDML_MAX(met[2], w->form->largest(w));
        update(w);
    }
    if (met[0] > 0.0) w->scale0 /= met[0];
    if (met[1] > 0.0) bdml_cvec_divide(&w->A->space, w->scale, met[1], w->scale);
    if (met[2] > 0.0) w->form->shrink(w, 1.0 / met[2]);
    w->rho = w->rho_negative = 0.0;
    return BDML_OK;
}

static bdml_status run_stages(bdml_mwu *w, bdml_mwu_result *r)
{
    double last = w->epsilon;
    bool done = false;
    if (w->s.delta > 0.0 && !w->s.literal && !w->s.whole)
        for (double step = FIRST_STEP; step > 1.5 * last && !done; step *= 0.5) {
            w->epsilon = step;
            BDML_TRY(stage(w, bdml_guarantee_rounds(w->rows, step), &done, r));
        }
    r->epsilon = w->epsilon;
    if (done) return BDML_OK;
    r->epsilon = w->epsilon = last;
    BDML_TRY(stage(w, r->T, &done, r));
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
    double start = bdml_now();
    memset(r, 0, sizeof *r);
    if (!(bound > 0.0 && isfinite(bound)))
        return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                         "the bound on the objective must be positive and finite, got %g", bound);
    BDML_TRY(bdml_la_enter(w->h));
    bdml_phase previous = bdml_phase_enter(w->h, BDML_PHASE_SOLVE);
    w->bound = r->bound = bound;
    /* <G,M> <= bound implies trace(M) <= bound / gamma */
    bool fixed = w->s.literal || w->form->factored;
    w->R = fixed ? w->s.trace : BDML_MIN(w->s.trace, bound / w->gamma);
    w->set.trace = r->trace_bound = w->R;
    w->exceeded = 0.0;
    if (w->basis) w->basis->taken = 0;
    bdml_status status = bdml_guarantee_set(w, r);
    if (status == BDML_OK && w->observed) status = calibrate(w, r);
    if (status == BDML_OK) status = run_stages(w, r);
    r->exceeded = w->exceeded;
    r->rho = w->rho;
    r->eigen = w->basis ? w->basis->taken : 0;
    r->seconds = bdml_now() - start;
    bdml_phase_leave(w->h, previous);
    bdml_la_leave(w->h);
    return status;
}
