/* paper.c - the paper's own Q-step: the relaxation of Proposition 2 by multiplicative weights, then Gaussian
 * randomisation (Algorithm 3). Its margins are hard and its pull is that of the target pairs, whatever the form of
 * the Lambda-step; a proposal that does not lower the objective is not taken. */
#include "lowrank/lowrank.h"

#if defined(__has_include)
#if __has_include("solver/paper/relaxation.h")
#include "solver/paper/relaxation.h"
#define BDML_HAVE_RELAXATION 1
#endif
#endif

#ifdef BDML_HAVE_RELAXATION

bdml_status lowrank_paper_step(lowrank *w, double *V_try, bdml_lowrank_report *report)
{
    bdml_relaxation_settings s = bdml_relaxation_defaults();
    bdml_relaxation_report r;
    s.margin = w->s->solve.margin;
    s.seed = (uint64_t)bdml_opt_int(w->h, BDML_OPT_SEED);
    BDML_TRY(bdml_relaxation_q_step(w->h, w->op, w->c, w->r, w->q, w->lambda, &s, V_try, &r));
    report->sdp_lower = r.sdp_lower;
    report->nu = r.sample_nu;
    report->zeta = r.zeta;
    report->omega = r.omega;
    return BDML_OK;
}

#else

bdml_status lowrank_paper_step(lowrank *w, double *V_try, bdml_lowrank_report *report)
{
    (void)V_try, (void)report;
    return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                     "q-step paper is not built in yet; manifold and hull are");
}

#endif
