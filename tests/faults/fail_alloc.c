/* fail_alloc.c - preloaded into a program (LD_PRELOAD): the n-th allocation after the start of main fails, whoever
 * asks for it: the program, jansson, matio, libzip, LAPACKE or the C library.
 *
 *     FAIL_ALLOC=n       which one; 0: none
 *     FAIL_ALLOC_LOG=F   at the end F has: allocations so far, blocks taken since main and not given back, and 1
 *                        when the n-th was spared
 *
 * The loader and the constructors of libraries come before main, and are not counted. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name): names of the C library */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);

typedef int main_fn(int argc, char **argv, char **envp);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                     void (*loader)(void), void *stack);
extern int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*loader)(void), void *stack);

static atomic_bool counting;
static atomic_long count, live;
static bool spared; /* the one that was to fail */
static long fail_at;
static main_fn *real_main;

/* OpenBLAS does not look whether it got memory, and libgomp ends the program: neither is ours to mend. */
static bool is_spared(void *caller)
{
    Dl_info where;
    return dladdr(caller, &where) && where.dli_fname &&
           (strstr(where.dli_fname, "libopenblas") || strstr(where.dli_fname, "libgomp"));
}

static bool fails(void *caller)
{
    if (!counting) return false;
    if (++count != fail_at) return false;
    spared = is_spared(caller);
    errno = ENOMEM;
    return !spared;
}

static void *took(void *p)
{
    if (counting && p) live++;
    return p;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : took(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : took(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    if (fails(__builtin_return_address(0))) return NULL;
    void *p = __libc_realloc(old, size);
    if (counting && !old && p) live++;
    if (counting && old && size == 0) live--;
    return p;
}

void *memalign(size_t align, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : took(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = memalign(align, size);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

void free(void *p)
{
    if (counting && p) live--;
    __libc_free(p);
}

static void tell(void)
{
    char line[64];
    const char *path = getenv("FAIL_ALLOC_LOG");
    counting = false;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    snprintf(line, sizeof line, "%ld %ld %d\n", (long)count, (long)live, spared);
    fputs(line, f);
    fclose(f);
}

static int counted_main(int argc, char **argv, char **envp)
{
    counting = true;
    int code = real_main(argc, argv, envp);
    tell();
    return code;
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void *stack)
{
    const char *n = getenv("FAIL_ALLOC");
    start_fn *start;
    void *symbol = dlsym(RTLD_NEXT, "__libc_start_main");
    memcpy(&start, &symbol, sizeof start);
    fail_at = n ? strtol(n, NULL, 10) : 0;
    real_main = main;
    return start(counted_main, argc, argv, init, fini, loader, stack);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */
