/* mapped.c - a stretch of a file as memory, without a copy.
 *
 * Reading a mapped page that the file no longer has raises SIGBUS, which would end the program of whoever uses the library. While
 * anything is mapped a handler is there for that: a page of ours that is gone becomes zeros, the mapping is marked as lost, and
 * what was going on ends in BDML_ERR_IO where bdml_mapped_check is asked (with the size and the time of the file, so that a file
 * that is written over is noticed too). A SIGBUS that is not ours goes to the handler that was there before, and with the last
 * mapping that one is back in its place.
 *
 * The handler looks at a table of fixed size without a lock: places are taken and given back under one, the end of a stretch is
 * set last and cleared first. With no place left nothing is mapped, and the caller reads instead. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 64 };

typedef struct place {
    _Atomic uintptr_t begin, end; /* end 0: free */
    atomic_int lost;
} place;

struct bdml_mapped {
    char *base;      /* of the first page */
    size_t pages;    /* bytes mapped from there on, */
    size_t before;   /* of which so many stand before what was asked for */
    size_t bytes;    /* asked for */
    struct stat was; /* of the file, when it was mapped */
    int fd;
    place *at;
};

static place table[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mapped; /* stretches in the table */
static struct sigaction before;

/* ---- the handler ------------------------------------------------------------------------------------- */

static place *place_of(uintptr_t at)
{
    for (int i = 0; i < PLACES; i++)
        if (at < atomic_load(&table[i].end) && at >= atomic_load(&table[i].begin)) return &table[i];
    return NULL;
}

/* Zeros from the page of `at` to the end of the stretch: where one page of a file is gone, those behind it are. */
static bool put_zeros(place *p, uintptr_t at)
{
    uintptr_t page = at - at % (uintptr_t)sysconf(_SC_PAGESIZE), end = atomic_load(&p->end);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address, rounded */
    void *zeros = mmap((void *)page, end - page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    atomic_store(&p->lost, 1);
    return zeros != MAP_FAILED;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    place *p = place_of((uintptr_t)info->si_addr);
    if (p && put_zeros(p, (uintptr_t)info->si_addr)) {
        errno = kept;
        return;
    }
    errno = kept;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        signal(number, SIG_DFL); /* the access is made again, and ends the program */
}

/* Under the lock, with the first stretch. */
static bool listen_to_bus(void)
{
    struct sigaction own = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    own.sa_sigaction = on_bus;
    sigemptyset(&own.sa_mask);
    return sigaction(SIGBUS, &own, &before) == 0;
}

/* With the last; a handler that somebody has put in its place since stays. */
static void leave_bus(void)
{
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_bus)
        sigaction(SIGBUS, &before, NULL);
}

/* ---- stretches ---------------------------------------------------------------------------------------- */

static place *take_place(uintptr_t begin, uintptr_t end)
{
    place *free_one = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PLACES && !free_one; i++)
        if (atomic_load(&table[i].end) == 0) free_one = &table[i];
    if (free_one && mapped == 0 && !listen_to_bus()) free_one = NULL;
    if (free_one) {
        mapped++;
        atomic_store(&free_one->lost, 0);
        atomic_store(&free_one->begin, begin);
        atomic_store(&free_one->end, end);
    }
    pthread_mutex_unlock(&lock);
    return free_one;
}

static void give_back(place *p)
{
    pthread_mutex_lock(&lock);
    atomic_store(&p->end, 0);
    if (--mapped == 0) leave_bus();
    pthread_mutex_unlock(&lock);
}

void bdml_mapped_free(bdml_mapped *m)
{
    if (!m) return;
    if (m->at) give_back(m->at);
    if (m->base) munmap(m->base, m->pages);
    if (m->fd >= 0) close(m->fd);
    free(m);
}

bdml_status bdml_mapped_new(bdml_handle *h, int fd, int64_t offset, size_t bytes, bdml_mapped **out)
{
    bdml_status status = BDML_OK;
    bdml_mapped *m = NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *out = NULL;
    BDML_NEW(h, m, 1);
    m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (m->fd < 0 || fstat(m->fd, &m->was) != 0 || !S_ISREG(m->was.st_mode) || bytes == 0 ||
        offset < 0 || m->was.st_size - offset < (off_t)bytes)
        goto done;
    m->before = (size_t)offset % page;
    m->bytes = bytes;
    m->pages = m->before + bytes;
    void *base =
        mmap(NULL, m->pages, PROT_READ, MAP_PRIVATE, m->fd, (off_t)(offset - (int64_t)m->before));
    if (base == MAP_FAILED) goto done;
    m->base = base;
    size_t whole = (m->pages + page - 1) / page * page;
    m->at = take_place((uintptr_t)base, (uintptr_t)base + whole);
    if (!m->at) goto done;
    *out = m;
    m = NULL;
done:
    bdml_mapped_free(m);
    return status;
}

const void *bdml_mapped_bytes(const bdml_mapped *m)
{
    return m->base + m->before;
}

/* The kernel brings many pages at a time where it knows how (Linux 5.14), and one by one as they are read otherwise. */
void bdml_mapped_expect(const bdml_mapped *m, size_t from, size_t bytes)
{
#ifdef MADV_POPULATE_READ
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at = m->before + from, end = at + bytes;
    at -= at % page;
    (void)madvise(m->base + at, BDML_MIN(end, m->pages) - at, MADV_POPULATE_READ);
#else
    (void)m, (void)from, (void)bytes;
#endif
}

bdml_status bdml_mapped_write(bdml_handle *h, bdml_mapped *m, const char *name)
{
    if (mprotect(m->base, m->pages, PROT_READ | PROT_WRITE) == 0) return BDML_OK;
    return bdml_fail(h, BDML_ERR_MEMORY, "%s: a copy of what is mapped was refused: %s", name,
                     strerror(errno));
}

bdml_status bdml_mapped_check(bdml_handle *h, const bdml_mapped *m, const char *name)
{
    struct stat now;
    bool same = fstat(m->fd, &now) == 0 && now.st_size == m->was.st_size &&
                now.st_mtim.tv_sec == m->was.st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == m->was.st_mtim.tv_nsec;
    if (same && !atomic_load(&m->at->lost)) return BDML_OK;
    return bdml_fail(h, BDML_ERR_IO,
                     "%s: the file was changed while it was in use, and what was computed is of no "
                     "use; leave it alone meanwhile, or read a copy of it by --mapping no",
                     name);
}
