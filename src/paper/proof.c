/* proof.c - from the probability vector of an infeasible verdict (Lemma 1) to statements that anybody can check.
 *
 * For q0, q >= 0 let  q0 (g - <G,M>) + sum q_t (<A_t,M> - mu_t) < 0  for all M with kappa(M) <= K and trace(M) <= R'.
 * With y = q / q0 that is the Lagrangian bound of the certified solver: sum mu_t y_t + min <G - A*y, M> > g.
 * A verdict of the lifted form proves the same: for an M of that set take alpha = lambda_max(M)/K, M1, M2 the
 * slacks; then the rows of the equations vanish, those of alpha and the trace are >= 0, and what is left of the
 * negative sum is the above.
 *
 * When R' = g/gamma came from the objective, y itself may fail at a larger trace; but rho(t), the least
 * <G - t A*y, M> per unit of trace, is concave with rho(0) = gamma, so t = gamma/(gamma - rho(1)) makes it >= 0, and
 * t sum mu_t y_t > g still: t y bounds the optimum whatever the trace. */
#include "paper/mwu.h"

static const double EPS = 2.220446049250313e-16;

/* rho(t), lowered by its rounding; w->S = G - A*y is kept. */
static bdml_status density_at(bdml_mwu *w, double t, double error, double *rho)
{
    for (size_t i = 0; i < w->size; i++) w->T[i] = (1.0 - t) * w->A->g[i] + t * w->S[i];
    BDML_TRY(w->X.ops->eigenvalues(&w->X, w->T, w->X.lambda));
    *rho = w->set.ops->density(&w->set, w->X.lambda) - BDML_MAX(t, 1.0) * error;
    return BDML_OK;
}

bdml_status bdml_proof_lower(bdml_mwu *w, double q0, const double *q, double *y, double *lower)
{
    enum { DOUBLINGS = 8, REFINEMENTS = 4 };
    const bdml_operator *A = w->A;
    double best = 1.0, rho_in = w->gamma, rho_out;
    double inside = 0.0, outside = 1.0;
    *lower = -INFINITY;
    if (!(q0 > 0.0)) return BDML_OK;
    bdml_cvec_divide(&A->space, q, q0, y);
    double margins = bdml_cvec_dot(&A->space, 0.0, w->mu, y);
    double size = bdml_cvec_dot(&A->space, A->g_rough, y, A->rough);
    double error = EPS * (w->d + 64.0) * size;
    bdml_cone_matrix(w, 1.0, y, w->S);
    BDML_TRY(density_at(w, 1.0, error, &rho_out));
    if (isfinite(w->s.trace)) *lower = margins + BDML_MIN(rho_out, 0.0) * w->s.trace;
    for (int k = 0; k < DOUBLINGS && rho_out >= 0.0; k++) {
        inside = outside, rho_in = rho_out, outside *= 2.0;
        BDML_TRY(density_at(w, outside, error, &rho_out));
    }
    for (int k = 0; k < REFINEMENTS && rho_out < 0.0; k++) {
        inside += (outside - inside) * rho_in / (rho_in - rho_out);
        BDML_TRY(density_at(w, inside, error, &rho_in));
        if (rho_in <= 0.0) { /* the root, to rounding: a hair back */
            inside *= 1.0 - 1e-12;
            break;
        }
    }
    if (inside * margins > *lower) {
        *lower = inside * margins;
        best = inside;
    }
    bdml_cvec_scale(&A->space, best, y, y);
    return BDML_OK;
}

bdml_status bdml_proof_margins(bdml_mwu *w, const double *q, bdml_proof *kind, double *reach)
{
    const bdml_operator *A = w->A;
    double margins = bdml_cvec_dot(&A->space, 0.0, w->mu, q), rho;
    double size = bdml_cvec_dot(&A->space, 0.0, q, A->rough);
    *kind = BDML_PROOF_NONE;
    bdml_cone_matrix(w, 0.0, q, w->S);
    BDML_TRY(density_at(w, 1.0, EPS * (w->d + 64.0) * size, &rho));
    *reach = rho < 0.0 ? margins / -rho : INFINITY;
    if (!(margins > 0.0)) return BDML_OK;
    if (rho >= 0.0)
        *kind = BDML_PROOF_CONE;
    else if (*reach > w->s.trace)
        *kind = BDML_PROOF_RATIO;
    return BDML_OK;
}
