/* file.c - the only place that writes files: temporary file, fsync, rename.
 *
 * The temporary file of PATH is PATH.bdml-tmp-N, N from 0. Its writer holds a lock on it (flock) for as long as it
 * has that name, and the system drops the lock with the process, however that ends. So a name that is there and not
 * locked was left behind by one that was killed: the next writer of PATH takes it away. No process number is asked:
 * numbers are given out again. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct bdml_file {
    FILE *stream;
    char *path;    /* where the file shall be */
    char *temp;    /* where it is until then; NULL when written directly */
    bool terminal; /* people read it: see put_visible */
    char held[4];  /* for a terminal: bytes of a character that is not whole yet */
    size_t held_n;
    int lock; /* a second descriptor of the temporary file, which keeps the lock until it is renamed; -1: none */
};

enum { NAMES = 100 }; /* writers of the same file at once */

bool bdml_ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    return n > e && strcasecmp(path + n - e, ending) == 0;
}

void bdml_file_discard(bdml_file *f)
{
    if (!f) return;
    if (f->stream) fclose(f->stream);
    if (f->temp) unlink(f->temp);
    if (f->lock >= 0) close(f->lock);
    free(f->temp);
    free(f->path);
    free(f);
}

/* Devices, pipes and standard output cannot be renamed over: write straight into them. */
static bool is_direct(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

static int open_direct(const char *path)
{
    return strcmp(path, "-") == 0 ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC);
}

/* ---- the temporary file ---------------------------------------------------------------------- */

/* Is `name` the file that is open as fd? */
static bool is_named(int fd, const char *name)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(name, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* Remove what a killed writer left under this name. Who holds the lock of a file knows that no one is at work on it,
 * and is the only one to remove it; that it still has the name is asked once it is held. A file whose lock cannot be
 * had, for whatever reason, stays. */
static void remove_leftover(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_named(fd, name))
        unlink(name);
    close(fd);
}

/* A new, locked file of this name, or -1: EEXIST where it is taken. Between making and locking it, another process
 * may have taken it for a leftover: then it holds the lock, or the name is gone. */
static int make_temp(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(fd, name)) return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* A new file beside the target, so that rename stays on one file system; the umask decides the
 * permissions, as for any new file. -1 with errno 0: out of memory. */
static int open_temp(bdml_handle *h, bdml_file *f)
{
    size_t size = strlen(f->path) + 64;
    char *name = bdml_alloc(h, size, 1);
    int fd = -1;
    errno = 0;
    if (!name) return -1;
    for (int k = 0; k < NAMES; k++) {
        snprintf(name, size, "%s.bdml-tmp-%d", f->path, k);
        remove_leftover(name);
    }
    errno = EEXIST;
    for (int k = 0; k < NAMES && fd < 0 && errno == EEXIST; k++) {
        snprintf(name, size, "%s.bdml-tmp-%d", f->path, k);
        fd = make_temp(name);
    }
    if (fd < 0) {
        int why = errno;
        free(name);
        errno = why;
        return -1;
    }
    f->temp = name;
    f->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd;
}

/* A name that was put into a folder is safe from a crash of the system once the folder is written out. Where folders
 * cannot be (some network file systems), the rename is as safe as it gets. */
static void sync_folder(const char *path)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) < sizeof folder)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* ---- entry points ---------------------------------------------------------------------------- */

bdml_status bdml_file_create(bdml_handle *h, const char *path, bdml_file **out)
{
    bdml_status status = BDML_OK;
    bdml_file *f;
    int fd = -1;

    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_file_create: path must not be NULL");
    if (h->comm->rank > 0) path = "/dev/null"; /* rank 0 writes */
    BDML_NEW(h, f, 1);
    f->lock = -1;
    /* Through a symbolic link the file it points to is replaced, not the link. */
    char *real = realpath(path, NULL);
    if (!real && errno == ENOMEM) BDML_GO(bdml_fail(h, BDML_ERR_MEMORY, "%s: out of memory", path));
    f->path = bdml_strdup(h, real ? real : path);
    free(real);
    if (!f->path) BDML_GO(BDML_ERR_MEMORY);
    bool direct = is_direct(path);
    fd = direct ? open_direct(path) : open_temp(h, f);
    if (fd < 0) {
        status = errno
                     ? bdml_fail(h, BDML_ERR_IO, "%s: cannot be written: %s", path, strerror(errno))
                     : BDML_ERR_MEMORY;
        goto done;
    }
    f->terminal = direct && isatty(fd) != 0;
    f->stream = fdopen(fd, "wb");
    if (!f->stream) {
        close(fd);
        status = bdml_fail(h, BDML_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    }
done:
    if (status == BDML_OK)
        *out = f;
    else
        bdml_file_discard(f);
    return status;
}

/* To a terminal: what it would obey becomes visible, but for the ends of lines and tabs. Characters may come in parts. */
static bool put_visible(bdml_file *f, const char *data, size_t bytes, bool end)
{
    char form[BDML_VISIBLE_SIZE];
    size_t taken;
    for (size_t i = 0; i < bytes || end; i++) {
        bool last = i >= bytes;
        if (!last) f->held[f->held_n++] = data[i];
        while (f->held_n > 0 && (taken = bdml_visible_take(f->held, f->held_n, last, form)) > 0) {
            bool line = f->held[0] == '\n' || f->held[0] == '\t';
            if ((line ? fputc(f->held[0], f->stream) : fputs(form, f->stream)) < 0) return false;
            f->held_n -= taken;
            memmove(f->held, f->held + taken, f->held_n);
        }
        if (last) break;
    }
    return true;
}

static bool put(bdml_file *f, const void *data, size_t bytes)
{
    if (f->terminal) return put_visible(f, data, bytes, false);
    return bytes == 0 || fwrite(data, 1, bytes, f->stream) == bytes;
}

bdml_status bdml_file_write(bdml_handle *h, bdml_file *f, const void *data, size_t bytes)
{
    if (h->fail_write > 0 && --h->fail_write == 0)
        return bdml_fail(h, BDML_ERR_IO, "%s: writing failed: injected fault", f->path);
    if (!put(f, data, bytes))
        return bdml_fail(h, BDML_ERR_IO, "%s: writing failed: %s", f->path, strerror(errno));
    return BDML_OK;
}

bdml_status bdml_file_rewrite(bdml_handle *h, bdml_file *f, const void *data, size_t bytes)
{
    if (!f->temp || fseek(f->stream, 0, SEEK_SET) != 0)
        return bdml_fail(h, BDML_ERR_IO,
                         "%s: the number of rows is known only at the end and stands at the start: "
                         "write to a regular file",
                         f->path);
    return bdml_file_write(h, f, data, bytes);
}

bdml_status bdml_file_commit(bdml_handle *h, bdml_file *f)
{
    bdml_status status = BDML_OK;
    bool ok = (!f->terminal || put_visible(f, NULL, 0, true)) && fflush(f->stream) == 0;
    if (ok && f->temp) ok = fsync(fileno(f->stream)) == 0;
    int why = errno; /* of the first failure */
    bool closed = fclose(f->stream) == 0;
    f->stream = NULL;
    if (ok) why = errno;
    ok = ok && closed;
    if (ok && f->temp) {
        ok = rename(f->temp, f->path) == 0;
        why = errno;
    }
    if (!ok) {
        status = bdml_fail(h, BDML_ERR_IO, "%s: writing failed: %s", f->path, strerror(why));
    } else if (f->temp) {
        free(f->temp); /* it carries its final name now */
        f->temp = NULL;
        sync_folder(f->path);
    }
    bdml_file_discard(f);
    return status;
}

bdml_status bdml_file_save(bdml_handle *h, const char *path, const void *data, size_t bytes)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    BDML_GO(bdml_file_create(h, path, &f));
    BDML_GO(bdml_file_write(h, f, data, bytes));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    return status;
}
