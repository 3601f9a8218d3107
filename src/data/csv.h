/* csv.h - what reading CSV (csv.c) and finding out how one is written (csv_head.c) share. */
#ifndef BDML_CSV_H
#define BDML_CSV_H

#include "data/columns.h"

typedef struct bdml_csv {
    char delimiter; /* ' ' stands for runs of blanks and tabs; '\0' = not known yet */
    int columns;    /* fields of a record */
    char *record;   /* a record that spans lines */
    size_t capacity;
    bool started;             /* the data have begun */
    int64_t line, first_line; /* where this record and the first one begin */
} bdml_csv;

typedef struct bdml_field {
    char *s;
    size_t n;
    bool quoted;
} bdml_field;

/* Where in a record the next field begins. */
typedef struct bdml_cursor {
    char *p, *end;
    bool more; /* a delimiter was the last thing seen, or nothing was */
} bdml_cursor;

enum { BDML_FIELD_END, BDML_FIELD_OK, BDML_FIELD_BAD };

/* Does c end a field? */
static inline bool bdml_csv_ends_field(char delimiter, char c)
{
    return c == delimiter || (delimiter == ' ' && c == '\t');
}

/* The next field of a record, in place: FIELD_END behind the last, FIELD_BAD at text behind a closing quote. */
int bdml_csv_field(char delimiter, bdml_cursor *c, bdml_field *f);
/* Blanks around a field that was not quoted do not count. */
void bdml_csv_trim(bdml_field *f);
/* The next record, or *s = NULL at the end. */
bdml_status bdml_csv_record(bdml_handle *h, bdml_input *in, bdml_csv *c, char **s, size_t *n);
bdml_status bdml_csv_bad_quote(bdml_handle *h, const bdml_source *s, const bdml_csv *c, int column);

/* Delimiter, header and columns, then back to the first row (csv_head.c). */
bdml_status bdml_csv_head(bdml_handle *h, const bdml_input_options *o, const bdml_wanted *wanted,
                          bdml_source *s, bdml_csv *c);

#endif
