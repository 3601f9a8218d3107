/* cone.c - the easy set kappa(M) <= K, trace(M) <= R: its linear minimisation is the oracle.
 *
 *     max over the set of sum p_i s_i (J_i.M - h_i)
 *         = p_0 s_0 g - sum p_t s_t mu_t - min <C, M>,   C = p_0 s_0 G - sum p_t s_t A_t
 *
 * One symmetric eigenproblem for some rounds (basis.c); every iterate, and so every average, has kappa <= K. */
#include "paper/mwu.h"

static const double EPS = 2.220446049250313e-16;
static const double ROUNDING = 64.0; /* of the blocked sums that build C, in units of EPS */

double bdml_cone_rounding(const bdml_mwu *w, double q0, const double *q)
{
    double sum = bdml_cvec_dot(&w->A->space, q0 * w->g_norm, q, w->A->norm);
    return EPS * (w->d + ROUNDING) * sum * w->R;
}

void bdml_cone_matrix(bdml_mwu *w, double q0, const double *q, double *S)
{
    bdml_operator_adjoint(w->A, q, S);
    for (size_t i = 0; i < w->size; i++) S[i] = q0 * w->A->g[i] - S[i];
}

bdml_status bdml_cone_minimise(bdml_mwu *w, double *S, bool vectors, double *least)
{
    return w->X.ops->minimise(&w->X, &w->set, w->R, S, vectors, least);
}

static int64_t count_rows(const bdml_mwu *w)
{
    return w->m + 1;
}

/* min and max of <A,M>: density of A and of -A, times R. */
static void range(const bdml_mwu *w, const double *lambda, double *low, double *high)
{
    double *minus = w->X.sorted;
    for (int i = 0; i < w->d; i++) minus[i] = -lambda[w->d - 1 - i];
    *low = BDML_MIN(w->R * w->set.ops->density(&w->set, lambda), 0.0);
    *high = BDML_MAX(-w->R * w->set.ops->density(&w->set, minus), 0.0);
}

/* Any M of the set at which the weighted sum is not negative will do for Algorithm 2, so the eigenvectors of an
 * earlier round are tried first; a refusal always comes from those of this round. */
static bdml_status oracle(bdml_mwu *w, bool *infeasible)
{
    double q0 = w->w0 * w->scale0 / w->total, margins = bdml_weights_shares(w), least;
    double old = INFINITY;
    *infeasible = false;
    if (w->basis) {
        old = bdml_basis_minimise(w, q0, w->q);
        w->value = q0 * w->bound - margins - old;
        if (w->value > 0.0 && w->basis->age < w->basis->keep) {
            w->basis->age++;
            return BDML_OK;
        }
    }
    bdml_cone_matrix(w, q0, w->q, w->S);
    BDML_TRY(bdml_cone_minimise(w, w->S, true, &least));
    w->value = q0 * w->bound - margins - least;
    *infeasible = w->value < 0.0 && w->value < -bdml_cone_rounding(w, q0, w->q);
    if (w->basis && !*infeasible) bdml_basis_take(w, w->S, old - least, w->value);
    return BDML_OK;
}

static void values(bdml_mwu *w)
{
    if (w->basis) {
        bdml_basis_values(w);
        return;
    }
    bdml_operator_forward(w->A, w->X.l, w->v); /* the entries are M */
    w->f = bdml_vec_dot(w->size, w->A->g, w->X.l);
    for (size_t i = 0; i < w->size; i++) w->sum[i] += w->X.l[i];
}

const bdml_mwu_form bdml_cone_form = {
    .init = bdml_basis_init,
    .free = bdml_basis_free,
    .count_rows = count_rows,
    .range = range,
    .reset = bdml_basis_reset,
    .oracle = oracle,
    .values = values,
    .settle = bdml_basis_settle,
};
