/* scale.c - the problem in units in which steps and penalties are of order one (eq. 12).
 *
 *     M' = unit_m M,   G' = G / |G|,   A'_t = w_t A_t with w_t = 1/|A_t|,   b_t = unit_m w_t mu_t
 *
 * so that every row has norm one and a typical margin is 1: the median, or for the hard form the
 * geometric mean of median and largest. Then <G,M> = unit_f <G',M'> with unit_f = |G|/unit_m,
 * and y_t = unit_y w_t y'_t with unit_y = |G|. */
#include "solver/engine.h"

/* Rows of zeros (identical points) have the weight of one this share of the mean; short ones are not blown up
 * beyond the second. */
static const double ZERO_ROW = 1e-8, SHORTEST_ROW = 1e-30;

void bdml_scale(bdml_scaled *to, const bdml_operator *A, const bdml_solve_settings *s,
                double *scratch)
{
    bdml_terms *terms = &to->terms;
    bdml_units *unit = &to->unit;

    double mean = A->norm_mean > 0.0 ? A->norm_mean : 1.0;
    bdml_terms_weigh(terms, A, s->margin, ZERO_ROW * mean, SHORTEST_ROW * mean);
    bdml_cvec_copy(&terms->space, terms->b, scratch);
    double middle = bdml_cvec_median(&terms->space, scratch);
    /* tight margins are among the largest: a hard M is about as large as they ask for */
    if (s->hard) middle = sqrt(middle * bdml_cvec_largest(&terms->space, terms->b));
    unit->m = middle > 0.0 ? 1.0 / middle : 1.0;
    unit->y = sqrt(bdml_vec_dot(A->size, A->g, A->g));
    unit->f = unit->y / unit->m;
    for (size_t i = 0; i < A->size; i++) to->g[i] = A->g[i] / unit->y;
    to->g_rough = A->g_rough / unit->y;
    to->set.trace = to->user_trace * unit->m;
    bdml_terms_harden(terms, unit->m);
    to->needed = unit->m * bdml_operator_needed(A, s->margin);
    if (!s->hard) bdml_terms_soften(terms, A->c, to->C, s->loss == BDML_LOSS_SQUARED_HINGE, unit);
}
