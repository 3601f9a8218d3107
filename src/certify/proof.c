/* proof.c - the claim of a model before the prover of bdml-check. */
#include "certify/certify.h"

#include <stdlib.h>

#include "check/check.h"

typedef struct attempt {
    checker k;
    certificate c;
    proof p;
    bool refused; /* k.reason says why */
} attempt;

static void prove_text(attempt *a, FILE *f)
{
    if (setjmp(a->k.door)) {
        a->refused = true;
        return;
    }
    if (!ball_machine_ok())
        check_refuse(&a->k, "this machine does not round as the proof needs it");
    check_read(&a->k, f, &a->c);
    check_prove(&a->k, &a->c, &a->p);
}

static void note_proof(bdml_handle *h, const attempt *a, bdml_verdict *v)
{
    const proof *p = &a->p;
    if (a->refused)
        bdml_verdict_note(v, "proof", false, h->c_locale, "refused: %s", a->k.reason);
    else if (a->c.claim == CLAIM_CONTRADICTION && v->every_trace && isfinite(p->reach))
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "no metric with trace below %.12g meets the margins; that there is none "
                          "beyond is not proven",
                          p->reach);
    else if (!p->confirmed)
        bdml_verdict_note(v, "proof", false, h->c_locale, "not proven: %s", p->failure);
    else if (a->c.claim == CLAIM_CONTRADICTION)
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "no metric meets the constraints at any trace, whatever the margins");
    else if (a->c.claim == CLAIM_INFEASIBLE)
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "no metric with trace below %.12g meets the margins", p->reach);
    else if (a->c.claim == CLAIM_LOWER)
        bdml_verdict_note(v, "proof", true, h->c_locale, "optimum at least %.12g", p->lower);
    else
        bdml_verdict_note(v, "proof", true, h->c_locale,
                          "kappa <= %.12g and the optimum lies in [%.12g, %.12g], gap %.3g at most",
                          p->kappa, p->lower, p->upper, (p->upper - p->lower) / p->upper);
}

bdml_status bdml_certify_proof(bdml_handle *h, const bdml_model *model, const bdml_evidence *e,
                               const bdml_dataset *data, bdml_verdict *verdict)
{
    bdml_status status = BDML_OK;
    attempt *a = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *f = NULL;

    BDML_NEW(h, a, 1);
    BDML_GO(bdml_certificate_text(h, model, e, data, &text, &size));
    f = fmemopen(text, size, "r");
    if (!f) {
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory for the certificate");
        goto done;
    }
    prove_text(a, f);
    note_proof(h, a, verdict);
    if (!a->refused && isfinite(a->p.lower)) verdict->lower = a->p.lower;
    if (!a->refused && isfinite(a->p.upper)) verdict->upper = a->p.upper;
done:
    if (f) fclose(f);
    if (a) check_free(&a->k);
    free(a);
    free(text);
    return status;
}
