/* settings.c - constraints by the settings: from files where they are named, else mined. */
#include "problem/problem.h"
#include "linalg/linalg.h"

bdml_mining bdml_mining_from_options(const bdml_options *o)
{
    const bdml_constraint_options *c = &o->constraints;
    bdml_mining how = {.kind = c->kind.value,
                       .rule = c->rule.value,
                       .targets = (int)c->targets.value,
                       .impostors = (int)c->impostors.value,
                       .anchors = c->anchors.automatic ? 0 : c->anchors.value,
                       .seed = (uint64_t)o->general.seed.value,
                       .search = o->neighbors};
    if (how.rule == BDML_RULE_AUTO) how.rule = BDML_RULE_CLASS;
    return how;
}

static bdml_status mine(bdml_handle *h, const bdml_mining *how, const bdml_dataset *data,
                        bdml_constraints **out)
{
    BDML_TRY(bdml_dataset_need_classes(h, data));
    BDML_TRY(bdml_check_sizes(h, data, how));
    const bdml_rows rows = bdml_dataset_view(data);
    return bdml_mine_spread(h, data->over, data->n, &rows, data->y, how, out);
}

bdml_status bdml_refuse_hard_weights(bdml_handle *h, const bdml_solve_options *o,
                                     const bdml_constraints *c)
{
    if (!c->weight || !o->hard.value) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "weights are of missed margins, and hard margins are not missed: leave out "
                     "hard, or the weights and grades");
}

static bdml_status make(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                        bdml_constraints **out)
{
    bdml_status status = BDML_OK;
    bdml_mining how = bdml_mining_from_options(o);
    bdml_constraints *c = NULL;
    int64_t found = 0;

    if (data->n > INT32_MAX)
        return bdml_fail(h, BDML_ERR_DATA,
                         "constraints are about at most %d rows, the data have %lld", INT32_MAX,
                         (long long)data->n);
    if (bdml_relevant_file_alone(&o->constraints)) {
        BDML_GO(bdml_relevant_mine(h, o, data, &c));
    } else if (bdml_constraint_files_given(&o->constraints)) {
        BDML_GO(bdml_constraint_files_read(h, &o->constraints, data->n, &c));
        BDML_GO(bdml_check_far(h, data, c, &found));
    } else {
        BDML_GO(mine(h, &how, data, &c));
        BDML_GO(bdml_check_twins(h, data, &found));
    }
    BDML_GO(bdml_refuse_hard_weights(h, &o->solve, c));
    c->contradictions += found;
    bdml_check_report(h, c);
    *out = c;
    c = NULL;
done:
    bdml_free_constraints(c);
    return status;
}

bdml_status bdml_mine_constraints_with(bdml_handle *h, const bdml_options *o,
                                       const bdml_dataset *data, bdml_constraints **out)
{
    *out = NULL;
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_CONSTRAINTS);
    bdml_status status = make(h, o, data, out);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_mine_constraints(bdml_handle *h, const bdml_dataset *data, bdml_constraints **out)
{
    if (out) *out = NULL;
    if (!h) return BDML_ERR_ARGUMENT;
    if (!data || !out) return bdml_fail(h, BDML_ERR_ARGUMENT, "data and out must not be NULL");
    BDML_TRY(bdml_dataset_widen(h, data));
    bdml_status status = bdml_mine_constraints_with(h, &h->options, data, out);
    status = bdml_dataset_confirm(h, data, status, NULL);
    if (status == BDML_OK) return BDML_OK;
    bdml_free_constraints(*out);
    *out = NULL;
    return status;
}
