/* relaxation_exact.c - rho_sdp itself. For Z >= 0 with the orthogonality rows met, the d x d matrix
 *
 *     M = sum over u of lambda_u Z_(u,u)          Z_(u,u): the d x d block of row u of Q
 *
 * is positive semidefinite with trace(M) = sum lambda_u = trace(L), and (X x L).Z = <X,M>; and every such M comes from
 * Z = (M / trace(M)) x I_q. So the relaxation is a problem over the PSD matrices of a fixed trace, whatever q is. */
#include <stdlib.h>

#include "paper/relaxation.h"

bdml_status bdml_relaxation_exact(bdml_handle *h, const bdml_margin *op, const bdml_constraints *c,
                                  int d, double trace, double margin, double gap,
                                  const double *warm, bdml_solve_result *result)
{
    bdml_status status = BDML_OK;
    bdml_problem *p = NULL;
    double *x = NULL;
    bdml_solve_settings s = bdml_solve_defaults();

    s.set = BDML_SET_PSD_SIMPLEX;
    s.trace = trace;
    s.margin = margin;
    s.hard = true;
    s.gap = gap;
    s.warm_multiplier = warm;
    BDML_NEW(h, x, (size_t)c->n * (size_t)d);
    bdml_margin_points(op, x);
    BDML_GO(bdml_problem_new(h, c->n, d, x, d, c, NULL, false, &p));
    BDML_GO(bdml_problem_solve(h, p, &s, result));
done:
    bdml_problem_free(p);
    free(x);
    return status;
}
