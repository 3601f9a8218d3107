/* counting_malloc.h - malloc and its kin in the place of the C library's, which count: bytes that are held, and the most there
 * were since counting_begin. For the one file of a program that includes it; glibc without sanitizers alone. */
#ifndef BDML_TESTS_COUNTING_MALLOC_H
#define BDML_TESTS_COUNTING_MALLOC_H

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTING 1
#else
#define COUNTING 0
#endif

static int64_t counting_held, counting_most, counting_base;

/* From now on the most is counted, from what is held now. */
static inline void counting_begin(void)
{
    counting_base = __atomic_load_n(&counting_held, __ATOMIC_RELAXED);
    __atomic_store_n(&counting_most, counting_base, __ATOMIC_RELAXED);
}

/* Bytes beyond those of counting_begin, at most. */
static inline double counting_peak(void)
{
    return (double)(__atomic_load_n(&counting_most, __ATOMIC_RELAXED) - counting_base);
}

#if COUNTING
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): names of the C library */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *counted(void *p)
{
    if (!p) return NULL;
    int64_t now =
        __atomic_add_fetch(&counting_held, (int64_t)malloc_usable_size(p), __ATOMIC_RELAXED);
    int64_t most = __atomic_load_n(&counting_most, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&counting_most, &most, now, 0,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return p;
}

static void *uncounted(void *p)
{
    if (p) __atomic_sub_fetch(&counting_held, (int64_t)malloc_usable_size(p), __ATOMIC_RELAXED);
    return p;
}

void *malloc(size_t n)
{
    return counted(__libc_malloc(n));
}
void *calloc(size_t n, size_t size)
{
    return counted(__libc_calloc(n, size));
}
void free(void *p)
{
    __libc_free(uncounted(p));
}
void *memalign(size_t align, size_t n)
{
    return counted(__libc_memalign(align, n));
}
void *aligned_alloc(size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void *aligned_alloc(size_t align, size_t n)
{
    return counted(__libc_memalign(align, n));
}
int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = counted(__libc_memalign(align, n));
    if (p) *out = p;
    return p ? 0 : ENOMEM;
}
void *realloc(void *p, size_t n)
{
    int64_t had = p ? (int64_t)malloc_usable_size(p) : 0;
    void *q = __libc_realloc(p, n);
    if (!q && n > 0) return NULL;
    __atomic_sub_fetch(&counting_held, had, __ATOMIC_RELAXED);
    return counted(q);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */
#endif

#endif
