/* file.c - the only place that writes files: temporary file, fsync, rename.
 *
 * The temporary file of PATH is PATH.bdml-tmp-N, N from 0. Its writer holds a lock on it (flock) for as long as it
 * has that name, and the system drops the lock with the process, however that ends. So a name that is there and not
 * locked was left behind by one that was killed: the next writer of PATH takes it away. No process number is asked:
 * numbers are given out again. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A descriptor that this process has open already, by one of its names; -1: none. Opened again, a file behind it would be
 * written from its start, whatever stands there. */
static int own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        size_t n = strlen(folders[k]);
        if (strncmp(path, folders[k], n) != 0 || strspn(path + n, "0123456789") == 0) continue;
        char *end;
        long fd = strtol(path + n, &end, 10);
        if (*end == '\0' && fd < INT_MAX) return (int)fd;
    }
    return -1;
}

/* Devices, pipes and what is open already cannot be renamed over: write straight into them. */
static bool is_direct(const char *path)
{
    struct stat st;
    return own_descriptor(path) >= 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* Is the descriptor open for writing? errno where it is not. */
static bool can_write(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EBADF;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

static int open_direct(const char *path)
{
    int own = own_descriptor(path);
    if (own >= 0 && !can_write(own)) return -1;
    return own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
}

/* ---- where a file goes ------------------------------------------------------------------------- */

/* The name that is written for `path`: through a symbolic link that of the file it points to, also where that is not there
 * yet. NULL with errno: there is no such place. */
static char *place_of(const char *path)
{
    enum { MOST_LINKS = 40 };
    char target[PATH_MAX], *at = realpath(path, NULL);
    if (at || errno != ENOENT) return at;
    at = strdup(path);
    for (int links = 0; at; links++) {
        ssize_t n = readlink(at, target, sizeof target - 1);
        if (n < 0) return at;
        target[n] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        size_t folder = slash ? (size_t)(slash - at) + 1 : 0;
        char *next = links < MOST_LINKS ? malloc(folder + (size_t)n + 1) : NULL;
        if (next) {
            memcpy(next, at, folder);
            memcpy(next + folder, target, (size_t)n + 1);
        }
        free(at);
        at = next;
        errno = links < MOST_LINKS ? ENOMEM : ELOOP;
    }
    return NULL;
}

/* The folder of `path`, in `out`; false: its name is too long. */
static bool folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (slash == path) n = 1;
    if (n >= PATH_MAX) return false;
    memcpy(out, slash ? path : ".", slash ? n : 1);
    out[slash ? n : 1] = '\0';
    return true;
}

/* May a file be put there? A file that is protected from writing stays, although its folder would let it be replaced. */
static bool may_write(const char *place)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(place, '/');
    errno = ENAMETOOLONG;
    if (!folder_of(place, folder) || strlen(slash ? slash + 1 : place) > NAME_MAX) return false;
    if (access(place, F_OK) == 0 && access(place, W_OK) != 0) return false;
    return access(folder, W_OK | X_OK) == 0;
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
static int make_temp(const char *name, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return -1;
    bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(fd, name)) return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* The new file takes the place of `old`: who could not read that shall not read this. Its group has no more to say than all
 * others where it cannot be the old one. What a file system does not know of (FAT) it need not keep. */
static void take_over(int fd, const struct stat *old)
{
    struct stat now;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &now) != 0) return;
    if (now.st_uid != old->st_uid && fchown(fd, old->st_uid, (gid_t)-1) != 0) errno = 0;
    if (now.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    if (fchmod(fd, mode) != 0) errno = 0;
}

/* A new file beside the target, so that rename stays on one file system; it has the permissions of the file whose place it
 * takes, and those of any new file (umask) where there is none. A name that leaves no room for the ending is cut: locks
 * tell whose a temporary file is. -1 with errno 0: out of memory. */
static int open_temp(bdml_handle *h, bdml_file *f)
{
    enum { ENDING = sizeof ".bdml-tmp-99" - 1 };
    struct stat old;
    bool there = stat(f->path, &old) == 0;
    const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path;
    int stem = (int)(base - f->path) + (int)strnlen(base, NAME_MAX - ENDING);
    size_t size = (size_t)stem + 64;
    char *name = bdml_alloc(h, size, 1);
    int fd = -1;
    errno = 0;
    if (!name) return -1;
    for (int k = 0; k < NAMES; k++) {
        snprintf(name, size, "%.*s.bdml-tmp-%d", stem, f->path, k);
        remove_leftover(name);
    }
    errno = EEXIST;
    for (int k = 0; k < NAMES && fd < 0 && errno == EEXIST; k++) {
        snprintf(name, size, "%.*s.bdml-tmp-%d", stem, f->path, k);
        fd = make_temp(name, there ? 0600 : 0666);
    }
    if (fd < 0) {
        int why = errno;
        free(name);
        errno = why;
        return -1;
    }
    if (there) take_over(fd, &old);
    f->temp = name;
    f->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd;
}

/* A name that was put into a folder is safe from a crash of the system once the folder is written out. Where folders
 * cannot be (some network file systems), the rename is as safe as it gets. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    if (!folder_of(path, folder)) return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* ---- entry points ---------------------------------------------------------------------------- */

static bdml_status refused(bdml_handle *h, const char *path, int why)
{
    return why == ENOMEM
               ? bdml_fail(h, BDML_ERR_MEMORY, "%s: out of memory", path)
               : bdml_fail(h, BDML_ERR_IO, "%s: cannot be written: %s", path, strerror(why));
}

bdml_status bdml_file_check(bdml_handle *h, const char *path)
{
    if (!h) return BDML_ERR_ARGUMENT;
    if (!path) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_file_check: path must not be NULL");
    int own = own_descriptor(path);
    struct stat st;
    if (own >= 0) return can_write(own) ? BDML_OK : refused(h, path, errno);
    if (is_direct(path)) {
        bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        if (folder) return refused(h, path, EISDIR);
        return access(path, W_OK) == 0 ? BDML_OK : refused(h, path, errno);
    }
    char *place = place_of(path);
    bool ok = place && may_write(place);
    int why = errno;
    free(place);
    return ok ? BDML_OK : refused(h, path, why);
}

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
    bool direct = is_direct(path);
    f->path = direct ? strdup(path) : place_of(path);
    if (!f->path || (!direct && !may_write(f->path))) {
        status = refused(h, path, errno);
        goto done;
    }
    fd = direct ? open_direct(path) : open_temp(h, f);
    if (fd < 0) {
        status = errno ? refused(h, path, errno) : BDML_ERR_MEMORY;
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
    if (!h) return BDML_ERR_ARGUMENT;
    if (!f || (!data && bytes > 0))
        return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_file_write: file and data must not be NULL");
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
    if (!h) return BDML_ERR_ARGUMENT;
    if (!f) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_file_commit: file must not be NULL");
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
