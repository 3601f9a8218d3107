/* help.c - usage, help of one command, lists of methods and settings, from the tables. */
#include "cli.h"

enum { HELP_COLUMN = 30, NAME_COLUMN = 17, TEXT_SIZE = 1024 };

void cli_usage(FILE *f)
{
    cli_bold(f, "bdml");
    fprintf(f, " %s - learn distances from labelled data, with a hard cap on distortion\n\n",
            bdml_version());
    fputs("usage: bdml COMMAND [ARGUMENTS] [OPTIONS]\n\n", f);
    for (int kind = 0; kind < CLI_KINDS; kind++) {
        static const char *const titles[] = {"everyday", "more", "the paper's studies",
                                             "about bdml"};
        fprintf(f, "%s%s\n", kind ? "\n" : "", titles[kind]);
        for (int i = 0; i < cli_command_count(); i++) {
            const cli_command *command = cli_command_at(i);
            if ((int)command->kind == kind)
                fprintf(f, "  %-*s%s\n", NAME_COLUMN, command->name, command->help);
        }
    }
    fputs("\nexamples\n"
          "  bdml train wine.csv -o wine.bdml --scale zscore   learn a metric\n"
          "  bdml predict wine.bdml new.csv                    classify new points with it\n"
          "  bdml eval wine.csv --methods euclidean,whiten     compare methods\n\n"
          "DATA is CSV, TSV, svmlight, NPY, NPZ, MAT, ARFF or IDX; '-' is standard input.\n"
          "'bdml help COMMAND' explains a command and its options, 'bdml help formats' the\n"
          "files that are read.\n",
          f);
}

static void print_option(FILE *f, const bdml_option *o)
{
    char form[128], text[TEXT_SIZE], letter = cli_option_short(o);
    cli_option_form(o, form, sizeof form);
    cli_option_text(o, text, sizeof text);
    int n = letter ? fprintf(f, "  -%c, %s", letter, form) : fprintf(f, "      %s", form);
    if (n > HELP_COLUMN - 2) {
        fputc('\n', f);
        n = 0;
    }
    fprintf(f, "%*s", HELP_COLUMN - n, "");
    cli_wrap(f, text, HELP_COLUMN, HELP_COLUMN);
}

static void print_methods(FILE *f)
{
    for (int i = 0; i < bdml_method_count(); i++) {
        fprintf(f, "  %-*s", NAME_COLUMN, bdml_method_name(i));
        cli_wrap(f, bdml_method_help(i), NAME_COLUMN + 2, NAME_COLUMN + 2);
    }
}

/* Where a command takes more options than this, help shows the everyday ones alone. */
enum { MANY_OPTIONS = 24 };

static int count_options(const cli_command *command)
{
    int count = 0;
    for (int i = 0; i < cli_option_count(); i++)
        count += cli_command_takes(command, cli_option_at(i));
    return count;
}

/* Words that options and results use. */
static void print_words(FILE *f)
{
    static const char *const words[][2] = {
        {"reference",
         "the distance one starts from: the points as they are, z-scored, whitened inside the "
         "classes, ..."},
        {"distortion",
         "how much the learned distance stretches some directions more than others, relative to "
         "the reference; K is its cap, and K = 1 the reference itself"},
        {"target", "a near point of the same class, to be kept near"},
        {"impostor", "a near point of another class, to be pushed away by a margin"},
        {"softness", "how dear it is to miss a margin, against keeping targets near"},
        {"passes", "how often targets and impostors are looked up again under the metric learned"},
        {"given problem",
         "one that options state (--rule, --hard, --diagonal, --trace, --solver, constraint files) "
         "instead of leaving it to cross-validation"},
    };
    fputc('\n', f);
    cli_bold(f, "Words");
    fputc('\n', f);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fprintf(f, "  %-*s", NAME_COLUMN, words[i][0]);
        cli_wrap(f, words[i][1], NAME_COLUMN + 2, NAME_COLUMN + 2);
    }
}

static void print_group(FILE *f, const cli_command *command, const char *group)
{
    bool any = false;
    for (int i = 0; i < cli_option_count(); i++) {
        const bdml_option *o = cli_option_at(i);
        if (strcmp(o->group, group) != 0 || !cli_command_takes(command, o)) continue;
        if (!any) {
            fputc('\n', f);
            cli_bold(f, cli_group_title(group));
            fputc('\n', f);
        }
        any = true;
        print_option(f, o);
    }
}

/* What is the command's own first, what all commands share last. */
enum { GROUP_RANKS = 3 };
static int group_rank(const char *group)
{
    if (strcmp(group, "general") == 0 || strcmp(group, "report") == 0) return 2;
    for (int i = 0; i < bdml_option_count(); i++)
        if (strcmp(bdml_option_at(i)->group, group) == 0) return 1;
    return 0;
}

void cli_help_command(FILE *f, const cli_command *command, bool all)
{
    const char *group;
    const bdml_option *method = cli_option_find("method", strlen("method"));
    const bdml_option *targets = cli_option_find("targets", strlen("targets"));
    const bdml_option *o;
    int count = count_options(command), shown = 0;
    all = all || count <= MANY_OPTIONS;

    char usage[TEXT_SIZE];
    snprintf(usage, sizeof usage, "%s%s%s [OPTIONS]", command->arguments,
             command->arguments[0] && command->synopsis[0] ? " " : "", command->synopsis);
    fputs("usage: bdml ", f);
    cli_bold(f, command->name);
    fputc(' ', f);
    cli_wrap(f, usage, 13 + (int)strlen(command->name), 12);
    fputc('\n', f);
    cli_wrap(f, command->about, 0, 0);
    for (const char *p = command->examples; p && *p;) {
        int n = (int)strcspn(p, "\n");
        fprintf(f, "%s  %.*s\n", p == command->examples ? "\n" : "", n, p);
        p += n + (p[n] == '\n');
    }
    if (!all) {
        fprintf(f, "\n");
        cli_bold(f, "Everyday options");
        fputc('\n', f);
        for (int i = 0; (o = cli_option_everyday(i)) != NULL; i++) {
            if (!cli_command_takes(command, o)) continue;
            print_option(f, o);
            shown++;
        }
        fprintf(f, "\n'bdml help %s --all' explains the other %d options.\n", command->name,
                count - shown);
        if (cli_command_takes(command, targets)) print_words(f);
        return;
    }
    for (int rank = 0; rank < GROUP_RANKS; rank++)
        for (int i = 0; (group = cli_group_at(i)) != NULL; i++)
            if (group_rank(group) == rank) print_group(f, command, group);
    if (cli_command_takes(command, targets)) print_words(f);
    if (method && cli_command_takes(command, method)) {
        fputc('\n', f);
        cli_bold(f, "Methods");
        fputc('\n', f);
        print_methods(f);
    }
}

/* One option: what it does, what it may be, where it is taken. */
static void print_one_option(FILE *f, const bdml_option *o)
{
    char range[TEXT_SIZE], takers[TEXT_SIZE];
    cli_option_range(o, range, sizeof range);
    cli_option_takers(o, takers, sizeof takers);
    print_option(f, o);
    fprintf(f, "\nvalue      ");
    cli_wrap(f, range, 11, 11);
    if (o->automatic) fprintf(f, "           or auto\n");
    fprintf(f, "default    %s\n", o->default_value[0] ? o->default_value : "unset");
    fprintf(f, "taken by   ");
    cli_wrap(f, takers, 11, 11);
}

/* The i-th thing that there is help on. */
static const char *const pages[] = {"formats", "settings", "methods"};
enum { PAGES = sizeof pages / sizeof *pages };
static const char *topic_word(const void *user, int i)
{
    (void)user;
    if (i < cli_command_count()) return cli_command_at(i)->name;
    i -= cli_command_count();
    if (i < PAGES) return pages[i];
    i -= PAGES;
    return i < cli_option_count() ? cli_option_at(i)->name : NULL;
}

/* The tables for programs. */
static json_t *describe_option(const bdml_option *o)
{
    static const char *const types[] = {"flag", "int", "real", "choice", "text"};
    json_t *row = json_object();
    cli_put(row, "name", json_string(o->name));
    cli_put(row, "group", json_string(o->group));
    cli_put(row, "type", json_string(types[o->type]));
    cli_put(row, "default", json_string(o->default_value));
    if (o->type == BDML_OPTION_INT || o->type == BDML_OPTION_REAL) {
        cli_put(row, "min", cli_real(o->min));
        cli_put(row, "max", cli_real(o->max));
    }
    if (o->choices) cli_put(row, "choices", json_string(o->choices));
    cli_put(row, "help", json_string(o->help));
    return row;
}

static void describe_all(cli *c)
{
    json_t *commands = json_array(), *options = json_array(), *methods = json_array();
    for (int i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        json_t *row = json_object(), *takes = json_array();
        cli_put(row, "name", json_string(command->name));
        cli_put(row, "arguments", json_string(command->arguments));
        cli_put(row, "help", json_string(command->help));
        for (int k = 0; k < cli_option_count(); k++)
            if (cli_command_takes(command, cli_option_at(k)))
                json_array_append_new(takes, json_string(cli_option_at(k)->name));
        cli_put(row, "options", takes);
        json_array_append_new(commands, row);
    }
    for (int i = 0; i < cli_option_count(); i++)
        json_array_append_new(options, describe_option(cli_option_at(i)));
    for (int i = 0; i < bdml_method_count(); i++)
        json_array_append_new(methods, json_pack("{s:s, s:s}", "name", bdml_method_name(i), "help",
                                                 bdml_method_help(i)));
    cli_put(c->result, "version", json_string(bdml_version()));
    cli_put(c->result, "commands", commands);
    cli_put(c->result, "options", options);
    cli_put(c->result, "methods", methods);
}

bdml_status cli_help(cli *c)
{
    const char *topic = c->arguments ? c->argument[0] : NULL;
    const cli_command *command = topic ? cli_command_find(topic) : NULL;
    bool settings = topic && strcmp(topic, "settings") == 0;
    bool methods = topic && strcmp(topic, "methods") == 0;
    bool formats = topic && strcmp(topic, "formats") == 0;

    const char *name = topic ? topic + (strncmp(topic, "--", 2) == 0 ? 2 : 0) : "";
    const bdml_option *option = command ? NULL : cli_option_find(name, strlen(name));

    if (topic && !command && !settings && !methods && !formats && !option) {
        int near = bdml_nearest_word(name, topic_word, NULL);
        return client_fail(
            c->h, BDML_ERR_ARGUMENT,
            "there is no help on '%.100s'%s%s; topics are the commands, formats, settings, "
            "methods and the name of any option",
            topic, near >= 0 ? "; did you mean " : "", near >= 0 ? topic_word(NULL, near) : "");
    }
    if (c->own[CLI_OPT_MARKDOWN].i && !settings)
        return client_fail(c->h, BDML_ERR_ARGUMENT, "--markdown belongs to: bdml help settings");
    if (!topic && cli_json(c)) {
        describe_all(c);
        return BDML_OK;
    }
    FILE *f = cli_text_begin(c);
    if (!f) return BDML_ERR_MEMORY;
    if (command)
        cli_help_command(f, command, c->own[CLI_OPT_ALL].i != 0);
    else if (settings)
        cli_write_settings(f, c->own[CLI_OPT_MARKDOWN].i != 0);
    else if (methods)
        print_methods(f);
    else if (formats)
        cli_help_formats(f);
    else if (option)
        print_one_option(f, option);
    else
        cli_usage(f);
    return cli_text_end(c, f);
}

bdml_status cli_version(cli *c)
{
    cli_put(c->result, "version", json_string(bdml_version()));
    if (!cli_json(c)) printf("bdml %s\n", bdml_version());
    return BDML_OK;
}
