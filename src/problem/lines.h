/* lines.h - text files of numbers, line by line: what the readers of constraint files share. Private to
 * problem.
 *
 * Fields are separated by commas, semicolons or blanks; a first line without a number is a header;
 * empty lines and lines that begin with # are skipped. */
#ifndef BDML_LINES_H
#define BDML_LINES_H

#include "problem/problem.h"

enum { BDML_FIELDS = 4 }; /* most of them in a line */

typedef struct bdml_field {
    const char *text;
    size_t n;
} bdml_field;

/* Split into fields: at commas or semicolons where there are any, else at runs of blanks. Returns
 * their number, of which at most BDML_FIELDS + 1 are stored. */
int bdml_fields_split(const char *line, bdml_field *fields);
/* Names only: nothing that begins like a number. */
bool bdml_fields_header(int count, const bdml_field *fields);
/* A row number 0 .. n-1, or BDML_ERR_DATA that names file, line and column (from 0). */
bdml_status bdml_field_row(bdml_handle *h, const bdml_input *in, int column, const bdml_field *f,
                           int64_t n, int32_t *out);
/* 1 (same class) or 0 (different). */
bdml_status bdml_field_same(bdml_handle *h, const bdml_input *in, int column, const bdml_field *f,
                            int32_t *out);
/* The next line that is neither empty, a comment nor (the first) a header; *count 0 at the end. */
bdml_status bdml_fields_next(bdml_handle *h, bdml_input *in, bool *first, bdml_field *fields,
                             int *count);
/* BDML_ERR_DATA when a row stands twice among value[0..rows), columns counted from `column`. */
bdml_status bdml_rows_differ(bdml_handle *h, const bdml_input *in, int column, int rows,
                             const int32_t *value);

#endif
