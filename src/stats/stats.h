/* stats.h - rows and their classes as a view, and the few statistics that are taken of them and of scores.
 *
 * Called by data and everything above; calls base. */
#ifndef BDML_STATS_H
#define BDML_STATS_H

#include "base/base.h"

/* ---- rows (rows.c) ---------------------------------------------------------------------------------- */

/* Rows that are not held as doubles: made when they are asked for. */
typedef struct bdml_made bdml_made;
struct bdml_made {
    /* out, d apart: rows row[0 .. count), or where row is NULL those from `from` on. */
    void (*some)(const bdml_made *m, int64_t count, const int64_t *row, int64_t from, double *out);
    bool shared; /* may be asked by several threads at a time */
};

/* Rows that are somebody else's: nothing here is to be freed. */
typedef struct bdml_rows {
    int64_t n;
    int d;
    int64_t ld;            /* row i at x + i ld, ld >= d */
    const double *x;       /* NULL where they are made */
    const int32_t *y;      /* class of each row; NULL: none is known */
    int classes;           /* y is in 0 .. classes-1; 0 when there is no y */
    const bdml_made *made; /* or NULL: they are at x */
} bdml_rows;

/* Row i: at x, or in room (d numbers). */
static inline const double *bdml_row_at(const bdml_rows *r, int64_t i, double *room)
{
    if (!r->made) return r->x + (size_t)i * (size_t)r->ld;
    r->made->some(r->made, 1, NULL, i, room);
    return room;
}
/* Copies of rows row[0 .. count), or where row is NULL of those from `from` on: d apart. */
void bdml_rows_copy(const bdml_rows *r, int64_t count, const int64_t *row, int64_t from,
                    double *out);

/* All rows in their order, some at a time:   for (begin; bdml_scan_next(&s);) ... s.x, ld apart, those from s.from on ... */
typedef struct bdml_scan {
    const bdml_rows *rows;
    int64_t from, count; /* of the rows that are at x */
    const double *x;
    int64_t ld;
    int64_t most; /* at a time */
    double *room; /* `most` rows, where rows are made */
} bdml_scan;
bdml_status bdml_scan_begin(bdml_handle *h, const bdml_rows *rows, bdml_scan *s);
bool bdml_scan_next(bdml_scan *s);  /* true: there are some more */
void bdml_scan_again(bdml_scan *s); /* from the first on */
void bdml_scan_end(bdml_scan *s);

/* Copies of rows row[0 .. count): x (count rows of d) and y (count; left alone when there are no classes) are
 * the caller's, and what the view shows. */
bdml_rows bdml_rows_gather(const bdml_rows *from, int64_t count, const int64_t *row, double *x,
                           int32_t *y);
/* Rows of each class, and their means, classes rows of d; without y all rows are of one class. An empty class
 * has the mean 0. all: the mean of all rows, or NULL. over: the ranks that have the other rows, or NULL: there are none. */
bdml_status bdml_class_means(bdml_handle *h, const bdml_rows *rows, const bdml_spread *over,
                             int64_t *count, double *mean, double *all);

/* ---- scores over splits (student.c) ------------------------------------------------------------------ */

double bdml_mean(int n, const double *v);
double bdml_sample_std(int n, const double *v); /* n-1 in the denominator; 0 when n < 2 */
/* Standard error of the mean of n scores whose squared deviations from it add up to `squares`, by Nadeau and
 * Bengio: random splits share their rows. ratio: test rows over training rows; 0: the plain one. n >= 2. */
double bdml_split_error(int n, double squares, double ratio);

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, x in 0..1. */
double bdml_incomplete_beta(double a, double b, double x);
/* Of Student's t with so many degrees of freedom: P(T <= t), and P(|T| >= |t|) without loss for large t. */
double bdml_student_cdf(double t, double degrees);
double bdml_student_two_sided(double t, double degrees);

#endif
