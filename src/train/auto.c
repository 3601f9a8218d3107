/* auto.c - scale, main parameter and number of neighbours by cross-validation inside the training data, for any
 * method (settings scale = auto, tune = yes, neighbors = auto).
 *
 * Stratified folds; per fold, scale and value of the parameter the method is fitted once on the rows of the fold and
 * every number of neighbours votes on the rows left out. The choice with the fewest errors is taken; of equals, the
 * scale that stands first, then the value, then the fewest neighbours. Method bdml chooses its own scale with the
 * reference, and its own number of neighbours (select.c): the points are left to it as they are. */
#include "train/train.h"

#include <stdlib.h>

#include "neighbors/neighbors.h"
#include "train/plan.h"
#include "train/tuning.h"

static const double TIME = 0.3; /* of what is left; training itself takes the rest */
enum { FOLDS_SMALL = 5, FOLDS_LARGE = 3, FEW = 500, SCALES = 3, VOTES = 8, MOST_VOTES = 21 };
static const bdml_scaling scales[SCALES] = {BDML_SCALE_NONE, BDML_SCALE_ZSCORE, BDML_SCALE_MINMAX};
static const int votes[VOTES] = {1, 3, 5, 7, 9, 11, 15, MOST_VOTES};

/* What the jobs share: the candidates, and the errors of each. */
typedef struct search {
    const bdml_options *o;
    const bdml_method *method;
    const bdml_dataset *data;
    bool given; /* constraints are */
    int folds, scales, values, votes;
    const bdml_tuning *tuning; /* or NULL: one value, which stands */
    bdml_scaling scale[SCALES];
    int vote[VOTES];
    int32_t *fold;
    int64_t *wrong; /* per fold, scale, value and vote; -1: could not be fitted */
    bool *finished; /* per fold, scale and value */
    int64_t refused;
    char why[BDML_ERROR_SIZE]; /* the first job that could not */
} search;

/* Where nothing is said, a method that does not choose the number itself has 3. */
static bool votes_asked(const bdml_options *o)
{
    return o->neighbors.neighbors.given && o->neighbors.neighbors.automatic;
}

bool bdml_auto_wanted(const bdml_options *o)
{
    return o->prepare.scale.value == BDML_SCALE_AUTO || votes_asked(o) || o->train.tune.value;
}

static void list_candidates(search *s)
{
    const bdml_options *o = s->o;
    bool own = s->method->fit == bdml_fit_bdml && !bdml_plan_is_stated(o) &&
               o->train.recipe.value == BDML_RECIPE_DEFAULT;
    bool own_votes = own && bdml_plan_chooses_votes(o, s->given);
    s->tuning = bdml_tuning_asked(o, s->method->name);
    s->values = s->tuning ? s->tuning->count : 1;
    s->scales = s->votes = 1;
    s->scale[0] = (bdml_scaling)o->prepare.scale.value;
    s->vote[0] = (int)o->neighbors.neighbors.value;
    if (o->prepare.scale.value == BDML_SCALE_AUTO) {
        s->scales = own ? 1 : SCALES;
        memcpy(s->scale, scales, sizeof scales);
    }
    if (votes_asked(o) && !own_votes) {
        s->votes = VOTES;
        memcpy(s->vote, votes, sizeof votes);
    }
}

/* The settings of candidate fit number k: the scale, then the value. */
static bdml_options settings_of(const search *s, int k)
{
    bdml_options o = *s->o;
    o.prepare.scale.value = s->scale[k / s->values];
    if (s->tuning) bdml_options_put(&o, s->tuning->option, s->tuning->value[k % s->values]);
    o.train.tune.value = false;
    return o;
}

/* ---- one fold ---------------------------------------------------------------------------------------- */

/* wrong[v]: errors of the model on the rows of `test` when vote[v] rows of `train` vote. */
static bdml_status count_wrong(bdml_handle *h, const search *s, const bdml_model *model,
                               const bdml_dataset *train, const bdml_dataset *test, int64_t *wrong)
{
    bdml_status status = BDML_OK;
    int q = model->q;
    double *z = NULL, *vz = NULL;

    BDML_NEW(h, z, (size_t)train->n * (size_t)q);
    BDML_NEW(h, vz, (size_t)test->n * (size_t)q);
    BDML_GO(bdml_transform(h, model, train->n, train->x, train->d, z));
    BDML_GO(bdml_transform(h, model, test->n, test->x, test->d, vz));
    const bdml_rows learn = {train->n, q, q, z, train->y, train->classes, NULL};
    const bdml_rows left_out = {test->n, q, q, vz, test->y, test->classes, NULL};
    status = bdml_vote_errors(h, &s->o->neighbors, &learn, &left_out, s->votes, s->vote, wrong);
done:
    free(z);
    free(vz);
    return status;
}

static bdml_status split_fold(bdml_handle *h, const search *s, int left_out, bdml_dataset **train,
                              bdml_dataset **test)
{
    bdml_status status = BDML_OK;
    int64_t *row = NULL, a = 0, b = s->data->n;
    BDML_NEW(h, row, s->data->n);
    for (int64_t i = 0; i < s->data->n; i++)
        if (s->fold[i] == left_out)
            row[--b] = i;
        else
            row[a++] = i;
    BDML_GO(bdml_dataset_subset(h, s->data, a, row, train));
    BDML_GO(bdml_dataset_subset(h, s->data, s->data->n - a, row + a, test));
done:
    free(row);
    return status;
}

static void note_refusal(const bdml_handle *own, int64_t job, search *s)
{
#pragma omp critical(bdml_auto_refused)
    if (job < s->refused) {
        s->refused = job;
        snprintf(s->why, sizeof s->why, "%s", bdml_last_error(own));
    }
}

static bdml_status run_job(bdml_handle *own, void *user, int64_t job)
{
    bdml_status status = BDML_OK;
    search *s = user;
    int64_t *wrong = s->wrong + job * s->votes;
    bdml_dataset *train = NULL, *test = NULL;
    bdml_model *model = NULL;
    int fits = s->scales * s->values;
    bdml_options o = settings_of(s, (int)(job % fits));

    o.neighbors.neighbors.automatic = false;
    BDML_GO(split_fold(own, s, (int)(job / fits), &train, &test));
    status = bdml_train_method(own, &o, s->method, train, NULL, &model);
    if (status == BDML_OK) status = bdml_jobs_check(own);
    if (status == BDML_ERR_DATA || status == BDML_ERR_INFEASIBLE || status == BDML_ERR_LAPACK) {
        note_refusal(own, job, s);
        status = BDML_OK;
        goto done;
    }
    if (status != BDML_OK) goto done;
    status = count_wrong(own, s, model, train, test, wrong);
done:
    bdml_free_model(model);
    bdml_free_dataset(train);
    bdml_free_dataset(test);
    return status;
}

/* ---- choice ------------------------------------------------------------------------------------------- */

/* Folds that were not finished in time count for nobody. */
static bool is_whole(const search *s, int fold)
{
    int fits = s->scales * s->values;
    for (int fit = 0; fit < fits; fit++)
        if (!s->finished[fold * fits + fit]) return false;
    return true;
}

/* Errors of a candidate over all folds, or -1: some fold could not be fitted. */
static int64_t wrong_of(const search *s, int fit, int vote)
{
    int64_t sum = 0;
    for (int f = 0; f < s->folds; f++) {
        if (!is_whole(s, f)) continue;
        int64_t wrong = s->wrong[(f * s->scales * s->values + fit) * s->votes + vote];
        if (wrong < 0) return -1;
        sum += wrong;
    }
    return sum;
}

static bool find_best(const search *s, bdml_options *o)
{
    int64_t least = -1;
    for (int fit = 0; fit < s->scales * s->values; fit++)
        for (int vote = 0; vote < s->votes; vote++) {
            int64_t wrong = wrong_of(s, fit, vote);
            if (wrong < 0 || (least >= 0 && wrong >= least)) continue;
            least = wrong;
            *o = settings_of(s, fit);
            o->neighbors.neighbors.value = s->vote[vote];
            if (s->votes > 1) o->neighbors.neighbors.automatic = false;
        }
    return least >= 0;
}

static void say_late(bdml_handle *h, const search *s)
{
    int folds = 0;
    for (int f = 0; f < s->folds; f++) folds += is_whole(s, f);
    bdml_log(h, BDML_LOG_WARNING,
             "the time limit cut the choice of settings short: %d of %d folds made it%s", folds,
             s->folds, folds == 0 ? ", the first of each stands" : "");
}

static bdml_status cross_validate(bdml_handle *h, search *s, bdml_options *o)
{
    bdml_status status = BDML_OK;
    int jobs;
    bool late = false;

    s->folds = (int)BDML_MIN(s->data->n, s->data->n <= FEW ? FOLDS_SMALL : FOLDS_LARGE);
    s->refused = jobs = s->folds * s->scales * s->values;
    BDML_NEW(h, s->fold, s->data->n);
    BDML_NEW(h, s->wrong, jobs * s->votes);
    BDML_NEW(h, s->finished, jobs);
    for (int i = 0; i < jobs * s->votes; i++) s->wrong[i] = -1;
    BDML_GO(bdml_split_folds(h, s->data->n, s->data->y, s->folds, (uint64_t)o->general.seed.value,
                             0, s->fold));
    bdml_jobs run = {.what = "choice of settings",
                     .total = jobs,
                     .count = jobs,
                     .workers = bdml_threads(h),
                     .run = run_job,
                     .user = s,
                     .bytes = bdml_dataset_job_bytes(s->data),
                     .until = bdml_time_share(h, TIME),
                     .finished = s->finished,
                     .late = &late};
    BDML_GO(bdml_jobs_run(h, &run));
    if (late) say_late(h, s);
    if (!find_best(s, o))
        status = bdml_fail(h, BDML_ERR_DATA, "no choice could be fitted in every fold: %s", s->why);
done:
    free(s->fold);
    free(s->wrong);
    free(s->finished);
    return status;
}

bdml_status bdml_auto_choose(bdml_handle *h, bdml_options *o, const bdml_method *method,
                             const bdml_dataset *data, const bdml_constraints *constraints)
{
    const bdml_options asked = *o;
    search s = {.o = &asked, .method = method, .data = data, .given = constraints != NULL};
    list_candidates(&s);
    if (s.scales * s.values * s.votes == 1) {
        *o = settings_of(&s, 0);
        return BDML_OK;
    }
    if (constraints || bdml_constraint_files_given(&o->constraints))
        return bdml_fail(
            h, BDML_ERR_ARGUMENT,
            "scale, neighbors and what tune chooses are chosen by folds of the rows, which "
            "given constraints do not allow: say which");
    BDML_TRY(bdml_dataset_need_classes(h, data));
    return cross_validate(h, &s, o);
}
