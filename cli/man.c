/* man.c - the manual page bdml(1) in roff, from the tables. */
#include "cli.h"

enum { TEXT_SIZE = 1024 };

/* Text that roff takes as it is: backslashes and hyphens escaped, no control line at the start. */
static void put(FILE *f, const char *s)
{
    if (*s == '.' || *s == '\'') fputs("\\&", f);
    for (; *s; s++) {
        if (*s == '\\')
            fputs("\\e", f);
        else if (*s == '-')
            fputs("\\-", f);
        else if (*s == '\'')
            fputs("\\(aq", f);
        else
            fputc(*s, f);
    }
}

static void put_option(FILE *f, const bdml_option *o)
{
    char form[128], text[TEXT_SIZE], letter = cli_option_short(o);
    cli_option_form(o, form, sizeof form);
    cli_option_text(o, text, sizeof text);
    char *value = strchr(form, ' ');
    if (value) *value++ = '\0';
    fputs(".TP\n\\fB", f);
    if (letter) fprintf(f, "\\-%c\\fR, \\fB", letter);
    put(f, form);
    fputs("\\fR", f);
    if (value) {
        fputs(" \\fI", f);
        put(f, value);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put(f, text);
    fputc('\n', f);
}

/* Groups that the command takes, as "see below"; single options it takes alone. */
static void put_groups(FILE *f, const cli_command *command)
{
    const char *group, *separator = "";
    fputs(".br\nOptions: ", f);
    for (int i = 0; (group = cli_group_at(i)) != NULL; i++) {
        int taken = 0, all = 0;
        for (int k = 0; k < cli_option_count(); k++) {
            const bdml_option *o = cli_option_at(k);
            if (strcmp(o->group, group) != 0) continue;
            all++;
            taken += cli_command_takes(command, o);
        }
        if (taken == 0) continue;
        fprintf(f, "%s%s", separator, cli_group_title(group));
        separator = ", ";
        for (int k = 0; taken < all && k < cli_option_count(); k++) {
            const bdml_option *o = cli_option_at(k);
            if (strcmp(o->group, group) != 0 || !cli_command_takes(command, o)) continue;
            fputs(" \\-\\-", f);
            put(f, o->name);
        }
    }
    fputs(".\n", f);
}

static void put_commands(FILE *f)
{
    fputs(".SH COMMANDS\n", f);
    for (int i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        fputs(".TP\n\\fBbdml ", f);
        put(f, command->name);
        fputs("\\fR ", f);
        put(f, command->arguments);
        fputs(command->synopsis[0] ? " " : "", f);
        put(f, command->synopsis);
        fputc('\n', f);
        put(f, command->about);
        fputc('\n', f);
        put_groups(f, command);
    }
}

static void put_options(FILE *f)
{
    const char *group;
    fputs(".SH OPTIONS\n"
          "Long options take their value after a space or an equals sign. They may stand before, "
          "between and after the arguments; \\-\\- ends them.\n",
          f);
    for (int i = 0; (group = cli_group_at(i)) != NULL; i++) {
        fputs(".SS ", f);
        put(f, cli_group_title(group));
        fputc('\n', f);
        for (int k = 0; k < cli_option_count(); k++)
            if (strcmp(cli_option_at(k)->group, group) == 0) put_option(f, cli_option_at(k));
    }
}

static void put_methods(FILE *f)
{
    fputs(".SH METHODS\n", f);
    for (int i = 0; i < bdml_method_count(); i++) {
        fputs(".TP\n\\fB", f);
        put(f, bdml_method_name(i));
        fputs("\\fR\n", f);
        put(f, bdml_method_help(i));
        fputc('\n', f);
    }
}

static void put_examples(FILE *f)
{
    fputs(".SH EXAMPLES\n.nf\n", f);
    for (int i = 0; i < cli_command_count(); i++) {
        const char *p = cli_command_at(i)->examples;
        if (!p) continue;
        put(f, p);
        fputc('\n', f);
    }
    fputs(".fi\n", f);
}

void cli_write_man(FILE *f)
{
    fprintf(f, ".TH BDML 1 \"\" \"bdml %s\" \"User Commands\"\n", bdml_version());
    fputs(
        ".SH NAME\nbdml \\- learn distances from labelled data, with a hard cap on distortion\n"
        ".SH SYNOPSIS\n\\fBbdml\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n"
        ".SH DESCRIPTION\n"
        "bdml learns a Mahalanobis metric (a\\-b)\\(aq M (a\\-b) from labelled points and applies "
        "it: "
        "nearest neighbours, classification, and a linear map after which plain Euclidean distance "
        "is the learned one. Data are read from CSV, TSV, svmlight, NPY, NPZ, MAT v5, ARFF and IDX "
        "files; \\- stands for standard input or output.\n",
        f);
    put_commands(f);
    put_options(f);
    put_methods(f);
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\nDone.\n"
          ".TP\n1\nFailed (no memory, no room on the disk) or interrupted.\n"
          ".TP\n2\nBad usage or input.\n"
          ".TP\n3\nProven infeasible: no metric meets the constraints. No model is written.\n"
          ".SH ENVIRONMENT\n"
          ".TP\nNO_COLOR\nIf set, output is never coloured.\n"
          ".SH NOTES\n"
          "Output files appear whole or not at all. The first Ctrl\\-C stops at the next safe "
          "point and "
          "says what was kept; the second one kills.\n",
          f);
    put_examples(f);
}

bdml_status cli_man(cli *c)
{
    FILE *f = cli_text_begin(c);
    if (!f) return BDML_ERR_MEMORY;
    cli_write_man(f);
    return cli_text_end(c, f);
}
