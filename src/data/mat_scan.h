/* mat_scan.h - the variables of a MAT v5 file, found and checked without matio. Private to src/data. */
#ifndef BDML_MAT_SCAN_H
#define BDML_MAT_SCAN_H

#include "data/binary.h"

enum {
    BDML_MAT_HEADER = 128,  /* bytes before the first variable */
    BDML_MAT_MAX_NAME = 128 /* MATLAB's names have up to 63 characters */
};

typedef struct bdml_mat_variable {
    char name[BDML_MAT_MAX_NAME];
    int class; /* MAT_C_... of matio */
    bool complex, logical;
    int rank;
    size_t dims[BDML_MAX_RANK];
    size_t offset, bytes; /* of the element in the file, behind its tag */
    bool compressed;
} bdml_mat_variable;

/* The whole file in memory and its variables. */
typedef struct bdml_mat_file {
    const char *name;
    unsigned char *bytes;
    size_t size;
    bool swap; /* the file's byte order is not this machine's */
    bdml_mat_variable *variable;
    int count;
    size_t capacity;
} bdml_mat_file;

/* Check the header and list the variables; every element must lie inside the file. */
bdml_status bdml_mat_scan(bdml_handle *h, bdml_mat_file *f);
void bdml_mat_file_free(bdml_mat_file *f);
/* The element of a variable, tag included, unpacked, all of its parts checked against its class and
 * sizes: numbers (full or sparse), text, cells of text; others are refused. */
bdml_status bdml_mat_extract(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                             unsigned char **element, size_t *bytes);
const char *bdml_mat_class_text(int class);

/* ---- elements in memory ----------------------------------------------------------------------- */

typedef struct bdml_mat_cursor {
    const unsigned char *at;
    size_t left;
    bool swap;
    char *note; /* room for a reason that names numbers: 128 bytes */
} bdml_mat_cursor;

typedef struct bdml_mat_part {
    uint32_t type; /* MAT_T_... of matio */
    size_t bytes;
    const unsigned char *data;
} bdml_mat_part;

/* Numbers of this type (MAT_T_... of matio) in memory; false for types that are no numbers. */
bool bdml_mat_element(uint32_t type, bool swap, bdml_element *e);
/* The next sub-element; false when it does not fit into what is left. */
bool bdml_mat_next(bdml_mat_cursor *c, bdml_mat_part *p);
/* Flags, sizes and name: what every array begins with. NULL, or what is wrong. */
const char *bdml_mat_start(bdml_mat_cursor *c, bdml_mat_variable *v);
/* The element of a variable, tag included, unpacked; nothing inside is checked. */
bdml_status bdml_mat_unpack(bdml_handle *h, const bdml_mat_file *f, const bdml_mat_variable *v,
                            unsigned char **element, size_t *bytes);

#endif
