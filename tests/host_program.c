/* host_program.c - programs that use the shared library and have a life of their own: threads, a fork, a locale with decimal
 * commas, a BLAS setting, signal handlers, a file mode mask. Nothing of theirs is changed, and nothing of theirs changes a bit. */
#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bdml/bdml.h"

enum { LATE = 60 }; /* seconds that a child may take */

/* Everything that a program does with the library, small: read, train, certify, map, evaluate, save, load. The map is copied
 * out, q x d of it; returns how many numbers, 0: something failed, and `why` says what. */
enum { MOST = 64, WHY = 400 };
typedef struct outcome {
    int numbers;
    double map[MOST];
    char why[WHY];
} outcome;

static bool good(bdml_handle *h, bdml_status status, const char *what, outcome *out)
{
    if (status != BDML_OK) snprintf(out->why, WHY, "%s: %s", what, bdml_last_error(h));
    return status == BDML_OK;
}
#define STEP(call)                                 \
    do {                                           \
        if (!good(h, call, #call, out)) goto done; \
    } while (0)

static void work(const char *threads, outcome *out)
{
    bdml_handle *h = NULL;
    bdml_dataset *data = NULL;
    bdml_model *model = NULL, *again = NULL;
    void *bytes = NULL;
    char *json = NULL;
    size_t size;
    int confirmed = 0;
    memset(out, 0, sizeof *out);
    if (bdml_create(&h) != BDML_OK) return;
    STEP(bdml_set(h, "threads", threads));
    STEP(bdml_set(h, "distortion", "7.5")); /* a point, whatever the locale */
    STEP(bdml_set(h, "softness", "10"));
    STEP(bdml_set(h, "reference", "none"));
    STEP(bdml_set(h, "scale", "zscore"));
    STEP(bdml_read_dataset(h, BDML_TEST_SOURCE_DIR "/data/iris.csv", &data));
    STEP(bdml_train(h, data, NULL, &model));
    STEP(bdml_save_model_bytes(h, model, &bytes, &size));
    STEP(bdml_load_model_bytes(h, bytes, size, &again));
    STEP(bdml_certify_model(h, again, data, &confirmed, &json));
    if (!confirmed) {
        snprintf(out->why, WHY, "not confirmed");
        goto done;
    }
    STEP(bdml_model_get_map(h, again, out->map));
    out->numbers = bdml_model_output_dimension(again) * bdml_dataset_dimension(data);
done:
    bdml_free_bytes(json);
    bdml_free_bytes(bytes);
    bdml_free_model(model);
    bdml_free_model(again);
    bdml_free_dataset(data);
    bdml_free(h);
}

static outcome expected; /* by one thread, before anything else happens */

static void same(const outcome *o)
{
    if (o->numbers == 0) fail_msg("%s", o->why);
    assert_int_equal(o->numbers, expected.numbers);
    assert_memory_equal(o->map, expected.map, sizeof *o->map * (size_t)o->numbers);
}

static int first_run(void **state)
{
    (void)state;
    work("1", &expected);
    if (expected.numbers == 0) fprintf(stderr, "%s\n", expected.why);
    return expected.numbers > 0 ? 0 : -1;
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static void *thread(void *out)
{
    work("2", out);
    return NULL;
}

static void two_handles_in_two_threads(void **state)
{
    (void)state;
    pthread_t id[2];
    static outcome got[2];
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 2; k++)
            assert_int_equal(pthread_create(&id[k], NULL, thread, &got[k]), 0);
        for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(id[k], NULL), 0);
        for (int k = 0; k < 2; k++) same(&got[k]);
    }
}

static void inside_threads_of_openmp(void **state)
{
    (void)state;
    static outcome got[3];
    int level = omp_get_max_active_levels(), threads = omp_get_max_threads(),
        dynamic = omp_get_dynamic();
    omp_set_num_threads(3);
#pragma omp parallel num_threads(3)
    work("2", &got[omp_get_thread_num()]);
    for (int k = 0; k < 3; k++) same(&got[k]);
    assert_int_equal(omp_get_max_threads(), 3);
    assert_int_equal(omp_get_max_active_levels(), level);
    assert_int_equal(omp_get_dynamic(), dynamic);
    omp_set_num_threads(threads);
}

/* ---- fork ----------------------------------------------------------------------------------------------------- */

/* In a child, by so many threads; the child must end by itself. */
static void in_a_child(const char *threads)
{
    int end[2], status = 0;
    static outcome got;
    assert_int_equal(pipe(end), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LATE);
        work(threads, &got);
        _exit(write(end[1], &got, sizeof got) == (ssize_t)sizeof got ? 0 : 1);
    }
    close(end[1]);
    bool whole =
        read(end[0], &got, sizeof got) == (ssize_t)sizeof got; /* shorter than a pipe's room */
    close(end[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!whole || !WIFEXITED(status))
        fail_msg("a child after fork did not come to its end (%d)", status);
    same(&got);
}

static void after_a_fork(void **state)
{
    (void)state;
    outcome got;
    in_a_child("1");
    work("2", &got); /* now there are threads, which a child has not */
    same(&got);
    in_a_child("2");
    in_a_child("1");
    work("2", &got);
    same(&got);
}

/* ---- settings of the program -------------------------------------------------------------------------------------- */

static void blas_setting_stays(void **state)
{
    (void)state;
#ifndef BDML_HAVE_OPENBLAS
    skip(); /* a BLAS whose threads are not ours to hold still: bits are those of the program's setting */
#endif
    outcome got;
    int (*get)(void) = NULL;
    void (*set)(int) = NULL;
    *(void **)&get = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
    *(void **)&set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
    if (!get || !set) skip(); /* another BLAS */
    int before = get();
    for (int threads = 1; threads <= 2; threads++) {
        set(threads);
        int taken = get();
        work("2", &got);
        same(&got);
        assert_int_equal(get(), taken);
    }
    set(before);
}

static void on_signal(int number)
{
    (void)number;
}

static void signals_mask_and_folder_stay(void **state)
{
    (void)state;
    outcome got;
    struct sigaction mine = {.sa_handler = on_signal}, now[NSIG];
    static const int watched[] = {SIGINT, SIGTERM, SIGPIPE, SIGSEGV,
                                  SIGFPE, SIGALRM, SIGCHLD, SIGUSR1};
    enum { WATCHED = sizeof watched / sizeof *watched };
    sigset_t blocked, before, after;
    char folder[4096], later[4096];
    for (int k = 0; k < WATCHED; k++) assert_int_equal(sigaction(watched[k], &mine, &now[k]), 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    mode_t mask = umask(027);
    assert_non_null(getcwd(folder, sizeof folder));
    work("2", &got);
    same(&got);
    assert_int_equal(umask(mask), 027);
    assert_non_null(getcwd(later, sizeof later));
    assert_string_equal(folder, later);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int s = 1; s < 32; s++) assert_int_equal(sigismember(&before, s), sigismember(&after, s));
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    for (int k = 0; k < WATCHED; k++) {
        struct sigaction found;
        assert_int_equal(sigaction(watched[k], &now[k], &found), 0);
        assert_true(found.sa_handler == on_signal);
    }
}

/* Machines often have no such locale: one is made, where the parts of it are installed. */
static void make_locale(char *folder)
{
    char line[256];
    if (!mkdtemp(folder)) return;
    snprintf(line, sizeof line, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder,
             folder);
    if (system(line) == 0) setenv("LOCPATH", folder, 1); /* NOLINT: words of this test alone */
}

static void decimal_commas_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    char folder[] = "/tmp/bdml-locale-XXXXXX", line[64];
    outcome got;
    char text[32];
    size_t k = 0;
    make_locale(folder);
    while (k < sizeof names / sizeof *names && !setlocale(LC_ALL, names[k])) k++;
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (system(line) != 0) print_message("%s stays\n", folder); /* NOLINT: likewise */
    if (k == sizeof names / sizeof *names) {
        print_message("left out: no locale with decimal commas here, and localedef made none\n");
        skip();
    }
    work("2", &got);
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* of the process, and still of this thread */
    const char *now = setlocale(LC_ALL, NULL);
    assert_string_equal(now, names[k]);
    setlocale(LC_ALL, "C");
    same(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_fork),
        cmocka_unit_test(two_handles_in_two_threads),
        cmocka_unit_test(inside_threads_of_openmp),
        cmocka_unit_test(blas_setting_stays),
        cmocka_unit_test(signals_mask_and_folder_stay),
        cmocka_unit_test(decimal_commas_stay),
    };
    return cmocka_run_group_tests(tests, first_run, NULL);
}
