/* paper.c - the paper's own Q-step: the relaxation of Proposition 2 by multiplicative weights, then Gaussian
 * randomisation (Algorithm 3).
 *
 * Its pull is that of the target pairs and its margins are hard. A soft problem leaves margins unmet, and with a
 * Lambda of its size no Q meets them all; there the relaxation asks for half of what the metric at hand reaches,
 * min(mu_t, <A_t,M>)/2, leaves out the constraints that are the wrong way round, and of the samples that of the least
 * soft objective is taken (rule paper: still that of the least pull). A proposal that does not lower the objective is
 * not taken. */
#include "lowrank/lowrank.h"

#include <stdlib.h>

/* Up to so many dimensions the exact bracket costs less than the step itself. */
enum { EXACT_DIMENSIONS = 60 };

/* The constraints that M reaches with a margin above 0, each with a share of that; the caller frees *out. */
static bdml_status reached(lowrank *w, const double *V, bdml_constraints **out)
{
    static const double LEAST = 1e-3; /* of mu: below it a constraint counts as missed */
    static const double SHARE = 0.5;  /* with 1 the relaxation has next to nothing but M itself */
    bdml_status status = BDML_OK;
    bdml_constraints *c = NULL;
    double *v = NULL;
    int64_t kept = 0;

    BDML_NEW(w->h, v, w->c->m);
    BDML_GO(bdml_constraints_copy(w->h, w->c, &c));
    if (!c->margin) BDML_NEW(w->h, c->margin, c->m);
    for (int k = 0; k < w->q; k++)
        for (int i = 0; i < w->r; i++)
            COL(w->gv, w->r, k)[i] = sqrt(w->lambda[k]) * COL(V, w->r, k)[i];
    bdml_operator_forward(&w->A, w->gv, v);
    for (int64_t t = 0; t < w->c->m; t++) {
        double mu = w->c->margin ? w->c->margin[t] : 1.0, has = v[t] / w->s->solve.margin;
        if (!(has > LEAST * mu)) continue;
        c->far[kept] = c->far[t];
        c->near[kept] = c->near[t];
        if (c->weight) c->weight[kept] = c->weight[t];
        c->margin[kept++] = SHARE * BDML_MIN(mu, has);
    }
    c->m = kept;
    *out = c;
    c = NULL;
done:
    bdml_free_constraints(c);
    free(v);
    return status;
}

/* ---- samples of a soft problem ---------------------------------------------------------------------------- */

typedef struct judge {
    lowrank *w;
    double *scaled, *v; /* r x q; per constraint */
} judge;

/* Objective of the soft problem at V with the Lambda of w. */
static double soft_objective(void *user, const double *V)
{
    judge *J = user;
    const lowrank *w = J->w;
    const bdml_solve_settings *s = &w->s->solve;
    int r = w->r, q = w->q;
    double sum = 0.0, loss = 0.0;
    for (int k = 0; k < q; k++) {
        double root = sqrt(w->lambda[k]);
        for (int i = 0; i < r; i++) COL(J->scaled, r, k)[i] = root * COL(V, r, k)[i];
    }
    bdml_operator_forward(&w->A, J->scaled, J->v);
    bdml_la_gemm_tiled(w->h, 'N', 'N', r, q, r, 1.0, w->g, r, J->scaled, r, 0.0, w->gv, r);
    for (int k = 0; k < q; k++) sum += bdml_la_dot(r, COL(J->scaled, r, k), COL(w->gv, r, k));
    for (int64_t t = 0; t < w->c->m; t++) {
        double miss = s->margin * (w->c->margin ? w->c->margin[t] : 1.0) - J->v[t];
        if (miss > 0.0)
            loss += (w->c->weight ? w->c->weight[t] : 1.0) *
                    (s->loss == BDML_LOSS_SQUARED_HINGE ? miss * miss : miss);
    }
    return sum + w->C / (double)w->c->m * loss;
}

static bdml_relaxation_settings settings_of(const lowrank *w)
{
    bdml_relaxation_settings s = w->s->relaxation;
    s.margin = w->s->solve.margin;
    s.exact |= w->s->exact_auto && w->r <= EXACT_DIMENSIONS;
    return s;
}

bdml_status lowrank_paper_step(lowrank *w, double *V_try, bdml_lowrank_report *report)
{
    bdml_status status = BDML_OK;
    bdml_relaxation_settings s = settings_of(w);
    bdml_constraints *c = NULL;
    bdml_margin *op = NULL;
    judge J = {.w = w};

    report->relaxed = false;
    if (w->s->solve.hard) {
        BDML_GO(bdml_relaxation_q_step(w->h, w->op, w->c, w->r, w->q, w->lambda, &s, V_try,
                                       &report->relaxation));
    } else {
        BDML_GO(reached(w, V_try, &c));
        if (c->m == 0 || c->targets == 0 || !(s.margin > 0.0)) goto done; /* nothing to keep to */
        BDML_NEW(w->h, J.scaled, (size_t)w->r * (size_t)w->q);
        BDML_NEW(w->h, J.v, w->c->m);
        if (s.rule == BDML_SAMPLE_SCALE_FREE) s.value = soft_objective;
        s.user = &J;
        BDML_GO(bdml_margin_new(w->h, w->n, w->r, w->z, w->r, c, &op));
        BDML_GO(bdml_relaxation_q_step(w->h, op, c, w->r, w->q, w->lambda, &s, V_try,
                                       &report->relaxation));
    }
    report->relaxed = true;
done:
    free(J.scaled);
    free(J.v);
    bdml_margin_free(op);
    bdml_free_constraints(c);
    return status;
}
