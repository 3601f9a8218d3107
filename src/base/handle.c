/* handle.c - the handle: its life, the last error, log, progress and phase timers. */
#include "base/base.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Seconds between two calls of the progress callback: often enough for a smooth bar. */
static const double PROGRESS_INTERVAL = 0.1;
/* Fewer operations than this (some 100 microseconds) are over before threads have gathered; and on a busy
 * machine threads that wait for each other lose a time slice. */
static const double SMALL_WORK = 1e6;

static const char *const phase_names[BDML_PHASE_COUNT] = {
    "other", "read",     "prepare", "neighbors", "constraints", "solve",
    "eigen", "gradient", "certify", "evaluate",  "write",
};

/* ---- fork ---------------------------------------------------------------------------------- */

/* A child has none of its parent's threads, but OpenMP of gcc counts on them and waits for ever. Set in the children of a
 * process that had a handle, and never again: they work by one thread. */
static bool forked = false;

static void note_fork(void)
{
    forked = true;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork); /* without memory for it children are as gcc has them */
}

bool bdml_is_forked(void)
{
    return forked;
}

/* ---- life ---------------------------------------------------------------------------------- */

bdml_status bdml_create(bdml_handle **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!out) return BDML_ERR_ARGUMENT;
    *out = NULL;
    pthread_once(&once, watch_forks);
    bdml_handle *h = calloc(1, sizeof *h);
    if (!h) return BDML_ERR_MEMORY;
    h->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    h->phase_since = bdml_now();
    h->comm = &bdml_comm_serial;
    if (!h->c_locale) {
        bdml_free(h);
        return BDML_ERR_MEMORY;
    }
    bdml_options_reset(h);
    *out = h;
    return BDML_OK;
}

void bdml_free(bdml_handle *h)
{
    if (!h) return;
    for (int i = 0; i < BDML_OPT_COUNT; i++) free(h->text[i]);
    free(h->reference_map);
    if (h->c_locale) freelocale(h->c_locale);
    free(h);
}

bdml_status bdml_handle_child(bdml_handle *parent, bdml_handle **out)
{
    if (bdml_create(out) != BDML_OK) return bdml_fail(parent, BDML_ERR_MEMORY, "out of memory");
    (*out)->options.general.memory = parent->options.general.memory;
    (*out)->options.general.deterministic = parent->options.general.deterministic;
    (*out)->options.general.threads.value = 1;
    return BDML_OK;
}

int bdml_threads(const bdml_handle *h)
{
    int64_t asked = h->options.general.threads.value;
    if (forked) return 1;
    int threads = asked > 0 ? (int)asked : omp_get_num_procs();
    return h->most_threads > 0 ? BDML_MIN(threads, h->most_threads) : threads;
}

void bdml_set_threads(bdml_handle *h, int threads)
{
    h->options.general.threads.value = threads;
}

int bdml_threads_for(const bdml_handle *h, double operations)
{
    return operations < SMALL_WORK ? 1 : bdml_threads(h);
}

size_t bdml_memory(const bdml_handle *h)
{
    const bdml_int *set = &h->options.general.memory;
    double share = h->memory_share > 0.0 ? h->memory_share : 1.0;
    double bytes = 1048576.0 * (double)BDML_MIN(set->value, INT64_MAX >> 21) * share;
    if (!set->automatic) bytes -= h->memory_held;
    return (size_t)BDML_MAX(bytes, (double)BDML_LEAST_BLOCKS);
}

bool bdml_is_deterministic(const bdml_handle *h)
{
    return h->options.general.deterministic.value;
}

/* ---- status and errors ----------------------------------------------------------------------- */

#define TEXT_OF(number)             #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *bdml_version(void)
{
    return DOTTED(BDML_VERSION_MAJOR, BDML_VERSION_MINOR, BDML_VERSION_PATCH);
}

const char *bdml_status_text(bdml_status status)
{
    switch (status) {
    case BDML_OK:
        return "ok";
    case BDML_ERR_ARGUMENT:
        return "bad argument or setting";
    case BDML_ERR_DATA:
        return "unusable data";
    case BDML_ERR_MEMORY:
        return "out of memory";
    case BDML_ERR_LAPACK:
        return "LAPACK failure";
    case BDML_ERR_IO:
        return "input or output failed";
    case BDML_ERR_FORMAT:
        return "damaged or unsupported file";
    case BDML_ERR_CANCELLED:
        return "cancelled";
    case BDML_ERR_INFEASIBLE:
        return "infeasible";
    }
    return "unknown status";
}

const char *bdml_last_error(const bdml_handle *h)
{
    return h ? h->error : "no handle";
}

bdml_status(bdml_fail)(bdml_handle *h, bdml_status status, const char *fmt, ...)
{
    char line[BDML_ERROR_SIZE];
    va_list ap;
    va_start(ap, fmt);
    bdml_vsnprintf(h->c_locale, line, sizeof line, fmt, ap);
    va_end(ap);
    bdml_visible_text(line, h->error, sizeof h->error);
    return status;
}

bdml_status bdml_set_error(bdml_handle *h, bdml_status status, const char *line)
{
    return h ? bdml_fail(h, status, "%s", line ? line : "") : status;
}

bdml_status bdml_fail_context(bdml_handle *h, bdml_status status, const char *fmt, ...)
{
    char was[BDML_ERROR_SIZE], said[BDML_ERROR_SIZE], prefix[BDML_ERROR_SIZE];
    va_list ap;
    memcpy(was, h->error, sizeof was);
    va_start(ap, fmt);
    bdml_vsnprintf(h->c_locale, said, sizeof said, fmt, ap);
    va_end(ap);
    bdml_visible_text(said, prefix, sizeof prefix);
    size_t room = sizeof h->error - 3, np = BDML_MIN(strlen(prefix), room);
    size_t nw = BDML_MIN(strlen(was), room - np);
    memcpy(h->error, prefix, np);
    memcpy(h->error + np, ": ", 2);
    memcpy(h->error + np + 2, was, nw);
    h->error[np + 2 + nw] = '\0';
    return status;
}

/* ---- log and progress ------------------------------------------------------------------------ */

void bdml_set_progress(bdml_handle *h, bdml_progress_fn fn, void *user)
{
    if (!h) return;
    h->progress = fn;
    h->progress_user = user;
}

void bdml_set_log(bdml_handle *h, bdml_log_fn fn, void *user)
{
    if (!h) return;
    h->log = fn;
    h->log_user = user;
}

/* A data set is split and prepared many times over: say the same thing once. */
static bool told_before(bdml_handle *h, const char *line)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *p = line; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    for (int k = 0; k < BDML_MIN(h->warnings, BDML_WARNED_SIZE); k++)
        if (h->warned[k] == hash) return true;
    h->warned[h->warnings++ % BDML_WARNED_SIZE] = hash;
    return false;
}

void bdml_log(bdml_handle *h, bdml_log_level level, const char *fmt, ...)
{
    char said[BDML_ERROR_SIZE], line[BDML_ERROR_SIZE];
    va_list ap;
    if (!h->log) return;
    va_start(ap, fmt);
    bdml_vsnprintf(h->c_locale, said, sizeof said, fmt, ap);
    va_end(ap);
    bdml_visible_text(said, line, sizeof line);
    if (level == BDML_LOG_WARNING && told_before(h, line)) return;
    h->calling++;
    h->log(h->log_user, level, line);
    h->calling--;
}

void bdml_log_line(bdml_handle *h, bdml_log_level level, const char *line)
{
    if (h && line) bdml_log(h, level, "%s", line);
}

bool bdml_deadline_allows(const bdml_handle *h, double seconds)
{
    return h->deadline == 0.0 || bdml_now() + seconds < h->deadline;
}

bdml_status bdml_deadline_over(bdml_handle *h, const char *what)
{
    return bdml_fail(h, BDML_ERR_CANCELLED, "the time limit is over, during: %s", what);
}

bdml_status bdml_deadline_check(bdml_handle *h, const char *what)
{
    return bdml_deadline_allows(h, 0.0) ? BDML_OK : bdml_deadline_over(h, what);
}

bdml_status bdml_deadline_ahead(bdml_handle *h, const char *what, double seconds)
{
    if (bdml_deadline_allows(h, seconds)) return BDML_OK;
    h->stop_by = BDML_MIN(h->stop_by, bdml_now());
    return bdml_deadline_over(h, what);
}

/* Call the callback; non-zero is what it says to stop. */
static int ask(bdml_handle *h, const char *what, int64_t done, int64_t total)
{
    if (h->outer.what) what = h->outer.what, done = h->outer.done, total = h->outer.total;
    h->calling++;
    int answer = h->progress(h->progress_user, what, done, total);
    h->calling--;
    h->leaving = answer == BDML_LEAVE;
    return answer;
}

bool bdml_leaves(bdml_handle *h, const char *what)
{
    if (!h->progress || h->leaving) return h->leaving;
    double now = bdml_now();
    if (now - h->progress_last < PROGRESS_INTERVAL) return false;
    h->progress_last = now;
    ask(h, what, 0, 0);
    return h->leaving;
}

bdml_status bdml_leave_check(bdml_handle *h, const char *what)
{
    if (bdml_leaves(h, what))
        return bdml_fail(h, BDML_ERR_CANCELLED, "stopped on request during: %s", what);
    return bdml_deadline_check(h, what);
}

bdml_status bdml_progress(bdml_handle *h, const char *what, int64_t done, int64_t total)
{
    if (!h->progress && h->deadline == 0.0) return BDML_OK;
    double now = bdml_now();
    BDML_TRY(bdml_deadline_check(h, what));
    if (!h->progress) return BDML_OK;
    bool edge = !h->outer.what && (done == 0 || done == total);
    if (!edge && now - h->progress_last < PROGRESS_INTERVAL) return BDML_OK;
    h->progress_last = now;
    if (ask(h, what, done, total) != 0) h->cancelled = true;
    if (h->outer.what) what = h->outer.what;
    if (!h->cancelled) return BDML_OK;
    h->cancelled = false;
    return bdml_fail(h, BDML_ERR_CANCELLED, "stopped on request during: %s", what);
}

void bdml_progress_hold(bdml_handle *h, const char *what, int64_t done, int64_t total)
{
    h->outer.what = what;
    h->outer.done = done;
    h->outer.total = total;
}

void bdml_progress_release(bdml_handle *h)
{
    h->outer.what = NULL;
}

/* ---- time -------------------------------------------------------------------------------------- */

double bdml_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bdml_limit_time(bdml_handle *h, double seconds)
{
    if (h) h->limit_at = seconds > 0.0 && isfinite(seconds) ? bdml_now() + seconds : 0.0;
}

double bdml_time_left(const bdml_handle *h)
{
    return h && h->limit_at > 0.0 ? BDML_MAX(h->limit_at - bdml_now(), 0.0) : INFINITY;
}

bool bdml_deadline_begin(bdml_handle *h, double limit)
{
    if (h->deadline > 0.0) return false;
    h->deadline = h->limit_at > 0.0 ? h->limit_at : limit > 0.0 ? bdml_now() + limit : 0.0;
    h->stop_by = h->deadline;
    return h->deadline > 0.0;
}

void bdml_deadline_end(bdml_handle *h, bool began)
{
    if (began) h->deadline = h->stop_by = 0.0;
}

double bdml_deadline_lift(bdml_handle *h)
{
    double deadline = h->deadline;
    h->deadline = 0.0;
    return deadline;
}

double bdml_time_share(const bdml_handle *h, double share)
{
    double now = bdml_now();
    return h->deadline > 0.0 ? now + share * BDML_MAX(h->deadline - now, 0.0) : 0.0;
}

bool bdml_time_is_up(const bdml_handle *h)
{
    return h->stop_by > 0.0 && bdml_now() >= h->stop_by;
}

bool bdml_time_is_short(bdml_handle *h, double seconds)
{
    double now = bdml_now();
    if (!(h->stop_by > 0.0) || now + seconds < h->stop_by) return false;
    h->stop_by = BDML_MIN(h->stop_by, now);
    return true;
}

bdml_status bdml_time_check(bdml_handle *h, const char *what)
{
    if (!bdml_time_is_up(h)) return BDML_OK;
    return bdml_fail(h, BDML_ERR_CANCELLED, "the time limit is over, during: %s", what);
}

bool bdml_is_late(const bdml_handle *h, bdml_status status)
{
    /* what ends for the clock says so, maybe a little before its time */
    return status == BDML_ERR_CANCELLED && !h->leaving && h->stop_by > 0.0 &&
           strstr(h->error, "the time limit");
}

bool bdml_is_cut(bdml_handle *h, const char *what, int thread)
{
    return bdml_time_is_up(h) || (thread == 0 ? bdml_leaves(h, what) : h->leaving);
}

static void charge(bdml_handle *h)
{
    double now = bdml_now();
    h->phase_seconds[h->phase] += now - h->phase_since;
    h->phase_since = now;
}

bdml_phase bdml_phase_enter(bdml_handle *h, bdml_phase phase)
{
    bdml_phase previous = h->phase;
    charge(h);
    h->phase = phase;
    return previous;
}

void bdml_phase_leave(bdml_handle *h, bdml_phase previous)
{
    charge(h);
    h->phase = previous;
}

int bdml_phase_count(void)
{
    return BDML_PHASE_COUNT;
}

const char *bdml_phase_name(int phase)
{
    return phase >= 0 && phase < BDML_PHASE_COUNT ? phase_names[phase] : NULL;
}

double bdml_phase_seconds(const bdml_handle *h, int phase)
{
    return h && phase >= 0 && phase < BDML_PHASE_COUNT ? h->phase_seconds[phase] : 0.0;
}
