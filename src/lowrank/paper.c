/* paper.c - the paper's own Q-step: relaxation by multiplicative weights, then randomisation (Algorithm 3). */
#include "lowrank/lowrank.h"

bdml_status lowrank_paper_step(lowrank *w, double *V_try)
{
    (void)V_try;
    return bdml_fail(w->h, BDML_ERR_ARGUMENT,
                     "q-step paper is not built in yet; manifold and hull are");
}
