/* binary.h - what the binary formats share: numbers of any width and byte order turned into doubles,
 * bytes from an input or a zip member, a matrix handed out in blocks of rows, the choice of a
 * variable in a container. Private to src/data.
 *
 * Sizes in a file are claims. Nothing is allocated by a claim before the bytes are there: arrays grow
 * while they are read, and a file that ends early says how much it announced and how much it holds. */
#ifndef BDML_BINARY_H
#define BDML_BINARY_H

#include "data/data.h"

enum { BDML_MAX_RANK = 32 }; /* of an array: numpy's own limit */

/* ---- numbers (element.c) ------------------------------------------------------------------- */

/* kind: 'i' signed, 'u' unsigned, 'f' floating, 'b' truth value, 'S' bytes of text, 'U' UTF-32 text.
 * size: bytes of one item. swap: its bytes are in the other order than this machine's. */
typedef struct bdml_element {
    char kind;
    size_t size;
    bool swap;
} bdml_element;

bool bdml_machine_is_little(void);
bool bdml_element_is_number(bdml_element e);
/* count items to doubles; 64-bit integers beyond 2^53 are rounded, as by any cast. The items may lie in
 * the last bytes of the room of their doubles: each is read before its place is written. */
void bdml_element_decode(bdml_element e, const unsigned char *from, size_t count, double *to);
/* The text of one item, as a class name: "3", "0.5", "cat"; "" for NaN. False: infinite, or text that
 * is not Unicode. `room` must hold bdml_element_text_size(e). */
bool bdml_element_text(locale_t c, bdml_element e, const unsigned char *from, char *room,
                       size_t *n);
size_t bdml_element_text_size(bdml_element e);
/* Append the UTF-8 form of a code point; false when it is none. */
bool bdml_utf8_put(uint32_t code, char *out, size_t *n);

/* dims multiplied; false when the product does not fit. */
bool bdml_dims_product(int rank, const size_t *dims, size_t *product);
/* Rows first .. first + rows - 1 of the items of a column-major array of any rank, as doubles. */
void bdml_element_rows(bdml_element e, int rank, const size_t *dims, const unsigned char *from,
                       size_t first, size_t rows, double *to);

/* ---- bytes (binary.c) ---------------------------------------------------------------------- */

/* Where bytes come from. read gives fewer than wanted only at the end. */
typedef struct bdml_bytes {
    bdml_status (*read)(bdml_handle *h, void *from, void *out, size_t want, size_t *got);
    void *from;
    const char *name; /* for messages: "a.npy" or "a.npz: X" */
} bdml_bytes;

bdml_bytes bdml_bytes_of_input(bdml_input *in);
/* Up to `want` bytes into a block that grows with what is there. */
bdml_status bdml_bytes_read_all(bdml_handle *h, const bdml_bytes *b, size_t want,
                                unsigned char **out, size_t *got);
/* BDML_ERR_FORMAT when bytes are left. `announced`: how many the header spoke of. */
bdml_status bdml_bytes_need_end(bdml_handle *h, const bdml_bytes *b, size_t announced);
/* BDML_ERR_FORMAT "announces A bytes of data, file holds B". */
bdml_status bdml_fail_short(bdml_handle *h, const char *name, size_t announced, size_t holds);

/* The low `size` bytes of v, and doubles, as files hold them: little-endian. */
void bdml_put_little(uint64_t v, size_t size, unsigned char *out);
bdml_status bdml_write_doubles(bdml_handle *h, bdml_file *f, size_t count, const double *x);

/* ---- a matrix as a source (matrix.c) --------------------------------------------------------- */

typedef struct bdml_matrix {
    int64_t n, row; /* rows, and the next one to hand out */
    int d;
    double *x;                    /* n rows of d; or NULL, and */
    const unsigned char *columns; /* the items of the array by columns; or NULL, and */
    bdml_bytes bytes;             /* the items are read as they are handed out */
    unsigned char *held;          /* memory of `columns`, if it is the matrix's own */
    bdml_element element;
    int rank; /* of the array in the file */
    size_t dims[BDML_MAX_RANK];
    int32_t *label;    /* n class numbers, or NULL */
    int label_column;  /* the column that holds the labels (setting label), or -1; d counts it */
    double *whole_row; /* d values, label included */
    bool sure;         /* the file is known to hold the n rows */
    void *owner;       /* what `bytes` reads from, freed by release */
    void (*release)(void *owner);
} bdml_matrix;

/* Sizes as they stand in a header, checked: 1-D is n x 1, more than 2-D is n x the rest. */
bdml_status bdml_matrix_shape(bdml_handle *h, const char *name, int rank, const size_t *dims,
                              bdml_matrix *m);
/* Read all of `bytes`, a column-major array, into memory. */
bdml_status bdml_matrix_read_columns(bdml_handle *h, bdml_matrix *m);
/* Make s hand out m, which is taken over (freed when this fails). */
bdml_status bdml_matrix_source(bdml_handle *h, const bdml_input_options *o, const bdml_matrix *m,
                               bdml_source *s);
void bdml_matrix_free(bdml_matrix *m);
/* Labels of a matrix: as many as rows, or BDML_ERR_DATA naming both. */
bdml_status bdml_matrix_check_labels(bdml_handle *h, const bdml_matrix *m, const char *path,
                                     const char *data_name, const char *label_name, int64_t labels);

/* ---- labels (binary.c, npy.c, idx.c) ---------------------------------------------------------- */

/* `count` items of `bytes` as class names, added to `names`. */
bdml_status bdml_labels_decode(bdml_handle *h, const bdml_bytes *bytes, bdml_element e,
                               size_t count, bdml_names *names, int32_t **label);
bdml_status bdml_npy_labels(bdml_handle *h, const bdml_bytes *bytes, bdml_names *names, int64_t *n,
                            int32_t **label);
bdml_status bdml_idx_labels(bdml_handle *h, const bdml_bytes *bytes, bdml_names *names, int64_t *n,
                            int32_t **label);
/* False when the settings say that labels inside the file are not wanted. */
bool bdml_labels_inside_wanted(const bdml_input_options *o);

/* ---- NPY (npy_header.c, npy.c) ------------------------------------------------------------------ */

typedef struct bdml_npy_header {
    bdml_element element;
    char descr[64];
    bool fortran;
    int rank;
    size_t dims[BDML_MAX_RANK];
    size_t header_bytes, data_bytes;
} bdml_npy_header;

/* Read and check magic and header; text types pass here, objects and others do not. */
bdml_status bdml_npy_read_header(bdml_handle *h, const bdml_bytes *bytes, bdml_npy_header *header);
/* Fill in a matrix from bytes that stand behind the header. m->bytes and owner are set. */
bdml_status bdml_npy_matrix(bdml_handle *h, const bdml_npy_header *header, bdml_matrix *m);

/* ---- choice of a variable (variables.c) ------------------------------------------------------------ */

typedef struct bdml_variable {
    char *name;
    bool number, text;
    int rank; /* 0: not known */
    size_t dims[BDML_MAX_RANK];
} bdml_variable;

/* By the setting variable, else a matrix called X, data or the like, else the only matrix. Errors list the
 * variables with their shapes. */
bdml_status bdml_choose_data(bdml_handle *h, const bdml_input_options *o, const char *path,
                             int count, const bdml_variable *v, int *chosen);
/* By the setting label-variable, else one called y, labels or the like with as many items as the data have rows,
 * else the only vector of so many; -1 = none. */
bdml_status bdml_choose_labels(bdml_handle *h, const bdml_input_options *o, const char *path,
                               int count, const bdml_variable *v, int data, int *chosen);

#endif
