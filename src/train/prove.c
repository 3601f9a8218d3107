/* prove.c - before training speaks: what the solver found, put before the prover (proof/proof.h).
 *
 * The solver bounds its rounding by estimates. They are good enough to decide when to stop, but a claim is a
 * statement about the doubles of the data file, and badly placed data defeat any estimate. So the last result, and
 * only that, is proven with bounds on every rounding error, from the data as they were given:
 *
 *     bracket      the proven ends take the place of the solver's; "optimal" when their gap is within the one
 *                  asked, else "stopped", by a limit or by rounding
 *     infeasible   up to the trace that is proven: the one asked, one beyond, or every trace
 *
 * The prover goes over points and constraints a few times, about as much work as a few steps of the solver in plain
 * arithmetic at ten times the cost of each. */
#include "train/describe.h"

#include <stdlib.h>

#include "proof/proof.h"
#include "train/placement.h"

static bdml_status unproven(bdml_handle *h, const bdml_dataset *data, const char *reason)
{
    char help[BDML_PLACEMENT_SIZE];
    BDML_TRY(bdml_placement_help(h, data, help));
    return bdml_fail(h, BDML_ERR_DATA,
                     "stopped by rounding: what the solver found cannot be proven with the digits "
                     "of doubles (%s); %s",
                     reason, help[0] ? help : "--scale zscore or a smaller distortion may help");
}

/* ---- bracket -------------------------------------------------------------------------------------------- */

/* Coarse bounds on eigenvalues cost less than fine ones: they are asked for when the lower end is claimed with this
 * much room, a share of the upper one, and mostly do. */
static const double ROOM = 1e-9;

/* The proof with that room, and without when it is needed. */
static bdml_status prove_bracket(bdml_handle *h, const bdml_proof_rows *rows,
                                 const bdml_model *model, bdml_proven *p)
{
    bdml_evidence claimed = *model->evidence;
    claimed.lower -= ROOM * fabs(claimed.upper);
    BDML_TRY(bdml_prove_rows(h, model, &claimed, rows, p));
    claimed.lower = p->lower;
    claimed.upper = p->upper;
    if (claimed.claim != BDML_CLAIM_OPTIMAL || !(bdml_evidence_gap(&claimed) > claimed.gap_asked))
        return BDML_OK;
    return bdml_prove_rows(h, model, model->evidence, rows, p);
}

/* The solver made no progress any more: where the data lie badly, for the same reason. */
static bool stalled(const bdml_model *model)
{
    const json_t *o = json_object_get(model->info, "certificate");
    const char *by = json_string_value(json_object_get(o, "stopped_by"));
    return by && strcmp(by, "stall") == 0;
}

static bdml_status claim_bracket(bdml_handle *h, const bdml_dataset *data,
                                 const bdml_proof_rows *rows, bdml_model *model)
{
    bdml_evidence *e = model->evidence;
    bdml_proven p;
    char help[BDML_PLACEMENT_SIZE] = "";
    BDML_TRY(prove_bracket(h, rows, model, &p));
    if (!isfinite(p.upper) || !isfinite(p.lower)) return unproven(h, data, p.reason);
    e->lower = p.lower;
    e->upper = p.upper;
    bool within = bdml_evidence_gap(e) <= e->gap_asked;
    bool rounding = !within && e->claim == BDML_CLAIM_OPTIMAL, stall = !within && stalled(model);
    e->claim = within ? BDML_CLAIM_OPTIMAL : BDML_CLAIM_STOPPED;
    if (rounding || stall) BDML_TRY(bdml_placement_help(h, data, help));
    rounding = rounding || help[0];
    if (rounding)
        bdml_log(h, BDML_LOG_WARNING,
                 "stopped by rounding: a gap of %.2g is proven where %.2g was asked%s%s",
                 bdml_evidence_gap(e), e->gap_asked, help[0] ? "; " : "", help);
    return bdml_describe_proven(h, rounding, help, model);
}

/* ---- infeasibility ---------------------------------------------------------------------------------------- */

/* Multipliers on a grid of 2^-bits times the largest; those that become 0 are left out. */
static void round_multipliers(bdml_evidence *e, int bits)
{
    double most = 0.0;
    int64_t kept = 0;
    for (int64_t k = 0; k < e->duals; k++) most = BDML_MAX(most, e->dual[k]);
    double unit = ldexp(most, -bits);
    for (int64_t k = 0; k < e->duals; k++) {
        double y = nearbyint(e->dual[k] / unit) * unit;
        if (y == 0.0) continue;
        e->dual_constraint[kept] = e->dual_constraint[k];
        e->dual[kept++] = y;
    }
    e->duals = kept;
}

/* Where constraints are exact opposites no multipliers but equal ones prove it for every trace, and the solver
 * has them up to rounding: on ever coarser grids they become equal, and what is to cancel does. */
static bdml_status prove_contradiction(bdml_handle *h, const bdml_proof_rows *rows,
                                       const bdml_model *model, bdml_proven *p)
{
    static const int grid[] = {40, 30, 20, 10};
    bdml_status status = BDML_OK;
    bdml_evidence *e = model->evidence, own = *e;
    bdml_proven other;

    own.dual = NULL;
    own.dual_constraint = NULL;
    own.reach = INFINITY;
    BDML_NEW(h, own.dual, e->duals);
    BDML_NEW(h, own.dual_constraint, e->duals);
    for (size_t k = 0; k < sizeof grid / sizeof *grid && isfinite(p->reach); k++) {
        own.duals = e->duals;
        memcpy(own.dual, e->dual, sizeof *own.dual * (size_t)e->duals);
        memcpy(own.dual_constraint, e->dual_constraint,
               sizeof *own.dual_constraint * (size_t)e->duals);
        round_multipliers(&own, grid[k]);
        BDML_GO(bdml_prove_rows(h, model, &own, rows, &other));
        if (!(other.reach > p->reach)) continue;
        *p = other;
        e->duals = own.duals;
        memcpy(e->dual, own.dual, sizeof *own.dual * (size_t)own.duals);
        memcpy(e->dual_constraint, own.dual_constraint,
               sizeof *own.dual_constraint * (size_t)own.duals);
    }
done:
    free(own.dual);
    free(own.dual_constraint);
    return status;
}

/* The solver's estimate of the reach of its proof may be too good by so much. */
static const double REACH_SHARE = 1e-3;
/* A claimed reach is below the proven one by so much, which another machine's last digits do not undo. */
static const double INSIDE = 1e-9;

static bdml_status claim_infeasible(bdml_handle *h, const bdml_dataset *data,
                                    const bdml_proof_rows *rows, bdml_model *model)
{
    bdml_evidence *e = model->evidence;
    bdml_proven p;
    double asked = e->reach;
    BDML_TRY(bdml_prove_rows(h, model, e, rows, &p));
    if (!p.refused && asked != e->R && isfinite(p.reach))
        BDML_TRY(prove_contradiction(h, rows, model, &p));
    if (p.refused) return unproven(h, data, p.reason);
    if (!isfinite(p.reach) && p.reach > 0.0)
        e->reach = asked == e->R ? e->R : INFINITY;
    else if (p.reach > e->R)
        e->reach = isfinite(asked) ? BDML_MIN(asked, p.reach * (1.0 - INSIDE)) : e->R;
    else if (isfinite(asked) && asked != e->R && p.reach > REACH_SHARE * asked)
        e->reach = p.reach * (1.0 - INSIDE);
    else
        return unproven(h, data, p.reason);
    e->reach = isfinite(e->R) ? BDML_MAX(e->reach, e->R) : e->reach;
    BDML_TRY(bdml_describe_proven(h, false, "", model));
    return e->reach == asked ? BDML_ERR_INFEASIBLE /* it has been said */
                             : bdml_say_infeasible(h, e);
}

/* ---- lower end alone ----------------------------------------------------------------------------------------- */

static bdml_status claim_lower(bdml_handle *h, const bdml_proof_rows *rows, bdml_model *model)
{
    bdml_evidence *e = model->evidence;
    bdml_proven p;
    BDML_TRY(bdml_prove_rows(h, model, e, rows, &p));
    e->lower = isfinite(p.lower) ? p.lower : 0.0; /* no objective is negative */
    return bdml_describe_proven(h, false, "", model);
}

/* ---- no time ------------------------------------------------------------------------------------------------- */

/* The deadline came first: the metric stands, and nothing is claimed of it. Without a metric there is nothing left. */
static bdml_status claim_nothing(bdml_handle *h, bdml_model *model)
{
    if (!model->l) return BDML_ERR_CANCELLED;
    bdml_evidence_free(model->evidence);
    model->evidence = NULL;
    bdml_log(h, BDML_LOG_WARNING,
             "the time limit was over before the proof: nothing is claimed of the metric; a larger "
             "--time-limit leaves time for it");
    return bdml_describe_unproven(h, model);
}

/* ---- entry --------------------------------------------------------------------------------------------------- */

bdml_status bdml_prove_claim(bdml_handle *h, const bdml_dataset *data, bdml_model *model)
{
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CERTIFY);
    bdml_claim claim = model->evidence->claim;
    bdml_proof_rows rows;
    bdml_status status = bdml_proof_rows_make(h, model, model->evidence, data, &rows);
    if (status == BDML_OK)
        status = claim == BDML_CLAIM_INFEASIBLE    ? claim_infeasible(h, data, &rows, model)
                 : claim == BDML_CLAIM_APPROXIMATE ? claim_lower(h, &rows, model)
                                                   : claim_bracket(h, data, &rows, model);
    bdml_proof_rows_free(&rows);
    if (status == BDML_ERR_CANCELLED && !h->leaving && h->deadline > 0.0 &&
        bdml_now() >= h->deadline)
        status = claim_nothing(h, model);
    bdml_phase_leave(h, previous);
    return status;
}
