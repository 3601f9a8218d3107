/* memory.c - the one place that allocates: checked products, alignment, fault injection. */
#include "base/base.h"

#include <malloc.h>
#include <stdlib.h>

enum { ALIGN = 64, ALIGN_FROM = 1024 }; /* cache line; below this many bytes malloc's will do */

static bool product(bdml_handle *h, size_t count, size_t size, size_t *bytes)
{
    h->alloc_count++;
    if (h->fail_alloc > 0 && --h->fail_alloc == 0) {
        bdml_fail(h, BDML_ERR_MEMORY, "out of memory (injected fault)");
        return false;
    }
    if (size != 0 && count > (SIZE_MAX - ALIGN) / size) {
        bdml_fail(h, BDML_ERR_MEMORY, "%zu items of %zu bytes are more than memory can address",
                  count, size);
        return false;
    }
    *bytes = BDML_MAX(count * size, 1);
    return true;
}

static void *refuse(bdml_handle *h, size_t bytes)
{
    bdml_fail(h, BDML_ERR_MEMORY, "out of memory: %.1f MiB were refused",
              (double)bytes / 1048576.0);
    return NULL;
}

/* The system says yes to more than there is, and ends the program that uses it. */
static bool there(bdml_handle *h, size_t bytes)
{
    char need[BDML_BYTES_SIZE], have[BDML_BYTES_SIZE];
    if (bytes < BDML_MEMORY_ASKED) return true;
    double free = bdml_memory_free(h);
    if ((double)bytes <= free) return true;
    bdml_fail(h, BDML_ERR_MEMORY, "out of memory: %s are wanted in one piece, and %s are free",
              bdml_bytes_text((double)bytes, need), bdml_bytes_text(free, have));
    return false;
}

void *bdml_alloc(bdml_handle *h, size_t count, size_t size)
{
    size_t bytes;
    if (!product(h, count, size, &bytes) || !there(h, bytes)) return NULL;
    void *p = bytes < ALIGN_FROM ? malloc(bytes)
                                 : aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
    return p ? p : refuse(h, bytes);
}

void *bdml_calloc(bdml_handle *h, size_t count, size_t size)
{
    void *p = bdml_alloc(h, count, size);
    if (p) memset(p, 0, count * size);
    return p;
}

void *bdml_realloc(bdml_handle *h, void *old, size_t count, size_t size)
{
    size_t bytes;
    if (!product(h, count, size, &bytes)) return NULL;
    size_t had = old ? malloc_usable_size(old) : 0;
    if (bytes > had && !there(h, bytes - had)) return NULL;
    void *p = realloc(old, bytes);
    return p ? p : refuse(h, bytes);
}

char *bdml_strndup(bdml_handle *h, const char *s, size_t n)
{
    char *copy = bdml_alloc(h, n + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *bdml_strdup(bdml_handle *h, const char *s)
{
    return bdml_strndup(h, s, strlen(s));
}

void bdml_memory_back(double bytes)
{
#if defined(__GLIBC__)
    if (bytes >= BDML_MEMORY_ASKED) malloc_trim(0);
#else
    (void)bytes;
#endif
}

bdml_status bdml_grow(bdml_handle *h, void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) return BDML_OK;
    size_t want = BDML_MAX(need, BDML_MAX(*capacity <= SIZE_MAX / 2 ? 2 * *capacity : need, 16));
    void *old, *p;
    memcpy(&old, array, sizeof old); /* `array` points at a typed pointer */
    p = bdml_realloc(h, old, want, size);
    if (!p && size > 0 && want > need && need > BDML_MEMORY_ASKED / size) { /* no room to double */
        want = BDML_MIN(want, need + need / 16);
        p = bdml_realloc(h, old, want, size);
    }
    if (!p) return BDML_ERR_MEMORY;
    memcpy(array, &p, sizeof p);
    *capacity = want;
    return BDML_OK;
}
