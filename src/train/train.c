/* train.c - from a data set to a model: prepare, fit, keep the mapped points for k-NN, and write down
 * what was done. */
#include "train/checkpoint.h"
#include "train/describe.h"
#include "train/warm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

/* Of the time left: iterations end with the best so far, the rest is for a proof and for what follows. */
static const double SOLVE_BY = 0.7, FIT_BY = 0.93, PROVE_BY = 0.9;

static bdml_status check_data(bdml_handle *h, const bdml_dataset *data)
{
    if (data->n < 2)
        return bdml_fail(h, BDML_ERR_DATA,
                         "training needs at least 2 points, the data have %" PRId64, data->n);
    return BDML_OK;
}

/* A pairs-file alone is read as pairs, whatever the kind; its folds are kept together as groups. */
static bdml_status read_pairs(bdml_handle *h, const char *path, int64_t n, bdml_constraints **out)
{
    bdml_labelled_pairs pairs;
    *out = NULL;
    BDML_TRY(bdml_labelled_read(h, path, n, true, &pairs));
    bdml_status status = bdml_labelled_constraints(h, n, &pairs, out);
    bdml_labelled_free(&pairs);
    if (status != BDML_OK) return bdml_fail_context(h, status, "%s", path);
    bdml_check_report(h, *out);
    return BDML_OK;
}

/* The prepared rows: those of the data where there is nothing to prepare, else *own. Floats are widened some at a time by who
 * can (`streams`), and once for all for others. */
static bdml_status prepare_rows(bdml_handle *h, const bdml_prepare *p, const bdml_dataset *data,
                                bool streams, bdml_rows *rows, double **own)
{
    bdml_status status = BDML_OK;
    bool same = bdml_prepare_is_identity(p);
    *rows = bdml_dataset_view(data);
    if (same && (!rows->made || streams)) return BDML_OK;
    BDML_NEW(h, *own, (size_t)rows->n * (size_t)p->d_out);
    if (same)
        bdml_rows_copy(rows, rows->n, NULL, 0, *own);
    else
        BDML_GO(bdml_prepare_all(h, p, rows, *own));
    rows->d = p->d_out;
    rows->ld = p->d_out;
    rows->x = *own;
    rows->made = NULL;
done:
    return status;
}

/* Where the constraints of a claim come from, for those who check it. */
static bdml_status tell_origin(bdml_handle *h, const bdml_options *o, bool given, bdml_model *model)
{
    const char *origin = given                                          ? "given"
                         : bdml_relevant_file_alone(&o->constraints)    ? "relevant"
                         : bdml_constraint_files_given(&o->constraints) ? "files"
                                                                        : "mined";
    if (!model->evidence) return BDML_OK;
    return bdml_model_tell(h, model, "constraints", json_string(origin));
}

bdml_status bdml_fit_within(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                            const bdml_training *t, bdml_model *model)
{
    char what[128], bytes[BDML_BYTES_SIZE];
    double before;
    bdml_need need = method->need(h, o, t);
    snprintf(what, sizeof what, "method %s on %" PRId64 " rows of %d columns", method->name,
             bdml_training_held(t), t->d);
    BDML_TRY(bdml_memory_take(h, &need, what, bdml_training_held(t), &before));
    bdml_log(h, BDML_LOG_INFO, "%s takes about %s of memory beside the data", what,
             bdml_bytes_text(h->memory_estimate, bytes));
    bdml_status status = method->fit(h, o, t, model);
    bdml_memory_release(h, before);
    return status;
}

/* Whether an iterative method got anywhere. */
static bool has_steps(const bdml_model *model)
{
    const json_t *steps = json_object_get(json_object_get(model->info, "stopping"), "iterations");
    return !json_is_integer(steps) || json_integer_value(steps) > 0;
}

/* proves: the claim is proven after that (train_with), for which there must be memory too. */
static bdml_status train(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                         const bdml_dataset *data, const bdml_constraints *given,
                         const bdml_domain *target, bool proves, bdml_model **out)
{
    bdml_status status = BDML_OK;
    bdml_prepare prepare = {0};
    bdml_model *model = NULL;
    bdml_constraints *pairs = NULL;
    bdml_rows rows;
    double *own = NULL, start = bdml_now();
    bool by_caller = given != NULL;

    BDML_GO(check_data(h, data));
    if (!given && bdml_pairs_file_alone(&o->constraints)) {
        BDML_GO(read_pairs(h, o->constraints.pairs_file.value, data->n, &pairs));
        given = pairs;
    }
    BDML_GO(bdml_dataset_check_size(h, &o->prepare, data));
    BDML_GO(bdml_prepare_fit(h, o, data, &prepare));
    bool streams = method->fit == bdml_fit_bdml && !given && !target && bdml_plan_streams(h, o);
    BDML_GO(prepare_rows(h, &prepare, data, streams, &rows, &own));
    int d = prepare.d_out;
    if (h->warm) BDML_GO(bdml_warm_prepared(h, &prepare));
    BDML_GO(bdml_model_new(h, data, &prepare, d, &model));
    bdml_training t = {data->n, d,      rows.x,     data->y,  data->classes,
                       given,   target, data->over, rows.made};
    if (proves && method->fit == bdml_fit_bdml) BDML_GO(bdml_proof_fits(h, o, &t));
    h->stop_by = bdml_time_share(h, method->fit == bdml_fit_bdml ? SOLVE_BY : FIT_BY);
    BDML_GO(bdml_fit_within(h, o, method, &t, model));
    if (bdml_time_is_up(h))
        bdml_log(h, BDML_LOG_WARNING, "the time limit ended method %s with %s", method->name,
                 has_steps(model) ? "the best so far"
                                  : "what it starts from: there was no time for a first step");
    bdml_deadline_lift(h);
    bdml_yes_no_auto keep = (bdml_yes_no_auto)o->train.keep_points.value;
    if (!target)
        BDML_GO(bdml_model_keep_points(h, keep, model, data->over, data->n, &rows, data->y));
    if (given) BDML_GO(bdml_calibrate(h, data, given, model));
done:
    bdml_free_constraints(pairs);
    free(own);
    bdml_prepare_free(&prepare);
    bool told = model && (status == BDML_OK || status == BDML_ERR_INFEASIBLE);
    if (told && (bdml_describe_training(h, o, method, data, bdml_now() - start, model) != BDML_OK ||
                 tell_origin(h, o, by_caller, model) != BDML_OK))
        status = BDML_ERR_MEMORY;
    if (status == BDML_OK || status == BDML_ERR_INFEASIBLE)
        *out = model; /* infeasible: a model without a map, the proof */
    else
        bdml_free_model(model);
    return status;
}

/* Said before anything takes long: what would be much shorter. */
static void tell_wide(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                      const bdml_dataset *data, bool given)
{
    if (method->fit != bdml_fit_bdml || !data->y ||
        !bdml_plan_is_wide(o, given, bdml_spread_total(data->over, data->n), data->d))
        return;
    bdml_log(h, BDML_LOG_WARNING,
             "learning in all %d columns takes long; --pca auto learns in the "
             "leading components that hold 0.9 of the variance, --pca 0 says that all are meant",
             data->d);
}

/* Settle scale, main parameter and neighbors, as far as they are open, and train with them. The number of neighbours is
 * said by the choice alone: the setting stays auto. */
static bdml_status settle_and_train(bdml_handle *h, const bdml_options *o,
                                    const bdml_method *method, const bdml_dataset *data,
                                    const bdml_constraints *given, bool proves, bdml_model **out)
{
    bdml_options chosen = *o, own;
    tell_wide(h, o, method, data, given != NULL);
    if (bdml_auto_wanted(o)) BDML_TRY(bdml_auto_choose(h, &chosen, method, data, given));
    BDML_TRY(bdml_lengths_choose(h, o, method, data, given, &chosen));
    own = chosen;
    own.neighbors = o->neighbors;
    bdml_status status = train(h, &own, method, data, given, NULL, proves, out);
    if (status == BDML_OK) status = bdml_describe_auto(h, o, &chosen, method->name, *out);
    if (status == BDML_OK || status == BDML_ERR_INFEASIBLE) return status;
    bdml_free_model(*out);
    *out = NULL;
    return status;
}

/* Methods for two domains, and those that are no metric, have nothing to train here. */
static bdml_status check_method(bdml_handle *h, const bdml_method *method)
{
    if (!(method->uses & BDML_USES_DOMAINS) && method->fit) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "method %s learns from two domains%s: use it in 'bdml adapt'", method->name,
                     method->fit ? "" : " and is a classifier, not a metric");
}

/* What is given to learn from must be of a kind that the method knows. */
static bdml_status check_given(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                               const bdml_constraints *given)
{
    bool quadruplets = given ? bdml_constraints_are_quadruplets(given)
                             : o->constraints.quadruplets_file.value[0] != '\0';
    if (!quadruplets || method->uses & BDML_USES_QUADRUPLETS) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "method %s does not learn from quadruplets; method lsml does", method->name);
}

static bdml_status train_checked(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                                 const bdml_dataset *data, const bdml_constraints *constraints,
                                 bool proves, bdml_model **out)
{
    *out = NULL;
    BDML_TRY(check_method(h, method));
    BDML_TRY(check_given(h, o, method, constraints));
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    bdml_status status = settle_and_train(h, o, method, data, constraints, proves, out);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}

bdml_status bdml_train_method(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                              const bdml_dataset *data, const bdml_constraints *constraints,
                              bdml_model **out)
{
    return train_checked(h, o, method, data, constraints, false, out);
}

bdml_status bdml_train_adapted(bdml_handle *h, const bdml_options *o, const bdml_method *method,
                               const bdml_dataset *data, const bdml_domain *target,
                               bdml_model **out)
{
    *out = NULL;
    BDML_TRY(bdml_la_enter(h));
    bdml_phase previous = bdml_phase_enter(h, BDML_PHASE_SOLVE);
    bdml_status status = train(h, o, method, data, NULL, target, false, out);
    bdml_phase_leave(h, previous);
    bdml_la_leave(h);
    return status;
}

static bool learns_from_classes(const bdml_options *o, const bdml_method *method,
                                const bdml_constraints *constraints)
{
    return (method->uses & BDML_USES_LABELS) && !(method->uses & BDML_USES_NOTHING) &&
           !constraints && !bdml_constraint_files_given(&o->constraints);
}

/* Only what can be taken up again is kept: the certified engine, and the choices before it. Who asks for more is told before hours
 * are spent. */
static void warn_of_no_checkpoint(bdml_handle *h, const bdml_options *o, const bdml_method *method)
{
    bool engine = o->solve.solver.value == BDML_SOLVER_ENGINE;
    if (!o->train.checkpoint.value[0] || (method->fit == bdml_fit_bdml && engine)) return;
    bdml_log(h, BDML_LOG_WARNING, "%s keeps no checkpoints: %s is not written",
             engine ? method->name : "this solver", o->train.checkpoint.value);
}

static bdml_status train_with(bdml_handle *h, const bdml_options *o, const bdml_dataset *data,
                              const bdml_constraints *constraints, bdml_model **out)
{
    const char *name = o->train.method.value;
    const bdml_method *method = bdml_method_find(h, name, strlen(name));
    *out = NULL;
    if (!method) return BDML_ERR_ARGUMENT;
    if (data->source && learns_from_classes(o, method, constraints))
        BDML_TRY(bdml_dataset_need_classes(h, data)); /* said in the words of the file */
    BDML_TRY(bdml_checkpoint_open(h, o, data));
    warn_of_no_checkpoint(h, o, method);
    double deadline = h->deadline;
    bdml_status status = train_checked(h, o, method, data, constraints, true, out);
    h->deadline = deadline;
    h->deadline = bdml_time_share(h, PROVE_BY);
    if (*out && (*out)->evidence) status = bdml_prove_claim(h, data, *out);
    bdml_deadline_lift(h);
    status = bdml_dataset_confirm(h, data, status, NULL);
    if (status != BDML_OK && status != BDML_ERR_INFEASIBLE) {
        bdml_free_model(*out);
        *out = NULL;
    }
    bdml_checkpoint_close(h, status);
    return status;
}

static bool takes_parts(const bdml_options *o)
{
    return strcmp(o->train.method.value, "bdml") == 0 && !bdml_auto_wanted(o) &&
           bdml_plan_spreads(o);
}

int bdml_train_takes_parts(const bdml_handle *h)
{
    return h && takes_parts(&h->options);
}

bdml_status bdml_train(bdml_handle *h, const bdml_dataset *data,
                       const bdml_constraints *constraints, bdml_model **out)
{
    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!data) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_train: data must not be NULL");
    if (!takes_parts(&h->options) || constraints)
        BDML_TRY(bdml_dataset_need_all(h, data, "this training"));
    int64_t votes = h->options.neighbors.neighbors.value;
    if (votes > data->n)
        bdml_log(h, BDML_LOG_WARNING, "neighbors asks for %lld votes of %lld points",
                 (long long)votes, (long long)data->n);
    if (constraints || h->options.train.warm.value[0] ||
        strcmp(h->options.train.method.value, "bdml") != 0 || bdml_auto_wanted(&h->options) ||
        bdml_constraint_files_given(&h->options.constraints))
        BDML_TRY(bdml_dataset_widen(h, data)); /* where rows are looked at in other ways too */
    bdml_options own = h->options;
    bool timed = bdml_deadline_begin(h, h->options.solve.time_limit.value);
    bdml_status status = bdml_warm_open(h, data, constraints, &own);
    if (status == BDML_OK) status = train_with(h, &own, data, constraints, out);
    bdml_warm_close(h);
    bdml_deadline_end(h, timed);
    return status;
}
