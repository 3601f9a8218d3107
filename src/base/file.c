/* file.c - the only place that writes files: temporary file, fsync, rename. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct bdml_file {
    FILE *stream;
    char *path; /* where the file shall be */
    char *temp; /* where it is until then; NULL when written directly */
};

enum { NAME_TRIES = 100 };

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

/* A new file beside the target, so that rename stays on one file system; the umask decides the
 * permissions, as for any new file. */
static int open_temp(bdml_handle *h, bdml_file *f)
{
    size_t size = strlen(f->path) + 64;
    f->temp = bdml_alloc(h, size, 1);
    if (!f->temp) return -1;
    for (int attempt = 0; attempt < NAME_TRIES; attempt++) {
        snprintf(f->temp, size, "%s.tmp-%ld-%d", f->path, (long)getpid(), attempt);
        int fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

bdml_status bdml_file_create(bdml_handle *h, const char *path, bdml_file **out)
{
    bdml_status status = BDML_OK;
    bdml_file *f;
    int fd = -1;

    if (out) *out = NULL;
    if (!h || !out) return BDML_ERR_ARGUMENT;
    if (!path) return bdml_fail(h, BDML_ERR_ARGUMENT, "bdml_file_create: path must not be NULL");
    BDML_NEW(h, f, 1);
    /* Through a symbolic link the file it points to is replaced, not the link. */
    char *real = realpath(path, NULL);
    f->path = bdml_strdup(h, real ? real : path);
    free(real);
    if (!f->path) {
        status = BDML_ERR_MEMORY;
        goto done;
    }
    bool direct = is_direct(path);
    errno = 0;
    fd = direct ? open_direct(path) : open_temp(h, f);
    if (fd < 0) {
        status = errno
                     ? bdml_fail(h, BDML_ERR_IO, "%s: cannot be written: %s", path, strerror(errno))
                     : BDML_ERR_MEMORY;
        free(f->temp); /* never made: nothing to unlink */
        f->temp = NULL;
        goto done;
    }
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

bdml_status bdml_file_write(bdml_handle *h, bdml_file *f, const void *data, size_t bytes)
{
    if (h->fail_write > 0 && --h->fail_write == 0)
        return bdml_fail(h, BDML_ERR_IO, "%s: writing failed: injected fault", f->path);
    if (bytes > 0 && fwrite(data, 1, bytes, f->stream) != bytes)
        return bdml_fail(h, BDML_ERR_IO, "%s: writing failed: %s", f->path, strerror(errno));
    return BDML_OK;
}

const char *bdml_file_path(const bdml_file *f)
{
    if (f->temp) return f->temp;
    return strcmp(f->path, "-") == 0 ? NULL : f->path;
}

bdml_status bdml_file_commit(bdml_handle *h, bdml_file *f)
{
    bdml_status status = BDML_OK;
    bool ok = fflush(f->stream) == 0;
    if (ok && f->temp) ok = fsync(fileno(f->stream)) == 0;
    if (fclose(f->stream) != 0) ok = false;
    f->stream = NULL;
    if (ok && f->temp) ok = rename(f->temp, f->path) == 0;
    if (!ok) {
        status = bdml_fail(h, BDML_ERR_IO, "%s: writing failed: %s", f->path, strerror(errno));
    } else {
        free(f->temp); /* it carries its final name now */
        f->temp = NULL;
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
