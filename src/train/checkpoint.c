/* checkpoint.c - keeping and taking up the parts of a training: jobs and solves. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- open and close ------------------------------------------------------------------------------ */

/* Settings that may differ between a run and its continuation: means, limits, what is kept, and names
 * of files, whose content counts. */
static bool may_differ(const bdml_option *o, int i)
{
    static const int others[] = {BDML_OPT_THREADS,  BDML_OPT_MEMORY,     BDML_OPT_KEEP_POINTS,
                                 BDML_OPT_MAX_ITER, BDML_OPT_TIME_LIMIT, BDML_OPT_CHECKPOINT,
                                 BDML_OPT_EVERY,    BDML_OPT_RESUME};
    static const char *const groups[] = {"general", "prepare", "constraints", "train", "methods"};
    bool in = i == BDML_OPT_MISSING;
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
        in = in || strcmp(o->group, groups[k]) == 0;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) in = in && others[k] != i;
    return !in || (o->metavar && strcmp(o->metavar, "FILE") == 0);
}

static json_t *describe(const bdml_handle *h, const bdml_options *o, const bdml_dataset *data)
{
    char fingerprint[24], room[BDML_SAID_SIZE];
    json_t *settings = json_object();
    int bad = !settings;
    for (int i = 0; i < bdml_option_count() && !bad; i++) {
        const bdml_option *row = bdml_option_at(i);
        const char *text = bdml_option_said(h, o, i, room);
        if (strcmp(text, row->default_value) != 0 && !may_differ(row, i))
            bad |= json_object_set_new(settings, row->name, bdml_json_text(text));
    }
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, bdml_dataset_fingerprint(data));
    json_t *made_of = json_pack("{s:s, s:I, s:i, s:s, s:o}", "version", bdml_version(), "points",
                                (json_int_t)data->n, "features", data->d, "data", fingerprint,
                                "settings", settings);
    if (made_of && bad) {
        json_decref(made_of);
        made_of = NULL;
    }
    return made_of;
}

static void drop(bdml_checkpoint *k)
{
    if (!k) return;
    for (int64_t i = 0; i < k->solves; i++) free(k->solve[i].number);
    free(k->solve);
    free(k->finished);
    free(k->score);
    free(k->running.number);
    json_decref(k->made_of);
    bdml_free(k->own);
    free(k);
}

/* Hours of work must not end in a name that cannot be written. */
static bdml_status try_file(bdml_handle *h, const char *path)
{
    bdml_file *f = NULL;
    if (strcmp(path, "-") == 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT, "checkpoint needs the name of a file, got '-'");
    BDML_TRY(bdml_file_create(h, path, &f));
    bdml_file_discard(f);
    return BDML_OK;
}

bdml_status bdml_checkpoint_open(bdml_handle *h, const bdml_options *o, const bdml_dataset *data)
{
    bdml_status status = BDML_OK;
    bdml_checkpoint *k = NULL;
    const char *path = o->train.checkpoint.value, *resume = o->train.resume.value;

    h->checkpoint = NULL;
    h->checkpoints = 0;
    if (!path[0] && !resume[0]) return BDML_OK;
    BDML_NEW(h, k, 1);
    BDML_GO(bdml_handle_child(h, &k->own));
    k->path = path[0] ? path : NULL;
    k->every = o->train.every.value;
    k->last = bdml_now();
    k->made_of = describe(h, o, data);
    if (!k->made_of) {
        status = bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
        goto done;
    }
    if (resume[0]) BDML_GO(bdml_checkpoint_read(h, k, resume));
    if (k->path) BDML_GO(try_file(h, path));
done:
    if (status == BDML_OK)
        h->checkpoint = k;
    else
        drop(k);
    return status;
}

/* Nothing is lost by a failure but the checkpoint. */
static void write_or_warn(bdml_handle *h, bdml_checkpoint *k)
{
    if (bdml_checkpoint_write(k) != BDML_OK)
        bdml_log(h, BDML_LOG_WARNING, "no checkpoint was written: %s", bdml_last_error(k->own));
    else
        h->checkpoints++;
}

void bdml_checkpoint_close(bdml_handle *h, bdml_status status)
{
    bdml_checkpoint *k = h->checkpoint;
    bool fine = status == BDML_OK || status == BDML_ERR_CANCELLED || status == BDML_ERR_INFEASIBLE;
    h->checkpoint = NULL;
    if (!k) return;
    if (k->path && k->changed && fine) write_or_warn(h, k);
    drop(k);
}

/* ---- cross-validation ---------------------------------------------------------------------------- */

bdml_status bdml_checkpoint_folds(bdml_handle *h, const recipe_grid *g, int folds)
{
    bdml_status status = BDML_OK;
    bdml_checkpoint *k = h->checkpoint;
    int jobs = folds * g->references * g->cs, size = recipe_grid_size(g);

    if (!k) return BDML_OK;
    if (k->jobs == jobs && k->folds == folds && k->size == size) return BDML_OK;
    if (k->jobs > 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the checkpoint is of another cross-validation: %d folds and %d choices, "
                         "now %d and %d",
                         k->folds, k->size, folds, size);
    BDML_NEW(h, k->finished, jobs);
    BDML_NEW(h, k->score, (size_t)folds * (size_t)size);
    for (int i = 0; i < folds * size; i++) k->score[i] = NAN;
    k->jobs = jobs;
    k->folds = folds;
    k->size = size;
done:
    return status;
}

/* The scores of a job are those of its reference and weight in the row of its fold. */
static void copy_scores(const recipe_job *j, const double *from, double *to)
{
    for (int number = 0; number < recipe_grid_size(j->grid); number++) {
        recipe_choice at = recipe_choice_at(j->grid, number);
        if (at.reference == j->reference && at.c == j->c) to[number] = from[number];
    }
}

static int job_number(const recipe_job *j)
{
    return (j->number * j->grid->references + j->reference) * j->grid->cs + j->c;
}

bool bdml_checkpoint_take_job(const bdml_handle *h, const recipe_job *j)
{
    const bdml_checkpoint *k = h->checkpoint;
    bool finished = false;
    if (!k) return false;
#pragma omp critical(bdml_checkpoint)
    finished = k->finished[job_number(j)] != 0;
    if (finished) copy_scores(j, k->score + (size_t)j->number * (size_t)k->size, j->score);
    return finished;
}

void bdml_checkpoint_put_job(bdml_handle *h, const recipe_job *j)
{
    bdml_checkpoint *k = h->checkpoint;
    if (!k) return;
#pragma omp critical(bdml_checkpoint)
    {
        copy_scores(j, j->score, k->score + (size_t)j->number * (size_t)k->size);
        k->finished[job_number(j)] = 1;
        k->finished_jobs++;
        k->changed = true;
        /* one that fails is tried again after the next job; the last word is that of close */
        if (k->path && bdml_now() - k->last >= k->every && bdml_checkpoint_write(k) == BDML_OK)
            h->checkpoints++;
    }
}

/* ---- solves -------------------------------------------------------------------------------------- */

enum { SCALARS = 19, HISTORY_COLUMNS = 3 };

/* Numbers of M, y, the proof and the history in a result. */
static int64_t result_count(const bdml_solve_result *r, int64_t m)
{
    int64_t metric = r->diagonal ? r->d : (int64_t)r->d * r->d;
    return SCALARS + (r->m ? metric : 0) + m + r->contradicting +
           (int64_t)r->history.count * HISTORY_COLUMNS;
}

static bdml_status keep_result(bdml_handle *h, bdml_checkpoint *k, uint64_t fingerprint, int64_t m,
                               const bdml_solve_result *r)
{
    int64_t count = result_count(r, m), at = SCALARS;
    BDML_TRY(bdml_grow(h, &k->solve, &k->capacity, (size_t)k->solves + 1, sizeof *k->solve));
    double *x = bdml_alloc(h, (size_t)count, sizeof *x);
    if (!x) return BDML_ERR_MEMORY;
    const double scalar[SCALARS] = {r->outcome,
                                    r->stop,
                                    r->lower,
                                    r->upper,
                                    r->gap,
                                    r->kappa,
                                    r->trace,
                                    (double)r->iterations,
                                    r->seconds,
                                    r->d,
                                    r->rank,
                                    r->diagonal,
                                    r->proof,
                                    r->proof_trace,
                                    (double)r->contradicting,
                                    r->C,
                                    r->C0,
                                    r->collapsed + 2.0 * (r->m != NULL),
                                    r->history.count};
    memcpy(x, scalar, sizeof scalar);
    int64_t metric = r->diagonal ? r->d : (int64_t)r->d * r->d;
    for (int64_t i = 0; r->m && i < metric; i++) x[at++] = r->m[i];
    for (int64_t t = 0; t < m; t++) x[at++] = r->y[t];
    for (int64_t t = 0; t < r->contradicting; t++) x[at++] = (double)r->important[t];
    for (int i = 0; i < r->history.count; i++) {
        x[at++] = r->history.iteration[i];
        x[at++] = r->history.lower[i];
        x[at++] = r->history.upper[i];
    }
    k->solve[k->solves++] = (bdml_kept_solve){fingerprint, count, x};
    return BDML_OK;
}

static bool whole_below(double x, double most)
{
    return x >= 0.0 && x <= most && x == floor(x);
}

/* d: dimension of the problem, m: its constraints. Everything that sizes or indexes is checked. */
static bdml_status give_result(bdml_handle *h, const bdml_kept_solve *kept, int64_t m,
                               bdml_solve_result *r)
{
    bdml_status status = BDML_OK;
    const double *x = kept->number;
    bool fine = kept->count >= SCALARS && whole_below(x[0], BDML_STOPPED) &&
                whole_below(x[1], BDML_STOP_STALLED) && whole_below(x[7], 1e15) &&
                whole_below(x[9], 46340) && whole_below(x[10], x[9]) && whole_below(x[11], 1) &&
                whole_below(x[12], BDML_PROOF_CONE) && whole_below(x[14], (double)m) &&
                whole_below(x[17], 3) && whole_below(x[18], BDML_HISTORY_ROWS);
    int64_t at = SCALARS;

    memset(r, 0, sizeof *r);
    if (!fine) goto damaged;
    r->outcome = (bdml_outcome)x[0];
    r->stop = (bdml_stop)x[1];
    r->lower = x[2], r->upper = x[3], r->gap = x[4], r->kappa = x[5], r->trace = x[6];
    r->iterations = (int64_t)x[7];
    r->seconds = x[8];
    r->d = (int)x[9], r->rank = (int)x[10], r->diagonal = x[11] != 0.0;
    r->proof = (bdml_proof)x[12];
    r->proof_trace = x[13];
    r->contradicting = (int64_t)x[14];
    r->C = x[15], r->C0 = x[16];
    r->collapsed = x[17] == 1.0 || x[17] == 3.0;
    int64_t metric = x[17] < 2.0 ? 0 : r->diagonal ? r->d : (int64_t)r->d * r->d;
    r->history.count = (int)x[18];
    if (kept->count !=
        SCALARS + metric + m + r->contradicting + (int64_t)r->history.count * HISTORY_COLUMNS)
        goto damaged;
    if (metric > 0) BDML_NEW(h, r->m, metric);
    BDML_NEW(h, r->y, m);
    BDML_NEW(h, r->important, r->contradicting);
    for (int64_t i = 0; i < metric; i++) fine = isfinite(r->m[i] = x[at++]) && fine;
    for (int64_t t = 0; t < m; t++) fine = isfinite(r->y[t] = x[at++]) && fine;
    for (int64_t t = 0; t < r->contradicting; t++, at++) {
        fine = fine && whole_below(x[at], (double)(m - 1));
        if (fine) r->important[t] = (int64_t)x[at];
    }
    for (int i = 0; i < r->history.count; i++, at += HISTORY_COLUMNS) {
        r->history.iteration[i] = x[at];
        r->history.lower[i] = x[at + 1];
        r->history.upper[i] = x[at + 2];
    }
    if (fine) goto done;
damaged:
    status = bdml_fail(h, BDML_ERR_FORMAT, "the checkpoint is damaged: begin without it");
done:
    if (status != BDML_OK) bdml_solve_result_free(r);
    return status;
}

/* Where a solve saves its state. */
typedef struct keeper {
    bdml_handle *h;
    bdml_checkpoint *k;
} keeper;

static bdml_status save(void *user, const bdml_solve_state *state)
{
    const keeper *u = user;
    bdml_checkpoint *k = u->k;
    if (k->running.count != state->count) {
        double *room =
            bdml_realloc(u->h, k->running.number, (size_t)state->count, sizeof *state->number);
        if (!room) return BDML_ERR_MEMORY;
        k->running = (bdml_solve_state){state->count, room};
    }
    memcpy(k->running.number, state->number, sizeof *state->number * (size_t)state->count);
    k->changed = true;
    write_or_warn(u->h, k);
    return BDML_OK;
}

static void forget_running(bdml_checkpoint *k)
{
    free(k->running.number);
    k->running = (bdml_solve_state){0};
}

bdml_status bdml_checkpoint_solve(bdml_handle *h, bdml_problem *p, const bdml_solve_settings *s,
                                  bdml_solve_result *r)
{
    bdml_checkpoint *k = h->checkpoint;
    keeper user = {h, k};
    bdml_solve_settings kept = *s;
    bdml_status status;

    if (!k || k->cut) return bdml_problem_solve(h, p, s, r);
    int64_t number = k->next++, m = bdml_problem_constraints(p);
    uint64_t fingerprint = bdml_problem_fingerprint(p, s);
    memset(r, 0, sizeof *r);
    if (number < k->solves) {
        if (k->solve[number].fingerprint == fingerprint)
            return give_result(h, &k->solve[number], m, r);
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the checkpoint is of another problem: the constraints differ from those "
                         "of now");
    }
    if (k->running.number) kept.resume = &k->running;
    bdml_solve_state taken = k->running; /* save may replace it while it is being read */
    if (kept.resume) {
        k->running = (bdml_solve_state){0};
        kept.resume = &taken;
    }
    if (k->path) {
        kept.save = save;
        kept.save_user = &user;
        kept.save_every = k->every;
    }
    status = bdml_problem_solve(h, p, &kept, r);
    if (kept.resume && !k->running.number && status != BDML_OK)
        k->running = taken;
    else
        free(taken.number);
    if (status != BDML_OK) return status;
    k->cut = r->cut;
    if (k->cut) return BDML_OK;
    forget_running(k);
    k->changed = true;
    status = keep_result(h, k, fingerprint, m, r);
    if (status != BDML_OK) bdml_solve_result_free(r);
    if (status == BDML_OK && k->path && bdml_now() - k->last >= k->every) write_or_warn(h, k);
    return status;
}
