/* check.h - a certificate as it is read, and what is proven of it. docs/certificate.md states both.
 *
 * ball.h    arithmetic with bounds
 * read.c    the text -> struct certificate; refuses by line and reason
 * dots.c    many sums of products at once
 * points.c  data rows -> the points that the metric acts on
 * scatter.c   sums over all rows, in lots: the scatter within classes
 * matrices.c  sums over pairs and rows: G, A*y
 * spectrum.c  eigenvalues from below; linear functions over the bounded-distortion set
 * prove.c   the proof of the claim
 * data.c    the stated rows against a data file
 *
 * Nothing here is shared with the program that wrote the certificate. */
#ifndef BDML_CHECK_H
#define BDML_CHECK_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#include "ball.h"

#ifdef __GNUC__
#define CHECK_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CHECK_PRINTF(a, b)
#endif

/* Every refusal leaves through one door: `check_refuse` writes the reason and jumps to where the door was set.
 * Memory belongs to the checker and is freed as a whole. */
typedef struct checker {
    jmp_buf door;
    char reason[300];
    struct block *blocks;
    bool (*stop)(
        void *user); /* asked now and then, by any thread, whether to give up; NULL: nobody is */
    void *user;
    int threads; /* that the library shares loops out to; bdml-check has one */
    /* The library's: the scatter of all rows (scatter.c), dim x dim, made from the data themselves. The certificate then
     * states the rows in pairs alone. NULL: made from the rows stated, which are all. */
    const ball *scatter;
    /* The library's: the numbers of the rows in pairs, from the data themselves. The certificate then names these rows and leaves
     * their numbers out. NULL: they stand in it. */
    const struct given *given;
} checker;

/* Rows that are somebody else's, by their places in the certificate. */
typedef struct given {
    const double *(*at)(void *user, size_t from, size_t rows); /* numbers, until the next call */
    const void *(*bytes)(void *user, size_t place); /* of one row as it is held, `size` of them: */
    size_t size;                                    /* the same bytes are the same numbers */
    void *user;
} given;

/* Before a loop whose turns do not depend on each other, neither refuse nor take memory; k is the checker. Every number comes out of one
 * turn, so that the bits do not depend on the threads. The program bdml-check is compiled without. */
#ifdef _OPENMP
#define CHECK_SHARED _Pragma("omp parallel for schedule(dynamic) num_threads(k->threads)")
#else
#define CHECK_SHARED (void)k;
#endif

/* Compiled for the vector units of newer processors too; which one runs is settled when the program starts. No
 * operation is fused or left out by either, so that the bits are the same. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) /* what chooses would run before the sanitizer is ready */
#define CHECK_NO_CLONES
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(CHECK_NO_CLONES) &&                      \
    (!defined(__clang__) || __clang_major__ >= 14)
#define CHECK_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CHECK_CLONES
#endif

_Noreturn void check_refuse(checker *k, const char *fmt, ...) CHECK_PRINTF(2, 3);
bool check_stops(const checker *k); /* asks; in shared loops, whose turns then end */
void check_pause(checker *k);       /* refuses where it stops */
void *check_take(checker *k, size_t count, size_t size); /* zeroed */
void check_free(checker *k);                             /* everything taken */

typedef enum claim_kind {
    CLAIM_BRACKET,      /* the map is feasible, the optimum lies in [lower, upper] */
    CLAIM_LOWER,        /* the optimum is at least lower */
    CLAIM_INFEASIBLE,   /* no metric meets the margins at this trace */
    CLAIM_CONTRADICTION /* none does at any trace, whatever the margins */
} claim_kind;

typedef enum loss_form { FORM_HARD, FORM_SQUARED_HINGE, FORM_HINGE } loss_form;
typedef enum objective_kind { OBJECTIVE_NONE, OBJECTIVE_TARGETS, OBJECTIVE_WITHIN } objective_kind;

/* Arrays of numbers in the order of the file; an absent one is NULL. */
typedef struct certificate {
    claim_kind claim;
    loss_form form;
    bool diagonal;
    double K, R, margin, cost; /* R infinite: no bound */
    objective_kind objective;
    double scale; /* of G */
    size_t data_rows, columns;
    double *missing;
    bool unit;
    double *width; /* 0: the column is constant and left out */
    size_t basis_rows, reference_rows, dim;
    double *basis, *reference;
    size_t rows;
    int64_t *row;   /* numbers in the data file, ascending */
    double *x;      /* rows x columns; NULL: they are given */
    int64_t *label; /* of each row, or NULL */
    size_t pairs;
    size_t *pi, *pj; /* positions in row */
    size_t targets, *target;
    size_t m, *far, *near; /* near SIZE_MAX: none */
    double *own_margin, *weight;
    size_t map_rows;
    double *map; /* map_rows x dim */
    size_t multipliers, *at;
    double *y;
    double lower, upper;
} certificate;

void check_read(checker *k, FILE *f, certificate *c);
/* The numbers of so many rows, at most check_lot(c) where they are given, until the next call. */
const double *check_rows_at(const checker *k, const certificate *c, size_t from, size_t rows);
/* Rows that are looked at together. */
size_t check_lot(const certificate *c);

/* ---- dots.c ------------------------------------------------------------------------------------- */

/* A matrix of doubles, packed for check_apply; b NULL: none. */
typedef struct panels {
    size_t rows, columns;
    double *b;
} panels;
panels check_pack(checker *k, size_t rows, size_t columns, const double *matrix); /* or NULL */
/* out = matrix u; without a matrix a copy of m->rows numbers. */
void check_apply(const panels *m, const ball *u, ball *out);
/* out = sum over k of a_k b_k', which is symmetric: dim x dim. a by coordinate, dim rows of `count`; b by point, `count`
 * rows of dim. */
void check_outer(checker *k, size_t dim, size_t count, const ball *a, const ball *b, ball *out);
/* The same with points that come in several lots. */
typedef struct outer outer;
outer *check_outer_begin(checker *k, size_t dim);
void check_outer_add(checker *k, outer *o, size_t count, const ball *a, const ball *b);
void check_outer_end(const outer *o, ball *out);

/* ---- points.c ----------------------------------------------------------------------------------- */

/* Before and after the reference, up to one common shift, which no difference sees:
 * v of every row, rows x basis_rows balls; p = reference v, rows x dim, of those rows where `wanted` is not 0. */
ball *check_points(checker *k, const certificate *c);
/* What stays the same from one lot of rows to the next. */
typedef struct pointer {
    const certificate *c;
    panels basis;
    const double *centre; /* columns: taken off every row, but unit rows */
    size_t parts;
    ball *room;
} pointer;
pointer check_pointer(checker *k, const certificate *c, const double *centre);
/* v of rows x, rows x basis_rows. */
void check_point(checker *k, const pointer *p, size_t rows, const double *x, ball *v);
/* A double near the mean of each column of the rows; which one does not matter. */
double *check_centre(checker *k, const certificate *c);
const ball *check_refer(checker *k, const certificate *c, const ball *v, const size_t *wanted);

/* ---- scatter.c ---------------------------------------------------------------------------------- */

/* Rows that are looked at in lots, with their classes 0 .. classes-1. */
typedef struct lots {
    size_t rows, classes;
    const double *(*at)(void *user, size_t from, size_t rows); /* so many rows of columns */
    void *user;
    const int64_t *label;
    const double *centre;
} lots;

/* Sums over rows: of each class, how many and the sum of its points, and all outer products of points. Those of other rows
 * may be added to them. */
typedef struct scatter {
    bool referred; /* points after the reference, or before it */
    size_t width, classes;
    double *count;
    ball *sum;     /* classes x width */
    ball *product; /* width x width */
} scatter;

/* Before the reference where that does not lower the dimension much: it then comes last, on a matrix instead of on every row.
 * again: after it, since before was not sharp enough. */
void check_scatter_sums(checker *k, const certificate *c, const lots *l, bool again, scatter *s);
/* out, dim x dim: sum over rows of (p - mean of its class)(p - mean of its class)'. False: not sharp, as the reference amplifies
 * what rounding has left; do it again. */
bool check_scatter_end(checker *k, const certificate *c, const scatter *s, ball *out);

/* ---- spectrum.c --------------------------------------------------------------------------------- */

/* low[0] <= low[1] <= ...: each at most the eigenvalue of that rank of the symmetric s (d x d), by about 1e-14 of
 * the largest; fine: by far less, at several times the cost. */
void check_eigenvalues(checker *k, size_t d, const ball *s, bool fine, double *low);
/* Less than, or the minimum over { kappa(M) <= K, trace(M) = 1 } of <S,M>; low: as above. */
double check_density(size_t d, const double *low, double K);

/* ---- prove.c ------------------------------------------------------------------------------------ */

typedef struct proof {
    bool confirmed;
    char failure[300]; /* why not */
    double kappa;      /* bracket: an upper bound, as trace; smallest <A_t,M> / mu_t from below */
    double trace, worst;
    double lower, upper; /* the optimum lies between, whatever the file claims; NaN: not proven */
    double reach;        /* infeasible: for every trace up to here */
} proof;

void check_prove(checker *k, const certificate *c, proof *p);

/* ---- data.c ------------------------------------------------------------------------------------- */

/* The stated rows are those of the data file: plain numbers, label in the given column from 1, 0 = none,
 * -1 = the last if there is one more than the certificate's. True and a sentence in `text`, or false and
 * what differs. */
bool check_data(checker *k, const certificate *c, FILE *f, long label, char *text, size_t size);

#endif
