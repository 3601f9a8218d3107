/* test_hostile.c - bad files of every format: each must be refused with its own clear line, by the
 * library and by the command, and nothing must be written. */
#include "hostile/corpus_binary.h"
#include "hostile/corpus_text.h"

#include "data/data.h"

#include <ctype.h>
#include <sys/wait.h>

enum { LEAST = 80, MESSAGE = 1100 };

static char message[MAX_BAD][MESSAGE]; /* what the library said, the folder taken out */

/* "a=b c=d" onto a handle. */
static void apply(bdml_handle *h, const char *settings)
{
    char copy[1024], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", settings);
    while ((word = strsep(&rest, " ")) != NULL) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value = '\0';
        check_ok(h, bdml_set(h, word, value + 1));
    }
}

static bool is_one_line(const char *s)
{
    if (!*s) return false;
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7F) return false;
    return true;
}

/* The message without the folder: what is left must tell the files apart by their fault. */
static void keep_message(int i, const char *text)
{
    const char *at = strstr(text, corpus[i].path);
    size_t before = at ? (size_t)(at - text) : 0;
    if (at)
        snprintf(message[i], MESSAGE, "%.*s%s", (int)before, text, at + strlen(corpus[i].path));
    else
        snprintf(message[i], MESSAGE, "%s", text);
}

static void library_refuses_each_file(void **state)
{
    (void)state;
    int failures = 0;
    bool show = getenv("BDML_SHOW_MESSAGES") != NULL;
    for (int i = 0; i < corpus_size; i++) {
        const bad *b = &corpus[i];
        bdml_handle *h;
        bdml_dataset *data = NULL;
        assert_int_equal(bdml_create(&h), BDML_OK);
        apply(h, b->settings);
        bdml_status status = bdml_read_dataset(h, b->path, &data);
        if (b->classes) {
            check_ok(h, status);
            status = bdml_dataset_need_classes(h, data);
        } else if (status != BDML_OK) {
            assert_null(data);
        }
        const char *text = bdml_last_error(h);
        if (show) print_message("%d %s\n", status, text);
        if (status != b->status || !strstr(text, b->fragment) || !is_one_line(text)) {
            print_message("%s: status %d (%s), wanted %d with '%s'\n", b->path, status, text,
                          b->status, b->fragment);
            failures++;
        }
        keep_message(i, text);
        bdml_free_dataset(data);
        bdml_free(h);
    }
    assert_true(corpus_size >= LEAST);
    assert_int_equal(failures, 0);
}

/* A message that fits two faults explains neither: files may share one only where the fault is the
 * same, no rows at all. */
static void messages_are_specific(void **state)
{
    (void)state;
    int same = 0;
    for (int i = 0; i < corpus_size; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(message[i], message[j]) == 0 && !strstr(message[i], "no rows of data")) {
                print_message("%s and %s: '%s'\n", corpus[i].path, corpus[j].path, message[i]);
                same++;
            }
    assert_int_equal(same, 0);
}

/* ---- the command ------------------------------------------------------------------------------- */

/* Run the command; its exit code, or -1. Standard error goes to `said`. */
static int run(const char *command, const char *verb, const char *in, const char *settings,
               const char *out, char *said, size_t size)
{
    char line[4096], options[1024] = "", copy[1024], *rest = copy, *word;
    size_t used = 0;
    snprintf(copy, sizeof copy, "%s", settings);
    while ((word = strsep(&rest, " ")) != NULL)
        if (strchr(word, '=') && used < sizeof options)
            used += (size_t)snprintf(options + used, sizeof options - used, " --%s", word);
    if (out)
        snprintf(line, sizeof line, "'%s' %s '%s' '%s'%s 2>&1 >/dev/null </dev/null", command, verb,
                 in, out, options);
    else /* nothing but a report is asked for */
        snprintf(line, sizeof line, "'%s' %s '%s'%s 2>&1 >/dev/null </dev/null", command, verb, in,
                 options);
    FILE *p = popen(line, "r");
    assert_non_null(p);
    size_t n = fread(said, 1, size - 1, p);
    said[n] = '\0';
    int code = pclose(p);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

/* Exit code 2, one line that begins with "bdml: " and names the fault, no file. */
static bool refuses(const char *command, const char *verb, const bad *b, const char *out)
{
    char said[8192];
    int code = run(command, verb, b->path, b->settings, out, said, sizeof said);
    size_t n = strlen(said);
    bool line = n > 0 && strchr(said, '\n') == said + n - 1 && strncmp(said, "bdml: ", 6) == 0;
    bool written = out && access(out, F_OK) == 0;
    if (code == 2 && line && strstr(said, b->fragment) && !written) return true;
    print_message("%s %s: exit %d, %s, said '%s'\n", verb, b->path, code,
                  written ? "a file was written" : "no file", said);
    if (written) unlink(out);
    return false;
}

static void command_refuses_each_file(void **state)
{
    (void)state;
    const char *command = getenv("BDML_COMMAND"), *out = in_folder("out.csv");
    char said[8192];
    int failures = 0;
    if (!command ||
        run(command, "convert", source_path("data/wine.csv"), "", out, said, sizeof said) != 0 ||
        unlink(out) != 0) {
        print_message("skipped: the command cannot convert yet\n");
        skip();
    }
    for (int i = 0; i < corpus_size; i++) {
        const bad *b = &corpus[i];
        /* convert has no use for classes, eval has */
        failures +=
            !(b->classes ? refuses(command, "eval", b, NULL) : refuses(command, "convert", b, out));
    }
    assert_int_equal(failures, 0);
}

/* ---- random damage -------------------------------------------------------------------------------- */

/* Change, cut or lengthen a good file; reading it must end in data or in one line. $BDML_FUZZ sets the
 * number of tries a file. */
static void damage(bdml_rng *r, const bytes *good, bytes *out)
{
    put(out, good->b, good->n);
    int changes = 1 + (int)bdml_rng_below(r, 4);
    for (int k = 0; k < changes; k++) {
        size_t at = (size_t)bdml_rng_below(r, out->n);
        static const unsigned char odd[] = {0,   1,   0x7F, 0x80, 0xFF, '0',
                                            '9', ',', '\n', '"',  ' ',  '-'};
        out->b[at] = bdml_rng_below(r, 2) ? odd[bdml_rng_below(r, sizeof odd)]
                                          : (unsigned char)bdml_rng_below(r, 256);
    }
    if (bdml_rng_below(r, 8) == 0) out->n = (size_t)bdml_rng_below(r, out->n);
    if (bdml_rng_below(r, 16) == 0) put(out, "\0junk\n", 6);
}

static void fuzz(const char *name, const char *format, bytes *good, int tries)
{
    bdml_rng r = bdml_rng_make(2015, good->n);
    char path[512];
    int read = 0;
    snprintf(path, sizeof path, "%s", in_folder(name));
    for (int i = -1; i < tries; i++) {
        bdml_handle *h;
        bdml_dataset *data = NULL;
        bytes b = {0};
        if (i < 0) /* the good file itself comes first */
            put(&b, good->b, good->n);
        else
            damage(&r, good, &b);
        save(name, &b);
        assert_int_equal(bdml_create(&h), BDML_OK);
        check_ok(h, bdml_set(h, "format", format));
        bdml_status status = bdml_read_dataset(h, path, &data);
        if (i < 0)
            check_ok(h, status);
        else if (status == BDML_OK)
            read++;
        else if (!is_one_line(bdml_last_error(h)) || data)
            fail_msg("%s, try %d: '%s'", name, i, bdml_last_error(h));
        bdml_free_dataset(data);
        bdml_free(h);
    }
    if (getenv("BDML_FUZZ")) print_message("%s: %d of %d were read\n", name, read, tries);
    drop(good);
}

/* X (sparse or full), text and cell labels, unwanted variables before them. */
static bytes rich_mat(bool packed, int labels, bool sparse)
{
    bytes f = {0}, x = {0};
    const uint32_t ir[3] = {1, 0, 2}, jc[3] = {0, 1, 3}, dims[2] = {3, 2}, column[2] = {3, 1};
    mat_header(&f, 0x0100, false);
    x = mat_doubles("other", 2, 3, NUMBERS, false);
    mat_add(&f, &x, false);
    if (sparse) {
        mat_start(&x, MX_SPARSE, 2, dims, "X", false);
        mat_part(&x, MI_INT32, ir, 12, false);
        mat_part(&x, MI_INT32, jc, 12, false);
        mat_part(&x, MI_DOUBLE, NUMBERS, 24, false);
    } else {
        x = mat_doubles("X", 3, 2, NUMBERS, false);
    }
    if (packed)
        mat_add_compressed(&f, &x);
    else
        mat_add(&f, &x, false);
    if (labels == 0) {
        x = mat_doubles("y", 3, 1, NUMBERS, false);
    } else if (labels == 1) {
        mat_start(&x, MX_CHAR, 2, dims, "y", false);
        mat_part(&x, MI_UINT16, "a\0b\0a\0c\0d\0c\0", 12, false);
    } else if (labels == 3) {
        mat_start(&x, MX_CHAR, 2, dims, "y", false);
        mat_part(&x, MI_UTF8, "\xC3\xA9u\xC3\xA9x\xE2\x82\xAC!", 10, false);
    } else {
        mat_start(&x, MX_CELL, 2, column, "y", false);
        for (int i = 0; i < 3; i++) {
            bytes cell = {0};
            mat_start(&cell, MX_CHAR, 2, (const uint32_t[]){1, 3}, "", false);
            mat_part(&cell, MI_UINT8, i ? "cat" : "dog", 3, false);
            mat_add(&x, &cell, false);
        }
    }
    mat_add(&f, &x, false);
    return f;
}

static void random_damage_never_crashes(void **state)
{
    (void)state;
    const char *wish = getenv("BDML_FUZZ");
    int tries = wish ? atoi(wish) : 150;
    bytes b = npy_doubles("(3, 2)", 6, NUMBERS);
    fuzz("fuzz.npy", "npy", &b, tries);
    npy_header(&b, "<i2", "True", "(2, 3, 2)");
    for (int i = 0; i < 12; i++) put_int(&b, (uint64_t)i, 2, false);
    fuzz("fuzz-f.npy", "npy", &b, tries);
    b = good_zip(ZIP_CM_STORE);
    fuzz("fuzz.npz", "npz", &b, tries);
    b = good_zip(ZIP_CM_DEFLATE);
    fuzz("fuzz-d.npz", "npz", &b, tries);
    for (int k = 0; k < 8; k++) {
        b = rich_mat(k & 1, k / 2, k >= 2 && k < 4);
        fuzz("fuzz.mat", "mat", &b, tries);
    }
    idx_header(&b, 0x0E, 3, (const uint32_t[]){3, 2, 1});
    for (int i = 0; i < 6; i++) put_double(&b, NUMBERS[i], true);
    fuzz("fuzz.idx", "idx", &b, tries);
    put_text(&b, "a,b,\"the class\"\n1,2.5,\"x, \"\"y\"\"\"\n-3e2,7,z\n4,5,z\n");
    fuzz("fuzz.csv", "csv", &b, tries);
    put_text(&b, "+1 1:0.5 3:2 # note\n-1 2:1e3\n");
    fuzz("fuzz.svm", "svmlight", &b, tries);
    put_text(&b, "@relation r\n@attribute 'a b' numeric\n@attribute class {x,'y z'}\n@data\n1,x\n"
                 "2,'y z'\n{0 3, 1 x}\n");
    fuzz("fuzz.arff", "arff", &b, tries);
}

static int set_up(void **state)
{
    if (make_folder(state) != 0) return -1;
    build_text_corpus();
    build_binary_corpus();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_refuses_each_file),
        cmocka_unit_test(messages_are_specific),
        cmocka_unit_test(command_refuses_each_file),
        cmocka_unit_test(random_damage_never_crashes),
    };
    return cmocka_run_group_tests(tests, set_up, drop_folder);
}
