/* fuzz.c - the table of targets, and the two ways in: libFuzzer, and the replay of kept files. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HANDLES = 64, PATH = 4096 };
static const double MOST_BYTES = 256 << 20; /* that a file of some KiB may ask for */

static const fuzz_target *const tables[] = {fuzz_readers, fuzz_own, fuzz_proofs};

/* ---- what targets use ---------------------------------------------------------------------------- */

static void must(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

const char *fuzz_file(const unsigned char *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        must(fd >= 0, "no file in memory");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must(ftruncate(fd, (off_t)size) == 0, "no room");
    must(size == 0 || pwrite(fd, data, size, 0) == (ssize_t)size, "no room");
    return path;
}

bdml_handle *fuzz_handle(const char *settings)
{
    static struct {
        const char *settings;
        bdml_handle *h;
    } kept[MOST_HANDLES];
    int k = 0;
    while (k < MOST_HANDLES && kept[k].settings && strcmp(kept[k].settings, settings) != 0) k++;
    must(k < MOST_HANDLES, "too many settings");
    if (kept[k].settings) return kept[k].h;
    bdml_handle *h;
    char copy[256], *rest = copy, *word;
    must(bdml_create(&h) == BDML_OK && bdml_set(h, "threads", "1") == BDML_OK, "no handle");
    snprintf(copy, sizeof copy, "%s", settings);
    while ((word = strsep(&rest, " ")) != NULL) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value++ = '\0';
        must(bdml_set(h, word, value) == BDML_OK, bdml_last_error(h));
    }
    h->pretend_free = MOST_BYTES;
    kept[k].settings = settings;
    kept[k].h = h;
    return h;
}

size_t fuzz_way(const unsigned char *data, size_t size, size_t n)
{
    return size == 0 ? 0 : data[size - 1] % n;
}

void fuzz_promise(bdml_handle *h, bdml_status status)
{
    must(bdml_status_text(status) != NULL, "a status that nobody knows");
    must(status != BDML_ERR_MEMORY || h->pretend_free != MOST_BYTES, bdml_last_error(h));
    if (status == BDML_OK) return;
    const char *why = bdml_last_error(h);
    must(*why != '\0', "a failure without a word");
    for (; *why; why++) must((unsigned char)*why >= 0x20 && *why != 0x7F, "a failure in two lines");
}

/* ---- the ways in --------------------------------------------------------------------------------- */

static void list(FILE *f)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const fuzz_target *k = tables[t]; k->name; k++) fprintf(f, "%s\n", k->name);
}

#ifdef BDML_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
static const fuzz_target *chosen;

static const fuzz_target *find(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const fuzz_target *f = tables[t]; f->name; f++)
            if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

/* The target is named by BDML_FUZZ. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *name = getenv("BDML_FUZZ");
    chosen = find(name ? name : "");
    if (!chosen) {
        fprintf(stderr, "BDML_FUZZ names the target, one of:\n");
        list(stderr);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chosen->run(data, size);
    return 0;
}

#else

static void replay_file(const fuzz_target *f, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && fstat(fd, &st) == 0, path);
    size_t size = (size_t)st.st_size;
    unsigned char *data = malloc(size + 1); /* of its own: one byte beyond is seen by sanitizers */
    must(data && read(fd, data, size) == (ssize_t)size, path);
    close(fd);
    data = realloc(data, size ? size : 1);
    f->run(data, size);
    free(data);
}

/* replay FOLDER: every file of FOLDER/TARGET/, for every target. */
int main(int argc, char **argv)
{
    char path[PATH];
    int files = 0, targets = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: replay FOLDER, which holds a folder for each of:\n");
        list(stderr);
        return 2;
    }
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const fuzz_target *f = tables[t]; f->name; f++, targets++) {
            snprintf(path, sizeof path, "%s/%s", argv[1], f->name);
            DIR *folder = opendir(path);
            must(folder != NULL, path);
            int before = files;
            for (struct dirent *e; (e = readdir(folder)) != NULL;) {
                if (e->d_name[0] == '.') continue;
                snprintf(path, sizeof path, "%s/%s/%s", argv[1], f->name, e->d_name);
                replay_file(f, path);
                files++;
            }
            closedir(folder);
            must(files > before, "a target without a file");
        }
    printf("cases: %d passed, 0 failed (%d targets)\n", files, targets);
    return 0;
}

#endif
