/* convert.c - an SVG picture as PNG or PDF, by librsvg's rsvg-convert: no shell, and both pictures through
 * descriptors, so that no file name is ever part of a command. */
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double LONGEST = 60.0; /* seconds that a picture may take: it takes a tenth of one */
static const double LEAST =
    1.0; /* seconds that it is given in any case: the result is there by then */

extern char **environ;

/* Descriptors of the child: 0 the SVG, 1 the picture, 2 what it has to say. */
static int spawn(const char *format, int in, int out, int errors, pid_t *pid)
{
    char name[] = "rsvg-convert", option[32];
    char *argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;

    snprintf(option, sizeof option, "--format=%s", format);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    if (!error) error = posix_spawnp(pid, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The first line of the file that says something, on one line. */
static void first_words(FILE *f, char *out, size_t size)
{
    rewind(f);
    out[0] = '\0';
    while (fgets(out, (int)size, f)) {
        out[strcspn(out, "\r\n")] = '\0';
        if (out[strspn(out, " \t")]) return;
    }
}

/* Wait for the child until then; a child that hangs is killed, and false returned. */
static bool wait_for(pid_t pid, double until, int *result)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    for (;;) {
        pid_t ended = waitpid(pid, result, WNOHANG);
        if (ended == pid) return true;
        if (ended < 0 && errno != EINTR) return false;
        if (client_now() >= until) {
            kill(pid, SIGKILL);
            waitpid(pid, result, 0);
            return false;
        }
        nanosleep(&pause, NULL);
    }
}

bdml_status study_convert(bdml_handle *h, FILE *svg, const char *format, int out, bool *found)
{
    bdml_status status = BDML_OK;
    int result = 0;
    pid_t pid = 0;
    char words[256];
    FILE *errors = tmpfile();

    *found = true;
    if (!errors || fflush(svg) != 0 || fseek(svg, 0, SEEK_SET) != 0 ||
        lseek(fileno(svg), 0, SEEK_SET) != 0) {
        status = client_fail(h, BDML_ERR_IO, "no picture: a temporary file cannot be written: %s",
                             strerror(errno));
        goto done;
    }
    int error = spawn(format, fileno(svg), out, fileno(errors), &pid);
    if (error == ENOENT || error == EACCES || error == ENOTDIR) {
        *found = false;
        goto done;
    }
    if (error) {
        status = client_fail(h, BDML_ERR_IO, "no picture: rsvg-convert cannot be started: %s",
                             strerror(error));
        goto done;
    }
    double limit = MAX(MIN(LONGEST, bdml_time_left(h)), LEAST);
    if (!wait_for(pid, client_now() + limit, &result)) {
        status =
            client_fail(h, BDML_ERR_IO,
                        "no picture: rsvg-convert was not done after %.3g seconds; ask for .svg, "
                        "which needs nothing",
                        limit);
    } else if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
        first_words(errors, words, sizeof words);
        status = client_fail(h, BDML_ERR_IO, "no picture: rsvg-convert failed%s%s",
                             words[0] ? ": " : "", words);
    }
done:
    if (errors) fclose(errors);
    return status;
}
