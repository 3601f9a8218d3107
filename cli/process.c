/* process.c - what a process that is the command alone settles before anything else: descriptors, memory, and threads and
 * kernels of OpenBLAS. */
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* A file that is opened takes the least number that is free: where standard error is closed, the model would, and warnings be
 * written into it. What stands in for a closed stream can be neither read nor written, so that whoever needs it hears of it. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

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
int openblas_get_num_threads(void) __attribute__((weak));

/* Where memory is limited (ulimit -v) those threads may not get what they start with, and ask for it for ever: they would never
 * end. The command is started again without them. */
static void restart_without_threads(char **argv)
{
    static const char setting[] = "OPENBLAS_NUM_THREADS";
    struct rlimit size, data;
    const char *is = getenv(setting);
    if (!openblas_get_num_threads || openblas_get_num_threads() <= 1) return;
    if (is && strcmp(is, "1") == 0) return; /* done before, in vain */
    if (getrlimit(RLIMIT_AS, &size) != 0 || getrlimit(RLIMIT_DATA, &data) != 0 ||
        (size.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY))
        return;
    if (setenv(setting, "1", 1) == 0) execv("/proc/self/exe", argv);
}

static void end_blas_threads(void)
{
    if (!openblas_set_num_threads || !blas_thread_shutdown_) return;
    openblas_set_num_threads(1);
    blas_thread_shutdown_();
}

/* A processor that is younger than OpenBLAS gets its oldest kernels, those of Prescott (2004): a product of matrices takes three to five times as
 * long. It is told of the best kind that the processor has the instructions for, as OPENBLAS_CORETYPE would when it is
 * loaded; where that is set, it stays. */
char *openblas_get_corename(void) __attribute__((weak));
void gotoblas_dynamic_init(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));

static const char *best_kernels(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return NULL;
}

static void choose_kernels(void)
{
    static const char setting[] = "OPENBLAS_CORETYPE";
    const char *best = best_kernels();
    if (!openblas_get_corename || !gotoblas_dynamic_init || !gotoblas_dynamic_quit || !best ||
        getenv(setting) || strcmp(openblas_get_corename(), "Prescott") != 0)
        return;
    if (setenv(setting, best, 1) != 0) return;
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
    unsetenv(setting);
}
#else
static void restart_without_threads(char **argv)
{
    (void)argv;
}

static void end_blas_threads(void)
{
}

static void choose_kernels(void)
{
}
#endif

void cli_settle(char **argv)
{
    fill_standard_streams();
    restart_without_threads(argv);
    keep_memory();
    end_blas_threads();
    choose_kernels();
}
