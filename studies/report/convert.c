/* convert.c - an SVG picture as PNG or PDF, by librsvg's rsvg-convert: no shell, and both pictures through
 * descriptors, so that no file name is ever part of a command. */
#include "report/report.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

bdml_status study_convert(bdml_handle *h, FILE *svg, const char *format, int out, bool *found)
{
    bdml_status status = BDML_OK;
    int result = 0;
    pid_t pid = 0, ended;
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
    do ended = waitpid(pid, &result, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0 || !WIFEXITED(result) || WEXITSTATUS(result) != 0) {
        first_words(errors, words, sizeof words);
        status = client_fail(h, BDML_ERR_IO, "no picture: rsvg-convert failed%s%s",
                             words[0] ? ": " : "", words);
    }
done:
    if (errors) fclose(errors);
    return status;
}
