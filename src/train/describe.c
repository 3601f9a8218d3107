/* describe.c - structs of training as JSON: the description of a model. */
#include "train/describe.h"
#include "train/warm.h"

#include "train/tuning.h"

#include <inttypes.h>

/* Put a value into the description. */
static bdml_status tell(bdml_handle *h, bdml_model *model, const char *key, json_t *value)
{
    return json_object_set_new(model->info, key, value) == 0
               ? BDML_OK
               : bdml_fail(h, BDML_ERR_MEMORY, "out of memory while describing the model");
}

/* The object of that name in the description, made where there is none; NULL: out of memory. */
static json_t *part_of(bdml_handle *h, bdml_model *model, const char *key)
{
    json_t *o = json_object_get(model->info, key);
    if (o) return o;
    return tell(h, model, key, json_object()) == BDML_OK ? json_object_get(model->info, key) : NULL;
}

/* ---- claim ------------------------------------------------------------------------------------------------ */

/* Rows of the constraints that contradict each other, weightiest first. */
static json_t *contradictions(const bdml_solved *s)
{
    enum { NAMED = 20 };
    json_t *list = json_array();
    for (int64_t k = 0; k < BDML_MIN(s->result->contradicting, NAMED); k++) {
        int64_t t = s->result->important[k];
        int32_t rows[3] = {0};
        if (bdml_constraints_at(s->constraints, t, rows) != BDML_OK) continue;
        bdml_json_push(&list,
                       json_pack("{s:I, s:i, s:o, s:i, s:f}", "constraint", (json_int_t)t, "i",
                                 rows[0], "j", rows[1] < 0 ? json_null() : json_integer(rows[1]),
                                 "k", rows[2], "multiplier", s->result->y[t]));
    }
    return list;
}

/* How the bracket closed, its last state included: three lists of one length. */
static json_t *history_json(const bdml_solve_result *r)
{
    const bdml_history *h = &r->history;
    json_t *iteration = json_array(), *lower = json_array(), *upper = json_array(),
           *o = json_object();
    bool last = h->iteration[h->count - 1] < (double)r->iterations;
    for (int i = 0; i < h->count + last; i++) {
        bool kept = i < h->count;
        bdml_json_push(&iteration, json_real(kept ? h->iteration[i] : (double)r->iterations));
        bdml_json_push(&lower, bdml_json_real(kept ? h->lower[i] : r->lower));
        bdml_json_push(&upper, bdml_json_real(kept ? h->upper[i] : r->upper));
    }
    bdml_json_put(&o, "iteration", iteration);
    bdml_json_put(&o, "lower", lower);
    bdml_json_put(&o, "upper", upper);
    return o;
}

static json_t *certificate(const bdml_solved *s, const bdml_evidence *e)
{
    static const char *const stops[] = {[BDML_STOP_DONE] = "gap",
                                        [BDML_STOP_ITERATIONS] = "iterations",
                                        [BDML_STOP_TIME] = "time",
                                        [BDML_STOP_CANCELLED] = "request",
                                        [BDML_STOP_STALLED] = "stall"};
    const bdml_solve_result *r = s->result;
    bool infeasible = r->outcome == BDML_INFEASIBLE, approximate = r->outcome == BDML_APPROXIMATE;
    json_t *o = json_object();
    bdml_json_put(&o, "status", json_string(bdml_claim_name(e)));
    if (approximate) { /* its metric need not be allowed: no upper end, no gap */
        bdml_json_put(&o, "objective", bdml_json_real(r->upper));
    } else {
        bdml_json_put(&o, "upper", bdml_json_real(r->upper));
        bdml_json_put(&o, "gap", bdml_json_real(r->gap));
    }
    bdml_json_put(&o, "lower", bdml_json_real(infeasible ? r->lower : e->lower));
    /* the cap is held: what is beyond it is rounding (claim.c) */
    double kappa = !approximate && r->kappa > s->settings->K ? s->settings->K : r->kappa;
    bdml_json_put(&o, "kappa", bdml_json_real(kappa));
    bdml_json_put(&o, "trace", bdml_json_real(r->trace));
    bdml_json_put(&o, "iterations", json_integer(r->iterations));
    bdml_json_put(&o, "distortion", json_real(s->settings->K));
    bdml_json_put(&o, "constraints", json_integer(s->constraints->m));
    bdml_json_put(&o, "active", json_integer(e->duals));
    bdml_json_put(&o, "reference", json_string(bdml_reference_names[s->reference->kind]));
    if (!s->settings->hard) {
        bdml_json_put(&o, "softness", json_real(r->C / r->C0));
        bdml_json_put(&o, "C", json_real(r->C));
    }
    if (r->outcome == BDML_STOPPED) bdml_json_put(&o, "stopped_by", json_string(stops[r->stop]));
    if (infeasible) {
        bdml_json_put(&o, "proof", json_string(bdml_claim_scope(e)));
        bdml_json_put(&o, "proof_trace", bdml_json_real(e->reach));
        bdml_json_put(&o, "contradictions", contradictions(s));
    }
    if (approximate) bdml_json_put(&o, "margin_missed_by", json_real(r->slack));
    return o;
}

bdml_status bdml_describe_proven(bdml_handle *h, bool rounding, const char *help, bdml_model *model)
{
    const bdml_evidence *e = model->evidence;
    json_t *o = json_incref(part_of(h, model, "certificate"));
    bdml_json_put(&o, "status", json_string(bdml_claim_name(e)));
    if (e->claim == BDML_CLAIM_INFEASIBLE) {
        bdml_json_put(&o, "active", json_integer(e->duals));
        bdml_json_put(&o, "proof", json_string(bdml_claim_scope(e)));
        bdml_json_put(&o, "proof_trace", bdml_json_real(e->reach));
    } else {
        bdml_json_put(&o, "lower", json_real(e->lower));
    }
    if (e->claim == BDML_CLAIM_OPTIMAL || e->claim == BDML_CLAIM_STOPPED) {
        bdml_json_put(&o, "upper", json_real(e->upper));
        bdml_json_put(&o, "gap", json_real(bdml_evidence_gap(e)));
    }
    if (rounding) bdml_json_put(&o, "stopped_by", json_string("rounding"));
    if (e->claim == BDML_CLAIM_OPTIMAL) json_object_del(o, "stopped_by");
    if (help[0]) bdml_json_put(&o, "help", json_string(help));
    return tell(h, model, "certificate", o);
}

bdml_status bdml_describe_unproven(bdml_handle *h, bdml_model *model)
{
    static const char *const ends[] = {"lower", "upper", "gap"};
    json_t *o = json_incref(part_of(h, model, "certificate"));
    json_t *upper = json_object_get(o, "upper"); /* approximate: none, the objective stands there */
    if (upper) bdml_json_put(&o, "objective", json_incref(upper));
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) json_object_del(o, ends[k]);
    bdml_json_put(&o, "status", json_string("unproven"));
    bdml_json_put(&o, "stopped_by", json_string("time"));
    return tell(h, model, "certificate", o);
}

bdml_status bdml_describe_claim(bdml_handle *h, const bdml_solved *s, bdml_model *model)
{
    const bdml_solve_result *r = s->result;
    BDML_TRY(tell(h, model, "certificate", certificate(s, model->evidence)));
    if (r->history.count > 0) BDML_TRY(tell(h, model, "history", history_json(r)));
    return tell(h, model, "times", json_pack("{s:f}", "solve", r->seconds));
}

/* ---- selection -------------------------------------------------------------------------------------------- */

/* What it is. */
static json_t *choice_json(const bdml_plan *p, bdml_candidate c)
{
    json_t *o = json_object();
    bdml_json_put(&o, "reference", json_string(bdml_reference_names[p->reference[c.reference]]));
    if (p->pairs) bdml_json_put(&o, "score", json_string(bdml_score_names[p->score[c.score]]));
    bdml_json_put(&o, "passes", json_integer(bdml_candidate_again(p, c) + 1));
    bdml_json_put(&o, "weight", json_real(p->effort[c.effort].weight));
    bdml_json_put(&o, "distortion", json_real(p->cap[c.cap]));
    return o;
}

/* And what it scored. */
static json_t *candidate_json(const bdml_plan *p, const bdml_selection *s, int number)
{
    json_t *o = choice_json(p, bdml_candidate_at(p, number));
    bdml_json_put(&o, "error", bdml_json_real(s->mean[number]));
    bdml_json_put(&o, "standard_error", bdml_json_real(s->se[number]));
    bdml_json_put(&o, "folds", json_integer(s->parts[number]));
    return o;
}

/* Whether the best that was tried is better than the space as it is, by the classes left out. */
static json_t *evidence_json(const bdml_plan *p, const bdml_selection *s)
{
    json_t *o = candidate_json(p, s, s->best);
    bdml_json_put(&o, "difference", bdml_json_real(s->gain));
    bdml_json_put(&o, "standard_error", bdml_json_real(s->gain_error));
    bdml_json_put(&o, "standard_error_over", json_string(p->groups > 0 ? "classes" : "folds"));
    bdml_json_put(&o, "standard_errors_asked", json_real(p->slack));
    bdml_json_put(&o, "kept", json_boolean(s->chosen == s->untouched));
    return o;
}

/* "passes": what is chosen is what was fitted last; those tried are as the parts had them. */
static void put_choice(const bdml_plan *p, bdml_candidate c, int votes, json_t **o)
{
    bdml_json_put(o, "passes", json_integer(1 + bdml_last_again(p, c)));
    if (votes > 0) bdml_json_put(o, "neighbors", json_integer(votes));
    if (p->unseen)
        bdml_json_put(o, "task", bdml_json_word(BDML_WORDS(TASK), p->o->train.task.value));
}

bdml_status bdml_describe_selection(bdml_handle *h, const bdml_plan *plan, const bdml_selection *s,
                                    bdml_model *model)
{
    json_t *o = candidate_json(plan, s, s->chosen), *alone = json_array(), *tried = json_array();
    put_choice(plan, bdml_candidate_at(plan, s->chosen), s->votes, &o);
    for (int r = 0; r < s->alone; r++)
        bdml_json_push(&alone,
                       json_pack("{s:s, s:o, s:i}", "reference",
                                 bdml_reference_names[s->alone_kind[r]], "error",
                                 bdml_json_real(s->alone_error[r]), "folds", s->alone_parts[r]));
    for (int k = 0; k < s->candidates; k++)
        if (!isnan(s->mean[k])) bdml_json_push(&tried, candidate_json(plan, s, k));
    if (s->alone > 0)
        bdml_json_put(&o, "references", alone);
    else
        json_decref(alone);
    bdml_json_put(&o, "tried", tried);
    if (plan->unseen && s->untouched >= 0 && s->best >= 0)
        bdml_json_put(&o, "best_versus_untouched", evidence_json(plan, s));
    if (s->late) bdml_json_put(&o, "stopped_by", json_string("time"));
    return tell(h, model, "selection", o);
}

bdml_status bdml_describe_taken(bdml_handle *h, const bdml_plan *plan, bdml_candidate c, int votes,
                                bdml_model *model)
{
    json_t *o = choice_json(plan, c);
    put_choice(plan, c, votes, &o);
    bdml_json_put(&o, "by", json_string("warm"));
    return tell(h, model, "selection", o);
}

bdml_status bdml_describe_cut(bdml_handle *h, int done, int wanted, bdml_model *model)
{
    bdml_log(
        h, BDML_LOG_WARNING,
        "there was no time to look for the neighbours of pass %d: the metric is that of %d of %d "
        "passes",
        done + 1, done, wanted);
    return bdml_model_tell(h, model, "passes_done", json_integer(done));
}

bdml_status bdml_describe_warm(bdml_handle *h, bdml_model *model)
{
    char fingerprint[24];
    bdml_warm_fingerprint(h->warm, fingerprint);
    return tell(h, model, "warm",
                json_pack("{s:s, s:I}", "model", fingerprint, "multipliers",
                          (json_int_t)h->warm->kept));
}

bdml_status bdml_describe_auto(bdml_handle *h, const bdml_options *asked,
                               const bdml_options *chosen, const char *method, bdml_model *model)
{
    const bdml_tuning *tuned = bdml_tuning_asked(asked, method);
    bool scale = asked->prepare.scale.value == BDML_SCALE_AUTO ||
                 asked->prepare.scale.value != chosen->prepare.scale.value;
    bool votes = asked->neighbors.neighbors.automatic && !chosen->neighbors.neighbors.automatic;
    if (!scale && !tuned && !votes) return BDML_OK;
    json_t *o = json_incref(part_of(h, model, "selection"));
    if (scale)
        bdml_json_put(&o, "scale", bdml_json_word(BDML_WORDS(SCALE), chosen->prepare.scale.value));
    if (tuned)
        bdml_json_put(&o, bdml_option_at((int)tuned->option)->name,
                      json_real(bdml_options_number(chosen, tuned->option)));
    if (votes) bdml_json_put(&o, "neighbors", json_integer(chosen->neighbors.neighbors.value));
    return tell(h, model, "selection", o);
}

/* ---- low rank --------------------------------------------------------------------------------------------- */

/* rho_sdp <= rho_qp <= achieved for the Lambda of that turn; of the sample as drawn nu, zeta and omega, which are
 * gamma, epsilon and omega of Theorem 2. */
static json_t *relaxation_json(const bdml_relaxation_report *r)
{
    json_t *o = json_object();
    double none = r->improved ? 1.0 : NAN; /* no sample was taken */
    if (r->infeasible) {
        bdml_json_put(&o, "infeasible", json_true());
        return o;
    }
    bdml_json_put(&o, "sdp_lower", bdml_json_real(r->sdp_lower));
    bdml_json_put(&o, "sdp_upper", bdml_json_real(r->sdp_upper));
    bdml_json_put(&o, "sdp_upper_proven", json_boolean(r->exact));
    bdml_json_put(&o, "qp_achieved", bdml_json_real(r->achieved));
    bdml_json_put(&o, "improved", json_boolean(r->improved));
    bdml_json_put(&o, "start_ratio", bdml_json_real(r->start_objective / r->start_nu));
    bdml_json_put(&o, "ratio", bdml_json_real(r->objective / r->nu));
    bdml_json_put(&o, "nu", bdml_json_real(none * r->sample_nu));
    bdml_json_put(&o, "zeta", bdml_json_real(none * r->zeta));
    bdml_json_put(&o, "omega", bdml_json_real(none * r->omega));
    bdml_json_put(&o, "average_nu", bdml_json_real(r->average_nu));
    bdml_json_put(&o, "average_orthogonality", bdml_json_real(r->orthogonality));
    bdml_json_put(&o, "covariance_rank", json_integer(r->rank));
    bdml_json_put(&o, "rounds", json_integer(r->rounds));
    bdml_json_put(&o, "samples", json_integer(r->samples));
    return o;
}

static void put_report(json_t **o, const bdml_lowrank_report *r)
{
    bdml_json_put(o, "turns", json_integer(r->turns));
    bdml_json_put(o, "dimensions_searched", json_integer(r->span));
    bdml_json_put(o, "start", bdml_json_real(r->start));
    bdml_json_put(o, "achieved", bdml_json_real(r->achieved));
    bdml_json_put(o, "joint_lower", bdml_json_real(r->lower));
    if (isfinite(r->lower_q)) {
        bdml_json_put(o, "q_lower", json_real(r->lower_q));
        bdml_json_put(o, "q_upper", json_real(r->upper_q));
    }
    if (r->relaxed) bdml_json_put(o, "relaxation", relaxation_json(&r->relaxation));
    bdml_json_put(o, "searched_all_dimensions", json_boolean(r->whole));
    if (r->infeasible)
        bdml_json_put(o, r->whole ? "infeasible_for_every_q" : "infeasible_where_searched",
                      json_true());
}

bdml_status bdml_describe_rank(bdml_handle *h, const bdml_lowrank_settings *s, const char *start,
                               const bdml_lowrank_report *r, double kappa, bdml_model *model)
{
    json_t *o = json_object();
    bdml_json_put(&o, "rank", json_integer(s->q));
    bdml_json_put(&o, "lambda", json_string(s->full ? "full" : "diagonal"));
    bdml_json_put(&o, "q_step", bdml_json_word(BDML_WORDS(Q_STEP), (int)s->step));
    bdml_json_put(&o, "q_start", bdml_json_text(start));
    if (isfinite(kappa)) bdml_json_put(&o, "kappa_on_range", json_real(kappa));
    if (r) put_report(&o, r);
    return tell(h, model, "low_rank", o);
}

/* ---- training --------------------------------------------------------------------------------------------- */

/* Settings that say how to compute, not what: models that differ in these alone are the same (but for an approximate search). */
static bool is_means(int option)
{
    return option == BDML_OPT_THREADS || option == BDML_OPT_MEMORY || option == BDML_OPT_SEARCH ||
           option == BDML_OPT_CANDIDATES || option == BDML_OPT_CHECKPOINT ||
           option == BDML_OPT_EVERY || option == BDML_OPT_RESUME || option == BDML_OPT_JOBS ||
           option == BDML_OPT_LEVEL || option == BDML_OPT_MAPPING;
}

/* Settings whose default is not what stands where nothing is set: that they were set is kept. */
static bool counts_when_given(const bdml_options *o, int option)
{
    return (option == BDML_OPT_SHRINKAGE || option == BDML_OPT_GAP || option == BDML_OPT_SCALE) &&
           bdml_options_given(o, (bdml_opt)option);
}

json_t *bdml_settings_json(const bdml_handle *h, const bdml_options *o)
{
    json_t *settings = json_object();
    char room[BDML_SAID_SIZE];
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *row = bdml_option_at(i);
        const char *text = bdml_option_said(h, o, i, room);
        bool means = is_means(i) && !(i == BDML_OPT_SEARCH &&
                                      o->neighbors.search.value == BDML_SEARCH_APPROXIMATE);
        if ((strcmp(text, row->default_value) != 0 || counts_when_given(o, i)) && !means)
            bdml_json_put(&settings, row->name, bdml_json_text(text));
    }
    return settings;
}

bdml_status bdml_describe_training(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                   const bdml_dataset *data, double seconds, bdml_model *model)
{
    char fingerprint[24];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, bdml_dataset_fingerprint(data));
    BDML_TRY(tell(h, model, "method", json_string(method->name)));
    BDML_TRY(tell(h, model, "settings", bdml_settings_json(h, o)));
    BDML_TRY(tell(h, model, "data_fingerprint", json_string(fingerprint)));
    BDML_TRY(tell(h, model, "training_points", json_integer(data->n)));
    json_t *times = json_incref(part_of(h, model, "times"));
    bdml_json_put(&times, "fit", json_real(seconds));
    BDML_TRY(tell(h, model, "times", times));
    BDML_TRY(bdml_model_tell_spread(h, model, data));
    if (data->label_name)
        BDML_TRY(tell(h, model, "label_column", bdml_json_text(data->label_name)));
    return data->source ? tell(h, model, "data", bdml_json_text(data->source)) : BDML_OK;
}
