/* input.c - the bytes of a file: plain, gzip or standard input, buffered, and cut into lines.
 *
 * zlib's gzFile reads both gzip and plain files. The buffer holds bytes [pos, end) that are not yet
 * taken. Marked input that cannot seek keeps its bytes from `base` on, so that it can be read twice. */
#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    /* bytes asked for at a time: large enough that zlib copies nothing */
    CHUNK = BDML_FUZZING ? 1 << 7 : 1 << 18,
    PIECE = 1 << 22,      /* read at a time */
    GZ_BUFFER = CHUNK / 2 /* zlib's own buffer, at most half of that for the same reason */
};
static const size_t NOWHERE = SIZE_MAX;

struct bdml_input {
    gzFile gz;
    char *path, *name;
    int fd; /* of gz */
    bool seekable, keep, eof;
    int64_t began;        /* where reading of a regular file began */
    int64_t size;         /* of a regular file, from where reading began; else -1 */
    int64_t taken_before; /* bytes that have left the buffer */
    bool watched;         /* a regular file that is not made up by the system as it is read: */
    struct stat was;      /* it, when it was opened */

    unsigned char *buffer; /* capacity + 1 bytes: room for a closing NUL */
    size_t capacity, base, pos, end;

    int64_t line;
    size_t newline;  /* place of the next '\n' if known, else NOWHERE */
    size_t searched; /* no '\n' in [pos, searched) */
    size_t patched;  /* where a NUL stands for `patch`, or NOWHERE */
    unsigned char patch;
};

/* ---- opening ----------------------------------------------------------------------------------- */

void bdml_input_close(bdml_input *in)
{
    if (!in) return;
    if (in->gz) gzclose_r(in->gz);
    free(in->buffer);
    free(in->path);
    free(in->name);
    free(in);
}

const char *bdml_input_name(const bdml_input *in)
{
    return in->name;
}

const char *bdml_input_path(const bdml_input *in)
{
    return in->path;
}

static bdml_status open_gz(bdml_handle *h, bdml_input *in)
{
    struct stat st;
    bool standard = strcmp(in->path, "-") == 0;
    if (standard && h->comm->size > 1)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "standard input reaches rank 0 alone: give the name of a file that every "
                         "rank can read");
    int fd = standard ? dup(STDIN_FILENO) : open(in->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0) close(fd);
        return bdml_fail(h, BDML_ERR_IO, "%s: cannot be read: %s", in->name, strerror(why));
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return bdml_fail(h, BDML_ERR_IO, "%s: is a directory, not a data file", in->name);
    }
    off_t at = lseek(fd, 0, SEEK_CUR);
    in->seekable = S_ISREG(st.st_mode) && at >= 0;
    in->size = in->seekable ? (int64_t)(st.st_size - at) : -1;
    in->began = at;
    in->watched = in->seekable && st.st_size > 0;
    in->was = st;
    in->fd = fd;
    in->gz = gzdopen(fd, "rb");
    if (!in->gz || gzbuffer(in->gz, GZ_BUFFER) != 0) {
        if (!in->gz) close(fd);
        return bdml_fail(h, BDML_ERR_MEMORY, "%s: out of memory for reading", in->name);
    }
    return BDML_OK;
}

/* A byte-order mark of UTF-8 is no part of the data. */
static bdml_status skip_mark(bdml_handle *h, bdml_input *in)
{
    const unsigned char *head;
    size_t n;
    BDML_TRY(bdml_input_peek(h, in, 3, &head, &n));
    if (n == 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) in->pos += 3;
    in->base = in->pos;
    return BDML_OK;
}

bdml_status bdml_input_open(bdml_handle *h, const char *path, bdml_input **out)
{
    bdml_status status = BDML_OK;
    bdml_input *in;

    *out = NULL;
    BDML_NEW(h, in, 1);
    in->newline = in->patched = NOWHERE;
    in->path = bdml_strdup(h, path);
    in->name = bdml_strdup(h, strcmp(path, "-") == 0 ? "standard input" : path);
    if (!in->path || !in->name) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    BDML_GO(open_gz(h, in));
    in->buffer = bdml_alloc(h, CHUNK + 1, 1);
    if (!in->buffer) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    in->capacity = CHUNK;
    BDML_GO(skip_mark(h, in));
done:
    if (status == BDML_OK)
        *out = in;
    else
        bdml_input_close(in);
    return status;
}

/* ---- files that change ----------------------------------------------------------------------------- */

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bdml_status has_changed(bdml_handle *h, const bdml_input *in)
{
    return bdml_fail(h, BDML_ERR_IO,
                     "%s: the file was changed while it was being read, so that its parts may not "
                     "belong together; leave it alone meanwhile, or read a copy of it",
                     in->name);
}

/* A reader looks at the first rows, or at all of them, before it reads them, and a file that is written meanwhile would be read in
 * two states. It is told by its size and time; another that is put in its place by renaming is not this one. */
bdml_status bdml_input_unchanged(bdml_handle *h, const bdml_input *in)
{
    struct stat now;
    if (!in->watched || (fstat(in->fd, &now) == 0 && same_state(&now, &in->was))) return BDML_OK;
    return has_changed(h, in);
}

bdml_status bdml_input_same(bdml_handle *h, const bdml_input *before, const bdml_input *now)
{
    const struct stat *a = &before->was, *b = &now->was;
    bool same =
        before->watched == now->watched &&
        (!now->watched || (a->st_dev == b->st_dev && a->st_ino == b->st_ino && same_state(a, b)));
    return same ? BDML_OK : has_changed(h, now);
}

bdml_status bdml_input_blame(bdml_handle *h, const bdml_input *in, bdml_status status)
{
    bool content = status == BDML_ERR_DATA || status == BDML_ERR_FORMAT || status == BDML_ERR_IO;
    bdml_status changed = in && content ? bdml_input_unchanged(h, in) : BDML_OK;
    return changed != BDML_OK ? changed : status;
}

FILE *bdml_input_again(const bdml_input *in)
{
    int fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!f && fd >= 0) close(fd);
    return f;
}

/* ---- bytes -------------------------------------------------------------------------------------- */

/* Read up to n bytes; fewer only at the end of the file. */
static bdml_status read_gz(bdml_handle *h, bdml_input *in, void *out, size_t n, size_t *got)
{
    unsigned ask = (unsigned)BDML_MIN(n, (size_t)INT_MAX);
    int code = Z_OK, had = gzread(in->gz, out, ask);
    if (had < (int)ask) {
        BDML_TRY(bdml_input_unchanged(h, in));
        const char *text = gzerror(in->gz, &code);
        if (code == Z_ERRNO)
            return bdml_fail(h, BDML_ERR_IO, "%s: reading failed: %s", in->name, strerror(errno));
        if (code == Z_MEM_ERROR)
            return bdml_fail(h, BDML_ERR_MEMORY, "%s: out of memory while unpacking", in->name);
        if (code == Z_BUF_ERROR)
            return bdml_fail(h, BDML_ERR_FORMAT, "%s: the gzip file is truncated", in->name);
        if (code != Z_OK && code != Z_STREAM_END)
            return bdml_fail(h, BDML_ERR_FORMAT, "%s: the gzip file is damaged: %s", in->name,
                             text);
        in->eof = true;
    }
    *got = (size_t)BDML_MAX(had, 0);
    return BDML_OK;
}

/* Undo the NUL that closed the last line. */
static void unpatch(bdml_input *in)
{
    if (in->patched == NOWHERE) return;
    in->buffer[in->patched] = in->patch;
    in->patched = NOWHERE;
}

static void compact(bdml_input *in)
{
    size_t shift = in->pos;
    if (in->keep || shift == 0) return;
    memmove(in->buffer, in->buffer + shift, in->end - shift);
    in->taken_before += (int64_t)shift;
    in->pos = 0;
    in->end -= shift;
    in->searched = in->searched > shift ? in->searched - shift : 0;
    if (in->newline != NOWHERE) in->newline -= shift;
}

/* Bring in at least one more byte, or find the end. The buffer doubles when it is more than half
 * full of one line, so that a line of any length costs time linear in its length. */
static bdml_status fill(bdml_handle *h, bdml_input *in)
{
    size_t got = 0;
    compact(in);
    if (in->capacity - in->end < CHUNK / 2) {
        size_t want = in->capacity <= SIZE_MAX / 4 ? 2 * in->capacity : in->capacity;
        unsigned char *grown = bdml_realloc(h, in->buffer, want + 1, 1);
        if (!grown) return BDML_ERR_MEMORY;
        in->buffer = grown;
        in->capacity = want;
    }
    size_t until = in->capacity; /* at most this */
    do {
        /* whoever reads, and whatever is passed over: the user may want to leave meanwhile */
        BDML_TRY(bdml_progress(h, "reading", -1, 0));
        BDML_TRY(
            read_gz(h, in, in->buffer + in->end, BDML_MIN(until - in->end, (size_t)PIECE), &got));
        in->end += got;
    } while (in->end < until && !in->eof);
    return BDML_OK;
}

bdml_status bdml_input_peek(bdml_handle *h, bdml_input *in, size_t want,
                            const unsigned char **bytes, size_t *n)
{
    unpatch(in);
    while (in->end - in->pos < want && !in->eof) BDML_TRY(fill(h, in));
    *bytes = in->buffer + in->pos;
    *n = BDML_MIN(want, in->end - in->pos);
    return BDML_OK;
}

static void take(bdml_input *in, size_t n)
{
    in->pos += n;
    if (in->newline != NOWHERE && in->newline < in->pos) in->newline = NOWHERE;
    if (in->searched < in->pos) in->searched = in->pos;
}

bdml_status bdml_input_read(bdml_handle *h, bdml_input *in, void *out, size_t want, size_t *got)
{
    unsigned char *to = out;

    unpatch(in);
    for (*got = 0; *got < want;) {
        size_t left = want - *got, part = BDML_MIN(left, in->end - in->pos);
        if (part > 0) {
            memcpy(to + *got, in->buffer + in->pos, part);
            take(in, part);
        } else if (in->eof) {
            break;
        } else if (left >= CHUNK && !in->keep) { /* straight to its place */
            in->taken_before += (int64_t)in->pos;
            in->pos = in->end = in->searched = 0;
            BDML_TRY(bdml_progress(h, "reading", -1, 0));
            BDML_TRY(read_gz(h, in, to + *got, BDML_MIN(left, (size_t)PIECE), &part));
            in->taken_before += (int64_t)part;
        } else {
            BDML_TRY(fill(h, in));
        }
        *got += part;
    }
    return BDML_OK;
}

/* zlib moves the place in a file that is not packed, and unpacks what is left out of one that is. */
bdml_status bdml_input_skip(bdml_handle *h, bdml_input *in, int64_t bytes)
{
    unpatch(in);
    int64_t held = (int64_t)(in->end - in->pos), beyond = bytes - held;
    if (beyond <= 0) {
        take(in, (size_t)bytes);
        return BDML_OK;
    }
    if (gzseek(in->gz, (z_off_t)beyond, SEEK_CUR) < 0)
        return bdml_fail(h, BDML_ERR_IO, "%s: cannot be read from byte %lld on", in->name,
                         (long long)(in->taken_before + (int64_t)in->pos + bytes));
    in->taken_before += (int64_t)in->end + beyond;
    in->pos = in->end = in->searched = 0;
    in->newline = NOWHERE;
    return BDML_OK;
}

int64_t bdml_input_remaining(const bdml_input *in)
{
    if (in->size < 0 || !gzdirect(in->gz)) return -1;
    return BDML_MAX(in->size - in->taken_before - (int64_t)in->pos, 0);
}

bdml_status bdml_input_map(bdml_handle *h, const bdml_input *in, int64_t skip, size_t bytes,
                           bdml_mapped **out)
{
    *out = NULL;
    if (bdml_input_remaining(in) < 0) return BDML_OK;
    int64_t at = in->began + in->taken_before + (int64_t)in->pos;
    return bdml_mapped_new(h, in->fd, at + skip, bytes, out);
}

void bdml_input_mark(bdml_input *in)
{
    unpatch(in);
    in->keep = !in->seekable;
    in->base = in->pos;
}

bdml_status bdml_input_rewind(bdml_handle *h, bdml_input *in)
{
    unpatch(in);
    in->newline = NOWHERE;
    in->line = 0;
    if (in->keep) {
        in->keep = false;
        in->pos = in->searched = in->base;
        return BDML_OK;
    }
    if (gzrewind(in->gz) != 0)
        return bdml_fail(h, BDML_ERR_IO, "%s: cannot be read a second time", in->name);
    in->pos = in->end = in->searched = 0;
    in->taken_before = 0;
    in->eof = false;
    return skip_mark(h, in);
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* Where does the line that starts at pos end, and how many bytes are its end? False: fill first.
 * The next '\n' is remembered, or files whose lines end in '\r' alone would take quadratic time. */
static bool find_end(bdml_input *in, size_t *stop, size_t *skip)
{
    const unsigned char *b = in->buffer, *p;
    if (in->newline == NOWHERE) {
        size_t from = BDML_MAX(in->searched, in->pos);
        p = from < in->end ? memchr(b + from, '\n', in->end - from) : NULL;
        if (p) in->newline = (size_t)(p - b);
        in->searched = p ? in->newline : in->end;
    }
    size_t limit = in->newline == NOWHERE ? in->end : in->newline;
    p = limit > in->pos ? memchr(b + in->pos, '\r', limit - in->pos) : NULL;
    if (p) {
        *stop = (size_t)(p - b);
        if (*stop + 1 == in->end && !in->eof) return false; /* does a '\n' follow? */
        *skip = *stop + 1 < in->end && b[*stop + 1] == '\n' ? 2 : 1;
        return true;
    }
    *stop = limit;
    *skip = in->newline == NOWHERE ? 0 : 1;
    return in->newline != NOWHERE || in->eof;
}

bdml_status bdml_input_line(bdml_handle *h, bdml_input *in, char **line, size_t *n)
{
    size_t stop, skip;

    *line = NULL;
    *n = 0;
    unpatch(in);
    while (!find_end(in, &stop, &skip)) {
        if (in->end - in->pos > BDML_LINE_MOST)
            return bdml_fail(h, BDML_ERR_FORMAT,
                             "%s: line %lld is longer than %zu MiB: this is no text of rows",
                             in->name, (long long)in->line + 1, BDML_LINE_MOST >> 20);
        BDML_TRY(fill(h, in));
    }
    if (stop == in->pos && skip == 0) return BDML_OK; /* the end of the file */
    in->line++;
    size_t from = in->pos;
    if (memchr(in->buffer + from, '\0', stop - from))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: line %lld: a NUL byte stands here, so this is not text (UTF-8)",
                         in->name, (long long)in->line);
    take(in, stop - from + skip);
    in->patched = stop;
    in->patch = in->buffer[stop]; /* at the end of the file: the spare byte */
    in->buffer[stop] = '\0';
    *line = (char *)in->buffer + from;
    *n = stop - from;
    return BDML_OK;
}

int64_t bdml_input_line_number(const bdml_input *in)
{
    return in->line;
}
