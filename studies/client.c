/* client.c - see client.h. */
#include "client.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

/* ---- failing ------------------------------------------------------------------------------------------- */

bdml_status client_fail(bdml_handle *h, bdml_status status, const char *fmt, ...)
{
    char line[CLIENT_ERROR];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    return bdml_set_error(h, status, line);
}

bdml_status client_fail_context(bdml_handle *h, bdml_status status, const char *context)
{
    char was[CLIENT_ERROR];
    snprintf(was, sizeof was, "%s", bdml_last_error(h));
    return client_fail(h, status, "%s: %s", context, was);
}

bdml_status client_no_memory(bdml_handle *h)
{
    return bdml_set_error(h, BDML_ERR_MEMORY, "out of memory");
}

/* ---- memory -------------------------------------------------------------------------------------------- */

int64_t client_fail_alloc;

void *client_alloc(bdml_handle *h, size_t count, size_t size)
{
    bool fails = client_fail_alloc > 0 && --client_fail_alloc == 0;
    void *p = fails ? NULL : calloc(count ? count : 1, size);
    if (!p) client_no_memory(h);
    return p;
}

char *client_strdup(bdml_handle *h, const char *s)
{
    char *copy = client_alloc(h, strlen(s) + 1, 1);
    if (copy) memcpy(copy, s, strlen(s) + 1);
    return copy;
}

bdml_status client_grow(bdml_handle *h, void *array, size_t *capacity, size_t need, size_t size)
{
    void *old;
    if (need <= *capacity) return BDML_OK;
    size_t room = MAX(need, 2 * *capacity);
    memcpy(&old, array, sizeof old);
    void *grown = room <= SIZE_MAX / size ? realloc(old, room * size) : NULL;
    if (!grown) return client_no_memory(h);
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return BDML_OK;
}

/* ---- text and files ------------------------------------------------------------------------------------- */

double client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int client_number(double v, char out[CLIENT_NUMBER])
{
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, CLIENT_NUMBER, "%.*g", digits, v);
        if (strtod(out, NULL) == v) break;
    }
    return n;
}

bool client_ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

const char *client_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_plain(const char *s)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
    return *s && s[strspn(s, plain)] == '\0';
}

void client_shell_word(FILE *f, const char *s)
{
    if (is_plain(s)) {
        fputs(s, f);
        return;
    }
    fputc('\'', f);
    for (; *s; s++) fputs(*s == '\'' ? "'\\''" : (char[]){*s, '\0'}, f);
    fputc('\'', f);
}

bdml_status client_write_file(bdml_handle *h, const char *path, const char *bytes, size_t size)
{
    bdml_file *file = NULL;
    TRY(bdml_file_create(h, path, &file));
    bdml_status status = bdml_file_write(h, file, bytes, size);
    if (status == BDML_OK) return bdml_file_commit(h, file);
    bdml_file_discard(file);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

static atomic_bool json_short; /* jansson's allocator has no place of its own for it */

/* jansson's reader goes on without what it could not store, and then reads beyond it. So when memory is short it is
 * given some of this, to end well with a result that nobody uses: json_short says so. */
enum { RESERVE = 1 << 16, ALIGN = 16 };
static _Alignas(ALIGN) char reserve[RESERVE];
static atomic_size_t reserve_used;

static void *watched_malloc(size_t size)
{
    void *p = malloc(size);
    if (p || size > RESERVE) return p;
    json_short = true;
    size_t at = atomic_fetch_add(&reserve_used, (size + ALIGN - 1) / ALIGN * ALIGN);
    return at + size <= RESERVE ? reserve + at : NULL;
}

static void watched_free(void *p)
{
    const char *at = p;
    if (at < reserve || at >= reserve + RESERVE) free(p);
}

void client_json_watch(void)
{
    json_set_alloc_funcs(watched_malloc, watched_free);
}

bool client_json_whole(void)
{
    return !json_short;
}

json_t *client_text(const char *s)
{
    json_t *text = json_string(s);
    if (text) return text;
    char *copy = strdup(s);
    for (char *p = copy; p && *p; p++)
        if ((unsigned char)*p >= 0x80) *p = '?';
    text = copy ? json_string(copy) : NULL;
    if (!copy) json_short = true;
    free(copy);
    return text;
}
