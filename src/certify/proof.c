/* proof.c - what the prover makes of a claim, as a check among the others. */
#include "proof/proof.h"

#include "certify/plain.h"

static const char FIELDS[] = "map evidence.map evidence.claim evidence.lower evidence.upper "
                             "evidence.dual evidence.dual_constraint";

static void note(bdml_verdict *v, bool holds, const char *fmt, ...) BDML_PRINTF(3, 4);

static void note(bdml_verdict *v, bool holds, const char *fmt, ...)
{
    char text[240];
    va_list ap;
    va_start(ap, fmt);
    bdml_vsnprintf(v->c, text, sizeof text, fmt, ap);
    va_end(ap);
    bdml_verdict_note(v, BDML_LEVEL_NUMBERS, "proof", FIELDS, holds, "%s", text);
}

static void note_proof(const bdml_evidence *e, const bdml_proven *p, bdml_verdict *v)
{
    if (p->refused)
        note(v, false, "refused: %s", p->reason);
    else if (!p->confirmed)
        note(v, false, "not proven: %s", p->reason);
    else if (p->every_trace)
        note(v, true, "no metric meets the constraints at any trace, whatever the margins");
    else if (e->claim == BDML_CLAIM_INFEASIBLE)
        note(v, true, "no metric with trace below %.12g meets the margins", p->reach);
    else if (e->claim == BDML_CLAIM_APPROXIMATE)
        note(v, true, "optimum at least %.12g", p->lower);
    else
        note(v, true, "kappa <= %.12g and the optimum lies in [%.12g, %.12g], gap %.3g at most",
             p->kappa, p->lower, p->upper, (p->upper - p->lower) / p->upper);
}

bdml_status bdml_check_proof(bdml_handle *h, bdml_plain *w)
{
    bdml_proven p;
    BDML_TRY(bdml_prove(h, w->model, w->e, w->data, &p));
    note_proof(w->e, &p, w->v);
    if (isfinite(p.lower)) w->v->lower = p.lower;
    if (isfinite(p.upper)) w->v->upper = p.upper;
    return BDML_OK;
}
