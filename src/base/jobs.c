/* jobs.c - pieces of work beside each other, each on one thread with a handle of its own.
 *
 * Jobs write to their own places, so that the result does not depend on how many run at once. They
 * report to the handle they work for: the thread that made the call asks the user whether to go on,
 * and all of them hear of the answer. */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct watch {
    bdml_handle *h;
    pthread_t caller;
    const char *what;
    int64_t done, total, finished;
    bool stop;
} watch;

static bool stopped(watch *w)
{
    bool stop;
#pragma omp atomic read
    stop = w->stop;
    return stop;
}

static void stop_all(watch *w)
{
#pragma omp atomic write
    w->stop = true;
}

/* Progress callback of every job. */
static int ask(void *user, const char *phase, int64_t done, int64_t total)
{
    (void)phase, (void)done, (void)total;
    watch *w = user;
    int64_t now;
#pragma omp atomic read
    now = w->finished;
    if (pthread_equal(pthread_self(), w->caller)) {
        bool held = w->h->outer.what != NULL;
        if (!held) bdml_progress_hold(w->h, w->what, w->done + now, w->total);
        bool cancel = bdml_progress(w->h, w->what, w->done + now, w->total) != BDML_OK;
        if (!held) bdml_progress_release(w->h);
        if (cancel) stop_all(w);
    }
    return stopped(w);
}

bool bdml_job_stopped(const bdml_handle *h)
{
    return h->progress == ask && stopped(h->progress_user);
}

static bdml_status make_children(bdml_handle *h, watch *w, int threads, int count,
                                 bdml_handle **child)
{
    for (int k = 0; k < count; k++) {
        BDML_TRY(bdml_handle_child(h, &child[k]));
        child[k]->fail_alloc = h->fail_alloc;
        if (h->progress) bdml_set_progress(child[k], ask, w);
        if (threads == 1 && bdml_set(child[k], "threads", bdml_get(h, "threads")) != BDML_OK)
            return bdml_fail(h, BDML_ERR_MEMORY, "out of memory");
    }
    return BDML_OK;
}

/* What came of the jobs: the first failure in their order. */
static bdml_status collect(bdml_handle *h, const char *what, int count, const bdml_status *outcome,
                           bdml_handle *const *child, char *why)
{
    for (int k = 0; k < count; k++) {
        if (outcome[k] == BDML_OK) continue;
        const char *text = bdml_last_error(child[k]);
        if (why && outcome[k] == BDML_ERR_DATA) {
            if (!*why) snprintf(why, BDML_ERROR_SIZE, "%s", text);
        } else
            return bdml_fail(h, outcome[k], "%s: %s", what, text);
    }
    return BDML_OK;
}

bdml_status bdml_run_jobs(bdml_handle *h, const bdml_jobs *jobs, char *why)
{
    bdml_status status = BDML_OK, *outcome = NULL;
    bdml_handle **child = NULL;
    int count = jobs->count, threads = BDML_MAX(1, BDML_MIN(jobs->threads, count));
    watch w = {.h = h,
               .caller = pthread_self(),
               .what = jobs->what,
               .done = jobs->done,
               .total = jobs->total};

    BDML_NEW(h, child, count);
    BDML_NEW(h, outcome, count);
    BDML_GO(make_children(h, &w, threads, count, child));
    BDML_GO(bdml_progress(h, jobs->what, jobs->done, jobs->total));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int k = 0; k < count; k++) {
        if (stopped(&w)) continue;
        outcome[k] = jobs->run(child[k], jobs->user, k);
#pragma omp atomic
        w.finished++;
        if (outcome[k] != BDML_OK && !(why && outcome[k] == BDML_ERR_DATA)) stop_all(&w);
        ask(&w, jobs->what, 0, 0);
    }
    BDML_GO(collect(h, jobs->what, count, outcome, child, why));
    if (w.stop)
        status = bdml_fail(h, BDML_ERR_CANCELLED, "stopped on request during: %s", jobs->what);
    else
        status = bdml_progress(h, jobs->what, jobs->done + count, jobs->total);
done:
    for (int k = 0; child && k < count; k++) bdml_free(child[k]);
    free(child);
    free(outcome);
    return status;
}
