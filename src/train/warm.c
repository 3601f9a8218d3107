/* warm.c - the model to start from: does it fit, and what is taken over of its settings and choices.
 *
 * Settings that it was given are given, unless others are. What it chose stays a choice: the plan is the one that
 * cross-validation would choose from, so that weights and thresholds are those of that plan (docs/recipe.md). */
#include "train/warm.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- fits ------------------------------------------------------------------------------------------------- */

static const char *word_of(const json_t *o, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : otherwise;
}

/* What kind of knowledge the constraints are made of. */
static const char *origin_now(const bdml_options *o, const bdml_constraints *given)
{
    return given                                          ? "given"
           : bdml_relevant_file_alone(&o->constraints)    ? "relevant"
           : bdml_constraint_files_given(&o->constraints) ? "files"
                                                          : "mined";
}

static const char *origin_in_words(const char *origin)
{
    return strcmp(origin, "mined") == 0      ? "classes"
           : strcmp(origin, "relevant") == 0 ? "a relevant-file"
                                             : "given constraints";
}

static bdml_status check_method(bdml_handle *h, const bdml_options *o, const bdml_model *m)
{
    const char *method = word_of(m->info, "method", "unknown");
    if (strcmp(o->train.method.value, "bdml") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm is for method bdml; method %.40s has no warm start",
                         o->train.method.value);
    if (strcmp(method, "bdml") != 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the model is of method %.40s; only one of method bdml can be "
                         "started from",
                         method);
    if (!m->l)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the model is a proof that there is no metric: nothing to start "
                         "from");
    return BDML_OK;
}

static bdml_status check_data(bdml_handle *h, const bdml_dataset *data, const bdml_model *m)
{
    if (m->prepare.d_in != data->d)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the model is of %d features, the data have %d", m->prepare.d_in,
                         data->d);
    for (size_t k = 0; k < (size_t)m->q * (size_t)m->d; k++)
        if (!isfinite(m->l[k]))
            return bdml_fail(h, BDML_ERR_ARGUMENT, "warm: the map of the model is not finite");
    return BDML_OK;
}

/* After its settings were taken over. */
static bdml_status check_settings(bdml_handle *h, const bdml_options *o,
                                  const bdml_constraints *given, const bdml_model *m)
{
    const json_t *settings = json_object_get(m->info, "settings");
    const char *then = word_of(m->info, "constraints", "mined"), *now = origin_now(o, given);
    const char *task = word_of(settings, "task", "classify");
    bool classes = strcmp(then, "mined") == 0;

    if (o->train.task.value != bdml_choice_index(BDML_WORDS(TASK), task))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the model was learned for task %.40s, and its choices are those of "
                         "that task; leave task out, or train without warm",
                         task);
    if (classes != (strcmp(now, "mined") == 0) ||
        (strcmp(then, "relevant") == 0) != (strcmp(now, "relevant") == 0))
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the model was learned from %s, this training is from %s; give the "
                         "same kind, or train without warm",
                         origin_in_words(then), origin_in_words(now));
    if (o->rank.rank.value > 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: a metric of low rank (rank %lld) is learned from its own start "
                         "(q-start); leave out warm",
                         (long long)o->rank.rank.value);
    if (o->solve.solver.value != BDML_SOLVER_ENGINE)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "warm: the paper's solvers start from nothing; leave out solver or warm");
    return BDML_OK;
}

/* ---- settings --------------------------------------------------------------------------------------------- */

/* Settings of a model that say what is learned. Limits are those of a run, files are about its rows and are given anew. */
static bool is_taken(int i)
{
    static const char *const groups[] = {"general", "prepare", "constraints",
                                         "train",   "methods", "neighbors"};
    static const bdml_opt others[] = {BDML_OPT_THREADS,    BDML_OPT_MEMORY,     BDML_OPT_MAX_ITER,
                                      BDML_OPT_TIME_LIMIT, BDML_OPT_CHECKPOINT, BDML_OPT_EVERY,
                                      BDML_OPT_RESUME,     BDML_OPT_WARM,       BDML_OPT_SEARCH,
                                      BDML_OPT_CANDIDATES, BDML_OPT_JOBS};
    const bdml_option *o = bdml_option_at(i);
    bool in = false;
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
        in = in || strcmp(o->group, groups[k]) == 0;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) in = in && (int)others[k] != i;
    return in && !(o->metavar && strcmp(o->metavar, "FILE") == 0);
}

static bdml_status take_settings(bdml_handle *h, const bdml_model *m, bdml_options *o)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(m->info, "settings"), name, value)
    {
        const char *text = json_string_value(value);
        int i = bdml_option_named(name);
        if (i < 0 || !text)
            return bdml_fail(h, BDML_ERR_ARGUMENT, "warm: '%.40s' is no setting of a model", name);
        if (!is_taken(i) || bdml_options_given(o, (bdml_opt)i)) continue;
        if (i == BDML_OPT_REFERENCE && strcmp(text, "given") == 0)
            return bdml_fail(h, BDML_ERR_ARGUMENT,
                             "warm: the reference of the model is a map that a program gave; give "
                             "it again (bdml_set_reference)");
        bdml_status status = bdml_options_set(h, o, (bdml_opt)i, text);
        if (status != BDML_OK) return bdml_fail_context(h, status, "warm");
    }
    return BDML_OK;
}

/* ---- choices ---------------------------------------------------------------------------------------------- */

/* Somebody has said "auto" here and now. */
static bool is_asked_anew(const bdml_options *o)
{
    return (o->solve.distortion.given && o->solve.distortion.automatic) ||
           (o->solve.softness.given && o->solve.softness.automatic) ||
           (o->train.passes.given && o->train.passes.automatic) ||
           (o->train.reference.given && strcmp(o->train.reference.value, "auto") == 0);
}

/* The cap of the list that is it; one alone is what was given instead. */
static bool find_cap(const bdml_plan *p, const json_t *told, int *cap)
{
    for (*cap = 0; *cap < p->caps; ++*cap)
        if (p->caps == 1 || p->cap[*cap] == json_number_value(told)) return true;
    return false;
}

/* Likewise. More rows may have made another weight the hard one: what is heavier than the first is that. */
static bool find_effort(const bdml_plan *p, const json_t *told, int *effort)
{
    *effort = p->efforts > 1 && json_number_value(told) > p->effort[0].weight ? 1 : 0;
    return p->efforts == 1 || json_is_number(told);
}

static bool find_reference(const bdml_plan *p, const json_t *told, int *reference)
{
    const char *name = json_string_value(told);
    for (*reference = 0; *reference < p->references; ++*reference)
        if (p->references == 1 ||
            (name && strcmp(name, bdml_reference_names[p->reference[*reference]]) == 0))
            return true;
    return false;
}

static bool find_score(const bdml_plan *p, const json_t *told, int *score)
{
    const char *name = json_string_value(told);
    for (*score = 0; *score < p->scores; ++*score)
        if (p->scores == 1 || (name && strcmp(name, bdml_score_names[p->score[*score]]) == 0))
            return true;
    return false;
}

/* One of those that are offered; 0: the choice said nothing of them, or a file says what no training does. */
static int find_votes(const bdml_plan *p, const json_t *told)
{
    for (int v = 0; v < p->votes; v++)
        if (json_is_integer(told) && bdml_votes[v] == json_integer_value(told))
            return bdml_votes[v];
    return 0;
}

bool bdml_warm_choice(const bdml_warm *w, const bdml_plan *plan, bdml_candidate *at, int *votes)
{
    const json_t *chosen = json_object_get(w->model->info, "selection");
    *votes = find_votes(plan, json_object_get(chosen, "neighbors"));
    return w->chosen && find_cap(plan, json_object_get(chosen, "distortion"), &at->cap) &&
           find_effort(plan, json_object_get(chosen, "weight"), &at->effort) &&
           find_reference(plan, json_object_get(chosen, "reference"), &at->reference) &&
           find_score(plan, json_object_get(chosen, "score"), &at->score);
}

/* ---- open and close --------------------------------------------------------------------------------------- */

void bdml_warm_close(bdml_handle *h)
{
    bdml_warm *w = h->warm;
    h->warm = NULL;
    if (!w) return;
    bdml_free_model(w->own);
    free(w->map);
    free(w->row);
    free(w);
}

static bdml_status find_model(bdml_handle *h, const bdml_options *o, bdml_warm *w)
{
    const char *name = o->train.warm.value;
    if (strcmp(name, "given") != 0) {
        bdml_status status = bdml_load_model(h, name, &w->own);
        w->model = w->own;
        return status == BDML_OK ? BDML_OK : bdml_fail_context(h, status, "warm");
    }
    w->model = o->warm_model;
    if (w->model) return BDML_OK;
    return bdml_fail(h, BDML_ERR_ARGUMENT,
                     "warm = given, but no model was: bdml_set_warm gives one, or name a file");
}

bdml_status bdml_warm_open(bdml_handle *h, const bdml_dataset *data, const bdml_constraints *given,
                           bdml_options *o)
{
    bdml_status status = BDML_OK;
    bdml_warm *w = NULL;

    h->warm = NULL;
    if (!o->train.warm.value[0]) return BDML_OK;
    BDML_NEW(h, w, 1);
    h->warm = w;
    w->data = data;
    w->chosen = !is_asked_anew(o);
    BDML_GO(find_model(h, o, w));
    BDML_GO(check_method(h, o, w->model));
    BDML_GO(check_data(h, data, w->model));
    BDML_GO(take_settings(h, w->model, o));
    status = check_settings(h, o, given, w->model);
done:
    if (status != BDML_OK) bdml_warm_close(h);
    return status;
}

static uint64_t mix_doubles(uint64_t hash, size_t count, const double *a)
{
    uint64_t bits;
    for (size_t k = 0; k < count; k++) {
        memcpy(&bits, a + k, sizeof bits);
        hash = bdml_mix(hash, bits);
    }
    return hash;
}

void bdml_warm_fingerprint(const bdml_warm *w, char text[24])
{
    const bdml_model *m = w->model;
    const bdml_evidence *e = m->evidence;
    uint64_t hash = mix_doubles(0, (size_t)m->q * (size_t)m->d, m->l);
    if (e) hash = mix_doubles(hash, (size_t)e->duals, e->dual);
    snprintf(text, 24, "%016" PRIx64, hash);
}
