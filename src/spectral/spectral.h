/* spectral.h - spectral sets: closed convex sets of symmetric matrices that are told by their
 * eigenvalues alone, given as a few functions on eigenvalue vectors.
 *
 *     bounded distortion   D_K = { M : a I <= M <= K a I for some a >= 0 },  trace(M) <= R
 *     PSD trace ball       { M >= 0, trace(M) <= R }
 *     PSD trace simplex    { M >= 0, trace(M) = R }
 *     hull                 the convex hull of { Q' Lambda Q }, Q q x d with orthonormal rows, Lambda given
 *     rank                 the convex hull of the same, Lambda of any bounded distortion
 *
 * R may be infinite, but for the simplex. A diagonal M is the same set on the diagonal.
 *
 * Reduced form. When the data span only r < d dimensions, `d` below is r and `extra` is d - r:
 * the eigenvalues outside the span, all equal to the floor a, which cost nothing but trace:
 *
 *     bounded distortion   a <= l_i <= K a,  sum l_i + extra a <= R
 *
 * Every vector here is ascending (as the eigensolver gives it) and every function is exact,
 * O(d), and allocates nothing; with the caller's sort or eigenproblem before it that is O(d log
 * d).
 *
 * Called by solver; calls base. */
#ifndef BDML_SPECTRAL_H
#define BDML_SPECTRAL_H

#include "base/base.h"

typedef struct bdml_spectral bdml_spectral;

typedef struct bdml_spectral_ops {
    const char *name;
    /* l = argmin |l - z| over the set; z ascending, l ascending, l may be z. */
    void (*project)(const bdml_spectral *set, const double *z, double *l);
    /* min <w, l> over the set, its trace bound replaced by min(R, trace) (a simplex ignores that).
     * w ascending; l (descending: the largest go to the smallest w), NULL when not wanted. May be
     * -infinity when nothing bounds the trace; l is then a direction. */
    double (*minimise)(const bdml_spectral *set, const double *w, double trace, double *l);
    /* min <g, l> / trace(l) over the non-zero members; g ascending. */
    double (*density)(const bdml_spectral *set, const double *g);
    /* Smallest and largest value that the eigenvalues outside the span may have beside l. */
    void (*outside)(const bdml_spectral *set, const double *l, double *lo, double *hi);
    /* Derivative of the projection at z (where it has one; elsewhere one of its limits):
     * dl = (diag(mid) + c c' - tau tau') dz, mid 0 or 1. It is the orthogonal projection onto the
     * directions of the face that holds l: free values, values that share the floor, the trace.
     * NULL: not of that form; the solver then does without. */
    void (*face)(const bdml_spectral *set, const double *z, double *mid, double *c, double *tau);
    bool is_cone; /* closed under scaling by t >= 0 as far as the trace bound allows */
} bdml_spectral_ops;

struct bdml_spectral {
    const bdml_spectral_ops *ops;
    int d;        /* length of the eigenvalue vectors: r in the reduced form */
    int extra;    /* eigenvalues outside the data span */
    double K;     /* distortion cap, infinite for the PSD sets */
    double trace; /* R */

    /* hull, rank: eigenvalues that may differ from 0. hull: their values, ascending, in any unit (the
     * trace tells which), and 2 d numbers of scratch; both the maker's. */
    int q;
    const double *spectrum;
    double *scratch;
};

/* 1 <= K < infinity, 0 < trace <= infinity. */
bdml_spectral bdml_spectral_distortion(int d, double K, double trace);
bdml_spectral bdml_spectral_psd_ball(int d, double trace);
bdml_spectral bdml_spectral_psd_simplex(int d, double trace);
/* 1 <= q <= d; spectrum >= 0, not all 0, ascending; scratch: 2 d numbers. */
bdml_spectral bdml_spectral_hull(int d, int q, const double *spectrum, double *scratch);
/* 1 <= q <= d, 1 <= K < infinity. */
bdml_spectral bdml_spectral_rank(int d, int q, double K);
/* The same set seen from a span of r <= d dimensions. Outside the span a simplex may put any share
 * of its trace at no cost: it becomes a ball. hull and rank have no reduced form: r = d. */
bdml_spectral bdml_spectral_reduce(const bdml_spectral *set, int r);

/* Trace of the whole matrix, the part outside the span at its smallest. */
double bdml_spectral_trace(const bdml_spectral *set, const double *l);
/* Largest t such that t l is in the set, l in the cone over it: infinite, or 1 for a simplex. */
double bdml_spectral_max_scale(const bdml_spectral *set, const double *l);
/* Value for the eigenvalues outside the span: as near to the smallest of l as the set allows, so
 * that kappa grows no more than it must. */
double bdml_spectral_fill(const bdml_spectral *set, const double *l);

/* ---- diagonal form -------------------------------------------------------------------------- */

/* The functions above for a vector in any order; order: d numbers of scratch, sorted: d doubles. */
void bdml_spectral_project_any(const bdml_spectral *set, const double *z, double *l, int *order,
                               double *sorted);
double bdml_spectral_minimise_any(const bdml_spectral *set, const double *w, double trace,
                                  double *l, int *order, double *sorted);
/* order such that z[order[0]] <= z[order[1]] <= ..., ties by index; heap sort. */
void bdml_spectral_sort(int d, const double *z, int *order);

/* Minimum and density of the sets whose q smallest places get a or K a (capped.c). */
double bdml_capped_minimise(const bdml_spectral *s, int q, const double *w, double trace,
                            double *l);
double bdml_capped_density(const bdml_spectral *s, int q, const double *g);

extern const bdml_spectral_ops bdml_distortion_ops, bdml_psd_ball_ops, bdml_psd_simplex_ops,
    bdml_hull_ops, bdml_rank_ops;

#endif
