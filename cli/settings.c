/* settings.c - the library's settings as text and as docs/settings.md. */
#include "cli.h"

enum { TEXT_SIZE = 1024 };

void cli_option_range(const bdml_option *o, char *out, size_t size)
{
    bool counts = o->type == BDML_OPTION_INT && o->max >= (double)INT32_MAX; /* as far as they go */
    bool lo = isfinite(o->min), hi = isfinite(o->max) && !counts;
    const char *noun = o->type == BDML_OPTION_INT ? "whole number" : "number";
    switch (o->type) {
    case BDML_OPTION_FLAG:
        snprintf(out, size, "yes or no");
        return;
    case BDML_OPTION_CHOICE: {
        size_t n = 0;
        for (const char *p = o->choices; *p && n + 3 < size; p++) {
            if (*p == '|') out[n++] = ',';
            out[n++] = *p == '|' ? ' ' : *p;
        }
        out[n] = '\0';
        return;
    }
    case BDML_OPTION_TEXT:
        snprintf(out, size, "%s", o->metavar ? o->metavar : "text");
        return;
    case BDML_OPTION_INT:
    case BDML_OPTION_REAL:
        break;
    }
    if (lo && hi)
        snprintf(out, size, "%s, %.10g to %.10g", noun, o->min, o->max);
    else if (lo)
        snprintf(out, size, "%s, at least %.10g", noun, o->min);
    else
        snprintf(out, size, "%s", noun);
}

/* '|' would end the cell of a Markdown table. */
static void put_cell(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '|') fputc('\\', f);
        fputc(*s, f);
    }
}

static void commands_of(FILE *f, const char *group)
{
    const char *separator = "";
    for (int i = 0; i < cli_command_count(); i++) {
        bool takes = false;
        for (int k = 0; k < bdml_option_count() && !takes; k++)
            takes = strcmp(bdml_option_at(k)->group, group) == 0 &&
                    cli_command_takes(cli_command_at(i), bdml_option_at(k));
        if (!takes) continue;
        fprintf(f, "%s`%s`", separator, cli_command_at(i)->name);
        separator = ", ";
    }
}

static void markdown_group(FILE *f, const char *group)
{
    char range[TEXT_SIZE];
    fprintf(f, "\n## %s\n\nGroup `%s`, read by: ", cli_group_title(group), group);
    commands_of(f, group);
    fputs(".\n\n| Setting | Default | Values | Meaning |\n|---|---|---|---|\n", f);
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *o = bdml_option_at(i);
        if (strcmp(o->group, group) != 0) continue;
        cli_option_range(o, range, sizeof range);
        fprintf(f, "| `%s` | %s%s%s | ", o->name, o->default_value[0] ? "`" : "",
                o->default_value[0] ? o->default_value : "unset", o->default_value[0] ? "`" : "");
        put_cell(f, range);
        fputs(" | ", f);
        put_cell(f, o->help);
        fputs(" |\n", f);
    }
}

static bool is_library_group(const char *group)
{
    for (int i = 0; i < bdml_option_count(); i++)
        if (strcmp(bdml_option_at(i)->group, group) == 0) return true;
    return false;
}

static void plain_group(FILE *f, const char *group)
{
    char range[TEXT_SIZE];
    cli_bold(f, cli_group_title(group));
    fputc('\n', f);
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *o = bdml_option_at(i);
        if (strcmp(o->group, group) != 0) continue;
        cli_option_range(o, range, sizeof range);
        fprintf(f, "  %s = %s   (", o->name, o->default_value[0] ? o->default_value : "unset");
        fprintf(f, "%s)\n      ", range);
        cli_wrap(f, o->help, 6, 6);
    }
}

void cli_write_settings(FILE *f, bool markdown)
{
    const char *group;
    if (markdown)
        fputs("# Settings\n\n"
              "Written by `bdml help settings --markdown` from the table of options; do not edit.\n"
              "On the command line a setting is `--name value`, a yes/no setting `--name` or\n"
              "`--no-name`; in C it is `bdml_set(h, \"name\", \"value\")`.\n",
              f);
    for (int i = 0; (group = cli_group_at(i)) != NULL; i++) {
        if (!is_library_group(group)) continue;
        if (!markdown && i > 0) fputc('\n', f);
        if (markdown)
            markdown_group(f, group);
        else
            plain_group(f, group);
    }
}
