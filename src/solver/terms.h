/* terms.h - the terms psi_t of the augmented function (eq. 16), one for each constraint of a list:
 *
 *     psi_t(v) = max over 0 <= y <= u_t of  y (b_t - v) - q_t y^2/2 - (y - y0_t)^2/(2 rho)
 *     y_t(v)   = clip((y0_t/rho + b_t - v)/(1/rho + q_t), 0, u_t)
 *
 * hard: u infinite, q 0; hinge: u = c_t, q 0; squared hinge: q = 1/(2 c_t), 1/rho = 0. With cvector.h the
 * place where the solver goes over constraints; sums and maxima are over all ranks. penalty: 1/rho. */
#ifndef BDML_TERMS_H
#define BDML_TERMS_H

#include "problem/operator.h"

typedef struct bdml_terms {
    bdml_cspace space;
    double *w, *b, *q, *u; /* row weight, margin, curvature of the dual, bound on y */
    double *rough; /* w times what the rounding of the row is a share of; of all constraints */
} bdml_terms;

/* What the terms make of an objective in units (scale.c); C: weight of the soft form. */
typedef struct bdml_units {
    double m, f, y; /* M' = m M, <G,M> = f <G',M'>, y = y w_t y'_t (eq. 12) */
} bdml_units;

/* w_t = 1/max(|A_t|, shortest), 1/zero where A_t = 0; b_t = margin mu_t w_t. */
void bdml_terms_weigh(bdml_terms *p, const bdml_operator *A, double margin, double zero,
                      double shortest);
/* b in units; q and u of the hard form, or of the soft form with c_t = C w_t / m. */
void bdml_terms_harden(bdml_terms *p, double unit_m);
void bdml_terms_soften(bdml_terms *p, const bdml_constraints *c, double C, bool squared,
                       const bdml_units *unit);

/* y = y(v), margins aim b; y may be y0. */
void bdml_terms_multipliers(const bdml_terms *p, double penalty, double aim, const double *y0,
                            const double *v, double *y);
/* |y(v) - y0|^2 */
double bdml_terms_move(const bdml_terms *p, double penalty, const double *y0, const double *v);
/* sum_t psi_t(v) - psi_t(v_z) + y_z (v - v_z), y_z = y(v_z): how far it lies above its tangent. */
double bdml_terms_excess(const bdml_terms *p, double penalty, const double *y0, const double *y_z,
                         const double *v);
/* The t in [0, most] at which f t + sum_t psi_t(v + t way), y0 = 0, is least; v NULL: 0. most may be infinite: t is then
 * some 1e12 at most. */
double bdml_terms_least(const bdml_terms *p, double penalty, double f, const double *v,
                        const double *way, double most);
/* The loss of the soft form: sum_t psi_t(v) for 1/rho = 0. */
double bdml_terms_loss(const bdml_terms *p, const double *v);
/* y = max(b - v, 0); returns the sum. */
double bdml_terms_misses(const bdml_terms *p, const double *v, double *y);

/* Parts of the dual: b'y; sum q y^2/2; their difference as one sum; the largest t with t y <= u. */
double bdml_terms_linear(const bdml_terms *p, const double *y);
double bdml_terms_quadratic(const bdml_terms *p, const double *y);
double bdml_terms_dual(const bdml_terms *p, const double *y);
double bdml_terms_reach(const bdml_terms *p, const double *y);
/* y = y_user / (unit w) within the bounds; y2, b2: sums of y^2, and of b^2 where y > 0. */
void bdml_terms_import(const bdml_terms *p, double unit, const double *y_user, double *y,
                       double *y2, double *b2);

/* Feasibility of t M and of blends, v lowered by rounding times rough: smallest t with t v >= b, infinite when
 * there is none; least t v - b; smallest theta with (1 - theta) v + theta inside >= b. */
double bdml_terms_scale(const bdml_terms *p, const double *v, double rounding);
double bdml_terms_least_slack(const bdml_terms *p, double t, const double *v);
double bdml_terms_share(const bdml_terms *p, const double *v, const double *inside,
                        double rounding);
/* Largest b/v over the v > 0; *all: no v <= 0 has a positive margin. */
double bdml_terms_ratio(const bdml_terms *p, const double *v, bool *all);

#endif
