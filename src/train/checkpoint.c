/* checkpoint.c - keeping and taking up the parts of a training: jobs and solves. */
#include "train/checkpoint.h"
#include "train/warm.h"

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
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *row = bdml_option_at(i);
        const char *text = bdml_option_said(h, o, i, room);
        if (strcmp(text, row->default_value) != 0 && !may_differ(row, i))
            bdml_json_put(&settings, row->name, bdml_json_text(text));
    }
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, bdml_dataset_fingerprint(data));
    json_t *made_of = json_object();
    if (h->warm) {
        char start[24];
        bdml_warm_fingerprint(h->warm, start);
        bdml_json_put(&made_of, "warm", json_string(start));
    }
    bdml_json_put(&made_of, "version", json_string(bdml_version()));
    bdml_json_put(&made_of, "points", json_integer(data->n));
    bdml_json_put(&made_of, "features", json_integer(data->d));
    bdml_json_put(&made_of, "data", json_string(fingerprint));
    bdml_json_put(&made_of, "settings", settings);
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
    BDML_GO(bdml_set_comm(k->own, h->comm)); /* rank 0 writes */
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

bdml_status bdml_checkpoint_jobs(bdml_handle *h, int jobs, int size)
{
    bdml_status status = BDML_OK;
    bdml_checkpoint *k = h->checkpoint;

    if (!k || (k->jobs == jobs && k->size == size)) return BDML_OK;
    if (k->jobs > 0)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "the checkpoint is of another cross-validation: %d jobs of %d choices, "
                         "now %d of %d",
                         k->jobs, k->size, jobs, size);
    BDML_NEW(h, k->finished, jobs);
    BDML_NEW(h, k->score, (size_t)jobs * (size_t)size);
    k->jobs = jobs;
    k->size = size;
done:
    return status;
}

static double *scores_of(const bdml_checkpoint *k, int job)
{
    return k->score + (size_t)job * (size_t)k->size;
}

bool bdml_checkpoint_take_job(const bdml_handle *h, int job, double *score)
{
    const bdml_checkpoint *k = h->checkpoint;
    bool finished = false;
    if (!k) return false;
#pragma omp critical(bdml_checkpoint)
    finished = k->finished[job] != 0;
    if (finished) memcpy(score, scores_of(k, job), sizeof *score * (size_t)k->size);
    return finished;
}

void bdml_checkpoint_put_job(bdml_handle *h, int job, const double *score)
{
    bdml_checkpoint *k = h->checkpoint;
    if (!k) return;
#pragma omp critical(bdml_checkpoint)
    {
        memcpy(scores_of(k, job), score, sizeof *score * (size_t)k->size);
        k->finished[job] = 1;
        k->changed = true;
        /* one that fails is tried again after the next job; the last word is that of close */
        if (k->path && bdml_now() - k->last >= k->every && bdml_checkpoint_write(k) == BDML_OK)
            h->checkpoints++;
    }
}

/* ---- solves -------------------------------------------------------------------------------------- */

static bdml_status keep_result(bdml_handle *h, bdml_checkpoint *k, uint64_t fingerprint, int64_t m,
                               const bdml_solve_result *r)
{
    bdml_kept_solve kept = {.fingerprint = fingerprint};
    BDML_TRY(bdml_grow(h, &k->solve, &k->capacity, (size_t)k->solves + 1, sizeof *k->solve));
    BDML_TRY(bdml_kept_pack(h, m, r, &kept));
    k->solve[k->solves++] = kept;
    return BDML_OK;
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
            return bdml_kept_unpack(h, &k->solve[number], m, r);
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
