/* options.c - the library's options and the command's own as one table, and their text forms. */
#include "cli.h"

static const bdml_option own[CLI_OPT_COUNT] = {
#define BDML_OPT(id, name, group, type, def, lo, hi, choices, meta, help) \
    {name, group, BDML_OPTION_##type, def, lo, hi, choices, meta, help, 0},
#include "options.def"
#undef BDML_OPT
};

static const struct {
    char letter;
    const char *name;
} shorts[] = {
    {'o', "output"},    {'q', "quiet"},  {'v', "verbose"}, {'h', "help"},
    {'k', "neighbors"}, {'n', "points"}, {'j', "threads"},
};

static const struct {
    const char *group, *title;
} titles[] = {
    {"general", "General"},
    {"report", "Output style"},
    {"output", "Result"},
    {"input", "Reading data"},
    {"write", "Writing data"},
    {"prepare", "Preparation"},
    {"neighbors", "Neighbours"},
    {"constraints", "Constraints"},
    {"train", "Training"},
    {"methods", "Other methods"},
    {"evaluate", "Evaluation"},
    {"domains", "Domains"},
    {"documents", "Queries and documents"},
    {"adapt", "Domain adaptation"},
    {"retrieve", "Retrieval"},
    {"verify", "Verification"},
    {"predict", "Prediction"},
    {"query", "Neighbour lists"},
    {"map", "Map"},
    {"npy", "NPY files"},
    {"mapped", "Mapped rows"},
    {"serve", "For other programs"},
    {"generate", "Generation"},
    {"help", "Help"},
    {"more", "More"},
    {"path", "Path over K"},
    {"plot", "Plot"},
    {"page", "Page"},
    {"figure", "Figure"},
    {"reproduce", "Reproduction"},
    {"bound", "Bounds"},
    {"certify", "Checking claims"},
};

int cli_option_count(void)
{
    return bdml_option_count() + CLI_OPT_COUNT;
}

const bdml_option *cli_option_at(int i)
{
    int library = bdml_option_count();
    return i < library ? bdml_option_at(i) : cli_option_own(i - library);
}

const bdml_option *cli_option_own(int id)
{
    return id >= 0 && id < CLI_OPT_COUNT ? &own[id] : NULL;
}

static bool is_called(const bdml_option *o, const char *name, size_t n)
{
    return strlen(o->name) == n && memcmp(o->name, name, n) == 0;
}

const bdml_option *cli_option_find(const char *name, size_t n)
{
    for (int i = 0; i < cli_option_count(); i++)
        if (is_called(cli_option_at(i), name, n)) return cli_option_at(i);
    return NULL;
}

const bdml_option *cli_option_of(const cli_command *command, const char *name, size_t n)
{
    for (int i = 0; i < cli_option_count(); i++) {
        const bdml_option *o = cli_option_at(i);
        if (is_called(o, name, n) && cli_command_takes(command, o)) return o;
    }
    return cli_option_find(name, n);
}

char cli_option_short(const bdml_option *o)
{
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
        if (strcmp(shorts[i].name, o->name) == 0) return shorts[i].letter;
    return '\0';
}

const bdml_option *cli_option_by_short(char letter)
{
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
        if (shorts[i].letter == letter)
            return cli_option_find(shorts[i].name, strlen(shorts[i].name));
    return NULL;
}

const bdml_option *cli_option_everyday(int i)
{
    static const char *const names[] = {"output",     "source",    "target",     "label",
                                        "columns",    "drop",      "encode",     "missing",
                                        "method",     "methods",   "scale",      "pca",
                                        "distortion", "reference", "softness",   "neighbors",
                                        "pairs-file", "grid",      "splits",     "folds",
                                        "semi",       "plot",      "time-limit", "seed",
                                        "json"};
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    return cli_option_find(names[i], strlen(names[i]));
}

/* A group without a title of its own goes by its name. */
const char *cli_group_title(const char *group)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i].group, group) == 0) return titles[i].title;
    return group;
}

static bool group_begins(int i)
{
    for (int j = 0; j < i; j++)
        if (strcmp(cli_option_at(j)->group, cli_option_at(i)->group) == 0) return false;
    return true;
}

const char *cli_group_at(int i)
{
    for (int k = 0; k < cli_option_count(); k++)
        if (group_begins(k) && i-- == 0) return cli_option_at(k)->group;
    return NULL;
}

void cli_option_form(const bdml_option *o, char *out, size_t size)
{
    const char *value = o->metavar ? o->metavar : o->choices ? o->choices : "VALUE";
    if (o->type != BDML_OPTION_FLAG)
        snprintf(out, size, "--%s %s", o->name, value);
    else if (strcmp(o->group, "report") == 0 || strcmp(o->group, "help") == 0 ||
             strcmp(o->group, "more") == 0)
        snprintf(out, size, "--%s", o->name); /* nobody says --no-help */
    else
        snprintf(out, size, "--[no-]%s", o->name);
}

void cli_option_text(const bdml_option *o, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s", o->help);
    if (n < size && o->choices && o->metavar) {
        n += (size_t)snprintf(out + n, size - n, "; one of ");
        for (const char *p = o->choices; *p && n + 3 < size; p++) {
            if (*p == '|') out[n++] = ',';
            out[n++] = *p == '|' ? ' ' : *p;
        }
        out[n] = '\0';
    }
    if (n < size && o->default_value[0] &&
        (o->type != BDML_OPTION_FLAG || strcmp(o->default_value, "yes") == 0))
        snprintf(out + n, size - n, " (default: %s)", o->default_value);
}
