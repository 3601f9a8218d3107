/* guard.c - hold OpenBLAS to one thread while bdml's own threads work.
 *
 * OpenBLAS keeps its thread count per process, so the count of bdml calls under way is per process
 * too: the first call in saves the host program's setting and sets 1, the last call out restores
 * it. This and the table of mapped files (base/mapped.c) are the library's only state outside its handles. Another BLAS goes by settings of its own
 * (docs/dependencies.md). */
#include "linalg/linalg.h"

#include <pthread.h>

#ifdef BDML_HAVE_OPENBLAS
int openblas_get_num_threads(void); /* not in every cblas.h that may stand beside OpenBLAS */
void openblas_set_num_threads(int threads);
#else
static int openblas_get_num_threads(void)
{
    return 1;
}
static void openblas_set_num_threads(int threads)
{
    (void)threads;
}
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running = 0;
static int saved_threads = 0;

static _Thread_local int mine = 0; /* calls of this thread among those that run */

/* In a child there is this thread alone: the others' calls do not end, and a lock that they held is free. */
static void after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    running = mine;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

void bdml_la_enter(bdml_handle *h)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (h->blas_depth++ > 0) return; /* a call inside a call of the same handle */
    pthread_once(&once, watch_forks);
    mine++;
    pthread_mutex_lock(&lock);
    if (running++ == 0) {
        saved_threads = openblas_get_num_threads();
        if (saved_threads != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void bdml_la_leave(bdml_handle *h)
{
    if (--h->blas_depth > 0) return;
    mine--;
    pthread_mutex_lock(&lock);
    if (--running == 0 && saved_threads != 1) openblas_set_num_threads(saved_threads);
    pthread_mutex_unlock(&lock);
}

bdml_call bdml_call_begin(bdml_handle *h, bdml_phase phase)
{
    bdml_la_enter(h);
    bdml_phase previous = bdml_phase_enter(h, phase);
    return (bdml_call){previous, bdml_deadline_begin(h, h->options.solve.time_limit.value)};
}

void bdml_call_end(bdml_handle *h, bdml_call call)
{
    bdml_deadline_end(h, call.timed);
    bdml_phase_leave(h, call.previous);
    bdml_la_leave(h);
}

bool bdml_la_widen(int threads)
{
    pthread_mutex_lock(&lock);
    if (running == 1) {
        openblas_set_num_threads(threads);
        return true; /* the lock is held until bdml_la_narrow */
    }
    pthread_mutex_unlock(&lock);
    return false;
}

void bdml_la_narrow(void)
{
    openblas_set_num_threads(1);
    pthread_mutex_unlock(&lock);
}
