/* text.c - text for people: colour, wrapping, and text commands under --json. */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

enum { LINE_WIDTH = 79 };

bool cli_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no && no[0]) || (term && strcmp(term, "dumb") == 0)) return false;
    return (f == stdout && isatty(STDOUT_FILENO)) || (f == stderr && isatty(STDERR_FILENO));
}

void cli_bold(FILE *f, const char *text)
{
    if (cli_colour(f))
        client_print(f, "\033[1m%s\033[0m", text);
    else
        fputs(text, f);
}

void cli_wrap(FILE *f, const char *text, int column, int indent)
{
    bool first = true;
    for (const char *p = text; *p;) {
        int n = (int)strcspn(p, " ");
        if (!first && column + 1 + n > LINE_WIDTH) {
            client_print(f, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', f);
            column++;
        }
        client_print(f, "%.*s", n, p);
        column += n;
        first = false;
        p += n;
        p += strspn(p, " ");
    }
    fputc('\n', f);
}

FILE *cli_text_begin(cli *c)
{
    if (!cli_json(c)) return stdout;
    return client_memory_open(c->h, &c->text) == BDML_OK ? c->text.f : NULL;
}

bdml_status cli_text_end(cli *c, FILE *f)
{
    if (f == stdout) return BDML_OK;
    TRY(client_memory_close(c->h, &c->text));
    cli_put(c->result, "text", client_text(c->text.text));
    return BDML_OK;
}
