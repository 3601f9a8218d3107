/* process.c - what a process that is the command alone settles before anything else: memory, and threads of OpenBLAS. */
#include "cli.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* Training allocates and frees arrays of the same sizes over and over. Given back to the system each time, they cost
 * a fault a page to get again: up to a tenth of the time. */
static void keep_memory(void)
{
#if defined(__GLIBC__)
    enum { KEPT = 256 << 20, FROM_HEAP = 32 << 20 }; /* the most that glibc takes for the latter */
    mallopt(M_MMAP_THRESHOLD, FROM_HEAP);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

/* OpenBLAS starts a thread a core when it is loaded, and each of them keeps its core busy for 2^28 cycles, a tenth of a
 * second, before it sleeps. bdml has threads of its own and OpenBLAS at one (docs/dependencies.md), so they are ended here, by what OpenBLAS
 * itself calls before a fork; it starts them anew when it is told of more threads than one (deterministic = no). Weak, since an OpenBLAS
 * without threads and another BLAS have neither function. */
#if defined(__GNUC__) && defined(__ELF__)
int blas_thread_shutdown_(void) __attribute__((weak));
void openblas_set_num_threads(int threads) __attribute__((weak));

static void end_blas_threads(void)
{
    if (!openblas_set_num_threads || !blas_thread_shutdown_) return;
    openblas_set_num_threads(1);
    blas_thread_shutdown_();
}
#else
static void end_blas_threads(void)
{
}
#endif

void cli_settle(void)
{
    keep_memory();
    end_blas_threads();
}
