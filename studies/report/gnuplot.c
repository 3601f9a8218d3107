/* gnuplot.c - run gnuplot: no shell, no user's start file, script and picture through descriptors, so that
 * no file name is ever part of a script. */
#include "report/report.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Descriptors of the child: 0 the script, 1 the picture, 2 what gnuplot has to say. */
static int spawn(int in, int out, int errors, pid_t *pid)
{
    char name[] = "gnuplot", defaults[] = "-d"; /* -d: without ~/.gnuplot */
    char *argv[] = {name, defaults, NULL};
    posix_spawn_file_actions_t actions;

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
        if (out[strspn(out, " \t^")]) return;
    }
}

bdml_status study_gnuplot_run(bdml_handle *h, FILE *script, int out, bool *found)
{
    bdml_status status = BDML_OK;
    int result = 0;
    pid_t pid = 0, ended;
    char words[256];
    FILE *errors = tmpfile();

    *found = true;
    if (!errors || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0 ||
        lseek(fileno(script), 0, SEEK_SET) != 0) {
        status = client_fail(h, BDML_ERR_IO, "no plot: a temporary file cannot be written: %s",
                             strerror(errno));
        goto done;
    }
    int error = spawn(fileno(script), out, fileno(errors), &pid);
    if (error == ENOENT || error == EACCES || error == ENOTDIR) {
        *found = false;
        bdml_log_line(h, BDML_LOG_WARNING,
                      "no plot: gnuplot was not found; install it (Debian package gnuplot-nox)");
        goto done;
    }
    if (error) {
        status =
            client_fail(h, BDML_ERR_IO, "no plot: gnuplot cannot be started: %s", strerror(error));
        goto done;
    }
    do ended = waitpid(pid, &result, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0 || !WIFEXITED(result) || WEXITSTATUS(result) != 0) {
        first_words(errors, words, sizeof words);
        status =
            client_fail(h, BDML_ERR_IO, "no plot: gnuplot failed%s%s", words[0] ? ": " : "", words);
    }
done:
    if (errors) fclose(errors);
    return status;
}
