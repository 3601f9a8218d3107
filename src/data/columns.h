/* columns.h - the columns of a text file: what they look like, what each is for, and what to say when that
 * cannot be. Private to src/data.
 *
 * The first rows are looked at before any is taken (look.c). From what is seen and from the settings each
 * column gets its role (columns.c): a number, a column of words that becomes 0/1 columns, the label, or left
 * out. What is in doubt is told with the option that settles it (advice.c). */
#ifndef BDML_COLUMNS_H
#define BDML_COLUMNS_H

#include "data/data.h"

/* ---- what a column looks like (look.c) ----------------------------------------------------------- */

typedef enum bdml_field_kind {
    BDML_FIELD_MISSING,
    BDML_FIELD_NUMBER,
    BDML_FIELD_TRUTH, /* true, false */
    BDML_FIELD_COMMA, /* a number with a decimal comma where a point is expected */
    BDML_FIELD_DATE,  /* a date or a time of the day */
    BDML_FIELD_WORD
} bdml_field_kind;

enum { BDML_MOST_VALUES = 1000 }; /* of a column are told apart; a column of more has no classes */

typedef struct bdml_look {
    int64_t rows, kind[BDML_FIELD_WORD + 1]; /* looked at, and how many of each kind */
    int64_t whole;                           /* numbers without decimals */
    double first;                            /* number in the first row */
    bool counting;                           /* each number is one more than that above it */
    bdml_names values;                       /* the different texts, BDML_MOST_VALUES at most */
} bdml_look;

/* The kind of s[0..n); *v: its number, where it is one (truth: 1 or 0), else NaN. */
bdml_field_kind bdml_field_read(const bdml_handle *h, bdml_decimal decimal, const char *s, size_t n,
                                double *v);
bdml_status bdml_look_take(bdml_handle *h, bdml_decimal decimal, const char *s, size_t n,
                           bdml_look *look);
/* Words, or other things that are no numbers, occur. */
bool bdml_look_is_text(const bdml_look *l);
/* 0 1 2 ... or 1 2 3 ... down the rows, and enough of them that this is no chance. */
bool bdml_look_is_count(const bdml_look *l);
/* Few different words or whole numbers, each met again and again: what classes look like. */
bool bdml_look_is_classes(const bdml_look *l);

/* ---- what it is for (columns.c) ------------------------------------------------------------------ */

typedef enum bdml_role {
    BDML_ROLE_NUMBER,
    BDML_ROLE_WORDS, /* 0/1 columns */
    BDML_ROLE_LABEL,
    BDML_ROLE_SKIP
} bdml_role;

typedef struct bdml_column {
    char *name;    /* "x3" where the file does not say: */
    bool nameless; /* then */
    bool dropped;  /* left out, and no candidate for the label either */
    bdml_role role;
    int feature, features; /* the first feature it gives, and how many */
    bdml_names words; /* BDML_ROLE_WORDS: of its features; of two words the second alone has one */
    bdml_look look;
} bdml_column;

typedef struct bdml_columns {
    int count;
    bool named; /* by the file */
    int recurs; /* of a first record taken for data although it may be a header: the column whose word comes
                  * again below; else -1 */
    bdml_decimal decimal;
    bdml_missing missing; /* what becomes of missing values, for advice */
    int label;            /* place of the label, or -1 */
    bdml_column *column;
} bdml_columns;

/* A file may have millions of columns: whoever goes over them asks the clock and the user at every so many. */
enum { BDML_COLUMNS_ASKED = 1 << 14 };
static inline bdml_status bdml_columns_ask(bdml_handle *h, int64_t column)
{
    if (column % BDML_COLUMNS_ASKED != BDML_COLUMNS_ASKED - 1) return BDML_OK;
    return bdml_progress(h, "reading", -1, 0);
}
/* The same before and after a long text is gone over in one piece. */
enum { BDML_TEXT_ASKED = 1 << 20 };
static inline bdml_status bdml_text_ask(bdml_handle *h, size_t n)
{
    return n < BDML_TEXT_ASKED ? BDML_OK : bdml_progress(h, "reading", -1, 0);
}
bdml_status bdml_columns_new(bdml_handle *h, int count, char *const *names, bool named,
                             bdml_columns **out);
void bdml_columns_free(bdml_columns *c);
/* mark[j] = true for the columns of a list "a,3,5-8,9-" (setting `what`); names NULL: numbers alone.
 * lenient: names that are not there are passed over. */
bdml_status bdml_columns_list(bdml_handle *h, const char *path, const char *what, const char *list,
                              int count, char *const *names, bool lenient, bool *mark);
/* Give every column its role, by the settings, by what a model wants (or NULL) and by what was seen; then
 * the source its label, dimension and names. last_words: for "auto", where no column is called a label, the
 * last column of words rather than the last one (ARFF). */
bdml_status bdml_columns_assign(bdml_handle *h, const bdml_input_options *o,
                                const bdml_wanted *wanted, bool last_words, bdml_source *s);
/* Take the text of a column into row x of features and the label; *bad: it is no number where one is needed. */
bdml_status bdml_columns_take(bdml_handle *h, bdml_source *s, int column, const char *text,
                              size_t n, bool quoted, double *x, int32_t *label, bool *bad);

/* ---- what would be right (advice.c) ------------------------------------------------------------------ */

/* What to do about a field of this kind in a column of numbers. */
void bdml_advice(const bdml_source *s, int column, bdml_field_kind kind, char *out, size_t size);
/* "'setosa' is not a number; ..." and what to do, for this text of a column. */
bdml_status bdml_advise_number(bdml_handle *h, const bdml_source *s, const bdml_block *b,
                               int column, const char *text, size_t n);
/* The column that looks most like the label, the one taken aside; -1: none does. */
int bdml_columns_guess(const bdml_columns *c);
/* The name of a column as an option would give it: its number where it has none, or one that needs quotes. */
const char *bdml_column_argument(const bdml_columns *c, int column, char out[BDML_EXCERPT_SIZE]);

#endif
