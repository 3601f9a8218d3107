/* start.c - where the bisection begins.
 *
 *     U   g(sI), s = max mu_t / <A_t,I>, where sI meets the margins within the trace bound; otherwise from small
 *         values up until one is not refused (the paper's g(I) is no upper bound), R lambda_max(G) at most
 *     then several bounds between L and U at once, one a thread (the paper's practical start) */
#include "paper/bisection.h"

#include <stdlib.h>

/* U = g(sI) when sI is feasible; it is also the first metric of the cone form. Literal: U = g(I). */
static bool start_identity(bdml_search *b)
{
    bdml_mwu *w = b->w;
    const bdml_operator *A = w->A;
    double g = 0.0;
    bdml_matrix_identity(&w->X, 1.0, w->M);
    for (int i = 0; i < w->d; i++) g += A->g[(size_t)i * w->X.step];
    if (w->s.literal) {
        b->U = g;
        return true;
    }
    bdml_operator_forward(A, w->M, w->v);
    double s = bdml_cvec_scale_to_meet(&A->space, w->mu, w->v, 0.0, A->norm) * (1.0 + 1e-12);
    if (!isfinite(s) || s * w->d > w->s.trace) return false;
    b->U = s * g;
    if (w->s.form == BDML_PAPER_CONE) {
        bdml_mwu_result r = {.objective = g, .kappa = 1.0, .trace = w->d, .m = w->M};
        bdml_search_keep(b, w, &r, s * g, s);
    }
    return true;
}

/* Values of g from small to large until one is not refused. At R lambda_max(G) the bound says nothing, so a
 * refusal there is about the margins. */
bdml_status bdml_search_upwards(bdml_search *b)
{
    enum { STEPS = 40 };
    bdml_mwu *w = b->w;
    double trace = 0.0, most = w->s.trace * w->g_lambda[w->d - 1];
    for (int i = 0; i < w->d; i++) trace += w->g_lambda[i];
    double value = bdml_cvec_mean_abs(&w->A->space, w->unit);
    double margin = bdml_cvec_mean_abs(&w->A->space, w->mu);
    double bound = value > 0.0 ? trace * margin / value : trace;
    bound = BDML_MIN(BDML_MAX(bound, 2.0 * b->L), most);
    for (int k = 0; k < STEPS && b->proof == BDML_PROOF_NONE && !b->stopped; k++) {
        bdml_mwu_result r;
        BDML_TRY(bdml_search_try(b, bound, &r));
        if (isfinite(b->U)) return BDML_OK;
        if (bound >= most) {
            if (b->proof != BDML_PROOF_NONE || b->stopped) return BDML_OK;
            return bdml_fail(b->h, BDML_ERR_INFEASIBLE,
                             "the lifted problem of the paper has no solution with trace(Y) <= %g; "
                             "the problem itself may: leave out literal, or raise trace",
                             w->s.trace);
        }
        bound = BDML_MIN(BDML_MAX(4.0 * bound, 2.0 * b->L), most);
    }
    return BDML_OK;
}

/* Several bounds at once: own handle, operator and workspace each, so that the outcome is the same for any
 * number of threads. */
typedef struct trial {
    bdml_handle *h;
    bdml_problem *p;
    bdml_mwu *w;
    bdml_mwu_result r;
    bdml_status status;
} trial;

static void free_trials(int count, trial *list)
{
    for (int k = 0; list && k < count; k++) {
        bdml_mwu_free(list[k].w);
        bdml_problem_free(list[k].p);
        bdml_free(list[k].h);
    }
    free(list);
}

static bdml_status new_trial(bdml_search *b, trial *t)
{
    int64_t n, ld;
    const double *x = bdml_problem_points(b->p, &n, &ld);
    BDML_TRY(bdml_handle_child(b->h, &t->h));
    bdml_status status =
        bdml_paper_problem(t->h, n, b->w->d, x, ld, b->w->A->c, b->diagonal, &t->p);
    if (status == BDML_OK) status = bdml_mwu_new(t->h, t->p, b->s, &t->w);
    if (status != BDML_OK) return bdml_fail(b->h, status, "%s", bdml_last_error(t->h));
    t->w->watch = b->h;
    return BDML_OK;
}

bdml_status bdml_search_parallel(bdml_search *b)
{
    bdml_status status = BDML_OK;
    int count = b->s->starts;
    double step = (b->U - b->L) / (count + 1), from = b->L;
    trial *list = NULL;

    BDML_NEW(b->h, list, count);
    for (int k = 0; k < count; k++) BDML_GO(new_trial(b, &list[k]));
#pragma omp parallel for schedule(dynamic, 1) num_threads(bdml_threads(b->h))
    for (int k = 0; k < count; k++)
        list[k].status = bdml_mwu_run(list[k].w, from + (k + 1) * step, &list[k].r);
    for (int k = 0; k < count; k++)
        if (list[k].status != BDML_OK) {
            status = bdml_fail(b->h, list[k].status, "%s", bdml_last_error(list[k].h));
            goto done;
        }
    /* refusals first: what lies below a proven L is not believed */
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++)
            if ((list[k].r.verdict == BDML_MWU_INFEASIBLE) == (pass == 0))
                BDML_GO(bdml_search_take(b, list[k].w, &list[k].r, false));
done:
    free_trials(count, list);
    return status;
}

bdml_status bdml_search_start(bdml_search *b)
{
    return start_identity(b) ? BDML_OK : bdml_search_upwards(b);
}
