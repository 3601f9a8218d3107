/* progress.c - progress, warnings and Ctrl-C. All of it speaks on standard error. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static const double BAR_AFTER = 0.5;   /* seconds: shorter work needs no bar */
static const double LINE_EVERY = 2.0;  /* seconds between plain lines */
static const double SAME_EVERY = 20.0; /* and between two that tell nothing new */
enum { BAR_WIDTH = 28 };

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */

/* A signal handler can reach nothing but a variable like this one. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* The first Ctrl-C asks to stop, the second one kills (SA_RESETHAND). System calls are not
 * restarted: a program that waits for input shall stop too. A terminal that is closed (SIGHUP, but under nohup) and processor
 * time that is used up (SIGXCPU, ulimit -t) ask likewise. A file that becomes larger than the process may make it (SIGXFSZ,
 * ulimit -f) is an error of the write. */
void cli_catch_interrupt(void)
{
    static const int asking[] = {SIGINT, SIGTERM, SIGXCPU, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof asking / sizeof *asking; k++) {
        bool left_alone = asking[k] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                          before.sa_handler == SIG_IGN;
        if (!left_alone) sigaction(asking[k], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

/* ---- a limit to the time --------------------------------------------------------------------- */

/* Whoever waits for a pipe asks no clock: a signal breaks the call off when time is over, and again and again, since the
 * first one may come just before a call. */
static volatile sig_atomic_t alarmed;

static void on_alarm(int number)
{
    (void)number;
    alarmed = 1;
}

void cli_wake_after(double seconds)
{
    static const double LONGEST = 1e8;
    enum { AGAIN = 100000 }; /* microseconds */
    if (!(seconds > 0.0) || !(seconds < LONGEST)) return;
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval at = {.it_interval = {0, AGAIN}};
    sigemptyset(&action.sa_mask);
    seconds += 1e-6 * AGAIN; /* what does ask the clock is the first to know */
    at.it_value.tv_sec = (time_t)seconds;
    at.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
    if (sigaction(SIGALRM, &action, NULL) == 0) setitimer(ITIMER_REAL, &at, NULL);
}

bool cli_alarmed(void)
{
    return alarmed != 0;
}

/* ---- bar and lines --------------------------------------------------------------------------- */

void cli_duration(double seconds, char *out, size_t size)
{
    if (seconds < 10.0)
        snprintf(out, size, "%.2g s", seconds);
    else if (seconds < 100.0)
        snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 6000.0)
        snprintf(out, size, "%.1f min", seconds / 60.0);
    else
        snprintf(out, size, "%.1f h", seconds / 3600.0);
}

void cli_progress_init(cli *c)
{
    c->progress.terminal = isatty(STDERR_FILENO) != 0;
    c->progress.whole.started = client_now();
    c->progress.to = 1.0;
    bdml_set_progress(c->h, cli_progress_report, c);
    bdml_set_log(c->h, cli_log, c);
}

void cli_progress_clear(cli *c)
{
    if (!c->progress.shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    c->progress.shown = false;
}

void cli_progress_part(cli *c, int part, int parts)
{
    c->progress.from = (double)part / parts;
    c->progress.to = (double)(part + 1) / parts;
    c->progress.whole.share = MAX(c->progress.whole.share, c->progress.from);
}

/* Does this phase take nearly all the time of the part that it is in? Others, such as reading, come and go beside it. */
static bool is_long(const char *phase)
{
    static const char *const names[] = {"cross-validation", "choice of settings",
                                        "evaluate",         "path",
                                        "verify",           "adapt",
                                        "mapping",          "classifying"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(phase, names[i]) == 0) return true;
    return false;
}

static bool is_counted(const cli_progress *p)
{
    return p->whole.share > 0.0 && p->whole.share < 1.0;
}

/* By the share of the whole where one is known and not used up, else by what the phase counts, else by its name alone. */
static void show(cli *c, double now, int64_t done, int64_t total)
{
    cli_progress *p = &c->progress;
    bool counted = is_counted(p);
    double seconds = counted ? remaining_seconds(&p->whole, now) : 0.0;
    int percent = remaining_percent(&p->whole);
    char left[32] = "", count[64] = " ...", bar[BAR_WIDTH + 1];

    if (seconds > 0.0) cli_duration(seconds, left, sizeof left);
    if (total > 0)
        snprintf(count, sizeof count, " %lld of %lld", (long long)done, (long long)total);
    else if (done > 0)
        snprintf(count, sizeof count, " %lld", (long long)done);
    if (!p->terminal) {
        if (counted)
            client_print(stderr, "bdml: %s: %d %%%s%s%s\n", p->phase, percent, left[0] ? ", " : "",
                         left, left[0] ? " left" : "");
        else
            client_print(stderr, "bdml: %s:%s\n", p->phase, count);
        return;
    }
    int full = (int)(p->whole.share * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    if (counted)
        client_print(stderr, "\r\033[K%-20.20s [%s] %3d %%  %s%s", p->phase, bar, percent, left,
                     left[0] ? " left" : "");
    else
        client_print(stderr, "\r\033[K%-20.20s%s", p->phase, count);
    fflush(stderr);
    p->shown = true;
}

int cli_progress_report(void *user, const char *phase, int64_t done, int64_t total)
{
    cli *c = user;
    cli_progress *p = &c->progress;
    double now = client_now();

    if (interrupted) return 1;
    if (cli_quiet(c)) return 0;
    snprintf(p->phase, sizeof p->phase, "%s", phase);
    if (is_long(phase) && total > 0) {
        double share = MIN((double)done / (double)total, 1.0);
        p->whole.share = MAX(p->whole.share, p->from + (p->to - p->from) * share);
    }
    double first = p->terminal ? BAR_AFTER : LINE_EVERY;
    if (now - p->whole.started < first) return 0;
    /* A line stays: it is not worth it for a phase that is over. */
    if (!p->terminal) {
        int percent = remaining_percent(&p->whole);
        bool news = percent != p->told || !is_counted(p);
        if (now - p->printed < (news ? LINE_EVERY : SAME_EVERY) || (done == total && total > 0))
            return 0;
        p->told = percent;
    }
    p->printed = now;
    show(c, now, done, total);
    return 0;
}

bdml_status cli_progress_step(cli *c, const char *what, int64_t done, int64_t total)
{
    if (cli_progress_report(c, what, done, total) == 0) return BDML_OK;
    return client_fail(c->h, BDML_ERR_CANCELLED, "stopped on request during: %s", what);
}

void cli_log(void *user, bdml_log_level level, const char *line)
{
    cli *c = user;
    if (level == BDML_LOG_WARNING) json_array_append_new(c->warnings, client_text(line));
    if (cli_quiet(c) || (level != BDML_LOG_WARNING && !cli_verbose(c))) return;
    cli_progress_clear(c);
    if (level == BDML_LOG_TABLE)
        client_print(stderr, "%s\n", line);
    else
        client_print(stderr, "bdml: %s%s\n", level == BDML_LOG_WARNING ? "warning: " : "", line);
}
