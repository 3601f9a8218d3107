/* guard.c - hold OpenBLAS to one thread while bdml's own threads work.
 *
 * OpenBLAS keeps its thread count per process, so the count of bdml calls under way is per process
 * too: the first call in saves the host program's setting and sets 1, the last call out restores
 * it. This and the table of mapped files (base/mapped.c) are the library's only state outside its handles. Another BLAS goes by settings of its own
 * (docs/dependencies.md). */
#include "linalg/linalg.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

/* ---- OpenBLAS's buffers ---------------------------------------------------------------------- */

/* Each thread that is inside OpenBLAS has a buffer of it, which it keeps for the next. Where it gets no memory for one it asks
 * again, for ever. So where memory can be refused at all, buffers are made here beforehand, each after a look whether
 * there is room, and no more threads work than have one. Weak, since not every BLAS has these. */
enum {
    BUFFER = (128 << 20) + (1 << 20),
    SPARE = 64 << 20, /* of a thread beside the first, for all else that is wanted */
    MOST_BUFFERS = 128
};

#if defined(BDML_HAVE_OPENBLAS) && defined(__GNUC__) && defined(__ELF__)
void *blas_memory_alloc(int unused) __attribute__((weak));
void blas_memory_free(void *buffer) __attribute__((weak));
#else
static void *(*const blas_memory_alloc)(int) = NULL;
static void (*const blas_memory_free)(void *) = NULL;
#endif

static bool strict; /* the system promises no more memory than it has (vm.overcommit_memory) */

static void ask_system(void)
{
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "re");
    strict = f && fgetc(f) == '2';
    if (f) fclose(f);
}

static bool is_limited(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    struct rlimit limit;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (getrlimit((__rlimit_resource_t)limits[k], &limit) == 0 &&
            limit.rlim_cur != RLIM_INFINITY)
            return true;
    return strict;
}

static bool has_room(size_t bytes)
{
    void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

/* How many of `wanted` buffers there are now; held by the lock. */
static int make_buffers(int wanted)
{
    static int made = 0;
    void *held[MOST_BUFFERS];
    int n = 0;
    wanted = BDML_MIN(wanted, (int)MOST_BUFFERS);
    if (wanted <= made) return wanted;
    for (; n < wanted; n++) { /* of those made before none is in use when no other call runs */
        if ((n >= made || running > 1) && !has_room(BUFFER + (n > 0 ? (size_t)SPARE : 0))) break;
        held[n] = blas_memory_alloc(0);
    }
    for (int k = 0; k < n; k++) blas_memory_free(held[k]);
    made = BDML_MAX(made, n);
    return BDML_MAX(made, n);
}

/* ---- calls --------------------------------------------------------------------------------------- */

static void enter(bdml_handle *h, int *buffers)
{
    pthread_mutex_lock(&lock);
    if (running++ == 0) {
        saved_threads = openblas_get_num_threads();
        if (saved_threads != 1) openblas_set_num_threads(1);
    }
    h->most_threads = 0;
    if (blas_memory_alloc && blas_memory_free && is_limited()) {
        *buffers = make_buffers((int)BDML_MIN((int64_t)running * bdml_threads(h), MOST_BUFFERS));
        h->most_threads = BDML_MAX(*buffers / running, 1);
    }
    pthread_mutex_unlock(&lock);
}

static void once_a_process(void)
{
    watch_forks();
    ask_system();
}

bdml_status bdml_la_enter(bdml_handle *h)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int buffers = 1;
    char need[BDML_BYTES_SIZE], have[BDML_BYTES_SIZE];
    if (h->blas_depth++ > 0) return BDML_OK; /* a call inside a call of the same handle */
    pthread_once(&once, once_a_process);
    mine++;
    enter(h, &buffers);
    if (buffers > 0) return BDML_OK;
    bdml_la_leave(h);
    return bdml_fail(h, BDML_ERR_MEMORY,
                     "out of memory: OpenBLAS needs about %s to work in, and %s are free (ulimit "
                     "-v, ulimit -d)",
                     bdml_bytes_text(BUFFER, need), bdml_bytes_text(bdml_memory_free(h), have));
}

void bdml_la_leave(bdml_handle *h)
{
    if (--h->blas_depth > 0) return;
    mine--;
    pthread_mutex_lock(&lock);
    if (--running == 0 && saved_threads != 1) openblas_set_num_threads(saved_threads);
    pthread_mutex_unlock(&lock);
}

bdml_status bdml_call_begin(bdml_handle *h, bdml_phase phase, bdml_call *call)
{
    BDML_TRY(bdml_la_enter(h));
    call->previous = bdml_phase_enter(h, phase);
    call->timed = bdml_deadline_begin(h, h->options.solve.time_limit.value);
    return BDML_OK;
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
