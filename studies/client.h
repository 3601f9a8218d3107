/* client.h - what the command and its studies share over bdml.h: failing with a reason on the handle, memory, text,
 * files, and reading and making JSON. Nothing here knows the inside of the library.
 *
 * The command stays in the "C" locale, so that numbers have a point wherever they are printed. */
#ifndef BDML_CLIENT_H
#define BDML_CLIENT_H

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bdml/bdml.h"

/* Pass a failure on to the caller; the reason is on the handle. */
#define TRY(call)                                       \
    do {                                                \
        bdml_status try_status_ = (call);               \
        if (try_status_ != BDML_OK) return try_status_; \
    } while (0)

/* The same in a function that owns something: `status` is returned after the label `done`. */
#define GO(call)                          \
    do {                                  \
        status = (call);                  \
        if (status != BDML_OK) goto done; \
    } while (0)

/* Take n zeroed objects of type *(ptr) into ptr, or leave through `done` with BDML_ERR_MEMORY. */
#define NEW(h, ptr, n)                                         \
    do {                                                       \
        (ptr) = client_alloc((h), (size_t)(n), sizeof *(ptr)); \
        if (!(ptr)) {                                          \
            status = BDML_ERR_MEMORY;                          \
            goto done;                                         \
        }                                                      \
    } while (0)

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#if defined(__GNUC__)
#define CLIENT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLIENT_PRINTF(fmt, args)
#endif

/* Put a line on the handle and return status; context: "...: " before the line that is there. */
enum { CLIENT_ERROR = 1024 };
bdml_status client_fail(bdml_handle *h, bdml_status status, const char *fmt, ...)
    CLIENT_PRINTF(3, 4);
bdml_status client_fail_context(bdml_handle *h, bdml_status status, const char *context);
bdml_status client_no_memory(bdml_handle *h); /* BDML_ERR_MEMORY, said */

/* Zeroed; NULL: BDML_ERR_MEMORY is on the handle. A count of 0 gives a valid pointer. Given back by free. */
void *client_alloc(bdml_handle *h, size_t count, size_t size);
char *client_strdup(bdml_handle *h, const char *s);
extern int64_t client_fail_alloc; /* for tests: which allocation from now on fails; 0 = none */
/* Grow *array (of `size`-byte items, room for *capacity) so that it holds `need`, by doubling. */
bdml_status client_grow(bdml_handle *h, void *array, size_t *capacity, size_t need, size_t size);

/* fprintf for people: what %s brings is shown by bdml_visible_text, and its width counts characters. All text
 * of others (names, paths, what files say) goes this way. Returns the characters printed. */
int client_print(FILE *f, const char *fmt, ...) CLIENT_PRINTF(2, 3);
/* The same into markup: what %s brings is written by `escape`, whole; numbers that are none become – and ∞. */
void client_print_markup(FILE *f, void (*escape)(FILE *f, const char *s), const char *fmt,
                         va_list args) CLIENT_PRINTF(3, 0);
/* snprintf, and behind the text that is there: what does not fit is left out, by whole characters. */
void client_format(char *out, size_t size, const char *fmt, ...) CLIENT_PRINTF(3, 4);
void client_vformat(char *out, size_t size, const char *fmt, va_list args) CLIENT_PRINTF(3, 0);
void client_append(char *out, size_t size, const char *fmt, ...) CLIENT_PRINTF(3, 4);
/* A word as a shell reads it: between quotes where it has to be. */
void client_shell_word(FILE *f, const char *s);

double client_now(void); /* seconds on a clock that never goes back */

/* Shortest of %.15g, %.16g, %.17g that reads back to the same double. Returns the length. */
enum { CLIENT_NUMBER = 32 };
int client_number(double v, char out[CLIENT_NUMBER]);
bool client_ends_in(const char *path, const char *ending); /* ".csv", upper or lower case */
const char *client_base_name(const char *path);            /* the last part of a path */

/* A file of these bytes, whole or not at all. */
bdml_status client_write_file(bdml_handle *h, const char *path, const char *bytes, size_t size);

/* Text printed into memory: open, print to f, close, use text[0..size), which ends in a NUL too, free. Short of memory
 * close says so, whatever was lost on the way. */
typedef struct client_memory {
    FILE *f;
    char *text;
    size_t size, room;
    bool failed;
} client_memory;
bdml_status client_memory_open(bdml_handle *h, client_memory *m);
bdml_status client_memory_close(bdml_handle *h, client_memory *m);
void client_memory_free(client_memory *m);

/* ---- JSON ------------------------------------------------------------------------------------------------ */

/* Memory for JSON is never short without being noticed: once this is called (before any JSON is made), an
 * allocation that fails is remembered, and client_json_whole is false from then on. Whoever writes JSON out
 * asks. */
void client_json_watch(void);
bool client_json_whole(void);

json_t *client_text(const char *s); /* a string; bytes of text that is not UTF-8 become '?' */

static inline double client_real(const json_t *o, const char *key) /* NaN: not there */
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}
static inline const char *client_string(const json_t *o, const char *key) /* "": not there */
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

#endif
