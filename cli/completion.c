/* completion.c - completion scripts for bash, zsh and fish, from the tables. */
#include "cli.h"

/* ---- what can be completed ------------------------------------------------------------------- */

/* The fixed words that an option's value may be, separated by blanks; "" = none known. */
static void value_words(const bdml_option *o, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    if (o->choices) {
        snprintf(out, size, "%s", o->choices);
        for (char *p = out; *p; p++)
            if (*p == '|') *p = ' ';
    } else if (strcmp(o->name, "method") == 0 || strcmp(o->name, "methods") == 0) {
        for (int i = 0; i < bdml_method_count() && n < size; i++)
            n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "", bdml_method_name(i));
        if (o->name[strlen("method")] && n < size) snprintf(out + n, size - n, " all");
    } else if (strcmp(o->name, "figure") == 0) {
        snprintf(out, size, "errors path roc view spectrum convergence ellipsoids");
    } else if (strcmp(o->name, "reference") == 0) {
        for (int i = 0; i < bdml_reference_count() && n < size; i++)
            n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "", bdml_reference_name(i));
    }
}

static bool value_is_file(const bdml_option *o)
{
    return o->metavar && strcmp(o->metavar, "FILE") == 0;
}

/* Fixed words for the first argument of a command into `out`; false: files. */
static bool argument_words(const cli_command *command, char *out, size_t size)
{
    static const struct {
        const char *command, *words;
    } fixed[] = {
        {"completion", "bash zsh fish"},
        {"bound", "stability generalization tail"},
        {"reproduce",
         "all table1 small claim figure2 adaptation faces distortion trace-width runtime geometry"},
        {"help", "formats settings methods"}, /* and the commands */
    };
    size_t n = 0;
    out[0] = '\0';
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
        if (strcmp(command->name, fixed[k].command) == 0) snprintf(out, size, "%s", fixed[k].words);
    if (strcmp(command->name, "generate") == 0)
        for (int i = 0; i < bdml_generator_count() && n < size; i++)
            n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "", bdml_generator_name(i));
    return out[0] || !command->arguments[0];
}

/* Values that are lists of words, with commas between them. */
static bool value_is_list(const bdml_option *o)
{
    return strcmp(o->name, "methods") == 0;
}

static void put_command_names(FILE *f)
{
    for (int i = 0; i < cli_command_count(); i++)
        fprintf(f, "%s%s", i ? " " : "", cli_command_at(i)->name);
}

/* Words of the command: its options, switches of flags that are on by default as --no-NAME. */
static void put_option_names(FILE *f, const cli_command *command)
{
    const char *separator = "";
    for (int i = 0; i < cli_option_count(); i++) {
        const bdml_option *o = cli_option_at(i);
        if (!cli_command_takes(command, o)) continue;
        bool on = o->type == BDML_OPTION_FLAG && strcmp(o->default_value, "yes") == 0;
        fprintf(f, "%s--%s%s", separator, on ? "no-" : "", o->name);
        separator = " ";
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_values(FILE *f)
{
    char words[640];
    for (int i = 0; i < cli_option_count(); i++) {
        const bdml_option *o = cli_option_at(i);
        char letter = cli_option_short(o);
        if (o->type == BDML_OPTION_FLAG) continue;
        value_words(o, words, sizeof words);
        fprintf(f, "    --%s", o->name);
        if (letter) fprintf(f, " | -%c", letter);
        if (value_is_file(o))
            fputs(") compopt -o default 2>/dev/null; return ;;\n", f);
        else if (value_is_list(o)) /* what stands before the last comma stays */
            fprintf(f,
                    ") list=${cur%%\"${cur##*,}\"}; compopt -o nospace 2>/dev/null;"
                    " COMPREPLY=($(compgen -P \"$list\" -W \"%s\" -- \"${cur##*,}\")); return ;;\n",
                    words);
        else
            fprintf(f, ") COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", words);
    }
}

static void write_bash(FILE *f)
{
    fputs("# bash completion for bdml, written by 'bdml completion bash'\n"
          "_bdml() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= list=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          f);
    put_command_names(f);
    fputs("\" -- \"$cur\"))\n        return\n    fi\n    case $prev in\n", f);
    bash_values(f);
    fputs("    esac\n    case $cur in\n    -*)\n        case ${COMP_WORDS[1]} in\n", f);
    for (int i = 0; i < cli_command_count(); i++) {
        fprintf(f, "        %s) words=\"", cli_command_at(i)->name);
        put_option_names(f, cli_command_at(i));
        fputs("\" ;;\n", f);
    }
    fputs("        esac\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n        return "
          ";;\n"
          "    esac\n    case ${COMP_WORDS[1]} in\n",
          f);
    for (int i = 0; i < cli_command_count(); i++) {
        char words[512];
        if (!argument_words(cli_command_at(i), words, sizeof words)) continue;
        fprintf(f, "    %s) COMPREPLY=($(compgen -W \"%s", cli_command_at(i)->name, words);
        if (strcmp(cli_command_at(i)->name, "help") == 0) {
            fputc(' ', f);
            put_command_names(f);
        }
        fputs("\" -- \"$cur\")) ;;\n", f);
    }
    fputs("    *) compopt -o default 2>/dev/null ;;\n    esac\n}\ncomplete -F _bdml bdml\n", f);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Inside '...[text]': quotes, brackets, colons and backslashes would end it. */
static void put_zsh_text(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *s))
            fprintf(f, "\\%c", *s);
        else
            fputc(*s, f);
    }
}

static void zsh_option(FILE *f, const bdml_option *o)
{
    char words[640], letter = cli_option_short(o);
    bool flag = o->type == BDML_OPTION_FLAG, on = flag && strcmp(o->default_value, "yes") == 0;
    value_words(o, words, sizeof words);
    for (int form = 0; form < (letter ? 2 : 1); form++) {
        fputs("            '", f);
        if (form)
            fprintf(f, "-%c%s[", letter, flag ? "" : "+");
        else
            fprintf(f, "--%s%s%s[", on ? "no-" : "", o->name, flag ? "" : "=");
        put_zsh_text(f, o->help);
        fputc(']', f);
        if (!flag) {
            fprintf(f, ":%s:", o->name);
            if (value_is_file(o))
                fputs("_files", f);
            else if (value_is_list(o))
                fprintf(f, "_sequence compadd - %s", words);
            else if (words[0])
                fprintf(f, "(%s)", words);
        }
        fputs("' \\\n", f);
    }
}

static void write_zsh(FILE *f)
{
    fputs("#compdef bdml\n# zsh completion for bdml, written by 'bdml completion zsh'\n"
          "_bdml() {\n    local -a commands\n    commands=(\n",
          f);
    for (int i = 0; i < cli_command_count(); i++) {
        fprintf(f, "        '%s:", cli_command_at(i)->name);
        put_zsh_text(f, cli_command_at(i)->help);
        fputs("'\n", f);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        "
          "return\n"
          "    fi\n    local command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n"
          "    case $command in\n",
          f);
    for (int i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        char words[512];
        bool fixed = argument_words(command, words, sizeof words);
        fprintf(f, "    %s)\n        _arguments \\\n", command->name);
        for (int k = 0; k < cli_option_count(); k++)
            if (cli_command_takes(command, cli_option_at(k))) zsh_option(f, cli_option_at(k));
        if (!fixed)
            fputs("            '*:file:_files' ;;\n", f);
        else if (!words[0])
            fputs("            ;;\n", f);
        else {
            fprintf(f, "            '1:word:(%s", words);
            if (strcmp(command->name, "help") == 0) {
                fputc(' ', f);
                put_command_names(f);
            }
            fputs(")' ;;\n", f);
        }
    }
    fputs("    esac\n}\n_bdml \"$@\"\n", f);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void put_fish_text(FILE *f, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\') fputc('\\', f);
        fputc(*s, f);
    }
}

static void fish_option(FILE *f, const cli_command *command, const bdml_option *o)
{
    char words[640], letter = cli_option_short(o);
    bool flag = o->type == BDML_OPTION_FLAG, on = flag && strcmp(o->default_value, "yes") == 0;
    value_words(o, words, sizeof words);
    fprintf(f, "complete -c bdml -n '__fish_seen_subcommand_from %s' -l %s%s", command->name,
            on ? "no-" : "", o->name);
    if (letter) fprintf(f, " -s %c", letter);
    if (!flag) fputs(value_is_file(o) ? " -r -F" : " -x", f);
    if (words[0]) fprintf(f, " -a '%s'", words);
    fputs(" -d '", f);
    put_fish_text(f, o->help);
    fputs("'\n", f);
}

static void write_fish(FILE *f)
{
    fputs("# fish completion for bdml, written by 'bdml completion fish'\n", f);
    for (int i = 0; i < cli_command_count(); i++) {
        fprintf(f, "complete -c bdml -n __fish_use_subcommand -f -a %s -d '",
                cli_command_at(i)->name);
        put_fish_text(f, cli_command_at(i)->help);
        fputs("'\n", f);
    }
    for (int i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        char words[512];
        bool fixed = argument_words(command, words, sizeof words);
        for (int k = 0; k < cli_option_count(); k++)
            if (cli_command_takes(command, cli_option_at(k)))
                fish_option(f, command, cli_option_at(k));
        if (!fixed) continue;
        fprintf(f, "complete -c bdml -n '__fish_seen_subcommand_from %s' -f -a '%s", command->name,
                words);
        if (strcmp(command->name, "help") == 0) {
            fputc(' ', f);
            put_command_names(f);
        }
        fputs("'\n", f);
    }
}

bool cli_write_completion(FILE *f, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(f);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(f);
    else if (strcmp(shell, "fish") == 0)
        write_fish(f);
    else
        return false;
    return true;
}

bdml_status cli_completion(cli *c)
{
    FILE *f = cli_text_begin(c);
    if (!f) return BDML_ERR_MEMORY;
    bool known = cli_write_completion(f, c->argument[0]);
    TRY(cli_text_end(c, f));
    if (known) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT,
                       "there is no completion for '%.100s'; shells are bash, "
                       "zsh and fish",
                       c->argument[0]);
}
