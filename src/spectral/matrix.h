/* matrix.h - symmetric matrices as vectors of numbers, and what needs their eigenvalues: spectra,
 * projection onto a spectral set, linear minimisation over it, the derivative of the projection.
 *
 *     full       r columns of r numbers, both triangles
 *     diagonal   the diagonal: r columns of one number each, its own eigenvalues in any order
 *
 * A table of operations, so that a solver need not ask which: with the margin operator's
 * (problem/operator.h) all that it does with a metric. Sums over entries are those of linalg/vector.h.
 *
 * Called by solver and paper; calls linalg, base. */
#ifndef BDML_MATRIX_H
#define BDML_MATRIX_H

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "spectral/spectral.h"

typedef struct bdml_matrices bdml_matrices;

/* Derivative of the projection at a decomposed matrix (eq. 24): on the diagonal of the eigenbasis
 * diag(mid) + c c' - tau tau', off it divided differences, of which root holds the square roots (times
 * sqrt 2: one triangle stands for both). Diagonal form: by coordinate, no root. Between two eigenvalues
 * at the floor, or two at the ceiling, the root is 0: of column j the rows first[j] .. last[j]-1 are left. */
typedef struct bdml_derivative {
    double *mid, *c, *tau; /* r */
    double *root;          /* r*r */
    int *first, *last;     /* r */
} bdml_derivative;

typedef struct bdml_matrix_ops {
    const char *name;
    int (*height)(int r); /* numbers of a stored column */
    bool turns;           /* matrices differ in their eigenvectors */
    /* to (size numbers) = a full symmetric r x r matrix, as far as this form sees it. */
    void (*take)(const bdml_matrices *X, const double *full, double *to);
    /* Eigenvalues, ascending. A is destroyed. */
    bdml_status (*eigenvalues)(bdml_matrices *X, double *A, double *lambda);
    /* M = projection of A; A becomes its eigenvectors, X->lambda and X->l the eigenvalues of A and M,
     * ascending. */
    bdml_status (*project)(bdml_matrices *X, const bdml_spectral *set, double *A, double *M);
    /* *least = min <A,M> over the set at this trace; X->l: eigenvalues of the minimiser, those of the
     * eigenvectors that A becomes (full; only when `vectors`), or its entries. */
    bdml_status (*minimise)(bdml_matrices *X, const bdml_spectral *set, double trace, double *A,
                            bool vectors, double *least);
    /* M = Q diag(l) Q', Q as `minimise` left it. */
    void (*compose)(bdml_matrices *X, const double *Q, const double *l, double *M);
    /* A unit u with u'Au as large as can be (to a relative tolerance; values below `floor` are not
     * wanted), and that. exact: to rounding. A is kept; T: scratch of its size. */
    void (*largest)(bdml_matrices *X, const double *A, double tolerance, double floor, double *u,
                    double *theta);
    bdml_status (*largest_exact)(bdml_matrices *X, const double *A, double *T, double *u,
                                 double *theta);

    /* Newton's method on the eigenbasis that `project` left. */
    /* Numbers of a constraint there that count, by the eigenvalues X->l: the sum of last - first, but for ties. */
    size_t (*width)(const bdml_matrices *X);
    void (*derivative)(bdml_matrices *X, const bdml_spectral *set, bdml_derivative *D);
    void (*rotate)(int r, const double *Q, int count, const double *f, double *to); /* Q'f */
    /* Entries of f f' - g g', f and g rotated, weighted by D: those that count of columns from .. to-1. */
    void (*entries)(int r, const bdml_derivative *D, int from, int to, const double *f,
                    const double *g, double *v);
    /* Multiplications of a decomposition, and of a constraint's value: roughly, to compare methods by. */
    double (*work)(int r);
    double (*row_work)(int r);
} bdml_matrix_ops;

extern const bdml_matrix_ops bdml_full_matrices, bdml_diagonal_matrices;

/* Matrices of one size, and the workspace to decompose them. */
struct bdml_matrices {
    const bdml_matrix_ops *ops;
    bdml_handle *h;
    int r, height;      /* columns; numbers of each that are stored */
    size_t size, step;  /* numbers in all; from one entry of the diagonal to the next */
    double *lambda, *l; /* r: of the last decomposition and projection */
    double *sorted;     /* r; scratch, as what follows */
    int *order;
    double *scaled; /* size */
    bdml_eigh_ws eigen;
    bdml_lanczos_ws lanczos;
};

/* What `uses` asks for beside spectra of vectors. */
enum { BDML_MATRIX_EIGEN = 1, BDML_MATRIX_COMPOSE = 2, BDML_MATRIX_LANCZOS = 4 };
bdml_status bdml_matrices_init(bdml_handle *h, const bdml_matrix_ops *ops, int r, unsigned uses,
                               bdml_matrices *X);
void bdml_matrices_free(bdml_matrices *X);

/* First row that column j holds. */
static inline int bdml_matrix_first(const bdml_matrices *X, int j)
{
    return X->height == X->r ? 0 : j;
}

/* Eigenvalues X->l at the floor, and at the ceiling. */
void bdml_matrix_ends(const bdml_matrices *X, int *floor, int *ceiling);

/* Packed: each entry once, those off the diagonal times sqrt 2, so that <A,B> is the product of the vectors. How many
 * numbers; a matrix packed and unpacked; factor (f f' - g g') packed, as far as the form sees it. */
size_t bdml_matrix_packed(const bdml_matrices *X);
void bdml_matrix_pack(const bdml_matrices *X, const double *M, double *v);
void bdml_matrix_unpack(const bdml_matrices *X, const double *v, double *M);
void bdml_matrix_pack_row(const bdml_matrices *X, double factor, const double *f, const double *g,
                          double *v);

/* M = value I */
void bdml_matrix_identity(const bdml_matrices *X, double value, double *M);
/* M += c u u', as far as M holds it */
void bdml_matrix_add_outer(const bdml_matrices *X, double c, const double *u, double *M);
/* S = a - S, or S = -S when a is NULL */
void bdml_matrix_subtract_from(const bdml_matrices *X, const double *a, double *S);

#endif
