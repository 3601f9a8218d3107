/* npz.c - NPZ files: a zip archive of NPY members, read through libzip.
 *
 * The data member is streamed; its labels are read when the file is opened. A member's size in the
 * archive's directory, the size its NPY header announces and the bytes that really come out of the
 * decompressor must all agree, and its checksum must be right. */
#include "data/binary.h"

#include <errno.h>
#include <stdlib.h>
#include <zip.h>

enum {
    MAX_MEMBERS = 4096, /* an archive of more is no data set */
    PIECE = 1 << 22     /* bytes of a member between two looks at the clock */
};

typedef struct npz {
    zip_t *zip;
    unsigned char *image; /* the archive itself when it came through a pipe */
    zip_file_t *member;   /* open for reading */
    char *member_name;    /* "a.npz: X" */
    size_t unasked;       /* bytes read since the clock and the user were asked */
    int count;
    bdml_variable *variable;
    zip_uint64_t *index; /* of each variable in the archive */
} npz;

static void close_npz(void *owner)
{
    npz *z = owner;
    if (!z) return;
    if (z->member) zip_fclose(z->member);
    if (z->zip) zip_discard(z->zip);
    for (int i = 0; z->variable && i < z->count; i++) free(z->variable[i].name);
    free(z->variable);
    free(z->index);
    free(z->member_name);
    free(z->image);
    free(z);
}

/* ---- the archive ----------------------------------------------------------------------------- */

static bdml_status fail_zip(bdml_handle *h, const char *name, const zip_error_t *e)
{
    int code = zip_error_code_zip(e);
    if (code == ZIP_ER_MEMORY) return bdml_fail(h, BDML_ERR_MEMORY, "%s: out of memory", name);
    if (code == ZIP_ER_NOZIP)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: not a zip archive, or truncated", name);
    if (code == ZIP_ER_CRC)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: the checksum (CRC) is wrong: damaged", name);
    zip_error_t copy = *e;
    copy.str = NULL;
    bdml_status status = bdml_fail(h, BDML_ERR_FORMAT, "%s: damaged zip archive: %s", name,
                                   zip_error_strerror(&copy));
    zip_error_fini(&copy);
    return status;
}

static bdml_status open_source(bdml_handle *h, npz *z, const char *name, zip_source_t *source,
                               zip_error_t *e)
{
    if (!source) return fail_zip(h, name, e);
    z->zip = zip_open_from_source(source, ZIP_RDONLY, e);
    if (z->zip) return BDML_OK; /* which owns the source now */
    zip_source_free(source);
    return fail_zip(h, name, e);
}

/* A plain file is left where it is; what comes through a pipe or gzip is kept in memory, for the
 * directory of an archive stands at its end. */
static bdml_status open_archive(bdml_handle *h, npz *z, bdml_input *in)
{
    const char *path = bdml_input_path(in), *name = bdml_input_name(in);
    zip_error_t e;
    bdml_status status = BDML_OK;

    zip_error_init(&e);
    if (strcmp(path, "-") != 0 && bdml_input_remaining(in) >= 0) {
        FILE *f = bdml_input_again(in);
        zip_source_t *source = f ? zip_source_filep_create(f, 0, -1, &e) : NULL;
        if (!f) zip_error_set(&e, ZIP_ER_OPEN, errno);
        if (f && !source) fclose(f);
        status = open_source(h, z, name, source, &e);
    } else {
        bdml_bytes bytes = bdml_bytes_of_input(in);
        size_t size;
        BDML_GO(bdml_bytes_read_all(h, &bytes, SIZE_MAX, &z->image, &size));
        status = open_source(h, z, name, zip_source_buffer_create(z->image, size, 0, &e), &e);
    }
done:
    zip_error_fini(&e);
    return status;
}

/* ---- a member ------------------------------------------------------------------------------------ */

static bdml_status read_member(bdml_handle *h, void *from, void *out, size_t want, size_t *got)
{
    npz *z = from;
    *got = 0;
    while (*got < want) {
        size_t part = BDML_MIN(want - *got, (size_t)PIECE);
        if (z->unasked >= PIECE) {
            z->unasked = 0;
            BDML_TRY(bdml_progress(h, "reading", -1, 0));
        }
        zip_int64_t n = zip_fread(z->member, (char *)out + *got, part);
        if (n < 0) return fail_zip(h, z->member_name, zip_file_get_error(z->member));
        if (n == 0) break;
        *got += (size_t)n;
        z->unasked += (size_t)n;
    }
    return BDML_OK;
}

static bdml_status open_member(bdml_handle *h, npz *z, const char *path, int v, zip_stat_t *st)
{
    const char *name = z->variable[v].name;
    size_t size = strlen(path) + strlen(name) + 3;

    if (z->member) zip_fclose(z->member);
    z->member = NULL;
    free(z->member_name);
    z->member_name = bdml_alloc(h, size, 1);
    if (!z->member_name) return BDML_ERR_MEMORY;
    snprintf(z->member_name, size, "%s: %s", path, name);
    if (zip_stat_index(z->zip, z->index[v], 0, st) != 0)
        return fail_zip(h, z->member_name, zip_get_error(z->zip));
    if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) && st->encryption_method != ZIP_EM_NONE)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: is encrypted; save it without a password",
                         z->member_name);
    z->member = zip_fopen_index(z->zip, z->index[v], 0);
    return z->member ? BDML_OK : fail_zip(h, z->member_name, zip_get_error(z->zip));
}

/* The directory of the archive and the header of the member must announce the same size. */
static bdml_status check_size(bdml_handle *h, const char *name, const zip_stat_t *st,
                              const bdml_npy_header *header)
{
    size_t announced = header->header_bytes + header->data_bytes;
    if (!(st->valid & ZIP_STAT_SIZE) || st->size == announced) return BDML_OK;
    return bdml_fail(h, BDML_ERR_FORMAT,
                     "%s: its header announces %zu bytes, the archive's directory %llu: damaged or "
                     "truncated",
                     name, announced, (unsigned long long)st->size);
}

static bdml_bytes member_bytes(npz *z)
{
    return (bdml_bytes){read_member, z, z->member_name};
}

/* ---- the variables --------------------------------------------------------------------------------- */

/* "X.npy" is the variable X; members of other kinds are passed over. */
static bdml_status list_variables(bdml_handle *h, npz *z, const char *path)
{
    bdml_status status = BDML_OK;
    zip_int64_t members = zip_get_num_entries(z->zip, 0);

    if (members > MAX_MEMBERS)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: the archive has %lld members; %d are allowed",
                         path, (long long)members, MAX_MEMBERS);
    BDML_NEW(h, z->variable, members);
    BDML_NEW(h, z->index, members);
    for (zip_int64_t i = 0; i < members; i++) {
        const char *name = zip_get_name(z->zip, (zip_uint64_t)i, 0);
        size_t n = name ? strlen(name) : 0;
        if (n <= 4 || strcmp(name + n - 4, ".npy") != 0) continue;
        z->index[z->count] = (zip_uint64_t)i;
        z->variable[z->count].name = bdml_strndup(h, name, n - 4);
        if (!z->variable[z->count].name) return BDML_ERR_MEMORY;
        for (char *c = z->variable[z->count].name; *c; c++) /* a name must be fit to be shown */
            if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
        z->count++;
    }
    if (z->count == 0)
        status = bdml_fail(h, BDML_ERR_DATA, "%s: the zip archive holds no NPY arrays", path);
done:
    return status;
}

/* Kind and shape of each. A member that cannot be read has none; it is complained about if it is asked for. */
static bdml_status find_shapes(bdml_handle *h, npz *z, const char *path)
{
    for (int i = 0; i < z->count; i++) {
        bdml_variable *v = &z->variable[i];
        zip_stat_t st;
        bdml_npy_header header;
        bdml_status status = open_member(h, z, path, i, &st);
        bdml_bytes bytes = member_bytes(z);
        if (status == BDML_OK) status = bdml_npy_read_header(h, &bytes, &header);
        if (status == BDML_ERR_MEMORY || status == BDML_ERR_CANCELLED) return status;
        if (status != BDML_OK) continue;
        v->number = bdml_element_is_number(header.element);
        v->text = !v->number;
        v->rank = header.rank;
        memcpy(v->dims, header.dims, sizeof v->dims);
    }
    h->error[0] = '\0'; /* what is wrong with members that are not wanted does not matter */
    return BDML_OK;
}

static bdml_status read_labels(bdml_handle *h, npz *z, const char *path, int chosen,
                               bdml_names *names, int64_t *n, int32_t **label)
{
    zip_stat_t st;
    BDML_TRY(open_member(h, z, path, chosen, &st));
    bdml_bytes bytes = member_bytes(z);
    return bdml_npy_labels(h, &bytes, names, n, label);
}

bdml_status bdml_npz_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    const char *path = bdml_input_name(in);
    bdml_status status = BDML_OK;
    bdml_matrix m = {0};
    bdml_npy_header header;
    zip_stat_t st;
    npz *z = NULL;
    int data, labels;
    int64_t label_count = 0;

    BDML_NEW(h, z, 1);
    m.owner = z;
    m.release = close_npz;
    BDML_GO(open_archive(h, z, in));
    BDML_GO(list_variables(h, z, path));
    BDML_GO(find_shapes(h, z, path));
    BDML_GO(bdml_choose_data(h, o, path, z->count, z->variable, &data));
    BDML_GO(bdml_choose_labels(h, o, path, z->count, z->variable, data, &labels));
    if (labels >= 0) BDML_GO(read_labels(h, z, path, labels, &s->classes, &label_count, &m.label));
    BDML_GO(open_member(h, z, path, data, &st));
    m.bytes = member_bytes(z);
    BDML_GO(bdml_npy_read_header(h, &m.bytes, &header));
    BDML_GO(check_size(h, z->member_name, &st, &header));
    BDML_GO(bdml_npy_matrix(h, &header, &m));
    if (labels >= 0)
        BDML_GO(bdml_matrix_check_labels(h, &m, path, z->variable[data].name,
                                         z->variable[labels].name, label_count));
    status = bdml_matrix_source(h, o, &m, s);
    m = (bdml_matrix){0}; /* taken over */
done:
    bdml_matrix_free(&m);
    return status;
}
