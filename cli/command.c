/* command.c - run one command: parse, call, report, exit.
 *
 * Exit codes: 0 done, 1 failed or interrupted, 2 bad usage or input, 3 proven infeasible. */
#include "cli.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INFEASIBLE = 3 };

static int exit_code(const cli *c, bdml_status status)
{
    if (c->refuted) return EXIT_FAILED;
    switch (status) {
    case BDML_OK:
        return EXIT_DONE;
    case BDML_ERR_INFEASIBLE:
        return EXIT_INFEASIBLE;
    case BDML_ERR_ARGUMENT:
    case BDML_ERR_DATA:
    case BDML_ERR_FORMAT:
        return EXIT_USAGE;
    case BDML_ERR_IO:
        return c->output_failed ? EXIT_FAILED : EXIT_USAGE;
    case BDML_ERR_MEMORY:
    case BDML_ERR_LAPACK:
    case BDML_ERR_CANCELLED:
        break;
    }
    return EXIT_FAILED;
}

/* --json counts even when the command line as a whole could not be read. */
static bool asked_for_json(const cli *c, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) return true;
    return cli_json(c);
}

static void report_failure(cli *c, bdml_status status, bool json)
{
    char line[CLI_FAILURE];
    const char *told = bdml_last_error(c->h), *error = told[0] ? told : bdml_status_text(status);

    cli_progress_clear(c);
    if (status == BDML_ERR_CANCELLED)
        snprintf(line, sizeof line, "interrupted: %s; %s", error,
                 c->kept[0] ? c->kept : "nothing was written");
    else
        snprintf(line, sizeof line, "%s", error);
    fflush(stdout);
    if (c->ranks)
        snprintf(c->ranks->failure, sizeof c->ranks->failure, "%s", line);
    else
        client_print(stderr, "bdml: %s\n", line);
    if (!json) return;
    /* A proof of infeasibility and a refuted claim are results too. */
    bool answer = status == BDML_ERR_INFEASIBLE || c->refuted;
    json_t *object = answer ? json_incref(c->result) : json_object();
    cli_put(object, "error", client_text(line));
    cli_put(object, "status", client_text(c->refuted ? "refuted" : bdml_status_text(status)));
    cli_put(object, "exit", json_integer(exit_code(c, status)));
    if (cli_json_print(c, object) != BDML_OK)
        client_print(stderr, "bdml: %s\n", bdml_last_error(c->h));
    json_decref(object);
}

/* -v: where the time went. */
static void report_phases(const cli *c)
{
    char text[32];
    for (int i = 0; i < bdml_phase_count(); i++) {
        double seconds = bdml_phase_seconds(c->h, i);
        if (seconds < 1e-3) continue;
        cli_duration(seconds, text, sizeof text);
        client_print(stderr, "bdml: time in %-12s %s\n", bdml_phase_name(i), text);
    }
}

/* One rank of several: who is silent, which commands there are for them, and whose processors are whose. */
static bdml_status join_ranks(cli *c)
{
    char threads[32];
    const bdml_comm *comm = c->ranks->comm;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    TRY(bdml_set_comm(c->h, comm));
    if (comm->rank > 0) c->own[CLI_OPT_QUIET].i = 1;
    if (comm->size > 1 && c->command->run != cli_train && c->command->run != cli_eval)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "bdml-mpi runs train and eval over ranks; for '%s' use bdml",
                           c->command->name);
    if (bdml_is_given(c->h, "threads") || omp_get_num_procs() < processors) return BDML_OK;
    snprintf(threads, sizeof threads, "%ld", MAX(processors / c->ranks->here, 1L));
    return bdml_set(c->h, "threads", threads);
}

static bdml_status run(cli *c, int argc, char **argv)
{
    TRY(cli_parse(c, argc, argv));
    if (c->ranks) TRY(join_ranks(c));
    cli_progress_init(c);
    if (c->own[CLI_OPT_HELP].i) {
        FILE *f = cli_text_begin(c);
        if (!f) return BDML_ERR_MEMORY;
        cli_help_command(f, c->command, c->own[CLI_OPT_ALL].i != 0);
        TRY(cli_text_end(c, f));
    } else {
        if (cli_json(c)) TRY(cli_note_command(c));
        double limit = bdml_get_number(c->h, "time-limit");
        bdml_limit_time(c->h, limit);
        if (!c->ranks) cli_wake_after(limit); /* MPI has waits of its own */
        TRY(c->command->run(c));
    }
    cli_progress_clear(c);
    if (json_array_size(c->warnings) > 0) json_object_set(c->result, "warnings", c->warnings);
    if (!client_json_whole()) return client_no_memory(c->h);
    if (cli_json(c)) TRY(cli_json_print(c, c->result));
    if (cli_verbose(c)) report_phases(c);
    return BDML_OK;
}

static void close_cli(cli *c)
{
    for (int i = 0; i < CLI_OPT_COUNT; i++) free(c->own[i].text);
    json_decref(c->result);
    json_decref(c->warnings);
    client_memory_free(&c->text);
    bdml_free(c->h);
}

int cli_main(int argc, char **argv, cli_ranks *ranks)
{
    client_json_watch();
    cli c = {.result = json_object(), .warnings = json_array(), .ranks = ranks};
    bdml_status status = bdml_create(&c.h);

    if (status != BDML_OK || !c.result || !c.warnings) {
        fprintf(stderr, "bdml: out of memory\n");
        close_cli(&c);
        return EXIT_FAILED;
    }
    cli_catch_interrupt();
    status = run(&c, argc, argv);
    /* A call that Ctrl-C or the clock broke off is an interruption, whatever the reader made of it. */
    if (status != BDML_OK && cli_interrupted()) status = BDML_ERR_CANCELLED;
    if (status != BDML_OK && cli_alarmed() && strstr(bdml_last_error(c.h), strerror(EINTR)))
        status = client_fail(c.h, BDML_ERR_CANCELLED, "the time limit is over, during: waiting");
    if (status == BDML_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = cli_wrote(&c, client_fail(c.h, BDML_ERR_IO, "standard output: writing failed: %s",
                                           strerror(errno)));
    if (status != BDML_OK) report_failure(&c, status, asked_for_json(&c, argc, argv));
    int code = exit_code(&c, status);
    close_cli(&c);
    return code;
}
