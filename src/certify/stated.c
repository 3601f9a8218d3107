/* stated.c - from the settings in a model's description to the problem that they state.
 *
 *     stated    one problem: hard, diagonal, a rule, a trace, a solver, constraints from elsewhere
 *     pairs     given pairs whose cap is left open: cap, reference and score by cross-validation
 *     paper     the paper's form: cap and weight by cross-validation, constraints by a rule
 *     recipe    anything else: reference, cap, weight and passes by cross-validation, unless they are set, by rows
 *               left out or (task retrieve) by classes left out
 *
 * What cross-validation chose stands under "selection". It is taken as if it had been set: that it was the best
 * choice is a matter of repeating the training. */
#include "certify/stated.h"

#include <stdlib.h>

/* Settings that say how to compute and name files to write: no model keeps them, and none that comes from a
 * file may reach a training. Only an approximate search is kept: other neighbours are found by it. */
static const bdml_opt means[] = {BDML_OPT_THREADS,    BDML_OPT_MEMORY, BDML_OPT_SEARCH,
                                 BDML_OPT_CANDIDATES, BDML_OPT_JOBS,   BDML_OPT_CHECKPOINT,
                                 BDML_OPT_EVERY,      BDML_OPT_RESUME, BDML_OPT_LEVEL,
                                 BDML_OPT_MAPPING};

/* The settings of the file on a handle of their own; NULL: no such settings, `why` says so. */
static bdml_handle *read_settings(const json_t *settings, char *why, size_t size)
{
    bdml_handle *own = NULL;
    const char *name;
    json_t *value;
    why[0] = '\0';
    if (!json_is_object(settings) || bdml_create(&own) != BDML_OK) {
        snprintf(why, size, "the model does not say with which settings it was trained");
        return NULL;
    }
    json_object_foreach((json_t *)settings, name, value)
    {
        const char *text = json_string_value(value);
        for (size_t k = 0; k < sizeof means / sizeof *means; k++)
            if (strcmp(name, bdml_option_at((int)means[k])->name) == 0 &&
                !(means[k] == BDML_OPT_SEARCH && text && strcmp(text, "approximate") == 0))
                text = NULL;
        if (!text)
            snprintf(why, size, "'%.40s' is no setting that a model keeps", name);
        else if (bdml_set(own, name, text) != BDML_OK)
            snprintf(why, size, "%s", bdml_last_error(own));
        if (!why[0]) continue;
        bdml_free(own);
        return NULL;
    }
    return own;
}

static bool one_problem(const bdml_options *o)
{
    return o->solve.solver.value != BDML_SOLVER_ENGINE || o->solve.hard.value ||
           o->solve.diagonal.value || o->constraints.rule.value != BDML_RULE_AUTO ||
           o->solve.trace.value > 0.0;
}

/* The paper's form, whose rule leaves cap and weight open. */
static bool papers_form(const bdml_options *o)
{
    return o->train.recipe.value == BDML_RECIPE_PAPER && !o->solve.hard.value &&
           o->solve.solver.value == BDML_SOLVER_ENGINE && !o->solve.diagonal.value &&
           !(o->solve.trace.value > 0.0);
}

static bool are_pairs(const bdml_constraints *c)
{
    for (int64_t t = 0; t < c->m; t++)
        if (c->near[t] >= 0) return false;
    return c->m > 0 && c->targets > 0;
}

/* False: the word is none, or not that of the settings. */
static bool find_origin(const bdml_model *m, const bdml_options *o, bdml_origin *out)
{
    const bdml_constraint_options *c = &o->constraints;
    const char *word = json_string_value(json_object_get(m->info, "constraints"));
    bool files = c->targets_file.value[0] || c->impostors_file.value[0] || c->pairs_file.value[0] ||
                 c->triplets_file.value[0];
    *out = BDML_ORIGIN_UNKNOWN;
    if (!json_object_get(m->info, "constraints")) return true;
    if (word && strcmp(word, "given") == 0)
        *out = BDML_ORIGIN_GIVEN;
    else if (word && !files && c->relevant_file.value[0] && strcmp(word, "relevant") == 0)
        *out = BDML_ORIGIN_RELEVANT;
    else if (word && files && strcmp(word, "files") == 0)
        *out = BDML_ORIGIN_FILES;
    else if (word && !files && strcmp(word, "mined") == 0)
        *out = one_problem(o) || papers_form(o) ? BDML_ORIGIN_RULE : BDML_ORIGIN_RECIPE;
    return *out != BDML_ORIGIN_UNKNOWN;
}

/* ---- choices ---------------------------------------------------------------------------------------- */

static bool offered(double v, int count, const double *list)
{
    for (int k = 0; k < count; k++)
        if (v == list[k]) return true;
    return false;
}

/* A number of the choice that is told: where it was left open (list), one of those that are offered; else *value. */
static bool choose(const json_t *selection, const char *key, const double *list, int count,
                   double *value)
{
    const json_t *told = json_object_get(selection, key);
    double v = json_number_value(told);
    if (!json_is_number(told) || (list ? !offered(v, count, list) : v != *value)) return false;
    *value = v;
    return true;
}

/* References by name, each with a space on either side. */
static const char OF_ROWS[] =
    " zscore within within-raw fisher fisher-5 fisher-100 fisher-1000 lda local local-60 none ",
                  OF_CLASSES[] = " none zscore within-raw shrunk-10 shrunk-30 shrunk-60 shrunk-90 ",
                  OF_PAIRS[] = " none within ";

static bool is_listed(const char *name, const char *list)
{
    size_t n = strlen(name);
    if (n == 0 || strchr(name, ' ')) return false;
    for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
        if (p > list && p[-1] == ' ' && p[n] == ' ') return true;
    return false;
}

/* Where the reference was left open it is the one that is told, of those on offer; else that is what was asked for. */
static bool choose_reference(const json_t *selection, const char *list, const char **name)
{
    const char *told = json_string_value(json_object_get(selection, "reference"));
    if (!told || (list && !is_listed(told, list))) return false;
    bool kind = is_listed(*name, OF_ROWS) || is_listed(*name, OF_CLASSES);
    if (!list) return strcmp(told, kind ? *name : "file") == 0;
    *name = told;
    return true;
}

/* What cross-validation chooses from where it is not set. */
typedef struct offer {
    int caps;               /* the first of the list of all caps */
    double weight[2];       /* 0: not chosen */
    double passes[2];       /* chosen too, each with a weight of its own; 0: not chosen */
    const char *references; /* likewise, or NULL */
} offer;
static const offer recipes = {5, {1.5, 20}, {1, 3}, OF_ROWS},
                   of_many_rows = {5, {1.5, 50}, {1, 3}, OF_ROWS},
                   of_classes = {3, {0, 0}, {0, 0}, OF_CLASSES},
                   papers = {6, {1.5, 5}, {0, 0}, NULL}, of_pairs = {6, {0, 0}, {0, 0}, OF_PAIRS};
enum { MANY_ROWS = 5000 }; /* more have an offer of their own */

/* False: cross-validation cannot have chosen that. */
static bool read_choices(const bdml_model *m, bdml_stated *s, const offer *from)
{
    static const double caps[] = {1, 3, 10, 30, 100, 1000};
    const bdml_options *o = s->o;
    const json_t *selection = json_object_get(m->info, "selection");
    bool K = o->solve.distortion.automatic;
    bool weight = from->weight[0] > 0.0 && o->solve.softness.automatic;
    bool again = from->passes[0] > 0.0 && o->train.passes.automatic,
         lowrank = o->rank.rank.value > 0;
    bool reference = from->references && strcmp(o->train.reference.value, "auto") == 0 && !lowrank;
    const char *references = reference ? from->references : NULL;
    double times = s->passes;

    s->chosen = json_object_get(selection, "distortion") != NULL;
    if (!s->chosen) return !K && !weight && !again && !reference; /* nothing was left open */
    bool fits = choose(selection, "distortion", K ? caps : NULL, from->caps, &s->K) &&
                choose(selection, "weight", weight ? from->weight : NULL, 2, &s->softness) &&
                choose(selection, "passes", again ? from->passes : NULL, 2, &times) &&
                (lowrank || choose_reference(selection, references, &s->reference));
    s->passes = (int)times;
    /* weight and passes are chosen together; the metric of K = 1 needs one pass whatever the weight */
    if (weight && again && s->K > 1.0)
        fits = fits && (s->softness == from->weight[0]) == (s->passes == 1);
    return fits;
}

/* ---- the problem -------------------------------------------------------------------------------------- */

static bool derive(const bdml_plain *w, bdml_stated *s)
{
    const bdml_options *o = s->o;
    const bdml_solve_options *v = &o->solve;
    bool paper = v->solver.value != BDML_SOLVER_ENGINE;
    bool alone = s->origin == BDML_ORIGIN_FILES && o->constraints.pairs_file.value[0] &&
                 !o->constraints.targets_file.value[0] && !o->constraints.impostors_file.value[0] &&
                 !o->constraints.triplets_file.value[0];
    bool open = v->distortion.automatic && !v->hard.value && o->rank.rank.value == 0 &&
                !v->diagonal.value && !(v->trace.value > 0.0) && !paper;
    bool recipe = s->origin == BDML_ORIGIN_RECIPE;

    s->reference =
        strcmp(o->train.reference.value, "auto") == 0 ? "none" : o->train.reference.value;
    s->K = v->distortion.value;
    s->softness = v->softness.value;
    s->passes = 1;
    s->threshold = BDML_THRESHOLD_CAP;
    s->pull = recipe ? BDML_PULL_WITHIN : BDML_PULL_TARGETS;
    s->hard = v->hard.value || paper;
    /* a fixed Q with a full Lambda is a problem like any other, on the points Qx */
    bool lambda = o->rank.lambda.value == BDML_LAMBDA_DIAGONAL;
    bool learned = o->rank.rank.value > 0 && (o->rank.q_step.value != BDML_Q_STEP_NONE || lambda);
    s->diagonal = learned ? lambda : v->diagonal.value;
    s->squared = v->loss.value == BDML_LOSS_SQUARED_HINGE;
    s->margin = v->margin.value;
    s->R = v->trace.value > 0.0 ? v->trace.value : INFINITY;
    s->gap = paper && !v->gap.given ? 1e-2 : v->gap.value;
    s->given = alone || s->origin == BDML_ORIGIN_GIVEN || s->origin == BDML_ORIGIN_RELEVANT;
    if (s->given && are_pairs(w->c) && open) {
        s->pairs = true;
        s->threshold = BDML_THRESHOLD_ALIKE;
        if (v->softness.automatic) s->softness = 1.5;
        return read_choices(w->model, s, &of_pairs);
    }
    if (s->origin == BDML_ORIGIN_RULE && !s->diagonal) s->passes = (int)o->train.passes.value;
    if (s->origin == BDML_ORIGIN_RULE && papers_form(o)) {
        s->threshold = BDML_THRESHOLD_ALIKE;
        return read_choices(w->model, s, &papers);
    }
    if (!recipe) return true;
    s->threshold = BDML_THRESHOLD_IDENTITY;
    s->passes = (int)o->train.passes.value;
    if (o->train.task.value == BDML_TASK_CLASSIFY)
        return read_choices(w->model, s, w->n > MANY_ROWS ? &of_many_rows : &recipes);
    if (v->softness.automatic) s->softness = 1.5;
    return read_choices(w->model, s, &of_classes);
}

bdml_status bdml_stated_open(bdml_handle *h, bdml_plain *w, bdml_stated *s)
{
    const json_t *info = w->model->info;
    const char *method = json_string_value(json_object_get(info, "method"));
    char why[200];

    (void)h;
    *s = (bdml_stated){0};
    s->own = read_settings(json_object_get(info, "settings"), why, sizeof why);
    if (s->own && (!method || strcmp(method, "bdml") != 0)) {
        snprintf(why, sizeof why, "method '%.40s' proves nothing", method ? method : "unknown");
        bdml_stated_close(s);
    }
    if (!s->own) {
        bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "settings", "", false, "%s", why);
        return BDML_OK;
    }
    s->o = &s->own->options;
    bool found = find_origin(w->model, s->o, &s->origin);
    if (found && derive(w, s)) return BDML_OK;
    bdml_verdict_note(w->v, BDML_LEVEL_PROBLEM, "settings", "", false,
                      found
                          ? "what was left open is not chosen, or none of what is offered"
                          : "where the constraints are said to come from contradicts the settings");
    bdml_stated_close(s);
    return BDML_OK;
}

void bdml_stated_close(bdml_stated *s)
{
    bdml_free(s->own);
    s->own = NULL;
}
