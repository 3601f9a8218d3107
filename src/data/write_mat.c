/* write_mat.c - one matrix as a MAT v5 file: a header of 128 bytes, then one element,
 *
 *     miMATRIX, bytes { flags: class double;  rows, columns;  name;  the numbers by columns }
 *
 * each part a tag of type and bytes, and padded to a multiple of 8. It is written here, and not by matio, which tells
 * no one when the disk is full. */
#include "data/binary.h"

#include <stdlib.h>

enum {
    TEXT = 124,   /* what people read at the head of the file, and 8 bytes that say nothing */
    HEADER = 128, /* then version and byte order */
    NAME = 8,     /* the longest name, padded */
    PARTS =
        8 + 16 + 16 + 8 + NAME + 8, /* tag of the matrix, flags, sizes, name, tag of the numbers */
    MI_INT8 = 1,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_DOUBLE = 9,
    MI_MATRIX = 14,
    MX_DOUBLE = 6
};

static unsigned char *put_two(unsigned char *at, size_t a, size_t b)
{
    bdml_put_little(a, 4, at);
    bdml_put_little(b, 4, at + 4);
    return at + 8;
}

static void fill_head(unsigned char head[HEADER + PARTS], const char *name, size_t rows,
                      size_t columns)
{
    static const char text[] = "MATLAB 5.0 MAT-file, written by bdml";
    static const unsigned char version[] = {0, 1, 'I', 'M'}; /* 1, little-endian */
    size_t length = strlen(name), bytes = rows * columns * sizeof(double);
    unsigned char *at = head + HEADER;

    memset(head, ' ', TEXT);
    memcpy(head, text, sizeof text - 1);
    memset(head + TEXT - 8, 0, 8);
    memcpy(head + TEXT, version, sizeof version);
    at = put_two(at, MI_MATRIX, PARTS - 8 + bytes);
    at = put_two(at, MI_UINT32, 8);
    at = put_two(at, MX_DOUBLE, 0);
    at = put_two(at, MI_INT32, 8);
    at = put_two(at, rows, columns);
    at = put_two(at, MI_INT8, length);
    memset(at, 0, NAME);
    memcpy(at, name, BDML_MIN(length, (size_t)NAME));
    put_two(at + NAME, MI_DOUBLE, bytes);
}

bdml_status bdml_write_mat_matrix(bdml_handle *h, const char *path, const char *name, int64_t rows,
                                  int64_t columns, const double *x)
{
    bdml_status status = BDML_OK;
    bdml_file *f = NULL;
    unsigned char head[HEADER + PARTS];
    size_t r = (size_t)rows, c = (size_t)columns;
    double *transposed = NULL;

    if (r > (UINT32_MAX - PARTS) / sizeof *x / c)
        return bdml_fail(h, BDML_ERR_ARGUMENT,
                         "%.500s: a MAT v5 file holds at most 4 GiB, this is %zu x %zu; use .npy",
                         path, r, c);
    BDML_NEW(h, transposed, r * c);
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < c; j++) transposed[j * r + i] = x[i * c + j];
    BDML_GO(bdml_file_create(h, path, &f));
    fill_head(head, name, r, c);
    BDML_GO(bdml_file_write(h, f, head, sizeof head));
    BDML_GO(bdml_write_doubles(h, f, r * c, transposed));
    status = bdml_file_commit(h, f);
    f = NULL;
done:
    bdml_file_discard(f);
    free(transposed);
    return status;
}
