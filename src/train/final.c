/* final.c - the candidate of a plan on everything: chosen where there are several, fitted as parts are, claimed. */
#include "train/describe.h"
#include "train/warm.h"

#include <stdlib.h>

/* Anchors of the recipe; the many fits of the selection take fewer (fit.c), and mine less often (plan->more). Where
 * neighbours are mined twice again and more, each has more constraints: about as many in all. */
enum { ANCHORS = 800, ANCHORS_AGAIN = 500 };

static int64_t first_anchors(const bdml_plan *plan, int again)
{
    const bdml_constraint_options *o = &plan->o->constraints;
    int64_t recipe = again > 1 ? ANCHORS_AGAIN : ANCHORS;
    if (o->anchors.automatic) return recipe;
    return plan->large && again > 0 ? BDML_MIN(o->anchors.value, recipe) : o->anchors.value;
}

bdml_status bdml_final_fit(bdml_handle *h, bdml_plan *plan, const bdml_training *t, bdml_final *f)
{
    bool wanted[BDML_PLAN_EFFORTS * BDML_PLAN_CAPS] = {false};

    *f = (bdml_final){0};
    f->taken = h->warm && bdml_warm_choice(h->warm, plan, &f->at, &f->selection.votes);
    if (bdml_candidate_count(plan) > 1 && !f->taken) {
        BDML_TRY(bdml_select(h, plan, t, &f->selection));
        f->at = bdml_candidate_at(plan, f->selection.chosen);
    }
    bool lists = plan->o->neighbors.search.value == BDML_SEARCH_APPROXIMATE; /* are of all rows */
    bool whole = plan->source != BDML_FROM_RECIPE || plan->paper || h->comm->size > 1 || lists;
    BDML_TRY(bdml_fit_open(h, plan, t, plan->reference[f->at.reference], NULL, whole, &f->fit));
    f->fit.anchors = first_anchors(plan, bdml_last_again(plan, f->at));
    wanted[f->at.effort * plan->caps + f->at.cap] = true;
    if (h->warm)
        BDML_TRY(bdml_warm_metric(h, &f->fit.reference, plan->o->solve.margin.value, &f->start));
    f->sweep = (bdml_sweep){
        .fit = &f->fit, .wanted = wanted, .precise = true, .more = plan->more, .start = f->start};
    bdml_status status = bdml_sweep_run(&f->sweep);
    f->sweep.wanted = NULL;
    return status;
}

void bdml_final_free(bdml_final *f)
{
    bdml_sweep_free(&f->sweep);
    bdml_fit_close(&f->fit);
    free(f->start);
    bdml_selection_free(&f->selection);
}

bdml_status bdml_fit_plan(bdml_handle *h, bdml_plan *plan, const bdml_training *t, bdml_mapped by,
                          bdml_model *model)
{
    bdml_status status = BDML_OK;
    bdml_final f;

    BDML_GO(bdml_final_fit(h, plan, t, &f));
    const bdml_chain *last = f.sweep.last;
    if (by.map) BDML_GO(bdml_reference_after(h, &f.fit.reference, by.rows, model->d, by.map));
    bdml_solved solved = {&f.fit.reference, last->c,    &last->s,     &last->r,
                          plan->diagonal,   plan->pull, f.fit.g_scale};
    model->score = plan->score[f.at.score];
    BDML_GO(bdml_claim_result(h, &solved, model));
    if (f.selection.candidates > 0) BDML_GO(bdml_describe_selection(h, plan, &f.selection, model));
    if (f.taken && bdml_candidate_count(plan) > 1)
        BDML_GO(bdml_describe_taken(h, plan, f.at, f.selection.votes, model));
    if (f.sweep.passes_done > 0)
        BDML_GO(bdml_describe_cut(h, f.sweep.passes_done, 1 + bdml_last_again(plan, f.at), model));
    if (h->warm) status = bdml_describe_warm(h, model);
done:
    bdml_final_free(&f);
    return status;
}
