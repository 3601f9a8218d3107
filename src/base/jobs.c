/* jobs.c - jobs beside each other, each on one thread with a handle of its own.
 *
 * Jobs start in their order and write to places of their own, so that results do not depend on how many
 * run at a time. The thread that made the call asks the user whether to go on, and all of them hear of
 * the answer; the clock is read by each. Dealt out to ranks, a job is done by one of them, and all agree in the end on
 * what came of it. */
#include "base/base.h"

#include <omp.h>
#include <stdlib.h>

/* A warning of a job. */
typedef struct warning {
    int64_t job;
    size_t number; /* as they came: those of one job in its order */
    char *line;
} warning;

/* What the workers share. */
typedef struct watch {
    bdml_handle *h;
    const bdml_jobs *jobs;
    int rank, ranks; /* that jobs are dealt out to: job k is that of rank k % ranks */
    int level;       /* of the parallel region: who is thread 0 of it, from inside regions within */
    int64_t finished;
    bool stop, late; /* late: `until` has come */
    bool by_clock;   /* stopped by the time limit, not by the user */
    int64_t failed;  /* the first job that failed, count: none */
    int64_t excused; /* likewise, of those excused */
    bdml_status status;
    char error[BDML_ERROR_SIZE];
    warning *warning;
    size_t warnings, capacity;
} watch;

/* A worker, for the log of its handle. */
typedef struct worker {
    watch *w;
    int64_t job; /* in work */
    bool caller; /* the thread that made the call */
} worker;

static bool stopped(watch *w)
{
    bool stop;
#pragma omp atomic read
    stop = w->stop;
    return stop;
}

static void stop(watch *w)
{
#pragma omp atomic write
    w->stop = true;
}

/* By the user, or by the time limit: what ended it is settled here, once, for ranks read their clocks at other times. */
static void cancel(watch *w)
{
    bool over = !bdml_deadline_allows(w->h, 0.0);
    if (over) {
#pragma omp atomic write
        w->by_clock = true;
    }
    stop(w);
}

/* The clock is looked at before the user is asked: its answer is no failure. */
static void look_at_clock(watch *w)
{
    if (w->jobs->until == 0.0 || stopped(w) || bdml_now() < w->jobs->until) return;
#pragma omp atomic write
    w->late = true;
    stop(w);
}

/* The progress callback of the workers' handles. */
static int ask(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)phase, (void)done, (void)total;
    watch *w = user;
    const bdml_jobs *j = w->jobs;
    int64_t now;
#pragma omp atomic read
    now = w->finished;
    now = BDML_MIN(now * w->ranks, j->count); /* of this rank, and about as many of each other */
    look_at_clock(w);
    if (!stopped(w) && omp_get_ancestor_thread_num(w->level) == 0) {
        bool held = w->h->outer.what != NULL;
        if (!held) bdml_progress_hold(w->h, j->what, j->done + now, j->total);
        bool ended = bdml_progress(w->h, j->what, j->done + now, j->total) != BDML_OK;
        if (!held) bdml_progress_release(w->h);
        if (ended) cancel(w);
    }
    return stopped(w);
}

static int by_job(const void *a, const void *b)
{
    const warning *x = a, *y = b;
    if (x->job != y->job) return x->job > y->job ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* In the order of the jobs; the log tells each line once. */
static void tell_warnings(watch *w)
{
    if (w->warnings > 1) qsort(w->warning, w->warnings, sizeof *w->warning, by_job);
    for (size_t i = 0; i < w->warnings; i++)
        bdml_log(w->h, BDML_LOG_WARNING, "%s", w->warning[i].line);
    for (size_t i = 0; i < w->warnings; i++) free(w->warning[i].line);
    free(w->warning);
}

bool bdml_jobs_stopped(const bdml_handle *own)
{
    return own->progress == ask && stopped(own->progress_user);
}

bdml_status bdml_jobs_check(bdml_handle *own)
{
    return bdml_jobs_stopped(own) ? bdml_fail(own, BDML_ERR_CANCELLED, "cut short") : BDML_OK;
}

/* The jobs that a handle is a worker of. */
static watch *jobs_of(const bdml_handle *h)
{
    return h->progress == ask ? h->progress_user : NULL;
}

/* Of jobs within jobs, any may be too short of time. */
static bool allows(const bdml_handle *h, double seconds)
{
    const watch *w = jobs_of(h);
    if (!w) return bdml_deadline_allows(h, seconds);
    return (w->jobs->until == 0.0 || bdml_now() + seconds < w->jobs->until) &&
           allows(w->h, seconds);
}

bool bdml_jobs_limited(const bdml_handle *h)
{
    return !allows(h, (double)INFINITY);
}

bdml_status bdml_jobs_ahead(bdml_handle *h, const char *what, double seconds)
{
    if (allows(h, seconds)) return BDML_OK;
    if (!jobs_of(h)) return bdml_deadline_ahead(h, what, seconds);
    /* those outside go on where they have the time */
    for (const bdml_handle *at = h; jobs_of(at) && !allows(at, seconds); at = jobs_of(at)->h) {
        watch *w = jobs_of(at);
        bool *ended = w->jobs->until > 0.0 ? &w->late : &w->by_clock;
#pragma omp atomic write
        *ended = true;
        stop(w);
    }
    return bdml_deadline_over(h, what);
}

/* Of several failures the first in the order of the jobs counts; one that was merely stopped, last. */
static void note_failure(watch *w, int64_t job, bdml_status status, const char *error)
{
    bool merely = status == BDML_ERR_CANCELLED;
#pragma omp critical(bdml_jobs_failure)
    {
        bool had = w->failed < w->jobs->count, had_merely = w->status == BDML_ERR_CANCELLED;
        if (!had || (had_merely && !merely) || (had_merely == merely && job < w->failed)) {
            w->failed = job;
            w->status = status;
            snprintf(w->error, sizeof w->error, "%s", error);
        }
    }
    if (merely)
        cancel(w);
    else
        stop(w);
}

/* Warnings are kept until the end; the rest is for a person who watches, and comes from one worker. */
static void hear(void *user, bdml_log_level level, const char *line)
{
    const worker *own = user;
    watch *w = own->w;
    if (level != BDML_LOG_WARNING) {
        if (own->caller) bdml_log(w->h, level, "%s", line);
        return;
    }
    bool kept = false;
#pragma omp critical(bdml_jobs_warning)
    if (bdml_grow(w->h, &w->warning, &w->capacity, w->warnings + 1, sizeof *w->warning) ==
        BDML_OK) {
        char *copy = bdml_strdup(w->h, line);
        kept = copy != NULL;
        if (kept) w->warning[w->warnings] = (warning){own->job, w->warnings, copy};
        w->warnings += kept;
    }
    if (!kept) note_failure(w, own->job, BDML_ERR_MEMORY, "out of memory");
}

static void note_excuse(watch *w, int64_t job, const char *reason)
{
#pragma omp critical(bdml_jobs_failure)
    if (job < w->excused) {
        w->excused = job;
        snprintf(w->jobs->why, BDML_ERROR_SIZE, "%s", reason);
    }
}

static void run_one(watch *w, worker *me, bdml_handle *own, int64_t job)
{
    look_at_clock(w);
    if (stopped(w)) return;
    me->job = job;
    own->fail_alloc = w->h->fail_alloc;
    bdml_status status = w->jobs->run(own, w->jobs->user, job);
    if (status == BDML_ERR_DATA && w->jobs->why)
        note_excuse(w, job, bdml_last_error(own));
    else if (status != BDML_OK)
        note_failure(w, job, status, bdml_last_error(own));
    if (w->jobs->finished) w->jobs->finished[job] = status == BDML_OK;
#pragma omp atomic
    w->finished++;
    ask(w, NULL, 0, 0);
}

static bdml_status make_workers(watch *w, int workers, worker *me, bdml_handle **own)
{
    /* of the setting "memory": an even part of what is not held */
    double share = (w->h->memory_share > 0.0 ? w->h->memory_share : 1.0) / workers;
    if (!w->h->options.general.memory.automatic)
        share *= BDML_MAX(1.0 - w->h->memory_held / bdml_memory_limit(w->h), 0.0);
    for (int k = 0; k < workers; k++) {
        BDML_TRY(bdml_handle_child(w->h, &own[k]));
        bdml_set_threads(own[k], BDML_MAX(1, bdml_threads(w->h) / workers));
        own[k]->memory_share = share;
        bdml_set_progress(own[k], ask, w);
        me[k] = (worker){.w = w, .caller = k == 0};
        if (w->h->log) bdml_set_log(own[k], hear, &me[k]);
    }
    return BDML_OK;
}

/* ---- ranks ------------------------------------------------------------------------------------------ */

/* What ended the jobs of one rank ends those of all: the first failure, a limit, a wish to stop; and of the excuses the
 * first too. */
static void agree(watch *w)
{
    const bdml_comm *comm = w->h->comm;
    double count = (double)w->jobs->count;
    double failed = bdml_comm_least(comm, (double)w->failed);
    double excused = bdml_comm_least(comm, (double)w->excused);
    w->stop = bdml_comm_largest(comm, w->stop) > 0.0;
    w->late = bdml_comm_largest(comm, w->late) > 0.0;
    w->by_clock = bdml_comm_largest(comm, w->by_clock) > 0.0;
    if (failed < count) {
        bool mine = (double)w->failed == failed;
        w->status = (bdml_status)bdml_comm_total(comm, mine ? (double)w->status : 0.0);
        bdml_comm_text(comm, mine, sizeof w->error, w->error);
        w->failed = (int64_t)failed;
    }
    if (w->jobs->why && excused >= 0.0 && excused < count)
        bdml_comm_text(comm, (double)w->excused == excused, BDML_ERROR_SIZE, w->jobs->why);
}

/* Numbers and ends of all jobs, from the ranks that did them. */
static void gather(watch *w)
{
    const bdml_jobs *j = w->jobs;
    size_t size = (size_t)j->size;
    for (int64_t k = 0; k < j->count; k++) {
        bool mine = k % w->ranks == w->rank;
        if (!mine) memset(j->result + (size_t)k * size, 0, sizeof *j->result * size);
        if (j->finished)
            j->finished[k] = bdml_comm_largest(w->h->comm, mine && j->finished[k]) > 0.0;
    }
    bdml_comm_sum(w->h->comm, j->count * j->size, j->result);
}

/* As many as there is memory for; where not even one fits, that is told before anything is done. (Of several ranks none may go
 * home alone: there the first allocation that fails tells all.) */
static bdml_status fit_workers(bdml_handle *h, const bdml_jobs *jobs, int *workers)
{
    *workers = bdml_is_forked() ? 1 : (int)BDML_MAX(1, BDML_MIN(jobs->workers, jobs->count));
    if (*workers * jobs->bytes < BDML_MEMORY_ASKED && h->pretend_free <= 0.0) return BDML_OK;
    double fit = floor(bdml_memory_free(h) / BDML_MAX(jobs->bytes, 1.0));
    if (fit < 1.0 && h->comm->size == 1)
        return bdml_memory_check(h, jobs->bytes, false, jobs->what,
                                 "take fewer rows or columns (--columns, --pca)");
    *workers = (int)BDML_MAX(1.0, BDML_MIN((double)*workers, fit));
    return BDML_OK;
}

bdml_status bdml_jobs_run(bdml_handle *h, const bdml_jobs *jobs)
{
    bdml_status status = BDML_OK;
    int workers = 0;
    bdml_handle **own = NULL;
    worker *me = NULL;
    watch w = {.h = h, .jobs = jobs, .level = omp_get_level() + 1, .failed = jobs->count};
    w.rank = jobs->result ? h->comm->rank : 0;
    w.ranks = jobs->result ? h->comm->size : 1;
    w.excused = jobs->why && jobs->why[0] ? -1 : jobs->count; /* a reason of jobs before stays */

    BDML_GO(fit_workers(h, jobs, &workers));
    BDML_NEW(h, own, workers);
    BDML_NEW(h, me, workers);
    BDML_GO(make_workers(&w, workers, me, own));
    BDML_GO(bdml_progress(h, jobs->what, jobs->done, jobs->total));
#pragma omp parallel for schedule(dynamic) num_threads(workers)
    for (int64_t k = w.rank; k < jobs->count; k += w.ranks) {
        int i = omp_get_thread_num();
        run_one(&w, &me[i], own[i], k);
    }
    tell_warnings(&w);
    if (w.ranks > 1) {
        agree(&w);
        gather(&w);
    }
    if (jobs->late && w.late) *jobs->late = true;
    if (w.failed < jobs->count && w.status != BDML_ERR_CANCELLED)
        status = bdml_fail(h, w.status, "%s: %s", jobs->what, w.error);
    else if (w.stop && !w.late && w.by_clock)
        status = bdml_deadline_over(h, jobs->what);
    else if (w.stop && !w.late)
        status = bdml_fail(h, BDML_ERR_CANCELLED, "stopped on request during: %s", jobs->what);
    else if (!w.late)
        status = bdml_progress(h, jobs->what, jobs->done + jobs->count, jobs->total);
done:
    for (int k = 0; own && k < workers; k++) bdml_free(own[k]);
    free(own);
    free(me);
    return status;
}
