/* line.c - the command line that gives this result again: arguments, and the options that were changed and
 * say what is computed, not how or where it goes. */
#include "cli.h"

#include <stdlib.h>

static bool is_means(const char *name)
{
    static const char *const means[] = {"threads",    "jobs",    "memory", "json",
                                        "quiet",      "verbose", "every",  "resume",
                                        "checkpoint", "plot",    "mapping"};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (strcmp(means[i], name) == 0) return true;
    return false;
}

bdml_status cli_say_shell_word(cli *c, const char *s)
{
    bdml_status status = BDML_OK;
    client_memory word;
    GO(client_memory_open(c->h, &word));
    client_shell_word(word.f, s);
    GO(client_memory_close(c->h, &word));
    client_print(stdout, "%s", word.text);
done:
    client_memory_free(&word);
    return status;
}

bdml_status cli_note_command(cli *c)
{
    bdml_status status = BDML_OK;
    client_memory line;
    GO(client_memory_open(c->h, &line));
    FILE *f = line.f;
    fprintf(f, "bdml %s", c->command->name);
    for (int i = 0; i < c->arguments; i++) {
        fputc(' ', f);
        client_shell_word(f, c->argument[i]);
    }
    for (int i = 0; i < cli_option_count(); i++) {
        const bdml_option *o = cli_option_at(i);
        const cli_value *own = i < bdml_option_count() ? NULL : &c->own[i - bdml_option_count()];
        bool given = own ? own->changed : bdml_is_given(c->h, o->name);
        if (!given || is_means(o->name) || !cli_command_takes(c->command, o)) continue;
        if (o->type == BDML_OPTION_FLAG) {
            bool on = own ? own->i != 0 : bdml_get_number(c->h, o->name) != 0.0;
            fprintf(f, " --%s%s", on ? "" : "no-", o->name);
            continue;
        }
        fprintf(f, " --%s ", o->name);
        client_shell_word(f, own ? own->text : bdml_get(c->h, o->name));
    }
    GO(client_memory_close(c->h, &line));
    cli_put(c->result, "command_line", client_text(line.text));
done:
    client_memory_free(&line);
    return status;
}
