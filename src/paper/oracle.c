/* oracle.c - ORACLE of the lifted form: the largest eigenvector of a block diagonal matrix.
 *
 *     max over Y >= 0, trace(Y) <= R_Y of sum p_i (J_i.Y - h_i) = R_Y max(lambda_max(Z), 0) - p.h,
 *
 * Z = sum p_i J_i = blockdiag(Z_M, Z_1, Z_2, z_alpha), at Y = R_Y u u' in the block of the largest eigenvalue, or at
 * Y = 0. Lanczos gives theta <= lambda_max, so "feasible" is safe with it; "infeasible" is confirmed with all
 * eigenvalues of the three blocks. The paper tests R_Y lambda_max(Z) - p.h alone (literal). */
#include "paper/mwu.h"

static const double EPS = 2.220446049250313e-16;
static const double LANCZOS_TOLERANCE =
    1e-3; /* any Y with a sum >= 0 serves; the best is a matter of speed */

/* Block with the largest theta, and the value it gives. */
static void choose(bdml_mwu *w, double ph)
{
    bdml_lifted *l = w->lifted;
    double best = l->z_alpha;
    l->block = 3;
    for (int k = 0; k < 3; k++)
        if (l->theta[k] > best) best = l->theta[k], l->block = k;
    if (best <= 0.0 && !w->s.literal) {
        best = 0.0;
        l->block = -1;
    }
    w->value = l->RY * best - ph;
}

/* The blocks, the last winner first: the others need not be followed once they fall behind. */
static void largest_vectors(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    bdml_phase previous = bdml_phase_enter(w->h, BDML_PHASE_EIGEN);
    int first = l->block > 0 && l->block < 3 ? l->block : 0;
    double best = w->s.literal ? l->z_alpha : BDML_MAX(l->z_alpha, 0.0);
    for (int k = 0; k < 3; k++) {
        int block = (first + k) % 3;
        w->X.ops->largest(&w->X, l->Z[block], LANCZOS_TOLERANCE, best, l->u[block],
                          &l->theta[block]);
        best = BDML_MAX(best, l->theta[block]);
    }
    bdml_phase_leave(w->h, previous);
}

/* All eigenvalues of the blocks: theta and u exactly. */
static bdml_status confirm(bdml_mwu *w)
{
    bdml_lifted *l = w->lifted;
    for (int k = 0; k < 3; k++)
        BDML_TRY(w->X.ops->largest_exact(&w->X, l->Z[k], w->T, l->u[k], &l->theta[k]));
    return BDML_OK;
}

/* Of R_Y lambda_max(Z): eigenvalues to d eps |Z|, the sums that build Z likewise. */
static double rounding(const bdml_mwu *w)
{
    const bdml_lifted *l = w->lifted;
    double size = fabs(l->z_alpha);
    for (int k = 0; k < 3; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < w->size; i++) sum += l->Z[k][i] * l->Z[k][i];
        size = BDML_MAX(size, sqrt(sum));
    }
    return EPS * (w->d + 64.0) * size * l->RY;
}

bdml_status bdml_oracle_lifted(bdml_mwu *w, double ph, bool *infeasible)
{
    largest_vectors(w);
    choose(w, ph);
    *infeasible = false;
    if (w->value >= 0.0) return BDML_OK;
    BDML_TRY(confirm(w));
    choose(w, ph);
    *infeasible = w->value < -rounding(w);
    return BDML_OK;
}
