/* proof.c - what the prover makes of a claim, as a check among the others. */
#include "certify/certify.h"

#include "proof/proof.h"

static void note_proof(bdml_handle *h, const bdml_evidence *e, const bdml_proven *p,
                       bdml_verdict *v)
{
    if (p->refused)
        bdml_verdict_note(v, "proof", false, h->c_locale, "refused: %s", p->reason);
    else if (!p->confirmed)
        bdml_verdict_note(v, "proof", false, h->c_locale, "not proven: %s", p->reason);
    else if (p->every_trace)
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "no metric meets the constraints at any trace, whatever the margins");
    else if (e->claim == BDML_CLAIM_INFEASIBLE)
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "no metric with trace below %.12g meets the margins", p->reach);
    else if (e->claim == BDML_CLAIM_APPROXIMATE)
        bdml_verdict_note(v, "proof", true, h->c_locale, "optimum at least %.12g", p->lower);
    else
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "kappa <= %.12g and the optimum lies in [%.12g, %.12g], gap %.3g at most",
                          p->kappa, p->lower, p->upper, (p->upper - p->lower) / p->upper);
}

bdml_status bdml_certify_proof(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                               const bdml_dataset *data, bdml_verdict *verdict)
{
    bdml_proven p;
    BDML_TRY(bdml_prove(h, model, e, data, &p));
    note_proof(h, e, &p, verdict);
    if (isfinite(p.lower)) verdict->lower = p.lower;
    if (isfinite(p.upper)) verdict->upper = p.upper;
    return BDML_OK;
}
