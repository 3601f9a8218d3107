/* idx.c - the IDX format of the MNIST files:
 *
 *     0 0 TYPE RANK, then RANK sizes as 32-bit big-endian, then the numbers, big-endian, row-major.
 *
 * The labels of train-images-idx3-ubyte stand in train-labels-idx1-ubyte beside it. */
#include "data/binary.h"

#include <stdlib.h>
#include <unistd.h>

enum { MAX_RANK = 8 }; /* images in colour over time have 5 */

typedef struct idx_header {
    bdml_element element;
    int rank;
    size_t dims[MAX_RANK];
    size_t data_bytes;
} idx_header;

static bool type_of(int code, bdml_element *e)
{
    static const struct {
        int code;
        char kind;
        size_t size;
    } type[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2},
                {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        if (type[i].code == code) {
            *e = (bdml_element){type[i].kind, type[i].size, bdml_machine_is_little()};
            return true;
        }
    return false;
}

static bdml_status read_header(bdml_handle *h, const bdml_bytes *b, idx_header *header)
{
    unsigned char head[4], size[4 * MAX_RANK];
    size_t got, count;

    *header = (idx_header){0};
    BDML_TRY(b->read(h, b->from, head, 4, &got));
    if (got < 4 || head[0] != 0 || head[1] != 0)
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: not an IDX file: it must begin with two zero bytes, "
                         "a type and a number of dimensions",
                         b->name);
    if (!type_of(head[2], &header->element))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: IDX type 0x%02x is not one of 0x08 0x09 0x0B 0x0C 0x0D 0x0E", b->name,
                         head[2]);
    header->rank = head[3];
    if (header->rank < 1 || header->rank > MAX_RANK)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: IDX file of %d dimensions; 1 to %d can be read",
                         b->name, header->rank, MAX_RANK);
    size_t bytes = 4 * (size_t)header->rank;
    BDML_TRY(b->read(h, b->from, size, bytes, &got));
    if (got < bytes)
        return bdml_fail(h, BDML_ERR_FORMAT, "%s: IDX file ends inside its sizes: truncated?",
                         b->name);
    for (int i = 0; i < header->rank; i++)
        header->dims[i] = (size_t)size[4 * (size_t)i] << 24 |
                          (size_t)size[4 * (size_t)i + 1] << 16 |
                          (size_t)size[4 * (size_t)i + 2] << 8 | size[4 * (size_t)i + 3];
    if (!bdml_dims_product(header->rank, header->dims, &count) ||
        count > INT64_MAX / sizeof(double))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: the announced IDX sizes multiply to more than memory "
                         "can address: damaged or hostile header",
                         b->name);
    header->data_bytes = count * header->element.size;
    return BDML_OK;
}

bdml_status bdml_idx_labels(bdml_handle *h, const bdml_bytes *b, bdml_names *names, int64_t *n,
                            int32_t **label)
{
    idx_header header;
    *label = NULL;
    BDML_TRY(read_header(h, b, &header));
    if (header.rank != 1)
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: labels must be a vector, this array has %d dimensions", b->name,
                         header.rank);
    *n = (int64_t)header.dims[0];
    return bdml_labels_decode(h, b, header.element, header.dims[0], names, label);
}

/* ---- labels beside the images ------------------------------------------------------------------ */

/* ".../train-images-idx3-ubyte.gz" -> ".../train-labels-idx1-ubyte.gz", or the same with ".gz" taken
 * off or put on; NULL in *out when there is no such file. */
static bdml_status find_sibling(bdml_handle *h, const char *path, char **out)
{
    static const char images[] = "images-idx3", labels[] = "labels-idx1";
    const char *base = strrchr(path, '/');
    char *hit = strstr(base ? base : path, images), *name;
    size_t length = strlen(path);

    *out = NULL;
    if (!hit) return BDML_OK;
    name = bdml_alloc(h, length + 4, 1);
    if (!name) return BDML_ERR_MEMORY;
    memcpy(name, path, length + 1);
    memcpy(name + (hit - path), labels, sizeof labels - 1); /* both words are equally long */
    if (access(name, R_OK) != 0) {
        if (length > 3 && strcmp(name + length - 3, ".gz") == 0)
            name[length - 3] = '\0';
        else
            memcpy(name + length, ".gz", 4);
    }
    if (access(name, R_OK) == 0)
        *out = name;
    else
        free(name);
    return BDML_OK;
}

static bdml_status read_sibling(bdml_handle *h, const char *path, bdml_names *names, bdml_matrix *m)
{
    bdml_status status = BDML_OK;
    bdml_input *in = NULL;
    char *sibling = NULL;
    int64_t n = 0;

    BDML_GO(find_sibling(h, path, &sibling));
    if (!sibling) goto done;
    BDML_GO(bdml_input_open(h, sibling, &in));
    bdml_bytes bytes = bdml_bytes_of_input(in);
    BDML_GO(bdml_idx_labels(h, &bytes, names, &n, &m->label));
    BDML_GO(bdml_input_unchanged(h, in));
    BDML_GO(bdml_matrix_check_labels(h, m, path, "the file", sibling, n));
    bdml_log(h, BDML_LOG_INFO, "%s: labels from %s beside it", path, sibling);
done:
    bdml_input_close(in);
    free(sibling);
    return status;
}

bdml_status bdml_idx_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    bdml_status status = BDML_OK;
    bdml_matrix m = {.bytes = bdml_bytes_of_input(in)};
    idx_header header;

    BDML_GO(read_header(h, &m.bytes, &header));
    m.element = header.element;
    BDML_GO(bdml_matrix_shape(h, m.bytes.name, header.rank, header.dims, &m));
    int64_t holds = bdml_input_remaining(in);
    if (holds >= 0 && (size_t)holds < header.data_bytes) {
        status = bdml_fail_short(h, m.bytes.name, header.data_bytes, (size_t)holds);
        goto done;
    }
    m.sure = holds >= 0;
    if (bdml_labels_inside_wanted(o))
        BDML_GO(read_sibling(h, bdml_input_path(in), &s->classes, &m));
    status = bdml_matrix_source(h, o, &m, s);
    m = (bdml_matrix){0}; /* taken over */
done:
    bdml_matrix_free(&m);
    return status;
}
