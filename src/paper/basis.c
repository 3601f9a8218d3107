/* basis.c - the cone form's oracle between eigendecompositions.
 *
 * The matrix C of the oracle changes by O(epsilon) a round, its eigenvectors Q by as much. With an earlier Q
 *
 *     min <C, Q diag(l) Q'> = min sum c_i l_i,   c = diag(Q'CQ),   a <= l_i <= K a,  sum l_i <= R
 *
 * loses of the minimum only what is second order in that change, its M has kappa <= K as any other, and neither C
 * nor M is ever formed: with the points turned into Q, c and the values of the constraints cost O(pairs d). Theorem 1
 * asks of an oracle no more than a weighted sum that is not negative, which is computed for the very M returned.
 *
 * How long Q serves is measured: whenever a new one is taken, so is what the old one would have lost, and the
 * time is doubled or halved to keep that a small part of what the theorem allows for a step. */
#include "paper/mwu.h"

#include <stdlib.h>

enum { KEEP_MOST = 16 }; /* by then the eigendecomposition is a small part of the time */
static const double LOSS = 1e-2;

bdml_status bdml_basis_init(bdml_mwu *w)
{
    bdml_status status = BDML_OK;
    bdml_basis *b = NULL;
    if (!w->X.ops->turns) return BDML_OK;
    BDML_NEW(w->h, w->basis, 1);
    b = w->basis;
    BDML_NEW(w->h, b->Q, w->size);
    BDML_NEW(w->h, b->g, w->d);
    BDML_NEW(w->h, b->c, w->d);
    BDML_NEW(w->h, b->sum, w->d);
    BDML_GO(bdml_margin_turn_init(w->h, w->A->margin));
done:
    return status;
}

void bdml_basis_free(bdml_mwu *w)
{
    if (!w->basis) return;
    free(w->basis->Q);
    free(w->basis->g);
    free(w->basis->c);
    free(w->basis->sum);
    free(w->basis);
}

void bdml_basis_reset(bdml_mwu *w)
{
    if (!w->basis) return;
    w->basis->age = -1;
    w->basis->keep = 1;
    memset(w->basis->sum, 0, sizeof *w->basis->sum * (size_t)w->d);
}

double bdml_basis_minimise(bdml_mwu *w, double q0, const double *q)
{
    bdml_basis *b = w->basis;
    if (b->age < 0) return INFINITY;
    bdml_margin_adjoint_turned(w->A->margin, q, b->c);
    for (int i = 0; i < w->d; i++) b->c[i] = q0 * b->g[i] - b->c[i];
    bdml_matrices *X = &w->X;
    return bdml_spectral_minimise_any(&w->set, b->c, w->R, X->l, X->order, X->sorted);
}

/* w->sum += Q diag(b->sum) Q', lower triangle; the sum begins anew. */
static void fold(bdml_mwu *w)
{
    bdml_basis *b = w->basis;
    int d = w->d;
    for (int j = 0; j < d; j++) {
        double root = sqrt(b->sum[j]);
        for (int i = 0; i < d; i++) COL(w->T, d, j)[i] = root * COL(b->Q, d, j)[i];
        b->sum[j] = 0.0;
    }
    bdml_la_syrk('N', d, d, 1.0, w->T, d, 1.0, w->sum, d);
}

void bdml_basis_take(bdml_mwu *w, const double *S, double loss, double value)
{
    bdml_basis *b = w->basis;
    int d = w->d;
    if (b->age >= 0) {
        double allowed = LOSS * (value + w->epsilon * w->rho);
        b->keep = loss <= allowed ? BDML_MIN(BDML_MAX(2 * b->keep, 1), KEEP_MOST) : b->keep / 2;
        fold(w);
    }
    memcpy(b->Q, S, sizeof *S * w->size);
    b->age = 0;
    b->taken++;
    bdml_margin_turn(w->A->margin, b->Q);
    bdml_la_gemm('N', 'N', d, d, d, 1.0, w->A->g, d, b->Q, d, 0.0, w->T, d);
    for (int j = 0; j < d; j++) b->g[j] = bdml_la_dot(d, COL(b->Q, d, j), COL(w->T, d, j));
}

void bdml_basis_values(bdml_mwu *w)
{
    bdml_basis *b = w->basis;
    bdml_margin_forward_turned(w->A->margin, w->X.l, w->v);
    w->f = bdml_vec_dot((size_t)w->d, b->g, w->X.l);
    for (int i = 0; i < w->d; i++) b->sum[i] += w->X.l[i];
}

void bdml_basis_settle(bdml_mwu *w)
{
    if (!w->basis || w->basis->age < 0) return;
    fold(w);
    bdml_la_mirror(w->d, w->sum, w->d);
}
