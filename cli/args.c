/* args.c - the command line into settings of the handle, own options and arguments.
 *
 *     bdml COMMAND [ARGUMENT | --name value | --name=value | --flag | --no-flag | -o value] ... */
#include "cli.h"

#include <stdlib.h>

/* ---- setting one option ---------------------------------------------------------------------- */

static bdml_status set_own(cli *c, const bdml_option *o, const char *value)
{
    cli_value v = {.changed = true};
    int id = 0;

    while (cli_option_own(id) != o) id++;
    TRY(bdml_check_option(c->h, o, value, &v.r));
    if (o->type != BDML_OPTION_TEXT) v.i = (int64_t)v.r;
    v.text = client_strdup(c->h, value);
    if (!v.text) return BDML_ERR_MEMORY;
    free(c->own[id].text);
    c->own[id] = v;
    return BDML_OK;
}

static bool is_own(const bdml_option *o)
{
    return o >= cli_option_own(0) && o <= cli_option_own(CLI_OPT_COUNT - 1);
}

/* The library says "scale must be ..."; on the command line it is --scale. */
static bdml_status set_option(cli *c, const bdml_option *o, const char *value)
{
    char was[CLIENT_ERROR];
    bdml_status status = is_own(o) ? set_own(c, o, value) : bdml_set(c->h, o->name, value);
    if (status != BDML_ERR_ARGUMENT) return status;
    snprintf(was, sizeof was, "%s", bdml_last_error(c->h));
    return client_fail(c->h, status, "--%s", was);
}

/* ---- names that are not there ---------------------------------------------------------------- */

/* The i-th option of the command `user`. */
static const char *option_word(const void *user, int i)
{
    for (int k = 0; k < cli_option_count(); k++)
        if (cli_command_takes(user, cli_option_at(k)) && i-- == 0) return cli_option_at(k)->name;
    return NULL;
}

static const char *command_word(const void *user, int i)
{
    (void)user;
    return i < cli_command_count() ? cli_command_at(i)->name : NULL;
}

static bdml_status unknown_command(cli *c, const char *word)
{
    int near = bdml_nearest_word(word, command_word, NULL);
    if (word[0] == '-')
        return client_fail(
            c->h, BDML_ERR_ARGUMENT,
            "options come after the command: bdml COMMAND %.60s ...; 'bdml help' lists "
            "the commands",
            word);
    if (near >= 0)
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "there is no command '%.100s'; did you mean %s? 'bdml help' lists them",
                           word, command_word(NULL, near));
    return client_fail(c->h, BDML_ERR_ARGUMENT,
                       "there is no command '%.100s'; 'bdml help' lists them", word);
}

/* What other programs, and the papers, call it. */
static const char *usual_name(const char *word)
{
    static const char *const names[][2] = {{"K", "distortion"},
                                           {"cap", "distortion"},
                                           {"kappa", "distortion"},
                                           {"k", "neighbors"},
                                           {"n-neighbors", "neighbors"},
                                           {"cv", "folds"},
                                           {"random-state", "seed"},
                                           {"standardize", "scale zscore"},
                                           {"normalize", "scale zscore"},
                                           {"target", "label"},
                                           {"class", "label"},
                                           {"y", "label"},
                                           {"n-components", "pca"},
                                           {"n-jobs", "threads"},
                                           {"max-memory", "memory"},
                                           {"timeout", "time-limit"},
                                           {"out", "output"},
                                           {"verbosity", "verbose"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(word, names[k][0]) == 0) return names[k][1];
    return NULL;
}

static bdml_status unknown_option(cli *c, const char *dashes, const char *word)
{
    const char *usual = usual_name(word);
    const bdml_option *meant = usual ? cli_option_find(usual, strcspn(usual, " ")) : NULL;
    if (meant && cli_command_takes(c->command, meant))
        return client_fail(c->h, BDML_ERR_ARGUMENT, "unknown option %s%.100s; here it is --%s",
                           dashes, word, usual);
    int near = dashes[1] ? bdml_nearest_word(word, option_word, c->command) : -1;
    if (near >= 0)
        return client_fail(c->h, BDML_ERR_ARGUMENT, "unknown option %s%.100s; did you mean --%s?",
                           dashes, word, option_word(c->command, near));
    return client_fail(c->h, BDML_ERR_ARGUMENT,
                       "unknown option %s%.100s; 'bdml help %s' lists those of %s", dashes, word,
                       c->command->name, c->command->name);
}

void cli_option_takers(const bdml_option *o, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (int i = 0; i < cli_command_count(); i++)
        if (cli_command_takes(cli_command_at(i), o) && n < size)
            n +=
                (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", cli_command_at(i)->name);
}

static bdml_status foreign_option(cli *c, const bdml_option *o)
{
    char where[160];
    cli_option_takers(o, where, sizeof where);
    return client_fail(c->h, BDML_ERR_ARGUMENT, "%s does not take --%s, which belongs to: %s",
                       c->command->name, o->name, where);
}

/* ---- one word of the command line ------------------------------------------------------------ */

typedef struct words {
    int left;
    char **next;
} words;

/* The value of an option that needs one: the next word, unless that is plainly another option. */
static bdml_status take_value(cli *c, const bdml_option *o, words *w, const char **value)
{
    char form[128];
    bool option_follows = w->left > 0 && strncmp(*w->next, "--", 2) == 0 && (*w->next)[2] &&
                          cli_option_find(*w->next + 2, strcspn(*w->next + 2, "=")) != NULL;
    if (w->left > 0 && !option_follows) {
        *value = *w->next++;
        w->left--;
        return BDML_OK;
    }
    cli_option_form(o, form, sizeof form);
    return client_fail(c->h, BDML_ERR_ARGUMENT, "--%s needs a value: %s", o->name, form);
}

static bdml_status parse_long(cli *c, const char *word, words *w)
{
    size_t n = strcspn(word, "=");
    const char *value = word[n] ? word + n + 1 : NULL;
    const bdml_option *o = cli_option_of(c->command, word, n);

    if (!o && strncmp(word, "no-", 3) == 0 && !value) {
        o = cli_option_find(word + 3, n - 3);
        if (o && o->type != BDML_OPTION_FLAG)
            return client_fail(c->h, BDML_ERR_ARGUMENT, "--%s is no switch: there is no --no-%s",
                               o->name, o->name);
        value = "no";
    }
    if (!o) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)MIN(n, sizeof name - 1), word);
        return unknown_option(c, "--", name);
    }
    if (!cli_command_takes(c->command, o)) return foreign_option(c, o);
    if (!value && o->type == BDML_OPTION_FLAG) value = "yes";
    if (!value) TRY(take_value(c, o, w, &value));
    return set_option(c, o, value);
}

/* "-q", "-k5", "-k 5", "-qo FILE" */
static bdml_status parse_short(cli *c, const char *word, words *w)
{
    for (const char *p = word; *p; p++) {
        const bdml_option *o = cli_option_by_short(*p);
        const char *value = p + 1;
        char letter[2] = {*p, '\0'};
        if (!o) return unknown_option(c, "-", letter);
        if (!cli_command_takes(c->command, o)) return foreign_option(c, o);
        if (o->type == BDML_OPTION_FLAG) {
            TRY(set_option(c, o, "yes"));
            continue;
        }
        if (!*value) TRY(take_value(c, o, w, &value));
        return set_option(c, o, value);
    }
    return BDML_OK;
}

static bdml_status add_argument(cli *c, const char *word)
{
    int most = 0;
    for (const char *p = c->command->arguments; *p; most++) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    if (c->arguments == most)
        return client_fail(c->h, BDML_ERR_ARGUMENT, "%s takes no '%.100s'; usage: bdml %s %s%s%s",
                           c->command->name, word, c->command->name, c->command->arguments,
                           most ? " " : "", c->command->synopsis);
    c->argument[c->arguments++] = word;
    return BDML_OK;
}

/* The first of the required arguments that was not given, if any. */
static bdml_status check_arguments(cli *c)
{
    const char *p = c->command->arguments;
    for (int i = 0; *p && *p != '['; i++) {
        size_t n = strcspn(p, " ");
        if (i == c->arguments)
            return client_fail(c->h, BDML_ERR_ARGUMENT, "%s needs %.*s; usage: bdml %s %s%s%s",
                               c->command->name, (int)n, p, c->command->name, c->command->arguments,
                               c->command->synopsis[0] ? " " : "", c->command->synopsis);
        p += n;
        p += strspn(p, " ");
    }
    return BDML_OK;
}

static bdml_status set_defaults(cli *c)
{
    for (int i = 0; i < CLI_OPT_COUNT; i++) {
        TRY(set_own(c, cli_option_own(i), cli_option_own(i)->default_value));
        c->own[i].changed = false;
    }
    return BDML_OK;
}

/* In 'bdml help --drop' the option is what is asked about. */
static bool asks_about(const cli *c, const char *word)
{
    if (strcmp(c->command->name, "help") != 0 || strncmp(word, "--", 2) != 0) return false;
    const bdml_option *o = cli_option_find(word + 2, strcspn(word + 2, "="));
    return !o || !cli_command_takes(c->command, o);
}

bdml_status cli_parse(cli *c, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    words w = {argc > 2 ? argc - 2 : 0, argv + 2};
    bool options = true;

    TRY(set_defaults(c));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) name = "version";
    c->command = cli_command_find(name);
    if (!c->command) return unknown_command(c, name);
    while (w.left > 0) {
        const char *word = *w.next++;
        w.left--;
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && asks_about(c, word))
            TRY(add_argument(c, word));
        else if (options && strncmp(word, "--", 2) == 0)
            TRY(parse_long(c, word + 2, &w));
        else if (options && word[0] == '-' && word[1])
            TRY(parse_short(c, word + 1, &w));
        else
            TRY(add_argument(c, word));
    }
    return c->own[CLI_OPT_HELP].i ? BDML_OK : check_arguments(c);
}
