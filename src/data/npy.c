/* npy.c - NPY files: a matrix streamed row by row (C order) or read whole (Fortran order), and labels
 * as numbers or text. */
#include "data/binary.h"

bdml_status bdml_npy_matrix(bdml_handle *h, const bdml_npy_header *header, bdml_matrix *m)
{
    if (!bdml_element_is_number(header->element))
        return bdml_fail(h, BDML_ERR_FORMAT,
                         "%s: dtype '%s' is text, not numbers: it can be labels (labels-file, "
                         "label-variable) but not data",
                         m->bytes.name, header->descr);
    BDML_TRY(bdml_matrix_shape(h, m->bytes.name, header->rank, header->dims, m));
    m->element = header->element;
    if (header->fortran && header->rank > 1 && m->n > 1 && m->d > 1)
        BDML_TRY(bdml_matrix_read_columns(h, m));
    return BDML_OK;
}

bdml_status bdml_npy_open(bdml_handle *h, const bdml_input_options *o, bdml_input *in,
                          bdml_source *s)
{
    bdml_status status;
    bdml_npy_header header;
    bdml_matrix m = {.bytes = bdml_bytes_of_input(in)};

    BDML_GO(bdml_npy_read_header(h, &m.bytes, &header));
    int64_t holds = bdml_input_remaining(in);
    if (holds >= 0 && (size_t)holds < header.data_bytes)
        BDML_GO(bdml_fail_short(h, m.bytes.name, header.data_bytes, (size_t)holds));
    m.sure = holds >= 0; /* a pipe or a gzip file tells its size only at its end */
    BDML_GO(bdml_npy_matrix(h, &header, &m));
    status = bdml_matrix_source(h, o, &m, s);
    m = (bdml_matrix){0}; /* taken over */
done:
    bdml_matrix_free(&m);
    return status;
}

/* n, n x 1 or 1 x n. */
static bool is_vector(const bdml_npy_header *header)
{
    int longer = 0;
    for (int i = 0; i < header->rank; i++) longer += header->dims[i] != 1;
    return header->rank >= 1 && longer <= 1;
}

bdml_status bdml_npy_labels(bdml_handle *h, const bdml_bytes *bytes, bdml_names *names, int64_t *n,
                            int32_t **label)
{
    bdml_npy_header header;
    size_t count;

    *label = NULL;
    BDML_TRY(bdml_npy_read_header(h, bytes, &header));
    if (!is_vector(&header))
        return bdml_fail(h, BDML_ERR_DATA,
                         "%s: labels must be a vector, this array has %d dimensions", bytes->name,
                         header.rank);
    bdml_dims_product(header.rank, header.dims, &count);
    *n = (int64_t)count;
    return bdml_labels_decode(h, bytes, header.element, count, names, label);
}
