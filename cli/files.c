/* files.c - output files: checked before the work begins, written whole or not at all. */
#include "cli.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- checks ---------------------------------------------------------------------------------- */

int64_t cli_file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

bool cli_reads_once(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* Where a file that is not there yet would be: behind a symbolic link that points nowhere, in the folder before its
 * last part. NULL: out of memory, or links that go round. */
static char *place_of(const char *path)
{
    enum { MOST_LINKS = 40 };
    char *at = strdup(path), target[4096];
    for (int links = 0; at; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0) return at;
        target[n] = '\0';
        char *slash = target[0] == '/' ? NULL : strrchr(at, '/'), *next = NULL;
        if (links < MOST_LINKS &&
            asprintf(&next, "%.*s%s", slash ? (int)(slash - at) + 1 : 0, at, target) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return NULL;
}

static bool same_folder(char *a, char *b)
{
    struct stat sa, sb;
    char *slash[2] = {strrchr(a, '/'), strrchr(b, '/')};
    const char *name[2] = {slash[0] ? slash[0] + 1 : a, slash[1] ? slash[1] + 1 : b};
    if (strcmp(name[0], name[1]) != 0) return false;
    if (slash[0]) slash[0][1] = '\0';
    if (slash[1]) slash[1][1] = '\0';
    return stat(slash[0] ? a : ".", &sa) == 0 && stat(slash[1] ? b : ".", &sb) == 0 &&
           sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Are two names one file, by whatever links, or would they be once written? */
static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    bool there = stat(a, &sa) == 0, other = stat(b, &sb) == 0;
    if (there != other) return false;
    if (there) return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
    char *x = place_of(a), *y = place_of(b);
    bool same = x && y && same_folder(x, y);
    free(x);
    free(y);
    return same;
}

/* Readers find the labels of NAME.npy in NAME.labels.npy, those of ...images-idx3... in ...labels-idx1..., packed or not. */
static bool is_labels_of(const char *path, const char *input)
{
    static const char *const packing[] = {"", ".gz"};
    const char *slash = strrchr(input, '/'), *at = strstr(slash ? slash : input, "images-idx3");
    size_t n = strlen(input) - (client_ends_in(input, ".gz") ? 3 : 0);
    bool same = false;
    if (client_ends_in(input, ".npy")) {
        char *name = NULL;
        if (asprintf(&name, "%.*s.labels.npy", (int)n - 4, input) < 0) return false;
        same = same_file(path, name);
        free(name);
        return same;
    }
    for (int k = 0; at && k < 2 && !same; k++) {
        char *name = NULL;
        int before = (int)(at - input), after = (int)n - before - 11;
        if (after < 0 ||
            asprintf(&name, "%.*slabels-idx1%.*s%s", before, input, after, at + 11, packing[k]) < 0)
            return false;
        same = same_file(path, name);
        free(name);
    }
    return same;
}

static bdml_status refuse_input(cli *c, const char *path, const char *input)
{
    if (!input || !input[0] || input == path || cli_file_size(input) < 0) return BDML_OK;
    bool labels = cli_file_size(path) >= 0 && is_labels_of(path, input);
    if (!labels && !same_file(path, input)) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT, "%s: the output would overwrite the input%s", path,
                       labels ? "'s labels" : "");
}

static bool names_file(const bdml_option *o)
{
    return o->metavar && (strcmp(o->metavar, "FILE") == 0 || strcmp(o->metavar, "MODEL") == 0);
}

/* Inputs are the arguments and every option whose value is a file, but for those that name outputs. A checkpoint may
 * be what a training is resumed from. */
static bdml_status refuse_inputs(cli *c, const char *path, bool checkpoint)
{
    for (int i = 0; i < c->arguments; i++) TRY(refuse_input(c, path, c->argument[i]));
    for (int i = 0; i < bdml_option_count(); i++) {
        const bdml_option *o = bdml_option_at(i);
        bool state = strcmp(o->name, "checkpoint") == 0 || strcmp(o->name, "resume") == 0;
        if (names_file(o) && !(checkpoint && state))
            TRY(refuse_input(c, path, bdml_get(c->h, o->name)));
    }
    TRY(refuse_input(c, path, bdml_get(c->h, "reference"))); /* a name, or a file with a map */
    for (int id = 0; id < CLI_OPT_COUNT; id++) {
        bool output =
            id == CLI_OPT_OUTPUT || id == CLI_OPT_SAVE || id == CLI_OPT_PLOT || id == CLI_OPT_PAGE;
        if (names_file(cli_option_own(id)) && !output)
            TRY(refuse_input(c, path, cli_text_of(c, id)));
    }
    return BDML_OK;
}

bdml_status cli_check_apart(cli *c, const char *a, const char *b)
{
    if (!a[0] || !b[0] || !same_file(a, b)) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT, "%s: two outputs need names of their own", b);
}

bdml_status cli_check_checkpoint(cli *c, const char *output)
{
    const char *path = bdml_get(c->h, "checkpoint");
    if (!path[0]) return BDML_OK;
    if (strcmp(path, output) == 0 || same_file(path, output))
        return client_fail(c->h, BDML_ERR_ARGUMENT,
                           "%s: checkpoint and model need names of their own", path);
    return refuse_inputs(c, path, true);
}

static bdml_status refuse_place(cli *c, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return client_fail(c->h, BDML_ERR_ARGUMENT, "%s: is a folder, not a file to write", path);
    return bdml_file_check(c->h, path);
}

bdml_status cli_check_stdout(cli *c, const char *path)
{
    if (!cli_json(c) || strcmp(path, "-") != 0) return BDML_OK;
    return client_fail(c->h, BDML_ERR_ARGUMENT,
                       "--json and the output both want standard output; give a file with -o");
}

bdml_status cli_check_output(cli *c, const char *path)
{
    if (!path[0]) return client_fail(c->h, BDML_ERR_ARGUMENT, "the output needs a name");
    TRY(cli_check_stdout(c, path));
    if (strcmp(path, "-") == 0) return BDML_OK;
    TRY(refuse_inputs(c, path, false));
    return refuse_place(c, path);
}

bdml_status cli_check_beside(cli *c, const char *path, size_t stem, const char *added)
{
    struct stat st;
    char *name = client_alloc(c->h, stem + strlen(added) + 1, 1);
    if (!name) return BDML_ERR_MEMORY;
    memcpy(name, path, stem);
    memcpy(name + stem, added, strlen(added) + 1);
    bdml_status status = refuse_inputs(c, name, false);
    if (status == BDML_OK) status = cli_check_apart(c, path, name);
    if (status == BDML_OK) status = cli_check_apart(c, bdml_get(c->h, "checkpoint"), name);
    if (status == BDML_OK && stat(name, &st) == 0) status = refuse_place(c, name);
    free(name);
    return status;
}

bdml_status cli_check_points(cli *c, const char *path)
{
    TRY(cli_check_output(c, path));
    if (!client_ends_in(path, ".npy")) return BDML_OK;
    return cli_check_beside(c, path, strlen(path) - 4, ".labels.npy");
}

bdml_status cli_wrote(cli *c, bdml_status status)
{
    if (status != BDML_OK) c->output_failed = true;
    return status;
}

bdml_status cli_default_name(cli *c, const char *path, const char *ending, char **out)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (strcmp(path, "-") == 0) base = "model";
    const char *gz = client_ends_in(base, ".gz") ? base + strlen(base) - 3 : base + strlen(base);
    size_t n = (size_t)(gz - base), stem = n;
    for (size_t i = 1; i < n; i++)
        if (base[i] == '.') stem = i;
    *out = client_alloc(c->h, stem + strlen(ending) + 1, 1);
    if (!*out) return BDML_ERR_MEMORY;
    memcpy(*out, base, stem);
    memcpy(*out + stem, ending, strlen(ending) + 1);
    return BDML_OK;
}

bdml_status cli_read_other(cli *c, const char *path, bdml_dataset **out)
{
    bdml_status status = BDML_OK;
    char *labels = client_strdup(c->h, bdml_get(c->h, "labels-file"));
    *out = NULL;
    if (!labels) return BDML_ERR_MEMORY;
    GO(bdml_set(c->h, "labels-file", NULL));
    GO(bdml_read_dataset(c->h, path, out));
    if (labels[0]) GO(bdml_set(c->h, "labels-file", labels));
done:
    free(labels);
    return status;
}

/* ---- rows of text ---------------------------------------------------------------------------- */

bdml_status cli_writer_open(cli *c, const char *path, cli_writer *w)
{
    *w = (cli_writer){.c = c,
                      .separator = client_ends_in(path, ".tsv") ? '\t' : ',',
                      .safe = bdml_get_number(c->h, "csv-safe") != 0.0};
    fflush(stdout); /* "-" has a buffer of its own */
    return cli_wrote(c, bdml_file_create(c->h, path, &w->file));
}

static bdml_status put(cli_writer *w, const char *s, size_t n)
{
    return cli_wrote(w->c, bdml_file_write(w->c->h, w->file, s, n));
}

static bdml_status separate(cli_writer *w)
{
    bool started = w->started;
    w->started = true;
    return started ? put(w, &w->separator, 1) : BDML_OK;
}

/* Words that readers take for a missing value. */
static bool reads_as_missing(const char *s)
{
    static const char *const words[] = {"", "?", "na", "n/a", "nan", "null"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcasecmp(s, words[k]) == 0) return true;
    return false;
}

bdml_status cli_writer_text(cli_writer *w, const char *s)
{
    const char special[] = {w->separator, '"', '\n', '\r', ' ', '\0'};
    const char *shield = w->safe && bdml_is_formula(s) ? "'" : "";
    bool quotes = s[strcspn(s, special)] || reads_as_missing(s);
    TRY(separate(w));
    if (quotes) TRY(put(w, "\"", 1));
    TRY(put(w, shield, strlen(shield)));
    if (!quotes) return put(w, s, strlen(s));
    for (const char *p = s; *p;) { /* a quote inside is doubled */
        size_t n = strcspn(p, "\"");
        TRY(put(w, p, n));
        p += n;
        if (*p++ == '\0') break;
        TRY(put(w, "\"\"", 2));
    }
    return put(w, "\"", 1);
}

bdml_status cli_writer_real(cli_writer *w, double v)
{
    char text[CLIENT_NUMBER];
    int n = client_number(v, text);
    TRY(separate(w));
    return put(w, text, (size_t)n);
}

bdml_status cli_writer_int(cli_writer *w, int64_t v)
{
    char text[CLIENT_NUMBER];
    int n = snprintf(text, sizeof text, "%lld", (long long)v);
    TRY(separate(w));
    return put(w, text, (size_t)n);
}

bdml_status cli_writer_end_row(cli_writer *w)
{
    w->started = false;
    return put(w, "\n", 1);
}

bdml_status cli_writer_close(cli_writer *w)
{
    bdml_file *file = w->file;
    w->file = NULL;
    return cli_wrote(w->c, bdml_file_commit(w->c->h, file));
}

void cli_writer_discard(cli_writer *w)
{
    bdml_file_discard(w->file);
    w->file = NULL;
}

bool cli_is_model(const char *path)
{
    char magic[8] = "";
    FILE *f = cli_reads_once(path) ? NULL : fopen(path, "rb");
    bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic &&
              memcmp(magic, "BDMLFILE", sizeof magic) == 0;
    if (f) fclose(f);
    return is;
}

bdml_status cli_load_model(cli *c, bdml_model **out)
{
    bdml_status status = bdml_load_model(c->h, c->argument[0], out);
    if (status == BDML_OK && bdml_model_is_proof(*out)) {
        bdml_free_model(*out);
        *out = NULL;
        return client_fail(c->h, BDML_ERR_FORMAT,
                           "%s: this is no metric but the proof that there is none",
                           c->argument[0]);
    }
    if (status != BDML_ERR_FORMAT || c->arguments < 2 || !cli_is_model(c->argument[1]))
        return status;
    return client_fail(c->h, BDML_ERR_ARGUMENT, "the model comes first: bdml %s %s %s",
                       c->command->name, c->argument[1], c->argument[0]);
}
