/* main.c - the command bdml, in one process. */
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

int main(int argc, char **argv)
{
    keep_memory();
    return cli_main(argc, argv, NULL);
}
